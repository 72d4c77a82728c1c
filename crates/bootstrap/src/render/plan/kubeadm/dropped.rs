//! Fields that a version of kubeadm's API cannot hold. The provider drops them in silence.

use serde_json::Value;

use super::KubeadmApi;
use crate::render::input::role::Role;
use windlass_capi::api::v1beta2::WindlassConfigSpec;
use windlass_source::diag::{FieldPath, Segment};

use KubeadmApi::{V1Beta3, V1Beta4};

/// The fields for `kubeadm init`, and the version that brought them
/// (`Convert_…_To_upstreamv1beta2_…` and `…v1beta3_…` of Cluster API).
const OF_INIT: &[(&str, KubeadmApi)] = &[
    ("clusterConfiguration.apiServer.extraEnvs", V1Beta4),
    ("clusterConfiguration.controllerManager.extraEnvs", V1Beta4),
    ("clusterConfiguration.scheduler.extraEnvs", V1Beta4),
    ("clusterConfiguration.etcd.local.extraEnvs", V1Beta4),
    (
        "clusterConfiguration.certificateValidityPeriodDays",
        V1Beta4,
    ),
    (
        "clusterConfiguration.caCertificateValidityPeriodDays",
        V1Beta4,
    ),
    ("clusterConfiguration.encryptionAlgorithm", V1Beta4),
    (
        "initConfiguration.nodeRegistration.imagePullPolicy",
        V1Beta3,
    ),
    (
        "initConfiguration.nodeRegistration.imagePullSerial",
        V1Beta4,
    ),
    ("initConfiguration.skipPhases", V1Beta3),
    ("initConfiguration.patches", V1Beta3),
    // controlPlaneComponentHealthCheckSeconds is apiServer.timeoutForControlPlane before v1beta4.
    (
        "initConfiguration.timeouts.kubeletHealthCheckSeconds",
        V1Beta4,
    ),
    (
        "initConfiguration.timeouts.kubernetesAPICallSeconds",
        V1Beta4,
    ),
    ("initConfiguration.timeouts.etcdAPICallSeconds", V1Beta4),
    ("initConfiguration.timeouts.tlsBootstrapSeconds", V1Beta4),
    ("initConfiguration.timeouts.discoverySeconds", V1Beta4),
];

/// The fields for `kubeadm join`.
const OF_JOIN: &[(&str, KubeadmApi)] = &[
    (
        "joinConfiguration.nodeRegistration.imagePullPolicy",
        V1Beta3,
    ),
    (
        "joinConfiguration.nodeRegistration.imagePullSerial",
        V1Beta4,
    ),
    ("joinConfiguration.skipPhases", V1Beta3),
    ("joinConfiguration.patches", V1Beta3),
    // tlsBootstrapSeconds is discovery.timeout before v1beta4.
    (
        "joinConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds",
        V1Beta4,
    ),
    (
        "joinConfiguration.timeouts.kubeletHealthCheckSeconds",
        V1Beta4,
    ),
    (
        "joinConfiguration.timeouts.kubernetesAPICallSeconds",
        V1Beta4,
    ),
    ("joinConfiguration.timeouts.etcdAPICallSeconds", V1Beta4),
    ("joinConfiguration.timeouts.discoverySeconds", V1Beta4),
];

/// The fields of a spec that do not reach the machine, below the spec, and the version that brought
/// them.
pub(crate) fn dropped(
    spec: &WindlassConfigSpec,
    role: Role,
    api: KubeadmApi,
) -> Vec<(FieldPath, KubeadmApi)> {
    if api >= V1Beta4 {
        return Vec::new();
    }
    let spec = serde_json::to_value(spec).expect("internal error: a spec is plain data");
    let fields = if role == Role::Init { OF_INIT } else { OF_JOIN };
    let unknown = fields
        .iter()
        .filter(|(_, since)| api < *since)
        .map(|(dotted, since)| (FieldPath::of_fields(dotted), *since));
    unknown
        .filter(|(path, _)| value_at(&spec, path).is_some_and(is_set))
        .collect()
}

fn value_at<'a>(spec: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.segments()
        .iter()
        .try_fold(spec, |value, segment| match segment {
            Segment::Field(name) | Segment::Key(name) => value.get(name),
            Segment::Index(index) => value.get(index),
        })
}

/// Whether there is anything to drop: empty lists and objects say nothing.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        other => !other.is_null(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::render::plan::kubeadm::{
        ClusterValues, Durations, cluster_configuration, init_configuration, join_configuration,
    };

    /// A spec with every field of the three objects that kubeadm reads.
    fn full() -> Value {
        let arguments = json!([{"name": "v", "value": "1"}]);
        let envs = json!([{"name": "A", "value": "b"}]);
        let component = json!({
            "extraArgs": arguments, "extraEnvs": envs,
            "extraVolumes": [{"name": "n", "hostPath": "/h", "mountPath": "/m", "readOnly": true, "pathType": "File"}],
        });
        let mut api_server = component.clone();
        api_server["certSANs"] = json!(["san"]);
        let registration = json!({
            "name": "n", "criSocket": "unix:///s", "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
            "kubeletExtraArgs": arguments, "ignorePreflightErrors": ["all"], "imagePullPolicy": "Always", "imagePullSerial": true,
        });
        let timeouts = json!({
            "controlPlaneComponentHealthCheckSeconds": 1, "kubeletHealthCheckSeconds": 2, "kubernetesAPICallSeconds": 3,
            "etcdAPICallSeconds": 4, "tlsBootstrapSeconds": 5, "discoverySeconds": 6,
        });
        json!({
            "clusterConfiguration": {
                "etcd": {
                    "local": {
                        "imageRepository": "r", "imageTag": "t", "dataDir": "/d", "extraArgs": arguments, "extraEnvs": envs,
                        "serverCertSANs": ["s"], "peerCertSANs": ["p"],
                    },
                    "external": {"endpoints": ["https://e"], "caFile": "/ca", "certFile": "/c", "keyFile": "/k"},
                },
                "apiServer": api_server, "controllerManager": component, "scheduler": component,
                "dns": {"imageRepository": "r", "imageTag": "t"}, "certificatesDir": "/p", "imageRepository": "r",
                "featureGates": {"G": true}, "certificateValidityPeriodDays": 1, "caCertificateValidityPeriodDays": 2,
                "encryptionAlgorithm": "RSA-3072",
            },
            "initConfiguration": {
                "bootstrapTokens": [{"token": "abcdef.0123456789abcdef", "description": "d", "ttlSeconds": 1, "usages": ["u"], "groups": ["g"]}],
                "nodeRegistration": registration, "localAPIEndpoint": {"advertiseAddress": "a", "bindPort": 1},
                "skipPhases": ["p"], "patches": {"directory": "/p"}, "timeouts": timeouts,
            },
            "joinConfiguration": {
                "nodeRegistration": registration, "caCertPath": "/ca",
                "discovery": {
                    "bootstrapToken": {"token": "t", "apiServerEndpoint": "e", "caCertHashes": ["h"], "unsafeSkipCAVerification": true},
                    "file": {"kubeConfigPath": "/k"}, "tlsBootstrapToken": "t",
                },
                "controlPlane": {"localAPIEndpoint": {"advertiseAddress": "a", "bindPort": 1}},
                "skipPhases": ["p"], "patches": {"directory": "/p"}, "timeouts": timeouts,
            },
        })
    }

    fn documents(spec: WindlassConfigSpec, role: Role, api: KubeadmApi) -> Vec<Value> {
        if role == Role::Init {
            let init = spec.init_configuration.unwrap();
            let timeouts = init
                .timeouts
                .as_ref()
                .map(Durations::from)
                .unwrap_or_default();
            let cluster = cluster_configuration(
                &spec.cluster_configuration.unwrap(),
                &ClusterValues::default(),
                &timeouts,
                api,
            );
            return vec![cluster, init_configuration(&init, &[], &timeouts, api)];
        }
        let join = spec.join_configuration.unwrap();
        let timeouts = join
            .timeouts
            .as_ref()
            .map(Durations::from)
            .unwrap_or_default();
        vec![join_configuration(&join, &timeouts, api)]
    }

    /// Takes away each field that is an object's, one at a time.
    fn without_each(value: &Value, at: &FieldPath, found: &mut Vec<FieldPath>) {
        for (name, below) in value.as_object().into_iter().flatten() {
            let path = at.field(name);
            without_each(below, &path, found);
            found.push(path);
        }
    }

    fn removed(spec: &Value, path: &FieldPath) -> Value {
        let mut spec = spec.clone();
        let pointer: String = path
            .parent()
            .unwrap()
            .segments()
            .iter()
            .map(|s| match s {
                Segment::Field(name) | Segment::Key(name) => format!("/{name}"),
                Segment::Index(index) => format!("/{index}"),
            })
            .collect();
        let Some(Segment::Field(name)) = path.segments().last() else {
            panic!("{path}")
        };
        spec.pointer_mut(&pointer)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .remove(name);
        spec
    }

    #[test]
    fn what_the_document_of_a_version_lacks_is_what_is_told() {
        let full = full();
        let parsed: WindlassConfigSpec = serde_json::from_value(full.clone()).unwrap();
        for (role, roots) in [
            (
                Role::Init,
                &["clusterConfiguration", "initConfiguration"][..],
            ),
            (Role::WorkerJoin, &["joinConfiguration"]),
        ] {
            for (api, count) in [
                (KubeadmApi::V1Beta2, [16, 9]),
                (KubeadmApi::V1Beta3, [13, 6]),
                (KubeadmApi::V1Beta4, [0, 0]),
            ] {
                let whole = documents(parsed.clone(), role, api);
                let told = dropped(&parsed, role, api);
                assert_eq!(
                    told.len(),
                    count[usize::from(role != Role::Init)],
                    "{role} {}: {told:?}",
                    api.as_str()
                );
                let mut paths = Vec::new();
                roots.iter().for_each(|root| {
                    without_each(&full[root], &FieldPath::root().field(*root), &mut paths)
                });
                for path in paths {
                    // An empty object is written as an absent one; only what is below it counts.
                    let is_leaf = !value_at(&full, &path).unwrap().is_object()
                        || path.to_string().ends_with("patches");
                    if !is_leaf || path.to_string().contains("patches.") {
                        continue;
                    }
                    // What the type demands is in every document.
                    let Ok(less) = serde_json::from_value(removed(&full, &path)) else {
                        continue;
                    };
                    let has_no_effect = documents(less, role, api) == whole;
                    let is_told = told.iter().any(|(dropped, _)| *dropped == path);
                    assert_eq!(has_no_effect, is_told, "{path} in {}", api.as_str());
                }
            }
        }
    }
}
