//! The emitter of go-yaml v2 for block style: what `yaml_emitter_emit_*` and `yaml_emitter_write_*`
//! do, without events.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::order;
use super::scalar::{Analysis, Style, Wide, analyze, beyond_ascii, is_break};
use super::{DEPTH, EmitError, VariableQuoting};
use crate::yaml::is_rejected;
use crate::yaml::resolve::json_number;
use windlass_go_text as go;
use windlass_source::diag::{FieldPath, Segment};

/// Spaces per level.
const INDENT: usize = 2;
/// The column after which texts are folded.
const WIDTH: usize = 80;
/// The longest key, in bytes, that is on one line with its value.
const SIMPLE_KEY: usize = 128;

/// Where a node stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    Root,
    /// A list.
    Item,
    /// A mapping, before the `:` on the same line.
    SimpleKey,
    /// A mapping, behind `? ` or `:`.
    Mapping,
}

pub(super) struct Emitter<'a> {
    text: &'a mut String,
    /// In characters, from 0.
    column: usize,
    /// The indentation of the open collection; none before the first.
    indent: Option<usize>,
    /// Whether the last thing written separates words.
    whitespace: bool,
    /// Whether only indentation, `-`, `?` and `:` stand on the line so far.
    indention: bool,
    depth: usize,
    quoting: VariableQuoting<'a>,
    /// Where the node stands; kept only when the quoting asks for it.
    path: FieldPath,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(text: &'a mut String) -> Self {
        let (quoting, path) = (VariableQuoting::Never, FieldPath::root());
        Emitter {
            text,
            column: 0,
            indent: None,
            whitespace: true,
            indention: true,
            depth: 0,
            quoting,
            path,
        }
    }

    pub(super) fn quoting(mut self, quoting: VariableQuoting<'a>) -> Self {
        self.quoting = quoting;
        self
    }

    /// Whether a value needs quotes that Go would not write.
    fn quotes(&self, text: &str) -> bool {
        match self.quoting {
            VariableQuoting::Never => false,
            VariableQuoting::Always => text.contains("${") && !text.contains('\n'),
            VariableQuoting::At(paths) => paths.contains(&self.path),
        }
    }

    fn child(
        &mut self,
        step: impl FnOnce() -> Segment,
        value: &Value,
        context: Context,
    ) -> Result<(), EmitError> {
        if !matches!(self.quoting, VariableQuoting::At(_)) {
            return self.node(value, context);
        }
        self.path.push(step());
        let written = self.node(value, context);
        self.path.pop();
        written
    }

    /// Writes a value and the line break at its end.
    pub(super) fn document(&mut self, value: &Value) -> Result<(), EmitError> {
        self.node(value, Context::Root)?;
        self.write_indent();
        Ok(())
    }

    fn node(&mut self, value: &Value, context: Context) -> Result<(), EmitError> {
        match value {
            Value::Null => self.word("null"),
            Value::Bool(true) => self.word("true"),
            Value::Bool(false) => self.word("false"),
            Value::Number(number) => self.number(number),
            Value::String(text) => {
                let text = as_read_from_json(text)?;
                let analysis = analyze(&text);
                match self.quotes(&text) {
                    true => self.double_quoted(&text, false),
                    false => self.scalar(&text, &analysis, context),
                }
            }
            Value::Array(items) if items.is_empty() => self.word("[]"),
            Value::Array(items) => return self.nested(|emitter| emitter.sequence(items, context)),
            Value::Object(fields) if fields.is_empty() => self.word("{}"),
            Value::Object(fields) => return self.nested(|emitter| emitter.mapping(fields)),
        }
        Ok(())
    }

    fn nested(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        if self.depth == DEPTH {
            return Err(EmitError::Depth);
        }
        let indent = self.indent;
        self.depth += 1;
        write(self)?;
        self.depth -= 1;
        self.indent = indent;
        Ok(())
    }

    fn sequence(&mut self, items: &[Value], context: Context) -> Result<(), EmitError> {
        // A list under its key is not indented; behind `? ` and the `:` after it, it is.
        let indentless = context == Context::Mapping && !self.indention;
        self.indent = match self.indent {
            None => Some(0),
            Some(indent) if indentless => Some(indent),
            Some(indent) => Some(indent + INDENT),
        };
        for (index, item) in items.iter().enumerate() {
            self.write_indent();
            self.indicator("-", true, true);
            self.child(|| Segment::Index(index), item, Context::Item)?;
        }
        Ok(())
    }

    fn mapping(&mut self, fields: &Map<String, Value>) -> Result<(), EmitError> {
        self.indent = Some(self.indent.map_or(0, |indent| indent + INDENT));
        let mut entries: Vec<(&str, &Value)> = fields
            .iter()
            .map(|(key, value)| (key.as_str(), value))
            .collect();
        order::sort(&mut entries);
        for (name, value) in entries {
            self.write_indent();
            if name.contains('\u{85}') {
                return Err(EmitError::NextLine);
            }
            let key = as_read_from_json(name)?;
            let analysis = analyze(&key);
            if key.len() <= SIMPLE_KEY && !analysis.multiline {
                self.scalar(&key, &analysis, Context::SimpleKey);
                self.indicator(":", false, false);
            } else {
                self.indicator("?", true, true);
                self.scalar(&key, &analysis, Context::Mapping);
                self.write_indent();
                self.indicator(":", true, true);
            }
            self.child(|| Segment::Field(name.to_owned()), value, Context::Mapping)?;
        }
        Ok(())
    }

    /// A word that needs no analysis.
    fn word(&mut self, word: &str) {
        self.separate();
        self.put(word);
        self.whitespace = false;
        self.indention = false;
    }

    fn number(&mut self, number: &Number) {
        // A double goes through JSON, where 1.0 is 1.
        let written = match number
            .as_f64()
            .filter(|_| number.is_f64())
            .and_then(json_number)
        {
            Some(read) => match read.as_f64().filter(|_| read.is_f64()) {
                Some(float) => go::float(float),
                None => read.to_string(),
            },
            None => number.to_string(),
        };
        self.word(&written);
    }

    fn scalar(&mut self, text: &str, analysis: &Analysis, context: Context) {
        let outer = self.indent;
        self.indent = Some(outer.map_or(INDENT, |indent| indent + INDENT));
        let simple_key = context == Context::SimpleKey;
        match analysis.style(text, simple_key) {
            Style::Plain => self.plain(text, analysis, !simple_key),
            Style::Single => self.single_quoted(text, !simple_key),
            Style::Double => self.double_quoted(text, !simple_key),
            Style::Literal => self.literal(text),
        }
        self.indent = outer;
    }

    /// Texts with line breaks never get here.
    fn plain(&mut self, text: &str, analysis: &Analysis, fold: bool) {
        self.separate();
        if !fold || self.column + text.len() <= WIDTH {
            self.text.push_str(text);
            self.column += if analysis.ascii {
                text.len()
            } else {
                text.chars().count()
            };
        } else {
            self.folded_at_spaces(text);
        }
        self.whitespace = false;
        self.indention = false;
    }

    /// Writes words and the spaces between them; the first single space beyond the width becomes a
    /// line break.
    fn folded_at_spaces(&mut self, text: &str) {
        let mut words = text.split(' ');
        self.put(words.next().unwrap_or_default());
        let mut after_space = false;
        for word in words {
            // An empty word means that another space follows.
            if !after_space && self.column > WIDTH && !word.is_empty() {
                self.write_indent();
            } else {
                self.put(" ");
            }
            after_space = word.is_empty();
            if !word.is_empty() {
                self.put(word);
                self.indention = false;
            }
        }
    }

    fn single_quoted(&mut self, text: &str, fold: bool) {
        self.indicator("'", true, false);
        let (mut spaces, mut breaks) = (false, false);
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at] == b' ' {
                let single = !spaces && at > 0 && at < bytes.len() - 1 && bytes[at + 1] != b' ';
                if fold && single && self.column > WIDTH {
                    self.write_indent();
                } else {
                    self.put(" ");
                }
                at += 1;
                spaces = true;
            } else if is_break(bytes, at) {
                // U+2028 or U+2029: texts with other breaks are written in another style.
                at = self.line_separator(text, at);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent();
                }
                let run = run(bytes, at, |bytes, at| {
                    bytes[at] != b' ' && bytes[at] != b'\'' && !is_break(bytes, at)
                });
                if run == at {
                    self.put("''");
                    at += 1;
                } else {
                    self.put(&text[at..run]);
                    at = run;
                }
                self.indention = false;
                (spaces, breaks) = (false, false);
            }
        }
        self.indicator("'", false, false);
    }

    fn double_quoted(&mut self, text: &str, fold: bool) {
        self.indicator("\"", true, false);
        let bytes = text.as_bytes();
        // Behind a leading byte-order mark Go escapes every character.
        let escape_all = text.starts_with('\u{feff}');
        let mut spaces = false;
        let mut at = 0;
        while at < bytes.len() {
            if escape_all || is_escaped(bytes, at) {
                let c = text[at..].chars().next().unwrap_or_default();
                self.escape(c);
                at += c.len_utf8();
                spaces = false;
            } else if bytes[at] == b' ' {
                if fold && !spaces && self.column > WIDTH && at > 0 && at < bytes.len() - 1 {
                    self.write_indent();
                    if bytes[at + 1] == b' ' {
                        self.put("\\");
                    }
                } else {
                    self.put(" ");
                }
                at += 1;
                spaces = true;
            } else {
                let run = run(bytes, at, |bytes, at| {
                    bytes[at] != b' ' && !is_escaped(bytes, at)
                });
                self.put(&text[at..run]);
                at = run;
                spaces = false;
            }
        }
        self.indicator("\"", false, false);
    }

    fn escape(&mut self, c: char) {
        let short = match c {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0b' => 'v',
            '\x0c' => 'f',
            '\r' => 'r',
            '\x1b' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => {
                let (letter, digits) = match u32::from(c) {
                    0..=0xff => ('x', 2),
                    0x100..=0xffff => ('u', 4),
                    _ => ('U', 8),
                };
                self.put(&format!("\\{letter}{:0digits$X}", u32::from(c)));
                return;
            }
        };
        self.text.push('\\');
        self.text.push(short);
        self.column += 2;
    }

    fn literal(&mut self, text: &str) {
        self.indicator("|", true, false);
        let bytes = text.as_bytes();
        if bytes[0] == b' ' || is_break(bytes, 0) {
            self.put("2");
        }
        self.put(chomping(bytes));
        self.line_break();
        self.indention = true;
        self.whitespace = true;
        let mut breaks = true;
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at] == b'\n' {
                self.line_break();
                at += 1;
                self.indention = true;
                breaks = true;
            } else if is_break(bytes, at) {
                at = self.line_separator(text, at);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent();
                }
                let run = run(bytes, at, |bytes, at| !is_break(bytes, at));
                self.put(&text[at..run]);
                at = run;
                self.indention = false;
                breaks = false;
            }
        }
    }

    /// Writes U+2028 or U+2029, behind which Go thinks that a line begins.
    fn line_separator(&mut self, text: &str, at: usize) -> usize {
        let end = at + '\u{2028}'.len_utf8();
        self.text.push_str(&text[at..end]);
        self.column = 0;
        end
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += if text.is_ascii() {
            text.len()
        } else {
            text.chars().count()
        };
    }

    fn line_break(&mut self) {
        self.text.push('\n');
        self.column = 0;
    }

    fn separate(&mut self) {
        if !self.whitespace {
            self.text.push(' ');
            self.column += 1;
        }
    }

    /// Goes to the indentation of the next line, unless it is reached already.
    fn write_indent(&mut self) {
        let indent = self.indent.unwrap_or(0);
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.line_break();
        }
        while self.column < indent {
            const SPACES: &str = "                                ";
            let missing = (indent - self.column).min(SPACES.len());
            self.text.push_str(&SPACES[..missing]);
            self.column += missing;
        }
        self.whitespace = true;
        self.indention = true;
    }

    /// Writes a character of the syntax. `separated`: a space goes before it where none is;
    /// `indents`: more may stand on this line.
    fn indicator(&mut self, indicator: &str, separated: bool, indents: bool) {
        if separated {
            self.separate();
        }
        self.text.push_str(indicator);
        self.column += indicator.len();
        self.whitespace = false;
        self.indention = self.indention && indents;
    }
}

/// Where the run of characters that begins at `at` ends.
fn run(bytes: &[u8], at: usize, belongs: impl Fn(&[u8], usize) -> bool) -> usize {
    (at..bytes.len())
        .find(|at| !belongs(bytes, *at))
        .unwrap_or(bytes.len())
}

/// Whether the character at `at` needs an escape in double quotes; never inside a character.
fn is_escaped(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b'"' | b'\\' | 0..=0x1f | 0x7f => true,
        0x20..=0x7e | 0x80..=0xbf => false,
        _ => beyond_ascii(&bytes[at..]).1 != Wide::Printable,
    }
}

/// How a block says which line breaks at its end belong to it.
fn chomping(bytes: &[u8]) -> &'static str {
    let before = |end: usize| {
        if end >= 3 && is_break(bytes, end - 3) && bytes[end - 3] > 0x7f {
            Some(end - 3)
        } else {
            end.checked_sub(1)
        }
    };
    let last = before(bytes.len()).filter(|at| is_break(bytes, *at));
    match last {
        None => "-",
        Some(0) => "+",
        Some(last) if before(last).is_some_and(|at| is_break(bytes, at)) => "+",
        Some(_) => "",
    }
}

/// The text as Go has it when it has written it to JSON and read that as YAML: U+0085, which JSON
/// does not escape, is folded like a line break in quotes.
fn as_read_from_json(text: &str) -> Result<Cow<'_, str>, EmitError> {
    if text.is_ascii() {
        return if text.contains('\x7f') {
            Err(EmitError::Character('\x7f'))
        } else {
            Ok(Cow::Borrowed(text))
        };
    }
    if let Some(rejected) = text.chars().find(|c| *c > '\x1f' && is_rejected(*c)) {
        return Err(EmitError::Character(rejected));
    }
    if !text.contains('\u{85}') {
        return Ok(Cow::Borrowed(text));
    }
    let mut folded = String::with_capacity(text.len());
    let mut lines = text.split('\u{85}').peekable();
    let mut breaks = 0;
    let mut first = true;
    while let Some(line) = lines.next() {
        let last = lines.peek().is_none();
        if !first && is_document_mark(line, last) {
            return Err(EmitError::NextLine);
        }
        let line = if first {
            line
        } else {
            line.trim_start_matches(' ')
        };
        let line = if last {
            line
        } else {
            line.trim_end_matches(' ')
        };
        if !first {
            breaks += 1;
        }
        if !line.is_empty() || last {
            match breaks {
                0 => {}
                1 => folded.push(' '),
                _ => folded.extend(std::iter::repeat_n('\n', breaks - 1)),
            }
            breaks = 0;
        }
        folded.push_str(line);
        first = false;
    }
    Ok(Cow::Owned(folded))
}

/// Whether a line would end the document in Go's reader.
fn is_document_mark(line: &str, last: bool) -> bool {
    let rest = line
        .strip_prefix("---")
        .or_else(|| line.strip_prefix("..."));
    rest.is_some_and(|rest| rest.starts_with(' ') || rest.is_empty() && !last)
}
