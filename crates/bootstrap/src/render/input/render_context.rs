//! The render context of a machine: its cluster, its role, its Kubernetes version.

use super::cluster::ClusterFacts;
use super::filling::Filling;
use super::outcome::Notes;
use super::owner::{Owner, with_v};
use super::request::Request;
use super::role::Role;
use super::target::Target;
use super::{cluster_class, placeholder};
use windlass_capi::contract::{CORE_GROUP, labels};
use windlass_objects::{Object, Pool, Spot};
use windlass_source::diag::{Diagnostic, FieldPath, Remedy, Setting, rules};

rules! {
    /// no Machine or MachinePool owns the config
    pub(crate) OWNER_MISSING = error("config-owner-missing"), requeues();
    /// the Cluster of a machine does not exist
    pub(crate) CLUSTER_MISSING = error("cluster-missing"), requeues();
    /// the Cluster is not ready for bootstrap data
    pub(crate) CLUSTER_NOT_READY = error("cluster-not-ready"), requeues();
    /// the Cluster or the config is paused
    pub(crate) PAUSED = error("cluster-paused"), requeues();
}

/// What rendering needs to know beside the config.
#[derive(Debug, Clone)]
pub struct RenderContext<'a> {
    pub(crate) role: Role,
    pub(crate) cluster: ClusterFacts,
    /// The Kubernetes version as it is rendered; may be empty or no version.
    pub(crate) kubernetes_version: String,
    pub(crate) version_from: Filling,
    /// Who says the name of the cluster.
    pub(crate) name_from: Filling,
    /// The field of the owner with the Kubernetes version; the whole config without an owner.
    pub version_spot: Spot<'a>,
    /// The Cluster; the whole config when the input does not contain the Cluster.
    pub cluster_spot: Spot<'a>,
}

impl<'a> RenderContext<'a> {
    /// Looks around a config. What is missing is a finding, or a placeholder.
    pub fn of(
        pool: &'a Pool,
        target: &Target<'a>,
        request: &Request,
        notes: &mut Notes,
    ) -> Option<Self> {
        let owner = owner(pool, target, request, notes)?;
        let (cluster, cluster_spot) = cluster(pool, target, owner, request, notes)?;
        let role = role(pool, target, owner, &cluster, request, notes)?;
        // A joining machine is not told the name.
        let is_placeholder = cluster_is_placeholder(&cluster, owner, target, request);
        if role == Role::Init && is_placeholder {
            notes.placeholder(placeholder::cluster_name());
        }
        let name_from = match (cluster.is_read, is_placeholder, &request.cluster_name) {
            (true, ..) => Filling::Cluster("metadata.name"),
            (_, true, _) => Filling::of(&placeholder::cluster_name()),
            (_, _, Some(_)) => Filling::Setting(Setting::ClusterName),
            _ => Filling::Provider(
                "what makes the machine names its Cluster, which the input does not hold",
            ),
        };
        let version_spot =
            owner.map_or_else(|| Spot::whole(target.config), |owner| owner.version_spot());
        let (kubernetes_version, version_from) =
            kubernetes_version(owner, &cluster, request, notes);
        Some(RenderContext {
            role,
            cluster,
            kubernetes_version,
            version_from,
            name_from,
            version_spot,
            cluster_spot,
        })
    }
}

/// The machine above the config; `None` within when there is none and none is needed.
fn owner<'a>(
    pool: &'a Pool,
    target: &Target<'a>,
    request: &Request,
    notes: &mut Notes,
) -> Option<Option<Owner<'a>>> {
    if target.is_control_plane_object() {
        return Some(Some(Owner {
            object: target.config,
        }));
    }
    if let Some(set) = target.set {
        return Some(Some(Owner { object: set }));
    }
    let config = target.config;
    let place = || config.key_place(&FieldPath::root().field("metadata").field("ownerReferences"));
    match Owner::of_reference(pool, config, request.feature_gates) {
        Some((_, Some(owner))) => return Some(Some(owner)),
        Some((reference, None)) if !request.placeholders => {
            let message = format!(
                "{} belongs to {} {}, which no file holds",
                config.title(),
                reference.kind,
                reference.name
            );
            return notes.reject(
                Diagnostic::of(&OWNER_MISSING, message)
                    .at(place())
                    .help(format!("add the file of the {}", reference.kind)),
            );
        }
        _ => {}
    }
    let found = Owner::by_config_ref(pool, config, request.feature_gates);
    if found.is_none() && !request.placeholders {
        let message = format!(
            "{} belongs to no Machine or MachinePool, so the provider leaves it alone",
            config.title()
        );
        return notes.reject(
            Diagnostic::of(&OWNER_MISSING, message).at(place()).help(
                Remedy::new("add the owner reference and the Machine, or leave out ")
                    .setting(Setting::NoPlaceholders),
            ),
        );
    }
    Some(found)
}

fn cluster<'a>(
    pool: &'a Pool,
    target: &Target<'a>,
    owner: Option<Owner<'_>>,
    request: &Request,
    notes: &mut Notes,
) -> Option<(ClusterFacts, Spot<'a>)> {
    let config = target.config;
    let spot = Spot::whole(config);
    let said = owner
        .map(|owner| owner.cluster_name())
        .filter(|name| !name.is_empty());
    let name = request
        .cluster_name
        .as_deref()
        .or(said)
        .unwrap_or_else(|| config.text(&["metadata", "labels", labels::CLUSTER_NAME]));
    let object = pool
        .find(CORE_GROUP, "Cluster", config.namespace_or_default(), name)
        .or_else(|| only_cluster(pool, target, name));
    let Some(object) = object else {
        if request.placeholders {
            let name = if name.is_empty() {
                placeholder::cluster_name().value
            } else {
                name.to_owned()
            };
            let facts = ClusterFacts {
                name,
                endpoint: request.endpoint.clone(),
                ..ClusterFacts::default()
            };
            return Some((facts, spot));
        }
        let message = format!(
            "{} is a machine of Cluster `{name}`, which no file holds",
            config.title()
        );
        return notes.reject(
            Diagnostic::of(&CLUSTER_MISSING, message)
                .at(spot.place())
                .help("add the file of the Cluster"),
        );
    };
    let mut facts = ClusterFacts::read(object, request.profile.is_legacy());
    if request.endpoint.is_some() {
        facts.endpoint.clone_from(&request.endpoint);
    }
    let spot = Spot::whole(object);
    if !request.placeholders {
        let paused = facts.paused
            || config.value()["metadata"]["annotations"]
                .get(labels::PAUSED)
                .is_some();
        if paused {
            let message = format!(
                "{} or its Cluster is paused, so the provider renders nothing",
                config.title()
            );
            return notes.reject(
                Diagnostic::of(&PAUSED, message)
                    .at(spot.place())
                    .help("unset `spec.paused` of the Cluster and the annotation of the config"),
            );
        }
        if !facts.infrastructure_provisioned {
            let message = format!(
                "the provider waits for the infrastructure of Cluster {}",
                facts.name
            );
            let finding = Diagnostic::of(&CLUSTER_NOT_READY, message)
                .at(spot.place())
                .help(
                    Remedy::new("leave out ")
                        .setting(Setting::NoPlaceholders)
                        .then(" to render before that"),
                );
            return notes.reject(
                finding.upstream("Waiting for Cluster status.infrastructureReady to be true"),
            );
        }
    }
    Some((facts, spot))
}

/// Whether the cluster's name is one that nobody gave.
fn cluster_is_placeholder(
    cluster: &ClusterFacts,
    owner: Option<Owner<'_>>,
    target: &Target<'_>,
    request: &Request,
) -> bool {
    let label = target
        .config
        .text(&["metadata", "labels", labels::CLUSTER_NAME]);
    let is_said = request.cluster_name.is_some()
        || owner.is_some_and(|owner| !owner.cluster_name().is_empty())
        || !label.is_empty();
    !is_said && !cluster.is_read
}

/// The only Cluster of the namespace, or the one whose control plane the config is, or the only one
/// whose class has the template.
fn only_cluster<'a>(pool: &'a Pool, target: &Target<'_>, name: &str) -> Option<&'a Object> {
    if !name.is_empty() {
        return None;
    }
    let namespace = target.config.namespace_or_default();
    let of_control_plane = || {
        target
            .is_control_plane_object()
            .then(|| pool.cluster_of_control_plane(namespace, target.config.name()))
            .flatten()
    };
    let mut clusters = pool.of_kind(CORE_GROUP, "Cluster", namespace);
    (clusters.len() == 1)
        .then(|| clusters.next())
        .flatten()
        .or_else(of_control_plane)
        .or_else(|| cluster_class::only_user(pool, target))
}

fn role(
    pool: &Pool,
    target: &Target<'_>,
    owner: Option<Owner<'_>>,
    cluster: &ClusterFacts,
    request: &Request,
    notes: &mut Notes,
) -> Option<Role> {
    if let Some(role) = target.role.or(request.role) {
        return Some(role);
    }
    if !request.placeholders && !target.is_template() {
        let owner = owner?;
        return match (
            owner.is_control_plane_machine(),
            cluster.control_plane_initialized,
        ) {
            (true, false) => Some(Role::Init),
            (true, true) => Some(Role::ControlPlaneJoin),
            (false, true) => Some(if owner.is_machine_pool() {
                Role::MachinePool
            } else {
                Role::WorkerJoin
            }),
            (false, false) => {
                let message = format!(
                    "the provider waits for the first control-plane machine of Cluster {}",
                    cluster.name
                );
                let finding = Diagnostic::of(&CLUSTER_NOT_READY, message)
                    .at(target.config.place(&FieldPath::root()));
                let finding = finding.help(
                    Remedy::new("leave out ")
                        .setting(Setting::NoPlaceholders)
                        .then(" to render before that"),
                );
                notes
                    .reject(finding.upstream("Waiting for Cluster control plane to be initialized"))
            }
        };
    }
    Some(match owner {
        Some(owner) if owner.is_control_plane_machine() && cluster.control_plane_initialized => {
            Role::ControlPlaneJoin
        }
        Some(owner) if owner.is_control_plane_machine() => target.likely_control_plane_role(),
        Some(owner) if owner.is_machine_pool() => Role::MachinePool,
        Some(_) => Role::WorkerJoin,
        None if target.is_template() && cluster_class::is_for_machine_pools(pool, target) => {
            Role::MachinePool
        }
        None if target.is_template() => Role::WorkerJoin,
        None => {
            let role = target.likely_role();
            notes.placeholder(placeholder::role(role));
            role
        }
    })
}

fn kubernetes_version(
    owner: Option<Owner<'_>>,
    cluster: &ClusterFacts,
    request: &Request,
    notes: &mut Notes,
) -> (String, Filling) {
    if let Some(version) = &request.kubernetes_version {
        return (
            with_v(version),
            Filling::Setting(Setting::KubernetesVersion),
        );
    }
    let said = owner
        .map(|owner| owner.kubernetes_version())
        .unwrap_or_default();
    if !said.is_empty() || !request.placeholders {
        return (said, Filling::Version);
    }
    // A template of a ClusterClass is for the version that the Cluster asks for.
    match with_v(&cluster.topology_version) {
        said if said.is_empty() => {
            let placeholder = placeholder::kubernetes_version();
            let from = Filling::of(&placeholder);
            (notes.placeholder(placeholder), from)
        }
        said => (said, Filling::Cluster("spec.topology.version")),
    }
}
