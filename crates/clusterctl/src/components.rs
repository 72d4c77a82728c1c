//! Components of a provider: what `generate provider` prints, and `init` would install.

use serde_json::{Map, Value, json};

use super::config::{Config, ImageOverrides};
use super::documents::ReadBefore;
use super::provider::Provider;
use super::typed::{self, DAEMON_SET, DEPLOYMENT};
use super::{Rejection, documents, namespaces, template};
use windlass_capi::contract::labels;
use windlass_objects::{Object, fields, pods};

/// Components, processed.
#[derive(Debug, Clone, PartialEq)]
pub struct Components {
    /// The provider as the configuration has it.
    pub provider: Provider,
    /// The version that was read.
    pub version: String,
    /// The names of all variables that inspection finds, in byte order.
    pub variables: Vec<String>,
    /// The images of Deployments and DaemonSets in order of the objects, doubles included.
    pub images: Vec<String>,
    /// Where the objects are.
    pub namespace: String,
    /// The objects, in the order in which clusterctl prints them.
    pub objects: Vec<Value>,
}

/// What the user asks of components.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComponentsOptions {
    /// Where the objects shall be; empty for the namespace that the file names. Not checked, as in
    /// clusterctl.
    pub namespace: String,
    /// Leave variables as they are. Everything else is done all the same.
    pub raw: bool,
}

/// Processes a components file. What was read `before` is not read again.
///
/// # Errors
/// In clusterctl's words, for the first step that fails.
pub(super) fn process(
    config: &Config<'_>,
    provider: Provider,
    version: &str,
    text: &[u8],
    options: &ComponentsOptions,
    before: Option<ReadBefore<'_>>,
) -> Result<Components, Rejection> {
    let shown = &*provider.url_and_file().1;
    let template = template::parse(shown, text)?;
    let variables = template.variables().into_keys().collect();
    let substituted;
    let text = if options.raw {
        text
    } else {
        substituted = template::substitute(config, shown, text, &template)
            .map_err(|rejection| rejection.within("failed to perform variable substitution"))?;
        &substituted
    };
    let label = provider.label();
    let overrides = config.image_overrides();
    let objects = documents::objects(shown, text, before, config.world().budget)?;
    let objects = fix_images(objects, &label, &overrides)
        .map_err(|rejection| rejection.within("failed to apply image overrides"))?;
    let images = objects.iter().flat_map(images).collect();
    let default = default_namespace(&objects)
        .map_err(|rejection| rejection.within("failed to detect default target namespace"))?;
    let namespace = if options.namespace.is_empty() {
        default
    } else {
        options.namespace.clone()
    };
    if namespace.is_empty() {
        return Err(Rejection::new(
            "target namespace can't be defaulted. Please specify a target namespace",
        ));
    }
    let objects = with_namespace(objects, &namespace);
    let mut objects = namespaces::move_all(objects, &namespace).map_err(|rejection| {
        rejection.within("failed to set the TargetNamespace on the components")
    })?;
    objects
        .iter_mut()
        .for_each(|object| add_labels(object, &label));
    Ok(Components {
        provider,
        version: version.to_owned(),
        variables,
        images,
        namespace,
        objects: in_order(objects),
    })
}

/// Converts Deployments and DaemonSets and replaces their images.
fn fix_images(
    objects: Vec<Value>,
    label: &str,
    overrides: &ImageOverrides,
) -> Result<Vec<Value>, Rejection> {
    let fix = |object: Value| {
        let (known, shown) = match fields::kind(&object) {
            "Deployment" => (DEPLOYMENT, "deployment"),
            "DaemonSet" => (DAEMON_SET, "deamonSet"),
            _ => return Ok(object),
        };
        let mut object = typed::round_trip(object, &known)?;
        let name = fields::name(&object).to_owned();
        for (list, step) in [
            ("containers", "failed to fix containers"),
            ("initContainers", "failed to fix init containers"),
        ] {
            for container in fields::items_mut(&mut object, &["spec", "template", "spec", list]) {
                fix_image(container, label, overrides).map_err(|rejection| {
                    rejection
                        .within(step)
                        .within(format!("failed to fix containers in {shown} {name}"))
                })?;
            }
        }
        Ok(object)
    };
    objects.into_iter().map(fix).collect()
}

fn fix_image(
    container: &mut Value,
    label: &str,
    overrides: &ImageOverrides,
) -> Result<(), Rejection> {
    let image = overrides
        .apply(label, fields::text(container, &["image"]))
        .map_err(|rejection| {
            rejection.within(format!(
                "failed to fix image for container {}",
                fields::text(container, &["name"])
            ))
        })?;
    if let Some(container) = container.as_object_mut() {
        container.insert("image".to_owned(), image.into());
    }
    Ok(())
}

/// The images of an object that runs pods.
fn images(object: &Value) -> Vec<String> {
    if !["Deployment", "DaemonSet"].contains(&fields::kind(object)) {
        return Vec::new();
    }
    let lists = ["containers", "initContainers"]
        .map(|list| fields::items(object, &["spec", "template", "spec", list]));
    lists
        .into_iter()
        .flatten()
        .map(|container| fields::text(container, &["image"]).to_owned())
        .collect()
}

/// An image that an object of the components runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunImage {
    /// As the file names it.
    pub written: String,
    /// As clusterctl installs it: after the overrides of the configuration, which are for
    /// Deployments and DaemonSets alone.
    pub run: String,
    /// Whether overrides apply where it is named.
    pub is_overridden: bool,
}

/// The images that objects run, in their order, doubles included.
///
/// # Errors
/// In clusterctl's words, when an image is none, or `images` of the configuration has another form.
pub fn run_images(
    config: &Config<'_>,
    label: &str,
    objects: &[Object],
) -> Result<Vec<RunImage>, Rejection> {
    let overrides = config.image_overrides();
    let mut images = Vec::new();
    for object in objects {
        let is_overridden = ["Deployment", "DaemonSet"].contains(&object.kind());
        for written in pods::images(object.value()) {
            let run = if is_overridden {
                overrides.apply(label, written)?
            } else {
                written.to_owned()
            };
            images.push(RunImage {
                written: written.to_owned(),
                run,
                is_overridden,
            });
        }
    }
    Ok(images)
}

fn default_namespace(objects: &[Value]) -> Result<String, Rejection> {
    let mut namespace = "";
    for object in objects
        .iter()
        .filter(|object| fields::kind(object) == "Namespace")
    {
        if !namespace.is_empty() {
            return Err(Rejection::new(
                "Invalid manifest. There should be no more than one resource with Kind Namespace in the provider components yaml",
            ));
        }
        namespace = fields::name(object);
    }
    Ok(namespace.to_owned())
}

fn with_namespace(mut objects: Vec<Value>, namespace: &str) -> Vec<Value> {
    if !objects
        .iter()
        .any(|object| fields::kind(object) == "Namespace")
    {
        objects.push(
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
        );
    }
    objects
}

/// Adds the labels by which clusterctl finds its objects. If one label is not a string, all labels
/// are lost.
fn add_labels(object: &mut Value, label: &str) {
    let mut labels: Map<String, Value> =
        fields::metadata_texts(object, "labels").unwrap_or_default();
    labels.insert(labels::CLUSTERCTL.to_owned(), "".into());
    labels.insert(labels::PROVIDER.to_owned(), label.into());
    fields::set_metadata(object, "labels", labels.into());
}

/// The Namespace, then cert-manager's objects back to front, then the rest: what clusterctl's
/// comparison, which is not an order, makes of it.
fn in_order(objects: Vec<Value>) -> Vec<Value> {
    let (mut namespaces, rest): (Vec<_>, Vec<_>) = objects
        .into_iter()
        .partition(|object| fields::kind(object) == "Namespace");
    let (mut certificates, rest): (Vec<_>, Vec<_>) = rest
        .into_iter()
        .partition(|object| fields::group_version(object).0 == "cert-manager.io");
    namespaces.reverse();
    certificates.reverse();
    namespaces
        .into_iter()
        .chain(certificates)
        .chain(rest)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namespace_and_certificates_come_first() {
        let object = |name: &str| {
            let (kind, group) = match name.as_bytes()[0] {
                b'n' => ("Namespace", ""),
                b'c' => ("Issuer", "cert-manager.io/"),
                b'a' => ("Order", "acme.cert-manager.io/"),
                _ => ("ConfigMap", ""),
            };
            json!({"apiVersion": format!("{group}v1"), "kind": kind, "metadata": {"name": name}})
        };
        let objects = ["x", "c1", "a", "c2", "n", "y"].map(object).to_vec();
        let sorted = in_order(objects);
        assert_eq!(
            sorted.iter().map(fields::name).collect::<Vec<_>>(),
            ["n", "c2", "c1", "x", "a", "y"]
        );
    }

    #[test]
    fn labels_that_are_no_texts_take_the_others_with_them() {
        let labelled = |labels: Value| {
            let mut object = json!({"metadata": {"labels": labels}});
            add_labels(&mut object, "core");
            object["metadata"]["labels"].clone()
        };
        let ours = json!({"clusterctl.cluster.x-k8s.io": "", "cluster.x-k8s.io/provider": "core"});
        assert_eq!(labelled(json!({"a": "b"}))["a"], "b");
        assert_eq!(labelled(json!({"a": "b", "c": 1})), ours);
        let mut object = json!({"metadata": null});
        add_labels(&mut object, "core");
        assert_eq!(object, json!({"metadata": null}));
    }
}
