//! A part of an object of the user's: its value, and where it stands.

use serde_json::Value;

use windlass_objects::{Object, Stand};
use windlass_source::diag::{FieldPath, Place, Segment};

/// What stands for a part that is not there.
static NOTHING: Value = Value::Null;

#[derive(Debug, Clone)]
pub(crate) struct Part<'o> {
    pub(super) object: &'o Object,
    pub(super) value: &'o Value,
    /// The way to it, which becomes a path when something is to be said of it.
    way: Way<'o>,
}

/// A step of a way, without a text of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step<'o> {
    Field(&'o str),
    Item(usize),
}

/// How long the ways are that take no memory of their own.
const USUAL: usize = 10;

/// Steps, the first of which stand in the part itself: parts are made by the thousand, and few are
/// spoken of.
#[derive(Debug, Clone)]
struct Way<'o> {
    length: usize,
    first: [Step<'o>; USUAL],
    rest: Vec<Step<'o>>,
}

impl<'o> Way<'o> {
    fn push(&mut self, step: Step<'o>) {
        match self.first.get_mut(self.length) {
            Some(place) => {
                *place = step;
                self.length += 1;
            }
            None => self.rest.push(step),
        }
    }

    fn steps(&self) -> impl Iterator<Item = Step<'o>> {
        self.first[..self.length].iter().chain(&self.rest).copied()
    }
}

impl<'o> Part<'o> {
    pub(super) fn whole(object: &'o Object) -> Self {
        Part {
            object,
            value: object.value(),
            way: Way {
                length: 0,
                first: [Step::Item(0); USUAL],
                rest: Vec::new(),
            },
        }
    }

    /// A field; null when it is not there.
    pub(super) fn field(&self, name: &'o str) -> Part<'o> {
        self.step(self.value.get(name).unwrap_or(&NOTHING), Step::Field(name))
    }

    fn step(&self, value: &'o Value, step: Step<'o>) -> Part<'o> {
        let mut part = Part {
            value,
            ..self.clone()
        };
        part.way.push(step);
        part
    }

    /// A field below others, by its dotted path.
    pub(super) fn at(&self, dotted: &'o str) -> Part<'o> {
        let mut part = self.clone();
        for name in dotted.split('.') {
            part.value = part.value.get(name).unwrap_or(&NOTHING);
            part.way.push(Step::Field(name));
        }
        part
    }

    /// The first of several fields that is there; else the first.
    pub(super) fn either(&self, dotted: &[&'o str]) -> Part<'o> {
        let parts = dotted.iter().map(|dotted| self.at(dotted));
        parts
            .clone()
            .find(|part| !part.value.is_null())
            .or_else(|| parts.clone().next())
            .unwrap_or_else(|| self.clone())
    }

    pub(super) fn is_there(&self) -> bool {
        !self.value.is_null()
    }

    /// The text; empty when it is none.
    pub(super) fn text(&self) -> &'o str {
        self.value.as_str().unwrap_or_default()
    }

    pub(super) fn items(&self) -> impl Iterator<Item = Part<'o>> + use<'o> {
        let list = self.clone();
        let items = self.value.as_array().map_or(&[][..], Vec::as_slice);
        items
            .iter()
            .enumerate()
            .map(move |(index, value)| list.step(value, Step::Item(index)))
    }

    /// Whether it lies at or below another part of the same object.
    pub(super) fn is_within(&self, other: &Part<'_>) -> bool {
        let mut steps = self.way.steps();
        other.way.steps().all(|step| steps.next() == Some(step))
    }

    pub(super) fn path(&self) -> FieldPath {
        let segment = |step: Step<'_>| match step {
            Step::Field(name) => Segment::Field(name.to_owned()),
            Step::Item(index) => Segment::Index(index),
        };
        self.way.steps().map(segment).collect()
    }

    /// Location, without its value.
    pub(super) fn stand(&self) -> Stand {
        Stand {
            anchor: self.object.anchor(),
            path: self.path(),
            key: None,
        }
    }

    pub(super) fn place(&self) -> Place {
        self.object.place(&self.path())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_know_their_paths_however_deep_they_are() {
        let deep = (0..12).fold(json!("x"), |inner, _| json!({ "a": [inner] }));
        let object = Object::made(deep);
        let mut part = Part::whole(&object);
        let mut path = FieldPath::root();
        for _ in 0..12 {
            assert!(part.is_within(&Part::whole(&object)));
            part = part.field("a").items().next().expect("there is an item");
            path = path.field("a").index(0);
            assert_eq!(part.path(), path);
        }
        assert_eq!(part.text(), "x");
        let (above, beside) = (
            Part::whole(&object).field("a"),
            Part::whole(&object).field("b"),
        );
        assert!(
            part.is_within(&above)
                && part.is_within(&part)
                && !above.is_within(&part)
                && !part.is_within(&beside)
        );
        assert_eq!(part.at("b.c").path(), path.field("b").field("c"));
        assert!(!part.at("b.c").is_there());
    }
}
