//! Texts in quotes, as Go's package `strconv` writes and reads them: `%q`, `strconv.Quote`,
//! `strconv.Unquote`.

use std::sync::LazyLock;

use regex::Regex;

use super::rune::runes;

/// What Go calls printable beyond ASCII: letters, marks, numbers, punctuation, symbols.
static PRINTABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[\p{L}\p{M}\p{N}\p{P}\p{S}]$")
        .expect("internal error: the class of printable characters is valid")
});

/// `strconv.IsPrint`
pub fn is_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        '\0'..='\x7f' => false,
        c => PRINTABLE.is_match(c.encode_utf8(&mut [0; 4])),
    }
}

/// A string in double quotes, as `%q` and `strconv.Quote` write it.
pub fn quote(text: &str) -> String {
    quote_bytes(text.as_bytes(), false)
}

/// A string in double quotes, of bytes that need not be UTF-8; with `ascii` all beyond ASCII is
/// escaped (`%+q`).
pub fn quote_bytes(text: &[u8], ascii: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for (c, bytes) in runes(text) {
        match (c, bytes) {
            (char::REPLACEMENT_CHARACTER, [byte]) => out.push_str(&format!("\\x{byte:02x}")),
            _ => push_quoted(&mut out, c, '"', ascii),
        }
    }
    out.push('"');
    out
}

/// A character in single quotes (`strconv.QuoteRune`).
pub(crate) fn quote_rune(c: char, ascii: bool) -> String {
    let mut out = "'".to_owned();
    push_quoted(&mut out, c, '\'', ascii);
    out.push('\'');
    out
}

fn push_quoted(out: &mut String, c: char, quote: char, ascii: bool) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        c if c == quote => out.extend(['\\', c]),
        ' '..='~' => out.push(c),
        '\0'..='\x1f' | '\x7f' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
        c if !ascii && is_printable(c) => out.push(c),
        '\u{80}'..='\u{ffff}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
    }
}

/// `strconv.CanBackquote`
pub(crate) fn can_backquote(text: &[u8]) -> bool {
    runes(text).all(|(c, bytes)| match c {
        '\u{feff}' | '`' | '\x7f' => false,
        char::REPLACEMENT_CHARACTER => bytes.len() > 1,
        c => c >= ' ' || c == '\t',
    })
}

/// `strconv.Unquote`: the text of a literal in `"…"`, `` `…` `` or `'…'`, which holds one
/// character. `None` is Go's "invalid syntax".
pub fn unquote(literal: &str) -> Option<Vec<u8>> {
    let quote = literal.chars().next()?;
    let inner = literal.get(1..)?.strip_suffix(quote)?;
    match quote {
        '`' if !inner.contains('`') => Some(inner.replace('\r', "").into_bytes()),
        '"' | '\'' if !inner.contains('\n') => {
            let mut text = Vec::with_capacity(inner.len());
            let (mut rest, mut count) = (inner, 0);
            while !rest.is_empty() {
                let (unit, after) = unquote_char(rest, quote)?;
                match unit {
                    Unquoted::Byte(byte) => text.push(byte),
                    Unquoted::Rune(c) => {
                        text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes())
                    }
                }
                (rest, count) = (after, count + 1);
            }
            (quote == '"' || count == 1).then_some(text)
        }
        _ => None,
    }
}

/// A character of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unquoted {
    /// By its number: `\x41`, `\101`.
    Byte(u8),
    /// Any other.
    Rune(char),
}

impl Unquoted {
    /// The value of the byte, or the code point of the character.
    pub fn code(self) -> u32 {
        match self {
            Unquoted::Byte(byte) => u32::from(byte),
            Unquoted::Rune(c) => u32::from(c),
        }
    }
}

/// `strconv.UnquoteChar`: the first character of a literal in these quotes, and what follows it.
/// `None` is Go's "invalid syntax".
pub fn unquote_char(text: &str, quote: char) -> Option<(Unquoted, &str)> {
    let mut chars = text.chars();
    match chars.next()? {
        c if c == quote && matches!(c, '\'' | '"') => return None,
        '\\' => {}
        c => return Some((Unquoted::Rune(c), chars.as_str())),
    }
    let escape = chars.next()?;
    let rest = chars.as_str();
    let number = |text: &str, digits: usize, radix: u32| {
        let digits = text
            .get(..digits)
            .filter(|text| text.chars().all(|c| c.is_digit(radix)))?;
        u32::from_str_radix(digits, radix).ok()
    };
    let rune = |c| Some((Unquoted::Rune(c), rest));
    match escape {
        'a' => rune('\u{7}'),
        'b' => rune('\u{8}'),
        'f' => rune('\u{c}'),
        'n' => rune('\n'),
        'r' => rune('\r'),
        't' => rune('\t'),
        'v' => rune('\u{b}'),
        '\\' => rune('\\'),
        '\'' | '"' if escape == quote => rune(quote),
        'x' => Some((
            Unquoted::Byte(u8::try_from(number(rest, 2, 16)?).ok()?),
            &rest[2..],
        )),
        'u' => Some((
            Unquoted::Rune(char::from_u32(number(rest, 4, 16)?)?),
            &rest[4..],
        )),
        'U' => Some((
            Unquoted::Rune(char::from_u32(number(rest, 8, 16)?)?),
            &rest[8..],
        )),
        '0'..='7' => {
            let digits = &text[1..];
            Some((
                Unquoted::Byte(u8::try_from(number(digits, 3, 8)?).ok()?),
                &digits[3..],
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_as_strconv_does() {
        let check = |text: &str, expected: &str| assert_eq!(quote(text), expected);
        check("a\"b\\", r#""a\"b\\""#);
        check("\u{0}\u{1b}\u{7f}\t\n", r#""\x00\x1b\x7f\t\n""#);
        check("é日\u{a0}\u{200b}\u{feff}", r#""é日\u00a0\u200b\ufeff""#);
        check("e\u{301}😀\u{e0001}'", "\"e\u{301}😀\\U000e0001'\"");
        assert_eq!(
            quote_bytes(b"a\xff\xef\xbf\xbd", false),
            "\"a\\xff\u{fffd}\""
        );
        assert_eq!(quote_bytes("é😀".as_bytes(), true), r#""\u00e9\U0001f600""#);
        assert_eq!(
            [
                quote_rune('\'', false),
                quote_rune('"', false),
                quote_rune('é', true)
            ],
            [r"'\''", "'\"'", r"'\u00e9'"]
        );
    }

    /// Observed of `strconv.Unquote`.
    #[test]
    fn literals_are_read_as_strconv_does() {
        let check = |literal: &str, expected: Option<&[u8]>| {
            assert_eq!(unquote(literal).as_deref(), expected, "{literal}")
        };
        check(r#""a\x41\101\u00e9\n\"'""#, Some("aAAé\n\"'".as_bytes()));
        check(r#""\xff""#, Some(b"\xff"));
        check("`a\r\\n`", Some(b"a\\n"));
        check(r"'\''", Some(b"'"));
        for literal in [
            "",
            "\"",
            "'",
            "''",
            "'ab'",
            r#""\'""#,
            r#"'\"'"#,
            r#""\x4""#,
            r#""\400""#,
            r#""\ud800""#,
            "\"a\nb\"",
            r#""\q""#,
            r#""a"b""#,
            "`a`b`",
        ] {
            check(literal, None);
        }
    }
}
