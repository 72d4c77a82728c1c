//! `generate provider`

use clap::Args;

use super::clusterctl::{self, Network, boolean};
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use windlass_capi::contract::ProviderType;
use windlass_clusterctl::commands::generate_provider::{self, Shown};

pub(super) const VERB: Verb = Verb {
    words: &["generate", "provider"],
    operands: "",
    summary: "the components of a provider as clusterctl installs them",
    family: None,
    group: Group::Clusterctl,
    manner: Manner::Clusterctl,
    examples: &[
        "generate provider --bootstrap windlass --config repository/clusterctl.yaml",
        "generate provider --bootstrap windlass:v0.2.0 --config repository/clusterctl.yaml --describe",
    ],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// Core provider and version
    #[arg(
        long,
        value_name = "NAME[:VERSION]",
        default_value = "",
        hide_default_value = true
    )]
    core: String,
    /// Infrastructure provider and version
    #[arg(
        short,
        long,
        value_name = "NAME[:VERSION]",
        default_value = "",
        hide_default_value = true
    )]
    infrastructure: String,
    /// Bootstrap provider and version
    #[arg(
        short,
        long,
        value_name = "NAME[:VERSION]",
        default_value = "",
        hide_default_value = true
    )]
    bootstrap: String,
    /// Control plane provider and version
    #[arg(
        short,
        long,
        value_name = "NAME[:VERSION]",
        default_value = "",
        hide_default_value = true
    )]
    control_plane: String,
    /// IPAM provider and version
    #[arg(
        long,
        value_name = "NAME[:VERSION]",
        default_value = "",
        hide_default_value = true
    )]
    ipam: String,
    /// Runtime extension provider and version
    #[arg(
        long,
        value_name = "NAME[:VERSION]",
        default_value = "",
        hide_default_value = true
    )]
    runtime_extension: String,
    /// Add-on provider and version
    #[arg(
        long,
        value_name = "NAME[:VERSION]",
        default_value = "",
        hide_default_value = true
    )]
    addon: String,
    /// Where the provider shall run; without it where the components say
    #[arg(
        short = 'n',
        long,
        value_name = "NAMESPACE",
        default_value = "",
        hide_default_value = true
    )]
    target_namespace: String,
    /// Print name, version, variables and images instead
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true",
          hide_default_value = true, value_parser = boolean)]
    describe: bool,
    /// Leave variables as they are
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true",
          hide_default_value = true, value_parser = boolean)]
    raw: bool,
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
        let flags = [
            (ProviderType::CoreProvider, self.core.as_str()),
            (ProviderType::BootstrapProvider, &self.bootstrap),
            (ProviderType::ControlPlaneProvider, &self.control_plane),
            (ProviderType::InfrastructureProvider, &self.infrastructure),
            (ProviderType::IPAMProvider, &self.ipam),
            (
                ProviderType::RuntimeExtensionProvider,
                &self.runtime_extension,
            ),
            (ProviderType::AddonProvider, &self.addon),
        ];
        let wanted = match generate_provider::wanted(flags) {
            Ok(wanted) => wanted,
            Err(rejection) => return Ok(clusterctl::reject(context, &rejection)),
        };
        // A description is always printed; clusterctl does not look at the file then.
        let (shown, write_to) = match (self.describe, self.raw) {
            (true, _) => (Shown::Description, None),
            (false, true) => (Shown::Raw, Some(self.write_to.as_str())),
            (false, false) => (Shown::Yaml, Some(self.write_to.as_str())),
        };
        clusterctl::run(context, self.network, write_to, |_, config, log| {
            generate_provider::run(&config, wanted, &self.target_namespace, shown, log)
        })
    }
}
