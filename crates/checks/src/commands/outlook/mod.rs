//! `outlook PATH…`: what stops working in files, by the release that ends it. Each file of this
//! folder has one subject, with its rule beside its check. The facts are in
//! `windlass_capi::contract::endings`; those about flags, gates and Kubernetes' APIs are beside the
//! checks of `windlass_bootstrap::preflight` and `windlass_lint` that use them.

pub(crate) mod api_versions;
pub(crate) mod cloud_init;
pub(crate) mod contracts;
mod documents;
pub(crate) mod fields;
pub(crate) mod flags;
pub(crate) mod gates;
pub(crate) mod hosts;
pub(crate) mod kinds;
pub(crate) mod kubeadm_api;
pub mod listing;
pub mod markdown;
mod prediction;
pub(crate) mod rules;
mod specs;
mod strings;
pub mod text;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use documents::Document;
pub use prediction::Prediction;

use crate::charts::{self, Charts};
use crate::commands::lint::{Form, forms_of};
use crate::settings::ProjectRoles;
use windlass_capi::contract::endings::{self, Project, Release};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report};

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The texts, in the order in which they were given.
    pub sources: &'a [Source],
    /// The folders of the Helm charts that files are in, by the name of the file.
    pub charts: &'a Charts,
    /// The last releases that count.
    pub until: Until,
    /// What the kinds are, where their names do not tell it.
    pub roles: &'a ProjectRoles,
    /// What the run may spend.
    pub budget: &'a Budget,
}

/// The last releases that count, as major and minor version; `None`: all that are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Until {
    /// Of Cluster API.
    pub cluster_api: Option<(u64, u64)>,
    /// Of Kubernetes.
    pub kubernetes: Option<(u64, u64)>,
}

impl Until {
    /// Major and minor version of `v1.16`, `1.16` or `1.16.2`; `None` for anything else.
    pub fn parse(text: &str) -> Option<(u64, u64)> {
        endings::minor_version(text)
    }

    fn includes(self, release: &Release) -> bool {
        let last = match release.project {
            Project::ClusterApi => self.cluster_api,
            Project::Kubernetes => self.kubernetes,
            Project::CloudInit | Project::Hosts => None,
        };
        last.is_none_or(|last| release.number().is_none_or(|number| number <= last))
    }

    /// The last releases that are known: `Cluster API v1.17 and Kubernetes v1.38`.
    pub fn horizon(self) -> String {
        let last = |project| {
            let known = endings::releases(project).filter(|release| self.includes(release));
            known.max().map(Release::name)
        };
        let asked = |title: &str, version: Option<(u64, u64)>, project| match version {
            Some((major, minor)) => Some(format!("{title} v{major}.{minor}")),
            None => last(project),
        };
        [
            asked("Cluster API", self.cluster_api, Project::ClusterApi),
            asked("Kubernetes", self.kubernetes, Project::Kubernetes),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" and ")
    }
}

/// A file and what it was read as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadFile {
    /// The file as the user gave it.
    pub file: String,
    /// What `lint` takes it for: `components`, `metadata`, `template`, `objects`, `provider`,
    /// `kustomization`, `patch`, `copy`, `chart`, `templated` or `other`.
    pub form: &'static str,
}

/// What stops working.
#[derive(Debug, Clone, Default)]
pub struct Outlook {
    /// All files, in the order of the input.
    pub files: Vec<ReadFile>,
    /// How many Kubernetes objects were read.
    pub objects: usize,
    /// What stops working, in the order of the releases.
    pub predictions: Vec<Prediction>,
    /// What could not be read.
    pub report: Report,
}

/// Reads files and lists what stops working in them.
pub fn run(request: &Request<'_>) -> Outlook {
    let Request {
        sources, budget, ..
    } = *request;
    let forms = forms_of(sources, request.charts, budget);
    let mut outlook = Outlook {
        files: sources
            .iter()
            .zip(&forms)
            .map(|(source, form)| ReadFile {
                file: source.name().to_string(),
                form: form.as_str(),
            })
            .collect(),
        ..Outlook::default()
    };
    let templates = sources
        .iter()
        .zip(&forms)
        .filter(|(_, form)| **form == Form::Chart)
        .map(|(source, _)| source);
    outlook.report = charts::findings(templates, request.charts, "windlass outlook -");
    let read: Vec<(&Source, Form)> = sources
        .iter()
        .zip(forms)
        .filter(|(_, form)| is_read(*form))
        .collect();
    let documents = budget.each(&read, |(source, form), budget| {
        documents::read(source, *form, budget)
    });
    let mut all = Vec::new();
    for (found, report) in documents {
        outlook.report.extend(report);
        all.extend(found);
    }
    outlook.objects = all.len();
    let of_documents = budget.each(&all, |document, _| predictions(document));
    let mut predictions: Vec<Prediction> = of_documents.into_iter().flatten().collect();
    predictions.extend(contracts::predict(&all, &read, request.roles, budget));
    predictions.retain(|prediction| request.until.includes(prediction.release));
    outlook.predictions = sorted(predictions);
    budget.tell(&mut outlook.report);
    outlook
}

/// Whether the objects of such files are read. A copy has those of the components beside it.
fn is_read(form: Form) -> bool {
    !matches!(
        form,
        Form::Copy | Form::Chart | Form::Templated | Form::Other
    )
}

/// What stops working in a document, whatever is beside it.
fn predictions(document: &Document) -> Vec<Prediction> {
    let checks: [fn(&Document) -> Vec<Prediction>; 8] = [
        api_versions::predict,
        kinds::predict,
        fields::predict,
        gates::predict,
        flags::predict,
        kubeadm_api::predict,
        hosts::predict,
        cloud_init::predict,
    ];
    let found = checks.into_iter().flat_map(|check| check(document));
    found
        .map(|prediction| document.restored(prediction))
        .collect()
}

/// The predictions of a release with their findings.
pub type Group<'p> = (&'p Prediction, Vec<(&'p Prediction, &'p Diagnostic)>);

/// The predictions whose findings count, by release; with them the findings as `report` has them,
/// which may lack secrets and waived ones.
pub fn grouped<'p>(predictions: &'p [Prediction], report: &'p Report) -> Vec<Group<'p>> {
    let mut left: BTreeMap<_, VecDeque<&Diagnostic>> = BTreeMap::new();
    for finding in report.unwaived() {
        left.entry(location(finding))
            .or_default()
            .push_back(finding);
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    for prediction in predictions {
        let Some(finding) = left
            .get_mut(&location(&prediction.finding))
            .and_then(VecDeque::pop_front)
        else {
            continue;
        };
        match groups.last_mut() {
            Some((first, found)) if first.release == prediction.release => {
                found.push((prediction, finding));
            }
            _ => groups.push((prediction, vec![(prediction, finding)])),
        }
    }
    groups
}

/// The findings that are not predictions: about files that cannot be read, and about waivers.
pub fn others(predictions: &[Prediction], report: &Report) -> Report {
    let known: BTreeSet<_> = predictions
        .iter()
        .map(|prediction| location(&prediction.finding))
        .collect();
    let others = report.findings().iter();
    others
        .filter(|finding| !known.contains(&location(finding)))
        .cloned()
        .collect()
}

type Location = (&'static str, Option<(Arc<str>, usize)>);

fn location(finding: &Diagnostic) -> Location {
    (finding.rule.id, finding.place.start())
}

/// Sorts predictions by release; those about one location stay in their order. What was found twice
/// is there once.
fn sorted(mut predictions: Vec<Prediction>) -> Vec<Prediction> {
    let mut known = BTreeSet::new();
    predictions.retain(|prediction| {
        let message = prediction.finding.message.to_string();
        known.insert((location(&prediction.finding), message))
    });
    predictions.sort_by_key(|prediction| prediction.release);
    predictions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlook(text: &str, until: Until) -> Outlook {
        run(&Request {
            sources: &[Source::new("x.yaml", text)],
            charts: &Charts::new(),
            until,
            roles: &ProjectRoles::default(),
            budget: &Budget::default(),
        })
    }

    const CLUSTER: &str = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: c}\n\
        spec: {infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DockerCluster, name: c}}\n";

    fn releases(outlook: &Outlook) -> Vec<String> {
        let groups = grouped(&outlook.predictions, &outlook.report);
        assert!(groups.is_empty(), "the report has no predictions");
        let predictions = outlook.predictions.iter();
        predictions
            .map(|found| format!("{} {}", found.release.version, found.finding.rule.id))
            .collect()
    }

    #[test]
    fn releases_after_the_last_one_do_not_count() {
        let of = |cluster_api| {
            let until = Until {
                cluster_api,
                kubernetes: Some((1, 1)),
            };
            releases(&outlook(CLUSTER, until))
        };
        assert_eq!(
            of(None),
            ["v1.15 outlook-kind", "v1.16 outlook-api-version"]
        );
        assert_eq!(of(Some((1, 15))), ["v1.15 outlook-kind"]);
        assert_eq!(of(Some((1, 14))), [""; 0]);
    }

    #[test]
    fn the_horizon_is_what_is_known_or_asked_for() {
        let asked = Until {
            cluster_api: Until::parse("v1.16"),
            kubernetes: None,
        };
        assert_eq!(asked.horizon(), "Cluster API v1.16 and Kubernetes v1.38");
        assert_eq!(
            Until::default().horizon(),
            "Cluster API v1.17 and Kubernetes v1.38"
        );
    }

    #[test]
    fn predictions_without_a_finding_are_left_out() {
        let outlook = outlook(CLUSTER, Until::default());
        let report: Report = outlook
            .predictions
            .iter()
            .map(|found| found.finding.clone())
            .filter(|finding| finding.rule.id == "outlook-kind")
            .collect();
        let groups = grouped(&outlook.predictions, &report);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].1.len(), 1);
        assert!(others(&outlook.predictions, &report).is_empty());
    }
}
