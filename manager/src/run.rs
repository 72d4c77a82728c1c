//! One run of the manager: what begins when, and what ends when.

use std::time::Duration;

use kube::Client;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::VERSION;
use crate::client::{client, configuration};
use crate::controller::{self, Setting};
use crate::election::{Candidacy, Elector, KubeadmLease, Leadership, Mandate, identity, namespace};
use crate::fault::Fault;
use crate::flags::{Address, ConfigKind, Flags};
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::server::certificate::{Certificate, Files, LOOK_EVERY};
use crate::server::{BOUNDS, Server, diagnostics, health, listen, webhooks};
use crate::shutdown::Shutdown;

/// How long the controller may take to end what it is at. The kubelet kills after ten seconds
/// (`terminationGracePeriodSeconds`), in which the lease is released and the servers are closed
/// too.
const GRACE: Duration = Duration::from_secs(5);

/// How long webhooks are served on when the process is to end: so long it may take until the API
/// server asks another replica.
const LINGER: Duration = Duration::from_secs(2);

/// Runs until the process is told to end.
///
/// # Errors
/// Why it cannot go on.
pub(crate) async fn run(flags: Flags) -> Result<(), Fault> {
    tracing::info!(version = VERSION, "Starting manager");
    let shutdown = Shutdown::new();
    shutdown.on_signals()?;
    let (metrics, readiness) = (Metrics::new(), Readiness::default());
    let config = configuration(flags.kubeconfig.as_deref()).await?;
    let controllers = client(config.clone(), flags.kube_api, &metrics)?;
    // What a leader or a webhook asks must not wait behind what the controller asks.
    let own = client(config, None, &metrics)?;
    let closing = Shutdown::new();
    let mut servers = serve(&flags, &metrics, &readiness, &own, &closing).await?;
    if let Some(flag) = left_to_nobody(&flags) {
        tracing::warn!(
            flag,
            "KubeadmConfigs that this flag leaves out are reconciled by no manager while this manager holds the lease"
        );
    }
    let candidates = Candidates::of(&flags, &own, &metrics);
    let mandates = flags
        .kinds
        .iter()
        .map(|kind| (*kind, candidates.mandate(*kind)))
        .collect();
    let serves_webhooks = flags.webhooks.is_some();
    let setting = Setting {
        client: controllers,
        flags,
        metrics,
        readiness,
        mandates,
        shutdown: shutdown.clone(),
    };
    work(controller::run(setting), &shutdown, candidates).await?;
    if serves_webhooks {
        sleep_until(shutdown.begun_at().unwrap_or_else(Instant::now) + LINGER).await;
    }
    closing.begin();
    while servers.join_next().await.is_some() {}
    tracing::info!("Manager has ended");
    Ok(())
}

/// The flag because of which the manager stands in for the kubeadm provider, and does not look at
/// all KubeadmConfigs.
fn left_to_nobody(flags: &Flags) -> Option<&'static str> {
    let narrows = [
        ("--namespace", !flags.namespaces.is_empty()),
        ("--watch-filter", flags.watch_filter.is_some()),
    ];
    let narrowed = narrows
        .into_iter()
        .find(|(_, is_given)| *is_given)
        .map(|(flag, _)| flag);
    narrowed.filter(|_| flags.kinds.contains(&ConfigKind::Kubeadm))
}

/// For which Leases this process is a candidate.
struct Candidates {
    /// The one that our own replicas compete for.
    own: Option<Elector>,
    kubeadm: Option<KubeadmLease>,
}

impl Candidates {
    fn of(flags: &Flags, client: &Client, metrics: &Metrics) -> Self {
        let home = namespace();
        let own = || {
            let candidacy = Candidacy::own(home.clone(), identity());
            Elector::new(client.clone(), candidacy, flags.lease, metrics.clone())
        };
        let kubeadm = || KubeadmLease::new(client.clone(), &home, flags.lease, metrics.clone());
        Candidates {
            own: flags.leader_elect.then(own),
            kubeadm: flags.kinds.contains(&ConfigKind::Kubeadm).then(kubeadm),
        }
    }

    /// What this process must lead to write for configs of a kind.
    fn mandate(&self, kind: ConfigKind) -> Mandate {
        let own = self
            .own
            .as_ref()
            .map_or_else(Leadership::without_election, Elector::leadership);
        let kubeadm = self
            .kubeadm
            .as_ref()
            .filter(|_| kind == ConfigKind::Kubeadm)
            .map(KubeadmLease::leadership);
        Mandate::of([own].into_iter().chain(kubeadm))
    }

    /// Renews what is held, and gets the other Lease when it can be had, until the shutdown begins.
    async fn keep(&mut self, shutdown: &Shutdown) -> Result<(), Fault> {
        let own = async {
            match &mut self.own {
                Some(own) => own.keep(shutdown).await,
                None => {
                    shutdown.begun().await;
                    Ok(())
                }
            }
        };
        let kubeadm = async {
            match &self.kubeadm {
                Some(kubeadm) => kubeadm.keep(shutdown).await,
                None => Ok(()),
            }
        };
        futures::future::try_join(own, kubeadm).await.map(drop)
    }
}

/// Has the controller work while this process leads, until the shutdown begins; then gives the
/// lease back.
async fn work(
    controlling: impl Future<Output = Result<(), Fault>> + Send + 'static,
    shutdown: &Shutdown,
    mut candidates: Candidates,
) -> Result<(), Fault> {
    if let Some(own) = &mut candidates.own
        && !own.acquire(shutdown).await
    {
        return Ok(());
    }
    let mut controller = JoinSet::new();
    controller.spawn(controlling);
    let ended = tokio::select! {
        ended = end_of(&mut controller) => ended.and_then(|()| by_itself(shutdown)),
        kept = candidates.keep(shutdown) => {
            // Who has lost the lease stops at once: nothing is ended in order, nothing is given back.
            kept?;
            timeout(GRACE, end_of(&mut controller)).await.unwrap_or_else(|_| {
                tracing::warn!("Controller did not end in time");
                Ok(())
            })
        }
    };
    controller.shutdown().await;
    if let Some(mut own) = candidates.own {
        own.release().await;
    }
    ended
}

async fn end_of(controller: &mut JoinSet<Result<(), Fault>>) -> Result<(), Fault> {
    match controller.join_next().await {
        Some(Ok(ended)) => ended,
        Some(Err(fault)) => Err(format!("internal error: the controller ended: {fault}").into()),
        None => Ok(()),
    }
}

fn by_itself(shutdown: &Shutdown) -> Result<(), Fault> {
    if shutdown.has_begun() {
        Ok(())
    } else {
        Err("internal error: the controller ended by itself".into())
    }
}

/// Begins to serve all that the flags ask for.
async fn serve(
    flags: &Flags,
    metrics: &Metrics,
    readiness: &Readiness,
    client: &Client,
    closing: &Shutdown,
) -> Result<JoinSet<()>, Fault> {
    let mut servers = JoinSet::new();
    if let Some(address) = &flags.health {
        let listener = listen(address)
            .await
            .map_err(|fault| unusable("health-addr", address, &fault))?;
        let server = Server {
            listener,
            tls: None,
            router: health::router(readiness.clone()),
            bounds: BOUNDS,
        };
        servers.spawn(server.serve(closing.clone()));
    }
    if let Some(address) = &flags.diagnostics {
        let listener = listen(address)
            .await
            .map_err(|fault| unusable("diagnostics-address", address, &fault))?;
        let (tls, router) = if flags.insecure_diagnostics {
            (None, diagnostics::open_router(metrics.clone()))
        } else {
            (
                Some(Certificate::self_signed()?.tls(flags.tls_min_version)),
                diagnostics::router(metrics.clone(), client.clone()),
            )
        };
        servers.spawn(
            Server {
                listener,
                tls,
                router,
                bounds: BOUNDS,
            }
            .serve(closing.clone()),
        );
    }
    if let Some(webhooks) = &flags.webhooks {
        let address = Address {
            host: None,
            port: webhooks.port,
        };
        let listener = listen(&address)
            .await
            .map_err(|fault| unusable("webhook-port", webhooks.port, &fault))?;
        let certificate = Certificate::default();
        let tls = Some(certificate.tls(flags.tls_min_version));
        let files = Files {
            certificate: webhooks.certificate.clone(),
            key: webhooks.key.clone(),
        };
        let ready = readiness.check("webhooks", "the certificate has not been read");
        servers.spawn(certificate.follow(files, LOOK_EVERY, ready, closing.clone()));
        servers.spawn(
            Server {
                listener,
                tls,
                router: webhooks::router(metrics),
                bounds: BOUNDS,
            }
            .serve(closing.clone()),
        );
    }
    Ok(servers)
}

fn unusable(flag: &str, value: impl std::fmt::Display, fault: &std::io::Error) -> Fault {
    format!("--{flag}={value}: cannot listen there: {fault}").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::election::tests::{KUBEADM, Server as Api};

    /// A controller that has nothing to do, and who leads on an API server in memory.
    fn working(
        api: &Api,
        shutdown: &Shutdown,
    ) -> (Leadership, tokio::task::JoinHandle<Result<(), Fault>>) {
        let elector = Elector::new(
            api.client(),
            Candidacy::own("windlass-system".to_owned(), identity()),
            Flags::of(&[]).lease,
            Metrics::new(),
        );
        let (leadership, shutdown, until) =
            (elector.leadership(), shutdown.clone(), shutdown.clone());
        let controlling = async move {
            until.begun().await;
            Ok(())
        };
        (
            leadership,
            tokio::spawn(async move {
                work(
                    controlling,
                    &shutdown,
                    Candidates {
                        own: Some(elector),
                        kubeadm: None,
                    },
                )
                .await
            }),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_told_to_end_gives_the_lease_back() {
        let api = Api::default();
        let shutdown = Shutdown::new();
        let (leadership, working) = working(&api, &shutdown);
        leadership.begun().await;
        assert_ne!(api.holder(), "");
        shutdown.begin();
        working.await.unwrap().expect("it ends in order");
        assert_eq!(api.holder(), "");
        assert!(!leadership.holds());
    }

    #[tokio::test(start_paused = true)]
    async fn who_loses_the_lease_ends_with_a_fault() {
        let api = Api::default();
        let (leadership, working) = working(&api, &Shutdown::new());
        leadership.begun().await;
        api.take_over("another");
        let fault = working.await.unwrap().expect_err("another leads");
        assert!(
            fault
                .to_string()
                .contains("is lost: another manager holds it"),
            "{fault}"
        );
        assert!(!leadership.holds());
        assert_eq!(api.holder(), "another");
    }

    /// Our own configs do not wait for the kubeadm provider, and what it takes back ends the
    /// process.
    #[tokio::test(start_paused = true)]
    async fn each_kind_has_a_mandate_of_its_own() {
        let api = Api::with_kubeadm();
        api.hold(KUBEADM[0], "theirs");
        let flags = Flags::of(&["--leader-elect", "--kinds=WindlassConfig,KubeadmConfig"]);
        let mut candidates = Candidates::of(&flags, &api.client(), &Metrics::new());
        let namespace = "windlass-system".to_owned();
        candidates.own = Some(Elector::new(
            api.client(),
            Candidacy::own(namespace, identity()),
            flags.lease,
            Metrics::new(),
        ));
        let [ours, theirs] =
            [ConfigKind::Windlass, ConfigKind::Kubeadm].map(|kind| candidates.mandate(kind));
        let shutdown = Shutdown::new();
        let until = shutdown.clone();
        let controlling = async move {
            until.begun().await;
            Ok(())
        };
        let working = tokio::spawn(async move { work(controlling, &shutdown, candidates).await });
        ours.begun().await;
        assert!(ours.holds() && !theirs.holds());
        // Nobody renews it.
        theirs.begun().await;
        assert!(ours.holds() && theirs.holds());
        api.hold(KUBEADM[0], "theirs");
        let fault = working.await.unwrap().expect_err("another holds it");
        assert!(
            fault
                .to_string()
                .contains("is lost: another manager holds it"),
            "{fault}"
        );
        assert!(!theirs.holds());
    }

    #[test]
    fn configs_that_nobody_looks_at_are_told() {
        let told =
            |line: &[&str]| left_to_nobody(&Flags::of(&[&["--leader-elect"], line].concat()));
        assert_eq!(
            told(&["--kinds=KubeadmConfig", "--namespace=a"]),
            Some("--namespace")
        );
        assert_eq!(
            told(&["--kinds=KubeadmConfig", "--watch-filter=a"]),
            Some("--watch-filter")
        );
        assert_eq!(
            (told(&["--kinds=KubeadmConfig"]), told(&["--namespace=a"])),
            (None, None)
        );
    }

    /// Who has lost our own Lease may be followed by another of ours.
    #[tokio::test(start_paused = true)]
    async fn nobody_writes_for_kubeadm_configs_who_does_not_lead_our_own() {
        let api = Api::with_kubeadm();
        let flags = Flags::of(&["--leader-elect", "--kinds=KubeadmConfig"]);
        let candidates = Candidates::of(&flags, &api.client(), &Metrics::new());
        let mandate = candidates.mandate(ConfigKind::Kubeadm);
        let kubeadm = candidates.kubeadm.unwrap();
        let leadership = kubeadm.leadership();
        tokio::spawn(async move { kubeadm.keep(&Shutdown::new()).await });
        leadership.begun().await;
        assert!(!mandate.holds());
    }

    #[tokio::test]
    async fn an_address_that_is_taken_is_named_with_its_flag() {
        let taken = listen(&Address {
            host: None,
            port: 0,
        })
        .await
        .unwrap();
        let port = taken.local_addr().unwrap().port();
        let api = Api::default();
        for flag in ["health-addr", "diagnostics-address", "webhook-port"] {
            let value = if flag == "webhook-port" {
                port.to_string()
            } else {
                format!(":{port}")
            };
            let off = [
                "--health-addr=",
                "--diagnostics-address=",
                "--webhook-port=0",
            ];
            let given = format!("--{flag}={value}");
            let flags = Flags::of(&[off[0], off[1], off[2], &given]);
            let served = serve(
                &flags,
                &Metrics::new(),
                &Readiness::default(),
                &api.client(),
                &Shutdown::new(),
            )
            .await;
            let fault = served.expect_err("somebody listens there").to_string();
            assert!(
                fault.starts_with(&format!("{given}: cannot listen there: ")),
                "{fault}"
            );
        }
    }
}
