//! The rules of the topology engine.

use windlass_source::diag::rules;

rules! {
    /// the input contains no Cluster with `spec.topology`
    pub CLUSTER_NONE = error("topology-cluster-missing");
    /// the input contains no ClusterClass
    pub CLASS_NONE = error("topology-class-none");
    /// a Cluster refers to a ClusterClass that the input does not contain
    pub CLASS_MISSING = error("topology-class-missing");
    /// a ClusterClass refers to a template that the input does not contain
    pub TEMPLATE_MISSING = error("topology-template-missing");
    /// a topology sets a field that has a different type in a template of the ClusterClass
    pub TEMPLATE_MISSHAPEN = error("topology-template-misshapen");
    /// the API server or Cluster API's webhook rejects a ClusterClass
    pub CLASS_REJECTED = error("topology-class-rejected");
    /// the API server or Cluster API's webhook rejects the topology of a Cluster
    pub CLUSTER_REJECTED = error("topology-cluster-rejected");
    /// a variable of a topology has a value that its ClusterClass rejects
    pub VARIABLE_REJECTED = error("topology-variable-rejected");
    /// a validation rule of a variable cannot be evaluated offline
    pub VARIABLE_UNJUDGED = warning("topology-variable-unchecked");
    /// a topology refers to a machine class that its ClusterClass does not have
    pub TOPOLOGY_CLASS_UNKNOWN = error("topology-machine-class-unknown");
    /// a naming template does not produce a name
    pub NAME_FAILS = error("topology-name-fails");
    /// a patch of a ClusterClass fails
    pub PATCH_FAILS = error("topology-patch-fails");
    /// a patch of a ClusterClass needs a runtime extension and was not applied
    pub PATCH_EXTERNAL = error("topology-patch-external");
    /// machine taints of a topology need a feature gate of Cluster API
    pub TAINTS_GATED = warning("topology-taints-gated");
    /// a part of a topology is empty, which the API server rejects
    pub PART_EMPTY = warning("topology-part-empty");
    /// objects of a topology have the same name here because the random ends of names are
    /// placeholders
    pub NAMESAKES = info("topology-namesakes");
    /// a patch of a ClusterClass selects no template of a topology
    pub PATCH_UNUSED = info("topology-patch-unused");
    /// the contract of a control plane is not known, so its field names are assumed
    pub CONTRACT_ASSUMED = info("topology-contract-assumed");
    /// the CRD of a template does not have the schema from which defaults are taken
    pub DEFAULTS_UNKNOWN = info("topology-defaults-unknown");
    /// the objects of a topology exceed the size limit of a run
    pub SIZE_EXCEEDED = error("topology-size-exceeded");
    /// a patch template uses a function that is random or not supported offline
    pub TEMPLATE_UNSUPPORTED = error("topology-template-unsupported");
}
