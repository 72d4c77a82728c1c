//! What the real topology controller makes of Clusters beside what `topology plan` says.

use std::time::Duration;

use serde_json::{Value, json};
use windlass::diag::{Diagnostic, Severity};
use windlass::objects::Pool;
use windlass::text::budget::Budget;
use windlass::text::source::Source;
use windlass::topology::{Options, Planned, plan};

use super::comparison::differences;
use super::inputs::{self, Input};
use super::{CORE, stand_ins};
use crate::harness::control_plane::ControlPlane;
use crate::harness::managers;
use crate::harness::runner::Context;
use crate::harness::{components, shared, wait};

const SOON: Duration = Duration::from_secs(60);

/// What a release refuses and later ones take, which are those of our plans: that patches replace a whole `/spec` came with v1.12.10.
const TAKEN_LATER: &[(&str, &str)] = &[("v1.12.0", "jsonPatch path must start with \"/spec/\"")];

/// Cluster API v1.12.0 makes what we plan.
pub(crate) fn plans_are_what_v1_12_makes(context: &Context) {
    parity(context, "v1.12.0");
}

/// Cluster API v1.14.0 makes what we plan.
pub(crate) fn plans_are_what_v1_14_makes(context: &Context) {
    parity(context, "v1.14.0");
}

/// What the server and the controller did with an input.
#[derive(Debug)]
enum Fate {
    /// It was refused, in these words.
    Refused(String),
    /// The controller has it; what it made is looked up.
    Taken,
}

fn parity(context: &Context, release: &str) {
    let plane = context.control_plane();
    components::apply(&plane, &shared::cluster_api(release).join("core-components.yaml"));
    let inputs = inputs::all();
    stand_ins::install(&plane, inputs.iter().flat_map(|input| &input.objects));
    managers::start(&plane, release, &[managers::CORE]);
    let fates: Vec<Fate> = inputs.iter().map(|input| submit(&plane, input)).collect();
    let (mut equal, mut refused, mut failures) = (0, 0, Vec::new());
    for (input, fate) in inputs.iter().zip(&fates) {
        match judged(&plane, input, fate, release) {
            Ok(true) => equal += 1,
            Ok(false) => refused += 1,
            Err(difference) => failures.push(format!("{}: {difference}", input.name)),
        }
    }
    println!("  {equal} Clusters equal, {refused} refused by both");
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), inputs.len(), failures.join("\n"));
    assert!(equal >= 40, "only {equal} were compared");
}

/// Gives the server the objects of an input.
fn submit(plane: &ControlPlane, input: &Input) -> Fate {
    plane.api.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": input.namespace}})).unwrap();
    let order = |object: &&Value| match super::text(&object["kind"]) {
        "Cluster" => 2,
        "ClusterClass" => 1,
        _ => 0,
    };
    let mut objects: Vec<&Value> = input.objects.iter().collect();
    objects.sort_by_key(order);
    for object in objects {
        let given = wait::until(&format!("{} {} to be taken", input.name, object["kind"]), SOON, || {
            plane.assert_running();
            match plane.api.apply(object) {
                Ok(_) => Ok(None),
                Err(refusal) if refusal.passes() || refusal.message().contains("is not successfully reconciled") => {
                    Err(refusal.message().to_owned())
                }
                Err(refusal) => Ok(Some(refusal.message().to_owned())),
            }
        });
        if let Some(message) = given {
            return Fate::Refused(message);
        }
    }
    Fate::Taken
}

/// Whether both make the same; `false` when both refuse.
fn judged(plane: &ControlPlane, input: &Input, fate: &Fate, release: &str) -> Result<bool, String> {
    let planned = planned(input);
    let refusal = planned.report.findings().iter().find(|finding| finding.rule.severity == Severity::Error);
    match (fate, refusal) {
        (Fate::Refused(_), Some(_)) => Ok(false),
        (Fate::Refused(message), None) if TAKEN_LATER.iter().any(|(of, words)| *of == release && message.contains(words)) => Ok(false),
        (Fate::Refused(message), None) => Err(format!("the server refuses it: {message}")),
        (Fate::Taken, Some(finding)) => stopped(plane, input, finding).map(|()| false),
        (Fate::Taken, None) => {
            reconciled(plane, input)?;
            let different = differences(plane, &input.namespace, &planned.objects, release);
            if different.is_empty() { Ok(true) } else { Err(different.join("\n  ")) }
        }
    }
}

fn planned(input: &Input) -> Planned {
    let text = json!({"apiVersion": "v1", "kind": "List", "items": input.objects}).to_string();
    let (pool, report) = Pool::read(&[Source::new(input.name.as_str(), text)], &Budget::default());
    assert!(!report.has_errors(), "{report:?}");
    plan(&pool, &Options::default(), &Budget::default())
}

/// The condition of the Cluster of an input, when the controller has looked at it.
fn condition(plane: &ControlPlane, input: &Input) -> Result<Value, String> {
    let cluster = input.objects.iter().find(|object| object["kind"] == "Cluster").expect("each input has a Cluster");
    let found = plane.api.get(CORE, "Cluster", Some(&input.namespace), super::text(&cluster["metadata"]["name"]));
    let found = found.map_err(|refusal| refusal.to_string())?;
    let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.into_iter().find(|c| c["type"] == "TopologyReconciled").ok_or_else(|| "no condition yet".to_owned())
}

/// Waits until the controller is done with the Cluster.
fn reconciled(plane: &ControlPlane, input: &Input) -> Result<(), String> {
    wait::until(&format!("{} to be reconciled", input.name), SOON, || {
        plane.assert_running();
        let condition = condition(plane, input)?;
        match (condition["status"] == "True", super::text(&condition["message"]).contains("error ")) {
            (true, _) => Ok(Ok(())),
            (false, true) => Ok(Err(format!("the controller stops: {}", condition["message"]))),
            _ => Err(condition.to_string()),
        }
    })
}

/// Waits until the controller has stopped at the Cluster, in the words of the finding.
fn stopped(plane: &ControlPlane, input: &Input, finding: &Diagnostic) -> Result<(), String> {
    let expected = finding.upstream.clone().unwrap_or_default();
    let said = wait::until(&format!("{} to be stopped", input.name), SOON, || {
        plane.assert_running();
        let condition = condition(plane, input)?;
        if condition["status"] == "False" { Ok(super::text(&condition["message"]).to_owned()) } else { Err(condition.to_string()) }
    });
    // Of several machines the controller names them in an order of its own.
    let head = expected.split("[").next().unwrap_or_default();
    if said.contains(head) { Ok(()) } else { Err(format!("we refuse it: {}\n  and the controller says: {said}", expected)) }
}
