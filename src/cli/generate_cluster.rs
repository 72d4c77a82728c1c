//! `generate cluster`

use clap::Args;

use super::clusterctl::{self, Network, boolean, integer};
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use windlass_clusterctl::commands::generate_cluster;
use windlass_clusterctl::{ClusterOptions, ClusterSource};

pub(super) const VERB: Verb = Verb {
    words: &["generate", "cluster"],
    operands: "NAME",
    summary: "the template of a workload cluster, variables replaced",
    family: None,
    group: Group::Clusterctl,
    manner: Manner::Clusterctl,
    examples: &[
        "generate cluster prod -n default --from templates/cluster-template-topology.yaml --list-variables",
    ],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// The cluster's name
    #[arg(value_name = "NAME")]
    name: Vec<String>,
    /// A kubeconfig; only the namespace of its context is read, no cluster is contacted
    #[arg(
        long,
        value_name = "FILE",
        default_value = "",
        hide_default_value = true
    )]
    kubeconfig: String,
    /// The context within the kubeconfig
    #[arg(
        long,
        value_name = "CONTEXT",
        default_value = "",
        hide_default_value = true
    )]
    kubeconfig_context: String,
    /// The namespace of the workload cluster; without it that of the kubeconfig
    #[arg(
        short = 'n',
        long,
        value_name = "NAMESPACE",
        default_value = "",
        hide_default_value = true
    )]
    target_namespace: String,
    /// The Kubernetes version; without it the variable KUBERNETES_VERSION
    #[arg(
        long,
        value_name = "VERSION",
        default_value = "",
        hide_default_value = true
    )]
    kubernetes_version: String,
    /// Control plane machines; without it the variable CONTROL_PLANE_MACHINE_COUNT, or 1
    #[arg(long, value_name = "N", value_parser = integer, allow_hyphen_values = true)]
    control_plane_machine_count: Option<i64>,
    /// Worker machines; without it the variable WORKER_MACHINE_COUNT, or 0
    #[arg(long, value_name = "N", value_parser = integer, allow_hyphen_values = true)]
    worker_machine_count: Option<i64>,
    /// The infrastructure provider whose template is used
    #[arg(
        short,
        long,
        value_name = "NAME:VERSION",
        default_value = "",
        hide_default_value = true
    )]
    infrastructure: String,
    /// The flavor of the template
    #[arg(
        short,
        long,
        value_name = "FLAVOR",
        default_value = "",
        hide_default_value = true
    )]
    flavor: String,
    /// Where the template is: a path, or - for standard input
    #[arg(
        long,
        value_name = "FILE",
        default_value = "",
        hide_default_value = true
    )]
    from: String,
    /// clusterctl's ConfigMap with the template; this program contacts no cluster
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    from_config_map: String,
    /// The ConfigMap's namespace
    #[arg(
        long,
        value_name = "NAMESPACE",
        default_value = "",
        hide_default_value = true
    )]
    from_config_map_namespace: String,
    /// The ConfigMap's key
    #[arg(
        long,
        value_name = "KEY",
        default_value = "",
        hide_default_value = true
    )]
    from_config_map_key: String,
    /// Print the variables and their defaults instead
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true",
          hide_default_value = true, value_parser = boolean)]
    list_variables: bool,
    /// Write to this file instead of standard output
    #[arg(
        long,
        value_name = "FILE",
        default_value = "",
        hide_default_value = true
    )]
    write_to: String,
    #[command(flatten)]
    network: Network,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let [name] = self.name.as_slice() else {
            return Err(Failure::ClusterctlUsage(
                "please specify a cluster name".to_owned(),
            ));
        };
        let from = if self.from.is_empty() {
            None
        } else {
            Some(clusterctl::template_source(context, &self.from)?)
        };
        let options = ClusterOptions {
            name: name.clone(),
            kubeconfig: self.kubeconfig,
            kubeconfig_context: self.kubeconfig_context,
            namespace: self.target_namespace,
            kubernetes_version: self.kubernetes_version,
            control_plane_machine_count: self.control_plane_machine_count,
            worker_machine_count: self.worker_machine_count,
            list_variables: self.list_variables,
            source: ClusterSource {
                infrastructure: self.infrastructure,
                flavor: self.flavor,
                from,
                config_map: self.from_config_map,
                config_map_namespace: self.from_config_map_namespace,
                config_map_key: self.from_config_map_key,
            },
        };
        // A list is always printed; clusterctl does not look at the file then.
        let write_to = Some(self.write_to.as_str()).filter(|_| !options.list_variables);
        clusterctl::run(context, self.network, write_to, |world, config, log| {
            generate_cluster::run(world, config, &options, log)
        })
    }
}
