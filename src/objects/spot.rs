//! A field of an object that may get a finding: its place is looked up only then.

use super::Object;
use crate::diag::{FieldPath, Place};

/// A field of an object.
#[derive(Debug, Clone)]
pub(crate) struct Spot<'o> {
    object: &'o Object,
    path: FieldPath,
}

impl<'o> Spot<'o> {
    /// The field of an object.
    pub(crate) fn new(object: &'o Object, path: FieldPath) -> Self {
        Spot { object, path }
    }

    /// The object as a whole.
    pub(crate) fn whole(object: &'o Object) -> Self {
        Spot::new(object, FieldPath::root())
    }

    /// The object.
    pub(crate) fn object(&self) -> &'o Object {
        self.object
    }

    /// The field.
    pub(crate) fn path(&self) -> &FieldPath {
        &self.path
    }

    /// Where it stands.
    pub(crate) fn place(&self) -> Place {
        self.object.place(&self.path)
    }
}
