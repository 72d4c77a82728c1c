//! `render`: the machines of the user's documents, and what is printed or written of each.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::api::boot::IgnitionVersion;
use crate::api::names::Version;
use crate::contract::labels;
use crate::diag::{Diagnostic, Report, RuleId};
use crate::render::cloud_config::{NodeFile, RunItem};
use crate::render::gzip;
use crate::render::target::ConfigKind;
use crate::render::{self, Notes, Pool, Rendered, Request, Role, StandIn, Target, targets};
use crate::text::goyaml;
use crate::text::tree::Tree;

/// The input holds nothing to render.
pub const NO_CONFIG: RuleId = RuleId::new("render-config-missing");
/// The input holds several machines, and the user did not say which.
pub const AMBIGUOUS: RuleId = RuleId::new("render-machine-ambiguous");
/// No machine is called so.
pub const NOT_FOUND: RuleId = RuleId::new("render-machine-not-found");

/// The kinds that can be rendered, for messages.
const KINDS: &str = "KubeadmConfig, WindlassConfig, their templates, or KubeadmControlPlane";

/// The most bytes that a compressed file may have on the node; larger ones are extracted as they are carried.
const LARGEST_FILE: usize = 64 << 20;

/// Which machines are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// The only one.
    Only,
    /// All.
    All,
    /// The one of that name, and of that role when the name has several: `NAME` or `NAME:ROLE`.
    Named(String),
}

/// One machine and what came of it.
#[derive(Debug, Clone)]
pub struct Machine<'a> {
    /// The config.
    pub target: Target<'a>,
    /// The role.
    pub role: Role,
    /// The data; `None` when something is wrong.
    pub rendered: Option<Rendered>,
    /// What was filled in.
    pub stand_ins: Vec<StandIn>,
}

/// What came of all machines that were meant.
#[derive(Debug, Clone, Default)]
pub struct Rendering<'a> {
    /// The machines, in the order of the input.
    pub machines: Vec<Machine<'a>>,
    /// What is wrong.
    pub report: Report,
    /// The Secrets that were read.
    pub secrets: Vec<String>,
}

/// Renders the machines that are meant.
pub fn run<'a>(pool: &'a Pool, request: &Request, selection: &Selection) -> Rendering<'a> {
    let mut rendering = Rendering::default();
    let all: Vec<Target<'a>> =
        targets(pool).into_iter().filter(|target| target.spec().is_some() || !target.is_control_plane_object()).collect();
    if all.is_empty() {
        let finding = Diagnostic::error(NO_CONFIG, format!("the input holds no {KINDS}"));
        rendering.report.push(finding.help("name a file that does, such as `windlass render examples/worker.yaml`"));
        return rendering;
    }
    let of_role = |target: &Target<'_>| target.role.is_none() || request.role.is_none() || target.role == request.role;
    let mut secrets = std::collections::BTreeSet::new();
    let mut reports = Vec::new();
    for target in all.iter().filter(|target| of_role(target) && is_named(target, selection)) {
        let mut notes = Notes::default();
        let rendered = render::render(pool, target, request, &mut notes);
        let role = rendered.as_ref().map(|rendered| rendered.role).or(target.role).or(request.role).unwrap_or_else(|| target.likely_role());
        if !has_role(selection, role) {
            continue;
        }
        secrets.extend(notes.secrets);
        notes.stand_ins.sort_by_key(StandIn::rank);
        reports.push(notes.report);
        rendering.machines.push(Machine { target: *target, role, rendered, stand_ins: notes.stand_ins });
    }
    match (selection, rendering.machines.len()) {
        (Selection::Named(name), 0) => rendering.report.push(not_found(name, &all)),
        (Selection::Only, 0) => rendering.report.push(not_found("", &all)),
        (Selection::Only | Selection::Named(_), 2..) => {
            rendering.report.push(ambiguous(&rendering.machines));
            rendering.machines.clear();
            return rendering;
        }
        _ => {}
    }
    reports.into_iter().for_each(|report| rendering.report.extend(without_known(report, &rendering.report)));
    rendering.secrets = secrets.into_iter().collect();
    rendering
}

/// The findings that are not known yet: two machines of one config share its faults.
fn without_known(report: Report, known: &Report) -> Report {
    report.into_findings().into_iter().filter(|finding| !known.findings().contains(finding)).collect()
}

fn is_named(target: &Target<'_>, selection: &Selection) -> bool {
    match selection {
        Selection::Named(name) => name.split(':').next() == Some(target.config.name()),
        _ => true,
    }
}

fn has_role(selection: &Selection, role: Role) -> bool {
    match selection {
        Selection::Named(name) => name.split_once(':').is_none_or(|(_, wanted)| wanted == role.as_str()),
        _ => true,
    }
}

fn not_found(name: &str, all: &[Target<'_>]) -> Diagnostic {
    let names: Vec<_> = all.iter().map(|target| target.config.name()).collect();
    let message = if name.is_empty() { "no machine has that role".to_owned() } else { format!("no machine is called `{name}`") };
    Diagnostic::error(NOT_FOUND, message).help(format!("`--select` one of {}", names.join(", ")))
}

fn ambiguous(machines: &[Machine<'_>]) -> Diagnostic {
    let commands: Vec<_> = machines.iter().map(|machine| format!("`--select {}:{}`", machine.target.config.name(), machine.role)).collect();
    let message = format!("the input holds {} machines", machines.len());
    Diagnostic::error(AMBIGUOUS, message).help(format!("add `--all`, or one of {}", commands.join(", ")))
}

impl Machine<'_> {
    /// The name of its file with `--all --to DIR`: `{object}.{role}.{format}`.
    pub fn file_name(&self, rendered: &Rendered) -> String {
        format!("{}.{}.{}", self.target.config.name().replace('/', "_"), self.role, rendered.format)
    }

    /// The Secret that the provider would write, as YAML.
    pub fn secret(&self, rendered: &Rendered, request: &Request) -> String {
        let config = self.target.config;
        let mut metadata = json!({
            "name": config.name(),
            "namespace": config.namespace(),
            "labels": {labels::CLUSTER_NAME: rendered.cluster_name},
        });
        if !self.target.is_template() && !self.target.is_control_plane_object() {
            metadata["ownerReferences"] = json!([self.owner_reference(request)]);
        }
        let mut data = Map::from_iter([("value".to_owned(), STANDARD.encode(rendered.data.expose()).into())]);
        if !matches!(self.target.kind, ConfigKind::Windlass(_)) {
            data.insert("format".to_owned(), STANDARD.encode(rendered.format.as_str()).into());
        }
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": metadata, "data": data});
        goyaml::to_string(&secret).expect("internal error: names and base64 are plain text")
    }

    fn owner_reference(&self, request: &Request) -> Value {
        let config = self.target.config;
        let version = if matches!(self.target.kind, ConfigKind::Windlass(_)) { Version::V1Beta2 } else { request.profile.storage };
        let stored = format!("{}/{version}", config.group());
        let mut reference = json!({"apiVersion": stored, "kind": config.kind(), "name": config.name(), "controller": true});
        let uid = config.text(&["metadata", "uid"]);
        if !uid.is_empty() {
            reference["uid"] = uid.into();
        }
        reference
    }

    /// The line that says what was rendered.
    pub fn headline(&self, rendered: &Rendered, request: &Request) -> String {
        let (title, bytes) = (self.target.config.title(), rendered.data.expose().len());
        let format = match rendered.ignition {
            Some(IgnitionVersion::V3_4) => "Ignition 3.4".to_owned(),
            _ => format!("{} as CAPI {} writes it", rendered.format, request.profile.version()),
        };
        format!("{title}: {}, {format}, {bytes} bytes", self.role)
    }
}

/// The files of a machine as they will be on the node, with lists of files and commands in `.windlass`.
pub fn extract(rendered: &Rendered) -> Tree {
    let mut tree = Tree::new();
    let files = rendered.node_files();
    for file in &files {
        let path: Vec<_> = file.path.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | "..")).collect();
        if path.is_empty() || path[0] == ".windlass" {
            continue;
        }
        // A path that another one needs as a folder cannot be both.
        let path = path.join("/");
        let is_folder = tree.paths().any(|known| known.starts_with(&format!("{path}/")) || path.starts_with(&format!("{known}/")));
        if !is_folder {
            let before = if file.append { tree.get(&path).map(<[u8]>::to_vec) } else { None };
            tree.insert(path, [before.unwrap_or_default(), content_on_node(file)].concat());
        }
    }
    tree.insert(".windlass/user-data", rendered.data.expose().clone());
    tree.insert(".windlass/files", files.iter().map(line_of_file).collect::<String>());
    let commands = commands(rendered).into_iter().enumerate().map(|(index, command)| {
        format!("{}\t{}\t{}\t{:?}\n", index + 1, command.phase, command.from.as_deref().unwrap_or("-"), command.command)
    });
    tree.insert(".windlass/commands", commands.collect::<String>());
    tree
}

/// What the node gets; cloud-init decodes what is encoded, and a block of text ends with exactly one line break.
fn content_on_node(file: &NodeFile<'_>) -> Vec<u8> {
    if file.is_exact {
        return file.content.to_vec();
    }
    let from_base64 = || {
        let compact: Vec<u8> = file.content.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        STANDARD.decode(compact).ok()
    };
    let decoded = match file.encoding {
        "base64" => from_base64(),
        "gzip+base64" => from_base64().and_then(|bytes| gzip::decompress(&bytes, LARGEST_FILE)),
        "gzip" => gzip::decompress(&file.content, LARGEST_FILE),
        _ => None,
    };
    decoded.unwrap_or_else(|| {
        let end = file.content.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
        let line_break: &[u8] = if end > 0 { b"\n" } else { b"" };
        [&file.content[..end], line_break].concat()
    })
}

fn line_of_file(file: &NodeFile<'_>) -> String {
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let origin = file.origin.map_or_else(|| "-".to_owned(), ToString::to_string);
    let said = [or_dash(&file.permissions), or_dash(&file.owner), or_dash(file.encoding)].join("\t");
    format!("{}\t{said}\t{}\t{origin}\n", file.path, file.content.len())
}

/// One machine in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineReport {
    /// `Kind/name` of the config.
    object: String,
    /// Its namespace.
    namespace: Option<String>,
    /// The file that holds it, as it was given.
    file: String,
    /// The document in the file, from 1.
    document: usize,
    /// `init`, `control-plane-join`, `worker-join` or `machinepool`.
    role: &'static str,
    /// The CAPI release whose bytes are matched.
    capi_version: String,
    /// The version of Kubernetes.
    kubernetes_version: Option<String>,
    /// The format of the data.
    format: Option<&'static str>,
    /// The version of Ignition, when that is the format.
    ignition_version: Option<&'static str>,
    /// How texts are written: `capi` or `typed`.
    encoder: Option<&'static str>,
    /// What was filled in.
    stand_ins: Vec<StandInReport>,
    /// The data; `<redacted>` when Secrets went in.
    data: Option<String>,
    /// `utf-8` or `base64`.
    data_encoding: Option<&'static str>,
    /// The size of the data.
    bytes: Option<usize>,
    /// SHA-256 of the data, in hex.
    sha256: Option<String>,
    /// What the node gets.
    plan: Option<PlanReport>,
}

/// A stand-in in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct StandInReport {
    /// What it is.
    name: &'static str,
    /// The value.
    value: String,
    /// The flag that gives the real one.
    flag: &'static str,
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
struct CommandReport {
    /// `boot`, `directories`, `pre-kubeadm`, `kubeadm`, `post-kubeadm`, or `on-failure` for what watches over the others.
    phase: &'static str,
    /// The command.
    command: String,
    /// The field that it comes from.
    from: Option<String>,
}

/// A user in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct UserReport {
    /// Login name.
    name: String,
    /// The field that it comes from.
    from: Option<String>,
}

fn commands(rendered: &Rendered) -> Vec<CommandReport> {
    let boot = rendered.plan.boot_commands.iter().enumerate().map(|(index, command)| CommandReport {
        phase: "boot",
        command: command.expose().clone(),
        from: Some(rendered.spec_path.field("bootCommands").index(index).to_string()),
    });
    let run = rendered.run_items().into_iter().map(|item: RunItem<'_>| CommandReport {
        phase: item.phase.as_str(),
        from: item.origin(&rendered.spec_path).map(|path| path.to_string()),
        command: item.command.into_owned(),
    });
    boot.chain(run).collect()
}

/// A machine for `-o json`. `redact`: real Secrets went in, and the user does not want to see them.
pub fn machine_report(machine: &Machine<'_>, request: &Request, redact: bool) -> MachineReport {
    let config = machine.target.config;
    let rendered = machine.rendered.as_ref();
    let data = rendered.map(|rendered| rendered.data.expose().as_slice());
    let text =
        data.map(|data| std::str::from_utf8(data).map_or_else(|_| (STANDARD.encode(data), "base64"), |text| (text.to_owned(), "utf-8")));
    let stand_in = |stand_in: &StandIn| StandInReport { name: stand_in.name, value: stand_in.value.clone(), flag: stand_in.flag };
    let namespace = config.text(&["metadata", "namespace"]);
    MachineReport {
        object: config.title(),
        namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
        file: config.file().to_owned(),
        document: config.document(),
        role: machine.role.as_str(),
        capi_version: request.profile.version(),
        kubernetes_version: rendered.map(|rendered| rendered.kubernetes_version.clone()),
        format: rendered.map(|rendered| rendered.format.as_str()),
        ignition_version: rendered.and_then(|rendered| rendered.ignition).map(IgnitionVersion::as_str),
        encoder: rendered.map(|rendered| rendered.encoder.as_str()),
        stand_ins: machine.stand_ins.iter().map(stand_in).collect(),
        data_encoding: text.as_ref().map(|(_, encoding)| *encoding),
        data: text.map(|(text, _)| if redact { "<redacted>".to_owned() } else { text }),
        bytes: data.map(<[u8]>::len),
        sha256: data.map(|data| Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect()),
        plan: rendered.map(plan_report),
    }
}

fn plan_report(rendered: &Rendered) -> PlanReport {
    let or_none = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let file = |file: NodeFile<'_>| FileReport {
        path: file.path.to_string(),
        owner: or_none(&file.owner),
        mode: or_none(&file.permissions),
        bytes: file.content.len(),
        from: file.origin.map(ToString::to_string),
    };
    let users = rendered.plan.users.iter().enumerate();
    let user = |(index, user): (usize, &render::plan::PlannedUser)| UserReport {
        name: user.name.clone(),
        from: Some(rendered.spec_path.field("users").index(index).to_string()),
    };
    PlanReport {
        files: rendered.node_files().into_iter().map(file).collect(),
        commands: commands(rendered),
        users: users.map(user).collect(),
    }
}
