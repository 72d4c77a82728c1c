//! The types in a rule, as far as its schema and its literals decide them: operators and functions
//! that have no overload for them, as the type checker of `github.com/google/cel-go` reports them.
//! What is not certain is accepted.

use kube_cel::cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};

use super::program::{parts, schema_of};
use crate::node::{Node, Type};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Double,
    Int,
    /// With the type of its items, if that is certain and none with parameters.
    List(Option<&'static str>),
    /// Its keys are strings.
    Map,
    /// What a schema with properties describes.
    Object,
    String,
    Timestamp,
}

impl Kind {
    fn name(self) -> Option<&'static str> {
        match self {
            Kind::Bool => Some("bool"),
            Kind::Double => Some("double"),
            Kind::Int => Some("int"),
            Kind::Object => Some("object"),
            Kind::String => Some("string"),
            Kind::Timestamp => Some("timestamp"),
            Kind::List(_) | Kind::Map => None,
        }
    }

    fn shown(self) -> String {
        match self {
            Kind::List(items) => format!("list({})", items.unwrap_or("dyn")),
            Kind::Map => "map(string, dyn)".to_owned(),
            other => other.name().unwrap_or("dyn").to_owned(),
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Kind::Double | Kind::Int)
    }
}

/// Whether an expression certainly gives something else than a boolean.
pub(super) fn gives_no_bool(expression: &IdedExpr, node: &Node) -> bool {
    kind(expression, node).is_some_and(|kind| kind != Kind::Bool)
}

/// The first operator or function without an overload for its operands.
pub(super) fn overload_error(expression: &IdedExpr, node: &Node) -> Option<String> {
    let mut open = vec![expression];
    while let Some(expression) = open.pop() {
        if let Expr::Call(call) = &expression.expr
            && let Some(operands) = mismatch(call, node)
        {
            return Some(format!(
                "found no matching overload for '{}' applied to '{operands}'",
                call.func_name
            ));
        }
        open.extend(parts(&expression.expr));
    }
    None
}

/// The operands that a call has no overload for, as messages show them.
fn mismatch(call: &CallExpr, node: &Node) -> Option<String> {
    let target = call.target.as_deref().map(|target| kind(target, node));
    let arguments: Vec<Option<Kind>> = call.args.iter().map(|part| kind(part, node)).collect();
    let fits = match (call.func_name.as_str(), target, &arguments[..]) {
        (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, None, parts) => {
            parts.iter().flatten().all(|kind| *kind == Kind::Bool)
        }
        (
            operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS,
            None,
            [Some(one), Some(other)],
        ) => {
            let is_ordered =
                |kind: &Kind| !matches!(kind, Kind::List(_) | Kind::Map | Kind::Object);
            let are_numbers = one.is_number() && other.is_number();
            is_ordered(one) && is_ordered(other) && (are_numbers || is_alike(*one, *other))
        }
        (operators::EQUALS | operators::NOT_EQUALS, None, [Some(one), Some(other)]) => {
            is_alike(*one, *other)
        }
        (operators::ADD, None, [Some(one), Some(other)]) => {
            is_alike(*one, *other) && !matches!(one, Kind::Bool | Kind::Map | Kind::Object)
        }
        (
            operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE,
            None,
            [Some(one), Some(other)],
        ) => one == other && (one.is_number() || *one == Kind::Timestamp),
        (operators::MODULO, None, [Some(one), Some(other)]) => {
            (*one, *other) == (Kind::Int, Kind::Int)
        }
        (operators::NEGATE, None, [Some(one)]) => one.is_number(),
        (operators::IN, None, [one, Some(Kind::List(Some(items)))]) => {
            one.is_none_or(|one| one.name() == Some(*items))
        }
        (operators::IN, None, [one, Some(Kind::Map)]) => one.is_none_or(|one| one == Kind::String),
        (operators::IN, None, [_, Some(other)]) => matches!(other, Kind::List(_)),
        ("size", target, parts) if parts.len() + usize::from(target.is_some()) == 1 => {
            let has_size = |kind: &Kind| matches!(kind, Kind::List(_) | Kind::Map | Kind::String);
            parts.iter().chain(&target).flatten().all(has_size)
        }
        ("startsWith" | "endsWith" | "matches", Some(target), [argument]) => [target, *argument]
            .iter()
            .flatten()
            .all(|kind| *kind == Kind::String),
        _ => true,
    };
    (!fits).then(|| shown(target, &arguments))
}

/// Whether both may have the same type. Only the order of numbers of two types is known.
fn is_alike(one: Kind, other: Kind) -> bool {
    match (one, other) {
        (Kind::List(one), Kind::List(other)) => one.is_none() || other.is_none() || one == other,
        _ => one == other,
    }
}

fn shown(target: Option<Option<Kind>>, arguments: &[Option<Kind>]) -> String {
    let one = |kind: Option<Kind>| kind.map_or_else(|| "dyn".to_owned(), Kind::shown);
    let all: Vec<String> = arguments.iter().map(|kind| one(*kind)).collect();
    let target = target.map(|target| format!("{}.", one(target)));
    format!("{}({})", target.unwrap_or_default(), all.join(", "))
}

/// The type of an expression, if it is certain.
fn kind(expression: &IdedExpr, node: &Node) -> Option<Kind> {
    match &expression.expr {
        Expr::Literal(literal) => match literal {
            LiteralValue::Boolean(_) => Some(Kind::Bool),
            LiteralValue::Double(_) => Some(Kind::Double),
            LiteralValue::Int(_) => Some(Kind::Int),
            LiteralValue::String(_) => Some(Kind::String),
            LiteralValue::Bytes(_) | LiteralValue::Null | LiteralValue::UInt(_) => None,
        },
        Expr::Ident(_) => of_schema(schema_of(expression, node)?),
        Expr::Select(select) if select.test => Some(Kind::Bool),
        Expr::Select(_) => of_schema(schema_of(expression, node)?),
        Expr::List(list) => {
            let mut kinds = list.elements.iter().map(|item| kind(item, node));
            let first = kinds.next().flatten();
            let is_certain = kinds.all(|kind| kind == first);
            Some(Kind::List(
                first.filter(|_| is_certain).and_then(Kind::name),
            ))
        }
        Expr::Map(_) => None,
        Expr::Call(call) => of_call(call, node),
        Expr::Comprehension(_) | Expr::Struct(_) | Expr::Unspecified => None,
    }
}

fn of_call(call: &CallExpr, node: &Node) -> Option<Kind> {
    let first = || kind(call.args.first()?, node);
    match call.func_name.as_str() {
        operators::LOGICAL_AND
        | operators::LOGICAL_OR
        | operators::LOGICAL_NOT
        | operators::EQUALS
        | operators::NOT_EQUALS
        | operators::LESS
        | operators::LESS_EQUALS
        | operators::GREATER
        | operators::GREATER_EQUALS
        | operators::IN
        | "startsWith"
        | "endsWith"
        | "matches" => Some(Kind::Bool),
        // The difference of two times is a duration.
        operators::ADD
        | operators::SUBSTRACT
        | operators::MULTIPLY
        | operators::DIVIDE
        | operators::MODULO
        | operators::NEGATE => first().filter(|kind| *kind != Kind::Timestamp),
        "size" => Some(Kind::Int),
        "string" => Some(Kind::String),
        _ => None,
    }
}

/// The type of the values of a schema, as `SchemaDeclType` of apiserver's `pkg/cel/common` makes
/// it; formats make others of strings. That unknown fields are preserved does not matter there.
fn of_schema(node: &Node) -> Option<Kind> {
    if node.int_or_string {
        return None;
    }
    match node.types[..] {
        [Type::Boolean] => Some(Kind::Bool),
        [Type::Integer] => Some(Kind::Int),
        [Type::Number] => Some(Kind::Double),
        [Type::String] => match node.format.as_ref().map(|format| format.name.as_str()) {
            Some("date" | "date-time") => Some(Kind::Timestamp),
            Some("byte" | "duration") => None,
            _ => Some(Kind::String),
        },
        [Type::Array] => {
            let items = node.items.as_deref().and_then(of_schema);
            Some(Kind::List(items.and_then(Kind::name)))
        }
        [Type::Object] => match node.values() {
            Some(values) => of_schema(values).map(|_| Kind::Map),
            None => Some(Kind::Object),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Schema;
    use crate::cel::program::{Program, type_error};

    /// The error of a rule for a schema.
    fn error(schema: serde_json::Value, rule: &str) -> Option<String> {
        let schema = Schema::from_json(&schema).unwrap();
        type_error(&Program::compile(rule).unwrap(), &schema.root, false)
    }

    // The texts are those of cel-go, without the place in the rule.
    #[test]
    fn reports_operands_without_an_overload() {
        let integer = || json!({"type": "integer"});
        assert_eq!(
            error(integer(), "self > 'a'").as_deref(),
            Some("found no matching overload for '_>_' applied to '(int, string)'")
        );
        assert_eq!(
            error(integer(), "self.size() > 1").as_deref(),
            Some("found no matching overload for 'size' applied to 'int.()'")
        );
        for rule in [
            "self > 1",
            "self > 1.5",
            "self in [1, 2]",
            "string(self) == '1'",
        ] {
            assert_eq!(error(integer(), rule), None, "{rule}");
        }
        // Of numbers of two types only the order is known.
        let number = || json!({"type": "number"});
        for (schema, rule, operands) in [
            (
                number(),
                "self in [1, 4]",
                "'@in' applied to '(double, list(int))'",
            ),
            (
                number(),
                "1 in [self]",
                "'@in' applied to '(int, list(double))'",
            ),
            (
                integer(),
                "self in [1.5]",
                "'@in' applied to '(int, list(double))'",
            ),
            (
                number(),
                "self in ['a']",
                "'@in' applied to '(double, list(string))'",
            ),
            (number(), "self == 1", "'_==_' applied to '(double, int)'"),
        ] {
            let expected = format!("found no matching overload for {operands}");
            assert_eq!(
                error(schema, rule).as_deref(),
                Some(expected.as_str()),
                "{rule}"
            );
        }
        for rule in ["self in [1.0, 4.5]", "self > 1", "self in [double(1), 2.0]"] {
            assert_eq!(error(number(), rule), None, "{rule}");
        }
        let nested = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "string"}}}});
        assert!(error(nested.clone(), "has(self.a) && self.a").is_some());
        assert!(error(nested.clone(), "self.b + 1 == 2").is_some());
        for rule in [
            "self.b.all(x, x > 'a')",
            "self.a == 'x' || size(self.b) > 0",
            "'x' in self.b && self.b == ['x'] && self == oldSelf",
        ] {
            assert_eq!(error(nested.clone(), rule), None, "{rule}");
        }
        // An object with properties is not a map.
        for rule in [
            "'a' in self",
            "size(self) > 0",
            "1 in self.b",
            "self.b == [1]",
        ] {
            assert!(error(nested.clone(), rule).is_some(), "{rule}");
        }
        let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
        assert_eq!(error(map.clone(), "'a' in self && size(self) > 0"), None);
        assert!(error(map, "1 in self").is_some());
    }
}
