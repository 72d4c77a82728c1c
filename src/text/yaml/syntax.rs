//! The words for what the scanner and the parser refuse.

use std::borrow::Cow;

use super::limits::DEPTH_EXCEEDED;
use crate::diag::{Diagnostic, rules};
use crate::text::libyaml::{Fault, Mark, Problem};
use crate::text::source::TextRange;

rules! {
    /// the text is not valid YAML
    SYNTAX = error("yaml-syntax");
    /// an anchor name contains other characters than letters, digits, `-` and `_`
    ANCHOR_INVALID = error("yaml-anchor-invalid");
    /// a character is not allowed in YAML
    CHARACTER_REFUSED = error("yaml-character-refused");
    /// U+0085, U+2028 or U+2029 is a line break for Go's reader and an ordinary character for others
    LINE_BREAK_UNUSUAL = warning("yaml-line-break-unusual");
}

/// The characters outside YAML 1.1's printable set, which go-yaml refuses to read: controls, U+FFFE and U+FFFF.
pub(crate) fn is_refused(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => false,
    }
}

/// What to do about a bracket.
const CLOSE_LIST: &str = "close the list with `]`";
const CLOSE_MAPPING: &str = "close the mapping with `}`";

/// The finding for a fault, without its place, and where it stands; `innermost` is where the list or mapping starts that is open there.
pub(super) fn finding(fault: &Fault, innermost: Option<Mark>, text: &str) -> (Diagnostic, TextRange) {
    let at = fault.at.offset;
    let found = text[at..].chars().next();
    let place = TextRange::new(at, at);
    if let Some(character) = found.filter(|character| is_refused(*character)) {
        return (refused(character), place);
    }
    let judged = Judged { fault, text };
    let is_open = |mark: &Mark| text[mark.offset..].starts_with(['[', '{']) && judged.is_document_end();
    match fault.problem {
        Problem::TooDeep(_) => (
            Diagnostic::of(&DEPTH_EXCEEDED, "values are nested too deep").help("nest lists and mappings less deeply"),
            place,
        ),
        Problem::AnchorName if at > fault.context.offset + 1 => (judged.anchor_name(), TextRange::new(fault.context.offset, at)),
        Problem::SequenceOpen | Problem::MappingOpen | Problem::NodeContent if judged.broken_word().is_some() => {
            let word = judged.broken_word().unwrap_or(place);
            (broken_word(&text[word.start()..word.end()]), word)
        }
        Problem::NodeContent if innermost.as_ref().is_some_and(is_open) => judged.never_closed(innermost.unwrap_or_default()),
        Problem::SequenceOpen | Problem::MappingOpen => judged.brackets(),
        problem => {
            let (message, help) = judged.words(problem);
            let started =
                matches!(problem, Problem::ColonMissing | Problem::QuoteAtDocument | Problem::QuoteAtEnd | Problem::EscapeUnknown);
            let start = if started { fault.context.offset } else { at };
            (Diagnostic::of(&SYNTAX, message).help(help), TextRange::new(start, start))
        }
    }
}

/// The finding for a character that YAML does not allow, without its place.
pub(super) fn refused(character: char) -> Diagnostic {
    let message = format!("the character U+{:04X} is not allowed in YAML", u32::from(character));
    Diagnostic::of(&CHARACTER_REFUSED, message)
        .help(format!("write it as `\\u{:04x}` in double quotes, or remove it", u32::from(character)))
        .upstream("yaml: control characters are not allowed")
}

/// The finding for a line break that only YAML 1.1 knows, without its place.
pub(super) fn unusual_break(character: char) -> Diagnostic {
    let code = u32::from(character);
    Diagnostic::of(&LINE_BREAK_UNUSUAL, format!("the character U+{code:04X} is a line break for Go's reader"))
        .help(format!("write it as `\\u{code:04x}` in double quotes, or start a new line"))
}

/// The finding for a word in brackets that only Go's reader refuses, without its place: there `?` and a leading `:` end the word.
fn broken_word(word: &str) -> Diagnostic {
    let word = shown(word);
    let message = format!("Go's reader does not take `{word}` in brackets without quotes");
    Diagnostic::of(&SYNTAX, message).help(format!("write `'{}'`", word.replace('\'', "''")))
}

/// A text of the user as a message repeats it: not all of it, when it is long.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(60) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// A fault with the text around it.
struct Judged<'a> {
    fault: &'a Fault,
    text: &'a str,
}

impl Judged<'_> {
    fn after(&self) -> &str {
        &self.text[self.fault.at.offset..]
    }

    /// What stands before in the same line.
    fn before(&self) -> &str {
        let before = &self.text[..self.fault.at.offset];
        before.rsplit('\n').next().unwrap_or(before)
    }

    /// The word in brackets around a `?` within it, or behind a `:` at its start.
    fn broken_word(&self) -> Option<TextRange> {
        let at = self.fault.at.offset;
        let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}');
        let start = at - self.before().rsplit(ends).next().map_or(0, str::len);
        let within = start < at && self.after().starts_with('?');
        let leading = start == at && self.after().starts_with(':');
        let end = at + self.after().find(ends).unwrap_or(self.after().len());
        (within || leading && end > at + 1).then(|| TextRange::new(start, end))
    }

    fn anchor_name(&self) -> Diagnostic {
        let start = self.fault.context.offset;
        let name = self.text[start..].split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}')).next();
        let kind = if self.text[start..].starts_with('*') { "alias" } else { "anchor" };
        let message = format!("the name of the {kind} `{}` is more than Go's reader takes", shown(name.unwrap_or_default()));
        Diagnostic::of(&ANCHOR_INVALID, message).help("use letters, digits, `-` and `_` only")
    }

    /// A bracket that the document ends in.
    fn never_closed(&self, open: Mark) -> (Diagnostic, TextRange) {
        let is_list = self.text[open.offset..].starts_with('[');
        let (open_with, close) = if is_list { ('[', CLOSE_LIST) } else { ('{', CLOSE_MAPPING) };
        let finding = Diagnostic::of(&SYNTAX, format!("`{open_with}` is never closed")).help(close);
        (finding, TextRange::new(open.offset, open.offset))
    }

    /// A list or a mapping in brackets that does not go on as it should.
    fn brackets(&self) -> (Diagnostic, TextRange) {
        if self.is_document_end() {
            return self.never_closed(self.fault.context);
        }
        let is_list = self.fault.problem == Problem::SequenceOpen;
        let (open, close) = if is_list { ('[', CLOSE_LIST) } else { ('{', CLOSE_MAPPING) };
        let (message, help, at) = match self.after().chars().next() {
            Some(wrong @ (']' | '}')) => (format!("`{open}` is closed with `{wrong}`"), close, self.fault.at),
            _ if is_list => (
                "a list in brackets lacks a `,` or its `]`".to_owned(),
                "separate the items with `,` and close the list with `]`",
                self.fault.at,
            ),
            _ => (
                "a mapping in braces lacks a `,` or its `}`".to_owned(),
                "separate the entries with `,` and close the mapping with `}`",
                self.fault.at,
            ),
        };
        (Diagnostic::of(&SYNTAX, message).help(help), TextRange::new(at.offset, at.offset))
    }

    fn is_document_end(&self) -> bool {
        self.after().is_empty() || self.before().is_empty() && self.after().starts_with(['-', '.'])
    }

    fn words(&self, problem: Problem) -> (Cow<'static, str>, &'static str) {
        let quote = "put the value in quotes: `'…'`";
        let (message, help) = match problem {
            Problem::TokenStart if self.after().starts_with('\t') => ("a tab stands where only spaces may indent", "indent with spaces"),
            Problem::TokenStart => {
                let start = self.after().chars().next().unwrap_or_default();
                return (format!("a word cannot start with `{start}`").into(), quote);
            }
            Problem::BlockTab | Problem::PlainTab => ("a tab stands where only spaces may indent", "indent with spaces"),
            Problem::QuoteAtEnd => ("a quote is never closed", "close the text with the quote it starts with"),
            Problem::QuoteAtDocument => ("a quoted text runs into the next document", "close the quote before the line `---`"),
            Problem::EscapeUnknown => {
                ("a text in double quotes has an unknown escape", "write `\\\\` for a backslash, or use single quotes: `'…'`")
            }
            Problem::EscapeDigits | Problem::EscapeCode => {
                ("an escape in double quotes names no character", "write `\\uXXXX` with four hexadecimal digits")
            }
            Problem::KeyMissing | Problem::DashMissing | Problem::DocumentStart => self.something_follows(problem),
            Problem::ColonMissing => ("a line of a mapping has no `key: value`", "write `key: value`, indented as its neighbours are"),
            Problem::ValueMisplaced => {
                ("a `: ` stands inside a value", "put the value in quotes: `'…'`; a nested mapping starts on its own line")
            }
            Problem::KeyMisplaced => ("a `? ` stands inside a value", quote),
            Problem::BlockEntryMisplaced => {
                ("a `- ` stands where no list can start", "start the list on its own line, or put the value in quotes: `'…'`")
            }
            Problem::BlockIndentZero | Problem::BlockHeader => {
                ("the line after `|` or `>` has a word too much", "start the text on the next line")
            }
            Problem::NodeContent => (
                "a value is missing, or the text before it does not end here",
                "put the value in quotes if it starts with one of `,[]{}&*!|>'\"%@`",
            ),
            Problem::AnchorName => ("a word that starts with `&` or `*` has no name", "put the value in quotes: `'*'`"),
            Problem::TagBang
            | Problem::TagBlank
            | Problem::TagEnd
            | Problem::TagClosing
            | Problem::TagUri
            | Problem::TagEscape
            | Problem::TagLeadingOctet
            | Problem::TagTrailingOctet
            | Problem::TagHandle => ("a word that starts with `!` is no tag", "put the value in quotes: `'!…'`"),
            Problem::DirectiveName
            | Problem::DirectiveCharacter
            | Problem::DirectiveUnknown
            | Problem::DirectiveEnd
            | Problem::VersionSeparator
            | Problem::VersionLong
            | Problem::VersionMissing
            | Problem::VersionRepeated
            | Problem::VersionOther
            | Problem::TagRepeated => (
                "a line that starts with `%` is no directive Go's reader takes",
                "remove it, or put the value in quotes: `'…'`",
            ),
            Problem::TooDeep(_) | Problem::SequenceOpen | Problem::MappingOpen => {
                return (problem.words(), "put the value in quotes: `'…'`, or correct the line above");
            }
        };
        (message.into(), help)
    }

    /// Something stands behind a value, or in a line that belongs to nothing.
    fn something_follows(&self, problem: Problem) -> (&'static str, &'static str) {
        match (self.before().trim_end().chars().next_back(), problem) {
            (None, Problem::KeyMissing) if self.before().is_empty() => {
                ("a line of a mapping has no `key: value`", "write `key: value`, indented as its neighbours are")
            }
            (None, Problem::DashMissing) if !self.after().starts_with(['-', '?']) => {
                ("a line of a list does not start with `- `", "write `- `, indented as its neighbours are")
            }
            (None, _) => ("a line is not indented like the lines it belongs to", "indent it as its neighbours are"),
            (Some('"' | '\''), _) => (
                "something follows a quoted text",
                "put the whole value in one pair of quotes; inside `'…'` a quote is written `''`",
            ),
            (Some(']' | '}'), _) => ("something follows a value in brackets", "put the whole value in quotes: `'…'`"),
            (Some(_), _) => ("something follows a value", "put the whole value in quotes: `'…'`"),
        }
    }
}
