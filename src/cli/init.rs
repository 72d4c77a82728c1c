//! `init`.

use std::path::Path;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::context::To;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure, init_verify};
use crate::io::files::{self, Privacy};
use crate::io::input::{self, Limits};
use crate::io::trees;
use windlass_capi::contract::ProviderType;
use windlass_provider::STDIN;
use windlass_release::commands::init::{self, Form, Given, Made};
use windlass_report::Sources;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::tree::Tree;
use windlass_source::url::without_credentials;

pub(super) const VERB: Verb = Verb {
    words: &["init"],
    operands: "[DIR]",
    summary: "write provider.yaml and metadata.yaml for a kubebuilder project",
    family: None,
    group: Group::Release,
    manner: Manner::Ours,
    examples: &[
        "init examples/harbour --name harbour --force",
        "init examples/harbour --name harbour --without-kustomize --force",
    ],
    action: Action::of::<Arguments>(),
};

/// Write provider.yaml and metadata.yaml for a kubebuilder project
///
/// Where config/default has a kustomization, provider.yaml takes the objects as kustomize builds
/// them: `kustomize build config/default | windlass release build VERSION --to out`. With
/// `--from-kustomize FILE` it takes them from a file, and reads the provider from there.
///
/// With `--without-kustomize`, and in a project without a kustomization, provider.yaml describes
/// the objects, so that releases are built without kustomize. It reads PROJECT, config/crd,
/// config/rbac, config/manager, config/webhook, config/default and templates; where one of these
/// folders is missing, the one of the same name that config/default takes counts, such as
/// config/default/crd. Patches are named in provider.yaml, and `release build` applies them. What
/// cannot be taken over is listed under `undecided`, and `release build` rejects the file until it
/// is decided. What the release adds to the objects, drops and changes is printed.
///
/// What is assumed is printed on standard error. metadata.yaml is written if it does not exist.
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
    /// Replace an existing provider.yaml
    #[arg(long)]
    force: bool,
    /// Take the objects from what `kustomize build` printed; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "without_kustomize")]
    from_kustomize: Option<String>,
    /// Describe all objects in provider.yaml, so that releases are built without kustomize
    #[arg(long)]
    without_kustomize: bool,
    /// Compare what the existing provider.yaml builds with what `kustomize build` printed
    ///
    /// Object by object; `-` is standard input. Nothing is written. Exit 1 when an object differs
    /// in more than what the contract requires: contract labels, the provider label, and the tag
    /// of the manager's image.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["from_kustomize", "without_kustomize", "force", "name", "provider_type"]
    )]
    verify: Option<String>,
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
                format!("{} is not a folder", without_credentials(&self.folder)),
                "name the root folder of the project",
            ));
        }
        let target = at(init::PROVIDER_FILE);
        if let Some(file) = &self.verify {
            return init_verify::run(context, &target, file);
        }
        if files::is_file(Path::new(&target)) && !self.force {
            return Err(Failure::usage(
                format!("{target} is there already"),
                "pass `--force` to replace it",
            ));
        }
        let mut tree = project(&self.folder, &at)?;
        let given = Given {
            name: self.name.clone(),
            provider_type: self.provider_type,
            form: if self.without_kustomize {
                Form::Long
            } else {
                Form::Short
            },
            built: self.built(context)?,
        };
        if let Some((_, source)) = &given.built {
            tree.insert(source.name().to_string(), source.text().as_bytes().to_vec());
        }
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
        tell(context, &made, &given);
        context.paths(made.files.paths().map(at));
        Ok(Exit::Clean)
    }
}

impl Arguments {
    /// What kustomize built, and how provider.yaml names it.
    fn built(&self, context: &mut Context<'_>) -> Result<Option<(String, Source)>, Failure> {
        let Some(file) = &self.from_kustomize else {
            return Ok(None);
        };
        let source = kustomized(context, file)?;
        let below = match self.folder.trim_end_matches('/') {
            "." => Some(file.trim_start_matches("./")),
            folder => file
                .strip_prefix(folder)
                .and_then(|rest| rest.strip_prefix('/')),
        };
        // provider.yaml reads only what is below its folder.
        let path = below.filter(|path| !path.starts_with(['/', '.']) && *path != STDIN);
        Ok(Some((path.unwrap_or(STDIN).to_owned(), source)))
    }
}

/// The text that kustomize printed, from a file or standard input.
pub(super) fn kustomized(context: &mut Context<'_>, file: &str) -> Result<Source, Failure> {
    let read = input::read(
        &[file.to_owned()],
        Limits::default(),
        &mut *context.stdio.stdin,
    )?;
    read.sources.into_iter().next().ok_or_else(|| {
        Failure::usage(
            format!("{file} has no objects"),
            "pass the output of `kustomize build config/default`",
        )
    })
}

/// How many lines of what is left to do are shown: a person reads no more.
const MOST_TOLD: usize = 200;

/// What was assumed, what changes and what is left, on standard error.
fn tell(context: &mut Context<'_>, made: &Made, given: &Given) {
    for line in &made.assumed {
        context.talk(&format!("assumed: {line}"));
    }
    for line in &made.changed {
        context.talk(line);
    }
    for line in made.left.iter().take(MOST_TOLD) {
        context.talk(&format!("left to do: {line}"));
    }
    if let Some(others @ 1..) = made.left.len().checked_sub(MOST_TOLD) {
        context.talk(&format!("left to do: {others} more like these"));
    }
    if !made.left.is_empty() {
        context.talk("these are under `undecided` in provider.yaml: `release build` rejects the file until each is decided and its line removed");
    }
    let build = format!("{} release build {} --to out", context.program, made.next);
    let build = made.next_command(given, &build);
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
