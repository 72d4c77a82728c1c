//! `--provider`: the `provider.yaml` of a verb, with all the files that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::{Context, Failure};
use crate::io::WorldError;
use crate::io::confine::Confine;
use crate::io::files::is_file;
use crate::io::glob::{ExpandError, Globs};
use crate::io::input::{self, ENDINGS, Limits, read_source};
use windlass_provider::{
    self, Declared, EXCLUDE, Inputs, KUSTOMIZATION_FILES, Kustomization, Matched, STDIN, Strayed,
    Wanted,
};
use windlass_report::Sources;
use windlass_shell as shell;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;
use windlass_source::glob::plain;

/// The file that is taken without the flag.
const DEFAULT: &str = "provider.yaml";
/// The word that stands for our own provider.
const BUILTIN: &str = "builtin";
const TEMPLATE_FILES: &str = "*.{yaml,yml}";

/// The flag `--provider`.
#[derive(Debug, Clone, Args)]
pub(super) struct ProviderFlag {
    /// The provider.yaml to build from, or `builtin` for windlass's own
    ///
    /// Without it ./provider.yaml is taken. The paths in the file are relative to it.
    #[arg(long, value_name = "FILE|builtin")]
    provider: Option<String>,
    /// Read files that lie outside the folder of provider.yaml, or are hidden
    ///
    /// Without it another person's provider.yaml cannot read files of this machine. Links count as
    /// what they lead to.
    #[arg(long, hide_short_help = true)]
    allow_outside: bool,
}

/// A `provider.yaml` and everything it names.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) shown: String,
    pub(super) providers: Vec<Declared>,
    pub(super) inputs: Inputs,
    pub(super) report: Report,
    /// The texts that findings point into.
    pub(super) sources: Sources,
}

impl ProviderFlag {
    /// The flags, as a command that speaks of the same file has them.
    pub(super) fn words(&self) -> String {
        let file = self
            .provider
            .as_ref()
            .map(|file| format!(" --provider {}", shell::quoted(file)))
            .unwrap_or_default();
        if self.allow_outside {
            format!("{file} --allow-outside")
        } else {
            file
        }
    }

    /// Whether a file is named, or there is one without the flag.
    pub(super) fn is_there(&self) -> bool {
        self.provider.is_some() || is_file(Path::new(DEFAULT))
    }

    /// Reads the file and what it names.
    ///
    /// # Errors
    /// There is no such file, or one cannot be read. What the file names and is not there is a
    /// finding, which the verb makes.
    pub(super) fn load(&self, context: &mut Context<'_>) -> Result<Loaded, Failure> {
        let budget = Arc::clone(&context.budget);
        let stdin = &mut *context.stdio.stdin;
        match self.provider.as_deref() {
            Some(BUILTIN) => Ok(builtin()),
            Some(file) => from_file(file, self.allow_outside, stdin, &budget),
            None if is_file(Path::new(DEFAULT)) => {
                from_file(DEFAULT, self.allow_outside, stdin, &budget)
            }
            None => Err(Failure::usage(
                "no provider.yaml in this folder, so it is not clear whose release is meant",
                "go to the folder of provider.yaml, or pass `--provider FILE`; `--provider builtin` is windlass's own provider",
            )),
        }
    }
}

/// Reads a provider.yaml and what it names, as [`ProviderFlag::load`] does.
///
/// # Errors
/// A file cannot be read.
pub(super) fn load(file: &str, context: &mut Context<'_>) -> Result<Loaded, Failure> {
    let budget = Arc::clone(&context.budget);
    from_file(file, false, &mut *context.stdio.stdin, &budget)
}

fn builtin() -> Loaded {
    let (providers, inputs, report) = crate::builtin::builtin();
    let sources = sources(&providers, &inputs);
    Loaded {
        shown: BUILTIN.to_owned(),
        providers,
        inputs,
        report,
        sources,
    }
}

fn sources(providers: &[Declared], inputs: &Inputs) -> Sources {
    providers
        .iter()
        .map(|declared| declared.source.clone())
        .chain(inputs.sources().cloned())
        .collect()
}

/// Whether findings may show lines of a file: it is by its name what a provider.yaml is for, and
/// belongs to its folder.
fn may_be_shown(name: &str, strayed: Option<Strayed>) -> bool {
    strayed.is_none() && ENDINGS.iter().any(|ending| name.ends_with(ending))
}

pub(super) fn from_file(
    file: &str,
    allow_outside: bool,
    stdin: &mut dyn Read,
    budget: &Arc<Budget>,
) -> Result<Loaded, Failure> {
    let (source, report) = read_source(Path::new(file), file)?;
    from_source(source, report, allow_outside, stdin, budget)
}

/// Reads the files that a provider.yaml names, whose text the caller has. `report` contains the
/// findings of reading that text.
///
/// # Errors
/// A file cannot be read.
pub(super) fn from_source(
    source: Source,
    mut report: Report,
    allow_outside: bool,
    stdin: &mut dyn Read,
    budget: &Arc<Budget>,
) -> Result<Loaded, Failure> {
    let (providers, found) = windlass_provider::parse(&source, budget);
    report.extend(found);
    let file = source.name().to_string();
    let base = Path::new(&file).parent().unwrap_or(Path::new(""));
    let confine = Confine::new(&or_here(base))
        .map_err(|error| WorldError::reading(base.to_string_lossy(), &error))?;
    let mut inputs = Inputs::within(Arc::clone(budget));
    let mut search = Search {
        base,
        confine,
        allow_outside,
        globs: Globs::new(budget),
        files: BTreeMap::new(),
        unshown: Vec::new(),
        beside: BTreeSet::new(),
        stdin,
    };
    let mut seen = BTreeSet::new();
    let wanted = providers
        .iter()
        .flat_map(|declared| declared.provider.wanted());
    for (pattern, wanted) in wanted.filter(|one| seen.insert(*one)) {
        let (matched, found) = search.matched(pattern, wanted)?;
        report.extend(found);
        inputs.insert(pattern, matched);
    }
    for kustomization in search.kustomizations(budget, &mut report)? {
        inputs.add_kustomization(kustomization);
    }
    let mut sources = sources(&providers, &inputs);
    sources.add(source);
    search.unshown.iter().for_each(|name| sources.hide(name));
    Ok(Loaded {
        shown: file.clone(),
        providers,
        inputs,
        report,
        sources,
    })
}

/// The search for the files that a `provider.yaml` names. A file is read once, whatever the number
/// of patterns that mean it.
struct Search<'a> {
    base: &'a Path,
    confine: Confine,
    allow_outside: bool,
    globs: Globs<'a>,
    files: BTreeMap<String, Source>,
    /// The files whose lines no finding shows.
    unshown: Vec<String>,
    /// The files of patterns beside which kustomizations may lie, as the patterns spell them.
    beside: BTreeSet<String>,
    stdin: &'a mut dyn Read,
}

impl Search<'_> {
    fn matched(&mut self, pattern: &str, wanted: Wanted) -> Result<(Matched, Report), Failure> {
        if wanted == Wanted::Components && pattern == STDIN {
            let read = input::read(&[STDIN.to_owned()], Limits::default(), self.stdin)?;
            return Ok((
                Matched {
                    files: read.sources,
                    ..Matched::default()
                },
                read.report,
            ));
        }
        let searched = match wanted {
            Wanted::Files | Wanted::Components => pattern.to_owned(),
            Wanted::Excluded => pattern.strip_prefix(EXCLUDE).unwrap_or(pattern).to_owned(),
            Wanted::TemplateFolder => format!("{}/{TEMPLATE_FILES}", pattern.trim_end_matches('/')),
        };
        let expansion = match self.globs.expand(&or_here(self.base), &searched) {
            Ok(expansion) => expansion,
            Err(ExpandError::Pattern(fault)) => {
                return Ok((
                    Matched {
                        fault: Some(fault.to_string()),
                        ..Matched::default()
                    },
                    Report::new(),
                ));
            }
            Err(ExpandError::World(error)) => return Err(error.into()),
        };
        let mut report = Report::new();
        let (mut files, mut strayed) = (Vec::new(), Vec::new());
        if wanted == Wanted::Excluded {
            // Only the names count.
            let names = expansion.files.iter().map(|found| self.shown(found));
            files.extend(names.map(|name| Source::new(name, "")));
            return Ok((
                Matched {
                    files,
                    unmatched: expansion.unmatched,
                    ..Matched::default()
                },
                report,
            ));
        }
        for found in expansion
            .files
            .into_iter()
            .filter(|found| !is_kustomization_by_chance(&searched, found))
        {
            if wanted == Wanted::Files {
                self.beside.insert(found.clone());
            }
            match self.confine.strayed(&self.base.join(&found)) {
                Some(why) if !self.allow_outside => strayed.push((found, why)),
                why => files.push(self.read(found, why, &mut report)?),
            }
        }
        let unmatched = match wanted {
            Wanted::Files | Wanted::Components | Wanted::Excluded => expansion.unmatched,
            Wanted::TemplateFolder if files.is_empty() && strayed.is_empty() => {
                vec![pattern.to_owned()]
            }
            Wanted::TemplateFolder => Vec::new(),
        };
        Ok((
            Matched {
                files,
                unmatched,
                fault: None,
                strayed,
            },
            report,
        ))
    }

    fn read(
        &mut self,
        found: String,
        strayed: Option<Strayed>,
        report: &mut Report,
    ) -> Result<Source, Failure> {
        if let Some(source) = self.files.get(&found) {
            return Ok(source.clone());
        }
        let (source, faults) = read_source(&self.base.join(&found), &self.shown(&found))?;
        report.extend(faults);
        if !may_be_shown(&found, strayed) {
            self.unshown.push(source.name().to_string());
        }
        self.files.insert(found, source.clone());
        Ok(source)
    }

    /// The name of a file as findings show it.
    fn shown(&self, found: &str) -> String {
        self.base.join(found).to_string_lossy().into_owned()
    }

    /// The kustomizations that take files of the patterns: in their folder, or in the one above, as
    /// kubebuilder lays them out, and those from which releases are built.
    fn kustomizations(
        &mut self,
        budget: &Budget,
        report: &mut Report,
    ) -> Result<Vec<Kustomization>, Failure> {
        let folder = |path: &str| {
            path.rsplit_once('/')
                .map_or(String::new(), |(folder, _)| folder.to_owned())
        };
        let own: BTreeSet<String> = self.beside.iter().map(|file| folder(file)).collect();
        let folders: BTreeSet<String> = own
            .iter()
            .map(|own| folder(own))
            .chain(own.iter().cloned())
            .collect();
        let mut kustomizations = Vec::new();
        let files: BTreeSet<String> = self
            .beside
            .iter()
            .map(|file| plain(&self.shown(file)))
            .collect();
        let mut walk = Walk {
            budget,
            files,
            found: BTreeMap::new(),
        };
        for folder in folders.iter().chain(&overlays(&own)) {
            self.visit(folder, 0, &mut walk, report)?;
        }
        for (
            folder,
            Visited {
                kustomization,
                reached,
            },
        ) in walk.found
        {
            let Some(mut kustomization) = kustomization else {
                continue;
            };
            // Of one that cannot be read nobody knows what it reaches.
            if reached.is_empty() && kustomization.is_readable() {
                continue;
            }
            kustomization.reach(reached);
            for patch in kustomization.patch_files() {
                let file = below(&folder, &patch);
                if self.may_be_read(&file) {
                    kustomization.insert(patch, self.read(file, None, report)?);
                }
            }
            kustomizations.push(kustomization);
        }
        Ok(kustomizations)
    }

    /// Reads the kustomization of a folder and those that it is made of; gives the files that it
    /// reaches.
    fn visit(
        &mut self,
        folder: &str,
        depth: usize,
        walk: &mut Walk<'_>,
        report: &mut Report,
    ) -> Result<BTreeSet<String>, Failure> {
        if let Some(known) = walk.found.get(folder) {
            return Ok(known.reached.clone());
        }
        let names = KUSTOMIZATION_FILES.map(|name| below(folder, name));
        let Some(found) = names.into_iter().find(|name| self.may_be_read(name)) else {
            return Ok(BTreeSet::new());
        };
        // One that leads to itself reaches nothing more by that.
        walk.found.insert(
            folder.to_owned(),
            Visited {
                kustomization: None,
                reached: BTreeSet::new(),
            },
        );
        let kustomization = Kustomization::read(&self.read(found, None, report)?, walk.budget);
        let base = plain(&or_here(self.base).to_string_lossy());
        let mut reached = BTreeSet::new();
        for part in kustomization.parts() {
            if walk.files.contains(&part) {
                reached.insert(part);
            } else if depth < DEEPEST
                && let Some(folder) = within(&base, &part)
            {
                let below = self.visit(folder, depth + 1, walk, report)?;
                if walk.budget.charge(10 * below.len() + 10).is_err() {
                    break;
                }
                reached.extend(below);
            }
        }
        walk.found.insert(
            folder.to_owned(),
            Visited {
                kustomization: Some(kustomization),
                reached: reached.clone(),
            },
        );
        Ok(reached)
    }

    fn may_be_read(&self, file: &str) -> bool {
        let path = self.base.join(file);
        is_file(&path) && (self.allow_outside || self.confine.strayed(&path).is_none())
    }
}

/// How deep kustomizations are followed; real ones have three layers.
const DEEPEST: usize = 16;

/// A walk down from kustomizations.
struct Walk<'b> {
    budget: &'b Budget,
    /// The files that provider.yaml names, without dots in their paths.
    files: BTreeSet<String>,
    /// What was found, by folder.
    found: BTreeMap<String, Visited>,
}

/// A kustomization, and the files of provider.yaml that it reaches.
struct Visited {
    /// `None` while it is being read.
    kustomization: Option<Kustomization>,
    reached: BTreeSet<String>,
}

/// The folders from which releases are built: `default` beside some folders, or beside one above
/// them, as kubebuilder has it.
fn overlays(folders: &BTreeSet<String>) -> BTreeSet<String> {
    let mut overlays = BTreeSet::from(["default".to_owned()]);
    for folder in folders {
        let mut folder = folder.as_str();
        while let Some((above, _)) = folder.rsplit_once('/') {
            overlays.insert(below(above, "default"));
            folder = above;
        }
    }
    overlays
}

/// A path below a folder, as seen from there; both without dots.
fn within<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    if folder.is_empty() {
        Some(path)
    } else {
        path.strip_prefix(folder)?.strip_prefix('/')
    }
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// A `*` takes the objects of a folder; kustomize's own file is none.
fn is_kustomization_by_chance(pattern: &str, found: &str) -> bool {
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    last(pattern).contains('*') && KUSTOMIZATION_FILES.contains(&last(found).as_str())
}

/// The folder of a file that is named without one.
fn or_here(base: &Path) -> PathBuf {
    if base.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        base.to_path_buf()
    }
}
