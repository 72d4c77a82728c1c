//! Templates as the API server has them, where the input holds their CRDs: with the defaults of the
//! schema, which patches may replace.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::made::{pay, weight};
use super::{DEFAULTS_UNKNOWN, SIZE_EXCEEDED};
use windlass_capi::contract::crd_name;
use windlass_objects::{Object, Pool};
use windlass_schema::Schema;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Report};

pub(super) const DEFINITION: [&str; 2] = ["apiextensions.k8s.io", "CustomResourceDefinition"];

/// The objects with the defaults of their CRDs applied to templates (`None` if that changes
/// nothing), and findings about templates whose CRD cannot be used.
///
/// # Errors
/// A finding if a template with its defaults is larger than a run may hold.
pub(super) fn with_defaults(
    pool: &Pool,
    budget: &Budget,
) -> Result<(Option<Pool>, Report), Box<Diagnostic>> {
    let mut report = Report::new();
    if pool.names_of(DEFINITION[0], DEFINITION[1]).next().is_none() {
        return Ok((None, report));
    }
    let mut schemas = BTreeMap::new();
    let mut changed = Vec::new();
    for (at, object) in pool
        .objects()
        .iter()
        .enumerate()
        .filter(|(_, object)| object.kind().ends_with("Template"))
    {
        let schema: &Option<Schema> =
            match schemas.entry((object.group(), object.kind(), object.version())) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => {
                    free.insert(schema(pool, object, budget).unwrap_or_else(|finding| {
                        report.push(*finding);
                        None
                    }))
                }
            };
        let Some(schema) = schema else { continue };
        let mut value = object.value().clone();
        schema
            .apply_defaults_within(&mut value, &mut |default| pay(budget, weight(default)))
            .map_err(|_| too_large(object))?;
        if value != *object.value() {
            changed.push((at, object.revised(value)));
        }
    }
    Ok((
        (!changed.is_empty()).then(|| pool.clone().with(changed, None)),
        report,
    ))
}

/// The schema of the version of an object, if the input has its CRD.
///
/// # Errors
/// When the CRD has none that can be used.
fn schema(
    pool: &Pool,
    object: &Object,
    budget: &Budget,
) -> Result<Option<Schema>, Box<Diagnostic>> {
    let name = crd_name(object.group(), object.kind());
    let Some(definition) = pool.named(DEFINITION[0], DEFINITION[1], &name) else {
        return Ok(None);
    };
    let versions = definition.items(&["spec", "versions"]);
    let Some(version) = versions
        .iter()
        .find(|version| version["name"] == object.version())
    else {
        let known: Vec<&str> = versions
            .iter()
            .filter_map(|version| version["name"].as_str())
            .collect();
        let message = format!(
            "CRD {name} has no version {}: no defaults are applied to {}",
            object.version(),
            title(object)
        );
        let help = format!(
            "write a version that it has ({}), or name the file with the CRD that has this one",
            known.join(", ")
        );
        return Err(Box::new(unknown(object, message).help(help)));
    };
    Schema::within(&version["schema"]["openAPIV3Schema"], budget)
        .map(Some)
        .map_err(|violation| {
            let message = format!(
                "the schema of CRD {name} cannot be read: {} is used unchanged: {}",
                title(object),
                violation.fault
            );
            Box::new(
                unknown(object, message)
                    .related(definition.place(&FieldPath::default()), "the CRD")
                    .help("fix the schema; `windlass lint` checks CRDs"),
            )
        })
}

fn unknown(object: &Object, message: String) -> Diagnostic {
    Diagnostic::of(&DEFAULTS_UNKNOWN, message).at(object.place(&FieldPath::of_fields("apiVersion")))
}

fn too_large(object: &Object) -> Box<Diagnostic> {
    let message = format!(
        "with the defaults of its CRD {} is larger than what one run holds",
        title(object)
    );
    let finding = Diagnostic::of(&SIZE_EXCEEDED, message).at(object.place(&FieldPath::default()));
    Box::new(finding.help("leave out the file with the CRD: the template is used unchanged then"))
}

fn title(object: &Object) -> String {
    format!("{}/{}", object.kind(), object.name())
}
