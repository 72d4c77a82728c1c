//! What the node of a rendered machine has.

use super::documents;
use super::known;
use super::subject::Subject;
use super::thing::{Kind, Source, Thing};
use windlass_bootstrap::render::input::filling::{FilledPart, Filling};
use windlass_bootstrap::render::write::cloud_config::NodeFile;
use windlass_capi::contract::CORE_GROUP;
use windlass_capi::contract::labels::is_synced_to_nodes;
use windlass_objects::{Object, fields};
use windlass_source::diag::FieldPath;

/// Everything that the node has, and from where.
pub fn things(subject: &Subject<'_>) -> Vec<Thing> {
    let of_files = subject
        .rendered
        .node_files()
        .into_iter()
        .map(|file| of_file(subject, &file));
    let mut all: Vec<Thing> = of_files.collect();
    all.extend(directories(subject));
    all.extend(commands(subject));
    all.extend(users(subject));
    all.extend(documents::things(subject));
    all.extend(labels(subject).filter(|label| is_synced_to_nodes(&label.name)));
    all
}

pub(super) fn of_file(subject: &Subject<'_>, file: &NodeFile<'_>) -> Thing {
    let noted = subject.filled.iter().find_map(|filled| match &filled.what {
        FilledPart::File(path) if *path == file.path => Some(filled.from.clone()),
        _ => None,
    });
    let source = match (file.origin, noted) {
        (Some(origin), _) => Source::Config(origin.clone()),
        (None, Some(from)) => Source::Filled(from),
        (None, None) => Source::Filled(Filling::Provider(known::of_provider(&file.path))),
    };
    let said = [file.permissions.as_ref(), file.owner.as_ref()]
        .into_iter()
        .filter(|text| !text.is_empty());
    let size = format!(
        "{} bytes{}",
        file.content.len(),
        if file.append { ", appended" } else { "" }
    );
    let value: Vec<String> = said.map(str::to_owned).chain([size]).collect();
    Thing::new(Kind::File, file.path.clone(), value.join(", "), source)
}

fn directories<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = Thing> + 's {
    subject
        .rendered
        .plan
        .directories
        .iter()
        .filter_map(|directory| {
            let source = Source::Config(directory.origin.clone()?);
            Some(Thing::new(
                Kind::Directory,
                directory.path.as_str(),
                format!("{}, {}", directory.permissions, directory.owner),
                source,
            ))
        })
}

/// The commands in the order in which they run, with the part of the boot in place of the value.
fn commands(subject: &Subject<'_>) -> Vec<Thing> {
    let (plan, spec_path) = (&subject.rendered.plan, &subject.rendered.spec_path);
    let boot = plan
        .boot_commands
        .iter()
        .enumerate()
        .map(|(index, command)| {
            let source = Source::Config(spec_path.field("bootCommands").index(index));
            Thing::new(Kind::Command, command.expose().as_str(), "boot", source)
        });
    let run = subject.rendered.run_items().into_iter().map(|item| {
        let source = match item.origin(spec_path) {
            Some(field) => Source::Config(field),
            None => Source::Filled(Filling::Provider(known::of_phase(item.phase))),
        };
        Thing::new(
            Kind::Command,
            item.command.into_owned(),
            item.phase.as_str(),
            source,
        )
    });
    boot.chain(run).collect()
}

fn users<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = Thing> + 's {
    let list = subject.rendered.spec_path.field("users");
    subject
        .rendered
        .plan
        .users
        .iter()
        .enumerate()
        .map(move |(index, user)| {
            let said = [
                ("shell", &user.shell),
                ("groups", &user.groups),
                ("home", &user.home_dir),
            ];
            let said: Vec<String> = said
                .iter()
                .filter(|(_, text)| !text.is_empty())
                .map(|(name, text)| format!("{name} {text}"))
                .collect();
            Thing::new(
                Kind::User,
                user.name.as_str(),
                said.join(", "),
                Source::Config(list.index(index)),
            )
        })
}

/// The labels of what makes the machine, which its Machine has: not all of them reach the Node.
pub(super) fn labels<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = Thing> + 's {
    let path = labels_path(subject.owner());
    let found = path
        .as_ref()
        .and_then(|path| subject.owner().at(path))
        .and_then(serde_json::Value::as_object);
    let pairs = found
        .into_iter()
        .flatten()
        .filter_map(move |(key, value)| Some((key, value.as_str()?, path.clone()?)));
    pairs.map(|(key, value, path)| {
        Thing::new(
            Kind::Label,
            key.as_str(),
            value,
            Source::Owner(path.key(key.as_str())),
        )
    })
}

/// Where the labels of Machines stand in what makes them (book: "Metadata propagation").
fn labels_path(owner: &Object) -> Option<FieldPath> {
    let path = match owner.kind() {
        "Machine" => "metadata.labels",
        "KubeadmControlPlane" => "spec.machineTemplate.metadata.labels",
        _ if owner.group() == CORE_GROUP => "spec.template.metadata.labels",
        _ => return None,
    };
    fields::at(owner.value(), FieldPath::of_fields(path).segments())
        .map(|_| FieldPath::of_fields(path))
}
