//! Names of the API: group, versions, kinds and what they are called in URLs and on the command line.

/// The API group of WindlassConfig and WindlassConfigTemplate.
pub const GROUP: &str = "bootstrap.windlass.dev";

/// The API group of the kubeadm bootstrap provider, whose specs these types read too.
pub const KUBEADM_GROUP: &str = "bootstrap.cluster.x-k8s.io";

/// The older version: served, deprecated, contract v1beta1.
pub const V1BETA1: &str = "v1beta1";

/// The newer version: served and stored, contract v1beta2.
pub const V1BETA2: &str = "v1beta2";

/// The versions, older first.
pub const VERSIONS: [&str; 2] = [V1BETA1, V1BETA2];

/// Configuration of one machine.
pub const CONFIG_KIND: &str = "WindlassConfig";

/// Pattern for the configurations of a set of machines.
pub const TEMPLATE_KIND: &str = "WindlassConfigTemplate";

/// Plural of [`CONFIG_KIND`], as in URLs and RBAC rules.
pub const CONFIG_PLURAL: &str = "windlassconfigs";

/// Plural of [`TEMPLATE_KIND`], as in URLs and RBAC rules.
pub const TEMPLATE_PLURAL: &str = "windlassconfigtemplates";

/// Short name of [`CONFIG_KIND`] for kubectl.
pub const CONFIG_SHORT_NAME: &str = "wlc";

/// Short name of [`TEMPLATE_KIND`] for kubectl.
pub const TEMPLATE_SHORT_NAME: &str = "wlct";

/// Category of all Cluster API kinds: `kubectl get cluster-api` (book: "BootstrapConfig, BootstrapConfigList resource definition").
pub const CATEGORY: &str = "cluster-api";

/// Annotation of an object that holds what the version it was converted to cannot express; see `conversion`.
pub const CONVERSION_ANNOTATION: &str = "bootstrap.windlass.dev/conversion";
