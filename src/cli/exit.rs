//! How a verb ends: an exit code, or why it could not do its work.

use crate::io::WorldError;
use windlass_source::Source;
use windlass_source::diag::Report;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: no error finding.
    Clean,
    /// 1: an error finding, a denied one, a difference with `--check`, or what clusterctl ends with
    /// 1.
    Findings,
    /// 2: a flag, a permission, a file named on the command line that is missing.
    World,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::World => 2,
        }
    }

    /// 1 when a verdict fails, else 0.
    pub fn failing(fails: bool) -> Self {
        if fails { Exit::Findings } else { Exit::Clean }
    }
}

/// Why a verb could not do its work, when the reason is nobody's document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A usage or I/O error: exit 2.
    World(WorldError),
    /// The command line is wrong in a way that only the verb sees: exit 2.
    Usage {
        /// What is wrong.
        message: String,
        /// What to type.
        help: String,
    },
    /// The settings of the project are faulty, so that nothing can be checked by them: exit 1.
    Settings {
        /// What is wrong.
        report: Report,
        /// The settings.
        source: Source,
    },
    /// clusterctl's verbs: clusterctl's sentence after `Error: `, exit 1.
    Clusterctl(String),
    /// The same for a wrong number of operands, where clusterctl also prints the help to standard
    /// output.
    ClusterctlUsage(String),
}

impl Failure {
    /// A wrong command line.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Failure::Usage {
            message: message.into(),
            help: help.into(),
        }
    }
}

impl From<WorldError> for Failure {
    fn from(error: WorldError) -> Self {
        Failure::World(error)
    }
}
