//! What a node gets, whatever the format: the encoders take it apart without `..`, so that a new
//! field breaks each that has not decided.

use windlass_capi::api::boot::{Compression, OnFailure, Platform, Templating};
use windlass_capi::api::files::TransferEncoding;
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::v1beta2::{DiskSetup, Ntp};
use windlass_source::diag::FieldPath;

/// Everything that a node does and gets when it boots.
#[derive(Debug, Clone, PartialEq)]
pub struct NodePlan {
    /// Files that come before those of kubeadm: certificates, the user's, the discovery
    /// kubeconfig.
    pub files: Vec<PlannedFile>,
    /// The kubeadm run.
    pub kubeadm: Kubeadm,
    /// Verbosity of kubeadm's log.
    pub verbosity: Option<i32>,
    /// Commands early in every boot.
    pub boot_commands: Vec<Sensitive<String>>,
    /// Commands before kubeadm.
    pub pre_kubeadm_commands: Vec<Sensitive<String>>,
    /// Commands after kubeadm.
    pub post_kubeadm_commands: Vec<Sensitive<String>>,
    /// Users.
    pub users: Vec<PlannedUser>,
    /// Time synchronisation.
    pub ntp: Option<Ntp>,
    /// Partitions and file systems.
    pub disk_setup: Option<DiskSetup>,
    /// Mounts.
    pub mounts: Vec<Vec<String>>,
    /// Directories, made before the commands in this order.
    pub directories: Vec<PlannedDirectory>,
    /// The operating system that reads the data.
    pub platform: Platform,
    /// What happens when a step fails.
    pub on_failure: OnFailure,
    /// Whether cloud-init takes the document for a jinja template.
    pub templating: Templating,
    /// How the data as a whole is compressed.
    pub compression: Compression,
}

/// A file on the node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlannedFile {
    /// Where it is.
    pub path: String,
    /// `user:group`; empty: not said.
    pub owner: String,
    /// Octal digits; empty: not said.
    pub permissions: String,
    /// How the content is encoded already; empty: it is not.
    pub encoding: &'static str,
    /// Whether the content is appended.
    pub append: Option<bool>,
    /// How the content is encoded for the way to the node; `None`: as the format needs it.
    pub transfer_encoding: Option<TransferEncoding>,
    /// The content, before `transfer_encoding`.
    pub content: Sensitive<Vec<u8>>,
    /// The field of the config that it comes from.
    pub origin: Option<FieldPath>,
}

/// A directory on the node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlannedDirectory {
    /// Where it is.
    pub path: String,
    /// `user` or `user:group`.
    pub owner: String,
    /// Octal digits.
    pub permissions: String,
    /// The field of the config that it comes from.
    pub origin: Option<FieldPath>,
}

/// A user of the node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlannedUser {
    /// Login name.
    pub name: String,
    /// The hash of the password; empty: none.
    pub passwd: Sensitive<Vec<u8>>,
    /// Whether an empty password is written, too (CAPI v1.10: one from a Secret).
    pub writes_empty_passwd: bool,
    /// Real name or comment; empty: none, as in all the texts that follow.
    pub gecos: String,
    /// Further groups.
    pub groups: String,
    /// Home directory.
    pub home_dir: String,
    /// Whether the account is inactive.
    pub inactive: Option<bool>,
    /// Whether login with the password is disabled.
    pub lock_password: Option<bool>,
    /// Login shell.
    pub shell: String,
    /// Primary group.
    pub primary_group: String,
    /// Rule for sudo.
    pub sudo: String,
    /// Public keys.
    pub ssh_authorized_keys: Vec<String>,
}

/// The kubeadm run with its documents, as text without a line `---`.
#[derive(Debug, Clone, PartialEq)]
pub enum Kubeadm {
    /// `kubeadm init`.
    Init {
        /// ClusterConfiguration.
        cluster: Sensitive<String>,
        /// InitConfiguration.
        init: Sensitive<String>,
    },
    /// `kubeadm join`.
    Join {
        /// JoinConfiguration.
        join: Sensitive<String>,
        /// Whether the node becomes part of the control plane.
        control_plane: bool,
        /// Whether kubeadm runs in a script of CAPI v1.10 that tries again, in cloud-config, and
        /// in which.
        retry: Option<RetryJoin>,
    },
}

/// The scripts of CAPI v1.10 that try again to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryJoin {
    /// With kubeadm's phases before Kubernetes 1.31.
    BeforeKubernetes131,
    /// With kubeadm's phases from Kubernetes 1.31 on.
    FromKubernetes131,
}
