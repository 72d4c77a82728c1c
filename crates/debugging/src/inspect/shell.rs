//! What a shell makes of the steps that are one script: which failure is seen, which commands never
//! run, and whether the sentinel file is written only after success. `windlass_shell` parses the
//! script.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex::Regex;

use super::step::{Failure, SENTINEL};
use windlass_shell::{
    self as shell, Command, Fate, Interpreter, Joint, Judged, Part, Script, Shape, Strictness,
    Unclosed,
};

static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?:>\|?\s*|\btouch\s+|\btee\s+(?:-a\s+)?|\bof=|\btruncate\s+(?:-s\s*\S+\s+)?)["']?[^\s"';&|>]*bootstrap-success\.complete(?:[^\w.-]|$)"#;
    Regex::new(pattern).expect("internal error: the pattern is one of ours")
});

/// Why a command behind one that does not end never runs.
pub(super) const BEHIND_UNCLOSED: &str = "it belongs to an earlier command that does not end";

/// A script with what follows when its commands fail.
pub(super) struct Reading<'t> {
    text: &'t str,
    script: Script<'t>,
    judged: Vec<Judged>,
    /// Of each command the one before it in its list.
    previous: Vec<Option<usize>>,
    /// Whether the text names the sentinel file anywhere.
    names_sentinel: bool,
    /// The first command that could fail, and ends the script then.
    first_ending: Option<usize>,
}

/// How many commands are looked at before one, and how many blocks around it.
const FURTHEST: usize = 64;

impl<'t> Reading<'t> {
    /// Reads a script. `is_strict`: whether the shell ends at the first failure without being told
    /// by the script.
    pub(super) fn of(text: &'t str, is_strict: bool) -> Self {
        let script = shell::read(text);
        let judged = script.judged(Strictness {
            ends: is_strict,
            pipes: false,
        });
        let mut previous = vec![None; script.commands.len()];
        for (at, command) in script.commands.iter().enumerate() {
            command
                .next
                .into_iter()
                .for_each(|next| previous[next] = Some(at));
        }
        let first_ending = script
            .commands
            .iter()
            .zip(&judged)
            .position(|(command, judged)| judged.fate == Fate::EndsScript && is_work(command));
        Reading {
            text,
            script,
            judged,
            previous,
            names_sentinel: text.contains(SENTINEL),
            first_ending,
        }
    }

    /// Reads a script that is run as a file, as its first line says.
    pub(super) fn of_file(text: &'t str) -> Self {
        Reading::of(
            text,
            Interpreter::of(text).is_some_and(Interpreter::is_strict),
        )
    }

    /// What does not end. A here-document ends with the script, but what was to come behind it is
    /// its text.
    pub(super) fn unclosed(&self) -> Option<Unclosed> {
        self.script.unclosed
    }

    /// The commands that begin on these lines.
    fn on(&self, lines: &RangeInclusive<u32>) -> std::ops::Range<usize> {
        let before = |line: u32| {
            self.script
                .commands
                .partition_point(|command| command.line < line)
        };
        before(*lines.start())..before(lines.end().saturating_add(1))
    }

    /// What follows when what is on these lines fails.
    pub(super) fn failure(&self, lines: &RangeInclusive<u32>) -> Failure {
        match self.script.unclosed {
            Some(unclosed) if unclosed.line < *lines.start() => {
                return Failure::NeverRuns(BEHIND_UNCLOSED);
            }
            Some(unclosed) if lines.contains(&unclosed.line) && unclosed.opener != "<<" => {
                return Failure::EndsScript;
            }
            _ => {}
        }
        // `set` itself does not fail.
        let may_fail = |at: &usize| {
            self.judged[*at].fate != Fate::Answer
                && self.script.commands[*at].program() != Some("set")
        };
        let run: Vec<usize> = self.on(lines).filter(may_fail).collect();
        if let Some(how) = run.iter().find_map(|at| self.hides(*at)) {
            return Failure::Swallowed(how);
        }
        let firsts = || {
            run.iter()
                .copied()
                .filter(|at| self.previous[*at].is_none())
                .map(|first| self.first_to_fail(first))
        };
        if firsts().any(|at| self.judged[at].fate == Fate::EndsScript) {
            return Failure::EndsScript;
        }
        let last = firsts().rfind(|at| self.script.commands[*at].parent.is_none());
        if last.is_some_and(|last| {
            run.len() > 1
                && self.script.commands[last].always_succeeds()
                && self.script.commands[last].next.is_none()
        }) {
            return Failure::Swallowed("the last command of the line always succeeds");
        }
        match last.map(|last| self.judged[last].fate) {
            Some(Fate::Last) => Failure::Reported,
            _ => Failure::GoesOn,
        }
    }

    /// The first command of a list that may fail; of a pipe the last one tells.
    fn first_to_fail(&self, first: usize) -> usize {
        let may_fail = |at: usize, joint| {
            joint != Some(Joint::Pipe)
                && (joint != Some(Joint::And) || !self.script.commands[at].always_succeeds())
        };
        self.script
            .list(first)
            .find(|(at, command)| may_fail(*at, command.joint))
            .map_or(first, |(at, _)| at)
    }

    /// How a command hides its own failure, if it does.
    fn hides(&self, at: usize) -> Option<&'static str> {
        let command = &self.script.commands[at];
        let feeds_shell = || {
            command
                .next
                .is_some_and(|next| self.script.commands[next].is_shell())
        };
        match self.judged[at].fate {
            Fate::Excused => Some("it is followed by `||`"),
            Fate::Background => Some("it runs in the background"),
            _ if self.judged[at].is_piped_away && feeds_shell() => {
                Some("a shell at the end of a pipe succeeds on nothing")
            }
            _ if command.assigns_what_runs() => {
                Some("`export` and its like succeed whatever the command in `$(…)` does")
            }
            _ => hides_within(command),
        }
    }

    /// Of what these lines write the sentinel file with: whether only when something
    /// before it succeeded. Nothing if they do not.
    pub(super) fn sentinel(&self, lines: &RangeInclusive<u32>) -> Option<bool> {
        if !self.names_sentinel || matches!(self.failure(lines), Failure::NeverRuns(_)) {
            return None;
        }
        let is_read = |last: u32| {
            self.script
                .unclosed
                .is_none_or(|unclosed| unclosed.opener == "<<" || last < unclosed.line)
        };
        let writes = |at: &usize| {
            let command = &self.script.commands[*at];
            let text = &self.text[command.start..command.end];
            command.shape == Shape::Simple
                && is_read(command.last_line)
                && text.contains(SENTINEL)
                && WRITTEN.is_match(text)
        };
        self.on(lines).find(writes).map(|at| {
            let inner = self.script.commands[at].inner_script();
            self.is_guarded(at)
                || inner
                    .is_some_and(|inner| Reading::of(&inner, false).sentinel(&WHOLE) == Some(true))
        })
    }

    /// Whether a command runs only when work before it succeeded.
    fn is_guarded(&self, at: usize) -> bool {
        if self.first_ending.is_some_and(|first| first < at) {
            return true;
        }
        let around = std::iter::successors(Some(at), |at| self.script.commands[*at].parent);
        around
            .take(FURTHEST)
            .any(|at| self.follows_work(at) || self.is_asked_for(at))
    }

    /// Whether work stands before a command, with `&&` between them.
    fn follows_work(&self, at: usize) -> bool {
        let before = std::iter::successors(self.previous[at], |at| self.previous[*at]);
        before.take(FURTHEST).any(|at| {
            self.script.commands[at].joint == Some(Joint::And) && is_work(&self.script.commands[at])
        })
    }

    /// Whether a command is in a block that asks whether work succeeds.
    fn is_asked_for(&self, at: usize) -> bool {
        let command = &self.script.commands[at];
        let Some(parent) = command.parent.filter(|_| command.part == Part::Body) else {
            return false;
        };
        let asks = |at: usize| {
            self.script.commands[at].parent == Some(parent)
                && self.script.commands[at].part == Part::Condition
        };
        (parent + 1..at)
            .take(FURTHEST)
            .any(|at| asks(at) && is_work(&self.script.commands[at]))
    }

    /// The commands of the script with the lines on which they begin, from 1: what begins on the
    /// lines of another one belongs to it.
    pub(crate) fn steps(&self) -> Vec<(u32, &'t str)> {
        let mut groups: Vec<(u32, u32)> = Vec::new();
        for command in &self.script.commands {
            match groups
                .last_mut()
                .filter(|(_, last)| command.parent.is_some() || command.line <= *last)
            {
                Some((_, last)) => *last = command.last_line.max(*last),
                None => groups.push((command.line, command.last_line)),
            }
        }
        let mut starts: Vec<usize> = vec![0];
        starts.extend(self.text.match_indices('\n').map(|(at, _)| at + 1));
        starts.push(self.text.len());
        let at = |line: u32| {
            starts
                .get(usize::try_from(line).unwrap_or(usize::MAX))
                .copied()
                .unwrap_or(self.text.len())
        };
        groups
            .into_iter()
            .map(|(first, last)| {
                (
                    first,
                    self.text[at(first - 1)..at(last)].trim_end_matches(['\n', '\r']),
                )
            })
            .collect()
    }
}

/// How the script of a shell that a command calls, as `sh -c '…'`, hides a failure of its own, if
/// it does.
fn hides_within(command: &Command<'_>) -> Option<&'static str> {
    let inner = command.inner_script()?;
    match Reading::of(&inner, false).failure(&WHOLE) {
        Failure::Swallowed(how) => Some(how),
        _ => None,
    }
}

/// Whether a command could fail: what makes a folder, or says something, is no work.
fn is_work(command: &Command<'_>) -> bool {
    !matches!(
        command.program(),
        None | Some("mkdir" | "echo" | "touch" | "printf" | "true" | ":" | "set" | "export")
    )
}

/// All lines of a script.
pub(super) const WHOLE: RangeInclusive<u32> = 1..=u32::MAX - 1;

/// The lines of a step of a script.
pub(super) fn lines(first: usize, count: usize) -> RangeInclusive<u32> {
    let line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX - 1);
    line(first)..=line(first + count.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(command: &str) -> Failure {
        let script = format!("{command}\nlast\n");
        Reading::of(&script, false).failure(&lines(1, command.lines().count()))
    }

    fn failures(script: &str) -> Vec<&'static str> {
        let reading = Reading::of(script, false);
        let of = |(line, command): (u32, &str)| {
            reading
                .failure(&lines(line as usize, command.lines().count()))
                .as_str()
        };
        reading.steps().into_iter().map(of).collect()
    }

    #[test]
    fn a_command_that_hides_its_own_failure_is_known() {
        for command in [
            "a || true",
            "a ||:",
            "a || exit 0",
            "a; true",
            "a &",
            "curl x | sh",
            "a | sudo bash -s",
            "a || /bin/true # x",
            "{ a; b; } || true",
            "if c; then a || true; fi",
            "(a; b) &",
            "sh -c 'a || true'",
            "'bash' '-c' 'a; true'",
            "sudo sh -c \"b; a &\"",
            "export A=$(a)",
            "readonly B=1 A=\"x$(a)\"",
            "declare -x A=`a`",
        ] {
            assert!(
                matches!(failure(command), Failure::Swallowed(_)),
                "{command}"
            );
        }
        for command in [
            "a",
            "a && b",
            "a || exit 1",
            "echo '|| true'",
            "echo \"a &\"",
            "a # || true",
            "a >&2",
            "a 2>&1",
            "a &>/dev/null",
            "a | grep b",
            "a || truely",
            "sed -e 's/a &/b/'",
            "if a || true; then b; fi",
            "f() { a || true; }",
            "[[ a || true ]]",
            "sh -c 'a || exit 1'",
            "sh -c 'a && b'",
            "export A=b",
            "export A='$(a)'",
            "A=$(a)",
            "export A=$((1 + 2))",
            "true",
        ] {
            assert!(
                !matches!(failure(command), Failure::Swallowed(_)),
                "{command}"
            );
        }
    }

    #[test]
    fn functions_only_run_when_they_are_called() {
        let script =
            "#!/bin/sh\nset -e\nf() {\n  a || true\n  set +e\n}\ng() { b || :; }\n# c\n\nd\n";
        let reading = Reading::of_file(script);
        let steps: Vec<_> = reading
            .steps()
            .iter()
            .map(|(line, command)| (*line, command.lines().count()))
            .collect();
        assert_eq!(steps, [(2, 1), (3, 4), (7, 1), (10, 1)]);
        assert_eq!(
            failures(script),
            ["goes-on", "ends-script", "ends-script", "ends-script"]
        );
    }

    #[test]
    fn set_e_counts_from_the_next_command_on() {
        let script =
            "a\nset -euo pipefail\nb\nset +e\nc\necho 'set -e'\nd\nkubeadm join || exit $?\ne\n";
        let expected = [
            "goes-on",
            "goes-on",
            "ends-script",
            "goes-on",
            "goes-on",
            "goes-on",
            "goes-on",
            "ends-script",
            "reported",
        ];
        assert_eq!(failures(script), expected);
        assert_eq!(
            Reading::of_file("#!/bin/bash -eux\na\nb\n").failure(&lines(2, 1)),
            Failure::EndsScript
        );
    }

    /// `set -e` passes over what stands before `&&`: bash's manual, "The Set Builtin".
    #[test]
    fn set_e_does_not_see_the_first_of_two() {
        assert_eq!(
            failures("set -e\nkubeadm join && touch /x\nb\n"),
            ["goes-on", "goes-on", "ends-script"]
        );
    }

    #[test]
    fn what_stands_behind_an_open_quote_never_runs() {
        let reading = Reading::of("a\necho 'b\nc\n", false);
        let failures: Vec<_> = (1..=3)
            .map(|line| reading.failure(&lines(line, 1)).as_str())
            .collect();
        assert_eq!(failures, ["goes-on", "ends-script", "never-runs"]);
    }

    #[test]
    fn the_sentinel_is_conditional_when_work_comes_before_it() {
        let file = "/run/cluster-api/bootstrap-success.complete";
        let of = |command: &str| Reading::of_file(&command.replace("FILE", file)).sentinel(&WHOLE);
        for (command, expected) in [
            ("kubeadm init --config a && echo success > FILE", true),
            ("mkdir -p /run/cluster-api && echo success > FILE", false),
            ("echo success > FILE", false),
            ("kubeadm join; mkdir -p /x && echo success > FILE", false),
            ("a; kubeadm join && mkdir -p /x && touch FILE", true),
            (
                "#!/bin/bash\nset -e\nkubeadm join\necho success > FILE\n",
                true,
            ),
            ("kubeadm join || exit 1\ntouch FILE", true),
            ("if kubeadm join; then mkdir -p /x; touch FILE; fi", true),
            ("if kubeadm join; then a; else b; fi; tee \"FILE\"", false),
            ("kubeadm join && { mkdir -p /x; touch FILE; }", true),
            ("'sh' '-c' 'kubeadm join && touch FILE'", true),
            ("'sh' '-c' 'kubeadm join; touch FILE'", false),
        ] {
            assert_eq!(of(command), Some(expected), "{command}");
        }
        for command in [
            "cat FILE",
            "echo > /x; until [ -f FILE ]; do sleep 1; done",
            "a 'b\ntouch FILE",
        ] {
            assert_eq!(of(command), None, "{command}");
        }
    }
}
