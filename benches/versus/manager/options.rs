//! How much is measured, of whom, and under which limits.

use super::side::Side;

/// The arguments behind the name of the row.
#[derive(Debug, Clone)]
pub(super) struct Options {
    /// Machines in all.
    pub(super) machines: Option<usize>,
    pub(super) clusters: Option<usize>,
    pub(super) runs: usize,
    pub(super) limits: Limits,
    /// Who is measured.
    pub(super) sides: Vec<Side>,
    /// More flags for our manager.
    pub(super) flags: Vec<String>,
}

/// Limits of the clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limits {
    /// What each program has without flags.
    Default,
    /// So high that they limit nothing, with a hundred workers each.
    Raised,
}

impl Limits {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Limits::Default => "default limits",
            Limits::Raised => "limits raised to 2,000 requests a second, 100 workers",
        }
    }
}

impl Options {
    pub(super) fn parse(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options {
            machines: None,
            clusters: None,
            runs: 1,
            limits: Limits::Default,
            sides: Side::ALL.to_vec(),
            flags: Vec::new(),
        };
        for argument in arguments {
            let unknown = || {
                format!(
                    "{argument}: known are --machines=N, --clusters=N, --runs=N, --limits=default|raised, --only=windlass|kubeadm, --flag=FLAG"
                )
            };
            let (name, value) = argument.split_once('=').ok_or_else(unknown)?;
            let number = || {
                value
                    .parse()
                    .ok()
                    .filter(|number: &usize| *number > 0)
                    .ok_or_else(unknown)
            };
            match (name, value) {
                ("--machines", _) => options.machines = Some(number()?),
                ("--clusters", _) => options.clusters = Some(number()?),
                ("--runs", _) => options.runs = number()?,
                ("--limits", "default") => options.limits = Limits::Default,
                ("--limits", "raised") => options.limits = Limits::Raised,
                ("--only", "windlass") => options.sides = vec![Side::Windlass],
                ("--only", "kubeadm") => options.sides = vec![Side::Kubeadm],
                ("--flag", flag) => options.flags.push(flag.to_owned()),
                _ => return Err(unknown()),
            }
        }
        Ok(options)
    }
}
