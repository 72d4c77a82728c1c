//! What bootstrap data holds, as a page.

use std::borrow::Cow;

use super::{
    CertificateReport, DocumentReport, FileReport, Inspected, LogReport, SentinelReport, StepReport,
};
use crate::inspect::step::SENTINEL;
use windlass_objects::secrets::REDACTED;
use windlass_report::Sources;
use windlass_report::html::{
    Cell, Column, Html, Level, Page, Tile, Tone, bytes, folded, grouped, table, treemap,
};
use windlass_report::text::plural;
use windlass_source::diag::Report;

/// The maximum number of characters of a command that stand on the page without being folded.
const SHORT: usize = 240;

const MOST_STEPS: usize = 2_000;

/// The page of a file.
pub fn page(file: &str, inspected: &Inspected, report: &Report, sources: &Sources) -> String {
    let steps: usize = inspected
        .documents
        .iter()
        .map(|document| document.steps.len())
        .sum();
    let lead = format!(
        "{}, {}",
        plural(inspected.documents.len(), "document"),
        plural(steps, "step")
    );
    let (title, lead) = match &inspected.log {
        Some(log) if inspected.documents.is_empty() => {
            (format!("Log {file}"), plural(log.lines, "line"))
        }
        _ => (format!("Bootstrap data of {file}"), lead),
    };
    let mut page = Page::new("inspect", title, lead);
    page.findings(report, sources);
    if !inspected.documents.is_empty() {
        page.section("What it holds", |html, _| holds(html, inspected));
    }
    let is_only = inspected.documents.len() == 1;
    let title = |(at, document): &(usize, &DocumentReport)| match is_only {
        true => "Boot".to_owned(),
        false => format!("Document {}: {}", at + 1, document.form),
    };
    page.sections(
        inspected.documents.iter().enumerate(),
        title,
        |html, _, (_, document)| {
            of_document(html, document);
            timeline(html, Level::Three, document, inspected);
        },
    );
    let steps = inspected
        .documents
        .iter()
        .flat_map(|document| &document.steps);
    let files: Vec<&FileReport> = steps.filter_map(|step| step.file.as_ref()).collect();
    if files.len() > 1 {
        page.section("Files by size", |html, id| sizes(html, id, &files));
    }
    if !inspected.certificates.is_empty() {
        page.section("Certificates", |html, _| {
            certificates(html, &inspected.certificates)
        });
    }
    if let Some(log) = &inspected.log {
        page.section("Log", |html, _| of_log(html, log));
    }
    page.finish()
}

fn holds(html: &mut Html, inspected: &Inspected) {
    let mut facts: Vec<(&str, Cow<'_, str>)> = Vec::new();
    for secret in &inspected.secrets {
        facts.push(("Secret", secret.name.as_str().into()));
        facts.extend(
            secret
                .format
                .as_ref()
                .map(|format| ("Format", Cow::from(format.as_str()))),
        );
        facts.extend(
            secret
                .created
                .as_ref()
                .map(|created| ("Made", Cow::from(created.as_str()))),
        );
    }
    for machine in &inspected.machines {
        let words = sentinel_words(machine.sentinel.as_ref());
        let words = if inspected.machines.len() == 1 {
            words
        } else {
            format!("{}: {words}", machine.name)
        };
        facts.push(("Writes the sentinel file", words.into()));
    }
    facts.extend(
        inspected
            .tokens
            .iter()
            .map(|id| ("Bootstrap token", Cow::from(id.as_str()))),
    );
    html.facts(&facts);
}

/// Who says that the machine came up.
pub(crate) fn sentinel_words(sentinel: Option<&SentinelReport>) -> String {
    match sentinel {
        Some(sentinel) if sentinel.conditional => format!(
            "{} writes {SENTINEL} only if the previous commands succeed",
            sentinel.by
        ),
        Some(sentinel) => format!("{} writes {SENTINEL}, even after a failure", sentinel.by),
        None => format!("nothing writes {SENTINEL}"),
    }
}

/// The files by their size on the node.
fn sizes(html: &mut Html, id: &str, files: &[&FileReport]) {
    let tile = |file: &&FileReport| {
        Some(Tile {
            name: file.path.clone(),
            bytes: file.bytes?,
            colour: 0,
        })
    };
    let tiles: Vec<Tile> = files.iter().filter_map(tile).collect();
    treemap(html, id, "Files by their size on the node", &tiles);
    let mut rows: Vec<&FileReport> = files.to_vec();
    rows.sort_by_key(|file| std::cmp::Reverse(file.bytes));
    let row = |file: &FileReport| {
        let bytes = file
            .bytes
            .map_or_else(|| Cell::Text("unknown".to_owned()), Cell::Number);
        vec![
            Cell::Code(file.path.clone()),
            Cell::Text(file.what.clone()),
            bytes,
        ]
    };
    let columns = [
        Column::text("File"),
        Column::text("What it is"),
        Column::number("Bytes"),
    ];
    table(
        html,
        "Files by their size on the node",
        &columns,
        rows.into_iter().map(row),
    );
}

fn of_document(html: &mut Html, document: &DocumentReport) {
    let jinja = if document.jinja { " with jinja" } else { "" };
    let packing = if document.packing.is_empty() {
        "nothing".to_owned()
    } else {
        document.packing.join(" > ")
    };
    html.facts(&[
        ("Form", format!("{}{jinja}", document.form).into()),
        ("Bytes", grouped(document.bytes).into()),
        ("Packed in", packing.into()),
    ]);
}

/// What the machine does, stage after stage, and what follows when a step fails.
pub(crate) fn timeline(
    html: &mut Html,
    level: Level,
    document: &DocumentReport,
    inspected: &Inspected,
) {
    // Machines are counted from one; documents of two Secrets that share a name in two namespaces
    // share theirs.
    let machine = document
        .machine
        .checked_sub(1)
        .and_then(|at| inspected.machines.get(at));
    let sentinel = machine
        .and_then(|machine| machine.sentinel.as_ref())
        .filter(|sentinel| sentinel.document == document.name);
    let mut left = MOST_STEPS;
    for steps in document
        .steps
        .chunk_by(|step, next| step.stage == next.stage)
    {
        let Some(first) = steps.first() else { continue };
        html.heading(level, &format!("Stage {}", first.stage));
        html.element("ol", &[("class", "steps"), ("role", "list")], |html| {
            html.each(steps, left, |html, step| {
                one(
                    html,
                    step,
                    sentinel.is_some_and(|sentinel| writes(step, sentinel)),
                )
            });
        });
        left = left.saturating_sub(steps.len());
    }
}

/// Whether it is this step of its document that tells success.
fn writes(step: &StepReport, sentinel: &SentinelReport) -> bool {
    step.by == sentinel.by
        || step
            .file
            .as_ref()
            .is_some_and(|file| file.path == sentinel.by)
}

fn one(html: &mut Html, step: &StepReport, tells_success: bool) {
    let tone = tone(step);
    let class = match (step.failed_in_line, tells_success) {
        (Some(_), _) => Tone::Bad.class().to_owned(),
        (None, true) => format!("{} sentinel", tone.class()),
        (None, false) => tone.class().to_owned(),
    };
    html.element("li", &[("class", &class)], |html| {
        html.leaf("span", "index-of", &step.number.to_string());
        match &step.file {
            Some(file) => of_file(html, file),
            None => command(html, &step.what),
        }
        html.element("p", &[("class", "meta")], |html| {
            html.leaf("span", "by", &step.by);
            step.file
                .iter()
                .for_each(|file| html.leaf("span", "", &attributes(file)));
            if let Some(line) = step.failed_in_line {
                html.badge(Tone::Bad, &format!("failed: line {line} of the log"));
            }
            if tells_success {
                let who = if step.file.is_some() {
                    "its command writes"
                } else {
                    "writes"
                };
                let tone = match step.failed_in_line {
                    Some(_) => Tone::Plain,
                    None => Tone::Good,
                };
                html.badge(tone, &format!("{who} {SENTINEL}"));
            }
            let follows = format!("if it fails: {}", step.failure_words);
            if tone == Tone::Plain {
                html.leaf("span", "", &follows)
            } else {
                html.badge(tone, &follows)
            }
        });
    });
}

/// What nobody would see stands out; that a boot stops at a fault is as it should be.
fn tone(step: &StepReport) -> Tone {
    match step.failure {
        "swallowed" | "never-runs" => Tone::Doubtful,
        _ => Tone::Plain,
    }
}

fn command(html: &mut Html, command: &str) {
    let command = command.trim_end();
    if !command.contains('\n') && command.len() <= SHORT {
        return html.leaf("code", "command", command);
    }
    let first = command
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let short: String = first.chars().take(SHORT / 2).collect();
    let more = plural(command.lines().count(), "line");
    folded(html, "The whole command", command, |html| {
        html.leaf("code", "", &format!("{short} …"));
        html.text(&format!(" ({more})"));
    });
}

fn of_file(html: &mut Html, file: &FileReport) {
    match file
        .content
        .as_deref()
        .filter(|content| *content != REDACTED)
    {
        Some(content) => folded(
            html,
            &format!("Content of {}", file.path),
            content,
            |html| html.leaf("code", "", &file.path),
        ),
        None => html.leaf("code", "", &file.path),
    }
}

/// What is known of a file beside its path.
fn attributes(file: &FileReport) -> String {
    let bytes = file.bytes.map(bytes);
    let append = file.append.then(|| "appended".to_owned());
    let hidden = file
        .content
        .as_deref()
        .filter(|content| *content == REDACTED)
        .map(|_| "content not shown".to_owned());
    [
        Some(file.what.clone()),
        bytes,
        file.mode.clone(),
        file.owner.clone(),
        append,
        hidden,
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(", ")
}

fn certificates(html: &mut Html, certificates: &[CertificateReport]) {
    let row = |certificate: &CertificateReport| {
        let (tone, word) = if certificate.expired {
            (Tone::Bad, "expired")
        } else {
            (Tone::Good, "valid")
        };
        let until = certificate
            .not_after
            .clone()
            .unwrap_or_else(|| "unknown".to_owned());
        vec![
            Cell::Code(certificate.file.clone()),
            Cell::Text(certificate.subject.clone()),
            Cell::Text(until),
            Cell::Badge(tone, word.to_owned()),
        ]
    };
    let columns = [
        Column::text("File"),
        Column::text("Subject"),
        Column::text("Until"),
        Column::text("State"),
    ];
    table(
        html,
        "Certificates in files of the data",
        &columns,
        certificates.iter().map(row),
    );
}

fn of_log(html: &mut Html, log: &LogReport) {
    let omitted = if log.omitted > 0 {
        format!(", and {} more of the same kinds", log.omitted)
    } else {
        String::new()
    };
    html.leaf(
        "p",
        "muted",
        &format!("{}: {}{omitted}", log.file, plural(log.lines, "line")),
    );
    let tone = match log.outcome {
        "succeeded" => Tone::Good,
        "failed" => Tone::Bad,
        _ => Tone::Plain,
    };
    html.element("p", &[], |html| html.badge(tone, &log.outcome_words));
    let row = |line: &super::LogLineReport| {
        let step = line
            .step
            .map_or_else(|| Cell::Text(String::new()), Cell::Number);
        vec![
            Cell::Number(line.line),
            step,
            Cell::Code(line.text.clone()),
            Cell::Text(line.cause.unwrap_or_default().to_owned()),
            line.report
                .map_or_else(|| Cell::Text(String::new()), Cell::Link),
        ]
    };
    let columns = [
        Column::number("Line"),
        Column::number("Step"),
        Column::text("What it says"),
        Column::text("Cause"),
        Column::text("Report"),
    ];
    table(
        html,
        "Lines of the log that report an error or a warning",
        &columns,
        log.found.iter().map(row),
    );
}
