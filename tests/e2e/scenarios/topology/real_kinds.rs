//! The CRDs of the corpus' providers, so that what the topology controller makes is what these
//! providers' own schemas default, prune and reject.
//!
//! The kubeadm providers run with their webhooks. Of the others the server knows one version of
//! each kind: what converts between versions is a webhook, which does not run here.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::comparison::ELSEWHERE;
use super::inputs::Input;
use super::placeholders::{self, is_template};
use super::text;
use crate::harness::control_plane::ControlPlane;
use crate::harness::{components, shared, wait, windlass};

/// The kubeadm providers, of the release whose managers run.
const KUBEADM: [&str; 2] = ["bootstrap-components.yaml", "control-plane-components.yaml"];

/// Components of the corpus with CRDs of other providers whose classes it has.
const COMPONENTS: &[&str] = &[
    "kubernetes-sigs+cluster-api@v1.14.0/infrastructure-components-development.yaml",
    "kubernetes-sigs+cluster-api-provider-azure/infrastructure-components.capz-part.yaml",
    "kubernetes-sigs+cluster-api-provider-vsphere/infrastructure-components.yaml",
    "k3s-io+cluster-api-k3s/bootstrap-components.yaml",
    "k3s-io+cluster-api-k3s/control-plane-components.yaml",
    "metal3-io+cluster-api-provider-metal3/infrastructure-components.yaml",
    "rancher+cluster-api-provider-rke2/bootstrap-components.yaml",
    "rancher+cluster-api-provider-rke2/control-plane-components.yaml",
];

/// Sources of others: their kustomization labels them.
const SOURCES: &[&str] = &[
    "kubernetes-sigs+cluster-api-provider-aws/config/crd",
    "kubernetes-sigs+cluster-api-provider-vsphere/config/supervisor/crd",
];

/// The version of each kind, by group and kind.
type Versions = BTreeMap<(String, String), String>;

/// The inputs in groups of which each knows a kind in one version only.
pub(super) fn rounds(inputs: Vec<Input>) -> Vec<Vec<Input>> {
    let mut rounds: Vec<(Versions, Vec<Input>)> = Vec::new();
    for input in inputs {
        let own = versions(&input);
        let fits = |known: &Versions| {
            own.iter()
                .all(|(kind, version)| known.get(kind).is_none_or(|known| known == version))
        };
        match rounds.iter_mut().find(|(known, _)| fits(known)) {
            Some((known, inputs)) => {
                known.extend(own);
                inputs.push(input);
            }
            None => rounds.push((own, vec![input])),
        }
    }
    rounds.into_iter().map(|(_, inputs)| inputs).collect()
}

/// The kinds of the templates of an input, and of what is made of them, but for those of the
/// kubeadm providers.
fn versions(input: &Input) -> Versions {
    let templates = input.objects.iter().filter(|object| is_template(object));
    templates
        .filter(|object| !text(&object["kind"]).starts_with("Kubeadm"))
        .flat_map(placeholders::kinds_of)
        .collect()
}

/// Installs the kubeadm providers and the CRDs of the other kinds of some inputs, with the role
/// that lets the core manager use them. The inputs get the CRDs of their kinds.
pub(super) fn install(plane: &ControlPlane, release: &str, inputs: &mut [Input]) {
    let folder = shared::cluster_api(release);
    KUBEADM
        .iter()
        .for_each(|file| components::apply(plane, &folder.join(file)));
    let wanted: Versions = inputs.iter().flat_map(versions).collect();
    placeholders::allow(plane, wanted.keys().map(|(group, _)| group));
    let known = definitions(&folder);
    for (kind, version) in wanted {
        let definition = known
            .get(&kind)
            .unwrap_or_else(|| panic!("the corpus has no CRD of {kind:?}"));
        give(plane, &of_version(definition.clone(), &version));
    }
    for input in inputs {
        let own = |crd: &&Value| {
            let kind = text(&crd["spec"]["names"]["kind"]);
            let kind = kind.strip_suffix("Template").unwrap_or(kind);
            input
                .objects
                .iter()
                .any(|object| text(&object["kind"]).strip_suffix("Template") == Some(kind))
        };
        input.definitions = known.values().filter(own).cloned().collect();
    }
}

/// Gives a template the texts that its kind demands and that are not there: empty ones, as whatever
/// goes through a provider's own types has them. Its defaulting webhook does so before the schema
/// is asked, and does not run here.
pub(super) fn complete(plane: &ControlPlane, object: &mut Value) {
    if !is_template(object) {
        return;
    }
    let mut there = object.clone();
    there["metadata"]["namespace"] = ELSEWHERE.into();
    let Err(rejection) = plane.api.try_create(&there) else {
        return;
    };
    for (field, _) in rejection
        .causes()
        .into_iter()
        .filter(|(_, message)| message == "Required value")
    {
        let path = format!("/{}", field.replace('.', "/"));
        let (parent, name) = path.rsplit_once('/').expect("a field has a path");
        if let Some(parent) = object.pointer_mut(parent).and_then(Value::as_object_mut) {
            parent.insert(name.to_owned(), "".into());
        }
    }
}

/// Creates a CRD and waits until it is served.
fn give(plane: &ControlPlane, definition: &Value) {
    let name = text(&definition["metadata"]["name"]);
    plane
        .api
        .apply(definition)
        .unwrap_or_else(|rejection| panic!("{name}: {rejection}"));
    wait::until(name, super::SOON, || {
        let found = plane.api.get(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            None,
            name,
        );
        let found = found.map_err(|rejection| rejection.to_string())?;
        let conditions = found["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let is_established = conditions
            .iter()
            .any(|c| c["type"] == "Established" && c["status"] == "True");
        if is_established {
            Ok(())
        } else {
            Err(found["status"].to_string())
        }
    });
}

/// The CRDs of the corpus by group and kind, with the labels of the contracts that they fulfil.
fn definitions(kubeadm: &Path) -> BTreeMap<(String, String), Value> {
    let read = |file: &Path| {
        components::documents(
            &file.display().to_string(),
            std::fs::read_to_string(file).unwrap(),
        )
    };
    let of_others = COMPONENTS
        .iter()
        .map(|file| shared::path(&format!("corpus/rendered/{file}")));
    let ours = shared::checkout()
        .join("releases")
        .join(windlass::LABEL)
        .join(windlass::VERSION)
        .join("bootstrap-components.yaml");
    let built = KUBEADM
        .iter()
        .map(|file| kubeadm.join(file))
        .chain(of_others)
        .chain([ours])
        .flat_map(|file| read(&file));
    let labelled = SOURCES.iter().flat_map(|folder| {
        let folder = shared::path(&format!("corpus/{folder}"));
        let kustomization = read(&folder.join("kustomization.yaml")).remove(0);
        let labels = kustomization["commonLabels"].clone();
        assert!(
            labels.is_object(),
            "{}: no labels of contracts",
            folder.display()
        );
        shared::yaml_files(&folder.join("bases"))
            .into_iter()
            .flat_map(move |file| {
                let labels = labels.clone();
                read(&file).into_iter().map(move |mut definition| {
                    definition["metadata"]["labels"] = labels.clone();
                    definition
                })
            })
    });
    let all = built
        .chain(labelled)
        .filter(|object| object["kind"] == "CustomResourceDefinition");
    all.map(|crd| {
        (
            (
                text(&crd["spec"]["group"]).to_owned(),
                text(&crd["spec"]["names"]["kind"]).to_owned(),
            ),
            crd,
        )
    })
    .collect()
}

/// The definition with one version of those that it has.
fn of_version(mut definition: Value, version: &str) -> Value {
    let mut kept = definition["spec"]["versions"]
        .as_array()
        .expect("CRDs have versions")
        .clone();
    kept.retain(|known| known["name"] == version);
    let [only] = kept.as_mut_slice() else {
        panic!(
            "{} has no version {version}",
            definition["metadata"]["name"]
        )
    };
    only["served"] = true.into();
    only["storage"] = true.into();
    definition["spec"]["versions"] = kept.into();
    definition["spec"]["conversion"] = json!({"strategy": "None"});
    let labels = definition["metadata"]["labels"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    let of_contract =
        |(_, versions): &(String, Value)| text(versions).split('_').any(|known| known == version);
    let contracts: Map<String, Value> = labels
        .into_iter()
        .filter(of_contract)
        .map(|(contract, _)| (contract, version.into()))
        .collect();
    assert!(
        !contracts.is_empty(),
        "{} fulfils no contract with {version}",
        definition["metadata"]["name"]
    );
    definition["metadata"] = json!({"name": definition["metadata"]["name"], "labels": contracts});
    definition
}
