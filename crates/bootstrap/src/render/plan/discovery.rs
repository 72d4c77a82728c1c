//! How a joining node finds and trusts its cluster: what the provider fills in before it renders.

use super::certificate::{self, KeyPair, Purpose};
use super::key_hash;
use super::kubeadm::discovery_kubeconfig;
use super::node_plan::PlannedFile;
use crate::render::input::cluster::Endpoint;
use crate::render::input::filling::Filling;
use crate::render::input::outcome::Notes;
use crate::render::input::placeholder;
use crate::render::input::request::Request;
use windlass_capi::api::secret::{Base64Bytes, Sensitive};
use windlass_capi::api::v1beta2::{BootstrapTokenDiscovery, Discovery, FileDiscovery, KubeConfig};
use windlass_go_yaml::goyaml;
use windlass_objects::{Object, Spot};
use windlass_source::diag::{Diagnostic, FieldPath, Remedy, Setting, rules};

rules! {
    /// the CA certificate cannot be parsed
    pub(crate) CA_UNREADABLE = error("certificate-unreadable");
    /// the Cluster has no control plane endpoint
    pub(crate) ENDPOINT_MISSING = error("cluster-endpoint-missing"), requeues();
    /// the bootstrap token, which only a cluster can create, is missing
    pub(crate) TOKEN_MISSING = error("discovery-token-missing"), requeues();
    /// the discovery kubeconfig contains a string that YAML cannot represent
    pub(crate) KUBECONFIG_UNWRITABLE = error("discovery-kubeconfig-unwritable");
}

/// What discovery is filled in from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub(crate) request: &'a Request,
    pub(crate) endpoint: Option<&'a Endpoint>,
    pub(crate) cluster_name: &'a str,
    /// The CA of the cluster; `None` when it is a placeholder.
    pub(crate) ca: Option<&'a KeyPair>,
    pub(crate) spot: &'a Spot<'a>,
}

/// The CA among key pairs, unless it is a dummy.
pub(crate) fn cluster_ca(pairs: &[(Purpose, KeyPair, [String; 2])]) -> Option<&KeyPair> {
    let ca = pairs
        .iter()
        .find(|(purpose, ..)| *purpose == Purpose::ClusterCa);
    ca.map(|(_, pair, _)| pair)
        .filter(|pair| !pair.is_placeholder)
}

impl Sources<'_> {
    /// Fills in what the user left open; `None` when something cannot be known.
    pub(crate) fn complete(&self, discovery: &mut Discovery, notes: &mut Notes) -> Option<()> {
        match &mut discovery.file {
            Some(file) => file
                .kube_config
                .as_mut()
                .map_or(Some(()), |config| self.complete_kubeconfig(config, notes)),
            None => self.complete_token(discovery.bootstrap_token.get_or_insert_default(), notes),
        }
    }

    fn complete_kubeconfig(&self, config: &mut KubeConfig, notes: &mut Notes) -> Option<()> {
        let cluster = config.cluster.get_or_insert_default();
        if cluster.server.as_ref().is_none_or(String::is_empty) {
            cluster.server = Some(format!("https://{}", self.endpoint(notes)?));
        }
        if cluster
            .certificate_authority_data
            .as_ref()
            .is_none_or(|data| data.expose().as_slice().is_empty())
        {
            let ca = match self.ca {
                Some(pair) => pair.certificate.expose().clone(),
                None => {
                    notes.placeholder(placeholder::certificates());
                    placeholder::pem("CERTIFICATE", 1099).into_bytes()
                }
            };
            cluster.certificate_authority_data = Some(Sensitive::new(Base64Bytes::from(ca)));
        }
        Some(())
    }

    fn complete_token(
        &self,
        discovery: &mut BootstrapTokenDiscovery,
        notes: &mut Notes,
    ) -> Option<()> {
        if discovery.ca_cert_hashes.as_ref().is_none_or(Vec::is_empty) {
            discovery.ca_cert_hashes = Some(self.hashes(notes)?);
            notes.fill(
                "joinConfiguration.discovery.bootstrapToken.caCertHashes",
                self.hashes_from(),
            );
        }
        if discovery
            .api_server_endpoint
            .as_ref()
            .is_none_or(String::is_empty)
        {
            discovery.api_server_endpoint = Some(self.endpoint(notes)?);
            notes.fill(
                "joinConfiguration.discovery.bootstrapToken.apiServerEndpoint",
                self.endpoint_from(),
            );
        }
        if discovery
            .token
            .as_ref()
            .is_none_or(|token| token.expose().is_empty())
        {
            discovery.token = Some(self.token(notes)?);
            let from = match self.request.token {
                Some(_) => Filling::Setting(Setting::Token),
                None => Filling::of(&placeholder::token()),
            };
            notes.fill("joinConfiguration.discovery.bootstrapToken.token", from);
        }
        Some(())
    }

    fn hashes_from(&self) -> Filling {
        match (self.request.ca_cert_hashes.is_empty(), self.ca) {
            (false, _) => Filling::Setting(Setting::CaCertHash),
            (true, Some(_)) => Filling::Secret {
                name: certificate::secret_name(self.cluster_name, Purpose::ClusterCa),
                is_placeholder: false,
            },
            (true, None) => Filling::of(&placeholder::ca_cert_hash()),
        }
    }

    fn endpoint_from(&self) -> Filling {
        match (&self.request.endpoint, self.endpoint) {
            (Some(_), _) => Filling::Setting(Setting::Endpoint),
            (None, Some(_)) => Filling::Cluster("spec.controlPlaneEndpoint"),
            (None, None) => Filling::of(&placeholder::endpoint().1),
        }
    }

    fn hashes(&self, notes: &mut Notes) -> Option<Vec<String>> {
        if !self.request.ca_cert_hashes.is_empty() {
            return Some(self.request.ca_cert_hashes.clone());
        }
        let Some(ca) = self.ca else {
            return Some(vec![notes.placeholder(placeholder::ca_cert_hash())]);
        };
        match key_hash::of_bundle(ca.certificate.expose()) {
            Ok(hashes) => Some(hashes),
            Err(cause) => {
                let message = "the certificate of the cluster's CA cannot be read, so joining nodes cannot trust it";
                let finding = Diagnostic::of(&CA_UNREADABLE, message).at(self.spot.place());
                let finding = finding.help(
                    Remedy::new("put a PEM certificate into `tls.crt`, or give ")
                        .setting(Setting::CaCertHash),
                );
                notes.reject(finding.upstream(format!("unable to parse ca certificate: {cause}")))
            }
        }
    }

    fn endpoint(&self, notes: &mut Notes) -> Option<String> {
        if let Some(endpoint) = self.endpoint {
            return Some(endpoint.to_string());
        }
        if self.request.placeholders {
            return Some(notes.placeholder(placeholder::endpoint().1));
        }
        let message =
            "the Cluster has no `spec.controlPlaneEndpoint` yet, and the provider waits for it";
        let finding = Diagnostic::of(&ENDPOINT_MISSING, message).at(self.spot.place());
        let remedy = Remedy::new(
            "set `spec.controlPlaneEndpoint.host` and `.port` of the Cluster, or give ",
        );
        notes.reject(
            finding
                .help(remedy.set(Setting::Endpoint, "HOST:PORT"))
                .upstream(""),
        )
    }

    fn token(&self, notes: &mut Notes) -> Option<Sensitive<String>> {
        if let Some(token) = &self.request.token {
            return Some(token.clone());
        }
        if self.request.placeholders {
            return Some(Sensitive::new(notes.placeholder(placeholder::token())));
        }
        let message = "the provider would make a token, which cannot be foreseen";
        let finding = Diagnostic::of(&TOKEN_MISSING, message).at(self.spot.place());
        notes.reject(
            finding
                .help(Remedy::new("give it with ").set(Setting::Token, "abcdef.0123456789abcdef")),
        )
    }
}

/// The file of the discovery kubeconfig, when the config holds one.
pub(crate) fn kubeconfig_file(
    discovery: Option<&Discovery>,
    request: &Request,
    config: &Object,
    path: &FieldPath,
    notes: &mut Notes,
) -> Option<Option<PlannedFile>> {
    let Some(FileDiscovery {
        kube_config_path,
        kube_config: Some(kube_config),
    }) = discovery.and_then(|discovery| discovery.file.as_ref())
    else {
        return Some(None);
    };
    let path = path.field("file").field("kubeConfig");
    let document = discovery_kubeconfig(kube_config, request.profile.libraries_before_34);
    let Ok(text) = goyaml::to_string(&document) else {
        let message = format!("{path} holds a character that YAML does not allow");
        let finding = Diagnostic::of(&KUBECONFIG_UNWRITABLE, message).at(config.place(&path));
        return notes.reject(finding.help("remove control characters from its strings"));
    };
    Some(Some(PlannedFile {
        path: kube_config_path.clone(),
        owner: "root:root".to_owned(),
        permissions: "0640".to_owned(),
        content: Sensitive::new(text.into_bytes()),
        origin: Some(path),
        ..PlannedFile::default()
    }))
}
