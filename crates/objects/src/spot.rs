//! A field of an object that may get a finding: its place is looked up only then.

use super::Object;
use windlass_source::diag::{FieldPath, Place};

/// A field of an object.
#[derive(Debug, Clone)]
pub struct Spot<'o> {
    object: &'o Object,
    path: FieldPath,
}

impl<'o> Spot<'o> {
    /// A field of this object, by its path; the field may be absent.
    pub fn new(object: &'o Object, path: FieldPath) -> Self {
        Spot { object, path }
    }

    /// The object as a whole.
    pub fn whole(object: &'o Object) -> Self {
        Spot::new(object, FieldPath::root())
    }

    /// The object that contains the field.
    pub fn object(&self) -> &'o Object {
        self.object
    }

    /// The path of the field in its object; the root for the object as a whole.
    pub fn path(&self) -> &FieldPath {
        &self.path
    }

    /// The location of the field, or of the nearest thing that exists.
    pub fn place(&self) -> Place {
        self.object.place(&self.path)
    }
}
