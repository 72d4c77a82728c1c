//! What the schema cannot say of configs for Windows: whose machines they are.

use crate::render::input::outcome::Notes;
use crate::render::input::role::Role;
use crate::render::input::target::Target;
use windlass_capi::api::boot::Platform;
use windlass_capi::api::v1beta2::WindlassConfigSpec;
use windlass_source::diag::{Diagnostic, Remedy, Setting, rules};

rules! {
    /// a control plane machine has a config for Windows
    pub(crate) WINDOWS_CONTROL_PLANE = error("config-windows-control-plane");
}

/// Nodes with Windows are workers.
pub(crate) fn reject_windows_control_plane(
    target: &Target<'_>,
    spec: &WindlassConfigSpec,
    role: Role,
    notes: &mut Notes,
) -> Option<()> {
    if spec.platform != Some(Platform::Windows) || !role.is_control_plane() {
        return Some(());
    }
    let path = target.spec_path().field("platform");
    let message = format!("{path} is windows, but the machine is of the control plane");
    let finding = Diagnostic::of(&WINDOWS_CONTROL_PLANE, message).at(target.config.place(&path));
    notes.reject(finding.help(
        Remedy::new("remove `platform`, or render it with ").set(Setting::Role, "worker-join"),
    ))
}
