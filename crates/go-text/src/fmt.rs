//! Printing as Go's package `fmt` does: `Sprint`, `Sprintln` and `Sprintf` with all their verbs and
//! complaints.

use std::borrow::Cow;

use super::float::format_float;
use super::quote::{can_backquote, is_printable, quote_bytes, quote_rune};
use super::rune::{self, runes};
use super::value::Value;

/// The text would be larger than it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// The largest width or precision that Go takes.
const WIDEST: i64 = 1_000_000;

/// `fmt.Sprint`: a blank between two operands when neither is a string.
///
/// # Errors
/// The text has more than `limit` bytes.
pub fn sprint(arguments: &[Value], limit: usize) -> Result<Vec<u8>, TooLarge> {
    let mut printer = Printer::new(limit);
    let mut last_is_text = true;
    for argument in arguments {
        let is_text = matches!(argument, Value::Text(_));
        if !is_text && !last_is_text {
            printer.out.push(b' ');
        }
        printer.argument(argument, 'v')?;
        last_is_text = is_text;
    }
    Ok(printer.out)
}

/// `fmt.Sprintln`: a blank between all operands, and a line end.
///
/// # Errors
/// The text has more than `limit` bytes.
pub fn sprintln(arguments: &[Value], limit: usize) -> Result<Vec<u8>, TooLarge> {
    let mut printer = Printer::new(limit);
    for (at, argument) in arguments.iter().enumerate() {
        if at > 0 {
            printer.out.push(b' ');
        }
        printer.argument(argument, 'v')?;
    }
    printer.out.push(b'\n');
    Ok(printer.out)
}

/// `fmt.Sprintf`. The address that `%p` prints is none of ours: it is `0x0`.
///
/// # Errors
/// The text has more than `limit` bytes.
pub fn sprintf(format: &[u8], arguments: &[Value], limit: usize) -> Result<Vec<u8>, TooLarge> {
    let mut scanner = Scanner {
        format,
        at: 0,
        arguments,
        next: 0,
        reordered: false,
        index_is_good: true,
    };
    let mut printer = Printer::new(limit);
    while scanner.directive(&mut printer)? {}
    if !scanner.reordered && scanner.next < arguments.len() {
        printer.flags = Flags::default();
        printer.extra(&arguments[scanner.next..])?;
    }
    Ok(printer.out)
}

/// The pattern of `Sprintf`, and which argument comes next.
struct Scanner<'a> {
    format: &'a [u8],
    at: usize,
    arguments: &'a [Value],
    next: usize,
    reordered: bool,
    index_is_good: bool,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Prints up to and with the next directive; says whether there may be another.
    fn directive(&mut self, printer: &mut Printer) -> Result<bool, TooLarge> {
        let rest = &self.format[self.at..];
        let text = rest
            .iter()
            .position(|byte| *byte == b'%')
            .unwrap_or(rest.len());
        printer.out.extend_from_slice(&rest[..text]);
        self.at += text;
        if !self.skip(b'%') {
            return Ok(false);
        }
        self.index_is_good = true;
        printer.flags = Flags::default();
        while let Some(flag) = self.peek().filter(|byte| b"#0+- ".contains(byte)) {
            printer.flags.set(flag);
            self.at += 1;
        }
        // The common case: a verb in lower case right behind the flags.
        if let Some(verb) = self
            .peek()
            .filter(|byte| byte.is_ascii_lowercase() && self.next < self.arguments.len())
        {
            self.at += 1;
            return self.print(printer, char::from(verb)).map(|()| true);
        }
        let after_index = self.width(printer);
        let after_index = self.precision(printer, after_index);
        if !after_index {
            self.index();
        }
        let (verb, width) = rune::decode(&self.format[self.at..]);
        if width == 0 {
            printer.out.extend_from_slice(b"%!(NOVERB)");
            return Ok(false);
        }
        self.at += width;
        match verb {
            '%' => printer.out.push(b'%'),
            verb if !self.index_is_good => printer.complain(verb, "(BADINDEX)"),
            verb if self.next >= self.arguments.len() => printer.complain(verb, "(MISSING)"),
            verb => self.print(printer, verb)?,
        }
        printer.checked().map(|()| true)
    }

    fn print(&mut self, printer: &mut Printer, verb: char) -> Result<(), TooLarge> {
        if matches!(verb, 'v' | 'w') {
            let flags = &mut printer.flags;
            (flags.sharp_v, flags.plus_v) = (
                std::mem::take(&mut flags.sharp),
                std::mem::take(&mut flags.plus),
            );
        }
        let argument = &self.arguments[self.next];
        self.next += 1;
        printer.argument(argument, verb)
    }

    /// A width: a number, or `*`. Says whether an index stands before the precision.
    fn width(&mut self, printer: &mut Printer) -> bool {
        let after_index = self.index();
        if self.skip(b'*') {
            match self.star() {
                Some(width) => {
                    printer.flags.minus |= width < 0;
                    printer.flags.zero &= width >= 0;
                    printer.flags.width = usize::try_from(width.abs()).ok();
                }
                None => printer.out.extend_from_slice(b"%!(BADWIDTH)"),
            }
            return false;
        }
        printer.flags.width = self.number();
        self.index_is_good &= !(after_index && printer.flags.width.is_some());
        after_index
    }

    fn precision(&mut self, printer: &mut Printer, mut after_index: bool) -> bool {
        // A point at the very end is a verb.
        if self.at + 1 >= self.format.len() || !self.skip(b'.') {
            return after_index;
        }
        self.index_is_good &= !after_index;
        after_index = self.index();
        if self.skip(b'*') {
            match self.star().map(usize::try_from) {
                Some(Ok(precision)) => printer.flags.precision = Some(precision),
                Some(Err(_)) | None => printer.out.extend_from_slice(b"%!(BADPREC)"),
            }
            return false;
        }
        printer.flags.precision = Some(self.number().unwrap_or(0));
        after_index
    }

    /// The argument for `*`, if it is a whole number that is not too large.
    fn star(&mut self) -> Option<i64> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        match argument {
            Value::Int(int) => Some(*int).filter(|int| (-WIDEST..=WIDEST).contains(int)),
            Value::Byte(byte) => Some(i64::from(*byte)),
            _ => None,
        }
    }

    /// Digits; `None` when there are none, or too many.
    fn number(&mut self) -> Option<usize> {
        let from = self.at;
        let mut value = 0usize;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            if i64::try_from(value).unwrap_or(i64::MAX) > WIDEST {
                return None;
            }
            value = value * 10 + usize::from(digit - b'0');
            self.at += 1;
        }
        (self.at > from).then_some(value)
    }

    /// `[3]`: which argument comes next. Says whether there is an index.
    fn index(&mut self) -> bool {
        if self.peek() != Some(b'[') {
            return false;
        }
        self.reordered = true;
        let rest = &self.format[self.at..];
        let Some(close) = rest
            .iter()
            .position(|byte| *byte == b']')
            .filter(|_| rest.len() >= 3)
        else {
            self.index_is_good = false;
            self.at += 1;
            return false;
        };
        let number = std::str::from_utf8(&rest[1..close])
            .ok()
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let number: Option<usize> = number
            .and_then(|text| text.parse().ok())
            .filter(|number| *number <= WIDEST as usize);
        self.at += close + 1;
        match number
            .and_then(|number| number.checked_sub(1))
            .filter(|index| *index < self.arguments.len())
        {
            Some(index) => self.next = index,
            None => self.index_is_good = false,
        }
        number.is_some()
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    width: Option<usize>,
    precision: Option<usize>,
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    plus_v: bool,
    sharp_v: bool,
}

impl Flags {
    fn set(&mut self, flag: u8) {
        match flag {
            b'#' => self.sharp = true,
            b'0' => self.zero = true,
            b'+' => self.plus = true,
            b'-' => self.minus = true,
            _ => self.space = true,
        }
    }
}

struct Printer {
    out: Vec<u8>,
    limit: usize,
    flags: Flags,
}

impl Printer {
    fn new(limit: usize) -> Self {
        Printer {
            out: Vec::new(),
            limit,
            flags: Flags::default(),
        }
    }

    fn checked(&self) -> Result<(), TooLarge> {
        if self.out.len() > self.limit {
            Err(TooLarge)
        } else {
            Ok(())
        }
    }

    /// `%!d` and a reason.
    fn complain(&mut self, verb: char, reason: &str) {
        self.out
            .extend_from_slice(format!("%!{verb}{reason}").as_bytes());
    }

    fn extra(&mut self, arguments: &[Value]) -> Result<(), TooLarge> {
        self.out.extend_from_slice(b"%!(EXTRA ");
        for (at, argument) in arguments.iter().enumerate() {
            self.out.extend_from_slice(if at > 0 { b", " } else { b"" });
            if *argument != Value::Nil {
                self.out
                    .extend_from_slice(format!("{}=", argument.type_name()).as_bytes());
            }
            self.argument(argument, 'v')?;
        }
        self.out.push(b')');
        Ok(())
    }

    fn bad_verb(&mut self, verb: char, argument: &Value) -> Result<(), TooLarge> {
        self.complain(verb, "(");
        if *argument != Value::Nil {
            self.out
                .extend_from_slice(format!("{}=", argument.type_name()).as_bytes());
        }
        self.value(argument, 'v', 1)?;
        self.out.push(b')');
        Ok(())
    }

    fn argument(&mut self, argument: &Value, verb: char) -> Result<(), TooLarge> {
        match (argument, verb) {
            (Value::Nil, 'v') | (Value::Nil, 'T') => self.pad(b"<nil>"),
            (_, 'T') => self.text(argument.type_name().as_bytes()),
            (Value::List(_) | Value::Map(_), 'p') => self.pad(b"0x0"),
            _ => self.value(argument, verb, 0)?,
        }
        self.checked()
    }

    fn value(&mut self, value: &Value, verb: char, depth: usize) -> Result<(), TooLarge> {
        self.checked()?;
        match value {
            Value::Nil if depth > 0 && self.flags.sharp_v => {
                self.out.extend_from_slice(b"interface {}(nil)")
            }
            Value::Nil if depth > 0 => self.out.extend_from_slice(b"<nil>"),
            Value::Bool(bool) if matches!(verb, 't' | 'v') => {
                self.pad(if *bool { b"true" } else { b"false" })
            }
            Value::Int(int) if "vdboOxXcqU".contains(verb) => {
                self.integer(int.unsigned_abs(), *int < 0, verb)
            }
            Value::Byte(byte) if verb == 'v' && self.flags.sharp_v => {
                let flags = self.flags;
                self.flags.sharp = true;
                self.integer(u64::from(*byte), false, 'x');
                self.flags = flags;
            }
            Value::Byte(byte) if "vdboOxXcqU".contains(verb) => {
                self.integer(u64::from(*byte), false, verb)
            }
            Value::Float(float) if "vbgGxXfeEF".contains(verb) => self.float(*float, verb),
            Value::Complex(real, imaginary) if "vbgGxXfeEF".contains(verb) => {
                let plus = self.flags.plus;
                self.out.push(b'(');
                self.float(*real, verb);
                self.flags.plus = true;
                self.float(*imaginary, verb);
                self.out.extend_from_slice(b"i)");
                self.flags.plus = plus;
            }
            Value::Text(text)
                if matches!(verb, 'v' | 's') && !(verb == 'v' && self.flags.sharp_v) =>
            {
                self.text(text)
            }
            Value::Text(text) if matches!(verb, 'v' | 'q') => self.quoted(text),
            Value::Text(text) if matches!(verb, 'x' | 'X') => self.hex(text, verb),
            Value::List(_) | Value::Map(_) if verb == 'w' => return self.bad_verb(verb, value),
            Value::List(items) => {
                let (open, between, close) = self.brackets(value, "[");
                self.out.extend_from_slice(open.as_bytes());
                for (at, item) in items.iter().enumerate() {
                    self.out
                        .extend_from_slice(if at > 0 { between } else { b"" });
                    self.value(item, verb, depth + 1)?;
                }
                self.out.push(close);
            }
            Value::Map(entries) => {
                let (open, between, close) = self.brackets(value, "map[");
                self.out.extend_from_slice(open.as_bytes());
                for (at, (key, entry)) in entries.iter().enumerate() {
                    self.out
                        .extend_from_slice(if at > 0 { between } else { b"" });
                    self.value(&Value::text(key), verb, depth + 1)?;
                    self.out.push(b':');
                    self.value(entry, verb, depth + 1)?;
                }
                self.out.push(close);
            }
            Value::Struct(object) if matches!(verb, 'v' | 's') => self.text(object.text.as_bytes()),
            Value::Struct(object) if verb == 'q' => self.quoted(object.text.as_bytes()),
            _ => return self.bad_verb(verb, value),
        }
        Ok(())
    }

    /// What stands before, between and behind the items of a collection.
    fn brackets(
        &self,
        value: &Value,
        plain: &'static str,
    ) -> (Cow<'static, str>, &'static [u8], u8) {
        match self.flags.sharp_v {
            true => (format!("{}{{", value.type_name()).into(), b", ", b'}'),
            false => (plain.into(), b" ", b']'),
        }
    }

    fn pad(&mut self, text: &[u8]) {
        let missing = self
            .flags
            .width
            .map_or(0, |width| width.saturating_sub(runes(text).count()));
        let filler = if self.flags.zero && !self.flags.minus {
            b'0'
        } else {
            b' '
        };
        if self.flags.minus {
            self.out.extend_from_slice(text);
        }
        self.out.extend(std::iter::repeat_n(filler, missing));
        if !self.flags.minus {
            self.out.extend_from_slice(text);
        }
    }

    /// The same, never with zeros.
    fn pad_with_blanks(&mut self, text: &[u8]) {
        let zero = std::mem::take(&mut self.flags.zero);
        self.pad(text);
        self.flags.zero = zero;
    }

    fn truncated<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let Some(precision) = self.flags.precision else {
            return text;
        };
        let width: usize = runes(text)
            .take(precision)
            .map(|(_, bytes)| bytes.len())
            .sum();
        &text[..width]
    }

    fn text(&mut self, text: &[u8]) {
        self.pad(self.truncated(text));
    }

    fn quoted(&mut self, text: &[u8]) {
        let text = self.truncated(text);
        if self.flags.sharp && can_backquote(text) {
            self.pad(&[b"`", text, b"`"].concat());
        } else {
            self.pad(quote_bytes(text, self.flags.plus).as_bytes());
        }
    }

    fn hex(&mut self, text: &[u8], verb: char) {
        let text = &text[..self
            .flags
            .precision
            .map_or(text.len(), |precision| precision.min(text.len()))];
        let prefix = if self.flags.sharp {
            format!("0{verb}")
        } else {
            String::new()
        };
        let mut digits = if text.is_empty() {
            String::new()
        } else {
            prefix.clone()
        };
        for (at, byte) in text.iter().enumerate() {
            if self.flags.space && at > 0 {
                digits.push(' ');
                digits.push_str(&prefix);
            }
            digits.push_str(&if verb == 'x' {
                format!("{byte:02x}")
            } else {
                format!("{byte:02X}")
            });
        }
        self.pad(digits.as_bytes());
    }

    fn integer(&mut self, magnitude: u64, negative: bool, verb: char) {
        let character = || {
            u32::try_from(magnitude)
                .ok()
                .filter(|_| !negative)
                .and_then(char::from_u32)
                .unwrap_or(char::REPLACEMENT_CHARACTER)
        };
        let digits = match verb {
            'c' => return self.pad(character().encode_utf8(&mut [0; 4]).as_bytes()),
            'q' => return self.pad(quote_rune(character(), self.flags.plus).as_bytes()),
            'U' => {
                return self.unicode(if negative {
                    magnitude.wrapping_neg()
                } else {
                    magnitude
                });
            }
            'b' => format!("{magnitude:b}"),
            'o' | 'O' => format!("{magnitude:o}"),
            'x' => format!("{magnitude:x}"),
            'X' => format!("{magnitude:X}"),
            _ => magnitude.to_string(),
        };
        let flags = self.flags;
        if flags.precision == Some(0) && magnitude == 0 {
            return self.pad_with_blanks(b"");
        }
        let least = match (flags.precision, flags.width) {
            (Some(precision), _) => precision,
            (None, Some(width)) if flags.zero && !flags.minus => {
                width - usize::from((negative || flags.plus || flags.space) && width > 0)
            }
            _ => 0,
        };
        let digits = "0".repeat(least.saturating_sub(digits.len())) + &digits;
        let prefix = match verb {
            'b' if flags.sharp => "0b",
            'o' if flags.sharp && !digits.starts_with('0') => "0",
            'O' if flags.sharp && !digits.starts_with('0') => "0o0",
            'O' => "0o",
            'x' if flags.sharp => "0x",
            'X' if flags.sharp => "0X",
            _ => "",
        };
        let sign = match flags {
            _ if negative => "-",
            Flags { plus: true, .. } => "+",
            Flags { space: true, .. } => " ",
            _ => "",
        };
        self.pad_with_blanks(format!("{sign}{prefix}{digits}").as_bytes());
    }

    fn unicode(&mut self, code: u64) {
        let least = self.flags.precision.unwrap_or(0).max(4);
        let character = u32::try_from(code)
            .ok()
            .and_then(char::from_u32)
            .filter(|c| self.flags.sharp && is_printable(*c));
        let shown = character.map(|c| format!(" '{c}'")).unwrap_or_default();
        self.pad_with_blanks(format!("U+{code:0>least$X}{shown}").as_bytes());
    }

    fn float(&mut self, value: f64, verb: char) {
        let (format, precision) = match verb {
            'v' => ('g', None),
            'F' => ('f', Some(6)),
            'f' | 'e' | 'E' => (verb, Some(6)),
            verb => (verb, None),
        };
        let precision = self.flags.precision.or(precision);
        let text = format_float(value, format, precision);
        let (sign, digits) = match text.as_bytes()[0] {
            b'-' | b'+' => text.split_at(1),
            _ => ("+", text.as_str()),
        };
        let sign = if self.flags.space && sign == "+" && !self.flags.plus {
            " "
        } else {
            sign
        };
        let shows_sign = self.flags.plus || sign != "+";
        if !value.is_finite() {
            let sign = if value.is_nan() && !self.flags.space && !self.flags.plus {
                ""
            } else {
                sign
            };
            // An infinity always has its sign.
            return self.pad_with_blanks(
                format!(
                    "{}{digits}",
                    if value.is_infinite() || shows_sign {
                        sign
                    } else {
                        ""
                    }
                )
                .as_bytes(),
            );
        }
        let digits = if self.flags.sharp && verb != 'b' {
            with_point(digits, verb, precision)
        } else {
            digits.to_owned()
        };
        let width = self.flags.width.unwrap_or(0);
        if shows_sign && self.flags.zero && !self.flags.minus && width > digits.len() + 1 {
            self.out.extend_from_slice(sign.as_bytes());
            self.out
                .extend(std::iter::repeat_n(b'0', width - digits.len() - 1));
            self.out.extend_from_slice(digits.as_bytes());
        } else {
            self.pad(format!("{}{digits}", if shows_sign { sign } else { "" }).as_bytes());
        }
    }
}

/// `%#g`: a point always, and zeros up to the precision.
fn with_point(digits: &str, verb: char, precision: Option<usize>) -> String {
    let mut wanted = if matches!(verb, 'v' | 'g' | 'G' | 'x') {
        precision.unwrap_or(6)
    } else {
        0
    };
    let tail_at = match verb {
        'x' | 'X' => digits.find(['p', 'P']),
        _ => digits.find(['e', 'E', 'p', 'P']),
    };
    let (number, tail) = digits.split_at(tail_at.unwrap_or(digits.len()));
    let significant = number
        .trim_start_matches(['0', '.'])
        .bytes()
        .filter(|byte| *byte != b'.')
        .count();
    wanted = wanted.saturating_sub(significant);
    let mut out = number.to_owned();
    if !number.contains('.') {
        wanted = wanted.saturating_sub(usize::from(number == "0"));
        out.push('.');
    }
    out.extend(std::iter::repeat_n('0', wanted));
    out + tail
}
