//! The configuration as YAML: what viper has of yaml.v3, whose reader [`yaml_v3`] is. `yes` is a
//! text, `0755` is 493, a date is a time, a key must not stand twice. A port of yaml.v3's
//! `decode.go` for a `map[string]interface {}`, with its messages.

use std::collections::{BTreeMap, BTreeSet};

use super::setting::Setting;
use windlass_go_text::{self as go, base64, float};
use windlass_go_yaml::yaml_v3::{self, Content, Document, Node, NodeId, Resolved, resolve};

/// # Errors
/// In yaml.v3's words.
pub(super) fn parse(text: &[u8]) -> Result<Setting, String> {
    let words = |message: &dyn std::fmt::Display| format!("yaml: {message}");
    let Some(document) = yaml_v3::parse(text).map_err(|fault| words(&fault))? else {
        return Ok(Setting::from_iter([]));
    };
    let mut decoder = Decoder {
        document: &document,
        open: BTreeSet::new(),
        nodes: 0,
        aliased: 0,
        alias_depth: 0,
        faults: Vec::new(),
    };
    let decoded = decoder.root().map_err(|message| words(&message))?;
    match decoder.faults.as_slice() {
        [] => Ok(decoded),
        faults => Err(format!(
            "yaml: unmarshal errors:\n  {}",
            faults.join("\n  ")
        )),
    }
}

struct Decoder<'d> {
    document: &'d Document,
    /// The anchors that are being decoded.
    open: BTreeSet<NodeId>,
    nodes: usize,
    aliased: usize,
    alias_depth: usize,
    /// Faults that do not end the decoding.
    faults: Vec<String>,
}

/// A fault that ends the decoding.
type Decoded<T> = Result<T, String>;

impl<'d> Decoder<'d> {
    fn node(&self, id: NodeId) -> &'d Node {
        self.document.node(id)
    }

    fn root(&mut self) -> Decoded<Setting> {
        let root = self.document.root();
        let node = self.node(root);
        let value = match &node.content {
            Content::Mapping(_) => return self.mapping(root, Keys::Raw),
            Content::Scalar { text, .. } => match self.scalar(node, text)? {
                Setting::Null => return Ok(Setting::from_iter([])),
                _ if text.chars().count() > 10 => {
                    format!(" `{}...`", text.chars().take(7).collect::<String>())
                }
                _ => format!(" `{text}`"),
            },
            Content::Sequence(_) | Content::Alias(_) => String::new(),
        };
        self.faults.push(format!(
            "line {}: cannot unmarshal {}{value} into map[string]interface {{}}",
            node.line, node.tag
        ));
        Ok(Setting::Null)
    }

    /// Counts a node, and rejects documents that are mostly aliases.
    fn count(&mut self) -> Decoded<()> {
        const FEW: usize = 400_000;
        const MANY: usize = 4_000_000;
        self.nodes += 1;
        self.aliased += usize::from(self.alias_depth > 0);
        #[allow(clippy::cast_precision_loss, reason = "the numbers are small")]
        let allowed = match self.nodes {
            nodes if nodes <= FEW => 0.99,
            nodes if nodes >= MANY => 0.10,
            nodes => 0.99 - 0.89 * ((nodes - FEW) as f64 / (MANY - FEW) as f64),
        };
        #[allow(clippy::cast_precision_loss, reason = "the numbers are small")]
        let ratio = self.aliased as f64 / self.nodes as f64;
        if self.aliased > 100 && self.nodes > 1000 && ratio > allowed {
            return Err("document contains excessive aliasing".to_owned());
        }
        Ok(())
    }

    fn value(&mut self, id: NodeId) -> Decoded<Setting> {
        self.count()?;
        let node = self.node(id);
        match &node.content {
            Content::Scalar { text, .. } => self.scalar(node, text),
            Content::Sequence(items) => Ok(Setting::List(
                items
                    .iter()
                    .map(|item| self.value(*item))
                    .collect::<Decoded<_>>()?,
            )),
            Content::Mapping(entries) => {
                let texts = entries.iter().all(|(key, _)| {
                    matches!(self.resolved(*key).tag.as_str(), "!!str" | "!!merge")
                });
                self.mapping(id, if texts { Keys::Raw } else { Keys::Decoded })
            }
            Content::Alias(target) => self.alias(*target, Self::value),
        }
    }

    fn alias<T>(
        &mut self,
        target: NodeId,
        decode: impl FnOnce(&mut Self, NodeId) -> Decoded<T>,
    ) -> Decoded<T> {
        if !self.open.insert(target) {
            return Err(format!(
                "anchor '{}' value contains itself",
                self.document.anchor(target)
            ));
        }
        self.alias_depth += 1;
        let decoded = decode(self, target);
        self.alias_depth -= 1;
        self.open.remove(&target);
        decoded
    }

    /// The node behind an alias.
    fn resolved(&self, id: NodeId) -> &'d Node {
        match self.node(id).content {
            Content::Alias(target) => self.node(target),
            _ => self.node(id),
        }
    }

    fn scalar(&self, node: &Node, text: &str) -> Decoded<Setting> {
        if node.tag == "!!str" {
            return Ok(Setting::Text(text.to_owned()));
        }
        let (tag, value) = resolve(&node.tag, text)?;
        Ok(match value {
            Resolved::Null => Setting::Null,
            Resolved::Bool(bool) => Setting::Bool(bool),
            Resolved::Int(int) => Setting::Integer(int.to_string()),
            Resolved::Uint(int) => Setting::Integer(int.to_string()),
            Resolved::Float(float) => Setting::Scalar(float::plain_float(float)),
            Resolved::Timestamp => go::time::of_yaml(text).map_or_else(
                || Setting::Text(text.to_owned()),
                |time| Setting::Scalar(time.to_string()),
            ),
            Resolved::Text if tag == "!!binary" => {
                let bytes = base64::decode(text)
                    .map_err(|_| "!!binary value contains invalid base64 data")?;
                Setting::Text(String::from_utf8_lossy(&bytes).into_owned())
            }
            Resolved::Text => Setting::Text(text.to_owned()),
        })
    }

    fn mapping(&mut self, id: NodeId, keys: Keys) -> Decoded<Setting> {
        let mut entries = Entries::default();
        self.fill(id, keys, &mut entries, false)?;
        Ok(entries.in_order.into_iter().collect())
    }

    /// Adds the entries of a mapping; of one that is merged those whose keys are not there.
    fn fill(&mut self, id: NodeId, keys: Keys, into: &mut Entries, merged: bool) -> Decoded<()> {
        let Content::Mapping(entries) = &self.node(id).content else {
            return Ok(());
        };
        if self.has_repeated_keys(entries) {
            return Ok(());
        }
        let mut merge = None;
        for (key, value) in entries {
            let node = self.node(*key);
            if node.tag == "!!merge" {
                merge = Some(*value);
                continue;
            }
            let Some(key) = self.key(*key, keys)? else {
                continue;
            };
            if !into.known.insert(key.clone()) && merged {
                continue;
            }
            let value = self.value(*value)?;
            into.in_order.push((key, value));
        }
        merge.map_or(Ok(()), |merge| self.merge(merge, keys, into, true))
    }

    fn merge(&mut self, id: NodeId, keys: Keys, into: &mut Entries, lists: bool) -> Decoded<()> {
        const WANTED: &str = "map merge requires map or sequence of maps as the value";
        self.count()?;
        match &self.node(id).content {
            Content::Mapping(_) => self.fill(id, keys, into, true),
            Content::Alias(target) if matches!(self.node(*target).content, Content::Mapping(_)) => {
                self.alias(*target, |decoder, target| {
                    decoder.fill(target, keys, into, true)
                })
            }
            Content::Sequence(items) if lists => items
                .iter()
                .try_for_each(|item| self.merge(*item, keys, into, false)),
            _ => Err(WANTED.to_owned()),
        }
    }

    /// Tells each pair of equal keys, in the order of the first of them.
    fn has_repeated_keys(&mut self, entries: &[(NodeId, NodeId)]) -> bool {
        const MOST: usize = 1000;
        let kind = |content: &Content| match content {
            Content::Scalar { .. } => 0,
            Content::Sequence(_) => 1,
            Content::Mapping(_) => 2,
            Content::Alias(_) => 3,
        };
        let identity = |id: NodeId| (kind(&self.node(id).content), self.document.text(id));
        let mut lines: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (key, _) in entries {
            lines
                .entry(identity(*key))
                .or_default()
                .push(self.node(*key).line);
        }
        let repeated = lines.len() < entries.len();
        let mut faults = Vec::new();
        for (key, _) in entries.iter().filter(|_| repeated) {
            let Some(of_key) = lines.get_mut(&identity(*key)) else {
                continue;
            };
            let first = of_key.remove(0);
            let text = go::quote(self.document.text(*key));
            faults.extend(of_key.iter().map(|line| {
                format!("line {line}: mapping key {text} already defined at line {first}")
            }));
            if faults.len() > MOST {
                break;
            }
        }
        self.faults.extend(faults);
        repeated
    }

    /// A key as text; `None` where it is dropped.
    fn key(&mut self, id: NodeId, keys: Keys) -> Decoded<Option<String>> {
        self.count()?;
        let node = self.node(id);
        match (&node.content, keys) {
            (Content::Alias(target), _) => {
                self.alias(*target, |decoder, target| decoder.key(target, keys))
            }
            (Content::Scalar { text, .. }, _) => Ok(match (self.scalar(node, text)?, keys) {
                (Setting::Null, Keys::Raw) => None,
                (Setting::Text(text), _) => Some(text),
                (_, Keys::Raw) => Some(text.clone()),
                (Setting::Null, Keys::Decoded) => Some(String::new()),
                (other, Keys::Decoded) => other.to_variable(),
            }),
            (Content::Sequence(_) | Content::Mapping(_), Keys::Raw) => {
                self.faults.push(format!(
                    "line {}: cannot unmarshal {} into string",
                    node.line, node.tag
                ));
                Ok(None)
            }
            (Content::Sequence(_) | Content::Mapping(_), Keys::Decoded) => {
                Err(format!("invalid map key: {}", node.tag))
            }
        }
    }
}

/// The entries of a mapping as they stand: of keys that differ in case only, the last one counts.
#[derive(Default)]
struct Entries {
    in_order: Vec<(String, Setting)>,
    known: BTreeSet<String>,
}

/// What the keys of a mapping become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    /// Texts as they are written.
    Raw,
    /// Values, which viper prints.
    Decoded,
}
#[cfg(test)]
mod tests {
    use super::*;

    fn variable(text: &str, key: &str) -> Option<String> {
        parse(text.as_bytes())
            .unwrap()
            .get(key)
            .and_then(Setting::to_variable)
    }

    /// Observed of clusterctl: the value in the file, and what `${VAR}` gives.
    #[test]
    fn variables_are_printed_as_viper_prints_them() {
        for (value, expected) in [
            ("3", Some("3")),
            ("true", Some("true")),
            ("1.50", Some("1.5")),
            ("1.10", Some("1.1")),
            ("1e3", Some("1000")),
            ("0755", Some("493")),
            ("0o755", Some("493")),
            ("0x1f", Some("31")),
            ("yes", Some("yes")),
            ("on", Some("on")),
            ("2024-01-02", Some("2024-01-02 00:00:00 +0000 UTC")),
            (
                "2024-01-02T03:04:05Z",
                Some("2024-01-02 03:04:05 +0000 UTC"),
            ),
            (
                "2024-01-02 03:04:05.50",
                Some("2024-01-02 03:04:05.5 +0000 UTC"),
            ),
            (
                "2024-01-02T03:04:05+02:00",
                Some("2024-01-02 03:04:05 +0200 +0200"),
            ),
            ("12345678901234567890", Some("12345678901234567890")),
            ("[a]", Some("")),
            ("{a: b}", Some("")),
            (".inf", Some("+Inf")),
            (".nan", Some("NaN")),
            ("1_000", Some("1000")),
            ("0b101", Some("5")),
            ("+5", Some("5")),
            ("1e-7", Some("0.0000001")),
            ("Yes", Some("Yes")),
            ("off", Some("off")),
            ("1:30", Some("1:30")),
            ("null", None),
            ("", None),
            ("\"\"", Some("")),
            ("'3'", Some("3")),
            ("!!str 3", Some("3")),
            ("\"0x1f\"", Some("0x1f")),
            ("1.2.3", Some("1.2.3")),
            ("a b", Some("a b")),
            (r#"!!int "7""#, Some("7")),
            ("!!float 7", Some("7")),
            ("! 7", Some("7")),
            ("!x 7", Some("7")),
            ("!!bool \"true\"", Some("true")),
            ("!!binary aGk=", Some("hi")),
            ("0b-1", Some("-1")),
            ("99999999999999999999", Some("100000000000000000000")),
            ("1e400", Some("1e400")),
            (
                "2001-12-14t21:59:43.10-05:00",
                Some("2001-12-14 21:59:43.1 -0500 -0500"),
            ),
            (
                "2001-12-14 21:59:43.10 -5",
                Some("2001-12-14 21:59:43.10 -5"),
            ),
            ("2024-01-02T03:04:05", Some("2024-01-02T03:04:05")),
        ] {
            assert_eq!(
                variable(&format!("VAR: {value}\n"), "var").as_deref(),
                expected,
                "{value}"
            );
        }
    }

    /// Observed of viper 1.21.
    #[test]
    fn keys_aliases_and_merges_are_viper_s() {
        let text =
            "1: a\ntrue: b\n~: c\nm: {1: a, 0x10: b, true: c, 1.5: d, ~: e, 2020-01-01: f}\n";
        for (key, expected) in [
            ("1", "a"),
            ("true", "b"),
            ("m.16", "b"),
            ("m.1.5", "d"),
            ("m.2020-01-01 00:00:00 +0000 UTC", "f"),
        ] {
            assert_eq!(variable(text, key).as_deref(), Some(expected), "{key}");
        }
        let text = "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [*a, {z: 1, x: 7}]}\nd: *a\n";
        for (key, expected) in [
            ("b.x", "1"),
            ("b.y", "3"),
            ("c.x", "1"),
            ("c.z", "1"),
            ("d.y", "2"),
        ] {
            assert_eq!(variable(text, key).as_deref(), Some(expected), "{key}");
        }
    }

    /// Observed of viper 1.21.
    #[test]
    fn faults_are_in_yaml_v3s_words() {
        for (text, message) in [
            (
                "A: 1\nA: 2\n",
                "unmarshal errors:\n  line 2: mapping key \"A\" already defined at line 1",
            ),
            (
                "- a\n",
                "unmarshal errors:\n  line 1: cannot unmarshal !!seq into map[string]interface {}",
            ),
            (
                "abcdefghijklmnop",
                "unmarshal errors:\n  line 1: cannot unmarshal !!str `abcdefg...` into map[string]interface {}",
            ),
            (
                "[a]: b",
                "unmarshal errors:\n  line 1: cannot unmarshal !!seq into string",
            ),
            ("A: !!int x", "cannot decode !!str `x` as a !!int"),
            (
                "a: 1\n b: 2",
                "line 2: mapping values are not allowed in this context",
            ),
            ("A: [", "line 1: did not find expected node content"),
            (
                "a: &a 1\nb: {<<: *a}",
                "map merge requires map or sequence of maps as the value",
            ),
            ("a: *x", "unknown anchor 'x' referenced"),
            ("a: &a [*a]", "anchor 'a' value contains itself"),
        ] {
            assert_eq!(
                parse(text.as_bytes()),
                Err(format!("yaml: {message}")),
                "{text}"
            );
        }
    }

    #[test]
    fn documents_of_aliases_are_rejected() {
        let mut text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for at in 1..9 {
            text.push_str(&format!(
                "a{at}: &a{at} [{}]\n",
                vec![format!("*a{}", at - 1); 10].join(",")
            ));
        }
        assert_eq!(
            parse(text.as_bytes()),
            Err("yaml: document contains excessive aliasing".to_owned())
        );
    }
}
