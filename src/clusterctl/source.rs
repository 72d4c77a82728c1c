//! Where `--from` leads.

use super::files::FileFault;
use super::{Refusal, World};
use crate::text::go_url::Url;
use crate::text::go_value;

/// A template that is no part of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateSource {
    /// What standard input held.
    Stdin(Vec<u8>),
    /// A path or a URL, as the user wrote it.
    Url(String),
}

impl TemplateSource {
    /// The name that hints show.
    pub(super) fn shown(&self) -> &str {
        match self {
            TemplateSource::Stdin(_) => "<stdin>",
            TemplateSource::Url(url) => url,
        }
    }

    /// The text of the template.
    ///
    /// # Errors
    /// In clusterctl's words; also for what lies on the network.
    pub(super) fn read(&self, world: World<'_>) -> Result<Vec<u8>, Refusal> {
        match self {
            TemplateSource::Stdin(bytes) => Ok(bytes.clone()),
            TemplateSource::Url(url) => read(world, url).map_err(|refusal| refusal.within("invalid GetFromURL operation")),
        }
    }
}

fn read(world: World<'_>, text: &str) -> Result<Vec<u8>, Refusal> {
    let url = Url::parse(text).map_err(|fault| Refusal::new(fault).within(format!("failed to parse {}", go_value::quote(text))))?;
    match url.scheme.as_str() {
        "https" => Err(remote(text, &url)),
        "file" | "" => {
            let shown = go_value::quote(&url.path);
            // Go opens no empty path.
            let found = if url.path.is_empty() { Err(FileFault::Missing) } else { world.files.read(&url.path) };
            found.map_err(|fault| match fault {
                FileFault::Missing => Refusal::new(format!("failed to read file {shown}")),
                FileFault::IsFolder => Refusal::new(format!("invalid path: file {shown} is actually a directory")),
                FileFault::Other(reason) => {
                    Refusal::new(format!("open {}: {reason}", url.path)).within(format!("failed to read file {shown}"))
                }
            })
        }
        _ => Err(Refusal::new(format!(
            "unable to read content from {}. Only reading from GitHub and local file system is supported",
            go_value::quote(text)
        ))),
    }
}

fn remote(text: &str, url: &Url) -> Refusal {
    let parts: Vec<&str> = url.path.trim_start_matches('/').split('/').collect();
    if url.host == "github.com" {
        if parts.len() < 5 {
            return Refusal::new(format!(
                "invalid GitHub url {}: a GitHub url should be in on of these the forms\n\
                 - https://github.com/{{owner}}/{{repository}}/blob/{{branch}}/{{path-to-file}}\n\
                 - https://github.com/{{owner}}/{{repository}}/releases/download/{{tag}}/{{asset-file-name}}",
                go_value::quote(text)
            ));
        }
        let is_asset = parts[2] == "releases" && parts.len() >= 6 && parts[3] == "download";
        if parts[2] != "blob" && !is_asset {
            return Refusal::new(format!("unknown github URL: {text}"));
        }
    }
    Refusal::new(format!("{text} is on the network, which this program does not use"))
        .note("download the file and pass its path with `--from`")
}
