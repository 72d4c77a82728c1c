//! The images that a rendered machine pulls at its first boot, each with its origin: kubeadm's,
//! those of pods in files, those of commands, and those of the container runtime's settings.
//!
//! What a machine downloads and runs at boot is not known here: it is a finding.

mod commands;
mod files;
pub mod findings;
pub mod kubeadm;
mod names;
mod releases;
mod runtime;
mod script_values;
mod workloads;

pub(crate) use releases::covered;

use serde_json::Value;

use findings::Spot;
use names::{Kind, kind};

use windlass_bootstrap::render::{Rendered, Target};
use windlass_objects::Object;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Report};

/// What pulls an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Puller {
    /// kubeadm, or a component that it installs.
    Kubeadm,
    /// The kubelet, for a static pod in `files`.
    StaticPod,
    /// The kubelet, for a pod of a manifest in `files`.
    Manifest,
    /// A command.
    Command,
    /// The container runtime, for every pod.
    ContainerRuntime,
}

impl Puller {
    /// The value in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Puller::Kubeadm => "kubeadm",
            Puller::StaticPod => "static-pod",
            Puller::Manifest => "manifest",
            Puller::Command => "command",
            Puller::ContainerRuntime => "container-runtime",
        }
    }
}

/// An image that a machine pulls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PulledImage {
    /// The name as it is pulled.
    pub image: String,
    /// The program that pulls it.
    pub puller: Puller,
    /// The fields of the config that name it; none for a default of kubeadm.
    pub fields: Vec<FieldPath>,
    /// The file on the machine that names it.
    pub file: Option<String>,
}

/// The images of a machine that its config names outside of kubeadm's settings.
pub(crate) fn of_config(
    target: &Target<'_>,
    rendered: &Rendered,
    budget: &Budget,
) -> (Vec<PulledImage>, Report) {
    let machine = Machine {
        target,
        rendered,
        budget,
    };
    let mut found = Found::default();
    let files = files::texts(&machine, &mut found);
    commands::collect(&machine, &files, &mut found);
    for file in &files {
        workloads::collect(&machine, file, &mut found);
        runtime::collect(&machine, file, &mut found);
    }
    runtime::collect_kubelet_arguments(&machine, &mut found);
    (found.images, found.findings.into_iter().collect())
}

/// The finding for an image of kubeadm whose name is none, or is computed: settings of the user are
/// parts of it.
pub(crate) fn unlisted(config: &Object, pulled: &PulledImage) -> Option<Diagnostic> {
    let spot = Spot {
        field: pulled.fields.first().cloned().unwrap_or_default(),
        line: None,
    };
    match kind(&pulled.image) {
        Kind::Name => None,
        Kind::Computed => Some(findings::name_computed(config, &spot, &pulled.image)),
        Kind::Invalid => Some(findings::name_invalid(config, &spot, &pulled.image)),
    }
}

/// A machine whose images are listed.
pub struct Machine<'a> {
    /// The bootstrap config and the role of the machine.
    pub target: &'a Target<'a>,
    rendered: &'a Rendered,
    budget: &'a Budget,
}

impl Machine<'_> {
    /// Adds an image that a field names, with the file on the machine; what is not a name is
    /// reported.
    fn add(
        &self,
        found: &mut Found,
        name: &str,
        puller: Puller,
        (field, file): (&FieldPath, Option<&str>),
        spot: &Spot,
    ) {
        let config = self.target.config;
        let finding = match kind(name) {
            Kind::Name => {
                found.images.push(PulledImage {
                    image: name.to_owned(),
                    puller,
                    fields: vec![field.clone()],
                    file: file.map(str::to_owned),
                });
                return;
            }
            Kind::Computed => findings::name_computed(config, spot, name),
            Kind::Invalid => findings::name_invalid(config, spot, name),
        };
        found.findings.push(finding);
    }

    fn field(&self, name: &str) -> FieldPath {
        self.rendered.spec_path.field(name)
    }
}

/// The images so far, and what is not known of them.
#[derive(Default)]
struct Found {
    images: Vec<PulledImage>,
    findings: Vec<Diagnostic>,
}

/// The items of a list, none for anything else.
fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}
