//! What clusterctl says when it refuses.

use std::fmt;

/// Why clusterctl would end here, in its own words, without the leading `Error: `. It stops at the first fault, so there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    message: String,
    /// What we add: a place, or what to do instead. Never part of the message, which scripts may know.
    notes: Vec<String>,
    missing: Vec<MissingVariable>,
}

/// A variable that has neither a value nor a default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingVariable {
    /// Its name.
    pub name: String,
    /// The bytes of the template where it is used, ascending.
    pub offsets: Vec<usize>,
}

impl Refusal {
    /// A refusal in clusterctl's words.
    pub fn new(message: impl Into<String>) -> Self {
        Refusal { message: message.into(), notes: Vec::new(), missing: Vec::new() }
    }

    /// Puts the words of the step that failed before the message.
    #[must_use]
    pub fn within(mut self, step: impl fmt::Display) -> Self {
        self.message = format!("{step}: {}", self.message);
        self
    }

    /// Adds what clusterctl does not say.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says which variables are missing, and where they are used.
    #[must_use]
    pub(super) fn missing(mut self, variables: impl IntoIterator<Item = MissingVariable>) -> Self {
        self.missing.extend(variables);
        self
    }

    /// The variables that are missing, when that is the reason.
    pub fn missing_variables(&self) -> &[MissingVariable] {
        &self.missing
    }

    /// clusterctl's words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What we add.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
