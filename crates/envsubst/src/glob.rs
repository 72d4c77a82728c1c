//! Shell patterns as the reference matches them: a copy of Go's `path.Match` in which `*` crosses
//! `/`. `[…]`, `?` and `\c` work by characters, literals and `*` by bytes. A malformed pattern
//! matches nothing.

use std::ops::RangeInclusive;

use memchr::memmem;

use windlass_go_text::rune;
use windlass_source::budget::{Budget, Exceeded};

/// How many bytes at the front of a value match the pattern; 0 when no prefix of at least one byte
/// does.
///
/// # Errors
/// The budget does not suffice. A piece of the pattern without `?`, `[…]` is found in linear time,
/// any other by trying each place.
pub(super) fn prefix(
    pattern: &[u8],
    value: &[u8],
    longest: bool,
    budget: &Budget,
) -> Result<usize, Exceeded> {
    let Some(pattern) = Pattern::parse(pattern) else {
        return Ok(0);
    };
    if value.is_ascii() {
        return pattern.prefix_of_ascii(value, longest, budget);
    }
    // A cut within a character changes what `?` sees, so each length is tried, as the reference
    // does.
    first(1..=value.len(), longest, |length| {
        pattern.matches(&value[..length], budget)
    })
    .map(Option::unwrap_or_default)
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Byte(u8),
    Any,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
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
            chunks.push(Chunk {
                star: stars > 0,
                steps: steps(chunk)?,
            });
            text = rest;
        }
        Some(Pattern(chunks))
    }

    /// The reference's walk: each chunk takes the first place where it fits, the last one must
    /// reach the end.
    fn matches(&self, mut name: &[u8], budget: &Budget) -> Result<bool, Exceeded> {
        for (index, chunk) in self.0.iter().enumerate() {
            let last = index + 1 == self.0.len();
            if chunk.steps.is_empty() {
                return Ok(true);
            }
            let most = if chunk.star { name.len() } else { 0 };
            let mut rest = None;
            for at in 0..=most {
                rest = chunk
                    .matches(&name[at..], budget)?
                    .filter(|rest| !last || rest.is_empty());
                if rest.is_some() {
                    break;
                }
            }
            let Some(rest) = rest else { return Ok(false) };
            name = rest;
        }
        Ok(name.is_empty())
    }

    /// The shortest or longest matching prefix of an ASCII value: there each step takes one byte,
    /// so one pass finds it.
    fn prefix_of_ascii(
        &self,
        value: &[u8],
        longest: bool,
        budget: &Budget,
    ) -> Result<usize, Exceeded> {
        let Some((last, chunks)) = self.0.split_last() else {
            return Ok(0);
        };
        let mut at = 0;
        for chunk in chunks {
            let Some(start) = chunk.find(&value[at..], false, budget)? else {
                return Ok(0);
            };
            at += start + chunk.steps.len();
        }
        if last.steps.is_empty() {
            return Ok(if longest {
                value.len()
            } else {
                at.max(1).min(value.len())
            });
        }
        let start = last.find(&value[at..], longest, budget)?;
        Ok(start.map_or(0, |start| at + start + last.steps.len()))
    }
}

/// The first number of a range for which something holds, or the last one.
fn first(
    range: RangeInclusive<usize>,
    from_behind: bool,
    mut holds: impl FnMut(usize) -> Result<bool, Exceeded>,
) -> Result<Option<usize>, Exceeded> {
    let (start, end) = range.into_inner();
    for step in 0..(end + 1).saturating_sub(start) {
        let number = if from_behind {
            end - step
        } else {
            start + step
        };
        if holds(number)? {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

impl Chunk {
    /// Where the chunk stands first, or last, in ASCII text: only at its start when no star is
    /// before.
    fn find(&self, text: &[u8], last: bool, budget: &Budget) -> Result<Option<usize>, Exceeded> {
        let most = if self.star { text.len() } else { 0 };
        match self.bytes() {
            Some(bytes) if self.star => {
                budget.charge(text.len() + bytes.len())?;
                Ok(if last {
                    memmem::rfind(text, &bytes)
                } else {
                    memmem::find(text, &bytes)
                })
            }
            _ => first(0..=most, last, |start| {
                Ok(self.matches(&text[start..], budget)?.is_some())
            }),
        }
    }

    /// The bytes that the chunk stands for when none of its steps leaves a choice.
    fn bytes(&self) -> Option<Vec<u8>> {
        self.steps
            .iter()
            .map(|step| {
                if let Step::Byte(byte) = step {
                    Some(*byte)
                } else {
                    None
                }
            })
            .collect()
    }

    /// What is left of a text of which the front matches. A chunk matches nothing at the end of the
    /// text.
    fn matches<'n>(&self, name: &'n [u8], budget: &Budget) -> Result<Option<&'n [u8]>, Exceeded> {
        let (mut rest, mut steps) = (name, 1);
        let matches = self.steps.iter().all(|step| {
            steps += step.cost();
            match step.width(rest) {
                Some(width) => rest = &rest[width..],
                None => return false,
            }
            true
        });
        budget.charge(steps)?;
        Ok(matches.then_some(rest))
    }
}

impl Step {
    /// The width of the character that it takes at the front of a text; `None` when it takes none.
    fn width(&self, text: &[u8]) -> Option<usize> {
        match self {
            Step::Byte(byte) => (*text.first()? == *byte).then_some(1),
            Step::Any => text.first().map(|_| rune::decode(text).1),
            Step::Class { negated, ranges } => {
                text.first()?;
                let (rune, width) = rune::decode(text);
                let within = ranges
                    .iter()
                    .any(|(low, high)| *low <= rune && rune <= *high);
                (within != *negated).then_some(width)
            }
        }
    }

    fn cost(&self) -> usize {
        match self {
            Step::Byte(_) | Step::Any => 1,
            Step::Class { ranges, .. } => 1 + ranges.len(),
        }
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
    let (rune, width) = rune::decode(chunk);
    if width == 0 || (rune == char::REPLACEMENT_CHARACTER && width == 1) {
        return None;
    }
    *chunk = &chunk[width..];
    (!chunk.is_empty()).then_some(rune)
}
