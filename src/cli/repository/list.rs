//! `repository list`.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::FAMILY;
use crate::cli::flags::ListOutput;
use crate::cli::verbs::{Action, Group, Manner, Run, Verb};
use crate::cli::{Context, Exit, Failure};
use crate::io::input::Limits;
use crate::io::trees;
use windlass_report::Sources;
use windlass_repository::{self as repository, Listed};
use windlass_source::diag::Report;

pub(in crate::cli) const LIST: Verb = Verb {
    words: &["repository", "list"],
    operands: "REPOSITORY",
    summary: "show the providers and versions of a local repository",
    family: Some(FAMILY),
    group: Group::Repository,
    manner: Manner::Ours,
    examples: &[
        "repository list releases",
        "repository list releases -o json",
    ],
    action: Action::of::<List>(),
};

#[derive(Args)]
struct List {
    /// The repository
    #[arg(value_name = "REPOSITORY")]
    repository: String,
    #[command(flatten)]
    output: ListOutput,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct ListReport {
    /// The repository as it was named.
    repository: String,
    /// One entry for each version of each provider.
    providers: Vec<Listed>,
    /// The versions of cert-manager, which is not a provider.
    cert_managers: Vec<String>,
}

impl Run for List {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let tree = trees::read_tree(&self.repository, Limits::default())?;
        let listed = repository::list(&tree, &context.budget);
        let mut report = Report::new();
        context.budget.tell(&mut report);
        let cert_managers = repository::cert_managers(&tree);
        if listed.is_empty() && cert_managers.is_empty() {
            report.push(repository::nothing(&self.repository));
        }
        let body = ListReport {
            repository: self.repository,
            providers: listed,
            cert_managers,
        };
        context.list(
            self.output.format,
            "RepositoryList",
            body,
            |body| repository::table(&body.providers, &body.cert_managers),
            &report,
            &Sources::new(),
        );
        Ok(Exit::failing(report.has_errors()))
    }
}
