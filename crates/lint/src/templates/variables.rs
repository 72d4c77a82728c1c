//! Variables of a template that mean something else than they look like: the case of their names,
//! defaults that hold at some places only.

use std::collections::BTreeMap;

use windlass_capi::contract::{SET_BY_GENERATE_CLUSTER, book};
use windlass_envsubst::{Template, Use};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Quoted, Report, rules};

rules! {
    /// a variable has lower-case letters, and clusterctl looks it up in upper case
    LOWER_CASE = warning("template-variable-lower-case"), catalogue("T02"), url(book::VARIABLES);
    /// a variable with a default is empty where it is used without the default
    BLANK = warning("template-variable-blank"), catalogue("T03"), url(book::VARIABLES);
    /// a variable has different defaults
    DEFAULTS_DIFFER = warning("template-variable-defaults-differ"), catalogue("T04"), url(book::VARIABLES);
}

/// Checks the variables of a template, each once.
pub(super) fn check(source: &Source, template: &Template) -> Report {
    let required = template.variables();
    let mut variables: BTreeMap<&str, Vec<Use<'_>>> = BTreeMap::new();
    let uses = template.uses();
    for used in uses {
        variables.entry(used.name).or_default().push(used);
    }
    let mut report = Report::new();
    for (name, uses) in &variables {
        report.extend(lower_case(source, name, uses));
        let has_default = required.get(*name).is_some_and(Option::is_some);
        let may_be_unset = has_default && !SET_BY_GENERATE_CLUSTER.contains(name);
        report.extend(blank(source, name, uses).filter(|_| may_be_unset));
        report.extend(differing(source, name, uses));
    }
    report
}

fn lower_case(source: &Source, name: &str, uses: &[Use<'_>]) -> Option<Diagnostic> {
    let (first, others) = uses.split_first()?;
    name.contains(|c: char| c.is_ascii_lowercase()).then(|| {
        let upper = name.to_ascii_uppercase();
        let message = format!("clusterctl looks for variable {name} as {upper} in the environment");
        let finding = Diagnostic::of(&LOWER_CASE, message).at(source.place_at(first.span.clone()));
        let finding = finding.help(format!(
            "write `${{{upper}}}`; where a script means its own variable, `$${{{name}}}`"
        ));
        others.iter().fold(finding, |finding, used| {
            finding.related(source.place_at(used.span.clone()), "")
        })
    })
}

/// Places at which nothing stands when the variable is not set, although it may be left out.
fn blank(source: &Source, name: &str, uses: &[Use<'_>]) -> Option<Diagnostic> {
    let bare: Vec<&Use<'_>> = uses
        .iter()
        .filter(|used| used.operator(source.text()).is_empty())
        .collect();
    let (first, others) = bare.split_first()?;
    let default = uses.iter().find_map(|used| {
        used.default
            .as_deref()
            .filter(|_| used.gives_default(source.text()))
    })?;
    let message = format!(
        "variable {name} may be left out because of its default `{default}`, and then nothing is here",
        default = Quoted(default)
    );
    let finding = Diagnostic::of(&BLANK, message).at(source.place_at(first.span.clone()));
    let finding = finding
        .help(format!(
            "write `${{{name}:={default}}}`, or leave the default out at the first place"
        ))
        .note("clusterctl requires a variable only when its first place has no default");
    let finding = uses.first().map_or(finding.clone(), |used| {
        finding.related(source.place_at(used.span.clone()), "the first place")
    });
    Some(others.iter().fold(finding, |finding, used| {
        finding.related(source.place_at(used.span.clone()), "")
    }))
}

fn differing(source: &Source, name: &str, uses: &[Use<'_>]) -> Option<Diagnostic> {
    let with_default =
        |used: &&Use<'_>| used.default.is_some() && used.gives_default(source.text());
    let mut uses = uses.iter().filter(with_default);
    let first = uses.next()?;
    let other = uses.find(|used| used.default != first.default)?;
    let text = |used: &Use<'_>| used.default.clone().unwrap_or_default();
    let message = format!(
        "variable {name} has the default `{}` here and `{}` elsewhere",
        Quoted(text(other)),
        Quoted(text(first))
    );
    let finding = Diagnostic::of(&DEFAULTS_DIFFER, message).at(source.place_at(other.span.clone()));
    let finding = finding.related(
        source.place_at(first.span.clone()),
        "the first one, which is listed",
    );
    Some(finding.help(format!(
        "write `${{{name}:={}}}`, or give one of them a variable of its own",
        text(first)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_envsubst as envsubst;

    fn found(text: &str) -> Vec<String> {
        let source = Source::new("t.yaml", text);
        let report = check(&source, &envsubst::parse(text).unwrap());
        let line = |finding: &Diagnostic| finding.place.span.map_or(0, |span| span.start.line);
        report
            .findings()
            .iter()
            .map(|finding| format!("{}:{}", finding.rule.id, line(finding)))
            .collect()
    }

    /// viper's `AutomaticEnv`, with which clusterctl reads variables: the key in upper case.
    #[test]
    fn names_are_upper_case() {
        assert_eq!(
            found("a: ${my_var}\nb: ${my_var}\n"),
            ["template-variable-lower-case:1"]
        );
        assert_eq!(found("a: ${Var}\n"), ["template-variable-lower-case:1"]);
        assert_eq!(found("a: ${VAR_2}\nb: $${my_var}\n"), [""; 0]);
    }

    /// Cluster API, cmd/clusterctl/client/yamlprocessor/simple_processor.go, traverse: the first
    /// place of a variable decides.
    #[test]
    fn a_default_at_the_first_place_alone_leaves_blanks() {
        assert_eq!(
            found("a: ${A:=x}\nb: ${A}\n"),
            ["template-variable-blank:2"]
        );
        assert_eq!(
            found("a: ${WORKER_MACHINE_COUNT:=2}\nb: ${WORKER_MACHINE_COUNT}\n"),
            [""; 0]
        );
        assert_eq!(
            found("a: ${A:=x}\nb: ${B:=${A}}\n"),
            ["template-variable-blank:2"]
        );
        for sound in [
            "a: ${A}\nb: ${A:=x}\n",
            "a: ${A:=x}\nb: ${A:=x}\n",
            "a: ${A:=}\nb: ${A}\n",
            "a: ${A:=x}\nb: $${A}\n",
        ] {
            assert_eq!(found(sound), [""; 0], "{sound}");
        }
    }

    #[test]
    fn a_variable_has_one_default() {
        assert_eq!(
            found("a: ${A:=x}\nb: ${A:-y}\n"),
            ["template-variable-defaults-differ:2"]
        );
        assert_eq!(found("a: ${A:=x}\nb: ${A=x}\nc: ${A:-x}\n"), [""; 0]);
        assert_eq!(
            found("a: ${A:=x}\nb: ${A:0:5}\n"),
            [""; 0],
            "a part of it is not a default"
        );
    }
}
