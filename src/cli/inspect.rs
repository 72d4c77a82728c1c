//! `inspect FILE`, `inspect --log LOG`.

use std::path::Path;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::flags::{LevelFlags, PageFormat, PageOutput};
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::io::input::{self, Limits, STDIN_NAME};
use crate::io::{clock, files};
use windlass_capi::api::time::Timestamp;
use windlass_debugging::commands::inspect::{self, Inspected, Inspecting};
use windlass_report::Sources;
use windlass_report::text::plural;
use windlass_source::Source;

pub(super) const VERB: Verb = Verb {
    words: &["inspect"],
    operands: "[FILE]",
    summary: "what bootstrap data does on the machine: unpacked, in order, with ignored failures",
    family: None,
    group: Group::Render,
    manner: Manner::Ours,
    examples: &[
        "inspect examples/user-data.txt",
        "inspect examples/user-data.txt --log examples/cloud-init-output.log",
        "inspect --log examples/cloud-init-output.log",
    ],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// A Secret as kubectl prints it, user data, what /var/lib/cloud holds of it, or - for
    /// standard input
    ///
    /// It may be packed in base64, gzip and MIME, each in any other. cloud-config, scripts and
    /// Ignition 2 and 3 are taken apart. Contents of files are not shown, and commands without
    /// what looks like a secret. A log is read as with --log.
    #[arg(value_name = "FILE", required_unless_present = "log")]
    file: Option<String>,
    /// A log of the machine, such as /var/log/cloud-init-output.log, a journal or a console log, or
    /// - for standard input
    ///
    /// Lists each error and warning with its step, and explains known causes. Without FILE the log
    /// is read alone.
    #[arg(long, value_name = "LOG")]
    log: Option<String>,
    /// Check certificates as of this time, such as 2026-11-23T10:00:00Z
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Show contents of files, and commands as they are
    #[arg(long)]
    show_secrets: bool,
    #[command(flatten)]
    output: PageOutput,
    #[command(flatten)]
    levels: LevelFlags,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct InspectReport {
    /// The file, as it was given.
    file: String,
    /// What it holds.
    #[serde(flatten)]
    inspected: Inspected,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let levels = self.levels.levels(context)?;
        let now = self.now()?;
        let Input {
            name,
            bytes,
            log,
            is_folder,
        } = self.input(context)?;
        let is_log_alone = self.file.is_none();
        let inspecting = Inspecting {
            name: &name,
            bytes: if is_log_alone { &[] } else { &bytes },
            log: log
                .as_ref()
                .map(|(name, text)| (name.as_str(), text.as_str())),
            is_log_alone,
            now,
            show_secrets: self.show_secrets,
        };
        let (inspected, mut report, texts) = if is_folder {
            inspect::folder(&name)
        } else {
            inspect::run(&inspecting, &context.budget)
        };
        let mut sources = Sources::new();
        texts
            .iter()
            .cloned()
            .for_each(|text| sources.add_unseen(text));
        sources.add_unseen(Source::new(
            name.as_str(),
            String::from_utf8_lossy(&bytes).into_owned(),
        ));
        if self.show_secrets {
            sources.show_secrets();
        }
        let order: Vec<&str> = std::iter::once(name.as_str())
            .chain(texts.iter().map(|text| text.name().as_ref()))
            .collect();
        report.sort(&order);
        let verdict = levels.judge(report);
        match self.output.format {
            PageFormat::Json => context.json(
                "Inspection",
                InspectReport {
                    file: name,
                    inspected,
                },
                &verdict.report,
                &sources,
            ),
            PageFormat::Html => {
                context.page(&verdict.report, &sources, |report| {
                    inspect::page(&name, &inspected, report, &sources)
                });
            }
            PageFormat::Text => {
                context.tell(&inspect::text(&inspected, self.show_secrets));
                context.findings(&verdict.report, &sources, To::Stdout);
                let steps = inspected
                    .documents
                    .iter()
                    .map(|document| document.steps.len())
                    .sum();
                let done = match &inspected.log {
                    Some(log) if inspected.documents.is_empty() => plural(log.lines, "line"),
                    _ => format!(
                        "{}, {}",
                        plural(inspected.documents.len(), "document"),
                        plural(steps, "step")
                    ),
                };
                context.summary(&done, &verdict.report, "", To::Stdout);
            }
        }
        Ok(Exit::failing(verdict.fails))
    }
}

/// What is read.
struct Input {
    /// The name of FILE, or of the log without FILE.
    name: String,
    bytes: Vec<u8>,
    /// The name and the text of the log.
    log: Option<(String, String)>,
    is_folder: bool,
}

fn read(file: &str, context: &mut Context<'_>) -> Result<(String, Vec<u8>), Failure> {
    Ok(match file {
        "-" => {
            let bytes = input::read_stdin(&mut context.stdio.stdin, Limits::default())?;
            (STDIN_NAME.to_owned(), bytes)
        }
        file => (file.to_owned(), files::read_file(file, Limits::default())?),
    })
}

impl Arguments {
    fn input(&self, context: &mut Context<'_>) -> Result<Input, Failure> {
        let (file, log) = (self.file.as_deref(), self.log.as_deref());
        if file == Some("-") && log == Some("-") {
            let message = "FILE and --log are both standard input";
            return Err(Failure::usage(message, "save one of the two to a file"));
        }
        let first = file.or(log).unwrap_or_default();
        let is_folder = first != "-" && files::is_folder(Path::new(first));
        let (name, bytes) = match is_folder {
            true => (first.to_owned(), Vec::new()),
            false => read(first, context)?,
        };
        let log = match (file, log) {
            (Some(_), Some(log)) => Some(read(log, context)?),
            (Some(_), None) => None,
            (None, _) => Some((name.clone(), bytes.clone())),
        };
        let log = log.map(|(name, bytes)| (name, inspect::log_text(&bytes, &context.budget)));
        Ok(Input {
            name,
            bytes,
            log,
            is_folder,
        })
    }

    /// The time that was named, or the clock's, in seconds since 1970.
    fn now(&self) -> Result<i64, Failure> {
        let Some(text) = &self.at else {
            return Ok(clock::now());
        };
        let help = "write it as RFC 3339 has it, such as `--at 2026-11-23T10:00:00Z`";
        let time = Timestamp::parse(text)
            .ok_or_else(|| Failure::usage(format!("`--at {text}` is not a time"), help))?;
        Ok(time.as_second())
    }
}
