//! Each switch of the switchable provider violates a rule, whose check fails.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::{file, option, samples};
use crate::harness::components;
use crate::harness::control_plane::ControlPlane;
use crate::harness::process::Start;
use crate::harness::runner::Context;
use crate::harness::wait;
use crate::harness::windlass_conformance::{self as program, report, verdicts};

/// The number of runs at once.
const AT_ONCE: usize = 4;

/// Switch, checks that fail, and checks that are not covered because they build on what fails.
const SWITCHES: &[(&str, &[&str], &[&str])] = &[
    ("annotation-lifts-immutability", &["template-dry-run"], &[]),
    ("bad-condition", &["condition-fields"], &[]),
    ("completion-before-name", &["name-with-completion"], &[]),
    ("forgets-restored", &["status-is-rebuilt"], &[]),
    ("hides-pause", &["paused-condition"], &[]),
    ("ignores-annotation", &["paused-by-annotation"], &[]),
    ("ignores-paused-cluster", &["paused-by-cluster"], &[]),
    ("ignores-pools", &["machine-pool"], &[]),
    ("ignores-rejection", &["rejected-secret"], &[]),
    ("keeps-failure", &["failure-is-cleared"], &[]),
    ("keeps-finalizer", &["deletion"], &[]),
    ("leaks-secret", &["no-secrets-in-messages"], &[]),
    ("leaves-owner-lost", &["owner-is-restored"], &[]),
    ("loops-on-failure", &["invalid-is-reported"], &[]),
    ("needs-no-cluster", &["waits-for-cluster"], &[]),
    ("needs-no-endpoint", &["late-endpoint"], &[]),
    (
        "needs-no-infrastructure",
        &["waits-for-infrastructure"],
        &[],
    ),
    ("needs-no-owner", &["waits-for-owner"], &[]),
    ("never-ready", &["ready-condition"], &[]),
    (
        "no-completion",
        &["data-secret-created"],
        &[
            "name-with-completion",
            "ready-condition",
            "paused-by-cluster",
            "move",
            "idempotent",
        ],
    ),
    ("no-conditions", &["conditions", "ready-condition"], &[]),
    (
        "no-controller",
        &["controller-reference"],
        &["owner-is-restored"],
    ),
    ("no-label", &["cluster-name-label"], &[]),
    (
        "no-name",
        &["data-secret-name"],
        &[
            "secret-in-namespace",
            "waits-for-owner",
            "name-is-computed",
            "deletion",
        ],
    ),
    ("no-sentinel", &["sentinel-file"], &[]),
    ("null-value", &["key-value"], &[]),
    ("opaque-type", &["secret-type"], &[]),
    (
        "other-key",
        &["key-value"],
        &[
            "sentinel-file",
            "no-secrets-in-messages",
            "existing-secret-is-kept",
        ],
    ),
    ("owner-later", &["owner-from-first-write"], &[]),
    ("random-name", &["name-is-computed"], &[]),
    ("regenerates", &["existing-secret-is-kept"], &[]),
    ("regenerates-after-move", &["move"], &[]),
    ("regenerates-on-labels", &["metadata-changes"], &[]),
    ("regenerates-on-spec", &["spec-changes"], &[]),
    ("rejects-dry-run", &["template-dry-run"], &[]),
    ("rewrites", &["idempotent"], &[]),
    ("sets-owner", &["waits-for-owner"], &[]),
    (
        "silent-failure",
        &["invalid-is-reported"],
        &["failure-is-cleared"],
    ),
    (
        "sleeps-on-clusters",
        &["wakes-after-pause", "late-endpoint"],
        &[],
    ),
    ("status-first", &["secret-before-status"], &[]),
    ("taints-control-plane", &["uninitialized-taint"], &[]),
    ("trusts-conditions", &["forged-conditions"], &[]),
    ("two-inits", &["one-init"], &[]),
    ("worker-first", &["worker-waits"], &[]),
    ("writes-endlessly", &["idempotent"], &[]),
    (
        "wrong-name",
        &["secret-in-namespace"],
        &["wakes-after-pause"],
    ),
];

/// The same for checks that need the process, each on a control plane of its own.
const OF_PROCESS: &[(&str, &[&str])] = &[
    ("ignores-namespace", &["namespace"]),
    ("ignores-watch-filter", &["watch-filter"]),
    ("regenerates-after-restart", &["restart"]),
    ("status-first", &["kill"]),
];

/// The samples with a switch, in a folder of their own.
fn with_switch(folder: &Path, switch: &str) -> PathBuf {
    let own = folder.join("samples").join(switch);
    std::fs::create_dir_all(&own).expect("the folder can be written");
    for name in ["sample.yaml", "invalid.yaml", "template.yaml"] {
        let text = std::fs::read_to_string(file(name)).expect("the checkout has it");
        let text = text.replace("switch: \"\"", &format!("switch: {switch}"));
        std::fs::write(own.join(name), text).expect("the folder can be written");
    }
    own
}

/// Fails unless the checks have the verdicts.
fn expect(
    switch: &str,
    report: &serde_json::Value,
    checks: &[&str],
    expected: &str,
) -> Vec<String> {
    let found = verdicts(report);
    let is_wrong = |check: &&&str| {
        !found
            .iter()
            .any(|[name, verdict, _]| name == *check && *verdict == expected)
    };
    checks
        .iter()
        .filter(is_wrong)
        .map(|check| format!("{switch}: {check} is not {expected}: {found:?}"))
        .collect()
}

/// Every switch, several at once on one control plane; then those of the process. Each check has a
/// switch that fails it. Nothing is left of the runs.
pub(crate) fn each_switch_fails_its_check(context: &Context) {
    let plane = context.control_plane();
    for name in ["core.yaml", "crds.yaml"] {
        components::apply(&plane, &file(name));
    }
    let provider = program::folder().join("examples/switchable-provider");
    plane.adopt(
        Start {
            name: "switchable-provider",
            program: &provider,
            arguments: vec![option("kubeconfig", &plane.kubeconfig)],
            environment: Vec::new(),
            folder: plane.folder(),
        }
        .spawn(),
    );
    let (rest, wrong) = (Mutex::new(SWITCHES.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = rest.lock().unwrap().next();
                    let Some((switch, fails, uncovered)) = next else {
                        break;
                    };
                    let found = judge(context.folder(), &plane, switch, fails, uncovered);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.extend(of_process(context.folder()));
    wrong.extend(role_without_delete(context.folder(), &plane));
    wrong.extend(unfailed());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    interrupted_run_leaves_nothing(context, &plane);
}

fn judge(
    folder: &Path,
    plane: &ControlPlane,
    switch: &str,
    fails: &[&str],
    uncovered: &[&str],
) -> Vec<String> {
    let mut arguments = vec![
        option("kubeconfig", &plane.kubeconfig),
        option("workload-kubeconfig", &plane.kubeconfig),
        "--patience=20".to_owned(),
        "--quiet=6".to_owned(),
        "--fail-on=observed".to_owned(),
        "--output=json".to_owned(),
    ];
    arguments.extend(samples(&with_switch(folder, switch)));
    arguments.extend(
        fails
            .iter()
            .chain(uncovered)
            .map(|check| format!("--only={check}")),
    );
    let finished = program::run(folder, switch, arguments);
    let report = report(&finished);
    let mut wrong = expect(switch, &report, fails, "fail");
    wrong.extend(expect(switch, &report, uncovered, "notCovered"));
    if finished.code != Some(1) {
        wrong.push(format!("{switch}: exit {:?}", finished.code));
    }
    wrong
}

fn of_process(folder: &Path) -> Vec<String> {
    let provider = program::folder().join("examples/switchable-provider");
    let judge = |(switch, fails): &(&str, &[&str])| {
        let mut arguments = vec![
            option("assets", program::assets(folder)),
            option("crds", file("core.yaml")),
            option("components", file("crds.yaml")),
            format!("--run={} --kubeconfig={{kubeconfig}}", provider.display()),
            "--patience=20".to_owned(),
            "--quiet=6".to_owned(),
            "--output=json".to_owned(),
            format!(
                "--sample={}",
                with_switch(folder, switch).join("sample.yaml").display()
            ),
        ];
        arguments.extend(fails.iter().map(|check| format!("--only={check}")));
        let report = report(&program::run(
            folder,
            &format!("process-{switch}"),
            arguments,
        ));
        expect(switch, &report, fails, "fail")
    };
    OF_PROCESS.iter().flat_map(judge).collect()
}

/// The core's role without one of the seven verbs.
fn role_without_delete(folder: &Path, plane: &ControlPlane) -> Vec<String> {
    let role = serde_json::json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "switchable-aggregated"},
    });
    let rules = serde_json::json!([{
        "apiGroups": ["bootstrap.conformance.windlass.dev"], "verbs": ["create", "get", "list", "patch", "update", "watch"],
        "resources": ["switchableconfigs", "switchableconfigtemplates"],
    }]);
    plane
        .api
        .merge(&role, &serde_json::json!({"rules": rules}))
        .unwrap();
    judge(
        folder,
        plane,
        "role-without-delete",
        &["core-may-clone"],
        &[],
    )
}

/// Checks that no switch fails.
fn unfailed() -> Vec<String> {
    let source =
        std::fs::read_dir(crate::harness::shared::checkout().join("conformance/src/checks"));
    let texts = source.expect("the checkout has it").map(|entry| {
        std::fs::read_to_string(entry.expect("it can be read").path()).expect("it is text")
    });
    let names: Vec<String> = texts
        .filter(|text| text.contains("pub(crate) const CHECK"))
        .filter_map(|text| Some(text.split("name: \"").nth(1)?.split('"').next()?.to_owned()))
        .collect();
    assert!(names.len() > 40, "{names:?}");
    let fails = |name: &str| {
        SWITCHES.iter().any(|(_, fails, _)| fails.contains(&name))
            || OF_PROCESS.iter().any(|(_, fails)| fails.contains(&name))
    };
    // `ready` is `data-secret-created` of the other contract, with the same code; a provider that
    // does nothing fails `reacts-to-new-objects`; `core-may-clone` is above.
    let elsewhere = ["ready", "reacts-to-new-objects", "core-may-clone"];
    names
        .into_iter()
        .filter(|name| !fails(name) && !elsewhere.contains(&name.as_str()))
        .map(|name| format!("no switch fails the check {name}"))
        .collect()
}

/// Ctrl-C in the middle of a run: the namespaces are deleted, and the exit code says so.
fn interrupted_run_leaves_nothing(context: &Context, plane: &ControlPlane) {
    let of_runs = || {
        let all = plane.api.list("v1", "Namespace", None);
        let is_of_a_run = |namespace: &serde_json::Value| {
            namespace["metadata"]["labels"]["conformance.windlass.dev/run"].is_string()
        };
        all.into_iter().filter(is_of_a_run).count()
    };
    let end = || match of_runs() {
        0 => Ok(()),
        count => Err(format!("{count} namespaces are left")),
    };
    // A switch keeps finalizers, which nothing removes but this.
    for config in plane.api.list(
        "bootstrap.conformance.windlass.dev/v1",
        "SwitchableConfig",
        None,
    ) {
        let patch = serde_json::json!({"spec": {"switch": null}, "metadata": {"finalizers": null}});
        let _ = plane.api.merge(&config, &patch);
    }
    wait::until("the end of all namespaces", Duration::from_secs(120), end);
    let mut arguments = vec![
        option("kubeconfig", &plane.kubeconfig),
        option("workload-kubeconfig", &plane.kubeconfig),
        "--patience=60".to_owned(),
        "--quiet=60".to_owned(),
    ];
    arguments.extend(samples(&file("")));
    let program = program::folder().join("windlass-conformance");
    let mut process = Start {
        name: "interrupted",
        program: &program,
        arguments,
        environment: Vec::new(),
        folder: context.folder(),
    }
    .spawn();
    wait::until(
        "namespaces of the run",
        Duration::from_secs(60),
        || match of_runs() {
            0..3 => Err("few".to_owned()),
            _ => Ok(()),
        },
    );
    let id = Pid::from_raw(process.id().try_into().expect("ids are small")).expect("it has an id");
    kill_process(id, Signal::INT).expect("it runs");
    let status = wait::until("the end of the run", Duration::from_secs(120), || {
        process.ended().ok_or_else(|| "it runs".to_owned())
    });
    assert_eq!(status.code(), Some(130), "{}", process.last_words());
    assert_eq!(of_runs(), 0);
}
