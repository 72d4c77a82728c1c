//! The provider label of components (book: clusterctl, "Labels"; checklist CC-23). clusterctl
//! writes it on everything that it installs; what kubectl installed is recognised by it.

use std::collections::BTreeMap;

use crate::Scope;
use windlass_capi::contract::labels::PROVIDER;
use windlass_capi::contract::{ProviderType, book};
use windlass_objects::Object;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// an object of the components lacks the label `cluster.x-k8s.io/provider`
    LABEL_MISSING = warning("components-provider-label-missing"), catalogue("C05"), url(book::LABELS);
    /// the provider label is not the provider's type and name, or differs between components
    LABEL_WRONG = warning("components-provider-label-wrong"), catalogue("C06"), url(book::LABELS);
}

/// Checks the labels of all objects: each fault is reported once, with the other objects that have
/// it.
pub(crate) fn check(scope: &Scope<'_>) -> Report {
    if !scope.is_whole() {
        return Report::new();
    }
    let (labelled, bare): (Vec<&Object>, Vec<&Object>) = scope
        .objects
        .iter()
        .partition(|object| value(object).is_some());
    let mut values: BTreeMap<&str, Vec<&Object>> = BTreeMap::new();
    for object in labelled {
        values
            .entry(value(object).unwrap_or_default())
            .or_default()
            .push(object);
    }
    let expected = expected(&values, scope.provider_type);
    let mut report: Report = missing(&bare, &expected).into_iter().collect();
    report.extend(
        values
            .iter()
            .filter(|(value, _)| **value != expected)
            .filter_map(|(value, objects)| wrong(value, objects, &expected)),
    );
    report
}

fn value(object: &Object) -> Option<&str> {
    object.label(PROVIDER).filter(|value| !value.is_empty())
}

/// The value that the objects should have: the one with the right form that most of them have.
/// Where none has it, one is made up.
fn expected(values: &BTreeMap<&str, Vec<&Object>>, provider_type: Option<ProviderType>) -> String {
    let is_of_type = |value: &str| provider_type.is_none_or(|of| fits(value, of));
    let most = values
        .iter()
        .filter(|(value, _)| is_of_type(value))
        .max_by_key(|(_, objects)| objects.len());
    let made_up = || {
        let other = values.iter().max_by_key(|(_, objects)| objects.len());
        let name = other
            .and_then(|(value, _)| name_in(value))
            .unwrap_or("NAME");
        provider_type
            .unwrap_or(ProviderType::InfrastructureProvider)
            .label(name)
    };
    most.map_or_else(made_up, |(value, _)| (*value).to_owned())
}

/// The name of the provider in a label, whatever its type; `None` where there is none.
pub(super) fn name_in(label: &str) -> Option<&str> {
    let name = ProviderType::ALL[1..]
        .iter()
        .find_map(|of| label.strip_prefix(of.label("").as_str()))
        .unwrap_or(label);
    (!name.is_empty()).then_some(name)
}

fn fits(value: &str, provider_type: ProviderType) -> bool {
    let begins = |of: &ProviderType| {
        value
            .strip_prefix(of.label("").as_str())
            .is_some_and(|name| !name.is_empty())
    };
    match provider_type {
        // The label of the core provider has no type; that of another type is not its.
        ProviderType::CoreProvider => !ProviderType::ALL[1..].iter().any(begins),
        other => begins(&other),
    }
}

fn missing(bare: &[&Object], expected: &str) -> Option<Diagnostic> {
    let (first, others) = bare.split_first()?;
    let what = match others.len() {
        0 => format!("{} has", first.title()),
        1 => format!("{} and one other object have", first.title()),
        count => format!("{} and {count} other objects have", first.title()),
    };
    let finding = Diagnostic::of(&LABEL_MISSING, format!("{what} no label {PROVIDER}"))
        .at(first.place(&FieldPath::of_fields("metadata")));
    let finding = finding.help(format!(
        "add `{PROVIDER}: {expected}` to the labels of all objects"
    ));
    Some(others.iter().fold(finding, |finding, object| {
        finding.related(object.place(&FieldPath::of_fields("metadata")), "")
    }))
}

fn wrong(value: &str, objects: &[&Object], expected: &str) -> Option<Diagnostic> {
    let (first, others) = objects.split_first()?;
    let path = FieldPath::of_fields("metadata.labels").key(PROVIDER);
    let finding = Diagnostic::of(&LABEL_WRONG, format!("label {PROVIDER} of {} is `{value}`, not `{expected}`", first.title()))
        .at(first.place(&path))
        .help(format!("write `{PROVIDER}: {expected}`"))
        .note("clusterctl writes its own value; without clusterctl the objects are not found as those of the provider");
    Some(others.iter().fold(finding, |finding, object| {
        finding.related(object.place(&path), "")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::tests::{found_in, labelled};

    /// Book, clusterctl contract, "Labels": the table of values.
    #[test]
    fn values_are_type_and_name() {
        use ProviderType::{BootstrapProvider, ControlPlaneProvider, CoreProvider, IPAMProvider};
        for (value, of, is_right) in [
            ("bootstrap-kubeadm", BootstrapProvider, true),
            ("control-plane-kubeadm", ControlPlaneProvider, true),
            ("cluster-api", CoreProvider, true),
            ("ipam-in-cluster", IPAMProvider, true),
            ("k0sproject-k0smotron", BootstrapProvider, false),
            ("bootstrap-", BootstrapProvider, false),
            ("bootstrap-kubeadm", ControlPlaneProvider, false),
            ("infrastructure-docker", CoreProvider, false),
        ] {
            let report = found_in(&[labelled("ConfigMap", "a", Some(value))], Some(of), check);
            assert_eq!(report.is_empty(), is_right, "{value}: {report:?}");
        }
        let wrong = found_in(
            &[labelled("ConfigMap", "a", Some("bootstrap-foo"))],
            Some(ControlPlaneProvider),
            check,
        );
        assert!(
            wrong.findings()[0]
                .message
                .ends_with("is `bootstrap-foo`, not `control-plane-foo`"),
            "{wrong:?}"
        );
        assert!(
            found_in(&[labelled("ConfigMap", "a", Some("anything"))], None, check).is_empty(),
            "the type is not known"
        );
    }

    /// A label of another type has the name, whoever asks for it.
    #[test]
    fn a_label_has_a_name_behind_its_type() {
        for (label, name) in [
            ("control-plane-foo", Some("foo")),
            ("infrastructure-foo", Some("foo")),
            ("foo", Some("foo")),
            ("infrastructure-", None),
            ("", None),
        ] {
            assert_eq!(name_in(label), name, "{label}");
        }
    }

    #[test]
    fn each_fault_is_told_once() {
        let objects = [
            ("a", None),
            ("b", Some("infrastructure-foo")),
            ("c", None),
            ("d", Some("foo")),
            ("e", Some("infrastructure-foo")),
        ];
        let objects = objects.map(|(name, value)| labelled("ConfigMap", name, value));
        let report = found_in(&objects, Some(ProviderType::InfrastructureProvider), check);
        let rules_and_fields: Vec<_> = report
            .findings()
            .iter()
            .map(|finding| (finding.message.as_str(), finding.related.len()))
            .collect();
        let expected = [
            (
                "ConfigMap/a and one other object have no label cluster.x-k8s.io/provider",
                1,
            ),
            (
                "label cluster.x-k8s.io/provider of ConfigMap/d is `foo`, not `infrastructure-foo`",
                0,
            ),
        ];
        assert_eq!(rules_and_fields, expected);
        let half = [
            labelled("ConfigMap", "a", Some("infrastructure-foo")),
            labelled("ConfigMap", "b", Some("infrastructure-bar")),
        ];
        assert_eq!(
            found_in(&half, Some(ProviderType::InfrastructureProvider), check)
                .findings()
                .len(),
            1,
            "one file, one provider"
        );
    }
}
