//! `provider.yaml`: the description of a provider from which its release is built. Ours is such a
//! file too.
//!
//! [`parse()`] turns a file into typed providers and reports every finding with its location. All
//! paths in the file are patterns relative to it, with `*` and `{a,b}`, and `!` before what a list
//! leaves out; the caller reads the matching files and passes them as [`Inputs`].

mod inputs;
mod kustomization;
mod parse;
mod patch;

pub use inputs::{EXCLUDE, Inputs, Matched, STDIN, Strayed, Wanted};
pub use kustomization::{Action, Change, KUSTOMIZATION_FILES, Kustomization, Patch};
pub use parse::{Declared, json_schema, missing_files, parse};
pub use patch::{ObjectPatch, PatchTarget, Target};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use windlass_capi::contract::ProviderType;

/// The `apiVersion` of `provider.yaml`.
pub const PROVIDER_API_VERSION: &str = "windlass.dev/v1alpha1";

/// The `kind` of each document in `provider.yaml`.
pub const PROVIDER_KIND: &str = "Provider";

/// A part of a Kubernetes object that is passed on as it is.
pub type Object = Map<String, Value>;

/// One provider: a components file and what belongs to it. Several documents in one file make one
/// release with several components files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Provider {
    /// Always `windlass.dev/v1alpha1`: the version of this file format.
    pub api_version: String,
    /// Always `Provider`.
    pub kind: String,
    /// Who releases the provider, under which license, and where: for the bill of materials of the
    /// release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// The name of the provider, as in `clusterctl init --bootstrap NAME`: lower-case letters,
    /// digits and hyphens.
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub name: String,
    /// What it provides. Gives the label (`bootstrap-NAME`) and the components file
    /// (`bootstrap-components.yaml`).
    #[serde(rename = "type")]
    pub provider_type: ProviderType,
    /// The API group of its kinds. A group that the core does not know also gets an aggregated
    /// ClusterRole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub group: Option<String>,
    /// Further API groups of its kinds, for a provider that has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(length(min = 1, max = 253)))]
    pub groups: Vec<String>,
    /// Contract to the API versions that fulfil it, oldest first: the contract labels of the CRDs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contracts: BTreeMap<String, Vec<String>>,
    /// The metadata.yaml of the release; `metadata.yaml` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub metadata: Option<String>,
    /// The namespace of the components.
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub namespace: String,
    /// Labels and annotations of the Namespace, such as those of Pod Security.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_metadata: Option<ObjectMetadata>,
    /// What names of namespaced objects begin with; the namespace without `system` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_prefix: Option<String>,
    /// What names end with, those of cluster-wide roles too; nothing when absent. CRDs and the
    /// Namespace keep their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = "^[-a-z0-9]*[a-z0-9]$"))]
    pub name_suffix: Option<String>,
    /// CRDs as controller-gen, kube-rs or kustomize printed them: patterns of files, and patterns
    /// with `!` of those that are left out. Labels are added. `builtin` is for the program's
    /// own kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crds: Option<Crds>,
    /// Labels and annotations of CRDs beyond the contract labels, such as
    /// `clusterctl.cluster.x-k8s.io/move-hierarchy`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crd_metadata: Vec<CrdMetadata>,
    /// The rights of the manager. Without role files they are made from the provider's type and
    /// kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rbac: Option<Rbac>,
    /// The controller; none for a provider without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager: Option<Manager>,
    /// Further objects: patterns of files. They get label, namespace and name prefix like
    /// everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(length(min = 1)))]
    pub objects: Vec<String>,
    /// Patches of objects in kustomize's own terms, such as labels of roles or what controller-gen
    /// cannot say of a schema: strategic merge patches and JSON patches. They come before
    /// names, contract labels and conversion webhooks, and `manager.patch` before them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<ObjectPatch>,
    /// Folders with `cluster-template*.yaml` and `clusterclass-*.yaml`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(length(min = 1)))]
    pub templates: Vec<String>,
    /// A components file that kustomize or helm already built, in place of `crds`, `rbac`,
    /// `manager` and `objects`: checked, stamped, packed. `-` is standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub components: Option<String>,
    /// Decisions that `init` left open, each as a sentence. No release is built while one is left:
    /// make the decision in the other fields, and remove the line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(length(min = 1)))]
    pub undecided: Vec<String>,
}

/// What a bill of materials says of a release beside its contents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct About {
    /// The person or organization that releases the provider: `Example Inc.`; `NOASSERTION` when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), regex(pattern = "^[^\\p{C}()]+$"))]
    pub supplier: Option<String>,
    /// The license as an SPDX expression: `Apache-2.0`; `NOASSERTION` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), regex(pattern = "^[A-Za-z0-9.+() -]+$"))]
    pub license: Option<String>,
    /// The home of the project, at which the namespace of the bill of materials begins: `https://github.com/example/harbour`; a namespace of
    /// SPDX itself when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = "^https?://[A-Za-z0-9._~/%:-]+$")
    )]
    pub url: Option<String>,
}

/// Labels and annotations of an object that is made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectMetadata {
    /// Labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// Labels and annotations of CRDs, and their contracts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CrdMetadata {
    /// The kinds whose CRDs get them; all CRDs when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(length(min = 1)))]
    pub kinds: Vec<String>,
    /// The contracts of these kinds, in place of the provider's `contracts`; `{}` is for kinds to
    /// which core objects do not refer. The last entry that says it for a kind counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contracts: Option<BTreeMap<String, Vec<String>>>,
    /// Labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// Where the CRDs come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Crds {
    /// The kinds of this program.
    Builtin(BuiltinWord),
    /// Patterns of files.
    Files(Vec<String>),
}

/// The word `builtin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BuiltinWord {
    /// What belongs to this program itself.
    Builtin,
}

/// The rights of the manager.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rbac {
    /// The ServiceAccount of the manager. When absent it is the one that the bindings of the role
    /// files name, or else `manager`. It is made if no file has it, except `default`, which
    /// each namespace has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub service_account: Option<String>,
    /// Files with Roles, ClusterRoles and whatever belongs to them: patterns. A role that no file
    /// binds is bound to the manager, unless it is for people by the name that kubebuilder
    /// gives such roles (`…-admin-role`, `…-editor-role`, `…-viewer-role`, `metrics-reader`) or
    /// feeds another role (a label `…/aggregate-to-…`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(length(min = 1)))]
    pub roles: Vec<String>,
    /// `builtin`: the rights of this program's own manager, in place of those that are made from
    /// the provider's type and kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager: Option<BuiltinWord>,
    /// Rules for the manager on top of the made ones, as in a ClusterRole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<PolicyRule>,
    /// Further labels, with the value `true`, of the role by which other managers may use the
    /// provider's kinds, such as `rke2.controlplane.cluster.x-k8s.io/aggregate-to-manager`.
    /// That of the core is always there, and for an infrastructure provider that of
    /// the kubeadm control plane.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(
        length(min = 1, max = 317),
        regex(pattern = "^([a-z0-9.-]+/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
    ))]
    pub aggregate_to: Vec<String>,
}

/// A rule of a role, as in `rbac.authorization.k8s.io/v1`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PolicyRule {
    /// API groups; the empty text is the core group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    /// Paths outside the API.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        rename = "nonResourceURLs"
    )]
    pub non_resource_urls: Vec<String>,
    /// Names of single objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource_names: Vec<String>,
    /// Plural resource names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// What may be done.
    #[schemars(length(min = 1))]
    pub verbs: Vec<String>,
}

/// The Deployment `{namePrefix}controller-manager`. Restricted Pod Security, probes, ports and
/// tolerations are added.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manager {
    /// The image with its registry and without a tag: the version that is built becomes the tag.
    #[schemars(length(min = 1))]
    pub image: String,
    /// The program; the image's own when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Its arguments. `${VARIABLE:=default}` is for those who install it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment on top of POD_NAMESPACE, POD_NAME and POD_UID, as in a container.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Port numbers; 0 leaves a port out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<ManagerPorts>,
    /// Files with webhook configurations, as controller-gen printed them: patterns. Service,
    /// Certificate, Issuer and CA injection are added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(length(min = 1)))]
    pub webhooks: Vec<String>,
    /// Kinds that the manager validates, at the paths that controller-runtime uses. In place of a
    /// file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validates: Vec<String>,
    /// Kinds that the manager defaults, at the paths that controller-runtime uses. In place of a
    /// file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<String>,
    /// Whether the CRDs with several versions convert through the manager, at path `/convert`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conversion: bool,
    /// Kinds whose CRDs convert through the manager, when not all that have several versions do.
    /// In place of `conversion`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(length(min = 1)))]
    pub converts: Vec<String>,
    /// How many replicas; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub replicas: Option<i32>,
    /// Requests and limits of the manager, as in a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Object>,
    /// Tolerations on top of those for control plane nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Object>,
    /// Node and pod affinity, as in a pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Object>,
    /// Volumes on top of the webhook certificate, as in a pod.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<Object>,
    /// Mounts of the manager on top of the webhook certificate, as in a container.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volume_mounts: Vec<Object>,
    /// Further containers, as in a pod.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sidecars: Vec<Object>,
    /// Everything else of the Deployment, as a strategic merge patch of it in Kubernetes' own
    /// terms: labels and annotations, node selector, pull secrets, security contexts, timing
    /// of probes, init containers, priority class. The container of the manager is called
    /// `manager`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Object>,
}

/// An environment variable, as in a container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EnvVar {
    /// The name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The value; numbers and booleans need quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Another source of the value, as in a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_from: Option<Object>,
}

/// Port numbers of the manager; 0 leaves a port out, absent means the number that Cluster API's own
/// managers use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManagerPorts {
    /// Health probes, `/healthz` and `/readyz`: 9440.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 65535))]
    pub health: Option<u16>,
    /// Metrics and diagnostics: 8443.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 65535))]
    pub metrics: Option<u16>,
    /// Webhooks: 9443.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 65535))]
    pub webhook: Option<u16>,
}

impl Manager {
    /// Whether the manager converts objects: `conversion` is set, or `converts` is not empty.
    pub fn has_conversion(&self) -> bool {
        self.conversion || !self.converts.is_empty()
    }

    /// Whether the CRD of a kind converts through it.
    pub fn converts(&self, kind: &str) -> bool {
        if self.converts.is_empty() {
            self.conversion
        } else {
            self.converts.iter().any(|named| named == kind)
        }
    }
}

impl Provider {
    /// The label value and repository folder: `bootstrap-windlass`.
    pub fn label(&self) -> String {
        self.provider_type.label(&self.name)
    }

    /// What names of namespaced objects begin with.
    pub fn name_prefix(&self) -> String {
        match &self.name_prefix {
            Some(prefix) => prefix.clone(),
            None => format!(
                "{}-",
                self.namespace
                    .strip_suffix("-system")
                    .unwrap_or(&self.namespace)
            ),
        }
    }

    /// The contracts of a kind, and the versions that fulfil them.
    pub fn contracts_of(&self, kind: &str) -> &BTreeMap<String, Vec<String>> {
        let is_meant = |entry: &&CrdMetadata| {
            entry.kinds.is_empty() || entry.kinds.iter().any(|named| named == kind)
        };
        self.crd_metadata
            .iter()
            .rev()
            .filter(is_meant)
            .find_map(|entry| entry.contracts.as_ref())
            .unwrap_or(&self.contracts)
    }

    /// The metadata file, relative to `provider.yaml`.
    pub fn metadata_file(&self) -> &str {
        self.metadata
            .as_deref()
            .unwrap_or(windlass_capi::contract::METADATA_FILE)
    }

    /// Whether the CRDs are those that this program generates (`crds: builtin`).
    pub fn has_builtin_crds(&self) -> bool {
        matches!(self.crds, Some(Crds::Builtin(_)))
    }

    /// The patterns of CRD files.
    pub fn crd_files(&self) -> &[String] {
        match &self.crds {
            Some(Crds::Files(files)) => files,
            Some(Crds::Builtin(_)) | None => &[],
        }
    }
}

/// The rules of this crate, one list for each file. A test fails if one is missing.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[crate::parse::RULES];
