//! Containers of components: images that clusterctl can parse, and the one for which it waits.

use windlass_capi::contract::{Image, ImageFault, MANAGER_CONTAINER, book, without_tag};
use windlass_objects::{Object, pods};
use windlass_source::diag::{Diagnostic, FieldPath, Place, Remedy, Report, Setting, rules};
use windlass_source::url::without_credentials;

rules! {
    /// an image reference is not canonical, and clusterctl fails on it
    IMAGE_NOT_CANONICAL = error("components-image-not-canonical"), catalogue("A06"), url(book::CONTROLLERS);
    /// no Deployment has a container named `manager`
    MANAGER_MISSING = error("components-manager-container-missing"), catalogue("C04"), url(book::CONTROLLERS);
    /// `manager.image` in provider.yaml has a tag or digest, although the released version becomes the tag
    IMAGE_TAGGED = error("provider-image-tagged");
}

pub(super) fn check(objects: &[Object]) -> Report {
    let mut report = images(objects);
    report.extend(manager(objects));
    report
}

/// provider.yaml names the image of the manager without the tag.
pub fn tagged(image: &str, place: Place) -> Option<Diagnostic> {
    (without_tag(image) != image).then(|| {
        Diagnostic::of(
            &IMAGE_TAGGED,
            format!("manager.image is `{image}`, with a tag or digest"),
        )
        .at(place)
        .help(
            Remedy::new(
                "leave them out: the version that is built becomes the tag; for one build use ",
            )
            .setting(Setting::Image),
        )
    })
}

/// clusterctl parses the images of Deployments and DaemonSets as canonical names, whether or not
/// any is overridden.
fn images(objects: &[Object]) -> Report {
    let mut report = Report::new();
    for object in objects
        .iter()
        .filter(|object| matches!(object.kind(), "Deployment" | "DaemonSet"))
    {
        for (path, container) in pods::containers(object.value()) {
            let image = container["image"].as_str().unwrap_or_default();
            if let Err(fault) = Image::parse(image) {
                report.push(
                    image_finding(object, image, &fault).at(object.place(&path.field("image"))),
                );
            }
        }
    }
    report
}

fn image_finding(object: &Object, image: &str, fault: &ImageFault) -> Diagnostic {
    let image = &*without_credentials(image);
    let (what, help) = match fault {
        ImageFault::NotCanonical => (
            "does not name its registry",
            format!("write it in full, such as `{}`", canonical(image)),
        ),
        ImageFault::UpperCase(_) => (
            "has upper-case letters in its repository",
            format!("write `{}`", image.to_lowercase()),
        ),
        ImageFault::Malformed(_) => (
            "is not an image reference",
            "write `image: registry/path:tag`, without variables".to_owned(),
        ),
    };
    let message = match image {
        "" => format!("a container of {} has no image", object.title()),
        image => format!("image `{image}` of {} {what}", object.title()),
    };
    Diagnostic::of(&IMAGE_NOT_CANONICAL, message)
        .help(help)
        .note(format!(
            "clusterctl parses every image as a canonical name and ends with an error: {fault}"
        ))
        .upstream(fault.to_string())
}

/// What Docker makes of a name without a registry.
fn canonical(image: &str) -> String {
    let rest = image
        .strip_prefix("index.docker.io/")
        .or_else(|| image.strip_prefix("docker.io/"))
        .unwrap_or(image);
    format!(
        "docker.io/{}{rest}",
        if rest.contains('/') { "" } else { "library/" }
    )
}

/// clusterctl's `IsDeploymentWithManager`, which looks at the containers that keep running.
pub(super) fn is_awaited(object: &Object) -> bool {
    let mut containers = object
        .items(&["spec", "template", "spec", "containers"])
        .iter();
    object.is("apps", "Deployment")
        && containers.any(|container| container["name"] == MANAGER_CONTAINER)
}

/// `clusterctl init --wait-providers` looks at containers of this name only.
fn manager(objects: &[Object]) -> Option<Diagnostic> {
    let mut deployments = objects
        .iter()
        .filter(|object| object.is("apps", "Deployment"));
    let first = deployments.next()?;
    if is_awaited(first) || deployments.any(is_awaited) {
        return None;
    }
    let finding = Diagnostic::of(
        &MANAGER_MISSING,
        format!(
            "{} has no container called `{MANAGER_CONTAINER}`",
            first.title()
        ),
    );
    let finding = finding.at(first.place(&FieldPath::of_fields("spec.template.spec.containers")));
    Some(finding.help(format!(
        "rename the container that runs the controller to `{MANAGER_CONTAINER}`"
    )))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn deployment(pod: Value) -> Object {
        let spec = json!({"template": {"spec": pod}});
        Object::made(
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}),
        )
    }

    /// Cluster API, cmd/clusterctl/internal/util/objs.go, IsDeploymentWithManager:
    /// `spec.template.spec.containers` alone.
    #[test]
    fn the_manager_keeps_running() {
        let of = |list: &str| {
            manager(&[deployment(json!({list: [{"name": "manager"}]}))])
                .map(|finding| finding.rule.id)
        };
        assert_eq!(of("containers"), None);
        assert_eq!(of("initContainers"), Some(MANAGER_MISSING.id));
        assert_eq!(of("ephemeralContainers"), Some(MANAGER_MISSING.id));
    }

    /// distribution/reference, `splitDockerDomain`: `library` is for names of one part.
    #[test]
    fn images_are_completed_as_docker_does() {
        for (image, expected) in [
            ("nginx:1", "docker.io/library/nginx:1"),
            ("owner/name:1", "docker.io/owner/name:1"),
            ("docker.io/nginx:1", "docker.io/library/nginx:1"),
            ("index.docker.io/owner/name:1", "docker.io/owner/name:1"),
        ] {
            let report = images(&[deployment(
                json!({"containers": [{"name": "manager", "image": image}]}),
            )]);
            let help = report.findings()[0].help.as_ref().unwrap().to_string();
            assert_eq!(help, format!("write it in full, such as `{expected}`"));
            assert!(Image::parse(expected).is_ok());
        }
    }
}
