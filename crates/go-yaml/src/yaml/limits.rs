//! How much a stream may hold. Files come from anywhere; what is read of them must not fill the
//! memory.

use windlass_source::budget::{self, Budget, Resource};
use windlass_source::diag::{Diagnostic, Place, Report, rules};

rules! {
    /// a file, or the whole input, exceeds the size limit
    pub(super) SIZE_EXCEEDED = error("yaml-size-exceeded");
    /// lists and mappings exceed the nesting limit
    pub(super) DEPTH_EXCEEDED = error("yaml-depth-exceeded");
    /// a file, or the whole input, exceeds the limit of values, aliases included
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
    /// How many bytes the text may have, and how many bytes of memory aliases may stand for.
    pub bytes: usize,
    /// How many findings are worth telling.
    pub findings: usize,
}

impl Default for Limits {
    /// Room for a bundle of several hundred CRDs (some 40 MB); Go itself allows a depth of 10 000.
    fn default() -> Self {
        Limits {
            depth: budget::MAX_NESTING,
            nodes: 2_000_000,
            bytes: 64 << 20,
            findings: 1000,
        }
    }
}

/// Whether go-yaml rejects a document because too much of it comes from aliases: of what it decodes
/// at most 99 % up to 400,000 values, and from there on less, down to 10 % from 4,000,000 on.
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
    Diagnostic::of(
        &NODES_EXCEEDED,
        "nearly all of the document comes from aliases, which Go's reader rejects",
    )
    .help("write out what the aliases multiply")
    .upstream("yaml: document contains excessive aliasing")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The document is dropped; the next one is read.
    Document,
    /// Nothing more is read.
    Stream,
}

/// How many bytes of memory a value takes that an alias stands for, its text aside. A mapping with
/// one entry takes the most.
const VALUE: usize = 128;

/// So many values are taken from the run at once.
const BATCH: usize = 1024;

/// What one source has taken of its limits and of the run, and the findings.
#[derive(Debug)]
pub(super) struct Tally<'b> {
    pub(super) limits: Limits,
    pub(super) report: Report,
    run: &'b Budget,
    nodes: usize,
    /// The values of them that were not yet taken from the run.
    pending: usize,
    copies: usize,
    /// The copies of them that are in the document which is being read.
    copied: usize,
    is_told: bool,
}

impl<'b> Tally<'b> {
    pub(super) fn new(limits: Limits, run: &'b Budget) -> Self {
        Tally {
            limits,
            report: Report::new(),
            run,
            nodes: 0,
            pending: 0,
            copies: 0,
            copied: 0,
            is_told: false,
        }
    }

    pub(super) fn charge(&mut self, nodes: usize) -> Result<(), Exceeded> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > self.limits.nodes {
            return Err(Exceeded::Nodes(self.limits.nodes));
        }
        self.pending += nodes;
        if self.pending < BATCH {
            Ok(())
        } else {
            self.settle()
        }
    }

    /// Takes from the run what was read since the last time.
    pub(super) fn settle(&mut self) -> Result<(), Exceeded> {
        self.run
            .take(Resource::Values, std::mem::take(&mut self.pending))
            .map_err(Exceeded::Run)
    }

    /// Takes what an alias copies: values, and the bytes of their texts.
    pub(super) fn charge_copy(&mut self, values: usize, bytes: usize) -> Result<(), Exceeded> {
        let memory = values.saturating_mul(VALUE).saturating_add(bytes);
        self.copies = self.copies.saturating_add(memory);
        if self.copies > self.limits.bytes {
            return Err(Exceeded::Copies(self.limits.bytes));
        }
        self.copied += memory;
        self.run
            .take(Resource::Copies, memory)
            .map_err(Exceeded::Run)
    }

    /// A document begins.
    pub(super) fn start(&mut self) {
        self.copied = 0;
    }

    /// The document is rejected, and nothing of it is kept.
    pub(super) fn drop_copies(&mut self) {
        let dropped = std::mem::take(&mut self.copied);
        self.copies -= dropped;
        self.run.give_back(Resource::Copies, dropped);
    }

    /// Adds a finding, as long as there are not too many.
    pub(super) fn find(&mut self, finding: Diagnostic) {
        let found = self.report.findings().len();
        if found < self.limits.findings {
            self.report.push(finding);
        } else if found == self.limits.findings {
            let message = format!("more than {found} findings; the rest is not shown");
            let place = finding.place;
            self.report.push(
                Diagnostic::of(&FINDINGS_EXCEEDED, message)
                    .at(place)
                    .help("correct those above first"),
            );
        }
    }

    /// Says what was exceeded, and where. Of a run that has nothing left only the first place is
    /// told, whoever reads on.
    pub(super) fn exceeded(&mut self, exceeded: Exceeded, place: Place) {
        if std::mem::replace(&mut self.is_told, true) {
            return;
        }
        let finding = match exceeded {
            Exceeded::Run(spent) => self.run.blamed(|| exhausted(spent).at(place)),
            own => own.finding().at(place),
        };
        self.report.push(finding);
    }
}

/// The finding about the source that took the last of what a run has, without its place.
pub(super) fn exhausted(spent: budget::Exceeded) -> Diagnostic {
    let (rule, help) = match spent.resource() {
        Resource::Bytes | Resource::Steps | Resource::Rules | Resource::Unpacked => {
            (&SIZE_EXCEEDED, "give fewer or smaller files to one run")
        }
        Resource::Values => (&NODES_EXCEEDED, "give fewer or smaller files to one run"),
        Resource::Copies => (&NODES_EXCEEDED, "write out what the aliases multiply"),
    };
    Diagnostic::of(
        rule,
        format!("with this document there are {spent}; the rest is not read"),
    )
    .help(help)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exceeded {
    Nodes(usize),
    Copies(usize),
    /// The run has nothing left.
    Run(budget::Exceeded),
}

impl Exceeded {
    /// The finding, without its place.
    fn finding(self) -> Diagnostic {
        match self {
            Exceeded::Nodes(most) => Diagnostic::of(
                &NODES_EXCEEDED,
                format!("the file holds more than {most} values; the rest is not read"),
            )
            .help("split the file, or write out what its aliases multiply"),
            Exceeded::Copies(most) => Diagnostic::of(
                &NODES_EXCEEDED,
                format!("aliases stand for more than {most} bytes; the rest is not read"),
            )
            .help("write out what the aliases multiply"),
            Exceeded::Run(spent) => exhausted(spent),
        }
    }
}
