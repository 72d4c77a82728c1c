//! A machine's log beside the steps of its data, or by itself.

mod index;
mod kind;
mod line;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::known_errors::{KNOWN_ERRORS, KnownError};
use super::step::Document;
use index::Index;
pub use kind::Kind;

/// The maximum number of characters of a line that are read and shown.
const LONGEST: usize = 2000;

/// The maximum number of lines that are listed.
const MOST: usize = 1000;

static KNOWN: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(KNOWN_ERRORS.iter().map(|known| known.pattern))
        .expect("internal error: the patterns are ours")
});
/// What differs between repetitions of a line: numbers, hashes, quoted texts.
static VARIABLE: LazyLock<Regex> =
    LazyLock::new(|| compiled(r#"\\"[^"\\]*\\"|"[^"]*"|\b[0-9a-f]{8,}\b|[0-9]+"#));

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("internal error: the pattern is one of ours")
}

/// A line of a log that reports something.
#[derive(Debug, Clone)]
pub struct LogLine {
    /// Its number, from 1.
    pub line: usize,
    /// The line; may hold secrets.
    pub text: String,
    /// The line without time, host and program; may hold secrets.
    pub message: String,
    /// What it reports; nothing of a line that is known and has no form of an error.
    pub kind: Option<Kind>,
    /// How many more lines are the same; of services also those with other numbers and quotes.
    pub repeats: usize,
    /// The step that it names, as an index into the steps of all documents.
    pub step: Option<usize>,
    /// The known error that the line matches, with cause and fix; `None` when it matches none.
    pub known: Option<&'static KnownError>,
    /// Whether an earlier line has the same known cause.
    pub is_cause_repeated: bool,
}

impl LogLine {
    /// Whether the line has the form of an error, or matches a known error.
    pub fn is_error(&self) -> bool {
        self.kind == Some(Kind::Error) || self.known.is_some()
    }
}

/// What a log reports as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
    /// kubeadm reports success, and no error follows.
    Succeeded,
    /// There is an error, and kubeadm reports no success after it.
    Failed,
    /// The log reports neither success of kubeadm nor an error.
    #[default]
    Unknown,
}

impl Outcome {
    /// The value in reports, such as `succeeded`.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Succeeded => "succeeded",
            Outcome::Failed => "failed",
            Outcome::Unknown => "unknown",
        }
    }
}

/// The result of reading a log.
#[derive(Debug, Clone, Default)]
pub struct LogReading {
    /// The number of lines of the log, with those that report nothing.
    pub lines: usize,
    /// The lines that report something, in their order.
    pub found: Vec<LogLine>,
    /// The number of lines that are not listed.
    pub omitted: usize,
    /// The outcome of the bootstrap, as far as the log shows it.
    pub outcome: Outcome,
    /// What kubeadm succeeded with, and the line.
    pub success: Option<(&'static str, usize)>,
    /// The line in which cloud-init reports its end.
    pub(crate) end: Option<usize>,
    /// The line of the first error that the outcome rests on.
    pub(crate) first_error: Option<usize>,
}

impl LogReading {
    /// The outcome in a sentence.
    pub fn words(&self) -> String {
        let end = self
            .end
            .map(|line| format!(", and cloud-init finished in line {line}"))
            .unwrap_or_default();
        match (self.success, self.first_error) {
            (Some((what, line)), None) => format!("{what} succeeded in line {line}{end}"),
            (Some((what, line)), Some(error)) => {
                format!("{what} succeeded in line {line}, and line {error} reports an error")
            }
            (None, Some(line)) => format!("line {line} reports the first error"),
            (None, None) => {
                "the log reports neither success nor an error of the bootstrap".to_owned()
            }
        }
    }
}

/// Reads a log of cloud-init, a journal or a console beside the steps of documents.
pub fn read(text: &str, documents: &[Document]) -> LogReading {
    let mut reader = Reader {
        index: Index::of(documents),
        reading: LogReading::default(),
        shapes: BTreeMap::new(),
        has_cause: vec![false; KNOWN_ERRORS.len()],
        module: None,
        is_in_traceback: false,
    };
    for (at, line) in text.lines().enumerate() {
        reader.take(at + 1, line);
    }
    reader.reading.outcome = match (reader.reading.success, reader.reading.first_error) {
        (_, Some(_)) => Outcome::Failed,
        (Some(_), None) => Outcome::Succeeded,
        (None, None) => Outcome::Unknown,
    };
    reader.reading
}

struct Reader {
    index: Index,
    reading: LogReading,
    /// The listed lines by what they have in common with their repetitions.
    shapes: BTreeMap<(Option<usize>, String), usize>,
    /// The known causes of the lines so far.
    has_cause: Vec<bool>,
    /// The step of the module that cloud-init reported as failed last.
    module: Option<usize>,
    /// Whether the lines of a traceback follow, until one that is not indented.
    is_in_traceback: bool,
}

impl Reader {
    fn take(&mut self, number: usize, line: &str) {
        self.reading.lines += 1;
        let entry = line::of_json(line);
        let visible = line::visible(shortened(entry.as_deref().unwrap_or(line)));
        let read = line::read(&visible);
        // Lines of source code do not report errors.
        self.is_in_traceback = kind::is_traceback(read) || self.is_in_traceback && read.is_indented;
        if self.is_in_traceback {
            return;
        }
        if let Some(what) = kind::success(read) {
            self.reading.success = Some((what, number));
            self.reading.first_error = None;
        }
        if kind::is_end(read) {
            self.reading.end = Some(number);
        }
        let kind = kind::of(read);
        let known = KNOWN.matches(read.message).iter().next();
        let step = self.index.step_of(read, self.module);
        if let Some(module) = self.index.failed_module(read) {
            self.module = Some(module);
        } else if let Some(step) = self.index.of_account(read.message) {
            // The traceback names the entry at which the module failed.
            let lines = self.reading.found.iter_mut().rev();
            let of_module =
                lines.take_while(|line| line.step == self.module || line.step.is_none());
            of_module
                .filter(|line| line.step.is_some())
                .for_each(|line| line.step = Some(step));
        }
        if kind.is_none() && known.is_none() {
            return;
        }
        let is_error = kind == Some(Kind::Error) || known.is_some();
        if is_error && self.reading.first_error.is_none() && !is_of_service(read.program) {
            self.reading.first_error = Some(number);
        }
        let shape = (step, shape(read));
        if let Some(listed) = self.shapes.get(&shape) {
            self.reading.found[*listed].repeats += 1;
            self.reading.omitted += 1;
            return;
        }
        if self.reading.found.len() == MOST {
            self.reading.omitted += 1;
            return;
        }
        self.shapes.insert(shape, self.reading.found.len());
        let is_cause_repeated =
            known.is_some_and(|known| std::mem::replace(&mut self.has_cause[known], true));
        // A line of kubeadm that is known is about the step of kubeadm.
        let step = step.or_else(|| self.index.kubeadm().filter(|_| is_of_kubeadm(read.message)));
        self.reading.found.push(LogLine {
            line: number,
            text: visible.trim().to_owned(),
            message: read.message.to_owned(),
            kind,
            repeats: 0,
            step,
            known: known.map(|known| &KNOWN_ERRORS[known]),
            is_cause_repeated,
        });
    }
}

/// What a line has in common with its repetitions: services report the same again with other
/// numbers, each other line is its own.
fn shape(line: line::Line<'_>) -> String {
    let is_of_klog = || line.message.get(5..6) == Some(" ") && line.message.contains(".go:");
    if is_of_service(line.program) || is_of_klog() || line.message.contains("level=") {
        VARIABLE.replace_all(line.message, "#").into_owned()
    } else {
        line.message.to_owned()
    }
}

fn shortened(line: &str) -> &str {
    line.char_indices()
        .nth(LONGEST)
        .map_or(line, |(end, _)| &line[..end])
}

/// Whether a program runs beside the bootstrap, and reports errors until the cluster is there.
fn is_of_service(program: &str) -> bool {
    matches!(
        program,
        "kubelet" | "containerd" | "kernel" | "dockerd" | "crio"
    )
}

fn is_of_kubeadm(message: &str) -> bool {
    let tags = ["[preflight]", "[discovery]", "[kubelet-check]", "[etcd]"];
    tags.iter().any(|tag| message.starts_with(tag))
        || ["kubeadm", "cluster-info"]
            .iter()
            .any(|word| message.contains(word))
}

/// Whether a text is a log of a boot: most of its first lines have the form of one.
pub(crate) fn is_log(text: &str) -> bool {
    const LOOKED_AT: usize = 200;
    let (mut lines, mut of_boot) = (0, 0);
    for line in text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(LOOKED_AT)
    {
        lines += 1;
        let visible = line::visible(shortened(line));
        of_boot += usize::from(kind::is_of_boot(line::read(&visible)));
    }
    of_boot > 0 && of_boot * 3 >= lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::inspect;
    use windlass_source::budget::Budget;

    const DATA: &str = "#cloud-config\nwrite_files: [{path: /a}, {path: /b, owner: 'rocky:crew'}]\nruncmd:\n- echo a\n- |-\n  b\n  c\n- curl -fL https://x | tee /y\n- systemctl restart containerd\n- kubeadm join --config /k && touch /run/x\n";

    fn reading(log: &str) -> LogReading {
        let documents = inspect(
            "f",
            DATA.as_bytes(),
            windlass_capi::api::time::Timestamp::of_second(0),
            &Budget::default(),
        )
        .documents;
        read(log, &documents)
    }

    fn found(log: &str) -> Vec<(usize, Option<usize>, Option<&'static str>)> {
        reading(log)
            .found
            .iter()
            .map(|line| (line.line, line.step, line.known.map(|known| known.report)))
            .collect()
    }

    fn step(log: &str) -> Option<usize> {
        let found = found(log);
        assert_eq!(found.len(), 1, "{log}");
        found[0].1
    }

    /// The script has `#!/bin/sh`, then `echo a`, then `b` and `c`: the fourth line is the second
    /// item's. A line that no command has is listed without a step.
    #[test]
    fn lines_of_the_script_lead_to_its_commands() {
        let log = "fine\n/var/lib/cloud/instance/scripts/runcmd: 4: c: not found\n/var/lib/cloud/instance/scripts/runcmd: line 2: x: y\n";
        assert_eq!(found(log), [(2, Some(3), None), (3, Some(2), None)]);
        assert_eq!(
            step("/var/lib/cloud/instance/scripts/runcmd: 40: c: not found\n"),
            None
        );
    }

    #[test]
    fn failures_lead_to_their_steps() {
        for (line, expected) in [
            ("error execution phase preflight: a", Some(6)),
            (
                "\t[ERROR Swap]: running with swap on is not supported",
                Some(6),
            ),
            ("\t[WARNING Hostname]: a", Some(6)),
            (
                "util.py[WARNING]: Running module write_files (<module 'cloudinit.config.cc_write_files'>) failed",
                Some(1),
            ),
            (
                "OSError: Unknown user or group: \"getpwnam(): name not found: 'rocky'\"",
                Some(1),
            ),
            (
                "OSError: Unknown user or group: 'getgrnam(): name not found: crew'",
                Some(1),
            ),
            ("curl: (6) Could not resolve host: x", Some(4)),
            (
                "Job for containerd.service failed because the control process exited",
                Some(5),
            ),
            ("sh: 1: tee: not found", Some(4)),
            ("sh: 1: elsewhere: not found", None),
        ] {
            assert_eq!(step(line), expected, "{line}");
        }
    }

    /// The last line of a traceback belongs to the module that cloud-init reported before it, and
    /// the likely entry is the one whose owner may be missing.
    #[test]
    fn tracebacks_belong_to_the_failed_module() {
        let log = "2026-03-16 10:00:02,120 - util.py[WARNING]: Running module write_files (<module 'cc_write_files'>) failed\n\
                   Traceback (most recent call last):\n  File \"a.py\", line 1, in b\nbinascii.Error: Incorrect padding\nValueError: a\n";
        assert_eq!(
            found(log),
            [(1, Some(1), None), (4, Some(1), None), (5, Some(1), None)]
        );
    }

    /// Lists all lines of a known cause, and the cause once.
    #[test]
    fn a_known_cause_is_told_once() {
        let line = "could not find a JWS signature in the cluster-info ConfigMap for token ID \"abcdef\"\n";
        let reading = read(&line.repeat(3), &[]);
        assert_eq!(
            (reading.lines, reading.found.len(), reading.omitted),
            (3, 1, 2)
        );
        assert_eq!(reading.found[0].repeats, 2);
        assert_eq!(
            found(line),
            [(
                1,
                Some(6),
                Some("https://github.com/kubernetes/kubeadm/issues/668")
            )]
        );
        let ports = read("[ERROR Port-10250]: a\n[ERROR Port-10259]: b\n", &[]);
        let repeated: Vec<_> = ports
            .found
            .iter()
            .map(|line| line.is_cause_repeated)
            .collect();
        assert_eq!(repeated, [false, true]);
    }

    #[test]
    fn repetitions_of_services_are_counted() {
        let line = |n: usize| {
            format!(
                "Nov 29 05:00:0{n} node kubelet[812]: E1129 05:00:00.00000{n} 812 kubelet.go:2291] \"Error getting node\" err=\"node {n}\"\n"
            )
        };
        let reading = read(&(0..5).map(line).collect::<String>(), &[]);
        assert_eq!((reading.found.len(), reading.found[0].repeats), (1, 4));
        assert_eq!(reading.outcome, Outcome::Unknown);
    }

    #[test]
    fn outcomes_are_those_of_kubeadm() {
        let success = "[   27.4] cloud-init[1047]: Your Kubernetes control-plane has initialized successfully!\n";
        let end = "[   27.5] cloud-init[1047]: Cloud-init v. 22.3.4 finished at Thu, 30 Mar 2023\n";
        for (log, outcome, words) in [
            (
                format!("{success}{end}"),
                Outcome::Succeeded,
                "kubeadm init succeeded in line 1, and cloud-init finished in line 2",
            ),
            (
                format!("error: a\n{success}"),
                Outcome::Succeeded,
                "kubeadm init succeeded in line 2",
            ),
            (
                format!("{success}error: a\n"),
                Outcome::Failed,
                "kubeadm init succeeded in line 1, and line 2 reports an error",
            ),
            (
                "a\nerror: a\n".to_owned(),
                Outcome::Failed,
                "line 2 reports the first error",
            ),
            (
                end.to_owned(),
                Outcome::Unknown,
                "the log reports neither success nor an error of the bootstrap",
            ),
        ] {
            let reading = read(&log, &[]);
            assert_eq!(
                (reading.outcome, reading.words().as_str()),
                (outcome, words),
                "{log}"
            );
        }
    }

    #[test]
    fn logs_are_recognised() {
        for log in [
            "Cloud-init v. 24.4 running 'init' at Mon\n",
            "Nov 29 05:00:00 node kubelet[812]: E1129 05:00:00.0 812 kubelet.go:2291] a\n",
            "[   11.958076] cloud-init[1047]: a\n[  OK  ] Finished b.\n",
            "[preflight] Running pre-flight checks\nerror execution phase preflight: a\nTo see the stack trace\n",
            "2025-01-24T07:53:00+0000 host systemd[1]: Started a.\n",
        ] {
            assert!(is_log(log), "{log}");
        }
        for text in [
            "",
            "hello\n",
            "a: b\nc: d\n",
            "\n\n\n",
            "just some\nlines of\ntext\nthat says error\n",
        ] {
            assert!(!is_log(text), "{text}");
        }
    }

    #[test]
    fn long_lines_and_many_are_bounded() {
        let reading = read(&format!("{}\n", "é".repeat(100_000)).repeat(3), &[]);
        assert_eq!((reading.lines, reading.found.len()), (3, 0));
        let many: String = (0..2 * MOST).map(|n| format!("error: a{n}\n")).collect();
        let reading = read(&many, &[]);
        assert_eq!((reading.found.len(), reading.omitted), (MOST, MOST));
    }
}
