//! How much a stream may hold. Files come from anywhere; what is read of them must not fill the memory.

use crate::diag::{Diagnostic, Report, rules};

rules! {
    /// a file exceeds the size limit
    pub(super) SIZE_EXCEEDED = error("yaml-size-exceeded");
    /// lists and mappings exceed the nesting limit
    pub(super) DEPTH_EXCEEDED = error("yaml-depth-exceeded");
    /// a file exceeds the limit of values, aliases included
    NODES_EXCEEDED = error("yaml-nodes-exceeded");
    /// a file has more findings than are shown
    FINDINGS_EXCEEDED = error("yaml-findings-exceeded");
}

/// What one stream may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How deep lists and mappings may lie in one another, with what aliases stand for.
    pub depth: usize,
    /// How many values all documents together may hold. An alias counts as all that it stands for.
    pub nodes: usize,
    /// How many bytes the text may have, and how many bytes of text aliases may stand for.
    pub bytes: usize,
    /// How many findings are worth telling.
    pub findings: usize,
}

impl Default for Limits {
    /// Room for a bundle of several hundred CRDs (some 40 MB); Go itself allows a depth of 10 000.
    fn default() -> Self {
        Limits { depth: 200, nodes: 2_000_000, bytes: 64 << 20, findings: 1000 }
    }
}

/// Whether go-yaml refuses a document because too much of it comes from aliases: of what it decodes at most 99 % up to 400,000 values, and
/// from there on less, down to 10 % from 4,000,000 on.
#[allow(clippy::cast_precision_loss, reason = "Go converts in the same way")]
pub(super) fn is_excessive(aliased: usize, decoded: usize) -> bool {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    let (aliased_values, decoded_values) = (aliased as f64, decoded as f64);
    let allowed = 0.99 - 0.89 * ((decoded_values.clamp(LOW, HIGH) - LOW) / (HIGH - LOW));
    aliased > 100 && decoded > 1000 && aliased_values / decoded_values > allowed
}

/// The finding about such a document, without its place.
pub(super) fn excessive() -> Diagnostic {
    Diagnostic::of(&NODES_EXCEEDED, "nearly all of the document comes from aliases, which Go's reader refuses")
        .help("write out what the aliases multiply")
        .upstream("yaml: document contains excessive aliasing")
}

/// Why reading stops before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The document is dropped; the next one is read.
    Document,
    /// Nothing more is read.
    Stream,
}

/// What is used up of the limits, and the findings.
#[derive(Debug)]
pub(super) struct Budget {
    pub(super) limits: Limits,
    pub(super) report: Report,
    nodes: usize,
    bytes: usize,
}

impl Budget {
    pub(super) fn new(limits: Limits) -> Self {
        Budget { limits, report: Report::new(), nodes: 0, bytes: 0 }
    }

    /// Takes nodes from the budget.
    pub(super) fn charge(&mut self, nodes: usize) -> Result<(), Exceeded> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > self.limits.nodes { Err(Exceeded::Nodes(self.limits.nodes)) } else { Ok(()) }
    }

    /// Takes bytes that an alias copies from the budget.
    pub(super) fn charge_copy(&mut self, bytes: usize) -> Result<(), Exceeded> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.limits.bytes { Err(Exceeded::Bytes(self.limits.bytes)) } else { Ok(()) }
    }

    /// Adds a finding, as long as there are not too many.
    pub(super) fn find(&mut self, finding: Diagnostic) {
        let found = self.report.findings().len();
        if found < self.limits.findings {
            self.report.push(finding);
        } else if found == self.limits.findings {
            let message = format!("more than {found} findings; the rest is not shown");
            let place = finding.place;
            self.report.push(Diagnostic::of(&FINDINGS_EXCEEDED, message).at(place).help("mend those above first"));
        }
    }
}

/// A limit that the stream exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exceeded {
    Nodes(usize),
    Bytes(usize),
}

impl Exceeded {
    /// The finding, without its place.
    pub(super) fn finding(self) -> Diagnostic {
        match self {
            Exceeded::Nodes(most) => {
                Diagnostic::of(&NODES_EXCEEDED, format!("the file holds more than {most} values; the rest is not read"))
                    .help("split the file, or write out what its aliases multiply")
            }
            Exceeded::Bytes(most) => {
                Diagnostic::of(&NODES_EXCEEDED, format!("aliases stand for more than {most} bytes; the rest is not read"))
                    .help("write out what the aliases multiply")
            }
        }
    }
}
