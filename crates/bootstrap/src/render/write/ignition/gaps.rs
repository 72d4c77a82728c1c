//! What Ignition cannot express: one table, for the warnings of `render` and for the documentation.

use std::fmt;

use crate::render::plan::node_plan::{NodePlan, PlannedFile, PlannedUser};
use windlass_capi::api::boot::IgnitionVersion;
use windlass_capi::api::v1beta2::{Filesystem, Partition};
use windlass_source::diag::FieldPath;

/// What becomes of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It would be rejected.
    Rejected,
    /// It is silently ignored by upstream.
    Ignored,
    /// The node gets something else than it says.
    Changed,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Outcome::Rejected => "would be rejected",
            Outcome::Ignored => "silently ignored by upstream",
            Outcome::Changed => "silently changed by upstream",
        })
    }
}

/// A field that Ignition does not have as it is meant.
pub struct Gap {
    /// The field below the spec, and its value where it matters.
    pub field: &'static str,
    /// What becomes of it in Ignition 2.3.
    pub in_2_3: Outcome,
    /// What becomes of it in Ignition 3.4; `None`: it is written as it is meant.
    pub in_3_4: Option<Outcome>,
    /// What the node gets.
    pub effect: &'static str,
    /// Where a plan has it; nowhere for what never gets into a plan.
    found: fn(&NodePlan, &FieldPath) -> Vec<FieldPath>,
}

/// The whole table.
pub const GAPS: &[Gap] = &[
    Gap {
        field: "bootCommands",
        in_2_3: Outcome::Rejected,
        in_3_4: Some(Outcome::Rejected),
        effect: "Ignition runs no commands at boot",
        found: |_, _| Vec::new(),
    },
    Gap {
        field: "users[].inactive: true",
        in_2_3: Outcome::Rejected,
        in_3_4: Some(Outcome::Rejected),
        effect: "Ignition knows no inactive users",
        found: |_, _| Vec::new(),
    },
    Gap {
        field: "users[].inactive: false",
        in_2_3: Outcome::Ignored,
        in_3_4: Some(Outcome::Ignored),
        effect: "an inactive user of the image stays inactive",
        found: |plan, spec| of_users(plan, spec, "inactive", |user| user.inactive == Some(false)),
    },
    Gap {
        field: "users[].lockPassword: true",
        in_2_3: Outcome::Ignored,
        in_3_4: Some(Outcome::Ignored),
        effect: "a password is as the image or `passwd` has it",
        found: |plan, spec| {
            of_users(plan, spec, "lockPassword", |user| {
                user.lock_password == Some(true)
            })
        },
    },
    Gap {
        field: "users[].lockPassword: false",
        in_2_3: Outcome::Changed,
        in_3_4: None,
        effect: "the file /etc/ssh/sshd_config of the image is replaced",
        found: |plan, spec| {
            of_users(plan, spec, "lockPassword", |user| {
                user.lock_password == Some(false)
            })
        },
    },
    Gap {
        field: "users[].groups: \"a,b\"",
        in_2_3: Outcome::Changed,
        in_3_4: None,
        effect: "without a blank after the comma it is one group of that name",
        found: |plan, spec| {
            of_users(plan, spec, "groups", |user| {
                user.groups.split(", ").any(|group| group.contains(','))
            })
        },
    },
    Gap {
        field: "files[].append: true",
        in_2_3: Outcome::Ignored,
        in_3_4: None,
        effect: "the file is replaced",
        found: |plan, _| of_files(plan, "append", |file| file.append == Some(true)),
    },
    Gap {
        field: "files[].encoding: gzip",
        in_2_3: Outcome::Rejected,
        in_3_4: Some(Outcome::Rejected),
        effect: "a config holds no binary texts",
        found: |_, _| Vec::new(),
    },
    Gap {
        field: "files[].encoding: gzip+base64",
        in_2_3: Outcome::Rejected,
        in_3_4: None,
        effect: "Ignition 2.3 reads no compressed data URLs",
        found: |_, _| Vec::new(),
    },
    Gap {
        field: "files[].permissions, not set",
        in_2_3: Outcome::Rejected,
        in_3_4: None,
        effect: "upstream fails when it renders; a WindlassConfig gets 0644",
        found: |_, _| Vec::new(),
    },
    Gap {
        field: "files[].permissions: \"644\"",
        in_2_3: Outcome::Changed,
        in_3_4: None,
        effect: "without a leading zero the number is decimal: 644 is 01204",
        found: |plan, _| {
            of_files(plan, "permissions", |file| {
                file.permissions
                    .starts_with(|c: char| ('1'..='9').contains(&c))
            })
        },
    },
    Gap {
        field: "files[].owner: \"a:b:c\"",
        in_2_3: Outcome::Ignored,
        in_3_4: Some(Outcome::Ignored),
        effect: "what follows the second colon is dropped",
        found: |plan, _| of_files(plan, "owner", |file| file.owner.matches(':').count() > 1),
    },
    Gap {
        field: "diskSetup.partitions[].tableType: mbr",
        in_2_3: Outcome::Rejected,
        in_3_4: Some(Outcome::Rejected),
        effect: "Ignition writes GPT only",
        found: |_, _| Vec::new(),
    },
    Gap {
        field: "diskSetup.partitions[].diskLayout",
        in_2_3: Outcome::Ignored,
        in_3_4: Some(Outcome::Rejected),
        effect: "its parts are not made; Ignition knows no percentages",
        found: |plan, spec| {
            of_partitions(plan, spec, "diskLayout", |disk| {
                disk.disk_layout
                    .as_ref()
                    .is_some_and(|parts| !parts.is_empty())
            })
        },
    },
    Gap {
        field: "diskSetup.partitions[].layout: false",
        in_2_3: Outcome::Changed,
        in_3_4: None,
        effect: "a partition is made all the same",
        found: |plan, spec| of_partitions(plan, spec, "layout", |disk| disk.layout == Some(false)),
    },
    Gap {
        field: "diskSetup.filesystems[].partition, .replaceFS",
        in_2_3: Outcome::Rejected,
        in_3_4: Some(Outcome::Rejected),
        effect: "Ignition takes the device as it is named",
        found: |_, _| Vec::new(),
    },
    Gap {
        field: "diskSetup.filesystems[].overwrite, not set",
        in_2_3: Outcome::Rejected,
        in_3_4: None,
        effect: "upstream fails when it renders",
        found: |_, _| Vec::new(),
    },
    Gap {
        field: "mounts[]: LABEL=x",
        in_2_3: Outcome::Changed,
        in_3_4: None,
        effect: "the unit has no device, unless a file system has the whole text as its label",
        found: |plan, spec| of_mounts(plan, spec, |mount| is_without_device(plan, mount)),
    },
    Gap {
        field: "mounts[]: a mount point such as /a-b",
        in_2_3: Outcome::Changed,
        in_3_4: None,
        effect: "systemd rejects the unit, because `-` and the like are not escaped in its name",
        found: |plan, spec| {
            of_mounts(plan, spec, |mount| {
                mount.get(1).is_some_and(|path| !has_plain_unit_name(path))
            })
        },
    },
    Gap {
        field: "ntp.enabled: false",
        in_2_3: Outcome::Changed,
        in_3_4: None,
        effect: "ntpd is enabled all the same",
        found: |plan, spec| of_ntp(plan, spec, "enabled", |enabled, _| enabled == Some(false)),
    },
    Gap {
        field: "ntp.servers without ntp.enabled",
        in_2_3: Outcome::Ignored,
        in_3_4: Some(Outcome::Ignored),
        effect: "ntpd is neither configured nor enabled",
        found: |plan, spec| {
            of_ntp(plan, spec, "servers", |enabled, has_servers| {
                enabled.is_none() && has_servers
            })
        },
    },
];

/// What a plan has of the table in a version and the node does not get: the field, and the row.
pub(super) fn found(
    plan: &NodePlan,
    version: IgnitionVersion,
    spec: &FieldPath,
) -> Vec<(FieldPath, &'static Gap)> {
    let is_silent = |gap: &&Gap| {
        let outcome = if version == IgnitionVersion::V2_3 {
            Some(gap.in_2_3)
        } else {
            gap.in_3_4
        };
        matches!(outcome, Some(Outcome::Ignored | Outcome::Changed))
    };
    let of_gap = |gap: &'static Gap| {
        (gap.found)(plan, spec)
            .into_iter()
            .map(move |path| (path, gap))
    };
    GAPS.iter().filter(is_silent).flat_map(of_gap).collect()
}

fn of_users(
    plan: &NodePlan,
    spec: &FieldPath,
    field: &str,
    has: fn(&PlannedUser) -> bool,
) -> Vec<FieldPath> {
    let users = plan.users.iter().enumerate().filter(|(_, user)| has(user));
    users
        .map(|(index, _)| spec.field("users").index(index).field(field))
        .collect()
}

fn of_files(plan: &NodePlan, field: &str, has: fn(&PlannedFile) -> bool) -> Vec<FieldPath> {
    let files = plan.files.iter().filter(|file| has(file));
    files
        .filter_map(|file| file.origin.as_ref())
        .map(|origin| origin.field(field))
        .collect()
}

fn of_partitions(
    plan: &NodePlan,
    spec: &FieldPath,
    field: &str,
    has: fn(&Partition) -> bool,
) -> Vec<FieldPath> {
    let partitions = plan
        .disk_setup
        .iter()
        .flat_map(|setup| setup.partitions.iter().flatten())
        .enumerate();
    let path = |index| {
        spec.field("diskSetup")
            .field("partitions")
            .index(index)
            .field(field)
    };
    partitions
        .filter(|(_, disk)| has(disk))
        .map(|(index, _)| path(index))
        .collect()
}

fn of_mounts(plan: &NodePlan, spec: &FieldPath, has: impl Fn(&[String]) -> bool) -> Vec<FieldPath> {
    let mounts = plan
        .mounts
        .iter()
        .enumerate()
        .filter(|(_, mount)| has(mount));
    mounts
        .map(|(index, _)| spec.field("mounts").index(index))
        .collect()
}

fn of_ntp(
    plan: &NodePlan,
    spec: &FieldPath,
    field: &str,
    has: fn(Option<bool>, bool) -> bool,
) -> Vec<FieldPath> {
    let found = plan.ntp.as_ref().filter(|ntp| {
        has(
            ntp.enabled,
            ntp.servers
                .as_ref()
                .is_some_and(|servers| !servers.is_empty()),
        )
    });
    found
        .map(|_| spec.field("ntp").field(field))
        .into_iter()
        .collect()
}

fn is_without_device(plan: &NodePlan, mount: &[String]) -> bool {
    let filesystems = plan
        .disk_setup
        .iter()
        .flat_map(|setup| setup.filesystems.iter().flatten());
    let has_label =
        |filesystem: &Filesystem, label: &str| filesystem.label.as_deref() == Some(label);
    mount.first().is_some_and(|label| {
        !filesystems
            .into_iter()
            .any(|filesystem| has_label(filesystem, label))
    })
}

fn has_plain_unit_name(mount_point: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
    };
    mount_point
        .strip_prefix('/')
        .is_some_and(|path| path.split('/').all(is_plain) && !path.starts_with('.'))
}
