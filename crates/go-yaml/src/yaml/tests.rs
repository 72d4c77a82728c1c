//! What is read of texts, and what is found.

use serde_json::json;

use super::*;
use windlass_source::budget::Budget;
use windlass_source::diag::{FieldPath, Severity};

fn read(text: &str) -> Parsed {
    parse(&Source::new("x.yaml", text), &Budget::default())
}

/// Checks the value of a text that holds one document without findings.
fn check(text: &str, expected: serde_json::Value) {
    let parsed = read(text);
    assert_eq!(parsed.report.findings(), [], "{text}");
    assert_eq!(
        parsed
            .documents
            .iter()
            .map(|d| d.root.to_json())
            .collect::<Vec<_>>(),
        [expected],
        "{text}"
    );
}

/// Checks rule, line and column of every finding.
fn check_findings(text: &str, expected: &[(&str, u32, u32)]) -> Parsed {
    let parsed = read(text);
    let found: Vec<_> = parsed
        .report
        .findings()
        .iter()
        .map(|f| {
            let start = f.place.span.map(|s| s.start).unwrap_or_default();
            (f.rule.id, start.line, start.column)
        })
        .collect();
    assert_eq!(found, expected, "{text}");
    assert!(parsed.report.findings().iter().all(|f| f.help.is_some()));
    parsed
}

#[test]
fn scalars_have_go_values() {
    check(
        "a: yes\nb: 0755\nc: 1.0\nd: 2020-01-01\ne: 'on'\nf: ~\ng:\n",
        json!({"a": true, "b": 493, "c": 1, "d": "2020-01-01", "e": "on", "f": null, "g": null}),
    );
    check("n: !!binary aGVsbG8=\n", json!({"false": "hello"}));
    check(
        "b: !!str 1\nc: !!int '3'\nd: !!float 3\n",
        json!({"b": "1", "c": 3, "d": 3}),
    );
    check(
        "1.10: a\n1e6: b\n0x10: c\n.inf: d\n",
        json!({"1.1": "a", "1e+06": "b", "16": "c", ".inf": "d"}),
    );
}

#[test]
fn blocks_of_one_line_hold_tabs() {
    check("a: |\n  -\tb\n", json!({"a": "-\tb\n"}));
    check(
        "a:\n- b: |2\n     \tc\n  d: 1\n",
        json!({"a": [{"b": " \tc\n", "d": 1}]}),
    );
}

#[test]
fn merges_happen_where_they_stand() {
    check(
        "x: &x {a: 1, b: 2}\nz:\n  <<: *x\n  a: 3\n",
        json!({"x": {"a": 1, "b": 2}, "z": {"a": 3, "b": 2}}),
    );
    check("<<: [{a: 1}, {a: 2, b: 2}]\n", json!({"a": 1, "b": 2}));
    check("'<<': {a: 1}\n", json!({"<<": {"a": 1}}));
    let parsed = check_findings("a: 1\n<<: {a: 2}\n", &[("yaml-merge-overriding", 1, 1)]);
    assert_eq!(parsed.documents[0].root.to_json(), json!({"a": 2}));
    check_findings("<<: 3\n", &[("yaml-merge-invalid", 1, 1)]);
}

#[test]
fn last_of_equal_keys_wins_with_a_warning() {
    let parsed = check_findings(
        "a: 1\nb:\n  c: 1\n  c: 2\na: 3\n",
        &[("yaml-key-duplicated", 3, 3), ("yaml-key-duplicated", 1, 1)],
    );
    assert_eq!(
        parsed.documents[0].root.to_json(),
        json!({"a": 3, "b": {"c": 2}})
    );
    assert_eq!(parsed.report.findings()[0].place.path.to_string(), "b");
}

#[test]
fn broken_document_does_not_hide_the_others() {
    let parsed = check_findings("a: 1\n---\nb: [1, 2\n---\nc: 3\n", &[("yaml-syntax", 3, 4)]);
    let read: Vec<_> = parsed
        .documents
        .iter()
        .map(|d| (d.index, d.root.to_json()))
        .collect();
    assert_eq!(read, [(1, json!({"a": 1})), (3, json!({"c": 3}))]);
    assert_eq!(parsed.report.findings()[0].place.document, Some(2));
}

#[test]
fn defects_of_values_have_their_places() {
    check_findings("a: *b\n", &[("yaml-alias-undefined", 1, 4)]);
    check_findings("a: &b [*b]\n", &[("yaml-alias-recursive", 1, 8)]);
    check_findings("a: .inf\n", &[("yaml-number-infinite", 1, 4)]);
    check_findings("a: !!int x\n", &[("yaml-tag-mismatched", 1, 10)]);
    check_findings(
        "? [a]\n: b\n~: c\n",
        &[("yaml-key-invalid", 1, 3), ("yaml-key-invalid", 3, 1)],
    );
    check_findings("a: \"\u{7f}\"\n", &[("yaml-character-rejected", 1, 5)]);
    check_findings("a: 1 # \u{1}\n", &[("yaml-character-rejected", 1, 8)]);
}

#[test]
fn expansion_and_depth_are_bounded() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let alias = format!("*a{}", level - 1);
        bomb.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            [alias.as_str(); 9].join(", ")
        ));
    }
    let parsed = read(&bomb);
    assert_eq!(parsed.report.findings()[0].rule.id, "yaml-nodes-exceeded");
    assert_eq!(parsed.documents, []);
    for deep in ["[".repeat(100_000), "- ".repeat(50_000), "a:\n".repeat(3)] {
        read(&deep);
    }
    check_findings(
        &format!("{}\n---\na: 1\n", "[".repeat(1000)),
        &[("yaml-depth-exceeded", 1, 201)],
    );
}

#[test]
fn paths_lead_to_spans() {
    let parsed = read("spec:\n  files:\n  - path: \"\"\n    mode: 0644\n");
    let root = &parsed.documents[0].root;
    let path = FieldPath::root()
        .field("spec")
        .field("files")
        .index(0)
        .field("path");
    let exact = root.nearest(&path);
    assert!(exact.exact);
    let text = "spec:\n  files:\n  - path: \"\"\n    mode: 0644\n";
    let at = |needle: &str| text.find(needle).unwrap_or_default();
    assert_eq!(exact.span, TextRange::new(at("\"\""), at("\"\"") + 2));
    let missing = root.nearest(&FieldPath::root().field("spec").field("users"));
    assert!(!missing.exact);
    assert_eq!(missing.span.start(), 0);
    let missing = root.nearest(
        &FieldPath::root()
            .field("spec")
            .field("files")
            .index(0)
            .field("owner"),
    );
    assert_eq!((missing.span.start(), missing.key), (at("path"), None));
    assert_eq!(root.at(&path).and_then(Node::as_str), Some(""));
}

#[test]
fn tabs_that_go_rejects_are_found() {
    check_findings("a: 1\n\t\nb: 2\n", &[("yaml-syntax", 2, 1)]);
    check_findings("\ta: 1\n", &[("yaml-syntax", 1, 1)]);
    check_findings("a:\n-\t1\n", &[("yaml-syntax", 2, 2)]);
    check("a: 1\n  \t# x\n", json!({"a": 1}));
    check(
        "a:\t1\nb: |\n  x\n  \ty\nc: [1,\n\t2]\nd: \"x\n  \ty\"\ne: 1\t# x\n",
        json!({"a": 1, "b": "x\n\ty\n", "c": [1, 2], "d": "x y", "e": 1}),
    );
}

#[test]
fn words_and_names_that_only_go_rejects_are_found() {
    check_findings("a: [http://x/?y]\n", &[("yaml-syntax", 1, 5)]);
    check_findings("a: {b: :c}\n", &[("yaml-syntax", 1, 8)]);
    check(
        "a: http://x/?y\nb: [x:y]\n",
        json!({"a": "http://x/?y", "b": ["x:y"]}),
    );
    check_findings("a: &b.c 1\n", &[("yaml-anchor-invalid", 1, 4)]);
    check_findings("a: &a [{b: 1}]\n<<: *a\n", &[("yaml-merge-invalid", 2, 1)]);
}

#[test]
fn block_that_ends_with_the_file_gets_no_line_break() {
    check("a: |\n  b", json!({"a": "b"}));
    check("a: >\n  b\n  c", json!({"a": "b c"}));
    check("a: |\n  b\n", json!({"a": "b\n"}));
    check("a: |\n  b\n  ", json!({"a": "b\n"}));
    check("a: |\n  b\n# c", json!({"a": "b\n"}));
}

#[test]
fn streams_keep_empty_documents_and_count_broken_ones() {
    let parsed = read("# only\n---\n# nothing\n---\na: 1\n...\n---\n");
    let found: Vec<_> = parsed
        .documents
        .iter()
        .map(|d| (d.index, d.root.to_json()))
        .collect();
    assert_eq!(
        found,
        [(1, json!(null)), (2, json!({"a": 1})), (3, json!(null))]
    );
    assert_eq!(read("").documents, []);
    assert_eq!(
        read("\u{feff}a: 1\n").documents[0].root.to_json(),
        json!({"a": 1})
    );
    check_findings(
        "a: 1\n---\n@\n---\n`\n---\n- 1\n",
        &[("yaml-syntax", 3, 1), ("yaml-syntax", 5, 1)],
    );
}

#[test]
fn spans_cover_the_words() {
    let text = "a: &x [1, 2]\nb:\n- c: |\n    d\n    é\n\n- e: 'f'\ng: *x\n";
    let parsed = read(text);
    let root = &parsed.documents[0].root;
    let shown = |path: &FieldPath| {
        let span = root.nearest(path).span;
        &text[span.start()..span.end()]
    };
    let path = FieldPath::root();
    assert_eq!(shown(&path.field("a")), "[1, 2]");
    assert_eq!(shown(&path.field("b")), "- c: |\n    d\n    é\n\n- e: 'f'");
    assert_eq!(shown(&path.field("b").index(0).field("c")), "d\n    é");
    assert_eq!(shown(&path.field("b").index(1).field("e")), "'f'");
    assert_eq!(shown(&path.field("g")), "*x");
    assert_eq!(shown(&path.field("g").index(1)), "2");
    let end = root
        .nearest(&path.field("b").index(0).field("c"))
        .span
        .end();
    assert_eq!(end, text.find('é').unwrap() + 2);
}

#[test]
fn findings_are_bounded() {
    let limits = Limits {
        findings: 3,
        ..Limits::default()
    };
    let parsed = parse_within(
        &Source::new("x.yaml", "a: 1\n".repeat(10)),
        &limits,
        &Budget::default(),
    );
    let rules: Vec<_> = parsed.report.findings().iter().map(|f| f.rule.id).collect();
    assert_eq!(
        rules,
        [
            "yaml-key-duplicated",
            "yaml-key-duplicated",
            "yaml-key-duplicated",
            "yaml-findings-exceeded"
        ]
    );
    // Of each kind of odd characters the first is reported however many others there are.
    let odd = "a: 1\n".repeat(10) + "---\n# \u{1}\u{2028}\u{feff}\n";
    let parsed = parse_within(&Source::new("x.yaml", odd), &limits, &Budget::default());
    let rules: Vec<_> = parsed
        .report
        .findings()
        .iter()
        .skip(4)
        .map(|f| f.rule.id)
        .collect();
    assert_eq!(
        rules,
        [
            "yaml-character-rejected",
            "yaml-line-break-unusual",
            "yaml-byte-order-mark"
        ]
    );
    let limits = Limits {
        bytes: 3,
        ..Limits::default()
    };
    assert_eq!(
        parse_within(
            &Source::new("x.yaml", "a: 1\n"),
            &limits,
            &Budget::default()
        )
        .report
        .findings()[0]
            .rule
            .id,
        "yaml-size-exceeded"
    );
}

/// What is said of sources that are read one after the other in a run: the file, the line, and the
/// finding.
fn found_in_a_run(texts: &[String], budget: &Budget) -> Vec<(String, u32, &'static str)> {
    let read = |(n, text): (usize, &String)| {
        parse(&Source::new(format!("{n}.yaml"), text.as_str()), budget)
            .report
            .into_findings()
    };
    let told = |finding: Diagnostic| {
        assert!(
            finding.message.contains("in one run"),
            "{}",
            finding.message
        );
        (
            finding.place.file.unwrap().to_string(),
            finding.place.span.map_or(0, |span| span.start.line),
            finding.rule.id,
        )
    };
    texts.iter().enumerate().flat_map(read).map(told).collect()
}

#[test]
fn a_run_is_bounded_and_says_which_source_was_too_much() {
    let blamed = |line: u32, rule: &'static str| vec![("1.yaml".to_owned(), line, rule); 2];
    let text = "- 1\n".repeat(1000);
    let texts = [text.clone(), text.clone(), text.clone()];
    let budget = || Budget::default();
    assert_eq!(found_in_a_run(&texts, &budget()), []);
    assert_eq!(
        found_in_a_run(&texts, &budget().with(Resource::Bytes, 12_000)),
        []
    );
    assert_eq!(
        found_in_a_run(&texts, &budget().with(Resource::Bytes, 7999)),
        blamed(0, "yaml-size-exceeded")
    );
    // A list of a thousand values is 1001.
    assert_eq!(
        found_in_a_run(&texts, &budget().with(Resource::Values, 3003)),
        []
    );
    assert_eq!(
        found_in_a_run(&texts, &budget().with(Resource::Values, 2001)),
        blamed(1, "yaml-nodes-exceeded")
    );
    let aliases = |many: usize| format!("a: &a [v, w]\nb:\n{}", "- *a\n".repeat(many));
    // Three values of 128 bytes, and two bytes of text.
    let copies = |most: usize| budget().with(Resource::Copies, most as u64);
    assert_eq!(
        found_in_a_run(&[aliases(3), aliases(4)], &copies(7 * 386)),
        []
    );
    let rejected = found_in_a_run(
        &[aliases(3), aliases(4), "a: 1".to_owned()],
        &copies(7 * 386 - 1),
    );
    assert_eq!(rejected, blamed(6, "yaml-nodes-exceeded"));
}

#[test]
fn aliases_of_a_source_are_bounded_by_what_they_stand_for() {
    // Three values of 128 bytes, and two bytes of text, for each alias.
    let limits = Limits {
        bytes: 6 * 386,
        ..Limits::default()
    };
    let found = |aliases: usize| {
        let text = format!("a: &a [v, w]\nb: [{}]\n", vec!["*a"; aliases].join(", "));
        let parsed = parse_within(&Source::new("x.yaml", text), &limits, &Budget::default());
        parsed
            .report
            .into_findings()
            .into_iter()
            .map(|finding| finding.message.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(found(6), Vec::<String>::new());
    assert_eq!(
        found(7),
        ["aliases stand for more than 2316 bytes; the rest is not read"]
    );
}

#[test]
fn what_a_run_takes_does_not_depend_on_the_cores() {
    let document = format!("---\nk: {}\nl: [a, b]\n", "x".repeat(1000));
    let source = Source::new("x.yaml", document.repeat(1000));
    let taken = |budget: &Budget| {
        (
            budget.used_of(Resource::Bytes),
            budget.used_of(Resource::Values),
        )
    };
    let budget = Budget::default();
    assert!(parse(&source, &budget).report.is_empty());
    assert_eq!(taken(&budget), (source.text().len() as u64, 7 * 1000));
    let (alone, limits) = (Budget::default(), Limits::default());
    let _ = super::read::<Node>(&source, 0..source.text().len(), &limits, &alone);
    assert_eq!(taken(&alone), (0, 7 * 1000));
    let budget = Budget::default().with(Resource::Values, 5000);
    let finding = parse(&source, &budget).report.into_findings();
    assert_eq!(finding.len(), 1);
    assert_eq!(finding[0].rule.id, "yaml-nodes-exceeded");
}

#[test]
fn line_breaks_of_yaml_1_1_are_named() {
    check_findings("a: x\u{2028} y\n", &[("yaml-line-break-unusual", 1, 5)]);
    check_findings(
        "a: x\u{2028}y\n",
        &[("yaml-syntax", 1, 6), ("yaml-line-break-unusual", 1, 5)],
    );
    check_findings(
        "a\u{2028}b: 1\n",
        &[("yaml-syntax", 1, 4), ("yaml-line-break-unusual", 1, 2)],
    );
    check("a: \"\\u2028\\N\"\n", json!({"a": "\u{2028}\u{85}"}));
}

#[test]
fn findings_do_not_repeat_long_texts() {
    let parsed = read(&format!(
        "? {}\n: x: 1\n  x: 2\n  y: !!int {}\n",
        "k".repeat(5000),
        "v".repeat(5000)
    ));
    for finding in parsed.report.findings() {
        assert!(
            finding.message.len() < 200 && finding.place.path.is_root(),
            "{finding:?}"
        );
    }
    assert_eq!(parsed.report.findings().len(), 2);
}

#[test]
fn values_find_their_places_when_they_are_asked() {
    let source = Source::new(
        "x.yaml",
        "# x\na: 1\n---\nb: [\n---\nc:\n- &x {d: 1}\n- *x\n- z: 1\n  z: 2\n",
    );
    let values = values(&source, &Budget::default());
    let read: Vec<_> = values
        .documents
        .iter()
        .map(|d| (d.origin.document(), d.value.clone()))
        .collect();
    assert_eq!(
        read,
        [
            (1, json!({"a": 1})),
            (3, json!({"c": [{"d": 1}, {"d": 1}, {"z": 2}]}))
        ]
    );
    let parsed = parse(&source, &Budget::default());
    assert_eq!(values.report, parsed.report);
    for (value, document) in values.documents.iter().zip(&parsed.documents) {
        assert_eq!(value.origin.root(), &document.root);
    }
    let path = FieldPath::root().field("c").index(0).field("d");
    let place = values.documents[1].origin.place(&path);
    assert_eq!(
        (
            place.document,
            place.span.map(|span| (span.start.line, span.start.column))
        ),
        (Some(3), Some((7, 10)))
    );
}

/// As Go's reader has it, tried with sigs.k8s.io/yaml v1.6.0.
#[test]
fn texts_are_cut_as_go_cuts_them() {
    check("a: \"one\ntwo\"\n", json!({"a": "one two"}));
    check(
        "a: 'one\n\n  two'\nb: 1\n",
        json!({"a": "one\ntwo", "b": 1}),
    );
    check("a: |\n  b\n  \t\n", json!({"a": "b\n\t\n"}));
    check("a: |\n  b\n  \t", json!({"a": "b\n\t"}));
    check_findings("a: |\n  b\n\t\n", &[("yaml-syntax", 3, 1)]);
    check_findings("a: \"\\/\"\n", &[("yaml-syntax", 1, 4)]);
}

/// Values of Go are those of sigs.k8s.io/yaml v1.6.0 (go.yaml.in/yaml/v2 v2.4.2), whose program
/// read these texts.
fn check_values(text: &str, expected: serde_json::Value) {
    let parsed = read(text);
    let errors: Vec<_> = parsed
        .report
        .findings()
        .iter()
        .filter(|finding| finding.rule.severity == Severity::Error)
        .collect();
    assert_eq!(errors, Vec::<&Diagnostic>::new(), "{text:?}");
    assert_eq!(
        parsed
            .documents
            .iter()
            .map(|d| d.root.to_json())
            .collect::<Vec<_>>(),
        [expected],
        "{text:?}"
    );
}

#[test]
fn breaks_of_yaml_1_1_are_gos() {
    // Next line, a break like any other.
    for (text, expected) in [
        ("a: x\u{85}b: 1\n", json!({"a": "x", "b": 1})),
        ("a: x\u{85}  y\n", json!({"a": "x y"})),
        ("a: 'x\u{85}y'\n", json!({"a": "x y"})),
        ("a: |\n  x\u{85}  y\n", json!({"a": "x\ny\n"})),
        ("a: >\n  x\u{85}  y\n", json!({"a": "x y\n"})),
        ("# x\u{85}a: 1\n", json!({"a": 1})),
        ("a: [x,\u{85} y]\n", json!({"a": ["x", true]})),
        ("- x\u{85}- y\n", json!(["x", true])),
        ("a:\u{85}  b: 1\n", json!({"a": {"b": 1}})),
        // The separators of lines and paragraphs stay in the text.
        ("a: x\u{2028} y\n", json!({"a": "x\u{2028}y"})),
        ("a: \"x\u{2028} y\"\n", json!({"a": "x\u{2028}y"})),
        (
            "a: 'x \u{2029}\u{2029} y'\n",
            json!({"a": "x\u{2029}\u{2029}y"}),
        ),
        ("a: |\n  x\u{2028}  y\n", json!({"a": "x\u{2028}y\n"})),
        ("a: >\n  x\u{2028}  y\n", json!({"a": "x\u{2028}y\n"})),
        ("# x\u{2028}a: 1\n", json!({"a": 1})),
        ("a: [x\u{2029}, y]\n", json!({"a": ["x", true]})),
    ] {
        check_values(text, expected);
    }
}

#[test]
fn tabs_in_brackets_are_gos() {
    check("a: [\tb,\tc\t]\n", json!({"a": ["b", "c"]}));
    check(
        "a: {\n\tb: c,\n\td:\te\n}\n",
        json!({"a": {"b": "c", "d": "e"}}),
    );
    check("a:\n- [\n\tb]\n", json!({"a": [["b"]]}));
    check("a: [b,\n\t# x\n\tc]\n", json!({"a": ["b", "c"]}));
    check("a: [\n\n\t\n\tb]\n", json!({"a": ["b"]}));
    let rejected = |text: &str, upstream: &str, line: u32| {
        let parsed = check_findings(text, &[("yaml-syntax", line, 1)]);
        assert_eq!(
            parsed.report.findings()[0].upstream.as_deref(),
            Some(upstream)
        );
    };
    rejected(
        "a: [\n\tb,\n\tc\n\t]\n",
        "yaml: line 4: found a tab character that violates indentation",
        4,
    );
    rejected(
        "a: {b: c\n\t}\n",
        "yaml: line 2: found a tab character that violates indentation",
        2,
    );
    rejected(
        "- a\n\t- b\n",
        "yaml: line 2: found a tab character that violates indentation",
        2,
    );
}

/// What Go drops of a text is reported, once for an anchor whatever its aliases.
#[test]
fn tags_that_go_drops_are_told() {
    for (text, place, expected) in [
        ("a: !foo 12\n", (1, 4), json!({"a": "12"})),
        (
            "- ! grep -q x /f && y\n",
            (1, 3),
            json!(["grep -q x /f && y"]),
        ),
        ("a: !foo [b]\n", (1, 4), json!({"a": ["b"]})),
        ("a: !foo\n  b: 1\n", (1, 4), json!({"a": {"b": 1}})),
        ("a: !<x> 1\n", (1, 4), json!({"a": "1"})),
        ("!x a: 1\n", (1, 1), json!({"a": 1})),
        ("a: &b !x 1\nc: *b\n", (1, 4), json!({"a": "1", "c": "1"})),
    ] {
        check_findings(text, &[("yaml-tag-dropped", place.0, place.1)]);
        check_values(text, expected);
    }
    let help = |text: &str| {
        read(text).report.findings()[0]
            .help
            .as_ref()
            .unwrap()
            .to_string()
    };
    assert_eq!(
        help("- ! grep x && y # z\n"),
        "remove it, or put the value in quotes: `'! grep x && y'`"
    );
    assert_eq!(
        help("a: [! b, c]\n"),
        "remove it, or put the value in quotes: `'…'`"
    );
    check("a: !!foo 1\n", json!({"a": "1"}));
}

#[test]
fn byte_order_marks_are_gos_and_told_where_they_are_not_the_first_character() {
    check("\u{feff}a: 1\n", json!({"a": 1}));
    check("\u{feff}# x\na: 1\n", json!({"a": 1}));
    check("\u{feff}---\na: 1\n", json!({"a": 1}));
    for (text, place, expected) in [
        (
            "a: 1\n\u{feff}b: 2\n",
            (2, 1),
            json!({"a": 1, "\u{feff}b": 2}),
        ),
        (
            "a: \"x\u{feff}y\"\nb: 1\n",
            (1, 6),
            json!({"a": "x\u{feff}y", "b": 1}),
        ),
        (
            "a: \u{feff}\nb: 1\n",
            (1, 4),
            json!({"a": "\u{feff}", "b": 1}),
        ),
        (
            "a: |\n  \u{feff}x\n  y\nb: 1\n",
            (2, 3),
            json!({"a": "\u{feff}x\ny\n", "b": 1}),
        ),
        ("- \u{feff}- a\n- b\n", (1, 3), json!(["\u{feff}- a", "b"])),
        (
            "a: [\u{feff}b, c]\nd: e\n",
            (1, 5),
            json!({"a": ["\u{feff}b", "c"], "d": "e"}),
        ),
        ("a: 1\n# \u{feff}\nb: 2\n", (2, 3), json!({"a": 1, "b": 2})),
    ] {
        check_findings(text, &[("yaml-byte-order-mark", place.0, place.1)]);
        check_values(text, expected);
    }
    // Go reads `"\u{feff}\u{feff}\n---\n"` as the text `--`.
    check_findings(
        "\u{feff}\u{feff}a: 1\n",
        &[("yaml-character-rejected", 1, 2)],
    );
}

/// As go-yaml bounds aliases ("document contains excessive aliasing"): what is rejected costs nearly
/// nothing, however often it comes.
#[test]
fn bombs_are_rejected_before_they_go_off() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let alias = format!("*a{}", level - 1);
        bomb.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            [alias.as_str(); 9].join(", ")
        ));
    }
    let stream = vec![bomb.as_str(); 200].join("---\n");
    let parsed = read(&stream);
    assert_eq!(parsed.documents, []);
    let findings = parsed.report.findings();
    assert_eq!(findings.len(), 200);
    assert!(findings.iter().all(|f| f.rule.id == "yaml-nodes-exceeded"));
    assert_eq!(
        findings[0].upstream.as_deref(),
        Some("yaml: document contains excessive aliasing")
    );
    // Aliases that are not bomb are read.
    let shared = format!("a: &a {{b: c}}\nd: [{}]\n", ["*a"; 90].join(", "));
    assert!(read(&shared).report.is_empty());
}
