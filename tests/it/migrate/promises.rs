//! What is promised of single texts.

use serde_json::json;
use windlass_checks::commands::migrate::Family;

use super::{NEW, OLD, family, migrated, migrated_beside, told};
use crate::support::documents;

const OLD_TEXT: &str = r#"# What the team should know.
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata:
  name: "cp"   # the name

spec:
  replicas: ${COUNT:=3}
  # how it rolls
  rolloutStrategy:
    # one more
    rollingUpdate:
      maxSurge: 1   # one
  machineTemplate:
    # where machines come from
    infrastructureRef:
      kind: DockerMachineTemplate
      apiVersion: infrastructure.cluster.x-k8s.io/v1beta1   # of docker
      name: ${CLUSTER_NAME}-cp
    nodeDrainTimeout: 10m0s   # ten
  kubeadmConfigSpec:
    clusterConfiguration:
      apiServer:
        extraArgs:
          audit-log: "/var/log"   # where
          # external
          cloud-provider: 'external'
    initConfiguration:
      nodeRegistration:
        kubeletExtraArgs: {a: 'b<0%', eviction: "${X}"}
    preKubeadmCommands: [ "a" , b ]
  version: v1.34.0
---
# Nothing of this is migrated.
apiVersion: v1
kind:   ConfigMap
metadata: { name: c }
"#;

const NEW_TEXT: &str = r#"# What the team should know.
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata:
  name: "cp"   # the name

spec:
  replicas: ${COUNT:=3}
  # how it rolls
  rollout:
    strategy:
      # one more
      rollingUpdate:
        maxSurge: 1   # one
  machineTemplate:
    # where machines come from
    spec:
      infrastructureRef:
        kind: DockerMachineTemplate
        apiGroup: infrastructure.cluster.x-k8s.io   # of docker
        name: ${CLUSTER_NAME}-cp
      deletion:
        nodeDrainTimeoutSeconds: 600   # ten
  kubeadmConfigSpec:
    clusterConfiguration:
      apiServer:
        extraArgs:
        - name: audit-log
          value: "/var/log"   # where
        # external
        - name: cloud-provider
          value: 'external'
    initConfiguration:
      nodeRegistration:
        kubeletExtraArgs: [{name: a, value: 'b<0%'}, {name: eviction, value: "${X}"}]
    preKubeadmCommands: [ "a" , b ]
  version: v1.34.0
---
# Nothing of this is migrated.
apiVersion: v1
kind:   ConfigMap
metadata: { name: c }
"#;

const NEW_CLASS: &str = r#"apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: c}
spec:
  workers:
    machineDeployments:
    # the default pool
    - class: default
      # how it boots
      bootstrap:   # bootstrap
        # of a template
        templateRef:   # ref
          # in groups
          apiVersion: bootstrap.cluster.x-k8s.io/v1beta2   # version
          kind: KubeadmConfigTemplate # kind
          name: "md" # name
      # health
      healthCheck:
        checks:
          # time
          nodeStartupTimeoutSeconds: 600 # ten minutes
          # of nodes
          unhealthyNodeConditions: # all
          # unknown
          - type: Ready # r
            status: Unknown
            timeoutSeconds: 300 # t
        remediation:
          triggerIf:
            unhealthyLessThanOrEqualTo: 40% # max
# the end
"#;

const OLD_CLASS: &str = r#"apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: {name: c}
spec:
  workers:
    machineDeployments:
    # the default pool
    - class: default
      # how it boots
      template:
        bootstrap:   # bootstrap
          # of a template
          ref:   # ref
            # in groups
            apiVersion: bootstrap.cluster.x-k8s.io/v1beta1   # version
            kind: KubeadmConfigTemplate # kind
            name: "md" # name
      # health
      machineHealthCheck:
        # time
        nodeStartupTimeout: 10m0s # ten minutes
        # of nodes
        unhealthyConditions: # all
        # unknown
        - type: Ready # r
          status: Unknown
          timeout: 5m0s # t
        maxUnhealthy: 40% # max
# the end
"#;

const DOCKER: &str =
    "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: DockerMachineTemplate\n";

/// Written by hand from the migration guide of Cluster API v1.11.
#[test]
fn comments_order_and_quotes_stay() {
    let (text, findings) = migrated(OLD_TEXT, NEW);
    assert_eq!((text.as_str(), told(&findings)), (NEW_TEXT, vec![]));
    let (back, findings) = migrated_beside(NEW_TEXT, DOCKER, OLD);
    assert_eq!((back.as_str(), told(&findings)), (OLD_TEXT, vec![]));
}

#[test]
fn line_ends_of_windows_stay() {
    let old = "apiVersion: cluster.x-k8s.io/v1beta1\r\nkind: Machine\r\nmetadata: {name: m}\r\nspec:\r\n  version: v1 # v\r\n";
    let (text, findings) = migrated(old, NEW);
    assert_eq!(
        (text, findings),
        (old.replace("v1beta1", "v1beta2"), vec![])
    );
}

/// Also of lines that are new, and of arguments that change places at the end of a file.
#[test]
fn new_lines_end_as_those_of_the_file() {
    let windows = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(
        migrated(&windows(OLD_TEXT), NEW),
        (windows(NEW_TEXT), vec![])
    );
    assert_eq!(
        migrated_beside(&windows(NEW_TEXT), DOCKER, OLD),
        (windows(OLD_TEXT), vec![])
    );
    let template = "      - op: add\n        path: PATH\n        valueFrom:\n          template: |- # why\n            ";
    let template = template.replace("PATH", ARGUMENTS);
    let old = windows(&class(
        "v1beta1",
        "ref",
        &format!("{template}a: x\n            b: y\n"),
    ));
    let lines =
        "- name: a\n              value: x\n            - name: b\n              value: y\n";
    let new = windows(&class(
        "v1beta2",
        "templateRef",
        &format!("{template}{lines}"),
    ));
    assert_eq!(migrated(&old, NEW), (new.clone(), vec![]));
    assert_eq!(migrated(&new, OLD), (old, vec![]));
    let config = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfig\nmetadata: {name: a}\nspec:\n  joinConfiguration:\n    nodeRegistration:\n      kubeletExtraArgs:\n        v: \"4\"\n        a: b";
    let start = config.find("        v:").unwrap();
    let arguments = "      - name: a\n        value: b\n      - name: v\n        value: \"4\"";
    let expected = format!(
        "{}{arguments}",
        config[..start].replace("v1beta1", "v1beta2")
    );
    assert_eq!(
        migrated(&windows(config), NEW),
        (windows(&expected), vec![])
    );
}

/// Fields that move by themselves and with the object around them, in both versions; by hand from
/// the types of Cluster API.
#[test]
fn what_moves_twice_keeps_its_text() {
    assert_eq!(migrated(NEW_CLASS, OLD), (OLD_CLASS.to_owned(), vec![]));
    // A comment stays above what takes the place of its field.
    let new = NEW_CLASS.replace(
        "        checks:\n          # time\n",
        "        # time\n        checks:\n",
    );
    assert_eq!(migrated(OLD_CLASS, NEW), (new, vec![]));
    let old = "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\nspec:\n  # r\n  remediationStrategy:\n    # rp\n    retryPeriod: 1m0s # one\n    maxRetry: 3 # mr\n";
    let new = "apiVersion: controlplane.cluster.x-k8s.io/v1beta2\nkind: KubeadmControlPlane\nspec:\n  # r\n  remediation:\n    # rp\n    retryPeriodSeconds: 60 # one\n    maxRetry: 3 # mr\n";
    assert_eq!(migrated(old, NEW), (new.to_owned(), vec![]));
    assert_eq!(migrated(new, OLD), (old.to_owned(), vec![]));
}

#[test]
fn what_is_as_wanted_stays() {
    assert_eq!(migrated(NEW_TEXT, NEW), (NEW_TEXT.to_owned(), vec![]));
    let (again, _) = migrated(&migrated(OLD_TEXT, NEW).0, NEW);
    assert_eq!(again, NEW_TEXT);
}

#[test]
fn configs_and_references_become_of_the_other_kind() {
    let kubeadm = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfigTemplate # t\nmetadata:\n  name: w\nspec: {template: {spec: {verbosity: 1}}}\n---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: MachinePool\nspec:\n  template:\n    spec:\n      bootstrap:\n        configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: \"KubeadmConfig\", name: w}\n";
    let windlass = kubeadm
        .replace("bootstrap.cluster.x-k8s.io", "bootstrap.windlass.dev")
        .replace("KubeadmConfigTemplate", "WindlassConfigTemplate")
        .replace("KubeadmConfig\"", "WindlassConfig\"");
    assert_eq!(
        migrated(kubeadm, family(Family::Windlass)),
        (windlass.clone(), vec![])
    );
    assert_eq!(
        migrated(&windlass, family(Family::Kubeadm)),
        (kubeadm.to_owned(), vec![])
    );
}

/// Without the template, v1beta1 lacks the version of the reference.
#[test]
fn keeps_documents_that_it_does_not_convert() {
    let (text, findings) = migrated(NEW_TEXT, OLD);
    assert_eq!(
        (text.as_str(), told(&findings)),
        (NEW_TEXT, vec![("migrate-not-converted", 18)])
    );
}

/// JSON is YAML in brackets.
#[test]
fn json_stays_json() {
    let old = "{\n  \"apiVersion\": \"cluster.x-k8s.io/v1beta1\",\n  \"kind\": \"Machine\",\n  \"spec\": {\n    \"nodeDrainTimeout\": \"1m0s\",\n    \"version\": \"v1\"\n  }\n}\n";
    let (text, findings) = migrated(old, NEW);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (
            value["spec"]["deletion"]["nodeDrainTimeoutSeconds"].as_i64(),
            findings
        ),
        (Some(60), vec![])
    );
    assert_eq!(migrated(&text, OLD), (old.to_owned(), vec![]));
}

#[test]
fn anchors_that_stand_in_the_way_are_told() {
    let text = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Machine\nmetadata: {name: m}\nspec:\n  infrastructureRef: &ref\n    apiVersion: a.io/v1\n    kind: K\n    name: n\n  bootstrap:\n    configRef: *ref\n  nodeDrainTimeout: 1s\n";
    let (migrated, findings) = migrated(text, NEW);
    match told(&findings).as_slice() {
        [] => assert!(!migrated.contains("a.io/v1")),
        told => assert_eq!(
            (migrated.as_str(), told),
            (text, &[("migrate-text-differs", 1)][..])
        ),
    }
}

/// What no user writes: neither a panic nor a hang.
#[test]
fn hostile_texts_end() {
    let head =
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: ClusterClass\nmetadata: {name: m}\nspec:\n";
    let deep = format!(
        "{head}  patches: {}{}\n",
        "[".repeat(3000),
        "]".repeat(3000)
    );
    let many = format!(
        "{head}  workers:\n    machineDeployments:\n{}",
        "    - {class: a, nodeDrainTimeout: 1s, template: {metadata: {}}}\n".repeat(5000)
    );
    let bomb = format!("{head}  a: &a [x, x]\n  b: &b [*a, *a]\n  c: &c [*b, *b]\n  d: [*c, *c]\n");
    let arguments: String = (0..20_000)
        .map(|number| format!("        a{number}: \"\\u0007\"\n"))
        .collect();
    let wide = format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfig\nspec:\n  joinConfiguration:\n    nodeRegistration:\n      kubeletExtraArgs:\n{arguments}"
    );
    let odd = format!(
        "{head}  variables: 7\n  patches: [1, {{definitions: x}}, {{definitions: [{{selector: 3, jsonPatches: {{}}}}]}}]\n  controlPlane: []\n  workers: {{machineDeployments: {{}}}}\n"
    );
    for text in [
        deep,
        many,
        bomb,
        wide,
        odd,
        "${".repeat(10_000),
        String::new(),
        "\u{f0000}: ${A}\n".to_owned(),
    ] {
        let (there, _) = migrated(&text, NEW);
        migrated(&there, OLD);
    }
}

/// A ClusterClass with one patch for control planes.
fn class(version: &str, reference: &str, patch: &str) -> String {
    format!(
        "apiVersion: cluster.x-k8s.io/{version}\nkind: ClusterClass\nmetadata: {{name: c}}\nspec:\n  controlPlane:\n    {reference}:\n      apiVersion: controlplane.cluster.x-k8s.io/{version}\n      kind: KubeadmControlPlaneTemplate\n      name: cp\n  infrastructure:\n    {reference}: {{apiVersion: a.b/v1, kind: K, name: c}}\n  patches:\n  - name: p\n    definitions:\n    - selector:\n        apiVersion: controlplane.cluster.x-k8s.io/{version}\n        kind: KubeadmControlPlaneTemplate\n        matchResources: {{controlPlane: true}}\n      jsonPatches:\n{patch}"
    )
}

const SPEC: &str = "/spec/template/spec";
const ARGUMENTS: &str =
    "/spec/template/spec/kubeadmConfigSpec/clusterConfiguration/apiServer/extraArgs";

/// A template for the patches of [`class`].
const CONTROL_PLANE: &str = "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlaneTemplate\nspec: {template: {spec: {kubeadmConfigSpec: {clusterConfiguration: {apiServer: {extraArgs: {w: z}}}}}}}\n";

/// Values and paths of patches are those of the templates that they change.
#[test]
fn patches_follow_their_templates_and_come_back() {
    let cases = [
        (
            format!(
                "      # one\n      - op: add\n        path: {ARGUMENTS}/v # of it\n        value: \"1\"\n"
            ),
            format!(
                "      # one\n      - op: add\n        path: {ARGUMENTS}/- # of it\n        value: {{name: v, value: \"1\"}}\n"
            ),
        ),
        (
            format!(
                "      - op: add\n        path: {ARGUMENTS}/v\n        valueFrom:\n          variable: level\n"
            ),
            format!(
                "      - op: add\n        path: {ARGUMENTS}/-\n        valueFrom:\n          template: |\n            name: v\n            value: {{{{ .level | toJson }}}}\n"
            ),
        ),
        (
            format!(
                "      - op: add\n        path: {ARGUMENTS}\n        value:\n          a: x # x\n          b: 'y'\n"
            ),
            format!(
                "      - op: add\n        path: {ARGUMENTS}\n        value:\n        - name: a\n          value: x # x\n        - name: b\n          value: 'y'\n"
            ),
        ),
        (
            format!(
                "      - op: add\n        path: {ARGUMENTS}\n        valueFrom:\n          template: |\n            a: \"{{{{ .v }}}}\"\n"
            ),
            format!(
                "      - op: add\n        path: {ARGUMENTS}\n        valueFrom:\n          template: |\n            - name: a\n              value: \"{{{{ .v }}}}\"\n"
            ),
        ),
        (
            format!(
                "      - op: replace\n        path: {SPEC}/rolloutStrategy/rollingUpdate/maxSurge\n        value: 0\n"
            ),
            format!(
                "      - op: replace\n        path: {SPEC}/rollout/strategy/rollingUpdate/maxSurge\n        value: 0\n"
            ),
        ),
        (
            format!(
                "      - op: add\n        path: {SPEC}/kubeadmConfigSpec/files/-\n        value: {{path: /a}}\n"
            ),
            format!(
                "      - op: add\n        path: {SPEC}/kubeadmConfigSpec/files/-\n        value: {{path: /a}}\n"
            ),
        ),
    ];
    for (old, new) in cases {
        let (old, new) = (
            class("v1beta1", "ref", &old),
            class("v1beta2", "templateRef", &new),
        );
        let (there, findings) = migrated_beside(&old, CONTROL_PLANE, NEW);
        assert_eq!((there.as_str(), told(&findings)), (new.as_str(), vec![]));
        let (back, findings) = migrated(&new, OLD);
        assert_eq!(told(&findings), []);
        // A value in lines of its own is not known to have been one.
        assert_eq!(back.replace('"', ""), old.replace('"', ""));
    }
}

/// The line end of the last line is part of a template; a comment behind the sign stays.
#[test]
fn templates_stay_in_lines_of_every_kind() {
    let of = |version: &str, reference: &str, place: &str, above: &str, lines: [&str; 2]| {
        let lines: String = lines
            .iter()
            .filter(|line| !line.is_empty())
            .map(|line| format!("            {line}\n"))
            .collect();
        let patch = format!(
            "      - op: add\n        path: {ARGUMENTS}{place}\n        valueFrom:\n          template: {above}\n{lines}"
        );
        class(version, reference, &patch)
    };
    let one = ["{{ .v }}", ""];
    let item = ["name: x", "value: {{ .v }}"];
    for (old_sign, new_sign) in [
        ("|", "|"),
        ("| # why", "| # why"),
        ("|-", "|-"),
        ("|2-   # why", "|-   # why"),
        ("|+", "|"),
        (">", "|"),
        (">- # | why", "|- # | why"),
        ("!!str >2", "!!str |"),
    ] {
        let old = of("v1beta1", "ref", "/x", old_sign, one);
        let new = of("v1beta2", "templateRef", "/-", new_sign, item);
        assert_eq!(
            migrated_beside(&old, CONTROL_PLANE, NEW),
            (new.clone(), vec![]),
            "{old_sign}"
        );
        assert_eq!(
            migrated(&new, OLD).0,
            of("v1beta1", "ref", "/x", new_sign, one),
            "{new_sign}"
        );
    }
    // A tab would not be seen.
    let (tab, _) = migrated_beside(
        &of("v1beta1", "ref", "/x", "|", ["{{\t.v }}", ""]),
        CONTROL_PLANE,
        NEW,
    );
    assert!(
        tab.ends_with("          template: \"name: x\\nvalue: {{\\t.v }}\\n\"\n"),
        "{tab}"
    );
    let old = of("v1beta1", "ref", "", "|-", ["a: \"{{ .x }}\"", ""]);
    let new = of(
        "v1beta2",
        "templateRef",
        "",
        "|-",
        ["- name: a", "  value: \"{{ .x }}\""],
    );
    assert_eq!(migrated(&old, NEW), (new.clone(), vec![]));
    assert_eq!(migrated(&new, OLD), (old, vec![]));
}

/// What becomes another type than a text leaves no lines behind.
#[test]
fn durations_in_lines_become_numbers() {
    let text = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Machine\nmetadata: {name: m}\nspec:\n  nodeDrainTimeout: >- # long\n    10m\n";
    let expected = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: {name: m}\nspec:\n  deletion:\n    nodeDrainTimeoutSeconds: 600 # long\n";
    assert_eq!(migrated(text, NEW), (expected.to_owned(), vec![]));
}

/// As the API server has it: a template of control planes may lack its spec beside metadata, and
/// may not be empty.
#[test]
fn a_control_plane_template_whose_config_says_nothing_has_no_spec() {
    let of = |template: &str| {
        format!(
            "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlaneTemplate\nmetadata: {{name: t}}\nspec:\n  template:\n{template}"
        )
    };
    let text = of("    metadata:\n      labels: {a: b}\n    spec:\n      kubeadmConfigSpec: {}\n");
    let expected = of("    metadata:\n      labels: {a: b}\n").replace("v1beta1", "v1beta2");
    let (after, findings) = migrated(&text, NEW);
    assert_eq!(
        (&after, told(&findings)),
        (&expected, vec![("migrate-empty-dropped", 9)])
    );
    let (back, findings) = migrated(&expected, OLD);
    assert_eq!(
        (back, told(&findings)),
        (
            of("    metadata:\n      labels: {a: b}\n    spec: {kubeadmConfigSpec: {}}\n"),
            vec![("migrate-empty-added", 5)]
        )
    );
    // A template without other content gets the default format.
    for (template, config) in [
        (
            "    spec:\n      kubeadmConfigSpec: {}\n",
            json!({"spec": {"kubeadmConfigSpec": {"format": "cloud-config"}}}),
        ),
        (
            "    metadata: {}\n",
            json!({"spec": {"kubeadmConfigSpec": {"format": "cloud-config"}}}),
        ),
    ] {
        let (after, findings) = migrated(&of(template), NEW);
        let after = documents(after.as_bytes()).remove(0);
        assert_eq!(after["spec"]["template"], config);
        assert!(
            told(&findings)
                .iter()
                .any(|(rule, _)| *rule == "migrate-empty-added")
        );
    }
}

/// v1beta1 wants the config of a whole control plane; a part of one, such as a patch of kustomize,
/// gets nothing that it has not.
#[test]
fn a_whole_control_plane_has_a_config_in_v1beta1() {
    let of = |version: &str, spec: &str| {
        format!(
            "apiVersion: controlplane.cluster.x-k8s.io/{version}\nkind: KubeadmControlPlane\nmetadata: {{name: c}}\nspec:\n  version: v1.34.0\n{spec}"
        )
    };
    let machines = "  machineTemplate: {metadata: {labels: {a: b}}}\n";
    let (text, findings) = migrated(&of("v1beta2", machines), OLD);
    assert_eq!(
        (text, told(&findings)),
        (
            of("v1beta1", &format!("{machines}  kubeadmConfigSpec: {{}}\n")),
            vec![("migrate-empty-added", 4)]
        )
    );
    assert_eq!(
        migrated(&of("v1beta2", ""), OLD),
        (of("v1beta1", ""), vec![])
    );
}

/// In v1beta1 the API server takes `{}` for a reference; where v1beta2 needs none it is none.
#[test]
fn an_empty_reference_is_left_out_where_none_is_needed() {
    let of = |version: &str, kind: &str, spec: &str| {
        format!("apiVersion: cluster.x-k8s.io/{version}\nkind: {kind}\nspec:\n{spec}")
    };
    for (kind, reference, line) in [
        ("Machine", "  bootstrap:\n    configRef: {}\n", 6),
        ("Cluster", "  controlPlaneRef: {}\n", 5),
    ] {
        let (text, findings) = migrated(
            &of("v1beta1", kind, &format!("  clusterName: c\n{reference}")),
            NEW,
        );
        assert!(!text.contains("Ref") && text.contains("v1beta2"), "{text}");
        assert_eq!(told(&findings), [("migrate-empty-dropped", line)]);
    }
    let text = of("v1beta1", "Machine", "  infrastructureRef: {}\n");
    let (after, findings) = migrated(&text, NEW);
    assert_eq!(
        (after, told(&findings)),
        (text, vec![("migrate-not-converted", 4)])
    );
}
