//! Validation of migrated documents: what `validate` reports of them before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::commands::validate;
use windlass_bootstrap::render::{FeatureGates, Origins, Request, Variables};
use windlass_capi::migrate::DocumentId;
use windlass_debugging::commands::render;
use windlass_objects::Pool;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Severity};

/// Families of rules that are about one object alone: what they report of a migrated document is
/// reported, whatever they report of the original.
const OF_OBJECTS: [&str; 3] = ["core-", "config-", "object-metadata-"];

/// Rules that report a missing part, as a patch for kustomize has them.
const OF_PARTS: [&str; 3] = [
    "core-field-missing",
    "core-object-partial",
    "config-field-missing",
];

/// Rules of webhooks, which check whole objects only.
const OF_WHOLE: [&str; 2] = ["config-admission-rejected", "core-admission-rejected"];

/// Rules that report a field or a value of another API version.
const OF_VERSIONS: [&str; 4] = [
    "core-field-unknown",
    "core-value-rejected",
    "config-field-unknown",
    "config-value-rejected",
];

/// The findings about each document.
#[derive(Debug, Default)]
pub(super) struct Findings(BTreeMap<DocumentId, Vec<Diagnostic>>);

/// Gates that a management cluster may have on: what depends on them is not wrong.
const GATES: FeatureGates = FeatureGates {
    ignition: true,
    machine_pool: true,
    machine_taints: true,
};

impl Findings {
    /// What `validate` reports of texts; clusterctl variables have their default or any value.
    pub(super) fn of(sources: &[Source], budget: &Arc<Budget>) -> Self {
        let request = Request {
            budget: Arc::clone(budget),
            feature_gates: GATES,
            ..Request::new()
        };
        let Texts {
            texts,
            origins,
            raw,
        } = Texts::of(sources, &request);
        let (pool, _) = Pool::read(&texts, budget);
        let judged = validate::Judged::new(pool, &request);
        let mut rendering = judged.render(&request);
        let validation = validate::run(&judged, &request, &mut rendering, true);
        let report = render::settle(&mut rendering, validation.report, &origins);
        let files: BTreeMap<&str, usize> = sources
            .iter()
            .enumerate()
            .map(|(file, source)| (source.name().as_ref(), file))
            .collect();
        let mut findings = Self::default();
        for finding in report.into_findings() {
            let Some(name) = finding.place.file.as_deref() else {
                continue;
            };
            let (Some(file), Some(document)) = (files.get(name), finding.place.document) else {
                continue;
            };
            if raw.contains(name) && is_at_variable(&finding, &sources[*file]) {
                continue;
            }
            let document = DocumentId {
                file: *file,
                document,
            };
            findings.0.entry(document).or_default().push(finding);
        }
        findings
    }

    fn of_document(&self, document: &DocumentId) -> &[Diagnostic] {
        self.0.get(document).map_or(&[], Vec::as_slice)
    }

    /// The documents that seem to have fields of another version.
    pub(super) fn of_other_versions(&self) -> BTreeSet<DocumentId> {
        let seems_other = |findings: &Vec<Diagnostic>| {
            findings
                .iter()
                .any(|finding| OF_VERSIONS.contains(&finding.rule.id))
        };
        self.0
            .iter()
            .filter(|(_, findings)| seems_other(findings))
            .map(|(document, _)| *document)
            .collect()
    }

    /// The errors in a document for which it is not migrated: those about the object itself, and
    /// others that the original does not have. In a template, and in an object that is not whole,
    /// such as a patch for kustomize, those of the original do not count: values are not known.
    pub(super) fn rejections<'f>(
        &'f self,
        document: &DocumentId,
        before: &Findings,
        is_template: bool,
    ) -> Vec<&'f Diagnostic> {
        let original = before.of_document(document);
        let is_error = |finding: &Diagnostic| finding.rule.severity == Severity::Error;
        let is_partial = original
            .iter()
            .any(|finding| is_error(finding) || is_of_part(finding));
        let has_parts = original.iter().any(is_of_part);
        let is_open = is_template || has_parts;
        let rules: BTreeSet<&str> = original.iter().map(|finding| finding.rule.id).collect();
        let counts = |finding: &&Diagnostic| {
            let is_of_object = OF_OBJECTS
                .iter()
                .any(|family| finding.rule.id.starts_with(family));
            is_error(finding)
                && !(is_partial && is_of_part(finding))
                && !(has_parts && OF_WHOLE.contains(&finding.rule.id))
                && (is_of_object && !is_open || !rules.contains(finding.rule.id))
        };
        self.of_document(document).iter().filter(counts).collect()
    }

    /// The number of errors in a document.
    pub(super) fn errors(&self, document: &DocumentId) -> usize {
        let findings = self.of_document(document).iter();
        findings
            .filter(|finding| finding.rule.severity == Severity::Error)
            .count()
    }
}

/// Whether a finding reports a missing part. An object without a name is one, too.
fn is_of_part(finding: &Diagnostic) -> bool {
    OF_PARTS.contains(&finding.rule.id)
        || finding.rule.id == "object-metadata-rejected"
            && finding.place.path.to_string() == "metadata"
}

/// Whether a finding is in a line with a variable.
fn is_at_variable(finding: &Diagnostic, source: &Source) -> bool {
    let text = source.text();
    finding.place.span.is_some_and(|span| {
        let start = text[..span.start.offset].rfind('\n').unwrap_or(0);
        let end = text[span.end.offset..]
            .find('\n')
            .map_or(text.len(), |length| span.end.offset + length);
        text[start..end].contains(VARIABLE)
    })
}

const VARIABLE: &str = "${";

/// Whether a text has clusterctl variables, or something like them.
pub(super) fn is_template(source: &Source) -> bool {
    source.text().contains(VARIABLE)
}

/// Texts with their variables replaced.
struct Texts {
    texts: Vec<Source>,
    origins: Origins,
    /// The names of those whose variables cannot be replaced: they are as they were.
    raw: BTreeSet<String>,
}

impl Texts {
    fn of(sources: &[Source], request: &Request) -> Self {
        let (templates, mut texts): (Vec<Source>, Vec<Source>) =
            sources.iter().cloned().partition(is_template);
        if templates.is_empty() {
            return Texts {
                texts,
                origins: Origins::default(),
                raw: BTreeSet::new(),
            };
        }
        let given = |_: &str| None;
        let variables = Variables {
            given: &given,
            request,
        };
        let (replaced, origins, _) =
            Origins::substitute(templates.clone(), variables, &request.budget);
        let done: BTreeSet<&str> = replaced
            .iter()
            .map(|source| source.name().as_ref())
            .collect();
        let raw: Vec<Source> = templates
            .iter()
            .filter(|source| !done.contains(source.name().as_ref()))
            .cloned()
            .collect();
        let names = raw.iter().map(|source| source.name().to_string()).collect();
        texts.extend(raw);
        texts.extend(replaced.iter().cloned());
        Texts {
            texts,
            origins,
            raw: names,
        }
    }
}
