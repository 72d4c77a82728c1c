//! Paths with lists: `webhooks[].clientConfig.service` is that field of each webhook.

use serde_json::Value;

use super::misfit::{Misfit, Shape};
use windlass_source::diag::{FieldPath, Segment};

/// What a path leads to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection<'v> {
    /// The values at the path, which have the type that belongs there.
    pub found: Vec<(FieldPath, &'v Value)>,
    /// Fields on the way, or at its end, that have another type.
    pub(crate) misfits: Vec<Misfit>,
}

/// Follows a path; `wanted` is the type at its end. What is absent or null is passed over, and so
/// are texts with a variable in place of something else, of which nobody knows what they will be.
pub fn select<'v>(value: &'v Value, path: &str, wanted: Shape) -> Selection<'v> {
    let mut walk = Walk {
        path: FieldPath::root(),
        wanted,
        selection: Selection::default(),
    };
    walk.descend(value, path);
    walk.selection
}

struct Walk<'v> {
    path: FieldPath,
    wanted: Shape,
    selection: Selection<'v>,
}

impl<'v> Walk<'v> {
    fn descend(&mut self, value: &'v Value, rest: &str) {
        if rest.is_empty() {
            if self.fits(value, self.wanted, "") {
                self.selection.found.push((self.path.clone(), value));
            }
            return;
        }
        if !self.fits(value, Shape::Mapping, rest) {
            return;
        }
        let (step, rest) = rest.split_once('.').unwrap_or((rest, ""));
        let name = step.trim_end_matches("[]");
        let Some(child) = value.get(name) else { return };
        self.path.push(Segment::Field(name.to_owned()));
        if name == step {
            self.descend(child, rest);
        } else if self.fits(child, Shape::List, rest) {
            for (index, item) in child.as_array().into_iter().flatten().enumerate() {
                self.path.push(Segment::Index(index));
                self.descend(item, rest);
                self.path.pop();
            }
        }
        self.path.pop();
    }

    fn fits(&mut self, value: &Value, wanted: Shape, within: &str) -> bool {
        let found = Shape::of(value);
        let is_open =
            found == Shape::Absent || value.as_str().is_some_and(|text| text.contains("${"));
        if found != wanted && !is_open {
            self.selection
                .misfits
                .push(Misfit::new(&self.path, wanted, value, within));
        }
        found == wanted
    }
}
