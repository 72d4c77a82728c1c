//! What is compared of a control plane machine: the KubeadmConfig that it was created with, which
//! the release of that time made of the KubeadmControlPlane, and the KubeadmControlPlane as it is
//! now. Each release has a file `filters.go` with `UpToDate`; the table has its path.

use serde_json::{Map, Value, json};

use super::Release;
use super::fields::{at, default, entry, pruned_differences, remove};
use super::table::{Comparison, Machines, Rule, row};

/// The config of a KubeadmControlPlane at one time.
#[derive(Debug, Clone, Copy)]
pub struct Config<'v> {
    /// The release whose controllers work on it.
    pub release: Release,
    /// `spec.kubeadmConfigSpec` in v1beta2.
    pub spec: &'v Value,
    /// The same as it is written, if that is v1beta1.
    pub v1beta1: Option<&'v Value>,
    /// Whether the controller sets the feature gate ControlPlaneKubeletLocalMode for the Kubernetes
    /// version (`DefaultFeatureGates`).
    pub sets_local_mode: bool,
}

const DNS: &[&str] = &["clusterConfiguration", "dns"];
const ENDPOINT: &[&str] = &["clusterConfiguration", "controlPlaneEndpoint"];
const CLUSTER: &[&str] = &["clusterConfiguration"];
const INIT: &[&str] = &["initConfiguration"];
const JOIN: &[&str] = &["joinConfiguration"];
const DISCOVERY: &[&str] = &["joinConfiguration", "discovery"];
const JOINED_CONTROL_PLANE: &[&str] = &["joinConfiguration", "controlPlane"];
const LOCAL_MODE: &[&str] = &[
    "clusterConfiguration",
    "featureGates",
    "ControlPlaneKubeletLocalMode",
];
/// `apiServer.timeoutForControlPlane` of v1beta1 is converted to both.
const HEALTH_CHECKS: [&[&str]; 2] = [
    &[
        "initConfiguration",
        "timeouts",
        "controlPlaneComponentHealthCheckSeconds",
    ],
    &[
        "joinConfiguration",
        "timeouts",
        "controlPlaneComponentHealthCheckSeconds",
    ],
];

/// The fields of the config for which the new release replaces machines that the old release
/// created; `None` when its rules are not known, as those of a downgrade.
pub fn replacing(machines: Machines, old: &Config<'_>, new: &Config<'_>) -> Option<Vec<String>> {
    row(old.release, machines)?;
    let Rule::ControlPlane(comparison) = row(new.release, machines)?.rule else {
        return None;
    };
    if new.release.0 < old.release.0 {
        return None;
    }
    Some(match comparison {
        Comparison::V1Beta1 => v1beta1(machines, old, new),
        Comparison::Annotated {
            ignores_health_check,
        } => annotated(machines, old, new, ignores_health_check),
        Comparison::Desired { .. } => desired(machines, old, new),
    })
}

/// The spec of the KubeadmConfig that a release creates for a machine, as a later one reads it
/// (`InitialControlPlaneConfig` and `JoinControlPlaneConfig`, since v1.12
/// `ComputeDesiredKubeadmConfig`). The field `controlPlane` of a machine that joins comes from the
/// bootstrap provider before v1.12.
fn created(machines: Machines, config: &Config<'_>, is_read_by_v1beta2: bool) -> Value {
    let mut spec = config.spec.clone();
    if machines == Machines::Init {
        remove(&mut spec, JOIN);
    } else {
        remove(&mut spec, INIT);
        if let Some(field) = entry(&mut spec, JOINED_CONTROL_PLANE).filter(|field| field.is_null())
        {
            *field = json!({});
        }
    }
    let seconds = at(config.spec, HEALTH_CHECKS[0]);
    if config.release.0 <= 10 && is_read_by_v1beta2 && !seconds.is_null() {
        for path in HEALTH_CHECKS {
            default(&mut spec, path, seconds);
        }
    }
    spec
}

/// The fields of two configs in v1beta2 that differ, whether or not machines are replaced for them.
pub fn changed(old: &Value, new: &Value) -> Vec<String> {
    let [old, new] = [old, new].map(|spec| {
        let mut spec = spec.clone();
        with_defaults(&mut spec);
        spec
    });
    pruned_differences(old, new)
}

/// Applies the defaults of earlier releases (`ApplyPreviousKubeadmConfigDefaults`).
fn with_defaults(spec: &mut Value) {
    const POLICY: &str = "IfNotPresent";
    default(spec, &["format"], &json!("cloud-config"));
    for configuration in ["initConfiguration", "joinConfiguration"] {
        let path = [configuration, "nodeRegistration", "imagePullPolicy"];
        default(spec, &path, &json!(POLICY));
    }
}

/// v1.10: `matchClusterConfiguration` and `matchInitOrJoinConfiguration` with pointers, so that a
/// configuration that is missing is not compared.
fn v1beta1(machines: Machines, old: &Config<'_>, new: &Config<'_>) -> Vec<String> {
    let mut machine = created(machines, old, false);
    let mut wanted = new.spec.clone();
    remove(
        &mut wanted,
        if machines == Machines::Init {
            JOIN
        } else {
            INIT
        },
    );
    for (spec, origin) in [(&mut machine, old), (&mut wanted, new)] {
        let timeout = at(origin.spec, HEALTH_CHECKS[0]);
        if !timeout.is_null() {
            const TIMEOUT: &[&str] = &[
                "clusterConfiguration",
                "apiServer",
                "timeoutForControlPlane",
            ];
            default(spec, TIMEOUT, timeout);
        }
        for path in [
            DNS,
            DISCOVERY,
            &["initConfiguration", "timeouts"],
            &["joinConfiguration", "timeouts"],
        ] {
            remove(spec, path);
        }
    }
    let own = if machines == Machines::Init {
        INIT
    } else {
        JOIN
    };
    for path in [own, JOINED_CONTROL_PLANE] {
        if at(&wanted, path).is_null() {
            remove(&mut machine, path);
        }
    }
    with_defaults(&mut machine);
    with_defaults(&mut wanted);
    let mut differences = pruned_differences(machine, wanted);
    if let (Some(old), Some(new)) = (old.v1beta1, new.v1beta1) {
        differences.extend(v1beta1_only(machines, old, new));
    }
    differences
}

/// Differences that v1beta2 cannot express: an empty struct behind a pointer, which differs from a
/// missing one, and fields that v1beta2 lacks.
fn v1beta1_only(machines: Machines, old: &Value, new: &Value) -> Vec<String> {
    const POINTERS: [&[&str]; 8] = [
        &["clusterConfiguration", "etcd", "local"],
        &["clusterConfiguration", "etcd", "external"],
        &["initConfiguration", "patches"],
        &["joinConfiguration", "patches"],
        &["diskSetup"],
        &["ntp"],
        &["ignition"],
        &["ignition", "containerLinuxConfig"],
    ];
    let other = if machines == Machines::Init {
        JOIN
    } else {
        INIT
    };
    let own = POINTERS.into_iter().filter(|path| !path.starts_with(other));
    let is_changed = |path: &&[&str]| at(old, path).is_null() != at(new, path).is_null();
    let retries = |spec: &Value| at(spec, &["useExperimentalRetryJoin"]).as_bool() == Some(true);
    own.filter(is_changed)
        .map(|path| path.join("."))
        .chain((retries(old) != retries(new)).then(|| "useExperimentalRetryJoin".to_owned()))
        .collect()
}

/// v1.11: the same in v1beta2, where any joinConfiguration means that a machine has joined. A
/// KubeadmConfig of v1.10 with `timeoutForControlPlane` has one after conversion, whatever its
/// machine did (kubernetes-sigs/cluster-api#13017, fixed in v1.11.4).
fn annotated(
    machines: Machines,
    old: &Config<'_>,
    new: &Config<'_>,
    ignores_health_check: bool,
) -> Vec<String> {
    let [mut cluster, mut wanted_cluster] =
        [old, new].map(|config| at(config.spec, CLUSTER).clone());
    remove_both(&mut cluster, &mut wanted_cluster, &["dns"]);
    let mut differences: Vec<String> = pruned_differences(cluster, wanted_cluster)
        .into_iter()
        .map(|field| format!("clusterConfiguration.{field}"))
        .collect();
    let mut machine = created(machines, old, true);
    let mut wanted = new.spec.clone();
    for spec in [&mut machine, &mut wanted] {
        remove(spec, CLUSTER);
        if ignores_health_check {
            remove_health_checks(spec);
        }
    }
    let join = at(&machine, JOIN);
    let has_joined = !join["controlPlane"].is_null()
        || !pruned_differences(join.clone(), Value::Null).is_empty();
    remove(&mut wanted, if has_joined { INIT } else { JOIN });
    for spec in [&mut machine, &mut wanted] {
        with_defaults(spec);
        remove(spec, DISCOVERY);
    }
    if at(&wanted, JOINED_CONTROL_PLANE).is_null() {
        remove(&mut machine, JOINED_CONTROL_PLANE);
    }
    differences.extend(pruned_differences(machine, wanted));
    differences
}

/// Since v1.12: `matchesKubeadmConfig`. The first machine is compared as if it had joined, and only
/// if that differs as what it is.
fn desired(machines: Machines, old: &Config<'_>, new: &Config<'_>) -> Vec<String> {
    let mut machine = created(machines, old, true);
    let mut wanted = new.spec.clone();
    for (spec, config) in [(&mut machine, old), (&mut wanted, new)] {
        if config.sets_local_mode {
            default(spec, LOCAL_MODE, &json!(true));
        }
        for path in [ENDPOINT, DNS, DISCOVERY] {
            remove(spec, path);
        }
        remove_health_checks(spec);
        with_defaults(spec);
    }
    if machines != Machines::Init {
        remove_both(&mut machine, &mut wanted, INIT);
        return pruned_differences(machine, wanted);
    }
    let mut as_joined = machine.clone();
    convert_to_join(&mut as_joined, &wanted);
    let mut wanted_join = wanted.clone();
    remove_both(&mut as_joined, &mut wanted_join, INIT);
    if pruned_differences(as_joined, wanted_join).is_empty() {
        return Vec::new();
    }
    remove_both(&mut machine, &mut wanted, JOIN);
    pruned_differences(machine, wanted)
}

fn remove_health_checks(spec: &mut Value) {
    for path in HEALTH_CHECKS {
        remove(spec, path);
    }
}

fn remove_both(machine: &mut Value, wanted: &mut Value, path: &[&str]) {
    remove(machine, path);
    remove(wanted, path);
}

/// The init configuration of a machine as its join configuration (`PrepareKubeadmConfigsForDiff`).
fn convert_to_join(machine: &mut Value, wanted: &Value) {
    let init = at(machine, INIT);
    let mut join = Map::new();
    for name in ["timeouts", "patches", "skipPhases", "nodeRegistration"] {
        join.extend(init.get(name).map(|value| (name.to_owned(), value.clone())));
    }
    join.extend(
        wanted
            .pointer("/joinConfiguration/caCertPath")
            .map(|path| ("caCertPath".to_owned(), path.clone())),
    );
    join.extend(init.get("localAPIEndpoint").map(|endpoint| {
        let control_plane = json!({"localAPIEndpoint": endpoint});
        ("controlPlane".to_owned(), control_plane)
    }));
    if let Some(field) = entry(machine, JOIN) {
        *field = Value::Object(join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEWEST: (Release, Release) = (Release::NEWEST, Release::NEWEST);

    /// The differences for the machine that ran `kubeadm init`, then for those that joined.
    fn compared(releases: (Release, Release), old: &Value, new: &Value) -> [Vec<String>; 2] {
        let config = |release, spec| Config {
            release,
            spec,
            v1beta1: None,
            sets_local_mode: false,
        };
        [Machines::Init, Machines::Joined].map(|machines| {
            replacing(machines, &config(releases.0, old), &config(releases.1, new)).unwrap()
        })
    }

    #[track_caller]
    fn check(releases: (Release, Release), old: Value, new: Value, init: &[&str], joined: &[&str]) {
        assert_eq!(
            compared(releases, &old, &new),
            [init, joined],
            "{releases:?}"
        );
    }

    /// All releases that compare in another way, each with itself.
    const EACH: [Release; 5] = [
        Release(10, 10),
        Release(11, 3),
        Release(11, 11),
        Release(12, 0),
        Release(14, 2),
    ];

    /// `TestMatchesKubeadmConfig` of Cluster API has the same cases.
    #[test]
    fn replaces_machines_for_fields_that_reach_them() {
        for release in EACH {
            let both = (release, release);
            let files = |content: &str| json!({"files": [{"path": "/a", "content": content}]});
            check(both, files("a"), files("b"), &["files"], &["files"]);
            let dns = |tag: &str| json!({"clusterConfiguration": {"dns": {"imageTag": tag}}});
            check(both, dns("a"), dns("b"), &[], &[]);
            let args = |value: &str| {
                let args = json!([{"name": "v", "value": value}]);
                json!({"clusterConfiguration": {"apiServer": {"extraArgs": args}}})
            };
            let path = &["clusterConfiguration.apiServer.extraArgs"];
            check(both, args("1"), args("2"), path, path);
            let discovery = json!({"joinConfiguration": {"discovery": {"tlsBootstrapToken": "a"}}});
            check(both, discovery, json!({}), &[], &[]);
            let no_names = json!({"clusterConfiguration": {"apiServer": {"certSANs": []}}});
            check(both, no_names, json!({}), &[], &[]);
        }
    }

    fn registrations(init: &str, join: &str) -> Value {
        let registration = |name: &str| json!({"nodeRegistration": {"name": name}});
        json!({"initConfiguration": registration(init), "joinConfiguration": registration(join)})
    }

    #[test]
    fn replaces_machines_of_the_role_that_changes() {
        const INIT: &[&str] = &["initConfiguration.nodeRegistration.name"];
        const JOIN: &[&str] = &["joinConfiguration.nodeRegistration.name"];
        for release in EACH {
            let both = (release, release);
            check(
                both,
                registrations("a", "b"),
                registrations("c", "b"),
                INIT,
                &[],
            );
            check(
                both,
                registrations("a", "b"),
                registrations("a", "c"),
                &[],
                JOIN,
            );
            check(
                both,
                registrations("a", "a"),
                registrations("b", "b"),
                INIT,
                JOIN,
            );
        }
    }

    /// What the first machine would have if it had joined is the same (v1.12 and later).
    #[test]
    fn compares_the_first_machine_as_if_it_had_joined() {
        check(
            NEWEST,
            registrations("a", "a"),
            registrations("b", "a"),
            &[],
            &[],
        );
        let older = (Release(11, 4), Release(11, 4));
        const INIT: &[&str] = &["initConfiguration.nodeRegistration.name"];
        check(
            older,
            registrations("a", "a"),
            registrations("b", "a"),
            INIT,
            &[],
        );
    }

    fn timeouts(seconds: u64) -> Value {
        let timeouts = json!({"timeouts": {"controlPlaneComponentHealthCheckSeconds": seconds}});
        json!({"initConfiguration": timeouts, "joinConfiguration": timeouts})
    }

    #[test]
    fn upgrades_to_the_first_releases_of_v1_11_replace_machines_with_a_timeout() {
        for old in [Release(10, 0), Release(10, 8)] {
            for (new, is_replaced) in [
                (Release(11, 0), true),
                (Release(11, 3), true),
                (Release(11, 4), false),
                (Release(12, 0), false),
                (Release(14, 2), false),
            ] {
                let found = compared((old, new), &timeouts(1200), &timeouts(1200));
                assert_eq!(
                    found.map(|fields| !fields.is_empty()),
                    [is_replaced; 2],
                    "{new:?}"
                );
                assert_eq!(compared((old, new), &json!({}), &json!({})), [[""; 0]; 2]);
            }
        }
    }

    #[test]
    fn a_changed_timeout_counts_before_v1_11_4() {
        for (release, is_replaced) in [
            (Release(10, 10), true),
            (Release(11, 3), true),
            (Release(11, 4), false),
            (Release(13, 0), false),
        ] {
            let found = compared((release, release), &timeouts(600), &timeouts(1200));
            assert_eq!(
                found.map(|fields| !fields.is_empty()),
                [is_replaced; 2],
                "{release:?}"
            );
        }
    }

    #[test]
    fn ignores_what_earlier_releases_filled_in() {
        let filled = json!({
            "format": "cloud-config", "files": [],
            "initConfiguration": {"nodeRegistration": {"imagePullPolicy": "IfNotPresent"}},
            "joinConfiguration": {"nodeRegistration": {"imagePullPolicy": "IfNotPresent"}},
        });
        for release in EACH {
            let both = (release, release);
            check(both, json!({}), filled.clone(), &[], &[]);
            let empty = json!({"initConfiguration": null, "format": ""});
            check(both, empty, filled.clone(), &[], &[]);
            let ignition = json!({"format": "ignition"});
            check(both, ignition, filled.clone(), &["format"], &["format"]);
        }
        let always =
            json!({"joinConfiguration": {"nodeRegistration": {"imagePullPolicy": "Always"}}});
        const POLICY: &[&str] = &["joinConfiguration.nodeRegistration.imagePullPolicy"];
        check(NEWEST, always, filled, &[], POLICY);
    }

    #[test]
    fn an_empty_list_of_taints_is_not_a_missing_one() {
        let taints = json!({"joinConfiguration": {"nodeRegistration": {"taints": []}}});
        const TAINTS: &[&str] = &["joinConfiguration.nodeRegistration.taints"];
        check(NEWEST, taints, json!({}), &[], TAINTS);
    }

    /// v1.12.2 sets the feature gate only below Kubernetes 1.36 and compares it.
    #[test]
    fn a_feature_gate_of_an_earlier_release_counts_since_v1_12() {
        let spec = json!({});
        let config = |release, sets_local_mode| Config {
            release,
            spec: &spec,
            v1beta1: None,
            sets_local_mode,
        };
        let found = |old, new| replacing(Machines::Joined, &old, &new).unwrap();
        let older = config(Release(12, 1), true);
        let bounded = config(Release(12, 2), false);
        assert_eq!(found(older, bounded), ["clusterConfiguration"]);
        assert_eq!(found(older, config(Release(12, 2), true)), [""; 0]);
        assert_eq!(
            found(config(Release(10, 0), true), config(Release(11, 11), false)),
            [""; 0]
        );
    }

    #[test]
    fn v1beta1_tells_an_empty_struct_from_a_missing_one() {
        let empty = json!({"clusterConfiguration": {"etcd": {"local": {}}}});
        let [missing, spec] = [json!({}), json!({})];
        let config = |v1beta1| Config {
            release: Release(10, 10),
            spec: &spec,
            v1beta1: Some(v1beta1),
            sets_local_mode: false,
        };
        let found = replacing(Machines::Init, &config(&missing), &config(&empty));
        assert_eq!(found.unwrap(), ["clusterConfiguration.etcd.local"]);
    }

    #[test]
    fn downgrades_and_unknown_releases_have_no_answer() {
        let spec = json!({});
        let config = |release| Config {
            release,
            spec: &spec,
            v1beta1: None,
            sets_local_mode: false,
        };
        for (old, new) in [
            (Release(14, 2), Release(13, 6)),
            (Release(14, 2), Release(14, 3)),
            (Release(14, 3), Release(14, 3)),
        ] {
            let found = replacing(Machines::Init, &config(old), &config(new));
            assert_eq!(found, None, "{old:?} {new:?}");
        }
    }
}
