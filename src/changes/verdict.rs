//! What becomes of machines that run when the objects change: Cluster API's rules, by the kind of
//! what makes the machines.

use serde_json::Value;

use super::control_plane;
use crate::contract::CORE_GROUP;
use crate::objects::{Object, Pool, fields};
use crate::render::input::cluster::Reference;
use crate::render::input::owner::Owner;
use crate::render::input::target::ConfigKind;
use crate::render::prove::config;
use crate::render::{Notes, Request, Target};

/// What a change does to machines that run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing; machines to come may be others.
    None,
    /// They stay, and what describes them changes.
    InPlace,
    Rollout,
    /// The infrastructure provider decides.
    OfProvider,
    /// Cluster API refuses the change.
    Refused,
}

impl Effect {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Effect::None => "none",
            Effect::InPlace => "in place",
            Effect::Rollout => "rollout",
            Effect::OfProvider => "provider decides",
            Effect::Refused => "refused",
        }
    }
}

/// The effect of a change, and the rule that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) effect: Effect,
    pub(crate) reason: String,
    /// Where the rule stands.
    pub(crate) source: &'static str,
}

impl Verdict {
    fn of((effect, source): (Effect, &'static str), reason: impl Into<String>) -> Self {
        Verdict {
            effect,
            reason: reason.into(),
            source,
        }
    }
}

const KEEPS: (Effect, &str) = (
    Effect::None,
    "book: BootstrapConfig contract, the data of a machine is made once",
);
const TEMPLATE_STAYS: (Effect, &str) = (Effect::None, "book: Updating Bootstrap Templates");
const SET_STAYS: (Effect, &str) = (
    Effect::None,
    "book: Updating Infrastructure Machine Templates, MachineSets",
);
const ROTATES: (Effect, &str) = (
    Effect::Rollout,
    "Cluster API v1.14, topology controller, reconcileReferencedTemplate",
);
const OF_DEPLOYMENT: &str =
    "Cluster API v1.14, mdutil.MachineTemplateUpToDate; book: MachineDeployment";
const OF_CONTROL_PLANE: &str =
    "Cluster API v1.14, controlplane/kubeadm/pkg/filters.go, UpToDate; book: KubeadmControlPlane";
const OF_WEBHOOK: &str = "Cluster API v1.14, webhook of KubeadmControlPlane, allowedPaths";
const OF_POOL: &str = "book: MachinePool contract";
const OF_TEMPLATE_WEBHOOK: &str = "Cluster API v1.14, webhook of KubeadmControlPlaneTemplate";

#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) target: Target<'a>,
    pub(crate) request: &'a Request,
    /// Whether a topology makes its objects.
    pub(crate) is_planned: bool,
}

/// What makes machines of a config; `None` when nothing in the pool does.
pub(crate) fn maker<'a>(pool: &'a Pool, target: &Target<'a>) -> Option<&'a Object> {
    if target.is_control_plane_object() {
        return Some(target.config);
    }
    let of_core =
        |object: &&Object| object.group() == CORE_GROUP && object.kind().starts_with("Machine");
    target
        .set
        .or_else(|| pool.referrers(target.config).find(of_core))
}

pub(crate) fn verdict(old: &Machine<'_>, new: &Machine<'_>, is_data_changed: bool) -> Verdict {
    let (before, after) = (maker(old.pool, &old.target), maker(new.pool, &new.target));
    let has_owner = Owner::reference(new.target.config, new.request.feature_gates).is_some();
    match (before, after) {
        (Some(before), Some(after)) if before.kind() == after.kind() => match after.kind() {
            "KubeadmControlPlane" => of_control_plane(old, new, is_data_changed),
            "KubeadmControlPlaneTemplate" => of_template(old, new),
            "MachineDeployment" => of_deployment(old, new, before, after, is_data_changed),
            "MachinePool" => of_pool(before, after, is_data_changed),
            "MachineSet" => Verdict::of(
                SET_STAYS,
                "a MachineSet replaces no machine: only those that it makes from now on are others",
            ),
            _ => Verdict::of(KEEPS, "a machine keeps the data with which it was made"),
        },
        _ if new.target.is_template() && !has_owner => {
            let message = format!(
                "a {} that is edited in place replaces no machine: only those to come are others",
                new.target.config.kind()
            );
            Verdict::of(TEMPLATE_STAYS, message)
        }
        _ => Verdict::of(KEEPS, "a machine keeps the data with which it was made"),
    }
}

/// The version of Kubernetes as the side has it.
fn version(machine: &Machine<'_>, object: &Object, path: &[&str]) -> String {
    let said = machine
        .request
        .kubernetes_version
        .clone()
        .unwrap_or_else(|| object.text(path).to_owned());
    said.trim_start_matches('v').to_owned()
}

/// The first of the fields that name another object.
fn reference(object: &Object, paths: &[&[&str]]) -> Option<(String, String, String)> {
    let found = paths
        .iter()
        .find_map(|path| object.field(path).and_then(Reference::read))?;
    Some((found.group, found.kind, found.name))
}

fn of_deployment(
    old: &Machine<'_>,
    new: &Machine<'_>,
    before: &Object,
    after: &Object,
    is_data_changed: bool,
) -> Verdict {
    const SPEC: [&str; 3] = ["spec", "template", "spec"];
    let path = |steps: &[&'static str]| [&SPEC[..], steps].concat();
    let rollout = |reason: String| {
        Verdict::of(
            (Effect::Rollout, OF_DEPLOYMENT),
            format!("{} {reason}", after.title()),
        )
    };
    let versions = [
        version(old, before, &path(&["version"])),
        version(new, after, &path(&["version"])),
    ];
    if versions[0] != versions[1] {
        return rollout(format!(
            "goes from Kubernetes v{} to v{}",
            versions[0], versions[1]
        ));
    }
    for (name, steps) in [
        ("bootstrap", &["bootstrap", "configRef"][..]),
        ("infrastructure", &["infrastructureRef"]),
    ] {
        let [was, is] = [before, after].map(|object| reference(object, &[&path(steps)]));
        if was != is {
            let kind = is.or(was).map(|(_, kind, _)| kind).unwrap_or_default();
            return rollout(format!("points to another {kind} ({name})"));
        }
    }
    for steps in [&["bootstrap", "dataSecretName"][..], &["failureDomain"]] {
        if before.field(&path(steps)) != after.field(&path(steps)) {
            return rollout(format!(
                "has another spec.template.spec.{}",
                steps.join(".")
            ));
        }
    }
    if new.is_planned && is_data_changed && old.target.spec() != new.target.spec() {
        return Verdict::of(
            ROTATES,
            format!(
                "the topology controller gives {} a new {}",
                after.title(),
                new.target.config.kind()
            ),
        );
    }
    // What differs between versions of an API is only written otherwise.
    let is_changed = before.api_version() == after.api_version()
        && before.field(&["spec"]) != after.field(&["spec"]);
    match (is_changed, is_data_changed) {
        (true, _) => Verdict::of(
            (Effect::InPlace, OF_DEPLOYMENT),
            format!("what changes of {} replaces no machine", after.title()),
        ),
        (false, true) => {
            let kind = new.target.config.kind();
            Verdict::of(
                TEMPLATE_STAYS,
                format!(
                    "a {kind} that is edited in place replaces no machine: only those to come are others"
                ),
            )
        }
        (false, false) => Verdict::of((Effect::None, OF_DEPLOYMENT), "nothing changes"),
    }
}

fn of_pool(before: &Object, after: &Object, is_data_changed: bool) -> Verdict {
    let is_changed = before.field(&["spec"]) != after.field(&["spec"]);
    match is_changed || is_data_changed {
        true => Verdict::of(
            (Effect::OfProvider, OF_POOL),
            "the infrastructure provider decides whether the machines of a pool are replaced",
        ),
        false => Verdict::of((Effect::None, OF_POOL), "nothing changes"),
    }
}

fn of_template(old: &Machine<'_>, new: &Machine<'_>) -> Verdict {
    let spec = |machine: &Machine<'_>| {
        machine
            .target
            .config
            .field(&["spec", "template", "spec"])
            .cloned()
    };
    match spec(old) == spec(new) {
        true => Verdict::of((Effect::None, OF_TEMPLATE_WEBHOOK), "nothing changes"),
        false => Verdict::of(
            (Effect::Refused, OF_TEMPLATE_WEBHOOK),
            "a KubeadmControlPlaneTemplate cannot be changed: make one of another name",
        ),
    }
}

fn of_control_plane(old: &Machine<'_>, new: &Machine<'_>, is_data_changed: bool) -> Verdict {
    let (before, after) = (old.target.config, new.target.config);
    let [was, is] = [old, new].map(|machine| control_plane::with_defaults(spec(machine)));
    let refused = control_plane::refused(&was, &is);
    if let Some(first) = refused.first() {
        return Verdict::of(
            (Effect::Refused, OF_WEBHOOK),
            format!("spec.kubeadmConfigSpec.{first} cannot be changed"),
        );
    }
    let rollout = |reason: String| {
        Verdict::of(
            (Effect::Rollout, OF_CONTROL_PLANE),
            format!("{} {reason}", after.title()),
        )
    };
    let versions = [
        version(old, before, &["spec", "version"]),
        version(new, after, &["spec", "version"]),
    ];
    if control_plane::skips_a_minor(&versions[0], &versions[1]) {
        let message = format!(
            "Kubernetes v{} to v{} skips a minor version",
            versions[0], versions[1]
        );
        return Verdict::of((Effect::Refused, OF_WEBHOOK), message);
    }
    if versions[0] != versions[1] {
        return rollout(format!(
            "goes from Kubernetes v{} to v{}",
            versions[0], versions[1]
        ));
    }
    const REFERENCES: [&[&str]; 2] = [
        &["spec", "machineTemplate", "spec", "infrastructureRef"],
        &["spec", "machineTemplate", "infrastructureRef"],
    ];
    let [infrastructure, other] = [before, after].map(|object| reference(object, &REFERENCES));
    if infrastructure != other {
        return rollout("points to another template of its infrastructure".to_owned());
    }
    let replacing = control_plane::replacing(&was, &is);
    if let Some(first) = replacing.first() {
        let others = match replacing.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        return rollout(format!(
            "has another spec.kubeadmConfigSpec.{first}{others}"
        ));
    }
    let mut changed: Vec<String> = control_plane::differences(&was, &is)
        .into_iter()
        .map(|field| format!("kubeadmConfigSpec.{field}"))
        .collect();
    if before.api_version() == after.api_version() {
        changed.extend(control_plane::differences(
            &beside_config(before),
            &beside_config(after),
        ));
    }
    match changed.first() {
        Some(first) => Verdict::of(
            (Effect::InPlace, OF_CONTROL_PLANE),
            format!("spec.{first} replaces no machine"),
        ),
        None if old.request.profile != new.request.profile => Verdict::of(
            KEEPS,
            "an upgrade of Cluster API replaces no machine: only those to come are others",
        ),
        None if is_data_changed => Verdict::of(
            (Effect::None, OF_CONTROL_PLANE),
            "what changes replaces no machine: only machines to come are others",
        ),
        None => Verdict::of((Effect::None, OF_CONTROL_PLANE), "nothing changes"),
    }
}

/// The spec of a control plane without the config of its machines.
fn beside_config(object: &Object) -> Value {
    let mut spec = object.field(&["spec"]).cloned().unwrap_or_default();
    if let Value::Object(fields) = &mut spec {
        fields.remove("kubeadmConfigSpec");
    }
    spec
}

/// The spec of the config in v1beta2; as it is written where its API refuses it.
fn spec(machine: &Machine<'_>) -> Value {
    debug_assert!(
        matches!(machine.target.kind, ConfigKind::ControlPlane { .. }),
        "only control planes are compared"
    );
    let proven = config::prove(&machine.target, machine.request, &mut Notes::default());
    let spec = proven.and_then(|config| serde_json::to_value(config.spec).ok());
    spec.or_else(|| machine.target.spec().cloned())
        .unwrap_or_else(|| {
            fields::field(machine.target.config.value(), &["spec"])
                .cloned()
                .unwrap_or_default()
        })
}
