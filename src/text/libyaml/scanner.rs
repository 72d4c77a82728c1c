//! The scanner: characters to tokens, with the keys that turn out to be keys only at their `:`.

use std::collections::{BTreeMap, VecDeque};

use super::{DEPTH, Fault};

/// A place in the text, all from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) index: usize,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// A token and where it starts and ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: Mark,
    pub(super) end: Mark,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    StreamEnd,
    VersionDirective(u32, u32),
    TagDirective { handle: String, prefix: String },
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
    Alias(String),
    Anchor(String),
    Tag { handle: String, suffix: String },
    Scalar { text: String, plain: bool },
}

/// A word that may turn out to be a key.
#[derive(Debug, Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    required: bool,
    token: usize,
    mark: Mark,
}

/// Columns and indentations are compared; before the first block the indentation is -1.
type Indent = i64;

/// Cuts a text into tokens.
pub(super) struct Scanner {
    text: Vec<char>,
    pub(super) mark: Mark,
    tokens: VecDeque<Token>,
    /// How many tokens were taken.
    taken: usize,
    pub(super) indent: Indent,
    indents: Vec<Indent>,
    pub(super) simple_key_allowed: bool,
    simple_keys: Vec<SimpleKey>,
    /// Possible keys by the number of their token.
    keys_by_token: BTreeMap<usize, usize>,
    pub(super) flow_level: usize,
    /// Whether nothing but blanks stands before in this line.
    at_line_start: bool,
}

/// Whether a character is a line break for YAML 1.1.
pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

pub(super) fn is_break_or_end(c: char) -> bool {
    is_break(c) || c == '\0'
}

pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

pub(super) fn is_blank_or_end(c: char) -> bool {
    is_blank(c) || is_break_or_end(c)
}

impl Scanner {
    pub(super) fn new(text: Vec<char>) -> Self {
        Scanner {
            text,
            mark: Mark::default(),
            tokens: VecDeque::new(),
            taken: 0,
            indent: -1,
            indents: Vec::new(),
            simple_key_allowed: true,
            simple_keys: vec![SimpleKey::default()],
            keys_by_token: BTreeMap::new(),
            flow_level: 0,
            at_line_start: false,
        }
    }

    /// The next token.
    pub(super) fn peek(&mut self) -> Result<&Token, Fault> {
        // The library looks ahead by two tokens, for its comments.
        while self.tokens.len() <= 2 || self.head_may_be_key()? {
            self.fetch()?;
        }
        Ok(&self.tokens[0])
    }

    /// Takes the token that was peeked at.
    pub(super) fn take(&mut self) -> Option<Token> {
        self.taken += 1;
        self.tokens.pop_front()
    }

    fn head_may_be_key(&mut self) -> Result<bool, Fault> {
        match self.keys_by_token.get(&self.taken) {
            Some(key) => self.is_valid(*key),
            None => Ok(false),
        }
    }

    /// A character from here on; `\0` behind the end.
    pub(super) fn at(&self, ahead: usize) -> char {
        self.text.get(self.mark.index + ahead).copied().unwrap_or('\0')
    }

    pub(super) fn skip(&mut self) {
        if !is_blank(self.at(0)) {
            self.at_line_start = false;
        }
        self.mark.index += 1;
        self.mark.column += 1;
    }

    pub(super) fn skip_line(&mut self) {
        if is_break(self.at(0)) {
            self.mark.index += if self.at(0) == '\r' && self.at(1) == '\n' { 2 } else { 1 };
            self.mark.column = 0;
            self.mark.line += 1;
            self.at_line_start = true;
        }
    }

    /// Takes a line break; all but U+2028 and U+2029 become `\n`.
    pub(super) fn read_line(&mut self, out: &mut String) {
        match self.at(0) {
            c @ ('\u{2028}' | '\u{2029}') => out.push(c),
            c if is_break(c) => out.push('\n'),
            _ => return,
        }
        self.skip_line();
    }

    pub(super) fn read(&mut self, out: &mut String) {
        out.push(self.at(0));
        self.skip();
    }

    /// A fault of the scanner: the line is that of `context`, unless that is the first.
    pub(super) fn fault<T>(&self, context: Mark, problem: &str) -> Result<T, Fault> {
        let line = if context.line != 0 { context.line } else { self.mark.line };
        let place = if line == 0 { String::new() } else { format!("line {}: ", line + 1) };
        Err(Fault { message: format!("{place}{problem}"), line: self.mark.line + 1 })
    }

    fn push(&mut self, kind: TokenKind, start: Mark) {
        let end = self.mark;
        self.tokens.push_back(Token { kind, start, end });
    }

    /// A token of that many characters.
    fn indicator(&mut self, kind: TokenKind, width: usize) {
        let start = self.mark;
        (0..width).for_each(|_| self.skip());
        self.push(kind, start);
    }

    fn fetch(&mut self) -> Result<(), Fault> {
        let before = self.mark;
        self.skip_to_token();
        self.unroll(Indent::from(self.mark.column), before);
        let c = self.at(0);
        if c == '\0' {
            return self.fetch_stream_end();
        }
        if self.mark.column == 0 && c == '%' {
            self.reset_block()?;
            let token = self.directive()?;
            self.tokens.push_back(token);
            return Ok(());
        }
        if self.at_document_mark() {
            self.reset_block()?;
            self.indicator(if c == '-' { TokenKind::DocumentStart } else { TokenKind::DocumentEnd }, 3);
            return Ok(());
        }
        self.fetch_content(c)?;
        if c != '-' || !matches!(self.tokens.back(), Some(Token { kind: TokenKind::BlockEntry, .. })) {
            self.skip_line_comment();
        }
        Ok(())
    }

    fn fetch_content(&mut self, c: char) -> Result<(), Fault> {
        let blank_follows = is_blank_or_end(self.at(1));
        match c {
            '[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            '{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            ']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            '}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            ',' => {
                self.remove_simple_key()?;
                self.simple_key_allowed = true;
                self.indicator(TokenKind::FlowEntry, 1);
                Ok(())
            }
            '-' if blank_follows => self.fetch_block_entry(),
            '?' if self.flow_level > 0 || blank_follows => self.fetch_key(),
            ':' if self.flow_level > 0 || blank_follows => self.fetch_value(),
            '*' | '&' => {
                self.start_word()?;
                let token = self.anchor()?;
                self.tokens.push_back(token);
                Ok(())
            }
            '!' => {
                self.start_word()?;
                let token = self.tag()?;
                self.tokens.push_back(token);
                Ok(())
            }
            '|' | '>' if self.flow_level == 0 => {
                self.remove_simple_key()?;
                self.simple_key_allowed = true;
                let token = self.block_scalar(c == '|')?;
                self.tokens.push_back(token);
                Ok(())
            }
            '\'' | '"' => {
                self.start_word()?;
                let token = self.quoted_scalar(c == '\'')?;
                self.tokens.push_back(token);
                Ok(())
            }
            _ if self.starts_plain(c) => {
                self.start_word()?;
                let token = self.plain_scalar()?;
                self.tokens.push_back(token);
                Ok(())
            }
            _ => self.fault(self.mark, "found character that cannot start any token"),
        }
    }

    fn starts_plain(&self, c: char) -> bool {
        let is_indicator = is_blank_or_end(c) || "-?:,[]{}#&*!|>'\"%@`".contains(c);
        !is_indicator || c == '-' && !is_blank(self.at(1)) || self.flow_level == 0 && matches!(c, '?' | ':') && !is_blank_or_end(self.at(1))
    }

    /// Whether `---` or `...` stands here, at the start of a line.
    pub(super) fn at_document_mark(&self) -> bool {
        let c = self.at(0);
        self.mark.column == 0 && matches!(c, '-' | '.') && self.at(1) == c && self.at(2) == c && is_blank_or_end(self.at(3))
    }

    /// Eats blanks, comments and line breaks.
    fn skip_to_token(&mut self) {
        loop {
            while self.at(0) == ' ' || (self.flow_level > 0 || !self.simple_key_allowed) && self.at(0) == '\t' {
                self.skip();
            }
            if self.at(0) == '#' {
                self.skip_comments();
            }
            if !is_break(self.at(0)) {
                return;
            }
            self.skip_line();
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }

    /// Eats a comment and those in the lines below, also behind tabs.
    fn skip_comments(&mut self) {
        loop {
            self.skip_comment();
            let gap = (0..512).find(|ahead| !is_blank(self.at(*ahead)) && !is_break(self.at(*ahead))).unwrap_or_default();
            if self.at(gap) != '#' {
                return;
            }
            let end = self.mark.index + gap;
            while self.mark.index < end {
                if is_break(self.at(0)) { self.skip_line() } else { self.skip() }
            }
        }
    }

    /// Eats a comment behind a token, also behind tabs.
    fn skip_line_comment(&mut self) {
        let gap = (0..512).find(|ahead| !is_blank(self.at(*ahead))).unwrap_or_default();
        if !self.at_line_start && self.at(gap) == '#' {
            (0..gap).for_each(|_| self.skip());
            self.skip_comment();
        }
    }

    pub(super) fn skip_comment(&mut self) {
        while !is_break_or_end(self.at(0)) {
            self.skip();
        }
    }

    fn start_word(&mut self) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        Ok(())
    }

    fn is_valid(&mut self, key: usize) -> Result<bool, Fault> {
        let SimpleKey { possible, required, mark, .. } = self.simple_keys[key];
        if !possible {
            return Ok(false);
        }
        if mark.line < self.mark.line || mark.index + 1024 < self.mark.index {
            if required {
                return self.fault(mark, "could not find expected ':'");
            }
            self.simple_keys[key].possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    fn save_simple_key(&mut self) -> Result<(), Fault> {
        let required = self.flow_level == 0 && self.indent == Indent::from(self.mark.column);
        if self.simple_key_allowed {
            let key = SimpleKey { possible: true, required, token: self.taken + self.tokens.len(), mark: self.mark };
            self.remove_simple_key()?;
            let last = self.simple_keys.len() - 1;
            self.simple_keys[last] = key;
            self.keys_by_token.insert(key.token, last);
        }
        Ok(())
    }

    fn remove_simple_key(&mut self) -> Result<(), Fault> {
        let last = self.simple_keys.len() - 1;
        let key = self.simple_keys[last];
        if key.possible {
            if key.required {
                return self.fault(key.mark, "could not find expected ':'");
            }
            self.simple_keys[last].possible = false;
            self.keys_by_token.remove(&key.token);
        }
        Ok(())
    }

    /// Opens a block at a column, if it is deeper than the last; its token goes before the token of that number, or to the end.
    fn roll(&mut self, column: u32, before: Option<usize>, kind: TokenKind, mark: Mark) -> Result<(), Fault> {
        if self.flow_level > 0 || self.indent >= Indent::from(column) {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = Indent::from(column);
        if self.indents.len() > DEPTH {
            return self.fault(self.mark, &format!("exceeded max depth of {DEPTH}"));
        }
        let token = Token { kind, start: mark, end: mark };
        self.insert(before, token);
        Ok(())
    }

    /// Puts a token before that of a number, or to the end, also when that one was taken already.
    fn insert(&mut self, before: Option<usize>, token: Token) {
        let at = before.and_then(|number| number.checked_sub(self.taken)).unwrap_or(self.tokens.len());
        self.tokens.insert(at.min(self.tokens.len()), token);
    }

    /// Closes the blocks that are deeper than a column, at a mark.
    fn unroll(&mut self, column: Indent, mark: Mark) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.tokens.push_back(Token { kind: TokenKind::BlockEnd, start: mark, end: mark });
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
        if self.mark.column != 0 {
            self.mark.column = 0;
            self.mark.line += 1;
        }
        self.reset_block()?;
        self.push(TokenKind::StreamEnd, self.mark);
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_keys.push(SimpleKey { token: self.taken + self.tokens.len(), ..SimpleKey::default() });
        self.flow_level += 1;
        if self.flow_level > DEPTH {
            return self.fault(self.mark, &format!("exceeded max depth of {DEPTH}"));
        }
        self.simple_key_allowed = true;
        self.indicator(kind, 1);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind) -> Result<(), Fault> {
        self.remove_simple_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            if let Some(key) = self.simple_keys.pop() {
                self.keys_by_token.remove(&key.token);
            }
        }
        self.simple_key_allowed = false;
        self.indicator(kind, 1);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), Fault> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return self.fault(self.mark, "block sequence entries are not allowed in this context");
            }
            self.roll(self.mark.column, None, TokenKind::BlockSequenceStart, self.mark)?;
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.indicator(TokenKind::BlockEntry, 1);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), Fault> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return self.fault(self.mark, "mapping keys are not allowed in this context");
            }
            self.roll(self.mark.column, None, TokenKind::BlockMappingStart, self.mark)?;
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
            let token = Token { kind: TokenKind::Key, start: key.mark, end: key.mark };
            self.insert(Some(key.token), token);
            self.roll(key.mark.column, Some(key.token), TokenKind::BlockMappingStart, key.mark)?;
            self.simple_keys[last].possible = false;
            self.keys_by_token.remove(&key.token);
            self.simple_key_allowed = false;
        } else {
            if self.flow_level == 0 {
                if !self.simple_key_allowed {
                    return self.fault(self.mark, "mapping values are not allowed in this context");
                }
                self.roll(self.mark.column, None, TokenKind::BlockMappingStart, self.mark)?;
            }
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.indicator(TokenKind::Value, 1);
        Ok(())
    }
}
