//! Mounts as systemd units (systemd.mount, systemd.unit: "String Escaping for Inclusion in Unit
//! Names").

use super::files::clean;
use crate::render::write::ignition::generated::device_of;
use windlass_capi::api::v1beta2::{DiskSetup, Filesystem};

/// Types of file systems that may stand third in a mount, as in fstab; anything else there is an
/// option.
const FORMATS: [&str; 14] = [
    "auto", "btrfs", "ext2", "ext3", "ext4", "iso9660", "nfs", "nfs4", "none", "ntfs", "overlay",
    "tmpfs", "vfat", "xfs",
];

/// Name and contents of the unit for a mount.
///
/// # Errors
///
/// Ignition cannot express the mount.
pub(super) fn unit(
    mount: &[String],
    setup: Option<&DiskSetup>,
) -> Result<(String, String), &'static str> {
    let [device, mount_point, rest @ ..] = mount else {
        return Err("must name a device and a mount point");
    };
    if !mount_point.starts_with('/') {
        return Err("must name a mount point that starts with `/`");
    }
    if mount.iter().any(|field| field.contains(char::is_control)) {
        return Err("holds a control character");
    }
    let (format, options) = match rest {
        [format, options @ ..] if FORMATS.contains(&format.as_str()) => {
            // fstab ends with two numbers, which units do not have.
            (
                Some(format).filter(|format| !matches!(format.as_str(), "auto" | "none")),
                options.get(..1).unwrap_or_default(),
            )
        }
        options => (None, options),
    };
    let lines = [
        Some(format!("What={}", without_specifiers(&what(device, setup)))),
        Some(format!("Where={}", without_specifiers(mount_point))),
        format.map(|format| format!("Type={format}")),
        (!options.is_empty())
            .then(|| format!("Options={}", without_specifiers(&options.join(",")))),
    ];
    let lines: String = lines
        .into_iter()
        .flatten()
        .map(|line| line + "\n")
        .collect();
    let description = without_specifiers(device);
    let contents = format!(
        "[Unit]\nDescription=Mount {description}\n\n[Mount]\n{lines}\n[Install]\nWantedBy=multi-user.target\n"
    );
    Ok((format!("{}.mount", escaped_path(mount_point)), contents))
}

/// The mount point of a file system, so that files below it land there while Ignition writes them.
pub(super) fn mount_point(mounts: &[Vec<String>], filesystem: &Filesystem) -> Option<String> {
    let label = filesystem
        .label
        .as_deref()
        .filter(|label| !label.is_empty());
    let is_meant = |device: &str| {
        device == filesystem.device
            || label.is_some_and(|label| device.strip_prefix("LABEL=").unwrap_or(device) == label)
    };
    let found = mounts
        .iter()
        .find(|mount| mount.first().is_some_and(|device| is_meant(device)));
    found
        .and_then(|mount| mount.get(1))
        .filter(|path| path.starts_with('/'))
        .map(|path| clean(path))
}

/// The device of a mount: that of the file system with this label, or the link that udev makes.
fn what(device: &str, setup: Option<&DiskSetup>) -> String {
    let label = device.strip_prefix("LABEL=").unwrap_or(device);
    if let Some(known) = Some(label)
        .filter(|label| !label.is_empty())
        .and_then(|label| device_of(setup, label))
    {
        return known.to_owned();
    }
    match device.split_once('=') {
        Some(("LABEL", label)) => format!("/dev/disk/by-label/{label}"),
        Some(("UUID", uuid)) => format!("/dev/disk/by-uuid/{uuid}"),
        _ => device.to_owned(),
    }
}

/// A text in which `%` is not a specifier.
fn without_specifiers(text: &str) -> String {
    text.replace('%', "%%")
}

/// A path as `systemd-escape --path` writes it.
fn escaped_path(path: &str) -> String {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    if parts.is_empty() {
        return "-".to_owned();
    }
    let mut out = String::new();
    for (index, byte) in parts.join("/").bytes().enumerate() {
        match byte {
            b'/' => out.push('-'),
            b'.' if index == 0 => out.push_str("\\x2e"),
            _ if byte.is_ascii_alphanumeric() || b":_.".contains(&byte) => {
                out.push(char::from(byte))
            }
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected names are those of systemd-escape 252.
    #[test]
    fn paths_are_escaped_as_systemd_does() {
        for (path, expected) in [
            ("/var/lib/etcddisk", "var-lib-etcddisk"),
            ("/x-y/z/", "x\\x2dy-z"),
            ("/", "-"),
            ("/.a/b.c", "\\x2ea-b.c"),
            ("//a//b", "a-b"),
            ("/ä b", "\\xc3\\xa4\\x20b"),
        ] {
            assert_eq!(escaped_path(path), expected, "{path}");
        }
    }

    #[test]
    fn devices_are_found_by_label() {
        let filesystem = Filesystem {
            device: "/dev/sdb1".into(),
            label: Some("etcd".into()),
            ..Filesystem::default()
        };
        let setup = DiskSetup {
            filesystems: Some(vec![filesystem.clone()]),
            ..DiskSetup::default()
        };
        for (device, expected) in [
            ("LABEL=etcd", "/dev/sdb1"),
            ("etcd", "/dev/sdb1"),
            ("LABEL=x", "/dev/disk/by-label/x"),
            ("UUID=1-2", "/dev/disk/by-uuid/1-2"),
            ("/dev/sdc", "/dev/sdc"),
        ] {
            assert_eq!(what(device, Some(&setup)), expected);
        }
        let mounts = vec![vec!["LABEL=etcd".to_owned(), "/var/lib/etcd".to_owned()]];
        assert_eq!(
            mount_point(&mounts, &filesystem).as_deref(),
            Some("/var/lib/etcd")
        );
    }

    #[test]
    fn units_know_fstab() {
        let mount = |fields: &[&str]| {
            unit(
                &fields.iter().map(ToString::to_string).collect::<Vec<_>>(),
                None,
            )
        };
        let contents = |fields: &[&str]| mount(fields).map(|(_, contents)| contents);
        let unit = |lines: &str| {
            Ok(format!(
                "[Unit]\nDescription=Mount /dev/x\n\n[Mount]\n{lines}\n[Install]\nWantedBy=multi-user.target\n"
            ))
        };
        assert_eq!(
            contents(&["/dev/x", "/m", "ext4", "noatime", "0", "2"]),
            unit("What=/dev/x\nWhere=/m\nType=ext4\nOptions=noatime\n")
        );
        assert_eq!(
            contents(&["/dev/x", "/m", "noatime", "ro"]),
            unit("What=/dev/x\nWhere=/m\nOptions=noatime,ro\n")
        );
        assert_eq!(
            contents(&["/dev/x", "/m%"]),
            unit("What=/dev/x\nWhere=/m%%\n")
        );
        assert!(mount(&["/dev/x"]).is_err() && mount(&["/dev/x", "none", "swap"]).is_err());
    }
}
