//! `repository configmap`: a release as the ConfigMaps that the Cluster API operator reads
//! (`fetchConfig.selector`), with the object that refers to them. Names and labels are those of the
//! ConfigMaps that the operator makes itself (v0.28, `TemplateManifestsConfigMap`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use windlass_capi::contract::{METADATA_FILE, operator};
use windlass_go_yaml::goyaml;
use windlass_lint::Components;
use windlass_release::assets::Assets;
use windlass_schema::name;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Place, Report, rules};
use windlass_source::gzip;
use windlass_source::tree::Tree;

rules! {
    /// the Cluster API operator does not install providers of this contract
    CONTRACT_UNKNOWN = error("config-map-contract-unknown");
    /// a release exceeds the size limit of a ConfigMap even when compressed
    TOO_LARGE = error("config-map-too-large");
    /// the API server rejects a name that the Cluster API operator derives from the release
    NAME_REJECTED = error("config-map-name-rejected");
    /// metadata.yaml contains characters that a ConfigMap in YAML cannot represent
    UNWRITABLE = error("config-map-text-unwritable");
}

/// Bytes of all values of a ConfigMap: `MaxSecretSize` of Kubernetes' `ValidateConfigMap`, and
/// `maxConfigMapSize` of the operator, which compresses what is larger.
const MOST_BYTES: usize = 1 << 20;

/// One provider of a release as the operator reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigMap {
    /// The provider's label: `bootstrap-windlass`.
    pub provider: String,
    /// With `v`.
    pub version: String,
    /// Where it belongs: beside the provider's object, into whose namespace the operator installs.
    pub namespace: String,
    /// Whether the components are compressed.
    pub compressed: bool,
    /// Bytes of its values.
    pub bytes: usize,
    /// The ConfigMap.
    pub object: Value,
    /// The object by which the operator installs the release.
    pub installed_by: Value,
}

/// The ConfigMaps of the providers of a release, for a namespace or for that of their own
/// components. `shown` is the folder of the release.
pub fn config_maps(
    files: &Tree,
    shown: &str,
    providers: &[Assets],
    namespace: Option<&str>,
    budget: &Budget,
) -> (Vec<ConfigMap>, Report) {
    let mut report = Report::new();
    let made = providers.iter().filter_map(|assets| {
        let release = Release {
            files,
            shown,
            assets,
        };
        release
            .faults()
            .into_iter()
            .for_each(|finding| report.push(finding));
        let namespace = namespace.map_or_else(|| release.own_namespace(budget), str::to_owned);
        let made = release.config_map(namespace);
        if let Some(made) = made.as_ref().filter(|made| made.bytes > MOST_BYTES) {
            report.push(release.too_large(made.bytes));
        }
        made
    });
    let made = made.collect();
    (made, report)
}

/// The objects as YAML: the ConfigMaps, and where `with_providers` the namespaces and the objects
/// that refer to them.
///
/// # Errors
/// A text cannot be written; [`config_maps`] reports the files for which that is so.
pub fn text(maps: &[ConfigMap], with_providers: bool) -> Result<String, goyaml::EmitError> {
    let mut text = String::new();
    let mut add = |object: &Value| {
        if !text.is_empty() {
            text.push_str("---\n");
        }
        goyaml::to_string(object).map(|object| text.push_str(&object))
    };
    maps.iter().try_for_each(|map| add(&map.object))?;
    maps.iter()
        .filter(|_| with_providers)
        .try_for_each(|map| add(&map.installed_by))?;
    Ok(text)
}

/// Whether a namespace may be called so.
pub fn is_namespace(text: &str) -> bool {
    name::label_errors(text).is_empty()
}

/// One provider among the files of its release.
struct Release<'a> {
    files: &'a Tree,
    shown: &'a str,
    assets: &'a Assets,
}

impl Release<'_> {
    fn place(&self, file: &str) -> Place {
        Place::file(format!("{}/{file}", self.shown.trim_end_matches('/')))
    }

    fn version(&self) -> String {
        format!("v{}", self.assets.version)
    }

    /// `{type}-{name}-{version}`.
    fn name(&self) -> String {
        format!(
            "{}-{}-{}",
            operator::word(self.assets.provider_type),
            self.assets.name,
            self.version()
        )
    }

    /// What the operator or the API server would reject.
    fn faults(&self) -> Vec<Diagnostic> {
        let Assets {
            label,
            contract,
            components,
            ..
        } = self.assets;
        let mut faults = Vec::new();
        if !operator::CONTRACTS.contains(&contract.as_str()) {
            let message = format!(
                "{label} has the contract {contract}, and the Cluster API operator takes v1beta1 and v1beta2"
            );
            let help = "use `clusterctl init`, or a release for one of these contracts";
            faults.push(
                Diagnostic::of(&CONTRACT_UNKNOWN, message)
                    .at(self.place(METADATA_FILE))
                    .help(help),
            );
        }
        let (name, version) = (self.name(), self.version());
        let of_name = name::subdomain_errors(&name)
            .into_iter()
            .next()
            .map(|error| (name, error));
        let of_version = name::label_value_errors(&version)
            .into_iter()
            .next()
            .map(|error| (version, error));
        if let Some((name, error)) = of_version.or(of_name) {
            let message = format!(
                "the Cluster API operator requires the name or label value `{name}`, which the API server rejects"
            );
            let finding = Diagnostic::of(&NAME_REJECTED, message)
                .at(self.place(components))
                .upstream(error);
            faults.push(finding.help(
                "release a version in lower case of at most 63 characters, without build metadata",
            ));
        }
        let is_writable = self.text(METADATA_FILE).is_none_or(is_kept_by_yaml);
        if !is_writable {
            let message =
                format!("{METADATA_FILE} of {label} has characters that YAML does not keep");
            let help = "remove control characters, U+0085, U+FFFE and U+FFFF from it";
            faults.push(
                Diagnostic::of(&UNWRITABLE, message)
                    .at(self.place(METADATA_FILE))
                    .help(help),
            );
        }
        faults
    }

    fn too_large(&self, bytes: usize) -> Diagnostic {
        let Assets {
            label, components, ..
        } = self.assets;
        let message = format!(
            "{label} takes {bytes} bytes of a ConfigMap, compressed as far as it goes, and {MOST_BYTES} are allowed"
        );
        let finding = Diagnostic::of(&TOO_LARGE, message).at(self.place(components));
        finding.help("push it as an OCI artifact, and let the operator fetch that: `windlass repository push`")
    }

    fn text(&self, file: &str) -> Option<&str> {
        std::str::from_utf8(self.files.get(file)?).ok()
    }

    /// The namespace of the components, or what kubebuilder would call it.
    fn own_namespace(&self, budget: &Budget) -> String {
        let Assets {
            label, components, ..
        } = self.assets;
        let text = self.text(components).unwrap_or_default();
        let read = Components::read(Source::new(components.as_str(), text), budget);
        let of_namespace = |value: &Value| {
            (value["kind"] == "Namespace")
                .then(|| value["metadata"]["name"].as_str().map(str::to_owned))?
        };
        let named = read
            .objects()
            .iter()
            .find_map(|object| of_namespace(object.value()));
        named.unwrap_or_else(|| format!("{label}-system"))
    }

    /// The ConfigMap; `None` where a file is not text, which the check of releases has reported.
    fn config_map(&self, namespace: String) -> Option<ConfigMap> {
        let (metadata, components) = (
            self.text(METADATA_FILE)?,
            self.text(&self.assets.components)?,
        );
        let compressed =
            metadata.len() + components.len() > MOST_BYTES || !is_kept_by_yaml(components);
        let mut object = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": self.name(), "namespace": namespace, "labels": self.labels()},
            "data": {operator::METADATA_KEY: metadata},
        });
        let mut bytes = metadata.len();
        if compressed {
            let gzip = gzip::compress(components.as_bytes());
            bytes += gzip.len();
            object["metadata"]["annotations"] = json!({operator::COMPRESSED_ANNOTATION: "true"});
            object["binaryData"] = json!({operator::COMPONENTS_KEY: STANDARD.encode(gzip)});
        } else {
            bytes += components.len();
            object["data"][operator::COMPONENTS_KEY] = json!(components);
        }
        let installed_by = self.installed_by(&namespace);
        let provider = self.assets.label.clone();
        Some(ConfigMap {
            provider,
            version: self.version(),
            namespace,
            compressed,
            bytes,
            object,
            installed_by,
        })
    }

    /// `ProviderLabels` of the operator.
    fn labels(&self) -> Value {
        let Assets {
            provider_type,
            name,
            ..
        } = self.assets;
        json!({
            operator::VERSION_LABEL: self.version(),
            operator::TYPE_LABEL: operator::word(*provider_type),
            operator::NAME_LABEL: name,
            operator::MANAGED_LABEL: "true",
        })
    }

    /// The provider's object. Its selector takes the ConfigMaps of all versions, so that an upgrade
    /// is a change of `version` alone.
    fn installed_by(&self, namespace: &str) -> Value {
        let Assets {
            provider_type,
            name,
            ..
        } = self.assets;
        let labels = json!({operator::TYPE_LABEL: operator::word(*provider_type), operator::NAME_LABEL: name});
        json!({
            "apiVersion": operator::API_VERSION,
            "kind": provider_type.as_str(),
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"version": self.version(), "fetchConfig": {"selector": {"matchLabels": labels}}},
        })
    }
}

/// Whether a text comes out of YAML as it went in: [`goyaml`] writes U+0085 as Go does, which is a
/// line break to whoever reads it.
fn is_kept_by_yaml(text: &str) -> bool {
    !text.contains('\u{85}') && goyaml::to_string(&json!(text)).is_ok()
}

#[cfg(test)]
mod tests {
    use semver::Version;

    use super::*;
    use windlass_capi::contract::ProviderType;

    fn assets(provider_type: ProviderType, version: &str, contract: &str) -> Assets {
        Assets {
            label: provider_type.label("x"),
            name: "x".to_owned(),
            provider_type,
            components: provider_type.components_file(),
            version: Version::parse(version).unwrap(),
            contract: contract.to_owned(),
        }
    }

    fn made(
        assets: &Assets,
        metadata: &str,
        components: &str,
    ) -> (Vec<ConfigMap>, Vec<&'static str>) {
        let files = [
            (METADATA_FILE, metadata),
            (assets.components.as_str(), components),
        ];
        let files: Tree = files
            .into_iter()
            .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
            .collect();
        let (maps, report) = config_maps(
            &files,
            "out",
            std::slice::from_ref(assets),
            None,
            &Budget::default(),
        );
        (
            maps,
            report
                .findings()
                .iter()
                .map(|finding| finding.rule.id)
                .collect(),
        )
    }

    /// `GetType` of the operator's kinds, and `configMapName` of `TemplateManifestsConfigMap`.
    #[test]
    fn names_and_labels_are_the_operators() {
        let expected = [
            "core",
            "bootstrap",
            "control-plane",
            "infrastructure",
            "ipam",
            "runtimeextension",
            "addon",
        ];
        for (provider_type, word) in ProviderType::ALL.into_iter().zip(expected) {
            let (maps, found) = made(&assets(provider_type, "1.2.3", "v1beta2"), "m", "c");
            assert!(found.is_empty(), "{found:?}");
            let metadata = &maps[0].object["metadata"];
            assert_eq!(metadata["name"], format!("{word}-x-v1.2.3"));
            let labels = json!({
                "provider.cluster.x-k8s.io/version": "v1.2.3",
                "provider.cluster.x-k8s.io/type": word,
                "provider.cluster.x-k8s.io/name": "x",
                "managed-by.operator.cluster.x-k8s.io": "true",
            });
            assert_eq!(metadata["labels"], labels);
            assert_eq!(
                maps[0].object["data"],
                json!({"metadata": "m", "components": "c"})
            );
            assert_eq!(maps[0].installed_by["kind"], provider_type.as_str());
        }
    }

    /// `needToCompress`: more than 1048576 bytes, not as many.
    #[test]
    fn what_is_larger_than_a_config_map_is_compressed() {
        let bootstrap = assets(ProviderType::BootstrapProvider, "1.2.3", "v1beta1");
        for (size, compressed) in [(MOST_BYTES - 1, false), (MOST_BYTES, true)] {
            let components = "a".repeat(size);
            let (maps, found) = made(&bootstrap, "m", &components);
            assert_eq!((maps[0].compressed, found.len()), (compressed, 0));
            let annotation =
                &maps[0].object["metadata"]["annotations"]["provider.cluster.x-k8s.io/compressed"];
            assert_eq!(annotation == "true", compressed);
            if compressed {
                let gzip = STANDARD
                    .decode(maps[0].object["binaryData"]["components"].as_str().unwrap())
                    .unwrap();
                assert_eq!(
                    gzip::decompress(&gzip, size).unwrap(),
                    components.into_bytes()
                );
                assert_eq!(maps[0].object["data"], json!({"metadata": "m"}));
            }
        }
    }

    #[test]
    fn what_yaml_would_change_is_compressed() {
        let bootstrap = assets(ProviderType::BootstrapProvider, "1.2.3", "v1beta1");
        assert!(made(&bootstrap, "m", "a: \"\u{85}\"").0[0].compressed);
        assert_eq!(
            made(&bootstrap, "m\u{85}", "c").1,
            ["config-map-text-unwritable"]
        );
    }

    #[test]
    fn what_the_operator_rejects_is_found() {
        let found = |version: &str, contract: &str| {
            made(
                &assets(ProviderType::AddonProvider, version, contract),
                "m",
                "c",
            )
            .1
        };
        assert_eq!(found("1.2.3", "v1alpha4"), ["config-map-contract-unknown"]);
        assert_eq!(
            found("1.2.3+build", "v1beta2"),
            ["config-map-name-rejected"]
        );
        assert_eq!(found("1.2.3-RC.1", "v1beta2"), ["config-map-name-rejected"]);
        assert_eq!(
            found(&format!("1.2.3-{}", "a".repeat(63)), "v1beta2"),
            ["config-map-name-rejected"]
        );
        // Letters that no compression makes shorter than a ConfigMap.
        let mut state = 1_u64;
        let mut letter = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from(b' ' + u8::try_from((state >> 33) % 95).unwrap())
        };
        let noise: String = (0..2 * MOST_BYTES).map(|_| letter()).collect();
        assert_eq!(
            made(
                &assets(ProviderType::AddonProvider, "1.2.3", "v1beta2"),
                "m",
                &noise
            )
            .1,
            ["config-map-too-large"]
        );
    }

    /// Bytes are those of the values, as they are or compressed; the namespace is that of the
    /// components where nobody gives one.
    #[test]
    fn a_config_map_says_its_size_and_its_namespace() {
        let bootstrap = assets(ProviderType::BootstrapProvider, "1.2.3", "v1beta1");
        let namespaced = "apiVersion: v1\nkind: Service\nmetadata: {name: other}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: of-components}\n";
        for (components, bytes, namespace) in [
            ("c", Some(3), "bootstrap-x-system"),
            (namespaced, Some(2 + namespaced.len()), "of-components"),
        ] {
            let map = &made(&bootstrap, "me", components).0[0];
            assert_eq!(
                (Some(map.bytes), map.namespace.as_str(), map.compressed),
                (bytes, namespace, false)
            );
            assert_eq!(
                (
                    &map.object["metadata"]["namespace"],
                    &map.installed_by["metadata"]["namespace"]
                ),
                (&json!(namespace), &json!(namespace))
            );
        }
        let map = &made(&bootstrap, "me", &"a".repeat(MOST_BYTES)).0[0];
        let gzip = STANDARD
            .decode(map.object["binaryData"]["components"].as_str().unwrap())
            .unwrap();
        assert_eq!((map.compressed, map.bytes), (true, 2 + gzip.len()));
    }

    #[test]
    fn documents_are_set_apart() {
        let (maps, _) = made(
            &assets(ProviderType::BootstrapProvider, "1.2.3", "v1beta1"),
            "m",
            "c",
        );
        for (with_providers, kinds) in [
            (false, &["ConfigMap"][..]),
            (true, &["ConfigMap", "BootstrapProvider"]),
        ] {
            let text = text(&maps, with_providers).unwrap();
            let found: Vec<&str> = text
                .split("---\n")
                .map(|one| {
                    one.split("\nkind: ")
                        .nth(1)
                        .unwrap()
                        .lines()
                        .next()
                        .unwrap()
                })
                .collect();
            assert_eq!(found, kinds, "{text}");
        }
    }
}
