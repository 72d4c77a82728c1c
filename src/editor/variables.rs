//! Variables: those of clusterctl's templates, and those of ClusterClasses.

use std::ops::Range;

use super::cursor::{Document, Spot};
use super::objects::{masked, objects};
use windlass_capi::contract::CORE_GROUP;
use windlass_envsubst as envsubst;
use windlass_objects::{Object, Pool};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{FieldPath, Place, Segment};
use windlass_topology::{Variable, variables_of};

/// The use of a clusterctl variable at a byte: its name and the bytes of the use.
pub(super) fn used_at(text: &str, offset: usize) -> Option<(String, Range<usize>)> {
    let template = envsubst::parse(text).ok()?;
    let uses = template.uses();
    let mut around = uses
        .iter()
        .filter(|used| used.span.start <= offset && offset <= used.span.end);
    // The innermost begins last.
    let used = around.next_back()?;
    Some((used.name.to_owned(), used.span.clone()))
}

/// Every use of a variable in a text, and whether it has a default there.
pub(super) fn uses(source: &Source, name: &str) -> Vec<(Range<usize>, bool)> {
    if !source.text().contains(name) {
        return Vec::new();
    }
    let Ok(template) = envsubst::parse(source.text()) else {
        return Vec::new();
    };
    let uses = template.uses().into_iter();
    uses.filter(|used| used.name == name)
        .map(|used| (used.span, used.default.is_some()))
        .collect()
}

/// A variable of a ClusterClass that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// The name of the class.
    pub(super) class: String,
    pub(super) variable: String,
}

/// The variable of a class that is named at a byte: in a Cluster, in a definition, or in a patch.
pub(super) fn named_at(
    document: &Document,
    spot: &Spot,
    offset: usize,
    text: &str,
) -> Option<Named> {
    let path = spot.path.to_string();
    let named = |class: &str, variable: &str| {
        let is_complete = !class.is_empty() && !variable.is_empty();
        is_complete.then(|| Named {
            class: class.to_owned(),
            variable: variable.to_owned(),
        })
    };
    if !document.text("apiVersion").starts_with("cluster.x-k8s.io/") {
        return None;
    }
    match document.text("kind") {
        "Cluster" if path.starts_with("spec.topology.") => {
            let item = item_of(&spot.path, &["variables", "overrides"])?;
            let class = [
                document.text("spec.topology.classRef.name"),
                document.text("spec.topology.class"),
            ];
            let class = class.into_iter().find(|class| !class.is_empty())?;
            named(class, document.text_at(&item.field("name")))
        }
        "ClusterClass" => {
            let class = document.text("metadata.name");
            if path.starts_with("spec.variables[") {
                let item = item_of(&spot.path, &["variables"])?;
                return named(class, document.text_at(&item.field("name")));
            }
            let value = text.get(spot.range.clone())?;
            let at = offset - spot.range.start;
            if path.ends_with(".valueFrom.variable") {
                let value = value.trim_matches(['"', '\'']);
                return named(class, value.split(['.', '[']).next()?);
            }
            let is_template = path.ends_with(".valueFrom.template") || path.ends_with(".enabledIf");
            let word = Some(value).filter(|_| is_template && !spot.is_key)?;
            named(class, word_behind_dot(word, at)?)
        }
        _ => None,
    }
}

/// The path of the item of a list of this name in which a path ends.
fn item_of(path: &FieldPath, lists: &[&str]) -> Option<FieldPath> {
    let segments = path.segments();
    let at = segments.windows(2).rposition(|pair| match pair {
        [Segment::Field(list), Segment::Index(_)] => lists.contains(&list.as_str()),
        _ => false,
    })?;
    Some(segments[..at + 2].iter().cloned().collect())
}

/// The word at a byte, if a dot stands before it: `.name`.
fn word_behind_dot(text: &str, at: usize) -> Option<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let before = text.get(..at)?;
    let start = before.trim_end_matches(is_part).len();
    let rest = &text[start..];
    let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
    let is_variable = before[..start].ends_with('.') && !before[..start].ends_with("..");
    Some(&rest[..end]).filter(|word| is_variable && !word.is_empty())
}

/// A variable as its class defines it, and where.
pub(super) struct Defined {
    pub(super) variable: Variable,
    pub(super) place: Place,
}

/// The definition of a variable in the classes of some files.
pub(super) fn defined(named: &Named, sources: &[Source], budget: &Budget) -> Option<Defined> {
    let with_class: Vec<Source> = sources
        .iter()
        .filter(|source| source.text().contains("ClusterClass"))
        .map(masked)
        .collect();
    let (pool, _) = Pool::read(&with_class, budget);
    let is_named =
        |class: &&Object| class.is(CORE_GROUP, "ClusterClass") && class.name() == named.class;
    let class = pool.objects().iter().find(is_named)?;
    let index = class
        .items(&["spec", "variables"])
        .iter()
        .position(|variable| variable["name"].as_str() == Some(&named.variable))?;
    let path = FieldPath::of_fields("spec.variables").index(index);
    let suffix = format!("/{}", named.class);
    let (variables, _) = variables_of(&pool);
    let variable = variables
        .into_iter()
        .find(|variable| variable.name == named.variable && variable.class.ends_with(&suffix))?;
    Some(Defined {
        variable,
        place: class.place(&path.field("name")),
    })
}

/// The places at which Clusters set a variable.
pub(super) fn set_at(named: &Named, sources: &[Source], budget: &Budget) -> Vec<Place> {
    let mut places = Vec::new();
    let with_cluster = sources
        .iter()
        .filter(|source| source.text().contains(&named.variable));
    for object in with_cluster.flat_map(|source| objects(source, budget)) {
        let topology = FieldPath::of_fields("spec.topology");
        let class = ["classRef.name", "class"].into_iter().find_map(|field| {
            object
                .at(&topology.join(&FieldPath::of_fields(field)))?
                .as_str()
        });
        if object.is(CORE_GROUP, "Cluster") && class == Some(&named.class) {
            let value = object.at(&topology);
            value.into_iter().for_each(|value| {
                settings(value, &topology, &named.variable, &mut |path| {
                    places.push(object.place(&path.field("name")));
                });
            });
        }
    }
    places
}

/// The items of lists called `variables` or `overrides` that have a name. The depth is that of the
/// reader's limits.
fn settings(
    value: &serde_json::Value,
    path: &FieldPath,
    name: &str,
    found: &mut dyn FnMut(FieldPath),
) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, below) in map {
                let path = path.field(key.as_str());
                if ["variables", "overrides"].contains(&key.as_str()) {
                    let items = below.as_array().into_iter().flatten().enumerate();
                    items
                        .filter(|(_, item)| item["name"].as_str() == Some(name))
                        .for_each(|(at, _)| found(path.index(at)));
                }
                if key != "value" {
                    settings(below, &path, name, found);
                }
            }
        }
        serde_json::Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                settings(item, &path.index(at), name, found);
            }
        }
        _ => {}
    }
}
