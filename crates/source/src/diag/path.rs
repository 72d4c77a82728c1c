//! Field paths, spelt as the API server spells them: `spec.files[0].path`,
//! `metadata.labels[cluster.x-k8s.io/provider]`.

use std::fmt;

/// One step of a [`FieldPath`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A field with a fixed name, written after a dot.
    Field(String),
    /// An entry of a map whose keys are data (labels, `featureGates`), written in brackets.
    Key(String),
    /// An item of a list, from 0.
    Index(usize),
}

/// The way from the root of a document to a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(Vec<Segment>);

impl FieldPath {
    /// The root of a document.
    pub fn root() -> Self {
        FieldPath(Vec::new())
    }

    /// The path of fields whose names hold no dots: `spec.topology.version`.
    pub fn of_fields(dotted: &str) -> Self {
        dotted
            .split('.')
            .map(|name| Segment::Field(name.to_owned()))
            .collect()
    }

    /// Whether the path has no steps, so that it means the document as a whole.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The steps, outermost first.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// This path and one field more.
    #[must_use]
    pub fn field(&self, name: impl Into<String>) -> Self {
        self.with(Segment::Field(name.into()))
    }

    /// This path and one key of a map more, written in brackets.
    #[must_use]
    pub fn key(&self, name: impl Into<String>) -> Self {
        self.with(Segment::Key(name.into()))
    }

    /// This path and one index of a list more, from 0.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    /// This path and one step more.
    #[must_use]
    pub fn with(&self, segment: Segment) -> Self {
        self.with_all([segment])
    }

    fn with_all<const MORE: usize>(&self, more: [Segment; MORE]) -> Self {
        let mut segments = Vec::with_capacity(self.0.len() + MORE);
        segments.extend_from_slice(&self.0);
        segments.extend(more);
        FieldPath(segments)
    }

    /// This path, followed by the steps of the other one.
    #[must_use]
    pub fn join(&self, other: &FieldPath) -> Self {
        FieldPath(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// Goes one step down in place; [`FieldPath::pop`] goes back. For walks that report rarely.
    pub fn push(&mut self, segment: Segment) {
        self.0.push(segment);
    }

    /// Removes the last step and returns it; `None` at the root.
    pub fn pop(&mut self) -> Option<Segment> {
        self.0.pop()
    }

    /// The path without its last step; `None` at the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, rest) = self.0.split_last()?;
        Some(FieldPath(rest.to_vec()))
    }
}

impl FromIterator<Segment> for FieldPath {
    fn from_iter<T: IntoIterator<Item = Segment>>(iter: T) -> Self {
        FieldPath(iter.into_iter().collect())
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if i == 0 => f.write_str(name)?,
                Segment::Field(name) => write!(f, ".{name}")?,
                Segment::Key(name) => write!(f, "[{name}]")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_spelt_as_the_api_server_spells_it() {
        let path = FieldPath::root()
            .field("spec")
            .field("files")
            .index(0)
            .field("path");
        assert_eq!(path.to_string(), "spec.files[0].path");
        let label = FieldPath::root()
            .field("metadata")
            .field("labels")
            .key("cluster.x-k8s.io/provider");
        assert_eq!(
            label.to_string(),
            "metadata.labels[cluster.x-k8s.io/provider]"
        );
        assert_eq!(FieldPath::root().to_string(), "");
        assert_eq!(
            FieldPath::of_fields("spec.files"),
            FieldPath::root().field("spec").field("files")
        );
    }

    #[test]
    fn parent_takes_one_step_off() {
        let path = FieldPath::root().field("spec").index(1);
        assert_eq!(
            path.parent().map(|p| p.to_string()),
            Some("spec".to_owned())
        );
        assert_eq!(FieldPath::root().parent(), None);
    }
}
