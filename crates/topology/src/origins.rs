//! Where the parts of what a topology wants come from: a template, a patch, the Cluster.

use serde_json::Value;

use super::class::Class;
use super::cluster::{Cluster, Worker};
use super::input::TIMEOUTS;
use super::part::Part;
use super::spelling::Spelling;
use windlass_objects::composed::Sources;
use windlass_objects::json_patch::index;
use windlass_objects::{Object, Stand, fields};
use windlass_source::budget::{Budget, Exceeded};
use windlass_source::diag::{FieldPath, Segment};

/// The origin of a part of an object: its location, and the patch that wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stands {
    /// Location in the user's files.
    pub stand: Stand,
    /// Which of the template's writes it was, if a patch wrote it.
    pub write: Option<usize>,
}

/// The parts of an object.
pub type Origins = Sources<Stands>;

impl Stands {
    fn of(part: &Part<'_>) -> Self {
        Stands {
            stand: part.stand(),
            write: None,
        }
    }

    /// What an operation of a patch writes: its value, and its path in place of the key.
    fn written(operation: &Part<'_>, write: usize) -> Self {
        let value = match operation.field("op").text() {
            "remove" => operation.field("op"),
            _ => operation.either(&["value", "valueFrom.variable", "valueFrom.template"]),
        };
        let stand = Stand {
            anchor: operation.object.anchor(),
            path: value.path(),
            key: Some(operation.field("path").path()),
        };
        Stands {
            stand,
            write: Some(write),
        }
    }

    fn below(&self, below: &FieldPath) -> Self {
        if below.is_root() {
            return self.clone();
        }
        let stand = Stand {
            anchor: self.stand.anchor.clone(),
            path: self.stand.path.join(below),
            key: None,
        };
        Stands {
            stand,
            write: self.write,
        }
    }
}

/// All of it from one object.
pub(super) fn whole(object: &Object) -> Origins {
    Sources::of(Stands::of(&Part::whole(object)))
}

/// A part that an operation is about to replace or remove: its path, and where its parts come from.
pub(super) type Leaving = (FieldPath, Origins);

/// Follows an operation that is about to change a document; says what it takes away. What it
/// removes at the top comes back, as Cluster API keeps it.
///
/// # Errors
/// When a list is so long that the run has no steps left.
pub(super) fn follow(
    origins: &mut Origins,
    document: &Value,
    operation: &Part<'_>,
    write: usize,
    budget: &Budget,
) -> Result<Option<Leaving>, Exceeded> {
    let op = operation.field("op").text();
    let Some((list, path)) = target(document, operation.field("path").text(), op == "add") else {
        return Ok(None);
    };
    let is_inserted = op == "add" && list.is_some();
    let leaves = !is_inserted && fields::at(document, path.segments()).is_some();
    let leaving = leaves.then(|| (path.clone(), origins.below_path(&path, Stands::below)));
    match (op, list) {
        ("remove", _) if path.segments().len() == 1 => return Ok(None),
        ("add", Some((parent, at, length))) => {
            budget.charge(length)?;
            (at..length)
                .rev()
                .for_each(|item| shift(origins, &parent.index(item), &parent.index(item + 1)));
        }
        ("remove", Some((parent, at, length))) => {
            budget.charge(length)?;
            origins.forget(&path);
            (at + 1..length)
                .for_each(|item| shift(origins, &parent.index(item), &parent.index(item - 1)));
            // Behind the last item there is nothing any more.
            origins.forget(&parent.index(length.saturating_sub(1)));
            return Ok(leaving);
        }
        _ => {}
    }
    origins.set(path, Stands::written(operation, write));
    Ok(leaving)
}

/// Moves an item of a list to a place that was left.
fn shift(origins: &mut Origins, from: &FieldPath, to: &FieldPath) {
    let (above, below) = origins.nearest(from);
    let stands = above.below(&below);
    origins.forget(to);
    origins.rename(from, to);
    if origins.nearest(to).1 != FieldPath::root() {
        origins.mark(to.clone(), stands);
    }
}

/// A list that an operation changes: its path, the place of the item, the length.
type List = (FieldPath, usize, usize);

/// The path that a pointer means, and the list that holds it; `None` when it means nothing.
fn target(document: &Value, pointer: &str, adds: bool) -> Option<(Option<List>, FieldPath)> {
    let mut steps = pointer
        .strip_prefix('/')?
        .split('/')
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
        .peekable();
    let (mut value, mut path) = (document, FieldPath::root());
    while let Some(step) = steps.next() {
        let is_last = steps.peek().is_none();
        match value {
            Value::Array(items) => {
                let at = if step == "-" {
                    items.len()
                } else {
                    index(&step, items.len() + usize::from(is_last && adds))?
                };
                let list = (path.clone(), at, items.len());
                path = path.index(at);
                if is_last {
                    return Some((Some(list), path));
                }
                value = items.get(at)?;
            }
            Value::Object(entries) => {
                path = path.field(step.as_str());
                if !is_last {
                    value = entries.get(&step)?;
                }
            }
            _ => return None,
        }
    }
    Some((None, path))
}

/// A template that went through all patches, as far as its parts are spoken of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patched<'p> {
    /// As it is in the input.
    pub(super) source: &'p Object,
    /// Whether what it holds is still there.
    pub(super) has_spec: bool,
    pub(super) origins: &'p Origins,
}

/// The parts of an object that was made of a patched template: those of what the template holds.
pub(super) fn of_object(item: Patched<'_>) -> Origins {
    let inner = FieldPath::of_fields("spec.template");
    let own;
    // What patches removed as a whole was not taken over.
    let origins = if item.has_spec {
        item.origins
    } else {
        own = whole(item.source);
        &own
    };
    origins.below_path(&inner, Stands::below)
}

/// The parts of a control plane: those of its template, and what the topology sets.
pub(super) fn of_control_plane(
    item: Patched<'_>,
    cluster: &Cluster<'_>,
    class: &Class<'_>,
    spelling: Spelling,
) -> Origins {
    let mut made = of_object(item);
    let (topology, class) = (&cluster.control_plane, &class.control_plane.part);
    let path = |steps: &[&str]| {
        steps
            .iter()
            .map(|step| Segment::Field((*step).to_owned()))
            .collect::<FieldPath>()
    };
    let mut set = |steps: &[&str], part: Part<'_>| {
        if part.is_there() {
            made.set(path(steps), Stands::of(&part));
        }
    };
    set(&["spec", "version"], cluster.topology.field("version"));
    set(&["spec", "replicas"], topology.field("replicas"));
    set(
        &[
            "spec",
            if spelling == Spelling::Old {
                "rolloutAfter"
            } else {
                "rollout"
            },
        ],
        topology.field("rollout"),
    );
    set(
        &spelling.path("infrastructureRef"),
        class.field("machineInfrastructure"),
    );
    for name in ["readinessGates", "taints"] {
        set(&spelling.path(name), class.field(name));
        set(&spelling.path(name), topology.field(name));
    }
    for (new, old) in TIMEOUTS {
        let steps: &[&str] = match spelling {
            Spelling::Old => &["spec", "machineTemplate", old],
            Spelling::New => &["spec", "machineTemplate", "spec", "deletion", new],
        };
        for part in [class, topology] {
            set(steps, part.field("deletion").field(new));
            set(steps, part.field(old));
        }
    }
    made
}

/// The parts of a MachineDeployment or MachinePool: the topology says them all.
pub(super) fn of_machines(worker: &Worker<'_>, cluster: &Cluster<'_>) -> Origins {
    let mut made = Sources::of(Stands::of(&worker.part));
    made.set(
        FieldPath::of_fields("spec.template.spec.version"),
        Stands::of(&cluster.topology.field("version")),
    );
    made
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use windlass_objects::json_patch;

    /// Where the items of a list are from after some operations: the index in the template, or the
    /// operation.
    fn sources(operations: &Value, items: usize) -> Vec<String> {
        let class = Object::made(json!({"kind": "ClusterClass", "operations": operations}));
        let list: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        let mut document = json!({"spec": {"l": list}});
        let template = Object::made(document.clone());
        let mut origins = whole(&template);
        for (at, operation) in Part::whole(&class).field("operations").items().enumerate() {
            follow(&mut origins, &document, &operation, at, &Budget::default()).unwrap();
            let (op, path) = (operation.field("op").text(), operation.field("path").text());
            let operation = json_patch::Operation {
                op,
                path,
                value: operation.field("value").value.clone(),
            };
            json_patch::apply(&mut document, operation).unwrap();
        }
        assert_eq!(document["spec"]["l"].as_array().unwrap().len(), items);
        let list = FieldPath::of_fields("spec.l");
        let shown = |(stands, below): (&Stands, FieldPath)| match stands.write {
            Some(write) => format!("#{write}"),
            None => stands.stand.path.join(&below).to_string(),
        };
        (0..items)
            .map(|at| shown(origins.nearest(&list.index(at))))
            .collect()
    }

    #[test]
    fn items_keep_their_origins_when_they_move() {
        let add = |at: &str| json!({"op": "add", "path": format!("/spec/l/{at}"), "value": "x"});
        assert_eq!(
            sources(&json!([add("0")]), 4),
            ["#0", "spec.l[0]", "spec.l[1]", "spec.l[2]"]
        );
        assert_eq!(
            sources(&json!([add("-"), add("0")]), 5),
            ["#1", "spec.l[0]", "spec.l[1]", "spec.l[2]", "#0"]
        );
        let remove = json!({"op": "remove", "path": "/spec/l/1"});
        assert_eq!(
            sources(&json!([add("0"), remove]), 3),
            ["#0", "spec.l[1]", "spec.l[2]"]
        );
        let replace = json!({"op": "replace", "path": "/spec/l/-1", "value": "x"});
        assert_eq!(
            sources(&json!([replace, add("0")]), 4),
            ["#1", "spec.l[0]", "spec.l[1]", "#0"]
        );
    }
}
