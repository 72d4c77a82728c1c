//! A machine in JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::topology::TopologyReport;
use super::{Machine, PlannedConfig};
use windlass_bootstrap::render::write::cloud_config::{NodeFile, RunItem};
use windlass_bootstrap::render::{self, Placeholder, Rendered, Request};
use windlass_capi::api::boot::IgnitionVersion;
use windlass_objects::secrets::{REDACTED, masked_with_contents, redacted};
use windlass_source::diag::Setting;

/// One machine in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineReport {
    /// `Kind/name` of the config.
    pub(super) object: String,
    /// `Kind/name` of what makes the machine of a template that others share; else null.
    pub(super) owner: Option<String>,
    /// Its namespace.
    pub(super) namespace: Option<String>,
    /// The file that holds it, as it was given.
    pub(super) file: String,
    /// The document in the file, from 1.
    pub(super) document: usize,
    /// `init`, `control-plane-join`, `worker-join` or `machinepool`.
    pub(super) role: &'static str,
    /// The CAPI release whose bytes are matched.
    pub(super) capi_version: String,
    /// The Kubernetes version.
    pub(super) kubernetes_version: Option<String>,
    /// The format of the data.
    pub(super) format: Option<&'static str>,
    /// The version of Ignition, when that is the format.
    ignition_version: Option<&'static str>,
    /// How texts are written: `capi` or `typed`.
    encoder: Option<&'static str>,
    /// What was filled in.
    pub(super) placeholders: Vec<PlaceholderReport>,
    /// The data without its secrets and the contents of its files; `<redacted>` when Secrets went
    /// in.
    data: Option<String>,
    /// `utf-8` or `base64`.
    data_encoding: Option<&'static str>,
    /// The size of the data.
    pub(super) bytes: Option<usize>,
    /// SHA-256 of the data, in hex.
    sha256: Option<String>,
    /// The file that `--to` wrote.
    path: Option<String>,
    /// What the node gets.
    plan: Option<PlanReport>,
    /// Of a machine of a topology what it is there, and what patches wrote; else null.
    topology: Option<TopologyReport>,
}

/// A placeholder in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct PlaceholderReport {
    /// What it is.
    pub(super) name: &'static str,
    /// The value.
    pub(super) value: String,
    /// The flag that gives the real one.
    pub(super) flag: String,
}

/// What a node gets, in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct PlanReport {
    /// Files, in the order in which they are written.
    files: Vec<FileReport>,
    /// Commands, in the order in which they run.
    commands: Vec<CommandReport>,
    /// Users.
    users: Vec<UserReport>,
}

/// A file in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct FileReport {
    /// Where it is on the node.
    path: String,
    /// `user:group`.
    owner: Option<String>,
    /// Octal digits.
    mode: Option<String>,
    /// The size of the content as it is carried.
    bytes: usize,
    /// The field that it comes from.
    from: Option<String>,
}

/// A command in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct CommandReport {
    /// `boot`, `directories`, `pre-kubeadm`, `kubeadm`, `post-kubeadm`, or `on-failure` for what
    /// watches over the others.
    pub(super) phase: &'static str,
    /// The command.
    pub(super) command: String,
    /// The field that it comes from.
    pub(super) from: Option<String>,
}

/// A user in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct UserReport {
    /// Login name.
    name: String,
    /// The field that it comes from.
    from: Option<String>,
}

/// What a report shows of the data of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disclosure {
    /// All of it.
    All,
    /// Neither what looks like a secret nor contents of files.
    WithoutSecrets,
    /// Nothing: Secrets of the input went in.
    Nothing,
}

impl Disclosure {
    fn command(self, command: &str) -> String {
        if self == Disclosure::All {
            command.to_owned()
        } else {
            redacted(command)
        }
    }

    fn data(self, data: &[u8]) -> (String, &'static str) {
        match (self, std::str::from_utf8(data)) {
            (Disclosure::All, Ok(text)) => (text.to_owned(), "utf-8"),
            (Disclosure::All, Err(_)) => (STANDARD.encode(data), "base64"),
            (Disclosure::WithoutSecrets, Ok(text)) => {
                (masked_with_contents(text).into_owned(), "utf-8")
            }
            (Disclosure::WithoutSecrets, Err(_)) | (Disclosure::Nothing, _) => {
                (REDACTED.to_owned(), "utf-8")
            }
        }
    }
}

/// The commands of a machine, in the order in which they run.
pub(super) fn commands(rendered: &Rendered, disclosure: Disclosure) -> Vec<CommandReport> {
    let boot = rendered
        .plan
        .boot_commands
        .iter()
        .enumerate()
        .map(|(index, command)| CommandReport {
            phase: "boot",
            command: disclosure.command(command.expose()),
            from: Some(
                rendered
                    .spec_path
                    .field("bootCommands")
                    .index(index)
                    .to_string(),
            ),
        });
    let run = rendered
        .run_items()
        .into_iter()
        .map(|item: RunItem<'_>| CommandReport {
            phase: item.phase.as_str(),
            from: item
                .origin(&rendered.spec_path)
                .map(|path| path.to_string()),
            command: disclosure.command(&item.command),
        });
    boot.chain(run).collect()
}

/// A machine for `-o json`. `path`: where the data was written. `flag`: how a setting is written on the command line.
pub fn machine_report(
    machine: &Machine<'_>,
    request: &Request,
    disclosure: Disclosure,
    path: Option<String>,
    flag: fn(Setting) -> String,
) -> MachineReport {
    let config = machine.target.config;
    let rendered = machine.rendered.as_ref();
    let data = rendered.map(|rendered| rendered.data.expose().as_slice());
    let text = data.map(|data| disclosure.data(data));
    let placeholder = |placeholder: &Placeholder| PlaceholderReport {
        name: placeholder.name,
        value: placeholder.value.clone(),
        flag: placeholder.setting.map_or_else(|| "FILE".to_owned(), flag),
    };
    let namespace = config.text(&["metadata", "namespace"]);
    MachineReport {
        object: config.title(),
        owner: machine.target.set.map(windlass_objects::Object::title),
        namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
        file: config
            .source()
            .map(|source| source.name().to_string())
            .unwrap_or_default(),
        document: config.document().unwrap_or(1),
        role: machine.role.as_str(),
        capi_version: request.profile.version(),
        kubernetes_version: rendered.map(|rendered| rendered.kubernetes_version.clone()),
        format: rendered.map(|rendered| rendered.format.as_str()),
        ignition_version: rendered
            .and_then(|rendered| rendered.ignition)
            .map(IgnitionVersion::as_str),
        encoder: rendered.map(|rendered| rendered.encoder.as_str()),
        placeholders: machine.placeholders.iter().map(placeholder).collect(),
        data_encoding: text.as_ref().map(|(_, encoding)| *encoding),
        data: text.map(|(text, _)| text),
        bytes: data.map(<[u8]>::len),
        sha256: data.map(|data| {
            Sha256::digest(data)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect()
        }),
        path,
        plan: rendered.map(|rendered| plan_report(rendered, disclosure)),
        topology: machine.planned.map(PlannedConfig::report),
    }
}

fn plan_report(rendered: &Rendered, disclosure: Disclosure) -> PlanReport {
    let or_none = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let file = |file: NodeFile<'_>| FileReport {
        path: file.path.to_string(),
        owner: or_none(&file.owner),
        mode: or_none(&file.permissions),
        bytes: file.content.len(),
        from: file.origin.map(ToString::to_string),
    };
    let users = rendered.plan.users.iter().enumerate();
    let user = |(index, user): (usize, &render::plan::node_plan::PlannedUser)| UserReport {
        name: user.name.clone(),
        from: Some(rendered.spec_path.field("users").index(index).to_string()),
    };
    PlanReport {
        files: rendered.node_files().into_iter().map(file).collect(),
        commands: commands(rendered, disclosure),
        users: users.map(user).collect(),
    }
}
