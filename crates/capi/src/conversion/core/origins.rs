//! Where the parts of a converted object stood in the one that it was made of.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use windlass_source::diag::FieldPath;

/// For each place of the new object that is another one in the old object: that one. What lies
/// below follows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins {
    by_new: BTreeMap<FieldPath, FieldPath>,
    old: BTreeSet<FieldPath>,
}

impl Origins {
    /// The place in the old object.
    pub fn of(&self, new: &FieldPath) -> FieldPath {
        let mut above = new.clone();
        let mut below = Vec::new();
        loop {
            if let Some(old) = self.by_new.get(&above) {
                return below
                    .into_iter()
                    .rev()
                    .fold(old.clone(), |path, segment| path.with(segment));
            }
            match above.pop() {
                Some(segment) => below.push(segment),
                None => return new.clone(),
            }
        }
    }

    /// The places of the new object that hold what was at a place of the old one.
    pub(super) fn news_of(&self, old: &FieldPath) -> Vec<FieldPath> {
        let mut found: Vec<FieldPath> = Vec::new();
        for (new, from) in &self.by_new {
            if let Some(below) = old.segments().strip_prefix(from.segments()) {
                let new = new.join(&below.iter().cloned().collect());
                if self.of(&new) == *old {
                    found.push(new);
                }
            }
        }
        found
    }

    /// Whether something at or below a place came from elsewhere.
    pub(crate) fn is_known(&self, new: &FieldPath) -> bool {
        self.below(new).next().is_some()
    }

    /// The old places of what came from elsewhere to a place and below.
    pub(crate) fn below<'o>(&'o self, new: &'o FieldPath) -> impl Iterator<Item = &'o FieldPath> {
        let from = self.by_new.range((Bound::Included(new), Bound::Unbounded));
        from.take_while(|(path, _)| path.segments().starts_with(new.segments()))
            .map(|(_, old)| old)
    }

    /// Whether something of the new object came from a place of the old one or from below it.
    pub(crate) fn leads_from(&self, old: &FieldPath) -> bool {
        self.old
            .range((Bound::Included(old), Bound::Unbounded))
            .next()
            .is_some_and(|place| place.segments().starts_with(old.segments()))
    }

    /// Notes that what was at a place of the object so far is now at another one, and with it what
    /// came to places below.
    pub(super) fn follow(&mut self, from: &FieldPath, into: &FieldPath) {
        let origin = self.of(from);
        let moved = self
            .by_new
            .range((Bound::Included(from), Bound::Unbounded))
            .map(|(path, _)| path);
        let moved: Vec<FieldPath> = moved
            .take_while(|path| path.segments().starts_with(from.segments()))
            .cloned()
            .collect();
        let moved: Vec<(FieldPath, FieldPath)> = moved
            .into_iter()
            .filter_map(|path| self.by_new.remove_entry(&path))
            .collect();
        for (path, old) in moved {
            let below = path
                .segments()
                .iter()
                .skip(from.segments().len())
                .cloned()
                .collect();
            self.by_new.insert(into.join(&below), old);
        }
        self.note(into.clone(), origin);
    }

    /// Takes up what is known of the value at a place of another object, which is at a place of
    /// this one.
    pub(crate) fn adopt(&mut self, others: &Origins, from: &FieldPath, at: &FieldPath) {
        let here = |path: &FieldPath| {
            let below = path.segments().strip_prefix(from.segments())?;
            Some(at.join(&below.iter().cloned().collect()))
        };
        for (new, old) in &others.by_new {
            if let (Some(new), Some(old)) = (here(new), here(old)) {
                self.note(new, old);
            }
        }
    }

    /// Notes that what is at a place of the new object was at another one of the old object.
    pub(super) fn note(&mut self, new: FieldPath, old: FieldPath) {
        self.old.insert(old.clone());
        self.by_new.insert(new, old);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_into_an_object_follows_it() {
        let path = FieldPath::of_fields;
        let mut origins = Origins::default();
        origins.follow(&path("a.b.c"), &path("a.b.d"));
        origins.follow(&path("x"), &path("a.by"));
        origins.follow(&path("a.b"), &path("e.f"));
        assert_eq!(origins.of(&path("e.f.d.g")), path("a.b.c.g"));
        assert_eq!(origins.of(&path("e.f.h")), path("a.b.h"));
        // What it left behind is not known any more; what only begins like it stays.
        assert!(!origins.is_known(&path("a.b")));
        assert_eq!(origins.of(&path("a.by")), path("x"));
    }

    #[test]
    fn what_is_known_of_a_value_goes_with_it() {
        let path = FieldPath::of_fields;
        let (mut value, mut origins) = (Origins::default(), Origins::default());
        value.note(path("spec.v.new.name"), path("spec.v.name"));
        value.note(path("spec.w"), path("spec.v.x"));
        origins.adopt(&value, &path("spec.v"), &path("patch.value"));
        assert_eq!(
            origins.of(&path("patch.value.new.name")),
            path("patch.value.name")
        );
        assert!(
            !origins.leads_from(&path("patch.value.x")),
            "it went out of the value"
        );
    }
}
