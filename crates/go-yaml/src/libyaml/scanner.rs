//! The scanner: text to tokens, with the keys that turn out to be keys only at their `:`.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use super::bytes::{BLANK, BREAK, INDICATOR, break_width, is};
use super::{Fault, Mark, Problem, Style, Version};

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) version: Version,
    /// How deep blocks, and how deep brackets, may lie in one another.
    pub(crate) depth: usize,
    /// The stretch of the text that is read; it begins where a line does.
    pub(crate) range: Range<usize>,
}

/// A token and where it starts and ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind<'a>,
    pub(super) start: Mark,
    pub(super) end: Mark,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind<'a> {
    StreamEnd,
    VersionDirective(u32, u32),
    TagDirective(Box<Tag<'a>>),
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'a str),
    Anchor(&'a str),
    Tag(Box<Tag<'a>>),
    Scalar(Cow<'a, str>, Style),
}

/// A handle, and what stands behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) handle: &'a str,
    pub(super) suffix: String,
}

/// A word that may turn out to be a key.
#[derive(Debug, Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    /// Whether its token is not given away before it is known whether it is a key.
    awaited: bool,
    required: bool,
    token: usize,
    mark: Mark,
}

/// Columns and indentations are compared; before the first block the indentation is -1.
pub(super) type Indent = isize;

/// How far before its `:` a key may begin, in characters.
const LONGEST_KEY: usize = 1024;

/// How far the library looks for a comment, in characters.
const LOOK_AHEAD: usize = 512;

pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) mark: Mark,
    settings: Settings,
    tokens: VecDeque<Token<'a>>,
    /// Whether nothing can come before the first of them any more.
    is_head_known: bool,
    taken: usize,
    pub(super) indent: Indent,
    indents: Vec<Indent>,
    pub(super) simple_key_allowed: bool,
    /// One for each level of brackets, in the order of their tokens.
    simple_keys: Vec<SimpleKey>,
    pub(super) flow_level: usize,
    /// Whether nothing but blanks stands before in this line.
    pub(super) at_line_start: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, settings: Settings) -> Self {
        let text = &text[..settings.range.end];
        let mut start = settings.range.start;
        if start == 0 && text.starts_with('\u{feff}') {
            start = '\u{feff}'.len_utf8();
        }
        Scanner {
            text,
            bytes: text.as_bytes(),
            mark: Mark {
                offset: start,
                line: 0,
                line_start: start,
            },
            settings,
            tokens: VecDeque::with_capacity(8),
            is_head_known: false,
            taken: 0,
            indent: -1,
            indents: Vec::new(),
            simple_key_allowed: true,
            simple_keys: vec![SimpleKey::default()],
            flow_level: 0,
            at_line_start: false,
        }
    }

    pub(super) fn peek(&mut self) -> Result<&Token<'a>, Fault> {
        if self.is_head_known {
            return Ok(&self.tokens[0]);
        }
        let ahead = if self.settings.version == Version::V3 {
            2
        } else {
            0
        };
        while self.tokens.len() <= ahead || self.head_may_be_key()? {
            self.fetch()?;
        }
        self.is_head_known = true;
        Ok(&self.tokens[0])
    }

    /// Takes the token that was peeked at.
    pub(super) fn take(&mut self) -> Token<'a> {
        self.taken += 1;
        self.is_head_known = false;
        self.tokens
            .pop_front()
            .expect("internal error: a token that was peeked at is there")
    }

    fn head_may_be_key(&mut self) -> Result<bool, Fault> {
        let taken = self.taken;
        let key = if self.simple_keys.len() == 1 {
            0
        } else {
            self.simple_keys.partition_point(|key| key.token < taken)
        };
        match self.simple_keys.get(key) {
            Some(found) if found.possible && found.awaited && found.token == taken => {
                self.is_valid(key)
            }
            _ => Ok(false),
        }
    }

    /// A byte from here on; 0 behind the end.
    pub(super) fn at(&self, ahead: usize) -> u8 {
        self.bytes
            .get(self.mark.offset + ahead)
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.mark.offset..]
    }

    /// Bytes from the start of the line. Where it counts, nothing but ASCII stands before.
    pub(super) fn column(&self) -> usize {
        self.mark.offset - self.mark.line_start
    }

    pub(super) fn is_end(&self) -> bool {
        self.at(0) == 0
    }

    pub(super) fn is_blank(&self) -> bool {
        is(self.at(0), BLANK)
    }

    pub(super) fn is_break_at(&self, ahead: usize) -> bool {
        is(self.at(ahead), BREAK) && break_width(&self.bytes[self.mark.offset + ahead..]) > 0
    }

    pub(super) fn is_break(&self) -> bool {
        self.is_break_at(0)
    }

    pub(super) fn is_break_or_end(&self) -> bool {
        self.is_end() || self.is_break()
    }

    pub(super) fn is_blank_or_end_at(&self, ahead: usize) -> bool {
        let byte = self.at(ahead);
        byte == 0 || is(byte, BLANK) || self.is_break_at(ahead)
    }

    /// Takes bytes that are neither blanks nor line breaks.
    pub(super) fn skip(&mut self, count: usize) {
        self.at_line_start = false;
        self.mark.offset += count;
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.is_blank() {
            self.mark.offset += 1;
        }
    }

    /// Takes a line break, and gives what the library makes of it: all but U+2028 and U+2029 become
    /// `\n`.
    pub(super) fn take_break(&mut self) -> Option<char> {
        let width = break_width(self.rest());
        if width == 0 {
            return None;
        }
        let kept = match self.rest() {
            [0xe2, _, 0xa8, ..] => '\u{2028}',
            [0xe2, _, _, ..] => '\u{2029}',
            _ => '\n',
        };
        self.mark.offset += width;
        self.mark.line += 1;
        self.mark.line_start = self.mark.offset;
        self.at_line_start = true;
        Some(kept)
    }

    /// Takes everything up to the end of the line.
    pub(super) fn skip_to_break(&mut self) {
        while !self.is_break_or_end() {
            self.mark.offset += 1;
        }
        self.at_line_start = false;
    }

    pub(super) fn fault<T>(&self, context: Mark, problem: Problem) -> Result<T, Fault> {
        Err(Fault {
            problem,
            context,
            at: self.mark,
            of_scanner: true,
        })
    }

    pub(super) fn push(&mut self, kind: TokenKind<'a>, start: Mark) {
        self.push_to(kind, start, self.mark);
    }

    pub(super) fn push_to(&mut self, kind: TokenKind<'a>, start: Mark, end: Mark) {
        self.tokens.push_back(Token { kind, start, end });
    }

    /// A token of that many characters.
    fn indicator(&mut self, kind: TokenKind<'a>, width: usize) {
        let start = self.mark;
        self.skip(width);
        self.push(kind, start);
    }

    fn fetch(&mut self) -> Result<(), Fault> {
        let before = self.mark;
        self.skip_to_token();
        let blocks_end = if self.settings.version == Version::V3 {
            before
        } else {
            self.mark
        };
        self.unroll(self.column().cast_signed(), blocks_end);
        let byte = self.at(0);
        if byte == 0 {
            return self.fetch_stream_end();
        }
        if self.column() == 0 {
            if byte == b'%' {
                self.reset_block()?;
                return self.directive();
            }
            if self.at_document_mark() {
                self.reset_block()?;
                self.indicator(
                    if byte == b'-' {
                        TokenKind::DocumentStart
                    } else {
                        TokenKind::DocumentEnd
                    },
                    3,
                );
                return Ok(());
            }
        }
        self.fetch_content(byte)?;
        let is_entry = || {
            matches!(
                self.tokens.back(),
                Some(Token {
                    kind: TokenKind::BlockEntry,
                    ..
                })
            )
        };
        if self.settings.version == Version::V3 && !is_entry() {
            self.skip_line_comment();
        }
        Ok(())
    }

    fn fetch_content(&mut self, byte: u8) -> Result<(), Fault> {
        if !is(byte, INDICATOR) {
            // A tab that was not eaten as a blank starts no word.
            if byte == b'\t' {
                return self.fault(self.mark, Problem::TokenStart);
            }
            return self.plain_scalar();
        }
        match byte {
            b'-' if self.is_blank_or_end_at(1) => self.fetch_block_entry(),
            b':' if self.flow_level > 0 || self.is_blank_or_end_at(1) => self.fetch_value(),
            b'?' if self.flow_level > 0 || self.is_blank_or_end_at(1) => self.fetch_key(),
            b'-' | b':' | b'?' => self.plain_scalar(),
            b'\'' | b'"' => self.quoted_scalar(byte),
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => {
                self.remove_simple_key()?;
                self.simple_key_allowed = true;
                self.indicator(TokenKind::FlowEntry, 1);
                Ok(())
            }
            b'|' | b'>' if self.flow_level == 0 => {
                self.remove_simple_key()?;
                self.simple_key_allowed = true;
                self.block_scalar(byte == b'|')
            }
            b'*' | b'&' => self.anchor(),
            b'!' => self.tag(),
            _ => self.fault(self.mark, Problem::TokenStart),
        }
    }

    /// Whether `---` or `...` stands here, at the start of a line.
    pub(super) fn at_document_mark(&self) -> bool {
        self.column() == 0
            && matches!(self.rest(), [b'-', b'-', b'-', ..] | [b'.', b'.', b'.', ..])
            && self.is_blank_or_end_at(3)
    }

    /// Eats blanks, comments and line breaks.
    fn skip_to_token(&mut self) {
        loop {
            let eats_tabs = self.flow_level > 0 || !self.simple_key_allowed;
            let is_blank = |byte: &&u8| **byte == b' ' || **byte == b'\t' && eats_tabs;
            self.mark.offset += self.rest().iter().take_while(is_blank).count();
            if self.at(0) == b'#' {
                self.skip_to_break();
                while self.settings.version == Version::V3 && self.goes_to_comment(true) {
                    self.skip_to_break();
                }
            }
            if self.take_break().is_none() {
                return;
            }
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }

    /// Eats the blanks (and line breaks) before a comment, also tabs, if one follows soon.
    fn goes_to_comment(&mut self, over_lines: bool) -> bool {
        let (mut end, mut seen) = (0, 0);
        while seen < LOOK_AHEAD {
            let width = match self.at(end) {
                byte if is(byte, BLANK) => 1,
                // The library looks at the two characters of CRLF one by one.
                b'\r' if over_lines => 1,
                _ if over_lines => break_width(&self.bytes[self.mark.offset + end..]),
                _ => 0,
            };
            if width == 0 {
                break;
            }
            end += width;
            seen += 1;
        }
        if seen == LOOK_AHEAD || self.at(end) != b'#' {
            return false;
        }
        let end = self.mark.offset + end;
        while self.mark.offset < end {
            if self.take_break().is_none() {
                self.mark.offset += 1;
            }
        }
        true
    }

    /// Eats a comment behind a token, also behind tabs.
    pub(super) fn skip_line_comment(&mut self) {
        if !self.at_line_start && self.goes_to_comment(false) {
            self.skip_to_break();
        }
    }

    /// A word begins here, which may turn out to be a key.
    pub(super) fn start_word(&mut self) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        Ok(())
    }

    fn is_valid(&mut self, key: usize) -> Result<bool, Fault> {
        let SimpleKey {
            possible,
            required,
            mark,
            ..
        } = self.simple_keys[key];
        if !possible {
            return Ok(false);
        }
        if mark.line < self.mark.line || self.is_far_from(mark.offset) {
            if required {
                return self.fault(mark, Problem::ColonMissing);
            }
            self.simple_keys[key].possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    /// Whether a key that begins there is too long.
    fn is_far_from(&self, start: usize) -> bool {
        self.mark.offset - start > LONGEST_KEY
            && self.text[start..self.mark.offset]
                .chars()
                .nth(LONGEST_KEY)
                .is_some()
    }

    fn save_simple_key(&mut self) -> Result<(), Fault> {
        if self.simple_key_allowed {
            let required = self.flow_level == 0 && self.indent == self.column().cast_signed();
            let key = SimpleKey {
                possible: true,
                awaited: true,
                required,
                token: self.taken + self.tokens.len(),
                mark: self.mark,
            };
            self.remove_simple_key()?;
            *self.simple_key() = key;
        }
        Ok(())
    }

    fn simple_key(&mut self) -> &mut SimpleKey {
        self.simple_keys
            .last_mut()
            .expect("internal error: there is a key for the level outside of brackets")
    }

    fn remove_simple_key(&mut self) -> Result<(), Fault> {
        let key = *self.simple_key();
        if key.possible {
            if key.required {
                return self.fault(key.mark, Problem::ColonMissing);
            }
            self.simple_key().possible = false;
        }
        Ok(())
    }

    /// Opens a block at a column, if it is deeper than the last; its token goes before the token of
    /// that number, or to the end.
    fn roll(
        &mut self,
        mark: Mark,
        before: Option<usize>,
        kind: TokenKind<'a>,
    ) -> Result<(), Fault> {
        let column = (mark.offset - mark.line_start).cast_signed();
        if self.flow_level > 0 || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        if self.indents.len() > self.settings.depth {
            let context = self.simple_key().mark;
            return self.fault(context, Problem::TooDeep(self.settings.depth));
        }
        self.insert(
            before,
            Token {
                kind,
                start: mark,
                end: mark,
            },
        );
        Ok(())
    }

    /// Puts a token before that of a number, or to the end, also when that one was taken already.
    fn insert(&mut self, before: Option<usize>, token: Token<'a>) {
        let at = before
            .and_then(|number| number.checked_sub(self.taken))
            .unwrap_or(self.tokens.len());
        self.tokens.insert(at.min(self.tokens.len()), token);
    }

    /// Closes the blocks that are deeper than a column, at a mark.
    fn unroll(&mut self, column: Indent, mark: Mark) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.tokens.push_back(Token {
                kind: TokenKind::BlockEnd,
                start: mark,
                end: mark,
            });
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    fn reset_block(&mut self) -> Result<(), Fault> {
        self.unroll(-1, self.mark);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        Ok(())
    }

    fn fetch_stream_end(&mut self) -> Result<(), Fault> {
        if self.column() != 0 {
            self.mark.line_start = self.mark.offset;
            self.mark.line += 1;
        }
        self.reset_block()?;
        self.push(TokenKind::StreamEnd, self.mark);
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind<'a>) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_keys.push(SimpleKey {
            token: self.taken + self.tokens.len(),
            ..SimpleKey::default()
        });
        self.flow_level += 1;
        if self.flow_level > self.settings.depth {
            return self.fault(self.mark, Problem::TooDeep(self.settings.depth));
        }
        self.simple_key_allowed = true;
        self.indicator(kind, 1);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind<'a>) -> Result<(), Fault> {
        self.remove_simple_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            let closed = self.simple_keys.pop();
            // The library forgets by the number of the token, which empty brackets share with the
            // level around them.
            let around = self.simple_key();
            around.awaited &= closed.is_none_or(|closed| closed.token != around.token);
        }
        self.simple_key_allowed = false;
        self.indicator(kind, 1);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), Fault> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return self.fault(self.mark, Problem::BlockEntryMisplaced);
            }
            self.roll(self.mark, None, TokenKind::BlockSequenceStart)?;
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.indicator(TokenKind::BlockEntry, 1);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), Fault> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return self.fault(self.mark, Problem::KeyMisplaced);
            }
            self.roll(self.mark, None, TokenKind::BlockMappingStart)?;
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = self.flow_level == 0;
        self.indicator(TokenKind::Key, 1);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), Fault> {
        let last = self.simple_keys.len() - 1;
        if self.is_valid(last)? {
            let key = self.simple_keys[last];
            self.insert(
                Some(key.token),
                Token {
                    kind: TokenKind::Key,
                    start: key.mark,
                    end: key.mark,
                },
            );
            self.roll(key.mark, Some(key.token), TokenKind::BlockMappingStart)?;
            self.simple_key().possible = false;
            self.simple_key_allowed = false;
        } else {
            if self.flow_level == 0 {
                if !self.simple_key_allowed {
                    return self.fault(self.mark, Problem::ValueMisplaced);
                }
                self.roll(self.mark, None, TokenKind::BlockMappingStart)?;
            }
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.indicator(TokenKind::Value, 1);
        Ok(())
    }
}
