//! The bill of materials of a release: SPDX 2.3 in JSON, the files and the images (<https://spdx.github.io/spdx-spec/v2.3/>).

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::checksums::CHECKSUMS_FILE;
use crate::contract::Image;
use crate::provider::About;
use crate::text::hex::hex;
use crate::text::tree::Tree;

/// The name of the file in a release.
pub(crate) const SBOM_FILE: &str = "sbom.spdx.json";

/// What the document says about itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The provider label, or several, joined by `+`.
    pub(crate) name: &'a str,
    /// The version of the release.
    pub(crate) version: &'a str,
    /// Who releases it, under which license, and where.
    pub(crate) about: &'a About,
    /// When it was made: `SOURCE_DATE_EPOCH`, in seconds since 1970.
    pub(crate) epoch: i64,
}

/// The document. Its namespace holds the hash of all files, so that two releases with other content never share one.
pub(crate) fn sbom(subject: Subject<'_>, files: &Tree, images: &BTreeSet<String>) -> String {
    let mut all = Sha256::new();
    for (path, bytes) in files {
        all.update(path.as_bytes());
        all.update([0]);
        all.update(Sha256::digest(bytes));
    }
    let created = Timestamp::from_second(subject.epoch).unwrap_or(Timestamp::UNIX_EPOCH);
    let document = json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": format!("{}-{}", subject.name, subject.version),
        "documentNamespace": namespace(subject, &hex(&all.finalize())[..32]),
        "creationInfo": {
            "created": created.to_string(),
            "creators": creators(subject.about),
        },
        "packages": packages(subject, files, images),
        "files": files.iter().enumerate().map(|(i, (path, bytes))| file(i, path, bytes)).collect::<Vec<_>>(),
        "relationships": relationships(files.len(), images.len()),
    });
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// SPDX 2.3, 6.5: what nobody else gives a document, at the home of the project, or at that of SPDX for those who have none.
fn namespace(subject: Subject<'_>, hash: &str) -> String {
    let home = subject.about.url.as_deref().map(|url| format!("{}/spdx", url.trim_end_matches('/')));
    let home = home.unwrap_or_else(|| "https://spdx.org/spdxdocs".to_owned());
    format!("{home}/{}-{}-{hash}", subject.name, subject.version)
}

fn creators(about: &About) -> Vec<String> {
    let supplier = about.supplier.iter().map(|supplier| format!("Organization: {supplier}"));
    supplier.chain([format!("Tool: windlass-{}", env!("CARGO_PKG_VERSION"))]).collect()
}

fn file(index: usize, path: &str, bytes: &[u8]) -> Value {
    json!({
        "SPDXID": format!("SPDXRef-File-{index}"),
        "fileName": format!("./{path}"),
        "checksums": [
            {"algorithm": "SHA1", "checksumValue": hex(&Sha1::digest(bytes))},
            {"algorithm": "SHA256", "checksumValue": hex(&Sha256::digest(bytes))},
        ],
        "licenseConcluded": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    })
}

fn packages(subject: Subject<'_>, files: &Tree, images: &BTreeSet<String>) -> Vec<Value> {
    let About { supplier, license, url } = subject.about;
    let mut release = json!({
        "SPDXID": "SPDXRef-Release",
        "name": subject.name,
        "versionInfo": subject.version,
        "supplier": supplier.as_ref().map_or_else(|| "NOASSERTION".to_owned(), |supplier| format!("Organization: {supplier}")),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": true,
        "packageVerificationCode": {
            "packageVerificationCodeValue": verification_code(files),
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
    let images = images.iter().enumerate().map(|(i, reference)| image(i, reference));
    std::iter::once(release).chain(images).collect()
}

/// SPDX 2.3, 7.9: the SHA1 of the sorted SHA1s of all files.
fn verification_code(files: &Tree) -> String {
    let mut hashes: Vec<String> = files.iter().map(|(_, bytes)| hex(&Sha1::digest(bytes))).collect();
    hashes.sort();
    hex(&Sha1::digest(hashes.concat()))
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
        package["versionInfo"] = json!(parts.tag.as_deref().or(parts.digest.as_deref()).unwrap_or("latest"));
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
    let version = image.digest.as_ref().map(|digest| format!("@{}", digest.replace(':', "%3A"))).unwrap_or_default();
    let tag = image.tag.as_ref().map(|tag| format!("&tag={tag}")).unwrap_or_default();
    format!("pkg:oci/{}{version}?repository_url={}/{path}{tag}", image.name, registry.replace(':', "%3A"))
}

fn relationships(files: usize, images: usize) -> Vec<Value> {
    let relation = |from: &str, kind: &str, to: String| json!({"spdxElementId": from, "relationshipType": kind, "relatedSpdxElement": to});
    std::iter::once(relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Release".to_owned()))
        .chain((0..files).map(|i| relation("SPDXRef-Release", "CONTAINS", format!("SPDXRef-File-{i}"))))
        .chain((0..images).map(|i| relation("SPDXRef-Release", "DEPENDS_ON", format!("SPDXRef-Image-{i}"))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_names_files_images_and_its_date() {
        let files: Tree = [("a.yaml".to_owned(), b"x".to_vec())].into_iter().collect();
        let images = BTreeSet::from(["ghcr.io/windlass-dev/windlass-manager:v0.1.0".to_owned()]);
        let about = About::default();
        let subject = Subject { name: "bootstrap-windlass", version: "v0.1.0", about: &about, epoch: 315_532_800 };
        let document: Value = serde_json::from_str(&sbom(subject, &files, &images)).expect("JSON");
        assert_eq!(document["creationInfo"]["created"], "1980-01-01T00:00:00Z");
        assert_eq!(document["files"][0]["fileName"], "./a.yaml");
        // The SHA1 of `x`, by sha1sum.
        assert_eq!(document["files"][0]["checksums"][0]["checksumValue"], "11f6ad8ec52a2984abaafd7c3b516503785c2072");
        let locator = &document["packages"][1]["externalRefs"][0]["referenceLocator"];
        assert_eq!(locator, "pkg:oci/windlass-manager?repository_url=ghcr.io/windlass-dev/windlass-manager&tag=v0.1.0");
        let kinds: Vec<_> = document["relationships"].as_array().expect("list").iter().map(|r| r["relationshipType"].clone()).collect();
        assert_eq!(kinds, ["DESCRIBES", "CONTAINS", "DEPENDS_ON"]);
    }
    /// SPDX 2.3, 7.5: the supplier is who distributes a package; 7.9: files that the code does not cover are named.
    #[test]
    fn a_provider_says_who_releases_it() {
        let text = |text: &str| Some(text.to_owned());
        let about = About { supplier: text("Example Inc."), license: text("Apache-2.0"), url: text("https://example.com/harbour/") };
        let images = BTreeSet::from(["ghcr.io/example/harbour".to_owned()]);
        let document = |about: &About| -> Value {
            let subject = Subject { name: "infrastructure-harbour", version: "v0.1.0", about, epoch: 0 };
            serde_json::from_str(&sbom(subject, &Tree::new(), &images)).expect("JSON")
        };
        let ours = document(&about);
        let [release, image] = ours["packages"].as_array().expect("list").as_slice() else { panic!("{ours}") };
        assert_eq!(
            (&release["supplier"], &release["licenseDeclared"]),
            (&json!("Organization: Example Inc."), &json!("Apache-2.0"))
        );
        assert_eq!(
            release["packageVerificationCode"]["packageVerificationCodeExcludedFiles"],
            json!(["./sbom.spdx.json", "./SHA256SUMS"])
        );
        assert_eq!((&image["supplier"], &image["versionInfo"]), (&json!("Organization: ghcr.io/example"), &json!("latest")));
        assert_eq!(ours["creationInfo"]["creators"][0], "Organization: Example Inc.");
        let of = |document: &Value| document["documentNamespace"].as_str().expect("text").to_owned();
        assert!(of(&ours).starts_with("https://example.com/harbour/spdx/infrastructure-harbour-v0.1.0-"), "{}", of(&ours));
        let unsaid = document(&About::default());
        assert!(of(&unsaid).starts_with("https://spdx.org/spdxdocs/infrastructure-harbour-v0.1.0-"), "{}", of(&unsaid));
        assert_eq!(unsaid["packages"][0]["supplier"], "NOASSERTION");
    }
}
