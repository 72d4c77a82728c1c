//! The contract of Cluster API: what our release fulfils, rule by rule, and the table that says
//! which test proves what.
//!
//! Ids in comments (`BC-15`, `CC-13`, …) are those of `docs/contract.tsv`.

mod components;
mod definitions;
mod infrastructure;
mod releases;
mod table;
mod templates;

use std::sync::LazyLock;

use serde_json::Value;
use windlass_release::emit::release::Release;

/// Our release, built once for all tests.
static RELEASE: LazyLock<Release> = LazyLock::new(crate::release::built);

/// The objects of its components.
static OBJECTS: LazyLock<Vec<Value>> = LazyLock::new(|| crate::release::objects(&RELEASE));

/// The CRDs of our release: of the config and of the template.
fn crds() -> [&'static Value; 2] {
    of_kind("CustomResourceDefinition").try_into().unwrap()
}

/// The objects of a kind in the components of our release.
fn of_kind(kind: &str) -> Vec<&'static Value> {
    OBJECTS
        .iter()
        .filter(|object| object["kind"] == kind)
        .collect()
}

/// The only object of a kind.
fn the(kind: &str) -> &'static Value {
    let [only] = of_kind(kind)[..] else {
        panic!("{kind}: not one")
    };
    only
}

/// The items of a list; none where there is no list.
fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// The texts in a list.
fn texts(list: &Value) -> Vec<&str> {
    items(list)
        .iter()
        .map(|item| item.as_str().unwrap())
        .collect()
}
