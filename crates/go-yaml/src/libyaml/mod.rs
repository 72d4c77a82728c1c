//! libyaml as go-yaml carries it: text to tokens to events, exactly as Go's programs cut it. Both
//! readers stand on it: [`super::yaml`] (go-yaml v2, through sigs.k8s.io/yaml) and
//! [`super::yaml_v3`] (gopkg.in/yaml.v3).
//!
//! Places are byte offsets; texts are borrowed where they stand in the source as they are. Sources:
//! `scannerc.go` and `parserc.go` of go.yaml.in/yaml/v2 v2.4.2 and gopkg.in/yaml.v3 v3.0.1, which
//! differ in how they look for comments alone.

mod bytes;
mod fault;
mod parser;
mod scalars;
mod scanner;
mod tags;

pub(super) use fault::{Fault, Problem};
pub(super) use parser::{Event, EventKind, Parser, Properties};
pub(super) use scanner::Settings;

/// Which of the two libraries is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// go.yaml.in/yaml/v2.
    V2,
    /// gopkg.in/yaml.v3, which looks two tokens ahead for its comments, and takes them behind tabs.
    V3,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// Bytes from the start of the text.
    pub(super) offset: usize,
    /// The line, from 0, as the library counts: U+0085, U+2028 and U+2029 end a line too.
    pub(super) line: u32,
    pub(super) line_start: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Without quotes.
    Plain,
    Quoted,
    /// As a block, behind `|` or `>`.
    Block,
}
