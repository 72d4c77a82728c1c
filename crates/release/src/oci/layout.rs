//! A layout on disk: the blobs by their digests, and the index that names the image (image-spec,
//! "Image Layout").

use serde::Serialize;
use serde_json::Value;

use super::image::{Facts, Image, descriptor, image, json};
use super::{
    Annotations, Descriptor, INDEX, INDEX_FILE, LAYOUT_FILE, LAYOUT_VERSION, Platform, REF_NAME,
    blob_path,
};
use windlass_source::tree::Tree;

/// A program that goes into an image.
pub struct Program<'a> {
    /// Go's name of the architecture: `amd64`.
    pub architecture: &'a str,
    /// The content of the executable file.
    pub bytes: &'a [u8],
}

/// The layout of an image (image-spec, "Image Layout"), and the digests of what it contains.
pub struct Layout {
    /// The files by path: `oci-layout`, `index.json` and the blobs.
    pub files: Tree,
    /// The digest of the image: that of its index, where it is for several architectures.
    pub digest: String,
    /// The manifest of each program, in their order.
    pub manifests: Vec<Descriptor>,
}

/// image-spec, "Image Index".
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Index<'a> {
    schema_version: u8,
    media_type: &'static str,
    manifests: &'a [Descriptor],
    #[serde(skip_serializing_if = "Annotations::is_empty")]
    annotations: &'a Annotations,
}

impl<'a> Index<'a> {
    fn over(manifests: &'a [Descriptor], annotations: &'a Annotations) -> Vec<u8> {
        json(&Index {
            schema_version: 2,
            media_type: INDEX,
            manifests,
            annotations,
        })
    }
}

/// The files of a layout: blobs, and the one of them that a tag names.
pub(super) fn files_of(
    blobs: impl IntoIterator<Item = Vec<u8>>,
    mut named: Descriptor,
    tag: &str,
) -> Tree {
    let mut files = Tree::new();
    for blob in blobs {
        let path =
            blob_path(&super::digest(&blob)).expect("internal error: a digest of ours is one");
        files.insert(path, blob);
    }
    named
        .annotations
        .insert(REF_NAME.to_owned(), tag.to_owned());
    files.insert(INDEX_FILE, Index::over(&[named], &Annotations::new()));
    files.insert(
        LAYOUT_FILE,
        json(&serde_json::json!({"imageLayoutVersion": LAYOUT_VERSION})),
    );
    files
}

/// A layout that has something under other tags already, with what is added to it.
pub struct Beside {
    /// The files of both.
    pub files: Tree,
    /// Whether the tag meant something else before.
    pub is_replaced: bool,
}

/// Adds a layout of one tag to another one; `None` when that is none.
pub fn beside(existing: &Tree, added: &Tree, tag: &str) -> Option<Beside> {
    let index = |tree: &Tree| serde_json::from_slice::<Value>(tree.get(INDEX_FILE)?).ok();
    let (mut whole, own) = (
        index(existing).filter(|_| existing.get(LAYOUT_FILE).is_some())?,
        index(added)?,
    );
    let own = own["manifests"].as_array()?.first()?;
    let manifests = whole.get_mut("manifests")?.as_array_mut()?;
    let is_of_tag = |manifest: &Value| manifest["annotations"][REF_NAME] == tag;
    let is_replaced = manifests
        .iter()
        .any(|manifest| is_of_tag(manifest) && manifest["digest"] != own["digest"]);
    let is_there = manifests
        .iter()
        .any(|manifest| is_of_tag(manifest) && manifest == own);
    manifests.retain(|manifest| !is_of_tag(manifest));
    manifests.push(own.clone());
    let mut files = existing.clone();
    for (path, bytes) in added.iter().filter(|(path, _)| path.as_str() != INDEX_FILE) {
        files.insert(path.as_str(), bytes.clone());
    }
    if !is_there {
        files.insert(INDEX_FILE, json(&whole));
    }
    Some(Beside { files, is_replaced })
}

/// The layout of one image for the architectures of its programs, under a tag. With several of them
/// the tag means an index of images.
pub fn layout(programs: &[Program<'_>], tag: &str, facts: &Facts) -> Layout {
    let (mut kept, mut manifests) = (Vec::new(), Vec::new());
    for Program {
        architecture,
        bytes,
    } in programs
    {
        let platform = Platform {
            architecture: (*architecture).to_owned(),
            os: "linux".to_owned(),
        };
        let Image { manifest, blobs } = image(bytes, platform, facts);
        kept.extend(blobs);
        manifests.push(manifest);
    }
    let named = match manifests.as_slice() {
        [one] => one.clone(),
        several => {
            let index = Index::over(several, &facts.annotations);
            let described = descriptor(INDEX, &index);
            kept.push(index);
            described
        }
    };
    let digest = named.digest.clone();
    Layout {
        files: files_of(kept, named, tag),
        digest,
        manifests,
    }
}
