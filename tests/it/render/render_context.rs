//! What `render` looks up, fills in or misses around a config: flags, placeholders, Secrets,
//! ClusterClasses, gates.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::{WORKER, render_text};
use crate::support::{documents, windlass};

/// A Machine, its Cluster and its config, as an API server holds them; the cluster is up.
const APPLIED: &str = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfig
metadata:
  name: w
  uid: 6e8c1e4c-3c5a-4b7e-9a39-0d4c5a1f2b3d
  ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, name: m, uid: x, controller: true}]
spec:
  files:
  - {path: /etc/a, contentFrom: {secret: {name: file, key: k}}}
  users:
  - {name: u, passwdFrom: {secret: {name: password, key: p}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: m}
spec: {clusterName: c, version: v1.34.1, bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfig, name: w}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec: {controlPlaneEndpoint: {host: 10.0.0.1, port: 6443}}
status:
  initialization: {infrastructureProvisioned: true}
  conditions: [{type: ControlPlaneInitialized, status: \"True\"}]
";

const SECRETS: &str = "---
{apiVersion: v1, kind: Secret, metadata: {name: file}, stringData: {k: the-content}}
---
{apiVersion: v1, kind: Secret, metadata: {name: password}, data: {p: dGhlLXBhc3N3b3Jk}}
";

fn json(text: &str, flags: &[&str]) -> (i32, Value, String) {
    let (code, report, talk) = render_text(text, &[&["render", "-", "-o", "json"], flags].concat());
    (code, serde_json::from_str(&report).unwrap(), talk)
}

#[test]
fn every_missing_secret_is_in_one_report() {
    let (code, data, talk) = render_text(APPLIED, &["render", "-", "--no-placeholders"]);
    assert_eq!((code, data.as_str()), (1, ""), "{talk}");
    for expected in [
        "error[config-secret-missing]: KubeadmConfig/w reads Secret file, which no file holds\n  --> <stdin>:9:49\n",
        "error[config-secret-missing]: KubeadmConfig/w reads Secret password, which no file holds\n  --> <stdin>:11:43\n",
        "error[certificate-missing]: Secret c-ca is not there, and the provider waits for it\n  --> <stdin>:18:1\n",
    ] {
        assert!(talk.contains(expected), "{expected}\n{talk}");
    }
    let init = APPLIED.replace(
        "metadata: {name: m}",
        "metadata: {name: m, labels: {cluster.x-k8s.io/control-plane: \"\"}}",
    );
    let (_, _, talk) = render_text(&init, &["render", "-", "--no-placeholders"]);
    assert_eq!(
        talk.matches("error[certificate-missing]").count(),
        4,
        "{talk}"
    );
}

#[test]
fn a_missing_secret_is_filled_in_and_listed() {
    let (code, data, talk) = render_text(APPLIED, &["render", "-"]);
    assert_eq!(code, 0, "{talk}");
    assert!(
        data.contains("      placeholder for secret default/file key k\n"),
        "{data}"
    );
    assert!(
        talk.contains("placeholder: secret default/file key k (FILE)\nplaceholder: secret default/password key p (FILE)\n"),
        "{talk}"
    );
    // A finding that is left out does not make data of nothing.
    let broken = WORKER.replace("content", "contnt");
    let (code, data, talk) =
        render_text(&broken, &["render", "-", "--allow", "config-field-unknown"]);
    assert_eq!((code, data.as_str()), (1, ""), "{talk}");
    assert!(talk.ends_with("no data written\n"), "{talk}");
}

#[test]
fn reports_hide_what_secrets_hold() {
    let all = format!("{APPLIED}{SECRETS}");
    let (code, report, talk) = json(&all, &[]);
    assert_eq!(
        (code, &report["machines"][0]["data"]),
        (0, &Value::from("<redacted>")),
        "{talk}"
    );
    assert!(
        !report.to_string().contains("the-content") && !report.to_string().contains("the-password")
    );
    let (_, report, _) = json(&all, &["--show-secrets"]);
    assert!(
        report["machines"][0]["data"]
            .as_str()
            .unwrap()
            .contains("      the-content\n")
    );
    // The data that was asked for is never altered, and the Secrets in it are named, quietly too.
    let (_, data, talk) = render_text(&all, &["render", "-", "-q"]);
    assert!(
        data.contains("      the-content\n") && data.contains("    passwd: the-password\n"),
        "{data}"
    );
    assert_eq!(talk, "note: the data holds Secret/file, Secret/password\n");
}

#[test]
fn upstreams_words_are_in_json_alone() {
    let two = WORKER.replace(
        "content: x",
        "content: tell-nobody, contentFrom: {secret: {name: s, key: k}}",
    );
    let (code, report, talk) = json(&two, &[]);
    assert_eq!(code, 1);
    let finding = &report["findings"][0];
    assert_eq!(finding["rule"], "config-admission-rejected");
    let upstream = finding["upstream"].as_str().unwrap();
    assert!(
        upstream.starts_with("KubeadmConfig.bootstrap.cluster.x-k8s.io \"w\" is invalid: spec.files[0]: Invalid value: "),
        "{upstream}"
    );
    assert!(
        upstream.ends_with("only one of content or contentFrom may be specified for a single file"),
        "{upstream}"
    );
    assert!(!report.to_string().contains("tell-nobody"), "{report}");
    assert!(!talk.contains("Invalid value"), "{talk}");
    let (_, _, text) = render_text(&two, &["render", "-"]);
    assert!(
        !text.contains("is invalid:") && !text.contains("Invalid value: \"{"),
        "{text}"
    );
    let (_, report, _) = json(&two, &["--show-secrets"]);
    assert!(
        report["findings"][0]["upstream"]
            .as_str()
            .unwrap()
            .contains("tell-nobody")
    );
}

#[test]
fn the_secret_is_the_providers() {
    let (code, text, talk) = render_text(
        &format!("{APPLIED}{SECRETS}"),
        &["render", "-", "-o", "secret"],
    );
    assert_eq!(code, 0, "{talk}");
    let secret = documents(text.as_bytes()).remove(0);
    assert_eq!(
        (&secret["apiVersion"], &secret["kind"], &secret["type"]),
        (
            &"v1".into(),
            &"Secret".into(),
            &"cluster.x-k8s.io/secret".into()
        )
    );
    assert_eq!(secret["metadata"]["name"], "w");
    let (_, elsewhere, talk) = render_text(
        &WORKER.replace("{name: w}", "{name: w, namespace: team}"),
        &["render", "-", "-o", "secret"],
    );
    let elsewhere = documents(elsewhere.as_bytes()).remove(0);
    assert_eq!(
        elsewhere["metadata"]["namespace"], "team",
        "the namespace of the config: {talk}"
    );
    assert_eq!(
        secret["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"],
        "c"
    );
    let owner = serde_json::json!([{
        "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "name": "w",
        "uid": "6e8c1e4c-3c5a-4b7e-9a39-0d4c5a1f2b3d", "controller": true,
    }]);
    assert_eq!(secret["metadata"]["ownerReferences"], owner);
    assert_eq!(secret["data"]["format"], STANDARD.encode("cloud-config"));
    let value = STANDARD
        .decode(secret["data"]["value"].as_str().unwrap())
        .unwrap();
    assert!(value.starts_with(b"## template: jinja\n#cloud-config\n"));
    let old = render_text(
        &format!("{APPLIED}{SECRETS}").replace(
            "k8s.io/v1beta2\nkind: KubeadmConfig",
            "k8s.io/v1beta1\nkind: KubeadmConfig",
        ),
        &["render", "-", "-o", "secret", "--capi-version", "v1.10"],
    );
    assert!(
        old.1
            .contains("apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\n"),
        "{}",
        old.2
    );
    // Of a WindlassConfig only what is not cloud-config says its format.
    let ours = WORKER
        .replace("bootstrap.cluster.x-k8s.io", "bootstrap.windlass.dev")
        .replace("KubeadmConfig", "WindlassConfig");
    let (_, text, _) = render_text(&ours, &["render", "-", "-o", "secret"]);
    let secret = documents(text.as_bytes()).remove(0);
    assert_eq!(
        secret["data"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        ["value"]
    );
    assert_eq!(
        secret["metadata"]["ownerReferences"][0]["kind"],
        "WindlassConfig"
    );
}

#[test]
fn releases_are_chosen_by_version() {
    let headline = |version: &str| render_text(WORKER, &["render", "-", "--capi-version", version]);
    assert!(headline("v1.12").2.contains("as CAPI v1.12.11 writes it"));
    assert!(headline("main").2.contains("as CAPI main writes it"));
    let (code, _, talk) = headline("v1.12.99");
    assert_eq!(code, 0);
    assert!(
        talk.contains("note: CAPI v1.12.99 was not tried; v1.12.11 was\n"),
        "{talk}"
    );
    let (code, _, talk) = headline("v1.9");
    assert_eq!(code, 2);
    assert!(
        talk.contains("CAPI v1.9 is not known")
            && talk.contains("v1.10, v1.11, v1.12, v1.13, v1.14 or main"),
        "{talk}"
    );
}

#[test]
fn gates_are_those_of_cluster_api() {
    let with = |gate: &str| render_text(WORKER, &["render", "-", "--feature-gates", gate]);
    assert_eq!(with("ClusterTopology=true,MachinePool=false").0, 0);
    let (code, _, talk) = with("KubeadmBootstrapFormatIgnitio=true");
    assert_eq!(code, 2);
    assert!(
        talk.contains("CAPI has no feature gate `KubeadmBootstrapFormatIgnitio`")
            && talk.contains("did you mean `KubeadmBootstrapFormatIgnition`?"),
        "{talk}"
    );
    assert_eq!(with("MachinePool").0, 2);
    let pool = APPLIED
        .replace("kind: Machine,", "kind: MachinePool,")
        .replace("kind: Machine\n", "kind: MachinePool\n");
    let pool = pool.replace(
        "spec: {clusterName: c, version: v1.34.1,",
        "spec: {clusterName: c, template: {spec: {version: v1.34.1}},",
    );
    let flags = [
        "render",
        "-",
        "--no-placeholders",
        "--feature-gates",
        "MachinePool=false",
    ];
    assert!(render_text(&pool, &flags).2.contains(
        "error[config-owner-missing]: KubeadmConfig/w belongs to no Machine or MachinePool"
    ));
}

#[test]
fn flags_replace_placeholders() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("etcd")).unwrap();
    for name in [
        "ca.crt",
        "ca.key",
        "etcd/ca.crt",
        "etcd/ca.key",
        "front-proxy-ca.crt",
        "front-proxy-ca.key",
        "sa.pub",
        "sa.key",
    ] {
        std::fs::write(folder.path().join(name), format!("of {name}\n")).unwrap();
    }
    let certificates = folder.path().to_str().unwrap();
    let given = [
        "render",
        "-",
        "--role",
        "init",
        "--cluster-name",
        "prod",
        "--endpoint",
        "[fd00::1]:6443",
        "--kubernetes-version",
        "1.33.2",
        "--certs-dir",
        certificates,
    ];
    let (code, data, talk) = render_text(WORKER, &given);
    assert_eq!(code, 0, "{talk}");
    assert!(!talk.contains("placeholder"), "{talk}");
    for expected in [
        "-   path: /etc/kubernetes/pki/etcd/ca.key\n    owner: root:root\n    permissions: '0600'\n    content: |\n      of etcd/ca.key\n",
        "      clusterName: prod\n",
        "      controlPlaneEndpoint: '[fd00::1]:6443'\n",
        "      kubernetesVersion: v1.33.2\n",
    ] {
        assert!(data.contains(expected), "{expected}\n{data}");
    }
    // The keys are real: reports hide them.
    let (_, report, _) = render_text(WORKER, &[&given[..], &["-o", "json"]].concat());
    assert!(!report.contains("of etcd/ca.key"), "{report}");
    let (_, data, talk) = render_text(WORKER, &["render", "-", "--role", "init"]);
    assert!(
        talk.contains("placeholder: cluster name example (--cluster-name)\n")
            && talk.contains("placeholder: certificates dummies of real length (--certs-dir)\n"),
        "{talk}"
    );
    assert!(data.contains("STAND+IN/NO+KEY"));
    assert_eq!(
        render_text(WORKER, &["render", "-", "--endpoint", "nowhere"]).0,
        2
    );
}

#[test]
fn files_folders_and_standard_input_are_one_pool() {
    let folder = tempfile::tempdir().unwrap();
    let (config, rest) = APPLIED.split_once("---\n").unwrap();
    let (machine, cluster) = rest.split_once("---\n").unwrap();
    std::fs::create_dir_all(folder.path().join("objects/deep")).unwrap();
    std::fs::write(folder.path().join("objects/deep/machine.yaml"), machine).unwrap();
    std::fs::write(folder.path().join("objects/secrets.yml"), SECRETS).unwrap();
    std::fs::write(
        folder.path().join("cluster.json"),
        serde_json::to_string(&documents(cluster.as_bytes())[0]).unwrap(),
    )
    .unwrap();
    std::fs::write(folder.path().join("config"), config).unwrap();
    let flags = [
        "render",
        "cluster.json",
        "objects",
        "config",
        "--token",
        "abcdef.0123456789abcdef",
        "--ca-cert-hash",
        "sha256:aa",
    ];
    let output = windlass(folder.path()).args(flags).output().unwrap();
    let expected = render_text(
        &format!("{SECRETS}---\n{cluster}---\n{machine}---\n{config}"),
        &[
            "render",
            "-",
            "--token",
            "abcdef.0123456789abcdef",
            "--ca-cert-hash",
            "sha256:aa",
        ],
    );
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        expected.1,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        expected.1.contains("apiServerEndpoint: 10.0.0.1:6443\n"),
        "{}",
        expected.2
    );
}

#[test]
fn patches_of_a_clusterclass_are_named() {
    let text = "apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: class}
spec:
  workers:
    machineDeployments:
    - class: default-worker
      bootstrap: {templateRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfigTemplate, name: t}}
  patches:
  - name: labels
    definitions:
    - selector: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfigTemplate, matchResources: {machineDeploymentClass: {names: [default-*]}}}
      jsonPatches: [{op: add, path: /spec/template/spec/verbosity, value: 5}]
  - name: others
    definitions:
    - selector: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfigTemplate, matchResources: {machineDeploymentClass: {names: [gpu]}}}
      jsonPatches: []
  - name: outside
    external: {generatePatchesExtension: x}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: t}
spec: {template: {spec: {verbosity: 1}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec: {topology: {classRef: {name: class}, version: v1.33.0}}
";
    let (code, data, talk) = render_text(text, &["render", "-", "--select", "t"]);
    assert_eq!(code, 0, "{talk}");
    assert!(talk.contains("warning[clusterclass-patch-not-applied]: patch `labels` of ClusterClass/class is not applied to KubeadmConfigTemplate/t\n  --> <stdin>:10:11\n"), "{talk}");
    assert!(
        talk.contains("patch `outside` of ClusterClass/class is not applied")
            && !talk.contains("`others`"),
        "{talk}"
    );
    assert!(
        data.contains(" --v 1 ") && !talk.contains("placeholder: kubernetes version"),
        "{talk}"
    );
    assert_eq!(
        render_text(
            text,
            &["render", "-", "--select", "t", "--deny", "warnings"]
        )
        .0,
        1
    );
}

/// A class with its templates, and a Cluster of it.
fn topology(class: &str, cluster: &str, version: &str, pods: &str) -> String {
    format!(
        "---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {{name: {class}}}
spec:
  controlPlane: {{templateRef: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: {class}-cp}}}}
  workers:
    machineDeployments:
    - class: default-worker
      bootstrap: {{templateRef: {{apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfigTemplate, name: {class}-md}}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata: {{name: {class}-cp}}
spec: {{template: {{spec: {{kubeadmConfigSpec: {{clusterConfiguration: {{imageRepository: r}}}}}}}}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {{name: {class}-md}}
spec: {{template: {{spec: {{verbosity: 1}}}}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {{name: {cluster}, namespace: default}}
spec:
  clusterNetwork: {{pods: {{cidrBlocks: [{pods}]}}, services: {{cidrBlocks: [10.96.0.0/12]}}, serviceDomain: cluster.local}}
  topology: {{classRef: {{name: {class}}}, version: {version}}}
"
    )
}

#[test]
fn a_topology_cluster_in_the_input_counts() {
    let check = |text: &str, select: &str, expected: &[&str]| {
        let (code, data, talk) = render_text(text, &["render", "-", "--select", select]);
        assert_eq!(code, 0, "{talk}");
        expected
            .iter()
            .for_each(|line| assert!(data.contains(&format!("      {line}\n")), "{line}\n{data}"));
        assert!(
            !talk.contains("placeholder: cluster name")
                && !talk.contains("placeholder: kubernetes version"),
            "{talk}"
        );
    };
    let one = topology("one", "first", "v1.33.0", "10.1.0.0/16");
    let of_one = [
        "clusterName: first",
        "kubernetesVersion: v1.33.0",
        "  podSubnet: 10.1.0.0/16",
        "  serviceSubnet: 10.96.0.0/12",
    ];
    check(&one, "one-cp:init", &of_one);
    check(&one, "one-md", &[]);
    // Of two Clusters it is the one whose class has the template.
    let two = one + &topology("two", "second", "v1.34.1", "10.2.0.0/16");
    check(&two, "one-cp:init", &of_one);
    check(
        &two,
        "two-cp:init",
        &[
            "clusterName: second",
            "kubernetesVersion: v1.34.1",
            "  podSubnet: 10.2.0.0/16",
        ],
    );
}
