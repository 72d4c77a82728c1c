//! What is refused although its API takes it: it would be rendered wrongly.

use super::config::Config;
use crate::api::boot::{OnFailure, Platform};
use crate::api::v1beta2::WindlassConfigSpec;
use crate::diag::{Diagnostic, Remedy, Setting, rules};
use crate::render::input::outcome::Notes;
use crate::render::input::role::Role;
use crate::render::input::target::Target;

rules! {
    /// a field is not supported by the renderer yet
    pub NOT_RENDERED = error("config-field-not-rendered");
    /// a control plane machine has a config for Windows
    pub WINDOWS_CONTROL_PLANE = error("config-windows-control-plane");
}

/// Refuses what would be rendered wrongly, because this version does not know it.
pub(crate) fn refuse_unsupported(target: &Target<'_>, config: &Config, notes: &mut Notes) -> Option<()> {
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
pub(crate) fn refuse_windows_control_plane(target: &Target<'_>, spec: &WindlassConfigSpec, role: Role, notes: &mut Notes) -> Option<()> {
    if spec.platform != Some(Platform::Windows) || !role.is_control_plane() {
        return Some(());
    }
    let path = target.spec_path().field("platform");
    let message = format!("{path} is windows, but the machine is of the control plane");
    let finding = Diagnostic::of(&WINDOWS_CONTROL_PLANE, message).at(target.config.place(&path));
    notes.refuse(finding.help(Remedy::new("remove `platform`, or render it with ").set(Setting::Role, "worker-join")))
}
