//! Images on their way to a registry of one's own: where each goes, and the script that copies
//! them.

use std::collections::{BTreeMap, BTreeSet};

use super::images::Reached;
use windlass_capi::contract::Image;
use windlass_source::diag::{Diagnostic, Remedy, Report, Setting, rules};
use windlass_source::url::without_credentials;

rules! {
    /// an image has no registry in its name, so it is not copied to the mirror
    LEFT_OUT = warning("mirror-image-left-out");
    /// the image of a machine has the same name at the mirror as another image
    SHADOWED = warning("mirror-image-shadowed");
    /// the value of `--mirror` is not a registry with an optional path
    REGISTRY_FAULT = error("mirror-registry-malformed");
}

pub(super) const SCRIPT_FILE: &str = "mirror.sh";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mirror {
    /// The images, each as often as it is named in another way.
    pub(super) images: Vec<MirroredImage>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MirroredImage {
    /// The label of its provider, or `cert-manager`: what overrides are set for.
    pub(super) label: String,
    /// As the release names it.
    pub(super) written: Image,
    /// As it is run so far, which is where it is copied from.
    pub(super) run: Image,
    /// The path below the mirror in which it is; empty for none.
    pub(super) below: String,
    pub(super) is_overridden: bool,
}

impl Mirror {
    /// A place for each image. They stand directly below the mirror, so that one override leads to
    /// all of them. Those that would be one there, and are not, stand below the name of their
    /// registry; and those that no override reaches keep their path, by which runtimes ask mirrors.
    pub(super) fn of(images: &BTreeSet<Reached>) -> (Self, Report) {
        let mut report = Report::new();
        let mut found = Vec::new();
        for Reached {
            listed,
            is_overridden,
        } in images
        {
            let written = listed.source.as_ref().unwrap_or(&listed.image);
            match (Image::parse(written), Image::parse(&listed.image)) {
                (Ok(written), Ok(run)) => {
                    let label = listed.provider.clone();
                    found.push(MirroredImage {
                        label,
                        written,
                        run,
                        below: String::new(),
                        is_overridden: *is_overridden,
                    });
                }
                _ => report.push(left_out(&listed.provider, &listed.image)),
            }
        }
        let mut registries: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for image in &found {
            registries
                .entry(below("", &image.run))
                .or_default()
                .insert(&image.run.repository);
        }
        let is_shared: BTreeSet<String> = registries
            .into_iter()
            .filter(|(_, from)| from.len() > 1)
            .map(|(name, _)| name)
            .collect();
        for image in &mut found {
            let (registry, path) = image.run.registry_and_path();
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            if !image.is_overridden {
                image.below = folder.to_owned();
            } else if is_shared.contains(&below("", &image.run)) {
                // A port, and brackets around an address, have no place in a path.
                let registry: String = registry
                    .to_lowercase()
                    .chars()
                    .map(|c| if ":[]".contains(c) { '-' } else { c })
                    .collect();
                image.below = format!("{}/{folder}", registry.trim_matches('-'))
                    .trim_end_matches('/')
                    .to_owned();
            }
        }
        (Mirror { images: found }, report)
    }

    /// Adds the images of machines. Their container runtimes ask a mirror for the path that an
    /// image has at its registry, so they keep it.
    pub(super) fn add_machines(&mut self, names: &BTreeSet<&str>) -> Report {
        let mut report = Report::new();
        let mut taken: BTreeMap<String, Image> = BTreeMap::new();
        for image in &self.images {
            taken.insert(image.destination(), image.run.clone());
        }
        for name in names {
            let Ok(run) = Image::completed(name) else {
                report.push(left_out("machines", name));
                continue;
            };
            let (_, path) = run.registry_and_path();
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let image = MirroredImage {
                label: String::new(),
                written: run.clone(),
                below: folder.to_owned(),
                run,
                is_overridden: false,
            };
            let destination = image.destination();
            match taken.get(&destination) {
                Some(other) if *other != image.run => {
                    report.push(shadowed(&image.run, other, &destination));
                }
                Some(_) => {}
                None => {
                    taken.insert(destination, image.run.clone());
                    self.images.push(image);
                }
            }
        }
        report
    }

    /// The script, for any POSIX shell. What it says of an image is of the grammar of image names,
    /// which has no character that a shell knows.
    pub(super) fn script(&self) -> String {
        let copies: BTreeSet<String> = self.images.iter().map(MirroredImage::copy).collect();
        format!("{HEAD}{}", copies.into_iter().collect::<String>())
    }
}

impl MirroredImage {
    /// Its line in the script: from where, to where, and the folder between.
    fn copy(&self) -> String {
        let Image {
            repository,
            name,
            tag,
            digest,
        } = &self.run;
        // A digest says which image it is; skopeo takes no tag beside it.
        let which = match (tag, digest) {
            (_, Some(digest)) => format!("@{digest}"),
            (Some(tag), None) => format!(":{tag}"),
            (None, None) => ":latest".to_owned(),
        };
        let (from, to) = (format!("{repository}/{name}{which}"), self.destination());
        let folder = to.replace('/', "+").replace(':', "=");
        format!("copy '{from}' '{to}' '{folder}'\n")
    }

    /// Its name below a mirror.
    fn destination(&self) -> String {
        let Image { tag, digest, .. } = &self.run;
        let which = match (tag, digest) {
            (Some(tag), _) => format!(":{tag}"),
            (None, Some(digest)) => format!("@{digest}"),
            (None, None) => ":latest".to_owned(),
        };
        let plain = Image {
            tag: None,
            digest: None,
            ..self.run.clone()
        };
        format!("{}{which}", below(&self.below, &plain))
    }

    /// The repository in which it is at a mirror. What is there already stays where it is.
    pub(super) fn repository_at(&self, registry: &str) -> String {
        let there = self.run.repository.strip_prefix(registry);
        if there.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
            return self.run.repository.clone();
        }
        if self.below.is_empty() {
            registry.to_owned()
        } else {
            format!("{registry}/{}", self.below)
        }
    }
}

/// The name of an image below a path, without its registry.
fn below(path: &str, image: &Image) -> String {
    let whole = Image {
        repository: path.to_owned(),
        ..image.clone()
    }
    .to_string();
    whole.strip_prefix('/').unwrap_or(&whole).to_owned()
}

fn left_out(label: &str, image: &str) -> Diagnostic {
    let finding = Diagnostic::of(
        &LEFT_OUT,
        format!(
            "the image `{}` of {label} is not mirrored: its name has no registry",
            without_credentials(image).escape_debug()
        ),
    );
    finding.help("write it in full in the components, such as `docker.io/library/NAME:TAG`, or copy it by hand")
}

fn shadowed(image: &Image, other: &Image, destination: &str) -> Diagnostic {
    let message = format!(
        "the image `{image}` of a machine is not mirrored: `{other}` has the name `{destination}` at the mirror"
    );
    Diagnostic::of(&SHADOWED, message)
        .help("copy it by hand under another name, and write that name in the machine's config")
}

/// A mirror as it is named: a registry, and maybe a path below it.
///
/// # Errors
/// The finding, when nothing can be below it.
pub fn registry(text: &str) -> Result<String, Box<Diagnostic>> {
    let registry = text.trim_end_matches('/');
    match Image::parse(&format!("{registry}/name")) {
        Ok(image) if image.repository == registry => Ok(registry.to_owned()),
        _ => {
            let finding = Diagnostic::of(
                &REGISTRY_FAULT,
                format!(
                    "`{}` is not a registry with a path",
                    without_credentials(text).escape_debug()
                ),
            );
            Err(Box::new(
                finding.help(
                    Remedy::new("write ")
                        .set(Setting::Mirror, "registry.example.com/capi")
                        .then(", without a scheme"),
                ),
            ))
        }
    }
}

/// All of the script but the images.
const HEAD: &str = include_str!("mirror.sh");

#[cfg(test)]
mod tests {
    use super::super::images::ListedImage;
    use super::*;

    fn of(images: &[(&str, &str, bool)]) -> (Mirror, Report) {
        let listed = |label: &str, image: &str| ListedImage {
            image: image.to_owned(),
            source: None,
            provider: label.to_owned(),
            version: "v1.0.0".to_owned(),
        };
        Mirror::of(
            &images
                .iter()
                .map(|(label, image, is)| Reached {
                    listed: listed(label, image),
                    is_overridden: *is,
                })
                .collect(),
        )
    }

    fn copies(images: &[(&str, &str, bool)]) -> Vec<String> {
        let (mirror, report) = of(images);
        assert!(report.is_empty(), "{report:?}");
        mirror
            .script()
            .strip_prefix(HEAD)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn images_stand_directly_below_the_mirror_and_digests_are_kept() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let (pinned, only) = (
            format!("ghcr.io/x/pinned:v1@{digest}"),
            format!("ghcr.io/x/only@{digest}"),
        );
        let images = [
            ("a", "ghcr.io/x/y/plain:v1", true),
            ("a", &pinned, true),
            ("b", &only, true),
            ("b", "quay.io/bare", true),
        ];
        let expected = [
            "copy 'ghcr.io/x/only@D' 'only@D' 'only@E'",
            "copy 'ghcr.io/x/pinned@D' 'pinned:v1' 'pinned=v1'",
            "copy 'ghcr.io/x/y/plain:v1' 'plain:v1' 'plain=v1'",
            "copy 'quay.io/bare:latest' 'bare:latest' 'bare=latest'",
        ];
        let expected = expected.map(|line| {
            line.replace('D', &digest)
                .replace('E', &digest.replace(':', "="))
        });
        assert_eq!(copies(&images), expected);
    }

    #[test]
    fn images_of_one_name_and_tag_do_not_take_each_others_place() {
        let images = [
            ("a", "r.io:5000/x/manager:v1", true),
            ("b", "ghcr.io/manager:v1", true),
            ("c", "ghcr.io/z/manager:v2", true),
        ];
        let expected = [
            "copy 'ghcr.io/manager:v1' 'ghcr.io/manager:v1' 'ghcr.io+manager=v1'",
            "copy 'ghcr.io/z/manager:v2' 'manager:v2' 'manager=v2'",
            "copy 'r.io:5000/x/manager:v1' 'r.io-5000/x/manager:v1' 'r.io-5000+x+manager=v1'",
        ];
        assert_eq!(copies(&images), expected);
    }

    #[test]
    fn what_overrides_do_not_reach_keeps_its_path() {
        assert_eq!(
            copies(&[("cert-manager", "quay.io/jetstack/solver:v1", false)]),
            ["copy 'quay.io/jetstack/solver:v1' 'jetstack/solver:v1' 'jetstack+solver=v1'"]
        );
    }

    #[test]
    fn images_of_machines_keep_their_path_beside_those_of_releases() {
        let (mut mirror, _) = of(&[("a", "ghcr.io/x/pause:3.10", true)]);
        let report = mirror.add_machines(&BTreeSet::from([
            "registry.k8s.io/coredns/coredns:v1.12.1",
            "registry.k8s.io/pause:3.10",
            "nginx",
            "ghcr.io/a/$(id)",
        ]));
        let script = mirror.script();
        let copies: Vec<&str> = script.strip_prefix(HEAD).unwrap().lines().collect();
        assert_eq!(
            copies,
            [
                "copy 'docker.io/library/nginx:latest' 'library/nginx:latest' 'library+nginx=latest'",
                "copy 'ghcr.io/x/pause:3.10' 'pause:3.10' 'pause=3.10'",
                "copy 'registry.k8s.io/coredns/coredns:v1.12.1' 'coredns/coredns:v1.12.1' 'coredns+coredns=v1.12.1'",
            ]
        );
        let rules: Vec<&str> = report
            .findings()
            .iter()
            .map(|found| found.rule.id)
            .collect();
        assert_eq!(rules, ["mirror-image-left-out", "mirror-image-shadowed"]);
    }

    #[test]
    fn names_without_a_registry_are_told_and_no_name_reaches_a_shell() {
        for image in [
            "nginx",
            "ghcr.io/a/b:v1'; rm -rf /; '",
            "ghcr.io/a/$(id)",
            "a\nb",
        ] {
            let (mirror, report) = of(&[("a", image, false)]);
            assert_eq!(
                report.findings()[0].rule.id,
                "mirror-image-left-out",
                "{image}"
            );
            assert_eq!(mirror.script(), HEAD);
        }
    }

    #[test]
    fn a_mirror_is_a_registry_with_a_path() {
        assert_eq!(
            registry("registry.local:5000/capi/").as_deref(),
            Ok("registry.local:5000/capi")
        );
        assert_eq!(registry("localhost").as_deref(), Ok("localhost"));
        for wrong in [
            "",
            "https://registry.local",
            "registry",
            "registry.local/Upper",
            "registry.local/a b",
            "registry.local/a:v1",
        ] {
            assert!(registry(wrong).is_err(), "{wrong}");
        }
    }

    /// What is at the mirror stays where it is; a registry whose name only begins alike is another
    /// one.
    #[test]
    fn images_of_the_mirror_itself_stay() {
        let at = |image: &str, is_overridden: bool| {
            of(&[("a", image, is_overridden)]).0.images[0].repository_at("m.local/capi")
        };
        assert_eq!(at("m.local/capi/x:v1", true), "m.local/capi");
        assert_eq!(at("m.local/capi/deep/x:v1", true), "m.local/capi/deep");
        assert_eq!(at("m.local/capital/x:v1", true), "m.local/capi");
        assert_eq!(at("other.io/a/x:v1", true), "m.local/capi");
        assert_eq!(at("other.io/a/x:v1", false), "m.local/capi/a");
        assert_eq!(at("other.io/x:v1", false), "m.local/capi");
    }
}
