//! The texts of a machine's files, with the fields that they come from.

use std::borrow::Cow;

use serde_json::Value;

use super::findings::{Spot, source_unknown};
use super::{Found, Machine, items};
use crate::api::boot::Format;
use crate::diag::FieldPath;
use crate::render::write::file_facts;
use crate::text::shell::Interpreter;

/// What a file on the machine holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileText {
    /// Its path on the machine.
    pub(super) path: String,
    pub(super) text: String,
    /// The field of the config that it comes from.
    pub(super) field: FieldPath,
    /// The field with the text, where the config has it as it is.
    content: Option<FieldPath>,
}

impl FileText {
    /// The position of a line, from 1.
    pub(super) fn spot(&self, line: usize) -> Spot {
        match &self.content {
            Some(content) => Spot {
                field: content.clone(),
                line: u32::try_from(line).ok(),
            },
            None => Spot {
                field: self.field.clone(),
                line: None,
            },
        }
    }

    pub(super) fn is_shell(&self) -> bool {
        Interpreter::of(&self.text).is_some_and(Interpreter::is_shell) || self.has_ending(&["sh"])
    }

    pub(super) fn is_static_pod(&self) -> bool {
        file_facts::is_static_pod(&self.path)
    }

    pub(super) fn is_unit(&self) -> bool {
        self.has_ending(&["service", "conf"]) && self.text.contains("Exec")
    }

    /// Whether its name is that of an object in YAML or JSON.
    pub(super) fn is_manifest(&self) -> bool {
        self.is_static_pod() || self.has_ending(&["yaml", "yml", "json"])
    }

    fn has_ending(&self, endings: &[&str]) -> bool {
        self.path
            .rsplit_once('.')
            .is_some_and(|(_, ending)| endings.contains(&ending))
    }
}

/// All files that are text. A file that images may be named in, and whose content the input lacks,
/// is reported.
pub(super) fn texts(machine: &Machine<'_>, found: &mut Found) -> Vec<FileText> {
    let mut texts: Vec<FileText> = Vec::new();
    let rendered = machine.rendered;
    for file in &rendered.plan.files {
        let Some(origin) = &file.origin else {
            continue;
        };
        let Some(content) = file_facts::text(file) else {
            continue;
        };
        let is_written = |key: &str| machine.target.config.at(&origin.field(key)).is_some();
        let text = FileText {
            path: file.path.clone(),
            content: (is_written("content") && matches!(content, Cow::Borrowed(_)))
                .then(|| origin.field("content")),
            text: content.into_owned(),
            field: origin.clone(),
        };
        if machine.target.is_referred(origin) && is_placeholder(&text.text) {
            let names_images =
                text.is_manifest() || text.is_shell() || text.path.ends_with(".toml");
            if names_images && !text.path.ends_with(".json") {
                let spot = Spot {
                    field: origin.field("contentFrom"),
                    line: None,
                };
                let what = format!(
                    "the content of {} comes from an object that is not in the input",
                    text.path
                );
                found
                    .findings
                    .push(source_unknown(machine.target.config, &spot, &what));
            }
            continue;
        }
        texts.push(text);
    }
    if rendered.format == Format::Ignition {
        texts.extend(of_ignition(machine));
    }
    texts
}

/// Whether rendering put a placeholder in place of the content.
fn is_placeholder(text: &str) -> bool {
    text.starts_with("placeholder for ")
}

/// Files and units of `ignition.containerLinuxConfig.additionalConfig`.
fn of_ignition(machine: &Machine<'_>) -> Vec<FileText> {
    let config = FieldPath::of_fields("ignition.containerLinuxConfig.additionalConfig");
    let field = machine.rendered.spec_path.join(&config);
    let text = |path: String, text: String| FileText {
        path,
        text,
        field: field.clone(),
        content: None,
    };
    let files = machine.rendered.node_files().into_iter();
    let files = files
        .filter(|file| file.origin.is_none() && !file.path.starts_with("/run/kubeadm"))
        .filter_map(|file| {
            let content = String::from_utf8(file.content.into_owned()).ok()?;
            Some(text(file.path.into_owned(), content))
        });
    let data: Value = serde_json::from_slice(machine.rendered.data.expose()).unwrap_or_default();
    let units = items(data.pointer("/systemd/units")).filter_map(|unit| {
        let (name, contents) = (unit["name"].as_str()?, unit["contents"].as_str()?);
        Some(text(
            format!("/etc/systemd/system/{name}"),
            contents.to_owned(),
        ))
    });
    files.chain(units).collect()
}
