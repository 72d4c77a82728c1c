//! What Go's `text/template` makes of three thousand random templates: the output, or the rejection
//! in its words.

use serde_json::Value as Json;
use windlass_go_template as template;
use windlass_go_text::value::Value;
use windlass_source::budget::Budget;

use crate::support::vectors;

/// Templates that show what no other program can show: the address of a map.
const GAPS: [&str; 1] = ["{{printf \"%p\" .m }}"];

#[test]
fn templates_give_what_go_gives() {
    let file = vectors("go_template/cases.jsonl");
    let cases = std::fs::read_to_string(file).unwrap();
    let mut counts = [0; 3];
    let mut failures = Vec::new();
    for line in cases.lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let text = case["template"].as_str().unwrap();
        let result = template::render(
            "/etc/t",
            text,
            &Value::of_json(&case["data"]),
            &Budget::default(),
        );
        let found = match &result {
            Ok(output) => ("output", String::from_utf8_lossy(output).into_owned()),
            Err(template::Fault::Parse(rejection)) => ("parse", rejection.to_string()),
            Err(template::Fault::Execution(rejection)) => ("execute", rejection.to_string()),
            Err(other) => ("none", other.to_string()),
        };
        let stage = case["stage"].as_str().unwrap_or("output");
        let expected = case["output"].as_str().or(case["error"].as_str()).unwrap();
        counts[["output", "parse", "execute"]
            .iter()
            .position(|known| *known == stage)
            .unwrap()] += 1;
        if (found.0, found.1.as_str()) != (stage, expected) {
            failures.push((text.to_owned(), found.1, expected.to_owned()));
        }
    }
    assert!(
        counts[0] >= 1700 && counts[1] >= 560 && counts[2] >= 730,
        "cases are missing: {counts:?}"
    );
    failures.retain(|(text, _, _)| !GAPS.contains(&text.as_str()));
    assert!(
        failures.is_empty(),
        "{} templates differ: {failures:#?}",
        failures.len()
    );
}
