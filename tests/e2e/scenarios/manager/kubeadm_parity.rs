//! KubeadmConfigs as Cluster API's own kubeadm bootstrap manager and ours leave them.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use windlass_capi::contract::rights::{RIGHTS_AT_KUBEADM, RIGHTS_ON_KUBEADM_CONFIGS};

use super::kubeadm_turns::{OURS, ours_for};
use crate::harness::control_plane::ControlPlane;
use crate::harness::kubeadm_provider::{KubeadmProvider, LEASE, expect_holder, grant_rights};
use crate::harness::random::Random;
use crate::harness::runner::Context;
use crate::harness::{audit, components, shared, windlass as ours};
use crate::scenarios::render::corpus::subjects;
use crate::scenarios::render::provider::{Provider, RELEASE, Submitted};
use crate::scenarios::render::{KUBERNETES, random::Generator};

/// What the kubeadm provider says of one thing, what ours says instead, and why.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    (
        "DataSecretAvailable absent",
        "DataSecretAvailable False - NotAvailable",
        REJECTED,
    ),
    (
        "Ready Unknown - ReadyUnknown",
        "Ready False - NotReady",
        REJECTED,
    ),
    (
        "v1beta1 DataSecretAvailable absent",
        "v1beta1 DataSecretAvailable False Warning DataSecretGenerationFailed",
        REJECTED,
    ),
    (
        "v1beta1 Ready True - -",
        "v1beta1 Ready False Warning DataSecretGenerationFailed",
        "nothing is ready of a config without data",
    ),
    (
        "v1beta1 DataSecretAvailable False Info WaitingForControlPlaneAvailable",
        "v1beta1 DataSecretAvailable False Warning DataSecretGenerationFailed",
        NOT_WAITING,
    ),
    (
        "v1beta1 Ready False Info WaitingForControlPlaneAvailable",
        "v1beta1 Ready False Warning DataSecretGenerationFailed",
        NOT_WAITING,
    ),
];
const NEWEST: &str = "v1.14.0";
const REJECTED: &str = "of a config that cannot be rendered the provider tells its log alone";
const NOT_WAITING: &str = "a first machine whose config cannot be rendered waits for nobody";

/// What the provider's data has, what ours has in that place, and why.
const OF_DATA: [(&str, &str, &str); 1] = [(
    "ExecStart=/etc/kubeadm.sh",
    "ExecStart=/bin/bash /etc/kubeadm.sh",
    "as the newest release of Cluster API has it",
)];

/// The corpus and random configs go to the kubeadm provider; then the same, once more, to ours,
/// while the provider stands by: Secrets are equal byte for byte but for the token, and so are
/// conditions and events but for what is listed.
pub(crate) fn kubeadm_configs_as_the_kubeadm_provider(context: &Context) {
    compare(context, RELEASE);
}

/// The same with the provider of the newest release that is built here.
pub(crate) fn kubeadm_configs_as_the_newest_kubeadm_provider(context: &Context) {
    compare(context, NEWEST);
}

fn compare(context: &Context, release: &'static str) {
    let mut theirs = None;
    let mut provider = Provider::start_with(context, release, |plane| {
        theirs = Some(KubeadmProvider::start(plane, release))
    });
    let mut theirs = theirs.expect("it was started");
    let mut submitted: Vec<Submitted> = subjects()
        .into_iter()
        .map(|subject| provider.submit(subject))
        .collect();
    let schemas = ["v1beta2", "v1beta1"]
        .map(|version| (version, provider.schema(version)))
        .to_vec();
    let mut generator = Generator::new(Random::announced(), schemas, &KUBERNETES);
    submitted.extend((0..60).map(|_| provider.submit(generator.subject())));
    submitted.retain(|one| one.created.is_ok());
    provider.wait_for_data(&submitted);
    let expected: Vec<Seen> = submitted
        .iter()
        .map(|one| Seen::of(&provider, one))
        .collect();

    theirs.stop();
    let plane = &provider.plane;
    // As where the provider has never run: then ours makes it.
    plane
        .api
        .delete(&json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"namespace": LEASE[0], "name": LEASE[1]}}))
        .unwrap();
    let components = shared::checkout()
        .join("releases")
        .join(ours::LABEL)
        .join(ours::VERSION)
        .join("bootstrap-components.yaml");
    components::apply(plane, &components);
    grant_rights(plane);
    let _manager = ours_for(plane, "ours", "--kinds=KubeadmConfig");
    expect_holder(plane, "our manager", |holder| holder == OURS);
    theirs.start_again(plane);
    submitted.iter().for_each(|one| provider.submit_again(one));
    provider.wait_for_data(&submitted);
    theirs.assert_running();

    let (mut faults, mut used, mut equal) =
        (BTreeMap::<String, Vec<&str>>::new(), BTreeSet::new(), 0);
    for (one, expected) in submitted.iter().zip(&expected) {
        let seen = Seen::of(&provider, one);
        equal += usize::from(seen.secret.is_some() && expected.secret.is_some());
        for fault in seen.differences(expected, &mut used) {
            faults.entry(fault).or_default().push(&one.name);
        }
    }
    println!("  {equal} of {} have data", submitted.len());
    assert!(
        faults.is_empty(),
        "differences, and in which configs:\n{faults:#?}"
    );
    assert!(equal > 250, "only {equal} were compared");
    let known = DIFFERENCES.iter().chain(&OF_DATA);
    let unused: Vec<_> = known
        .filter(|(theirs, ours, _)| !used.contains(&(*theirs, *ours)))
        .collect();
    assert!(
        unused.is_empty(),
        "no config differs in this way: {unused:?}"
    );
    assert_rights_are_what_was_asked_for(&provider.plane);
}

/// All that the roles of the release and of the example allow is enough, and of the example's
/// nothing is idle.
fn assert_rights_are_what_was_asked_for(plane: &ControlPlane) {
    audit::assert_all_was_allowed(plane);
    let asked = audit::asked(plane);
    for right in RIGHTS_ON_KUBEADM_CONFIGS.iter().chain(RIGHTS_AT_KUBEADM) {
        for verb in right.verbs {
            let is_asked = |asked: &audit::Asked| {
                asked.verb == *verb
                    && asked.group == right.group
                    && asked.resource == right.resource
            };
            assert!(
                asked.iter().any(is_asked),
                "nobody asked to {verb} {}",
                right.resource
            );
        }
    }
}

/// What a manager made of a config.
struct Seen {
    /// Without what the API server adds, with the token replaced.
    secret: Option<Value>,
    /// Per type of condition and contract: what is said of it.
    conditions: BTreeMap<String, String>,
    /// Reasons of its events.
    events: BTreeSet<String>,
}

impl Seen {
    fn of(provider: &Provider, one: &Submitted) -> Self {
        let config = provider.config(one);
        let token = config["spec"]["joinConfiguration"]["discovery"]["bootstrapToken"]["token"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let secret = provider.data(one).map(|secret| {
            let (metadata, data) = (&secret["metadata"], &secret["data"]);
            // The config was made twice, so its uid differs.
            let mut references = metadata["ownerReferences"].clone();
            references.as_array_mut().into_iter().flatten().for_each(|reference| reference["uid"] = json!(null));
            json!({
                "labels": metadata["labels"], "annotations": metadata["annotations"], "ownerReferences": references, "type": secret["type"],
                "keys": data.as_object().map(|data| data.keys().cloned().collect::<Vec<_>>()),
                "format": text(&data["format"]), "value": without(&text(&data["value"]), &token),
            })
        });
        let conditions = [
            ("", &config["status"]["conditions"]),
            (
                "v1beta1 ",
                &config["status"]["deprecated"]["v1beta1"]["conditions"],
            ),
        ];
        let conditions = conditions.into_iter().flat_map(|(contract, list)| {
            list.as_array().into_iter().flatten().map(move |condition| {
                let said = ["status", "severity", "reason"]
                    .map(|field| condition[field].as_str().unwrap_or("-"));
                (
                    format!(
                        "{contract}{}",
                        condition["type"].as_str().unwrap_or_default()
                    ),
                    said.join(" "),
                )
            })
        });
        let events = provider
            .plane
            .api
            .list("v1", "Event", Some("default"))
            .into_iter()
            .filter(|event| {
                event["involvedObject"]["kind"] == "KubeadmConfig"
                    && event["involvedObject"]["uid"] == config["metadata"]["uid"]
            });
        Seen {
            secret,
            conditions: conditions.collect(),
            events: events.map(|event| event["reason"].to_string()).collect(),
        }
    }

    /// What is not as expected, and not listed either.
    fn differences(
        &self,
        expected: &Seen,
        used: &mut BTreeSet<(&'static str, &'static str)>,
    ) -> Vec<String> {
        let mut faults = Vec::new();
        match (&self.secret, &expected.secret) {
            (Some(ours), Some(theirs)) => {
                let mut theirs = theirs.clone();
                for (known, instead, _) in OF_DATA {
                    let text = theirs["value"].as_str().unwrap_or_default();
                    if text.contains(known) {
                        theirs["value"] = json!(text.replace(known, instead));
                        used.insert((known, instead));
                    }
                }
                faults.extend((*ours != theirs).then(|| first_difference(ours, &theirs)));
            }
            (Some(_), None) => faults.push("only ours has data".to_owned()),
            (None, Some(_)) => faults.push(format!("only theirs has data: {:?}", self.conditions)),
            (None, None) => {}
        }
        if self.events != expected.events {
            faults.push(format!(
                "events {:?} instead of {:?}",
                self.events, expected.events
            ));
        }
        let types: BTreeSet<&String> = self
            .conditions
            .keys()
            .chain(expected.conditions.keys())
            .collect();
        for name in types {
            let said = |seen: &Seen| {
                format!(
                    "{name} {}",
                    seen.conditions.get(name).map_or("absent", String::as_str)
                )
            };
            let (ours, theirs) = (said(self), said(expected));
            match DIFFERENCES
                .iter()
                .find(|(known, instead, _)| *known == theirs && *instead == ours)
            {
                _ if ours == theirs => {}
                Some((known, instead, _)) => drop(used.insert((*known, *instead))),
                None => faults.push(format!("theirs: {theirs}, ours: {ours}")),
            }
        }
        faults
    }
}

fn text(value: &Value) -> String {
    let bytes = STANDARD
        .decode(value.as_str().unwrap_or_default())
        .unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn without(text: &str, token: &str) -> String {
    if token.is_empty() {
        text.to_owned()
    } else {
        text.replace(token, "TOKEN")
    }
}

fn first_difference(ours: &Value, theirs: &Value) -> String {
    let fields = theirs
        .as_object()
        .into_iter()
        .flatten()
        .map(|(field, _)| field);
    let differs: Vec<&String> = fields
        .filter(|field| ours[*field] != theirs[*field])
        .collect();
    let [field] = differs[..] else {
        return format!("the Secrets differ in {differs:?}");
    };
    let lines = |value: &Value| {
        value
            .as_str()
            .map(|text| text.split('\n').map(str::to_owned).collect::<Vec<_>>())
            .unwrap_or_default()
    };
    let (our, their) = (lines(&ours[field]), lines(&theirs[field]));
    match our.iter().zip(&their).find(|(our, their)| our != their) {
        Some((our, their)) => format!("{field}: ours {our:?}, theirs {their:?}"),
        None => format!("{field}: ours {}, theirs {}", ours[field], theirs[field]),
    }
}
