//! Templates of workload clusters.

use std::collections::BTreeMap;

use serde_json::Value;

use super::config::Config;
use super::{Refusal, components, documents};
use crate::text::envsubst::{self, SubstErrorKind};

/// A template, processed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Template {
    /// The variables that inspection finds, with their defaults.
    pub variables: BTreeMap<String, Option<String>>,
    /// The objects in the order of the file; none when only the variables were asked for.
    pub objects: Vec<Value>,
}

/// Processes the template in the file `shown`: variables, and with a namespace that is not empty the move into it.
///
/// # Errors
/// In clusterctl's words, for the first step that fails.
pub(super) fn process(config: &Config<'_>, shown: &str, text: &[u8], namespace: &str, list_only: bool) -> Result<Template, Refusal> {
    let template = parse(shown, text)?;
    let variables = template.variables();
    if list_only {
        return Ok(Template { variables, objects: Vec::new() });
    }
    let mut objects = documents::objects(&substitute(config, shown, text, &template)?)?;
    if !namespace.is_empty() {
        objects = components::move_all(objects, namespace)
            .map_err(|refusal| refusal.within("failed to set the TargetNamespace in the template"))?;
    }
    Ok(Template { variables, objects })
}

/// Replaces the variables of the file `shown` by their values in the configuration.
pub(super) fn substitute(config: &Config<'_>, shown: &str, text: &[u8], template: &envsubst::Template) -> Result<Vec<u8>, Refusal> {
    template.substitute(|name| config.variable(name)).map(|done| done.bytes).map_err(|error| {
        let refusal = Refusal::new(error.to_string());
        match &error.kind {
            SubstErrorKind::Missing(names) => {
                names.iter().fold(refusal, |refusal, name| refusal.hint(where_used(shown, text, template, name)))
            }
            _ => refusal.hint(format!("see {}", place(shown, text, error.start))),
        }
    })
}

/// Parses the template in the file `shown`.
pub(super) fn parse(shown: &str, text: &[u8]) -> Result<envsubst::Template, Refusal> {
    envsubst::parse(text).map_err(|error| Refusal::new(error.to_string()).hint(format!("see {}", place(shown, text, error.start))))
}

fn where_used(shown: &str, text: &[u8], template: &envsubst::Template, name: &str) -> String {
    let uses = template.uses();
    let places = uses.iter().filter(|used| used.name == name && !used.nested).map(|used| place(shown, text, used.span.start));
    let places: Vec<String> = places.collect();
    match places.as_slice() {
        [one] => format!("{name} is used at {one} and has no default"),
        [first, rest @ ..] => format!("{name} is used at {first} and {} more places and has no default there", rest.len()),
        [] => format!("{name} has no default"),
    }
}

/// `file:line:column`
fn place(shown: &str, text: &[u8], offset: usize) -> String {
    let before = String::from_utf8_lossy(&text[..offset.min(text.len())]);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{shown}:{line}:{column}")
}

impl Template {
    /// Puts the objects of other templates before those of this one. Nothing is left out, doubles included.
    pub(super) fn behind(self, others: Vec<Template>) -> Template {
        let mut merged = Template::default();
        for template in others.into_iter().chain([self]) {
            for (name, default) in template.variables {
                let known = merged.variables.entry(name).or_default();
                if known.is_none() {
                    *known = default;
                }
            }
            merged.objects.extend(template.objects);
        }
        merged
    }

    /// The objects as YAML.
    ///
    /// # Errors
    /// When a text holds characters that YAML does not allow.
    pub fn to_yaml(&self) -> Result<String, Refusal> {
        documents::to_yaml(&self.objects)
    }
}
