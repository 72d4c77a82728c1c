//! Commands as a shell reads them. cloud-init writes the commands of a list into one script, and so does Ignition's unit: what one command opens
//! the next ones may close, and what none closes takes all that follows.

use serde_json::Value;

use super::Subject;
use super::shell::{self, Command, Joint, Script};
use crate::diag::{Diagnostic, FieldPath, rules};
use crate::objects::fields;

rules! {
    /// a shell cannot read a command or a script to its end
    pub(crate) UNCLOSED = error("command-unclosed");
    /// the failure of a command is never seen
    pub(crate) FAILURE_HIDDEN = warning("command-failure-hidden");
}

/// The lists of commands, each of which is one script, or a part of one that ends before kubeadm's.
const LISTS: [&str; 3] = ["bootCommands", "preKubeadmCommands", "postKubeadmCommands"];

/// Programs that ask others, which may not answer.
const ASKING: [&str; 16] = [
    "aws", "az", "crictl", "ctr", "curl", "docker", "gcloud", "gsutil", "kubectl", "nerdctl", "oras", "scp", "skopeo", "ssh", "vault",
    "wget",
];

pub(super) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    if fields::text(subject.spec, &["platform"]) == "windows" {
        return Vec::new();
    }
    let lists = LISTS.iter().flat_map(|list| of_list(subject, list));
    lists.chain(scripts(subject)).collect()
}

/// The script that a list of commands becomes.
fn of_list(subject: &Subject<'_>, list: &str) -> Vec<Diagnostic> {
    let commands: Vec<&str> = fields::items(subject.spec, &[list]).iter().filter_map(Value::as_str).collect();
    let text = commands.iter().map(|command| format!("{command}\n")).collect::<String>();
    let lines: Vec<(usize, u32)> =
        commands.iter().enumerate().flat_map(|(index, command)| (1..=line_count(command)).map(move |line| (index, line))).collect();
    let path = subject.spec_path.field(list);
    let of_line = |line: u32| {
        let found = usize::try_from(line).ok().and_then(|line| lines.get(line.checked_sub(1)?));
        found.map_or_else(|| (path.clone(), 1), |(index, line)| (path.index(*index), *line))
    };
    let script = shell::read(&text);
    let unclosed = unclosed(subject, &script, &of_line, "all commands that follow belong to it").into_iter();
    unclosed.chain(hidden(subject, &script, &of_line)).collect()
}

/// How many lines a command takes in its script.
fn line_count(command: &str) -> u32 {
    u32::try_from(command.matches('\n').count()).map_or(u32::MAX, |count| count.saturating_add(1))
}

/// The files that are scripts of a shell.
fn scripts(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let files = fields::items(subject.spec, &["files"]).iter().enumerate();
    let found = files.flat_map(|(index, file)| {
        let content = fields::text(file, &["content"]);
        let is_plain = file.get("encoding").is_none() && file.get("contentFormat").is_none_or(|format| format == "Raw");
        if !is_plain || !is_script(content) {
            return None;
        }
        let path = subject.spec_path.field("files").index(index).field("content");
        let mut script = shell::read(content);
        // At the end of a file a shell ends a here-document itself.
        script.unclosed = script.unclosed.filter(|found| found.opener != "<<");
        unclosed(subject, &script, &|line| (path.clone(), line), "the shell runs nothing from there on")
    });
    found.collect()
}

/// Whether the first line names a POSIX shell.
fn is_script(content: &str) -> bool {
    let first = content.lines().next().unwrap_or_default();
    let program = first.strip_prefix("#!").map(|line| line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or_default()));
    program.is_some_and(|mut words| match words.next() {
        Some("env") => words.any(|word| matches!(word, "sh" | "bash" | "dash")),
        word => matches!(word, Some("sh" | "bash" | "dash")),
    })
}

/// Of a line of a script, the field that has it, and which of its lines it is.
type OfLine<'f> = &'f dyn Fn(u32) -> (FieldPath, u32);

fn unclosed(subject: &Subject<'_>, script: &Script<'_>, of_line: OfLine<'_>, consequence: &str) -> Option<Diagnostic> {
    let trailing = script.commands.last().filter(|command| !matches!(command.joint, None | Some(Joint::End)));
    let (line, message, help) = match (script.unclosed, trailing) {
        (Some(found), _) => {
            let opener = found.opener;
            let help = match opener {
                "<<" => "write the word that ends the here-document on a line of its own".to_owned(),
                "'" | "\"" | "`" => format!("write the closing `{opener}`, or `\\{opener}` for the sign itself"),
                _ => format!("close `{opener}`"),
            };
            (found.line, format!("opens `{opener}` and never closes it: {consequence}"), help)
        }
        (None, Some(command)) => {
            let message = "ends with an operator, and no command follows it".to_owned();
            (command.line, message, "remove the operator, or write the command behind it".to_owned())
        }
        (None, None) => return None,
    };
    let (path, line) = of_line(line);
    let finding = Diagnostic::of(&UNCLOSED, format!("{path} {message}"));
    Some(finding.at(subject.config.line_place(&path, line)).help(help))
}

/// Commands of which nobody learns that they failed. What ignores one failure, as `a || true`, is meant so.
fn hidden(subject: &Subject<'_>, script: &Script<'_>, of_line: OfLine<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut has_pipefail = false;
    for list in script.commands.split_inclusive(|command| matches!(command.joint, None | Some(Joint::End))) {
        has_pipefail |= list.iter().any(|command| command.words.contains(&"pipefail"));
        let Some(first) = list.first().filter(|first| !is_condition(first)) else { continue };
        let (path, line) = of_line(first.line);
        let place = subject.config.line_place(&path, line);
        if let Some(ignored) = ignored(list) {
            let message = format!("{path} ends with `|| {ignored}`, which also hides that an earlier command of the line fails");
            let help = format!("put it beside the command that may fail: `a && {{ b || {ignored}; }}`");
            found.push(Diagnostic::of(&FAILURE_HIDDEN, message).at(place.clone()).help(help));
        } else if let Some(program) = list.iter().filter(|command| command.joint == Some(Joint::Pipe)).find_map(|command| asking(command))
            && !has_pipefail
        {
            let message = format!("{path} pipes what `{program}` gives: when that fails, the shell sees only the end of the pipe");
            let help = "write `set -o pipefail` in a script of bash, or save the output to a file first".to_owned();
            found.push(Diagnostic::of(&FAILURE_HIDDEN, message).at(place).help(help));
        }
    }
    found
}

/// Whether the command is a condition, of which failing is one of two results.
fn is_condition(command: &Command<'_>) -> bool {
    matches!(command.words.first(), Some(&("if" | "elif" | "while" | "until" | "!")))
}

/// Of `a && b || true` what comes last.
fn ignored<'t>(list: &[Command<'t>]) -> Option<&'t str> {
    let (last, before) = list.split_last()?;
    let is_last_resort =
        before.last()?.joint == Some(Joint::Or) && matches!(last.words.as_slice(), ["true" | ":" | "/bin/true" | "/usr/bin/true"]);
    let is_chain = before.iter().any(|command| command.joint == Some(Joint::And) && !is_test(command));
    (is_last_resort && is_chain).then(|| last.words[0])
}

/// Whether the command only asks a question.
fn is_test(command: &Command<'_>) -> bool {
    matches!(program(command), Some("[" | "[[" | "test" | "command" | "grep" | "which" | "type"))
}

/// The program of a command, if it asks others.
fn asking<'t>(command: &Command<'t>) -> Option<&'t str> {
    program(command).filter(|name| ASKING.contains(name))
}

/// The name of the program that a command runs.
fn program<'t>(command: &Command<'t>) -> Option<&'t str> {
    let is_before = |word: &&&str| matches!(**word, "sudo" | "time" | "{" | "then" | "do" | "else" | "exec" | "-E") || is_assignment(word);
    let word = command.words.iter().find(|word| !is_before(word))?;
    word.rsplit('/').next()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
