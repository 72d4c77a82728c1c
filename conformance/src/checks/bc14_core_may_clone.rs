//! BC-14: the core's rights, by which it clones templates.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_capi::contract::labels::AGGREGATE_TO_MANAGER;

use super::bc63_template_dry_run::template;
use super::{Check, Run};
use crate::api::{Api, Kind, Rejection};
use crate::bench::Bench;
use crate::connection;
use crate::outcome::{Evidence, Level, Outcome};
use crate::sample::Role;
use crate::world::{CLUSTER, rejection};

/// The group that the core may use without further roles.
const CORE_GROUP: &str = "bootstrap.cluster.x-k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io/v1";
const USER: &str = "windlass-conformance:core";

pub(crate) const CHECK: Check = Check {
    rule: "BC-14",
    name: "core-may-clone",
    level: Level::Must,
    contracts: &[],
    does: "As a user who has only the ClusterRoles with the label `cluster.x-k8s.io/aggregate-to-manager` in one namespace: gets a template, creates a config from it, patches, lists and deletes it, and creates, patches and deletes a template.",
    expects: "The API server permits each request.",
    waits: "At most 5 s for the role binding.",
    run: Run::WorldOf(Role::Template, |bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    if bench.provider.config.group() == CORE_GROUP {
        return Ok(Outcome::not_applicable(format!(
            "Cluster API's own role covers the group {CORE_GROUP}"
        )));
    }
    let namespace = bench.make_namespace("core-may-clone").await?;
    let outcome = clone(&bench, &namespace).await;
    bench.delete_namespace(&namespace).await;
    outcome
}

async fn clone(bench: &Bench, namespace: &str) -> Result<Outcome, Rejection> {
    let Some((kind, template)) = template(bench, namespace)? else {
        return Ok(Outcome::not_covered(
            "no sample of the role template was given",
        ));
    };
    let roles = aggregated(bench).await?;
    let evidence = |observed: String| Evidence {
        object: format!("ClusterRoles with the label {AGGREGATE_TO_MANAGER}"),
        field: Some("rules".to_owned()),
        observed,
        history: Vec::new(),
    };
    if roles.is_empty() {
        return Ok(Outcome::fail(
            "no role lets the core use the provider's kinds",
            evidence(format!(
                "none names the group {}",
                bench.provider.config.group()
            )),
        ));
    }
    bind(bench, namespace, &roles).await?;
    bench
        .api
        .create_patiently(&kind, Some(namespace), &template, bench.times.patience)
        .await?;
    let mut config = bench.config.clone();
    config.auth_info.impersonate = Some(USER.to_owned());
    let core = Api::new(connection::client_of(config, "impersonation").map_err(rejection)?);
    for (verb, request) in requests(bench, &kind, &template, namespace) {
        if let Err(rejected) = send(&core, &request).await {
            if rejected.code != 403 {
                return Err(rejected);
            }
            return Ok(Outcome::fail(
                "the core may not use the provider's kinds as the contract demands",
                evidence(format!("{verb} is forbidden")),
            ));
        }
    }
    Ok(Outcome::pass(format!(
        "{} let the core get, list, create, patch and delete configs and templates",
        roles.join(", ")
    )))
}

/// The ClusterRoles with the label that name the provider's group.
async fn aggregated(bench: &Bench) -> Result<Vec<String>, Rejection> {
    let path = format!(
        "{}?labelSelector={}",
        Kind::new(RBAC, "ClusterRole", "clusterroles").collection(None),
        AGGREGATE_TO_MANAGER.replace('/', "%2F")
    );
    let list = bench.api.read(&path).await?;
    let group = bench.provider.config.group();
    let names_group = |role: &&Value| {
        let rules = role["rules"].as_array().into_iter().flatten();
        rules
            .flat_map(|rule| rule["apiGroups"].as_array().into_iter().flatten())
            .any(|named| named == group || named == "*")
    };
    let roles = list["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(names_group);
    Ok(roles
        .filter_map(|role| role["metadata"]["name"].as_str().map(str::to_owned))
        .collect())
}

async fn bind(bench: &Bench, namespace: &str, roles: &[String]) -> Result<(), Rejection> {
    let kind = Kind::new(RBAC, "RoleBinding", "rolebindings");
    for (index, role) in roles.iter().enumerate() {
        let binding = json!({
            "apiVersion": RBAC, "kind": "RoleBinding", "metadata": {"name": format!("core-{index}")},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}],
        });
        bench.api.create(&kind, Some(namespace), &binding).await?;
    }
    Ok(())
}

/// A request of the core: method, path, body.
type Wanted = (&'static str, String, Option<Value>);

fn requests(
    bench: &Bench,
    templates: &Kind,
    template: &Value,
    namespace: &str,
) -> Vec<(String, Wanted)> {
    let configs = Kind {
        api_version: templates.api_version.clone(),
        ..bench.provider.config.clone()
    };
    let name = template["metadata"]["name"].as_str().unwrap_or_default();
    let mut config = json!({
        "apiVersion": configs.api_version, "kind": configs.kind, "spec": template["spec"]["template"]["spec"],
        "metadata": {
            "name": "clone", "namespace": namespace,
            "labels": {"cluster.x-k8s.io/cluster-name": CLUSTER},
            "annotations": {
                "cluster.x-k8s.io/cloned-from-name": name,
                "cluster.x-k8s.io/cloned-from-groupkind": format!("{}.{}", templates.kind, templates.group()),
            },
        },
    });
    if config["spec"].is_null() {
        config["spec"] = json!({});
    }
    let mut second = template.clone();
    second["metadata"] = json!({"name": "rotated", "namespace": namespace});
    let labels = json!({"metadata": {"labels": {"example.com/by": "core"}}});
    let of = |kind: &Kind, object: &str, created: Value| {
        let (all, one) = (
            kind.collection(Some(namespace)),
            kind.path(Some(namespace), object),
        );
        let wanted: [Wanted; 5] = [
            ("POST", all.clone(), Some(created)),
            ("GET", one.clone(), None),
            ("GET", all, None),
            ("PATCH", one.clone(), Some(labels.clone())),
            ("DELETE", one, None),
        ];
        wanted
            .into_iter()
            .zip(["create", "get", "list", "patch", "delete"])
            .map(|(wanted, verb)| (format!("{verb} {}", kind.plural), wanted))
            .collect::<Vec<_>>()
    };
    let get = (
        format!("get {}", templates.plural),
        ("GET", templates.path(Some(namespace), name), None),
    );
    std::iter::once(get)
        .chain(of(&configs, "clone", config))
        .chain(of(templates, "rotated", second))
        .collect()
}

/// Repeats what is forbidden for a moment: the API server learns of a role binding by a watch.
async fn send(core: &Api, (method, path, body): &Wanted) -> Result<(), Rejection> {
    let content_type = if *method == "PATCH" {
        "application/merge-patch+json"
    } else {
        "application/json"
    };
    let mut tries = 0;
    loop {
        match core
            .request(method, path, content_type, body.as_ref())
            .await
        {
            Err(rejected) if rejected.code == 403 && tries < 10 => tries += 1,
            answer => return answer.map(drop),
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
}
