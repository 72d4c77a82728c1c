//! The words for what the scanner and the parser reject.

use std::borrow::Cow;

use super::indentation::{self, Misplaced};
use super::limits::DEPTH_EXCEEDED;
use super::quoting::{LineValue, shown};
use crate::libyaml::{Fault, Mark, Problem};
use windlass_source::cut::cut;
use windlass_source::diag::{Diagnostic, Quoted, Remedy, Text, rules};
use windlass_source::{Source, TextRange};

rules! {
    /// the text is not valid YAML
    pub SYNTAX = error("yaml-syntax"), catalogue("C01 T10");
    /// an anchor name contains other characters than letters, digits, `-` and `_`
    ANCHOR_INVALID = error("yaml-anchor-invalid");
    /// a character is not allowed in YAML
    CHARACTER_REJECTED = error("yaml-character-rejected");
    /// U+0085, U+2028 or U+2029 is a line break for Go's YAML reader and an ordinary character for
    /// others
    LINE_BREAK_UNUSUAL = warning("yaml-line-break-unusual");
    /// a string contains U+FEFF, the invisible byte order mark
    BYTE_ORDER_MARK = warning("yaml-byte-order-mark");
}

/// The characters outside YAML 1.1's printable set, which go-yaml rejects: controls, U+FFFE
/// and U+FFFF.
pub(crate) fn is_rejected(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => false,
    }
}

const TAB: &str = "a tab is where only spaces may indent";
const NO_ENTRY: &str = "a line of a mapping has no `key: value`";
const CLOSE_LIST: &str = "close the list with `]`";
const CLOSE_MAPPING: &str = "close the mapping with `}`";

/// The finding for a fault, without its own place, and where it stands; `innermost` is where the
/// list or mapping starts that is open there, and `end` where reading ends.
pub(super) fn finding(
    fault: &Fault,
    innermost: Option<Mark>,
    source: &Source,
    end: usize,
) -> (Diagnostic, TextRange) {
    let text = cut(source.text(), ..end);
    let at = fault.at.offset;
    let found = cut(text, at..).chars().next();
    let place = TextRange::new(at, at);
    if let Some(character) = found.filter(|character| is_rejected(*character)) {
        return (rejected(character), place);
    }
    let judged = Judged {
        fault,
        innermost,
        text,
    };
    if let Some(found) = judged
        .broken_separator()
        .or_else(|| judged.without_dollar())
    {
        return found;
    }
    if let Some(found) = judged.followed() {
        return found;
    }
    if let Some(misplaced) = judged.misplaced() {
        return said(misplaced, source);
    }
    let is_open =
        |mark: &Mark| cut(text, mark.offset..).starts_with(['[', '{']) && judged.is_document_end();
    match fault.problem {
        Problem::TooDeep(_) => (
            Diagnostic::of(&DEPTH_EXCEEDED, "values are nested too deep")
                .help("nest lists and mappings less deeply"),
            place,
        ),
        Problem::AnchorName if at > fault.context.offset + 1 => (
            judged.anchor_name(),
            TextRange::new(fault.context.offset, at),
        ),
        Problem::SequenceOpen | Problem::MappingOpen if judged.expression().is_some() => {
            let message = "`{{` starts a mapping in YAML, not an expression";
            (
                Diagnostic::of(&SYNTAX, message)
                    .help(put_in_quotes(THE_VALUE, judged.expression())),
                place,
            )
        }
        Problem::SequenceOpen | Problem::MappingOpen | Problem::NodeContent
            if judged.broken_word().is_some() =>
        {
            let word = judged.broken_word().unwrap_or(place);
            (broken_word(cut(text, word.start()..word.end())), word)
        }
        Problem::NodeContent if innermost.as_ref().is_some_and(is_open) => {
            judged.never_closed(innermost.unwrap_or_default())
        }
        Problem::SequenceOpen | Problem::MappingOpen => judged.brackets(),
        problem => {
            let (message, help) = judged.words(problem);
            let started = matches!(
                problem,
                Problem::ColonMissing
                    | Problem::QuoteAtDocument
                    | Problem::QuoteAtEnd
                    | Problem::EscapeUnknown
            );
            let start = if started { fault.context.offset } else { at };
            (
                Diagnostic::of(&SYNTAX, message).help(help),
                TextRange::new(start, start),
            )
        }
    }
}

/// The finding about a line that is not indented as its neighbours are.
fn said(misplaced: Misplaced, source: &Source) -> (Diagnostic, TextRange) {
    let Misplaced {
        message,
        help,
        or,
        word,
        beside,
    } = misplaced;
    let finding = Diagnostic::of(&SYNTAX, message);
    let finding = match beside {
        None => finding.help(help.then(or)),
        Some(beside) => {
            let help = help.then(format!(
                ", like line {}{or}",
                source.position(beside.start()).line
            ));
            finding
                .help(help)
                .related(source.place_at(beside), "its sibling")
        }
    };
    (finding, word)
}

/// What to do with a value that is not a word of YAML: the value as it is to be written, as far as it
/// is known.
pub(super) fn put_in_quotes(words: impl Into<Text>, value: Option<String>) -> Remedy {
    Remedy::new(words).quoted(value.as_deref().unwrap_or("'…'"))
}

pub(super) const THE_VALUE: &str = "put the value in quotes: ";
/// What to put in quotes where a part of it is.
pub(super) const THE_WHOLE: &str = "put the whole value in one pair of quotes: ";

/// The finding for a character that YAML does not allow, without its place.
pub(super) fn rejected(character: char) -> Diagnostic {
    let message = format!(
        "the character U+{:04X} is not allowed in YAML",
        u32::from(character)
    );
    Diagnostic::of(&CHARACTER_REJECTED, message)
        .help(format!(
            "write it as `\\u{:04x}` in double quotes, or remove it",
            u32::from(character)
        ))
        .upstream("yaml: control characters are not allowed")
}

/// The finding for a line break that only YAML 1.1 knows, without its place.
pub(super) fn unusual_break(character: char) -> Diagnostic {
    let code = u32::from(character);
    Diagnostic::of(
        &LINE_BREAK_UNUSUAL,
        format!("the character U+{code:04X} is a line break for Go's reader"),
    )
    .help(format!(
        "write it as `\\u{code:04x}` in double quotes, or start a new line"
    ))
}

/// The finding for a byte order mark that does not begin the text, without its place. Of a second
/// one at the start Go's reader (go-yaml v2.4.2, `is_bom`) finds one again in every line, and takes
/// it away: another character.
pub(super) fn byte_order_mark(is_second: bool) -> Diagnostic {
    if is_second {
        let message = "the text starts with two byte order marks (U+FEFF), which makes Go's reader lose the first character of other lines";
        return Diagnostic::of(&CHARACTER_REJECTED, message).help("remove both");
    }
    Diagnostic::of(
        &BYTE_ORDER_MARK,
        "an invisible byte order mark (U+FEFF) is inside the text and is part of the word there",
    )
    .help("remove it, or write it as `\\ufeff` in double quotes")
}

/// The finding for a word in brackets that only Go's reader rejects, without its place: there `?`
/// and a leading `:` end the word.
fn broken_word(word: &str) -> Diagnostic {
    let word = shown(word);
    let message = format!("Go's reader does not take `{word}` in brackets without quotes");
    Diagnostic::of(&SYNTAX, message)
        .help(format!("write `'{}'`", Quoted(word.0.replace('\'', "''"))))
}

/// A fault with the text around it.
struct Judged<'a> {
    fault: &'a Fault,
    /// Where the innermost list or mapping starts that is open there.
    innermost: Option<Mark>,
    text: &'a str,
}

impl<'a> Judged<'a> {
    fn after(&self) -> &'a str {
        cut(self.text, self.fault.at.offset..)
    }

    /// What stands before in the same line.
    fn before(&self) -> &'a str {
        let before = cut(self.text, ..self.fault.at.offset);
        before.rsplit('\n').next().unwrap_or(before)
    }

    /// The value of the line, unless it is in brackets that an earlier line opens.
    fn value(&self) -> Option<LineValue<'a>> {
        let line = self.fault.at.offset - self.before().len();
        let is_within = |mark: Mark| {
            mark.offset < line && cut(self.text, mark.offset..).starts_with(['[', '{'])
        };
        if self.innermost.is_some_and(is_within) {
            None
        } else {
            LineValue::at(self.text, self.fault.at.offset)
        }
    }

    /// A line that is meant as `---` between two documents and does not separate them.
    fn broken_separator(&self) -> Option<(Diagnostic, TextRange)> {
        [self.fault.at, self.fault.context]
            .into_iter()
            .find_map(|mark| {
                let start = self.text[..mark.offset]
                    .rfind('\n')
                    .map_or(0, |end| end + 1);
                let line = self.text[start..].split('\n').next()?.trim_end();
                let word = line.trim_start_matches(' ');
                let indent = line.len() - word.len();
                let is_dashes = word.len() > 1 && word.bytes().all(|byte| byte == b'-');
                let (message, help) = if is_dashes && (indent > 0 || word.len() != 3) {
                    (
                        format!("the line `{line}` does not separate two documents"),
                        "write `---` at the start of the line",
                    )
                } else if indent == 0
                    && word.starts_with("--- ")
                    && word.contains(": ")
                    && !word.contains('#')
                {
                    (
                        "an object begins on the line of its `---`".to_owned(),
                        "put a line break after `---`",
                    )
                } else {
                    return None;
                };
                let end = start + indent + word.bytes().take_while(|byte| *byte == b'-').count();
                Some((
                    Diagnostic::of(&SYNTAX, message).help(help),
                    TextRange::new(start + indent, end),
                ))
            })
    }

    /// A variable of clusterctl without its `$`, which YAML reads as a mapping in braces.
    fn without_dollar(&self) -> Option<(Diagnostic, TextRange)> {
        let in_brackets = |mark: &Mark| self.text[mark.offset..].starts_with('{');
        let innermost = self.innermost.filter(in_brackets).map(|mark| mark.offset);
        let of_line = |at: usize| {
            let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
            let line = self.text[start..].split('\n').next()?;
            line.find('{').map(|brace| start + brace)
        };
        let of_context = || of_line(self.fault.context.offset);
        innermost
            .into_iter()
            .chain(of_line(self.fault.at.offset))
            .chain(of_context())
            .find_map(|open| self.variable_at(open))
    }

    fn variable_at(&self, open: usize) -> Option<(Diagnostic, TextRange)> {
        let name: &str = self.text[open + 1..]
            .split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))
            .next()?;
        let behind = &self.text[open + 1 + name.len()..];
        let operator = match behind.as_bytes() {
            [b':', b'-' | b'=' | b'?' | b'+', ..] => &behind[..2],
            [b'=', ..] => &behind[..1],
            [b'}', ..] => "",
            _ => return None,
        };
        if name.len() < 2 || self.text[..open].ends_with(['$', '{']) {
            return None;
        }
        let rest = if operator.is_empty() { "}" } else { "…}" };
        let message = format!("there is no `$` before `{{{name}`, so it is not a variable");
        let help = format!("write `${{{name}{operator}{rest}`");
        let end = open + 1 + name.len() + operator.len();
        Some((
            Diagnostic::of(&SYNTAX, message).help(help),
            TextRange::new(open, end),
        ))
    }

    /// Words behind what a value begins with: brackets, quotes, an alias.
    fn followed(&self) -> Option<(Diagnostic, TextRange)> {
        let value = self.value()?;
        let ends = value.first_ends()?;
        let rest = &value.text[ends - value.start..];
        let start = ends + (rest.len() - rest.trim_start().len());
        if rest.trim().is_empty()
            || self.fault.at.offset < ends
            || rest.trim_start().starts_with(':')
        {
            return None;
        }
        let message = match value.text.as_bytes()[0] {
            b'"' | b'\'' => "something follows a quoted text",
            b'*' => "something follows an alias",
            _ => "something follows a value in brackets",
        };
        Some((
            Diagnostic::of(&SYNTAX, message).help(put_in_quotes(THE_WHOLE, value.in_quotes())),
            TextRange::new(start, value.start + value.text.len()),
        ))
    }

    /// A line that is not indented as its neighbours are.
    fn misplaced(&self) -> Option<Misplaced> {
        let at = self.fault.at.offset;
        match self.fault.problem {
            Problem::KeyMissing | Problem::DashMissing | Problem::DocumentStart
                if self.before().trim().is_empty() =>
            {
                indentation::of_line(self.text, at)
            }
            Problem::ValueMisplaced => indentation::of_continuation(self.text, at),
            Problem::ColonMissing => indentation::of_block(self.text, self.fault.context.offset),
            _ => None,
        }
    }

    /// The value that belongs in quotes here, in them.
    fn in_quotes(&self) -> Option<String> {
        let value = self.value()?;
        // A line that is all value may be one of several.
        let line = self.fault.at.offset - self.before().len();
        if cut(self.text, line..value.start).trim().is_empty() {
            return None;
        }
        if value.text.starts_with(['[', '{']) {
            value.word_in_quotes(self.fault.at.offset)
        } else {
            value.in_quotes()
        }
    }

    /// An expression of jinja without quotes that holds the fault, in quotes.
    fn expression(&self) -> Option<String> {
        let (at, value) = (self.fault.at.offset, self.value()?);
        let before = self.text.get(value.start..at)?;
        let open = before.rfind("{{")?;
        if before[open..].contains("}}") {
            None
        } else {
            value.word_in_quotes(at)
        }
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
        let name = cut(self.text, start..)
            .split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}'))
            .next();
        let kind = if cut(self.text, start..).starts_with('*') {
            "alias"
        } else {
            "anchor"
        };
        let message = format!(
            "the name of the {kind} `{}` is more than Go's reader takes",
            shown(name.unwrap_or_default())
        );
        Diagnostic::of(&ANCHOR_INVALID, message).help("use letters, digits, `-` and `_` only")
    }

    /// A bracket that the document ends in.
    fn never_closed(&self, open: Mark) -> (Diagnostic, TextRange) {
        let is_list = cut(self.text, open.offset..).starts_with('[');
        let (open_with, close) = if is_list {
            ('[', CLOSE_LIST)
        } else {
            ('{', CLOSE_MAPPING)
        };
        let finding = Diagnostic::of(&SYNTAX, format!("`{open_with}` is never closed")).help(close);
        (finding, TextRange::new(open.offset, open.offset))
    }

    /// A list or a mapping in brackets that does not go on as it should.
    fn brackets(&self) -> (Diagnostic, TextRange) {
        if self.is_document_end() {
            return self.never_closed(self.fault.context);
        }
        let is_list = self.fault.problem == Problem::SequenceOpen;
        let (open, close) = if is_list {
            ('[', CLOSE_LIST)
        } else {
            ('{', CLOSE_MAPPING)
        };
        let (message, help, at) = match self.after().chars().next() {
            Some(wrong @ (']' | '}')) => (
                format!("`{open}` is closed with `{wrong}`", wrong = Quoted(wrong)),
                close,
                self.fault.at,
            ),
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
        (
            Diagnostic::of(&SYNTAX, message).help(help),
            TextRange::new(at.offset, at.offset),
        )
    }

    fn is_document_end(&self) -> bool {
        self.after().is_empty() || self.before().is_empty() && self.after().starts_with(['-', '.'])
    }

    fn words(&self, problem: Problem) -> (Cow<'static, str>, Remedy) {
        let in_quotes = || put_in_quotes(THE_VALUE, self.in_quotes());
        let or_in_quotes =
            |help: &str| put_in_quotes(format!("{help}, or {THE_VALUE}"), self.in_quotes());
        let (message, help) = match problem {
            Problem::TokenStart if self.after().starts_with('\t') => (TAB, self.without_tab()),
            Problem::TokenStart => {
                let start = self.after().chars().next().unwrap_or_default();
                return (
                    format!("a word cannot start with `{start}`", start = Quoted(start)).into(),
                    in_quotes(),
                );
            }
            Problem::BlockTab | Problem::PlainTab => (TAB, self.without_tab()),
            Problem::QuoteAtEnd => (
                "a quote is never closed",
                "close the text with the quote it starts with".into(),
            ),
            Problem::QuoteAtDocument => (
                "a quoted text runs into the next document",
                "close the quote before the line `---`".into(),
            ),
            Problem::EscapeUnknown => (
                "a text in double quotes has an unknown escape",
                "write `\\\\` for a backslash, or use single quotes: `'…'`".into(),
            ),
            Problem::EscapeDigits | Problem::EscapeCode => (
                "an escape in double quotes names no character",
                "write `\\\\` for a backslash, or four hexadecimal digits after `\\u`".into(),
            ),
            Problem::KeyMissing | Problem::DashMissing | Problem::DocumentStart => {
                self.something_follows(problem)
            }
            Problem::ColonMissing => (
                NO_ENTRY,
                "write `key: value`, indented as its neighbours are".into(),
            ),
            Problem::ValueMisplaced => (
                "a `: ` is inside a value",
                in_quotes().then("; a nested mapping starts on its own line"),
            ),
            Problem::KeyMisplaced => ("a `? ` is inside a value", in_quotes()),
            Problem::BlockEntryMisplaced => (
                "a `- ` is where no list can start",
                or_in_quotes("start the list on its own line"),
            ),
            Problem::BlockIndentZero | Problem::BlockHeader => (
                "the line after `|` or `>` has a word too much",
                or_in_quotes("start the text on the next line"),
            ),
            Problem::NodeContent if self.is_item_in_brackets() => (
                "a `- ` is in a list in brackets",
                "separate the items with `,` instead: `[a, b]`".into(),
            ),
            Problem::NodeContent => (
                "a value is missing, or the text before it does not end here",
                "put the value in quotes if it starts with one of `,[]{}&*!|>'\"%@`".into(),
            ),
            Problem::AnchorName => (
                "a word that starts with `&` or `*` has no name",
                in_quotes(),
            ),
            Problem::TagBang
            | Problem::TagBlank
            | Problem::TagEnd
            | Problem::TagClosing
            | Problem::TagUri
            | Problem::TagEscape
            | Problem::TagLeadingOctet
            | Problem::TagTrailingOctet
            | Problem::TagHandle => ("a word that starts with `!` is not a tag", in_quotes()),
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
                "a line that starts with `%` is not a directive Go's reader takes",
                or_in_quotes("remove it"),
            ),
            Problem::TooDeep(_) | Problem::SequenceOpen | Problem::MappingOpen => {
                return (problem.words(), or_in_quotes("correct the line above"));
            }
        };
        (message.into(), help)
    }

    /// What to do about a tab: the line to write, when the tab indents it.
    fn without_tab(&self) -> Remedy {
        let line = self
            .before()
            .trim()
            .is_empty()
            .then(|| indentation::without_tab(self.text, self.fault.at.offset))
            .flatten();
        line.map_or("indent with spaces".into(), |line| {
            Remedy::new("indent with spaces: ").quoted(line)
        })
    }

    /// Whether `- ` is meant as the sign of an item within brackets.
    fn is_item_in_brackets(&self) -> bool {
        self.after().starts_with("- ")
            && self
                .innermost
                .is_some_and(|mark| cut(self.text, mark.offset..).starts_with('['))
    }

    /// Something stands behind a value, or in a line that belongs to nothing.
    fn something_follows(&self, problem: Problem) -> (&'static str, Remedy) {
        let whole = || put_in_quotes(THE_WHOLE, None);
        match (self.before().trim_end().chars().next_back(), problem) {
            (None, Problem::KeyMissing) if self.before().is_empty() => (
                NO_ENTRY,
                "write `key: value`, indented as its neighbours are".into(),
            ),
            (None, Problem::DashMissing) if !self.after().starts_with(['-', '?']) => (
                "a line of a list does not start with `- `",
                "write `- `, indented as its neighbours are".into(),
            ),
            (None, _) => (
                "a line is not indented like the lines it belongs to",
                "indent it as its neighbours are".into(),
            ),
            (Some('"' | '\''), _) => (
                "something follows a quoted text",
                whole().then("; inside of them a `'` is written `''`"),
            ),
            (Some(']' | '}'), _) => ("something follows a value in brackets", whole()),
            (Some(_), _) => ("something follows a value", whole()),
        }
    }
}
