//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::outcome::Level;
use crate::sample::Role;

/// Runs a Cluster API bootstrap provider through the behavioural rules of the BootstrapConfig
/// contract, and reports rule by rule.
///
/// The program plays the part of Cluster API's core in namespaces of its own, which it deletes at
/// the end. It exits with 0 if no rule is violated, 1 if one is, 2 after a usage or I/O error.
#[derive(Debug, Parser)]
#[command(name = "windlass-conformance", version)]
pub(crate) struct Arguments {
    /// A manifest of the provider's config, `ROLE=FILE` or `FILE`; repeatable
    ///
    /// Roles are worker (the default), init, control-plane, machine-pool, template, and invalid (a
    /// config that the API server accepts and that cannot become data). The first document is the
    /// config; further ones are created before it, and those of the kinds Cluster, Machine and
    /// MachinePool are merged into the ones of the program. `${NAMESPACE}`, `${CLUSTER_NAME}` and
    /// `${NAME}` are replaced.
    #[arg(
        long = "sample",
        value_name = "[ROLE=]FILE",
        required_unless_present = "list"
    )]
    pub(crate) samples: Vec<String>,
    /// The kubeconfig of a management cluster with the provider; default: as kubectl finds it
    #[arg(long, value_name = "FILE", conflicts_with = "assets")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Start a control plane from the programs etcd and kube-apiserver of a folder, as
    /// KUBEBUILDER_ASSETS
    #[arg(long, value_name = "DIR", requires = "run")]
    pub(crate) assets: Option<PathBuf>,
    /// Install the CRDs of a file, such as Cluster API's core-components.yaml; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) crds: Vec<PathBuf>,
    /// Install the provider's components, except what runs in Pods; repeatable
    #[arg(long, value_name = "FILE", requires = "assets")]
    pub(crate) components: Vec<PathBuf>,
    /// Start the provider as a process
    ///
    /// `{kubeconfig}`, `{webhook-port}`, `{webhook-cert-dir}` and `{free-port}` are replaced;
    /// KUBECONFIG is set.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) run: Option<String>,
    /// The kubeconfig of a workload cluster, which joining machines may need; default with --assets:
    /// the same control plane
    #[arg(long, value_name = "FILE")]
    pub(crate) workload_kubeconfig: Option<PathBuf>,
    /// The contract whose rules are checked; default: the newest that the CRD is labelled with
    #[arg(long, value_name = "VERSION", value_parser = ["v1beta1", "v1beta2"])]
    pub(crate) contract: Option<String>,
    /// The Kubernetes version of machines
    #[arg(long, value_name = "VERSION", default_value = "v1.34.1")]
    pub(crate) kubernetes_version: String,
    /// The longest time until the provider acts on a change, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) patience: u64,
    /// The time in which a provider that must wait does nothing, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) quiet: u64,
    /// How many checks run at once
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) at_once: u16,
    /// Run only the checks of a rule or name; repeatable
    #[arg(long, value_name = "RULE|CHECK")]
    pub(crate) only: Vec<String>,
    /// The weakest level whose violation fails the run
    #[arg(long, value_name = "LEVEL", value_enum, default_value = "should")]
    pub(crate) fail_on: FailOn,
    /// The format of the standard output
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value = "text")]
    pub(crate) output: Format,
    /// Write the report into a file as well, `FORMAT=FILE`; repeatable
    #[arg(long = "report", value_name = "FORMAT=FILE")]
    pub(crate) reports: Vec<String>,
    /// The provider's name in the report
    #[arg(long, value_name = "NAME")]
    pub(crate) provider_name: Option<String>,
    /// The provider's version in the report
    #[arg(long, value_name = "VERSION")]
    pub(crate) provider_version: Option<String>,
    /// The release of Cluster API in the report
    #[arg(long, value_name = "VERSION")]
    pub(crate) cluster_api_version: Option<String>,
    /// Print every check, and exit
    #[arg(long)]
    pub(crate) list: bool,
}

/// The weakest level that fails a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Must,
    Should,
    May,
    Observed,
}

impl FailOn {
    pub(crate) const fn level(self) -> Level {
        match self {
            FailOn::Must => Level::Must,
            FailOn::Should => Level::Should,
            FailOn::May => Level::May,
            FailOn::Observed => Level::Observed,
        }
    }
}

/// A form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    Junit,
    Markdown,
}

/// The role and the file of a sample.
///
/// # Errors
/// The message for the user, if the role is unknown.
pub(crate) fn sample(argument: &str) -> Result<(Option<Role>, &str), String> {
    let Some((role, file)) = argument.split_once('=') else {
        return Ok((None, argument));
    };
    let known = Role::ALL.into_iter().find(|known| known.name() == role);
    known.map(|role| (Some(role), file)).ok_or_else(|| {
        let names: Vec<&str> = Role::ALL.map(Role::name).to_vec();
        format!(
            "--sample {argument}: {role} is not a role; roles: {}",
            names.join(", ")
        )
    })
}

/// The format and the file of a report.
///
/// # Errors
/// The message for the user, if the format is unknown or the file is missing.
pub(crate) fn report(argument: &str) -> Result<(Format, PathBuf), String> {
    let known = argument
        .split_once('=')
        .and_then(|(format, file)| Some((Format::from_str(format, false).ok()?, file)));
    match known {
        Some((format, file)) if !file.is_empty() => Ok((format, PathBuf::from(file))),
        _ => Err(format!(
            "--report {argument}: write FORMAT=FILE with one of text, json, junit, markdown"
        )),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn roles_and_formats_are_read() {
        assert_eq!(sample("a.yaml"), Ok((None, "a.yaml")));
        assert_eq!(sample("init=a.yaml"), Ok((Some(Role::Init), "a.yaml")));
        assert!(sample("first=a.yaml").unwrap_err().contains("machine-pool"));
        assert_eq!(
            report("json=a.json"),
            Ok((Format::Json, PathBuf::from("a.json")))
        );
        assert!(report("json").is_err() && report("html=a").is_err() && report("json=").is_err());
    }
}
