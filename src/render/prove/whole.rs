//! The rest of an object: what stands beside the spec of the config. Nothing of it reaches the
//! node, and a fault in it keeps the API server from taking the object at all.

use std::sync::OnceLock;

use serde_json::Value;

use super::config::WORDING;
use super::{config, control_plane};
use crate::admission::renamed;
use crate::api::control_plane::schema as control_plane_schema;
use crate::api::names::{GROUP, KUBEADM_GROUP, Kind, Version};
use crate::api::openapi;
use crate::diag::{FieldPath, Remedy};
use crate::render::input::outcome::Notes;
use crate::render::input::profile::Profile;
use crate::render::input::request::Request;
use crate::render::input::target::{ConfigKind, Target};
use crate::schema::Schema;
use crate::schema::document::{self, Part};

/// Judges what stands beside the spec of the config; nothing, when the version is not known.
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
        schema(target.kind, version, &request.profile),
        &WORDING,
        &at,
    )
    .into_findings();
    let spec_path = target.spec_path();
    let beside: Vec<_> = found
        .into_iter()
        .filter(|finding| {
            !finding
                .place
                .path
                .segments()
                .starts_with(spec_path.segments())
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
    let findings = control_plane::refusals(target, version, request);
    let is_admitted = findings.is_empty();
    findings
        .into_iter()
        .for_each(|finding| notes.report.push(finding));
    (is_right && is_admitted).then_some(())
}

/// The schema of an object; within the spec of the config it need not be that of the release. Each
/// is compiled once.
pub(super) fn schema(kind: ConfigKind, version: Version, profile: &Profile) -> &'static Schema {
    type OfVersions = [OnceLock<Schema>; Version::ALL.len()];
    static KUBEADM_TEMPLATES: OfVersions = [const { OnceLock::new() }; Version::ALL.len()];
    static TEMPLATES: OfVersions = [const { OnceLock::new() }; Version::ALL.len()];
    static CONTROL_PLANES: [[OfVersions; 2]; 2] =
        [const { [const { [const { OnceLock::new() }; Version::ALL.len()] }; 2] }; 2];
    let (row, json): (&OfVersions, &dyn Fn() -> Value) = match kind {
        ConfigKind::Kubeadm(Kind::Config) => {
            return config::schema(KUBEADM_GROUP, version, profile);
        }
        ConfigKind::Windlass(Kind::Config) => return config::schema(GROUP, version, profile),
        ConfigKind::Kubeadm(Kind::Template) => (&KUBEADM_TEMPLATES, &|| {
            openapi::kubeadm_schema(Kind::Template, version)
        }),
        ConfigKind::Windlass(Kind::Template) => {
            (&TEMPLATES, &|| openapi::schema(Kind::Template, version))
        }
        ConfigKind::ControlPlane { template } => {
            let taints = profile.machine_taints;
            (
                &CONTROL_PLANES[usize::from(template)][usize::from(taints)],
                &move || control_plane_schema(template, version, taints),
            )
        }
    };
    row[version as usize].get_or_init(|| document::compiled(&json()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::render::input::profile::PROFILES;

    /// One process judges objects of several kinds, versions and releases, as `diff` does: none is
    /// given the schema of another.
    #[test]
    fn each_kind_of_each_release_has_a_schema_of_its_own() {
        for (profile, version) in PROFILES
            .iter()
            .flat_map(|profile| Version::ALL.map(|version| (profile, version)))
        {
            let check = |kind, path: &str, is_known: bool| {
                let mut object = path
                    .rsplit('.')
                    .fold(json!({}), |below, field| json!({field: below}));
                let unknown = schema(kind, version, profile).prune(&mut object);
                assert_eq!(
                    unknown.is_empty(),
                    is_known,
                    "{kind:?} {version} {} {path}",
                    profile.name
                );
            };
            let is_old = version == Version::V1Beta1;
            for (template, spec) in [(false, "spec"), (true, "spec.template.spec")] {
                let control_plane = ConfigKind::ControlPlane { template };
                let machine = if is_old {
                    "machineTemplate"
                } else {
                    "machineTemplate.spec"
                };
                check(control_plane, "spec.template", template);
                check(
                    control_plane,
                    &format!("{spec}.{machine}.taints"),
                    profile.machine_taints,
                );
                check(control_plane, &format!("{spec}.rolloutStrategy"), is_old);
                let kind = if template {
                    Kind::Template
                } else {
                    Kind::Config
                };
                for (config, is_ours) in [
                    (ConfigKind::Kubeadm(kind), false),
                    (ConfigKind::Windlass(kind), true),
                ] {
                    check(config, "spec.template", template);
                    check(config, &format!("{spec}.cloudConfig"), is_ours);
                    check(config, &format!("{spec}.useExperimentalRetryJoin"), is_old);
                }
            }
        }
    }
}
