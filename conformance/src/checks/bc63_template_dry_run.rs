//! BC-63: the topology controller's dry runs pass, where templates are immutable.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Check, Run};
use crate::api::{Kind, Patch, Rejection};
use crate::bench::Bench;
use crate::outcome::{Evidence, Level, Outcome};
use crate::sample::{Role, merge};
use crate::world::{CLUSTER, rejection};

const NAME: &str = "template-0";

pub(crate) const CHECK: Check = Check {
    rule: "BC-63",
    name: "template-dry-run",
    level: Level::Must,
    contracts: &[],
    does: "Changes a template by server-side apply: as a dry run, as a dry run with the annotation `topology.cluster.x-k8s.io/dry-run`, and with the annotation without dry run.",
    expects: "Where the first is rejected, the second is accepted and the third is rejected.",
    waits: "Not at all: the webhook answers.",
    run: Run::WorldOf(Role::Template, |bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let namespace = bench.make_namespace("template-dry-run").await?;
    let outcome = change(&bench, &namespace).await;
    bench.delete_namespace(&namespace).await;
    outcome
}

async fn change(bench: &Bench, namespace: &str) -> Result<Outcome, Rejection> {
    let Some((kind, template)) = template(bench, namespace)? else {
        return Ok(Outcome::not_covered(
            "no sample of the role template was given",
        ));
    };
    bench
        .api
        .create_patiently(&kind, Some(namespace), &template, bench.times.patience)
        .await?;
    let path = kind.path(Some(namespace), NAME);
    let changed = |annotated: bool, key: &str| {
        let mut changed = template.clone();
        if annotated {
            changed["metadata"]["annotations"]["topology.cluster.x-k8s.io/dry-run"] = json!("");
        }
        merge(
            &mut changed["spec"]["template"],
            &json!({"metadata": {"annotations": {"example.com/changed": key}}}),
        );
        if let Some(spec) = changed["spec"]["template"]["spec"].as_object_mut() {
            toggle(spec);
        }
        changed
    };
    let dry = format!("{path}?dryRun=All");
    let plain = bench
        .api
        .patch(&dry, Patch::Apply, &changed(false, "a"))
        .await;
    let Err(first) = plain else {
        return Ok(Outcome::not_applicable(
            "templates are not immutable: a change is accepted",
        ));
    };
    let evidence = |observed: String| Evidence {
        object: format!("{} {namespace}/{NAME}", kind.kind),
        field: Some("spec.template".to_owned()),
        observed,
        history: vec![format!(
            "a dry run without the annotation is rejected: {first}"
        )],
    };
    if let Err(second) = bench
        .api
        .patch(&dry, Patch::Apply, &changed(true, "a"))
        .await
    {
        return Ok(Outcome::fail(
            "the topology controller's dry run is rejected",
            evidence(format!("rejected: {second}")),
        ));
    }
    Ok(
        match bench
            .api
            .patch(&path, Patch::Apply, &changed(true, "a"))
            .await
        {
            Ok(_) => Outcome::fail(
                "the annotation alone lifts the immutability of templates",
                evidence("a change with the annotation is stored".to_owned()),
            ),
            Err(_) => Outcome::pass("only the topology controller's dry run passes"),
        },
    )
}

/// The template of the sample, and the kind to write it as.
pub(super) fn template(bench: &Bench, namespace: &str) -> Result<Option<(Kind, Value)>, Rejection> {
    let (Some(sample), Some(kind)) = (bench.sample(Role::Template), &bench.provider.template)
    else {
        return Ok(None);
    };
    let template = sample
        .objects(namespace, CLUSTER, NAME)
        .map_err(rejection)?
        .config;
    let kind = Kind {
        api_version: template["apiVersion"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        ..kind.clone()
    };
    Ok(Some((kind, template)))
}

/// Changes the first string of an object, so that more than metadata differs.
fn toggle(object: &mut serde_json::Map<String, Value>) -> bool {
    object.values_mut().any(|value| match value {
        Value::String(text) => {
            text.push('x');
            true
        }
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.push(json!("true"));
            true
        }
        Value::Object(inner) => toggle(inner),
        _ => false,
    })
}
