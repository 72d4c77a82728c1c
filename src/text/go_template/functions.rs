//! Go's own functions, and literals.

use std::cmp::Ordering;

use super::format;
use super::value::Value;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    And,
    Or,
    Not,
    Len,
    Index,
    Slice,
    Print,
    Printf,
    Println,
    Html,
    Js,
    UrlQuery,
    Call,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

const NAMES: [(&str, Function); 19] = [
    ("and", Function::And),
    ("or", Function::Or),
    ("not", Function::Not),
    ("len", Function::Len),
    ("index", Function::Index),
    ("slice", Function::Slice),
    ("print", Function::Print),
    ("printf", Function::Printf),
    ("println", Function::Println),
    ("html", Function::Html),
    ("js", Function::Js),
    ("urlquery", Function::UrlQuery),
    ("call", Function::Call),
    ("eq", Function::Eq),
    ("ne", Function::Ne),
    ("lt", Function::Lt),
    ("le", Function::Le),
    ("gt", Function::Gt),
    ("ge", Function::Ge),
];

/// Why a call fails.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CallFault {
    /// The function's own error, in Go's words.
    Go(String),
    /// The wrong number of arguments, in Go's words.
    Arguments(String),
    /// What this reader does not know.
    Unsupported(String),
}

/// The function of that name.
pub(super) fn find(name: &str) -> Option<Function> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

impl Function {
    pub(super) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }

    /// Whether this value decides `and` or `or`.
    pub(super) fn stops_at(self, value: &Value) -> bool {
        (self == Function::And && !value.truth()) || (self == Function::Or && value.truth())
    }
}

/// Calls a function.
pub(super) fn call(function: Function, arguments: &[Value]) -> Result<Value, CallFault> {
    let wrong = |wanted: &str| {
        Err(CallFault::Arguments(format!(
            "wrong number of args for {}: want {wanted} got {}",
            function.name(),
            arguments.len()
        )))
    };
    let text = |text: String| Ok(Value::Text(text));
    match (function, arguments) {
        (Function::And | Function::Or, [.., last]) => Ok(last.clone()),
        (Function::Not, [value]) => Ok(Value::Bool(!value.truth())),
        (Function::Len, [value]) => len(value),
        (Function::Index, [value, keys @ ..]) => keys.iter().try_fold(value.clone(), |value, key| index(&value, key)),
        (Function::Slice, [value, bounds @ ..]) => slice(value, bounds),
        (Function::Print, arguments) => text(format::print(arguments)),
        (Function::Println, arguments) => text(format::println(arguments)),
        (Function::Printf, [Value::Text(pattern), arguments @ ..]) => {
            format::printf(pattern, arguments).map(Value::Text).map_err(CallFault::Unsupported)
        }
        (Function::Html, arguments) => text(format::html(&format::print(arguments))),
        (Function::Js, arguments) => text(format::js(&format::print(arguments))),
        (Function::UrlQuery, arguments) => text(format::url_query(&format::print(arguments))),
        (Function::Eq, [first, others @ ..]) if !others.is_empty() => {
            let equal: Result<Vec<bool>, CallFault> = others.iter().map(|other| equals(first, other)).collect();
            Ok(Value::Bool(equal?.into_iter().any(|equal| equal)))
        }
        (Function::Eq, [_]) => Err(CallFault::Go("missing argument for comparison".to_owned())),
        (Function::Ne, [first, second]) => equals(first, second).map(|equal| Value::Bool(!equal)),
        (Function::Lt, [first, second]) => order(first, second).map(|order| Value::Bool(order == Some(Ordering::Less))),
        (Function::Le, [first, second]) => {
            order(first, second).map(|order| Value::Bool(matches!(order, Some(Ordering::Less | Ordering::Equal))))
        }
        (Function::Gt, [first, second]) => order(first, second).map(|order| Value::Bool(order == Some(Ordering::Greater))),
        (Function::Ge, [first, second]) => {
            order(first, second).map(|order| Value::Bool(matches!(order, Some(Ordering::Greater | Ordering::Equal))))
        }
        (Function::Call, _) => Err(CallFault::Unsupported("function `call`".to_owned())),
        (Function::Printf, [_, ..]) => Err(CallFault::Unsupported("`printf` without a text".to_owned())),
        (Function::And | Function::Or | Function::Eq | Function::Index | Function::Slice | Function::Printf, _) => wrong("at least 1"),
        (Function::Not | Function::Len, _) => wrong("1"),
        (Function::Ne | Function::Lt | Function::Le | Function::Gt | Function::Ge, _) => wrong("2"),
    }
}

fn len(value: &Value) -> Result<Value, CallFault> {
    match value {
        Value::Text(text) => Ok(Value::Int(text.len() as i64)),
        Value::Map(map) => Ok(Value::Int(map.len() as i64)),
        Value::Nil | Value::Missing => Err(CallFault::Go("len of nil pointer".to_owned())),
        other => Err(CallFault::Go(format!("len of type {}", other.kind()))),
    }
}

fn index(value: &Value, key: &Value) -> Result<Value, CallFault> {
    match (value, key) {
        (Value::Map(map), Value::Text(key)) => Ok(map.get(key).cloned().unwrap_or(Value::Missing)),
        (Value::Text(text), Value::Int(at)) => {
            let byte = usize::try_from(*at).ok().and_then(|at| text.as_bytes().get(at));
            byte.map(|byte| Value::Int(i64::from(*byte))).ok_or_else(|| CallFault::Go(format!("index out of range: {at}")))
        }
        (Value::Text(_), other) => Err(CallFault::Go(format!("cannot index slice/array with type {}", other.kind()))),
        (Value::Nil | Value::Missing, _) => Err(CallFault::Go("index of untyped nil".to_owned())),
        (other, _) => Err(CallFault::Go(format!("can't index item of type {}", other.kind()))),
    }
}

fn slice(value: &Value, bounds: &[Value]) -> Result<Value, CallFault> {
    let Value::Text(text) = value else { return Err(CallFault::Go(format!("can't slice item of type {}", value.kind()))) };
    let bound = |at: usize, default: usize| match bounds.get(at) {
        None => Ok(default),
        Some(Value::Int(bound)) => usize::try_from(*bound)
            .ok()
            .filter(|bound| *bound <= text.len())
            .ok_or_else(|| CallFault::Go(format!("index out of range: {bound}"))),
        Some(other) => Err(CallFault::Go(format!("cannot index slice/array with type {}", other.kind()))),
    };
    let (start, end) = (bound(0, 0)?, bound(1, text.len())?);
    if start > end {
        return Err(CallFault::Go(format!("invalid slice index: {start} > {end}")));
    }
    let cut = text.get(start..end).map(|part| Value::Text(part.to_owned()));
    cut.ok_or_else(|| CallFault::Unsupported("`slice` within a character".to_owned()))
}

fn incompatible(first: &Value, second: &Value) -> CallFault {
    CallFault::Go(format!("incompatible types for comparison: {} and {}", first.kind(), second.kind()))
}

fn equals(first: &Value, second: &Value) -> Result<bool, CallFault> {
    match (first, second) {
        (Value::Map(_), _) | (_, Value::Map(_)) => Err(CallFault::Unsupported("a comparison of maps".to_owned())),
        (Value::Nil | Value::Missing, Value::Nil | Value::Missing) => Ok(true),
        (Value::Nil | Value::Missing, _) | (_, Value::Nil | Value::Missing) => Ok(false),
        _ if first.kind() == second.kind() => Ok(first == second),
        _ => Err(incompatible(first, second)),
    }
}

fn order(first: &Value, second: &Value) -> Result<Option<Ordering>, CallFault> {
    match (first, second) {
        (Value::Int(first), Value::Int(second)) => Ok(Some(first.cmp(second))),
        (Value::Float(first), Value::Float(second)) => Ok(first.partial_cmp(second)),
        (Value::Text(first), Value::Text(second)) => Ok(Some(first.cmp(second))),
        _ => Err(incompatible(first, second)),
    }
}

/// A literal: a string, a character, a number, `true`, `false` or `nil`.
pub(super) fn literal(word: &str) -> Option<Value> {
    match word {
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        "nil" => return Some(Value::Nil),
        _ => {}
    }
    let inner = |quote: char| word.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(raw) = inner('`') {
        return Some(Value::Text(raw.replace('\r', "")));
    }
    if let Some(text) = inner('"') {
        return unquoted(text).map(Value::Text);
    }
    if let Some(text) = inner('\'') {
        let text = unquoted(text)?;
        let mut chars = text.chars();
        return chars.next().filter(|_| chars.as_str().is_empty()).map(|c| Value::Int(i64::from(u32::from(c))));
    }
    number(word)
}

fn number(word: &str) -> Option<Value> {
    let (negative, digits) = word.strip_prefix('-').map_or((false, word.strip_prefix('+').unwrap_or(word)), |rest| (true, rest));
    let plain = digits.replace('_', "");
    let radix =
        |prefixes: [&str; 2], radix| prefixes.iter().find_map(|prefix| i64::from_str_radix(plain.strip_prefix(prefix)?, radix).ok());
    let octal = || plain.strip_prefix('0').filter(|rest| !rest.is_empty()).and_then(|rest| i64::from_str_radix(rest, 8).ok());
    let whole = radix(["0x", "0X"], 16).or_else(|| radix(["0b", "0B"], 2)).or_else(|| radix(["0o", "0O"], 8)).or_else(octal);
    let decimal = || if plain.len() > 1 && plain.starts_with('0') { None } else { plain.parse::<i64>().ok() };
    if let Some(int) = whole.or_else(decimal) {
        return Some(Value::Int(if negative { -int } else { int }));
    }
    let is_float =
        plain.starts_with(|c: char| c.is_ascii_digit() || c == '.') && plain.contains(['.', 'e', 'E']) && !plain.contains(['x', 'X']);
    let float = is_float.then(|| plain.parse::<f64>().ok()).flatten()?;
    Some(Value::Float(if negative { -float } else { float }))
}

/// The text of a quoted string without its quotes (`strconv.Unquote`); bytes above 127 by number are not taken.
fn unquoted(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let kind = chars.next()?;
        let mut hex = |digits: usize| {
            let taken: String = chars.by_ref().take(digits).collect();
            u32::from_str_radix(&taken, 16).ok().filter(|_| taken.len() == digits)
        };
        out.push(match kind {
            'x' => char::from_u32(hex(2).filter(|byte| *byte < 0x80)?)?,
            'u' => char::from_u32(hex(4)?)?,
            'U' => char::from_u32(hex(8)?)?,
            simple => {
                let known = [('a', '\u{7}'), ('b', '\u{8}'), ('f', '\u{c}'), ('n', '\n'), ('r', '\r'), ('t', '\t'), ('v', '\u{b}')];
                let mut known = known.into_iter().chain([('\\', '\\'), ('"', '"'), ('\'', '\'')]);
                known.find(|(name, _)| *name == simple)?.1
            }
        });
    }
    Some(out)
}
