//! Real providers: the results in `docs/conformance` are what a run gives.

use std::path::Path;

use serde_json::Value;

use super::option;
use crate::harness::peers;
use crate::harness::runner::Context;
use crate::harness::shared::{self, checkout};
use crate::harness::windlass_conformance::{self as program, report, verdicts};
use crate::harness::windlass_manager;

/// What controller-runtime managers of this machine need.
const MANAGER: &str = "--kubeconfig={kubeconfig} --webhook-port={webhook-port} --webhook-cert-dir={webhook-cert-dir} --health-addr=127.0.0.1:{free-port} --diagnostics-address=127.0.0.1:{free-port} --insecure-diagnostics";

/// The kubeadm provider of v1.12.0.
pub(crate) fn kubeadm_v1_12(context: &Context) {
    kubeadm(context, "v1.12.0");
}

/// The kubeadm provider of v1.14.0.
pub(crate) fn kubeadm_v1_14(context: &Context) {
    kubeadm(context, "v1.14.0");
}

fn kubeadm(context: &Context, version: &'static str) {
    let provider = peers::program(&format!("cluster-api-{version}/kubeadm-bootstrap"));
    let command = format!(
        "{} {MANAGER} --leader-elect=false --feature-gates=MachinePool=true",
        provider.display()
    );
    let components = shared::cluster_api(version).join("bootstrap-components.yaml");
    judge(
        context,
        &Judged {
            name: "kubeadm",
            version,
            core: version,
            samples: "kubeadm",
        },
        &components,
        &command,
    );
}

/// Our manager with WindlassConfigs.
pub(crate) fn windlass_configs(context: &Context) {
    let command = format!("{} {MANAGER}", windlass_manager::program().display());
    let components =
        checkout().join("releases/bootstrap-windlass/v0.2.0/bootstrap-components.yaml");
    let judged = Judged {
        name: "windlass",
        version: "v0.2.0",
        core: "v1.12.0",
        samples: "windlass",
    };
    judge(context, &judged, &components, &command);
}

/// Our manager with KubeadmConfigs, which needs the kubeadm provider's Lease.
pub(crate) fn kubeadm_configs_of_windlass(context: &Context) {
    let command = format!(
        "env POD_NAMESPACE=default {} {MANAGER} --kinds=KubeadmConfig --leader-elect",
        windlass_manager::program().display()
    );
    // Only its webhooks are the kubeadm provider's, which does not run.
    let components = shared::cluster_api("v1.12.0").join("bootstrap-components.yaml");
    let text = std::fs::read_to_string(components).expect("the corpus can be read");
    let documents = text
        .split("\n---\n")
        .filter(|document| !document.contains("WebhookConfiguration"));
    let own = context.folder().join("kubeadm-components.yaml");
    std::fs::write(&own, documents.collect::<Vec<_>>().join("\n---\n"))
        .expect("the folder can be written");
    let judged = Judged {
        name: "windlass-kubeadmconfig",
        version: "v0.2.0",
        core: "v1.12.0",
        samples: "kubeadm",
    };
    judge(context, &judged, &own, &command);
}

struct Judged {
    name: &'static str,
    version: &'static str,
    /// The release of Cluster API.
    core: &'static str,
    /// The folder of `docs/conformance/samples`.
    samples: &'static str,
}

/// Runs every check, and compares the verdicts with those in `docs/conformance`; with `UPDATE=1`
/// writes them.
fn judge(context: &Context, judged: &Judged, components: &Path, command: &str) {
    let Judged {
        name,
        version,
        core,
        samples,
    } = *judged;
    let mut arguments = vec![
        option("assets", program::assets(context.folder())),
        option(
            "crds",
            shared::cluster_api(core).join("core-components.yaml"),
        ),
        option("components", components),
        format!("--run={command}"),
        "--output=json".to_owned(),
        format!("--provider-name={name}"),
        format!("--provider-version={version}"),
        format!("--cluster-api-version={core}"),
    ];
    arguments.extend(super::samples(
        &checkout().join("docs/conformance/samples").join(samples),
    ));
    let finished = program::run(context.folder(), name, arguments);
    let report = report(&finished);
    let path = checkout().join(format!("docs/conformance/{name}-{version}.json"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &finished.stdout).expect("the checkout can be written");
    }
    let published = std::fs::read_to_string(&path).expect("the checkout has the results");
    let published: Value = serde_json::from_str(&published).expect("it is a report");
    let names = |report: &Value| -> Vec<(String, String)> {
        verdicts(report)
            .iter()
            .map(|[check, verdict, _]| ((*check).to_owned(), (*verdict).to_owned()))
            .collect()
    };
    assert_eq!(names(&report), names(&published), "{}", finished.stderr);
}
