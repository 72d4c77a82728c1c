//! Images of pods in files: static pods, manifests that something applies, and kubeadm's patches.

use serde_json::Value;

use super::files::FileText;
use super::findings::source_unknown;
use super::{Found, Machine, Puller};
use windlass_go_yaml::yaml;
use windlass_objects::pods::CONTAINER_LISTS;
use windlass_source::Source;

pub(super) fn collect(machine: &Machine<'_>, file: &FileText, found: &mut Found) {
    if !file.is_manifest() || !file.text.contains("image") {
        return;
    }
    let read = yaml::values(&Source::new("", file.text.as_str()), machine.budget);
    if read.report.has_errors() {
        let what = format!("{} cannot be read as YAML", file.path);
        let finding = source_unknown(machine.target.config, &file.spot(1), &what);
        found.findings.push(finding);
    }
    let mut images = Vec::new();
    for document in &read.documents {
        in_containers(&document.value, &mut images);
        in_patch(&document.value, &mut images);
    }
    let puller = if file.is_static_pod() {
        Puller::StaticPod
    } else {
        Puller::Manifest
    };
    for image in images {
        let spot = file.spot(line_of(&file.text, image));
        let path = Some(file.path.as_str());
        machine.add(found, image, puller, (&file.field, path), &spot);
    }
}

/// The images of all lists of containers, however deep: objects of any kind may hold pods.
fn in_containers<'v>(value: &'v Value, images: &mut Vec<&'v str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| in_containers(item, images)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if CONTAINER_LISTS.contains(&name.as_str()) {
                    let containers = value.as_array().into_iter().flatten();
                    images.extend(containers.filter_map(|container| container["image"].as_str()));
                }
                in_containers(value, images);
            }
        }
        _ => {}
    }
}

/// The images of a JSON patch, which kubeadm applies to its static pods.
fn in_patch<'v>(value: &'v Value, images: &mut Vec<&'v str>) {
    let operations = value.as_array().into_iter().flatten();
    images.extend(operations.filter_map(|operation| {
        let is_image = operation["path"].as_str()?.ends_with("/image");
        operation["value"].as_str().filter(|_| is_image)
    }));
}

/// The line of a text, from 1.
pub(super) fn line_of(text: &str, part: &str) -> usize {
    let at = text.find(part).unwrap_or_default();
    1 + text[..at].matches('\n').count()
}
