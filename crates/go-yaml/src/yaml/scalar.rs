//! What a scalar with a tag means to go-yaml v2.

use super::resolve::{Resolved, resolve};
use windlass_go_text::base64;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    Word(Resolved),
    /// Another text than the one that stands there: `!!binary`, decoded.
    Decoded(String),
}

/// A tag that its value does not fit; Go rejects the document.
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

/// The meaning of a scalar; `plain` says that it stands without quotes, `tag` is its whole tag or
/// `""`.
pub(super) fn meaning(text: &str, plain: bool, tag: &str) -> Result<Meaning, Mismatch> {
    if tag.is_empty() {
        return Ok(Meaning::Word(if plain {
            resolve(text)
        } else {
            Resolved::Str
        }));
    }
    let Some(name) = core_name(tag) else {
        return Ok(Meaning::Word(Resolved::Str));
    };
    let found = resolve(text);
    let fitting = match (name, found) {
        ("binary", _) => {
            let bytes = base64::decode(text).map_err(|_| Mismatch {
                tag: name.to_owned(),
                help: "write the value in standard base64 with padding".to_owned(),
                upstream: "yaml: !!binary value contains invalid base64 data".to_owned(),
            })?;
            return Ok(Meaning::Decoded(
                String::from_utf8_lossy(&bytes).into_owned(),
            ));
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
                upstream: format!(
                    "yaml: cannot decode {} `{text}` as a !!{name}",
                    short_tag(found)
                ),
            });
        }
        _ => Resolved::Str,
    };
    Ok(Meaning::Word(fitting))
}

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
