//! Nodes to Go's types, as yaml.v3 decodes them: what does not fit is collected, in its words, and
//! the rest is kept.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::render::write::ignition::checked::Checked;
use windlass_go_text as go;
use windlass_go_yaml::yaml_v3::{Content, Document, NodeId, Resolved, resolve};

/// More faults than are collected.
const MOST_FAULTS: usize = 1000;

/// Why decoding stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) line: u32,
}

pub(super) struct Decoder<'a> {
    pub(super) document: &'a Document,
    /// What does not fit, with its line.
    pub(super) faults: Vec<(u32, String)>,
    /// The aliases that are being followed.
    following: Vec<NodeId>,
    decoded: u32,
    decoded_by_alias: u32,
    /// Go's name of the text type that is decoded, when it is not `string`.
    text_type: Option<&'static str>,
}

/// Whether a value was there and fitted.
pub(super) type Decoded = Result<bool, Failure>;

pub(super) trait FromNode: Default {
    fn go_type() -> String;

    /// Takes the value of a node that is not an alias.
    fn decode(&mut self, decoder: &mut Decoder<'_>, node: NodeId) -> Decoded;
}

/// A struct of Go: mappings are decoded to it.
pub(super) trait FromMapping: Default {
    /// Go's name of the type.
    const GO: &'static str;

    /// Takes the value of a key; `None` when there is no such field.
    fn field(&mut self, key: &str, decoder: &mut Decoder<'_>, value: NodeId) -> Option<Decoded>;
}

impl<'a> Decoder<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        Decoder {
            document,
            faults: Vec::new(),
            following: Vec::new(),
            decoded: 0,
            decoded_by_alias: 0,
            text_type: None,
        }
    }

    /// Takes the value of a node, or of the node that it is an alias of.
    pub(super) fn value<T: FromNode>(&mut self, out: &mut T, node: NodeId) -> Decoded {
        self.count(node)?;
        let Content::Alias(target) = self.document.node(node).content else {
            return out.decode(self, node);
        };
        if self.following.contains(&target) {
            return Err(self.failure(node, "yaml: anchor value contains itself".to_owned()));
        }
        self.following.push(target);
        let decoded = self.value(out, target);
        self.following.pop();
        decoded
    }

    /// A text whose type has a name of its own.
    pub(super) fn named(
        &mut self,
        out: &mut String,
        go_type: &'static str,
        node: NodeId,
    ) -> Decoded {
        self.text_type = Some(go_type);
        let decoded = self.value(out, node);
        self.text_type = None;
        decoded
    }

    fn count(&mut self, node: NodeId) -> Result<(), Failure> {
        self.decoded += 1;
        self.decoded_by_alias += u32::from(!self.following.is_empty());
        // The library allows 99 of 100 for documents of this size.
        if self.decoded_by_alias > 100
            && self.decoded > 1000
            && f64::from(self.decoded_by_alias) > f64::from(self.decoded) * 0.99
        {
            return Err(self.failure(
                node,
                "yaml: document contains excessive aliasing".to_owned(),
            ));
        }
        Ok(())
    }

    pub(super) fn failure(&self, node: NodeId, message: String) -> Failure {
        Failure {
            message,
            line: self.document.node(node).line,
        }
    }

    fn fault(&mut self, line: u32, message: String) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push((line, format!("line {line}: {message}")));
        }
    }

    /// Notes that a node does not fit a type.
    pub(super) fn misfit(&mut self, node: NodeId, go_type: &str) -> Decoded {
        let found = self.document.node(node);
        let value = match &found.content {
            Content::Scalar { text, .. } if text.len() > 10 => {
                format!(" `{}...`", String::from_utf8_lossy(&text.as_bytes()[..7]))
            }
            Content::Scalar { text, .. } => format!(" `{text}`"),
            _ => String::new(),
        };
        let (line, message) = (
            found.line,
            format!("cannot unmarshal {}{value} into {go_type}", found.tag),
        );
        self.fault(line, message);
        Ok(false)
    }

    /// What a scalar is; `None` for collections.
    fn scalar(&self, node: NodeId) -> Result<Option<Resolved>, Failure> {
        let found = self.document.node(node);
        match &found.content {
            Content::Scalar { .. } if matches!(found.tag.as_str(), "!!str" | "!!binary") => {
                Ok(Some(Resolved::Text))
            }
            Content::Scalar { text, .. } => match resolve(&found.tag, text) {
                Ok((_, value)) => Ok(Some(value)),
                Err(message) => Err(self.failure(node, format!("yaml: {message}"))),
            },
            _ => Ok(None),
        }
    }

    pub(super) fn is_mapping(&self, node: NodeId) -> bool {
        matches!(self.document.node(node).content, Content::Mapping(_))
    }

    pub(super) fn is_null(&self, node: NodeId) -> bool {
        self.document.node(node).tag == "!!null"
    }

    /// The bytes of a text, decoded when its tag says that they are base64.
    pub(super) fn bytes(&self, node: NodeId) -> Result<Vec<u8>, Failure> {
        let text = self.document.text(node);
        if self.document.node(node).tag != "!!binary" {
            return Ok(text.as_bytes().to_vec());
        }
        let digits: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        STANDARD.decode(digits).map_err(|_| {
            self.failure(
                node,
                "yaml: !!binary value contains invalid base64 data".to_owned(),
            )
        })
    }

    pub(super) fn fields<T: FromMapping>(&mut self, out: &mut T, node: NodeId) -> Decoded {
        let Content::Mapping(entries) = &self.document.node(node).content else {
            if self.is_null(node) {
                return Ok(false);
            }
            return self.misfit(node, T::GO);
        };
        self.merged_fields(out, entries, &mut None)
    }

    /// Takes the fields of a mapping and those that `<<` brings, except the `known` ones, which
    /// stand further out.
    fn merged_fields<T: FromMapping>(
        &mut self,
        out: &mut T,
        entries: &[(NodeId, NodeId)],
        known: &mut Option<Vec<String>>,
    ) -> Decoded {
        if self.has_duplicates(entries) {
            return Ok(false);
        }
        let mut merge = None;
        for (key, value) in entries {
            if self.document.node(*key).tag == "!!merge" {
                merge = Some(*value);
                continue;
            }
            let mut name = String::new();
            if !self.value(&mut name, *key)? {
                continue;
            }
            if let Some(known) = known {
                if known.contains(&name) {
                    continue;
                }
                known.push(name.clone());
            }
            out.field(&name, self, *value).transpose()?;
        }
        let Some(merge) = merge else { return Ok(true) };
        let mut known = known.take().unwrap_or_else(|| {
            entries
                .iter()
                .map(|(key, _)| self.document.text(*key).to_owned())
                .collect()
        });
        known.sort_unstable();
        self.merge(out, merge, &mut Some(known), true)
    }

    fn merge<T: FromMapping>(
        &mut self,
        out: &mut T,
        node: NodeId,
        known: &mut Option<Vec<String>>,
        lists: bool,
    ) -> Decoded {
        let target = match self.document.node(node).content {
            Content::Alias(target) => target,
            _ => node,
        };
        match &self.document.node(target).content {
            Content::Mapping(entries) if !self.following.contains(&target) => {
                self.following.push(target);
                let merged = self.merged_fields(out, entries, known);
                self.following.pop();
                merged
            }
            Content::Sequence(items) if lists && target == node => {
                for item in items {
                    self.merge(out, *item, known, false)?;
                }
                Ok(true)
            }
            _ => Err(self.failure(
                node,
                "yaml: map merge requires map or sequence of maps as the value".to_owned(),
            )),
        }
    }

    /// Notes keys that stand twice.
    pub(super) fn has_duplicates(&mut self, entries: &[(NodeId, NodeId)]) -> bool {
        let mut lines: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (key, _) in entries
            .iter()
            .filter(|(key, _)| matches!(self.document.node(*key).content, Content::Scalar { .. }))
        {
            lines
                .entry(self.document.text(*key))
                .or_default()
                .push(self.document.node(*key).line);
        }
        let mut found = false;
        for (key, _) in entries {
            let text = self.document.text(*key);
            let Some(lines) = lines.remove(text).filter(|lines| lines.len() > 1) else {
                continue;
            };
            found = true;
            for (at, first) in lines.iter().enumerate() {
                for later in lines[at + 1..]
                    .iter()
                    .take(MOST_FAULTS.saturating_sub(self.faults.len()))
                {
                    self.fault(
                        *later,
                        format!(
                            "mapping key {} already defined at line {first}",
                            go::quote(text)
                        ),
                    );
                }
            }
        }
        found
    }
}

impl<T: FromMapping> FromNode for T {
    fn go_type() -> String {
        T::GO.to_owned()
    }

    fn decode(&mut self, decoder: &mut Decoder<'_>, node: NodeId) -> Decoded {
        decoder.fields(self, node)
    }
}

impl<T: FromNode> FromNode for Option<T> {
    fn go_type() -> String {
        T::go_type()
    }

    fn decode(&mut self, decoder: &mut Decoder<'_>, node: NodeId) -> Decoded {
        if decoder.is_null(node) {
            *self = None;
            return Ok(true);
        }
        self.get_or_insert_default().decode(decoder, node)
    }
}

impl<T: FromNode> FromNode for Vec<T> {
    fn go_type() -> String {
        format!("[]{}", T::go_type())
    }

    fn decode(&mut self, decoder: &mut Decoder<'_>, node: NodeId) -> Decoded {
        let Content::Sequence(items) = &decoder.document.node(node).content else {
            if decoder.is_null(node) {
                self.clear();
                return Ok(true);
            }
            decoder.scalar(node)?;
            return decoder.misfit(node, &Self::go_type());
        };
        self.clear();
        for item in items {
            let mut value = T::default();
            if decoder.value(&mut value, *item)? {
                self.push(value);
            }
        }
        Ok(true)
    }
}

impl FromNode for String {
    fn go_type() -> String {
        "string".to_owned()
    }

    fn decode(&mut self, decoder: &mut Decoder<'_>, node: NodeId) -> Decoded {
        match decoder.scalar(node)? {
            Some(Resolved::Null) => Ok(false),
            Some(_) => {
                *self = String::from_utf8_lossy(&decoder.bytes(node)?).into_owned();
                Ok(true)
            }
            None => decoder.misfit(node, decoder.text_type.unwrap_or("string")),
        }
    }
}

/// A text that may be any bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Checked for Bytes {}

impl FromNode for Bytes {
    fn go_type() -> String {
        "string".to_owned()
    }

    fn decode(&mut self, decoder: &mut Decoder<'_>, node: NodeId) -> Decoded {
        match decoder.scalar(node)? {
            Some(Resolved::Null) => Ok(false),
            Some(_) => {
                self.0 = decoder.bytes(node)?;
                Ok(true)
            }
            None => decoder.misfit(node, "string"),
        }
    }
}

impl FromNode for bool {
    fn go_type() -> String {
        "bool".to_owned()
    }

    fn decode(&mut self, decoder: &mut Decoder<'_>, node: NodeId) -> Decoded {
        let flag = match (decoder.scalar(node)?, decoder.document.text(node)) {
            (Some(Resolved::Null), _) => return Ok(false),
            (Some(Resolved::Bool(flag)), _) => Some(flag),
            (Some(Resolved::Text), "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON") => {
                Some(true)
            }
            (Some(Resolved::Text), "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF") => {
                Some(false)
            }
            _ => None,
        };
        match flag {
            Some(flag) => {
                *self = flag;
                Ok(true)
            }
            None => decoder.misfit(node, "bool"),
        }
    }
}

impl FromNode for i64 {
    fn go_type() -> String {
        "int".to_owned()
    }

    fn decode(&mut self, decoder: &mut Decoder<'_>, node: NodeId) -> Decoded {
        let number = match decoder.scalar(node)? {
            Some(Resolved::Null) => return Ok(false),
            Some(Resolved::Int(int)) => Some(int),
            Some(Resolved::Uint(int)) => i64::try_from(int).ok(),
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                reason = "Go truncates in the same way"
            )]
            Some(Resolved::Float(float)) if float <= i64::MAX as f64 => Some(float as i64),
            _ => None,
        };
        match number {
            Some(number) => {
                *self = number;
                Ok(true)
            }
            None => decoder.misfit(node, "int"),
        }
    }
}

impl FromNode for u64 {
    fn go_type() -> String {
        "uint".to_owned()
    }

    fn decode(&mut self, decoder: &mut Decoder<'_>, node: NodeId) -> Decoded {
        let number = match decoder.scalar(node)? {
            Some(Resolved::Null) => return Ok(false),
            Some(Resolved::Int(int)) => u64::try_from(int).ok(),
            Some(Resolved::Uint(int)) => Some(int),
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                clippy::cast_sign_loss,
                reason = "Go truncates in the same way"
            )]
            Some(Resolved::Float(float)) if float <= u64::MAX as f64 => Some(float as u64),
            _ => None,
        };
        match number {
            Some(number) => {
                *self = number;
                Ok(true)
            }
            None => decoder.misfit(node, "uint"),
        }
    }
}
