//! A whole release: components, metadata, templates, image list, bill of materials, checksums
//! (book: clusterctl, "Provider Repositories").

use std::collections::{BTreeMap, BTreeSet};

use semver::Version;

use super::checksums::{CHECKSUMS_FILE, Summed, checksums, summed};
use super::components::{Components, ManagerImage, components};
use super::install::{self, INSTALL_FILE};
use super::judged::Built;
use super::sbom::part::Part;
use super::sbom::{Contents, SBOM_FILE, Subject, sbom};
use windlass_capi::contract::{MANAGER_CONTAINER, METADATA_FILE, book};
use windlass_go_yaml::goyaml::{self, VariableQuoting};
use windlass_lint::definitions::{CRD_GROUP, CRD_KIND};
use windlass_lint::metadata::{self, MetadataFile};
use windlass_lint::templates::{self, Known, Wanted};
use windlass_lint::{Audience, Extent, Wishes};
use windlass_objects::{Object, pods};
use windlass_provider::{Declared, Inputs};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};
use windlass_source::tree::Tree;

rules! {
    /// two different files of a release have the same name
    FILE_TWICE = error("release-file-duplicated");
    /// the providers of one release name different metadata files
    METADATA_TWO = error("release-metadata-ambiguous"), url(book::METADATA_YAML);
    /// the components contain a string that YAML cannot represent
    NOT_WRITABLE = error("components-not-writable");
}

/// The name of the file in a release that lists the images that it runs, one per line.
pub const IMAGES_FILE: &str = "images.txt";

/// What a release is built from.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// The providers of the release; more than one makes several components files.
    pub providers: &'a [Declared],
    /// The files that `provider.yaml` names, and the settings for reading them.
    pub inputs: &'a Inputs,
    /// The version to release; metadata.yaml must list its series.
    pub version: &'a Version,
    /// Images of managers in place of those in `provider.yaml`: by provider label, or for the only
    /// manager.
    pub images: &'a [ImageOverride],
    /// What the images of managers contain, by documents of their builds.
    pub parts: &'a [Part],
    /// Seconds since 1970 for dates in the release.
    pub epoch: i64,
}

/// An image that replaces the one in `provider.yaml`, or the digest that it gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageOverride {
    /// The provider label that it is for; `None` for every manager.
    pub label: Option<String>,
    /// What replaces it.
    pub by: Replacement,
}

/// What replaces an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replacement {
    /// Another image, with tag or digest.
    Image(String),
    /// The same image by its digest, `sha256:…`, in place of the tag.
    Digest(String),
}

/// A release in memory.
#[derive(Debug, Clone, Default)]
pub struct Release {
    /// The files.
    pub files: Tree,
    /// Whether an error keeps something out of the files. What the check says of whole files does
    /// not.
    pub is_incomplete: bool,
    /// The images that it runs.
    pub images: BTreeSet<String>,
    /// How many Kubernetes objects its components hold.
    pub objects: usize,
    /// The contract of the release series.
    pub contract: String,
    /// Everything that is wrong.
    pub report: Report,
    /// The objects as they were read and as they are released, if the inputs keep the former.
    pub traced: Traced,
}

/// Objects before and after the build.
#[derive(Debug, Clone, Default)]
pub struct Traced {
    /// The objects of the files.
    pub read: Vec<Object>,
    /// The objects of the release.
    pub released: Vec<Object>,
}

/// Builds a release. Nothing of it depends on clock, machine or order of files: the same input
/// gives the same bytes.
pub fn build(plan: &Plan<'_>) -> Release {
    let mut release = Release::default();
    let metadata = add_metadata(&mut release, plan);
    let templates = add_templates(&mut release, plan);
    let (mut built, mut known) = (Vec::new(), Known::default());
    let mut managers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for declared in plan.providers {
        let Components {
            objects,
            originals,
            report,
        } = components(declared, plan.inputs, &image_of(plan, declared));
        if plan.inputs.keeps_originals() {
            release.traced.read.extend(originals);
            release.traced.released.extend(objects.iter().cloned());
        }
        if let Some(text) = add_components(&mut release, declared, &objects) {
            known.add(&objects, &Wanted::of(&templates));
            managers.insert(declared.provider.label(), manager_images(&objects));
            let objects = objects.iter().map(Object::anchor).collect();
            built.push(Built {
                declared,
                objects,
                text,
                report: report.clone(),
                version: plan.version,
            });
        }
        release.report.extend(report);
    }
    let Verdict {
        findings,
        install,
        about_install,
    } = judge(plan, &built, metadata.as_ref(), &templates, &known);
    release.report.extend(about_install);
    install.into_iter().for_each(|text| {
        release.files.insert(INSTALL_FILE, text.into_bytes());
    });
    plan.inputs.budget().tell(&mut release.report);
    release.is_incomplete = release.report.has_errors();
    if !release.is_incomplete {
        add_lists(&mut release, plan, &managers);
    }
    release.report.extend(findings);
    release
}

/// The size in bytes up to which components are checked and made into [`INSTALL_FILE`] at the same
/// time. Larger ones are checked first, because both hold a copy of all objects. Cluster API's core
/// has 1.4 MB.
const AT_ONCE: usize = 2 << 20;

/// What the check says of a release, and what its users install.
struct Verdict {
    findings: Report,
    install: Option<String>,
    about_install: Report,
}

/// Checks components and templates, and makes [`INSTALL_FILE`].
fn judge(
    plan: &Plan<'_>,
    built: &[Built<'_>],
    metadata: Option<&MetadataFile>,
    templates: &[Source],
    known: &Known,
) -> Verdict {
    let asked = templates::Asked {
        extent: Extent::Whole,
        audience: Audience::Author(Wishes::NONE),
        known: &[known],
    };
    let budget = plan.inputs.budget();
    let judge_templates = |budget: &Budget| templates::check(templates, &asked, budget);
    let check =
        |built: &Built<'_>, read, budget: &Budget| built.check(read, metadata, plan.inputs, budget);
    if built.iter().map(|built| built.text.len()).sum::<usize>() > AT_ONCE {
        let read: Vec<_> = built.iter().map(|built| built.read(budget)).collect();
        let mut findings: Report = built
            .iter()
            .zip(&read)
            .flat_map(|(built, read)| check(built, read.clone(), budget))
            .collect();
        findings.extend(judge_templates(budget));
        let (install, about_install) = install::install(built, read, budget);
        return Verdict {
            findings,
            install,
            about_install,
        };
    }
    let read_all =
        |budget: &Budget| -> Vec<_> { built.iter().map(|built| built.read(budget)).collect() };
    let (read, of_templates) = budget.both(read_all, judge_templates);
    let check_all = |budget: &Budget| -> Report {
        built
            .iter()
            .zip(&read)
            .flat_map(|(built, read)| check(built, read.clone(), budget))
            .collect()
    };
    let (mut findings, (install, about_install)) = budget.both(check_all, |budget| {
        install::install(built, read.clone(), budget)
    });
    findings.extend(of_templates);
    Verdict {
        findings,
        install,
        about_install,
    }
}

/// The metadata of the release, when it can be used.
fn add_metadata(release: &mut Release, plan: &Plan<'_>) -> Option<MetadataFile> {
    let first = plan.providers.first()?;
    let at = FieldPath::root().field("metadata");
    for other in plan
        .providers
        .iter()
        .filter(|other| other.provider.metadata_file() != first.provider.metadata_file())
    {
        let message = format!(
            "a release has one metadata.yaml, but the providers name {} and {}",
            first.provider.metadata_file(),
            other.provider.metadata_file()
        );
        release.report.push(
            Diagnostic::of(&METADATA_TWO, message)
                .at(other.place(&at))
                .help("name the same file in each document"),
        );
    }
    let source = plan.inputs.files(first.provider.metadata_file()).first()?;
    let (file, report) = metadata::read(&first.provider.label(), source, plan.inputs.budget());
    let usable = !report.has_errors();
    release.report.extend(report);
    let file = file.filter(|_| usable)?;
    insert(
        release,
        METADATA_FILE,
        source.text().as_bytes().to_vec(),
        source,
    );
    match metadata::series_of(&file, plan.version) {
        Ok(series) => release.contract.clone_from(&series.contract),
        Err(finding) => release.report.push(*finding),
    }
    Some(file)
}

/// Which image the manager of a provider gets.
pub(crate) fn image_of(plan: &Plan<'_>, declared: &Declared) -> ManagerImage {
    let label = declared.provider.label();
    let given = || {
        plan.images
            .iter()
            .filter(|image| image.label.as_ref().is_none_or(|wanted| *wanted == label))
            .map(|image| &image.by)
    };
    let image = given().find_map(|by| {
        if let Replacement::Image(image) = by {
            Some(image.clone())
        } else {
            None
        }
    });
    let digest = given().find_map(|by| {
        if let Replacement::Digest(digest) = by {
            Some(digest.clone())
        } else {
            None
        }
    });
    ManagerImage {
        given: image,
        digest,
        tag: format!("v{}", plan.version),
    }
}

/// The text of the components; `None` when they cannot be written.
fn add_components(
    release: &mut Release,
    declared: &Declared,
    objects: &[Object],
) -> Option<String> {
    release.images.extend(
        objects
            .iter()
            .flat_map(|object| pods::images(object.value()))
            .map(str::to_owned),
    );
    release.objects += objects.len();
    match write(objects) {
        Ok(text) => {
            let file = declared.provider.provider_type.components_file();
            // A second provider of one type was rejected when provider.yaml was read.
            if release.files.get(&file).is_none() {
                release.files.insert(file, text.clone());
            }
            Some(text)
        }
        Err((object, error)) => {
            release.report.push(not_writable(object, &error));
            None
        }
    }
}

/// Objects as one stream, in Go's YAML; strings with variables are quoted where they must stay
/// text.
///
/// # Errors
/// The first object that YAML cannot hold.
pub fn write(objects: &[Object]) -> Result<String, (&Object, goyaml::EmitError)> {
    use rayon::prelude::*;
    let texts: Vec<Result<String, goyaml::EmitError>> =
        objects.par_iter().map(write_object).collect();
    let mut all = String::with_capacity(
        texts
            .iter()
            .map(|text| text.as_ref().map_or(0, |text| text.len() + 4))
            .sum(),
    );
    for (object, text) in objects.iter().zip(texts) {
        if !all.is_empty() {
            all.push_str("---\n");
        }
        all.push_str(&text.map_err(|error| (object, error))?);
    }
    Ok(all)
}

/// The finding that an object cannot be written.
pub(crate) fn not_writable(object: &Object, error: &goyaml::EmitError) -> Diagnostic {
    let finding = Diagnostic::of(
        &NOT_WRITABLE,
        format!("{} cannot be written as YAML: {error}", object.title()),
    );
    finding
        .at(object.place(&FieldPath::root()))
        .help("remove the character from the text")
}

fn write_object(object: &Object) -> Result<String, goyaml::EmitError> {
    let quoted = object.quoted_variables();
    let quoting = match &quoted {
        // Made from typed values, in which a variable can only stand in text.
        None if object.is(CRD_GROUP, CRD_KIND) => VariableQuoting::Never,
        None => VariableQuoting::Always,
        Some(paths) => VariableQuoting::At(paths),
    };
    goyaml::template_to_string(object.value(), quoting)
}

fn add_templates(release: &mut Release, plan: &Plan<'_>) -> Vec<Source> {
    let mut templates: Vec<Source> = Vec::new();
    for declared in plan.providers {
        let sources = declared
            .provider
            .templates
            .iter()
            .flat_map(|folder| plan.inputs.files(folder));
        let (taken, report) = templates::select(sources);
        release.report.extend(report);
        for (file, source) in taken {
            insert(release, file, source.text().as_bytes().to_vec(), source);
            if templates.iter().all(|known| known.name() != source.name()) {
                templates.push(source.clone());
            }
        }
    }
    templates
}

/// Puts a file into the release; two of one name with other bytes are a finding.
fn insert(release: &mut Release, file: &str, bytes: Vec<u8>, from: &Source) {
    let same = release
        .files
        .get(file)
        .is_none_or(|there| there == bytes.as_slice());
    if !same {
        let finding = Diagnostic::of(
            &FILE_TWICE,
            format!("the release would hold two files {file} with different content"),
        );
        release.report.push(
            finding
                .at(from.place())
                .help("rename one of them, or release the providers separately"),
        );
    }
    release.files.insert(file, bytes);
}

fn manager_images(objects: &[Object]) -> BTreeSet<String> {
    let managers = objects
        .iter()
        .flat_map(|object| pods::containers(object.value()))
        .filter(|(_, container)| container["name"] == MANAGER_CONTAINER);
    managers
        .filter_map(|(_, container)| container["image"].as_str())
        .map(str::to_owned)
        .collect()
}

fn add_lists(
    release: &mut Release,
    plan: &Plan<'_>,
    managers: &BTreeMap<String, BTreeSet<String>>,
) {
    let images: String = release
        .images
        .iter()
        .map(|image| format!("{image}\n"))
        .collect();
    release.files.insert(IMAGES_FILE, images.into_bytes());
    let labels: Vec<String> = plan
        .providers
        .iter()
        .map(|declared| declared.provider.label())
        .collect();
    // Of several providers in one release the first that says it speaks for all.
    let about = plan
        .providers
        .iter()
        .find_map(|declared| declared.provider.about.clone())
        .unwrap_or_default();
    let subject = Subject {
        name: &labels.join("+"),
        version: &format!("v{}", plan.version),
        about: &about,
        epoch: plan.epoch,
    };
    let images_of = |part: &Part| {
        let of_part = managers
            .iter()
            .filter(|(label, _)| part.label.as_ref().is_none_or(|wanted| wanted == *label));
        of_part.flat_map(|(_, images)| images.clone()).collect()
    };
    let contents: Vec<Contents<'_>> = plan
        .parts
        .iter()
        .map(|part| Contents {
            part,
            images: images_of(part),
        })
        .collect();
    let mut files = summed(&release.files);
    let sbom = sbom(subject, &files, &release.images, &contents);
    files.push(Summed::of(SBOM_FILE, sbom.as_bytes()));
    let sums = checksums(files);
    release.files.insert(SBOM_FILE, sbom);
    release.files.insert(CHECKSUMS_FILE, sums);
}
