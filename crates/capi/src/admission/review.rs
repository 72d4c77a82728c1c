//! AdmissionReview: the question of the API server and our answer (admission.k8s.io/v1).

use serde_json::{Value, json};

use super::{Judge, spec_of, warnings};
use crate::api::names::{GROUP, Kind, Version};
use crate::conversion::convert;
use windlass_schema::Violation;

const API_VERSION: &str = "admission.k8s.io/v1";

/// Answers an AdmissionReview about a WindlassConfig or WindlassConfigTemplate.
///
/// The API server converts objects of v1beta1 before it asks (`matchPolicy: Equivalent`); one that
/// comes nevertheless is converted here. Deletions, and updates of an object that is being deleted,
/// are always allowed. A question that is none gets an answer too: not allowed, with code 400. A
/// dry run is answered as the real thing: nothing here has effects, and nothing is defaulted.
pub fn review(question: &Value) -> Value {
    let request = &question["request"];
    let mut response = match judge(question, request) {
        Ok(response) => response,
        Err(message) => json!({"allowed": false, "status": failure(400, "BadRequest", &message)}),
    };
    response["uid"] = json!(request["uid"].as_str().unwrap_or_default());
    json!({"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response})
}

fn judge(question: &Value, request: &Value) -> Result<Value, String> {
    if question["apiVersion"] != API_VERSION || question["kind"] != "AdmissionReview" {
        return Err(format!("must be an AdmissionReview of {API_VERSION}"));
    }
    if request["uid"].as_str().is_none_or(str::is_empty) {
        return Err("request.uid must be set".to_owned());
    }
    match request["operation"].as_str() {
        Some("CREATE" | "UPDATE") => {}
        Some("DELETE" | "CONNECT") => return Ok(allowed(&[])),
        _ => return Err("request.operation must be CREATE, UPDATE, DELETE or CONNECT".to_owned()),
    }
    let object = &request["object"];
    let kind = identify(object)?;
    if !object["metadata"]["deletionTimestamp"].is_null() {
        return Ok(allowed(&[]));
    }
    let converted =
        convert(object, Version::V1Beta2).map_err(|fault| format!("request.object: {fault}"))?;
    let judge = Judge::windlass(kind);
    let violations = judge.object(kind, &converted);
    let warnings: Vec<String> = warnings(spec_of(kind, &converted), &judge.path)
        .iter()
        .map(ToString::to_string)
        .collect();
    if violations.is_empty() {
        return Ok(allowed(&warnings));
    }
    // An object with generateName has no name yet; the request says so too.
    let name = object["metadata"]["name"]
        .as_str()
        .or(request["name"].as_str())
        .unwrap_or_default();
    let mut response =
        json!({"allowed": false, "status": invalid(&judge, kind, name, &violations)});
    warn(&mut response, &warnings);
    Ok(response)
}

fn identify(object: &Value) -> Result<Kind, String> {
    if object.is_null() {
        return Err("request.object: there is no content to decode".to_owned());
    }
    let group = object["apiVersion"]
        .as_str()
        .and_then(|version| version.split_once('/'))
        .map(|(group, _)| group);
    let kind = object["kind"]
        .as_str()
        .and_then(Kind::parse)
        .filter(|_| group == Some(GROUP));
    kind.ok_or_else(|| {
        format!(
            "request.object: must be a {} or {} of {GROUP}",
            Kind::Config,
            Kind::Template
        )
    })
}

fn allowed(warnings: &[String]) -> Value {
    let mut response = json!({"allowed": true, "status": {"code": 200}});
    warn(&mut response, warnings);
    response
}

fn warn(response: &mut Value, warnings: &[String]) {
    if !warnings.is_empty() {
        response["warnings"] = json!(warnings);
    }
}

fn failure(code: u16, reason: &str, message: &str) -> Value {
    json!({"metadata": {}, "status": "Failure", "code": code, "reason": reason, "message": message})
}

/// The `Status` of a rejected object (`apierrors.NewInvalid`).
fn invalid(judge: &Judge, kind: Kind, name: &str, violations: &[Violation]) -> Value {
    let cause = |violation: &Violation| json!({"reason": violation.kind.reason(), "message": violation.body(), "field": violation.field});
    let mut status = failure(422, "Invalid", &judge.rejection(kind, name, violations));
    let causes: Vec<_> = violations.iter().map(cause).collect();
    status["details"] =
        json!({"group": GROUP, "kind": kind.as_str(), "name": name, "causes": causes});
    status
}
