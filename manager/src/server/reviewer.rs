//! Who may see the metrics: the API server is asked who sent a token, and whether that one may.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode, header};
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::fault::{Fault, told};

/// How long an answer counts, as for controller-runtime's tokens.
const KEPT: Duration = Duration::from_secs(60);

/// Tokens whose answers are kept. A cluster has one Prometheus, or a few.
const TOKENS: usize = 256;

/// Questions to the API server at once; whoever tries many tokens waits.
const QUESTIONS: usize = 4;

/// How long the API server may take for the two questions.
const PATIENCE: Duration = Duration::from_secs(10);

/// The maximum length of a token; longer ones are rejected. ServiceAccount tokens have about
/// 1,000 bytes.
const TOKEN_BYTES: usize = 16 << 10;

/// Asks the API server about callers, and keeps its answers for a while.
#[derive(Clone)]
pub(super) struct Reviewer {
    client: Client,
    known: Arc<Mutex<BTreeMap<String, (Verdict, Instant)>>>,
    questions: Arc<Semaphore>,
}

/// What the API server said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Allowed,
    /// The caller is known, and may not.
    Forbidden,
    /// Nobody knows the caller.
    Unknown,
}

impl Reviewer {
    pub(super) fn new(client: Client) -> Self {
        Reviewer {
            client,
            known: Arc::default(),
            questions: Arc::new(Semaphore::new(QUESTIONS)),
        }
    }

    /// Whether the sender of a request may get a path.
    ///
    /// # Errors
    /// The answer that is due when not, or when the API server cannot be asked.
    pub(super) async fn may_get(
        &self,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<(), (StatusCode, &'static str)> {
        let unknown = (StatusCode::UNAUTHORIZED, "Unauthorized\n");
        let token = bearer(headers).ok_or(unknown)?;
        let verdict = match self.remembered(token) {
            Some(verdict) => verdict,
            None => {
                let asked = timeout(PATIENCE, self.ask(path, token))
                    .await
                    .unwrap_or_else(|_| Err("no answer in time".into()));
                let verdict = asked.map_err(|fault| {
                    tracing::error!(err = %told(fault.as_ref()), "Failed to review access to diagnostics");
                    (StatusCode::INTERNAL_SERVER_ERROR, "Authentication failed\n")
                })?;
                self.remember(token, verdict);
                verdict
            }
        };
        match verdict {
            Verdict::Allowed => Ok(()),
            Verdict::Forbidden => Err((StatusCode::FORBIDDEN, "Forbidden\n")),
            Verdict::Unknown => Err(unknown),
        }
    }

    async fn ask(&self, path: &str, token: &str) -> Result<Verdict, Fault> {
        let _turn = self.questions.acquire().await?;
        let spec = TokenReviewSpec {
            token: token.to_owned(),
            ..TokenReviewSpec::default()
        };
        let question = TokenReview {
            spec,
            ..TokenReview::default()
        };
        let answer = Api::all(self.client.clone())
            .create(&PostParams::default(), &question)
            .await?;
        let user = match answer.status {
            Some(status) if status.authenticated == Some(true) => status.user.unwrap_or_default(),
            _ => return Ok(Verdict::Unknown),
        };
        let question = SubjectAccessReview {
            spec: access(user, path),
            ..SubjectAccessReview::default()
        };
        let answer = Api::all(self.client.clone())
            .create(&PostParams::default(), &question)
            .await?;
        let allowed = answer
            .status
            .is_some_and(|status| status.allowed && status.denied != Some(true));
        Ok(if allowed {
            Verdict::Allowed
        } else {
            Verdict::Forbidden
        })
    }

    fn remembered(&self, token: &str) -> Option<Verdict> {
        self.known()
            .get(token)
            .filter(|(_, end)| Instant::now() < *end)
            .map(|(verdict, _)| *verdict)
    }

    fn remember(&self, token: &str, verdict: Verdict) {
        let (mut known, now) = (self.known(), Instant::now());
        known.retain(|_, (_, end)| now < *end);
        while known.len() >= TOKENS {
            let oldest = known
                .iter()
                .min_by_key(|(_, (_, end))| *end)
                .map(|(token, _)| token.clone());
            oldest.and_then(|token| known.remove(&token));
        }
        known.insert(token.to_owned(), (verdict, now + KEPT));
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, (Verdict, Instant)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `Authorization: Bearer TOKEN`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()?
        .split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("Bearer") && !token.is_empty() && token.len() <= TOKEN_BYTES)
        .then_some(token)
}

/// The question whether somebody may get a path.
fn access(user: UserInfo, path: &str) -> SubjectAccessReviewSpec {
    SubjectAccessReviewSpec {
        extra: user.extra,
        groups: user.groups,
        non_resource_attributes: Some(NonResourceAttributes {
            path: Some(path.to_owned()),
            verb: Some("get".to_owned()),
        }),
        resource_attributes: None,
        uid: user.uid,
        user: user.username,
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::{Body, to_bytes};
    use axum::http::{Request, Response};
    use serde_json::{Value, json};

    use super::*;

    /// An API server that knows two tokens, of which one may; it keeps what it was asked.
    fn api() -> (Client, Arc<Mutex<Vec<Value>>>) {
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = asked.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let kept = kept.clone();
            async move {
                let body = to_bytes(Body::new(request.into_body()), usize::MAX)
                    .await
                    .unwrap();
                let mut review: Value = serde_json::from_slice(&body).unwrap();
                kept.lock().unwrap().push(review.clone());
                let token = review["spec"]["token"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                let (code, status) = match (review["kind"].as_str(), token.as_str()) {
                    (Some("TokenReview"), "down") => (500, json!({})),
                    (Some("TokenReview"), "prometheus" | "nobody") => {
                        let user = json!({"username": token, "uid": "u", "groups": ["g"], "extra": {"scopes": ["s"]}});
                        (201, json!({"authenticated": true, "user": user}))
                    }
                    (Some("TokenReview"), _) => (201, json!({"authenticated": false})),
                    _ => (
                        201,
                        json!({"allowed": review["spec"]["user"] == json!("prometheus")}),
                    ),
                };
                review["status"] = status;
                let answer = if code == 500 {
                    json!({"kind": "Status", "code": 500, "message": "down"})
                } else {
                    review
                };
                Ok::<_, Infallible>(
                    Response::builder()
                        .status(code)
                        .body(Body::from(answer.to_string()))
                        .unwrap(),
                )
            }
        });
        (Client::new(service, "default"), asked)
    }

    fn with(authorization: &str) -> HeaderMap {
        [(header::AUTHORIZATION, authorization.parse().unwrap())]
            .into_iter()
            .collect()
    }

    async fn code(reviewer: &Reviewer, headers: &HeaderMap) -> u16 {
        reviewer
            .may_get("/metrics", headers)
            .await
            .map_or_else(|(code, _)| code.as_u16(), |()| 200)
    }

    #[tokio::test(start_paused = true)]
    async fn the_api_server_decides_and_is_asked_once_a_minute() {
        let (client, asked) = api();
        let reviewer = Reviewer::new(client);
        for _ in 0..3 {
            assert_eq!(code(&reviewer, &with("Bearer prometheus")).await, 200);
            assert_eq!(code(&reviewer, &with("bearer nobody")).await, 403);
            assert_eq!(code(&reviewer, &with("Bearer stranger")).await, 401);
        }
        assert_eq!(asked.lock().unwrap().len(), 5);
        let access = json!({
            "user": "prometheus", "uid": "u", "groups": ["g"], "extra": {"scopes": ["s"]},
            "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
        });
        assert_eq!(asked.lock().unwrap()[1]["spec"], access);
        tokio::time::advance(KEPT).await;
        assert_eq!(code(&reviewer, &with("Bearer prometheus")).await, 200);
        assert_eq!(asked.lock().unwrap().len(), 7);
    }

    #[tokio::test]
    async fn who_shows_no_token_is_not_asked_about() {
        let (client, asked) = api();
        let reviewer = Reviewer::new(client);
        let long = format!("Bearer {}", "x".repeat(TOKEN_BYTES + 1));
        for headers in [
            HeaderMap::new(),
            with("Basic cHJvbWV0aGV1cw=="),
            with("Bearer "),
            with("prometheus"),
            with(&long),
        ] {
            assert_eq!(code(&reviewer, &headers).await, 401, "{headers:?}");
        }
        assert!(asked.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn an_api_server_that_is_down_is_asked_again() {
        let (client, asked) = api();
        let reviewer = Reviewer::new(client);
        assert_eq!(code(&reviewer, &with("Bearer down")).await, 500);
        assert_eq!(code(&reviewer, &with("Bearer down")).await, 500);
        assert_eq!(asked.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn answers_are_kept_for_so_many_tokens_only() {
        let (client, asked) = api();
        let reviewer = Reviewer::new(client);
        for number in 0..TOKENS + 10 {
            assert_eq!(
                code(&reviewer, &with(&format!("Bearer {number}"))).await,
                401
            );
        }
        assert_eq!(reviewer.known().len(), TOKENS);
        // The first has gone, the last is kept.
        let before = asked.lock().unwrap().len();
        code(&reviewer, &with(&format!("Bearer {}", TOKENS + 9))).await;
        assert_eq!(asked.lock().unwrap().len(), before);
        code(&reviewer, &with("Bearer 0")).await;
        assert_eq!(asked.lock().unwrap().len(), before + 1);
    }

    #[tokio::test]
    async fn metrics_are_only_for_who_may() {
        let (client, _) = api();
        let metrics = crate::metrics::Metrics::new();
        let guarded = super::super::diagnostics::router(metrics.clone(), client);
        let open = super::super::diagnostics::open_router(metrics);
        for (router, authorization, expected) in [
            (&guarded, "Bearer prometheus", 200),
            (&guarded, "Bearer nobody", 403),
            (&guarded, "Bearer stranger", 401),
            (&guarded, "None", 401),
            (&open, "None", 200),
        ] {
            let request = Request::get("/metrics")
                .header(header::AUTHORIZATION, authorization)
                .body(Body::empty())
                .unwrap();
            let response = tower::ServiceExt::oneshot(router.clone(), request)
                .await
                .unwrap();
            assert_eq!(response.status().as_u16(), expected, "{authorization}");
            let text = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            assert_eq!(text.starts_with(b"# HELP "), expected == 200);
        }
    }
}
