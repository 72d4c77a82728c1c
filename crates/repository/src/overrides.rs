//! The `images` section of a configuration that leads all images of a repository to a mirror
//! (book: clusterctl configuration, "Image overrides").

use std::collections::BTreeMap;

use super::bundle::images;
use super::configuration::{CONFIGURATION_FILE, NOT_EXTENSIBLE, quoted, setting};
use super::mirror::{Mirror, MirroredImage};
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Place, Remedy, Report, Setting, rules};
use windlass_source::edit::Edits;
use windlass_source::tree::Tree;

rules! {
    /// clusterctl.yaml already overrides images
    IMAGES_OTHER = error("mirror-images-other");
    /// clusterctl's image overrides do not apply to this image
    UNREACHED = info("mirror-image-unreached");
    /// two images of a provider have the same name, so one override cannot serve both
    AMBIGUOUS = warning("mirror-image-ambiguous");
}

/// A repository whose images come from a mirror.
#[derive(Debug, Clone, Copy)]
pub struct Mirrored<'a> {
    /// The repository with its configuration.
    pub repository: &'a Tree,
    /// How the user called it.
    pub shown: &'a str,
    /// The mirror, as [`super::registry`] gives it.
    pub registry: &'a str,
    /// Whether other overrides in the configuration may go. What they did to the images that are
    /// here stays.
    pub is_replaced: bool,
}

/// What replaces the parts of a name; nothing where they stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Override {
    repository: Option<String>,
    name: Option<String>,
    tag: Option<String>,
}

/// The configuration with overrides that lead to the mirror; `None` when it cannot be changed, and
/// the report says why.
pub fn mirrored(asked: Mirrored<'_>, budget: &Budget) -> (Option<String>, Report) {
    let Mirrored {
        repository,
        shown,
        registry,
        is_replaced,
    } = asked;
    let (images, mut report) = images(repository, shown, budget);
    let (mirror, found) = Mirror::of(&images);
    report.extend(found);
    let (lines, found) = section(&mirror, registry);
    report.extend(found);
    if report.has_errors() {
        return (None, report);
    }
    let text = String::from_utf8_lossy(repository.get(CONFIGURATION_FILE).unwrap_or_default())
        .into_owned();
    match merge(
        &Source::new(format!("{shown}/{CONFIGURATION_FILE}"), text),
        &lines,
        is_replaced,
        budget,
    ) {
        Ok(text) => (Some(text), report),
        Err(found) => {
            report.extend(found);
            (None, report)
        }
    }
}

/// The lines of the section, and what it does not do. `all` leads to the mirror; the name of a
/// provider with that of an image wins over it.
fn section(mirror: &Mirror, registry: &str) -> (Vec<String>, Report) {
    let mut report = Report::new();
    let mut single: BTreeMap<String, Override> = BTreeMap::new();
    for image in &mirror.images {
        if !image.is_overridden {
            report.push(unreached(image, registry));
            continue;
        }
        let key = format!("{}/{}", image.label, image.written.name);
        let one = override_of(image, registry);
        match single.get_mut(&key) {
            Some(there) if there.repository != one.repository => report.push(ambiguous(image)),
            Some(there) => {
                there.name = there.name.take().or(one.name);
                there.tag = there.tag.take().or(one.tag);
            }
            None => drop(single.insert(key, one)),
        }
    }
    let mut lines = vec![
        "images:".to_owned(),
        "  all:".to_owned(),
        format!("    repository: {}", quoted(registry)),
    ];
    for (key, one) in single
        .iter()
        .filter(|(_, one)| **one != Override::default())
    {
        lines.push(format!("  {key}:"));
        let fields = [
            ("repository", &one.repository),
            ("name", &one.name),
            ("tag", &one.tag),
        ];
        // A tag such as `1.10` is a number where it is not quoted.
        let line = |(field, value): (&str, &Option<String>)| {
            value
                .as_ref()
                .map(|value| format!("    {field}: \"{value}\""))
        };
        lines.extend(fields.into_iter().filter_map(line));
    }
    (lines, report)
}

fn override_of(image: &MirroredImage, registry: &str) -> Override {
    let repository = image.repository_at(registry);
    let (written, run) = (&image.written, &image.run);
    Override {
        repository: (repository != registry).then_some(repository),
        name: (written.name != run.name).then(|| run.name.clone()),
        tag: if written.tag == run.tag {
            None
        } else {
            run.tag.clone()
        },
    }
}

/// The file with the section. Overrides that people wrote are replaced only where that is allowed.
fn merge(
    source: &Source,
    lines: &[String],
    is_replaced: bool,
    budget: &Budget,
) -> Result<String, Report> {
    let parsed = yaml::parse(source, budget);
    if parsed.report.has_errors() {
        return Err(parsed.report);
    }
    let root = parsed
        .documents
        .first()
        .map(|document| &document.root)
        .filter(|root| !root.is_null());
    let mut edits = Edits::of(source.text());
    match (root, root.and_then(|root| setting(root, "images"))) {
        (Some(root), _) if source.text()[root.span.start()..].starts_with('{') => {
            let finding = Diagnostic::of(
                &NOT_EXTENSIBLE,
                "the file is written in brackets, so entries cannot be added",
            );
            let finding = finding.at(source.place_at(root.span).in_document(1));
            let finding = finding.insertion(source.position(root.span.end()).line, lines.to_vec());
            return Err(
                [finding.help("write the file with one line for each key, and add these")]
                    .into_iter()
                    .collect(),
            );
        }
        (_, Some(entry)) => {
            let span = entry.key_span.start()..entry.value.span.end().max(entry.key_span.end());
            let there = &source.text()[span.clone()];
            let written = lines.join("\n");
            if there.trim_end() == written {
                return Ok(source.text().to_owned());
            }
            if !is_replaced {
                return Err(
                    [images_other(source.place_at(entry.key_span).in_document(1))]
                        .into_iter()
                        .collect(),
                );
            }
            // What stands between a key without a value and the next line is the colon.
            let end = if entry.value.is_null() {
                source.text()[span.start..]
                    .find('\n')
                    .map_or(source.text().len(), |at| span.start + at)
            } else {
                span.end
            };
            let blank = &source.text()[span.start..end];
            let tail = &blank[blank.trim_end().len()..];
            edits.replace(span.start..end, format!("{written}{tail}"));
        }
        (root, None) => edits.lines_at_end(root.map_or(0..0, |root| root.span.into()), lines),
    }
    Ok(edits.apply().unwrap_or_else(|_| source.text().to_owned()))
}

fn images_other(place: Place) -> Diagnostic {
    let finding = Diagnostic::of(
        &IMAGES_OTHER,
        "the configuration has other overrides of `images` already",
    )
    .at(place);
    finding.help(
        Remedy::new("leave ")
            .setting(Setting::Mirror)
            .then(" out to keep them, or replace them with ")
            .setting(Setting::Force),
    )
}

fn unreached(image: &MirroredImage, registry: &str) -> Diagnostic {
    let MirroredImage { label, run, .. } = image;
    let message =
        format!("{label} names {run} where overrides do not reach: nodes pull it under that name");
    let host = run.registry_and_path().0.to_owned();
    Diagnostic::of(&UNREACHED, message).help(format!(
        "let the nodes' container runtime take {host} from {registry}, as `/etc/containerd/certs.d/{host}/hosts.toml` does"
    ))
}

fn ambiguous(image: &MirroredImage) -> Diagnostic {
    let MirroredImage {
        label,
        written,
        run,
        ..
    } = image;
    let message = format!(
        "{label} runs two images called {} from different registries, and overrides lead {run} to the other",
        written.name
    );
    Diagnostic::of(&AMBIGUOUS, message).help("change the name of one of them in the components")
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";

    fn release(kind: &str, images: &[&str]) -> String {
        let containers: Vec<String> = images
            .iter()
            .enumerate()
            .map(|(at, image)| format!("{{name: c{at}, image: \"{image}\"}}"))
            .collect();
        format!(
            "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: m}}\nspec: {{template: {{spec: {{containers: [{}]}}}}}}\n",
            containers.join(", ")
        )
    }

    /// A repository of two providers, and a configuration.
    fn repository(a: &str, b: &str, configuration: &str) -> Tree {
        [
            ("bootstrap-a/v0.1.0/bootstrap-components.yaml", a),
            ("bootstrap-a/v0.1.0/metadata.yaml", METADATA),
            ("bootstrap-b/v0.1.0/bootstrap-components.yaml", b),
            ("bootstrap-b/v0.1.0/metadata.yaml", METADATA),
            ("clusterctl.yaml", configuration),
        ]
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
        .collect()
    }

    fn to_mirror(tree: &Tree, is_replaced: bool) -> (Option<String>, Vec<&'static str>) {
        let asked = Mirrored {
            repository: tree,
            shown: "r",
            registry: "m.local:5000/capi",
            is_replaced,
        };
        let (text, report) = mirrored(asked, &Budget::default());
        (
            text,
            report
                .findings()
                .iter()
                .map(|finding| finding.rule.id)
                .collect(),
        )
    }

    fn names(tree: &Tree) -> Vec<String> {
        let (images, report) = images(tree, "r", &Budget::default());
        assert!(!report.has_errors(), "{report:?}");
        images.into_iter().map(|image| image.listed.image).collect()
    }

    /// clusterctl's own rules of overrides, by its engine here, give the names that the script
    /// copies to.
    #[test]
    fn overrides_lead_to_the_names_of_the_script() {
        let digest = format!("sha256:{}", "b".repeat(64));
        let a = release(
            "Deployment",
            &[
                "ghcr.io/x/manager:v1",
                "ghcr.io/x/other:v1",
                &format!("ghcr.io/x/pinned:v1@{digest}"),
            ],
        );
        let b = release(
            "DaemonSet",
            &[
                "quay.io/y/manager:v1",
                "quay.io/y/agent:1.10",
                "quay.io/y/agent:1.11",
            ],
        );
        let theirs = "VAR: x\nimages:\n  bootstrap-a/other: {repository: mine.io/z, name: renamed, tag: \"1.10\"}\n# last\n";
        let mut tree = repository(&a, &b, theirs);
        assert_eq!(to_mirror(&tree, false), (None, vec!["mirror-images-other"]));
        let (text, rules) = to_mirror(&tree, true);
        assert_eq!(rules, [] as [&str; 0]);
        let text = text.unwrap();
        assert!(
            text.starts_with("VAR: x\nimages:\n  all:\n") && text.ends_with("\n# last\n"),
            "{text}"
        );
        let script = Mirror::of(&images(&tree, "r", &Budget::default()).0)
            .0
            .script();
        tree.insert("clusterctl.yaml", text.clone());
        let pinned = format!("m.local:5000/capi/pinned:v1@{digest}");
        let expected = [
            "m.local:5000/capi/agent:1.10",
            "m.local:5000/capi/agent:1.11",
            "m.local:5000/capi/ghcr.io/x/manager:v1",
            &pinned,
            "m.local:5000/capi/quay.io/y/manager:v1",
            "m.local:5000/capi/renamed:1.10",
        ];
        assert_eq!(names(&tree), expected);
        for name in expected {
            let (name, _) = name.split_once('@').unwrap_or((name, ""));
            let copied = format!("' '{}' '", name.trim_start_matches("m.local:5000/capi/"));
            assert!(script.contains(&copied), "{copied} is not in {script}");
        }
        assert_eq!(
            to_mirror(&tree, false),
            (Some(text), vec![]),
            "a second time nothing changes"
        );
    }

    #[test]
    fn what_overrides_do_not_reach_and_cannot_tell_apart_is_told() {
        let a = release(
            "Deployment",
            &["ghcr.io/x/manager:v1", "quay.io/x/manager:v1"],
        );
        let tree = repository(&a, &release("Job", &["ghcr.io/x/job:v1"]), "");
        assert_eq!(
            to_mirror(&tree, false).1,
            ["mirror-image-unreached", "mirror-image-ambiguous"]
        );
    }

    #[test]
    fn a_configuration_in_any_form_gets_the_section_or_says_why_not() {
        let a = release("Deployment", &["ghcr.io/x/manager:v1"]);
        let section = "images:\n  all:\n    repository: \"m.local:5000/capi\"\n";
        for (text, expected) in [
            ("", section.to_owned()),
            ("A: b\n", format!("A: b\n{section}")),
            ("images:\nA: b\n", format!("{section}A: b\n")),
            (
                "Images: {all: {tag: v1}} # theirs\nA: b\n",
                format!("{} # theirs\nA: b\n", section.trim_end()),
            ),
            (
                "A: b\nimages:\n  all:\n    tag: v1\n\n---\nB: c\n",
                format!("A: b\n{section}\n---\nB: c\n"),
            ),
        ] {
            let got = to_mirror(&repository(&a, &a, text), true);
            assert_eq!(got, (Some(expected), vec![]), "{text:?}");
        }
        assert_eq!(
            to_mirror(&repository(&a, &a, "{A: b}\n"), true),
            (None, vec!["repository-configuration-not-extensible"])
        );
        assert_eq!(
            to_mirror(&repository(&a, &a, "a: [\n"), true),
            (None, vec!["configuration-unreadable"])
        );
    }
}
