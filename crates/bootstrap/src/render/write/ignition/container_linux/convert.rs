//! A Container Linux Config to an Ignition config, converter by converter in the order of the
//! transpiler's files, so that lists have its order.

use super::config::{self, Config};
use super::services::{docker_unit, etcd_unit, flannel_unit};
use super::update::update_conf;
use crate::render::write::ignition::data_url;
use crate::render::write::ignition::findings::Entry;
use crate::render::write::ignition::v2;
use windlass_go_text as go;
use windlass_go_text::url;
use windlass_go_yaml::yaml_v3::{Content, Document, NodeId};

const VERSION: &str = "2.3.0";

/// Converts a config. The document's nodes are changed to what Ignition's checks look for.
pub(super) fn convert(config: Config, document: &mut Document) -> (v2::Config, Vec<Entry>) {
    let mut entries = Vec::new();
    let Config {
        version: _,
        ignition,
        storage,
        systemd,
        networkd,
        passwd,
        etcd,
        flannel,
        update,
        docker,
        locksmith,
    } = config;
    let config::Storage {
        disks,
        arrays,
        filesystems,
        files,
        directories,
        links,
    } = storage;
    let update = update_conf(update.as_ref(), locksmith.as_ref());
    let mut out = v2::Config {
        ignition: converted_ignition(ignition, document, &mut entries),
        networkd: v2::Networkd {
            units: networkd.units.into_iter().map(networkd_unit).collect(),
        },
        passwd: v2::Passwd {
            groups: passwd.groups.into_iter().map(group).collect(),
            users: passwd.users.into_iter().map(user).collect(),
        },
        ..v2::Config::default()
    };
    out.storage.disks = disks
        .into_iter()
        .enumerate()
        .map(|(index, one)| disk(index, one, document, &mut entries))
        .collect();
    out.systemd.units.extend(docker.as_ref().map(docker_unit));
    match etcd.as_ref().map(etcd_unit).transpose() {
        Ok(unit) => out.systemd.units.extend(unit),
        Err(fault) => entries.push(Entry::error(fault)),
    }
    for (index, one) in files.into_iter().enumerate() {
        match file(index, one, document) {
            Ok(file) => out.storage.files.push(file),
            Err(entry) => entries.push(entry),
        }
    }
    out.storage.directories = directories.into_iter().map(directory).collect();
    out.storage.links = links.into_iter().map(link).collect();
    out.storage.filesystems = filesystems.into_iter().map(filesystem).collect();
    match flannel.as_ref().map(flannel_unit).transpose() {
        Ok(unit) => out.systemd.units.extend(unit),
        Err(fault) => entries.push(Entry::error(fault)),
    }
    out.storage.raid = arrays.into_iter().map(raid).collect();
    out.systemd
        .units
        .extend(systemd.units.into_iter().map(systemd_unit));
    if !update.is_empty() {
        let contents = v2::FileContents {
            source: data_url::of_text(update.as_bytes()),
            ..v2::FileContents::default()
        };
        out.storage.files.push(v2::File {
            mode: Some(0o644),
            contents,
            ..on_root("/etc/coreos/update.conf".to_owned())
        });
    }
    (out, entries)
}

fn on_root(path: String) -> v2::File {
    v2::File {
        filesystem: "root".to_owned(),
        path,
        ..v2::File::default()
    }
}

/// The place of a node by its way from the root.
fn place(document: &Document, way: &[Step]) -> Option<(u32, u32)> {
    let node = document.node(node_at(document, way)?);
    Some((node.line, node.column))
}

/// A step from a node to one within.
#[derive(Clone, Copy)]
enum Step {
    Key(&'static str),
    Item(usize),
}

fn node_at(document: &Document, way: &[Step]) -> Option<NodeId> {
    way.iter()
        .try_fold(document.root(), |node, step| match step {
            Step::Key(key) => document.get(node, key),
            Step::Item(index) => match &document.node(node).content {
                Content::Sequence(items) => items.get(*index).copied(),
                _ => None,
            },
        })
}

fn error_at(document: &Document, way: &[Step], message: String) -> Entry {
    Entry::error(message).or_at(place(document, way).unwrap_or_default())
}

fn converted_ignition(
    ignition: config::Ignition,
    document: &Document,
    entries: &mut Vec<Entry>,
) -> v2::Ignition {
    let config::Ignition {
        config: config::IgnitionConfig { append, replace },
        timeouts,
        security,
    } = ignition;
    let append_way = [
        Step::Key("ignition"),
        Step::Key("config"),
        Step::Key("append"),
    ];
    let mut configs = v2::IgnitionConfig::default();
    for (index, one) in append.into_iter().enumerate() {
        match url::Url::parse(&one.source) {
            Ok(_) => configs.append.push(reference(one.source, one.verification)),
            Err(fault) => entries.push(error_at(
                document,
                &[&append_way[..], &[Step::Item(index), Step::Key("source")]].concat(),
                fault,
            )),
        }
    }
    if let Some(one) = replace {
        match url::Url::parse(&one.source) {
            Ok(_) => configs.replace = Some(reference(one.source, one.verification)),
            Err(fault) => {
                let way = [
                    Step::Key("ignition"),
                    Step::Key("config"),
                    Step::Key("replace"),
                    Step::Key("source"),
                ];
                entries.push(error_at(document, &way, fault));
            }
        }
    }
    let authorities = security
        .tls
        .certificate_authorities
        .into_iter()
        .map(|one| reference(one.source, one.verification));
    v2::Ignition {
        config: configs,
        security: v2::Security {
            tls: v2::Tls {
                certificate_authorities: authorities.collect(),
            },
        },
        timeouts: v2::Timeouts {
            http_response_headers: timeouts.http_response_headers,
            http_total: timeouts.http_total,
        },
        version: VERSION.to_owned(),
    }
}

fn reference(source: String, verification: config::Verification) -> v2::Reference {
    v2::Reference {
        source,
        verification: converted_verification(verification),
    }
}

fn converted_verification(verification: config::Verification) -> v2::Verification {
    let config::Hash { function, sum } = verification.hash;
    let is_given = !function.is_empty() && !sum.is_empty();
    v2::Verification {
        hash: is_given.then(|| format!("{function}-{sum}")),
    }
}

fn disk(
    index: usize,
    disk: config::Disk,
    document: &Document,
    entries: &mut Vec<Entry>,
) -> v2::Disk {
    let config::Disk {
        device,
        wipe_table,
        partitions,
    } = disk;
    let mut converted = Vec::new();
    for (
        at,
        config::Partition {
            label,
            number,
            size,
            start,
            guid,
            type_guid,
        },
    ) in partitions.into_iter().enumerate()
    {
        let way = [
            Step::Key("storage"),
            Step::Key("disks"),
            Step::Item(index),
            Step::Key("partitions"),
            Step::Item(at),
        ];
        let mut dimension = |key, text: &str| {
            mebibytes(text)
                .map_err(|fault| {
                    entries.push(error_at(
                        document,
                        &[&way[..], &[Step::Key(key)]].concat(),
                        fault,
                    ))
                })
                .ok()
        };
        let Some(size_mib) = dimension("size", &size) else {
            continue;
        };
        let Some(start_mib) = dimension("start", &start) else {
            continue;
        };
        let type_guid = match type_guid.as_str() {
            "raid_containing_root" => "be9067b9-ea49-4f15-b4f6-f36f8c9e1818".to_owned(),
            "linux_filesystem_data" => "0fc63daf-8483-4772-8e79-3d69d8477de4".to_owned(),
            "swap_partition" => "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f".to_owned(),
            "raid_partition" => "a19d880f-05fc-4d3b-a006-743f0f84911e".to_owned(),
            _ => type_guid,
        };
        converted.push(v2::Partition {
            guid,
            label,
            number,
            size_mib,
            start_mib,
            type_guid,
        });
    }
    v2::Disk {
        device,
        partitions: converted,
        wipe_table,
    }
}

/// A size such as `1GiB` or `1GB`, both in powers of two, as whole mebibytes.
fn mebibytes(text: &str) -> Result<Option<i64>, String> {
    const MEBIBYTE: i64 = 1 << 20;
    if text.is_empty() {
        return Ok(None);
    }
    let bytes = base2_bytes(text, "iB").or_else(|_| base2_bytes(text, "B"))?;
    if bytes < 0 {
        return Err(format!("invalid dimension (negative): {}", go::quote(text)));
    }
    if bytes % MEBIBYTE != 0 {
        return Err("invalid dimension (finest granularity is 1MiB)".to_owned());
    }
    Ok(Some(bytes / MEBIBYTE))
}

/// A sum of numbers with units, as alecthomas/units reads it.
fn base2_bytes(text: &str, suffix: &str) -> Result<i64, String> {
    let invalid = || format!("units: invalid {text}");
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut sum = 0.0;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let number: f64 = number.parse().map_err(|_| invalid())?;
        let end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let power = match unit.strip_suffix(suffix) {
            _ if unit == "B" => 0,
            Some("K") => 1,
            Some("M") => 2,
            Some("G") => 3,
            Some("T") => 4,
            Some("P") => 5,
            Some("E") => 6,
            _ => return Err(format!("units: unknown unit {unit} in {text}")),
        };
        sum += number * 1024_f64.powi(power);
        rest = after;
    }
    if sum >= 9_223_372_036_854_775_807.0 {
        return Err("units: overflow parsing unit".to_owned());
    }
    #[allow(
        clippy::cast_possible_truncation,
        reason = "Go truncates in the same way"
    )]
    Ok(if negative { -sum } else { sum } as i64)
}

fn owner(id: Option<i64>, name: String) -> v2::Owner {
    v2::Owner { id, name }
}

fn or_root(filesystem: String) -> String {
    if filesystem.is_empty() {
        "root".to_owned()
    } else {
        filesystem
    }
}

fn file(index: usize, file: config::File, document: &mut Document) -> Result<v2::File, Entry> {
    let config::File {
        filesystem,
        path,
        user,
        group,
        mode,
        contents,
        overwrite,
        append,
    } = file;
    let config::FileContents {
        remote,
        inline,
        local,
    } = contents;
    let way = [
        Step::Key("storage"),
        Step::Key("files"),
        Step::Item(index),
        Step::Key("contents"),
    ];
    if !local.is_empty() {
        let fault = "local files require setting the --files-dir flag to the directory that contains the file";
        return Err(error_at(
            document,
            &[&way[..], &[Step::Key("local")]].concat(),
            fault.to_owned(),
        ));
    }
    let source = if !remote.url.is_empty() {
        let url_way = [&way[..], &[Step::Key("remote"), Step::Key("url")]].concat();
        let source =
            url::normalised(&remote.url).map_err(|fault| error_at(document, &url_way, fault))?;
        remote_as_contents(document, &way);
        source
    } else {
        data_url::of_text(&inline.0)
    };
    let contents = v2::FileContents {
        compression: remote.compression,
        source,
        verification: converted_verification(remote.verification),
    };
    Ok(v2::File {
        filesystem: or_root(filesystem),
        group: group.map(|group| owner(group.id, group.name)),
        overwrite,
        path,
        user: user.map(|user| owner(user.id, user.name)),
        append,
        contents,
        mode: Some(mode.unwrap_or(0o644)),
    })
}

/// Puts the section `remote` in the place of `contents`, with `source` for `url`: there Ignition
/// has them.
fn remote_as_contents(document: &mut Document, contents: &[Step]) {
    let Some(id) = node_at(document, contents) else {
        return;
    };
    let Some(mut remote) = document
        .get(id, "remote")
        .map(|remote| document.node(remote).clone())
    else {
        return;
    };
    if let Content::Mapping(entries) = &mut remote.content {
        for (key, _) in entries.iter() {
            if document.text(*key) == "url"
                && let Content::Scalar { text, .. } = &mut document.node_mut(*key).content
            {
                "source".clone_into(text);
            }
        }
    }
    *document.node_mut(id) = remote;
}

fn directory(directory: config::Directory) -> v2::Directory {
    let config::Directory {
        filesystem,
        path,
        user,
        group,
        mode,
        overwrite,
    } = directory;
    v2::Directory {
        filesystem: or_root(filesystem),
        group: group.map(|group| owner(group.id, group.name)),
        overwrite,
        path,
        user: user.map(|user| owner(user.id, user.name)),
        mode: Some(mode.unwrap_or(0o755)),
    }
}

fn link(link: config::Link) -> v2::Link {
    let config::Link {
        filesystem,
        path,
        user,
        group,
        hard,
        target,
        overwrite,
    } = link;
    v2::Link {
        filesystem: or_root(filesystem),
        group: group.map(|group| owner(group.id, group.name)),
        overwrite,
        path,
        user: user.map(|user| owner(user.id, user.name)),
        hard,
        target,
    }
}

fn filesystem(filesystem: config::Filesystem) -> v2::Filesystem {
    let config::Filesystem { name, mount, path } = filesystem;
    let mount = mount.map(
        |config::Mount {
             device,
             format,
             create,
             wipe_filesystem,
             label,
             uuid,
             options,
         }| v2::Mount {
            create: create.map(|create| v2::Create {
                force: create.force,
                options: create.options,
            }),
            device,
            format,
            label,
            options,
            uuid,
            wipe_filesystem,
        },
    );
    v2::Filesystem { mount, name, path }
}

fn raid(raid: config::Raid) -> v2::Raid {
    let config::Raid {
        name,
        level,
        devices,
        spares,
        options,
    } = raid;
    v2::Raid {
        devices: (!devices.is_empty()).then_some(devices),
        level,
        name,
        options,
        spares,
    }
}

fn systemd_unit(unit: config::SystemdUnit) -> v2::Unit {
    let config::SystemdUnit {
        name,
        enable,
        enabled,
        mask,
        contents,
        dropins,
    } = unit;
    let dropins = dropins
        .into_iter()
        .map(|dropin| v2::SystemdDropin {
            contents: dropin.contents,
            name: dropin.name,
        })
        .collect();
    v2::Unit {
        contents,
        dropins,
        enable,
        enabled,
        mask,
        name,
    }
}

fn networkd_unit(unit: config::NetworkdUnit) -> v2::NetworkdUnit {
    let config::NetworkdUnit {
        name,
        contents,
        dropins,
    } = unit;
    let dropins = dropins
        .into_iter()
        .map(|dropin| v2::NetworkdDropin {
            contents: dropin.contents,
            name: dropin.name,
        })
        .collect();
    v2::NetworkdUnit {
        contents,
        dropins,
        name,
    }
}

fn user(user: config::User) -> v2::PasswdUser {
    v2::PasswdUser {
        create: user.create.map(|create| v2::UserCreate {
            gecos: create.gecos,
            groups: create.groups,
            home_dir: create.home_dir,
            no_create_home: create.no_create_home,
            no_log_init: create.no_log_init,
            no_user_group: create.no_user_group,
            primary_group: create.primary_group,
            shell: create.shell,
            system: create.system,
            uid: create.uid.map(u64::cast_signed),
        }),
        gecos: user.gecos,
        groups: user.groups,
        home_dir: user.home_dir,
        name: user.name,
        no_create_home: user.no_create_home,
        no_log_init: user.no_log_init,
        no_user_group: user.no_user_group,
        password_hash: user.password_hash,
        primary_group: user.primary_group,
        ssh_authorized_keys: user.ssh_authorized_keys,
        shell: user.shell,
        system: user.system,
        uid: user.uid,
    }
}

fn group(group: config::Group) -> v2::PasswdGroup {
    let config::Group {
        name,
        gid,
        password_hash,
        system,
    } = group;
    v2::PasswdGroup {
        gid: gid.map(u64::cast_signed),
        name,
        password_hash,
        system,
    }
}
