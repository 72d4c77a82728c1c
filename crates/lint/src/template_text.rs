//! Cluster templates and ClusterClasses: variables that do not mean what they look like, versions
//! that are numbers, classes twice.

use std::collections::BTreeSet;

use windlass_capi::contract::book;
use windlass_envsubst::{self as envsubst, Template};
use windlass_go_yaml::yaml::{self, Node};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// a variable operator has a different meaning in clusterctl than in a shell
    OPERATOR_OTHER = warning("template-operator-not-shells"), catalogue("T06"), url(book::VARIABLES);
    /// a variable operator makes the variable optional without a message
    OPTIONAL_BY_OPERATOR = warning("template-variable-optional"), catalogue("T06"), url(book::VARIABLES);
    /// a variable occurs only in the default of another one, so clusterctl does not list it
    NESTED_ONLY = info("template-variable-hidden"), catalogue("T05");
    /// the version of a Cluster is unquoted and may be read as a number
    VERSION_UNQUOTED = error("template-version-unquoted");
    /// several Clusters of a template share a ClusterClass, which clusterctl prints once for each
    CLASS_REPEATED = warning("template-class-repeated");
}

/// Checks the text of a template, variables included. That they cannot be read is a finding of its
/// own.
pub(super) fn check(source: &Source, budget: &Budget) -> Report {
    let Ok(template) = envsubst::parse(source.text()) else {
        return Report::new();
    };
    let mut report = variables(source, &template);
    report.extend(clusters(source, budget));
    report
}

fn variables(source: &Source, template: &Template) -> Report {
    let inspected = template.variables();
    let mut hidden = BTreeSet::new();
    let mut report = Report::new();
    for used in template.uses() {
        let known = inspected.get(used.name);
        let is_hidden = used.nested && known.is_none() && hidden.insert(used.name.to_owned());
        let is_optional =
            !used.nested && used.default.is_some() && known.is_some_and(Option::is_some);
        if let Some(finding) = misleading(
            used.name,
            used.operator(source.text()),
            is_hidden,
            is_optional,
        ) {
            report.push(finding.at(source.place_at(used.span)));
        }
    }
    report
}

/// What is wrong with one use of a variable, by the sign behind its name.
fn misleading(name: &str, sign: &str, is_hidden: bool, is_optional: bool) -> Option<Diagnostic> {
    let (rule, message, help) = match sign {
        ":?" => (
            &OPERATOR_OTHER,
            format!("`:?` gives variable {name} a default here, and no message when it is not set"),
            format!("write `${{{name}}}`, which is required"),
        ),
        ":+" => (
            &OPERATOR_OTHER,
            format!("`:+` is a default of variable {name} here, and no text for when it is set"),
            format!("write `${{{name}:=default}}`"),
        ),
        "" | "=" | ":=" | ":-" if is_hidden => (
            &NESTED_ONLY,
            format!(
                "variable {name} is used in defaults only: `clusterctl generate cluster --list-variables` does not show it"
            ),
            format!("use `${{{name}}}` outside of a default too, or document it"),
        ),
        "" | "=" | ":=" | ":-" => return None,
        sign if is_optional => (
            &OPTIONAL_BY_OPERATOR,
            format!(
                "`{sign}` makes variable {name} optional: nothing is rejected when it is not set"
            ),
            format!("use `${{{name}}}` before it, so that it is required"),
        ),
        _ => return None,
    };
    Some(Diagnostic::of(rule, message).help(help))
}

fn clusters(source: &Source, budget: &Budget) -> Report {
    let mut report = Report::new();
    let mut classes = BTreeSet::new();
    // Variables can break the YAML of a template that is sound once they are replaced: then nothing
    // is checked here.
    for document in &yaml::parse(source, budget).documents {
        let root = &document.root;
        let text = |path: &str| root.at(&FieldPath::of_fields(path)).and_then(Node::as_str);
        let is_cluster = text("kind") == Some("Cluster")
            && text("apiVersion").is_some_and(|version| version.starts_with("cluster.x-k8s.io/"));
        if !is_cluster {
            continue;
        }
        let place = |node: &Node, path: &str| {
            source
                .place_at(node.span)
                .in_document(document.index)
                .at_path(FieldPath::of_fields(path))
        };
        if let Some(version) = root.at(&FieldPath::of_fields("spec.topology.version"))
            && matches!(version.value, yaml::Value::Number(_))
        {
            let finding = Diagnostic::of(
                &VERSION_UNQUOTED,
                "spec.topology.version is a number, and clusterctl wants a text",
            );
            report.push(
                finding
                    .at(place(version, "spec.topology.version"))
                    .help("write the whole version, such as \"v1.34.2\""),
            );
        }
        for path in ["spec.topology.class", "spec.topology.classRef.name"] {
            let Some(class) = root.at(&FieldPath::of_fields(path)) else {
                continue;
            };
            if let Some(name) = class
                .as_str()
                .filter(|name| !classes.insert((*name).to_owned()))
            {
                let finding = Diagnostic::of(
                    &CLASS_REPEATED,
                    format!(
                        "a second Cluster uses class {name}: clusterctl prints the class twice"
                    ),
                );
                report.push(
                    finding
                        .at(place(class, path))
                        .help("put one Cluster into a template"),
                );
            }
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str, expected: &[&str]) {
        let report = check(&Source::new("t.yaml", text), &Budget::default());
        let found: Vec<&str> = report
            .findings()
            .iter()
            .map(|finding| finding.rule.id)
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    /// clusterctl.md 4.2 and 11.11.
    #[test]
    fn operators_that_mislead_are_found() {
        check_text("a: ${A:?must be set}\n", &["template-operator-not-shells"]);
        check_text("a: ${A:+x}\n", &["template-operator-not-shells"]);
        check_text("a: ${A#v}\n", &["template-variable-optional"]);
        check_text("a: ${A} ${A#v}\n", &[]);
        check_text("a: ${A:=x} ${B=y} ${C:-z} ${D} ${E^^} ${#F}\n", &[]);
        check_text("a: ${A:=${B}}${A}\n", &["template-variable-hidden"]);
        check_text("a: ${A:=${B}} ${B}\n", &[]);
    }

    #[test]
    fn clusters_with_number_versions_and_repeated_classes_are_found() {
        let cluster = |version: &str| {
            format!(
                "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nspec:\n  topology:\n    classRef: {{name: c}}\n    version: {version}\n"
            )
        };
        check_text(&cluster("1.30"), &["template-version-unquoted"]);
        check_text(&cluster("v1.30.0"), &[]);
        check_text(
            &format!("{}---\n{}", cluster("v1.30.0"), cluster("v1.30.1")),
            &["template-class-repeated"],
        );
    }
}
