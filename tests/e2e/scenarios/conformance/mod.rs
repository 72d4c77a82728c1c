//! `windlass-conformance`: a provider that fulfils the contract passes, each violated rule fails
//! its check, a provider that does nothing passes nothing; and the results of real providers.

mod real;
mod switches;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::runner::Context;
use crate::harness::shared::checkout;
use crate::harness::windlass_conformance::{self as program, report, verdicts};
pub(crate) use real::{
    kubeadm_configs_of_windlass, kubeadm_v1_12, kubeadm_v1_14, windlass_configs,
};
pub(crate) use switches::each_switch_fails_its_check;

/// A file of the switchable provider.
fn file(name: &str) -> PathBuf {
    checkout().join("conformance/tests/provider").join(name)
}

fn option(name: &str, value: impl AsRef<Path>) -> String {
    format!("--{name}={}", value.as_ref().display())
}

/// Samples of every role from a folder; without a file of its own the role init has the worker's.
fn samples(folder: &Path) -> Vec<String> {
    let init = match folder.join("init.yaml").is_file() {
        true => "init.yaml",
        false => "sample.yaml",
    };
    [
        ("worker", "sample.yaml"),
        ("init", init),
        ("control-plane", "sample.yaml"),
        ("machine-pool", "sample.yaml"),
        ("invalid", "invalid.yaml"),
        ("template", "template.yaml"),
    ]
    .map(|(role, name)| format!("--sample={role}={}", folder.join(name).display()))
    .to_vec()
}

/// The report about a provider that the program runs on a control plane of its own.
fn judged(context: &Context, name: &str, command: &str, more: &[&str]) -> Value {
    let mut arguments = vec![
        option("assets", program::assets(context.folder())),
        option("crds", file("core.yaml")),
        option("components", file("crds.yaml")),
        format!("--run={command}"),
        "--output=json".to_owned(),
    ];
    arguments.extend(samples(&file("")));
    arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
    report(&program::run(context.folder(), name, arguments))
}

/// Every check passes, but for the one of the other contract; then that one, under its contract.
pub(crate) fn provider_that_fulfils_the_contract_passes(context: &Context) {
    let provider = program::folder().join("examples/switchable-provider");
    let command = format!("{} --kubeconfig={{kubeconfig}}", provider.display());
    let newest = judged(context, "newest", &command, &["--patience=40", "--quiet=4"]);
    for [check, verdict, reason] in verdicts(&newest) {
        let expected = if check == "ready" {
            "notApplicable"
        } else {
            "pass"
        };
        assert_eq!(verdict, expected, "{check}: {reason}");
    }
    let older = [
        "--patience=40",
        "--contract=v1beta1",
        "--only=ready",
        "--only=data-secret-created",
    ];
    let older = judged(context, "older", &command, &older);
    let found: Vec<[&str; 2]> = verdicts(&older)
        .iter()
        .map(|[check, verdict, _]| [*check, *verdict])
        .collect();
    assert_eq!(
        found,
        [["data-secret-created", "notApplicable"], ["ready", "pass"]]
    );
}

/// A process that does nothing: the rules that demand something fail, the others are not covered.
pub(crate) fn provider_that_does_nothing_passes_nothing(context: &Context) {
    let report = judged(
        context,
        "nothing",
        "sleep 3600",
        &["--patience=3", "--quiet=2"],
    );
    let found = verdicts(&report);
    for [check, verdict, reason] in &found {
        let is_of_contract = *check != "ready";
        assert!(
            ["fail", "notCovered"].contains(verdict) || !is_of_contract,
            "{check}: {verdict}: {reason}"
        );
    }
    for demanded in [
        "data-secret-name",
        "data-secret-created",
        "reacts-to-new-objects",
    ] {
        assert!(
            found
                .iter()
                .any(|[check, verdict, _]| *check == demanded && *verdict == "fail"),
            "{demanded}: {found:?}"
        );
    }
}
