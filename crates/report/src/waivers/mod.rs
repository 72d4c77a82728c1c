//! Waivers: findings that somebody has looked at and lives with, for a reason. They stay in the
//! report, and count no more.
//!
//! A waiver is a comment in the document, `# windlass: ignore[RULE] because REASON`, on the line of
//! the finding or alone above it, or an entry of the project's settings. What a waiver says
//! wrongly, or for nothing, is found too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Sources;
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::cut::cut;
use windlass_source::diag::{Diagnostic, Place, Report, WaivedIn, Waiver, rules};
use windlass_source::glob;
use windlass_source::nearest::nearest;

rules! {
    /// a waiver suppresses nothing
    UNUSED = warning("waiver-unused");
    /// a waiver names a rule that does not exist
    RULE_UNKNOWN = warning("waiver-rule-unknown");
    /// a waiver has no reason, so it is ignored
    pub REASON_MISSING = warning("waiver-reason-missing");
    /// a comment starts like a waiver but cannot be parsed
    MALFORMED = warning("waiver-malformed");
}

/// A waiver of the project's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectWaiver {
    /// The rule.
    pub rule: String,
    /// The files, relative to the folder of the settings, as patterns without braces; a folder
    /// stands for all that is below.
    pub patterns: Vec<String>,
    /// The reason.
    pub reason: String,
    /// Where the settings say so.
    pub place: Place,
}

/// What a report is held against.
#[derive(Clone, Copy)]
pub struct Waivers<'a> {
    /// The waivers of the project.
    pub project: &'a [ProjectWaiver],
    /// The path of a file relative to the folder of the settings.
    pub path_of: &'a dyn Fn(&str) -> String,
    /// The ids of all rules.
    pub known: &'a BTreeSet<&'static str>,
    /// Whether this run would have found what a rule finds in a file: a waiver that suppresses
    /// nothing is reported only then.
    pub is_judged: &'a dyn Fn(&str, &str) -> bool,
    /// The same for all files of a waiver of the project.
    pub is_settled: &'a dyn Fn(&ProjectWaiver) -> bool,
    /// What the run may spend.
    pub budget: &'a Budget,
}

/// The report with what is waived marked, and with what is wrong with waivers.
pub fn apply(report: Report, sources: &Sources, waivers: &Waivers<'_>) -> Report {
    let mut comments = Comments::default();
    sources
        .shown()
        .for_each(|source| comments.read(source, waivers));
    let mut project = Project::new(waivers);
    let mut findings = report.into_findings();
    for finding in &mut findings {
        finding.waived = comments.waive(finding).or_else(|| project.waive(finding));
    }
    let mut report: Report = findings.into_iter().collect();
    report.extend(comments.found);
    let unused = comments
        .waivers
        .into_iter()
        .filter(|((file, _, rule), waiver)| !waiver.is_used && (waivers.is_judged)(file, rule));
    report.extend(unused.map(|((_, _, rule), waiver)| {
        unused_waiver(
            &rule,
            waiver.place,
            "remove the comment, or the rule from it",
        )
    }));
    let unused = waivers
        .project
        .iter()
        .zip(project.is_used)
        .filter(|(waiver, is_used)| !is_used && (waivers.is_settled)(waiver));
    report.extend(
        unused.map(|(waiver, _)| {
            unused_waiver(&waiver.rule, waiver.place.clone(), "remove the entry")
        }),
    );
    report
}

fn unused_waiver(rule: &str, place: Place, help: &str) -> Diagnostic {
    Diagnostic::of(&UNUSED, format!("the waiver of {rule} suppresses nothing"))
        .at(place)
        .help(help)
}

/// The finding that a rule does not exist.
pub fn unknown_rule(
    rule: &str,
    place: Place,
    known: &BTreeSet<&'static str>,
    budget: &Budget,
) -> Diagnostic {
    let near = budget
        .charge(known.len() * rule.len())
        .ok()
        .and_then(|()| nearest(rule, known.iter().copied()));
    let help = near.map_or("`windlass rules` lists all rules".to_owned(), |near| {
        format!("write `{near}`")
    });
    Diagnostic::of(&RULE_UNKNOWN, format!("there is no rule `{rule}`"))
        .at(place)
        .help(help)
}

/// A comment that waives a rule on a line.
struct Comment {
    reason: String,
    place: Place,
    is_used: bool,
}

/// The waivers in documents.
#[derive(Default)]
struct Comments {
    /// By file, line and rule.
    waivers: BTreeMap<(Arc<str>, u32, String), Comment>,
    found: Vec<Diagnostic>,
}

/// What a waiver begins with, behind `#` and blanks.
const MARK: &str = "windlass: ignore";
/// The name and the word in it.
const NAME: &str = "windlass";
const WORD: &str = "ignore";

/// How many unknown rules of one comment are reported one by one; each finding shows the whole
/// line.
const MOST_UNKNOWN: usize = 8;

impl Comments {
    /// Reads the waivers of a document. JSON has no comments.
    fn read(&mut self, source: &Source, waivers: &Waivers<'_>) {
        let text = source.text();
        if source.name().ends_with(".json") {
            return;
        }
        let marks = memchr::memmem::find_iter(text.as_bytes(), cut(NAME, 1..))
            .filter_map(|at| Mark::find(text, at - at.min(1)));
        let marks: Vec<Mark> = marks.collect();
        if marks.is_empty() {
            return;
        }
        let starts: Vec<usize> = marks.iter().map(|mark| mark.start).collect();
        let in_values = yaml::in_scalars(text, &starts, waivers.budget);
        let comments: Vec<Mark> = marks
            .into_iter()
            .zip(in_values)
            .filter(|(_, in_value)| !in_value)
            .map(|(mark, _)| mark)
            .collect();
        let lines = targets(source, comments.iter().map(|mark| mark.start));
        for (mark, line) in comments.into_iter().zip(lines) {
            self.add(source, mark, line, waivers);
        }
    }

    /// A comment that speaks of a line.
    fn add(
        &mut self,
        source: &Source,
        Mark {
            start,
            end,
            is_exact,
        }: Mark,
        line: u32,
        waivers: &Waivers<'_>,
    ) {
        let rest = cut(source.text(), end..).lines().next().unwrap_or_default();
        let end = cut(source.text(), start..)
            .lines()
            .next()
            .map_or(start, |line| start + line.trim_end().len());
        let place = source.place_at(start..end);
        let named = rest
            .trim_start()
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'));
        let Some((rules, reason)) = named.filter(|_| is_exact) else {
            let message = if is_exact {
                "the comment names no rule, and waives nothing"
            } else {
                "the comment is not a waiver: it begins otherwise"
            };
            let finding = Diagnostic::of(&MALFORMED, message).at(place);
            self.found
                .push(finding.help("write `# windlass: ignore[RULE] because REASON`"));
            return;
        };
        let reason = reason
            .trim_start()
            .strip_prefix("because")
            .map(str::trim)
            .unwrap_or_default();
        if reason.is_empty() {
            let finding = Diagnostic::of(
                &REASON_MISSING,
                "the waiver has no reason, and does not count",
            )
            .at(place);
            self.found.push(finding.help(format!(
                "write `# windlass: ignore[{rules}] because REASON`"
            )));
            return;
        }
        let mut unknown = 0;
        for rule in rules.split(',').map(str::trim) {
            if !waivers.known.contains(rule) {
                unknown += 1;
                if unknown <= MOST_UNKNOWN {
                    self.found.push(unknown_rule(
                        rule,
                        place.clone(),
                        waivers.known,
                        waivers.budget,
                    ));
                }
                continue;
            }
            let comment = Comment {
                reason: reason.to_owned(),
                place: place.clone(),
                is_used: false,
            };
            if let Some(earlier) = self
                .waivers
                .insert((source.name().clone(), line, rule.to_owned()), comment)
            {
                self.found.push(unused_waiver(
                    rule,
                    earlier.place,
                    "remove the comment: another one speaks of the same line",
                ));
            }
        }
        if unknown > MOST_UNKNOWN {
            let more = match unknown - MOST_UNKNOWN {
                1 => "1 more rule that does not exist".to_owned(),
                count => format!("{count} more rules that do not exist"),
            };
            let more = Diagnostic::of(&RULE_UNKNOWN, format!("the comment names {more}"));
            self.found
                .push(more.at(place).help("`windlass rules` lists all rules"));
        }
    }

    fn waive(&mut self, finding: &Diagnostic) -> Option<Waiver> {
        let (file, span) = (finding.place.file.as_ref()?, finding.place.span?);
        if self.waivers.is_empty() {
            return None;
        }
        let comment =
            self.waivers
                .get_mut(&(file.clone(), span.start.line, finding.rule.id.to_owned()))?;
        comment.is_used = true;
        Some(Waiver {
            reason: comment.reason.clone(),
            waived_in: WaivedIn::Document,
        })
    }
}

/// The beginning of a comment that is a waiver, or was meant as one.
struct Mark {
    /// The `#`.
    start: usize,
    /// Behind the last word of the mark.
    end: usize,
    /// Whether it is written as it has to be.
    is_exact: bool,
}

impl Mark {
    /// The mark whose name may stand at a byte.
    fn find(text: &str, at: usize) -> Option<Self> {
        let (_, rest) = text
            .get(at..)?
            .split_at_checked(NAME.len())
            .filter(|(name, _)| name.eq_ignore_ascii_case(NAME))?;
        let start = comment_start(text, at)?;
        if cut(text, at..).starts_with(MARK) {
            return Some(Mark {
                start,
                end: at + MARK.len(),
                is_exact: true,
            });
        }
        let between = rest.len() - rest.trim_start_matches([' ', '\t', ':', '-']).len();
        let (word, behind) = cut(rest, between..).split_at_checked(WORD.len())?;
        let is_meant = word.eq_ignore_ascii_case(WORD)
            && (cut(rest, ..between).contains(':') || behind.trim_start().starts_with(['[', '(']));
        is_meant.then_some(Mark {
            start,
            end: text.len() - behind.len(),
            is_exact: false,
        })
    }
}

/// Where the comment begins that has a mark as its first words.
fn comment_start(text: &str, mark: usize) -> Option<usize> {
    let before = cut(text, ..mark)
        .trim_end_matches([' ', '\t'])
        .strip_suffix('#')?;
    let stands_alone = before.is_empty() || before.ends_with([' ', '\t', '\n', '\r', '\u{feff}']);
    stands_alone.then_some(before.len())
}

/// The lines of which comments speak, that begin at these bytes: their own, or, where they stand
/// alone, the next one that holds more.
fn targets(source: &Source, starts: impl DoubleEndedIterator<Item = usize>) -> Vec<u32> {
    let is_comment = |text: &str| {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        text.is_empty() || text.starts_with('#')
    };
    // From the last one, so that of comments below each other none is passed over twice.
    let mut below = None;
    let mut target = |start: usize| {
        let line = source.position(start).line;
        if !source.line(line).is_some_and(is_comment) {
            return line;
        }
        let end = (line + 1..).find(|next| {
            below.is_some_and(|(at, _)| at == *next)
                || source.line(*next).is_none_or(|text| !is_comment(text))
        });
        let end = end.unwrap_or(line);
        let target = below
            .filter(|(at, _)| *at == end)
            .map_or(end, |(_, target)| target);
        below = Some((line, target));
        target
    };
    let mut lines: Vec<u32> = starts.rev().map(&mut target).collect();
    lines.reverse();
    lines
}

/// The waivers of the project on their way.
struct Project<'a> {
    waivers: &'a Waivers<'a>,
    is_used: Vec<bool>,
    /// The first waiver of a rule for a path; of patterns with `*`, all of a rule.
    plain: BTreeMap<(&'a str, &'a str), usize>,
    with_stars: BTreeMap<&'a str, Vec<(&'a str, usize)>>,
    /// What was found for a rule in a file.
    known: BTreeMap<(&'static str, Arc<str>), Option<usize>>,
}

impl<'a> Project<'a> {
    fn new(waivers: &'a Waivers<'a>) -> Self {
        let (mut plain, mut with_stars) = (BTreeMap::new(), BTreeMap::<&str, Vec<_>>::new());
        for (index, waiver) in waivers.project.iter().enumerate() {
            for pattern in &waiver.patterns {
                if pattern.contains('*') {
                    with_stars
                        .entry(waiver.rule.as_str())
                        .or_default()
                        .push((pattern.as_str(), index));
                } else {
                    plain
                        .entry((waiver.rule.as_str(), pattern.as_str()))
                        .or_insert(index);
                }
            }
        }
        Project {
            waivers,
            is_used: vec![false; waivers.project.len()],
            plain,
            with_stars,
            known: BTreeMap::new(),
        }
    }

    fn waive(&mut self, finding: &Diagnostic) -> Option<Waiver> {
        if self.waivers.project.is_empty() {
            return None;
        }
        let key = (finding.rule.id, finding.place.file.clone()?);
        let index = match self.known.get(&key) {
            Some(known) => *known,
            None => {
                let found = self.find(key.0, &(self.waivers.path_of)(&key.1));
                self.known.insert(key, found);
                found
            }
        }?;
        self.is_used[index] = true;
        Some(Waiver {
            reason: self.waivers.project[index].reason.clone(),
            waived_in: WaivedIn::Settings,
        })
    }

    /// The waiver of a rule for a path, a folder above it, or a pattern that means one of them.
    fn find(&self, rule: &str, path: &str) -> Option<usize> {
        let ends = path
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([path.len()]);
        // The nearest one speaks.
        let plain = ends
            .rev()
            .filter_map(|end| self.plain.get(&(rule, cut(path, ..end))))
            .next();
        plain.copied().or_else(|| {
            let mut patterns = self.with_stars.get(rule)?.iter();
            let fits = |(pattern, _): &&(&str, usize)| {
                self.waivers
                    .budget
                    .charge(pattern.len() + path.len())
                    .is_ok()
                    && glob::covers(pattern, path)
            };
            patterns.find(fits).map(|(_, index)| *index)
        })
    }
}

#[cfg(test)]
mod tests;
