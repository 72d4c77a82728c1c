//! The variables of a class, and where each is used.

use serde_json::Value;

use super::CLASS_NONE;
use super::class::Class;
use super::mentions::in_template;
use super::part::Part;
use windlass_objects::Pool;
use windlass_source::diag::{Diagnostic, Report};

/// A variable that a ClusterClass defines.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// `namespace/name` of the class.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Whether a Cluster must set it.
    pub required: bool,
    /// `type` of its schema.
    pub kind: String,
    /// The default of the whole value.
    pub default: Option<Value>,
    /// Its schema, with the keywords that Cluster API knows.
    pub schema: Value,
    /// Every use.
    pub uses: Vec<Usage>,
}

/// A use of a variable in a patch of its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The name of the patch.
    pub patch: String,
    /// The path that the value goes to; none for `enabledIf`.
    pub path: Option<String>,
    /// The file, as the user named it.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
}

/// The variables of all classes of the input, in their order.
pub fn variables_of(pool: &Pool) -> (Vec<Variable>, Report) {
    let classes: Vec<Class<'_>> = pool
        .objects()
        .iter()
        .filter(|object| Class::is_one(object))
        .map(Class::of)
        .collect();
    let mut report = Report::new();
    if classes.is_empty() {
        report.push(
            Diagnostic::of(&CLASS_NONE, "the input holds no ClusterClass")
                .help("name the file with the ClusterClass"),
        );
    }
    (classes.iter().flat_map(of_class).collect(), report)
}

fn of_class(class: &Class<'_>) -> Vec<Variable> {
    let uses = uses(class);
    let one = |definition: &super::class::Definition<'_>| Variable {
        class: class.key(),
        name: definition.name.to_owned(),
        required: definition.is_required,
        kind: definition
            .schema
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        default: definition
            .schema
            .get("default")
            .filter(|default| !default.is_null())
            .cloned(),
        schema: definition.schema.clone(),
        uses: uses.get(definition.name).cloned().unwrap_or_default(),
    };
    class.variables.iter().map(one).collect()
}

type Uses = std::collections::BTreeMap<String, Vec<Usage>>;

/// Every place of a patch that names a variable, by the name.
fn uses(class: &Class<'_>) -> Uses {
    let mut uses = Uses::new();
    let mut add = |patch: &Part<'_>, part: &Part<'_>, path: Option<&str>, names: Vec<String>| {
        for name in names {
            let place = part.place();
            uses.entry(name).or_default().push(Usage {
                patch: patch.field("name").text().to_owned(),
                path: path.map(str::to_owned),
                file: place.file.map(|file| file.to_string()),
                line: place.span.map(|span| span.start.line),
            });
        }
    };
    for patch in &class.patches {
        let enabled_if = patch.field("enabledIf");
        add(patch, &enabled_if, None, in_template(enabled_if.text()));
        for operation in patch
            .field("definitions")
            .items()
            .flat_map(|definition| definition.field("jsonPatches").items())
        {
            let path = operation.field("path").text();
            for (part, names) in in_operation(&operation) {
                add(patch, &part, Some(path), names);
            }
        }
    }
    uses
}

/// The variables that an operation of a patch takes, whether the class defines them or not.
pub(super) fn names_in(class: &Class<'_>, operation: &Part<'_>) -> Vec<String> {
    let mut names: Vec<String> = in_variable(operation.at("valueFrom.variable").text())
        .map(str::to_owned)
        .into_iter()
        .collect();
    names.extend(class.names_in(operation.at("valueFrom.template").text()));
    names.sort_unstable();
    names.dedup();
    names
}

/// The variable that `valueFrom.variable` names.
fn in_variable(path: &str) -> Option<&str> {
    path.split(['[', '.']).find(|part| !part.is_empty())
}

/// What an operation takes from a variable and from a template, with the names in each.
fn in_operation<'o>(operation: &Part<'o>) -> [(Part<'o>, Vec<String>); 2] {
    let (variable, template) = (
        operation.at("valueFrom.variable"),
        operation.at("valueFrom.template"),
    );
    let (name, names) = (
        in_variable(variable.text()).map(str::to_owned),
        in_template(template.text()),
    );
    [(variable, name.into_iter().collect()), (template, names)]
}
