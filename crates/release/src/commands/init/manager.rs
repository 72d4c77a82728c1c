//! The section `manager`: what config/manager, or where a project has it, says, beyond what is made
//! anyway, and what is left to a person.

use serde_json::{Map, Value, json};

use super::Made;
use super::beside::{is_of_webhooks, left_beside, namespace_metadata};
use super::definitions;
use super::identity::Identity;
use super::layout::Base;
use super::patches::Patches;
use super::project::Project;
use crate::emit::manager::{deployment as deployment_of, environment};
use crate::emit::names::Names;
use windlass_capi::contract::{Image, MANAGER_CONTAINER, manager as face, without_tag};
use windlass_objects::{Object, fields, strategic_merge};
use windlass_provider::{Manager, PROVIDER_API_VERSION, PROVIDER_KIND, Provider};
use windlass_source::diag::Report;

/// Fields of the container that stand in provider.yaml under names of their own, or are made.
const SAID: [&str; 6] = ["name", "image", "args", "command", "env", "ports"];
const PROBES: [&str; 2] = ["livenessProbe", "readinessProbe"];
/// Fields of the Deployment that are made of other fields of provider.yaml; the containers are
/// compared by themselves.
const MADE: [&str; 7] = [
    "/apiVersion",
    "/kind",
    "/metadata/name",
    "/metadata/namespace",
    "/status",
    "/spec/template/spec/serviceAccountName",
    "/spec/template/spec/containers",
];

/// What config/manager gives: the section, and what is beside it in provider.yaml.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// `manager`; `None` for a project without one.
    pub(super) section: Option<Value>,
    /// Files with further objects.
    pub(super) objects: Vec<String>,
    /// `namespaceMetadata`.
    pub(super) namespace: Option<Value>,
}

/// Reads the folder of the manager.
pub(super) fn find(
    project: &Project<'_>,
    identity: &Identity,
    patches: &Patches,
    made: &mut Made,
) -> Found {
    let mut found = Found::default();
    for file in project.files_of(Base::Manager) {
        let objects = project.objects(&file, &mut made.report);
        let manager = objects.iter().find(|object| {
            object.is("apps", "Deployment") && container_of(object.value()).is_some()
        });
        match manager.filter(|_| found.section.is_none()) {
            Some(deployment) => {
                found.section = Some(section(
                    project,
                    identity,
                    patches,
                    deployment.value(),
                    made,
                ));
                found.namespace = objects
                    .iter()
                    .find(|object| object.kind() == "Namespace")
                    .and_then(namespace_metadata);
                made.assumed.push(format!(
                    "manager: from {file}; what webhooks and probes need is made"
                ));
                let is_other = |object: &&Object| {
                    object.kind() != "Namespace" && object.value() != deployment.value()
                };
                left_beside(
                    &file,
                    &objects.iter().filter(is_other).collect::<Vec<_>>(),
                    made,
                );
            }
            None if !objects.is_empty() => found.objects.push(file),
            None => {}
        }
    }
    if found.section.is_none() {
        made.left.push(format!(
            "manager: there is no Deployment below {}; without the section nothing runs",
            project.folder(Base::Manager)
        ));
    }
    found
}

fn section(
    project: &Project<'_>,
    identity: &Identity,
    patches: &Patches,
    deployment: &Value,
    made: &mut Made,
) -> Value {
    let container = container_of(deployment).cloned().unwrap_or_default();
    let mut section = Map::new();
    section.insert(
        "image".to_owned(),
        json!(image(project, &container, identity, patches, made)),
    );
    for field in ["command", "args"] {
        match container.get(field) {
            Some(words @ Value::Array(_)) => {
                section.insert(field.to_owned(), words.clone());
            }
            None | Some(Value::Null) => {}
            Some(other) => made.left.push(format!(
                "manager.{field}: the Deployment has {other}, which is not a list: write its words"
            )),
        }
    }
    let environment: Vec<&Value> = fields::items(&container, &["env"])
        .iter()
        .filter(|variable| !is_made(variable))
        .collect();
    if !environment.is_empty() {
        section.insert("env".to_owned(), json!(environment));
    }
    let ports = ports(&container, patches, made);
    if !ports.is_empty() {
        section.insert("ports".to_owned(), Value::Object(ports));
    }
    let webhooks = webhooks(project);
    if !webhooks.is_empty() {
        section.insert("webhooks".to_owned(), json!(webhooks));
    }
    if let Some((field, value)) = definitions::conversion(project, patches) {
        section.insert(field.to_owned(), value);
    }
    match made_of(identity, &section) {
        Ok(ours) => {
            let mut patch = patch(&ours, deployment);
            keep_selector(project, &ours, deployment, &mut patch);
            if !patch.is_empty() {
                section.insert("patch".to_owned(), Value::Object(patch));
            }
        }
        Err(why) => {
            made.left.push(format!("manager: what the Deployment has beyond command, arguments and environment is not taken over: {why}"))
        }
    }
    Value::Object(section)
}

/// The files that say which webhooks are called.
fn webhooks(project: &Project<'_>) -> Vec<String> {
    // What is wrong with the files is said where all of them are looked at.
    let is_of_webhooks = |file: &String| {
        project
            .objects(file, &mut Report::new())
            .iter()
            .any(is_of_webhooks)
    };
    project
        .files_of(Base::Webhooks)
        .into_iter()
        .filter(is_of_webhooks)
        .collect()
}

/// `ports`, where a number is another than that of Cluster API's managers. A manager without
/// probes, which may not answer any, gets none.
fn ports(container: &Value, patches: &Patches, made: &mut Made) -> Map<String, Value> {
    let named = |name: &str| {
        numbered_ports(container)
            .find(|(known, _)| *known == name)
            .map(|(_, number)| number)
    };
    let number = |port: &Value| port.as_u64().or_else(|| named(port.as_str()?));
    let probed = PROBES
        .iter()
        .find_map(|probe| container.pointer(&format!("/{probe}/httpGet/port")));
    let health = match probed {
        Some(port) => number(port),
        None if patches.probe() => None,
        None => {
            made.assumed.push(
                "manager.ports: no port for probes, because the Deployment has none by HTTP"
                    .to_owned(),
            );
            Some(0)
        }
    };
    let all = [
        ("health", face::HEALTH, health),
        ("metrics", face::METRICS, named(face::METRICS.name)),
        ("webhook", face::WEBHOOK, named(face::WEBHOOK.name)),
    ];
    let others = all.into_iter().filter_map(|(field, known, number)| {
        Some((
            field,
            number.filter(|number| *number != u64::from(known.number))?,
        ))
    });
    others
        .map(|(field, number)| (field.to_owned(), json!(number)))
        .collect()
}

/// The ports of a container that have a name.
fn numbered_ports(container: &Value) -> impl Iterator<Item = (&str, u64)> {
    let ports = fields::items(container, &["ports"]).iter();
    ports.filter_map(|port| Some((port["name"].as_str()?, port["containerPort"].as_u64()?)))
}

fn container_of(deployment: &Value) -> Option<&Value> {
    let containers = containers(deployment);
    containers
        .iter()
        .find(|container| container["name"] == MANAGER_CONTAINER)
        .or(containers.first())
}

fn containers(deployment: &Value) -> &[Value] {
    fields::items(deployment, &["spec", "template", "spec", "containers"])
}

/// Whether every manager gets this variable, with this value.
fn is_made(variable: &Value) -> bool {
    environment(&[]).contains(variable)
}

/// The image without its tag: of the Deployment, or what kustomizations and patches put in the
/// place of kubebuilder's `controller`.
fn image(
    project: &Project<'_>,
    container: &Value,
    identity: &Identity,
    patches: &Patches,
    made: &mut Made,
) -> String {
    let found = layered_image(project, fields::text(container, &["image"]), patches, made);
    let name = Image::parse(&found).map_or_else(
        |_| without_tag(&found).to_owned(),
        |image| {
            let (registry, path) = image.registry_and_path();
            format!("{registry}/{path}")
        },
    );
    if name.contains('/') && !name.starts_with("docker.io/library/") {
        return name;
    }
    let placeholder = format!("ghcr.io/OWNER/{}-manager", identity.name);
    made.left.push(format!(
        "manager.image: the project says only `{found}`; write the image with its registry in place of {placeholder}"
    ));
    placeholder
}

/// What an image becomes from the inside out: in each layer patches replace it, and then `images`
/// renames it. What `images` does to others is reported.
fn layered_image(
    project: &Project<'_>,
    written: &str,
    patches: &Patches,
    made: &mut Made,
) -> String {
    let mut image = written.to_owned();
    for folder in std::iter::once(&project.folder(Base::Manager))
        .chain(project.layout().overlays().iter().rev())
    {
        if let Some(patched) = patches.image(folder) {
            patched.clone_into(&mut image);
        }
        let images = fields::items(project.kustomization(folder), &["images"]).iter();
        let (own, others): (Vec<&Value>, Vec<&Value>) =
            images.partition(|entry| fields::text(entry, &["name"]) == without_tag(&image));
        if let Some(name) = own.first().and_then(|entry| entry["newName"].as_str()) {
            name.clone_into(&mut image);
        }
        // kubebuilder's name for the manager is of no other writer.
        let others = others
            .into_iter()
            .map(|entry| fields::text(entry, &["name"]))
            .filter(|name| *name != "controller");
        made.left.extend(others.map(|name| {
            format!("`images` of {folder} changes {name}, which is not taken over: write the image into the file that has it")
        }));
    }
    image
}

/// The Deployment that the section gives.
fn made_of(identity: &Identity, section: &Map<String, Value>) -> Result<Value, serde_json::Error> {
    let provider: Provider = serde_json::from_value(json!({
        "apiVersion": PROVIDER_API_VERSION, "kind": PROVIDER_KIND, "name": identity.name, "type": identity.provider_type, "namespace": identity.namespace,
    }))?;
    let manager: Manager = serde_json::from_value(Value::Object(section.clone()))?;
    let with_webhooks = manager.has_conversion() || !manager.webhooks.is_empty();
    Ok(deployment_of(
        &Names::of(&provider),
        &provider.label(),
        &manager,
        &manager.image,
        with_webhooks,
    ))
}

/// What their Deployment has and ours would not: a patch.
fn patch(ours: &Value, theirs: &Value) -> Map<String, Value> {
    let mut patch = Map::new();
    for (field, value) in theirs.as_object().into_iter().flatten() {
        add_difference(&mut patch, "", field, ours.get(field), value);
    }
    let manager = container_of(theirs);
    let mut differing: Vec<Value> = manager
        .map(|manager| container_patch(container_of(ours), manager))
        .filter(|patch| patch.len() > 1)
        .map(Value::Object)
        .into_iter()
        .collect();
    differing.extend(
        containers(theirs)
            .iter()
            .filter(|container| Some(*container) != manager)
            .cloned(),
    );
    if !differing.is_empty() {
        let pod = ["spec", "template", "spec"]
            .into_iter()
            .fold(&mut patch, below);
        pod.insert("containers".to_owned(), json!(differing));
    }
    patch
}

/// Keeps the selector that kustomize gives the Deployment, with the labels of its pods: a selector
/// is immutable, so that `kubectl apply` and GitOps tools could not upgrade a running installation.
fn keep_selector(
    project: &Project<'_>,
    ours: &Value,
    theirs: &Value,
    patch: &mut Map<String, Value>,
) {
    let labels = |value: &Value, pointer: &str| -> Map<String, Value> {
        let map = value.pointer(pointer).and_then(Value::as_object);
        map.cloned().unwrap_or_default()
    };
    let common = project.labels_of_selectors();
    let mut wanted = labels(theirs, "/spec/selector/matchLabels");
    wanted.extend(common.clone());
    let of_ours = labels(ours, "/spec/selector/matchLabels");
    let is_of_other = |key: &str| {
        wanted
            .get(key)
            .is_some_and(|value| of_ours.get(key) != Some(value))
    };
    // The Services that the build makes select pods by the label of the provider.
    if wanted.is_empty() || is_of_other(windlass_capi::contract::labels::PROVIDER) {
        return;
    }
    let of_pods = "/spec/template/metadata/labels";
    let known = labels(ours, of_pods);
    let own = labels(theirs, of_pods).into_iter().chain(common);
    let own: Map<String, Value> = own
        .filter(|(key, value)| known.get(key) != Some(value))
        .collect();
    if !own.is_empty() {
        let mut at = &mut *patch;
        for field in ["spec", "template", "metadata"] {
            at = below(at, field);
        }
        at.insert("labels".to_owned(), Value::Object(own));
    }
    let spec = below(patch, "spec");
    spec.remove("selector");
    let mut selector = labels(theirs, "/spec/selector");
    selector.insert("matchLabels".to_owned(), Value::Object(wanted));
    if ours.pointer("/spec/selector") != Some(&Value::Object(selector.clone())) {
        selector.insert(strategic_merge::DIRECTIVE.to_owned(), json!("replace"));
        spec.insert("selector".to_owned(), Value::Object(selector));
    }
    if spec.is_empty() {
        patch.remove("spec");
    }
}

/// The map in a field of a patch, which is made if there is none.
fn below<'m>(map: &'m mut Map<String, Value>, field: &str) -> &'m mut Map<String, Value> {
    let value = map.entry(field).or_insert_with(|| json!({}));
    value
        .as_object_mut()
        .expect("internal error: a difference of maps is a map")
}

/// What the manager's container has and ours would not, with its name.
fn container_patch(ours: Option<&Value>, theirs: &Value) -> Map<String, Value> {
    let mut patch = Map::new();
    for (field, value) in theirs
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(field, _)| !SAID.contains(&field.as_str()))
    {
        add_difference(
            &mut patch,
            "",
            field,
            ours.and_then(|ours| ours.get(field)),
            value,
        );
    }
    for probe in PROBES {
        // Path and port are those that are made; the port's number is in `manager.ports`.
        if let Some(Value::Object(probe)) = patch.get_mut(probe) {
            probe.remove("httpGet");
        }
    }
    let made: Vec<(&str, u64)> = ours
        .map(|ours| numbered_ports(ours).collect())
        .unwrap_or_default();
    let known = [face::HEALTH.name, face::METRICS.name, face::WEBHOOK.name];
    let is_own = |port: &&Value| {
        let named = port["name"].as_str().zip(port["containerPort"].as_u64());
        named.is_some_and(|port| !known.contains(&port.0) && !made.contains(&port))
    };
    let own: Vec<&Value> = fields::items(theirs, &["ports"])
        .iter()
        .filter(is_own)
        .collect();
    if !own.is_empty() {
        patch.insert("ports".to_owned(), json!(own));
    }
    patch.retain(|_, value| value.as_object().is_none_or(|map| !map.is_empty()));
    patch.insert("name".to_owned(), json!(MANAGER_CONTAINER));
    patch
}

/// What a patch has to say so that `ours` gets a field of `theirs`, which is below a path: maps
/// by field, everything else whole.
fn add_difference(
    patch: &mut Map<String, Value>,
    above: &str,
    field: &str,
    ours: Option<&Value>,
    theirs: &Value,
) {
    let path = format!("{above}/{field}");
    if MADE.contains(&path.as_str()) || theirs.is_null() || ours == Some(theirs) {
        return;
    }
    let Value::Object(fields) = theirs else {
        patch.insert(field.to_owned(), theirs.clone());
        return;
    };
    let mut below = Map::new();
    for (field, value) in fields {
        add_difference(
            &mut below,
            &path,
            field,
            ours.and_then(|ours| ours.get(field)),
            value,
        );
    }
    // An empty map that ours lacks says something too: `emptyDir: {}`.
    if !below.is_empty() || (ours.is_none() && fields.is_empty()) {
        patch.insert(field.to_owned(), Value::Object(below));
    }
}
