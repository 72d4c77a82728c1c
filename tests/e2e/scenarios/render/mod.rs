//! What `windlass render` gives beside what CAPI's real kubeadm bootstrap manager wrote on the real
//! API server, and beside what the code of each release that it renders as gives of very many
//! configs.

mod comparison;
pub(crate) mod corpus;
pub(crate) mod objects;
mod profiles;
pub(crate) mod provider;
pub(crate) mod random;
mod release;

use serde_json::Value;

use crate::harness::random::Random;
use crate::harness::runner::Context;
use comparison::compare;
pub(crate) use profiles::{
    configs_of_v1_10_are_equal, configs_of_v1_11_are_equal, configs_of_v1_12_are_equal,
    configs_of_v1_13_are_equal, configs_of_v1_14_are_equal,
};
use provider::Provider;

/// What a machine is to its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Init,
    ControlPlaneJoin,
    WorkerJoin,
    MachinePool,
}

impl Role {
    /// The kind that the config belongs to.
    fn owner(self) -> &'static str {
        if self == Role::MachinePool {
            "MachinePool"
        } else {
            "Machine"
        }
    }
}

/// A config that both sides render.
pub(crate) struct Subject {
    /// For messages.
    pub(crate) title: String,
    /// `v1beta1` or `v1beta2`.
    pub(crate) version: &'static str,
    pub(crate) spec: Value,
    pub(crate) role: Role,
    /// The machine's version of Kubernetes.
    pub(crate) kubernetes: &'static str,
}

impl Subject {
    fn new(
        title: &str,
        version: &'static str,
        spec: &Value,
        role: Role,
        kubernetes: &'static str,
    ) -> Subject {
        Subject {
            title: title.to_owned(),
            version,
            spec: spec.clone(),
            role,
            kubernetes,
        }
    }
}

/// Versions of Kubernetes on both sides of what changes in kubeadm's API.
pub(crate) const KUBERNETES: [&str; 4] = ["v1.34.1", "v1.30.9", "v1.31.0", "v1.35.0-rc.1"];

/// Every KubeadmConfig, KubeadmConfigTemplate and KubeadmControlPlane of the corpus, in each role
/// that it is for.
pub(crate) fn configs_of_the_corpus_are_equal(context: &Context) {
    let mut provider = Provider::start(context);
    let submitted: Vec<_> = corpus::subjects()
        .into_iter()
        .map(|subject| provider.submit(subject))
        .collect();
    let told = compare(&provider, submitted);
    assert!(told.equal > 200, "only {} were compared", told.equal);
}

/// A hundred random configs that the server takes, and those that it rejected on the way.
pub(crate) fn random_configs_are_equal(context: &Context) {
    let mut provider = Provider::start(context);
    let schemas = ["v1beta2", "v1beta1"]
        .map(|version| (version, provider.schema(version)))
        .to_vec();
    let mut generator = random::Generator::new(Random::announced(), schemas, &KUBERNETES);
    let mut submitted = Vec::new();
    while submitted
        .iter()
        .filter(|one: &&provider::Submitted| one.created.is_ok())
        .count()
        < 100
    {
        assert!(
            submitted.len() < 1000,
            "the server takes too few of the random configs"
        );
        submitted.push(provider.submit(generator.subject()));
    }
    let told = compare(&provider, submitted);
    assert!(told.equal > 60, "only {} were compared", told.equal);
}
