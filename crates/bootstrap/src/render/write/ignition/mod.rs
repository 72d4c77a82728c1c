//! Ignition, the format that Flatcar and Fedora CoreOS read at their first boot.
//!
//! Version 2.3 is what CAPI's kubeadm bootstrap provider writes, byte for byte: it makes a
//! Container Linux Config with a template (`generated`), which a transpiler reads
//! (`container_linux`) and translates (`v2`). Version 3.4 is encoded from the plan itself ([`v3`]).
//! What neither can express is one table ([`gaps`]).

mod checked;
mod container_linux;
pub mod data_url;
mod findings;
pub mod gaps;
mod generated;
mod json;
mod node;
mod script;
mod texts;
mod unit_file;
mod v2;
mod v2_encoder;
pub mod v3;

pub use node::{node_files, node_units, run_items};
pub use script::{KUBEADM_FILE, SCRIPT_FILE};

use crate::render::input::outcome::Notes;
use crate::render::input::profile::Profile;
use crate::render::plan::node_plan::NodePlan;
use windlass_capi::api::boot::IgnitionVersion;
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::v1beta2::Ignition;
use windlass_objects::Object;
use windlass_source::diag::{Diagnostic, FieldPath, Remedy, Setting, rules};

rules! {
    /// the config cannot be represented in the Ignition version
    pub(crate) CONFIG_REJECTED = error("ignition-config-rejected");
    /// the additional config is rejected by Ignition or the Container Linux transpiler
    pub(crate) ADDITIONAL_REJECTED = error("ignition-additional-config-rejected");
    /// the Container Linux transpiler warns about the additional config, and upstream discards the warning
    pub(crate) ADDITIONAL_WARNING = warning("ignition-additional-config-warning");
    /// a field has no equivalent in Ignition, so the machine differs from the config
    pub(crate) FIELD_LOST = warning("ignition-field-lost");
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) config: &'a Object,
    pub(crate) spec_path: &'a FieldPath,
    /// The release that is matched.
    pub(crate) profile: &'a Profile,
    /// Whether upstream's messages hold texts of the user, as they do upstream.
    pub(crate) show_secrets: bool,
}

/// The data in a version, or findings that say why there is none. What the version cannot express
/// is a warning.
pub(crate) fn encode(
    plan: &NodePlan,
    ignition: Option<&Ignition>,
    version: IgnitionVersion,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Option<Sensitive<Vec<u8>>> {
    for (path, gap) in gaps::found(plan, version, context.spec_path) {
        let finding = Diagnostic::of(
            &FIELD_LOST,
            format!(
                "{path} does not reach the node as it is written: {}",
                gap.effect
            ),
        );
        let help = match gap.in_3_4 {
            None if version == IgnitionVersion::V2_3 => Remedy::new("use Ignition 3.4 (")
                .set(Setting::Ignition, "3.4")
                .then(", or `ignition.version: \"3.4\"` in a WindlassConfig)"),
            _ => "leave the field out, or use cloud-config".into(),
        };
        notes
            .report
            .push(finding.at(context.config.place(&path)).help(help));
    }
    match version {
        IgnitionVersion::V2_3 => v2_encoder::encode(plan, ignition, context, notes),
        IgnitionVersion::V3_4 => v3::render(plan, ignition, context, notes),
    }
}
