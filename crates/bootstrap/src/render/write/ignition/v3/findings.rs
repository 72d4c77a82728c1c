//! What stands against a config in Ignition 3.4, as findings.

use super::files::Unfit;
use super::{check, encode};
use crate::render::input::outcome::Notes;
use crate::render::plan::node_plan::NodePlan;
use crate::render::write::ignition::{
    ADDITIONAL_REJECTED, ADDITIONAL_WARNING, CONFIG_REJECTED, Context,
};
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::v1beta2::Ignition;
use windlass_source::diag::Diagnostic;

/// The data, or findings that say why there is none.
pub(in crate::render::write::ignition) fn render(
    plan: &NodePlan,
    ignition: Option<&Ignition>,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Option<Sensitive<Vec<u8>>> {
    let additional = additional_config(ignition, context, notes)?;
    let unfit = match encode(plan, additional, context.spec_path) {
        Ok(data) => return Some(data),
        Err(unfit) => unfit,
    };
    for Unfit {
        origin,
        message,
        help,
    } in unfit
    {
        let finding = Diagnostic::of(&CONFIG_REJECTED, format!("{origin} {message}"))
            .at(context.config.place(&origin));
        notes.report.push(finding.help(help));
    }
    None
}

/// The config that is merged; `None` when there is something that cannot be.
fn additional_config<'a>(
    ignition: Option<&'a Ignition>,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Option<Option<&'a str>> {
    let Some(ignition) = ignition else {
        return Some(None);
    };
    let path = context.spec_path.field("ignition");
    if ignition
        .container_linux_config
        .as_ref()
        .is_some_and(|config| config.additional_config.is_some())
    {
        let path = path.field("containerLinuxConfig");
        let message = format!("{path} belongs to Ignition 2.3");
        let finding =
            Diagnostic::of(&ADDITIONAL_REJECTED, message).at(context.config.key_place(&path));
        return notes.reject(
            finding.help(
                "write it as Ignition 3.4 in `ignition.additionalConfig` of a WindlassConfig",
            ),
        );
    }
    let Some(text) = ignition
        .additional_config
        .as_ref()
        .map(|text| text.expose().as_str())
    else {
        return Some(None);
    };
    let path = path.field("additionalConfig");
    let place = context.config.place(&path);
    let faults = match serde_json::from_str(text) {
        Ok(value) => check(&value),
        Err(cause) => {
            let finding = Diagnostic::of(
                &ADDITIONAL_REJECTED,
                format!(
                    "{path} is not JSON: line {}, column {}",
                    cause.line(),
                    cause.column()
                ),
            );
            return notes.reject(finding.at(place).help(
                "write an Ignition config such as `{\"ignition\": {\"version\": \"3.4.0\"}}`",
            ));
        }
    };
    let mut is_rejected = false;
    for fault in faults {
        let rule = if fault.is_unknown_key {
            &ADDITIONAL_WARNING
        } else {
            &ADDITIONAL_REJECTED
        };
        let message = format!("{}: {} (in {path})", fault.path, fault.message);
        let finding = Diagnostic::of(rule, message);
        is_rejected |= !fault.is_unknown_key;
        notes.report.push(
            finding
                .at(place.clone())
                .help("write the config as the specification of Ignition 3.4 has it"),
        );
    }
    (!is_rejected).then_some(Some(text))
}
