//! Requests to an API server about objects of any kind, as JSON.

use std::fmt;
use std::time::Duration;

use http::Request;
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde_json::{Value, json};

/// Longer than the timeout of any webhook.
const LIMIT: Duration = Duration::from_secs(40);

/// A client with one identity.
#[derive(Clone)]
pub(crate) struct Api {
    client: kube::Client,
}

/// A kind as its collection is addressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
}

impl Kind {
    pub(crate) fn new(api_version: &str, kind: &str, plural: &str) -> Self {
        Kind {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
        }
    }

    pub(crate) fn group(&self) -> &str {
        self.api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    fn root(&self) -> String {
        match self.api_version.contains('/') {
            true => format!("/apis/{}", self.api_version),
            false => format!("/api/{}", self.api_version),
        }
    }

    /// The path of all objects of a namespace, or of the cluster.
    pub(crate) fn collection(&self, namespace: Option<&str>) -> String {
        match namespace {
            Some(namespace) => format!("{}/namespaces/{namespace}/{}", self.root(), self.plural),
            None => format!("{}/{}", self.root(), self.plural),
        }
    }

    pub(crate) fn path(&self, namespace: Option<&str>, name: &str) -> String {
        format!("{}/{name}", self.collection(namespace))
    }
}

/// A rejected or failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    /// The HTTP status, 0 without an answer.
    pub(crate) code: u16,
    pub(crate) message: String,
}

impl Rejection {
    pub(crate) fn is_missing(&self) -> bool {
        self.code == 404
    }

    /// Whether the same request can succeed later: a webhook or the kind is not served yet.
    pub(crate) fn is_passing(&self) -> bool {
        self.code == 0
            || self.code == 429
            || (self.code == 500
                && ["failed calling webhook", "conversion webhook for"]
                    .iter()
                    .any(|part| self.message.contains(part)))
            || (self.code == 404
                && self
                    .message
                    .contains("could not find the requested resource"))
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            0 => formatter.write_str(&self.message),
            code => write!(formatter, "{code}: {}", self.message),
        }
    }
}

pub(crate) type Answer = Result<Value, Rejection>;

/// How a body changes an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patch {
    Merge,
    Apply,
}

impl Api {
    pub(crate) fn new(client: kube::Client) -> Self {
        Api { client }
    }

    /// Sends a request; the answer is JSON, or a string.
    pub(crate) async fn request(
        &self,
        method: &str,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("Content-Type", content_type)
            .header("Accept", "application/json");
        let body = body.map_or_else(Body::empty, |body| {
            Body::from(body.to_string().into_bytes())
        });
        let request = request.body(body).map_err(|error| unreachable(&error))?;
        let exchange = async {
            let response = self
                .client
                .send(request)
                .await
                .map_err(|error| unreachable(&error))?;
            let code = response.status().as_u16();
            let bytes = response.into_body().collect().await;
            let bytes = bytes.map_err(|error| unreachable(&error))?.to_bytes();
            let value: Value = serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
            if (200..300).contains(&code) {
                return Ok(value);
            }
            let message = value["message"]
                .as_str()
                .or(value.as_str())
                .unwrap_or_default();
            Err(Rejection {
                code,
                message: message.trim().to_owned(),
            })
        };
        tokio::time::timeout(LIMIT, exchange)
            .await
            .unwrap_or_else(|_| {
                Err(Rejection {
                    code: 0,
                    message: format!("no answer to {method} {path} in {} s", LIMIT.as_secs()),
                })
            })
    }

    pub(crate) async fn read(&self, path: &str) -> Answer {
        self.request("GET", path, "application/json", None).await
    }

    pub(crate) async fn create(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        object: &Value,
    ) -> Answer {
        self.request(
            "POST",
            &kind.collection(namespace),
            "application/json",
            Some(object),
        )
        .await
    }

    /// As [`Api::create`], repeated while a webhook or the kind is not served yet.
    pub(crate) async fn create_patiently(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        object: &Value,
        limit: Duration,
    ) -> Answer {
        let deadline = tokio::time::Instant::now() + limit;
        loop {
            match self.create(kind, namespace, object).await {
                Err(rejection)
                    if rejection.is_passing() && tokio::time::Instant::now() < deadline =>
                {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                }
                answer => return answer,
            }
        }
    }

    pub(crate) async fn patch(&self, path: &str, how: Patch, body: &Value) -> Answer {
        let (path, content_type) = match how {
            Patch::Merge => (path.to_owned(), "application/merge-patch+json"),
            Patch::Apply => {
                let joint = if path.contains('?') { '&' } else { '?' };
                (
                    format!("{path}{joint}fieldManager=windlass-conformance&force=true"),
                    "application/apply-patch+yaml",
                )
            }
        };
        self.request("PATCH", &path, content_type, Some(body)).await
    }

    pub(crate) async fn merge(&self, path: &str, body: &Value) -> Answer {
        self.patch(path, Patch::Merge, body).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        let options =
            json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
        self.request("DELETE", path, "application/json", Some(&options))
            .await
    }

    /// The response to a watch, whose body has one event a line.
    pub(crate) async fn watch(&self, path: &str) -> Result<http::Response<Body>, Rejection> {
        let request = Request::get(path).body(Body::empty());
        let request = request.map_err(|error| unreachable(&error))?;
        let response = self
            .client
            .send(request)
            .await
            .map_err(|error| unreachable(&error))?;
        match response.status().as_u16() {
            200 => Ok(response),
            code => Err(Rejection {
                code,
                message: "the watch is rejected".to_owned(),
            }),
        }
    }
}

fn unreachable(error: &dyn std::error::Error) -> Rejection {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        cause = inner.source();
    }
    Rejection { code: 0, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_group_and_scope() {
        let secret = Kind::new("v1", "Secret", "secrets");
        assert_eq!(
            secret.path(Some("a"), "b"),
            "/api/v1/namespaces/a/secrets/b"
        );
        let crd = Kind::new(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "customresourcedefinitions",
        );
        assert_eq!(
            crd.collection(None),
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        );
        assert_eq!((secret.group(), crd.group()), ("", "apiextensions.k8s.io"));
    }

    #[test]
    fn only_unready_servers_are_asked_again() {
        let rejection = |code, message: &str| Rejection {
            code,
            message: message.to_owned(),
        };
        assert!(rejection(500, "Internal error: failed calling webhook \"x\"").is_passing());
        assert!(!rejection(422, "spec is invalid").is_passing());
        assert!(!rejection(404, "secrets \"a\" not found").is_passing());
    }
}
