//! Names made by templates: `internal/topology/names` of Cluster API.

use serde_json::{Value, json};

use windlass_go_template::{Dialect, Fault, render_in};
use windlass_go_text as go;
use windlass_go_text::value::Value as GoValue;
use windlass_schema::subdomain_errors;
use windlass_source::budget::Budget;

/// The placeholder of the five characters that Cluster API draws for each object.
pub const RANDOM: &str = "xxxxx";
/// The longest name, without its random part.
pub(crate) const LONGEST_BASE: usize = 63 - RANDOM.len();

/// A name that is not longer than 63 bytes: the end of a longer one becomes random.
pub fn shortened(name: String) -> String {
    if name.len() <= LONGEST_BASE + RANDOM.len() {
        return name;
    }
    format!("{}{RANDOM}", prefix(&name))
}

/// The first 58 bytes.
pub fn prefix(base: &str) -> &str {
    let end = (0..=base.len().min(LONGEST_BASE))
        .rev()
        .find(|end| base.is_char_boundary(*end));
    &base[..end.unwrap_or_default()]
}

/// The name that a template makes.
///
/// # Errors
/// The upstream message.
pub fn of_template(template: &str, data: &Value, budget: &Budget) -> Result<String, String> {
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

/// The upstream messages about a template for names of machines. `owner` is the variable of the
/// owner, such as `machineSet`, and its name.
pub(crate) fn machine_name_faults(
    template: &str,
    owner: (&str, &str),
    budget: &Budget,
) -> Vec<String> {
    if template.is_empty() {
        return Vec::new();
    }
    let mut faults = Vec::new();
    if !template.contains("{{ .random }}") {
        faults.push("invalid template, {{ .random }} is missing".to_owned());
    }
    let (variable, name) = owner;
    let data = json!({"cluster": {"name": "cluster"}, variable: {"name": name}, "random": RANDOM});
    match of_template(template, &data, budget) {
        Err(fault) => faults.push(format!("invalid template: {fault}")),
        Ok(name) => faults.extend(subdomain_errors(&name).iter().map(|error| {
            format!("invalid template, generated names would not be valid Kubernetes object names: {error}")
        })),
    }
    faults
}
