//! What an evaluation may cost: steps are counted while it runs, by calls that are woven into the
//! parsed expression.
//!
//! Our CEL library counts nothing itself. A step is about one node that is evaluated or one value
//! that is copied, so that the limits are the API server's (`pkg/apis/cel/config.go` of
//! k8s.io/apiserver 0.36), which counts nearly the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators,
};
use kube_cel::cel::extractors::{Arguments, This};
use kube_cel::cel::objects::Key;
use kube_cel::cel::{Context, ExecutionError, ResolveResult, Value};

use windlass_go_text::regexp::Patterns;
use windlass_source::budget::{Budget, Exceeded, Resource};

/// What one evaluation may cost (`PerCallLimit`).
pub(super) const PER_CALL: u64 = 1_000_000;

/// What all evaluations for one object may cost (`RuntimeCELCostBudget`).
pub(super) const PER_OBJECT: u64 = 10_000_000;

/// Charges its second argument, and the size of what a loop has built, which is its third; gives
/// the first.
const STEP: &str = "@step";
/// Charges the size of its argument, and gives it.
const SIZED: &str = "@sized";
/// Charges the product of the sizes of its arguments, and gives the first.
const CROSSED: &str = "@crossed";
/// Charges a text by characters, and gives it.
const SPREAD: &str = "@spread";
/// Charges the digits that a format asks for, and gives it.
const PRECISE: &str = "@precise";

/// Digits after the point that our library can print.
const MAX_PRECISION: usize = 1_000;

/// The steps that are left for one evaluation and for all of an object.
#[derive(Debug)]
pub(crate) struct Meter {
    call: AtomicU64,
    object: AtomicU64,
    /// How many the object had: what the API server spends on one, or what the run has left.
    most: u64,
    /// What is said when the run has nothing left.
    run: Exceeded,
    /// The size of `self` and `oldSelf`: what our library may copy to come to a field of them.
    scope: AtomicU64,
    patterns: Patterns,
}

impl Meter {
    /// A meter for one object of a run.
    pub(crate) fn within(budget: &Budget) -> Arc<Self> {
        let most = PER_OBJECT.min(budget.left(Resource::Rules));
        Arc::new(Meter {
            call: AtomicU64::new(PER_CALL),
            object: AtomicU64::new(most),
            most,
            run: budget.exceeding(Resource::Rules),
            scope: AtomicU64::new(0),
            patterns: windlass_go_text::regexp::Patterns::of(budget),
        })
    }

    pub(super) fn patterns(&self) -> &Patterns {
        &self.patterns
    }

    /// Takes from the run what the object took. An object that was ended because the run has
    /// nothing left takes all of it.
    pub(crate) fn settle(&self, budget: &Budget) {
        let taken =
            self.most - self.object.load(Ordering::Relaxed) + u64::from(self.ends_run().is_some());
        // Who takes the last steps is told by the rule that was ended.
        let _ = budget.take(
            Resource::Rules,
            usize::try_from(taken).unwrap_or(usize::MAX),
        );
    }

    /// Whether nothing is left for the object because nothing is left for the run.
    pub(super) fn ends_run(&self) -> Option<Exceeded> {
        (self.most < PER_OBJECT && self.is_object_spent()).then_some(self.run)
    }

    /// Begins an evaluation over values of this size.
    pub(super) fn begin(&self, scope: u64) {
        self.call.store(PER_CALL, Ordering::Relaxed);
        self.scope.store(scope, Ordering::Relaxed);
    }

    /// Whether the evaluation was ended because it cost too much.
    pub(super) fn is_spent(&self) -> bool {
        self.call.load(Ordering::Relaxed) == 0 || self.is_object_spent()
    }

    pub(super) fn is_object_spent(&self) -> bool {
        self.object.load(Ordering::Relaxed) == 0
    }

    /// Takes steps; once there are too few, nothing is left. What one evaluation cannot pay does
    /// not ruin the others.
    pub(super) fn charge(&self, steps: u64) -> Result<(), ExecutionError> {
        let left = self.call.load(Ordering::Relaxed);
        let steps = steps.max(1).min(left);
        self.call.store(left - steps, Ordering::Relaxed);
        let object = self.object.load(Ordering::Relaxed).saturating_sub(steps);
        self.object.store(object, Ordering::Relaxed);
        if self.is_spent() {
            Err(ExecutionError::function_error(STEP, "it costs too much"))
        } else {
            Ok(())
        }
    }

    /// The price of nodes, some of which reach into `self`.
    fn nodes(&self, nodes: u64, reaching: u64) -> u64 {
        nodes.saturating_add(reaching.saturating_mul(self.scope.load(Ordering::Relaxed) / 16))
    }
}

/// How much a value holds: one for each part, and one for every eight bytes of text.
pub(super) fn size(value: &Value) -> u64 {
    let bytes = |len: usize| 1 + len as u64 / 8;
    match value {
        Value::String(text) => bytes(text.len()),
        Value::Bytes(data) => bytes(data.len()),
        Value::List(items) => items.iter().map(size).fold(1, u64::saturating_add),
        Value::Map(entries) => {
            let key = |key: &Key| {
                if let Key::String(text) = key {
                    bytes(text.len())
                } else {
                    1
                }
            };
            entries
                .map
                .iter()
                .map(|(name, value)| key(name) + size(value))
                .fold(1, u64::saturating_add)
        }
        _ => 1,
    }
}

/// Adds the calls that [`woven`] writes, and those functions of the library that build more than
/// they are given.
pub(super) fn register(context: &mut Context<'_>, meter: &Arc<Meter>) {
    let charging = |price: fn(&Meter, &[Value]) -> u64| {
        let meter = Arc::clone(meter);
        move |Arguments(arguments): Arguments| -> ResolveResult {
            meter.charge(price(&meter, &arguments))?;
            Ok(arguments.first().cloned().unwrap_or(Value::Null))
        }
    };
    context.add_function(
        STEP,
        charging(|meter, arguments| {
            let number = |index: usize| {
                arguments.get(index).and_then(|value| {
                    if let Value::UInt(number) = value {
                        Some(*number)
                    } else {
                        None
                    }
                })
            };
            let built = arguments.get(3).map_or(0, |built| size(built) / 16);
            meter
                .nodes(number(1).unwrap_or(1), number(2).unwrap_or(0))
                .saturating_add(built)
        }),
    );
    context.add_function(
        SIZED,
        charging(|_, arguments| arguments.first().map_or(1, size)),
    );
    context.add_function(
        CROSSED,
        charging(|_, arguments| arguments.iter().map(size).fold(1, u64::saturating_mul) / 16),
    );
    context.add_function(
        SPREAD,
        charging(|_, arguments| {
            if let Some(Value::String(text)) = arguments.first() {
                text.len() as u64
            } else {
                1
            }
        }),
    );
    context.add_function(
        PRECISE,
        charging(|_, arguments| {
            if let Some(Value::String(format)) = arguments.first() {
                precision(format)
            } else {
                1
            }
        }),
    );
    let own = Arc::clone(meter);
    context.add_function("lists.range", move |count: i64| -> ResolveResult {
        let count = u64::try_from(count)
            .map_err(|_| ExecutionError::function_error("lists.range", "the count is negative"))?;
        own.charge(count)?;
        Ok(Value::List(Arc::new(
            (0..count.cast_signed()).map(Value::Int).collect(),
        )))
    });
    let own = Arc::clone(meter);
    context.add_function(
        "replace",
        move |This(text): This<Arc<String>>, Arguments(arguments): Arguments| {
            replace(&own, &text, &arguments)
        },
    );
    let own = Arc::clone(meter);
    context.add_function(
        "join",
        move |This(items): This<Arc<Vec<Value>>>, Arguments(arguments): Arguments| {
            join(&own, &items, &arguments)
        },
    );
}

/// The price of a format: all that is left, when it asks for more digits than our library prints.
fn precision(format: &str) -> u64 {
    let digits = |clause: &str| clause.bytes().take_while(u8::is_ascii_digit).count();
    let mut clauses = format.split("%.").skip(1).map(|clause| {
        clause[..digits(clause)]
            .parse::<usize>()
            .unwrap_or(usize::MAX)
    });
    if clauses.any(|digits| digits > MAX_PRECISION) {
        u64::MAX
    } else {
        1 + format.len() as u64
    }
}

fn replace(meter: &Meter, text: &str, arguments: &[Value]) -> ResolveResult {
    let (from, to, limit) = match arguments {
        [Value::String(from), Value::String(to)] => (from, to, -1),
        [Value::String(from), Value::String(to), Value::Int(limit)] => (from, to, *limit),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let count = text.matches(from.as_str()).take(most).count();
    meter.charge(((count * to.len()) as u64).saturating_add(text.len() as u64) / 8)?;
    Ok(text.replacen(from.as_str(), to, most).into())
}

fn join(meter: &Meter, items: &[Value], arguments: &[Value]) -> ResolveResult {
    let separator = match arguments {
        [] => "",
        [Value::String(separator)] => separator.as_str(),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    let text = |item: &Value| {
        if let Value::String(text) = item {
            Ok(Arc::clone(text))
        } else {
            Err(ExecutionError::NoSuchOverload)
        }
    };
    let parts = items.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    let length = parts.iter().map(|part| part.len()).sum::<usize>() + parts.len() * separator.len();
    meter.charge(length as u64 / 8)?;
    let parts: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
    Ok(parts.join(separator).into())
}

/// The expression with calls that charge: at its begin, at each step of a loop, for what is copied,
/// built or searched.
pub(super) fn woven(expression: IdedExpr) -> IdedExpr {
    let (nodes, reaching) = count(&expression);
    call(
        STEP,
        vec![weave(expression), number(nodes), number(reaching)],
    )
}

fn weave(expression: IdedExpr) -> IdedExpr {
    let id = expression.id;
    let whole = |expr: Expr| IdedExpr { id, expr };
    match expression.expr {
        Expr::Comprehension(inner) => whole(Expr::Comprehension(Box::new(weave_loop(*inner)))),
        Expr::Call(inner) => {
            let builds = is_addition_of_values(&inner) || !is_operator(&inner.func_name);
            let woven = whole(Expr::Call(weave_call(inner)));
            if builds {
                call(SIZED, vec![woven])
            } else {
                woven
            }
        }
        Expr::Select(mut select) => {
            select.operand = Box::new(weave(*select.operand));
            whole(Expr::Select(select))
        }
        Expr::List(mut list) => {
            list.elements = list.elements.into_iter().map(copied).collect();
            whole(Expr::List(list))
        }
        Expr::Map(mut map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    entry.key = weave(std::mem::take(&mut entry.key));
                    entry.value = copied(std::mem::take(&mut entry.value));
                }
            }
            whole(Expr::Map(map))
        }
        other => whole(other),
    }
}

fn weave_loop(inner: ComprehensionExpr) -> ComprehensionExpr {
    let parts = [&inner.loop_cond, &inner.loop_step].map(count);
    let (nodes, reaching) = (parts[0].0 + parts[1].0, parts[0].1 + parts[1].1);
    let mut charged = vec![weave(inner.loop_cond), number(nodes), number(reaching)];
    if matches!(inner.accu_init.expr, Expr::List(_) | Expr::Map(_)) {
        charged.push(IdedExpr {
            id: 0,
            expr: Expr::Ident(inner.accu_var.clone()),
        });
    }
    ComprehensionExpr {
        iter_range: copied(inner.iter_range),
        accu_init: weave(inner.accu_init),
        loop_cond: call(STEP, charged),
        loop_step: weave(inner.loop_step),
        result: weave(inner.result),
        ..inner
    }
}

fn weave_call(mut inner: CallExpr) -> CallExpr {
    let is_method = inner
        .target
        .as_ref()
        .is_some_and(|target| !is_library(target));
    let searched = match inner.func_name.as_str() {
        "indexOf" | "lastIndexOf" | "contains" | "matches" | "find" | "findAll" | "intersects"
        | "equivalent" => inner.args.first().cloned(),
        _ => None,
    };
    let compares = matches!(
        inner.func_name.as_str(),
        operators::IN | operators::EQUALS | operators::NOT_EQUALS
    );
    inner.args = inner
        .args
        .into_iter()
        .map(if compares { copied } else { weave })
        .collect();
    if let (false, Some(searched), [_, second]) = (is_method, &searched, &inner.args[..]) {
        let crossed = call(CROSSED, vec![weave(searched.clone()), second.clone()]);
        inner.args[0] = crossed;
    }
    inner.target = inner.target.map(|target| {
        if !is_method {
            return target;
        }
        let woven = weave(*target);
        Box::new(match inner.func_name.as_str() {
            "split" => call(SPREAD, vec![woven]),
            "format" => call(PRECISE, vec![woven]),
            "distinct" => call(CROSSED, vec![woven.clone(), woven]),
            _ => match inner.args.first().filter(|_| searched.is_some()) {
                Some(argument) => call(CROSSED, vec![woven, argument.clone()]),
                None => call(SIZED, vec![woven]),
            },
        })
    });
    inner
}

/// What is copied into a list or map, or gone through.
fn copied(expression: IdedExpr) -> IdedExpr {
    match expression.expr {
        Expr::Literal(_) | Expr::List(_) => weave(expression),
        _ => call(SIZED, vec![weave(expression)]),
    }
}

/// `a + b`, but for what a loop adds to its own list, which its steps pay.
fn is_addition_of_values(call: &CallExpr) -> bool {
    call.func_name == operators::ADD
        && !matches!(call.args.first().map(|first| &first.expr), Some(Expr::Ident(name)) if name.starts_with('@'))
}

/// The functions that are written with a sign, and those that macros call.
fn is_operator(name: &str) -> bool {
    name.contains('_') && !name.starts_with(char::is_alphabetic) || name.starts_with('@')
}

/// Whether what stands before the point is no value but a part of the name of the function:
/// `sets.contains`.
fn is_library(target: &IdedExpr) -> bool {
    matches!(&target.expr, Expr::Ident(name) if matches!(name.as_str(), "lists" | "sets" | "strings" | "math" | "optional" | "format" | "ip" | "cidr" | "jsonpatch" | "base64"))
}

fn call(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    IdedExpr {
        id: 0,
        expr: Expr::Call(CallExpr {
            func_name: name.to_owned(),
            target: None,
            args,
        }),
    }
}

fn number(number: u64) -> IdedExpr {
    IdedExpr {
        id: 0,
        expr: Expr::Literal(LiteralValue::UInt(number.into())),
    }
}

/// The nodes of an expression, without what its loops repeat, and how many of them reach into
/// `self`.
fn count(expression: &IdedExpr) -> (u64, u64) {
    let (mut nodes, mut reaching) = (0, 0);
    let mut open = vec![expression];
    while let Some(expression) = open.pop() {
        nodes += 1;
        match &expression.expr {
            Expr::Comprehension(inner) => {
                open.extend([&inner.iter_range, &inner.accu_init, &inner.result])
            }
            Expr::Select(select) => {
                let is_deep = matches!(&select.operand.expr, Expr::Select(_));
                reaching += u64::from(is_deep);
                open.push(&select.operand);
            }
            other => open.extend(super::program::parts(other)),
        }
    }
    (nodes, reaching)
}
