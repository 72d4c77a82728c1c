//! The comparison as a comment on GitHub: the machines in a table, and below it what differs of
//! each, folded.

use super::text::{effect, reason, summary};
use super::{Change, Comparison, MachineChange, PartChange};
use windlass_report::markdown::{Comment, code, folded_diff};
use windlass_report::text::visible;

/// The comment. What GitHub would not take is left out, which the last line says.
pub fn comment(old: &str, new: &str, comparison: &Comparison) -> String {
    let mut comment = Comment::default();
    comment.push(&format!(
        "### {} → {}\n\n{}\n",
        code(old),
        code(new),
        summary(comparison)
    ));
    if !comparison.machines.is_empty() {
        comment.push("\n| machine | role | what happens |\n|---|---|---|\n");
    }
    for machine in &comparison.machines {
        let reason = reason(machine)
            .map(|reason| format!(": {}", code(reason)))
            .unwrap_or_default();
        comment.push(&format!(
            "| {} | {} | {}{reason} |\n",
            code(&machine.object),
            machine.role.unwrap_or_default(),
            effect(machine)
        ));
    }
    let changed = comparison
        .machines
        .iter()
        .filter(|machine| machine.change == Change::Changed);
    changed.for_each(|machine| comment.push(&details(machine)));
    // The words of a note are ours.
    comparison
        .notes
        .iter()
        .for_each(|note| comment.push(&format!("\n{note}\n")));
    comment.finish()
}

fn details(machine: &MachineChange) -> String {
    let body: String = machine.parts.iter().map(of_part).collect();
    let role = machine
        .role
        .map(|role| format!(" {role}"))
        .unwrap_or_default();
    folded_diff(&format!("{}{role}", machine.object), &body)
}

fn of_part(part: &PartChange) -> String {
    let from = part
        .from
        .as_ref()
        .map(|from| format!("   {}", visible(from)))
        .unwrap_or_default();
    let word = match part.change {
        Change::Added => "added ",
        Change::Removed => "removed ",
        Change::Changed | Change::Same => "",
    };
    let mut text = format!("  {word}{} {}{from}\n", part.kind, visible(&part.name));
    for attribute in &part.attributes {
        let values = [('-', &attribute.old), ('+', &attribute.new)];
        let lines = values.into_iter().filter_map(|(sign, value)| {
            Some(format!(
                "{sign} {}: {}\n",
                attribute.name,
                visible(value.as_ref()?)
            ))
        });
        text.extend(lines);
    }
    text.extend(part.lines.iter().map(|line| format!("{line}\n")));
    text
}
