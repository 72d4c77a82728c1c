//! `images`: every image that the first boot of each machine pulls, with its origin.

mod packages;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

pub use packages::{hauler, zarf};
pub use text::text;

use super::render::{Machine, Rendering};
use crate::images::findings;
use crate::images::kubeadm::{self, Settings};
use crate::images::{self, PulledImage, Puller};
use windlass_bootstrap::preflight::kubeadm_values;
use windlass_bootstrap::render::{Placeholder, Rendered, Role};
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Report, Setting};

/// A machine with its images.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineImages {
    /// `Kind/name` of the config, or of what makes machines of a template.
    pub object: String,
    /// `init`, `control-plane-join`, `worker-join` or `machinepool`.
    pub role: &'static str,
    /// The Kubernetes version; null if none is known.
    pub kubernetes_version: Option<String>,
    /// The images: kubeadm's in kubeadm's order, then those of the config.
    pub images: Vec<MachineImage>,
}

/// An image that a machine pulls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineImage {
    /// The name as it is pulled.
    pub image: String,
    /// What names it, each once.
    pub origins: Vec<Origin>,
}

/// What names an image.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// `kubeadm`, `static-pod`, `manifest`, `command` or `container-runtime`.
    pub pulled_by: &'static str,
    /// `Kind/name` of the object with the fields; null for a default of kubeadm.
    pub object: Option<String>,
    /// The fields that decide the name, such as `spec.files[0]`; empty for a default of kubeadm.
    pub fields: Vec<String>,
    /// The file on the machine that names it; null when none does.
    pub file: Option<String>,
}

/// The images of all machines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Images {
    /// The machines, in the order of the input.
    pub machines: Vec<MachineImages>,
    /// The names that contain a variable without a value, which no machine lists.
    pub unset: Vec<String>,
    /// What is not known.
    pub report: Report,
}

impl Images {
    /// The names of all images, each once.
    pub fn names(&self) -> BTreeSet<&str> {
        let images = self.machines.iter().flat_map(|machine| &machine.images);
        images.map(|image| image.image.as_str()).collect()
    }
}

/// What is known of the input beside the machines.
pub struct Known<'k> {
    /// Whether Kubernetes versions in the objects are those of the user, and no placeholders of
    /// variables.
    pub has_version: bool,
    /// Whether the Kubernetes version is that of the flag.
    pub is_version_of_flag: bool,
    /// Whether a name contains a variable without a value.
    pub is_unset: &'k dyn Fn(&str) -> bool,
}

/// A control plane, by the namespace and the name of its cluster.
type ControlPlane<'m> = (Settings, &'m Machine<'m>, &'m Rendered);
type Clusters<'m> = BTreeMap<(&'m str, &'m str), ControlPlane<'m>>;

/// Lists the images of all machines that could be rendered.
pub fn run(rendering: &Rendering<'_>, known: &Known<'_>, budget: &Budget) -> Images {
    let rendered = || {
        rendering
            .machines
            .iter()
            .filter_map(|machine| Some((machine, machine.rendered.as_ref()?)))
    };
    let mut clusters = Clusters::new();
    for (machine, data) in rendered() {
        if let Some(settings) = kubeadm::settings(data, budget) {
            clusters
                .entry(cluster(machine, data))
                .or_insert((settings, machine, data));
        }
    }
    let is_rejected = |machine: &Machine<'_>| {
        machine.rendered.is_none() && matches!(machine.role, Role::Init | Role::ControlPlaneJoin)
    };
    let mut listing = Listing {
        clusters,
        has_rejected_control_plane: rendering.machines.iter().any(is_rejected),
        known,
        budget,
        images: Images::default(),
        without_version: Vec::new(),
        reported: BTreeSet::new(),
    };
    rendered().for_each(|(machine, data)| listing.machine(machine, data));
    listing.finish()
}

fn cluster<'m>(machine: &Machine<'m>, rendered: &'m Rendered) -> (&'m str, &'m str) {
    let namespace = machine.target.config.namespace_or_default();
    (namespace, &rendered.cluster_name)
}

/// The images of a machine, each once.
#[derive(Default)]
struct Grouped {
    images: Vec<MachineImage>,
    /// The index of each name.
    indices: BTreeMap<String, usize>,
    origins: BTreeSet<(usize, Origin)>,
}

impl Grouped {
    fn add(&mut self, image: String, origin: Origin) {
        let index = *self.indices.entry(image.clone()).or_insert_with(|| {
            self.images.push(MachineImage {
                image,
                origins: Vec::new(),
            });
            self.images.len() - 1
        });
        if self.origins.insert((index, origin.clone())) {
            self.images[index].origins.push(origin);
        }
    }
}

/// The list in the making.
struct Listing<'m> {
    clusters: Clusters<'m>,
    /// Whether the input has a control plane that could not be rendered.
    has_rejected_control_plane: bool,
    known: &'m Known<'m>,
    budget: &'m Budget,
    images: Images,
    /// The machines without a Kubernetes version.
    without_version: Vec<(Place, String)>,
    /// The keys of the findings that were reported.
    reported: BTreeSet<(&'static str, String)>,
}

impl<'m> Listing<'m> {
    fn machine(&mut self, machine: &'m Machine<'m>, rendered: &'m Rendered) {
        let title = machine.target.named().title();
        let version = Some(rendered.kubernetes_version.clone())
            .filter(|_| self.known.has_version && !machine.has_placeholder_version());
        let mut images = Grouped::default();
        match &version {
            Some(version) => self.of_kubeadm(machine, rendered, version, &mut images),
            None => {
                let at = version_place(machine);
                self.without_version.push((at, title.clone()));
            }
        }
        let (found, report) = images::of_config(&machine.target, rendered, self.budget);
        let report = match machine.planned {
            Some(planned) => planned.explained(report, machine.target.config),
            None => report,
        };
        for finding in report.into_findings() {
            let start = finding.place.span.map(|span| span.start.offset);
            let key = format!("{:?} {start:?} {}", finding.place.file, finding.message);
            if self.reported.insert((finding.rule.id, key)) {
                self.images.report.push(finding);
            }
        }
        let config = machine.target.config.title();
        found
            .into_iter()
            .for_each(|image| self.add(&mut images, image, &config));
        self.images.machines.push(MachineImages {
            object: title,
            role: machine.role.as_str(),
            kubernetes_version: version,
            images: images.images,
        });
    }

    fn add(&mut self, images: &mut Grouped, pulled: PulledImage, object: &str) {
        if (self.known.is_unset)(&pulled.image) {
            self.images.unset.push(pulled.image);
            return;
        }
        let is_default = pulled.puller == Puller::Kubeadm && pulled.fields.is_empty();
        let origin = Origin {
            pulled_by: pulled.puller.as_str(),
            object: (!is_default).then(|| object.to_owned()),
            fields: pulled.fields.iter().map(FieldPath::to_string).collect(),
            file: pulled.file,
        };
        images.add(pulled.image, origin);
    }

    /// Adds kubeadm's images, by the settings of the machine's cluster.
    fn of_kubeadm(
        &mut self,
        machine: &'m Machine<'m>,
        rendered: &'m Rendered,
        version: &str,
        images: &mut Grouped,
    ) {
        let is_control_plane = matches!(machine.role, Role::Init | Role::ControlPlaneJoin);
        let control_plane = self
            .clusters
            .get(&cluster(machine, rendered))
            .or_else(|| self.only_control_plane());
        let (settings, config, spec) = match control_plane {
            Some((settings, of, data)) => {
                (settings.clone(), of.target.config, data.spec_path.clone())
            }
            None => {
                let title = machine.target.named().title();
                let place = machine.target.named().place(&FieldPath::root());
                if self.is_new("control plane", &title) {
                    let has_rejected = self.has_rejected_control_plane;
                    let finding = findings::control_plane_absent(place, &title, has_rejected);
                    self.images.report.push(finding);
                }
                let settings = Settings::defaults(version);
                (settings, machine.target.named(), rendered.spec_path.clone())
            }
        };
        let of_kubeadm = if is_control_plane {
            settings.control_plane(&spec)
        } else {
            settings.worker(version, &spec)
        };
        let is_of_flag = self.known.is_version_of_flag;
        let located = |finding: Diagnostic| match is_of_flag {
            true => finding,
            false => finding.at(version_place(machine)),
        };
        let kubeadm_version = if is_control_plane {
            settings.kubernetes_version.as_str()
        } else {
            version
        };
        let mut missing = of_kubeadm.missing;
        missing.retain(|name| self.is_new("uncovered", &format!("{kubeadm_version} {name}")));
        if !missing.is_empty() {
            let finding = findings::version_uncovered(kubeadm_version, &missing);
            self.images.report.push(located(finding));
        }
        if let Some(from) = &of_kubeadm.assumed
            && self.is_new("assumed", kubeadm_version)
        {
            let finding = findings::version_assumed(kubeadm_version, from);
            self.images.report.push(located(finding));
        }
        let object = config.title();
        for image in of_kubeadm.images {
            // One field is part of many names.
            let field = format!("{object} {:?}", image.fields.first());
            match images::unlisted(config, &image) {
                None => self.add(images, image, &object),
                Some(finding) if self.is_new("name", &field) => {
                    let field = image.fields.first();
                    let rejected =
                        field.and_then(|field| kubeadm_values::rejected_repository(config, field));
                    self.images.report.push(rejected.unwrap_or(finding));
                }
                Some(_) => {}
            }
        }
    }

    /// The only control plane of the input, when nothing names its cluster.
    fn only_control_plane(&self) -> Option<&ControlPlane<'m>> {
        let mut all = self.clusters.values();
        let only = all.next().filter(|_| all.next().is_none())?;
        let (_, machine, _) = only;
        let is_unnamed =
            |placeholder: &Placeholder| placeholder.setting == Some(Setting::ClusterName);
        machine.placeholders.iter().any(is_unnamed).then_some(only)
    }

    fn is_new(&mut self, what: &'static str, of: &str) -> bool {
        self.reported.insert((what, of.to_owned()))
    }

    fn finish(mut self) -> Images {
        if let Some((place, first)) = self.without_version.first() {
            let titles = self.without_version.iter().map(|(_, title)| title);
            let others = titles.collect::<BTreeSet<_>>().len() - 1;
            let finding = findings::version_unknown(place.clone(), first, others);
            self.images.report.push(finding);
        }
        self.images
    }
}

/// The location of the Kubernetes version of a machine.
fn version_place(machine: &Machine<'_>) -> Place {
    let target = &machine.target;
    if target.set.is_some() {
        return target
            .named()
            .place(&FieldPath::of_fields("spec.template.spec.version"));
    }
    if target.is_control_plane_object() && !target.is_template() {
        return target.config.place(&FieldPath::of_fields("spec.version"));
    }
    target.config.place(&FieldPath::root())
}
