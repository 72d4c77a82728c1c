//! The sections `etcd`, `flannel` and `docker`: drop-ins with command lines. Which options there
//! are depends on the program's version.

use std::sync::LazyLock;

use super::decode::{Decoded, Decoder, Failure, FromMapping, FromNode};
use super::go_struct::go_struct;
use super::version::Version;
use crate::render::write::ignition::checked::{Checked, Shape};
use crate::render::write::ignition::findings::Entry;
use crate::render::write::ignition::v2::{SystemdDropin, Unit};
use windlass_go_text as go;
use windlass_go_yaml::yaml_v3::{Content, NodeId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Options {
    program: &'static str,
    version: &'static str,
    /// Keys with the letter of their type.
    keys: &'static str,
}

static OPTIONS: LazyLock<Vec<Options>> = LazyLock::new(|| {
    let rows = include_str!("options.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let parts = rows.filter_map(|row| {
        let (program, rest) = row.split_once(' ')?;
        let (version, keys) = rest.split_once(' ')?;
        Some(Options {
            program,
            version,
            keys,
        })
    });
    parts.collect()
});

impl Options {
    fn find(program: &str, version: &str) -> Option<Self> {
        OPTIONS
            .iter()
            .find(|row| row.program == program && row.version == version)
            .copied()
    }

    fn keys(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.keys.split(' ').filter_map(|key| key.split_once(':'))
    }
}

/// An option that is given, as the command line has it.
#[derive(Debug, Clone, PartialEq)]
struct Given {
    key: &'static str,
    value: Value,
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Number(i64),
    Flag(bool),
}

impl Given {
    /// `--name="value"`.
    fn argument(&self) -> String {
        let name = match self.key {
            "interface" => "iface".to_owned(),
            key => key.replace('_', "-"),
        };
        match &self.value {
            Value::Text(text) => format!("--{name}={}", go::quote(text)),
            Value::Number(number) => format!("--{name}={number}"),
            Value::Flag(flag) => format!("--{name}={flag}"),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Program {
    version: Option<Version>,
    options: Option<Options>,
    given: Vec<Given>,
}

impl Program {
    /// Takes version and options from a mapping; `row` names the options of a version.
    fn decode(
        &mut self,
        decoder: &mut Decoder<'_>,
        node: NodeId,
        program: &str,
        row: fn(&Version) -> Option<&'static str>,
        default: &'static str,
    ) -> Decoded {
        let faults = decoder.faults.len();
        if let Content::Mapping(entries) = &decoder.document.node(node).content
            && decoder.has_duplicates(entries)
        {
            return Ok(false);
        }
        if let Some(value) = decoder.document.get(node, "version") {
            let mut text: Option<String> = None;
            decoder.value(&mut text, value)?;
            if let Some(text) = text {
                self.version =
                    Some(Version::parse(&text).map_err(|message| decoder.failure(value, message))?);
            }
        }
        if decoder.faults.len() > faults {
            return Ok(false);
        }
        let version = self.version.as_ref().map_or(Some(default), row);
        self.options = version.and_then(|version| Options::find(program, version));
        for (key, kind) in self.options.into_iter().flat_map(Options::keys) {
            let Some(value) = decoder.document.get(node, key) else {
                continue;
            };
            if let Some(value) = option_value(decoder, kind, value)? {
                self.given.push(Given { key, value });
            }
        }
        Ok(decoder.faults.len() == faults)
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.given
            .iter()
            .find(|given| given.key == key)
            .and_then(|given| match &given.value {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            })
    }

    fn shape<'a>(&'a self, own: Vec<(&'static str, &'a dyn Checked)>) -> Shape<'a> {
        let options = self
            .options
            .into_iter()
            .flat_map(Options::keys)
            .map(|(key, _)| (key, &LEAF as &dyn Checked));
        Shape::Struct(own.into_iter().chain(options).collect())
    }

    /// The lines of the section `[Service]`.
    fn service(&self, image: &str, command: &str) -> Result<Vec<String>, String> {
        let arguments: Vec<String> = self.given.iter().map(Given::argument).collect();
        if arguments
            .iter()
            .any(|argument| argument.contains(['{', '}']))
        {
            return Err("platform must be specified to use templating".to_owned());
        }
        let image = self
            .version
            .as_ref()
            .map(|version| format!("Environment=\"{image}=v{version}\""));
        let command: String = std::iter::once(format!("ExecStart={command}"))
            .chain(arguments.iter().map(|one| format!(" \\\n  {one}")))
            .collect();
        Ok(image
            .into_iter()
            .chain(["ExecStart=".to_owned(), command])
            .collect())
    }
}

/// Options have no checks of their own.
static LEAF: bool = false;

fn option_value(
    decoder: &mut Decoder<'_>,
    kind: &str,
    node: NodeId,
) -> Result<Option<Value>, Failure> {
    let value = match kind {
        "s" => {
            let mut text: Option<String> = None;
            decoder
                .value(&mut text, node)?
                .then_some(text)
                .flatten()
                .map(Value::Text)
        }
        "i" => {
            let mut number: Option<i64> = None;
            decoder
                .value(&mut number, node)?
                .then_some(number)
                .flatten()
                .map(Value::Number)
        }
        _ => {
            let mut flag: Option<bool> = None;
            decoder
                .value(&mut flag, node)?
                .then_some(flag)
                .flatten()
                .map(Value::Flag)
        }
    };
    Ok(value)
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Etcd(Program);

impl FromNode for Etcd {
    fn go_type() -> String {
        "types.etcdCommon".to_owned()
    }

    fn decode(&mut self, decoder: &mut Decoder<'_>, node: NodeId) -> Decoded {
        if decoder.is_null(node) {
            return Ok(false);
        }
        if !decoder.is_mapping(node) {
            return decoder.misfit(node, &Self::go_type());
        }
        let row = |version: &Version| match (version.major, version.minor) {
            (2, 3..) => Some("2"),
            (3, 0) => Some("3.0"),
            (3, 1) => Some("3.1"),
            (3, 2) => Some("3.2"),
            (3, 3) => Some("3.3"),
            (3, 4) => Some("3.4"),
            (3, 5..) => Some("3.5"),
            _ => None,
        };
        self.0.decode(decoder, node, "etcd", row, "3.5")
    }
}

impl Checked for Etcd {
    fn shape(&self) -> Shape<'_> {
        self.0.shape(vec![("version", &LEAF)])
    }

    fn check_field(&self, key: &str) -> Vec<Entry> {
        let Some(version) = self.0.version.as_ref().filter(|_| key == "version") else {
            return Vec::new();
        };
        let newer = "Etcd minor version specified is too new, only options available in the previous minor version will be accepted";
        match (version.major, version.minor) {
            _ if version.is_before(&Version::new(2, 3, 0)) => vec![Entry::error(
                "Etcd version specified is not valid (too old)",
            )],
            (2, 4..) | (3, 6..) => vec![Entry::warning(newer)],
            (4.., _) => vec![Entry::error("Etcd version is not valid (too new)")],
            _ => Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Flannel {
    program: Program,
    network_config: String,
}

impl FromNode for Flannel {
    fn go_type() -> String {
        "types.flannelCommon".to_owned()
    }

    fn decode(&mut self, decoder: &mut Decoder<'_>, node: NodeId) -> Decoded {
        if decoder.is_null(node) {
            return Ok(false);
        }
        if !decoder.is_mapping(node) {
            return decoder.misfit(node, &Self::go_type());
        }
        if let Some(value) = decoder.document.get(node, "network_config") {
            decoder.named(&mut self.network_config, "types.NetworkConfig", value)?;
        }
        let row = |version: &Version| match (version.major, version.minor) {
            (0, 7..) => Some("0.7"),
            (0, 6) => Some("0.6"),
            (0, 5) => Some("0.5"),
            _ => None,
        };
        self.program.decode(decoder, node, "flannel", row, "0.6")
    }
}

impl Checked for Flannel {
    fn shape(&self) -> Shape<'_> {
        self.program
            .shape(vec![("version", &LEAF), ("network_config", &LEAF)])
    }

    fn check(&self) -> Vec<Entry> {
        let by_kubernetes = self
            .program
            .given
            .iter()
            .any(|given| given.key == "kube_subnet_mgr" && given.value == Value::Flag(true));
        let both = by_kubernetes && !self.network_config.is_empty();
        both.then(|| {
            Entry::error("flannel network config cannot be provided if kube_subnet_mgr is set")
        })
        .into_iter()
        .collect()
    }

    fn check_field(&self, key: &str) -> Vec<Entry> {
        let is_object = |text: &str| {
            serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok()
                || text.trim() == "null"
        };
        match (key, &self.program.version) {
            ("version", Some(version)) if version.is_before(&Version::new(0, 5, 0)) => {
                vec![Entry::error("invalid flannel version (too old)")]
            }
            ("version", Some(version)) if version.major == 0 && version.minor > 7 => {
                let newer = "flannel minor version too new. Only options available in the previous minor version will be supported";
                vec![Entry::warning(newer)]
            }
            ("network_config", _)
                if !self.network_config.is_empty() && !is_object(&self.network_config) =>
            {
                vec![Entry::error(
                    "flannel network config doesn't appear to be valid JSON",
                )]
            }
            _ => Vec::new(),
        }
    }
}

/// A unit that is enabled and gets a drop-in.
fn unit(name: &str, dropin: &str, contents: String) -> Unit {
    let dropins = vec![SystemdDropin {
        contents,
        name: dropin.to_owned(),
    }];
    Unit {
        name: name.to_owned(),
        enable: true,
        dropins,
        ..Unit::default()
    }
}

fn service_section(lines: &[String]) -> String {
    format!("[Service]\n{}", lines.join("\n"))
}

/// The unit of etcd.
///
/// # Errors
///
/// A value asks for the platform's, and there is no platform.
pub(super) fn etcd_unit(etcd: &Etcd) -> Result<Unit, String> {
    let lines = etcd
        .0
        .service("ETCD_IMAGE_TAG", "/usr/lib/coreos/etcd-wrapper $ETCD_OPTS")?;
    Ok(unit(
        "etcd-member.service",
        "20-clct-etcd-member.conf",
        service_section(&lines),
    ))
}

/// The unit of flannel.
///
/// # Errors
///
/// As for [`etcd_unit`].
pub(super) fn flannel_unit(flannel: &Flannel) -> Result<Unit, String> {
    let mut lines = flannel.program.service(
        "FLANNEL_IMAGE_TAG",
        "/usr/lib/coreos/flannel-wrapper $FLANNEL_OPTS",
    )?;
    if !flannel.network_config.is_empty() {
        let flags = [
            ("etcd_endpoints", "endpoints"),
            ("etcd_cafile", "ca-file"),
            ("etcd_certfile", "cert-file"),
            ("etcd_keyfile", "key-file"),
        ];
        let given = flags.iter().filter_map(|(key, flag)| {
            Some(format!(
                " --{flag}={}",
                go::quote(flannel.program.text(key)?)
            ))
        });
        let config = go::quote(&flannel.network_config);
        lines.push(format!(
            "ExecStartPre=/usr/bin/etcdctl{} set /coreos.com/network/config {config}",
            given.collect::<String>()
        ));
    }
    Ok(unit(
        "flanneld.service",
        "20-clct-flannel.conf",
        service_section(&lines),
    ))
}

go_struct! {
    /// Flags of Docker.
    Docker = "types.Docker" {
        flags: Vec<String> = "flags",
    }
}

pub(super) fn docker_unit(docker: &Docker) -> Unit {
    let contents = format!(
        "[Service]\nEnvironment=\"DOCKER_OPTS={}\"",
        docker.flags.join(" ")
    );
    unit("docker.service", "20-clct-docker.conf", contents)
}
