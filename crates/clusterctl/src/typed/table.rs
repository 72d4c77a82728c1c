//! The table of Go types, read once from its text.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A Go type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Bool,
    Int32,
    Int64,
    Float64,
    /// `[]byte`: base64 in JSON.
    Bytes,
    Slice(Box<Kind>),
    Map(Box<Kind>),
    Pointer(Box<Kind>),
    /// Index into the table.
    Struct(usize),
    Quantity,
    IntOrString,
    Time,
    Duration,
    /// Any JSON, kept as it is.
    Json,
    /// `items` of a schema: one schema or a list; the index is that of the schema's type.
    SchemaOrList(usize),
    /// `additionalProperties`.
    SchemaOrBool(usize),
    /// `dependencies`.
    SchemaOrNames(usize),
}

impl Kind {
    /// Go's name of what `reflect` calls the kind, as it is in messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::Bool => "bool",
            Kind::Int32 => "int32",
            Kind::Int64 => "int64",
            Kind::Float64 => "float64",
            Kind::Bytes | Kind::Slice(_) => "slice",
            Kind::Map(_) => "map",
            Kind::Pointer(_) => "ptr",
            _ => "struct",
        }
    }

    /// Whether Go's `omitempty` has an effect: a struct, and a type with an encoding of its own, is
    /// never empty.
    fn can_be_empty(&self) -> bool {
        use Kind::{Bool, Bytes, Float64, Int32, Int64, Map, Pointer, Slice, String};
        matches!(
            self,
            String | Bool | Int32 | Int64 | Float64 | Bytes | Slice(_) | Map(_) | Pointer(_)
        )
    }
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Whether it is left out when it is empty; for what can be empty.
    pub(super) omit_empty: bool,
}

#[derive(Debug, Default)]
pub(super) struct Struct {
    /// In order of declaration.
    pub fields: Vec<Field>,
    /// Indexes of `fields` by name.
    pub(super) by_name: BTreeMap<&'static str, usize>,
    /// Indexes of the fields that are written even when the source lacks them.
    pub(super) always: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) structs: Vec<Struct>,
    pub(super) by_name: BTreeMap<&'static str, usize>,
}

pub(super) static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("types.txt")));

impl Table {
    fn parse(text: &'static str) -> Table {
        let lines = || text.lines().filter(|line| !line.starts_with('#'));
        let by_name: BTreeMap<&str, usize> = lines()
            .filter(|line| !line.starts_with(' '))
            .zip(0..)
            .collect();
        let mut structs: Vec<Struct> = Vec::with_capacity(by_name.len());
        for line in lines() {
            match line.strip_prefix("  ") {
                None => structs.push(Struct::default()),
                Some(line) => {
                    let field = field(line, &by_name);
                    let of = structs
                        .last_mut()
                        .expect("internal error: a field is below its type");
                    of.add(field);
                }
            }
        }
        Table { structs, by_name }
    }
}

impl Struct {
    fn add(&mut self, field: Field) {
        let index = self.fields.len();
        self.by_name.insert(field.name, index);
        if !field.omit_empty {
            self.always.push(index);
        }
        self.fields.push(field);
    }
}

fn field(line: &'static str, types: &BTreeMap<&str, usize>) -> Field {
    let (name, kind) = line
        .split_once(' ')
        .expect("internal error: a field has a name and a type");
    let bare = name.trim_end_matches(['?', '!']);
    let kind = kind_of(kind, types);
    let omit_empty =
        name.contains('?') && kind.can_be_empty() || name.ends_with('!') && kind == Kind::Time;
    Field {
        name: bare,
        kind,
        omit_empty,
    }
}

fn kind_of(text: &str, types: &BTreeMap<&str, usize>) -> Kind {
    let of = |rest| Box::new(kind_of(rest, types));
    if let Some(rest) = text.strip_prefix('*') {
        return Kind::Pointer(of(rest));
    }
    if let Some(rest) = text.strip_prefix("[]") {
        return Kind::Slice(of(rest));
    }
    if let Some(rest) = text.strip_prefix("{}") {
        return Kind::Map(of(rest));
    }
    let index = |name: &str| {
        *types
            .get(name)
            .expect("internal error: every type that is named is in the table")
    };
    if let Some(name) = text.strip_prefix('@') {
        let schema =
            |suffix: &str| index(&format!("{}JSONSchemaProps", name.trim_end_matches(suffix)));
        return match name.rsplit('.').next().unwrap_or_default() {
            "Quantity" => Kind::Quantity,
            "IntOrString" => Kind::IntOrString,
            "Time" => Kind::Time,
            "Duration" => Kind::Duration,
            "JSONSchemaPropsOrArray" => Kind::SchemaOrList(schema("JSONSchemaPropsOrArray")),
            "JSONSchemaPropsOrBool" => Kind::SchemaOrBool(schema("JSONSchemaPropsOrBool")),
            "JSONSchemaPropsOrStringArray" => {
                Kind::SchemaOrNames(schema("JSONSchemaPropsOrStringArray"))
            }
            _ => Kind::Json,
        };
    }
    match text {
        "string" => Kind::String,
        "bool" => Kind::Bool,
        "int32" => Kind::Int32,
        "int64" => Kind::Int64,
        "float64" => Kind::Float64,
        "bytes" => Kind::Bytes,
        name => Kind::Struct(index(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_complete() {
        for name in [
            "apps.v1.Deployment",
            "apps.v1.DaemonSet",
            "apiextensions.v1.CustomResourceDefinition",
            "core.v1beta2.Cluster",
        ] {
            assert!(TABLE.by_name.contains_key(name), "{name}");
        }
        let deployment = &TABLE.structs[TABLE.by_name["apps.v1.Deployment"]];
        let always: Vec<_> = deployment
            .always
            .iter()
            .map(|i| deployment.fields[*i].name)
            .collect();
        assert_eq!(always, ["metadata", "spec", "status"]);
    }
}
