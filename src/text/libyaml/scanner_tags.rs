//! Anchors, aliases, tags and directives.

use super::Fault;
use super::scanner::{Mark, Scanner, Token, TokenKind, is_blank, is_blank_or_end, is_break_or_end};

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

impl Scanner {
    fn token(&self, kind: TokenKind, start: Mark) -> Token {
        Token { kind, start, end: self.mark }
    }

    fn skip_blanks(&mut self) {
        while is_blank(self.at(0)) {
            self.skip();
        }
    }

    pub(super) fn anchor(&mut self) -> Result<Token, Fault> {
        let start = self.mark;
        let is_alias = self.at(0) == '*';
        self.skip();
        let mut name = String::new();
        while is_word(self.at(0)) {
            self.read(&mut name);
        }
        if name.is_empty() || !(is_blank_or_end(self.at(0)) || "?:,]}%@`".contains(self.at(0))) {
            return self.fault(start, "did not find expected alphabetic or numeric character");
        }
        Ok(self.token(if is_alias { TokenKind::Alias(name) } else { TokenKind::Anchor(name) }, start))
    }

    pub(super) fn tag(&mut self) -> Result<Token, Fault> {
        let start = self.mark;
        let (mut handle, mut suffix);
        if self.at(1) == '<' {
            self.skip();
            self.skip();
            handle = String::new();
            suffix = self.tag_uri("", start)?;
            if self.at(0) != '>' {
                return self.fault(start, "did not find the expected '>'");
            }
            self.skip();
        } else {
            handle = self.tag_handle(false, start)?;
            if handle.len() > 1 && handle.ends_with('!') {
                suffix = self.tag_uri("", start)?;
            } else {
                suffix = self.tag_uri(&handle, start)?;
                "!".clone_into(&mut handle);
                if suffix.is_empty() {
                    std::mem::swap(&mut handle, &mut suffix);
                }
            }
        }
        if !is_blank_or_end(self.at(0)) {
            return self.fault(start, "did not find expected whitespace or line break");
        }
        Ok(self.token(TokenKind::Tag { handle, suffix }, start))
    }

    fn tag_handle(&mut self, directive: bool, start: Mark) -> Result<String, Fault> {
        if self.at(0) != '!' {
            return self.fault(start, "did not find expected '!'");
        }
        let mut handle = String::new();
        self.read(&mut handle);
        while is_word(self.at(0)) {
            self.read(&mut handle);
        }
        if self.at(0) == '!' {
            self.read(&mut handle);
        } else if directive && handle != "!" {
            return self.fault(start, "did not find expected '!'");
        }
        Ok(handle)
    }

    fn tag_uri(&mut self, head: &str, start: Mark) -> Result<String, Fault> {
        let mut uri = head.get(1..).unwrap_or_default().to_owned();
        let mut found = !head.is_empty();
        while is_word(self.at(0)) || ";/?:@&=+$,.!~*'()[]%".contains(self.at(0)) {
            if self.at(0) == '%' {
                self.uri_escapes(&mut uri, start)?
            } else {
                self.read(&mut uri)
            }
            found = true;
        }
        if found { Ok(uri) } else { self.fault(start, "did not find expected tag URI") }
    }

    /// One character of a URI, written as `%XX` for each of its bytes.
    fn uri_escapes(&mut self, uri: &mut String, start: Mark) -> Result<(), Fault> {
        let mut bytes: Vec<u8> = Vec::new();
        let mut width = 1;
        while bytes.len() < width {
            let digits = (self.at(0) == '%').then(|| Some((self.at(1).to_digit(16)?, self.at(2).to_digit(16)?))).flatten();
            let Some(byte) = digits.and_then(|(high, low)| u8::try_from(high << 4 | low).ok()) else {
                return self.fault(start, "did not find URI escaped octet");
            };
            if bytes.is_empty() {
                width = match byte {
                    0..=0x7f => 1,
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    0xf0..=0xf7 => 4,
                    _ => return self.fault(start, "found an incorrect leading UTF-8 octet"),
                };
            } else if byte & 0xc0 != 0x80 {
                return self.fault(start, "found an incorrect trailing UTF-8 octet");
            }
            bytes.push(byte);
            (0..3).for_each(|_| self.skip());
        }
        uri.push_str(&String::from_utf8_lossy(&bytes));
        Ok(())
    }

    pub(super) fn directive(&mut self) -> Result<Token, Fault> {
        let start = self.mark;
        self.skip();
        let mut name = String::new();
        while is_word(self.at(0)) {
            self.read(&mut name);
        }
        if name.is_empty() {
            return self.fault(start, "could not find expected directive name");
        }
        if !is_blank_or_end(self.at(0)) {
            return self.fault(start, "found unexpected non-alphabetical character");
        }
        let kind = match name.as_str() {
            "YAML" => self.version(start)?,
            "TAG" => self.tag_directive(start)?,
            _ => return self.fault(start, "found unknown directive name"),
        };
        let token = self.token(kind, start);
        self.skip_blanks();
        if self.at(0) == '#' {
            self.skip_comment();
        }
        if !is_break_or_end(self.at(0)) {
            return self.fault(start, "did not find expected comment or line break");
        }
        self.skip_line();
        Ok(token)
    }

    fn version(&mut self, start: Mark) -> Result<TokenKind, Fault> {
        self.skip_blanks();
        let major = self.version_number(start)?;
        if self.at(0) != '.' {
            return self.fault(start, "did not find expected digit or '.' character");
        }
        self.skip();
        Ok(TokenKind::VersionDirective(major, self.version_number(start)?))
    }

    fn version_number(&mut self, start: Mark) -> Result<u32, Fault> {
        let (mut value, mut length) = (0, 0);
        while let Some(digit) = self.at(0).to_digit(10) {
            length += 1;
            if length > 2 {
                return self.fault(start, "found extremely long version number");
            }
            value = value * 10 + digit;
            self.skip();
        }
        if length == 0 { self.fault(start, "did not find expected version number") } else { Ok(value) }
    }

    fn tag_directive(&mut self, start: Mark) -> Result<TokenKind, Fault> {
        self.skip_blanks();
        let handle = self.tag_handle(true, start)?;
        if !is_blank(self.at(0)) {
            return self.fault(start, "did not find expected whitespace");
        }
        self.skip_blanks();
        let prefix = self.tag_uri("", start)?;
        if !is_blank_or_end(self.at(0)) {
            return self.fault(start, "did not find expected whitespace or line break");
        }
        Ok(TokenKind::TagDirective { handle, prefix })
    }
}
