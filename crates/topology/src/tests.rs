//! Unhappy ways and bounds. That sound ones are Cluster API's is held against its own engine
//! elsewhere.

use super::*;
use windlass_objects::Pool;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Severity};

const EXAMPLE: &str = include_str!("../../../examples/topology/harbour.yaml");

fn planned_of(text: &str, options: &Options, budget: &Budget) -> Planned {
    let (pool, report) = Pool::read(&[Source::new("t.yaml", text)], budget);
    assert!(!report.has_errors(), "{report:?}");
    plan(&pool, options, budget)
}

fn planned(text: &str) -> Planned {
    planned_of(text, &Options::default(), &Budget::default())
}

/// The example with one thing changed.
fn changed(from: &str, to: &str) -> String {
    assert!(EXAMPLE.contains(from), "{from}");
    EXAMPLE.replacen(from, to, 1)
}

fn only(planned: &Planned) -> &Diagnostic {
    let findings = planned.report.findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    &findings[0]
}

/// Rule, line and a word of the message.
fn check(text: &str, rule: &str, line: Option<u32>, word: &str) {
    let planned = planned(text);
    let finding = only(&planned);
    assert_eq!(
        (
            finding.rule.id,
            finding.place.span.map(|span| span.start.line)
        ),
        (rule, line),
        "{finding:?}"
    );
    assert!(finding.message.contains(word), "{finding:?}");
    assert!(planned.objects.is_empty() || finding.rule.severity != Severity::Error);
}

fn line_of(text: &str, what: &str) -> Option<u32> {
    let before = &text[..text.find(what).unwrap()];
    u32::try_from(before.matches('\n').count() + 1).ok()
}

#[test]
fn the_example_is_planned() {
    let planned = planned(EXAMPLE);
    assert!(planned.report.is_empty(), "{:?}", planned.report);
    let kinds: Vec<&str> = planned
        .objects
        .iter()
        .map(|desired| desired.object["kind"].as_str().unwrap())
        .collect();
    let expected = [
        "Cluster",
        "DockerCluster",
        "KubeadmControlPlane",
        "DockerMachineTemplate",
        "MachineDeployment",
        "WindlassConfigTemplate",
        "DockerMachineTemplate",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn what_is_missing_is_named() {
    check(
        "kind: List\napiVersion: v1\nitems: []\n",
        "topology-cluster-missing",
        None,
        "no Cluster",
    );
    let text = changed("classRef: {name: harbour}", "classRef: {name: haven}");
    check(
        &text,
        "topology-class-missing",
        line_of(&text, "{name: haven}"),
        "ClusterClass/haven",
    );
    let text = changed(
        "kind: DockerClusterTemplate\nmetadata:\n  name: harbour",
        "kind: DockerClusterTemplate\nmetadata:\n  name: other",
    );
    check(
        &text,
        "topology-template-missing",
        line_of(&text, "templateRef"),
        "DockerClusterTemplate/harbour",
    );
    // The schema requires the name.
    let text = changed("classRef: {name: harbour}", "classRef: {}");
    assert_eq!(
        planned(&text).report.findings()[0].rule.id,
        "topology-cluster-rejected"
    );
}

#[test]
fn two_clusters_are_both_planned() {
    let cluster = EXAMPLE.rsplit("---\n").next().unwrap();
    let both = format!(
        "{EXAMPLE}---\n{}",
        cluster.replace("name: pier", "name: quay")
    );
    let all = planned(&both);
    assert!(all.report.is_empty(), "{:?}", all.report);
    let clusters: std::collections::BTreeSet<&str> = all
        .objects
        .iter()
        .map(|desired| desired.cluster.as_str())
        .collect();
    assert_eq!(clusters.into_iter().collect::<Vec<_>>(), ["pier", "quay"]);
    // The class is checked once, and one Cluster's fault does not hide the other.
    let text = both
        .replace("name: quay", "name: quay\n  labels: {}")
        .replacen("version: v1.36.0", "version: latest", 1);
    let half = planned(&text);
    assert_eq!(only(&half).rule.id, "topology-cluster-rejected");
    assert!(
        half.objects.iter().all(|desired| desired.cluster == "quay") && half.objects.len() == 7
    );
}

#[test]
fn patches_that_fail_are_told_at_their_place() {
    let text = changed(
        "kubeadmConfigSpec/clusterConfiguration/imageRepository",
        "kubeadmConfigSpec/nothing/x",
    );
    check(
        &text,
        "topology-patch-fails",
        line_of(&text, "/spec/template/spec/kubeadmConfigSpec/nothing/x"),
        "does not apply",
    );
    let text = changed(
        "valueFrom: {variable: registry}",
        "valueFrom: {template: \"{{ .registry.x }}\"}",
    );
    check(
        &text,
        "topology-patch-fails",
        line_of(&text, "{{ .registry.x }}"),
        "can't evaluate field x",
    );
    let text = changed(
        "valueFrom: {variable: registry}",
        "valueFrom: {template: \"{{ randInt 1 2 }}\"}",
    );
    check(
        &text,
        "topology-template-unsupported",
        line_of(&text, "{{ randInt"),
        "`randInt`",
    );
    let text = changed(
        "valueFrom: {variable: registry}",
        "valueFrom: {variable: \"registry.a\"}",
    );
    check(
        &text,
        "topology-patch-fails",
        line_of(&text, "registry.a"),
        "registry.a",
    );
    let text = changed(
        "jsonPatches:\n      - op: add",
        "jsonPatches:\n      - op: move",
    );
    check(
        &text,
        "topology-class-rejected",
        line_of(&text, "op: move"),
        "Unsupported value: \"move\"",
    );
}

#[test]
fn values_are_judged() {
    let text = changed("value: 1024", "value: -1");
    check(
        &text,
        "topology-variable-rejected",
        line_of(&text, "value: -1"),
        "should be greater than or equal to 0",
    );
    let text = changed("value: registry.example/k8s", "value: 5");
    check(
        &text,
        "topology-variable-rejected",
        line_of(&text, "value: 5"),
        "must be of type string",
    );
    let text = changed(
        "    - {name: registry, value: registry.example/k8s}\n",
        "    - {name: hugePages, value: 1}\n",
    );
    check(
        &text,
        "topology-variable-rejected",
        line_of(&text, "    - {name: hugePages, value: 1}"),
        "\"registry\" must be set",
    );
}

/// In Cluster API's words, at the field.
#[test]
fn webhooks_judge_rollouts_health_checks_and_replicas() {
    let class = "    - class: worker\n      bootstrap:";
    let with = |more: &str| {
        changed(
            class,
            &format!("    - class: worker\n{more}      bootstrap:"),
        )
    };
    let text = with(
        "      rollout: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}}\n",
    );
    check(
        &text,
        "topology-class-rejected",
        line_of(&text, "rollingUpdate: {"),
        "maxUnavailable and maxSurge cannot both be 0",
    );
    let text =
        with("      rollout: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: many}}}\n");
    check(
        &text,
        "topology-class-rejected",
        line_of(&text, "maxSurge: many"),
        "invalid type: string is not a percentage",
    );
    let text = with("      healthCheck: {checks: {nodeStartupTimeoutSeconds: 5}}\n");
    check(
        &text,
        "topology-class-rejected",
        line_of(&text, "nodeStartupTimeoutSeconds"),
        "Invalid value: 5: must be at least 30s",
    );
    let text = with("      healthCheck: {remediation: {maxInFlight: a%}}\n");
    check(
        &text,
        "topology-class-rejected",
        line_of(&text, "maxInFlight"),
        "parsing \"a\": invalid syntax",
    );
    let sound = with(
        "      healthCheck: {checks: {nodeStartupTimeoutSeconds: 0}, remediation: {maxInFlight: 20%}}\n",
    );
    assert!(
        planned(&sound).report.is_empty(),
        "{:?}",
        planned(&sound).report
    );
    let annotation =
        "{annotations: {cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: \"1\"}}";
    let text = changed(
        "        replicas: 2\n",
        &format!("        replicas: 2\n        metadata: {annotation}\n"),
    );
    check(
        &text,
        "topology-cluster-rejected",
        line_of(&text, "replicas: 2"),
        "same MachineDeploymentTopology has autoscaler annotations",
    );
    let text = with(&format!("      metadata: {annotation}\n"));
    check(
        &text,
        "topology-cluster-rejected",
        line_of(&text, "replicas: 2"),
        "source class \"worker\"",
    );
    assert!(
        planned(&text.replacen("        replicas: 2\n", "", 1))
            .report
            .is_empty()
    );
    let text = changed(
        "kind: WindlassConfigTemplate, name: harbour-worker",
        "kind: WindlassConfig, name: harbour-worker",
    );
    let rejected = planned(&text);
    assert!(
        rejected.report.findings()[0]
            .message
            .contains("template kind must be of form"),
        "{:?}",
        rejected.report
    );
}

#[test]
fn a_patch_for_nothing_is_told_and_changes_nothing() {
    let text = changed(
        "      - class: worker\n        name: gpu",
        "      - class: other\n        name: gpu",
    );
    assert_eq!(
        planned(&text).report.findings()[0].rule.id,
        "topology-cluster-rejected"
    );
    let workers = EXAMPLE
        .find("    workers:\n      machineDeployments:\n      - class: worker\n        name: gpu")
        .unwrap();
    let variables = workers
        + EXAMPLE[workers..]
            .find("    variables:\n    - {name")
            .unwrap();
    let text = format!("{}{}", &EXAMPLE[..workers], &EXAMPLE[variables..]);
    let planned = planned(&text);
    assert_eq!(
        (only(&planned).rule.id, planned.objects.len()),
        ("topology-patch-unused", 4)
    );
}

#[test]
fn external_patches_are_named_and_not_applied() {
    let external =
        "  patches:\n  - name: other\n    external: {generatePatchesExtension: generate.example}\n";
    let text = changed("  patches:\n", external);
    check(
        &text,
        "topology-patch-external",
        line_of(&text, "external:"),
        "runtime extension",
    );
    let allowed = planned_of(
        &text,
        &Options {
            allows_external: true,
            ..Options::default()
        },
        &Budget::default(),
    );
    assert_eq!(allowed.objects.len(), 7);
    assert_eq!(only(&allowed).rule.id, "topology-patch-external");
}

/// The API server fills in what a CRD has a default for, before any patch sees the template.
#[test]
fn templates_have_the_defaults_of_their_crds() {
    let text = changed(
        "      - op: add\n        path: /spec/template/spec/files/-",
        "      - op: replace\n        path: /spec/template/spec/onFailure",
    );
    assert_eq!(only(&planned(&text)).rule.id, "topology-patch-fails");
    let spec = serde_json::json!({"type": "object", "properties": {"onFailure": {"type": "string", "default": "Report"}}});
    let template = serde_json::json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"template": {
        "type": "object", "properties": {"spec": spec}}}}}});
    let crd = serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "windlassconfigtemplates.bootstrap.windlass.dev"},
        "spec": {"versions": [
            {"name": "v1beta1", "schema": {"openAPIV3Schema": {"type": "object"}}}, {"name": "v1beta2", "schema": {"openAPIV3Schema": template}},
        ]},
    });
    let planned = planned(&format!("{text}\n---\n{crd}\n"));
    assert!(planned.report.is_empty(), "{:?}", planned.report);
    let worker = planned
        .objects
        .iter()
        .find(|desired| desired.topology.as_deref() == Some("md/gpu"))
        .unwrap();
    assert_eq!(
        worker.object["spec"]["template"]["spec"]["onFailure"]["path"],
        "/etc/sysctl.d/90-huge-pages.conf"
    );
}

#[test]
fn crds_that_say_nothing_of_defaults_are_told_once() {
    let crd = |version: &str, schema: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: windlassconfigtemplates.bootstrap.windlass.dev}}\n\
             spec: {{versions: [{{name: {version}, schema: {{openAPIV3Schema: {schema}}}}}]}}\n"
        )
    };
    let another = "apiVersion: bootstrap.windlass.dev/v1beta2\nkind: WindlassConfigTemplate\nmetadata: {name: another}\nspec: {}\n";
    for (version, schema, expected) in [
        (
            "v1alpha1",
            "{type: object}",
            "CRD windlassconfigtemplates.bootstrap.windlass.dev has no version v1beta2",
        ),
        (
            "v1beta2",
            "{type: many}",
            "the schema of CRD windlassconfigtemplates.bootstrap.windlass.dev cannot be read",
        ),
    ] {
        let planned = planned(&format!(
            "{EXAMPLE}\n---\n{another}---\n{}",
            crd(version, schema)
        ));
        let finding = only(&planned);
        assert_eq!(finding.rule.id, "topology-defaults-unknown");
        assert!(finding.message.starts_with(expected), "{}", finding.message);
        assert_eq!(
            finding.place.span.map(|span| span.start.line),
            line_of(
                EXAMPLE,
                "apiVersion: bootstrap.windlass.dev/v1beta2\nkind: WindlassConfigTemplate"
            )
        );
        assert_eq!(planned.objects.len(), 7);
    }
}

#[test]
fn numbers_that_clusterctl_has_not_put_there_are_told_how() {
    for replicas in ["\"2\"", "${WORKER_MACHINE_COUNT}"] {
        let rejected = planned(&changed("replicas: 2", &format!("replicas: {replicas}")));
        let finding = only(&rejected);
        assert_eq!(finding.rule.id, "topology-cluster-rejected");
        assert!(
            finding
                .help
                .as_ref()
                .is_some_and(|help| help.to_string().contains("windlass generate cluster")),
            "{finding:?}"
        );
    }
}

/// The API server drops a null, and what is made of a template without a `spec` has none either.
#[test]
fn templates_without_a_spec_give_none() {
    let head = "kind: DockerMachineTemplate\nmetadata:\n  name: harbour\n";
    for spec in ["", "spec: null\n"] {
        let text = changed(
            &format!("{head}spec:\n  template: {{spec: {{}}}}\n"),
            &format!("{head}{spec}"),
        );
        let (before, patches) = text.split_once("  patches:\n").unwrap();
        let planned = planned(&format!(
            "{before}---\n{}",
            patches.split_once("---\n").unwrap().1
        ));
        let made: Vec<_> = planned
            .objects
            .iter()
            .filter(|desired| desired.object["kind"] == "DockerMachineTemplate")
            .collect();
        assert_eq!(made.len(), 2);
        assert!(
            made.iter()
                .all(|desired| desired.object.get("spec").is_none()),
            "{made:?}"
        );
    }
}

/// A class that a Cluster uses has its templates; by itself it may be a patch for one.
#[test]
fn classes_that_are_used_have_their_templates() {
    let text = changed(
        "    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerClusterTemplate, name: harbour}\n",
        "",
    );
    let rejected = planned(&text.replacen("  infrastructure:\n", "  infrastructure: {}\n", 1));
    assert_eq!(
        (only(&rejected).rule.id, &*only(&rejected).message),
        (
            "topology-class-rejected",
            "spec.infrastructure.templateRef: Required value"
        )
    );
}

/// What the webhook of Clusters rejects first stops the controller too.
#[test]
fn a_class_of_machines_that_is_not_there_stops_the_controller() {
    let text = changed(
        "      - class: worker\n        name: gpu",
        "      - class: other\n        name: gpu",
    );
    let planned = planned_of(
        &text,
        &Options {
            skips_admission: true,
            ..Options::default()
        },
        &Budget::default(),
    );
    let finding = only(&planned);
    assert_eq!(
        (
            finding.rule.id,
            finding.place.span.map(|span| span.start.line)
        ),
        (
            "topology-machine-class-unknown",
            line_of(&text, "class: other")
        )
    );
    assert!(
        finding
            .upstream
            .as_ref()
            .unwrap()
            .ends_with("MachineDeployment class other not found in ClusterClass default/harbour")
    );
}

/// Whatever has the wrong type counts as absent, or is rejected; nothing panics.
#[test]
fn wrong_types_are_no_end() {
    for (from, to) in [
        ("controlPlane: {replicas: 3}", "controlPlane: 7"),
        ("  patches:\n", "  patches: 5\n  others:\n"),
        (
            "  variables:\n  - name: hugePages",
            "  variables: x\n  others:\n  - name: hugePages",
        ),
        (
            "openAPIV3Schema: {type: integer, minimum: 0, default: 0}",
            "openAPIV3Schema: [1]",
        ),
        (
            "      machineDeployments:\n      - class: worker\n        name: gpu",
            "      machineDeployments: {}\n      others:\n      - class: worker\n        name: gpu",
        ),
        ("jsonPatches:\n", "jsonPatches: 1\n      others:\n"),
        ("matchResources: {controlPlane: true}", "matchResources: []"),
        ("  template: {spec: {}}", "  template: x"),
        (
            "spec:\n  template:\n    spec:\n      kubeadmConfigSpec:\n        clusterConfiguration: {}",
            "spec: 5",
        ),
        (
            "enabledIf: \"{{ gt (int .hugePages) 0 }}\"",
            "enabledIf: {}",
        ),
    ] {
        let planned = planned(&changed(from, to));
        assert!(
            !planned.report.is_empty() || !planned.objects.is_empty(),
            "{to}"
        );
    }
}

#[test]
fn work_is_bounded() {
    let bomb = "{{ range until 500000 }}{{ range until 500000 }}x{{ end }}{{ end }}";
    let text = changed(
        "valueFrom: {variable: registry}",
        &format!("valueFrom: {{template: \"{bomb}\"}}"),
    );
    let planned = planned_of(&text, &Options::default(), &Budget::of(1 << 22));
    assert_eq!(only(&planned).rule.id, "topology-template-unsupported");
    // A patch that doubles a list again and again.
    let operation = "      - op: add\n        path: /spec/template/spec/kubeadmConfigSpec/clusterConfiguration/imageRepository\n";
    let many = operation.to_owned()
        + "        value: x\n"
        + &(operation.to_owned() + "        value: y\n").repeat(80);
    let text = changed(
        &format!("{operation}        valueFrom: {{variable: registry}}\n"),
        &many,
    );
    let planned = planned_of(&text, &Options::default(), &Budget::of(4_000));
    assert!(
        planned.report.has_errors() && planned.objects.is_empty(),
        "{:?}",
        planned.report
    );
}

#[test]
fn variables_are_listed_with_their_uses() {
    let (pool, _) = Pool::read(&[Source::new("t.yaml", EXAMPLE)], &Budget::default());
    let (variables, report) = variables_of(&pool);
    assert!(report.is_empty());
    let listed: Vec<_> = variables
        .iter()
        .map(|variable| {
            (
                variable.name.as_str(),
                variable.required,
                variable.uses.len(),
            )
        })
        .collect();
    assert_eq!(listed, [("hugePages", false, 2), ("registry", true, 1)]);
    assert_eq!(variables[0].uses[0].path, None, "that of enabledIf");
    assert_eq!(
        variables[1].uses[0].line,
        line_of(EXAMPLE, "valueFrom: {variable: registry}")
    );
    let (_, report) = variables_of(&Pool::default());
    assert_eq!(report.findings()[0].rule.id, "topology-class-none");
}

/// A long template in many MachineDeployments is as much as the product of both.
#[test]
fn what_a_run_holds_is_bounded() {
    let worker = "      - {class: worker, name: NAME}\n";
    let many: String = (0..200)
        .map(|at| worker.replace("NAME", &format!("md-{at}")))
        .collect();
    let begin = "      - class: worker\n        name: gpu\n";
    let text = changed(begin, &format!("{many}{begin}")).replace(
        "content: \"harbour\\n\"",
        &format!("content: \"{}\"", "x".repeat(10_000)),
    );
    let small = Budget::default().with(windlass_source::budget::Resource::Copies, 1 << 20);
    let planned = planned_of(&text, &Options::default(), &small);
    assert_eq!(
        (only(&planned).rule.id, planned.objects.len()),
        ("topology-size-exceeded", 0)
    );
    assert_eq!(
        planned_of(&text, &Options::default(), &Budget::default())
            .objects
            .len(),
        4 + 201 * 3
    );
}

/// What differs between the example and itself with one thing changed: effect, kind, the first
/// field.
fn changes_of(from: &str, to: &str) -> Vec<(Effect, String, String)> {
    let (old, new) = (planned(EXAMPLE), planned(&changed(from, to)));
    assert!(new.report.is_empty(), "{:?}", new.report);
    let row = |change: Changed| {
        (
            change.effect,
            change.kind,
            change.paths.into_iter().next().unwrap_or_default(),
        )
    };
    against(&old.objects, &new.objects)
        .into_iter()
        .map(row)
        .collect()
}

#[test]
fn what_a_change_does_is_told() {
    let check = |from: &str, to: &str, expected: &[(Effect, &str, &str)]| {
        let expected: Vec<_> = expected
            .iter()
            .map(|(effect, kind, path)| (*effect, (*kind).to_owned(), (*path).to_owned()))
            .collect();
        assert_eq!(changes_of(from, to), expected, "{to}");
    };
    check("replicas: 2", "replicas: 2", &[]);
    let topology = "spec.topology.workers.machineDeployments[0]";
    check(
        "replicas: 2",
        "replicas: 5",
        &[
            (Effect::InPlace, "Cluster", &format!("{topology}.replicas")),
            (Effect::InPlace, "MachineDeployment", "spec.replicas"),
        ],
    );
    // The variable changes a template, which gets a successor, so machines are replaced.
    check(
        "value: 1024",
        "value: 2048",
        &[
            (
                Effect::InPlace,
                "Cluster",
                &format!("{topology}.variables.overrides[0].value"),
            ),
            (Effect::RollsOut, "MachineDeployment", ""),
            (
                Effect::Rotated,
                "WindlassConfigTemplate",
                "spec.template.spec.files[1].content",
            ),
        ],
    );
    check(
        "value: registry.example/k8s",
        "value: mirror.example/k8s",
        &[
            (
                Effect::InPlace,
                "Cluster",
                "spec.topology.variables[0].value",
            ),
            (
                Effect::RollsOut,
                "KubeadmControlPlane",
                "spec.kubeadmConfigSpec.clusterConfiguration.imageRepository",
            ),
        ],
    );
    let renamed: Vec<Effect> = changes_of("        name: gpu", "        name: cpu")
        .into_iter()
        .map(|(effect, ..)| effect)
        .collect();
    let (created, removed) = (Effect::Created, Effect::Removed);
    assert_eq!(
        renamed,
        [
            Effect::InPlace,
            created,
            created,
            created,
            removed,
            removed,
            removed
        ]
    );
}

/// The default names are those that these templates of Cluster API give
/// (`internal/topology/names`), also when they are cut.
#[test]
fn names_are_those_of_the_default_templates() {
    let budget = Budget::default();
    for cluster in [
        "pier",
        "a-name-of-a-cluster-that-is-quite-long-and-still-one-for-dns-1",
    ] {
        let template = "{{ .cluster.name }}-{{ .random }}";
        assert_eq!(
            names::generated("", cluster, None, &budget),
            names::generated(template, cluster, None, &budget)
        );
        for kind in ["machineDeployment", "machinePool"] {
            let template =
                format!("{{{{ .cluster.name }}}}-{{{{ .{kind}.topologyName }}}}-{{{{ .random }}}}");
            let own = Some((kind, "gpu"));
            assert_eq!(
                names::generated("", cluster, own, &budget),
                names::generated(&template, cluster, own, &budget)
            );
        }
    }
    assert_eq!(
        names::generated("", "pier", Some(("machinePool", "gpu")), &budget).as_deref(),
        Ok("pier-gpu-xxxxx")
    );
}

/// Taints are rejected by Cluster API while its gate is off, and taken while it is on: they are
/// planned with a warning.
#[test]
fn taints_are_warned_of() {
    let taint = "{key: own, effect: NoExecute, propagation: Always}";
    let text = changed(
        "        replicas: 2\n",
        &format!("        replicas: 2\n        taints: [{taint}]\n"),
    );
    check(
        &text,
        "topology-taints-gated",
        line_of(&text, "taints: ["),
        "MachineTaintPropagation",
    );
    let planned = planned(&text);
    let deployment = planned
        .objects
        .iter()
        .find(|desired| desired.object["kind"] == "MachineDeployment")
        .unwrap();
    assert_eq!(
        deployment.object["spec"]["template"]["spec"]["taints"][0]["key"],
        "own"
    );
    let of_class = changed(
        "    - class: worker\n      bootstrap",
        &format!("    - class: worker\n      taints: [{taint}]\n      bootstrap"),
    );
    check(
        &of_class,
        "topology-taints-gated",
        line_of(&of_class, "taints: ["),
        "MachineTaintPropagation",
    );
}

/// `minProperties: 1` of these fields in the CRD of core v1beta2; v1beta1 has none.
#[test]
fn parts_that_hold_nothing_are_warned_of() {
    let text = changed(
        "    controlPlane: {replicas: 3}\n",
        "    controlPlane: {}\n",
    );
    check(
        &text,
        "topology-part-empty",
        line_of(&text, "controlPlane: {}"),
        "`spec.topology.controlPlane` holds nothing",
    );
    let old = text.replace(
        "cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata:\n  name: pier",
        "cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata:\n  name: pier",
    );
    let old = old.replace("classRef: {name: harbour}", "class: harbour");
    assert!(
        old.contains("class: harbour") && planned(&old).report.is_empty(),
        "{:?}",
        planned(&old).report
    );
}

/// Names are cut after 58 characters: what tells two MachineDeployments apart is then what Cluster
/// API draws.
#[test]
fn namesakes_are_told() {
    let name = "a-cluster-with-a-name-that-leaves-no-room-for-those-of-its-own";
    let worker = "      - class: worker\n        name: gpu\n";
    let more = format!("      - {{class: worker, name: other}}\n{worker}");
    let text = EXAMPLE
        .replace("name: pier", &format!("name: {name}"))
        .replace(worker, &more);
    let planned = planned(&text);
    let finding = only(&planned);
    assert_eq!(
        (
            finding.rule.id,
            finding.place.span.map(|span| span.start.line)
        ),
        ("topology-namesakes", line_of(&text, name))
    );
    assert!(
        finding
            .message
            .contains(&format!("DockerMachineTemplate/{}xxxxx", &name[..58])),
        "{finding:?}"
    );
    assert_eq!(planned.objects.len(), 10);
}

/// What v1beta1 has in a strategy core v1beta2 has elsewhere
/// (`Convert_v1beta1_MachineDeploymentTopology_To_v1beta2_…` of `conversion.go`).
#[test]
fn strategies_of_v1beta1_are_converted() {
    let strategy = "strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 2, maxUnavailable: 0, deletePolicy: Oldest}, \
                    remediation: {maxInFlight: 3}}";
    let text = changed(
        "        replicas: 2\n",
        &format!("        replicas: 2\n        {strategy}\n"),
    );
    let text = text.replace(
        "cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata:\n  name: pier",
        "cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata:\n  name: pier",
    );
    let text = text.replace("classRef: {name: harbour}", "class: harbour");
    let planned = planned(&text);
    let deployment = planned
        .objects
        .iter()
        .find(|desired| desired.object["kind"] == "MachineDeployment")
        .expect("it is planned");
    let spec = &deployment.object["spec"];
    let rollout = serde_json::json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}});
    assert_eq!(spec["rollout"], rollout);
    assert_eq!(
        (
            &spec["deletion"]["order"],
            &spec["remediation"]["maxInFlight"]
        ),
        (&"Oldest".into(), &3.into())
    );
}

/// Clusters are planned on all cores, and each comes out as by itself, in the order of the input.
#[test]
fn clusters_are_planned_as_each_by_itself() {
    let (class, cluster) = EXAMPLE.rsplit_once("\n---\n").unwrap();
    let named = |at: usize| cluster.replacen("name: pier", &format!("name: pier-{at}"), 1);
    let all: String = (0..40).map(|at| format!("\n---\n{}", named(at))).collect();
    let together = planned(&format!("{class}{all}"));
    let alone: Vec<serde_json::Value> = (0..40)
        .flat_map(|at| planned(&format!("{class}\n---\n{}", named(at))).objects)
        .map(|desired| desired.object)
        .collect();
    assert_eq!(
        together
            .objects
            .into_iter()
            .map(|desired| desired.object)
            .collect::<Vec<_>>(),
        alone
    );
    assert_eq!(alone.len(), 40 * 7);
}
