//! What an expression may cost at worst, as the API server estimates it before it takes a CRD.
//!
//! Source: `checker/cost.go` of cel-go 0.26 with the API server's own functions and sizes. The
//! estimate follows upstream also where that is odd: an item of a list that is in the
//! expression itself is taken to be as large as `self`. Expressions have no checked types here;
//! where we cannot tell what upstream would say, we say nothing.

mod calls;
mod declared;
mod size;
#[cfg(test)]
mod tests;

use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators,
};

pub(crate) use declared::{least_json, most_often};

use crate::node::Node;
use calls::Called;
use declared::{Kind, Place};
use size::Size;

/// The largest estimate of one expression that the API server takes (`StaticEstimatedCostLimit`).
pub(crate) const PER_EXPRESSION: u64 = 10_000_000;

/// The largest sum of estimates for all expressions of a schema (`StaticEstimatedCRDCostLimit`).
pub(crate) const PER_SCHEMA: u64 = 100_000_000;

/// The estimate of an expression whose `self` has this schema; nothing, when it calls what we do
/// not know.
pub(super) fn estimate(expression: &IdedExpr, node: &Node, resource: bool) -> Option<u64> {
    let mut estimator = Estimator {
        root: Place::Node(node, resource),
        scope: Vec::new(),
        is_sure: true,
    };
    let cost = estimator.visit(expression).cost;
    estimator.is_sure.then_some(cost)
}

/// What the API server says when an estimate is beyond its limit.
pub(crate) fn exceeded(name: &str, cost: u64, limit: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "as upstream does it")]
    let factor = cost as f64 / limit as f64;
    let factor = match () {
        () if factor > 100.0 => "more than 100x".to_owned(),
        () if factor < 1.5 => format!("{factor:.6}x"),
        () => format!("{factor:.1}x"),
    };
    format!(
        "{name} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, \
         maps, and strings are declared)"
    )
}

/// The sizes of what a list or map holds; `key` is of interest for maps alone.
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: Size,
    value: Size,
}

impl Entry {
    fn union(self, other: Entry) -> Entry {
        Entry {
            key: self.key.union(other.key),
            value: self.value.union(other.value),
        }
    }
}

/// What is known about an expression: its cost, and what it gives.
#[derive(Debug, Clone)]
struct Term<'a> {
    cost: u64,
    kind: Kind,
    size: Option<Size>,
    entry: Option<Entry>,
    /// Where in the declared type the value stands; nothing for what an expression makes.
    place: Option<Place<'a>>,
}

impl<'a> Term<'a> {
    fn made(cost: u64, kind: Kind, size: Option<Size>) -> Self {
        let size = size.or_else(|| kind.is_scalar().then(|| Size::exactly(1)));
        Term {
            cost,
            kind,
            size,
            entry: None,
            place: None,
        }
    }

    fn declared(cost: u64, place: Place<'a>, kind: Kind) -> Self {
        let size = place
            .size()
            .or_else(|| kind.is_scalar().then(|| Size::exactly(1)));
        Term {
            cost,
            kind,
            size,
            entry: None,
            place: Some(place),
        }
    }

    fn size(&self) -> Size {
        self.size.unwrap_or(Size::UNKNOWN)
    }

    /// The size of the items that is declared.
    fn elements(&self) -> Option<Size> {
        self.place?.elements().size()
    }
}

struct Estimator<'a> {
    root: Place<'a>,
    /// The variables of loops, the innermost last.
    scope: Vec<(String, Term<'a>)>,
    is_sure: bool,
}

impl<'a> Estimator<'a> {
    fn visit(&mut self, expression: &IdedExpr) -> Term<'a> {
        match &expression.expr {
            Expr::Literal(literal) => literal_term(literal),
            Expr::Ident(name) => match self.scope.iter().rev().find(|(known, _)| known == name) {
                Some((_, term)) => Term {
                    cost: 1,
                    ..term.clone()
                },
                None => Term::declared(
                    1,
                    self.root,
                    if name == "self" || name == "oldSelf" {
                        self.root.kind()
                    } else {
                        Kind::Unknown
                    },
                ),
            },
            Expr::Select(select) => {
                let operand = self.visit(&select.operand);
                if select.test {
                    return Term::made(operand.cost, Kind::Bool, None);
                }
                let price = u64::from(matches!(operand.kind, Kind::Map | Kind::Struct));
                let place = operand
                    .place
                    .map_or(self.root, |place| place.field(&select.field));
                Term::declared(operand.cost.saturating_add(price), place, place.kind())
            }
            Expr::List(list) => self.list(&list.elements),
            Expr::Map(map) => self.map(map.entries.iter().map(|entry| &entry.expr)),
            Expr::Struct(_) | Expr::Unspecified => {
                self.is_sure = false;
                Term::made(0, Kind::Unknown, None)
            }
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(inner) => self.comprehension(inner),
        }
    }

    fn list(&mut self, elements: &[IdedExpr]) -> Term<'a> {
        let terms: Vec<_> = elements.iter().map(|element| self.visit(element)).collect();
        let cost = terms
            .iter()
            .map(|term| term.cost)
            .fold(10, u64::saturating_add);
        let kind = terms
            .first()
            .map_or(Kind::Unknown, |first| first.kind.clone());
        let kind = if terms.iter().all(|term| term.kind == kind) {
            kind
        } else {
            Kind::Unknown
        };
        let value = terms
            .iter()
            .map(Term::size)
            .reduce(Size::union)
            .unwrap_or(Size::exactly(0));
        let entry = Entry {
            key: Size::exactly(1),
            value,
        };
        Term {
            entry: Some(entry),
            ..Term::made(
                cost,
                Kind::list(kind),
                Some(Size::exactly(elements.len() as u64)),
            )
        }
    }

    fn map<'e>(&mut self, entries: impl Iterator<Item = &'e EntryExpr>) -> Term<'a> {
        let (mut cost, mut count, mut sizes) = (30_u64, 0, None::<Entry>);
        for entry in entries {
            let EntryExpr::MapEntry(entry) = entry else {
                continue;
            };
            let (key, value) = (self.visit(&entry.key), self.visit(&entry.value));
            cost = cost.saturating_add(key.cost).saturating_add(value.cost);
            let entry = Entry {
                key: key.size(),
                value: value.size(),
            };
            sizes = Some(sizes.map_or(entry, |sizes| sizes.union(entry)));
            count += 1;
        }
        let nothing = Entry {
            key: Size::exactly(0),
            value: Size::exactly(0),
        };
        Term {
            entry: Some(sizes.unwrap_or(nothing)),
            ..Term::made(cost, Kind::Map, Some(Size::exactly(count)))
        }
    }

    fn call(&mut self, call: &CallExpr) -> Term<'a> {
        let args: Vec<_> = call
            .args
            .iter()
            .map(|argument| self.visit(argument))
            .collect();
        let price = args
            .iter()
            .map(|term| term.cost)
            .fold(0, u64::saturating_add);
        let name = call.func_name.as_str();
        match (name, &args[..]) {
            ("dyn", [only]) if call.target.is_none() => {
                return Term {
                    cost: price.saturating_add(1),
                    kind: Kind::Unknown,
                    place: None,
                    ..only.clone()
                };
            }
            (operators::CONDITIONAL, [condition, one, other]) => {
                return conditional(condition, one, other);
            }
            (operators::INDEX, [container, _]) => {
                return self.indexed(container, price.saturating_add(1));
            }
            _ => {}
        }
        if let (operators::ADD, [one, other]) = (name, &args[..]) {
            let entry = one
                .entry
                .zip(other.entry)
                .map(|(one, other)| one.union(other));
            let Some(Called { cost, size, kind }) = calls::operator(name, &args) else {
                return Term::made(price, Kind::Unknown, None);
            };
            return Term {
                entry,
                ..Term::made(price.saturating_add(cost), kind, size)
            };
        }
        let qualified = call.target.as_ref().and_then(|target| match &target.expr {
            Expr::Ident(library) => Some(format!("{library}.{name}")),
            _ => None,
        });
        let known = qualified
            .and_then(|name| calls::function(&name, None, &args, &call.args))
            .or_else(|| calls::operator(name, &args));
        let (before, called) = match (known, &call.target) {
            (Some(called), _) => (0, Some(called)),
            (None, None) => (0, calls::function(name, None, &args, &call.args)),
            (None, Some(target)) => {
                let target = self.visit(target);
                (
                    target.cost,
                    calls::function(name, Some(&target), &args, &call.args),
                )
            }
        };
        self.is_sure &= called.is_some();
        let Called { cost, size, kind } = called.unwrap_or(Called {
            cost: 1,
            size: None,
            kind: Kind::Unknown,
        });
        Term::made(
            price.saturating_add(before).saturating_add(cost),
            kind,
            size,
        )
    }

    fn indexed(&self, container: &Term<'a>, cost: u64) -> Term<'a> {
        let place = container.place.map_or(self.root, Place::elements);
        let kind = if let Kind::List(items) = &container.kind {
            (**items).clone()
        } else {
            place.kind()
        };
        let term = Term::declared(cost, place, kind);
        Term {
            size: container.entry.map(|entry| entry.value).or(term.size),
            ..term
        }
    }

    fn comprehension(&mut self, inner: &ComprehensionExpr) -> Term<'a> {
        let range = self.visit(&inner.iter_range);
        let init = self.visit(&inner.accu_init);
        let before = range.cost.saturating_add(init.cost);
        let builds = matches!(inner.accu_init.expr, Expr::List(_) | Expr::Map(_));
        let built = init.size;
        self.scope.push((inner.accu_var.clone(), init));
        self.scope
            .push((inner.iter_var.clone(), self.variable(&range)));
        let step = self.visit(&inner.loop_cond).cost;
        let last = self.visit(&inner.loop_step);
        self.scope.pop();
        let result = self.visit(&inner.result);
        self.scope.pop();
        let loops = range
            .size()
            .max
            .saturating_mul(step.saturating_add(last.cost));
        let cost = before.saturating_add(result.cost).saturating_add(loops);
        if builds {
            return Term {
                entry: last.entry,
                ..Term::made(cost, last.kind, Some(range.size()))
            };
        }
        Term::made(cost, result.kind, built)
    }

    /// What a loop over this goes through: the items of a list, the keys of a map.
    fn variable(&self, range: &Term<'a>) -> Term<'a> {
        let is_map = matches!(range.kind, Kind::Map);
        let place = range.place.map_or(self.root, |place| {
            if is_map {
                place.keys()
            } else {
                place.elements()
            }
        });
        let kind = if is_map {
            Kind::Text
        } else {
            range.kind.items()
        };
        let term = Term::declared(1, place, kind);
        let known = range
            .entry
            .map(|entry| if is_map { entry.key } else { entry.value });
        Term {
            size: term.size.or(known),
            ..term
        }
    }
}

fn conditional<'a>(condition: &Term<'a>, one: &Term<'a>, other: &Term<'a>) -> Term<'a> {
    let kind = one.kind.join(&other.kind);
    let cost = condition.cost.saturating_add(one.cost.max(other.cost));
    let entry = one
        .entry
        .zip(other.entry)
        .map(|(one, other)| one.union(other));
    Term {
        entry,
        ..Term::made(cost, kind, Some(one.size().union(other.size())))
    }
}

fn literal_term<'a>(literal: &LiteralValue) -> Term<'a> {
    let (kind, size) = match literal {
        LiteralValue::String(text) => (Kind::Text, text.inner().chars().count() as u64),
        LiteralValue::Bytes(bytes) => (Kind::Bytes, bytes.inner().len() as u64),
        LiteralValue::Boolean(_) => (Kind::Bool, 1),
        LiteralValue::Double(_) | LiteralValue::Int(_) | LiteralValue::UInt(_) => (Kind::Number, 1),
        LiteralValue::Null => (Kind::Unknown, 1),
    };
    Term::made(0, kind, Some(Size::exactly(size)))
}
