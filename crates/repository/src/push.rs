//! `repository push`: a release as an OCI artifact. The files are layers with titles, as the
//! Cluster API operator reads them; path, tag and annotations are those of Cluster API's proposal
//! for provider manifests (docs/proposals/20260804, still in review).

use serde_json::Value;

use windlass_capi::contract::{METADATA_FILE, ProviderType, operator};
use windlass_release::assets::Assets;
use windlass_release::emit::sbom::SBOM_FILE;
use windlass_release::oci::Annotations;
use windlass_release::oci::artifact::{Artifact, artifact, is_file_name};
use windlass_release::oci::reference::is_tag;
use windlass_source::diag::{Diagnostic, Place, Report, rules};
use windlass_source::tree::Tree;

pub use windlass_release::oci::MANIFEST as MANIFEST_TYPE;
pub use windlass_release::oci::artifact::MOST_MANIFEST;
pub use windlass_release::oci::layout::{Beside, beside};
pub use windlass_release::oci::reference::{Reference, Store, parse as reference};

rules! {
    /// the version of a release cannot be the tag of an artifact
    TAG_IMPOSSIBLE = error("artifact-version-untaggable"), url("https://semver.org/#spec-item-10");
    /// the tag of an artifact differs from the version of its release
    TAG_OTHER = warning("artifact-tag-other");
    /// the release folder contains providers of different versions
    VERSIONS_MIXED = error("artifact-versions-mixed");
    /// the name of a release file cannot be the title of an artifact layer
    TITLE_REJECTED = error("artifact-title-rejected");
}

/// A release that can be pushed.
#[derive(Debug)]
pub struct Packed {
    /// The artifact with its layers.
    pub artifact: Artifact,
    /// The tag: what was asked for, else the version.
    pub tag: String,
    /// What the last parts of the repository's path are by the proposal:
    /// `manifests/bootstrap-windlass`; only of one provider.
    pub path: Option<String>,
}

/// The artifact of a release, under the tag that was asked for or its version. `None` when
/// something of it is wrong, which the report says.
pub fn pack(
    files: &Tree,
    shown: &str,
    providers: &[Assets],
    tag: Option<&str>,
) -> (Option<Packed>, Report) {
    let mut report = Report::new();
    let place = |file: &str| Place::file(format!("{}/{file}", shown.trim_end_matches('/')));
    let Some(first) = providers.first() else {
        return (None, report);
    };
    let version = format!("v{}", first.version);
    if let Some(other) = providers
        .iter()
        .find(|assets| assets.version != first.version)
    {
        let message = format!(
            "{} is {version} and {} is v{}: an artifact has one version",
            first.label, other.label, other.version
        );
        let finding = Diagnostic::of(&VERSIONS_MIXED, message).at(place(&other.components));
        report.push(finding.help("push them one by one"));
    }
    if !is_tag(&version) {
        let finding = Diagnostic::of(
            &TAG_IMPOSSIBLE,
            format!("{version} is not a tag of an artifact: it has a `+`, or is too long"),
        );
        report.push(
            finding
                .at(place(METADATA_FILE))
                .help("leave the build metadata out"),
        );
    }
    if let Some(tag) = tag.filter(|tag| *tag != version) {
        let message = format!(
            "the tag is {tag}, and the release {version}: the Cluster API operator looks for the version, unless it is configured"
        );
        let finding = Diagnostic::of(&TAG_OTHER, message).at(place(METADATA_FILE));
        report.push(finding.help(format!("use the tag {version}")));
    }
    for path in files.paths().filter(|path| !is_file_name(path)) {
        let finding = Diagnostic::of(
            &TITLE_REJECTED,
            format!(
                "`{}` cannot be the name of a file of an artifact",
                path.escape_debug()
            ),
        );
        report.push(
            finding
                .at(place(path))
                .help("rename the file, or leave it out"),
        );
    }
    if report.has_errors() {
        return (None, report);
    }
    let titled = with_operators_names(files, providers);
    let artifact = artifact(&titled, &annotations(files, providers, &version));
    let path = (providers.len() == 1).then(|| format!("manifests/{}", title(first)));
    (
        Some(Packed {
            artifact,
            tag: tag.map_or(version, str::to_owned),
            path,
        }),
        report,
    )
}

/// The files, with the components also under the names by which the operator looks for them, where
/// those are others.
fn with_operators_names(files: &Tree, providers: &[Assets]) -> Tree {
    let mut titled = files.clone();
    for assets in providers {
        let name = operator::components_file(assets.provider_type);
        if let Some(bytes) = files
            .get(&assets.components)
            .filter(|_| files.get(&name).is_none())
        {
            titled.insert(name, bytes);
        }
    }
    titled
}

/// `{type}-{name}`.
fn title(assets: &Assets) -> String {
    format!("{}-{}", assets.provider_type.word(), assets.name)
}

/// The proposal's annotations. Of several providers in one artifact it knows nothing; they have a
/// common title.
fn annotations(files: &Tree, providers: &[Assets], version: &str) -> Annotations {
    let titles: Vec<String> = providers.iter().map(title).collect();
    let mut annotations = Annotations::from([
        (
            "org.opencontainers.image.title".to_owned(),
            titles.join("+"),
        ),
        (
            "org.opencontainers.image.version".to_owned(),
            version.to_owned(),
        ),
    ]);
    if let Some(source) = source(files) {
        annotations.insert("org.opencontainers.image.source".to_owned(), source);
    }
    if let [only] = providers {
        annotations.insert(
            "cluster-api.sigs.k8s.io/provider-type".to_owned(),
            proposed_word(only.provider_type).to_owned(),
        );
        annotations.insert(
            "cluster-api.sigs.k8s.io/provider-name".to_owned(),
            only.name.clone(),
        );
    }
    annotations
}

/// The proposal's word for a type, which is neither clusterctl's nor the operator's.
fn proposed_word(provider_type: ProviderType) -> &'static str {
    match provider_type {
        ProviderType::ControlPlaneProvider => "controlPlane",
        other => operator::word(other),
    }
}

/// The home of the project, as the SBOM of the release has it.
fn source(files: &Tree) -> Option<String> {
    let sbom: Value = serde_json::from_slice(files.get(SBOM_FILE)?).ok()?;
    let home = sbom["packages"][0]["homepage"].as_str()?;
    home.starts_with("https://").then(|| home.to_owned())
}

#[cfg(test)]
mod tests {
    use semver::Version;

    use super::*;

    fn assets(provider_type: ProviderType, version: &str) -> Assets {
        Assets {
            label: provider_type.label("x"),
            name: "x".to_owned(),
            provider_type,
            components: provider_type.components_file(),
            version: Version::parse(version).unwrap(),
            contract: "v1beta2".to_owned(),
        }
    }

    fn packed(
        files: &[&str],
        providers: &[Assets],
        tag: Option<&str>,
    ) -> (Option<(Value, String)>, Vec<&'static str>) {
        let files: Tree = files
            .iter()
            .map(|path| ((*path).to_owned(), path.as_bytes().to_vec()))
            .collect();
        let (packed, report) = pack(&files, "out", providers, tag);
        let manifest = packed.map(|packed| {
            (
                serde_json::from_slice(&packed.artifact.manifest).unwrap(),
                packed.tag,
            )
        });
        (
            manifest,
            report
                .findings()
                .iter()
                .map(|finding| finding.rule.id)
                .collect(),
        )
    }

    /// `NewMapStore` of the operator: `{type}-components.yaml` with its own word for the type.
    #[test]
    fn the_operator_finds_the_components_of_every_type() {
        let words = [
            "core",
            "bootstrap",
            "control-plane",
            "infrastructure",
            "ipam",
            "runtimeextension",
            "addon",
        ];
        let proposed = [
            "core",
            "bootstrap",
            "controlPlane",
            "infrastructure",
            "ipam",
            "runtimeextension",
            "addon",
        ];
        for (index, provider_type) in ProviderType::ALL.into_iter().enumerate() {
            let assets = assets(provider_type, "1.0.0");
            let (made, found) = packed(
                &["metadata.yaml", &assets.components],
                std::slice::from_ref(&assets),
                None,
            );
            let (manifest, tag) = made.unwrap();
            assert!(found.is_empty() && tag == "v1.0.0");
            let layers = manifest["layers"].as_array().unwrap();
            let titled = |title: &str| {
                layers
                    .iter()
                    .find(|layer| layer["annotations"]["org.opencontainers.image.title"] == title)
            };
            let own = titled(&assets.components).unwrap();
            assert_eq!(
                titled(&format!("{}-components.yaml", words[index])).unwrap()["digest"],
                own["digest"]
            );
            assert_eq!(
                manifest["annotations"]["cluster-api.sigs.k8s.io/provider-type"],
                proposed[index]
            );
            assert_eq!(
                manifest["annotations"]["cluster-api.sigs.k8s.io/provider-name"],
                "x"
            );
        }
    }

    #[test]
    fn what_cannot_be_pushed_is_found() {
        let (bootstrap, other) = (
            assets(ProviderType::BootstrapProvider, "1.0.0"),
            assets(ProviderType::ControlPlaneProvider, "1.0.1"),
        );
        assert_eq!(
            packed(&["metadata.yaml"], &[bootstrap.clone(), other], None).1,
            ["artifact-versions-mixed"]
        );
        assert_eq!(
            packed(
                &["metadata.yaml"],
                &[assets(ProviderType::AddonProvider, "1.0.0+a")],
                None
            )
            .1,
            ["artifact-version-untaggable"]
        );
        assert_eq!(
            packed(&["a:b"], std::slice::from_ref(&bootstrap), None).1,
            ["artifact-title-rejected"]
        );
        let (made, found) = packed(&["metadata.yaml"], &[bootstrap], Some("latest"));
        assert_eq!(
            (made.unwrap().1.as_str(), found),
            ("latest", vec!["artifact-tag-other"])
        );
    }

    /// Of one provider the proposal knows path, name and type; of several only a common title.
    #[test]
    fn path_and_annotations_are_those_of_the_proposal() {
        let sbom = |homepage: &str| format!("{{\"packages\": [{{\"homepage\": \"{homepage}\"}}]}}");
        let (one, two) = (
            assets(ProviderType::BootstrapProvider, "1.0.0"),
            assets(ProviderType::ControlPlaneProvider, "1.0.0"),
        );
        let of = |providers: &[Assets], homepage: &str| {
            let files = [
                ("metadata.yaml", "m".to_owned()),
                (SBOM_FILE, sbom(homepage)),
            ];
            let files: Tree = files
                .into_iter()
                .map(|(path, text)| (path.to_owned(), text.into_bytes()))
                .collect();
            let packed = pack(&files, "out", providers, None).0.unwrap();
            let manifest: Value = serde_json::from_slice(&packed.artifact.manifest).unwrap();
            let annotation = |key: &str| manifest["annotations"][key].as_str().map(str::to_owned);
            let source = annotation("org.opencontainers.image.source");
            (
                packed.path,
                annotation("org.opencontainers.image.title").unwrap(),
                source,
                annotation("cluster-api.sigs.k8s.io/provider-name"),
            )
        };
        let home = "https://github.com/a/b".to_owned();
        let expected = (
            Some("manifests/bootstrap-x".to_owned()),
            "bootstrap-x".to_owned(),
            Some(home.clone()),
            Some("x".to_owned()),
        );
        assert_eq!(of(std::slice::from_ref(&one), &home), expected);
        assert_eq!(
            of(&[one, two], "http://a.example"),
            (None, "bootstrap-x+control-plane-x".to_owned(), None, None)
        );
    }

    #[test]
    fn findings_say_what_does_not_fit_and_where() {
        let told = |files: &[&str], providers: &[Assets], tag: Option<&str>| {
            let files: Tree = files
                .iter()
                .map(|path| ((*path).to_owned(), Vec::new()))
                .collect();
            let (packed, report) = pack(&files, "out/", providers, tag);
            let told = |finding: &Diagnostic| {
                format!(
                    "{}: {}",
                    finding.place.file.as_deref().unwrap(),
                    finding.message
                )
            };
            (
                packed.map(|packed| packed.tag),
                report.findings().iter().map(told).collect::<Vec<_>>(),
            )
        };
        let (one, two) = (
            assets(ProviderType::BootstrapProvider, "1.0.0"),
            assets(ProviderType::ControlPlaneProvider, "1.0.1"),
        );
        let alone = std::slice::from_ref(&one);
        assert_eq!(
            told(&["a"], alone, Some("v1.0.0")),
            (Some("v1.0.0".to_owned()), vec![])
        );
        let mixed =
            "bootstrap-x is v1.0.0 and control-plane-x is v1.0.1: an artifact has one version";
        assert_eq!(
            told(&[], &[one.clone(), two], None),
            (
                None,
                vec![format!("out/control-plane-components.yaml: {mixed}")]
            )
        );
        let other = "the tag is new, and the release v1.0.0: the Cluster API operator looks for the version, unless it is configured";
        assert_eq!(
            told(&["a"], alone, Some("new")),
            (
                Some("new".to_owned()),
                vec![format!("out/metadata.yaml: {other}")]
            )
        );
        let rejected = "`a:b` cannot be the name of a file of an artifact".to_owned();
        assert_eq!(
            told(&["a", "a:b"], alone, None),
            (None, vec![format!("out/a:b: {rejected}")])
        );
        assert_eq!(told(&["a"], &[], None), (None, vec![]));
    }

    /// What a release has under the operator's name already stays.
    #[test]
    fn a_file_of_the_operators_name_is_left_as_it_is() {
        let assets = assets(ProviderType::RuntimeExtensionProvider, "1.0.0");
        let files: Tree = [
            (assets.components.clone(), b"ours".to_vec()),
            (
                "runtimeextension-components.yaml".to_owned(),
                b"theirs".to_vec(),
            ),
        ]
        .into_iter()
        .collect();
        assert_eq!(with_operators_names(&files, &[assets]), files);
    }
}
