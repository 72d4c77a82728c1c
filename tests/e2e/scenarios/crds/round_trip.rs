//! Conversion through the real API server, by our own webhook function.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_capi::api::names::Version;
use windlass_capi::contract::manager::CONVERSION_PATH;
use windlass_release::emit::crds::{conversion_clause, crds};

use super::schema_walk::{Place, embed, object, places};
use super::{SOON, install};
use crate::harness::api_server::ApiServer;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{redirect, wait};

const SERVICE: (&str, &str) = ("windlass-system", "windlass-webhook-service");

/// For every value that a schema can hold, in both versions: the object is applied, applying it
/// again changes nothing, it is read in the other version and written back from there, and then is
/// what it was.
pub(crate) fn both_versions_round_trip(context: &Context) {
    let plane = context.control_plane();
    let crds = install_converting(&plane);
    let mut faults = Vec::new();
    let mut count = 0;
    for (crd, from, to) in crds.iter().flat_map(|crd| {
        [
            (crd, Version::V1Beta1, Version::V1Beta2),
            (crd, Version::V1Beta2, Version::V1Beta1),
        ]
    }) {
        let versions = crd["spec"]["versions"].as_array().unwrap();
        let root = &versions
            .iter()
            .find(|entry| entry["name"] == from.as_str())
            .unwrap()["schema"]["openAPIV3Schema"];
        let trip = Trip {
            api: &plane.api,
            kind: crd["spec"]["names"]["kind"].as_str().unwrap(),
            root,
            from,
            to,
        };
        for place in ["spec", "status"]
            .into_iter()
            .flat_map(|field| places(root, field))
            .filter(Place::is_leaf)
        {
            count += 1;
            faults.extend(trip.of(&place, &format!("trip-{from}-{count}")).err());
        }
    }
    println!("  {count} values went there and back");
    assert!(
        faults.is_empty(),
        "{} of {count} values did not come back:\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(count > 800, "only {count} values");
}

/// Our CRDs as a release has them, converted by our own function.
fn install_converting(plane: &ControlPlane) -> Vec<Value> {
    let port = plane.serve(
        [(
            CONVERSION_PATH.to_owned(),
            Arc::new(windlass_capi::conversion::review) as _,
        )]
        .into(),
    );
    let mut crds = crds().to_vec();
    for crd in &mut crds {
        crd["spec"]["conversion"] = conversion_clause(SERVICE.1, SERVICE.0);
    }
    install(&plane.api, &crds);
    let redirected = redirect::services(
        plane,
        &[((SERVICE.0.to_owned(), SERVICE.1.to_owned()), port)].into(),
    );
    assert_eq!(redirected, crds.len());
    crds
}

struct Trip<'a> {
    api: &'a ApiServer,
    kind: &'a str,
    root: &'a Value,
    from: Version,
    to: Version,
}

impl Trip<'_> {
    fn of(&self, place: &Place<'_>, name: &str) -> Result<(), String> {
        let field = if place.path().starts_with("status") {
            "status"
        } else {
            "spec"
        };
        let content = embed(
            &self.root["properties"][field],
            &place.steps[1..],
            &place.minimal(),
        );
        let mut object = object(self.root, serde_json::Map::new());
        object["apiVersion"] = json!(self.from.api_version());
        object["kind"] = json!(self.kind);
        object["metadata"] = json!({"name": name, "labels": {"a": "b"}, "annotations": {"c": "d"}});
        if object["spec"].is_null() {
            object["spec"] = json!({"format": "cloud-config"});
        }
        let sent = if field == "spec" {
            object["spec"] = content.clone();
            self.apply_twice(&object)
        } else {
            self.apply_twice(&object)
                .and_then(|()| self.write_status(&object, &content))
        };
        let returned = sent.and_then(|()| self.there_and_back(name, field));
        let returned = returned
            .map_err(|reason| format!("{} {} {}: {reason}", self.from, self.kind, place.path()))?;
        let mut expected = json!({ field: content });
        // The same two defaults as ever, which the walk over the constraints lists.
        windlass_schema::Schema::from_json(self.root)
            .unwrap()
            .apply_defaults(&mut expected);
        let annotations = &returned["metadata"]["annotations"];
        if returned[field] != expected[field] || *annotations != json!({"c": "d"}) {
            return Err(format!(
                "{} {} {}: {} became {}, annotations {annotations}",
                self.from,
                self.kind,
                place.path(),
                expected[field],
                returned[field]
            ));
        }
        Ok(())
    }

    fn apply_twice(&self, object: &Value) -> Result<(), String> {
        // The first conversions may come before the API server has heard of the redirection.
        let first = wait::until("conversion", SOON, || match self.api.apply(object) {
            Err(rejection) if rejection.code == 500 => Err(rejection.to_string()),
            answer => Ok(answer),
        });
        let first = first.map_err(|rejection| rejection.to_string())?;
        let second = self
            .api
            .try_apply(object)
            .map_err(|rejection| rejection.to_string())?;
        if first == second {
            Ok(())
        } else {
            Err(format!("applied again, {first} became {second}"))
        }
    }

    fn write_status(&self, object: &Value, status: &Value) -> Result<(), String> {
        self.api
            .merge_status(object, status)
            .map(|_| ())
            .map_err(|rejection| rejection.to_string())
    }

    /// Reads the object in the other version, writes that back, and reads it in its own version.
    fn there_and_back(&self, name: &str, field: &str) -> Result<Value, String> {
        let get = |version: Version| {
            self.api
                .get(&version.api_version(), self.kind, Some("default"), name)
        };
        let run = || {
            let other = get(self.to)?;
            let path = self.api.path_of(&other);
            let path = if field == "status" {
                format!("{path}/status")
            } else {
                path
            };
            self.api.request(
                "PUT",
                &format!("{path}?fieldValidation=Strict"),
                "application/json",
                Some(&other),
            )?;
            get(self.from)
        };
        run().map_err(|rejection| rejection.to_string())
    }
}
