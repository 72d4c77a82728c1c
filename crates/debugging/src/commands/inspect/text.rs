//! What bootstrap data holds, as people read it.

use super::{DocumentReport, Inspected, LogLineReport, MachineReport, SecretReport, StepReport};
use crate::inspect::step::SENTINEL;
use windlass_report::text::{plural, table};

/// The maximum number of characters of a command that are listed.
const LISTED: usize = 100;

/// The maximum number of characters of a message of a log that are listed.
const LISTED_OF_LOG: usize = 200;

/// The data as text. `contents`: with the contents of its files.
pub fn text(inspected: &Inspected, contents: bool) -> String {
    let mut out: String = inspected.secrets.iter().map(secret).collect();
    for (at, machine) in inspected.machines.iter().enumerate() {
        let documents: Vec<&DocumentReport> = inspected
            .documents
            .iter()
            .filter(|document| document.machine == at + 1)
            .collect();
        if inspected.machines.len() > 1 {
            out.push_str(&format!("\n{}\n", machine.name));
        }
        for document in &documents {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&of_document(document));
            if contents {
                document
                    .steps
                    .iter()
                    .for_each(|step| out.push_str(&content(step)));
            }
        }
        if !documents.is_empty() {
            out.push_str(&facts(machine));
        }
    }
    if let Some(log) = &inspected.log {
        let omitted = if log.omitted > 0 {
            format!(", {} more of the same kinds", log.omitted)
        } else {
            String::new()
        };
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!(
            "{}: {}{omitted}\n",
            log.file,
            plural(log.lines, "line")
        ));
        out.push_str(&table(&log.found.iter().map(log_line).collect::<Vec<_>>()));
        out.push_str(&format!("{}\n", log.outcome_words));
    }
    out
}

fn secret(secret: &SecretReport) -> String {
    let format = secret
        .format
        .as_ref()
        .map(|format| format!(", format {format}"))
        .unwrap_or_default();
    let made = secret
        .created
        .as_ref()
        .zip(secret.age_seconds)
        .map(|(created, age)| format!(", made {created}, {} ago", ago(age)));
    format!(
        "Secret {}{format}{}\n",
        secret.name,
        made.unwrap_or_default()
    )
}

/// A length of time in its largest unit.
fn ago(seconds: i64) -> String {
    let units = [
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    let (length, unit) = units
        .into_iter()
        .find(|(length, _)| seconds.abs() >= *length)
        .unwrap_or((1, "second"));
    let count = usize::try_from(seconds.abs() / length).unwrap_or(usize::MAX);
    let sign = if seconds < 0 { "minus " } else { "" };
    format!("{sign}{}", plural(count, unit))
}

fn of_document(document: &DocumentReport) -> String {
    let packing: String = document
        .packing
        .iter()
        .map(|layer| format!("{layer} > "))
        .collect();
    let jinja = if document.jinja { " with jinja" } else { "" };
    let mut out = format!(
        "{packing}{}{jinja}, {} bytes\n",
        document.form, document.bytes
    );
    if !document.steps.is_empty() {
        let header = ["STEP", "STAGE", "BY", "WHAT", "IF IT FAILS"].map(str::to_owned);
        out.push_str(&table(
            &std::iter::once(header)
                .chain(document.steps.iter().map(row))
                .collect::<Vec<_>>(),
        ));
    }
    out
}

fn row(step: &StepReport) -> [String; 5] {
    let what = match &step.file {
        None => first_line(&step.what, LISTED),
        Some(file) => {
            let said = [file.mode.as_deref(), file.owner.as_deref()]
                .into_iter()
                .flatten()
                .map(|part| format!(", {part}"))
                .collect::<String>();
            let bytes = file
                .bytes
                .map(|bytes| format!(", {}", plural(bytes, "byte")))
                .unwrap_or_default();
            let append = if file.append { ", appended" } else { "" };
            format!("{}: {}{bytes}{said}{append}", file.path, file.what)
        }
    };
    [
        step.number.to_string(),
        step.stage.to_owned(),
        step.by.clone(),
        what,
        step.failure_words.clone(),
    ]
}

/// The first line of a command, and a sign when there is more.
fn first_line(text: &str, most: usize) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let line = lines.next().unwrap_or_default();
    let short: String = line.chars().take(most).collect();
    if short.len() < line.len() || lines.next().is_some() {
        format!("{short} …")
    } else {
        short
    }
}

fn content(step: &StepReport) -> String {
    let Some((file, content)) = step
        .file
        .as_ref()
        .and_then(|file| Some((file, file.content.as_ref()?)))
    else {
        return String::new();
    };
    let end = if content.ends_with('\n') || content.is_empty() {
        ""
    } else {
        "\n"
    };
    format!("\n==> {} <==\n{content}{end}", file.path)
}

/// What the documents of a machine come to together.
fn facts(machine: &MachineReport) -> String {
    let mut out = String::new();
    match &machine.sentinel {
        Some(sentinel) if sentinel.conditional => {
            out.push_str(&format!(
                "{} writes {SENTINEL} only if the previous commands succeed\n",
                sentinel.by
            ));
        }
        Some(sentinel) => out.push_str(&format!(
            "{} writes {SENTINEL}, even after a failure\n",
            sentinel.by
        )),
        None => out.push_str(&format!("nothing in these documents writes {SENTINEL}\n")),
    }
    machine
        .tokens
        .iter()
        .for_each(|id| out.push_str(&format!("bootstrap token {id}\n")));
    for certificate in &machine.certificates {
        let until = certificate
            .not_after
            .as_ref()
            .map(|until| format!(", until {until}"))
            .unwrap_or_default();
        let expired = if certificate.expired { ", expired" } else { "" };
        out.push_str(&format!(
            "certificate {} in {}{until}{expired}\n",
            certificate.subject, certificate.file
        ));
    }
    out
}

fn log_line(line: &LogLineReport) -> [String; 3] {
    let step = line
        .step
        .map(|step| format!("step {step}"))
        .unwrap_or_default();
    let repeats = if line.repeats > 0 {
        format!(" ({} more)", line.repeats)
    } else {
        String::new()
    };
    [
        line.line.to_string(),
        step,
        format!("{}{repeats}", first_line(&line.message, LISTED_OF_LOG)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_in_their_largest_unit() {
        let shown = [0, 59, 60, 7_200, 172_800, -60].map(ago);
        assert_eq!(
            shown,
            [
                "0 seconds",
                "59 seconds",
                "1 minute",
                "2 hours",
                "2 days",
                "minus 1 minute"
            ]
        );
    }
}
