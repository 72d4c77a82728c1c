//! References between objects by name: one table, from kind and path to the kind that is named.

use std::collections::BTreeSet;

use serde_json::Value;

use super::misfit::{Misfit, Shape};
use super::select::{Selection, select};
use super::{fields, pods};
use windlass_source::diag::{FieldPath, Segment};

/// A name in an object that is that of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<'v> {
    /// Where the name stands.
    pub path: FieldPath,
    /// The kind of the object that is referred to.
    pub kind: &'v str,
    /// The name of the object that is referred to, without its namespace.
    pub name: &'v str,
    /// Whether the namespace of the other object is beside its name.
    pub with_namespace: bool,
    /// Whether the text is `NAMESPACE/NAME`, not the name alone.
    pub is_joined: bool,
}

impl Reference<'_> {
    /// Where the namespace of the other object stands, or would.
    pub fn namespace_path(&self) -> FieldPath {
        self.path.parent().unwrap_or_default().field("namespace")
    }

    /// The text that names the other object when it has this name, in a namespace.
    pub fn text(&self, namespace: &str, name: &str) -> String {
        if self.is_joined {
            format!("{namespace}/{name}")
        } else {
            name.to_owned()
        }
    }
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum To {
    Kind(&'static str),
    /// An object of the kind that is beside the name; of this one when none does.
    Beside(&'static str),
    /// An object of each kind whose resource is in the rule that the name belongs to.
    OfRule,
}

use To::{Beside, Kind, OfRule};

const POD: &[(&str, To)] = &[
    ("serviceAccountName", Kind("ServiceAccount")),
    ("serviceAccount", Kind("ServiceAccount")),
    ("priorityClassName", Kind("PriorityClass")),
    ("runtimeClassName", Kind("RuntimeClass")),
    ("imagePullSecrets[].name", Kind("Secret")),
    ("volumes[].configMap.name", Kind("ConfigMap")),
    ("volumes[].secret.secretName", Kind("Secret")),
    (
        "volumes[].persistentVolumeClaim.claimName",
        Kind("PersistentVolumeClaim"),
    ),
    (
        "volumes[].projected.sources[].configMap.name",
        Kind("ConfigMap"),
    ),
    ("volumes[].projected.sources[].secret.name", Kind("Secret")),
    ("volumes[].azureFile.secretName", Kind("Secret")),
    ("volumes[].cephfs.secretRef.name", Kind("Secret")),
    ("volumes[].cinder.secretRef.name", Kind("Secret")),
    ("volumes[].csi.nodePublishSecretRef.name", Kind("Secret")),
    ("volumes[].flexVolume.secretRef.name", Kind("Secret")),
    ("volumes[].iscsi.secretRef.name", Kind("Secret")),
    ("volumes[].rbd.secretRef.name", Kind("Secret")),
    ("volumes[].scaleIO.secretRef.name", Kind("Secret")),
    ("volumes[].storageos.secretRef.name", Kind("Secret")),
];

const CONTAINER: &[(&str, To)] = &[
    ("env[].valueFrom.configMapKeyRef.name", Kind("ConfigMap")),
    ("env[].valueFrom.secretKeyRef.name", Kind("Secret")),
    ("envFrom[].configMapRef.name", Kind("ConfigMap")),
    ("envFrom[].secretRef.name", Kind("Secret")),
];

const ADMISSION: &str = "admissionregistration.k8s.io";
const CERTIFICATES: &str = "cert-manager.io";
pub(super) const CLUSTER_API: &str = "cluster.x-k8s.io";
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";
const NETWORKING: &str = "networking.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";

/// All kinds of a group.
const ANY: &str = "*";

/// Group, kind, path, and what the name at the path stands for.
const OBJECTS: &[(&str, &str, &str, To)] = &[
    (
        ADMISSION,
        "MutatingWebhookConfiguration",
        "webhooks[].clientConfig.service.name",
        Kind("Service"),
    ),
    (
        ADMISSION,
        "ValidatingAdmissionPolicyBinding",
        "spec.policyName",
        Kind("ValidatingAdmissionPolicy"),
    ),
    (
        ADMISSION,
        "ValidatingWebhookConfiguration",
        "webhooks[].clientConfig.service.name",
        Kind("Service"),
    ),
    (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "spec.conversion.webhook.clientConfig.service.name",
        Kind("Service"),
    ),
    (
        "apiregistration.k8s.io",
        "APIService",
        "spec.service.name",
        Kind("Service"),
    ),
    ("apps", "StatefulSet", "spec.serviceName", Kind("Service")),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        "spec.scaleTargetRef.name",
        Beside("Deployment"),
    ),
    (
        CERTIFICATES,
        "Certificate",
        "spec.issuerRef.name",
        Beside("Issuer"),
    ),
    (
        CERTIFICATES,
        "Certificate",
        "spec.keystores.jks.passwordSecretRef.name",
        Kind("Secret"),
    ),
    (
        CERTIFICATES,
        "Certificate",
        "spec.keystores.pkcs12.passwordSecretRef.name",
        Kind("Secret"),
    ),
    (
        CERTIFICATES,
        "Certificate",
        "spec.secretName",
        Kind("Secret"),
    ),
    (
        CERTIFICATES,
        "ClusterIssuer",
        "spec.ca.secretName",
        Kind("Secret"),
    ),
    (CERTIFICATES, "Issuer", "spec.ca.secretName", Kind("Secret")),
    (
        CLUSTER_API,
        "Cluster",
        "spec.controlPlaneRef.name",
        Beside(""),
    ),
    (
        CLUSTER_API,
        "Cluster",
        "spec.infrastructureRef.name",
        Beside(""),
    ),
    (
        CLUSTER_API,
        "Machine",
        "spec.bootstrap.configRef.name",
        Beside(""),
    ),
    (
        CLUSTER_API,
        "Machine",
        "spec.infrastructureRef.name",
        Beside(""),
    ),
    (
        CLUSTER_API,
        "MachineDeployment",
        "spec.template.spec.bootstrap.configRef.name",
        Beside(""),
    ),
    (
        CLUSTER_API,
        "MachineDeployment",
        "spec.template.spec.infrastructureRef.name",
        Beside(""),
    ),
    (
        CLUSTER_API,
        "MachinePool",
        "spec.template.spec.bootstrap.configRef.name",
        Beside(""),
    ),
    (
        CLUSTER_API,
        "MachinePool",
        "spec.template.spec.infrastructureRef.name",
        Beside(""),
    ),
    (
        CLUSTER_API,
        "MachineSet",
        "spec.template.spec.bootstrap.configRef.name",
        Beside(""),
    ),
    (
        CLUSTER_API,
        "MachineSet",
        "spec.template.spec.infrastructureRef.name",
        Beside(""),
    ),
    // Control planes of all providers have it so, by contract: that of v1beta1, and that of
    // v1beta2.
    (
        CONTROL_PLANE,
        ANY,
        "spec.machineTemplate.infrastructureRef.name",
        Beside(""),
    ),
    (
        CONTROL_PLANE,
        ANY,
        "spec.machineTemplate.spec.infrastructureRef.name",
        Beside(""),
    ),
    (
        NETWORKING,
        "Ingress",
        "spec.defaultBackend.service.name",
        Kind("Service"),
    ),
    (
        NETWORKING,
        "Ingress",
        "spec.ingressClassName",
        Kind("IngressClass"),
    ),
    (
        NETWORKING,
        "Ingress",
        "spec.rules[].http.paths[].backend.service.name",
        Kind("Service"),
    ),
    (
        NETWORKING,
        "Ingress",
        "spec.tls[].secretName",
        Kind("Secret"),
    ),
    (RBAC, "ClusterRole", "rules[].resourceNames[]", OfRule),
    (
        RBAC,
        "ClusterRoleBinding",
        "roleRef.name",
        Beside("ClusterRole"),
    ),
    (RBAC, "ClusterRoleBinding", "subjects[].name", Beside("")),
    (RBAC, "Role", "rules[].resourceNames[]", OfRule),
    (RBAC, "RoleBinding", "roleRef.name", Beside("Role")),
    (RBAC, "RoleBinding", "subjects[].name", Beside("")),
    (
        "",
        "PersistentVolumeClaim",
        "spec.storageClassName",
        Kind("StorageClass"),
    ),
    (
        "",
        "PersistentVolumeClaim",
        "spec.volumeName",
        Kind("PersistentVolume"),
    ),
    (
        "",
        "ServiceAccount",
        "imagePullSecrets[].name",
        Kind("Secret"),
    ),
    ("", "ServiceAccount", "secrets[].name", Kind("Secret")),
];

/// The templates of a ClusterClass, in v1beta2 and in v1beta1.
const CLASS: &[&str] = &[
    "spec.controlPlane.healthCheck.remediation.templateRef.name",
    "spec.controlPlane.machineHealthCheck.remediationTemplate.name",
    "spec.controlPlane.machineInfrastructure.ref.name",
    "spec.controlPlane.machineInfrastructure.templateRef.name",
    "spec.controlPlane.ref.name",
    "spec.controlPlane.templateRef.name",
    "spec.infrastructure.ref.name",
    "spec.infrastructure.templateRef.name",
    "spec.workers.machineDeployments[].bootstrap.templateRef.name",
    "spec.workers.machineDeployments[].healthCheck.remediation.templateRef.name",
    "spec.workers.machineDeployments[].infrastructure.templateRef.name",
    "spec.workers.machineDeployments[].machineHealthCheck.remediationTemplate.name",
    "spec.workers.machineDeployments[].template.bootstrap.ref.name",
    "spec.workers.machineDeployments[].template.infrastructure.ref.name",
    "spec.workers.machinePools[].bootstrap.templateRef.name",
    "spec.workers.machinePools[].infrastructure.templateRef.name",
    "spec.workers.machinePools[].template.bootstrap.ref.name",
    "spec.workers.machinePools[].template.infrastructure.ref.name",
];

/// Annotations that name another object as `NAMESPACE/NAME`, on objects of any kind.
const ANNOTATIONS: &[(&str, &str)] = &[
    ("cert-manager.io/inject-ca-from", "Certificate"),
    ("cert-manager.io/inject-ca-from-secret", "Secret"),
];

/// Group, resource and kind of what a rule of a role may name by its name.
const RESOURCES: &[(&str, &str, &str)] = &[
    (
        ADMISSION,
        "mutatingwebhookconfigurations",
        "MutatingWebhookConfiguration",
    ),
    (
        ADMISSION,
        "validatingadmissionpolicies",
        "ValidatingAdmissionPolicy",
    ),
    (
        ADMISSION,
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
    ),
    ("apps", "daemonsets", "DaemonSet"),
    ("apps", "deployments", "Deployment"),
    ("apps", "statefulsets", "StatefulSet"),
    ("batch", "cronjobs", "CronJob"),
    ("batch", "jobs", "Job"),
    (CERTIFICATES, "certificates", "Certificate"),
    (CERTIFICATES, "clusterissuers", "ClusterIssuer"),
    (CERTIFICATES, "issuers", "Issuer"),
    ("coordination.k8s.io", "leases", "Lease"),
    (RBAC, "clusterroles", "ClusterRole"),
    (RBAC, "roles", "Role"),
    ("scheduling.k8s.io", "priorityclasses", "PriorityClass"),
    ("", "configmaps", "ConfigMap"),
    ("", "persistentvolumeclaims", "PersistentVolumeClaim"),
    ("", "secrets", "Secret"),
    ("", "serviceaccounts", "ServiceAccount"),
    ("", "services", "Service"),
];

/// Mappings in which the namespace of the other object is beside its name.
const WITH_NAMESPACE: [&str; 2] = ["service", "subjects"];

/// The references of an object, and the fields on their ways that have another type than Kubernetes
/// gives them, each once.
pub fn references(object: &Value) -> (Vec<Reference<'_>>, Vec<Misfit>) {
    let (mut found, mut misfits, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut follow = |path: &str, to: To| {
        let Selection {
            found: names,
            misfits: faults,
        } = select(object, path, Shape::Text);
        found.extend(
            names
                .into_iter()
                .flat_map(|(path, name)| named(object, path, name, to)),
        );
        misfits.extend(
            faults
                .into_iter()
                .filter(|fault: &Misfit| known.insert(fault.path.clone())),
        );
    };
    let (group, kind) = (fields::group_version(object).0, fields::kind(object));
    let is_of = |known: &str| known == kind || known == ANY;
    for (_, _, path, to) in OBJECTS
        .iter()
        .filter(|(known_group, known, ..)| is_of(known) && *known_group == group)
    {
        follow(path, *to);
    }
    if kind == "ClusterClass" && group == CLUSTER_API {
        CLASS.iter().for_each(|path| follow(path, Beside("")));
    }
    if let Some(pod) = pods::pod_path(kind) {
        for (path, to) in POD {
            follow(&format!("{pod}.{path}"), *to);
        }
        for list in pods::CONTAINER_LISTS {
            for (path, to) in CONTAINER {
                follow(&format!("{pod}.{list}[].{path}"), *to);
            }
        }
    }
    found.extend(
        ANNOTATIONS
            .iter()
            .filter_map(|(key, kind)| annotation(object, key, kind)),
    );
    (found, misfits)
}

/// The objects that a name may stand for.
fn named<'v>(object: &'v Value, path: FieldPath, name: &'v Value, to: To) -> Vec<Reference<'v>> {
    let kinds = match to {
        Kind(kind) => vec![kind],
        Beside(default) => {
            let beside = path
                .parent()
                .and_then(|parent| fields::at(object, parent.segments()));
            vec![
                beside
                    .map(fields::kind)
                    .filter(|kind| !kind.is_empty())
                    .unwrap_or(default),
            ]
        }
        OfRule => path
            .parent()
            .and_then(|list| fields::at(object, list.parent()?.segments()))
            .map(kinds_of_rule)
            .unwrap_or_default(),
    };
    kinds
        .into_iter()
        .filter_map(|kind| reference(object, path.clone(), name, kind))
        .collect()
}

/// The kinds whose objects a rule of a role names.
fn kinds_of_rule(rule: &Value) -> Vec<&'static str> {
    let has = |field: &str, wanted: &str| {
        let listed = fields::items(rule, &[field])
            .iter()
            .filter_map(Value::as_str);
        listed
            .map(|text| text.split('/').next().unwrap_or_default())
            .any(|text| text == wanted || text == "*")
    };
    let named = RESOURCES
        .iter()
        .filter(|(group, resource, _)| has("apiGroups", group) && has("resources", resource));
    named.map(|(_, _, kind)| *kind).collect()
}

fn annotation<'v>(object: &'v Value, key: &str, kind: &'static str) -> Option<Reference<'v>> {
    let (_, name) = fields::field(object, &["metadata", "annotations", key])?
        .as_str()?
        .split_once('/')?;
    let path = FieldPath::of_fields("metadata.annotations").field(key);
    Some(Reference {
        kind,
        name,
        with_namespace: false,
        is_joined: true,
        path,
    })
}

fn reference<'v>(
    object: &'v Value,
    path: FieldPath,
    name: &'v Value,
    kind: &'v str,
) -> Option<Reference<'v>> {
    let parent = &path.segments()[..path.segments().len().checked_sub(1)?];
    let holder = parent.iter().rev().find_map(|segment| match segment {
        Segment::Field(name) => Some(name.as_str()),
        _ => None,
    });
    let with_namespace = holder.is_some_and(|holder| WITH_NAMESPACE.contains(&holder))
        && !fields::kind(object).starts_with("Ingress");
    Some(Reference {
        kind,
        name: name.as_str()?,
        with_namespace,
        is_joined: false,
        path,
    })
}
