//! A change of a field as lines of text, as both reports show it.

use serde_json::Value;

use super::{Change, FieldChange};
use windlass_go_text::json;
use windlass_go_yaml::goyaml;
use windlass_report::text::{plural, visible};

const MOST_LINES: usize = 20;
/// Characters of a line that are shown.
const LONGEST: usize = 160;
/// Characters before the first that differs.
const BEFORE: usize = 40;

/// On which side a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Old,
    New,
    /// Not part of a value.
    Note,
}

/// What the change removes and adds. Equal lines around it are left out, and long ones shortened
/// around the first character that differs.
pub(super) fn of(field: &FieldChange) -> Vec<(Sign, String)> {
    if field.change == Change::Reordered {
        let order = |value: &Option<Value>| value.as_ref().map(json).unwrap_or_default();
        return vec![
            (Sign::Note, "in another order".to_owned()),
            (Sign::Old, cut(&order(&field.old), 0)),
            (Sign::New, cut(&order(&field.new), 0)),
        ];
    }
    let (old, new) = (
        field.old.as_ref().map(written),
        field.new.as_ref().map(written),
    );
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    if old == new {
        // Only a secret is the same on both sides of a change.
        return vec![(Sign::Note, format!("{} (both are secret)", old.join(" ")))];
    }
    let start = old
        .iter()
        .zip(&new)
        .take_while(|(old, new)| old == new)
        .count();
    let rest = |lines: &[String], end: usize| lines[start..lines.len() - end].to_vec();
    let end = old[start..]
        .iter()
        .rev()
        .zip(new[start..].iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    let (old, new) = (rest(&old, end), rest(&new, end));
    let shared = match (old.as_slice(), new.as_slice()) {
        ([old], [new]) => old
            .chars()
            .zip(new.chars())
            .take_while(|(old, new)| old == new)
            .count(),
        _ => 0,
    };
    let mut lines = Vec::new();
    for (sign, side) in [(Sign::Old, old), (Sign::New, new)] {
        lines.extend(
            side.iter()
                .take(MOST_LINES)
                .map(|line| (sign, cut(line, shared))),
        );
        if side.len() > MOST_LINES {
            lines.push((
                Sign::Note,
                format!("… {} more", plural(side.len() - MOST_LINES, "line")),
            ));
        }
    }
    lines
}

/// The lines of a value: those of a text as they are, anything else as YAML.
fn written(value: &Value) -> Vec<String> {
    let text = match value {
        Value::String(text) if text.contains('\n') => text.clone(),
        value => goyaml::to_string(value).unwrap_or_else(|_| json(value)),
    };
    text.lines()
        .map(|line| visible(line).into_owned())
        .collect()
}

/// The line, from a little before the character at `from` on, if it is long.
fn cut(line: &str, from: usize) -> String {
    let count = line.chars().count();
    if count <= LONGEST {
        return line.to_owned();
    }
    let start = from.saturating_sub(BEFORE).min(count - LONGEST);
    let middle: String = line.chars().skip(start).take(LONGEST).collect();
    let (before, after) = (
        if start > 0 { "…" } else { "" },
        if start + LONGEST < count { "…" } else { "" },
    );
    format!("{before}{middle}{after}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(old: Value, new: Value, expected: &[&str]) {
        let side = |value: Value| (!value.is_null()).then_some(value);
        let field = FieldChange {
            path: "a".to_owned(),
            change: Change::Changed,
            old: side(old),
            new: side(new),
        };
        let sign = |sign| match sign {
            Sign::Old => '-',
            Sign::New => '+',
            Sign::Note => ' ',
        };
        let lines: Vec<String> = of(&field)
            .into_iter()
            .map(|(side, line)| format!("{}{line}", sign(side)))
            .collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn values_are_yaml_and_types_are_seen() {
        check(json!(true), json!("true"), &["-true", "+\"true\""]);
        check(
            Value::Null,
            json!({"a": [1, "x"]}),
            &["+a:", "+- 1", "+- x"],
        );
        check(json!("a\u{1b}[2Jb"), json!("c"), &["-\"a\\e[2Jb\"", "+c"]);
    }

    #[test]
    fn only_lines_that_differ_are_shown() {
        check(
            json!("a\nb\nc\nd\n"),
            json!("a\nx\ny\nd\n"),
            &["-b", "-c", "+x", "+y"],
        );
        check(json!("a\na\n"), json!("a\na\na\n"), &["+a"]);
        let many = |n: usize| json!("x\n".repeat(n) + "y\n");
        let expected: Vec<&str> = std::iter::repeat_n("+x", 20)
            .chain([" … 5 lines more"])
            .collect();
        check(many(1), many(26), &expected);
        let expected: Vec<&str> = std::iter::repeat_n("+x", 20)
            .chain([" … 1 line more"])
            .collect();
        check(many(1), many(22), &expected);
    }

    #[test]
    fn long_lines_are_shown_where_they_differ() {
        let line = |end: &str| json!("x".repeat(300) + end + &"y".repeat(300));
        let shown = |end: &str| format!("…{}{end}{}…", "x".repeat(40), "y".repeat(119));
        check(
            line("a"),
            line("b"),
            &[&format!("-{}", shown("a")), &format!("+{}", shown("b"))],
        );
    }
}
