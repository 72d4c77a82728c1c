//! The configuration of a bundle, made of what another site needs. Everything else in the user's
//! clusterctl.yaml stays behind: it may be a credential.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value;

use super::configuration::setting;
use windlass_capi::contract::ProviderType;
use windlass_clusterctl::CERT_MANAGER;
use windlass_go_yaml::yaml::{self, Node};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, rules};
use windlass_source::url::without_credentials;

rules! {
    /// some settings of clusterctl.yaml are not copied into the bundle
    LEFT_OUT = info("bundle-configuration-left-out");
}

/// What was made of a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Made {
    /// The text; empty if the configuration has nothing that another site needs.
    pub text: String,
    /// The settings that are left out, by their keys.
    pub left_out: Vec<String>,
}

/// How many keys a finding names.
const MOST_NAMED: usize = 100;

impl Made {
    /// The finding about what is left out, and how to go on.
    pub fn finding(&self, source: &Source, help: &str) -> Option<Diagnostic> {
        let (named, others) = self.left_out.split_at(self.left_out.len().min(MOST_NAMED));
        let more = match others.len() {
            0 => String::new(),
            count => format!(", and {count} more"),
        };
        let finding = || {
            let message = format!(
                "not part of the bundle's configuration: {}{more}",
                named.join(", ")
            );
            Diagnostic::of(&LEFT_OUT, message)
                .at(source.place())
                .help(help)
        };
        (!named.is_empty()).then(finding)
    }
}

/// Makes the configuration of a bundle from one that a user or a sender wrote: providers, overrides
/// of images and cert-manager, without credentials in URLs. A text that cannot be read gives
/// nothing.
pub fn made(source: &Source, budget: &Budget) -> Made {
    let parsed = yaml::parse(source, budget);
    let Some(root) = parsed.documents.first().map(|document| &document.root) else {
        return Made::default();
    };
    let (mut left_out, mut known) = (Vec::new(), BTreeSet::new());
    let mut leave_out = |name: String| {
        if known.insert(name.clone()) {
            left_out.push(name);
        }
    };
    for leaf in leaves(root) {
        match &leaf.path[..] {
            // This program writes it into each configuration.
            [key] if key.eq_ignore_ascii_case(super::configuration::VERSION_CHECK) => {}
            path if !is_needed(path) => leave_out(name_of(path)),
            path if !leaf.is_plain() => leave_out(joined(path)),
            path if leaf.has_credentials() => {
                leave_out(format!("credentials in {}", joined(path)));
            }
            _ => {}
        }
    }
    let text = [providers(root), images(root), cert_manager(root)].concat();
    Made { text, left_out }
}

/// A configuration in which only keys and what a bundle needs can be read, for excerpts: each other
/// value is `***`, and comments are gone. Positions stay.
pub fn masked(source: &Source, budget: &Budget) -> Source {
    let parsed = yaml::parse(source, budget);
    let roots = parsed.documents.iter().map(|document| &document.root);
    let text = source.text();
    let mut kept = vec![None; text.len()];
    let mut mark = |range: Range<usize>, is_kept: bool| {
        if let Some(range) = kept.get_mut(range) {
            range.fill(Some(is_kept));
        }
    };
    for leaf in roots.flat_map(leaves) {
        mark(leaf.node.span.into(), leaf.is_shown());
    }
    for document in &parsed.documents {
        keys(&document.root).for_each(|key| mark(key, true));
    }
    let (mut in_comment, mut hidden) = (false, 0);
    let mut before = '\n';
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        in_comment &= c != '\n';
        in_comment |= kept[at].is_none() && c == '#' && before.is_whitespace();
        before = c;
        hidden = if kept[at] == Some(false) {
            hidden + 1
        } else {
            0
        };
        let mask = if (1..=3).contains(&hidden) { '*' } else { ' ' };
        match kept[at] {
            Some(true) => shown.push(c),
            None if !in_comment && (c.is_whitespace() || "-:{}[],'\"|>".contains(c)) => {
                shown.push(c);
            }
            _ if matches!(c, '\n' | '\r' | '\t') => shown.push(c),
            _ => shown.extend(std::iter::repeat_n(mask, c.len_utf8())),
        }
    }
    Source::new(source.name().clone(), shown)
}

/// A value that is not a mapping or a list, and the keys that lead to it.
struct Leaf<'n> {
    path: Vec<String>,
    node: &'n Node,
}

impl Leaf<'_> {
    fn has_credentials(&self) -> bool {
        self.node
            .as_str()
            .is_some_and(|text| without_credentials(text) != text)
    }

    /// Whether a needed value has the form that its field has, without credentials.
    fn is_plain(&self) -> bool {
        let field = self.path.last().map(|field| field.to_lowercase());
        let text = scalar(self.node).unwrap_or_default();
        let text = without_credentials(&text);
        match field.as_deref() {
            Some("url") => quoted(&text).is_some(),
            Some("type") => ProviderType::ALL.iter().any(|known| known.as_str() == text),
            _ => is_word(&text),
        }
    }

    fn is_shown(&self) -> bool {
        is_needed(&self.path) && self.is_plain() && !self.has_credentials()
    }
}

fn leaves(root: &Node) -> Vec<Leaf<'_>> {
    let mut found = Vec::new();
    let mut nodes = vec![(Vec::new(), root)];
    while let Some((path, node)) = nodes.pop() {
        let below = |name: String| [&path[..], &[name][..]].concat();
        if let Some(entries) = node.as_mapping() {
            let entries = entries.iter().rev();
            nodes.extend(entries.map(|entry| (below(entry.key.clone()), &entry.value)));
        } else if let Some(items) = node.as_sequence() {
            let items = items.iter().enumerate().rev();
            nodes.extend(items.map(|(at, item)| (below(format!("[{at}]")), item)));
        } else if !node.is_null() && !path.is_empty() {
            found.push(Leaf { path, node });
        }
    }
    found
}

/// Where the keys of all mappings are.
fn keys(root: &Node) -> impl Iterator<Item = Range<usize>> {
    let mut nodes = vec![root];
    let mut found = Vec::new();
    while let Some(node) = nodes.pop() {
        for entry in node.as_mapping().into_iter().flatten() {
            found.push(entry.key_span.into());
            nodes.push(&entry.value);
        }
        nodes.extend(node.as_sequence().into_iter().flatten());
    }
    found.into_iter()
}

/// Whether another site needs a value, by the keys that lead to it; case does not matter to
/// clusterctl.
fn is_needed(path: &[String]) -> bool {
    let path: Vec<String> = path.iter().map(|key| key.to_lowercase()).collect();
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path[..] {
        ["providers", item, field] => {
            item.starts_with('[') && ["name", "type", "url"].contains(&field)
        }
        ["images", _, field] => OVERRIDE.contains(&field),
        [CERT_MANAGER, field] => CERT_MANAGER_FIELDS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(field)),
        _ => false,
    }
}

const OVERRIDE: [&str; 3] = ["repository", "name", "tag"];
const CERT_MANAGER_FIELDS: [&str; 4] = ["url", "version", "timeout", "externallyProvisioned"];

/// What a finding calls a value: the key at the top, or where a needed setting has more than is
/// needed all keys.
fn name_of(path: &[String]) -> String {
    let is_partly_needed = path.len() > 1
        && ["providers", "images", CERT_MANAGER]
            .iter()
            .any(|key| key.eq_ignore_ascii_case(&path[0]));
    joined(if is_partly_needed { path } else { &path[..1] })
}

fn joined(path: &[String]) -> String {
    let mut name = String::new();
    for key in path {
        if !name.is_empty() && !key.starts_with('[') {
            name.push('.');
        }
        name.push_str(key);
    }
    name
}

/// The section `providers`; empty without an entry.
fn providers(root: &Node) -> String {
    let list = setting(root, "providers").and_then(|entry| entry.value.as_sequence());
    let entry = |item: &Node| {
        let text = |key: &str| Some(setting(item, key)?.value.as_str()?.to_owned());
        let (name, kind) = (text("name")?, text("type")?);
        let is_known =
            ProviderType::ALL.iter().any(|known| known.as_str() == kind) && is_word(&name);
        let url = quoted(&without_credentials(&text("url")?))?;
        is_known.then(|| format!("- name: \"{name}\"\n  url: {url}\n  type: {kind}\n"))
    };
    let entries: String = list.unwrap_or_default().iter().filter_map(entry).collect();
    headed("providers", entries)
}

/// The section `images`; empty without an override.
fn images(root: &Node) -> String {
    let section = setting(root, "images").and_then(|entry| entry.value.as_mapping());
    let one = |entry: &yaml::Entry| {
        let fields: String = OVERRIDE
            .iter()
            .filter_map(|key| {
                let text = scalar(&setting(&entry.value, key)?.value)?;
                let text = without_credentials(&text);
                (is_word(&text)).then(|| format!("    {key}: \"{text}\"\n"))
            })
            .collect();
        let is_override = is_word(&entry.key) && !fields.is_empty();
        is_override.then(|| format!("  \"{}\":\n{fields}", entry.key))
    };
    let overrides = section.into_iter().flatten().filter_map(one).collect();
    headed("images", overrides)
}

/// The section `cert-manager`; empty without a field.
fn cert_manager(root: &Node) -> String {
    let section = setting(root, CERT_MANAGER).map(|entry| &entry.value);
    let field = |key: &&str| {
        let text = scalar(&setting(section?, key)?.value)?;
        let text = match *key {
            "url" => quoted(&without_credentials(&text))?,
            _ => is_word(&text).then(|| format!("\"{text}\""))?,
        };
        Some(format!("  {key}: {text}\n"))
    };
    let fields = CERT_MANAGER_FIELDS.iter().filter_map(field).collect();
    headed(CERT_MANAGER, fields)
}

fn headed(key: &str, below: String) -> String {
    match below.is_empty() {
        true => below,
        false => format!("{key}:\n{below}"),
    }
}

/// A text, a number or a boolean as text.
fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        yaml::Value::String(text) => Some(text.clone()),
        yaml::Value::Number(number) => Some(number.to_string()),
        yaml::Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// Whether a text is a name, a tag, a version or the path of images.
fn is_word(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:+".contains(&byte);
    // A tag may have a digest behind it; any other `@` follows a user.
    let name = text.split("@sha256:").next().unwrap_or_default();
    let digest = text.split_once('@').map_or("", |(_, digest)| digest);
    !name.is_empty() && name.bytes().all(is_plain) && digest.bytes().all(is_plain)
}

/// A text in double quotes, as JSON and YAML read it; `None` for one with control characters, which
/// no URL has.
fn quoted(text: &str) -> Option<String> {
    let is_printable = !text.chars().any(char::is_control);
    is_printable.then(|| Value::from(text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Made {
        made(&Source::new("c.yaml", text), &Budget::default())
    }

    /// Book, clusterctl configuration: all settings of a site, and what people write beside them.
    const THEIRS: &str = "\
GITHUB_TOKEN: canary # canary
Providers:
- {name: foo, type: BootstrapProvider, url: 'https://u:canary@h/x?token=canary&a=b', token: canary}
- {name: 'canary name', type: CoreProvider, url: /x}
- canary
IMAGES:
  all: {repository: canary@r.io/x, tag: 1.5, password: canary}
  bad: {name: 'canary canary'}
cert-manager: {url: /c/cert-manager/v1/cert-manager.yaml, version: v1.2.3, timeout: 10m, auth: {x: canary}}
nested: {deep: [canary]}
overridesFolder: /home/canary
CLUSTERCTL_DISABLE_VERSIONCHECK: canary
multi: |
  canary
  canary
";

    #[test]
    fn a_configuration_is_made_of_what_a_site_needs() {
        let expected = "\
providers:
- name: \"foo\"
  url: \"https://h/x?a=b\"
  type: BootstrapProvider
images:
  \"all\":
    repository: \"r.io/x\"
    tag: \"1.5\"
cert-manager:
  url: \"/c/cert-manager/v1/cert-manager.yaml\"
  version: \"v1.2.3\"
  timeout: \"10m\"
";
        let made = of(THEIRS);
        assert_eq!(made.text, expected);
        let left_out = [
            "GITHUB_TOKEN",
            "credentials in Providers[0].url",
            "Providers[0].token",
            "Providers[1].name",
            "Providers[2]",
            "credentials in IMAGES.all.repository",
            "IMAGES.all.password",
            "IMAGES.bad.name",
            "cert-manager.auth.x",
            "nested",
            "overridesFolder",
            "multi",
        ];
        assert_eq!(made.left_out, left_out);
        assert_eq!(of(expected).text, expected, "a second time nothing changes");
        assert_eq!(of(expected).left_out, [] as [&str; 0]);
    }

    #[test]
    fn other_texts_give_nothing() {
        for text in [
            "",
            "canary",
            "- canary",
            "a: [",
            "providers: canary",
            "images: [canary]",
        ] {
            assert_eq!(of(text).text, "", "{text}");
        }
    }

    #[test]
    fn a_masked_configuration_shows_keys_and_what_a_site_needs() {
        let masked = |text: &str| {
            let masked = masked(&Source::new("c.yaml", text), &Budget::default());
            assert_eq!(masked.text().len(), text.len());
            masked.text().to_owned()
        };
        let shown = masked(THEIRS);
        assert!(!shown.contains("canary"), "{shown}");
        assert!(shown.contains("GITHUB_TOKEN: ***  "), "{shown}");
        assert!(
            shown.contains("- {name: foo, type: BootstrapProvider, url: ***"),
            "{shown}"
        );
        assert_eq!(masked("ü: [ # é\n").trim(), ": [");
        assert_eq!(
            masked("canary: canary: canary").trim_matches([' ', ':']),
            ""
        );
    }
}
