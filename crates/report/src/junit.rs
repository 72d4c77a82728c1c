//! Findings as JUnit's XML, which CI systems show as tests: a suite for each file, in it a case for
//! each finding, or one that passed.
//!
//! Elements and attributes are those of the schema of Jenkins' xUnit plugin (junit-10.xsd), in its
//! order, without times.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Sources;
use super::json::Tool;
use super::text::{self, Style, visible, visible_lines};
use windlass_source::diag::{Diagnostic, Report};

/// The report as one XML document. What fails the run is a failure, what is waived was skipped, and
/// all else passed with its text as output.
pub fn render(report: &Report, sources: &Sources) -> String {
    let mut suites: BTreeMap<&str, Suite> = sources
        .names()
        .map(|name| (name, Suite::default()))
        .collect();
    for finding in report.findings() {
        let file = finding.place.file.as_deref().unwrap_or(Tool::THIS.name);
        suites.entry(file).or_default().add(finding, file, sources);
    }
    suites
        .iter_mut()
        .filter(|(_, suite)| suite.tests == 0)
        .for_each(|(file, suite)| suite.pass(file));
    let sum = |count: fn(&Suite) -> usize| suites.values().map(count).sum::<usize>();
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let (tests, failures) = (sum(|suite| suite.tests), sum(|suite| suite.failures));
    let _ = writeln!(
        xml,
        "<testsuites name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">",
        Tool::THIS.name
    );
    for (
        file,
        Suite {
            tests,
            failures,
            skipped,
            cases,
            ..
        },
    ) in &suites
    {
        let file = attribute(file);
        let counts =
            format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"");
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{file}\" {counts}>\n{cases}  </testsuite>"
        );
    }
    xml + "</testsuites>\n"
}

/// The cases of a file.
#[derive(Default)]
struct Suite {
    tests: usize,
    failures: usize,
    skipped: usize,
    cases: String,
    /// How many cases have a name: alike ones are numbered, because CI systems tell them apart by
    /// their names.
    names: BTreeMap<String, usize>,
}

impl Suite {
    /// The only case of a file in which nothing was found.
    fn pass(&mut self, file: &str) {
        self.tests = 1;
        let _ = writeln!(
            self.cases,
            "    <testcase name=\"no findings\" classname=\"{}\"/>",
            attribute(file)
        );
    }

    fn add(&mut self, finding: &Diagnostic, file: &str, sources: &Sources) {
        self.tests += 1;
        let (name, class) = (attribute(&self.name(finding)), attribute(file));
        let _ = writeln!(
            self.cases,
            "    <testcase name=\"{name}\" classname=\"{class}\">"
        );
        let message = attribute(&finding.message);
        let text = || {
            content(&text::render(
                &std::iter::once(finding.clone()).collect(),
                sources,
                Style::default(),
            ))
        };
        let _ = match &finding.waived {
            Some(waiver) => {
                self.skipped += 1;
                writeln!(
                    self.cases,
                    "      <skipped message=\"waived: {}\"/>",
                    attribute(&waiver.reason)
                )
            }
            None if finding.fails() => {
                self.failures += 1;
                writeln!(
                    self.cases,
                    "      <failure message=\"{message}\" type=\"{}\">{}</failure>",
                    finding.rule.id,
                    text()
                )
            }
            None => writeln!(self.cases, "      <system-out>{}</system-out>", text()),
        };
        self.cases.push_str("    </testcase>\n");
    }

    /// What the case is called: without its line, so that it is the same one in the next run.
    fn name(&mut self, finding: &Diagnostic) -> String {
        let place = &finding.place;
        let path = place.path.to_string();
        let parts = [
            finding.rule.id,
            place.object.as_deref().unwrap_or_default(),
            &path,
        ];
        let name = parts
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        let count = self.names.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 {
            name
        } else {
            format!("{name} ({count})")
        }
    }
}

/// A text as the value of an attribute, in one line.
fn attribute(text: &str) -> String {
    escaped(&visible(text))
}

/// A text between tags.
fn content(text: &str) -> String {
    escaped(&visible_lines(text))
}

/// Without what XML reads otherwise, and what it has no room for.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::Source;
    use windlass_source::diag::{Place, Rule, WaivedIn, Waiver};

    #[test]
    fn files_are_suites_and_findings_cases() {
        let source = Source::new("a.yaml", "a: 1\n");
        let error = Diagnostic::of(const { &Rule::error("a-b", "") }, "a is \"1\"")
            .at(source.place_at(3..4).in_object("Kind/n"))
            .help("a & b");
        let warning = || {
            Diagnostic::of(const { &Rule::warning("c-d", "") }, "late").at(Place::file("a.yaml"))
        };
        let waived = Diagnostic {
            waived: Some(Waiver {
                reason: "known".to_owned(),
                waived_in: WaivedIn::Settings,
            }),
            ..error.clone()
        };
        let denied = Diagnostic {
            is_denied: true,
            ..warning()
        };
        let nowhere = Diagnostic::of(const { &Rule::info("e-f", "") }, "advice");
        let sources: Sources = [source, Source::new("b.yaml", "")].into_iter().collect();
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="windlass" tests="6" failures="2" errors="0">
  <testsuite name="a.yaml" tests="4" failures="2" errors="0" skipped="1">
    <testcase name="a-b Kind/n" classname="a.yaml">
      <failure message="a is &quot;1&quot;" type="a-b">error[a-b]: a is &quot;1&quot;
  --&gt; a.yaml:1:4
   |
 1 | a: 1
   |    ^
   |
  = help: a &amp; b
</failure>
    </testcase>
    <testcase name="a-b Kind/n (2)" classname="a.yaml">
      <skipped message="waived: known"/>
    </testcase>
    <testcase name="c-d" classname="a.yaml">
      <system-out>warning[c-d]: late
  --&gt; a.yaml
</system-out>
    </testcase>
    <testcase name="c-d (2)" classname="a.yaml">
      <failure message="late" type="c-d">warning[c-d]: late
  --&gt; a.yaml
</failure>
    </testcase>
  </testsuite>
  <testsuite name="b.yaml" tests="1" failures="0" errors="0" skipped="0">
    <testcase name="no findings" classname="b.yaml"/>
  </testsuite>
  <testsuite name="windlass" tests="1" failures="0" errors="0" skipped="0">
    <testcase name="e-f" classname="windlass">
      <system-out>info[e-f]: advice
</system-out>
    </testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(
            render(
                &[error, waived, warning(), denied, nowhere]
                    .into_iter()
                    .collect(),
                &sources
            ),
            expected
        );
    }

    #[test]
    fn all_characters_are_ones_of_xml() {
        assert_eq!(
            attribute("a\n\x1b\0<\u{fffe}>'\"&\u{202e}::x"),
            "a␊␛␀&lt;\u{fffd}&gt;'&quot;&amp;\u{fffd}::x"
        );
        assert_eq!(content("a\n::x ]]>\u{ffff}\t"), "a\n∶:x ]]&gt;\u{fffd}\t");
    }
}
