//! What a machine does, step by step.

use windlass_capi::api::secret::Sensitive;

/// A document of bootstrap data, and what it has the machine do.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The name that findings show.
    pub name: String,
    /// Whose it is: an index into the machines.
    pub machine: usize,
    /// What it was packed in, from the outside.
    pub packing: Vec<String>,
    /// Its size, unpacked.
    pub bytes: usize,
    /// The format, which decides how the steps are read.
    pub form: Form,
    /// Whether cloud-init takes it for a template.
    pub has_jinja: bool,
    /// The keys of a cloud-config, with their places in bytes.
    pub(crate) keys: Vec<(String, usize)>,
    /// Whether it says how its keys are merged with those of documents before it.
    pub(crate) merges: bool,
    /// The users that it creates.
    pub(crate) users: Vec<String>,
    /// The groups that it creates.
    pub(crate) groups: Vec<String>,
    /// The steps, in the order in which the machine takes them.
    pub steps: Vec<Step>,
}

impl Document {
    /// A document of which nothing but its text is known.
    pub(super) fn of(name: &str, text: &str) -> Self {
        Document {
            name: name.to_owned(),
            machine: 0,
            packing: Vec::new(),
            bytes: text.len(),
            form: Form::Other,
            has_jinja: false,
            keys: Vec::new(),
            merges: false,
            users: Vec::new(),
            groups: Vec::new(),
            steps: Vec::new(),
        }
    }
}

/// The format of a document of bootstrap data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// cloud-config, for cloud-init and cloudbase-init.
    CloudConfig,
    /// Ignition, with the text of `ignition.version`; empty when there is none.
    Ignition(String),
    /// A script that cloud-init runs at the end of the boot.
    Script,
    /// A script that cloud-init runs at the start of each boot.
    Boothook,
    /// Addresses of further documents.
    Include,
    /// Something that was not taken apart.
    Other,
}

impl Form {
    /// Returns the name in reports, such as `Ignition 3.4.0`.
    pub fn words(&self) -> String {
        match self {
            Form::CloudConfig => "cloud-config".to_owned(),
            Form::Ignition(version) => format!("Ignition {version}"),
            Form::Script => "shell script".to_owned(),
            Form::Boothook => "boothook".to_owned(),
            Form::Include => "include".to_owned(),
            Form::Other => "unknown".to_owned(),
        }
    }
}

/// A single action of the machine during its boot, and what follows when it fails.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The stage: `init`, `network`, `config` or `final` of cloud-init; `fetch`, `disks` or
    /// `files` of Ignition; `boot` for commands of systemd units.
    pub stage: &'static str,
    /// Who takes it: a cloud-init module or a section of Ignition, with the index of its item.
    pub by: String,
    /// The action on the node; may hold secrets.
    pub action: Action,
    /// The consequence of a failure, or the reason why the step never runs.
    pub failure: Failure,
    /// Of commands that run in one script: the first of its lines in there, from 1, and how many
    /// there are.
    pub(crate) lines: Option<(usize, usize)>,
    /// Location in the document, in bytes.
    pub(crate) at: usize,
    /// Of a command that writes the sentinel file: whether only when something before it
    /// succeeded.
    pub(crate) sentinel: Option<bool>,
}

impl Step {
    pub(crate) fn runs(&self) -> bool {
        !matches!(self.failure, Failure::NeverRuns(_))
    }
}

/// The action of a step on the node.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Writes a file, with its content, owner and permissions.
    File(FileOnNode),
    /// Runs a command or a script; its text may hold secrets.
    Command(Sensitive<String>),
    /// Something else, in our words.
    Other(String),
}

/// A file that a step writes on the node.
#[derive(Debug, Clone, PartialEq)]
pub struct FileOnNode {
    /// The path on the node, as the document has it.
    pub path: String,
    /// `user:group`; empty: not said.
    pub owner: String,
    /// The permissions as the document has them; empty: not said.
    pub mode: String,
    /// Whether the permissions stand without quotes, so that YAML may read a number.
    pub(crate) is_mode_plain: bool,
    /// Whether it is added to what is there.
    pub append: bool,
    /// Whether cloud-init writes it in its last stage, after it created users.
    pub(crate) is_deferred: bool,
    /// What the node gets; `None` when it is not in the data.
    pub content: Option<Sensitive<Vec<u8>>>,
}

/// What follows when a step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// cloud-init or the script continues with the next step.
    GoesOn,
    /// The next step; it is the last of its script, and cloud-init tells its exit code.
    Reported,
    /// The script ends, and with it all that follows in it.
    EndsScript,
    /// Nothing: the command itself says that it succeeded.
    Swallowed(&'static str),
    /// Ignition fails, and the machine does not boot.
    StopsBoot,
    /// The rest of the cloud-init module is skipped, and the next module runs.
    EndsModule(&'static str),
    /// cloud-init processes no user data at all.
    LosesData,
    /// What systemd makes of it.
    OfUnit,
    /// Nothing: the step is never taken, for this reason.
    NeverRuns(&'static str),
}

impl Failure {
    /// The identifier in reports, such as `goes-on`.
    pub fn as_str(self) -> &'static str {
        match self {
            Failure::GoesOn => "goes-on",
            Failure::Reported => "reported",
            Failure::EndsScript => "ends-script",
            Failure::Swallowed(_) => "swallowed",
            Failure::StopsBoot => "stops-boot",
            Failure::EndsModule(_) => "ends-module",
            Failure::LosesData => "loses-data",
            Failure::OfUnit => "of-unit",
            Failure::NeverRuns(_) => "never-runs",
        }
    }

    /// Returns the consequence as a clause, such as `the next step runs`.
    pub fn words(self) -> String {
        match self {
            Failure::GoesOn => "the next step runs".to_owned(),
            Failure::Reported => "cloud-init reports it".to_owned(),
            Failure::EndsScript => "the script ends".to_owned(),
            Failure::Swallowed(how) => format!("it is ignored: {how}"),
            Failure::StopsBoot => "the boot stops".to_owned(),
            Failure::EndsModule(module) => format!("the rest of {module} is skipped"),
            Failure::LosesData => "cloud-init ignores all user data".to_owned(),
            Failure::OfUnit => "systemd reports it".to_owned(),
            Failure::NeverRuns(why) => format!("it never runs: {why}"),
        }
    }
}

/// The file by which Cluster API knows that a machine came up (book: "Bootstrap provider: sentinel
/// file").
pub(crate) const SENTINEL: &str = "bootstrap-success.complete";
