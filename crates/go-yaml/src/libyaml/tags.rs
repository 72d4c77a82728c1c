//! Anchors, aliases, tags and directives.

use super::bytes::{BLANK, URI, WORD, is};
use super::scanner::{Scanner, Tag, TokenKind};
use super::{Fault, Mark, Problem};

impl<'a> Scanner<'a> {
    /// The letters, digits, `-` and `_` that stand here.
    fn word(&mut self) -> &'a str {
        let start = self.mark.offset;
        while is(self.at(0), WORD) {
            self.skip(1);
        }
        &self.text[start..self.mark.offset]
    }

    pub(super) fn anchor(&mut self) -> Result<(), Fault> {
        self.start_word()?;
        let start = self.mark;
        let is_alias = self.at(0) == b'*';
        self.skip(1);
        let name = self.word();
        if name.is_empty() || !(self.is_blank_or_end_at(0) || b"?:,]}%@`".contains(&self.at(0))) {
            return self.fault(start, Problem::AnchorName);
        }
        self.push(
            if is_alias {
                TokenKind::Alias(name)
            } else {
                TokenKind::Anchor(name)
            },
            start,
        );
        Ok(())
    }

    pub(super) fn tag(&mut self) -> Result<(), Fault> {
        self.start_word()?;
        let start = self.mark;
        let (mut handle, mut suffix);
        if self.at(1) == b'<' {
            self.skip(2);
            handle = "";
            suffix = self.tag_uri("", start)?;
            if self.at(0) != b'>' {
                return self.fault(start, Problem::TagClosing);
            }
            self.skip(1);
        } else {
            handle = self.tag_handle(false, start)?;
            if handle.len() > 1 && handle.ends_with('!') {
                suffix = self.tag_uri("", start)?;
            } else {
                suffix = self.tag_uri(handle, start)?;
                handle = "!";
                if suffix.is_empty() {
                    (handle, suffix) = ("", "!".to_owned());
                }
            }
        }
        if !self.is_blank_or_end_at(0) {
            return self.fault(start, Problem::TagEnd);
        }
        self.push(TokenKind::Tag(Box::new(Tag { handle, suffix })), start);
        Ok(())
    }

    fn tag_handle(&mut self, directive: bool, start: Mark) -> Result<&'a str, Fault> {
        if self.at(0) != b'!' {
            return self.fault(start, Problem::TagBang);
        }
        let from = self.mark.offset;
        self.skip(1);
        let name = self.word();
        if self.at(0) == b'!' {
            self.skip(1);
        } else if directive && !name.is_empty() {
            return self.fault(start, Problem::TagBang);
        }
        Ok(&self.text[from..self.mark.offset])
    }

    fn tag_uri(&mut self, head: &str, start: Mark) -> Result<String, Fault> {
        let mut uri = head.get(1..).unwrap_or_default().to_owned();
        let mut found = !head.is_empty();
        while is(self.at(0), WORD | URI) {
            if self.at(0) == b'%' {
                self.uri_escapes(&mut uri, start)?;
            } else {
                uri.push(char::from(self.at(0)));
                self.skip(1);
            }
            found = true;
        }
        if found {
            Ok(uri)
        } else {
            self.fault(start, Problem::TagUri)
        }
    }

    /// One character of a URI, written as `%XX` for each of its bytes.
    fn uri_escapes(&mut self, uri: &mut String, start: Mark) -> Result<(), Fault> {
        let mut bytes: Vec<u8> = Vec::new();
        let mut width = 1;
        while bytes.len() < width {
            let digit = |ahead| char::from(self.at(ahead)).to_digit(16);
            let digits = (self.at(0) == b'%')
                .then(|| digit(1).zip(digit(2)))
                .flatten();
            let Some(byte) = digits.and_then(|(high, low)| u8::try_from(high << 4 | low).ok())
            else {
                return self.fault(start, Problem::TagEscape);
            };
            if bytes.is_empty() {
                width = match byte {
                    0..=0x7f => 1,
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    0xf0..=0xf7 => 4,
                    _ => return self.fault(start, Problem::TagLeadingOctet),
                };
            } else if byte & 0xc0 != 0x80 {
                return self.fault(start, Problem::TagTrailingOctet);
            }
            bytes.push(byte);
            self.skip(3);
        }
        uri.push_str(&String::from_utf8_lossy(&bytes));
        Ok(())
    }

    pub(super) fn directive(&mut self) -> Result<(), Fault> {
        let start = self.mark;
        self.skip(1);
        let name = self.word();
        if name.is_empty() {
            return self.fault(start, Problem::DirectiveName);
        }
        if !self.is_blank_or_end_at(0) {
            return self.fault(start, Problem::DirectiveCharacter);
        }
        self.skip_blanks();
        let kind = match name {
            "YAML" => self.version(start)?,
            "TAG" => self.tag_directive(start)?,
            _ => return self.fault(start, Problem::DirectiveUnknown),
        };
        self.push(kind, start);
        self.skip_blanks();
        if self.at(0) == b'#' {
            self.skip_to_break();
        }
        if !self.is_break_or_end() {
            return self.fault(start, Problem::DirectiveEnd);
        }
        self.take_break();
        Ok(())
    }

    fn version(&mut self, start: Mark) -> Result<TokenKind<'a>, Fault> {
        let major = self.version_number(start)?;
        if self.at(0) != b'.' {
            return self.fault(start, Problem::VersionSeparator);
        }
        self.skip(1);
        Ok(TokenKind::VersionDirective(
            major,
            self.version_number(start)?,
        ))
    }

    fn version_number(&mut self, start: Mark) -> Result<u32, Fault> {
        let from = self.mark.offset;
        while self.at(0).is_ascii_digit() {
            if self.mark.offset - from == 2 {
                return self.fault(start, Problem::VersionLong);
            }
            self.skip(1);
        }
        match self.text[from..self.mark.offset].parse() {
            Ok(number) => Ok(number),
            Err(_) => self.fault(start, Problem::VersionMissing),
        }
    }

    fn tag_directive(&mut self, start: Mark) -> Result<TokenKind<'a>, Fault> {
        let handle = self.tag_handle(true, start)?;
        if !is(self.at(0), BLANK) {
            return self.fault(start, Problem::TagBlank);
        }
        self.skip_blanks();
        let suffix = self.tag_uri("", start)?;
        if !self.is_blank_or_end_at(0) {
            return self.fault(start, Problem::TagEnd);
        }
        Ok(TokenKind::TagDirective(Box::new(Tag { handle, suffix })))
    }
}
