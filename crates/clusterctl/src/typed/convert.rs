//! Conversion of a value into a Go type and back, in one step.
//!
//! Kubernetes has two ways in: its own converter, and `encoding/json` below types with an encoding
//! of their own. They differ only in what they reject, and in their words. The depth of the values
//! is bounded by the reader that made them.

use serde_json::{Map, Number, Value};

use super::encodings;
use super::table::{Field, Kind, Table};
use windlass_go_text as go;
use windlass_go_text::quantity;

/// Which of the two ways leads in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Converter,
    Json,
}

struct Converted {
    value: Value,
    /// Whether `omitempty` leaves it out.
    is_empty: bool,
}

impl Converted {
    fn kept(value: impl Into<Value>) -> Self {
        Converted {
            value: value.into(),
            is_empty: false,
        }
    }
}

/// Converts an object into the named type and back.
pub(super) fn object(table: &Table, name: &str, object: Value) -> Result<Value, String> {
    let index = table
        .by_name
        .get(name)
        .expect("internal error: the type is in the table");
    let conversion = Conversion {
        table,
        way: Way::Converter,
    };
    Ok(conversion.convert(&Kind::Struct(*index), object)?.value)
}

#[derive(Clone, Copy)]
pub(super) struct Conversion<'t> {
    table: &'t Table,
    way: Way,
}

impl Conversion<'_> {
    fn convert(self, kind: &Kind, value: Value) -> Result<Converted, String> {
        if value.is_null() {
            return Ok(self.zero(kind));
        }
        match kind {
            Kind::String => match value {
                Value::String(text) => Ok(Converted {
                    is_empty: text.is_empty(),
                    value: text.into(),
                }),
                other => Err(self.mismatch(kind, &other)),
            },
            Kind::Bool => match value {
                Value::Bool(bool) => Ok(Converted {
                    value: bool.into(),
                    is_empty: !bool,
                }),
                other => Err(self.mismatch(kind, &other)),
            },
            Kind::Int32 | Kind::Int64 | Kind::Float64 => self.number(kind, value),
            Kind::Bytes => self.bytes(value),
            Kind::Slice(item) => self.slice(item, value),
            Kind::Map(item) => self.map(item, value),
            Kind::Pointer(inner) => Ok(Converted {
                is_empty: false,
                ..self.convert(inner, value)?
            }),
            Kind::Struct(index) => self.structure(*index, value).map(Converted::kept),
            Kind::Quantity => {
                quantity::canonical(&encodings::scalar_text(&value)).map(Converted::kept)
            }
            Kind::IntOrString => self.int_or_string(value).map(Converted::kept),
            Kind::Time => encodings::time(&value).map(Converted::kept),
            Kind::Duration => encodings::duration(&value).map(Converted::kept),
            Kind::Json => Ok(Converted::kept(value)),
            Kind::SchemaOrList(schema) => self.schema_or_list(*schema, value).map(Converted::kept),
            Kind::SchemaOrBool(schema) => match value {
                Value::Bool(bool) => Ok(Converted::kept(bool)),
                Value::Object(_) => self
                    .through_json()
                    .structure(*schema, value)
                    .map(Converted::kept),
                _ => Err("boolean or JSON schema expected".to_owned()),
            },
            Kind::SchemaOrNames(schema) => {
                self.schema_or_names(*schema, value).map(Converted::kept)
            }
        }
    }

    /// What Go's zero value of a type is written as.
    fn zero(self, kind: &Kind) -> Converted {
        let empty = |value: Value| Converted {
            value,
            is_empty: true,
        };
        match kind {
            Kind::String => empty("".into()),
            Kind::Bool => empty(false.into()),
            Kind::Int32 | Kind::Int64 | Kind::Float64 => empty(0.into()),
            Kind::Bytes | Kind::Slice(_) | Kind::Map(_) | Kind::Pointer(_) | Kind::Time => {
                empty(Value::Null)
            }
            Kind::Struct(index) => {
                let structure = &self.table.structs[*index];
                let always = structure.always.iter().map(|at| &structure.fields[*at]);
                let fields: Map<_, _> = always
                    .map(|field| (field.name.to_owned(), self.zero(&field.kind).value))
                    .collect();
                Converted::kept(fields)
            }
            Kind::Quantity => Converted::kept("0"),
            Kind::IntOrString => Converted::kept(0),
            Kind::Duration => Converted::kept("0s"),
            Kind::SchemaOrBool(_) => Converted::kept(false),
            Kind::Json | Kind::SchemaOrList(_) | Kind::SchemaOrNames(_) => {
                Converted::kept(Value::Null)
            }
        }
    }

    fn structure(self, index: usize, value: Value) -> Result<Value, String> {
        let Value::Object(source) = value else {
            return Err(match self.way {
                Way::Converter => format!("cannot restore struct from: {}", go_kind(&value)),
                Way::Json => format!(
                    "json: cannot unmarshal {} into Go value of type v1.JSONSchemaProps",
                    go::json_kind(&value)
                ),
            });
        };
        let structure = &self.table.structs[index];
        let mut result = Map::new();
        for at in &structure.always {
            let field = &structure.fields[*at];
            if !source.contains_key(field.name) {
                result.insert(field.name.to_owned(), self.zero(&field.kind).value);
            }
        }
        // Go visits the fields in order of declaration, so the first of them decides what is said.
        let mut fault: Option<(usize, String)> = None;
        for (name, value) in source {
            let Some((at, field)) = structure
                .by_name
                .get(name.as_str())
                .map(|at| (*at, &structure.fields[*at]))
            else {
                continue;
            };
            match self.convert(&field.kind, value) {
                Ok(converted) => {
                    if is_written(field, &converted) {
                        result.insert(name, converted.value);
                    }
                }
                Err(message) if fault.as_ref().is_none_or(|(first, _)| at < *first) => {
                    fault = Some((at, message))
                }
                Err(_) => {}
            }
        }
        fault.map_or(Ok(result.into()), |(_, message)| Err(message))
    }

    fn slice(self, item: &Kind, value: Value) -> Result<Converted, String> {
        let Value::Array(items) = value else {
            return Err(self.not_restorable("slice", &value));
        };
        let items = items
            .into_iter()
            .map(|value| Ok(self.convert(item, value)?.value))
            .collect::<Result<Vec<_>, String>>()?;
        Ok(Converted {
            is_empty: items.is_empty(),
            value: items.into(),
        })
    }

    fn map(self, item: &Kind, value: Value) -> Result<Converted, String> {
        let Value::Object(entries) = value else {
            return Err(self.not_restorable("map", &value));
        };
        let entries = entries
            .into_iter()
            .map(|(key, value)| Ok((key, self.convert(item, value)?.value)));
        let entries = entries.collect::<Result<Map<_, _>, String>>()?;
        Ok(Converted {
            is_empty: entries.is_empty(),
            value: entries.into(),
        })
    }

    fn bytes(self, value: Value) -> Result<Converted, String> {
        let Value::String(text) = value else {
            return Err(self.not_restorable("slice", &value));
        };
        let bytes = go::base64::decode(&text).map_err(|at| {
            format!("error decoding from json: illegal base64 data at input byte {at}")
        })?;
        Ok(Converted {
            is_empty: bytes.is_empty(),
            value: go::base64::encode(&bytes).into(),
        })
    }

    fn number(self, kind: &Kind, value: Value) -> Result<Converted, String> {
        let Value::Number(number) = value else {
            return Err(self.mismatch(kind, &value));
        };
        let float = number.as_f64().unwrap_or_default();
        if *kind == Kind::Float64 {
            return Ok(Converted {
                value: number.into(),
                is_empty: float == 0.0,
            });
        }
        let integer = match self.way {
            Way::Converter if float != float.trunc() => {
                return Err(format!("cannot convert float64 to {}", kind.name()));
            }
            Way::Converter => encodings::wrapped(float, *kind == Kind::Int32),
            Way::Json => exact_integer(&number, kind).ok_or_else(|| {
                format!(
                    "json: cannot unmarshal number {number} into Go value of type {}",
                    kind.name()
                )
            })?,
        };
        Ok(Converted {
            value: integer.into(),
            is_empty: integer == 0,
        })
    }

    fn int_or_string(self, value: Value) -> Result<Value, String> {
        let integer = match &value {
            Value::String(_) => return Ok(value),
            Value::Number(number) => exact_integer(number, &Kind::Int32),
            _ => None,
        };
        let shown = match &value {
            Value::Number(number) => format!("number {}", encodings::json_number(number)),
            other => go::json_kind(other).to_owned(),
        };
        integer
            .map(Value::from)
            .ok_or_else(|| format!("json: cannot unmarshal {shown} into Go value of type int32"))
    }

    fn schema_or_list(self, schema: usize, value: Value) -> Result<Value, String> {
        match value {
            Value::Object(_) => self.through_json().structure(schema, value),
            Value::Array(items) if !items.is_empty() => Ok(self
                .through_json()
                .slice(&Kind::Struct(schema), items.into())?
                .value),
            _ => Ok(Value::Null),
        }
    }

    fn schema_or_names(self, schema: usize, value: Value) -> Result<Value, String> {
        match value {
            Value::Object(_) => self.through_json().structure(schema, value),
            Value::Array(items) if !items.is_empty() => Ok(self
                .through_json()
                .slice(&Kind::String, items.into())?
                .value),
            _ => Ok(Value::Null),
        }
    }

    fn through_json(self) -> Self {
        Conversion {
            way: Way::Json,
            ..self
        }
    }

    fn mismatch(self, kind: &Kind, value: &Value) -> String {
        match self.way {
            Way::Converter => format!("unrecognized type: {}", kind.name()),
            Way::Json => format!(
                "json: cannot unmarshal {} into Go value of type {}",
                go::json_kind(value),
                kind.name()
            ),
        }
    }

    fn not_restorable(self, kind: &str, value: &Value) -> String {
        match self.way {
            Way::Converter => format!("cannot restore {kind} from {}", go_kind(value)),
            Way::Json => format!(
                "json: cannot unmarshal {} into Go value of type {kind}",
                go::json_kind(value)
            ),
        }
    }
}

fn is_written(field: &Field, converted: &Converted) -> bool {
    !(field.omit_empty && converted.is_empty)
}

fn exact_integer(number: &Number, kind: &Kind) -> Option<i64> {
    let float = number.as_f64()?;
    let integer = number.as_i64().or_else(|| {
        (float == float.trunc() && float.abs() < 9e15).then_some(encodings::wrapped(float, false))
    })?;
    (*kind != Kind::Int32 || i32::try_from(integer).is_ok()).then_some(integer)
}

/// What `reflect` calls the kind of a decoded JSON value.
fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}
