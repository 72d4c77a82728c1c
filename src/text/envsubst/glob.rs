//! Shell patterns as the reference matches them: a copy of Go's `path.Match` in which `*` crosses `/`. `[…]`, `?` and `\c` work by
//! characters, literals and `*` by bytes. A malformed pattern matches nothing.

use super::functions::FunctionFault;
use super::runes;

/// How many steps one removal may take. Only values beyond ASCII need more than one pass.
const MAX_STEPS: usize = 1 << 28;

/// How many bytes at the front of a value match the pattern; 0 when no prefix of at least one byte does.
pub(super) fn prefix(pattern: &[u8], value: &[u8], longest: bool) -> Result<usize, FunctionFault> {
    let Some(pattern) = Pattern::parse(pattern) else { return Ok(0) };
    if value.is_ascii() {
        return Ok(pattern.prefix_of_ascii(value, longest));
    }
    // A cut within a character changes what `?` sees, so each length is tried, as the reference does.
    let mut steps = MAX_STEPS;
    let lengths = 1..=value.len();
    let mut matching = |length: &usize| pattern.matches(&value[..*length], &mut steps);
    let found = if longest { lengths.rev().find(&mut matching) } else { lengths.into_iter().find(&mut matching) };
    if steps == 0 { Err(FunctionFault::TooLarge) } else { Ok(found.unwrap_or(0)) }
}

/// One step of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Byte(u8),
    Any,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// Steps without a star between them; `star` says whether one stands before.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Chunk {
    star: bool,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern(Vec<Chunk>);

impl Pattern {
    /// `None` for a malformed pattern: no value can match its malformed part.
    fn parse(mut text: &[u8]) -> Option<Self> {
        let mut chunks = Vec::new();
        while !text.is_empty() {
            let stars = text.iter().take_while(|b| **b == b'*').count();
            let (chunk, rest) = text[stars..].split_at(chunk_length(&text[stars..]));
            chunks.push(Chunk { star: stars > 0, steps: steps(chunk)? });
            text = rest;
        }
        Some(Pattern(chunks))
    }

    /// The reference's walk: each chunk takes the first place where it fits, the last one must reach the end.
    fn matches(&self, mut name: &[u8], steps: &mut usize) -> bool {
        for (index, chunk) in self.0.iter().enumerate() {
            let last = index + 1 == self.0.len();
            if chunk.steps.is_empty() {
                return true;
            }
            let starts = if chunk.star { 0..=name.len() } else { 0..=0 };
            let rest = starts.into_iter().find_map(|at| {
                let rest = chunk.matches(&name[at..], steps)?;
                (!last || rest.is_empty()).then_some(rest)
            });
            let Some(rest) = rest else { return false };
            name = rest;
        }
        name.is_empty()
    }

    /// The shortest or longest matching prefix of an ASCII value: there each step takes one byte, so one pass finds it.
    fn prefix_of_ascii(&self, value: &[u8], longest: bool) -> usize {
        let Some((last, chunks)) = self.0.split_last() else { return 0 };
        let mut steps = usize::MAX;
        let mut at = 0;
        for chunk in chunks {
            let starts = if chunk.star { at..=value.len() } else { at..=at };
            let Some(start) = starts.into_iter().find(|start| chunk.matches(&value[*start..], &mut steps).is_some()) else { return 0 };
            at = start + chunk.steps.len();
        }
        if last.steps.is_empty() {
            return if longest { value.len() } else { at.max(1).min(value.len()) };
        }
        let mut fits = |start: &usize| last.matches(&value[*start..], &mut steps).is_some();
        let starts = if last.star { at..=value.len() } else { at..=at };
        let start = if longest { starts.rev().find(&mut fits) } else { starts.into_iter().find(&mut fits) };
        start.map_or(0, |start| start + last.steps.len())
    }
}

impl Chunk {
    /// What is left of a text of which the front matches. A chunk matches nothing at the end of the text.
    fn matches<'n>(&self, mut name: &'n [u8], steps: &mut usize) -> Option<&'n [u8]> {
        for step in &self.steps {
            *steps = steps.checked_sub(1)?;
            if name.is_empty() {
                return None;
            }
            let width = match step {
                Step::Byte(byte) => (name[0] == *byte).then_some(1)?,
                Step::Any => runes::decode(name).1,
                Step::Class { negated, ranges } => {
                    let (rune, width) = runes::decode(name);
                    let within = ranges.iter().any(|(low, high)| *low <= rune && rune <= *high);
                    (within != *negated).then_some(width)?
                }
            };
            name = &name[width..];
        }
        Some(name)
    }
}

/// Where the chunk ends: before the next `*` that is neither escaped nor within brackets.
fn chunk_length(text: &[u8]) -> usize {
    let mut within = false;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\\' if at + 1 < text.len() => at += 1,
            b'[' => within = true,
            b']' => within = false,
            b'*' if !within => break,
            _ => {}
        }
        at += 1;
    }
    at
}

fn steps(mut chunk: &[u8]) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    while let Some((&first, rest)) = chunk.split_first() {
        chunk = rest;
        steps.push(match first {
            b'[' => class(&mut chunk)?,
            b'?' => Step::Any,
            b'\\' => {
                let (&escaped, rest) = rest.split_first()?;
                chunk = rest;
                Step::Byte(escaped)
            }
            byte => Step::Byte(byte),
        });
    }
    Some(steps)
}

fn class(chunk: &mut &[u8]) -> Option<Step> {
    let negated = chunk.first() == Some(&b'^');
    if negated {
        *chunk = &chunk[1..];
    }
    let mut ranges = Vec::new();
    loop {
        if chunk.first() == Some(&b']') && !ranges.is_empty() {
            *chunk = &chunk[1..];
            return Some(Step::Class { negated, ranges });
        }
        let low = class_character(chunk)?;
        let mut high = low;
        if chunk.first() == Some(&b'-') {
            *chunk = &chunk[1..];
            high = class_character(chunk)?;
        }
        ranges.push((low, high));
    }
}

/// A character of a class; something must follow it.
fn class_character(chunk: &mut &[u8]) -> Option<char> {
    match chunk.first()? {
        b'-' | b']' => return None,
        b'\\' => *chunk = &chunk[1..],
        _ => {}
    }
    let (rune, width) = runes::decode(chunk);
    if width == 0 || (rune == char::REPLACEMENT_CHARACTER && width == 1) {
        return None;
    }
    *chunk = &chunk[width..];
    (!chunk.is_empty()).then_some(rune)
}
