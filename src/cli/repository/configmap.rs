//! `repository configmap`.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::FAMILY;
use super::given::{Flags, Given};
use crate::cli::flags::{ListFormat, ListOutput};
use crate::cli::verbs::{Action, Group, Manner, Run, Verb};
use crate::cli::{Context, Exit, Failure};
use windlass_repository::{self as repository, ConfigMap};

pub(in crate::cli) const CONFIGMAP: Verb = Verb {
    words: &["repository", "configmap"],
    operands: "DIR",
    summary: "print a release as the ConfigMaps that the Cluster API operator reads",
    family: Some(FAMILY),
    group: Group::Repository,
    manner: Manner::Ours,
    examples: &[
        "repository configmap releases/bootstrap-windlass/v0.2.0",
        "repository configmap out --with-providers --namespace capi-providers",
    ],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    #[command(flatten)]
    release: Flags,
    /// The namespace of the ConfigMaps and of the operator's objects; without it that of the
    /// components
    ///
    /// The operator looks for ConfigMaps in the namespace of the object that refers to them, and
    /// installs the components there too.
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Print the operator's objects that refer to the ConfigMaps, too
    ///
    /// Such as a BootstrapProvider with fetchConfig.selector. It takes the ConfigMaps of all
    /// versions, and installs that of spec.version.
    #[arg(long)]
    with_providers: bool,
    #[command(flatten)]
    output: ListOutput,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct ConfigMapReport {
    /// The folder of the release.
    folder: String,
    /// One entry for each provider of the release; empty on a fault.
    config_maps: Vec<ConfigMapEntry>,
}

/// One provider of the release.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ConfigMapEntry {
    /// Its label, such as `bootstrap-windlass`.
    provider: String,
    /// With `v`.
    version: String,
    /// The namespace of both objects.
    namespace: String,
    /// Whether the components are compressed, because a ConfigMap would be too small for them.
    compressed: bool,
    /// Bytes of the values of the ConfigMap, of which 1048576 are allowed.
    bytes: usize,
    /// The ConfigMap.
    config_map: Value,
    /// The object by which the operator installs the release.
    installed_by: Value,
}

impl From<ConfigMap> for ConfigMapEntry {
    fn from(made: ConfigMap) -> Self {
        let ConfigMap {
            provider,
            version,
            namespace,
            compressed,
            bytes,
            object,
            installed_by,
        } = made;
        ConfigMapEntry {
            provider,
            version,
            namespace,
            compressed,
            bytes,
            config_map: object,
            installed_by,
        }
    }
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        if let Some(namespace) = self
            .namespace
            .as_deref()
            .filter(|namespace| !repository::is_namespace(namespace))
        {
            let message = format!("`{namespace}` is not a name of a namespace");
            return Err(Failure::usage(
                message,
                "use lower-case letters, digits and `-`, at most 63 of them",
            ));
        }
        let Some(mut given) = self.release.read(context, "repository configmap")? else {
            return Ok(Exit::Findings);
        };
        let namespace = self.namespace.as_deref();
        let (maps, found) = repository::config_maps(
            &given.files,
            &given.shown,
            &given.providers,
            namespace,
            &context.budget,
        );
        given.report.extend(found);
        let Some(given) = given.judge(context) else {
            return Ok(Exit::Findings);
        };
        match self.output.format {
            ListFormat::Text => self.print(context, &maps)?,
            ListFormat::Json => print_json(context, given, maps),
        }
        Ok(Exit::Clean)
    }
}

/// Prints the objects beside what is said of them.
fn print_json(context: &mut Context<'_>, given: Given, maps: Vec<ConfigMap>) {
    let Given {
        shown,
        report,
        sources,
        ..
    } = given;
    let body = ConfigMapReport {
        folder: shown,
        config_maps: maps.into_iter().map(ConfigMapEntry::from).collect(),
    };
    context.json("RepositoryConfigMap", body, &report, &sources);
}

impl Arguments {
    /// Prints the objects, and says what to do with them.
    fn print(&self, context: &mut Context<'_>, maps: &[ConfigMap]) -> Result<(), Failure> {
        let text = repository::config_map_text(maps, self.with_providers).map_err(|error| {
            let help = "name the file that holds it with `windlass lint`, and remove it";
            Failure::usage(
                format!("the release cannot be written as YAML: {error}"),
                help,
            )
        })?;
        context.out(&text);
        for map in maps {
            let compressed = if map.compressed {
                ", components compressed"
            } else {
                ""
            };
            let ConfigMap {
                provider,
                version,
                namespace,
                bytes,
                ..
            } = map;
            context.talk(&format!("{provider} {version}: {bytes} bytes of 1048576{compressed}, for the namespace {namespace}"));
        }
        // `kubectl apply` alone keeps a copy in an annotation, which holds 256 KiB.
        let ours = context.command(&format!("repository configmap {}", self.words()));
        context.talk(&format!(
            "next, where the namespace is there: `{ours} | kubectl apply --server-side -f -`"
        ));
        if !self.with_providers {
            context.talk("then an object of the operator that refers to it: the same with `--with-providers` prints it too");
        }
        Ok(())
    }

    /// The operands and flags of this run.
    fn words(&self) -> String {
        let namespace = self
            .namespace
            .as_ref()
            .map(|namespace| format!(" --namespace {namespace}"))
            .unwrap_or_default();
        let with_providers = if self.with_providers {
            " --with-providers"
        } else {
            ""
        };
        format!("{}{namespace}{with_providers}", self.release.words())
    }
}
