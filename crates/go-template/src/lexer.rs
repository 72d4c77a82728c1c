//! From a template to its tokens: Go's `text/template/parse/lex.go`.

use windlass_go_text::quote::{is_printable, quote};
use windlass_go_text::rune::is_name;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Error,
    Bool,
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    End,
    Field,
    Identifier,
    LeftDelimiter,
    LeftParenthesis,
    Number,
    Pipe,
    RawString,
    RightDelimiter,
    RightParenthesis,
    Space,
    String,
    Text,
    Variable,
    Keyword(Keyword),
}

/// The words that mean something to the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    Dot,
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Range,
    Nil,
    Template,
    With,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Where it begins, in bytes.
    pub(super) at: usize,
    /// Its text; of an error the message.
    pub(super) text: String,
    /// Its line, from 1.
    pub(super) line: usize,
}

impl Token {
    /// As messages name it.
    pub(super) fn shown(&self) -> String {
        match self.kind {
            Kind::End => "EOF".to_owned(),
            Kind::Error => self.text.clone(),
            Kind::Keyword(_) => format!("<{}>", self.text),
            _ if self.text.len() > 10 => format!(
                "{}...",
                quote(&self.text.chars().take(10).collect::<String>())
            ),
            _ => quote(&self.text),
        }
    }
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    start: usize,
    /// The line of `start`.
    line: usize,
    inside_action: bool,
    parentheses: usize,
}

const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lexer {
            text,
            at: 0,
            start: 0,
            line: 1,
            inside_action: false,
            parentheses: 0,
        }
    }

    /// The next token; after an error there are no more.
    pub(super) fn next(&mut self) -> Token {
        let result = if self.inside_action {
            self.inside_action()
        } else {
            self.text()
        };
        result.unwrap_or_else(|message| {
            let token = Token {
                kind: Kind::Error,
                at: self.start,
                text: message,
                line: self.line,
            };
            *self = Lexer {
                line: self.line,
                ..Lexer::new("")
            };
            token
        })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn read(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn accept(&mut self, one_of: &str) -> bool {
        let found = self.peek().is_some_and(|c| one_of.contains(c));
        self.at += usize::from(found);
        found
    }

    fn accept_run(&mut self, one_of: &str) {
        while self.accept(one_of) {}
    }

    /// Drops what was read since the last token.
    fn ignore(&mut self) {
        self.line += newlines(&self.text[self.start..self.at]);
        self.start = self.at;
    }

    fn token(&mut self, kind: Kind) -> Token {
        let token = Token {
            kind,
            at: self.start,
            text: self.text[self.start..self.at].to_owned(),
            line: self.line,
        };
        self.ignore();
        token
    }

    /// Up to the next action; comments are passed over.
    fn text(&mut self) -> Result<Token, String> {
        loop {
            let Some(open) = self.rest().find("{{").map(|found| self.at + found) else {
                self.at = self.text.len();
                let kind = if self.at > self.start {
                    Kind::Text
                } else {
                    Kind::End
                };
                return Ok(self.token(kind));
            };
            let trims = trims_left(&self.text[open + 2..]);
            let end = if trims {
                self.text[self.start..open].trim_end_matches(SPACES).len() + self.start
            } else {
                open
            };
            self.at = end;
            if end > self.start {
                let token = self.token(Kind::Text);
                self.at = open;
                self.ignore();
                return Ok(token);
            }
            self.at = open;
            self.ignore();
            let marker = if trims { 2 } else { 0 };
            if self.text[open + 2 + marker..].starts_with("/*") {
                self.at = open + 2 + marker;
                self.ignore();
                self.comment()?;
                continue;
            }
            self.at = open + 2;
            let token = self.token(Kind::LeftDelimiter);
            self.at += marker;
            self.ignore();
            (self.inside_action, self.parentheses) = (true, 0);
            return Ok(token);
        }
    }

    fn comment(&mut self) -> Result<(), String> {
        let end = self.rest()[2..].find("*/").ok_or("unclosed comment")?;
        let behind = self.at + 2 + end + 2;
        let (ends, trims) = right_delimiter(&self.text[behind..]);
        if !ends {
            return Err("comment ends before closing delimiter".to_owned());
        }
        self.at = behind + if trims { 4 } else { 2 };
        if trims {
            self.at += leading_spaces(self.rest());
        }
        self.ignore();
        Ok(())
    }

    fn right_delimiter(&mut self, trims: bool) -> Token {
        if trims {
            self.at += 2;
            self.ignore();
        }
        self.at += 2;
        let token = self.token(Kind::RightDelimiter);
        if trims {
            self.at += leading_spaces(self.rest());
            self.ignore();
        }
        self.inside_action = false;
        token
    }

    fn inside_action(&mut self) -> Result<Token, String> {
        let (ends, trims) = right_delimiter(self.rest());
        if ends {
            if self.parentheses > 0 {
                return Err("unclosed left paren".to_owned());
            }
            return Ok(self.right_delimiter(trims));
        }
        let c = self.read().ok_or("unclosed action")?;
        let kind = match c {
            c if SPACES.contains(&c) => return Ok(self.space()),
            '=' => Kind::Assign,
            ':' if self.accept("=") => Kind::Declare,
            ':' => return Err("expected :=".to_owned()),
            '|' => Kind::Pipe,
            '"' => self.quoted('"', "unterminated quoted string", Kind::String)?,
            '`' => {
                let end = self
                    .rest()
                    .find('`')
                    .ok_or("unterminated raw quoted string")?;
                self.at += end + 1;
                Kind::RawString
            }
            '$' if self.at_terminator() => Kind::Variable,
            '$' => self.name(Kind::Variable)?,
            '\'' => self.quoted('\'', "unterminated character constant", Kind::CharConstant)?,
            '.' if self.peek().is_some_and(|c| !c.is_ascii_digit()) => {
                if self.at_terminator() {
                    Kind::Keyword(Keyword::Dot)
                } else {
                    self.name(Kind::Field)?
                }
            }
            '.' | '+' | '-' | '0'..='9' => {
                self.at -= 1;
                self.number()?
            }
            c if is_name(c) => {
                self.at -= c.len_utf8();
                self.word()?
            }
            '(' => {
                self.parentheses += 1;
                Kind::LeftParenthesis
            }
            ')' => {
                self.parentheses = self
                    .parentheses
                    .checked_sub(1)
                    .ok_or("unexpected right paren")?;
                Kind::RightParenthesis
            }
            c if c.is_ascii() && is_printable(c) => Kind::Char,
            c => return Err(format!("unrecognized character in action: {}", unicode(c))),
        };
        Ok(self.token(kind))
    }

    /// A run of blanks, of which the first was read. The last one may belong to the end of the
    /// action.
    fn space(&mut self) -> Token {
        self.at += leading_spaces(self.rest());
        if right_delimiter(&self.text[self.at - 1..]) == (true, true) {
            self.at -= 1;
            if self.at == self.start {
                return self.right_delimiter(true);
            }
        }
        self.token(Kind::Space)
    }

    fn quoted(&mut self, quote: char, fault: &str, kind: Kind) -> Result<Kind, String> {
        loop {
            match self.read() {
                Some('\\') if self.read().is_some_and(|c| c != '\n') => {}
                None | Some('\n' | '\\') => return Err(fault.to_owned()),
                Some(c) if c == quote => return Ok(kind),
                Some(_) => {}
            }
        }
    }

    /// The name behind `.` or `$`.
    fn name(&mut self, kind: Kind) -> Result<Kind, String> {
        self.at += self
            .rest()
            .find(|c| !is_name(c))
            .unwrap_or(self.rest().len());
        self.terminated(kind)
    }

    fn word(&mut self) -> Result<Kind, String> {
        self.at += self
            .rest()
            .find(|c| !is_name(c))
            .unwrap_or(self.rest().len());
        let keyword = match &self.text[self.start..self.at] {
            "true" | "false" => Kind::Bool,
            "block" => Kind::Keyword(Keyword::Block),
            "break" => Kind::Keyword(Keyword::Break),
            "continue" => Kind::Keyword(Keyword::Continue),
            "define" => Kind::Keyword(Keyword::Define),
            "else" => Kind::Keyword(Keyword::Else),
            "end" => Kind::Keyword(Keyword::End),
            "if" => Kind::Keyword(Keyword::If),
            "range" => Kind::Keyword(Keyword::Range),
            "nil" => Kind::Keyword(Keyword::Nil),
            "template" => Kind::Keyword(Keyword::Template),
            "with" => Kind::Keyword(Keyword::With),
            _ => Kind::Identifier,
        };
        self.terminated(keyword)
    }

    fn terminated(&self, kind: Kind) -> Result<Kind, String> {
        if self.at_terminator() {
            Ok(kind)
        } else {
            Err(format!(
                "bad character {}",
                self.peek().map_or_else(String::new, unicode)
            ))
        }
    }

    /// Whether a name may end here.
    fn at_terminator(&self) -> bool {
        match self.peek() {
            None => true,
            Some(c) => SPACES.contains(&c) || ".,|:)(".contains(c) || self.rest().starts_with("}}"),
        }
    }

    fn number(&mut self) -> Result<Kind, String> {
        let bad = |lexer: &Self| {
            format!(
                "bad number syntax: {}",
                quote(&lexer.text[lexer.start..lexer.at])
            )
        };
        if !self.scan_number() {
            return Err(bad(self));
        }
        if !matches!(self.peek(), Some('+' | '-')) {
            return Ok(Kind::Number);
        }
        if !self.scan_number() || !self.text[..self.at].ends_with('i') {
            return Err(bad(self));
        }
        Ok(Kind::Complex)
    }

    fn scan_number(&mut self) -> bool {
        self.accept("+-");
        let mut digits = "0123456789_";
        if self.accept("0") {
            if self.accept("xX") {
                digits = "0123456789abcdefABCDEF_";
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        self.accept_run(digits);
        if self.accept(".") {
            self.accept_run(digits);
        }
        let exponent = match digits.len() {
            11 => "eE",
            23 => "pP",
            _ => "",
        };
        if self.accept(exponent) {
            self.accept("+-");
            self.accept_run("0123456789_");
        }
        self.accept("i");
        let ends = !self.peek().is_some_and(is_name);
        if !ends {
            self.read();
        }
        ends
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn leading_spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches(SPACES).len()
}

/// Whether `- ` follows `{{`.
fn trims_left(text: &str) -> bool {
    text.strip_prefix('-')
        .is_some_and(|rest| rest.starts_with(SPACES))
}

/// Whether the end of an action stands first, and whether it trims what follows.
fn right_delimiter(text: &str) -> (bool, bool) {
    let trims = text.starts_with(SPACES) && text[1..].starts_with("-}}");
    (trims || text.starts_with("}}"), trims)
}

/// `%#U`
fn unicode(c: char) -> String {
    let shown = if is_printable(c) {
        format!(" '{c}'")
    } else {
        String::new()
    };
    format!("U+{:04X}{shown}", u32::from(c))
}
