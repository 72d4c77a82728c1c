//! The patches of a class, one after the other: `Apply` of Cluster API's patch engine.

use serde_json::Value;

use super::class::{Class, definitions, patch_name};
use super::items::{Item, Write, keep};
use super::made::{PLAN_LESS, pay, weight};
use super::origins;
use super::part::Part;
use super::scope::Scope;
use super::usage::names_in;
use super::values::{Failure, Ready, condition, value};
use super::{Options, PATCH_EXTERNAL, PATCH_FAILS, PATCH_UNUSED, untaken};
use windlass_objects::json_patch::{self, Operation};
use windlass_source::budget::{Budget, Exceeded};
use windlass_source::diag::{Diagnostic, Quoted, Remedy, Report, Setting, Text};

/// What stands before each message of the engine.
const STEP: &str =
    "error computing the desired state of the Cluster topology: failed to apply patches: ";

/// Applies all patches. Says whether the templates may be used: not when Cluster API would have
/// stopped.
pub(super) fn apply(
    class: &Class<'_>,
    items: &mut [Item<'_, '_>],
    scopes: &[Scope<'_>],
    options: &Options,
    budget: &Budget,
    report: &mut Report,
) -> bool {
    for patch in &class.patches {
        if patch.field("definitions").items().next().is_none() {
            if !without_definitions(patch, options, report) {
                return false;
            }
            untaken::record_external(patch, items);
            continue;
        }
        let generated = match generate(class, patch, items, scopes, budget) {
            Ok(generated) => generated,
            Err(failures) => {
                tell(patch, failures, report);
                return false;
            }
        };
        if generated.is_empty()
            && !items.iter().any(|item| {
                definitions(patch).any(|definition| item.matches(&definition.field("selector")))
            })
        {
            let message = format!(
                "the patch `{}` is for no template of this topology",
                patch_name(patch)
            );
            let help = "name in its selectors a template that the class uses, or leave it for other Clusters of the class";
            report.push(
                Diagnostic::of(&PATCH_UNUSED, message)
                    .at(patch.field("name").place())
                    .help(help),
            );
        }
        untaken::record(class, patch, &generated, items, scopes, budget);
        for (at, operations) in generated {
            if let Err(finding) = change(class, patch, &mut items[at], operations, budget) {
                report.push(*finding);
                return false;
            }
        }
    }
    true
}

/// A patch that something else computes, or nothing. Says whether the others may go on.
fn without_definitions(patch: &Part<'_>, options: &Options, report: &mut Report) -> bool {
    let external = patch.field("external");
    let is_generator = ["generatePatchesExtension", "generateExtension"]
        .iter()
        .any(|key| !external.field(key).text().is_empty());
    if !is_generator {
        let upstream = format!(
            "{STEP}failed to create patch generator for patch \"{}\"",
            patch_name(patch)
        );
        let message = format!("the patch `{}` changes nothing", patch_name(patch));
        report.push(
            Diagnostic::of(&PATCH_FAILS, message)
                .at(patch.place())
                .upstream(upstream)
                .help("write `definitions`, or remove the patch"),
        );
        return false;
    }
    // Otherwise the webhook's rejection of the class has reported it.
    if options.skips_admission {
        let upstream = format!(
            "{STEP}can not use external patch \"{}\" if RuntimeSDK feature flag is disabled",
            patch_name(patch)
        );
        report.push(external_finding(patch, upstream.into()));
    }
    options.allows_external
}

/// An external patch, which is never applied here.
pub(super) fn external_finding(patch: &Part<'_>, upstream: Text) -> Diagnostic {
    let message = format!(
        "the patch `{}` is made by a runtime extension, and not applied here",
        patch_name(patch)
    );
    let finding = Diagnostic::of(&PATCH_EXTERNAL, message)
        .at(patch.field("external").place())
        .upstream(upstream);
    finding.help(Remedy::new("see the rest with ").set(Setting::Allow, PATCH_EXTERNAL.id))
}

/// What each definition makes of each template that it is for: all before anything is applied.
fn generate<'o>(
    class: &Class<'_>,
    patch: &Part<'o>,
    items: &[Item<'_, '_>],
    scopes: &[Scope<'_>],
    budget: &Budget,
) -> Result<Vec<(usize, Vec<Ready<'o>>)>, Vec<Failure>> {
    let (mut ready, mut failures) = (Vec::new(), Vec::new());
    let definitions: Vec<(Part<'o>, Part<'o>)> = definitions(patch)
        .map(|definition| (definition.field("selector"), definition))
        .collect();
    let enabled_if = patch.field("enabledIf");
    // The templates of one part of a topology stand beside each other, and the condition gives the
    // same for them.
    let mut gave: Option<(usize, Value)> = None;
    for (at, item) in items.iter().enumerate() {
        if let Err(spent) = budget.charge(definitions.len()) {
            if failures.is_empty() {
                failures.push(Failure::of_budget(patch, spent));
            }
            break;
        }
        let mut matching = definitions
            .iter()
            .filter(|(selector, _)| item.matches(selector))
            .map(|(_, definition)| definition)
            .peekable();
        if matching.peek().is_none() {
            continue;
        }
        let (scope, kind) = (&scopes[item.scope], item.source.kind());
        if gave.as_ref().is_none_or(|(scope, _)| *scope != item.scope) {
            match condition(class, &enabled_if, scope, budget) {
                Ok(value) => gave = Some((item.scope, value)),
                Err(failure) => {
                    failures.push(failure.within(&format!(
                        "failed to calculate if patch is enabled for \"{kind}\""
                    )));
                    continue;
                }
            }
        }
        if gave
            .as_ref()
            .is_none_or(|(_, value)| *value != Value::Bool(true))
        {
            continue;
        }
        for definition in matching {
            match operations(class, definition, scope, budget) {
                Ok(operations) => ready.push((at, operations)),
                Err(failure) => failures.push(
                    failure.within(&format!("failed to generate JSON patches for \"{kind}\"")),
                ),
            }
        }
    }
    if failures.is_empty() {
        Ok(ready)
    } else {
        Err(failures)
    }
}

fn operations<'o>(
    class: &Class<'_>,
    definition: &Part<'o>,
    scope: &Scope<'_>,
    budget: &Budget,
) -> Result<Vec<Ready<'o>>, Failure> {
    let one = |operation: Part<'o>| match operation.field("op").text() {
        "add" | "replace" => {
            let value = value(class, &operation, scope, budget)?;
            pay(budget, weight(&value)).map_err(|_| Failure::too_large(&operation))?;
            Ok((operation, value))
        }
        _ => Ok((operation, Value::Null)),
    };
    definition.field("jsonPatches").items().map(one).collect()
}

/// One finding for each different failure; all have Cluster API's whole message.
fn tell(patch: &Part<'_>, failures: Vec<Failure>, report: &mut Report) {
    let mut texts: Vec<String> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for failure in &failures {
        if seen.insert(failure.upstream.clone()) {
            texts.push(failure.upstream.clone());
        }
    }
    let all = if texts.len() == 1 {
        texts.remove(0)
    } else {
        format!("[{}]", texts.join(", "))
    };
    let upstream = format!(
        "{STEP}failed to generate patches for patch \"{}\": {all}",
        patch_name(patch)
    );
    for failure in failures {
        let is_ours = failure.upstream.is_empty();
        let mut finding = failure.finding(&upstream);
        if is_ours {
            finding.upstream = None;
        }
        if !report.findings().contains(&finding) {
            report.push(finding);
        }
    }
}

/// Applies the operations of a definition to a template: all or none.
fn change(
    class: &Class<'_>,
    patch: &Part<'_>,
    item: &mut Item<'_, '_>,
    operations: Vec<Ready<'_>>,
    budget: &Budget,
) -> Result<(), Box<Diagnostic>> {
    let failed = |operation: &Part<'_>, what: &str, reason: &str, message: String| {
        let upstream = format!(
            "{STEP}failed to apply patches for patch \"{}\": failed to apply patch: error {what} json patch (RFC6902): {reason}",
            patch_name(patch)
        );
        let place = operation.field("path").place();
        Diagnostic::of(&PATCH_FAILS, message)
            .at(place)
            .upstream(upstream)
    };
    for (operation, _) in &operations {
        if let op @ ("copy" | "move") = operation.field("op").text() {
            let shown = format!(
                "{{\"op\":\"{op}\",\"path\":{}}}",
                windlass_go_text::json(operation.field("path").value)
            );
            let reason = format!(
                "invalid operation {shown}: failed to decode 'from': operation, missing from field: missing value"
            );
            return Err(failed(
                operation,
                "decoding",
                &reason,
                format!("the operation `{op}` is not an operation of a ClusterClass"),
            )
            .help("write `add`, `replace` or `remove`")
            .into());
        }
    }
    let spent = |spent: Exceeded| {
        Diagnostic::of(&PATCH_FAILS, spent.to_string())
            .at(patch.place())
            .help(PLAN_LESS)
    };
    item.begin(budget).map_err(spent)?;
    let Some(template) = item.template.as_mut() else {
        return Ok(());
    };
    // What is below the spec can take nothing away of what is kept.
    let reaches_out = operations
        .iter()
        .any(|(operation, _)| !operation.field("path").text().starts_with("/spec/"));
    let original = if reaches_out {
        template.as_object().cloned()
    } else {
        None
    };
    if original.is_some() {
        budget.charge(weight(template)).map_err(spent)?;
    }
    for (operation, value) in operations {
        let (op, path) = (operation.field("op").text(), operation.field("path").text());
        let followed = origins::follow(
            &mut item.origins,
            template,
            &operation,
            item.writes.len(),
            budget,
        );
        let leaving = budget.charge(path.len()).and(followed).map_err(spent)?;
        let before = json_patch::apply(template, Operation { op, path, value }).map_err(|reason| {
            let message = format!("the patch `{}` does not apply to {}: {reason}", patch_name(patch), item.source.title(), reason = Quoted(&reason));
            let at = item.source.place(&windlass_source::diag::FieldPath::of_fields("spec"));
            let help = match op {
                "add" => "add what lies above it first, or write it into the template",
                _ => {
                    "use `add`, which also replaces, or write the field into the template; where the API server fills it in, name the file with its CRD too"
                }
            };
            failed(&operation, "applying", &reason, message).related(at, "the template").help(help)
        })?;
        if let Some(history) = &mut item.history {
            history.lose(item.writes.len(), &operation, before.zip(leaving));
        }
        let variables = names_in(class, &operation);
        item.writes.push(Write {
            patch: patch_name(patch).to_owned(),
            op: op.to_owned(),
            path: path.to_owned(),
            variables,
        });
    }
    if let Some(original) = original {
        keep(original, template);
    }
    Ok(())
}
