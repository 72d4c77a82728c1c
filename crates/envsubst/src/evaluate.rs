//! Evaluation of a parsed template. References within arguments are evaluated before the one they
//! are in, used or not, as in the reference; the text of a default is never copied into an
//! intermediate result, so nesting does not cost more than its length.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::functions::{Function, FunctionFault};
use super::offsets::OffsetMap;
use super::scanner::Text;
use super::{MAX_OUTPUT, Part, Reference, SubstError, SubstErrorKind, Substituted, Template};
use windlass_source::budget::Budget;

/// The result of one reference.
enum Value<'v> {
    Bytes(Cow<'v, [u8]>),
    /// The concatenated arguments: a default that applies.
    Arguments,
}

struct Evaluation<'t, 'v> {
    template: &'t Template<'t>,
    values: &'v BTreeMap<&'t str, Vec<u8>>,
    /// Results of the references from `first` on.
    results: Vec<Value<'v>>,
    first: usize,
    budget: &'v Budget,
}

pub(super) fn evaluate<V: Into<Vec<u8>>>(
    template: &Template,
    value: impl Fn(&str) -> Option<V>,
    budget: &Budget,
) -> Result<Substituted, SubstError> {
    let mut values = BTreeMap::new();
    for reference in &template.references {
        let name = template.name(reference);
        values
            .entry(name)
            .or_insert_with(|| value(name).map_or_else(Vec::new, Into::into));
    }
    let mut evaluation = Evaluation {
        template,
        values: &values,
        results: Vec::new(),
        first: 0,
        budget,
    };
    let source = &template.source.bytes;
    let mut bytes = Vec::with_capacity(source.len());
    let mut map = OffsetMap::new(template.source.gaps());
    for part in &template.parts {
        if let Part::Reference(index) = part {
            evaluation.resolve_up_to(*index)?;
        }
        for leaf in evaluation.leaves(part) {
            match leaf {
                Leaf::Text(text) => {
                    for piece in template.pieces(text) {
                        map.literal(bytes.len(), piece.start);
                        bytes.extend_from_slice(&source[piece]);
                    }
                }
                Leaf::Value(value, reference) => {
                    if bytes.len() + value.len() > MAX_OUTPUT {
                        return Err(template.fault(reference, SubstErrorKind::TooLarge));
                    }
                    budget
                        .charge(value.len())
                        .map_err(|_| template.fault(reference, SubstErrorKind::TooLong))?;
                    map.replaced(bytes.len(), value.len(), reference.span.clone());
                    bytes.extend_from_slice(value);
                }
            }
        }
    }
    map.end(bytes.len());
    Ok(Substituted { bytes, map })
}

impl<'t, 'v> Evaluation<'t, 'v> {
    /// Evaluates one reference of the top level and those within it, which stand directly before
    /// it.
    fn resolve_up_to(&mut self, last: usize) -> Result<(), SubstError> {
        self.first += self.results.len();
        self.results.clear();
        for index in self.first..=last {
            let result = self.resolve(&self.template.references[index])?;
            self.results.push(result);
        }
        Ok(())
    }

    fn resolve(&mut self, reference: &'t Reference) -> Result<Value<'v>, SubstError> {
        let template = self.template;
        let value = self
            .values
            .get(template.name(reference))
            .map_or(&[][..], Vec::as_slice);
        match reference.function {
            Function::Default if value.is_empty() => return Ok(Value::Arguments),
            Function::Default | Function::Value => return Ok(Value::Bytes(Cow::Borrowed(value))),
            _ => {}
        }
        let arguments: Vec<_> = reference
            .arguments
            .iter()
            .map(|argument| self.flatten(argument))
            .collect();
        let input = value.len() + arguments.iter().map(Vec::len).sum::<usize>();
        let charge = |steps| {
            self.budget
                .charge(steps)
                .map_err(|_| template.fault(reference, SubstErrorKind::TooLong))
        };
        charge(input)?;
        let result = reference
            .function
            .apply(value, &arguments, MAX_OUTPUT, self.budget)
            .map_err(|fault| match fault {
                FunctionFault::NegativeLength => {
                    template.fault(reference, SubstErrorKind::NegativeLength)
                }
                FunctionFault::TooLarge => template.fault(reference, SubstErrorKind::TooLarge),
                FunctionFault::TooLong => template.fault(reference, SubstErrorKind::TooLong),
            })?;
        charge(if let Cow::Owned(owned) = &result {
            owned.len()
        } else {
            0
        })?;
        Ok(Value::Bytes(result))
    }

    fn flatten(&self, argument: &'t Part) -> Vec<u8> {
        let source = &self.template.source.bytes;
        let mut bytes = Vec::new();
        for leaf in self.leaves(argument) {
            match leaf {
                Leaf::Text(text) => self
                    .template
                    .pieces(text)
                    .for_each(|piece| bytes.extend_from_slice(&source[piece])),
                Leaf::Value(value, _) => bytes.extend_from_slice(value),
            }
        }
        bytes
    }

    /// What a part consists of once defaults that apply are replaced by their arguments.
    fn leaves(&self, part: &'t Part) -> Leaves<'_, 't, 'v> {
        Leaves {
            evaluation: self,
            stack: vec![part],
        }
    }
}

enum Leaf<'e, 't> {
    Text(&'t Text),
    Value(&'e [u8], &'t Reference),
}

struct Leaves<'e, 't, 'v> {
    evaluation: &'e Evaluation<'t, 'v>,
    stack: Vec<&'t Part>,
}

impl<'e, 't> Iterator for Leaves<'e, 't, '_> {
    type Item = Leaf<'e, 't>;

    fn next(&mut self) -> Option<Leaf<'e, 't>> {
        loop {
            let index = match self.stack.pop()? {
                Part::Text(text) => return Some(Leaf::Text(text)),
                Part::Reference(index) => *index,
            };
            let reference = &self.evaluation.template.references[index];
            match &self.evaluation.results[index - self.evaluation.first] {
                Value::Bytes(bytes) => return Some(Leaf::Value(bytes, reference)),
                Value::Arguments => self.stack.extend(reference.arguments.iter().rev()),
            }
        }
    }
}

impl Template<'_> {
    fn fault(&self, reference: &Reference, kind: fn(String) -> SubstErrorKind) -> SubstError {
        let start = self.source.original(reference.span.start);
        SubstError {
            kind: kind(self.name(reference).to_owned()),
            start,
            stopped: start,
        }
    }
}
