//! Findings as SARIF 2.1.0 (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>), in the way and within the limits in which
//! GitHub's code scanning takes it (<https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support-for-code-scanning>).
//!
//! GitHub rejects a file with a result that is in no file, so such findings are notifications
//! of the run; it wants a line of each result, so what concerns a whole file is at its first.
//! Braces in messages stay single, as all producers but GCC have it: of the readers, none takes
//! doubled ones apart where a message has no arguments.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Sources;
use super::fingerprint::Fingerprints;
use super::json::{Tool, escaped};
use windlass_source::diag::{
    Change, Diagnostic, PROJECT, Place, Report, Rule, Severity, Span, WaivedIn,
};

/// Results of a run that GitHub takes; of more, the file is rejected.
const MOST_RESULTS: usize = 25_000;
/// Locations of a result that GitHub keeps; the first is the result's own.
const MOST_LOCATIONS: usize = 100;
/// Characters of a description that GitHub takes.
const LONGEST_DESCRIPTION: usize = 1024;
/// Characters of a message, so that a full run stays below the 10 MB that GitHub takes of a file
/// that gzip has packed.
const LONGEST_MESSAGE: usize = 4096;

/// The report as one SARIF log and a final newline. It has neither times nor the name of a machine.
pub fn render(report: &Report, sources: &Sources) -> String {
    let kept = kept(report);
    let mut run = Run {
        rules: rules(&kept),
        sources,
        fingerprints: Fingerprints::new(sources),
        notifications: Vec::new(),
        cut: Cut::default(),
    };
    run.cut.results = report.findings().len() - kept.len();
    // As text at once: a tree of each takes many times as much.
    let results: Vec<String> = kept
        .iter()
        .filter_map(|finding| run.result(finding))
        .map(|result| indented(&result))
        .collect();
    run.cut.tell(&mut run.notifications);
    let driver = json!({
        "name": Tool::THIS.name,
        "semanticVersion": Tool::THIS.version,
        "informationUri": PROJECT,
        "rules": run.rules.values().map(|(_, rule)| descriptor(rule)).collect::<Vec<_>>(),
    });
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "invocations": [{"executionSuccessful": true, "toolExecutionNotifications": run.notifications}],
            "results": [],
        }],
    });
    let mut text = pretty(&log);
    // A quote in a string is escaped, so that this is the key.
    const RESULTS: &str = "\"results\": []";
    if let Some(at) = text.find(RESULTS).filter(|_| !results.is_empty()) {
        let end = at + RESULTS.len() - 1;
        let all = format!("\n{}\n      ", results.join(",\n"));
        drop(results);
        text.insert_str(end, &all);
    }
    escaped(text) + "\n"
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("internal error: a report has only text keys")
}

/// A result as it is in the list of results. Line breaks within strings are escaped.
fn indented(result: &Value) -> String {
    const INDENT: &str = "        ";
    format!(
        "{INDENT}{}",
        pretty(result).replace('\n', &format!("\n{INDENT}"))
    )
}

/// As many findings as GitHub takes, in their order: those that weigh most.
fn kept(report: &Report) -> Vec<&Diagnostic> {
    let mut ranked: Vec<(usize, &Diagnostic)> = report.findings().iter().enumerate().collect();
    if ranked.len() > MOST_RESULTS {
        ranked.sort_by_key(|(_, finding)| (finding.waived.is_some(), finding.rule.severity));
        ranked.truncate(MOST_RESULTS);
        ranked.sort_by_key(|(at, _)| *at);
    }
    ranked.into_iter().map(|(_, finding)| finding).collect()
}

/// The rules of findings, each with its index.
fn rules(findings: &[&Diagnostic]) -> BTreeMap<&'static str, (usize, &'static Rule)> {
    let mut rules: BTreeMap<_, _> = findings
        .iter()
        .map(|finding| (finding.rule.id, (0, finding.rule)))
        .collect();
    rules
        .values_mut()
        .enumerate()
        .for_each(|(index, rule)| rule.0 = index);
    rules
}

fn descriptor(rule: &Rule) -> Value {
    let about = rule
        .page
        .split("\n\n")
        .map(str::trim)
        .find(|part| !part.is_empty() && !part.starts_with('#'))
        .unwrap_or(rule.summary);
    let page = if rule.page.is_empty() {
        rule.summary
    } else {
        rule.page.trim()
    };
    let artifact = rule.id.split('-').next().unwrap_or_default();
    let tags: Vec<&str> = [artifact].into_iter().chain(rule.catalogue).collect();
    json!({
        "id": rule.id,
        "shortDescription": {"text": text(rule.summary, LONGEST_DESCRIPTION).0},
        "fullDescription": {"text": text(about, LONGEST_DESCRIPTION).0},
        "help": {"text": page, "markdown": page},
        "helpUri": rule.page_url(),
        "defaultConfiguration": {"level": level(rule.severity)},
        "properties": {"tags": tags, "problem.severity": problem_severity(rule.severity)},
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// GitHub's word, by which it orders alerts.
fn problem_severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "recommendation",
        other => other.as_str(),
    }
}

/// What was left out to keep within GitHub's limits.
#[derive(Default)]
struct Cut {
    results: usize,
    locations: usize,
    messages: usize,
}

impl Cut {
    fn tell(&self, notifications: &mut Vec<Value>) {
        let told = [
            (
                self.results,
                "finding is",
                "findings are",
                format!("left out: code scanning takes {MOST_RESULTS} of a run"),
            ),
            (
                self.locations,
                "finding has",
                "findings have",
                format!("more places than the {MOST_LOCATIONS} that code scanning keeps"),
            ),
            (
                self.messages,
                "message is",
                "messages are",
                format!("cut off after {LONGEST_MESSAGE} characters"),
            ),
        ];
        for (count, one, many, what) in told.into_iter().filter(|(count, ..)| *count > 0) {
            let subject = if count == 1 { one } else { many };
            notifications.push(json!({"level": "warning", "message": {"text": format!("{count} {subject} {what}")}}));
        }
    }
}

/// A run on its way into a log.
struct Run<'s> {
    rules: BTreeMap<&'static str, (usize, &'static Rule)>,
    sources: &'s Sources,
    fingerprints: Fingerprints<'s>,
    notifications: Vec<Value>,
    cut: Cut,
}

impl Run<'_> {
    /// A finding as a result; one that is in no file becomes a notification.
    fn result(&mut self, finding: &Diagnostic) -> Option<Value> {
        let index = self.rules[finding.rule.id].0;
        let (message, is_cut) = text(&message(finding), LONGEST_MESSAGE);
        self.cut.messages += usize::from(is_cut);
        let (level, message) = (level(finding.rule.severity), json!({"text": message}));
        if finding.place.file.is_none() {
            let rule = json!({"id": finding.rule.id, "index": index});
            self.notifications
                .push(json!({"associatedRule": rule, "level": level, "message": message}));
            return None;
        }
        let mut result = json!({
            "ruleId": finding.rule.id,
            "ruleIndex": index,
            "level": level,
            "message": message,
            "locations": [location(&finding.place)],
            "partialFingerprints": self.fingerprints(finding),
        });
        if !finding.related.is_empty() {
            result["relatedLocations"] = self.related(finding);
        }
        if let Some(fix) = self.fix(finding) {
            result["fixes"] = json!([fix]);
        }
        if let Some(waiver) = &finding.waived {
            let kind = match waiver.waived_in {
                WaivedIn::Document => "inSource",
                WaivedIn::Settings => "external",
            };
            result["suppressions"] =
                json!([{"kind": kind, "status": "accepted", "justification": waiver.reason}]);
        }
        Some(result)
    }

    /// The changes that certainly fix the file (3.55).
    fn fix(&self, finding: &Diagnostic) -> Option<Value> {
        let (fix, file) = (finding.fix.as_ref()?, finding.place.file.as_deref()?);
        let source = self.sources.get(file)?;
        let replacement = |change: &Change| json!({"deletedRegion": region(source.span(change.range.clone())), "insertedContent": {"text": change.with}});
        let replacements: Vec<Value> = fix.changes.iter().map(replacement).collect();
        Some(
            json!({"artifactChanges": [{"artifactLocation": {"uri": uri(file)}, "replacements": replacements}]}),
        )
    }

    fn fingerprints(&mut self, finding: &Diagnostic) -> Value {
        let mut fingerprints = json!({"windlassFinding/v1": self.fingerprints.own(finding)});
        if let Some(hash) = self.fingerprints.of_line(finding) {
            // The only one at which GitHub looks.
            fingerprints["primaryLocationLineHash"] = hash.into();
        }
        fingerprints
    }

    fn related(&mut self, finding: &Diagnostic) -> Value {
        self.cut.locations += usize::from(finding.related.len() >= MOST_LOCATIONS);
        let related = finding
            .related
            .iter()
            .take(MOST_LOCATIONS - 1)
            .enumerate()
            .map(|(index, related)| {
                let mut location = location(&related.place);
                location["id"] = (index + 1).into();
                if !related.label.is_empty() {
                    location["message"] = json!({"text": text(&related.label, LONGEST_MESSAGE).0});
                }
                location
            });
        related.collect()
    }
}

/// All that is said of a finding. GitHub shows the first sentence where it has little room.
fn message(finding: &Diagnostic) -> String {
    let mut text = finding.message.to_string();
    if !text.ends_with(['.', '?', '!', '…']) {
        text.push('.');
    }
    if !finding.label.is_empty() {
        text.push_str(&format!("\nhere: {}", finding.label));
    }
    for line in finding
        .insertion
        .iter()
        .flat_map(|insertion| &insertion.lines)
    {
        text.push_str(&format!("\n+ {line}"));
    }
    let help = finding.help.iter().map(|help| format!("\nhelp: {help}"));
    let notes = finding.notes.iter().map(|note| format!("\nnote: {note}"));
    text.extend(help.chain(notes));
    text
}

/// A text of at most `longest` characters, without links that its author would set, and whether it
/// was cut off.
fn text(text: &str, longest: usize) -> (String, bool) {
    let text = text.replace("](", "] (");
    match text.char_indices().nth(longest) {
        None => (text, false),
        Some(_) => (text.chars().take(longest - 1).chain(['…']).collect(), true),
    }
}

fn location(place: &Place) -> Value {
    let mut location = Map::new();
    if let Some(file) = &place.file {
        let region = place.span.map_or_else(|| json!({"startLine": 1}), region);
        location.insert(
            "physicalLocation".to_owned(),
            json!({"artifactLocation": {"uri": uri(file)}, "region": region}),
        );
    }
    let path = place.path.to_string();
    let names: Vec<&str> = place
        .object
        .as_deref()
        .into_iter()
        .chain(Some(path.as_str()).filter(|path| !path.is_empty()))
        .collect();
    if !names.is_empty() {
        location.insert(
            "logicalLocations".to_owned(),
            json!([{"fullyQualifiedName": names.join(" ")}]),
        );
    }
    Value::Object(location)
}

/// A path as a URI without segments of dots, as RFC 3986, 5.2.4 takes them out: readers do so too,
/// and Microsoft's validator rejects them. Relative ones, which GitHub takes to begin at the root
/// of the repository, keep those that lead out of where they begin.
fn uri(path: &str) -> String {
    let (root, path) = match path.as_bytes() {
        [b'/', ..] => ("file://", path),
        [drive, b':', b'/', ..] if drive.is_ascii_alphabetic() => ("file:///", path),
        _ => ("", path),
    };
    let mut uri = root.to_owned();
    for (at, byte) in without_dots(path).bytes().enumerate() {
        // What RFC 3986 leaves in a path as it is; a colon would end the scheme.
        let stays = byte.is_ascii_alphanumeric()
            || b"-._~/!$&'()*+,;=@".contains(&byte)
            || byte == b':' && at == 1 && root == "file:///";
        if stays {
            uri.push(char::from(byte))
        } else {
            uri.push_str(&format!("%{byte:02X}"))
        }
    }
    uri
}

/// A path without `.`, and without `..` that has a name before it to take away.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match (segment, kept.last()) {
            (".", _) => {}
            ("..", Some(&"")) if kept.len() == 1 => {}
            ("..", Some(&last)) if last != ".." => drop(kept.pop()),
            _ => kept.push(segment),
        }
    }
    kept.join("/")
}

/// Lines and columns from 1 in characters, the end exclusive, as SARIF counts them too.
fn region(span: Span) -> Value {
    let Span { start, end } = span;
    json!({"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column})
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::diag::{Position, Waiver};

    fn log_of(findings: impl IntoIterator<Item = Diagnostic>) -> Value {
        serde_json::from_str(&render(&findings.into_iter().collect(), &Sources::new())).unwrap()
    }

    fn at(file: &str, line: u32, columns: (u32, u32)) -> Place {
        let position = |column| Position {
            offset: 0,
            line,
            column,
        };
        Place::file(file).at_span(Span {
            start: position(columns.0),
            end: position(columns.1),
        })
    }

    #[test]
    fn a_finding_is_a_result() {
        let rule = const {
            &Rule::warning("metadata-series-late", "a series is late")
                .catalogue("M09")
                .url("https://example.com/m")
                .page("## Why\n\nLate.\n\n## Bad\n")
        };
        let related = at("c.yaml", 1, (2, 3));
        let waived = Some(Waiver {
            reason: "known".to_owned(),
            waived_in: WaivedIn::Document,
        });
        let finding = Diagnostic::of(rule, "series 0.2 is late")
            .at(at("a b/m.yaml", 7, (3, 9)).in_object("Metadata/m"));
        let finding = Diagnostic {
            waived,
            ..finding
                .related(related, "the first")
                .help("add it")
                .insertion(7, vec!["  - a: 1".to_owned()])
        };
        let log = log_of([
            Diagnostic::of(const { &Rule::info("a-b", "x") }, "m").at(Place::file("/w")),
            finding,
        ]);
        assert_eq!(
            (&log["version"], &log["runs"].as_array().unwrap().len()),
            (&json!("2.1.0"), &1)
        );
        let run = &log["runs"][0];
        let expected = json!({
            "id": "metadata-series-late", "shortDescription": {"text": "a series is late"}, "fullDescription": {"text": "Late."},
            "help": {"text": "## Why\n\nLate.\n\n## Bad", "markdown": "## Why\n\nLate.\n\n## Bad"}, "helpUri": "https://github.com/windlass-dev/windlass/blob/main/docs/book/src/reference/rules/metadata-series-late.md",
            "defaultConfiguration": {"level": "warning"}, "properties": {"tags": ["metadata", "M09"], "problem.severity": "warning"},
        });
        assert_eq!(run["tool"]["driver"]["rules"][1], expected);
        let mut result = run["results"][1].clone();
        assert!(
            result["partialFingerprints"]
                .as_object()
                .is_some_and(|prints| prints.len() == 1),
            "there is no text to hash"
        );
        result
            .as_object_mut()
            .unwrap()
            .remove("partialFingerprints");
        let region = |line: u32, start: u32, end: u32| json!({"startLine": line, "startColumn": start, "endLine": line, "endColumn": end});
        let expected = json!({
            "ruleId": "metadata-series-late", "ruleIndex": 1, "level": "warning",
            "message": {"text": "series 0.2 is late.\n+   - a: 1\nhelp: add it"},
            "locations": [{
                "physicalLocation": {"artifactLocation": {"uri": "a%20b/m.yaml"}, "region": region(7, 3, 9)},
                "logicalLocations": [{"fullyQualifiedName": "Metadata/m"}],
            }],
            "relatedLocations": [{
                "id": 1, "message": {"text": "the first"},
                "physicalLocation": {"artifactLocation": {"uri": "c.yaml"}, "region": region(1, 2, 3)},
            }],
            "suppressions": [{"kind": "inSource", "status": "accepted", "justification": "known"}],
        });
        assert_eq!(result, expected);
        let whole = &run["results"][0]["locations"][0];
        assert_eq!(
            whole,
            &json!({"physicalLocation": {"artifactLocation": {"uri": "file:///w"}, "region": {"startLine": 1}}})
        );
        assert_eq!(
            (&run["results"][0]["level"], &run["results"][0]["ruleIndex"]),
            (&json!("note"), &json!(0))
        );
    }

    #[test]
    fn paths_are_uris() {
        for (path, expected) in [
            ("a/b.yaml", "a/b.yaml"),
            ("././a.yaml", "a.yaml"),
            ("../a.yaml", "../a.yaml"),
            ("a:b/ü#%?.yaml", "a%3Ab/%C3%BC%23%25%3F.yaml"),
            ("/srv/a b", "file:///srv/a%20b"),
            (
                "/check/main/../shared/./a.yaml",
                "file:///check/shared/a.yaml",
            ),
            ("/../../a.yaml", "file:///a.yaml"),
            ("a/b/../../../../c.yaml", "../../c.yaml"),
            ("C:/x/../y", "file:///C:/y"),
            ("C:/x/y", "file:///C:/x/y"),
            ("<stdin>", "%3Cstdin%3E"),
        ] {
            assert_eq!(uri(path), expected, "{path}");
        }
    }

    /// RFC 3986, 5.2.4: an empty segment is one that `..` takes away. Only a letter is a drive, and
    /// only its colon stays.
    #[test]
    fn segments_and_drives_are_told_from_what_looks_like_them() {
        for (path, expected) in [
            ("a//../b", "a/b"),
            ("//../x", "file:///x"),
            ("1:/x", "1%3A/x"),
            ("C:/a:b#", "file:///C:/a%3Ab%23"),
            ("/C:/a", "file:///C%3A/a"),
        ] {
            assert_eq!(uri(path), expected, "{path}");
        }
    }

    /// Without a page the summary is the description; GitHub calls advice a recommendation.
    #[test]
    fn describes_a_rule_without_a_page_by_its_summary() {
        let rule = Rule::info("a-b", "x");
        let expected = json!({
            "id": "a-b", "shortDescription": {"text": "x"}, "fullDescription": {"text": "x"}, "help": {"text": "x", "markdown": "x"},
            "helpUri": rule.page_url(), "defaultConfiguration": {"level": "note"},
            "properties": {"tags": ["a"], "problem.severity": "recommendation"},
        });
        assert_eq!(descriptor(&rule), expected);
        assert_eq!(
            descriptor(&Rule::error("a-b", "x"))["properties"]["problem.severity"],
            "error"
        );
    }

    #[test]
    fn a_message_has_all_that_is_said_line_by_line() {
        let finding = |text: &str| Diagnostic::of(const { &Rule::error("a-b", "x") }, text);
        let all = finding("why?")
            .label("this")
            .insertion(1, vec!["b: 1".to_owned(), "c: 2".to_owned()])
            .note("one")
            .note("two")
            .help("do");
        assert_eq!(
            message(&all),
            "why?\nhere: this\n+ b: 1\n+ c: 2\nhelp: do\nnote: one\nnote: two"
        );
        for (text, expected) in [
            ("it is", "it is."),
            ("it is.", "it is."),
            ("it is!", "it is!"),
            ("it is…", "it is…"),
            ("it:", "it:."),
        ] {
            assert_eq!(message(&finding(text)), expected);
        }
    }

    #[test]
    fn what_stands_in_no_file_is_a_notification() {
        let run = &log_of([Diagnostic::of(
            const { &Rule::error("a-b", "x") },
            "nothing",
        )])["runs"][0];
        assert_eq!(run["results"], json!([]));
        let told = json!([{"associatedRule": {"id": "a-b", "index": 0}, "level": "error", "message": {"text": "nothing."}}]);
        assert_eq!(run["invocations"][0]["toolExecutionNotifications"], told);
    }

    #[test]
    fn limits_of_code_scanning_are_kept_and_what_is_cut_is_said() {
        let info = || Diagnostic::of(const { &Rule::info("a-b", "x") }, "m").at(Place::file("f"));
        let mut long = Diagnostic::of(
            const { &Rule::error("c-d", "x") },
            "m".repeat(LONGEST_MESSAGE + 1),
        )
        .at(Place::file("f"));
        long.related = vec![
            windlass_source::diag::Related {
                place: Place::file("g"),
                label: windlass_source::diag::Text::default()
            };
            MOST_LOCATIONS
        ];
        let run = &log_of((0..MOST_RESULTS).map(|_| info()).chain([long]))["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), MOST_RESULTS);
        let last = results.last().unwrap();
        assert_eq!(
            (
                &last["ruleId"],
                last["relatedLocations"].as_array().unwrap().len()
            ),
            (&json!("c-d"), MOST_LOCATIONS - 1)
        );
        assert_eq!(
            last["message"]["text"].as_str().unwrap().chars().count(),
            LONGEST_MESSAGE
        );
        let notes = run["invocations"][0]["toolExecutionNotifications"]
            .as_array()
            .unwrap();
        let notes: Vec<&str> = notes
            .iter()
            .map(|note| note["message"]["text"].as_str().unwrap())
            .collect();
        let expected = [
            "1 finding is left out: code scanning takes 25000 of a run",
            "1 finding has more places than the 100 that code scanning keeps",
            "1 message is cut off after 4096 characters",
        ];
        assert_eq!(notes, expected);
    }

    #[test]
    fn nothing_in_it_is_a_command_or_a_link_of_somebody_else() {
        let hostile = Diagnostic::of(
            const { &Rule::error("a-b", "x") },
            "\x1b[2J [click](https://evil.example) ##[x]",
        )
        .at(Place::file("f"));
        let text = render(&[hostile].into_iter().collect(), &Sources::new());
        assert!(
            text.is_ascii()
                && !text.contains(['\x1b', '\t'])
                && !text.contains("##[")
                && text.ends_with("}\n"),
            "{text}"
        );
        assert!(text.contains("[click] (https://evil.example)"), "{text}");
    }
}
