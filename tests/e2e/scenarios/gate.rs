//! The examples on the pages of rules, given to the programs of which the rules speak: what is
//! *Bad* is rejected in the words that the table has, what is *Good* is taken.

#[path = "../../gate/examples.rs"]
mod examples;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use examples::{COMPONENTS, Example, documents, examples_of, release};
use serde_json::{Value, json};
use windlass::rules;
use windlass_source::diag::{Rule, Severity};

use crate::harness::clusterctl::Clusterctl;
use crate::harness::control_plane::ControlPlane;
use crate::harness::installation::CLUSTER_API;
use crate::harness::process::Finished;
use crate::harness::runner::Context;
use crate::harness::{components, installation, shared, wait};

/// A CRD that is deleted ends in its own time, all the more on a machine that does other things.
const SOON: Duration = Duration::from_secs(150);

/// Who rejects an example.
#[derive(Clone, Copy)]
#[allow(
    dead_code,
    reason = "rules about components and templates have their rows when they have their pages"
)]
enum By {
    /// `clusterctl generate provider`.
    Provider,
    /// `clusterctl generate cluster`.
    Cluster,
    /// `clusterctl init`, or the API server when clusterctl installs.
    Init,
    /// The API server, which has the CRDs of the release before. `clusterctl upgrade apply` gets
    /// the same answer ten times.
    Upgrade,
}

/// Rules of severity error, who rejects their *Bad* examples, and in which words.
const REJECTED: &[(&str, By, &str)] = &[
    (
        "components-image-not-canonical",
        By::Provider,
        "couldn't parse image name: repository name must be canonical",
    ),
    (
        "components-namespace-duplicated",
        By::Provider,
        "There should be no more than one resource with Kind Namespace",
    ),
    (
        "components-namespace-missing",
        By::Provider,
        "target namespace can't be defaulted",
    ),
    (
        "components-substitution-broken",
        By::Provider,
        "missing closing brace",
    ),
    (
        "release-asset-metadata-missing",
        By::Init,
        "failed to read \"metadata.yaml\" from the repository for provider",
    ),
    (
        "release-components-missing",
        By::Provider,
        "failed to read \"infrastructure-components.yaml\" from provider's repository",
    ),
    (
        "template-substitution-broken",
        By::Cluster,
        "missing closing brace",
    ),
    ("yaml-syntax", By::Cluster, "found unexpected end of stream"),
    (
        "object-incomplete",
        By::Init,
        "resource name may not be empty",
    ),
    (
        "components-object-version-removed",
        By::Init,
        "no matches for policy/v1beta1",
    ),
    (
        "components-webhook-rejected",
        By::Init,
        "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\"",
    ),
    (
        "crd-name-wrong",
        By::Init,
        "CRD name \"fooidentitys.infrastructure.cluster.x-k8s.io\" is invalid for a CRD referenced in a core Cluster API CRD,it should be \
         \"fooidentities.infrastructure.cluster.x-k8s.io\"",
    ),
    (
        "crd-name-not-plural",
        By::Init,
        "must be spec.names.plural+\".\"+spec.group",
    ),
    (
        "crd-storage-version-wrong",
        By::Init,
        "must have exactly one version marked as storage version",
    ),
    (
        "metadata-api-version-wrong",
        By::Init,
        "no kind \"Metadata\" is registered for version \"clusterctl.cluster.x-k8s.io/v1beta1\"",
    ),
    (
        "metadata-contract-unknown",
        By::Init,
        "detected contract version v2 for provider infrastructure-foo",
    ),
    (
        "metadata-document-missing",
        By::Init,
        "unexpected apiVersion \"\" for provider infrastructure-foo",
    ),
    (
        "metadata-field-missing",
        By::Init,
        "detected contract version  for provider infrastructure-foo",
    ),
    (
        "metadata-kind-wrong",
        By::Init,
        "no kind \"ProviderMetadata\" is registered",
    ),
    (
        "metadata-series-empty",
        By::Init,
        "releaseSeries is empty in metadata.yaml",
    ),
    (
        "metadata-series-missing",
        By::Init,
        "does not match any release series",
    ),
    (
        "metadata-value-rejected",
        By::Init,
        "cannot unmarshal string into Go struct field ReleaseSeries.releaseSeries.minor",
    ),
    (
        "upgrade-crd-immutable",
        By::Upgrade,
        "spec.scope: Invalid value: \"Cluster\": field is immutable",
    ),
    (
        "upgrade-stored-version-removed",
        By::Upgrade,
        "status.storedVersions[0]: Invalid value: \"v1alpha1\": missing from spec.versions",
    ),
];

/// Rules of severity error whose examples no program rejects at once, and why they are errors all
/// the same.
const NOT_REJECTED: &[(&str, &str)] = &[
    (
        "clusterclass-name-wrong",
        "the Cluster waits for a class that nobody makes",
    ),
    (
        "release-components-misnamed",
        "nobody sees it before somebody installs that provider of the release",
    ),
    (
        "components-manager-container-missing",
        "clusterctl waits for nothing, and says that the provider is installed",
    ),
    (
        "template-namespace-present",
        "clusterctl renames the Namespace, and who deletes one cluster deletes all of the namespace",
    ),
    (
        "components-certificate-missing",
        "no CA is injected, and the API server's calls end with an unknown authority",
    ),
    (
        "components-certificate-name-missing",
        "the API server's calls end with a certificate for other names",
    ),
    (
        "components-image-registry-gone",
        "no node can pull the image",
    ),
    (
        "components-placeholder-left",
        "cert-manager finds no Certificate of that name",
    ),
    (
        "components-webhook-service-missing",
        "each request for which the webhook is called is rejected",
    ),
    (
        "components-webhook-unreachable",
        "each request for which the webhook is called is rejected",
    ),
    (
        "crd-contract-field-missing",
        "the core waits for the field in the objects of a Cluster",
    ),
    (
        "crd-contract-field-type-wrong",
        "the core fails on the field in the objects of a Cluster",
    ),
    (
        "crd-contract-label-missing",
        "clusterctl goes by metadata.yaml and the core by the labels; nobody compares them",
    ),
    (
        "crd-contract-label-version-unknown",
        "the core does not find the version once a Cluster refers to the kind",
    ),
    (
        "crd-contract-unlabelled",
        "the core does not find a version once a Cluster refers to the kind",
    ),
    (
        "crd-contract-version-ambiguous",
        "the core takes one of two contracts by chance, in Clusters of a ClusterClass",
    ),
    (
        "crd-conversion-missing",
        "the API server drops fields without a word",
    ),
    (
        "crd-list-kind-wrong",
        "clusterctl does not find the objects once an upgrade has to store them in another version",
    ),
    (
        "crd-scope-cluster",
        "the core cannot own the objects of a Cluster",
    ),
    (
        "crd-template-shape-wrong",
        "the core makes empty objects of the template",
    ),
    (
        "rbac-core-rights-missing",
        "the core is not allowed to look at the objects of a Cluster",
    ),
    (
        "template-field-missing",
        "clusterctl takes it; the API server rejects the object when the cluster is applied",
    ),
    (
        "template-field-rejected",
        "clusterctl takes it; the API server rejects the object when the cluster is applied",
    ),
    (
        "template-field-unknown",
        "clusterctl takes it; `kubectl apply` rejects the object",
    ),
    (
        "template-object-unserved",
        "clusterctl takes it; the API server rejects the object when the cluster is applied",
    ),
    (
        "template-reference-missing",
        "Cluster API waits for the object without end",
    ),
];

/// Every error whose page has files of a release as examples is in one of the tables. The bad
/// examples of the first table are rejected, and the good ones are accepted.
pub(crate) fn examples_are_rejected(context: &Context) {
    let with_page: Vec<&Rule> = rules::all()
        .into_iter()
        .filter(|rule| rule.severity == Severity::Error && rule.has_release_example())
        .collect();
    let told: BTreeSet<&str> = REJECTED
        .iter()
        .map(|(rule, ..)| *rule)
        .chain(NOT_REJECTED.iter().map(|(rule, _)| *rule))
        .collect();
    let untold: Vec<&str> = with_page
        .iter()
        .map(|rule| rule.id)
        .filter(|id| !told.contains(id))
        .collect();
    assert!(
        untold.is_empty(),
        "no table of this scenario has these rules: {untold:?}"
    );
    let plane = context.control_plane();
    installation::init(&plane);
    let (mut faults, mut taken) = (Vec::new(), Vec::new());
    for (id, by, words) in REJECTED {
        let rule = with_page
            .iter()
            .find(|rule| rule.id == *id)
            .unwrap_or_else(|| panic!("{id} is not an error with a release example"));
        let (bad, good) = examples_of(rule.page);
        let rejection = Trial {
            plane: &plane,
            name: format!("{id}-bad"),
            by: *by,
        }
        .rejection(&bad);
        if !rejection
            .as_ref()
            .is_some_and(|rejection| rejection.contains(words))
        {
            faults.push(format!(
                "{id}: not rejected with `{words}`:\n{}",
                rejection.unwrap_or_default()
            ));
        }
        let good_release = (
            *by as u8,
            release(shared::checkout(), &good, ""),
            release(shared::checkout(), &good, "previous/"),
        );
        if taken.contains(&good_release) {
            continue;
        }
        match (Trial {
            plane: &plane,
            name: format!("{id}-good"),
            by: *by,
        }
        .rejection(&good))
        {
            Some(rejection) => {
                faults.push(format!("{id}: the fixed one is rejected:\n{rejection}"))
            }
            None => taken.push(good_release),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// One example and the program that it is given to.
struct Trial<'a> {
    plane: &'a ControlPlane,
    name: String,
    by: By,
}

impl Trial<'_> {
    /// What the program says against the example; nothing when it takes it.
    fn rejection(&self, example: &Example) -> Option<String> {
        if matches!(self.by, By::Upgrade) {
            return self.upgrade(example);
        }
        let mut clusterctl = Clusterctl::new(CLUSTER_API, self.plane, CLUSTER_API);
        let folder = clusterctl
            .folder()
            .join(&self.name)
            .join("infrastructure-foo/v0.2.0");
        write(example, &folder);
        clusterctl.provider(
            "foo",
            "InfrastructureProvider",
            &folder.join(COMPONENTS).display().to_string(),
        );
        let finished = match self.by {
            By::Provider => {
                clusterctl.run(&["generate", "provider", "--infrastructure", "foo:v0.2.0"])
            }
            By::Cluster => {
                // clusterctl tries classes out in the cluster.
                clusterctl.succeed(&["init", "--infrastructure", "foo:v0.2.0"]);
                self.generate_cluster(&clusterctl, example)
            }
            _ => clusterctl.run(&["init", "--infrastructure", "foo:v0.2.0"]),
        };
        if matches!(self.by, By::Cluster | By::Init) {
            self.remove();
        }
        (finished.code != Some(0)).then_some(finished.stderr)
    }

    /// Applies the CRDs of the release before, and then those of the release.
    fn upgrade(&self, example: &Example) -> Option<String> {
        let crds = |below: &str| {
            let components = release(shared::checkout(), example, below);
            let text = std::str::from_utf8(components.get(COMPONENTS).unwrap())
                .unwrap()
                .to_owned();
            documents(&text)
                .into_iter()
                .filter(|object| object["kind"] == "CustomResourceDefinition")
                .collect::<Vec<_>>()
        };
        for crd in crds("previous/") {
            components::give(self.plane, &crd, SOON, |_| false);
            wait::until("the CRD to be established", SOON, || {
                let found = self
                    .plane
                    .api
                    .read(&self.plane.api.path_of(&crd))
                    .map_err(|rejection| rejection.to_string())?;
                let conditions = found["status"]["conditions"]
                    .as_array()
                    .into_iter()
                    .flatten();
                let mut established = conditions.filter(|condition| {
                    condition["type"] == "Established" && condition["status"] == "True"
                });
                if established.next().is_some() {
                    Ok(())
                } else {
                    Err("not yet".to_owned())
                }
            });
        }
        let rejection = crds("")
            .iter()
            .find_map(|crd| self.plane.api.apply(crd).err());
        self.remove();
        rejection.map(|rejection| rejection.to_string())
    }

    /// The flavor of the example's template.
    fn generate_cluster(&self, clusterctl: &Clusterctl<'_>, example: &Example) -> Finished {
        let flavor = example
            .keys()
            .find_map(|path| {
                path.strip_prefix("cluster-template-")?
                    .strip_suffix(".yaml")
            })
            .unwrap_or_default();
        let mut arguments = vec![
            "generate",
            "cluster",
            "x",
            "--infrastructure",
            "foo:v0.2.0",
            "--kubernetes-version",
            "v1.34.0",
        ];
        if !flavor.is_empty() {
            arguments.extend(["--flavor", flavor]);
        }
        clusterctl.run(&arguments)
    }

    /// Removes what an installation left, whole or not, and waits until it is gone.
    ///
    /// The API server loses a deleted CRD whose storage is just being made: the finalizer's first
    /// try fails, its second, 5 ms later, still reads the object from before the first, meets a
    /// conflict, and counts on an event that its own filter drops (`crd_finalizer.go`: `sync`,
    /// `updateCustomResourceDefinition`). Only the resync after 5 minutes, or a change that is
    /// not of its own condition, takes it up again; such a change is made every few seconds.
    fn remove(&self) {
        const ROUNDS_BETWEEN_CHANGES: usize = 30;
        let is_left = |object: &Value| {
            object["metadata"]["labels"]["cluster.x-k8s.io/provider"] == "infrastructure-foo"
                && object["kind"] != "Namespace"
        };
        let mut rounds = 0;
        wait::until("what the example installed to be gone", SOON, || {
            let left: Vec<Value> = self
                .plane
                .api
                .everything()
                .into_iter()
                .filter(is_left)
                .collect();
            rounds += 1;
            for object in &left {
                if object["metadata"]["deletionTimestamp"].is_null() {
                    // What is gone with its owner is gone.
                    let _ = self.plane.api.delete(object);
                } else if rounds % ROUNDS_BETWEEN_CHANGES == 0 {
                    let change =
                        json!({ "metadata": { "annotations": { "changed": rounds.to_string() } } });
                    let _ = self.plane.api.merge(object, &change);
                }
            }
            if left.is_empty() {
                Ok(())
            } else {
                Err(format!("{} objects: {}", left.len(), left[0]))
            }
        });
    }
}

/// Writes the release of an example as a folder of a local repository.
fn write(example: &Example, folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    for (path, bytes) in &release(shared::checkout(), example, "") {
        std::fs::write(folder.join(path), bytes).unwrap();
    }
}
