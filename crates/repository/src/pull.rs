//! `repository pull`: an OCI artifact back as the files of a release. Nothing in it is trusted.

use semver::Version;

use windlass_capi::contract::{ProviderType, operator, parse_semantic};
use windlass_release::oci::artifact::{Wanted, contents};
use windlass_release::oci::{Annotations, digest, read};
use windlass_source::diag::{Diagnostic, Place, rules};
use windlass_source::tree::Tree;

pub use windlass_release::oci::artifact::Contents;

rules! {
    /// an artifact has no titled files, exceeds a size limit, or has a title that is not a plain
    /// file name
    REJECTED = error("artifact-rejected");
    /// the digest of an artifact's manifest or file does not match its content
    DIGEST_WRONG = error("artifact-digest-wrong");
}

/// What a manifest says, when it has the digest that was asked for. `shown` is the reference.
///
/// # Errors
/// The finding.
pub fn opened(
    manifest: &[u8],
    asked: Option<&str>,
    shown: &str,
) -> Result<Contents, Box<Diagnostic>> {
    if let Some(asked) = asked.filter(|asked| *asked != digest(manifest)) {
        return Err(wrong(shown, &format!("the manifest {asked}")));
    }
    contents(manifest).map_err(|why| {
        let finding = Diagnostic::of(&REJECTED, format!("{shown} cannot be taken as a release: {why}")).at(Place::file(shown));
        Box::new(finding.help("push it with `windlass repository push`, or `oras push REF FILE…`: a layer with a title for each file"))
    })
}

/// Takes a file of an artifact.
///
/// # Errors
/// The finding that it is another one.
pub fn keep(
    files: &mut Tree,
    wanted: &Wanted,
    bytes: Vec<u8>,
    shown: &str,
) -> Result<(), Box<Diagnostic>> {
    if !wanted.is(&bytes) {
        return Err(wrong(shown, &wanted.title));
    }
    files.insert(wanted.title.clone(), bytes);
    Ok(())
}

fn wrong(shown: &str, what: &str) -> Box<Diagnostic> {
    let message = format!("{what} of {shown} does not have the size and digest that it must have");
    let finding = Diagnostic::of(&DIGEST_WRONG, message).at(Place::file(shown));
    Box::new(
        finding.help("do not use it; pull again, and from another registry if that does not help"),
    )
}

/// The files of an artifact in a layout on disk, with every blob held against its digest.
///
/// # Errors
/// The finding.
pub fn of_layout(
    layout: &Tree,
    folder: &str,
    tag: Option<&str>,
    digest: Option<&str>,
) -> Result<(Tree, Contents), Box<Diagnostic>> {
    let manifest = read::manifest_of(layout, folder, tag, digest)?;
    let contents = opened(manifest, digest, folder)?;
    let mut files = Tree::new();
    for wanted in &contents.files {
        let path = format!("blobs/{}", wanted.digest.replace(':', "/"));
        keep(
            &mut files,
            wanted,
            layout.get(&path).unwrap_or_default().to_vec(),
            folder,
        )?;
    }
    Ok((files, contents))
}

/// The version of the release: the tag where it is one, else what the artifact says of itself.
pub fn version(tag: Option<&str>, annotations: &Annotations) -> Option<Version> {
    let stated = annotations
        .get("org.opencontainers.image.version")
        .map(String::as_str);
    [tag, stated]
        .into_iter()
        .flatten()
        .find_map(|text| parse_semantic(text).ok())
}

/// The files under the names by which clusterctl looks for them, where the operator has others.
pub fn with_clusterctls_names(mut files: Tree) -> Tree {
    for provider_type in ProviderType::ALL {
        let (own, operators) = (
            provider_type.components_file(),
            operator::components_file(provider_type),
        );
        let Some(bytes) = files
            .get(&operators)
            .filter(|_| own != operators)
            .map(<[u8]>::to_vec)
        else {
            continue;
        };
        files = files
            .iter()
            .filter(|(path, _)| **path != operators)
            .map(|(path, bytes)| (path.clone(), bytes.clone()))
            .collect();
        if files.get(&own).is_none() {
            files.insert(own, bytes);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_release::oci::artifact::artifact;

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().copied().collect()
    }

    #[test]
    fn a_layout_gives_its_files_back() {
        let files = tree(&[("a.yaml", "a"), ("b", "")]);
        let made = artifact(&files, &Annotations::new());
        let layout = made.layout("v1.0.0");
        for (tag, asked) in [
            (Some("v1.0.0"), None),
            (None, None),
            (Some("other"), Some(made.described.digest.as_str())),
        ] {
            assert_eq!(of_layout(&layout, "d", tag, asked).unwrap().0, files);
        }
        let rule = |tag: Option<&str>, asked: Option<&str>| {
            of_layout(&layout, "d", tag, asked).unwrap_err().rule.id
        };
        assert_eq!(rule(Some("v2"), None), "image-layout-tag-missing");
        assert_eq!(rule(None, Some(&digest(b""))), "image-layout-tag-missing");
    }

    #[test]
    fn digests_are_held_against_bytes() {
        let made = artifact(&tree(&[("a", "a")]), &Annotations::new());
        let rule = |found: Box<Diagnostic>| found.rule.id;
        assert_eq!(
            opened(&made.manifest, Some(&digest(b"x")), "r").map_err(rule),
            Err("artifact-digest-wrong")
        );
        let contents = opened(&made.manifest, Some(&made.described.digest), "r").unwrap();
        let mut files = Tree::new();
        for bytes in ["b", "aa", ""] {
            let kept = keep(
                &mut files,
                &contents.files[0],
                bytes.as_bytes().to_vec(),
                "r",
            );
            assert_eq!(kept.map_err(rule), Err("artifact-digest-wrong"));
        }
        assert!(
            files.is_empty() && keep(&mut files, &contents.files[0], b"a".to_vec(), "r").is_ok()
        );
        assert_eq!(
            opened(b"{}", None, "r").map_err(rule),
            Err("artifact-rejected")
        );
    }

    #[test]
    fn names_of_the_operator_become_clusterctls() {
        let both = tree(&[
            ("runtimeextension-components.yaml", "a"),
            ("runtime-extension-components.yaml", "a"),
        ]);
        let expected = tree(&[("runtime-extension-components.yaml", "a")]);
        assert_eq!(with_clusterctls_names(both), expected);
        assert_eq!(
            with_clusterctls_names(tree(&[("runtimeextension-components.yaml", "a")])),
            expected
        );
        assert_eq!(
            with_clusterctls_names(tree(&[("core-components.yaml", "a")])),
            tree(&[("core-components.yaml", "a")])
        );
    }

    #[test]
    fn the_tag_says_the_version_or_the_artifact_itself() {
        let stated = Annotations::from([(
            "org.opencontainers.image.version".to_owned(),
            "v0.3.0".to_owned(),
        )]);
        let found = |tag, annotations: &Annotations| {
            version(tag, annotations).map(|version| version.to_string())
        };
        assert_eq!(found(Some("v0.2.0"), &stated).as_deref(), Some("0.2.0"));
        assert_eq!(found(Some("latest"), &stated).as_deref(), Some("0.3.0"));
        assert_eq!(found(None, &Annotations::new()), None);
    }
}
