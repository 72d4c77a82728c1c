//! The names of what a topology makes: `internal/topology/names` of Cluster API.

use serde_json::{Value, json};

use crate::text::budget::Budget;
use crate::text::go;
use crate::text::go::template::{Dialect, Fault, render_in};
use crate::text::go::value::Value as GoValue;

/// What stands for the five characters that Cluster API draws for each object.
pub const RANDOM: &str = "xxxxx";
/// What helps where a template of names gives none.
pub(super) const HELP: &str = "write a template of `.cluster.name`, `.random` and the `topologyName` of its kind, without functions of sprig";
/// The longest name, without its random part.
const LONGEST_BASE: usize = 63 - RANDOM.len();

/// A name of a base that the class does not decide.
pub(super) fn simple(base: &str) -> String {
    format!("{}{RANDOM}", prefix(base))
}

/// The first 58 bytes.
fn prefix(base: &str) -> &str {
    let end = (0..=base.len().min(LONGEST_BASE))
        .rev()
        .find(|end| base.is_char_boundary(*end));
    &base[..end.unwrap_or_default()]
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
/// In Cluster API's words.
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

fn shortened(name: String) -> String {
    if name.len() > LONGEST_BASE + RANDOM.len() {
        simple(&name)
    } else {
        name
    }
}

/// The name that a template gives.
///
/// # Errors
/// In Cluster API's words.
pub(super) fn of_template(template: &str, data: &Value, budget: &Budget) -> Result<String, String> {
    match render_in(
        Dialect::STRICT,
        "template name generator",
        template,
        &GoValue::of_json(data),
        budget,
    ) {
        Ok(name) => Ok(shortened(String::from_utf8_lossy(&name).into_owned())),
        Err(fault @ Fault::Parse(_)) => {
            Err(format!("parsing template {}: {fault}", go::quote(template)))
        }
        Err(fault) => Err(format!("rendering template: {fault}")),
    }
}
