//! Values that no log may show.

use std::borrow::Cow;
use std::fmt;

use k8s_openapi::ByteString;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A value that prints as `<redacted>`; the same as the bare value for serde and in the schema.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sensitive<T>(T);

impl<T> Sensitive<T> {
    /// Guards a value.
    pub fn new(value: T) -> Self {
        Sensitive(value)
    }

    /// The value. Callers must not print it.
    pub fn expose(&self) -> &T {
        &self.0
    }

    /// The value, given up. Callers must not print it.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> From<T> for Sensitive<T> {
    fn from(value: T) -> Self {
        Sensitive(value)
    }
}

impl From<&str> for Sensitive<String> {
    fn from(value: &str) -> Self {
        Sensitive(value.to_owned())
    }
}

impl<T> fmt::Debug for Sensitive<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("<redacted>")
    }
}

impl<T> fmt::Display for Sensitive<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("<redacted>")
    }
}

impl<T: JsonSchema> JsonSchema for Sensitive<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Bytes that are base64 in documents (Go's `[]byte`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Base64Bytes(ByteString);

impl Base64Bytes {
    /// Returns the decoded bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.0.0
    }
}

impl From<Vec<u8>> for Base64Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Base64Bytes(ByteString(bytes))
    }
}

impl JsonSchema for Base64Bytes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Base64Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "byte"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_nothing_of_the_value() {
        let secret: Sensitive<String> = "hunter2".into();
        assert_eq!(format!("{secret} {secret:?}"), "<redacted> <redacted>");
        assert_eq!(serde_json::to_value(&secret).unwrap(), "hunter2");
    }

    #[test]
    fn bytes_are_base64_in_documents() {
        let bytes: Base64Bytes = serde_json::from_value("Y2E=".into()).unwrap();
        assert_eq!(bytes.as_slice(), b"ca");
        assert_eq!(serde_json::to_value(&bytes).unwrap(), "Y2E=");
    }
}
