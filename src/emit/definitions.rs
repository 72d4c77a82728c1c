//! CRDs that controller-gen, kube-rs or kustomize printed: checked, labelled with the contracts, made to survive substitution
//! (book: "All resources: version", "BootstrapConfig, BootstrapConfigList resource definition").

use serde_json::Value;

use super::rbac::Kind;
use crate::contract::{ContractVersion, book, crd_name, labels};
use crate::diag::{Diagnostic, FieldPath, Place, Report, rules};
use crate::objects::{Misfit, Object};
use crate::provider::Provider;
use crate::schema::structural;

rules! {
    /// `crds` in provider.yaml matches an object that is not a CRD
    NOT_A_CRD = error("provider-crd-other-kind");
    /// `crds` in provider.yaml matches a CRD of a group that `group` does not list
    FOREIGN_GROUP = error("provider-crd-foreign-group");
    /// the name of a CRD differs from the one that Cluster API computes
    NAME_WRONG = error("crd-name-wrong"), url(book::CRD_NAME);
    /// a contract label of a CRD contradicts `contracts` in provider.yaml
    LABEL_WRONG = error("crd-contract-label-wrong"), url(book::CONTRACT_LABELS);
    /// no CRD carries the label of the contract that metadata.yaml promises
    pub LABEL_MISSING = error("crd-contract-label-missing"), url(book::CONTRACT_LABELS);
    /// no version of a CRD fulfils a contract
    VERSION_MISSING = error("crd-contract-version-missing"), url(book::CONTRACT_LABELS);
    /// the schema of a CRD is not structural, or has defaults or rules that the API server rejects
    NOT_STRUCTURAL = error("crd-not-structural");
    /// a CRD has a `caBundle`, which Kubernetes 1.31 and later reject on the second apply
    CA_BUNDLE = error("crd-ca-bundle-present");
}

/// The group and kind of CRDs.
pub const CRD_GROUP: &str = "apiextensions.k8s.io";
/// The kind of CRDs.
pub const CRD_KIND: &str = "CustomResourceDefinition";

/// What a CRD says of its kind.
pub fn kind_of(crd: &Value) -> Kind {
    let spec = &crd["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let versions = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
    Kind {
        group: text(&spec["group"]),
        kind: text(&spec["names"]["kind"]),
        plural: text(&spec["names"]["plural"]),
        has_status: versions.iter().any(|version| version["subresources"]["status"].is_object()),
    }
}

/// Checks the CRDs of a provider. `pattern` is the place of the pattern in provider.yaml that took a file, for faults of the pattern.
pub fn check(provider: &Provider, crd: &Object, pattern: &Place) -> Report {
    if !crd.is(CRD_GROUP, CRD_KIND) {
        let finding = Diagnostic::of(&NOT_A_CRD, format!("`crds` also takes {}, which is no CustomResourceDefinition", crd.title()));
        return [finding.at(pattern.clone()).related(crd.place(&path(&["kind"])), "").help("name it under `objects`")]
            .into_iter()
            .collect();
    }
    if let Some(finding) = foreign_group(provider, crd, pattern) {
        return [finding].into_iter().collect();
    }
    let mut report: Report = name(crd).into_iter().collect();
    report.extend(contract_labels(provider, crd));
    report.extend(conversion(crd));
    report.extend(structure(crd));
    report
}

/// Checks a CRD in components that a tool already built.
pub fn check_built(provider: &Provider, crd: &Object) -> Report {
    let mut report: Report = name(crd).into_iter().collect();
    report.extend(wanted_labels(provider, crd.value()).iter().filter_map(|(key, value)| wrong_label(crd, key, value)));
    report.extend(conversion(crd));
    report.extend(structure(crd));
    report
}

fn path(fields: &[&str]) -> FieldPath {
    fields.iter().fold(FieldPath::root(), |path, field| path.field(*field))
}

fn foreign_group(provider: &Provider, crd: &Object, pattern: &Place) -> Option<Diagnostic> {
    let wanted = provider.group.as_deref()?;
    let kind = kind_of(crd.value());
    (kind.group != wanted).then(|| {
        Diagnostic::of(&FOREIGN_GROUP, format!("`crds` also takes {} of group {}", kind.kind, kind.group))
            .at(pattern.clone())
            .label(format!("`group` is {wanted}"))
            .related(crd.place(&path(&["spec", "group"])), "")
            .help(format!("write a pattern that takes the files of {wanted} only, such as `…/{wanted}_*.yaml`"))
    })
}

/// The core computes the name instead of searching for it.
pub fn name(crd: &Object) -> Option<Diagnostic> {
    let kind = kind_of(crd.value());
    let skipped = crd.value()["metadata"]["annotations"].get(labels::SKIP_CRD_NAME_CHECK).is_some();
    let expected = if skipped { format!("{}.{}", kind.plural, kind.group) } else { crd_name(&kind.group, &kind.kind) };
    (crd.name() != expected).then(|| {
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
        Diagnostic::of(&CA_BUNDLE, "spec.conversion.webhook.clientConfig.caBundle is set")
            .at(crd.place(&at))
            .help("remove the field; cert-manager injects the CA")
            .note("from Kubernetes 1.31 on a CRD with a dummy bundle cannot be applied a second time")
    })
}

/// What the API server would refuse about schemas, defaults and rules, or store as the condition NonStructuralSchema.
fn structure(crd: &Object) -> Report {
    structural::check(crd.value())
        .into_iter()
        .map(|violation| {
            Diagnostic::of(&NOT_STRUCTURAL, format!("{} of {} is not what the API server takes", violation.path, crd.title()))
                .at(crd.place(&violation.path))
                .help("mend the type that the CRD is generated from")
                .note(format!("the API server says: {violation}"))
                .upstream(violation.to_string())
        })
        .collect()
}

/// The versions that a CRD lists, oldest first as it lists them.
fn versions(crd: &Value) -> Vec<&str> {
    crd["spec"]["versions"].as_array().into_iter().flatten().filter_map(|version| version["name"].as_str()).collect()
}

/// The contract labels that provider.yaml gives a CRD: for each contract those of its versions that the CRD has.
fn wanted_labels(provider: &Provider, crd: &Value) -> Vec<(String, String)> {
    let known = versions(crd);
    provider
        .contracts
        .iter()
        .map(|(contract, versions)| {
            let fulfilled: Vec<&str> = versions.iter().map(String::as_str).filter(|version| known.contains(version)).collect();
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
    let mut report: Report = wanted.iter().filter_map(|(key, value)| wrong_label(crd, key, value)).collect();
    report.extend(undeclared_labels(crd, &wanted));
    let known = versions(crd.value());
    if wanted.is_empty() && !provider.contracts.is_empty() {
        report.push(no_version_fulfils(provider, crd, &known));
    }
    report
}

fn no_version_fulfils(provider: &Provider, crd: &Object, known: &[&str]) -> Diagnostic {
    let declared: Vec<&str> = provider.contracts.values().flatten().map(String::as_str).collect();
    let message = format!(
        "no version of {} fulfils a contract: it has {}, `contracts` names {}",
        crd.title(),
        known.join(", "),
        declared.join(", ")
    );
    Diagnostic::of(&VERSION_MISSING, message)
        .at(crd.place(&path(&["spec", "versions"])))
        .help("name under `contracts` the versions that the CRD has")
}

/// A label that is there must say what provider.yaml says.
fn wrong_label(crd: &Object, key: &str, wanted: &str) -> Option<Diagnostic> {
    let found = crd.value()["metadata"]["labels"].get(key)?;
    (found.as_str() != Some(wanted)).then(|| {
        let shown = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
        Diagnostic::of(&LABEL_WRONG, format!("label {key} is `{shown}`, but `contracts` of provider.yaml gives `{wanted}`"))
            .at(crd.place(&path(&["metadata", "labels"]).field(key)))
            .help("remove the label from the file, or mend `contracts`")
    })
}

/// A contract label for a contract that provider.yaml does not declare would make the core read fields that nobody promised.
fn undeclared_labels(crd: &Object, wanted: &[(String, String)]) -> Report {
    let labels_found = crd.value()["metadata"]["labels"].as_object();
    let keys = labels_found.into_iter().flatten().map(|(key, _)| key);
    keys.filter(|key| is_contract_label(key) && wanted.iter().all(|(known, _)| known != *key))
        .map(|key| {
            Diagnostic::of(
                &LABEL_WRONG,
                format!("label {key} stands for a contract that `contracts` of provider.yaml does not give this CRD"),
            )
            .at(crd.place(&path(&["metadata", "labels"]).field(key.as_str())))
            .help("remove the label from the file, or declare the contract under `contracts`")
        })
        .collect()
}

/// Whether a label key is `cluster.x-k8s.io/v…`, with a version of the form that Kubernetes uses.
fn is_contract_label(key: &str) -> bool {
    key.strip_prefix(labels::CONTRACT_PREFIX)
        .and_then(|rest| rest.strip_prefix('v'))
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Puts the contract labels on a CRD. What stands in their way is told when the provider label is set.
pub fn label_contracts(provider: &Provider, crd: &mut Object) {
    for (key, value) in wanted_labels(provider, crd.value()) {
        let _ = crd.set_label(&key, &value);
    }
}

/// Fills in the names that a CRD may leave out, as the API server does: kube-rs prints no `listKind`, and the contract wants one
/// (book: "BootstrapConfig, BootstrapConfigList resource definition"; Kubernetes: `CustomResourceDefinitionNames`).
///
/// # Errors
/// When `spec.names` is no mapping.
pub fn complete_names(crd: &mut Object) -> Result<(), Misfit> {
    let kind = crd.text(&["spec", "names", "kind"]).to_owned();
    if kind.is_empty() {
        return Ok(());
    }
    for (field, name) in [("listKind", format!("{kind}List")), ("singular", kind.to_lowercase())] {
        if crd.text(&["spec", "names", field]).is_empty() {
            crd.set(&FieldPath::of_fields("spec.names").field(field), name.into())?;
        }
    }
    Ok(())
}

/// Checks that the labels of a finished components file fit the contract of its release series: the label of that contract is on at
/// least one CRD of the provider (book: "Metadata YAML"; checklist CC-13).
pub fn check_against_series(contract: &str, crds: &[&Object], series: &Place) -> Option<Diagnostic> {
    let key = format!("{}{contract}", labels::CONTRACT_PREFIX);
    let labelled = crds.iter().any(|crd| crd.value()["metadata"]["labels"].get(&key).is_some());
    if crds.is_empty() || labelled {
        return None;
    }
    let known = ContractVersion::ALL.map(ContractVersion::as_str).join(", ");
    Some(
        Diagnostic::of(&LABEL_MISSING, format!("the release series has contract {contract}, but no CRD carries the label {key}"))
            .at(series.clone())
            .help(format!(
                "declare `{contract}` under `contracts` of provider.yaml, or mend the series (known contracts: {known})"
            )),
    )
}

/// Doubles what clusterctl's substitution would eat: `$$` and `${` in descriptions and patterns of a CRD come out of it as they went in.
pub fn escape_for_substitution(crd: &mut Object) {
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
        for (text, expected) in
            [("", ""), ("$", "$"), ("$(VAR)", "$(VAR)"), ("$$(VAR)", "$$$$(VAR)"), ("${A}", "$${A}"), ("a$$${B}$", "a$$$$$${B}$")]
        {
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
        assert_eq!(crd.value()["metadata"]["labels"], json!({"cluster.x-k8s.io/v1beta1": "v1alpha1_v1beta1"}));
    }

    /// Book, "Labels and annotations": the annotation is for kinds that core objects never refer to. The name that the API server demands
    /// (`<plural>.<group>`) stays due.
    #[test]
    fn naming_rule_is_waived_by_its_annotation_alone() {
        let faulty = |called: &str, annotations: Value| {
            let crd = json!({
                "metadata": {"name": called, "annotations": annotations},
                "spec": {"group": "foo.dev", "names": {"kind": "FooConfig", "plural": "foos"}},
            });
            name(&Object::made(crd)).is_some()
        };
        let skip = json!({"clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check": ""});
        assert!(faulty("foos.foo.dev", json!({"other": ""})));
        assert!(!faulty("foos.foo.dev", skip.clone()));
        assert!(faulty("fooconfigs.foo.dev", skip));
        assert!(!faulty("fooconfigs.foo.dev", json!({})));
    }

    #[test]
    fn names_that_are_left_out_are_those_of_the_api_server() {
        let completed = |names: Value| {
            let mut crd = Object::made(json!({"spec": {"names": names}}));
            assert_eq!(complete_names(&mut crd), Ok(()));
            crd.value()["spec"]["names"].clone()
        };
        let all = json!({"kind": "FooConfig", "listKind": "FooConfigList", "plural": "fooconfigs", "singular": "fooconfig"});
        assert_eq!(completed(json!({"kind": "FooConfig", "plural": "fooconfigs"})), all);
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
