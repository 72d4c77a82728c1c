//! Container images: which a set of objects runs, and whether a reference is one that clusterctl takes.

use std::collections::BTreeSet;

use serde_json::Value;

/// The pod template of an object that has one.
pub fn pod_spec(object: &Value) -> Option<&Value> {
    let spec = match object["kind"].as_str()? {
        "Pod" => &object["spec"],
        "Deployment" | "DaemonSet" | "StatefulSet" | "ReplicaSet" | "Job" => &object["spec"]["template"]["spec"],
        "CronJob" => &object["spec"]["jobTemplate"]["spec"]["template"]["spec"],
        _ => return None,
    };
    spec.is_object().then_some(spec)
}

/// The images that the containers of some objects name, each once, in byte order.
pub fn images<'a>(objects: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    objects.into_iter().filter_map(pod_spec).flat_map(containers).filter_map(|c| c["image"].as_str()).map(str::to_owned).collect()
}

/// The containers of a pod, init containers last, as clusterctl lists them.
pub fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    ["containers", "initContainers"].into_iter().flat_map(|list| pod[list].as_array().into_iter().flatten())
}

/// Why clusterctl refuses an image reference; it parses every image of a Deployment or DaemonSet as a canonical name
/// (`distribution/reference`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageFault {
    /// It does not name its registry.
    NoRegistry,
    /// The repository has upper-case letters.
    UpperCase,
    /// It is no reference at all.
    Malformed,
}

/// An image reference in its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageReference<'a> {
    /// Registry host, with its port if there is one.
    pub registry: &'a str,
    /// Path below the registry.
    pub path: &'a str,
    /// Tag.
    pub tag: Option<&'a str>,
    /// Digest, such as `sha256:…`.
    pub digest: Option<&'a str>,
}

/// Takes a canonical image reference apart.
///
/// # Errors
/// Says why clusterctl would refuse the reference.
pub fn parse_image(reference: &str) -> Result<ImageReference<'_>, ImageFault> {
    let (rest, digest) = match reference.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (reference, None),
    };
    let (name, tag) = match rest.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (rest, None),
    };
    let (registry, path) = name.split_once('/').unwrap_or(("", name));
    if !is_registry(registry) {
        let well_formed = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"./_-".contains(&b));
        let upper = name.bytes().any(|b| b.is_ascii_uppercase());
        return Err(match (well_formed, upper) {
            (true, false) => ImageFault::NoRegistry,
            (true, true) => ImageFault::UpperCase,
            (false, _) => ImageFault::Malformed,
        });
    }
    if path.bytes().any(|b| b.is_ascii_uppercase()) {
        return Err(ImageFault::UpperCase);
    }
    let fine = path.split('/').all(is_path_component) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest);
    if !fine {
        return Err(ImageFault::Malformed);
    }
    if registry == "docker.io" && !path.contains('/') {
        return Err(ImageFault::NoRegistry);
    }
    Ok(ImageReference { registry, path, tag, digest })
}

/// A host is told from a path by a dot, a port, or the name `localhost`.
fn is_registry(text: &str) -> bool {
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    };
    let named = text.contains('.') || port.is_some() || text == "localhost";
    let label =
        |l: &str| !l.is_empty() && l.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') && !l.starts_with('-') && !l.ends_with('-');
    named && host.split('.').all(label) && port.is_none_or(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
}

fn is_path_component(text: &str) -> bool {
    let ends = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    ends(bytes.first()) && ends(bytes.last()) && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(b))
}

fn is_tag(text: &str) -> bool {
    let bytes = text.as_bytes();
    let first = bytes.first().is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    first && bytes.len() <= 128 && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(b))
}

fn is_digest(text: &str) -> bool {
    text.split_once(':')
        .is_some_and(|(algorithm, hex)| !algorithm.is_empty() && hex.len() >= 32 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Observed of clusterctl: the first three are refused as not canonical.
    #[test]
    fn references_are_canonical_or_refused() {
        for (reference, fault) in [
            ("nginx:1.0", Some(ImageFault::NoRegistry)),
            ("library/nginx", Some(ImageFault::NoRegistry)),
            ("docker.io/nginx", Some(ImageFault::NoRegistry)),
            ("A", Some(ImageFault::UpperCase)),
            ("", Some(ImageFault::Malformed)),
            ("ghcr.io/a:${TAG}", Some(ImageFault::Malformed)),
            ("docker.io/library/nginx", None),
            ("localhost/x", None),
            ("ghcr.io/a", None),
            ("registry.example:5000/a/b-c:v1", None),
        ] {
            assert_eq!(parse_image(reference).err(), fault, "{reference}");
        }
    }

    #[test]
    fn references_come_apart() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let text = format!("ghcr.io/windlass-dev/windlass-manager:v0.1.0@{digest}");
        let image = parse_image(&text).expect("canonical");
        assert_eq!((image.registry, image.path), ("ghcr.io", "windlass-dev/windlass-manager"));
        assert_eq!((image.tag, image.digest), (Some("v0.1.0"), Some(digest.as_str())));
    }

    #[test]
    fn images_are_listed_once() {
        let pod = |images: &[&str]| {
            let containers: Vec<_> = images.iter().map(|i| json!({"image": i})).collect();
            json!({"kind": "Deployment", "spec": {"template": {"spec": {"containers": containers}}}})
        };
        let found = images([&pod(&["b", "a"]), &pod(&["a"]), &json!({"kind": "ConfigMap"})]);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }
}
