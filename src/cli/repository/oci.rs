//! What `repository push` and `repository pull` share: the reference, and the registry in which it
//! is.

use clap::Args;

use crate::cli::clusterctl;
use crate::cli::{Context, Failure};
use crate::io::network::Bounds;
use crate::io::registry::{
    Access, Endpoint, Found, Registry, RegistryFault, credentials_for, is_loopback,
};
use windlass_repository::push::{Reference, reference};

/// Where an artifact is.
#[derive(Args)]
pub(super) struct Place {
    /// The artifact: oci://HOST/REPOSITORY:TAG in a registry, oci:DIR:TAG in a layout on disk
    ///
    /// Naming a registry allows network access. Credentials come from OCI_ACCESS_TOKEN, from
    /// OCI_USERNAME and OCI_PASSWORD, or from ~/.docker/config.json as written by `docker login`;
    /// Docker credential helpers are not run. Credentials are sent only to the registry and its
    /// token server. HTTPS_PROXY and NO_PROXY are honored.
    #[arg(value_name = "REF")]
    pub(super) reference: String,
    /// Speak to the registry without TLS, as is done on this machine in any case
    #[arg(long)]
    plain_http: bool,
}

impl Place {
    /// The reference, read.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn parse(&self) -> Result<Reference, Failure> {
        reference(&self.reference).map_err(|fault| Failure::usage(fault.message, fault.help))
    }

    /// Whether a registry is spoken to without TLS.
    pub(super) fn is_plain(&self, host: &str) -> bool {
        self.plain_http || is_loopback(host)
    }

    /// The registry, with what we are to it.
    pub(super) fn registry(
        &self,
        context: &mut Context<'_>,
        host: &str,
        repository: &str,
        access: Access,
    ) -> Registry {
        let Found { credentials, note } = credentials_for(host, context.environment);
        note.iter()
            .for_each(|note| context.talk(&format!("note: {note}")));
        let endpoint = Endpoint {
            host: host.to_owned(),
            repository: repository.to_owned(),
            plain_http: self.is_plain(host),
        };
        Registry::new(
            endpoint,
            access,
            credentials,
            Bounds::default(),
            clusterctl::visible_network(context),
        )
    }
}

/// What a registry did not do, as the failure of a verb.
pub(super) fn failure(fault: RegistryFault) -> Failure {
    Failure::usage(fault.message, fault.help)
}
