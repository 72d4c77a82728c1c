//! Reports of real users, each asked of the verb that would have answered it: `docs/bug-reports.md`
//! lists them, with those that stand beside the tests of a verb.

use std::process::Output;

use serde_json::Value;

use crate::support::{copy, root, windlass};
use crate::tidy::{code, rust_files};

/// A folder with a file, and what a command says of it.
fn asked(file: &str, text: &str, command: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(file), text).unwrap();
    told(&windlass(folder.path()).args(command).output().unwrap())
}

/// The exit code, and both streams.
fn told(output: &Output) -> (Option<i32>, String) {
    let both = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&both).into_owned(),
    )
}

fn config(spec: &str) -> String {
    format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n{spec}"
    )
}

/// What `inspect` says of a line of a boot log, beside the data of an example.
fn line_of_a_log(line: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("l.log"), format!("{line}\n")).unwrap();
    std::fs::copy(
        root().join("examples/user-data.txt"),
        folder.path().join("u.txt"),
    )
    .unwrap();
    told(
        &windlass(folder.path())
            .args(["inspect", "u.txt", "--log", "l.log"])
            .output()
            .unwrap(),
    )
    .1
}

/// kubernetes-sigs/cluster-api#1587: "Show the actual kubeadm configuration applied to a machine".
#[test]
fn cluster_api_1587_the_kubeadm_configuration_of_a_machine() {
    let output = windlass(root())
        .args([
            "why",
            "field:clusterConfiguration",
            "examples/control-plane.yaml",
            "-o",
            "json",
        ])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let things = report["machines"][0]["things"].as_array().unwrap();
    let of = |name: &str| {
        things
            .iter()
            .find(|thing| thing["name"] == name)
            .unwrap_or_else(|| panic!("{name}: {report:#}"))
    };
    let endpoint = of("clusterConfiguration.controlPlaneEndpoint");
    assert_eq!(
        (
            endpoint["value"].as_str(),
            endpoint["steps"][0]["kind"].as_str()
        ),
        (Some("10.0.0.10:6443"), Some("cluster"))
    );
    let version = of("clusterConfiguration.kubernetesVersion");
    assert_eq!(
        (
            version["value"].as_str(),
            version["steps"][0]["line"].as_u64()
        ),
        (Some("v1.34.1"), Some(26))
    );
    let own = of("clusterConfiguration.apiServer.extraArgs[0].value");
    assert_eq!(
        (
            own["steps"][0]["kind"].as_str(),
            own["steps"][0]["line"].as_u64()
        ),
        (Some("field"), Some(38))
    );
}

/// kubernetes-sigs/cluster-api-bootstrap-provider-kubeadm#173: files of the control plane that
/// workers were expected to have too.
#[test]
fn cabpk_173_a_file_that_workers_do_not_have() {
    let workers = std::fs::read_to_string(root().join("examples/topology/harbour.yaml")).unwrap();
    let (code, found) = asked("c.yaml", &workers, &["why", "/etc/motd", "c.yaml"]);
    assert_eq!(code, Some(0));
    assert!(
        found.contains("pier-xxxxx init: not there")
            && found.contains("pier-gpu-xxxxx worker-join: file /etc/motd"),
        "{found}"
    );
}

/// rancher/cluster-api-provider-rke2#510: user data larger than EC2's 16,384 bytes, found when no
/// machine came up.
#[test]
fn caprke2_510_user_data_larger_than_ec2_takes() {
    // Letters without a pattern, as those of keys: AWS' provider sends the data with gzip.
    let mut seed = 1_u32;
    let mut letter = || {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        char::from(b'a' + u8::try_from((seed >> 16) % 26).unwrap())
    };
    let mut file = |path: &str| {
        format!(
            "  - {{path: {path}, content: {}}}\n",
            (0..9000).map(|_| letter()).collect::<String>()
        )
    };
    let spec = format!(
        "  files:\n{}{}{}{}",
        file("/a"),
        file("/b"),
        file("/c"),
        file("/d")
    );
    let (code, found) = asked(
        "c.yaml",
        &config(&spec),
        &["size", "c.yaml", "--infra", "aws", "--fail-over", "100%"],
    );
    assert_eq!(code, Some(1), "{found}");
    assert!(
        found.contains("error[user-data-over-budget]")
            && found.contains("of what aws takes")
            && found.contains("largest: /a "),
        "{found}"
    );
}

/// rancher/cluster-api-provider-rke2#221: the sentinel is always written, because runcmd goes on
/// after errors.
#[test]
fn caprke2_221_the_sentinel_is_written_whatever_happens() {
    let script = "#cloud-config\nruncmd:\n- start-the-server\n- echo success > /run/cluster-api/bootstrap-success.complete\n";
    let (_, found) = asked("u.txt", script, &["inspect", "u.txt"]);
    assert!(
        found.contains("warning[inspect-sentinel-unconditional]: runcmd[1] writes the file"),
        "{found}"
    );
    let guarded = script.replace("start-the-server\n- echo", "start-the-server && echo");
    let (_, found) = asked("u.txt", &guarded, &["inspect", "u.txt"]);
    assert!(!found.contains("inspect-sentinel-unconditional"), "{found}");
}

/// kubernetes-sigs/cluster-api#6476: kubeadm init fails, and Cluster API waits for the machine
/// without end.
#[test]
fn cluster_api_6476_kubeadm_init_fails_unseen() {
    let found = line_of_a_log(
        "\t[ERROR CRI]: container runtime is not running: output: time=\"2022-05-10\"",
    );
    assert!(
        found
            .contains("warning[inspect-log-cause]: no container runtime answers at the CRI socket"),
        "{found}"
    );
    assert!(found.contains("the line speaks of step"), "{found}");
}

/// kubernetes-retired/cluster-api-provider-packet#127: cloud-config where the machine reads JSON.
#[test]
fn packet_127_cloud_config_where_json_is_read() {
    let found = line_of_a_log("error: invalid character '#' looking for beginning of value");
    assert!(
        found.contains("cloud-config went to a reader of JSON")
            && found.contains("set `format: ignition`"),
        "{found}"
    );
}

/// vmware-tanzu/tanzu-framework#4207: `ci_missing_jinja_var` in the name of a Node.
#[test]
fn tanzu_framework_4207_a_variable_of_jinja_is_missing() {
    let found = line_of_a_log(
        "nodeRegistration.name: Invalid value: \"ci_missing_jinja_var/ds.meta_data.hostname\"",
    );
    assert!(
        found.contains("the instance data has no such key"),
        "{found}"
    );
}

/// kubernetes-sigs/cluster-api-provider-aws#2321: the token of a MachinePool has expired when its
/// group starts another machine.
#[test]
fn capa_2321_the_token_of_a_pool_has_expired() {
    let found = line_of_a_log(
        "could not find a JWS signature in the cluster-info ConfigMap for token ID \"abcdef\"",
    );
    assert!(
        found.contains("it expired before the machine joined"),
        "{found}"
    );
}

/// kubernetes-sigs/cluster-api-provider-azure#3267: mounts are missing with Ignition, and nobody
/// says so.
#[test]
fn capz_3267_mounts_are_lost_with_ignition() {
    let gate = ["--feature-gates", "KubeadmBootstrapFormatIgnition=true"];
    let mounts = "  mounts: [[LABEL=etcd_disk, /var/lib/etcddisk]]\n";
    let flags = [&["validate", "c.yaml"][..], &gate].concat();
    let (_, found) = asked(
        "c.yaml",
        &config(&format!("  format: ignition\n{mounts}")),
        &flags,
    );
    assert!(
        found.contains(
            "warning[ignition-field-lost]: spec.mounts[0] does not reach the node as it is written"
        ),
        "{found}"
    );
    let (_, found) = asked("c.yaml", &config(mounts), &flags);
    assert!(!found.contains("ignition-field-lost"), "{found}");
}

/// kubernetes-sigs/cluster-api#5809: "Advanced validation" for the patches of a ClusterClass, which
/// fail only when a Cluster is made.
#[test]
fn cluster_api_5809_a_patch_that_fails_is_found_before() {
    let sound = std::fs::read_to_string(root().join("examples/topology/harbour.yaml")).unwrap();
    let broken = sound.replace("/spec/template/spec/files/-", "/spec/template/spec/gone/-");
    let (code, found) = asked("c.yaml", &broken, &["topology", "plan", "c.yaml"]);
    assert_eq!(code, Some(1));
    assert!(
        found.contains("error[topology-patch-fails]: the patch `huge-pages` does not apply")
            && found.contains("c.yaml:49:15"),
        "{found}"
    );
    assert_eq!(
        asked("c.yaml", &sound, &["topology", "plan", "c.yaml"]).0,
        Some(0)
    );
}

/// kubernetes-sigs/cluster-api#13863: whether a change replaces machines or is made in place.
#[test]
fn cluster_api_13863_whether_a_change_replaces_machines() {
    let folder = tempfile::tempdir().unwrap();
    let old = std::fs::read_to_string(root().join("examples/control-plane.yaml")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("old.yaml", &old);
    write("replicas.yaml", &old.replace("replicas: 3", "replicas: 5"));
    write("version.yaml", &old.replace("v1.34.1", "v1.35.0"));
    let diff = |new: &str| {
        told(
            &windlass(folder.path())
                .args(["diff", "old.yaml", new])
                .output()
                .unwrap(),
        )
        .1
    };
    let (replicas, version) = (diff("replicas.yaml"), diff("version.yaml"));
    assert!(
        replicas.contains("init: in place, spec.replicas replaces no machine"),
        "{replicas}"
    );
    assert!(version.contains("init: rollout"), "{version}");
}

/// kubernetes-sigs/cluster-api#4482: "Add validation for kubeadm types": a feature gate that
/// kubeadm does not know.
#[test]
fn cluster_api_4482_what_kubeadm_refuses_is_found_before() {
    let text = config("  clusterConfiguration:\n    featureGates: {NoSuchGate: true}\n");
    let (code, found) = asked(
        "c.yaml",
        &text,
        &["validate", "c.yaml", "--kubernetes-version", "v1.34.1"],
    );
    assert_eq!(code, Some(1));
    assert!(
        found.contains("error[kubeadm-gate-unknown]") && found.contains("c.yaml:6:20"),
        "{found}"
    );
}

/// kubernetes-sigs/cluster-api#3771: bootstrap tokens in what is printed.
#[test]
fn cluster_api_3771_a_token_is_in_no_report() {
    let text = config(
        "  joinConfiguration:\n    discovery: {bootstrapToken: {token: abcdef.hunter2hunter2hu, apiServerEndpoint: \"a:1\", unsafeSkipCAVerification: true}}\n  preKubeadmCommands: [x --token abcdef.hunter2hunter2hu]\n",
    );
    for command in [
        &["why", "field:discovery", "c.yaml"][..],
        &["why", "command:x", "c.yaml", "-o", "json"],
        &["validate", "c.yaml"],
        &["size", "c.yaml"],
        &["diff", "c.yaml", "c.yaml"],
    ] {
        let (_, found) = asked("c.yaml", &text, command);
        assert!(
            !found.contains("hunter2") && !found.is_empty(),
            "{command:?}: {found}"
        );
    }
}

/// kubernetes-sigs/cluster-api-provider-vsphere#1464: clusterctl cannot find a release that its
/// metadata.yaml does not know.
#[test]
fn capv_1464_a_release_that_does_not_know_itself() {
    let folder = tempfile::tempdir().unwrap();
    copy(
        &root().join("releases/bootstrap-windlass/v0.2.0"),
        folder.path(),
    );
    let check = |version: &str| {
        told(
            &windlass(folder.path())
                .args(["release", "check", version, "."])
                .output()
                .unwrap(),
        )
    };
    let (code, found) = check("v0.3.0");
    assert_eq!(code, Some(1));
    assert!(
        found.contains("metadata.yaml does not list series 0.3 of v0.3.0"),
        "{found}"
    );
    assert!(!check("v0.2.0").1.contains("metadata-series-missing"));
}

/// yandex#48: kube-rbac-proxy has left gcr.io, and published components cannot be pulled.
#[test]
fn yandex_48_an_image_that_its_registry_no_longer_has() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: m, namespace: s}\nspec:\n  template:\n    spec:\n      containers:\n      - {name: p, image: \"gcr.io/kubebuilder/kube-rbac-proxy:v0.8.0\"}\n";
    let (code, found) = asked("c.yaml", text, &["lint", "c.yaml", "--as", "components"]);
    assert_eq!(code, Some(1));
    assert!(
        found.contains("error[components-image-registry-gone]") && found.contains("c.yaml:8:"),
        "{found}"
    );
}

/// kubernetes-sigs/cluster-api#3835: components with more than one Namespace, at which clusterctl
/// aborts.
#[test]
fn cluster_api_3835_a_second_namespace() {
    let text = "kind: Namespace\napiVersion: v1\nmetadata: {name: a}\n---\nkind: Namespace\napiVersion: v1\nmetadata: {name: b}\n";
    let (code, found) = asked(
        "infrastructure-components.yaml",
        text,
        &["lint", "infrastructure-components.yaml"],
    );
    assert_eq!(code, Some(1));
    assert!(
        found.contains("error[components-namespace-duplicated]: Namespace/b is a second Namespace"),
        "{found}"
    );
}

/// The table of the documents has twenty reports and more, each with a verb of this build and a
/// test that is there; no test is left out.
#[test]
fn the_table_of_reports_names_tests_that_exist() {
    let table = std::fs::read_to_string(root().join("docs/bug-reports.md")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('#'))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    assert!(rows.len() >= 20, "{}", rows.len());
    let all: String = rust_files(&root().join("tests/it"))
        .iter()
        .map(|file| code(file))
        .collect();
    for row in &rows {
        let [report, _, verb, test] = row.as_slice() else {
            panic!("{row:?}")
        };
        let number: String = report
            .chars()
            .skip_while(|c| *c != '#')
            .skip(1)
            .take_while(char::is_ascii_digit)
            .collect();
        let test = test.trim_matches('`');
        assert!(
            all.contains(&format!("fn {test}()")) && test.contains(&format!("_{number}_")),
            "{row:?}"
        );
        assert!(
            windlass::cli::verbs::VERBS
                .iter()
                .any(|known| known.name() == verb.trim_matches('`')),
            "{row:?}"
        );
    }
    let own = code(&root().join("tests/it/bug_reports.rs"));
    let is_of_report = |name: &&str| name.chars().any(|c| c.is_ascii_digit());
    let tests = own
        .split("#[test]\nfn ")
        .skip(1)
        .filter_map(|rest| rest.split('(').next())
        .filter(is_of_report);
    let missing: Vec<&str> = tests.filter(|test| !table.contains(*test)).collect();
    assert!(
        missing.is_empty(),
        "not in docs/bug-reports.md: {missing:?}"
    );
}
