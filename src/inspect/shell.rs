//! What a shell makes of the failure of a command. Lines are read, not the shell's grammar.

use std::sync::LazyLock;

use regex::Regex;

use super::lines::lines;
use super::step::{Failure, SENTINEL};

static EXCUSED: LazyLock<Regex> = LazyLock::new(|| compiled(r"\|\|\s*(?:/bin/)?(?:true|:|exit\s+0)(?:\s|;|$)"));
static REPLACED: LazyLock<Regex> = LazyLock::new(|| compiled(r";\s*(?:true|:|exit\s+0)\s*;?\s*$"));
static BACKGROUND: LazyLock<Regex> = LazyLock::new(|| compiled(r"[^&|<>\d]&\s*$"));
static PIPED: LazyLock<Regex> = LazyLock::new(|| compiled(r"[^|]\|\s*(?:sudo\s+)?(?:\S*/)?(?:sh|bash)\b"));
static STRICT: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(?m)(?:^|[;&|])\s*set\s+(?:-[a-z]*e[a-z]*|-\S+\s+-[a-z]*e[a-z]*|-[a-z]*o\s+errexit)\b"));
static LENIENT: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?m)(?:^|[;&|])\s*set\s+(?:\+[a-z]*e[a-z]*|\+o\s+errexit)\b"));

static FUNCTION: LazyLock<Regex> = LazyLock::new(|| compiled(r"\w+\s*\(\)\s*\{"));
static WRITTEN: LazyLock<Regex> =
    LazyLock::new(|| compiled(r#"(?:>\s*|\btouch\s+|\btee\s+(?:-a\s+)?)["']?[^\s"';&|>]*bootstrap-success\.complete"#));

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("internal error: the pattern is one of ours")
}

/// A command without what its quotes hold, without its comments, and without the bodies of functions, which only run when they are called.
fn bare(command: &str) -> String {
    let code = without_quotes(command);
    let mut out = String::with_capacity(code.len());
    let mut rest = code.as_str();
    while let Some(function) = FUNCTION.find(rest) {
        out.push_str(&rest[..function.start()]);
        rest = &rest[function.end()..];
        let mut depth = 1_usize;
        let end = rest.find(|c| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        rest = end.map_or("", |end| &rest[end + 1..]);
    }
    out + rest
}

/// The commands of a script with the lines on which they begin, from 1: each line is one, and a function with its body. Empty lines and
/// comments are left out.
pub(super) fn commands(script: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut open = 0_usize;
    for line in lines(script) {
        let text = script[line.range].trim_end_matches(['\n', '\r']);
        let code = without_quotes(text);
        match found.last_mut().filter(|_| open > 0) {
            Some((_, function)) => {
                function.push('\n');
                function.push_str(text);
            }
            None if text.trim().is_empty() || text.trim_start().starts_with('#') => continue,
            None => found.push((line.number, text.to_owned())),
        }
        if open > 0 || FUNCTION.is_match(&code) {
            let count = |sign: char| code.chars().filter(|c| *c == sign).count();
            open = (open + count('{')).saturating_sub(count('}'));
        }
    }
    found
}

/// A command without what its quotes hold and without its comments.
fn without_quotes(command: &str) -> String {
    let mut out = String::with_capacity(command.len());
    let mut quote = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('"') | None, '\\') => {
                chars.next();
            }
            (Some(open), c) if c == open => {
                quote = None;
                out.push(c);
            }
            (Some(_), _) => {}
            (None, '\'' | '"') => {
                quote = Some(c);
                out.push(c);
            }
            (None, '#') if out.ends_with(|before: char| before.is_whitespace()) || out.is_empty() => {
                while chars.peek().is_some_and(|next| *next != '\n') {
                    chars.next();
                }
            }
            (None, c) => out.push(c),
        }
    }
    out
}

/// How a command hides its own failure, if it does.
fn swallows(bare: &str) -> Option<&'static str> {
    if EXCUSED.is_match(bare) {
        return Some("`||` excuses it");
    }
    if REPLACED.is_match(bare) {
        return Some("the last command of the line always succeeds");
    }
    if BACKGROUND.is_match(bare) {
        return Some("it runs in the background");
    }
    PIPED.is_match(bare).then_some("a shell at the end of a pipe succeeds on nothing")
}

/// A script whose commands are looked at one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Script {
    /// Whether a failing command ends it (`set -e`).
    is_strict: bool,
}

impl Script {
    /// What follows when the next command of the script fails. `is_last`: nothing follows in it.
    pub(super) fn next(&mut self, command: &str, is_last: bool) -> Failure {
        let bare = bare(command);
        let was_strict = self.is_strict;
        match (STRICT.find_iter(&bare).last(), LENIENT.find_iter(&bare).last()) {
            (Some(strict), Some(lenient)) => self.is_strict = strict.start() > lenient.start(),
            (Some(_), None) => self.is_strict = true,
            (None, Some(_)) => self.is_strict = false,
            (None, None) => {}
        }
        match swallows(&bare) {
            Some(how) => Failure::Swallowed(how),
            None if was_strict || bare.contains("|| exit") => Failure::EndsScript,
            None if is_last => Failure::Reported,
            None => Failure::GoesOn,
        }
    }
}

/// Whether a command writes the file that tells success.
pub(super) fn writes_sentinel(command: &str) -> bool {
    command.contains(SENTINEL) && WRITTEN.is_match(command)
}

/// Whether the file that tells success is written only when something before it succeeded, in a command or script that writes it.
pub(super) fn is_conditional(script: &str, ends_on_failure: bool) -> bool {
    if ends_on_failure || STRICT.is_match(&bare(script)) {
        return true;
    }
    let line = script.lines().find(|line| line.contains(SENTINEL)).unwrap_or_default();
    let before = &line[..line.find(SENTINEL).unwrap_or_default()];
    // What makes the folder for the file, or says something, is no work that could fail.
    let is_work = |command: &str| {
        let program = command.split_whitespace().next().unwrap_or_default();
        !matches!(program, "" | "mkdir" | "echo" | "touch" | "printf" | "true" | ":")
    };
    let mut guarded = before.rsplit("&&").skip(1);
    guarded.any(|left| is_work(left.rsplit([';', '|']).next().unwrap_or_default().trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(command: &str) -> Failure {
        Script::default().next(command, false)
    }

    #[test]
    fn a_command_that_hides_its_failure_is_known() {
        for command in ["a || true", "a ||:", "a || exit 0", "a; true", "a &", "curl x | sh", "a | sudo bash -s", "a || /bin/true # x"] {
            assert!(matches!(failure(command), Failure::Swallowed(_)), "{command}");
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
        ] {
            assert!(!matches!(failure(command), Failure::Swallowed(_)), "{command}");
        }
    }

    #[test]
    fn functions_only_run_when_they_are_called() {
        let script = "#!/bin/sh\nset -e\nf() {\n  a || true\n  set +e\n}\ng() { b || :; }\n# c\n\nd\n";
        let found = commands(script);
        let lines: Vec<_> = found.iter().map(|(line, command)| (*line, command.lines().count())).collect();
        assert_eq!(lines, [(2, 1), (3, 4), (7, 1), (10, 1)]);
        let mut script = Script::default();
        let failures: Vec<_> = found.iter().map(|(_, command)| script.next(command, false)).collect();
        assert_eq!(failures[1..], [Failure::EndsScript, Failure::EndsScript, Failure::EndsScript]);
    }

    #[test]
    fn set_e_counts_from_the_next_command_on() {
        let mut script = Script::default();
        let mut next = |command: &str| script.next(command, false);
        assert_eq!(next("a"), Failure::GoesOn);
        assert_eq!(next("set -euo pipefail"), Failure::GoesOn);
        assert_eq!(next("b"), Failure::EndsScript);
        assert_eq!(next("set +e"), Failure::EndsScript);
        assert_eq!(next("c"), Failure::GoesOn);
        assert_eq!(next("echo 'set -e'"), Failure::GoesOn);
        assert_eq!(next("d"), Failure::GoesOn);
        assert_eq!(next("kubeadm join || exit $?"), Failure::EndsScript);
        assert_eq!(script.next("e", true), Failure::Reported);
    }

    #[test]
    fn the_sentinel_is_conditional_when_work_comes_before_it() {
        let file = "/run/cluster-api/bootstrap-success.complete";
        for (command, expected) in [
            ("kubeadm init --config a && echo success > FILE", true),
            ("mkdir -p /run/cluster-api && echo success > FILE", false),
            ("echo success > FILE", false),
            ("kubeadm join; mkdir -p /x && echo success > FILE", false),
            ("a; kubeadm join && mkdir -p /x && touch FILE", true),
            ("#!/bin/bash\nset -e\nkubeadm join\necho success > FILE\n", true),
        ] {
            let command = command.replace("FILE", file);
            assert!(writes_sentinel(&command));
            assert_eq!(is_conditional(&command, false), expected, "{command}");
            assert!(is_conditional(&command, true));
        }
        assert!(!writes_sentinel(&format!("cat {file}")) && !writes_sentinel(&format!("echo > /x; until [ -f {file} ]; do sleep 1; done")));
    }
}
