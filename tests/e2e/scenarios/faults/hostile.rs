//! Objects that are meant to hurt: what no machine can be made of, what is as large as can be, what
//! names one Secret a thousand times.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::site::{Site, Ways, is_done};
use super::sized;
use super::workloads::told;
use crate::harness::runner::Context;
use crate::harness::{components, shared, wait};

const LONG: Duration = Duration::from_secs(120);

/// Beside everything that the vectors have in errors, configs of a megabyte and thousands of
/// references to one Secret, ordinary machines get their data in the time that they take alone. Of
/// the others each has its data or says why not.
pub(crate) fn hostile_objects_stop_nobody(context: &Context) {
    let plane = context.kinds();
    let ways = Ways::by(&plane, &plane.url);
    let count = sized(40, 200);
    let alone = Site::empty(&plane, "ordinary");
    alone.give_running_cluster("c", &ways.workload);
    let quiet = time(&alone, &ways, count, || ());
    alone.leave();

    let site = Site::empty(&plane, "hostile");
    site.give_running_cluster("c", &ways.workload);
    let mut rejected = BTreeMap::new();
    let mut given = 0;
    let mut give = |cluster: &str, name: &str, is_control_plane: bool, spec: &Value| match site
        .give_machine(cluster, name, is_control_plane, spec)
    {
        Ok(()) => given += 1,
        Err(rejection) => drop(rejected.insert(name.to_owned(), rejection.code)),
    };
    give_vectors(&site, &ways, &mut give);
    // Each file has what a config may hold of it, and each config what etcd takes of it.
    let large = |files: usize| {
        let file = |index: usize| json!({"path": format!("/large-{index}"), "content": "x".repeat(10_240)});
        json!({"joinConfiguration": {"nodeRegistration": {"taints": []}}, "files": (0..files).map(file).collect::<Vec<_>>()})
    };
    (0..sized(5, 20)).for_each(|index| give("c", &format!("fits-{index}"), false, &large(70)));
    (0..sized(5, 20)).for_each(|index| give("c", &format!("large-{index}"), false, &large(105)));
    // Two hundred files are the most that a config may have.
    let metadata = json!({"name": "shared", "namespace": site.namespace});
    let data = json!({"key": STANDARD.encode("x".repeat(1000))});
    plane
        .api
        .create(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}))
        .unwrap();
    let reference = |index: usize| json!({"path": format!("/{index}"), "contentFrom": {"secret": {"name": "shared", "key": "key"}}});
    let many = json!({"joinConfiguration": {"nodeRegistration": {"taints": []}}, "files": (0..200).map(reference).collect::<Vec<_>>()});
    (0..sized(5, 50)).for_each(|index| give("c", &format!("many-{index}"), false, &many));
    println!(
        "  {given} taken, {} rejected by the API server: {:?}",
        rejected.len(),
        rejected.values().collect::<std::collections::BTreeSet<_>>()
    );
    assert!(given > 30 && rejected.len() > 20);
    assert!(
        rejected.values().all(|code| [400, 403, 422].contains(code)),
        "{rejected:?}"
    );

    let loud = time(&site, &ways, count, || {
        let others = wait::until("a word about each", LONG, || {
            let others: Vec<Value> = site
                .configs()
                .into_iter()
                .filter(|config| !is_ordinary(config))
                .collect();
            let silent: Vec<&Value> = others
                .iter()
                .filter(|config| !is_done(config) && told(config).is_none())
                .collect();
            if silent.is_empty() {
                Ok(others)
            } else {
                Err(format!(
                    "{} say nothing: {} {}",
                    silent.len(),
                    silent[0]["metadata"]["name"],
                    silent[0]["status"]
                ))
            }
        });
        let state = |prefix: &str| {
            let all = others.iter().filter(|config| {
                config["metadata"]["name"]
                    .as_str()
                    .unwrap()
                    .starts_with(prefix)
            });
            let (done, open): (Vec<&Value>, Vec<&Value>) = all.partition(|config| is_done(config));
            println!(
                "  {prefix} {} have data, {} say why not: {}",
                done.len(),
                open.len(),
                open.first()
                    .and_then(|config| told(config))
                    .unwrap_or_default()
            );
            (done.len(), open.len())
        };
        assert_eq!(state("fits-"), (sized(5, 20), 0));
        assert_eq!(state("large-"), (0, sized(5, 20)));
        assert_eq!(state("many-"), (sized(5, 50), 0));
        assert!(state("error-").1 > 10);
    });
    println!(
        "  {count} ordinary machines alone {:.1} s, beside the others {:.1} s",
        quiet.as_secs_f32(),
        loud.as_secs_f32()
    );
    assert!(
        loud < quiet * 3 + Duration::from_secs(5),
        "{loud:?} in place of {quiet:?}"
    );
    site.leave();
}

/// All configs of the render vectors with which something is wrong, with the Secrets beside them,
/// as configs of ours.
fn give_vectors(site: &Site<'_>, ways: &Ways, give: &mut impl FnMut(&str, &str, bool, &Value)) {
    let folder = shared::vectors("render");
    let index: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("index.json")).unwrap()).unwrap();
    let is_meant = |case: &&Value| {
        case["name"].as_str().unwrap().starts_with("error-") && case["apiVersion"] == "v1beta2"
    };
    let cases = index["cases"].as_array().unwrap().iter().filter(is_meant);
    for (at, case) in cases.enumerate() {
        let file = folder
            .join(case["name"].as_str().unwrap())
            .join("input.yaml");
        let documents = components::documents(
            &file.display().to_string(),
            std::fs::read_to_string(&file).unwrap(),
        );
        let (name, is_init) = (format!("error-{at:02}"), case["role"] == "init");
        if is_init {
            // A cluster of its own, which is to begin.
            site.give_cluster(&name, &ways.workload);
        }
        for mut document in documents {
            if document["kind"] == "Secret" && document["type"] != "cluster.x-k8s.io/secret" {
                document["metadata"]["namespace"] = json!(site.namespace);
                // Some have the same names.
                drop(site.plane.api.create(&document));
            } else if document["kind"] == "KubeadmConfig" {
                give(
                    if is_init { &name } else { "c" },
                    &name,
                    is_init,
                    &document["spec"],
                );
            }
        }
    }
}

fn is_ordinary(config: &Value) -> bool {
    config["metadata"]["name"]
        .as_str()
        .is_some_and(|name| name.starts_with("ordinary-"))
}

/// How long it takes a manager that begins until so many ordinary workers have their data; then
/// something more is done.
fn time(site: &Site<'_>, ways: &Ways, count: usize, then: impl FnOnce()) -> Duration {
    let names: Vec<String> = (0..count)
        .map(|index| format!("ordinary-{index:03}"))
        .collect();
    names.iter().for_each(|name| site.give_worker("c", name));
    let mut manager = site.manager(ways, &[]);
    let taken = site.time_until_done(&mut manager, &names);
    then();
    manager.assert_running();
    manager.stop();
    taken
}
