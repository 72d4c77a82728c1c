//! Templates of clusterctl as input: variables are replaced first, and findings stand where the template has the text.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Diagnostic, Remedy, Report, Setting, rules};
use crate::objects::Substituted;
use crate::text::budget::{Budget, Resource};
use crate::text::envsubst;
use crate::text::source::Source;

rules! {
    /// a template cannot be parsed, or a variable has no value
    pub TEMPLATE_REFUSED = error("template-not-substituted");
}

/// The templates that texts came from, by the name of the file.
#[derive(Debug, Clone, Default)]
pub struct Origins(BTreeMap<String, Substituted>);

impl Origins {
    /// Replaces the variables of all sources. A source that cannot be is in the report, and missing in the result.
    pub fn substitute(sources: Vec<Source>, value: &dyn Fn(&str) -> Option<String>, budget: &Budget) -> (Vec<Source>, Self, Report) {
        let mut origins = Origins::default();
        let mut report = Report::new();
        let mut texts = Vec::new();
        for source in sources {
            // The file that took the last steps is reported; those after it are not to blame.
            if budget.is_spent(Resource::Steps) {
                break;
            }
            match substituted(&source, value, budget) {
                Ok(substituted) => {
                    texts.push(substituted.text().clone());
                    origins.0.insert(source.name().to_string(), substituted);
                }
                Err(findings) => report.extend(findings),
            }
        }
        (texts, origins, report)
    }

    /// The report with each place in its template.
    pub fn restore(&self, report: Report) -> Report {
        report.into_findings().into_iter().map(|finding| self.restored(finding)).collect()
    }

    fn restored(&self, finding: Diagnostic) -> Diagnostic {
        let places = std::iter::once(&finding.place).chain(finding.related.iter().map(|related| &related.place));
        let files: BTreeSet<String> = places.filter_map(|place| place.file.as_deref()).map(str::to_owned).collect();
        files.iter().filter_map(|file| self.0.get(file)).fold(finding, |finding, substituted| substituted.restored(finding))
    }
}

/// The text of a template with its variables replaced.
fn substituted(source: &Source, value: &dyn Fn(&str) -> Option<String>, budget: &Budget) -> Result<Substituted, Report> {
    let refused = |message: String, range: std::ops::Range<usize>| Diagnostic::of(&TEMPLATE_REFUSED, message).at(source.place_at(range));
    let template = envsubst::parse(source.text()).map_err(|error| {
        [refused(format!("the template cannot be read: {error}"), error.start..error.stopped).help("write `$$` for a `$`")]
            .into_iter()
            .collect::<Report>()
    })?;
    let required = template.variables();
    let missing = |name: &str| required.get(name).is_some_and(Option::is_none) && value(name).is_none();
    let mut seen = BTreeSet::new();
    let uses = template.uses();
    let findings: Report = uses
        .iter()
        .filter(|used| !used.nested && missing(used.name) && seen.insert(used.name.to_owned()))
        .map(|used| {
            let finding = refused(format!("variable {} has no value and no default", used.name), used.span.clone());
            let remedy = Remedy::new("give it with ").set(Setting::Var, format!("{}=VALUE", used.name));
            finding.help(remedy.then(", or in the environment"))
        })
        .collect();
    if !findings.is_empty() {
        return Err(findings);
    }
    let result = template.substitute(|name| value(name), budget);
    let substituted = result.map_err(|error| {
        [refused(format!("the template cannot be substituted: {error}"), error.start..error.stopped)].into_iter().collect::<Report>()
    })?;
    match substituted.text() {
        Ok(text) => Ok(Substituted::new(source.clone(), text, substituted.map.clone())),
        Err(_) => {
            Err([refused("the substituted template is not UTF-8".to_owned(), 0..0).help("give values in UTF-8")].into_iter().collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_template() {
        let template = Source::new("t.yaml", "kind: Secret\nmetadata: {name: \"${NAME}\", namespace: 5 5}\nx: [\n");
        let (texts, origins, report) = Origins::substitute(vec![template], &|_| Some("a-very-long-name".to_owned()), &Budget::default());
        assert!(report.is_empty());
        assert!(texts[0].text().contains("a-very-long-name"));
        let at = texts[0].text().find("x:").unwrap();
        let finding = Diagnostic::of(&TEMPLATE_REFUSED, "x").at(texts[0].place_at(at..at + 1));
        let restored = origins.restore([finding].into_iter().collect());
        assert_eq!(restored.findings()[0].place.span.unwrap().start.line, 3);
    }

    #[test]
    fn variables_without_a_value_are_all_named() {
        let template = Source::new("t.yaml", "a: ${A}\nb: ${B:=1}\nc: ${C}\n");
        let (_, _, report) = Origins::substitute(vec![template], &|_| None::<String>, &Budget::default());
        let messages: Vec<_> = report.findings().iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, ["variable A has no value and no default", "variable C has no value and no default"]);
    }
}
