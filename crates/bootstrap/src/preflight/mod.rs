//! What fails on the node although the API takes it: arguments that a component of that version of
//! Kubernetes does not have, labels and taints that no node can have, values and feature gates that
//! kubeadm rejects, commands that no shell reads, and versions that do not go together.
//!
//! The check of the API for configs is `render::validation`; nothing of it is repeated here. Of the
//! objects around them it is `core_kinds`. Checks that depend on the Kubernetes version run only if
//! the input or a flag contains that version: a placeholder version causes no finding.

mod arguments;
pub mod cloud_config;
pub mod commands;
pub mod component_flags;
pub mod core_kinds;
mod etcd;
pub mod gates;
mod known_flags;
pub mod kubeadm_values;
pub mod losses;
pub mod matrix;
pub(crate) mod networks;
pub mod node_files;
pub mod node_labels;
pub mod node_taints;
pub mod patch_files;
pub(crate) mod static_pods;

pub use networks::of_cluster;

use semver::Version;
use serde_json::Value;

use arguments::Component;

use crate::render::input::render_context::RenderContext;
use crate::render::input::request::Encoder;
use crate::render::machine::encoder;
use crate::render::{Notes, Profile, Rendered, Request, Target};
use windlass_capi::contract::parse_tolerant;
use windlass_objects::{Object, Pool, fields};
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Report, Setting};

/// A machine that is checked.
struct Subject<'a> {
    config: &'a Object,
    spec_path: FieldPath,
    /// The spec, as it is written.
    spec: &'a Value,
    /// The CAPI release.
    profile: Profile,
    /// The Kubernetes version, if somebody says it.
    kubernetes: Option<Version>,
    version_place: Place,
    /// Whether line ends of contents reach the node as LF: CAPI writes them into a YAML block.
    ends_lines_in_lf: bool,
    budget: &'a Budget,
}

impl Subject<'_> {
    fn place(&self, path: &FieldPath) -> Place {
        self.config.place(path)
    }

    /// The Kubernetes minor version 1.
    fn minor(&self) -> Option<u64> {
        self.kubernetes
            .as_ref()
            .filter(|version| version.major == 1)
            .map(|version| version.minor)
    }

    /// The minor version of a component, as its flags are counted by.
    fn minor_of(&self, component: Component) -> Option<u64> {
        if component == Component::Etcd {
            etcd::minor(self)
        } else {
            self.minor()
        }
    }
}

/// Checks one machine. `rendered`: what came of it, if anything did. `is_version_said`: whether
/// Kubernetes versions in the objects are those of the user.
pub fn check(
    pool: &Pool,
    target: &Target<'_>,
    request: &Request,
    rendered: Option<&Rendered>,
    is_version_said: bool,
) -> Report {
    let Some(spec) = target.spec() else {
        return Report::new();
    };
    let mut notes = Notes::default();
    let render_context = RenderContext::of(pool, target, request, &mut notes);
    let is_said = (is_version_said || request.kubernetes_version.is_some())
        && notes
            .placeholders
            .iter()
            .all(|placeholder| placeholder.setting != Some(Setting::KubernetesVersion));
    let subject = Subject {
        config: target.config,
        spec_path: target.spec_path(),
        spec,
        profile: request.profile,
        kubernetes: render_context
            .as_ref()
            .filter(|_| is_said)
            .and_then(|found| parse_tolerant(&found.kubernetes_version).ok()),
        budget: &request.budget,
        ends_lines_in_lf: fields::text(spec, &["format"]) != "ignition"
            && encoder(target, request) == Encoder::Capi,
        version_place: render_context
            .as_ref()
            .map(|found| found.version_spot.place())
            .unwrap_or_default(),
    };
    let of_data: [fn(&Subject<'_>, &Rendered) -> Vec<Diagnostic>; 3] =
        [cloud_config::check, node_files::check, static_pods::check];
    let of_data = rendered
        .into_iter()
        .flat_map(|rendered| of_data.into_iter().map(move |judge| (judge, rendered)))
        .flat_map(|(judge, rendered)| judge(&subject, rendered));
    let judges: [fn(&Subject<'_>) -> Vec<Diagnostic>; 8] = [
        component_flags::check,
        node_labels::check,
        node_taints::check,
        gates::check,
        kubeadm_values::check,
        patch_files::check,
        commands::check,
        matrix::check,
    ];
    judges
        .into_iter()
        .flat_map(|judge| judge(&subject))
        .chain(of_data)
        .collect()
}
