//! YAML with the bytes that Go writes: `sigs.k8s.io/yaml` v1.6 (`Marshal`, which goes through JSON and the emitter of go-yaml v2), as
//! controller-gen, kubectl, clusterctl and Cluster API do.
//!
//! Mappings in natural key order, lists not indented under their key, folding after column 80, quotes exactly where Go puts them.

mod emitter;
mod order;
mod scalar;

use rayon::prelude::*;
use serde_json::Value;

use self::emitter::Emitter;

/// How deep a value may be nested.
const DEPTH: usize = 512;

/// Why a value cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmitError {
    /// A text or key holds a character that YAML does not allow (controls from U+007F on, U+FFFE, U+FFFF). Go fails in the same way.
    Character(char),
    /// A key holds U+0085, or a text a line `---` or `...` after it, on which Go's own reader trips.
    NextLine,
    /// Lists and mappings lie too deep in one another.
    Depth,
}

impl std::fmt::Display for EmitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EmitError::Character(c) => write!(f, "the character U+{:04X} is not allowed in YAML", u32::from(*c)),
            EmitError::NextLine => f.write_str("the character U+0085 is not allowed here in YAML"),
            EmitError::Depth => write!(f, "values are nested more than {DEPTH} deep"),
        }
    }
}

impl std::error::Error for EmitError {}

/// The bytes of Go's `yaml.Marshal(value)`, with the line break at the end.
///
/// Where Go loses something, this does too: U+0085 in a text is a line break that is folded, and a bare key `<<` is written without quotes.
/// Keys of more than 1024 characters, on which Go fails, are written.
///
/// # Errors
///
/// When a text cannot be written as YAML; see [`EmitError`].
pub fn to_string(value: &Value) -> Result<String, EmitError> {
    let mut text = String::new();
    write_to(&mut text, value)?;
    Ok(text)
}

/// Appends what [`to_string`] returns to a text.
///
/// # Errors
///
/// As [`to_string`]; the text then ends somewhere in the middle of the value.
pub fn write_to(text: &mut String, value: &Value) -> Result<(), EmitError> {
    Emitter::new(text).document(value)
}

/// Documents joined by lines `---`, as clusterctl joins them; no line `---` before the first one. Many documents are written on all cores.
///
/// # Errors
///
/// As [`to_string`], for the first document that cannot be written.
pub fn documents_to_string(documents: &[Value]) -> Result<String, EmitError> {
    let texts: Vec<String> = if documents.len() < WORTHWHILE {
        documents.iter().map(to_string).collect::<Result<_, _>>()?
    } else {
        documents.par_iter().map(to_string).collect::<Vec<_>>().into_iter().collect::<Result<_, _>>()?
    };
    Ok(texts.join("---\n"))
}

/// From this many documents on they are written on all cores.
const WORTHWHILE: usize = 16;
