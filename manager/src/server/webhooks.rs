//! The conversion and validation webhooks: requests and answers. The library decides the answers.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Router};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use windlass_capi::api::names::{GROUP, Kind, Version};
use windlass_capi::contract::manager::{CONVERSION_PATH, admission_path};

use super::bodies::{self, Bounds, Pool, Rejection, SMALL, Share};
use super::connections::{Peer, Phase};
use crate::metrics::Metrics;
use crate::reading::{FieldPath, Fields, Unread, read_items};

/// Limits of admissions. A review has the object before and after a change, each of at most 3 MiB,
/// which is the API server's limit of a request; 7 MiB is controller-runtime's. The API server
/// waits 10 seconds.
const ADMISSION: Bounds = Bounds {
    body: 7 << 20,
    pool: 8 << 20,
    time: Duration::from_secs(10),
    grace: Duration::from_secs(2),
    rate: 256 << 10,
    queue: Duration::from_secs(5),
    patience: Duration::from_secs(1),
};

/// Limits of conversions. The API server sends the objects of a list in one request: 16 MiB are a
/// page of kubectl with 500 objects of 32 KB. The API server waits 30 seconds.
const CONVERSION: Bounds = Bounds {
    body: 16 << 20,
    pool: 16 << 20,
    time: Duration::from_secs(30),
    ..ADMISSION
};

/// Bytes of memory of the values of an object: 3 MiB of text, which is the API server's limit, and
/// several thousand fields. Processing an object takes up to five times as much.
const OBJECT: usize = 4 << 20;

/// The same for small bodies. A body that needs more is processed as a large one.
const SMALL_OBJECT: usize = 512 << 10;

/// Small requests of a path that are processed at once. Large requests are processed one by one.
const AT_ONCE: usize = 2;

/// The maximum number of objects whose conversion errors are reported.
const MOST_FAULTS: usize = 10;

/// Characters of the message about one object.
const FAULT: usize = 1_000;

/// The text before the objects of an answer.
const OBJECTS: &str = r#""convertedObjects":["#;

/// How long a list may be converted. The API server does not wait longer.
const CONVERSION_TIME: Duration = Duration::from_secs(30);

/// The time between two log lines about rejections of a path.
const LOGGED: Duration = Duration::from_secs(60);

/// Answers a body; the values of each object may take so many bytes of memory.
type Review = fn(Bytes, usize) -> Result<String, Unread>;

#[derive(Clone)]
struct Webhook {
    path: Arc<str>,
    review: Review,
    is_conversion: bool,
    metrics: Metrics,
    pool: Pool,
    queue: Duration,
    small: Arc<Semaphore>,
    large: Arc<Semaphore>,
    logged: Arc<Mutex<Option<Instant>>>,
}

pub(crate) fn router(metrics: &Metrics) -> Router {
    let conversion = Webhook::new(CONVERSION_PATH, convert, true, CONVERSION, metrics);
    Kind::ALL.iter().fold(conversion.served(), |router, kind| {
        let path = admission_path("validate", GROUP, Version::V1Beta2.as_str(), kind.as_str());
        router.merge(Webhook::new(&path, validate, false, ADMISSION, metrics).served())
    })
}

/// Answers an AdmissionReview. Only the fields that the answer depends on are read: not the old
/// object, for example.
fn validate(body: Bytes, most_bytes: usize) -> Result<String, Unread> {
    const READ: [FieldPath; 6] = [
        &["apiVersion"],
        &["kind"],
        &["request", "uid"],
        &["request", "operation"],
        &["request", "name"],
        &["request", "object"],
    ];
    let question = Fields::only(READ).read_within(&body, most_bytes)?;
    drop(body);
    Ok(windlass_capi::admission::review(&question).to_string())
}

/// Answers a ConversionReview one object after the other, so that only one is in memory as values.
fn convert(body: Bytes, most_bytes: usize) -> Result<String, Unread> {
    const READ: [FieldPath; 2] = [&["request", "uid"], &["request", "desiredAPIVersion"]];
    let mut question = Fields::only(READ).read_within(&body, SMALL)?;
    let mut answer = windlass_capi::conversion::review(&question);
    let until = Instant::now() + CONVERSION_TIME;
    if answer["response"]["result"]["status"] != "Success" {
        return Ok(answer.to_string());
    }
    let nothing = answer.to_string();
    let (before, after) = nothing
        .split_once(OBJECTS)
        .expect("internal error: an answer without objects has an empty list");
    let mut text = String::with_capacity(body.len() + nothing.len());
    text.extend([before, OBJECTS]);
    let (mut separator, mut faults) = ("", Vec::new());
    read_items(&body, &["request", "objects"], most_bytes, &mut |object| {
        if Instant::now() > until {
            faults.push("the conversion of the list takes too long".to_owned());
            return false;
        }
        question["request"]["objects"] = Value::Array(vec![object]);
        let response = &windlass_capi::conversion::review(&question)["response"];
        match &response["convertedObjects"][0] {
            Value::Null => {
                let fault = response["result"]["message"].as_str().unwrap_or_default();
                faults.push(fault.chars().take(FAULT).collect());
            }
            object => {
                write!(text, "{separator}{object}")
                    .expect("internal error: a String takes all that is written");
                separator = ",";
            }
        }
        faults.len() < MOST_FAULTS
    })?;
    if faults.is_empty() {
        text.push_str(after);
        return Ok(text);
    }
    let message = faults.join("; ");
    answer["response"]["result"] = json!({"status": "Failure", "message": message});
    Ok(answer.to_string())
}

impl Webhook {
    fn new(
        path: &str,
        review: Review,
        is_conversion: bool,
        bounds: Bounds,
        metrics: &Metrics,
    ) -> Self {
        Webhook {
            path: path.into(),
            review,
            is_conversion,
            metrics: metrics.clone(),
            pool: Pool::new(bounds),
            queue: bounds.queue,
            small: Arc::new(Semaphore::new(AT_ONCE)),
            large: Arc::new(Semaphore::new(1)),
            logged: Arc::default(),
        }
    }

    fn served(self) -> Router {
        let path = self.path.clone();
        let answer = async move |Extension(peer): Extension<Peer>, body: Body| {
            self.clone().answer(&peer, body).await
        };
        Router::new().route(&path, post(answer))
    }

    async fn answer(self, peer: &Peer, body: Body) -> Response {
        let (counted, begun) = (self.metrics.webhook(&self.path), Instant::now());
        let response = self.reviewed(peer, body).await.unwrap_or_else(|rejection| {
            self.log(&rejection);
            rejection.into_response()
        });
        counted.answered(response.status().as_u16(), begun.elapsed());
        response
    }

    async fn reviewed(&self, peer: &Peer, body: Body) -> Result<Response, Rejection> {
        let (body, share) = self.pool.receive(body, peer).await?;
        peer.enter(Phase::Work);
        let small = match body.len() <= SMALL {
            true => {
                self.work(&self.small, body.clone(), SMALL_OBJECT, share)
                    .await?
            }
            false => (Err(Unread::TooLarge), share),
        };
        let (answer, share) = match small {
            (Err(Unread::TooLarge), share) => self.work(&self.large, body, OBJECT, share).await?,
            answered => answered,
        };
        let answer = answer.map_err(|unread| match unread {
            Unread::TooLarge => {
                let text = format!("an object takes more than {OBJECT} bytes of memory");
                Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, text)
            }
            Unread::Invalid(fault) => Rejection::bad(&format!("the body is not JSON: {fault}")),
        })?;
        let body = bodies::answer(answer, share);
        Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
    }

    /// Processes a request when a turn is free, on a thread for blocking work. Turn and share are
    /// held until then, even if the client disconnects.
    async fn work(
        &self,
        turns: &Arc<Semaphore>,
        body: Bytes,
        most_bytes: usize,
        share: Share,
    ) -> Result<(Result<String, Unread>, Share), Rejection> {
        let turn = timeout(self.queue, turns.clone().acquire_owned()).await;
        let turn = turn.map_err(|_| Rejection::busy())?;
        let review = self.review;
        let work = tokio::task::spawn_blocking(move || {
            let _turn = turn.expect("internal error: the semaphore is never closed");
            (review(body, most_bytes), share)
        });
        work.await.map_err(|fault| {
            if fault.is_panic() {
                self.metrics.webhook_panicked(self.is_conversion);
            }
            tracing::error!(webhook = %self.path, "Webhook panicked");
            let text = "internal error: the webhook panicked";
            Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, text)
        })
    }

    /// Logs a rejection, at most once a minute; metrics count all of them. The log line does not
    /// quote the request.
    fn log(&self, rejection: &Rejection) {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.is_none_or(|logged| logged.elapsed() >= LOGGED) {
            *logged = Some(Instant::now());
            let code = rejection.code.as_u16();
            tracing::warn!(webhook = %self.path, code, reason = rejection.text, "Rejected a request to a webhook");
        }
    }
}

/// One admission webhook at `/one` with small limits.
#[cfg(test)]
pub(super) fn of_one(review: Review, metrics: &Metrics) -> Router {
    of_path("/one", review, metrics)
}

/// One admission webhook at a path, with small limits.
#[cfg(test)]
pub(super) fn of_path(path: &str, review: Review, metrics: &Metrics) -> Router {
    let bounds = Bounds {
        body: 256 << 10,
        pool: 256 << 10,
        grace: Duration::from_secs(1),
        queue: Duration::from_secs(60),
        ..ADMISSION
    };
    Webhook::new(path, review, false, bounds, metrics).served()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(question: &Value) -> Value {
        let answer = convert(question.to_string().into(), OBJECT).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    fn question(version: &str, objects: Value) -> Value {
        let desired = format!("bootstrap.windlass.dev/{version}");
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "request": {"objects": objects, "uid": "u", "desiredAPIVersion": desired},
        })
    }

    fn object(version: &str) -> Value {
        json!({
            "apiVersion": format!("bootstrap.windlass.dev/{version}"), "kind": "WindlassConfig",
            "metadata": {"name": "w", "namespace": "n"}, "spec": {"files": [{"path": "/a", "content": "a"}]},
        })
    }

    #[test]
    fn converts_lists_as_the_library_does() {
        let broken = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}});
        let all = [object("v1beta1"), object("v1beta2"), object("v1beta1")];
        for question in [
            question("v1beta2", json!([])),
            question("v1beta2", json!(all)),
            question("v1beta1", json!(all)),
            question("v1beta1", json!([object("v1beta1"), broken, broken])),
            question("v1beta1", json!({"a": [1]})),
            question("v2", json!(all)),
            json!({}),
            json!([]),
            json!({"request": {"uid": {"convertedObjects": []}, "desiredAPIVersion": "bootstrap.windlass.dev/v1beta2"}}),
        ] {
            let expected = windlass_capi::conversion::review(&question);
            assert_eq!(converted(&question), expected, "{question}");
        }
    }

    #[test]
    fn names_some_of_the_objects_that_cannot_be_converted() {
        let long = json!({"apiVersion": "x".repeat(1 << 20), "kind": "Pod"});
        let answer = converted(&question("v1beta2", json!(vec![long; 30])));
        let message = answer["response"]["result"]["message"].as_str().unwrap();
        assert_eq!(message.matches("; ").count(), MOST_FAULTS - 1);
        assert!(message.len() < MOST_FAULTS * (FAULT + 2));
        // The rest of the list is not read.
        let brackets = format!("[{}[]]", "[],".repeat(5 << 20));
        let body = question("v1beta2", Value::Null).to_string();
        let body = body.replace("null", &brackets);
        let answer = convert(body.into(), OBJECT).unwrap();
        assert!(answer.contains("Failure") && answer.len() < 4_000);
    }

    #[test]
    fn objects_are_bounded_by_the_memory_of_their_values() {
        let brackets = json!(vec![json!([]); 1 << 18]);
        let mut hostile = object("v1beta1");
        hostile["spec"]["x"] = brackets.clone();
        let text = question("v1beta2", json!([hostile])).to_string();
        assert!(text.len() < 1 << 20);
        let answer = convert(text.into(), OBJECT);
        assert!(matches!(answer, Err(Unread::TooLarge)));
        let review = |object: Value| {
            let kind = "AdmissionReview";
            let request =
                json!({"uid": "u", "operation": "UPDATE", "object": object, "oldObject": brackets});
            let review =
                json!({"apiVersion": "admission.k8s.io/v1", "kind": kind, "request": request});
            validate(review.to_string().into(), OBJECT)
        };
        assert!(matches!(review(hostile), Err(Unread::TooLarge)));
        let allowed: Value = serde_json::from_str(&review(object("v1beta2")).unwrap()).unwrap();
        assert_eq!(allowed["response"]["allowed"], true);
        // An object as large as the API server takes, most of which is the text of files.
        let mut large = object("v1beta2");
        let file =
            |index: usize| json!({"path": format!("/{index}"), "content": "x".repeat(10_240)});
        large["spec"]["files"] = (0..300).map(file).collect();
        assert!(review(large).is_ok());
    }
}
