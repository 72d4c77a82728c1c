//! What clusterctl says when it rejects.

use std::fmt;

use windlass_objects::secrets::Words;
use windlass_source::diag::Remedy;

/// Why clusterctl would end here, in its own words, without the leading `Error: `. It stops at the
/// first fault, so there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    message: String,
    /// What we add: a place, or what to do instead. Never part of the message, which scripts may
    /// know.
    notes: Vec<Remedy>,
    hints: Vec<String>,
    help: Option<Remedy>,
}

impl Rejection {
    /// Creates a rejection with clusterctl's message, which has no leading `Error: `.
    pub fn new(message: impl Into<String>) -> Self {
        Rejection {
            message: message.into(),
            notes: Vec::new(),
            hints: Vec::new(),
            help: None,
        }
    }

    /// Puts the words of the step that failed before the message.
    #[must_use]
    pub(crate) fn within(mut self, step: impl fmt::Display) -> Self {
        self.message = format!("{step}: {}", self.message);
        self
    }

    #[must_use]
    pub(super) fn without(mut self, secrets: &Words) -> Self {
        secrets.remove_from(&mut self.message);
        self
    }

    /// Adds what clusterctl does not say.
    #[must_use]
    pub(crate) fn note(mut self, note: impl Into<Remedy>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds what helps a person and would only disturb a script that compares clusterctl's words.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds what a person can do, where a script compares clusterctl's message.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<Remedy>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// clusterctl's words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What we add.
    pub fn notes(&self) -> &[Remedy] {
        &self.notes
    }

    /// What a person can do; printed to a terminal alone.
    pub fn suggestion(&self) -> Option<&Remedy> {
        self.help.as_ref()
    }

    /// What we add where a person looks on.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Rejection {}
