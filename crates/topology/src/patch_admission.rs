//! What the webhook of ClusterClasses rejects of patches: `patch_validation.go` of Cluster API's
//! `core/webhooks/admission`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::PATCH_EXTERNAL;
use super::class::{Class, Reference, WorkerClass};
use super::items::class_matches;
use super::part::Part;
use super::rejected::{Rejected, invalid};
use windlass_go_template::{Dialect, parses};
use windlass_go_text::number::atoi;
use windlass_go_text::{push_json_string, quote};
use windlass_objects::fields;
use windlass_schema::name::label_key_errors;

/// What may follow `builtin.` in `valueFrom.variable`.
const BUILTIN: &[&str] = &[
    "cluster",
    "cluster.name",
    "cluster.namespace",
    "cluster.uid",
    "cluster.metadata.labels",
    "cluster.metadata.annotations",
    "cluster.topology",
    "cluster.topology.classRef.name",
    "cluster.topology.classRef.namespace",
    "cluster.topology.class",
    "cluster.topology.classNamespace",
    "cluster.topology.version",
    "cluster.network",
    "cluster.network.serviceDomain",
    "cluster.network.services",
    "cluster.network.pods",
    "controlPlane",
    "controlPlane.name",
    "controlPlane.replicas",
    "controlPlane.version",
    "controlPlane.metadata.labels",
    "controlPlane.metadata.annotations",
    "controlPlane.machineTemplate.infrastructureRef.name",
    "machineDeployment",
    "machineDeployment.class",
    "machineDeployment.name",
    "machineDeployment.replicas",
    "machineDeployment.topologyName",
    "machineDeployment.version",
    "machineDeployment.metadata.labels",
    "machineDeployment.metadata.annotations",
    "machineDeployment.bootstrap.configRef.name",
    "machineDeployment.infrastructureRef.name",
    "machinePool",
    "machinePool.class",
    "machinePool.name",
    "machinePool.replicas",
    "machinePool.topologyName",
    "machinePool.version",
    "machinePool.metadata.labels",
    "machinePool.metadata.annotations",
    "machinePool.bootstrap.configRef.name",
    "machinePool.infrastructureRef.name",
];

/// What is rejected of the patches of a class.
pub(super) fn patches<'o>(class: &Class<'o>) -> Vec<Rejected<'o>> {
    let mut judge = Judge {
        class,
        variables: class
            .variables
            .iter()
            .map(|variable| variable.name)
            .collect(),
        rejected: Vec::new(),
    };
    let mut names = BTreeSet::new();
    for (index, patch) in class.patches.iter().enumerate() {
        judge.patch(patch, &format!("spec.patches[{index}]"), &mut names);
    }
    judge.rejected
}

struct Judge<'c, 'o> {
    class: &'c Class<'o>,
    variables: BTreeSet<&'o str>,
    rejected: Vec<Rejected<'o>>,
}

impl<'o> Judge<'_, 'o> {
    fn reject(&mut self, part: &Part<'o>, field: &str, shown: &str, detail: &str) {
        self.rejected.push(invalid(part, field, shown, detail));
    }

    fn say(&mut self, part: &Part<'o>, text: String) {
        self.rejected.push(Rejected::new(part.clone(), text));
    }

    fn patch(&mut self, patch: &Part<'o>, field: &str, names: &mut BTreeSet<&'o str>) {
        let name = patch.field("name");
        if name.text() == "inline" {
            self.say(&name, format!("{field}.name: Required value: \"inline\" can not be used as the name of a patch"));
        }
        if !names.insert(name.text()) {
            let shown = quote(name.text());
            let detail = format!(
                "patch names must be unique. Patch with name {shown} is defined more than once"
            );
            self.reject(&name, &format!("{field}.name"), &shown, &detail);
        }
        self.template(
            &patch.field("enabledIf"),
            &format!("{field}.enabledIf"),
            "enabledIf",
        );
        let (definitions, external) = (patch.field("definitions"), patch.field("external"));
        match (definitions.is_there(), external.is_there()) {
            (false, false) => self.say(
                patch,
                format!("{field}: Required value: one of definitions or external must be defined"),
            ),
            (true, true) => {
                let shown = printed(patch.value, None);
                self.reject(
                    patch,
                    field,
                    &shown,
                    "only one of definitions or external can be defined",
                );
            }
            _ => {}
        }
        for (index, definition) in definitions.items().enumerate() {
            let field = format!("{field}.definitions[{index}]");
            for (index, operation) in definition.field("jsonPatches").items().enumerate() {
                self.operation(&operation, &format!("{field}.jsonPatches[{index}]"));
            }
            self.selector(&definition.field("selector"), &format!("{field}.selector"));
        }
        if external.is_there() {
            let detail =
                "patch.external can be used only if the RuntimeSDK feature flag is enabled";
            let text = format!("{field}.external: Forbidden: {detail}");
            self.rejected.push(Rejected {
                rule: Some(&PATCH_EXTERNAL),
                ..Rejected::new(external, text)
            });
        }
    }

    fn template(&mut self, part: &Part<'o>, field: &str, name: &str) {
        if let Err(fault) = parses(Dialect::SPRIG, name, part.text()) {
            self.reject(
                part,
                field,
                &quote(part.text()),
                &format!("template can not be parsed: {fault}"),
            );
        }
    }

    fn operation(&mut self, operation: &Part<'o>, field: &str) {
        let path = operation.field("path");
        if !path.text().starts_with("/spec") {
            let shown = quote(&printed(operation.value, Some(0)));
            self.reject(
                &path,
                &format!("{field}.path"),
                &shown,
                "jsonPatch path must start with \"/spec\"",
            );
        }
        self.indices(
            &path,
            operation.field("op").text(),
            &format!("{field}.path"),
        );
        self.value(operation, field);
    }

    /// Lists are only added to, at either end.
    fn indices(&mut self, path: &Part<'o>, op: &str, field: &str) {
        let shown = quote(path.text());
        for index in path.text().split('/').filter_map(|step| atoi(step).ok()) {
            match op {
                "add" if index != 0 => {
                    let detail =
                        "arrays can only be accessed using \"0\" (prepend) or \"-\" (append)";
                    self.reject(path, field, &shown, detail);
                }
                "replace" | "remove" => {
                    self.reject(
                        path,
                        field,
                        &shown,
                        &format!("elements in arrays can not be accessed in a {op} operation"),
                    );
                }
                _ => {}
            }
        }
    }

    fn value(&mut self, operation: &Part<'o>, field: &str) {
        if !matches!(operation.field("op").text(), "add" | "replace") {
            return;
        }
        let (value, from) = (operation.field("value"), operation.field("valueFrom"));
        let (variable, template) = (from.field("variable"), from.field("template"));
        let shown = |part: &Part<'_>| quote(&printed(part.value, Some(0)));
        match (value.is_there(), from.is_there()) {
            (false, false) => self.reject(
                operation,
                field,
                &shown(operation),
                "jsonPatch must define one of value or valueFrom",
            ),
            (true, true) => self.reject(
                operation,
                field,
                &shown(operation),
                "jsonPatch can not define both value and valueFrom",
            ),
            _ => {}
        }
        if !from.is_there() {
            return;
        }
        let at = format!("{field}.valueFrom");
        match (variable.text().is_empty(), template.text().is_empty()) {
            (true, true) => self.reject(
                &from,
                &at,
                &shown(&from),
                "valueFrom must set either template or variable",
            ),
            (false, false) => self.reject(
                &from,
                &at,
                &shown(&from),
                "valueFrom can not set both template and variable",
            ),
            _ => {}
        }
        if !template.text().is_empty() {
            self.template(&template, &format!("{at}.template"), "valueFrom.template");
        }
        if !variable.text().is_empty() {
            self.variable(&variable, &format!("{at}.variable"));
        }
    }

    fn variable(&mut self, variable: &Part<'o>, field: &str) {
        let text = variable.text();
        if let Some(builtin) = text.strip_prefix("builtin.") {
            if !BUILTIN.contains(&builtin) {
                self.reject(
                    variable,
                    field,
                    &quote(text),
                    "not a defined builtin variable",
                );
            }
            return;
        }
        let name = text
            .split(['[', '.'])
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        if !self.variables.contains(name) {
            self.reject(
                variable,
                field,
                &quote(text),
                &format!("variable with name {text} cannot be found"),
            );
        }
    }

    /// The selector as the webhook reads it: the way from v1beta1 leaves out what is not set.
    fn stored(&self, selector: &Value) -> Value {
        let mut selector = selector.clone();
        if self.class.object.version() == "v1beta1"
            && let Some(Value::Object(resources)) = selector.get_mut("matchResources")
        {
            resources.retain(|_, value| value != &Value::Bool(false) && !fields::is_empty(value));
            if resources.is_empty()
                && let Value::Object(parts) = &mut selector
            {
                parts.remove("matchResources");
            }
        }
        selector
    }

    fn selector(&mut self, selector: &Part<'o>, field: &str) {
        let resources = selector.field("matchResources");
        let is_on = |name: &str| resources.field(name).value == &Value::Bool(true);
        let names = |name| resources.field(name).field("names");
        let (infrastructure, control_plane) =
            (is_on("infrastructureCluster"), is_on("controlPlane"));
        let has_names = ["machineDeploymentClass", "machinePoolClass"]
            .iter()
            .any(|name| names(name).items().next().is_some());
        if !infrastructure && !control_plane && !has_names {
            self.reject(
                selector,
                field,
                &quote(&printed(&self.stored(selector.value), Some(0))),
                "no selector enabled",
            );
            return;
        }
        let at = format!("{field}.matchResources");
        if infrastructure && !is_for(selector, &self.class.infrastructure.template) {
            let detail = "selector is enabled but does not match the infrastructure ref";
            self.reject(
                &resources.field("infrastructureCluster"),
                &format!("{at}.infrastructureCluster"),
                "true",
                detail,
            );
        }
        let machine = self.class.machine.as_ref();
        if control_plane
            && !is_for(selector, &self.class.control_plane.template)
            && !machine.is_some_and(|machine| is_for(selector, machine))
        {
            let detail = "selector is enabled but matches neither the controlPlane ref nor the controlPlane machineInfrastructure ref";
            self.reject(
                &resources.field("controlPlane"),
                &format!("{at}.controlPlane"),
                "true",
                detail,
            );
        }
        let class = self.class;
        self.classes(
            selector,
            &names("machineDeploymentClass"),
            &class.deployments,
            &at,
            ("machineDeploymentClass", "MachineDeployment"),
        );
        self.classes(
            selector,
            &names("machinePoolClass"),
            &class.pools,
            &at,
            ("machinePoolClass", "MachinePool"),
        );
    }

    fn classes(
        &mut self,
        selector: &Part<'o>,
        names: &Part<'o>,
        classes: &[WorkerClass<'o>],
        at: &str,
        (key, kind): (&str, &str),
    ) {
        for (index, name) in names.items().enumerate() {
            let field = format!("{at}.{key}.names[{index}]");
            if let Some(detail) = bad_name(name.text()) {
                self.reject(&name, &field, &quote(name.text()), detail);
                return;
            }
            let fits = |class: &&WorkerClass<'_>| {
                is_for(selector, &class.infrastructure) || is_for(selector, &class.bootstrap)
            };
            if !classes
                .iter()
                .filter(fits)
                .any(|class| class_matches(name.text(), class.class))
            {
                let detail = format!(
                    "selector is enabled but matches neither the bootstrap ref nor the infrastructure ref of a {kind} class"
                );
                self.reject(&name, &field, &quote(name.text()), &detail);
            }
        }
    }
}

fn is_for(selector: &Part<'_>, reference: &Reference<'_>) -> bool {
    selector.field("kind").text() == reference.kind()
        && selector.field("apiVersion").text() == reference.api_version()
}

fn bad_name(name: &str) -> Option<&'static str> {
    if !name.contains('*') {
        return None;
    }
    if name.matches('*').count() > 1 {
        return Some("selector can at most contain a single \"*\" rune");
    }
    if !name.starts_with('*') && !name.ends_with('*') {
        return Some("\"*\" rune can only appear at the beginning, or ending of the selector");
    }
    let is_bad = !label_key_errors(&name.replace('*', "a")).is_empty();
    is_bad.then_some("selector does not comply with the Kubernetes naming standards")
}

/// The order in which Go prints the fields of patches.
const ORDER: [&str; 23] = [
    "name",
    "description",
    "enabledIf",
    "definitions",
    "external",
    "selector",
    "jsonPatches",
    "apiVersion",
    "kind",
    "matchResources",
    "controlPlane",
    "infrastructureCluster",
    "machineDeploymentClass",
    "machinePoolClass",
    "names",
    "op",
    "path",
    "value",
    "valueFrom",
    "variable",
    "template",
    "generatePatchesExtension",
    "validateTopologyExtension",
];

/// A part of a class as Go prints it: compact, or with an indentation.
fn printed(value: &Value, indentation: Option<usize>) -> String {
    let (open, between, close) = match indentation {
        None => (String::new(), String::new(), String::new()),
        Some(depth) => {
            let line = |depth: usize| format!("\n{}", "  ".repeat(depth));
            (line(depth + 1), line(depth + 1), line(depth))
        }
    };
    let inner = indentation.map(|depth| depth + 1);
    match value {
        Value::Object(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Object(entries) => {
            let rank = |key: &str| {
                ORDER
                    .iter()
                    .position(|known| *known == key)
                    .unwrap_or(ORDER.len())
            };
            let mut keys: Vec<&String> = entries.keys().collect();
            keys.sort_by_key(|key| rank(key));
            let colon = if indentation.is_some() { ": " } else { ":" };
            let one = |key: &String| {
                let mut text = String::new();
                push_json_string(&mut text, key);
                format!("{text}{colon}{}", printed(&entries[key], inner))
            };
            let all: Vec<String> = keys.into_iter().map(one).collect();
            format!("{{{open}{}{close}}}", all.join(&format!(",{between}")))
        }
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Array(items) => {
            let all: Vec<String> = items.iter().map(|item| printed(item, inner)).collect();
            format!("[{open}{}{close}]", all.join(&format!(",{between}")))
        }
        other => windlass_go_text::json(other),
    }
}
