//! One thing that a node has.

use windlass_bootstrap::render::input::filling::Filling;
use windlass_capi::api::secret::Sensitive;
use windlass_source::diag::FieldPath;

/// The kind of a thing on a node, as in `KIND:NAME` on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A file, by its path.
    File,
    /// A directory, by its path.
    Directory,
    /// A command, by its text.
    Command,
    /// A user, by the login name.
    User,
    /// A label of the Node, by its key.
    Label,
    /// A taint of the Node, by its key.
    Taint,
    /// An argument of the kubelet or a component, by its name.
    Argument,
    /// A field of kubeadm's configuration, by its path.
    Field,
}

impl Kind {
    /// All kinds, in the order of reports.
    pub const ALL: [Kind; 8] = [
        Kind::File,
        Kind::Directory,
        Kind::Command,
        Kind::User,
        Kind::Label,
        Kind::Taint,
        Kind::Argument,
        Kind::Field,
    ];

    /// The word of reports, and of what is asked for.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::File => "file",
            Kind::Directory => "directory",
            Kind::Command => "command",
            Kind::User => "user",
            Kind::Label => "label",
            Kind::Taint => "taint",
            Kind::Argument => "argument",
            Kind::Field => "field",
        }
    }
}

/// Who puts a thing onto the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Config(FieldPath),
    /// A label of what makes the machine, which Cluster API copies to the Node.
    Owner(FieldPath),
    Filled(Filling),
}

/// A file, command, user, label or other thing that a node has.
#[derive(Debug, Clone, PartialEq)]
pub struct Thing {
    /// The kind, which decides how a name is matched.
    pub kind: Kind,
    /// By what it is asked for.
    pub name: String,
    /// What it holds: a value, or how a file is written; a command has its text as name and its
    /// phase here. May be secret.
    pub value: Sensitive<String>,
    /// The origin: a field of the config or of its owner, or a value that the rendering fills in.
    pub source: Source,
}

impl Thing {
    pub(super) fn new(
        kind: Kind,
        name: impl Into<String>,
        value: impl Into<String>,
        source: Source,
    ) -> Self {
        Thing {
            kind,
            name: name.into(),
            value: Sensitive::new(value.into()),
            source,
        }
    }
}
