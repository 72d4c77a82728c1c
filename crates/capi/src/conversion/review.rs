//! ConversionReview: the question of the API server and our answer (apiextensions.k8s.io/v1).

use serde_json::{Value, json};

use super::{ConversionFault, convert};
use crate::api::names::{GROUP, Version};

/// Answers a ConversionReview. The objects come back in their order, all of them or none: the API
/// takes no partial answer, so the message of a failure names each object that could not be
/// converted.
pub fn review(question: &Value) -> Value {
    let request = &question["request"];
    let outcome = match convert_all(request) {
        Ok(objects) => json!({"convertedObjects": objects, "result": {"status": "Success"}}),
        Err(message) => {
            json!({"convertedObjects": [], "result": {"status": "Failure", "message": message}})
        }
    };
    let mut answer = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": outcome});
    answer["response"]["uid"] = request["uid"].clone();
    answer
}

fn convert_all(request: &Value) -> Result<Vec<Value>, String> {
    let desired = request["desiredAPIVersion"].as_str().unwrap_or_default();
    let version = desired
        .strip_prefix(GROUP)
        .and_then(|rest| rest.strip_prefix('/'))
        .and_then(Version::parse);
    let version = version.ok_or_else(|| {
        format!("request.desiredAPIVersion: {desired:?} is not a version of {GROUP} that is known")
    })?;
    let objects = request["objects"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let (mut converted, mut faults) = (Vec::with_capacity(objects.len()), Vec::new());
    for object in objects {
        match convert(object, version) {
            Ok(object) => converted.push(object),
            Err(fault) => faults.push(described(object, &fault)),
        }
    }
    if faults.is_empty() {
        Ok(converted)
    } else {
        Err(faults.join("; "))
    }
}

/// `WindlassConfig default/a: spec.…: Invalid value: …`.
fn described(object: &Value, fault: &ConversionFault) -> String {
    let text = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or("?")
    };
    format!(
        "{} {}/{}: {fault}",
        text("/kind"),
        text("/metadata/namespace"),
        text("/metadata/name")
    )
}
