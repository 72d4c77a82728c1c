//! The objects of texts while they are written: clusterctl's variables are masked, so that every
//! byte stays in its place.

use std::collections::{BTreeSet, VecDeque};

use windlass_capi::contract::CORE_GROUP;
use windlass_objects::references::references;
use windlass_objects::{self as objects, Object};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::FieldPath;

/// The maximum number of files that are checked together with one.
const MOST_RELATED: usize = 32;

/// The text with a word of the same length for each `${…}` that ends in its line. Equal variables
/// give equal words.
pub(super) fn masked(source: &Source) -> Source {
    Source::new(source.name().clone(), masked_text(source.text()))
}

pub(super) fn masked_text(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    // The next byte that ends a variable or its line is looked for once.
    let (mut at, mut stop) = (0, None);
    while let Some(start) = text[at..].find("${").map(|found| at + found) {
        masked.push_str(&text[at..start]);
        let ends = stop.filter(|stop| *stop >= start).unwrap_or_else(|| {
            text[start..]
                .find(['}', '\n', '\r'])
                .map_or(text.len(), |found| start + found)
        });
        stop = Some(ends);
        let end = match text[ends..].starts_with('}') {
            true => ends + 1,
            false => start + "${".len(),
        };
        let is_word = |byte: u8| byte.is_ascii_alphanumeric();
        masked.extend(text[start..end].bytes().map(|byte| match is_word(byte) {
            true => char::from(byte),
            false => '_',
        }));
        at = end;
    }
    masked.push_str(&text[at..]);
    masked
}

/// The objects of a text, those of Lists among them. What cannot be read is left out.
pub(super) fn objects(source: &Source, budget: &Budget) -> Vec<Object> {
    let (found, _) = objects::documents(&masked(source), budget);
    found.into_iter().flat_map(Object::into_items).collect()
}

/// A reference of an object to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    /// The path of the name.
    pub(super) path: FieldPath,
    pub(super) kind: String,
    pub(super) name: String,
}

/// The references of an object by name, that of a Cluster to its class included.
pub(super) fn links(object: &Object) -> Vec<Link> {
    let (found, _) = references(object.value());
    let mut links: Vec<Link> = found
        .into_iter()
        .map(|reference| Link {
            path: reference.path,
            kind: reference.kind.to_owned(),
            name: reference.name.to_owned(),
        })
        .collect();
    if object.is(CORE_GROUP, "Cluster") {
        for path in ["spec.topology.class", "spec.topology.classRef.name"] {
            let path = FieldPath::of_fields(path);
            let name = object.at(&path).and_then(serde_json::Value::as_str);
            links.extend(name.map(|name| Link {
                path,
                kind: "ClusterClass".to_owned(),
                name: name.to_owned(),
            }));
        }
    }
    links
}

/// The objects of a file and those that they refer to, as kind and name.
struct Names {
    own: BTreeSet<(String, String)>,
    others: BTreeSet<(String, String)>,
}

impl Names {
    fn of(source: &Source, budget: &Budget) -> Self {
        let objects = objects(source, budget);
        let own = |object: &Object| (object.kind().to_owned(), object.name().to_owned());
        Names {
            own: objects.iter().map(own).collect(),
            others: objects
                .iter()
                .flat_map(links)
                .map(|link| (link.kind, link.name))
                .collect(),
        }
    }

    fn refers_to(&self, other: &Names) -> bool {
        !self.others.is_disjoint(&other.own)
    }
}

/// Files of a folder, each with the names of its objects.
pub(super) struct Neighbours<'s> {
    files: Vec<(&'s Source, Names)>,
}

impl<'s> Neighbours<'s> {
    pub(super) fn of(sources: impl Iterator<Item = &'s Source>, budget: &Budget) -> Self {
        let files = sources.map(|source| (source, Names::of(source, budget)));
        Neighbours {
            files: files.collect(),
        }
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &'s Source> {
        self.files.iter().map(|(source, _)| *source)
    }

    /// The files whose objects refer to those of a file, or are referred to by them, and so on. A
    /// file that repeats an object of one of them describes another cluster.
    pub(super) fn related(&self, source: &Source) -> Vec<&'s Source> {
        let mut is_own = self
            .files
            .iter()
            .map(|(file, _)| file.name() == source.name());
        let Some(own) = is_own.position(|is_own| is_own) else {
            return Vec::new();
        };
        let mut known = self.files[own].1.own.clone();
        let mut is_taken = vec![false; self.files.len()];
        is_taken[own] = true;
        let mut queue = VecDeque::from([own]);
        let mut found = Vec::new();
        while let Some(current) = queue.pop_front() {
            let current = &self.files[current].1;
            for (at, (file, other)) in self.files.iter().enumerate() {
                let is_linked = || current.refers_to(other) || other.refers_to(current);
                let is_free = !is_taken[at] && found.len() < MOST_RELATED;
                if is_free && is_linked() && known.is_disjoint(&other.own) {
                    is_taken[at] = true;
                    known.extend(other.own.iter().cloned());
                    found.push(*file);
                    queue.push_back(at);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_keep_every_byte_in_its_place() {
        for (text, expected) in [
            ("a: ${A}-x\n", "a: __A_-x\n"),
            ("${A}: 1\n", "__A_: 1\n"),
            ("a: ${A:=\"é\"} b", "a: __A_______ b"),
            ("a: ${A\nb: }", "a: __A\nb: }"),
            ("${", "__"),
            ("${a${b}${c\n}${", "__a__b___c\n}__"),
            ("$A $", "$A $"),
        ] {
            let masked = masked_text(text);
            assert_eq!(masked, expected);
            assert_eq!(masked.len(), text.len());
        }
    }

    #[test]
    fn files_are_related_by_the_names_of_their_objects() {
        let cluster = |class: &str| {
            format!(
                "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {{name: c}}\n\
                 spec: {{topology: {{classRef: {{name: {class}}}}}}}\n"
            )
        };
        let class = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\n\
                     metadata: {name: a}\nspec: {infrastructure: {templateRef: \
                     {kind: FooClusterTemplate, name: foo}}}\n";
        let template = "apiVersion: x/v1\nkind: FooClusterTemplate\nmetadata: {name: foo}\n";
        let texts = [
            cluster("a"),
            class.to_owned(),
            template.to_owned(),
            cluster("b"),
        ];
        let sources: Vec<Source> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| Source::new(format!("{at}.yaml"), text.as_str()))
            .collect();
        let related = |at: usize| -> Vec<&str> {
            let files = Neighbours::of(sources.iter(), &Budget::default());
            let found = files.related(&sources[at]).into_iter();
            found.map(|source| source.name().as_ref()).collect()
        };
        assert_eq!(related(0), ["1.yaml", "2.yaml"]);
        assert_eq!(related(2), ["1.yaml", "0.yaml"]);
        assert!(related(3).is_empty());
    }
}
