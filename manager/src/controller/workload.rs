//! Workload clusters: one client each, made from the kubeconfig that the core or a control plane
//! provider wrote, kept while the cluster is there, for five minutes at most. One that does not
//! answer is asked by few at once, after the first that waited in vain by nobody for a while, and
//! then by one that tries. Connections that end early cost nobody time: only several in a row count
//! as silence.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kube::Client;
use kube::config::{Kubeconfig, KubeconfigError};
use kube::discovery::ApiResource;
use serde_json::Value;
use tokio::sync::Semaphore;
use windlass_reconcile::{Action, Key};

use super::requests::{self, Rejection};
use super::resources;
use crate::client;
use crate::election::Mandate;
use crate::fault::Fault;
use crate::flags::Rate;
use crate::metrics::{Metrics, Requests};

const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a cluster that did not answer is left alone.
const PAUSE: Duration = Duration::from_secs(10);
/// Who waits longer for a connection that then ends has waited in vain.
const LONG: Duration = Duration::from_secs(1);
/// So many connections that end early, without an answer between them, are silence too.
const MOST_CUT: u32 = 3;
/// How long a kubeconfig is used before it is read again: its certificates are rotated.
const FRESH: Duration = Duration::from_secs(300);
/// Requests that one cluster is asked at once.
pub(super) const AT_ONCE: usize = 10;
/// Clusters whose clients are kept; the one that was used longest ago goes first.
const MOST: usize = 1000;

pub(super) struct Workloads {
    management: Client,
    rate: Option<Rate>,
    metrics: Metrics,
    clusters: Mutex<BTreeMap<Name, Arc<Workload>>>,
}

/// Namespace and name of an object. Many keep it of the same one.
pub(super) type Name = (Arc<str>, Arc<str>);

struct Workload {
    turns: Semaphore,
    /// Held by the one that makes the client.
    connecting: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Clone)]
struct State {
    client: Option<(Client, Instant)>,
    /// So that what was counted of it stays when another client is made.
    counted: Option<Arc<Requests>>,
    /// Until when nobody asks, and what is said meanwhile.
    left_alone: Option<(Instant, Rejection)>,
    /// Connections in a row that ended before the answer did.
    cut: u32,
    used: Instant,
}

impl Workloads {
    pub(super) fn new(management: Client, rate: Option<Rate>, metrics: Metrics) -> Self {
        Workloads {
            management,
            rate,
            metrics,
            clusters: Mutex::default(),
        }
    }

    /// Reads an object of a cluster.
    ///
    /// # Errors
    /// In words that stay the same while the cluster does not answer.
    pub(super) async fn read(
        &self,
        cluster: &Name,
        resource: &ApiResource,
        key: &Key,
    ) -> Result<Option<Value>, Rejection> {
        self.ask(cluster, async |client| {
            requests::read(&client, resource, key).await
        })
        .await
    }

    /// Writes an object of a cluster.
    ///
    /// # Errors
    /// It was not written.
    pub(super) async fn write(
        &self,
        cluster: &Name,
        resource: &ApiResource,
        key: &Key,
        action: &Action,
        mandate: &Mandate,
    ) -> Result<Option<Value>, Rejection> {
        self.ask(cluster, async |client| {
            requests::write(&client, resource, key, action, mandate).await
        })
        .await
    }

    /// Whether a cluster answers, as far as anybody knows: one that nobody has asked may.
    pub(super) fn answers(&self, cluster: &Name) -> bool {
        self.lock()
            .get(cluster)
            .is_none_or(|workload| workload.lock().left_alone.is_none())
    }

    /// A cluster that is gone needs no client.
    pub(super) fn forget(&self, cluster: &Name) {
        self.lock().remove(cluster);
    }

    /// A client that would not be used any more, for its kubeconfig may be old, is not kept: it
    /// holds keys, and connections.
    pub(super) fn sweep(&self) {
        for workload in self.lock().values() {
            let mut state = workload.lock();
            state.client = state
                .client
                .take()
                .filter(|(_, since)| since.elapsed() < FRESH);
        }
    }

    async fn ask<T>(
        &self,
        cluster: &Name,
        request: impl AsyncFnOnce(Client) -> Result<T, Rejection>,
    ) -> Result<T, Rejection> {
        let workload = self.workload(cluster);
        workload.is_asked()?;
        let _turn = workload
            .turns
            .acquire()
            .await
            .expect("internal error: the semaphore is never closed");
        // Whoever had a turn before may have waited in vain.
        workload.begins()?;
        let client = self
            .client(cluster, &workload)
            .await
            .map_err(Rejection::Rejected);
        let client =
            client.inspect_err(|rejection| workload.answered(Some(rejection), Duration::ZERO))?;
        let began = Instant::now();
        let answer = tokio::time::timeout(TIMEOUT, request(client))
            .await
            .unwrap_or(Err(Rejection::Silent));
        workload.answered(answer.as_ref().err(), began.elapsed());
        answer
    }

    fn workload(&self, cluster: &Name) -> Arc<Workload> {
        let mut clusters = self.lock();
        if clusters.len() >= MOST && !clusters.contains_key(cluster) {
            let oldest = clusters
                .iter()
                .min_by_key(|(_, workload)| workload.lock().used)
                .map(|(name, _)| name.clone());
            oldest.map(|name| clusters.remove(&name));
        }
        let workload = clusters
            .entry(cluster.clone())
            .or_insert_with(|| Arc::new(Workload::new()))
            .clone();
        workload.lock().used = Instant::now();
        workload
    }

    async fn client(&self, cluster: &Name, workload: &Workload) -> Result<Client, String> {
        let _connecting = workload.connecting.lock().await;
        if let Some((client, since)) = workload.lock().client.clone()
            && since.elapsed() < FRESH
        {
            return Ok(client);
        }
        let (namespace, name) = cluster;
        let secret_name = format!("{name}-kubeconfig");
        let key = Key {
            realm: windlass_reconcile::Realm::Management,
            group: String::new(),
            kind: "Secret".to_owned(),
            namespace: namespace.to_string(),
            name: secret_name.clone(),
        };
        let secret = requests::read(&self.management, &resources::kubernetes("Secret"), &key).await;
        let secret = secret.map_err(|rejection| format!("Secret {secret_name}: {rejection}"))?;
        let secret = secret.ok_or_else(|| {
            format!("Secret {secret_name} with the kubeconfig of the cluster is not there")
        })?;
        let connected = self.connect(&secret).await;
        let (client, requests) = connected.map_err(|fault| {
            format!("Secret {secret_name} holds no kubeconfig that can be used: {fault}")
        })?;
        let mut state = workload.lock();
        (state.client, state.counted) = (
            Some((client.clone(), Instant::now())),
            Some(Arc::new(requests)),
        );
        Ok(client)
    }

    async fn connect(&self, secret: &Value) -> Result<(Client, Requests), Fault> {
        let k8s_openapi::ByteString(bytes) =
            serde_json::from_value(secret["data"]["value"].clone())
                .map_err(|_| "it has no key `value`")?;
        let text = std::str::from_utf8(&bytes).map_err(|_| "it is not text")?;
        // What the reader says quotes the text.
        let kubeconfig = Kubeconfig::from_yaml(text).map_err(|_| "it is not a kubeconfig")?;
        confined(&kubeconfig)?;
        let mut config = client::of_kubeconfig(kubeconfig, incomplete).await?;
        config.connect_timeout = Some(TIMEOUT);
        config.read_timeout = Some(TIMEOUT);
        config.write_timeout = Some(TIMEOUT);
        let requests = self.metrics.requests(&client::host(&config));
        Ok((client::client(config, self.rate, &self.metrics)?, requests))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Name, Arc<Workload>>> {
        self.clusters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workload {
    fn new() -> Self {
        let state = State {
            client: None,
            counted: None,
            left_alone: None,
            cut: 0,
            used: Instant::now(),
        };
        Workload {
            turns: Semaphore::new(AT_ONCE),
            connecting: tokio::sync::Mutex::default(),
            state: Mutex::new(state),
        }
    }

    /// Whether anybody is to ask it now.
    fn is_asked(&self) -> Result<(), Rejection> {
        match &self.lock().left_alone {
            Some((until, rejection)) if Instant::now() < *until => Err(rejection.clone()),
            _ => Ok(()),
        }
    }

    /// The same for one that asks now. Of a cluster that was left alone for its time it is the one
    /// that tries: until it is answered, or can be no more, the others hear what was heard
    /// last.
    fn begins(&self) -> Result<(), Rejection> {
        match &mut self.lock().left_alone {
            Some((until, rejection)) if Instant::now() < *until => Err(rejection.clone()),
            Some((until, _)) => {
                *until = Instant::now() + TIMEOUT;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Notes how a request ended. After most failures the next one reads the kubeconfig again: its
    /// certificates may be new ones.
    fn answered(&self, rejection: Option<&Rejection>, took: Duration) {
        let mut state = self.lock();
        state.cut = if rejection == Some(&Rejection::Cut) {
            state.cut + 1
        } else {
            0
        };
        let (is_silent, is_good) = match rejection {
            // Who was not asked, because we may write no more, is as good as before.
            None | Some(Rejection::Overtaken | Rejection::NotLeading) => (false, true),
            Some(Rejection::Rejected(_)) => (false, false),
            Some(Rejection::Silent | Rejection::Untrusted) => (true, false),
            Some(Rejection::Cut) => {
                let is_soon = took < LONG && state.cut < MOST_CUT;
                (!is_soon, is_soon)
            }
        };
        if !is_good {
            state.client = None;
        }
        state.left_alone = rejection
            .filter(|_| is_silent)
            .map(|rejection| (Instant::now() + PAUSE, rejection.clone()));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a workload cluster's kubeconfig cannot be used: of what is in that Secret nothing is quoted.
fn incomplete(fault: &KubeconfigError) -> String {
    match fault {
        KubeconfigError::ParseProxyUrl(_) | KubeconfigError::ParseNoProxy(_) => {
            client::unread(fault)
        }
        _ => "it is incomplete".to_owned(),
    }
}

/// Rejects a kubeconfig that would run a program or read a file of this process: whoever may write
/// that Secret would otherwise get the controller's own credentials.
fn confined(kubeconfig: &Kubeconfig) -> Result<(), Fault> {
    let users = kubeconfig
        .auth_infos
        .iter()
        .filter_map(|named| named.auth_info.as_ref());
    for user in users {
        let given = [
            ("exec", user.exec.is_some()),
            ("auth-provider", user.auth_provider.is_some()),
            ("tokenFile", user.token_file.is_some()),
            ("client-certificate", user.client_certificate.is_some()),
            ("client-key", user.client_key.is_some()),
        ];
        if let Some((field, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            return Err(format!(
                "`{field}` would make the controller run a program or read a file of its own"
            )
            .into());
        }
    }
    let clusters = kubeconfig
        .clusters
        .iter()
        .filter_map(|named| named.cluster.as_ref());
    if clusters
        .into_iter()
        .any(|cluster| cluster.certificate_authority.is_some())
    {
        return Err(
            "`certificate-authority` would make the controller read a file of its own".into(),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that was rejected may have old credentials; one that was only too slow is good.
    #[tokio::test]
    async fn what_was_rejected_is_asked_with_a_fresh_kubeconfig() {
        let service = tower::service_fn(|_: axum::http::Request<kube::client::Body>| async {
            Ok::<_, std::convert::Infallible>(axum::http::Response::new(axum::body::Body::empty()))
        });
        let client = Client::new(service, "default");
        let short = Duration::from_millis(10);
        for (rejection, took, is_kept, is_left_alone) in [
            (Rejection::Overtaken, short, true, false),
            (Rejection::NotLeading, short, true, false),
            (
                Rejection::Rejected("code 401".to_owned()),
                short,
                false,
                false,
            ),
            (Rejection::Silent, short, false, true),
            (Rejection::Untrusted, short, false, true),
            (Rejection::Cut, short, true, false),
            (Rejection::Cut, Duration::from_secs(2), false, true),
        ] {
            let workload = Workload::new();
            workload.lock().client = Some((client.clone(), Instant::now()));
            workload.answered(Some(&rejection), took);
            assert_eq!(workload.lock().client.is_some(), is_kept, "{rejection}");
            assert_eq!(
                workload.is_asked(),
                if is_left_alone {
                    Err(rejection)
                } else {
                    Ok(())
                }
            );
        }
    }

    #[tokio::test]
    async fn a_client_that_is_old_is_not_kept() {
        let service = tower::service_fn(|_: axum::http::Request<kube::client::Body>| async {
            Ok::<_, std::convert::Infallible>(axum::http::Response::new(axum::body::Body::empty()))
        });
        let client = Client::new(service, "default");
        let workloads = Workloads::new(client.clone(), None, Metrics::new());
        for (age, is_kept) in [(FRESH / 2, true), (FRESH, false)] {
            let workload = workloads.workload(&("n".into(), "c".into()));
            workload.lock().client =
                Some((client.clone(), Instant::now().checked_sub(age).unwrap()));
            workloads.sweep();
            assert_eq!(workload.lock().client.is_some(), is_kept, "{age:?}");
        }
    }

    /// One of many requests whose connection is cut keeps nobody from asking; a server that cuts
    /// all of them is as good as silent.
    #[test]
    fn cut_connections_count_in_a_row() {
        let (workload, cut, short) = (
            Workload::new(),
            Some(&Rejection::Cut),
            Duration::from_millis(10),
        );
        for rejection in [
            cut,
            cut,
            None,
            cut,
            cut,
            Some(&Rejection::Overtaken),
            cut,
            cut,
        ] {
            workload.answered(rejection, short);
            assert_eq!(workload.is_asked(), Ok(()));
        }
        workload.answered(cut, short);
        assert_eq!(workload.is_asked(), Err(Rejection::Cut));
    }

    /// One request tries a cluster that was left alone for its time; whatever it hears but silence
    /// lets the others ask again.
    #[test]
    fn one_tries_a_cluster_that_was_silent() {
        let over = || {
            let workload = Workload::new();
            workload.lock().left_alone = Some((Instant::now(), Rejection::Silent));
            workload
        };
        let rejected = Rejection::Rejected("code 503".to_owned());
        for answer in [
            None,
            Some(Rejection::Overtaken),
            Some(rejected),
            Some(Rejection::Cut),
            Some(Rejection::NotLeading),
        ] {
            let workload = over();
            assert_eq!((workload.is_asked(), workload.begins()), (Ok(()), Ok(())));
            assert_eq!(
                (workload.is_asked(), workload.begins()),
                (Err(Rejection::Silent), Err(Rejection::Silent)),
                "one is trying"
            );
            workload.answered(answer.as_ref(), Duration::ZERO);
            assert_eq!(
                (workload.begins(), workload.begins()),
                (Ok(()), Ok(())),
                "{answer:?}"
            );
        }
        let workload = over();
        workload.begins().unwrap();
        workload.answered(Some(&Rejection::Untrusted), Duration::ZERO);
        assert_eq!(workload.begins(), Err(Rejection::Untrusted));
        // Who tried and was ended says nothing any more: the next one tries when it could have had
        // an answer.
        let workload = over();
        workload.begins().unwrap();
        let until = workload
            .lock()
            .left_alone
            .as_ref()
            .map(|(until, _)| *until)
            .unwrap();
        assert!(until <= Instant::now() + TIMEOUT);
    }

    #[test]
    fn kubeconfigs_reach_nothing_of_the_controller() {
        let kubeconfig = |cluster: &str, user: &str| {
            let text = format!(
                "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster: {{server: \"https://c\"{cluster}}}\nusers:\n- name: u\n  user: {{{user}}}\n"
            );
            confined(&Kubeconfig::from_yaml(&text).unwrap()).map_err(|fault| fault.to_string())
        };
        assert!(kubeconfig("", "client-key-data: eA==, client-certificate-data: eA==").is_ok());
        assert!(kubeconfig("", "token: x").is_ok());
        for (cluster, user) in [
            (
                "",
                "exec: {command: /bin/sh, apiVersion: client.authentication.k8s.io/v1}",
            ),
            ("", "auth-provider: {name: gcp, config: {}}"),
            (
                "",
                "tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token",
            ),
            ("", "client-certificate: /a"),
            ("", "client-key: /a"),
            (", certificate-authority: /a", "token: x"),
        ] {
            assert!(
                kubeconfig(cluster, user).is_err_and(|fault| fault.contains("of its own")),
                "{cluster}{user}"
            );
        }
    }
}
