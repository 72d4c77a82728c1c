//! Maps: sprig's `dict.go`.

use std::collections::BTreeSet;

use super::arguments::{Arguments, any, list, texts};
use super::values::shown;
use crate::functions::{Called, rejected};
use crate::held::Held;
use windlass_go_text::value::Value;

pub(super) fn dict(arguments: &Arguments<'_>) -> Called<Held> {
    let mut entries = Vec::new();
    for pair in arguments.0.chunks(2) {
        let key = String::from_utf8_lossy(&shown(&pair[0].value)?).into_owned();
        entries.push((
            key,
            pair.get(1)
                .map_or(Value::text(""), |held| held.value.clone()),
        ));
    }
    Ok(Held::plain(Value::map(entries)))
}

pub(super) fn get(arguments: &Arguments<'_>) -> Called<Held> {
    any(arguments
        .map(0)
        .get(&*arguments.text(1))
        .cloned()
        .unwrap_or(Value::text("")))
}

pub(super) fn pluck(arguments: &Arguments<'_>) -> Called<Held> {
    let key = arguments.text(0);
    list((1..arguments.0.len()).filter_map(|index| arguments.map(index).get(&*key).cloned()))
}

pub(super) fn keys(arguments: &Arguments<'_>) -> Called<Held> {
    texts(
        (0..arguments.0.len())
            .flat_map(|index| arguments.map(index).keys().cloned().collect::<Vec<_>>()),
    )
}

/// `pick`, or `omit`.
pub(super) fn filtered(arguments: &Arguments<'_>, named: bool) -> Called<Held> {
    let names: BTreeSet<String> = (1..arguments.0.len())
        .map(|index| arguments.text(index).into_owned())
        .collect();
    let entries = arguments.map(0);
    let kept = entries
        .iter()
        .filter(|(key, _)| names.contains(*key) == named);
    Ok(Held::plain(Value::map(
        kept.map(|(key, value)| (key.clone(), value.clone())),
    )))
}

pub(super) fn dig(arguments: &Arguments<'_>) -> Called<Held> {
    let conversion = |value: &Value, wanted: &str| match value {
        Value::Nil => rejected(format!(
            "interface conversion: interface {{}} is nil, not {wanted}"
        )),
        other => rejected(format!(
            "interface conversion: interface {{}} is {}, not {wanted}",
            other.type_name()
        )),
    };
    let [keys @ .., default, map] = arguments.0 else {
        return rejected("dig needs at least three arguments");
    };
    if keys.is_empty() {
        return rejected("dig needs at least three arguments");
    }
    let mut step = map.value.clone();
    for key in keys {
        let Value::Map(entries) = &step else {
            return conversion(&step, "map[string]interface {}");
        };
        let Value::Text(key) = &key.value else {
            return conversion(&key.value, "string");
        };
        match entries.get(&*String::from_utf8_lossy(key)) {
            Some(next) => step = next.clone(),
            None => return any(default.value.clone()),
        }
    }
    any(step)
}
