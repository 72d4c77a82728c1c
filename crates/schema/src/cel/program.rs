//! A parsed CEL expression, and what comes of evaluating it.

use kube_cel::cel::common::ast::{EntryExpr, Expr, IdedExpr, operators};
use kube_cel::cel::parser::Parser;
use kube_cel::cel::{Context, ExecutionError, Value};

use super::functions::GO_WORDS;
use super::guard::{guarded, with_room};
use super::meter::{self, Meter};
use super::value::escaped;
use super::{cost, overloads};
use crate::node::{ListType, Node, Type};

/// Longer expressions are not parsed. The longest of a known provider has 145 bytes.
const MAX_LENGTH: usize = 8 * 1024;

/// Expressions nested more deeply are not evaluated: evaluation recurses.
const MAX_DEPTH: usize = 128;

/// Expressions that are longer or have more brackets open at once are parsed where there is room
/// for it.
const PLAIN_LENGTH: usize = 256;
const PLAIN_DEPTH: usize = 8;

/// A parsed expression.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    expression: IdedExpr,
    /// The same with the calls that count what it costs.
    metered: IdedExpr,
    uses_old_self: bool,
    uses_optional_steps: bool,
}

/// Why an evaluation gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The API server would fail too, with these words.
    Runtime(String),
    /// Our library does not know how.
    Unsupported(String),
    /// It could not be brought to an end.
    Ended(Ended),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It costs more than the API server spends on one evaluation, or on all for an object.
    TooDear,
    /// Our library panicked.
    Panicked,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Uncompiled {
    Syntax(String),
    /// It is more than we are ready to evaluate.
    TooMuch(String),
}

impl Uncompiled {
    /// The error of the parser, when that is the reason: the API server rejects the expression too.
    pub(crate) fn syntax(&self) -> Option<&str> {
        match self {
            Uncompiled::Syntax(error) => Some(error),
            Uncompiled::TooMuch(_) => None,
        }
    }

    pub(crate) fn reason(&self) -> &str {
        let (Uncompiled::Syntax(reason) | Uncompiled::TooMuch(reason)) = self;
        reason
    }
}

/// Parses an expression that is short enough, and looks what it consists of.
fn parse(source: &str) -> Result<(IdedExpr, Survey), Uncompiled> {
    let parsed = guarded(|| Parser::new().enable_optional_syntax(true).parse(source));
    let parsed =
        parsed.ok_or_else(|| Uncompiled::TooMuch("our CEL library fails on it".to_owned()))?;
    let expression =
        parsed.map_err(|errors| Uncompiled::Syntax(go_syntax_error(&errors.to_string())))?;
    let survey = Survey::of(&expression).map_err(Uncompiled::TooMuch)?;
    Ok((expression, survey))
}

fn too_deep() -> String {
    format!("nested more than {MAX_DEPTH} levels")
}

/// How many brackets are open at once. Those in texts count too: a pattern opens few.
fn bracket_depth(source: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in source.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        most = most.max(depth);
    }
    most
}

impl Program {
    /// Parses an expression; the error says why our parser rejects it.
    pub(crate) fn compile(source: &str) -> Result<Self, Uncompiled> {
        if source.len() > MAX_LENGTH {
            return Err(Uncompiled::TooMuch(format!(
                "longer than {MAX_LENGTH} bytes"
            )));
        }
        // The parser recurses too, with many frames for each bracket.
        let depth = bracket_depth(source);
        if depth > MAX_DEPTH {
            return Err(Uncompiled::TooMuch(too_deep()));
        }
        let (expression, survey) = if source.len() > PLAIN_LENGTH || depth > PLAIN_DEPTH {
            with_room(|| parse(source)).unwrap_or_else(|| {
                Err(Uncompiled::TooMuch(
                    "our CEL library fails on it".to_owned(),
                ))
            })?
        } else {
            parse(source)?
        };
        let Survey {
            uses_old_self,
            uses_optional_steps,
        } = survey;
        let metered = meter::woven(expression.clone());
        Ok(Program {
            expression,
            metered,
            uses_old_self,
            uses_optional_steps,
        })
    }

    /// Whether the expression names `oldSelf`: such rules speak of a transition.
    pub(crate) fn uses_old_self(&self) -> bool {
        self.uses_old_self
    }

    /// Whether it certainly gives something else than a boolean, for values of a schema.
    pub(crate) fn gives_no_bool(&self, node: &Node) -> bool {
        overloads::gives_no_bool(&self.expression, node)
    }

    /// What the API server estimates that it costs; nothing, when we cannot tell.
    pub(crate) fn estimate(&self, node: &Node, resource: bool) -> Option<u64> {
        cost::estimate(&self.expression, node, resource)
    }

    /// Evaluates the expression, for values of `scope` parts. What the library panics on is ended.
    pub(super) fn evaluate(
        &self,
        context: &Context<'_>,
        meter: &Meter,
        scope: u64,
    ) -> Result<Value, Fault> {
        if self.uses_optional_steps {
            return Err(Fault::Unsupported(
                "optional steps (`.?x`, `[?x]`) are not known to our CEL library".to_owned(),
            ));
        }
        meter.begin(scope);
        let outcome = guarded(|| Value::resolve(&self.metered, context));
        match outcome {
            _ if meter.is_spent() => Err(Fault::Ended(Ended::TooDear)),
            Some(outcome) => outcome.map_err(fault),
            None => Err(Fault::Ended(Ended::Panicked)),
        }
    }

    /// Whether a list that is a set or a map, or something that holds one, is compared with
    /// anything but its own old value. For the API server the order of such lists does not
    /// matter; for our library it does.
    pub(super) fn compares_unordered(&self, node: &Node) -> bool {
        let mut open = vec![&self.expression];
        while let Some(expression) = open.pop() {
            if let Expr::Call(call) = &expression.expr
                && let ([one, other], operators::EQUALS | operators::NOT_EQUALS) =
                    (&call.args[..], call.func_name.as_str())
            {
                let (one, other) = (schema_of(one, node), schema_of(other, node));
                let same = one
                    .zip(other)
                    .is_some_and(|(one, other)| std::ptr::eq(one, other));
                if !same && one.into_iter().chain(other).any(holds_unordered) {
                    return true;
                }
            }
            open.extend(parts(&expression.expr));
        }
        false
    }
}

/// The first error of the parser, with the line and the mark below it as Go prints them.
fn go_syntax_error(text: &str) -> String {
    let first = text.find("\nERROR: ").map_or(text, |end| &text[..end]);
    if first.is_empty() {
        "no valid expression".to_owned()
    } else {
        first.replace("\n| ", "\n | ")
    }
}

/// What is wrong with the fields that an expression takes from `self` or `oldSelf`: the schema has
/// none of that name, or no fields at all; or with the operands of an operator or function. The API
/// server checks more types than this.
pub(crate) fn type_error(program: &Program, node: &Node, resource: bool) -> Option<String> {
    let mut open = vec![&program.expression];
    while let Some(expression) = open.pop() {
        let mut fields = Vec::new();
        let mut current = expression;
        while let Expr::Select(select) = &current.expr {
            fields.push(select.field.as_str());
            current = &select.operand;
        }
        let from_self = matches!(&current.expr, Expr::Ident(name) if name == "self" || name == "oldSelf" && !program.uses_optional_steps);
        if from_self && let Some(error) = fields_error(node, resource, fields.iter().rev().copied())
        {
            return Some(error);
        }
        open.extend(parts(&current.expr));
    }
    overloads::overload_error(&program.expression, node)
}

/// Goes down by fields as long as the schema names them.
fn fields_error<'a>(
    mut node: &Node,
    mut resource: bool,
    fields: impl Iterator<Item = &'a str>,
) -> Option<String> {
    for field in fields {
        if let [scalar @ (Type::String | Type::Integer | Type::Number | Type::Boolean)] =
            node.types[..]
            && node.format.is_none()
        {
            return Some(format!(
                "type '{}' does not support field selection",
                scalar.as_str()
            ));
        }
        if resource && matches!(field, "apiVersion" | "kind" | "metadata")
            || node.properties.is_empty()
            || node.preserve_unknown
        {
            return None;
        }
        let known = node
            .properties
            .iter()
            .find(|(name, _)| escaped(name).as_deref() == Some(field));
        let Some((_, schema)) = known.filter(|(_, schema)| !schema.types.is_empty()) else {
            return Some(format!("undefined field '{field}'"));
        };
        node = schema;
        resource = node.embedded_resource;
    }
    None
}

/// The schema of a chain of fields of `self` or `oldSelf`.
pub(super) fn schema_of<'a>(expression: &IdedExpr, node: &'a Node) -> Option<&'a Node> {
    let mut fields = Vec::new();
    let mut current = expression;
    while let Expr::Select(select) = &current.expr {
        fields.push(select.field.as_str());
        current = &select.operand;
    }
    let Expr::Ident(name) = &current.expr else {
        return None;
    };
    let step = |node: &'a Node, field: &str| {
        let property = node
            .properties
            .iter()
            .find(|(name, _)| escaped(name).as_deref() == Some(field));
        property.map(|(_, schema)| schema).or_else(|| node.values())
    };
    let root = matches!(name.as_str(), "self" | "oldSelf").then_some(node);
    fields
        .iter()
        .rev()
        .fold(root, |node, field| step(node?, field))
}

fn holds_unordered(node: &Node) -> bool {
    let mut below = node
        .properties
        .values()
        .chain(node.items.as_deref())
        .chain(node.values());
    matches!(node.list_type, Some(ListType::Set | ListType::Map)) || below.any(holds_unordered)
}

/// What an expression consists of; found without recursion, for the parser may have nested it
/// deeply.
#[derive(Default)]
struct Survey {
    uses_old_self: bool,
    uses_optional_steps: bool,
}

impl Survey {
    fn of(root: &IdedExpr) -> Result<Self, String> {
        let mut survey = Survey::default();
        let mut open = vec![(root, 0_usize)];
        while let Some((node, depth)) = open.pop() {
            if depth > MAX_DEPTH {
                return Err(too_deep());
            }
            match &node.expr {
                Expr::Ident(name) => survey.uses_old_self |= name == "oldSelf",
                Expr::Call(call) => {
                    survey.uses_optional_steps |= matches!(
                        call.func_name.as_str(),
                        operators::OPT_SELECT | operators::OPT_INDEX
                    );
                }
                _ => {}
            }
            open.extend(parts(&node.expr).into_iter().map(|part| (part, depth + 1)));
        }
        Ok(survey)
    }
}

/// The expressions that an expression is made of.
pub(super) fn parts(expression: &Expr) -> Vec<&IdedExpr> {
    match expression {
        Expr::Call(call) => call
            .target
            .as_deref()
            .into_iter()
            .chain(&call.args)
            .collect(),
        Expr::Select(select) => vec![&select.operand],
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => map
            .entries
            .iter()
            .flat_map(|entry| entry_parts(&entry.expr))
            .collect(),
        Expr::Struct(fields) => fields
            .entries
            .iter()
            .flat_map(|entry| entry_parts(&entry.expr))
            .collect(),
        Expr::Comprehension(inner) => {
            vec![
                &inner.iter_range,
                &inner.accu_init,
                &inner.loop_cond,
                &inner.loop_step,
                &inner.result,
            ]
        }
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => Vec::new(),
    }
}

fn entry_parts(entry: &EntryExpr) -> Vec<&IdedExpr> {
    match entry {
        EntryExpr::StructField(field) => vec![&field.value],
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
    }
}

/// Sorts the library's errors into those that Go's library gives too, in Go's words, and gaps.
fn fault(error: ExecutionError) -> Fault {
    match error {
        ExecutionError::NoSuchKey(key) => Fault::Runtime(format!("no such key: {key}")),
        ExecutionError::IndexOutOfBounds(Value::Int(index)) => {
            Fault::Runtime(format!("index out of bounds: {index}"))
        }
        ExecutionError::DivisionByZero(_) => Fault::Runtime("division by zero".to_owned()),
        ExecutionError::RemainderByZero(_) => Fault::Runtime("modulus by zero".to_owned()),
        ExecutionError::Overflow(..) => Fault::Runtime("integer overflow".to_owned()),
        ExecutionError::NoSuchOverload
        | ExecutionError::ValuesNotComparable(..)
        | ExecutionError::UnsupportedBinaryOperator(..) => {
            Fault::Runtime("no such overload".to_owned())
        }
        ExecutionError::FunctionError { function, message } if function == GO_WORDS => {
            Fault::Runtime(message)
        }
        ExecutionError::UndeclaredReference(name) => {
            Fault::Unsupported(format!("`{name}` is not known to our CEL library"))
        }
        other => Fault::Unsupported(other.to_string()),
    }
}
