//! `init`.

use std::path::Path;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::context::To;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::contract::ProviderType;
use crate::ops::init::{self, Given, Made};
use crate::report::Sources;
use crate::shell::files::{self, Privacy};
use crate::shell::input::Limits;
use crate::shell::trees;
use crate::text::budget::Budget;
use crate::text::source::Source;
use crate::text::tree::Tree;
use crate::text::url::without_credentials;

pub(super) const VERB: Verb = Verb {
    words: &["init"],
    operands: "[DIR]",
    summary: "write provider.yaml and metadata.yaml for a kubebuilder project",
    family: None,
    group: Group::Release,
    manner: Manner::Ours,
    examples: &["init examples/harbour --name harbour --force"],
    action: Action::of::<Arguments>(),
};

/// Write provider.yaml and metadata.yaml for a kubebuilder project
///
/// Reads PROJECT, config/crd, config/rbac, config/manager, config/webhook, config/default and
/// templates of the folder, writes provider.yaml, and metadata.yaml where there is none, and says
/// on standard error what it assumed and what is left to do. Where one of these folders is missing,
/// the one of the same name that config/default takes counts, such as config/default/crd. kustomize
/// is not run: provider.yaml names its patches, and `release build` applies them.
#[derive(Args)]
struct Arguments {
    /// The root folder of the project
    #[arg(value_name = "DIR", default_value = ".")]
    folder: String,
    /// The name of the provider, as in `clusterctl init --infrastructure NAME`
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// What it provides
    #[arg(long = "type", value_name = "TYPE", value_parser = provider_types())]
    provider_type: Option<ProviderType>,
    /// Replace a provider.yaml that is there
    #[arg(long)]
    force: bool,
}

/// The words of clusterctl's flags.
fn provider_types() -> impl TypedValueParser<Value = ProviderType> {
    PossibleValuesParser::new(ProviderType::ALL.map(ProviderType::word)).try_map(|word| {
        ProviderType::ALL
            .into_iter()
            .find(|known| known.word() == word)
            .ok_or("not a type of provider")
    })
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let at = |file: &str| {
            if self.folder == "." {
                file.to_owned()
            } else {
                format!("{}/{file}", self.folder.trim_end_matches('/'))
            }
        };
        if !files::is_folder(Path::new(&self.folder)) {
            return Err(Failure::usage(
                format!("{} is no folder", without_credentials(&self.folder)),
                "name the root folder of the project",
            ));
        }
        let target = at(init::PROVIDER_FILE);
        if files::is_file(Path::new(&target)) && !self.force {
            return Err(Failure::usage(
                format!("{target} is there already"),
                "pass `--force` to replace it",
            ));
        }
        let tree = project(&self.folder, &at)?;
        let given = Given {
            name: self.name.clone(),
            provider_type: self.provider_type,
        };
        let made = init::run(&tree, &given, &Budget::default());
        let sources: Sources = tree
            .iter()
            .filter_map(|(path, bytes)| {
                Some(Source::new(path.as_str(), std::str::from_utf8(bytes).ok()?))
            })
            .collect();
        context.findings(&made.report, &sources, To::Stderr);
        if made.report.has_errors() {
            context.summary("", &made.report, "nothing written", To::Stderr);
            return Ok(Exit::Findings);
        }
        for (file, bytes) in &made.files {
            files::write_file(&at(file), bytes, Privacy::Public)?;
        }
        tell(context, &made);
        context.paths(made.files.paths().map(at));
        Ok(Exit::Clean)
    }
}

/// How many lines of what is left to do are shown: a person reads no more.
const MOST_TOLD: usize = 200;

/// What was assumed and what is left, on standard error.
fn tell(context: &mut Context<'_>, made: &Made) {
    for line in &made.assumed {
        context.talk(&format!("assumed: {line}"));
    }
    for line in made.left.iter().take(MOST_TOLD) {
        context.talk(&format!("left to do: {line}"));
    }
    if let Some(others @ 1..) = made.left.len().checked_sub(MOST_TOLD) {
        context.talk(&format!("left to do: {others} more like these"));
    }
    let build = context.command(&format!("release build {} --to out", made.next));
    context.talk(&format!("next: `{build}`"));
}

/// The files of the project that `init` reads, under their paths in it.
fn project(folder: &str, at: &dyn Fn(&str) -> String) -> Result<Tree, Failure> {
    let mut tree = Tree::new();
    for part in ["config", "templates"] {
        if files::is_folder(Path::new(&at(part))) {
            for (path, bytes) in &trees::read_tree(&at(part), Limits::default())? {
                tree.insert(format!("{part}/{path}"), bytes.clone());
            }
        }
    }
    for file in ["PROJECT", "metadata.yaml"] {
        if files::is_file(&Path::new(folder).join(file)) {
            tree.insert(file, files::read_file(&at(file), Limits::default())?);
        }
    }
    Ok(tree)
}
