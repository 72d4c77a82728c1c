//! JSON as Go's `encoding/json` writes it: `<`, `>`, `&`, U+2028 and U+2029 escaped.

use std::io;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// A value, compact, in the order of its fields.
pub(super) fn to_bytes(value: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, ForHtml);
    value
        .serialize(&mut serializer)
        .expect("internal error: a config is plain data");
    out
}

struct ForHtml;

impl Formatter for ForHtml {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let (before, after) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            let mut characters = after.chars();
            let escaped = characters.next().map(u32::from).unwrap_or_default();
            write!(writer, "\\u{escaped:04x}")?;
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_html_are_escaped() {
        let written = to_bytes(&"a<b>&\u{2028}\u{2029}é\u{1}\u{8}\n\"");
        assert_eq!(
            String::from_utf8(written).unwrap(),
            r#""a\u003cb\u003e\u0026\u2028\u2029é\u0001\b\n\"""#
        );
    }
}
