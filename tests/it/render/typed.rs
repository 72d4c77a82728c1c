//! The encoder `typed`: upstream's bytes wherever they are read back as they were meant, and always
//! a document that is.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use windlass_bootstrap::render::Encoder;
use windlass_bootstrap::render::plan::node_plan::{
    Kubeadm, NodePlan, PlannedDirectory, PlannedFile, PlannedUser,
};
use windlass_bootstrap::render::write::cloud_config::encode;
use windlass_capi::api::boot::{Compression, OnFailure, Platform, Templating};
use windlass_capi::api::files::TransferEncoding;
use windlass_capi::api::node::{PartitionLayout, TableType};
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::v1beta2::{DiskSetup, Filesystem, Ntp, Partition};

use super::node::{planned, read, secret};
use super::vectors::{cases, first_difference, rendered};
use crate::support::vectors;

#[test]
fn typed_deviates_where_the_node_would_not_be_the_planned_one_and_nowhere_else() {
    let root = vectors("render");
    let (mut same, mut corrected) = (0, 0);
    for case in cases(&root)
        .iter()
        .filter(|case| case.expected == "expected.cloud-config")
    {
        let upstream = std::fs::read(case.folder.join(&case.expected)).unwrap();
        let (typed, findings) = rendered(case, Encoder::Typed);
        let Some(typed) = typed else {
            panic!("{}: rejected: {findings:?}", case.name)
        };
        let mut plan = typed.plan;
        if let Kubeadm::Join { retry, .. } = &mut plan.kubeadm
            && retry.take().is_some()
        {
            assert_eq!(typed.data.expose(), &upstream, "{}", case.name);
            continue;
        }
        let meant = planned(&plan);
        if read(&upstream).as_ref() == Some(&meant) {
            assert!(
                typed.data.expose() == &upstream,
                "{}: {}",
                case.name,
                first_difference(typed.data.expose(), &upstream)
            );
            same += 1;
        } else {
            assert_eq!(read(typed.data.expose()), Some(meant), "{}", case.name);
            corrected += 1;
        }
    }
    assert!(
        same >= 270 && corrected >= 25,
        "{same} are the same, {corrected} differ"
    );
}

/// Texts that readers of YAML trip over, and ordinary ones.
fn text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "yes",
        "0",
        "012",
        "1e3",
        "~",
        "null",
        "a: b",
        "a #b",
        "- a",
        "&a",
        "*a",
        "!a",
        "%a",
        "@a",
        "`a",
        "{a",
        "[a",
        "'a",
        "\"a",
        "a\\",
        " a",
        "a ",
        "=",
        "<<",
        "---",
        "...",
        "a\nb",
        "\n",
        "\ta",
        "a\tb",
        "a\r",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{7f}",
        "\u{0}",
        "é",
        "😀",
        "? a",
        "|",
        ">",
        "1:20",
        "2020-01-01",
    ]);
    let characters = vec(
        prop::sample::select(
            "ab01 :#-'\"\\,[]{}&*!|>%@`?=~\n\t\r\u{85}é😀/"
                .chars()
                .collect::<Vec<_>>(),
        ),
        1..12,
    );
    prop_oneof![
        odd.prop_map(str::to_owned),
        characters.prop_map(|characters| characters.into_iter().collect::<String>()),
        "[a-z/.]{1,8}"
    ]
}

fn maybe_text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), text()]
}

fn some_text() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(text())
}

fn flag() -> impl Strategy<Value = Option<bool>> {
    proptest::option::of(any::<bool>())
}

/// Whether the last line with anything in it is of blanks alone, tabs among them: cloud-init takes
/// that, our reader does not.
fn ends_in_tabs(content: &[u8]) -> bool {
    let last = content
        .split(|byte| *byte == b'\n')
        .rfind(|line| !line.is_empty())
        .unwrap_or_default();
    last.contains(&b'\t') && last.iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

fn file() -> impl Strategy<Value = PlannedFile> {
    let content = prop_oneof![
        text().prop_map(String::into_bytes),
        vec(any::<u8>(), 0..20),
        vec(maybe_text(), 0..5).prop_map(|lines| lines.join("\n").into_bytes())
    ];
    let content = content.prop_filter("our reader", |content: &Vec<u8>| !ends_in_tabs(content));
    let encoding = prop::sample::select(vec!["", "", "", "base64", "gzip", "gzip+base64"]);
    let transfer = prop::sample::select(vec![
        None,
        None,
        Some(TransferEncoding::Base64),
        Some(TransferEncoding::GzipBase64),
    ]);
    (
        text(),
        maybe_text(),
        maybe_text(),
        encoding,
        flag(),
        transfer,
        content,
    )
        .prop_map(
            |(path, owner, permissions, encoding, append, transfer, content)| {
                PlannedFile {
                    path,
                    owner,
                    permissions: permissions.replace(
                        ['\n', '\r', '\u{85}', '\u{2028}', '\u{feff}', '\u{7f}', '\0'],
                        "",
                    ),
                    // The API lets only one of the two be set.
                    encoding: if transfer.is_some() { "" } else { encoding },
                    append,
                    transfer_encoding: transfer,
                    content: Sensitive::new(content),
                    origin: None,
                }
            },
        )
}

fn user() -> impl Strategy<Value = PlannedUser> {
    let texts = (
        text(),
        maybe_text(),
        maybe_text(),
        maybe_text(),
        maybe_text(),
        maybe_text(),
        maybe_text(),
        maybe_text(),
    );
    (texts, flag(), flag(), vec(text(), 0..3)).prop_map(
        |(texts, inactive, lock_password, ssh_authorized_keys)| {
            let (name, passwd, gecos, groups, home_dir, shell, primary_group, sudo) = texts;
            let passwd = Sensitive::new(passwd.into_bytes());
            PlannedUser {
                name,
                passwd,
                writes_empty_passwd: false,
                gecos,
                groups,
                home_dir,
                inactive,
                lock_password,
                shell,
                primary_group,
                sudo,
                ssh_authorized_keys,
            }
        },
    )
}

fn partition() -> impl Strategy<Value = Partition> {
    let kind = prop::sample::select(vec![
        None,
        Some("Linux"),
        Some("LinuxSwap"),
        Some("LinuxRAID"),
        Some("LVM"),
        Some("Fat32"),
        Some("NTFS"),
        Some("LinuxExtended"),
        Some("0FC63DAF-8483-4772-8E79-3D69D8477DE4"),
    ]);
    let part = (1..100, kind).prop_map(|(percentage, kind)| PartitionLayout {
        percentage,
        partition_type: kind.map(str::to_owned),
    });
    let table = prop::sample::select(vec![None, Some(TableType::Gpt), Some(TableType::Mbr)]);
    (
        any::<bool>(),
        proptest::option::of(vec(part, 1..4)),
        flag(),
        table,
    )
        .prop_map(|(layout, disk_layout, overwrite, table_type)| {
            let layout = disk_layout.is_none().then_some(layout);
            Partition {
                device: String::new(),
                layout,
                disk_layout,
                overwrite,
                table_type,
            }
        })
}

fn disks() -> impl Strategy<Value = Option<DiskSetup>> {
    let partitions = proptest::collection::btree_map(text(), partition(), 0..3).prop_map(|disks| {
        disks
            .into_iter()
            .map(|(device, disk)| Partition { device, ..disk })
            .collect::<Vec<_>>()
    });
    let system = (
        text(),
        text(),
        some_text(),
        some_text(),
        flag(),
        some_text(),
        proptest::option::of(vec(text(), 0..3)),
    )
        .prop_map(
            |(device, filesystem, label, partition, overwrite, replace_fs, extra_opts)| {
                Filesystem {
                    device,
                    filesystem,
                    label,
                    partition,
                    overwrite,
                    replace_fs,
                    extra_opts,
                }
            },
        );
    let setup = (
        proptest::option::of(partitions),
        proptest::option::of(vec(system, 0..3)),
    );
    proptest::option::of(setup.prop_map(|(partitions, filesystems)| DiskSetup {
        partitions,
        filesystems,
    }))
}

fn kubeadm() -> impl Strategy<Value = Kubeadm> {
    // What Go's YAML writer writes: no line begins with a blank, none holds a control character.
    let document =
        vec("[a-z]{1,5}: [a-z0-9]{1,5}", 1..4).prop_map(|lines| secret(lines.join("\n") + "\n"));
    prop_oneof![
        (document.clone(), document.clone())
            .prop_map(|(cluster, init)| Kubeadm::Init { cluster, init }),
        (document, any::<bool>()).prop_map(|(join, control_plane)| Kubeadm::Join {
            join,
            control_plane,
            retry: None
        }),
    ]
}

fn commands() -> impl Strategy<Value = Vec<Sensitive<String>>> {
    vec(text().prop_map(secret), 0..3)
}

fn directories() -> impl Strategy<Value = Vec<PlannedDirectory>> {
    let directory = (text(), "[a-z]{1,4}(:[a-z]{1,4})?", "0?[0-7]{3}").prop_map(
        |(path, owner, permissions)| PlannedDirectory {
            path,
            owner,
            permissions,
            origin: None,
        },
    );
    vec(directory, 0..3)
}

pub(super) fn plan() -> impl Strategy<Value = NodePlan> {
    let ntp = proptest::option::of(
        (proptest::option::of(vec(text(), 0..3)), flag())
            .prop_map(|(servers, enabled)| Ntp { servers, enabled }),
    );
    let on_failure = prop::sample::select(vec![
        OnFailure::Continue,
        OnFailure::Report,
        OnFailure::Abort,
    ]);
    let platform = prop::sample::select(vec![Platform::Linux, Platform::Windows]);
    let templating = prop::sample::select(vec![Templating::Jinja, Templating::None]);
    let first = (
        vec(file(), 0..4),
        kubeadm(),
        proptest::option::of(any::<i32>()),
        commands(),
        commands(),
        commands(),
    );
    let second = (
        vec(user(), 0..3),
        ntp,
        disks(),
        vec(vec(text(), 0..6), 0..3),
        directories(),
        platform,
        on_failure,
        templating,
    );
    (first, second).prop_map(|(first, second)| {
        let (files, kubeadm, verbosity, boot_commands, pre_kubeadm_commands, post_kubeadm_commands) = first;
        let (users, ntp, disk_setup, mounts, directories, platform, on_failure, templating) = second;
        NodePlan {
            files,
            kubeadm,
            verbosity,
            boot_commands,
            pre_kubeadm_commands,
            post_kubeadm_commands,
            users,
            ntp,
            disk_setup,
            mounts,
            directories,
            platform,
            on_failure,
            templating,
            compression: Compression::None,
        }
    })
}

#[test]
fn every_plan_is_read_back() {
    let mut runner = TestRunner::new(Config {
        cases: 400,
        failure_persistence: None,
        ..Config::default()
    });
    let checked = runner.run(&plan(), |plan| {
        let data = encode(&plan, Encoder::Typed);
        prop_assert_eq!(
            read(data.expose()),
            Some(planned(&plan)),
            "{}",
            String::from_utf8_lossy(data.expose())
        );
        Ok(())
    });
    checked.unwrap();
}
