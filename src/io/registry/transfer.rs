//! Manifests and blobs there and back (distribution-spec 1.1, "Pull" and "Push").

use ureq::Body;
use ureq::http::{Method, Response, StatusCode};

use super::{Call, Content, MOST_TALK, Registry, RegistryFault, escaped};
use crate::io::network::location;

const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, \
                         application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json";
const BYTES: &str = "application/octet-stream";

impl Registry {
    /// A blob of a known size; `name` is that of its file. Whether it has its digest is for the
    /// caller to see.
    ///
    /// # Errors
    /// There is none, it is larger, or the registry does not answer as one.
    pub fn blob(&self, digest: &str, size: u64, name: &str) -> Result<Vec<u8>, RegistryFault> {
        let response = self.send(&Call {
            method: Method::GET,
            url: self.url(&format!("blobs/{digest}")),
            accept: None,
            content: None,
        })?;
        match response.status() {
            StatusCode::OK => self.body(response, size, name),
            _ => Err(self.status(response, name)),
        }
    }

    /// Uploads a blob in one piece; whether it was not there yet. `name` is that of its file.
    ///
    /// # Errors
    /// The registry does not take it.
    pub fn push_blob(&self, digest: &str, bytes: &[u8], name: &str) -> Result<bool, RegistryFault> {
        let url = self.url(&format!("blobs/{digest}"));
        let there = self.send(&Call {
            method: Method::HEAD,
            url,
            accept: None,
            content: None,
        })?;
        if there.status() == StatusCode::OK {
            return Ok(false);
        }
        let content = |bytes| {
            Some(Content {
                kind: BYTES,
                bytes,
                name,
            })
        };
        let begin = self.send(&Call {
            method: Method::POST,
            url: self.url("blobs/uploads/"),
            accept: None,
            content: content(&[]),
        })?;
        if begin.status() != StatusCode::ACCEPTED {
            return Err(self.status(begin, digest));
        }
        let upload = self.led_to(&self.url(""), location(&begin))?;
        let joint = if upload.contains('?') { '&' } else { '?' };
        let url = format!("{upload}{joint}digest={}", escaped(digest));
        let done = self.send(&Call {
            method: Method::PUT,
            url,
            accept: None,
            content: content(bytes),
        })?;
        match done.status() {
            StatusCode::CREATED => Ok(true),
            _ => Err(self.status(done, digest)),
        }
    }

    /// A manifest by tag or digest, of at most so many bytes; `None` where there is none. Whether
    /// it has its digest is for the caller to see.
    ///
    /// # Errors
    /// It is larger, or the registry does not answer as one.
    pub fn manifest(&self, reference: &str, limit: u64) -> Result<Option<Vec<u8>>, RegistryFault> {
        let url = self.url(&format!("manifests/{reference}"));
        let response = self.send(&Call {
            method: Method::GET,
            url,
            accept: Some(MANIFESTS),
            content: None,
        })?;
        match response.status() {
            StatusCode::OK => self.body(response, limit, "manifest").map(Some),
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(self.status(response, reference)),
        }
    }

    /// Puts a manifest under a tag. Its blobs are there.
    ///
    /// # Errors
    /// The registry does not take it.
    pub fn push_manifest(
        &self,
        tag: &str,
        media_type: &str,
        bytes: &[u8],
    ) -> Result<(), RegistryFault> {
        let url = self.url(&format!("manifests/{tag}"));
        let content = Content {
            kind: media_type,
            bytes,
            name: "manifest",
        };
        let response = self.send(&Call {
            method: Method::PUT,
            url,
            accept: None,
            content: Some(content),
        })?;
        match response.status() {
            StatusCode::CREATED => Ok(()),
            _ => Err(self.status(response, tag)),
        }
    }

    /// What a status says, with the code of the registry's own error where it gives one.
    fn status(&self, response: Response<Body>, what: &str) -> RegistryFault {
        let status = response.status();
        let said = self
            .body(response, MOST_TALK, "answer")
            .ok()
            .and_then(|bytes| {
                let answer: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
                let code = answer["errors"][0]["code"].as_str()?;
                code.bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
                    .then(|| format!(" ({code})"))
            });
        let (base, repository) = (self.base(), &self.endpoint.repository);
        let message = format!(
            "{base} answers {} for {what} of {repository}{}",
            status.as_u16(),
            said.unwrap_or_default()
        );
        match status {
            StatusCode::NOT_FOUND => RegistryFault::new(
                message,
                "check repository, tag and digest; a registry may also hide what you may not see",
            ),
            StatusCode::FORBIDDEN => self.rejected(&format!("403 for {what} of {repository}")),
            StatusCode::TOO_MANY_REQUESTS => RegistryFault::new(
                message,
                "wait a while, or log in: registries allow more requests for authenticated users",
            ),
            _ => RegistryFault::new(message, "try again, or ask the registry's operator"),
        }
    }
}
