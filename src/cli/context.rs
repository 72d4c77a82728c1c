//! What a verb is given, and how it tells what it found.

use std::sync::Arc;

use clap::{ArgMatches, FromArgMatches};
use serde::Serialize;

use super::flags::{Colour, Format, ListFormat};
use super::remedy;
use crate::io::environment::Environment;
use crate::io::stdio::Stdio;
use windlass_report::text::{self, Style};
use windlass_report::{Sources, github, json, junit, sarif, without_secrets};
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report, Severity};

/// The flags of every verb.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct Global {
    /// clusterctl's configuration: a file, or a URL
    #[arg(long, value_name = "FILE", help_heading = "Global")]
    pub config: Option<String>,
    /// The project's settings, in place of windlass.toml here or above
    #[arg(long, value_name = "FILE", help_heading = "Global")]
    pub settings: Option<String>,
    /// No notes, placeholders, next steps or summaries; errors and warnings stay
    #[arg(short, long, help_heading = "Global")]
    pub quiet: bool,
    /// How much to tell: 1 files that are read and upstream's words, 5 everything
    #[arg(
        short = 'v',
        long = "v",
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        help_heading = "Global"
    )]
    pub verbosity: i32,
    /// Colours
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Global"
    )]
    pub color: Colour,
}

impl Global {
    /// The values of a command line that was understood.
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Global::from_arg_matches(matches).expect("internal error: every verb has the global flags")
    }
}

/// What a verb works with: the streams, the environment, the flags that all verbs have.
pub struct Context<'a> {
    /// The streams. Prefer the methods of this context: they know `-q`.
    pub stdio: &'a mut Stdio,
    /// The environment.
    pub environment: &'a Environment,
    /// The flags of every verb.
    pub global: Global,
    /// How the program calls itself.
    pub program: &'static str,
    /// The words that call the verb.
    pub verb: String,
    /// What the run may spend.
    pub budget: Arc<Budget>,
}

/// Where a report goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// It is what was asked for.
    Stdout,
    /// It goes beside what was asked for.
    Stderr,
}

impl Context<'_> {
    /// Writes a list or a table for people to standard output. It may hold names out of documents;
    /// its line ends are ours.
    pub fn tell(&mut self, text: &str) {
        self.stdio.out(&text::visible_lines(text));
    }

    /// Writes paths to standard output, each on a line of its own whatever characters it has.
    pub fn paths(&mut self, paths: impl IntoIterator<Item = String>) {
        let lines: String = paths
            .into_iter()
            .map(|path| format!("{}\n", text::visible(&path)))
            .collect();
        self.stdio.out(&lines);
    }

    /// Writes data that was asked for to standard output, as it is.
    pub fn out(&mut self, text: &str) {
        self.stdio.out(text);
    }

    /// Writes data that was asked for to standard output, as it is.
    pub fn out_bytes(&mut self, bytes: &[u8]) {
        self.stdio.out_bytes(bytes);
    }

    /// Says one line on standard error, unless `-q`. It may hold names out of documents.
    pub fn talk(&mut self, line: &str) {
        if !self.global.quiet {
            self.stdio.err(&format!("{}\n", text::visible(line)));
        }
    }

    /// Says one line on standard error at this verbosity and above, also with `-q`: `-v` was asked
    /// for.
    pub fn trace(&mut self, level: i32, line: &str) {
        if self.global.verbosity >= level {
            self.stdio.err(&format!("{}\n", text::visible(line)));
        }
    }

    /// With `-v`: which files were read.
    fn tell_of(&mut self, sources: &Sources) {
        sources
            .names()
            .for_each(|name| self.trace(1, &format!("read {name}")));
    }

    /// Writes a report as JSON to standard output, with the verb's own keys `body`.
    pub fn json<T: Serialize>(
        &mut self,
        kind: &'static str,
        body: T,
        report: &Report,
        sources: &Sources,
    ) {
        self.tell_of(sources);
        self.out(&json::render(
            kind,
            body,
            &remedy::worded(without_secrets(report, sources)),
        ));
    }

    /// Writes a list in the format that was asked for.
    pub fn list<T: Serialize>(
        &mut self,
        format: ListFormat,
        kind: &'static str,
        body: T,
        table: impl FnOnce(&T) -> String,
        report: &Report,
        sources: &Sources,
    ) {
        match format {
            ListFormat::Text => {
                self.tell(&table(&body));
                self.findings(report, sources, To::Stderr);
            }
            ListFormat::Json => self.json(kind, body, report, sources),
        }
    }

    /// Writes a page to standard output, which `write` makes of the findings as people are shown
    /// them.
    pub fn page(
        &mut self,
        report: &Report,
        sources: &Sources,
        write: impl FnOnce(&Report) -> String,
    ) {
        self.tell_of(sources);
        let page = write(&self.shown(report, sources));
        self.out(&page);
    }

    /// The findings that people are shown, in the words in which they are. With `-q` advice is left
    /// out.
    fn shown(&self, report: &Report, sources: &Sources) -> Report {
        without_secrets(report, sources)
            .into_iter()
            .filter(|finding| self.is_shown(finding))
            .map(|finding| self.named(finding))
            .collect()
    }

    /// Shows findings. With `-q` advice is left out.
    pub fn findings(&mut self, report: &Report, sources: &Sources, to: To) {
        self.tell_of(sources);
        let style = self.style(to);
        let text = text::render(&self.shown(report, sources), sources, style);
        self.write(&text, to);
    }

    /// Shows a report in the format that was asked for. Text goes to `to`; a named format is always
    /// what was asked for, so it goes to standard output, with the verb's own keys `body` in
    /// JSON.
    pub fn report<T: Serialize>(
        &mut self,
        format: Format,
        kind: &'static str,
        body: T,
        report: &Report,
        sources: &Sources,
        to: To,
    ) {
        match format {
            Format::Text => self.findings(report, sources, to),
            Format::Json => self.json(kind, body, report, sources),
            Format::Sarif => self.worded(report, sources, sarif::render),
            Format::Junit => self.worded(report, sources, junit::render),
            Format::Github => self.worded(report, sources, |report, _| github::render(report)),
        }
    }

    /// Writes a report in a format of other programs to standard output.
    fn worded(
        &mut self,
        report: &Report,
        sources: &Sources,
        render: fn(&Report, &Sources) -> String,
    ) {
        self.tell_of(sources);
        self.out(&render(
            &remedy::worded(without_secrets(report, sources)),
            sources,
        ));
    }

    /// Shows the last line of a run, unless `-q`: what was done, what was found, what follows.
    pub fn summary(&mut self, done: &str, report: &Report, follows: &str, to: To) {
        let line = text::summary_line(done, report.summary(), follows);
        if !self.global.quiet && !line.is_empty() {
            self.write(&format!("{line}\n"), to);
        }
    }

    /// Writes a line beside a report, unless `-q`. It may hold names out of documents.
    pub fn note(&mut self, line: &str, to: To) {
        if !self.global.quiet {
            self.write(&format!("{}\n", text::visible(line)), to);
        }
    }

    /// How text is written to a stream.
    pub fn style(&self, to: To) -> Style {
        let stream = match to {
            To::Stdout => &self.stdio.stdout,
            To::Stderr => &self.stdio.stderr,
        };
        Style {
            colour: self.global.color.applies(stream, self.environment),
            width: stream.width(),
        }
    }

    /// A command of ours that can be pasted: the name under which we were called, and `words`.
    pub fn command(&self, words: &str) -> String {
        format!("{} {words}", self.program)
    }

    fn write(&mut self, text: &str, to: To) {
        match to {
            To::Stdout => self.stdio.out(text),
            To::Stderr => self.stdio.err(text),
        }
    }

    fn is_shown(&self, finding: &Diagnostic) -> bool {
        !self.global.quiet || finding.rule.severity != Severity::Info
    }

    /// The finding with the commands in its help spelt as this program was called; with `-v`, also
    /// what the upstream program says.
    fn named(&self, mut finding: Diagnostic) -> Diagnostic {
        if let Some(words) = finding
            .upstream
            .as_ref()
            .filter(|words| self.global.verbosity > 0 && **words != finding.message)
        {
            finding
                .notes
                .push(format!("upstream's words: {words}").into());
        }
        finding.help = finding
            .help
            .map(|remedy| self.pasteable(&remedy::words(&remedy)).into());
        finding
            .notes
            .iter_mut()
            .for_each(|note| *note = note.mapped(|part| self.pasteable(part)));
        finding
    }

    /// A text whose commands of ours are spelt as this program was called.
    pub fn pasteable(&self, text: &str) -> String {
        text.replace("`windlass ", &format!("`{} ", self.program))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::{self, Write};
    use std::rc::Rc;

    use super::*;
    use crate::io::stdio::Stream;
    use windlass_source::Source;
    use windlass_source::diag::{Place, Rule};

    #[derive(Clone, Default)]
    struct Buffer(Rc<RefCell<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn streams_of(
        program: &'static str,
        global: Global,
        verb: impl FnOnce(&mut Context<'_>),
    ) -> (String, String) {
        let (stdout, stderr) = (Buffer::default(), Buffer::default());
        let streams = (
            Stream::new("standard output", stdout.clone()),
            Stream::new("standard error", stderr.clone()),
        );
        let mut stdio = Stdio {
            stdin: Box::new(io::empty()),
            stdout: streams.0,
            stderr: streams.1,
        };
        let environment = Environment::default();
        verb(&mut Context {
            stdio: &mut stdio,
            environment: &environment,
            global,
            program,
            verb: "lint".to_owned(),
            budget: Arc::default(),
        });
        let text = |buffer: Buffer| String::from_utf8(buffer.0.borrow().clone()).unwrap();
        (text(stdout), text(stderr))
    }

    fn report() -> Report {
        let missing = Diagnostic::of(const { &Rule::error("m-s", "") }, "no series")
            .at(Place::file("m"))
            .help("run `windlass release bump v0.4.0`");
        [
            missing,
            Diagnostic::of(const { &Rule::info("a-b", "") }, "advice"),
        ]
        .into_iter()
        .collect()
    }

    #[test]
    fn quiet_keeps_errors_and_drops_talk() {
        let verb = |context: &mut Context<'_>| {
            context.talk("bootstrap-k3s v0.3.0");
            context.findings(&report(), &Sources::new(), To::Stderr);
            context.summary("", &report(), "nothing written", To::Stderr);
        };
        let error =
            "error[m-s]: no series\n  --> m\n  = help: run `windlass release bump v0.4.0`\n";
        let advice = "info[a-b]: advice\n";
        let all =
            format!("bootstrap-k3s v0.3.0\n{error}{advice}1 error, 1 info; nothing written\n");
        assert_eq!(
            streams_of("windlass", Global::default(), verb),
            (String::new(), all)
        );
        let quiet = Global {
            quiet: true,
            ..Global::default()
        };
        assert_eq!(
            streams_of("windlass", quiet, verb),
            (String::new(), error.to_owned())
        );
        // Where there is nothing to say there is no line.
        let nothing =
            |context: &mut Context<'_>| context.summary("", &Report::new(), "", To::Stderr);
        assert_eq!(
            streams_of("windlass", Global::default(), nothing),
            (String::new(), String::new())
        );
    }

    #[test]
    fn commands_can_be_pasted_where_we_are_a_plugin() {
        let verb = |context: &mut Context<'_>| {
            let command = context.command("render x");
            context.talk(&command);
            context.findings(&report(), &Sources::new(), To::Stderr);
        };
        let (_, text) = streams_of("clusterctl windlass", Global::default(), verb);
        assert!(text.starts_with("clusterctl windlass render x\n"), "{text}");
        assert!(
            text.contains("run `clusterctl windlass release bump v0.4.0`"),
            "{text}"
        );
    }

    #[test]
    fn named_formats_go_to_standard_output() {
        #[derive(Serialize)]
        struct Body {}
        for (format, begin) in [
            (
                Format::Json,
                "{\n  \"apiVersion\": \"report.windlass.dev/v1\"",
            ),
            (
                Format::Sarif,
                "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\"",
            ),
            (
                Format::Junit,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"windlass\"",
            ),
            (Format::Github, "::error file=m,title=m-s::"),
        ] {
            let verb = |context: &mut Context<'_>| {
                context.report(
                    format,
                    "Release",
                    Body {},
                    &report(),
                    &Sources::new(),
                    To::Stderr,
                )
            };
            let (stdout, stderr) = streams_of("windlass", Global::default(), verb);
            assert!(stdout.starts_with(begin), "{stdout}");
            assert_eq!(stderr, "");
        }
    }

    #[test]
    fn traces_come_when_asked_for() {
        let verb = |context: &mut Context<'_>| context.trace(1, "picked v0.3.0");
        assert_eq!(streams_of("windlass", Global::default(), verb).1, "");
        let told = Global {
            verbosity: 1,
            quiet: true,
            ..Global::default()
        };
        assert_eq!(streams_of("windlass", told, verb).1, "picked v0.3.0\n");
    }

    #[test]
    fn more_is_told_when_asked_for() {
        let rejected = Diagnostic::of(const { &Rule::error("a-b", "") }, "c is missing")
            .upstream("c: Required value");
        let report: Report = [rejected].into_iter().collect();
        let sources: Sources = [Source::new("x.yaml", "")].into_iter().collect();
        let verb = |context: &mut Context<'_>| context.findings(&report, &sources, To::Stderr);
        assert_eq!(
            streams_of("windlass", Global::default(), verb).1,
            "error[a-b]: c is missing\n"
        );
        let told = Global {
            verbosity: 1,
            ..Global::default()
        };
        let expected = "read x.yaml\nerror[a-b]: c is missing\n  = note: upstream's words: c: Required value\n";
        assert_eq!(streams_of("windlass", told, verb).1, expected);
    }
}
