//! Why a thing is not on a node.

use super::arguments::Held;
use super::known::known;
use super::node::{labels, of_file};
use super::sections::named_by_sections;
use super::spec::{fragment, meant, pointer};
use super::steps::{Step, at, author, of_condition, of_label, variable, verb};
use super::subject::{Planned, Subject};
use super::thing::{Kind, Source, Thing};
use super::wanted::Wanted;
use windlass_bootstrap::render::Role;
use windlass_bootstrap::render::input::filling::FROM_CLUSTER;
use windlass_bootstrap::render::input::target::ConfigKind;
use windlass_bootstrap::render::write::cloud_config::{self, Paths};
use windlass_capi::api::boot::{Format, Platform};
use windlass_capi::api::names::Kind as Form;
use windlass_capi::contract::CORE_GROUP;
use windlass_capi::contract::labels::is_synced_to_nodes;
use windlass_objects::fields;
use windlass_source::diag::{FieldPath, Place, Segment};
use windlass_topology::{Lost, Misfit, Reason, Untaken};

/// Why nothing of a node is what was asked for: what is most likely meant comes first. `things` are
/// those that it has.
pub fn absent(subject: &Subject<'_>, wanted: &Wanted, things: &[Thing]) -> Vec<Step> {
    let mut steps = made_by_others(subject, wanted);
    steps.extend(of_other_role(subject, wanted));
    if let Some(planned) = &subject.planned {
        let history = planned.history.iter();
        steps.extend(
            history
                .clone()
                .flat_map(|history| &history.lost)
                .flat_map(|lost| taken_away(subject, planned, lost, wanted)),
        );
        steps.extend(
            history
                .clone()
                .flat_map(|history| &history.untaken)
                .flat_map(|untaken| not_taken(subject, planned, untaken, wanted)),
        );
    }
    steps.extend(without_effect(subject, wanted, things));
    steps.extend(of_sections(subject, wanted));
    steps.extend(unsaid_by_cluster(subject, wanted));
    steps.extend(of_other_format(subject, wanted));
    steps.extend(labels_of_machines(subject, wanted));
    steps.extend(named_by_commands(subject, wanted, things));
    if let Some(planned) = &subject.planned {
        steps.extend(
            planned
                .history
                .iter()
                .flat_map(|history| &history.untaken)
                .filter_map(external),
        );
    }
    let mut kept: Vec<Step> = Vec::new();
    for step in steps {
        if !kept.contains(&step) {
            kept.push(step);
        }
    }
    kept
}

/// What Kubernetes makes by itself.
fn made_by_others(subject: &Subject<'_>, wanted: &Wanted) -> Vec<Step> {
    let is_control_plane = subject.rendered.role.is_control_plane();
    let kinds = wanted
        .kinds
        .iter()
        .filter(|kind| matches!(kind, Kind::File | Kind::Label | Kind::Taint));
    let step = |kind: &Kind| match known(*kind, &wanted.text, is_control_plane) {
        Some(found) => Some(Step::new("known", found.why, Place::default())),
        None => known(*kind, &wanted.text, true).map(|_| {
            Step::new(
                "role",
                "only nodes of the control plane have it",
                Place::default(),
            )
        }),
    };
    kinds.filter_map(step).collect()
}

/// The file that kubeadm reads on machines of the other command.
fn of_other_role(subject: &Subject<'_>, wanted: &Wanted) -> Option<Step> {
    let is_init = subject.rendered.role == Role::Init;
    let other = [Platform::Linux, Platform::Windows]
        .into_iter()
        .map(|platform| match (Paths::on(platform), is_init) {
            (paths, true) => (paths.join, paths.init),
            (paths, false) => (paths.init, paths.join),
        })
        .find(|(other, _)| wanted.may_be(Kind::File) && wanted.fits(Kind::File, other));
    let (other, own) = other.filter(|_| subject.rendered.format == Format::CloudConfig)?;
    let text = match is_init {
        true => format!("only machines that join have {other}; this one is the first, with {own}"),
        false => format!("only the first machine has {other}; this one joins, with {own}"),
    };
    Some(Step::new("role", text, Place::default()))
}

/// What a later patch replaced or removed.
fn taken_away(
    subject: &Subject<'_>,
    planned: &Planned<'_>,
    lost: &Lost,
    wanted: &Wanted,
) -> Vec<Step> {
    let Some(part) = fragment(subject.target.kind, &lost.path, &lost.value) else {
        return Vec::new();
    };
    let step = |held: Held| {
        let write = planned.writes.get(lost.write)?;
        let below: FieldPath = held
            .path
            .segments()
            .iter()
            .skip(part.depth)
            .cloned()
            .collect();
        let (stands, rest) = lost.origins.nearest(&below);
        let author = author(planned, stands);
        let text = format!(
            "patch `{}` {} `{}`, where {author} had it",
            write.patch,
            verb(&write.op),
            write.path
        );
        let by = Step::new("replaced", text, at(&lost.stand));
        let was = stands.stand.anchor.place(&stands.stand.path.join(&rest));
        Some([by, Step::new("was", format!("{author} wrote it here"), was)])
    };
    meant(&part.spec, wanted)
        .into_iter()
        .filter_map(step)
        .flatten()
        .collect()
}

/// What a patch would have written that is for other templates, or off.
fn not_taken(
    subject: &Subject<'_>,
    planned: &Planned<'_>,
    untaken: &Untaken,
    wanted: &Wanted,
) -> Vec<Step> {
    let has_it = untaken.writes.iter().find(|write| {
        let path = pointer(&write.path);
        let own = fragment(subject.target.kind, &path, &write.value);
        let of_others = || elsewhere(&path, &write.value);
        own.map(|part| part.spec)
            .or_else(of_others)
            .is_some_and(|spec| !meant(&spec, wanted).is_empty())
    });
    let Some(write) = has_it else {
        return Vec::new();
    };
    let mut steps = match &untaken.reason {
        Reason::Selector(misfit) => {
            let text = format!(
                "patch `{}` writes it for others: {}",
                untaken.patch,
                for_whom(misfit)
            );
            vec![Step::new("selector", text, at(&untaken.stand))]
        }
        Reason::Disabled { condition, gave } => {
            let off = Step::new(
                "disabled",
                format!("patch `{}` would write it, but is off", untaken.patch),
                at(&write.stand),
            );
            let why = of_condition(
                condition,
                &format!("its condition gives `{gave}`, and not `true`"),
            );
            let variables = condition
                .variables
                .iter()
                .filter_map(|name| variable(subject, planned, name));
            [off, why].into_iter().chain(variables).collect()
        }
        Reason::External => Vec::new(),
    };
    steps.dedup();
    steps
}

/// The part of a spec that a value is at a path of a template of another kind: below whatever the
/// spec of that kind is.
fn elsewhere(path: &FieldPath, value: &serde_json::Value) -> Option<serde_json::Value> {
    let kinds = [
        ConfigKind::ControlPlane { template: true },
        ConfigKind::Kubeadm(Form::Template),
    ];
    kinds
        .into_iter()
        .find_map(|kind| fragment(kind, path, value))
        .map(|part| part.spec)
}

/// What of a selector is for other templates, in words.
fn for_whom(misfit: &Misfit) -> String {
    match misfit {
        Misfit::Other { field, own } => {
            format!("the `{field}` of its selector is not that of this machine's template, {own}")
        }
        Misfit::NotInfrastructure => {
            "its selector is not for the Cluster's infrastructure".to_owned()
        }
        Misfit::NotControlPlane => {
            "`matchResources.controlPlane` of its selector is not true".to_owned()
        }
        Misfit::OtherClass { is_pool, class } => {
            let list = if *is_pool {
                "machinePoolClass"
            } else {
                "machineDeploymentClass"
            };
            format!(
                "`matchResources.{list}.names` of its selector has no pattern for the class `{class}`"
            )
        }
    }
}

/// A patch of which only a runtime extension knows what it writes.
fn external(untaken: &Untaken) -> Option<Step> {
    let text = format!(
        "patch `{}` is made by a runtime extension and not applied here: it may write it",
        untaken.patch
    );
    (untaken.reason == Reason::External).then(|| Step::new("external", text, at(&untaken.stand)))
}

/// What the config says, and this machine does not get as it is said.
fn without_effect(subject: &Subject<'_>, wanted: &Wanted, things: &[Thing]) -> Vec<Step> {
    let Some(spec) = subject.target.spec() else {
        return Vec::new();
    };
    let step = |held: Held| {
        let path = subject.target.spec_path().join(&held.path);
        let source = Source::Config(path.clone());
        let renamed = things
            .iter()
            .find(|thing| thing.kind == Kind::Field && thing.source == source);
        let (kind, why) = match renamed {
            Some(thing) => (
                "renamed",
                format!("becomes {} of kubeadm's document", thing.name),
            ),
            None => unsaid(subject, &held),
        };
        Step::new(
            kind,
            format!("{path} {why}"),
            subject.target.config.place(&path),
        )
    };
    meant(spec, wanted).into_iter().map(step).collect()
}

/// Why this machine's data does not have what the config says.
fn unsaid(subject: &Subject<'_>, held: &Held) -> (&'static str, String) {
    let role = subject.rendered.role;
    let is_of = |name: &str| matches!(held.path.segments().first(), Some(Segment::Field(first)) if first == name);
    let is_of_cluster = is_of("clusterConfiguration");
    let is_of_init = is_of_cluster || is_of("initConfiguration");
    let why = match (is_of_init, is_of("joinConfiguration"), role == Role::Init) {
        // kubeadm: "Implementation details", "kubeadm join phases": it downloads the
        // ClusterConfiguration.
        (true, _, false) if is_of_cluster && role.is_control_plane() => {
            return (
                "configMap",
                "is not in this machine's data: it joins, and kubeadm reads it from the ConfigMap kubeadm-config of the cluster".to_owned(),
            );
        }
        (true, _, false) => {
            format!("counts only for `kubeadm init`, and this machine joins ({role})")
        }
        (_, true, true) => {
            "counts only for `kubeadm join`, and this machine is the first one (init)".to_owned()
        }
        (true, ..) | (_, true, _) => {
            format!(
                "does not reach kubeadm: its API for Kubernetes {} has no such field",
                subject.rendered.kubernetes_version
            )
        }
        _ => format!("is not carried by {}", subject.rendered.format),
    };
    ("no-effect", why)
}

/// What the config has of it that is not a thing of its own: mounts, disks, volumes of static pods,
/// and sections as a whole.
fn of_sections(subject: &Subject<'_>, wanted: &Wanted) -> Vec<Step> {
    let Some(spec) = subject.target.spec() else {
        return Vec::new();
    };
    let step = |(path, what): (FieldPath, &'static str)| {
        let path = subject.target.spec_path().join(&path);
        Step::new(
            "section",
            format!("{path} has it: {what}"),
            subject.target.config.place(&path),
        )
    };
    named_by_sections(spec, wanted)
        .into_iter()
        .map(step)
        .collect()
}

/// Fields that the Cluster would say, and does not.
fn unsaid_by_cluster(subject: &Subject<'_>, wanted: &Wanted) -> Vec<Step> {
    let role = subject.rendered.role;
    let is_meant = |field: &str| {
        wanted.means(&Thing::new(
            Kind::Field,
            field,
            "",
            Source::Config(FieldPath::root()),
        ))
    };
    let step = |(_, field): &(&str, &str)| {
        if role != Role::Init {
            let text = format!(
                "the settings of the Cluster apply only to `kubeadm init`, and this machine joins ({role})"
            );
            return Step::new("cluster", text, Place::default());
        }
        let text = match subject.cluster.is(CORE_GROUP, "Cluster") {
            true => format!(
                "neither the config says it nor {field} of {}",
                subject.cluster.title()
            ),
            false => format!(
                "the config does not say it, and the input holds no Cluster, whose {field} would"
            ),
        };
        Step::new(
            "cluster",
            text,
            subject.cluster.place(&FieldPath::of_fields(field)),
        )
    };
    FROM_CLUSTER
        .iter()
        .filter(|(field, _)| is_meant(field))
        .map(step)
        .collect()
}

/// Files that only the other format has.
fn of_other_format(subject: &Subject<'_>, wanted: &Wanted) -> Vec<Step> {
    if subject.rendered.format != Format::Ignition {
        return Vec::new();
    }
    let (plan, encoder) = (&subject.rendered.plan, subject.rendered.encoder);
    let files = cloud_config::node_files(plan, encoder)
        .into_iter()
        .map(|file| of_file(subject, &file));
    let only_there =
        files.filter(|file| wanted.means(file) && !matches!(file.source, Source::Config(_)));
    let step = |_: Thing| {
        let place = subject
            .target
            .config
            .place(&subject.rendered.spec_path.field("format"));
        Step::new(
            "format",
            "the provider writes this file with cloud-config alone; with Ignition kubeadm reads /etc/kubeadm.yml",
            place,
        )
    };
    only_there.map(step).collect()
}

/// Labels that are written where they do not reach the Node.
fn labels_of_machines(subject: &Subject<'_>, wanted: &Wanted) -> Vec<Step> {
    let owner = subject.owner();
    let of_machines: Vec<Thing> = labels(subject)
        .filter(|label| wanted.means(label) && !is_synced_to_nodes(&label.name))
        .collect();
    let step = |label: Thing| {
        let place = match &label.source {
            Source::Owner(path) => of_label(subject, path),
            _ => Place::default(),
        };
        let text = format!(
            "it is a label of the machines of {}, and Cluster API copies only those of node-role.kubernetes.io, node-restriction.kubernetes.io and \
             node.cluster.x-k8s.io to the Node; `node-labels` of kubeletExtraArgs sets it",
            owner.title()
        );
        Step::new("label", text, place)
    };
    let own = wanted.may_be(Kind::Label)
        && of_machines.is_empty()
        && owner.kind() != "Machine"
        && fields::field(owner.value(), &["metadata", "labels", &wanted.text]).is_some();
    let top = own.then(|| {
        let text = format!(
            "it is a label of {} itself, which Cluster API does not copy to its machines",
            owner.title()
        );
        Step::new(
            "label",
            text,
            owner.key_place(&FieldPath::of_fields("metadata.labels").key(wanted.text.as_str())),
        )
    });
    of_machines.into_iter().map(step).chain(top).collect()
}

/// Commands that name a path that no file of the data has.
fn named_by_commands(subject: &Subject<'_>, wanted: &Wanted, things: &[Thing]) -> Vec<Step> {
    if !wanted.is_path() {
        return Vec::new();
    }
    let names_it =
        |thing: &&Thing| thing.kind == Kind::Command && thing.name.contains(&wanted.text);
    let step = |thing: &Thing| {
        let place = match &thing.source {
            Source::Config(path) => subject.target.config.place(path),
            _ => Place::default(),
        };
        Step::new(
            "command",
            format!(
                "no file of the data, but a command names it ({})",
                thing.value.expose()
            ),
            place,
        )
        .with("command", thing.name.as_str())
    };
    things.iter().filter(names_it).map(step).collect()
}
