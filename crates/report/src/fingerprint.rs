//! What a finding is recognised by in the next run, although its line has moved.

use std::collections::BTreeMap;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::Sources;
use windlass_source::cut::cut;
use windlass_source::diag::Diagnostic;

/// How many characters GitHub looks at.
const BLOCK: usize = 100;
/// The base of its hash.
const BASE: u64 = 37;
/// What stands for the end of the file.
const END: u16 = u16::MAX;

/// The fingerprints of the findings of one run.
pub(super) struct Fingerprints<'s> {
    sources: &'s Sources,
    /// The hashes of a file's lines, made when the first is asked for.
    lines: BTreeMap<&'s str, Vec<LineHash>>,
    /// How often each of ours was given.
    given: BTreeMap<String, u32>,
}

impl<'s> Fingerprints<'s> {
    pub(super) fn new(sources: &'s Sources) -> Self {
        Fingerprints {
            sources,
            lines: BTreeMap::new(),
            given: BTreeMap::new(),
        }
    }

    /// Of rule, file, object and field, and which of several alike it is: it survives what happens
    /// to the rest of the file.
    pub(super) fn own(&mut self, finding: &Diagnostic) -> String {
        let place = &finding.place;
        let mut hash = Sha256::new();
        for part in [
            finding.rule.id,
            place.file.as_deref().unwrap_or_default(),
            place.object.as_deref().unwrap_or_default(),
        ] {
            hash.update(part);
            hash.update([0]);
        }
        hash.update(place.path.to_string());
        let mut text = hash.finalize()[..16]
            .iter()
            .fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            });
        let count = self.given.entry(text.clone()).or_default();
        *count += 1;
        let _ = write!(text, ":{count}");
        text
    }

    /// Of the characters from the start of the finding's line, as GitHub computes it from the file.
    /// `None` without the text; and where these characters are of a secret, which could be
    /// computed back from the hash.
    pub(super) fn of_line(&mut self, finding: &Diagnostic) -> Option<String> {
        let source = self.sources.get(finding.place.file.as_deref()?)?;
        let line = finding.place.span.map_or(1, |span| span.start.line);
        let lines = self
            .lines
            .entry(source.name())
            .or_insert_with(|| line_hashes(source.text()));
        let LineHash { start, hash, count } = lines.get((line as usize).checked_sub(1)?)?;
        let block = *start..block_end(source.text(), *start);
        (!self.sources.is_secret(source.name(), &block)).then(|| format!("{hash:x}:{count}"))
    }
}

/// GitHub's hash of a line.
struct LineHash {
    /// The byte at which the line begins.
    start: usize,
    hash: u64,
    /// The how manieth line with this hash it is.
    count: u32,
}

/// The hashes of all lines, as GitHub's upload of SARIF computes them where they are missing, and
/// compares them where they are not: over a hundred UTF-16 units without blanks, with one line end
/// for all kinds of it, an end of the file, and zeros behind it (<https://github.com/github/codeql-action/blob/main/src/fingerprints.ts>).
fn line_hashes(text: &str) -> Vec<LineHash> {
    let mut units: Vec<u16> = Vec::with_capacity(text.len() + BLOCK + 1);
    // The units and the bytes before each line.
    let mut starts = vec![(0, 0)];
    let mut after_return = false;
    for (at, c) in text.char_indices() {
        let is_second_half = after_return && c == '\n';
        after_return = c == '\r';
        if matches!(c, ' ' | '\t') || is_second_half {
            continue;
        }
        let c = if after_return { '\n' } else { c };
        units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
        if c == '\n' {
            starts.push((units.len(), at + 1));
        }
    }
    units.push(END);
    units.resize(units.len() + BLOCK, 0);
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    let hashed = |(at, start): (usize, usize)| {
        let block = &units[at..at + BLOCK];
        let hash = block.iter().fold(0_u64, |hash, unit| {
            hash.wrapping_mul(BASE).wrapping_add(u64::from(*unit))
        });
        let count = counts.entry(hash).or_default();
        *count += 1;
        LineHash {
            start,
            hash,
            count: *count,
        }
    };
    starts.into_iter().map(hashed).collect()
}

/// Where the characters end that the hash of a line is made of, or later.
fn block_end(text: &str, start: usize) -> usize {
    let counted = cut(text, start..)
        .char_indices()
        .filter(|(_, c)| !matches!(c, ' ' | '\t' | '\r'));
    counted
        .map(|(at, c)| start + at + c.len_utf8())
        .nth(BLOCK - 1)
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::Source;
    use windlass_source::diag::{Place, Rule};

    fn check(text: &str, expected: &[&str]) {
        let hashes: Vec<String> = line_hashes(text)
            .iter()
            .map(|line| format!("{:x}:{}", line.hash, line.count))
            .collect();
        assert_eq!(hashes, expected, "{text:?}");
    }

    /// What GitHub's own tests expect.
    #[test]
    fn lines_have_githubs_hashes() {
        check("", &["c129715d7a2bc9a3:1"]);
        check(
            " a\nb\n  \t\tc\n d",
            &[
                "271789c17abda88f:1",
                "54703d4cd895b18:1",
                "180aee12dab6264:1",
                "a23a3dc5e078b07b:1",
            ],
        );
        let greetings = [
            "e9496ae3ebfced30:1",
            "fb7c023a8b9ccb3f:1",
            "ce8ba1a563dcdaca:1",
            "e20e36e16fcb0cc8:1",
            "b3edc88f2938467e:1",
            "c8e28b0b4002a3a0:1",
            "c129715d7a2bc9a3:1",
        ];
        check(
            " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n",
            &greetings,
        );
        check(
            " hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n",
            &greetings,
        );
        check(
            " hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r",
            &greetings,
        );
        let repeated = [
            "a7f2ff13bc495cf2:1",
            "a7f2ff13bc495cf2:2",
            "a7f2ff13bc495cf2:3",
            "a7f2ff13bc495cf2:4",
            "a7f2ff13bc495cf2:5",
            "a7f2ff13bc495cf2:6",
            "a7f2ff1481e87703:1",
            "a9cf91f7bbf1862b:1",
            "55ec222b86bcae53:1",
            "cc97dc7b1d7d8f7b:1",
            "c129715d7a2bc9a3:1",
        ];
        check(&"Lorem ipsum dolor sit amet.\n".repeat(10), &repeated);
    }

    #[test]
    fn what_moves_is_recognised() {
        let of = |text: &str| {
            let source = Source::new("x.yaml", text);
            let at = text.find("here").unwrap();
            let place = source.place_at(at..at + 4).in_object("Kind/name");
            let finding = Diagnostic::of(const { &Rule::error("a-b", "") }, "m").at(place);
            let sources: Sources = [source].into_iter().collect();
            let mut fingerprints = Fingerprints::new(&sources);
            (
                fingerprints.own(&finding),
                fingerprints.of_line(&finding),
                fingerprints.own(&finding),
            )
        };
        let rest = "more: 1\n".repeat(20);
        let (before, after) = (
            of(&format!("a: here\n{rest}")),
            of(&format!("# new\n\na:   here\n{rest}")),
        );
        assert_eq!(before, after);
        assert!(
            before.1.is_some() && before.0.ends_with(":1") && before.2.ends_with(":2"),
            "{before:?}"
        );
        assert_ne!(before.1, of(&format!("b: here\n{rest}")).1);
    }

    /// A hundred characters from the start of the line, blanks not counted, and not one more on
    /// either side.
    #[test]
    fn secrets_just_outside_of_what_is_hashed_do_not_matter() {
        let is_hashed = |filler: usize| {
            let filler = "x".repeat(filler);
            let text = format!("password: hunter2\n# {filler}\ntoken: hunter3\n");
            let source = Source::new("s.yaml", text);
            let at = source.text().find('#').unwrap();
            let finding =
                Diagnostic::of(const { &Rule::error("a-b", "") }, "m").at(source.place_at(at..at));
            Fingerprints::new(&[source].into_iter().collect())
                .of_line(&finding)
                .is_some()
        };
        // `#`, the filler, the line's end, `token:`, and then the first character of the secret.
        assert_eq!(
            [0, 90, 91, 92, 93].map(is_hashed),
            [false, false, false, true, true]
        );
    }

    #[test]
    fn nothing_is_computed_from_secrets_and_unknown_texts() {
        let text = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData:\n  a: hunter2\n{}",
            "#\n".repeat(100)
        );
        let source = Source::new("s.yaml", text);
        let of_line = |at: usize, name: &str| {
            let finding =
                Diagnostic::of(const { &Rule::error("a-b", "") }, "m").at(source.place_at(at..at));
            let mut sources: Sources = [Source::new(name, source.text())].into_iter().collect();
            let hidden = Fingerprints::new(&sources).of_line(&finding);
            sources.show_secrets();
            (
                hidden.is_some(),
                Fingerprints::new(&sources).of_line(&finding).is_some(),
            )
        };
        let secret = source.text().find("hunter2").unwrap();
        assert_eq!(of_line(secret, "s.yaml"), (false, true));
        assert_eq!(
            of_line(0, "s.yaml"),
            (false, true),
            "the secret is within a hundred characters"
        );
        assert_eq!(of_line(secret + 20, "s.yaml"), (true, true));
        assert_eq!(of_line(secret, "other.yaml"), (false, false));
        let whole = Diagnostic::of(const { &Rule::error("a-b", "") }, "m").at(Place::file("w"));
        let sources: Sources = [Source::new("w", "")].into_iter().collect();
        assert_eq!(
            Fingerprints::new(&sources).of_line(&whole).as_deref(),
            Some("c129715d7a2bc9a3:1")
        );
    }
}
