//! Waivers in comments and settings, and the findings that they suppress.

use super::*;
use windlass_source::diag::Rule;

const A: &Rule = &Rule::error("a-b", "");
const C: &Rule = &Rule::warning("c-d", "");

/// The findings of `report` and of waivers.
fn report_of(source: &Source, report: Report, project: &[ProjectWaiver]) -> Report {
    let waivers = Waivers {
        project,
        path_of: &|file| file.trim_start_matches("base/").to_owned(),
        known: &["a-b", "c-d"].into(),
        is_judged: &|_, _| true,
        is_settled: &|_| true,
        budget: &Budget::default(),
    };
    apply(report, &std::iter::once(source.clone()).collect(), &waivers)
}

/// The same: rule, line, and the reason for which each does not count.
fn applied(
    source: &Source,
    report: Report,
    project: &[ProjectWaiver],
) -> Vec<(&'static str, u32, Option<String>)> {
    let report = report_of(source, report, project);
    let line = |finding: &Diagnostic| finding.place.span.map_or(0, |span| span.start.line);
    let shown = |finding: Diagnostic| {
        (
            finding.rule.id,
            line(&finding),
            finding.waived.map(|waiver| waiver.reason),
        )
    };
    report.into_findings().into_iter().map(shown).collect()
}

/// The same for a text in which `rule` is found at each `@`.
fn check(text: &str, rule: &'static Rule, expected: &[(&'static str, u32, Option<&str>)]) {
    let source = Source::new("base/x.yaml", text);
    let report = text
        .match_indices('@')
        .map(|(at, _)| Diagnostic::of(rule, "").at(source.place_at(at..at + 1)))
        .collect();
    let found = applied(&source, report, &[]);
    let found: Vec<_> = found
        .iter()
        .map(|(rule, line, reason)| (*rule, *line, reason.as_deref()))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn a_comment_that_was_meant_as_a_waiver_is_told() {
    for meant in [
        "windlass:ignore[a-b] because x",
        "windlass : ignore[a-b] because x",
        "windlass ignore[a-b] because x",
        "windlass-ignore (a-b)",
        "Windlass: Ignore[a-b] because x",
        "windlass:ignore a-b",
        "windlass: ignored, because x",
        "windlass: ignore",
    ] {
        check(
            &format!("a: '@' # {meant}\n"),
            A,
            &[("a-b", 1, None), ("waiver-malformed", 1, None)],
        );
    }
    for other in [
        "windlass ignores this",
        "windlass: see below",
        "a windlass ignore[a-b]",
        "windlass ignore",
        "windlasses:ignore[a-b]",
    ] {
        check(&format!("a: '@' # {other}\n"), A, &[("a-b", 1, None)]);
    }
    check(
        "indlass: ignore[a-b] because x\nb: '@'\n",
        A,
        &[("a-b", 2, None)],
    );
}

#[test]
fn a_comment_waives_its_line_or_the_next() {
    check(
        "a: '@' # windlass: ignore[a-b] because it is so\nb: '@'\n",
        A,
        &[("a-b", 1, Some("it is so")), ("a-b", 2, None)],
    );
    check(
        "# windlass: ignore[ c-d , a-b ] because x\n\n  # more\na: '@'\n",
        C,
        &[("c-d", 4, Some("x")), ("waiver-unused", 1, None)],
    );
    let stacked =
        "#windlass: ignore[a-b] because x\r\n# windlass: ignore[c-d] because y\r\na: '@'\r\n";
    check(
        stacked,
        A,
        &[("a-b", 3, Some("x")), ("waiver-unused", 2, None)],
    );
    check(
        "# note # windlass: ignore[a-b] because x\na: '@'",
        A,
        &[("a-b", 2, Some("x"))],
    );
    check(
        "\u{feff}# windlass: ignore[a-b] because x\na: '@'",
        A,
        &[("a-b", 2, Some("x"))],
    );
    check(
        "a: | # windlass: ignore[a-b] because x\n  @\n",
        A,
        &[("a-b", 2, None), ("waiver-unused", 1, None)],
    );
    check(
        "a: '@'\n# windlass: ignore[a-b] because x",
        A,
        &[("a-b", 1, None), ("waiver-unused", 2, None)],
    );
}

#[test]
fn what_is_no_comment_waives_nothing() {
    for text in [
        "a: '@ # windlass: ignore[a-b] because x'\n",
        "a: |\n  # windlass: ignore[a-b] because x\n  @\n",
        "a: '@'# windlass: ignore[a-b] because x\n",
        "a: '@' # windlass: see ignore[a-b] because x\n",
    ] {
        let line = 1 + cut(text, ..text.find('@').unwrap()).matches('\n').count() as u32;
        check(text, A, &[("a-b", line, None)]);
    }
    let json = Source::new("x.json", "# windlass: ignore[a-b] because x\n");
    assert_eq!(applied(&json, Report::new(), &[]), []);
    // Behind a fault nobody knows what is a value.
    check(
        "a: [\nb: '@' # windlass: ignore[a-b] because x\n",
        A,
        &[("a-b", 2, Some("x"))],
    );
}

#[test]
fn what_is_wrong_with_waivers_is_told() {
    check(
        "a: '@' # windlass: ignore[a-b]\n",
        A,
        &[("a-b", 1, None), ("waiver-reason-missing", 1, None)],
    );
    check(
        "a: '@' # windlass: ignore[a-b] because \n",
        A,
        &[("a-b", 1, None), ("waiver-reason-missing", 1, None)],
    );
    check(
        "a: '@' # windlass: ignore a-b because x\n",
        A,
        &[("a-b", 1, None), ("waiver-malformed", 1, None)],
    );
    check(
        "a: '@' # windlass: ignore[a-b because x\n",
        A,
        &[("a-b", 1, None), ("waiver-malformed", 1, None)],
    );
    check(
        "a: '@' # windlass: ignore[a-c, a-b] because x\n",
        A,
        &[("a-b", 1, Some("x")), ("waiver-rule-unknown", 1, None)],
    );
    let twice = "# windlass: ignore[a-b] because x\na: '@' # windlass: ignore[a-b] because y\n";
    check(
        twice,
        A,
        &[("a-b", 2, Some("y")), ("waiver-unused", 1, None)],
    );
    let help = unknown_rule("a-c", Place::default(), &["a-b"].into(), &Budget::default()).help;
    assert_eq!(
        help.map(|help| help.to_string()).as_deref(),
        Some("write `a-b`")
    );
}

/// The whole comment is marked, without blanks at its end, and what to write is said.
#[test]
fn what_is_wrong_with_a_comment_is_told_at_the_comment() {
    let because = |rules: &str| format!("write `# windlass: ignore[{rules}] because REASON`");
    for (comment, message, help) in [
        (
            "# windlass:ignore x",
            "the comment is not a waiver: it begins otherwise",
            because("RULE"),
        ),
        (
            "# windlass:ignore",
            "the comment is not a waiver: it begins otherwise",
            because("RULE"),
        ),
        (
            "# windlass: ignore",
            "the comment names no rule, and waives nothing",
            because("RULE"),
        ),
        (
            "# windlass: ignore[a-b, c-d]",
            "the waiver has no reason, and does not count",
            because("a-b, c-d"),
        ),
        (
            "# windlass: ignore[a-c] because x",
            "there is no rule `a-c`",
            "write `a-b`".to_owned(),
        ),
        (
            "# windlass: ignore[] because x",
            "there is no rule ``",
            "`windlass rules` lists all rules".to_owned(),
        ),
        (
            "# windlass: ignore[a-b] because x",
            "the waiver of a-b suppresses nothing",
            "remove the comment, or the rule from it".to_owned(),
        ),
    ] {
        for behind in ["", "  \nb: 1\n"] {
            let source = Source::new("x.yaml", format!("b: ü {comment}{behind}"));
            let report = report_of(&source, Report::new(), &[]);
            let [finding] = report.findings() else {
                panic!("{comment}: {report:?}")
            };
            let span = finding.place.span.unwrap();
            let told = (
                finding.message.as_str(),
                finding.help.as_ref().unwrap().to_string(),
                span.start.column,
                span.end.column,
            );
            assert_eq!(
                told,
                (
                    message,
                    help.clone(),
                    6,
                    6 + u32::try_from(comment.len()).unwrap()
                ),
                "{comment}"
            );
        }
    }
}

#[test]
fn of_many_unknown_rules_eight_are_told_and_the_others_counted() {
    for (count, more) in [
        (1, None),
        (8, None),
        (9, Some("the comment names 1 more rule that does not exist")),
        (10, Some("the comment names 2 more rules that do not exist")),
    ] {
        let rules: Vec<String> = (0..count).map(|n| format!("no-rule-{n}")).collect();
        let source = Source::new(
            "x.yaml",
            format!("a: 1 # windlass: ignore[{}] because x\n", rules.join(",")),
        );
        let report = report_of(&source, Report::new(), &[]);
        let told: Vec<&str> = report
            .findings()
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        let expected: Vec<String> = rules
            .iter()
            .take(8)
            .map(|rule| format!("there is no rule `{rule}`"))
            .collect();
        assert_eq!(
            told,
            expected
                .iter()
                .map(String::as_str)
                .chain(more)
                .collect::<Vec<_>>()
        );
    }
}

/// Other comments and empty lines between stacked waivers and their line are passed over, for
/// each of them.
#[test]
fn stacked_waivers_speak_of_the_first_line_that_holds_more() {
    let waiver = |rule: &str| format!("# windlass: ignore[{rule}] because x\n");
    let (a, c) = (waiver("a-b"), waiver("c-d"));
    check(
        &format!("{a}{c}\n# more\n\nb: '@'\n"),
        A,
        &[("a-b", 6, Some("x")), ("waiver-unused", 2, None)],
    );
    check(
        &format!("{a}# more\n{c}b: '@'\n"),
        A,
        &[("a-b", 4, Some("x")), ("waiver-unused", 3, None)],
    );
    check(
        &format!("{c}b: 1\n{a}b: '@'\n"),
        A,
        &[("a-b", 4, Some("x")), ("waiver-unused", 1, None)],
    );
    check(
        &format!("{a}b: 1 {c}b: '@'\n"),
        A,
        &[
            ("a-b", 3, None),
            ("waiver-unused", 1, None),
            ("waiver-unused", 2, None),
        ],
    );
}

#[test]
fn the_project_waives_files_and_folders() {
    let waiver = |rule: &str, patterns: &[&str], reason: &str| ProjectWaiver {
        rule: rule.to_owned(),
        patterns: patterns
            .iter()
            .map(|pattern| (*pattern).to_owned())
            .collect(),
        reason: reason.to_owned(),
        place: Place::default(),
    };
    let check = |project: &[ProjectWaiver], expected: &[(&'static str, Option<&str>)]| {
        let source = Source::new("base/d/x.yaml", "a\n");
        let placed = Diagnostic::of(A, "").at(source.place_at(0..1));
        let whole = Diagnostic::of(A, "").at(source.place());
        let found = applied(&source, [placed, whole].into_iter().collect(), project);
        let found: Vec<_> = found
            .iter()
            .map(|(rule, _, reason)| (*rule, reason.as_deref()))
            .collect();
        assert_eq!(found, expected, "{project:?}");
    };
    let both = |reason: &'static str| [("a-b", Some(reason)), ("a-b", Some(reason))];
    check(&[waiver("a-b", &["d/x.yaml"], "x")], &both("x"));
    check(&[waiver("a-b", &["e", "d"], "x")], &both("x"));
    check(&[waiver("a-b", &["*/x.*"], "x")], &both("x"));
    let none = [("a-b", None), ("a-b", None), ("waiver-unused", None)];
    check(
        &[waiver("a-b", &["x.yaml", "d/*/x", "d/y.yaml"], "x")],
        &none,
    );
    check(&[waiver("c-d", &["d/x.yaml"], "x")], &none);
    check(
        &[
            waiver("a-b", &["d/x.yaml"], "x"),
            waiver("a-b", &["d"], "y"),
        ],
        &[both("x")[0], both("x")[1], none[2]],
    );
}

#[test]
fn stacks_of_comments_cost_what_they_are() {
    let text = format!(
        "{}a: '@'\n",
        "# windlass: ignore[a-b] because x\n".repeat(20_000)
    );
    let source = Source::new("x.yaml", text.as_str());
    let lines = targets(
        &source,
        text.match_indices('#')
            .map(|(at, _)| at)
            .collect::<Vec<_>>()
            .into_iter(),
    );
    assert!(lines.len() == 20_000 && lines.iter().all(|line| *line == 20_001));
}
