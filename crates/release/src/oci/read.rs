//! A layout read back, whoever wrote it: the image of a tag, with every blob held against its
//! digest.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{
    Descriptor, INDEX, INDEX_FILE, LAYOUT_FILE, MANIFEST, Pointers, REF_NAME, blob_path, images,
};
use windlass_source::diag::{Diagnostic, Place, rules};
use windlass_source::tree::Tree;

rules! {
    /// a folder is not a valid OCI image layout
    FAULTY = error("image-layout-malformed");
    /// an OCI image layout does not contain exactly one image with the requested tag
    UNTAGGED = error("image-layout-tag-missing");
}

/// Docker's names of an index and a manifest, which layouts of older tools have.
const OF_DOCKER: [&str; 2] = [
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
];

/// How deep indexes may lie in indexes.
const DEEPEST: usize = 4;
const MOST_BLOBS: usize = 10_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LayoutFile {
    image_layout_version: String,
}

/// The digest of the image that a layout has under a tag, or of its only one if that has no tag.
/// `shown` is its folder.
///
/// # Errors
/// The finding: it is not a layout, it has no such image, a blob of the image is not what its digest
/// says, or its parts do not agree.
pub fn digest_of(files: &Tree, shown: &str, tag: &str) -> Result<String, Box<Diagnostic>> {
    let layout = Reader { files, shown };
    let index = layout.index()?;
    let image = layout.tagged(&index.manifests, tag)?;
    layout.verify(image, 0, &mut BTreeSet::new())?;
    let blob = |of: &Descriptor| blob_path(&of.digest).and_then(|path| files.get(&path));
    images::check(image, &blob).map_err(|why| layout.faulty(INDEX_FILE, why))?;
    Ok(image.digest.clone())
}

/// The manifest that a layout has under a digest, or a tag, or else as its only one; it and all its
/// blobs have their digests.
///
/// # Errors
/// The finding, as of [`digest_of`].
pub fn manifest_of<'t>(
    files: &'t Tree,
    shown: &str,
    tag: Option<&str>,
    digest: Option<&str>,
) -> Result<&'t [u8], Box<Diagnostic>> {
    let layout = Reader { files, shown };
    let index = layout.index()?;
    let named = match (digest, tag, index.manifests.as_slice()) {
        (Some(digest), ..) => index
            .manifests
            .iter()
            .find(|manifest| manifest.digest == digest)
            .ok_or(digest),
        (None, Some(tag), manifests) => Ok(layout.tagged(manifests, tag)?),
        (None, None, [only]) => Ok(only),
        (None, None, _) => Err("one manifest alone"),
    };
    let named = named.map_err(|wanted| {
        let message = format!(
            "{shown} has {} manifests, and {wanted} is requested",
            index.manifests.len()
        );
        let at = Place::file(format!("{}/{INDEX_FILE}", shown.trim_end_matches('/')));
        Box::new(
            Diagnostic::of(&UNTAGGED, message)
                .at(at)
                .help("name the tag: `oci:DIR:TAG`"),
        )
    })?;
    layout.verify(named, 0, &mut BTreeSet::new())?;
    let blob = blob_path(&named.digest).and_then(|path| files.get(&path));
    Ok(blob.expect("internal error: what was verified is there"))
}

struct Reader<'a> {
    files: &'a Tree,
    shown: &'a str,
}

impl Reader<'_> {
    fn faulty(&self, file: &str, message: String) -> Box<Diagnostic> {
        let finding = Diagnostic::of(
            &FAULTY,
            format!("{} cannot be used as an image: {message}", self.shown),
        );
        let at = Place::file(format!("{}/{file}", self.shown.trim_end_matches('/')));
        Box::new(finding.at(at).help("write the layout again: `windlass release image`, or `skopeo copy docker://… oci:DIR:TAG`"))
    }

    fn index(&self) -> Result<Pointers, Box<Diagnostic>> {
        let version = self.parsed::<LayoutFile>(LAYOUT_FILE)?.image_layout_version;
        if !version.starts_with("1.") {
            return Err(self.faulty(
                LAYOUT_FILE,
                format!("{LAYOUT_FILE} has the version `{version}`, not 1.0.0"),
            ));
        }
        self.parsed(INDEX_FILE)
    }

    fn parsed<T: for<'de> Deserialize<'de>>(&self, file: &str) -> Result<T, Box<Diagnostic>> {
        let bytes = self
            .files
            .get(file)
            .ok_or_else(|| self.faulty(file, format!("{file} is missing")))?;
        serde_json::from_slice(bytes)
            .map_err(|error| self.faulty(file, format!("{file} cannot be parsed: {error}")))
    }

    fn tagged<'d>(
        &self,
        images: &'d [Descriptor],
        tag: &str,
    ) -> Result<&'d Descriptor, Box<Diagnostic>> {
        let tag_of = |image: &'d Descriptor| image.annotations.get(REF_NAME).map(String::as_str);
        let of_tag: Vec<&Descriptor> = images
            .iter()
            .filter(|image| tag_of(image) == Some(tag))
            .collect();
        match (of_tag.as_slice(), images) {
            ([one], _) => return Ok(one),
            ([], [only]) if tag_of(only).is_none() => return Ok(only),
            _ => {}
        }
        let tags: Vec<String> = images
            .iter()
            .filter_map(tag_of)
            .map(|tag| format!("`{tag}`"))
            .collect();
        let has = match (of_tag.len(), tags.as_slice()) {
            (0, []) => "nothing with a tag".to_owned(),
            (0, some) => format!("the tags {}", some.join(", ")),
            (count, _) => format!("{count} manifests with this tag"),
        };
        let message = format!("{} has {has}, and {tag} is requested", self.shown);
        let at = Place::file(format!("{}/{INDEX_FILE}", self.shown.trim_end_matches('/')));
        let help = format!("name a tag that is there, once, or write it with the tag {tag}");
        Err(Box::new(
            Diagnostic::of(&UNTAGGED, message).at(at).help(help),
        ))
    }

    /// Holds a blob and all that it points to against their digests, each once.
    fn verify(
        &self,
        of: &Descriptor,
        depth: usize,
        seen: &mut BTreeSet<String>,
    ) -> Result<(), Box<Diagnostic>> {
        let wrong = |message: String| self.faulty(INDEX_FILE, message);
        if !seen.insert(of.digest.clone()) {
            return Ok(());
        }
        if depth > DEEPEST || seen.len() > MOST_BLOBS {
            return Err(wrong(format!(
                "it is deeper than {DEEPEST} indexes, or has more than {MOST_BLOBS} blobs"
            )));
        }
        let path = blob_path(&of.digest)
            .ok_or_else(|| wrong(format!("`{}` is not a digest with SHA-256", of.digest)))?;
        let blob = self
            .files
            .get(&path)
            .ok_or_else(|| wrong(format!("the blob {} is missing", of.digest)))?;
        if blob.len() as u64 != of.size || super::digest(blob) != of.digest {
            return Err(self.faulty(
                &path,
                format!(
                    "the blob {} has other bytes than its digest says",
                    of.digest
                ),
            ));
        }
        if of.media_type != INDEX
            && of.media_type != MANIFEST
            && !OF_DOCKER.contains(&of.media_type.as_str())
        {
            let is_leaf = depth > 0;
            return if is_leaf {
                Ok(())
            } else {
                Err(wrong(format!(
                    "`{}` is neither an image nor an index",
                    of.media_type
                )))
            };
        }
        let Pointers {
            manifests,
            config,
            layers,
        } = self.parsed(&path)?;
        manifests
            .iter()
            .chain(&config)
            .chain(&layers)
            .try_for_each(|pointed| self.verify(pointed, depth + 1, seen))
    }
}

#[cfg(test)]
mod tests {
    use super::super::image::Facts;
    use super::super::layout::{Program, layout};
    use super::*;

    fn written(architectures: &[&str]) -> (Tree, String) {
        let programs: Vec<Program<'_>> = architectures
            .iter()
            .map(|architecture| Program {
                architecture,
                bytes: b"program",
            })
            .collect();
        let layout = layout(&programs, "v0.1.0", &Facts::default());
        (layout.files, layout.digest)
    }

    fn rule(files: &Tree, tag: &str) -> (&'static str, String) {
        let finding = digest_of(files, "image", tag).unwrap_err();
        (finding.rule.id, finding.message.to_string())
    }

    #[test]
    fn what_was_written_is_read() {
        for architectures in [&["amd64"][..], &["amd64", "arm64"]] {
            let (files, digest) = written(architectures);
            assert_eq!(digest_of(&files, "image", "v0.1.0"), Ok(digest));
        }
    }

    #[test]
    fn each_blob_is_held_against_its_digest() {
        let (files, _) = written(&["amd64", "arm64"]);
        let blobs: Vec<String> = files
            .paths()
            .filter(|path| path.starts_with("blobs/"))
            .map(str::to_owned)
            .collect();
        // Two configurations, two manifests, an index, and the one layer of both.
        assert_eq!(blobs.len(), 6);
        for path in blobs {
            let mut changed = files.clone();
            let mut bytes = files.get(&path).unwrap().to_vec();
            bytes[0] ^= 1;
            changed.insert(path.as_str(), bytes);
            let (id, message) = rule(&changed, "v0.1.0");
            assert_eq!(
                (id, message.contains("other bytes")),
                ("image-layout-malformed", true),
                "{message}"
            );
            let without: Tree = files
                .iter()
                .filter(|(other, _)| **other != path)
                .map(|(path, bytes)| (path.clone(), bytes.clone()))
                .collect();
            assert!(rule(&without, "v0.1.0").1.contains("is missing"));
        }
    }

    /// A layout of two images, of which one blob of the one for amd64 is another one, and all
    /// digests that lead to it.
    fn rewritten(part: &str, change: impl Fn(&str) -> String) -> Tree {
        let (mut files, _) = written(&["amd64", "arm64"]);
        let text = |files: &Tree, file: &str| {
            String::from_utf8_lossy(files.get(file).unwrap()).into_owned()
        };
        let is_part = |text: &str| text.contains(part) && !text.contains("arm64");
        let of_part = |path: &&str| path.starts_with("blobs/") && is_part(&text(&files, path));
        let mut path = files.paths().find(of_part).unwrap().to_owned();
        let mut content = change(&text(&files, &path)).into_bytes();
        loop {
            let (old, new) = (
                path.rsplit('/').next().unwrap().to_owned(),
                super::super::digest(&content),
            );
            let size = files.get(&path).unwrap().len();
            let new = new.trim_start_matches("sha256:").to_owned();
            files.insert(format!("blobs/sha256/{new}"), content.clone());
            let Some(holder) = files
                .paths()
                .find(|path| text(&files, path).contains(&old))
                .map(str::to_owned)
            else {
                return files;
            };
            let entry = |digest: &str, size: usize| format!("sha256:{digest}\",\"size\":{size}");
            let held =
                text(&files, &holder).replace(&entry(&old, size), &entry(&new, content.len()));
            if !holder.starts_with("blobs/") {
                files.insert(holder, held.into_bytes());
                return files;
            }
            (path, content) = (holder, held.into_bytes());
        }
    }

    #[test]
    fn platforms_and_layers_are_those_of_the_configuration() {
        let config = "\"diff_ids\"";
        for (change, why) in [
            (
                ("\"architecture\":\"amd64\"", "\"architecture\":\"arm64\""),
                "the index says linux/amd64",
            ),
            (
                ("\"diff_ids\":[", "\"diff_ids\":[\"sha256:0\","),
                "has 1 layers, and its configuration names 2",
            ),
            (
                ("\"diff_ids\":[\"sha256:", "\"diff_ids\":[\"sha256:0"),
                "and the configuration says sha256:0",
            ),
        ] {
            let files = rewritten(config, |text| text.replace(change.0, change.1));
            let (id, message) = rule(&files, "v0.1.0");
            assert_eq!(
                (id, message.contains(why)),
                ("image-layout-malformed", true),
                "{message}"
            );
        }
    }

    #[test]
    fn the_tag_says_which_image() {
        let (files, digest) = written(&["amd64"]);
        let (id, message) = rule(&files, "v0.2.0");
        assert_eq!(
            (id, message.contains("the tags `v0.1.0`")),
            ("image-layout-tag-missing", true),
            "{message}"
        );
        let text = String::from_utf8(files.get(INDEX_FILE).unwrap().to_vec()).unwrap();
        let mut untagged = files.clone();
        untagged.insert(INDEX_FILE, text.replace(REF_NAME, "other").into_bytes());
        assert_eq!(digest_of(&untagged, "image", "v0.2.0"), Ok(digest));
        let (begin, end) = (text.find('[').unwrap() + 1, text.rfind(']').unwrap());
        let entry = &text[begin..end];
        let mut twice = files.clone();
        twice.insert(
            INDEX_FILE,
            text.replace(entry, &format!("{entry},{entry}"))
                .into_bytes(),
        );
        assert!(
            rule(&twice, "v0.1.0")
                .1
                .contains("2 manifests with this tag")
        );
        let mut none = files;
        none.insert(INDEX_FILE, text.replace(entry, "").into_bytes());
        assert!(rule(&none, "v0.1.0").1.contains("nothing with a tag"));
    }

    #[test]
    fn what_is_no_layout_is_rejected() {
        let (files, _) = written(&["amd64"]);
        let changed = |file: &str, text: &str| {
            let mut changed = files.clone();
            changed.insert(file, text.as_bytes().to_vec());
            rule(&changed, "v0.1.0")
        };
        assert_eq!(rule(&Tree::new(), "v0.1.0").0, "image-layout-malformed");
        let deep = "[".repeat(100_000);
        for (file, text, why) in [
            (LAYOUT_FILE, "", "cannot be parsed"),
            (
                LAYOUT_FILE,
                r#"{"imageLayoutVersion": "2.0.0"}"#,
                "not 1.0.0",
            ),
            (INDEX_FILE, "{", "cannot be parsed"),
            (INDEX_FILE, &deep, "cannot be parsed"),
            (
                INDEX_FILE,
                r#"{"manifests": [{"digest": "sha256:../../etc/passwd", "size": 1}]}"#,
                "not a digest",
            ),
            (
                INDEX_FILE,
                r#"{"manifests": [{"digest": "md5:00", "size": 1}]}"#,
                "not a digest",
            ),
        ] {
            let (id, message) = changed(file, text);
            assert_eq!(
                (id, message.contains(why)),
                ("image-layout-malformed", true),
                "{message}"
            );
        }
    }
}
