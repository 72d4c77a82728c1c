//! The JSON patches of a ClusterClass: their paths and values are those of the templates that they
//! change.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::api::names::Version;
use crate::conversion::core::{
    Conversion, ConversionContext, Fault, Loss, Lost, Origins, PatchPath, convert_object,
    patch_path, patch_value,
};
use windlass_go_yaml::yaml;
use windlass_source::diag::FieldPath;

/// The templates of the input that patches may change.
#[derive(Debug, Default)]
pub(super) struct Templates(Vec<Template>);

/// A template as it is, and as it becomes.
#[derive(Debug)]
struct Template {
    old: Value,
    new: Value,
}

impl Templates {
    /// Adds an object, if it is a template of control planes or of configs.
    pub(super) fn add(
        &mut self,
        object: &yaml::Node,
        to: Version,
        context: &ConversionContext<'_>,
    ) {
        let kind = object
            .as_mapping()
            .and_then(|mapping| mapping.get("kind"))
            .and_then(|entry| entry.value.as_str());
        if kind.is_some_and(|kind| {
            kind.ends_with("Template")
                && (kind.starts_with("Kubeadm") || kind.starts_with("Windlass"))
        }) {
            let old = object.to_json();
            let new = convert_object(&old, to, context)
                .map_or_else(|| old.clone(), |conversion| conversion.value);
            self.0.push(Template { old, new });
        }
    }

    fn of_kind<'t>(&'t self, kind: &'t str) -> impl Iterator<Item = &'t Template> {
        self.0
            .iter()
            .filter(move |template| template.old["kind"] == kind)
    }

    /// Whether a template of a kind has an argument; `None` when the input has no template of the
    /// kind.
    fn have(&self, kind: &str, list: &str, name: &str) -> Option<bool> {
        let mut of_kind = self.of_kind(kind).peekable();
        of_kind.peek()?;
        Some(of_kind.any(|template| {
            template
                .old
                .pointer(list)
                .is_some_and(|arguments| has_argument(arguments, name))
        }))
    }

    /// Whether a template of a kind has something.
    fn reach(&self, kind: &str, path: &str) -> bool {
        self.of_kind(kind)
            .any(|template| template.old.pointer(path).is_some())
    }

    /// Whether a template of a kind has something that is left out where the same is in the
    /// other version.
    fn lose(&self, kind: &str, old: &str, new: &str) -> bool {
        self.of_kind(kind).any(|template| {
            template.old.pointer(old).is_some() && template.new.pointer(new).is_none()
        })
    }
}

/// Whether arguments, a map of v1beta1 or a list of v1beta2, have one of a name.
fn has_argument(arguments: &Value, name: &str) -> bool {
    match arguments {
        Value::Object(arguments) => arguments.contains_key(name),
        Value::Array(arguments) => arguments.iter().any(|argument| argument["name"] == name),
        _ => false,
    }
}

/// What the patches of a class that come before a patch give: values by kind and path, `None` where
/// a template or a variable says them.
#[derive(Default)]
struct Earlier<'p>(BTreeMap<(&'p str, &'p str), Option<&'p Value>>);

impl<'p> Earlier<'p> {
    fn add(&mut self, kind: &'p str, patch: &'p Value) {
        let text = |field: &str| patch.get(field).and_then(Value::as_str);
        match (text("op"), text("path")) {
            (Some("add" | "replace"), Some(path)) => {
                self.0.insert((kind, path), patch.get("value"));
            }
            (Some("remove"), Some(path)) => {
                self.0.remove(&(kind, path));
            }
            _ => {}
        }
    }

    /// Whether templates of a kind have something at a place through a patch; what is not known
    /// before it is rendered counts as there.
    fn give(&self, kind: &str, place: &str) -> bool {
        above(place).any(|path| match self.0.get(&(kind, path)) {
            Some(Some(value)) => value.pointer(&place[path.len()..]).is_some(),
            Some(None) => true,
            None => false,
        })
    }

    /// Whether templates of a kind have an argument through a patch whose value is known.
    fn have(&self, kind: &str, list: &str, argument: &str) -> bool {
        let has = |path: &str| match self.0.get(&(kind, path)) {
            Some(Some(value)) => value.pointer(&argument[path.len()..]).is_some(),
            _ => false,
        };
        self.0.contains_key(&(kind, argument)) || above(list).any(has)
    }
}

/// The steps of a path that templates have can be counted; those of a longer one lead nowhere.
const STEPS: usize = 64;

/// The paths that lead to a place, the shortest first, with the place itself.
fn above(place: &str) -> impl Iterator<Item = &str> {
    let ends = place
        .match_indices('/')
        .map(|(end, _)| end)
        .skip(1)
        .chain([place.len()]);
    ends.take(STEPS).map(|end| &place[..end])
}

/// One patch for templates of a kind.
struct Patch<'p> {
    templates: &'p Templates,
    group: &'p str,
    kind: &'p str,
    patch: &'p Value,
    earlier: &'p Earlier<'p>,
    to: Version,
}

/// A patch in the other version.
struct New {
    patch: Value,
    /// Where the parts of its value stood in the old value.
    origins: Origins,
}

/// What becomes of a patch: another one, the same, or the field that is at fault with message and
/// help.
type Migrated = Result<Option<New>, (&'static str, String, String)>;

/// Converts the patches of a class to a version; those of templates that are in that version
/// already, or of other kinds, stay.
pub(super) fn convert(
    object: &Value,
    conversion: &mut Conversion,
    to: Version,
    templates: &Templates,
) {
    let path = FieldPath::of_fields("spec.patches");
    let mut earlier = Earlier::default();
    for (number, patch) in items(object, "/spec/patches").iter().enumerate() {
        for (index, definition) in items(patch, "/definitions").iter().enumerate() {
            let text = |pointer: &str| {
                definition
                    .pointer(pointer)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let Some((group, version)) = text("/selector/apiVersion").split_once('/') else {
                continue;
            };
            if Version::parse(version).is_none_or(|version| version == to) {
                continue;
            }
            let kind = text("/selector/kind");
            for (place, json_patch) in items(definition, "/jsonPatches").iter().enumerate() {
                let path = path
                    .index(number)
                    .field("definitions")
                    .index(index)
                    .field("jsonPatches")
                    .index(place);
                let pointer =
                    format!("/spec/patches/{number}/definitions/{index}/jsonPatches/{place}");
                let patch = Patch {
                    templates,
                    group,
                    kind,
                    patch: json_patch,
                    earlier: &earlier,
                    to,
                };
                if patch.is_unsure() {
                    conversion.lost.push(Lost {
                        place: path.field("path"),
                        loss: Loss::Repeated,
                    });
                }
                match patch.rejected().map_or_else(|| patch.converted(), Err) {
                    Ok(None) => {}
                    Ok(Some(new)) => {
                        conversion.origins.adopt(
                            &new.origins,
                            &FieldPath::root(),
                            &path.field("value"),
                        );
                        conversion
                            .value
                            .pointer_mut(&pointer)
                            .into_iter()
                            .for_each(|old| *old = new.patch.clone());
                    }
                    Err((field, message, help)) => conversion.faults.push(Fault {
                        place: path.field(field),
                        message,
                        help,
                    }),
                }
                earlier.add(kind, json_patch);
            }
        }
    }
}

fn items<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

impl Patch<'_> {
    fn text(&self, pointer: &str) -> &str {
        self.patch
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn converted(&self) -> Migrated {
        let path = self.text("/path");
        match patch_path(self.group, self.kind, path, self.to) {
            PatchPath::Same => Ok(None),
            PatchPath::Moved(new) => Ok(Some(self.with(&new, None))),
            PatchPath::Argument(list, name) if self.to == Version::V1Beta2 => {
                self.named_argument(&list, &name)
            }
            PatchPath::Argument(list, place) => self.listed_argument(&list, &place),
            PatchPath::Differs(_)
                if self.text("/op") == "remove" && self.is_list_of_arguments(path) =>
            {
                Ok(None)
            }
            PatchPath::Differs(parts) => self.whole(path, &parts),
        }
    }

    /// Whether the patch adds an argument to a list that no template of the input shows.
    fn is_unsure(&self) -> bool {
        let PatchPath::Argument(list, name) =
            patch_path(self.group, self.kind, self.text("/path"), self.to)
        else {
            return false;
        };
        self.to == Version::V1Beta2
            && self.text("/op") == "add"
            && self.templates.have(self.kind, &list, &name).is_none()
    }

    /// Why the patch fails on a template of the input that is migrated: what it adds to or changes
    /// is left out there, because it is empty.
    fn rejected(&self) -> Option<(&'static str, String, String)> {
        let path = self.text("/path");
        let (parent, _) = path.rsplit_once('/')?;
        let led_to = if self.text("/op") == "add" {
            parent
        } else {
            path
        };
        let gone = above(led_to)
            .take_while(|above| self.templates.reach(self.kind, above))
            .find(|above| {
                let new = self.place_of_container(above);
                new.is_some_and(|new| self.templates.lose(self.kind, above, &new))
            })?;
        if self.earlier.give(self.kind, led_to) {
            return None;
        }
        let message = format!(
            "{gone} says nothing in a template of the input: {} leaves it out, and the patch would find no place",
            self.to
        );
        let help = if self.text("/op") == "remove" {
            format!("remove the patch, or write something at {gone} in the template")
        } else if self.text("/op") == "add" {
            let steps = path[gone.len()..].split('/').skip(1).collect::<Vec<_>>();
            let value = steps
                .iter()
                .rev()
                .fold("VALUE".to_owned(), |value, step| match *step {
                    "-" | "0" => format!("[{value}]"),
                    step => format!(
                        "{{{}: {value}}}",
                        Value::from(step.replace("~1", "/").replace("~0", "~"))
                    ),
                });
            format!(
                "write `path: {gone}` and `value: {value}`, or something at {gone} in the template"
            )
        } else {
            format!("write `op: add`, or something at {gone} in the template")
        };
        Some(("path", message, help))
    }

    /// Where an object or a list of the template is in the other version; `None` when it has no
    /// single place there.
    fn place_of_container(&self, path: &str) -> Option<String> {
        match patch_path(self.group, self.kind, path, self.to) {
            PatchPath::Same => Some(path.to_owned()),
            PatchPath::Moved(new) => Some(new),
            PatchPath::Differs(parts)
                if !parts.iter().any(|part| part == path) || self.is_list_of_arguments(path) =>
            {
                Some(path.to_owned())
            }
            PatchPath::Differs(_) | PatchPath::Argument(..) => None,
        }
    }

    /// The patch with another path and, if it is given, another value.
    fn with(&self, path: &str, value: Option<(&str, Value)>) -> New {
        let mut patch = self.patch.as_object().cloned().unwrap_or_else(Map::new);
        patch.insert("path".to_owned(), path.into());
        if let Some((field, value)) = value {
            patch.remove("value");
            patch.remove("valueFrom");
            patch.insert(field.to_owned(), value);
        }
        New {
            patch: Value::Object(patch),
            origins: Origins::default(),
        }
    }

    /// One argument of a map becomes an item of a list. Where it is there already only its place in
    /// the list would say which one is meant.
    fn named_argument(&self, list: &str, name: &str) -> Migrated {
        if self.text("/op") != "add" {
            let message = format!(
                "{} of an argument by its name: in {} arguments are a list",
                self.text("/op"),
                self.to
            );
            return Err((
                "path",
                message,
                format!(
                    "write `path: {list}` with the whole list as its value, or `{list}/N` with the place of `{name}`"
                ),
            ));
        }
        if self.templates.have(self.kind, list, name) == Some(true) {
            let message = format!(
                "a template of the input has the argument `{name}` already: an item more would stand beside it"
            );
            return Err((
                "path",
                message,
                format!(
                    "remove the argument from the template, or write `op: replace` and `path: {list}/N/value` with its place"
                ),
            ));
        }
        if self.earlier.have(self.kind, list, self.text("/path")) {
            let message = format!(
                "an earlier patch adds the argument `{name}` already: an item more would stand beside it"
            );
            return Err((
                "path",
                message,
                format!(
                    "write one patch for it, or `path: {list}` with the whole list as its value"
                ),
            ));
        }
        let (variable, template) = (
            self.text("/valueFrom/variable"),
            self.text("/valueFrom/template"),
        );
        let value = match self.patch.get("value") {
            Some(value) => ("value", json!({"name": name, "value": value})),
            None if is_reference(variable) => (
                "valueFrom",
                item_template(name, &format!("{{{{ .{variable} | toJson }}}}\n")),
            ),
            None if is_one_line(template) => (
                "valueFrom",
                item_template(name, &ended_like(template, template.trim())),
            ),
            None => {
                let message = "the value cannot be put into an item of a list".to_owned();
                let help = format!(
                    "write `path: {list}/-` and a template of two lines, `name: {name}` and `value: VALUE`"
                );
                return Err(("valueFrom", message, help));
            }
        };
        Ok(Some(self.with(&format!("{list}/-"), Some(value))))
    }

    /// One item of a list becomes an argument of a map.
    fn listed_argument(&self, list: &str, place: &str) -> Migrated {
        let help = || format!("write `path: {list}/NAME` with the argument's name, and its value");
        if self.text("/op") != "add" || place != "-" {
            return Err((
                "path",
                format!(
                    "an argument by its place: in {} arguments are a map",
                    self.to
                ),
                help(),
            ));
        }
        let named = |name: &str| format!("{list}/{}", name.replace('~', "~0").replace('/', "~1"));
        if let Some(name) = self.patch.pointer("/value/name").and_then(Value::as_str) {
            let value = self
                .patch
                .pointer("/value/value")
                .cloned()
                .unwrap_or_default();
            return Ok(Some(self.with(&named(name), Some(("value", value)))));
        }
        let template = self.text("/valueFrom/template");
        let lines: Vec<&str> = template
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        match lines.as_slice() {
            [name, value]
                if name.starts_with("name: ") && value.starts_with("value: ") && is_plain(name) =>
            {
                let value = value["value: ".len()..].trim();
                let variable = value
                    .strip_prefix("{{ .")
                    .and_then(|rest| rest.strip_suffix(" | toJson }}"))
                    .filter(|name| is_reference(name));
                let from = variable.map_or_else(
                    || json!({"template": ended_like(template, value)}),
                    |variable| json!({"variable": variable}),
                );
                Ok(Some(self.with(
                    &named(name["name: ".len()..].trim()),
                    Some(("valueFrom", from)),
                )))
            }
            _ => Err((
                "valueFrom",
                "the name of the argument is not known before the template is rendered".to_owned(),
                help(),
            )),
        }
    }

    /// A value with parts that the other version says otherwise.
    fn whole(&self, path: &str, parts: &[String]) -> Migrated {
        if let Some(value) = self.patch.get("value") {
            let help = format!("write what {} has in place of {}", self.to, names(parts));
            return match patch_value(self.group, self.kind, path, value, self.to) {
                Some((new, _)) if new == *value => Ok(None),
                Some((new, origins)) => Ok(Some(New {
                    origins,
                    ..self.with(path, Some(("value", new)))
                })),
                None => Err((
                    "value",
                    format!(
                        "it cannot be expressed by one patch of this path in {}",
                        self.to
                    ),
                    help,
                )),
            };
        }
        let template = self.text("/valueFrom/template");
        let is_said = |part: &String| {
            part == path || template.contains(part.rsplit('/').next().unwrap_or_default())
        };
        let said: Vec<String> = parts.iter().filter(|part| is_said(part)).cloned().collect();
        if said.is_empty() && !template.is_empty() {
            return Ok(None);
        }
        let rewritten = if self.to == Version::V1Beta2 {
            list_template(template)
        } else {
            map_template(template)
        };
        if self.is_list_of_arguments(path)
            && let Some(list) = rewritten
        {
            return Ok(Some(
                self.with(path, Some(("valueFrom", json!({ "template": list })))),
            ));
        }
        let message = format!(
            "it gives {}, which {} says otherwise",
            names(&said),
            self.to
        );
        let help = if self.is_list_of_arguments(path) && self.to == Version::V1Beta2 {
            "write each argument as `- name: NAME` with a line `  value: VALUE` below it".to_owned()
        } else {
            format!("write the value and the path as {} has them", self.to)
        };
        Err((
            if template.is_empty() && self.text("/valueFrom/variable").is_empty() {
                "path"
            } else {
                "valueFrom"
            },
            message,
            help,
        ))
    }

    fn is_list_of_arguments(&self, path: &str) -> bool {
        let below = format!("{path}/-");
        matches!(patch_path(self.group, self.kind, &below, self.to), PatchPath::Argument(list, _) if list == path)
    }
}

fn item_template(name: &str, value: &str) -> Value {
    json!({"template": format!("name: {name}\nvalue: {value}")})
}

/// A template whose last line ends if that of an old one does.
fn ended_like(old: &str, new: &str) -> String {
    format!(
        "{}{}",
        new.trim_end_matches('\n'),
        if old.ends_with('\n') { "\n" } else { "" }
    )
}

/// The last steps of paths, as they are reported.
fn names(paths: &[String]) -> String {
    let names: Vec<String> = paths
        .iter()
        .map(|path| format!("`{}`", path.rsplit('/').next().unwrap_or_default()))
        .collect();
    names.join(", ")
}

/// Whether a Go template can refer to a variable of patches: field names only, no list indexes.
fn is_reference(variable: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    !variable.is_empty() && variable.split('.').all(is_name)
}

/// Whether a template is one line that stands behind `value: ` as it stands alone.
fn is_one_line(template: &str) -> bool {
    let line = template.trim();
    !line.is_empty()
        && is_plain(line)
        && !line.contains(": ")
        && !line.starts_with(['|', '>', '#', '-', '&', '*'])
}

/// Whether the lines of a text stay lines when they are rendered: no white space is trimmed and
/// nothing is repeated or left out.
fn is_plain(text: &str) -> bool {
    let actions = text
        .split("{{")
        .skip(1)
        .map(|action| action.split("}}").next().unwrap_or_default().trim());
    let controls = [
        "if", "else", "end", "range", "with", "define", "block", "template",
    ];
    !text.contains('\n')
        && !text.contains("{{-")
        && !text.contains("-}}")
        && actions
            .into_iter()
            .all(|action| !controls.contains(&action.split_whitespace().next().unwrap_or_default()))
}

/// A template of lines `name: value` as the list that the kubeadm bootstrap provider makes of them:
/// in the order of the names.
fn list_template(template: &str) -> Option<String> {
    let mut lines: Vec<(&str, &str)> = Vec::new();
    for line in template.lines().filter(|line| !line.trim().is_empty()) {
        let (name, value) = line.split_once(": ")?;
        let is_name = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if !is_name
            || !is_plain(line)
            || value.trim().is_empty()
            || value
                .trim_start()
                .starts_with(['|', '>', '#', '{', '&', '*'])
                && !value.trim_start().starts_with("{{")
        {
            return None;
        }
        lines.push((name, value.trim()));
    }
    lines.sort_by_key(|(name, _)| *name);
    let list: String = lines
        .iter()
        .map(|(name, value)| format!("- name: {name}\n  value: {value}\n"))
        .collect();
    (!list.is_empty()).then(|| ended_like(template, &list))
}

/// A template of a list of arguments as the map that they were.
fn map_template(template: &str) -> Option<String> {
    let mut map = String::new();
    let mut lines = template.lines().filter(|line| !line.trim().is_empty());
    while let Some(line) = lines.next() {
        let name = line
            .strip_prefix("- name: ")
            .filter(|name| is_plain(name))?;
        let value = lines
            .next()?
            .strip_prefix("  value: ")
            .filter(|value| is_plain(value))?;
        map.push_str(&format!("{}: {}\n", name.trim(), value.trim()));
    }
    (!map.is_empty()).then(|| ended_like(template, &map))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_of_lines_are_rewritten_and_others_are_not() {
        let list = "- name: a\n  value: x\n- name: b\n  value: \"{{ .v }}\"\n";
        assert_eq!(
            list_template("b: \"{{ .v }}\"\na: x\n").as_deref(),
            Some(list)
        );
        assert_eq!(
            map_template(list).as_deref(),
            Some("a: x\nb: \"{{ .v }}\"\n")
        );
        for unclear in [
            "{{ if .v }}\na: x\n{{ end }}\n",
            "a:\n  b: c\n",
            "a: |\n  x\n",
            "a: {{- .v }}\n",
            "{{ .all }}",
            "",
        ] {
            assert_eq!(list_template(unclear), None, "{unclear:?}");
        }
        assert_eq!(
            map_template("{{ range .v }}\n- name: a\n  value: b\n{{ end }}\n"),
            None
        );
    }

    #[test]
    fn only_plain_variables_become_templates() {
        let is_named = ["v", "builtin.cluster.name"].map(is_reference);
        let is_not = ["", "a[0]", "a-b", "a..b"].map(is_reference);
        assert_eq!((is_named, is_not), ([true; 2], [false; 4]));
    }
}
