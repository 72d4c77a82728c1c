//! What the node runs after its files are written, item by item.

use std::borrow::Cow;

use super::{Paths, retry_join};
use crate::render::plan::node_plan::{Kubeadm, NodePlan, PlannedDirectory};
use crate::render::write::failure;
use windlass_capi::api::boot::{OnFailure, Platform};
use windlass_capi::api::secret::Sensitive;
use windlass_source::diag::FieldPath;

/// The part of the boot that a command belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// What watches over the rest.
    OnFailure,
    /// Directories.
    Directories,
    /// The user's commands before kubeadm.
    PreKubeadm,
    /// kubeadm itself.
    Kubeadm,
    /// The user's commands after kubeadm.
    PostKubeadm,
}

impl Phase {
    /// The name in reports and in JSON, kebab-case.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::OnFailure => "on-failure",
            Phase::Directories => "directories",
            Phase::PreKubeadm => "pre-kubeadm",
            Phase::Kubeadm => "kubeadm",
            Phase::PostKubeadm => "post-kubeadm",
        }
    }
}

/// An item of `runcmd`. All items run in one script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunItem<'a> {
    /// What for.
    pub phase: Phase,
    /// Lines of shell, or of `cmd.exe`. May be secret.
    pub command: Cow<'a, str>,
    /// The item of a list of the spec that it comes from.
    pub source: Option<(&'static str, usize)>,
}

impl RunItem<'_> {
    /// The field that it comes from, below the spec.
    pub fn origin(&self, spec_path: &FieldPath) -> Option<FieldPath> {
        self.source
            .map(|(list, index)| spec_path.field(list).index(index))
    }
}

/// All items of `runcmd`, in the order in which they run.
pub fn run_items(plan: &NodePlan) -> Vec<RunItem<'_>> {
    let count = plan.directories.len()
        + plan.pre_kubeadm_commands.len()
        + plan.post_kubeadm_commands.len()
        + 1;
    let mut run = Run {
        on_failure: plan.on_failure,
        items: Vec::with_capacity(count),
    };
    run.watch(failure::prologue(plan.on_failure).map(Cow::Owned));
    for (index, directory) in plan.directories.iter().enumerate() {
        run.step(
            Phase::Directories,
            ("directories", index),
            make_directory(directory, plan.platform).into(),
        );
    }
    run.commands(
        Phase::PreKubeadm,
        "preKubeadmCommands",
        &plan.pre_kubeadm_commands,
    );
    run.kubeadm(plan);
    run.commands(
        Phase::PostKubeadm,
        "postKubeadmCommands",
        &plan.post_kubeadm_commands,
    );
    run.watch(failure::epilogue(plan.on_failure).map(Cow::Borrowed));
    run.items
}

/// The items so far.
struct Run<'a> {
    on_failure: OnFailure,
    items: Vec<RunItem<'a>>,
}

impl<'a> Run<'a> {
    fn add(&mut self, phase: Phase, source: Option<(&'static str, usize)>, command: Cow<'a, str>) {
        self.items.push(RunItem {
            phase,
            command,
            source,
        });
    }

    /// A line of what watches, when something does.
    fn watch(&mut self, command: Option<Cow<'a, str>>) {
        if let Some(command) = command {
            self.add(Phase::OnFailure, None, command);
        }
    }

    fn announce(&mut self, name: impl FnOnce() -> String) {
        if self.on_failure != OnFailure::Continue {
            self.watch(Some(failure::step(&name()).into()));
        }
    }

    fn step(&mut self, phase: Phase, (list, index): (&'static str, usize), command: Cow<'a, str>) {
        self.announce(|| format!("{list}[{index}]"));
        self.add(phase, Some((list, index)), command);
        if self.on_failure == OnFailure::Report {
            self.watch(Some(failure::DONE.into()));
        }
    }

    fn commands(&mut self, phase: Phase, list: &'static str, commands: &'a [Sensitive<String>]) {
        for (index, command) in commands.iter().enumerate() {
            self.step(phase, (list, index), command.expose().into());
        }
    }

    fn kubeadm(&mut self, plan: &NodePlan) {
        self.announce(|| format!("kubeadm {}", verb(&plan.kubeadm)));
        let command = kubeadm_command(plan);
        self.add(
            Phase::Kubeadm,
            None,
            failure::guarded(self.on_failure, &command).into(),
        );
    }
}

fn verb(kubeadm: &Kubeadm) -> &'static str {
    match kubeadm {
        Kubeadm::Init { .. } => "init",
        Kubeadm::Join { .. } => "join",
    }
}

/// The command that runs kubeadm; without verbosity two blanks remain.
fn kubeadm_command(plan: &NodePlan) -> String {
    let paths = Paths::on(plan.platform);
    let sentinel = paths.sentinel;
    if matches!(plan.kubeadm, Kubeadm::Join { retry: Some(_), .. }) {
        return format!("{} && echo success > {sentinel}", retry_join::PATH);
    }
    let (verb, file, verbosity) = (
        verb(&plan.kubeadm),
        paths.configuration(&plan.kubeadm),
        verbosity_flag(plan.verbosity),
    );
    format!("kubeadm {verb} --config {file} {verbosity} && echo success > {sentinel}")
}

/// kubeadm's flag, `""` for none.
pub(super) fn verbosity_flag(verbosity: Option<i32>) -> String {
    verbosity
        .map(|level| format!("--v {level}"))
        .unwrap_or_default()
}

/// The command that makes a directory with owner and permissions; missing parents are made too.
fn make_directory(directory: &PlannedDirectory, platform: Platform) -> String {
    let PlannedDirectory {
        path,
        owner,
        permissions,
        origin: _,
    } = directory;
    match platform {
        Platform::Linux => {
            let path = shell_quoted(path);
            let is_bare = owner
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte));
            let owner = if is_bare {
                owner.clone()
            } else {
                shell_quoted(owner)
            };
            format!("mkdir -p {path}\nchmod {permissions} {path}\nchown {owner} {path}")
        }
        Platform::Windows => format!("if not exist \"{path}\" mkdir \"{path}\""),
    }
}

/// A word of the shell that means itself.
fn shell_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        let directory = PlannedDirectory {
            path: "/it's".into(),
            owner: "a;b".into(),
            permissions: "0750".into(),
            origin: None,
        };
        let expected = "mkdir -p '/it'\\''s'\nchmod 0750 '/it'\\''s'\nchown 'a;b' '/it'\\''s'";
        assert_eq!(make_directory(&directory, Platform::Linux), expected);
    }
}
