//! Values that stand once and are named from elsewhere: aliases (`*name`) and merges (`<<`).

use serde_yaml::Value;

use super::{NEW, OLD, migrated, told};

/// What a text says with its aliases and merges written out.
fn written_out(text: &str) -> Value {
    let mut value: Value =
        serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    value.apply_merge().unwrap();
    value
}

/// Either the text says what it says with all values written out, or it stays as it is, which is
/// told.
fn judged(text: &str, wanted: super::Wanted) -> bool {
    let (after, findings) = migrated(text, wanted);
    match told(&findings).as_slice() {
        [] => {
            let (plain, _) = migrated(&serde_yaml::to_string(&written_out(text)).unwrap(), wanted);
            assert_eq!(
                written_out(&after),
                written_out(&plain),
                "{text}\nbecame\n{after}"
            );
            true
        }
        told => {
            assert_eq!(
                (after.as_str(), told),
                (text, &[("migrate-text-differs", 1)][..])
            );
            false
        }
    }
}

fn config(arguments: &str, registration: &str, of_server: &str, of_scheduler: &str) -> String {
    format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfig\nmetadata:\n  name: w\nspec:\n  initConfiguration:\n    nodeRegistration: &n\n      kubeletExtraArgs: {arguments}\n  joinConfiguration:\n    nodeRegistration: {registration}\n  clusterConfiguration:\n    apiServer:\n      extraArgs: {of_server}\n    scheduler:\n      extraArgs: {of_scheduler}\n"
    )
}

/// All ways in which arguments are shared, each beside each.
#[test]
fn shared_values_are_migrated_or_told() {
    let arguments = [
        "&a {v: \"4\", w: x}",
        "&a\n        v: \"4\"\n        # why\n        w: x",
    ];
    let registrations = [
        "*n",
        "{<<: *n, name: q}",
        "\n      <<: *n\n      name: q",
        "\n      name: q\n      kubeletExtraArgs: *a",
    ];
    let shared = [
        "*a",
        "{<<: *a, z: \"1\"}",
        "\n        <<: *a",
        "\n        z: \"1\"\n        <<: [*a]",
        "\n        <<: *a\n        z: \"1\"",
        "{z: \"1\"}",
    ];
    let mut done = 0;
    for arguments in arguments {
        for registration in registrations {
            for of_server in shared {
                for of_scheduler in shared {
                    done += usize::from(judged(
                        &config(arguments, registration, of_server, of_scheduler),
                        NEW,
                    ));
                }
            }
        }
    }
    // Without a merge among what becomes a list, all of them: two of `shared`, twice.
    assert!(done >= arguments.len() * registrations.len() * 4, "{done}");
}

/// Anchors stay: what an alias says changes where it is written.
#[test]
fn arguments_that_are_shared_stay_shared() {
    let (after, findings) = migrated(&config("&a {v: \"4\"}", "*n", "*a", "{z: \"1\"}"), NEW);
    assert_eq!(told(&findings), []);
    let expected = "spec:\n  initConfiguration:\n    nodeRegistration: &n\n      kubeletExtraArgs: &a [{name: v, value: \"4\"}]\n  joinConfiguration:\n    nodeRegistration: *n\n  clusterConfiguration:\n    apiServer:\n      extraArgs: *a\n    scheduler:\n      extraArgs: [{name: z, value: \"1\"}]\n";
    assert!(after.ends_with(expected), "{after}");
    assert!(judged(&after, OLD));
}

/// Texts of one line are written out where they become something else.
#[test]
fn shared_texts_are_migrated_or_told() {
    for join in [
        "{discovery: {timeout: &t 5m0s}}",
        "\n    discovery:\n      timeout: &t 5m0s",
    ] {
        for server in [
            "{timeoutForControlPlane: *t}",
            "\n      timeoutForControlPlane: *t",
            "\n      timeoutForControlPlane: 5m0s",
        ] {
            let text = format!(
                "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfig\nmetadata:\n  name: w\nspec:\n  joinConfiguration: {join}\n  clusterConfiguration:\n    apiServer: {server}\n"
            );
            judged(&text, NEW);
        }
    }
}

/// What is written beside a merge changes where it is, and what the merge says where the anchor is.
#[test]
fn what_stands_beside_a_merge_is_migrated() {
    let head = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfig\nmetadata:\n  name: w\nspec:\n";
    let init = "  initConfiguration:\n    nodeRegistration: &n\n      name: q\n";
    for (join, expected) in [
        (
            "  joinConfiguration:\n    nodeRegistration:\n      <<: *n\n      kubeletExtraArgs:\n        v: \"5\"\n",
            "  joinConfiguration:\n    nodeRegistration:\n      <<: *n\n      kubeletExtraArgs:\n      - name: v\n        value: \"5\"\n",
        ),
        (
            "  joinConfiguration:\n    nodeRegistration: {<<: *n, kubeletExtraArgs: {v: \"5\"}}\n",
            "  joinConfiguration:\n    nodeRegistration: {<<: *n, kubeletExtraArgs: [{name: v, value: \"5\"}]}\n",
        ),
    ] {
        let (after, findings) = migrated(&format!("{head}{init}{join}"), NEW);
        assert_eq!(told(&findings), []);
        assert_eq!(
            after,
            format!("{}{init}{expected}", head.replace("v1beta1", "v1beta2"))
        );
    }
}

/// A field that is added stands behind an alias, not within it.
#[test]
fn what_is_added_stands_behind_an_alias() {
    let head = "kind: KubeadmConfig\nmetadata:\n  name: w\nspec:\n  initConfiguration: {nodeRegistration: &n {name: q, taints: []}}\n";
    let text = format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\n{head}  joinConfiguration: {{nodeRegistration: *n}}\n  clusterConfiguration: {{apiServer: {{timeoutForControlPlane: 5m0s}}}}\n"
    );
    let (after, findings) = migrated(&text, NEW);
    assert_eq!(told(&findings), []);
    let join = "  joinConfiguration: {nodeRegistration: *n, timeouts: {controlPlaneComponentHealthCheckSeconds: 300}}\n";
    assert!(after.contains(join), "{after}");
}
