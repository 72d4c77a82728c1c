//! What `render` says of references that lead nowhere and of kinds that nobody has, so that no
//! machine comes of an object.

use crate::support::windlass;

const MACHINE: &str = "apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec: {controlPlaneEndpoint: {host: h, port: 6443}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: m}
spec:
  clusterName: c
  version: v1.34.0
  bootstrap:
    configRef:
      apiGroup: bootstrap.cluster.x-k8s.io
      kind: KubeadmConfig
      name: worker
---
";

const CONFIG: &str = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfig
metadata: {name: worker}
spec: {joinConfiguration: {discovery: {bootstrapToken: {token: abcdef.0123456789abcdef, apiServerEndpoint: 'h:6443', unsafeSkipCAVerification: true}}}}
";

/// Rule, message, place and help of what `render` says of a text, but for what follows from it.
fn told(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.yaml"), text).unwrap();
    let output = windlass(folder.path())
        .args(["render", "m.yaml"])
        .output()
        .unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    let mut found = Vec::new();
    for finding in talk.split("error[").skip(1).filter(|finding| {
        finding.starts_with("render-") && !finding.starts_with("render-config-missing")
    }) {
        let after = |sign: &str| {
            finding
                .lines()
                .find_map(|line| line.trim_start().strip_prefix(sign))
                .unwrap_or_default()
        };
        let (rule, message) = finding.lines().next().unwrap().split_once("]: ").unwrap();
        let place = after("--> m.yaml:");
        found.push(format!(
            "{} {place} {message}: {}",
            rule.trim_start_matches("render-"),
            after("= help: ")
        ));
    }
    assert_eq!(
        output.status.code(),
        Some(if found.is_empty() { 0 } else { 1 }),
        "{talk}"
    );
    found
}

/// A name is compared with those of the same kind in the same namespace.
#[test]
fn configs_that_are_named_are_in_the_input() {
    let whole = format!("{MACHINE}{CONFIG}");
    assert_eq!(told(&whole), [""; 0]);
    let missing = |help: &str| {
        [format!(
            "reference-dangling 16:13 Machine/m names KubeadmConfig worker, which no file holds, so it is not rendered: {help}"
        )]
    };
    let add = "add the file of KubeadmConfig default/worker";
    for (old, new, help) in [
        (
            "{name: worker}",
            "{name: workers}",
            "did you mean `workers`?",
        ),
        ("{name: worker}", "{name: something}", add),
        ("{name: worker}", "{name: worker, namespace: other}", add),
        (
            "bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\n",
            "bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfigTemplate\n",
            add,
        ),
    ] {
        assert_eq!(told(&whole.replace(old, new)), missing(help), "{new}");
    }
    let in_namespace = whole.replace("{name: m}", "{name: m, namespace: other}");
    assert_eq!(
        told(&in_namespace),
        [
            "reference-dangling 16:13 Machine/m names KubeadmConfig worker, which no file holds, so it is not rendered: add the file of KubeadmConfig other/worker"
        ]
    );
}

/// What a kind is meant to be, where a reference has it wrong; configs of other providers are
/// theirs.
#[test]
fn references_to_kinds_that_nobody_has_are_told() {
    let whole = format!("{MACHINE}{CONFIG}");
    let reference = |group: &str, kind: &str| {
        whole.replace(
            "apiGroup: bootstrap.cluster.x-k8s.io\n      kind: KubeadmConfig\n",
            &format!("apiGroup: {group}\n      kind: {kind}\n"),
        )
    };
    let nobody = |group: &str, kind: &str, help: &str| {
        let place = if help.starts_with("write the group") {
            "14:17"
        } else {
            "15:13"
        };
        [format!(
            "reference-dangling {place} Machine/m names a {kind} of `{group}`, which nobody has: {help}"
        )]
    };
    for (group, kind, help) in [
        (
            "bootstrap.cluster.x-k8s.io",
            "KubeadmConfg",
            "did you mean `KubeadmConfig`?",
        ),
        (
            "bootstrap.windlass.dev",
            "WindlassConfigs",
            "did you mean `WindlassConfig`?",
        ),
        (
            "cluster.x-k8s.io",
            "KubeadmConfig",
            "write the group `bootstrap.cluster.x-k8s.io`",
        ),
        (
            "bootstrap.cluster.x-k8s.io",
            "WindlassConfig",
            "write the group `bootstrap.windlass.dev`",
        ),
    ] {
        assert_eq!(told(&reference(group, kind)), nobody(group, kind, help));
    }
    let old = reference("bootstrap.windlass.dev", "KubeadmConfig").replace(
        "apiGroup: bootstrap.windlass.dev",
        "apiVersion: bootstrap.windlass.dev/v1beta1",
    );
    let at_version = "reference-dangling 14:19 Machine/m names a KubeadmConfig of `bootstrap.windlass.dev`, which nobody has: write the group `bootstrap.cluster.x-k8s.io`";
    assert_eq!(told(&old), [at_version]);
    for (group, kind) in [
        ("bootstrap.cluster.x-k8s.io", "RKE2Config"),
        ("foo.io", "FooConfig"),
        ("foo.io", "KubeadmThing"),
    ] {
        assert_eq!(told(&reference(group, kind)), [""; 0], "{group} {kind}");
    }
    let windlass = "reference-dangling 16:13 Machine/m names WindlassConfig worker, which no file holds, so it is not rendered: add the file of WindlassConfig default/worker";
    assert_eq!(
        told(&reference("bootstrap.windlass.dev", "WindlassConfig")),
        [windlass]
    );
    assert_eq!(
        told(
            &whole
                .replace(
                    "cluster.x-k8s.io/v1beta2\nkind: Machine",
                    "foo.io/v1\nkind: Machine"
                )
                .replace("name: worker\n", "name: x\n")
        ),
        [""; 0],
        "no Machine of Cluster API"
    );
}

/// An object of a kind that is misspelt, or that another group has: in the version that it names,
/// if there is one.
#[test]
fn kinds_that_nobody_has_are_told() {
    let object = |api_version: &str, kind: &str| {
        told(&format!(
            "{MACHINE}{CONFIG}---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x}}\n"
        ))
    };
    for (api_version, kind, told) in [
        (
            "cluster.x-k8s.io/v1beta2",
            "Machin",
            "24:7 `cluster.x-k8s.io` has no kind `Machin`, so no machine comes of it: did you mean `Machine`?",
        ),
        (
            "cluster.x-k8s.io/v1beta1",
            "KubeadmConfig",
            "23:13 KubeadmConfig is no kind of `cluster.x-k8s.io`, so no machine comes of it: write `apiVersion: bootstrap.cluster.x-k8s.io/v1beta1`",
        ),
        (
            "cluster.x-k8s.io/v1beta2",
            "WindlassConfigTemplate",
            "23:13 WindlassConfigTemplate is no kind of `cluster.x-k8s.io`, so no machine comes of it: write `apiVersion: bootstrap.windlass.dev/v1beta2`",
        ),
        (
            "bootstrap.windlass.dev/v1",
            "KubeadmConfig",
            "23:13 KubeadmConfig is no kind of `bootstrap.windlass.dev`, so no machine comes of it: write `apiVersion: bootstrap.cluster.x-k8s.io/v1beta2`",
        ),
        (
            "foo.io/v1",
            "KubeadmControlPlane",
            "23:13 KubeadmControlPlane is no kind of `foo.io`, so no machine comes of it: write `apiVersion: controlplane.cluster.x-k8s.io/v1beta2`",
        ),
    ] {
        assert_eq!(object(api_version, kind), [format!("kind-unknown {told}")]);
    }
    for (api_version, kind) in [
        ("foo.io/v1", "Machine"),
        ("foo.io/v1", "Machin"),
        ("cluster.x-k8s.io/v1beta2", "Zebra"),
        ("v1", "Secret"),
    ] {
        assert_eq!(object(api_version, kind), [""; 0], "{api_version} {kind}");
    }
}
