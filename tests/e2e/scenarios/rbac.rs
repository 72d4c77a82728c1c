//! Who may do what, asked of the real authorizer after the real aggregation controller has done its
//! work.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::api_server::{ApiServer, Kind};
use crate::harness::runner::Context;
use crate::harness::{wait, windlass};

/// What can be done with objects, and the verbs that let one become more than one is.
const VERBS: [&str; 14] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "approve",
    "bind",
    "escalate",
    "impersonate",
    "sign",
    "use",
];
/// Paths that are not for everybody.
const PATHS: [&str; 5] = [
    "/metrics",
    "/metrics/slis",
    "/debug/pprof/profile",
    "/logs",
    "/configz",
];
const ALL: &[&str] = &[
    "get", "list", "watch", "create", "update", "patch", "delete",
];
const READ: &[&str] = &["get", "list", "watch"];
const CORE: &str = "system:serviceaccount:capi-system:capi-manager";
const MANAGER: &str = "system:serviceaccount:windlass-system:windlass-manager";

/// The core manager has every verb of the contract on our kinds (book: "BootstrapConfig: RBAC",
/// "aggregation label").
pub(crate) fn core_may_use_our_kinds(context: &Context) {
    let plane = context.installed();
    for resource in ["windlassconfigs", "windlassconfigtemplates"] {
        for verb in ALL {
            let question = Question {
                user: CORE,
                verb,
                group: "bootstrap.windlass.dev",
                resource,
                namespace: "default",
                name: "",
            };
            wait::until(
                &format!("{CORE} may {verb} {resource}"),
                Duration::from_secs(20),
                || {
                    if question.is_allowed(&plane.api) {
                        Ok(())
                    } else {
                        Err("not allowed".to_owned())
                    }
                },
            );
        }
    }
}

/// What our service account may do, on every resource that this server serves: group, resource,
/// verbs. Nothing else.
const ALLOWED: &[(&str, &str, &[&str])] = &[
    (
        "bootstrap.windlass.dev",
        "windlassconfigs",
        &["list", "patch", "watch"],
    ),
    (
        "bootstrap.windlass.dev",
        "windlassconfigs/status",
        &["patch"],
    ),
    // The bootstrap data, the cluster's certificates; the lock.
    ("", "secrets", &["create", "get", "patch", "update"]),
    ("", "configmaps", &["create", "delete", "get"]),
    ("events.k8s.io", "events", &["create", "patch"]),
    // What a config belongs to.
    ("cluster.x-k8s.io", "clusters", READ),
    ("cluster.x-k8s.io", "machines", READ),
    ("cluster.x-k8s.io", "machinepools", READ),
    (
        "controlplane.cluster.x-k8s.io",
        "kubeadmcontrolplanes",
        &["get"],
    ),
    // Metrics are for those who may read them.
    ("authentication.k8s.io", "tokenreviews", &["create"]),
    ("authorization.k8s.io", "subjectaccessreviews", &["create"]),
    // What Kubernetes gives to everybody who is somebody.
    (
        "authorization.k8s.io",
        "selfsubjectaccessreviews",
        &["create"],
    ),
    (
        "authorization.k8s.io",
        "selfsubjectrulesreviews",
        &["create"],
    ),
    ("authentication.k8s.io", "selfsubjectreviews", &["create"]),
];

/// More in the namespace of the manager: the lease of leader election.
const ALLOWED_AT_HOME: &[(&str, &str, &[&str])] = &[(
    "coordination.k8s.io",
    "leases",
    &["create", "get", "update"],
)];

/// The matrix of all verbs and all resources, in the manager's namespace and in another: allowed is
/// exactly the list.
pub(crate) fn the_manager_has_exactly_its_list(context: &Context) {
    let plane = context.installed();
    let mut resources: BTreeSet<(String, String)> =
        plane.api.kinds().iter().map(group_and_resource).collect();
    // It is none of the server's resources, but of the authorizer's.
    resources.insert((
        "bootstrap.windlass.dev".to_owned(),
        "windlassconfigs/finalizers".to_owned(),
    ));
    let (mut asked, mut faults) = (0, Vec::new());
    for namespace in ["default", windlass::NAMESPACE] {
        for (group, resource) in &resources {
            for verb in VERBS {
                asked += 1;
                let expected = is_listed(ALLOWED, group, resource, verb)
                    || (namespace == windlass::NAMESPACE
                        && is_listed(ALLOWED_AT_HOME, group, resource, verb));
                let allowed = Question {
                    user: MANAGER,
                    verb,
                    group,
                    resource,
                    namespace,
                    name: "",
                }
                .is_allowed(&plane.api);
                if allowed != expected {
                    faults.push(format!("{verb} {resource}.{group} in {namespace}: allowed {allowed}, expected {expected}"));
                }
            }
        }
    }
    for name in [
        "windlassconfigs.bootstrap.windlass.dev",
        "clusters.cluster.x-k8s.io",
    ] {
        for verb in ["patch", "update"] {
            let (group, resource) = ("apiextensions.k8s.io", "customresourcedefinitions");
            if (Question {
                user: MANAGER,
                verb,
                group,
                resource,
                namespace: "",
                name,
            })
            .is_allowed(&plane.api)
            {
                faults.push(format!("{verb} CRD {name}: allowed"));
            }
        }
    }
    for path in PATHS {
        let attributes = json!({"nonResourceAttributes": {"path": path, "verb": "get"}});
        if is_allowed(&plane.api, MANAGER, attributes) {
            faults.push(format!("get {path}: allowed"));
        }
    }
    println!("  {asked} questions about {} resources", resources.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    for (group, resource, _) in ALLOWED {
        assert!(
            resources.contains(&((*group).to_owned(), (*resource).to_owned())),
            "{resource}.{group} is on the list and nowhere else"
        );
    }
}

fn group_and_resource(kind: &Kind) -> (String, String) {
    let group = kind
        .api_version
        .split_once('/')
        .map_or("", |(group, _)| group);
    (group.to_owned(), kind.resource.clone())
}

fn is_listed(list: &[(&str, &str, &[&str])], group: &str, resource: &str, verb: &str) -> bool {
    list.iter().any(|(of_group, of_resource, verbs)| {
        *of_group == group && *of_resource == resource && verbs.contains(&verb)
    })
}

struct Question<'a> {
    user: &'a str,
    verb: &'a str,
    group: &'a str,
    resource: &'a str,
    namespace: &'a str,
    name: &'a str,
}

impl Question<'_> {
    fn is_allowed(&self, api: &ApiServer) -> bool {
        let (resource, subresource) = self.resource.split_once('/').unwrap_or((self.resource, ""));
        let attributes = json!({
            "verb": self.verb, "group": self.group, "resource": resource, "subresource": subresource,
            "namespace": self.namespace, "name": self.name,
        });
        is_allowed(api, self.user, json!({ "resourceAttributes": attributes }))
    }
}

/// Asks the authorizer about a service account, which is in the groups of all service accounts.
fn is_allowed(api: &ApiServer, user: &str, mut attributes: Value) -> bool {
    let namespace = user.split(':').nth(2).unwrap_or_default();
    attributes["user"] = json!(user);
    attributes["groups"] = json!([
        "system:serviceaccounts",
        format!("system:serviceaccounts:{namespace}"),
        "system:authenticated"
    ]);
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": attributes});
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let answer = api
        .request("POST", path, "application/json", Some(&review))
        .unwrap_or_else(|rejection| panic!("{rejection}"));
    answer["status"]["allowed"] == true
}
