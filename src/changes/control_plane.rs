//! Which changes of a KubeadmControlPlane's config replace machines (Cluster API v1.14,
//! `controlplane/kubeadm/pkg/filters.go`, `UpToDate` and `PrepareKubeadmConfigsForDiff`;
//! `controlplane/kubeadm/webhooks/admission/kubeadmcontrolplane.go`, `allowedPaths`).

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Fields that only count for machines to come, or that Cluster API changes in the running cluster.
const IGNORED: [&[&str]; 5] = [
    &["clusterConfiguration", "controlPlaneEndpoint"],
    &["clusterConfiguration", "dns"],
    &["joinConfiguration", "discovery"],
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

/// Fields that the webhook lets nobody change.
const FIXED: [&[&str]; 3] = [
    &["clusterConfiguration", "caCertificateValidityPeriodDays"],
    &["clusterConfiguration", "certificatesDir"],
    &["clusterConfiguration", "controlPlaneEndpoint"],
];

/// A spec with what earlier releases filled in (`ApplyPreviousKubeadmConfigDefaults`): Cluster API
/// compares both sides with it, so that no machine is replaced for it.
pub(super) fn with_defaults(mut spec: Value) -> Value {
    const DEFAULTS: [(&[&str], &str); 3] = [
        (&["format"], "cloud-config"),
        (
            &["initConfiguration", "nodeRegistration", "imagePullPolicy"],
            "IfNotPresent",
        ),
        (
            &["joinConfiguration", "nodeRegistration", "imagePullPolicy"],
            "IfNotPresent",
        ),
    ];
    for (path, default) in DEFAULTS {
        let field = path.iter().try_fold(&mut spec, |value, step| {
            if value.is_null() {
                *value = json!({});
            }
            Some(value.as_object_mut()?.entry(*step).or_insert(Value::Null))
        });
        if let Some(field) = field.filter(|field| field.is_null() || field.as_str() == Some("")) {
            *field = default.into();
        }
    }
    spec
}

/// Whether the webhook refuses to go from one version of Kubernetes to another: no minor version
/// may be skipped (`validateVersion`).
pub(super) fn skips_a_minor(old: &str, new: &str) -> bool {
    let minor = |version: &str| {
        let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    minor(old)
        .zip(minor(new))
        .is_some_and(|((major, old), (other, new))| major == other && new >= old.saturating_add(2))
}

/// The fields of a spec in v1beta2 whose change replaces the machines that joined, or else the
/// first one.
pub(super) fn replacing(old: &Value, new: &Value) -> Vec<String> {
    let of_others = differences(&joining(old), &joining(new));
    if !of_others.is_empty() {
        return of_others;
    }
    // The first machine is compared as if it had joined, and only then as what it is.
    match differences(&joining(&as_joined(old, new)), &joining(new)).is_empty() {
        true => Vec::new(),
        false => differences(&first(old), &first(new)),
    }
}

pub(super) fn refused(old: &Value, new: &Value) -> Vec<String> {
    let is_changed = |path: &&&[&str]| at(old, path) != at(new, path);
    FIXED
        .iter()
        .filter(is_changed)
        .map(|path| path.join("."))
        .collect()
}

fn at<'v>(value: &'v Value, path: &[&str]) -> &'v Value {
    static NULL: Value = Value::Null;
    path.iter()
        .fold(value, |value, step| value.get(step).unwrap_or(&NULL))
}

fn joining(spec: &Value) -> Value {
    without(spec, "initConfiguration")
}

fn first(spec: &Value) -> Value {
    without(spec, "joinConfiguration")
}

/// The spec as it is compared, without one of the two configurations.
fn without(spec: &Value, configuration: &str) -> Value {
    let mut spec = spec.clone();
    for path in IGNORED {
        remove(&mut spec, path);
    }
    if let Value::Object(fields) = &mut spec {
        fields.remove(configuration);
    }
    pruned(spec).unwrap_or_else(|| json!({}))
}

fn remove(value: &mut Value, path: &[&str]) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let parent = parents
        .iter()
        .try_fold(value, |value, step| value.get_mut(*step));
    if let Some(Value::Object(fields)) = parent {
        fields.remove(*last);
    }
}

/// The value without empty maps and lists; but no taints is something else than those of kubeadm.
/// The depth is that of the schema.
fn pruned(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Array(items) if items.is_empty() => None,
        Value::Object(fields) => {
            let kept = |(name, value): (String, Value)| {
                let value = if name == "taints" {
                    Some(value)
                } else {
                    pruned(value)
                };
                value.map(|value| (name, value))
            };
            let fields: Map<String, Value> = fields.into_iter().filter_map(kept).collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
        value => Some(value),
    }
}

/// The old spec with its first machine's configuration as one that joins.
fn as_joined(old: &Value, new: &Value) -> Value {
    let init = at(old, &["initConfiguration"]);
    let mut join = Map::new();
    for name in ["timeouts", "patches", "skipPhases", "nodeRegistration"] {
        join.extend(init.get(name).map(|value| (name.to_owned(), value.clone())));
    }
    join.extend(
        new.pointer("/joinConfiguration/caCertPath")
            .map(|path| ("caCertPath".to_owned(), path.clone())),
    );
    join.extend(init.get("localAPIEndpoint").map(|endpoint| {
        (
            "controlPlane".to_owned(),
            json!({"localAPIEndpoint": endpoint}),
        )
    }));
    let mut spec = old.clone();
    if let Value::Object(fields) = &mut spec {
        fields.insert("joinConfiguration".to_owned(), Value::Object(join));
    }
    spec
}

/// The most fields that are named.
const MOST: usize = 50;

/// The fields that differ, as far down as both have maps.
pub(super) fn differences(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(old, new, "", &mut found);
    found.truncate(MOST);
    found
}

/// The depth is that of what the reader of YAML takes.
fn collect(old: &Value, new: &Value, path: &str, found: &mut Vec<String>) {
    if old == new || found.len() > MOST {
        return;
    }
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        return found.push(path.to_owned());
    };
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let inner = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        collect(
            before.get(name).unwrap_or(&Value::Null),
            after.get(name).unwrap_or(&Value::Null),
            &inner,
            found,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: Value, new: Value, expected: &[&str]) {
        assert_eq!(replacing(&old, &new), expected);
    }

    /// `TestMatchesKubeadmConfig` of Cluster API has the same cases.
    #[test]
    fn machines_are_replaced_for_what_reaches_them() {
        let files = |content: &str| json!({"files": [{"path": "/a", "content": content}]});
        check(files("a"), files("b"), &["files"]);
        let dns = |tag: &str| json!({"clusterConfiguration": {"dns": {"imageTag": tag}}});
        check(dns("a"), dns("b"), &[]);
        let args = |value: &str| json!({"clusterConfiguration": {"apiServer": {"extraArgs": [{"name": "v", "value": value}]}}});
        check(
            args("1"),
            args("2"),
            &["clusterConfiguration.apiServer.extraArgs"],
        );
        check(
            json!({"joinConfiguration": {"discovery": {"tlsBootstrapToken": "a"}}}),
            json!({}),
            &[],
        );
        check(
            json!({"clusterConfiguration": {"apiServer": {"certSANs": []}}}),
            json!({}),
            &[],
        );
    }

    #[test]
    fn the_first_machine_is_compared_as_if_it_had_joined() {
        let of = |init: &str, join: &str| {
            let registration = |name: &str| json!({"nodeRegistration": {"name": name}});
            json!({"initConfiguration": registration(init), "joinConfiguration": registration(join)})
        };
        // Both were the same, so the first machine is what a joining one would be.
        check(of("a", "a"), of("b", "a"), &[]);
        check(
            of("a", "a"),
            of("b", "b"),
            &["joinConfiguration.nodeRegistration.name"],
        );
        check(
            of("a", "b"),
            of("c", "b"),
            &["initConfiguration.nodeRegistration.name"],
        );
    }

    #[test]
    fn what_earlier_releases_filled_in_replaces_no_machine() {
        let filled = json!({
            "format": "cloud-config", "files": [],
            "initConfiguration": {"nodeRegistration": {"imagePullPolicy": "IfNotPresent"}},
            "joinConfiguration": {"nodeRegistration": {"imagePullPolicy": "IfNotPresent"}},
        });
        let compared = |old: &Value, new: &Value| {
            replacing(&with_defaults(old.clone()), &with_defaults(new.clone()))
        };
        assert_eq!(compared(&json!({}), &filled), [""; 0]);
        assert_eq!(
            compared(&json!({"initConfiguration": null, "format": ""}), &filled),
            [""; 0]
        );
        let always =
            json!({"joinConfiguration": {"nodeRegistration": {"imagePullPolicy": "Always"}}});
        assert_eq!(
            compared(&always, &filled),
            ["joinConfiguration.nodeRegistration.imagePullPolicy"]
        );
        assert_eq!(
            compared(&json!({"format": "ignition"}), &filled),
            ["format"]
        );
    }

    #[test]
    fn a_minor_version_may_not_be_skipped() {
        for (old, new, is_refused) in [
            ("1.33.1", "1.34.0", false),
            ("1.33.1", "1.35.0", true),
            ("1.33.1", "1.40.0", true),
            ("1.35.0", "1.33.0", false),
            ("1.33", "1.35", true),
            ("x", "1.35.0", false),
            ("1.33.1", "2.35.0", false),
        ] {
            assert_eq!(skips_a_minor(old, new), is_refused, "{old} {new}");
        }
    }

    #[test]
    fn some_fields_nobody_may_change() {
        let of =
            |days: i64| json!({"clusterConfiguration": {"caCertificateValidityPeriodDays": days}});
        assert_eq!(
            refused(&of(1), &of(2)),
            ["clusterConfiguration.caCertificateValidityPeriodDays"]
        );
        assert_eq!(refused(&of(1), &of(1)), [""; 0]);
    }
}
