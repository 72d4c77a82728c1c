//! From a valid config and its render context to the plan of a node.

use semver::Version;

use super::certificate::{self, Lookup, Pairs};
use super::content::Contents;
use super::kubeadm::{self, KubeadmApi};
use super::legacy::Legacy;
use super::node_plan::{NodePlan, PlannedDirectory};
use crate::render::input::cluster::Reference;
use crate::render::input::filling::Filling;
use crate::render::input::outcome::Notes;
use crate::render::input::render_context::RenderContext;
use crate::render::input::request::Request;
use crate::render::input::role::Role;
use crate::render::input::target::{ConfigKind, Target};
use crate::render::validation::config::Config;
use windlass_capi::api::boot::{Compression, Format, OnFailure, Platform, Templating};
use windlass_capi::api::files::{ContentFormat, Directory};
use windlass_capi::api::v1beta2::WindlassConfigSpec;
use windlass_capi::contract::{crd_name, parse_tolerant};
use windlass_go_text as go;
use windlass_go_text::value::Value;
use windlass_objects::Pool;
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Remedy, Setting, rules};

rules! {
    /// the Kubernetes version is malformed or not supported
    pub(crate) VERSION_UNSUPPORTED = error("kubernetes-version-unsupported");
    /// the control plane object that the Cluster refers to does not exist
    pub(crate) CONTROL_PLANE_MISSING = error("control-plane-missing"), requeues();
    /// kubeadm's API for the Kubernetes version lacks a field
    pub(crate) FIELD_DROPPED = warning("kubeadm-field-dropped");
}

pub(crate) struct Planner<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) target: &'a Target<'a>,
    pub(crate) request: &'a Request,
    pub(crate) render_context: RenderContext<'a>,
}

impl Planner<'_> {
    /// The plan; what is missing is in the notes.
    pub(crate) fn plan(&self, config: Config, notes: &mut Notes) -> Option<NodePlan> {
        let Config { mut spec, v1beta1 } = config;
        let legacy = v1beta1.map(|spec| Legacy::read(spec.expose()));
        let api = self.kubeadm_api(notes);
        self.as_control_plane(&mut spec, notes);
        if let Some(api) = api {
            self.report_dropped(&spec, api, notes);
        }
        let pairs = self.certificates(&spec, notes);
        let has_templates = spec
            .files
            .iter()
            .flatten()
            .any(|file| file.content_format == Some(ContentFormat::Template));
        // The kubeadm provider reads the version for every config (`resolveFiles`).
        let is_read_anyway = self.request.profile.content_templates
            && !self.request.placeholders
            && !matches!(self.target.kind, ConfigKind::Windlass(_));
        let template_data = if has_templates || is_read_anyway {
            self.template_data(has_templates, notes)?
        } else {
            Value::Nil
        };
        let mut file_defaults = spec.file_defaults.take().unwrap_or_default();
        if spec.format == Some(Format::Ignition) {
            // Ignition 2.3 takes digits without a leading zero for a decimal number, but defaults
            // are octal in every format.
            file_defaults.permissions = file_defaults
                .permissions
                .map(|digits| format!("{digits:0>4}"));
        }
        let contents = Contents {
            pool: self.pool,
            config: self.target.config,
            spec_path: &self.target.spec_path(),
            profile: &self.request.profile,
            budget: &self.request.budget,
            show_secrets: self.request.show_secrets,
            template_data: &template_data,
            placeholders: self.request.placeholders,
            defaults: &file_defaults,
        };
        let user_files = contents.files(spec.files.take().unwrap_or_default(), notes);
        let users = contents.users(spec.users.take().unwrap_or_default(), spec.platform, notes);
        let (kubeadm, kubeconfig) = match self.render_context.role {
            Role::Init => (self.init(&spec, legacy.as_ref(), api?, notes)?, None),
            _ => self.join(&mut spec, legacy.as_ref(), pairs.as_ref(), api, notes)?,
        };
        let certificates = match self.render_context.role.is_control_plane() {
            true => {
                let pairs = pairs?;
                notes.filled.extend(certificate::filled(
                    &pairs,
                    self.request,
                    &self.render_context.cluster.name,
                ));
                certificate::files(pairs)
            }
            false => Vec::new(),
        };
        let mut ntp = spec.ntp;
        if self.request.profile.is_legacy()
            && let Some(enabled) = ntp.as_mut().and_then(|ntp| ntp.enabled.as_mut())
        {
            *enabled = true;
        }
        Some(NodePlan {
            files: certificates
                .into_iter()
                .chain(user_files?)
                .chain(kubeconfig)
                .collect(),
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
            templating: spec
                .cloud_config
                .and_then(|options| options.templating)
                .unwrap_or(Templating::Jinja),
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

    /// The version of kubeadm's API for the machine's Kubernetes version.
    fn kubeadm_api(&self, notes: &mut Notes) -> Option<KubeadmApi> {
        let text = &self.render_context.kubernetes_version;
        let parsed = parse_tolerant(text).map_err(|cause| {
            format!(
                "failed to parse kubernetes version \"{text}\": {cause}",
                text = Quoted(text)
            )
        });
        match parsed.and_then(|version| KubeadmApi::for_kubernetes(&version, &self.request.profile))
        {
            Ok(api) => Some(api),
            Err(upstream) => {
                let oldest = self.request.profile.oldest_kubernetes;
                let said = self.request.kubernetes_version.as_ref().unwrap_or(text);
                let message = match said.as_str() {
                    "" if self.request.kubernetes_version.is_none() => {
                        "the machine says no Kubernetes version".to_owned()
                    }
                    text => format!(
                        "`{text}` is not a Kubernetes version that CAPI {} renders",
                        self.request.profile.version(),
                        text = Quoted(text)
                    ),
                };
                let finding = Diagnostic::of(&VERSION_UNSUPPORTED, message).upstream(upstream);
                let from = format!("a version from v1.{oldest}.0 on, such as ");
                notes.reject(match &self.request.kubernetes_version {
                    // No line of a document says it.
                    Some(_) => finding.help(
                        Remedy::new(format!("give {from}"))
                            .set(Setting::KubernetesVersion, "v1.34.1"),
                    ),
                    None => finding
                        .at(self.render_context.version_spot.place())
                        .help(format!("write {from}v1.34.1")),
                })
            }
        }
    }

    /// What templates of files see: the version of the control plane, when the Cluster refers to
    /// one that says it.
    fn template_data(&self, has_templates: bool, notes: &mut Notes) -> Option<Value> {
        let map = |name: &str, value| Value::map([(name.to_owned(), value)]);
        let version = |version: String| map("controlPlane", map("version", Value::text(version)));
        let nothing = || Value::map([]);
        let RenderContext {
            cluster,
            cluster_spot,
            kubernetes_version,
            ..
        } = &self.render_context;
        let reference = match &cluster.control_plane {
            Some(reference) => reference,
            None if cluster.is_read || !self.request.placeholders => return Some(nothing()),
            None => return Some(version(normalised(kubernetes_version))),
        };
        let namespace = self.target.config.namespace_or_default();
        match self.pool.find(
            &reference.group,
            &reference.kind,
            namespace,
            &reference.name,
        ) {
            Some(object) if object.text(&["spec", "version"]).is_empty() => Some(nothing()),
            Some(object) => Some(version(normalised(object.text(&["spec", "version"])))),
            None if self.request.placeholders => Some(version(normalised(kubernetes_version))),
            None => {
                let Reference { group, kind, name } = reference;
                let message = match has_templates {
                    true => {
                        format!("the templates of files need {kind} {name}, which no file holds")
                    }
                    false => format!(
                        "the provider reads the version of {kind} {name}, which no file holds"
                    ),
                };
                let upstream = format!(
                    "failed to read control plane version: failed to retrieve {kind} {namespace}/{name}: {} {} not found",
                    crd_name(group, kind),
                    go::quote(name)
                );
                let finding =
                    Diagnostic::of(&CONTROL_PLANE_MISSING, message).at(cluster_spot.place());
                notes.reject(
                    finding
                        .help(format!("add the file of {kind} {namespace}/{name}"))
                        .upstream(upstream),
                )
            }
        }
    }

    /// Warns of what kubeadm's API of this version cannot hold.
    fn report_dropped(&self, spec: &WindlassConfigSpec, api: KubeadmApi, notes: &mut Notes) {
        let version = &self.render_context.kubernetes_version;
        for (path, since) in kubeadm::dropped(spec, self.render_context.role, api) {
            let path = self.target.spec_path().join(&path);
            // A conversion from v1beta1 sets fields that the user does not have.
            if self.target.config.at(&path).is_none() {
                continue;
            }
            let message = format!(
                "{path} does not reach the machine: {} for Kubernetes {version} has no such field",
                api.as_str()
            );
            let help = format!(
                "remove the field, or use Kubernetes {} or newer",
                since.first_kubernetes()
            );
            let finding = Diagnostic::of(&FIELD_DROPPED, message)
                .at(self.target.config.key_place(&path))
                .help(help);
            notes.report.push(match self.is_used_by_provider(&path) {
                true => finding.note("the provider still makes the cluster's certificate authorities with it, so removing it changes them"),
                false => finding,
            });
        }
    }

    /// Whether the provider itself reads the field (`util/secret/certificates.go` of Cluster API).
    fn is_used_by_provider(&self, path: &FieldPath) -> bool {
        let config = self.target.spec_path().field("clusterConfiguration");
        [
            config.field("caCertificateValidityPeriodDays"),
            config.field("encryptionAlgorithm"),
        ]
        .contains(path)
    }

    /// What KubeadmControlPlane makes of its spec for each of its machines.
    fn as_control_plane(&self, spec: &mut WindlassConfigSpec, notes: &mut Notes) {
        if !self.target.is_control_plane_object() {
            return;
        }
        match self.render_context.role {
            Role::Init => spec.join_configuration = None,
            _ => {
                spec.init_configuration = None;
                spec.join_configuration
                    .get_or_insert_default()
                    .control_plane
                    .get_or_insert_default();
            }
        }
        let version = parse_tolerant(&self.render_context.kubernetes_version).ok();
        let version =
            version.map(|version| Version::new(version.major, version.minor, version.patch));
        if version.is_some_and(|version| self.request.profile.sets_kubelet_local_mode(&version)) {
            let gates = spec
                .cluster_configuration
                .get_or_insert_default()
                .feature_gates
                .get_or_insert_default();
            gates.entry("ControlPlaneKubeletLocalMode".to_owned()).or_insert_with(|| {
                let why = "Cluster API turns it on for KubeadmControlPlanes of these Kubernetes versions";
                notes.fill("clusterConfiguration.featureGates.ControlPlaneKubeletLocalMode", Filling::Provider(why));
                true
            });
        }
    }

    fn certificates(&self, spec: &WindlassConfigSpec, notes: &mut Notes) -> Option<Pairs> {
        let RenderContext {
            role,
            cluster,
            cluster_spot,
            ..
        } = &self.render_context;
        let certificates = match role.is_control_plane() {
            true => certificate::of_control_plane(spec.cluster_configuration.as_ref()),
            false if self.request.placeholders && self.needs_no_ca(spec) => Vec::new(),
            false => certificate::of_worker(),
        };
        let lookup = Lookup {
            pool: self.pool,
            request: self.request,
            namespace: self.target.config.namespace_or_default(),
            cluster,
            spot: cluster_spot,
            all_must_exist: *role != Role::Init,
        };
        if *role == Role::WorkerJoin || *role == Role::MachinePool {
            // A dummy would only be hashed, and a hash has its own placeholder.
            let mut own = Notes::default();
            let pairs = lookup.key_pairs(&certificates, &mut own);
            notes.report.extend(own.report);
            return pairs;
        }
        lookup.key_pairs(&certificates, notes)
    }

    /// Whether discovery says all that the CA would say.
    fn needs_no_ca(&self, spec: &WindlassConfigSpec) -> bool {
        let discovery = spec
            .join_configuration
            .as_ref()
            .and_then(|join| join.discovery.as_ref());
        let token = discovery.and_then(|discovery| discovery.bootstrap_token.as_ref());
        token.is_some_and(|token| {
            token
                .ca_cert_hashes
                .as_ref()
                .is_some_and(|hashes| !hashes.is_empty())
        })
    }
}

/// The version with three numbers and a `v`; as it is when it is none.
fn normalised(version: &str) -> String {
    parse_tolerant(version).map_or_else(|_| version.to_owned(), |version| format!("v{version}"))
}
