//! Compiles an OpenAPI schema in JSON: each schema object becomes a [`Node`].

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::cel::{Rule, least_json};
use super::format;
use super::node::{Additional, Bound, Format, ListType, Node, Type};
use super::{MAX_DEPTH, Violation};
use windlass_go_text::regexp::Patterns;
use windlass_source::diag::{FieldPath, Segment};

/// Builds nodes out of JSON; remembers where it is.
pub(super) struct Compiler<'p> {
    path: FieldPath,
    depth: usize,
    patterns: &'p Patterns,
}

/// What a schema says under one keyword; `null` is as good as nothing.
#[derive(Clone, Copy)]
struct Keyword<'a> {
    name: &'static str,
    value: Option<&'a Value>,
}

/// A schema by its keywords, gathered in one walk over it: most schemas have three, and there are
/// forty.
macro_rules! said {
    ($($field:ident = $name:literal),+ $(,)?) => {
        struct Said<'a> {
            $($field: Keyword<'a>,)+
        }

        impl<'a> Said<'a> {
            // Boxed: there is one for each level of nesting, and the stack is small.
            fn of(schema: &'a Map<String, Value>) -> Box<Self> {
                let mut said = Box::new(Said { $($field: Keyword { name: $name, value: None },)+ });
                for (name, value) in schema.iter().filter(|(_, value)| !value.is_null()) {
                    match name.as_str() {
                        $($name => said.$field.value = Some(value),)+
                        _ => {}
                    }
                }
                said
            }
        }
    };
}

said! {
    additional_items = "additionalItems",
    additional_properties = "additionalProperties",
    all_of = "allOf",
    any_of = "anyOf",
    default = "default",
    definitions = "definitions",
    dependencies = "dependencies",
    embedded_resource = "x-kubernetes-embedded-resource",
    enumeration = "enum",
    exclusive_maximum = "exclusiveMaximum",
    exclusive_minimum = "exclusiveMinimum",
    format = "format",
    id = "id",
    int_or_string = "x-kubernetes-int-or-string",
    items = "items",
    list_map_keys = "x-kubernetes-list-map-keys",
    list_type = "x-kubernetes-list-type",
    max_items = "maxItems",
    max_length = "maxLength",
    max_properties = "maxProperties",
    maximum = "maximum",
    min_items = "minItems",
    min_length = "minLength",
    min_properties = "minProperties",
    minimum = "minimum",
    multiple_of = "multipleOf",
    not = "not",
    nullable = "nullable",
    one_of = "oneOf",
    pattern = "pattern",
    pattern_properties = "patternProperties",
    preserve_unknown = "x-kubernetes-preserve-unknown-fields",
    properties = "properties",
    reference = "$ref",
    required = "required",
    rules = "x-kubernetes-validations",
    schema = "$schema",
    types = "type",
    unique_items = "uniqueItems",
}

impl<'a> Said<'a> {
    /// The keywords of JSON Schema that the API server does not know in a CRD.
    fn unsupported(&self) -> [Keyword<'a>; 7] {
        [
            self.id,
            self.schema,
            self.reference,
            self.pattern_properties,
            self.dependencies,
            self.additional_items,
            self.definitions,
        ]
    }
}

impl Keyword<'_> {
    /// Whether an unsupported keyword says nothing after all.
    fn is_empty(self) -> bool {
        match self.value {
            None => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Object(map)) => map.is_empty() && self.name != "additionalItems",
            Some(_) => false,
        }
    }
}

/// Compiles one schema. An error names the keyword.
pub(super) fn compile(schema: &Value, patterns: &Patterns) -> Result<Node, Violation> {
    let mut node = Node::default();
    Compiler {
        path: FieldPath::root(),
        depth: 0,
        patterns,
    }
    .fill(&mut node, schema)?;
    Ok(node)
}

impl Compiler<'_> {
    /// A node is filled where it stays: it is large, and schemas are nested.
    fn fill(&mut self, node: &mut Node, schema: &Value) -> Result<(), Violation> {
        let Value::Object(schema) = schema else {
            return Err(self.fault(schema, "must be a schema object"));
        };
        if self.depth >= MAX_DEPTH {
            return Err(Violation::forbidden(self.path.clone(), "nested too deeply"));
        }
        let said = Said::of(schema);
        if let Some(Keyword { name, .. }) = said
            .unsupported()
            .into_iter()
            .find(|keyword| !keyword.is_empty())
        {
            return Err(Violation::forbidden(
                self.path.field(name),
                &format!("{name} is not supported"),
            ));
        }
        self.depth += 1;
        self.shape(&said, node)?;
        self.values(&said, node)?;
        self.junctors(&said, node)?;
        node.rules = self.rules(said.rules)?;
        self.depth -= 1;
        let below = node
            .properties
            .values()
            .chain(node.items.as_deref())
            .chain(node.values())
            .any(|below| below.has_rules);
        node.has_rules = below || !node.rules.is_empty();
        node.least_json = least_json(node);
        Ok(())
    }

    /// Types, structure and the extensions that speak of them.
    fn shape(&mut self, said: &Said<'_>, node: &mut Node) -> Result<(), Violation> {
        node.int_or_string = self.flag(said.int_or_string)?;
        node.types = match self.text(said.types)? {
            _ if node.int_or_string => vec![Type::Integer, Type::String],
            None | Some("") => Vec::new(),
            Some(name) => {
                let known = Type::parse(name);
                vec![known.ok_or_else(|| {
                    Violation::not_supported(
                        self.path.field("type"),
                        &Value::from(name),
                        &type_names(),
                    )
                })?]
            }
        };
        node.nullable = self.flag(said.nullable)?;
        node.default = said.default.value.cloned();
        node.preserve_unknown = self.flag(said.preserve_unknown)?;
        node.embedded_resource = self.flag(said.embedded_resource)?;
        node.list_type = match self.text(said.list_type)? {
            Some("set") => Some(ListType::Set),
            Some("map") => Some(ListType::Map),
            Some(_) => Some(ListType::Atomic),
            None => None,
        };
        node.list_map_keys = self.strings(said.list_map_keys)?;
        self.properties(said.properties, &mut node.properties)?;
        node.items = self.below(said.items)?;
        node.additional = match said.additional_properties.value {
            None => None,
            Some(Value::Bool(false)) => Some(Additional::Nothing),
            Some(Value::Bool(true)) => Some(Additional::Anything),
            Some(_) => self
                .below(said.additional_properties)?
                .map(Additional::Values),
        };
        Ok(())
    }

    /// What the value itself must be.
    fn values(&mut self, said: &Said<'_>, node: &mut Node) -> Result<(), Violation> {
        node.format = self
            .text(said.format)?
            .and_then(|name| supported_format(&node.types, name));
        node.enumeration = match said.enumeration.value {
            None => Vec::new(),
            Some(Value::Array(values)) => values.clone(),
            Some(other) => return Err(self.fault_at(said.enumeration, other, "must be a list")),
        };
        let bound =
            |limit: Option<f64>, exclusive: bool| limit.map(|limit| Bound { limit, exclusive });
        node.maximum = bound(
            self.number(said.maximum)?,
            self.flag(said.exclusive_maximum)?,
        );
        node.minimum = bound(
            self.number(said.minimum)?,
            self.flag(said.exclusive_minimum)?,
        );
        node.multiple_of = self.number(said.multiple_of)?;
        node.max_length = self.integer(said.max_length)?;
        node.min_length = self.integer(said.min_length)?;
        node.max_items = self.integer(said.max_items)?;
        node.min_items = self.integer(said.min_items)?;
        node.unique_items = self.flag(said.unique_items)?;
        node.max_properties = self.integer(said.max_properties)?;
        node.min_properties = self.integer(said.min_properties)?;
        node.required = self.strings(said.required)?;
        if let Some(source) = self.text(said.pattern)?.filter(|source| !source.is_empty()) {
            let compiled = self.patterns.get(source);
            node.pattern = Some(compiled.map_err(|error| {
                self.fault_at(said.pattern, &Value::from(source), &error.of_keyword())
            })?);
        }
        Ok(())
    }

    fn junctors(&mut self, said: &Said<'_>, node: &mut Node) -> Result<(), Violation> {
        node.all_of = self.list(said.all_of)?;
        node.any_of = self.list(said.any_of)?;
        node.one_of = self.list(said.one_of)?;
        node.not = self.below(said.not)?;
        Ok(())
    }

    fn rules(&mut self, keyword: Keyword<'_>) -> Result<Vec<Rule>, Violation> {
        match keyword.value {
            None => Ok(Vec::new()),
            Some(Value::Array(rules)) => Ok(rules.iter().map(Rule::from_json).collect()),
            Some(other) => Err(self.fault_at(keyword, other, "must be a list")),
        }
    }

    fn properties(
        &mut self,
        keyword: Keyword<'_>,
        nodes: &mut BTreeMap<String, Node>,
    ) -> Result<(), Violation> {
        let properties = match keyword.value {
            None => return Ok(()),
            Some(Value::Object(properties)) => properties,
            Some(other) => return Err(self.fault_at(keyword, other, "must be a map")),
        };
        self.path.push(Segment::Field(keyword.name.to_owned()));
        for (name, schema) in properties {
            self.path.push(Segment::Key(name.clone()));
            self.fill(nodes.entry(name.clone()).or_default(), schema)?;
            self.path.pop();
        }
        self.path.pop();
        Ok(())
    }

    fn below(&mut self, keyword: Keyword<'_>) -> Result<Option<Box<Node>>, Violation> {
        let Some(below) = keyword.value else {
            return Ok(None);
        };
        let mut node = Box::<Node>::default();
        self.path.push(Segment::Field(keyword.name.to_owned()));
        self.fill(&mut node, below)?;
        self.path.pop();
        Ok(Some(node))
    }

    fn list(&mut self, keyword: Keyword<'_>) -> Result<Vec<Node>, Violation> {
        let branches = match keyword.value {
            None => return Ok(Vec::new()),
            Some(Value::Array(branches)) => branches,
            Some(other) => return Err(self.fault_at(keyword, other, "must be a list")),
        };
        let mut nodes = Vec::new();
        self.path.push(Segment::Field(keyword.name.to_owned()));
        for (index, branch) in branches.iter().enumerate() {
            self.path.push(Segment::Index(index));
            nodes.push(Node::default());
            self.fill(&mut nodes[index], branch)?;
            self.path.pop();
        }
        self.path.pop();
        Ok(nodes)
    }

    fn flag(&self, keyword: Keyword<'_>) -> Result<bool, Violation> {
        match keyword.value {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.fault_at(keyword, other, "must be a boolean")),
        }
    }

    fn text<'a>(&self, keyword: Keyword<'a>) -> Result<Option<&'a str>, Violation> {
        match keyword.value {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.fault_at(keyword, other, "must be a string")),
        }
    }

    fn number(&self, keyword: Keyword<'_>) -> Result<Option<f64>, Violation> {
        let number = |value: &Value| {
            value
                .as_f64()
                .ok_or_else(|| self.fault_at(keyword, value, "must be a number"))
        };
        keyword.value.map(number).transpose()
    }

    fn integer(&self, keyword: Keyword<'_>) -> Result<Option<i64>, Violation> {
        let integer = |value: &Value| {
            value
                .as_i64()
                .ok_or_else(|| self.fault_at(keyword, value, "must be an integer"))
        };
        keyword.value.map(integer).transpose()
    }

    fn strings(&self, keyword: Keyword<'_>) -> Result<Vec<String>, Violation> {
        let wrong = |value: &Value| self.fault_at(keyword, value, "must be a list of strings");
        match keyword.value {
            None => Ok(Vec::new()),
            Some(Value::Array(values)) => values
                .iter()
                .map(|value| {
                    value
                        .as_str()
                        .map(str::to_owned)
                        .ok_or_else(|| wrong(value))
                })
                .collect(),
            Some(other) => Err(wrong(other)),
        }
    }

    fn fault(&self, value: &Value, detail: &str) -> Violation {
        Violation::invalid(self.path.clone(), value, detail)
    }

    fn fault_at(&self, keyword: Keyword<'_>, value: &Value, detail: &str) -> Violation {
        Violation::invalid(self.path.field(keyword.name), value, detail)
    }
}

/// The types that the API server lists when it rejects another one.
fn type_names() -> Vec<String> {
    ["array", "boolean", "integer", "number", "object", "string"]
        .map(str::to_owned)
        .to_vec()
}

/// The format, when the API server checks it for these types; others are dropped without a word.
fn supported_format(types: &[Type], name: &str) -> Option<Format> {
    let check = match types {
        [Type::Integer] if matches!(name, "int32" | "int64") => None,
        [Type::Number] if matches!(name, "float" | "double") => None,
        [Type::String] => Some(format::check_of(name)?),
        // No type, or int-or-string.
        [] | [_, _] => Some(format::check_of(name)?),
        _ => return None,
    };
    Some(Format {
        name: name.to_owned(),
        check,
    })
}
