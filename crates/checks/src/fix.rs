//! `--fix`: applies the certain fixes of findings to their texts. Comments and
//! layout stay.
//!
//! A fix is kept only if the check, asked again, no longer finds what it was made for, and no error
//! that was not there before.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use windlass_report::text::Changed;
use windlass_source::Source;
use windlass_source::diag::{Change, Diagnostic, FieldPath, Report, Severity, rules};
use windlass_source::edit::Edits;

rules! {
    /// the fix of a finding could not be applied
    LEFT_OUT = info("fix-left-out");
}

/// Texts with their fixes.
#[derive(Debug, Clone, Default)]
pub struct Fixed {
    /// All texts, in the order in which they were given.
    pub sources: Vec<Source>,
    /// Those that change.
    pub changed: Vec<Changed>,
    /// How many findings are fixed.
    pub count: usize,
    /// What is found in the texts as they are then, and which fixes were left out.
    pub report: Report,
}

/// Fixes the findings `wanted` in texts. `judge` finds what is wrong with texts; `found` is what it
/// found in these.
pub fn run(
    sources: Vec<Source>,
    mut found: Report,
    wanted: &Report,
    judge: &dyn Fn(&[Source]) -> Report,
) -> Fixed {
    let before = counts(&found);
    let fixable: Vec<&Diagnostic> = wanted
        .unwaived()
        .filter(|finding| finding.fix.is_some())
        .collect();
    let mut left_out: BTreeMap<usize, Why> = BTreeMap::new();
    // First what fails is left out, then all of the files in which something still fails, then
    // everything.
    for round in 0..3 {
        let wanted = (0..fixable.len())
            .filter(|index| !left_out.contains_key(index))
            .collect();
        let attempt = Attempt::of(&sources, &fixable, wanted);
        left_out.extend(
            attempt
                .overlapping
                .iter()
                .map(|index| (*index, Why::Overlaps)),
        );
        if attempt.made.is_empty() {
            break;
        }
        let after = judge(&attempt.sources);
        let failed = attempt.failed(&fixable, &before, &counts(&after));
        if failed.is_empty() {
            return attempt.fixed(after, told(&fixable, &left_out));
        }
        let files: BTreeSet<_> = failed
            .iter()
            .map(|index| &fixable[*index].place.file)
            .collect();
        let is_left_out = |index: &usize| {
            round == 2
                || failed.contains(index)
                || round == 1 && files.contains(&fixable[*index].place.file)
        };
        left_out.extend(
            attempt
                .made
                .iter()
                .copied()
                .filter(is_left_out)
                .map(|index| (index, Why::Fails)),
        );
    }
    found.extend(told(&fixable, &left_out));
    Fixed {
        sources,
        report: found,
        ..Fixed::default()
    }
}

/// How many findings of a report a fix would resolve.
pub fn fixable(report: &Report) -> usize {
    report
        .unwaived()
        .filter(|finding| finding.fix.is_some())
        .count()
}

/// Why a fix is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Overlaps,
    /// Afterwards the finding would still be there, or an error that was not.
    Fails,
}

fn told(fixable: &[&Diagnostic], left_out: &BTreeMap<usize, Why>) -> Vec<Diagnostic> {
    let finding = |(index, why): (&usize, &Why)| {
        let of = fixable[*index];
        let (why, help) = match why {
            Why::Overlaps => (
                "it changes what the fix of another finding changes",
                "fix again",
            ),
            Why::Fails => ("the file would not be sound with it", "fix it by hand"),
        };
        Diagnostic::of(
            &LEFT_OUT,
            format!("the fix of {} is left out: {why}", of.rule.id),
        )
        .at(of.place.clone())
        .help(help)
    };
    left_out.iter().map(finding).collect()
}

/// By what a finding is recognised although its line has moved.
type Key<'r> = (
    &'static str,
    Option<Arc<str>>,
    Option<&'r str>,
    &'r FieldPath,
);

fn key(finding: &Diagnostic) -> Key<'_> {
    (
        finding.rule.id,
        finding.place.file.clone(),
        finding.place.object.as_deref(),
        &finding.place.path,
    )
}

/// How often each finding is there, and of which severity it is.
fn counts(report: &Report) -> BTreeMap<Key<'_>, (usize, Severity)> {
    let mut counts = BTreeMap::new();
    for finding in report.findings() {
        counts
            .entry(key(finding))
            .or_insert((0, finding.rule.severity))
            .0 += 1;
    }
    counts
}

/// Texts with some fixes.
struct Attempt {
    sources: Vec<Source>,
    changed: Vec<Changed>,
    /// The fixes that are in them.
    made: Vec<usize>,
    overlapping: Vec<usize>,
}

impl Attempt {
    fn of(sources: &[Source], fixable: &[&Diagnostic], wanted: Vec<usize>) -> Self {
        let mut of_files: BTreeMap<&str, Vec<(Range<usize>, usize)>> = BTreeMap::new();
        for index in wanted {
            let stretch = fixable[index]
                .fix
                .as_ref()
                .map_or(0..0, |fix| stretch(&fix.changes));
            of_files
                .entry(fixable[index].place.file.as_deref().unwrap_or_default())
                .or_default()
                .push((stretch, index));
        }
        let mut attempt = Attempt {
            sources: Vec::new(),
            changed: Vec::new(),
            made: Vec::new(),
            overlapping: Vec::new(),
        };
        for source in sources {
            let after = of_files
                .remove(source.name().as_ref())
                .and_then(|fixes| attempt.fix(source, fixable, fixes));
            attempt
                .sources
                .push(after.unwrap_or_else(|| source.clone()));
        }
        attempt
    }

    /// A text with fixes, of which each has its stretch.
    fn fix(
        &mut self,
        before: &Source,
        fixable: &[&Diagnostic],
        mut fixes: Vec<(Range<usize>, usize)>,
    ) -> Option<Source> {
        fixes.sort_by_key(|(stretch, index)| (stretch.start, stretch.end, *index));
        let mut edits = Edits::of(before.text());
        let (mut done, mut made) = (0, Vec::new());
        for (stretch, index) in fixes {
            if stretch.start < done || before.text().get(stretch.clone()).is_none() {
                self.overlapping.push(index);
                continue;
            }
            done = stretch.end;
            made.push(index);
            let changes = fixable[index].fix.iter().flat_map(|fix| &fix.changes);
            changes.for_each(|change| edits.replace(change.range.clone(), change.with.clone()));
        }
        let text = edits.clone().apply().ok()?;
        let after = Source::new(before.name().clone(), text);
        self.made.extend(made);
        self.changed.push(Changed::new(
            before.clone(),
            after.clone(),
            edits.changed_lines(),
        ));
        Some(after)
    }

    /// The fixes after which their finding is still there, and those of files in which there is an
    /// error that was not there.
    fn failed(
        &self,
        fixable: &[&Diagnostic],
        before: &BTreeMap<Key<'_>, (usize, Severity)>,
        after: &BTreeMap<Key<'_>, (usize, Severity)>,
    ) -> BTreeSet<usize> {
        let mut fixes: BTreeMap<Key<'_>, usize> = BTreeMap::new();
        self.made
            .iter()
            .for_each(|index| *fixes.entry(key(fixable[*index])).or_default() += 1);
        let count = |counts: &BTreeMap<Key<'_>, (usize, Severity)>, key: &Key<'_>| {
            counts.get(key).map_or(0, |(count, _)| *count)
        };
        let is_new = |(key, (count_after, severity)): (&Key<'_>, &(usize, Severity))| {
            (*severity == Severity::Error && *count_after > count(before, key))
                .then(|| key.1.clone())
        };
        let broken: BTreeSet<Option<Arc<str>>> = after.iter().filter_map(is_new).collect();
        let fails = |index: &usize| {
            let key = key(fixable[*index]);
            broken.contains(&key.1) || count(after, &key) + fixes[&key] > count(before, &key)
        };
        self.made.iter().copied().filter(fails).collect()
    }

    fn fixed(self, mut report: Report, left_out: Vec<Diagnostic>) -> Fixed {
        report.extend(left_out);
        Fixed {
            sources: self.sources,
            changed: self.changed,
            count: self.made.len(),
            report,
        }
    }
}

/// From the first to the last byte that changes.
fn stretch(changes: &[Change]) -> Range<usize> {
    let start = changes
        .iter()
        .map(|change| change.range.start)
        .min()
        .unwrap_or_default();
    start
        ..changes
            .iter()
            .map(|change| change.range.end)
            .max()
            .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::diag::{Fix, Rule};

    const BAD: &Rule = &Rule::warning("a-bad", "");
    const BROKEN: &Rule = &Rule::error("b-broken", "");

    /// Finds each `x`, whose fix is `with`, and each `!`.
    fn judge(texts: &[Source], with: &str) -> Report {
        let of = |text: &Source| {
            let bad = text.text().match_indices('x').map(|(at, _)| {
                let fix = Fix {
                    changes: vec![Change {
                        range: at..at + 1,
                        with: with.to_owned(),
                    }],
                };
                Diagnostic::of(BAD, "")
                    .at(text.place_at(at..at + 1))
                    .fix(fix)
            });
            let broken = text
                .text()
                .match_indices('!')
                .map(|(at, _)| Diagnostic::of(BROKEN, "").at(text.place_at(at..at + 1)));
            bad.chain(broken).collect::<Vec<_>>()
        };
        texts.iter().flat_map(of).collect()
    }

    /// The texts after their fixes, how many findings were fixed, and the rules of what is left.
    fn check(texts: &[&str], with: &str, expected: &[&str], count: usize, left: &[&str]) {
        let texts: Vec<Source> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| Source::new(format!("{at}"), *text))
            .collect();
        let found = judge(&texts, with);
        let fixed = run(texts, found.clone(), &found, &|texts| judge(texts, with));
        let after: Vec<&str> = fixed.sources.iter().map(Source::text).collect();
        let rules: Vec<&str> = fixed
            .report
            .findings()
            .iter()
            .map(|finding| finding.rule.id)
            .collect();
        assert_eq!(
            (after.as_slice(), fixed.count, rules.as_slice()),
            (expected, count, left)
        );
        let changed = fixed
            .sources
            .iter()
            .zip(expected)
            .filter(|(source, _)| fixed.changed.iter().any(|one| one.after == **source));
        assert_eq!(changed.count(), fixed.changed.len());
    }

    #[test]
    fn what_mends_is_kept() {
        check(&["a x b x", "c", "x"], "y", &["a y b y", "c", "y"], 3, &[]);
        check(&["c"], "y", &["c"], 0, &[]);
        check(&["x!"], "y", &["y!"], 1, &["b-broken"]);
    }

    #[test]
    fn what_does_not_mend_or_breaks_is_left_out() {
        check(
            &["x", "c"],
            "xx",
            &["x", "c"],
            0,
            &["a-bad", "fix-left-out"],
        );
        check(
            &["x c x"],
            "!",
            &["x c x"],
            0,
            &["a-bad", "a-bad", "fix-left-out", "fix-left-out"],
        );
    }

    #[test]
    fn of_fixes_that_touch_the_first_is_made() {
        let text = Source::new("0", "xz");
        let fix = |range: Range<usize>| Fix {
            changes: vec![Change {
                range,
                with: "y".to_owned(),
            }],
        };
        let finding = |range: Range<usize>| {
            Diagnostic::of(BAD, "")
                .at(text.place_at(range.clone()))
                .fix(fix(range))
        };
        let found: Report = [finding(0..1), finding(0..2), finding(5..6)]
            .into_iter()
            .collect();
        let fixed = run(vec![text.clone()], found.clone(), &found, &|_| {
            Report::new()
        });
        let left: Vec<String> = fixed
            .report
            .findings()
            .iter()
            .map(|finding| finding.help.as_ref().unwrap().to_string())
            .collect();
        assert_eq!(
            (fixed.sources[0].text(), fixed.count, left),
            ("yz", 1, vec!["fix again".to_owned(); 2])
        );
    }

    #[test]
    fn what_is_waived_stays() {
        let text = Source::new("0", "x");
        let mut found = judge(std::slice::from_ref(&text), "y").into_findings();
        found[0].waived = Some(windlass_source::diag::Waiver {
            reason: String::new(),
            waived_in: windlass_source::diag::WaivedIn::Settings,
        });
        let found: Report = found.into_iter().collect();
        assert_eq!(
            (
                fixable(&found),
                run(vec![text], found.clone(), &found, &|_| Report::new()).count
            ),
            (0, 0)
        );
    }
}
