//! Bounds in the schema of a CRD that the format of the field cannot hold. The API server accepts
//! the CRD and rejects every value of the field (`k8s.io/kube-openapi/pkg/validation/validate`:
//! `numberValidator.Validate` checks each bound with `IsValueValidAgainstRange`).

use serde_json::Value;

use windlass_objects::{Object, fields};
use windlass_schema::fits_format;
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Report, rules};

rules! {
    /// a bound in a CRD's schema exceeds the format of the field, so the API server rejects every
    /// value
    BOUND_UNFIT = error("crd-bound-unfit");
}

/// The keywords that the API server checks against type and format, as it names them.
const BOUNDS: [(&str, &str); 3] = [
    ("maximum", "Maximum boundary"),
    ("minimum", "Minimum boundary"),
    ("multipleOf", "MultipleOf"),
];

/// Keywords whose value is a schema, a list of schemas, or a map of them.
const SCHEMA: [&str; 3] = ["items", "additionalProperties", "not"];
const SCHEMAS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Checks the schemas of all versions.
pub(super) fn check(crd: &Object) -> Report {
    let mut walk = Walk {
        crd,
        report: Report::new(),
    };
    for (index, version) in crd.items(&["spec", "versions"]).iter().enumerate() {
        if let Some(schema) = fields::field(version, &["schema", "openAPIV3Schema"]) {
            let path = FieldPath::of_fields("spec.versions").index(index);
            walk.visit(schema, &path.field("schema").field("openAPIV3Schema"));
        }
    }
    walk.report
}

struct Walk<'a> {
    crd: &'a Object,
    report: Report,
}

impl Walk<'_> {
    /// The depth is that of the reader's limits.
    fn visit(&mut self, schema: &Value, path: &FieldPath) {
        let Some(keywords) = schema.as_object() else {
            return;
        };
        let text = |keyword: &str| {
            keywords
                .get(keyword)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        for (keyword, upstream) in BOUNDS {
            let bound = keywords.get(keyword).and_then(Value::as_f64);
            if let Some(bound) =
                bound.filter(|bound| !fits_format(text("type"), text("format"), *bound))
            {
                self.unfit(
                    &path.field(keyword),
                    text("type"),
                    text("format"),
                    bound,
                    upstream,
                );
            }
        }
        for (name, property) in keywords
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            self.visit(property, &path.field("properties").field(name));
        }
        for keyword in SCHEMA {
            if let Some(schema) = keywords.get(keyword) {
                self.visit(schema, &path.field(keyword));
            }
        }
        for keyword in SCHEMAS {
            for (index, schema) in fields::items(schema, &[keyword]).iter().enumerate() {
                self.visit(schema, &path.field(keyword).index(index));
            }
        }
    }

    fn unfit(&mut self, path: &FieldPath, kind: &str, format: &str, bound: f64, upstream: &str) {
        let (wanted, help) = match format {
            "" => (format!("type {kind}"), "write a bound that fits the type"),
            "int32" => (
                "format int32".to_owned(),
                "write a bound that fits the format, or use `format: int64`",
            ),
            format => (
                format!("format {format}"),
                "write a bound that fits the format",
            ),
        };
        let message = format!(
            "{path} of {} is {bound}, which does not fit {wanted}: the API server rejects every value of the field",
            self.crd.title(),
            bound = Quoted(bound)
        );
        let of = if format.is_empty() {
            " (default format)".to_owned()
        } else {
            format!(" with format {format}")
        };
        let finding = Diagnostic::of(&BOUND_UNFIT, message)
            .at(self.crd.place(path))
            .help(help)
            .upstream(format!("{upstream} value must be of type {kind}{of}"));
        self.report.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(field: Value) -> Vec<String> {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": field}}}});
        let crd = Object::made(
            json!({"kind": "CustomResourceDefinition", "spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}),
        );
        let report = check(&crd);
        let upstream = |finding: &Diagnostic| finding.upstream.as_ref().map(ToString::to_string);
        report.findings().iter().filter_map(upstream).collect()
    }

    /// The messages of kube-openapi for a value of such a field.
    #[test]
    fn bounds_fit_the_format() {
        let maximum = "Maximum boundary value must be of type integer with format int32";
        assert_eq!(
            found(json!({"type": "integer", "format": "int32", "maximum": 4294967295_u64})),
            [maximum]
        );
        assert_eq!(
            found(
                json!({"type": "array", "items": {"type": "integer", "format": "int32", "minimum": -2147483649_i64}})
            ),
            ["Minimum boundary value must be of type integer with format int32"]
        );
        assert_eq!(
            found(json!({"type": "integer", "multipleOf": 0.5})),
            ["MultipleOf value must be of type integer (default format)"]
        );
        for sound in [
            json!({"type": "integer", "format": "int32", "minimum": 0, "maximum": 2147483647}),
            json!({"type": "integer", "format": "int64", "maximum": 4294967295_u64}),
            json!({"type": "number", "maximum": 0.5}),
            json!({"x-kubernetes-int-or-string": true, "maximum": 0.5}),
            json!({"type": "object", "properties": {"maximum": {"type": "string"}}}),
        ] {
            assert_eq!(found(sound.clone()), [""; 0], "{sound}");
        }
    }
}
