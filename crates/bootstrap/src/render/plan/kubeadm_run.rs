//! What kubeadm is given: its documents, completed from Cluster and Machine.

use super::certificate::Pairs;
use super::discovery::{self, Sources};
use super::kubeadm::{self, ClusterValues, Durations, KubeadmApi};
use super::legacy::Legacy;
use super::node_plan::{Kubeadm, PlannedFile, RetryJoin};
use super::planner::Planner;
use crate::render::input::filling::{FROM_CLUSTER, Filled, FilledPart, Filling};
use crate::render::input::outcome::Notes;
use crate::render::input::render_context::RenderContext;
use windlass_capi::api::node::Taint;
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::v1beta2::{JoinConfiguration, Timeouts, WindlassConfigSpec};
use windlass_source::diag::{Diagnostic, FieldPath, Setting, rules};

rules! {
    /// the config of a worker contains control plane settings
    pub(crate) WORKER_WITH_CONTROL_PLANE = error("config-worker-control-plane");
    /// the config of the first control plane machine has no init or cluster configuration
    pub(crate) INIT_WITHOUT_CONFIGURATION = error("config-init-missing");
    /// a string contains a character that kubeadm's configuration cannot represent
    pub(crate) CHARACTER_REJECTED = error("kubeadm-character-rejected");
}

/// The taint of a worker until its Node is initialized (book: "Machine controller").
const UNINITIALIZED: &str = "node.cluster.x-k8s.io/uninitialized";
const UNINITIALIZED_WHY: &str = "every worker has the taint until Cluster API has copied the labels of its Machine to the Node, and then takes it away";

impl Planner<'_> {
    /// What `kubeadm init` is given.
    pub(super) fn init(
        &self,
        spec: &WindlassConfigSpec,
        legacy: Option<&Legacy>,
        api: KubeadmApi,
        notes: &mut Notes,
    ) -> Option<Kubeadm> {
        if legacy.is_some_and(|legacy| !legacy.can_init) {
            let message = format!(
                "{} has neither clusterConfiguration nor initConfiguration, so CAPI v1.10 waits",
                self.target.config.title()
            );
            let finding = Diagnostic::of(&INIT_WITHOUT_CONFIGURATION, message)
                .at(self.target.config.place(&self.target.spec_path()));
            return notes.reject(finding.help("add `clusterConfiguration: {}`"));
        }
        let own = spec
            .init_configuration
            .as_ref()
            .and_then(|init| init.timeouts.as_ref());
        let timeouts = timeouts(own, legacy.map(Legacy::init_timeouts));
        let values = self.cluster_values(spec, legacy, notes);
        let cluster = spec.cluster_configuration.clone().unwrap_or_default();
        let mut cluster = kubeadm::cluster_configuration(&cluster, &values, &timeouts, api);
        // Converted from v1beta1, an empty list of endpoints is none.
        if legacy.is_none()
            && let Some(endpoints) = cluster
                .pointer_mut("/etcd/external/endpoints")
                .filter(|list| list.as_array().is_some_and(Vec::is_empty))
        {
            *endpoints = serde_json::Value::Null;
        }
        let lifetimes = legacy.map_or(&[][..], |legacy| &legacy.token_lifetimes);
        let init = spec.init_configuration.clone().unwrap_or_default();
        let init = kubeadm::init_configuration(&init, lifetimes, &timeouts, api);
        let (cluster, init) = (
            self.write(api, &cluster, notes),
            self.write(api, &init, notes),
        );
        Some(Kubeadm::Init {
            cluster: cluster?,
            init: init?,
        })
    }

    /// What kubeadm is told of the cluster: from the Cluster and the Machine, where the user may
    /// not say it or did not.
    fn cluster_values(
        &self,
        spec: &WindlassConfigSpec,
        legacy: Option<&Legacy>,
        notes: &mut Notes,
    ) -> ClusterValues {
        let RenderContext {
            cluster,
            kubernetes_version,
            name_from,
            version_from,
            ..
        } = &self.render_context;
        let given = legacy
            .map(|legacy| legacy.values.clone())
            .unwrap_or_default();
        let user_endpoint = spec
            .cluster_configuration
            .as_ref()
            .and_then(|config| config.control_plane_endpoint.clone())
            .unwrap_or_default();
        let endpoint = cluster
            .endpoint
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        let [mut endpoint_from, domain_from, services_from, pods_from] =
            FROM_CLUSTER.map(|(field, of_cluster)| (field, Filling::Cluster(of_cluster)));
        if self.request.endpoint.is_some() {
            endpoint_from.1 = Filling::Setting(Setting::Endpoint);
        }
        let name_from = ("clusterConfiguration.clusterName", name_from.clone());
        let version_from = (
            "clusterConfiguration.kubernetesVersion",
            version_from.clone(),
        );
        let mut or = |given: String, other: &str, (field, from): (&str, Filling)| {
            if !given.is_empty() {
                return given;
            }
            if !other.is_empty() {
                notes.fill(field, from);
            }
            other.to_owned()
        };
        ClusterValues {
            cluster_name: or(given.cluster_name, &cluster.name, name_from),
            control_plane_endpoint: or(user_endpoint, &endpoint, endpoint_from),
            kubernetes_version: or(given.kubernetes_version, kubernetes_version, version_from),
            dns_domain: or(given.dns_domain, &cluster.service_domain, domain_from),
            service_subnet: or(given.service_subnet, &cluster.services, services_from),
            pod_subnet: or(given.pod_subnet, &cluster.pods, pods_from),
        }
    }

    /// What `kubeadm join` is given, and the kubeconfig for discovery.
    pub(super) fn join(
        &self,
        spec: &mut WindlassConfigSpec,
        legacy: Option<&Legacy>,
        pairs: Option<&Pairs>,
        api: Option<KubeadmApi>,
        notes: &mut Notes,
    ) -> Option<(Kubeadm, Option<PlannedFile>)> {
        let control_plane = self.render_context.role.is_control_plane();
        let join = spec.join_configuration.get_or_insert_default();
        if control_plane {
            if join.control_plane.is_none() {
                notes.fill(
                    "joinConfiguration.controlPlane",
                    Filling::Provider("the machine is one of the control plane"),
                );
            }
            join.control_plane.get_or_insert_default();
        } else {
            self.reject_control_plane(join, notes)?;
            if let Some(index) = taint_worker(join) {
                let path =
                    FieldPath::of_fields("joinConfiguration.nodeRegistration.taints").index(index);
                let what = FilledPart::Field(path);
                notes.filled.push(Filled {
                    what,
                    from: Filling::Provider(UNINITIALIZED_WHY),
                });
            }
        }
        let pairs = pairs?;
        let sources = Sources {
            request: self.request,
            endpoint: self.render_context.cluster.endpoint.as_ref(),
            cluster_name: &self.render_context.cluster.name,
            ca: discovery::cluster_ca(pairs),
            spot: &self.render_context.cluster_spot,
        };
        sources.complete(join.discovery.get_or_insert_default(), notes)?;
        let path = self
            .target
            .spec_path()
            .field("joinConfiguration")
            .field("discovery");
        let kubeconfig = discovery::kubeconfig_file(
            join.discovery.as_ref(),
            self.request,
            self.target.config,
            &path,
            notes,
        )?;
        let timeouts = timeouts(
            join.timeouts.as_ref(),
            legacy.map(|legacy| legacy.join_timeouts(control_plane)),
        );
        let api = api?;
        let document = kubeadm::join_configuration(join, &timeouts, api);
        let retry = legacy
            .filter(|legacy| legacy.retry_join)
            .map(|_| match api {
                KubeadmApi::V1Beta2 | KubeadmApi::V1Beta3 => RetryJoin::BeforeKubernetes131,
                KubeadmApi::V1Beta4 => RetryJoin::FromKubernetes131,
            });
        Some((
            Kubeadm::Join {
                join: self.write(api, &document, notes)?,
                control_plane,
                retry,
            },
            kubeconfig,
        ))
    }

    fn reject_control_plane(&self, join: &JoinConfiguration, notes: &mut Notes) -> Option<()> {
        if join.control_plane.is_none() {
            return Some(());
        }
        let path = self
            .target
            .spec_path()
            .field("joinConfiguration")
            .field("controlPlane");
        let finding = Diagnostic::of(
            &WORKER_WITH_CONTROL_PLANE,
            format!("{path} is set, but the machine is a worker"),
        );
        let finding = finding
            .at(self.target.config.key_place(&path))
            .help("remove `controlPlane`, or label the Machine `cluster.x-k8s.io/control-plane`");
        notes.reject(finding.upstream("Machine is a Worker, but JoinConfiguration.ControlPlane is set in the KubeadmConfig object"))
    }

    fn write(
        &self,
        api: KubeadmApi,
        document: &serde_json::Value,
        notes: &mut Notes,
    ) -> Option<Sensitive<String>> {
        match api.write(document) {
            Ok(text) => Some(Sensitive::new(text)),
            Err(upstream) => {
                let place = self.target.config.place(&self.target.spec_path());
                let kind = document["kind"].as_str().unwrap_or_default();
                let message = format!(
                    "a text of kubeadm's {kind} holds a character that YAML does not allow"
                );
                let finding = Diagnostic::of(&CHARACTER_REJECTED, message)
                    .at(place)
                    .upstream(upstream);
                notes.reject(finding.help(
                    "remove control characters (U+007F to U+009F, U+FFFE, U+FFFF) from the config",
                ))
            }
        }
    }
}

/// The timeouts of v1beta2, or those that v1.10 reads.
fn timeouts(own: Option<&Timeouts>, legacy: Option<Durations>) -> Durations {
    legacy.unwrap_or_else(|| own.map(Durations::from).unwrap_or_default())
}

/// Adds the taint of a node that is not initialized yet, unless it is there; says where it was
/// added.
fn taint_worker(join: &mut JoinConfiguration) -> Option<usize> {
    const EFFECT: &str = "NoSchedule";
    let taints = join
        .node_registration
        .get_or_insert_default()
        .taints
        .get_or_insert_default();
    if taints
        .iter()
        .any(|taint| taint.key == UNINITIALIZED && taint.effect == EFFECT)
    {
        return None;
    }
    taints.push(Taint {
        key: UNINITIALIZED.to_owned(),
        effect: EFFECT.to_owned(),
        ..Taint::default()
    });
    Some(taints.len() - 1)
}
