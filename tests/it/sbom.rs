//! `release build --sbom`: what the bill of materials takes from a document of an image's build.

use serde_json::{Value, json};

use crate::support::run;

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";

/// The image of the infrastructure provider is the second of the two, in their order.
const PROVIDERS: [(&str, &str); 2] = [
    ("InfrastructureProvider", "ghcr.io/foo/machines"),
    ("BootstrapProvider", "ghcr.io/foo/data"),
];

/// The messages of a build, and the bill of materials that it writes. A document is named as
/// `LABEL=a.json`, or as `a.json` for all managers.
fn built(label: &str, documents: &[&Value]) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let provider = |(provider_type, image): (&str, &str)| {
        format!(
            "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: {provider_type}\nnamespace: foo-system\n\
             namePrefix: {}-\nmanager: {{image: {image}}}\n",
            provider_type.to_lowercase()
        )
    };
    write("provider.yaml", &PROVIDERS.map(provider).join("---\n"));
    write("metadata.yaml", METADATA);
    let mut command = "release build v0.1.0 --to out".to_owned();
    for (at, document) in documents.iter().enumerate() {
        write(&format!("{at}.json"), &document.to_string());
        command += &format!(" --sbom {label}{at}.json");
    }
    let messages = run(folder.path(), &command).ok().stderr;
    let sbom = std::fs::read(folder.path().join("out/sbom.spdx.json")).unwrap();
    (messages, serde_json::from_slice(&sbom).unwrap())
}

/// The packages that come from documents, without their ids.
fn packages(sbom: &Value) -> Vec<Value> {
    let parts = sbom["packages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|package| package["SPDXID"].as_str().unwrap().contains("-Part-"));
    let mut parts: Vec<Value> = parts.cloned().collect();
    parts
        .iter_mut()
        .for_each(|part| drop(part.as_object_mut().unwrap().remove("SPDXID")));
    parts
}

/// The relations in which a package of a document is, as `from kind to`.
fn relations(sbom: &Value) -> Vec<String> {
    let word =
        |relation: &Value, field: &str| relation[field].as_str().unwrap().replace("SPDXRef-", "");
    let relation = |relation: &Value| {
        ["spdxElementId", "relationshipType", "relatedSpdxElement"]
            .map(|field| word(relation, field))
            .join(" ")
    };
    sbom["relationships"]
        .as_array()
        .unwrap()
        .iter()
        .map(relation)
        .filter(|relation| relation.contains("Part-"))
        .collect()
}

fn spdx(packages: &Value, more: &Value) -> Value {
    let mut document = json!({"spdxVersion": "SPDX-2.3", "packages": packages});
    more.as_object()
        .unwrap()
        .iter()
        .for_each(|(key, value)| document[key] = value.clone());
    document
}

fn cyclonedx(components: &Value, more: &Value) -> Value {
    let mut document =
        json!({"bomFormat": "CycloneDX", "specVersion": "1.6", "components": components});
    more.as_object()
        .unwrap()
        .iter()
        .for_each(|(key, value)| document[key] = value.clone());
    document
}

fn relation(from: &str, kind: &str, to: &str) -> Value {
    json!({"spdxElementId": from, "relationshipType": kind, "relatedSpdxElement": to})
}

/// SPDX 2.3, clause 7: what a package says of itself is taken over, but not what names parts of its
/// own document.
#[test]
fn packages_of_spdx_keep_what_speaks_of_them_alone() {
    let own = json!({
        "name": "a", "versionInfo": "1", "packageFileName": "a.tar", "supplier": "Organization: x", "originator": "Person: y",
        "downloadLocation": "NONE", "checksums": [{"algorithm": "SHA1", "checksumValue": "aa"}], "homepage": "https://a.dev",
        "sourceInfo": "s", "licenseConcluded": "MIT", "licenseDeclared": "MIT", "licenseComments": "c", "copyrightText": "t",
        "summary": "u", "description": "d", "comment": "o", "attributionTexts": ["z"], "primaryPackagePurpose": "LIBRARY",
        "releaseDate": "2024-01-01T00:00:00Z",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:a/a@1"}],
    });
    let mut given = own.clone();
    for (field, value) in [
        ("SPDXID", json!("SPDXRef-a")),
        ("hasFiles", json!(["SPDXRef-f"])),
        ("filesAnalyzed", json!(true)),
        (
            "packageVerificationCode",
            json!({"packageVerificationCodeValue": "aa"}),
        ),
        ("licenseInfoFromFiles", json!(["MIT"])),
        ("annotations", json!([{}])),
    ] {
        given[field] = value;
    }
    let mut expected = own;
    expected["filesAnalyzed"] = json!(false);
    let (said, sbom) = built("infrastructure-foo=", &[&spdx(&json!([given]), &json!({}))]);
    assert_eq!(packages(&sbom), [expected], "{said}");
}

/// The image contains what the document is about, or all of it where it does not say that.
#[test]
fn an_image_contains_what_a_document_is_about() {
    let packages = json!([{"SPDXID": "SPDXRef-a", "name": "a"}, {"SPDXID": "SPDXRef-b", "name": "b"}, {"SPDXID": "SPDXRef-b", "name": "c"}]);
    let image = |roots: &[usize]| {
        roots
            .iter()
            .map(|root| format!("Image-1 CONTAINS Part-0-{root}"))
            .collect::<Vec<_>>()
    };
    for (more, mut expected, further) in [
        (json!({}), image(&[0, 1, 2]), None),
        (
            json!({"documentDescribes": ["SPDXRef-b", "SPDXRef-file"]}),
            image(&[1]),
            None,
        ),
        (
            json!({"documentDescribes": ["SPDXRef-file"]}),
            image(&[0, 1, 2]),
            None,
        ),
        (
            json!({"relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-a")]}),
            image(&[0]),
            None,
        ),
        (
            json!({"relationships": [relation("SPDXRef-DOCUMENT", "AMENDS", "SPDXRef-a")]}),
            image(&[0, 1, 2]),
            None,
        ),
        (
            json!({"relationships": [relation("SPDXRef-f", "DESCRIBES", "SPDXRef-a")]}),
            image(&[0, 1, 2]),
            None,
        ),
        (
            json!({"documentDescribes": ["SPDXRef-a"], "relationships": [relation("SPDXRef-a", "DEV_TOOL_OF", "SPDXRef-b")]}),
            image(&[0]),
            Some("Part-0-0 DEV_TOOL_OF Part-0-1".to_owned()),
        ),
    ] {
        expected.extend(further);
        let (said, sbom) = built("infrastructure-foo=", &[&spdx(&packages, &more)]);
        assert_eq!(relations(&sbom), expected, "{more}: {said}");
    }
}

/// A document without a label is about each manager; that of one provider says nothing of the
/// other's.
#[test]
fn documents_are_about_the_images_of_their_provider() {
    let [first, second] =
        ["a", "b"].map(|name| cyclonedx(&json!([{"bom-ref": name, "name": name}]), &json!({})));
    let of = |label: &str| relations(&built(label, &[&first]).1);
    assert_eq!(of("infrastructure-foo="), ["Image-1 CONTAINS Part-0-0"]);
    assert_eq!(of("bootstrap-foo="), ["Image-0 CONTAINS Part-0-0"]);
    let (said, sbom) = built("bootstrap-foo=", &[&first, &second]);
    assert_eq!(
        relations(&sbom),
        ["Image-0 CONTAINS Part-0-0", "Image-0 CONTAINS Part-1-0"],
        "{said}"
    );
    // Two releases with other content never share a namespace.
    let namespace =
        |documents: &[&Value]| built("bootstrap-foo=", documents).1["documentNamespace"].clone();
    let all = [
        namespace(&[]),
        namespace(&[&first]),
        namespace(&[&second]),
        namespace(&[&first, &second]),
    ];
    assert!(
        all.iter()
            .enumerate()
            .all(|(at, name)| name.is_string() && !all[..at].contains(name)),
        "{all:?}"
    );
}

/// CycloneDX 1.6 and SPDX 2.3 have other words for the same.
#[test]
fn components_of_cyclonedx_become_packages() {
    let bare = json!({
        "name": "a", "supplier": "NOASSERTION", "downloadLocation": "NOASSERTION", "filesAnalyzed": false,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
    });
    let sum =
        |algorithm: &str, value: &str| json!({"algorithm": algorithm, "checksumValue": value});
    let hashes = json!([
        {"alg": "MD5", "content": "1"}, {"alg": "SHA-1", "content": "2"}, {"alg": "BLAKE3", "content": "3"}, {"alg": "SHA-512", "content": "4"},
    ]);
    let locator = json!([{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:npm/a@1"}]);
    for (component, differing) in [
        (json!({}), json!({})),
        (json!({"group": "g"}), json!({"name": "g/a"})),
        (
            json!({"version": "1", "purl": "pkg:npm/a@1"}),
            json!({"versionInfo": "1", "externalRefs": locator}),
        ),
        (
            json!({"copyright": "2024 x"}),
            json!({"copyrightText": "2024 x"}),
        ),
        (
            json!({"manufacturer": {"name": "m"}}),
            json!({"supplier": "Organization: m"}),
        ),
        (
            json!({"manufacturer": {"name": "m"}, "publisher": "p"}),
            json!({"supplier": "Organization: p"}),
        ),
        (
            json!({"manufacturer": {"name": "m"}, "publisher": "p", "supplier": {"name": "s"}}),
            json!({"supplier": "Organization: s"}),
        ),
        (
            json!({"hashes": hashes}),
            json!({"checksums": [sum("MD5", "1"), sum("SHA1", "2"), sum("SHA512", "4")]}),
        ),
        (
            json!({"hashes": [{"alg": "BLAKE3", "content": "3"}]}),
            json!({}),
        ),
        (
            json!({"licenses": [{"license": {"id": "MIT"}}]}),
            json!({"licenseDeclared": "MIT"}),
        ),
        (
            json!({"licenses": [{"license": {"id": "MIT"}}, {"license": {"id": "ISC"}}]}),
            json!({"licenseDeclared": "MIT AND ISC"}),
        ),
        (
            json!({"licenses": [{"expression": "MIT OR ISC"}]}),
            json!({"licenseDeclared": "MIT OR ISC"}),
        ),
        // A name is not an id of SPDX's list, and without it the rest would say less than is true.
        (
            json!({"licenses": [{"license": {"id": "MIT"}}, {"license": {"name": "Ours"}}]}),
            json!({}),
        ),
        (json!({"licenses": []}), json!({})),
    ] {
        let (mut given, mut expected) = (component.clone(), bare.clone());
        given["name"] = json!("a");
        differing
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(key, value)| expected[key] = value.clone());
        let (said, sbom) = built(
            "infrastructure-foo=",
            &[&cyclonedx(&json!([given]), &json!({}))],
        );
        assert_eq!(packages(&sbom), [expected], "{component}: {said}");
    }
}

/// What the document is about comes first, then each component before those inside of it. One
/// without an id has its number.
#[test]
fn nested_components_and_their_dependencies_are_taken_over() {
    let components = json!([
        {"bom-ref": "a", "name": "a", "components": [{"bom-ref": "b", "name": "b"}, {"name": "c"}]},
        {"bom-ref": "d", "name": "d"},
    ]);
    let dependencies = json!([
        {"ref": "root", "dependsOn": ["a", "component 3"]},
        {"ref": "a", "dependsOn": ["gone", "d"]},
        {"ref": "gone", "dependsOn": ["a"]},
    ]);
    let root = json!({"metadata": {"component": {"bom-ref": "root", "name": "r"}}, "dependencies": dependencies});
    let (said, sbom) = built("infrastructure-foo=", &[&cyclonedx(&components, &root)]);
    let names: Vec<String> = packages(&sbom)
        .iter()
        .map(|package| package["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["r", "a", "b", "c", "d"], "{said}");
    let expected = [
        "Image-1 CONTAINS Part-0-0",
        "Part-0-0 DEPENDS_ON Part-0-1",
        "Part-0-0 DEPENDS_ON Part-0-3",
        "Part-0-1 DEPENDS_ON Part-0-4",
    ];
    assert_eq!(relations(&sbom), expected, "{said}");
    let nameless = json!({"metadata": {"component": {"name": "r"}}, "dependencies": [{"ref": "component 0", "dependsOn": ["a"]}]});
    let (said, sbom) = built("infrastructure-foo=", &[&cyclonedx(&components, &nameless)]);
    assert_eq!(
        relations(&sbom),
        ["Image-1 CONTAINS Part-0-0", "Part-0-0 DEPENDS_ON Part-0-1"],
        "{said}"
    );
}

/// Texts of licences come along under names that no other document has.
#[test]
fn licences_of_a_document_come_along() {
    let own = |text: &str| json!({"hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-1", "extractedText": text}]});
    let package = json!([{"name": "a", "licenseDeclared": "MIT OR LicenseRef-1", "licenseConcluded": "LicenseRef-1"}]);
    let (said, sbom) = built(
        "infrastructure-foo=",
        &[&spdx(&package, &own("x")), &spdx(&package, &own("y"))],
    );
    let expected = [("LicenseRef-Part-0-1", "x"), ("LicenseRef-Part-1-1", "y")];
    assert_eq!(
        sbom["hasExtractedLicensingInfos"],
        json!(expected.map(|(id, text)| json!({"licenseId": id, "extractedText": text}))),
        "{said}"
    );
    let named: Vec<(Value, Value)> = packages(&sbom)
        .iter()
        .map(|package| {
            (
                package["licenseDeclared"].clone(),
                package["licenseConcluded"].clone(),
            )
        })
        .collect();
    let of = |id: &str| (json!(format!("MIT OR {id}")), json!(id));
    assert_eq!(named, expected.map(|(id, _)| of(id)));
    let (_, none) = built("infrastructure-foo=", &[&spdx(&package, &json!({}))]);
    assert_eq!(none.get("hasExtractedLicensingInfos"), None);
}
