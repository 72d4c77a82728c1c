//! Conversion and validation, as the API server asks for them. What is answered the library says;
//! here it is taken in and sent out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use windlass::api::names::{GROUP, Kind, Version};
use windlass::contract::manager::{CONVERSION_PATH, admission_path};

use crate::metrics::Metrics;

/// What one admission may hold: the object before and after, each of at most 3 MiB. It is
/// controller-runtime's bound.
const ADMISSION_BYTES: u32 = 7 << 20;

/// What one conversion may hold: the API server has whole lists converted.
const CONVERSION_BYTES: u32 = 64 << 20;

/// What requests hold together before others wait for them.
const BYTES_AT_ONCE: u32 = 128 << 20;

/// How long a body may take to come, and wait until others have gone. The API server waits for a
/// webhook 10 seconds, for a conversion 30.
const BODY_TIME: Duration = Duration::from_secs(30);

type Review = fn(&Value) -> Value;

#[derive(Clone)]
struct Webhook {
    path: Arc<str>,
    review: Review,
    is_conversion: bool,
    most_bytes: u32,
    metrics: Metrics,
    /// Bytes of bodies that are being held, of all webhooks.
    bytes: Arc<Semaphore>,
    body_time: Duration,
}

pub(crate) fn router(metrics: &Metrics) -> Router {
    let mut webhooks = vec![(
        CONVERSION_PATH.to_owned(),
        windlass::conversion::review as Review,
        true,
    )];
    for kind in Kind::ALL {
        let path = admission_path("validate", GROUP, Version::V1Beta2.as_str(), kind.as_str());
        webhooks.push((path, windlass::admission::review, false));
    }
    of(webhooks, metrics, BODY_TIME)
}

fn of(webhooks: Vec<(String, Review, bool)>, metrics: &Metrics, body_time: Duration) -> Router {
    let bytes = Arc::new(Semaphore::new(BYTES_AT_ONCE as usize));
    webhooks
        .into_iter()
        .fold(Router::new(), |router, (path, review, is_conversion)| {
            let most_bytes = if is_conversion {
                CONVERSION_BYTES
            } else {
                ADMISSION_BYTES
            };
            let (metrics, bytes) = (metrics.clone(), bytes.clone());
            let webhook = Webhook {
                path: path.as_str().into(),
                review,
                is_conversion,
                most_bytes,
                metrics,
                bytes,
                body_time,
            };
            let answer = async move |headers: HeaderMap, body: Body| {
                webhook.clone().answer(headers, body).await
            };
            router.route(&path, post(answer))
        })
}

impl Webhook {
    async fn answer(self, headers: HeaderMap, body: Body) -> Response {
        let (counted, begun) = (self.metrics.webhook(&self.path), Instant::now());
        let response = self
            .reviewed(&headers, body)
            .await
            .unwrap_or_else(IntoResponse::into_response);
        counted.answered(response.status().as_u16(), begun.elapsed());
        response
    }

    async fn reviewed(
        &self,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Response, (StatusCode, String)> {
        let length = content_length(headers)?;
        if length > u64::from(self.most_bytes) {
            return Err((
                StatusCode::PAYLOAD_TOO_LARGE,
                format!(
                    "the body has {length} bytes, of at most {}",
                    self.most_bytes
                ),
            ));
        }
        let late = |_| {
            (
                StatusCode::REQUEST_TIMEOUT,
                "the body did not come in time".to_owned(),
            )
        };
        let arrived = timeout(self.body_time, async {
            let held = self.bytes.clone().acquire_many_owned(length as u32).await;
            let held = held.expect("internal error: nobody closes the semaphore");
            (to_bytes(body, length as usize).await, held)
        });
        let (body, _held) = arrived.await.map_err(late)?;
        let body = body.map_err(|fault| {
            (
                StatusCode::BAD_REQUEST,
                format!("the body cannot be read: {fault}"),
            )
        })?;
        self.review(body).await
    }

    /// Has the library answer, on a thread where it keeps nobody waiting.
    async fn review(&self, body: Bytes) -> Result<Response, (StatusCode, String)> {
        let review = self.review;
        let work = tokio::task::spawn_blocking(move || {
            let question: Value =
                serde_json::from_slice(&body).map_err(|fault| fault.to_string())?;
            Ok::<_, String>(review(&question).to_string())
        });
        match work.await {
            Ok(Ok(answer)) => {
                Ok(([(header::CONTENT_TYPE, "application/json")], answer).into_response())
            }
            Ok(Err(fault)) => Err((
                StatusCode::BAD_REQUEST,
                format!("the body is no JSON: {fault}"),
            )),
            Err(fault) => {
                if fault.is_panic() {
                    self.metrics.webhook_panicked(self.is_conversion);
                }
                tracing::error!(webhook = %self.path, err = %fault, "Webhook panicked");
                Err((
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "internal error: the webhook panicked".to_owned(),
                ))
            }
        }
    }
}

/// The length that the client gives. Who gives none would be let in without a bound.
fn content_length(headers: &HeaderMap) -> Result<u64, (StatusCode, String)> {
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    length.ok_or_else(|| {
        (
            StatusCode::LENGTH_REQUIRED,
            "Content-Length is missing".to_owned(),
        )
    })
}

/// One admission webhook at `/one`.
#[cfg(test)]
pub(super) fn of_one(review: Review, metrics: &Metrics, body_time: Duration) -> Router {
    of(vec![("/one".to_owned(), review, false)], metrics, body_time)
}
