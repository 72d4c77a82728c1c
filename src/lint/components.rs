//! A components file, read once: as it is written, and as clusterctl gets it, with its variables replaced.

use super::{containers, conversion, definitions, descriptions, duplicates, namespaces, pods, scalars};
use crate::contract::book;
use crate::diag::{Diagnostic, Report, rules};
use crate::objects::{self, Object, Substituted};
use crate::text::budget::Budget;
use crate::text::envsubst;
use crate::text::source::Source;
use crate::text::yaml;

rules! {
    /// the components do not survive clusterctl's variable substitution
    SUBSTITUTION = error("components-substitution-broken"), url(book::VARIABLES);
}

/// The objects of a components file, and what is wrong with its text.
pub(crate) struct Components {
    pub(super) source: Source,
    /// Whether the text has variables.
    pub(super) has_variables: bool,
    substituted: Option<Substituted>,
    objects: Vec<Object>,
    /// What is wrong with the text, at its places in the file.
    unreadable: Report,
}

impl Components {
    /// Reads a file. A variable without a default gets a sample.
    pub(crate) fn read(source: Source, budget: &Budget) -> Self {
        let mut read = Components { source, has_variables: false, substituted: None, objects: Vec::new(), unreadable: Report::new() };
        let substituted = match Substituted::sampled(&read.source, budget) {
            Ok(substituted) => substituted,
            Err(error) => {
                let line = read.source.position(error.start).line;
                let place = read.source.place_at(error.start..error.stopped.max(error.start));
                let finding = broken(&read.source, &format!("{error} (line {line} of the file)")).at(place);
                read.unreadable.push(finding.upstream(error.to_string()));
                return read;
            }
        };
        let (objects, report) = objects::read(substituted.text(), budget);
        read.unreadable = substituted.restore(report);
        read.has_variables = substituted.text().text() != read.source.text();
        read.objects = objects;
        read.substituted = Some(substituted);
        read
    }

    /// The objects, with their variables replaced.
    pub(crate) fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// What is wrong with the text, so that objects are missing.
    pub(crate) fn unreadable(&self) -> &Report {
        &self.unreadable
    }

    /// Judges the file by itself. `namespace` is the one that provider.yaml names, if there is one. Of large components only one form is
    /// in memory at a time: the objects are gone before the text is read again.
    pub(super) fn check(self, namespace: Option<&str>, budget: &Budget) -> Report {
        let Components { source, substituted, objects, unreadable: mut report, .. } = self;
        let Some(substituted) = substituted else { return report };
        let mut judged = containers::check(&objects);
        judged.extend(pods::check(&objects));
        judged.extend(namespaces::check(&objects, &source, namespace));
        judged.extend(duplicates::check(&objects));
        judged.extend(definitions::of(&objects).flat_map(|crd| definitions::check(crd, budget)));
        judged.extend(conversion::check(&objects));
        report.extend(substituted.restore(judged));
        drop((objects, substituted));
        report.extend(check_text(&source, budget));
        report
    }
}

/// Judges the text as it is written, variables included. They can break the YAML of a file that is sound once they are replaced: then
/// nothing is judged here.
fn check_text(source: &Source, budget: &Budget) -> Report {
    let written = yaml::parse(source, budget);
    let mut report = scalars::check(source, &written.documents);
    if let Ok(template) = envsubst::parse(source.text()) {
        report.extend(descriptions::check(source, &template, &written.documents));
    }
    report
}

fn broken(file: &Source, what: &str) -> Diagnostic {
    Diagnostic::of(&SUBSTITUTION, format!("{} does not survive clusterctl's substitution: {what}", file.name()))
        .help("write `${NAME:=default}`, and `$${` for a literal `${`")
}
