//! What the library rejects, in its words.

use std::borrow::Cow;

use super::{Mark, Version};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) problem: Problem,
    /// Where what is wrong began; the first place of the text when the library names none.
    pub(crate) context: Mark,
    pub(crate) at: Mark,
    /// Whether the scanner found it, and not the parser.
    pub(crate) of_scanner: bool,
}

impl Fault {
    /// The library's whole message, with the line that it names: often the one before.
    pub(crate) fn words(&self, version: Version) -> String {
        let (first, second) = match version {
            Version::V2 => ((self.at.line, self.of_scanner), (self.context.line, false)),
            Version::V3 => (
                (self.context.line, self.of_scanner),
                (self.at.line, self.of_scanner),
            ),
        };
        let (line, counts_from_0) = if first.0 != 0 { first } else { second };
        let problem = self.problem.words();
        match line {
            0 => problem.into_owned(),
            line => format!("line {}: {problem}", line + u32::from(counts_from_0)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// No token begins with this character.
    TokenStart,
    /// A line of a mapping is not followed by `:`.
    ColonMissing,
    /// Blocks or brackets lie too deep in one another.
    TooDeep(usize),
    /// `- ` within a value.
    BlockEntryMisplaced,
    /// `? ` within a value.
    KeyMisplaced,
    /// `: ` within a value.
    ValueMisplaced,
    /// Nothing behind `&` or `*`, or a character that no name holds.
    AnchorName,
    /// `|0`.
    BlockIndentZero,
    /// A word behind `|` or `>`.
    BlockHeader,
    /// A tab in the indentation of a block.
    BlockTab,
    /// A line `---` within quotes.
    QuoteAtDocument,
    /// The text ends within quotes.
    QuoteAtEnd,
    EscapeUnknown,
    /// An escape without its digits.
    EscapeDigits,
    /// An escape of something that is not a character.
    EscapeCode,
    /// A tab in the indentation of a plain text of several lines.
    PlainTab,
    /// A directive without a name.
    DirectiveName,
    /// A directive with a name that is none.
    DirectiveCharacter,
    /// A directive other than YAML and TAG.
    DirectiveUnknown,
    /// Something behind a directive.
    DirectiveEnd,
    /// A version without its dot.
    VersionSeparator,
    VersionLong,
    /// A version without digits.
    VersionMissing,
    VersionRepeated,
    /// Another version than 1.1.
    VersionOther,
    /// A handle without its `!`.
    TagBang,
    /// No blank behind a handle.
    TagBlank,
    /// No blank behind a tag.
    TagEnd,
    /// `!<` without `>`.
    TagClosing,
    /// A tag without a name.
    TagUri,
    /// `%` without digits.
    TagEscape,
    /// Escaped bytes that are not UTF-8.
    TagLeadingOctet,
    /// Escaped bytes that are not UTF-8.
    TagTrailingOctet,
    /// A handle that is declared twice.
    TagRepeated,
    /// A handle that is not declared.
    TagHandle,
    /// Something behind a document, or a directive without one.
    DocumentStart,
    /// No value where one must be.
    NodeContent,
    /// Something in a list that is not an item.
    DashMissing,
    /// Something in a mapping that is not a key.
    KeyMissing,
    /// Something in brackets that is neither `,` nor `]`.
    SequenceOpen,
    /// Something in braces that is neither `,` nor `}`.
    MappingOpen,
}

impl Problem {
    /// The library's words.
    pub(crate) fn words(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Problem::TooDeep(most) => return Cow::Owned(format!("exceeded max depth of {most}")),
            Problem::TokenStart => "found character that cannot start any token",
            Problem::ColonMissing => "could not find expected ':'",
            Problem::BlockEntryMisplaced => {
                "block sequence entries are not allowed in this context"
            }
            Problem::KeyMisplaced => "mapping keys are not allowed in this context",
            Problem::ValueMisplaced => "mapping values are not allowed in this context",
            Problem::AnchorName => "did not find expected alphabetic or numeric character",
            Problem::BlockIndentZero => "found an indentation indicator equal to 0",
            Problem::BlockHeader | Problem::DirectiveEnd => {
                "did not find expected comment or line break"
            }
            Problem::BlockTab => "found a tab character where an indentation space is expected",
            Problem::QuoteAtDocument => "found unexpected document indicator",
            Problem::QuoteAtEnd => "found unexpected end of stream",
            Problem::EscapeUnknown => "found unknown escape character",
            Problem::EscapeDigits => "did not find expected hexdecimal number",
            Problem::EscapeCode => "found invalid Unicode character escape code",
            Problem::PlainTab => "found a tab character that violates indentation",
            Problem::DirectiveName => "could not find expected directive name",
            Problem::DirectiveCharacter => "found unexpected non-alphabetical character",
            Problem::DirectiveUnknown => "found unknown directive name",
            Problem::VersionSeparator => "did not find expected digit or '.' character",
            Problem::VersionLong => "found extremely long version number",
            Problem::VersionMissing => "did not find expected version number",
            Problem::VersionRepeated => "found duplicate %YAML directive",
            Problem::VersionOther => "found incompatible YAML document",
            Problem::TagBang => "did not find expected '!'",
            Problem::TagBlank => "did not find expected whitespace",
            Problem::TagEnd => "did not find expected whitespace or line break",
            Problem::TagClosing => "did not find the expected '>'",
            Problem::TagUri => "did not find expected tag URI",
            Problem::TagEscape => "did not find URI escaped octet",
            Problem::TagLeadingOctet => "found an incorrect leading UTF-8 octet",
            Problem::TagTrailingOctet => "found an incorrect trailing UTF-8 octet",
            Problem::TagRepeated => "found duplicate %TAG directive",
            Problem::TagHandle => "found undefined tag handle",
            Problem::DocumentStart => "did not find expected <document start>",
            Problem::NodeContent => "did not find expected node content",
            Problem::DashMissing => "did not find expected '-' indicator",
            Problem::KeyMissing => "did not find expected key",
            Problem::SequenceOpen => "did not find expected ',' or ']'",
            Problem::MappingOpen => "did not find expected ',' or '}'",
        })
    }
}
