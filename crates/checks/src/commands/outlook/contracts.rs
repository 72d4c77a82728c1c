//! The contract between Cluster API and providers: of CRDs, of release series, of kustomizations that
//! label CRDs, and of provider.yaml.

use serde_json::Value;

use super::documents::Document;
use super::prediction::{Ends, Prediction};
use crate::commands::lint::Form;
use crate::settings::ProjectRoles;
use windlass_capi::contract::endings::{self, Ending, Subject};
use windlass_capi::contract::{ContractVersion, book};
use windlass_lint::definitions::outdated::{contracts_outdated, labels_outdated};
use windlass_lint::{Scope, Wishes, metadata};
use windlass_objects::Pool;
use windlass_provider::Kustomization;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Remedy, rules};

rules! {
    /// a release no longer reads the newest contract that the provider fulfils
    CONTRACT = warning("outlook-contract"), url(book::CONTRACT_VERSIONS);
}

pub(super) fn predict(
    documents: &[Document],
    files: &[(&Source, Form)],
    roles: &ProjectRoles,
    budget: &Budget,
) -> Vec<Prediction> {
    let mut found = Vec::new();
    for document in documents {
        let of_document = match document.is_definition {
            true => of_definition(document, roles, budget),
            false => of_provider(document).into_iter().collect(),
        };
        found.extend(
            of_document
                .into_iter()
                .map(|prediction| document.restored(prediction)),
        );
    }
    for (source, form) in files {
        found.extend(match form {
            Form::Metadata => of_metadata(source, budget),
            Form::Kustomization => of_kustomization(source, budget),
            _ => None,
        });
    }
    found
}

fn ending(contract: ContractVersion) -> Option<&'static Ending> {
    endings::ending(Subject::Contract, contract.as_str())
}

/// The contract that providers are to fulfil instead of one that ends.
fn newest() -> ContractVersion {
    let [.., newest] = ContractVersion::ALL;
    newest
}

/// The prediction about something that fulfils a contract and no newer one.
fn prediction(
    what: &str,
    contract: ContractVersion,
    place: Place,
    help: impl Into<Remedy>,
) -> Option<Prediction> {
    let ending = ending(contract)?;
    let message = format!(
        "{what} contract {} and no newer one, which {} does not read",
        contract.as_str(),
        Ends::of(ending)
    );
    Some(Ends::of(ending).predict(&CONTRACT, message, place, help))
}

fn of_definition(document: &Document, roles: &ProjectRoles, budget: &Budget) -> Vec<Prediction> {
    let pool = Pool::of(vec![document.object.clone()]);
    let scope = Scope::of(&pool, None, budget).with(Wishes {
        roles: &roles.0,
        contract: Some(newest()),
    });
    let kind = document.object.text(&["spec", "names", "kind"]);
    let outdated = contracts_outdated(&scope, newest()).into_iter();
    outdated
        .filter_map(|(contract, finding)| {
            let Diagnostic { place, help, .. } = finding;
            prediction(&format!("{kind} fulfils"), contract, place, help?)
        })
        .collect()
}

/// provider.yaml, whose contracts are the labels of its CRDs.
fn of_provider(document: &Document) -> Option<Prediction> {
    let object = &document.object;
    let contracts = object
        .field(&["contracts"])
        .and_then(Value::as_object)
        .filter(|_| object.is("windlass.dev", "Provider"))?;
    let newest = contracts
        .keys()
        .filter_map(|key| ContractVersion::parse(key))
        .max()?;
    let path = FieldPath::of_fields("contracts").field(newest.as_str());
    let help = "add the versions that fulfil it under `contracts.v1beta2`";
    prediction(
        "the provider fulfils",
        newest,
        object.key_place(&path),
        help,
    )
}

/// The newest series: older ones are history.
fn of_metadata(source: &Source, budget: &Budget) -> Option<Prediction> {
    let (file, _) = metadata::parse(source, budget);
    let file = file?;
    let series = file.metadata.release_series.iter().enumerate();
    let (at, newest) = series.max_by_key(|(_, series)| (series.major, series.minor))?;
    let contract = ContractVersion::parse(&newest.contract)?;
    let path = FieldPath::of_fields("releaseSeries")
        .index(at)
        .field("contract");
    let what = format!(
        "the newest release series, v{}.{}, fulfils",
        newest.major, newest.minor
    );
    let help = "fulfil contract v1beta2, and add a series of releases that do";
    prediction(&what, contract, file.place(&path), help)
}

fn of_kustomization(source: &Source, budget: &Budget) -> Option<Prediction> {
    let read = Kustomization::read(source, budget);
    let labels = read.labels();
    let labels = labels
        .iter()
        .map(|(key, place)| (key.as_str(), place.clone()));
    let Diagnostic { place, help, .. } = labels_outdated(labels, newest())?;
    let [oldest, ..] = ContractVersion::ALL;
    prediction(
        "the kustomization labels its CRDs for",
        oldest,
        place,
        help?,
    )
}
