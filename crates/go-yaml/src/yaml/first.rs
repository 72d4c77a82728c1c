//! The first document of a text with the values and the rejections that Go has: `sigs.k8s.io/yaml`
//! into a value of any type.

use serde_json::{Number, Value};

use super::yaml_values;
use windlass_go_text::fmt::sprintf;
use windlass_go_text::value::Value as GoValue;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Severity};

/// Integers beyond this are not exact as doubles.
const EXACT: i64 = 1 << 53;

/// The first document of a text; null when there is none. Numbers are doubles.
///
/// # Errors
/// When it is not YAML, in Go's words.
pub fn first(text: &[u8], budget: &Budget) -> Result<Value, String> {
    let text =
        std::str::from_utf8(text).map_err(|error| invalid_utf8(text, error.valid_up_to()))?;
    let read = yaml_values(&Source::new("", text), budget);
    let is_fault = |finding: &&Diagnostic| {
        finding.rule.severity == Severity::Error
            && finding.place.document.is_none_or(|document| document == 1)
    };
    if let Some(fault) = read
        .report
        .findings()
        .iter()
        .filter(is_fault)
        .min_by_key(|fault| phase(fault))
    {
        return Err(go_words(fault, text, budget));
    }
    let first = read
        .documents
        .into_iter()
        .next()
        .filter(|document| document.origin.document() == 1);
    let mut value = first.map_or(Value::Null, |document| document.value);
    as_doubles(&mut value);
    Ok(value)
}

/// What Go says of a fault, where it is known; else our reader's words, behind the line.
fn go_words(fault: &Diagnostic, text: &str, budget: &Budget) -> String {
    let line = fault.place.span.map_or(1, |span| span.start.line);
    let key = || {
        fault
            .place
            .span
            .filter(|_| fault.rule.id == "yaml-key-invalid" && fault.upstream.is_none())
    };
    if let Some(key) =
        key().and_then(|span| collection_key(text.get(span.start.offset..span.end.offset)?, budget))
    {
        return format!("yaml: invalid map key: {key}");
    }
    fault.upstream.as_ref().map_or_else(
        || format!("yaml: line {line}: {}", fault.message),
        ToString::to_string,
    )
}

/// A list or a map that stands as a key, as `%#v` prints it.
fn collection_key(text: &str, budget: &Budget) -> Option<String> {
    const MOST: usize = 1 << 16;
    let value = yaml_values(&Source::new("", text), budget)
        .documents
        .into_iter()
        .next()?
        .value;
    let printed = sprintf(b"%#v", &[GoValue::of_json(&value)], MOST).ok()?;
    Some(
        String::from_utf8_lossy(&printed)
            .replace("map[string]interface", "map[interface {}]interface"),
    )
}

/// When Go comes upon a fault: it reads the whole document before it looks at its values, and
/// writes JSON at last.
fn phase(fault: &Diagnostic) -> u8 {
    match fault.rule.id {
        "yaml-number-infinite" | "yaml-key-invalid" => 2,
        "yaml-tag-mismatched"
        | "yaml-merge-invalid"
        | "yaml-alias-recursive"
        | "yaml-nodes-exceeded" => 1,
        _ => 0,
    }
}

/// go-yaml's words about the first byte that is not UTF-8.
fn invalid_utf8(text: &[u8], at: usize) -> String {
    let width = match text[at] {
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf8 => 4,
        _ => return "yaml: invalid leading UTF-8 octet".to_owned(),
    };
    let reason = if text.len() - at < width {
        "incomplete UTF-8 octet sequence"
    } else {
        "invalid trailing UTF-8 octet"
    };
    format!("yaml: {reason}")
}

/// Rounds integers that a double cannot hold.
pub fn as_doubles(value: &mut Value) {
    match value {
        Value::Number(number)
            if number
                .as_i64()
                .is_none_or(|integer| !(-EXACT..=EXACT).contains(&integer)) =>
        {
            if let Some(rounded) = number.as_f64().and_then(Number::from_f64) {
                *number = rounded;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(as_doubles),
        Value::Object(entries) => entries.values_mut().for_each(as_doubles),
        _ => {}
    }
}
