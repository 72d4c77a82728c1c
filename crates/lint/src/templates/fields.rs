//! Fields of the objects in templates, by the schemas of the CRDs that are checked with them.

use serde_json::Value;

use super::Sampled;
use super::known::Known;
use crate::Extent;
use crate::scope::WORK_EXCEEDED;
use windlass_envsubst::{self as envsubst, Use};
use windlass_objects::json_patch::weight;
use windlass_objects::{Object, fields};
use windlass_schema::document::{self, Part, Wording};
use windlass_source::Source;
use windlass_source::budget::{Budget, Resource};
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// an object in a template has a field that its CRD does not have
    FIELD_UNKNOWN = error("template-field-unknown"), catalogue("T18");
    /// an object in a template lacks a field that its CRD requires
    FIELD_MISSING = error("template-field-missing"), catalogue("T18");
    /// a value in a template violates the schema of its CRD
    FIELD_REJECTED = error("template-field-rejected"), catalogue("T18");
}

const WORDING: Wording = Wording {
    unknown: &FIELD_UNKNOWN,
    missing: &FIELD_MISSING,
    rejected: &FIELD_REJECTED,
};

/// Checks the objects of a file whose kind and version are known. What a part of a template lacks
/// may come from elsewhere.
pub(super) fn check(
    sampled: &Sampled,
    known: &[&Known],
    extent: Extent,
    budget: &Budget,
) -> Report {
    let judge = |object: &Object| {
        let is_mutated = known
            .iter()
            .any(|known| known.is_mutated(object.group(), object.kind()));
        let found = judge(sampled, object, known, budget).into_iter();
        // What a webhook of the provider fills in, or leaves out because it is empty, the schema
        // never sees.
        let is_changed = |finding: &Diagnostic| match finding.rule {
            rule if rule == &FIELD_MISSING => {
                is_mutated || extent == Extent::Part || sampled.is_open(object)
            }
            rule if rule == &FIELD_REJECTED => {
                is_mutated && object.at(&finding.place.path).is_none_or(fields::is_empty)
            }
            _ => false,
        };
        found
            .filter(|finding| !is_changed(finding))
            .collect::<Vec<_>>()
    };
    sampled.objects().iter().flat_map(judge).collect()
}

fn judge(sampled: &Sampled, object: &Object, known: &[&Known], budget: &Budget) -> Vec<Diagnostic> {
    let versions = known
        .iter()
        .find_map(|known| known.versions(object.group(), object.kind()));
    let version = versions
        .unwrap_or_default()
        .iter()
        .find(|version| version.name == object.version() && version.is_served);
    let Some(schema) = version.and_then(|version| version.schema(budget)) else {
        return Vec::new();
    };
    let (mut value, mut paid) = (object.value().clone(), 0);
    let mut pay = |default: &Value| {
        let weight = weight(default);
        paid += weight;
        budget.take(Resource::Copies, weight)
    };
    if schema.apply_defaults_within(&mut value, &mut pay).is_err() {
        return vec![budget.blamed(|| {
            let message = format!(
                "with the defaults of its CRD {} is larger than what one run holds",
                sampled.title(object)
            );
            let finding =
                Diagnostic::of(&WORK_EXCEEDED, message).at(object.place(&FieldPath::default()));
            finding
                .help("use smaller defaults for list items in the CRD, or a smaller template")
                .note("its fields are not checked")
        })];
    }
    // They are held no longer than this object is checked.
    budget.give_back(Resource::Copies, paid);
    let at = |path: &FieldPath, part: Part| {
        if part == Part::Key {
            object.key_place(path)
        } else {
            object.place(path)
        }
    };
    let found = document::check_at(&value, schema, &WORDING, &at)
        .into_findings()
        .into_iter();
    let is_judged = |finding: &Diagnostic| {
        finding.rule != &FIELD_REJECTED || !is_open(sampled.written(object, &finding.place.path))
    };
    found
        .filter(is_judged)
        .map(|finding| in_object(sampled, object, finding))
        .collect()
}

/// Whether a text of the template has a variable of which nobody knows what it will be.
fn is_open(written: &str) -> bool {
    let source = Source::new("", written);
    let is_open = |used: &Use<'_>| used.default.is_none() || !used.gives_default(source.text());
    envsubst::parse(written).is_ok_and(|template| template.uses().iter().any(is_open))
}

fn in_object(sampled: &Sampled, object: &Object, mut finding: Diagnostic) -> Diagnostic {
    finding.message = format!("{} in {}", finding.message.marked(), sampled.title(object)).into();
    finding
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::known::Wanted;
    use super::*;

    fn found(spec: &str) -> Vec<String> {
        found_beside(spec, &[])
    }

    fn found_beside(spec: &str, objects: &[Object]) -> Vec<String> {
        found_within(spec, objects, &Budget::default())
    }

    fn found_within(spec: &str, objects: &[Object], budget: &Budget) -> Vec<String> {
        let text = format!(
            "apiVersion: foo.io/v1\nkind: Foo\nmetadata: {{name: \"${{CLUSTER_NAME}}\"}}\nspec:\n  {}\n",
            spec.replace('\n', "\n  ")
        );
        let source = Source::new("cluster-template.yaml", text);
        let port: Value = json!({"type": "integer", "format": "int32", "maximum": 65535});
        let properties = json!({
            "size": {"type": "string", "enum": ["small", "large", "4"]}, "port": port, "zone": {"type": "string", "default": "a"},
            "tags": {"type": "object", "additionalProperties": {"type": "string"}}, "disks": {"type": "array", "items": {"type": "string"}}, "options": {"type": "object", "minProperties": 1, "properties": {"a": {"type": "string"}}},
        });
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "required": ["size", "zone"], "properties": properties}}});
        let versions =
            json!([{"name": "v1", "served": true, "schema": {"openAPIV3Schema": schema}}]);
        let mut known = Known::default();
        let crd = json!({"kind": "CustomResourceDefinition", "spec": {"group": "foo.io", "names": {"kind": "Foo", "plural": "foos"}, "versions": versions}});
        known.add(
            &[Object::made(crd)],
            &Wanted::of(std::slice::from_ref(&source)),
        );
        known.add(objects, &Wanted::of(&[]));
        let sampled = Sampled::new(&source, &Budget::default()).unwrap();
        let report = check(&sampled, &[&known], Extent::Whole, budget);
        report
            .findings()
            .iter()
            .map(|finding| format!("{} {}", finding.rule.id, finding.place.path))
            .collect()
    }

    /// Kubernetes, "Extend the Kubernetes API with CustomResourceDefinitions": defaults come first,
    /// then the schema.
    #[test]
    fn values_are_those_that_the_schema_takes() {
        assert_eq!(found("size: large\nport: 443\ntags: {a: b}"), [""; 0]);
        assert_eq!(found("sise: large"), ["template-field-unknown spec.sise"]);
        assert_eq!(found("port: 1"), ["template-field-missing spec.size"]);
        assert_eq!(found("size: huge"), ["template-field-rejected spec.size"]);
        assert_eq!(
            found("size: large\nport: 70000"),
            ["template-field-rejected spec.port"]
        );
        assert_eq!(
            found("size: large\nport: \"443\""),
            ["template-field-rejected spec.port"]
        );
    }

    /// The default weighs nine bytes. What two objects hold one after the other is not held at
    /// once.
    #[test]
    fn defaults_are_bounded() {
        let small = |most: u64| Budget::default().with(Resource::Copies, most);
        assert_eq!(
            found_within("size: large", &[], &small(8)),
            ["lint-work-exceeded "]
        );
        let enough = small(9);
        for _ in 0..5 {
            assert_eq!(found_within("size: large", &[], &enough), [""; 0]);
        }
    }

    /// controller-runtime's defaulters write back what Go's types hold: a field without `omitempty`
    /// is there, an empty one with it is not.
    #[test]
    fn what_a_webhook_changes_is_not_judged() {
        let rule = json!({"apiGroups": ["foo.io"], "resources": ["foos"]});
        let webhook = [Object::made(
            json!({"kind": "MutatingWebhookConfiguration", "webhooks": [{"rules": [rule]}]}),
        )];
        assert_eq!(
            found("options: {}"),
            [
                "template-field-rejected spec.options",
                "template-field-missing spec.size"
            ]
        );
        assert_eq!(found_beside("options: {}", &webhook), [""; 0]);
        assert_eq!(
            found_beside("size: huge\nother: 1", &webhook),
            [
                "template-field-unknown spec.other",
                "template-field-rejected spec.size"
            ]
        );
    }

    /// A sample stands for a variable while the template is checked: its value is not shown.
    #[test]
    fn variables_without_defaults_can_be_anything() {
        for sound in [
            "size: ${SIZE}",
            "size: \"${SIZE}\"\nport: ${PORT}",
            "size: x${SIZE}\ndisks: ${DISKS}",
            "size: large\ntags: ${TAGS}\nport: ${PORT:=${OTHER}}",
            "size: ${SIZE:=large}\nport: ${PORT:=443}",
            "size: ${CLUSTER_NAME:0:54}",
        ] {
            assert_eq!(found(sound), [""; 0], "{sound}");
        }
        assert_eq!(
            found("size: ${SIZE:=huge}"),
            ["template-field-rejected spec.size"]
        );
        assert_eq!(
            found("size: large\nport: \"${PORT:=443}\""),
            ["template-field-rejected spec.port"],
            "a text, in quotes"
        );
        assert_eq!(found("size: \"${SIZE:=4}\""), [""; 0]);
        assert_eq!(
            found("size: ${SIZE}\nprot: ${PORT}"),
            ["template-field-unknown spec.prot"]
        );
    }
}
