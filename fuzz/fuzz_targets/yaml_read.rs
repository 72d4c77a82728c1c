//! Reading never panics, stays within its limits, and every place lies within the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_go_yaml::yaml::{Limits, Node, Value, parse_within};
use windlass_source::budget::Budget;
use windlass_source::diag::Span;
use windlass_source::{Source, TextRange};

fuzz_target!(|text: &str| {
    let limits = Limits {
        depth: 30,
        nodes: 5000,
        bytes: 1 << 20,
        findings: 20,
    };
    let parsed = parse_within(&Source::new("fuzz.yaml", text), &limits, &Budget::default());
    // That there are more is one, and one of each kind of odd characters is told in any case.
    assert!(parsed.report.findings().len() <= limits.findings + 4);
    for finding in parsed.report.findings() {
        assert!(finding.help.is_some());
        check_span(text, finding.place.span.expect("every finding has a place"));
    }
    let mut nodes = 0;
    for pair in parsed.documents.windows(2) {
        assert!(pair[0].index < pair[1].index);
    }
    for document in &parsed.documents {
        check_node(text, &document.root, limits.depth, &mut nodes);
    }
    assert!(nodes <= limits.nodes + parsed.documents.len());
});

fn check_node(text: &str, node: &Node, depth: usize, nodes: &mut usize) {
    *nodes += 1;
    check_range(text, node.span);
    match &node.value {
        Value::Sequence(items) => items
            .iter()
            .for_each(|item| check_node(text, item, depth.checked_sub(1).expect("depth"), nodes)),
        Value::Mapping(mapping) => {
            for entry in mapping {
                check_range(text, entry.key_span);
                assert_eq!(mapping.get(&entry.key), Some(entry));
                check_node(
                    text,
                    &entry.value,
                    depth.checked_sub(1).expect("depth"),
                    nodes,
                );
            }
        }
        _ => {}
    }
}

fn check_range(text: &str, range: TextRange) {
    assert!(text.get(range.start()..range.end()).is_some(), "{range:?}");
}

fn check_span(text: &str, span: Span) {
    assert!(
        text.get(span.start.offset..span.end.offset).is_some(),
        "{span:?}"
    );
    assert!(
        span.start.line >= 1
            && span.start.column >= 1
            && (span.start.line, span.start.column) <= (span.end.line, span.end.column),
        "{span:?}"
    );
}
