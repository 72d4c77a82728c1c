//! `size`: how large the data of each machine is, what makes it large, and whether it fits where it
//! is to go.

mod html;
mod text;

pub use html::page;
pub(super) use html::parts as parts_shown;
pub use text::text;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Serialize;

use super::render::{Machine, Rendering, unpacked};
use crate::inspect::sections::{Section, SectionKind, sections};
use windlass_bootstrap::render::Rendered;
use windlass_bootstrap::render::input::placeholder::without_pattern;
use windlass_bootstrap::render::write::limits::{LIMITS, Limit, base64_len, of_kind};
use windlass_capi::api::boot::{Compression, Format};
use windlass_objects::Pool;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report, rules};
use windlass_source::gzip;

rules! {
    /// the user data of a machine exceeds the share of the limit that `--fail-over` allows
    pub(crate) OVER_BUDGET = error("user-data-over-budget");
    /// the user data of a machine exceeds the limit of its infrastructure
    pub(crate) OVER_LIMIT = warning("user-data-over-limit");
}

/// How many parts a finding names.
const NAMED: usize = 2;

/// How much of a limit may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percent(u8);

impl Percent {
    /// Reads `90%` or `90`; `None` for what is not a whole number from 1 to 100.
    pub fn parse(text: &str) -> Option<Self> {
        let number = text.strip_suffix('%').unwrap_or(text).trim_end();
        number
            .parse()
            .ok()
            .filter(|percent| (1..=100).contains(percent))
            .map(Percent)
    }
}

/// What a machine's data takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineSize {
    /// `Kind/name` of the config.
    pub object: String,
    /// The name by which the machine is selected.
    pub name: String,
    /// `init`, `control-plane-join`, `worker-join` or `machinepool`.
    pub role: &'static str,
    /// The format of the data.
    pub format: &'static str,
    /// What was filled in, because nothing in the input says it; certificates are measured as if
    /// they were real.
    pub placeholders: Vec<&'static str>,
    /// Whether the provider compresses the data itself (`compression: gzip`).
    pub compressed: bool,
    /// The data as it is sent.
    pub bytes: usize,
    /// The data before any compression.
    pub raw: usize,
    /// With gzip, as `compression: gzip` has it; a provider's own gzip differs by some bytes.
    pub gzip: usize,
    /// The base64 of the data as it is.
    pub base64: usize,
    /// The base64 of the data with gzip.
    pub gzip_base64: usize,
    /// What it is made of, largest first; the bytes add up to `raw`.
    pub parts: Vec<PartSize>,
    /// What changes of the config would save.
    pub savings: Vec<Saving>,
    /// How it fits.
    pub limits: Vec<Fit>,
}

/// A part of the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartSize {
    /// `file`, `unit`, `section` or `rest`.
    pub kind: &'static str,
    /// A path, a name or a key.
    pub name: String,
    /// Its bytes in the data.
    pub bytes: usize,
    /// The field that it comes from, of what the user wrote.
    pub from: Option<String>,
}

/// What a field of WindlassConfig would save.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Saving {
    /// The field, with its value.
    pub field: String,
    /// How many bytes the data would have less.
    pub bytes: usize,
    /// What has to be known of it; null when there is nothing.
    pub note: Option<&'static str>,
}

/// How a machine's data fits into user data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fit {
    /// The infrastructure.
    pub infrastructure: &'static str,
    /// The most bytes.
    pub limit: usize,
    /// What is counted: `raw` or `base64`.
    pub measured: &'static str,
    /// Whether the provider compresses data of this format unless it is told not to.
    pub provider_gzips: bool,
    /// How many bytes count.
    pub bytes: usize,
    /// How much of the limit that is, rounded up.
    pub percent: usize,
    /// Where the provider puts the data in place of user data, and when; null when it does not.
    pub moved: Option<&'static str>,
    /// Where the number is from.
    pub source: &'static str,
}

/// What is measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measuring {
    /// The infrastructures; none: those that the input tells, or else all.
    pub infrastructures: Vec<&'static str>,
    /// How much of a limit is allowed.
    pub fail_over: Option<Percent>,
}

/// The sizes of all machines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The machines, in the order of the input.
    pub machines: Vec<MachineSize>,
    /// Whether it is known where they run.
    pub knows_infrastructure: bool,
    /// What is too large.
    pub report: Report,
}

/// The names of all infrastructures whose limits are known, each once.
pub fn infrastructures() -> impl Iterator<Item = &'static str> {
    LIMITS.iter().map(|limit| limit.infrastructure)
}

/// Measures all machines that could be rendered.
pub fn run(
    pool: &Pool,
    rendering: &Rendering<'_>,
    measuring: &Measuring,
    budget: &Budget,
) -> Sizes {
    let known: Vec<&Limit> = if measuring.infrastructures.is_empty() {
        of_input(pool)
    } else {
        named(&measuring.infrastructures)
    };
    let limits: Vec<&Limit> = if known.is_empty() {
        LIMITS.iter().collect()
    } else {
        known.clone()
    };
    let mut sizes = Sizes {
        knows_infrastructure: !known.is_empty(),
        ..Sizes::default()
    };
    for machine in &rendering.machines {
        let Some(rendered) = &machine.rendered else {
            continue;
        };
        let size = measure(machine, rendered, &limits, budget);
        if sizes.knows_infrastructure || measuring.fail_over.is_some() {
            sizes.report.extend(
                size.limits
                    .iter()
                    .filter_map(|fit| finding(machine, rendered, &size, fit, measuring.fail_over)),
            );
        }
        sizes.machines.push(size);
    }
    sizes
}

fn named(names: &[&str]) -> Vec<&'static Limit> {
    LIMITS
        .iter()
        .filter(|limit| names.contains(&limit.infrastructure))
        .collect()
}

/// The limits of the infrastructures of which the input has objects, or to which its objects refer.
fn of_input(pool: &Pool) -> Vec<&'static Limit> {
    const REFERENCES: [&[&str]; 4] = [
        &["spec", "infrastructureRef"],
        &["spec", "template", "spec", "infrastructureRef"],
        &["spec", "machineTemplate", "infrastructureRef"],
        &["spec", "machineTemplate", "spec", "infrastructureRef"],
    ];
    let mut found: Vec<&'static Limit> = Vec::new();
    for object in pool.objects() {
        let mut add = |group: &str, kind: &str| {
            let more: Vec<_> = of_kind(group, kind)
                .into_iter()
                .filter(|limit| !found.contains(limit))
                .collect();
            found.extend(more);
        };
        add(object.group(), object.kind());
        for reference in REFERENCES {
            let field = |name: &str| object.text(&[reference, &[name]].concat()).to_owned();
            let group = match field("apiGroup") {
                group if !group.is_empty() => group,
                _ => field("apiVersion")
                    .split('/')
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            };
            add(&group, &field("kind"));
        }
    }
    found.sort_by_key(|limit| limit.infrastructure);
    found
}

fn measure(
    machine: &Machine<'_>,
    rendered: &Rendered,
    limits: &[&Limit],
    budget: &Budget,
) -> MachineSize {
    let data = rendered.data.expose();
    let compressed = rendered.plan.compression == Compression::Gzip;
    let document = if compressed {
        unpacked(data.clone())
    } else {
        data.clone()
    };
    let gzip = gzip::compress(&without_pattern(&document)).len();
    let sent = if compressed { gzip } else { data.len() };
    let fit = |limit: &&Limit| {
        let bytes = limit.counted(rendered.format, sent, gzip);
        Fit {
            infrastructure: limit.infrastructure,
            limit: limit.bytes,
            measured: limit.measured.as_str(),
            provider_gzips: limit.gzips.takes(rendered.format),
            bytes,
            percent: (bytes * 100).div_ceil(limit.bytes),
            moved: (!limit.moved.is_empty()).then_some(limit.moved),
            source: limit.source,
        }
    };
    let mut parts = parts(rendered, &document, budget);
    parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
    MachineSize {
        object: machine.target.config.title(),
        name: machine.name(),
        role: machine.role.as_str(),
        format: rendered.format.as_str(),
        placeholders: machine
            .placeholders
            .iter()
            .map(|placeholder| placeholder.name)
            .collect(),
        compressed,
        bytes: sent,
        raw: document.len(),
        gzip,
        base64: base64_len(sent),
        gzip_base64: base64_len(gzip),
        savings: savings(rendered, compressed, gzip),
        limits: limits.iter().map(fit).collect(),
        parts,
    }
}

/// The parts of a document with the fields that they come from.
fn parts(rendered: &Rendered, document: &[u8], budget: &Budget) -> Vec<PartSize> {
    let files = rendered.node_files();
    let mut files = files.iter();
    let part = |section: Section| {
        // Both are in the order in which files are written; a document may have fewer.
        let is_file = section.kind == SectionKind::File;
        let file = if is_file {
            files.by_ref().find(|file| file.path == section.name)
        } else {
            None
        };
        PartSize {
            kind: section.kind.as_str(),
            from: file.and_then(|file| file.origin).map(ToString::to_string),
            name: section.name,
            bytes: section.bytes,
        }
    };
    sections(&String::from_utf8_lossy(document), budget)
        .into_iter()
        .map(part)
        .collect()
}

/// What WindlassConfig's fields would save.
fn savings(rendered: &Rendered, compressed: bool, gzip: usize) -> Vec<Saving> {
    let raw = rendered.data.expose().len();
    let mut savings = Vec::new();
    if !compressed && rendered.format == Format::CloudConfig {
        let note = "in a WindlassConfig, for machines whose cloud-init reads gzip";
        savings.push(Saving {
            field: "compression: gzip".to_owned(),
            bytes: raw.saturating_sub(gzip),
            note: Some(note),
        });
    }
    for file in rendered.node_files() {
        let Some(origin) = file.origin.filter(|_| file.encoding.is_empty()) else {
            continue;
        };
        let packed = STANDARD.encode(gzip::compress(&file.content)).len();
        if !compressed && packed < file.content.len() {
            let field = format!("{origin}.transferEncoding: gzip+base64");
            savings.push(Saving {
                field,
                bytes: file.content.len() - packed,
                note: Some("in a WindlassConfig; counts nothing beside gzip of the whole"),
            });
        }
    }
    if rendered
        .node_files()
        .iter()
        .any(|file| file.origin.is_some())
    {
        let note = "the provider puts the content of Secrets and ConfigMaps into the data";
        savings.push(Saving {
            field: "files[].contentFrom".to_owned(),
            bytes: 0,
            note: Some(note),
        });
    }
    savings.sort_by_key(|saving| std::cmp::Reverse(saving.bytes));
    savings
}

fn finding(
    machine: &Machine<'_>,
    rendered: &Rendered,
    size: &MachineSize,
    fit: &Fit,
    fail_over: Option<Percent>,
) -> Option<Diagnostic> {
    let allowed = fail_over.map_or(100, |percent| usize::from(percent.0));
    if fit.bytes * 100 <= fit.limit * allowed {
        return None;
    }
    let largest: Vec<_> = size
        .parts
        .iter()
        .take(NAMED)
        .map(|part| format!("{} {}", part.name, part.bytes))
        .collect();
    let message = format!(
        "{} {} is over {allowed} % of what {} takes: {} of {} bytes, {} %; largest: {}",
        size.name,
        size.role,
        fit.infrastructure,
        fit.bytes,
        fit.limit,
        fit.percent,
        largest.join(", ")
    );
    let rule = if fail_over.is_some() {
        &OVER_BUDGET
    } else {
        &OVER_LIMIT
    };
    let finding = Diagnostic::of(rule, message)
        .at(machine.target.config.place(&rendered.spec_path))
        .note(format!("see {}", fit.source));
    let finding = match fit.moved {
        Some(moved) => finding.note(format!("the provider moves the data: {moved}")),
        None => finding,
    };
    // Ignition is never sent with gzip, and once is enough.
    let is_packed = size.compressed || rendered.format == Format::Ignition;
    Some(finding.help(match is_packed {
        true => "let the machine fetch large files itself",
        false => "set `compression: gzip` in a WindlassConfig, or let the machine fetch large files itself",
    }))
}
