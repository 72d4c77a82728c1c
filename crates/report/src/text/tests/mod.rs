//! The look, held by examples that were written by hand.

use super::*;
use windlass_source::Source;
use windlass_source::diag::{Position, Rule, Span};

mod long_lines;

/// The place of `needle`, which must be in the text once.
fn place(source: &Source, needle: &str) -> Place {
    assert_eq!(source.text().matches(needle).count(), 1, "{needle}");
    let start = source.text().find(needle).unwrap();
    source.place_at(start..start + needle.len())
}

fn point(file: &str, line: u32, column: u32) -> Place {
    let at = Position {
        offset: 0,
        line,
        column,
    };
    Place::file(file).at_span(Span { start: at, end: at })
}

/// Renders one finding without colours and compares; the expected text is written with a leading
/// newline.
fn check(finding: Diagnostic, sources: &[&Source], width: usize, expected: &str) {
    let sources: Sources = sources.iter().map(|source| (*source).clone()).collect();
    let report: Report = [finding].into_iter().collect();
    let text = render(
        &report,
        &sources,
        Style {
            colour: false,
            width,
        },
    );
    assert_eq!(format!("\n{text}"), expected);
    let coloured = render(
        &report,
        &sources,
        Style {
            colour: true,
            width,
        },
    );
    assert_eq!(
        without_colours(&coloured),
        text,
        "colours change nothing else"
    );
}

fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + rest[at..].find('m').unwrap() + 1..];
    }
    plain + rest
}

#[test]
fn two_places_of_one_file_stand_in_one_excerpt() {
    let worker = Source::new(
        "gpu-worker.yaml",
        "apiVersion: x\nkind: KubeadmConfig\nmetadata:\n  name: gpu-worker\nspec:\n  files:\n  - path: /etc/motd\n    content: hi\n    contentFrom:\n",
    );
    let content = worker.text().find("content:").unwrap();
    let finding = Diagnostic::of(const { &Rule::error("config-file-two-sources", "") }, "spec.files[0] has both content and contentFrom")
        .at(place(&worker, "contentFrom"))
        .label("the second")
        .related(worker.place_at(content..content + "content".len()), "the first")
        .help("keep one of the two")
        .note("CAPI v1.14.0 rejects it: only one of content or contentFrom may be specified for a single file")
        .upstream("KubeadmConfig.bootstrap.cluster.x-k8s.io \"gpu-worker\" is invalid");
    check(
        finding,
        &[&worker],
        100,
        "
error[config-file-two-sources]: spec.files[0] has both content and contentFrom
  --> gpu-worker.yaml:9:5
   |
 8 |     content: <redacted>
   |     ------- the first
 9 |     contentFrom:
   |     ^^^^^^^^^^^ the second
   |
  = help: keep one of the two
  = note: CAPI v1.14.0 rejects it: only one of content or contentFrom may be specified for a single file
",
    );
}

#[test]
fn another_file_is_named_and_lines_to_add_are_shown() {
    let provider = Source::new(
        "provider.yaml",
        "name: k3s\ncrds:\n- bootstrap/config/crd/bases/*.yaml\n",
    );
    let foreign =
        "bootstrap/config/crd/bases/controlplane.cluster.x-k8s.io_kthreescontrolplanes.yaml";
    let message = "`crds` also takes KThreesControlPlane of group controlplane.cluster.x-k8s.io";
    let finding = Diagnostic::of(
        const { &Rule::error("provider-crd-foreign-group", "") },
        message,
    )
    .at(place(&provider, "bootstrap/config/crd/bases/*.yaml"))
    .label("`group` is bootstrap.cluster.x-k8s.io")
    .related(point(foreign, 9, 10), "")
    .help("write `bootstrap/config/crd/bases/bootstrap.cluster.x-k8s.io_*.yaml`");
    check(
        finding,
        &[&provider],
        100,
        "
error[provider-crd-foreign-group]: `crds` also takes KThreesControlPlane of group controlplane.cluster.x-k8s.io
  --> provider.yaml:3:3
   |
 3 | - bootstrap/config/crd/bases/*.yaml
   |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `group` is bootstrap.cluster.x-k8s.io
   |
  ::: bootstrap/config/crd/bases/controlplane.cluster.x-k8s.io_kthreescontrolplanes.yaml:9:10
  = help: write `bootstrap/config/crd/bases/bootstrap.cluster.x-k8s.io_*.yaml`
",
    );

    let metadata = Source::new(
        "metadata.yaml",
        format!("{}    contract: v1beta1\n", "#\n".repeat(11)),
    );
    let finding = Diagnostic::of(
        const { &Rule::error("metadata-series-missing", "") },
        "metadata.yaml does not list series 0.4 of v0.4.0",
    )
    .at(place(&metadata, "contract"))
    .insertion(
        12,
        vec![
            "  - major: 0".to_owned(),
            "    minor: 4".to_owned(),
            "    contract: v1beta1".to_owned(),
        ],
    )
    .help("add these lines, or run `windlass release bump v0.4.0`");
    check(
        finding,
        &[&metadata],
        100,
        "
error[metadata-series-missing]: metadata.yaml does not list series 0.4 of v0.4.0
  --> metadata.yaml:12:5
   |
12 |     contract: v1beta1
   +   - major: 0
   +     minor: 4
   +     contract: v1beta1
   |
  = help: add these lines, or run `windlass release bump v0.4.0`
",
    );
}

#[test]
fn a_related_excerpt_has_its_own_arrow_and_the_same_gutter() {
    let a = Source::new("a.yaml", "x: 1\n");
    let b = Source::new("b.yaml", format!("{}y: 2\n", "#\n".repeat(1000)));
    let finding = Diagnostic::of(const { &Rule::warning("a-b", "") }, "x and y differ")
        .at(place(&a, "1"))
        .related(place(&b, "2"), "here it is 2")
        .note("two\nlines");
    check(
        finding,
        &[&a, &b],
        100,
        "
warning[a-b]: x and y differ
    --> a.yaml:1:4
     |
   1 | x: 1
     |    ^
     |
    ::: b.yaml:1001:4
     |
1001 | y: 2
     |    - here it is 2
     |
    = note: two
            lines
",
    );
}

#[test]
fn a_bar_stands_between_excerpts_and_none_after_the_last() {
    let sources =
        ["a", "b", "c"].map(|name| Source::new(format!("{name}.yaml"), format!("{name}: 1\n")));
    let [a, b, c] = &sources;
    let finding = Diagnostic::of(const { &Rule::warning("a-b", "") }, "m")
        .at(place(a, "1"))
        .related(place(b, "1"), "two")
        .related(place(c, "1"), "three");
    check(
        finding,
        &[a, b, c],
        100,
        "
warning[a-b]: m
  --> a.yaml:1:4
   |
 1 | a: 1
   |    ^
   |
  ::: b.yaml:1:4
   |
 1 | b: 1
   |    - two
   |
  ::: c.yaml:1:4
   |
 1 | c: 1
   |    - three
",
    );
}

#[test]
fn a_mark_behind_a_secret_stands_below_its_text() {
    let source = Source::new("a.yaml", "- {password: hunter22, shell: NEEDLE}\n");
    check(
        Diagnostic::of(const { &Rule::error("a-b", "") }, "m").at(place(&source, "NEEDLE")),
        &[&source],
        100,
        "
error[a-b]: m
  --> a.yaml:1:31
   |
 1 | - {password: <redacted>, shell: NEEDLE}
   |                                 ^^^^^^
",
    );
}

#[test]
fn without_the_text_only_the_place_is_shown() {
    let finding = Diagnostic::of(
        const { &Rule::warning("image-registry-gone", "") },
        "gcr.io no longer serves kube-rbac-proxy",
    )
    .at(point("control-plane-components.yaml", 1877, 16))
    .help("use quay.io/brancz/kube-rbac-proxy:v0.16.0");
    check(
        finding,
        &[],
        100,
        "
warning[image-registry-gone]: gcr.io no longer serves kube-rbac-proxy
  --> control-plane-components.yaml:1877:16
  = help: use quay.io/brancz/kube-rbac-proxy:v0.16.0
",
    );
    let finding = Diagnostic::of(const { &Rule::info("a-b", "") }, "m")
        .at(Place::default().in_object("Machine/m"));
    check(finding, &[], 100, "\ninfo[a-b]: m\n  --> Machine/m\n");
    check(
        Diagnostic::of(const { &Rule::info("a-b", "") }, "m"),
        &[],
        100,
        "\ninfo[a-b]: m\n",
    );
    let related = Diagnostic::of(const { &Rule::info("a-b", "") }, "m")
        .at(Place::file("a"))
        .related(point("b", 1, 2), "the first");
    check(
        related,
        &[],
        100,
        "\ninfo[a-b]: m\n  --> a\n  ::: b:1:2 the first\n",
    );
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let source = Source::new("evil.yaml", "a: \x1b[2Jb\n");
    check(
        Diagnostic::of(const { &Rule::error("a-b", "") }, "m\x1b[2J").at(place(&source, "b")),
        &[&source],
        100,
        "
error[a-b]: m␛[2J
  --> evil.yaml:1:8
   |
 1 | a: ␛[2Jb
   |        ^
",
    );
}

/// A finding about a whole mapping, or about a block's text, shows where it begins and not dozens
/// of lines.
#[test]
fn of_a_mark_over_several_lines_the_first_is_shown() {
    let source = Source::new(
        "many.yaml",
        "a:\n  b:\n    c: 1\n    d: 2\n    e: |\n      f\n      g\nh: 6\n",
    );
    let shown = |from: &str, to: &str, expected: &str| {
        let find = |needle| source.text().find(needle).unwrap();
        let finding = Diagnostic::of(const { &Rule::error("a-b", "") }, "m")
            .at(source.place_at(find(from)..find(to)))
            .label("this");
        check(finding, &[&source], 100, expected);
    };
    let expected = "
error[a-b]: m
  --> many.yaml:2:3
   |
 2 |   b:
   |   ^^ this
";
    shown("b:", "d:", expected);
    shown("b:", "h:", expected);
    let expected = "
error[a-b]: m
  --> many.yaml:6:7
   |
 6 |       f
   |       ^ this
";
    shown("f\n", "h:", expected);
}

#[test]
fn lines_between_distant_marks_are_left_out() {
    let source = Source::new("far.yaml", "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n");
    check(
        Diagnostic::of(const { &Rule::error("a-b", "") }, "m")
            .at(place(&source, "e"))
            .related(place(&source, "a"), "one"),
        &[&source],
        100,
        "
error[a-b]: m
  --> far.yaml:5:1
   |
 1 | a: 1
   | - one
...
 5 | e: 5
   | ^
",
    );
}

#[test]
fn colours_follow_the_severity() {
    let source = Source::new("a.yaml", "x: 1\n");
    let report: Report = [Diagnostic::of(const { &Rule::warning("a-b", "") }, "m")
        .at(place(&source, "1"))
        .label("one")]
    .into_iter()
    .collect();
    let text = render(
        &report,
        &[source].into_iter().collect(),
        Style {
            colour: true,
            width: 100,
        },
    );
    assert!(
        text.starts_with("\x1b[1;33mwarning\x1b[0m\x1b[1m[a-b]\x1b[0m: m\n"),
        "{text:?}"
    );
    assert!(
        text.contains("  --> \x1b[1ma.yaml:1:4\x1b[0m\n"),
        "{text:?}"
    );
    assert!(
        text.contains("   |    \x1b[1;33m^ one\x1b[0m\n"),
        "{text:?}"
    );
}

#[test]
fn summaries_leave_out_what_is_not_there() {
    let summary = |errors, warnings| Summary {
        errors,
        warnings,
        infos: 0,
        waived: 0,
    };
    assert_eq!(
        summary_line("", summary(2, 1), "no data written"),
        "2 errors, 1 warning; no data written"
    );
    assert_eq!(
        summary_line("", summary(1, 0), "nothing written"),
        "1 error; nothing written"
    );
    assert_eq!(
        summary_line("5 files, 17 objects, 2 images", summary(0, 0), ""),
        "5 files, 17 objects, 2 images"
    );
    assert_eq!(
        summary_line("17 objects, static rules only", summary(0, 1), ""),
        "17 objects, static rules only; 1 warning"
    );
}

#[test]
fn failures_have_their_help_below() {
    let style = Style::default();
    let text = style.failure(
        "worker.yml: no such file",
        Some("did you mean worker.yaml?"),
    );
    assert_eq!(
        text,
        "error: worker.yml: no such file\n  help: did you mean worker.yaml?\n"
    );
}

/// Of five lines: what is shown of a finding about one of them, with or without another place and
/// lines to add.
fn check_five(finding: impl FnOnce(&Source) -> Diagnostic, expected: &str) {
    let source = Source::new("five.yaml", "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n");
    let finding = finding(&source);
    let line = finding.place.span.unwrap().start.line;
    check(
        finding,
        &[&source],
        100,
        &format!("\nerror[a-b]: m\n  --> five.yaml:{line}:1\n   |\n{expected}"),
    );
}

#[test]
fn a_single_line_between_two_marks_is_shown() {
    for (far, expected) in [
        ("b", " 1 | a: 1\n   | - one\n 2 | b: 2\n   | ^\n"),
        ("c", " 1 | a: 1\n   | - one\n 2 | b: 2\n 3 | c: 3\n   | ^\n"),
        ("d", " 1 | a: 1\n   | - one\n...\n 4 | d: 4\n   | ^\n"),
    ] {
        let finding = |source: &Source| {
            Diagnostic::of(const { &Rule::error("a-b", "") }, "m")
                .at(place(source, far))
                .related(place(source, "a"), "one")
        };
        check_five(finding, expected);
    }
}

#[test]
fn lines_to_add_stand_behind_their_line() {
    for (at, after_line, expected) in [
        ("c", 0, "   + x: 0\n 3 | c: 3\n   | ^ here\n"),
        (
            "c",
            1,
            " 1 | a: 1\n   + x: 0\n 2 | b: 2\n 3 | c: 3\n   | ^ here\n",
        ),
        ("c", 3, " 3 | c: 3\n   | ^ here\n   + x: 0\n"),
        (
            "c",
            5,
            " 3 | c: 3\n   | ^ here\n 4 | d: 4\n 5 | e: 5\n   + x: 0\n",
        ),
        ("c", 9, " 3 | c: 3\n   | ^ here\n   + x: 0\n"),
        (
            "e",
            1,
            " 1 | a: 1\n   + x: 0\n...\n 5 | e: 5\n   | ^ here\n",
        ),
        (
            "a",
            5,
            " 1 | a: 1\n   | ^ here\n...\n 5 | e: 5\n   + x: 0\n",
        ),
    ] {
        let finding = |source: &Source| {
            let finding = Diagnostic::of(const { &Rule::error("a-b", "") }, "m")
                .at(place(source, at))
                .label("here");
            finding.insertion(after_line, vec!["x: 0".to_owned()])
        };
        check_five(finding, expected);
    }
}

#[test]
fn lines_to_add_are_shown_without_the_text_too() {
    let finding = Diagnostic::of(const { &Rule::error("a-b", "") }, "m")
        .at(point("x.yaml", 3, 1))
        .insertion(3, vec!["x: 0".to_owned()]);
    check(
        finding,
        &[],
        100,
        "\nerror[a-b]: m\n  --> x.yaml:3:1\n   |\n   + x: 0\n",
    );
}

/// Another word about the same file has no line to stand in, and is reported all the same.
#[test]
fn a_related_file_is_named_though_it_is_the_same() {
    let source = Source::new("a.yaml", "x: 1\n");
    let finding = Diagnostic::of(const { &Rule::error("a-b", "") }, "m")
        .at(place(&source, "1"))
        .related(source.place(), "whole");
    check(
        finding,
        &[&source],
        100,
        "\nerror[a-b]: m\n  --> a.yaml:1:4\n   |\n 1 | x: 1\n   |    ^\n   |\n  ::: a.yaml whole\n",
    );
}

#[test]
fn a_line_with_several_marks_is_shown_once() {
    let source = Source::new("one.yaml", "a: {b: 1, c: 2, d: 3}\n");
    let finding = Diagnostic::of(const { &Rule::error("a-b", "") }, "m")
        .at(source.place_at(21..21))
        .label("end")
        .related(place(&source, "2"), "two")
        .related(place(&source, "1"), "one");
    check(
        finding,
        &[&source],
        100,
        "
error[a-b]: m
  --> one.yaml:1:22
   |
 1 | a: {b: 1, c: 2, d: 3}
   |        - one
   |              - two
   |                      ^ end
",
    );
}

/// Marks before, in, between and behind secrets: the text that stands for a secret is marked as a
/// whole.
#[test]
fn marks_stand_below_their_text_around_secrets() {
    let source = Source::new(
        "a.yaml",
        "- {password: hunter22, shell: BETWEEN, token: hunter33, gecos: BEHIND}\n",
    );
    let masked = "- {password: <redacted>, shell: BETWEEN, token: <redacted>, gecos: BEHIND}";
    for (needle, before, length) in [
        ("password", 3, 8),
        ("password: hunt", 3, 20),
        ("hunter22", 13, 10),
        ("hunt", 13, 10),
        ("22", 13, 10),
        (", shell", 23, 7),
        ("BETWEEN", 32, 7),
        ("hunter33", 48, 10),
        ("33, gecos", 48, 17),
        (", gecos", 58, 7),
        ("BEHIND", 67, 6),
    ] {
        let start = source.text().find(needle).unwrap();
        let finding = Diagnostic::of(const { &Rule::error("a-b", "") }, "m")
            .at(source.place_at(start..start + needle.len()));
        let column = start + 1;
        let marked = format!("{}{}", " ".repeat(before), "^".repeat(length));
        let expected = format!(
            "\nerror[a-b]: m\n  --> a.yaml:1:{column}\n   |\n 1 | {masked}\n   | {marked}\n"
        );
        check(finding, &[&source], 100, &expected);
    }
}

mod any_place {
    use proptest::prelude::*;

    use super::*;

    fn position() -> impl Strategy<Value = Position> {
        (0usize..60, 0u32..8, 0u32..40).prop_map(|(offset, line, column)| Position {
            offset,
            line,
            column,
        })
    }

    fn span() -> impl Strategy<Value = Span> {
        (position(), position()).prop_map(|(start, end)| Span { start, end })
    }

    proptest! {
        /// Places may be wrong and texts hostile: the words still come out, one finding after the other, and nothing else.
        #[test]
        fn is_shown_without_control_characters(
            text in "(\\PC|[\\t\\r\\n\\x1b\u{202e}漢]){0,60}",
            spans in proptest::collection::vec(span(), 1..4),
            after_line in 0u32..8,
            label in "(\\PC|\\x1b|\\n){0,8}",
            width in 0usize..60,
        ) {
            let source = Source::new("any.yaml", text);
            let mut finding = Diagnostic::of(const { &Rule::error("a-b", "") }, "m").at(source.place().at_span(spans[0])).label(label.clone());
            for span in &spans[1..] {
                finding = finding.related(source.place().at_span(*span), label.clone());
            }
            let report: Report = [finding.clone(), finding.insertion(after_line, vec![label]).help("h")].into_iter().collect();
            let sources: Sources = [source].into_iter().collect();
            let plain = render(&report, &sources, Style { colour: false, width });
            prop_assert!(plain.chars().all(|c| c == '\n' || !c.is_control()), "{plain:?}");
            prop_assert_eq!(plain.matches("error[a-b]: m\n").count(), 2);
            prop_assert!(plain.ends_with("= help: h\n"), "{:?}", plain);
            prop_assert_eq!(without_colours(&render(&report, &sources, Style { colour: true, width })), plain);
        }
    }
}
