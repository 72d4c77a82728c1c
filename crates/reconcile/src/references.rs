//! What a spec refers to: Secrets and ConfigMaps for the contents of files and for passwords, and
//! the control plane for templates.

use super::pass::{Pass, Walk};
use super::world::Key;
use windlass_bootstrap::render::input::cluster::ClusterFacts;
use windlass_capi::api::files::ContentFormat;
use windlass_capi::api::v1beta2::WindlassConfigSpec;

impl Pass<'_> {
    /// Looks at all of it. What is not there is the renderer's to tell; what cannot be read ends
    /// the pass.
    pub(super) fn look_at_references(
        &self,
        spec: Option<&WindlassConfigSpec>,
        facts: &ClusterFacts,
    ) -> Walk<()> {
        let keys = spec
            .map(|spec| self.references(spec, facts))
            .unwrap_or_default();
        self.look_at_all(keys.iter().cloned())?;
        keys.iter().try_for_each(|key| self.look(key).map(drop))
    }

    fn references(&self, spec: &WindlassConfigSpec, facts: &ClusterFacts) -> Vec<Key> {
        let namespace = self.world.config().namespace();
        let mut keys = Vec::new();
        for file in spec.files.iter().flatten() {
            if let Some(source) = &file.content_from {
                keys.extend(
                    source
                        .secret
                        .iter()
                        .map(|secret| Key::core("Secret", namespace, &secret.name)),
                );
                keys.extend(
                    source
                        .config_map
                        .iter()
                        .map(|map| Key::core("ConfigMap", namespace, &map.name)),
                );
            }
        }
        let mut files = spec.files.iter().flatten();
        let has_templates = files.any(|file| file.content_format == Some(ContentFormat::Template));
        // The kubeadm provider reads the version of the control plane for every config
        // (`resolveFiles`).
        if has_templates || self.is_kubeadm() {
            keys.extend(facts.control_plane.iter().map(|control_plane| {
                Key::of(
                    &control_plane.group,
                    &control_plane.kind,
                    namespace,
                    &control_plane.name,
                )
            }));
        }
        let passwords = spec
            .users
            .iter()
            .flatten()
            .filter_map(|user| user.passwd_from.as_ref());
        keys.extend(passwords.map(|source| Key::core("Secret", namespace, &source.secret.name)));
        keys.sort();
        keys.dedup();
        keys
    }
}
