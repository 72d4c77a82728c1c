//! Foreign CRDs, objects and admission requests: nothing may panic, whatever they hold.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use windlass_capi::admission::review;
use windlass_schema::{Schema, structural};
use windlass_source::budget::Budget;

fuzz_target!(|data: &[u8]| {
    let Ok(input) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    let _ = review(&input);
    let _ = structural::check(
        &json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": input["schema"]}}]}}),
        &Budget::default(),
    );
    let Ok(schema) = Schema::from_json(&input["schema"]) else {
        return;
    };
    let mut object = input["object"].clone();
    let _ = schema.unknown_fields(&object);
    schema.prune(&mut object);
    schema.apply_defaults(&mut object);
    let _ = schema.judge(&object, input.get("old"), &Budget::default());
});
