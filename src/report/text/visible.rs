//! Text of other people on our terminal: nothing in it may move the cursor, colour, or turn the line around.

use std::borrow::Cow;

/// The text with control characters as pictures (`␛`) and with characters that reorder a line as `�`. Tabs are one blank.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| picture(c) == c) { Cow::Borrowed(text) } else { Cow::Owned(text.chars().map(picture).collect()) }
}

/// What stands for a character.
fn picture(c: char) -> char {
    match c {
        '\t' => ' ',
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\x7f' => '␡',
        '\u{80}'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => '\u{fffd}',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_as_a_command() {
        assert_eq!(visible("plain ü 漢"), "plain ü 漢");
        assert_eq!(visible("a\x1b[31mb\tc\nd\x7f"), "a␛[31mb c␊d␡");
        assert_eq!(visible("\u{202e}x\u{9b}"), "\u{fffd}x\u{fffd}");
    }
}
