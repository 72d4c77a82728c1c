//! Kinds that templates hold, as far as they are known: those of CRDs that are checked with them,
//! and those of Cluster API itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde_json::Value;

use crate::definitions;
use windlass_objects::{Object, fields};
use windlass_schema::Schema;
use windlass_source::Source;
use windlass_source::budget::Budget;

/// The kinds of some CRDs, by group and kind.
#[derive(Debug, Default)]
pub struct Known {
    kinds: BTreeMap<(String, String), Kind>,
    /// Groups and plurals that mutating webhooks are for; `*` is all of them.
    mutated: BTreeSet<(String, String)>,
}

#[derive(Debug)]
struct Kind {
    plural: String,
    versions: Vec<KnownVersion>,
}

#[derive(Debug)]
pub(super) struct KnownVersion {
    pub(super) name: String,
    pub(super) is_served: bool,
    /// Its schema, as the CRD has it; null when several CRDs have several.
    schema: Value,
    compiled: OnceLock<Option<Schema>>,
}

impl KnownVersion {
    fn new(name: String, is_served: bool, schema: Value) -> Self {
        KnownVersion {
            name,
            is_served,
            schema,
            compiled: OnceLock::new(),
        }
    }

    /// Its schema, compiled when the first object asks for it; nothing when that cannot be, which
    /// is a finding about the CRD.
    pub(super) fn schema(&self, budget: &Budget) -> Option<&Schema> {
        self.compiled
            .get_or_init(|| Schema::within(&self.schema, budget).ok())
            .as_ref()
    }
}

/// The kinds that some templates have objects of, in any group.
#[derive(Debug)]
pub struct Wanted<'a>(BTreeSet<&'a str>);

impl<'a> Wanted<'a> {
    /// What templates have objects of.
    pub fn of(templates: &'a [Source]) -> Self {
        Wanted(
            templates
                .iter()
                .flat_map(|source| kinds(source.text()))
                .collect(),
        )
    }
}

impl Known {
    /// Adds the kinds of the CRDs among some objects that are wanted.
    pub fn add(&mut self, objects: &[Object], wanted: &Wanted<'_>) {
        for crd in definitions::of(objects) {
            let (group, kind) = (
                crd.text(&["spec", "group"]),
                crd.text(&["spec", "names", "kind"]),
            );
            if wanted.0.contains(kind) {
                let versions = crd
                    .items(&["spec", "versions"])
                    .iter()
                    .map(version)
                    .collect();
                let plural = crd.text(&["spec", "names", "plural"]).to_owned();
                self.add_kind(
                    (group.to_owned(), kind.to_owned()),
                    Kind { plural, versions },
                );
            }
        }
        let configurations = objects
            .iter()
            .filter(|object| object.kind() == "MutatingWebhookConfiguration");
        let webhooks = configurations.flat_map(|object| object.items(&["webhooks"]));
        for rule in webhooks.flat_map(|webhook| fields::items(webhook, &["rules"])) {
            let texts = |field: &str| {
                fields::items(rule, &[field])
                    .iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
            };
            // `*/*` is everything with its subresources.
            let resources = || {
                texts("resources").map(|resource| {
                    if resource == "*/*" {
                        "*".to_owned()
                    } else {
                        resource
                    }
                })
            };
            self.mutated.extend(
                texts("apiGroups")
                    .flat_map(|group| resources().map(move |resource| (group.clone(), resource))),
            );
        }
    }

    /// Adds the kinds and the rules of mutating webhooks of another set.
    pub fn merge(&mut self, other: Self) {
        for (key, kind) in other.kinds {
            self.add_kind(key, kind);
        }
        self.mutated.extend(other.mutated);
    }

    /// Adds a kind. Of two CRDs of one kind, such as those of two releases, nobody knows which one
    /// counts: what they do not have in common is open.
    fn add_kind(&mut self, key: (String, String), kind: Kind) {
        let Some(known) = self.kinds.get_mut(&key) else {
            self.kinds.insert(key, kind);
            return;
        };
        for version in kind.versions {
            match known
                .versions
                .iter_mut()
                .find(|known| known.name == version.name)
            {
                Some(known)
                    if known.is_served == version.is_served && known.schema == version.schema => {}
                Some(known) => {
                    *known = KnownVersion::new(
                        version.name,
                        known.is_served || version.is_served,
                        Value::Null,
                    )
                }
                None => known.versions.push(version),
            }
        }
    }

    /// Whether the CRD of a kind is known.
    pub fn has(&self, group: &str, kind: &str) -> bool {
        self.versions(group, kind).is_some()
    }

    pub(super) fn versions(&self, group: &str, kind: &str) -> Option<&[KnownVersion]> {
        self.kinds
            .get(&(group.to_owned(), kind.to_owned()))
            .map(|kind| kind.versions.as_slice())
    }

    /// Whether a webhook may fill in what objects of a kind lack. Those of controller-runtime write
    /// each field that their Go type has, so that none is missing after them.
    pub fn is_mutated(&self, group: &str, kind: &str) -> bool {
        let Some(Kind { plural, .. }) = self.kinds.get(&(group.to_owned(), kind.to_owned())) else {
            return false;
        };
        let is_for = |group: &str, plural: &str| {
            self.mutated
                .contains(&(group.to_owned(), plural.to_owned()))
        };
        [group, "*"]
            .iter()
            .any(|group| is_for(group, plural) || is_for(group, "*"))
    }
}

fn version(version: &Value) -> KnownVersion {
    let name = version["name"].as_str().unwrap_or_default().to_owned();
    KnownVersion::new(
        name,
        version["served"] != false,
        version["schema"]["openAPIV3Schema"].clone(),
    )
}

/// What stands behind `kind:`, wherever that is.
fn kinds(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("kind:").map(|(at, key)| {
        let rest = text[at + key.len()..].trim_start_matches([' ', '"', '\'']);
        &rest[..rest
            .find(|c: char| !c.is_alphanumeric())
            .unwrap_or(rest.len())]
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn crd(version: &str, is_served: bool, schema: Value) -> Object {
        let versions =
            json!([{"name": version, "served": is_served, "schema": {"openAPIV3Schema": schema}}]);
        let spec = json!({"group": "foo.io", "names": {"kind": "Foo", "plural": "foos"}, "versions": versions});
        Object::made(json!({"kind": "CustomResourceDefinition", "spec": spec}))
    }

    fn known(objects: &[Object]) -> Known {
        let mut known = Known::default();
        known.add(
            objects,
            &Wanted::of(&[Source::new("t.yaml", "a: {kind: \"Foo\"}\n")]),
        );
        known
    }

    #[test]
    fn of_two_releases_what_they_share_counts() {
        let pairs = [
            ("v1", false, 1, true, 2),
            ("v2", true, 3, true, 3),
            ("v3", true, 1, true, 2),
            ("v4", false, 1, true, 1),
        ];
        let both = |(name, served, schema, other_served, other)| {
            [
                crd(name, served, json!(schema)),
                crd(name, other_served, json!(other)),
            ]
        };
        let known = known(&pairs.map(both).concat());
        let versions = known.versions("foo.io", "Foo").unwrap();
        let told: Vec<_> = versions
            .iter()
            .map(|version| {
                (
                    version.name.as_str(),
                    version.is_served,
                    version.schema.clone(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("v1", true, Value::Null),
                ("v2", true, json!(3)),
                ("v3", true, Value::Null),
                ("v4", true, Value::Null)
            ]
        );
        assert!(known.versions("bar.io", "Foo").is_none() && !known.is_mutated("foo.io", "Foo"));
    }

    #[test]
    fn kinds_that_no_template_has_are_left_out() {
        let mut known = Known::default();
        known.add(
            &[crd("v1", true, json!(1))],
            &Wanted::of(&[Source::new("t.yaml", "kind: Bar\nFoo: 1\n")]),
        );
        assert!(known.versions("foo.io", "Foo").is_none());
    }

    #[test]
    fn webhooks_fill_in_what_is_missing() {
        let webhook = |group: &str, resource: &str| {
            let rule = json!({"apiGroups": [group], "resources": [resource]});
            Object::made(
                json!({"kind": "MutatingWebhookConfiguration", "webhooks": [{"rules": [rule]}]}),
            )
        };
        for (group, resource, is_mutated) in [
            ("foo.io", "foos", true),
            ("foo.io", "*", true),
            ("*", "*", true),
            ("*", "foos", true),
            ("foo.io", "*/*", true),
            ("bar.io", "foos", false),
            ("foo.io", "bars", false),
            ("*", "bars", false),
            ("foo.io", "foos/status", false),
        ] {
            let known = known(&[crd("v1", true, json!(1)), webhook(group, resource)]);
            assert_eq!(
                known.is_mutated("foo.io", "Foo"),
                is_mutated,
                "{group} {resource}"
            );
        }
    }
}
