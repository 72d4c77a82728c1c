//! What the real topology controller makes of Clusters beside what `topology plan` says.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_objects::Pool;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Severity};
use windlass_topology::{Options, Planned, plan};

use super::comparison::{self, ELSEWHERE};
use super::inputs::{self, Input};
use super::{CORE, machines, placeholders, real_kinds};
use crate::harness::control_plane::ControlPlane;
use crate::harness::managers;
use crate::harness::runner::Context;
use crate::harness::{components, shared, wait};

const SOON: Duration = Duration::from_secs(60);

/// What a release rejects and later ones take, which are those of our plans: that patches replace a
/// whole `/spec` came with v1.12.10.
const TAKEN_LATER: &[(&str, &str)] = &[("v1.12.0", "jsonPatch path must start with \"/spec/\"")];

/// Cluster API v1.12.0 makes what we plan.
pub(crate) fn plans_are_what_v1_12_makes(context: &Context) {
    parity(context, "v1.12.0");
}

/// Cluster API v1.14.0 makes what we plan.
pub(crate) fn plans_are_what_v1_14_makes(context: &Context) {
    parity(context, "v1.14.0");
}

/// Classes of the corpus with a template that its own kind rejects as it stands, in which words.
const TEMPLATES_REJECTED: &[(&str, &str)] = &[(
    "test/extension/handlers/topologymutation/testdata/clusterclass-quick-start-runtimesdk.yaml",
    "spec.template.spec.joinConfiguration.nodeRegistration in body should have at least 1 properties",
)];

/// What the server and the controller did with an input.
#[derive(Debug)]
enum Fate {
    /// A template of a provider was rejected, in these words: there is nothing to compare.
    NoTemplate(String),
    /// It was rejected, in these words.
    Rejected(String),
    /// The controller has it; what it made is looked up.
    Taken,
}

/// What the classes of the corpus make with the CRDs of their own providers is what we plan, but
/// for what those CRDs fill in; and their machines boot from what we render. By Cluster API
/// v1.12.0.
pub(crate) fn plans_over_real_kinds_of_v1_12(context: &Context) {
    plans_over_real_kinds(context, "v1.12.0");
}

/// The same by Cluster API v1.14.0.
pub(crate) fn plans_over_real_kinds_of_v1_14(context: &Context) {
    plans_over_real_kinds(context, "v1.14.0");
}

fn plans_over_real_kinds(context: &Context, release: &str) {
    let rounds = real_kinds::rounds(inputs::of_providers());
    let round = |(at, mut inputs): (usize, Vec<Input>)| {
        let plane = context.another_control_plane(&format!("round-{at}"));
        components::apply(
            &plane,
            &shared::cluster_api(release).join("core-components.yaml"),
        );
        real_kinds::install(&plane, release, &mut inputs);
        managers::start(
            &plane,
            release,
            &[
                managers::CORE,
                managers::KUBEADM_BOOTSTRAP,
                managers::KUBEADM_CONTROL_PLANE,
            ],
        );
        plane.api.apply(&namespace(ELSEWHERE)).unwrap();
        inputs
            .iter_mut()
            .flat_map(|input| &mut input.objects)
            .for_each(|object| real_kinds::complete(&plane, object));
        let equal = compared(&plane, &inputs, release);
        let of_them: Vec<&Input> = inputs
            .iter()
            .filter(|input| equal.contains(&input.name))
            .collect();
        (
            equal,
            machines::are_what_is_rendered(&plane, context.folder(), release, &of_them),
        )
    };
    let (equal, machines): (Vec<_>, Vec<_>) = rounds.into_iter().enumerate().map(round).unzip();
    let (equal, machines) = (equal.concat(), machines.concat());
    let of_role = |role: &str| machines.iter().filter(|machine| **machine == role).count();
    println!(
        "  machines: {} of control planes, {} workers",
        of_role("init"),
        of_role("worker-join")
    );
    assert!(
        of_role("init") >= 10 && of_role("worker-join") >= 10,
        "{machines:?}"
    );
    let classes: BTreeSet<&str> = equal
        .iter()
        .map(|name| name.split(" of ").next().unwrap_or(name))
        .collect();
    println!(
        "  equal of all: {} Clusters of {} classes: {classes:#?}",
        equal.len(),
        classes.len()
    );
    assert!(
        equal.len() >= 20 && classes.len() >= 10,
        "only {} of {} classes were compared",
        equal.len(),
        classes.len()
    );
}

fn parity(context: &Context, release: &str) {
    let plane = context.control_plane();
    components::apply(
        &plane,
        &shared::cluster_api(release).join("core-components.yaml"),
    );
    let inputs = inputs::all();
    placeholders::install(&plane, inputs.iter().flat_map(|input| &input.objects));
    managers::start(&plane, release, &[managers::CORE]);
    what_is_empty_is_rejected(&plane);
    let equal = compared(&plane, &inputs, release).len();
    assert!(equal >= 40, "only {equal} were compared");
}

/// The inputs whose Clusters are equal. Panics when one differs.
fn compared(plane: &ControlPlane, inputs: &[Input], release: &str) -> Vec<String> {
    plane.api.apply(&namespace(ELSEWHERE)).unwrap();
    let fates: Vec<Fate> = inputs.iter().map(|input| submit(plane, input)).collect();
    let (mut equal, mut rejected, mut failures) = (Vec::new(), 0, Vec::new());
    for (input, fate) in inputs.iter().zip(&fates) {
        match judged(plane, input, fate, release) {
            Ok(true) => equal.push(input.name.clone()),
            Ok(false) => rejected += 1,
            Err(difference) => failures.push(format!("{}: {difference}", input.name)),
        }
    }
    println!(
        "  {} Clusters equal, {rejected} rejected by both",
        equal.len()
    );
    assert!(
        failures.is_empty(),
        "{} of {} differ:\n{}",
        failures.len(),
        inputs.len(),
        failures.join("\n")
    );
    equal
}

/// Parts of a topology that hold nothing are rejected by the server, of which a plan warns; Cluster
/// API's own types would leave them out.
fn what_is_empty_is_rejected(plane: &ControlPlane) {
    for part in ["controlPlane", "workers"] {
        let cluster = json!({
            "apiVersion": CORE, "kind": "Cluster", "metadata": {"name": "empty", "namespace": "default"},
            "spec": {"topology": {"classRef": {"name": "none"}, "version": "v1.34.1", part: {}}},
        });
        let rejection = wait::until("an empty part to be rejected", SOON, || {
            match plane.api.try_create(&cluster) {
                Err(rejection) if !rejection.passes() => Ok(rejection.message().to_owned()),
                Err(rejection) => Err(rejection.to_string()),
                Ok(_) => panic!("an empty {part} is taken"),
            }
        });
        let text = json!({"apiVersion": "v1", "kind": "List", "items": [cluster]}).to_string();
        let (pool, _) = Pool::read(&[Source::new("empty", text)], &Budget::default());
        let findings = plan(&pool, &Options::default(), &Budget::default()).report;
        let warned = findings
            .findings()
            .iter()
            .find(|finding| finding.rule.id == "topology-part-empty")
            .expect("a plan warns of it");
        let upstream = warned
            .upstream
            .as_deref()
            .expect("the warning has the server's words");
        assert!(
            rejection.contains(upstream),
            "{rejection}\ndoes not hold\n{upstream}"
        );
    }
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// Gives the server the objects of an input.
fn submit(plane: &ControlPlane, input: &Input) -> Fate {
    plane.api.apply(&namespace(&input.namespace)).unwrap();
    let order = |object: &&Value| match super::text(&object["kind"]) {
        "Cluster" => 2,
        "ClusterClass" => 1,
        _ => 0,
    };
    let mut objects: Vec<&Value> = input.objects.iter().collect();
    objects.sort_by_key(order);
    for object in objects {
        let given = wait::until(
            &format!("{} {} to be taken", input.name, object["kind"]),
            SOON,
            || {
                plane.assert_running();
                match plane.api.apply(object) {
                    Ok(_) => Ok(None),
                    Err(rejection)
                        if rejection.passes()
                            || rejection
                                .message()
                                .contains("is not successfully reconciled") =>
                    {
                        Err(rejection.message().to_owned())
                    }
                    Err(rejection) => Ok(Some(rejection.message().to_owned())),
                }
            },
        );
        if let Some(message) = given {
            return if placeholders::is_template(object) {
                Fate::NoTemplate(message)
            } else {
                Fate::Rejected(message)
            };
        }
    }
    Fate::Taken
}

/// Whether both make the same; `false` when both reject.
fn judged(plane: &ControlPlane, input: &Input, fate: &Fate, release: &str) -> Result<bool, String> {
    let planned = planned(input, &input.definitions);
    if input.name == inputs::ANOTHER_CONTRACT {
        // What the labels of its CRD say is known of it, and its CRDs have no defaults.
        let objects = |planned: &Planned| {
            planned
                .objects
                .iter()
                .map(|desired| desired.object.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            objects(&planned),
            objects(&self::planned(input, &[])),
            "{}: without CRDs",
            input.name
        );
    }
    let rejection = planned
        .report
        .findings()
        .iter()
        .find(|finding| finding.rule.severity == Severity::Error);
    match (fate, rejection) {
        (Fate::NoTemplate(message), _) => {
            let is_known = TEMPLATES_REJECTED
                .iter()
                .any(|(class, words)| input.name.contains(class) && message.contains(words));
            if is_known {
                Ok(false)
            } else {
                Err(format!("the server rejects a template: {message}"))
            }
        }
        (Fate::Rejected(message), Some(finding)) if names_its_field(message, finding) => Ok(false),
        (Fate::Rejected(message), Some(finding)) => Err(format!(
            "the server rejects something else: {message}\n  and we: {finding:?}"
        )),
        (Fate::Rejected(message), None)
            if TAKEN_LATER
                .iter()
                .any(|(of, words)| *of == release && message.contains(words)) =>
        {
            Ok(false)
        }
        (Fate::Rejected(message), None) => Err(format!("the server rejects it: {message}")),
        (Fate::Taken, Some(finding)) => match finding.upstream.as_deref() {
            Some(words) => stopped(plane, input, words).map(|()| false),
            None => Err(format!(
                "we reject it in words of our own, and the server takes it: {}",
                finding.message
            )),
        },
        (Fate::Taken, None) => {
            if let Some(rejection) = comparison::rejected(plane, &planned.objects) {
                rejected_by_its_kind(plane, input, release, &rejection);
                println!(
                    "  {}: its kind rejects what comes of the patches: {rejection}",
                    input.name
                );
                return Ok(false);
            }
            reconciled(plane, input)?;
            let different =
                comparison::differences(plane, &input.namespace, &planned.objects, release);
            if different.is_empty() {
                Ok(true)
            } else {
                Err(different.join("\n  "))
            }
        }
    }
}

/// Whether a rejection is about a field that a finding names. What does not fit its type is rejected
/// by its last name.
fn names_its_field(message: &str, finding: &Diagnostic) -> bool {
    let words = finding.upstream.as_deref().unwrap_or_default();
    let reasons = words
        .split_once(" is invalid: ")
        .map_or(words, |(_, reasons)| reasons)
        .trim_start_matches('[');
    let is_named = |reason: &str| {
        let field = reason.split(": ").next().unwrap_or_default();
        let last = field.rsplit('.').next().unwrap_or_default();
        let is_of_type = message.starts_with("failed to create typed patch object")
            && message.contains(&format!(".{last}: expected"));
        !field.is_empty() && (message.contains(field) || is_of_type)
    };
    reasons.lines().any(is_named)
}

fn planned(input: &Input, definitions: &[Value]) -> Planned {
    let items: Vec<&Value> = input.objects.iter().chain(definitions).collect();
    let text = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let (pool, report) = Pool::read(
        &[Source::new(input.name.as_str(), text)],
        &Budget::default(),
    );
    assert!(!report.has_errors(), "{report:?}");
    plan(&pool, &Options::default(), &Budget::default())
}

/// The condition of the Cluster of an input, when the controller has looked at it.
fn condition(plane: &ControlPlane, input: &Input) -> Result<Value, String> {
    let cluster = input
        .objects
        .iter()
        .find(|object| object["kind"] == "Cluster")
        .expect("each input has a Cluster");
    let found = plane.api.get(
        CORE,
        "Cluster",
        Some(&input.namespace),
        super::text(&cluster["metadata"]["name"]),
    );
    let found = found.map_err(|rejection| rejection.to_string())?;
    let conditions = found["status"]["conditions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    conditions
        .into_iter()
        .find(|c| c["type"] == "TopologyReconciled")
        .ok_or_else(|| "no condition yet".to_owned())
}

/// Waits until the controller is done with the Cluster.
fn reconciled(plane: &ControlPlane, input: &Input) -> Result<(), String> {
    wait::until(&format!("{} to be reconciled", input.name), SOON, || {
        plane.assert_running();
        let condition = condition(plane, input)?;
        match (
            condition["status"] == "True",
            super::text(&condition["message"]).contains("error "),
        ) {
            (true, _) => Ok(Ok(())),
            (false, true) => Ok(Err(format!(
                "the controller stops: {}",
                condition["message"]
            ))),
            _ => Err(condition.to_string()),
        }
    })
}

/// Waits until the controller has met the same rejection of what it makes. The Cluster may say soon
/// that it waits for something else, so the log is asked.
fn rejected_by_its_kind(plane: &ControlPlane, input: &Input, release: &str, rejection: &str) {
    let log = plane.folder().join(format!("manager-core-{release}.log"));
    // Texts are quoted there.
    let words = rejection.split(['"', ',']).next().unwrap_or_default();
    let (cluster, first) = (
        format!("Cluster=\"{}/", input.namespace),
        words.trim_start_matches('['),
    );
    wait::until(
        &format!("the controller to be rejected {}: {first}", input.name),
        SOON,
        || {
            plane.assert_running();
            let said = std::fs::read_to_string(&log).map_err(|error| error.to_string())?;
            let mut errors = said
                .lines()
                .filter(|line| line.contains("Reconciler error") && line.contains(&cluster));
            if errors.any(|line| line.contains(first)) {
                return Ok(());
            }
            let last = said
                .lines()
                .rfind(|line| line.contains("Reconciler error") && line.contains(&cluster));
            Err(last.unwrap_or("no error yet").to_owned())
        },
    );
}

/// Waits until the controller has stopped at the Cluster, in these words.
fn stopped(plane: &ControlPlane, input: &Input, expected: &str) -> Result<(), String> {
    let said = wait::until(&format!("{} to be stopped", input.name), SOON, || {
        plane.assert_running();
        let condition = condition(plane, input)?;
        if condition["status"] == "False" {
            Ok(super::text(&condition["message"]).to_owned())
        } else {
            Err(condition.to_string())
        }
    });
    // Of several machines the controller names them in an order of its own.
    let head = expected.split("[").next().unwrap_or_default();
    if said.contains(head) {
        Ok(())
    } else {
        Err(format!(
            "we reject it: {expected}\n  and the controller says: {said}"
        ))
    }
}
