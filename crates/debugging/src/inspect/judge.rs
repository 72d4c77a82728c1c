//! What can go wrong unseen: swallowed failures, a sentinel that nobody writes, certificates that
//! end.

use std::collections::BTreeMap;

use super::Machine;
use super::certificates::{self, Certificate};
use super::content::token_ids;
use super::fetched;
use super::files;
use super::findings::{
    CERTIFICATE_EXPIRED, CERTIFICATE_EXPIRING, FAILURE_SWALLOWED, FILE_TWICE, JINJA_UNREAD,
    SENTINEL_MISSING, SENTINEL_UNCONDITIONAL,
};
use super::merge;
use super::scripts;
use super::shell::{Reading, WHOLE};
use super::step::{Action, Document, Failure, FileOnNode, Form, SENTINEL, Step};
use super::windows::{self, has_drive};
use windlass_bootstrap::render::write::cloud_config::Paths;
use windlass_capi::api::boot::Platform;
use windlass_capi::api::time::Timestamp;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Place, Report};
use windlass_source::glob::plain;

/// Seconds in which a certificate that ends is worth a word: thirty days.
const SOON: i64 = 30 * 24 * 60 * 60;

/// The maximum number of findings of one kind about one document.
const MOST: usize = 50;

const MOST_CERTIFICATES: usize = 1000;

/// Who writes the file by which Cluster API knows that a machine came up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentinel {
    /// The name of the document that contains the step.
    pub document: String,
    /// The step, as it is named, or the file that has the command.
    pub by: String,
    /// Whether only after the previous command succeeded.
    pub conditional: bool,
}

/// A certificate in a file that the machine writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCertificate {
    /// The file on the node.
    pub file: String,
    /// The subject and the end of validity.
    pub certificate: Certificate,
    /// Whether it ended before the time of the inspection; `false` when its end cannot be read.
    pub expired: bool,
}

pub(super) fn machine(
    name: &str,
    machine: Machine,
    documents: &mut [Document],
    texts: &[Source],
    now: Timestamp,
    report: &mut Report,
) -> Machine {
    merge::replaced(documents, texts, report);
    let mut judging = Judging { machine, report };
    let accounts = files::Accounts::of(documents);
    for (document, source) in documents.iter().zip(texts) {
        self::document(document, source, now, &mut judging);
        let found = files::check(document, &accounts)
            .take(MOST)
            .map(|(step, finding)| finding.at(place(document, step, source)));
        judging.report.extend(found);
    }
    judging.report.extend(fetched::findings(documents, texts));
    whole(name, documents, &mut judging);
    judging.machine
}

/// A machine that is looked at.
struct Judging<'r> {
    machine: Machine,
    report: &'r mut Report,
}

fn document(document: &Document, source: &Source, now: Timestamp, judging: &mut Judging<'_>) {
    swallowed(document, source, judging);
    files_twice(document, source, judging);
    jinja(document, source, judging);
    for step in document.steps.iter().filter(|step| step.runs()) {
        sentinel(document, step, source, judging);
        let finding = scripts::of_step(document, step, source);
        let is_placed = |finding: &Diagnostic| finding.place.file.is_some();
        judging.report.extend(finding.map(|finding| {
            if is_placed(&finding) {
                finding
            } else {
                finding.at(place(document, step, source))
            }
        }));
        match &step.action {
            Action::Command(command) => token_ids(command.expose(), &mut judging.machine.tokens),
            Action::File(file) => {
                let Some(content) = &file.content else {
                    continue;
                };
                if let Ok(text) = std::str::from_utf8(content.expose()) {
                    token_ids(text, &mut judging.machine.tokens);
                }
                for certificate in certificates::of_file(content.expose()) {
                    expiry(&file.path, certificate, step, source, now, judging);
                }
            }
            Action::Other(_) => {}
        }
    }
}

/// Reports that no document writes the sentinel file.
fn whole(name: &str, documents: &[Document], judging: &mut Judging<'_>) {
    let is_read = |document: &Document| {
        !matches!(document.form, Form::Other | Form::Include) && !document.steps.is_empty()
    };
    let has_further = documents.iter().any(fetched::is_fetched);
    if judging.machine.sentinel.is_none() && !has_further && documents.iter().any(is_read) {
        let file = Paths::on(if documents.iter().any(is_for_windows) {
            Platform::Windows
        } else {
            Platform::Linux
        })
        .sentinel;
        let message = format!("nothing writes {file}");
        let finding = Diagnostic::of(&SENTINEL_MISSING, message).at(Place::file(name));
        let finding = finding
            .note("Cluster API's contract asks for the file, and providers that wait for it take the machine for one that never came up");
        judging.report.push(finding.help(format!(
            "add `&& echo success > {file}` after the command that joins"
        )));
    }
}

/// Whether a document writes files on a drive.
fn is_for_windows(document: &Document) -> bool {
    document
        .steps
        .iter()
        .any(|step| matches!(&step.action, Action::File(file) if has_drive(&file.path)))
}

/// Where a step stands: Ignition's have no place of their own.
fn place(document: &Document, step: &Step, source: &Source) -> Place {
    match document.form {
        Form::CloudConfig => source.place_at(step.at..step.at),
        _ => source.place(),
    }
}

fn swallowed(document: &Document, source: &Source, judging: &mut Judging<'_>) {
    let hidden = document.steps.iter().filter_map(|step| match step.failure {
        Failure::Swallowed(how) => Some((step, how)),
        _ => None,
    });
    for (step, how) in hidden.take(MOST) {
        let finding = Diagnostic::of(
            &FAILURE_SWALLOWED,
            format!("the failure of {} is ignored: {how}", step.by),
        );
        let finding = finding.at(place(document, step, source));
        judging
            .report
            .push(finding.help("if the machine needs the command, let its failure end the script"));
    }
}

fn files_twice(document: &Document, source: &Source, judging: &mut Judging<'_>) {
    let mut known: BTreeMap<&str, &Step> = BTreeMap::new();
    let mut told = 0;
    for step in document.steps.iter().filter(|step| step.runs()) {
        let Action::File(file) = &step.action else {
            continue;
        };
        let earlier = if file.append {
            None
        } else {
            known.insert(file.path.as_str(), step)
        };
        if let Some(earlier) = earlier.filter(|_| told < MOST) {
            told += 1;
            let message = format!(
                "{} writes {} over what {} wrote",
                step.by, file.path, earlier.by
            );
            let finding = Diagnostic::of(&FILE_TWICE, message).at(place(document, step, source));
            judging
                .report
                .push(finding.help("remove one of the two, or set `append: true`"));
        }
    }
}

/// Jinja in a document without its header reaches the node as it stands.
fn jinja(document: &Document, source: &Source, judging: &mut Judging<'_>) {
    if document.has_jinja || document.form != Form::CloudConfig {
        return;
    }
    let asks = ["{{ ds.", "{{ v1.", "{{ds.", "{{v1."];
    if let Some(at) = asks.iter().filter_map(|ask| source.text().find(ask)).min() {
        let message =
            "the document asks for instance data, and its first line is not `## template: jinja`";
        let finding = Diagnostic::of(&JINJA_UNREAD, message).at(source.place_at(at..at + 2));
        judging
            .report
            .push(finding.help(
                "make `## template: jinja` the first line, or expect the braces on the node",
            ));
    }
}

/// The step that writes the sentinel; the first of several counts.
fn sentinel(document: &Document, step: &Step, source: &Source, judging: &mut Judging<'_>) {
    if judging.machine.sentinel.is_some() {
        return;
    }
    let (by, conditional, help) = match &step.action {
        Action::Command(_) => (
            step.by.clone(),
            step.sentinel,
            behind(is_for_windows(document)),
        ),
        Action::File(file) if is_sentinel(&file.path) => (
            step.by.clone(),
            Some(false),
            "leave the file out, and let the command that joins write it after `&&`",
        ),
        Action::File(file) => (
            file.path.clone(),
            sentinel_of_script(file),
            behind(windows::is_script(&file.path)),
        ),
        Action::Other(_) => return,
    };
    let Some(conditional) = conditional else {
        return;
    };
    if !conditional {
        let message = format!("{by} writes the sentinel file even if the command before it fails");
        let finding =
            Diagnostic::of(&SENTINEL_UNCONDITIONAL, message).at(place(document, step, source));
        judging.report.push(finding.help(help));
    }
    judging.machine.sentinel = Some(Sentinel {
        document: document.name.clone(),
        by,
        conditional,
    });
}

/// How a command asks whether the one before it succeeded.
fn behind(is_windows: bool) -> &'static str {
    match is_windows {
        true => {
            "write it after `if ($LASTEXITCODE -eq 0)` in PowerShell, and after `|| exit /b 1` in a batch file"
        }
        false => "write it after `&&`, or begin the script with `set -e`",
    }
}

/// Whether a path is that of the sentinel file.
fn is_sentinel(path: &str) -> bool {
    match has_drive(path) {
        true => path
            .replace('/', "\\")
            .eq_ignore_ascii_case(Paths::on(Platform::Windows).sentinel),
        false => {
            path.starts_with('/')
                && format!("/{}", plain(path.trim_start_matches('/')))
                    == Paths::on(Platform::Linux).sentinel
        }
    }
}

/// Whether a script among the files writes the sentinel file, and only when what stands
/// before it succeeded.
fn sentinel_of_script(file: &FileOnNode) -> Option<bool> {
    let text = std::str::from_utf8(file.content.as_ref()?.expose()).ok()?;
    if windows::is_script(&file.path) {
        windows::sentinel(text)
    } else {
        // Few files name it, and reading a script takes much longer than searching.
        text.contains(SENTINEL)
            .then(|| Reading::of_file(text).sentinel(&WHOLE))
            .flatten()
    }
}

fn expiry(
    file: &str,
    certificate: Certificate,
    step: &Step,
    source: &Source,
    now: Timestamp,
    judging: &mut Judging<'_>,
) {
    let left = certificate
        .until
        .map(|until| until.as_second() - now.as_second());
    let expired = left.is_some_and(|left| left < 0);
    if let Some(until) = certificate
        .not_after
        .as_ref()
        .filter(|_| left.is_some_and(|left| left < SOON))
    {
        let rule = if expired {
            &CERTIFICATE_EXPIRED
        } else {
            &CERTIFICATE_EXPIRING
        };
        let message = format!(
            "the certificate of {} in {file} is valid until {until}",
            certificate.subject
        );
        let finding = Diagnostic::of(rule, message).at(source.place_at(step.at..step.at));
        judging.report.push(
            finding
                .help("renew the Secret that it comes from, and let the provider write new data"),
        );
    }
    if judging.machine.certificates.len() < MOST_CERTIFICATES {
        judging.machine.certificates.push(FoundCertificate {
            file: file.to_owned(),
            certificate,
            expired,
        });
    }
}
