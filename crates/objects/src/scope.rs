//! Which kinds live in a namespace.

/// Kinds that exist outside namespaces. clusterctl knows only some of them and gives all others a
/// namespace.
const CLUSTER_WIDE: &[&str] = &[
    "APIService",
    "CSIDriver",
    "CSINode",
    "CertificateSigningRequest",
    "ClusterIssuer",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "FlowSchema",
    "IngressClass",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PodSecurityPolicy",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "RuntimeClass",
    "StorageClass",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
];

/// Whether objects of a kind live in a namespace.
pub fn is_namespaced(kind: &str) -> bool {
    CLUSTER_WIDE.binary_search(&kind).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_wide_kinds_are_sorted() {
        assert!(CLUSTER_WIDE.is_sorted(), "the look-up is a binary search");
    }
}
