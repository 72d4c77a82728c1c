//! `inspect`: bootstrap data as people and programs read it, without its secrets.

mod html;
mod text;

pub use html::page;
pub(super) use html::{sentinel_words, timeline};
pub use text::text;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::inspect::findings::{LOG_CAUSE, LOG_SUCCESS};
use crate::inspect::log::{self, LogLine, LogReading, Outcome};
use crate::inspect::step::{Action, Document, Failure, Step};
use crate::inspect::{self, FoundCertificate, Inspection, Machine, SecretFacts, Sentinel, content};
use windlass_capi::api::time::Timestamp;
use windlass_objects::secrets::REDACTED;
use windlass_objects::secrets::redacted;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Report, Text};

/// What bootstrap data holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Inspected {
    /// The Secrets that held it.
    pub secrets: Vec<SecretReport>,
    /// Its documents, in their order.
    pub documents: Vec<DocumentReport>,
    /// The contents by machine: one entry for each Secret, and one for data outside of Secrets.
    pub machines: Vec<MachineReport>,
    /// What writes the file by which Cluster API knows that the first machine came up; null when
    /// nothing does.
    pub sentinel: Option<SentinelReport>,
    /// The ids of bootstrap tokens of all machines.
    pub tokens: Vec<String>,
    /// Certificates in the files of all machines.
    pub certificates: Vec<CertificateReport>,
    /// What the log says; null without one.
    pub log: Option<LogReport>,
}

/// A Secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretReport {
    /// `namespace/name`.
    pub name: String,
    /// Its key `format`; null when it has none.
    pub format: Option<String>,
    /// When it was made.
    pub created: Option<String>,
    /// How many seconds ago that is.
    pub age_seconds: Option<i64>,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineReport {
    /// The Secret, as `namespace/name`, or the name of the data.
    pub name: String,
    /// What writes the file by which Cluster API knows that the machine came up; null when nothing
    /// does.
    pub sentinel: Option<SentinelReport>,
    /// The ids of bootstrap tokens.
    pub tokens: Vec<String>,
    /// Certificates in its files.
    pub certificates: Vec<CertificateReport>,
}

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentReport {
    /// The name that findings show.
    pub name: String,
    /// The number of its machine, from 1.
    pub machine: usize,
    /// What it was packed in, from the outside.
    pub packing: Vec<String>,
    /// What it is: `cloud-config`, `Ignition 3.4.0`, `shell script`, `boothook`, `include` or
    /// `unknown`.
    pub form: String,
    /// Whether cloud-init takes it for a jinja template.
    pub jinja: bool,
    /// Its size, unpacked.
    pub bytes: usize,
    /// What the machine does, in this order.
    pub steps: Vec<StepReport>,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// Its number among the steps of all documents, from 1.
    pub number: usize,
    /// The part of the boot: `init`, `network`, `config` and `final` of cloud-init; `fetch`,
    /// `disks` and `files` of Ignition, then `boot`.
    pub stage: &'static str,
    /// Who takes it: a key of the document with the index of its item, or a unit.
    pub by: String,
    /// `file`, `command` or `other`.
    pub kind: &'static str,
    /// The command, or what is done; secrets are redacted.
    pub what: String,
    /// The file that is written.
    pub file: Option<FileReport>,
    /// What follows when it fails: `goes-on`, `reported`, `ends-script`, `ends-module`,
    /// `swallowed`, `stops-boot`, `loses-data`, `of-unit` or `never-runs`.
    pub failure: &'static str,
    /// The same in words.
    pub failure_words: String,
    /// The first line of the log that reports an error of this step; null when none does.
    pub failed_in_line: Option<usize>,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileReport {
    /// Where.
    pub path: String,
    /// `user:group`; null: not said.
    pub owner: Option<String>,
    /// Octal digits; null: not said.
    pub mode: Option<String>,
    /// Whether it is added to what is there.
    pub append: bool,
    /// Its size on the node; null when its content is not in the data, or cannot be decoded.
    pub bytes: Option<usize>,
    /// What its content is.
    pub what: String,
    /// The content, as far as it is text; `<redacted>` unless secrets are shown.
    pub content: Option<String>,
}

/// What writes the sentinel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentinelReport {
    /// The document.
    pub document: String,
    /// The step, or the file with the command.
    pub by: String,
    /// Whether only after the previous command succeeded.
    pub conditional: bool,
}

/// A certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificateReport {
    /// The file on the node.
    pub file: String,
    /// Its subject.
    pub subject: String,
    /// The last second in which it is valid.
    pub not_after: Option<String>,
    /// Whether it has ended.
    pub expired: bool,
}

/// What a log says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogReport {
    /// The file.
    pub file: String,
    /// How many lines it has.
    pub lines: usize,
    /// The result of the bootstrap according to the log: `succeeded`, `failed` or `unknown`.
    pub outcome: &'static str,
    /// The same in words.
    pub outcome_words: String,
    /// The lines that report an error or a warning, or whose cause is known.
    pub found: Vec<LogLineReport>,
    /// How many more such lines there are: repetitions, and those beyond 1000.
    pub omitted: usize,
}

/// A line of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogLineReport {
    /// Its number, from 1.
    pub line: usize,
    /// The line; secrets are redacted.
    pub text: String,
    /// The same without time, host and program.
    pub message: String,
    /// `error` or `warning`; null of other lines whose cause is known.
    pub kind: Option<&'static str>,
    /// How many later lines repeat it.
    pub repeats: usize,
    /// The number of the step that it names.
    pub step: Option<usize>,
    /// What is behind it.
    pub cause: Option<&'static str>,
    /// What to do.
    pub remedy: Option<&'static str>,
    /// A report of it.
    pub report: Option<&'static str>,
}

/// What is inspected.
#[derive(Debug, Clone, Copy)]
pub struct Inspecting<'a> {
    /// The name of the data that findings show.
    pub name: &'a str,
    /// The data.
    pub bytes: &'a [u8],
    /// The name and the text of a log.
    pub log: Option<(&'a str, &'a str)>,
    /// Whether there is only the log.
    pub is_log_alone: bool,
    /// With what ends of certificates are compared, in seconds since 1970.
    pub now: i64,
    /// Whether contents and commands are shown as they are.
    pub show_secrets: bool,
}

/// Inspects bootstrap data: what it holds, what is wrong with it, and the texts whose secrets no
/// finding may show. Data that is a log is read as one.
pub fn run(inspecting: &Inspecting<'_>, budget: &Budget) -> (Inspected, Report, Vec<Source>) {
    let now = Timestamp::of_second(inspecting.now);
    let show = Show {
        secrets: inspecting.show_secrets,
    };
    let as_log = inspect::log_in(inspecting.bytes).filter(|_| inspecting.log.is_none());
    let inspection = match as_log.is_some() || inspecting.is_log_alone {
        true => Inspection::default(),
        false => inspect::inspect(inspecting.name, inspecting.bytes, now, budget),
    };
    let Inspection {
        mut documents,
        secrets,
        machines,
        report,
        texts,
    } = inspection;
    let mut report = if inspecting.show_secrets {
        report
    } else {
        report.into_iter().map(without_quotes).collect()
    };
    let log = inspecting
        .log
        .or(as_log.as_deref().map(|text| (inspecting.name, text)));
    let reading = log.map(|(file, text)| {
        let reading = log::read(text, &documents);
        report.extend(log_findings(file, text, &reading, &documents));
        (file, reading)
    });
    let failed: BTreeMap<usize, usize> = reading
        .iter()
        .flat_map(|(_, reading)| reading.found.iter().rev())
        .filter(|line| line.is_error())
        .filter_map(|line| Some((line.step?, line.line)))
        .collect();
    let mut number = 0;
    let machines: Vec<MachineReport> = machines.into_iter().map(machine_report).collect();
    let inspected = Inspected {
        secrets: secrets
            .into_iter()
            .map(|secret| secret_report(secret, now))
            .collect(),
        documents: documents
            .drain(..)
            .map(|document| show.document(document, &mut number, &failed))
            .collect(),
        sentinel: machines
            .first()
            .and_then(|machine| machine.sentinel.clone()),
        tokens: machines
            .iter()
            .flat_map(|machine| machine.tokens.iter().cloned())
            .collect(),
        certificates: machines
            .iter()
            .flat_map(|machine| machine.certificates.iter().cloned())
            .collect(),
        machines,
        log: reading.map(|(file, reading)| show.log(file, reading)),
    };
    (inspected, report, texts)
}

/// The text of a log, unpacked if it is packed in gzip.
pub fn log_text(bytes: &[u8], budget: &Budget) -> String {
    inspect::log_text(bytes, budget)
}

/// What is said of a folder in the place of data.
pub fn folder(name: &str) -> (Inspected, Report, Vec<Source>) {
    (
        Inspected::default(),
        std::iter::once(inspect::of_folder(name)).collect(),
        Vec::new(),
    )
}

/// A finding of a reader of YAML or of objects without what it quotes: which of the data is secret,
/// only its author knows.
fn without_quotes(mut finding: Diagnostic) -> Diagnostic {
    if !finding.rule.id.starts_with("inspect-") {
        finding.message = finding.rule.summary.into();
        // A path is made of the keys of the document.
        finding.place.path = FieldPath::root();
        finding.label = Text::default();
        finding.related.clear();
        finding.insertion = None;
        finding.help = None;
        finding.upstream = None;
        finding.fix = None;
        finding.notes.retain(|note| *note == inspect::JINJA_FIRST);
    }
    finding
}

/// The causes of lines, each once, and that the log reports success.
fn log_findings(
    file: &str,
    text: &str,
    reading: &LogReading,
    documents: &[Document],
) -> Vec<Diagnostic> {
    let source = Source::new(file, text);
    let place = |line: usize| {
        let range = u32::try_from(line)
            .ok()
            .and_then(|line| source.line_range(line));
        range.map_or_else(
            || source.place(),
            |range| source.place_at(range.start..range.start),
        )
    };
    let causes = reading.found.iter().filter(|line| !line.is_cause_repeated);
    let mut found: Vec<Diagnostic> = causes
        .filter_map(|line| cause(line, place(line.line), documents))
        .collect();
    if let Some((what, line)) = reading
        .success
        .filter(|_| reading.outcome == Outcome::Succeeded)
    {
        let message = format!("{what} succeeded on this machine");
        let finding = Diagnostic::of(&LOG_SUCCESS, message).at(place(line));
        found.push(finding.help("check what follows: whether the control plane endpoint reaches this machine, the CNI, the Node's `spec.providerID`, and the sentinel file"));
    }
    found
}

fn cause(line: &LogLine, place: Place, documents: &[Document]) -> Option<Diagnostic> {
    let known = line.known?;
    let mut finding = Diagnostic::of(&LOG_CAUSE, known.cause).at(place);
    if let Some(step) = line.step.and_then(|at| {
        documents
            .iter()
            .flat_map(|document| &document.steps)
            .nth(at)
    }) {
        finding = finding.note(format!(
            "the line is about step {}, {}",
            line.step.unwrap_or_default() + 1,
            step.by
        ));
    }
    Some(
        finding
            .help(known.remedy)
            .note(format!("reported in {}", known.report)),
    )
}

fn secret_report(secret: SecretFacts, now: Timestamp) -> SecretReport {
    SecretReport {
        name: secret.name,
        format: (!secret.format.is_empty()).then_some(secret.format),
        created: secret.created.map(|created| created.to_string()),
        age_seconds: secret
            .created
            .map(|created| now.as_second() - created.as_second()),
    }
}

fn machine_report(machine: Machine) -> MachineReport {
    let Machine {
        name,
        sentinel,
        tokens,
        certificates,
    } = machine;
    let sentinel = sentinel.map(
        |Sentinel {
             document,
             by,
             conditional,
         }| SentinelReport {
            document,
            by,
            conditional,
        },
    );
    MachineReport {
        name,
        sentinel,
        tokens,
        certificates: certificates.into_iter().map(certificate_report).collect(),
    }
}

fn certificate_report(found: FoundCertificate) -> CertificateReport {
    let FoundCertificate {
        file,
        certificate,
        expired,
    } = found;
    CertificateReport {
        file,
        subject: certificate.subject,
        not_after: certificate.not_after,
        expired,
    }
}

#[derive(Debug, Clone, Copy)]
struct Show {
    secrets: bool,
}

impl Show {
    fn text(self, text: &str) -> String {
        if self.secrets {
            text.to_owned()
        } else {
            redacted(text)
        }
    }

    fn log(self, file: &str, reading: LogReading) -> LogReport {
        LogReport {
            file: file.to_owned(),
            lines: reading.lines,
            outcome: reading.outcome.as_str(),
            outcome_words: reading.words(),
            omitted: reading.omitted,
            found: reading
                .found
                .into_iter()
                .map(|line| self.line(line))
                .collect(),
        }
    }

    fn line(self, line: LogLine) -> LogLineReport {
        LogLineReport {
            line: line.line,
            text: self.text(&line.text),
            message: self.text(&line.message),
            kind: line.kind.map(log::Kind::as_str),
            repeats: line.repeats,
            step: line.step.map(|at| at + 1),
            cause: line.known.map(|known| known.cause),
            remedy: line.known.map(|known| known.remedy),
            report: line.known.map(|known| known.report),
        }
    }

    fn document(
        self,
        document: Document,
        number: &mut usize,
        failed: &BTreeMap<usize, usize>,
    ) -> DocumentReport {
        let step = |step: Step| {
            *number += 1;
            self.step(step, *number, failed.get(&(*number - 1)).copied())
        };
        DocumentReport {
            form: document.form.words(),
            name: document.name,
            machine: document.machine + 1,
            packing: document.packing,
            jinja: document.has_jinja,
            bytes: document.bytes,
            steps: document.steps.into_iter().map(step).collect(),
        }
    }

    fn step(self, step: Step, number: usize, failed_in_line: Option<usize>) -> StepReport {
        let (kind, what, file) = match step.action {
            Action::Command(command) => ("command", self.text(command.expose()), None),
            Action::Other(what) => ("other", self.text(&what), None),
            Action::File(file) => {
                let file = self.file(file);
                ("file", file.path.clone(), Some(file))
            }
        };
        let failure: Failure = step.failure;
        StepReport {
            number,
            stage: step.stage,
            by: step.by,
            kind,
            what,
            file,
            failure: failure.as_str(),
            failure_words: failure.words(),
            failed_in_line,
        }
    }

    fn file(self, file: inspect::step::FileOnNode) -> FileReport {
        let or_none = |text: String| (!text.is_empty()).then_some(text);
        let content = file
            .content
            .as_ref()
            .map(|content| content.expose().as_slice());
        let text = content.and_then(|content| std::str::from_utf8(content).ok());
        FileReport {
            bytes: content.map(<[u8]>::len),
            what: content.map_or_else(|| "not in the data".to_owned(), content::what),
            content: text.map(|text| {
                if self.secrets {
                    text.to_owned()
                } else {
                    REDACTED.to_owned()
                }
            }),
            path: file.path,
            owner: or_none(file.owner),
            mode: or_none(file.mode),
            append: file.append,
        }
    }
}
