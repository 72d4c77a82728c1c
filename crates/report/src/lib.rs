//! Writes a [`Report`](windlass_source::diag::Report) as text, JSON, SARIF, JUnit, GitHub workflow
//! commands, Markdown or HTML, with waivers applied and secrets hidden.
// Offsets come from several places here, and a panic would print what must be hidden.
#![cfg_attr(not(test), deny(clippy::string_slice))]

mod fingerprint;
pub mod github;
pub mod html;
pub mod json;
pub mod junit;
pub mod levels;
pub mod markdown;
pub mod sarif;
mod secrets;
pub mod text;
pub mod waivers;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

pub use secrets::without_secrets;

use windlass_objects::secrets::{Words, joined, spans, with_commands};
use windlass_source::Source;
use windlass_source::cut::cut;

/// Fewer characters are not secret that can be reported from other words, unless the finding stands
/// there.
const SHORTEST: usize = 6;

/// The texts that findings point into, by the name that findings show. A finding whose file is not
/// here is shown without an excerpt.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    texts: BTreeMap<Arc<str>, Text>,
    /// Texts that nobody sees, whose secrets may be in findings.
    unseen: Vec<Text>,
    /// Secrets that stand in no text.
    secrets: BTreeSet<String>,
    shows_secrets: bool,
    /// What [`Sources::words`] gives, made when a finding is shown.
    words: OnceLock<Words>,
}

/// A text and where it holds secrets.
#[derive(Debug, Clone)]
pub struct Text {
    source: Source,
    is_shown: bool,
    /// Made when a finding is shown.
    secrets: OnceLock<Vec<Range<usize>>>,
    /// The same with what commands hold, made when a line of the text is shown.
    hidden: OnceLock<Vec<Range<usize>>>,
}

impl From<Source> for Text {
    fn from(source: Source) -> Self {
        Text {
            source,
            is_shown: true,
            secrets: OnceLock::new(),
            hidden: OnceLock::new(),
        }
    }
}

impl Text {
    fn secrets(&self) -> &[Range<usize>] {
        self.secrets.get_or_init(|| spans(self.source.text()))
    }

    /// Those that touch a stretch.
    fn secrets_in<'t>(
        &'t self,
        range: &Range<usize>,
    ) -> impl Iterator<Item = &'t Range<usize>> + use<'t> {
        touching(self.secrets(), range)
    }

    fn hidden_in<'t>(
        &'t self,
        range: &Range<usize>,
    ) -> impl Iterator<Item = &'t Range<usize>> + use<'t> {
        touching(
            self.hidden
                .get_or_init(|| with_commands(self.source.text(), self.secrets())),
            range,
        )
    }
}

/// Of stretches in their order those that touch one.
fn touching<'t>(
    spans: &'t [Range<usize>],
    range: &Range<usize>,
) -> impl Iterator<Item = &'t Range<usize>> + use<'t> {
    let end = range.end;
    let first = spans.partition_point(|span| span.end <= range.start);
    spans[first..]
        .iter()
        .take_while(move |span| span.start < end)
}

impl Sources {
    /// No texts: findings are shown without excerpts.
    pub fn new() -> Self {
        Sources::default()
    }

    /// Adds a text.
    pub fn add(&mut self, source: Source) {
        self.words.take();
        self.texts.insert(source.name().clone(), source.into());
    }

    /// Adds the texts of another set.
    pub fn join(&mut self, other: Sources) {
        self.words.take();
        self.texts.extend(other.texts);
        self.unseen.extend(other.unseen);
        self.secrets.extend(other.secrets);
    }

    /// Adds a text that is not shown, whose secrets findings do not show either.
    pub fn add_unseen(&mut self, source: Source) {
        self.words.take();
        self.unseen.push(source.into());
    }

    /// Adds secrets that findings do not show.
    pub fn add_secrets(&mut self, secrets: impl IntoIterator<Item = String>) {
        self.words.take();
        self.secrets.extend(secrets);
    }

    /// The words that nothing may show; none when the user wishes to see secrets.
    pub fn words(&self) -> &Words {
        self.words.get_or_init(|| {
            if self.shows_secrets {
                return Words::default();
            }
            let of_texts = self.texts().flat_map(|text| {
                text.secrets()
                    .iter()
                    .map(|span| cut(text.source.text(), span.clone()))
            });
            Words::new(
                of_texts.chain(self.secrets.iter().map(String::as_str)),
                SHORTEST,
            )
        })
    }

    /// Shows no line of a text.
    pub fn hide(&mut self, name: &str) {
        self.texts
            .entry(name.into())
            .and_modify(|text| text.is_shown = false);
    }

    /// Shows secrets, because the user wishes it.
    pub fn show_secrets(&mut self) {
        self.words.take();
        self.shows_secrets = true;
    }

    /// The names of all texts, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(AsRef::as_ref)
    }

    /// The texts that may be shown, by name.
    fn shown(&self) -> impl Iterator<Item = &Source> {
        self.texts
            .values()
            .filter(|text| text.is_shown)
            .map(|text| &text.source)
    }

    /// The text of that name, if it may be shown.
    pub fn get(&self, name: &str) -> Option<&Source> {
        self.text(name)
            .filter(|text| text.is_shown)
            .map(|text| &text.source)
    }

    fn shows_secrets(&self) -> bool {
        self.shows_secrets
    }

    fn text(&self, name: &str) -> Option<&Text> {
        self.texts.get(name)
    }

    fn texts(&self) -> impl Iterator<Item = &Text> {
        self.texts.values().chain(&self.unseen)
    }

    /// Whether a stretch of a text holds a part of a secret that nobody asked to see.
    fn is_secret(&self, name: &str, range: &Range<usize>) -> bool {
        !self.shows_secrets
            && self
                .text(name)
                .is_some_and(|text| text.secrets_in(range).next().is_some())
    }

    /// What a line hides of its text, however little looks like a secret there.
    fn hidden_of_line(&self, name: &str, line: u32) -> Vec<&str> {
        let found = self
            .text(name)
            .filter(|_| !self.shows_secrets)
            .and_then(|text| Some((text, text.source.line_range(line)?)));
        found.map_or(Vec::new(), |(text, line)| {
            let within =
                |hidden: &Range<usize>| hidden.start.max(line.start)..hidden.end.min(line.end);
            text.hidden_in(&line)
                .map(|hidden| cut(text.source.text(), within(hidden)))
                .collect()
        })
    }

    /// The stretches of a line that hold secrets that nobody asked to see, or words of them, in
    /// bytes of the line.
    fn secrets_of_line(&self, name: &str, line: u32) -> Vec<Range<usize>> {
        let found = self
            .text(name)
            .filter(|_| !self.shows_secrets)
            .and_then(|text| Some((text, text.source.line_range(line)?)));
        let Some((text, line)) = found else {
            return Vec::new();
        };
        let within = |secret: &Range<usize>| {
            secret.start.max(line.start) - line.start..secret.end.min(line.end) - line.start
        };
        let words = self
            .words()
            .stretches(cut(text.source.text(), line.clone()));
        joined(text.hidden_in(&line).map(within).chain(words).collect())
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

/// The rules of this crate, one list for each file. A test fails if one is missing.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[crate::waivers::RULES];

#[cfg(test)]
mod tests {
    use super::*;

    /// What is added after a finding was shown is not shown by the next one.
    #[test]
    fn words_are_those_of_all_that_is_known() {
        let secret = |name: &str, word: &str| Source::new(name, format!("password: {word}\n"));
        let mut sources = Sources::new();
        sources.add(secret("a", "hunter2"));
        let shown = |sources: &Sources| {
            sources
                .words()
                .removed_from("hunter2 hunter3 hunter4 hunter5")
        };
        assert_eq!(shown(&sources), "<redacted> hunter3 hunter4 hunter5");
        sources.add(secret("b", "hunter3"));
        assert_eq!(shown(&sources), "<redacted> <redacted> hunter4 hunter5");
        sources.add_unseen(secret("c", "hunter4"));
        assert_eq!(shown(&sources), "<redacted> <redacted> <redacted> hunter5");
        sources.add_secrets(["hunter5".to_owned()]);
        assert_eq!(
            shown(&sources),
            "<redacted> <redacted> <redacted> <redacted>"
        );
        sources.show_secrets();
        assert_eq!(shown(&sources), "hunter2 hunter3 hunter4 hunter5");
    }
}
