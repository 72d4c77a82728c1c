//! CRDs as the core and the API server take them: names, contract labels, schemas, conversion
//! (book: "All resources: version", "BootstrapConfig, BootstrapConfigList resource definition").

pub(crate) mod bounds;
pub(crate) mod contract_labels;
pub(crate) mod fields_demanded;
mod kind;
pub(crate) mod kinds;
mod lost_fields;
pub mod outdated;
pub(crate) mod rights;
mod unmet;
pub(crate) mod versions;

use windlass_capi::contract::{book, crd_name, labels};
use windlass_objects::Object;
use windlass_schema::structural;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// the name of a CRD differs from the name that Cluster API computes
    NAME_WRONG = error("crd-name-wrong"), url(book::CRD_NAME), catalogue("R06");
    /// the name of a CRD is not its plural, a dot and its group
    NAME_NOT_PLURAL = error("crd-name-not-plural");
    /// the schema of a CRD is not structural, or the API server rejects its defaults or rules
    NOT_STRUCTURAL = error("crd-not-structural");
    /// a CEL rule of a CRD exceeds the length or nesting limit and was not checked
    RULE_UNJUDGED = warning("crd-rule-unchecked");
    /// a CRD contains a `caBundle`, which Kubernetes 1.31 and later reject on the second apply
    CA_BUNDLE = error("crd-ca-bundle-present");
}

pub(crate) use kind::definitions_of;

/// The API group of CustomResourceDefinitions, without version.
pub const CRD_GROUP: &str = "apiextensions.k8s.io";
/// The kind of CRDs, in the group [`CRD_GROUP`].
pub const CRD_KIND: &str = "CustomResourceDefinition";

/// Returns the CRDs among some objects, in their order. Only the kind is compared, not the group.
pub fn of(objects: &[Object]) -> impl Iterator<Item = &Object> {
    objects.iter().filter(|object| object.kind() == CRD_KIND)
}

/// Checks a CRD, labels included.
pub(super) fn check(crd: &Object, budget: &Budget) -> Report {
    let mut report = apart_from_its_name(crd, budget);
    // A fix of one fixes the other.
    report.extend(name(crd).or_else(|| plural(crd)));
    report
}

/// Checks a CRD to which kustomize may still add labels and annotations, such as the one that
/// waives the rule about its name.
pub(super) fn check_part(crd: &Object, budget: &Budget) -> Report {
    let mut report = apart_from_its_name(crd, budget);
    report.extend(plural(crd));
    report
}

fn apart_from_its_name(crd: &Object, budget: &Budget) -> Report {
    let mut report: Report = contract_labels::unknown_versions(crd).into_iter().collect();
    report.extend(conversion(crd));
    report.extend(structure(crd, budget));
    report.extend(bounds::check(crd));
    report
}

fn path(fields: &[&str]) -> FieldPath {
    fields
        .iter()
        .fold(FieldPath::root(), |path, field| path.field(*field))
}

/// The API server wants the plural in the name. That one of its parts is not there is another
/// fault.
fn plural(crd: &Object) -> Option<Diagnostic> {
    let (group, plural) = (
        crd.text(&["spec", "group"]),
        crd.text(&["spec", "names", "plural"]),
    );
    let (name, expected) = (crd.name(), format!("{plural}.{group}"));
    if group.is_empty() || plural.is_empty() || name == expected {
        return None;
    }
    let finding = Diagnostic::of(
        &NAME_NOT_PLURAL,
        format!("metadata.name is `{name}`, but plural and group make `{expected}`"),
    );
    let help = match name
        .strip_suffix(group)
        .and_then(|rest| rest.strip_suffix('.'))
        .filter(|plural| !plural.is_empty())
    {
        Some(plural) if name == crd_name(group, crd.text(&["spec", "names", "kind"])) => {
            format!("write `plural: {plural}` in `spec.names`")
        }
        Some(plural) => {
            format!("write `plural: {plural}` in `spec.names`, or name it `{expected}`")
        }
        None => format!("name it `{expected}`"),
    };
    let said = format!(
        "metadata.name: Invalid value: \"{name}\": must be spec.names.plural+\".\"+spec.group"
    );
    Some(
        finding
            .at(crd.place(&path(&["metadata", "name"])))
            .help(help)
            .upstream(said),
    )
}

/// The core computes the name instead of searching for it, unless an annotation says that it never
/// looks for the kind.
fn name(crd: &Object) -> Option<Diagnostic> {
    let expected = crd_name(
        crd.text(&["spec", "group"]),
        crd.text(&["spec", "names", "kind"]),
    );
    let is_skipped = crd.value()["metadata"]["annotations"]
        .get(labels::SKIP_CRD_NAME_CHECK)
        .is_some();
    (!is_skipped && crd.name() != expected).then(|| {
        Diagnostic::of(&NAME_WRONG, format!("metadata.name is `{}`, but Cluster API looks for `{expected}`", crd.name()))
            .at(crd.place(&path(&["metadata", "name"])))
            .help(format!(
                "name it `{expected}` with that plural; for a kind that core objects never refer to, set the annotation `{}`",
                labels::SKIP_CRD_NAME_CHECK
            ))
    })
}

fn conversion(crd: &Object) -> Option<Diagnostic> {
    let at = path(&["spec", "conversion", "webhook", "clientConfig", "caBundle"]);
    let bundle = &crd.value()["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"];
    (!bundle.is_null()).then(|| {
        Diagnostic::of(
            &CA_BUNDLE,
            "spec.conversion.webhook.clientConfig.caBundle is set",
        )
        .at(crd.place(&at))
        .help("remove the field; cert-manager injects the CA")
        .note("from Kubernetes 1.31 on a CRD with a dummy bundle cannot be applied a second time")
    })
}

/// What the API server would reject about schemas, defaults and rules, or store as the condition
/// NonStructuralSchema.
fn structure(crd: &Object, budget: &Budget) -> Report {
    let (violations, gaps) = structural::judge(crd.value(), budget);
    let rejected = violations.into_iter().map(|violation| {
        Diagnostic::of(
            &NOT_STRUCTURAL,
            format!(
                "{} of {} is not what the API server takes",
                violation.path,
                crd.title()
            ),
        )
        .at(crd.place(&violation.path))
        .help("correct the type that the CRD is generated from")
        .note(format!("the API server says: {violation}"))
        .upstream(violation.to_string())
    });
    let unchecked = gaps.into_iter().map(|gap| {
        Diagnostic::of(
            &RULE_UNJUDGED,
            format!(
                "{} of {} is not checked here: {}",
                gap.path,
                crd.title(),
                gap.reason
            ),
        )
        .at(crd.place(&gap.path))
        .help("split the rule into several shorter ones, or validate the CRD with an API server")
    });
    rejected.chain(unchecked).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Book, "Labels and annotations": the annotation is for kinds that core objects never refer
    /// to. The name that the API server demands (`<plural>.<group>`) stays due.
    #[test]
    fn naming_rule_is_waived_by_its_annotation_alone() {
        let faulty = |called: &str, annotations: Value| {
            let crd = json!({
                "metadata": {"name": called, "annotations": annotations},
                "spec": {"group": "foo.dev", "names": {"kind": "FooConfig", "plural": "foos"}},
            });
            let crd = Object::made(crd);
            name(&crd)
                .or_else(|| plural(&crd))
                .map(|finding| finding.rule.id)
        };
        let skip = json!({"clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check": ""});
        assert_eq!(
            faulty("foos.foo.dev", json!({"other": ""})),
            Some("crd-name-wrong")
        );
        assert_eq!(faulty("foos.foo.dev", skip.clone()), None);
        assert_eq!(
            faulty("fooconfigs.foo.dev", skip),
            Some("crd-name-not-plural")
        );
        assert_eq!(
            faulty("fooconfigs.foo.dev", json!({})),
            Some("crd-name-not-plural")
        );
    }

    /// Book, "IPAM contract": the name of a pool's CRD follows the rule of all kinds of the
    /// contract.
    #[test]
    fn pools_of_addresses_are_named_as_all_kinds_are() {
        let judged = |called: &str, plural: &str| {
            let group = "ipam.cluster.x-k8s.io";
            let names = json!({"kind": "FooPool", "plural": plural});
            let crd = json!({"metadata": {"name": format!("{called}.{group}")}, "spec": {"group": group, "names": names}});
            name(&Object::made(crd)).map(|finding| finding.rule.id)
        };
        assert_eq!(judged("foopools", "foopools"), None);
        assert_eq!(judged("pools", "pools"), Some("crd-name-wrong"));
    }

    /// apiextensions-apiserver, pkg/apis/apiextensions/validation,
    /// ValidateCustomResourceDefinition.
    #[test]
    fn the_name_is_plural_and_group() {
        let told = |name: &str, group: &str, names: Value| {
            let crd = json!({"metadata": {"name": name}, "spec": {"group": group, "names": names}});
            plural(&Object::made(crd)).map(|finding| {
                (
                    finding.help.unwrap().to_string(),
                    finding.upstream.unwrap_or_default(),
                )
            })
        };
        assert_eq!(
            told("foos.foo.dev", "foo.dev", json!({"plural": "foos"})),
            None
        );
        assert_eq!(
            told("foos.foo.dev", "foo.dev", json!({"kind": "Foo"})),
            None
        );
        assert_eq!(told("foos.foo.dev", "", json!({"plural": "foos"})), None);
        let (help, upstream) = told("fooes.foo.dev", "foo.dev", json!({"plural": "foos"})).unwrap();
        assert_eq!(
            help,
            "write `plural: fooes` in `spec.names`, or name it `foos.foo.dev`"
        );
        assert_eq!(
            upstream,
            "metadata.name: Invalid value: \"fooes.foo.dev\": must be spec.names.plural+\".\"+spec.group"
        );
        let right = told(
            "foos.foo.dev",
            "foo.dev",
            json!({"kind": "Foo", "plural": "fooes"}),
        )
        .unwrap()
        .0;
        assert_eq!(
            right, "write `plural: foos` in `spec.names`",
            "Cluster API looks for that name"
        );
        assert_eq!(
            told("foos.bar.dev", "foo.dev", json!({"plural": "foos"}))
                .unwrap()
                .0,
            "name it `foos.foo.dev`"
        );
    }
}
