//! Scalars: blocks, quoted texts, plain words.

use super::Fault;
use super::scanner::{Mark, Scanner, Token, TokenKind, is_blank, is_blank_or_end, is_break, is_break_or_end};

/// What becomes of the line breaks at the end of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

/// Line breaks and blanks between two words.
#[derive(Default)]
struct Gap {
    leading_break: String,
    trailing_breaks: String,
    whitespaces: String,
    /// Whether a line began in the gap.
    new_line: bool,
}

impl Gap {
    /// Writes the gap into the text: one line break folds to a blank.
    fn join(&mut self, out: &mut String) {
        if self.new_line {
            if self.leading_break.starts_with('\n') {
                out.push_str(if self.trailing_breaks.is_empty() { " " } else { &self.trailing_breaks });
            } else {
                out.push_str(&self.leading_break);
                out.push_str(&self.trailing_breaks);
            }
            self.leading_break.clear();
            self.trailing_breaks.clear();
            self.new_line = false;
        } else {
            out.push_str(&self.whitespaces);
            self.whitespaces.clear();
        }
    }

    /// Takes a blank or a line break.
    fn take(&mut self, scanner: &mut Scanner) {
        if is_blank(scanner.at(0)) {
            if self.new_line { scanner.skip() } else { scanner.read(&mut self.whitespaces) }
        } else if self.new_line {
            scanner.read_line(&mut self.trailing_breaks);
        } else {
            self.whitespaces.clear();
            scanner.read_line(&mut self.leading_break);
            self.new_line = true;
        }
    }
}

impl Scanner {
    fn scalar(&self, text: String, plain: bool, start: Mark, end: Mark) -> Token {
        Token { kind: TokenKind::Scalar { text, plain }, start, end }
    }

    /// The signs behind `|` or `>`: what becomes of the end, and how much deeper the text is indented, 0 when that is not said.
    fn block_header(&mut self, start: Mark) -> Result<(Chomping, u32), Fault> {
        let (mut chomping, mut increment) = (None, None);
        for _ in 0..2 {
            match self.at(0) {
                c @ ('+' | '-') if chomping.is_none() => chomping = Some(if c == '+' { Chomping::Keep } else { Chomping::Strip }),
                '0' if increment.is_none() => return self.fault(start, "found an indentation indicator equal to 0"),
                c @ '1'..='9' if increment.is_none() => increment = c.to_digit(10),
                _ => break,
            }
            self.skip();
        }
        while is_blank(self.at(0)) {
            self.skip();
        }
        if self.at(0) == '#' {
            self.skip_comment();
        }
        if !is_break_or_end(self.at(0)) {
            return self.fault(start, "did not find expected comment or line break");
        }
        self.skip_line();
        Ok((chomping.unwrap_or(Chomping::Clip), increment.unwrap_or_default()))
    }

    pub(super) fn block_scalar(&mut self, literal: bool) -> Result<Token, Fault> {
        let start = self.mark;
        self.skip();
        let (chomping, increment) = self.block_header(start)?;
        let parent = u32::try_from(self.indent).unwrap_or_default();
        let mut indent = if increment > 0 { parent + increment } else { 0 };
        let (mut text, mut leading_break, mut trailing_breaks) = (String::new(), String::new(), String::new());
        let mut end = self.block_breaks(&mut indent, &mut trailing_breaks, start)?;
        let mut leading_blank = false;
        while self.mark.column == indent && self.at(0) != '\0' {
            let trailing_blank = is_blank(self.at(0));
            if !literal && !leading_blank && !trailing_blank && leading_break.starts_with('\n') {
                if trailing_breaks.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(&leading_break);
            }
            leading_break.clear();
            text.push_str(&trailing_breaks);
            trailing_breaks.clear();
            leading_blank = is_blank(self.at(0));
            while !is_break_or_end(self.at(0)) {
                self.read(&mut text);
            }
            self.read_line(&mut leading_break);
            end = self.block_breaks(&mut indent, &mut trailing_breaks, start)?;
        }
        if chomping != Chomping::Strip {
            text.push_str(&leading_break);
        }
        if chomping == Chomping::Keep {
            text.push_str(&trailing_breaks);
        }
        Ok(self.scalar(text, false, start, end))
    }

    /// Eats empty lines and indentation, and finds out the indentation with the first of them. Gives where the last line break ends.
    fn block_breaks(&mut self, indent: &mut u32, breaks: &mut String, start: Mark) -> Result<Mark, Fault> {
        let mut end = self.mark;
        let mut deepest = 0;
        loop {
            while (*indent == 0 || self.mark.column < *indent) && self.at(0) == ' ' {
                self.skip();
            }
            deepest = deepest.max(self.mark.column);
            if (*indent == 0 || self.mark.column < *indent) && self.at(0) == '\t' {
                return self.fault(start, "found a tab character where an indentation space is expected");
            }
            if !is_break(self.at(0)) {
                break;
            }
            self.read_line(breaks);
            end = self.mark;
        }
        if *indent == 0 {
            *indent = deepest.max(u32::try_from(self.indent + 1).unwrap_or_default()).max(1);
        }
        Ok(end)
    }

    pub(super) fn quoted_scalar(&mut self, single: bool) -> Result<Token, Fault> {
        let quote = if single { '\'' } else { '"' };
        let start = self.mark;
        self.skip();
        let mut text = String::new();
        let mut gap = Gap::default();
        loop {
            if self.at_document_mark() {
                return self.fault(start, "found unexpected document indicator");
            }
            if self.at(0) == '\0' {
                return self.fault(start, "found unexpected end of stream");
            }
            while !is_blank_or_end(self.at(0)) {
                if single && self.at(0) == '\'' && self.at(1) == '\'' {
                    text.push('\'');
                    self.skip();
                    self.skip();
                } else if self.at(0) == quote {
                    break;
                } else if !single && self.at(0) == '\\' && is_break(self.at(1)) {
                    self.skip();
                    self.skip_line();
                    gap.new_line = true;
                    break;
                } else if !single && self.at(0) == '\\' {
                    text.push(self.escape(start)?);
                } else {
                    self.read(&mut text);
                }
            }
            if self.at(0) == quote {
                break;
            }
            while is_blank(self.at(0)) || is_break(self.at(0)) {
                gap.take(self);
            }
            gap.join(&mut text);
        }
        self.skip();
        Ok(self.scalar(text, false, start, self.mark))
    }

    /// The character of an escape in double quotes.
    fn escape(&mut self, start: Mark) -> Result<char, Fault> {
        let (c, digits) = match self.at(1) {
            '0' => ('\0', 0),
            'a' => ('\u{7}', 0),
            'b' => ('\u{8}', 0),
            't' | '\t' => ('\t', 0),
            'n' => ('\n', 0),
            'v' => ('\u{b}', 0),
            'f' => ('\u{c}', 0),
            'r' => ('\r', 0),
            'e' => ('\u{1b}', 0),
            c @ (' ' | '"' | '\'' | '\\') => (c, 0),
            'N' => ('\u{85}', 0),
            '_' => ('\u{a0}', 0),
            'L' => ('\u{2028}', 0),
            'P' => ('\u{2029}', 0),
            'x' => ('\0', 2),
            'u' => ('\0', 4),
            'U' => ('\0', 8),
            _ => return self.fault(start, "found unknown escape character"),
        };
        self.skip();
        self.skip();
        if digits == 0 {
            return Ok(c);
        }
        let mut value: u32 = 0;
        for ahead in 0..digits {
            let Some(digit) = self.at(ahead).to_digit(16) else {
                return self.fault(start, "did not find expected hexdecimal number");
            };
            value = value << 4 | digit;
        }
        let Some(c) = char::from_u32(value) else {
            return self.fault(start, "found invalid Unicode character escape code");
        };
        (0..digits).for_each(|_| self.skip());
        Ok(c)
    }

    pub(super) fn plain_scalar(&mut self) -> Result<Token, Fault> {
        let start = self.mark;
        let mut end = self.mark;
        let indent = self.indent + 1;
        let mut text = String::new();
        let mut gap = Gap::default();
        loop {
            if self.at_document_mark() || self.at(0) == '#' {
                break;
            }
            while !is_blank_or_end(self.at(0)) {
                let c = self.at(0);
                if c == ':' && is_blank_or_end(self.at(1)) || self.flow_level > 0 && ",?[]{}".contains(c) {
                    break;
                }
                gap.join(&mut text);
                self.read(&mut text);
                end = self.mark;
            }
            if !(is_blank(self.at(0)) || is_break(self.at(0))) {
                break;
            }
            while is_blank(self.at(0)) || is_break(self.at(0)) {
                if gap.new_line && i64::from(self.mark.column) < indent && self.at(0) == '\t' {
                    return self.fault(start, "found a tab character that violates indentation");
                }
                gap.take(self);
            }
            if self.flow_level == 0 && i64::from(self.mark.column) < indent {
                break;
            }
        }
        if gap.new_line {
            self.simple_key_allowed = true;
        }
        Ok(self.scalar(text, true, start, end))
    }
}
