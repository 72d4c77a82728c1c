//! How a value is written on one line.

use serde_json::Value as Json;

use windlass_go_yaml::goyaml;

/// A value as the one that it replaces is written: in the same quotes, or without.
pub(super) fn like(old: &str, value: &Json) -> String {
    match value {
        Json::String(text) if old.starts_with('\'') && !text.contains(|c: char| c.is_control()) => {
            format!("'{}'", text.replace('\'', "''"))
        }
        Json::String(_) if old.starts_with('"') => value.to_string(),
        value => inline(value, false),
    }
}

/// A text without quotes where it can stand so everywhere, else in double quotes.
pub(super) fn word(text: &str) -> String {
    let needs_quotes = text.contains([',', '[', ']', '{', '}']) || !goyaml::is_plain(text);
    if needs_quotes {
        Json::from(text).to_string()
    } else {
        text.to_owned()
    }
}

/// The lines of a text below a `|`, at a column, without the end of the last one.
pub(super) fn literal(text: &str, column: usize) -> String {
    let pad = " ".repeat(column);
    let lines = text.trim_end_matches('\n').split('\n').map(|line| {
        if line.is_empty() {
            String::new()
        } else {
            format!("{pad}{line}")
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a text is best written in lines below a `|`.
pub(super) fn is_literal(text: &str) -> bool {
    text.trim_end().contains('\n') && text.ends_with('\n') && can_be_literal(text)
}

/// Whether a text can stand in lines: below a `|`, or a `|-` if its last line does not end.
pub(super) fn can_be_literal(text: &str) -> bool {
    let is_clean = |c: char| c == '\n' || !c.is_control() && c != '\u{feff}';
    !text.is_empty()
        && !text.ends_with("\n\n")
        && !text.starts_with([' ', '\n'])
        && text.chars().all(is_clean)
}

/// A key beside another one: in double quotes if that is.
pub(super) fn key(text: &str, is_quoted: bool) -> String {
    if is_quoted {
        Json::from(text).to_string()
    } else {
        word(text)
    }
}

/// A value on one line, with double quotes if those beside it have some.
pub(super) fn inline(value: &Json, is_quoted: bool) -> String {
    match value {
        Json::String(text) if !is_quoted => word(text),
        Json::Array(items) => format!(
            "[{}]",
            items
                .iter()
                .map(|item| inline(item, is_quoted))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        Json::Object(fields) => {
            let field = |(name, value): (&String, &Json)| {
                format!("{}: {}", key(name, is_quoted), inline(value, is_quoted))
            };
            format!(
                "{{{}}}",
                fields.iter().map(field).collect::<Vec<_>>().join(", ")
            )
        }
        _ => value.to_string(),
    }
}
