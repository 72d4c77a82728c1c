//! Go's package `regexp` on Rust's engine.
//!
//! Both engines come from RE2 and are linear; they differ in details that users write: in Go `\d`,
//! `\w`, `\s` and `\b` are ASCII, a `[` inside a class is a plain character, and there are no set
//! operations. Source: the documentation of Go's `regexp/syntax`.

use regex::Regex;

/// Compiles a pattern written in Go's syntax.
///
/// # Errors
/// Why it is none, in the words of Rust's engine.
pub(crate) fn compile(source: &str) -> Result<Regex, String> {
    Regex::new(&translate(source)).map_err(|error| reason(&error))
}

/// The last line of a regex error: the rest draws a caret.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    text.lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned()
}

/// Rewrites what the two syntaxes read differently; everything else stays as it is, faults
/// included.
fn translate(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 16);
    let mut chars = source.chars().peekable();
    // Inside a class: how many characters of it were read. `]` as the first one is a plain
    // character.
    let mut class: Option<usize> = None;
    while let Some(c) = chars.next() {
        match (c, class) {
            ('\\', _) => {
                push_escape(&mut out, chars.next(), class.is_some(), &mut chars);
                class = class.map(|read| read + 1);
            }
            ('[', None) => {
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                class = Some(0);
            }
            (']', Some(read)) if read > 0 => {
                out.push(']');
                class = None;
            }
            ('[', Some(read)) => {
                out.push_str(if chars.peek() == Some(&':') {
                    "["
                } else {
                    "\\["
                });
                if chars.peek() == Some(&':') {
                    push_named_class(&mut out, &mut chars);
                }
                class = Some(read + 1);
            }
            (_, Some(read)) => {
                if matches!(c, '&' | '~' | ']' | '^') || c == '-' && chars.peek() == Some(&'-') {
                    out.push('\\');
                }
                out.push(c);
                class = Some(read + 1);
            }
            (_, None) => out.push(c),
        }
    }
    out
}

/// The rest of `[:alpha:]`, its opening bracket being written.
fn push_named_class(out: &mut String, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    for c in chars.by_ref() {
        out.push(c);
        if c == ']' {
            return;
        }
    }
}

/// An escape sequence, of which the backslash was read.
fn push_escape(
    out: &mut String,
    escaped: Option<char>,
    in_class: bool,
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
) {
    const SPACE: &str = r"\t\n\f\r ";
    let Some(c) = escaped else {
        out.push('\\');
        return;
    };
    match (c, in_class) {
        ('d', false) => out.push_str("[0-9]"),
        ('d', true) => out.push_str("0-9"),
        ('D', _) => out.push_str("[^0-9]"),
        ('w', false) => out.push_str("[0-9A-Za-z_]"),
        ('w', true) => out.push_str("0-9A-Za-z_"),
        ('W', _) => out.push_str("[^0-9A-Za-z_]"),
        ('s', false) => out.push_str(&format!("[{SPACE}]")),
        ('s', true) => out.push_str(SPACE),
        ('S', _) => out.push_str(&format!("[^{SPACE}]")),
        ('b', false) => out.push_str(r"(?-u:\b)"),
        ('B', false) => out.push_str(r"(?-u:\B)"),
        // `\Q…\E`: everything between is plain text.
        ('Q', false) => {
            let mut plain = String::new();
            while let Some(c) = chars.next() {
                if c == '\\' && chars.next_if_eq(&'E').is_some() {
                    break;
                }
                plain.push(c);
            }
            out.push_str(&regex::escape(&plain));
        }
        _ => {
            out.push('\\');
            out.push(c);
        }
    }
}
