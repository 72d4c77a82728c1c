//! Which changes of a KubeadmControlPlane its webhook rejects (`ValidateUpdate`:
//! `controlplane/kubeadm/internal/webhooks/kubeadm_control_plane.go` up to v1.11,
//! `kubeadmcontrolplane.go` in v1.12 and v1.13, `controlplane/kubeadm/webhooks/admission` since
//! v1.14).

use serde_json::{Value, json};

use super::Release;
use super::fields::{at, pruned};

/// `allowedPaths` of v1.10, below the spec; `*` allows everything below.
const V1BETA1: &[&str] = &[
    "kubeadmConfigSpec/clusterConfiguration/etcd/local/imageRepository",
    "kubeadmConfigSpec/clusterConfiguration/etcd/local/imageTag",
    "kubeadmConfigSpec/clusterConfiguration/etcd/local/extraArgs",
    "kubeadmConfigSpec/clusterConfiguration/etcd/local/extraArgs/*",
    "kubeadmConfigSpec/clusterConfiguration/etcd/local/dataDir",
    "kubeadmConfigSpec/clusterConfiguration/etcd/local/peerCertSANs",
    "kubeadmConfigSpec/clusterConfiguration/etcd/local/serverCertSANs",
    "kubeadmConfigSpec/clusterConfiguration/etcd/external/endpoints",
    "kubeadmConfigSpec/clusterConfiguration/etcd/external/caFile",
    "kubeadmConfigSpec/clusterConfiguration/etcd/external/certFile",
    "kubeadmConfigSpec/clusterConfiguration/etcd/external/keyFile",
    "kubeadmConfigSpec/clusterConfiguration/dns/imageRepository",
    "kubeadmConfigSpec/clusterConfiguration/dns/imageTag",
    "kubeadmConfigSpec/useExperimentalRetryJoin",
    "machineTemplate/metadata",
    "machineTemplate/metadata/*",
    "machineTemplate/infrastructureRef/apiVersion",
    "machineTemplate/infrastructureRef/name",
    "machineTemplate/infrastructureRef/kind",
    "machineTemplate/nodeDrainTimeout",
    "machineTemplate/nodeVolumeDetachTimeout",
    "machineTemplate/nodeDeletionTimeout",
    "remediationStrategy",
    "remediationStrategy/*",
    "machineNamingStrategy",
    "machineNamingStrategy/*",
    "rolloutAfter",
    "rolloutBefore",
    "rolloutBefore/*",
    "rolloutStrategy",
    "rolloutStrategy/*",
];

/// Those of v1.11, which works on v1beta2.
const V1BETA2: &[&str] = &[
    "kubeadmConfigSpec/clusterConfiguration/etcd",
    "kubeadmConfigSpec/clusterConfiguration/etcd/*",
    "kubeadmConfigSpec/clusterConfiguration/dns",
    "kubeadmConfigSpec/clusterConfiguration/dns/*",
    "kubeadmConfigSpec/clusterConfiguration/certificateValidityPeriodDays",
    "kubeadmConfigSpec/initConfiguration/timeouts",
    "kubeadmConfigSpec/initConfiguration/timeouts/*",
    "kubeadmConfigSpec/joinConfiguration/timeouts",
    "kubeadmConfigSpec/joinConfiguration/timeouts/*",
    "machineTemplate/metadata",
    "machineTemplate/metadata/*",
    "machineTemplate/spec",
    "machineTemplate/spec/*",
    "remediation",
    "remediation/*",
    "machineNaming",
    "machineNaming/*",
    "rollout",
    "rollout/*",
];

/// What v1.12 and later add.
const SINCE_V1_12: &[&str] = &["kubeadmConfigSpec/clusterConfiguration/encryptionAlgorithm"];

/// Those of all releases.
const ALWAYS: &[&str] = &[
    "kubeadmConfigSpec/clusterConfiguration/imageRepository",
    "kubeadmConfigSpec/clusterConfiguration/featureGates",
    "kubeadmConfigSpec/clusterConfiguration/featureGates/*",
    "kubeadmConfigSpec/clusterConfiguration/apiServer",
    "kubeadmConfigSpec/clusterConfiguration/apiServer/*",
    "kubeadmConfigSpec/clusterConfiguration/controllerManager",
    "kubeadmConfigSpec/clusterConfiguration/controllerManager/*",
    "kubeadmConfigSpec/clusterConfiguration/scheduler",
    "kubeadmConfigSpec/clusterConfiguration/scheduler/*",
    "kubeadmConfigSpec/initConfiguration/nodeRegistration",
    "kubeadmConfigSpec/initConfiguration/nodeRegistration/*",
    "kubeadmConfigSpec/initConfiguration/patches/directory",
    "kubeadmConfigSpec/initConfiguration/patches",
    "kubeadmConfigSpec/initConfiguration/skipPhases",
    "kubeadmConfigSpec/initConfiguration/bootstrapTokens",
    "kubeadmConfigSpec/initConfiguration/localAPIEndpoint",
    "kubeadmConfigSpec/initConfiguration/localAPIEndpoint/*",
    "kubeadmConfigSpec/joinConfiguration/nodeRegistration",
    "kubeadmConfigSpec/joinConfiguration/nodeRegistration/*",
    "kubeadmConfigSpec/joinConfiguration/patches/directory",
    "kubeadmConfigSpec/joinConfiguration/patches",
    "kubeadmConfigSpec/joinConfiguration/skipPhases",
    "kubeadmConfigSpec/joinConfiguration/caCertPath",
    "kubeadmConfigSpec/joinConfiguration/controlPlane",
    "kubeadmConfigSpec/joinConfiguration/controlPlane/*",
    "kubeadmConfigSpec/joinConfiguration/discovery",
    "kubeadmConfigSpec/joinConfiguration/discovery/*",
    "kubeadmConfigSpec/bootCommands",
    "kubeadmConfigSpec/preKubeadmCommands",
    "kubeadmConfigSpec/postKubeadmCommands",
    "kubeadmConfigSpec/files",
    "kubeadmConfigSpec/verbosity",
    "kubeadmConfigSpec/users",
    "kubeadmConfigSpec/ntp",
    "kubeadmConfigSpec/ntp/*",
    "kubeadmConfigSpec/ignition",
    "kubeadmConfigSpec/ignition/*",
    "kubeadmConfigSpec/diskSetup",
    "kubeadmConfigSpec/diskSetup/*",
    "kubeadmConfigSpec/format",
    "kubeadmConfigSpec/mounts",
    "replicas",
    "version",
];

/// The maximum number of fields that are listed.
const MOST: usize = 50;

/// The fields of the spec of a KubeadmControlPlane, in the API version that the release works on,
/// whose change the webhook rejects.
pub fn rejected(release: Release, old: &Value, new: &Value) -> Vec<String> {
    let mut changed = Vec::new();
    let [old, new] = [old, new].map(|spec| pruned(spec.clone()).unwrap_or_else(|| json!({})));
    changed_paths(&old, &new, &mut Vec::new(), &mut changed);
    let lists: [&[&str]; 3] = match release {
        Release(..=10, _) => [ALWAYS, V1BETA1, &[]],
        Release(11, _) => [ALWAYS, V1BETA2, &[]],
        _ => [ALWAYS, V1BETA2, SINCE_V1_12],
    };
    let is_allowed = |path: &Vec<&str>| lists.into_iter().flatten().any(|list| allows(list, path));
    let mut rejected: Vec<String> = changed
        .iter()
        .filter(|path| !is_allowed(path))
        .map(|path| path.join("."))
        .collect();
    const EXTERNAL: [&str; 4] = [
        "kubeadmConfigSpec",
        "clusterConfiguration",
        "etcd",
        "external",
    ];
    if at(&old, &EXTERNAL).is_null() != at(&new, &EXTERNAL).is_null() {
        rejected.push(EXTERNAL.join("."));
    }
    rejected.dedup();
    rejected.truncate(MOST);
    rejected
}

/// The paths of a merge patch (`jsonpatch.CreateMergePatch` and `paths`): a field that is gone is
/// one path, a new map one for each of its leaves. The depth is that of the schema.
fn changed_paths<'v>(
    old: &'v Value,
    new: &'v Value,
    path: &mut Vec<&'v str>,
    found: &mut Vec<Vec<&'v str>>,
) {
    static EMPTY: Value = Value::Null;
    if old == new {
        return;
    }
    let Value::Object(after) = new else {
        return found.push(path.clone());
    };
    for (name, value) in after {
        path.push(name);
        changed_paths(old.get(name).unwrap_or(&EMPTY), value, path, found);
        path.pop();
    }
    let gone = old.as_object().into_iter().flatten();
    for (name, _) in gone.filter(|(name, _)| !after.contains_key(*name)) {
        path.push(name);
        found.push(path.clone());
        path.pop();
    }
}

/// `pathsMatch`: every step is the same, or allowed by `*`, and the allowed path is not longer.
fn allows(allowed: &str, path: &[&str]) -> bool {
    let mut steps = allowed.split('/');
    for step in path {
        match steps.next() {
            Some("*") => return true,
            Some(expected) if expected == *step => {}
            _ => return false,
        }
    }
    steps.next().is_none()
}

/// Whether the webhook rejects a change from one Kubernetes version to another because a minor version
/// is skipped (`validateVersion`, the same in all releases).
pub fn skips_a_minor(old: &str, new: &str) -> bool {
    let minor = |version: &str| {
        let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    minor(old)
        .zip(minor(new))
        .is_some_and(|((major, old), (other, new))| major == other && new >= old.saturating_add(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_config(config: Value) -> Value {
        json!({"kubeadmConfigSpec": config})
    }

    #[track_caller]
    fn check(release: Release, old: Value, new: Value, expected: &[&str]) {
        assert_eq!(
            rejected(release, &of_config(old), &of_config(new)),
            expected
        );
    }

    #[test]
    fn rejects_what_the_release_does_not_allow() {
        let cluster = |field: &str, value: Value| json!({"clusterConfiguration": {field: value}});
        const DAYS: &str = "kubeadmConfigSpec.clusterConfiguration.caCertificateValidityPeriodDays";
        check(
            Release(14, 2),
            cluster("caCertificateValidityPeriodDays", json!(1)),
            cluster("caCertificateValidityPeriodDays", json!(2)),
            &[DAYS],
        );
        let extra_envs = |value: &str| {
            cluster(
                "etcd",
                json!({"local": {"extraEnvs": [{"name": "A", "value": value}]}}),
            )
        };
        check(Release(11, 0), extra_envs("1"), extra_envs("2"), &[]);
        check(
            Release(10, 10),
            extra_envs("1"),
            extra_envs("2"),
            &["kubeadmConfigSpec.clusterConfiguration.etcd.local.extraEnvs"],
        );
        let algorithm = |name: &str| cluster("encryptionAlgorithm", json!(name));
        check(
            Release(12, 0),
            algorithm("RSA-2048"),
            algorithm("ECDSA-P256"),
            &[],
        );
    }

    /// `{"spec", "kubeadmConfigSpec", "initConfiguration"}` is not in the list, so that it can be
    /// emptied but not removed.
    #[test]
    fn rejects_the_removal_of_a_configuration() {
        let init = json!({"initConfiguration": {"nodeRegistration": {"name": "a"}}});
        const INIT: &str = "kubeadmConfigSpec.initConfiguration";
        check(
            Release(14, 2),
            init.clone(),
            json!({"format": "cloud-config"}),
            &[INIT],
        );
        check(Release(14, 2), json!({"format": "cloud-config"}), init, &[]);
    }

    #[test]
    fn rejects_another_kind_of_etcd() {
        let external = json!({"clusterConfiguration": {"etcd": {"external": {"caFile": "/ca"}}}});
        let local = json!({"clusterConfiguration": {"etcd": {"local": {"dataDir": "/d"}}}});
        let path = "kubeadmConfigSpec.clusterConfiguration.etcd.external";
        check(Release(14, 2), external, local, &[path]);
    }

    #[test]
    fn rejects_to_skip_a_minor_version() {
        for (old, new, is_rejected) in [
            ("1.33.1", "1.34.0", false),
            ("1.33.1", "1.35.0", true),
            ("1.33.1", "1.40.0", true),
            ("1.35.0", "1.33.0", false),
            ("1.33", "1.35", true),
            ("x", "1.35.0", false),
            ("1.33.1", "2.35.0", false),
        ] {
            assert_eq!(skips_a_minor(old, new), is_rejected, "{old} {new}");
        }
    }
}
