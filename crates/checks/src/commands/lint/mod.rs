//! `lint PATH…`: what people have of a provider, checked against the contract: whole releases, or
//! parts of one.

mod form;
mod kustomized;
mod part;
pub mod unchecked;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use semver::Version;
use serde::Serialize;

pub use form::Form;
use kustomized::Kustomized;
use unchecked::{Unchecked, UncheckedKind};

use crate::charts::{self, Charts};
use crate::object_check::{self, Subject};
use crate::settings::ProjectRoles;
use windlass_capi::contract::{ContractVersion, METADATA_FILE, ProviderType};
use windlass_clusterctl::repository::version_of_folder;
use windlass_lint::components::claims::{self, Claims};
use windlass_lint::components_name::{meant_components, misnamed_components};
use windlass_lint::definitions;
use windlass_lint::metadata::{self, MetadataFile};
use windlass_lint::templates::{self, Known, Wanted};
use windlass_lint::{Asked, Audience, Components, Extent, Release, Wishes, provider_of};
use windlass_objects::Object;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report, rules};

rules! {
    /// the input contains no file of a provider
    pub NOTHING = error("lint-input-missing");
}

/// What is checked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The texts, in the order in which they were given.
    pub sources: &'a [Source],
    /// What all of them are; without it, what their names and contents say.
    pub form: Option<Form>,
    /// The contract that is to be fulfilled, such as `v1beta2`: what still is on an older one
    /// is reported.
    pub contract: Option<&'a str>,
    /// The folders of the Helm charts that files are in.
    pub charts: &'a Charts,
    /// What the kinds are, where their names do not tell it.
    pub roles: &'a ProjectRoles,
    /// What the run may spend.
    pub budget: &'a Budget,
}

/// A file and what it was checked as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckedFile {
    /// The file as the user gave it.
    pub file: String,
    /// `components`, `metadata`, `template`, `objects`, `provider`, `kustomization`, `patch` of
    /// kustomize, `copy` of the components beside it, `chart` for a template of Helm, `templated` by
    /// another tool, or `other`.
    pub form: &'static str,
    /// Whether rules were asked of it.
    pub judged: bool,
}

/// What the check says.
#[derive(Debug, Clone, Default)]
pub struct Linted {
    /// All files, in the order of the input.
    pub files: Vec<CheckedFile>,
    /// How many Kubernetes objects were checked, those of templates apart.
    pub objects: usize,
    /// The objects that no rule covers, those of templates included.
    pub unchecked: Vec<UncheckedKind>,
    /// Whether there are CRDs to which a build may add labels and conversion webhooks.
    pub is_unbuilt: bool,
    /// Everything that was found.
    pub report: Report,
}

/// The files of one folder that belong to a release.
#[derive(Default)]
struct Folder<'a> {
    components: Vec<&'a Source>,
    metadata: Vec<&'a Source>,
    templates: Vec<Source>,
}

/// Checks files.
pub fn run(request: &Request<'_>) -> Linted {
    let Request {
        sources, budget, ..
    } = *request;
    let wishes = Wishes {
        roles: &request.roles.0,
        contract: wanted(request),
    };
    let (forms, mut kustomized) = forms(request);
    let mut linted = Linted {
        report: std::mem::take(&mut kustomized.report),
        ..Linted::default()
    };
    let mut folders: BTreeMap<&str, Folder<'_>> = BTreeMap::new();
    let (mut parts, mut fragments) = (Vec::new(), Vec::new());
    for (source, form) in sources.iter().zip(&forms) {
        linted.files.push(CheckedFile {
            file: source.name().to_string(),
            form: form.as_str(),
            judged: form.is_judged(),
        });
        match form {
            Form::Objects => parts.push(source),
            Form::Template if !is_whole_template(source, &kustomized) && request.form.is_none() => {
                fragments.push(source.clone())
            }
            Form::Components | Form::Metadata | Form::Template => folders
                .entry(folder_of(source.name()))
                .or_default()
                .add(source, *form),
            Form::Provider
            | Form::Kustomization
            | Form::Patch
            | Form::Copy
            | Form::Chart
            | Form::Templated
            | Form::Other => {}
        }
    }
    linted.report.extend(of_charts(request, &forms));
    let all: Vec<Source> = folders
        .values()
        .flat_map(|folder| &folder.templates)
        .chain(&fragments)
        .cloned()
        .collect();
    let wanted = Wanted::of(&all);
    let folders: Vec<(&str, Folder<'_>)> = folders.into_iter().collect();
    let judged = budget.each(&folders, |(name, folder), budget| {
        folder.judge(name, &wanted, wishes, budget)
    });
    let (mut known, mut templates) = (Known::default(), Vec::new());
    let (mut unchecked, mut crds) = (Unchecked::default(), Vec::new());
    for ((_, folder), judged) in folders.iter().zip(judged) {
        linted.objects += judged.objects.len();
        unchecked.add(&judged.objects, &[&judged.known]);
        crds.extend(definitions::of(&judged.objects).cloned());
        linted.report.extend(judged.report);
        known.merge(judged.known);
        templates.push((judged.own, &folder.templates));
    }
    let mut read = part::read(&parts, budget);
    linted.objects += read.pool.objects().len();
    known.add(read.pool.objects(), &wanted);
    linted.is_unbuilt = read.has_definitions();
    linted.report.extend(part::check(&mut read, wishes, budget));
    // Templates come last: the kinds of their objects may be in any of the files, but those of the
    // folder come first.
    let of_folders = budget.each(&templates, |(own, sources), budget| {
        templates::check(
            sources,
            &asked(wishes, Extent::Whole, &[own, &known]),
            budget,
        )
    });
    of_folders
        .into_iter()
        .for_each(|report| linted.report.extend(report));
    linted.report.extend(templates::check(
        &fragments,
        &asked(wishes, Extent::Part, &[&known]),
        budget,
    ));
    let whole = folders.iter().flat_map(|(_, folder)| &folder.templates);
    let whole = whole.map(|source| (source, Extent::Whole));
    let samples = read.samples();
    let of_samples = parts
        .iter()
        .copied()
        .filter(|source| samples.contains(source.name()));
    let subjects: Vec<Subject<'_>> = whole
        .chain(fragments.iter().map(|source| (source, Extent::Part)))
        .chain(of_samples.map(|source| (source, Extent::Whole)))
        .map(|(source, extent)| Subject {
            source,
            extent: match kustomized.takes(source.name()) {
                true => Extent::Part,
                false => extent,
            },
        })
        .collect();
    crds.extend(definitions::of(read.pool.objects()).cloned());
    // A webhook of the provider may write the fields that a patch replaces.
    crds.retain(|crd| {
        let kind = crd.text(&["spec", "names", "kind"]);
        !known.is_mutated(crd.text(&["spec", "group"]), kind)
    });
    let of_objects = object_check::check(&subjects, &crds, &linted.report, budget);
    linted.report.extend(of_objects);
    unchecked.add(read.pool.objects(), &[&known]);
    let texts = templates::objects(&all, budget);
    unchecked.add(&texts, &[&known]);
    linted.unchecked = unchecked.into_kinds();
    if forms
        .iter()
        .all(|form| matches!(form, Form::Other | Form::Templated))
    {
        linted.report.push(nothing(sources));
    }
    budget.tell(&mut linted.report);
    linted
}

/// The finding for each Helm chart with templates.
fn of_charts(request: &Request<'_>, forms: &[Form]) -> Report {
    let templates = request
        .sources
        .iter()
        .zip(forms)
        .filter(|(_, form)| **form == Form::Chart)
        .map(|(source, _)| source);
    charts::findings(templates, request.charts, "windlass lint -")
}

/// What files are, and what kustomizations among them make of the others.
pub(crate) fn forms_of(sources: &[Source], charts: &Charts, budget: &Budget) -> Vec<Form> {
    let request = Request {
        sources,
        form: None,
        contract: None,
        charts,
        roles: &ProjectRoles::default(),
        budget,
    };
    forms(&request).0
}

fn wanted(request: &Request<'_>) -> Option<ContractVersion> {
    request.contract.and_then(ContractVersion::parse)
}

/// What the files are, and what the kustomizations among them say of the others.
fn forms(request: &Request<'_>) -> (Vec<Form>, Kustomized) {
    let Request {
        sources,
        form: asked,
        budget,
        ..
    } = *request;
    let mut forms: Vec<Form> = budget.each(sources, |source, budget| {
        asked.unwrap_or_else(|| Form::of(source, request.charts, budget))
    });
    let of_kustomize = sources
        .iter()
        .zip(&forms)
        .filter(|(_, form)| **form == Form::Kustomization)
        .map(|(source, _)| source);
    let kustomized = Kustomized::of(of_kustomize, wanted(request), budget);
    let is_named = |source: &Source| form::provider_type_of(source.file_name()).is_some();
    let releases: BTreeSet<&str> = sources
        .iter()
        .filter(|source| is_named(source))
        .map(|source| folder_of(source.name()))
        .collect();
    for (source, form) in sources.iter().zip(&mut forms) {
        if *form == Form::Objects && asked.is_none() && kustomized.is_patch(source.name()) {
            *form = Form::Patch;
        }
        if *form == Form::Objects
            && asked.is_none()
            && !kustomized.takes(source.name())
            && meant(source).is_some()
        {
            *form = Form::Components;
        }
        if *form != Form::Components || asked.is_some() || is_named(source) {
            continue;
        }
        if kustomized.takes(source.name()) {
            // What kustomize makes the components of is a part of them.
            *form = Form::Objects;
        } else if releases.contains(folder_of(source.name())) && meant(source).is_none() {
            *form = Form::Copy;
        }
    }
    (forms, kustomized)
}

/// The name of a components file by which clusterctl would find it, when it is misspelt.
fn meant(source: &Source) -> Option<String> {
    meant_components(source.file_name(), |_| false)
}

fn asked<'a>(wishes: Wishes<'a>, extent: Extent, known: &'a [&'a Known]) -> templates::Asked<'a> {
    templates::Asked {
        extent,
        audience: Audience::Author(wishes),
        known,
    }
}

/// Whether clusterctl would take a file as it is: kustomize makes nothing else of it.
fn is_whole_template(source: &Source, kustomized: &Kustomized) -> bool {
    let name = source.name();
    templates::is_template(source.file_name())
        && !kustomized.takes(name)
        && !kustomized.is_patch(name)
}

fn nothing(sources: &[Source]) -> Diagnostic {
    let message = if sources.is_empty() {
        "there is no file to check"
    } else {
        "no file holds a Kubernetes object or a metadata.yaml"
    };
    let finding = Diagnostic::of(&NOTHING, message);
    let finding = match sources {
        [only] => finding.at(only.place()),
        _ => finding,
    };
    finding.help(
        "name a components file, CRDs, a metadata.yaml, templates, or a folder with some of them",
    )
}

fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl<'a> Folder<'a> {
    fn add(&mut self, source: &'a Source, form: Form) {
        match form {
            Form::Components => self.components.push(source),
            Form::Metadata => self.metadata.push(source),
            _ => self.templates.push(source.clone()),
        }
    }

    /// Checks all but the templates. `all` is what the templates of the whole input have objects
    /// of.
    fn judge(
        &self,
        name: &str,
        all: &Wanted<'_>,
        wishes: Wishes<'_>,
        budget: &Budget,
    ) -> CheckedFolder {
        let version = version_of_folder(name);
        let mut judged = CheckedFolder::default();
        let mut metadata = None;
        for source in &self.metadata {
            let (file, found) = metadata::read(name, source, budget);
            judged.report.extend(found);
            if source.file_name() == METADATA_FILE {
                metadata = file;
            }
        }
        let missing = version
            .as_ref()
            .and_then(|version| metadata::series_of(metadata.as_ref()?, version).err());
        judged.report.extend(missing.map(|missing| *missing));
        let (mut claims, wanted) = (Vec::new(), Wanted::of(&self.templates));
        for source in &self.components {
            let meant = meant_components(source.file_name(), |meant| {
                self.components
                    .iter()
                    .any(|other| other.file_name() == meant)
            });
            judged.report.extend(
                meant.map(|meant| misnamed_components(source.place(), source.file_name(), &meant)),
            );
            let components = Components::read((*source).clone(), budget);
            judged.objects.extend_from_slice(components.objects());
            claims.push(Claims::of(&components));
            judged.own.add(components.objects(), &wanted);
            judged.known.add(components.objects(), all);
            judged.report.extend(self::judge(
                components,
                source,
                version.as_ref(),
                metadata.as_ref(),
                wishes,
                budget,
            ));
        }
        judged.report.extend(claims::check(&claims));
        judged
    }
}

#[derive(Default)]
struct CheckedFolder {
    objects: Vec<Object>,
    report: Report,
    /// The kinds that the templates of the folder have objects of.
    own: Known,
    /// The kinds that any templates have objects of.
    known: Known,
}

/// Checks a components file, with what is beside it.
fn judge(
    components: Components,
    source: &Source,
    version: Option<&Version>,
    metadata: Option<&MetadataFile>,
    wishes: Wishes<'_>,
    budget: &Budget,
) -> Report {
    let file = source.file_name();
    let of_label = || ProviderType::of_label(components.labels().next()?);
    let Some(provider_type) = form::provider_type_of(file).or_else(of_label) else {
        let asked = Asked {
            namespace: None,
            provider_type: None,
            version,
            audience: Audience::Author(wishes),
        };
        return components.check(&asked, budget);
    };
    let label = components
        .label_of(provider_type)
        .unwrap_or_else(|| components.placeholder_label(provider_type));
    let guessed = || {
        metadata
            .and_then(newest_series)
            .unwrap_or(Version::new(0, 1, 0))
    };
    let is_version_guessed = version.is_none();
    let version = version.cloned().unwrap_or_else(guessed);
    let release = Release {
        provider: &provider_of(&label, provider_type, file),
        version: &version,
        is_version_guessed,
        components,
        metadata,
        namespace: None,
        audience: Audience::Author(wishes),
    };
    release.check_by_itself(budget).report
}

/// A version of the newest series, of which a provider's next release will be.
fn newest_series(metadata: &MetadataFile) -> Option<Version> {
    let newest = metadata
        .metadata
        .release_series
        .iter()
        .max_by_key(|series| (series.major, series.minor))?;
    Some(Version::new(
        newest.major.try_into().ok()?,
        newest.minor.try_into().ok()?,
        0,
    ))
}
