//! What only a cluster would know, as flags of the verbs that render.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::path::Path;

use clap::Args;

use super::{Failure, remedy};
use crate::io::files;
use crate::io::input::Limits;
use windlass_bootstrap::render::input::cluster::Endpoint;
use windlass_bootstrap::render::input::profile::UnknownRelease;
use windlass_bootstrap::render::validation::config::is_token;
use windlass_bootstrap::render::{FeatureGates, Profile, Request, Role};
use windlass_capi::api::secret::Sensitive;
use windlass_capi::contract::parse_semantic;
use windlass_source::nearest::nearest;

const DEFAULT_CAPI: &str = "v1.14";

/// What only a cluster would know.
#[derive(Clone, Args)]
pub(super) struct RenderFlags {
    /// The CAPI release to match: v1.10 to v1.14, main
    #[arg(long, value_name = "VERSION", default_value = DEFAULT_CAPI)]
    capi_version: String,
    /// The Kubernetes version
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<String>,
    /// The role of the machine
    #[arg(long, value_name = "ROLE", value_parser = ["init", "control-plane-join", "worker-join", "machinepool"])]
    role: Option<String>,
    /// The name of the cluster
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    cluster_name: Option<String>,
    /// The endpoint of the API server
    #[arg(long, value_name = "HOST:PORT", hide_short_help = true)]
    endpoint: Option<String>,
    /// The token that the provider would make
    #[arg(long, value_name = "TOKEN", hide_short_help = true)]
    token: Option<String>,
    /// The hash of the CA's key
    #[arg(long, value_name = "HASH", hide_short_help = true)]
    ca_cert_hash: Vec<String>,
    /// A folder laid out as /etc/kubernetes/pki
    #[arg(long, value_name = "DIR")]
    pub(super) certs_dir: Option<String>,
    /// Fill in nothing: what is missing is a finding
    ///
    /// The objects are taken as the provider would find them; what it would reject or wait for is
    /// a finding.
    #[arg(long)]
    pub(super) no_placeholders: bool,
    /// CAPI's feature gates, such as KubeadmBootstrapFormatIgnition=true
    #[arg(
        long,
        value_name = "GATE=BOOL",
        value_delimiter = ',',
        hide_short_help = true
    )]
    feature_gates: Vec<String>,
}

impl RenderFlags {
    /// The flags of two sides, where a version is a range `A..B`: those with A, none without
    /// a range, and those with B.
    ///
    /// # Errors
    /// A range without its begin or its end.
    pub(super) fn range(&self) -> Result<(Option<Self>, Self), Failure> {
        let (capi, kubernetes) = (
            ends("capi-version", &self.capi_version)?,
            self.kubernetes_version.as_deref(),
        );
        let kubernetes = kubernetes
            .map(|version| ends("kubernetes-version", version))
            .transpose()?
            .flatten();
        if capi.is_none() && kubernetes.is_none() {
            return Ok((None, self.clone()));
        }
        let (mut earlier, mut later) = (self.clone(), self.clone());
        if let Some((from, to)) = capi {
            (earlier.capi_version, later.capi_version) = (from, to);
        }
        if let Some((from, to)) = kubernetes {
            (earlier.kubernetes_version, later.kubernetes_version) = (Some(from), Some(to));
        }
        Ok((Some(earlier), later))
    }

    /// The first of these flags that is given and differs from its default.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        [
            ("--capi-version", self.capi_version != DEFAULT_CAPI),
            ("--kubernetes-version", self.kubernetes_version.is_some()),
            ("--role", self.role.is_some()),
            ("--cluster-name", self.cluster_name.is_some()),
            ("--endpoint", self.endpoint.is_some()),
            ("--token", self.token.is_some()),
            ("--ca-cert-hash", !self.ca_cert_hash.is_empty()),
            ("--certs-dir", self.certs_dir.is_some()),
            ("--no-placeholders", self.no_placeholders),
            ("--feature-gates", !self.feature_gates.is_empty()),
        ]
        .into_iter()
        .find_map(|(flag, is_given)| is_given.then_some(flag))
    }

    /// What the flags ask for.
    ///
    /// # Errors
    /// A value that is none, or a folder of certificates that cannot be read.
    pub(super) fn request(&self) -> Result<Request, Failure> {
        let profile = Profile::parse(&self.capi_version).map_err(|unknown| {
            Failure::usage(unknown.to_string(), remedy::words(&UnknownRelease::help()))
        })?;
        Ok(Request {
            profile,
            placeholders: !self.no_placeholders,
            role: self.role.as_deref().and_then(Role::parse),
            cluster_name: self.cluster_name.clone(),
            endpoint: self.endpoint.as_deref().map(endpoint).transpose()?,
            kubernetes_version: self
                .kubernetes_version
                .as_deref()
                .map(kubernetes_version)
                .transpose()?,
            given_version: self.kubernetes_version.clone(),
            token: self.token.as_deref().map(token).transpose()?,
            ca_cert_hashes: self
                .ca_cert_hash
                .iter()
                .map(|text| ca_cert_hash(text))
                .collect::<Result<_, _>>()?,
            certificates: self
                .certs_dir
                .as_deref()
                .map(certificates)
                .transpose()?
                .unwrap_or_default(),
            feature_gates: feature_gates(&self.feature_gates)?,
            ..Request::new()
        })
    }
}

/// The ends of a range; `None` when it is none.
fn ends(flag: &str, text: &str) -> Result<Option<(String, String)>, Failure> {
    match text.split_once("..") {
        None => Ok(None),
        Some((from, to)) if !from.is_empty() && !to.is_empty() => {
            Ok(Some((from.to_owned(), to.to_owned())))
        }
        Some(_) => Err(Failure::usage(
            format!("`--{flag} {text}` is not a range"),
            format!("write `--{flag} A..B` with both versions"),
        )),
    }
}

/// A whole version with its `v`. A version without patch number is its first patch.
fn kubernetes_version(text: &str) -> Result<String, Failure> {
    let numbers = text.trim();
    let version = format!("v{}", numbers.strip_prefix('v').unwrap_or(numbers));
    let first_patch = format!("{version}.0");
    [version, first_patch]
        .into_iter()
        .find(|version| parse_semantic(version).is_ok())
        .ok_or_else(|| {
            Failure::usage(
                format!("`--kubernetes-version {text}` is not a Kubernetes version"),
                "write it such as `--kubernetes-version v1.34.1`",
            )
        })
}

fn endpoint(text: &str) -> Result<Endpoint, Failure> {
    // The address of IPv6 needs its brackets, or its last part is taken for the port.
    let parsed = text.rsplit_once(':').and_then(|(host, port)| {
        let bracketed = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let host = match bracketed {
            Some(address) => address.parse::<Ipv6Addr>().is_ok().then_some(address)?,
            None => Some(host).filter(|host| !host.contains([':', '[', ']']))?,
        };
        Some((host, port.parse().ok()?))
    });
    match parsed {
        Some((host, port)) if !host.is_empty() && (1..=65535).contains(&port) => Ok(Endpoint {
            host: host.to_owned(),
            port,
        }),
        _ => Err(Failure::usage(
            format!("`--endpoint {text}` is not a host and a port"),
            "write it such as `--endpoint 10.0.0.1:6443` or `--endpoint [fd00::1]:6443`",
        )),
    }
}

/// The message does not repeat what may be a secret.
fn token(text: &str) -> Result<Sensitive<String>, Failure> {
    if is_token(text) {
        return Ok(Sensitive::new(text.to_owned()));
    }
    let help =
        "write it such as `--token abcdef.0123456789abcdef`, or run `kubeadm token generate`";
    Err(Failure::usage(
        "the value of `--token` is not a bootstrap token",
        help,
    ))
}

fn ca_cert_hash(text: &str) -> Result<String, Failure> {
    if text
        .strip_prefix("sha256:")
        .is_some_and(|hash| !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        return Ok(text.to_owned());
    }
    let help = "write `sha256:` and the hash in hexadecimal digits, as `kubeadm token create --print-join-command` prints it";
    Err(Failure::usage(
        format!("`--ca-cert-hash {text}` is not the hash of a key"),
        help,
    ))
}

fn certificates(folder: &str) -> Result<BTreeMap<String, Sensitive<Vec<u8>>>, Failure> {
    const NAMES: [&str; 10] = [
        "ca.crt",
        "ca.key",
        "etcd/ca.crt",
        "etcd/ca.key",
        "front-proxy-ca.crt",
        "front-proxy-ca.key",
        "sa.pub",
        "sa.key",
        "apiserver-etcd-client.crt",
        "apiserver-etcd-client.key",
    ];
    let folder = folder.trim_end_matches('/');
    let mut found = BTreeMap::new();
    for name in NAMES {
        let path = format!("{folder}/{name}");
        if files::is_file(Path::new(&path)) {
            found.insert(
                name.to_owned(),
                Sensitive::new(files::read_file(&path, Limits::default())?),
            );
        }
    }
    if found.is_empty() {
        return Err(Failure::usage(
            format!("`--certs-dir {folder}` holds no certificate"),
            "name a folder with `ca.crt` and `ca.key`, such as /etc/kubernetes/pki",
        ));
    }
    Ok(found)
}

/// The gates that decide what is admitted or rendered.
const WITH_EFFECT: [&str; 3] = [
    "KubeadmBootstrapFormatIgnition",
    "MachinePool",
    "MachineTaintPropagation",
];

fn feature_gates(given: &[String]) -> Result<FeatureGates, Failure> {
    let mut gates = FeatureGates::default();
    for gate in given {
        let value = gate
            .split_once('=')
            .and_then(|(name, value)| Some((name, value.parse::<bool>().ok()?)));
        match value {
            Some(("KubeadmBootstrapFormatIgnition", on)) => gates.ignition = on,
            Some(("MachinePool", on)) => gates.machine_pool = on,
            Some(("MachineTaintPropagation", on)) => gates.machine_taints = on,
            Some((name, _)) if FeatureGates::WITHOUT_EFFECT.contains(&name) => {}
            Some((name, _)) => {
                let known = FeatureGates::WITHOUT_EFFECT.into_iter().chain(WITH_EFFECT);
                let help = match nearest(name, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the gates with an effect are {}", WITH_EFFECT.join(", ")),
                };
                return Err(Failure::usage(
                    format!("CAPI has no feature gate `{name}`"),
                    help,
                ));
            }
            None => {
                let name = gate.split_once('=').map_or(gate.as_str(), |(name, _)| name);
                let name = if name.is_empty() { "NAME" } else { name };
                return Err(Failure::usage(
                    format!("`--feature-gates {gate}` is not NAME=true or NAME=false"),
                    format!("write `--feature-gates {name}=true`"),
                ));
            }
        }
    }
    Ok(gates)
}
