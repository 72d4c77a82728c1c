//! Container Linux Configs, and what the transpiler makes of them: an Ignition config, or a report in its words
//! (container-linux-config-transpiler v0.9.4).

mod check;
mod config;
mod convert;
mod decode;
mod services;
mod update;
mod version;

pub(crate) use check::{Checked, Shape};

use self::check::{Keys, check};
use self::config::Config;
use self::decode::{Decoder, Failure};
use super::findings::{Entry, is_fatal, printed};
use super::v2;
use crate::text::libyaml::{self, Document};

/// What came of a config.
pub(crate) type Translation = Result<(v2::Config, Vec<Entry>), Refusal>;

/// Why a config is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Upstream's words.
    pub(crate) message: String,
    /// The entries of the report.
    pub(crate) entries: Vec<Entry>,
}

impl Refusal {
    fn new(stage: &str, entries: Vec<Entry>) -> Self {
        Refusal { message: format!("{stage}: {}", printed(&entries)), entries }
    }
}

/// Translates a config. `strict`: any entry refuses it; otherwise errors do, and the others come with the result.
pub(crate) fn translate(text: &[u8], strict: bool) -> Translation {
    let (config, mut document, mut entries) = parse(text);
    if strict && !entries.is_empty() || is_fatal(&entries) {
        return Err(Refusal::new("error parsing Container Linux Config", entries));
    }
    let converted = converted(config, document.as_mut());
    let (out, found) = converted;
    if strict && !found.is_empty() || is_fatal(&found) {
        return Err(Refusal::new("error converting to Ignition", found));
    }
    entries.extend(found);
    Ok((out, entries))
}

fn parse(text: &[u8]) -> (Config, Option<Document>, Vec<Entry>) {
    let mut config = Config::default();
    let document = match libyaml::parse(text) {
        Ok(Some(document)) => document,
        Ok(None) => return (config, None, vec![Entry::warning("Configuration is empty")]),
        Err(fault) => return (config, None, vec![Entry { at: fault.line, ..Entry::error(format!("yaml: {fault}")) }]),
    };
    let mut decoder = Decoder::new(&document);
    if let Err(Failure { message, line }) = decoder.value(&mut config, document.root()) {
        return (config, None, vec![Entry { at: line, ..Entry::error(message) }]);
    }
    if let Some((line, _)) = decoder.faults.first() {
        let faults: Vec<_> = decoder.faults.iter().map(|(_, fault)| fault.as_str()).collect();
        let message = format!("yaml: unmarshal errors:\n  {}", faults.join("\n  "));
        return (config, None, vec![Entry { at: *line, ..Entry::error(message) }]);
    }
    let entries = check(&config, Some(document.root()), &document, Keys::ContainerLinux);
    (config, Some(document), entries)
}

fn converted(config: Config, document: Option<&mut Document>) -> (v2::Config, Vec<Entry>) {
    let mut none = Document::default();
    let (document, is_there) = match document {
        Some(document) => (document, true),
        None => (&mut none, false),
    };
    let (out, mut entries) = convert::convert(config, document);
    if !is_fatal(&entries) {
        entries.extend(check(&out, is_there.then(|| document.root()), document, Keys::Ignition));
    }
    (out, entries)
}
