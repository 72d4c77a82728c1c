//! Contents of files and passwords: inline, or from Secrets and ConfigMaps.

use super::node_plan::{PlannedFile, PlannedUser};
use crate::render::input::outcome::Notes;
use crate::render::input::placeholder;
use crate::render::input::profile::Profile;
use crate::render::input::secret::{ConfigMap, Secret};
use windlass_capi::api::boot::Platform;
use windlass_capi::api::files::{
    ConfigMapKeyReference, ContentFormat, File, FileDefaults, FileSource, SecretKeyReference,
};
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::v1beta2::User;
use windlass_go_template::{self as template, Fault, MAX_OUTPUT, MAX_VALUE, Rejection};
use windlass_go_text as go;
use windlass_go_text::value::Value;
use windlass_objects::{Object, Pool};
use windlass_source::budget::{Budget, Exceeded, MAX_NESTING, Resource};
use windlass_source::diag::{Diagnostic, FieldPath, rules};

rules! {
    /// a Secret that the config refers to does not exist
    pub SECRET_MISSING = error("config-secret-missing"), requeues();
    /// a Secret that the config refers to lacks the key
    pub SECRET_KEY_MISSING = error("config-secret-key-missing"), requeues();
    /// a ConfigMap that the config refers to does not exist
    pub CONFIG_MAP_MISSING = error("config-configmap-missing"), requeues();
    /// a ConfigMap that the config refers to lacks the key
    pub CONFIG_MAP_KEY_MISSING = error("config-configmap-key-missing"), requeues();
    /// content declared as a template does not parse or fails
    pub TEMPLATE_REJECTED = error("config-template-rejected");
    /// content declared as a template uses something that the renderer does not support
    pub NOT_RENDERED = error("config-field-not-rendered");
    /// the bootstrap data exceeds its size limit
    pub TOO_LARGE = error("bootstrap-data-too-large");
    /// the software on the node does not accept the form of a password
    pub(crate) PASSWORD_UNFIT = error("config-password-unfit");
}

/// The maximum number of bytes of all files of a machine, before anything is made of them. What a
/// Secret holds is a thirtieth of it.
const MOST_BYTES: usize = 32 << 20;

/// The maximum number of characters of a password that cloudbase-init takes.
const LONGEST_WINDOWS_PASSWORD: usize = 20;

/// Where contents come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contents<'a> {
    pub(crate) pool: &'a Pool,
    /// The config, in whose namespace the Secrets are.
    pub(crate) config: &'a Object,
    pub(crate) spec_path: &'a FieldPath,
    /// The CAPI release.
    pub(crate) profile: &'a Profile,
    /// What the run may spend on templates.
    pub(crate) budget: &'a Budget,
    /// Whether findings may quote what is in a Secret.
    pub(crate) show_secrets: bool,
    pub(crate) template_data: &'a Value,
    /// Whether what no file holds is filled in.
    pub(crate) placeholders: bool,
    /// Owner and permissions of files that name none.
    pub(crate) defaults: &'a FileDefaults,
}

/// A content, and whether a Secret holds it.
struct Content {
    bytes: Sensitive<Vec<u8>>,
    is_secret: bool,
}

impl Contents<'_> {
    /// The files with their contents. All that is missing is reported.
    pub(crate) fn files(&self, files: Vec<File>, notes: &mut Notes) -> Option<Vec<PlannedFile>> {
        let (mut planned, mut total, mut is_whole) =
            (Vec::with_capacity(files.len()), 0_usize, true);
        for (index, file) in files.into_iter().enumerate() {
            let file = self.file(index, file, notes);
            total += file.as_ref().map_or(0, |file| file.content.expose().len());
            if total > MOST_BYTES {
                let path = self.spec_path.field("files").index(index);
                let message = format!(
                    "with {path} the files of {} have more than {} MiB",
                    self.config.title(),
                    MOST_BYTES >> 20
                );
                let finding = Diagnostic::of(&TOO_LARGE, message).at(self.config.place(&path));
                return notes.reject(finding.help("let the machine fetch large files itself"));
            }
            is_whole &= file.is_some();
            planned.extend(file);
        }
        is_whole.then_some(planned)
    }

    fn file(&self, index: usize, file: File, notes: &mut Notes) -> Option<PlannedFile> {
        let File {
            path,
            owner,
            permissions,
            encoding,
            transfer_encoding,
            append,
            content,
            content_from,
            content_format,
        } = file;
        let origin = self.spec_path.field("files").index(index);
        let is_secret = content_from
            .as_ref()
            .is_some_and(|source| source.secret.is_some());
        let content = match content_from {
            Some(FileSource {
                secret: Some(reference),
                ..
            }) => self.secret(&reference, &origin.field("contentFrom"), "file", notes)?,
            Some(FileSource {
                config_map: Some(reference),
                ..
            }) => self.config_map(&reference, &origin.field("contentFrom"), notes)?,
            _ => Sensitive::new(content.unwrap_or_default().into_inner().into_bytes()),
        };
        let content = match content_format {
            Some(ContentFormat::Template) => self.templated(
                &path,
                &Content {
                    bytes: content,
                    is_secret,
                },
                &origin,
                notes,
            )?,
            _ => content,
        };
        Some(PlannedFile {
            path,
            owner: owner
                .or_else(|| self.defaults.owner.clone())
                .unwrap_or_default(),
            permissions: permissions
                .or_else(|| self.defaults.permissions.clone())
                .unwrap_or_default(),
            encoding: encoding.map_or("", |encoding| encoding.as_str()),
            append: if self.profile.is_legacy() {
                append.filter(|append| *append)
            } else {
                append
            },
            transfer_encoding,
            content,
            origin: Some(origin),
        })
    }

    /// The content with its template rendered. Go's words quote the template, so that they are kept
    /// back when it is from a Secret.
    fn templated(
        &self,
        path: &str,
        content: &Content,
        origin: &FieldPath,
        notes: &mut Notes,
    ) -> Option<Sensitive<Vec<u8>>> {
        let rejected = |rule, message: String| {
            let place = self.config.place(&origin.field("content"));
            Diagnostic::of(rule, message)
                .at(place)
                .help("write a template that Go's text/template parses; its data is `.controlPlane.version`")
        };
        // Who took the last steps was told.
        if self.budget.is_spent(Resource::Steps) {
            return None;
        }
        let Ok(text) = std::str::from_utf8(content.bytes.expose()) else {
            return notes.reject(rejected(
                &NOT_RENDERED,
                format!("{origin} is a template that is not UTF-8, which is not rendered here"),
            ));
        };
        let failed = |step: &str, rejection: Rejection| {
            let quoted = if content.is_secret && !self.show_secrets {
                String::new()
            } else {
                format!(": {}", rejection.reason)
            };
            let finding = rejected(
                &TEMPLATE_REJECTED,
                format!(
                    "{origin} is a template that fails on line {}{quoted}",
                    rejection.line
                ),
            );
            if quoted.is_empty() {
                return finding;
            }
            finding.upstream(format!(
                "failed to render templates: failed to {step} template for file {}: {rejection}",
                go::quote(path)
            ))
        };
        let finding = match template::render(path, text, self.template_data, self.budget) {
            Ok(text) => return Some(Sensitive::new(text)),
            Err(Fault::Parse(rejection)) => failed("parse", rejection),
            Err(Fault::Execution(rejection)) => failed("execute", rejection),
            Err(Fault::Unsupported(what)) => rejected(
                &NOT_RENDERED,
                format!("{origin} is a template with {what}, which is not rendered here"),
            ),
            Err(Fault::TooLarge) => {
                let finding = rejected(
                    &TEMPLATE_REJECTED,
                    format!(
                        "{origin} is a template with more than {MAX_OUTPUT} bytes as its result"
                    ),
                );
                finding.upstream(format!(
                    "failed to render templates: failed to execute template for file {}: rendered output exceeds the {MAX_OUTPUT} byte limit",
                    go::quote(path)
                ))
            }
            Err(Fault::ValueTooLarge(line)) => {
                let message = format!(
                    "line {line} of the template in {origin} produces a value of more than {MAX_VALUE} bytes"
                );
                rejected(&TEMPLATE_REJECTED, message)
                    .help("make the value smaller; no file may be as large")
            }
            Err(Fault::ValueTooDeep(line)) => {
                let message = format!(
                    "{origin} is a template that makes a value of more than {MAX_NESTING} levels on its line {line}"
                );
                rejected(&TEMPLATE_REJECTED, message)
                    .help("nest fewer lists and maps in one another")
            }
            Err(Fault::TooLong) => {
                let finding = rejected(
                    &TEMPLATE_REJECTED,
                    format!("{origin} is a template that takes {}", Exceeded::STEPS),
                );
                finding
                    .help("make the template smaller; no further template is rendered in this run")
            }
        };
        notes.reject(finding)
    }

    /// The users with their passwords. All that is missing is reported.
    pub(crate) fn users(
        &self,
        users: Vec<User>,
        platform: Option<Platform>,
        notes: &mut Notes,
    ) -> Option<Vec<PlannedUser>> {
        let users: Vec<_> = users
            .into_iter()
            .enumerate()
            .map(|(index, user)| self.user(index, user, platform, notes))
            .collect();
        users.into_iter().collect()
    }

    fn user(
        &self,
        index: usize,
        user: User,
        platform: Option<Platform>,
        notes: &mut Notes,
    ) -> Option<PlannedUser> {
        let User {
            name,
            gecos,
            groups,
            home_dir,
            inactive,
            shell,
            passwd,
            passwd_from,
            primary_group,
            lock_password,
            sudo,
            ssh_authorized_keys,
        } = user;
        let writes_empty_passwd = self.profile.is_legacy() && passwd_from.is_some();
        let passwd = match passwd_from {
            Some(source) => {
                let path = self
                    .spec_path
                    .field("users")
                    .index(index)
                    .field("passwdFrom");
                let passwd = self.secret(&source.secret, &path, "passwd", notes)?;
                if platform == Some(Platform::Windows)
                    && Secret::find(
                        self.pool,
                        self.config.namespace_or_default(),
                        &source.secret.name,
                    )
                    .is_some()
                    && String::from_utf8_lossy(passwd.expose()).chars().count()
                        > LONGEST_WINDOWS_PASSWORD
                {
                    let message =
                        format!("{path} gives a password that cloudbase-init does not take");
                    let finding =
                        Diagnostic::of(&PASSWORD_UNFIT, message).at(self.config.place(&path));
                    return notes.reject(finding.help(
                        "put a password in clear text of at most 20 characters into the Secret",
                    ));
                }
                passwd
            }
            None => Sensitive::new(passwd.unwrap_or_default().into_inner().into_bytes()),
        };
        Some(PlannedUser {
            name,
            passwd,
            writes_empty_passwd,
            gecos: gecos.unwrap_or_default(),
            groups: groups.unwrap_or_default(),
            home_dir: home_dir.unwrap_or_default(),
            inactive: if self.profile.is_legacy() {
                inactive.map(|_| true)
            } else {
                inactive
            },
            lock_password,
            shell: shell.unwrap_or_default(),
            primary_group: primary_group.unwrap_or_default(),
            sudo: sudo.unwrap_or_default(),
            ssh_authorized_keys: ssh_authorized_keys.unwrap_or_default(),
        })
    }

    /// The value of a key of a Secret; `what` is upstream's word for what it is for.
    fn secret(
        &self,
        reference: &SecretKeyReference,
        source: &FieldPath,
        what: &str,
        notes: &mut Notes,
    ) -> Option<Sensitive<Vec<u8>>> {
        let SecretKeyReference { name, key } = reference;
        let namespace = self.config.namespace_or_default();
        let title = self.config.title();
        let path = source.field("secret");
        let Some(secret) = Secret::find(self.pool, namespace, name) else {
            if self.placeholders {
                return Some(self.placeholder("secret", name, key, notes));
            }
            let finding = Diagnostic::of(
                &SECRET_MISSING,
                format!("{title} reads Secret {name}, which no file holds"),
            );
            let finding = finding
                .at(self.config.place(&path.field("name")))
                .help(format!("add the file of Secret {namespace}/{name}"));
            let cause =
                format!("secret not found: {namespace}/{name}: secrets \"{name}\" not found");
            return notes
                .reject(finding.upstream(format!("failed to resolve {what} source: {cause}")));
        };
        match secret.get(key) {
            Ok(Some(value)) => {
                notes.secrets.insert(secret.object().title());
                Some(value)
            }
            Ok(None) => {
                let finding = Diagnostic::of(
                    &SECRET_KEY_MISSING,
                    format!("{title} reads key `{key}` of Secret {name}, which has no such key"),
                );
                let finding = finding
                    .at(self.config.place(&path.field("key")))
                    .help(format!(
                        "add `{key}` to `data` of Secret {namespace}/{name}"
                    ));
                let cause = format!("secret references non-existent secret key: \"{key}\"");
                notes.reject(finding.upstream(format!("failed to resolve {what} source: {cause}")))
            }
            Err(finding) => notes.reject(*finding),
        }
    }

    /// A text in place of a content that nobody has.
    fn placeholder(
        &self,
        kind: &'static str,
        name: &str,
        key: &str,
        notes: &mut Notes,
    ) -> Sensitive<Vec<u8>> {
        let placeholder = placeholder::content(kind, self.config.namespace_or_default(), name, key);
        Sensitive::new(
            format!("placeholder for {kind} {}", notes.placeholder(placeholder)).into_bytes(),
        )
    }

    /// The value of a key of a ConfigMap.
    fn config_map(
        &self,
        reference: &ConfigMapKeyReference,
        source: &FieldPath,
        notes: &mut Notes,
    ) -> Option<Sensitive<Vec<u8>>> {
        let ConfigMapKeyReference { name, key } = reference;
        let namespace = self.config.namespace_or_default();
        let title = self.config.title();
        let path = source.field("configMap");
        let Some(map) = ConfigMap::find(self.pool, namespace, name) else {
            if self.placeholders {
                return Some(self.placeholder("configmap", name, key, notes));
            }
            let finding = Diagnostic::of(
                &CONFIG_MAP_MISSING,
                format!("{title} reads ConfigMap {name}, which no file holds"),
            );
            let finding = finding.at(self.config.place(&path.field("name")));
            return notes
                .reject(finding.help(format!("add the file of ConfigMap {namespace}/{name}")));
        };
        match map.get(key) {
            Ok(Some(value)) => Some(Sensitive::new(value)),
            Ok(None) => {
                let message =
                    format!("{title} reads key `{key}` of ConfigMap {name}, which has no such key");
                let finding = Diagnostic::of(&CONFIG_MAP_KEY_MISSING, message)
                    .at(self.config.place(&path.field("key")));
                notes.reject(finding.help(format!(
                    "add `{key}` to `data` of ConfigMap {namespace}/{name}"
                )))
            }
            Err(finding) => notes.reject(*finding),
        }
    }
}
