//! The steps of a machine by what lines of its log name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::compiled;
use super::line::Line;
use crate::inspect::files;
use crate::inspect::order::MODULES;
use crate::inspect::step::{Action, Document, Form, Step};
use windlass_shell as shell;

/// A shell's complaint about a line of a script: `…/scripts/runcmd: 2: a: not found`, `…: line 2:
/// …`.
static SCRIPT_LINE: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"scripts/(runcmd|bootcmd)(?:\.sh)?: (?:line )?(\d+): "));
/// A module of cloud-init that is named in a warning.
static MODULE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?:Running module |cc_)([a-z]+(?:[_-][a-z]+)*)(?:\.py| \(|\b).*(?:[Ff]ail|WARNING|ERROR)",
    )
});
static PHASE: LazyLock<Regex> = LazyLock::new(|| compiled(r"^error execution phase [\w/-]+"));
/// A check of kubeadm.
static CHECK: LazyLock<Regex> = LazyLock::new(|| compiled(r"^\[(?:ERROR|WARNING) [\w.-]+\]:"));
/// What a WindlassConfig's `onFailure` has the machine say of its commands.
static ANNOUNCED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"windlass: (?:bootstrap failed at )?(\w+(?:\[\d+\]| init| join)?)(?: started| returned|, exit code)",
    )
});
/// The user or group of a failed lookup (cloud-init, `util.chownbyname`; Ignition).
static ACCOUNT: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r#"(?:name not found: '?|(?:user|group) "|unknown user |unknown group )([\w.-]+)"#)
});
/// A part of the data as cloud-init calls it (`user_data.py`, `PART_FN_TPL`).
static PART: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?:scripts|boothooks)/(part-\d{3})\b"));
/// A program that is not there, or that reports an error under its own name.
static PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?:^|[:\s])([\w.+-]+): (?:(?:command )?not found$|\(\d+\) )|^(?:Job for|Failed to (?:re)?start|Unit|Failed to enable unit: Unit(?: file)?) ([\w@.-]+?)(?:\.service)?(?:[ :.]|$)|^([\w@.-]+)\.service: (?:Main process|Failed|Start request)",
    )
});

#[derive(Debug, Default)]
pub(super) struct Index {
    /// The list and the line of its script.
    script_lines: BTreeMap<(String, usize), usize>,
    /// The step behind the command that announces it.
    announced: BTreeMap<String, usize>,
    /// The first step of each module of cloud-init.
    modules: BTreeMap<&'static str, usize>,
    /// The first file of each owner.
    owners: BTreeMap<String, usize>,
    /// The first step of each script part of a MIME message, by cloud-init's name (`part-001`).
    parts: BTreeMap<String, usize>,
    /// The addresses of data that is fetched.
    addresses: Vec<(String, usize)>,
    /// Names in commands; nothing where several steps have one.
    names: BTreeMap<String, Option<usize>>,
    /// The step that runs kubeadm.
    kubeadm: Option<usize>,
}

impl Index {
    pub(super) fn of(documents: &[Document]) -> Self {
        let mut index = Index::default();
        let accounts = files::Accounts::of(documents);
        let (mut at, mut parts) = (0, 0);
        for document in documents {
            // Of a module that fails, the entry whose owner may be missing is the likely one.
            let suspect = files::check(document, &accounts)
                .find(|(_, finding)| files::is_of_owner(finding))
                .map(|(step, _)| step);
            // cloud-init replaces an include part by what it fetches.
            parts += usize::from(document.form != Form::Include);
            for step in &document.steps {
                if step.runs() {
                    index.add(at, step);
                    if suspect.is_some_and(|suspect| std::ptr::eq(suspect, step)) {
                        index.modules.insert("write_files", at);
                    }
                    if matches!(document.form, Form::Script | Form::Boothook) {
                        index.parts.entry(format!("part-{parts:03}")).or_insert(at);
                    }
                }
                at += 1;
            }
        }
        index
    }

    fn add(&mut self, at: usize, step: &Step) {
        let key = step.by.split(['[', ',']).next().unwrap_or_default();
        if let Some(module) = MODULES.iter().find(|module| module.keys.contains(&key)) {
            self.modules.entry(module.name).or_insert(at);
        }
        if let Some((first, count)) = step.lines.filter(|_| key == "runcmd" || key == "bootcmd") {
            for line in first..first + count {
                self.script_lines
                    .entry((key.to_owned(), line))
                    .or_insert(at);
            }
        }
        match &step.action {
            Action::Command(command) => self.add_command(at, command.expose()),
            Action::File(file) => {
                for name in file.owner.split(':').map(str::trim) {
                    self.owners.entry(name.to_owned()).or_insert(at);
                }
            }
            Action::Other(address) if matches!(step.stage, "init" | "fetch") => {
                self.addresses.push((address.clone(), at));
            }
            Action::Other(_) => {}
        }
    }

    fn add_command(&mut self, at: usize, command: &str) {
        // The announcement is an item of its own before the command.
        if let Some(name) = command
            .strip_prefix("windlass_step '")
            .and_then(|rest| rest.strip_suffix('\''))
        {
            self.announced.entry(name.to_owned()).or_insert(at + 1);
        }
        if self.kubeadm.is_none()
            && ["kubeadm init", "kubeadm join", "kubeadm-bootstrap-script"]
                .iter()
                .any(|run| command.contains(run))
        {
            self.kubeadm = Some(at);
        }
        for name in shell::read(command)
            .commands
            .iter()
            .flat_map(|command| &command.words)
        {
            let name = name.trim_matches(['"', '\'']);
            let name = name.rsplit('/').next().unwrap_or(name);
            let name = name.strip_suffix(".service").unwrap_or(name);
            self.names
                .entry(name.to_owned())
                .and_modify(|known| *known = known.filter(|known| *known == at))
                .or_insert(Some(at));
        }
    }

    pub(super) fn kubeadm(&self) -> Option<usize> {
        self.kubeadm
    }

    /// The module that a line reports as failed: the lines of its traceback follow.
    pub(super) fn failed_module(&self, line: Line<'_>) -> Option<usize> {
        let found = MODULE.captures(line.message)?;
        let module = found[1].replace('-', "_");
        // All commands are one script, whose failure says nothing of a single one.
        self.modules
            .get(module.as_str())
            .copied()
            .filter(|_| module != "scripts_user")
    }

    /// The first file of the user or group whose lookup a line reports as failed.
    pub(super) fn of_account(&self, message: &str) -> Option<usize> {
        let found = ACCOUNT.captures(message)?;
        self.owners.get(&found[1]).copied()
    }

    /// The step that a line names; `module`: the step of the module that failed before it.
    pub(super) fn step_of(&self, line: Line<'_>, module: Option<usize>) -> Option<usize> {
        let message = line.message;
        if let Some(found) = SCRIPT_LINE.captures(message) {
            return self
                .script_lines
                .get(&(found[1].to_owned(), found[2].parse().ok()?))
                .copied();
        }
        if PHASE.is_match(message) || CHECK.is_match(message) {
            return self.kubeadm;
        }
        if let Some(found) = ANNOUNCED.captures(message) {
            return self.announced.get(&found[1]).copied();
        }
        let of_part = || {
            let found = PART.captures(message)?;
            self.parts.get(&found[1]).copied()
        };
        let of_address = || {
            let is_named = |(address, _): &&(String, usize)| {
                !address.is_empty() && message.contains(address.as_str())
            };
            self.addresses.iter().find(is_named).map(|(_, at)| *at)
        };
        let of_program = || {
            let found = PROGRAM.captures(message)?;
            let name = found.iter().skip(1).flatten().next()?.as_str();
            self.names.get(name).copied().flatten()
        };
        self.of_account(message)
            .or_else(of_part)
            .or_else(of_address)
            .or_else(|| self.failed_module(line))
            .or_else(of_program)
            .or(module.filter(|_| is_exception(message)))
    }
}

/// Whether a line is the last one of a traceback of Python.
fn is_exception(message: &str) -> bool {
    let name = message.split(':').next().unwrap_or_default();
    name.ends_with("Error") && !name.contains(' ')
}
