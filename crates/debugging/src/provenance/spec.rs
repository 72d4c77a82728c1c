//! What the spec of a config asks for, as it is written: also of parts that no machine gets.

use serde_json::{Map, Value, json};

use super::arguments::{Held, held, plain};
use super::documents::DOCUMENTS;
use super::thing::{Kind, Source, Thing};
use super::wanted::Wanted;
use windlass_bootstrap::render::input::target::ConfigKind;
use windlass_capi::api::names::Kind as Form;
use windlass_objects::fields;
use windlass_source::diag::{FieldPath, Segment};

const COMMANDS: [&str; 3] = ["bootCommands", "preKubeadmCommands", "postKubeadmCommands"];

/// What of a spec is meant; paths are below the spec.
pub(super) fn meant(spec: &Value, wanted: &Wanted) -> Vec<Held> {
    let mut all = Vec::new();
    for (list, field, kind) in [
        ("files", "path", Kind::File),
        ("directories", "path", Kind::Directory),
        ("users", "name", Kind::User),
    ] {
        let path = FieldPath::of_fields(list);
        let items = fields::items(spec, &[list]).iter().enumerate();
        all.extend(
            items.map(|(index, item)| of(kind, fields::text(item, &[field]), path.index(index))),
        );
    }
    for list in COMMANDS {
        let path = FieldPath::of_fields(list);
        let items = fields::items(spec, &[list]).iter().enumerate();
        all.extend(
            items.map(|(index, command)| of(Kind::Command, &plain(command), path.index(index))),
        );
    }
    for document in DOCUMENTS {
        let path = FieldPath::of_fields(document);
        all.extend(
            spec.get(document)
                .into_iter()
                .flat_map(|value| held(value, &path)),
        );
    }
    all.retain(|held| {
        wanted.means(&Thing::new(
            held.kind,
            held.name.as_str(),
            "",
            Source::Config(FieldPath::root()),
        ))
    });
    all
}

fn of(kind: Kind, name: &str, path: FieldPath) -> Held {
    Held {
        kind,
        name: name.to_owned(),
        value: String::new(),
        path,
    }
}

/// A part of a template's spec: with lists in which the item that is meant is the only one.
#[derive(Debug)]
pub(super) struct Fragment {
    /// The spec of the config with nothing else in it.
    pub(super) spec: Value,
    /// How many steps of a path below that spec lead to the part.
    pub(super) depth: usize,
}

/// The part of a config's spec that a value at a path of its template is; `None` when it is none.
pub(super) fn fragment(kind: ConfigKind, path: &FieldPath, value: &Value) -> Option<Fragment> {
    let of_template = match kind {
        ConfigKind::Kubeadm(_) => ConfigKind::Kubeadm(Form::Template),
        ConfigKind::Windlass(_) => ConfigKind::Windlass(Form::Template),
        ConfigKind::ControlPlane { .. } => ConfigKind::ControlPlane { template: true },
    };
    let whole = path
        .segments()
        .iter()
        .rev()
        .fold(value.clone(), |inner, step| match step {
            Segment::Index(_) => json!([inner]),
            Segment::Field(name) | Segment::Key(name) => {
                Map::from_iter([(name.clone(), inner)]).into()
            }
        });
    let spec = fields::field(&whole, of_template.spec_path())?.clone();
    Some(Fragment {
        spec,
        depth: path
            .segments()
            .len()
            .saturating_sub(of_template.spec_path().len()),
    })
}

/// The path that a JSON pointer of a patch means; numbers and `-` are items.
pub(super) fn pointer(pointer: &str) -> FieldPath {
    let steps = pointer
        .split('/')
        .skip(1)
        .map(|step| step.replace("~1", "/").replace("~0", "~"));
    steps
        .map(|step| match step.parse() {
            Ok(index) => Segment::Index(index),
            Err(_) if step == "-" => Segment::Index(0),
            Err(_) => Segment::Field(step),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: ConfigKind, path: &str, value: &Value, wanted: &str) -> Vec<String> {
        let fragment = fragment(kind, &pointer(path), value);
        let spec = fragment.map(|fragment| fragment.spec).unwrap_or_default();
        meant(&spec, &Wanted::parse(wanted).unwrap())
            .into_iter()
            .map(|held| held.path.to_string())
            .collect()
    }

    #[test]
    fn what_a_patch_would_write_is_a_part_of_the_spec() {
        let worker = ConfigKind::Kubeadm(Form::Template);
        let file = json!({"path": "/etc/a"});
        assert_eq!(
            found(worker, "/spec/template/spec/files/-", &file, "/etc/a"),
            ["files[0]"]
        );
        assert_eq!(
            found(worker, "/spec/template/spec/files/7", &file, "/etc/a"),
            ["files[0]"]
        );
        assert_eq!(
            found(
                worker,
                "/spec/template/spec",
                &json!({"files": [file, file]}),
                "/etc/a"
            ),
            ["files[0]", "files[1]"]
        );
        assert!(found(worker, "/spec/template/spec/files/-", &file, "/etc/b").is_empty());
        let control_plane = ConfigKind::ControlPlane { template: false };
        let path = "/spec/template/spec/kubeadmConfigSpec/preKubeadmCommands/0";
        assert_eq!(
            found(control_plane, path, &json!("a b"), "command:b"),
            ["preKubeadmCommands[0]"]
        );
        assert!(
            found(worker, path, &json!("a b"), "command:b").is_empty(),
            "a worker has no such field"
        );
        let labels = json!({"node-labels": "a/b=c"});
        let path = "/spec/template/spec/joinConfiguration/nodeRegistration/kubeletExtraArgs";
        assert_eq!(
            found(worker, path, &labels, "label:a/b"),
            ["joinConfiguration.nodeRegistration.kubeletExtraArgs.node-labels"]
        );
    }
}
