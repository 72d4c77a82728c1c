//! Where `--from` leads.

use super::files::FileFault;
use super::github::{self, GitHub};
use super::network::{NetworkFault, Request};
use super::{Config, Rejection};
use windlass_go_text as go;
use windlass_go_text::url::Url;
use windlass_source::diag::{Remedy, Setting};
use windlass_source::url::{UrlText, without_credentials};

/// A template that is not part of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateSource {
    /// What standard input held.
    Stdin(Vec<u8>),
    /// A path or a URL, as the user wrote it.
    Url(UrlText),
}

impl TemplateSource {
    /// The name that hints show.
    pub(super) fn shown(&self) -> String {
        match self {
            TemplateSource::Stdin(_) => "<stdin>".to_owned(),
            TemplateSource::Url(url) => url.to_string(),
        }
    }

    /// The text of the template.
    ///
    /// # Errors
    /// In clusterctl's words; also for what is on the network, unless the user allowed it.
    pub(super) fn read(&self, config: &Config<'_>) -> Result<Vec<u8>, Rejection> {
        match self {
            TemplateSource::Stdin(bytes) => Ok(bytes.clone()),
            TemplateSource::Url(url) => read(config, url)
                .map_err(|rejection| rejection.within("invalid GetFromURL operation")),
        }
    }
}

fn read(config: &Config<'_>, text: &UrlText) -> Result<Vec<u8>, Rejection> {
    let quoted = || go::quote(&text.to_string());
    let url = Url::parse(text.with_credentials())
        .map_err(|fault| Rejection::new(fault).within(format!("failed to parse {}", quoted())))?;
    match url.scheme.as_str() {
        "https" => remote(config, text, &url),
        "file" | "" => {
            let path = without_credentials(&url.path);
            let shown = go::quote(&path);
            // Go opens no empty path.
            let found = if url.path.is_empty() {
                Err(FileFault::Missing)
            } else {
                config.world().files.read(&url.path)
            };
            found.map_err(|fault| match fault {
                FileFault::Missing => Rejection::new(format!("failed to read file {shown}")),
                FileFault::IsFolder => Rejection::new(format!(
                    "invalid path: file {shown} is actually a directory"
                )),
                FileFault::Other(reason) => Rejection::new(format!("open {path}: {reason}"))
                    .within(format!("failed to read file {shown}")),
            })
        }
        _ => Err(Rejection::new(format!(
            "unable to read content from {}. Only reading from GitHub and local file system is supported",
            quoted()
        ))),
    }
}

fn remote(config: &Config<'_>, text: &UrlText, url: &Url) -> Result<Vec<u8>, Rejection> {
    let allowed = || {
        config.world().network.ok_or_else(|| {
            let remedy = Remedy::new("pass ")
                .setting(Setting::AllowNetwork)
                .then(", or download the file and pass its path with ");
            Rejection::new(format!(
                "{text} is on the network, which this program uses only when it is allowed to"
            ))
            .note(remedy.setting(Setting::From))
        })
    };
    if url.host != github::HOST {
        return allowed()?
            .get(&Request::new(text.with_credentials()))
            .map_err(|fault| {
                fault.noted(match &fault {
                    NetworkFault::Status(status) => {
                        Rejection::new(format!("failed to get file, got {status}"))
                    }
                    fault => Rejection::new(fault.to_string()).within("failed to get file"),
                })
            });
    }
    let parts: Vec<&str> = url.path.trim_start_matches('/').split('/').collect();
    let client = |owner, repository| {
        Ok(GitHub::new(
            allowed()?,
            config.variable(github::TOKEN_VARIABLE),
            owner,
            repository,
        ))
    };
    match parts.as_slice() {
        [] | [_] | [_, _] | [_, _, _] | [_, _, _, _] => Err(Rejection::new(format!(
            "invalid GitHub url {}: a GitHub url should be in on of these the forms\n\
             - https://github.com/{{owner}}/{{repository}}/blob/{{branch}}/{{path-to-file}}\n\
             - https://github.com/{{owner}}/{{repository}}/releases/download/{{tag}}/{{asset-file-name}}",
            go::quote(&text.to_string())
        ))),
        [owner, repository, "blob", branch, path @ ..] => {
            client(owner, repository)?.content(branch, &path.join("/"))
        }
        [owner, repository, "releases", "download", tag, asset @ ..] if !asset.is_empty() => {
            let name = asset.join("/");
            let missing = || {
                Rejection::new(format!(
                    "failed to get file {} from {} release",
                    go::quote(&name),
                    go::quote(tag)
                ))
            };
            client(owner, repository)?
                .asset(tag, &name)?
                .ok_or_else(missing)
        }
        _ => Err(Rejection::new(format!("unknown github URL: {text}"))),
    }
}
