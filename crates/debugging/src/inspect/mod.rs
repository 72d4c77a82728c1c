//! Bootstrap data read back, whoever wrote it: what it is packed in, what it has the machine do in
//! which order, and what can go wrong unseen.
//!
//! 1. `layers` takes off what the data is packed in: a Secret's manifest, base64, gzip, MIME. What
//!    is left are documents.
//! 2. `cloud_config` and `ignition` make steps of a document, in the order in which the machine
//!    takes them.
//! 3. `merge` tells which of them never run, `shell`, `scripts`, `certificates` and `judge` look at
//!    the others; `log` lays a machine's log beside them.
//!
//! Nothing here shows a secret: contents and commands are
//! [`Sensitive`], and `objects::secrets` cleans what is shown.

mod beginning;
mod certificates;
mod cloud_config;
pub mod content;
mod fetched;
mod files;
pub mod findings;
mod foreign;
mod ignition;
mod judge;
mod known_errors;
mod layers;
pub mod log;
mod merge;
mod mime;
mod order;
mod scripts;
pub mod sections;
mod shell;
pub mod step;
mod windows;

pub use cloud_config::JINJA_FIRST;
pub use foreign::of_folder;
pub use judge::{FoundCertificate, Sentinel};
pub use layers::{SecretFacts, documents_in};

use layers::Unpacked;
use step::{Action, Document, Failure, Form, Step};
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::time::Timestamp;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report};
use windlass_source::gzip;

/// The result of reading bootstrap data back.
#[derive(Debug, Default)]
pub struct Inspection {
    /// The documents, in their order, those of one machine together.
    pub documents: Vec<Document>,
    /// The Secrets that held the data; empty when the input is not a manifest of Secrets.
    pub secrets: Vec<SecretFacts>,
    /// The machines; `Document::machine` is an index into them.
    pub machines: Vec<Machine>,
    /// The findings about the layers, the documents and the machines.
    pub report: Report,
    /// The texts of the documents, whose secrets no finding may show.
    pub texts: Vec<Source>,
}

/// What the documents of one machine come to together.
#[derive(Debug, Default)]
pub struct Machine {
    /// The Secret, as `namespace/name`, or the name of the data.
    pub name: String,
    /// Who writes the file by which Cluster API knows that the machine came up.
    pub sentinel: Option<Sentinel>,
    /// The ids of bootstrap tokens.
    pub tokens: Vec<String>,
    /// The certificates in files that the machine writes, in the order of the steps; at most 1000.
    pub certificates: Vec<FoundCertificate>,
}

/// The maximum number of steps that are made of all documents of a run.
const MOST_STEPS: usize = 10_000;

/// Reads bootstrap data back. `now`: with what the ends of certificates are compared.
pub fn inspect(name: &str, bytes: &[u8], now: Timestamp, budget: &Budget) -> Inspection {
    let peeled = layers::peel(name, bytes, budget);
    let mut inspection = Inspection {
        secrets: peeled.secrets,
        report: peeled.report,
        ..Inspection::default()
    };
    let mut left = MOST_STEPS;
    let mut is_cut = false;
    let mut documents: Vec<Document> = Vec::with_capacity(peeled.documents.len());
    for unpacked in &peeled.documents {
        // One more than there may be tells that there are more.
        let mut document = read(unpacked, left + 1, budget, &mut inspection.report);
        is_cut |= document.steps.len() > left;
        document.steps.truncate(left);
        left -= document.steps.len();
        documents.push(document);
    }
    let texts: Vec<Source> = peeled
        .documents
        .into_iter()
        .map(|unpacked| unpacked.source)
        .collect();
    let is_alone = peeled.machines.len() == 1;
    for (at, machine) in peeled.machines.into_iter().enumerate() {
        let first = documents.partition_point(|document| document.machine < at);
        let behind = documents.partition_point(|document| document.machine <= at);
        let name = texts
            .get(first)
            .filter(|_| !is_alone)
            .map_or(name, |text| text.name().as_ref());
        let machine = Machine {
            name: machine,
            ..Machine::default()
        };
        inspection.machines.push(judge::machine(
            name,
            machine,
            &mut documents[first..behind],
            &texts[first..behind],
            now,
            &mut inspection.report,
        ));
    }
    if let Some(source) = texts.first().filter(|_| is_cut) {
        let message =
            format!("the documents have more than {MOST_STEPS} steps, and later ones are not read");
        let finding = Diagnostic::of(&findings::STEPS_CUT, message).at(source.place());
        inspection
            .report
            .push(finding.help("inspect the parts one by one"));
    }
    (inspection.documents, inspection.texts) = (documents, texts);
    budget.tell(&mut inspection.report);
    inspection
}

/// The text of a log, unpacked if it is packed in gzip.
pub fn log_text(bytes: &[u8], budget: &Budget) -> String {
    let unpacked = layers::is_gzip(bytes)
        .then(|| content::unpacked(bytes, budget).ok())
        .flatten();
    String::from_utf8_lossy(unpacked.as_deref().unwrap_or(bytes)).into_owned()
}

/// The text of data that is a log, and `None` of other data.
pub(crate) fn log_in(bytes: &[u8]) -> Option<String> {
    let unpacked = layers::is_gzip(bytes)
        .then(|| gzip::decompress(bytes, content::MOST_UNPACKED))
        .flatten();
    let text = String::from_utf8_lossy(unpacked.as_deref().unwrap_or(bytes));
    let is_data = || {
        beginning::of(&text).form != Form::Other
            || layers::is_manifest(&text)
            || mime::is_message(&text)
            || foreign::is_of_kubectl(&text)
    };
    (log::is_log(&text) && !is_data()).then(|| text.into_owned())
}

/// Reads a document, of which at most so many steps are made.
fn read(unpacked: &Unpacked, most: usize, budget: &Budget, report: &mut Report) -> Document {
    let source = &unpacked.source;
    let text = source.text();
    let beginning = beginning::of(text);
    let form = unpacked.declared.clone().unwrap_or(beginning.form);
    let packing = unpacked.packing.clone();
    let has_jinja = beginning.has_jinja;
    let mut document = Document {
        packing,
        form: form.clone(),
        has_jinja,
        machine: unpacked.machine,
        ..Document::of(source.name(), text)
    };
    match form {
        Form::CloudConfig => cloud_config::read(source, &mut document, most, budget, report),
        Form::Ignition(_) => {
            let (version, steps) = ignition::steps(source, most, budget, report);
            document.steps = steps;
            document.form = Form::Ignition(version);
        }
        Form::Script => {
            document.steps = vec![script("final", "scripts_user", text, Failure::Reported)]
        }
        Form::Boothook => {
            document.steps = vec![script("init", "boothook", boothook(text), Failure::GoesOn)]
        }
        Form::Other if unpacked.declared.is_none() && !unpacked.is_part() => {
            report.push(foreign::finding(source))
        }
        Form::Include => document.steps = fetched::steps(text),
        Form::Other => {
            let (message, help) = unread(unpacked);
            let finding = Diagnostic::of(&findings::DOCUMENT_UNREAD, message).at(source.place());
            report.push(finding.help(help));
        }
    }
    document.steps.truncate(most);
    document
}

/// A boothook as cloud-init writes it, without the line that names it (`boot_hook.py`).
fn boothook(text: &str) -> &str {
    text.strip_prefix("#cloud-boothook")
        .unwrap_or(text)
        .trim_start()
}

fn unread(unpacked: &Unpacked) -> (&'static str, &'static str) {
    let is_of_eks = |layer: &String| layer.contains("application/node.eks.aws");
    if unpacked.packing.iter().any(is_of_eks) {
        (
            "the part is read by nodeadm of Amazon EKS, and not by cloud-init",
            "read the log of nodeadm with `journalctl -u nodeadm-config -u nodeadm-run`",
        )
    } else {
        (
            "the document begins as none that cloud-init or Ignition reads",
            "begin cloud-config with the line `#cloud-config`, scripts with `#!`, and Ignition with `{`",
        )
    }
}

/// A script as a whole: what its own lines do is its own business. cloud-init writes it with LF
/// when its first line ends with CR LF (`dos2unix`).
fn script(stage: &'static str, by: &str, text: &str, failure: Failure) -> Step {
    let is_of_dos = text
        .split_once('\n')
        .is_some_and(|(first, _)| first.ends_with('\r'));
    let text = if is_of_dos {
        &text.replace("\r\n", "\n")
    } else {
        text
    };
    let action = Action::Command(Sensitive::new(text.to_owned()));
    let sentinel = shell::Reading::of_file(text).sentinel(&shell::WHOLE);
    Step {
        stage,
        by: by.to_owned(),
        action,
        failure,
        lines: None,
        at: 0,
        sentinel,
    }
}

/// So many of something: `1 key`, `2 keys`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(part: &str, count: usize) -> Inspection {
        let part = format!("--b\n\n{part}\n");
        let message = format!(
            "Content-Type: multipart/mixed; boundary=b\n\n{}--b--\n",
            part.repeat(count)
        );
        inspect(
            "f",
            message.as_bytes(),
            Timestamp::of_second(0),
            &Budget::default(),
        )
    }

    fn told<'i>(found: &'i Inspection, rule: &str) -> Vec<&'i str> {
        found
            .report
            .findings()
            .iter()
            .filter(|finding| finding.rule.id == rule)
            .map(|finding| finding.message.as_str())
            .collect()
    }

    /// All documents of a run together have a bound, and the cut is reported once.
    #[test]
    fn the_steps_of_all_documents_have_one_bound() {
        let found = parts(
            &format!("#cloud-config\nruncmd:\n{}", "- a\n".repeat(6_000)),
            3,
        );
        let counts: Vec<_> = found
            .documents
            .iter()
            .map(|document| document.steps.len())
            .collect();
        assert_eq!(counts, [6_000, 4_000, 0]);
        assert_eq!(told(&found, "inspect-steps-cut").len(), 1);
        for count in [1, 5_000] {
            let exactly = parts(
                &format!("#cloud-config\nruncmd:\n{}", "- a\n".repeat(count)),
                2,
            );
            assert!(told(&exactly, "inspect-steps-cut").is_empty(), "{count}");
        }
    }

    #[test]
    fn replaced_keys_are_told_fifty_times_and_then_counted() {
        let keys: String = (0..60).map(|n| format!("k{n}: 1\n")).collect();
        let found = parts(&format!("#cloud-config\n{keys}"), 3);
        let told = told(&found, "inspect-key-replaced");
        assert_eq!(told.len(), 51);
        assert!(told[50].starts_with("70 more keys"), "{}", told[50]);
    }
}
