//! Objects as a whole: faults beside the config, fields that conversion drops, values on which
//! schema and type differ, and what a controller is told.

use windlass_bootstrap::render::{self, Notes, Outcome, Pool, Request};
use windlass_source::Source;
use windlass_source::budget::Budget;

use super::{WORKER, render_text};

fn kubeadm(kind: &str, version: &str, spec: &str) -> String {
    let group = if kind.contains("ControlPlane") {
        "controlplane"
    } else {
        "bootstrap"
    };
    format!(
        "apiVersion: {group}.cluster.x-k8s.io/{version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n"
    )
}

fn rejected(text: &str) -> String {
    rejected_with(text, &["--all"])
}

fn rejected_with(text: &str, flags: &[&str]) -> String {
    let (code, data, talk) = render_text(text, &[&["render", "-"], flags].concat());
    assert_eq!((code, data.as_str()), (1, ""), "{talk}");
    talk
}

fn rendered(text: &str, flags: &[&str]) -> (String, String) {
    let (code, data, talk) = render_text(text, &[&["render", "-"], flags].concat());
    assert_eq!(code, 0, "{talk}");
    (data, talk)
}

#[test]
fn what_stands_beside_the_config_is_judged_too() {
    let check = |text: &str, expected: &str| {
        let talk = rejected(text);
        assert!(talk.contains(expected), "{expected}\n{talk}");
    };
    let template = |spec: &str| kubeadm("KubeadmConfigTemplate", "v1beta2", spec);
    check(
        &template("{joinConfiguration: {nodeRegistration: {name: x}}}"),
        "error[config-field-unknown]: unknown field `spec.joinConfiguration`",
    );
    check(
        &template("{template: {spce: {}}}"),
        "unknown field `spec.template.spce`",
    );
    check(&WORKER.replace("spec:", "sepc:"), "unknown field `sepc`");
    let control_plane = |version: &str, spec: &str| kubeadm("KubeadmControlPlane", version, spec);
    let whole = "version: v1.34.1, machineTemplate: {spec: {infrastructureRef: {apiGroup: a.b, kind: M, name: m}}}, kubeadmConfigSpec: {verbosity: 1}";
    check(
        &control_plane("v1beta2", &format!("{{{whole}, rolloutStrategy: {{}}}}")),
        "unknown field `spec.rolloutStrategy`",
    );
    check(
        &control_plane("v1beta1", &format!("{{{whole}, rollout: {{}}}}")),
        "unknown field `spec.rollout`",
    );
    check(
        &control_plane("v1beta2", "{version: v1.34.1}"),
        "error[config-field-missing]: spec.machineTemplate is missing",
    );
    check(
        &control_plane(
            "v1beta2",
            &format!("{{{whole}}}").replace("v1.34.1", "1.34"),
        ),
        "spec.version is the number 1.34, not a text",
    );
    check(
        &control_plane(
            "v1beta2",
            &format!("{{{whole}}}").replace("v1.34.1", "v1.34"),
        ),
        "spec.version: must be a valid semantic version",
    );
    check(
        &control_plane("v1beta2", &format!("{{{whole}, replicas: 2}}")),
        "spec.replicas: cannot be an even number when etcd is stacked",
    );
    rendered(
        &control_plane("v1beta2", &format!("{{{whole}, replicas: 3}}")),
        &["--all"],
    );
}

#[test]
fn findings_of_templates_name_the_paths_of_the_template() {
    let text = kubeadm(
        "KubeadmConfigTemplate",
        "v1beta2",
        "{template: {spec: {files: [{path: /a, content: b, contentFormat: inspec.d}]}}}",
    );
    let talk = rejected(&text);
    assert!(
        talk.contains("spec.template.spec.files[0].contentFormat is `inspec.d`"),
        "{talk}"
    );
    assert!(!talk.contains("inspec.template"), "{talk}");
}

#[test]
fn fields_that_conversion_drops_are_warned_of() {
    let spec = "{useExperimentalRetryJoin: true, clusterConfiguration: {kubernetesVersion: v1.30.0, clusterName: foo, networking: {podSubnet: 1.2.3.0/24}}}";
    let text = kubeadm("KubeadmConfig", "v1beta1", spec);
    let (_, talk) = rendered(&text, &[]);
    for (field, instead) in [
        (
            "clusterConfiguration.kubernetesVersion",
            "the version of the Machine counts",
        ),
        (
            "clusterConfiguration.clusterName",
            "the name of the Cluster counts",
        ),
        (
            "clusterConfiguration.networking",
            "`spec.clusterNetwork` of the Cluster counts",
        ),
        ("useExperimentalRetryJoin", "kubeadm itself tries again"),
    ] {
        let expected = format!(
            "warning[config-field-dropped]: spec.{field} has no effect since Cluster API v1.11: {instead}"
        );
        assert!(talk.contains(&expected), "{expected}\n{talk}");
    }
    let (_, talk) = rendered(&text, &["--capi-version", "v1.10"]);
    assert!(!talk.contains("config-field-dropped"), "{talk}");
}

/// v1.11 and later read the list back as none, and kubeadm's type always writes the field; v1.10
/// works on the list itself.
#[test]
fn an_empty_list_of_endpoints_is_written_as_the_release_writes_it() {
    let spec = "{clusterConfiguration: {etcd: {external: {endpoints: [], caFile: a, certFile: b, keyFile: c}}}}";
    let text = kubeadm("KubeadmConfig", "v1beta1", spec);
    for (release, expected) in [
        ("v1.12", "          endpoints: null\n"),
        ("v1.10", "          endpoints: []\n"),
    ] {
        let (data, _) = rendered(&text, &["--role", "init", "--capi-version", release]);
        assert!(data.contains(expected), "{release}\n{data}");
    }
}

/// The variables are behind a pointer, and a local etcd that has one is not nothing
/// (`Convert_v1beta1_LocalEtcd_To_v1beta2_LocalEtcd`).
#[test]
fn a_local_etcd_with_an_empty_list_of_variables_stays() {
    for spec in [
        "{local: {extraEnvs: [], serverCertSANs: []}}",
        "{local: {serverCertSANs: []}}",
    ] {
        let text = kubeadm(
            "KubeadmConfig",
            "v1beta1",
            &format!("{{clusterConfiguration: {{etcd: {spec}}}}}"),
        );
        let (data, _) = rendered(&text, &["--role", "init", "--capi-version", "v1.12"]);
        let expected = if spec.contains("Envs") {
            "      etcd:\n        local:\n          dataDir: \"\"\n"
        } else {
            "      etcd: {}\n"
        };
        assert!(data.contains(expected), "{spec}\n{data}");
    }
}

/// As v1.10.10 itself rendered them.
#[test]
fn what_v1_10_reads_of_v1beta1_counts_where_it_reads_it() {
    let spec = "{clusterConfiguration: {apiServer: {timeoutForControlPlane: 90s}}, joinConfiguration: {discovery: {timeout: 10s}}}";
    let joined = |role: &str| {
        let flags = [
            "--capi-version",
            "v1.10",
            "--kubernetes-version",
            "v1.31.0",
            "--role",
            role,
        ];
        rendered(&kubeadm("KubeadmConfig", "v1beta1", spec), &flags).0
    };
    let of_control_plane = "      timeouts:\n        controlPlaneComponentHealthCheck: 1m30s\n        tlsBootstrap: 10s\n";
    assert!(
        joined("control-plane-join").contains(of_control_plane),
        "{}",
        joined("control-plane-join")
    );
    assert!(
        joined("worker-join").contains("      timeouts:\n        tlsBootstrap: 10s\n"),
        "{}",
        joined("worker-join")
    );
    // kubeadm's v1beta2 leaves out the folder of etcd that is not given; its successors write it.
    let etcd = kubeadm(
        "KubeadmConfig",
        "v1beta1",
        "{clusterConfiguration: {etcd: {local: {imageTag: a}}}}",
    );
    for (kubernetes, expected) in [("v1.21.2", ""), ("v1.22.17", "          dataDir: \"\"\n")] {
        let flags = [
            "--capi-version",
            "v1.10",
            "--kubernetes-version",
            kubernetes,
            "--role",
            "init",
        ];
        let (data, _) = rendered(&etcd, &flags);
        assert!(
            data.contains(&format!(
                "        local:\n{expected}          imageTag: a\n"
            )),
            "{kubernetes}\n{data}"
        );
    }
    // Its defaulting webhook writes the object anew, and so without an empty list.
    let (_, talk) = rendered(
        &kubeadm(
            "KubeadmConfig",
            "v1beta1",
            "{format: ignition, bootCommands: []}",
        ),
        &[
            "--capi-version",
            "v1.10",
            "--feature-gates",
            "KubeadmBootstrapFormatIgnition=true",
        ],
    );
    assert!(!talk.contains("bootCommands"), "{talk}");
}

/// The provider finds a volume of v1beta1 by its host path, and so the first one.
#[test]
fn volumes_of_one_host_path_are_read_only_together() {
    let volume = |name: &str, more: &str| {
        format!("{{name: {name}, hostPath: /h, mountPath: /{name}{more}}}")
    };
    let text = |first: &str, second: &str| {
        let volumes = format!("[{}, {}]", volume("v1", first), volume("v2", second));
        kubeadm(
            "KubeadmConfig",
            "v1beta1",
            &format!("{{clusterConfiguration: {{apiServer: {{extraVolumes: {volumes}}}}}}}"),
        )
    };
    let count = |text: &str| {
        rendered(text, &["--role", "init"])
            .0
            .matches("readOnly: true")
            .count()
    };
    assert_eq!(count(&text(", readOnly: true", "")), 2);
    assert_eq!(count(&text("", ", readOnly: true")), 0);
}

#[test]
fn empty_objects_of_a_wrong_type_are_rejected_in_objects_that_were_read_back() {
    let text = WORKER.replace("name: w", "name: w, uid: 0-1").replace(
        "  files:",
        "  verbosity: {}\n  mounts: {}\n  format: {}\n  files:",
    );
    let talk = rejected(&text);
    for field in ["verbosity", "mounts", "format"] {
        assert!(
            talk.contains(&format!("spec.{field} is a mapping, not ")),
            "{talk}"
        );
    }
}

#[test]
fn a_minor_version_means_its_newest_patch() {
    let (_, talk) = rendered(WORKER, &["--capi-version", "v1.14"]);
    assert!(talk.contains("as CAPI v1.14.2 writes it"), "{talk}");
    let (_, talk) = rendered(WORKER, &["--capi-version", "v1.14.2"]);
    assert!(!talk.contains("was not tried"), "{talk}");
}

#[test]
fn a_controller_can_tell_waiting_from_rejection() {
    let outcome = |text: &str, placeholders: bool| {
        let (pool, report) = Pool::read(
            &[Source::new("a.yaml", text.to_owned())],
            &Budget::default(),
        );
        assert!(!report.has_errors());
        let request = Request {
            placeholders,
            ..Request::new()
        };
        render::render(
            &pool,
            &render::targets(&pool)[0],
            &request,
            &mut Notes::default(),
        )
    };
    assert!(matches!(outcome(WORKER, true), Outcome::Rendered(_)));
    assert_eq!(outcome(WORKER, false), Outcome::Waiting);
    assert_eq!(
        outcome(&WORKER.replace("content", "contnt"), false),
        Outcome::Rejected
    );
}

/// A MachineDeployment with a version, and the template that it names.
fn deployment(name: &str, version: &str, kind: &str, template: &str) -> String {
    format!(
        "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: MachineDeployment\nmetadata: {{name: {name}}}\nspec:\n  clusterName: c\n  template:\n    \
         spec:\n      version: {version}\n      bootstrap:\n        configRef: {{apiGroup: bootstrap.cluster.x-k8s.io, kind: {kind}, name: {template}}}\n"
    )
}

fn template(name: &str) -> String {
    format!(
        "---\n{}",
        kubeadm(
            "KubeadmConfigTemplate",
            "v1beta2",
            "{template: {spec: {verbosity: 1}}}"
        )
        .replace("name: a", &format!("name: {name}"))
    )
}

#[test]
fn references_that_lead_nowhere_are_told() {
    let check = |text: &str, expected: &[&str]| {
        let talk = rejected(text);
        expected
            .iter()
            .for_each(|line| assert!(talk.contains(line), "{line}\n{talk}"));
    };
    let of = |kind: &str, name: &str| {
        [template("workers"), deployment("md", "v1.34.1", kind, name)].concat()
    };
    check(
        &of("KubeadmConfigTemplate", "worker"),
        &[
            "error[render-reference-dangling]: MachineDeployment/md names KubeadmConfigTemplate worker, which no file holds, so it is not rendered",
            "  --> <stdin>:16:",
            "  = help: did you mean `workers`?",
        ],
    );
    check(
        &of("KubeadmConfigTemplate", "other"),
        &["help: add the file of KubeadmConfigTemplate default/other"],
    );
    check(
        &of("KubeadmConfigTemplat", "workers"),
        &["  = help: did you mean `KubeadmConfigTemplate`?"],
    );
    check(
        &of("KubeadmConfigTemplate", "workers")
            .replace("apiGroup: bootstrap", "apiGroup: controlplane"),
        &["help: write the group `bootstrap.cluster.x-k8s.io`"],
    );
    // What other providers bootstrap is theirs, and who names one machine does not ask for the
    // others.
    let rke2 = of("RKE2ConfigTemplate", "workers");
    assert_eq!(render_text(&rke2, &["render", "-", "--all"]).0, 0);
    assert_eq!(
        render_text(
            &of("KubeadmConfigTemplate", "other"),
            &["render", "-", "--select", "workers"]
        )
        .0,
        0
    );
}

#[test]
fn kinds_that_are_misspelt_are_told() {
    let misspelt = |group: &str, kind: &str| {
        format!("{WORKER}---\napiVersion: {group}/v1beta2\nkind: {kind}\nmetadata: {{name: x}}\n")
    };
    let check = |group: &str, kind: &str, expected: &str| {
        let talk = rejected(&misspelt(group, kind));
        assert!(
            talk.contains("error[render-kind-unknown]")
                && talk.contains(&format!("  = help: {expected}\n")),
            "{kind}\n{talk}"
        );
    };
    check(
        "controlplane.cluster.x-k8s.io",
        "KubeadmControlPlan",
        "did you mean `KubeadmControlPlane`?",
    );
    check(
        "cluster.x-k8s.io",
        "MachineDeploymnet",
        "did you mean `MachineDeployment`?",
    );
    check(
        "cluster.x-k8s.io",
        "KubeadmConfigTemplate",
        "write `apiVersion: bootstrap.cluster.x-k8s.io/v1beta2`",
    );
    for (group, kind) in [
        ("controlplane.cluster.x-k8s.io", "KThreesControlPlane"),
        ("bootstrap.cluster.x-k8s.io", "KThreesConfig"),
        ("bootstrap.cluster.x-k8s.io", "RKE2ConfigTemplate"),
        ("cluster.x-k8s.io", "MachineHealthCheck"),
        ("infrastructure.cluster.x-k8s.io", "DockerCluster"),
        ("cluster.open-cluster-management.io", "Cluster"),
    ] {
        let (code, _, talk) = render_text(&misspelt(group, kind), &["render", "-"]);
        assert_eq!(code, 0, "{kind}\n{talk}");
    }
    let nothing = rejected("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n");
    assert!(nothing.contains("  = note: it holds Pod/p\n"), "{nothing}");
}

#[test]
fn each_machine_deployment_of_a_template_is_a_machine() {
    let owned = deployment("old", "v1.29.0", "KubeadmConfigTemplate", "t").replace("kind: MachineDeployment", "kind: MachineSet").replace(
        "{name: old}",
        "{name: old, ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment, name: one, uid: u}]}",
    );
    let one = deployment("one", "v1.30.0", "KubeadmConfigTemplate", "t");
    let two = deployment("two", "v1.34.1", "KubeadmConfigTemplate", "t");
    let both = [template("t"), one.clone(), two, owned.clone()].concat();
    let (code, data, talk) = render_text(&both, &["render", "-", "--all", "-o", "json"]);
    assert_eq!(code, 0, "{talk}");
    let report: serde_json::Value = serde_json::from_str(&data).unwrap();
    let machines = report["machines"].as_array().unwrap();
    let said: Vec<_> = machines
        .iter()
        .map(|machine| (&machine["owner"], &machine["kubernetesVersion"]))
        .collect();
    assert_eq!(
        said,
        [
            (&"MachineDeployment/one".into(), &"v1.30.0".into()),
            (&"MachineDeployment/two".into(), &"v1.34.1".into())
        ]
    );
    let (data, talk) = rendered(&both, &["--select", "one"]);
    assert!(data.contains("kubeadm.k8s.io/v1beta3"), "{data}");
    assert!(
        talk.contains("KubeadmConfigTemplate/t of MachineDeployment/one: worker-join"),
        "{talk}"
    );
    let ambiguous = render_text(&both, &["render", "-"]).2;
    assert!(
        ambiguous.contains(
            "add `--all`, or one of `--select one:worker-join`, `--select two:worker-join`"
        ),
        "{ambiguous}"
    );
    // The MachineSet of a MachineDeployment is not a machine of its own.
    let (_, talk) = rendered(&[template("t"), one, owned].concat(), &[]);
    assert!(
        talk.contains("KubeadmConfigTemplate/t: worker-join"),
        "{talk}"
    );
}

#[test]
fn help_shows_the_new_form_ready_to_paste() {
    let check = |spec: &str, expected: &[&str]| {
        let talk = rejected(&kubeadm("KubeadmConfig", "v1beta2", spec));
        let told: Vec<_> = talk
            .lines()
            .filter_map(|line| line.split_once("= help: "))
            .map(|(_, help)| help)
            .collect();
        assert_eq!(told, expected, "{spec}\n{talk}");
    };
    check(
        "{clusterConfiguration: {apiServer: {extraArgs: {cloud-provider: external, v: 4}, timeoutForControlPlane: 10m}}}",
        &[
            r#"write a list: `[{name: "cloud-provider", value: "external"}, {name: "v", value: "4"}]`"#,
            "write `initConfiguration: {timeouts: {controlPlaneComponentHealthCheckSeconds: 600}}` and `joinConfiguration: {timeouts: \
             {controlPlaneComponentHealthCheckSeconds: 600}}` below `spec`",
        ],
    );
    check(
        "{preKubeadmCommands: [echo foo: bar]}",
        &["put it in quotes, because `: ` makes a mapping of it: `\"echo foo: bar\"`"],
    );
    check(
        "{joinConfiguration: {discovery: {timeout: 1m30s}}}",
        &["write `timeouts: {tlsBootstrapSeconds: 90}` in `joinConfiguration`"],
    );
    check(
        "{useExperimentalRetryJoin: true}",
        &["remove it: kubeadm itself tries again"],
    );
    check(
        "{initConfiguration: {bootstrapTokens: [{token: abcdef.0123456789abcdef, ttl: 1h}]}}",
        &["write `ttlSeconds: 3600`"],
    );
    check("{sepc: {}}", &["remove `sepc`"]);
}

/// What CAPI v1.14.2 writes for these, by its own code.
#[test]
fn values_are_in_gos_canonical_form() {
    let check = |divisor: &str, expected: &str| {
        let env = format!(
            "{{name: x, valueFrom: {{resourceFieldRef: {{resource: limits.cpu, divisor: {divisor}}}}}}}"
        );
        let spec = format!("{{clusterConfiguration: {{scheduler: {{extraEnvs: [{env}]}}}}}}");
        let (data, _) = rendered(
            &kubeadm("KubeadmConfig", "v1beta2", &spec),
            &["--role", "init"],
        );
        assert!(
            data.contains(&format!("divisor: {expected}\n")),
            "{divisor}: {data}"
        );
    };
    check("1000m", "\"1\"");
    check("\"0.5\"", "500m");
    check("2048Ki", "2Mi");
    let taint = |time: &str| {
        let spec = format!(
            "{{joinConfiguration: {{nodeRegistration: {{taints: [{{key: a, effect: NoExecute, timeAdded: \"{time}\"}}]}}}}}}"
        );
        rendered(&kubeadm("KubeadmConfig", "v1beta2", &spec), &[]).0
    };
    assert!(taint("0001-01-01T00:00:00Z").contains("timeAdded: null\n"));
    assert!(taint("0001-01-01T00:00:01Z").contains("timeAdded: \"0001-01-01T00:00:01Z\"\n"));
}

fn with_kubeconfig(config: &str) -> String {
    format!(
        "{{joinConfiguration: {{discovery: {{file: {{kubeConfigPath: /k, kubeConfig: {config}}}}}}}}}"
    )
}

/// What Cluster API's Go types make of empty objects of v1beta1 (`Convert_v1beta1_…` of its API
/// module, `omitzero`).
#[test]
fn empty_objects_of_v1beta1_count_as_go_reads_them() {
    let render = |config: &str, release: &str| {
        rendered(
            &kubeadm("KubeadmConfig", "v1beta1", &with_kubeconfig(config)),
            &["--capi-version", release],
        )
        .0
    };
    for config in ["{user: {}}", "{user: {}, cluster: {}}"] {
        assert!(!render(config, "v1.14").contains("path: /k\n"), "{config}");
        assert!(!render(config, "v1.11").contains("path: /k\n"), "{config}");
    }
    // v1.10 tells them from absent ones, and its webhook rejects them.
    let talk = rejected_with(
        &kubeadm("KubeadmConfig", "v1beta1", &with_kubeconfig("{user: {}}")),
        &["--capi-version", "v1.10"],
    );
    assert!(
        talk.contains("at least one of authProvider or exec must be defined"),
        "{talk}"
    );
    let with_server = render("{user: {}, cluster: {server: 'https://a'}}", "v1.14");
    assert!(
        with_server.contains("path: /k\n") && with_server.contains("        user: {}\n"),
        "{with_server}"
    );
    for release in ["v1.14", "v1.10"] {
        let data = render("{user: {authProvider: {name: oidc, config: {}}}}", release);
        assert!(
            data.contains(
                "          auth-provider:\n            config: null\n            name: oidc\n"
            ),
            "{data}"
        );
    }
    let v1beta2 = "{joinConfiguration: {discovery: {file: {kubeConfigPath: /k, kubeConfig: {user: {authProvider: {name: oidc, config: {}}}}}}}}";
    let (data, _) = rendered(&kubeadm("KubeadmConfig", "v1beta2", v1beta2), &[]);
    assert!(data.contains("            config: {}\n"), "{data}");
}

/// apimachinery shows values in JSON since 0.34, which Cluster API has since v1.12.
#[test]
fn rejections_show_structs_as_the_release_does() {
    let both = "{user: {authProvider: {name: x}, exec: {command: c}}}";
    let json = r#"{"authProvider":{"name":"x"},"exec":{"command":"c"}}: only one"#;
    for (release, expected) in [
        ("v1.10", "v1beta1.KubeConfigUser{…}: either"),
        ("v1.11", "v1beta2.KubeConfigUser{…}: only one"),
        ("v1.12", json),
    ] {
        let config = kubeadm("KubeadmConfig", "v1beta1", &with_kubeconfig(both));
        let talk = rejected_with(
            &config,
            &["--capi-version", release, "--show-secrets", "-v", "1"],
        );
        assert!(
            talk.contains(&format!("Invalid value: {expected}")),
            "{release}\n{talk}"
        );
    }
}

/// `{{ if .Layout }}` of upstream's template asks for the pointer, which v1beta1 always gives.
#[test]
fn a_layout_of_v1beta1_beside_a_disk_layout_reaches_ignition() {
    let spec = |layout: &str| {
        format!(
            "{{format: ignition, diskSetup: {{partitions: [{{device: /dev/sdb{layout}, diskLayout: [{{percentage: 33}}]}}]}}}}"
        )
    };
    let flags = ["--feature-gates", "KubeadmBootstrapFormatIgnition=true"];
    let disks = |version: &str, layout: &str| {
        let (data, talk) = rendered(&kubeadm("KubeadmConfig", version, &spec(layout)), &flags);
        let data: serde_json::Value = serde_json::from_str(&data).unwrap();
        (data["storage"]["disks"].to_string(), talk)
    };
    for layout in [", layout: false", ", layout: true"] {
        let (disks, talk) = disks("v1beta1", layout);
        assert_eq!(
            disks, r#"[{"device":"/dev/sdb","partitions":[{}]}]"#,
            "{layout}"
        );
        assert!(
            talk.contains("does not reach the node as it is written: its parts are not made"),
            "{talk}"
        );
    }
    assert_eq!(disks("v1beta2", "").0, r#"[{"device":"/dev/sdb"}]"#);
}

/// The rule of v1beta2 is not asked of what the server converted from v1beta1: the kubeadm
/// provider's conversion keeps both.
#[test]
fn both_layouts_are_right_in_objects_that_were_read_back() {
    let written = kubeadm(
        "KubeadmConfig",
        "v1beta2",
        "{diskSetup: {partitions: [{device: /dev/sdb, layout: true, diskLayout: [{percentage: 33}]}]}}",
    );
    let talk = rejected(&written);
    assert!(
        talk.contains("exactly one of the fields in [layout diskLayout] must be set"),
        "{talk}"
    );
    let stored = written.replacen("metadata: {", "metadata: {uid: 0-1, ", 1);
    let (data, _) = rendered(&stored, &[]);
    assert!(data.contains("    layout:\n      - 33"), "{data}");
    let neither = stored.replace(", layout: true, diskLayout: [{percentage: 33}]", "");
    let talk = rejected(&neither);
    assert!(
        talk.contains("exactly one of the fields in [layout diskLayout] must be set"),
        "{talk}"
    );
}
