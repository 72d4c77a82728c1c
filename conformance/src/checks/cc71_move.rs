//! CC-71: clusterctl move, as the managers of the target see it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Check, NEVER_DONE, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::history::secret_value;
use crate::outcome::{Level, Outcome};
use crate::sample::Role;
use crate::world::{MACHINE, Plan, World, bare, secrets};

pub(crate) const CHECK: Check = Check {
    rule: "CC-71",
    name: "move",
    level: Level::Must,
    contracts: &[],
    does: "Moves a complete config to another namespace as clusterctl moves it to another cluster: a paused Cluster, the config without status, the owner that names the Secret, the Secret with the uid of the new config; then ends the pause.",
    expects: "The same Secret name and completion are reported, and the data is the same (BC-38, BC-43, BC-46).",
    waits: "The quiet time in the pause, then at most the patience.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let role = bench.primary();
    let source = World::begin(&bench, "move-source", Plan::complete(role)).await?;
    let done = source.until_done(MACHINE).await;
    let moved = match &done {
        Some(done) => {
            // Objects that the provider made for the Cluster are moved as well.
            let others = source.cluster_secrets(&done.secret).await?;
            Some((done.secret.clone(), others))
        }
        None => None,
    };
    source.end().await;
    let Some((secret, others)) = moved else {
        return Ok(Outcome::not_covered(NEVER_DONE));
    };
    let mut plan = Plan::complete(role);
    plan.is_cluster_paused = true;
    plan.is_initialized = true;
    let target = World::begin(&bench, "move-target", plan).await?;
    let outcome = receive(&target, &secret, &others).await;
    target.end().await;
    outcome
}

async fn receive(world: &World, secret: &Value, others: &[Value]) -> Result<Outcome, Rejection> {
    let name = secret["metadata"]["name"].as_str().unwrap_or_default();
    for other in others {
        let created = world
            .api()
            .create(&secrets(), Some(&world.namespace), other)
            .await;
        if !matches!(&created, Err(rejection) if rejection.code == 409) {
            created?;
        }
    }
    let config = world.config(MACHINE).await?;
    let mut copy = bare(secret);
    copy["metadata"]["ownerReferences"] = json!([{
        "apiVersion": config["apiVersion"], "kind": config["kind"], "name": MACHINE,
        "uid": config["metadata"]["uid"], "controller": true,
    }]);
    world
        .api()
        .create(&secrets(), Some(&world.namespace), &copy)
        .await?;
    let mut named = json!({"spec": {"bootstrap": {"dataSecretName": name}}});
    if world.bench.primary() == Role::MachinePool {
        named = json!({"spec": {"template": named}});
    }
    world
        .api()
        .merge(&world.owner_path(MACHINE), &named)
        .await?;
    tokio::time::sleep(world.bench.times.quiet).await;
    let data = secret_value(secret, "value");
    let changed = |now: &Value| secret_value(now, "value") != data;
    let during = world.api().read(&world.secret_path(name)).await?;
    if changed(&during) {
        return Ok(Outcome::fail(
            "data changes although the Cluster is paused",
            world.evidence(
                MACHINE,
                Some("data.value of the Secret"),
                "changed during the pause",
            ),
        ));
    }
    world
        .merge_cluster(&json!({"spec": {"paused": false}}))
        .await?;
    world.touch(MACHINE, "moved").await?;
    let Some(done) = world.until_done(MACHINE).await else {
        return Ok(world.never_done(MACHINE, "after the move"));
    };
    if done.secret["metadata"]["name"] != name {
        let observed = format!(
            "{name} before the move, {} after it",
            done.secret["metadata"]["name"]
        );
        return Ok(Outcome::fail(
            "another Secret is reported after the move",
            world.evidence(MACHINE, Some("status.dataSecretName"), observed),
        ));
    }
    let after = world.api().read(&world.secret_path(name)).await?;
    Ok(match changed(&after) {
        true => Outcome::fail(
            "the move leads to new data",
            world.evidence(
                MACHINE,
                Some("data.value of the Secret"),
                "changed after the pause ended",
            ),
        ),
        false => Outcome::pass("name and data are the same after the move"),
    })
}
