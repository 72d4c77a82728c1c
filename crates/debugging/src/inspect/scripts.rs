//! Scripts that no shell reads to their end, and those that the kernel does not start.

use super::findings::{COMMAND_UNCLOSED, INTERPRETER_CARRIAGE_RETURN};
use super::shell::Reading;
use super::step::{Action, Document, Form, Step};
use windlass_shell::{Interpreter, Unclosed};
use windlass_source::Source;
use windlass_source::diag::Diagnostic;

/// Of commands that are one script, the step that does not end, and what is said of it.
pub(super) fn of_list(steps: &[Step], unclosed: Unclosed) -> Option<(&Step, Diagnostic)> {
    let line = usize::try_from(unclosed.line).ok()?;
    let step = steps.iter().find(|step| {
        step.lines
            .is_some_and(|(first, count)| (first..first + count).contains(&line))
    })?;
    let message = format!(
        "{} opens `{}` and never closes it: all commands that follow belong to it, and none of them runs",
        step.by, unclosed.opener
    );
    Some((
        step,
        Diagnostic::of(&COMMAND_UNCLOSED, message).help(unclosed.help()),
    ))
}

/// What is wrong with the script that a step writes or is. Of a file the line within it is said.
pub(super) fn of_step(document: &Document, step: &Step, source: &Source) -> Option<Diagnostic> {
    match &step.action {
        Action::File(file) => {
            let text = std::str::from_utf8(file.content.as_ref()?.expose()).ok()?;
            let interpreter = Interpreter::of(text).filter(|_| !file.append)?;
            if let Some(consequence) = interpreter.carriage_return() {
                let message = format!(
                    "the first line of {}, which {} writes, ends with CR LF: {consequence}",
                    file.path, step.by
                );
                let finding = Diagnostic::of(&INTERPRETER_CARRIAGE_RETURN, message);
                return Some(finding.help("write the lines of the script with LF alone"));
            }
            unclosed(
                text,
                interpreter,
                &format!("{}, which {} writes, ", file.path, step.by),
            )
            .map(|(finding, _)| finding)
        }
        Action::Command(script) if matches!(document.form, Form::Script | Form::Boothook) => {
            let interpreter = Interpreter::of(script.expose())?;
            let (finding, line) = unclosed(script.expose(), interpreter, "the script ")?;
            Some(finding.at(source.line_range(line).map_or_else(
                || source.place(),
                |range| source.place_at(range.start..range.start),
            )))
        }
        _ => None,
    }
}

/// What of a script of a shell does not end, and its line. A here-document ends with its script.
fn unclosed(text: &str, interpreter: Interpreter<'_>, who: &str) -> Option<(Diagnostic, u32)> {
    let found = interpreter
        .is_shell()
        .then(|| Reading::of_file(text).unclosed())?
        .filter(|found| found.opener != "<<")?;
    let message = format!(
        "{who}opens `{}` in line {} and never closes it: the shell runs nothing from there on",
        found.opener, found.line
    );
    Some((
        Diagnostic::of(&COMMAND_UNCLOSED, message).help(found.help()),
        found.line,
    ))
}
