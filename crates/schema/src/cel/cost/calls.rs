//! What calls cost, and how large their results are.
//!
//! Source: `functionCost` in `checker/cost.go` and the sets and lists of `ext` in cel-go 0.26,
//! `pkg/cel/library/cost.go` of k8s.io/apiserver 0.34. The cost of arguments is not in it.

use kube_cel::cel::common::ast::{Expr, IdedExpr, LiteralValue, operators};

use super::Term;
use super::declared::Kind;
use super::size::{REGEX, Size, TRAVERSAL, scaled};

/// What a call costs and gives.
pub(super) struct Called {
    pub(super) cost: u64,
    pub(super) size: Option<Size>,
    pub(super) kind: Kind,
}

impl Called {
    fn new(cost: u64, kind: Kind) -> Self {
        Called {
            cost,
            size: None,
            kind,
        }
    }

    fn sized(cost: u64, size: Size, kind: Kind) -> Self {
        Called {
            cost,
            size: Some(size),
            kind,
        }
    }
}

/// An operator; none for what is not an operator of two values or one.
pub(super) fn operator(name: &str, args: &[Term<'_>]) -> Option<Called> {
    let [one, other] = args else {
        return negation(name, args);
    };
    Some(match name {
        operators::ADD => addition(one, other),
        operators::EQUALS | operators::NOT_EQUALS => {
            Called::new(comparison(one, other), Kind::Bool)
        }
        operators::LESS
        | operators::LESS_EQUALS
        | operators::GREATER
        | operators::GREATER_EQUALS => {
            let texts = [&one.kind, &other.kind]
                .iter()
                .all(|kind| matches!(kind, Kind::Text | Kind::Bytes));
            Called::new(if texts { comparison(one, other) } else { 1 }, Kind::Bool)
        }
        operators::IN => Called::new(
            if matches!(other.kind, Kind::List(_)) {
                other.size().max
            } else {
                1
            },
            Kind::Bool,
        ),
        operators::OPT_SELECT | operators::OPT_INDEX => Called::new(1, Kind::Unknown),
        operators::LOGICAL_AND | operators::LOGICAL_OR => Called::new(0, Kind::Bool),
        operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO => {
            Called::new(1, one.kind.clone())
        }
        _ => return None,
    })
}

fn negation(name: &str, args: &[Term<'_>]) -> Option<Called> {
    match name {
        operators::LOGICAL_NOT | operators::NOT_STRICTLY_FALSE => Some(Called::new(1, Kind::Bool)),
        operators::NEGATE => Some(Called::new(1, args.first()?.kind.clone())),
        _ => None,
    }
}

fn addition(one: &Term<'_>, other: &Term<'_>) -> Called {
    let size = one.size().plus(other.size());
    match (&one.kind, &other.kind) {
        (Kind::List(items), _) if **items != Kind::Unknown => {
            Called::sized(1, size, one.kind.clone())
        }
        (_, Kind::List(_)) => Called::sized(1, size, other.kind.clone()),
        (Kind::Text | Kind::Bytes, _) => {
            Called::sized(size.cost(TRAVERSAL), size, one.kind.clone())
        }
        (_, Kind::Text | Kind::Bytes) => {
            Called::sized(size.cost(TRAVERSAL), size, other.kind.clone())
        }
        _ => Called::new(1, one.kind.clone()),
    }
}

/// Two values are compared as far as the shorter goes. Two of which we know no size are taken for
/// cheap.
fn comparison(one: &Term<'_>, other: &Term<'_>) -> u64 {
    if [one, other]
        .iter()
        .all(|term| term.kind == Kind::Opaque || term.size.is_none())
    {
        return 1;
    }
    scaled(one.size().max.min(other.size().max), TRAVERSAL)
}

/// A function or method; none when we do not know it.
pub(super) fn function(
    name: &str,
    target: Option<&Term<'_>>,
    args: &[Term<'_>],
    written: &[IdedExpr],
) -> Option<Called> {
    of_kubernetes(name, target, args, written)
        .or_else(|| of_lists(name, target, args, written))
        .or_else(|| of_standard(name, target, args))
}

fn of_kubernetes(
    name: &str,
    target: Option<&Term<'_>>,
    args: &[Term<'_>],
    written: &[IdedExpr],
) -> Option<Called> {
    let first = args.first();
    let read = |term: &Term<'_>, kind| Called::new(term.size().cost(TRAVERSAL), kind);
    Some(match (name, target) {
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", Some(target)) => {
            match &target.kind {
                Kind::List(items) if matches!(**items, Kind::Text | Kind::Bytes) => {
                    let each = 1_u64
                        .saturating_add(target.elements().unwrap_or(Size::UNKNOWN).cost(TRAVERSAL));
                    Called::new(target.size().max.saturating_mul(each), Kind::Number)
                }
                Kind::List(_) => Called::new(target.size().max, Kind::Number),
                _ => read(target, Kind::Number),
            }
        }
        ("url" | "jsonpatch.escapeKey", None) => {
            Called::sized(first?.size().cost(TRAVERSAL), first?.size(), Kind::Opaque)
        }
        ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(target)) => {
            Called::sized(target.size().cost(TRAVERSAL), target.size(), Kind::Text)
        }
        ("replace", Some(target)) if args.len() >= 2 => {
            let size = replaced(target.size(), args[0].size(), args[1].size());
            Called::sized(target.size().cost(2.0 * TRAVERSAL), size, Kind::Text)
        }
        ("split", Some(target)) => {
            let most = written
                .get(1)
                .and_then(integer)
                .unwrap_or(target.size().max);
            Called::sized(
                target.size().cost(2.0 * TRAVERSAL),
                Size::up_to(most),
                Kind::list(Kind::Text),
            )
        }
        ("join", Some(target)) => {
            let size = joined(target, first);
            Called::sized(size.cost(TRAVERSAL), size, Kind::Text)
        }
        ("find" | "findAll", Some(target)) => {
            let text = target.size().plus(Size::exactly(1)).cost(TRAVERSAL);
            let cost = text.saturating_mul(first?.size().cost(REGEX));
            Called::sized(
                cost,
                Size::up_to(target.size().max),
                if name == "find" {
                    Kind::Text
                } else {
                    Kind::list(Kind::Text)
                },
            )
        }
        ("ip", Some(_)) => Called::new(1, Kind::Opaque),
        ("cidr" | "ip" | "quantity" | "semver", None) => read(first?, Kind::Opaque),
        ("isIP" | "isCIDR" | "isQuantity" | "isSemver", None) => read(first?, Kind::Bool),
        ("ip.isCanonical", None) => Called::new(first?.size().cost(2.0 * TRAVERSAL), Kind::Bool),
        ("containsIP", Some(_)) => Called::new(4 + parsed(first?), Kind::Bool),
        ("containsCIDR", Some(_)) => Called::new(7 + parsed(first?), Kind::Bool),
        ("validate", Some(_)) => Called::new(
            scaled(first?.size().cost(TRAVERSAL), 128.0 * REGEX),
            Kind::Opaque,
        ),
        _ => return None,
    })
}

/// An address that is given as a text is read first.
fn parsed(term: &Term<'_>) -> u64 {
    if term.kind == Kind::Text {
        term.size().cost(TRAVERSAL)
    } else {
        0
    }
}

/// The size of a text in which parts are replaced: the smallest by the largest, as often as they
/// fit.
fn replaced(text: Size, from: Size, to: Size) -> Size {
    let ceil = |one: u64, other: u64| {
        if one == u64::MAX {
            u64::MAX
        } else {
            one.div_ceil(other)
        }
    };
    let (most, kept_most) = match () {
        () if from.min == 0 => (text.max.saturating_add(1), text.max),
        () if to.max <= from.min => (0, text.max),
        () => (ceil(text.max, from.min), 0),
    };
    let (least, kept_least) = match () {
        () if from.max == 0 => (text.min.saturating_add(1), text.min),
        () if from.max <= to.min => (0, text.min),
        () => (ceil(text.min, from.max), 0),
    };
    Size {
        min: least,
        max: most,
    }
    .times(to)
    .plus(Size {
        min: kept_least,
        max: kept_most,
    })
}

fn joined(list: &Term<'_>, separator: Option<&Term<'_>>) -> Size {
    let count = list.size();
    let items = count.times(list.elements().unwrap_or(Size::UNKNOWN));
    let gaps = Size {
        min: count.min.saturating_sub(1),
        max: count.max.saturating_sub(1),
    };
    separator.map_or(items, |separator| items.plus(separator.size().times(gaps)))
}

fn of_lists(
    name: &str,
    target: Option<&Term<'_>>,
    args: &[Term<'_>],
    written: &[IdedExpr],
) -> Option<Called> {
    let allocating = |size: Size, factor: f64, kind: Kind| {
        Called::sized(size.cost(factor).saturating_add(11), size, kind)
    };
    let crossed = |factor: f64| {
        let size = args.first()?.size().times(args.get(1)?.size());
        Some(Called::new(size.cost(factor).saturating_add(1), Kind::Bool))
    };
    Some(match (name, target) {
        ("sets.contains" | "sets.intersects", None) => return crossed(1.0),
        ("sets.equivalent", None) => return crossed(2.0),
        ("lists.range", None) => allocating(
            Size::exactly(written.first().and_then(integer).unwrap_or(u64::MAX)),
            1.0,
            Kind::list(Kind::Number),
        ),
        ("reverse", Some(list)) if matches!(list.kind, Kind::List(_)) => {
            allocating(list.size(), 1.0, list.kind.clone())
        }
        ("flatten", Some(list)) => {
            let depth =
                u32::try_from(written.first().and_then(integer).unwrap_or(1)).unwrap_or(u32::MAX);
            allocating(list.size(), f64::from(depth), Kind::list(Kind::Unknown))
        }
        ("distinct" | "sort", Some(list)) => {
            allocating(list.size().times(list.size()), 2.0, list.kind.clone())
        }
        _ => return None,
    })
}

fn of_standard(name: &str, target: Option<&Term<'_>>, args: &[Term<'_>]) -> Option<Called> {
    const BOOLEAN: [&str; 18] = [
        "hasValue",
        "isGreaterThan",
        "isLessThan",
        "isInteger",
        "isUnspecified",
        "isLoopback",
        "isLinkLocalMulticast",
        "isLinkLocalUnicast",
        "isGlobalUnicast",
        "bool",
        "isURL",
        "math.isNaN",
        "math.isInf",
        "math.isFinite",
        "isIPv4",
        "isIPv6",
        "isCIDRv4",
        "isCIDRv6",
    ];
    const NUMBER: [&str; 23] = [
        "size",
        "int",
        "uint",
        "double",
        "sign",
        "asInteger",
        "asApproximateFloat",
        "compareTo",
        "major",
        "minor",
        "patch",
        "family",
        "prefixLength",
        "getFullYear",
        "getMonth",
        "getDayOfYear",
        "getDayOfMonth",
        "getDate",
        "getDayOfWeek",
        "getHours",
        "getMinutes",
        "getSeconds",
        "getMilliseconds",
    ];
    const OPAQUE: [&str; 3] = ["add", "sub", "masked"];
    let first = args.first();
    Some(match (name, target) {
        ("format", Some(target)) => Called::new(target.size().cost(TRAVERSAL), Kind::Text),
        ("startsWith" | "endsWith", Some(_)) => {
            Called::new(first?.size().cost(TRAVERSAL), Kind::Bool)
        }
        ("matches", Some(text)) => Called::new(matching(text, first?), Kind::Bool),
        ("matches", None) => Called::new(matching(first?, args.get(1)?), Kind::Bool),
        ("contains", Some(text)) => Called::new(
            text.size()
                .cost(TRAVERSAL)
                .saturating_mul(first?.size().cost(TRAVERSAL)),
            Kind::Bool,
        ),
        ("string", None) if first?.kind == Kind::Bytes => {
            let size = first?.size();
            Called::sized(
                size.cost(TRAVERSAL),
                Size {
                    min: size.min / 4,
                    max: size.max,
                },
                Kind::Text,
            )
        }
        ("bytes", None) => {
            let size = first?.size();
            Called::sized(
                size.cost(TRAVERSAL),
                Size {
                    min: size.min,
                    max: size.max.saturating_mul(4),
                },
                Kind::Bytes,
            )
        }
        ("strings.quote", None) => {
            let size = first?.size();
            let most = size.max.saturating_mul(2).saturating_add(2);
            Called::sized(
                size.cost(TRAVERSAL),
                Size {
                    min: size.min + 2,
                    max: most,
                },
                Kind::Text,
            )
        }
        ("string" | "charAt", _) => Called::new(1, Kind::Text),
        ("type" | "value" | "orValue", _) => Called::new(1, Kind::Unknown),
        ("timestamp" | "duration", None) => Called::new(1, Kind::Time),
        _ if name.starts_with("format.") || name.starts_with("optional.") => {
            Called::new(1, Kind::Opaque)
        }
        _ if BOOLEAN.contains(&name) => Called::new(1, Kind::Bool),
        _ if NUMBER.contains(&name) => Called::new(1, Kind::Number),
        _ if OPAQUE.contains(&name) => Called::new(1, Kind::Opaque),
        _ => return None,
    })
}

fn matching(text: &Term<'_>, pattern: &Term<'_>) -> u64 {
    text.size()
        .plus(Size::exactly(1))
        .cost(TRAVERSAL)
        .saturating_mul(pattern.size().cost(REGEX))
}

/// The value of a whole number that is in the expression.
fn integer(written: &IdedExpr) -> Option<u64> {
    match &written.expr {
        Expr::Literal(LiteralValue::Int(number)) => Some(number.inner().cast_unsigned()),
        _ => None,
    }
}
