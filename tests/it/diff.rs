//! `diff`: nothing differs from itself, releases of Cluster API differ in what is known to differ,
//! and the verdict is Cluster API's.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use windlass::diag::Report;
use windlass::ops::diff::{self, Change, Comparison, Side};
use windlass::render::{FeatureGates, Profile, Request};
use windlass::text::budget::Budget;
use windlass::text::source::Source;

use crate::support::{self, windlass};

fn request(profile: &str, ignition: bool) -> Request {
    Request {
        profile: Profile::parse(profile).unwrap(),
        stand_ins: false,
        token: Some("abcdef.0123456789abcdef".into()),
        feature_gates: FeatureGates {
            ignition,
            ..FeatureGates::default()
        },
        ..Request::new()
    }
}

fn side(name: &str, text: &[u8], request: Request) -> Side {
    Side::new(
        name,
        vec![Source::new(
            name,
            String::from_utf8_lossy(text).into_owned(),
        )],
        Report::new(),
        None,
        request,
    )
}

fn compared(old: &Side, new: &Side) -> Comparison {
    diff::run(
        old,
        new,
        diff::Comparing::default(),
        &Arc::new(Budget::default()),
    )
}

/// A vector with data: its name, release, input and expected data, and whether it is of Ignition.
struct Vector {
    name: String,
    profile: String,
    input: Vec<u8>,
    expected: Vec<u8>,
    ignition: bool,
}

fn vectors() -> Vec<Vector> {
    let root = support::vectors("render");
    let index: Value = serde_json::from_slice(&fs::read(root.join("index.json")).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    // A control plane that is only referred to is no whole object there.
    let is_whole = |case: &&Value| {
        case["expected"] != "expected.error.txt"
            && !["cpref", "template-version"]
                .iter()
                .any(|part| text(&case["name"]).contains(part))
    };
    let of_case = |case: &Value| Vector {
        name: text(&case["name"]),
        profile: text(&case["profile"])
            .split("-ae7ff")
            .next()
            .unwrap()
            .to_owned(),
        input: fs::read(root.join(text(&case["name"])).join("input.yaml")).unwrap(),
        expected: fs::read(root.join(text(&case["name"])).join(text(&case["expected"]))).unwrap(),
        ignition: case["format"] == "ignition",
    };
    index["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(is_whole)
        .map(of_case)
        .collect()
}

/// What we render, and what Cluster API's own code wrote, also as the Secret in which a cluster has
/// it.
#[test]
fn nothing_differs_from_itself() {
    let vectors = vectors();
    let mut wrong = Vec::new();
    for vector in &vectors {
        let request = || request(&vector.profile, vector.ignition);
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: w}}\ntype: cluster.x-k8s.io/secret\ndata: {{value: {}}}\n",
            STANDARD.encode(&vector.expected)
        );
        let sides = [
            side("input.yaml", &vector.input, request()),
            side("secret.yaml", secret.as_bytes(), request()),
        ];
        for (old, new) in [(0, 0), (1, 1), (0, 1)] {
            let comparison = compared(&sides[old], &sides[new]);
            let is_same =
                comparison.machines.len() == 1 && comparison.machines[0].change == Change::Same;
            let digests = comparison
                .machines
                .first()
                .map(|machine| machine.old_digest == machine.new_digest);
            if !is_same || digests != Some(true) || comparison.differs() {
                wrong.push(format!(
                    "{} {old} {new}: {:?}",
                    vector.name, comparison.machines
                ));
            }
        }
    }
    assert!(vectors.len() > 380, "{}", vectors.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A change between two releases that is one of the known ones: a word that its line or the name of
/// its part holds, and the kind of part.
type Known = (&'static str, &'static str);

/// The lines that differ between two releases, over all vectors that both take, by what they are;
/// those that nothing explains fail.
fn between(from: &str, to: &str, known: &[Known]) -> BTreeMap<&'static str, usize> {
    let vectors = vectors();
    let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut unknown = Vec::new();
    let mut both = 0;
    for vector in &vectors {
        let sides = [from, to].map(|profile| {
            side(
                "input.yaml",
                &vector.input,
                request(profile, vector.ignition),
            )
        });
        let comparison = compared(&sides[0], &sides[1]);
        both += comparison.machines.len();
        for part in comparison
            .machines
            .iter()
            .flat_map(|machine| &machine.parts)
        {
            let of_attributes = part
                .attributes
                .iter()
                .map(|change| format!("{}: {:?} {:?}", change.name, change.old, change.new));
            let of_lines = part
                .lines
                .iter()
                .filter(|line| line.starts_with(['-', '+']))
                .cloned();
            for line in of_attributes.chain(of_lines) {
                let shown = format!("{} {line}", part.name);
                match known
                    .iter()
                    .find(|(word, kind)| shown.contains(word) && part.kind == *kind)
                {
                    Some((word, _)) => *seen.entry(word).or_default() += 1,
                    None => unknown.push(format!(
                        "{}: {} {}: {line}",
                        vector.name, part.kind, part.name
                    )),
                }
            }
        }
    }
    assert!(
        both > 100,
        "{from}..{to}: only {both} inputs are taken by both"
    );
    unknown.truncate(40);
    assert!(unknown.is_empty(), "{from}..{to}\n{}", unknown.join("\n"));
    seen
}

/// cabpk.md §0: the columns v1.12, v1.13 and v1.14.0 differ in no byte for what all of them take.
#[test]
fn releases_with_the_same_bytes_do_not_differ() {
    between("v1.12.11", "v1.13.6", &[]);
    between("v1.13.6", "v1.14.0", &[]);
}

/// cabpk.md §0: the systemd unit calls the script with bash.
#[test]
fn the_unit_of_ignition_is_all_that_main_changes() {
    let seen = between("v1.14.0", "main", &[("ExecStart=", "section")]);
    assert!(seen.is_empty() || seen["ExecStart="] >= 2, "{seen:?}");
}

/// cabpk.md §0: client-go 0.34 writes no `preferences` into the kubeconfig for discovery.
#[test]
fn the_kubeconfig_is_all_that_v1_12_changes() {
    let seen = between("v1.11.10", "v1.12.11", &[("preferences: {}", "file")]);
    assert!(seen.contains_key("preferences: {}"), "{seen:?}");
}

/// cabpk.md §0, the column v1.10, and §1.4: what the conversion of v1.11 drops, restores and
/// rounds.
#[test]
fn the_first_release_with_v1beta2_changes_what_is_known() {
    const ROWS: [&str; 9] = [
        "imagePullPolicy: IfNotPresent",
        "kubernetesVersion: ",
        "clusterName: ",
        "podSubnet: ",
        "serviceSubnet: ",
        "dnsDomain: ",
        "dataDir: \"\"",
        "kubeadm-bootstrap-script",
        "append: None Some(\"false\")",
    ];
    // Of an empty `etcd.local`, of the script that tries again, of durations that become seconds,
    // and of what an annotation restores.
    const BESIDE: [&str; 10] = [
        "etcd:",
        "  local:",
        "kubeadm join --config",
        "controlPlaneComponentHealthCheck: ",
        "timeout: 1m30",
        "tlsBootstrap: 1m30",
        "ttl: 24h0m0",
        "timeouts:",
        "discovery: 1m17s",
        "kubeletHealthCheck: 11s",
    ];
    let of = |words: &[&'static str]| -> Vec<Known> {
        words
            .iter()
            .flat_map(|word| ["file", "commands", "section"].map(|kind| (*word, kind)))
            .collect()
    };
    let seen = between(
        "v1.10.10",
        "v1.11.10",
        &[
            of(&ROWS),
            of(&BESIDE),
            vec![
                ("enabled: ", "section"),
                ("inactive: ", "user"),
                ("_setup -null", "section"),
                ("servers: null", "section"),
            ],
        ]
        .concat(),
    );
    let missing: Vec<_> = ROWS.iter().filter(|row| !seen.contains_key(*row)).collect();
    assert!(missing.is_empty(), "{missing:?} of {seen:?}");
}

fn run(old: &str, new: &str, flags: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.yaml"), old).unwrap();
    fs::write(folder.path().join("new.yaml"), new).unwrap();
    let output = windlass(folder.path())
        .args(["diff", "old.yaml", "new.yaml"])
        .args(flags)
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

const CONTROL_PLANE: &str = "apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: cp}
spec:
  replicas: 3
  version: v1.34.1
  machineTemplate: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DockerMachineTemplate, name: a}}}
  kubeadmConfigSpec:
    clusterConfiguration: {dns: {imageTag: v1.12.1}, certificatesDir: /etc/kubernetes/pki}
    files: [{path: /etc/a, content: one}]
";

/// Cluster API's own rules: `UpToDate` of the control plane, and its webhook.
#[test]
fn control_planes_are_judged_as_cluster_api_does() {
    let check = |old: &str, new: &str, verdict: &str| {
        let (code, report, _) = run(CONTROL_PLANE, &CONTROL_PLANE.replace(old, new), &[]);
        assert_eq!(code, Some(0), "{report}");
        assert!(
            report.starts_with(&format!("KubeadmControlPlane/cp init: {verdict}, ")),
            "{old} => {new}: {report}"
        );
    };
    check("content: one", "content: two", "rollout");
    check("v1.34.1", "v1.34.2", "rollout");
    check("name: a}}}", "name: b}}}", "rollout");
    check("v1.12.1", "v1.12.2", "in place");
    check("replicas: 3", "replicas: 5", "in place");
    check("/etc/kubernetes/pki", "/etc/pki", "refused");
    check("name: cp", "name: cp", "none");
    let (_, same, _) = run(CONTROL_PLANE, CONTROL_PLANE, &[]);
    assert!(
        same.starts_with("KubeadmControlPlane/cp init: none, nothing changes\n"),
        "{same}"
    );
    check("v1.34.1", "v1.36.1", "refused");
    // What earlier releases filled in.
    check(
        "    files:",
        "    format: cloud-config\n    joinConfiguration: {nodeRegistration: {imagePullPolicy: IfNotPresent}}\n    files:",
        "none",
    );
}

/// The same object in the older version of its API is no change.
#[test]
fn a_version_of_the_api_changes_nothing() {
    let old = CONTROL_PLANE
        .replace("v1beta2", "v1beta1")
        .replace(
            "{spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind",
            "{infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind",
        )
        .replace("name: a}}}", "name: a}}");
    let (code, report, talk) = run(&old, CONTROL_PLANE, &["--exit-code"]);
    assert!(
        code == Some(0) && !report.contains("rollout") && !report.contains("in place"),
        "{report}{talk}"
    );
}

/// A Cluster that only one side has changes the data, and nothing of the control plane.
#[test]
fn what_changes_beside_the_control_plane_is_no_nothing() {
    let cluster = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\nspec:\n  clusterNetwork: {pods: {cidrBlocks: [10.0.0.0/16]}}\n  \
                   controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: cp}\n---\n";
    let (_, report, talk) = run(&format!("{cluster}{CONTROL_PLANE}"), CONTROL_PLANE, &[]);
    assert!(
        report.starts_with("KubeadmControlPlane/cp init: none, what changes replaces no machine"),
        "{report}{talk}"
    );
}

#[test]
fn a_template_that_nobody_filled_in_is_told() {
    let template = CONTROL_PLANE
        .replace("name: cp", "name: \"${CLUSTER_NAME}-cp\"")
        .replace("replicas: 3", "replicas: ${CONTROL_PLANE_MACHINE_COUNT}");
    let (code, _, talk) = run(&template, &template, &[]);
    assert_eq!(code, Some(1));
    assert!(
        talk.contains("error[template-not-declared]") && talk.contains("--template"),
        "{talk}"
    );
    assert!(!talk.contains("whole number"), "{talk}");
}

fn workers(template: &str, content: &str, version: &str) -> String {
    format!(
        "apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {{name: md}}
spec:
  clusterName: c
  template:
    spec:
      clusterName: c
      version: {version}
      bootstrap: {{configRef: {{apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: {template}}}}}
      infrastructureRef: {{apiGroup: infrastructure.cluster.x-k8s.io, kind: DockerMachineTemplate, name: i}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {{name: {template}}}
spec: {{template: {{spec: {{files: [{{path: /etc/a, content: {content}}}]}}}}}}
"
    )
}

/// The book: "Updating Bootstrap Templates"; `MachineTemplateUpToDate`.
#[test]
fn workers_are_replaced_by_reference_and_version() {
    let old = workers("a", "one", "v1.34.1");
    for (new, said) in [
        (
            workers("b", "two", "v1.34.1"),
            "rollout, MachineDeployment/md points to another KubeadmConfigTemplate",
        ),
        (
            workers("a", "one", "v1.34.2"),
            "rollout, MachineDeployment/md goes from Kubernetes v1.34.1 to v1.34.2",
        ),
        (
            workers("a", "two", "v1.34.1"),
            "none, a KubeadmConfigTemplate that is edited in place replaces no machine",
        ),
        (
            old.replace(
                "clusterName: c\n  template",
                "clusterName: c\n  replicas: 4\n  template",
            ),
            "in place",
        ),
        (old.clone(), "none, nothing changes"),
    ] {
        let (_, report, _) = run(&old, &new, &[]);
        assert!(
            report.starts_with(&format!("MachineDeployment/md worker-join: {said}")),
            "{said}: {report}"
        );
    }
}

#[test]
fn files_commands_and_users_are_told_with_their_fields() {
    let config = |spec: &str| {
        format!(
            "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n{spec}"
        )
    };
    let old = config(
        "  files: [{path: /etc/a, content: \"a\\nb\\n\", permissions: \"0644\"}]\n  preKubeadmCommands: [one]\n  users: [{name: u}]\n",
    );
    let new = config(
        "  files: [{path: /etc/a, content: \"a\\nc\\n\", permissions: \"0600\"}]\n  preKubeadmCommands: [one, two]\n  users: [{name: v}]\n",
    );
    let (code, report, talk) = run(&old, &new, &[]);
    assert_eq!(code, Some(0), "{talk}");
    for line in [
        "  /etc/a   spec.files[0]\n    permissions: 0644 → 0600\n",
        "    -b\n    +c\n",
        "  commands runcmd\n",
        "    +two\n",
        "  added user v\n",
        "  removed user u\n",
    ] {
        assert!(report.contains(line), "{line:?}: {report}");
    }
    assert!(
        talk.contains("note: filled in alike on both sides: "),
        "{talk}"
    );
    assert_eq!(run(&old, &new, &["--exit-code"]).0, Some(1));
    assert_eq!(run(&old, &old, &["--exit-code"]).0, Some(0));
    let json: Value = serde_json::from_str(&run(&old, &new, &["-o", "json"]).1).unwrap();
    assert_eq!(
        (&json["kind"], &json["machines"][0]["verdict"]),
        (&Value::from("Diff"), &Value::from("none"))
    );
    assert_ne!(
        json["machines"][0]["oldDigest"],
        json["machines"][0]["newDigest"]
    );
}

/// What the next upgrade changes, and that an upgrade of Cluster API replaces nothing.
#[test]
fn versions_of_one_input_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cp.yaml"), CONTROL_PLANE).unwrap();
    let of = |flags: &[&str]| {
        let output = windlass(folder.path())
            .args(["diff", "cp.yaml"])
            .args(flags)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (_, report, _) = of(&["--kubernetes-version", "v1.30.1..v1.31.2"]);
    assert!(
        report.contains(
            "init: rollout, KubeadmControlPlane/cp goes from Kubernetes v1.30.1 to v1.31.2"
        ),
        "{report}"
    );
    assert!(
        report.contains("    -apiVersion: kubeadm.k8s.io/v1beta3\n")
            && report.contains("    +apiVersion: kubeadm.k8s.io/v1beta4\n"),
        "{report}"
    );
    let (_, report, _) = of(&[
        "--capi-version",
        "v1.12.1..v1.12.2",
        "--kubernetes-version",
        "v1.36.0",
    ]);
    assert!(
        report.contains("none, an upgrade of Cluster API replaces no machine"),
        "{report}"
    );
    assert!(
        report.contains("    -  ControlPlaneKubeletLocalMode: true\n"),
        "{report}"
    );
    for (flags, help) in [
        (&[][..], "--kubernetes-version v1.33.4..v1.34.1"),
        (
            &["--capi-version", "v1.13.."],
            "write `--capi-version A..B`",
        ),
        (&["--capi-version", "v1.9..v1.14"], "CAPI v1.9 is not known"),
    ] {
        let (code, _, talk) = of(flags);
        assert!(code == Some(2) && talk.contains(help), "{talk}");
    }
}

/// What git shows of another revision comes through a pipe, on either side, but not on both.
#[test]
fn either_side_is_standard_input_and_both_are_not() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), CONTROL_PLANE).unwrap();
    fs::write(
        folder.path().join("b.yaml"),
        CONTROL_PLANE.replace("content: one", "content: two"),
    )
    .unwrap();
    let of = |old: &str, new: &str| {
        let piped = fs::File::open(folder.path().join("b.yaml")).unwrap();
        let output = windlass(folder.path())
            .args(["diff", old, new, "--show-secrets"])
            .stdin(piped)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    for (old, new, lines) in [
        ("a.yaml", "-", ["-one", "+two"]),
        ("-", "a.yaml", ["-two", "+one"]),
    ] {
        let (code, report, talk) = of(old, new);
        assert!(
            code == Some(0) && lines.iter().all(|line| report.contains(line)),
            "{report}{talk}"
        );
    }
    let (code, _, talk) = of("-", "-");
    assert!(
        code == Some(2) && talk.contains("standard input is one side only"),
        "{talk}"
    );
}

#[test]
fn revisions_of_git_are_refused_with_the_line_to_write() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), CONTROL_PLANE).unwrap();
    let output = windlass(folder.path())
        .args(["diff", "HEAD~1:deploy/a.yaml", "a.yaml"])
        .output()
        .unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{talk}");
    assert!(talk.contains("git show HEAD~1:deploy/a.yaml > "), "{talk}");
}

/// Two versions of a flavor, as clusterctl would fill both in.
#[test]
fn templates_are_filled_in_first() {
    let template = CONTROL_PLANE
        .replace("name: cp", "name: \"${CLUSTER_NAME}-cp\"")
        .replace("content: one", "content: ${WORD}");
    let (code, report, talk) = run(
        &template,
        &template.replace("${WORD}", "${WORD}s"),
        &["--template", "--var", "CLUSTER_NAME=x", "--var", "WORD=a"],
    );
    assert_eq!(code, Some(0), "{talk}");
    assert!(
        report.contains("KubeadmControlPlane/x-cp init: rollout, ")
            && report.contains("-a\n")
            && report.contains("+as\n"),
        "{report}"
    );
    let (code, _, talk) = run(&template, &template, &["--var", "WORD=a"]);
    assert_eq!(code, Some(2), "{talk}");
}

#[test]
fn one_machine_is_selected_by_name_and_role() {
    let changed = CONTROL_PLANE.replace("content: one", "content: two");
    let roles = |name: &str| {
        let (code, report, talk) = run(CONTROL_PLANE, &changed, &["--select", name]);
        let heads = report
            .lines()
            .filter(|line| line.starts_with("KubeadmControlPlane/cp "))
            .count();
        (code, heads, talk)
    };
    assert_eq!(roles("cp").1, 2);
    assert_eq!(roles("KubeadmControlPlane/cp").1, 2);
    assert_eq!(roles("cp:init").1, 1);
    let (code, heads, talk) = roles("pc");
    assert_eq!((code, heads), (Some(1), 0), "{talk}");
    assert!(
        talk.contains("neither side has a machine `pc`") && talk.contains("KubeadmControlPlane/cp"),
        "{talk}"
    );
    assert_eq!(roles("cp:worker-join").0, Some(1));
}

/// A comment for a pull request: the machines as a table, and what differs folded.
#[test]
fn a_pull_request_gets_a_comment() {
    let (code, report, talk) = run(
        CONTROL_PLANE,
        &CONTROL_PLANE.replace("content: one", "content: two"),
        &["-o", "github"],
    );
    assert_eq!(code, Some(0), "{talk}");
    assert!(
        report.starts_with("### <code>old.yaml</code> → <code>new.yaml</code>\n"),
        "{report}"
    );
    assert!(
        report.contains("| <code>KubeadmControlPlane/cp</code> | init | rollout: <code>KubeadmControlPlane/cp has another "),
        "{report}"
    );
    assert!(
        report.contains("\n```diff\n")
            && report.contains("\n  file /etc/a ")
            && report.contains("\n-one\n+two\n"),
        "{report}"
    );
    let (code, report, talk) = run(CONTROL_PLANE, "a: 1\n", &["-o", "github"]);
    assert!(
        code == Some(1) && report.is_empty() && talk.contains("new.yaml holds no machine"),
        "{report}{talk}"
    );
}

/// What is missing on one side alone differs in the data, so it is not called alike.
#[test]
fn what_one_side_alone_lacks_is_said() {
    let version = CONTROL_PLANE.replace("kubeadmConfigSpec:\n", "kubeadmConfigSpec:\n    joinConfiguration: {discovery: {bootstrapToken: {token: aaaaaa.0123456789abcdef, apiServerEndpoint: \"a:6443\", unsafeSkipCAVerification: true}}}\n");
    let (_, _, talk) = run(CONTROL_PLANE, &version, &[]);
    assert!(
        talk.contains("filled in alike on both sides: ")
            && talk.contains("filled in on the old side alone: "),
        "{talk}"
    );
}

/// A machine that is there more than once is compared with the one in its place: nothing differs
/// from itself, and one more is one more.
#[test]
fn repeated_machines_are_compared_in_their_order() {
    let config = |content: &str| {
        format!(
            "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: a}}\n\
             spec: {{joinConfiguration: {{nodeRegistration: {{taints: []}}}}, files: [{{path: /etc/a, content: {content}}}]}}\n"
        )
    };
    let all = |contents: &[&str]| {
        contents
            .iter()
            .map(|content| config(content))
            .collect::<Vec<_>>()
            .join("---\n")
    };
    let last = |old: &[&str], new: &[&str]| {
        let (code, report, talk) = run(&all(old), &all(new), &[]);
        assert_eq!(code, Some(0), "{report}{talk}");
        let last = report.lines().last().unwrap_or_default();
        last.split_once("; ")
            .map_or(last, |(counts, _)| counts)
            .to_owned()
    };
    assert_eq!(
        last(&["one", "two"], &["one", "two"]),
        "2 machine kinds the same"
    );
    assert_eq!(
        last(&["one", "two"], &["one", "other"]),
        "1 machine kind changed, 1 machine kind the same"
    );
    assert_eq!(
        last(&["one", "two"], &["one", "two", "two"]),
        "1 machine kind new, 2 machine kinds the same"
    );
    assert_eq!(
        last(&["one", "two", "three"], &["two", "three"]),
        "1 machine kind gone, 2 machine kinds the same"
    );
    assert_eq!(
        last(&["one", "two", "two"], &["one", "two"]),
        "1 machine kind gone, 2 machine kinds the same"
    );
}

/// Names of made Secrets end with random letters: the machines of one set belong together, and so
/// do the only ones that are left.
#[test]
fn data_that_was_made_is_matched_by_its_set() {
    let named = |name: &str, word: &str| {
        let data = STANDARD.encode(format!("#cloud-config\nruncmd: [\"{word}\"]\n"));
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\ndata: {{value: {data}}}\n---\n"
        )
    };
    let old = named("cp-x7k2b", "a") + &named("md-0-9bcdf", "b") + &named("alone", "c");
    let new = named("md-0-zzzzz", "b") + &named("cp-bbbbb", "d") + &named("other", "c");
    let (_, report, talk) = run(&old, &new, &[]);
    let heads: Vec<&str> = report
        .lines()
        .filter(|line| line.starts_with("Secret/"))
        .collect();
    assert_eq!(
        heads,
        [
            "Secret/md-0-zzzzz: same data",
            "Secret/cp-bbbbb: other data",
            "Secret/other: same data"
        ],
        "{report}{talk}"
    );
    // Two of a set on a side: which belongs to which, nobody knows.
    let two = named("cp-x7k2b", "a") + &named("cp-x7k2c", "b");
    let (_, report, _) = run(
        &two,
        &(named("cp-bbbbb", "a") + &named("cp-ccccc", "b")),
        &[],
    );
    assert_eq!(
        report.matches(": new\n").count() + report.matches(": gone\n").count(),
        4,
        "{report}"
    );
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Data as machines and clouds hand it out: in gzip, in base64, in both, as a file and as the value
/// of a Secret.
#[test]
fn data_is_taken_out_of_gzip_and_base64() {
    let data = |word: &str| format!("#cloud-config\nruncmd: [\"{word}\"]\n").into_bytes();
    let secret = |data: &[u8]| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: w}}\ndata: {{value: {}}}\n",
            STANDARD.encode(data)
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("plain", &data("a"));
    for word in ["a", "b"] {
        write(&format!("{word}.gz"), &gzip(&data(word)));
        write(
            &format!("{word}.b64"),
            STANDARD.encode(data(word)).as_bytes(),
        );
        write(
            &format!("{word}.gz.b64"),
            STANDARD.encode(gzip(&data(word))).as_bytes(),
        );
        write(
            &format!("{word}.yaml"),
            secret(&gzip(&data(word))).as_bytes(),
        );
    }
    let run = |new: &str| {
        let output = windlass(folder.path())
            .args(["diff", "plain", new])
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    for form in ["gz", "b64", "gz.b64", "yaml"] {
        let (code, report, talk) = run(&format!("a.{form}"));
        assert!(
            code == Some(0) && report.contains("same data"),
            "{form}: {report}{talk}"
        );
        let (code, report, talk) = run(&format!("b.{form}"));
        assert!(
            code == Some(0) && report.contains("other data") && report.contains("commands"),
            "{form}: {report}{talk}"
        );
    }
    let whole = gzip(&data("a"));
    write("cut.gz", &whole[..whole.len() - 9]);
    write("cut.yaml", secret(&whole[..whole.len() - 9]).as_bytes());
    for cut in ["cut.gz", "cut.yaml"] {
        let (code, _, talk) = run(cut);
        assert!(
            code == Some(1) && talk.contains("it begins as gzip and is"),
            "{cut}: {talk}"
        );
    }
}

/// A message of several parts is not taken apart: what its parts change is told all the same, and
/// as a file it is an error.
#[test]
fn no_part_of_a_packed_message_is_passed_over() {
    let message = |word: &str| {
        let part = |kind: &str, text: &str| format!("--b\nContent-Type: text/{kind}\n\n{text}\n");
        let parts = part("cloud-config", "#cloud-config\nruncmd: [a]")
            + &part("x-shellscript", &format!("#!/bin/sh\necho {word}"));
        gzip(
            format!(
                "Content-Type: multipart/mixed; boundary=b\nMIME-Version: 1.0\n\n{parts}--b--\n"
            )
            .as_bytes(),
        )
    };
    let secret = |data: &[u8]| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: w}}\ndata: {{value: {}}}\n",
            STANDARD.encode(data)
        )
    };
    let (code, report, talk) = run(
        &secret(&message("a")),
        &secret(&message("b")),
        &["--exit-code"],
    );
    assert!(
        code == Some(1) && report.contains("Secret/w: other data"),
        "{report}{talk}"
    );
    let (code, report, talk) = run(
        &secret(&message("a")),
        &secret(&message("a")),
        &["--exit-code"],
    );
    assert!(
        code == Some(0) && report.contains("same data"),
        "{report}{talk}"
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.gz"), message("a")).unwrap();
    let output = windlass(folder.path())
        .args(["diff", "a.gz", "a.gz"])
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

fn secret(file: &str, token: &str, password: &str) -> String {
    let data = format!(
        "## template: jinja\n#cloud-config\nwrite_files:\n- {{path: /etc/key, permissions: '0600', content: {file}}}\n- path: /run/kubeadm/kubeadm-join-config.yaml\n  content: |\n    apiVersion: kubeadm.k8s.io/v1beta4\n    discovery: {{bootstrapToken: {{token: {token}}}}}\nruncmd: [\"join --token {token}\"]\nusers: [{{name: u, passwd: {password}}}]\n"
    );
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: w}}\ndata: {{value: {}}}\n",
        STANDARD.encode(data)
    )
}

/// Data Secrets: what only its owner may read on the node, tokens and passwords are told to change,
/// and not shown.
#[test]
fn secrets_are_told_to_change_and_not_shown() {
    let old = secret("canary-1", "aaaaaa.0123456789abcdef", "canary-2");
    let new = secret("canary-3", "bbbbbb.0123456789abcdef", "canary-4");
    for format in ["text", "json"] {
        let (code, report, talk) = run(&old, &new, &["-o", format]);
        assert_eq!(code, Some(0), "{talk}");
        assert!(
            !report.contains("canary")
                && !report.contains("0123456789abcdef")
                && !talk.contains("canary"),
            "{report}"
        );
        assert!(
            report.contains("/etc/key") && report.contains("secret: 1 line before, 1 line now"),
            "{report}"
        );
        assert!(report.contains("only a secret differs"), "{report}");
        assert!(!report.contains("kubeadm-join-config"), "{report}");
    }
    let (_, report, _) = run(&old, &new, &["--show-secrets"]);
    assert!(
        report.contains("-canary-1") && report.contains("+canary-3") && report.contains("canary-4"),
        "{report}"
    );
}

/// Which file came out of a Secret, made data does not tell; commands hold passwords without naming
/// them.
#[test]
fn nothing_of_files_and_no_password_is_shown_of_data_that_was_made() {
    let secret = |data: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: w}}\ndata: {{value: {}}}\n",
            STANDARD.encode(data)
        )
    };
    let cloud_config = "#cloud-config\nwrite_files:\n- {path: /a, permissions: '0644', content: CANARY}\n- {path: /b, permissions: 0o600, content: CANARY}\n\
                        runcmd:\n- docker login -u x -p CANARY r\n- kubeadm join --certificate-key CANARY\nusers: [{name: u, hashed_passwd: CANARY}]\n\
                        rh_subscription: {activation-password: CANARY}\n";
    let ignition = r#"{"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"core","passwordHash":"$6$s$CANARY"}]},"storage":{"files":[{"path":"/a","mode":384,"contents":{"source":"data:,CANARY"},"append":[{"source":"data:,CANARY"}]}]}}"#;
    for data in [cloud_config, ignition] {
        for format in ["text", "json"] {
            let (code, report, talk) = run(
                &secret(&data.replace("CANARY", "canary1")),
                &secret(&data.replace("CANARY", "canary2")),
                &["-o", format],
            );
            assert_eq!(code, Some(0), "{talk}");
            assert!(
                !report.contains("canary") && !talk.contains("canary"),
                "{report}{talk}"
            );
            assert!(report.contains("/a"), "{report}");
        }
    }
}

/// A password that the config itself holds in a file, a variable of a topology, or a value of a
/// template's variable: none comes out, in no format.
#[test]
fn secrets_of_the_input_come_out_nowhere() {
    let config = |content: &str, command: &str| {
        format!(
            "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n  preKubeadmCommands: [\"{command}\"]\n  files:\n  - path: /etc/a\n    content: |\n      {content}\n"
        )
    };
    let topology = |password: &str| {
        let text =
            fs::read_to_string(support::root().join("examples/topology/harbour.yaml")).unwrap();
        let class = "  variables:\n";
        assert!(text.contains(class));
        let declared = "  variables:\n  - name: proxyPassword\n    required: false\n    schema: {openAPIV3Schema: {type: string, default: PASS}}\n";
        let patch = "  patches:\n  - name: proxy\n    definitions:\n    - selector:\n        apiVersion: bootstrap.windlass.dev/v1beta2\n        kind: WindlassConfigTemplate\n        matchResources: {machineDeploymentClass: {names: [worker]}}\n      jsonPatches:\n      - op: add\n        path: /spec/template/spec/postKubeadmCommands\n        valueFrom: {template: '[\"frob {{ .proxyPassword }}\"]'}\n";
        text.replacen(class, &declared.replace("PASS", password), 1)
            .replacen("  patches:\n", patch, 1)
    };
    let cases: [(String, String, &[&str]); 4] = [
        (
            config("password = canary-1x", "a"),
            config("password = canary-2x", "a"),
            &[],
        ),
        (
            config("url=https://u:canary-1x@h", "a"),
            config("url=https://u:canary-2x@h", "a"),
            &[],
        ),
        (
            config("hello ${REG_PASSWORD} bye", "a"),
            config("hello ${REG_PASSWORD} you", "join-it ${REG_PASSWORD}"),
            &["--template", "--var", "REG_PASSWORD=canary-3x"],
        ),
        (topology("canary-1x"), topology("canary-2x"), &[]),
    ];
    for (old, new, flags) in &cases {
        for format in ["text", "json", "github", "html"] {
            let (code, report, talk) = run(old, new, &[*flags, &["-o", format]].concat());
            assert_eq!(code, Some(0), "{talk}");
            assert!(
                report.contains("redacted") || report.contains("only a secret differs"),
                "{report}"
            );
            assert!(
                !report.contains("canary") && !talk.contains("canary"),
                "{report}{talk}"
            );
        }
    }
}

/// A class whose template changes gets a successor of it, which replaces machines.
#[test]
fn topologies_are_planned_first() {
    let text = fs::read_to_string(support::root().join("examples/topology/harbour.yaml")).unwrap();
    let (_, report, _) = run(&text, &text, &[]);
    assert!(
        report
            .lines()
            .filter(|line| line.contains(": none, nothing changes"))
            .count()
            >= 2,
        "{report}"
    );
    let from = text
        .lines()
        .find(|line| line.trim_start().starts_with("version: v"))
        .unwrap()
        .trim();
    let (_, report, _) = run(&text, &text.replace(from, "version: v1.34.9"), &[]);
    assert!(
        report.contains(": rollout, MachineDeployment/")
            && report.contains(": rollout, KubeadmControlPlane/"),
        "{report}"
    );
}

#[test]
fn a_side_without_machines_is_an_error() {
    let nothing = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let (code, _, talk) = run(nothing, CONTROL_PLANE, &[]);
    assert_eq!(code, Some(1));
    assert!(
        talk.contains("error[diff-machine-missing]: old.yaml holds no machine"),
        "{talk}"
    );
}

/// Data of somebody else: bombs, broken documents, signs for the terminal.
#[test]
fn hostile_data_is_compared_too() {
    let of = |data: &[u8]| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: w}}\ndata: {{value: {}}}\n",
            STANDARD.encode(data)
        )
    };
    let bomb = format!(
        "#cloud-config\na: &a [x]\n{}",
        (0..40)
            .map(|i| format!("b{i}: &b{i} [*a, *a]\n"))
            .collect::<String>()
    );
    let many: String = (0..30_000).map(|line| format!("# {line}\n")).collect();
    for data in [
        b"#cloud-config\n- [".to_vec(),
        b"{\"ignition\": [".to_vec(),
        bomb.into_bytes(),
        many.into_bytes(),
    ] {
        let (code, report, talk) = run(
            &of(&data),
            &of(b"#cloud-config\nruncmd: [\"a\x1b[2J\"]\n"),
            &[],
        );
        assert_eq!(code, Some(0), "{talk}");
        assert!(!report.contains('\u{1b}'), "{report}");
    }
    let packed = of(&gzip(
        format!("#cloud-config\n{}", "#".repeat(12 << 20)).as_bytes(),
    ));
    let (code, _, talk) = run(&format!("{packed}---\n").repeat(30), &packed, &[]);
    assert!(
        code == Some(1) && talk.contains("steps in one run"),
        "{talk}"
    );
}

/// kubernetes-sigs/cluster-api#8858 and #9631: a new token in a pool's data is no reason to replace
/// its machines.
#[test]
fn cluster_api_9631_a_new_token_changes_nothing() {
    let input = |token: &str| {
        format!(
            "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n  joinConfiguration:\n    discovery: {{bootstrapToken: {{token: {token}, apiServerEndpoint: \"a:6443\", caCertHashes: [\"sha256:{token}\"]}}}}\n"
        )
    };
    let (code, report, talk) = run(
        &input("aaaaaa.0123456789abcdef"),
        &input("bbbbbb.0123456789abcdef"),
        &["--exit-code"],
    );
    assert_eq!(code, Some(0), "{report}{talk}");
    assert!(
        talk.contains("bootstrap tokens, hashes of the CA's key and the cluster's certificates are not compared"),
        "{talk}"
    );
}
