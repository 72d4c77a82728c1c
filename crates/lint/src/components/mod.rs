//! A components file, read once: as it is written, and as clusterctl gets it, with its variables
//! replaced.

mod called;
pub(crate) mod certificates;
pub mod claims;
pub mod images;
pub(crate) mod labels;
pub(crate) mod managers;
pub(crate) mod placeholders;
pub mod removed;
pub mod roles;
pub(crate) mod services;
pub(crate) mod services_missing;
#[cfg(test)]
mod tests;
pub(crate) mod variables;
pub(crate) mod webhook_resources;
pub(crate) mod webhooks;
pub(crate) mod workloads;

use super::{
    Asked, Audience, containers, conversion, definitions, descriptions, duplicates, gate,
    namespaces, pods, scalars,
};
use std::collections::BTreeSet;
use std::sync::Arc;

use variables::Prefixes;

use windlass_capi::admission;
use windlass_capi::contract::labels::PROVIDER;
use windlass_capi::contract::{ProviderType, book};
use windlass_envsubst as envsubst;
use windlass_go_yaml::yaml;
use windlass_objects::{self as objects, Object, Pool, Substituted};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Quoted, Report, rules};

rules! {
    /// clusterctl cannot substitute the variables of the components
    SUBSTITUTION = error("components-substitution-broken"), url(book::VARIABLES), catalogue("T01");
}

/// The objects of a components file, and what is wrong with its text.
#[derive(Clone)]
pub struct Components {
    pub(super) source: Source,
    pub(super) has_variables: bool,
    substituted: Option<Substituted>,
    objects: Arc<Pool>,
    /// What is wrong with the text, at its places in the file.
    unreadable: Report,
}

impl Components {
    /// Reads a file. A variable without a default gets a sample.
    pub fn read(source: Source, budget: &Budget) -> Self {
        let mut read = Components {
            source,
            has_variables: false,
            substituted: None,
            objects: Arc::default(),
            unreadable: Report::new(),
        };
        let substituted = match Substituted::sampled(&read.source, budget) {
            Ok(substituted) => substituted,
            Err(error) => {
                let line = read.source.position(error.start).line;
                let place = read
                    .source
                    .place_at(error.start..error.stopped.max(error.start));
                let finding = broken(
                    &read.source,
                    &format!("{error} (line {line} of the file)", error = Quoted(&error)),
                )
                .at(place);
                read.unreadable.push(finding.upstream(error.to_string()));
                return read;
            }
        };
        let (objects, report) = objects::read(substituted.text(), budget);
        read.unreadable = substituted.restore(report);
        read.has_variables = substituted.text().text() != read.source.text();
        read.objects = Arc::new(Pool::of(objects));
        read.substituted = Some(substituted);
        read
    }

    /// The objects, with their variables replaced.
    pub fn objects(&self) -> &[Object] {
        self.objects.objects()
    }

    /// The text with its variables replaced, and what was read in it; `None` where the reader had
    /// something to say.
    pub(crate) fn as_read(&self) -> Option<(Source, Arc<Pool>)> {
        let text = self
            .substituted
            .as_ref()
            .filter(|_| self.unreadable.is_empty())?
            .text();
        Some((text.clone(), Arc::clone(&self.objects)))
    }

    /// The same, without the rest.
    pub fn into_read(self) -> Option<(Source, Vec<Object>)> {
        let (text, objects) = self.as_read()?;
        drop(self);
        Some((text, Arc::unwrap_or_clone(objects).into_objects()))
    }

    /// The provider label; clusterctl derives the same from the user's configuration, so it must
    /// fit the type that the file's name says.
    pub fn label_of(&self, provider_type: ProviderType) -> Option<String> {
        let prefix = provider_type.label("");
        let label = self
            .labels()
            .find(|label| label.len() > prefix.len() && label.starts_with(&prefix));
        label.map(str::to_owned)
    }

    /// What to call a provider whose objects do not have its label.
    pub fn placeholder_label(&self, provider_type: ProviderType) -> String {
        provider_type.label(self.labels().find_map(labels::name_in).unwrap_or("unnamed"))
    }

    /// The provider labels of the objects, whatever they say.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.objects()
            .iter()
            .filter_map(|object| object.label(PROVIDER))
    }

    /// What is wrong with the text, so that objects are missing.
    pub fn unreadable(&self) -> &Report {
        &self.unreadable
    }

    /// Findings about the objects, at their places in the file.
    pub(super) fn restored(&self, report: Report) -> Report {
        match &self.substituted {
            Some(substituted) => substituted.restore(report),
            None => report,
        }
    }

    /// The text as it is written.
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Checks the objects and the text of the file. Findings have their locations in it.
    pub fn check(self, asked: &Asked<'_>, budget: &Budget) -> Report {
        let Components {
            source,
            substituted,
            objects: pool,
            unreadable: mut report,
            ..
        } = self;
        let Some(substituted) = substituted else {
            return report;
        };
        let objects = pool.objects();
        let mut judged = containers::check(objects);
        judged.extend(pods::check(objects));
        judged.extend(namespaces::check(objects, &source, asked.namespace));
        judged.extend(duplicates::check(objects));
        judged.extend(definitions::of(objects).flat_map(|crd| definitions::check(crd, budget)));
        judged.extend(conversion::check(objects));
        if let Audience::Author(wishes) = asked.audience {
            judged.extend(gate::check(&asked.whole(wishes, &pool, budget)));
        }
        report.extend(substituted.restore(judged));
        let of_metadata = match asked.audience {
            Audience::Author(_) => objects
                .iter()
                .flat_map(admission::metadata::check)
                .collect(),
            Audience::User => Report::new(),
        };
        let prefixes = matches!(asked.audience, Audience::Author(_)).then(|| Prefixes::of(objects));
        let suspects: BTreeSet<usize> = objects
            .iter()
            .filter(|object| scalars::is_suspect(object.value()))
            .filter_map(Object::document)
            .collect();
        report.extend(check_text(&source, &suspects, prefixes.as_ref(), budget));
        let reported = report.starts(|_| true);
        let is_new = |finding: &Diagnostic| {
            finding
                .place
                .start()
                .is_none_or(|start| !reported.contains(&start))
        };
        let of_metadata = substituted
            .known(substituted.restore(of_metadata))
            .into_findings()
            .into_iter();
        report.extend(of_metadata.filter(is_new));
        report
    }
}

/// Whether clusterctl may replace something in a text. A `$` alone, as patterns end with, stays.
fn is_replaced(text: &str) -> bool {
    text.contains("${") || text.contains("$$")
}

/// Checks the text as it is written, variables included: of it, the documents that have some, and
/// `suspects`. Variables can break the YAML of a file that is sound once they are replaced: then
/// nothing is checked here.
fn check_text(
    source: &Source,
    suspects: &BTreeSet<usize>,
    prefixes: Option<&Prefixes>,
    budget: &Budget,
) -> Report {
    let written = yaml::parse_some(source, budget, &|number, text| {
        is_replaced(text) || suspects.contains(&number)
    });
    let mut report = scalars::check(source, &written);
    if let Ok(template) = envsubst::parse(source.text()) {
        let described = descriptions::check(source, &template, &written);
        // What is in a description is not a variable that anybody sets.
        let prefixes = prefixes.filter(|_| described.is_empty());
        report.extend(described);
        report.extend(prefixes.and_then(|prefixes| variables::check(source, &template, prefixes)));
    }
    report
}

fn broken(file: &Source, what: &str) -> Diagnostic {
    Diagnostic::of(
        &SUBSTITUTION,
        format!(
            "{} does not survive clusterctl's substitution: {what}",
            file.name()
        ),
    )
    .help("write `${NAME:=default}`, and `$${` for a literal `${`")
}
