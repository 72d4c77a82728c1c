//! What a layout says of its images besides digests: that platforms are those of the
//! configurations, and that layers are what these unpack.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{CONFIG, Descriptor, INDEX, Platform, Pointers};
use windlass_source::hex::hex;

/// The same in Docker's words.
const DOCKER_CONFIG: &str = "application/vnd.docker.container.image.v1+json";
const DOCKER_INDEX: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
/// Bytes that the layers of an image may unpack to, all platforms together: what a manager has is a
/// hundredth of it.
const MOST_UNPACKED: u64 = 8 << 30;

/// image-spec, "Image Configuration", as far as it is held against others.
#[derive(Deserialize)]
struct Config {
    architecture: String,
    os: String,
    rootfs: Rootfs,
}

#[derive(Deserialize)]
struct Rootfs {
    #[serde(default)]
    diff_ids: Vec<String>,
}

/// Holds the images of a descriptor, all of whose blobs have their digests, against their
/// configurations.
///
/// # Errors
/// What does not agree.
pub(super) fn check<'t>(
    of: &Descriptor,
    blob: &dyn Fn(&Descriptor) -> Option<&'t [u8]>,
) -> Result<(), String> {
    checked(of, blob, &mut MOST_UNPACKED.clone())
}

fn checked<'t>(
    of: &Descriptor,
    blob: &dyn Fn(&Descriptor) -> Option<&'t [u8]>,
    left: &mut u64,
) -> Result<(), String> {
    let read = |descriptor: &Descriptor| {
        blob(descriptor).ok_or_else(|| format!("the blob {} is missing", descriptor.digest))
    };
    let parsed = |descriptor: &Descriptor| {
        serde_json::from_slice::<Pointers>(read(descriptor)?)
            .map_err(|error| format!("{} cannot be parsed: {error}", descriptor.digest))
    };
    let Pointers {
        manifests,
        config,
        layers,
    } = parsed(of)?;
    if of.media_type == INDEX || of.media_type == DOCKER_INDEX {
        return manifests
            .iter()
            .filter(|manifest| is_image(manifest))
            .try_for_each(|manifest| checked(manifest, blob, left));
    }
    let Some(config) =
        config.filter(|config| config.media_type == CONFIG || config.media_type == DOCKER_CONFIG)
    else {
        return Err(format!(
            "the manifest {} has no configuration of an image",
            of.digest
        ));
    };
    let Config {
        architecture,
        os,
        rootfs,
    } = serde_json::from_slice(read(&config)?).map_err(|error| {
        format!(
            "cannot parse the image configuration {}: {error}",
            config.digest
        )
    })?;
    if let Some(Platform {
        architecture: said,
        os: said_os,
    }) = &of.platform
        && (*said != architecture || *said_os != os)
    {
        return Err(format!(
            "the index says {said_os}/{said} of {}, and its configuration {os}/{architecture}",
            of.digest
        ));
    }
    if rootfs.diff_ids.len() != layers.len() {
        return Err(format!(
            "{} has {} layers, and its configuration names {}",
            of.digest,
            layers.len(),
            rootfs.diff_ids.len()
        ));
    }
    layers
        .iter()
        .zip(&rootfs.diff_ids)
        .try_for_each(|(layer, diff_id)| unpacked(layer, read(layer)?, diff_id, left))
}

/// What indexes also hold is attached to images: attestations have an unknown platform, or a type
/// of their own.
fn is_image(manifest: &Descriptor) -> bool {
    manifest.artifact_type.is_none()
        && manifest
            .platform
            .as_ref()
            .is_none_or(|platform| platform.os != "unknown")
}

/// Holds a layer against the digest of what it unpacks to. What is compressed in another way than
/// by gzip cannot be looked into.
fn unpacked(layer: &Descriptor, bytes: &[u8], diff_id: &str, left: &mut u64) -> Result<(), String> {
    let kind = layer.media_type.as_str();
    let sum = if kind.ends_with("gzip") {
        sum_of(MultiGzDecoder::new(bytes), left)
            .map_err(|why| format!("the layer {} is not gzip: {why}", layer.digest))?
    } else if kind.ends_with(".tar") {
        super::digest(bytes)
    } else {
        return Ok(());
    };
    if sum == diff_id {
        Ok(())
    } else {
        Err(format!(
            "the layer {} unpacks to {sum}, and the configuration says {diff_id}",
            layer.digest
        ))
    }
}

fn sum_of(mut reader: impl Read, left: &mut u64) -> Result<String, String> {
    let (mut sum, mut buffer) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        let count = reader
            .read(&mut buffer)
            .map_err(|error| error.to_string())?;
        if count == 0 {
            return Ok(format!("sha256:{}", hex(&sum.finalize())));
        }
        *left = left
            .checked_sub(count as u64)
            .ok_or_else(|| format!("the layers are larger than {} GiB", MOST_UNPACKED >> 30))?;
        sum.update(&buffer[..count]);
    }
}
