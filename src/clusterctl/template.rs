//! Templates of workload clusters.

use std::collections::BTreeMap;

use serde_json::Value;

use super::config::Config;
use super::{MissingVariable, Refusal, components, documents};
use crate::text::envsubst::{self, SubstErrorKind};

/// A template, processed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Template {
    /// The variables that inspection finds, with their defaults.
    pub variables: BTreeMap<String, Option<String>>,
    /// The objects in the order of the file; none when only the variables were asked for.
    pub objects: Vec<Value>,
}

/// Processes a template: variables, and with a namespace that is not empty the move into it.
///
/// # Errors
/// In clusterctl's words, for the first step that fails.
pub(super) fn process(config: &Config<'_>, text: &[u8], namespace: &str, list_only: bool) -> Result<Template, Refusal> {
    let template = envsubst::parse(text).map_err(|error| Refusal::new(error.to_string()))?;
    let variables = template.variables();
    if list_only {
        return Ok(Template { variables, objects: Vec::new() });
    }
    let mut objects = documents::objects(&substitute(config, &template)?)?;
    if !namespace.is_empty() {
        objects = components::move_all(objects, namespace)
            .map_err(|refusal| refusal.within("failed to set the TargetNamespace in the template"))?;
    }
    Ok(Template { variables, objects })
}

/// Replaces the variables by their values in the configuration. What is missing is noted with its places.
pub(super) fn substitute(config: &Config<'_>, template: &envsubst::Template) -> Result<Vec<u8>, Refusal> {
    match template.substitute(|name| config.variable(name)) {
        Ok(done) => Ok(done.bytes),
        Err(error) => {
            let refusal = Refusal::new(error.to_string());
            let SubstErrorKind::Missing(names) = &error.kind else { return Err(refusal) };
            let uses = template.uses();
            let offsets = |name: &str| uses.iter().filter(|used| used.name == name && !used.nested).map(|used| used.span.start).collect();
            Err(refusal.missing(names.iter().map(|name| MissingVariable { name: name.clone(), offsets: offsets(name) })))
        }
    }
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
