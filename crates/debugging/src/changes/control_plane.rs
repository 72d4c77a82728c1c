//! What becomes of the machines of a KubeadmControlPlane.

use serde_json::{Value, json};

use super::effect::{Effect, KEEPS, Machine, Verdict};
use super::infrastructure;
use windlass_bootstrap::render::input::target::ConfigKind;
use windlass_bootstrap::render::validation::config;
use windlass_bootstrap::render::{Notes, Role};
use windlass_capi::contract::rollout::{
    self, Comparison, Config, Machines, Release, Row, Rule, names_another, rollout_after,
};
use windlass_objects::{Object, fields};

const OF_WEBHOOK: &str =
    "Cluster API v1.10 to v1.14, webhook of KubeadmControlPlane, ValidateUpdate";

const VERSION: &[&str] = &["spec", "version"];
/// The reference to the infrastructure template in v1beta2 and v1beta1.
const INFRASTRUCTURE: [&[&str]; 2] = [
    &["spec", "machineTemplate", "spec", "infrastructureRef"],
    &["spec", "machineTemplate", "infrastructureRef"],
];

/// Both sides of a comparison, with what is read of them.
struct Sides<'a> {
    old: &'a Machine<'a>,
    new: &'a Machine<'a>,
    machines: Machines,
    /// The configs in v1beta2.
    specs: [Value; 2],
}

pub(super) fn verdict(old: &Machine<'_>, new: &Machine<'_>, is_data_changed: bool) -> Verdict {
    let machines = match new.target.role {
        Some(Role::Init) => Machines::Init,
        _ => Machines::Joined,
    };
    let sides = Sides {
        old,
        new,
        machines,
        specs: [old, new].map(spec),
    };
    let is_upgrade = old.request.profile != new.request.profile;
    let changed = sides.changed();
    let known = sides.known();
    let is_changed = is_upgrade
        || is_data_changed
        || !changed.is_empty()
        || infrastructure::edited(old, new, "").is_some();
    if known.is_none() && is_changed {
        return Verdict::unknown(old, new);
    }
    let Some((row, releases)) = known else {
        return Verdict::of(Effect::None, KEEPS, "nothing changes");
    };
    sides
        .rejected(releases[1])
        .map(|reason| Verdict::of(Effect::Rejected, OF_WEBHOOK, reason))
        .or_else(|| sides.rollout(row, releases))
        .unwrap_or_else(|| sides.stays(row, &changed, is_data_changed))
}

impl Sides<'_> {
    /// The row of the new release, and both releases; `None` when one is not known or the new one
    /// is older.
    fn known(&self) -> Option<(&'static Row, [Release; 2])> {
        self.old.row(self.machines)?;
        let row = self.new.row(self.machines)?;
        let was = self.old.request.profile.release()?;
        let is = self.new.request.profile.release()?;
        (was.0 <= is.0).then_some((row, [was, is]))
    }

    fn objects(&self) -> [&Object; 2] {
        [self.old.target.config, self.new.target.config]
    }

    fn versions(&self) -> [String; 2] {
        [self.old, self.new].map(|machine| machine.version(machine.target.config, VERSION))
    }

    /// The fields below `spec` that differ.
    fn changed(&self) -> Vec<String> {
        let [was, is] = &self.specs;
        let mut changed: Vec<String> = rollout::changed(was, is)
            .into_iter()
            .map(|field| format!("kubeadmConfigSpec.{field}"))
            .collect();
        let [before, after] = self.objects();
        if before.api_version() == after.api_version() {
            let (before, after) = (beside_config(before), beside_config(after));
            changed.extend(rollout::differences(&before, &after));
        }
        changed
    }

    /// What the webhook rejects, and why.
    fn rejected(&self, release: Release) -> Option<String> {
        let of_v1beta1 = |machine: &Machine<'_>| {
            let spec = machine.target.config.field(&["spec"]).cloned();
            spec.filter(|_| is_v1beta1(machine) && release.0 <= 10)
        };
        let in_v1beta2 = |spec: &Value| json!({"kubeadmConfigSpec": spec});
        let [was, is] = match (of_v1beta1(self.old), of_v1beta1(self.new)) {
            (Some(was), Some(is)) => [was, is],
            _ => [in_v1beta2(&self.specs[0]), in_v1beta2(&self.specs[1])],
        };
        if let Some(field) = rollout::rejected(release, &was, &is).first() {
            return Some(format!("spec.{field} cannot be changed"));
        }
        let [was, is] = self.versions();
        rollout::skips_a_minor(&was, &is)
            .then(|| format!("Kubernetes v{was} to v{is} skips a minor version"))
    }

    /// The verdict when the machines are replaced, or nothing is known.
    fn rollout(&self, row: &Row, releases: [Release; 2]) -> Option<Verdict> {
        let [before, after] = self.objects();
        let rollout = |reason: String| {
            let reason = format!("{} {reason}", after.title());
            Some(Verdict::of(Effect::Rollout, row.source, reason))
        };
        let [was, is] = self.versions();
        if was != is {
            return rollout(format!("goes from Kubernetes v{was} to v{is}"));
        }
        let [was, is] = [before, after].map(infrastructure_of);
        if names_another(&["group", "kind", "name"], was, is) {
            return rollout("points to another template of its infrastructure".to_owned());
        }
        let [was, is] =
            [before, after].map(|object| object.field(&["spec"]).and_then(rollout_after));
        if let Some(time) = is.filter(|_| was != is) {
            return rollout(format!(
                "replaces machines created before {time} from then on (rollout.after)"
            ));
        }
        let configs = [0, 1].map(|side| self.config(side, releases[side]));
        let Some(replacing) = rollout::replacing(self.machines, &configs[0], &configs[1]) else {
            return Some(Verdict::unknown(self.old, self.new));
        };
        if let Some(first) = replacing.first() {
            let others = match replacing.len() - 1 {
                0 => String::new(),
                others => format!(" and {others} more"),
            };
            let is_upgrade = self.old.request.profile != self.new.request.profile;
            let [was, is] = &self.specs;
            return match is_upgrade && rollout::changed(was, is).is_empty() {
                true => self.by_upgrade(row, first),
                false => rollout(format!(
                    "has a different spec.kubeadmConfigSpec.{first}{others}"
                )),
            };
        }
        let days = expiry_days(after).filter(|days| expiry_days(before) < Some(*days));
        if let Some(days) = days {
            return rollout(format!(
                "replaces machines whose certificates expire within {days} days (rollout.before)"
            ));
        }
        infrastructure::edited(self.old, self.new, &after.title())
            .filter(|verdict| verdict.effect != Effect::None)
    }

    /// The same config is stored or compared otherwise by the new release.
    fn by_upgrade(&self, row: &Row, field: &str) -> Option<Verdict> {
        let [was, is] = [self.old, self.new].map(|machine| machine.request.profile.version());
        let reason = format!(
            "Cluster API {is} finds another {field} in the KubeadmConfig that {was} stored"
        );
        Some(Verdict::of(Effect::Rollout, row.source, reason))
    }

    fn config(&self, side: usize, release: Release) -> Config<'_> {
        let machine = [self.old, self.new][side];
        let version = &self.versions()[side];
        let kubernetes = windlass_capi::contract::parse_tolerant(version).ok();
        Config {
            release,
            spec: &self.specs[side],
            v1beta1: machine.target.spec().filter(|_| is_v1beta1(machine)),
            sets_local_mode: kubernetes
                .is_some_and(|version| machine.request.profile.sets_kubelet_local_mode(&version)),
        }
    }

    /// The verdict when the machines stay.
    fn stays(&self, row: &Row, changed: &[String], is_data_changed: bool) -> Verdict {
        if let Some(first) = changed.first() {
            let reason = format!("spec.{first} replaces no machine");
            return Verdict::of(Effect::InPlace, row.source, reason);
        }
        let [_, after] = self.objects();
        if let Some(verdict) = infrastructure::edited(self.old, self.new, &after.title()) {
            return verdict;
        }
        let is_upgrade = self.old.request.profile != self.new.request.profile;
        let reason = match is_data_changed {
            _ if is_upgrade => self.of_upgrade(row),
            true => "no machine is replaced: the changes only apply to new machines".to_owned(),
            false => "nothing changes".to_owned(),
        };
        Verdict::of(Effect::None, row.source, reason)
    }

    /// What an upgrade of Cluster API does to machines that stay. Up to v1.11 the bootstrap
    /// provider could fail to store `joinConfiguration.controlPlane`, by which later releases tell
    /// machines that joined.
    fn of_upgrade(&self, row: &Row) -> String {
        let message = "an upgrade of Cluster API replaces no machine: only new machines differ";
        let is_older = self.old.request.profile.release() < Some(Release(12, 0));
        let needs_field = row.rule
            == Rule::ControlPlane(Comparison::Desired {
                accepts_missing_control_plane: false,
            });
        match self.machines {
            Machines::Joined if is_older && needs_field => format!(
                "{message}; a machine is replaced if its KubeadmConfig lacks joinConfiguration.controlPlane"
            ),
            _ => message.to_owned(),
        }
    }
}

fn is_v1beta1(machine: &Machine<'_>) -> bool {
    machine.target.config.version() == "v1beta1"
}

fn infrastructure_of(object: &Object) -> Option<&Value> {
    INFRASTRUCTURE.iter().find_map(|path| object.field(path))
}

/// The days before the expiry of their certificates from which machines are replaced.
fn expiry_days(object: &Object) -> Option<i64> {
    [
        &["spec", "rollout", "before", "certificatesExpiryDays"][..],
        &["spec", "rolloutBefore", "certificatesExpiryDays"],
    ]
    .iter()
    .find_map(|path| object.field(path)?.as_i64())
}

/// The spec of a control plane without the config of its machines.
fn beside_config(object: &Object) -> Value {
    let mut spec = object.field(&["spec"]).cloned().unwrap_or_default();
    if let Value::Object(fields) = &mut spec {
        fields.remove("kubeadmConfigSpec");
    }
    spec
}

/// The spec of the config in v1beta2; as it is written where its API rejects it.
fn spec(machine: &Machine<'_>) -> Value {
    debug_assert!(
        matches!(machine.target.kind, ConfigKind::ControlPlane { .. }),
        "only control planes are compared"
    );
    let proven = config::validate(&machine.target, machine.request, &mut Notes::default());
    let spec = proven.and_then(|config| serde_json::to_value(config.spec).ok());
    spec.or_else(|| machine.target.spec().cloned())
        .unwrap_or_else(|| {
            fields::field(machine.target.config.value(), &["spec"])
                .cloned()
                .unwrap_or_default()
        })
}
