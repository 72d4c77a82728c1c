//! What a scalar with a tag means to go-yaml v2.

use super::resolve::{Resolved, resolve};

/// The meaning of a scalar.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    /// What its word resolves to.
    Word(Resolved),
    /// Another text than the one that stands there: `!!binary`, decoded.
    Decoded(String),
}

/// A tag that its value does not fit; Go refuses the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub(super) tag: String,
    pub(super) help: String,
    /// Go's words.
    pub(super) upstream: String,
}

/// The name within `tag:yaml.org,2002:`; tags of other namespaces mean nothing to Go.
fn core_name(tag: &str) -> Option<&str> {
    tag.strip_prefix("tag:yaml.org,2002:")
}

/// Whether a key is the one that merges.
pub(super) fn is_merge(text: &str, plain: bool, tag: &str) -> bool {
    text == "<<" && (plain && tag.is_empty() || tag == "!" || core_name(tag) == Some("merge"))
}

/// The meaning of a scalar; `plain` says that it stands without quotes, `tag` is its whole tag or `""`.
pub(super) fn meaning(text: &str, plain: bool, tag: &str) -> Result<Meaning, Mismatch> {
    if tag.is_empty() {
        return Ok(Meaning::Word(if plain { resolve(text) } else { Resolved::Str }));
    }
    let Some(name) = core_name(tag) else { return Ok(Meaning::Word(Resolved::Str)) };
    let found = resolve(text);
    let fitting = match (name, found) {
        ("binary", _) => {
            let bytes = base64(text).ok_or_else(|| Mismatch {
                tag: name.to_owned(),
                help: "write the value in standard base64 with padding".to_owned(),
                upstream: "yaml: !!binary value contains invalid base64 data".to_owned(),
            })?;
            return Ok(Meaning::Decoded(String::from_utf8_lossy(&bytes).into_owned()));
        }
        ("null", Resolved::Null)
        | ("bool", Resolved::Bool(_))
        | ("int", Resolved::Int(_) | Resolved::Uint(_))
        | ("float", Resolved::Float(_))
        | ("timestamp", Resolved::Timestamp) => found,
        #[allow(clippy::cast_precision_loss, reason = "Go converts in the same way")]
        ("float", Resolved::Int(int)) => Resolved::Float(int as f64),
        ("null" | "bool" | "int" | "float" | "timestamp", _) => {
            let help = format!("remove the tag `!!{name}`, or write a value of that type");
            return Err(Mismatch {
                tag: name.to_owned(),
                help,
                upstream: format!("yaml: cannot decode {} `{text}` as a !!{name}", short_tag(found)),
            });
        }
        _ => Resolved::Str,
    };
    Ok(Meaning::Word(fitting))
}

/// The tag of what a word means.
fn short_tag(found: Resolved) -> &'static str {
    match found {
        Resolved::Null => "!!null",
        Resolved::Bool(_) => "!!bool",
        Resolved::Int(_) | Resolved::Uint(_) => "!!int",
        Resolved::Float(_) => "!!float",
        // Under another tag Go does not look for a time.
        Resolved::Timestamp | Resolved::Str => "!!str",
    }
}

/// Decodes standard base64 with padding as Go does: line breaks are skipped, anything else is an error.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\r' | b'\n')).collect();
    if !digits.len().is_multiple_of(4) {
        return None;
    }
    let padding = digits.iter().rev().take(2).take_while(|b| **b == b'=').count();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3);
    let (body, _) = digits.split_at(digits.len() - padding);
    for group in body.chunks(4) {
        let mut bits = 0;
        for at in 0..4 {
            bits = bits << 6 | group.get(at).map_or(Some(0), |digit| sextet(*digit))?;
        }
        let [_, whole @ ..] = u32::to_be_bytes(bits);
        bytes.extend_from_slice(&whole[..group.len() - 1]);
    }
    Some(bytes)
}

fn sextet(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_as_go_decodes_it() {
        for (text, expected) in [
            ("", Some("")),
            ("aGVsbG8=", Some("hello")),
            ("aGVs\nbG8=\n", Some("hello")),
            ("aGVsbG8h", Some("hello!")),
            ("aA==", Some("h")),
            ("aGVsbG8", None),
            ("aGVs bG8=", None),
            ("a===", None),
            ("=aaa", None),
            ("aGV*", None),
        ] {
            assert_eq!(base64(text), expected.map(|e| e.as_bytes().to_vec()), "{text:?}");
        }
    }
}
