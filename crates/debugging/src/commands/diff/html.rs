//! What changes on the nodes, as a page.

use super::text::{said, summary};
use super::{Change, Comparison, MachineChange, PartChange};
use windlass_report::Sources;
use windlass_report::html::{Cell, Column, Html, Level, Page, Tone, table};
use windlass_source::diag::Report;

/// The maximum number of lines of a page's changes in one part.
const MOST_LINES: usize = 1_000;

/// The page of a comparison of two sides, as they were named.
pub fn page(
    old: &str,
    new: &str,
    comparison: &Comparison,
    report: &Report,
    sources: &Sources,
) -> String {
    let title = if old == new {
        format!("What changes in {old}")
    } else {
        format!("What changes from {old} to {new}")
    };
    let mut page = Page::new("diff", title, summary(comparison));
    page.findings(report, sources);
    if !comparison.machines.is_empty() {
        page.section("Machines", |html, _| machines(html, comparison));
    }
    let changed = comparison
        .machines
        .iter()
        .filter(|machine| !machine.parts.is_empty() && is_on_both_sides(machine));
    page.sections(
        changed,
        |machine| title_of(machine),
        |html, _, machine| {
            html.leaf("p", "", &said(machine));
            machine
                .source
                .iter()
                .for_each(|source| html.leaf("p", "muted", &format!("Rule: {source}")));
            html.each(&machine.parts, usize::MAX, of_part);
        },
    );
    page.finish()
}

/// All of a machine that only one side has is told by its name.
fn is_on_both_sides(machine: &MachineChange) -> bool {
    matches!(machine.change, Change::Changed | Change::Same)
}

fn title_of(machine: &MachineChange) -> String {
    machine.role.map_or_else(
        || machine.object.clone(),
        |role| format!("{} {role}", machine.object),
    )
}

fn machines(html: &mut Html, comparison: &Comparison) {
    let row = |machine: &MachineChange| {
        let (tone, word) = change(machine.change);
        vec![
            Cell::Code(title_of(machine)),
            Cell::Badge(tone, word.to_owned()),
            machine.verdict.map_or_else(
                || Cell::Text(String::new()),
                |verdict| Cell::Badge(of_verdict(verdict), verdict.to_owned()),
            ),
            Cell::Text(machine.reason.clone().unwrap_or_default()),
        ]
    };
    let columns = [
        Column::text("Machine"),
        Column::text("Data"),
        Column::text("Machines that run"),
        Column::text("Why"),
    ];
    table(
        html,
        "Machines of both sides",
        &columns,
        comparison.machines.iter().map(row),
    );
    html.each(&comparison.notes, usize::MAX, |html, note| {
        html.leaf("p", "note", note)
    });
}

fn change(change: Change) -> (Tone, &'static str) {
    match change {
        Change::Added => (Tone::Good, "new"),
        Change::Removed => (Tone::Bad, "gone"),
        Change::Changed => (Tone::Doubtful, "changed"),
        Change::Same => (Tone::Plain, "the same"),
    }
}

fn of_verdict(verdict: &str) -> Tone {
    match verdict {
        "rollout" => Tone::Doubtful,
        "rejected" => Tone::Bad,
        _ => Tone::Plain,
    }
}

fn of_part(html: &mut Html, part: &PartChange) {
    let kind = if part.kind == "file" {
        String::new()
    } else {
        format!("{} ", part.kind)
    };
    html.heading(Level::Three, &format!("{kind}{}", part.name));
    html.element("p", &[("class", "meta")], |html| {
        let (tone, word) = change(part.change);
        html.badge(
            tone,
            if part.change == Change::Added {
                "added"
            } else {
                word
            },
        );
        part.from
            .iter()
            .for_each(|from| html.leaf("code", "", from));
    });
    if !part.attributes.is_empty() {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        let rows = part.attributes.iter().map(|changed| {
            vec![
                Cell::Text(changed.name.to_owned()),
                Cell::Code(value(&changed.old)),
                Cell::Code(value(&changed.new)),
            ]
        });
        table(
            html,
            &format!("Attributes of {}", part.name),
            &[
                Column::text("Attribute"),
                Column::text("Old"),
                Column::text("New"),
            ],
            rows,
        );
    }
    if !part.lines.is_empty() {
        html.listing(&format!("Changes of {}", part.name), |html| {
            html.each(&part.lines, MOST_LINES, |html, line| of_line(html, line))
        });
    }
}

/// A line; its sign says what became of it, and its colour the same.
fn of_line(html: &mut Html, line: &str) {
    let class = match line.chars().next() {
        Some('+') => "change added",
        Some('-') => "change removed",
        _ => "change",
    };
    html.leaf("span", class, line);
}
