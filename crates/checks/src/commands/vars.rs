//! `vars`: the variables of templates, whether they must be set, and every place where they are
//! used.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use windlass_capi::contract::SET_BY_GENERATE_CLUSTER;
use windlass_envsubst::{self as envsubst, Template};
use windlass_go_text as go;
use windlass_lint::templates::substitution_finding;
use windlass_report::text::visible;
use windlass_source::Source;
use windlass_source::diag::{Report, Span};

/// A variable of the templates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Whether clusterctl rejects one of the templates when the variable is not set.
    pub required: bool,
    /// What clusterctl takes for its default: that of the first use in the first template that has
    /// one.
    pub default: Option<String>,
    /// Whether every use stands within the default of another variable. clusterctl neither lists
    /// nor requires such a variable.
    pub nested: bool,
    /// Whether `generate cluster` sets it, whatever the template says.
    pub set_by_generate_cluster: bool,
    /// Every use, in the order of the files.
    pub uses: Vec<Use>,
}

/// One use of a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Use {
    /// The file as the user named it.
    pub file: String,
    /// Line of `${`, from 1.
    pub line: u32,
    /// Column of `${` in characters, from 1.
    pub column: u32,
    /// Line of the end, from 1.
    pub end_line: u32,
    /// Column just after `}`, from 1.
    pub end_column: u32,
    /// The default at this place.
    pub default: Option<String>,
    /// Whether it stands within an argument of another reference.
    pub nested: bool,
}

/// The variables of all templates by name, and findings about templates that cannot be read.
pub fn list(templates: &[Source]) -> (Vec<Variable>, Report) {
    let mut variables: BTreeMap<String, Variable> = BTreeMap::new();
    let mut report = Report::new();
    for source in templates {
        match envsubst::parse(source.text()) {
            Ok(template) => add(&mut variables, source, &template),
            Err(error) => report.push(substitution_finding(source, &error)),
        }
    }
    (variables.into_values().collect(), report)
}

fn add(variables: &mut BTreeMap<String, Variable>, source: &Source, template: &Template) {
    for used in template.uses() {
        let variable = variables
            .entry(used.name.to_owned())
            .or_insert_with(|| Variable::new(used.name));
        variable.nested &= used.nested;
        let Span { start, end } = source.span(used.span);
        variable.uses.push(Use {
            file: source.name().to_string(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            default: used.default,
            nested: used.nested,
        });
    }
    for (name, default) in template.variables() {
        let variable = variables
            .entry(name)
            .or_insert_with_key(|name| Variable::new(name));
        variable.required |= default.is_none();
        variable.default = variable.default.take().or(default);
    }
}

impl Variable {
    fn new(name: &str) -> Self {
        Variable {
            name: name.to_owned(),
            required: false,
            default: None,
            nested: true,
            set_by_generate_cluster: SET_BY_GENERATE_CLUSTER.contains(&name),
            uses: Vec::new(),
        }
    }

    /// What there is to say of it beside its name.
    fn remark(&self) -> String {
        let default = self
            .default
            .as_deref()
            .map(|default| format!("defaults to {}", go::quote(default)));
        match (self.required, default) {
            _ if self.nested => {
                "used in defaults only: clusterctl neither lists nor requires it".to_owned()
            }
            _ if self.set_by_generate_cluster => "set by `generate cluster`".to_owned(),
            (true, Some(default)) => format!("required; {default} elsewhere"),
            (true, None) => "required".to_owned(),
            (false, default) => default.unwrap_or_default(),
        }
    }
}

/// The widest name that the remarks of the others keep clear of.
const WIDEST_NAME: usize = 60;

/// The list as people read it: a line for each variable, and, unless it shall be `short`, below it
/// one for each use.
pub fn text(variables: &[Variable], short: bool) -> String {
    let width = variables
        .iter()
        .map(|variable| variable.name.chars().count())
        .max()
        .unwrap_or(0)
        .min(WIDEST_NAME);
    let mut text = String::new();
    for variable in variables {
        text.push_str(&format!(
            "{:width$}   {}\n",
            variable.name,
            variable.remark()
        ));
        for used in variable.uses.iter().filter(|_| !short) {
            text.push_str(&format!(
                "  {}:{}:{}{}\n",
                visible(&used.file),
                used.line,
                used.column,
                used.remark(variable)
            ));
        }
    }
    text
}

impl Use {
    /// What makes this use different from the others.
    fn remark(&self, variable: &Variable) -> String {
        let nested = self.nested && !variable.nested;
        let own = self
            .default
            .as_deref()
            .filter(|_| !variable.set_by_generate_cluster && self.default != variable.default);
        match (nested, own) {
            (true, Some(default)) => format!("   nested, defaults to {}", go::quote(default)),
            (true, None) => "   nested".to_owned(),
            (false, Some(default)) => format!("   defaults to {}", go::quote(default)),
            (false, None)
                if self.default.is_none()
                    && variable.default.is_some()
                    && !variable.set_by_generate_cluster =>
            {
                "   no default".to_owned()
            }
            (false, None) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, required, default, nested.
    fn check(templates: &[&str], expected: &[(&str, bool, Option<&str>, bool)]) {
        let sources: Vec<Source> = templates
            .iter()
            .enumerate()
            .map(|(at, text)| Source::new(format!("{at}.yaml"), *text))
            .collect();
        let (variables, report) = list(&sources);
        assert!(report.is_empty(), "{report:?}");
        let found: Vec<_> = variables
            .iter()
            .map(|v| (v.name.as_str(), v.required, v.default.as_deref(), v.nested))
            .collect();
        assert_eq!(found, expected, "{templates:?}");
    }

    /// clusterctl's inspection: the first use decides, an empty default is none, every argument
    /// counts, nested ones are not seen.
    #[test]
    fn variables_are_what_clusterctl_inspects() {
        check(&["${M} ${M:=b}"], &[("M", true, None, false)]);
        check(&["${M:=b} ${M}"], &[("M", false, Some("b"), false)]);
        check(&["${M:=}"], &[("M", true, None, false)]);
        check(&["${M:0:3}"], &[("M", false, Some("03"), false)]);
        check(
            &["${A:=${B:=x}}"],
            &[("A", false, Some("${B}"), false), ("B", false, None, true)],
        );
        check(
            &["${A:=${B}} ${B}"],
            &[("A", false, Some("${B}"), false), ("B", true, None, false)],
        );
    }

    #[test]
    fn a_variable_is_required_when_one_template_requires_it() {
        check(&["${M:=b}", "${M}"], &[("M", true, Some("b"), false)]);
        check(
            &["${A:=${B}}", "${B:=x}"],
            &[
                ("A", false, Some("${B}"), false),
                ("B", false, Some("x"), false),
            ],
        );
    }

    #[test]
    fn text_names_every_place() {
        let source = Source::new(
            "t.yaml",
            "a: ${A}\né: ${B:=x}${B}\nc: ${D:=p${C}${B:=y}}\nn: ${NAMESPACE:=n}\n",
        );
        let (variables, _) = list(&[source]);
        let expected = "A           required\n  t.yaml:1:4\n\
                        B           defaults to \"x\"\n  t.yaml:2:4\n  t.yaml:2:11   no default\n  t.yaml:3:14   nested, defaults to \"y\"\n\
                        C           used in defaults only: clusterctl neither lists nor requires it\n  t.yaml:3:10\n\
                        D           defaults to \"p${C}${B}\"\n  t.yaml:3:4\n\
                        NAMESPACE   set by `generate cluster`\n  t.yaml:4:4\n";
        assert_eq!(text(&variables, false), expected);
        let own: String = expected
            .lines()
            .filter(|line| !line.starts_with(' '))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(text(&variables, true), own);
    }

    #[test]
    fn a_template_that_cannot_be_read_is_a_finding_and_the_rest_is_listed() {
        let (variables, report) = list(&[
            Source::new("bad.yaml", "x\n${A"),
            Source::new("good.yaml", "${B}"),
        ]);
        assert_eq!(variables.len(), 1);
        let finding = &report.findings()[0];
        assert_eq!(
            (finding.rule.id, finding.upstream.as_deref()),
            (
                "template-substitution-broken",
                Some("missing closing brace")
            )
        );
        assert_eq!(finding.place.span.map(|span| span.start.line), Some(2));
    }
}
