//! Findings as people read them, in the manner of rustc: message, place, the line with carets, what
//! to do.

mod alike;
mod diff;
mod excerpt;
mod table;
mod visible;

pub use diff::{Changed, unified};
use excerpt::Excerpt;
pub use table::table;
pub(crate) use visible::is_unsafe;
pub use visible::{visible, visible_lines};

use super::Sources;
use windlass_source::Source;
use windlass_source::diag::{
    Diagnostic, FieldPath, Place, Related, Report, Segment, Severity, Summary,
};
use windlass_source::nearest::nearest;

/// How text is written for one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour. Without its colours the text is the same.
    pub colour: bool,
    /// Columns: longer source lines are trimmed around the caret.
    pub width: usize,
}

impl Default for Style {
    /// No colours, 100 columns.
    fn default() -> Self {
        Style {
            colour: false,
            width: 100,
        }
    }
}

/// What a stretch of text is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// The word and the carets of a severity.
    Severity(Severity),
    /// Paths and ids.
    Bold,
    /// Text that only the new side of a comparison has; green.
    Added,
    /// Text that only the old side of a comparison has; red.
    Removed,
}

impl Style {
    /// The text in its colour, if this style has colours.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match paint {
            Paint::Severity(Severity::Error) => "1;31",
            Paint::Severity(Severity::Warning) => "1;33",
            Paint::Severity(Severity::Info) => "1;34",
            Paint::Bold => "1",
            Paint::Added => "32",
            Paint::Removed => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// The text in bold, if this style has colours.
    pub fn bold(&self, text: &str) -> String {
        self.paint(Paint::Bold, text)
    }

    /// A failure that is not a finding: ``error: out cannot be written`` and its help.
    pub fn failure(&self, message: &str, help: Option<&str>) -> String {
        let mut text = format!(
            "{}: {}\n",
            self.paint(Paint::Severity(Severity::Error), "error"),
            visible(message)
        );
        if let Some(help) = help {
            text.push_str(&format!("  help: {}\n", visible(help)));
        }
        text
    }
}

/// All findings that count, one after the other; empty when there are none.
pub fn render(report: &Report, sources: &Sources, style: Style) -> String {
    let findings = alike::together(report.unwaived());
    let mut renderer = Renderer {
        sources,
        style,
        text: String::new(),
    };
    for finding in &findings {
        renderer.finding(finding);
    }
    renderer.text
}

/// `2 errors, 1 warning, 1 waived`; `None` when nothing was found.
pub(crate) fn counts(summary: Summary) -> Option<String> {
    let parts = [
        (summary.errors, "error"),
        (summary.warnings, "warning"),
        (summary.infos, "info"),
    ];
    let mut parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| plural(count, noun))
        .collect();
    parts.extend(
        Some(summary.waived)
            .filter(|count| *count > 0)
            .map(|count| format!("{count} waived")),
    );
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `1 file`, `2 files`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// The last line of a run: what was done, what was found, what follows; empty parts are left out.
/// `2 errors, 1 warning; nothing written`.
pub fn summary_line(done: &str, summary: Summary, follows: &str) -> String {
    let counts = counts(summary).unwrap_or_default();
    [done, &counts, follows]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

/// The first few items of a list, and how many more there are; `None` for an empty one.
pub fn listed<T: AsRef<str>>(items: &[T]) -> Option<String> {
    const SHOWN: usize = 4;
    let names: Vec<&str> = items.iter().take(SHOWN).map(AsRef::as_ref).collect();
    let more = match items.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!items.is_empty()).then(|| format!("{}{more}", names.join(", ")))
}

/// A place as people read it: `file:line:column`, as much of it as is known. Not yet fit for a
/// terminal.
pub fn place_words(place: &Place) -> Option<String> {
    match (&place.file, &place.span, &place.object) {
        (Some(file), Some(span), _) => {
            Some(format!("{file}:{}:{}", span.start.line, span.start.column))
        }
        (Some(file), None, _) => Some(file.to_string()),
        (None, _, Some(object)) => Some(object.clone()),
        (None, _, None) => None,
    }
}

/// The lines that a finding speaks of, as [`render`] shows them below its place; empty when none
/// can be shown.
pub(crate) fn excerpt(finding: &Diagnostic, sources: &Sources) -> String {
    let mut renderer = Renderer {
        sources,
        style: Style::default(),
        text: String::new(),
    };
    let shown = renderer.shown(finding);
    renderer.excerpts(&shown, false);
    renderer.text
}

/// What is shown of the files that a finding speaks of.
struct Shown<'a> {
    excerpt: Option<Excerpt<'a>>,
    others: Vec<(&'a Related, Option<Excerpt<'a>>)>,
    /// The width of line numbers: all bars of a finding stand in one column.
    gutter: usize,
}

struct Renderer<'a> {
    sources: &'a Sources,
    style: Style,
    text: String,
}

impl<'a> Renderer<'a> {
    fn finding(&mut self, finding: &'a Diagnostic) {
        self.header(finding);
        let follows = finding.help.is_some() || !finding.notes.is_empty();
        let shown = self.shown(finding);
        self.place("-->", &finding.place, "", shown.gutter);
        self.excerpts(&shown, follows);
        let help = finding.help.as_ref().map(ToString::to_string);
        for (word, text) in help
            .iter()
            .map(|help| ("help", help.as_str()))
            .chain(finding.notes.iter().map(|note| ("note", note.as_str())))
        {
            self.remark(word, text, shown.gutter);
        }
    }

    /// What is shown of the files that a finding speaks of.
    fn shown(&self, finding: &'a Diagnostic) -> Shown<'a> {
        let (same_file, elsewhere): (Vec<&Related>, Vec<&Related>) =
            finding.related.iter().partition(|related| {
                related.place.span.is_some() && related.place.file == finding.place.file
            });
        let excerpt = self.excerpt_of_finding(finding, &same_file);
        let others: Vec<(&Related, Option<Excerpt<'a>>)> = elsewhere
            .into_iter()
            .map(|r| (r, self.excerpt_of_related(r)))
            .collect();
        let numbers = others
            .iter()
            .filter_map(|(_, excerpt)| excerpt.as_ref())
            .chain(&excerpt);
        let gutter = numbers
            .map(Excerpt::widest_number)
            .max()
            .unwrap_or(0)
            .max(2);
        Shown {
            excerpt,
            others,
            gutter,
        }
    }

    /// The lines of the finding's file, then the other places with theirs. `follows`: something
    /// is below.
    fn excerpts(&mut self, shown: &Shown<'a>, follows: bool) {
        let Shown {
            excerpt,
            others,
            gutter,
        } = shown;
        self.push_excerpt(excerpt.as_ref(), *gutter, follows || !others.is_empty());
        for (at, (related, excerpt)) in others.iter().enumerate() {
            let label = if excerpt.is_some() {
                ""
            } else {
                related.label.as_str()
            };
            self.place(":::", &related.place, label, *gutter);
            self.push_excerpt(excerpt.as_ref(), *gutter, follows || at + 1 < others.len());
        }
    }

    fn header(&mut self, finding: &Diagnostic) {
        let severity = self.style.paint(
            Paint::Severity(finding.rule.severity),
            finding.rule.severity.as_str(),
        );
        let rule = self
            .style
            .paint(Paint::Bold, &format!("[{}]", finding.rule.id));
        self.text.push_str(&format!(
            "{severity}{rule}: {}\n",
            visible(&finding.message)
        ));
    }

    fn place(&mut self, arrow: &str, place: &Place, label: &str, gutter: usize) {
        let Some(shown) = place_words(place) else {
            return;
        };
        let shown = self.style.paint(Paint::Bold, &visible(&shown));
        let label = if label.is_empty() {
            String::new()
        } else {
            format!(" {}", visible(label))
        };
        self.text
            .push_str(&format!("{:gutter$}{arrow} {shown}{label}\n", ""));
    }

    /// Help and notes; further lines of one stand under its first.
    fn remark(&mut self, word: &str, text: &str, gutter: usize) {
        for (at, line) in text.lines().enumerate() {
            let line = visible(line);
            let line = match at {
                0 => format!("{:gutter$}= {word}: {line}", ""),
                _ => format!("{:1$}{line}", "", gutter + 2 + word.len() + 2),
            };
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    fn push_excerpt(&mut self, excerpt: Option<&Excerpt<'_>>, gutter: usize, follows: bool) {
        let Some(excerpt) = excerpt else { return };
        self.text.push_str(&format!("{:gutter$} |\n", ""));
        excerpt.render(self.style, gutter, &mut self.text);
        if follows {
            self.text.push_str(&format!("{:gutter$} |\n", ""));
        }
    }

    fn excerpt_of_finding(
        &self,
        finding: &Diagnostic,
        same_file: &[&Related],
    ) -> Option<Excerpt<'a>> {
        let source = self.source(&finding.place);
        let insertion = finding.insertion.as_ref();
        if source.is_none() && insertion.is_none() {
            return None;
        }
        let mut excerpt = Excerpt::new(source, self.sources, finding.rule.severity);
        if let Some(span) = finding.place.span {
            // New lines say where they go by themselves: carets would only point at their
            // neighbour.
            let shown_by_insertion = finding.label.is_empty()
                && insertion.is_some_and(|i| i.after_line == span.start.line);
            if !shown_by_insertion {
                excerpt.mark(span, &finding.label, true);
            }
            if finding.rule.hides_value && is_sensitive(&finding.place.path) {
                excerpt.hide_value(span);
            }
        }
        for related in same_file {
            if let Some(span) = related.place.span {
                excerpt.mark(span, &related.label, false);
            }
        }
        if let Some(insertion) = insertion {
            excerpt.insert(insertion.after_line, &insertion.lines);
        }
        Some(excerpt).filter(|excerpt| !excerpt.is_empty())
    }

    fn excerpt_of_related(&self, related: &Related) -> Option<Excerpt<'a>> {
        let span = related.place.span.filter(|_| !related.label.is_empty())?;
        let mut excerpt = Excerpt::new(
            Some(self.source(&related.place)?),
            self.sources,
            Severity::Info,
        );
        excerpt.mark(span, &related.label, false);
        Some(excerpt).filter(|excerpt| !excerpt.is_empty())
    }

    fn source(&self, place: &Place) -> Option<&'a Source> {
        self.sources.get(place.file.as_deref()?)
    }
}

/// Fields of configs that hold secrets, or whose fields do.
const SENSITIVE: [&str; 14] = [
    "users",
    "files",
    "passwd",
    "content",
    "preKubeadmCommands",
    "postKubeadmCommands",
    "bootCommands",
    "mounts",
    "ignition",
    "additionalConfig",
    "token",
    "certificateKey",
    "data",
    "env",
];

/// Whether an unknown field may be meant for a secret: it is in a field that holds some, or has nearly
/// the name of one.
fn is_sensitive(path: &FieldPath) -> bool {
    let names: Vec<&str> = path
        .segments()
        .iter()
        .filter_map(|segment| match segment {
            Segment::Field(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let own = names.last().copied().unwrap_or_default();
    let is_near = nearest(own, SENSITIVE).is_some();
    is_near || names.iter().any(|name| SENSITIVE.contains(name))
}

#[cfg(test)]
mod tests;
