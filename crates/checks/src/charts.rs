//! Templates of Helm charts among the files that a command reads: they are YAML only after Helm has
//! rendered them, so nothing is read in them.

use std::collections::BTreeMap;

use crate::go_template::{Renderer, first_action, renderer};
use windlass_objects as objects;
use windlass_shell::quoted;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report, rules};

rules! {
    /// a file is a template of a Helm chart, which is not YAML before it is rendered
    pub(crate) UNRENDERED = error("helm-template-unrendered");
}

/// The folders of charts by the names of the files in their `templates` folders.
pub type Charts = BTreeMap<String, String>;

/// Whether a file is a template of a chart: it is in the chart's folder, or uses what Helm gives to
/// templates.
pub(crate) fn is_template(source: &Source, charts: &Charts) -> bool {
    let is_in_chart =
        || charts.contains_key(source.name().as_ref()) && first_action(source.text()).is_some();
    is_of_helm(source) || is_in_chart()
}

fn is_of_helm(source: &Source) -> bool {
    renderer(source.text()).is_some_and(|(renderer, _)| renderer == Renderer::Helm)
}

/// Takes the templates of charts and other templates of Go out of some files; one finding for each
/// chart, or file. `command` is the command that reads YAML from standard input.
pub fn take(sources: &mut Vec<Source>, charts: &Charts, command: &str, budget: &Budget) -> Report {
    let is_taken = |source: &Source| is_template(source, charts) || is_of_go(source, budget);
    let (taken, rest): (Vec<Source>, Vec<Source>) =
        std::mem::take(sources).into_iter().partition(is_taken);
    *sources = rest;
    findings(taken.iter(), charts, command)
}

/// Whether a file is a template of Go, and not YAML: texts in YAML may have such actions.
fn is_of_go(source: &Source, budget: &Budget) -> bool {
    renderer(source.text()).is_some() && objects::documents(source, budget).1.has_errors()
}

/// One finding for each chart of some templates, and for each template whose chart is not known.
pub(crate) fn findings<'s>(
    templates: impl Iterator<Item = &'s Source>,
    charts: &Charts,
    command: &str,
) -> Report {
    let mut of_charts: Vec<(Option<&str>, Vec<&Source>)> = Vec::new();
    for template in templates {
        let folder = charts.get(template.name().as_ref()).map(String::as_str);
        let known = of_charts
            .iter_mut()
            .find(|(known, _)| folder.is_some() && *known == folder);
        match known {
            Some((_, files)) => files.push(template),
            None => of_charts.push((folder, vec![template])),
        }
    }
    let found = of_charts.into_iter().filter_map(|(folder, files)| {
        let (first, others) = files.split_first()?;
        Some(finding(first, others.len(), folder, command))
    });
    found.collect()
}

fn finding(first: &Source, others: usize, folder: Option<&str>, command: &str) -> Diagnostic {
    let name = first.name();
    let is_helm = folder.is_some() || is_of_helm(first);
    let message = match (folder, others) {
        (_, _) if !is_helm => format!("{name} is a template of Go, and not YAML"),
        (Some(folder), 1..) => format!(
            "{} files of {folder} are templates of a Helm chart, and not YAML",
            others + 1
        ),
        _ => format!("{name} is a template of a Helm chart, and not YAML"),
    };
    let action = renderer(first.text())
        .map(|(_, action)| action)
        .or_else(|| first_action(first.text()));
    let place = match action {
        Some(action) => first.place_at(action.start..action.start + 2),
        None => first.place(),
    };
    let help = match (is_helm, folder) {
        (false, _) => "render it first, and check the output".to_owned(),
        (true, Some(folder)) => {
            let release = folder
                .rsplit('/')
                .find(|part| !matches!(*part, "" | "." | ".."))
                .unwrap_or("NAME");
            format!(
                "render the chart first: `helm template {} {} | {command}`",
                quoted(release),
                quoted(folder)
            )
        }
        (true, None) => {
            format!("render the chart first: `helm template NAME FOLDER | {command}`")
        }
    };
    Diagnostic::of(&UNRENDERED, message).at(place).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chart_is_told_once() {
        let mut sources = vec![
            Source::new("c/templates/a.yaml", "name: {{ .Values.a }}\n"),
            Source::new("c/templates/b.yaml", "name: {{ include \"x\" . }}\n"),
            Source::new("c/templates/plain.yaml", "kind: A\n"),
            Source::new("d.yaml", "{{- if .Values.a }}\n"),
            Source::new("e.yaml", "{{- if .X }}\n"),
            Source::new("quoted.yaml", "a: \"b\n  {{ .X }}\"\n"),
            Source::new("f.yaml", "name: '{{ ds.meta_data.hostname }}'\n"),
        ];
        let charts = ["a", "b", "plain"]
            .map(|name| (format!("c/templates/{name}.yaml"), "./my c".to_owned()))
            .into();
        let report = take(&mut sources, &charts, "windlass lint -", &Budget::default());
        let said: Vec<_> = report
            .findings()
            .iter()
            .map(|found| {
                let help = found.help.as_ref().unwrap();
                format!("{}: {help}", found.message)
            })
            .collect();
        assert_eq!(
            said,
            [
                "2 files of ./my c are templates of a Helm chart, and not YAML: render the chart first: `helm template 'my c' './my c' | windlass lint -`",
                "d.yaml is a template of a Helm chart, and not YAML: render the chart first: `helm template NAME FOLDER | windlass lint -`",
                "e.yaml is a template of Go, and not YAML: render it first, and check the output",
            ]
        );
        let left: Vec<_> = sources
            .iter()
            .map(|source| source.name().as_ref())
            .collect();
        assert_eq!(left, ["c/templates/plain.yaml", "quoted.yaml", "f.yaml"]);
    }
}
