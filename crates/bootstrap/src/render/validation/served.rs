//! What a release serves of a config: its schema, and the rules of its webhook.

use std::sync::OnceLock;

use serde_json::Value;

use crate::render::input::profile::{PROFILES, Profile};
use crate::render::input::request::Request;
use crate::render::input::target::{ConfigKind, Target};
use windlass_capi::admission::{self, Rules};
use windlass_capi::api::control_plane::schema as control_plane_schema;
use windlass_capi::api::names::{GROUP, KUBEADM_GROUP, Kind, Version};
use windlass_capi::api::{additions, openapi};
use windlass_schema::Schema;
use windlass_schema::document;
use windlass_source::diag::{FieldPath, Segment};

/// The schema of a config in a release. Each is compiled once.
pub(super) fn schema(group: &str, version: Version, profile: &Profile) -> &'static Schema {
    const VERSIONS: usize = Version::ALL.len();
    static SCHEMAS: [OnceLock<Schema>; (PROFILES.len() + 1) * VERSIONS] =
        [const { OnceLock::new() }; (PROFILES.len() + 1) * VERSIONS];
    let row = match group {
        GROUP => PROFILES.len(),
        _ => PROFILES
            .iter()
            .position(|known| known.name == profile.name)
            .expect("internal error: the profile is one of the table"),
    };
    SCHEMAS[row * VERSIONS + version as usize].get_or_init(|| {
        let json = if group == GROUP {
            openapi::schema(Kind::Config, version)
        } else {
            kubeadm_schema(version, profile)
        };
        document::compiled(&json)
    })
}

/// The schema of KubeadmConfig, without the fields that the release does not know.
pub(super) fn kubeadm_schema(version: Version, profile: &Profile) -> Value {
    let mut schema = openapi::kubeadm_schema(Kind::Config, version);
    for path in profile.unknown_fields {
        additions::remove_field(&mut schema["properties"]["spec"], path);
    }
    schema
}

/// The schema of an object; within the spec of the config it need not be that of the release. Each
/// is compiled once.
pub(super) fn whole_schema(
    kind: ConfigKind,
    version: Version,
    profile: &Profile,
) -> &'static Schema {
    type OfVersions = [OnceLock<Schema>; Version::ALL.len()];
    static KUBEADM_TEMPLATES: OfVersions = [const { OnceLock::new() }; Version::ALL.len()];
    static TEMPLATES: OfVersions = [const { OnceLock::new() }; Version::ALL.len()];
    static CONTROL_PLANES: [[OfVersions; 2]; 2] =
        [const { [const { [const { OnceLock::new() }; Version::ALL.len()] }; 2] }; 2];
    let (row, json): (&OfVersions, &dyn Fn() -> Value) = match kind {
        ConfigKind::Kubeadm(Kind::Config) => {
            return schema(KUBEADM_GROUP, version, profile);
        }
        ConfigKind::Windlass(Kind::Config) => return schema(GROUP, version, profile),
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

/// Whose rules a config is checked by.
pub(super) fn config_rules(target: &Target<'_>, request: &Request) -> Rules {
    let ignition_gate = request.feature_gates.ignition;
    match target.kind {
        ConfigKind::Windlass(_) => Rules::Windlass,
        _ if request.profile.is_legacy() => Rules::KubeadmV1Beta1 { ignition_gate },
        ConfigKind::Kubeadm(_) => Rules::Kubeadm { ignition_gate },
        ConfigKind::ControlPlane { .. } => Rules::KubeadmControlPlane { ignition_gate },
    }
}

/// How upstream messages show values.
pub(super) fn config_wording(request: &Request) -> admission::Wording {
    match request.profile {
        _ if !request.show_secrets => admission::Wording::Redacted,
        profile if profile.is_legacy() => admission::Wording::GoV1Beta1,
        profile if profile.libraries_before_34 => admission::Wording::GoV1Beta2,
        _ => admission::Wording::Upstream,
    }
}

/// A path of the config as a path of the user's object.
pub(super) fn in_object(target: &Target<'_>, path: &FieldPath) -> FieldPath {
    match path.segments().split_first() {
        Some((Segment::Field(first), rest)) if first == "spec" => {
            target.spec_path().join(&rest.iter().cloned().collect())
        }
        _ => path.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::render::input::profile::PROFILES;

    /// One process checks objects of several kinds, versions and releases, as `diff` does: none is
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
                let unknown = whole_schema(kind, version, profile).prune(&mut object);
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
