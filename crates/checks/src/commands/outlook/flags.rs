//! Flags of Kubernetes' components and of etcd that a version no longer takes.

use super::documents::Document;
use super::prediction::{Ends, Prediction};
use super::specs::{self, Spec};
use super::strings::{self, Line};
use windlass_bootstrap::preflight::losses::{self, LostFlag};
use windlass_source::diag::rules;

rules! {
    /// a Kubernetes version removes a flag of a component
    FLAG = warning("outlook-flag");
}

/// Variables of kubeadm's unit for the kubelet whose values are its flags.
const KUBELET_VARIABLES: [&str; 2] = ["KUBELET_EXTRA_ARGS", "KUBELET_KUBEADM_ARGS"];

pub(super) fn predict(document: &Document) -> Vec<Prediction> {
    let mut found = Vec::new();
    for spec in specs::of(document) {
        let lost = losses::flags(&spec.value, &spec.path);
        found.extend(
            lost.iter()
                .filter_map(|lost| of_argument(document, &spec, lost)),
        );
    }
    let of_lines = strings::find(document, |line| {
        let predictions = of_line(document, line);
        (!predictions.is_empty()).then_some(predictions)
    });
    found.extend(of_lines.into_iter().flatten());
    found
}

fn of_argument(document: &Document, spec: &Spec<'_>, lost: &LostFlag) -> Option<Prediction> {
    let ends = Ends::in_kubernetes(lost.since)?;
    let message = format!(
        "{} is a flag that {} of {} does not take",
        lost.flag, lost.component, ends
    );
    let place = spec.place(document, &lost.path, lost.is_key);
    let prediction = ends.predict(&FLAG, message, place, lost.help.clone());
    Some(prediction.upstream(lost.upstream.clone()))
}

/// The flags of the kubelet in a line that sets its variable.
fn of_line(document: &Document, line: &Line<'_>) -> Vec<Prediction> {
    let Some(start) = KUBELET_VARIABLES
        .iter()
        .find_map(|variable| line.text.find(variable))
    else {
        return Vec::new();
    };
    let words = line.text[start..].split(|c: char| c.is_whitespace() || "\"'=".contains(c));
    let flags = words.filter_map(|word| word.strip_prefix("--"));
    let lost = flags.filter_map(|flag| {
        let (since, help) = losses::of_kubelet(flag)?;
        let ends = Ends::in_kubernetes(since)?;
        let message = format!("{flag} is a flag that kubelet of {} does not take", ends);
        Some(ends.predict(&FLAG, message, line.place(document), help))
    });
    lost.collect()
}
