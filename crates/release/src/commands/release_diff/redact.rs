//! The values of a change without what is secret in them: a password, a token, whatever a Secret
//! holds.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::FieldChange;
use super::fields::{self, Found, Step};
use windlass_go_yaml::goyaml;
use windlass_go_yaml::yaml;
use windlass_objects::secrets::{REDACTED, masked};
use windlass_source::Source;
use windlass_source::budget::Budget;

impl Found {
    /// The change as it is told of an object whose values were these.
    pub(super) fn shown(
        self,
        old: &Value,
        new: &Value,
        show_secrets: bool,
        budget: &Budget,
    ) -> FieldChange {
        let value = |object: &Value, value: Option<Value>| match value {
            Some(value) if !show_secrets => Some(redacted(object, &self.path, value, budget)),
            value => value,
        };
        FieldChange {
            path: fields::shown(&self.path),
            change: self.change,
            old: value(old, self.old),
            new: value(new, self.new),
        }
    }
}

/// A value at a path of an object. What is secret is known by text, so the value is written as in a
/// file of its own, in its place.
fn redacted(object: &Value, path: &[Step], value: Value, budget: &Budget) -> Value {
    let alone = path
        .iter()
        .rev()
        .fold(value.clone(), |value, step| match step {
            Step::Field(name) => json!({name: value}),
            Step::Item(_) | Step::Index(_) => json!([value]),
        });
    let mut document = json!({"apiVersion": object["apiVersion"], "kind": object["kind"]});
    if let (Value::Object(document), Value::Object(alone)) = (&mut document, alone) {
        document.extend(alone);
    }
    let Ok(text) = goyaml::to_string(&document) else {
        return Value::from(REDACTED);
    };
    match masked(&text) {
        Cow::Borrowed(_) => value,
        Cow::Owned(text) => at(&text, path, budget).unwrap_or_else(|| Value::from(REDACTED)),
    }
}

fn at(text: &str, path: &[Step], budget: &Budget) -> Option<Value> {
    let document = yaml::values(&Source::new("", text), budget)
        .documents
        .into_iter()
        .next()?
        .value;
    let value = path.iter().try_fold(&document, |value, step| match step {
        Step::Field(name) => value.get(name),
        Step::Item(_) | Step::Index(_) => value.get(0),
    });
    Some(collapsed(value?.clone()))
}

/// A secret of several lines became as many marks, which were read as one text.
fn collapsed(value: Value) -> Value {
    match value {
        Value::String(text) if text.split(' ').all(|word| word == REDACTED) => {
            Value::from(REDACTED)
        }
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (key, collapsed(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(collapsed).collect(),
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: Value, new: Value, expected: &[(&str, Value, Value)]) {
        let shown = |show_secrets| -> Vec<FieldChange> {
            let found = fields::compare(&old, &new).into_iter();
            found
                .map(|found| found.shown(&old, &new, show_secrets, &Budget::default()))
                .collect()
        };
        let told: Vec<_> = shown(false)
            .into_iter()
            .map(|field| {
                (
                    field.path,
                    field.old.unwrap_or_default(),
                    field.new.unwrap_or_default(),
                )
            })
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(path, old, new)| ((*path).to_owned(), old.clone(), new.clone()))
            .collect();
        assert_eq!(told, expected);
        assert!(
            !json!(shown(true)).to_string().contains(REDACTED),
            "they are shown when that is asked for"
        );
    }

    #[test]
    fn secrets_are_told_to_change_and_not_shown() {
        let secret = |value: &str| json!({"apiVersion": "v1", "kind": "Secret", "data": {"password": value}, "type": "Opaque"});
        check(
            secret("YQ=="),
            secret("Yg=="),
            &[("data.password", json!(REDACTED), json!(REDACTED))],
        );
        let more = json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "x\ny: z\n"}, "type": "Other"});
        check(
            secret("YQ=="),
            more,
            &[
                ("data", json!({"password": REDACTED}), Value::Null),
                ("stringData", Value::Null, json!({"a": REDACTED})),
                ("type", json!("Opaque"), json!("Other")),
            ],
        );
        let config = |password: &str, name: &str| json!({"kind": "KubeadmConfig", "spec": {"users": [{"name": "u", "passwd": password, "gecos": name}]}});
        check(
            config("x", "a"),
            config("y", "b"),
            &[
                ("spec.users[name=u].gecos", json!("a"), json!("b")),
                (
                    "spec.users[name=u].passwd",
                    json!(REDACTED),
                    json!(REDACTED),
                ),
            ],
        );
        let key = |body: &str| json!({"kind": "X", "a": format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n")});
        let shown = json!(format!("{REDACTED}-----END RSA PRIVATE KEY-----\n"));
        check(key("x"), key("y"), &[("a", shown.clone(), shown)]);
    }

    #[test]
    fn schemas_have_fields_of_any_name_and_no_secrets() {
        let crd = |kind: &str| json!({"apiVersion": "a/v1", "kind": "CustomResourceDefinition", "spec": {"properties": {"token": {"type": kind}}}});
        check(
            crd("string"),
            crd("object"),
            &[(
                "spec.properties.token.type",
                json!("string"),
                json!("object"),
            )],
        );
    }
}
