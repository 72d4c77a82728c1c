//! Files with Kubernetes objects and clusterctl variables: components and samples.

use std::fmt::Display;

use serde_json::Value;
use windlass_envsubst as envsubst;
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;

/// The objects of a file. A variable gets its value from `value`, or its default.
///
/// # Errors
/// The message for the user, if the variables or the YAML cannot be read, or a variable has neither
/// value nor default.
pub(crate) fn objects(
    file: &str,
    text: &str,
    value: impl Fn(&str) -> Option<String>,
) -> Result<Vec<Value>, String> {
    let in_file = |error: &dyn Display| format!("{file}: {error}");
    let template = envsubst::parse(text).map_err(|error| in_file(&error))?;
    let text = template
        .substitute(value, &Budget::default())
        .map_err(|error| in_file(&error))?;
    let text = text.text().map_err(|error| in_file(&error))?.to_owned();
    let parsed = yaml::parse(&Source::new(file, text), &Budget::default());
    if parsed.report.has_errors() {
        return Err(in_file(&"not valid YAML; `windlass lint` shows where"));
    }
    let values = parsed
        .documents
        .iter()
        .map(|document| document.root.to_json());
    Ok(values.filter(|value| !value.is_null()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_components_have_defaults() {
        let read = objects(
            "a.yaml",
            "kind: Namespace\nmetadata: {name: \"${NAME:=x}\"}\n",
            |_| None,
        )
        .unwrap();
        assert_eq!(read[0]["metadata"]["name"], "x");
    }
}
