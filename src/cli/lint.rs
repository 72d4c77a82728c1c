//! `lint PATH…`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use clap::builder::PossibleValuesParser;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::flags::{Format, LevelFlags, Output};
use super::provider_file;
use super::settings::Judge;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::io::charts;
use crate::io::cores;
use crate::io::files;
use crate::io::input::{self, ENDINGS, Inputs, Limits};
use crate::release_findings;
use crate::rules::{self, Knows};
use windlass_checks::commands::lint::unchecked::{self, UncheckedKind};
use windlass_checks::commands::lint::{self, CheckedFile, Form, Linted};
use windlass_checks::fix::{self, Fixed};
use windlass_report::Sources;
use windlass_report::levels::Verdict;
use windlass_report::text::{self, listed, plural};
use windlass_repository::tars;
use windlass_source::Source;
use windlass_source::diag::Report;

pub(super) const VERB: Verb = Verb {
    words: &["lint"],
    operands: "[PATH…]",
    summary: "check what you have of a provider against the contract: components, CRDs, metadata, templates",
    family: None,
    group: Group::Release,
    manner: Manner::Ours,
    examples: &["lint releases", "lint examples/harbour -o json"],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// Files, folders, - for standard input; without any the working folder
    ///
    /// What a file is, its name and its content say: components, metadata.yaml, cluster templates
    /// and ClusterClasses, CRDs and other objects, releases, local repositories, kustomize
    /// trees as they are written. What is in one folder is checked together.
    #[arg(value_name = "PATH")]
    files: Vec<String>,
    /// Take every file as this
    #[arg(long = "as", value_name = "FORM", value_parser = forms())]
    form: Option<String>,
    /// Report what still has an older contract than this, and in which release of Cluster API
    /// it ends
    #[arg(long, value_name = "CONTRACT", value_parser = ["v1beta1", "v1beta2"])]
    contract: Option<String>,
    /// Apply safe fixes in place
    ///
    /// Comments and layout stay. A fix after which the file would not be sound is left out.
    #[arg(long)]
    fix: bool,
    /// With --fix: show the difference and write nothing; exit 1 if there is one
    #[arg(long, requires = "fix")]
    check: bool,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    levels: LevelFlags,
}

fn forms() -> PossibleValuesParser {
    PossibleValuesParser::new(Form::NAMED.map(|(word, _)| word))
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LintReport {
    /// The files that were read, in the order of the command line.
    files: Vec<CheckedFile>,
    /// How many Kubernetes objects were checked, those of templates apart.
    objects: usize,
    /// The objects that no rule covers, those of templates included.
    unchecked: Vec<UncheckedKind>,
    /// The folders that were skipped: `exclude` of windlass.toml, or test data, tools and charts.
    excluded: Vec<String>,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let judge = self.levels.judge(context)?;
        let paths = if self.files.is_empty() {
            vec![".".to_owned()]
        } else {
            self.files.clone()
        };
        let Inputs {
            sources: mut texts,
            report: unread,
            skipped: excluded,
        } = read(&paths, &judge, context)?;
        let is_no_file = |text: &&Source| !files::is_file(Path::new(text.name().as_ref()));
        if let Some(text) = texts.iter().find(|text| self.fix && is_no_file(text)) {
            return Err(Failure::usage(
                format!("`--fix` changes files, and {} is not a file", text.name()),
                "leave it out",
            ));
        }
        cores::share_out_files(texts.len());
        let form = self
            .form
            .as_deref()
            .and_then(|word| Form::NAMED.into_iter().find(|(known, _)| *known == word))
            .map(|(_, form)| form);
        let budget = Arc::clone(&context.budget);
        let (contract, roles) = (self.contract.as_deref(), judge.roles());
        let charts = charts::folders(&texts);
        let lint = |texts: &[Source]| {
            lint::run(&lint::Request {
                sources: texts,
                form,
                contract,
                charts: &charts,
                roles: &roles,
                budget: &budget,
            })
        };
        let mut linted = lint(&texts);
        for file in linted
            .files
            .iter()
            .filter(|file| file.form == Form::Other.as_str())
        {
            context.trace(1, &format!("{} holds nothing of a provider", file.file));
        }
        let built = self.built(context, &judge, &linted)?;
        let (mut verdict, mut sources) = verdict(context, &judge, &linted, &unread, &texts, &built);
        let mut follows = match fix::fixable(&verdict.report) {
            fixable if fixable == 0 || texts.iter().any(|text| is_no_file(&text)) => String::new(),
            fixable => format!("{fixable} can be fixed with `--fix`"),
        };
        let mut differs = false;
        if self.fix {
            let found = std::mem::take(&mut linted.report);
            let fixed = fix::run(texts, found, &verdict.report, &|texts| lint(texts).report);
            differs = self.check && !fixed.changed.is_empty();
            follows = self.write(context, &fixed, &sources)?;
            (texts, linted.report) = (fixed.sources, fixed.report);
            let built = self.built(context, &judge, &linted)?;
            (verdict, sources) = self::verdict(context, &judge, &linted, &unread, &texts, &built);
        }
        let done = done(&linted.files, linted.objects);
        let to = if self.output.format == Format::Text && !self.check {
            To::Stdout
        } else {
            To::Stderr
        };
        let notes = notes(&linted, &excluded);
        let body = LintReport {
            files: linted.files,
            objects: linted.objects,
            unchecked: linted.unchecked,
            excluded,
        };
        context.report(
            self.output.format,
            "Lint",
            body,
            &verdict.report,
            &sources,
            to,
        );
        notes.iter().for_each(|line| context.note(line, to));
        context.summary(&done, &verdict.report, &follows, to);
        Ok(Exit::failing(differs || verdict.fails))
    }
}

/// The findings of a build, and the files that it reads.
#[derive(Default)]
struct Built {
    report: Report,
    sources: Sources,
}

impl Arguments {
    /// What `release build` reports about the provider.yaml files among the input.
    fn built(
        &self,
        context: &mut Context<'_>,
        judge: &Judge,
        linted: &Linted,
    ) -> Result<Built, Failure> {
        let mut built = Built::default();
        let is_provider = |file: &&CheckedFile| file.form == Form::Provider.as_str();
        for file in linted.files.iter().filter(is_provider) {
            if !files::is_file(Path::new(&file.file)) {
                continue;
            }
            let mut loaded = provider_file::load(&file.file, context)?;
            judge.roles().hold_for(&mut loaded.inputs);
            let mut reported = linted.report.clone();
            reported.extend(built.report.clone());
            built.report.extend(release_findings::findings(
                &loaded.providers,
                loaded.report,
                &loaded.inputs,
                &reported,
            ));
            built.sources.join(loaded.sources);
        }
        Ok(built)
    }

    /// Writes the files that are fixed, or shows how they differ; says what was done.
    fn write(
        &self,
        context: &mut Context<'_>,
        fixed: &Fixed,
        sources: &Sources,
    ) -> Result<String, Failure> {
        if fixed.changed.is_empty() {
            return Ok("nothing fixed".to_owned());
        }
        let counts = format!(
            "{} in {}",
            plural(fixed.count, "finding"),
            plural(fixed.changed.len(), "file")
        );
        if !self.check {
            let changes = fixed.changed.iter().map(|changed| {
                (
                    changed.before.name().as_ref(),
                    changed.before.text().as_bytes(),
                    changed.after.text().as_bytes(),
                )
            });
            files::change_read_files(&changes.collect::<Vec<_>>())?;
            return Ok(format!("{counts} fixed"));
        }
        if self.output.format == Format::Text {
            let style = context.style(To::Stdout);
            fixed
                .changed
                .iter()
                .for_each(|changed| context.out(&text::unified(changed, sources, style)));
        }
        Ok(format!("{counts} would be fixed; nothing written"))
    }
}

/// The verdict on what was found, and what of the files may be shown.
fn verdict(
    context: &Context<'_>,
    judge: &Judge,
    linted: &Linted,
    unread: &Report,
    texts: &[Source],
    built: &Built,
) -> (Verdict, Sources) {
    let mut report = unread.clone();
    report.extend(linted.report.clone());
    report.extend(built.report.clone());
    report.sort(
        &texts
            .iter()
            .map(|text| text.name().as_ref())
            .collect::<Vec<_>>(),
    );
    let mut sources = built.sources.clone();
    texts.iter().cloned().for_each(|text| sources.add(text));
    let asked = rules::asked(Knows::Files);
    let others = linted.files.iter().filter(|file| !file.judged);
    let others: BTreeSet<&str> = others.map(|file| file.file.as_str()).collect();
    let is_judged = |file: &str, rule: &str| asked.contains(rule) && !others.contains(file);
    (
        judge.verdict(context, report, &mut sources, &is_judged),
        sources,
    )
}

/// Reads what the command line names. The files of a tar, such as a bundle, are those of a folder
/// of its name.
pub(super) fn read(
    paths: &[String],
    judge: &Judge,
    context: &mut Context<'_>,
) -> Result<Inputs, Failure> {
    let is_tar = |path: &&String| {
        *path != "-"
            && files::is_file(Path::new(path))
            && tars::is_tar(&files::read_start(path, TAR_HEADER))
    };
    let (tars, plain): (Vec<&String>, Vec<&String>) = paths.iter().partition(is_tar);
    let plain: Vec<String> = plain.into_iter().cloned().collect();
    let skips = |folder: &str| judge.excludes(folder);
    let stdin = &mut context.stdio.stdin;
    let mut inputs = input::read_without(&plain, Limits::default(), stdin, &skips)?;
    let mut left = tars::MOST_BYTES;
    for path in tars {
        let bytes = files::read_file(
            path,
            Limits {
                file_bytes: left,
                ..Limits::default()
            },
        )?;
        left -= bytes.len() as u64;
        let (sources, report) = tars::texts_of_tar(&bytes, path, &ENDINGS);
        inputs.sources.extend(sources);
        inputs.report.extend(report);
    }
    Ok(inputs)
}

/// How many bytes tell a tar.
const TAR_HEADER: u64 = 512;

/// The line about folders that were skipped.
pub(super) fn excluded_note(excluded: &[String]) -> Option<String> {
    let folders = excluded
        .iter()
        .map(|folder| format!("{folder}/"))
        .collect::<Vec<_>>();
    listed(&folders).map(|folders| {
        format!("skipped by default: {folders}; `exclude` in windlass.toml replaces the list")
    })
}

/// What was skipped and what was not checked, one line each.
fn notes(linted: &Linted, excluded: &[String]) -> Vec<String> {
    let of_form = |form: Form| {
        let files = linted
            .files
            .iter()
            .filter(move |file| file.form == form.as_str());
        files.map(|file| file.file.as_str()).collect::<Vec<_>>()
    };
    let excluded = excluded_note(excluded);
    let templated = listed(&of_form(Form::Templated))
        .map(|files| format!("skipped as templates of other tools: {files}"));
    let patches = listed(&of_form(Form::Patch))
        .map(|files| format!("skipped as files of kustomize: {files}"));
    let unbuilt = (linted.is_unbuilt && of_form(Form::Provider).is_empty()).then(|| {
        "not checked: contract labels and conversion webhooks of CRDs, which only a build knows; \
         check its output with `windlass lint -`"
            .to_owned()
    });
    let unchecked =
        unchecked::counted(&linted.unchecked).map(|objects| format!("not checked: {objects}"));
    [excluded, templated, patches, unbuilt, unchecked]
        .into_iter()
        .flatten()
        .collect()
}

/// How much was checked: `1 components file, 2 templates, 40 objects`.
fn done(files: &[CheckedFile], objects: usize) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    files
        .iter()
        .for_each(|file| *counts.entry(file.form).or_default() += 1);
    let count = |form: Form| counts.get(form.as_str()).copied().unwrap_or_default();
    let named = [
        (count(Form::Components), "components file"),
        (count(Form::Metadata), "metadata file"),
        (count(Form::Template), "template"),
        (objects, "object"),
    ];
    let said: Vec<String> = named
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| plural(count, what))
        .collect();
    if said.is_empty() {
        "nothing checked".to_owned()
    } else {
        said.join(", ")
    }
}
