//! Kinds and versions of the objects in templates: whether an API server with the release's CRDs
//! and Cluster API's serves them.

use kube::core::Version;

use super::Sampled;
use super::known::Known;
use windlass_objects::Object;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};
use windlass_source::nearest::nearest;

rules! {
    /// an object in a template has a kind or version that is not served
    OBJECT_UNSERVED = error("template-object-unserved"), catalogue("T17");
}

/// The group of which Cluster API's core has all kinds.
const CORE: &str = "cluster.x-k8s.io";

/// Kinds of Cluster API and its kubeadm providers, and the versions that releases v1.10 to v1.14
/// serve (their CRDs). v1alpha3 and v1alpha4 are not served since v1.6.
const CLUSTER_API: &[(&str, &str, &[&str])] = &[
    (
        "addons.cluster.x-k8s.io",
        "ClusterResourceSet",
        &["v1beta1", "v1beta2"],
    ),
    (
        "addons.cluster.x-k8s.io",
        "ClusterResourceSetBinding",
        &["v1beta1", "v1beta2"],
    ),
    (
        "bootstrap.cluster.x-k8s.io",
        "KubeadmConfig",
        &["v1beta1", "v1beta2"],
    ),
    (
        "bootstrap.cluster.x-k8s.io",
        "KubeadmConfigTemplate",
        &["v1beta1", "v1beta2"],
    ),
    (CORE, "Cluster", &["v1beta1", "v1beta2"]),
    (CORE, "ClusterClass", &["v1beta1", "v1beta2"]),
    (CORE, "Machine", &["v1beta1", "v1beta2"]),
    (CORE, "MachineDeployment", &["v1beta1", "v1beta2"]),
    (CORE, "MachineDrainRule", &["v1beta1", "v1beta2"]),
    (CORE, "MachineHealthCheck", &["v1beta1", "v1beta2"]),
    (CORE, "MachinePool", &["v1beta1", "v1beta2"]),
    (CORE, "MachineSet", &["v1beta1", "v1beta2"]),
    (
        "controlplane.cluster.x-k8s.io",
        "KubeadmControlPlane",
        &["v1beta1", "v1beta2"],
    ),
    (
        "controlplane.cluster.x-k8s.io",
        "KubeadmControlPlaneTemplate",
        &["v1beta1", "v1beta2"],
    ),
    (
        "ipam.cluster.x-k8s.io",
        "IPAddress",
        &["v1alpha1", "v1beta1", "v1beta2"],
    ),
    (
        "ipam.cluster.x-k8s.io",
        "IPAddressClaim",
        &["v1alpha1", "v1beta1", "v1beta2"],
    ),
    (
        "runtime.cluster.x-k8s.io",
        "ExtensionConfig",
        &["v1alpha1", "v1beta2"],
    ),
];

/// Checks the objects of a file. Kinds of other groups may be there.
pub(super) fn check(sampled: &Sampled, known: &[&Known]) -> Report {
    sampled
        .objects()
        .iter()
        .filter_map(|object| unserved(sampled, object, known))
        .collect()
}

fn unserved(sampled: &Sampled, object: &Object, known: &[&Known]) -> Option<Diagnostic> {
    let (group, kind, version) = (object.group(), object.kind(), object.version());
    if let Some(versions) = known.iter().find_map(|known| known.versions(group, kind)) {
        let served: Vec<&str> = versions
            .iter()
            .filter(|version| version.is_served)
            .map(|version| version.name.as_str())
            .collect();
        return version_finding(sampled, object, &served, "the CRD of the release")
            .filter(|_| !served.contains(&version));
    }
    match CLUSTER_API
        .iter()
        .find(|(of, known, _)| *of == group && *known == kind)
    {
        Some((_, _, served)) => version_finding(sampled, object, served, "Cluster API")
            .filter(|_| !served.contains(&version)),
        None => (group == CORE).then(|| kind_finding(sampled, object)),
    }
}

fn version_finding(
    sampled: &Sampled,
    object: &Object,
    served: &[&str],
    by: &str,
) -> Option<Diagnostic> {
    let newest = served
        .iter()
        .max_by_key(|version| Version::parse(version).priority())?;
    let message = format!(
        "{} is of version {}, which {by} does not serve",
        sampled.title(object),
        object.version()
    );
    let finding = Diagnostic::of(&OBJECT_UNSERVED, message)
        .at(object.place(&FieldPath::of_fields("apiVersion")));
    Some(
        finding
            .help(format!(
                "write `apiVersion: {}/{newest}`, and the fields as that version has them",
                object.group()
            ))
            .upstream(no_match(object)),
    )
}

fn kind_finding(sampled: &Sampled, object: &Object) -> Diagnostic {
    let kinds = CLUSTER_API
        .iter()
        .filter(|(group, ..)| *group == CORE)
        .map(|(_, kind, _)| *kind);
    let message = format!(
        "{} is of a kind that Cluster API does not have",
        sampled.title(object)
    );
    let finding = Diagnostic::of(&OBJECT_UNSERVED, message)
        .at(object.place(&FieldPath::of_fields("kind")))
        .upstream(no_match(object));
    match nearest(object.kind(), kinds) {
        Some(near) => finding.help(format!("write `kind: {near}`")),
        None => finding.help("remove the object, or correct its group in `apiVersion`"),
    }
}

/// The words of kubectl.
fn no_match(object: &Object) -> String {
    format!(
        "no matches for kind \"{}\" in version \"{}\"",
        object.kind(),
        object.api_version()
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::known::Wanted;
    use super::*;
    use windlass_source::Source;
    use windlass_source::budget::Budget;

    fn found(api_version: &str, kind: &str) -> Vec<String> {
        let text = format!(
            "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: \"${{CLUSTER_NAME}}\"}}\n"
        );
        let source = Source::new("cluster-template.yaml", text);
        let versions = json!([
            {"name": "v2", "served": true}, {"name": "v1", "served": true}, {"name": "v3beta1", "served": true}, {"name": "v0", "served": false}
        ]);
        let spec = json!({"group": "foo.io", "names": {"kind": "Foo"}, "versions": versions});
        let mut known = Known::default();
        let crd = Object::made(json!({"kind": "CustomResourceDefinition", "spec": spec}));
        known.add(&[crd], &Wanted::of(std::slice::from_ref(&source)));
        let sampled = Sampled::new(&source, &Budget::default()).unwrap();
        let report = check(&sampled, &[&known]);
        report
            .findings()
            .iter()
            .map(|finding| format!("{}: {}", finding.place.path, finding.help.as_ref().unwrap()))
            .collect()
    }

    /// The CRDs of Cluster API v1.10.10, v1.12.0 and v1.14.0.
    #[test]
    fn versions_are_served() {
        for (api_version, kind) in [
            ("foo.io/v1", "Foo"),
            ("foo.io/v2", "Foo"),
            ("cluster.x-k8s.io/v1beta1", "Cluster"),
            ("cluster.x-k8s.io/v1beta2", "MachinePool"),
            (
                "infrastructure.cluster.x-k8s.io/v1alpha7",
                "OpenStackCluster",
            ),
            ("v1", "Secret"),
        ] {
            assert_eq!(found(api_version, kind), [""; 0], "{api_version} {kind}");
        }
        let write = |path: &str, line: &str| {
            [format!(
                "{path}: write `{line}`, and the fields as that version has them"
            )]
        };
        assert_eq!(
            found("foo.io/v0", "Foo"),
            write("apiVersion", "apiVersion: foo.io/v2")
        );
        assert_eq!(
            found("foo.io/v3", "Foo"),
            write("apiVersion", "apiVersion: foo.io/v2")
        );
        assert_eq!(
            found("cluster.x-k8s.io/v1alpha4", "Cluster"),
            write("apiVersion", "apiVersion: cluster.x-k8s.io/v1beta2")
        );
        assert_eq!(
            found("cluster.x-k8s.io/v1beta2", "MachineDeploymnet"),
            ["kind: write `kind: MachineDeployment`"]
        );
    }
}
