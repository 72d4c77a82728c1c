//! The log, as Cluster API's managers write theirs (book: "Logging"): klog's text or the JSON of
//! Kubernetes' components, on standard error.
//!
//! Keys of Kubernetes objects are their kinds in upper camel case, with `NAMESPACE/NAME` as the
//! value; all other keys are in lower camel case, and `err` is the error's. What a span holds
//! is in every line that is written in it. A warning counts as klog's level 0, an info
//! as 2, a debug as 4 and a trace as 5.

use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::path::Path;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::flags::LogFormat;

pub(crate) fn begin(format: LogFormat, verbosity: u8) {
    // What cannot be written to standard error can be said nowhere.
    let write = |line: &str| drop(std::io::stderr().lock().write_all(line.as_bytes()));
    tracing_subscriber::registry()
        .with(Lines {
            format,
            verbosity,
            write,
        })
        .init();
}

struct Lines<W> {
    format: LogFormat,
    verbosity: u8,
    write: W,
}

/// Key and value in their order; the message is not among them.
#[derive(Default)]
struct Fields {
    message: String,
    pairs: Vec<(&'static str, Value)>,
}

impl Fields {
    /// A key that comes again replaces the first.
    fn set(&mut self, key: &'static str, value: Value) {
        match self.pairs.iter_mut().find(|(known, _)| *known == key) {
            Some(pair) => pair.1 = value,
            None => self.pairs.push((key, value)),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.set(name, format!("{value:?}").into()),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message = value.to_owned(),
            name => self.set(name, value.into()),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field.name(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field.name(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field.name(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field.name(), value.into());
    }
}

impl<W, S> Layer<S> for Lines<W>
where
    W: Fn(&str) + 'static,
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    /// Of what the dependencies say only errors are written, and warnings of kube's watches. Of
    /// kube's client nothing is: it warns with the whole text of an answer that it cannot read,
    /// which may be a Secret, and its errors are returned to who asked.
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        let least = match metadata.target().split("::").next().unwrap_or_default() {
            "windlass_manager" | "windlass" => level(self.verbosity),
            "kube_runtime" => Level::WARN,
            "kube_client" => return false,
            _ => Level::ERROR,
        };
        *metadata.level() <= least
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        for span in context
            .event_scope(event)
            .into_iter()
            .flat_map(tracing_subscriber::registry::Scope::from_root)
        {
            if let Some(of_span) = span.extensions().get::<Fields>() {
                of_span
                    .pairs
                    .iter()
                    .for_each(|(key, value)| fields.set(key, value.clone()));
            }
        }
        event.record(&mut fields);
        let line = match self.format {
            LogFormat::Text => text(Timestamp::now(), event.metadata(), &fields),
            LogFormat::Json => json(Timestamp::now(), event.metadata(), &fields),
        };
        (self.write)(&line);
    }
}

/// The least that is still written at a verbosity.
fn level(verbosity: u8) -> Level {
    match verbosity {
        0 | 1 => Level::WARN,
        2 | 3 => Level::INFO,
        4 => Level::DEBUG,
        _ => Level::TRACE,
    }
}

/// The level of klog; an error has none.
fn verbosity(level: Level) -> Option<u8> {
    match level {
        Level::ERROR => None,
        Level::WARN => Some(0),
        Level::INFO => Some(2),
        Level::DEBUG => Some(4),
        Level::TRACE => Some(5),
    }
}

/// klog: `I0102 03:04:05.678901       1 run.rs:12] "Message" key="value"`.
fn text(now: Timestamp, metadata: &Metadata<'_>, fields: &Fields) -> String {
    let severity = match *metadata.level() {
        Level::ERROR => 'E',
        Level::WARN => 'W',
        _ => 'I',
    };
    let file = Path::new(metadata.file().unwrap_or("?"))
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let (line, process) = (metadata.line().unwrap_or_default(), std::process::id());
    let now = now.strftime("%m%d %H:%M:%S%.6f");
    let mut text = format!(
        "{severity}{now} {process:>7} {file}:{line}] {:?}",
        fields.message
    );
    for (key, value) in &fields.pairs {
        let written = match value {
            Value::String(value) => write!(text, " {key}={value:?}"),
            other => write!(text, " {key}={other}"),
        };
        written.expect("internal error: a String takes all that is written");
    }
    text.push('\n');
    text
}

/// `k8s.io/component-base/logs/json`:
/// `{"ts":1136214245678.901,"caller":"manager/run.rs:12","msg":"Message","v":2,"key":"value"}`.
fn json(now: Timestamp, metadata: &Metadata<'_>, fields: &Fields) -> String {
    let mut object = Map::new();
    object.insert("ts".to_owned(), json!(now.as_microsecond() as f64 / 1000.0));
    let file = metadata.file().unwrap_or("?");
    let short = file
        .rmatch_indices('/')
        .nth(1)
        .map_or(file, |(at, _)| &file[at + 1..]);
    object.insert(
        "caller".to_owned(),
        json!(format!("{short}:{}", metadata.line().unwrap_or_default())),
    );
    object.insert("msg".to_owned(), json!(fields.message));
    if let Some(verbosity) = verbosity(*metadata.level()) {
        object.insert("v".to_owned(), json!(verbosity));
    }
    for (key, value) in &fields.pairs {
        object.insert(
            (*key).to_owned(),
            object_reference(key, value).unwrap_or_else(|| value.clone()),
        );
    }
    format!("{}\n", Value::Object(object))
}

/// klog's `KObj`: what is under a kind, as an object with name and namespace.
fn object_reference(key: &str, value: &Value) -> Option<Value> {
    let text = value
        .as_str()
        .filter(|_| key.starts_with(|c: char| c.is_ascii_uppercase()))?;
    Some(text.split_once('/').map_or_else(
        || json!({"name": text}),
        |(namespace, name)| json!({"name": name, "namespace": namespace}),
    ))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// What is logged while `work` runs on this thread.
    pub(crate) fn logged(format: LogFormat, verbosity: u8, work: impl FnOnce()) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = lines.clone();
        let write = move |line: &str| kept.lock().unwrap().push(line.trim_end().to_owned());
        tracing::subscriber::with_default(
            tracing_subscriber::registry().with(Lines {
                format,
                verbosity,
                write,
            }),
            work,
        );
        let lines = lines.lock().unwrap();
        lines.clone()
    }

    fn reconcile() {
        let span = tracing::error_span!("reconcile", controller = "windlassconfig", WindlassConfig = %"default/worker", reconcileID = "1-2");
        let _entered = span.enter();
        tracing::info!(Cluster = %"default/c", requeues = 3, "Creating Secret default/worker");
        tracing::error!(err = %"it is \"full\"", "Reconciler error");
    }

    /// The form is that of klog's `InfoS` and `ErrorS`.
    #[test]
    fn text_is_klogs() {
        let lines = logged(LogFormat::Text, 2, reconcile);
        let (head, rest) = lines[0].split_once("] ").expect("klog ends its header so");
        assert!(head.starts_with('I') && head.contains(" log.rs:"), "{head}");
        let span =
            "controller=\"windlassconfig\" WindlassConfig=\"default/worker\" reconcileID=\"1-2\"";
        assert_eq!(
            rest,
            format!("\"Creating Secret default/worker\" {span} Cluster=\"default/c\" requeues=3")
        );
        assert!(
            lines[1].starts_with('E')
                && lines[1].ends_with(&format!(
                    "\"Reconciler error\" {span} err=\"it is \\\"full\\\"\""
                )),
            "{}",
            lines[1]
        );
    }

    #[test]
    fn json_has_the_keys_of_kubernetes_components() {
        let lines: Vec<Value> = logged(LogFormat::Json, 2, reconcile)
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0]["msg"], "Creating Secret default/worker");
        assert_eq!(lines[0]["v"], 2);
        assert!(lines[0]["ts"].as_f64().unwrap() > 1.7e12, "{}", lines[0]);
        assert!(
            lines[0]["caller"]
                .as_str()
                .unwrap()
                .starts_with("src/log.rs:"),
            "{}",
            lines[0]
        );
        assert_eq!(
            lines[0]["WindlassConfig"],
            json!({"name": "worker", "namespace": "default"})
        );
        assert_eq!(lines[0]["reconcileID"], "1-2");
        assert_eq!(lines[1]["err"], "it is \"full\"");
        assert_eq!(lines[1].get("v"), None);
    }

    #[test]
    fn verbosity_decides_what_is_written() {
        let all = || {
            tracing::error!("Error");
            tracing::warn!("Warning");
            tracing::info!("Info");
            tracing::debug!("Debug");
            tracing::trace!("Trace");
        };
        for (verbosity, expected) in [(0, 2), (1, 2), (2, 3), (3, 3), (4, 4), (5, 5)] {
            assert_eq!(
                logged(LogFormat::Text, verbosity, all).len(),
                expected,
                "{verbosity}"
            );
        }
    }

    /// kube's client warns with the text of an answer that it cannot read.
    #[test]
    fn answers_that_kube_cannot_read_stay_out_of_the_log() {
        let lines = logged(LogFormat::Json, 5, || {
            tracing::warn!(target: "kube_client::client", "{{\"data\": \"c2VjcmV0\"}}, expected a map");
            tracing::error!(target: "kube_client::client::builder", "Failed with error");
            tracing::warn!(target: "hyper", "Warning");
            tracing::error!(target: "hyper", "Error");
        });
        assert_eq!(lines.len(), 1, "{lines:?}");
    }
}
