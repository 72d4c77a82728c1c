//! The bill of materials of a release: SPDX 2.3 in JSON, the files, the images, and what their
//! builds say that these contain (<https://spdx.github.io/spdx-spec/v2.3/>).

pub mod part;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use self::part::Part;
use super::checksums::{CHECKSUMS_FILE, Summed};
use windlass_capi::contract::Image;
use windlass_provider::About;
use windlass_source::hex::hex;

/// The name of the file in a release.
pub const SBOM_FILE: &str = "sbom.spdx.json";

/// What the document says about itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The provider label, or several, joined by `+`.
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    /// Who releases it, under which license, and where.
    pub(crate) about: &'a About,
    /// When it was made: `SOURCE_DATE_EPOCH`, in seconds since 1970.
    pub(crate) epoch: i64,
}

#[derive(Debug, Clone)]
pub(crate) struct Contents<'a> {
    pub(crate) part: &'a Part,
    pub(crate) images: BTreeSet<String>,
}

/// The document. Its namespace holds the hash of all that it lists, so that two releases with other
/// content never share one.
pub(crate) fn sbom(
    subject: Subject<'_>,
    files: &[Summed<'_>],
    images: &BTreeSet<String>,
    contents: &[Contents<'_>],
) -> String {
    let mut all = Sha256::new();
    for file in files {
        all.update(file.path.as_bytes());
        all.update([0]);
        all.update(file.sum);
    }
    let sha1s: Vec<String> = files
        .iter()
        .map(|file| hex(&Sha1::digest(file.bytes)))
        .collect();
    let parts: Vec<Value> = contents
        .iter()
        .enumerate()
        .flat_map(|(index, contents)| packages_of(index, contents.part))
        .collect();
    if !parts.is_empty() {
        all.update(Value::from(parts.as_slice()).to_string());
    }
    let created = Timestamp::from_second(subject.epoch).unwrap_or(Timestamp::UNIX_EPOCH);
    let packages = [packages(subject, &sha1s, images), parts].concat();
    let relationships = [
        relationships(files.len(), images.len()),
        relationships_of(contents, images),
    ]
    .concat();
    let mut document = json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": format!("{}-{}", subject.name, subject.version),
        "documentNamespace": namespace(subject, &hex(&all.finalize())[..32]),
        "creationInfo": {
            "created": created.to_string(),
            "creators": creators(subject.about),
        },
        "packages": packages,
        "files": files.iter().zip(&sha1s).enumerate().map(|(i, (file, sha1))| of_file(i, file, sha1)).collect::<Vec<_>>(),
        "relationships": relationships,
    });
    let licences: Vec<Value> = contents
        .iter()
        .enumerate()
        .flat_map(|(index, contents)| licences_of(index, contents.part))
        .collect();
    if !licences.is_empty() {
        document["hasExtractedLicensingInfos"] = licences.into();
    }
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// SPDX 2.3, 6.5: what no other writer gives a document, at the home of the project, or at that of SPDX
/// for those who have none.
fn namespace(subject: Subject<'_>, hash: &str) -> String {
    let home = subject
        .about
        .url
        .as_deref()
        .map(|url| format!("{}/spdx", url.trim_end_matches('/')));
    let home = home.unwrap_or_else(|| "https://spdx.org/spdxdocs".to_owned());
    format!("{home}/{}-{}-{hash}", subject.name, subject.version)
}

fn creators(about: &About) -> Vec<String> {
    let supplier = about
        .supplier
        .iter()
        .map(|supplier| format!("Organization: {supplier}"));
    supplier
        .chain([format!("Tool: windlass-{}", env!("CARGO_PKG_VERSION"))])
        .collect()
}

fn of_file(index: usize, file: &Summed<'_>, sha1: &str) -> Value {
    json!({
        "SPDXID": format!("SPDXRef-File-{index}"),
        "fileName": format!("./{}", file.path),
        "checksums": [
            {"algorithm": "SHA1", "checksumValue": sha1},
            {"algorithm": "SHA256", "checksumValue": hex(&file.sum)},
        ],
        "licenseConcluded": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    })
}

fn packages(subject: Subject<'_>, sha1s: &[String], images: &BTreeSet<String>) -> Vec<Value> {
    let About {
        supplier,
        license,
        url,
    } = subject.about;
    let mut release = json!({
        "SPDXID": "SPDXRef-Release",
        "name": subject.name,
        "versionInfo": subject.version,
        "supplier": supplier.as_ref().map_or_else(|| "NOASSERTION".to_owned(), |supplier| format!("Organization: {supplier}")),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": true,
        "packageVerificationCode": {
            "packageVerificationCodeValue": verification_code(sha1s),
            // What is written when the code is known.
            "packageVerificationCodeExcludedFiles": [format!("./{SBOM_FILE}"), format!("./{CHECKSUMS_FILE}")],
        },
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": license.as_deref().unwrap_or("NOASSERTION"),
        "licenseInfoFromFiles": ["NOASSERTION"],
        "copyrightText": "NOASSERTION",
    });
    if let Some(url) = url {
        release["homepage"] = json!(url);
    }
    let images = images
        .iter()
        .enumerate()
        .map(|(i, reference)| image(i, reference));
    std::iter::once(release).chain(images).collect()
}

/// SPDX 2.3, 7.9: the SHA1 of the sorted SHA1s of all files.
fn verification_code(sha1s: &[String]) -> String {
    let mut sorted: Vec<&str> = sha1s.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    hex(&Sha1::digest(sorted.concat()))
}

fn image(index: usize, reference: &str) -> Value {
    let mut package = json!({
        "SPDXID": format!("SPDXRef-Image-{index}"),
        "name": reference,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": false,
        "primaryPackagePurpose": "CONTAINER",
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    });
    if let Ok(parts) = Image::parse(reference) {
        // Who runs an image that names neither gets this one.
        package["versionInfo"] = json!(
            parts
                .tag
                .as_deref()
                .or(parts.digest.as_deref())
                .unwrap_or("latest")
        );
        package["supplier"] = json!(format!("Organization: {}", parts.repository));
        package["externalRefs"] = json!([{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": purl(&parts),
        }]);
    }
    package
}

/// The package URL of an image, type `oci` (<https://github.com/package-url/purl-spec>).
fn purl(image: &Image) -> String {
    let (registry, path) = image.registry_and_path();
    let version = image
        .digest
        .as_ref()
        .map(|digest| format!("@{}", digest.replace(':', "%3A")))
        .unwrap_or_default();
    let tag = image
        .tag
        .as_ref()
        .map(|tag| format!("&tag={tag}"))
        .unwrap_or_default();
    format!(
        "pkg:oci/{}{version}?repository_url={}/{path}{tag}",
        image.name,
        registry.replace(':', "%3A")
    )
}

fn relation(from: &str, kind: &str, to: String) -> Value {
    json!({"spdxElementId": from, "relationshipType": kind, "relatedSpdxElement": to})
}

/// How licences of a document without a name in SPDX's list are called here, where another document
/// may have the same names.
fn licence_name(index: usize, text: &str) -> String {
    text.replace("LicenseRef-", &format!("LicenseRef-Part-{index}-"))
}

/// The packages of a part, under ids of this document.
fn packages_of(index: usize, part: &Part) -> Vec<Value> {
    let named = |(number, (_, package)): (usize, &(String, Value))| {
        let mut package = package.clone();
        package["SPDXID"] = format!("SPDXRef-Part-{index}-{number}").into();
        for field in ["licenseConcluded", "licenseDeclared"] {
            if let Some(expression) = package[field].as_str() {
                package[field] = licence_name(index, expression).into();
            }
        }
        package
    };
    part.packages.iter().enumerate().map(named).collect()
}

fn licences_of(index: usize, part: &Part) -> Vec<Value> {
    let named = |licence: &Value| {
        let mut licence = licence.clone();
        if let Some(id) = licence["licenseId"].as_str() {
            licence["licenseId"] = licence_name(index, id).into();
        }
        licence
    };
    part.licences.iter().map(named).collect()
}

/// Which image contains which packages, and what depends on what among them. What no image contains
/// the release itself does.
fn relationships_of(contents: &[Contents<'_>], images: &BTreeSet<String>) -> Vec<Value> {
    let mut relations = Vec::new();
    for (index, Contents { part, images: of }) in contents.iter().enumerate() {
        // Of two packages with one id the first has it.
        let numbers: BTreeMap<&str, usize> = part
            .packages
            .iter()
            .enumerate()
            .rev()
            .map(|(number, (id, _))| (id.as_str(), number))
            .collect();
        let id = |id: &str| {
            numbers
                .get(id)
                .map(|number| format!("SPDXRef-Part-{index}-{number}"))
        };
        let all = (0..part.packages.len()).map(|number| format!("SPDXRef-Part-{index}-{number}"));
        let roots: Vec<String> = if part.roots.is_empty() {
            all.collect()
        } else {
            part.roots.iter().filter_map(|root| id(root)).collect()
        };
        let held = images
            .iter()
            .enumerate()
            .filter(|(_, image)| of.contains(*image))
            .map(|(number, _)| format!("SPDXRef-Image-{number}"));
        let mut holders: Vec<String> = held.collect();
        if holders.is_empty() {
            holders.push("SPDXRef-Release".to_owned());
        }
        relations.extend(holders.iter().flat_map(|holder| {
            roots
                .iter()
                .map(|root| relation(holder, "CONTAINS", root.clone()))
        }));
        relations.extend(
            part.relations
                .iter()
                .filter_map(|(from, kind, to)| Some(relation(&id(from)?, kind, id(to)?))),
        );
    }
    relations
}

fn relationships(files: usize, images: usize) -> Vec<Value> {
    std::iter::once(relation(
        "SPDXRef-DOCUMENT",
        "DESCRIBES",
        "SPDXRef-Release".to_owned(),
    ))
    .chain((0..files).map(|i| relation("SPDXRef-Release", "CONTAINS", format!("SPDXRef-File-{i}"))))
    .chain((0..images).map(|i| {
        relation(
            "SPDXRef-Release",
            "DEPENDS_ON",
            format!("SPDXRef-Image-{i}"),
        )
    }))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_names_files_images_and_its_date() {
        let files = [Summed::of("a.yaml", b"x")];
        let images = BTreeSet::from(["ghcr.io/windlass-dev/windlass-manager:v0.1.0".to_owned()]);
        let about = About::default();
        let subject = Subject {
            name: "bootstrap-windlass",
            version: "v0.1.0",
            about: &about,
            epoch: 315_532_800,
        };
        let document: Value =
            serde_json::from_str(&sbom(subject, &files, &images, &[])).expect("JSON");
        assert_eq!(document["creationInfo"]["created"], "1980-01-01T00:00:00Z");
        assert_eq!(document["files"][0]["fileName"], "./a.yaml");
        // The SHA1 of `x`, by sha1sum.
        assert_eq!(
            document["files"][0]["checksums"][0]["checksumValue"],
            "11f6ad8ec52a2984abaafd7c3b516503785c2072"
        );
        let locator = &document["packages"][1]["externalRefs"][0]["referenceLocator"];
        assert_eq!(
            locator,
            "pkg:oci/windlass-manager?repository_url=ghcr.io/windlass-dev/windlass-manager&tag=v0.1.0"
        );
        let kinds: Vec<_> = document["relationships"]
            .as_array()
            .expect("list")
            .iter()
            .map(|r| r["relationshipType"].clone())
            .collect();
        assert_eq!(kinds, ["DESCRIBES", "CONTAINS", "DEPENDS_ON"]);
    }
    /// SPDX 2.3, 7.5: the supplier is who distributes a package; 7.9: files that the code does not
    /// cover are named.
    #[test]
    fn a_provider_says_who_releases_it() {
        let text = |text: &str| Some(text.to_owned());
        let about = About {
            supplier: text("Example Inc."),
            license: text("Apache-2.0"),
            url: text("https://example.com/harbour/"),
        };
        let images = BTreeSet::from(["ghcr.io/example/harbour".to_owned()]);
        let document = |about: &About| -> Value {
            let subject = Subject {
                name: "infrastructure-harbour",
                version: "v0.1.0",
                about,
                epoch: 0,
            };
            serde_json::from_str(&sbom(subject, &[], &images, &[])).expect("JSON")
        };
        let ours = document(&about);
        let [release, image] = ours["packages"].as_array().expect("list").as_slice() else {
            panic!("{ours}")
        };
        assert_eq!(
            (&release["supplier"], &release["licenseDeclared"]),
            (&json!("Organization: Example Inc."), &json!("Apache-2.0"))
        );
        assert_eq!(
            release["packageVerificationCode"]["packageVerificationCodeExcludedFiles"],
            json!(["./sbom.spdx.json", "./SHA256SUMS"])
        );
        assert_eq!(
            (&image["supplier"], &image["versionInfo"]),
            (&json!("Organization: ghcr.io/example"), &json!("latest"))
        );
        assert_eq!(
            ours["creationInfo"]["creators"][0],
            "Organization: Example Inc."
        );
        let of = |document: &Value| {
            document["documentNamespace"]
                .as_str()
                .expect("text")
                .to_owned()
        };
        assert!(
            of(&ours)
                .starts_with("https://example.com/harbour/spdx/infrastructure-harbour-v0.1.0-"),
            "{}",
            of(&ours)
        );
        let unsaid = document(&About::default());
        assert!(
            of(&unsaid).starts_with("https://spdx.org/spdxdocs/infrastructure-harbour-v0.1.0-"),
            "{}",
            of(&unsaid)
        );
        assert_eq!(unsaid["packages"][0]["supplier"], "NOASSERTION");
    }

    /// What an image contains keeps its ids apart from those of other documents, in both formats;
    /// SPDX 2.3, 11.1: the image contains it.
    #[test]
    fn an_image_contains_what_its_build_says() {
        let spdx = json!({
            "spdxVersion": "SPDX-2.3", "documentDescribes": ["SPDXRef-a"],
            "packages": [
                {"SPDXID": "SPDXRef-a", "name": "manager", "versionInfo": "1", "supplier": "Organization: x", "downloadLocation": "NOASSERTION", "hasFiles": ["SPDXRef-f"]},
                {"SPDXID": "SPDXRef-b", "name": "lib", "downloadLocation": "NOASSERTION", "licenseDeclared": "MIT AND LicenseRef-1"},
            ],
            "files": [{"SPDXID": "SPDXRef-f"}],
            "relationships": [
                {"spdxElementId": "SPDXRef-a", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": "SPDXRef-b"},
                {"spdxElementId": "SPDXRef-a", "relationshipType": "CONTAINS", "relatedSpdxElement": "SPDXRef-f"},
            ],
            "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-1", "extractedText": "t"}],
        });
        let cyclonedx = json!({
            "bomFormat": "CycloneDX", "specVersion": "1.6",
            "metadata": {"component": {"bom-ref": "r", "name": "manager"}},
            "components": [{"bom-ref": "p", "group": "g", "name": "n", "version": "2", "purl": "pkg:npm/g/n@2", "publisher": "P",
                "licenses": [{"license": {"id": "MIT"}}, {"license": {"id": "ISC"}}], "hashes": [{"alg": "SHA-256", "content": "ab"}]}],
            "dependencies": [{"ref": "r", "dependsOn": ["p", "gone"]}],
        });
        let parts = [spdx, cyclonedx].map(|document| {
            part::read(None, document.to_string().as_bytes()).expect("both are read")
        });
        assert_eq!(
            (parts[0].lacking, parts[0].dropped.as_str()),
            (1, "1 file, 1 relation")
        );
        assert_eq!((parts[1].lacking, parts[1].dropped.as_str()), (1, ""));
        let images = BTreeSet::from(["ghcr.io/a/b:v1".to_owned(), "ghcr.io/a/c:v1".to_owned()]);
        let contents = [
            Contents {
                part: &parts[0],
                images: images.clone(),
            },
            Contents {
                part: &parts[1],
                images: BTreeSet::new(),
            },
        ];
        let about = About::default();
        let subject = Subject {
            name: "x",
            version: "v1",
            about: &about,
            epoch: 0,
        };
        let document: Value =
            serde_json::from_str(&sbom(subject, &[], &images, &contents)).expect("JSON");
        let packages = document["packages"].as_array().expect("list");
        let lib = packages
            .iter()
            .find(|package| package["name"] == "lib")
            .expect("taken over");
        assert_eq!(
            (&lib["SPDXID"], &lib["licenseDeclared"]),
            (
                &json!("SPDXRef-Part-0-1"),
                &json!("MIT AND LicenseRef-Part-0-1")
            )
        );
        assert_eq!(
            document["hasExtractedLicensingInfos"][0]["licenseId"],
            "LicenseRef-Part-0-1"
        );
        let npm = packages
            .iter()
            .find(|package| package["name"] == "g/n")
            .expect("taken over");
        assert_eq!(
            (&npm["licenseDeclared"], &npm["supplier"]),
            (&json!("MIT AND ISC"), &json!("Organization: P"))
        );
        assert_eq!(
            npm["checksums"],
            json!([{"algorithm": "SHA256", "checksumValue": "ab"}])
        );
        let relations: Vec<String> = document["relationships"]
            .as_array()
            .expect("list")
            .iter()
            .skip(3)
            .map(|relation| {
                ["spdxElementId", "relationshipType", "relatedSpdxElement"]
                    .map(|field| {
                        relation[field]
                            .as_str()
                            .expect("text")
                            .replace("SPDXRef-", "")
                    })
                    .join(" ")
            })
            .collect();
        assert_eq!(
            relations,
            [
                "Image-0 CONTAINS Part-0-0",
                "Image-1 CONTAINS Part-0-0",
                "Part-0-0 DEPENDS_ON Part-0-1",
                "Release CONTAINS Part-1-0",
                "Part-1-0 DEPENDS_ON Part-1-1",
            ]
        );
        for (document, why) in [
            ("[", "is not JSON"),
            ("{}", "is neither SPDX"),
            (r#"{"spdxVersion": "SPDX-3.0"}"#, "has the version SPDX-3.0"),
            (
                r#"{"bomFormat": "CycloneDX", "specVersion": "1.5"}"#,
                "names no package",
            ),
        ] {
            assert!(
                part::read(None, document.as_bytes()).is_err_and(|error| error.starts_with(why)),
                "{document}"
            );
        }
    }
}
