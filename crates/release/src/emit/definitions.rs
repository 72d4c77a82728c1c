//! CRDs that controller-gen, kube-rs or kustomize printed: checked, labelled with the contracts,
//! made to survive substitution (book: "All resources: version", "BootstrapConfig,
//! BootstrapConfigList resource definition").

use serde_json::Value;

use super::rbac::Kind;
use windlass_capi::contract::{ApiVersion, KindFacts, ProviderType, Role, Roles, book, labels};
use windlass_lint::definitions::{CRD_GROUP, CRD_KIND};
use windlass_objects::{Misfit, Object, fields};
use windlass_provider::{CrdMetadata, Provider};
use windlass_source::diag::{Diagnostic, FieldPath, Place, Quoted, Report, rules};

rules! {
    /// `crds` in provider.yaml matches an object that is not a CRD
    NOT_A_CRD = error("provider-crd-other-kind");
    /// `crds` in provider.yaml matches a CRD of a group that `group` does not list
    FOREIGN_GROUP = error("provider-crd-foreign-group");
    /// a contract label of a CRD contradicts `contracts` in provider.yaml
    LABEL_WRONG = error("crd-contract-label-wrong"), url(book::CONTRACT_LABELS);
    /// a contract label names versions that the CRD does not serve, and the release corrects it
    LABEL_CORRECTED = info("crd-contract-label-corrected"), url(book::CONTRACT_LABELS);
    /// no version of a CRD is listed under `contracts`, so core objects cannot refer to its kind
    VERSION_MISSING = info("crd-contract-version-missing"), url(book::CONTRACT_LABELS);
}

pub(crate) fn kind_of(crd: &Value) -> Kind {
    let spec = &crd["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let versions = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
    Kind {
        group: text(&spec["group"]),
        kind: text(&spec["names"]["kind"]),
        plural: text(&spec["names"]["plural"]),
        has_status: versions
            .iter()
            .any(|version| version["subresources"]["status"].is_object()),
        has_several_versions: versions.len() > 1,
    }
}

/// Checks the CRDs of a provider. `pattern` is the place of the pattern in provider.yaml that took
/// a file, for faults of the pattern.
pub(crate) fn check(provider: &Provider, crd: &Object, pattern: &Place) -> Report {
    if !crd.is(CRD_GROUP, CRD_KIND) {
        let finding = Diagnostic::of(
            &NOT_A_CRD,
            format!(
                "`crds` also takes {}, which is not a CustomResourceDefinition",
                crd.title()
            ),
        );
        return [finding
            .at(pattern.clone())
            .related(crd.place(&path(&["kind"])), "")
            .help("name it under `objects`")]
        .into_iter()
        .collect();
    }
    if let Some(finding) = foreign_group(provider, crd, pattern) {
        return [finding].into_iter().collect();
    }
    contract_labels(provider, crd)
}

/// Checks a CRD in components that a tool already built.
pub(crate) fn check_built(provider: &Provider, crd: &Object) -> Report {
    let wrong = wanted_labels(provider, crd.value())
        .into_iter()
        .filter(|(key, wanted)| served_part(crd, key).as_ref() != Some(wanted));
    let findings = wrong.filter_map(|(key, wanted)| wrong_label(crd, &key, &wanted));
    findings.map(|finding| finding.help("correct `contracts`, or leave it out: then the labels of the file stay as they are")).collect()
}

/// The versions of a contract label of a CRD that the CRD serves, as the label would name them.
fn served_part(crd: &Object, key: &str) -> Option<String> {
    let served = versions(crd.value());
    let named = crd
        .label(key)?
        .split(labels::CONTRACT_VERSIONS_SEPARATOR)
        .filter(|version| served.contains(version));
    Some(
        named
            .collect::<Vec<_>>()
            .join(&labels::CONTRACT_VERSIONS_SEPARATOR.to_string()),
    )
}

/// The contract labels in components that a tool already built which also name versions that their
/// CRDs do not serve: `contracts` says the same without these, so the labels are corrected, which
/// is reported once. Label tools put one value on all CRDs.
pub(crate) fn corrected<'o>(
    provider: &Provider,
    crds: impl Iterator<Item = &'o Object>,
) -> Option<Diagnostic> {
    let corrections = crds.flat_map(|crd| {
        let is_corrected = |(key, wanted): &(String, String)| {
            crd.label(key).is_some_and(|found| found != wanted)
                && served_part(crd, key).as_ref() == Some(wanted)
        };
        wanted_labels(provider, crd.value())
            .into_iter()
            .filter(is_corrected)
            .map(move |(key, wanted)| (crd, key, wanted))
    });
    let corrections: Vec<_> = corrections.collect();
    let ((crd, key, wanted), others) = corrections.split_first()?;
    let place = |crd: &Object, key: &str| crd.place(&path(&["metadata", "labels"]).field(key));
    let found = crd.label(key).unwrap_or_default();
    let message = format!(
        "label {key} of {} is `{found}` and becomes `{wanted}`, the versions that it serves",
        crd.title(),
        found = Quoted(found)
    );
    let finding = Diagnostic::of(&LABEL_CORRECTED, message).at(place(crd, key));
    let finding = finding
        .help("nothing needs to be done; or label each CRD with the versions that it serves");
    Some(others.iter().fold(finding, |finding, (crd, key, wanted)| {
        finding.related(place(crd, key), format!("becomes `{wanted}`"))
    }))
}

fn path(fields: &[&str]) -> FieldPath {
    fields
        .iter()
        .fold(FieldPath::root(), |path, field| path.field(*field))
}

/// Whether a CRD is of one of the groups of the provider; every CRD is when it names none.
pub(crate) fn is_of_provider(provider: &Provider, crd: &Object) -> bool {
    provider.group.is_none()
        || provider
            .group
            .iter()
            .chain(&provider.groups)
            .any(|group| group == crd.text(&["spec", "group"]))
}

fn foreign_group(provider: &Provider, crd: &Object, pattern: &Place) -> Option<Diagnostic> {
    let wanted = provider.group.as_deref()?;
    let groups: Vec<&str> = std::iter::once(wanted)
        .chain(provider.groups.iter().map(String::as_str))
        .collect();
    let kind = kind_of(crd.value());
    (!is_of_provider(provider, crd)).then(|| {
        Diagnostic::of(&FOREIGN_GROUP, format!("`crds` also takes {} of group {}", kind.kind, kind.group))
            .at(pattern.clone())
            .label(format!("the groups are {}", groups.join(", ")))
            .related(crd.place(&path(&["spec", "group"])), "")
            .help(format!(
                "add `{}` to `groups`, or write a pattern that takes other files only, such as `…/{wanted}_*.yaml`",
                kind.group
            ))
    })
}

/// The versions that a CRD serves, as it lists them.
pub fn versions(crd: &Value) -> Vec<&str> {
    let listed = crd["spec"]["versions"].as_array().into_iter().flatten();
    listed
        .filter(|version| version["served"] != false)
        .filter_map(|version| version["name"].as_str())
        .collect()
}

/// The contract labels that provider.yaml gives a CRD: for each contract those of its versions that
/// the CRD serves, the newest last, which is the one that the core takes.
fn wanted_labels(provider: &Provider, crd: &Value) -> Vec<(String, String)> {
    let known = versions(crd);
    let kind = fields::text(crd, &["spec", "names", "kind"]);
    provider
        .contracts_of(kind)
        .iter()
        .map(|(contract, versions)| {
            let mut fulfilled: Vec<&str> = versions
                .iter()
                .map(String::as_str)
                .filter(|version| known.contains(version))
                .collect();
            fulfilled.sort_by_key(|version| ApiVersion::parse(version));
            fulfilled.dedup();
            (
                format!("{}{contract}", labels::CONTRACT_PREFIX),
                fulfilled.join(&labels::CONTRACT_VERSIONS_SEPARATOR.to_string()),
            )
        })
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

fn contract_labels(provider: &Provider, crd: &Object) -> Report {
    let wanted = wanted_labels(provider, crd.value());
    let mut report: Report = wanted
        .iter()
        .filter_map(|(key, value)| wrong_label(crd, key, value))
        .collect();
    report.extend(undeclared_labels(crd, &wanted));
    let known = versions(crd.value());
    if wanted.is_empty()
        && !provider
            .contracts_of(crd.text(&["spec", "names", "kind"]))
            .is_empty()
    {
        report.push(no_version_fulfils(provider, crd, &known));
    }
    report
}

fn no_version_fulfils(provider: &Provider, crd: &Object, known: &[&str]) -> Diagnostic {
    let contracts = provider.contracts_of(crd.text(&["spec", "names", "kind"]));
    let declared: Vec<&str> = contracts.values().flatten().map(String::as_str).collect();
    let message = format!(
        "no version of {} fulfils a contract: it has {}, `contracts` names {}",
        crd.title(),
        known.join(", "),
        declared.join(", ")
    );
    Diagnostic::of(&VERSION_MISSING, message)
        .at(crd.place(&path(&["spec", "versions"])))
        .help("name under `contracts` the versions that the CRD serves, if core objects refer to the kind")
}

/// A label that is there must say what provider.yaml says.
fn wrong_label(crd: &Object, key: &str, wanted: &str) -> Option<Diagnostic> {
    let found = crd.value()["metadata"]["labels"].get(key)?;
    (found.as_str() != Some(wanted)).then(|| {
        let shown = found
            .as_str()
            .map_or_else(|| found.to_string(), str::to_owned);
        Diagnostic::of(
            &LABEL_WRONG,
            format!("label {key} is `{shown}`, but `contracts` of provider.yaml gives `{wanted}`"),
        )
        .at(crd.place(&path(&["metadata", "labels"]).field(key)))
        .help("remove the label from the file, or correct `contracts`")
    })
}

/// A contract label for a contract that provider.yaml does not declare would make the core read
/// fields that nobody promised.
fn undeclared_labels(crd: &Object, wanted: &[(String, String)]) -> Report {
    let labels_found = crd.value()["metadata"]["labels"].as_object();
    let keys = labels_found.into_iter().flatten().map(|(key, _)| key);
    keys.filter(|key| is_contract_label(key) && wanted.iter().all(|(known, _)| known != *key))
        .map(|key| {
            Diagnostic::of(
                &LABEL_WRONG,
                format!("label {key} means a contract that `contracts` of provider.yaml does not give this CRD"),
            )
            .at(crd.place(&path(&["metadata", "labels"]).field(key.as_str())))
            .help("remove the label from the file, or declare the contract under `contracts`")
        })
        .collect()
}

/// Whether a label key is `cluster.x-k8s.io/v…`, with a version of the form that Kubernetes uses.
pub(crate) fn is_contract_label(key: &str) -> bool {
    key.strip_prefix(labels::CONTRACT_PREFIX)
        .and_then(|rest| rest.strip_prefix('v'))
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether core objects refer to the kind of a CRD of such a provider, so that the core looks it up
/// by its contract labels (book: "All resources: version").
pub(crate) fn is_looked_up(provider_type: ProviderType, roles: &Roles, crd: &Object) -> bool {
    let role = roles.of(&KindFacts {
        group: crd.text(&["spec", "group"]),
        kind: crd.text(&["spec", "names", "kind"]),
        is_labelled: true,
        provider_type: Some(provider_type),
    });
    role.is_some_and(Role::is_looked_up)
}

/// Whether a CRD in finished components gets contract labels: it has some, provider.yaml names its
/// kind, or the core looks it up. Other CRDs stay as the tool built them.
pub(crate) fn takes_labels(provider: &Provider, roles: &Roles, crd: &Object) -> bool {
    let kind = crd.text(&["spec", "names", "kind"]);
    let is_named = |entry: &CrdMetadata| {
        entry.contracts.is_some() && entry.kinds.iter().any(|named| named == kind)
    };
    let labels = crd
        .field(&["metadata", "labels"])
        .and_then(Value::as_object);
    labels.is_some_and(|labels| labels.keys().any(|key| is_contract_label(key)))
        || provider.crd_metadata.iter().any(is_named)
        || is_looked_up(provider.provider_type, roles, crd)
}

/// Puts the contract labels on a CRD. What is in their way is reported when the provider label is
/// set.
pub(crate) fn label_contracts(provider: &Provider, crd: &mut Object) {
    for (key, value) in wanted_labels(provider, crd.value()) {
        let _ = crd.set_label(&key, &value);
    }
}

/// Fills in the names that a CRD may leave out, as the API server does: kube-rs prints no
/// `listKind`, and the contract wants one (book: "BootstrapConfig, BootstrapConfigList resource
/// definition"; Kubernetes: `CustomResourceDefinitionNames`).
///
/// # Errors
/// When `spec.names` is not a mapping.
pub(crate) fn complete_names(crd: &mut Object) -> Result<(), Misfit> {
    let kind = crd.text(&["spec", "names", "kind"]).to_owned();
    if kind.is_empty() {
        return Ok(());
    }
    for (field, name) in [
        ("listKind", format!("{kind}List")),
        ("singular", kind.to_lowercase()),
    ] {
        let given = fields::field(crd.value(), &["spec", "names", field]);
        if given.is_none_or(fields::is_empty) {
            crd.set(
                &FieldPath::of_fields("spec.names").field(field),
                name.into(),
            )?;
        }
    }
    Ok(())
}

/// Doubles what clusterctl's substitution would eat: `$$` and `${` in descriptions and patterns of
/// a CRD come out of it as they went in.
pub(crate) fn escape_for_substitution(crd: &mut Object) {
    crd.edit_texts(|text| {
        if text.contains('$') {
            *text = escaped(text);
        }
    });
}

/// clusterctl turns `$$` into `$` and takes `${` for a variable; a lone `$` stays.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let dollars = rest[at..].bytes().take_while(|b| *b == b'$').count();
        let after = &rest[at + dollars..];
        out.push_str(&rest[..at]);
        let single = dollars == 1 && !after.starts_with('{');
        let written = if single { 1 } else { 2 * dollars };
        out.extend(std::iter::repeat_n('$', written));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// clusterctl: `$$` becomes `$` pair by pair, `$${A}` becomes `${A}`, a lone `$` stays.
    #[test]
    fn what_is_escaped_comes_out_of_substitution_unchanged() {
        for (text, expected) in [
            ("", ""),
            ("$", "$"),
            ("$(VAR)", "$(VAR)"),
            ("$$(VAR)", "$$$$(VAR)"),
            ("${A}", "$${A}"),
            ("a$$${B}$", "a$$$$$${B}$"),
        ] {
            assert_eq!(escaped(text), expected, "{text}");
        }
    }

    #[test]
    fn labels_name_the_versions_that_the_crd_has() {
        let provider: Provider = serde_json::from_value(json!({
            "apiVersion": "windlass.dev/v1alpha1", "kind": "Provider", "name": "foo", "type": "BootstrapProvider", "namespace": "foo-system",
            "contracts": {"v1beta1": ["v1alpha1", "v1beta1"], "v1beta2": ["v1beta2"]},
        }))
        .expect("a provider");
        let crd = json!({"metadata": {"name": "x"}, "spec": {"versions": [{"name": "v1alpha1"}, {"name": "v1beta1"}]}});
        let mut crd = Object::made(crd);
        label_contracts(&provider, &mut crd);
        assert_eq!(
            crd.value()["metadata"]["labels"],
            json!({"cluster.x-k8s.io/v1beta1": "v1alpha1_v1beta1"})
        );
    }

    /// The core takes the last version of a label, and asks the API server for it.
    #[test]
    fn labels_name_served_versions_the_newest_last() {
        let provider: Provider = serde_json::from_value(json!({
            "apiVersion": "windlass.dev/v1alpha1", "kind": "Provider", "name": "foo", "type": "BootstrapProvider", "namespace": "foo-system",
            "contracts": {"v1beta2": ["v1", "v1beta1", "v1alpha1"]},
        }))
        .expect("a provider");
        let versions = json!([{"name": "v1alpha1", "served": true}, {"name": "v1beta1", "served": false}, {"name": "v1", "served": true}]);
        let mut crd =
            Object::made(json!({"metadata": {"name": "x"}, "spec": {"versions": versions}}));
        label_contracts(&provider, &mut crd);
        assert_eq!(
            crd.value()["metadata"]["labels"],
            json!({"cluster.x-k8s.io/v1beta2": "v1alpha1_v1"})
        );
    }

    #[test]
    fn names_that_are_left_out_are_those_of_the_api_server() {
        let completed = |names: Value| {
            let mut crd = Object::made(json!({"spec": {"names": names}}));
            assert_eq!(complete_names(&mut crd), Ok(()));
            crd.value()["spec"]["names"].clone()
        };
        let all = json!({"kind": "FooConfig", "listKind": "FooConfigList", "plural": "fooconfigs", "singular": "fooconfig"});
        let left_out = json!({"kind": "FooConfig", "plural": "fooconfigs"});
        assert_eq!(completed(left_out), all);
        let empty =
            json!({"kind": "FooConfig", "plural": "fooconfigs", "listKind": "", "singular": ""});
        assert_eq!(completed(empty), all);
        let own = json!({"kind": "FooConfig", "listKind": "FooConfigs", "singular": "foo"});
        assert_eq!(completed(own.clone()), own);
    }

    #[test]
    fn provider_label_is_no_contract_label() {
        assert!(is_contract_label("cluster.x-k8s.io/v1beta1"));
        assert!(!is_contract_label("cluster.x-k8s.io/provider"));
        assert!(!is_contract_label("clusterctl.cluster.x-k8s.io/v1"));
    }
}
