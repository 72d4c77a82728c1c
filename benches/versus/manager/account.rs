//! Who asked the API server for what, and when: its audit log.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use serde_json::Value;

use super::site::{Site, WORKLOAD};
use crate::harness::audit;

/// A request.
pub(super) struct Request {
    /// Whether it was asked of the workload cluster.
    pub(super) is_of_workload: bool,
    pub(super) verb: String,
    /// The plural, for a subresource with its name behind a slash.
    pub(super) resource: String,
    pub(super) name: String,
    pub(super) code: u64,
    /// When it was answered, in seconds since 1970.
    pub(super) at: f64,
}

/// Seconds since 1970.
pub(super) fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("it is later than 1970")
        .as_secs_f64()
}

/// All requests of service accounts for resources so far.
pub(super) fn requests(site: &Site) -> Vec<Request> {
    audit::events(&site.plane)
        .iter()
        .filter_map(request)
        .collect()
}

fn request(event: &Value) -> Option<Request> {
    let object = event["objectRef"].as_object()?;
    let text = |field: &str| {
        object
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let slash = if text("subresource").is_empty() {
        ""
    } else {
        "/"
    };
    Some(Request {
        is_of_workload: event["user"]["username"].as_str()?.ends_with(WORKLOAD),
        verb: event["verb"].as_str()?.to_owned(),
        resource: format!("{}{slash}{}", text("resource"), text("subresource")),
        name: text("name").to_owned(),
        code: event["responseStatus"]["code"].as_u64().unwrap_or_default(),
        at: event["stageTimestamp"]
            .as_str()?
            .parse::<Timestamp>()
            .ok()?
            .duration_since(Timestamp::UNIX_EPOCH)
            .as_secs_f64(),
    })
}

/// When each data Secret was made, the first first.
pub(super) fn made(requests: &[Request], is_data: impl Fn(&str) -> bool) -> Vec<(String, f64)> {
    let is_made = |request: &&Request| {
        !request.is_of_workload
            && request.verb == "create"
            && request.resource == "secrets"
            && request.code == 201
            && is_data(&request.name)
    };
    let mut made: Vec<_> = requests
        .iter()
        .filter(is_made)
        .map(|request| (request.name.clone(), request.at))
        .collect();
    made.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    made
}

/// How many requests there were for each of so many Machines, by cluster, verb, resource and
/// rejection; those that were rare together.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub(super) fn print(requests: &[Request], machines: usize) {
    for (is_of_workload, title) in [
        (false, "requests a Machine"),
        (true, "  of the workload cluster"),
    ] {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for request in requests
            .iter()
            .filter(|request| request.is_of_workload == is_of_workload)
        {
            let rejected = if request.code >= 400 {
                format!(" ({})", request.code)
            } else {
                String::new()
            };
            *counts
                .entry(format!("{} {}{rejected}", request.verb, request.resource))
                .or_default() += 1;
        }
        let each = |count: usize| count as f64 / machines as f64;
        let (many, few): (Vec<_>, Vec<_>) =
            counts.iter().partition(|(_, count)| each(**count) >= 0.05);
        let mut shown: Vec<String> = many
            .iter()
            .map(|(what, count)| format!("{what} {:.2}", each(**count)))
            .collect();
        let rest: usize = few.iter().map(|(_, count)| **count).sum();
        shown.push(format!("others {:.2}", each(rest)));
        println!(
            "    {title:<28} {:.2}: {}",
            each(counts.values().sum()),
            shown.join(", ")
        );
    }
}
