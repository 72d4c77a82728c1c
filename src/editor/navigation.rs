//! Definitions, references and symbols.

use std::ops::Range;

use super::cursor::{self, Spot};
use super::objects::{Link, links, objects};
use super::variables::{defined, named_at, set_at, used_at, uses};
use windlass_capi::contract::CORE_GROUP;
use windlass_objects::Object;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{FieldPath, Place, Segment};

/// A range of bytes in a file.
pub(super) type Target = (Source, Range<usize>);

/// The thing that a name stands for.
enum Name {
    /// A variable of clusterctl.
    Variable(String),
    /// A variable of a ClusterClass.
    OfClass(super::variables::Named),
    /// An object, by kind and name.
    Object(String, String),
}

/// A text with the files of its folder, itself among them.
pub(super) struct Subject<'a> {
    pub(super) source: &'a Source,
    pub(super) sources: &'a [Source],
    pub(super) budget: &'a Budget,
}

impl Subject<'_> {
    /// The definition of the name at a byte.
    pub(super) fn definition(&self, offset: usize) -> Vec<Target> {
        match self.name_at(offset) {
            None => Vec::new(),
            Some(Name::Variable(name)) => {
                let uses = uses(self.source, &name);
                let first = uses
                    .iter()
                    .find(|(_, has_default)| *has_default)
                    .or(uses.first());
                first
                    .map(|(range, _)| (self.source.clone(), range.clone()))
                    .into_iter()
                    .collect()
            }
            Some(Name::OfClass(named)) => defined(&named, self.sources, self.budget)
                .and_then(|defined| self.target(&defined.place))
                .into_iter()
                .collect(),
            Some(Name::Object(kind, name)) => self.objects_named(&kind, &name),
        }
    }

    /// The uses of the name at a byte, and with `with_definition` its definition.
    pub(super) fn references(&self, offset: usize, with_definition: bool) -> Vec<Target> {
        match self.name_at(offset) {
            None => Vec::new(),
            Some(Name::Variable(name)) => self
                .sources
                .iter()
                .flat_map(|source| {
                    uses(source, &name)
                        .into_iter()
                        .map(|(range, _)| (source.clone(), range))
                })
                .collect(),
            Some(Name::OfClass(named)) => {
                let Some(definition) = defined(&named, self.sources, self.budget) else {
                    return Vec::new();
                };
                let of_patches = definition.variable.uses.iter().filter_map(|used| {
                    let source = self.named(used.file.as_deref()?)?;
                    let range = source.line_range(used.line?)?;
                    let lead = source.slice(range.clone()).len()
                        - source.slice(range.clone()).trim_start().len();
                    Some((source.clone(), range.start + lead..range.end))
                });
                let mut found: Vec<Target> = of_patches.collect();
                let set = set_at(&named, self.sources, self.budget);
                found.extend(set.iter().filter_map(|place| self.target(place)));
                if with_definition {
                    found.extend(self.target(&definition.place));
                }
                found
            }
            Some(Name::Object(kind, name)) => {
                let mut found = Vec::new();
                // A Cluster names its class without the kind.
                let is_class = kind == "ClusterClass";
                let may_refer = |it: &&Source| is_class || it.text().contains(&kind);
                for source in self.sources.iter().filter(may_refer) {
                    for object in objects(source, self.budget) {
                        let is_meant = |link: &Link| link.kind == kind && link.name == name;
                        let places = links(&object).into_iter().filter(is_meant);
                        found.extend(
                            places.filter_map(|link| self.target(&object.place(&link.path))),
                        );
                    }
                }
                if with_definition {
                    found.extend(self.objects_named(&kind, &name));
                }
                found
            }
        }
    }

    fn name_at(&self, offset: usize) -> Option<Name> {
        if let Some((name, range)) = used_at(self.source.text(), offset) {
            // In `${CLUSTER_NAME}-a` the text beside the variable stands for the object.
            let is_inside = range.start < offset && offset < range.end;
            if is_inside {
                return Some(Name::Variable(name));
            }
        }
        let text = self.source.text();
        let document = cursor::Document::at(text, offset, self.budget)?;
        let spot = document.spot(offset)?;
        if let Some(named) = named_at(&document, &spot, offset, text) {
            return Some(Name::OfClass(named));
        }
        self.object_at(&spot)
    }

    /// The object that a reference around a byte names, or whose own name it is.
    fn object_at(&self, spot: &Spot) -> Option<Name> {
        let holds = |place: Place| {
            place.span.is_some_and(|span| {
                span.start.offset <= spot.range.start && spot.range.end <= span.end.offset
            })
        };
        let is_here = |object: &Object| holds(object.place(&FieldPath::root()));
        let object = objects(self.source, self.budget)
            .into_iter()
            .find(is_here)?;
        let name = FieldPath::of_fields("metadata.name");
        if holds(object.place(&name)) || holds(object.key_place(&name)) {
            return Some(Name::Object(
                object.kind().to_owned(),
                object.name().to_owned(),
            ));
        }
        // `templateRef` and the like name an object as a whole.
        let is_reference = |path: &FieldPath| match path.segments().last() {
            Some(Segment::Field(name)) => name.to_lowercase().ends_with("ref"),
            _ => false,
        };
        let is_meant = |link: &Link| {
            let around = link.path.parent().filter(is_reference);
            let path = around.as_ref().unwrap_or(&link.path);
            holds(object.place(path)) || holds(object.key_place(path))
        };
        let link = links(&object).into_iter().find(is_meant)?;
        Some(Name::Object(link.kind, link.name))
    }

    /// The names of the objects of a kind and a name.
    fn objects_named(&self, kind: &str, name: &str) -> Vec<Target> {
        let with_kind = self.sources.iter().filter(|it| it.text().contains(kind));
        let all = with_kind.flat_map(|source| objects(source, self.budget));
        let named: Vec<Target> = all
            .filter(|object| object.kind() == kind && object.name() == name)
            .filter_map(|object| self.target(&object.place(&FieldPath::of_fields("metadata.name"))))
            .collect();
        // Each flavor of a cluster template has such an object.
        let is_own = |target: &&Target| target.0.name() == self.source.name();
        let own: Vec<Target> = named.iter().filter(is_own).cloned().collect();
        if own.is_empty() { named } else { own }
    }

    fn named(&self, name: &str) -> Option<&Source> {
        self.sources
            .iter()
            .find(|source| source.name().as_ref() == name)
    }

    fn target(&self, place: &Place) -> Option<Target> {
        let source = self.named(place.file.as_deref()?)?;
        let span = place.span?;
        Some((source.clone(), span.start.offset..span.end.offset))
    }
}

/// An object of a text.
pub(super) struct Symbol {
    pub(super) name: String,
    pub(super) api_version: String,
    pub(super) is_class: bool,
    /// The bytes of the object, and those of its name.
    pub(super) range: Range<usize>,
    pub(super) selection: Range<usize>,
}

/// The objects of a text, as they are written.
pub(super) fn symbols(source: &Source, budget: &Budget) -> Vec<Symbol> {
    let bytes = |place: Place| place.span.map(|span| span.start.offset..span.end.offset);
    let symbol = |object: &Object| {
        let range = bytes(object.place(&FieldPath::root()))?;
        let path = FieldPath::of_fields("metadata.name");
        let has_name = object.at(&path).is_some();
        let selection = bytes(object.place(&path))
            .filter(|_| has_name)
            .unwrap_or(range.start..range.start);
        let name = source.slice(selection.clone()).trim_matches(['"', '\'']);
        Some(Symbol {
            name: match name {
                "" => object.kind().to_owned(),
                name => format!("{}/{name}", object.kind()),
            },
            api_version: object.api_version().to_owned(),
            is_class: object.is(CORE_GROUP, "ClusterClass"),
            range,
            selection,
        })
    };
    objects(source, budget)
        .iter()
        .filter(|object| !object.kind().is_empty())
        .filter_map(symbol)
        .collect()
}
