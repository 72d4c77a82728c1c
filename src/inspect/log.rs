//! A machine's log beside the steps of its data.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::known_errors::{KNOWN_ERRORS, KnownError};
use super::step::{Action, Document, Step};

/// The most characters of a line that are looked at and shown.
const LONGEST: usize = 2000;

/// The most lines that are told.
const MOST: usize = 1000;

static KNOWN: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(KNOWN_ERRORS.iter().map(|known| known.pattern))
        .expect("internal error: the patterns are ours")
});
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
static PHASE: LazyLock<Regex> = LazyLock::new(|| compiled(r"error execution phase ([\w/-]+)"));
/// What a WindlassConfig's `onFailure` has the machine say of its commands.
static ANNOUNCED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"windlass: (?:bootstrap failed at )?(\w+(?:\[\d+\]| init| join)?)(?: started| returned|, exit code)",
    )
});

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("internal error: the pattern is one of ours")
}

/// A line of a log that says something.
#[derive(Debug, Clone)]
pub(crate) struct LogLine {
    /// Its number, from 1.
    pub(crate) line: usize,
    /// The line; may hold secrets.
    pub(crate) text: String,
    /// The step that it speaks of, as an index into the steps of all documents.
    pub(crate) step: Option<usize>,
    pub(crate) known: Option<&'static KnownError>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct LogReading {
    pub(crate) lines: usize,
    /// The lines that speak of a step or are known, in their order; of a known kind only the
    /// first.
    pub(crate) found: Vec<LogLine>,
    /// How many more there are that are not told.
    pub(crate) untold: usize,
}

/// Where steps are found by what lines say of them.
#[derive(Debug, Default)]
struct Index {
    /// The list and the line of its script.
    script_lines: BTreeMap<(String, usize), usize>,
    /// The step behind the command that announces it.
    announced: BTreeMap<String, usize>,
    /// The first step of each module of cloud-init.
    modules: BTreeMap<&'static str, usize>,
    /// The step that runs kubeadm.
    kubeadm: Option<usize>,
}

impl Index {
    fn of(documents: &[Document]) -> Self {
        let mut index = Index::default();
        let steps = documents
            .iter()
            .flat_map(|document| &document.steps)
            .enumerate();
        steps
            .filter(|(_, step)| step.runs())
            .for_each(|(at, step)| index.add(at, step));
        index
    }

    fn add(&mut self, at: usize, step: &Step) {
        let key = step.by.split(['[', ',']).next().unwrap_or_default();
        if let Some(module) = super::order::MODULES
            .iter()
            .find(|module| module.keys.contains(&key))
        {
            self.modules.entry(module.name).or_insert(at);
        }
        if let Some((first, count)) = step.lines.filter(|_| key == "runcmd" || key == "bootcmd") {
            for line in first..first + count {
                self.script_lines
                    .entry((key.to_owned(), line))
                    .or_insert(at);
            }
        }
        let Action::Command(command) = &step.action else {
            return;
        };
        let command = command.expose();
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
    }

    fn step_of(&self, line: &str) -> Option<usize> {
        if let Some(found) = SCRIPT_LINE.captures(line) {
            return self
                .script_lines
                .get(&(found[1].to_owned(), found[2].parse().ok()?))
                .copied();
        }
        if PHASE.is_match(line) {
            return self.kubeadm;
        }
        if let Some(found) = ANNOUNCED.captures(line) {
            return self.announced.get(&found[1]).copied();
        }
        let module = MODULE.captures(line)?[1].replace('-', "_");
        // All commands are one script, whose failure says nothing of a single one.
        self.modules
            .get(module.as_str())
            .copied()
            .filter(|_| module != "scripts_user")
    }
}

/// Reads a log of cloud-init, or of a journal, beside the steps of documents.
pub(crate) fn read(text: &str, documents: &[Document]) -> LogReading {
    let index = Index::of(documents);
    let mut reading = LogReading::default();
    let mut told = vec![false; KNOWN_ERRORS.len()];
    for (at, line) in text.lines().enumerate() {
        reading.lines += 1;
        let line: &str = line
            .char_indices()
            .nth(LONGEST)
            .map_or(line, |(end, _)| &line[..end]);
        let known = KNOWN.matches(line).iter().next();
        let step = index.step_of(line);
        let is_new = known.is_some_and(|known| !std::mem::replace(&mut told[known], true));
        if !is_new && (step.is_none() || known.is_some()) {
            reading.untold += usize::from(known.is_some());
            continue;
        }
        if reading.found.len() == MOST {
            reading.untold += 1;
            continue;
        }
        // A line of kubeadm that is known speaks of kubeadm.
        let step = step.or_else(|| index.kubeadm.filter(|_| is_of_kubeadm(line)));
        let known = known.map(|known| &KNOWN_ERRORS[known]);
        reading.found.push(LogLine {
            line: at + 1,
            text: line.to_owned(),
            step,
            known,
        });
    }
    reading
}

fn is_of_kubeadm(line: &str) -> bool {
    [
        "[preflight]",
        "[ERROR ",
        "[discovery]",
        "[kubelet-check]",
        "[etcd]",
        "kubeadm",
        "cluster-info",
    ]
    .iter()
    .any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::inspect;
    use crate::text::budget::Budget;

    const DATA: &str = "#cloud-config\nwrite_files: [{path: /a}]\nruncmd:\n- echo a\n- |-\n  b\n  c\n- kubeadm join --config /k && touch /run/x\n";

    fn found(log: &str) -> Vec<(usize, Option<usize>, Option<&'static str>)> {
        let documents = inspect(
            "f",
            DATA.as_bytes(),
            crate::api::time::Timestamp::of_second(0),
            &Budget::default(),
        )
        .documents;
        let reading = read(log, &documents);
        reading
            .found
            .iter()
            .map(|line| (line.line, line.step, line.known.map(|known| known.report)))
            .collect()
    }

    /// The script has `#!/bin/sh`, then `echo a`, then `b` and `c`: the fourth line is the second
    /// item's.
    #[test]
    fn lines_of_the_script_lead_to_its_commands() {
        let log = "fine\n/var/lib/cloud/instance/scripts/runcmd: 4: c: not found\n/var/lib/cloud/instance/scripts/runcmd: line 2: x: y\n";
        assert_eq!(found(log), [(2, Some(2), None), (3, Some(1), None)]);
        assert_eq!(
            found("/var/lib/cloud/instance/scripts/runcmd: 40: c: not found\n"),
            []
        );
    }

    #[test]
    fn failures_of_kubeadm_and_of_modules_lead_to_their_steps() {
        let join =
            "error execution phase preflight: couldn't validate the identity of the API Server\n";
        assert_eq!(found(join), [(1, Some(3), None)]);
        let module = "util.py[WARNING]: Running module write_files (<module 'cloudinit.config.cc_write_files'>) failed\n";
        assert_eq!(found(module), [(1, Some(0), None)]);
    }

    #[test]
    fn a_known_line_is_told_once_and_the_others_are_counted() {
        let line = "could not find a JWS signature in the cluster-info ConfigMap for token ID \"abcdef\"\n";
        let reading = read(&line.repeat(3), &[]);
        assert_eq!(
            (reading.lines, reading.found.len(), reading.untold),
            (3, 1, 2)
        );
        assert_eq!(
            found(line),
            [(
                1,
                Some(3),
                Some("https://github.com/kubernetes/kubeadm/issues/668")
            )]
        );
    }

    #[test]
    fn long_lines_and_many_are_bounded() {
        let reading = read(&format!("{}\n", "é".repeat(100_000)).repeat(3), &[]);
        assert_eq!((reading.lines, reading.found.len()), (3, 0));
    }
}
