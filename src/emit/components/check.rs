//! What clusterctl or the contract would refuse in finished components.

use std::collections::BTreeMap;

use super::super::stamp;
use crate::contract::{Image, ImageFault, MANAGER_CONTAINER, book};
use crate::diag::{Diagnostic, FieldPath, Report, rules};
use crate::objects::{Object, pods};
use crate::provider::Declared;

rules! {
    /// the components contain more than one Namespace
    pub NAMESPACE_DUPLICATED = error("components-namespace-duplicated"), url(book::TARGET_NAMESPACE);
    /// the components contain no Namespace, so clusterctl has no default target
    pub NAMESPACE_MISSING = error("components-namespace-missing"), url(book::TARGET_NAMESPACE);
    /// an object is in another namespace than the components, and clusterctl moves it
    pub NAMESPACE_FOREIGN = warning("components-namespace-foreign"), url(book::TARGET_NAMESPACE);
    /// the Namespace in finished components differs from `namespace` in provider.yaml
    NAMESPACE_OTHER = error("components-namespace-other");
    /// the components contain the same object twice
    OBJECT_DUPLICATED = error("components-object-duplicated");
    /// an image reference is not canonical, and clusterctl fails on it
    IMAGE_NOT_CANONICAL = error("components-image-not-canonical"), url(book::CONTROLLERS);
    /// no Deployment has a container named `manager`
    MANAGER_MISSING = error("components-manager-container-missing"), url(book::CONTROLLERS);
}

/// Judges the objects of components.
pub(super) fn check(declared: &Declared, objects: &[Object]) -> Report {
    let mut report = check_namespaces(declared, objects);
    report.extend(duplicates(objects));
    report.extend(check_images(objects));
    report.extend(check_manager(objects));
    report
}

fn metadata(field: &str) -> FieldPath {
    FieldPath::root().field("metadata").field(field)
}

/// One Namespace, and everything in it (book: clusterctl, "Target namespace").
fn check_namespaces(declared: &Declared, objects: &[Object]) -> Report {
    let wanted = declared.provider.namespace.as_str();
    let mut report = Report::new();
    let namespaces: Vec<&Object> = objects.iter().filter(|object| object.is("", "Namespace")).collect();
    for extra in namespaces.iter().skip(1) {
        let message = format!("{} is a second Namespace, besides {}", extra.title(), namespaces[0].title());
        let finding = Diagnostic::of(&NAMESPACE_DUPLICATED, message).at(extra.place(&metadata("name")));
        report.push(
            finding.help("remove it: the Namespace is made from `namespace` of provider.yaml").note("clusterctl aborts on a second one"),
        );
    }
    match namespaces.first() {
        None => report.push(
            Diagnostic::of(&NAMESPACE_MISSING, "the components hold no Namespace, so clusterctl has no default target")
                .at(declared.place(&FieldPath::root().field("components")))
                .help(format!("add a Namespace `{wanted}` to the file")),
        ),
        Some(namespace) if namespace.name() != wanted => report.push(
            Diagnostic::of(&NAMESPACE_OTHER, format!("the components hold Namespace {}, but `namespace` is {wanted}", namespace.name()))
                .at(namespace.place(&metadata("name")))
                .help("let both say the same"),
        ),
        Some(_) => {}
    }
    for object in objects.iter().filter(|object| stamp::is_namespaced(object.kind()) && object.namespace() != wanted) {
        let found = if object.namespace().is_empty() { "no namespace".to_owned() } else { format!("namespace {}", object.namespace()) };
        let finding = Diagnostic::of(&NAMESPACE_FOREIGN, format!("{} has {found}, but the components belong to {wanted}", object.title()));
        let finding = finding.at(object.place(&metadata("namespace"))).help(format!("write `namespace: {wanted}`"));
        report.push(finding.note("clusterctl moves every namespaced object into the target namespace"));
    }
    report
}

fn duplicates(objects: &[Object]) -> Report {
    let mut seen: BTreeMap<(&str, &str, &str, &str), &Object> = BTreeMap::new();
    let mut report = Report::new();
    // A second Namespace is a finding of its own.
    for object in objects.iter().filter(|object| !object.is("", "Namespace")) {
        let key = (object.group(), object.kind(), object.namespace(), object.name());
        if let Some(first) = seen.get(&key) {
            let finding = Diagnostic::of(&OBJECT_DUPLICATED, format!("{} is there twice", object.title()));
            let finding = finding.at(object.place(&metadata("name"))).related(first.place(&metadata("name")), "the first");
            report.push(finding.help("remove one of the two"));
        } else {
            seen.insert(key, object);
        }
    }
    report
}

/// clusterctl parses the images of Deployments and DaemonSets as canonical names, whether or not any is overridden.
pub fn check_images(objects: &[Object]) -> Report {
    let mut report = Report::new();
    for object in objects.iter().filter(|object| matches!(object.kind(), "Deployment" | "DaemonSet")) {
        for (path, container) in pods::containers(object.value()) {
            let image = container["image"].as_str().unwrap_or_default();
            if let Err(fault) = Image::parse(image) {
                report.push(image_finding(object, image, &fault).at(object.place(&path.field("image"))));
            }
        }
    }
    report
}

fn image_finding(object: &Object, image: &str, fault: &ImageFault) -> Diagnostic {
    let (what, help) = match fault {
        ImageFault::NotCanonical => ("does not name its registry", format!("write it in full, such as `docker.io/library/{image}`")),
        ImageFault::UpperCase(_) => ("has upper-case letters in its repository", format!("write `{}`", image.to_lowercase())),
        ImageFault::Malformed(_) => ("is no image reference", "write `registry/path:tag`, without variables".to_owned()),
    };
    Diagnostic::of(&IMAGE_NOT_CANONICAL, format!("image `{image}` of {} {what}", object.title()))
        .help(help)
        .note(format!("clusterctl parses every image as a canonical name and ends with an error: {fault}"))
        .upstream(fault.to_string())
}

/// `clusterctl init --wait-providers` looks at containers of this name only.
pub fn check_manager(objects: &[Object]) -> Report {
    let deployments: Vec<&Object> = objects.iter().filter(|object| object.is("apps", "Deployment")).collect();
    let has_manager = |object: &&Object| pods::containers(object.value()).any(|(_, container)| container["name"] == MANAGER_CONTAINER);
    if deployments.is_empty() || deployments.iter().any(has_manager) {
        return Report::new();
    }
    let at = deployments[0].place(&FieldPath::root().field("spec").field("template").field("spec").field("containers"));
    let finding = Diagnostic::of(&MANAGER_MISSING, format!("{} has no container called `{MANAGER_CONTAINER}`", deployments[0].title()));
    [finding.at(at).help(format!("rename the container that runs the controller to `{MANAGER_CONTAINER}`"))].into_iter().collect()
}
