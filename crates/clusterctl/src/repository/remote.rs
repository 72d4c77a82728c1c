//! Repositories on the network: releases of GitHub, packages of GitLab. Only with the user's
//! permission.

use super::versions::{self, FileRejection, LATEST, Releases};
use crate::github::{self, GitHub};
use crate::network::{Network, NetworkFault, Request, Token, escaped, is_release_file};
use crate::provider::Provider;
use crate::{Config, Rejection};
use windlass_go_text as go;
use windlass_go_text::url::Url;
use windlass_source::diag::{Remedy, Setting};

/// The variable that holds GitLab's token; in the environment `GITLAB_ACCESS_TOKEN`.
const GITLAB_TOKEN_VARIABLE: &str = "gitlab-access-token";

/// The host of GitLab that gets the token wherever it comes from. Any other must be named: a
/// configuration of somebody else could have its url.
const GITLAB: &str = "gitlab.com";

pub(super) struct RemoteRepository<'w> {
    host: Host<'w>,
    default_version: String,
    components_file: String,
}

enum Host<'w> {
    GitHub {
        client: GitHub<'w>,
        /// What stands before the names of all assets: empty, or a path that ends with `/`.
        prefix: String,
    },
    GitLab {
        network: &'w dyn Network,
        token: Option<String>,
        /// The host, when it does not get the token that is there.
        withheld: Option<String>,
        /// Up to the version.
        package: String,
    },
}

impl<'w> RemoteRepository<'w> {
    /// Finds the repository that an `https` URL names.
    ///
    /// # Errors
    /// When the URL has another form, the network is not allowed, or `latest` stands for nothing.
    pub(super) fn open(
        config: &Config<'w>,
        provider: &Provider,
        url: &Url,
    ) -> Result<Self, Rejection> {
        if url.host == github::HOST {
            return Self::github(config, provider, url).map_err(|rejection| {
                rejection.within("error creating the GitHub repository client")
            });
        }
        if url.host.starts_with("gitlab.") && url.escaped_path.starts_with("/api/v4/projects/") {
            return Self::gitlab(config, provider, url).map_err(|rejection| {
                rejection.within("error creating the GitLab repository client")
            });
        }
        Err(Rejection::new(
            "invalid provider url. Only GitHub and GitLab are supported for \"https\" schema",
        ))
    }

    fn github(config: &Config<'w>, provider: &Provider, url: &Url) -> Result<Self, Rejection> {
        let parts: Vec<&str> = url.path.trim_start_matches('/').split('/').collect();
        let [owner, name, "releases", version, file @ ..] = parts.as_slice() else {
            return Err(not_github());
        };
        let Some((components, folders)) = file.split_last() else {
            return Err(not_github());
        };
        let client = GitHub::new(
            allowed(config, provider)?,
            config.variable(github::TOKEN_VARIABLE),
            owner,
            name,
        );
        let prefix = folders.iter().map(|folder| format!("{folder}/")).collect();
        let host = Host::GitHub { client, prefix };
        let mut repository = RemoteRepository {
            host,
            default_version: (*version).to_owned(),
            components_file: (*components).to_owned(),
        };
        if *version == LATEST {
            let latest = versions::latest_of_contract(&repository)
                .map_err(|rejection| rejection.within("failed to get latest version"))?;
            repository.default_version = latest.version;
        }
        Ok(repository)
    }

    fn gitlab(config: &Config<'w>, provider: &Provider, url: &Url) -> Result<Self, Rejection> {
        let parts: Vec<&str> = url
            .escaped_path
            .trim_start_matches('/')
            .split('/')
            .collect();
        let [
            "api",
            "v4",
            "projects",
            project,
            "packages",
            "generic",
            package,
            version,
            file,
        ] = parts.as_slice()
        else {
            return Err(Rejection::new(
                "invalid url: a GitLab repository url should be in the form https://{host}/api/v4/projects/{projectSlug}/packages/generic/\
                 {packageName}/{defaultVersion}/{componentsPath}",
            ));
        };
        let network = allowed(config, provider)?;
        let is_named = url.host == GITLAB
            || network.is_named(&url.host)
            || config.is_of_file(GITLAB_TOKEN_VARIABLE);
        let token = config
            .variable(GITLAB_TOKEN_VARIABLE)
            .filter(|token| !token.is_empty());
        let host = Host::GitLab {
            network,
            withheld: token
                .as_ref()
                .filter(|_| !is_named)
                .map(|_| url.host.clone()),
            token: token.filter(|_| is_named),
            package: format!(
                "https://{}/api/v4/projects/{project}/packages/generic/{package}",
                url.host
            ),
        };
        Ok(RemoteRepository {
            host,
            default_version: (*version).to_owned(),
            components_file: (*file).to_owned(),
        })
    }
}

fn not_github() -> Rejection {
    Rejection::new(
        "invalid url: a GitHub repository url should be in the form \
         https://github.com/{owner}/{Repository}/releases/{latest|version-tag}/{componentsClient.yaml}",
    )
}

/// The network, when the user allowed it.
fn allowed<'w>(config: &Config<'w>, provider: &Provider) -> Result<&'w dyn Network, Rejection> {
    config.world().network.ok_or_else(|| {
        let remedy = Remedy::new("pass ").setting(Setting::AllowNetwork);
        let remedy = remedy.then(format!(
            "; or download the release of {} and run ",
            provider.label()
        ));
        Rejection::new(format!(
            "{} is on the network, which this program uses only when it is allowed to",
            provider.url
        ))
        .note(remedy.request("repository add DIR", Setting::To, "REPOSITORY"))
    })
}

impl Releases for RemoteRepository<'_> {
    fn default_version(&self) -> &str {
        &self.default_version
    }

    fn components_file(&self) -> &str {
        &self.components_file
    }

    fn versions(&self) -> Result<Vec<String>, Rejection> {
        match &self.host {
            Host::GitHub { client, .. } => client.versions(),
            Host::GitLab { .. } => Ok(vec![self.default_version.clone()]),
        }
    }

    fn file(&self, version: &str, name: &str) -> Result<Vec<u8>, FileRejection> {
        match &self.host {
            Host::GitHub { client, prefix } => {
                let found = client
                    .asset(version, &format!("{prefix}{name}"))
                    .map_err(FileRejection::of)?;
                found.ok_or_else(|| {
                    let message = format!(
                        "failed to get file {} from {} release: 404 Not Found",
                        go::quote(name),
                        go::quote(version)
                    );
                    FileRejection {
                        rejection: Rejection::new(message),
                        is_not_found: true,
                    }
                })
            }
            Host::GitLab {
                network,
                token,
                withheld,
                package,
            } => {
                // The version in the URL is escaped already; one of the command line is not.
                let version = if version == self.default_version {
                    version.to_owned()
                } else {
                    escaped(version)
                };
                gitlab_file(*network, token.as_deref(), package, &version, name).map_err(
                    |rejection| {
                        let note = |host: &String| {
                            let remedy = Remedy::new(format!(
                                "the token was not sent to {host}: if that is your GitLab, pass "
                            ));
                            remedy.set(Setting::GitlabHost, host)
                        };
                        FileRejection::of(
                            withheld.iter().map(note).fold(rejection, Rejection::note),
                        )
                    },
                )
            }
        }
    }
}

fn gitlab_file(
    network: &dyn Network,
    token: Option<&str>,
    package: &str,
    version: &str,
    name: &str,
) -> Result<Vec<u8>, Rejection> {
    let url = format!("{package}/{version}/{name}");
    if let Some(bytes) = network.kept(&url) {
        return Ok(bytes);
    }
    let request = Request {
        token: token.map(Token),
        ..Request::new(&url)
    };
    let bytes = network.get(&request).map_err(|fault| {
        let step = format!(
            "failed to get file {} with version {} from {}",
            go::quote(name),
            go::quote(version),
            go::quote(&url)
        );
        fault.noted(match &fault {
            NetworkFault::Status(401) => {
                Rejection::new("unauthorized access, please check your credentials").within(step)
            }
            NetworkFault::Status(status) => Rejection::new(format!("{step}, got {status}")),
            fault => Rejection::new(fault.to_string()).within(step),
        })
    })?;
    if is_release_file(&bytes) {
        network.keep(&url, &bytes);
    }
    Ok(bytes)
}
