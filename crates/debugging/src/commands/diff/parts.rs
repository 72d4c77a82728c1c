//! The parts of two machines, compared.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::nodes::Node;
use super::{AttributeChange, Change, PartChange};
use crate::changes::{
    Kind, Part, certificates_folder, changed_lines, made_same, parts, without_tokens,
};
use windlass_objects::secrets::{Words, redacted};
use windlass_report::Sources;
use windlass_report::text::{Changed, Style, plural, unified};
use windlass_source::Source;
use windlass_source::budget::Budget;

/// The maximum number of lines that are printed for a part.
const MOST_LINES: usize = 400;

pub(super) struct Compared<'c> {
    pub(super) show_secrets: bool,
    pub(super) words: &'c Words,
    pub(super) budget: &'c Budget,
    /// Whether something that is new in every machine was left out.
    pub(super) is_made_same: &'c mut bool,
}

/// A digest for each side that is there.
type Digests = (Option<String>, Option<String>);

impl Compared<'_> {
    /// What differs, and the digest of each side.
    pub(super) fn parts(
        &mut self,
        was: Option<&Node<'_>>,
        is: Option<&Node<'_>>,
    ) -> (Vec<PartChange>, Digests) {
        let (before, after) = (was.map(|node| self.of(node)), is.map(|node| self.of(node)));
        let digests = (before.as_deref().map(digest), after.as_deref().map(digest));
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let old: BTreeMap<_, _> = before
            .iter()
            .map(|part| ((part.kind, part.name.as_str()), part))
            .collect();
        let new: BTreeMap<_, _> = after
            .iter()
            .map(|part| ((part.kind, part.name.as_str()), part))
            .collect();
        let kept = after.iter().map(|part| {
            (
                old.get(&(part.kind, part.name.as_str())).copied(),
                Some(part),
            )
        });
        let gone = before
            .iter()
            .filter(|part| !new.contains_key(&(part.kind, part.name.as_str())))
            .map(|part| (Some(part), None));
        let changed = kept
            .chain(gone)
            .filter_map(|(old, new)| self.part((old, was), (new, is)));
        (changed.collect(), digests)
    }

    fn of(&mut self, node: &Node<'_>) -> Vec<Part> {
        let mut parts = parts(&node.data, self.budget);
        let folder = certificates_folder(&parts).to_owned();
        for part in &mut parts {
            *self.is_made_same |= made_same(part, &folder);
        }
        parts
    }

    fn part(
        &self,
        old: (Option<&Part>, Option<&Node<'_>>),
        new: (Option<&Part>, Option<&Node<'_>>),
    ) -> Option<PartChange> {
        let shown = new.0.or(old.0)?;
        let change = match (old.0, new.0) {
            (None, _) => Change::Added,
            (_, None) => Change::Removed,
            (Some(old), Some(new)) if old.text == new.text && old.attributes == new.attributes => {
                return None;
            }
            _ => Change::Changed,
        };
        let origin = |(part, node): (Option<&Part>, Option<&Node<'_>>)| {
            part.filter(|part| part.kind == Kind::File)
                .zip(node)
                .and_then(|(part, node)| node.origins.get(&part.name).cloned())
        };
        let text = |part: Option<&Part>| part.map_or("", |part| part.text.as_str()).to_owned();
        let is_secret = !self.show_secrets && [old, new].into_iter().any(is_secret);
        Some(PartChange {
            kind: shown.kind.as_str(),
            name: shown.name.clone(),
            change,
            from: origin(new).or_else(|| origin(old)),
            attributes: if change == Change::Changed {
                attributes(old.0?, new.0?)
            } else {
                Vec::new()
            },
            lines: self.lines(
                (shown.kind, &shown.name),
                &text(old.0),
                &text(new.0),
                is_secret,
            ),
        })
    }

    /// The lines that differ, as far as they may be shown.
    fn lines(
        &self,
        (kind, name): (Kind, &str),
        old: &str,
        new: &str,
        is_secret: bool,
    ) -> Vec<String> {
        if old == new {
            return Vec::new();
        }
        if is_secret {
            let count = |text: &str| plural(text.lines().count(), "line");
            return vec![format!("secret: {} before, {} now", count(old), count(new))];
        }
        let shown = |text: &str| match (self.show_secrets, kind) {
            (true, _) => text.to_owned(),
            (false, Kind::File) => self.words.removed_from(&redacted(&without_tokens(text))),
            (false, _) => self.words.removed_from(&redacted(text)),
        };
        let (old, new) = (shown(old), shown(new));
        let changes = changed_lines(&old, &new, self.budget);
        if changes.is_empty() {
            return vec!["only a secret differs".to_owned()];
        }
        let before = Source::new(name, old.as_str());
        let mut sources = Sources::new();
        sources.add(before.clone());
        // What may not be shown is gone from both texts.
        sources.show_secrets();
        let text = unified(
            &Changed::new(before, Source::new(name, new.as_str()), changes),
            &sources,
            Style::default(),
        );
        // The head only repeats the name.
        let mut lines: Vec<String> = text.lines().skip(2).map(str::to_owned).collect();
        let more = lines.len().saturating_sub(MOST_LINES);
        if more > 0 {
            lines.truncate(MOST_LINES);
            lines.push(format!("… {} more", plural(more, "line")));
        }
        lines
    }
}

/// Whether the text of a part is known or likely to be secret as a whole.
fn is_secret((part, node): (Option<&Part>, Option<&Node<'_>>)) -> bool {
    // Which file came out of a Secret, data that was made already does not tell.
    part.zip(node).is_some_and(|(part, node)| {
        node.secret_files.contains(&part.name) || node.is_made() && part.kind == Kind::File
    })
}

fn attributes(old: &Part, new: &Part) -> Vec<AttributeChange> {
    let value = |part: &Part, name: &str| {
        part.attributes
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.clone())
    };
    let names = old
        .attributes
        .iter()
        .chain(
            new.attributes
                .iter()
                .filter(|(name, _)| value(old, name).is_none()),
        )
        .map(|(name, _)| *name);
    let changes = names.map(|name| AttributeChange {
        name,
        old: value(old, name),
        new: value(new, name),
    });
    changes.filter(|change| change.old != change.new).collect()
}

/// A digest of all that is compared.
fn digest(parts: &[Part]) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    for part in parts {
        add(part.kind.as_str());
        add(&part.name);
        add(&part.text);
        part.attributes.iter().for_each(|(name, value)| {
            add(name);
            add(value);
        });
    }
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
