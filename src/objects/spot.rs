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
    pub(crate) fn new(object: &'o Object, path: FieldPath) -> Self {
        Spot { object, path }
    }

    pub(crate) fn whole(object: &'o Object) -> Self {
        Spot::new(object, FieldPath::root())
    }

    pub(crate) fn object(&self) -> &'o Object {
        self.object
    }

    pub(crate) fn path(&self) -> &FieldPath {
        &self.path
    }

    pub(crate) fn place(&self) -> Place {
        self.object.place(&self.path)
    }
}
