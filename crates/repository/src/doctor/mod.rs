//! `repository doctor`: for each provider of a configuration which version and which files
//! clusterctl takes, and why; what is missing; and what in the files would surprise people later.

pub(crate) mod configuration;
pub(crate) mod image_keys;
mod text;
pub(crate) mod versions;

use schemars::JsonSchema;
use serde::Serialize;

use crate::configuration::{self as configuration_file, below_base};
use windlass_capi::contract::{METADATA_FILE, ProviderType, parse_semantic};
use windlass_clusterctl::{
    Config, Explanation, Files, LayeredFile, Provider, Reason, Skipped, explain,
};
use windlass_lint::{Audience, Components, Extent, Release, templates};
use windlass_objects::pods;
use windlass_release::emit::checksums::CHECKSUMS_FILE;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Place, Remedy, Report, Setting, rules};
use windlass_source::tree::Tree;
use windlass_source::url::UrlText;

pub use configuration::unreadable;
pub use text::text;

rules! {
    /// the repository of a provider is remote and was not inspected
    ON_NETWORK = info("repository-remote");
    /// a release file is not UTF-8
    NOT_TEXT = error("repository-file-not-text");
}

/// What is to be examined.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// clusterctl's configuration, read.
    pub config: &'a Config<'a>,
    /// Its text; none when a repository has no configuration.
    pub source: Option<&'a Source>,
    /// The repository as the user named it, and as an absolute path; none when only a
    /// configuration was named.
    pub repository: Option<(&'a str, &'a str)>,
    /// The file system.
    pub files: &'a dyn Files,
}

/// What was found out.
#[derive(Debug, Clone, Default)]
pub struct Examination {
    /// One entry for each provider, in the order of the configuration.
    pub providers: Vec<Examined>,
    /// The texts into which findings point.
    pub sources: Vec<Source>,
    /// What is wrong.
    pub report: Report,
    /// What of the report only the authors of releases can change.
    pub releases: Vec<OfRelease>,
}

/// The findings about the content of a release that clusterctl takes.
#[derive(Debug, Clone, Default)]
pub struct OfRelease {
    /// The provider and its version.
    pub title: String,
    /// Its folder.
    pub folder: String,
    /// The findings.
    pub report: Report,
}

/// A provider as clusterctl sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Examined {
    /// The label: `bootstrap-windlass`.
    pub provider: String,
    /// What it provides.
    #[serde(rename = "type")]
    pub provider_type: ProviderType,
    /// The URL in the configuration, variables replaced.
    #[schemars(with = "String")]
    pub url: UrlText,
    /// The configuration that names it; null when no configuration does.
    pub file: Option<String>,
    /// The line of the URL in the configuration, from 1.
    pub line: Option<u32>,
    /// The column of the URL in the configuration, from 1.
    pub column: Option<u32>,
    /// The versions among which clusterctl chooses, from old to new.
    pub found: Vec<String>,
    /// What else is in the provider's folder.
    pub skipped: Vec<SkippedEntry>,
    /// The version that clusterctl takes when none is named; null when it rejects.
    pub picked: Option<String>,
    /// Why it is this version, or what clusterctl says instead.
    pub reason: String,
    /// The files of that version.
    pub files: Vec<ExaminedFile>,
}

/// An entry of a provider's folder that clusterctl passes over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkippedEntry {
    /// Its name.
    pub name: String,
    /// Why: `no semantic version`, `a link`, `a file`.
    pub reason: String,
}

/// A file that clusterctl reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExaminedFile {
    /// Its name: `metadata.yaml`.
    pub name: String,
    /// Where clusterctl takes it from.
    pub path: String,
    /// Whether that is the overrides layer.
    pub from_overrides: bool,
    /// Whether it is not there.
    pub missing: bool,
}

/// A provider that is to be examined, and where the configuration names it.
struct Entry {
    provider: Provider,
    place: Place,
}

fn is_yaml(source: &Source) -> bool {
    source.name().ends_with(".yaml") || source.name().ends_with(".yml")
}

/// Examines all providers of a configuration.
pub fn examine(subject: Subject<'_>) -> Examination {
    let mut examination = Examination {
        sources: subject.source.cloned().into_iter().collect(),
        ..Examination::default()
    };
    let entries = configuration::entries(subject, &mut examination.report);
    let mut components = image_keys::Components::of(subject.config);
    for entry in entries {
        components.add(&entry.provider.label());
        examination.provider(subject, entry, &mut components);
    }
    if let Some(source) = subject.source.filter(|source| is_yaml(source)) {
        examination
            .report
            .extend(image_keys::check(subject.config, source, &components));
    }
    subject.config.world().budget.tell(&mut examination.report);
    examination
}

impl Examination {
    /// Adds one provider, and what is wrong with it.
    fn provider(&mut self, subject: Subject<'_>, entry: Entry, known: &mut image_keys::Components) {
        let explained = explain(subject.config, entry.provider.clone());
        self.providers.push(examined(&entry, &explained));
        if explained.provider.url.is_https() {
            let finding = Diagnostic::of(
                &ON_NETWORK,
                format!(
                    "{} is on the network, where nothing was looked at",
                    explained.provider.label()
                ),
            );
            let label = explained.provider.label();
            self.report.push(finding.at(entry.place).help(
                Remedy::new(format!("download the release of {label} and run ")).request(
                    "repository add DIR",
                    Setting::To,
                    "REPOSITORY",
                ),
            ));
            return;
        }
        let budget = subject.config.world().budget;
        if let Some(finding) = stale_url(subject, &explained) {
            self.report.push(finding.at(entry.place));
            return;
        }
        self.report
            .extend(versions::check(&explained, &entry.place));
        let wrong = wrong_sums(subject.files, &explained);
        if !wrong.is_empty() {
            // Files that were changed are not worth a further look.
            self.report.extend(wrong);
            return;
        }
        let metadata = self.source_of(&explained, METADATA_FILE);
        let components_name = explained.provider.url_and_file().1;
        let metadata = metadata.and_then(|source| {
            versions::check_metadata(&explained, &source, budget, &mut self.report)
        });
        let components = self
            .source_of(&explained, &components_name)
            .map(|source| Components::read(source, budget));
        let objects = components.iter().flat_map(Components::objects);
        for image in objects.flat_map(|object| pods::images(object.value())) {
            known.add_image(&explained.provider.label(), image);
        }
        let others = explained
            .files
            .iter()
            .filter(|file| file.name != METADATA_FILE && file.name != components_name);
        let templates: Vec<Source> = others
            .filter_map(|file| self.source_of(&explained, &file.name))
            .collect();
        let version = explained
            .picked
            .as_ref()
            .ok()
            .and_then(|(version, _)| parse_semantic(version).ok());
        let asked = templates::Asked {
            extent: Extent::Whole,
            audience: Audience::User,
            known: &[],
        };
        let mut of_release = templates::check(&templates, &asked, budget);
        let (Some(components), Some(version)) = (components, version) else {
            self.report.extend(of_release);
            return;
        };
        let release = Release {
            provider: &explained.provider,
            version: &version,
            is_version_guessed: false,
            components,
            metadata: metadata.as_ref(),
            namespace: None,
            audience: Audience::User,
        };
        let verdict = release.check(subject.config);
        of_release.extend(verdict.report);
        self.report.extend(of_release.clone());
        if !verdict.is_rejected {
            self.releases.push(OfRelease {
                title: format!("{} v{version}", explained.provider.label()),
                folder: format!(
                    "{}/v{version}",
                    explained.folder.as_deref().unwrap_or_default()
                ),
                report: of_release,
            });
        }
    }

    /// The text of a file of the release; what is not text is a finding.
    fn source_of(&mut self, explained: &Explanation, name: &str) -> Option<Source> {
        let file = explained.files.iter().find(|file| file.name == name)?;
        let bytes = file.content.as_ref().ok()?;
        let Ok(text) = std::str::from_utf8(bytes) else {
            let finding = Diagnostic::of(&NOT_TEXT, format!("{} is not UTF-8 text", file.path))
                .at(Place::file(file.path.as_str()));
            self.report
                .push(finding.help("download the file again, without conversion"));
            return None;
        };
        let source = Source::new(file.path.as_str(), text);
        self.sources.push(source.clone());
        Some(source)
    }
}

/// The url of a provider leads to where the repository was before it was moved: nothing is there,
/// and the repository has the provider.
fn stale_url(subject: Subject<'_>, explained: &Explanation) -> Option<Diagnostic> {
    let (_, repository) = subject.repository?;
    let (provider, repository) = (&explained.provider, repository.trim_end_matches('/'));
    let url = provider.url.with_credentials();
    let rest = below_base(url, &provider.name, provider.provider_type.as_str())?;
    let folder = explained.folder.as_deref()?;
    let is_moved = !subject.files.exists(folder)
        && subject
            .files
            .exists(&format!("{repository}/{}", provider.label()));
    is_moved.then(|| {
        configuration_file::stale_url(&provider.label(), url, &format!("{repository}{rest}"))
    })
}

/// The files of the release itself that are not those of its checksums; the overrides layer is not
/// part of it.
fn wrong_sums(files: &dyn Files, explained: &Explanation) -> Vec<Diagnostic> {
    let (Some(folder), Ok((version, _))) = (&explained.folder, &explained.picked) else {
        return Vec::new();
    };
    let folder = format!("{folder}/{version}");
    let Ok(sums) = files.read(&format!("{folder}/{CHECKSUMS_FILE}")) else {
        return Vec::new();
    };
    let own = explained.files.iter().filter(|file| !file.is_override);
    let mut tree: Tree = own
        .filter_map(|file| Some((file.name.clone(), file.content.as_ref().ok()?.clone())))
        .collect();
    tree.insert(CHECKSUMS_FILE, sums);
    windlass_release::assets::wrong_sums(&tree, &folder)
}

fn examined(entry: &Entry, explained: &Explanation) -> Examined {
    let start = entry.place.span.map(|span| span.start);
    let skipped = explained.skipped.iter().map(|(name, why)| SkippedEntry {
        name: name.clone(),
        reason: skipped(*why).to_owned(),
    });
    Examined {
        provider: entry.provider.label(),
        provider_type: entry.provider.provider_type,
        url: entry.provider.url.clone(),
        file: entry.place.file.as_deref().map(str::to_owned),
        line: start.map(|start| start.line),
        column: start.map(|start| start.column),
        found: explained.found.clone(),
        skipped: skipped.collect(),
        picked: explained
            .picked
            .as_ref()
            .ok()
            .map(|(version, _)| version.clone()),
        reason: reason(explained),
        files: explained.files.iter().map(examined_file).collect(),
    }
}

fn examined_file(file: &LayeredFile) -> ExaminedFile {
    ExaminedFile {
        name: file.name.clone(),
        path: file.path.clone(),
        from_overrides: file.is_override,
        missing: file.content.is_err(),
    }
}

fn skipped(why: Skipped) -> &'static str {
    match why {
        Skipped::NoVersion => "no semantic version",
        Skipped::Link => "a link",
        Skipped::File => "a file",
    }
}

/// Why the version was picked, in one phrase.
fn reason(explained: &Explanation) -> String {
    match &explained.picked {
        Err(rejection) => rejection.message().to_owned(),
        Ok((_, Reason::Pinned)) => "the url names it".to_owned(),
        Ok((version, Reason::Newest)) if versions::is_pre_release(version) => {
            "the newest version; there is no release yet".to_owned()
        }
        Ok((_, Reason::Newest)) => "the newest release".to_owned(),
        Ok((
            _,
            Reason::SeriesOfContract {
                newest,
                series: (major, minor),
            },
        )) => {
            format!(
                "{newest} is the newest release, but its {METADATA_FILE} names {major}.{minor} as the newest v1beta2 series"
            )
        }
    }
}
