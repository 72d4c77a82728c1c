//! The short provider.yaml: kustomize builds the objects, and provider.yaml says whose they are.

use serde_json::json;

use super::definitions::Contracts;
use super::identity::Identity;
use super::layout::DEFAULT;
use super::project::Project;
use super::{Document, Form, Given, Made};
use windlass_capi::contract::labels;
use windlass_provider::STDIN;

/// The form of provider.yaml for a project: the short one where kustomize builds its objects.
pub(super) fn form(project: &Project<'_>, given: &Given) -> Form {
    if given.built.is_some() {
        return Form::Short;
    }
    match given.form {
        Form::Short if project.kustomization_file(DEFAULT).is_none() => Form::Long,
        form => form,
    }
}

/// The fields. Every object stays as kustomize builds it; what the contract of clusterctl requires
/// beyond that is among what was assumed.
pub(super) fn document(
    project: &Project<'_>,
    identity: &Identity,
    contracts: &Contracts,
    given: &Given,
    made: &mut Made,
) -> Document {
    let mut document: Document = super::head(identity);
    if contracts.are_labels {
        made.assumed
            .push("contract labels: those of the CRDs stay as they are".to_owned());
    } else if !contracts.all.is_empty() {
        document.push(("contracts", json!(contracts.all)));
        made.assumed.push(
            "contract labels: `release build` adds those of `contracts` to the CRDs of kinds to which core objects refer"
                .to_owned(),
        );
    }
    document.push(("namespace", json!(identity.namespace)));
    let components = match &given.built {
        Some((path, _)) => path.clone(),
        None => STDIN.to_owned(),
    };
    document.push(("components", json!(components)));
    if project.has_templates() {
        document.push(("templates", json!(["templates"])));
    }
    made.assumed.push(format!(
        "objects: as kustomize builds them; `release build` adds the label {} where it is missing, and replaces a placeholder tag of the manager's image by the version",
        labels::PROVIDER
    ));
    document
}

/// The command that builds the release, with kustomize before it where its output is read.
pub(super) fn piped(given: &Given, form: Form, build: &str) -> String {
    match (form, &given.built) {
        (Form::Short, None) => format!("kustomize build {DEFAULT} | {build}"),
        (Form::Short, Some((path, _))) if path == STDIN => format!("kustomize build … | {build}"),
        _ => build.to_owned(),
    }
}
