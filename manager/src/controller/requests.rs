//! Requests: reading and writing objects whose kind is known by name, in either cluster.

use std::error::Error;
use std::{fmt, io};

use axum::body::to_bytes;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderValue, Request, StatusCode};
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions};
use kube::client::Body;
use kube::core::request::Request as Path;
use kube::discovery::ApiResource;
use kube::{Client, Resource};
use serde_json::Value;
use tokio_rustls::rustls;
use windlass::reconcile::{Action, Key, Realm};

use super::reading::{Fields, MANAGED_FIELDS};
use super::{keys, protobuf};
use crate::client::NotLeading;
use crate::election::Mandate;

/// By whom fields are written (`metadata.managedFields`).
const FIELD_MANAGER: &str = "windlass-manager";

/// The most bytes of an answer: the API server takes objects of 3 MiB, and workload clusters are
/// not to be trusted.
const MOST_BYTES: usize = 8 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Somebody else wrote the object first, or it is gone.
    Overtaken,
    /// The server answers, and refuses; in words that hold nothing secret.
    Refused(String),
    /// Nobody answers, or nothing that can be read.
    Silent,
    /// The connection ended before the answer did.
    Cut,
    /// Who answers has a certificate that the kubeconfig's authority did not sign, or that is no
    /// good otherwise.
    Untrusted,
    /// It was not sent, as this process may write no more.
    NotLeading,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Overtaken => formatter.write_str("somebody else wrote it first"),
            Refusal::Refused(cause) => formatter.write_str(cause),
            Refusal::Silent => formatter.write_str("the API server does not answer"),
            Refusal::Cut => {
                formatter.write_str("the connection to the API server ended before it answered")
            }
            Refusal::Untrusted => formatter.write_str(
                "the certificate of the API server is not one that the kubeconfig trusts",
            ),
            Refusal::NotLeading => NotLeading.fmt(formatter),
        }
    }
}

/// Reads an object; `None` when there is none.
///
/// # Errors
/// It cannot be read.
pub(super) async fn read(
    client: &Client,
    resource: &ApiResource,
    key: &Key,
) -> Result<Option<Value>, Refusal> {
    let request = path(resource, key).get(&key.name, &Default::default());
    match send(client, request).await? {
        (StatusCode::NOT_FOUND, _) => Ok(None),
        answer => accepted(answer).map(Some),
    }
}

/// Writes an object, and gives what is there now.
///
/// # Errors
/// It was not written; perhaps because the mandate ended while the request waited for its turn.
pub(super) async fn write(
    client: &Client,
    resource: &ApiResource,
    key: &Key,
    action: &Action,
    mandate: &Mandate,
) -> Result<Option<Value>, Refusal> {
    let path = path(resource, key);
    let by_us = PostParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PostParams::default()
    };
    let patched_by_us = PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    };
    let request = match action {
        Action::Create(object) => {
            match protobuf::secret(object).filter(|_| key.realm == Realm::Workload) {
                Some(bytes) => path.create(&by_us, bytes).map(|mut request| {
                    request.headers_mut().insert(
                        CONTENT_TYPE,
                        HeaderValue::from_static(protobuf::CONTENT_TYPE),
                    );
                    request
                        .headers_mut()
                        .insert(ACCEPT, HeaderValue::from_static("application/json"));
                    request
                }),
                None => path.create(&by_us, object.to_string().into_bytes()),
            }
        }
        Action::CreateWithKeys(object, request) => {
            let request = *request;
            // Making a key takes a processor for some time.
            let pair = tokio::task::spawn_blocking(move || {
                keys::pair(&request).map_err(|fault| fault.to_string())
            })
            .await;
            let pair = pair
                .unwrap_or_else(|_| Err("making a key failed".to_owned()))
                .map_err(Refusal::Refused)?;
            let mut object = object.clone();
            object["data"] = pair;
            path.create(&by_us, object.to_string().into_bytes())
        }
        Action::Replace(object) => path.replace(&key.name, &by_us, object.to_string().into_bytes()),
        Action::Merge(patch) => path.patch(&key.name, &patched_by_us, &Patch::Merge(patch)),
        Action::MergeStatus(patch) => {
            path.patch_subresource("status", &key.name, &patched_by_us, &Patch::Merge(patch))
        }
        Action::Delete {
            uid,
            resource_version,
        } => {
            let preconditions = Preconditions {
                uid: Some(uid.clone()),
                resource_version: Some(resource_version.clone()),
            };
            path.delete(
                &key.name,
                &DeleteParams {
                    preconditions: Some(preconditions),
                    ..DeleteParams::default()
                },
            )
        }
    };
    let request = request.map(|mut request| {
        request.extensions_mut().insert(mandate.clone());
        request
    });
    let answer = send(client, request).await?;
    match (action, answer.0) {
        (Action::Delete { .. }, StatusCode::OK | StatusCode::ACCEPTED | StatusCode::NOT_FOUND) => {
            Ok(None)
        }
        (_, StatusCode::NOT_FOUND | StatusCode::CONFLICT) => Err(Refusal::Overtaken),
        _ => accepted(answer).map(Some),
    }
}

fn path(resource: &ApiResource, key: &Key) -> Path {
    Path::new(DynamicObject::url_path(resource, Some(&key.namespace)))
}

/// The code of the answer, and its body. kube's own reading of errors loses the code where a server
/// gives no `Status`.
async fn send(
    client: &Client,
    request: Result<Request<Vec<u8>>, kube::core::request::Error>,
) -> Result<(StatusCode, Vec<u8>), Refusal> {
    let request = request.map_err(|_| {
        Refusal::Refused("the object has no name that a request can carry".to_owned())
    })?;
    let answer = client
        .send(request.map(Body::from))
        .await
        .map_err(|error| refusal(&error))?;
    let code = answer.status();
    let body = to_bytes(axum::body::Body::new(answer.into_body()), MOST_BYTES)
        .await
        .map_err(|_| Refusal::Cut)?;
    Ok((code, body.to_vec()))
}

fn accepted((code, body): (StatusCode, Vec<u8>)) -> Result<Value, Refusal> {
    let value = Fields::without([MANAGED_FIELDS]).read(&body);
    if !code.is_success() {
        let message = value
            .ok()
            .and_then(|status| status["message"].as_str().map(str::to_owned));
        return Err(Refusal::Refused(
            message
                .filter(|text| !text.is_empty())
                .unwrap_or_else(|| format!("code {}", code.as_u16())),
        ));
    }
    value.map_err(|_| Refusal::Silent)
}

/// What is said of an error of kube's. Its own words may quote what it could not read.
pub(super) fn refusal(error: &kube::Error) -> Refusal {
    match error {
        kube::Error::Api(status) => Refusal::Refused(status.message.to_string()),
        kube::Error::Auth(_) => Refusal::Refused("the credentials cannot be used".to_owned()),
        other => of_connection(other),
    }
}

/// What an error of a connection means, by what caused it.
fn of_connection(error: &(dyn Error + 'static)) -> Refusal {
    let causes = || {
        std::iter::successors(Some(error), |error: &&(dyn Error + 'static)| {
            (*error).source()
        })
    };
    if causes().any(is_of_certificate) {
        return Refusal::Untrusted;
    }
    if causes().any(|cause| cause.is::<NotLeading>()) {
        return Refusal::NotLeading;
    }
    match causes().find_map(|cause| cause.downcast_ref::<hyper_util::client::legacy::Error>()) {
        Some(error) if !error.is_connect() => Refusal::Cut,
        _ => Refusal::Silent,
    }
}

fn is_of_certificate(cause: &(dyn Error + 'static)) -> bool {
    // An IO error hides its cause from those who ask for sources, and may be in another one.
    if let Some(hidden) = cause
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        return is_of_certificate(hidden);
    }
    matches!(
        cause.downcast_ref(),
        Some(rustls::Error::InvalidCertificate(_))
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn certificates_that_are_not_trusted_are_told() {
        let of = |fault: rustls::Error| {
            refusal(&kube::Error::Service(Box::new(io::Error::other(fault))))
        };
        let untrusted =
            || rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        assert_eq!(of(untrusted()), Refusal::Untrusted);
        // As the limit of time to connect hands it on.
        let nested = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, untrusted()));
        assert_eq!(
            refusal(&kube::Error::Service(Box::new(nested))),
            Refusal::Untrusted
        );
        assert_eq!(of(rustls::Error::HandshakeNotComplete), Refusal::Silent);
    }

    #[test]
    fn who_may_write_no_more_is_told() {
        assert_eq!(
            refusal(&kube::Error::Service(Box::new(NotLeading))),
            Refusal::NotLeading
        );
    }

    #[test]
    fn answers_are_read_whoever_gives_them() {
        let answer = |code: u16, body: &str| {
            accepted((
                StatusCode::from_u16(code).unwrap(),
                body.as_bytes().to_vec(),
            ))
        };
        let object = json!({"kind": "Secret", "metadata": {"name": "a"}});
        assert_eq!(
            answer(
                200,
                r#"{"kind": "Secret", "metadata": {"name": "a", "managedFields": []}}"#
            ),
            Ok(object)
        );
        assert_eq!(answer(200, "<html>"), Err(Refusal::Silent));
        assert_eq!(
            answer(403, r#"{"message": "no"}"#),
            Err(Refusal::Refused("no".to_owned()))
        );
        for body in ["", "<html>", r#"{"ErrStatus": {"message": "x"}}"#] {
            assert_eq!(
                answer(500, body),
                Err(Refusal::Refused("code 500".to_owned()))
            );
        }
    }
}
