//! `rules`: the registry of everything that can be found.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::flags::ListOutput;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::rules;
use windlass_report::Sources;
use windlass_report::json;
use windlass_source::diag::{Report, Rule};

pub(super) const VERB: Verb = Verb {
    words: &["rules"],
    operands: "",
    summary: "every rule with its severity, class and summary",
    family: None,
    group: Group::Reference,
    manner: Manner::Ours,
    examples: &["rules", "rules -o json"],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    #[command(flatten)]
    output: ListOutput,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RulesReport {
    /// The rules, by id.
    rules: Vec<Entry>,
}

/// One rule.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Entry {
    /// The id, as `--deny`, `--allow` and findings name it.
    rule: &'static str,
    /// The severity of its findings.
    severity: json::Severity,
    /// What a controller does about a finding: `reject` (the object is not reconciled until it
    /// changes), `requeue` (until the missing object exists) or `report`.
    class: &'static str,
    /// The defect, in one clause.
    summary: &'static str,
    /// The page that the rule is derived from; null when there is none.
    url: Option<&'static str>,
    /// Its numbers in the catalogue of checks of a provider's release, such as `M04`, with blanks
    /// between; null when it has none.
    catalogue: Option<&'static str>,
}

impl From<&'static Rule> for Entry {
    fn from(rule: &'static Rule) -> Self {
        let Rule {
            id,
            severity,
            summary,
            url,
            class,
            catalogue,
            ..
        } = rule;
        Entry {
            rule: id,
            severity: (*severity).into(),
            class: class.as_str(),
            summary,
            url: *url,
            catalogue: *catalogue,
        }
    }
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let all = rules::all();
        let body = RulesReport {
            rules: all.iter().copied().map(Entry::from).collect(),
        };
        context.list(
            self.output.format,
            "Rules",
            body,
            |_| rules::table(&all),
            &Report::new(),
            &Sources::new(),
        );
        Ok(Exit::Clean)
    }
}
