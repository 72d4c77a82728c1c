//! What the functions of the grammar do to a value. Ports of the reference's functions, with Go's
//! notion of characters.

use std::borrow::Cow;

use memchr::memmem::Finder;

use super::glob;
use windlass_go_text::rune::{self, runes};
use windlass_source::budget::{Budget, Exceeded};

/// What a reference does with the variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    /// `${V}`, and the meaningless `${V,^}`, `${V^,}`
    Value,
    /// `${V:=d}` and its four synonyms
    Default,
    /// `${#V}`
    Length,
    LowerFirst,
    Lower,
    UpperFirst,
    Upper,
    Substring,
    /// `#`, `##`
    RemovePrefix {
        longest: bool,
    },
    /// `%`, `%%`
    RemoveSuffix {
        longest: bool,
    },
    ReplaceFirst,
    ReplaceAll,
    ReplacePrefix,
    ReplaceSuffix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FunctionFault {
    NegativeLength,
    TooLarge,
    TooLong,
}

impl From<Exceeded> for FunctionFault {
    fn from(_: Exceeded) -> Self {
        FunctionFault::TooLong
    }
}

impl Function {
    /// The function of a sign after the name. `None` never happens for what the parser accepts.
    pub(super) fn of_sign(sign: &[u8]) -> Option<Self> {
        Some(match sign {
            b"," => Function::LowerFirst,
            b",," => Function::Lower,
            b"^" => Function::UpperFirst,
            b"^^" => Function::Upper,
            b",^" | b"^," => Function::Value,
            b"#" => Function::RemovePrefix { longest: false },
            b"##" => Function::RemovePrefix { longest: true },
            b"%" => Function::RemoveSuffix { longest: false },
            b"%%" => Function::RemoveSuffix { longest: true },
            b"/" => Function::ReplaceFirst,
            b"//" => Function::ReplaceAll,
            b"/#" => Function::ReplacePrefix,
            b"/%" => Function::ReplaceSuffix,
            _ => return None,
        })
    }

    /// The function that counts, now that the number of arguments is known: a default without text,
    /// and the replacement of a prefix or suffix by nothing, leave the value alone.
    pub(super) fn with_arguments(self, count: usize) -> Self {
        match self {
            Function::Default if count == 0 => Function::Value,
            Function::ReplacePrefix | Function::ReplaceSuffix if count < 2 => Function::Value,
            other => other,
        }
    }

    /// The result for a value. A result never grows beyond `limit` bytes. Patterns take steps of
    /// the budget; all else is linear.
    pub(super) fn apply<'v>(
        self,
        value: &'v [u8],
        arguments: &[Vec<u8>],
        limit: usize,
        budget: &Budget,
    ) -> Result<Cow<'v, [u8]>, FunctionFault> {
        let argument = |index: usize| arguments.get(index).map_or(&b""[..], Vec::as_slice);
        Ok(match self {
            Function::Value | Function::Default => Cow::Borrowed(value),
            Function::Length => Cow::Owned(value.len().to_string().into_bytes()),
            Function::LowerFirst => first(value, rune::to_lower),
            Function::UpperFirst => first(value, rune::to_upper),
            Function::Lower => Cow::Owned(all(value, rune::to_lower)),
            Function::Upper => Cow::Owned(all(value, rune::to_upper)),
            Function::Substring => Cow::Borrowed(substring(
                value,
                argument(0),
                arguments.get(1).map(Vec::as_slice),
            )?),
            Function::RemovePrefix { longest } => {
                Cow::Borrowed(&value[glob::prefix(argument(0), value, longest, budget)?..])
            }
            Function::RemoveSuffix { longest } => {
                let turned = reversed(value);
                let cut = glob::prefix(&reversed(argument(0)), &turned, longest, budget)?;
                Cow::Owned(reversed(&turned[cut..]))
            }
            Function::ReplaceFirst => {
                Cow::Owned(replace(value, argument(0), argument(1), 1, limit)?)
            }
            Function::ReplaceAll => {
                Cow::Owned(replace(value, argument(0), argument(1), usize::MAX, limit)?)
            }
            Function::ReplacePrefix if value.starts_with(argument(0)) => {
                Cow::Owned(replace(value, argument(0), argument(1), 1, limit)?)
            }
            Function::ReplaceSuffix if value.ends_with(argument(0)) => {
                Cow::Owned([&value[..value.len() - argument(0).len()], argument(1)].concat())
            }
            Function::ReplacePrefix | Function::ReplaceSuffix => Cow::Borrowed(value),
        })
    }
}

fn first(value: &[u8], map: fn(char) -> char) -> Cow<'_, [u8]> {
    if value.is_empty() {
        return Cow::Borrowed(value);
    }
    let (rune, width) = rune::decode(value);
    let mut result = map(rune).to_string().into_bytes();
    result.extend_from_slice(&value[width..]);
    Cow::Owned(result)
}

fn all(value: &[u8], map: fn(char) -> char) -> Vec<u8> {
    runes(value)
        .map(|(rune, _)| map(rune))
        .collect::<String>()
        .into_bytes()
}

/// The characters back to front; bytes that are not character become U+FFFD.
fn reversed(value: &[u8]) -> Vec<u8> {
    let characters: Vec<char> = runes(value).map(|(rune, _)| rune).collect();
    characters.iter().rev().collect::<String>().into_bytes()
}

/// `strconv.Atoi`
fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A substring by bytes; what is not a number leaves the value as it is.
fn substring<'v>(
    value: &'v [u8],
    position: &[u8],
    length: Option<&[u8]>,
) -> Result<&'v [u8], FunctionFault> {
    let Some(position) = number(position) else {
        return Ok(value);
    };
    let size = i64::try_from(value.len()).unwrap_or(i64::MAX);
    let position = if position < 0 {
        (size + position).max(0)
    } else {
        position
    };
    let rest = usize::try_from(position)
        .ok()
        .and_then(|at| value.get(at..))
        .unwrap_or_default();
    let Some(length) = length else {
        return Ok(rest);
    };
    let Some(length) = number(length) else {
        return Ok(value);
    };
    if position.wrapping_add(length) >= size {
        return Ok(rest);
    }
    usize::try_from(length)
        .ok()
        .and_then(|length| rest.get(..length))
        .ok_or(FunctionFault::NegativeLength)
}

/// `strings.Replace`: an empty search text matches before every character and at the end.
fn replace(
    value: &[u8],
    search: &[u8],
    replacement: &[u8],
    most: usize,
    limit: usize,
) -> Result<Vec<u8>, FunctionFault> {
    let mut result = Vec::with_capacity(value.len());
    let mut rest = value;
    let finder = Finder::new(search);
    for _ in 0..most {
        let found = finder.find(rest);
        let Some(at) = found else { break };
        result.extend_from_slice(&rest[..at]);
        result.extend_from_slice(replacement);
        rest = &rest[at + search.len()..];
        if search.is_empty() {
            let (_, width) = rune::decode(rest);
            result.extend_from_slice(&rest[..width]);
            if width == 0 {
                break;
            }
            rest = &rest[width..];
        }
        if result.len() > limit {
            return Err(FunctionFault::TooLarge);
        }
    }
    result.extend_from_slice(rest);
    Ok(result)
}
