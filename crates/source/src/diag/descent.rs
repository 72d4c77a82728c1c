//! Where a walk stands: a [`FieldPath`] that costs nothing until somebody tells it.

use std::fmt;

use super::{FieldPath, Segment};

/// One step down, or two.
#[derive(Debug, Clone, Copy)]
enum Step<'p> {
    Field(&'p str),
    Key(&'p str),
    Index(usize),
    /// `properties[name]`
    Property(&'p str),
}

#[derive(Debug, Clone, Copy)]
enum Above<'p> {
    Path(&'p FieldPath),
    Descent(&'p Descent<'p>, Step<'p>),
}

/// A place on the way down a walk. Each is made of the one above it, which it borrows.
#[derive(Debug, Clone, Copy)]
pub struct Descent<'p>(Above<'p>);

impl<'p> Descent<'p> {
    /// The place where the walk begins.
    pub fn of(path: &'p FieldPath) -> Self {
        Descent(Above::Path(path))
    }

    /// The location of a field with a fixed name: `.name`.
    pub fn field(&'p self, name: &'p str) -> Descent<'p> {
        Descent(Above::Descent(self, Step::Field(name)))
    }

    /// The location of an entry of a map whose keys are data: `[name]`.
    pub fn key(&'p self, name: &'p str) -> Descent<'p> {
        Descent(Above::Descent(self, Step::Key(name)))
    }

    /// The place of a property of the schema here: `properties[name]`.
    pub fn property(&'p self, name: &'p str) -> Descent<'p> {
        Descent(Above::Descent(self, Step::Property(name)))
    }

    /// The location of an item of a list, from 0.
    pub fn index(&'p self, index: usize) -> Descent<'p> {
        Descent(Above::Descent(self, Step::Index(index)))
    }

    /// The path from the root to this location. The descent itself allocates nothing.
    pub fn path(self) -> FieldPath {
        let mut steps = Vec::new();
        let mut at = self.0;
        let root = loop {
            match at {
                Above::Path(path) => break path,
                Above::Descent(above, step) => {
                    steps.push(step);
                    at = above.0;
                }
            }
        };
        steps
            .into_iter()
            .rev()
            .fold(root.clone(), |mut path, step| {
                match step {
                    Step::Field(name) => path.push(Segment::Field(name.to_owned())),
                    Step::Key(name) => path.push(Segment::Key(name.to_owned())),
                    Step::Index(index) => path.push(Segment::Index(index)),
                    Step::Property(name) => {
                        path.push(Segment::Field("properties".to_owned()));
                        path.push(Segment::Key(name.to_owned()));
                    }
                }
                path
            })
    }
}

impl From<Descent<'_>> for FieldPath {
    fn from(descent: Descent<'_>) -> Self {
        descent.path()
    }
}

impl fmt::Display for Descent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descent_tells_the_path_that_leads_there() {
        let root = FieldPath::root().field("spec");
        let top = Descent::of(&root);
        let (field, key) = (top.field("a"), top.key("b.c"));
        let (item, property) = (field.index(2), key.property("d"));
        assert_eq!(top.path(), root);
        assert_eq!(item.path(), root.field("a").index(2));
        assert_eq!(
            property.path(),
            root.key("b.c").field("properties").key("d")
        );
        assert_eq!(property.to_string(), "spec[b.c].properties[d]");
    }
}
