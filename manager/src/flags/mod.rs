//! The command line: read as Go's flags are read, from the one table of
//! `windlass_capi::contract::manager`.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use windlass_capi::api::names::{GROUP, KUBEADM_GROUP, Kind};
use windlass_capi::api::time::GoDuration;
use windlass_capi::contract::manager::{FLAGS, Flag, Takes};
use windlass_source::nearest::nearest;

#[derive(Debug)]
pub(crate) enum Command {
    Run(Box<Flags>),
    /// To print a text and to end: help or version.
    Print(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Flags {
    /// Whether to run only while holding the lease.
    pub(crate) leader_elect: bool,
    pub(crate) lease: LeaseTimes,
    /// The kinds that are reconciled; at least one.
    pub(crate) kinds: BTreeSet<ConfigKind>,
    /// The namespaces that are reconciled; empty means all.
    pub(crate) namespaces: BTreeSet<String>,
    /// The value that objects have under the label of the watch filter; `None` means all objects.
    pub(crate) watch_filter: Option<String>,
    /// How many configs of a kind are reconciled at once; at least one.
    pub(crate) concurrency: usize,
    /// How often every object is looked at again.
    pub(crate) sync_period: Duration,
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The limit on requests to the API server; `None` sets none.
    pub(crate) kube_api: Option<Rate>,
    /// The limit on requests to each workload cluster; `None` sets none.
    pub(crate) workload_api: Option<Rate>,
    /// How long a bootstrap token lives unless it is refreshed.
    pub(crate) bootstrap_token_ttl: Duration,
    /// Where webhooks are served; `None` turns them off.
    pub(crate) webhooks: Option<Webhooks>,
    /// The oldest TLS that is spoken.
    pub(crate) tls_min_version: TlsVersion,
    /// Where health is served; `None` turns it off.
    pub(crate) health: Option<Address>,
    /// Where metrics are served; `None` turns them off.
    pub(crate) diagnostics: Option<Address>,
    /// Whether metrics are served over plain HTTP to everybody.
    pub(crate) insecure_diagnostics: bool,
    pub(crate) gates: Gates,
    pub(crate) log_format: LogFormat,
    /// How much is logged, from 0 to 5.
    pub(crate) verbosity: u8,
}

/// A kind of config that can be reconciled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ConfigKind {
    Windlass,
    /// That of the kubeadm bootstrap provider.
    Kubeadm,
}

impl ConfigKind {
    const ALL: [ConfigKind; 2] = [ConfigKind::Windlass, ConfigKind::Kubeadm];

    /// The kind in objects, and here.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ConfigKind::Windlass => Kind::Config.as_str(),
            ConfigKind::Kubeadm => Kind::Config.kubeadm(),
        }
    }

    pub(crate) fn group(self) -> &'static str {
        match self {
            ConfigKind::Windlass => GROUP,
            ConfigKind::Kubeadm => KUBEADM_GROUP,
        }
    }
}

/// The times of leader election: the deadline is shorter than the duration, and leaves room for a
/// second attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeaseTimes {
    /// How long others wait before they take over a lease that is not renewed.
    pub(crate) duration: Duration,
    /// How long the leader tries to renew before it gives up.
    pub(crate) renew_deadline: Duration,
    /// Pause between two attempts.
    pub(crate) retry_period: Duration,
}

/// How fast requests may follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate {
    /// Requests per second in the long run; more than zero.
    pub(crate) per_second: f64,
    /// Requests that may come at once; at least one.
    pub(crate) burst: u32,
}

/// Where webhooks are served, and with which certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Webhooks {
    /// The port, on all addresses.
    pub(crate) port: u16,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsVersion {
    Tls12,
    Tls13,
}

/// An address to listen on, as Go has it: `:9440` is that port on all addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// The host or its address; `None` means all addresses.
    pub(crate) host: Option<String>,
    pub(crate) port: u16,
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Some(host) if host.contains(':') => write!(formatter, "[{host}]:{}", self.port),
            host => write!(
                formatter,
                "{}:{}",
                host.as_deref().unwrap_or_default(),
                self.port
            ),
        }
    }
}

/// Experimental parts, under the names that Cluster API gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gates {
    /// Whether MachinePools are served.
    pub(crate) machine_pool: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// As klog does.
    Text,
    /// As Kubernetes' components do for `json`.
    Json,
}

/// Reads the arguments that follow the program's name.
///
/// # Errors
/// One sentence that names the argument and shows what to write.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Command, String> {
    match Given::read(arguments)? {
        Reading::Flags(given) => given.flags().map(|flags| Command::Run(Box::new(flags))),
        Reading::Help => Ok(Command::Print(help())),
        Reading::Version => Ok(Command::Print(format!(
            "windlass-manager {}\n",
            crate::VERSION
        ))),
    }
}

fn help() -> String {
    let mut text = "Fulfils Cluster API's bootstrap contract for WindlassConfigs and, where asked to, KubeadmConfigs.\nUsage: windlass-manager [FLAGS]\n\n".to_owned();
    let left = |flag: &Flag| {
        let short = if flag.name.len() == 1 {
            format!("-{}, ", flag.name)
        } else {
            "    ".to_owned()
        };
        let value = match flag.takes {
            Takes::Switch => "",
            Takes::Text => " TEXT",
            Takes::List => " TEXT,…",
            Takes::Number => " NUMBER",
            Takes::Duration => " DURATION",
        };
        format!("{short}--{}{value}", flag.name)
    };
    let width = FLAGS
        .iter()
        .map(|flag| left(flag).chars().count())
        .max()
        .unwrap_or_default();
    for flag in FLAGS {
        let default = if flag.default.is_empty() {
            String::new()
        } else {
            format!(" (default {})", flag.default)
        };
        text.push_str(&format!(
            "  {:width$}  {}{default}\n",
            left(flag),
            flag.help
        ));
    }
    text
}

enum Reading {
    Flags(Given),
    Help,
    Version,
}

/// The values that were given, by flag, in their order.
#[derive(Default)]
struct Given(BTreeMap<&'static str, Vec<String>>);

impl Given {
    fn read(arguments: impl IntoIterator<Item = String>) -> Result<Reading, String> {
        let mut given = Given::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (name, value) = split(&argument)?;
            match name {
                "help" | "h" => return Ok(Reading::Help),
                "version" => return Ok(Reading::Version),
                _ => {}
            }
            let flag = FLAGS
                .iter()
                .find(|flag| flag.name == name)
                .ok_or_else(|| unknown(&argument, name))?;
            let value = match (value, flag.takes) {
                (Some(value), _) => value.to_owned(),
                (None, Takes::Switch) => "true".to_owned(),
                (None, _) => arguments
                    .next()
                    .ok_or_else(|| format!("{argument} lacks its value: {}", write(flag)))?,
            };
            given.0.entry(flag.name).or_default().push(value);
        }
        Ok(Reading::Flags(given))
    }

    fn flags(&self) -> Result<Flags, String> {
        Ok(Flags {
            leader_elect: self.switch("leader-elect")?,
            lease: self.lease()?,
            kinds: self.kinds()?,
            namespaces: self.list("namespace").into_iter().collect(),
            watch_filter: self.some_text("watch-filter"),
            concurrency: self.at_least("windlassconfig-concurrency", 1)?,
            sync_period: self.duration("sync-period")?,
            kubeconfig: self.some_text("kubeconfig").map(PathBuf::from),
            kube_api: self.rate("kube-api-qps", "kube-api-burst")?,
            workload_api: self.rate("clustercache-client-qps", "clustercache-client-burst")?,
            bootstrap_token_ttl: self.token_ttl()?,
            webhooks: self.webhooks()?,
            tls_min_version: self.one_of(
                "tls-min-version",
                &[
                    ("VersionTLS12", TlsVersion::Tls12),
                    ("VersionTLS13", TlsVersion::Tls13),
                ],
            )?,
            health: self.address("health-addr")?,
            diagnostics: self.address("diagnostics-address")?,
            insecure_diagnostics: self.switch("insecure-diagnostics")?,
            gates: self.gates()?,
            log_format: self.one_of(
                "logging-format",
                &[("text", LogFormat::Text), ("json", LogFormat::Json)],
            )?,
            verbosity: self.at_least::<u32>("v", 0)?.min(5) as u8,
        })
    }

    /// The last value, or the default.
    fn text(&self, name: &str) -> &str {
        self.0
            .get(name)
            .and_then(|values| values.last())
            .map_or_else(|| of_table(name).default, String::as_str)
    }

    fn some_text(&self, name: &str) -> Option<String> {
        Some(self.text(name).to_owned()).filter(|text| !text.is_empty())
    }

    /// All values, cut at commas; those that are empty do not count.
    fn list(&self, name: &str) -> Vec<String> {
        let default = [of_table(name).default.to_owned()];
        let values = self.0.get(name).map_or(&default[..], Vec::as_slice);
        values
            .iter()
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// What Go's `strconv.ParseBool` takes.
    fn switch(&self, name: &str) -> Result<bool, String> {
        bool_of(self.text(name)).ok_or_else(|| self.fault(name, "it is true or false"))
    }

    fn at_least<N: FromStr + PartialOrd + fmt::Display>(
        &self,
        name: &str,
        least: N,
    ) -> Result<N, String> {
        let number = self
            .text(name)
            .parse()
            .ok()
            .filter(|number| *number >= least);
        number.ok_or_else(|| self.fault(name, &format!("it is a whole number from {least} on")))
    }

    /// A length of time that is longer than none.
    fn duration(&self, name: &str) -> Result<Duration, String> {
        let length =
            GoDuration::parse(self.text(name)).map_err(|fault| self.fault(name, &fault))?;
        let nanoseconds = u64::try_from(length.as_nanoseconds())
            .ok()
            .filter(|length| *length > 0);
        nanoseconds
            .map(Duration::from_nanos)
            .ok_or_else(|| self.fault(name, "it is more than 0s"))
    }

    fn kinds(&self) -> Result<BTreeSet<ConfigKind>, String> {
        const NAME: &str = "kinds";
        let given = self.list(NAME);
        let words = || ConfigKind::ALL.into_iter().map(ConfigKind::as_str);
        let known = |word: &String| {
            ConfigKind::ALL
                .into_iter()
                .find(|kind| kind.as_str() == word)
        };
        if let Some(unknown) = given.iter().find(|word| known(word).is_none()) {
            let line = nearest(unknown, words()).map_or_else(
                || write(of_table(NAME)),
                |word| format!("write --{NAME}={word}"),
            );
            return Err(format!(
                "--{NAME}: {unknown} is not a kind that is reconciled, those are {}; {line}",
                words().collect::<Vec<_>>().join(" and ")
            ));
        }
        let kinds: BTreeSet<ConfigKind> = given.iter().filter_map(known).collect();
        if kinds.is_empty() {
            return Err(self.fault(NAME, "it names one kind at least"));
        }
        if kinds.contains(&ConfigKind::Kubeadm) && !self.switch("leader-elect")? {
            return Err(format!(
                "--{NAME}={} needs leader election, so that no two managers work on KubeadmConfigs: write --leader-elect",
                given.join(",")
            ));
        }
        Ok(kinds)
    }

    /// A token is refreshed at a third of its life, and a machine takes its time to boot.
    fn token_ttl(&self) -> Result<Duration, String> {
        const NAME: &str = "bootstrap-token-ttl";
        let ttl = self.duration(NAME)?;
        if ttl >= Duration::from_secs(60) {
            Ok(ttl)
        } else {
            Err(self.fault(NAME, "it is 1m at least"))
        }
    }

    fn one_of<T: Copy>(&self, name: &str, known: &[(&str, T)]) -> Result<T, String> {
        let found = known.iter().find(|(word, _)| *word == self.text(name));
        let words = || {
            known
                .iter()
                .map(|(word, _)| *word)
                .collect::<Vec<_>>()
                .join(" or ")
        };
        found
            .map(|(_, value)| *value)
            .ok_or_else(|| self.fault(name, &format!("it is {}", words())))
    }

    fn rate(&self, qps: &str, burst: &str) -> Result<Option<Rate>, String> {
        let number: Option<f64> = self
            .text(qps)
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite() && *number >= 0.0);
        let per_second = number.ok_or_else(|| self.fault(qps, "it is a number from 0 on"))?;
        let burst = self.at_least(burst, 1)?;
        Ok((per_second > 0.0).then_some(Rate { per_second, burst }))
    }

    fn lease(&self) -> Result<LeaseTimes, String> {
        let [duration, deadline, pause] = [
            "leader-elect-lease-duration",
            "leader-elect-renew-deadline",
            "leader-elect-retry-period",
        ];
        let times = LeaseTimes {
            duration: self.duration(duration)?,
            renew_deadline: self.duration(deadline)?,
            retry_period: self.duration(pause)?,
        };
        if times.duration < Duration::from_secs(1) {
            return Err(self.fault(duration, "a Lease counts in seconds: it is at least 1s"));
        }
        if times.duration <= times.renew_deadline {
            return Err(self.fault(
                duration,
                &format!(
                    "it is more than --{deadline}, which is {}",
                    self.text(deadline)
                ),
            ));
        }
        if times.renew_deadline <= times.retry_period.mul_f64(1.2) {
            return Err(self.fault(
                deadline,
                &format!(
                    "it is more than 1.2 times --{pause}, which is {}",
                    self.text(pause)
                ),
            ));
        }
        Ok(times)
    }

    fn webhooks(&self) -> Result<Option<Webhooks>, String> {
        let port: u16 = self
            .text("webhook-port")
            .parse()
            .map_err(|_| self.fault("webhook-port", "it is a port from 0 to 65535"))?;
        let folder = PathBuf::from(self.text("webhook-cert-dir"));
        let file = |name: &str| folder.join(self.text(name));
        Ok((port != 0).then(|| Webhooks {
            port,
            certificate: file("webhook-cert-name"),
            key: file("webhook-key-name"),
        }))
    }

    /// An address as Go listens on it. Empty and `0` mean none, as in controller-runtime.
    fn address(&self, name: &str) -> Result<Option<Address>, String> {
        let text = self.text(name);
        if text.is_empty() || text == "0" {
            return Ok(None);
        }
        let fault = || self.fault(name, "it is HOST:PORT, or :PORT for all addresses");
        let (host, port) = text.rsplit_once(':').ok_or_else(fault)?;
        let port = port.parse().map_err(|_| fault())?;
        let bracketed = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        if bracketed.is_none() && host.contains(':') {
            return Err(fault());
        }
        let host = bracketed.unwrap_or(host);
        Ok(Some(Address {
            host: (!host.is_empty()).then(|| host.to_owned()),
            port,
        }))
    }

    fn gates(&self) -> Result<Gates, String> {
        let mut gates = Gates { machine_pool: true };
        for item in self.list("feature-gates") {
            let setting = item
                .split_once('=')
                .and_then(|(name, value)| Some((name.trim(), bool_of(value.trim())?)));
            match setting {
                Some(("MachinePool", value)) => gates.machine_pool = value,
                Some((name, _)) => {
                    return Err(self.fault(
                        "feature-gates",
                        &format!("there is no gate {name}, only MachinePool"),
                    ));
                }
                None => {
                    return Err(self.fault(
                        "feature-gates",
                        &format!("{item} is not NAME=true or NAME=false"),
                    ));
                }
            }
        }
        Ok(gates)
    }

    fn fault(&self, name: &str, why: &str) -> String {
        let values = self.0.get(name).map_or_else(
            || of_table(name).default.to_owned(),
            |values| values.join(","),
        );
        format!(
            "--{name}={values} cannot be: {why}; {}",
            write(of_table(name))
        )
    }
}

/// The name and the value of an argument, as pflag cuts it: two dashes before a long name, one or
/// two before a single letter.
fn split(argument: &str) -> Result<(&str, Option<&str>), String> {
    let stray = || {
        format!("{argument} is not a flag: windlass-manager takes only flags, which --help lists")
    };
    if let Some(long) = argument.strip_prefix("--").filter(|long| !long.is_empty()) {
        let (name, value) = long
            .split_once('=')
            .map_or((long, None), |(name, value)| (name, Some(value)));
        return Ok((name, value));
    }
    let short = argument.strip_prefix('-').ok_or_else(stray)?;
    let end = short.chars().next().ok_or_else(stray)?.len_utf8();
    let (name, rest) = short.split_at(end);
    let word = short.split('=').next().unwrap_or_default();
    if word.len() > end && FLAGS.iter().any(|flag| flag.name == word) {
        return Err(format!("{argument} has one dash: write -{argument}"));
    }
    Ok((
        name,
        (!rest.is_empty()).then(|| rest.strip_prefix('=').unwrap_or(rest)),
    ))
}

fn unknown(argument: &str, name: &str) -> String {
    let meant = nearest(name, FLAGS.iter().map(|flag| flag.name)).map(|name| write(of_table(name)));
    format!(
        "there is no flag {argument}: {}",
        meant.as_deref().unwrap_or("--help lists the flags")
    )
}

/// How a flag is written, with its default or a word in its place.
fn write(flag: &Flag) -> String {
    let value = match (flag.default, flag.takes) {
        ("", Takes::Number) => "1",
        ("", _) if flag.name == "feature-gates" => "MachinePool=true",
        ("", _) => "TEXT",
        (default, _) => default,
    };
    format!("write --{}={value}", flag.name)
}

fn bool_of(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn of_table(name: &str) -> &'static Flag {
    FLAGS
        .iter()
        .find(|flag| flag.name == name)
        .expect("internal error: a flag that the table does not have")
}
