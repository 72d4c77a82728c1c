//! What was read is written so that it is read as the same again, and then written as the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use windlass_go_yaml::goyaml;
use windlass_go_yaml::yaml::parse;
use windlass_source::Source;
use windlass_source::budget::Budget;

fuzz_target!(|text: &str| {
    let Some(value) = read(text) else { return };
    if has_what_go_loses(&value) {
        return;
    }
    let Ok(written) = goyaml::to_string(&value) else {
        return;
    };
    let again = read(&written).expect("what is written can be read");
    assert_eq!(again, value, "{written}");
    assert_eq!(goyaml::to_string(&again).as_ref(), Ok(&written));
});

/// The first document of a text without findings.
fn read(text: &str) -> Option<Value> {
    let parsed = parse(&Source::new("fuzz.yaml", text), &Budget::default());
    let document = parsed
        .documents
        .into_iter()
        .next()
        .filter(|_| parsed.report.is_empty());
    document.map(|document| document.root.into_json())
}

/// Line breaks of YAML 1.1 that are none for the reader, and a key that Go writes without quotes but merges when it reads.
fn has_what_go_loses(value: &Value) -> bool {
    let loses = |text: &str| text.contains(['\u{85}', '\u{2028}', '\u{2029}']);
    match value {
        Value::String(text) => loses(text),
        Value::Array(items) => items.iter().any(has_what_go_loses),
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| key == "<<" || loses(key) || has_what_go_loses(value)),
        _ => false,
    }
}
