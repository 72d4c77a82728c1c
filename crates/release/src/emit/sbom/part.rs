//! What an image of a release contains, by a document that its build wrote: SPDX 2.2 or 2.3, or
//! CycloneDX 1, in JSON. Packages and what depends on what are taken over; files and snippets of
//! such a document stay out.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The packages of a document, by ids of its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Part {
    /// The label of the provider whose manager contains them; `None` for every manager.
    pub(crate) label: Option<String>,
    /// SPDX packages, without ids.
    pub(crate) packages: Vec<(String, Value)>,
    /// What the document is about.
    pub(crate) roots: Vec<String>,
    /// From, kind, to.
    pub(crate) relations: Vec<(String, String, String)>,
    /// Texts of licences that have no name in SPDX's list.
    pub(crate) licences: Vec<Value>,
    /// How many packages lack a supplier or a version, which NTIA's minimum elements ask for.
    pub lacking: usize,
    /// What stays out, for people; empty when nothing does.
    pub dropped: String,
}

/// Fields of an SPDX package that speak of the package alone (SPDX 2.3, clause 7).
const PACKAGE_FIELDS: [&str; 20] = [
    "name",
    "versionInfo",
    "packageFileName",
    "supplier",
    "originator",
    "downloadLocation",
    "checksums",
    "homepage",
    "sourceInfo",
    "licenseConcluded",
    "licenseDeclared",
    "licenseComments",
    "copyrightText",
    "summary",
    "description",
    "comment",
    "externalRefs",
    "attributionTexts",
    "primaryPackagePurpose",
    "releaseDate",
];

/// The names of hash functions in CycloneDX, where SPDX has others.
const HASHES: [(&str, &str); 5] = [
    ("MD5", "MD5"),
    ("SHA-1", "SHA1"),
    ("SHA-256", "SHA256"),
    ("SHA-384", "SHA384"),
    ("SHA-512", "SHA512"),
];

const UNSAID: &str = "NOASSERTION";

/// Reads a document.
///
/// # Errors
/// Why it is none, in a phrase that follows its name.
pub fn read(label: Option<String>, bytes: &[u8]) -> Result<Part, String> {
    let document: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("is not JSON: {error}"))?;
    let mut part = if let Some(version) = document["spdxVersion"].as_str() {
        if !["SPDX-2.2", "SPDX-2.3"].contains(&version) {
            return Err(format!(
                "has the version {version} of SPDX; SPDX-2.2 and SPDX-2.3 are read"
            ));
        }
        of_spdx(&document)
    } else if document["bomFormat"] == "CycloneDX" {
        let version = document["specVersion"].as_str().unwrap_or_default();
        if !version.starts_with("1.") {
            return Err(format!("is CycloneDX `{version}`; only 1.x is supported"));
        }
        of_cyclonedx(&document)
    } else {
        return Err("is neither SPDX (`spdxVersion`) nor CycloneDX (`bomFormat`)".to_owned());
    };
    if part.packages.is_empty() {
        return Err("names no package".to_owned());
    }
    let says = |package: &Value, field: &str| {
        package[field]
            .as_str()
            .is_some_and(|text| !text.is_empty() && text != UNSAID)
    };
    part.lacking = part
        .packages
        .iter()
        .filter(|(_, package)| !says(package, "supplier") || !says(package, "versionInfo"))
        .count();
    part.label = label;
    Ok(part)
}

fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

fn of_spdx(document: &Value) -> Part {
    let mut part = Part::default();
    for package in list(document, "packages") {
        let fields = PACKAGE_FIELDS
            .iter()
            .filter_map(|field| Some(((*field).to_owned(), package.get(*field)?.clone())));
        let mut taken: Map<String, Value> = fields.collect();
        taken.insert("filesAnalyzed".to_owned(), false.into());
        part.packages
            .push((text(package, "SPDXID").to_owned(), taken.into()));
    }
    let known: BTreeSet<String> = part.packages.iter().map(|(id, _)| id.clone()).collect();
    let is_package = |id: &str| known.contains(id);
    let described = list(document, "documentDescribes")
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned);
    let mut roots: BTreeSet<String> = described.filter(|id| is_package(id)).collect();
    let mut foreign = 0;
    for relation in list(document, "relationships") {
        let (from, kind, to) = (
            text(relation, "spdxElementId"),
            text(relation, "relationshipType"),
            text(relation, "relatedSpdxElement"),
        );
        match (is_package(from), is_package(to)) {
            (true, true) => part
                .relations
                .push((from.to_owned(), kind.to_owned(), to.to_owned())),
            (false, true) if from == "SPDXRef-DOCUMENT" && kind == "DESCRIBES" => {
                roots.insert(to.to_owned());
            }
            _ => foreign += 1,
        }
    }
    part.roots = roots.into_iter().collect();
    part.licences = list(document, "hasExtractedLicensingInfos").to_vec();
    let left_out = [
        ("file", list(document, "files").len()),
        ("snippet", list(document, "snippets").len()),
        ("relation", foreign),
    ];
    part.dropped = counted(&left_out);
    part
}

fn of_cyclonedx(document: &Value) -> Part {
    let mut part = Part::default();
    let root = &document["metadata"]["component"];
    if root.is_object() {
        part.roots.push(id_of(root, 0));
        part.packages.push((id_of(root, 0), of_component(root)));
    }
    let mut open: Vec<&Value> = list(document, "components").iter().rev().collect();
    while let Some(component) = open.pop() {
        open.extend(list(component, "components").iter().rev());
        let id = id_of(component, part.packages.len());
        part.packages.push((id, of_component(component)));
    }
    let known: BTreeSet<&str> = part.packages.iter().map(|(id, _)| id.as_str()).collect();
    let mut relations = Vec::new();
    for dependency in list(document, "dependencies") {
        let from = text(dependency, "ref");
        let needed = list(dependency, "dependsOn")
            .iter()
            .filter_map(Value::as_str);
        let pairs = needed.filter(|to| known.contains(from) && known.contains(to));
        relations.extend(pairs.map(|to| (from.to_owned(), "DEPENDS_ON".to_owned(), to.to_owned())));
    }
    part.relations = relations;
    part.dropped = counted(&[("service", list(document, "services").len())]);
    part
}

/// What there is some of, for people.
fn counted(things: &[(&str, usize)]) -> String {
    let some = things.iter().filter(|(_, count)| *count > 0);
    some.map(|(what, count)| format!("{count} {what}{}", if *count == 1 { "" } else { "s" }))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The id of a component; one that has none gets its number.
fn id_of(component: &Value, index: usize) -> String {
    match text(component, "bom-ref") {
        "" => format!("component {index}"),
        id => id.to_owned(),
    }
}

fn of_component(component: &Value) -> Value {
    let (group, name) = (text(component, "group"), text(component, "name"));
    let supplier = [
        text(&component["supplier"], "name"),
        text(component, "publisher"),
        text(&component["manufacturer"], "name"),
    ];
    let supplier = supplier
        .into_iter()
        .find(|name| !name.is_empty())
        .map_or_else(|| UNSAID.to_owned(), |name| format!("Organization: {name}"));
    let licence = licence(list(component, "licenses"));
    let mut package = json!({
        "name": if group.is_empty() { name.to_owned() } else { format!("{group}/{name}") },
        "supplier": supplier,
        "downloadLocation": UNSAID,
        "filesAnalyzed": false,
        "licenseConcluded": UNSAID,
        "licenseDeclared": licence,
        "copyrightText": match text(component, "copyright") { "" => UNSAID, text => text },
    });
    let (version, locator) = (text(component, "version"), text(component, "purl"));
    if !version.is_empty() {
        package["versionInfo"] = version.into();
    }
    if !locator.is_empty() {
        package["externalRefs"] = json!([{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}]);
    }
    let sum = |hash: &Value| {
        let (_, algorithm) = HASHES
            .into_iter()
            .find(|(theirs, _)| *theirs == text(hash, "alg"))?;
        Some(json!({"algorithm": algorithm, "checksumValue": text(hash, "content")}))
    };
    let sums: Vec<Value> = list(component, "hashes").iter().filter_map(sum).collect();
    if !sums.is_empty() {
        package["checksums"] = sums.into();
    }
    package
}

/// One expression of SPDX for the licences of a component. Names that are not in SPDX's list have
/// no place in one.
fn licence(licences: &[Value]) -> String {
    let expression = licences
        .iter()
        .find_map(|licence| licence["expression"].as_str());
    let ids: Option<Vec<&str>> = licences
        .iter()
        .map(|licence| licence["license"]["id"].as_str())
        .collect();
    match (expression, ids) {
        (Some(expression), _) => expression.to_owned(),
        (None, Some(ids)) if !ids.is_empty() => ids.join(" AND "),
        _ => UNSAID.to_owned(),
    }
}
