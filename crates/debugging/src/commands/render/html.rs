//! The machines as a page: what is known of each, how it boots, what its files hold, and what makes
//! its data large.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{MachineReport, Rendering};
use crate::commands::inspect::{self, DocumentReport, Inspected, Inspecting, StepReport};
use crate::commands::size::{self, MachineSize, Measuring};
use crate::inspect::content;
use windlass_bootstrap::render::{Rendered, Target};
use windlass_objects::Pool;
use windlass_objects::secrets::{Words, redacted};
use windlass_report::Sources;
use windlass_report::html::{Cell, Column, Html, Level, Page, bytes, table};
use windlass_report::text::plural;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;

/// What of a machine the page shows beside its report.
struct Shown {
    report: MachineReport,
    name: String,
    inspected: Option<Inspected>,
    size: Option<MachineSize>,
}

/// The page of all machines, whose reports are `machines`.
pub fn page(
    rendering: &Rendering<'_>,
    machines: Vec<MachineReport>,
    pool: &Pool,
    show_secrets: bool,
    (report, sources): (&Report, &Sources),
    budget: &Budget,
) -> String {
    let words = sources.words();
    let mut sizes = size::run(pool, rendering, &Measuring::default(), budget)
        .machines
        .into_iter();
    let shown = machines
        .into_iter()
        .zip(&rendering.machines)
        .map(|(report, machine)| {
            let rendered = machine.rendered.as_ref();
            let inspected = rendered.map(|rendered| {
                read_back(rendered, &machine.target, (show_secrets, words), budget)
            });
            Shown {
                report,
                name: format!("{} {}", machine.name(), machine.role),
                inspected,
                size: rendered.and_then(|_| sizes.next()),
            }
        });
    let shown: Vec<Shown> = shown.collect();
    let mut page = Page::new("render", "Bootstrap data", plural(shown.len(), "machine"));
    page.findings(report, sources);
    if !shown.is_empty() {
        page.section("Machines", |html, _| overview(html, &shown));
    }
    page.sections(&shown, |shown| shown.name.clone(), of_machine);
    page.finish()
}

/// What the data has the machine do. Contents of files are there where they are known not to be
/// secret.
fn read_back(
    rendered: &Rendered,
    target: &Target<'_>,
    (show_secrets, words): (bool, &Words),
    budget: &Budget,
) -> Inspected {
    let inspecting = Inspecting {
        name: "data",
        bytes: rendered.data.expose(),
        log: None,
        is_log_alone: false,
        now: 0,
        show_secrets,
    };
    let (mut inspected, _, _) = inspect::run(&inspecting, budget);
    if !show_secrets {
        let contents = contents(rendered, target, budget);
        let steps = inspected
            .documents
            .iter_mut()
            .flat_map(|document: &mut DocumentReport| &mut document.steps);
        steps.for_each(|step| {
            with_content(step, &contents);
            words.remove_from(&mut step.what);
            step.file
                .iter_mut()
                .filter_map(|file| file.content.as_mut())
                .for_each(|content| words.remove_from(content));
        });
    }
    inspected
}

/// The contents of files that may be shown, by path, without what looks like a secret.
fn contents(rendered: &Rendered, target: &Target<'_>, budget: &Budget) -> BTreeMap<String, String> {
    let mut contents = BTreeMap::new();
    for file in rendered.node_files() {
        let text = std::str::from_utf8(&file.content)
            .ok()
            .filter(|_| !file.origin.is_some_and(|origin| target.is_referred(origin)));
        let decoded =
            text.and_then(|text| content::of_write_files(text, file.encoding, budget).ok());
        let decoded = decoded.filter(|content| may_be_shown(content, file.origin.is_some()));
        let path = file.path.into_owned();
        match decoded.and_then(|content| String::from_utf8(content).ok()) {
            // A path that is written twice is one that a Secret may have a part in.
            Some(text) if !contents.contains_key(&path) => {
                contents.insert(path, Some(redacted(&text)))
            }
            _ => contents.insert(path, None),
        };
    }
    contents
        .into_iter()
        .filter_map(|(path, content)| Some((path, content?)))
        .collect()
}

/// Whether a content that is in the config itself, or is the provider's own, is known not to be
/// a key, a certificate or a kubeconfig. Of the provider's files those are the ones that hold what
/// Secrets do, in whatever form.
fn may_be_shown(content: &[u8], is_of_config: bool) -> bool {
    match content::what(content).as_str() {
        "script" => true,
        "empty" | "text" => is_of_config,
        what => what.starts_with("kubeadm"),
    }
}

fn with_content(step: &mut StepReport, contents: &BTreeMap<String, String>) {
    if let Some(file) = &mut step.file {
        let known = contents.get(&file.path).filter(|_| file.content.is_some());
        file.content = known.cloned().or(file.content.take());
    }
}

fn overview(html: &mut Html, machines: &[Shown]) {
    let row = |shown: &Shown| {
        let report = &shown.report;
        let bytes = report
            .bytes
            .map_or_else(|| Cell::Text("none".to_owned()), Cell::Number);
        let text = |text: Option<&str>| Cell::Text(text.unwrap_or_default().to_owned());
        vec![
            Cell::Code(report.object.clone()),
            text(Some(report.role)),
            text(report.kubernetes_version.as_deref()),
            text(report.format),
            bytes,
        ]
    };
    let columns = [
        Column::text("Config"),
        Column::text("Role"),
        Column::text("Kubernetes"),
        Column::text("Format"),
        Column::number("Bytes"),
    ];
    table(
        html,
        "Machines of the input",
        &columns,
        machines.iter().map(row),
    );
}

fn of_machine(html: &mut Html, id: &str, shown: &Shown) {
    facts(html, shown);
    placeholders(html, &shown.report);
    let Some(inspected) = &shown.inspected else {
        return html.leaf(
            "p",
            "note",
            "Nothing was rendered: the findings say why, unless they were left out.",
        );
    };
    html.heading(Level::Three, "Boot");
    for document in &inspected.documents {
        inspect::timeline(html, Level::Four, document, inspected);
    }
    shown
        .size
        .iter()
        .for_each(|size| size::parts_shown(html, Level::Three, id, size));
}

fn facts(html: &mut Html, shown: &Shown) {
    let report = &shown.report;
    let sentinel =
        |inspected: &Inspected| Cow::from(inspect::sentinel_words(inspected.sentinel.as_ref()));
    let facts = [
        ("Config", Some(report.object.as_str().into())),
        ("Made by", report.owner.as_deref().map(Cow::from)),
        ("Namespace", report.namespace.as_deref().map(Cow::from)),
        (
            "File",
            Some(format!("{}, document {}", report.file, report.document).into()),
        ),
        ("Cluster API", Some(report.capi_version.as_str().into())),
        (
            "Kubernetes",
            report.kubernetes_version.as_deref().map(Cow::from),
        ),
        ("Format", report.format.map(Cow::from)),
        ("Size", report.bytes.map(|size| bytes(size).into())),
        (
            "Writes the sentinel file",
            shown.inspected.as_ref().map(sentinel),
        ),
    ];
    html.facts(
        &facts
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect::<Vec<_>>(),
    );
}

fn placeholders(html: &mut Html, report: &MachineReport) {
    if report.placeholders.is_empty() {
        return;
    }
    html.heading(Level::Three, "Placeholders");
    let rows = report.placeholders.iter().map(|placeholder| {
        vec![
            Cell::Text(placeholder.name.to_owned()),
            Cell::Code(placeholder.value.clone()),
            Cell::Code(placeholder.flag.clone()),
        ]
    });
    let columns = [
        Column::text("What"),
        Column::text("Value"),
        Column::text("Given by"),
    ];
    table(
        html,
        &format!("What nothing in the input says of {}", report.object),
        &columns,
        rows,
    );
}
