//! Turns a [`Report`](crate::diag::Report) into what people and programs read. Pure: values in, text out.

pub mod github;
pub mod json;
pub mod levels;
pub mod text;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::text::source::Source;

/// The texts that findings point into, by the name that findings show. A finding whose file is not here is shown without an excerpt.
#[derive(Debug, Clone, Default)]
pub struct Sources(BTreeMap<Arc<str>, Option<Source>>);

impl Sources {
    /// No texts: findings are shown without excerpts.
    pub fn new() -> Self {
        Sources::default()
    }

    /// Adds a text.
    pub fn add(&mut self, source: Source) {
        self.0.insert(source.name().clone(), Some(source));
    }

    /// Keeps the name of a text alone: findings in it are shown without an excerpt.
    pub fn forget_text(&mut self, name: &str) {
        self.0.entry(name.into()).and_modify(|source| *source = None);
    }

    /// The names of all texts, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(AsRef::as_ref)
    }

    /// The text of that name.
    pub fn get(&self, name: &str) -> Option<&Source> {
        self.0.get(name)?.as_ref()
    }
}

impl FromIterator<Source> for Sources {
    fn from_iter<T: IntoIterator<Item = Source>>(iter: T) -> Self {
        let mut sources = Sources::new();
        sources.extend(iter);
        sources
    }
}

impl Extend<Source> for Sources {
    fn extend<T: IntoIterator<Item = Source>>(&mut self, iter: T) {
        for source in iter {
            self.add(source);
        }
    }
}
