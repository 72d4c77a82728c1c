//! From the text of a `provider.yaml` to typed providers, with every fault at its place.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Crds, ObjectPatch, PROVIDER_API_VERSION, PROVIDER_KIND, Provider, Strayed};
use windlass_capi::contract::{ApiVersion, CORE_PROVIDER, ProviderType, book, labels};
use windlass_go_yaml::yaml::{self, Node};
use windlass_schema::Schema;
use windlass_schema::document::{self, Wording};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{
    Diagnostic, FieldPath, Place, Quoted, Remedy, Report, Segment, Setting, rules,
};
use windlass_source::nearest::nearest;

rules! {
    /// provider.yaml has an unknown field
    FIELD_UNKNOWN = error("provider-field-unknown");
    /// provider.yaml lacks a required field
    FIELD_MISSING = error("provider-field-missing");
    /// a value in provider.yaml has the wrong type or is out of range
    VALUE_REJECTED = error("provider-value-rejected");
    /// provider.yaml contains no document
    DOCUMENT_MISSING = error("provider-document-missing");
    /// provider.yaml has an unsupported `apiVersion` or `kind`
    KIND_WRONG = error("provider-kind-wrong");
    /// provider.yaml has both finished components and parts of components
    COMPONENTS_EXCLUSIVE = error("provider-components-exclusive");
    /// provider.yaml describes no objects to install
    COMPONENTS_EMPTY = error("provider-components-empty");
    /// provider.yaml uses the builtin CRDs or rights for another API group
    BUILTIN_FOREIGN = error("provider-crds-builtin-foreign");
    /// provider.yaml has CRDs that Cluster API refers to, but no contract
    CONTRACTS_MISSING = error("provider-contracts-missing"), url(book::CONTRACT_LABELS);
    /// a key under `contracts` is not a contract version
    CONTRACT_UNKNOWN = error("provider-contract-unknown"), url(book::CONTRACT_LABELS);
    /// the name `cluster-api` and the type CoreProvider are not used together
    NAME_RESERVED = error("provider-name-reserved");
    /// two documents in provider.yaml produce the same components file
    DUPLICATED = error("provider-duplicated");
    /// provider.yaml still lists a decision that `init` left open
    UNDECIDED = error("provider-undecided");
    /// a path in provider.yaml matches no file
    FILE_MISSING = error("provider-file-missing");
    /// a path in provider.yaml leads out of its folder, or to a hidden file
    FILE_OUTSIDE = error("provider-file-outside");
}
const SYNTAX: Wording = Wording {
    unknown: &FIELD_UNKNOWN,
    missing: &FIELD_MISSING,
    rejected: &VALUE_REJECTED,
};

/// The group of the kinds that `crds: builtin` stands for.
pub(crate) const BUILTIN_CRDS: &str = windlass_capi::api::names::GROUP;

/// A provider with the places of its fields.
#[derive(Debug, Clone)]
pub struct Declared {
    /// The provider.
    pub provider: Provider,
    /// The file that declares it.
    pub source: Source,
    document: usize,
    root: Node,
}

impl Declared {
    /// The place of a field, or of the nearest thing that is there.
    pub fn place(&self, path: &FieldPath) -> Place {
        place(&self.source, self.document, &self.root, path)
    }

    /// The first of some fields that the file has.
    pub fn first_field(&self, fields: &[&str]) -> Option<FieldPath> {
        let mut paths = fields.iter().map(|field| FieldPath::of_fields(field));
        paths.find(|path| self.root.at(path).is_some())
    }

    /// The name of the file, as findings show it.
    pub fn source_name(&self) -> &str {
        self.source.name()
    }

    /// The place of a pattern, wherever it is in the document.
    fn pattern_place(&self, pattern: &str) -> Place {
        let mut path = FieldPath::root();
        let found = find(&self.root, pattern, &mut path);
        self.place(&if found {
            path
        } else {
            FieldPath::root().field("metadata")
        })
    }
}

fn place(source: &Source, document: usize, root: &Node, path: &FieldPath) -> Place {
    source
        .place_at(root.nearest(path).span)
        .in_document(document)
        .at_path(path.clone())
}

/// Finds the first text of that value; `path` then leads to it. As deep as the reader lets
/// documents be.
fn find(node: &Node, wanted: &str, path: &mut FieldPath) -> bool {
    let step = |segment: Segment, child: &Node, path: &mut FieldPath| {
        path.push(segment);
        let found = find(child, wanted, path);
        if !found {
            path.pop();
        }
        found
    };
    match &node.value {
        yaml::Value::String(text) => text == wanted,
        yaml::Value::Sequence(items) => items
            .iter()
            .enumerate()
            .any(|(i, item)| step(Segment::Index(i), item, path)),
        yaml::Value::Mapping(mapping) => mapping
            .iter()
            .any(|e| step(Segment::Field(e.key.clone()), &e.value, path)),
        _ => false,
    }
}

/// The JSON Schema of `provider.yaml`, for editors.
pub fn json_schema() -> Value {
    let mut schema = schemars::schema_for!(Provider).to_value();
    schema["title"] = Value::from("provider.yaml of windlass");
    schema
}

/// Reads a `provider.yaml`. Providers that can be used at all are returned; the report has every
/// fault of all documents.
pub fn parse(source: &Source, budget: &Budget) -> (Vec<Declared>, Report) {
    let parsed = yaml::parse(source, budget);
    let mut report = parsed.report;
    let schema = schema();
    let mut providers: Vec<Declared> = Vec::new();
    for document in parsed
        .documents
        .into_iter()
        .filter(|document| !document.root.is_null())
    {
        let (declared, found) = parse_document(source, document, &schema);
        report.extend(found);
        providers.extend(declared);
    }
    if providers.is_empty() && !report.has_errors() {
        let finding = Diagnostic::of(
            &DOCUMENT_MISSING,
            format!("{} holds no document", source.name()),
        )
        .at(source.place());
        report.push(finding.help(
            "describe the provider in it; `windlass schema provider` prints the JSON Schema",
        ));
    }
    report.extend(duplicated(&providers));
    (providers, report)
}

fn parse_document(
    source: &Source,
    document: yaml::Document,
    schema: &Schema,
) -> (Option<Declared>, Report) {
    let (index, root) = (document.index, document.root);
    let value = root.to_json();
    let at = |path: &FieldPath| place(source, index, &root, path);
    if let Some(finding) = other_kind(&value, &at) {
        return (None, Report::from_iter([finding]));
    }
    let mut report = document::check(&value, schema, &SYNTAX, &root, source, index);
    report.extend(crds_value(&value, &at));
    report.extend(type_value(&value, &at));
    report.extend(kind_wrong(&value, &at));
    if report.has_errors() {
        return (None, report);
    }
    match serde_json::from_value::<Provider>(value) {
        Ok(provider) => {
            let declared = Declared {
                provider,
                source: source.clone(),
                document: index,
                root,
            };
            let report = judge(&declared);
            (Some(declared), report)
        }
        Err(error) => {
            let finding = Diagnostic::of(
                SYNTAX.rejected,
                format!(
                    "the document does not describe a provider: {error}",
                    error = Quoted(&error)
                ),
            );
            report.push(
                finding
                    .at(at(&FieldPath::root()))
                    .help("compare it with the JSON Schema that `windlass schema provider` prints"),
            );
            (None, report)
        }
    }
}

/// The structural schema of a document. `crds` is a word or a list, which such a schema cannot say;
/// [`crds_value`] checks it, and [`type_value`] the type.
fn schema() -> Schema {
    let mut json = document::structural_json::<Provider>();
    json["properties"]["crds"] = serde_json::json!({"x-kubernetes-preserve-unknown-fields": true});
    json["properties"]["type"] = serde_json::json!({"type": "string"});
    document::compiled(&json)
}

/// The types are a closed list; a short form names the one that is meant.
fn type_value(value: &Value, at: &dyn Fn(&FieldPath) -> Place) -> Option<Diagnostic> {
    let found = value.get("type")?.as_str()?;
    let known = ProviderType::ALL.map(ProviderType::as_str);
    if known.contains(&found) {
        return None;
    }
    let letters: String = found
        .chars()
        .filter(char::is_ascii_alphabetic)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    let is_short =
        |known: &&str| letters.len() > 2 && known.to_ascii_lowercase().starts_with(&letters);
    let meant = known
        .into_iter()
        .find(is_short)
        .or_else(|| nearest(found, known));
    let finding = Diagnostic::of(
        SYNTAX.rejected,
        format!(
            "type is `{found}`, which is not a type of provider",
            found = Quoted(found)
        ),
    );
    let finding = finding.at(at(&FieldPath::root().field("type")));
    Some(match meant {
        Some(meant) => finding
            .label(format!("did you mean `{meant}`?"))
            .help(format!("write `type: {meant}`")),
        None => finding.help(format!(
            "write one of {}",
            known.map(|known| format!("`{known}`")).join(", ")
        )),
    })
}

fn crds_value(value: &Value, at: &dyn Fn(&FieldPath) -> Place) -> Option<Diagnostic> {
    let path = FieldPath::root().field("crds");
    let fault = match value.get("crds")? {
        Value::String(word) if word == "builtin" => return None,
        Value::Array(items) => {
            let bad = items
                .iter()
                .position(|item| item.as_str().is_none_or(str::is_empty))?;
            (
                path.index(bad),
                format!("crds[{bad}] is not a pattern of files"),
            )
        }
        other => (
            path,
            format!(
                "crds is `{other}`, neither a list of patterns nor the word builtin",
                other = Quoted(other)
            ),
        ),
    };
    let finding = Diagnostic::of(SYNTAX.rejected, fault.1).at(at(&fault.0));
    Some(finding.help("write a list, such as `crds: [config/crd/bases/*.yaml]`"))
}

/// An object of another kind, whose fields are not checked.
fn other_kind(value: &Value, at: &dyn Fn(&FieldPath) -> Place) -> Option<Diagnostic> {
    let text = |field: &str| value.get(field)?.as_str();
    let (version, kind) = (text("apiVersion")?, text("kind")?);
    let group = PROVIDER_API_VERSION.split('/').next().unwrap_or_default();
    if kind == PROVIDER_KIND || version.split('/').next() == Some(group) {
        return None;
    }
    let finding = Diagnostic::of(
        &KIND_WRONG,
        format!("the document is a {kind} ({version}), not the description of a provider"),
    );
    let finding = finding.at(at(&FieldPath::root().field("kind")));
    Some(finding.help(format!(
        "write `apiVersion: {PROVIDER_API_VERSION}` and `kind: {PROVIDER_KIND}`; `windlass schema provider` prints the fields"
    )))
}

fn kind_wrong(value: &Value, at: &dyn Fn(&FieldPath) -> Place) -> Report {
    [
        ("apiVersion", PROVIDER_API_VERSION),
        ("kind", PROVIDER_KIND),
    ]
    .into_iter()
    .filter_map(|(field, wanted)| {
        let found = value.get(field)?.as_str()?;
        (found != wanted).then(|| {
            let finding = Diagnostic::of(
                &KIND_WRONG,
                format!(
                    "{field} is `{found}`, not `{wanted}`",
                    found = Quoted(found)
                ),
            );
            finding
                .at(at(&FieldPath::root().field(field)))
                .help(format!("write `{field}: {wanted}`"))
        })
    })
    .collect()
}

/// What no schema can say about one provider.
fn judge(declared: &Declared) -> Report {
    let mut report = components_exclusive(declared);
    report.extend(contents(declared));
    report.extend(contracts(declared));
    report.extend(reserved_name(declared));
    report.extend(crd_metadata(declared));
    report.extend(patches(declared));
    report.extend(undecided(declared));
    report
}

/// Reports open decisions: the release would lack something without a finding.
fn undecided(declared: &Declared) -> Report {
    let path = FieldPath::root().field("undecided");
    let lines = declared.provider.undecided.iter().enumerate();
    lines
        .map(|(at, line)| {
            Diagnostic::of(&UNDECIDED, format!("not decided: {line}"))
                .at(declared.place(&path.index(at)))
                .help("make the decision, and remove the line from `undecided`")
        })
        .collect()
}

fn components_exclusive(declared: &Declared) -> Report {
    let provider = &declared.provider;
    if provider.components.is_none() {
        return Report::new();
    }
    let present = [
        ("crds", provider.crds.is_some()),
        ("rbac", provider.rbac.is_some()),
        ("manager", provider.manager.is_some()),
        ("objects", !provider.objects.is_empty()),
    ];
    let also = present.into_iter().filter(|(_, there)| *there);
    also.map(|(field, _)| {
        let finding = Diagnostic::of(
            &COMPONENTS_EXCLUSIVE,
            format!("both components and {field} are given"),
        );
        let finding = finding.at(declared.place(&FieldPath::root().field(field)));
        let finding = finding.related(
            declared.place(&FieldPath::root().field("components")),
            "a file that is built already",
        );
        finding.help(format!(
            "remove {field}, which the file holds already, or components"
        ))
    })
    .collect()
}

fn contents(declared: &Declared) -> Report {
    let provider = &declared.provider;
    let mut report = Report::new();
    let root = FieldPath::root();
    let has_crds = provider
        .crds
        .as_ref()
        .is_some_and(|crds| !matches!(crds, Crds::Files(files) if files.is_empty()));
    let nothing = !has_crds
        && provider.manager.is_none()
        && provider.objects.is_empty()
        && provider.components.is_none();
    if nothing {
        let finding = Diagnostic::of(
            &COMPONENTS_EMPTY,
            format!("{} has nothing to install", provider.label()),
        );
        report.push(
            finding
                .at(declared.place(&root.field("name")))
                .help("give `crds`, `manager` or `objects`, or else `components`"),
        );
    }
    if matches!(provider.crds, Some(Crds::Files(_))) && provider.group.is_none() {
        let finding = Diagnostic::of(SYNTAX.missing, "group is missing, although there are crds")
            .at(declared.place(&root.field("crds")));
        report.push(finding.help("add `group:` with the API group of the CRDs"));
    }
    if provider.group.as_deref() != Some(BUILTIN_CRDS) {
        report.extend(builtin_foreign(declared));
    }
    report
}

/// What is `builtin` is for our own kinds.
fn builtin_foreign(declared: &Declared) -> Report {
    let provider = &declared.provider;
    let root = FieldPath::root();
    let has_rights = provider
        .rbac
        .as_ref()
        .is_some_and(|rbac| rbac.manager.is_some());
    let rights = root.field("rbac").field("manager");
    let mut report = Report::new();
    for (is_builtin, path, help) in [
        (
            provider.has_builtin_crds(),
            root.field("crds"),
            "name the files of your own CRDs",
        ),
        (
            has_rights,
            rights,
            "remove it: the rights are made from the provider's type and kinds; or name role files under `rbac.roles`",
        ),
    ] {
        if is_builtin {
            let message =
                format!("{path} is `builtin`, which means the kinds of {BUILTIN_CRDS} only");
            report.push(
                Diagnostic::of(&BUILTIN_FOREIGN, message)
                    .at(declared.place(&path))
                    .help(help),
            );
        }
    }
    report
}

fn contracts(declared: &Declared) -> Report {
    let provider = &declared.provider;
    let path = FieldPath::root().field("contracts");
    let mut report = Report::new();
    if provider.contracts.is_empty()
        && provider.crds.is_some()
        && provider.provider_type.has_contract()
    {
        let finding = Diagnostic::of(
            &CONTRACTS_MISSING,
            "contracts is missing, so the core would not find the kinds",
        );
        let finding = finding.at(declared.place(&FieldPath::root().field("crds")));
        report.push(finding.help(
            "add `contracts: {v1beta2: [VERSION]}` with the API versions that fulfil that contract",
        ));
    }
    report.extend(contract_versions(declared, &path, &provider.contracts));
    for (at, entry) in provider.crd_metadata.iter().enumerate() {
        let path = FieldPath::root()
            .field("crdMetadata")
            .index(at)
            .field("contracts");
        report.extend(
            entry.contracts.iter().flat_map(|contracts| {
                contract_versions(declared, &path, contracts).into_findings()
            }),
        );
    }
    report
}

/// Contracts and versions that are none.
fn contract_versions(
    declared: &Declared,
    path: &FieldPath,
    contracts: &BTreeMap<String, Vec<String>>,
) -> Report {
    let mut report = Report::new();
    for (contract, versions) in contracts {
        if ApiVersion::parse(contract).is_none() {
            let finding = Diagnostic::of(
                &CONTRACT_UNKNOWN,
                format!("`{contract}` under {path} is not a contract version"),
            );
            report.push(
                finding
                    .at(declared.place(&path.field(contract.as_str())))
                    .help("write `v1beta1` or `v1beta2`"),
            );
        }
        let bad = versions
            .iter()
            .position(|version| ApiVersion::parse(version).is_none());
        if versions.is_empty() || bad.is_some() {
            let at = bad.map_or(path.field(contract.as_str()), |i| {
                path.field(contract.as_str()).index(i)
            });
            let finding = Diagnostic::of(
                SYNTAX.rejected,
                format!("{path}.{contract} must list API versions"),
            );
            report.push(
                finding
                    .at(declared.place(&at))
                    .help(format!("write `{contract}: [v1beta1]`")),
            );
        }
    }
    report
}

/// A patch is a file or a text.
fn patches(declared: &Declared) -> Report {
    let entries = declared
        .provider
        .patches
        .iter()
        .enumerate()
        .filter(|(_, entry)| entry.path.is_some() == entry.patch.is_some());
    let finding = |(at, entry): (usize, &ObjectPatch)| {
        let path = FieldPath::root().field("patches").index(at);
        let which = if entry.path.is_some() {
            "both `path` and `patch`"
        } else {
            "neither `path` nor `patch`"
        };
        let finding = Diagnostic::of(SYNTAX.rejected, format!("{path} has {which}"))
            .at(declared.place(&path));
        finding.help("write `path: FILE`, or `patch: |-` with the patch below")
    };
    entries.map(finding).collect()
}

/// Labels that the release gets from other fields.
fn crd_metadata(declared: &Declared) -> Report {
    let path = |at: usize, key: &str| {
        FieldPath::root()
            .field("crdMetadata")
            .index(at)
            .field("labels")
            .key(key)
    };
    let entries = declared.provider.crd_metadata.iter().enumerate();
    let labels =
        entries.flat_map(|(at, entry)| entry.labels.keys().map(move |key| (at, key.as_str())));
    let rejected = labels.filter_map(|(at, key)| {
        let (instead, field) = match key {
            labels::PROVIDER => (
                "remove the line: the label is made of `type` and `name`".to_owned(),
                "type and name",
            ),
            key => {
                let contract = key
                    .strip_prefix(labels::CONTRACT_PREFIX)
                    .filter(|rest| ApiVersion::parse(rest).is_some())?;
                (
                    format!("write `{contract}: [VERSION]` under `contracts`"),
                    "contracts",
                )
            }
        };
        let finding = Diagnostic::of(
            SYNTAX.rejected,
            format!("crdMetadata has the label {key}, which is that of {field}"),
        );
        Some(finding.at(declared.place(&path(at, key))).help(instead))
    });
    rejected.collect()
}

/// clusterctl binds the name `cluster-api` and the core provider to each other.
fn reserved_name(declared: &Declared) -> Option<Diagnostic> {
    let provider = &declared.provider;
    let (is_core, has_name) = (
        provider.provider_type == ProviderType::CoreProvider,
        provider.name == CORE_PROVIDER,
    );
    (is_core != has_name).then(|| {
        Diagnostic::of(
            &NAME_RESERVED,
            format!(
                "name is `{}` and type is {}",
                provider.name,
                provider.provider_type.as_str()
            ),
        )
        .at(declared.place(&FieldPath::root().field("name")))
        .help(format!(
            "name the core provider, and no other one, `{CORE_PROVIDER}`"
        ))
        .note("clusterctl rejects a configuration that does otherwise")
    })
}

fn duplicated(providers: &[Declared]) -> Report {
    let mut report = Report::new();
    for (i, declared) in providers.iter().enumerate() {
        let same =
            |other: &&Declared| other.provider.provider_type == declared.provider.provider_type;
        if let Some(first) = providers[..i].iter().find(same) {
            let message = format!(
                "document {} is a second {} of the release",
                declared.document,
                declared.provider.provider_type.as_str()
            );
            let finding = Diagnostic::of(&DUPLICATED, message)
                .at(declared.place(&FieldPath::root().field("type")));
            let finding =
                finding.related(first.place(&FieldPath::root().field("type")), "the first");
            report.push(finding.help("release it from a provider.yaml of its own: both would write the same components file"));
        }
    }
    report
}

/// The patterns of the file that match nothing, or are none.
pub fn missing_files(declared: &Declared, inputs: &super::Inputs) -> Report {
    let mut report = Report::new();
    for (pattern, wanted) in declared.provider.wanted() {
        let Some(matched) = inputs.matched(pattern) else {
            continue;
        };
        let place = declared.pattern_place(pattern);
        if let Some(fault) = &matched.fault {
            let finding = Diagnostic::of(&FILE_MISSING, format!("the pattern `{pattern}` {fault}"))
                .at(place.clone());
            report
                .push(finding.help("write a path relative to provider.yaml, with `*` and `{a,b}`"));
        }
        for (path, strayed) in &matched.strayed {
            let (what, help) = match strayed {
                Strayed::Outside => (
                    "does not lie below the folder of provider.yaml",
                    "copy it there",
                ),
                Strayed::Hidden => (
                    "is hidden, or is in a hidden folder",
                    "give it another name",
                ),
            };
            let finding =
                Diagnostic::of(&FILE_OUTSIDE, format!("`{path}` {what}, so it is not read"))
                    .at(place.clone());
            let remedy = Remedy::new(format!("{help}, or pass ")).setting(Setting::AllowOutside);
            report.push(finding.help(remedy.then(" if you know all that provider.yaml names")));
        }
        for unmatched in &matched.unmatched {
            let (what, help) = match wanted {
                super::Wanted::Files if pattern == declared.provider.metadata_file() => (
                    "not a file, and every release needs it",
                    "write one with the release series in it, or correct `metadata`",
                ),
                super::Wanted::Excluded => (
                    "not a file, so it leaves nothing out",
                    "correct the path after `!`, or remove the line",
                ),
                super::Wanted::Files | super::Wanted::Components => (
                    "not a file",
                    "correct the path: it is relative to the folder of provider.yaml",
                ),
                super::Wanted::TemplateFolder => (
                    "not a folder with templates",
                    "correct the path: it is relative to the folder of provider.yaml",
                ),
            };
            let finding =
                Diagnostic::of(&FILE_MISSING, format!("`{unmatched}` is {what}")).at(place.clone());
            report.push(finding.help(help));
        }
    }
    report
}
