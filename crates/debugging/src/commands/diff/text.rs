//! The comparison as people read it on a terminal: each machine with its verdict, and below it what
//! differs.

use super::{Change, Comparison, MachineChange, PartChange};
use crate::changes::Effect;
use windlass_report::text::{Paint, Style, plural, visible};

/// The whole comparison; empty when no machine is there.
pub fn text(comparison: &Comparison, style: Style) -> String {
    comparison
        .machines
        .iter()
        .map(|machine| of_machine(machine, style))
        .collect()
}

fn of_machine(machine: &MachineChange, style: Style) -> String {
    let role = machine
        .role
        .map(|role| format!(" {role}"))
        .unwrap_or_default();
    let name = style.bold(&visible(&format!("{}{role}", machine.object)));
    let mut text = format!("{name}: {}\n", visible(&said(machine)));
    // All of a machine that only one side has is told by its name.
    if matches!(machine.change, Change::Changed | Change::Same) {
        let is_told =
            machine.change == Change::Changed || machine.verdict != Some(Effect::None.as_str());
        machine
            .source
            .iter()
            .filter(|_| is_told)
            .for_each(|source| text.push_str(&format!("  rule: {source}\n")));
        machine
            .parts
            .iter()
            .for_each(|part| text.push_str(&of_part(part, style)));
    }
    text
}

/// What happens to a machine, in a word or two.
pub(super) fn effect(machine: &MachineChange) -> &'static str {
    match (machine.change, machine.verdict) {
        (Change::Added, _) => "new",
        (Change::Removed, _) => "gone",
        (Change::Same, None) => "same data",
        (Change::Changed, None) => "other data",
        (_, Some(verdict)) => verdict,
    }
}

/// Why, where a rule of Cluster API says it.
pub(super) fn reason(machine: &MachineChange) -> Option<&str> {
    machine
        .reason
        .as_deref()
        .filter(|_| matches!(machine.change, Change::Changed | Change::Same))
}

/// Both. Not yet fit for a terminal.
pub(super) fn said(machine: &MachineChange) -> String {
    reason(machine).map_or_else(
        || effect(machine).to_owned(),
        |reason| format!("{}, {reason}", effect(machine)),
    )
}

fn of_part(part: &PartChange, style: Style) -> String {
    let what = match part.kind {
        "file" => String::new(),
        kind => format!("{kind} "),
    };
    let from = part
        .from
        .as_ref()
        .map(|from| format!("   {}", visible(from)))
        .unwrap_or_default();
    let mark = match part.change {
        Change::Added => style.paint(Paint::Added, "added "),
        Change::Removed => style.paint(Paint::Removed, "removed "),
        Change::Changed | Change::Same => String::new(),
    };
    let mut text = format!("  {mark}{what}{}{from}\n", visible(&part.name));
    for attribute in &part.attributes {
        let value = |value: &Option<String>| {
            value
                .as_deref()
                .map_or_else(|| "nothing".to_owned(), |value| visible(value).into_owned())
        };
        text.push_str(&format!(
            "    {}: {} → {}\n",
            attribute.name,
            value(&attribute.old),
            value(&attribute.new)
        ));
    }
    for line in &part.lines {
        let shown = match line.chars().next() {
            Some('-') => style.paint(Paint::Removed, line),
            Some('+') => style.paint(Paint::Added, line),
            _ => line.clone(),
        };
        text.push_str(&format!("    {shown}\n"));
    }
    text
}

/// What changes, in numbers: `2 machine kinds changed, 1 machine kind the same, 2 machine kinds
/// replaced`.
pub fn summary(comparison: &Comparison) -> String {
    let count = |change: Change| {
        comparison
            .machines
            .iter()
            .filter(|machine| machine.change == change)
            .count()
    };
    let said = [
        (Change::Changed, "changed"),
        (Change::Added, "new"),
        (Change::Removed, "gone"),
        (Change::Same, "the same"),
    ];
    let parts: Vec<String> = said
        .into_iter()
        .filter(|(change, _)| count(*change) > 0)
        .map(|(change, word)| format!("{} {word}", plural(count(change), "machine kind")))
        .collect();
    let replaced = comparison
        .machines
        .iter()
        .filter(|machine| machine.verdict == Some(Effect::Rollout.as_str()))
        .count();
    let replaced = (replaced > 0).then(|| format!("{} replaced", plural(replaced, "machine kind")));
    parts
        .into_iter()
        .chain(replaced)
        .collect::<Vec<_>>()
        .join(", ")
}
