//! Metrics, for those whom the API server lets see them. There is no profiling.

use axum::Router;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use kube::Client;

use super::reviewer::Reviewer;
use crate::metrics::{CONTENT_TYPE, Metrics};

/// Where the metrics are, and what one needs the right to get.
const PATH: &str = "/metrics";

/// Answers those whom the API server knows and lets.
pub(crate) fn router(metrics: Metrics, client: Client) -> Router {
    let reviewer = Reviewer::new(client);
    Router::new().route(
        PATH,
        get(
            async move |headers: HeaderMap| match reviewer.may_get(PATH, &headers).await {
                Ok(()) => answer(&metrics),
                Err(rejected) => rejected.into_response(),
            },
        ),
    )
}

/// Answers everybody.
pub(crate) fn open_router(metrics: Metrics) -> Router {
    Router::new().route(PATH, get(async move || answer(&metrics)))
}

fn answer(metrics: &Metrics) -> Response {
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], metrics.text()).into_response()
}
