//! `windlass-conformance`: runs a bootstrap provider through the behavioural rules of Cluster API's
//! BootstrapConfig contract, and reports rule by rule.
#![allow(
    clippy::disallowed_methods,
    reason = "a program: it reads and writes files, starts processes, and has a clock and standard streams"
)]

mod api;
mod arguments;
mod bench;
mod certificates;
mod checks;
mod connection;
mod core_objects;
mod data;
mod environment;
mod history;
mod manifest;
mod outcome;
mod provider;
mod report;
mod runner;
mod sample;
mod session;
mod story;
#[cfg(test)]
mod tests;
mod watching;
mod world;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use windlass_report::text::visible_lines;

use crate::arguments::{Arguments, Format};
use crate::report::Report;
use crate::session::End;

/// Usage or I/O error.
const FAILED: u8 = 2;
/// As a shell reports a program that SIGINT ended.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        return print(&list());
    }
    match finish(&arguments) {
        Ok(code) => code,
        Err(message) => {
            say(&format!("error: {message}"));
            ExitCode::from(FAILED)
        }
    }
}

fn finish(arguments: &Arguments) -> Result<ExitCode, String> {
    let reports = arguments
        .reports
        .iter()
        .map(|argument| arguments::report(argument));
    let reports = reports.collect::<Result<Vec<_>, _>>()?;
    // Two TLS providers are linked; the process has to choose one first. Only a second choice fails.
    drop(aws_lc_rs::default_provider().install_default());
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let report = match runtime.block_on(session::run(arguments, say))? {
        End::Report(report) => report,
        End::Interrupted => {
            say("interrupted: the namespaces of this run are deleted");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    for (format, file) in &reports {
        write(file, &render(&report, *format, arguments)?)?;
    }
    let printed = print(&render(&report, arguments.output, arguments)?);
    Ok(match report.fails_at(arguments.fail_on.level()) {
        true => ExitCode::from(1),
        false => printed,
    })
}

fn render(report: &Report, format: Format, arguments: &Arguments) -> Result<String, String> {
    Ok(match format {
        Format::Text => report::text::render(report),
        Format::Json => report.to_json()?,
        Format::Junit => report::junit::render(report, arguments.fail_on.level()),
        Format::Markdown => report::markdown::render(report),
    })
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// Every check, as the table of the book.
fn list() -> String {
    let rows = checks::ALL.iter().map(|check| {
        let contracts = if check.contracts.is_empty() {
            "all".to_owned()
        } else {
            check.contracts.join(", ")
        };
        format!(
            "| {} | {} | {} | `{}` | {} | {} | {} |\n",
            check.rule,
            check.level.name(),
            contracts,
            check.name,
            check.does,
            check.expects,
            check.waits
        )
    });
    let head = "| rule | level | contract | check | does | expects | waits |\n|---|---|---|---|---|---|---|\n";
    std::iter::once(head.to_owned()).chain(rows).collect()
}

/// Prints to the standard output; a closed one is a usage or I/O error.
fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(FAILED),
    }
}

/// Prints a line of progress.
fn say(line: &str) {
    // What cannot be written there can be reported nowhere.
    drop(writeln!(std::io::stderr(), "{}", visible_lines(line)));
}
