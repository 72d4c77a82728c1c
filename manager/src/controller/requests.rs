//! Requests: reading and writing objects whose kind is known by name, in either cluster.

use std::error::Error;
use std::future::poll_fn;
use std::pin::pin;
use std::{fmt, io};

use axum::body::HttpBody;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderValue, Request, StatusCode};
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions};
use kube::client::Body;
use kube::core::request::Request as Path;
use kube::discovery::ApiResource;
use kube::{Client, Resource};
use serde_json::Value;
use tokio_rustls::rustls;
use windlass_reconcile::{Action, Key, Realm, quoted};

use super::{keys, protobuf};
use crate::client::NotLeading;
use crate::election::Mandate;
use crate::reading::{Fields, MANAGED_FIELDS, Unread};

/// By whom fields are written (`metadata.managedFields`).
const FIELD_MANAGER: &str = "windlass-manager";

/// Limits of an answer.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// Bytes of the body.
    body: usize,
    /// Bytes of memory of its values.
    values: usize,
}

impl Bounds {
    /// An object of the management cluster: 3 MiB, which is the API server's limit of a request,
    /// and its managed fields.
    const OBJECT: Bounds = Bounds {
        body: 8 << 20,
        values: 32 << 20,
    };

    /// Errors, and all answers of workload clusters, which are not trusted. The manager reads
    /// nothing there but the Secrets of tokens, which have a kilobyte; 300 such answers may arrive
    /// at once.
    const SMALL: Bounds = Bounds {
        body: 64 << 10,
        values: 256 << 10,
    };

    fn of(realm: Realm, code: StatusCode) -> Bounds {
        match realm {
            Realm::Management if code.is_success() => Bounds::OBJECT,
            _ => Bounds::SMALL,
        }
    }
}

/// An answer that was read.
struct Answer {
    realm: Realm,
    code: StatusCode,
    /// `None`: it is larger than its limit.
    body: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rejection {
    /// Somebody else wrote the object first, or it is gone.
    Overtaken,
    /// The server rejects the request: a message without secrets, in which foreign text is quoted.
    Rejected(String),
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

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Overtaken => formatter.write_str("another client wrote it first"),
            Rejection::Rejected(cause) => formatter.write_str(cause),
            Rejection::Silent => formatter.write_str("the API server does not answer"),
            Rejection::Cut => {
                formatter.write_str("the connection to the API server ended before it answered")
            }
            Rejection::Untrusted => formatter.write_str(
                "the certificate of the API server is not one that the kubeconfig trusts",
            ),
            Rejection::NotLeading => NotLeading.fmt(formatter),
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
) -> Result<Option<Value>, Rejection> {
    let request = path(resource, key).get(&key.name, &Default::default());
    let answer = send(client, key.realm, request).await?;
    match answer.code {
        StatusCode::NOT_FOUND => Ok(None),
        _ => answer.accepted().map(Some),
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
) -> Result<Option<Value>, Rejection> {
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
                .map_err(Rejection::Rejected)?;
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
    let answer = send(client, key.realm, request).await?;
    match (action, answer.code) {
        (Action::Delete { .. }, StatusCode::OK | StatusCode::ACCEPTED | StatusCode::NOT_FOUND) => {
            Ok(None)
        }
        (_, StatusCode::NOT_FOUND | StatusCode::CONFLICT) => Err(Rejection::Overtaken),
        _ => answer.accepted().map(Some),
    }
}

fn path(resource: &ApiResource, key: &Key) -> Path {
    Path::new(DynamicObject::url_path(resource, Some(&key.namespace)))
}

/// The code of the answer, and its body. kube's own reading of errors loses the code where a server
/// gives no `Status`.
async fn send(
    client: &Client,
    realm: Realm,
    request: Result<Request<Vec<u8>>, kube::core::request::Error>,
) -> Result<Answer, Rejection> {
    let request = request.map_err(|_| {
        Rejection::Rejected("the object has no name that a request can carry".to_owned())
    })?;
    let answer = client
        .send(request.map(Body::from))
        .await
        .map_err(|error| rejection(&error))?;
    let code = answer.status();
    let body = read_body(answer.into_body(), Bounds::of(realm, code).body).await?;
    Ok(Answer { realm, code, body })
}

/// Reads a body; `None` if it has more bytes.
async fn read_body(body: Body, most_bytes: usize) -> Result<Option<Vec<u8>>, Rejection> {
    let (mut body, mut bytes) = (pin!(body), Vec::new());
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        let frame = frame.map_err(|_| Rejection::Cut)?;
        let data = frame.into_data().unwrap_or_default();
        if bytes.len() + data.len() > most_bytes {
            return Ok(None);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Some(bytes))
}

impl Answer {
    fn accepted(self) -> Result<Value, Rejection> {
        let (code, bounds) = (self.code, Bounds::of(self.realm, self.code));
        let Some(body) = self.body else {
            let of = if code.is_success() {
                ""
            } else {
                "an error of "
            };
            return Err(Rejection::Rejected(format!(
                "{} answered with code {} and {of}more than {} bytes",
                server(self.realm),
                code.as_u16(),
                bounds.body
            )));
        };
        let value = Fields::without([MANAGED_FIELDS]).read_within(&body, bounds.values);
        if code.is_success() {
            return value.map_err(|unread| match unread {
                Unread::TooLarge => Rejection::Rejected(format!(
                    "{} answered with values that take more than {} bytes of memory",
                    server(self.realm),
                    bounds.values
                )),
                Unread::Invalid(_) => Rejection::Silent,
            });
        }
        let message = value.ok().and_then(|status| {
            let text = status["message"].as_str()?;
            (!text.is_empty()).then(|| answered(self.realm, text))
        });
        let server = server(self.realm);
        Err(Rejection::Rejected(message.unwrap_or_else(|| {
            format!("{server} answered with code {}", code.as_u16())
        })))
    }
}

fn server(realm: Realm) -> &'static str {
    match realm {
        Realm::Management => "the API server",
        Realm::Workload => "the API server of the workload cluster",
    }
}

fn answered(realm: Realm, text: &str) -> String {
    format!("{} answered: {}", server(realm), quoted(text))
}

/// The rejection behind an error of kube's, whose own message may quote what it could not read.
/// Errors of the kind `Api` come from requests that kube reads itself, to the management cluster.
pub(super) fn rejection(error: &kube::Error) -> Rejection {
    match error {
        kube::Error::Api(status) => {
            Rejection::Rejected(answered(Realm::Management, &status.message))
        }
        kube::Error::Auth(_) => Rejection::Rejected("the credentials cannot be used".to_owned()),
        other => of_connection(other),
    }
}

/// What an error of a connection means, by what caused it.
fn of_connection(error: &(dyn Error + 'static)) -> Rejection {
    let causes = || {
        std::iter::successors(Some(error), |error: &&(dyn Error + 'static)| {
            (*error).source()
        })
    };
    if causes().any(is_of_certificate) {
        return Rejection::Untrusted;
    }
    if causes().any(|cause| cause.is::<NotLeading>()) {
        return Rejection::NotLeading;
    }
    match causes().find_map(|cause| cause.downcast_ref::<hyper_util::client::legacy::Error>()) {
        Some(error) if !error.is_connect() => Rejection::Cut,
        _ => Rejection::Silent,
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
            rejection(&kube::Error::Service(Box::new(io::Error::other(fault))))
        };
        let untrusted =
            || rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        assert_eq!(of(untrusted()), Rejection::Untrusted);
        // As the limit of time to connect hands it on.
        let nested = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, untrusted()));
        assert_eq!(
            rejection(&kube::Error::Service(Box::new(nested))),
            Rejection::Untrusted
        );
        assert_eq!(of(rustls::Error::HandshakeNotComplete), Rejection::Silent);
    }

    #[test]
    fn who_may_write_no_more_is_told() {
        assert_eq!(
            rejection(&kube::Error::Service(Box::new(NotLeading))),
            Rejection::NotLeading
        );
    }

    #[test]
    fn answers_are_read_whoever_gives_them() {
        let answer = |realm, code: u16, body: &str| {
            let (code, body) = (StatusCode::from_u16(code).unwrap(), body.as_bytes());
            let body = Some(body.to_vec());
            Answer { realm, code, body }.accepted()
        };
        let rejected = |text: &str| Err(Rejection::Rejected(text.to_owned()));
        let object = json!({"kind": "Secret", "metadata": {"name": "a"}});
        let text = r#"{"kind": "Secret", "metadata": {"name": "a", "managedFields": []}}"#;
        let [ours, theirs] = [Realm::Management, Realm::Workload];
        assert_eq!(answer(ours, 200, text), Ok(object.clone()));
        assert_eq!(answer(theirs, 200, text), Ok(object));
        assert_eq!(answer(ours, 200, "<html>"), Err(Rejection::Silent));
        assert_eq!(
            answer(ours, 403, r#"{"message": "no"}"#),
            rejected("the API server answered: “no”")
        );
        assert_eq!(
            answer(theirs, 403, r#"{"message": "no\nway"}"#),
            rejected("the API server of the workload cluster answered: “no way”")
        );
        for body in ["", "<html>", r#"{"ErrStatus": {"message": "x"}}"#] {
            assert_eq!(
                answer(ours, 500, body),
                rejected("the API server answered with code 500")
            );
        }
        let brackets = format!("[{}[]]", "[],".repeat(10_000));
        assert_eq!(
            answer(theirs, 200, &brackets),
            rejected(
                "the API server of the workload cluster answered with values that take more than 262144 bytes of memory"
            )
        );
        assert_eq!(
            answer(theirs, 500, &brackets),
            rejected("the API server of the workload cluster answered with code 500")
        );
        assert!(answer(ours, 200, &brackets).is_ok());
    }

    /// A server that answers with a code, and a message of so many bytes.
    fn server_of(code: u16, bytes: usize) -> Client {
        let service = tower::service_fn(move |_: Request<Body>| async move {
            let answer = json!({"kind": "Status", "message": "x".repeat(bytes)}).to_string();
            let answer = axum::body::Body::from(answer);
            axum::http::Response::builder().status(code).body(answer)
        });
        Client::new(service, "default")
    }

    #[tokio::test]
    async fn cuts_foreign_text_and_reads_little_of_it() {
        for (realm, code, bytes, expected) in [
            (
                Realm::Workload,
                403,
                10_000,
                "the API server of the workload cluster answered: “xxxxxxx",
            ),
            (
                Realm::Workload,
                403,
                1 << 20,
                "the API server of the workload cluster answered with code 403 and an error of more than 65536 bytes",
            ),
            (
                Realm::Workload,
                200,
                1 << 20,
                "the API server of the workload cluster answered with code 200 and more than 65536 bytes",
            ),
            (
                Realm::Management,
                500,
                1 << 20,
                "the API server answered with code 500 and an error of more than 65536 bytes",
            ),
            (Realm::Management, 200, 1 << 20, ""),
        ] {
            let key = Key {
                realm,
                group: String::new(),
                kind: "Secret".to_owned(),
                namespace: "n".to_owned(),
                name: "a".to_owned(),
            };
            let resource = super::super::resources::kubernetes("Secret");
            let answer = read(&server_of(code, bytes), &resource, &key).await;
            match answer.map_err(|rejection| rejection.to_string()) {
                Err(text) => {
                    assert!(!expected.is_empty() && text.starts_with(expected), "{text}");
                    assert!(text.chars().count() < 1_100, "{text}");
                }
                Ok(_) => assert_eq!(expected, "", "{code}"),
            }
        }
    }
}
