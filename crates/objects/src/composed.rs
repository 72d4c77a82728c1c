//! Where the parts of an object stand that was put together from several others.

use std::collections::BTreeMap;
use std::ops::Bound;

use windlass_source::diag::{FieldPath, Segment};

/// The parts of an object and where each came from. What is below a part came from the same field
/// below its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Sources<S> {
    root: S,
    parts: BTreeMap<FieldPath, S>,
}

impl<S: Clone> Sources<S> {
    /// All of it from one source.
    pub fn of(root: S) -> Self {
        Sources {
            root,
            parts: BTreeMap::new(),
        }
    }

    /// The source of the nearest part at or above a path, and how far below that part the path is.
    pub fn nearest(&self, path: &FieldPath) -> (&S, FieldPath) {
        let steps = path.segments();
        for length in (1..=steps.len()).rev().filter(|_| !self.parts.is_empty()) {
            if let Some(source) = self
                .parts
                .get(&steps[..length].iter().map(plain).collect::<FieldPath>())
            {
                return (source, steps[length..].iter().cloned().collect());
            }
        }
        (&self.root, path.clone())
    }

    /// Says where a part comes from, with all below it.
    pub fn set(&mut self, path: FieldPath, source: S) {
        self.forget(&path);
        self.parts.insert(path, source);
    }

    /// Says where a part comes from, except for what was said of parts below it.
    pub fn mark(&mut self, path: FieldPath, source: S) {
        self.parts.insert(path, source);
    }

    /// Forgets what was said of a part and all below it; it comes from where that above it does.
    pub fn forget(&mut self, path: &FieldPath) {
        for below in self.below(path) {
            self.parts.remove(&below);
        }
    }

    /// Moves what was said of a part and all below it to another path, where nothing was said.
    pub fn rename(&mut self, from: &FieldPath, to: &FieldPath) {
        let depth = from.segments().len();
        for below in self.below(from) {
            if let Some(source) = self.parts.remove(&below) {
                self.parts.insert(
                    to.join(&below.segments()[depth..].iter().cloned().collect()),
                    source,
                );
            }
        }
    }

    /// The parts at and below a path, in order.
    pub fn parts_below<'s>(
        &'s self,
        path: &'s FieldPath,
    ) -> impl Iterator<Item = (&'s FieldPath, &'s S)> {
        let range = (Bound::Included(path), Bound::Unbounded);
        self.parts
            .range::<FieldPath, _>(range)
            .take_while(|(part, _)| part.segments().starts_with(path.segments()))
    }

    fn below(&self, path: &FieldPath) -> Vec<FieldPath> {
        self.parts_below(path)
            .map(|(part, _)| part.clone())
            .collect()
    }

    /// The parts at and below a path, as those of an object of its own; `lower` says what lies
    /// below a source.
    pub fn below_path(&self, path: &FieldPath, lower: impl Fn(&S, &FieldPath) -> S) -> Self {
        let (above, below) = self.nearest(path);
        let mut cut = Sources::of(lower(above, &below));
        let depth = path.segments().len();
        for (part, source) in self
            .parts_below(path)
            .filter(|(part, _)| part.segments().len() > depth)
        {
            cut.mark(
                part.segments()[depth..].iter().cloned().collect(),
                source.clone(),
            );
        }
        cut
    }

    /// The same parts, of sources of another form.
    pub fn map<T>(self, mut source: impl FnMut(S) -> T) -> Sources<T> {
        Sources {
            root: source(self.root),
            parts: self
                .parts
                .into_iter()
                .map(|(path, part)| (path, source(part)))
                .collect(),
        }
    }
}

/// The keys of maps are fields here, whoever spells them.
fn plain(segment: &Segment) -> Segment {
    match segment {
        Segment::Key(name) => Segment::Field(name.clone()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(sources: &Sources<&'static str>, path: FieldPath) -> String {
        let (source, below) = sources.nearest(&path);
        format!("{source} {below}")
    }

    #[test]
    fn the_nearest_part_above_says_it() {
        let files = FieldPath::of_fields("spec.files");
        let mut sources = Sources::of("template");
        sources.set(files.index(1).field("content"), "first");
        sources.set(files.index(1), "patch");
        assert_eq!(
            at(&sources, files.index(1).field("content")),
            "patch content"
        );
        assert_eq!(
            at(&sources, files.index(10).field("content")),
            "template spec.files[10].content"
        );
        assert_eq!(
            at(&sources, FieldPath::of_fields("spec.filesystem")),
            "template spec.filesystem"
        );
        sources.set(
            FieldPath::of_fields("metadata.labels").field("a.b/c"),
            "label",
        );
        assert_eq!(
            at(
                &sources,
                FieldPath::of_fields("metadata.labels").key("a.b/c")
            ),
            "label "
        );
        sources.forget(&FieldPath::of_fields("spec"));
        assert_eq!(at(&sources, files.index(1)), "template spec.files[1]");
    }

    #[test]
    fn parts_are_renamed_with_all_below_them() {
        let files = FieldPath::of_fields("spec.files");
        let mut sources = Sources::of("template");
        sources.set(files.index(0), "zero");
        sources.set(files.index(0).field("content"), "deep");
        sources.rename(&files.index(0), &files.index(1));
        assert_eq!(at(&sources, files.index(1).field("content")), "deep ");
        assert_eq!(at(&sources, files.index(0)), "template spec.files[0]");
    }
}
