//! `--provider`: the `provider.yaml` of a verb, with all the files that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;

use super::Failure;
use crate::diag::Report;
use crate::provider::{self, Declared, Inputs, Matched, Wanted};
use crate::report::Sources;
use crate::shell::files::is_file;
use crate::shell::glob::{ExpandError, Globs};
use crate::shell::input::read_source;
use crate::text::budget::Budget;
use crate::text::source::Source;

/// The file that is taken without the flag.
const DEFAULT: &str = "provider.yaml";
/// The word that stands for our own provider.
const BUILTIN: &str = "builtin";
/// The files of a template folder.
const TEMPLATE_FILES: &str = "*.{yaml,yml}";

/// The flag `--provider`.
#[derive(Debug, Clone, Args)]
pub(super) struct ProviderFlag {
    /// The provider.yaml to build from, or `builtin` for windlass's own
    ///
    /// Without it ./provider.yaml is taken. The paths in the file are relative to it.
    #[arg(long, value_name = "FILE|builtin")]
    provider: Option<String>,
}

/// A `provider.yaml` and everything it names.
#[derive(Debug)]
pub(super) struct Loaded {
    /// What is shown for the file.
    pub(super) shown: String,
    /// The providers that it describes.
    pub(super) providers: Vec<Declared>,
    /// The files that they name.
    pub(super) inputs: Inputs,
    /// Faults found while reading.
    pub(super) report: Report,
    /// The texts that findings point into.
    pub(super) sources: Sources,
}

impl ProviderFlag {
    /// Reads the file and what it names.
    ///
    /// # Errors
    /// There is no such file, or one cannot be read. What the file names and is not there is a finding, which the verb makes.
    pub(super) fn load(&self) -> Result<Loaded, Failure> {
        match self.provider.as_deref() {
            Some(BUILTIN) => Ok(builtin()),
            Some(file) => from_file(file),
            None if is_file(Path::new(DEFAULT)) => from_file(DEFAULT),
            None => Err(Failure::usage(
                "no provider.yaml in this folder, so it is not clear whose release is meant",
                "go to the folder of provider.yaml, or pass `--provider FILE`; `--provider builtin` is windlass's own provider",
            )),
        }
    }
}

fn builtin() -> Loaded {
    let (providers, inputs, report) = provider::builtin();
    let sources = sources(&providers, &inputs);
    Loaded { shown: BUILTIN.to_owned(), providers, inputs, report, sources }
}

fn sources(providers: &[Declared], inputs: &Inputs) -> Sources {
    providers.iter().map(|declared| declared.source.clone()).chain(inputs.sources().cloned()).collect()
}

fn from_file(file: &str) -> Result<Loaded, Failure> {
    let (source, mut report) = read_source(Path::new(file), file)?;
    let (providers, found) = provider::parse(&source);
    report.extend(found);
    let base = Path::new(file).parent().unwrap_or(Path::new(""));
    let mut inputs = Inputs::new();
    let budget = Budget::default();
    let mut search = Search { base, globs: Globs::new(&budget), files: BTreeMap::new() };
    let mut seen = BTreeSet::new();
    let wanted = providers.iter().flat_map(|declared| declared.provider.wanted());
    for (pattern, wanted) in wanted.filter(|one| seen.insert(*one)) {
        let (matched, found) = search.matched(pattern, wanted)?;
        report.extend(found);
        inputs.insert(pattern, matched);
    }
    let mut sources = sources(&providers, &inputs);
    sources.add(source);
    Ok(Loaded { shown: file.to_owned(), providers, inputs, report, sources })
}

/// The search for the files that a `provider.yaml` names. A file is read once, whatever the number of patterns that mean it.
struct Search<'a> {
    base: &'a Path,
    globs: Globs<'a>,
    files: BTreeMap<String, Source>,
}

impl Search<'_> {
    fn matched(&mut self, pattern: &str, wanted: Wanted) -> Result<(Matched, Report), Failure> {
        let searched = match wanted {
            Wanted::Files => pattern.to_owned(),
            Wanted::TemplateFolder => format!("{}/{TEMPLATE_FILES}", pattern.trim_end_matches('/')),
        };
        let expansion = match self.globs.expand(&or_here(self.base), &searched) {
            Ok(expansion) => expansion,
            Err(ExpandError::Pattern(fault)) => {
                return Ok((Matched { fault: Some(fault.to_string()), ..Matched::default() }, Report::new()));
            }
            Err(ExpandError::World(error)) => return Err(error.into()),
        };
        let mut report = Report::new();
        let mut files: Vec<Source> = Vec::new();
        for found in expansion.files {
            files.push(self.read(found, &mut report)?);
        }
        let unmatched = match wanted {
            Wanted::Files => expansion.unmatched,
            Wanted::TemplateFolder if files.is_empty() => vec![pattern.to_owned()],
            Wanted::TemplateFolder => Vec::new(),
        };
        Ok((Matched { files, unmatched, fault: None }, report))
    }

    fn read(&mut self, found: String, report: &mut Report) -> Result<Source, Failure> {
        if let Some(source) = self.files.get(&found) {
            return Ok(source.clone());
        }
        let path = self.base.join(&found);
        let (source, faults) = read_source(&path, &path.to_string_lossy())?;
        report.extend(faults);
        self.files.insert(found, source.clone());
        Ok(source)
    }
}

/// The folder of a file that is named without one.
fn or_here(base: &Path) -> PathBuf {
    if base.as_os_str().is_empty() { PathBuf::from(".") } else { base.to_path_buf() }
}
