//! The sizes as people read them.

use super::{Fit, MachineSize, Sizes};
use windlass_report::text::{plural, table};

/// How many parts of a machine are listed unless all are wanted.
const LISTED: usize = 10;

/// How many signs a full bar has.
const BAR: usize = 20;

/// The sizes as tables. `all`: every part, and every machine in every infrastructure.
pub fn text(sizes: &Sizes, all: bool) -> String {
    let header = [
        "MACHINE",
        "ROLE",
        "FORMAT",
        "RAW",
        "GZIP",
        "BASE64",
        "BASE64 OF GZIP",
    ]
    .map(str::to_owned);
    let row = |size: &MachineSize| {
        let numbers =
            [size.raw, size.gzip, size.base64, size.gzip_base64].map(|bytes| bytes.to_string());
        let [raw, gzip, base64, gzip_base64] = numbers;
        [
            size.name.clone(),
            size.role.to_owned(),
            size.format.to_owned(),
            raw,
            gzip,
            base64,
            gzip_base64,
        ]
    };
    let mut out = table(
        &std::iter::once(header)
            .chain(sizes.machines.iter().map(row))
            .collect::<Vec<_>>(),
    );
    sizes
        .machines
        .iter()
        .for_each(|size| out.push_str(&of_machine(size, all)));
    out.push_str(&of_limits(sizes, all));
    out
}

/// One machine: its parts with bars, and what would make it smaller.
fn of_machine(size: &MachineSize, all: bool) -> String {
    let state = if size.compressed {
        ", sent with gzip"
    } else {
        ""
    };
    let mut out = format!("\n{} {}, {} bytes{state}\n", size.name, size.role, size.raw);
    let listed = if all { size.parts.len() } else { LISTED };
    let row = |part: &super::PartSize| {
        let percent = percent(part.bytes, size.raw);
        let from = part
            .from
            .as_ref()
            .map(|from| format!("({from})"))
            .unwrap_or_default();
        [
            bar(part.bytes, size.raw),
            format!("{percent:>3} %"),
            format!("{:>6}", part.bytes),
            part.name.clone(),
            from,
        ]
    };
    let mut rows: Vec<_> = size.parts.iter().take(listed).map(row).collect();
    let rest: usize = size.parts.iter().skip(listed).map(|part| part.bytes).sum();
    if rest > 0 {
        let name = plural(size.parts.len() - listed, "smaller part");
        rows.push([
            bar(rest, size.raw),
            format!("{:>3} %", percent(rest, size.raw)),
            format!("{rest:>6}"),
            name,
            String::new(),
        ]);
    }
    out.push_str(&table(&rows));
    for saving in size
        .savings
        .iter()
        .filter(|saving| all || saving.note.is_some())
        .take(if all { usize::MAX } else { 3 })
    {
        let note = saving
            .note
            .map(|note| format!(": {note}"))
            .unwrap_or_default();
        out.push_str(&format!(
            "`{}` saves {} bytes{note}\n",
            saving.field, saving.bytes
        ));
    }
    out
}

/// The limits: of each infrastructure all machines, or the largest where none was named.
fn of_limits(sizes: &Sizes, all: bool) -> String {
    let header = [
        "INFRASTRUCTURE",
        "MACHINE",
        "ROLE",
        "SENT AS",
        "BYTES",
        "OF",
        "",
        "",
        "SOURCE",
    ]
    .map(str::to_owned);
    let mut fits: Vec<(&MachineSize, &Fit)> = sizes
        .machines
        .iter()
        .flat_map(|size| size.limits.iter().map(move |fit| (size, fit)))
        .collect();
    fits.sort_by_key(|(_, fit)| (fit.infrastructure, std::cmp::Reverse(fit.bytes)));
    if !all && !sizes.knows_infrastructure {
        fits.dedup_by_key(|(_, fit)| fit.infrastructure);
    }
    let row = |(size, fit): &(&MachineSize, &Fit)| {
        let gzip = if fit.provider_gzips { "gzip, " } else { "" };
        [
            fit.infrastructure.to_owned(),
            size.name.clone(),
            size.role.to_owned(),
            format!("{gzip}{}", fit.measured),
            fit.bytes.to_string(),
            fit.limit.to_string(),
            bar(fit.bytes, fit.limit),
            format!("{:>3} %", fit.percent),
            fit.source.to_owned(),
        ]
    };
    if fits.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "\n{}",
        table(
            &std::iter::once(header)
                .chain(fits.iter().map(row))
                .collect::<Vec<_>>()
        )
    );
    let mut moved: Vec<_> = fits
        .iter()
        .filter_map(|(_, fit)| Some((fit.infrastructure, fit.moved?)))
        .collect();
    moved.dedup();
    moved.iter().for_each(|(infrastructure, moved)| {
        out.push_str(&format!("{infrastructure} moves data: {moved}\n"))
    });
    out
}

/// The share in percent, rounded up, so that nothing is none.
fn percent(bytes: usize, of: usize) -> usize {
    if of == 0 {
        0
    } else {
        (bytes * 100).div_ceil(of)
    }
}

fn bar(bytes: usize, of: usize) -> String {
    let full = (percent(bytes, of).min(100) * BAR).div_ceil(100);
    format!("[{}{}]", "#".repeat(full), "-".repeat(BAR - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_full_only_at_the_limit_and_never_longer() {
        assert_eq!(bar(0, 10), "[--------------------]");
        assert_eq!(bar(1, 1000), "[#-------------------]");
        assert_eq!(bar(5, 10), "[##########----------]");
        assert_eq!(bar(94, 100), "[###################-]");
        assert_eq!(bar(50, 10), "[####################]");
        assert_eq!(bar(1, 0), "[--------------------]");
    }
}
