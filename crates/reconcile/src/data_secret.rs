//! The Secret with the bootstrap data: named as the config, controlled by it, labelled with the
//! cluster (book: "BootstrapConfig: data secret").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::outcome::{Observed, Outcome};
use super::pass::{Pass, Walk, end};
use super::step::{Action, Event};
use super::subject::{Subject, has_file_discovery, token_of};
use super::world::Key;
use windlass_bootstrap::render::Rendered;
use windlass_bootstrap::render::input::cluster::Reference;
use windlass_bootstrap::render::write::limits::base64_len;
use windlass_bootstrap::render::write::secret::{controller_reference, secret};
use windlass_bootstrap::render::write::size::larger_than;
use windlass_capi::api::names::Version;
use windlass_capi::api::secret::Sensitive;
use windlass_capi::contract::SECRET_TYPE;
use windlass_objects::Object;

/// Annotation of the Secret of a MachinePool of a WindlassConfig: the public part of the token that
/// is in the data, by which a rotation that was cut short is seen.
pub(super) const TOKEN_ID: &str = "bootstrap.windlass.dev/token-id";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretState {
    Absent,
    /// It is of another config, or has no data.
    Stale,
    /// It has data that was made for this config.
    Complete,
}

impl<'a> Pass<'a> {
    fn secret_key(&self) -> Key {
        let config = self.world.config();
        Key::core("Secret", config.namespace(), config.name())
    }

    /// What is known of the Secret. A worker's data has a token, and the token is in the spec
    /// first: without one there is no Secret of this config. Another one of that name is in the
    /// way, which is seen when it is to be made.
    fn look_at_secret(&self, subject: Subject<'_>) -> Walk<Option<&'a Object>> {
        let Subject { config, owner, .. } = subject;
        let has_no_data = config.text(&["status", "dataSecretName"]).is_empty()
            && owner.data_secret_name().is_empty();
        let has_no_token = token_of(self.world.spec()).is_none_or(|token| self.is_fresh(&token))
            && !has_file_discovery(self.world.spec());
        // The kubeadm bootstrap provider makes the Secret first.
        match has_no_data && has_no_token && !owner.is_control_plane_machine() && !self.is_kubeadm()
        {
            true => self.look_at_new(&self.secret_key()),
            false => self.look(&self.secret_key()),
        }
    }

    /// The Secret, once the config is its controller: a backup tool may have dropped the reference,
    /// and another kind may hold the name.
    pub(super) fn adopted_secret(&self, subject: Subject<'_>) -> Walk<SecretState> {
        let Some(secret) = self.look_at_secret(subject)? else {
            return Ok(SecretState::Absent);
        };
        if secret.text(&["type"]) != SECRET_TYPE {
            let message = format!(
                "Secret {} is in the way: it has a different type than {SECRET_TYPE}",
                secret.name()
            );
            return end(
                Outcome::without_data(Observed::failed(message.as_str())).with_fault(message)
            );
        }
        let has_data = secret
            .field(&["data", "value"])
            .and_then(Value::as_str)
            .is_some_and(|value| !value.is_empty());
        let references = secret.items(&["metadata", "ownerReferences"]);
        let own = controller_reference(subject.config, Version::V1Beta2);
        let controller = references
            .iter()
            .find(|reference| reference["controller"] == true);
        match controller {
            Some(controller) if *controller == own => {
                return Ok(if has_data {
                    SecretState::Complete
                } else {
                    SecretState::Stale
                });
            }
            Some(controller) if !is_same_object(controller, &own) => {
                let message = format!(
                    "could not add {} {} as ownerReference to bootstrap Secret {}, it is already controlled by {} {}",
                    subject.config.kind(),
                    subject.config.name(),
                    secret.name(),
                    controller["kind"].as_str().unwrap_or_default(),
                    controller["name"].as_str().unwrap_or_default()
                );
                return end(
                    Outcome::without_data(Observed::failed(message.as_str())).with_fault(message)
                );
            }
            Some(controller) if controller["uid"] != own["uid"] && !is_stated(subject.config) => {
                return Ok(SecretState::Stale);
            }
            _ => {}
        }
        let others = references
            .iter()
            .filter(|reference| !is_same_object(reference, &own));
        let references: Vec<&Value> = others.chain([&own]).collect();
        let metadata = json!({"ownerReferences": references, "resourceVersion": secret.text(&["metadata", "resourceVersion"])});
        self.write(
            self.secret_key(),
            Action::Merge(json!({"metadata": metadata})),
        )
    }

    pub(super) fn has_data(&self, subject: Subject<'_>, rendered: &Rendered) -> Walk<bool> {
        let stored = self
            .look_at_secret(subject)?
            .and_then(|secret| secret.field(&["data"]));
        Ok(stored == secret(subject.config, rendered, None).get("data"))
    }

    /// Writes the Secret. The next pass finds it, and says so in the status.
    pub(super) fn store(
        &self,
        subject: Subject<'_>,
        rendered: &Rendered,
        token: Option<&Sensitive<String>>,
    ) -> Walk<()> {
        let controller = controller_reference(subject.config, Version::V1Beta2);
        let mut secret = secret(subject.config, rendered, Some(controller));
        if subject.owner.is_machine_pool()
            && !self.is_kubeadm()
            && let Some((id, _)) = token.and_then(|token| token.expose().split_once('.'))
        {
            secret["metadata"]["annotations"] = json!({TOKEN_ID: id});
        }
        let old = self.look_at_secret(subject)?;
        let action = match old {
            None => Action::Create(secret),
            Some(old) => {
                secret["metadata"]["resourceVersion"] =
                    json!(old.text(&["metadata", "resourceVersion"]));
                Action::Replace(secret)
            }
        };
        // Of a Secret that gets another token alone nothing new is to be said.
        let size = |secret: &Object| secret.text(&["data", "value"]).len();
        let is_as_large =
            old.is_some_and(|old| size(old) == base64_len(rendered.data.expose().len()));
        match may_be_too_large(subject, rendered).filter(|_| !is_as_large) {
            Some(event) => self.write_and_tell(self.secret_key(), action, event),
            None => self.write(self.secret_key(), action),
        }
    }

    /// Whether the data is known to have this token: by the annotation, or because it can be read
    /// there, as in all forms in which a KubeadmConfig is written.
    pub(super) fn data_has_token(&self, token: &Sensitive<String>) -> Walk<bool> {
        let Some(secret) = self.look(&self.secret_key())? else {
            return Ok(false);
        };
        let id = token.expose().split_once('.').map(|(id, _)| id);
        if secret
            .field(&["metadata", "annotations", TOKEN_ID])
            .and_then(Value::as_str)
            == id
        {
            return Ok(true);
        }
        let data = STANDARD
            .decode(secret.text(&["data", "value"]))
            .unwrap_or_default();
        Ok(data
            .windows(token.expose().len())
            .any(|part| part == token.expose().as_bytes()))
    }
}

/// The event for data that is larger than the infrastructure of the Machine takes, when the config
/// has no limit of its own.
fn may_be_too_large(subject: Subject<'_>, rendered: &Rendered) -> Option<Event> {
    if subject.config.field(&["spec", "maxDataBytes"]).is_some() {
        return None;
    }
    let reference = Reference::read(subject.owner.infrastructure()?)?;
    let message = larger_than(rendered, &reference.group, &reference.kind)?;
    Some(Event {
        reason: "DataMayBeTooLarge",
        message,
    })
}

/// Whether two references name one object, whatever the version and whoever it was: group, kind and
/// name.
fn is_same_object(reference: &Value, own: &Value) -> bool {
    Reference::read(reference) == Reference::read(own)
}

/// Whether the status names a Secret: then it was this one, whoever it says that it belongs to.
fn is_stated(config: &Object) -> bool {
    !config.text(&["status", "dataSecretName"]).is_empty()
}

/// A text of a Secret.
pub(super) fn encoded(text: &str) -> Value {
    STANDARD.encode(text).into()
}
