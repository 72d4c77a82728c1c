//! From a config to the data of one machine: prove, look around, plan, encode.

use crate::api::boot::{Compression, Format, IgnitionVersion, OnFailure, Platform};
use crate::api::secret::Sensitive;
use crate::api::v1beta2::WindlassConfigSpec;
use crate::diag::{Diagnostic, FieldPath, rules};
use crate::render::input::cluster_class;
use crate::render::input::outcome::Notes;
use crate::render::input::pool::Pool;
use crate::render::input::request::Request;
use crate::render::input::role::Role;
use crate::render::input::surroundings::Surroundings;
use crate::render::input::target::{ConfigKind, Target};
use crate::render::plan::node_plan::NodePlan;
use crate::render::plan::planner::Planner;
use crate::render::prove::config::{self, Config};
use crate::render::write::cloud_config::{self, Encoder, NodeFile, RunItem};
use crate::render::write::{gzip, ignition, quirks, size};

rules! {
    /// A field that is not rendered yet.
    pub NOT_RENDERED = error("config-field-not-rendered");
    /// A config for Windows of a machine of the control plane.
    pub WINDOWS_CONTROL_PLANE = error("config-windows-control-plane");
}

/// The bootstrap data of a machine, and how it came to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The role.
    pub role: Role,
    /// The cluster.
    pub cluster_name: String,
    /// The version of Kubernetes.
    pub kubernetes_version: String,
    /// The format of the data.
    pub format: Format,
    /// The version of Ignition, when that is the format.
    pub ignition: Option<IgnitionVersion>,
    /// How the user's texts are written.
    pub encoder: Encoder,
    /// Where the spec is in the user's object.
    pub spec_path: FieldPath,
    /// What the node gets.
    pub plan: NodePlan,
    /// The data.
    pub data: Sensitive<Vec<u8>>,
}

impl Rendered {
    /// The files that the node gets, in the order in which they are written.
    pub fn node_files(&self) -> Vec<NodeFile<'_>> {
        match self.format {
            Format::CloudConfig => cloud_config::node_files(&self.plan, self.encoder),
            Format::Ignition => ignition::node_files(self.data.expose(), &self.plan),
        }
    }

    /// What the node runs, in this order.
    pub fn run_items(&self) -> Vec<RunItem<'_>> {
        match self.format {
            Format::CloudConfig => cloud_config::run_items(&self.plan),
            Format::Ignition => ignition::run_items(&self.plan),
        }
    }
}

/// Renders a machine. What is wrong or filled in is in the notes.
pub fn render(pool: &Pool, target: &Target<'_>, request: &Request, notes: &mut Notes) -> Option<Rendered> {
    let config = config::prove(target, request, notes);
    let surroundings = Surroundings::of(pool, target, request, notes);
    notes.report.extend(cluster_class::unapplied_patches(pool, target));
    let (config, surroundings) = (config?, surroundings?);
    refuse_unsupported(target, &config, notes)?;
    refuse_windows_control_plane(target, &config.spec, surroundings.role, notes)?;
    let Surroundings { role, kubernetes_version, .. } = surroundings.clone();
    let cluster_name = surroundings.cluster.name.clone();
    let (format, ignition) = (config.spec.format.unwrap_or(Format::CloudConfig), config.spec.ignition.clone());
    let max_data_bytes = config.spec.max_data_bytes;
    let plan = Planner { pool, target, request, surroundings }.plan(config, notes)?;
    let encoder = match target.kind {
        ConfigKind::Windlass(_) => Encoder::Typed,
        _ => request.encoder.unwrap_or(Encoder::Capi),
    };
    let spec_path = target.spec_path();
    let of_spec = ignition.as_ref().and_then(|ignition| ignition.version);
    let version = request.ignition.or(of_spec).unwrap_or(IgnitionVersion::V2_3);
    let data = match format {
        Format::CloudConfig => {
            quirks::check(&plan, target.config, &spec_path, encoder, notes)?;
            let document = cloud_config::encode(&plan, encoder);
            match plan.compression {
                Compression::None => document,
                Compression::Gzip => Sensitive::new(gzip::compress(document.expose())),
            }
        }
        Format::Ignition => {
            let profile = &request.profile;
            let context = ignition::Context { config: target.config, spec_path: &spec_path, profile, show_secrets: request.show_secrets };
            ignition::encode(&plan, ignition.as_ref(), version, &context, notes)?
        }
    };
    let rendered = Rendered {
        role,
        cluster_name,
        kubernetes_version,
        format,
        ignition: (format == Format::Ignition).then_some(version),
        encoder,
        spec_path,
        plan,
        data,
    };
    size::check(target, &rendered, max_data_bytes, notes)?;
    Some(rendered)
}

/// Refuses what would be rendered wrongly, because this version does not know it.
fn refuse_unsupported(target: &Target<'_>, config: &Config, notes: &mut Notes) -> Option<()> {
    let spec = &config.spec;
    let windows = spec.platform == Some(Platform::Windows);
    let unsupported = [("onFailure", windows && spec.on_failure.is_some_and(|action| action != OnFailure::Continue))];
    let mut all_known = true;
    for (name, _) in unsupported.into_iter().filter(|(_, is_set)| *is_set) {
        all_known = false;
        let path = target.spec_path().field(name);
        let finding = Diagnostic::of(&NOT_RENDERED, format!("{path} is set, which this version of windlass does not render yet"));
        notes.report.push(finding.at(target.config.place(&path)).help("leave the field out to render the rest"));
    }
    all_known.then_some(())
}

/// Nodes with Windows are workers.
fn refuse_windows_control_plane(target: &Target<'_>, spec: &WindlassConfigSpec, role: Role, notes: &mut Notes) -> Option<()> {
    if spec.platform != Some(Platform::Windows) || !role.is_control_plane() {
        return Some(());
    }
    let path = target.spec_path().field("platform");
    let message = format!("{path} is windows, but the machine is of the control plane");
    let finding = Diagnostic::of(&WINDOWS_CONTROL_PLANE, message).at(target.config.place(&path));
    notes.refuse(finding.help("remove `platform`, or render it with `--role worker-join`"))
}
