//! Lines that are longer than a screen: which stretch of them is shown, and where the marks stand.

use super::*;

/// A finding at `SECOND`, with `FIRST` beside it.
fn of_two(source: &Source) -> Diagnostic {
    let finding = Diagnostic::of(const { &Rule::error("a-b", "") }, "m")
        .at(place(source, "SECOND"))
        .label("two");
    finding.related(place(source, "FIRST"), "one")
}

#[test]
fn long_lines_are_trimmed_around_the_caret() {
    let source = Source::new(
        "long.yaml",
        format!("a: {} NEEDLE {}\n", "x".repeat(200), "y".repeat(200)),
    );
    check(
        Diagnostic::of(const { &Rule::error("a-b", "") }, "m")
            .at(place(&source, "NEEDLE"))
            .label("here"),
        &[&source],
        45,
        "
error[a-b]: m
  --> long.yaml:1:205
   |
 1 | …xxxxxxxxxxxx NEEDLE yyyyyyyyyyyyyyyyyy…
   |               ^^^^^^ here
",
    );
    check(
        Diagnostic::of(const { &Rule::error("a-b", "") }, "m").at(place(&source, "a:")),
        &[&source],
        45,
        "
error[a-b]: m
  --> long.yaml:1:1
   |
 1 | a: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
   | ^^
",
    );
}

#[test]
fn marks_of_one_long_line_that_are_far_apart_show_it_twice() {
    let source = Source::new("long.yaml", format!("FIRST {} SECOND\n", "x".repeat(200)));
    check_marks_far_apart(&source, "long.yaml:1:208", "…xxxxx SECOND");
}

/// What is far away in a line of many thousand characters is not looked at; what is near is shown
/// as in any other line.
#[test]
fn very_long_lines_are_shown_around_their_marks() {
    let filler = "é".repeat(20_000);
    let source = Source::new(
        "long.yaml",
        format!("{{FIRST {filler}, token: hunter2, SECOND{filler}\n"),
    );
    check(
        of_two(&source),
        &[&source],
        25,
        "
error[a-b]: m
  --> long.yaml:1:20026
   |
 1 | {FIRST éééééééééééé…
   |  ----- one
 1 | …ted>, SECONDéééééé…
   |        ^^^^^^ two
",
    );
}

/// Of a line whose marks do not fit into 25 columns together, the second stretch is `again`.
#[track_caller]
fn check_marks_far_apart(source: &Source, at: &str, again: &str) {
    let expected = format!(
        "
error[a-b]: m
  --> {at}
   |
 1 | FIRST xxxxxxxxxxxxx…
   | ----- one
 1 | {again}
   |        ^^^^^^ two
"
    );
    check(of_two(source), &[source], 25, &expected);
}

#[test]
fn a_mark_that_begins_where_a_line_is_cut_off_shows_it_again() {
    let source = Source::new(
        "long.yaml",
        format!("FIRST {}SECOND{}\n", "x".repeat(13), "y".repeat(100)),
    );
    check_marks_far_apart(&source, "long.yaml:1:20", "…xxxxxxSECONDyyyyyy…");
}

#[test]
fn tabs_and_wide_characters_keep_the_carets_in_place() {
    let source = Source::new("wide.yaml", "\tname: 漢字 é x\n");
    check(
        Diagnostic::of(const { &Rule::error("a-b", "") }, "m").at(place(&source, "字 é")),
        &[&source],
        100,
        "
error[a-b]: m
  --> wide.yaml:1:9
   |
 1 |     name: 漢字 é x
   |             ^^^^
",
    );
}

#[test]
fn a_line_of_half_a_megabyte_is_not_shown() {
    let source = Source::new("huge.json", format!("{}NEEDLE", "x".repeat(500_000)));
    check(
        Diagnostic::of(const { &Rule::error("a-b", "") }, "m").at(place(&source, "NEEDLE")),
        &[&source],
        100,
        "\nerror[a-b]: m\n  --> huge.json:1:500001\n",
    );
}

/// Two marks that both stand in what fits of a line, be the line as long as it is looked at in one
/// piece.
#[test]
fn a_line_that_is_cut_off_is_shown_once_for_marks_near_each_other() {
    for length in [21, 100, 5000, 8192] {
        let source = Source::new(
            "long.yaml",
            format!("FIRST SECOND {}\n", "x".repeat(length - 13)),
        );
        check(
            of_two(&source),
            &[&source],
            25,
            "
error[a-b]: m
  --> long.yaml:1:7
   |
 1 | FIRST SECOND xxxxxx…
   | ----- one
   |       ^^^^^^ two
",
        );
    }
}

#[test]
fn a_line_is_cut_off_where_it_is_one_column_too_long() {
    for (length, shown) in [
        (39, "x".repeat(36)),
        (40, "x".repeat(37)),
        (41, "x".repeat(36) + "…"),
        (42, "x".repeat(36) + "…"),
    ] {
        let source = Source::new("long.yaml", format!("a: {}\n", "x".repeat(length - 3)));
        let finding =
            Diagnostic::of(const { &Rule::error("a-b", "") }, "m").at(place(&source, "a:"));
        check(
            finding,
            &[&source],
            45,
            &format!("\nerror[a-b]: m\n  --> long.yaml:1:1\n   |\n 1 | a: {shown}\n   | ^^\n"),
        );
    }
}

/// What is looked at of a line of many thousand characters, on a screen that is wider still.
#[test]
fn of_very_long_lines_a_stretch_around_each_mark_is_looked_at() {
    let look = |text: String, before: usize, shown: &str| {
        let source = Source::new("long.yaml", text);
        let column = source.text().find("NEEDLE").unwrap() + 1;
        let finding =
            Diagnostic::of(const { &Rule::error("a-b", "") }, "m").at(place(&source, "NEEDLE"));
        let marked = format!("{}^^^^^^", " ".repeat(before));
        let expected = format!(
            "\nerror[a-b]: m\n  --> long.yaml:1:{column}\n   |\n 1 | {shown}\n   | {marked}\n"
        );
        check(finding, &[&source], 20_000, &expected);
    };
    let x = |count: usize| "x".repeat(count);
    look(
        format!("NEEDLE{}\n", x(9000)),
        0,
        &format!("NEEDLE{}", x(4090)),
    );
    look(
        format!("{}NEEDLE{}\n", x(5000), x(5000)),
        4096,
        &format!("{}NEEDLE{}", x(4096), x(4090)),
    );
    // The stretch is from 904 to 9096. The secrets end and begin just outside of it.
    let outside = format!(
        "{{password: {}, k: {}NEEDLE{}, token: {}}}\n",
        "s".repeat(893),
        x(4091),
        x(4081),
        "t".repeat(50)
    );
    look(
        outside,
        4096,
        &format!(", k: {}NEEDLE{}, token:", x(4091), x(4081)),
    );
    // They reach into it.
    let inside = format!(
        "{{password: {}, k: {}NEEDLE{}, token: {}}}\n",
        "s".repeat(1000),
        x(3984),
        x(4075),
        "t".repeat(50)
    );
    look(
        inside,
        3999,
        &format!(
            "<redacted>, k: {}NEEDLE{}, token: <redacted>",
            x(3984),
            x(4075)
        ),
    );
}

/// A line that no mark is in, because what is to be added says where it goes: the beginning is
/// looked at.
#[test]
fn of_a_very_long_line_without_a_mark_the_beginning_is_shown() {
    let source = Source::new("long.yaml", format!("NEEDLE{}\n", "x".repeat(9000)));
    let finding = Diagnostic::of(const { &Rule::error("a-b", "") }, "m")
        .at(place(&source, "NEEDLE"))
        .insertion(1, vec!["y: 1".to_owned()]);
    let expected = format!(
        "\nerror[a-b]: m\n  --> long.yaml:1:1\n   |\n 1 | NEEDLE{}\n   + y: 1\n",
        "x".repeat(4090)
    );
    check(finding, &[&source], 20_000, &expected);
}
