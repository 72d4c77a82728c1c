//! YAML in and out: every CRD that controller-gen wrote survives reading and writing.

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_go_yaml::goyaml;
use windlass_go_yaml::yaml::parse;
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::support::{files_below, shared};

/// A file read and written. The line `---` that controller-gen puts before the first document is
/// kept.
fn rewritten(text: &str) -> Result<String, String> {
    let parsed = parse(&Source::new("crd.yaml", text), &Budget::default());
    if let Some(finding) = parsed.report.findings().first() {
        return Err(format!("{}: {}", finding.rule.id, finding.message));
    }
    let start = if text.starts_with('\n') {
        "\n---\n"
    } else if text.starts_with("---\n") {
        "---\n"
    } else {
        ""
    };
    let values: Vec<_> = parsed
        .documents
        .into_iter()
        .map(|d| d.root.into_json())
        .collect();
    Ok(format!(
        "{start}{}",
        goyaml::documents_to_string(values)
            .map_err(|rejected| goyaml::to_string(&rejected).unwrap_err().to_string())?
    ))
}

#[test]
fn crds_survive_reading_and_writing() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let is_crd = |name: &str| name.contains("config/crd/bases/") && name.ends_with(".yaml");
    let (mut files, mut broken) = (0, Vec::new());
    for path in files_below(&corpus) {
        let name = path.to_str().unwrap();
        if is_crd(name) {
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            if rewritten(&text).as_deref() != Ok(&text) {
                broken.push(format!("{name}: {}", first_difference(&text)));
            }
        }
    }
    assert!(files >= 90, "only {files} CRDs found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn first_difference(text: &str) -> String {
    match rewritten(text) {
        Err(why) => why,
        Ok(again) => {
            let line = text
                .lines()
                .zip(again.lines())
                .position(|(a, b)| a != b)
                .unwrap_or_default();
            format!(
                "line {}: {:?} became {:?}",
                line + 1,
                text.lines().nth(line),
                again.lines().nth(line)
            )
        }
    }
}

/// The first document as JSON, when nothing is wrong with the text.
fn value(text: &str) -> Option<Value> {
    let parsed = parse(&Source::new("x.yaml", text), &Budget::default());
    parsed.report.is_empty().then(|| {
        parsed
            .documents
            .into_iter()
            .next()
            .map(|d| d.root.into_json())
            .unwrap_or_default()
    })
}

/// Texts that go wrong easily.
fn nasty_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9]{1,12}",
        3 => Just(" ".to_owned()),
        2 => Just("\n".to_owned()),
        4 => "[-_.:#,\\[\\]{}&*!|>'\"%@`?=<~+$\\\\/\t\r]",
        1 => "[\\x00-\\x1f]",
        2 => proptest::sample::select(vec![
            "true", "y", "no", "on", "null", "~", "<<", "0x1f", "0b1", "0o7", "017", "1_000", "1e3", ".5", "1.", "+1", ".inf", "2020-01-02",
            "12:30", "---", "...", "--- ", "- ", "? ", ": ", " #", "://", "{{ x }}", "é", "日本", "😀", "\u{feff}", "\u{a0}", "\u{e000}",
        ])
        .prop_map(str::to_owned),
    ];
    // Long enough to be folded now and then.
    prop_oneof![9 => proptest::collection::vec(piece.clone(), 0..6), 1 => proptest::collection::vec(piece, 20..60)].prop_map(|p| p.concat())
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        2 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        2 => any::<f64>().prop_filter("JSON has neither infinities nor whole doubles", |f| f.is_finite() && f.fract() != 0.0).prop_map(Value::from),
        8 => nasty_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        // A bare key `<<` is read as a merge by Go too.
        let key = nasty_text().prop_filter("Go writes `<<` without quotes", |key| key != "<<");
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(key, inner, 0..5)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(expected in any_value()) {
        let text = goyaml::to_string(&expected).unwrap();
        prop_assert_eq!(value(&text), Some(expected), "{}", text);
    }

    #[test]
    fn what_is_written_is_what_another_reader_reads(text in "[^\\x00-\\x1f\\x7f-\\x9f\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}]{0,100}") {
        // libyaml reads YAML 1.1 but resolves words as YAML 1.2: quoting covers both.
        let written = goyaml::to_string(&json!([text])).unwrap();
        prop_assert_eq!(serde_yaml::from_str::<Value>(&written).unwrap(), json!([text]), "{}", written);
    }

    #[test]
    fn any_text_is_read_without_panic(text in "([-a:?\\[\\]{},&*!|>'\"%#~. \t\n<]|--- |\\.\\.\\.\n|&a |\\*a|<<: |\\PC){0,40}") {
        let parsed = parse(&Source::new("x.yaml", text.as_str()), &Budget::default());
        for document in &parsed.documents {
            prop_assert!(document.root.span.end() <= text.len());
        }
        for finding in parsed.report.findings() {
            prop_assert!(finding.help.is_some());
            prop_assert!(finding.place.span.is_some());
        }
    }
}

#[test]
fn large_streams_are_read_as_small_ones() {
    let document = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: |\n    --- no marker\n    é\n";
    let count = 10_000;
    let stream = vec![document; count].join("---\n");
    let parsed = parse(
        &Source::new("all.yaml", stream.as_str()),
        &Budget::default(),
    );
    assert_eq!(parsed.documents.len(), count);
    assert!(parsed.report.is_empty());
    let expected = value(document).unwrap();
    for (at, read) in parsed.documents.iter().enumerate() {
        assert_eq!(read.index, at + 1);
        assert_eq!(read.root.span.start(), at * (document.len() + 4));
        assert_eq!(read.root.to_json(), expected);
    }
    // One document that needs a finding more: the whole is read from the beginning, with the same
    // documents.
    let broken = format!("{stream}---\na: [\n");
    let parsed = parse(&Source::new("all.yaml", broken), &Budget::default());
    assert_eq!(parsed.documents.len(), count);
    assert_eq!(parsed.report.findings()[0].place.document, Some(count + 1));
}
