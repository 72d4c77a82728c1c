//! The way from a thing back to the lines that somebody wrote.

use serde_json::Value;

use super::subject::{Planned, Subject};
use super::thing::Source;
use windlass_bootstrap::render::input::filling::Filling;
use windlass_bootstrap::render::input::secret::Secret;
use windlass_capi::api::secret::Sensitive;
use windlass_capi::contract::CORE_GROUP;
use windlass_objects::{Object, Stand, fields};
use windlass_source::diag::{FieldPath, Place, Segment};
use windlass_topology::{Condition, GivenBy, Lost, Stands, Write, given, label_place};

/// A link of the chain from a thing on the node back to the input that it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What it is, as reports name it.
    pub kind: &'static str,
    /// The description in reports, such as `spec.files[0] of KubeadmConfig default/a`.
    pub text: String,
    /// What stands there, and by which name. May be secret.
    pub value: Option<(String, Sensitive<String>)>,
    /// The location in the user's files; the default `Place` when there is none.
    pub place: Place,
}

impl Step {
    pub(super) fn new(kind: &'static str, text: impl Into<String>, place: Place) -> Self {
        Step {
            kind,
            text: text.into(),
            value: None,
            place,
        }
    }

    /// The step with what stands there under a name.
    pub(super) fn with(self, name: &str, value: impl Into<String>) -> Self {
        Step {
            value: Some((name.to_owned(), Sensitive::new(value.into()))),
            ..self
        }
    }
}

/// How a source came to be: the last link first.
pub fn steps(subject: &Subject<'_>, source: &Source) -> Vec<Step> {
    match source {
        Source::Config(path) => of_config(subject, path),
        Source::Owner(path) => {
            let text = format!(
                "a label of the machines of {}, which Cluster API copies to their Nodes",
                subject.owner().title()
            );
            vec![Step::new("label", text, of_label(subject, path))]
        }
        Source::Filled(filling) => vec![of_filling(subject, filling)],
    }
}

/// Where a label of what makes the machine is written: of what a topology makes in the topology, or
/// else in its class.
pub(super) fn of_label(subject: &Subject<'_>, path: &FieldPath) -> Place {
    let in_topology = || {
        let planned = subject.planned.as_ref()?;
        let cluster = subject.pool.find(
            CORE_GROUP,
            "Cluster",
            subject.target.config.namespace_or_default(),
            planned.cluster,
        )?;
        let Some(Segment::Key(key)) = path.segments().last() else {
            return None;
        };
        label_place(subject.pool, cluster, planned.part_of, key)
    };
    in_topology().unwrap_or_else(|| subject.owner().key_place(path))
}

/// A field of the config: who wrote it, and what it refers to.
fn of_config(subject: &Subject<'_>, path: &FieldPath) -> Vec<Step> {
    let config = subject.target.config;
    let mut steps = match &subject.planned {
        Some(planned) => of_planned(subject, planned, path),
        None => vec![Step::new(
            "field",
            format!("{path} of {}", config.title()),
            config.place(path),
        )],
    };
    if let Some(set) = subject
        .target
        .set
        .or_else(|| subject.target.is_template().then(|| subject.owner()))
        .filter(|set| *set != config)
    {
        let reference = ["spec", "template", "spec", "bootstrap", "configRef"]
            .iter()
            .fold(FieldPath::root(), |path, name| path.field(*name));
        steps.push(Step::new(
            "owner",
            format!("{} makes its machines from it", set.title()),
            set.place(&reference),
        ));
    }
    steps.extend(references(subject, path));
    steps
}

/// What of the input a field reads.
fn references(subject: &Subject<'_>, path: &FieldPath) -> Vec<Step> {
    let Some(value) = subject.target.config.at(path) else {
        return Vec::new();
    };
    let of_source = |source: &str, kind: &str, key: &str| {
        let reference = fields::field(value, &[source, key])?;
        Some(held_by(
            subject,
            kind,
            fields::text(reference, &["name"]),
            fields::text(reference, &["key"]),
        ))
    };
    [
        ("contentFrom", "Secret", "secret"),
        ("contentFrom", "ConfigMap", "configMap"),
        ("passwdFrom", "Secret", "secret"),
    ]
    .into_iter()
    .filter_map(|(source, kind, key)| of_source(source, kind, key))
    .collect()
}

/// A key of a Secret or ConfigMap.
fn held_by(subject: &Subject<'_>, kind: &str, name: &str, key: &str) -> Step {
    let namespace = subject.target.config.namespace_or_default();
    let (word, lists): (_, [&str; 2]) = if kind == "Secret" {
        ("secret", ["stringData", "data"])
    } else {
        ("configMap", ["data", "binaryData"])
    };
    let Some(object) = subject.pool.find("", kind, namespace, name) else {
        let text = format!(
            "key `{key}` of {kind}/{name}, which is not in the input; a placeholder is used"
        );
        return Step::new(word, text, Place::default());
    };
    let list = lists
        .into_iter()
        .find(|list| object.field(&[list, key]).is_some())
        .unwrap_or(lists[0]);
    Step::new(
        word,
        format!("key `{key}` of {kind}/{name}"),
        object.key_place(&FieldPath::of_fields(list).key(key)),
    )
}

fn of_filling(subject: &Subject<'_>, filling: &Filling) -> Step {
    match filling {
        Filling::Cluster(field) => {
            let (cluster, path) = (subject.cluster, FieldPath::of_fields(field));
            let text = format!(
                "{field} of {}: the provider takes it where the config leaves it open",
                cluster.title()
            );
            Step::new("cluster", text, cluster.place(&path))
        }
        Filling::Version => {
            let text = format!("{} of {}", subject.version.path(), subject.owner().title());
            Step::new("version", text, subject.version.place())
        }
        Filling::Setting(setting) => Step::new(
            "setting",
            format!("given with `{}`", (subject.flag)(*setting)),
            Place::default(),
        ),
        Filling::Placeholder(what, setting) => {
            let given = setting
                .map(|setting| format!(" (`{}`)", (subject.flag)(setting)))
                .unwrap_or_default();
            let text = format!(
                "the input has no {what}, which the provider finds or makes in a cluster; a placeholder is used{given}"
            );
            Step::new("placeholder", text, Place::default())
        }
        Filling::Secret {
            name,
            is_placeholder,
        } => of_secret(subject, name, *is_placeholder),
        Filling::Provider(why) => Step::new("provider", *why, Place::default()),
    }
}

fn of_secret(subject: &Subject<'_>, name: &str, is_placeholder: bool) -> Step {
    let namespace = subject.target.config.namespace_or_default();
    let what = format!("Secret/{name}: a certificate of the cluster");
    match Secret::find(subject.pool, namespace, name)
        .filter(|_| !is_placeholder)
        .map(|secret| secret.object())
    {
        Some(object) => {
            let list = if object.field(&["stringData"]).is_some() {
                "stringData"
            } else {
                "data"
            };
            Step::new(
                "secret",
                what,
                object.key_place(&FieldPath::of_fields(list)),
            )
        }
        None => {
            let text = format!(
                "{what}, which Cluster API makes; it is not in the input, and a dummy is used"
            );
            Step::new("secret", text, Place::default())
        }
    }
}

/// A field of a config that a topology makes.
fn of_planned(subject: &Subject<'_>, planned: &Planned<'_>, path: &FieldPath) -> Vec<Step> {
    let (stands, below) = planned.origins.nearest(path);
    let Some((at, write)) = stands
        .write
        .and_then(|at| Some((at, planned.writes.get(at)?)))
    else {
        return vec![of_template(stands, &below)];
    };
    let place = stands.stand.anchor.place(&stands.stand.path.join(&below));
    let class = place.object.clone().unwrap_or_default();
    let text = format!(
        "patch `{}` of {class} {} `{}`",
        write.patch,
        verb(&write.op),
        write.path
    );
    let mut steps = vec![Step::new("patch", text, place)];
    let conditions = planned
        .history
        .map_or(&[][..], |history| &history.conditions);
    let condition = conditions
        .iter()
        .find(|condition| condition.patch == write.patch);
    steps.extend(
        condition.map(|condition| of_condition(condition, "which is on, because this is true")),
    );
    let of_condition = condition
        .map_or(&[][..], |condition| &condition.variables)
        .iter();
    let mut names: Vec<&String> = write.variables.iter().chain(of_condition).collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    steps.extend(
        names
            .iter()
            .filter_map(|name| variable(subject, planned, name)),
    );
    let lost = planned
        .history
        .map_or(&[][..], |history| &history.lost)
        .iter()
        .filter(|lost| lost.write == at);
    steps.extend(lost.map(|lost| of_lost(planned, lost)));
    steps
}

/// The step to a part of a template of the class.
fn of_template(stands: &Stands, below: &FieldPath) -> Step {
    let path = stands.stand.path.join(below);
    let place = stands.stand.anchor.place(&path);
    let object = place.object.clone().unwrap_or_default();
    Step::new(
        "template",
        format!("{path} of {object}, of which the class makes it"),
        place,
    )
}

/// The step to the condition of a patch.
pub(super) fn of_condition(condition: &Condition, what: &str) -> Step {
    Step::new("condition", what, at(&condition.stand)).with("enabledIf", condition.text.trim())
}

/// The step to what a patch replaced.
fn of_lost(planned: &Planned<'_>, lost: &Lost) -> Step {
    let (stands, below) = lost.origins.nearest(&FieldPath::root());
    let place = stands.stand.anchor.place(&stands.stand.path.join(&below));
    Step::new(
        "replaced",
        format!("in place of what {} had there", author(planned, stands)),
        place,
    )
}

/// Who wrote a part: a patch or a template.
pub(super) fn author(planned: &Planned<'_>, stands: &Stands) -> String {
    match stands.write.and_then(|at| planned.writes.get(at)) {
        Some(Write { patch, .. }) => format!("patch `{patch}`"),
        None => stands
            .stand
            .anchor
            .place(&FieldPath::root())
            .object
            .unwrap_or_default(),
    }
}

/// The step to the value of a variable; `None` for what only looks like one.
pub(super) fn variable(subject: &Subject<'_>, planned: &Planned<'_>, name: &str) -> Option<Step> {
    let namespace = subject.target.config.namespace_or_default();
    let cluster: &Object = subject
        .pool
        .find(CORE_GROUP, "Cluster", namespace, planned.cluster)?;
    let found = given(subject.pool, cluster, planned.part_of, name);
    let what = match found.by {
        GivenBy::Override => format!(
            "an override of {} in Cluster/{}",
            planned.part_of, planned.cluster
        ),
        GivenBy::Topology => format!("a variable of the topology of Cluster/{}", planned.cluster),
        GivenBy::Default => "the default of the class".to_owned(),
        GivenBy::Computed => "which Cluster API computes of the Cluster".to_owned(),
        GivenBy::Nobody => "which has no value and no default".to_owned(),
        GivenBy::Undefined => return None,
    };
    let step = Step::new(
        "variable",
        format!("variable `{name}`: {what}"),
        found.stand.as_ref().map(at).unwrap_or_default(),
    );
    Some(match &found.value {
        Some(value) => step.with(name, one_line(value)),
        None => step,
    })
}

pub(super) fn at(stand: &Stand) -> Place {
    stand.anchor.place(&stand.path)
}

pub(super) fn verb(op: &str) -> &'static str {
    match op {
        "add" => "adds",
        "remove" => "removes",
        _ => "replaces",
    }
}

/// A value in one line; long ones are cut.
fn one_line(value: &Value) -> String {
    const LONGEST: usize = 120;
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
