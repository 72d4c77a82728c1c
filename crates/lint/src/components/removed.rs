//! Kubernetes versions' own APIs that are no longer served ("Deprecated API Migration Guide";
//! `APILifecycleRemoved` in k8s.io/api).

use crate::Scope;
use windlass_clusterctl::version_rejection;
use windlass_objects::Object;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// an object has an API version that Kubernetes or cert-manager no longer serves
    VERSION_REMOVED = error("components-object-version-removed"), catalogue("C17"),
        url("https://kubernetes.io/docs/reference/using-api/deprecation-guide/");
}

/// Group, version, kinds (none: all), the release that does not serve it any more, what to write
/// instead.
type Removal = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
);

const KUBERNETES: &[Removal] = &[
    (
        "admissionregistration.k8s.io",
        "v1alpha1",
        &[
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
        ],
        "1.32",
        "v1",
    ),
    (
        "admissionregistration.k8s.io",
        "v1beta1",
        &[
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
        ],
        "1.22",
        "v1",
    ),
    (
        "admissionregistration.k8s.io",
        "v1beta1",
        &[
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
        ],
        "1.34",
        "v1",
    ),
    ("apiextensions.k8s.io", "v1beta1", &[], "1.22", "v1"),
    ("apiregistration.k8s.io", "v1beta1", &[], "1.22", "v1"),
    ("apps", "v1beta1", &[], "1.16", "v1"),
    ("apps", "v1beta2", &[], "1.16", "v1"),
    ("autoscaling", "v2beta1", &[], "1.25", "v2"),
    ("autoscaling", "v2beta2", &[], "1.26", "v2"),
    ("batch", "v1beta1", &[], "1.25", "v1"),
    (
        "certificates.k8s.io",
        "v1beta1",
        &["CertificateSigningRequest"],
        "1.22",
        "v1",
    ),
    ("coordination.k8s.io", "v1beta1", &["Lease"], "1.22", "v1"),
    ("discovery.k8s.io", "v1beta1", &[], "1.25", "v1"),
    ("events.k8s.io", "v1beta1", &[], "1.25", "v1"),
    (
        "extensions",
        "v1beta1",
        &["DaemonSet", "Deployment", "ReplicaSet"],
        "1.16",
        "apps/v1",
    ),
    (
        "extensions",
        "v1beta1",
        &["Ingress"],
        "1.22",
        "networking.k8s.io/v1",
    ),
    (
        "extensions",
        "v1beta1",
        &["NetworkPolicy"],
        "1.16",
        "networking.k8s.io/v1",
    ),
    ("extensions", "v1beta1", &["PodSecurityPolicy"], "1.16", ""),
    ("flowcontrol.apiserver.k8s.io", "v1beta1", &[], "1.26", "v1"),
    ("flowcontrol.apiserver.k8s.io", "v1beta2", &[], "1.29", "v1"),
    ("flowcontrol.apiserver.k8s.io", "v1beta3", &[], "1.32", "v1"),
    (
        "networking.k8s.io",
        "v1beta1",
        &["Ingress", "IngressClass"],
        "1.22",
        "v1",
    ),
    ("node.k8s.io", "v1beta1", &[], "1.25", "v1"),
    ("policy", "v1beta1", &["PodDisruptionBudget"], "1.25", "v1"),
    ("policy", "v1beta1", &["PodSecurityPolicy"], "1.25", ""),
    ("rbac.authorization.k8s.io", "v1beta1", &[], "1.22", "v1"),
    (
        "scheduling.k8s.io",
        "v1beta1",
        &["PriorityClass"],
        "1.22",
        "v1",
    ),
    (
        "storage.k8s.io",
        "v1beta1",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
        "1.22",
        "v1",
    ),
    (
        "storage.k8s.io",
        "v1beta1",
        &["CSIStorageCapacity"],
        "1.27",
        "v1",
    ),
];

/// cert-manager, "Upgrading from v1.5 to v1.6" and "from v0.10 to v0.11".
const CERT_MANAGER: &[Removal] = &[
    ("cert-manager.io", "v1alpha2", &[], "1.6", "v1"),
    ("cert-manager.io", "v1alpha3", &[], "1.6", "v1"),
    ("cert-manager.io", "v1beta1", &[], "1.6", "v1"),
    (
        "certmanager.k8s.io",
        "v1alpha1",
        &[],
        "0.11",
        "cert-manager.io/v1",
    ),
];

/// Checks the versions of all objects. What clusterctl itself does not convert is a finding of its
/// own.
pub(crate) fn check(scope: &Scope<'_>) -> Report {
    scope.objects.iter().filter_map(removed).collect()
}

/// The row of a table about an object's version.
fn row(table: &'static [Removal], object: &Object) -> Option<&'static Removal> {
    table.iter().find(|(group, version, kinds, ..)| {
        object.group() == *group
            && object.version() == *version
            && (kinds.is_empty() || kinds.contains(&object.kind()))
    })
}

/// The Kubernetes minor version 1 that no longer serves an object's version, and what to do.
pub fn lost_in(object: &Object) -> Option<(u64, String)> {
    let removal = row(KUBERNETES, object)?;
    let (_, minor) = removal.3.split_once('.')?;
    Some((minor.parse().ok()?, help(removal)))
}

fn help((group, _, _, _, instead): &Removal) -> String {
    let line = match *instead {
        "" => return "remove it: nothing replaces it; Pod Security Admission is set by labels of the Namespace".to_owned(),
        instead if instead.contains('/') => instead.to_owned(),
        instead => format!("{group}/{instead}"),
    };
    format!("write `apiVersion: {line}`, and change the fields to those of that version")
}

fn removed(object: &Object) -> Option<Diagnostic> {
    let of = |of: &'static str, table: &'static [Removal]| Some((of, row(table, object)?));
    let (of, removal) =
        of("Kubernetes", KUBERNETES).or_else(|| of("cert-manager", CERT_MANAGER))?;
    if version_rejection(object.value()).is_some() {
        return None;
    }
    let message = format!(
        "{} is of version {}, which {of} {} and later do not serve",
        object.title(),
        object.api_version(),
        removal.3
    );
    let finding = Diagnostic::of(&VERSION_REMOVED, message)
        .at(object.place(&FieldPath::of_fields("apiVersion")));
    let finding = finding.upstream(format!(
        "no matches for kind \"{}\" in version \"{}\"",
        object.kind(),
        object.api_version()
    ));
    Some(finding.help(help(removal)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::components::tests::{found_in, of, titles};

    /// "Deprecated API Migration Guide", sections v1.16 to v1.32.
    #[test]
    fn versions_that_are_gone_are_found() {
        for (api_version, kind, instead) in [
            (
                "policy/v1beta1",
                "PodDisruptionBudget",
                "`apiVersion: policy/v1`",
            ),
            ("policy/v1beta1", "PodSecurityPolicy", "remove it"),
            (
                "apiextensions.k8s.io/v1beta1",
                "CustomResourceDefinition",
                "`apiVersion: apiextensions.k8s.io/v1`",
            ),
            (
                "autoscaling/v2beta2",
                "HorizontalPodAutoscaler",
                "`apiVersion: autoscaling/v2`",
            ),
            (
                "extensions/v1beta1",
                "Ingress",
                "`apiVersion: networking.k8s.io/v1`",
            ),
            (
                "cert-manager.io/v1alpha2",
                "Certificate",
                "`apiVersion: cert-manager.io/v1`",
            ),
            (
                "flowcontrol.apiserver.k8s.io/v1beta3",
                "FlowSchema",
                "`apiVersion: flowcontrol.apiserver.k8s.io/v1`",
            ),
        ] {
            let report = found_in(&[of(api_version, kind, "x", json!({}))], None, check);
            let [finding] = report.findings() else {
                panic!("{api_version} {kind}: {report:?}")
            };
            assert!(
                finding.help.as_ref().unwrap().to_string().contains(instead),
                "{api_version} {kind}"
            );
        }
        for (api_version, kind) in [
            ("policy/v1", "PodDisruptionBudget"),
            ("apps/v1", "Deployment"),
            ("autoscaling/v1", "HorizontalPodAutoscaler"),
            ("cert-manager.io/v1", "Certificate"),
            ("networking.k8s.io/v1beta1", "IPAddress"),
            ("example.com/v1beta1", "Deployment"),
        ] {
            assert_eq!(
                titles(&[of(api_version, kind, "x", json!({}))], check),
                [""; 0],
                "{api_version} {kind}"
            );
        }
    }

    #[test]
    fn what_clusterctl_does_not_convert_is_told_elsewhere() {
        assert_eq!(
            titles(
                &[of(
                    "rbac.authorization.k8s.io/v1beta1",
                    "Role",
                    "x",
                    json!({})
                )],
                check
            ),
            ["Role/x"]
        );
        assert_eq!(
            titles(&[of("apps/v1beta1", "StatefulSet", "x", json!({}))], check),
            ["StatefulSet/x"]
        );
        let deployment = of("apps/v1beta1", "Deployment", "x", json!({}));
        assert!(version_rejection(deployment.value()).is_some());
        assert_eq!(titles(&[deployment], check), [""; 0]);
    }
}
