//! Owner, permissions, path and content of a file as the node's own programs read them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::render::plan::node_plan::PlannedFile;
use windlass_capi::api::boot::Format;
use windlass_go_text::base64;
use windlass_source::gzip;

/// Accounts and groups that the base system of a distribution has: Debian's `base-passwd`,
/// Fedora's `setup`, Flatcar's `baselayout`, Photon's `filesystem`, and the `sysusers.d` files of
/// systemd, D-Bus, OpenSSH and chrony. Most of them are in one of the two lists and in both on
/// some distribution, so one list serves for both.
const OF_THE_IMAGE: [&str; 79] = [
    "_apt",
    "_chrony",
    "adm",
    "audio",
    "avahi",
    "backup",
    "bin",
    "cdrom",
    "chrony",
    "core",
    "cron",
    "crontab",
    "daemon",
    "dbus",
    "dialout",
    "dip",
    "disk",
    "docker",
    "fax",
    "floppy",
    "ftp",
    "games",
    "gnats",
    "halt",
    "input",
    "irc",
    "kmem",
    "kvm",
    "landscape",
    "libuuid",
    "list",
    "lock",
    "lp",
    "mail",
    "man",
    "mem",
    "messagebus",
    "news",
    "nfsnobody",
    "nobody",
    "nogroup",
    "ntp",
    "operator",
    "plugdev",
    "polkitd",
    "pollinate",
    "portage",
    "proxy",
    "render",
    "root",
    "rpc",
    "rpcuser",
    "sasl",
    "sgx",
    "shadow",
    "shutdown",
    "src",
    "ssh",
    "ssh_keys",
    "sshd",
    "staff",
    "sudo",
    "sync",
    "sys",
    "syslog",
    "systemd-coredump",
    "systemd-journal",
    "systemd-network",
    "systemd-resolve",
    "systemd-timesync",
    "tape",
    "tcpdump",
    "tss",
    "tty",
    "users",
    "utmp",
    "uucp",
    "video",
    "voice",
];
const MORE_OF_THE_IMAGE: [&str; 5] = ["wheel", "www-data", "wwwrun", "nginx", "kube"];

/// Why the lookup of an owner fails, or may fail, when the file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unresolved {
    /// A number: cloud-init and Ignition look up names only.
    Number,
    /// The same data creates it, but only after the files are written.
    CreatedLater,
    /// Neither the data nor the base system of a distribution has it.
    NotCreated,
}

/// What the same data creates.
#[derive(Debug, Default)]
pub struct Created<'d> {
    /// The names of the users; each user has a group of the same name.
    pub users: BTreeSet<&'d str>,
    /// The names of the groups, without those of the users.
    pub groups: BTreeSet<&'d str>,
    /// Whether it exists before files are written: in Ignition, whose stage `files` creates users
    /// first (`internal/exec/stages/files/files.go`, `runImpl`), and for files that cloud-init
    /// defers.
    pub is_first: bool,
}

impl Created<'_> {
    fn why(&self, name: &str, is_user: bool) -> Option<Unresolved> {
        // useradd creates a group of the user's name.
        let is_created = self.users.contains(name) || !is_user && self.groups.contains(name);
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            Some(Unresolved::Number)
        } else if is_created {
            (!self.is_first).then_some(Unresolved::CreatedLater)
        } else if OF_THE_IMAGE.contains(&name) || MORE_OF_THE_IMAGE.contains(&name) {
            None
        } else {
            Some(Unresolved::NotCreated)
        }
    }
}

/// User and group of an owner (`util.extract_usergroup`): empty, `-1` and `none` keep what the file
/// has.
fn user_and_group(owner: &str) -> (Option<&str>, Option<&str>) {
    let (user, group) = owner.split_once(':').unwrap_or((owner, ""));
    let name =
        |name: &'_ str| !(name.is_empty() || name == "-1" || name.eq_ignore_ascii_case("none"));
    (
        Some(user.trim()).filter(|user| name(user)),
        Some(group.trim()).filter(|group| name(group)),
    )
}

/// The user or group of an owner that cannot be resolved, the certain failure before the possible
/// one.
pub fn unresolved<'o>(owner: &'o str, created: &Created<'_>) -> Option<(&'o str, Unresolved)> {
    let (user, group) = user_and_group(owner);
    let found = [(user, true), (group, false)];
    let mut found: Vec<(&str, Unresolved)> = found
        .into_iter()
        .filter_map(|(name, is_user)| Some((name?, created.why(name?, is_user)?)))
        .collect();
    found.sort_by_key(|(_, why)| *why == Unresolved::NotCreated);
    found.into_iter().next()
}

/// The mode that cloud-init reads from a text (`cc_write_files.py`, `decode_perms`): Python's
/// `int(text, 8)`. Without one the file has 0644, and cloud-init logs a warning.
pub fn mode(permissions: &str) -> Option<u32> {
    let text = permissions.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    let digits = ["0o", "0O"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
        .map_or(text, |digits| digits.strip_prefix('_').unwrap_or(digits));
    let is_plain = !digits.starts_with('_') && !digits.ends_with('_') && !digits.contains("__");
    u32::from_str_radix(&digits.replace('_', ""), 8)
        .ok()
        .filter(|_| is_plain && !digits.starts_with('+'))
}

/// The mode of files without permissions.
pub const DEFAULT_MODE: &str = "0644";

/// Folders that are mounted over after Ignition has written files, in the initramfs, into the root
/// file system (Ignition, `docs/operator-notes.md`, "Making changes to `/proc`, …"). `/var/run` is
/// a link to `/run`.
const MOUNTED_AFTER_IGNITION: [&str; 6] = ["/run", "/tmp", "/var/run", "/proc", "/sys", "/dev"];

/// Folders of the kernel, in which no program creates files that stay.
const OF_THE_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The folder in which a file of a format does not survive until the node uses it.
pub fn volatile_folder(format: Format, path: &str) -> Option<&'static str> {
    let folders = match format {
        Format::Ignition => &MOUNTED_AFTER_IGNITION[..],
        Format::CloudConfig => &OF_THE_KERNEL[..],
    };
    let path = format!(
        "/{}",
        windlass_source::glob::plain(path.trim_start_matches('/'))
    );
    folders
        .iter()
        .find(|folder| {
            path.strip_prefix(**folder)
                .is_some_and(|rest| rest.starts_with('/'))
        })
        .copied()
}

/// The folder that kubeadm has the kubelet read (`cmd/kubeadm/app/constants`).
const STATIC_PODS: &str = "/etc/kubernetes/manifests/";

/// Whether the kubelet runs the pod in a file of this path.
pub fn is_static_pod(path: &str) -> bool {
    let path = format!(
        "/{}",
        windlass_source::glob::plain(path.trim_start_matches('/'))
    );
    path.strip_prefix(STATIC_PODS)
        .is_some_and(|name| !name.contains('/') && !name.starts_with('.'))
}

/// The content of a file as the node has it; `None` when it is not text.
pub fn text(file: &PlannedFile) -> Option<Cow<'_, str>> {
    const LARGEST: usize = 4 << 20;
    let written = file.content.expose().as_slice();
    let from_base64 = || {
        let text = std::str::from_utf8(written).ok()?;
        base64::decode(text.trim()).ok()
    };
    let unpacked = |bytes: &[u8]| gzip::decompress(bytes, LARGEST);
    let bytes: Cow<'_, [u8]> = match file.encoding {
        "base64" => from_base64()?.into(),
        "gzip" => unpacked(written)?.into(),
        "gzip+base64" => unpacked(&from_base64()?)?.into(),
        _ => written.into(),
    };
    match bytes {
        Cow::Borrowed(bytes) => Some(std::str::from_utf8(bytes).ok()?.into()),
        Cow::Owned(bytes) => Some(String::from_utf8(bytes).ok()?.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_resolved_by_name_and_time() {
        let created = |is_first| Created {
            users: BTreeSet::from(["deckhand"]),
            groups: BTreeSet::from(["crew"]),
            is_first,
        };
        for (owner, expected) in [
            ("root:root", None),
            ("", None),
            ("none:-1", None),
            ("root", None),
            ("rocky:rocky", Some(("rocky", Unresolved::NotCreated))),
            (
                "deckhand:deckhand",
                Some(("deckhand", Unresolved::CreatedLater)),
            ),
            ("root:crew", Some(("crew", Unresolved::CreatedLater))),
            ("crew", Some(("crew", Unresolved::NotCreated))),
            ("rocky:1000", Some(("1000", Unresolved::Number))),
            ("0:0", Some(("0", Unresolved::Number))),
        ] {
            assert_eq!(unresolved(owner, &created(false)), expected, "{owner}");
        }
        assert_eq!(unresolved("deckhand:crew", &created(true)), None);
    }

    /// `tests/it/inspect.rs` asks cloud-init itself.
    #[test]
    fn permissions_are_octal_as_in_python() {
        for (text, expected) in [
            ("0644", Some(0o644)),
            ("644", Some(0o644)),
            (" 0o644 ", Some(0o644)),
            ("0o_644", Some(0o644)),
            ("6_4_4", Some(0o644)),
            ("+0600", Some(0o600)),
            ("0999", None),
            ("u=rw", None),
            ("", None),
            ("_644", None),
            ("644_", None),
            ("6__4", None),
            ("++6", None),
        ] {
            assert_eq!(mode(text), expected, "{text:?}");
        }
    }

    #[test]
    fn folders_are_volatile_by_format() {
        use Format::{CloudConfig, Ignition};
        for (format, path, expected) in [
            (Ignition, "/run/kubeadm/a.sh", Some("/run")),
            (Ignition, "/tmp/mark.txt", Some("/tmp")),
            (Ignition, "/etc/../run/a", Some("/run")),
            (Ignition, "/var/run/a", Some("/var/run")),
            (Ignition, "/opt/run/a", None),
            (Ignition, "/runner/a", None),
            (CloudConfig, "/run/kubeadm/a.sh", None),
            (CloudConfig, "/proc/sys/vm/swappiness", Some("/proc")),
        ] {
            assert_eq!(volatile_folder(format, path), expected, "{path}");
        }
    }
}
