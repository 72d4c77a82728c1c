//! Patches in kustomize's terms: what they hold, and the objects that they are for.

use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A patch of objects of the release, as an entry of `patches` in a kustomization: from a file
/// (`path`), or as a text (`patch`).
#[derive(
    Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectPatch {
    /// Files with strategic merge patches, or with the operations of a JSON patch (RFC 6902): a
    /// pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub path: Option<String>,
    /// The same as a text: `|-` begins it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub patch: Option<String>,
    /// The objects that it is for. Without a target a strategic merge patch is for the object
    /// whose kind and name it has; a JSON patch needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<PatchTarget>,
}

/// The objects that a patch is for: regular expressions for the whole of each text, and none for
/// any text. Names count with `namePrefix` and `nameSuffix`, and without.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
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

/// The objects that a patch is for: expressions for the whole of a text, none for any text
/// (`SelectorRegex` of kustomize's `api/types`). The namespace is not looked at, because that of
/// the sources is another than that of the release.
#[derive(Debug, Clone)]
pub struct Target {
    group: Option<Pattern>,
    version: Option<Pattern>,
    kind: Option<Pattern>,
    name: Option<Pattern>,
}

impl Target {
    /// Whether it is for an object of this group, version and kind, which has one of these names.
    pub fn fits(&self, [group, version, kind]: [&str; 3], names: &[&str]) -> bool {
        let is_match = |pattern: &Option<Pattern>, text: &str| {
            pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(text))
        };
        is_match(&self.group, group)
            && is_match(&self.version, version)
            && is_match(&self.kind, kind)
            && names.iter().any(|name| is_match(&self.name, name))
    }

    /// The target that is given; without one, the object that the merge patch names.
    ///
    /// # Errors
    /// Why it is not known which objects that are.
    pub fn of(given: Option<&PatchTarget>, content: &Value) -> Result<Self, &'static str> {
        let Some(target) = given else {
            let text = |pointer: &str| {
                content
                    .pointer(pointer)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let (kind, name) = (text("/kind"), text("/metadata/name"));
            if kind.is_empty() || name.is_empty() {
                return Err("has no target, and no kind and name of its own");
            }
            let exactly = |text: &str| Some(Pattern::Exactly(text.to_owned()));
            let version = content.get("apiVersion").and_then(Value::as_str);
            let group = version.and_then(|version| {
                exactly(version.split_once('/').map_or("", |(group, _)| group))
            });
            return Ok(Target {
                group,
                version: None,
                kind: exactly(kind),
                name: exactly(name),
            });
        };
        let pattern = |field: &Option<String>| {
            field
                .as_deref()
                .filter(|text| !text.is_empty())
                .map(Pattern::of)
                .transpose()
        };
        let (group, version) = (pattern(&target.group)?, pattern(&target.version)?);
        Ok(Target {
            group,
            version,
            kind: pattern(&target.kind)?,
            name: pattern(&target.name)?,
        })
    }
}

/// The maximum number of bytes that an expression takes; those of people's targets are a few words.
const LARGEST_EXPRESSION: usize = 64 << 10;

/// What the whole of a text has to be. Most targets are plain words, which need no machine of some
/// ten kilobytes.
#[derive(Debug, Clone)]
enum Pattern {
    Exactly(String),
    Expression(Regex),
}

impl Pattern {
    fn of(pattern: &str) -> Result<Self, &'static str> {
        if pattern
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        {
            return Ok(Pattern::Exactly(pattern.to_owned()));
        }
        let expression = RegexBuilder::new(&format!("^(?:{pattern})$"))
            .size_limit(LARGEST_EXPRESSION)
            .build();
        expression
            .map(Pattern::Expression)
            .map_err(|_| "has a target that is not a regular expression, or too large a one")
    }

    fn is_match(&self, text: &str) -> bool {
        match self {
            Pattern::Exactly(word) => word == text,
            Pattern::Expression(expression) => expression.is_match(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn targets_are_expressions_for_the_whole_of_a_text() {
        let fits = |target: Value, name: &str| {
            let target: PatchTarget = serde_json::from_value(target).unwrap();
            Target::of(Some(&target), &Value::Null)
                .map(|target| target.fits(["apps", "v1", "Deployment"], &[name]))
        };
        for (target, name, expected) in [
            (json!({"kind": "Deployment"}), "any", true),
            (json!({"kind": "Deploy"}), "any", false),
            (
                json!({"kind": "Deployment|Service", "name": ".*-manager"}),
                "a-manager",
                true,
            ),
            (json!({"name": "manager"}), "a-manager", false),
            (json!({"group": "apps", "version": "v1"}), "any", true),
            (json!({"group": "batch"}), "any", false),
            (json!({"version": "v1beta1"}), "any", false),
            (json!({}), "any", true),
        ] {
            assert_eq!(fits(target.clone(), name), Ok(expected), "{target} {name}");
        }
        for (name, text, expected) in [
            ("a-b", "a-b", true),
            ("a-b", "a-bc", false),
            ("a.b", "axb", true),
            ("a.b", "a.bc", false),
            ("é", "é", true),
        ] {
            assert_eq!(
                fits(json!({ "name": name }), text),
                Ok(expected),
                "{name} {text}"
            );
        }
        assert!(fits(json!({"name": "("}), "any").is_err());
    }

    #[test]
    fn a_merge_patch_is_for_the_object_that_it_names() {
        let fits = |content: Value, group: &str, name: &str| {
            Target::of(None, &content)
                .map(|target| target.fits([group, "v2", "Deployment"], &["other", name]))
        };
        let of = |version: &str, name: &str| json!({"apiVersion": version, "kind": "Deployment", "metadata": {"name": name}});
        for (content, group, name, expected) in [
            (of("apps/v1", "a.b"), "apps", "a.b", true),
            (of("apps/v1", "a.b"), "apps", "axb", false),
            (of("apps/v1", "a.b"), "batch", "a.b", false),
            (of("v1", "a"), "", "a", true),
            (of("v1", "a"), "apps", "a", false),
            (
                json!({"kind": "Deployment", "metadata": {"name": "a"}}),
                "any",
                "a",
                true,
            ),
            (
                json!({"kind": "Service", "metadata": {"name": "a"}}),
                "any",
                "a",
                false,
            ),
        ] {
            assert_eq!(
                fits(content.clone(), group, name),
                Ok(expected),
                "{content} {group} {name}"
            );
        }
        for content in [
            json!({"kind": "Deployment"}),
            json!({"metadata": {"name": "a"}}),
            json!([]),
        ] {
            assert!(fits(content, "apps", "a").is_err());
        }
    }
}
