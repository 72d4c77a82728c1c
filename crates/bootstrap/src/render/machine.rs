//! From a config to the data of one machine: the whole walk.

use crate::render::input::cluster_class;
use crate::render::input::outcome::Notes;
use crate::render::input::render_context::RenderContext;
use crate::render::input::request::{Encoder, Request};
use crate::render::input::target::{ConfigKind, Target};
use crate::render::plan::planner::Planner;
use crate::render::validation::{config, whole, windows};
use crate::render::write::rendered::Rendered;
use crate::render::write::{cloud_config, ignition, quirks, size};
use windlass_capi::api::boot::{Compression, Format, IgnitionVersion};
use windlass_capi::api::secret::Sensitive;
use windlass_objects::Pool;
use windlass_source::diag::Class;
use windlass_source::gzip;

/// What came of rendering a machine, and so what a controller does next. The notes say why.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The data is there.
    Rendered(Box<Rendered>),
    /// Something that others make is missing: look again when it changes.
    Waiting,
    /// The objects cannot be rendered as they are written: a terminal failure until somebody
    /// changes them.
    Rejected,
}

impl Outcome {
    /// The data, if it is there.
    pub fn rendered(self) -> Option<Rendered> {
        match self {
            Outcome::Rendered(rendered) => Some(*rendered),
            Outcome::Waiting | Outcome::Rejected => None,
        }
    }
}

/// Renders a machine. What is wrong or filled in is in the notes; the classes of their rules tell
/// waiting from rejection.
pub fn render(pool: &Pool, target: &Target<'_>, request: &Request, notes: &mut Notes) -> Outcome {
    let mut own = Notes::default();
    let outcome = match walk(pool, target, request, &mut own) {
        Some(rendered) => Outcome::Rendered(Box::new(rendered)),
        None if own
            .report
            .findings()
            .iter()
            .any(|finding| finding.rule.class == Class::Reject) =>
        {
            Outcome::Rejected
        }
        None => Outcome::Waiting,
    };
    notes.extend(own);
    outcome
}

/// The encoder of a machine's cloud-config: only kubeadm's kinds can be written as CAPI does.
pub(crate) fn encoder(target: &Target<'_>, request: &Request) -> Encoder {
    match target.kind {
        ConfigKind::Windlass(_) => Encoder::Typed,
        _ => request.encoder.unwrap_or(Encoder::Capi),
    }
}

fn walk(
    pool: &Pool,
    target: &Target<'_>,
    request: &Request,
    notes: &mut Notes,
) -> Option<Rendered> {
    let whole = whole::check(target, request, notes);
    let config = config::validate(target, request, notes);
    let render_context = RenderContext::of(pool, target, request, notes);
    notes
        .report
        .extend(cluster_class::unapplied_patches(pool, target));
    let (_, config, render_context) = (whole?, config?, render_context?);
    windows::reject_windows_control_plane(target, &config.spec, render_context.role, notes)?;
    let RenderContext {
        role,
        kubernetes_version,
        ..
    } = render_context.clone();
    let cluster_name = render_context.cluster.name.clone();
    let (format, ignition) = (
        config.spec.format.unwrap_or(Format::CloudConfig),
        config.spec.ignition.clone(),
    );
    let max_data_bytes = config.spec.max_data_bytes;
    let plan = Planner {
        pool,
        target,
        request,
        render_context,
    }
    .plan(config, notes)?;
    let encoder = encoder(target, request);
    let spec_path = target.spec_path();
    let of_spec = ignition.as_ref().and_then(|ignition| ignition.version);
    let version = request
        .ignition
        .or(of_spec)
        .unwrap_or(IgnitionVersion::V2_3);
    let data = match format {
        Format::CloudConfig => {
            quirks::check(
                &plan,
                target.config,
                &spec_path,
                encoder,
                &request.budget,
                notes,
            )?;
            let document = cloud_config::encode(&plan, encoder);
            match plan.compression {
                Compression::None => document,
                Compression::Gzip => Sensitive::new(gzip::compress(document.expose())),
            }
        }
        Format::Ignition => {
            let profile = &request.profile;
            let context = ignition::Context {
                config: target.config,
                spec_path: &spec_path,
                profile,
                show_secrets: request.show_secrets,
            };
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
