//! The words for what the parser refuses.

use std::borrow::Cow;

use granit_parser::{ErrorKind, ScanError};

use super::is_refused;
use super::limits::DEPTH_EXCEEDED;
use crate::diag::{Diagnostic, rules};

rules! {
    /// Text that is not YAML.
    SYNTAX = error("yaml-syntax");
    /// A character that YAML does not allow.
    CHARACTER_REFUSED = error("yaml-character-refused");
    /// U+0085, U+2028 or U+2029: a line break for Go's reader, a character of the text for others.
    LINE_BREAK_UNUSUAL = warning("yaml-line-break-unusual");
}

/// The finding for an error of the parser, without its place.
pub(super) fn finding(error: &ScanError) -> Diagnostic {
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return Diagnostic::of(&DEPTH_EXCEEDED, "values are nested too deep").help("write the document flatter");
    }
    if let ErrorKind::UnexpectedCharacter { character } = error.kind()
        && is_refused(*character)
    {
        return refused(*character);
    }
    let (message, help) = words(error.kind());
    Diagnostic::of(&SYNTAX, message).help(help)
}

/// The finding for a character that YAML does not allow, without its place.
pub(super) fn refused(character: char) -> Diagnostic {
    let message = format!("the character U+{:04X} is not allowed in YAML", u32::from(character));
    Diagnostic::of(&CHARACTER_REFUSED, message)
        .help(format!("write it as `\\u{:04x}` in double quotes, or remove it", u32::from(character)))
}

/// The finding for a line break that only YAML 1.1 knows, without its place.
pub(super) fn unusual_break(character: char) -> Diagnostic {
    let code = u32::from(character);
    Diagnostic::of(&LINE_BREAK_UNUSUAL, format!("the character U+{code:04X} is a line break for Go's reader"))
        .help(format!("write it as `\\u{code:04x}` in double quotes, or start a new line"))
}

/// The finding for a tab that only Go's reader refuses, without its place.
pub(super) fn misplaced_tab() -> Diagnostic {
    let (message, help) = words(&ErrorKind::TabInIndentation);
    Diagnostic::of(&SYNTAX, message).help(help)
}

/// The finding for a word in brackets that only Go's reader refuses, without its place: there `?` and a leading `:` end the word.
pub(super) fn broken_word(word: &str) -> Diagnostic {
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

fn words(kind: &ErrorKind) -> (String, &'static str) {
    let (message, help) = match kind {
        ErrorKind::UnclosedFlowCollection { open } => {
            let help = if *open == '[' { "close the list with `]`" } else { "close the mapping with `}`" };
            return (format!("`{open}` is never closed"), help);
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            let help = if *open == '[' { "close the list with `]`" } else { "close the mapping with `}`" };
            return (format!("`{open}` is closed with `{close}`"), help);
        }
        ErrorKind::UnexpectedCharacter { character } => {
            return (format!("a word cannot start with `{character}`"), "put the value in quotes: `'…'`");
        }
        ErrorKind::MisplacedFlowCollectionEnd => {
            ("a bracket is closed that was never opened", "remove it, or put the value in quotes: `'…'`")
        }
        ErrorKind::UnexpectedEofFlowSequence | ErrorKind::ExpectedFlowSequenceSeparator => {
            ("a list in brackets lacks a `,` or its `]`", "separate the items with `,` and close the list with `]`")
        }
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping | ErrorKind::ExpectedFlowMappingSeparator => {
            ("a mapping in braces lacks a `,` or its `}`", "separate the entries with `,` and close the mapping with `}`")
        }
        ErrorKind::UnclosedQuotedScalar => ("a quote is never closed", "close the text with the quote it starts with"),
        ErrorKind::DocumentIndicatorInQuotedScalar => {
            ("a quoted text runs into the next document", "close the quote before the line `---`")
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => (
            "something follows a quoted text",
            "put the whole value in one pair of quotes; inside `'…'` a quote is written `''`",
        ),
        ErrorKind::UnknownQuotedScalarEscape => {
            ("a text in double quotes has an unknown escape", "write `\\\\` for a backslash, or use single quotes: `'…'`")
        }
        ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => {
            ("an escape in double quotes names no character", "write `\\uXXXX` with four hexadecimal digits")
        }
        ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation | ErrorKind::TabInIndentation | ErrorKind::TabAtBlockScalarStart => {
            ("a tab stands where only spaces may indent", "indent with spaces")
        }
        ErrorKind::TabInPlainScalar => ("a tab stands inside a word", "put the value in quotes: `'…'`"),
        ErrorKind::InvalidQuotedScalarIndent => {
            ("a quoted text goes on in a line that is not indented", "indent the line further than the key of the text")
        }
        ErrorKind::InvalidIndentation | ErrorKind::InvalidBlockScalarIndent | ErrorKind::InvalidFlowScalarIndent => {
            ("a line is not indented like the lines it belongs to", "indent it as its neighbours are")
        }
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            ("a line of a mapping has no `key: value`", "write `key: value`, indented as its neighbours are")
        }
        ErrorKind::ExpectedBlockSequenceEntry => {
            ("a line of a list does not start with `- `", "write `- `, indented as its neighbours are")
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement | ErrorKind::FlowMappingValueAdjacentCollection => {
            ("a `: ` stands inside a value", "put the value in quotes: `'…'`; a nested mapping starts on its own line")
        }
        ErrorKind::InvalidMappingValueWhitespace => ("a `:` is followed by a tab", "write `: ` with a space"),
        ErrorKind::MappingKeyNotAllowed => ("a `? ` stands inside a value", "put the value in quotes: `'…'`"),
        ErrorKind::BlockSequenceEntryNotAllowed | ErrorKind::BlockEntryInFlowCollection | ErrorKind::InvalidBlockEntryWhitespace => {
            ("a `- ` stands where no list can start", "start the list on its own line, or put the value in quotes: `'…'`")
        }
        ErrorKind::PlainScalarStartsWithDashFlowIndicator => ("a word cannot start with `-` and a bracket", "put it in quotes: `'…'`"),
        ErrorKind::ZeroBlockScalarIndent | ErrorKind::InvalidBlockScalarHeader => {
            ("the line after `|` or `>` has a word too much", "start the text on the next line")
        }
        ErrorKind::CommentNotSeparated | ErrorKind::CommentInterceptedScalar => {
            ("a comment breaks a value", "put a space before `#`, and no comment between the lines of one value")
        }
        ErrorKind::BomInsideDocument => ("a byte-order mark stands inside a document", "remove the character U+FEFF"),
        ErrorKind::InvalidDocumentEnd => ("something follows the end mark `...`", "leave the line `...` alone"),
        ErrorKind::ExpectedDocumentStart | ErrorKind::ExpectedNodeContent => (
            "a value is missing, or the text before it does not end here",
            "put the value in quotes if it starts with one of `,[]{}&*!|>'\"%@`",
        ),
        ErrorKind::DuplicateVersionDirective
        | ErrorKind::UnsupportedYamlMajorVersion
        | ErrorKind::MissingDocumentEndBeforeDirective
        | ErrorKind::MissingYamlVersion
        | ErrorKind::MissingYamlVersionSeparator
        | ErrorKind::YamlVersionTooLong
        | ErrorKind::MissingDirectiveName
        | ErrorKind::InvalidDirectiveName
        | ErrorKind::InvalidDirectiveTerminator
        | ErrorKind::DirectiveByteLimitExceeded { .. }
        | ErrorKind::DuplicateTagDirective => {
            ("a line that starts with `%` is no directive", "remove it, or put the value in quotes: `'…'`")
        }
        ErrorKind::UndeclaredTagHandle
        | ErrorKind::ExpectedTagBang
        | ErrorKind::ExpectedTagDirectiveBang
        | ErrorKind::InvalidGlobalTagCharacter
        | ErrorKind::InvalidTagTerminator
        | ErrorKind::InvalidTagDirectiveTerminator
        | ErrorKind::MissingTagUri
        | ErrorKind::UnclosedVerbatimTag
        | ErrorKind::InvalidTagEscape
        | ErrorKind::InvalidTagUtf8
        | ErrorKind::InvalidTagUtf8LeadingByte
        | ErrorKind::InvalidTagUtf8TrailingByte => ("a word that starts with `!` is no tag", "put the value in quotes: `'!…'`"),
        ErrorKind::MissingAnchorOrAliasName => ("a word that starts with `&` or `*` has no name", "put the value in quotes: `'*'`"),
        other => return (format!("not valid YAML: {other}"), "put the value in quotes: `'…'`, or mend the line above"),
    };
    (message.to_owned(), help)
}
