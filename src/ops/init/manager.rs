//! The section `manager`: what config/manager says, beyond what is made anyway, and what is left to a person.

use serde_json::{Map, Value, json};

use super::Made;
use super::identity::Identity;
use super::project::{Project, inline_patches, patch_paths};
use crate::contract::{Image, MANAGER_CONTAINER, manager as face};
use crate::diag::Report;
use crate::emit::manager::deployment as deployment_of;
use crate::emit::names::Names;
use crate::objects::{Object, fields};
use crate::provider::{Manager, PROVIDER_API_VERSION, PROVIDER_KIND, Provider};

const WEBHOOKS: &str = "config/webhook/manifests.yaml";
const POD: [&str; 3] = ["spec", "template", "spec"];
/// Fields of the container that stand in provider.yaml under names of their own, or are made.
const SAID: [&str; 6] = ["name", "image", "args", "command", "env", "ports"];

const PROBES: [&str; 2] = ["livenessProbe", "readinessProbe"];

/// The section; `None` for a project without a manager.
pub(super) fn section(project: &Project<'_>, identity: &Identity, made: &mut Made) -> Option<Value> {
    let (file, deployment) = deployment(project, made)?;
    let container = container_of(deployment.value())?.clone();
    let mut section = Map::new();
    section.insert("image".to_owned(), json!(image(project, &container, identity, made)));
    for field in ["command", "args"] {
        if container.get(field).is_some_and(|value| fields::items(value, &[]).iter().all(Value::is_string)) {
            section.insert(field.to_owned(), container[field].clone());
        }
    }
    let environment: Vec<&Value> = fields::items(&container, &["env"]).iter().filter(|variable| !is_made(variable)).collect();
    if !environment.is_empty() {
        section.insert("env".to_owned(), json!(environment));
    }
    if let Some(health) =
        container.pointer("/livenessProbe/httpGet/port").and_then(Value::as_u64).filter(|port| *port != u64::from(face::HEALTH.number))
    {
        section.insert("ports".to_owned(), json!({ "health": health }));
    }
    if project.text(WEBHOOKS).is_some() {
        section.insert("webhooks".to_owned(), json!([WEBHOOKS]));
    }
    if project.converts() {
        section.insert("conversion".to_owned(), json!(true));
    }
    let patch = patch(identity, &section, deployment.value());
    if !patch.is_empty() {
        section.insert("patch".to_owned(), Value::Object(patch));
    }
    made.assumed.push(format!("manager: from {file}; Service, Certificate, Issuer, mount and probes are made"));
    left_in(project, &file, made);
    Some(Value::Object(section))
}

/// The Deployment of config/manager, with its file. Other files there need not be objects: kustomize makes ConfigMaps of some.
fn deployment(project: &Project<'_>, made: &mut Made) -> Option<(String, Object)> {
    for path in project.paths("config/manager/") {
        let mut report = Report::new();
        let found = project.objects(&path, &mut report).into_iter().find(|object| object.is("apps", "Deployment"));
        if let Some(deployment) = found {
            made.report.extend(report);
            return Some((path, deployment));
        }
    }
    None
}

fn container_of(deployment: &Value) -> Option<&Value> {
    let containers = fields::items(deployment, &["spec", "template", "spec", "containers"]);
    containers.iter().find(|container| container["name"] == MANAGER_CONTAINER).or(containers.first())
}

/// Variables that every manager gets.
fn is_made(variable: &Value) -> bool {
    matches!(fields::text(variable, &["name"]), "POD_NAMESPACE" | "POD_NAME" | "POD_UID")
}

/// The image without its tag: of the Deployment, or what kustomizations and patches put in the place of kubebuilder's `controller`.
fn image(project: &Project<'_>, container: &Value, identity: &Identity, made: &mut Made) -> String {
    let written = fields::text(container, &["image"]);
    let names = ["config/manager", "config/default"].map(|folder| project.kustomization(folder));
    let renamed = names.iter().flat_map(|kustomization| fields::items(kustomization, &["images"])).find_map(|entry| {
        let is_it = fields::text(entry, &["name"]) == written.split(':').next().unwrap_or_default();
        entry["newName"].as_str().filter(|_| is_it).map(str::to_owned)
    });
    let default = project.kustomization("config/default");
    let patched = patch_paths(&default).find_map(|path| {
        let patch = project.value(&format!("config/default/{path}"));
        container_of(&patch)?.get("image")?.as_str().map(str::to_owned)
    });
    let found = patched.or(renamed).unwrap_or_else(|| written.to_owned());
    let name = Image::parse(&found).map_or_else(
        |_| found.clone(),
        |image| {
            let (registry, path) = image.registry_and_path();
            format!("{registry}/{path}")
        },
    );
    if name.contains('/') && !name.starts_with("docker.io/library/") {
        return name;
    }
    let stand_in = format!("ghcr.io/OWNER/{}-manager", identity.name);
    made.left.push(format!(
        "manager.image: the project says only `{found}`; write the image with its registry in place of {stand_in}"
    ));
    stand_in
}

/// What their Deployment has and ours would not: a patch.
fn patch(identity: &Identity, section: &Map<String, Value>, theirs: &Value) -> Map<String, Value> {
    let provider = json!({
        "apiVersion": PROVIDER_API_VERSION, "kind": PROVIDER_KIND, "name": identity.name, "type": identity.provider_type, "namespace": identity.namespace,
    });
    let (Ok(provider), Ok(manager)) = (
        serde_json::from_value::<Provider>(provider),
        serde_json::from_value::<Manager>(Value::Object(section.clone())),
    ) else {
        return Map::new();
    };
    let with_webhooks = manager.conversion || !manager.webhooks.is_empty();
    let ours = deployment_of(&Names::of(&provider), &provider.label(), &manager, &manager.image, with_webhooks);
    let mut pod = Map::new();
    for (field, value) in fields::field(theirs, &POD).and_then(Value::as_object).into_iter().flatten() {
        // The account is the one of the role files, and the probes' container is below.
        if field != "containers" && field != "serviceAccountName" {
            add_difference(&mut pod, field, fields::field(&ours, &POD).and_then(|pod| pod.get(field)), value);
        }
    }
    let mut container = Map::new();
    let our_container = container_of(&ours).cloned().unwrap_or_default();
    for (field, value) in container_of(theirs).and_then(Value::as_object).into_iter().flatten() {
        if !SAID.contains(&field.as_str()) {
            add_difference(&mut container, field, our_container.get(field), value);
        }
    }
    for probe in PROBES {
        // Path and port are those that are made; the port's number is in `manager.ports`.
        if let Some(Value::Object(probe)) = container.get_mut(probe) {
            probe.remove("httpGet");
        }
    }
    container.retain(|_, value| value.as_object().is_none_or(|map| !map.is_empty()));
    if !container.is_empty() {
        container.insert("name".to_owned(), json!(MANAGER_CONTAINER));
        pod.insert("containers".to_owned(), json!([container]));
    }
    let mut template = Map::new();
    let annotations = fields::field(theirs, &["spec", "template", "metadata", "annotations"])
        .filter(|map| map.as_object().is_some_and(|map| !map.is_empty()));
    if let Some(annotations) = annotations {
        template.insert("metadata".to_owned(), json!({ "annotations": annotations }));
    }
    if !pod.is_empty() {
        template.insert("spec".to_owned(), Value::Object(pod));
    }
    let mut patch = Map::new();
    if !template.is_empty() {
        patch.insert("spec".to_owned(), json!({ "template": template }));
    }
    patch
}

/// What a patch has to say so that `ours` gets the fields of `theirs`: maps by field, everything else whole.
fn add_difference(patch: &mut Map<String, Value>, field: &str, ours: Option<&Value>, theirs: &Value) {
    match (ours, theirs) {
        (Some(ours), theirs) if ours == theirs => {}
        (Some(Value::Object(ours)), Value::Object(theirs)) => {
            let mut below = Map::new();
            for (field, value) in theirs {
                add_difference(&mut below, field, ours.get(field), value);
            }
            if !below.is_empty() {
                patch.insert(field.to_owned(), Value::Object(below));
            }
        }
        _ => {
            patch.insert(field.to_owned(), theirs.clone());
        }
    }
}

/// What provider.yaml cannot say of the files of the manager, and which patches of kustomize are not taken over.
fn left_in(project: &Project<'_>, manager_file: &str, made: &mut Made) {
    let others: Vec<String> = project
        .objects(manager_file, &mut Report::new())
        .iter()
        .filter(|object| !object.is("apps", "Deployment") && object.kind() != "Namespace")
        .map(Object::title)
        .collect();
    if !others.is_empty() {
        made.left.push(format!("objects: move {} from {manager_file} into a file of their own and name it there", others.join(", ")));
    }
    for (folder, where_to) in [("config/default", "under `manager.patch`"), ("config/crd", "into the CRDs, or what makes them")] {
        let kustomization = project.kustomization(folder);
        // These give what is made: mount and port of webhooks, CA injection, conversion; and the image, which is taken over.
        let is_made = |path: &&str| ["webhook", "cainjection", "image"].iter().any(|word| path.contains(word));
        let files = patch_paths(&kustomization).filter(|path| !is_made(path)).map(|path| format!("{folder}/{path}"));
        let inline = inline_patches(&kustomization).map(|target| format!("the patch of {target} in {folder}/kustomization.yaml"));
        for patch in files.chain(inline) {
            made.left.push(format!("{patch} is not taken over: write what it changes {where_to}"));
        }
    }
}
