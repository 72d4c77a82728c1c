//! From a config to the data of one machine: prove, look around, plan, encode.

use std::collections::BTreeMap;

use semver::Version;

use super::certificate::{self, KeyPair, Lookup, Purpose};
use super::cloud_config::{self, Encoder};
use super::config::{self, Config};
use super::content::Contents;
use super::discovery::{self, Sources};
use super::kubeadm::{self, ClusterValues, Durations, KubeadmApi};
use super::legacy::Legacy;
use super::outcome::Notes;
use super::plan::{Kubeadm, NodePlan, PlannedDirectory, PlannedFile, RetryJoin};
use super::pool::Pool;
use super::quirks;
use super::request::Request;
use super::role::Role;
use super::surroundings::Surroundings;
use super::target::{ConfigKind, Target};
use crate::api::boot::{Compression, Format, OnFailure, Platform, Templating};
use crate::api::files::{ContentFormat, Directory};
use crate::api::node::Taint;
use crate::api::secret::Sensitive;
use crate::api::v1beta2::{JoinConfiguration, Timeouts, WindlassConfigSpec};
use crate::contract::parse_tolerant;
use crate::diag::{Diagnostic, FieldPath, RuleId};
use crate::text::go_template;

/// A version of Kubernetes that is none, or that the provider does not support.
pub const VERSION_UNSUPPORTED: RuleId = RuleId::new("kubernetes-version-unsupported");
/// A config of a worker that says it is of the control plane.
pub const WORKER_WITH_CONTROL_PLANE: RuleId = RuleId::new("config-worker-control-plane");
/// A config of the first machine that says nothing of it.
pub const INIT_WITHOUT_CONFIGURATION: RuleId = RuleId::new("config-init-missing");
/// A control plane whose version templates need is not there.
pub const CONTROL_PLANE_MISSING: RuleId = RuleId::new("control-plane-missing");
/// A field that kubeadm's API for the version of Kubernetes does not have.
pub const FIELD_DROPPED: RuleId = RuleId::new("kubeadm-field-dropped");
/// A text that kubeadm's documents cannot hold.
pub const CHARACTER_REFUSED: RuleId = RuleId::new("kubeadm-character-refused");
/// A field that is not rendered yet.
pub const NOT_RENDERED: RuleId = RuleId::new("config-field-not-rendered");

/// The taint of a worker until its Node is initialized (book: "Machine controller").
const UNINITIALIZED: &str = "node.cluster.x-k8s.io/uninitialized";

/// The bootstrap data of a machine, and how it came to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The role.
    pub role: Role,
    /// The cluster.
    pub cluster_name: String,
    /// The version of Kubernetes.
    pub kubernetes_version: String,
    /// The format of the data.
    pub format: Format,
    /// How the user's texts are written.
    pub encoder: Encoder,
    /// Where the spec is in the user's object.
    pub spec_path: FieldPath,
    /// What the node gets.
    pub plan: NodePlan,
    /// The data.
    pub data: Sensitive<Vec<u8>>,
}

/// Renders a machine. What is wrong or filled in is in the notes.
pub fn render(pool: &Pool, target: &Target<'_>, request: &Request, notes: &mut Notes) -> Option<Rendered> {
    let config = config::prove(target, request, notes);
    let surroundings = Surroundings::of(pool, target, request, notes);
    let (config, surroundings) = (config?, surroundings?);
    refuse_unsupported(target, &config, notes)?;
    let Surroundings { role, kubernetes_version, .. } = surroundings.clone();
    let cluster_name = surroundings.cluster.name.clone();
    let plan = Planner { pool, target, request, surroundings }.plan(config, notes)?;
    let encoder = match target.kind {
        ConfigKind::Windlass(_) => Encoder::Typed,
        _ => request.encoder.unwrap_or(Encoder::Capi),
    };
    notes.report.extend(quirks::warnings(&plan, target.config, &target.spec_path(), encoder == Encoder::Capi));
    let data = cloud_config::encode(&plan, encoder);
    Some(Rendered {
        role,
        cluster_name,
        kubernetes_version,
        format: Format::CloudConfig,
        encoder,
        spec_path: target.spec_path(),
        plan,
        data,
    })
}

/// Refuses what would be rendered wrongly, because this version does not know it.
fn refuse_unsupported(target: &Target<'_>, config: &Config, notes: &mut Notes) -> Option<()> {
    let spec = &config.spec;
    let root = FieldPath::root();
    let additions = [
        ("cloudConfig", spec.cloud_config.is_some()),
        ("compression", spec.compression.is_some()),
        ("directories", spec.directories.is_some()),
        ("fileDefaults", spec.file_defaults.is_some()),
        ("format", spec.format == Some(Format::Ignition)),
        ("maxDataBytes", spec.max_data_bytes.is_some()),
        ("onFailure", spec.on_failure.is_some_and(|action| action != OnFailure::Continue)),
        ("platform", spec.platform == Some(Platform::Windows)),
    ];
    let additions = additions.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| root.field(name));
    let files = spec.files.iter().flatten().enumerate().flat_map(|(index, file)| {
        let path = root.field("files").index(index);
        let config_map = file.content_from.as_ref().is_some_and(|source| source.config_map.is_some());
        [file.transfer_encoding.map(|_| path.field("transferEncoding")), config_map.then(|| path.field("contentFrom").field("configMap"))]
    });
    let unsupported: Vec<FieldPath> = additions.chain(files.flatten()).collect();
    for path in &unsupported {
        let path = target.spec_path().join(path);
        let finding = Diagnostic::error(NOT_RENDERED, format!("{path} is set, which this version of windlass does not render yet"));
        notes.report.push(finding.at(target.config.place(&path)).help("leave the field out to render the rest"));
    }
    unsupported.is_empty().then_some(())
}

/// Everything that a plan is made from.
struct Planner<'a> {
    pool: &'a Pool,
    target: &'a Target<'a>,
    request: &'a Request,
    surroundings: Surroundings,
}

/// Certificates with their key pairs and paths.
type Pairs = Vec<(Purpose, KeyPair, [String; 2])>;

impl Planner<'_> {
    fn plan(&self, config: Config, notes: &mut Notes) -> Option<NodePlan> {
        let Config { mut spec, legacy } = config;
        let api = self.kubeadm_api(notes);
        self.as_control_plane(&mut spec);
        if let Some(api) = api {
            self.report_dropped(&spec, api, notes);
        }
        let pairs = self.certificates(&spec, notes);
        let has_templates = spec.files.iter().flatten().any(|file| file.content_format == Some(ContentFormat::Template));
        let template_data = if has_templates { self.template_data(notes)? } else { go_template::Value::Nil };
        let contents = Contents {
            pool: self.pool,
            config: self.target.config,
            spec_path: &self.target.spec_path(),
            profile: &self.request.profile,
            template_data: &template_data,
        };
        let user_files = contents.files(spec.files.take().unwrap_or_default(), notes);
        let users = contents.users(spec.users.take().unwrap_or_default(), notes);
        let (kubeadm, kubeconfig) = match self.surroundings.role {
            Role::Init => (self.init(&spec, legacy.as_ref(), api?, notes)?, None),
            _ => self.join(&mut spec, legacy.as_ref(), pairs.as_ref(), api, notes)?,
        };
        let certificates = if self.surroundings.role.is_control_plane() { certificate::files(pairs?) } else { Vec::new() };
        let mut ntp = spec.ntp;
        if self.request.profile.is_legacy()
            && let Some(enabled) = ntp.as_mut().and_then(|ntp| ntp.enabled.as_mut())
        {
            *enabled = true;
        }
        Some(NodePlan {
            files: certificates.into_iter().chain(user_files?).chain(kubeconfig).collect(),
            kubeadm,
            verbosity: spec.verbosity,
            boot_commands: spec.boot_commands.unwrap_or_default(),
            pre_kubeadm_commands: spec.pre_kubeadm_commands.unwrap_or_default(),
            post_kubeadm_commands: spec.post_kubeadm_commands.unwrap_or_default(),
            users: users?,
            ntp,
            disk_setup: spec.disk_setup,
            mounts: spec.mounts.unwrap_or_default(),
            directories: self.directories(spec.directories.take().unwrap_or_default()),
            platform: spec.platform.unwrap_or(Platform::Linux),
            on_failure: spec.on_failure.unwrap_or(OnFailure::Continue),
            templating: spec.cloud_config.and_then(|options| options.templating).unwrap_or(Templating::Jinja),
            compression: spec.compression.unwrap_or(Compression::None),
        })
    }

    fn directories(&self, directories: Vec<Directory>) -> Vec<PlannedDirectory> {
        let planned = |(index, directory): (usize, Directory)| PlannedDirectory {
            path: directory.path,
            owner: directory.owner.unwrap_or_else(|| "root:root".to_owned()),
            permissions: directory.permissions.unwrap_or_else(|| "0755".to_owned()),
            origin: Some(self.target.spec_path().field("directories").index(index)),
        };
        directories.into_iter().enumerate().map(planned).collect()
    }

    /// The version of kubeadm's API for the machine's version of Kubernetes.
    fn kubeadm_api(&self, notes: &mut Notes) -> Option<KubeadmApi> {
        let text = &self.surroundings.kubernetes_version;
        let parsed = parse_tolerant(text).map_err(|cause| format!("failed to parse kubernetes version \"{text}\": {cause}"));
        match parsed.and_then(|version| KubeadmApi::for_kubernetes(&version, &self.request.profile)) {
            Ok(api) => Some(api),
            Err(upstream) => {
                let oldest = self.request.profile.oldest_kubernetes;
                let message = match text.as_str() {
                    "" => "the machine says no version of Kubernetes".to_owned(),
                    text => format!("`{text}` is no version of Kubernetes that CAPI {} renders", self.request.profile.version()),
                };
                let finding = Diagnostic::error(VERSION_UNSUPPORTED, message).at(self.surroundings.version_place.clone());
                notes.refuse(finding.help(format!("write a version from v1.{oldest}.0 on, such as v1.34.1")).upstream(upstream))
            }
        }
    }

    /// What templates of files see: the version of the control plane, when the Cluster refers to one that says it.
    fn template_data(&self, notes: &mut Notes) -> Option<go_template::Value> {
        let map = |name: &str, value| go_template::Value::Map(BTreeMap::from([(name.to_owned(), value)]));
        let version = |version: String| map("controlPlane", map("version", go_template::Value::Text(version)));
        let Surroundings { cluster, cluster_place, kubernetes_version, .. } = &self.surroundings;
        let reference = match &cluster.control_plane {
            Some(reference) => reference,
            None if cluster.is_read || !self.request.stand_ins => return Some(go_template::Value::Map(BTreeMap::new())),
            None => return Some(version(normalised(kubernetes_version))),
        };
        let namespace = self.target.config.namespace();
        match self.pool.find(&reference.group, &reference.kind, namespace, &reference.name) {
            Some(object) if object.text(&["spec", "version"]).is_empty() => Some(go_template::Value::Map(BTreeMap::new())),
            Some(object) => Some(version(normalised(object.text(&["spec", "version"])))),
            None if self.request.stand_ins => Some(version(normalised(kubernetes_version))),
            None => {
                let message = format!("the templates of files need {} {}, which no file holds", reference.kind, reference.name);
                let finding = Diagnostic::error(CONTROL_PLANE_MISSING, message).at(cluster_place.clone());
                notes.refuse(finding.help(format!("add the file of {} {namespace}/{}", reference.kind, reference.name)))
            }
        }
    }

    /// Warns of what kubeadm's API of this version cannot hold.
    fn report_dropped(&self, spec: &WindlassConfigSpec, api: KubeadmApi, notes: &mut Notes) {
        for path in kubeadm::dropped(spec, self.surroundings.role, api) {
            let path = self.target.spec_path().join(&path);
            let version = &self.surroundings.kubernetes_version;
            let message = format!("{path} does not reach the machine: {} for Kubernetes {version} has no such field", api.as_str());
            let finding = Diagnostic::warning(FIELD_DROPPED, message).at(self.target.config.key_place(&path));
            notes.report.push(finding.help("remove the field, or use Kubernetes v1.31.0 or newer"));
        }
    }

    /// What KubeadmControlPlane makes of its spec for each of its machines.
    fn as_control_plane(&self, spec: &mut WindlassConfigSpec) {
        if !self.target.is_control_plane_object() {
            return;
        }
        match self.surroundings.role {
            Role::Init => spec.join_configuration = None,
            _ => {
                spec.init_configuration = None;
                spec.join_configuration.get_or_insert_default().control_plane.get_or_insert_default();
            }
        }
        let version = parse_tolerant(&self.surroundings.kubernetes_version).ok();
        let version = version.map(|version| Version::new(version.major, version.minor, version.patch));
        if version.is_some_and(|version| self.request.profile.sets_kubelet_local_mode(&version)) {
            let gates = spec.cluster_configuration.get_or_insert_default().feature_gates.get_or_insert_default();
            gates.entry("ControlPlaneKubeletLocalMode".to_owned()).or_insert(true);
        }
    }

    fn certificates(&self, spec: &WindlassConfigSpec, notes: &mut Notes) -> Option<Pairs> {
        let Surroundings { role, cluster, cluster_place, .. } = &self.surroundings;
        let certificates = match role.is_control_plane() {
            true => certificate::of_control_plane(spec.cluster_configuration.as_ref()),
            false if self.request.stand_ins && self.needs_no_ca(spec) => Vec::new(),
            false => certificate::of_worker(),
        };
        let lookup = Lookup {
            pool: self.pool,
            request: self.request,
            namespace: self.target.config.namespace(),
            cluster,
            place: cluster_place,
            all_must_exist: *role != Role::Init,
        };
        if *role == Role::WorkerJoin || *role == Role::MachinePool {
            // A dummy would only be hashed, and a hash has its own stand-in.
            let mut own = Notes::default();
            let pairs = lookup.key_pairs(&certificates, &mut own);
            notes.report.extend(own.report);
            return pairs;
        }
        lookup.key_pairs(&certificates, notes)
    }

    /// Whether discovery says all that the CA would say.
    fn needs_no_ca(&self, spec: &WindlassConfigSpec) -> bool {
        let discovery = spec.join_configuration.as_ref().and_then(|join| join.discovery.as_ref());
        let token = discovery.and_then(|discovery| discovery.bootstrap_token.as_ref());
        token.is_some_and(|token| token.ca_cert_hashes.as_ref().is_some_and(|hashes| !hashes.is_empty()))
    }

    fn init(&self, spec: &WindlassConfigSpec, legacy: Option<&Legacy>, api: KubeadmApi, notes: &mut Notes) -> Option<Kubeadm> {
        if legacy.is_some_and(|legacy| !legacy.can_init) {
            let message =
                format!("{} has neither clusterConfiguration nor initConfiguration, so CAPI v1.10 waits", self.target.config.title());
            let finding = Diagnostic::error(INIT_WITHOUT_CONFIGURATION, message).at(self.target.config.place(&self.target.spec_path()));
            return notes.refuse(finding.help("add `clusterConfiguration: {}`"));
        }
        let own = spec.init_configuration.as_ref().and_then(|init| init.timeouts.as_ref());
        let timeouts = timeouts(own, legacy.map(Legacy::init_timeouts));
        let values = self.cluster_values(spec, legacy);
        let cluster = spec.cluster_configuration.clone().unwrap_or_default();
        let cluster = kubeadm::cluster_configuration(&cluster, &values, &timeouts, api);
        let lifetimes = legacy.map_or(&[][..], |legacy| &legacy.token_lifetimes);
        let init = spec.init_configuration.clone().unwrap_or_default();
        let init = kubeadm::init_configuration(&init, lifetimes, &timeouts, api);
        let (cluster, init) = (self.write(api, &cluster, notes), self.write(api, &init, notes));
        Some(Kubeadm::Init { cluster: cluster?, init: init? })
    }

    /// What kubeadm is told of the cluster: from the Cluster and the Machine, where the user may not say it or did not.
    fn cluster_values(&self, spec: &WindlassConfigSpec, legacy: Option<&Legacy>) -> ClusterValues {
        let Surroundings { cluster, kubernetes_version, .. } = &self.surroundings;
        let given = legacy.map(|legacy| legacy.values.clone()).unwrap_or_default();
        let or = |given: String, other: &str| if given.is_empty() { other.to_owned() } else { given };
        let user_endpoint =
            spec.cluster_configuration.as_ref().and_then(|config| config.control_plane_endpoint.clone()).unwrap_or_default();
        let endpoint = cluster.endpoint.as_ref().map(ToString::to_string).unwrap_or_default();
        ClusterValues {
            cluster_name: or(given.cluster_name, &cluster.name),
            control_plane_endpoint: or(user_endpoint, &endpoint),
            kubernetes_version: or(given.kubernetes_version, kubernetes_version),
            dns_domain: or(given.dns_domain, &cluster.service_domain),
            service_subnet: or(given.service_subnet, &cluster.services),
            pod_subnet: or(given.pod_subnet, &cluster.pods),
        }
    }

    fn join(
        &self,
        spec: &mut WindlassConfigSpec,
        legacy: Option<&Legacy>,
        pairs: Option<&Pairs>,
        api: Option<KubeadmApi>,
        notes: &mut Notes,
    ) -> Option<(Kubeadm, Option<PlannedFile>)> {
        let control_plane = self.surroundings.role.is_control_plane();
        let join = spec.join_configuration.get_or_insert_default();
        if control_plane {
            join.control_plane.get_or_insert_default();
        } else {
            self.refuse_control_plane(join, notes)?;
            taint_worker(join);
        }
        let pairs = pairs?;
        let sources = Sources {
            request: self.request,
            endpoint: self.surroundings.cluster.endpoint.as_ref(),
            ca: discovery::cluster_ca(pairs),
            place: &self.surroundings.cluster_place,
        };
        sources.complete(join.discovery.get_or_insert_default(), notes)?;
        let place = self.target.config.place(&self.target.spec_path().field("joinConfiguration").field("discovery"));
        let kubeconfig = discovery::kubeconfig_file(join.discovery.as_ref(), self.request, &place, notes)?;
        let timeouts = timeouts(join.timeouts.as_ref(), legacy.map(Legacy::join_timeouts));
        let api = api?;
        let document = kubeadm::join_configuration(join, &timeouts, api);
        let retry = legacy.filter(|legacy| legacy.retry_join).map(|_| match api {
            KubeadmApi::V1Beta2 | KubeadmApi::V1Beta3 => RetryJoin::BeforeKubernetes131,
            KubeadmApi::V1Beta4 => RetryJoin::FromKubernetes131,
        });
        Some((Kubeadm::Join { join: self.write(api, &document, notes)?, control_plane, retry }, kubeconfig))
    }

    fn refuse_control_plane(&self, join: &JoinConfiguration, notes: &mut Notes) -> Option<()> {
        if join.control_plane.is_none() {
            return Some(());
        }
        let path = self.target.spec_path().field("joinConfiguration").field("controlPlane");
        let finding = Diagnostic::error(WORKER_WITH_CONTROL_PLANE, format!("{path} is set, but the machine is a worker"));
        let finding = finding
            .at(self.target.config.key_place(&path))
            .help("remove `controlPlane`, or label the Machine `cluster.x-k8s.io/control-plane`");
        notes.refuse(finding.upstream("Machine is a Worker, but JoinConfiguration.ControlPlane is set in the KubeadmConfig object"))
    }

    fn write(&self, api: KubeadmApi, document: &serde_json::Value, notes: &mut Notes) -> Option<Sensitive<String>> {
        match api.write(document) {
            Ok(text) => Some(Sensitive::new(text)),
            Err(upstream) => {
                let place = self.target.config.place(&self.target.spec_path());
                let kind = document["kind"].as_str().unwrap_or_default();
                let message = format!("a text of kubeadm's {kind} holds a character that YAML does not allow");
                let finding = Diagnostic::error(CHARACTER_REFUSED, message).at(place).upstream(upstream);
                notes.refuse(finding.help("remove control characters (U+007F to U+009F, U+FFFE, U+FFFF) from the config"))
            }
        }
    }
}

/// The version with three numbers and a `v`; as it is when it is none.
fn normalised(version: &str) -> String {
    parse_tolerant(version).map_or_else(|_| version.to_owned(), |version| format!("v{version}"))
}

/// The timeouts of v1beta2, or those that v1.10 reads.
fn timeouts(own: Option<&Timeouts>, legacy: Option<Durations>) -> Durations {
    legacy.unwrap_or_else(|| own.map(Durations::from).unwrap_or_default())
}

/// Adds the taint of a node that is not initialized yet, unless it is there.
fn taint_worker(join: &mut JoinConfiguration) {
    const EFFECT: &str = "NoSchedule";
    let taints = join.node_registration.get_or_insert_default().taints.get_or_insert_default();
    if !taints.iter().any(|taint| taint.key == UNINITIALIZED && taint.effect == EFFECT) {
        taints.push(Taint { key: UNINITIALIZED.to_owned(), effect: EFFECT.to_owned(), ..Taint::default() });
    }
}
