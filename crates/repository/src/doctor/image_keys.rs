//! Keys of `images` in clusterctl.yaml that name no component: clusterctl ignores them
//! (`cmd/clusterctl/client/config/imagemeta_client.go`).

use std::collections::{BTreeMap, BTreeSet};

use windlass_capi::contract::Image;
use windlass_clusterctl::{CERT_MANAGER, Config};
use windlass_go_yaml::yaml::{self, Node};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};
use windlass_source::nearest::nearest;

rules! {
    /// a key of `images` in clusterctl.yaml does not match a component, so clusterctl ignores it
    KEY_UNUSED = warning("configuration-image-key-unused");
}

/// The key that is for all components.
const ALL: &str = "all";

/// The components that a key may name.
#[derive(Debug, Default)]
pub(crate) struct Components {
    /// The labels of providers that are there, and cert-manager.
    known: BTreeSet<String>,
    /// The names of the images that they run, where they were read.
    images: BTreeMap<String, BTreeSet<String>>,
}

impl Components {
    /// The providers of a configuration.
    pub(crate) fn of(config: &Config<'_>) -> Self {
        let configured = config.configured().into_iter().flatten().flatten();
        let mut components = Components::default();
        configured.for_each(|provider| components.add(&provider.label()));
        components.add(CERT_MANAGER);
        components
    }

    pub(crate) fn add(&mut self, label: &str) {
        self.known.insert(label.to_owned());
    }

    /// An image that a component runs.
    pub(crate) fn add_image(&mut self, label: &str, image: &str) {
        self.add(label);
        if let Ok(image) = Image::parse(image) {
            self.images
                .entry(label.to_owned())
                .or_default()
                .insert(image.name);
        }
    }

    /// The key that is meant by one that names nothing.
    fn meant(&self, component: &str, image: Option<&str>) -> Option<String> {
        let plain = component.replace('_', "-");
        let bare = plain
            .strip_prefix("cluster-api-provider-")
            .unwrap_or(&plain);
        let ends = |label: &&String| {
            label.as_str() == bare || label.split_once('-').is_some_and(|(_, name)| name == bare)
        };
        // A component is also known by the image that it runs.
        let runs = |label: &&String| {
            self.images
                .get(*label)
                .is_some_and(|images| images.contains(component))
        };
        let near = || nearest(&plain, self.known.iter().map(String::as_str).chain([ALL]));
        let label = self
            .known
            .iter()
            .find(ends)
            .or_else(|| self.known.iter().find(runs));
        let label = label.map(String::as_str).or_else(near)?;
        Some(match image {
            Some(image) => format!("{label}/{image}"),
            None => label.to_owned(),
        })
    }

    /// Why a key names nothing, and the one that is meant.
    fn unused(&self, key: &str, builtin: &BTreeSet<String>) -> Option<(String, Option<String>)> {
        let (component, image) = match key.split_once('/') {
            Some((component, image)) => (component, Some(image)),
            None => (key, None),
        };
        let is_known = component == ALL && image.is_none()
            || self.known.contains(component)
            || builtin.contains(component);
        if !is_known {
            let why =
                format!("`{key}` under `images` names no component, so clusterctl ignores it");
            return Some((why, self.meant(component, image)));
        }
        let (image, images) = (image?, self.images.get(component)?);
        if images.contains(image) {
            return None;
        }
        let why = format!(
            "`{key}` under `images` names no image of {component}, so clusterctl ignores it"
        );
        let near = nearest(image, images.iter().map(String::as_str)).or_else(|| {
            images
                .iter()
                .next()
                .filter(|_| images.len() == 1)
                .map(String::as_str)
        });
        Some((why, near.map(|near| format!("{component}/{near}"))))
    }
}

/// Reports the keys of `images` in a configuration that name nothing.
pub(crate) fn check(config: &Config<'_>, source: &Source, components: &Components) -> Report {
    let parsed = yaml::parse(source, config.world().budget);
    let Some(document) = parsed.documents.into_iter().next() else {
        return Report::new();
    };
    let builtin: BTreeSet<String> = config
        .providers()
        .into_iter()
        .flatten()
        .map(|provider| provider.label())
        .collect();
    let images = FieldPath::root().field("images");
    let keys = document
        .root
        .at(&images)
        .and_then(Node::as_mapping)
        .into_iter()
        .flatten();
    let finding = |entry: &yaml::Entry| {
        // The configuration knows no upper case.
        let key = entry.key.to_lowercase();
        let (why, meant) = components.unused(&key, &builtin)?;
        let place = source
            .place_at(entry.key_span)
            .in_document(1)
            .at_path(images.key(&entry.key));
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "write `all`, `cert-manager`, or TYPE-NAME of a provider, such as `bootstrap-kubeadm`; one image of it is TYPE-NAME/IMAGE".to_owned(),
        };
        Some(Diagnostic::of(&KEY_UNUSED, why).at(place).help(help))
    };
    keys.filter_map(finding).collect()
}
