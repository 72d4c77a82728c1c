//! The verdicts of `windlass validate` beside those of Cluster API's own webhooks, behind the API
//! server's validation: random objects of all kinds of core and kubeadm, created in two releases.

mod random;
mod release;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use windlass_bootstrap::render::{FeatureGates, Pool, Profile, Request};
use windlass_checks::commands::validate::{self, Judged};
use windlass_source::Source;

use crate::harness::runner::Context;
use random::Generator;
use release::{Answer, Release};

/// The environment variable with the number of objects for each release.
const COUNT: &str = "WINDLASS_E2E_OBJECTS";
/// The number without it.
const USUAL: usize = 1500;
/// The number of objects of a run.
const AT_ONCE: usize = 500;
/// The most differences that are printed.
const SHOWN: usize = 40;

/// Rules that report what the API server or a webhook rejects. `core-object-partial` is the one for
/// objects without required fields, which may be patches.
const REJECTIONS: [&str; 20] = [
    "cluster-network-rejected",
    "config-admission-rejected",
    "config-field-missing",
    "config-field-unknown",
    "config-rule-broken",
    "config-token-malformed",
    "config-value-not-convertible",
    "config-value-rejected",
    "config-version-unknown",
    "core-admission-rejected",
    "core-field-missing",
    "core-field-unknown",
    "core-object-partial",
    "core-rule-broken",
    "core-value-rejected",
    "object-metadata-rejected",
    "topology-class-rejected",
    "topology-cluster-rejected",
    "topology-part-empty",
    "topology-variable-rejected",
];

pub(crate) fn objects_of_v1_12_are_judged_alike(context: &Context) {
    compare(context, Release("v1.12.10"));
}

pub(crate) fn objects_of_v1_14_are_judged_alike(context: &Context) {
    compare(context, Release("v1.14.2"));
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn compare(context: &Context, release: Release) {
    let count = std::env::var(COUNT).map_or(USUAL, |count| {
        count
            .parse()
            .unwrap_or_else(|_| panic!("{COUNT}={count} is not a number"))
    });
    let mut generator = Generator::new(release);
    let objects: Vec<Value> = (0..count).map(|_| generator.object()).collect();
    let classes = classes();
    let (theirs, ours) = std::thread::scope(|scope| {
        let theirs = scope.spawn(|| release.run(context.folder(), &objects, &classes));
        let ours = run(release, &objects, &classes);
        (theirs.join().expect("the peer gives an answer"), ours)
    });
    assert_eq!(theirs.len(), objects.len(), "the peer answers each case");
    let mut ended: BTreeMap<String, usize> = BTreeMap::new();
    let mut different: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((object, theirs), ours) in objects.iter().zip(&theirs).zip(&ours) {
        let kind = text(&object["kind"]);
        let by = if theirs.rejected_by.is_empty() {
            "accepted"
        } else {
            &theirs.rejected_by
        };
        *ended.entry(format!("{kind} {by}")).or_default() += 1;
        if let Err((title, detail)) = agree(theirs, ours) {
            let shown = format!("{detail}\n  {object}");
            different
                .entry(format!("{kind}: {title}"))
                .or_default()
                .push(shown);
        }
    }
    println!("  {count} objects: {ended:?}");
    let total: usize = different.values().map(Vec::len).sum();
    let shown = different.iter().flat_map(|(title, all)| {
        let each = SHOWN.div_ceil(different.len());
        all.iter()
            .take(each)
            .map(move |one| format!("{title} ({} in all): {one}", all.len()))
    });
    let shown: Vec<String> = shown.collect();
    assert!(
        total == 0,
        "{total} of {count} differ:\n{}",
        shown.join("\n")
    );
    let accepted = theirs
        .iter()
        .filter(|theirs| theirs.rejected_by.is_empty())
        .count();
    assert!(accepted > count / 4, "only {accepted} were accepted");
}

/// The ClusterClasses of the random Clusters.
fn classes() -> Vec<Value> {
    let reference = |kind: &str| json!({"templateRef": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": kind, "name": "t"}});
    let worker = json!({"class": "worker", "bootstrap": reference("DevConfigTemplate"), "infrastructure": reference("DevMachineTemplate")});
    let class = |name: &str, machines: bool, variables: Value| {
        let mut control_plane = reference("DevControlPlaneTemplate");
        if machines {
            control_plane["machineInfrastructure"] = reference("DevMachineTemplate");
        }
        json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterClass", "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "infrastructure": reference("DevClusterTemplate"), "controlPlane": control_plane,
                "workers": {"machineDeployments": [worker], "machinePools": [worker]}, "variables": variables,
            },
        })
    };
    let count = json!({"name": "count", "required": true, "schema": {"openAPIV3Schema": {"type": "integer", "minimum": 3}}});
    let tier = json!({"name": "tier", "required": false, "schema": {"openAPIV3Schema": {"type": "string", "enum": ["small", "large"], "default": "small"}}});
    vec![
        class("random-class", true, json!([count, tier])),
        class("plain-class", false, json!([count])),
    ]
}

/// What windlass reports of an object.
#[derive(Default)]
struct Findings {
    /// Rule, path, message.
    all: Vec<(String, String, String)>,
    upstream: BTreeSet<String>,
}

/// What `windlass validate` reports of all objects.
fn run(release: Release, objects: &[Value], classes: &[Value]) -> Vec<Findings> {
    let request = Request {
        profile: Profile::parse(release.0).expect("the release is known"),
        show_secrets: true,
        feature_gates: FeatureGates {
            ignition: true,
            machine_taints: true,
            ..FeatureGates::default()
        },
        ..Request::new()
    };
    let batches = objects.chunks(AT_ONCE);
    batches
        .flat_map(|batch| findings(&request, batch, classes))
        .collect()
}

fn findings(request: &Request, objects: &[Value], classes: &[Value]) -> Vec<Findings> {
    let request = Request {
        budget: Arc::default(),
        ..request.clone()
    };
    let classes = classes.iter().map(|class| ("class".to_owned(), class));
    let sources: Vec<Source> = objects
        .iter()
        .enumerate()
        .map(|(number, object)| (number.to_string(), object))
        .chain(classes)
        .map(|(name, object)| Source::new(name, as_yaml(object)))
        .collect();
    let (pool, report) = Pool::read(&sources, &request.budget);
    let judged = Judged::new(pool, &request);
    let mut rendering = judged.render(&request);
    let validation = validate::run(&judged, &request, &mut rendering, true);
    let mut all: Vec<Findings> = objects.iter().map(|_| Findings::default()).collect();
    let findings = report.findings().iter().chain(validation.report.findings());
    for finding in findings.filter(|finding| REJECTIONS.contains(&finding.rule.id)) {
        let number = finding
            .place
            .file
            .as_ref()
            .and_then(|file| file.parse::<usize>().ok());
        if let Some(found) = number.and_then(|number| all.get_mut(number)) {
            let (path, message) = (finding.place.path.to_string(), finding.message.to_string());
            found.all.push((finding.rule.id.to_owned(), path, message));
            found
                .upstream
                .extend(finding.upstream.as_ref().map(ToString::to_string));
        }
    }
    all
}

/// An object as JSON, which is read as YAML: some characters end a line there.
fn as_yaml(object: &Value) -> String {
    ['\u{85}', '\u{2028}', '\u{2029}']
        .into_iter()
        .fold(object.to_string(), |text, end| {
            text.replace(end, &format!("\\u{:04x}", end as u32))
        })
}

/// Whether both accept the object, or reject it for the same reasons.
fn agree(theirs: &Answer, ours: &Findings) -> Result<(), (String, String)> {
    let accepted = (theirs.rejected_by.is_empty(), ours.all.is_empty());
    let all = &ours.all;
    match accepted {
        (true, true) => Ok(()),
        (true, false) => {
            let rules: BTreeSet<&str> = all.iter().map(|(rule, ..)| rule.as_str()).collect();
            Err((
                format!("accepted there, {rules:?} here"),
                format!("{all:?}"),
            ))
        }
        (false, true) if is_patch(theirs) => Ok(()),
        (false, true) => Err((
            format!("rejected by {} there, accepted here", theirs.rejected_by),
            theirs.message.clone(),
        )),
        (false, false) if ["webhook", "mutation"].contains(&theirs.rejected_by.as_str()) => {
            same_message(theirs, ours)
        }
        (false, false) => Ok(()),
    }
}

/// What API machinery of v1.12 says in other words than that of v1.14; reports have the newest.
const REWORDED: [(&str, &str); 2] = [
    (
        "must be no more than 63 characters",
        "must be no more than 63 bytes",
    ),
    (
        "a qualified name must consist",
        "a valid label key must consist",
    ),
];

/// Where a message goes on in the words of a library of Go: the decoder of JSON, the parser of
/// regular expressions. Reports have their own.
const OF_LIBRARIES: [&str; 2] = [
    "json: cannot unmarshal",
    "must be a valid regular expression, but isn't: ",
];

/// Rules in CEL that do not compile: upstream checks types, quotes the rule and a place in it, and
/// reports faults of its compiler at another field from run to run. Only the verdict is compared.
const OF_CEL: [&str; 4] = [
    "compilation failed: ",
    "internal error: failed to construct type information",
    "rule compile error: ",
    "rule compiler initialization error",
];

/// Whether our messages have each of their reasons.
fn same_message(theirs: &Answer, ours: &Findings) -> Result<(), (String, String)> {
    let own = ours.all.iter().map(|(_, _, message)| message);
    let messages: Vec<&String> = ours.upstream.iter().chain(own).collect();
    let has_message = |reason: &str| messages.iter().any(|message| message.contains(reason));
    let comparable = |reason: String| {
        let end = OF_LIBRARIES.iter().find_map(|words| reason.find(words));
        let reason = &reason[..end.unwrap_or(reason.len())];
        let newest = |text: String, (old, new): &(&str, &str)| text.replace(old, new);
        REWORDED.iter().fold(reason.to_owned(), newest)
    };
    // Upstream fills in an empty part and rejects that.
    let missing = |(rule, path, message): &(String, String, String)| {
        let is_missing = rule.ends_with("-field-missing")
            || rule == "core-object-partial"
            || message.ends_with(": Required value");
        is_missing.then(|| path.clone())
    };
    let missing: Vec<String> = ours.all.iter().filter_map(missing).collect();
    let is_below_missing = |reason: &str| missing.iter().any(|path| reason.starts_with(path));
    // On the way from v1beta1, v1.12 mixes up the selectors of patches with one name.
    let are_names_repeated = has_message("patch names must be unique");
    let is_mixed_up = |reason: &str| are_names_repeated && reason.contains("no selector enabled");
    // Of a schema that cannot be compiled we report no more; upstream goes on in it.
    let own = ours.all.iter().map(|(_, _, message)| message.as_str());
    let unread: Vec<&str> = own
        .filter_map(|message| {
            message.split_once(": Invalid value: \"\": failed to build validator")
        })
        .map(|(schema, _)| schema)
        .collect();
    let is_of_unread_schema = |reason: &str| unread.iter().any(|path| reason.starts_with(path));
    let reasons: Vec<String> = theirs
        .reasons()
        .into_iter()
        .filter(|reason| !is_of_absent_template(reason) && !is_below_missing(reason))
        .filter(|reason| !is_mixed_up(reason))
        .filter(|reason| !OF_CEL.iter().any(|fault| reason.contains(fault)))
        .filter(|reason| !is_of_unread_schema(reason))
        .map(comparable)
        .collect();
    match reasons.iter().find(|reason| !has_message(reason)) {
        None => Ok(()),
        Some(reason) => {
            let detail = format!("{reason}\n  ours: {:?}\n  {:?}", ours.upstream, ours.all);
            Err(("another message".to_owned(), detail))
        }
    }
}

/// Whether only templates are missing: such a ClusterClass may be a patch.
fn is_patch(theirs: &Answer) -> bool {
    theirs
        .reasons()
        .iter()
        .all(|reason| is_of_absent_template(reason))
}

/// A ClusterClass that no Cluster uses may be a patch for one: a template that it lacks is not
/// reported.
fn is_of_absent_template(reason: &str) -> bool {
    let is_kind = reason.contains(".ref.kind: Invalid value: \"\": template kind");
    is_kind || (reason.contains(".ref.") && reason.contains("Required value: template "))
}
