//! A Go template is rendered or rejected, never panics, and keeps to its budget and to the bound of its result.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_go_template::{self as template, Fault, MAX_OUTPUT};
use windlass_go_text::value::Value;
use windlass_source::budget::{Budget, Resource};

/// Enough for any small template, and soon used up by a loop.
const STEPS: u64 = 1 << 20;

fuzz_target!(|text: &str| {
    let data = serde_json::json!({"controlPlane": {"version": "v1.34.1"}, "m": {"a": 1, "b": [true, null, 2.5, "x"]}, "s": "text"});
    let budget = Budget::of(STEPS);
    let rendered = template::render("/f", text, &Value::of_json(&data), &budget);
    assert_eq!(
        budget.is_spent(Resource::Steps),
        rendered == Err(Fault::TooLong),
        "who uses up the steps says so, and no other writer"
    );
    match rendered {
        Ok(output) => assert!(output.len() <= MAX_OUTPUT),
        Err(Fault::Parse(rejection) | Fault::Execution(rejection)) => {
            assert!(
                (1..=text.matches('\n').count() + 1).contains(&rejection.line),
                "{rejection}"
            );
        }
        Err(_) => {}
    }
});
