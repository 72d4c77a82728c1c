//! Where the parts of a converted object stood in the one that it was made of.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::diag::FieldPath;

/// For each place of the new object that is another one in the old object: that one. What lies below follows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origins {
    by_new: BTreeMap<FieldPath, FieldPath>,
    old: BTreeSet<FieldPath>,
}

impl Origins {
    /// The place in the old object.
    pub(crate) fn of(&self, new: &FieldPath) -> FieldPath {
        let mut above = new.clone();
        let mut below = Vec::new();
        loop {
            if let Some(old) = self.by_new.get(&above) {
                return below.into_iter().rev().fold(old.clone(), |path, segment| path.with(segment));
            }
            match above.pop() {
                Some(segment) => below.push(segment),
                None => return new.clone(),
            }
        }
    }

    /// Whether something at or below a place came from elsewhere.
    pub(crate) fn is_known(&self, new: &FieldPath) -> bool {
        self.below(new).next().is_some()
    }

    /// The old places of what came from elsewhere to a place and below.
    pub(crate) fn below<'o>(&'o self, new: &'o FieldPath) -> impl Iterator<Item = &'o FieldPath> {
        let from = self.by_new.range((Bound::Included(new), Bound::Unbounded));
        from.take_while(|(path, _)| path.segments().starts_with(new.segments())).map(|(_, old)| old)
    }

    /// Whether something of the new object came from a place of the old one or from below it.
    pub(crate) fn leads_from(&self, old: &FieldPath) -> bool {
        self.old.range((Bound::Included(old), Bound::Unbounded)).next().is_some_and(|place| place.segments().starts_with(old.segments()))
    }

    /// Notes that what is at a place of the new object was at another one of the old object.
    pub(super) fn note(&mut self, new: FieldPath, old: FieldPath) {
        self.old.insert(old.clone());
        self.by_new.insert(new, old);
    }
}
