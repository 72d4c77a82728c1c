//! `patches` of provider.yaml: strategic merge patches and JSON patches of the objects of a
//! release, as kustomize applies them.

use serde_json::{Map, Value};

use super::manager_patch::PATCH_REJECTED;
use super::names::Names;
use windlass_go_yaml::yaml;
use windlass_objects::{Object, json_patch, kustomize_merge};
use windlass_provider::{Declared, Inputs, ObjectPatch, Target};
use windlass_source::Source;
use windlass_source::budget::Exceeded;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Quoted, Report, rules};

rules! {
    /// a patch in provider.yaml matches no object of the release
    UNMATCHED = error("provider-patch-unmatched");
}

/// What a patch must not change, because it would be another object then.
const IDENTITY: [&str; 4] = [
    "/apiVersion",
    "/kind",
    "/metadata/name",
    "/metadata/namespace",
];

/// The patches of a provider, in their order.
#[derive(Debug, Default)]
pub(super) struct Patches {
    all: Vec<Prepared>,
}

/// A document of a patch.
#[derive(Debug)]
struct Prepared {
    /// Where it begins: in its file, or in provider.yaml.
    place: Place,
    /// Where a part of it stands, if it is of a file.
    origin: Option<yaml::Origin>,
    /// How findings call it.
    title: String,
    target: Target,
    content: Content,
    /// Whether an object has been found for it.
    is_used: bool,
}

#[derive(Debug)]
enum Content {
    /// A strategic merge patch.
    Merge(Map<String, Value>),
    /// The operations of a JSON patch.
    Operations(Vec<Value>),
}

impl Patches {
    pub(super) fn read(declared: &Declared, inputs: &Inputs) -> (Self, Report) {
        let (mut patches, mut report) = (Patches::default(), Report::new());
        for (at, entry) in declared.provider.patches.iter().enumerate() {
            let path = FieldPath::root().field("patches").index(at);
            for file in entry.path.iter().flat_map(|pattern| inputs.files(pattern)) {
                patches.add(entry, file, None, inputs, &mut report);
            }
            if let Some(text) = &entry.patch {
                let place = declared.place(&path.field("patch"));
                patches.add(
                    entry,
                    &Source::new(declared.source_name(), text.as_str()),
                    Some(place),
                    inputs,
                    &mut report,
                );
            }
        }
        (patches, report)
    }

    /// Adds the documents of a text; `place` is where it begins, if it is not a file.
    fn add(
        &mut self,
        entry: &ObjectPatch,
        source: &Source,
        place: Option<Place>,
        inputs: &Inputs,
        report: &mut Report,
    ) {
        let title = if place.is_some() {
            "a patch".to_owned()
        } else {
            source.name().to_string()
        };
        let read = yaml::values(source, inputs.budget());
        let rejected = |why: &str, place: Place| {
            Diagnostic::of(&PATCH_REJECTED, format!("{title} {why}")).at(place)
        };
        if let (Some(place), Some(fault)) = (
            &place,
            read.report
                .findings()
                .first()
                .filter(|_| read.report.has_errors()),
        ) {
            let finding = rejected(&format!("cannot be read: {}", fault.message), place.clone());
            report.push(finding.help("correct the YAML of the text"));
            return;
        }
        if place.is_none() {
            report.extend(read.report);
        }
        let documents: Vec<_> = read
            .documents
            .into_iter()
            .filter(|document| !document.value.is_null())
            .collect();
        let is_ambiguous = entry.target.is_some() && documents.len() > 1;
        for document in documents {
            let begins = place
                .clone()
                .unwrap_or_else(|| document.origin.place(&FieldPath::root()));
            let target = match Target::of(entry.target.as_ref(), &document.value) {
                Ok(target) => target,
                Err(why) => {
                    let help = "write under `target` which objects are meant: `{kind: KIND, name: NAME}`, and `group` and `version` if needed";
                    report.push(rejected(why, begins).help(help));
                    continue;
                }
            };
            let content = match Content::of(&document) {
                Ok(Content::Merge(_)) if is_ambiguous => {
                    let finding = rejected("has a target and several merge patches", begins);
                    report.push(
                        finding.help("write one entry for each patch, or leave out `target`"),
                    );
                    continue;
                }
                Ok(content) => content,
                Err((why, help)) => {
                    report.push(rejected(why, begins).help(help));
                    continue;
                }
            };
            let origin = place.is_none().then_some(document.origin);
            self.all.push(Prepared {
                place: begins,
                origin,
                title: title.clone(),
                target,
                content,
                is_used: false,
            });
        }
    }

    /// The objects with all that is for them; without those that a patch deletes.
    pub(super) fn apply(
        &mut self,
        names: &Names,
        inputs: &Inputs,
        objects: Vec<Object>,
        report: &mut Report,
    ) -> Vec<Object> {
        if self.all.is_empty() {
            return objects;
        }
        objects
            .into_iter()
            .filter_map(|object| self.patched(names, inputs, object, report))
            .collect()
    }

    fn patched(
        &mut self,
        names: &Names,
        inputs: &Inputs,
        object: Object,
        report: &mut Report,
    ) -> Option<Object> {
        let mut patched: Option<Value> = None;
        let identity = [object.group(), object.version(), object.kind()];
        let known_as = names.unstamped(object.name());
        for patch in &mut self.all {
            // That each is looked at costs something too.
            let (budget, fits) = (inputs.budget(), patch.target.fits(identity, &known_as));
            if let Err(spent) = budget.charge(if fits { 1010 } else { 10 }) {
                // Told once, at the end of the build.
                drop(budget.blamed(|| patch.unpaid(spent)));
                break;
            }
            if !fits {
                continue;
            }
            patch.is_used = true;
            let value = patched.get_or_insert_with(|| object.value().clone());
            match patch.content.apply(value, &object, inputs) {
                Ok(Remains::Yes) => {}
                Ok(Remains::No) => return None,
                Err((path, why)) => report.push(patch.rejected(&object, &path, &why)),
            }
        }
        Some(match patched {
            Some(value) => object.patched(value),
            None => object,
        })
    }

    /// The patches for which there was no object.
    pub(super) fn unmatched(&self) -> Vec<Diagnostic> {
        let unused = self.all.iter().filter(|patch| !patch.is_used);
        unused
            .map(|patch| {
                let finding = Diagnostic::of(
                    &UNMATCHED,
                    format!(
                        "no object of the release is the one that {} is for",
                        patch.title
                    ),
                );
                finding
                    .at(patch.place.clone())
                    .help("correct kind and name, or remove the patch")
            })
            .collect()
    }
}

impl Prepared {
    /// The finding that with this patch the run has done all that it may.
    fn unpaid(&self, spent: Exceeded) -> Diagnostic {
        let message = format!(
            "with {} there are {spent}; what follows is not patched",
            self.title
        );
        Diagnostic::of(&PATCH_REJECTED, message)
            .at(self.place.clone())
            .help("write fewer patches, or name under `target` the objects that are meant")
    }

    fn rejected(&self, object: &Object, path: &FieldPath, why: &str) -> Diagnostic {
        let place = self
            .origin
            .as_ref()
            .map_or_else(|| self.place.clone(), |origin| origin.place(path));
        let finding = Diagnostic::of(
            &PATCH_REJECTED,
            format!(
                "{} does not apply to {}: {why}",
                self.title,
                object.title(),
                why = Quoted(why)
            ),
        );
        finding
            .at(place)
            .related(object.place(&FieldPath::root()), "the object")
            .help("correct the patch, or its target")
    }
}

/// Whether an object is still there after a patch.
enum Remains {
    Yes,
    No,
}

/// What programs write for each other: kustomize would leave it in the object.
const MACHINES: [&str; 3] = [
    "$retainKeys",
    "$setElementOrder/",
    "$deleteFromPrimitiveList/",
];

impl Content {
    /// What a document is. kustomize takes a map for a merge patch only if it has the kind and the
    /// name of an object (`PatchTransformer`, `resource.Factory`).
    ///
    /// # Errors
    /// What is wrong, and the help.
    fn of(document: &yaml::DocumentValue) -> Result<Self, (&'static str, &'static str)> {
        let text = |pointer: &str| document.value.pointer(pointer).and_then(Value::as_str);
        match &document.value {
            Value::Array(operations) => Ok(Content::Operations(operations.clone())),
            Value::Object(_) if text("/op").is_some() && text("/path").is_some() => Err((
                "is one operation of a JSON patch, not a list of them",
                "write a dash before it: `- op: …`",
            )),
            Value::Object(_) if text("/kind").is_none() || text("/metadata/name").is_none() => {
                Err((
                    "has no `kind` and no `metadata.name`, so that it is neither a strategic merge patch nor a JSON patch",
                    "add `apiVersion`, `kind` and `metadata.name`; with a target they may be any",
                ))
            }
            Value::Object(_) => match document.origin.value_of_yaml_1_2() {
                Value::Object(fields) => Ok(Content::Merge(fields)),
                _ => Err(("cannot be read as YAML 1.2", "write a map of fields")),
            },
            _ => Err((
                "is neither a strategic merge patch nor a JSON patch",
                "write a map of fields, or a list of operations with `op`, `path` and `value`",
            )),
        }
    }

    /// Changes the value of an object.
    ///
    /// # Errors
    /// Where in the patch the fault is, and what it is.
    fn apply(
        &self,
        value: &mut Value,
        object: &Object,
        inputs: &Inputs,
    ) -> Result<Remains, (FieldPath, String)> {
        match self {
            Content::Merge(patch) => {
                if let Some(at) = directive_of_machines(patch, FieldPath::root()) {
                    let why =
                        "this directive is for programs, and kustomize leaves it in the object";
                    return Err((at, why.to_owned()));
                }
                let patch = with_identity(patch, object.value());
                let merged = kustomize_merge::merge(
                    (object.group(), object.kind()),
                    value.clone(),
                    Value::Object(patch),
                );
                match merged.map_err(|fault| (fault.path, fault.kind.to_string()))? {
                    None => return Ok(Remains::No),
                    Some(mut merged) => {
                        restore_identity(&mut merged, object.value());
                        *value = merged;
                    }
                }
            }
            Content::Operations(operations) => {
                let is_bare = value["metadata"].get("annotations").is_none();
                add_annotations(value, is_bare);
                for (at, operation) in operations.iter().enumerate() {
                    let at = FieldPath::root().index(at);
                    json_patch::apply_written(value, operation, inputs.budget())
                        .map_err(|why| (at, why))?;
                }
                remove_annotations(value, is_bare);
            }
        }
        match IDENTITY
            .into_iter()
            .find(|field| object.value().pointer(field) != value.pointer(field))
        {
            Some(field) => Err((
                FieldPath::root(),
                format!("it would change {}", field[1..].replace('/', ".")),
            )),
            None => Ok(Remains::Yes),
        }
    }
}

/// The first directive that programs write for each other.
fn directive_of_machines(patch: &Map<String, Value>, at: FieldPath) -> Option<FieldPath> {
    patch.iter().find_map(|(key, value)| {
        let at = at.field(key.as_str());
        if MACHINES.iter().any(|directive| key.starts_with(directive)) {
            return Some(at);
        }
        directive_of_machines(value.as_object()?, at)
    })
}

/// While kustomize works, each object has annotations of its own, so that a JSON patch can add to
/// `/metadata/annotations` of any object.
fn add_annotations(value: &mut Value, is_bare: bool) {
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
        && is_bare
    {
        metadata.insert("annotations".to_owned(), Value::Object(Map::new()));
    }
}

fn remove_annotations(value: &mut Value, is_bare: bool) {
    let is_empty = value["metadata"]["annotations"]
        .as_object()
        .is_some_and(Map::is_empty);
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
        && is_bare
        && is_empty
    {
        metadata.remove("annotations");
    }
}

/// A patch that replaces the metadata keeps name and namespace of the object, as kustomize does.
fn restore_identity(value: &mut Value, object: &Value) {
    for field in ["apiVersion", "kind"] {
        if let Some(text) = object.get(field) {
            value[field] = text.clone();
        }
    }
    let own = &object["metadata"];
    for field in ["name", "namespace"] {
        if let Some(text) = own.get(field) {
            if !value["metadata"].is_object() {
                value["metadata"] = Value::Object(Map::new());
            }
            value["metadata"][field] = text.clone();
        }
    }
}

/// The patch with kind, version and name of the object: those of a patch say only what it is for.
fn with_identity(patch: &Map<String, Value>, object: &Value) -> Map<String, Value> {
    let mut patch = patch.clone();
    for field in ["apiVersion", "kind"] {
        if let (Some(given), Some(own)) = (patch.get_mut(field), object.get(field)) {
            *given = own.clone();
        }
    }
    if let Some(Value::Object(metadata)) = patch.get_mut("metadata") {
        for field in ["name", "namespace"] {
            match object["metadata"].get(field) {
                Some(own) if metadata.contains_key(field) => {
                    metadata.insert(field.to_owned(), own.clone())
                }
                _ => metadata.remove(field),
            };
        }
    }
    patch
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use windlass_provider as provider;
    use windlass_source::budget::Budget;

    /// A provider with these patches, and no files.
    fn declared(patches: &Value) -> Declared {
        let provider = json!({
            "apiVersion": "windlass.dev/v1alpha1", "kind": "Provider", "name": "foo", "type": "InfrastructureProvider", "namespace": "foo-system",
            "objects": ["x.yaml"], "patches": patches,
        });
        let (mut declared, report) = provider::parse(
            &Source::new("provider.yaml", provider.to_string()),
            &Budget::default(),
        );
        assert!(report.is_empty(), "{report:?}");
        declared.remove(0)
    }

    /// What becomes of some objects, and what is said.
    fn patched(patches: &Value, objects: &[Value], budget: Budget) -> (Vec<Value>, Report) {
        let inputs = Inputs::within(std::sync::Arc::new(budget));
        let (mut patches, mut report) = Patches::read(&declared(patches), &inputs);
        let objects = objects.iter().cloned().map(Object::made).collect();
        let after = patches.apply(&Names::of_foo(), &inputs, objects, &mut report);
        report.extend(patches.unmatched());
        (after.into_iter().map(Object::into_value).collect(), report)
    }

    /// The value with lists of maps in the order of their texts.
    fn unordered(value: &Value) -> Value {
        match value {
            Value::Array(items) => {
                let mut items: Vec<Value> = items.iter().map(unordered).collect();
                if items.iter().all(Value::is_object) {
                    items.sort_by_key(Value::to_string);
                }
                items.into()
            }
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| (key.clone(), unordered(value)))
                .collect(),
            other => other.clone(),
        }
    }

    /// What the real kustomize makes of the same patches; the file says which.
    #[test]
    fn patches_are_applied_as_kustomize_does() {
        let recorded: Value =
            serde_json::from_str(include_str!("../../tests/kustomize_patches.json")).unwrap();
        let objects = recorded["objects"].as_array().unwrap();
        let cases = recorded["cases"].as_array().unwrap();
        assert!(cases.len() > 30, "{}", cases.len());
        for case in cases {
            let name = case["name"].as_str().unwrap();
            let mut entry = json!({"patch": case["patch"].to_string()});
            if let Some(target) = case.get("target") {
                entry["target"] = target.clone();
            }
            let (after, report) = patched(&json!([entry]), objects, Budget::default());
            let Some(changed) = case.get("changed") else {
                assert!(report.has_errors(), "{name}");
                continue;
            };
            assert!(report.is_empty(), "{name}: {report:?}");
            let differing: Vec<Value> = after
                .iter()
                .filter(|object| !objects.contains(object))
                .cloned()
                .collect();
            assert_eq!(unordered(&differing.into()), unordered(changed), "{name}");
            assert_eq!(
                after.len() + case["gone"].as_array().unwrap().len(),
                objects.len(),
                "{name}"
            );
        }
    }

    /// Patches for all objects of a kind cost what they do: many of them times many objects are
    /// paid for.
    #[test]
    fn many_patches_of_many_objects_are_paid_for() {
        let patch = json!({"target": {"kind": "ConfigMap"}, "patch": "[{op: add, path: /data, value: {}}]"});
        let patches = Value::from(vec![patch; 50]);
        let objects: Vec<Value> =
            (0..50).map(|at| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("c{at}")}})).collect();
        let spent = |steps: u64| {
            let budget = std::sync::Arc::new(Budget::of(steps));
            let inputs = Inputs::within(std::sync::Arc::clone(&budget));
            let (mut patches, mut report) = Patches::read(&declared(&patches), &inputs);
            patches.apply(
                &Names::of_foo(),
                &inputs,
                objects.iter().cloned().map(Object::made).collect(),
                &mut report,
            );
            budget.tell(&mut report);
            report
        };
        // Each of 2,500 costs a thousand steps and something to find it.
        let too_few = spent(50 * 50 * 1000);
        let last = too_few
            .findings()
            .last()
            .expect("what is not applied is told");
        assert!(
            last.rule.id == PATCH_REJECTED.id
                && last.message.contains("what follows is not patched"),
            "{too_few:?}"
        );
        let enough = spent(50 * 50 * 1100);
        assert!(!enough.has_errors(), "{enough:?}");
    }
}
