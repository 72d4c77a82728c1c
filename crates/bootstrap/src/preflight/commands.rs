//! Commands as a shell reads them. cloud-init writes the commands of a list into one script, and so
//! does Ignition's unit: what one command opens the next ones may close, and what none closes takes
//! all that follows.

use std::borrow::Cow;

use serde_json::Value;

use super::Subject;
use super::arguments::first_told;
use windlass_objects::fields;
use windlass_shell::{
    self as shell, Command, Fate, Interpreter, Joint, Judged, Part, Script, Strictness,
};
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, rules};

rules! {
    /// a shell command or script has an unclosed quote, bracket or block
    pub(crate) UNCLOSED = error("command-unclosed");
    /// the first line of a script ends with a carriage return, which becomes part of the
    /// interpreter's name
    pub(crate) INTERPRETER_CARRIAGE_RETURN = error("script-interpreter-carriage-return");
    /// the failure of a command is ignored
    pub(crate) FAILURE_HIDDEN = warning("command-failure-hidden");
}

/// The lists of commands, each of which is one script, or a part of one that ends before kubeadm's.
const LISTS: [&str; 3] = ["bootCommands", "preKubeadmCommands", "postKubeadmCommands"];

pub(super) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    if fields::text(subject.spec, &["platform"]) == "windows" {
        return Vec::new();
    }
    let lists = LISTS.iter().flat_map(|list| of_list(subject, list));
    lists.chain(scripts(subject)).collect()
}

/// The script that a list of commands becomes.
fn of_list(subject: &Subject<'_>, list: &str) -> Vec<Diagnostic> {
    let commands: Vec<(usize, &str)> = fields::items(subject.spec, &[list])
        .iter()
        .enumerate()
        .filter_map(|(index, command)| Some((index, command.as_str()?)))
        .collect();
    let text = commands
        .iter()
        .map(|(_, command)| format!("{command}\n"))
        .collect::<String>();
    let lines: Vec<(usize, u32)> = commands
        .into_iter()
        .flat_map(|(index, command)| (1..=line_count(command)).map(move |line| (index, line)))
        .collect();
    let path = subject.spec_path.field(list);
    let of_line = |line: u32| {
        let found = usize::try_from(line)
            .ok()
            .and_then(|line| lines.get(line.checked_sub(1)?));
        found.map_or_else(
            || (path.clone(), 1),
            |(index, line)| (path.index(*index), *line),
        )
    };
    let script = shell::read(&text);
    let unclosed = unclosed(
        subject,
        &script,
        &of_line,
        "all commands that follow belong to it",
    )
    .into_iter();
    unclosed.chain(hidden(subject, &script, &of_line)).collect()
}

/// How many lines a command takes in its script.
fn line_count(command: &str) -> u32 {
    u32::try_from(command.matches('\n').count()).map_or(u32::MAX, |count| count.saturating_add(1))
}

fn scripts(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let files = fields::items(subject.spec, &["files"]).iter().enumerate();
    let found = files.filter_map(|(index, file)| {
        let content = content(subject, file);
        let is_plain = file.get("encoding").is_none()
            && file
                .get("contentFormat")
                .is_none_or(|format| format == "Raw");
        let interpreter = Interpreter::of(&content).filter(|_| is_plain)?;
        let path = subject
            .spec_path
            .field("files")
            .index(index)
            .field("content");
        if let Some(consequence) = interpreter.carriage_return() {
            let finding = Diagnostic::of(
                &INTERPRETER_CARRIAGE_RETURN,
                format!("{path} is a script whose first line ends with CR LF: {consequence}"),
            );
            return Some(
                finding
                    .at(subject.config.line_place(&path, 1))
                    .help("write the lines of the script with LF alone"),
            );
        }
        let mut script = interpreter.is_shell().then(|| shell::read(&content))?;
        // At the end of a file a shell ends a here-document itself.
        script.unclosed = script.unclosed.filter(|found| found.opener != "<<");
        unclosed(
            subject,
            &script,
            &|line| (path.clone(), line),
            "the shell runs nothing from there on",
        )
    });
    found.collect()
}

/// A file's content with the line ends that the node sees.
fn content<'a>(subject: &Subject<'a>, file: &'a Value) -> Cow<'a, str> {
    let content = fields::text(file, &["content"]);
    if subject.ends_lines_in_lf {
        content.replace("\r\n", "\n").into()
    } else {
        content.into()
    }
}

/// Of a line of a script, the field that has it, and which of its lines it is.
type OfLine<'f> = &'f dyn Fn(u32) -> (FieldPath, u32);

fn unclosed(
    subject: &Subject<'_>,
    script: &Script<'_>,
    of_line: OfLine<'_>,
    consequence: &str,
) -> Option<Diagnostic> {
    let (line, message, help) = match (script.unclosed, script.trailing()) {
        (Some(found), _) => (
            found.line,
            format!(
                "opens `{}` and never closes it: {consequence}",
                found.opener
            ),
            found.help(),
        ),
        (None, Some(command)) => {
            let message = "ends with an operator, and no command follows it".to_owned();
            (
                command.line,
                message,
                "remove the operator, or write the command after it".to_owned(),
            )
        }
        (None, None) => return None,
    };
    let (path, line) = of_line(line);
    let finding = Diagnostic::of(&UNCLOSED, format!("{path} {message}"));
    Some(
        finding
            .at(subject.config.line_place(&path, line))
            .help(help),
    )
}

/// Commands of which nobody learns that they failed. What ignores one failure, as `a || true`, is
/// meant so.
fn hidden(subject: &Subject<'_>, script: &Script<'_>, of_line: OfLine<'_>) -> Vec<Diagnostic> {
    let judged = script.judged(Strictness::default());
    let lists = script.firsts().into_iter().filter(|first| {
        let command = &script.commands[*first];
        command.part == Part::Body && !command.is_negated
    });
    let found = lists.filter_map(|first| {
        let (what, help) = how_hidden(script, &judged, first)?;
        let (path, line) = of_line(script.commands[first].line);
        let finding = Diagnostic::of(&FAILURE_HIDDEN, format!("{path} {what}"));
        Some(
            finding
                .at(subject.config.line_place(&path, line))
                .help(help),
        )
    });
    first_told(found)
}

/// How the list of commands that begins there hides a failure, and what to do about it.
fn how_hidden(script: &Script<'_>, judged: &[Judged], first: usize) -> Option<(String, String)> {
    let list: Vec<&Command<'_>> = script.list(first).map(|(_, command)| command).collect();
    if let Some(ignored) = ignored(&list).filter(|_| judged[first].fate == Fate::Excused) {
        let what = format!(
            "ends with `|| {ignored}`, which also hides that an earlier command of the line fails"
        );
        return Some((
            what,
            format!("put it beside the command that may fail: `a && {{ b || {ignored}; }}`"),
        ));
    }
    let program = script
        .list(first)
        .find_map(|(at, command)| command.asking().filter(|_| judged[at].is_piped_away))?;
    let what = format!(
        "pipes what `{program}` gives: when that fails, the shell sees only the end of the pipe",
        program = Quoted(program)
    );
    Some((
        what,
        "write `set -o pipefail` in a script of bash, or save the output to a file first"
            .to_owned(),
    ))
}

/// Of `a && b || true` what comes last.
fn ignored<'t>(list: &[&Command<'t>]) -> Option<&'t str> {
    let (last, before) = list.split_last()?;
    let is_last_resort =
        before.last()?.joint == Some(Joint::Or) && last.always_succeeds() && last.words.len() == 1;
    let is_chain = before
        .iter()
        .any(|command| command.joint == Some(Joint::And) && !command.is_test());
    (is_last_resort && is_chain).then(|| last.words[0])
}
