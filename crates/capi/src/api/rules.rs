//! The rules of the schema in the Common Expression Language, in one place: both versions carry the
//! same ones, and the webhooks use the same messages. The API server evaluates them; `fieldPath`
//! and `reason` need Kubernetes 1.28 there.

use kube::core::{Reason, Rule};

/// A rule of the schema. The expression and the message are API: tests hold them to the letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CelRule {
    /// Where the error is reported, relative to the value that carries the rule; that value itself
    /// when absent.
    pub(crate) field_path: Option<&'static str>,
    /// The expression; `self` is the value that carries the rule.
    pub(crate) rule: &'static str,
    /// What the user reads when the expression is false.
    pub(crate) message: &'static str,
}

impl From<CelRule> for Rule {
    fn from(rule: CelRule) -> Rule {
        let plain = Rule::new(rule.rule).message(rule.message);
        match rule.field_path {
            Some(path) => plain.field_path(path).reason(Reason::FieldValueForbidden),
            None => plain,
        }
    }
}

const fn plain(rule: &'static str, message: &'static str) -> CelRule {
    CelRule {
        field_path: None,
        rule,
        message,
    }
}

const fn forbidden(field_path: &'static str, rule: &'static str, message: &'static str) -> CelRule {
    CelRule {
        field_path: Some(field_path),
        rule,
        message,
    }
}

/// Prefixes an expression with "or the platform is not Windows".
macro_rules! on_windows {
    ($rule:literal) => {
        concat!(
            "!has(self.platform) || self.platform != 'windows' || ",
            $rule
        )
    };
}

const NOT_WITH_IGNITION: &str = "not supported when spec.format is set to: \"ignition\"";
const NOT_ON_WINDOWS: &str = "not supported when spec.platform is set to: \"windows\"";

// Upstream's.

/// On every `extraArgs`.
pub(crate) const UNIQUE_EXTRA_ARGS: CelRule = plain(
    "self.all(x, self.exists_one(y, x.name == y.name))",
    "extraArgs name must be unique",
);

/// On every `kubeletExtraArgs`.
pub(crate) const UNIQUE_KUBELET_EXTRA_ARGS: CelRule = plain(
    "self.all(x, self.exists_one(y, x.name == y.name))",
    "kubeletExtraArgs name must be unique",
);

/// On `spec.diskSetup.partitions[]`, v1beta2 only.
pub(crate) const LAYOUT_OR_DISK_LAYOUT: CelRule = plain(
    "[has(self.layout),has(self.diskLayout)].filter(x,x==true).size() == 1",
    "exactly one of the fields in [layout diskLayout] must be set",
);

/// On `spec.diskSetup.partitions[].diskLayout[].partitionType`.
pub(crate) const PARTITION_TYPE: CelRule = plain(
    concat!(
        "self.matches('^(Linux|LinuxSwap|LinuxRAID|LVM|Fat32|NTFS|LinuxExtended|",
        "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$')"
    ),
    "partitionType must be one of Linux, LinuxSwap, LinuxRAID, LVM, Fat32, NTFS, LinuxExtended or a full GPT partition GUID",
);

// Of the additions, on `spec`.

/// `cloudConfig` is for cloud-config.
pub(crate) const CLOUD_CONFIG: CelRule = forbidden(
    ".cloudConfig",
    "!has(self.cloudConfig) || !has(self.format) || self.format == 'cloud-config'",
    NOT_WITH_IGNITION,
);

/// Ignition 2.3 cannot read compressed data.
pub(crate) const COMPRESSION: CelRule = forbidden(
    ".compression",
    concat!(
        "!has(self.compression) || self.compression == 'none' || !has(self.format) || self.format != 'ignition' || ",
        "(has(self.ignition) && has(self.ignition.version) && self.ignition.version != '2.3')"
    ),
    "gzip needs spec.ignition.version \"3.4\" when spec.format is set to: \"ignition\"",
);

/// Windows reads no Ignition.
pub(crate) const WINDOWS_FORMAT: CelRule = forbidden(
    ".format",
    on_windows!("!has(self.format) || self.format != 'ignition'"),
    "ignition is not supported when spec.platform is set to: \"windows\"",
);

/// cloudbase-init has no boot commands.
pub(crate) const WINDOWS_BOOT_COMMANDS: CelRule = forbidden(
    ".bootCommands",
    on_windows!("!has(self.bootCommands)"),
    NOT_ON_WINDOWS,
);

/// cloudbase-init sets up no disks.
pub(crate) const WINDOWS_DISK_SETUP: CelRule = forbidden(
    ".diskSetup",
    on_windows!("!has(self.diskSetup)"),
    NOT_ON_WINDOWS,
);

/// cloudbase-init mounts nothing.
pub(crate) const WINDOWS_MOUNTS: CelRule =
    forbidden(".mounts", on_windows!("!has(self.mounts)"), NOT_ON_WINDOWS);

/// There is no control plane on Windows.
pub(crate) const WINDOWS_CLUSTER_CONFIGURATION: CelRule = forbidden(
    ".clusterConfiguration",
    on_windows!("!has(self.clusterConfiguration)"),
    NOT_ON_WINDOWS,
);

/// There is no control plane on Windows.
pub(crate) const WINDOWS_INIT_CONFIGURATION: CelRule = forbidden(
    ".initConfiguration",
    on_windows!("!has(self.initConfiguration)"),
    NOT_ON_WINDOWS,
);

/// There is no control plane on Windows.
pub(crate) const WINDOWS_CONTROL_PLANE: CelRule = forbidden(
    ".joinConfiguration.controlPlane",
    on_windows!("!has(self.joinConfiguration) || !has(self.joinConfiguration.controlPlane)"),
    NOT_ON_WINDOWS,
);

/// Owners and modes mean nothing on Windows.
pub(crate) const WINDOWS_DIRECTORIES: CelRule = forbidden(
    ".directories",
    on_windows!(
        "!has(self.directories) || self.directories.all(d, !has(d.owner) && !has(d.permissions))"
    ),
    "owner and permissions are not supported when spec.platform is set to: \"windows\"",
);

/// No Windows machine has run what reports a failed step, so only
/// [`crate::api::boot::OnFailure::Continue`] is taken there.
pub(crate) const WINDOWS_ON_FAILURE: CelRule = forbidden(
    ".onFailure",
    on_windows!("!has(self.onFailure) || self.onFailure == 'Continue'"),
    "only Continue is supported when spec.platform is set to: \"windows\"",
);

// Of the additions, further down.

/// On `spec.ignition`: Container Linux Config is for 2.3.
pub(crate) const CONTAINER_LINUX_CONFIG: CelRule = forbidden(
    ".containerLinuxConfig",
    "!has(self.containerLinuxConfig) || !has(self.version) || self.version == '2.3'",
    "can be set only with spec.ignition.version \"2.3\"",
);

/// On `spec.ignition`: Ignition JSON is merged by 3.4.
pub(crate) const ADDITIONAL_CONFIG: CelRule = forbidden(
    ".additionalConfig",
    "!has(self.additionalConfig) || (has(self.version) && self.version != '2.3')",
    "can be set only with spec.ignition.version \"3.4\"",
);

/// On `spec.files[]`.
pub(crate) const TRANSFER_ENCODING: CelRule = forbidden(
    ".transferEncoding",
    "!has(self.encoding) || !has(self.transferEncoding)",
    "only one of encoding or transferEncoding may be set",
);

/// On `spec.files[].contentFrom`.
pub(crate) const ONE_FILE_SOURCE: CelRule = plain(
    "[has(self.secret),has(self.configMap)].filter(x,x==true).size() == 1",
    "exactly one of the fields in [secret configMap] must be set",
);

/// On `spec.directories[].path`.
pub(crate) const ABSOLUTE_PATH: CelRule = plain(
    r"self.matches('^(/|[A-Za-z]:[/\\\\])')",
    "path must be absolute",
);
