//! Lists: sprig's `list.go`.

use std::collections::BTreeSet;

use super::arguments::{Arguments, any, list, named_list};
use super::numbers::to_int;
use super::values::{key, key_of, kind_of};
use crate::functions::{CallFault, Called, rejected};
use crate::held::Held;
use windlass_go_text::value::Value;

/// The items of an argument; `action` is in the message where it is not a list.
fn items<'h>(arguments: &Arguments<'h>, index: usize, action: &str) -> Called<&'h [Value]> {
    match arguments.value(index) {
        Value::List(items) => Ok(items),
        Value::Nil => rejected("runtime error: invalid memory address or nil pointer dereference"),
        _ => rejected(format!(
            "Cannot {action} on type {}",
            kind_of(&arguments.0[index])
        )),
    }
}

pub(super) fn append(arguments: &Arguments<'_>) -> Called<Held> {
    list(
        items(arguments, 0, "push")?
            .iter()
            .chain([arguments.value(1)])
            .cloned(),
    )
}

pub(super) fn prepend(arguments: &Arguments<'_>) -> Called<Held> {
    list(
        [arguments.value(1)]
            .into_iter()
            .chain(items(arguments, 0, "prepend")?.iter())
            .cloned(),
    )
}

pub(super) fn one(
    arguments: &Arguments<'_>,
    action: &str,
    pick: fn(&[Value]) -> Option<&Value>,
) -> Called<Held> {
    any(pick(items(arguments, 0, action)?)
        .cloned()
        .unwrap_or(Value::Nil))
}

pub(super) fn some(
    arguments: &Arguments<'_>,
    action: &str,
    pick: fn(&[Value]) -> &[Value],
) -> Called<Held> {
    let items = items(arguments, 0, action)?;
    list(
        if items.is_empty() {
            &[][..]
        } else {
            pick(items)
        }
        .iter()
        .cloned(),
    )
}

pub(super) fn reverse(arguments: &Arguments<'_>) -> Called<Held> {
    list(items(arguments, 0, "find reverse")?.iter().rev().cloned())
}

pub(super) fn compact(arguments: &Arguments<'_>) -> Called<Held> {
    list(
        items(arguments, 0, "compact")?
            .iter()
            .filter(|item| item.truth())
            .cloned(),
    )
}

pub(super) fn uniq(arguments: &Arguments<'_>) -> Called<Held> {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for item in items(arguments, 0, "find uniq")?.iter() {
        if seen.insert(key_of(item)?) {
            kept.push(item.clone());
        }
    }
    list(kept)
}

pub(super) fn without(arguments: &Arguments<'_>) -> Called<Held> {
    let omitted: BTreeSet<Vec<u8>> = arguments.0[1..].iter().map(key).collect::<Called<_>>()?;
    let mut kept = Vec::new();
    for item in items(arguments, 0, "find without")?.iter() {
        if !omitted.contains(&key_of(item)?) {
            kept.push(item.clone());
        }
    }
    list(kept)
}

pub(super) fn has(arguments: &Arguments<'_>) -> Called<Held> {
    let needle = key(&arguments.0[0])?;
    if *arguments.value(1) == Value::Nil {
        return super::arguments::truth(false);
    }
    for item in items(arguments, 1, "find has")?.iter() {
        if key_of(item)? == needle {
            return super::arguments::truth(true);
        }
    }
    super::arguments::truth(false)
}

pub(super) fn slice(arguments: &Arguments<'_>) -> Called<Held> {
    let Value::List(items) = arguments.value(0) else {
        return rejected(format!(
            "list should be type of slice or array but {}",
            kind_of(&arguments.0[0])
        ));
    };
    if items.is_empty() {
        return any(Value::Nil);
    }
    let bound = |index: usize, absent: usize| match arguments.0.get(index) {
        Some(held) => usize::try_from(to_int(&held.value))
            .ok()
            .filter(|at| *at <= items.len()),
        None => Some(absent),
    };
    match (bound(1, 0), bound(2, items.len())) {
        (Some(start), Some(end)) if start <= end => Ok(Held {
            boxed: true,
            ..Held::plain(Value::list(items[start..end].iter().cloned()))
        }),
        _ => rejected("reflect.Value.Slice: slice index out of bounds"),
    }
}

pub(super) fn concat(arguments: &Arguments<'_>) -> Called<Held> {
    let mut all = Vec::new();
    for held in arguments.0 {
        let Value::List(items) = &held.value else {
            return rejected(format!("Cannot concat type {} as list", kind_of(held)));
        };
        all.extend(items.iter().cloned());
        if all.len() > super::super::MAX_VALUE / 32 {
            return Err(CallFault::TooLarge);
        }
    }
    Ok(Held {
        boxed: true,
        ..list(all)?
    })
}

pub(super) fn chunk(arguments: &Arguments<'_>) -> Called<Held> {
    let Value::List(items) = arguments.value(1) else {
        return rejected(format!("Cannot chunk type {}", kind_of(&arguments.0[1])));
    };
    match usize::try_from(arguments.int(0)) {
        Ok(size @ 1..) => named_list(
            items
                .chunks(size)
                .map(|items| Value::list(items.iter().cloned())),
            "[][]interface {}",
        ),
        _ => rejected("runtime error: makeslice: len out of range"),
    }
}
