//! Files and directories of a plan, and those that say what users may do.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Directory, File, Owner, Resource};
use crate::render::plan::node_plan::{NodePlan, PlannedDirectory, PlannedFile};
use crate::render::write::cloud_config::{Block, block};
use crate::render::write::ignition::script::{self, KUBEADM_FILE, SCRIPT_FILE};
use crate::render::write::ignition::{data_url, texts};
use windlass_capi::api::files::TransferEncoding;
use windlass_capi::api::v1beta2::Ntp;
use windlass_source::diag::FieldPath;
use windlass_source::gzip;

const DEFAULT_MODE: u32 = 0o644;

/// Where sshd looks for more settings; the file that comes with the system stays.
const SSHD_FILE: &str = "/etc/ssh/sshd_config.d/40-windlass.conf";

/// What Ignition cannot express.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// The field.
    pub origin: FieldPath,
    /// What is wrong with it, after its name.
    pub message: String,
    /// What to do.
    pub help: &'static str,
}

impl Unfit {
    pub(super) fn new(origin: FieldPath, message: &str, help: &'static str) -> Self {
        Unfit {
            origin,
            message: message.to_owned(),
            help,
        }
    }
}

/// All files with the fields they come from, in the order of 2.3.
pub(super) fn files(
    plan: &NodePlan,
    spec: &FieldPath,
    unfit: &mut Vec<Unfit>,
) -> Vec<(File, Option<FieldPath>)> {
    let mut files = Vec::with_capacity(plan.files.len() + 4);
    for (index, user) in plan
        .users
        .iter()
        .enumerate()
        .filter(|(_, user)| !user.sudo.is_empty())
    {
        let origin = spec.field("users").index(index).field("sudo");
        let content = format!("{} {}\n", user.name, user.sudo);
        files.push((
            own(
                &format!("/etc/sudoers.d/{}", user.name),
                0o600,
                content.as_bytes(),
            ),
            Some(origin),
        ));
    }
    let with_password: Vec<_> = plan
        .users
        .iter()
        .filter(|user| user.lock_password == Some(false))
        .map(|user| user.name.as_str())
        .collect();
    if !with_password.is_empty() {
        let content = format!(
            "Match User {}\n  PasswordAuthentication yes\nMatch all\n",
            with_password.join(",")
        );
        files.push((
            own(SSHD_FILE, 0o600, content.as_bytes()),
            Some(spec.field("users")),
        ));
    }
    for planned in &plan.files {
        files.extend(file(planned, unfit).map(|file| (file, planned.origin.clone())));
    }
    files.push((own(SCRIPT_FILE, 0o700, script::text(plan).as_bytes()), None));
    let documents = format!("---\n{}", script::kubeadm_documents(&plan.kubeadm));
    files.push((
        own(
            KUBEADM_FILE,
            0o600,
            &ending_with_break(documents.as_bytes()),
        ),
        None,
    ));
    if let Some(Ntp {
        servers: Some(servers),
        enabled: Some(true),
    }) = &plan.ntp
        && !servers.is_empty()
    {
        let servers: String = servers
            .iter()
            .map(|server| format!("server {server}\n"))
            .collect();
        let content = format!("# Common pool\n{servers}\n{}\n", texts::NTP_CONF);
        files.push((
            own(texts::NTP_FILE, 0o644, content.as_bytes()),
            Some(spec.field("ntp")),
        ));
    }
    reject_same_paths(&mut files, unfit);
    files
}

/// An absolute path without `//`, `.` and `..`, as Ignition wants it; another one stays as it is.
pub(super) fn clean(path: &str) -> String {
    let Some(path) = path.strip_prefix('/') else {
        return path.to_owned();
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Rejects files of the user with the path of another one.
fn reject_same_paths(files: &mut Vec<(File, Option<FieldPath>)>, unfit: &mut Vec<Unfit>) {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    files
        .iter()
        .for_each(|(file, _)| *counts.entry(file.path.clone()).or_default() += 1);
    files.retain(|(file, origin)| {
        let is_twice = counts[&file.path] > 1;
        if let Some(origin) = origin.as_ref().filter(|_| is_twice) {
            unfit.push(Unfit::new(
                origin.clone(),
                "has the path of another file",
                "give each file a path of its own",
            ));
        }
        !is_twice
    });
}

/// A file of root's. Files that exist already are replaced.
fn own(path: &str, mode: u32, content: &[u8]) -> File {
    File {
        contents: Some(resource(content)),
        mode,
        overwrite: Some(true),
        path: clean(path),
        ..File::default()
    }
}

fn resource(content: &[u8]) -> Resource {
    let source = if std::str::from_utf8(content).is_ok() {
        data_url::of_text(content)
    } else {
        data_url::of_bytes(content)
    };
    Resource {
        compression: None,
        source,
    }
}

fn file(planned: &PlannedFile, unfit: &mut Vec<Unfit>) -> Option<File> {
    let PlannedFile {
        path,
        owner,
        permissions,
        encoding,
        append,
        transfer_encoding,
        content,
        origin,
    } = planned;
    let origin = || origin.clone().unwrap_or_else(FieldPath::root);
    let (user, group) = owners(owner);
    let mode = match permissions.as_str() {
        "" => Some(DEFAULT_MODE),
        digits => octal(digits),
    };
    if mode.is_none() {
        unfit.push(Unfit::new(
            origin().field("permissions"),
            "is not an octal number up to 7777",
            "write such as `\"0644\"`",
        ));
    }
    let resource = match (transfer_encoding, *encoding) {
        (Some(TransferEncoding::Base64), _) => Some(Resource {
            compression: None,
            source: data_url::of_bytes(content.expose()),
        }),
        (Some(TransferEncoding::GzipBase64), _) => Some(gzipped(&gzip::compress(content.expose()))),
        (None, "") => Some(resource(&on_node(content.expose()))),
        (None, encoding) => {
            let decoded = decoded(content.expose());
            if decoded.is_none() {
                unfit.push(Unfit::new(
                    origin().field("content"),
                    "is not base64",
                    "encode the content as base64 with padding",
                ));
            }
            decoded.map(|bytes| {
                if encoding == "base64" {
                    resource(&bytes)
                } else {
                    gzipped(&bytes)
                }
            })
        }
    };
    let (mode, resource) = (mode?, resource?);
    let file = File {
        group,
        mode,
        path: clean(path),
        user,
        ..File::default()
    };
    Some(match append {
        Some(true) => File {
            append: vec![resource],
            ..file
        },
        _ => File {
            contents: Some(resource),
            overwrite: Some(true),
            ..file
        },
    })
}

fn gzipped(bytes: &[u8]) -> Resource {
    Resource {
        compression: Some("gzip"),
        source: data_url::of_bytes(bytes),
    }
}

/// What the node gets of a content without encoding: a text ends with exactly one line break, as in
/// the other formats; what is not text stays as it is.
fn on_node(content: &[u8]) -> Cow<'_, [u8]> {
    if block(content) == Block::Binary {
        content.into()
    } else {
        ending_with_break(content)
    }
}

fn ending_with_break(content: &[u8]) -> Cow<'_, [u8]> {
    let Some(last) = content.iter().rposition(|byte| *byte != b'\n') else {
        return Cow::Borrowed(&[]);
    };
    match &content[last + 1..] {
        [_] => content.into(),
        [] => [content, b"\n"].concat().into(),
        _ => Cow::Borrowed(&content[..last + 2]),
    }
}

/// Base64 is decoded as cloud-init does: other characters than digits are skipped.
fn decoded(content: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = content
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    STANDARD.decode(digits).ok()
}

/// Octal digits, with `0o` or not.
fn octal(digits: &str) -> Option<u32> {
    let digits = digits.strip_prefix("0o").unwrap_or(digits);
    let is_octal = !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    is_octal
        .then(|| u32::from_str_radix(digits, 8).ok())
        .flatten()
        .filter(|mode| *mode <= 0o7777)
}

/// `user:group`, each by name or number.
fn owners(owner: &str) -> (Option<Owner>, Option<Owner>) {
    let mut names = owner.split(':').map(str::trim);
    let mut next = || {
        let name = names.next().filter(|name| !name.is_empty())?;
        Some(match name.parse() {
            Ok(id) => Owner {
                id: Some(id),
                name: None,
            },
            Err(_) => Owner {
                id: None,
                name: Some(name.to_owned()),
            },
        })
    };
    (next(), next())
}

pub(super) fn directory(directory: &PlannedDirectory, unfit: &mut Vec<Unfit>) -> Option<Directory> {
    let PlannedDirectory {
        path,
        owner,
        permissions,
        origin,
    } = directory;
    let (user, group) = owners(owner);
    let Some(mode) = octal(permissions) else {
        let origin = origin
            .clone()
            .unwrap_or_else(FieldPath::root)
            .field("permissions");
        unfit.push(Unfit::new(
            origin,
            "is not an octal number up to 7777",
            "write such as `\"0755\"`",
        ));
        return None;
    };
    Some(Directory {
        group,
        mode,
        path: clean(path),
        user,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_clean() {
        for (path, expected) in [
            ("/a//b/./c/", "/a/b/c"),
            ("/../a/../b", "/b"),
            ("/", "/"),
            ("a//b", "a//b"),
        ] {
            assert_eq!(clean(path), expected);
        }
    }

    #[test]
    fn permissions_are_octal() {
        for (digits, expected) in [
            ("0644", Some(0o644)),
            ("644", Some(0o644)),
            ("0o755", Some(0o755)),
            ("u+x", None),
            ("17777", None),
            ("8", None),
        ] {
            assert_eq!(octal(digits), expected, "{digits}");
        }
    }

    #[test]
    fn texts_end_with_one_line_break() {
        let check = |content: &[u8], expected: &[u8]| {
            assert_eq!(on_node(content).as_ref(), expected, "{content:?}")
        };
        check(b"x", b"x\n");
        check(b"x\n", b"x\n");
        check(b"x\n\n\n", b"x\n");
        check(b"\n\n", b"");
        check(b"", b"");
        check(b"\xff", b"\xff");
    }

    #[test]
    fn owners_are_names_or_numbers() {
        let named = |name: &str| {
            Some(Owner {
                id: None,
                name: Some(name.to_owned()),
            })
        };
        assert_eq!(owners("root:adm"), (named("root"), named("adm")));
        assert_eq!(
            owners("1000"),
            (
                Some(Owner {
                    id: Some(1000),
                    name: None
                }),
                None
            )
        );
        assert_eq!(owners(":adm"), (None, named("adm")));
        assert_eq!(owners(""), (None, None));
    }
}
