//! A bootstrap provider that fulfils the contract. The field `spec.switch` of a config makes it
//! violate one rule for this config, so that tests see the check of the rule fail.
//!
//! It asks the API server for everything, several times a second, instead of watching.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a program of the tests: it has a clock, arguments and a log"
)]
#![allow(
    dead_code,
    reason = "it shares modules with the program and uses parts of them"
)]

#[path = "../../src/api.rs"]
mod api;
#[path = "../../src/connection.rs"]
mod connection;
mod reconcile;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tokio_rustls::rustls::crypto::aws_lc_rs;

use api::{Api, Kind};

const GROUP: &str = "bootstrap.conformance.windlass.dev";
const PAUSE: Duration = Duration::from_millis(120);

/// What the provider remembers, which only violations of rules need.
#[derive(Default)]
struct Memory {
    /// Uids of configs that this process has completed.
    completed: BTreeSet<String>,
    /// The versions of configs at the last look.
    seen: std::collections::BTreeMap<String, Value>,
}

struct Provider {
    api: Api,
    namespace: Option<String>,
    watch_filter: Option<String>,
    memory: Memory,
}

/// All objects of a moment.
struct World {
    configs: Vec<Value>,
    clusters: Vec<Value>,
    machines: Vec<Value>,
    secrets: Vec<Value>,
}

fn configs() -> Kind {
    Kind::new(
        &format!("{GROUP}/v1"),
        "SwitchableConfig",
        "switchableconfigs",
    )
}

fn secrets() -> Kind {
    Kind::new("v1", "Secret", "secrets")
}

fn flag(name: &str) -> Option<String> {
    let prefix = format!("--{name}=");
    std::env::args()
        .filter_map(|argument| argument.strip_prefix(&prefix).map(str::to_owned))
        .next_back()
}

fn main() -> Result<(), String> {
    drop(aws_lc_rs::default_provider().install_default());
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(run())
}

async fn run() -> Result<(), String> {
    let kubeconfig = flag("kubeconfig").map(PathBuf::from);
    let (_, client) = connection::client(kubeconfig.as_deref()).await?;
    let mut provider = Provider {
        api: Api::new(client),
        namespace: flag("namespace"),
        watch_filter: flag("watch-filter"),
        memory: Memory::default(),
    };
    loop {
        match provider.look().await {
            Ok(world) => {
                for config in &world.configs {
                    if let Err(rejection) = provider.reconcile(config, &world).await {
                        eprintln!("{}: {rejection}", config["metadata"]["namespace"]);
                    }
                }
            }
            Err(rejection) => eprintln!("{rejection}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

impl Provider {
    async fn look(&self) -> Result<World, api::Rejection> {
        let core = |kind: &str| {
            Kind::new(
                "cluster.x-k8s.io/v1beta2",
                kind,
                &format!("{}s", kind.to_lowercase()),
            )
        };
        let mut machines = self.list(&core("Machine")).await?;
        machines.extend(self.list(&core("MachinePool")).await?);
        Ok(World {
            clusters: self.list(&core("Cluster")).await?,
            machines,
            secrets: self.list(&secrets()).await?,
            // Last: what a config needs existed before it was read.
            configs: self.list(&configs()).await?,
        })
    }

    async fn list(&self, kind: &Kind) -> Result<Vec<Value>, api::Rejection> {
        let list = self.api.read(&kind.collection(None)).await?;
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }
}
