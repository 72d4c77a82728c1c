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
    List,
    Map,
    String,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::Double => "double",
            Kind::Int => "int",
            Kind::List => "list(dyn)",
            Kind::Map => "map(string, dyn)",
            Kind::String => "string",
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
            let is_ordered = |kind: &Kind| !matches!(kind, Kind::List | Kind::Map);
            is_ordered(one) && is_ordered(other) && is_alike(*one, *other)
        }
        (operators::EQUALS | operators::NOT_EQUALS, None, [Some(one), Some(other)]) => {
            is_alike(*one, *other)
        }
        (operators::ADD, None, [Some(one), Some(other)]) => {
            one == other && !matches!(one, Kind::Bool | Kind::Map)
        }
        (
            operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE,
            None,
            [Some(one), Some(other)],
        ) => one == other && one.is_number(),
        (operators::MODULO, None, [Some(one), Some(other)]) => {
            (*one, *other) == (Kind::Int, Kind::Int)
        }
        (operators::NEGATE, None, [Some(one)]) => one.is_number(),
        (operators::IN, None, [_, Some(other)]) => matches!(other, Kind::List | Kind::Map),
        ("size", target, parts) if parts.len() + usize::from(target.is_some()) == 1 => {
            let has_size = |kind: &Kind| matches!(kind, Kind::List | Kind::Map | Kind::String);
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

/// Numbers of both types can be compared.
fn is_alike(one: Kind, other: Kind) -> bool {
    one == other || one.is_number() && other.is_number()
}

fn shown(target: Option<Option<Kind>>, arguments: &[Option<Kind>]) -> String {
    let one = |kind: Option<Kind>| kind.map_or("dyn", Kind::as_str);
    let all: Vec<&str> = arguments.iter().map(|kind| one(*kind)).collect();
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
        Expr::List(_) => Some(Kind::List),
        Expr::Map(_) => Some(Kind::Map),
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
        operators::ADD
        | operators::SUBSTRACT
        | operators::MULTIPLY
        | operators::DIVIDE
        | operators::MODULO
        | operators::NEGATE => first(),
        "size" => Some(Kind::Int),
        "string" => Some(Kind::String),
        _ => None,
    }
}

/// The type of the values of a schema; formats make others of strings.
fn of_schema(node: &Node) -> Option<Kind> {
    if node.int_or_string || node.preserve_unknown || node.embedded_resource {
        return None;
    }
    match node.types[..] {
        [Type::Boolean] => Some(Kind::Bool),
        [Type::Integer] => Some(Kind::Int),
        [Type::Number] => Some(Kind::Double),
        [Type::String] if node.format.is_none() => Some(Kind::String),
        [Type::Array] => Some(Kind::List),
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
        let nested = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "string"}}}});
        assert!(error(nested.clone(), "has(self.a) && self.a").is_some());
        assert!(error(nested.clone(), "self.b + 1 == 2").is_some());
        for rule in [
            "self.b.all(x, x > 'a')",
            "self.a == 'x' || size(self.b) > 0",
        ] {
            assert_eq!(error(nested.clone(), rule), None, "{rule}");
        }
    }
}
