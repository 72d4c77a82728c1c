//! The checks of Ignition 2.3, in its words (flatcar/ignition v0.36.2, `config/v2_3/types`,
//! `config/shared`).

use std::collections::BTreeSet;

use super::{Config, PasswdUser, Unit};
use crate::render::write::ignition::findings::Entry;
use crate::render::write::ignition::{data_url, unit_file};
use windlass_go_text as go;
use windlass_go_text::url::Url;

pub(super) fn error_if(is_wrong: bool, words: &str) -> Vec<Entry> {
    is_wrong.then(|| Entry::error(words)).into_iter().collect()
}

/// Files on file systems that no one defines, and file systems that are defined twice.
pub(super) fn config(config: &Config) -> Vec<Entry> {
    let storage = &config.storage;
    let mut names = BTreeSet::from(["root"]);
    let mut shadows = Vec::new();
    for name in storage
        .filesystems
        .iter()
        .map(|filesystem| &filesystem.name)
    {
        if !names.insert(name) {
            shadows.push(Entry::warning(format!(
                "Filesystem {} shadows exising filesystem definition",
                go::quote(name)
            )));
        }
    }
    let files = storage
        .files
        .iter()
        .map(|file| ("File", &file.path, &file.filesystem));
    let links = storage
        .links
        .iter()
        .map(|link| ("Link", &link.path, &link.filesystem));
    let directories = storage
        .directories
        .iter()
        .map(|directory| ("Directory", &directory.path, &directory.filesystem));
    let unknown = files
        .chain(links)
        .chain(directories)
        .filter(|(_, _, filesystem)| {
            !filesystem.is_empty() && !names.contains(filesystem.as_str())
        });
    let missing = unknown.map(|(kind, path, filesystem)| {
        let (path, filesystem) = (go::quote(path), go::quote(filesystem));
        Entry::warning(format!(
            "{kind} {path} references nonexistent filesystem {filesystem}. (This is ok if it is defined in a referenced config)"
        ))
    });
    missing.chain(shadows).collect()
}

pub(super) fn path(path: &str) -> Vec<Entry> {
    error_if(!path.starts_with('/'), "path not absolute")
}

pub(super) fn filesystem_name(name: &str) -> Vec<Entry> {
    error_if(name.is_empty(), "no filesystem specified")
}

pub(super) fn mode(mode: Option<i64>) -> Vec<Entry> {
    error_if(
        mode.is_some_and(|mode| !(0..=0o7777).contains(&mode)),
        "illegal file mode",
    )
}

fn url_fault(url: &str) -> Option<String> {
    if url.is_empty() {
        return None;
    }
    let Ok(parsed) = Url::parse(url) else {
        return Some("unable to parse url".to_owned());
    };
    match parsed.scheme.as_str() {
        "http" | "https" | "oem" | "tftp" => None,
        "s3" => {
            let query = url
                .split('#')
                .next()
                .and_then(|url| url.split_once('?'))
                .map_or("", |(_, query)| query);
            let version = query
                .split('&')
                .find_map(|pair| match pair.split_once('=') {
                    Some(("versionId", value)) => Some(value),
                    None if pair == "versionId" => Some(""),
                    _ => None,
                });
            (version == Some("")).then(|| "invalid S3 object VersionId".to_owned())
        }
        "data" => data_url::read(url).err(),
        _ => Some("invalid url scheme".to_owned()),
    }
}

pub(super) fn url(url: &str) -> Vec<Entry> {
    url_fault(url).map(Entry::error).into_iter().collect()
}

pub(super) fn file_source(url: &str) -> Vec<Entry> {
    url_fault(url)
        .map(|fault| Entry::error(format!("invalid url {}: {fault}", go::quote(url))))
        .into_iter()
        .collect()
}

pub(super) fn compression(compression: &str) -> Vec<Entry> {
    error_if(
        !matches!(compression, "" | "gzip"),
        "invalid compression method",
    )
}

pub(super) fn hash(hash: Option<&str>) -> Vec<Entry> {
    let Some(hash) = hash else { return Vec::new() };
    match hash.split_once('-') {
        None => vec![Entry::error("malformed hash specifier")],
        Some(("sha512", sum)) => error_if(sum.len() != 128, "incorrect size for hash sum"),
        Some(_) => vec![Entry::error("unrecognized hash function")],
    }
}

pub(super) fn user(user: &PasswdUser) -> Vec<Entry> {
    if user.create.is_none() {
        return Vec::new();
    }
    let both = [
        ("gecos", !user.gecos.is_empty()),
        ("groups", !user.groups.is_empty()),
        ("homeDir", !user.home_dir.is_empty()),
        ("noCreateHome", user.no_create_home),
        ("noLogInit", user.no_log_init),
        ("noUserGroup", user.no_user_group),
        ("primaryGroup", !user.primary_group.is_empty()),
        ("shell", !user.shell.is_empty()),
        ("system", user.system),
        ("uid", user.uid.is_some()),
    ];
    let deprecated =
        Entry::warning("the create object has been deprecated in favor of user-level options");
    let both = both.into_iter().filter(|(_, is_set)| *is_set);
    let both = both.map(|(field, _)| {
        Entry::error(format!(
            "cannot use both the create object and the user-level {field} field"
        ))
    });
    std::iter::once(deprecated).chain(both).collect()
}

pub(super) fn guid(guid: &str) -> Vec<Entry> {
    let parts: Vec<&str> = guid.split('-').collect();
    let is_hex = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_guid =
        parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(is_hex);
    error_if(
        !guid.is_empty() && !is_guid,
        "doesn't match the form \"01234567-89AB-CDEF-EDCB-A98765432101\"",
    )
}

pub(super) fn partition_label(label: Option<&str>) -> Vec<Entry> {
    let Some(label) = label else {
        return Vec::new();
    };
    let mut found = error_if(
        label.len() > 36,
        "partition labels may not exceed 36 characters",
    );
    if label.contains(':') {
        found.push(Entry::warning(
            "partition label will be truncated to text before the colon",
        ));
    }
    found
}

pub(super) fn filesystem_label(format: &str, label: Option<&str>) -> Vec<Entry> {
    let longest = match format {
        "ext4" => 16,
        "btrfs" => 256,
        "xfs" => 12,
        "swap" => 15,
        "vfat" => 11,
        _ => return Vec::new(),
    };
    let is_longer = label.is_some_and(|label| label.len() > longest);
    error_if(
        is_longer,
        &format!(
            "filesystem labels cannot be longer than {longest} characters when using {format}"
        ),
    )
}

pub(super) fn raid_level(level: &str, spares: i64) -> Vec<Entry> {
    match level {
        "linear" | "raid0" | "0" | "stripe" => error_if(
            spares != 0,
            "spares unsupported for arrays with a level greater than 0",
        ),
        "raid1" | "1" | "mirror" | "raid4" | "4" | "raid5" | "5" | "raid6" | "6" | "raid10"
        | "10" => Vec::new(),
        _ => vec![Entry::error("unrecognized raid level")],
    }
}

fn extension(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or_default();
    file.rsplit_once('.').map_or("", |(_, extension)| extension)
}

fn contents_fault(contents: &str) -> Option<Entry> {
    unit_file::sections(contents)
        .err()
        .map(|fault| Entry::error(format!("invalid unit content: {fault}")))
}

/// The checks of a drop-in, or of a unit of networkd.
pub(super) fn file_of_unit(
    name: &str,
    contents: &str,
    extensions: &[&str],
    words: &str,
) -> Vec<Entry> {
    contents_fault(contents)
        .into_iter()
        .chain(error_if(!extensions.contains(&extension(name)), words))
        .collect()
}

pub(super) fn unit_name(name: &str) -> Vec<Entry> {
    error_if(
        !unit_file::EXTENSIONS.contains(&extension(name)),
        "invalid systemd unit extension",
    )
}

pub(super) fn unit_contents(unit: &Unit) -> Vec<Entry> {
    match unit_file::sections(&unit.contents) {
        Err(fault) => vec![Entry::error(format!("invalid unit content: {fault}"))],
        Ok(sections) => {
            let is_enabled = unit.enable || unit.enabled == Some(true);
            // A unit without any option counts as one that could not be read.
            let lacks = is_enabled
                && !unit.contents.is_empty()
                && !sections.is_empty()
                && !sections.contains("Install");
            let words = || {
                format!(
                    "unit {} is enabled, but has no install section so enable does nothing",
                    go::quote(&unit.name)
                )
            };
            lacks.then(|| Entry::warning(words())).into_iter().collect()
        }
    }
}
