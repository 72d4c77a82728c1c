//! Text of other people on our terminal: nothing in it may move the cursor, colour, or turn the
//! line around. All that is printed for people and was not written by us goes through here; JSON
//! and workflow commands take their escapes from here too.

use std::borrow::Cow;

use windlass_source::cut::cut;

/// The text with control characters as pictures (`␛`), with characters that reorder a line as `�`,
/// and without the sign of a command to a CI system. Each character stands for one, tabs for one
/// blank.
pub fn visible(text: &str) -> Cow<'_, str> {
    pictures(text, |_| false)
}

/// The same for a text of several lines: its line ends and tabs stay.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    pictures(text, |c| matches!(c, '\n' | '\t'))
}

fn pictures(text: &str, stays: fn(char) -> bool) -> Cow<'_, str> {
    let gives_commands = text.contains("::") || text.contains("##");
    if !gives_commands && text.chars().all(|c| stays(c) || picture(c) == c) {
        return Cow::Borrowed(text);
    }
    let shown = |(at, c): (usize, char)| match c {
        c if stays(c) => c,
        ':' | '#' if gives_commands => defused(cut(text, ..at), cut(text, at..)).unwrap_or(c),
        c => picture(c),
    };
    Cow::Owned(text.char_indices().map(shown).collect())
}

/// What stands for the first character of `rest`, if it makes a line a command: GitHub takes
/// `::command::` at the start of a line, behind blanks of all scripts, and `##[command]` anywhere,
/// Azure Pipelines `##vso[command]`.
fn defused(before: &str, rest: &str) -> Option<char> {
    if rest.starts_with("##[") || rest.starts_with("##vso[") {
        return Some('♯');
    }
    let starts_line = || {
        before
            .trim_end_matches(|c: char| c.is_whitespace() && c != '\n')
            .chars()
            .next_back()
            .is_none_or(|c| c == '\n')
    };
    (rest.starts_with("::") && !rest.starts_with(":::") && starts_line()).then_some('∶')
}

/// Whether a character is one that [`visible`] replaces.
pub(crate) fn is_unsafe(c: char) -> bool {
    picture(c) != c
}

fn picture(c: char) -> char {
    match c {
        '\t' => ' ',
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\x7f' => '␡',
        '\u{80}'..='\u{9f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => '\u{fffd}',
        // Another sign of direction, and tags, which nobody sees.
        '\u{61c}' | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
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
        assert_eq!(visible("\u{61c}x\u{e0041}"), "\u{fffd}x\u{fffd}");
        assert_eq!(
            visible("::x::y a::b ##[x] ##vso[y]z #[a] ##a"),
            "∶:x::y a::b ♯#[x] ♯#vso[y]z #[a] ##a"
        );
        assert_eq!(visible_lines("a\n \t::x\n::: b\n"), "a\n \t∶:x\n::: b\n");
        assert_eq!(
            visible_lines("a\n\u{3000}\u{a0}::x\nb\u{a0}c::d\n"),
            "a\n\u{3000}\u{a0}∶:x\nb\u{a0}c::d\n"
        );
        assert_eq!(
            visible_lines("a\tb\x1b[2J\nc\r\u{9b}\n"),
            "a\tb␛[2J\nc␍\u{fffd}\n"
        );
    }
}
