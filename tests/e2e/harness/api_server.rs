//! Talking to an API server about objects of any kind, one call after the other.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use http::Request;
use http_body_util::BodyExt;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::Value;
use tokio::runtime::Handle;

/// Longer than any webhook timeout.
const LIMIT: Duration = Duration::from_secs(60);
/// Who applies, in `managedFields`.
const MANAGER: &str = "windlass-e2e";

/// A client with one identity.
pub(crate) struct ApiServer {
    runtime: Handle,
    client: kube::Client,
    resources: Mutex<BTreeMap<(String, String), Resource>>,
}

#[derive(Clone)]
struct Resource {
    plural: String,
    namespaced: bool,
}

/// A resource or subresource that the server serves.
pub(crate) struct Kind {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    /// The plural, for a subresource with its name behind a slash.
    pub(crate) resource: String,
    pub(crate) verbs: Vec<String>,
}

/// What the server says when it does not do what was asked: its `Status`.
#[derive(Debug)]
pub(crate) struct Rejection {
    pub(crate) code: u16,
    pub(crate) status: Value,
}

impl Rejection {
    /// The server's sentence.
    pub(crate) fn message(&self) -> &str {
        self.status["message"].as_str().unwrap_or_default()
    }

    /// Whether the server only is not ready yet: it does not serve the kind, or has not found a
    /// webhook.
    pub(crate) fn passes(&self) -> bool {
        let message = self.message();
        match self.code {
            // Of an unknown group the answer is a page without a `Status`.
            404 => message.is_empty() || message.contains("could not find the requested resource"),
            500 => {
                message.contains("failed calling webhook")
                    || message.contains("conversion webhook for")
            }
            _ => false,
        }
    }

    /// Each cause as field and message; empty where the rejection is not about fields.
    pub(crate) fn causes(&self) -> Vec<(String, String)> {
        let causes = self.status["details"]["causes"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let text = |cause: &Value, key: &str| cause[key].as_str().unwrap_or_default().to_owned();
        causes
            .iter()
            .map(|cause| (text(cause, "field"), text(cause, "message")))
            .collect()
    }
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.code, self.message())
    }
}

/// An answer of the server.
pub(crate) type Answer = Result<Value, Rejection>;

impl ApiServer {
    /// A client of the kubeconfig's current context.
    pub(crate) fn of_kubeconfig(runtime: &Handle, path: &Path) -> ApiServer {
        let client = runtime.block_on(async {
            let kubeconfig = Kubeconfig::read_from(path).expect("we wrote the kubeconfig");
            let config =
                kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
                    .await;
            kube::Client::try_from(config.expect("we wrote the kubeconfig"))
                .expect("a client can be made of it")
        });
        ApiServer {
            runtime: runtime.clone(),
            client,
            resources: Mutex::default(),
        }
    }

    /// Any request. The answer is the body where it is JSON, a string where it is not.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Answer {
        self.exchange(method, path, content_type, body).0
    }

    /// As [`ApiServer::try_create`], with the warnings of the answer.
    pub(crate) fn warnings_of_create(&self, object: &Value) -> (Answer, Vec<String>) {
        self.exchange(
            "POST",
            &format!(
                "{}?fieldValidation=Strict&dryRun=All",
                self.collection_of(object)
            ),
            "application/json",
            Some(object),
        )
    }

    /// Any request, and the warnings in the header of the answer.
    fn exchange(
        &self,
        method: &str,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> (Answer, Vec<String>) {
        let body = body
            .map(|value| Body::from(value.to_string().into_bytes()))
            .unwrap_or_else(Body::empty);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("Content-Type", content_type)
            .header("Accept", "application/json");
        let request = request.body(body).expect("method and path are well-formed");
        let exchange = async {
            let response = self
                .client
                .send(request)
                .await
                .map_err(|error| format!("{error:#}"))?;
            let code = response.status().as_u16();
            let warnings = response
                .headers()
                .get_all("Warning")
                .iter()
                .map(warning)
                .collect();
            let bytes = response
                .into_body()
                .collect()
                .await
                .map_err(|error| format!("{error:#}"))?
                .to_bytes();
            Ok::<_, String>((code, warnings, bytes))
        };
        let answer = self
            .runtime
            .block_on(async { tokio::time::timeout(LIMIT, exchange).await });
        let (code, warnings, bytes) = match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return (Err(unreachable(method, path, error)), Vec::new()),
            Err(_) => {
                return (
                    Err(unreachable(
                        method,
                        path,
                        format!("no answer in {} s", LIMIT.as_secs()),
                    )),
                    Vec::new(),
                );
            }
        };
        let value = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        (
            if (200..300).contains(&code) {
                Ok(value)
            } else {
                Err(Rejection {
                    code,
                    status: value,
                })
            },
            warnings,
        )
    }

    /// Reads a path.
    pub(crate) fn read(&self, path: &str) -> Answer {
        self.request("GET", path, "application/json", None)
    }

    /// The path of a kind in a namespace (of all namespaces, or cluster-wide, without one).
    pub(crate) fn collection(
        &self,
        api_version: &str,
        kind: &str,
        namespace: Option<&str>,
    ) -> String {
        let resource = self.resource(api_version, kind);
        match namespace {
            Some(namespace) if resource.namespaced => format!(
                "{}/namespaces/{namespace}/{}",
                root(api_version),
                resource.plural
            ),
            _ => format!("{}/{}", root(api_version), resource.plural),
        }
    }

    /// The path of an object; without a namespace of its own it is in `default`.
    pub(crate) fn path_of(&self, object: &Value) -> String {
        format!(
            "{}/{}",
            self.collection_of(object),
            object["metadata"]["name"]
                .as_str()
                .expect("the object has a name")
        )
    }

    fn collection_of(&self, object: &Value) -> String {
        let text = |value: &Value| {
            value
                .as_str()
                .expect("an object has apiVersion and kind")
                .to_owned()
        };
        let namespace = object["metadata"]["namespace"]
            .as_str()
            .unwrap_or("default");
        self.collection(
            &text(&object["apiVersion"]),
            &text(&object["kind"]),
            Some(namespace),
        )
    }

    /// One object.
    pub(crate) fn get(
        &self,
        api_version: &str,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
    ) -> Answer {
        self.read(&format!(
            "{}/{name}",
            self.collection(api_version, kind, namespace)
        ))
    }

    /// All objects of a kind.
    pub(crate) fn list(
        &self,
        api_version: &str,
        kind: &str,
        namespace: Option<&str>,
    ) -> Vec<Value> {
        let list = self
            .read(&self.collection(api_version, kind, namespace))
            .unwrap_or_else(|rejection| panic!("cannot list {kind}: {rejection}"));
        let items = list["items"].as_array().expect("a list has items").clone();
        items
            .into_iter()
            .map(|item| complete(item, api_version, kind))
            .collect()
    }

    /// Every kind that the server lists: apiVersion, kind, whether it is namespaced, its verbs, its
    /// subresources.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let groups = self
            .read("/apis")
            .unwrap_or_else(|rejection| panic!("cannot list groups: {rejection}"));
        let groups = groups["groups"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let versions = groups
            .iter()
            .map(|group| text(&group["preferredVersion"]["groupVersion"]));
        std::iter::once("v1".to_owned())
            .chain(versions)
            .flat_map(|api_version| {
                let listed = match self.read(&root(&api_version)) {
                    Ok(listed) => listed,
                    // A group may go between the two questions.
                    Err(rejection) if rejection.code == 404 => Value::Null,
                    Err(rejection) => panic!("cannot list {api_version}: {rejection}"),
                };
                let resources = listed["resources"].as_array().cloned().unwrap_or_default();
                resources.into_iter().map(move |resource| Kind {
                    api_version: api_version.clone(),
                    kind: text(&resource["kind"]),
                    resource: text(&resource["name"]),
                    verbs: resource["verbs"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .map(text)
                        .collect(),
                })
            })
            .collect()
    }

    /// Every object of every kind.
    pub(crate) fn everything(&self) -> Vec<Value> {
        let listable = self
            .kinds()
            .into_iter()
            .filter(|kind| kind.verbs.iter().any(|verb| verb == "list"));
        listable
            .flat_map(|kind| {
                // A kind may be deleted between the two questions.
                let list = self
                    .read(&format!("{}/{}", root(&kind.api_version), kind.resource))
                    .unwrap_or_default();
                let items = list["items"].as_array().cloned().unwrap_or_default();
                items
                    .into_iter()
                    .map(move |item| complete(item, &kind.api_version, &kind.kind))
            })
            .collect()
    }

    /// Creates, with strict field validation.
    pub(crate) fn create(&self, object: &Value) -> Answer {
        self.request(
            "POST",
            &format!("{}?fieldValidation=Strict", self.collection_of(object)),
            "application/json",
            Some(object),
        )
    }

    /// Goes through everything that `create` goes through, admission included, and stores nothing.
    pub(crate) fn try_create(&self, object: &Value) -> Answer {
        self.request(
            "POST",
            &format!(
                "{}?fieldValidation=Strict&dryRun=All",
                self.collection_of(object)
            ),
            "application/json",
            Some(object),
        )
    }

    /// Server-side apply, with strict field validation.
    pub(crate) fn apply(&self, object: &Value) -> Answer {
        self.patch_apply(object, "")
    }

    /// Server-side apply that stores nothing.
    pub(crate) fn try_apply(&self, object: &Value) -> Answer {
        self.patch_apply(object, "&dryRun=All")
    }

    fn patch_apply(&self, object: &Value, more: &str) -> Answer {
        let path = format!(
            "{}?fieldManager={MANAGER}&fieldValidation=Strict&force=true{more}",
            self.path_of(object)
        );
        self.request("PATCH", &path, "application/apply-patch+yaml", Some(object))
    }

    /// Changes the status as a merge patch says.
    pub(crate) fn merge_status(&self, object: &Value, status: &Value) -> Answer {
        let patch = serde_json::json!({ "status": status });
        self.request(
            "PATCH",
            &format!("{}/status", self.path_of(object)),
            "application/merge-patch+json",
            Some(&patch),
        )
    }

    /// Changes the object as a merge patch says.
    pub(crate) fn merge(&self, object: &Value, patch: &Value) -> Answer {
        self.request(
            "PATCH",
            &self.path_of(object),
            "application/merge-patch+json",
            Some(patch),
        )
    }

    /// Deletes.
    pub(crate) fn delete(&self, object: &Value) -> Answer {
        self.request("DELETE", &self.path_of(object), "application/json", None)
    }

    /// Replaces an object by one with the same `resourceVersion`.
    pub(crate) fn replace(&self, object: &Value) -> Answer {
        self.request(
            "PUT",
            &self.path_of(object),
            "application/json",
            Some(object),
        )
    }

    fn resource(&self, api_version: &str, kind: &str) -> Resource {
        let key = (api_version.to_owned(), kind.to_owned());
        let known = self
            .resources
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .get(&key)
            .cloned();
        known.unwrap_or_else(|| {
            // A kind that was created a moment ago may not be in discovery yet.
            let found = super::wait::until(
                &format!("{kind} of {api_version} in discovery"),
                Duration::from_secs(20),
                || {
                    let listed = self
                        .read(&root(api_version))
                        .map_err(|rejection| rejection.to_string())?;
                    let resources = listed["resources"].as_array().cloned().unwrap_or_default();
                    let found = resources.iter().find(|r| {
                        r["kind"] == kind && !r["name"].as_str().unwrap_or("/").contains('/')
                    });
                    let found = found.ok_or_else(|| "not served".to_owned())?;
                    Ok(Resource {
                        plural: found["name"].as_str().unwrap_or_default().to_owned(),
                        namespaced: found["namespaced"] == true,
                    })
                },
            );
            self.resources
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .insert(key, found.clone());
            found
        })
    }
}

/// Items of a list say neither apiVersion nor kind; as objects of their own they need both.
fn complete(mut item: Value, api_version: &str, kind: &str) -> Value {
    item["apiVersion"] = Value::from(api_version);
    item["kind"] = Value::from(kind);
    item
}

fn root(api_version: &str) -> String {
    if api_version.contains('/') {
        format!("/apis/{api_version}")
    } else {
        format!("/api/{api_version}")
    }
}

/// The text of `299 - "…"` (RFC 7234, section 5.5).
fn warning(header: &http::HeaderValue) -> String {
    let text = String::from_utf8_lossy(header.as_bytes()).into_owned();
    let quoted = text.split_once('"').map_or(text.as_str(), |(_, rest)| {
        rest.strip_suffix('"').unwrap_or(rest)
    });
    quoted.replace("\\\"", "\"").replace("\\\\", "\\")
}

/// The server did not answer at all: code 0.
fn unreachable(method: &str, path: &str, error: String) -> Rejection {
    Rejection {
        code: 0,
        status: serde_json::json!({ "message": format!("{method} {path}: {error}") }),
    }
}
