//! Images of a release: whether they are those of the release, and whether somebody still has them.

use semver::Version;

use crate::Scope;
use windlass_capi::contract::{Image, MANAGER_CONTAINER};
use windlass_objects::{Object, pods};
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// the tag of the manager's image differs from the version of the release
    pub VERSION_OTHER = warning("components-image-version-other"), catalogue("A05");
    /// an image has a mutable tag, or comes from a staging registry
    UNRELEASED = warning("components-image-unreleased"), catalogue("A05");
    /// an image comes from a registry that has been shut down
    REGISTRY_GONE = error("components-image-registry-gone"), catalogue("A07");
    /// an image comes from a registry that gets no new images and will be shut down
    REGISTRY_FROZEN = warning("components-image-registry-frozen"), catalogue("A07");
}

/// Tags that name no release.
const MOVING: [&str; 16] = [
    "canary",
    "ci",
    "dev",
    "devel",
    "develop",
    "development",
    "e2e",
    "edge",
    "head",
    "latest",
    "main",
    "master",
    "nightly",
    "snapshot",
    "staging",
    "test",
];

/// Where images lie that are tested before they are released.
const STAGING: [&str; 2] = [
    "gcr.io/k8s-staging-",
    "us-central1-docker.pkg.dev/k8s-staging-images/",
];

/// Checks the images of all objects. Those that cannot be read are findings of their own.
pub(crate) fn check(scope: &Scope<'_>) -> Report {
    let mut report = Report::new();
    for object in scope.objects {
        for (path, container) in pods::containers(object.value()) {
            let text = container["image"].as_str().unwrap_or_default();
            let Ok(image) = Image::parse(text) else {
                continue;
            };
            let at = Used {
                object,
                path: path.field("image"),
                text,
                is_manager: container["name"] == MANAGER_CONTAINER,
            };
            report.extend(at.registry());
            // Sources have an image of development; who builds the release writes the other.
            if scope.is_whole() {
                report.extend(
                    at.unreleased(&image, scope.version)
                        .or_else(|| at.other_version(&image, scope.version?)),
                );
            }
        }
    }
    report
}

/// An image, and where it is used.
struct Used<'o> {
    object: &'o Object,
    path: FieldPath,
    text: &'o str,
    is_manager: bool,
}

impl Used<'_> {
    fn finding(&self, rule: &'static windlass_source::diag::Rule, what: &str) -> Diagnostic {
        let message = format!("image `{}` of {} {what}", self.text, self.object.title());
        Diagnostic::of(rule, message).at(self.object.place(&self.path))
    }

    fn registry(&self) -> Option<Diagnostic> {
        if let Some(name) = self.text.strip_prefix("gcr.io/kubebuilder/") {
            let finding = self.finding(
                &REGISTRY_GONE,
                "cannot be pulled: gcr.io/kubebuilder is gone since March 18, 2025",
            );
            let finding = finding
                .note("kubernetes-sigs/kubebuilder, discussion 3907: the images are unavailable");
            return Some(match name.starts_with("kube-rbac-proxy") {
                true => finding.help(format!(
                    "write `image: quay.io/brancz/{name}`, or remove the container"
                )),
                false => finding.help("name a registry that has it"),
            });
        }
        let name = self.text.strip_prefix("k8s.gcr.io/")?;
        let finding = self.finding(
            &REGISTRY_FROZEN,
            "comes from k8s.gcr.io, which is frozen since April 3, 2023",
        );
        Some(finding.help(format!("write `image: registry.k8s.io/{name}`")))
    }

    fn unreleased(&self, image: &Image, version: Option<&Version>) -> Option<Diagnostic> {
        let is_staged = STAGING.iter().any(|staging| self.text.starts_with(staging));
        let what = match &image.tag {
            _ if is_staged => {
                "comes from a staging registry, where it may be deleted at any time".to_owned()
            }
            _ if image.digest.is_some() => return None,
            None => "has no tag, so it is mutable".to_owned(),
            Some(tag) if MOVING.contains(&tag.to_lowercase().as_str()) => {
                format!("has the tag `{tag}`, so it is mutable")
            }
            Some(_) => return None,
        };
        let repository = if is_staged {
            "REGISTRY"
        } else {
            &image.repository
        };
        let version = version.map_or_else(|| "VERSION".to_owned(), |version| format!("v{version}"));
        Some(self.finding(&UNRELEASED, &what).help(format!(
            "write the image of the release: `image: {repository}/{}:{version}`",
            image.name
        )))
    }

    fn other_version(&self, image: &Image, version: &Version) -> Option<Diagnostic> {
        let tag = image
            .tag
            .as_deref()
            .filter(|tag| self.is_manager && !is_of(tag, version))?;
        let finding = self.finding(
            &VERSION_OTHER,
            &format!("has the tag `{tag}`, but the release is v{version}"),
        );
        // A digest stands behind the tag, and is that of the other image.
        let named = self
            .text
            .split_once('@')
            .map_or(self.text, |(named, _)| named);
        let repository = named.strip_suffix(tag).unwrap_or(named);
        Some(finding.help(format!("write `image: {repository}v{version}`")))
    }
}

/// Whether a tag is a version, perhaps with a variant of the image behind it: `v0.2.0-debian`, but
/// not `v0.2.0-rc.1`.
fn is_of(tag: &str, version: &Version) -> bool {
    // A tag has no plus sign.
    let text = version.to_string().replace('+', "-");
    let tag = tag.strip_prefix('v').unwrap_or(tag).replace('_', "-");
    match tag.strip_prefix(&text) {
        Some("") => true,
        Some(rest) => rest
            .strip_prefix('-')
            .is_some_and(|rest| !is_earlier(rest) && !is_later(rest)),
        None => false,
    }
}

/// Whether what follows a version is that of a build before the release.
fn is_earlier(rest: &str) -> bool {
    ["alpha", "beta", "dev", "pre", "rc"]
        .iter()
        .any(|word| rest.starts_with(word))
}

/// Whether what follows a version is that of a build after the release: of `git describe`, or of a
/// tool that calls its builds so.
fn is_later(rest: &str) -> bool {
    let parts: Vec<&str> = rest.split(['-', '.']).collect();
    let is_word =
        |part: &&str| ["dirty", "next", "snapshot"].contains(&part.to_lowercase().as_str());
    let is_commit = |part: &str| {
        part.strip_prefix('g')
            .is_some_and(|hash| hash.len() >= 4 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    parts.iter().any(is_word)
        || parts
            .windows(2)
            .any(|pair| is_number(pair[0]) && is_commit(pair[1]))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::components::tests::{of, released, rules_and_fields};

    fn manager(image: &str) -> Value {
        json!({"name": "manager", "image": image})
    }

    fn deployment(container: Value) -> Object {
        of(
            "apps/v1",
            "Deployment",
            "d",
            json!({"spec": {"template": {"spec": {"containers": [container]}}}}),
        )
    }

    #[test]
    fn tags_are_the_version() {
        let version = |text: &str| Version::parse(text).unwrap();
        for (tag, of, is_its) in [
            ("v0.2.0", "0.2.0", true),
            ("0.2.0", "0.2.0", true),
            ("v0.2.0-debian", "0.2.0", true),
            ("v0.2.0-rc.1", "0.2.0-rc.1", true),
            ("v0.2.0_build.1", "0.2.0+build.1", true),
            ("v0.2.0-rc.1", "0.2.0", false),
            ("v0.2.0", "0.2.0-rc.1", false),
            ("v0.1.0", "0.2.0", false),
            ("v0.2.01", "0.2.0", false),
            ("v0.2.0-amd64", "0.2.0", true),
            ("v0.2.0-ubuntu-22.04", "0.2.0", true),
            ("v0.2.0-5-g1a2b3c4", "0.2.0", false),
            ("v0.2.0-rc.1-5-g1a2b3c4", "0.2.0-rc.1", false),
            ("v0.2.0-dirty", "0.2.0", false),
            ("v0.2.0-5-g1a2b3c4-dirty", "0.2.0", false),
            ("0.2.0-SNAPSHOT-1a2b3c4", "0.2.0", false),
        ] {
            let found = released(
                &[deployment(manager(&format!("ghcr.io/a/b:{tag}")))],
                &version(of),
                check,
            );
            assert_eq!(found.is_empty(), is_its, "{tag} of {of}");
        }
        let sidecar = json!({"name": "proxy", "image": "ghcr.io/a/b:v9.9.9"});
        assert!(released(&[deployment(sidecar)], &version("0.2.0"), check).is_empty());
        assert_eq!(
            rules_and_fields(&[deployment(manager("ghcr.io/a/b:v9.9.9"))], check),
            [""; 0],
            "nobody said the version"
        );
    }

    #[test]
    fn images_that_move_are_found() {
        let digest = format!("@sha256:{}", "a".repeat(64));
        let run = |image: &str| rules_and_fields(&[deployment(manager(image))], check);
        let found = [format!(
            "{} spec.template.spec.containers[0].image",
            UNRELEASED.id
        )];
        for image in [
            "ghcr.io/a/b",
            "ghcr.io/a/b:latest",
            "ghcr.io/a/b:main",
            "ghcr.io/a/b:Dev",
            "gcr.io/k8s-staging-a/b:v1.0.0",
        ] {
            assert_eq!(run(image), found, "{image}");
        }
        for image in [
            "ghcr.io/a/b:v1",
            "ghcr.io/a/b:main-7",
            &format!("ghcr.io/a/b{digest}"),
            &format!("ghcr.io/a/b:latest{digest}"),
        ] {
            assert_eq!(run(image), [""; 0], "{image}");
        }
    }

    /// kubernetes-sigs/kubebuilder, discussion 3907;
    /// kubernetes.io/blog/2023/02/06/k8s-gcr-io-freeze-announcement.
    #[test]
    fn registries_that_are_gone_are_found() {
        let run = |image: &str| {
            rules_and_fields(&[deployment(json!({"name": "x", "image": image}))], check)
        };
        let place = "spec.template.spec.containers[0].image";
        assert_eq!(
            run("gcr.io/kubebuilder/kube-rbac-proxy:v0.13.1"),
            [format!("{} {place}", REGISTRY_GONE.id)]
        );
        assert_eq!(
            run("k8s.gcr.io/pause:3.1"),
            [format!("{} {place}", REGISTRY_FROZEN.id)]
        );
        assert_eq!(run("registry.k8s.io/pause:3.1"), [""; 0]);
        assert_eq!(run("gcr.io/other/x:v1"), [""; 0]);
    }
}
