//! The rest of an object: what is beside the spec of the config. Nothing of it reaches the
//! node, and a fault in it keeps the API server from taking the object at all.

use super::control_plane;
use super::findings::WORDING;
use super::served::whole_schema;
use crate::render::input::outcome::Notes;
use crate::render::input::request::Request;
use crate::render::input::target::Target;
use windlass_capi::admission::renamed;
use windlass_schema::document::{self, Part};
use windlass_source::diag::{FieldPath, Remedy};

/// Checks what is beside the spec of the config; nothing, when the version is not known.
pub(crate) fn check(target: &Target<'_>, request: &Request, notes: &mut Notes) -> Option<()> {
    let version = target.version()?;
    let object = target.config;
    let at = |path: &FieldPath, part| {
        if part == Part::Key {
            object.key_place(path)
        } else {
            object.place(path)
        }
    };
    let found = document::check_at(
        &control_plane::defaulted(target, version),
        whole_schema(target.kind, version, &request.profile),
        &WORDING,
        &at,
    )
    .into_findings();
    let spec_path = target.spec_path();
    let demands_config = control_plane::demands_config(target, version, request);
    let beside: Vec<_> = found
        .into_iter()
        .filter(|finding| {
            let below = finding
                .place
                .path
                .segments()
                .strip_prefix(spec_path.segments());
            let is_absent = || finding.rule == WORDING.missing && demands_config;
            below.is_none_or(|below| below.is_empty() && is_absent())
        })
        .collect();
    let is_right = beside.is_empty();
    for mut finding in beside {
        if finding.rule == WORDING.unknown {
            finding.help = renamed::in_v1beta2(object, &finding.place.path)
                .map(Remedy::from)
                .or(finding.help);
        }
        notes.report.push(finding);
    }
    let findings = control_plane::rejections(target, version, request);
    let is_admitted = findings.is_empty();
    findings
        .into_iter()
        .for_each(|finding| notes.report.push(finding));
    (is_right && is_admitted).then_some(())
}
