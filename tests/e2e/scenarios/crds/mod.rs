//! Our CRDs on the real API server: taken without a complaint, and every constraint in them holds.

mod breakages;
mod examples;
mod round_trip;
mod schema_walk;
mod webhooks;

pub(crate) use round_trip::both_versions_round_trip;
pub(crate) use webhooks::{webhook_rules_reject, webhooks_warn};

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_schema::{Schema, Verdict};
use windlass_source::budget::Budget;

use crate::harness::api_server::{Answer, ApiServer};
use crate::harness::runner::Context;
use crate::harness::wait;
use breakages::Breakage;
use schema_walk::{Place, embed, minimal, places};

/// The only defaults, all of `EnvVarSource` of core/v1, whose schema upstream and we take over:
/// Kubernetes reads absent as this value.
const DEFAULTS: &[&str] = &[
    "configMapKeyRef.name",
    "secretKeyRef.name",
    "fileKeyRef.optional",
];
/// An object that is there, so that its status can be written.
const EXISTING: &str = "existing";
const SOON: Duration = Duration::from_secs(30);

/// Applies CRDs and waits until the server serves them.
fn install(api: &ApiServer, crds: &[Value]) {
    for crd in crds {
        api.apply(crd).unwrap_or_else(|rejection| {
            panic!(
                "the server rejects {}: {rejection}",
                crd["metadata"]["name"]
            )
        });
    }
    for crd in crds {
        let name = crd["metadata"]["name"].as_str().unwrap();
        wait::until(&format!("{name} to be served"), SOON, || {
            let found = api
                .get(
                    "apiextensions.k8s.io/v1",
                    "CustomResourceDefinition",
                    None,
                    name,
                )
                .map_err(|rejection| rejection.to_string())?;
            let conditions = found["status"]["conditions"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let is = |kind: &str| {
                conditions
                    .iter()
                    .any(|condition| condition["type"] == kind && condition["status"] == "True")
            };
            if is("Established") && is("NamesAccepted") {
                Ok(())
            } else {
                Err(found["status"].to_string())
            }
        });
    }
}

/// Our CRDs with a version stored as it is, so that what comes back was not converted.
fn storing(version: &str) -> Vec<Value> {
    let mut crds = windlass_release::emit::crds::crds().to_vec();
    for entry in crds
        .iter_mut()
        .flat_map(|crd| crd["spec"]["versions"].as_array_mut().unwrap())
    {
        entry["storage"] = json!(entry["name"] == version);
    }
    crds
}

/// The server takes the CRDs by strict server-side apply, says Established and NamesAccepted, and
/// has nothing to say about the structure of the schemas; applying them again changes nothing.
pub(crate) fn are_established(context: &Context) {
    let plane = context.shared();
    let crds = windlass_release::emit::crds::crds();
    install(&plane.api, &crds);
    for crd in &crds {
        let name = crd["metadata"]["name"].as_str().unwrap();
        let get = || {
            plane
                .api
                .get(
                    "apiextensions.k8s.io/v1",
                    "CustomResourceDefinition",
                    None,
                    name,
                )
                .unwrap()
        };
        let found = get();
        let conditions = found["status"]["conditions"].as_array().unwrap();
        assert!(
            !conditions
                .iter()
                .any(|condition| condition["type"] == "NonStructuralSchema"),
            "{name}: {conditions:?}"
        );
        assert_eq!(
            found["status"]["acceptedNames"], crd["spec"]["names"],
            "{name}"
        );
        assert_eq!(
            found["status"]["storedVersions"],
            json!(["v1beta2"]),
            "{name}"
        );
        plane.api.apply(crd).unwrap();
        assert_eq!(
            get()["metadata"]["resourceVersion"],
            found["metadata"]["resourceVersion"],
            "applying {name} again changed it"
        );
    }
}

/// For every place of every schema the smallest object that holds it is taken, and comes back as it
/// was sent: nothing is dropped, nothing but the listed is defaulted. For every constraint there is
/// an object that breaks it, is rejected with the field named, and in the words that our own
/// validation has.
pub(crate) fn constraints_hold(context: &Context) {
    let plane = context.shared();
    let mut faults = Vec::new();
    let (mut taken, mut rejected) = (0, 0);
    for version in ["v1beta1", "v1beta2"] {
        let crds = storing(version);
        install(&plane.api, &crds);
        for crd in &crds {
            let version = crd["spec"]["versions"]
                .as_array()
                .unwrap()
                .iter()
                .find(|entry| entry["name"] == version)
                .unwrap();
            let check = Check::new(&plane.api, crd, version);
            for place in ["spec", "status"]
                .into_iter()
                .flat_map(|field| places(check.root, field))
            {
                taken += 1;
                faults.extend(check.takes(&place).err());
                if place.schema["properties"].is_object() {
                    rejected += 1;
                    faults.extend(check.rejects_unknown_field(&place).err());
                }
                for breakage in breakages::of(place.schema) {
                    rejected += 1;
                    faults.extend(check.rejects(&place, &breakage).err());
                }
            }
        }
    }
    // The real storage version again, for those who use this server after us.
    install(&plane.api, &windlass_release::emit::crds::crds());
    println!("  {taken} places taken, {rejected} breakages rejected");
    assert!(
        faults.is_empty(),
        "{} of {} checks failed:\n{}",
        faults.len(),
        taken + rejected,
        faults.join("\n")
    );
    assert!(
        taken > 1000 && rejected > 3000,
        "the walk found only {taken} places and {rejected} constraints"
    );
}

/// One version of one kind.
struct Check<'a> {
    api: &'a ApiServer,
    api_version: String,
    kind: &'a str,
    root: &'a Value,
    schema: Schema,
    /// What CEL rules say.
    rules: BTreeSet<&'a str>,
}

impl<'a> Check<'a> {
    fn new(api: &'a ApiServer, crd: &'a Value, version: &'a Value) -> Check<'a> {
        let root = &version["schema"]["openAPIV3Schema"];
        let text = |value: &'a Value| value.as_str().unwrap();
        let api_version = format!("{}/{}", text(&crd["spec"]["group"]), text(&version["name"]));
        let kind = text(&crd["spec"]["names"]["kind"]);
        let places = ["spec", "status"]
            .into_iter()
            .flat_map(|field| places(root, field));
        let rules = places
            .flat_map(|place| schema_walk::rules(place.schema))
            .map(|rule| text(&rule["message"]))
            .collect();
        let check = Check {
            api,
            api_version,
            kind,
            root,
            schema: Schema::from_json(root).unwrap(),
            rules,
        };
        // Statuses are written to an object that is there.
        wait::until("an object to be taken", SOON, || {
            api.apply(&check.object(EXISTING, None))
                .map_err(|rejection| rejection.to_string())
        });
        check
    }

    /// An object whose field (`spec` or `status`) is a value; everything else is the least that is
    /// valid.
    fn object(&self, name: &str, field: Option<(&str, &Value)>) -> Value {
        let mut object = schema_walk::object(self.root, serde_json::Map::new());
        object["apiVersion"] = json!(self.api_version);
        object["kind"] = json!(self.kind);
        object["metadata"] = json!({"name": name});
        if object["spec"].is_null() {
            object["spec"] = minimal(&self.root["properties"]["spec"]);
        }
        if let Some((field, value)) = field {
            object[field] = value.clone();
        }
        object
    }

    /// The object with a value at a place, and the server's answer to it.
    fn submit(&self, place: &Place<'_>, value: &Value) -> (Value, Answer) {
        let field = place.path().split(['.', '[']).next().unwrap().to_owned();
        let content = embed(&self.root["properties"][&field], &place.steps[1..], value);
        let object = self.object(
            if field == "status" { EXISTING } else { "new" },
            Some((&field, &content)),
        );
        let answer = if field == "status" {
            let path = format!(
                "{}/status?dryRun=All&fieldValidation=Strict",
                self.api.path_of(&object)
            );
            self.api.request(
                "PATCH",
                &path,
                "application/merge-patch+json",
                Some(&json!({"status": content})),
            )
        } else {
            self.api.try_create(&object)
        };
        (object, answer)
    }

    fn takes(&self, place: &Place<'_>) -> Result<(), String> {
        if place.schema.get("default").is_some()
            && !DEFAULTS.iter().any(|known| place.path().ends_with(known))
        {
            return Err(format!(
                "{} {} {}: has a default",
                self.api_version,
                self.kind,
                place.path()
            ));
        }
        let (object, answer) = self.submit(place, &place.minimal());
        let fault = |what: &str| {
            Err(format!(
                "{} {} {}: {what}\n  {object}",
                self.api_version,
                self.kind,
                place.path()
            ))
        };
        let fields = || ["spec", "status"].into_iter();
        let mut expected = object.clone();
        self.schema.apply_defaults(&mut expected);
        match answer {
            Err(rejection) => fault(&format!("rejected: {rejection}")),
            Ok(back)
                if fields()
                    .any(|field| back[field] != expected[field] && !expected[field].is_null()) =>
            {
                fault(&format!("changed: {back}"))
            }
            Ok(_) if self.schema.judge(&object, None, &Budget::default()) != Verdict::default() => {
                fault("our validation rejects it")
            }
            Ok(_) => Ok(()),
        }
    }

    fn rejects(&self, place: &Place<'_>, breakage: &Breakage) -> Result<(), String> {
        let (object, answer) = self.submit(place, &breakage.value);
        let expected = format!("{}{}", place.path(), breakage.at);
        let shown: String = object["spec"].to_string().chars().take(400).collect();
        let fault = |what: String| {
            Err(format!(
                "{} {} {}: {}: {what}\n  {shown}",
                self.api_version,
                self.kind,
                place.path(),
                breakage.constraint
            ))
        };
        let rejection = match answer {
            Ok(_) => return fault("taken".to_owned()),
            Err(rejection) => rejection,
        };
        let causes: BTreeSet<_> = rejection
            .causes()
            .into_iter()
            .map(|(field, message)| (field, self.spelt(message)))
            .collect();
        if !causes.iter().any(|(field, _)| *field == expected) {
            return fault(format!("no cause names {expected}: {rejection}"));
        }
        // When only a status is written, the server's sentences start at the status; their fields
        // do not.
        let body = |body: String| {
            if expected.starts_with("status") {
                body.replace(": status.", ": ").replace(": status ", ":  ")
            } else {
                body
            }
        };
        let verdict = self.schema.judge(&object, None, &Budget::default());
        let ours: BTreeSet<_> = verdict
            .violations
            .iter()
            .map(|found| (found.field.clone(), self.spelt(body(found.body()))))
            .collect();
        if ours != causes || !verdict.not_evaluable.is_empty() {
            return fault(format!(
                "our words differ:\n    server {causes:?}\n    ours   {ours:?} {:?}",
                verdict.not_evaluable
            ));
        }
        Ok(())
    }
}

impl Check<'_> {
    /// A message without the value that a rule rejects: servers before 1.35 give its type there,
    /// later ones the value.
    fn spelt(&self, message: String) -> String {
        match self
            .rules
            .iter()
            .find(|rule| message.starts_with("Invalid value: ") && message.ends_with(*rule))
        {
            Some(rule) => format!("Invalid value: …: {rule}"),
            None => message,
        }
    }

    /// Strict validation names a field that the schema does not have, and so do we.
    fn rejects_unknown_field(&self, place: &Place<'_>) -> Result<(), String> {
        let mut value = minimal(place.schema);
        value["noSuchField"] = json!(1);
        let (object, answer) = self.submit(place, &value);
        let expected = format!("{}.noSuchField", place.path());
        let ours: Vec<_> = self
            .schema
            .unknown_fields(&object)
            .iter()
            .map(|field| field.path.to_string())
            .collect();
        match answer {
            Err(rejection)
                if rejection
                    .message()
                    .contains(&format!("unknown field \"{expected}\"")) =>
            {
                if ours == [expected.as_str()] {
                    Ok(())
                } else {
                    Err(format!("{expected}: we find {ours:?}"))
                }
            }
            other => Err(format!("{expected}: {other:?}")),
        }
    }
}
