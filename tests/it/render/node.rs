//! What a node makes of cloud-config, and what it should make of a plan: both as the same kind of
//! JSON value, so that they can be compared.
//!
//! Reading is as strict as cloud-init's schema: a value of another type than it asks for is no
//! value.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use windlass_bootstrap::render::plan::node_plan::{Kubeadm, NodePlan, PlannedUser};
use windlass_bootstrap::render::write::cloud_config::{PLACEHOLDER, Paths, run_items};
use windlass_capi::api::boot::Templating;
use windlass_capi::api::files::TransferEncoding;
use windlass_capi::api::secret::Sensitive;
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::gzip;

/// The node that the document makes; `None` when cloud-init would reject it.
pub(super) fn read(data: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(data).ok()?;
    let parsed = yaml::parse(&Source::new("user-data", text), &Budget::default());
    // A warning means that another reader finds something else.
    if !parsed.report.is_empty() || parsed.documents.len() != 1 {
        return None;
    }
    let mut node = parsed.documents[0].root.to_json();
    let fields = node.as_object_mut()?;
    for file in fields.get_mut("write_files")?.as_array_mut()? {
        read_file(file.as_object_mut()?)?;
    }
    let texts = |value: &Value| {
        value
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_string))
    };
    let rows = |value: &Value| {
        value
            .as_array()
            .is_some_and(|rows| rows.iter().all(|row| texts(row) && *row != json!([])))
    };
    let fit = fields.iter().all(|(name, value)| match name.as_str() {
        "write_files" => true,
        "bootcmd" | "runcmd" => texts(value),
        "mounts" => rows(value),
        "ntp" => has_types(value, &[("enabled", Value::is_boolean), ("servers", texts)]),
        "users" => value
            .as_array()
            .is_some_and(|users| users.iter().all(is_user)),
        "disk_setup" => value
            .as_object()
            .is_some_and(|disks| disks.values().all(is_disk)),
        "fs_setup" => value
            .as_array()
            .is_some_and(|systems| systems.iter().all(is_file_system)),
        _ => false,
    });
    fields.insert(
        "jinja".to_owned(),
        text.starts_with("## template: jinja\n#cloud-config\n")
            .into(),
    );
    (fit && text.contains("#cloud-config\n")).then_some(node)
}

type HasType = fn(&Value) -> bool;

/// Whether a value is an object with these fields at most, each of its type.
fn has_types(value: &Value, types: &[(&str, HasType)]) -> bool {
    let fit = |(name, value): (&String, &Value)| {
        types
            .iter()
            .any(|(known, fits)| known == name && fits(value))
    };
    value
        .as_object()
        .is_some_and(|fields| !fields.is_empty() && fields.iter().all(fit))
}

fn is_user(user: &Value) -> bool {
    let keys = |value: &Value| {
        value
            .as_array()
            .is_some_and(|keys| keys.iter().all(Value::is_string))
    };
    let mut types: Vec<(&str, HasType)> = [
        "name",
        "passwd",
        "gecos",
        "groups",
        "homedir",
        "inactive",
        "shell",
        "primary_group",
        "sudo",
    ]
    .map(|name| (name, Value::is_string as HasType))
    .to_vec();
    types.push(("lock_passwd", Value::is_boolean));
    types.push(("ssh_authorized_keys", keys));
    has_types(user, &types)
}

fn is_disk(disk: &Value) -> bool {
    let layout = |value: &Value| value.is_boolean() || value.is_array();
    has_types(
        disk,
        &[
            ("table_type", Value::is_string),
            ("layout", layout),
            ("overwrite", Value::is_boolean),
        ],
    )
}

fn is_file_system(system: &Value) -> bool {
    let options = |value: &Value| {
        value
            .as_array()
            .is_some_and(|options| options.iter().all(Value::is_string))
    };
    let mut types: Vec<(&str, HasType)> = ["label", "filesystem", "device", "replace_fs"]
        .map(|name| (name, Value::is_string as HasType))
        .to_vec();
    types.push(("overwrite", Value::is_boolean));
    types.push(("extra_opts", options));
    types.push(("partition", |value| value.is_string() || value.is_u64()));
    has_types(system, &types)
}

/// Puts what is written in place of how it is carried.
fn read_file(file: &mut Map<String, Value>) -> Option<()> {
    for name in ["path", "owner", "permissions", "encoding", "content"] {
        if file.get(name).is_some_and(|value| !value.is_string()) {
            return None;
        }
    }
    let encoding = file.remove("encoding").unwrap_or_default();
    let content = file.get("content")?.as_str()?.to_owned();
    file.insert(
        "content".to_owned(),
        on_node(content.as_bytes(), encoding.as_str().unwrap_or_default()),
    );
    Some(())
}

/// Bytes as they are decoded on the node: base64 without other characters, a text that is not
/// encoded with one line break at its end.
fn on_node(content: &[u8], encoding: &str) -> Value {
    let kept = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let from_base64 = || {
        let compact: Vec<u8> = content.iter().copied().filter(kept).collect();
        STANDARD.decode(&compact).unwrap_or(compact)
    };
    match encoding {
        "base64" => exactly(&from_base64()),
        "gzip+base64" => {
            let bytes = from_base64();
            gzip::decompress(&bytes, 1 << 20).map_or_else(
                || json!({"gzip": STANDARD.encode(one_line_break(&bytes))}),
                |bytes| exactly(&bytes),
            )
        }
        "gzip" => json!({"gzip": STANDARD.encode(one_line_break(content))}),
        _ => exactly(content),
    }
}

/// The same for equal bytes, and for texts that differ in their last line breaks: a block of text
/// ends with one.
fn exactly(bytes: &[u8]) -> Value {
    STANDARD.encode(one_line_break(bytes)).into()
}

pub(super) fn one_line_break(bytes: &[u8]) -> Vec<u8> {
    let end = bytes
        .iter()
        .rposition(|byte| *byte != b'\n')
        .map_or(0, |last| last + 1);
    let mut bytes = bytes[..end].to_vec();
    if end > 0 {
        bytes.push(b'\n');
    }
    bytes
}

/// The node that a plan asks for.
pub(super) fn planned(plan: &NodePlan) -> Value {
    let mut node = Map::new();
    let mut set = |name: &str, value: Value| {
        if value != json!([]) && value != json!({}) {
            node.insert(name.to_owned(), value);
        }
    };
    set("jinja", (plan.templating == Templating::Jinja).into());
    set("write_files", files(plan).into());
    set(
        "bootcmd",
        plan.boot_commands
            .iter()
            .map(|command| Value::from(command.expose().as_str()))
            .collect(),
    );
    set(
        "runcmd",
        run_items(plan)
            .iter()
            .map(|item| Value::from(item.command.as_ref()))
            .collect(),
    );
    if let Some(ntp) = &plan.ntp {
        let servers = ntp.servers.clone().unwrap_or_default();
        set(
            "ntp",
            object([
                ("enabled", ntp.enabled.map(Value::from)),
                ("servers", (!servers.is_empty()).then(|| json!(servers))),
            ]),
        );
    }
    set("users", plan.users.iter().map(user).collect());
    if let Some(setup) = &plan.disk_setup {
        set(
            "disk_setup",
            setup
                .partitions
                .iter()
                .flatten()
                .map(disk)
                .collect::<Map<_, _>>()
                .into(),
        );
        set(
            "fs_setup",
            setup
                .filesystems
                .iter()
                .flatten()
                .map(file_system)
                .collect(),
        );
    }
    set(
        "mounts",
        plan.mounts
            .iter()
            .filter(|mount| !mount.is_empty())
            .map(|mount| json!(mount))
            .collect(),
    );
    node.into()
}

fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect::<Map<_, _>>()
        .into()
}

fn text(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| text.into())
}

fn files(plan: &NodePlan) -> Vec<Value> {
    let of_user = plan.files.iter().map(|file| {
        let content = file.content.expose();
        let content = match file.transfer_encoding {
            Some(TransferEncoding::Base64 | TransferEncoding::GzipBase64) => exactly(content),
            None => on_node(content, file.encoding),
        };
        object([
            ("path", Some(file.path.as_str().into())),
            ("owner", text(&file.owner)),
            ("permissions", text(&file.permissions)),
            ("append", file.append.map(Value::from)),
            ("content", Some(content)),
        ])
    });
    let own = |path: &str, content: String| json!({"path": path, "owner": "root:root", "permissions": "0640", "content": exactly(content.as_bytes())});
    let kubeadm = match &plan.kubeadm {
        Kubeadm::Init { cluster, init } => {
            format!("---\n{}\n---\n{}", cluster.expose(), init.expose())
        }
        Kubeadm::Join {
            join,
            control_plane: true,
            ..
        } => join.expose().clone(),
        Kubeadm::Join { join, .. } => format!("---\n{}", join.expose()),
    };
    let paths = Paths::on(plan.platform);
    let placeholder = json!({"path": paths.placeholder, "owner": "root:root", "permissions": "0640", "content": STANDARD.encode(format!("{PLACEHOLDER}\n"))});
    of_user
        .chain([
            own(paths.configuration(&plan.kubeadm), kubeadm),
            placeholder,
        ])
        .collect()
}

fn user(user: &PlannedUser) -> Value {
    let keys = (!user.ssh_authorized_keys.is_empty()).then(|| json!(user.ssh_authorized_keys));
    object([
        ("name", Some(user.name.as_str().into())),
        (
            "passwd",
            text(std::str::from_utf8(user.passwd.expose()).unwrap()),
        ),
        ("gecos", text(&user.gecos)),
        ("groups", text(&user.groups)),
        ("homedir", text(&user.home_dir)),
        // cloud-init takes the number of days until the account is disabled.
        (
            "inactive",
            user.inactive
                .filter(|inactive| *inactive)
                .map(|_| "0".into()),
        ),
        ("lock_passwd", user.lock_password.map(Value::from)),
        ("shell", text(&user.shell)),
        ("primary_group", text(&user.primary_group)),
        ("sudo", text(&user.sudo)),
        ("ssh_authorized_keys", keys),
    ])
}

fn disk(partition: &windlass_capi::api::v1beta2::Partition) -> (String, Value) {
    let layout = partition.disk_layout.as_ref().map_or_else(
        || partition.layout.map(Value::from),
        |parts| {
            Some(
                parts
                    .iter()
                    .map(|part| part_of(part.percentage, part.partition_type.as_deref()))
                    .collect(),
            )
        },
    );
    let fields = [
        (
            "table_type",
            partition.table_type.map(|table| table.as_str().into()),
        ),
        ("layout", layout),
        ("overwrite", partition.overwrite.map(Value::from)),
    ];
    (partition.device.clone(), object(fields))
}

/// A part of a disk; types as PyYAML reads their codes.
fn part_of(percentage: i32, kind: Option<&str>) -> Value {
    let code = match kind {
        None => return percentage.into(),
        Some("Linux") => 83.into(),
        Some("LinuxSwap") => 82.into(),
        Some("LinuxRAID") => "fd".into(),
        Some("LVM") => "8e".into(),
        Some("Fat32") => "0c".into(),
        Some("NTFS") => 7.into(),
        Some("LinuxExtended") => 85.into(),
        Some(guid) => Value::from(guid),
    };
    json!([percentage, code])
}

fn file_system(system: &windlass_capi::api::v1beta2::Filesystem) -> Value {
    let optional = |field: &Option<String>| text(field.as_deref().unwrap_or_default());
    let options = system.extra_opts.clone().unwrap_or_default();
    object([
        ("label", optional(&system.label)),
        ("filesystem", Some(system.filesystem.as_str().into())),
        ("device", Some(system.device.as_str().into())),
        ("partition", optional(&system.partition).map(as_number)),
        ("overwrite", system.overwrite.map(Value::from)),
        ("replace_fs", optional(&system.replace_fs)),
        ("extra_opts", (!options.is_empty()).then(|| json!(options))),
    ])
}

/// The number that a text is to every reader of YAML: cloud-init takes numbers of partitions as
/// numbers alone.
fn as_number(text: Value) -> Value {
    let number = text.as_str().and_then(|text| {
        text.parse::<u32>()
            .ok()
            .filter(|number| number.to_string() == text)
    });
    number.map_or(text, Value::from)
}

/// A secret text.
pub(super) fn secret(text: String) -> Sensitive<String> {
    Sensitive::new(text)
}
