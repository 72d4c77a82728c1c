//! Probes of the kubelet: whether the process lives, and whether it can do its work.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use windlass_capi::contract::manager::{LIVENESS_PATH, READINESS_PATH};

use crate::readiness::Readiness;

pub(crate) fn router(readiness: Readiness) -> Router {
    Router::new()
        .route(LIVENESS_PATH, get(async || "ok"))
        .route(READINESS_PATH, get(async move || ready(&readiness)))
}

/// The text of Kubernetes' own probes: a line for each check, and which one fails.
fn ready(readiness: &Readiness) -> (StatusCode, String) {
    let checks = readiness.checks();
    let failed = checks.iter().any(|(_, failure)| failure.is_some());
    let mut text = String::new();
    for (name, failure) in checks {
        match failure {
            None => text.push_str(&format!("[+]{name} ok\n")),
            Some(why) => text.push_str(&format!("[-]{name} failed: {why}\n")),
        }
    }
    text.push_str(if failed {
        "readyz check failed\n"
    } else {
        "readyz check passed\n"
    });
    (
        if failed {
            StatusCode::SERVICE_UNAVAILABLE
        } else {
            StatusCode::OK
        },
        text,
    )
}
