//! Values for the variables of clusterctl's templates: what was given, what clusterctl sets itself,
//! and placeholders.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use memchr::memmem;

use super::owner::with_v;
use super::placeholder::{self, Placeholder};
use super::request::Request;
use windlass_envsubst::Template;
use windlass_objects::opaque_block::{OpaqueBlock, blocks_at, blocks_of};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Place, Remedy, Setting, rules};

rules! {
    /// a template cannot be parsed, or a variable has no value
    pub TEMPLATE_REJECTED = error("template-not-substituted");
    /// the input contains clusterctl variables, but `--template` is not set
    pub TEMPLATE_UNDECLARED = error("template-not-declared");
    /// a variable without a value is a block, whose content was not checked
    pub(crate) BLOCK_OPEN = info("template-block-unchecked");
}

/// What clusterctl sets when nothing else says it: one machine of the control plane, no worker, and
/// the namespace of people who name none.
const DEFAULTS: [(&str, &str); 3] = [
    ("CONTROL_PLANE_MACHINE_COUNT", "1"),
    ("WORKER_MACHINE_COUNT", "0"),
    ("NAMESPACE", "default"),
];

/// Where the values of variables come from.
#[derive(Clone, Copy)]
pub struct Variables<'v> {
    /// What was given, by flag, environment or configuration.
    pub given: &'v dyn Fn(&str) -> Option<String>,
    /// What is known of the machines, and whether anything may stand in.
    pub request: &'v Request,
}

impl Variables<'_> {
    /// The value of a variable; `None` when only a placeholder could be one.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        (self.given)(name)
            .or_else(|| self.asked_for(name))
            .or_else(|| default(name))
            .or_else(|| self.placeholder_for(name).map(|it| it.value))
    }

    /// The values of flags that clusterctl has as variables.
    fn asked_for(&self, name: &str) -> Option<String> {
        match name {
            "CLUSTER_NAME" => self.request.cluster_name.clone(),
            "KUBERNETES_VERSION" => self.request.kubernetes_version.as_deref().map(with_v),
            _ => None,
        }
    }

    /// The placeholder for a variable that clusterctl itself asks for.
    pub(super) fn placeholder_for(&self, name: &str) -> Option<Placeholder> {
        let is_known = (self.given)(name).is_some()
            || self.asked_for(name).is_some()
            || !self.request.placeholders;
        match name {
            _ if is_known => None,
            "CLUSTER_NAME" => Some(placeholder::cluster_name()),
            "KUBERNETES_VERSION" => Some(placeholder::kubernetes_version()),
            _ => None,
        }
    }
}

fn default(name: &str) -> Option<String> {
    DEFAULTS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| (*value).to_owned())
}

/// The maximum number of variables of a file for which markers stand: each is looked for in all
/// that is rendered.
pub const MOST_MARKERS: usize = 200;

/// What stands for a variable on which nothing rendered may depend: a text that no document has by
/// chance, and that, because it has the length of the name, is not the beginning of another's.
fn marker(name: &str) -> String {
    format!(
        "placeholder-{}-{}",
        name.len(),
        name.to_ascii_lowercase().replace('_', "-")
    )
}

/// The variables of a file that have no value.
#[derive(Debug, Clone)]
pub(super) struct Unset {
    source: Source,
    /// Where each is used first.
    first: BTreeMap<String, Range<usize>>,
    /// Every place, by its start.
    uses: BTreeMap<usize, (usize, String)>,
    /// Those that an operator or another variable would change, so that no marker can stand for
    /// them.
    changed: BTreeSet<String>,
    /// Those with an empty default, such as `${A:-}`, which clusterctl treats as no default.
    with_empty_default: BTreeSet<String>,
    /// Those that stand for a block of unknown content, for which nothing stands.
    blocks: Vec<OpaqueBlock>,
}

impl Unset {
    /// Those of a template that have neither a default nor a value.
    pub(super) fn of(source: &Source, template: &Template<'_>, variables: &Variables<'_>) -> Self {
        let required = template.variables();
        let unset: BTreeSet<&String> = required
            .iter()
            .filter(|(name, default)| default.is_none() && variables.value(name).is_none())
            .map(|(name, _)| name)
            .collect();
        let mut found = Unset {
            source: source.clone(),
            first: BTreeMap::new(),
            uses: BTreeMap::new(),
            changed: BTreeSet::new(),
            with_empty_default: BTreeSet::new(),
            blocks: blocks_of(source.text(), template),
        };
        found.blocks.retain(|block| unset.contains(&block.name));
        for used in template.uses() {
            let Some(name) = unset.get(&used.name.to_owned()).map(|name| (*name).clone()) else {
                continue;
            };
            let text = source.slice(used.span.clone());
            let is_plain = text
                .strip_prefix("${")
                .and_then(|text| text.strip_suffix('}'))
                .is_some_and(|text| text.trim() == name);
            if used.nested || !is_plain {
                found.changed.insert(name.clone());
            }
            if used.gives_default(source.text()) {
                found.with_empty_default.insert(name.clone());
            }
            let first = found
                .first
                .entry(name.clone())
                .or_insert_with(|| used.span.clone());
            if used.span.start < first.start {
                *first = used.span.clone();
            }
            found.uses.insert(used.span.start, (used.span.end, name));
        }
        found
    }

    /// Those that have to be given whatever is rendered.
    pub(super) fn without_marker(&self) -> BTreeSet<String> {
        if self.first.len() > MOST_MARKERS {
            self.first.keys().cloned().collect()
        } else {
            self.changed.clone()
        }
    }

    pub(super) fn marker(&self, name: &str) -> Option<String> {
        let value = || {
            if self.is_block(name) {
                String::new()
            } else {
                marker(name)
            }
        };
        self.first.contains_key(name).then(value)
    }

    /// The blocks of the document that contains a place of the file.
    pub(super) fn blocks_in(&self, place: &Place) -> impl Iterator<Item = &str> {
        let start = place
            .span
            .filter(|_| place.file.as_deref() == Some(self.source.name().as_ref()))
            .map(|span| span.start.offset);
        let blocks = start.map_or(&[][..], |start| blocks_at(&self.blocks, start));
        blocks.iter().map(|block| block.name.as_str())
    }

    /// The text and the blocks of the file of a place.
    pub(super) fn blocks_of(&self, place: &Place) -> Option<(&str, &[OpaqueBlock])> {
        let is_here = place.file.as_deref() == Some(self.source.name().as_ref());
        is_here.then(|| (self.source.text(), self.blocks.as_slice()))
    }

    /// The findings for blocks without a value, one for each variable.
    pub(super) fn open_blocks(&self) -> impl Iterator<Item = Diagnostic> {
        let mut known = BTreeSet::new();
        let first = move |block: &&OpaqueBlock| known.insert(block.name.clone());
        self.blocks.iter().filter(first).map(|block| {
            let name = &block.name;
            let message = format!(
                "variable {name} is a block and has no value, so the block was not checked"
            );
            let remedy = Remedy::new("to have it checked, give it with ")
                .set(Setting::Var, format!("{name}=VALUE"));
            Diagnostic::of(&BLOCK_OPEN, message)
                .at(self.source.place_at(block.span.clone()))
                .help(remedy.then(", or in the environment"))
        })
    }

    pub(super) fn is_block(&self, name: &str) -> bool {
        self.blocks.iter().any(|block| block.name == name)
    }

    /// The one that a finding is about: it is where one is used, or says what stands for it.
    pub(super) fn behind(&self, finding: &Diagnostic) -> Option<&str> {
        let span = finding
            .place
            .span
            .filter(|_| finding.place.file.as_deref() == Some(self.source.name().as_ref()));
        let used = span.and_then(|span| {
            let range = span.start.offset..span.end.offset;
            // A scalar may begin before the variable and end after it; a mapping that holds one is
            // not about it.
            let is_scalar = !self.source.slice(range.clone()).contains(['\n', ':']);
            let last = self
                .uses
                .range(
                    ..if is_scalar {
                        range.end.max(range.start + 1)
                    } else {
                        range.start + 1
                    },
                )
                .next_back();
            last.filter(|(_, (end, _))| range.start < *end)
        });
        let said = || {
            self.names()
                .find(|name| finding.message.contains(&marker(name)))
        };
        used.map(|(_, (_, name))| name.as_str()).or_else(said)
    }

    /// Those whose marker a text holds.
    pub(super) fn within<'u>(&'u self, text: &'u [u8]) -> impl Iterator<Item = &'u str> {
        self.names()
            .filter(|name| memmem::find(text, marker(name).as_bytes()).is_some())
    }

    /// Those that are used within a stretch of the file.
    pub(super) fn used_in(&self, place: &Place) -> impl Iterator<Item = &str> {
        let span = place
            .span
            .filter(|_| place.file.as_deref() == Some(self.source.name().as_ref()));
        let uses = span.map(|span| {
            self.uses
                .range(span.start.offset..span.end.offset.max(span.start.offset))
        });
        uses.into_iter()
            .flatten()
            .map(|(_, (_, name))| name.as_str())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.first.keys().map(String::as_str)
    }

    /// The finding for each that is needed, where it is used first.
    pub(super) fn findings(&self, needed: &BTreeSet<String>) -> impl Iterator<Item = Diagnostic> {
        self.first
            .iter()
            .filter(|(name, _)| needed.contains(*name))
            .map(|(name, first)| {
                let message = if self.with_empty_default.contains(name) {
                    format!(
                        "variable {name} has no value: clusterctl treats its empty default as no default"
                    )
                } else {
                    format!("variable {name} has no value and no default")
                };
                let finding = Diagnostic::of(&TEMPLATE_REJECTED, message)
                    .at(self.source.place_at(first.clone()));
                let remedy =
                    Remedy::new("give it with ").set(Setting::Var, format!("{name}=VALUE"));
                finding.help(remedy.then(", or in the environment"))
            })
    }
}
