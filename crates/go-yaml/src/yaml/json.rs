//! JSON as kubectl takes it: a stream that begins with `{` is JSON, object after object, without
//! `---` between them. In its texts no character ends a line, and two escapes stand for one
//! character beyond U+FFFF; read as YAML, they would become something else (`k8s.io/apimachinery/
//! pkg/util/yaml`: `YAMLOrJSONDecoder`).

use std::borrow::Cow;

use super::builder::Builder;
use super::limits::{Limits, Stop, Tally};
use super::tree::Tree;
use super::{Parsed, SYNTAX, read_on};
use crate::libyaml::{Event, EventKind, Mark, Style};
use windlass_source::budget::Budget;
use windlass_source::diag::Diagnostic;
use windlass_source::{Source, TextRange};

/// Within so many bytes the first `{` has to stand.
const LOOKED_AT: usize = 4096;
/// How deep Go's decoder goes.
const DEEPEST: usize = 10_000;

/// Reads a stream that is JSON at its beginning; `None` when it is YAML. Where JSON ends after one
/// object, YAML may follow.
pub(super) fn read<T: Tree>(
    source: &Source,
    range: TextRange,
    limits: &Limits,
    budget: &Budget,
) -> Option<Parsed<T>> {
    let text = &source.text()[..range.end()];
    let first = skip_space(text, range.start());
    if first - range.start() >= LOOKED_AT || !text[first..].starts_with('{') {
        return None;
    }
    let mut builder = Builder::new(source, Tally::new(*limits, budget));
    let mut documents = Vec::new();
    let mut at = first;
    while at < text.len() {
        let mut reader = Reader {
            text,
            at,
            events: Vec::new(),
            open: Vec::new(),
        };
        let read = reader.value();
        if let Err(fault) = read {
            match documents.len() {
                0 => return None,
                1 => {
                    // Space is eaten up to the end of the line.
                    let blank = text[at..].len() - text[at..].trim_start().len();
                    let from = text[end(&documents)..at + blank]
                        .find('\n')
                        .map_or(at, |line| end(&documents) + line + 1);
                    read_on(source, from..text.len(), &mut builder, &mut documents);
                }
                _ => {
                    builder.start(mark(at));
                    let finding = Diagnostic::of(
                        &SYNTAX,
                        "the text is not JSON from here on, although two objects before it are",
                    );
                    let finding = finding.help("correct it; streams of JSON hold one object after the other, without `---`");
                    builder.find(finding, TextRange::new(fault, fault));
                }
            }
            return Some(Parsed {
                documents,
                report: builder.into_report(),
            });
        }
        builder.start(mark(at));
        let stopped = reader
            .events
            .into_iter()
            .try_for_each(|event| builder.event(event))
            .err();
        if stopped.is_some() {
            builder.reject();
        }
        documents.push(builder.finish(reader.at));
        if stopped == Some(Stop::Stream) {
            break;
        }
        at = skip_space(text, reader.at);
    }
    Some(Parsed {
        documents,
        report: builder.into_report(),
    })
}

fn end<T>(documents: &[super::Document<T>]) -> usize {
    documents.last().map_or(0, |document| document.range.end())
}

fn mark(offset: usize) -> Mark {
    Mark {
        offset,
        line: 0,
        line_start: offset,
    }
}

/// What JSON takes for space.
fn skip_space(text: &str, from: usize) -> usize {
    let rest = &text[from..];
    from + rest
        .bytes()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
        .count()
}

/// Reads the events of one value, without recursion.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    events: Vec<Event<'a>>,
    /// For each list and object that is open, whether it is an object.
    open: Vec<bool>,
}

/// The place of the fault.
type Read<T> = Result<T, usize>;

impl<'a> Reader<'a> {
    /// One value with all that is in it.
    fn value(&mut self) -> Read<()> {
        loop {
            self.skip_space();
            let closes_at_once = match self.peek() {
                Some(b'{') => self.begin(true)?,
                Some(b'[') => self.begin(false)?,
                _ => {
                    self.scalar()?;
                    true
                }
            };
            if closes_at_once && !self.next_value()? {
                return Ok(());
            }
        }
    }

    /// Opens a list or an object; whether it is empty, and closed.
    fn begin(&mut self, is_object: bool) -> Read<bool> {
        if self.open.len() >= DEEPEST {
            return Err(self.at);
        }
        self.push(
            self.at,
            self.at + 1,
            if is_object {
                EventKind::MappingStart(None)
            } else {
                EventKind::SequenceStart(None)
            },
        );
        self.at += 1;
        self.open.push(is_object);
        self.skip_space();
        if self.peek() == Some(if is_object { b'}' } else { b']' }) {
            self.close();
            return Ok(true);
        }
        if is_object {
            self.key()?;
        }
        Ok(false)
    }

    fn close(&mut self) {
        let kind = if self.open.pop() == Some(true) {
            EventKind::MappingEnd
        } else {
            EventKind::SequenceEnd
        };
        self.push(self.at, self.at + 1, kind);
        self.at += 1;
    }

    /// Goes behind a value to where the next one stands; false at the end of all.
    fn next_value(&mut self) -> Read<bool> {
        while let Some(is_object) = self.open.last().copied() {
            self.skip_space();
            match (self.peek(), is_object) {
                (Some(b','), true) => {
                    self.at += 1;
                    self.key()?;
                    return Ok(true);
                }
                (Some(b','), false) => {
                    self.at += 1;
                    return Ok(true);
                }
                (Some(b'}'), true) | (Some(b']'), false) => self.close(),
                _ => return Err(self.at),
            }
        }
        Ok(false)
    }

    fn key(&mut self) -> Read<()> {
        self.skip_space();
        self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.at);
        }
        self.at += 1;
        Ok(())
    }

    fn scalar(&mut self) -> Read<()> {
        if self.peek() == Some(b'"') {
            return self.string();
        }
        let start = self.at;
        let length = self.text[start..]
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
            .count();
        let word = &self.text[start..start + length];
        if !matches!(word, "null" | "true" | "false") && !is_number(word) {
            return Err(start);
        }
        self.at += length;
        self.push(
            start,
            self.at,
            EventKind::Scalar {
                text: Cow::Borrowed(word),
                style: Style::Plain,
                properties: None,
            },
        );
        Ok(())
    }

    fn string(&mut self) -> Read<()> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(start);
        }
        self.at += 1;
        let (mut text, mut from) = (String::new(), self.at);
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    text.push_str(&self.text[from..self.at]);
                    text.push(self.escape()?);
                    from = self.at;
                }
                Some(byte) if byte >= b' ' => self.at += 1,
                _ => return Err(self.at),
            }
        }
        let last = &self.text[from..self.at];
        let text = if text.is_empty() {
            Cow::Borrowed(last)
        } else {
            Cow::Owned(text + last)
        };
        self.at += 1;
        self.push(
            start,
            self.at,
            EventKind::Scalar {
                text,
                style: Style::Quoted,
                properties: None,
            },
        );
        Ok(())
    }

    /// The character that an escape stands for; halves of one that stand alone are replaced.
    fn escape(&mut self) -> Read<char> {
        let at = self.at;
        let kind = *self.text.as_bytes().get(at + 1).ok_or(at)?;
        self.at += 2;
        let plain = match kind {
            b'"' | b'\\' | b'/' => char::from(kind),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.unit(self.at).ok_or(at)?;
                self.at += 4;
                let second = self.text[self.at..]
                    .starts_with("\\u")
                    .then(|| self.unit(self.at + 2))
                    .flatten();
                let pair = second.and_then(|second| {
                    char::decode_utf16([first, second])
                        .next()?
                        .ok()
                        .filter(|c| c.len_utf16() == 2)
                });
                self.at += if pair.is_some() { 6 } else { 0 };
                pair.or_else(|| char::from_u32(first.into()))
                    .unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return Err(at),
        };
        Ok(plain)
    }

    /// Four digits.
    fn unit(&self, at: usize) -> Option<u16> {
        let digits = self
            .text
            .get(at..at + 4)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u16::from_str_radix(digits, 16).ok()
    }

    fn push(&mut self, start: usize, end: usize, kind: EventKind<'a>) {
        self.events.push(Event {
            kind,
            start: mark(start),
            end: mark(end),
        });
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        self.at = skip_space(self.text, self.at);
    }
}

/// JSON's grammar of numbers.
fn is_number(word: &str) -> bool {
    let word = word.strip_prefix('-').unwrap_or(word);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(word);
    let mut rest = &word[whole..];
    if whole == 0 || (whole > 1 && word.starts_with('0')) {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::{first, values};
    use super::*;
    use windlass_source::diag::FieldPath;

    /// Values with all numbers as floating ones.
    fn plain(value: &Value) -> Value {
        match value {
            Value::Number(number) => number.as_f64().into(),
            Value::Array(items) => items.iter().map(plain).collect(),
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| (key.clone(), plain(value)))
                .collect(),
            other => other.clone(),
        }
    }

    /// What Go's programs read; the file says which.
    #[test]
    fn streams_are_read_as_kubectl_and_clusterctl_read_them() {
        let recorded: Value =
            serde_json::from_str(include_str!("../../tests/json_streams.json")).unwrap();
        let cases = recorded["cases"].as_array().unwrap();
        assert!(cases.len() > 35, "{}", cases.len());
        for case in cases {
            let (name, text) = (
                case["name"].as_str().unwrap(),
                case["text"].as_str().unwrap(),
            );
            let read = values(&Source::new("x.json", text), &Budget::default());
            let documents: Vec<Value> = read
                .documents
                .iter()
                .map(|document| plain(&document.value))
                .filter(|value| !value.is_null())
                .collect();
            assert_eq!(Value::from(documents), plain(&case["kubectl"]), "{name}");
            assert_eq!(
                read.report.has_errors(),
                case.get("rejected").is_some(),
                "{name}: {:?}",
                read.report
            );
            match (first(text.as_bytes(), &Budget::default()), case.get("sigs")) {
                (Ok(value), Some(expected)) => assert_eq!(plain(&value), plain(expected), "{name}"),
                (read, expected) => {
                    assert_eq!(read.is_err(), expected.is_none(), "{name}: {read:?}")
                }
            }
        }
    }

    /// `NewYAMLOrJSONDecoder(reader, 4096)`: what begins behind so many bytes is YAML, where U+0085
    /// ends a line.
    #[test]
    fn streams_that_begin_far_behind_are_yaml() {
        for (spaces, expected) in [(4095, "x\u{85}y"), (4096, "x y")] {
            let text = format!("{}{{\"a\": \"x\u{85}y\"}}", " ".repeat(spaces));
            assert_eq!(
                values(&Source::new("x.json", text), &Budget::default()).documents[0].value["a"],
                expected,
                "{spaces}"
            );
        }
    }

    #[test]
    fn values_have_their_places() {
        let source = Source::new(
            "x.json",
            " {\"a\": 1}{\"b\":\n [\"x\u{85}y\", {\"c\": \"\\u00e9\"}]}",
        );
        let read = values(&source, &Budget::default());
        let place = |document: usize, path: FieldPath| {
            let span = read.documents[document].origin.place(&path).span.unwrap();
            (span.start.line, span.start.column)
        };
        assert_eq!(place(0, FieldPath::of_fields("a")), (1, 8));
        assert_eq!(place(1, FieldPath::of_fields("b").index(0)), (2, 3));
        assert_eq!(read.documents[1].value["b"][1]["c"], "é");
    }

    /// However deep and long, it ends, and says so.
    #[test]
    fn hostile_streams_end() {
        let deep = format!("{}{}", "{\"a\":".repeat(200_000), "}".repeat(200_000));
        assert!(
            values(&Source::new("x.json", deep), &Budget::default())
                .report
                .has_errors()
        );
        let budget = Budget::default().with(windlass_source::budget::Resource::Values, 1000);
        let many = "{\"a\":[1,1,1]}".repeat(1000);
        assert!(
            values(&Source::new("x.json", many), &budget)
                .report
                .has_errors()
        );
        for broken in [
            "{",
            "{\"",
            "{\"a",
            "{\"a\\",
            "{\"a\\u12",
            "{\"a\":",
            "{\"a\":-",
            "{\"a\":1.",
            "{\"a\":1e",
            "{\"a\":[1}",
            "{\"a\":1]",
        ] {
            assert!(
                values(&Source::new("x.json", broken), &Budget::default())
                    .report
                    .has_errors(),
                "{broken}"
            );
        }
    }
}
