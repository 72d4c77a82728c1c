//! What the transpiler and Ignition say of a config: entries with a line and a column, as they
//! print them.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The config is rejected.
    Error,
    /// The config may mean something else.
    Warning,
    Info,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) severity: Severity,
    /// Upstream's words.
    pub(crate) message: String,
    /// The line that upstream names, from 1; 0 when it names none.
    pub(crate) line: u32,
    /// The column, from 1.
    pub(crate) column: u32,
    /// The line where the fault is, also when upstream does not name it.
    pub(crate) at: u32,
}

impl Entry {
    pub(crate) fn new(severity: Severity, message: impl Into<String>) -> Self {
        Entry {
            severity,
            message: message.into(),
            line: 0,
            column: 0,
            at: 0,
        }
    }

    pub(crate) fn error(message: impl Into<String>) -> Self {
        Entry::new(Severity::Error, message)
    }

    pub(crate) fn warning(message: impl Into<String>) -> Self {
        Entry::new(Severity::Warning, message)
    }

    /// The entry at a place, unless it has one.
    pub(crate) fn or_at(mut self, (line, column): (u32, u32)) -> Self {
        if self.line == 0 {
            (self.line, self.column) = (line, column);
        }
        if self.at == 0 {
            self.at = line;
        }
        self
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        };
        match self.line {
            0 => write!(formatter, "{severity}: {}", self.message),
            line => write!(
                formatter,
                "{severity} at line {line}, column {}\n{}",
                self.column, self.message
            ),
        }
    }
}

pub(crate) fn is_fatal(entries: &[Entry]) -> bool {
    entries
        .iter()
        .any(|entry| entry.severity == Severity::Error)
}

/// The entries as upstream prints a report.
pub(crate) fn printed(entries: &[Entry]) -> String {
    entries
        .iter()
        .map(Entry::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}
