//! What kustomizations beside the files of a provider change, and the release does not have: told
//! at its place, so that nothing of it is lost unseen. kustomize itself is not rebuilt.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::definitions;
use super::names::Names;
use windlass_capi::contract::{Image, labels};
use windlass_go_yaml::goyaml;
use windlass_lint::definitions::{CRD_GROUP, CRD_KIND};
use windlass_objects::strategic_merge::DIRECTIVE;
use windlass_objects::{Object, fields};
use windlass_provider::{Action, Declared, Inputs, Kustomization, ObjectPatch, Patch};
use windlass_source::budget::Exceeded;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Report, Segment, rules};
use windlass_source::glob::plain;

rules! {
    /// a kustomization in the provider's folder changes objects, but the release does not include
    /// the change
    NOT_APPLIED = warning("provider-kustomization-not-applied");
}

const MOST_NAMED: usize = 6;
/// What to do where provider.yaml has no field for it.
const ELSEWHERE: &str = "write it into the file, or release what kustomize prints: `components: -` in provider.yaml takes it from standard input";
/// What to do with labels and annotations of objects that are not CRDs.
const AS_PATCH: &str = "write it into the file, or as a patch under `patches` of provider.yaml";
/// Values that only kustomize replaces, in annotations of cert-manager.
const INJECTION: &str = labels::INJECT_CA_FROM;

/// What the kustomizations change and the objects of the release do not have.
pub(super) fn not_applied(
    declared: &Declared,
    inputs: &Inputs,
    names: &Names,
    objects: &[Object],
) -> Report {
    if declared.provider.components.is_some() {
        return Report::new();
    }
    let mut report = Report::new();
    let named = Named::of(declared, inputs);
    let known_as: Vec<Vec<&str>> = objects
        .iter()
        .map(|object| names.unstamped(object.name()))
        .collect();
    for kustomization in inputs.kustomizations() {
        let takes = kustomization.takes();
        let taken: Vec<&Object> = objects
            .iter()
            .filter(|object| {
                object
                    .source()
                    .is_some_and(|source| takes.contains(&plain(source.name())))
            })
            .collect();
        let mut applied = Applied {
            named: &named,
            last: 0,
            entry: None,
        };
        for change in kustomization.changes(inputs.budget()) {
            let (what, lost, otherwise) = match &change.action {
                Action::NotFollowed(sentence) => {
                    report.push(
                        Diagnostic::of(&NOT_APPLIED, sentence.as_str())
                            .at(change.place)
                            .help(ELSEWHERE),
                    );
                    continue;
                }
                Action::Broken(sentence) => {
                    let finding = Diagnostic::of(&NOT_APPLIED, sentence.as_str()).at(change.place);
                    report.push(finding.help("correct it, or remove it if it is not needed"));
                    continue;
                }
                Action::NameSuffix(suffix) => {
                    if names.suffix != *suffix {
                        let message = format!(
                            "{} appends {suffix} to names, and provider.yaml does not",
                            kustomization.source().name()
                        );
                        let help = format!("write `nameSuffix: {suffix}` into provider.yaml");
                        report.push(
                            Diagnostic::of(&NOT_APPLIED, message)
                                .at(change.place)
                                .help(help),
                        );
                    }
                    continue;
                }
                Action::Metadata(field, wanted) => {
                    let wanted = json!({"metadata": {*field: wanted}});
                    let lost = lost_of_all(taken.iter().copied(), inputs, |object| {
                        lost_of_merge(names, object.value(), &wanted)
                    });
                    (
                        kustomization.source().name().to_string(),
                        lost,
                        AS_PATCH.to_owned(),
                    )
                }
                Action::Patch(patch) if applied.has(kustomization, patch) => continue,
                Action::Patch(patch) => {
                    // That each is looked at costs something too.
                    let looked_at = objects
                        .iter()
                        .zip(&known_as)
                        .take_while(|_| inputs.budget().charge(10).is_ok());
                    let meant = looked_at.filter(|(object, known_as)| {
                        patch
                            .target
                            .fits([object.group(), object.version(), object.kind()], known_as)
                    });
                    let meant = meant.map(|(object, _)| object);
                    let lost =
                        lost_of_all(meant, inputs, |object| lost_of_patch(names, object, patch));
                    (
                        kustomization.title(&patch.entry.path),
                        lost,
                        as_patch(declared, kustomization, patch),
                    )
                }
            };
            report.extend(finding(
                declared,
                &what,
                change.place.clone(),
                &lost,
                &otherwise,
            ));
            if let Some(spent) = inputs.budget().exceeded() {
                // Told once, at the end of the build.
                drop(
                    inputs
                        .budget()
                        .blamed(|| uncompared(&what, spent, change.place)),
                );
                return report;
            }
        }
    }
    report
}

/// The finding that with this change the run has compared all that it may.
fn uncompared(what: &str, spent: Exceeded, place: Place) -> Diagnostic {
    let message =
        format!("with {what} there are {spent}; what follows is not compared with the release");
    Diagnostic::of(&NOT_APPLIED, message)
        .at(place)
        .help("name under `target` of its patches the objects that are meant")
}

/// The fields of an object that a change would set, with their values; null where it would take
/// them away.
struct Lost<'o> {
    object: &'o Object,
    fields: Vec<(FieldPath, Value)>,
}

fn lost_of_all<'o>(
    objects: impl Iterator<Item = &'o Object>,
    inputs: &Inputs,
    lost: impl Fn(&Object) -> Vec<(FieldPath, Value)>,
) -> Vec<Lost<'o>> {
    // A patch without a name is for all objects of a kind: what that costs counts.
    let affordable = objects.take_while(|_| inputs.budget().charge(1000).is_ok());
    affordable
        .map(|object| Lost {
            object,
            fields: lost(object),
        })
        .filter(|lost| !lost.fields.is_empty())
        .collect()
}

/// The file of a patch, without dots in its path.
fn file_of(kustomization: &Kustomization, patch: &Patch) -> Option<String> {
    let file = patch
        .entry
        .path
        .as_ref()
        .and_then(|file| kustomization.patch_source(file));
    file.map(|source| plain(source.name()))
}

/// The patches that provider.yaml names, one for each file, and where among them each stands last.
struct Named(BTreeMap<ObjectPatch, usize>);

impl Named {
    fn of(declared: &Declared, inputs: &Inputs) -> Self {
        let mut named = BTreeMap::new();
        for entry in &declared.provider.patches {
            for file in entry.path.iter().flat_map(|pattern| inputs.files(pattern)) {
                named.insert(
                    ObjectPatch {
                        path: Some(plain(file.name())),
                        patch: None,
                        target: entry.target.clone(),
                    },
                    named.len(),
                );
            }
            if entry.patch.is_some() {
                named.insert(entry.clone(), named.len());
            }
        }
        Named(named)
    }
}

/// The patches of a kustomization that provider.yaml names in the same order: what a later one sets
/// again they have set.
struct Applied<'n> {
    named: &'n Named,
    /// Where the last one of them is in provider.yaml.
    last: usize,
    /// The entry that was looked up last, which may have many documents.
    entry: Option<(Arc<ObjectPatch>, bool)>,
}

impl Applied<'_> {
    /// Whether provider.yaml names the patch, and not before the last one that was found.
    fn has(&mut self, kustomization: &Kustomization, patch: &Patch) -> bool {
        if let Some((entry, has)) = &self.entry
            && Arc::ptr_eq(entry, &patch.entry)
        {
            return *has;
        }
        let wanted = ObjectPatch {
            path: file_of(kustomization, patch),
            ..(*patch.entry).clone()
        };
        let at = self
            .named
            .0
            .get(&wanted)
            .copied()
            .filter(|at| *at >= self.last);
        self.last = at.unwrap_or(self.last);
        self.entry = Some((Arc::clone(&patch.entry), at.is_some()));
        at.is_some()
    }
}

/// How provider.yaml says the same as a patch of a kustomization.
fn as_patch(declared: &Declared, kustomization: &Kustomization, patch: &Patch) -> String {
    let of_provider = declared
        .source_name()
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    let path = file_of(kustomization, patch).and_then(|file| match of_provider {
        "" => Some(file),
        folder => file
            .strip_prefix(&format!("{}/", plain(folder)))
            .map(str::to_owned),
    });
    match path {
        Some(path) if patch.entry.target.is_some() => {
            format!(
                "write `- path: {path}` with the same `target` under `patches` of provider.yaml, in the order of the kustomization"
            )
        }
        Some(path) => format!("write `- path: {path}` under `patches` of provider.yaml"),
        None => "write the same entry under `patches` of provider.yaml".to_owned(),
    }
}

fn lost_of_patch(names: &Names, object: &Object, patch: &Patch) -> Vec<(FieldPath, Value)> {
    match &patch.content {
        Value::Array(operations) => operations
            .iter()
            .filter_map(|operation| lost_of_operation(names, object.value(), operation))
            .collect(),
        merge => lost_of_merge(names, object.value(), merge),
    }
}

/// What an operation of a JSON patch would change.
fn lost_of_operation(
    names: &Names,
    object: &Value,
    operation: &Value,
) -> Option<(FieldPath, Value)> {
    let pointer = operation["path"].as_str()?;
    let value = &operation["value"];
    let path = path_of(pointer);
    match operation["op"].as_str()? {
        "test" => None,
        "remove" => object
            .pointer(pointer)
            .is_some()
            .then_some((path, Value::Null)),
        "add" | "replace" => {
            let is_there = match pointer.strip_suffix("/-") {
                Some(list) => object
                    .pointer(list)
                    .and_then(Value::as_array)
                    .is_some_and(|items| items.iter().any(|item| has(names, item, value))),
                None => object
                    .pointer(pointer)
                    .is_some_and(|found| has(names, found, value)),
            };
            (!is_there && !is_conversion(object, &path)).then(|| (path, value.clone()))
        }
        // `move` and `copy`: what they bring is not looked for elsewhere.
        _ => object
            .pointer(pointer)
            .is_none()
            .then(|| (path, operation["from"].clone())),
    }
}

fn path_of(pointer: &str) -> FieldPath {
    let name = |name: &str| name.replace("~1", "/").replace("~0", "~");
    let segment = |part: &str| {
        part.parse()
            .map_or_else(|_| segment(&name(part)), Segment::Index)
    };
    pointer.split('/').skip(1).map(segment).collect()
}

fn segment(name: &str) -> Segment {
    if name.contains(['.', '/']) {
        Segment::Key(name.to_owned())
    } else {
        Segment::Field(name.to_owned())
    }
}

/// A conversion that is said in our words, or that nobody needs because there is one version.
fn is_conversion(object: &Value, path: &FieldPath) -> bool {
    let converts = object["spec"]["conversion"]["strategy"] == "Webhook";
    let versions = fields::items(object, &["spec", "versions"]).len();
    fields::kind(object) == CRD_KIND && is_of_conversion(path) && (converts || versions < 2)
}

fn is_of_conversion(path: &FieldPath) -> bool {
    path.segments()
        .starts_with(FieldPath::of_fields("spec.conversion").segments())
}

/// The leaves of a merge patch that an object does not have.
fn lost_of_merge(names: &Names, object: &Value, patch: &Value) -> Vec<(FieldPath, Value)> {
    if is_deleted(patch) {
        return vec![(FieldPath::root(), Value::Null)];
    }
    let mut lost = Vec::new();
    let identity = ["apiVersion", "kind"];
    for (field, value) in patch
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(field, _)| !identity.contains(&field.as_str()))
    {
        if field == "metadata" {
            let metadata = value
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(field, _)| *field != "name" && *field != "namespace");
            let metadata: Map<String, Value> = metadata
                .map(|(field, value)| (field.clone(), value.clone()))
                .collect();
            walk(
                names,
                &object[field],
                &Value::Object(metadata),
                &FieldPath::of_fields(field),
                &mut lost,
            );
        } else {
            walk(
                names,
                &object[field],
                value,
                &FieldPath::of_fields(field),
                &mut lost,
            );
        }
    }
    lost.retain(|(path, value)| {
        let is_moot = metadata_entry(path, value).is_some_and(|(_, key, text)| {
            // The provider's label is that of `type` and `name`.
            key == labels::PROVIDER
                || is_unserved(object, key, text)
                || is_idle_injection(object, key)
        });
        !is_moot && !is_conversion(object, path)
    });
    lost
}

/// CA injection into a CRD that no webhook converts.
fn is_idle_injection(object: &Value, key: &str) -> bool {
    key == INJECTION
        && fields::kind(object) == CRD_KIND
        && object["spec"]["conversion"]["strategy"] != "Webhook"
}

/// A contract label of which a CRD serves no version: it would lead the core to a version that is
/// not there.
fn is_unserved(crd: &Value, key: &str, versions: &str) -> bool {
    let served = definitions::versions(crd);
    definitions::is_contract_label(key)
        && !versions
            .split(labels::CONTRACT_VERSIONS_SEPARATOR)
            .any(|version| served.contains(&version))
}

fn walk(
    names: &Names,
    found: &Value,
    wanted: &Value,
    path: &FieldPath,
    lost: &mut Vec<(FieldPath, Value)>,
) {
    match wanted {
        Value::Object(fields) if !fields.is_empty() => {
            if is_deleted(wanted) {
                lost.extend((!found.is_null()).then(|| (path.clone(), Value::Null)));
                return;
            }
            for (key, value) in fields.iter().filter(|(key, _)| !key.starts_with('$')) {
                // The Certificate has another name here, and a CRD is labelled with the versions
                // that it has: that there is one is what counts.
                let is_made = key == INJECTION || definitions::is_contract_label(key);
                if is_made && found.get(key).is_some_and(Value::is_string) {
                    continue;
                }
                walk(
                    names,
                    found.get(key).unwrap_or(&Value::Null),
                    value,
                    &path.with(segment(key)),
                    lost,
                );
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                walk(
                    names,
                    counterpart(names, found, item),
                    item,
                    &path.index(index),
                    lost,
                );
            }
        }
        _ if says(names, path, found, wanted)
            || is_default(path, wanted)
            || is_placeholder(names, path, found, wanted) => {}
        _ => lost.push((path.clone(), wanted.clone())),
    }
}

/// Whether a map of a strategic merge patch takes away what it stands for.
fn is_deleted(patch: &Value) -> bool {
    patch
        .get(DIRECTIVE)
        .is_some_and(|directive| directive == "delete")
}

/// What Kubernetes fills in where nobody says anything.
fn is_default(path: &FieldPath, wanted: &Value) -> bool {
    const DEFAULTS: [(&str, i64); 5] = [
        ("defaultMode", 420),
        ("failureThreshold", 3),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("timeoutSeconds", 1),
    ];
    let Some(Segment::Field(field)) = path.segments().last() else {
        return false;
    };
    DEFAULTS
        .iter()
        .any(|(known, value)| known == field && wanted == value)
        || (field == "protocol" && wanted == "TCP")
}

/// A name that only kustomize knows (`$(SERVICE_NAME)-cert`), where the release has its own; or an
/// image, which provider.yaml names.
fn is_placeholder(names: &Names, path: &FieldPath, found: &Value, wanted: &Value) -> bool {
    let (Some(found), Some(wanted)) = (found.as_str(), wanted.as_str()) else {
        return false;
    };
    let is_ours = match path.segments().last() {
        Some(Segment::Field(field)) if field == "image" => Image::parse(found).is_ok(),
        Some(Segment::Field(field)) if field == "secretName" => found == names.certificate_secret(),
        _ => false,
    };
    is_ours || wanted.contains("$(")
}

/// The item of a list that is meant by one of a patch.
fn counterpart<'v>(names: &Names, found: &'v Value, item: &Value) -> &'v Value {
    let keys = ["name", "mountPath", "containerPort"];
    let is_same = |other: &&Value| {
        keys.iter()
            .find(|key| item.get(**key).is_some())
            .is_some_and(|key| other.get(*key) == item.get(*key))
    };
    let items = || found.as_array().into_iter().flatten();
    items()
        .find(is_same)
        .or_else(|| items().find(|other| has(names, other, item)))
        .unwrap_or(&Value::Null)
}

/// Whether a field says what is wanted there. Labels and annotations are distinguished by the whole
/// of their texts.
fn says(names: &Names, path: &FieldPath, found: &Value, wanted: &Value) -> bool {
    if metadata_entry(path, wanted).is_some() {
        found == wanted
    } else {
        has(names, found, wanted)
    }
}

/// Whether a value says all that is wanted. Names may have got a prefix and a suffix, and lists may
/// hold more.
fn has(names: &Names, found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::String(found), Value::String(wanted)) => {
            let bare = found.strip_suffix(names.suffix.as_str()).unwrap_or(found);
            found == wanted
                || bare == wanted
                || [found, bare]
                    .iter()
                    .any(|found| found.ends_with(&format!("-{wanted}")))
        }
        (Value::Array(found), Value::Array(wanted)) => wanted
            .iter()
            .all(|wanted| found.iter().any(|found| has(names, found, wanted))),
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, value)| has(names, found.get(key).unwrap_or(&Value::Null), value)),
        (found, wanted) => found == wanted,
    }
}

fn finding(
    declared: &Declared,
    what: &str,
    place: Place,
    lost: &[Lost<'_>],
    otherwise: &str,
) -> Option<Diagnostic> {
    let first = lost.first()?;
    let paths: Vec<String> = first
        .fields
        .iter()
        .take(MOST_NAMED)
        .map(|(path, _)| path.to_string())
        .collect();
    let more = if first.fields.len() > MOST_NAMED {
        ", …"
    } else {
        ""
    };
    let title = first.object.title();
    let fields = if first.fields[0].0.is_root() {
        title
    } else {
        format!("{}{more} of {title}", paths.join(", "))
    };
    let others = match lost.len() - 1 {
        0 => String::new(),
        1 => format!(" and {}", lost[1].object.title()),
        others => format!(" and of {others} others"),
    };
    let takes_away = first.fields.iter().all(|(_, value)| value.is_null());
    let message = if takes_away {
        format!("{what} removes {fields}{others}, which the release still has")
    } else {
        format!("{what} sets {fields}{others}, which the release does not have")
    };
    let finding = Diagnostic::of(&NOT_APPLIED, message)
        .at(place)
        .help(help(declared, lost, otherwise));
    Some(finding.note("kustomizations are not applied: their files are read as they are"))
}

/// Where provider.yaml can say it; `otherwise` where it has no field of its own for it.
fn help(declared: &Declared, lost: &[Lost<'_>], otherwise: &str) -> String {
    let is_metadata = |lost: &Lost<'_>| {
        lost.fields
            .iter()
            .all(|(path, value)| metadata_entry(path, value).is_some())
    };
    let all_crds = lost.iter().all(|lost| lost.object.is(CRD_GROUP, CRD_KIND));
    let is_manager =
        |lost: &Lost<'_>| lost.object.is("apps", "Deployment") && lost.object.source().is_none();
    let contract = |(path, value): &(FieldPath, Value)| {
        let (_, key, versions) = metadata_entry(path, value)
            .filter(|(_, key, _)| definitions::is_contract_label(key))?;
        let versions: Vec<&str> = versions
            .split(labels::CONTRACT_VERSIONS_SEPARATOR)
            .collect();
        Some(format!(
            "write `{}: [{}]` under `contracts` of provider.yaml",
            key.strip_prefix(labels::CONTRACT_PREFIX)?,
            versions.join(", ")
        ))
    };
    if let Some(help) = lost[0].fields.iter().find_map(contract) {
        return help;
    }
    if all_crds && lost.iter().all(is_metadata) {
        return format!(
            "write under `crdMetadata` of provider.yaml: `{}`",
            crd_metadata(lost)
        );
    }
    if all_crds
        && lost
            .iter()
            .all(|lost| lost.fields.iter().all(|(path, _)| is_of_conversion(path)))
    {
        return "write `conversion: true` under `manager` of provider.yaml".to_owned();
    }
    if declared.provider.manager.is_some() && lost.iter().all(is_manager) {
        return "write it under `manager.patch` of provider.yaml, which takes a patch of the same form".to_owned();
    }
    otherwise.to_owned()
}

/// The map (`labels`, `annotations`), key and text of a field of the metadata.
fn metadata_entry<'v>(
    path: &'v FieldPath,
    value: &'v Value,
) -> Option<(&'v str, &'v str, &'v str)> {
    let name = |segment: &'v Segment| match segment {
        Segment::Field(name) | Segment::Key(name) => Some(name.as_str()),
        Segment::Index(_) => None,
    };
    let [metadata, map, key] = path.segments() else {
        return None;
    };
    let map = name(map).filter(|map| ["labels", "annotations"].contains(map))?;
    (name(metadata)? == "metadata").then_some((map, name(key)?, value.as_str()?))
}

/// The line of `crdMetadata` that says what is lost of the first object, for the kinds of all.
fn crd_metadata(lost: &[Lost<'_>]) -> String {
    let kinds: Vec<&str> = lost
        .iter()
        .map(|lost| lost.object.text(&["spec", "names", "kind"]))
        .collect();
    let entries = lost[0]
        .fields
        .iter()
        .filter_map(|(path, value)| metadata_entry(path, value));
    let mut maps: Map<String, Value> = Map::new();
    for (map, key, text) in entries {
        let map = maps.entry(map).or_insert_with(|| json!({}));
        map[key] = text.into();
    }
    let scalar = |value: &str| {
        goyaml::to_string(&json!(value))
            .map_or_else(|_| value.to_owned(), |text| text.trim_end().to_owned())
    };
    let entry = |(key, value): (&String, &Value)| {
        format!("{key}: {}", scalar(value.as_str().unwrap_or_default()))
    };
    let line = |(map, entries): (&String, &Value)| {
        let entries: Vec<String> = entries
            .as_object()
            .into_iter()
            .flatten()
            .map(entry)
            .collect();
        format!("{map}: {{{}}}", entries.join(", "))
    };
    let maps: Vec<String> = maps.iter().map(line).collect();
    format!("- {{kinds: [{}], {}}}", kinds.join(", "), maps.join(", "))
}

#[cfg(test)]
mod tests;
