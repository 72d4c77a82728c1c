//! Patches in kustomize's terms: what they hold, and the objects that they are for.

use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A patch of objects of the release, as an entry of `patches` in a kustomization: from a file (`path`), or as a text (`patch`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectPatch {
    /// Files with strategic merge patches, or with the operations of a JSON patch (RFC 6902): a pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub path: Option<String>,
    /// The same as a text: `|-` begins it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub patch: Option<String>,
    /// The objects that it is for. Without a target a strategic merge patch is for the object whose kind and name it has; a JSON patch needs
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<PatchTarget>,
}

/// The objects that a patch is for: regular expressions for the whole of each text, and none for any text. Names count with `namePrefix` and
/// `nameSuffix`, and without.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PatchTarget {
    /// The API group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The version of the API group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The objects that a patch is for: expressions for the whole of a text, none for any text (`SelectorRegex` of kustomize's `api/types`). The
/// namespace is not looked at, because that of the sources is another than that of the release.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    group: Option<Regex>,
    version: Option<Regex>,
    kind: Option<Regex>,
    name: Option<Regex>,
}

impl Target {
    /// Whether it is for an object of this group, version and kind, which has one of these names.
    pub(crate) fn fits(&self, [group, version, kind]: [&str; 3], names: &[&str]) -> bool {
        let is_match = |pattern: &Option<Regex>, text: &str| pattern.as_ref().is_none_or(|pattern| pattern.is_match(text));
        is_match(&self.group, group)
            && is_match(&self.version, version)
            && is_match(&self.kind, kind)
            && names.iter().any(|name| is_match(&self.name, name))
    }

    /// The target that is given; without one, the object that the merge patch names.
    ///
    /// # Errors
    /// Why it is not known which objects that are.
    pub(crate) fn of(given: Option<&PatchTarget>, content: &Value) -> Result<Self, &'static str> {
        let Some(target) = given else {
            let text = |pointer: &str| content.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            let (kind, name) = (text("/kind"), text("/metadata/name"));
            if kind.is_empty() || name.is_empty() {
                return Err("has no target, and no kind and name of its own");
            }
            let exactly = |text: &str| expression(&regex::escape(text)).map(Some);
            let group =
                content.get("apiVersion").and_then(Value::as_str).map(|version| version.split_once('/').map_or("", |(group, _)| group));
            let group = group.map_or(Ok(None), exactly)?;
            return Ok(Target { group, version: None, kind: exactly(kind)?, name: exactly(name)? });
        };
        let pattern = |field: &Option<String>| field.as_deref().filter(|text| !text.is_empty()).map(expression).transpose();
        let (group, version) = (pattern(&target.group)?, pattern(&target.version)?);
        Ok(Target { group, version, kind: pattern(&target.kind)?, name: pattern(&target.name)? })
    }
}

/// The most bytes that an expression takes; those of people's targets are a few words.
const LARGEST_EXPRESSION: usize = 64 << 10;

/// An expression for the whole of a text.
fn expression(pattern: &str) -> Result<Regex, &'static str> {
    RegexBuilder::new(&format!("^(?:{pattern})$"))
        .size_limit(LARGEST_EXPRESSION)
        .build()
        .map_err(|_| "has a target that is no regular expression, or too large a one")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn targets_are_expressions_for_the_whole_of_a_text() {
        let fits = |target: Value, name: &str| {
            let target: PatchTarget = serde_json::from_value(target).unwrap();
            Target::of(Some(&target), &Value::Null).map(|target| target.fits(["apps", "v1", "Deployment"], &[name]))
        };
        for (target, name, expected) in [
            (json!({"kind": "Deployment"}), "any", true),
            (json!({"kind": "Deploy"}), "any", false),
            (json!({"kind": "Deployment|Service", "name": ".*-manager"}), "a-manager", true),
            (json!({"name": "manager"}), "a-manager", false),
            (json!({"group": "apps", "version": "v1"}), "any", true),
            (json!({"group": "batch"}), "any", false),
            (json!({"version": "v1beta1"}), "any", false),
            (json!({}), "any", true),
        ] {
            assert_eq!(fits(target.clone(), name), Ok(expected), "{target} {name}");
        }
        assert!(fits(json!({"name": "("}), "any").is_err());
    }
}
