//! The tokens of the substitution grammar. A port of the reference's scanner with its quirks: what
//! is accepted depends on a mode and a predicate that the parser sets, `unread` goes back by the
//! width of the last character looked at, and NUL ends the input.

use std::ops::Range;

use windlass_go_text::rune;

/// What a token may be; a set of bits.
pub(super) type Mode = u8;

pub(super) const IDENT: Mode = 1;
pub(super) const OPEN: Mode = 2;
pub(super) const CLOSE: Mode = 4;
/// `$$` stands for `$`.
pub(super) const ESCAPED_DOLLAR: Mode = 8;
/// `\/` stands for `/` and `\\` for `\`.
pub(super) const ESCAPED_BACKSLASH: Mode = 16;

/// What continues an identifier.
#[derive(Clone, Copy)]
pub(super) enum Accept {
    All,
    /// Characters of which this holds; the number counts the bytes of the token up to and with the
    /// character.
    If(fn(char, usize) -> bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Illegal,
    End,
    Ident,
    Open,
    Close,
}

/// A stretch of the template without the bytes that escapes drop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub(super) range: Range<usize>,
    /// Index range into the list of dropped offsets.
    pub(super) dropped: Range<usize>,
}

pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    start: usize,
    width: usize,
    dropped: Vec<usize>,
    dropped_before: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Scanner {
            text,
            at: 0,
            start: 0,
            width: 0,
            dropped: Vec::new(),
            dropped_before: 0,
        }
    }

    /// Where the last token begins.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn token(&self) -> &'a [u8] {
        &self.text[self.start..self.at]
    }

    pub(super) fn token_text(&self) -> Text {
        Text {
            range: self.start..self.at,
            dropped: self.dropped_before..self.dropped.len(),
        }
    }

    /// The offsets of all bytes that escapes dropped.
    pub(super) fn into_dropped(self) -> Vec<usize> {
        self.dropped
    }

    pub(super) fn read(&mut self) -> char {
        let (rune, width) = rune::decode(&self.text[self.at..]);
        self.width = width;
        self.at += width;
        rune
    }

    pub(super) fn unread(&mut self) {
        self.at -= self.width;
    }

    pub(super) fn peek(&mut self) -> char {
        let rune = self.read();
        self.unread();
        rune
    }

    pub(super) fn scan(&mut self, mode: Mode, accept: Accept) -> Token {
        self.start = self.at;
        self.dropped_before = self.dropped.len();
        match self.read() {
            '\0' => Token::End,
            rune if self.opens(mode, rune) => Token::Open,
            '}' if mode & CLOSE != 0 => Token::Close,
            rune if mode & IDENT != 0 && self.ident(mode, accept, rune) => Token::Ident,
            _ => Token::Illegal,
        }
    }

    fn ident(&mut self, mode: Mode, accept: Accept, first: char) -> bool {
        if self.escapes(mode, first) {
            self.drop_escape();
        } else if !self.takes(accept, first) {
            return false;
        }
        loop {
            if matches!(accept, Accept::All) {
                self.skip_plain();
            }
            let rune = self.read();
            if rune == '\0' {
                self.unread();
                break;
            }
            if self.opens(mode, rune) {
                self.at -= "${".len();
                break;
            }
            if self.escapes(mode, rune) {
                self.drop_escape();
            } else if !self.takes(accept, rune) {
                self.unread();
                break;
            }
        }
        true
    }

    /// Whether the character just read continues the token.
    fn takes(&self, accept: Accept, rune: char) -> bool {
        match accept {
            Accept::All => true,
            Accept::If(accept) => accept(rune, self.at - self.start),
        }
    }

    /// Goes on to what can end a token that takes everything, or is an escape in it. Nearly all of
    /// a template is skipped so.
    fn skip_plain(&mut self) {
        let rest = &self.text[self.at..];
        self.at += memchr::memchr3(b'$', b'\\', b'\0', rest).unwrap_or(rest.len());
    }

    /// Whether the character just read and the next one are `${`; if so, both are read.
    fn opens(&mut self, mode: Mode, rune: char) -> bool {
        if mode & OPEN == 0 || rune != '$' {
            return false;
        }
        if self.read() == '{' {
            return true;
        }
        self.unread();
        false
    }

    fn escapes(&mut self, mode: Mode, rune: char) -> bool {
        match rune {
            '$' if mode & ESCAPED_DOLLAR != 0 => self.peek() == '$',
            '\\' if mode & ESCAPED_BACKSLASH != 0 => matches!(self.peek(), '/' | '\\'),
            _ => false,
        }
    }

    /// Drops the byte just read and takes the next one whatever it is.
    fn drop_escape(&mut self) {
        self.dropped.push(self.at - 1);
        self.at += 1;
    }
}
