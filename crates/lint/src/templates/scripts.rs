//! Scripts in templates: dollar signs that clusterctl takes for its own.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use windlass_capi::contract::book;
use windlass_envsubst::Template;
use windlass_go_yaml::yaml::{Document, Node, Value};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Report, rules};

rules! {
    /// clusterctl replaces `$$`, which is a shell's process id, by `$`
    DOLLAR_HALVED = info("template-dollar-halved"), catalogue("T07"), url(book::VARIABLES);
    /// clusterctl replaces a variable that the script itself sets
    SHELL_REPLACED = warning("template-shell-variable-replaced"), catalogue("T08"), url(book::VARIABLES);
}

/// `NAME=` or `NAME+=` at the beginning of a command; what declares may name others before it.
/// Before the first one the quote of a YAML text may stand. Names of a shell are ASCII (`-u`).
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
    let expression = r#"(?m-u)(?:\A["']|^|[;&|(]|\b(?:then|do|else)\b)[ \t]*(?:(?:export|local|readonly|declare|typeset)[ \t]+(?:-?\w+[ \t]+)*)?([A-Za-z_]\w*)\+?="#;
    Regex::new(expression).expect("internal error: the expression is valid")
});

/// `NAME=` behind a value: `local A=1 B=2`.
static NEXT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?-u)^[ \t]+([A-Za-z_]\w*)\+?=").expect("internal error: the expression is valid")
});

/// `for NAME in` at the beginning of a command (elsewhere it is English), `read NAME`.
static LOOP: LazyLock<Regex> = LazyLock::new(|| {
    let expression = r#"(?m-u)(?:\A["']|^|[;&|({]|\b(?:then|do|else)\b)[ \t]*for[ \t]+([A-Za-z_]\w*)[ \t]+in\b|\bread[ \t]+(?:-\w+[ \t]+)*([A-Za-z_]\w*)[ \t]*(?:$|;|<)"#;
    Regex::new(expression).expect("internal error: the expression is valid")
});

pub(super) fn check(source: &Source, template: &Template<'_>, documents: &[Document]) -> Report {
    let mut report: Report = halved(source).into_iter().collect();
    let uses: Vec<(Range<usize>, &str)> = template
        .uses()
        .into_iter()
        .map(|used| (used.span, used.name))
        .collect();
    if !uses.is_empty() {
        documents
            .iter()
            .for_each(|document| visit(source, &document.root, &uses, &mut report));
    }
    report
}

/// A `$$` behind which the line, a word or a quoted text ends, or a sign comes that no expansion
/// begins with: there nobody escapes anything.
fn halved(source: &Source) -> Option<Diagnostic> {
    let text = source.text();
    let starts = text
        .match_indices("$$")
        .map(|(at, _)| at)
        .filter(|at| !text[..*at].ends_with('$'));
    let is_own_number = |at: &usize| {
        let rest = &text[at + 2..];
        let line = text[..*at].rsplit('\n').next().unwrap_or_default();
        let is_escape =
            rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "$_{(@*#?!-".contains(c));
        let is_quoted = rest.starts_with(['\'', '"']) && !ends_a_text(line, rest);
        !is_escape && !is_quoted && !line.trim_start().starts_with('#')
    };
    let found: Vec<usize> = starts.filter(is_own_number).collect();
    let (first, others) = found.split_first()?;
    let place = |at: usize| source.place_at(at..at + 2);
    let finding =
        Diagnostic::of(&DOLLAR_HALVED, "clusterctl makes one `$` of `$$`").at(place(*first));
    let finding = finding.help("write `$$$$`, of which `$$` stays");
    Some(
        others
            .iter()
            .fold(finding, |finding, at| finding.related(place(*at), "")),
    )
}

/// Whether the quote behind a `$$` ends a text such as `"/tmp/join-$$"`. One that begins a text
/// belongs to the sign, as in `$'\n'`; and behind a letter or a bracket stands the end of a
/// pattern, as in `grep -q "ready$$"`.
fn ends_a_text(line: &str, rest: &str) -> bool {
    let quote = &rest[..1];
    line.matches(quote).count() % 2 == 1
        && line.ends_with([' ', '\t', '\'', '"', '-', '_', '.', '/', ':', '='])
}

/// The depth is that of the reader's limits.
fn visit(source: &Source, node: &Node, uses: &[(Range<usize>, &str)], report: &mut Report) {
    match &node.value {
        Value::Mapping(mapping) => mapping
            .iter()
            .for_each(|entry| visit(source, &entry.value, uses, report)),
        Value::Sequence(items) => items
            .iter()
            .for_each(|item| visit(source, item, uses, report)),
        Value::String(_) => {
            let span: Range<usize> = node.span.into();
            let from = uses.partition_point(|(used, _)| used.start < span.start);
            let within: Vec<_> = uses[from..]
                .iter()
                .take_while(|(used, _)| used.start < span.end)
                .collect();
            report.extend(replaced(source, &source.text()[span.clone()], &within));
        }
        _ => {}
    }
}

/// The uses of names that a script sets, each name once. One that is set to clusterctl's variable
/// of the same name is meant.
fn replaced(source: &Source, script: &str, uses: &[&(Range<usize>, &str)]) -> Vec<Diagnostic> {
    if uses.is_empty() {
        return Vec::new();
    }
    let (mut set, mut taken) = (BTreeSet::new(), BTreeSet::new());
    for (name, value) in assignments(script) {
        let begun = format!("${{{name}");
        let is_whole = |at: usize| {
            !value[at + begun.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
        };
        let is_passed_on = value
            .match_indices(&begun)
            .any(|(at, _)| !value[..at].ends_with('$') && is_whole(at));
        if is_passed_on {
            taken.insert(name)
        } else {
            set.insert(name)
        };
    }
    let is_comment = |at: usize| {
        script[..at]
            .rsplit('\n')
            .next()
            .is_some_and(|line| line.trim_start().starts_with('#') || line.contains(" #"))
    };
    let named = LOOP
        .captures_iter(script)
        .filter_map(|found| found.get(1).or_else(|| found.get(2)));
    set.extend(
        named
            .filter(|name| !is_comment(name.start()))
            .map(|name| name.as_str()),
    );
    let mut told = BTreeSet::new();
    let of_script = uses
        .iter()
        .filter(|(_, name)| set.contains(name) && !taken.contains(name) && told.insert(*name));
    let finding = |(span, name): &(Range<usize>, &str)| {
        let message =
            format!("clusterctl replaces ${{{name}}} in a script that sets {name} itself");
        Diagnostic::of(&SHELL_REPLACED, message)
            .at(source.place_at(span.clone()))
            .help(format!("write `$${{{name}}}`"))
    };
    of_script.map(|used| finding(used)).collect()
}

/// The variables that a script assigns, with their values as far as they stand on the same line.
fn assignments(script: &str) -> Vec<(&str, &str)> {
    let (mut found, mut end) = (Vec::new(), 0);
    for first in ASSIGNMENT.captures_iter(script) {
        let mut next = named(&first, 0).filter(|(name, _)| name.start >= end);
        while let Some((name, from)) = next {
            let value = word(script[from..].lines().next().unwrap_or_default());
            found.push((&script[name], value));
            end = from + value.len();
            next = NEXT
                .captures(&script[end..])
                .and_then(|next| named(&next, end));
        }
    }
    found
}

/// Where the name of an assignment stands, and where its value begins: behind the `=`, with which
/// the expressions end. Both count from `at`.
fn named(found: &Captures<'_>, at: usize) -> Option<(Range<usize>, usize)> {
    let (whole, name) = (found.get(0)?, found.get(1)?);
    Some((at + name.start()..at + name.end(), at + whole.end()))
}

/// The word of a shell with which a line begins.
fn word(line: &str) -> &str {
    let (mut quote, mut depth) = (None, 0_usize);
    let mut letters = line.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some('"' | '`') | None, '\\') => drop(letters.next()),
            (Some(open), _) => quote = Some(open).filter(|open| *open != letter),
            (None, '\'' | '"' | '`') => quote = Some(letter),
            (None, '(' | '{') => depth += 1,
            (None, ')' | '}') if depth > 0 => depth -= 1,
            (None, ' ' | '\t' | ';' | '&' | '|' | ')') if depth == 0 => return &line[..at],
            _ => {}
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_envsubst as envsubst;
    use windlass_go_yaml::yaml;
    use windlass_source::budget::Budget;

    fn found(script: &str) -> Vec<String> {
        let text = format!("data:\n  run: |\n    {}\n", script.replace('\n', "\n    "));
        let source = Source::new("t.yaml", text.as_str());
        let documents = yaml::parse(&source, &Budget::default()).documents;
        let report = check(&source, &envsubst::parse(&text).unwrap(), &documents);
        let line = |finding: &Diagnostic| finding.place.span.map_or(0, |span| span.start.line);
        report
            .findings()
            .iter()
            .map(|finding| format!("{}:{}", finding.rule.id, line(finding)))
            .collect()
    }

    /// drone/envsubst: `$$` is `$`, before a brace or not.
    #[test]
    fn the_number_of_a_process_needs_four_signs() {
        assert_eq!(
            found("cat > /tmp/x.$$\nrm $$ "),
            ["template-dollar-halved:3"]
        );
        // The third is in Azure's templates of prow-dalec-custom-builds.
        for own in [
            "rm $$ /tmp/y",
            "echo \"pid $$\"",
            "TEMP_DIR=\"/tmp/$${BINARY}-extract-$$\"",
            "echo 'x' \"$$\"",
        ] {
            assert_eq!(found(own), ["template-dollar-halved:3"], "{own}");
        }
        for sound in [
            "cat > /tmp/x.$$$$",
            "x=$$(date)",
            "echo $${A} $$A $$1 \"$$@\"",
            "# $$",
            "echo $A",
            "IFS=$$'\\n'",
            "grep -q \"ready$$\"",
            "grep -v '[a-z]*$$'",
        ] {
            assert_eq!(found(sound), [""; 0], "{sound}");
        }
    }

    /// The name of another variable may begin with that of one.
    #[test]
    fn a_variable_is_taken_over_by_its_whole_name() {
        let told = ["template-shell-variable-replaced:4"];
        for value in ["${AB}", "${A_B}", "${A1}", "$${A}"] {
            assert_eq!(found(&format!("A={value}\necho ${{A}}")), told, "{value}");
        }
        for value in ["${A}", "${A:=x}", "${A:-x}"] {
            assert_eq!(
                found(&format!("A={value}\necho ${{A}}")),
                [""; 0],
                "{value}"
            );
        }
    }

    #[test]
    fn variables_that_a_script_sets_are_its_own() {
        for script in [
            "A=1\necho ${A}",
            "export A=$(date)\necho ${A}",
            "if x; then A=1; fi\necho ${A:-b}",
            "for A in 1 2; do\n  echo ${A}\ndone",
            "while read -r A; do\n  echo ${A}\ndone",
            "local -r A=1\necho ${A}\necho ${A}",
            "B=1; A=2\necho ${A}",
            "local B=1 A=2\necho ${A}",
            "declare C B=\"x y\" A=$(date +%s)\necho ${A}",
            "A=1; C=${D}\necho ${A}",
            "A+=1\necho ${A}",
            "local B=1 A+=2\necho ${A}",
        ] {
            assert_eq!(
                found(script),
                [format!(
                    "template-shell-variable-replaced:{}",
                    2 + script[..script.find("${A").unwrap()].lines().count()
                )],
                "{script}"
            );
        }
        for sound in [
            "A=1\necho $${A}",
            "A=${A}\necho ${A}",
            "export A=\"${A:-x}\"\necho ${A}",
            "echo ${A}",
            "B=1\necho ${A}",
            "run --A=1\necho ${A}",
            "B=1; A=${A}\necho ${A}",
            "A+=${A}\necho ${A}",
            "B=\"x; A=1\"\necho ${A}",
            "local B=1 A=$(echo ${A} | tr a b)\necho ${A}",
            "# for A in x\necho ${A}",
            "ls # while read -r A\necho ${A}",
        ] {
            assert_eq!(found(sound), [""; 0], "{sound}");
        }
    }

    #[test]
    fn a_command_of_one_line_is_a_script_too() {
        let found = |text: &str| {
            let source = Source::new("t.yaml", text);
            let documents = yaml::parse(&source, &Budget::default()).documents;
            check(&source, &envsubst::parse(text).unwrap(), &documents)
                .findings()
                .len()
        };
        for script in [
            "for A in 1 2; do echo ${A}; done",
            "true; for A in 1 2; do echo ${A}; done",
            "A=1; echo ${A}",
            "\"A=1; echo ${A}\"",
            "'A=1 && echo ${A}'",
            "echo && A=1; echo ${A}",
        ] {
            assert_eq!(found(&format!("- {script}\n")), 1, "{script}");
        }
        for sound in [
            "a place for A in ${A}",
            "A=${A}",
            "\"A=${A}\"",
            "A=1; echo $${A}",
            "\"echo A=1 ${A}\"",
            "echo 'A=1' ${A}",
            "A=1 ${AB}",
        ] {
            assert_eq!(found(&format!("- {sound}\n")), 0, "{sound}");
        }
    }

    #[test]
    fn what_another_script_sets_is_not_meant() {
        let text = "a: |\n  A=1\n  true\nb: |\n  echo ${A}\n  true\n";
        let source = Source::new("t.yaml", text);
        let documents = yaml::parse(&source, &Budget::default()).documents;
        assert!(check(&source, &envsubst::parse(text).unwrap(), &documents).is_empty());
    }
}
