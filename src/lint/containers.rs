//! Containers of components: images that clusterctl can parse, and the one for which it waits.

use crate::contract::{Image, ImageFault, MANAGER_CONTAINER, book};
use crate::diag::{Diagnostic, FieldPath, Place, Remedy, Report, Setting, rules};
use crate::objects::{Object, pods};

rules! {
    /// an image reference is not canonical, and clusterctl fails on it
    IMAGE_NOT_CANONICAL = error("components-image-not-canonical"), url(book::CONTROLLERS);
    /// no Deployment has a container named `manager`
    MANAGER_MISSING = error("components-manager-container-missing"), url(book::CONTROLLERS);
    /// `manager.image` in provider.yaml has a tag or digest, although the released version becomes the tag
    IMAGE_TAGGED = error("provider-image-tagged");
}

/// Judges the containers of all objects.
pub(super) fn check(objects: &[Object]) -> Report {
    let mut report = images(objects);
    report.extend(manager(objects));
    report
}

/// provider.yaml names the image of the manager without the tag.
pub(crate) fn tagged(image: &str, place: Place) -> Option<Diagnostic> {
    Image::parse(image).is_ok_and(|image| image.is_pinned()).then(|| {
        Diagnostic::of(&IMAGE_TAGGED, format!("manager.image is `{image}`, with a tag or digest"))
            .at(place)
            .help(Remedy::new("leave them out: the version that is built becomes the tag; for one build use ").setting(Setting::Image))
    })
}

/// clusterctl parses the images of Deployments and DaemonSets as canonical names, whether or not any is overridden.
fn images(objects: &[Object]) -> Report {
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
fn manager(objects: &[Object]) -> Option<Diagnostic> {
    let mut deployments = objects.iter().filter(|object| object.is("apps", "Deployment"));
    let first = deployments.next()?;
    let has_manager = |object: &Object| pods::containers(object.value()).any(|(_, container)| container["name"] == MANAGER_CONTAINER);
    if has_manager(first) || deployments.any(has_manager) {
        return None;
    }
    let finding = Diagnostic::of(&MANAGER_MISSING, format!("{} has no container called `{MANAGER_CONTAINER}`", first.title()));
    let finding = finding.at(first.place(&FieldPath::of_fields("spec.template.spec.containers")));
    Some(finding.help(format!("rename the container that runs the controller to `{MANAGER_CONTAINER}`")))
}
