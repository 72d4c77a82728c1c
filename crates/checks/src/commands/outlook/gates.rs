//! Feature gates that a release no longer knows: of Kubernetes' components, of kubeadm, and of
//! Cluster API's managers. A program that gets an unknown gate exits.

use serde_json::Value;

use super::documents::Document;
use super::prediction::{Ends, Prediction};
use super::specs::{self, Spec};
use super::strings::{self, Line};
use crate::commands::lint::Form;
use windlass_bootstrap::preflight::{gates, losses};
use windlass_capi::contract::endings::{self, Subject};
use windlass_objects::{Object, fields, pods};
use windlass_source::diag::{FieldPath, Place, rules};

rules! {
    /// a release no longer knows a feature gate
    GATE = warning("outlook-gate");
}

/// The images of Cluster API's managers.
const MANAGERS: [&str; 4] = [
    "cluster-api-controller",
    "kubeadm-bootstrap-controller",
    "kubeadm-control-plane-controller",
    "capd-manager",
];

/// The providers of Cluster API in objects of its operator; no name: all of the kind.
const PROVIDERS: [(&str, &str); 4] = [
    ("CoreProvider", ""),
    ("BootstrapProvider", "kubeadm"),
    ("ControlPlaneProvider", "kubeadm"),
    ("InfrastructureProvider", "docker"),
];

const OPERATOR_GROUP: &str = "operator.cluster.x-k8s.io";

pub(super) fn predict(document: &Document) -> Vec<Prediction> {
    let mut found = Vec::new();
    for spec in specs::of(document) {
        for (component, value, path) in losses::component_gates(&spec.value, &spec.path) {
            let place = || spec.place(document, &path, false);
            let of_components =
                names(value).filter_map(|name| of_component(component, name, place()));
            found.extend(of_components);
        }
        found.extend(of_kubeadm(document, &spec));
    }
    found.extend(of_files(document));
    // The components of a release are replaced as a whole.
    if document.form != Form::Components {
        found.extend(of_manager(&document.object));
    }
    found.extend(of_operator(&document.object));
    found
}

/// The names in `A=true,B=false`.
fn names(value: &str) -> impl Iterator<Item = &str> {
    let pairs = value.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, _)| name.trim())
}

fn of_component(component: &str, name: &str, place: Place) -> Option<Prediction> {
    let ending = endings::ending(Subject::Gate, name)?;
    let message = format!(
        "{component} of {} does not know the feature gate {name}, and exits",
        Ends::of(ending)
    );
    let help = format!("remove `{name}` before the upgrade");
    let prediction = Ends::of(ending).predict(&GATE, message, place, help);
    Some(prediction.upstream(format!("unrecognized feature gate: {name}")))
}

fn of_kubeadm(document: &Document, spec: &Spec<'_>) -> Vec<Prediction> {
    let steps = ["clusterConfiguration", "featureGates"];
    let set = fields::field(&spec.value, &steps).and_then(Value::as_object);
    let path = spec.path.field(steps[0]).field(steps[1]);
    let lost = set
        .into_iter()
        .flat_map(|set| set.keys())
        .filter_map(|name| {
            let ends = Ends::in_kubernetes(gates::lost_in(name)?)?;
            let message = format!(
                "kubeadm of {} does not know the feature gate {name}, and exits",
                ends
            );
            let place = spec.place(document, &path.field(name), true);
            let help = format!("remove `{name}` before the upgrade");
            let prediction = ends.predict(&GATE, message, place, help);
            Some(prediction.upstream(format!("{name} is not a valid feature name.")))
        });
    lost.collect()
}

/// `Name: true` below `featureGates:` of a component's configuration in a file.
fn of_files(document: &Document) -> Vec<Prediction> {
    let mut list: Option<(FieldPath, usize)> = None;
    strings::find(document, |line| {
        let indent = line.text.len() - line.text.trim_start().len();
        if line.text.trim() == "featureGates:" {
            list = Some((line.path.clone(), indent));
            return None;
        }
        let is_within = list
            .as_ref()
            .is_some_and(|(path, of_list)| path == line.path && indent > *of_list);
        if !is_within {
            list = None;
            return None;
        }
        of_file_line(document, line)
    })
}

fn of_file_line(document: &Document, line: &Line<'_>) -> Option<Prediction> {
    let (name, _) = line.text.trim().split_once(':')?;
    of_component("a component", name, line.place(document))
}

/// The gates in the arguments of a manager of Cluster API.
fn of_manager(object: &Object) -> Vec<Prediction> {
    let mut found = Vec::new();
    for (path, container) in pods::containers(object.value()) {
        let image = fields::text(container, &["image"]);
        let name = image.rsplit('/').next().unwrap_or_default();
        let name = name.split([':', '@']).next().unwrap_or_default();
        if !MANAGERS.contains(&name) {
            continue;
        }
        for (at, argument) in fields::items(container, &["args"]).iter().enumerate() {
            let value = argument
                .as_str()
                .and_then(|text| text.trim_start_matches('-').strip_prefix("feature-gates="));
            let place = || object.place(&path.field("args").index(at));
            let set = value.into_iter().flat_map(names);
            found.extend(set.filter_map(|name| of_manager_gate(name, place())));
        }
    }
    found
}

/// The gates in an object of Cluster API's operator.
fn of_operator(object: &Object) -> Vec<Prediction> {
    let is_own = object.group() == OPERATOR_GROUP
        && PROVIDERS.iter().any(|(kind, name)| {
            *kind == object.kind() && (name.is_empty() || *name == object.name())
        });
    let steps = ["spec", "manager", "featureGates"];
    let set = object
        .field(&steps)
        .and_then(Value::as_object)
        .filter(|_| is_own);
    let path = FieldPath::of_fields("spec.manager.featureGates");
    let gates = set.into_iter().flat_map(|set| set.keys());
    gates
        .filter_map(|name| of_manager_gate(name, object.key_place(&path.field(name))))
        .collect()
}

fn of_manager_gate(name: &str, place: Place) -> Option<Prediction> {
    let ending = endings::ending(Subject::ManagerGate, name)?;
    let message = format!(
        "managers of {} do not know the feature gate {name}, and exit",
        Ends::of(ending)
    );
    let help = format!("remove `{name}` before the upgrade: the feature is always on then");
    let prediction = Ends::of(ending).predict(&GATE, message, place, help);
    Some(prediction.upstream(format!("unrecognized feature gate: {name}")))
}
