//! Where an artifact is: `oci://HOST[:PORT]/REPOSITORY[:TAG][@DIGEST]` in a registry,
//! `oci:DIR[:TAG][@DIGEST]` in a layout on disk.

use super::blob_path;
use windlass_source::url::without_credentials;

/// Bytes of a tag, and of the name of a repository (distribution-spec, "Pulling manifests").
const LONGEST: (usize, usize) = (128, 255);

/// The location of an artifact: its storage, and the tag or digest that selects it there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The registry or folder that contains the artifact.
    pub store: Store,
    /// The tag; `None` when the reference has no tag.
    pub tag: Option<String>,
    /// `sha256:…`; it is what counts where there is a tag, too.
    pub digest: Option<String>,
}

/// The storage of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Store {
    /// A repository of a registry, which is accessed over the network (distribution-spec).
    Registry {
        /// With the port, where one is given.
        host: String,
        /// The path below the host.
        repository: String,
    },
    /// A folder, in the layout of image-spec.
    Layout {
        /// The path of the folder as written, relative or absolute.
        folder: String,
    },
}

/// Why a text is not a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The problem, with the reference but without credentials in it.
    pub message: String,
    /// The change to make.
    pub help: &'static str,
}

const FORMS: &str =
    "write `oci://HOST/REPOSITORY:TAG` for a registry, or `oci:DIR:TAG` for a layout on disk";

/// Reads a reference.
///
/// # Errors
/// What of it is none.
pub fn parse(text: &str) -> Result<Reference, Fault> {
    let shown = without_credentials(text);
    let wrong = |what: String| Fault {
        message: format!("`{shown}` is not a reference: {what}"),
        help: FORMS,
    };
    if shown != text {
        return Err(Fault {
            help: "leave them out, and set OCI_USERNAME and OCI_PASSWORD, or OCI_ACCESS_TOKEN",
            ..wrong("it contains credentials".to_owned())
        });
    }
    let Some(rest) = text.strip_prefix("oci:") else {
        return Err(wrong("it does not begin with `oci:`".to_owned()));
    };
    let (rest, digest) = match rest.split_once('@') {
        Some((rest, digest)) if blob_path(digest).is_some() => (rest, Some(digest.to_owned())),
        Some((_, digest)) => {
            return Err(wrong(format!(
                "`{digest}` is not `sha256:` and 64 hexadecimal digits"
            )));
        }
        None => (rest, None),
    };
    let (rest, tag) = match rest.rsplit_once(':') {
        Some((rest, tag)) if is_tag(tag) && !rest.ends_with('/') && !is_port(rest) => {
            (rest, Some(tag.to_owned()))
        }
        _ => (rest, None),
    };
    let Some(place) = rest.strip_prefix("//") else {
        return match rest {
            "" => Err(wrong("it names no folder".to_owned())),
            folder => Ok(Reference {
                store: Store::Layout {
                    folder: folder.to_owned(),
                },
                tag,
                digest,
            }),
        };
    };
    let Some((host, repository)) = place.split_once('/') else {
        return Err(wrong("it names no repository".to_owned()));
    };
    if !is_host(host) {
        return Err(wrong(format!("`{host}` is not a host")));
    }
    if !is_repository(repository) {
        return Err(wrong(format!(
            "`{repository}` is not a repository: letters are lower case, between `/`, `.`, `_` and `-`"
        )));
    }
    let store = Store::Registry {
        host: host.to_owned(),
        repository: repository.to_owned(),
    };
    Ok(Reference { store, tag, digest })
}

/// `//localhost` in `//localhost:5000/x` has no tag behind it, but a port.
fn is_port(before: &str) -> bool {
    before
        .strip_prefix("//")
        .is_some_and(|host| !host.contains('/'))
}

/// Whether a registry takes this as a tag.
pub fn is_tag(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text.len() <= LONGEST.0
        && text.bytes().all(is_inner)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

/// A name or an address, with a port or without; never a user.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !text.ends_with(']') => (name, Some(port)),
        _ => (text, None),
    };
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
    };
    let is_address = |name: &str| {
        name.bytes()
            .all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte))
    };
    let inner = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    port.is_none_or(|port| port.parse::<u16>().is_ok())
        && inner.map_or_else(|| is_name(name), is_address)
}

/// distribution-spec: parts in lower case, joined by `.`, `_`, `__` or hyphens.
fn is_repository(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |part: &str| {
        let ends = part.bytes().next().zip(part.bytes().next_back());
        let inner = part
            .bytes()
            .all(|byte| is_letter(byte) || b"._-".contains(&byte));
        inner
            && ends.is_some_and(|(first, last)| is_letter(first) && is_letter(last))
            && !part.contains("..")
    };
    text.len() <= LONGEST.1 && text.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

    fn registry(text: &str) -> (String, String, Option<String>, bool) {
        match parse(text) {
            Ok(Reference {
                store: Store::Registry { host, repository },
                tag,
                digest,
            }) => (host, repository, tag, digest.is_some()),
            other => panic!("{other:?}"),
        }
    }

    fn layout(text: &str) -> (String, Option<String>, bool) {
        match parse(text) {
            Ok(Reference {
                store: Store::Layout { folder },
                tag,
                digest,
            }) => (folder, tag, digest.is_some()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn registries_and_layouts_are_told_apart() {
        let tag = || Some("v0.2.0".to_owned());
        let own = |host: &str, repository: &str| (host.to_owned(), repository.to_owned());
        let check = |text: &str,
                     (host, repository): (String, String),
                     tag: Option<String>,
                     digest: bool| {
            assert_eq!(registry(text), (host, repository, tag, digest), "{text}");
        };
        check(
            "oci://ghcr.io/x/manifests/bootstrap-x:v0.2.0",
            own("ghcr.io", "x/manifests/bootstrap-x"),
            tag(),
            false,
        );
        check(
            "oci://localhost:5000/x",
            own("localhost:5000", "x"),
            None,
            false,
        );
        check(
            "oci://localhost:5000/x/y__z:v0.2.0",
            own("localhost:5000", "x/y__z"),
            tag(),
            false,
        );
        check(
            "oci://[::1]:5000/x:v0.2.0",
            own("[::1]:5000", "x"),
            tag(),
            false,
        );
        check(&format!("oci://h/x@{DIGEST}"), own("h", "x"), None, true);
        check(
            &format!("oci://h/x:v0.2.0@{DIGEST}"),
            own("h", "x"),
            tag(),
            true,
        );
        assert_eq!(
            layout("oci:out/image:v0.2.0"),
            ("out/image".to_owned(), tag(), false)
        );
        assert_eq!(layout("oci:/tmp/a"), ("/tmp/a".to_owned(), None, false));
        assert_eq!(
            layout(&format!("oci:a@{DIGEST}")),
            ("a".to_owned(), None, true)
        );
    }

    #[test]
    fn what_is_no_reference_is_told() {
        for text in [
            "",
            "ghcr.io/x:v1",
            "docker://h/x",
            "oci:",
            "oci://",
            "oci://h",
            "oci:///x",
            "oci://h/",
            "oci://h/../x",
            "oci://h/a//b",
            "oci://h/A",
            "oci://user:secret@h/x",
            "oci://h:port/x",
            "oci://h:99999/x",
            "oci://h/x:",
            "oci://h/x:a b",
            "oci://h/x?y",
            "oci://h/x@sha256:00",
            "oci://h/x@md5:d41d8cd98f00b204e9800998ecf8427e",
            "oci://h\r\n/x",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
