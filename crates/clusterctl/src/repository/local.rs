//! A repository in a folder: `{base}/{label}/{version}/{file}`.

use super::versions::{self, Choice, FileRejection, LATEST, Reason, Releases};
use crate::files::{EntryKind, FileFault};
use crate::provider::Provider;
use crate::{Rejection, World};
use windlass_capi::contract::parse_semantic;
use windlass_go_text as go;
use windlass_go_text::path::join;
use windlass_go_text::url::Url;

#[derive(Debug, Clone)]
pub(super) struct LocalRepository<'w> {
    world: World<'w>,
    /// `{base}/{label}`.
    folder: String,
    default_version: String,
    components_file: String,
}

impl<'w> LocalRepository<'w> {
    /// Finds the repository that a provider's URL names. `latest` is resolved here, also when
    /// another version will be read.
    ///
    /// # Errors
    /// When the URL has another form, or `latest` stands for nothing.
    pub(super) fn open(
        world: World<'w>,
        provider: &Provider,
        url: &Url,
    ) -> Result<Self, Rejection> {
        let mut repository = LocalRepository::locate(world, provider, url)?;
        repository.default_version = repository.choose()?.version;
        Ok(repository)
    }

    /// Finds the folder that a provider's URL names, without a look at its versions.
    ///
    /// # Errors
    /// When the URL has another form.
    pub(super) fn locate(
        world: World<'w>,
        provider: &Provider,
        url: &Url,
    ) -> Result<Self, Rejection> {
        let path = &url.path;
        let shown = go::quote(&provider.url.to_string());
        if !path.starts_with('/') {
            return Err(Rejection::new(format!(
                "invalid path: path {shown} must be an absolute path"
            )));
        }
        let parts: Vec<&str> = path.split('/').collect();
        let [base @ .., label, version, file] = parts.as_slice() else {
            return Err(Rejection::new(
                "invalid path: path should be in the form {basepath}/{provider-name}/{version}/{components.yaml}",
            ));
        };
        if *version != LATEST && parse_semantic(version).is_err() {
            return Err(Rejection::new(format!(
                "invalid version: {}. Version must obey the syntax and semantics of the \"Semantic Versioning\" specification \
                 (http://semver.org/) and path format {{basepath}}/{{provider-name}}/{{version}}/{{components.yaml}}",
                go::quote(version)
            )));
        }
        if *label != provider.label() {
            return Err(Rejection::new(format!(
                "invalid path: path {shown} must contain provider {} in the format {{basepath}}/{{provider-label}}/{{version}}/{{components.yaml}}",
                go::quote(&provider.label())
            )));
        }
        let folder = join(&["/", &base.join("/"), label]);
        Ok(LocalRepository {
            world,
            folder,
            default_version: (*version).to_owned(),
            components_file: (*file).to_owned(),
        })
    }

    /// The version that is taken when none is named, and why.
    ///
    /// # Errors
    /// When `latest` stands for nothing.
    pub(super) fn choose(&self) -> Result<Choice, Rejection> {
        if self.default_version == LATEST {
            return versions::latest_of_contract(self)
                .map_err(|rejection| rejection.within("failed to get latest version"));
        }
        Ok(Choice {
            version: self.default_version.clone(),
            reason: Reason::Pinned,
        })
    }

    /// `{base}/{label}`.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }
}

impl Releases for LocalRepository<'_> {
    fn default_version(&self) -> &str {
        &self.default_version
    }

    fn components_file(&self) -> &str {
        &self.components_file
    }

    /// The folders whose names are semantic versions. Links do not count.
    fn versions(&self) -> Result<Vec<String>, Rejection> {
        let entries = self.world.files.entries(&self.folder).map_err(|fault| {
            Rejection::new(format!("open {}: {}", self.folder, fault.reason()))
                .within("failed to list release directories")
        })?;
        let folders = entries
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::Folder)
            .map(|entry| entry.name);
        Ok(folders
            .filter(|name| parse_semantic(name).is_ok())
            .collect())
    }

    fn file(&self, version: &str, name: &str) -> Result<Vec<u8>, FileRejection> {
        let version = if version == LATEST {
            versions::latest(self).map_err(|rejection| {
                FileRejection::of(rejection.within("failed to get the latest release"))
            })?
        } else {
            version.to_owned()
        };
        let path = join(&[&self.folder, &version, name]);
        let shown = go::quote(&path);
        self.world.files.read(&path).map_err(|fault| {
            FileRejection::of(match fault {
                FileFault::IsFolder => Rejection::new(format!(
                    "invalid path: file {} is actually a directory {shown}",
                    go::quote(name)
                )),
                fault => {
                    let verb = if fault == FileFault::Missing {
                        "stat"
                    } else {
                        "open"
                    };
                    Rejection::new(format!("{verb} {path}: {}", fault.reason())).within(format!(
                        "failed to read file {shown} from local release {version}"
                    ))
                }
            })
        })
    }
}
