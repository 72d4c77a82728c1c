//! The names of what a topology makes: `internal/topology/names` of Cluster API.

use serde_json::{Value, json};

pub use windlass_capi::admission::core::names::RANDOM;
pub(crate) use windlass_capi::admission::core::names::of_template;
use windlass_capi::admission::core::names::{prefix, shortened};
use windlass_source::budget::Budget;

/// What helps where a template of names gives none.
pub(super) const HELP: &str = "write a template of `.cluster.name`, `.random` and the `topologyName` of its kind, without functions of sprig";

/// A name of a base that the class does not decide.
pub(super) fn simple(base: &str) -> String {
    format!("{}{RANDOM}", prefix(base))
}

/// What a template of a name may use.
pub(super) fn data(cluster: &str, kind: Option<(&str, &str)>) -> Value {
    let mut data = json!({"cluster": {"name": cluster}, "random": RANDOM});
    if let Some((kind, topology)) = kind {
        data[kind] = json!({"topologyName": topology});
    }
    data
}

/// The name that a template of the class gives for a Cluster, and in it for a MachineDeployment or
/// MachinePool (`machineDeployment` or `machinePool`, and its name in the topology); without a
/// template, the usual name.
///
/// # Errors
/// The message of Cluster API.
pub(super) fn generated(
    template: &str,
    cluster: &str,
    kind: Option<(&str, &str)>,
    budget: &Budget,
) -> Result<String, String> {
    match (template, kind) {
        // What the defaults give: `{{ .cluster.name }}-{{ .random }}`, with `{{ .KIND.topologyName
        // }}-` between.
        ("", None) => Ok(shortened(format!("{cluster}-{RANDOM}"))),
        ("", Some((_, topology))) => Ok(shortened(format!("{cluster}-{topology}-{RANDOM}"))),
        _ => of_template(template, &data(cluster, kind), budget),
    }
}
