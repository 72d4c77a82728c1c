//! Namespaces and names: what clusterctl moves into the target namespace, and what it leaves
//! behind.

use serde_json::Value;

use windlass_capi::contract::book;
use windlass_clusterctl::gets_namespace;
use windlass_objects::Object;
use windlass_objects::scope::is_namespaced;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// the components contain more than one Namespace
    NAMESPACE_DUPLICATED = error("components-namespace-duplicated"), catalogue("C02"), url(book::TARGET_NAMESPACE);
    /// the components contain no Namespace, so clusterctl has no default target namespace
    NAMESPACE_MISSING = error("components-namespace-missing"), catalogue("C02"), url(book::TARGET_NAMESPACE);
    /// an object is in a different namespace than the components, and clusterctl moves it
    NAMESPACE_FOREIGN = warning("components-namespace-foreign"), catalogue("C03"), url(book::TARGET_NAMESPACE);
    /// the Namespace in finished components differs from `namespace` in provider.yaml
    NAMESPACE_OTHER = error("components-namespace-other");
    /// clusterctl sets a namespace on an object of a cluster-scoped kind that it does not know
    CLUSTER_WIDE_MOVED = warning("components-cluster-wide-moved"), url(book::TARGET_NAMESPACE);
    /// a role binding names a subject in another namespace, which clusterctl replaces
    SUBJECT_FOREIGN = warning("components-subject-namespace-foreign"), url(book::TARGET_NAMESPACE);
    /// a Certificate has no namespace, so clusterctl does not adapt its DNS names
    CERTIFICATE_NAMESPACE = warning("components-certificate-namespace-missing"), url(book::TARGET_NAMESPACE);
    /// a DNS name of a Certificate is not in the Certificate's namespace
    CERTIFICATE_NAME = warning("components-certificate-name-foreign"), catalogue("C12"), url(book::TARGET_NAMESPACE);
    /// `clusterctl delete` does not delete a cluster-scoped role whose name does not start with the
    /// namespace
    ROLE_LEFT_BEHIND = info("components-role-left-behind");
}

/// Checks names and namespaces of all objects. `wanted` is the namespace that provider.yaml names,
/// if there is one.
pub(super) fn check(objects: &[Object], file: &Source, wanted: Option<&str>) -> Report {
    let mut report = Report::new();
    let namespaces: Vec<&Object> = objects
        .iter()
        .filter(|object| object.kind() == "Namespace")
        .collect();
    for extra in namespaces.iter().skip(1) {
        let message = format!(
            "{} is a second Namespace, besides {}",
            extra.title(),
            namespaces[0].title()
        );
        let name = &FieldPath::of_fields("metadata.name");
        let finding = Diagnostic::of(&NAMESPACE_DUPLICATED, message)
            .at(extra.place(name))
            .related(namespaces[0].place(name), "the first");
        report.push(
            finding
                .help("put all objects into one Namespace, and remove the other if nothing uses it")
                .note("clusterctl aborts on a second one"),
        );
    }
    let Some(namespace) = namespaces.first() else {
        let finding = Diagnostic::of(
            &NAMESPACE_MISSING,
            "the components hold no Namespace, so clusterctl has no default target",
        );
        let called = wanted.map_or(String::new(), |wanted| format!(" `{wanted}`"));
        report.push(
            finding
                .at(file.place())
                .help(format!("add a Namespace{called} to the file")),
        );
        return report;
    };
    report.extend(wanted.and_then(|wanted| other(namespace, wanted)));
    for object in objects.iter().filter(|object| object.kind() != "Namespace") {
        report.extend(namespace_of(object, namespace.name()));
        report.extend(subjects(object, namespace.name()));
        report.extend(certificate(object));
    }
    report.extend(left_behind(objects, namespace.name()));
    report
}

fn other(namespace: &Object, wanted: &str) -> Option<Diagnostic> {
    let found = namespace.name();
    (found != wanted).then(|| {
        Diagnostic::of(
            &NAMESPACE_OTHER,
            format!("the components hold Namespace {found}, but `namespace` is {wanted}"),
        )
        .at(namespace.place(&FieldPath::of_fields("metadata.name")))
        .help("let both say the same")
    })
}

fn namespace_of(object: &Object, target: &str) -> Option<Diagnostic> {
    if !is_namespaced(object.kind()) {
        return gets_namespace(object.kind()).then(|| {
            let message = format!(
                "clusterctl gives {} a namespace, although {} has none",
                object.title(),
                object.kind()
            );
            let finding = Diagnostic::of(&CLUSTER_WIDE_MOVED, message)
                .at(object.place(&FieldPath::of_fields("kind")));
            finding.help("install the object in another way, such as from the controller")
        });
    }
    let found = object.namespace();
    // Without a namespace the object was meant to follow.
    (!found.is_empty() && found != target).then(|| {
        let message = format!(
            "{} is in namespace {found}, and clusterctl moves it into {target}",
            object.title()
        );
        let finding = Diagnostic::of(&NAMESPACE_FOREIGN, message)
            .at(object.place(&FieldPath::of_fields("metadata.namespace")));
        finding.help(format!(
            "write `namespace: {target}`, or install the object in another way"
        ))
    })
}

fn subjects(object: &Object, target: &str) -> Vec<Diagnostic> {
    if !matches!(object.kind(), "ClusterRoleBinding" | "RoleBinding") {
        return Vec::new();
    }
    let subjects = object.items(&["subjects"]).iter().enumerate();
    let foreign = subjects.filter_map(|(at, subject)| {
        Some((
            at,
            subject["namespace"]
                .as_str()
                .filter(|found| !found.is_empty() && *found != target)?,
        ))
    });
    let finding = |(at, found): (usize, &str)| {
        let path = FieldPath::root()
            .field("subjects")
            .index(at)
            .field("namespace");
        Diagnostic::of(
            &SUBJECT_FOREIGN,
            format!(
                "{path} of {} is {found}, and clusterctl writes {target} there",
                object.title()
            ),
        )
        .at(object.place(&path))
        .help(format!("bind a service account of {target}"))
    };
    foreign.map(finding).collect()
}

fn certificate(object: &Object) -> Vec<Diagnostic> {
    if object.kind() != "Certificate" {
        return Vec::new();
    }
    let namespace = object.namespace();
    let names = || {
        object
            .items(&["spec", "dnsNames"])
            .iter()
            .filter_map(Value::as_str)
            .enumerate()
    };
    if namespace.is_empty() {
        let finding = Diagnostic::of(
            &CERTIFICATE_NAMESPACE,
            format!(
                "{} has no namespace, so its DNS names stay as they are",
                object.title()
            ),
        );
        return vec![
            finding
                .at(object.place(&FieldPath::of_fields("metadata")))
                .help("write the namespace of the components"),
        ];
    }
    let foreign = names()
        .filter(|(_, name)| name.contains(".svc") && !name.contains(&format!(".{namespace}.")));
    let finding = |(at, name): (usize, &str)| {
        let path = FieldPath::of_fields("spec.dnsNames").index(at);
        Diagnostic::of(
            &CERTIFICATE_NAME,
            format!(
                "DNS name {name} of {} does not contain .{namespace}.",
                object.title()
            ),
        )
        .at(object.place(&path))
        .help(format!("write SERVICE.{namespace}.svc"))
        .note("in another target namespace clusterctl replaces this part, and only this")
    };
    foreign.map(finding).collect()
}

/// `clusterctl delete` takes cluster-wide roles by the beginning of their names.
fn left_behind(objects: &[Object], namespace: &str) -> Option<Diagnostic> {
    let is_role = |object: &&Object| matches!(object.kind(), "ClusterRole" | "ClusterRoleBinding");
    let stays = |object: &&Object| !object.name().starts_with(&format!("{namespace}-"));
    let left: Vec<&Object> = objects.iter().filter(is_role).filter(stays).collect();
    let (first, others) = left.split_first()?;
    let titles: Vec<String> = left.iter().map(|object| object.title()).collect();
    let name = FieldPath::of_fields("metadata.name");
    let finding = Diagnostic::of(
        &ROLE_LEFT_BEHIND,
        format!("`clusterctl delete` leaves {} behind", titles.join(", ")),
    );
    let finding = finding
        .at(first.place(&name))
        .help(format!("begin their names with {namespace}-"));
    Some(others.iter().fold(finding, |finding, object| {
        finding.related(object.place(&name), "")
    }))
}
