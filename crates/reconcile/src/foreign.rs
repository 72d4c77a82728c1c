//! Foreign text in messages, and the API's limits of text.

/// Characters of a condition's message (`metav1.Condition`).
pub(super) const MESSAGE: usize = 32_768;
/// Characters of a message in contract v1beta1 (Cluster API's `Condition`).
pub(super) const V1BETA1_MESSAGE: usize = 10_240;
/// Bytes of an event's note (`NoteLengthLimit` of the API server's validation).
pub(super) const NOTE: usize = 1_024;

/// The maximum number of characters of a foreign text. The API server's message about a missing right has some
/// 300.
const SHOWN: usize = 1_000;

/// Quotes the text of another program for a message: in one line, without control characters and
/// closing quotes, and cut to 1,000 characters.
pub fn quoted(text: &str) -> String {
    let one_line = |c: char| match c {
        '“' | '”' => '"',
        c if c.is_whitespace() => ' ',
        c => c,
    };
    let shown: String = text.chars().take(SHOWN + 1).map(one_line).collect();
    format!("“{}”", fitting(shown.trim(), SHOWN, |_| 1))
}

/// Cuts a text to a size and marks the cut with an ellipsis. `size` is the size of a character.
/// Characters that move the cursor or reorder the line are replaced.
pub(super) fn fitting(text: &str, most: usize, size: fn(char) -> usize) -> String {
    let safe = |c: char| match is_unsafe(c) {
        true => char::REPLACEMENT_CHARACTER,
        false => c,
    };
    let characters = || text.chars().map(safe);
    if characters().map(size).sum::<usize>() <= most {
        return characters().collect();
    }
    let mut left = most.saturating_sub(size('…'));
    let fits = |c: &char| {
        let rest = left.checked_sub(size(*c));
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    characters().take_while(fits).chain(['…']).collect()
}

fn is_unsafe(c: char) -> bool {
    let is_control = c.is_control() && c != '\n';
    is_control
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_foreign_text_in_one_safe_line() {
        for (text, expected) in [
            (
                r#"secrets "a" is forbidden"#,
                r#"“secrets "a" is forbidden”"#,
            ),
            ("", "“”"),
            ("a\r\n\tb\u{2028}c ", "“a   b c”"),
            ("no” and all is well: “", r#"“no" and all is well: "”"#),
            (
                "\u{1b}[31m\0\u{202e}\u{9b}x",
                "“\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}x”",
            ),
        ] {
            assert_eq!(quoted(text), expected, "{text:?}");
        }
        let long = quoted(&"ä".repeat(1 << 20));
        assert_eq!(long, format!("“{}…”", "ä".repeat(SHOWN - 1)));
        assert_eq!(
            quoted(&"ä".repeat(SHOWN)),
            format!("“{}”", "ä".repeat(SHOWN))
        );
    }

    #[test]
    fn cuts_at_the_bound_and_not_within_a_character() {
        let bytes: fn(char) -> usize = char::len_utf8;
        for (text, most, expected) in [
            ("abcd", 4, "abcd"),
            ("abcde", 4, "a…"),
            ("ää", 4, "ää"),
            ("aää", 4, "a…"),
            ("äää", 5, "ä…"),
            ("a\nb", 9, "a\nb"),
        ] {
            assert_eq!(fitting(text, most, bytes), expected, "{text}");
            assert!(expected.len() <= most);
        }
        assert_eq!(fitting("äää", 3, |_| 1), "äää");
        assert_eq!(fitting("ääää", 3, |_| 1), "ää…");
    }
}
