//! The schemas of a CustomResourceDefinition, checked as the API server checks them when the CRD is
//! created.
//!
//! Source: `pkg/apis/apiextensions/validation` and `pkg/apiserver/schema` of
//! apiextensions-apiserver 0.36. The types of CEL rules are checked only as far as the existence of
//! fields goes.

mod costs;
mod defaults;
mod found;
mod keywords;
mod lists;
mod openapi;
mod rules;
mod shape;
mod variable;

use serde_json::Value;

use super::compiler::compile;
use super::violation::shown;
use super::{Fault, MAX_DEPTH, Violation, ViolationKind};
use keywords::Keywords;
pub use variable::check_variable;
use windlass_go_text::regexp::Patterns;
use windlass_source::budget::Budget;
use windlass_source::diag::FieldPath;

/// A rule of a schema that cannot be checked here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Location.
    pub path: FieldPath,
    /// Why not.
    pub reason: String,
}

/// What the API server says about the schemas of a CRD (`apiextensions.k8s.io/v1`): see [`judge`].
pub fn check(crd: &Value, budget: &Budget) -> Vec<Violation> {
    judge(crd, budget).0
}

/// What the API server says about the schemas of a CRD (`apiextensions.k8s.io/v1`), and the rules
/// of which we cannot tell.
///
/// Paths lead to the versions as they are written. The API server first moves a schema that all
/// versions share (or that of the only version) to the top, so its messages say `spec.validation`
/// then.
pub fn judge(crd: &Value, budget: &Budget) -> (Vec<Violation>, Vec<Gap>) {
    let versions = crd
        .pointer("/spec/versions")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let schemas: Vec<_> = versions
        .iter()
        .map(|version| {
            version
                .pointer("/schema/openAPIV3Schema")
                .filter(|schema| !schema.is_null())
        })
        .collect();
    let at = |index: usize| {
        FieldPath::root()
            .field("spec")
            .field("versions")
            .index(index)
            .field("schema")
            .field("openAPIV3Schema")
    };
    let missing = |index: usize| Violation::required(at(index), "");
    let has_status = |version: &Value| {
        version
            .pointer("/subresources/status")
            .is_some_and(|status| !status.is_null())
    };
    let Some(first) = schemas.first() else {
        return Default::default();
    };
    let (patterns, mut gaps) = (windlass_go_text::regexp::Patterns::of(budget), Vec::new());
    if schemas.iter().all(|schema| schema == first) {
        let Some(schema) = first else {
            return ((0..schemas.len()).map(missing).collect(), gaps);
        };
        let found = check_schema(
            schema,
            versions.iter().any(has_status),
            &at(0),
            &patterns,
            &mut gaps,
            budget,
        );
        return (
            found
                .into_iter()
                .map(|violation| respelt(violation, &at(0).to_string()))
                .collect(),
            gaps,
        );
    }
    let one = |(index, schema): (usize, &Option<&Value>)| match schema {
        None => vec![missing(index)],
        Some(schema) => check_schema(
            schema,
            has_status(&versions[index]),
            &at(index),
            &patterns,
            &mut gaps,
            budget,
        ),
    };
    let violations = schemas.iter().enumerate().flat_map(one).collect();
    (violations, gaps)
}

/// The same violation under the name that a shared schema has.
fn respelt(violation: Violation, prefix: &str) -> Violation {
    const SHARED: &str = "spec.validation.openAPIV3Schema";
    let field = violation.field.replacen(prefix, SHARED, 1);
    let fault = match violation.fault {
        Fault::Words(words) => Fault::Words(words.replace(prefix, SHARED)),
        fault => fault,
    };
    Violation {
        field,
        fault,
        ..violation
    }
}

/// Versions have most of their `patterns` in common.
fn check_schema(
    schema: &Value,
    has_status: bool,
    path: &FieldPath,
    patterns: &Patterns,
    gaps: &mut Vec<Gap>,
    budget: &Budget,
) -> Vec<Violation> {
    let malformed = keywords::malformed(schema, path);
    if !malformed.is_empty() {
        return malformed;
    }
    let Some(root) = Keywords::of(schema) else {
        return Vec::new();
    };
    let mut violations = Vec::new();
    if has_status {
        violations.extend(status_root(root, path));
    }
    if root.flag("nullable") {
        violations.push(Violation::forbidden(
            path.field("nullable"),
            "nullable cannot be true at the root",
        ));
    }
    let unsupported = shape::unsupported(root);
    let compiled = compile(schema, patterns).ok();
    let misshapen = if unsupported.is_none() {
        shape::check(root, path, patterns)
    } else {
        Vec::new()
    };
    let is_shaped = unsupported.is_none() && misshapen.is_empty();
    violations.extend(misshapen);
    // Rules that cost too much are known before any of them is tried on a default.
    let found = openapi::check(root, compiled.as_ref(), is_shaped, path, patterns);
    let defaults = compiled
        .as_ref()
        .filter(|_| is_shaped)
        .map(|node| defaults::check(node, true, !found.costs_too_much, path, budget))
        .unwrap_or_default();
    gaps.extend(found.gaps);
    let rules = if is_shaped && compiled.is_some() && defaults.is_empty() {
        found.rules
    } else {
        Vec::new()
    };
    violations.extend(defaults.into_iter().chain(found.schema).chain(rules));
    if violations.is_empty()
        && let Some(reason) = unsupported
    {
        violations.push(Violation::invalid(path.clone(), &Value::from(""), &reason));
    }
    violations
}

/// With a status subresource the root may hold nothing that could check the status from outside of
/// it.
fn status_root(root: Keywords<'_>, path: &FieldPath) -> Option<Violation> {
    // The Go names of the keywords, in the order in which upstream lists them.
    const ALLOWED: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems \
                           MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";
    const REJECTED: [&str; 21] = [
        "id",
        "$schema",
        "$ref",
        "nullable",
        "default",
        "enum",
        "maxProperties",
        "minProperties",
        "allOf",
        "oneOf",
        "anyOf",
        "not",
        "additionalProperties",
        "patternProperties",
        "dependencies",
        "additionalItems",
        "definitions",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
    ];
    let kind = root.text("type");
    if !kind.is_empty() && kind != "object" {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        return Some(Violation::invalid(
            path.field("type"),
            &Value::from(kind),
            detail,
        ));
    }
    let rejected = REJECTED.iter().any(|keyword| root.is_set(keyword))
        || root.is_set("x-kubernetes-list-map-keys");
    rejected.then(|| {
        let detail = format!("only {ALLOWED} fields are allowed at the root of the schema if the status subresource is enabled");
        Violation::new(ViolationKind::Invalid, path.clone(), Some(&shown(&root.to_value())), &detail)
    })
}
