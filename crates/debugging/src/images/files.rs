//! The texts of a machine's files, with the fields that they come from.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::findings::{Spot, source_unknown};
use super::{Found, Machine, items};
use windlass_bootstrap::render::write::file_facts;
use windlass_bootstrap::render::write::ignition::{KUBEADM_FILE, SCRIPT_FILE, node_units};
use windlass_capi::api::boot::Format;
use windlass_shell::Interpreter;
use windlass_source::diag::FieldPath;

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
    #[cfg(test)]
    pub(super) fn of_unit(text: &str) -> Self {
        FileText {
            path: "/etc/systemd/system/a.service".to_owned(),
            text: text.to_owned(),
            field: FieldPath::root(),
            content: None,
        }
    }

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

    /// Whether Podman makes a systemd unit of it.
    pub(super) fn is_quadlet(&self) -> bool {
        self.path.contains("/containers/systemd/") && self.has_ending(&["container", "image"])
    }

    /// The line of a script in a language that is not read, such as PowerShell or Python, which pulls
    /// images.
    pub(super) fn foreign_pull(&self) -> Option<usize> {
        static PULL: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(
                r#"(?i)\b(?:ctr|crictl|nerdctl|docker|podman)(?:\.exe)?\b["',\s].*\b(?:pull|run|import|load)\b"#,
            )
            .expect("internal error: the expression is valid")
        });
        let is_script = Interpreter::of(&self.text).is_some()
            || self.has_ending(&["ps1", "psm1", "bat", "cmd", "py"]);
        if self.is_shell() || !is_script {
            return None;
        }
        let mut lines = self.text.lines();
        lines
            .position(|line| !line.trim_start().starts_with(['#', ':']) && PULL.is_match(line))
            .map(|at| at + 1)
    }

    /// Whether its name is that of an object in YAML or JSON.
    pub(super) fn is_manifest(&self) -> bool {
        self.is_static_pod() || self.has_ending(&["yaml", "yml", "json"])
    }

    /// Whether images may be named in a file of this path. JSON outside of static pods is the settings
    /// of a cloud provider, such as `azure.json`.
    fn may_name_images(&self) -> bool {
        const ENDINGS: [&str; 6] = ["yaml", "yml", "sh", "toml", "service", "conf"];
        self.is_static_pod() || self.has_ending(&ENDINGS)
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
        let name = FileText {
            path: file.path.clone(),
            text: String::new(),
            field: origin.clone(),
            content: None,
        };
        if machine.target.is_referred(origin) && is_placeholder(file.content.expose()) {
            if name.may_name_images() {
                let spot = Spot {
                    field: origin.field("contentFrom"),
                    line: None,
                };
                let what = format!(
                    "the content of {} comes from an object that is not in the input",
                    file.path
                );
                found
                    .findings
                    .push(source_unknown(machine.target.config, &spot, &what));
            }
            continue;
        }
        let Some(content) = file_facts::text(file) else {
            continue;
        };
        let is_written = |key: &str| machine.target.config.at(&origin.field(key)).is_some();
        texts.push(FileText {
            content: (is_written("content") && matches!(content, Cow::Borrowed(_)))
                .then(|| origin.field("content")),
            // With CR LF a name of an image would end with the CR.
            text: content.replace("\r\n", "\n"),
            ..name
        });
    }
    if rendered.format == Format::Ignition {
        texts.extend(of_ignition(machine));
    }
    texts
}

/// Whether rendering used a placeholder for the content, whatever its encoding.
fn is_placeholder(content: &[u8]) -> bool {
    content.starts_with(b"placeholder for ")
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
    if machine.target.config.at(&field).is_none() {
        return Vec::new();
    }
    let is_own = |path: &str| path == SCRIPT_FILE || path == KUBEADM_FILE;
    let files = machine.rendered.node_files().into_iter();
    let files = files
        .filter(|file| file.origin.is_none() && !is_own(&file.path))
        .filter_map(|file| {
            let content = String::from_utf8(file.content.into_owned()).ok()?;
            Some(text(file.path.into_owned(), content))
        });
    let of_unit = |unit: &Value| {
        let name = unit["name"].as_str().unwrap_or_default().to_owned();
        let path = format!("/etc/systemd/system/{name}");
        let drop_ins = ["dropins", "dropin"].map(|key| items(unit.get(key)));
        let drop_ins = drop_ins.into_iter().flatten().filter_map(|drop_in| {
            let (name, contents) = (drop_in["name"].as_str()?, drop_in["contents"].as_str()?);
            Some(text(format!("{path}.d/{name}"), contents.to_owned()))
        });
        let contents = unit["contents"].as_str();
        let own = contents.map(|contents| text(path.clone(), contents.to_owned()));
        own.into_iter().chain(drop_ins).collect::<Vec<_>>()
    };
    let units = node_units(machine.rendered.data.expose());
    files.chain(units.iter().flat_map(of_unit)).collect()
}
