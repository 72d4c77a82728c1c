//! What bootstrap data is packed in: a Secret's manifest, base64, gzip, MIME, each in any other.

use super::beginning;
use super::content::{MOST_UNPACKED, unpacked};
use super::findings::{DATA_UNREADABLE, DOCUMENT_INVALID};
use super::mime;
use super::step::Form;
use windlass_capi::api::time::Timestamp;
use windlass_go_text::base64;
use windlass_go_yaml::yaml;
use windlass_objects::{Object, Pool};
use windlass_source::Source;
use windlass_source::budget::{Budget, Resource};
use windlass_source::diag::{Diagnostic, Place, Report, Text};

/// How gzip begins (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The maximum number of layers around a document.
const DEEPEST: usize = 8;

const MOST_DOCUMENTS: usize = 1000;

/// The maximum number of bytes of all layers together.
const MOST_IN_ALL: usize = 4 * MOST_UNPACKED;

/// The keys of a Secret in which bootstrap data lies; the contract has the first (book: "Bootstrap
/// provider: the data secret").
const KEYS: [&str; 4] = ["value", "userData", "userdata", "user-data"];

/// A document without its layers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unpacked {
    /// The text, under the name that findings show.
    pub(super) source: Source,
    /// The layers, from the outside.
    pub(super) packing: Vec<String>,
    /// What its part of a message says that it is.
    pub(super) declared: Option<Form>,
    /// Whose it is: an index into the machines.
    pub(super) machine: usize,
}

impl Unpacked {
    /// Whether it is one of several that cloud-init gets together, and passes over when it does not
    /// know it.
    pub(super) fn is_part(&self) -> bool {
        self.packing
            .iter()
            .any(|layer| layer.starts_with("MIME part") || layer.starts_with("archive part"))
    }
}

/// A Secret that held bootstrap data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFacts {
    /// `namespace/name`.
    pub name: String,
    /// Its key `format`; empty when it has none.
    pub format: String,
    /// Its `metadata.creationTimestamp`; `None` when it is absent or cannot be parsed.
    pub created: Option<Timestamp>,
}

#[derive(Debug, Default)]
pub(super) struct Peeled {
    pub(super) documents: Vec<Unpacked>,
    pub(super) secrets: Vec<SecretFacts>,
    /// The names of the machines: each Secret is the data of one, and so is what no Secret holds.
    pub(super) machines: Vec<String>,
    /// What could not be taken off.
    pub(super) report: Report,
}

struct Packed {
    name: String,
    packing: Vec<String>,
    bytes: Vec<u8>,
    declared: Option<Form>,
    machine: usize,
}

impl Packed {
    fn inner(&self, layer: String, bytes: Vec<u8>) -> Packed {
        let name = format!("{} ({layer})", self.name);
        let packing = self.packing.iter().cloned().chain([layer]).collect();
        Packed {
            name,
            packing,
            bytes,
            declared: self.declared.clone(),
            machine: self.machine,
        }
    }
}

/// Takes all layers off. All of them together give at most 64 MiB.
pub(super) fn peel(name: &str, bytes: &[u8], budget: &Budget) -> Peeled {
    let mut peeled = Peeled {
        machines: vec![name.to_owned()],
        ..Peeled::default()
    };
    let mut left = MOST_IN_ALL;
    let mut stack = vec![Packed {
        name: name.to_owned(),
        packing: Vec::new(),
        bytes: bytes.to_vec(),
        declared: None,
        machine: 0,
    }];
    while let Some(packed) = stack.pop() {
        let too_much = packed.packing.len() > DEEPEST
            || packed.bytes.len() > left
            || peeled.documents.len() >= MOST_DOCUMENTS;
        if too_much {
            let message = format!(
                "the data has more than {DEEPEST} layers, {MOST_DOCUMENTS} documents or {} MiB",
                MOST_IN_ALL >> 20
            );
            peeled.report.push(unreadable(message, &packed.name));
            break;
        }
        left -= packed.bytes.len();
        let mut inner = open(packed, &mut peeled, budget);
        inner.reverse();
        stack.append(&mut inner);
    }
    peeled
}

/// The documents in data that is packed as a whole, in gzip or base64, and what is wrong with it;
/// `None` when it is not, or when a message or an archive is packed, whose parts belong together.
/// Each byte that comes out is a step of the run.
pub fn documents_in(name: &str, bytes: &[u8], budget: &Budget) -> Option<(Vec<Source>, Report)> {
    let is_encoded = || std::str::from_utf8(bytes).is_ok_and(|text| from_base64(text).is_some());
    let peeled = (bytes.starts_with(&GZIP) || is_encoded()).then(|| peel(name, bytes, budget))?;
    if peeled.documents.iter().any(Unpacked::is_part) {
        return None;
    }
    let documents: Vec<Source> = peeled
        .documents
        .into_iter()
        .map(|unpacked| unpacked.source)
        .collect();
    match budget.charge(documents.iter().map(|document| document.text().len()).sum()) {
        Ok(()) => Some((documents, peeled.report)),
        Err(exceeded) => Some((
            Vec::new(),
            [unreadable(exceeded.to_string(), name).help("give fewer files to one run")]
                .into_iter()
                .collect(),
        )),
    }
}

fn unreadable(message: impl Into<Text>, name: &str) -> Diagnostic {
    Diagnostic::of(&DATA_UNREADABLE, message).at(Place::file(name))
}

/// Takes one layer off; what has none is a document.
fn open(packed: Packed, peeled: &mut Peeled, budget: &Budget) -> Vec<Packed> {
    if packed.bytes.starts_with(&GZIP) {
        return match unpacked(&packed.bytes, budget) {
            Ok(bytes) => vec![packed.inner("gzip".to_owned(), bytes)],
            Err(fault) => {
                let finding = unreadable(format!("it begins as gzip and is {fault}"), &packed.name);
                peeled
                    .report
                    .push(finding.help(match budget.is_spent(Resource::Unpacked) {
                        true => "give fewer files to one run",
                        false => {
                            "copy it again, to its end and as bytes; kubectl prints it in base64"
                        }
                    }));
                Vec::new()
            }
        };
    }
    let text = match String::from_utf8(packed.bytes.clone()) {
        Ok(text) => text,
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&packed.bytes).into_owned();
            let place = Source::new(packed.name.as_str(), text.as_str()).place_at(valid..valid);
            let finding = Diagnostic::of(&DOCUMENT_INVALID, "the document is not UTF-8").at(place);
            peeled
                .report
                .push(finding.help("encode the content of binary files as base64"));
            text
        }
    };
    if packed.declared.is_none() && is_manifest(&text) {
        return of_secrets(&packed, &text, peeled, budget);
    }
    if mime::is_message(&text) {
        return of_message(&packed, &text, peeled);
    }
    if packed.declared.is_none() {
        if let Some(bytes) = from_base64(&text) {
            return vec![packed.inner("base64".to_owned(), bytes)];
        }
        if beginning::of(&text).is_archive {
            return of_archive(&packed, text, peeled, budget);
        }
    }
    let Packed {
        name,
        packing,
        declared,
        machine,
        ..
    } = packed;
    peeled.documents.push(Unpacked {
        source: Source::new(name, text),
        packing,
        declared,
        machine,
    });
    Vec::new()
}

pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP)
}

/// Whether a text is what kubectl prints of a Secret, or of several.
pub(super) fn is_manifest(text: &str) -> bool {
    if text.starts_with('#') && !text.starts_with("# ") {
        return false;
    }
    let is_kind = |line: &str| {
        let line = line.trim().trim_end_matches(',').replace(['"', ' '], "");
        matches!(
            line.as_str(),
            "kind:Secret" | "kind:List" | "kind:SecretList"
        )
    };
    let is_json = text.starts_with('{') && text.contains("\"kind\":\"Secret\"");
    is_json || (text.contains("apiVersion") && text.lines().any(is_kind))
}

fn of_secrets(packed: &Packed, text: &str, peeled: &mut Peeled, budget: &Budget) -> Vec<Packed> {
    let (pool, unreadable_yaml) = Pool::read(&[Source::new(packed.name.as_str(), text)], budget);
    peeled.report.extend(unreadable_yaml);
    let secrets: Vec<&Object> = pool
        .objects()
        .iter()
        .filter(|object| object.is("", "Secret"))
        .collect();
    if secrets.is_empty() && !peeled.report.has_errors() {
        peeled
            .report
            .push(unreadable("the manifest holds no Secret", &packed.name));
    }
    let mut found = Vec::new();
    for secret in secrets {
        let Some((key, value)) = KEYS
            .iter()
            .find_map(|key| Some((*key, value(secret, key)?)))
        else {
            let message = format!(
                "{} has no key `value`, in which bootstrap data lies",
                secret.title()
            );
            let finding = Diagnostic::of(&DATA_UNREADABLE, message)
                .at(secret.place(&windlass_source::diag::FieldPath::root().field("data")));
            peeled.report.push(
                finding.help("name the Secret of `spec.bootstrap.dataSecretName` of the Machine"),
            );
            continue;
        };
        let layer = format!("Secret {}, {key}", secret.name());
        match value {
            Ok(bytes) => {
                let machine = peeled.machine_of(packed, found.is_empty(), secret);
                found.push(Packed {
                    machine,
                    ..packed.inner(layer, bytes)
                });
            }
            Err(at) => {
                let place = secret.place(
                    &windlass_source::diag::FieldPath::root()
                        .field("data")
                        .field(key),
                );
                let finding = Diagnostic::of(
                    &DATA_UNREADABLE,
                    format!("data.{key} is not base64 from its byte {at} on"),
                )
                .at(place);
                peeled.report.push(
                    finding.help(
                        "print the Secret again; what is not encoded belongs into `stringData`",
                    ),
                );
            }
        }
        let format = value_text(secret, "format");
        let created = Timestamp::parse(secret.text(&["metadata", "creationTimestamp"]));
        peeled.secrets.push(SecretFacts {
            name: format!("{}/{}", secret.namespace_or_default(), secret.name()),
            format,
            created,
        });
    }
    found
}

impl Peeled {
    /// The machine of a Secret: of the first that a manifest holds it is that of the manifest.
    fn machine_of(&mut self, packed: &Packed, is_first: bool, secret: &Object) -> usize {
        let name = format!("{}/{}", secret.namespace_or_default(), secret.name());
        match is_first {
            true => {
                self.machines[packed.machine] = name;
                packed.machine
            }
            false => {
                self.machines.push(name);
                self.machines.len() - 1
            }
        }
    }
}

/// What a key of a Secret holds: as text, or in base64.
fn value(secret: &Object, key: &str) -> Option<Result<Vec<u8>, usize>> {
    if let Some(text) = secret
        .field(&["stringData", key])
        .and_then(serde_json::Value::as_str)
    {
        return Some(Ok(text.as_bytes().to_vec()));
    }
    let text = secret
        .field(&["data", key])
        .and_then(serde_json::Value::as_str)?;
    Some(base64::decode(text.trim()))
}

fn value_text(secret: &Object, key: &str) -> String {
    let bytes = value(secret, key).and_then(Result::ok).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

fn of_message(packed: &Packed, text: &str, peeled: &mut Peeled) -> Vec<Packed> {
    let parts = match mime::parts(text) {
        Ok(parts) => parts,
        Err(fault) => {
            peeled.report.push(unreadable(
                format!("the MIME message has {fault}"),
                &packed.name,
            ));
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        let called = part
            .filename
            .map(|name| format!(" {name}"))
            .unwrap_or_default();
        let layer = format!("MIME part {}{called}, {}", index + 1, part.content_type);
        match part.body {
            // One that is a message again would never end.
            Ok(bytes)
                if bytes.len() < text.len() || !part.content_type.starts_with("multipart/") =>
            {
                let mut inner = packed.inner(layer, bytes);
                inner.declared = declared(&part.content_type, &inner.bytes);
                found.push(inner);
            }
            Ok(_) => peeled
                .report
                .push(unreadable("the MIME message has no part", &packed.name)),
            Err(fault) => peeled.report.push(unreadable(
                format!("part {} of the MIME message is {fault}", index + 1),
                &packed.name,
            )),
        }
    }
    found
}

/// The documents of an archive (`_explode_archive`): texts, or maps with `content` and `type`; what
/// has no type and no beginning is cloud-config.
fn of_archive(packed: &Packed, text: String, peeled: &mut Peeled, budget: &Budget) -> Vec<Packed> {
    let source = Source::new(packed.name.as_str(), text);
    let parsed = yaml::values(&source, budget);
    peeled.report.extend(parsed.report);
    let entries = parsed
        .documents
        .into_iter()
        .next()
        .and_then(|document| document.value.as_array().cloned())
        .unwrap_or_default();
    let mut found = Vec::new();
    for (index, entry) in entries.iter().enumerate().take(MOST_DOCUMENTS) {
        let Some(content) = entry.as_str().or_else(|| entry["content"].as_str()) else {
            continue;
        };
        let kind = entry["type"].as_str().unwrap_or("text/plain");
        let mut inner = packed.inner(
            format!("archive part {}, {kind}", index + 1),
            content.as_bytes().to_vec(),
        );
        let by_type = declared(kind, content.as_bytes());
        inner.declared = by_type.or_else(|| {
            Some(beginning::of(content).form)
                .filter(|form| *form == Form::Other)
                .map(|_| Form::CloudConfig)
        });
        found.push(inner);
    }
    if found.is_empty() {
        let finding = Diagnostic::of(
            &DOCUMENT_INVALID,
            "the archive has no part: it is a list of texts, or of maps with `content`",
        );
        peeled.report.push(
            finding
                .at(source.place())
                .help("write each part as an item of the list"),
        );
    }
    found
}

/// What a part says that it is, when cloud-init takes its word for it (`user_data.py`,
/// `_process_msg`): of plain text the beginning tells, of a script the beginning first. What no
/// handler knows is passed over.
fn declared(content_type: &str, body: &[u8]) -> Option<Form> {
    match content_type {
        "text/cloud-config" | "text/jinja2" => Some(Form::CloudConfig),
        "text/cloud-boothook" => Some(Form::Boothook),
        "text/x-include-url" | "text/x-include-once-url" => Some(Form::Include),
        "text/x-shellscript" if is_known(body) => None,
        _ if content_type.starts_with("text/x-shellscript") => Some(Form::Script),
        "text/plain" | "text/x-not-multipart" | "text/cloud-config-archive" => None,
        _ if content_type.starts_with("multipart/") || PACKED.contains(&content_type) => None,
        _ => Some(Form::Other),
    }
}

/// Types of parts that cloud-init unpacks (`DECOMP_TYPES`).
const PACKED: [&str; 8] = [
    "application/gzip",
    "application/gzip-compressed",
    "application/gzipped",
    "application/x-compress",
    "application/x-compressed",
    "application/x-gunzip",
    "application/x-gzip",
    "application/x-gzip-compressed",
];

/// Whether cloud-init knows a document by its beginning.
fn is_known(body: &[u8]) -> bool {
    let known = beginning::of(&String::from_utf8_lossy(body));
    known.is_archive || known.has_jinja || !matches!(known.form, Form::Other | Form::Ignition(_))
}

/// What base64 holds, if it holds something that bootstrap data can be.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let compact: String = text.split_ascii_whitespace().collect();
    let is_base64 = compact.len() >= 8
        && compact
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    let bytes = is_base64.then(|| base64::decode(&compact).ok()).flatten()?;
    // What is base64 again is read on; what is not recognised then stays as it is.
    let again = bytes
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+/=\n\r".contains(byte))
        && bytes.len() >= 8;
    (again || begins_as_data(&bytes)).then_some(bytes)
}

/// Whether bytes begin as bootstrap data does, packed or not.
pub(super) fn begins_as_data(bytes: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 5] = [
        &GZIP,
        b"## template",
        b"{",
        b"Content-Type",
        b"MIME-Version",
    ];
    BEGINNINGS
        .iter()
        .any(|beginning| bytes.starts_with(beginning))
        || is_known(&bytes[..bytes.len().min(256)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::gzip;

    const DOCUMENT: &str = "#cloud-config\nruncmd: [a]\n";

    fn peeled(bytes: &[u8]) -> Peeled {
        peel("f", bytes, &Budget::default())
    }

    fn check(bytes: &[u8], expected: &[&str]) {
        let found = peeled(bytes);
        assert!(found.report.is_empty(), "{:?}", found.report);
        assert_eq!(found.documents.len(), 1);
        assert_eq!(found.documents[0].source.text(), DOCUMENT);
        assert_eq!(found.documents[0].packing, expected);
    }

    #[test]
    fn layers_come_off_in_any_order() {
        let gzip = gzip::compress(DOCUMENT.as_bytes());
        check(DOCUMENT.as_bytes(), &[]);
        check(&gzip, &["gzip"]);
        check(base64::encode(&gzip).as_bytes(), &["base64", "gzip"]);
        check(
            &gzip::compress(base64::encode(DOCUMENT.as_bytes()).as_bytes()),
            &["gzip", "base64"],
        );
        let secret =
            |data: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\n{data}\n");
        check(
            secret(&format!("data: {{value: {}}}", base64::encode(&gzip))).as_bytes(),
            &["Secret s, value", "gzip"],
        );
        check(
            secret("stringData:\n  value: |\n    #cloud-config\n    runcmd: [a]").as_bytes(),
            &["Secret s, value"],
        );
        let json = format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{{\"name\":\"s\"}},\"data\":{{\"value\":\"{}\"}}}}",
            base64::encode(DOCUMENT.as_bytes())
        );
        check(json.as_bytes(), &["Secret s, value"]);
    }

    #[test]
    fn what_cannot_be_taken_off_is_told_at_its_place() {
        let rules = |bytes: &[u8]| -> Vec<&str> {
            peeled(bytes)
                .report
                .findings()
                .iter()
                .map(|finding| finding.rule.id)
                .collect()
        };
        assert_eq!(rules(&[0x1f, 0x8b, 0, 0]), ["inspect-data-unreadable"]);
        assert_eq!(
            rules(b"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {value: '!'}\n"),
            ["inspect-data-unreadable"]
        );
        assert_eq!(
            rules(b"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {other: YQ==}\n"),
            ["inspect-data-unreadable"]
        );
        assert_eq!(
            rules(b"apiVersion: v1\nkind: List\nitems: []\n"),
            ["inspect-data-unreadable"]
        );
        assert_eq!(
            rules(b"#cloud-config\na: \xff\n"),
            ["inspect-document-invalid"]
        );
    }

    #[test]
    fn bombs_and_endless_layers_end() {
        let mut bomb = gzip::compress(&vec![b'a'; MOST_UNPACKED]);
        for _ in 0..20 {
            bomb = gzip::compress(&bomb);
        }
        assert!(peeled(&bomb).report.has_errors());
        let mut base64 = DOCUMENT.as_bytes().to_vec();
        for _ in 0..20 {
            base64 = base64::encode(&base64).into_bytes();
        }
        assert!(peeled(&base64).report.has_errors());
        let mut message = "x".to_owned();
        for depth in 0..20 {
            message = format!(
                "Content-Type: multipart/mixed; boundary=b{depth}\n\n--b{depth}\n{message}\n--b{depth}--\n"
            );
        }
        assert!(peeled(message.as_bytes()).report.has_errors());
    }
}
