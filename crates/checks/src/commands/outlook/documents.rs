//! Files as objects, and the way back to the files: variables are replaced by their defaults or by
//! samples, and findings are at their places in the template.

use std::sync::Arc;

use super::prediction::Prediction;
use crate::commands::lint::Form;
use windlass_objects::{self as objects, Object, Substituted};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Report};

/// An object of a file.
pub(super) struct Document {
    pub(super) object: Object,
    /// The file, if its variables were replaced.
    template: Option<Arc<Substituted>>,
    pub(super) is_definition: bool,
    /// What the file is.
    pub(super) form: Form,
}

/// Reads the objects of a file. What cannot be read is reported for files that are for Kubernetes.
pub(super) fn read(source: &Source, form: Form, budget: &Budget) -> (Vec<Document>, Report) {
    let template = if source.text().contains("${") {
        Substituted::sampled(source, budget).ok().map(Arc::new)
    } else {
        None
    };
    let text = template
        .as_deref()
        .map_or(source, Substituted::text)
        .clone();
    let (found, report) = objects::documents(&text, budget);
    let report = match &template {
        Some(template) => template.restore(report),
        None => report,
    };
    // A file of patches need not be objects.
    let report = match form {
        Form::Patch => Report::new(),
        _ => report.into_iter().filter(is_error).collect(),
    };
    let found = found.into_iter().flat_map(Object::into_items);
    let documents = found
        .filter(|object| !object.kind().is_empty())
        .map(|object| Document {
            is_definition: object.is("apiextensions.k8s.io", "CustomResourceDefinition"),
            template: template.clone(),
            form,
            object,
        });
    (documents.collect(), report)
}

fn is_error(finding: &Diagnostic) -> bool {
    finding.rule.severity == windlass_source::diag::Severity::Error
}

impl Document {
    /// `Kind/name`, with the variables that are in the name.
    pub(super) fn title(&self) -> String {
        let place = self.object.place(&FieldPath::of_fields("metadata.name"));
        let written = self
            .template
            .as_deref()
            .map_or("", |template| template.written(&place))
            .trim_matches(['"', '\'']);
        if written.contains("${") && !written.contains('\n') {
            format!("{}/{written}", self.object.kind())
        } else {
            self.object.title()
        }
    }

    /// The prediction at its place in the file.
    pub(super) fn restored(&self, mut prediction: Prediction) -> Prediction {
        if let Some(template) = &self.template {
            prediction.finding = template.restored(prediction.finding);
        }
        prediction
    }
}
