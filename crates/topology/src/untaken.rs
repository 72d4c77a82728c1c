//! What the patches of a class do not do to a template, recorded while they are applied.

use std::sync::Arc;

use serde_json::Value;

use super::class::{Class, definitions, patch_name};
use super::history::{Condition, Reason, Untaken, Unwritten};
use super::items::Item;
use super::made::{pay, weight};
use super::part::Part;
use super::scope::Scope;
use super::values::{Ready, condition, value};
use windlass_source::budget::Budget;

/// Records for each template what a patch does not do to it; `generated` is what it does to others.
pub(super) fn record(
    class: &Class<'_>,
    patch: &Part<'_>,
    generated: &[(usize, Vec<Ready<'_>>)],
    items: &mut [Item<'_, '_>],
    scopes: &[Scope<'_>],
    budget: &Budget,
) {
    if items.iter().all(|item| item.history.is_none()) {
        return;
    }
    let all: Vec<Part<'_>> = definitions(patch).collect();
    // What definitions write for others is the same for all whom they are not for.
    let mut of_others: Vec<Option<Arc<[Unwritten]>>> = vec![None; all.len()];
    for item in items.iter_mut().filter(|item| item.history.is_some()) {
        let scope = &scopes[item.scope];
        let mut gave = None;
        let mut untaken = Vec::new();
        for (definition, of_others) in all.iter().zip(&mut of_others) {
            let name = patch_name(patch).to_owned();
            if let Some((misfit, part)) = item.misfit(&definition.field("selector")) {
                let writes = of_others
                    .get_or_insert_with(|| for_others(class, definition, generated, scope, budget));
                untaken.push(Untaken {
                    patch: name,
                    reason: Reason::Selector(misfit),
                    stand: part.stand(),
                    writes: Arc::clone(writes),
                });
                continue;
            }
            let gave = gave.get_or_insert_with(|| {
                condition(class, &patch.field("enabledIf"), scope, budget)
                    .unwrap_or(Value::Bool(true))
            });
            if *gave != Value::Bool(true) {
                let reason = Reason::Disabled {
                    condition: Box::new(Condition::of(patch)),
                    gave: gave.clone(),
                };
                let writes = unwritten(class, definition, scope, budget);
                untaken.push(Untaken {
                    patch: name,
                    reason,
                    stand: patch.field("enabledIf").stand(),
                    writes,
                });
            }
        }
        if let Some(history) = &mut item.history {
            let is_on = gave == Some(Value::Bool(true)) && patch.field("enabledIf").is_there();
            history
                .conditions
                .extend(is_on.then(|| Condition::of(patch)));
            history.untaken.append(&mut untaken);
        }
    }
}

/// Records for each template that a runtime extension has a patch for it, or not.
pub(super) fn record_external(patch: &Part<'_>, items: &mut [Item<'_, '_>]) {
    for history in items.iter_mut().filter_map(|item| item.history.as_mut()) {
        let stand = patch.field("external").stand();
        history.untaken.push(Untaken {
            patch: patch_name(patch).to_owned(),
            reason: Reason::External,
            stand,
            writes: Arc::default(),
        });
    }
}

/// What a definition writes for others, or would write if there were such.
fn for_others(
    class: &Class<'_>,
    definition: &Part<'_>,
    generated: &[(usize, Vec<Ready<'_>>)],
    scope: &Scope<'_>,
    budget: &Budget,
) -> Arc<[Unwritten]> {
    let is_of_it = |operation: &Part<'_>| operation.is_within(definition);
    let found = generated.iter().find(|(_, operations)| {
        operations
            .first()
            .is_some_and(|(operation, _)| is_of_it(operation))
    });
    match found {
        Some((_, operations)) => held(
            operations
                .iter()
                .map(|(operation, value)| (operation.clone(), value.clone())),
            budget,
        ),
        None => unwritten(class, definition, scope, budget),
    }
}

/// What a definition would write, as far as it has a value.
fn unwritten(
    class: &Class<'_>,
    definition: &Part<'_>,
    scope: &Scope<'_>,
    budget: &Budget,
) -> Arc<[Unwritten]> {
    let operations = definition.field("jsonPatches").items();
    held(
        operations.filter_map(|operation| {
            Some((
                operation.clone(),
                value(class, &operation, scope, budget).ok()?,
            ))
        }),
        budget,
    )
}

/// What operations write, as far as the run may hold it.
fn held<'o>(operations: impl Iterator<Item = Ready<'o>>, budget: &Budget) -> Arc<[Unwritten]> {
    let writes = operations.filter(|(operation, _)| operation.field("op").text() != "remove");
    let paid = writes.map_while(|(operation, value)| {
        pay(budget, weight(&value))
            .ok()
            .map(|()| (operation, value))
    });
    paid.map(|(operation, value)| {
        let path = operation.field("path");
        Unwritten {
            path: path.text().to_owned(),
            value,
            stand: path.stand(),
        }
    })
    .collect()
}
