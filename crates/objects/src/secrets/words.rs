//! Words out of secrets that no message may hold.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::Regex;

use super::{REDACTED, compiled};
use windlass_source::cut::cut;

/// A variable of clusterctl: its name is not a secret, its value is another file's.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| compiled(r"\$\{ *[A-Za-z_][A-Za-z0-9_]* *\}"));

/// A line of a manifest that says what an object is.
static KIND_OF_OBJECT: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r"^(?:kind: [A-Z][A-Za-z]*|apiVersion: (?:[a-z0-9.-]+/)?v[0-9][a-z0-9]{0,8})$")
});

/// A version, which stands behind the image of a manifest: the release that a message speaks of may
/// have the same.
static VERSION: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"^v[0-9]+(?:\.[0-9]+){1,2}(?:-(?:alpha|beta|rc)[.0-9]*)?$"));

/// Fields of manifests that stand on lines of their own. A Secret may hold whole manifests, and
/// findings are made of these words.
const FIELDS_OF_OBJECTS: [&str; 24] = [
    "annotations:",
    "args:",
    "command:",
    "containers:",
    "data:",
    "env:",
    "initContainers:",
    "labels:",
    "matchLabels:",
    "metadata:",
    "ports:",
    "resources:",
    "roleRef:",
    "rules:",
    "securityContext:",
    "selector:",
    "spec:",
    "status:",
    "strategy:",
    "subjects:",
    "template:",
    "tolerations:",
    "volumeMounts:",
    "volumes:",
];

/// What is shorter is base64 by chance.
const SHORTEST_DECODED: usize = 6;
/// Longer secrets are looked for in parts of this size.
const PART: usize = 64;
/// Below this a part of a longer word is another word.
const UNMISTAKABLE: usize = 16;
/// Bytes of all words.
const MOST: usize = 4 << 20;

/// Words that no message may hold.
#[derive(Debug, Clone, Default)]
pub struct Words(Option<AhoCorasick>);

impl Words {
    /// The words of these secrets that are long enough.
    pub fn new<'t>(secrets: impl Iterator<Item = &'t str>, shortest: usize) -> Self {
        let mut words = BTreeSet::new();
        let mut left = MOST;
        for word in secrets
            .flat_map(words_of)
            .filter(|word| word.chars().count() >= shortest)
        {
            if word.len() > left {
                break;
            }
            left -= word.len();
            parts(&word).for_each(|part| {
                words.insert(part.to_owned());
            });
        }
        let mut builder = AhoCorasick::builder();
        // The kind that is made soonest: it reads a few messages.
        builder
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .match_kind(MatchKind::LeftmostLongest);
        Words((!words.is_empty()).then(|| {
            builder
                .build(words)
                .expect("internal error: the words are bounded")
        }))
    }

    /// Returns the text with `<redacted>` in place of each word.
    pub fn removed_from(&self, text: &str) -> String {
        let mut text = text.to_owned();
        self.remove_from(&mut text);
        text
    }

    /// Puts `<redacted>` in place of each.
    pub fn remove_from(&self, text: &mut String) {
        for range in self.stretches(text).into_iter().rev() {
            text.replace_range(range, REDACTED);
        }
    }

    /// Where they stand in a text, in order; none touches another.
    pub fn stretches(&self, text: &str) -> Vec<Range<usize>> {
        let Some(words) = &self.0 else {
            return Vec::new();
        };
        let alone = |range: &Range<usize>| {
            let joined = |a: Option<char>, b: Option<char>| {
                a.zip(b)
                    .is_some_and(|(a, b)| a.is_alphanumeric() && b.is_alphanumeric())
            };
            let (before, found, after) = (
                cut(text, ..range.start),
                cut(text, range.clone()),
                cut(text, range.end..),
            );
            range.len() >= UNMISTAKABLE
                || !(joined(before.chars().next_back(), found.chars().next())
                    || joined(found.chars().next_back(), after.chars().next()))
        };
        words
            .find_iter(text)
            .map(|found| found.range())
            .filter(alone)
            .collect()
    }
}

/// What a message may quote from a secret: its lines, the scalars in them, as they are written and
/// as they are meant.
fn words_of(secret: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for line in secret.lines().chain([secret]) {
        let line = line.trim().trim_start_matches("- ");
        if is_of_manifest(line) {
            continue;
        }
        let value = line.split_once(": ").map_or(line, |(_, value)| value);
        let constant = VARIABLE.replace_all(line, "");
        let scalars = constant
            .split(['{', '}', '[', ']', ','])
            .map(|part| part.split_once(": ").map_or(part, |(_, value)| value));
        for word in [line, value].into_iter().chain(scalars) {
            let word = word.trim();
            let bare = word.trim_matches(['"', '\'', '\\', '*', '&', '!', '|', '>', '`', '%', '@']);
            words.extend([word, bare, core(bare)].map(str::to_owned));
            let unescaped = (word.starts_with('"') && word.contains('\\'))
                .then(|| serde_json::from_str::<String>(word).ok())
                .flatten();
            for text in decoded(bare).into_iter().chain(unescaped) {
                meant(&text, &mut words);
            }
            words.extend(
                encoded(bare)
                    .chain(in_one_case(bare))
                    .chain(assigned(bare).map(str::to_owned)),
            );
        }
    }
    // A sign alone is in every text.
    let is_sign =
        |word: &str| word.chars().count() <= 3 && !word.chars().any(char::is_alphanumeric);
    words.retain(|word| word != REDACTED && !is_sign(word) && !VERSION.is_match(word));
    words
}

/// What a message may quote from a text that a secret stands for: the whole, its lines, and what
/// they assign.
fn meant(text: &str, words: &mut BTreeSet<String>) {
    words.extend([text, text.trim()].map(str::to_owned));
    for line in text
        .lines()
        .map(|line| line.trim().trim_start_matches("- "))
        .filter(|line| !is_of_manifest(line))
    {
        words.extend([line, core(line)].map(str::to_owned));
        words.extend(assigned(line).map(str::to_owned));
    }
}

/// Whether a line says of a manifest only what an object is and has, and no value.
fn is_of_manifest(line: &str) -> bool {
    FIELDS_OF_OBJECTS.contains(&line) || KIND_OF_OBJECT.is_match(line)
}

/// A text without the signs around it; a `:` behind it makes a key of it, which is not a secret, and a
/// variable is one by its signs.
fn core(text: &str) -> &str {
    if VARIABLE.is_match(text) {
        return text;
    }
    text.trim_matches(|c: char| !c.is_alphanumeric() && c != ':')
}

/// What a line gives a name to: `name = value`, `name:value`. What is short is a word of every
/// language.
fn assigned(line: &str) -> impl Iterator<Item = &str> {
    let values = [':', '=']
        .into_iter()
        .filter_map(|sign| Some(line.split_once(sign)?.1.trim()));
    let bare = values.map(|value| value.trim_matches(['"', '\'']));
    bare.filter(|value| {
        value.chars().count() >= SHORTEST_DECODED && value.chars().any(char::is_alphanumeric)
    })
}

/// The text behind base64.
fn decoded(word: &str) -> Option<String> {
    use base64::Engine as _;
    String::from_utf8(
        base64::engine::general_purpose::STANDARD
            .decode(word)
            .ok()?,
    )
    .ok()
    .filter(|text| text.chars().count() >= SHORTEST_DECODED)
}

/// The text in upper and in lower case, which templates make of it. Of a short one that is a word
/// of every language.
fn in_one_case(word: &str) -> impl Iterator<Item = String> {
    let long = word.chars().count() >= SHORTEST_DECODED;
    let ways = long.then(|| [word.to_uppercase(), word.to_lowercase()]);
    ways.into_iter().flatten()
}

/// The text as base64, which templates make of it: alone, and with something behind it, on which
/// its last signs hang.
fn encoded(word: &str) -> impl Iterator<Item = String> {
    use base64::Engine as _;
    let long = word.chars().count() >= SHORTEST_DECODED;
    let of = |bytes: &[u8]| base64::engine::general_purpose::STANDARD_NO_PAD.encode(bytes);
    let ways = long.then(|| {
        [
            of(word.as_bytes()),
            of(&word.as_bytes()[..word.len() - word.len() % 3]),
        ]
    });
    ways.into_iter().flatten()
}

/// A long word in parts of one size: what would be left at its end could be a word of every
/// language.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let count = word.len().div_ceil(PART).max(1);
    let size = word.len().div_ceil(count);
    let mut rest = word;
    (1..=count).map(move |number| {
        let mut end = if number == count {
            rest.len()
        } else {
            rest.len().min(size)
        };
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (part, after) = rest.split_at(end);
        rest = after;
        part
    })
}
