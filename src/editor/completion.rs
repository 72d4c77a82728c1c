//! Completion: fields and their values, clusterctl variables, and rules in waivers.

use std::collections::BTreeMap;
use std::ops::Range;

use ls_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, MarkupContent,
    MarkupKind, TextEdit,
};

use super::cursor::{Document, Typed, Typing};
use super::documents;
use super::hover::described;
use super::objects::objects;
use super::schemas::{Field, kinds, schema};
use crate::rules;
use windlass_checks::settings;
use windlass_checks::settings::SETTINGS_FILE;
use windlass_envsubst as envsubst;
use windlass_go_yaml::yaml::Node;
use windlass_report::Sources;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::cut::cut;
use windlass_source::diag::FieldPath;

/// A completion item.
struct Item {
    label: String,
    /// The inserted text, where it is more than the label.
    insert: Option<String>,
    kind: CompletionItemKind,
    detail: String,
    documentation: Option<String>,
}

impl Item {
    fn word(label: impl Into<String>, kind: CompletionItemKind) -> Self {
        Item {
            label: label.into(),
            insert: None,
            kind,
            detail: String::new(),
            documentation: None,
        }
    }
}

impl Item {
    /// Leaves the colon out that the text already has.
    fn leave_colon(&mut self) {
        if let Some(insert) = &mut self.insert {
            insert.truncate(insert.trim_end_matches([':', ' ']).len());
        }
    }
}

/// The items for a byte of a document. `sources` are the files of its folder.
pub(super) fn complete(
    document: &documents::Document,
    offset: usize,
    sources: &[Source],
    budget: &Budget,
) -> Vec<CompletionItem> {
    let text = document.text();
    let name = document.source.name();
    let (items, word) = if document.source.file_name() == SETTINGS_FILE {
        settings_items(text, offset)
    } else if name.ends_with(".json") || name.ends_with(".toml") {
        (Vec::new(), offset..offset)
    } else {
        yaml_items(text, offset, sources, budget)
    };
    let secrets: Sources = sources.iter().cloned().collect();
    let write = |(at, item): (usize, Item)| CompletionItem {
        text_edit: Some(CompletionTextEdit::Edit(TextEdit {
            range: document.range(word.clone()),
            new_text: item.insert.unwrap_or_else(|| item.label.clone()),
        })),
        sort_text: Some(format!("{at:04}")),
        label: item.label,
        kind: Some(item.kind),
        detail: Some(secrets.words().removed_from(&item.detail))
            .filter(|detail| !detail.is_empty()),
        documentation: item.documentation.map(|value| {
            Documentation::MarkupContent(MarkupContent {
                kind: MarkupKind::Markdown,
                value,
            })
        }),
        ..CompletionItem::default()
    };
    items.into_iter().enumerate().map(write).collect()
}

fn yaml_items(
    text: &str,
    offset: usize,
    sources: &[Source],
    budget: &Budget,
) -> (Vec<Item>, Range<usize>) {
    let Some(typing) = Typing::at(text, offset, budget) else {
        return (Vec::new(), offset..offset);
    };
    let document = typing.document.as_ref();
    let items = match (&typing.typed, document) {
        (Typed::Rule, _) => rule_items(),
        (Typed::Variable, _) => variable_items(text, &text[typing.word.clone()], sources),
        (Typed::Key(path), Some(document)) => {
            let mut items = key_items(document, path, sources, budget);
            if typing.is_before_colon {
                items.iter_mut().for_each(Item::leave_colon);
            }
            items
        }
        (Typed::Value(path), Some(document)) => value_items(document, path, sources, budget),
        (_, None) => Vec::new(),
    };
    (items, typing.word)
}

fn rule_items() -> Vec<Item> {
    let item = |rule: &windlass_source::diag::Rule| Item {
        detail: rule.summary.to_owned(),
        documentation: Some(rules::page(rule)),
        ..Item::word(rule.id, CompletionItemKind::VALUE)
    };
    rules::all().into_iter().map(item).collect()
}

/// The variables of the templates of the folder. That which is being typed is not one yet.
fn variable_items(text: &str, typed: &str, sources: &[Source]) -> Vec<Item> {
    let mut defaults: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut add = |text: &str| {
        if let Ok(template) = envsubst::parse(text) {
            for (name, default) in template.variables() {
                let known = defaults.entry(name).or_default();
                *known = known.take().or(default);
            }
        }
    };
    // The text cannot be read where `${` has no end yet.
    let complete: String = text
        .split_inclusive('\n')
        .filter(|line| line.matches("${").count() == line.matches('}').count())
        .collect();
    add(&complete);
    sources.iter().for_each(|source| add(source.text()));
    defaults.remove(typed);
    let item = |(name, default): (String, Option<String>)| {
        let is_secret = windlass_objects::secrets::is_secret_variable(&name);
        Item {
            detail: match default {
                None => "required".to_owned(),
                Some(_) if is_secret => "has a default".to_owned(),
                Some(default) => format!("default {default}"),
            },
            ..Item::word(name, CompletionItemKind::VARIABLE)
        }
    };
    defaults.into_iter().map(item).collect()
}

fn definitions(sources: &[Source], budget: &Budget) -> Vec<windlass_objects::Object> {
    sources
        .iter()
        .filter(|source| source.text().contains("openAPIV3Schema"))
        .flat_map(|source| objects(source, budget))
        .collect()
}

/// The fields that the mapping does not have yet, required ones first.
fn key_items(
    document: &Document,
    path: &FieldPath,
    sources: &[Source],
    budget: &Budget,
) -> Vec<Item> {
    let definitions = definitions(sources, budget);
    let (api_version, kind) = (document.text("apiVersion"), document.text("kind"));
    let Some(schema) = schema(api_version, kind, &definitions) else {
        return match path.is_root() {
            true => ["apiVersion", "kind", "metadata", "spec"]
                .map(|key| field_item(key, None, ""))
                .into(),
            false => Vec::new(),
        };
    };
    let Some(field) = Field::root(&schema).at(path) else {
        return Vec::new();
    };
    // A key where the schema has a list begins its first item.
    let (field, lead) = match field.is_list() {
        true => match field.at(&FieldPath::root().index(0)) {
            Some(item) => (item, "- "),
            None => return Vec::new(),
        },
        false => (field, ""),
    };
    let own = document.root.at(path).and_then(Node::as_mapping);
    let is_new = |name: &str| own.is_none_or(|own| own.get(name).is_none());
    let mut fields: Vec<_> = field
        .fields()
        .into_iter()
        .filter(|(name, _)| is_new(name) && !(path.is_root() && *name == "status"))
        .collect();
    fields.sort_by_key(|(_, field)| !field.is_required);
    fields
        .into_iter()
        .map(|(name, field)| field_item(name, Some(field), lead))
        .collect()
}

fn field_item(name: &str, field: Option<Field<'_>>, lead: &str) -> Item {
    let words = field.map(Field::type_name).unwrap_or_default();
    // A mapping or a list continues in the next line.
    let is_block = ["object", "map of", "list of"]
        .iter()
        .any(|begin| words.starts_with(begin));
    let end = if is_block { ":" } else { ": " };
    Item {
        insert: Some(format!("{lead}{name}{end}")),
        detail: words,
        documentation: field.map(|field| described(name, field)),
        ..Item::word(name, CompletionItemKind::FIELD)
    }
}

fn value_items(
    document: &Document,
    path: &FieldPath,
    sources: &[Source],
    budget: &Budget,
) -> Vec<Item> {
    let of_type = |field: &str| path == &FieldPath::of_fields(field);
    if of_type("apiVersion") || of_type("kind") {
        return kind_items(document, of_type("kind"));
    }
    let definitions = definitions(sources, budget);
    let (api_version, kind) = (document.text("apiVersion"), document.text("kind"));
    let schema = schema(api_version, kind, &definitions);
    let field = schema
        .as_deref()
        .and_then(|schema| Field::root(schema).at(path));
    let values = field.map(Field::values).unwrap_or_default();
    let item = |(value, description): (String, Option<&str>)| Item {
        documentation: description.map(str::to_owned),
        ..Item::word(value, CompletionItemKind::ENUM_MEMBER)
    };
    values.into_iter().map(item).collect()
}

/// Kinds or versions, those that fit the other one first.
fn kind_items(document: &Document, wants_kind: bool) -> Vec<Item> {
    let (api_version, kind) = (document.text("apiVersion"), document.text("kind"));
    let fits = |(known_version, known_kind): &(String, &str)| match wants_kind {
        true => known_version == api_version,
        false => *known_kind == kind,
    };
    let known = kinds();
    let has_fitting = known.iter().any(fits);
    let mut words: Vec<String> = known
        .into_iter()
        .filter(|known| !has_fitting || fits(known))
        .map(|(version, kind)| match wants_kind {
            true => kind.to_owned(),
            false => version,
        })
        .collect();
    words.sort();
    words.dedup();
    // The newest version first.
    if !wants_kind {
        words.reverse();
    }
    words
        .into_iter()
        .map(|word| Item::word(word, CompletionItemKind::ENUM_MEMBER))
        .collect()
}

/// The items for a byte of windlass.toml: rules in quotes, keys at the start of a line.
fn settings_items(text: &str, offset: usize) -> (Vec<Item>, Range<usize>) {
    let before = cut(text, ..offset);
    let line = before.rsplit('\n').next().unwrap_or_default();
    let lead = line.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
    let word = offset - (line.len() - lead.len())..offset;
    let is_quoted = lead.matches('"').count() % 2 == 1;
    if is_quoted && names_rules(before) {
        return (rule_items(), word);
    }
    if !lead.trim().is_empty() {
        return (Vec::new(), word);
    }
    let table = cut(before, ..before.len() - line.len())
        .lines()
        .rev()
        .find(|line| line.starts_with('['))
        .unwrap_or_default();
    let keys = match table.trim() {
        "" => settings::KEYS,
        "[[waive]]" => settings::WAIVER_KEYS,
        _ => &[],
    };
    let item = |(key, meaning): &(&str, &str)| {
        let insert = match *key {
            "waive" => "[[waive]]\n".to_owned(),
            "roles" => "[roles]\n".to_owned(),
            "allow" | "deny" | "exclude" => format!("{key} = []"),
            key => format!("{key} = \"\""),
        };
        Item {
            insert: Some(insert),
            documentation: Some((*meaning).to_owned()),
            ..Item::word(*key, CompletionItemKind::FIELD)
        }
    };
    (keys.iter().map(item).collect(), word)
}

/// Whether the value in which a text ends lists rules.
fn names_rules(before: &str) -> bool {
    let key = before
        .lines()
        .rev()
        .find_map(|line| line.split_once('=').map(|(key, _)| key.trim()));
    matches!(key, Some("rule" | "deny" | "allow"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The labels of the items, and the word that they replace; `|` marks the cursor.
    fn completed(text: &str) -> (Vec<String>, String) {
        let offset = text.find('|').unwrap();
        let text = text.replacen('|', "", 1);
        let (items, word) = settings_items(&text, offset);
        let labels = items.into_iter().map(|item| item.label);
        (labels.collect(), text[word].to_owned())
    }

    #[test]
    fn keys_and_rules_of_settings_are_completed() {
        let (top, _) = completed("|");
        assert!(top.contains(&"waive".to_owned()), "{top:?}");
        let (of_waiver, _) = completed("[[waive]]\n|");
        assert!(of_waiver.contains(&"reason".to_owned()), "{of_waiver:?}");
        assert!(!of_waiver.contains(&"waive".to_owned()), "{of_waiver:?}");
        let (rules, word) = completed("allow = [\"yaml-s|");
        assert!(rules.contains(&"yaml-syntax".to_owned()));
        assert_eq!(word, "yaml-s");
        // A text that is not a list of rules has no items, whatever its letters.
        assert_eq!(completed("reason = \"fü|"), (Vec::new(), String::new()));
    }
}
