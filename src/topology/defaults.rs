//! Templates as the API server has them, where the input holds their CRDs: with the defaults of the schema, which patches may replace.

use std::collections::BTreeMap;

use crate::contract::crd_name;
use crate::objects::{Object, Pool};
use crate::schema::Schema;

/// The group and kind of CRDs.
pub(super) const DEFINITION: [&str; 2] = ["apiextensions.k8s.io", "CustomResourceDefinition"];

/// The objects with the defaults of those templates; nothing when there are none.
pub(super) fn with_defaults(pool: &Pool) -> Option<Pool> {
    pool.names_of(DEFINITION[0], DEFINITION[1]).next()?;
    let mut schemas = BTreeMap::new();
    let mut changed = Vec::new();
    for (at, object) in pool.objects().iter().enumerate().filter(|(_, object)| object.kind().ends_with("Template")) {
        let key = (object.group(), object.kind(), object.version());
        let schema: &Option<Schema> = schemas.entry(key).or_insert_with(|| schema(pool, object));
        let Some(schema) = schema else { continue };
        let mut value = object.value().clone();
        schema.apply_defaults(&mut value);
        if value != *object.value() {
            changed.push((at, object.revised(value)));
        }
    }
    (!changed.is_empty()).then(|| pool.clone().with(changed, None))
}

/// The schema of the version of an object. One that is none says nothing: `lint` judges CRDs.
fn schema(pool: &Pool, object: &Object) -> Option<Schema> {
    let definition = pool.named(DEFINITION[0], DEFINITION[1], &crd_name(object.group(), object.kind()))?;
    let versions = definition.items(&["spec", "versions"]);
    let version = versions.iter().find(|version| version["name"] == object.version())?;
    Schema::from_json(&version["schema"]["openAPIV3Schema"]).ok()
}
