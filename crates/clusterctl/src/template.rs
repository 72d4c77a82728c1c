//! Templates of workload clusters.

use std::collections::BTreeMap;

use serde_json::Value;

use super::config::Config;
use super::{Rejection, documents, namespaces};
use windlass_envsubst::{self as envsubst, SubstErrorKind};

/// A template, processed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Template {
    /// The variables that inspection finds, with their defaults.
    pub variables: BTreeMap<String, Option<String>>,
    /// The objects in the order of the file; none when only the variables were asked for.
    pub objects: Vec<Value>,
}

/// Processes the template in the file `shown`: variables, and with a namespace that is not empty
/// the move into it.
///
/// # Errors
/// In clusterctl's words, for the first step that fails.
pub(super) fn process(
    config: &Config<'_>,
    shown: &str,
    text: &[u8],
    namespace: &str,
    list_only: bool,
) -> Result<Template, Rejection> {
    let template = parse(shown, text)?;
    let variables = template.variables();
    if list_only {
        return Ok(Template {
            variables,
            objects: Vec::new(),
        });
    }
    let mut objects = documents::objects(
        shown,
        &substitute(config, shown, text, &template)?,
        None,
        config.world().budget,
    )?;
    if !namespace.is_empty() {
        objects = namespaces::move_all(objects, namespace).map_err(|rejection| {
            rejection.within("failed to set the TargetNamespace in the template")
        })?;
    }
    Ok(Template { variables, objects })
}

/// Replaces the variables of the file `shown` by their values in the configuration.
pub(super) fn substitute(
    config: &Config<'_>,
    shown: &str,
    text: &[u8],
    template: &envsubst::Template<'_>,
) -> Result<Vec<u8>, Rejection> {
    template
        .substitute(|name| config.variable(name), config.world().budget)
        .map(|done| done.bytes)
        .map_err(|error| {
            let rejection = Rejection::new(error.to_string());
            let places = Places::new(shown, text);
            match &error.kind {
                SubstErrorKind::Missing(names) => where_used(&places, template, names)
                    .into_iter()
                    .fold(rejection, |rejection, hint| rejection.hint(hint)),
                _ => rejection.hint(format!("see {}", places.of(error.start))),
            }
        })
}

pub(super) fn parse<'t>(shown: &str, text: &'t [u8]) -> Result<envsubst::Template<'t>, Rejection> {
    envsubst::parse(text).map_err(|error| {
        Rejection::new(error.to_string())
            .hint(format!("see {}", Places::new(shown, text).of(error.start)))
    })
}

/// A sentence for each of the variables.
fn where_used(places: &Places<'_>, template: &envsubst::Template, names: &[String]) -> Vec<String> {
    let mut found: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let uses = template.uses();
    for used in uses.iter().filter(|used| !used.nested) {
        found.entry(used.name).or_insert((used.span.start, 0)).1 += 1;
    }
    let sentence = |name: &String| match found.get(name.as_str()) {
        Some((first, 1)) => format!("{name} is used at {} and has no default", places.of(*first)),
        Some((first, 2)) => format!(
            "{name} is used at {} and one more place and has no default there",
            places.of(*first)
        ),
        Some((first, count)) => format!(
            "{name} is used at {} and {} more places and has no default there",
            places.of(*first),
            count - 1
        ),
        None => format!("{name} has no default"),
    };
    names.iter().map(sentence).collect()
}

/// Places in a text that need not be UTF-8.
struct Places<'t> {
    shown: &'t str,
    text: &'t [u8],
    line_starts: Vec<usize>,
}

impl<'t> Places<'t> {
    fn new(shown: &'t str, text: &'t [u8]) -> Self {
        let after_breaks = text
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .map(|(at, _)| at + 1);
        Places {
            shown,
            text,
            line_starts: std::iter::once(0).chain(after_breaks).collect(),
        }
    }

    /// `file:line:column`
    fn of(&self, offset: usize) -> String {
        let offset = offset.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let before = String::from_utf8_lossy(&self.text[self.line_starts[line - 1]..offset]);
        format!("{}:{line}:{}", self.shown, before.chars().count() + 1)
    }
}

impl Template {
    /// Puts the objects of other templates before those of this one. Nothing is left out, doubles
    /// included.
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
    pub fn into_yaml(self) -> Result<String, Rejection> {
        documents::to_yaml(self.objects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_the_first_place_of_each_missing_variable() {
        let text = "a: é${A}\nb: ${B:=${C}}\nc: ${A} ${D} ${D:=x}${A}\n";
        let template = envsubst::parse(text).unwrap();
        let hints = where_used(
            &Places::new("t.yaml", text.as_bytes()),
            &template,
            &["A".to_owned(), "D".to_owned()],
        );
        let expected = [
            "A is used at t.yaml:1:5 and 2 more places and has no default there",
            "D is used at t.yaml:3:9 and one more place and has no default there",
        ];
        assert_eq!(hints, expected);
    }
}
