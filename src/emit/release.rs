//! A whole release: components, metadata, templates, image list, bill of materials, checksums (book: clusterctl, "Provider Repositories").

use std::collections::BTreeSet;

use semver::Version;

use super::checksums::{CHECKSUMS_FILE, checksums};
use super::components::{Components, ManagerImage, components};
use super::sbom::{SBOM_FILE, Subject, sbom};
use super::{metadata, templates};
use crate::contract::{METADATA_FILE, book};
use crate::diag::{Diagnostic, FieldPath, Report, rules};
use crate::lint::definitions::{CRD_GROUP, CRD_KIND};
use crate::objects::Object;
use crate::provider::{Declared, Inputs};
use crate::text::budget::Budget;
use crate::text::goyaml::{self, VariableQuoting};
use crate::text::source::Source;
use crate::text::tree::Tree;
use crate::text::{envsubst, yaml};

rules! {
    /// two different files of a release have the same name
    FILE_TWICE = error("release-file-duplicated");
    /// the providers of one release name different metadata files
    METADATA_TWO = error("release-metadata-ambiguous"), url(book::METADATA_YAML);
    /// the components contain text that YAML cannot represent
    NOT_WRITABLE = error("components-not-writable");
    /// the components do not survive clusterctl's variable substitution
    SUBSTITUTION = error("components-substitution-broken"), url(book::VARIABLES);
    /// a variable of the components has no default, so that no install.yaml is written
    INSTALL_OPEN = info("components-variable-required"), url(book::VARIABLES);
}

/// The components of a release with the defaults of their variables in place.
pub const INSTALL_FILE: &str = "install.yaml";

/// The list of images in a release.
pub const IMAGES_FILE: &str = "images.txt";

/// What a release is built from.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// The providers of the release; more than one makes several components files.
    pub providers: &'a [Declared],
    /// The files that they name.
    pub inputs: &'a Inputs,
    /// The version that is built.
    pub version: &'a Version,
    /// Images of managers in place of those in `provider.yaml`: by provider label, or for the only manager.
    pub images: &'a [ImageOverride],
    /// Seconds since 1970 for dates in the release.
    pub epoch: i64,
}

/// An image that replaces the one in `provider.yaml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageOverride {
    /// The provider label that it is for; `None` for every manager.
    pub label: Option<String>,
    /// The image with tag or digest.
    pub image: String,
}

/// A release in memory.
#[derive(Debug, Clone, Default)]
pub struct Release {
    /// The files. Complete only when the report has no errors.
    pub files: Tree,
    /// The images that it runs.
    pub images: BTreeSet<String>,
    /// How many Kubernetes objects its components hold.
    pub objects: usize,
    /// The contract of the release series.
    pub contract: String,
    /// Everything that is wrong.
    pub report: Report,
}

/// Builds a release. Nothing of it depends on clock, machine or order of files: the same input gives the same bytes.
pub fn build(plan: &Plan<'_>) -> Release {
    let mut release = Release::default();
    let series = add_metadata(&mut release, plan);
    let mut substitutions = Vec::new();
    for declared in plan.providers {
        let image = image_of(plan, declared);
        let components = components(declared, plan.inputs, &image);
        if let Some((contract, _)) = &series {
            release.contract.clone_from(contract);
        }
        if let Some((contract, place)) = series.as_ref().filter(|_| declared.provider.provider_type.has_contract()) {
            release.report.extend(crate::lint::definitions::promise(contract, components.crds(), place));
        }
        let substitution = add_components(&mut release, declared, components, plan.inputs.budget());
        substitutions.extend(substitution.map(|substitution| (declared, substitution)));
        add_templates(&mut release, plan, declared);
    }
    add_install(&mut release, &substitutions);
    if !release.report.has_errors() {
        add_lists(&mut release, plan);
    }
    release
}

/// The metadata of the release, and the contract of its series with its place.
fn add_metadata(release: &mut Release, plan: &Plan<'_>) -> Option<(String, crate::diag::Place)> {
    let first = plan.providers.first()?;
    let at = FieldPath::root().field("metadata");
    for other in plan.providers.iter().filter(|other| other.provider.metadata_file() != first.provider.metadata_file()) {
        let message = format!(
            "a release has one metadata.yaml, but the providers name {} and {}",
            first.provider.metadata_file(),
            other.provider.metadata_file()
        );
        release.report.push(Diagnostic::of(&METADATA_TWO, message).at(other.place(&at)).help("name the same file in each document"));
    }
    let source = plan.inputs.files(first.provider.metadata_file()).first()?;
    let (file, report) = metadata::parse(source, plan.inputs.budget());
    let usable = !report.has_errors();
    release.report.extend(report);
    let file = file.filter(|_| usable)?;
    insert(release, METADATA_FILE, source.text().as_bytes().to_vec(), source);
    match metadata::series_of(&file, plan.version) {
        Ok(series) => Some((series.contract.clone(), file.series_place(series))),
        Err(finding) => {
            release.report.push(*finding);
            None
        }
    }
}

/// Which image the manager of a provider gets.
pub fn image_of(plan: &Plan<'_>, declared: &Declared) -> ManagerImage {
    let label = declared.provider.label();
    let given = plan.images.iter().find(|image| image.label.as_ref().is_none_or(|wanted| *wanted == label));
    ManagerImage { given: given.map(|image| image.image.clone()), tag: format!("v{}", plan.version) }
}

/// Adds the components file, and says what substitution makes of it; `None` when there is none.
fn add_components(release: &mut Release, declared: &Declared, components: Components, budget: &Budget) -> Option<Substitution> {
    release.images.extend(components.images());
    release.objects += components.objects.len();
    release.report.extend(components.report);
    match write(&components.objects) {
        Ok(text) => {
            let file = declared.provider.provider_type.components_file();
            let substitution = substitution(declared, &text, budget);
            insert(release, &file, text.into_bytes(), &declared.source);
            Some(substitution)
        }
        Err((object, error)) => {
            release.report.push(not_writable(object, &error));
            None
        }
    }
}

/// Objects as one stream, in Go's YAML; strings with variables are quoted where they must stay text.
///
/// # Errors
/// The first object that YAML cannot hold.
pub fn write(objects: &[Object]) -> Result<String, (&Object, goyaml::EmitError)> {
    use rayon::prelude::*;
    let texts: Vec<Result<String, goyaml::EmitError>> = objects.par_iter().map(write_object).collect();
    let mut all = String::with_capacity(texts.iter().map(|text| text.as_ref().map_or(0, |text| text.len() + 4)).sum());
    for (object, text) in objects.iter().zip(texts) {
        if !all.is_empty() {
            all.push_str("---\n");
        }
        all.push_str(&text.map_err(|error| (object, error))?);
    }
    Ok(all)
}

/// The finding that an object cannot be written.
pub fn not_writable(object: &Object, error: &goyaml::EmitError) -> Diagnostic {
    let finding = Diagnostic::of(&NOT_WRITABLE, format!("{} cannot be written as YAML: {error}", object.title()));
    finding.at(object.place(&FieldPath::root())).help("remove the character from the text")
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

/// What clusterctl's substitution makes of finished components.
enum Substitution {
    /// Every byte stays.
    Same,
    /// The text with the defaults of all variables in place.
    Resolved(String),
    /// These variables have no default, so that only those who install it can say what they are.
    Open(Vec<String>),
    /// The components do not survive it.
    Broken(Box<Diagnostic>),
}

/// The components with the defaults of their variables in place, for those who install without clusterctl (kubectl, Argo CD, Flux). Where
/// substitution changes nothing the components are that file themselves.
fn add_install(release: &mut Release, substitutions: &[(&Declared, Substitution)]) {
    let mut resolved = String::new();
    let mut is_whole = true;
    for (declared, substitution) in substitutions {
        let file = declared.provider.provider_type.components_file();
        let text = match substitution {
            Substitution::Resolved(text) => text.clone(),
            Substitution::Same => release.files.get(&file).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default(),
            Substitution::Open(variables) => {
                is_whole = false;
                let message =
                    format!("{file} has variables without a default, so that no {INSTALL_FILE} is written: {}", variables.join(", "));
                let finding = Diagnostic::of(&INSTALL_OPEN, message).at(declared.place(&FieldPath::root()));
                let variable = variables.first().map_or("NAME", String::as_str);
                release.report.push(finding.help(format!("write `${{{variable}:=default}}`, or leave it: clusterctl asks for a value")));
                continue;
            }
            Substitution::Broken(finding) => {
                is_whole = false;
                release.report.push((**finding).clone());
                continue;
            }
        };
        if !resolved.is_empty() {
            resolved.push_str("---\n");
        }
        resolved.push_str(&text);
    }
    let changes = substitutions.iter().any(|(_, substitution)| matches!(substitution, Substitution::Resolved(_)));
    if is_whole && changes {
        release.files.insert(INSTALL_FILE, resolved.into_bytes());
    }
}

/// The finished components must survive clusterctl: their variables parse, and with the defaults in place the result is YAML.
fn substitution(declared: &Declared, text: &str, budget: &Budget) -> Substitution {
    let finding = |what: String| {
        let file = declared.provider.provider_type.components_file();
        Diagnostic::of(&SUBSTITUTION, format!("{file} does not survive clusterctl's substitution: {what}"))
            .at(declared.place(&FieldPath::root()))
            .help("write `${NAME:=default}`, and `$${` for a literal `${`")
    };
    let broken = |finding: Diagnostic| Substitution::Broken(Box::new(finding));
    let template = match envsubst::parse(text) {
        Ok(template) => template,
        Err(error) => {
            let line = text[..error.start.min(text.len())].lines().count();
            return broken(finding(format!("{error} (line {line} of the file)")).upstream(error.to_string()));
        }
    };
    let substituted = match template.expand(|_| None::<String>, budget) {
        Ok(substituted) => substituted,
        Err(error) => return broken(finding(error.to_string()).upstream(error.to_string())),
    };
    if substituted.bytes == text.as_bytes() {
        return Substitution::Same;
    }
    let resolved = String::from_utf8_lossy(&substituted.bytes).into_owned();
    let parsed = yaml::parse(&Source::new("components", resolved.as_str()), budget);
    if let Some(fault) = parsed.report.into_findings().into_iter().find(|f| f.rule.severity == crate::diag::Severity::Error) {
        return broken(finding(fault.message));
    }
    let open: Vec<String> = template.variables().into_iter().filter(|(_, default)| default.is_none()).map(|(name, _)| name).collect();
    if open.is_empty() { Substitution::Resolved(resolved) } else { Substitution::Open(open) }
}

fn add_templates(release: &mut Release, plan: &Plan<'_>, declared: &Declared) {
    let sources = declared.provider.templates.iter().flat_map(|folder| plan.inputs.files(folder));
    let (taken, report) = templates::check(sources, plan.inputs.budget());
    release.report.extend(report);
    for (file, source) in taken {
        insert(release, file, source.text().as_bytes().to_vec(), source);
    }
}

/// Puts a file into the release; two of one name with other bytes are a finding.
fn insert(release: &mut Release, file: &str, bytes: Vec<u8>, from: &Source) {
    let same = release.files.get(file).is_none_or(|there| there == bytes.as_slice());
    if !same {
        let finding = Diagnostic::of(&FILE_TWICE, format!("the release would hold two files {file} with different content"));
        release.report.push(finding.at(from.place()).help("rename one of them, or release the providers separately"));
    }
    release.files.insert(file, bytes);
}

fn add_lists(release: &mut Release, plan: &Plan<'_>) {
    let images: String = release.images.iter().map(|image| format!("{image}\n")).collect();
    release.files.insert(IMAGES_FILE, images.into_bytes());
    let labels: Vec<String> = plan.providers.iter().map(|declared| declared.provider.label()).collect();
    let subject = Subject { name: &labels.join("+"), version: &format!("v{}", plan.version), epoch: plan.epoch };
    let sbom = sbom(subject, &release.files, &release.images);
    release.files.insert(SBOM_FILE, sbom.into_bytes());
    let sums = checksums(&release.files);
    release.files.insert(CHECKSUMS_FILE, sums.into_bytes());
}
