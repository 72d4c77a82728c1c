//! A config, proven: it has the fields and values that its API allows, and is in the form that the
//! renderer works on.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use super::findings::{
    ADMISSION_REJECTED, ADMISSION_WARNED, FIELD_DROPPED, NOT_CONVERTIBLE, RULE_BROKEN,
    RULE_NOT_JUDGED, TOKEN_MALFORMED, VERSION_UNKNOWN, WORDING,
};
use super::served::{config_rules, config_wording, in_object, kubeadm_schema, schema};
use super::{control_plane, created, legacy};
use crate::render::input::outcome::Notes;
use crate::render::input::profile::Profile;
use crate::render::input::request::Request;
use crate::render::input::target::{ConfigKind, Target};
use windlass_capi::admission::{self, Judge, Rules};
use windlass_capi::api::names::{GROUP, KUBEADM_GROUP, Kind, Version};
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::time::{GoDuration, Timestamp};
use windlass_capi::api::v1beta2::WindlassConfigSpec;
use windlass_capi::conversion::{self, ConversionFault};
use windlass_go_text as go;
use windlass_objects::fields;
use windlass_schema::document::{self, Part};
use windlass_schema::{Fault, Schema, Violation, rejection_message};
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Remedy, Segment, Setting, Shared};

/// A config that is right as far as its API can tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The spec, in v1beta2.
    pub spec: WindlassConfigSpec,
    /// The spec in v1beta1, which CAPI v1.10 reads.
    pub(crate) v1beta1: Option<Sensitive<Value>>,
}

/// Proves a config. All that is wrong is reported; findings stand where the user wrote.
pub fn validate(target: &Target<'_>, request: &Request, notes: &mut Notes) -> Option<Config> {
    let version = known_version(target, &request.profile, notes)?;
    let group = if matches!(target.kind, ConfigKind::Windlass(_)) {
        GROUP
    } else {
        KUBEADM_GROUP
    };
    let mut object = as_submitted(target, group, version, &request.profile);
    let schema = schema(group, version, &request.profile);
    let unknown = schema.prune(&mut object);
    let violations = violations(target, schema, &mut object);
    if !unknown.is_empty() || !violations.is_empty() {
        let written = as_submitted(target, group, version, &request.profile);
        reject_by_schema(target, schema, &written, version, &violations, notes);
        return None;
    }
    judge_rules(target, schema, &object, &request.budget, notes)?;
    schema.apply_defaults(&mut object);
    check_bootstrap_tokens(target, &object, request.show_secrets, notes)?;
    let v1beta1 = request.profile.is_legacy().then(|| {
        legacy::apply_defaults(&mut object["spec"]);
        Sensitive::new(object["spec"].clone())
    });
    if v1beta1.is_none() && version == Version::V1Beta1 {
        warn_of_dropped(target, notes);
    }
    let spec = converted(target, object, group, version, v1beta1.is_some(), notes)?;
    let judged = v1beta1
        .as_ref()
        .filter(|_| group == KUBEADM_GROUP)
        .map_or(&spec, |v1beta1| v1beta1.expose());
    admit(target, judged, request, notes)?;
    created::check(target, version, &spec, &request.profile, notes)?;
    Some(Config {
        spec: typed(target, spec, notes)?,
        v1beta1,
    })
}

/// The spec in its type. Schema and type need not agree on every value; the cause may quote the
/// user, so it is not told.
fn typed(target: &Target<'_>, spec: Value, notes: &mut Notes) -> Option<WindlassConfigSpec> {
    serde_json::from_value(with_endpoints(spec))
        .ok()
        .or_else(|| {
            let path = target.spec_path();
            let finding = Diagnostic::of(
                &NOT_CONVERTIBLE,
                format!("{path} holds a value that its schema takes and its type does not"),
            );
            notes.reject(
                finding
                    .at(target.config.place(&path))
                    .help("report it with the config: this is a fault of ours"),
            )
        })
}

/// Conversion drops the empty list of endpoints, which the type demands.
fn with_endpoints(mut spec: Value) -> Value {
    if let Some(Value::Object(external)) = spec.pointer_mut("/clusterConfiguration/etcd/external") {
        external.entry("endpoints").or_insert_with(|| json!([]));
    }
    spec
}

/// Fields of v1beta1 that Cluster API drops when it converts to v1beta2, and what counts instead.
const DROPPED: [(&[&str], &str); 4] = [
    (
        &["clusterConfiguration", "kubernetesVersion"],
        "the version of the Machine counts",
    ),
    (
        &["clusterConfiguration", "clusterName"],
        "the name of the Cluster counts",
    ),
    (
        &["clusterConfiguration", "networking"],
        "`spec.clusterNetwork` of the Cluster counts",
    ),
    (&["useExperimentalRetryJoin"], "kubeadm itself tries again"),
];

fn warn_of_dropped(target: &Target<'_>, notes: &mut Notes) {
    for (steps, instead) in DROPPED {
        let value = target
            .spec()
            .and_then(|spec| steps.iter().try_fold(spec, |value, step| value.get(step)));
        let is_set = !matches!(value, None | Some(Value::Bool(false)))
            && value
                .and_then(Value::as_object)
                .is_none_or(|map| !map.is_empty());
        if is_set {
            let path = steps
                .iter()
                .fold(target.spec_path(), |path, step| path.field(*step));
            let finding = Diagnostic::of(
                &FIELD_DROPPED,
                format!("{path} has no effect since Cluster API v1.11: {instead}"),
            );
            notes
                .report
                .push(finding.at(target.config.key_place(&path)).help(
                    Remedy::new("remove it, or render with ").set(Setting::CapiVersion, "v1.10"),
                ));
        }
    }
}

fn known_version(target: &Target<'_>, profile: &Profile, notes: &mut Notes) -> Option<Version> {
    let known = target.version().filter(|version| {
        *version <= profile.storage || matches!(target.kind, ConfigKind::Windlass(_))
    });
    if known.is_some() {
        return known;
    }
    let path = FieldPath::root().field("apiVersion");
    let message = format!(
        "apiVersion {} is not one that CAPI {} serves",
        target.config.text(&["apiVersion"]),
        profile.version()
    );
    let help = match target.version() {
        Some(_) => Remedy::new("give a newer ")
            .setting(Setting::CapiVersion)
            .then(", or write `v1beta1`"),
        None => format!("write `{}/{}`", target.config.group(), profile.storage).into(),
    };
    notes.reject(
        Diagnostic::of(&VERSION_UNKNOWN, message)
            .at(target.config.place(&path))
            .help(help),
    )
}

/// The object as a config of one machine: its spec where that of a config is, no status.
fn as_config(target: &Target<'_>, group: &str, version: Version) -> Value {
    let kind = if group == GROUP {
        Kind::Config.as_str()
    } else {
        Kind::Config.kubeadm()
    };
    let mut object = Map::from_iter([
        ("apiVersion".to_owned(), format!("{group}/{version}").into()),
        ("kind".to_owned(), kind.into()),
    ]);
    let metadata = &target.config.value()["metadata"];
    let mut kept = Map::from_iter([("name".to_owned(), metadata["name"].clone())]);
    // A template remembers itself in another shape than a config.
    let annotations = metadata
        .get("annotations")
        .filter(|_| target.kind.spec_path() == ["spec"]);
    kept.extend(annotations.map(|annotations| ("annotations".to_owned(), annotations.clone())));
    object.insert("metadata".to_owned(), kept.into());
    if let Some(spec) = target.spec() {
        object.insert("spec".to_owned(), spec.clone());
    }
    object.into()
}

/// The config as the API server validates it: in v1.10 after the mutating webhook wrote it anew.
fn as_submitted(target: &Target<'_>, group: &str, version: Version, profile: &Profile) -> Value {
    static LEGACY: OnceLock<Value> = OnceLock::new();
    let mut object = as_config(target, group, version);
    if profile.is_legacy() && group == KUBEADM_GROUP {
        let schema = LEGACY.get_or_init(|| kubeadm_schema(version, profile));
        if let Some(spec) = object.get_mut("spec") {
            legacy::write_anew(spec, &schema["properties"]["spec"]);
        }
    }
    object
}

/// What the schema rejects of an object. A server that converts what it stored, such as a v1beta1
/// object with an empty list, does not validate the result: in an object that was read back, empty
/// lists do not count, and empty objects are taken away, as Go reads them.
fn violations(target: &Target<'_>, schema: &Schema, object: &mut Value) -> Vec<Violation> {
    loop {
        let mut violations = schema.validate(object);
        if !was_stored(target) {
            return violations;
        }
        violations
            .retain(|violation| !matches!(violation.fault, Fault::TooFewItems { least: 1, .. }));
        let may_be_empty = |violation: &&Violation| matches!(violation.fault, Fault::Rule { .. });
        let empty: Vec<_> = violations
            .iter()
            .filter(may_be_empty)
            .filter(|violation| take_empty(object, &violation.path))
            .collect();
        if empty.is_empty() {
            return violations;
        }
    }
}

/// Whether the object was read back from an API server.
fn was_stored(target: &Target<'_>) -> bool {
    target.config.value()["metadata"]["uid"].is_string()
}

/// Takes an empty object away. Whether there was one.
fn take_empty(object: &mut Value, path: &FieldPath) -> bool {
    let Some((Segment::Field(name), parents)) = path.segments().split_last() else {
        return false;
    };
    let parent = parents
        .iter()
        .try_fold(object, |value, segment| match segment {
            Segment::Field(name) | Segment::Key(name) => value.get_mut(name),
            Segment::Index(index) => value.get_mut(index),
        });
    let parent = parent.and_then(Value::as_object_mut);
    let Some(parent) = parent.filter(|parent| {
        parent
            .get(name)
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty)
    }) else {
        return false;
    };
    parent.remove(name).is_some()
}

/// Reports what the schema rejects, at the user's own fields.
fn reject_by_schema(
    target: &Target<'_>,
    schema: &Schema,
    written: &Value,
    version: Version,
    violations: &[Violation],
    notes: &mut Notes,
) {
    let mut upstream = Shared::new(upstream_rejection(target, violations), violations.len());
    let at = |path: &FieldPath, part| {
        let path = in_object(target, path);
        if part == Part::Key {
            target.config.key_place(&path)
        } else {
            target.config.place(&path)
        }
    };
    for mut finding in document::check_at(written, schema, &WORDING, &at).into_findings() {
        match finding.rule == WORDING.unknown {
            true => {
                finding.help = moved(target, &finding.place.path)
                    .map(Remedy::from)
                    .or(finding.help)
            }
            false => finding.upstream = upstream.for_next_finding(),
        }
        let of_other = of_other_version(target, &finding.place.path, version);
        notes
            .report
            .push(of_other.into_iter().fold(finding, Diagnostic::note));
    }
}

/// That arguments have the form of the other version: a mapping in v1beta1, and a list of names and
/// values in v1beta2.
fn of_other_version(target: &Target<'_>, path: &FieldPath, version: Version) -> Option<String> {
    let Some(Segment::Field(name) | Segment::Key(name)) = path.segments().last() else {
        return None;
    };
    let value = fields::at(target.config.value(), path.segments())
        .filter(|_| ["extraArgs", "kubeletExtraArgs"].contains(&name.as_str()))?;
    let other = match (version, value) {
        (Version::V1Beta1, Value::Array(_)) => "v1beta2",
        (Version::V1Beta2, Value::Object(_)) => "v1beta1",
        _ => return None,
    };
    let said = target.config.text(&["apiVersion"]);
    let group = said.split('/').next().unwrap_or_default();
    Some(format!(
        "it has the form of {other}, and the object says `apiVersion: {said}`: if all of it is of {other}, write `apiVersion: {group}/{other}`"
    ))
}

/// What to write for a field of v1beta1 that v1beta2 has elsewhere or no more (Cluster API: "v1.10
/// to v1.11", changes of the kubeadm types).
fn moved(target: &Target<'_>, path: &FieldPath) -> Option<String> {
    let spec_path = target.spec_path();
    let below = path.segments().strip_prefix(spec_path.segments())?;
    let names: Vec<&str> = below
        .iter()
        .map(|segment| match segment {
            Segment::Field(name) | Segment::Key(name) => name.as_str(),
            Segment::Index(_) => "[]",
        })
        .collect();
    if let Some((_, instead)) = DROPPED.iter().find(|(steps, _)| *steps == names) {
        return Some(format!("remove it: {instead}"));
    }
    let written = fields::at(target.config.value(), path.segments()).and_then(Value::as_str);
    let duration = written.and_then(|text| GoDuration::parse(text).ok());
    let seconds = duration.map_or_else(
        || "SECONDS".to_owned(),
        |duration| (duration.as_nanoseconds() / 1_000_000_000).to_string(),
    );
    match names.as_slice() {
        [
            "clusterConfiguration",
            "apiServer",
            "timeoutForControlPlane",
        ] => {
            let timeouts =
                format!("{{timeouts: {{controlPlaneComponentHealthCheckSeconds: {seconds}}}}}");
            Some(format!(
                "write `initConfiguration: {timeouts}` and `joinConfiguration: {timeouts}` below `{spec_path}`"
            ))
        }
        ["joinConfiguration", "discovery", "timeout"] => Some(format!(
            "write `timeouts: {{tlsBootstrapSeconds: {seconds}}}` in `joinConfiguration`"
        )),
        ["initConfiguration", "bootstrapTokens", "[]", "ttl"] => {
            Some(format!("write `ttlSeconds: {seconds}`"))
        }
        _ => None,
    }
}

/// The CEL rules of the schema. v1beta1 demands the `layout` of a partition, also beside a
/// `diskLayout`, and the kubeadm provider's conversion keeps both: in an object that was read back
/// that breaks no rule.
fn judge_rules(
    target: &Target<'_>,
    schema: &Schema,
    object: &Value,
    budget: &Budget,
    notes: &mut Notes,
) -> Option<()> {
    let mut verdict = schema.evaluate_rules(object, None, budget);
    if was_stored(target) {
        verdict
            .violations
            .retain(|violation| !has_both_layouts(object, &violation.path));
    }
    for rule in verdict.not_evaluable {
        let path = in_object(target, &rule.path);
        let message = format!(
            "{path} has a rule that cannot be checked here: {}",
            rule.reason
        );
        let finding = Diagnostic::of(&RULE_NOT_JUDGED, message).at(target.config.place(&path));
        notes
            .report
            .push(finding.help(format!("check by hand: {}", rule.rule)));
    }
    if verdict.violations.is_empty() {
        return Some(());
    }
    let mut upstream = Shared::new(
        upstream_rejection(target, &verdict.violations),
        verdict.violations.len(),
    );
    for violation in &verdict.violations {
        let path = in_object(target, &violation.path);
        let message = format!("{path}: {}", Quoted(&violation.fault));
        let mut finding = Diagnostic::of(&RULE_BROKEN, message).at(target.config.place(&path));
        finding.upstream = upstream.for_next_finding();
        notes
            .report
            .push(finding.help("change the fields so that the rule holds"));
    }
    None
}

fn has_both_layouts(object: &Value, path: &FieldPath) -> bool {
    fields::at(object, path.segments()).is_some_and(|partition| {
        ["layout", "diskLayout"]
            .iter()
            .all(|name| partition.get(name).is_some())
    })
}

/// The rules of the validating webhook, for a spec in the version that the webhook gets.
fn admit(target: &Target<'_>, spec: &Value, request: &Request, notes: &mut Notes) -> Option<()> {
    let (rules, wording) = (config_rules(target, request), config_wording(request));
    if rules == Rules::Windlass {
        warn_of_effects(target, spec, notes);
    }
    let violations = Judge {
        rules,
        wording,
        path: target.spec_path(),
    }
    .spec(spec);
    if violations.is_empty() {
        return Some(());
    }
    let config = target.config;
    let own = || rejection_message(config.group(), config.kind(), config.name(), &violations);
    let upstream = match target.kind {
        ConfigKind::ControlPlane { .. } => control_plane::upstream(target, request),
        _ => None,
    };
    let upstream = upstream.unwrap_or_else(own);
    let mut upstream = Shared::new(Some(upstream), violations.len());
    for violation in violations {
        let path = violation.path;
        let mut finding = Diagnostic::of(
            &ADMISSION_REJECTED,
            format!("{path}: {}", Quoted(&violation.fault)),
        )
        .at(config.place(&path));
        let help = match violation.fault {
            Fault::GateClosed(_) => {
                let gate = Remedy::new("add ")
                    .set(Setting::FeatureGates, "KubeadmBootstrapFormatIgnition=true");
                gate.then(" if the provider runs with it")
            }
            _ => "change the fields so that the rule holds".into(),
        };
        finding.upstream = upstream.for_next_finding();
        notes.report.push(finding.help(help));
    }
    None
}

/// What our webhook warns of.
fn warn_of_effects(target: &Target<'_>, spec: &Value, notes: &mut Notes) {
    for warning in admission::warnings(spec, &target.spec_path()) {
        let finding = Diagnostic::of(&ADMISSION_WARNED, warning.to_string())
            .at(target.config.place(&warning.path));
        notes
            .report
            .push(finding.help("leave it out, or change what keeps it from having an effect"));
    }
}

/// The message with which the API server rejects the object; `None` where upstream's object is not
/// a config of its own.
fn upstream_rejection(target: &Target<'_>, violations: &[Violation]) -> Option<String> {
    let is_config = target.kind.spec_path() == ["spec"];
    (is_config && !violations.is_empty()).then(|| {
        rejection_message(
            target.config.group(),
            target.config.kind(),
            target.config.name(),
            violations,
        )
    })
}

/// kubeadm's tokens: six characters, a dot, sixteen characters, all digits or lower-case letters.
fn check_bootstrap_tokens(
    target: &Target<'_>,
    object: &Value,
    show_secrets: bool,
    notes: &mut Notes,
) -> Option<()> {
    let tokens = object["spec"]["initConfiguration"]["bootstrapTokens"].as_array();
    let mut right = true;
    for (index, token) in tokens.into_iter().flatten().enumerate() {
        let path = target
            .spec_path()
            .field("initConfiguration")
            .field("bootstrapTokens")
            .index(index);
        // The API server's format of times is laxer than the type.
        if let Some(time) = token["expires"]
            .as_str()
            .filter(|time| Timestamp::parse(time).is_none())
        {
            right = false;
            let path = path.field("expires");
            let finding = Diagnostic::of(
                &NOT_CONVERTIBLE,
                format!(
                    "{path} is `{time}`, which is not a time of the years up to 9999",
                    time = Quoted(time)
                ),
            );
            notes.report.push(
                finding
                    .at(target.config.place(&path))
                    .help("write a time such as 2026-01-31T12:00:00Z"),
            );
        }
        let text = token["token"].as_str().unwrap_or_default();
        if is_token(text) {
            continue;
        }
        right = false;
        let path = path.field("token");
        let message = format!(
            "{path} is not six and sixteen lower-case letters or digits with a dot between"
        );
        let form = r"\A([a-z0-9]{6})\.([a-z0-9]{16})\z";
        let shown = if show_secrets {
            go::quote(text)
        } else {
            "<redacted>".to_owned()
        };
        let upstream = format!(
            "the bootstrap token {shown} was not of the form {}",
            go::quote(form)
        );
        let finding = Diagnostic::of(&TOKEN_MALFORMED, message)
            .at(target.config.place(&path))
            .upstream(upstream);
        notes.report.push(finding.help(
            "write a token such as `abcdef.0123456789abcdef`, or run `kubeadm token generate`",
        ));
    }
    right.then_some(())
}

/// Whether a text has the form of kubeadm's tokens.
pub fn is_token(text: &str) -> bool {
    let is_part = |part: &str, length| {
        part.len() == length
            && part
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
    };
    text.split_once('.')
        .is_some_and(|(id, secret)| is_part(id, 6) && is_part(secret, 16))
}

/// The spec in v1beta2.
fn converted(
    target: &Target<'_>,
    mut object: Value,
    group: &str,
    version: Version,
    legacy: bool,
    notes: &mut Notes,
) -> Option<Value> {
    if version == Version::V1Beta2 {
        return Some(object["spec"].take_or_empty());
    }
    let old = legacy.then(|| object["spec"].clone());
    let result = match (group, legacy) {
        (GROUP, _) => conversion::convert(&object, Version::V1Beta2),
        (_, true) => conversion::spec_to_v1beta2(&object["spec"])
            .map(|spec| json!({"spec": spec}))
            .map_err(|fault| ConversionFault {
                place: FieldPath::root().field("spec").join(&fault.place),
                ..fault
            }),
        (_, false) => conversion::kubeadm_to_v1beta2(&object),
    };
    match result {
        Ok(mut converted) => {
            if let Some(old) = old {
                let mut spec = converted["spec"].take_or_empty();
                legacy::keep_empty_objects(&old, &mut spec);
                return Some(spec);
            }
            Some(converted["spec"].take_or_empty())
        }
        Err(fault) => {
            let place = in_object(target, &fault.place);
            let finding = Diagnostic::of(&NOT_CONVERTIBLE, format!("{place}: {}", fault.message))
                .at(target.config.place(&place));
            notes.reject(finding.help("write a value that Go reads, such as `1h30m`"))
        }
    }
}

/// Takes a value out of a tree, `{}` when it is null.
trait TakeOrEmpty {
    fn take_or_empty(&mut self) -> Value;
}

impl TakeOrEmpty for Value {
    fn take_or_empty(&mut self) -> Value {
        match self.take() {
            Value::Null => json!({}),
            value => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::input::profile::PROFILES;
    use windlass_capi::api::{additions, openapi};

    /// A field that is misspelt in the table would stay in the schema without a word.
    #[test]
    fn what_a_release_does_not_know_is_in_the_schema() {
        for (profile, version) in PROFILES
            .iter()
            .flat_map(|profile| Version::ALL.map(|version| (profile, version)))
        {
            for path in profile.unknown_fields {
                let mut schema = openapi::kubeadm_schema(Kind::Config, version);
                assert!(
                    additions::remove_field(&mut schema["properties"]["spec"], path),
                    "{} {version} {path}",
                    profile.name
                );
                assert!(
                    !additions::remove_field(&mut schema["properties"]["spec"], path),
                    "it is gone"
                );
            }
        }
    }
    use crate::render::input::target::targets;
    use windlass_objects::Pool;
    use windlass_source::Source;

    /// No rule of our own schemas is beyond our CEL library, so this one has a schema of its own.
    #[test]
    fn rules_that_cannot_be_judged_are_told() {
        let text = "apiVersion: bootstrap.windlass.dev/v1beta2\nkind: WindlassConfig\nmetadata: {name: w}\nspec: {a: x}\n";
        let (pool, _) = Pool::read(&[Source::new("w.yaml", text)], &Budget::default());
        let spec = json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "self.?a.hasValue()"}]});
        let schema = document::compiled(&json!({"type": "object", "properties": {"spec": spec}}));
        let mut notes = Notes::default();
        let judged = judge_rules(
            &targets(&pool)[0],
            &schema,
            &json!({"spec": {"a": "x"}}),
            &Budget::default(),
            &mut notes,
        );
        let found: Vec<_> = notes
            .report
            .findings()
            .iter()
            .map(|finding| (finding.rule.id, finding.place.path.to_string()))
            .collect();
        assert_eq!(
            (judged, found),
            (
                Some(()),
                vec![("config-rule-not-checked", "spec".to_owned())]
            )
        );
    }
}
