//! The compiled form of an OpenAPI schema: one [`Node`] per schema object, with everything that validation needs worked out once.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::cel::{Rule, least_json};
use super::format;
use super::pattern::{Pattern, PatternCache};
use super::{MAX_DEPTH, Violation};
use crate::diag::{FieldPath, Segment};

/// A JSON type that a schema can demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl Type {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Type::Object => "object",
            Type::Array => "array",
            Type::String => "string",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::Boolean => "boolean",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        use Type::{Array, Boolean, Integer, Number, Object, String};
        [Object, Array, String, Integer, Number, Boolean].into_iter().find(|known| known.as_str() == name)
    }
}

/// The format of a value, when the API server checks it for this type.
#[derive(Debug, Clone)]
pub(super) struct Format {
    pub(super) name: String,
    /// The check of a string; `None` for the formats of numbers.
    pub(super) check: Option<fn(&str) -> bool>,
}

/// What a map may hold beside the named properties.
#[derive(Debug, Clone)]
pub(super) enum Additional {
    /// `additionalProperties: false`.
    Nothing,
    /// `additionalProperties: true`.
    Anything,
    /// Values of this schema.
    Values(Box<Node>),
}

/// `x-kubernetes-list-type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListType {
    Atomic,
    Set,
    Map,
}

/// A limit of a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub(super) limit: f64,
    pub(super) exclusive: bool,
}

/// One schema.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    /// Empty: any type; two for int-or-string.
    pub(super) types: Vec<Type>,
    pub(super) format: Option<Format>,
    pub(super) nullable: bool,
    pub(super) default: Option<Value>,
    pub(super) enumeration: Vec<Value>,
    pub(super) maximum: Option<Bound>,
    pub(super) minimum: Option<Bound>,
    pub(super) multiple_of: Option<f64>,
    pub(super) max_length: Option<i64>,
    pub(super) min_length: Option<i64>,
    pub(super) pattern: Option<Pattern>,
    pub(super) max_items: Option<i64>,
    pub(super) min_items: Option<i64>,
    pub(super) unique_items: bool,
    pub(super) max_properties: Option<i64>,
    pub(super) min_properties: Option<i64>,
    pub(super) required: Vec<String>,
    pub(super) properties: BTreeMap<String, Node>,
    pub(super) additional: Option<Additional>,
    pub(super) items: Option<Box<Node>>,
    pub(super) all_of: Vec<Node>,
    pub(super) any_of: Vec<Node>,
    pub(super) one_of: Vec<Node>,
    pub(super) not: Option<Box<Node>>,
    pub(super) preserve_unknown: bool,
    pub(super) embedded_resource: bool,
    pub(super) int_or_string: bool,
    pub(super) list_type: Option<ListType>,
    pub(super) list_map_keys: Vec<String>,
    pub(super) rules: Vec<Rule>,
    /// Whether this node or one below it, junctors aside, has rules.
    pub(super) has_rules: bool,
    /// The fewest bytes of JSON that a value takes; none when rules do not see it.
    pub(super) least_json: Option<u64>,
}

impl Node {
    /// The schema of the values of a map, when they have one.
    pub(super) fn values(&self) -> Option<&Node> {
        match &self.additional {
            Some(Additional::Values(node)) => Some(node),
            _ => None,
        }
    }

    /// The schema of an entry, and the step that leads to it.
    pub(super) fn entry(&self, key: &str) -> (Option<&Node>, Segment) {
        match self.properties.get(key) {
            Some(node) => (Some(node), Segment::Field(key.to_owned())),
            None if self.additional.is_some() => (self.values(), Segment::Key(key.to_owned())),
            None => (None, Segment::Field(key.to_owned())),
        }
    }
}

/// Builds nodes out of JSON; remembers where it is.
pub(super) struct Compiler {
    path: FieldPath,
    depth: usize,
    patterns: PatternCache,
}

/// The keywords of JSON Schema that the API server does not know in a CRD.
const UNSUPPORTED: [&str; 7] = ["id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"];

impl Compiler {
    pub(super) fn new() -> Self {
        Compiler::with(PatternCache::default())
    }

    /// A compiler that knows some patterns already.
    pub(super) fn with(patterns: PatternCache) -> Self {
        Compiler { path: FieldPath::root(), depth: 0, patterns }
    }

    /// All patterns that it knows by now.
    pub(super) fn into_patterns(self) -> PatternCache {
        self.patterns
    }

    /// Compiles one schema and all below it. An error names the keyword.
    pub(super) fn node(&mut self, schema: &Value) -> Result<Node, Violation> {
        let Value::Object(schema) = schema else { return Err(self.fault(schema, "must be a schema object")) };
        if self.depth >= MAX_DEPTH {
            return Err(Violation::forbidden(self.path.clone(), "nested too deeply"));
        }
        for keyword in UNSUPPORTED {
            let nothing = |value: &Value| match value {
                Value::Null => true,
                Value::String(text) => text.is_empty(),
                Value::Object(map) => map.is_empty() && keyword != "additionalItems",
                _ => false,
            };
            if schema.get(keyword).is_some_and(|value| !nothing(value)) {
                return Err(Violation::forbidden(self.path.field(keyword), &format!("{keyword} is not supported")));
            }
        }
        self.depth += 1;
        let node = self.keywords(schema);
        self.depth -= 1;
        node
    }

    fn keywords(&mut self, schema: &Map<String, Value>) -> Result<Node, Violation> {
        let mut node = Node::default();
        self.shape(schema, &mut node)?;
        self.values(schema, &mut node)?;
        self.junctors(schema, &mut node)?;
        node.rules = self.rules(schema)?;
        let below = node.properties.values().chain(node.items.as_deref()).chain(node.values()).any(|below| below.has_rules);
        node.has_rules = below || !node.rules.is_empty();
        node.least_json = least_json(&node);
        Ok(node)
    }

    /// Types, structure and the extensions that speak of them.
    fn shape(&mut self, schema: &Map<String, Value>, node: &mut Node) -> Result<(), Violation> {
        node.int_or_string = self.flag(schema, "x-kubernetes-int-or-string")?;
        node.types = match self.text(schema, "type")? {
            _ if node.int_or_string => vec![Type::Integer, Type::String],
            None | Some("") => Vec::new(),
            Some(name) => {
                let known = Type::parse(name);
                vec![known.ok_or_else(|| Violation::not_supported(self.path.field("type"), &schema["type"], &type_names()))?]
            }
        };
        node.nullable = self.flag(schema, "nullable")?;
        node.default = schema.get("default").filter(|value| !value.is_null()).cloned();
        node.preserve_unknown = self.flag(schema, "x-kubernetes-preserve-unknown-fields")?;
        node.embedded_resource = self.flag(schema, "x-kubernetes-embedded-resource")?;
        node.list_type = match self.text(schema, "x-kubernetes-list-type")? {
            Some("set") => Some(ListType::Set),
            Some("map") => Some(ListType::Map),
            Some(_) => Some(ListType::Atomic),
            None => None,
        };
        node.list_map_keys = self.strings(schema, "x-kubernetes-list-map-keys")?;
        if let Some(properties) = schema.get("properties") {
            node.properties = self.properties(properties)?;
        }
        node.items = self.below(schema, "items")?.map(Box::new);
        node.additional = match schema.get("additionalProperties") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(false)) => Some(Additional::Nothing),
            Some(Value::Bool(true)) => Some(Additional::Anything),
            Some(_) => self.below(schema, "additionalProperties")?.map(|values| Additional::Values(Box::new(values))),
        };
        Ok(())
    }

    /// What the value itself must be.
    fn values(&mut self, schema: &Map<String, Value>, node: &mut Node) -> Result<(), Violation> {
        node.format = self.text(schema, "format")?.and_then(|name| supported_format(&node.types, name));
        node.enumeration = match schema.get("enum") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(values)) => values.clone(),
            Some(other) => return Err(self.fault_at("enum", other, "must be a list")),
        };
        let bound = |limit: Option<f64>, exclusive: bool| limit.map(|limit| Bound { limit, exclusive });
        node.maximum = bound(self.number(schema, "maximum")?, self.flag(schema, "exclusiveMaximum")?);
        node.minimum = bound(self.number(schema, "minimum")?, self.flag(schema, "exclusiveMinimum")?);
        node.multiple_of = self.number(schema, "multipleOf")?;
        node.max_length = self.integer(schema, "maxLength")?;
        node.min_length = self.integer(schema, "minLength")?;
        node.max_items = self.integer(schema, "maxItems")?;
        node.min_items = self.integer(schema, "minItems")?;
        node.unique_items = self.flag(schema, "uniqueItems")?;
        node.max_properties = self.integer(schema, "maxProperties")?;
        node.min_properties = self.integer(schema, "minProperties")?;
        node.required = self.strings(schema, "required")?;
        if let Some(source) = self.text(schema, "pattern")?.filter(|source| !source.is_empty()) {
            let compiled = self.patterns.get(source);
            node.pattern = Some(compiled.map_err(|error| {
                self.fault_at("pattern", &schema["pattern"], &format!("must be a valid regular expression, but isn't: {error}"))
            })?);
        }
        Ok(())
    }

    fn junctors(&mut self, schema: &Map<String, Value>, node: &mut Node) -> Result<(), Violation> {
        node.all_of = self.list(schema, "allOf")?;
        node.any_of = self.list(schema, "anyOf")?;
        node.one_of = self.list(schema, "oneOf")?;
        node.not = self.below(schema, "not")?.map(Box::new);
        Ok(())
    }

    fn rules(&mut self, schema: &Map<String, Value>) -> Result<Vec<Rule>, Violation> {
        match schema.get("x-kubernetes-validations") {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(rules)) => Ok(rules.iter().map(Rule::from_json).collect()),
            Some(other) => Err(self.fault_at("x-kubernetes-validations", other, "must be a list")),
        }
    }

    fn properties(&mut self, properties: &Value) -> Result<BTreeMap<String, Node>, Violation> {
        let Value::Object(properties) = properties else {
            return if properties.is_null() { Ok(BTreeMap::new()) } else { Err(self.fault_at("properties", properties, "must be a map")) };
        };
        self.path.push(Segment::Field("properties".to_owned()));
        let mut nodes = BTreeMap::new();
        for (name, schema) in properties {
            self.path.push(Segment::Key(name.clone()));
            nodes.insert(name.clone(), self.node(schema)?);
            self.path.pop();
        }
        self.path.pop();
        Ok(nodes)
    }

    fn below(&mut self, schema: &Map<String, Value>, keyword: &str) -> Result<Option<Node>, Violation> {
        let Some(below) = schema.get(keyword).filter(|below| !below.is_null()) else { return Ok(None) };
        self.path.push(Segment::Field(keyword.to_owned()));
        let node = self.node(below)?;
        self.path.pop();
        Ok(Some(node))
    }

    fn list(&mut self, schema: &Map<String, Value>, keyword: &str) -> Result<Vec<Node>, Violation> {
        let branches = match schema.get(keyword) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(branches)) => branches,
            Some(other) => return Err(self.fault_at(keyword, other, "must be a list")),
        };
        self.path.push(Segment::Field(keyword.to_owned()));
        let mut nodes = Vec::with_capacity(branches.len());
        for (index, branch) in branches.iter().enumerate() {
            self.path.push(Segment::Index(index));
            nodes.push(self.node(branch)?);
            self.path.pop();
        }
        self.path.pop();
        Ok(nodes)
    }

    fn flag(&self, schema: &Map<String, Value>, keyword: &str) -> Result<bool, Violation> {
        match schema.get(keyword) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.fault_at(keyword, other, "must be a boolean")),
        }
    }

    fn text<'a>(&self, schema: &'a Map<String, Value>, keyword: &str) -> Result<Option<&'a str>, Violation> {
        match schema.get(keyword) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.fault_at(keyword, other, "must be a string")),
        }
    }

    fn number(&self, schema: &Map<String, Value>, keyword: &str) -> Result<Option<f64>, Violation> {
        match schema.get(keyword) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| self.fault_at(keyword, value, "must be a number")),
        }
    }

    fn integer(&self, schema: &Map<String, Value>, keyword: &str) -> Result<Option<i64>, Violation> {
        match schema.get(keyword) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_i64().map(Some).ok_or_else(|| self.fault_at(keyword, value, "must be an integer")),
        }
    }

    fn strings(&self, schema: &Map<String, Value>, keyword: &str) -> Result<Vec<String>, Violation> {
        let wrong = |value: &Value| self.fault_at(keyword, value, "must be a list of strings");
        match schema.get(keyword) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(values)) => {
                values.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(|| wrong(value))).collect()
            }
            Some(other) => Err(wrong(other)),
        }
    }

    fn fault(&self, value: &Value, detail: &str) -> Violation {
        Violation::invalid(self.path.clone(), value, detail)
    }

    fn fault_at(&self, keyword: &str, value: &Value, detail: &str) -> Violation {
        Violation::invalid(self.path.field(keyword), value, detail)
    }
}

/// The types that the API server lists when it refuses another one.
fn type_names() -> Vec<String> {
    ["array", "boolean", "integer", "number", "object", "string"].map(str::to_owned).to_vec()
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
    Some(Format { name: name.to_owned(), check })
}
