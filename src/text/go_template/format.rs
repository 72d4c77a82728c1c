//! Printing as Go's packages `fmt`, `html/template` and `net/url` do.

use std::fmt::Write as _;

use super::value::Value;
use crate::text::go_value;

/// `fmt.Sprint`: a blank between two operands when neither is a string.
pub(super) fn print(arguments: &[Value]) -> String {
    let mut out = String::new();
    for (index, argument) in arguments.iter().enumerate() {
        let is_text = |value: &Value| matches!(value, Value::Text(_));
        if index > 0 && !is_text(argument) && !is_text(&arguments[index - 1]) {
            out.push(' ');
        }
        out.push_str(&argument.shown());
    }
    out
}

/// `fmt.Sprintln`.
pub(super) fn println(arguments: &[Value]) -> String {
    arguments.iter().map(Value::shown).collect::<Vec<_>>().join(" ") + "\n"
}

/// A verb with its flags.
#[derive(Default)]
struct Verb {
    left: bool,
    zeros: bool,
    sign: bool,
    width: usize,
    precision: Option<usize>,
}

/// `fmt.Sprintf`, for the verbs `v s q d x X c t f g %`.
///
/// # Errors
///
/// What of the pattern is not known.
pub(super) fn printf(pattern: &str, arguments: &[Value]) -> Result<String, String> {
    const WIDEST: usize = 1000;
    let mut out = String::new();
    let mut arguments = arguments.iter();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut verb = Verb::default();
        while let Some(flag) = chars.next_if(|c| matches!(c, '-' | '0' | '+')) {
            verb.left |= flag == '-';
            verb.zeros |= flag == '0';
            verb.sign |= flag == '+';
        }
        let number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut value = 0usize;
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                value = (value * 10 + digit as usize - '0' as usize).min(WIDEST + 1);
            }
            value
        };
        verb.width = number(&mut chars);
        if chars.next_if_eq(&'.').is_some() {
            verb.precision = Some(number(&mut chars));
        }
        let letter = chars.next().ok_or("a `printf` that ends in `%`")?;
        if verb.width > WIDEST || verb.precision.is_some_and(|precision| precision > WIDEST) {
            return Err("a width of `printf` above 1000".to_owned());
        }
        if letter == '%' {
            out.push('%');
            continue;
        }
        let argument = arguments.next().ok_or("a `printf` with too few arguments")?;
        let text = verb.text(letter, argument).ok_or_else(|| format!("`%{letter}` for a {}", argument.kind()))?;
        verb.pad(&mut out, &text, matches!(argument, Value::Int(_) | Value::Float(_)));
    }
    match arguments.next() {
        Some(_) => Err("a `printf` with too many arguments".to_owned()),
        None => Ok(out),
    }
}

impl Verb {
    /// The text of an argument, without padding.
    fn text(&self, letter: char, argument: &Value) -> Option<String> {
        let cut = |text: &str| self.precision.map_or_else(|| text.to_owned(), |precision| text.chars().take(precision).collect());
        let signed = |text: String| if self.sign && !text.starts_with('-') { format!("+{text}") } else { text };
        Some(match (letter, argument) {
            ('v', Value::Int(int)) => signed(int.to_string()),
            ('v', other) if self.precision.is_none() => other.shown(),
            ('s', Value::Text(text)) => cut(text),
            ('q', Value::Text(text)) => go_value::quote(&cut(text)),
            ('d', Value::Int(int)) => signed(int.to_string()),
            ('x', Value::Int(int)) => signed(hex(*int)),
            ('X', Value::Int(int)) => signed(hex(*int).to_uppercase()),
            ('x', Value::Text(text)) => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
            ('c', Value::Int(int)) => u32::try_from(*int).ok().and_then(char::from_u32)?.to_string(),
            ('t', Value::Bool(bool)) => bool.to_string(),
            ('f', Value::Float(float)) if float.is_finite() => signed(format!("{float:.*}", self.precision.unwrap_or(6))),
            ('g', Value::Float(float)) if self.precision.is_none() => signed(go_value::float(*float)),
            _ => return None,
        })
    }

    fn pad(&self, out: &mut String, text: &str, numeric: bool) {
        let missing = self.width.saturating_sub(text.chars().count());
        match (self.left, self.zeros && numeric) {
            (true, _) => {
                out.push_str(text);
                out.extend(std::iter::repeat_n(' ', missing));
            }
            (false, true) => {
                let (sign, digits) = text.split_at(usize::from(text.starts_with(['-', '+'])));
                out.push_str(sign);
                out.extend(std::iter::repeat_n('0', missing));
                out.push_str(digits);
            }
            (false, false) => {
                out.extend(std::iter::repeat_n(' ', missing));
                out.push_str(text);
            }
        }
    }
}

fn hex(int: i64) -> String {
    let digits = format!("{:x}", int.unsigned_abs());
    if int < 0 { format!("-{digits}") } else { digits }
}

/// `template.HTMLEscapeString`.
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => out.push('\u{fffd}'),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}

/// `template.JSEscapeString`.
pub(super) fn js(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let printable = go_value::quote(c.encode_utf8(&mut [0; 4])).chars().nth(1) == Some(c);
        match c {
            '\\' | '\'' | '"' => out.extend(['\\', c]),
            '<' | '>' | '&' | '=' | '\0'..='\x1f' => {
                write!(out, "\\u{:04X}", u32::from(c)).expect("internal error: writing to a String cannot fail")
            }
            c if c.is_ascii() || printable => out.push(c),
            c => write!(out, "\\u{:04X}", u32::from(c)).expect("internal error: writing to a String cannot fail"),
        }
    }
    out
}

/// `url.QueryEscape`.
pub(super) fn url_query(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            byte => write!(out, "%{byte:02X}").expect("internal error: writing to a String cannot fail"),
        }
    }
    out
}
