//! Metrics under controller-runtime's names where they mean the same, in Prometheus' text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus_client::encoding::text::encode_registry;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::process;

pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

type Labels = Vec<(&'static str, String)>;
type Seconds = Gauge<f64, AtomicU64>;
type Histograms = Family<Labels, Histogram, fn() -> Histogram>;

/// The upper bounds of controller-runtime's `controller_runtime_reconcile_time_seconds`.
const RECONCILE_SECONDS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0,
    25.0, 30.0, 40.0, 50.0, 60.0,
];

/// How a reconcile ended, in controller-runtime's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is as it should be until something changes.
    Success,
    /// It is looked at again after a time.
    RequeueAfter,
    /// It is looked at again as soon as the queue's pace lets it.
    Requeue,
    /// It failed, and is tried again.
    Error,
}

impl Outcome {
    const ALL: [Outcome; 4] = [
        Outcome::Success,
        Outcome::RequeueAfter,
        Outcome::Requeue,
        Outcome::Error,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Outcome::Success => "success",
            Outcome::RequeueAfter => "requeue_after",
            Outcome::Requeue => "requeue",
            Outcome::Error => "error",
        }
    }
}

/// All metrics of the process; clones are of one set.
#[derive(Debug, Clone)]
pub(crate) struct Metrics(Arc<Families>);

#[derive(Debug)]
struct Families {
    registry: Registry,
    reconciles: Family<Labels, Counter>,
    reconcile_errors: Family<Labels, Counter>,
    reconcile_panics: Family<Labels, Counter>,
    reconcile_time: Histograms,
    active_workers: Family<Labels, Gauge>,
    most_workers: Family<Labels, Gauge>,
    requests: Family<Labels, Counter>,
    hosts: Mutex<BTreeMap<String, Asked>>,
    webhook_requests: Family<Labels, Counter>,
    webhook_time: Histograms,
    webhooks_in_flight: Family<Labels, Gauge>,
    webhook_panics: Counter,
    conversion_panics: Counter,
    leader: Family<Labels, Gauge>,
    resident: Gauge,
    open_files: Gauge,
    tasks: Gauge,
    processor: Counter<f64, AtomicU64>,
}

impl Metrics {
    /// All at zero; the process started now.
    pub(crate) fn new() -> Self {
        let mut registry = Registry::default();
        let of = &mut registry;
        let started = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs_f64();
        register(
            of,
            "process_start_time_seconds",
            "Start time of the process since unix epoch in seconds",
            Seconds::default(),
        )
        .set(started);
        let reconcile_time = Histograms::new_with_constructor(|| Histogram::new(RECONCILE_SECONDS));
        let webhook_time = Histograms::new_with_constructor(|| {
            Histogram::new(exponential_buckets(10e-9, 10.0, 12))
        });
        let families = Families {
            reconciles: register(
                of,
                "controller_runtime_reconcile",
                "Total number of reconciliations per controller",
                Family::default(),
            ),
            reconcile_errors: register(
                of,
                "controller_runtime_reconcile_errors",
                "Total number of reconciliation errors per controller",
                Family::default(),
            ),
            reconcile_panics: register(
                of,
                "controller_runtime_reconcile_panics",
                "Total number of reconciliation panics per controller",
                Family::default(),
            ),
            reconcile_time: register(
                of,
                "controller_runtime_reconcile_time_seconds",
                "Length of time per reconciliation per controller",
                reconcile_time,
            ),
            active_workers: register(
                of,
                "controller_runtime_active_workers",
                "Number of currently used workers per controller",
                Family::default(),
            ),
            most_workers: register(
                of,
                "controller_runtime_max_concurrent_reconciles",
                "Maximum number of concurrent reconciles per controller",
                Family::default(),
            ),
            requests: register(
                of,
                "rest_client_requests",
                "Number of HTTP requests, partitioned by status code, method, and host",
                Family::default(),
            ),
            hosts: Mutex::default(),
            webhook_requests: register(
                of,
                "controller_runtime_webhook_requests",
                "Total number of webhook requests by HTTP status code",
                Family::default(),
            ),
            webhook_time: register(
                of,
                "controller_runtime_webhook_latency_seconds",
                "Histogram of the latency of processing webhook requests",
                webhook_time,
            ),
            webhooks_in_flight: register(
                of,
                "controller_runtime_webhook_requests_in_flight",
                "Current number of webhook requests being served",
                Family::default(),
            ),
            webhook_panics: register(
                of,
                "controller_runtime_webhook_panics",
                "Total number of webhook panics",
                Counter::default(),
            ),
            conversion_panics: register(
                of,
                "controller_runtime_conversion_webhook_panics",
                "Total number of conversion webhook panics",
                Counter::default(),
            ),
            leader: register(
                of,
                "leader_election_master_status",
                "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master",
                Family::default(),
            ),
            resident: register(
                of,
                "process_resident_memory_bytes",
                "Resident memory size in bytes",
                Gauge::default(),
            ),
            open_files: register(
                of,
                "process_open_fds",
                "Number of open file descriptors",
                Gauge::default(),
            ),
            tasks: register(
                of,
                "tokio_alive_tasks",
                "Number of tasks of the runtime that have not ended",
                Gauge::default(),
            ),
            processor: register(
                of,
                "process_cpu_seconds",
                "Total user and system CPU time spent in seconds",
                Counter::default(),
            ),
            registry,
        };
        Metrics(Arc::new(families))
    }

    /// The metrics of a controller, such as `windlassconfig`, which reconciles so many objects at
    /// once at most.
    pub(crate) fn controller(&self, name: &str, most_workers: usize) -> ControllerMetrics {
        let families = &self.0;
        let labels = || vec![("controller", name.to_owned())];
        families
            .most_workers
            .get_or_create(&labels())
            .set(i64::try_from(most_workers).unwrap_or(i64::MAX));
        let of_outcome = |outcome: Outcome| {
            let mut labels = labels();
            labels.push(("result", outcome.as_str().to_owned()));
            families.reconciles.get_or_create_owned(&labels)
        };
        ControllerMetrics {
            outcomes: Outcome::ALL.map(of_outcome),
            errors: families.reconcile_errors.get_or_create_owned(&labels()),
            panics: families.reconcile_panics.get_or_create_owned(&labels()),
            time: families.reconcile_time.get_or_create_owned(&labels()),
            active: families.active_workers.get_or_create_owned(&labels()),
        }
    }

    /// Counts requests to the API server of a host.
    pub(crate) fn requests(&self, host: &str) -> Requests {
        self.lock_hosts().entry(host.to_owned()).or_default().by += 1;
        Requests {
            metrics: self.clone(),
            host: host.to_owned(),
        }
    }

    fn lock_hosts(&self) -> MutexGuard<'_, BTreeMap<String, Asked>> {
        self.0.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A webhook begins to serve a request; the path is one of those that we serve.
    pub(crate) fn webhook(&self, path: &str) -> WebhookRequest {
        let labels = vec![("webhook", path.to_owned())];
        let in_flight = self.0.webhooks_in_flight.get_or_create_owned(&labels);
        in_flight.inc();
        WebhookRequest {
            metrics: self.clone(),
            labels,
            in_flight,
        }
    }

    pub(crate) fn webhook_panicked(&self, is_conversion: bool) {
        if is_conversion {
            &self.0.conversion_panics
        } else {
            &self.0.webhook_panics
        }
        .inc();
    }

    /// Whether this process holds a lease.
    pub(crate) fn leads(&self, lease: &str, leads: bool) {
        self.0
            .leader
            .get_or_create(&vec![("name", lease.to_owned())])
            .set(leads.into());
    }

    /// All metrics in Prometheus' text, version 0.0.4, with those of the process as they are now.
    pub(crate) fn text(&self) -> String {
        let process = process::usage();
        self.0.resident.set(process.resident_bytes);
        self.0.open_files.set(process.open_files);
        let tasks = tokio::runtime::Handle::try_current()
            .map_or(0, |runtime| runtime.metrics().num_alive_tasks());
        self.0.tasks.set(i64::try_from(tasks).unwrap_or(i64::MAX));
        self.0
            .processor
            .inc_by((process.processor_seconds - self.0.processor.get()).max(0.0));
        let mut text = String::new();
        encode_registry(&mut text, &self.0.registry)
            .expect("internal error: a String takes all that is written");
        prometheus_text(&text)
    }
}

/// An API server that is asked.
#[derive(Debug, Default)]
struct Asked {
    /// How many count its requests.
    by: usize,
    /// What was counted: code and method.
    answers: BTreeSet<[String; 2]>,
}

/// Counts requests to an API server. What was counted of a host goes with the last that counts
/// there: workload clusters come and go.
#[derive(Debug)]
pub(crate) struct Requests {
    metrics: Metrics,
    host: String,
}

impl Requests {
    /// A request was answered with a code, or `<error>` where no answer came.
    pub(crate) fn answered(&self, code: &str, method: &str) {
        let answer = [code, method].map(str::to_owned);
        let mut hosts = self.metrics.lock_hosts();
        self.metrics
            .0
            .requests
            .get_or_create(&self.labels(&answer))
            .inc();
        hosts
            .entry(self.host.clone())
            .or_default()
            .answers
            .insert(answer);
    }

    fn labels(&self, [code, method]: &[String; 2]) -> Labels {
        vec![
            ("code", code.clone()),
            ("method", method.clone()),
            ("host", self.host.clone()),
        ]
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        let mut hosts = self.metrics.lock_hosts();
        let Some(asked) = hosts.get_mut(&self.host) else {
            return;
        };
        asked.by -= 1;
        if asked.by == 0 {
            for answer in &asked.answers {
                self.metrics.0.requests.remove(&self.labels(answer));
            }
            hosts.remove(&self.host);
        }
    }
}

fn register<M: prometheus_client::registry::Metric + Clone>(
    registry: &mut Registry,
    name: &str,
    help: &str,
    metric: M,
) -> M {
    registry.register(name, help, metric.clone());
    metric
}

/// OpenMetrics calls a family of counters by the name of its samples without `_total`; Prometheus'
/// older text, which everybody reads, by the name of its samples.
fn prometheus_text(open_metrics: &str) -> String {
    let lines: Vec<&str> = open_metrics.lines().collect();
    let is_counter = |name: &str| {
        lines
            .iter()
            .any(|line| line.strip_prefix("# TYPE ") == Some(&format!("{name} counter")))
    };
    let mut text = String::with_capacity(open_metrics.len() + 1024);
    for line in &lines {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some(what), Some(name), Some(rest)) if is_counter(name) => {
                text.push_str(&format!("# {what} {name}_total {rest}"))
            }
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// The metrics of one controller; clones are of one set.
#[derive(Debug, Clone)]
pub(crate) struct ControllerMetrics {
    outcomes: [Counter; 4],
    errors: Counter,
    panics: Counter,
    time: Histogram,
    active: Gauge,
}

impl ControllerMetrics {
    pub(crate) fn reconciled(&self, outcome: Outcome, time: Duration) {
        self.outcomes[outcome as usize].inc();
        self.time.observe(time.as_secs_f64());
        if outcome == Outcome::Error {
            self.errors.inc();
        }
    }

    /// A reconcile panicked. That counts as no outcome: `reconciled` is called as well.
    pub(crate) fn panicked(&self) {
        self.panics.inc();
    }

    /// A worker is busy until what is returned is dropped.
    pub(crate) fn working(&self) -> Worker {
        self.active.inc();
        Worker(self.active.clone())
    }
}

/// A worker that is busy until this is dropped.
#[derive(Debug)]
pub(crate) struct Worker(Gauge);

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// A request that a webhook serves; it counts as in flight until this is dropped.
#[derive(Debug)]
pub(crate) struct WebhookRequest {
    metrics: Metrics,
    labels: Labels,
    in_flight: Gauge,
}

impl WebhookRequest {
    /// It was answered with an HTTP status after so long.
    pub(crate) fn answered(&self, code: u16, time: Duration) {
        self.metrics
            .0
            .webhook_time
            .get_or_create(&self.labels)
            .observe(time.as_secs_f64());
        let mut labels = self.labels.clone();
        labels.push(("code", code.to_string()));
        self.metrics.0.webhook_requests.get_or_create(&labels).inc();
    }
}

impl Drop for WebhookRequest {
    fn drop(&mut self) {
        self.in_flight.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> String {
        let metrics = Metrics::new();
        let requests = metrics.requests("10.0.0.1:443");
        let controller = metrics.controller("windlassconfig", 100);
        controller.reconciled(Outcome::Success, Duration::from_millis(20));
        controller.reconciled(Outcome::Error, Duration::from_millis(2));
        controller.panicked();
        let _worker = controller.working();
        drop(controller.working());
        requests.answered("200", "GET");
        let request = metrics.webhook("/convert");
        request.answered(200, Duration::from_millis(3));
        metrics.webhook_panicked(true);
        metrics.leads("lease", true);
        metrics.text()
    }

    /// The samples of controller-runtime v0.24 and client-go.
    #[test]
    fn samples_have_the_names_of_controller_runtime() {
        let text = all();
        for sample in [
            "controller_runtime_reconcile_total{controller=\"windlassconfig\",result=\"success\"} 1",
            "controller_runtime_reconcile_total{controller=\"windlassconfig\",result=\"error\"} 1",
            "controller_runtime_reconcile_total{controller=\"windlassconfig\",result=\"requeue_after\"} 0",
            "controller_runtime_reconcile_errors_total{controller=\"windlassconfig\"} 1",
            "controller_runtime_reconcile_panics_total{controller=\"windlassconfig\"} 1",
            "controller_runtime_reconcile_time_seconds_count{controller=\"windlassconfig\"} 2",
            "controller_runtime_reconcile_time_seconds_bucket{le=\"0.005\",controller=\"windlassconfig\"} 1",
            "controller_runtime_reconcile_time_seconds_bucket{le=\"+Inf\",controller=\"windlassconfig\"} 2",
            "controller_runtime_active_workers{controller=\"windlassconfig\"} 1",
            "controller_runtime_max_concurrent_reconciles{controller=\"windlassconfig\"} 100",
            "rest_client_requests_total{code=\"200\",method=\"GET\",host=\"10.0.0.1:443\"} 1",
            "controller_runtime_webhook_requests_total{webhook=\"/convert\",code=\"200\"} 1",
            "controller_runtime_webhook_requests_in_flight{webhook=\"/convert\"} 1",
            "controller_runtime_webhook_latency_seconds_count{webhook=\"/convert\"} 1",
            "controller_runtime_conversion_webhook_panics_total 1",
            "controller_runtime_webhook_panics_total 0",
            "leader_election_master_status{name=\"lease\"} 1",
        ] {
            assert!(
                text.lines().any(|line| line == sample),
                "{sample} is not in\n{text}"
            );
        }
    }

    /// "Exposition formats" of Prometheus, text 0.0.4: one TYPE and one HELP for each name, before
    /// its samples; samples of a counter have its name, those of a histogram its name with a
    /// suffix.
    #[test]
    fn text_is_that_of_prometheus() {
        let text = all();
        let mut kinds = std::collections::BTreeMap::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect("name and type");
                assert_eq!(kinds.insert(name, kind), None, "{line}");
            } else if !line.starts_with("# HELP ") {
                assert!(!line.starts_with('#') && !line.is_empty(), "{line}");
                let name = line.split(['{', ' ']).next().expect("a sample has a name");
                let of_histogram = ["_bucket", "_sum", "_count"]
                    .iter()
                    .find_map(|suffix| name.strip_suffix(suffix));
                let is_known = kinds.contains_key(name)
                    || of_histogram.is_some_and(|name| kinds.get(name) == Some(&"histogram"));
                assert!(is_known, "{line} has no type before it");
                let value = line.rsplit(' ').next().expect("a sample has a value");
                assert!(value.parse::<f64>().is_ok(), "{line}");
            }
        }
        assert_eq!(
            kinds.get("controller_runtime_reconcile_total"),
            Some(&"counter")
        );
        assert_eq!(kinds.get("process_cpu_seconds_total"), Some(&"counter"));
        assert_eq!(kinds.get("process_start_time_seconds"), Some(&"gauge"));
        assert!(text.ends_with('\n'));
    }

    #[test]
    fn what_was_counted_of_a_host_goes_with_the_last_that_asks_it() {
        let metrics = Metrics::new();
        let sample = |host: &str, count: usize| {
            let sample = format!(
                "rest_client_requests_total{{code=\"200\",method=\"GET\",host=\"{host}\"}} {count}"
            );
            metrics.text().lines().any(|line| line == sample)
        };
        let [first, second, other] = ["a", "a", "b"].map(|host| metrics.requests(host));
        [&first, &second, &other]
            .into_iter()
            .for_each(|requests| requests.answered("200", "GET"));
        drop(first);
        assert!(sample("a", 2) && sample("b", 1));
        drop(second);
        assert!(!metrics.text().contains("host=\"a\"") && sample("b", 1));
        metrics.requests("a").answered("200", "GET");
        assert!(!metrics.text().contains("host=\"a\""));
    }

    #[tokio::test]
    async fn the_process_is_measured_when_it_is_asked() {
        let metrics = Metrics::new();
        let value = |name: &str| -> f64 {
            let text = metrics.text();
            let line = text
                .lines()
                .find(|line| line.starts_with(&format!("{name} ")))
                .expect("it is there");
            line.rsplit(' ')
                .next()
                .and_then(|value| value.parse().ok())
                .expect("it is a number")
        };
        assert!(value("process_resident_memory_bytes") > 1e6);
        assert!(value("process_open_fds") >= 3.0);
        assert!(value("process_start_time_seconds") > 1.7e9);
        let before = value("tokio_alive_tasks");
        let task = tokio::spawn(std::future::pending::<()>());
        assert_eq!(value("tokio_alive_tasks"), before + 1.0);
        task.abort();
        assert!(task.await.is_err());
        assert_eq!(value("tokio_alive_tasks"), before);
    }
}
