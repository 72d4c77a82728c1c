//! The sizes as a page.

use super::{Fit, MachineSize, PartSize, Sizes};
use windlass_report::Sources;
use windlass_report::html::{Cell, Column, Html, Level, Page, Tile, bytes, table, treemap};
use windlass_report::text::plural;
use windlass_source::diag::Report;

/// The page of all machines.
pub fn page(sizes: &Sizes, report: &Report, sources: &Sources) -> String {
    let mut page = Page::new(
        "size",
        "Size of bootstrap data",
        plural(sizes.machines.len(), "machine"),
    );
    page.findings(report, sources);
    if !sizes.machines.is_empty() {
        page.section("Machines", |html, _| machines(html, &sizes.machines));
    }
    page.sections(
        &sizes.machines,
        |size| format!("{} {}", size.name, size.role),
        |html, id, size| {
            facts(html, size);
            parts(html, Level::Three, id, size);
            savings(html, size);
            limits(html, size);
        },
    );
    page.finish()
}

fn machines(html: &mut Html, machines: &[MachineSize]) {
    let row = |size: &MachineSize| {
        let [raw, gzip, base64, gzip_base64] =
            [size.raw, size.gzip, size.base64, size.gzip_base64].map(Cell::Number);
        vec![
            Cell::Code(size.name.clone()),
            Cell::Text(size.role.to_owned()),
            raw,
            gzip,
            base64,
            gzip_base64,
        ]
    };
    let columns = [
        Column::text("Machine"),
        Column::text("Role"),
        Column::number("Raw"),
        Column::number("gzip"),
        Column::number("base64"),
        Column::number("base64 of gzip"),
    ];
    table(
        html,
        "Bytes of each machine's data",
        &columns,
        machines.iter().map(row),
    );
}

fn facts(html: &mut Html, size: &MachineSize) {
    let sent = if size.compressed {
        "as gzip"
    } else {
        "as it is"
    };
    let placeholders = if size.placeholders.is_empty() {
        "nothing".to_owned()
    } else {
        size.placeholders.join(", ")
    };
    html.facts(&[
        ("Config", size.object.as_str().into()),
        ("Format", size.format.into()),
        ("Sent", format!("{sent}, {}", bytes(size.bytes)).into()),
        ("Filled in", placeholders.into()),
    ]);
}

/// What a machine's data is made of: the picture, and the same as a table.
pub(crate) fn parts(html: &mut Html, level: Level, id: &str, size: &MachineSize) {
    let colour = |kind: &str| {
        ["file", "section", "unit", "rest"]
            .iter()
            .position(|known| *known == kind)
            .unwrap_or(4)
    };
    let tile = |part: &PartSize| Tile {
        name: part.name.clone(),
        bytes: part.bytes,
        colour: colour(part.kind),
    };
    html.heading(level, "What it is made of");
    treemap(
        html,
        id,
        &format!("Parts of the data of {}", size.name),
        &size.parts.iter().map(tile).collect::<Vec<_>>(),
    );
    let row = |(at, part): (usize, &PartSize)| {
        let percent = (part.bytes * 100).div_ceil(size.raw.max(1));
        let from = part
            .from
            .clone()
            .map_or_else(|| Cell::Text(String::new()), Cell::Code);
        vec![
            Cell::Number(at + 1),
            Cell::Code(part.name.clone()),
            Cell::Text(part.kind.to_owned()),
            Cell::Number(part.bytes),
            Cell::Text(format!("{percent} %")),
            from,
        ]
    };
    let columns = [
        Column::number("No."),
        Column::text("Part"),
        Column::text("Kind"),
        Column::number("Bytes"),
        Column::number("Share"),
        Column::text("From"),
    ];
    table(
        html,
        &format!("Parts of {}, largest first", size.name),
        &columns,
        size.parts.iter().enumerate().map(row),
    );
}

fn savings(html: &mut Html, size: &MachineSize) {
    if size.savings.is_empty() {
        return;
    }
    html.heading(Level::Three, "What would make it smaller");
    let row = |saving: &super::Saving| {
        vec![
            Cell::Code(saving.field.clone()),
            Cell::Number(saving.bytes),
            Cell::Text(saving.note.unwrap_or_default().to_owned()),
        ]
    };
    let columns = [
        Column::text("Field"),
        Column::number("Bytes less"),
        Column::text("What to know"),
    ];
    table(
        html,
        &format!("What fields would save of {}", size.name),
        &columns,
        size.savings.iter().map(row),
    );
}

fn limits(html: &mut Html, size: &MachineSize) {
    html.heading(Level::Three, "Where it fits");
    let mut fits: Vec<&Fit> = size.limits.iter().collect();
    fits.sort_by_key(|fit| std::cmp::Reverse(fit.percent));
    let row = |fit: &Fit| {
        let gzip = if fit.provider_gzips { "gzip, " } else { "" };
        vec![
            Cell::Text(fit.infrastructure.to_owned()),
            Cell::Share(fit.percent),
            Cell::Number(fit.bytes),
            Cell::Number(fit.limit),
            Cell::Text(format!("{gzip}{}", fit.measured)),
            Cell::Text(fit.moved.unwrap_or_default().to_owned()),
            Cell::Link(fit.source),
        ]
    };
    let columns = [
        Column::text("Infrastructure"),
        Column::text("Used"),
        Column::number("Bytes"),
        Column::number("Limit"),
        Column::text("Sent as"),
        Column::text("Or moved to"),
        Column::text("Source"),
    ];
    table(
        html,
        &format!("Limits of user data for {}", size.name),
        &columns,
        fits.into_iter().map(row),
    );
}
