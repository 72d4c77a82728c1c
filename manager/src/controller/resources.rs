//! What kinds are called at the API server, and in which version they are read.

use kube::Client;
use kube::discovery::ApiResource;
use windlass_capi::api::names::Version;
use windlass_capi::contract::{CORE_GROUP, crd_name};

use crate::fault::Fault;
use crate::flags::ConfigKind;

/// The versions of the core that can be read, the best first.
const CORE_VERSIONS: [&str; 2] = ["v1beta2", "v1beta1"];

/// The kinds of Cluster API's core that are read, in the newest version that is served and known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Core {
    pub(super) cluster: ApiResource,
    pub(super) machine: ApiResource,
    pub(super) machine_pool: ApiResource,
}

impl Core {
    /// Asks which version is served.
    ///
    /// # Errors
    /// There is no core, or none in a version that is known.
    pub(super) async fn discover(client: &Client) -> Result<Self, Fault> {
        let groups = client.list_api_groups().await?;
        let group = groups
            .groups
            .into_iter()
            .find(|group| group.name == CORE_GROUP);
        let served = group
            .ok_or_else(|| format!("the API server has no group {CORE_GROUP}"))?
            .versions;
        let mut lacking = Vec::new();
        for version in CORE_VERSIONS
            .into_iter()
            .filter(|version| served.iter().any(|served| served.version == *version))
        {
            let core = Core::in_version(version);
            // While the core is upgraded some of its kinds have a version already, and others not
            // yet.
            let kinds = client
                .list_api_group_resources(&core.cluster.api_version)
                .await?
                .resources;
            let missing = core
                .all()
                .into_iter()
                .find(|resource| !kinds.iter().any(|kind| kind.name == resource.plural));
            let Some(missing) =
                missing.map(|missing| format!("no {} in {}", missing.kind, missing.api_version))
            else {
                return Ok(core);
            };
            lacking.push(missing);
        }
        match lacking.is_empty() {
            true => Err(format!(
                "the API server has {CORE_GROUP} in none of {}",
                CORE_VERSIONS.join(", ")
            )
            .into()),
            false => Err(format!("the API server has {}", lacking.join(", and ")).into()),
        }
    }

    pub(super) fn in_version(version: &str) -> Self {
        let resource = |kind: &str| resource(CORE_GROUP, version, kind);
        Core {
            cluster: resource("Cluster"),
            machine: resource("Machine"),
            machine_pool: resource("MachinePool"),
        }
    }

    fn all(&self) -> [&ApiResource; 3] {
        [&self.cluster, &self.machine, &self.machine_pool]
    }

    pub(super) fn of_kind(&self, kind: &str) -> Option<&ApiResource> {
        self.all()
            .into_iter()
            .find(|resource| resource.kind == kind)
    }
}

/// What a kind of config is called at the API server, in the version that is stored.
pub(super) fn config(kind: ConfigKind) -> ApiResource {
    resource(kind.group(), Version::V1Beta2.as_str(), kind.as_str())
}

/// A resource; its plural is the one by which Cluster API itself finds it.
pub(super) fn resource(group: &str, version: &str, kind: &str) -> ApiResource {
    let api_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    let plural = crd_name(group, kind)
        .split('.')
        .next()
        .unwrap_or_default()
        .to_owned();
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version,
        kind: kind.to_owned(),
        plural,
    }
}

/// A kind of Kubernetes' own core group.
pub(super) fn kubernetes(kind: &str) -> ApiResource {
    resource("", "v1", kind)
}
