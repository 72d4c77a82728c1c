//! Files as an artifact: a layer for each, which its title names (image-spec 1.1.1, "Guidelines for
//! Artifact Usage"). So ORAS has it, and so the Cluster API operator reads it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::image::{Manifest, descriptor, json};
use super::layout::files_of;
use super::{Annotations, Descriptor, INDEX, MANIFEST, blob_path};
use windlass_source::tree::Tree;

pub(crate) const ARTIFACT_TYPE: &str = "application/vnd.windlass.release.v1";
/// image-spec: the configuration of an artifact without one.
const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
const EMPTY: &[u8] = b"{}";
/// image-spec: the name of a layer's file.
const TITLE: &str = "org.opencontainers.image.title";

/// How large a manifest may be: as much as registries take (distribution-spec, "Pushing
/// Manifests").
pub const MOST_MANIFEST: u64 = 4 << 20;
/// Bytes of one file, and of all.
const MOST_BYTES: (u64, u64) = (64 << 20, 128 << 20);
const MOST_FILES: usize = 1_000;
/// Bytes of a title: as much as file systems take.
const LONGEST_TITLE: usize = 255;

/// An artifact of files: a manifest, and the blobs that it refers to.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// The manifest as JSON, byte for byte as its digest requires.
    pub manifest: Vec<u8>,
    /// What the manifest is.
    pub described: Descriptor,
    /// Configuration and files, by digest.
    pub blobs: BTreeMap<String, Blob>,
}

/// A blob of an artifact: its configuration, or one of its files.
#[derive(Debug, Clone)]
pub struct Blob {
    /// What a person calls it: the title of a file.
    pub name: String,
    /// The content, which has the digest under which the blob is stored.
    pub bytes: Vec<u8>,
}

/// The artifact of files: always the same bytes, for it has no date.
pub fn artifact(files: &Tree, annotations: &Annotations) -> Artifact {
    let layer = |(title, bytes): (&String, &Vec<u8>)| {
        let annotations = Annotations::from([(TITLE.to_owned(), title.clone())]);
        Descriptor {
            annotations,
            ..descriptor(media_type(title), bytes)
        }
    };
    let layers: Vec<Descriptor> = files.iter().map(layer).collect();
    let config = descriptor(EMPTY_TYPE, EMPTY);
    let manifest = json(&Manifest::of(
        Some(ARTIFACT_TYPE),
        config.clone(),
        &layers,
        annotations,
    ));
    let described = Descriptor {
        artifact_type: Some(ARTIFACT_TYPE.to_owned()),
        ..descriptor(MANIFEST, &manifest)
    };
    let mut blobs = BTreeMap::from([(
        config.digest,
        Blob {
            name: "configuration".to_owned(),
            bytes: EMPTY.to_vec(),
        },
    )]);
    for (layer, (title, bytes)) in layers.into_iter().zip(files.iter()) {
        blobs.insert(
            layer.digest,
            Blob {
                name: title.clone(),
                bytes: bytes.clone(),
            },
        );
    }
    Artifact {
        manifest,
        described,
        blobs,
    }
}

impl Artifact {
    /// The layout with this artifact alone.
    pub fn layout(&self, tag: &str) -> Tree {
        files_of(
            self.blobs
                .values()
                .map(|blob| blob.bytes.clone())
                .chain([self.manifest.clone()]),
            self.described.clone(),
            tag,
        )
    }
}

/// The type of a file, by the end of its name.
fn media_type(title: &str) -> &'static str {
    match title.rsplit_once('.').map(|(_, ending)| ending) {
        Some("yaml" | "yml") => "application/yaml",
        Some("json") => "application/json",
        _ => "text/plain",
    }
}

/// A file of an artifact that was not fetched yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// A plain file name.
    pub title: String,
    /// `sha256:…`.
    pub digest: String,
    /// Bytes.
    pub size: u64,
}

impl Wanted {
    /// Whether bytes are what the manifest promises.
    pub fn is(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.size && super::digest(bytes) == self.digest
    }
}

/// What a manifest says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// The layers that have a title, in the order of the manifest.
    pub files: Vec<Wanted>,
    /// The annotations of the manifest; empty when it has none.
    pub annotations: Annotations,
    /// How many layers have no title, and are not files.
    pub untitled: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    manifests: Option<Vec<Descriptor>>,
    #[serde(default)]
    layers: Vec<Descriptor>,
    #[serde(default)]
    annotations: Option<Annotations>,
}

/// Reads a manifest, whoever wrote it. Nothing in it is trusted.
///
/// # Errors
/// Why it is not an artifact of files, in a few words.
pub fn contents(manifest: &[u8]) -> Result<Contents, String> {
    if manifest.len() as u64 > MOST_MANIFEST {
        return Err(format!(
            "its manifest is larger than {} MiB",
            MOST_MANIFEST >> 20
        ));
    }
    let read: Read = serde_json::from_slice(manifest)
        .map_err(|error| format!("its manifest cannot be parsed: {error}"))?;
    if read.media_type == INDEX || read.manifests.is_some() {
        return Err("it is an index of several manifests, not one artifact".to_owned());
    }
    if read.layers.len() > MOST_FILES {
        return Err(format!("it has more than {MOST_FILES} layers"));
    }
    let mut contents = Contents {
        annotations: read.annotations.unwrap_or_default(),
        ..Contents::default()
    };
    let (mut titles, mut total) = (BTreeSet::new(), 0_u64);
    for layer in read.layers {
        let Some(title) = layer.annotations.get(TITLE) else {
            contents.untitled += 1;
            continue;
        };
        let shown = title.escape_debug();
        if !is_file_name(title) {
            return Err(format!("`{shown}` is not a plain file name"));
        }
        if !titles.insert(title.to_lowercase()) {
            return Err(format!("two of its files are called `{shown}`"));
        }
        if blob_path(&layer.digest).is_none() {
            return Err(format!(
                "`{}` of `{shown}` is not a digest with SHA-256",
                layer.digest.escape_debug()
            ));
        }
        total = total.saturating_add(layer.size);
        if layer.size > MOST_BYTES.0 || total > MOST_BYTES.1 {
            let (file, all) = (MOST_BYTES.0 >> 20, MOST_BYTES.1 >> 20);
            return Err(format!(
                "with `{shown}`, its files are larger than {file} MiB each, or {all} MiB together"
            ));
        }
        contents.files.push(Wanted {
            title: title.clone(),
            digest: layer.digest,
            size: layer.size,
        });
    }
    match (contents.files.len(), contents.untitled) {
        (0, 0) => Err("it has no layers".to_owned()),
        (0, _) => Err(
            "none of its layers has a title, so that it holds no files but an image or one archive"
                .to_owned(),
        ),
        _ => Ok(contents),
    }
}

/// A name that stays in its folder on every system.
pub fn is_file_name(title: &str) -> bool {
    let is_strange = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
    !title.is_empty()
        && title.len() <= LONGEST_TITLE
        && !title.starts_with('.')
        && !title.contains(is_strange)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().copied().collect()
    }

    /// image-spec 1.1.1: "artifactType MUST be set when config.mediaType is the empty value"; the
    /// digest of `{}` stands there.
    #[test]
    fn the_manifest_is_that_of_an_artifact() {
        let annotations = Annotations::from([
            ("b".to_owned(), "2".to_owned()),
            ("a".to_owned(), "1".to_owned()),
        ]);
        let made = artifact(
            &tree(&[("x.yaml", "x"), ("a", ""), ("s.json", "{}")]),
            &annotations,
        );
        let manifest: Value = serde_json::from_slice(&made.manifest).unwrap();
        assert_eq!(manifest["schemaVersion"], 2);
        assert_eq!(
            manifest["mediaType"],
            "application/vnd.oci.image.manifest.v1+json"
        );
        assert_eq!(manifest["artifactType"], ARTIFACT_TYPE);
        let empty = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(
            manifest["config"],
            json!({"mediaType": "application/vnd.oci.empty.v1+json", "digest": empty, "size": 2})
        );
        let titles: Vec<&str> = manifest["layers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|layer| layer["annotations"][TITLE].as_str().unwrap())
            .collect();
        assert_eq!(titles, ["a", "s.json", "x.yaml"]);
        assert!(
            manifest.get("created").is_none()
                && manifest["annotations"] == json!({"a": "1", "b": "2"})
        );
        // `{}` is the configuration and a file, once.
        assert_eq!(made.blobs.len(), 3);
        let index: Value =
            serde_json::from_slice(made.layout("v1").get("index.json").unwrap()).unwrap();
        assert_eq!(index["manifests"][0]["artifactType"], ARTIFACT_TYPE);
        assert_eq!(
            index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"],
            "v1"
        );
        let read = contents(&made.manifest).unwrap();
        assert_eq!(
            read.files
                .iter()
                .map(|file| file.title.as_str())
                .collect::<Vec<_>>(),
            titles
        );
        assert!(read.files[2].is(b"x") && !read.files[2].is(b"y") && !read.files[2].is(b"xx"));
    }

    #[test]
    fn hostile_manifests_are_rejected() {
        let layer = |title: &str, size: u64| json!({"digest": super::super::digest(b""), "size": size, "annotations": {TITLE: title}});
        let rejection = |manifest: Value| contents(manifest.to_string().as_bytes()).unwrap_err();
        for title in [
            "../a",
            "a/b",
            "/a",
            "..",
            ".",
            "",
            "a\\b",
            "C:a",
            "a\nb",
            "\u{1b}[2Ja",
            ".hidden",
            &"a".repeat(256),
        ] {
            assert!(
                rejection(json!({"layers": [layer(title, 0)]})).contains("not a plain file name"),
                "{title}"
            );
        }
        assert!(
            rejection(json!({"layers": [layer("a", 0), layer("A", 0)]}))
                .contains("two of its files")
        );
        assert!(rejection(json!({"layers": [layer("a", (64 << 20) + 1)]})).contains("larger"));
        let three = [
            layer("a", 50 << 20),
            layer("b", 50 << 20),
            layer("c", 50 << 20),
        ];
        assert!(rejection(json!({"layers": three})).contains("larger"));
        assert!(
            rejection(json!({"layers": [layer("a", u64::MAX), layer("b", u64::MAX)]}))
                .contains("larger")
        );
        let many: Vec<Value> = (0..1001)
            .map(|number| layer(&number.to_string(), 0))
            .collect();
        assert!(rejection(json!({"layers": many})).contains("more than 1000"));
        let bad = json!({"layers": [{"digest": "sha256:../../x", "size": 1, "annotations": {TITLE: "a"}}]});
        assert!(rejection(bad).contains("not a digest"));
        assert!(rejection(json!({"manifests": []})).contains("index"));
        assert!(rejection(json!({})).contains("no layers"));
        assert!(
            rejection(json!({"layers": [{"digest": "sha256:0", "size": 1}]})).contains("title")
        );
        for text in ["", "null", "[", "\u{0}", &"[".repeat(100_000)] {
            assert!(
                contents(text.as_bytes())
                    .unwrap_err()
                    .contains("cannot be parsed"),
                "{text:.10}"
            );
        }
        let large = vec![b' '; usize::try_from(MOST_MANIFEST).unwrap() + 1];
        assert!(contents(&large).unwrap_err().contains("larger than 4 MiB"));
    }
}
