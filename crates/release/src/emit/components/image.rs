//! The image of the manager: the version that is built is its tag, unless the caller names another
//! one.

use serde_json::Value;

use windlass_capi::contract::{Image, MANAGER_CONTAINER, without_tag};
use windlass_lint::containers;
use windlass_objects::{Object, pods};
use windlass_provider::{Declared, Manager};
use windlass_source::diag::{Diagnostic, FieldPath, Remedy, Report, Setting, rules};

rules! {
    /// the manager's image has a placeholder tag such as `dev`, which the released version replaces
    TAG_STAMPED = info("components-image-tag-stamped");
}

/// Tags that stand for whatever was built last, as source trees have them.
const PLACEHOLDERS: &[&str] = &["dev", "latest", "main", "master"];

/// Which image the manager of one provider gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerImage {
    /// The image that the caller names, with tag or digest.
    pub given: Option<String>,
    /// The digest that the caller knows it by, `sha256:…`.
    pub digest: Option<String>,
    /// The tag of the release: the version with `v`.
    pub tag: String,
}

impl ManagerImage {
    /// The image for a manager that provider.yaml describes. [`ManagerImage::check`] rejects a tag
    /// of its own; it is replaced, so that no other finding follows from it.
    pub(super) fn of(&self, manager: &Manager) -> String {
        self.pinned(
            self.given
                .clone()
                .unwrap_or_else(|| format!("{}:{}", without_tag(&manager.image), self.tag)),
        )
    }

    /// The image by its digest, where that is known. The tag goes: tools that copy images reject a
    /// name with both.
    fn pinned(&self, image: String) -> String {
        match (&self.digest, Image::parse(&image)) {
            (Some(digest), Ok(parsed)) => Image {
                tag: None,
                digest: Some(digest.clone()),
                ..parsed
            }
            .to_string(),
            _ => image,
        }
    }

    /// provider.yaml names the image without the tag, unless the caller names another one.
    pub(super) fn check(&self, declared: &Declared, manager: &Manager) -> Option<Diagnostic> {
        let place = || declared.place(&FieldPath::of_fields("manager.image"));
        self.given
            .is_none()
            .then(|| containers::tagged(&manager.image, place()))?
    }

    /// Sets the image of each `manager` container in finished components: to the one that the
    /// caller names, to the digest that the caller knows, or, where the tag is a placeholder or
    /// absent, to the version. Says where it did so by itself.
    pub(super) fn stamp(&self, objects: &mut [Object]) -> Report {
        let mut report = Report::new();
        for object in objects
            .iter_mut()
            .filter(|object| object.kind() == "Deployment")
        {
            let managers = pods::containers(object.value())
                .filter(|(_, container)| container["name"] == MANAGER_CONTAINER);
            let edits: Vec<(FieldPath, String)> = managers
                .filter_map(|(path, container)| {
                    Some((path.field("image"), self.replacement(&container["image"])?))
                })
                .collect();
            for (path, image) in edits {
                if self.given.is_none() && self.digest.is_none() {
                    report.push(stamped(object, &path, &image));
                }
                let done = object.set(&path, image.into());
                report.extend(object.rejected(done));
            }
        }
        report
    }

    fn replacement(&self, image: &Value) -> Option<String> {
        if let Some(given) = &self.given {
            return Some(self.pinned(given.clone()));
        }
        let parsed = Image::parse(image.as_str()?).ok()?;
        if self.digest.is_some() {
            return Some(self.pinned(parsed.to_string()));
        }
        let placeholder = parsed.digest.is_none()
            && parsed
                .tag
                .as_deref()
                .is_none_or(|tag| PLACEHOLDERS.contains(&tag));
        placeholder.then(|| {
            Image {
                tag: Some(self.tag.clone()),
                ..parsed
            }
            .to_string()
        })
    }
}

fn stamped(object: &Object, path: &FieldPath, image: &str) -> Diagnostic {
    let found = object.at(path).and_then(Value::as_str).unwrap_or_default();
    Diagnostic::of(
        &TAG_STAMPED,
        format!(
            "the image `{found}` of {} becomes `{image}`",
            object.title()
        ),
    )
    .at(object.place(path))
    .help(
        Remedy::new("build the file with the tag of the release, or pass ").setting(Setting::Image),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stamped_image(image: &str, given: Option<&str>) -> (String, usize) {
        stamped_by(
            &ManagerImage {
                given: given.map(str::to_owned),
                digest: None,
                tag: "v0.3.0".to_owned(),
            },
            image,
        )
    }

    fn stamped_by(manager: &ManagerImage, image: &str) -> (String, usize) {
        let container = json!({"name": "manager", "image": image});
        let mut objects = [Object::made(json!({
            "kind": "Deployment",
            "spec": {"template": {"spec": {"containers": [{"name": "proxy", "image": "x.io/y:dev"}, container]}}},
        }))];
        let report = manager.stamp(&mut objects);
        let containers = &objects[0].value()["spec"]["template"]["spec"]["containers"];
        assert_eq!(
            containers[0]["image"], "x.io/y:dev",
            "only the manager is ours"
        );
        (
            containers[1]["image"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            report.findings().len(),
        )
    }

    #[test]
    fn placeholders_become_the_version_and_real_tags_stay() {
        for (image, given, expected) in [
            ("ghcr.io/a/b:dev", None, ("ghcr.io/a/b:v0.3.0", 1)),
            ("ghcr.io/a/b", None, ("ghcr.io/a/b:v0.3.0", 1)),
            ("ghcr.io/a/b:v0.3.0", None, ("ghcr.io/a/b:v0.3.0", 0)),
            (
                "ghcr.io/a/b:v0.3.0-debian",
                None,
                ("ghcr.io/a/b:v0.3.0-debian", 0),
            ),
            (
                "ghcr.io/a/b:dev",
                Some("other.io/c:v9"),
                ("other.io/c:v9", 0),
            ),
        ] {
            assert_eq!(
                stamped_image(image, given),
                (expected.0.to_owned(), expected.1),
                "{image}"
            );
        }
    }

    #[test]
    fn a_digest_takes_the_place_of_any_tag() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let with = |given: Option<&str>| ManagerImage {
            given: given.map(str::to_owned),
            digest: Some(digest.clone()),
            tag: "v0.3.0".to_owned(),
        };
        for (image, given, name) in [
            ("ghcr.io/a/b:dev", None, "ghcr.io/a/b"),
            ("ghcr.io/a/b:v0.2.9", None, "ghcr.io/a/b"),
            ("ghcr.io/a/b", Some("other.io:5000/c:v9"), "other.io:5000/c"),
        ] {
            assert_eq!(
                stamped_by(&with(given), image),
                (format!("{name}@{digest}"), 0),
                "{image}"
            );
        }
    }
}
