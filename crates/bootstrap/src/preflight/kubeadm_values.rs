//! Values that kubeadm rejects when it reads its documents on the node
//! (`cmd/kubeadm/app/apis/kubeadm/validation` of v1.34). What the schemas and webhooks of Cluster
//! API reject already is not repeated.

use std::net::IpAddr;

use serde_json::Value;

use super::Subject;
use windlass_capi::contract::{Image, ImageFault};
use windlass_objects::{Object, fields};
use windlass_schema::name::subdomain_errors;
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Segment, rules};
use windlass_source::nearest::nearest;

rules! {
    /// kubeadm rejects a value
    pub VALUE_REJECTED = error("kubeadm-value-rejected");
}

/// What a text must be.
#[derive(Clone, Copy)]
pub enum Form {
    /// The name of a Node: a DNS subdomain (RFC 1123).
    NodeName,
    /// The socket of a container runtime.
    Socket,
    /// An IP address, of IPv4 or IPv6.
    Address,
    /// A path on the node that begins with `/`.
    AbsolutePath,
    /// A host, with a port or without.
    Endpoint,
    /// A host with a port, which is required.
    HostPort,
    /// A name or address of a certificate.
    AltName,
    /// What images have before their last `/`.
    Repository,
    /// A phase of `kubeadm init`, such as `addon/kube-proxy`.
    InitPhase,
    /// A phase of `kubeadm join`, such as `preflight`.
    JoinPhase,
}

/// The fields and what each must be; `[]` for the items of a list.
const FIELDS: [(&str, Form); 22] = [
    ("clusterConfiguration.apiServer.certSANs[]", Form::AltName),
    ("clusterConfiguration.certificatesDir", Form::AbsolutePath),
    ("clusterConfiguration.controlPlaneEndpoint", Form::Endpoint),
    ("clusterConfiguration.dns.imageRepository", Form::Repository),
    (
        "clusterConfiguration.etcd.local.imageRepository",
        Form::Repository,
    ),
    ("clusterConfiguration.imageRepository", Form::Repository),
    (
        "clusterConfiguration.etcd.external.caFile",
        Form::AbsolutePath,
    ),
    (
        "clusterConfiguration.etcd.external.certFile",
        Form::AbsolutePath,
    ),
    (
        "clusterConfiguration.etcd.external.keyFile",
        Form::AbsolutePath,
    ),
    (
        "clusterConfiguration.etcd.local.dataDir",
        Form::AbsolutePath,
    ),
    (
        "clusterConfiguration.etcd.local.peerCertSANs[]",
        Form::AltName,
    ),
    (
        "clusterConfiguration.etcd.local.serverCertSANs[]",
        Form::AltName,
    ),
    (
        "initConfiguration.localAPIEndpoint.advertiseAddress",
        Form::Address,
    ),
    ("initConfiguration.nodeRegistration.criSocket", Form::Socket),
    ("initConfiguration.nodeRegistration.name", Form::NodeName),
    ("initConfiguration.skipPhases[]", Form::InitPhase),
    (
        "joinConfiguration.controlPlane.localAPIEndpoint.advertiseAddress",
        Form::Address,
    ),
    (
        "joinConfiguration.discovery.bootstrapToken.apiServerEndpoint",
        Form::HostPort,
    ),
    ("joinConfiguration.nodeRegistration.criSocket", Form::Socket),
    ("joinConfiguration.nodeRegistration.name", Form::NodeName),
    ("joinConfiguration.skipPhases[]", Form::JoinPhase),
    (
        "joinConfiguration.discovery.file.kubeConfigPath",
        Form::AbsolutePath,
    ),
];

/// Fields with a port, which the schema bounds but below.
const PORTS: [&str; 2] = [
    "initConfiguration.localAPIEndpoint.bindPort",
    "joinConfiguration.controlPlane.localAPIEndpoint.bindPort",
];

/// Phases of `kubeadm init` (`cmd/kubeadm/app/cmd/init.go`).
const INIT_PHASES: [&str; 14] = [
    "preflight",
    "certs",
    "kubeconfig",
    "etcd",
    "control-plane",
    "kubelet-start",
    "wait-control-plane",
    "upload-config",
    "upload-certs",
    "mark-control-plane",
    "bootstrap-token",
    "kubelet-finalize",
    "addon",
    "show-join-command",
];

/// Phases of `kubeadm join` (`cmd/kubeadm/app/cmd/join.go`).
const JOIN_PHASES: [&str; 8] = [
    "preflight",
    "control-plane-prepare",
    "check-etcd",
    "kubelet-start",
    "etcd-join",
    "kubelet-wait-bootstrap",
    "control-plane-join",
    "wait-control-plane",
];

pub(super) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let texts = FIELDS.iter().flat_map(|(path, form)| {
        texts(subject, path)
            .into_iter()
            .map(move |(path, text)| (path, text, *form))
    });
    let known = texts.filter(|(_, text, _)| !text.is_empty() && !is_made_on_node(subject, text));
    let faults = known.filter_map(|(path, text, form)| {
        Some(rejected(&path, text, form)?.at(subject.place(&path)))
    });
    faults.chain(ports(subject)).collect()
}

/// The finding about a text, without its place.
fn rejected(path: &FieldPath, text: &str, form: Form) -> Option<Diagnostic> {
    let (fault, help) = form.fault(text)?;
    let finding = Diagnostic::of(
        &VALUE_REJECTED,
        format!(
            "{path} is `{text}`, which kubeadm rejects: {fault}",
            text = Quoted(text),
            fault = Quoted(fault)
        ),
    );
    Some(finding.help(help))
}

/// The finding about the repository of images at a field of an object, as [`check`] has it.
pub fn rejected_repository(object: &Object, path: &FieldPath) -> Option<Diagnostic> {
    let segments = path.segments();
    let text = fields::at(object.value(), segments)?.as_str()?;
    let is_configuration = |segment: &Segment| matches!(segment, Segment::Field(name) if name == "clusterConfiguration");
    let spec = segments.iter().position(is_configuration)?;
    let spec = fields::at(object.value(), &segments[..spec])?;
    let commands = fields::items(spec, &["preKubeadmCommands"]).iter();
    let is_made = has_variable(text)
        || commands
            .filter_map(Value::as_str)
            .any(|command| command.contains(text));
    let is_repository = path.to_string().ends_with("mageRepository") && !is_made;
    let finding = rejected(path, text, Form::Repository).filter(|_| is_repository)?;
    Some(finding.at(object.place(path)))
}

/// Whether a text has a variable of jinja, or of a shell.
fn has_variable(text: &str) -> bool {
    ["{{", "{%", "$"].iter().any(|sign| text.contains(sign))
}

/// Whether nobody knows here what kubeadm reads: jinja gives the value, or a command writes another
/// one over it.
fn is_made_on_node(subject: &Subject<'_>, text: &str) -> bool {
    if has_variable(text) {
        return true;
    }
    let is_placeholder = !text.contains(char::is_whitespace) && text.len() > 3;
    let mut commands = fields::items(subject.spec, &["preKubeadmCommands"])
        .iter()
        .filter_map(Value::as_str);
    is_placeholder
        && commands
            .any(|command| subject.budget.charge(command.len()).is_ok() && command.contains(text))
}

/// The texts at a path of the table.
fn texts<'a>(subject: &Subject<'a>, path: &str) -> Vec<(FieldPath, &'a str)> {
    let steps: Vec<&str> = path.trim_end_matches("[]").split('.').collect();
    let at = steps
        .iter()
        .fold(subject.spec_path.clone(), |path, step| path.field(*step));
    match fields::field(subject.spec, &steps) {
        Some(Value::String(text)) => vec![(at, text)],
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| Some((at.index(index), item.as_str()?)))
            .collect(),
        _ => Vec::new(),
    }
}

fn ports(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let too_large = PORTS.iter().filter_map(|path| {
        let steps: Vec<&str> = path.split('.').collect();
        let port = fields::field(subject.spec, &steps)?
            .as_i64()
            .filter(|port| *port > 65535)?;
        let path = steps
            .iter()
            .fold(subject.spec_path.clone(), |path, step| path.field(*step));
        let finding = Diagnostic::of(
            &VALUE_REJECTED,
            format!("{path} is {port}, which kubeadm rejects: the largest port is 65535"),
        );
        Some(
            finding
                .at(subject.place(&path))
                .help("write 6443, or leave it out"),
        )
    });
    too_large.collect()
}

impl Form {
    /// What is wrong with a text, and what to do.
    fn fault(self, text: &str) -> Option<(String, String)> {
        let said = |fault: &str, help: &str| Some((fault.to_owned(), help.to_owned()));
        match self {
            Form::NodeName => {
                let errors = subdomain_errors(text);
                (!errors.is_empty()).then(|| {
                    (
                        errors.join("; "),
                        "write lower-case letters, digits, `-` and `.`".to_owned(),
                    )
                })
            }
            Form::Socket => match text.split_once("://") {
                Some((scheme, _)) if !["unix", "npipe"].contains(&scheme) => said(
                    "only sockets are taken",
                    "write such as unix:///run/containerd/containerd.sock",
                ),
                _ => None,
            },
            Form::Address if text.parse::<IpAddr>().is_err() => said(
                "it is not an address",
                "write an address such as 10.0.0.10, or leave it out",
            ),
            Form::AbsolutePath if !text.starts_with('/') => {
                said("the path is not absolute", "begin it with `/`")
            }
            Form::Endpoint if !is_endpoint(text, false) => said(
                "it is not a host with a port",
                "write such as api.example.com:6443",
            ),
            Form::HostPort if !is_endpoint(text, true) => said(
                "it is not a host with a port",
                "write such as api.example.com:6443",
            ),
            Form::AltName if !is_alternative_name(text) => said(
                "it is neither an address nor a name of DNS",
                "write a host or an address alone",
            ),
            Form::Repository if !is_repository(text) => said(
                "it is not a repository of images",
                "write it such as registry.k8s.io: lower case, without a scheme and without `/` at the end",
            ),
            Form::InitPhase => unknown_phase(text, "init", &INIT_PHASES),
            Form::JoinPhase => unknown_phase(text, "join", &JOIN_PHASES),
            _ => None,
        }
    }
}

/// Phases below one, such as `addon/kube-proxy`, change with the versions.
fn unknown_phase(text: &str, verb: &str, phases: &[&'static str]) -> Option<(String, String)> {
    let name = text.split('/').next().unwrap_or_default();
    if phases.contains(&name) {
        return None;
    }
    let help = match nearest(name, phases.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the phases are {}", phases.join(", ")),
    };
    Some((format!("kubeadm {verb} has no such phase"), help))
}

/// A host and a port (`ParseHostPort` of kubeadm); an address of IPv6 with a port has brackets.
fn is_endpoint(text: &str, needs_port: bool) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some(_) if text.parse::<IpAddr>().is_ok() => (text, None),
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    };
    let is_port =
        |port: &str| port.parse::<u16>().is_ok_and(|number| number > 0) && !port.starts_with('+');
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_host = match bare {
        Some(bare) => bare.parse::<IpAddr>().is_ok(),
        None => host.parse::<IpAddr>().is_ok() || subdomain_errors(&host.to_lowercase()).is_empty(),
    };
    is_host && port.map_or(!needs_port, is_port)
}

fn is_alternative_name(text: &str) -> bool {
    let name = text.strip_prefix("*.").unwrap_or(text);
    text.parse::<IpAddr>().is_ok() || subdomain_errors(name).is_empty()
}

/// `ValidateImageRepository` of kubeadm, which forms the name of an image.
fn is_repository(text: &str) -> bool {
    let image = Image::parse(&format!("{text}/name:tag"));
    matches!(image, Ok(_) | Err(ImageFault::NotCanonical))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ValidateHostPort`, `ValidateCertSANs`, `ValidateSocketPath` and `ValidateAbsolutePath` of
    /// kubeadm, and their tests.
    #[test]
    fn values_are_those_that_kubeadm_takes() {
        let check = |form: Form, text: &str, is_taken: bool| {
            assert_eq!(form.fault(text).is_none(), is_taken, "{text}")
        };
        for (text, is_taken) in [
            ("1.2.3.4", true),
            ("1.2.3.4:6443", true),
            ("a.b:6443", true),
            ("[fd00::1]:6443", true),
            ("fd00::1", true),
        ] {
            check(Form::Endpoint, text, is_taken);
        }
        for text in [
            "a.b:0",
            "a.b:65536",
            "a b:6443",
            "https://a.b:6443",
            "a.b:",
            ":6443",
        ] {
            check(Form::Endpoint, text, false);
        }
        check(Form::HostPort, "a.b", false);
        check(Form::HostPort, "a.b:6443", true);
        for text in ["a.b", "*.a.b", "10.0.0.1", "fd00::1"] {
            check(Form::AltName, text, true);
        }
        for text in ["a.b:6443", "*", "a_b", "https://a"] {
            check(Form::AltName, text, false);
        }
        check(Form::Socket, "unix:///run/x.sock", true);
        check(Form::Socket, "/run/x.sock", true);
        check(Form::Socket, "tcp://1.2.3.4:5", false);
        check(Form::AbsolutePath, "var/lib", false);
        for text in ["registry.k8s.io", "a.b:5000/c/d", "localhost", "a"] {
            check(Form::Repository, text, true);
        }
        // "invalid image repository format"
        for text in [
            "a.b/c/",
            "a.b//c",
            "https://a.b",
            "a.b/C",
            "a b",
            "a.b/c:tag",
        ] {
            check(Form::Repository, text, false);
        }
        check(Form::InitPhase, "addon/kube-proxy", true);
        check(Form::InitPhase, "addons", false);
        check(Form::NodeName, "Node_1", false);
    }
}
