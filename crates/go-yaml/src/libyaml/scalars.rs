//! Scalars: blocks, quoted texts, plain words. What is in the text as it is read is not copied.

use std::borrow::Cow;

use super::bytes::{BLANK, BREAK, COLON, FLOW, break_width, is};
use super::scanner::{Indent, Scanner, TokenKind};
use super::{Fault, Mark, Problem, Style};

/// What becomes of the line breaks at the end of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

/// Line breaks between two lines of one text.
#[derive(Default)]
struct Gap {
    first: Option<char>,
    others: String,
    /// Whether a line began in the gap.
    new_line: bool,
}

impl Gap {
    /// Writes the gap into the text: one line break folds to a blank.
    fn join(&mut self, out: &mut String) {
        match self.first.take() {
            Some('\n') if self.others.is_empty() => out.push(' '),
            Some('\n') | None => {}
            Some(first) => out.push(first),
        }
        out.push_str(&self.others);
        self.others.clear();
        self.new_line = false;
    }

    fn take_break(&mut self, scanner: &mut Scanner<'_>) -> bool {
        let Some(taken) = scanner.take_break() else {
            return false;
        };
        if self.new_line {
            self.others.push(taken);
        } else {
            self.first = Some(taken);
            self.new_line = true;
        }
        true
    }
}

impl<'a> Scanner<'a> {
    fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.mark.offset]
    }

    /// The signs behind `|` or `>`: what becomes of the end, and how much deeper the text is
    /// indented, 0 when that is not said.
    fn block_header(&mut self, start: Mark) -> Result<(Chomping, usize), Fault> {
        let (mut chomping, mut increment) = (None, None);
        for _ in 0..2 {
            match self.at(0) {
                b'+' if chomping.is_none() => chomping = Some(Chomping::Keep),
                b'-' if chomping.is_none() => chomping = Some(Chomping::Strip),
                b'0' if increment.is_none() => return self.fault(start, Problem::BlockIndentZero),
                digit @ b'1'..=b'9' if increment.is_none() => {
                    increment = Some(usize::from(digit - b'0'))
                }
                _ => break,
            }
            self.skip(1);
        }
        self.skip_blanks();
        if self.at(0) == b'#' {
            self.skip_to_break();
        }
        if !self.is_break_or_end() {
            return self.fault(start, Problem::BlockHeader);
        }
        self.take_break();
        Ok((
            chomping.unwrap_or(Chomping::Clip),
            increment.unwrap_or_default(),
        ))
    }

    pub(super) fn block_scalar(&mut self, literal: bool) -> Result<(), Fault> {
        let start = self.mark;
        self.skip(1);
        let (chomping, increment) = self.block_header(start)?;
        let parent = usize::try_from(self.indent).unwrap_or_default();
        let mut indent = if increment > 0 { parent + increment } else { 0 };
        let (mut text, mut leading_break, mut trailing_breaks) =
            (String::new(), None, String::new());
        let mut end = self.block_breaks(&mut indent, &mut trailing_breaks, start)?;
        let mut leading_blank = false;
        while self.column() == indent && !self.is_end() {
            let trailing_blank = self.is_blank();
            match leading_break.take() {
                Some('\n') if !literal && !leading_blank && !trailing_blank => {
                    text.extend(trailing_breaks.is_empty().then_some(' '))
                }
                Some(first) => text.push(first),
                None => {}
            }
            text.push_str(&trailing_breaks);
            trailing_breaks.clear();
            leading_blank = trailing_blank;
            let line = self.mark.offset;
            self.skip_to_break();
            text.push_str(self.since(line));
            leading_break = self.take_break();
            end = self.block_breaks(&mut indent, &mut trailing_breaks, start)?;
        }
        text.extend(leading_break.filter(|_| chomping != Chomping::Strip));
        if chomping == Chomping::Keep {
            text.push_str(&trailing_breaks);
        }
        self.push_to(
            TokenKind::Scalar(Cow::Owned(text), Style::Block),
            start,
            end,
        );
        Ok(())
    }

    /// Eats empty lines and indentation, and finds out the indentation with the first of them.
    /// Gives where the last line break ends.
    fn block_breaks(
        &mut self,
        indent: &mut usize,
        breaks: &mut String,
        start: Mark,
    ) -> Result<Mark, Fault> {
        let mut end = self.mark;
        let mut deepest = 0;
        loop {
            let most = if *indent == 0 {
                usize::MAX
            } else {
                indent.saturating_sub(self.column())
            };
            self.mark.offset += self
                .rest()
                .iter()
                .take(most)
                .take_while(|byte| **byte == b' ')
                .count();
            deepest = deepest.max(self.column());
            if self.at(0) == b'\t' && (*indent == 0 || self.column() < *indent) {
                return self.fault(start, Problem::BlockTab);
            }
            let Some(taken) = self.take_break() else {
                break;
            };
            breaks.push(taken);
            end = self.mark;
        }
        if *indent == 0 {
            *indent = deepest
                .max(usize::try_from(self.indent + 1).unwrap_or_default())
                .max(1);
        }
        Ok(end)
    }

    pub(super) fn quoted_scalar(&mut self, quote: u8) -> Result<(), Fault> {
        self.start_word()?;
        let start = self.mark;
        self.skip(1);
        let text = match self.simply_quoted(quote) {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.quoted_text(quote, start)?),
        };
        self.skip(1);
        self.push(TokenKind::Scalar(text, Style::Quoted), start);
        Ok(())
    }

    /// A text in quotes that is on one line as it is read; the scanner then is at the closing
    /// quote.
    fn simply_quoted(&mut self, quote: u8) -> Option<&'a str> {
        let is_special =
            |byte: &u8| *byte == quote || *byte == b'\\' && quote == b'"' || is(*byte, BREAK);
        let rest = self.rest();
        let mut end = rest.iter().position(is_special)?;
        // Some characters begin like a line break.
        while rest[end] != quote {
            if !matches!(rest[end], 0xc2 | 0xe2) || break_width(&rest[end..]) > 0 {
                return None;
            }
            end += 1 + rest[end + 1..].iter().position(is_special)?;
        }
        if quote == b'\'' && rest.get(end + 1) == Some(&b'\'') {
            return None;
        }
        let text = &self.text[self.mark.offset..self.mark.offset + end];
        self.skip(end);
        Some(text)
    }

    fn quoted_text(&mut self, quote: u8, start: Mark) -> Result<String, Fault> {
        let mut text = String::new();
        let mut gap = Gap::default();
        loop {
            if self.at_document_mark() {
                return self.fault(start, Problem::QuoteAtDocument);
            }
            if self.is_end() {
                return self.fault(start, Problem::QuoteAtEnd);
            }
            self.quoted_line(quote, start, &mut text, &mut gap)?;
            if self.at(0) == quote {
                return Ok(text);
            }
            loop {
                // Before the first line break there are none left.
                self.skip_blanks();
                if !gap.take_break(self) {
                    break;
                }
            }
            if gap.new_line {
                gap.join(&mut text);
            }
        }
    }

    /// A line of a text in quotes, up to its last word.
    fn quoted_line(
        &mut self,
        quote: u8,
        start: Mark,
        text: &mut String,
        gap: &mut Gap,
    ) -> Result<(), Fault> {
        loop {
            let from = self.mark.offset;
            let is_special =
                |byte: u8| byte == quote || byte == b'\\' && quote == b'"' || is(byte, BREAK);
            while !is_special(self.at(0)) || matches!(self.at(0), 0xc2 | 0xe2) && !self.is_break() {
                self.skip(1);
            }
            let words = self.since(from);
            if self.is_break() {
                text.push_str(words.trim_end_matches([' ', '\t']));
                return Ok(());
            }
            text.push_str(words);
            match self.at(0) {
                0 => return Ok(()),
                b'\'' if quote == b'\'' && self.at(1) == b'\'' => {
                    text.push('\'');
                    self.skip(2);
                }
                b'\\' if self.is_break_at(1) => {
                    self.skip(1);
                    self.take_break();
                    gap.new_line = true;
                    return Ok(());
                }
                b'\\' => text.push(self.escape(start)?),
                _ => return Ok(()),
            }
        }
    }

    /// The character of an escape in double quotes.
    fn escape(&mut self, start: Mark) -> Result<char, Fault> {
        let (character, digits) = match self.at(1) {
            b'0' => ('\0', 0),
            b'a' => ('\u{7}', 0),
            b'b' => ('\u{8}', 0),
            b't' | b'\t' => ('\t', 0),
            b'n' => ('\n', 0),
            b'v' => ('\u{b}', 0),
            b'f' => ('\u{c}', 0),
            b'r' => ('\r', 0),
            b'e' => ('\u{1b}', 0),
            byte @ (b' ' | b'"' | b'\'' | b'\\') => (char::from(byte), 0),
            b'N' => ('\u{85}', 0),
            b'_' => ('\u{a0}', 0),
            b'L' => ('\u{2028}', 0),
            b'P' => ('\u{2029}', 0),
            b'x' => ('\0', 2),
            b'u' => ('\0', 4),
            b'U' => ('\0', 8),
            _ => return self.fault(start, Problem::EscapeUnknown),
        };
        if digits == 0 {
            self.skip(2);
            return Ok(character);
        }
        let mut value: u32 = 0;
        for ahead in 2..2 + digits {
            let Some(digit) = char::from(self.at(ahead)).to_digit(16) else {
                return self.fault(start, Problem::EscapeDigits);
            };
            value = value << 4 | digit;
        }
        let Some(character) = char::from_u32(value) else {
            return self.fault(start, Problem::EscapeCode);
        };
        self.skip(2 + digits);
        Ok(character)
    }

    pub(super) fn plain_scalar(&mut self) -> Result<(), Fault> {
        self.start_word()?;
        let start = self.mark;
        let indent: Indent = self.indent + 1;
        let mut end = self.plain_line();
        let mut text = Cow::Borrowed(&self.text[start.offset..end.offset]);
        let mut gap = Gap::default();
        while self.is_break() {
            loop {
                while self.is_blank() {
                    if gap.new_line && self.at(0) == b'\t' && self.column().cast_signed() < indent {
                        return self.fault(start, Problem::PlainTab);
                    }
                    self.mark.offset += 1;
                }
                if !gap.take_break(self) {
                    break;
                }
            }
            let is_dedented = self.flow_level == 0 && self.column().cast_signed() < indent;
            if is_dedented || self.at_document_mark() || self.at(0) == b'#' || self.ends_plain() {
                break;
            }
            let text = text.to_mut();
            gap.join(text);
            let from = self.mark.offset;
            end = self.plain_line();
            text.push_str(&self.text[from..end.offset]);
        }
        if gap.new_line {
            self.simple_key_allowed = true;
        }
        self.push_to(TokenKind::Scalar(text, Style::Plain), start, end);
        Ok(())
    }

    /// Whether a plain word ends here, or the text does.
    fn ends_plain(&self) -> bool {
        let byte = self.at(0);
        byte == 0
            || byte == b':' && self.is_blank_or_end_at(1)
            || self.flow_level > 0 && is(byte, FLOW)
    }

    /// The words of a line: gives the end of the last one, and leaves the scanner behind the blanks
    /// after it.
    fn plain_line(&mut self) -> Mark {
        let stops = BREAK | BLANK | COLON | if self.flow_level > 0 { FLOW } else { 0 };
        let bytes = self.bytes;
        let mut at = self.mark.offset;
        let mut end = at;
        loop {
            let word = at;
            while at < bytes.len() && !is(bytes[at], stops) {
                at += 1;
            }
            if at > word {
                end = at;
            }
            let byte = bytes.get(at).copied().unwrap_or_default();
            if is(byte, BLANK) {
                while bytes.get(at).is_some_and(|byte| is(*byte, BLANK)) {
                    at += 1;
                }
                if bytes.get(at) == Some(&b'#') {
                    break;
                }
                continue;
            }
            let goes_on = match byte {
                b':' => {
                    self.mark.offset = at;
                    !self.is_blank_or_end_at(1)
                }
                0xc2 | 0xe2 => break_width(&bytes[at..]) == 0,
                _ => false,
            };
            if !goes_on {
                break;
            }
            at += 1;
            end = at;
        }
        self.at_line_start = false;
        self.mark.offset = end;
        let word_end = self.mark;
        self.mark.offset = at;
        word_end
    }
}
