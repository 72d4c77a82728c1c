//! Findings about the user's documents: what is wrong, where it stands, what to do.
//!
//! A [`Diagnostic`] is data. It is never printed here; `windlass-report` turns a [`Report`] into
//! text or JSON. A fault in a document is always a `Diagnostic` and never an `Err`: `Err` is for
//! the world (a file that cannot be read).

mod descent;
mod path;
mod place;
mod remedy;
mod report;
mod rule;
mod shared;
mod text;

use std::ops::Range;

pub use descent::Descent;
pub use path::{FieldPath, Segment};
pub use place::{Place, Position, Span};
pub use remedy::{Part, Remedy, Setting};
pub use report::{Report, Summary};
pub use rule::{Class, PROJECT, Rule, rules};
pub use shared::Shared;
pub use text::{Quoted, Text};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// clusterctl, the API server or Cluster API rejects the document, or breaks on it.
    Error,
    /// Likely harm, although nothing rejects it.
    Warning,
    /// Advice.
    Info,
}

impl Severity {
    /// The word that users see, in text, in JSON and in `--deny`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// A second place that a finding speaks of, with the words beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// Location.
    pub place: Place,
    /// What is there; empty when the place speaks for itself.
    pub label: Text,
}

/// Lines that would correct a document, shown as `+` lines in its excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insertion {
    /// The line (from 1) after which the new ones belong.
    pub after_line: u32,
    /// The lines, indented as the document is.
    pub lines: Vec<Text>,
}

/// A text that replaces another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Bytes of the file; none where something is inserted.
    pub range: Range<usize>,
    /// What stands there then.
    pub with: String,
}

/// Changes of the finding's file that certainly fix it, and change nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fix {
    /// The changes, none of which touches another one.
    pub changes: Vec<Change>,
}

/// Where somebody said that a finding does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaivedIn {
    /// In a comment of the document.
    Document,
    /// In the settings of the project.
    Settings,
}

/// Why a finding does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    /// The reason that was given.
    pub reason: String,
    /// Where it was given.
    pub waived_in: WaivedIn,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which rule found it; severity and page are those of the rule.
    pub rule: &'static Rule,
    /// One lower-case phrase about the defect: the subject is the user's field or file; no final
    /// period.
    pub message: Text,
    /// Location.
    pub place: Place,
    /// Words beside the caret; empty when the message says it all.
    pub label: Text,
    /// Further places.
    pub related: Vec<Related>,
    /// Lines to add.
    pub insertion: Option<Insertion>,
    /// What to do: something to type or to paste.
    pub help: Option<Remedy>,
    /// Why it matters.
    pub notes: Vec<Text>,
    /// The whole message of the upstream program that rejects the same, unedited. Of many findings
    /// about one document only the first has it ([`Shared`]).
    pub upstream: Option<Text>,
    /// What fixes it, where that is certain.
    pub fix: Option<Fix>,
    /// Whether it fails the run even if it is not an error.
    pub is_denied: bool,
    /// Why it does not count, if it does not: it fails no run and is not told to people.
    pub waived: Option<Waiver>,
}

impl Diagnostic {
    /// A finding of a rule, without a place; use [`Diagnostic::at`] to say where.
    pub fn of(rule: &'static Rule, message: impl Into<Text>) -> Self {
        Diagnostic {
            rule,
            message: message.into(),
            place: Place::default(),
            label: Text::default(),
            related: Vec::new(),
            insertion: None,
            help: None,
            notes: Vec::new(),
            upstream: None,
            fix: None,
            is_denied: false,
            waived: None,
        }
    }

    /// Whether a run in which this is found fails.
    pub fn fails(&self) -> bool {
        self.waived.is_none() && (self.is_denied || self.rule.severity == Severity::Error)
    }

    /// Says where the finding stands.
    pub fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// Puts words beside the caret.
    pub fn label(mut self, label: impl Into<Text>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds a second location that the finding refers to, and the text beside it.
    pub fn related(mut self, place: Place, label: impl Into<Text>) -> Self {
        self.related.push(Related {
            place,
            label: label.into(),
        });
        self
    }

    /// Shows lines to add after line `after_line` of the finding's file.
    pub fn insertion(mut self, after_line: u32, lines: Vec<String>) -> Self {
        let lines = lines.into_iter().map(Text::from).collect();
        self.insertion = Some(Insertion { after_line, lines });
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<Remedy>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what certainly fixes it.
    pub fn fix(mut self, fix: impl Into<Fix>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// Says why it matters.
    pub fn note(mut self, note: impl Into<Text>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Quotes upstream's message, unedited. It may hold any value of the document.
    pub fn upstream(mut self, message: impl Into<Text>) -> Self {
        let message = message.into();
        let is_marked = message.has_values();
        self.upstream = Some(if is_marked {
            message
        } else {
            Text::of_value(message)
        });
        self
    }
}
