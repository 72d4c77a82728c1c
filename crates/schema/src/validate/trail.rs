//! Where a walk stands, written out only when there is something to say.

use crate::{Fault, Violation, ViolationKind};
use windlass_source::diag::{FieldPath, Segment};

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Field(&'a str),
    Key(&'a str),
    Index(usize),
}

/// The steps from the root of the object.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trail<'a>(Vec<Step<'a>>);

impl<'a> Trail<'a> {
    pub(crate) fn push_field(&mut self, name: &'a str) {
        self.0.push(Step::Field(name));
    }

    /// Goes down to an entry of a map.
    pub(crate) fn push_key(&mut self, key: &'a str) {
        self.0.push(Step::Key(key));
    }

    /// Goes down to an item of a list.
    pub(crate) fn push_index(&mut self, index: usize) {
        self.0.push(Step::Index(index));
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    pub(crate) fn path(&self) -> FieldPath {
        let segment = |step: &Step<'_>| match *step {
            Step::Field(name) => Segment::Field(name.to_owned()),
            Step::Key(key) => Segment::Key(key.to_owned()),
            Step::Index(index) => Segment::Index(index),
        };
        self.0.iter().map(segment).collect()
    }

    /// The place as the schema check spells it: map keys are `.key` too, also where they come
    /// first; the root is empty.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) | Step::Key(name) => {
                    text.push_str(if position == 0 && matches!(step, Step::Field(_)) {
                        ""
                    } else {
                        "."
                    });
                    text.push_str(name);
                }
                Step::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }

    /// The place as the head of a message.
    pub(crate) fn field(&self) -> String {
        match self.text().strip_prefix('.') {
            _ if self.0.is_empty() => "<nil>".to_owned(),
            Some(key) => key.to_owned(),
            None => self.text(),
        }
    }

    /// A rule of the schema that a value here breaks.
    pub(crate) fn rule(&self, rule: String) -> Fault {
        Fault::Rule {
            at: self.text(),
            rule,
        }
    }

    pub(crate) fn violation(
        &self,
        kind: ViolationKind,
        value: Option<&str>,
        fault: impl Into<Fault>,
    ) -> Violation {
        Violation::new(kind, self.path(), value, fault).spelt(self.field())
    }

    /// An error that the API server reports without a field, although it knows the place.
    pub(crate) fn nameless(&self, fault: impl Into<Fault>) -> Violation {
        Violation::new(ViolationKind::Invalid, self.path(), Some("\"\""), fault).spelt("<nil>")
    }
}
