//! Secrets in the form in which Kubernetes' own clients send them
//! (`k8s.io/apimachinery/pkg/runtime/serializer/protobuf`): Cluster API's API servers in memory
//! take objects in no other. All fields of a Secret that we make are texts or bytes, which protobuf
//! writes as number, length, bytes.

use k8s_openapi::ByteString;
use serde_json::Value;

pub(super) const CONTENT_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// What every object begins with.
const MAGIC: &[u8] = b"k8s\0";

/// A Secret with a name, a namespace, a type and data; `None` for an object that has anything else.
pub(super) fn secret(object: &Value) -> Option<Vec<u8>> {
    let fields = object.as_object()?;
    let metadata = object["metadata"].as_object()?;
    let is_known = |(field, known): (&String, &[&str])| known.contains(&field.as_str());
    if !fields
        .keys()
        .all(|field| is_known((field, &["apiVersion", "kind", "metadata", "type", "data"])))
        || !metadata
            .keys()
            .all(|field| is_known((field, &["name", "namespace"])))
    {
        return None;
    }
    let text = |value: &Value| value.as_str().map(|text| text.as_bytes().to_vec());
    // k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto, ObjectMeta.
    let metadata = [
        field(1, &text(&object["metadata"]["name"])?),
        field(3, &text(&object["metadata"]["namespace"])?),
    ]
    .concat();
    // k8s.io/api/core/v1/generated.proto, Secret; an entry of a map is a message of its key and its
    // value.
    let mut secret = field(1, &metadata);
    for (key, value) in object["data"].as_object()? {
        let ByteString(bytes) = serde_json::from_value(value.clone()).ok()?;
        secret.extend(field(
            2,
            &[field(1, key.as_bytes()), field(2, &bytes)].concat(),
        ));
    }
    secret.extend(field(3, &text(&object["type"])?));
    // k8s.io/apimachinery/pkg/runtime/generated.proto, Unknown and TypeMeta.
    let kind = [
        field(1, &text(&object["apiVersion"])?),
        field(2, &text(&object["kind"])?),
    ]
    .concat();
    Some([MAGIC.to_vec(), field(1, &kind), field(2, &secret)].concat())
}

/// A field with a length (wire type 2).
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut written = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        written.push(u8::try_from(length & 0x7f).unwrap_or_default() | 0x80);
        length >>= 7;
    }
    written.push(u8::try_from(length).unwrap_or_default());
    written.extend_from_slice(bytes);
    written
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// As `k8s.io/client-go` writes this Secret, but for fields that it writes although they are
    /// empty.
    #[test]
    fn secrets_are_written_as_kubernetes_reads_them() {
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "t", "metadata": {"name": "n", "namespace": "s"}, "data": {"k": "dg=="},
        });
        let expected = b"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Secret\x12\x13\x0a\x06\x0a\x01n\x1a\x01s\x12\x06\x0a\x01k\x12\x01v\x1a\x01t";
        assert_eq!(secret(&object).unwrap(), expected);
        let mut with_labels = object;
        with_labels["metadata"]["labels"] = json!({"a": "b"});
        assert_eq!(secret(&with_labels), None);
    }

    #[test]
    fn long_fields_have_long_lengths() {
        assert_eq!(field(2, &[b'x'; 300])[..3], [0x12, 0xac, 0x02]);
    }
}
