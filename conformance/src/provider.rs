//! The provider under test, as its CRDs describe it.

use serde_json::Value;
use windlass_capi::contract::labels;

use crate::api::Kind;
use crate::history::Completion;

/// The contracts whose rules are checked, the newest first.
pub(crate) const CONTRACTS: [&str; 2] = ["v1beta2", "v1beta1"];

/// A provider's config kind under one contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Provider {
    /// The config in the version that Cluster API uses for the contract.
    pub(crate) config: Kind,
    /// The config's template in the same version, if its CRD is installed.
    pub(crate) template: Option<Kind>,
    pub(crate) contract: &'static str,
    /// The value of the label `cluster.x-k8s.io/provider` of the CRD.
    pub(crate) name: Option<String>,
}

impl Provider {
    /// Finds the kind of a sample among the CRDs of the cluster.
    ///
    /// # Errors
    /// The message for the user, if the kind is not installed, or not for the contract.
    pub(crate) fn find(
        crds: &[Value],
        sample: &Value,
        wanted: Option<&str>,
    ) -> Result<Provider, String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&sample["apiVersion"]), text(&sample["kind"]));
        let kind = kind.trim_end_matches("Template");
        let group = api_version.split('/').next().unwrap_or_default();
        let crd_of = |kind: &str| {
            crds.iter()
                .find(|crd| crd["spec"]["group"] == group && crd["spec"]["names"]["kind"] == kind)
        };
        let crd = crd_of(kind).ok_or_else(|| {
            format!("the cluster has no CustomResourceDefinition of {kind} in the group {group}: install the provider, or name its components with --components")
        })?;
        let found = CONTRACTS
            .into_iter()
            .filter(|contract| wanted.is_none_or(|wanted| wanted == *contract));
        let labelled = found.filter_map(|contract| Some((contract, version_of(crd, contract)?)));
        let Some((contract, version)) = labelled.into_iter().next() else {
            let of = wanted.map_or_else(|| CONTRACTS.join(" or "), str::to_owned);
            return Err(format!(
                "the CustomResourceDefinition of {kind} has no label {}{of} with a served version, so Cluster API does not use it under that contract (BC-15)",
                labels::CONTRACT_PREFIX
            ));
        };
        let kind_of = |crd: &Value, version: &str| {
            let names = &crd["spec"]["names"];
            Kind::new(
                &format!("{group}/{version}"),
                &text(&names["kind"]),
                &text(&names["plural"]),
            )
        };
        let template = crd_of(&format!("{kind}Template"))
            .and_then(|crd| Some(kind_of(crd, &version_of(crd, contract)?)));
        Ok(Provider {
            config: kind_of(crd, &version),
            template,
            contract,
            name: crd["metadata"]["labels"][labels::PROVIDER]
                .as_str()
                .map(str::to_owned),
        })
    }

    /// How this contract reports completion.
    pub(crate) fn completion(&self) -> Completion {
        match self.contract {
            "v1beta1" => Completion::Ready,
            _ => Completion::DataSecretCreated,
        }
    }
}

/// The last served version that the label of a contract names (BC-17).
fn version_of(crd: &Value, contract: &str) -> Option<String> {
    let label =
        crd["metadata"]["labels"][format!("{}{contract}", labels::CONTRACT_PREFIX)].as_str()?;
    let versions = crd["spec"]["versions"].as_array()?;
    label
        .split(labels::CONTRACT_VERSIONS_SEPARATOR)
        .rfind(|name| {
            versions
                .iter()
                .any(|version| version["name"] == *name && version["served"] == true)
        })
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn crd(kind: &str, labels: Value) -> Value {
        json!({"metadata": {"labels": labels}, "spec": {
            "group": "bootstrap.example.com",
            "names": {"kind": kind, "plural": format!("{}s", kind.to_lowercase())},
            "versions": [{"name": "v1", "served": true}, {"name": "v2", "served": true}, {"name": "v3", "served": false}],
        }})
    }

    #[test]
    fn newest_contract_and_last_served_version_win() {
        let labels =
            json!({"cluster.x-k8s.io/v1beta1": "v1", "cluster.x-k8s.io/v1beta2": "v1_v2_v3"});
        let crds = [
            crd("HarbourConfig", labels.clone()),
            crd("HarbourConfigTemplate", labels),
        ];
        let sample = json!({"apiVersion": "bootstrap.example.com/v1", "kind": "HarbourConfig"});
        let provider = Provider::find(&crds, &sample, None).unwrap();
        assert_eq!(
            (provider.contract, provider.config.api_version.as_str()),
            ("v1beta2", "bootstrap.example.com/v2")
        );
        assert_eq!(provider.template.unwrap().plural, "harbourconfigtemplates");
        let older = Provider::find(&crds, &sample, Some("v1beta1")).unwrap();
        assert_eq!(
            (older.config.api_version.as_str(), older.completion()),
            ("bootstrap.example.com/v1", Completion::Ready)
        );
    }

    #[test]
    fn unlabelled_and_missing_kinds_are_rejected() {
        let sample = json!({"apiVersion": "bootstrap.example.com/v1", "kind": "HarbourConfig"});
        let missing = Provider::find(&[], &sample, None).unwrap_err();
        assert!(missing.contains("--components"), "{missing}");
        let unlabelled =
            Provider::find(&[crd("HarbourConfig", json!({}))], &sample, None).unwrap_err();
        assert!(unlabelled.contains("BC-15"), "{unlabelled}");
    }
}
