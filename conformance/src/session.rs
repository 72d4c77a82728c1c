//! One run of the program, from its arguments to the report.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::api::Api;
use crate::arguments::{self, Arguments};
use crate::bench::{Bench, Times};
use crate::checks::{self, Check};
use crate::connection;
use crate::core_objects::Core;
use crate::environment::components::{self, Webhooks};
use crate::environment::free_port;
use crate::environment::plane::Plane;
use crate::environment::process::{CommandLine, Places, Process, Provided};
use crate::manifest;
use crate::outcome::Verdict;
use crate::provider::Provider;
use crate::report::{API_VERSION, ClusterApi, Report, Subject, Summary, Tool};
use crate::runner::{self, Checked};
use crate::sample::{Role, Sample};

/// How long namespaces get to end.
const CLEAN_UP: Duration = Duration::from_secs(60);

/// How a run ended.
pub(crate) enum End {
    Report(Box<Report>),
    Interrupted,
}

/// Runs the checks; calls `say` with lines about the progress.
///
/// # Errors
/// The message for the user, if the run cannot begin.
pub(crate) async fn run(arguments: &Arguments, say: impl Fn(&str)) -> Result<End, String> {
    let checks = selected(&arguments.only)?;
    let folder = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    let setting = tokio::select! {
        setting = Setting::begin(arguments, folder.path(), &say) => setting?,
        interrupted = interrupted() => return interrupted,
    };
    let ended = tokio::select! {
        report = checked(&setting.bench, arguments, &checks, &say) => {
            report.map(|report| End::Report(Box::new(report)))
        }
        interrupted = interrupted() => interrupted,
    };
    setting.clean_up(&say).await;
    ended
}

/// Returns when the user or the system asks this program to end.
async fn interrupted() -> Result<End, String> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(End::Interrupted)
}

/// What a run started and installed.
struct Setting {
    bench: Arc<Bench>,
    /// The CRDs that did not exist before.
    created: Vec<String>,
    plane: Option<Plane>,
}

impl Setting {
    async fn begin(
        arguments: &Arguments,
        folder: &Path,
        say: &impl Fn(&str),
    ) -> Result<Setting, String> {
        let samples = read_samples(&arguments.samples)?;
        let command = arguments.run.as_deref().map(CommandLine::parse);
        let command = command.transpose()?;
        let plane = match &arguments.assets {
            Some(assets) => {
                say("starting etcd and kube-apiserver");
                Some(Plane::start(assets, folder).await?)
            }
            None => None,
        };
        let kubeconfig = match &plane {
            Some(plane) => Some(plane.kubeconfig.clone()),
            None => arguments.kubeconfig.clone(),
        };
        if let Some(command) = &command {
            command.check(kubeconfig.is_some(), plane.is_some())?;
        }
        let (config, client) = connection::client(kubeconfig.as_deref()).await?;
        let api = Api::new(client);
        let webhook_port = free_port()?;
        let created = install(
            arguments,
            &api,
            command.as_ref(),
            plane.as_ref(),
            webhook_port,
        )
        .await?;
        let began = async {
            let mut bench = begin(arguments, &api, config, samples, folder).await?;
            if let (Some(command), Some(kubeconfig)) = (&command, &kubeconfig) {
                let places = Places {
                    kubeconfig,
                    webhook_port,
                    webhook_folder: &folder.join("webhooks"),
                };
                bench.process = Some(tokio::sync::Mutex::new(provided(command, &places, folder)?));
            }
            if let (Some(plane), None) = (&plane, &bench.workload) {
                bench.workload = Some(read(&plane.kubeconfig)?);
            }
            Ok(bench)
        };
        match began.await {
            Ok(bench) => Ok(Setting {
                bench: Arc::new(bench),
                created,
                plane,
            }),
            Err(error) => {
                remove(&api, &created, plane.is_some()).await;
                Err(error)
            }
        }
    }

    async fn clean_up(self, say: &impl Fn(&str)) {
        let (bench, is_own) = (&self.bench, self.plane.is_some());
        if !is_own {
            say("deleting the namespaces of this run");
            let left = bench.clean_up(CLEAN_UP).await;
            if !left.is_empty() {
                say(&format!(
                    "still there after {} s: namespaces {}",
                    CLEAN_UP.as_secs(),
                    left.join(", ")
                ));
            }
            remove(&bench.api, &self.created, is_own).await;
        }
        // A control plane of this run ends with it, and everything in it.
        if let Some(process) = &bench.process {
            process.lock().await.0.stop().await;
        }
    }
}

fn provided(command: &CommandLine, places: &Places<'_>, folder: &Path) -> Result<Provided, String> {
    let kubeconfig = places.kubeconfig.display().to_string();
    let environment = vec![("KUBECONFIG".to_owned(), kubeconfig)];
    Process::start("provider", command.fill(places)?, environment, folder).map(Provided)
}

async fn checked(
    bench: &Arc<Bench>,
    arguments: &Arguments,
    checks: &[&'static Check],
    say: &impl Fn(&str),
) -> Result<Report, String> {
    let version = bench
        .api
        .read("/version")
        .await
        .map_err(|rejection| format!("/version: {rejection}"))?;
    let provider = &bench.provider;
    say(&format!(
        "{} checks of contract {} for {} {}",
        checks.len(),
        provider.contract,
        provider.config.api_version,
        provider.config.kind
    ));
    let count = std::cell::Cell::new(0);
    let progress = |checked: &Checked| {
        count.set(count.get() + 1);
        let (check, outcome) = (checked.check, &checked.outcome);
        let reason = match outcome.verdict {
            Verdict::Pass => String::new(),
            _ => format!(": {}", outcome.reason),
        };
        say(&format!(
            "[{:>2}/{}] {} {}: {}{reason}",
            count.get(),
            checks.len(),
            check.rule,
            check.name,
            outcome.verdict.name()
        ));
    };
    let results = runner::run(bench, checks, arguments.at_once.into(), progress).await;
    if let Some(process) = &bench.process
        && let Err(ended) = process.lock().await.0.check()
    {
        say(&ended);
    }
    let name = arguments.provider_name.clone().or(provider.name.clone());
    let report = Report {
        api_version: API_VERSION.to_owned(),
        kind: "Conformance".to_owned(),
        tool: Tool {
            name: "windlass-conformance".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        provider: Subject {
            name: name.unwrap_or_else(|| provider.config.kind.clone()),
            version: arguments.provider_version.clone(),
            api_version: provider.config.api_version.clone(),
            kind: provider.config.kind.clone(),
        },
        contract: provider.contract.to_owned(),
        cluster_api: ClusterApi {
            api_version: bench.core.version().to_owned(),
            version: arguments.cluster_api_version.clone(),
        },
        kubernetes_version: version["gitVersion"]
            .as_str()
            .unwrap_or("unknown")
            .to_owned(),
        samples: bench
            .samples
            .iter()
            .map(|sample| sample.role.name().to_owned())
            .collect(),
        ran_process: bench.process.is_some(),
        patience_seconds: arguments.patience,
        quiet_seconds: arguments.quiet,
        results: Vec::new(),
        summary: Summary::default(),
        not_proven: Vec::new(),
    };
    Ok(report.with_results(results))
}

/// The checks of the given rules or names, all without any.
fn selected(only: &[String]) -> Result<Vec<&'static Check>, String> {
    let is_of = |check: &Check, wanted: &str| check.rule == wanted || check.name == wanted;
    if let Some(unknown) = only
        .iter()
        .find(|wanted| !checks::ALL.iter().any(|check| is_of(check, wanted)))
    {
        return Err(format!(
            "--only {unknown}: no check has this rule or name; --list prints all"
        ));
    }
    let is_wanted =
        |check: &&'static Check| only.is_empty() || only.iter().any(|wanted| is_of(check, wanted));
    Ok(checks::ALL.iter().filter(is_wanted).collect())
}

fn read_samples(arguments: &[String]) -> Result<Vec<Sample>, String> {
    let mut samples: Vec<Sample> = Vec::new();
    for argument in arguments {
        let (role, file) = arguments::sample(argument)?;
        let sample = Sample::new(role, file, read(Path::new(file))?)?;
        if samples.iter().any(|known| known.role == sample.role) {
            return Err(format!(
                "--sample {argument}: there is another sample of the role {}",
                sample.role.name()
            ));
        }
        samples.push(sample);
    }
    match samples.iter().any(|sample| sample.role.is_machine()) {
        true => Ok(samples),
        false => Err(
            "no sample of a machine: write --sample FILE with the config of a worker".to_owned(),
        ),
    }
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Installs what the arguments name; returns the CRDs that did not exist before.
async fn install(
    arguments: &Arguments,
    api: &Api,
    command: Option<&CommandLine>,
    plane: Option<&Plane>,
    webhook_port: u16,
) -> Result<Vec<String>, String> {
    let from_outside = |name: &str| std::env::var(name).ok();
    let mut objects = Vec::new();
    for file in &arguments.crds {
        let all = manifest::objects(&file.display().to_string(), &read(file)?, from_outside)?;
        objects.extend(
            all.into_iter()
                .filter(|object| object["kind"] == "CustomResourceDefinition"),
        );
    }
    let webhooks = plane
        .filter(|_| command.is_some_and(CommandLine::has_webhooks))
        .map(|plane| Webhooks {
            port: webhook_port,
            authority: plane.authority.clone(),
        });
    for file in &arguments.components {
        let all = manifest::objects(&file.display().to_string(), &read(file)?, from_outside)?;
        for mut object in all
            .into_iter()
            .filter(|object| components::is_installed(object, webhooks.is_some()))
        {
            if let Some(webhooks) = &webhooks {
                components::redirect(&mut object, webhooks);
            }
            objects.push(object);
        }
    }
    components::install(api, &objects).await
}

/// Finds the provider and the core in the cluster.
async fn begin(
    arguments: &Arguments,
    api: &Api,
    config: kube::Config,
    samples: Vec<Sample>,
    folder: &Path,
) -> Result<Bench, String> {
    let list = api.read(&components::crds().collection(None)).await;
    let list =
        list.map_err(|rejection| format!("the cluster's CustomResourceDefinitions: {rejection}"))?;
    let crds: Vec<Value> = list["items"].as_array().cloned().unwrap_or_default();
    let core = crds
        .iter()
        .find(|crd| crd["metadata"]["name"] == "clusters.cluster.x-k8s.io")
        .and_then(Core::of_crd)
        .ok_or("the cluster has no Cluster API of v1beta1 or v1beta2: install its CRDs with --crds core-components.yaml")?;
    reject_running_core(api).await?;
    let machine = samples.iter().find(|sample| sample.role.is_machine());
    let machine = machine.ok_or("no sample of a machine")?;
    let found = machine.objects("default", crate::world::CLUSTER, crate::world::MACHINE)?;
    let provider = Provider::find(&crds, &found.config, arguments.contract.as_deref())?;
    if samples.iter().any(|sample| sample.role == Role::Template) && provider.template.is_none() {
        return Err(format!(
            "the cluster has no CustomResourceDefinition of {}Template with the label of contract {}",
            provider.config.kind, provider.contract
        ));
    }
    let workload = arguments
        .workload_kubeconfig
        .as_deref()
        .map(read)
        .transpose()?;
    Ok(Bench {
        api: api.clone(),
        config,
        provider,
        core,
        samples,
        times: Times {
            patience: Duration::from_secs(arguments.patience),
            quiet: Duration::from_secs(arguments.quiet),
        },
        workload,
        kubernetes_version: arguments.kubernetes_version.clone(),
        process: None,
        run: run_name(folder),
        namespaces: std::sync::Mutex::default(),
        primary: std::sync::OnceLock::new(),
    })
}

/// Distinguishes runs: the random part of the temporary folder's name.
fn run_name(folder: &Path) -> String {
    let name = folder
        .file_name()
        .map(|name| name.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .skip(3)
        .take(6)
        .collect()
}

/// Cluster API's core would act on the same objects.
async fn reject_running_core(api: &Api) -> Result<(), String> {
    let path = "/apis/apps/v1/deployments?labelSelector=cluster.x-k8s.io%2Fprovider%3Dcluster-api";
    let list = api
        .read(path)
        .await
        .map_err(|rejection| format!("the cluster's Deployments: {rejection}"))?;
    let running = list["items"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|deployment| deployment["spec"]["replicas"] != 0);
    match running {
        None => Ok(()),
        Some(deployment) => Err(format!(
            "Cluster API's core runs here ({}/{}), and would act on the objects of this program: use a cluster with the core's CRDs alone (--crds core-components.yaml)",
            deployment["metadata"]["namespace"]
                .as_str()
                .unwrap_or_default(),
            deployment["metadata"]["name"].as_str().unwrap_or_default(),
        )),
    }
}

/// Deletes the CRDs that this run installed.
async fn remove(api: &Api, created: &[String], is_own: bool) {
    for name in created.iter().filter(|_| !is_own) {
        // There is nobody left to report to, and the next run finds it installed.
        drop(api.delete(&components::crds().path(None, name)).await);
    }
}
