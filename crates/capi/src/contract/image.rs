//! Image names as clusterctl reads them: `reference.ParseNamed` of `distribution/reference`, which
//! takes canonical names only (book: clusterctl, "Controllers & Watching namespace").

use std::sync::LazyLock;

use regex::Regex;

/// An image name in parts. `Display` puts them together again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Registry and path without the last part: `ghcr.io/windlass-dev`.
    pub repository: String,
    /// The last part of the path.
    pub name: String,
    /// The tag, such as `v0.2.0`; `None` when the name has no tag.
    pub tag: Option<String>,
    /// The digest: `sha256:…`.
    pub digest: Option<String>,
}

/// Why clusterctl takes an image name for none. `Display` gives the words of `reference`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageFault {
    /// It does not name its registry, or not in full.
    NotCanonical,
    /// The path, which is held here, has upper-case letters.
    UpperCase(String),
    /// It is not a reference; holds the words.
    Malformed(String),
}

impl std::fmt::Display for ImageFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ImageFault::NotCanonical => f.write_str("repository name must be canonical"),
            ImageFault::UpperCase(path) => {
                write!(f, "{FORMAT}: repository name ({path}) must be lowercase")
            }
            ImageFault::Malformed(words) => f.write_str(words),
        }
    }
}

const FORMAT: &str = "invalid reference format";

const DOMAIN: &str = r"(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?";
const PATH: &str =
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*";
const TAG: &str = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}";
const DIGEST: &str = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    let expression = format!("^((?:{DOMAIN}/)?{PATH})(?::({TAG}))?(?:@({DIGEST}))?$");
    Regex::new(&expression).expect("internal error: the grammar of image names is valid")
});

/// The longest name without tag and digest.
const LONGEST: usize = 255;

impl Image {
    /// Takes a canonical image name apart.
    ///
    /// # Errors
    /// Why clusterctl would reject the name.
    pub fn parse(text: &str) -> Result<Self, ImageFault> {
        let malformed = |words: String| Err(ImageFault::Malformed(words));
        if is_identifier(text) {
            return malformed(format!(
                "invalid repository name ({text}), cannot specify 64-byte hexadecimal strings"
            ));
        }
        let (domain, rest) = split_domain(text);
        let path = rest.split_once(':').map_or(rest.as_str(), |(path, _)| path);
        if path.to_lowercase() != path {
            return Err(ImageFault::UpperCase(path.to_owned()));
        }
        let normal = format!("{domain}/{rest}");
        let Some(parts) = REFERENCE.captures(&normal) else {
            return malformed(FORMAT.to_owned());
        };
        let part = |at: usize| parts.get(at).map(|found| found.as_str().to_owned());
        let full = part(1).unwrap_or_default();
        if full.len() > LONGEST {
            return malformed(format!(
                "repository name must not be more than {LONGEST} characters"
            ));
        }
        if let Some(digest) = part(3) {
            check_digest(&digest).map_err(ImageFault::Malformed)?;
        }
        if normal != text {
            return Err(ImageFault::NotCanonical);
        }
        let (repository, name) = full.rsplit_once('/').unwrap_or(("", &full));
        Ok(Image {
            repository: repository.to_owned(),
            name: name.to_owned(),
            tag: part(2),
            digest: part(3),
        })
    }

    /// Takes an image name apart as container runtimes do, which complete the registry of Docker
    /// and the tag `latest`.
    ///
    /// # Errors
    /// Why the name is not a reference.
    pub fn completed(text: &str) -> Result<Self, ImageFault> {
        let (domain, rest) = split_domain(text);
        let image = Self::parse(&format!("{domain}/{rest}"))?;
        let tag = match (image.tag, &image.digest) {
            (None, None) => Some("latest".to_owned()),
            (tag, _) => tag,
        };
        Ok(Image { tag, ..image })
    }

    /// The registry and the path below it: `ghcr.io`, `windlass-dev/windlass-manager`.
    pub fn registry_and_path(&self) -> (&str, String) {
        match self.repository.split_once('/') {
            Some((registry, path)) => (registry, format!("{path}/{}", self.name)),
            None => (&self.repository, self.name.clone()),
        }
    }

    /// Whether a tag or a digest says which image of that name is meant.
    pub fn is_pinned(&self) -> bool {
        self.tag.is_some() || self.digest.is_some()
    }
}

/// The name without what looks like a tag or a digest, in a text that need be no canonical name.
/// Variables are left alone.
pub fn without_tag(text: &str) -> &str {
    if text.contains('$') {
        return text;
    }
    let name = text.split_once('@').map_or(text, |(name, _)| name);
    let last = name.rfind('/').map_or(0, |slash| slash + 1);
    name[last..]
        .find(':')
        .map_or(name, |colon| &name[..last + colon])
}

/// Registry and the rest, as `docker pull` would complete them.
fn split_domain(text: &str) -> (String, String) {
    let (domain, rest) = match text.split_once('/') {
        Some((first, rest))
            if first.contains(['.', ':'])
                || first == "localhost"
                || first.to_lowercase() != first =>
        {
            (first, rest)
        }
        _ => ("docker.io", text),
    };
    let domain = if domain == "index.docker.io" {
        "docker.io"
    } else {
        domain
    };
    let is_official = domain == "docker.io" && !rest.contains('/');
    (
        domain.to_owned(),
        if is_official {
            format!("library/{rest}")
        } else {
            rest.to_owned()
        },
    )
}

fn is_identifier(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn check_digest(digest: &str) -> Result<(), String> {
    let (algorithm, encoded) = digest.split_once(':').unwrap_or((digest, ""));
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return Err("unsupported digest algorithm".to_owned()),
    };
    if encoded.len() != length {
        return Err("invalid checksum digest length".to_owned());
    }
    let is_lower = encoded
        .bytes()
        .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if is_lower {
        Ok(())
    } else {
        Err("invalid checksum digest format".to_owned())
    }
}

impl std::fmt::Display for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.repository, self.name)?;
        if let Some(tag) = self.tag.as_deref().filter(|tag| !tag.is_empty()) {
            write!(f, ":{tag}")?;
        }
        self.digest
            .as_ref()
            .map_or(Ok(()), |digest| write!(f, "@{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Image::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_tag_is_what_stands_behind_the_last_part_of_the_path() {
        for (text, name) in [
            ("ghcr.io/a/b", "ghcr.io/a/b"),
            ("ghcr.io/a/b:v1", "ghcr.io/a/b"),
            ("localhost:5000/b", "localhost:5000/b"),
            ("localhost:5000/b:v1", "localhost:5000/b"),
            ("ghcr.io/a/b:v1@sha256:0", "ghcr.io/a/b"),
            ("ghcr.io/a/b@sha256:0", "ghcr.io/a/b"),
            ("busybox:1", "busybox"),
            ("A/B:c", "A/B"),
            ("${IMAGE:=ghcr.io/a/b:v1}", "${IMAGE:=ghcr.io/a/b:v1}"),
            ("ghcr.io/a/b:${TAG}", "ghcr.io/a/b:${TAG}"),
        ] {
            assert_eq!(without_tag(text), name);
        }
    }

    #[test]
    fn canonical_names_fall_into_parts() {
        let digest = format!("sha256:{}", "a".repeat(64));
        for (text, repository, name, tag) in [
            (
                "docker.io/library/nginx",
                "docker.io/library",
                "nginx",
                None,
            ),
            ("localhost/x", "localhost", "x", None),
            ("localhost:5000/a/b:v1", "localhost:5000/a", "b", Some("v1")),
            ("ghcr.io/a", "ghcr.io", "a", None),
            (
                "registry.k8s.io/cluster-api/kubeadm:v1.12.0",
                "registry.k8s.io/cluster-api",
                "kubeadm",
                Some("v1.12.0"),
            ),
        ] {
            let image = Image::parse(text).unwrap();
            assert_eq!(
                (
                    image.repository.as_str(),
                    image.name.as_str(),
                    image.tag.as_deref()
                ),
                (repository, name, tag),
                "{text}"
            );
            assert_eq!(image.to_string(), text);
            assert_eq!(image.is_pinned(), tag.is_some());
            let pinned = format!("{text}@{digest}");
            assert_eq!(
                Image::parse(&pinned).map(|image| image.to_string()),
                Ok(pinned)
            );
        }
    }

    #[test]
    fn names_are_completed_as_runtimes_do() {
        for (text, expected) in [
            ("nginx", "docker.io/library/nginx:latest"),
            ("a/b:1", "docker.io/a/b:1"),
            ("ghcr.io/a/b", "ghcr.io/a/b:latest"),
            ("localhost:5000/b:1", "localhost:5000/b:1"),
        ] {
            let image = Image::completed(text).map(|image| image.to_string());
            assert_eq!(image, Ok(expected.to_owned()), "{text}");
        }
        assert!(Image::completed("").is_err() && Image::completed("a b").is_err());
    }

    #[test]
    fn other_names_are_rejected_in_the_references_words() {
        for name in [
            "nginx:1.0",
            "library/nginx",
            "docker.io/nginx",
            "index.docker.io/library/nginx",
        ] {
            assert_eq!(message(name), "repository name must be canonical", "{name}");
        }
        for name in ["", "ghcr.io/a:${TAG}", "ghcr.io/a b", "ghcr.io/a@sha256:12"] {
            assert_eq!(message(name), "invalid reference format", "{name}");
        }
        assert_eq!(
            message("ghcr.io/A:v1"),
            "invalid reference format: repository name (A) must be lowercase"
        );
        assert_eq!(
            message(&"a".repeat(64)),
            format!(
                "invalid repository name ({}), cannot specify 64-byte hexadecimal strings",
                "a".repeat(64)
            )
        );
        assert_eq!(
            message(&format!("ghcr.io/a@sha256:{}", "a".repeat(40))),
            "invalid checksum digest length"
        );
    }
}
