//! What the webhooks of KubeadmControlPlane and KubeadmControlPlaneTemplate reject when the object
//! is created, at the user's fields. The rules are those of `admission::core::control_plane`.

use std::borrow::Cow;

use serde_json::Value;

use super::findings::{ADMISSION_REJECTED, FIELD_MISSING, NOT_CONVERTIBLE};
use super::served::{config_rules, config_wording, whole_schema};
use crate::render::input::request::Request;
use crate::render::input::target::{ConfigKind, Target};
use windlass_capi::admission::{self, Judge};
use windlass_capi::api::names::Version;
use windlass_capi::contract::CORE_GROUP;
use windlass_capi::conversion::core::{Conversion, ConversionContext, convert_object};
use windlass_objects::fields;
use windlass_schema::{Violation, rejection_message};
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Remedy, Segment, Setting, Shared};

/// The findings about a control plane; other kinds have none.
pub(super) fn rejections(
    target: &Target<'_>,
    version: Version,
    request: &Request,
) -> Vec<Diagnostic> {
    if !matches!(target.kind, ConfigKind::ControlPlane { .. }) {
        return Vec::new();
    }
    let conversion = converted(target, version, request);
    let spec_path = target.spec_path();
    let faults = conversion
        .faults
        .iter()
        .filter(|fault| !fault.place.segments().starts_with(spec_path.segments()));
    let faults: Vec<_> = faults
        .map(|fault| {
            let message = format!("{}: {}", fault.place, Quoted(&fault.message));
            Diagnostic::of(&NOT_CONVERTIBLE, message)
                .at(target.config.place(&fault.place))
                .help(fault.help.clone())
        })
        .collect();
    if !faults.is_empty() {
        return faults;
    }
    let mut violations = violations(&conversion, request);
    // The schema of v1beta2 requires all parts of the reference, and reports those that are missing.
    violations.retain(|violation| {
        version == Version::V1Beta1 || !violation.path.to_string().contains(".infrastructureRef.")
    });
    let mut upstream = Shared::new(upstream(target, request), violations.len());
    let findings = violations.iter().map(|violation| {
        let path = in_version(conversion.origins.of(&violation.path), version);
        let mut finding = match missing(target, &path) {
            Some(name) => Diagnostic::of(&FIELD_MISSING, format!("{path} is missing"))
                .help(format!("add `{name}:`")),
            None => {
                let message = format!("{path}: {}", Quoted(&violation.fault));
                Diagnostic::of(&ADMISSION_REJECTED, message).help(help(violation))
            }
        }
        .at(target.config.place(&path));
        finding.upstream = upstream.for_next_finding();
        finding
    });
    findings.collect()
}

/// The name of a field that the webhook demands and the object does not have: it may be a patch.
fn missing<'p>(target: &Target<'_>, path: &'p FieldPath) -> Option<&'p str> {
    const DEMANDED: [&str; 5] = ["version", "apiGroup", "apiVersion", "kind", "name"];
    let Some(Segment::Field(name)) = path.segments().last() else {
        return None;
    };
    let is_absent = fields::at(target.config.value(), path.segments()).is_none();
    (is_absent && DEMANDED.contains(&name.as_str())).then_some(name)
}

/// The message with which the webhook rejects the control plane: what is wrong with it, and with
/// the config within.
pub(super) fn upstream(target: &Target<'_>, request: &Request) -> Option<String> {
    let version = target.version()?;
    let conversion = converted(target, version, request);
    let mut violations = violations(&conversion, request);
    let pointer = match target.kind {
        ConfigKind::ControlPlane { template: true } => "/spec/template/spec/kubeadmConfigSpec",
        _ => "/spec/kubeadmConfigSpec",
    };
    let judge = Judge {
        rules: config_rules(target, request),
        wording: config_wording(request),
        path: target.spec_path(),
    };
    if let Some(spec) = conversion
        .value
        .pointer(pointer)
        .filter(|_| !request.profile.is_legacy())
    {
        violations.extend(judge.spec(spec));
    }
    let config = target.config;
    // The webhook names the group of core, and not that of its kind.
    let message = rejection_message(CORE_GROUP, config.kind(), config.name(), &violations);
    (!violations.is_empty()).then_some(message)
}

/// The field of v1beta1 that a reference has in place of a group.
fn in_version(path: FieldPath, version: Version) -> FieldPath {
    let is_group =
        matches!(path.segments().last(), Some(Segment::Field(name)) if name == "apiGroup");
    match path
        .parent()
        .filter(|_| is_group && version == Version::V1Beta1)
    {
        Some(reference) => reference.field("apiVersion"),
        None => path,
    }
}

fn violations(conversion: &Conversion, request: &Request) -> Vec<Violation> {
    let release = request
        .profile
        .admission(request.feature_gates.machine_taints);
    admission::core::control_plane::violations(&conversion.value, &release, &request.budget)
}

/// The object in v1beta2, which the webhooks work on, with the defaults of its own schema.
fn converted(target: &Target<'_>, version: Version, request: &Request) -> Conversion {
    let mut object = target.config.value().clone();
    whole_schema(target.kind, version, &request.profile).apply_defaults(&mut object);
    let context = ConversionContext {
        version_of: &|_, _| None,
        keeps_incomplete: true,
    };
    convert_object(&object, Version::V1Beta2, &context).unwrap_or(Conversion {
        value: object,
        ..Conversion::default()
    })
}

/// Whether a control plane without a config lacks it. The schema of v1beta1 requires it; where the
/// defaulting webhook changes an object, the API server converts it back, which writes an empty
/// config. v1.10 always does.
pub(super) fn demands_config(target: &Target<'_>, version: Version, request: &Request) -> bool {
    if version != Version::V1Beta1 || request.profile.is_legacy() {
        return false;
    }
    match target.kind {
        ConfigKind::ControlPlane { template: true } => true,
        ConfigKind::ControlPlane { template: false } => {
            let stored = converted(target, version, request);
            !admission::core::is_defaulted(&stored.value)
        }
        _ => false,
    }
}

/// The change that removes a violation.
fn help(violation: &Violation) -> Remedy {
    let ends = |end: &str| violation.path.to_string().ends_with(end);
    let text = match violation.fault.to_string().as_str() {
        admission::core::taints::GATE_OFF => {
            return Remedy::new("add ")
                .set(Setting::FeatureGates, "MachineTaintPropagation=true")
                .then(" if the provider runs with it");
        }
        _ if ends(".replicas") => "write an odd number, such as 3",
        _ if ends(".version") => "write the whole version, such as `version: v1.34.1`",
        _ if ends("infrastructureRef.apiGroup") => {
            "write group and version, such as infrastructure.cluster.x-k8s.io/v1beta1"
        }
        _ if ends("infrastructureRef.kind") => "write the kind of the machine template",
        _ if ends("infrastructureRef.name") => "write the name of the machine template",
        _ if ends(".labels") || ends(".annotations") => "change the key or the value",
        _ if ends(".key") => "remove the taint, or set it with kubelet's own means",
        _ if ends(".rollingUpdate") => "write `maxSurge: 1`, or three replicas",
        _ if ends(".maxSurge") => "write `maxSurge: 1`",
        _ if ends("ertificateValidityPeriodDays") || ends("certificatesExpiryDays") => {
            "write fewer days"
        }
        _ if ends("machineNaming.template") => {
            "write a template such as `{{ .cluster.name }}-{{ .random }}`"
        }
        fault if fault.starts_with("failed to parse CoreDNS") => "write a version, such as v1.12.1",
        _ if ends(".imageTag") => "write letters, digits, `-`, `_` and `.`",
        _ if ends("etcd.local") => "remove one of `local` and `external`",
        _ => "change the fields so that the rule holds",
    };
    text.into()
}

/// The object as the schema sees it: the webhook fills in fields of a control plane before. What it
/// fills into one of v1beta1 its schema does not require.
pub(super) fn defaulted<'a>(target: &Target<'a>, version: Version) -> Cow<'a, Value> {
    let object = target.config.value();
    let is_filled =
        target.kind == ConfigKind::ControlPlane { template: false } && version == Version::V1Beta2;
    match is_filled {
        true => Cow::Owned(admission::core::defaulted(object)),
        false => Cow::Borrowed(object),
    }
}
