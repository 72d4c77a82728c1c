//! GitHub as clusterctl uses it without a Go module proxy: releases, their assets, and files of a
//! repository.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use base64::Engine;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Rejection;
use super::network::{Network, NetworkFault, Request, Token, escaped, is_release_file};
use windlass_capi::contract::parse_semantic;
use windlass_go_text as go;

pub(super) const HOST: &str = "github.com";
const API: &str = "https://api.github.com";
const PER_PAGE: usize = 100;
const MOST_PAGES: usize = 50;
/// The assets that GitHub takes for a release.
const MOST_ASSETS: usize = 1000;
/// The bytes of a tag; Git itself takes no longer names of files.
const LONGEST_TAG: usize = 255;
/// The variable that holds the token; in the environment `GITHUB_TOKEN`.
pub(super) const TOKEN_VARIABLE: &str = "github-token";

/// The name of a release, in an answer of the API.
#[derive(Deserialize)]
struct Tag {
    #[serde(default)]
    tag_name: String,
}

/// A release, in an answer of the API.
#[derive(Deserialize)]
struct Release {
    #[serde(default)]
    assets: Vec<Asset>,
}

/// A file of a release, in an answer of the API.
#[derive(Deserialize)]
struct Asset {
    name: String,
    id: u64,
}

/// A file of a branch, in an answer of the API.
#[derive(Deserialize)]
struct Content {
    content: Option<String>,
    #[serde(default)]
    encoding: String,
}

pub(super) struct GitHub<'w> {
    network: &'w dyn Network,
    token: Option<String>,
    owner: String,
    repository: String,
    /// The assets of releases that were looked up.
    releases: RefCell<BTreeMap<String, BTreeMap<String, u64>>>,
    /// The list of releases, once it was asked for.
    versions: OnceCell<Vec<String>>,
}

impl<'w> GitHub<'w> {
    pub(super) fn new(
        network: &'w dyn Network,
        token: Option<String>,
        owner: &str,
        repository: &str,
    ) -> Self {
        let token = token.filter(|token| !token.is_empty());
        GitHub {
            network,
            token,
            owner: owner.to_owned(),
            repository: repository.to_owned(),
            releases: RefCell::default(),
            versions: OnceCell::new(),
        }
    }

    /// The tags of all releases that are semantic versions.
    ///
    /// # Errors
    /// The message of clusterctl.
    pub(super) fn versions(&self) -> Result<Vec<String>, Rejection> {
        if let Some(known) = self.versions.get() {
            return Ok(known.clone());
        }
        let mut versions = Vec::new();
        for page in 1..=MOST_PAGES {
            let releases: Vec<Tag> = self
                .json(
                    &format!("releases?per_page={PER_PAGE}&page={page}"),
                    Request::LIST,
                )
                .map_err(|fault| {
                    rejection(&fault, "failed to get the list of releases".to_owned())
                })?;
            let count = releases.len();
            if count > PER_PAGE {
                let fault = format!("a page has more than {PER_PAGE} releases");
                return Err(
                    Rejection::new(fault).within("failed to get the list of releases".to_owned())
                );
            }
            let tags = releases.into_iter().map(|release| release.tag_name);
            let is_version = |tag: &String| tag.len() <= LONGEST_TAG && parse_semantic(tag).is_ok();
            versions.extend(tags.filter(is_version));
            if count < PER_PAGE {
                break;
            }
        }
        Ok(self.versions.get_or_init(|| versions).clone())
    }

    /// An asset of a release; `None` when there is no such release, or it has no such asset.
    ///
    /// # Errors
    /// The message of clusterctl.
    pub(super) fn asset(&self, tag: &str, name: &str) -> Result<Option<Vec<u8>>, Rejection> {
        let key = format!(
            "https://{HOST}/{}/{}/releases/download/{tag}/{name}",
            self.owner, self.repository
        );
        if let Some(bytes) = self.network.kept(&key) {
            return Ok(Some(bytes));
        }
        let Some(id) = self
            .assets(tag)?
            .and_then(|assets| assets.get(name).copied())
        else {
            return Ok(None);
        };
        let url = self.url(&format!("releases/assets/{id}"));
        let request = Request {
            accept: Some("application/octet-stream"),
            token: self.token(),
            ..Request::new(&url)
        };
        let step = || {
            format!(
                "failed to download file {} from {} release",
                go::quote(name),
                go::quote(tag)
            )
        };
        let bytes = self
            .network
            .get(&request)
            .map_err(|fault| rejection(&fault, step()))?;
        if is_release_file(&bytes) {
            self.network.keep(&key, &bytes);
        }
        Ok(Some(bytes))
    }

    /// A file of a branch, through the contents API.
    ///
    /// # Errors
    /// The message of clusterctl.
    pub(super) fn content(&self, branch: &str, path: &str) -> Result<Vec<u8>, Rejection> {
        let shown = go::quote(&format!(
            "/{}/{}/blob/{branch}/{path}",
            self.owner, self.repository
        ));
        let parts: Vec<String> = path.split('/').map(escaped).collect();
        let answer: Content = self
            .json(
                &format!("contents/{}?ref={}", parts.join("/"), escaped(branch)),
                u64::MAX,
            )
            .map_err(|fault| rejection(&fault, format!("failed to get {shown}")))?;
        let Some(content) = answer.content else {
            return Err(Rejection::new(format!(
                "{shown} does not return a valid file content"
            )));
        };
        if answer.encoding != "base64" {
            return Err(Rejection::new(format!(
                "invalid encoding detected for {shown}. Only base64 encoding supported"
            )));
        }
        let packed: String = content.split_ascii_whitespace().collect();
        let decoded = base64::engine::general_purpose::STANDARD.decode(packed);
        decoded.map_err(|error| {
            Rejection::new(error.to_string()).within(format!("failed to decode file {shown}"))
        })
    }

    /// The ids of a release's assets by name; `None` when there is no such release.
    fn assets(&self, tag: &str) -> Result<Option<BTreeMap<String, u64>>, Rejection> {
        if let Some(known) = self.releases.borrow().get(tag) {
            return Ok(Some(known.clone()));
        }
        let release: Release =
            match self.json(&format!("releases/tags/{}", escaped(tag)), Request::LIST) {
                Ok(release) => release,
                Err(NetworkFault::Status(404)) => return Ok(None),
                Err(fault) => {
                    return Err(rejection(
                        &fault,
                        format!("failed to read release {}", go::quote(tag)),
                    ));
                }
            };
        let assets: BTreeMap<String, u64> = release
            .assets
            .into_iter()
            .take(MOST_ASSETS)
            .map(|asset| (asset.name, asset.id))
            .collect();
        self.releases
            .borrow_mut()
            .insert(tag.to_owned(), assets.clone());
        Ok(Some(assets))
    }

    /// An answer of the API. Only the fields that are read are kept: an answer of many megabytes is
    /// mostly others.
    fn json<T: DeserializeOwned>(&self, path: &str, most: u64) -> Result<T, NetworkFault> {
        let url = self.url(path);
        let request = Request {
            accept: Some("application/vnd.github+json"),
            token: self.token(),
            most: Some(most),
            ..Request::new(&url)
        };
        let bytes = self.network.get(&request)?;
        serde_json::from_slice(&bytes).map_err(|error| match error.is_data() {
            true => NetworkFault::Failed(format!(
                "the answer is not what GitHub's API gives: {error}"
            )),
            false => NetworkFault::Failed(format!("the answer is not JSON: {error}")),
        })
    }

    fn url(&self, path: &str) -> String {
        format!(
            "{API}/repos/{}/{}/{path}",
            escaped(&self.owner),
            escaped(&self.repository)
        )
    }

    fn token(&self) -> Option<Token<'_>> {
        self.token.as_deref().map(Token)
    }
}

fn rejection(fault: &NetworkFault, step: String) -> Rejection {
    let rejection = match fault {
        NetworkFault::RateLimited(_) => Rejection::new(
            "rate limit for github api has been reached. Please wait one hour or get a personal API token and assign it to the GITHUB_TOKEN \
             environment variable",
        ),
        fault => Rejection::new(fault.to_string()).within(step),
    };
    fault.noted(rejection)
}
