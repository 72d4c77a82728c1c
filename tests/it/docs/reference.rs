//! The reference of the book is printed from the tables of the program: commands, rules and their
//! pages, settings, schemas. `UPDATE=1 cargo test --test it docs` writes it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use windlass::cli::{reference, schema};
use windlass_bootstrap::render::write::ignition::gaps::{GAPS, Gap, Outcome};
use windlass_checks::settings::{KEYS, WAIVER_KEYS, role_words};
use windlass_source::diag::Rule;

use crate::support::{files_below, golden, root};

/// The chapters of the book.
const SRC: &str = "docs/book/src";

/// A document with the lines between two comments made anew.
fn golden_between(path: &str, subject: &str, lines: &str) {
    let text = std::fs::read_to_string(root().join(path)).unwrap();
    let (begin, end) = (
        format!("<!-- {subject}: begin -->\n"),
        format!("<!-- {subject}: end -->\n"),
    );
    let (before, rest) = text
        .split_once(&begin)
        .unwrap_or_else(|| panic!("{path} lacks {begin}"));
    let (_, after) = rest
        .split_once(&end)
        .unwrap_or_else(|| panic!("{path} lacks {end}"));
    golden(path, &format!("{before}{begin}{lines}{end}{after}"));
}

#[test]
fn rule_table_lists_every_rule() {
    let rows: String = windlass::rules::all()
        .iter()
        .map(|rule| {
            let Rule {
                id,
                severity,
                class,
                summary,
                ..
            } = rule;
            format!(
                "| [`{id}`](rules/{id}.md) | {} | {} | {} |\n",
                severity.as_str(),
                class.as_str(),
                summary.replace('|', "\\|")
            )
        })
        .collect();
    let head = "| rule | severity | class | what it finds |\n|---|---|---|---|\n";
    golden_between(
        &format!("{SRC}/reference/rules.md"),
        "rules",
        &format!("{head}{rows}"),
    );
}

/// The files of a folder of the reference have to be these.
fn assert_no_other_files(folder: &str, known: impl IntoIterator<Item = String>) {
    let known: BTreeSet<String> = known.into_iter().collect();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let stale: Vec<_> = files_below(&root().join(folder))
        .into_iter()
        .filter(|path| !known.contains(&name(path)))
        .collect();
    assert!(
        stale.is_empty(),
        "nothing writes these; remove them: {stale:?}"
    );
}

/// `rules/RULE.md` for each rule, and no other file.
#[test]
fn pages_of_rules_are_committed() {
    let folder = format!("{SRC}/reference/rules");
    for rule in windlass::rules::all() {
        golden(
            &format!("{folder}/{}.md", rule.id),
            &windlass::rules::page(rule),
        );
    }
    assert_no_other_files(
        &folder,
        windlass::rules::all()
            .iter()
            .map(|rule| format!("{}.md", rule.id)),
    );
}

#[test]
fn chapters_of_the_commands_are_committed() {
    let folder = format!("{SRC}/reference/commands");
    for chapter in reference::chapters() {
        golden(&format!("{folder}/{}", chapter.file), &chapter.text);
    }
    assert_no_other_files(
        &folder,
        reference::chapters()
            .into_iter()
            .map(|chapter| chapter.file),
    );
}

/// The last part of the table of contents. What stands before it is written by hand.
#[test]
fn table_of_contents_has_the_reference() {
    const PART: &str = "# Reference\n";
    let path = format!("{SRC}/SUMMARY.md");
    let text = std::fs::read_to_string(root().join(&path)).unwrap();
    let (before, _) = text.split_once(PART).expect("SUMMARY.md has the part");
    let commands: Vec<String> = reference::chapters()
        .iter()
        .enumerate()
        .map(|(at, chapter)| {
            let indent = if at == 0 { "" } else { "  " };
            format!(
                "{indent}- [{}](reference/commands/{})\n",
                chapter.title, chapter.file
            )
        })
        .collect();
    let rules: String = windlass::rules::all()
        .iter()
        .map(|rule| format!("  - [{0}](reference/rules/{0}.md)\n", rule.id))
        .collect();
    let others = "- [provider.yaml](reference/provider-yaml.md)\n- [windlass.toml](reference/settings.md)\n- [Reports as JSON](reference/reports.md)\n";
    golden(
        &path,
        &format!(
            "{before}{PART}\n{}{others}- [Rules](reference/rules.md)\n{rules}",
            commands.concat()
        ),
    );
}

#[test]
fn keys_of_the_settings_are_listed() {
    let table = |keys: &[(&str, &str)]| {
        let rows: String = keys
            .iter()
            .map(|(key, meaning)| format!("| `{key}` | {meaning} |\n"))
            .collect();
        format!("| key | what it is |\n|---|---|\n{rows}")
    };
    let path = format!("{SRC}/reference/settings.md");
    golden_between(&path, "keys", &table(KEYS));
    golden_between(&path, "waiver", &table(WAIVER_KEYS));
    golden_between(
        &path,
        "roles",
        &role_words()
            .iter()
            .map(|word| format!("- `{word}`\n"))
            .collect::<String>(),
    );
}

#[test]
fn schemas_are_committed() {
    for (kind, schema) in schema::schemas() {
        golden(&format!("docs/schemas/{kind}.json"), &schema::text(&schema));
    }
}

/// How a table names a type that the schema defines apart.
type Naming = fn(&str) -> String;

fn linked(name: &str) -> String {
    format!("[{name}](#{})", name.to_lowercase())
}

/// A table of the properties of an object's schema.
fn properties(schema: &Value, but: &[&str], naming: Naming) -> String {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map_or_else(Vec::new, |names| {
            names.iter().filter_map(Value::as_str).collect()
        });
    let mut rows = String::new();
    for (name, property) in schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !but.contains(&name.as_str()))
    {
        let meaning = property["description"]
            .as_str()
            .unwrap_or_default()
            .replace('\n', " ")
            .replace('|', "\\|")
            .replace('<', "&lt;");
        let needed = if required.contains(&name.as_str()) {
            "yes"
        } else {
            ""
        };
        rows.push_str(&format!(
            "| `{name}` | {} | {needed} | {meaning} |\n",
            type_of(property, naming)
        ));
    }
    format!("| field | type | required | meaning |\n|---|---|---|---|\n{rows}")
}

/// The type of a property in words.
fn type_of(property: &Value, naming: Naming) -> String {
    if let Some(name) = property["$ref"]
        .as_str()
        .and_then(|reference| reference.rsplit('/').next())
    {
        return naming(name);
    }
    let alternatives = property["anyOf"]
        .as_array()
        .or_else(|| property["oneOf"].as_array());
    if let Some(alternatives) = alternatives {
        let types: Vec<String> = alternatives
            .iter()
            .map(|of| type_of(of, naming))
            .filter(|of| of != "null")
            .collect();
        return types.join(" or ");
    }
    let types: Vec<&str> = match &property["type"] {
        Value::String(of) => vec![of],
        Value::Array(types) => types
            .iter()
            .filter_map(Value::as_str)
            .filter(|of| *of != "null")
            .collect(),
        _ => Vec::new(),
    };
    match types[..] {
        ["array"] => format!("list of {}", type_of(&property["items"], naming)),
        ["object"] if property["additionalProperties"].is_object() => {
            format!(
                "map to {}",
                type_of(&property["additionalProperties"], naming)
            )
        }
        [] => "any".to_owned(),
        _ => types.join(" or "),
    }
}

#[test]
fn fields_of_provider_yaml_are_listed() {
    let (_, schema) = schema::schemas()
        .find(|(kind, _)| *kind == "provider")
        .unwrap();
    let mut text = properties(&schema, &[], linked);
    for (name, of) in schema["$defs"].as_object().unwrap() {
        let meaning = of["description"].as_str().unwrap_or_default();
        let holds = match words(of) {
            _ if of["properties"].is_object() => properties(of, &[], linked),
            words if words.is_empty() => format!("Type: {}\n", type_of(of, linked)),
            words => words,
        };
        text.push_str(&format!("\n## {name}\n\n{meaning}\n\n{holds}"));
    }
    golden_between(
        &format!("{SRC}/reference/provider-yaml.md"),
        "fields",
        &text,
    );
}

/// The words that a schema allows.
fn words(schema: &Value) -> String {
    let word = |of: &Value| {
        Some(format!(
            "- `{}`: {}\n",
            of["const"].as_str()?,
            of["description"].as_str().unwrap_or_default()
        ))
    };
    schema["oneOf"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(word)
        .collect()
}

/// What every report has; the page says it once.
const ENVELOPE: [&str; 5] = ["apiVersion", "findings", "kind", "summary", "tool"];

#[test]
fn fields_of_reports_are_listed() {
    let section = |(kind, schema): (&str, Value)| {
        let is_report = schema["properties"]["findings"].is_object();
        let but: &[&str] = if is_report { &ENVELOPE } else { &[] };
        format!(
            "## {kind}\n\n`windlass schema {kind}`\n\n{}",
            properties(&schema, but, str::to_owned)
        )
    };
    let sections: Vec<String> = schema::schemas()
        .filter(|(kind, _)| *kind != "provider")
        .map(section)
        .collect();
    golden_between(
        &format!("{SRC}/reference/reports.md"),
        "reports",
        &sections.join("\n"),
    );
}

#[test]
fn types_of_schemas_are_put_into_words() {
    let of = |schema: Value| type_of(&schema, linked);
    assert_eq!(of(json!({"type": ["string", "null"]})), "string");
    assert_eq!(
        of(json!({"type": "array", "items": {"$ref": "#/$defs/AbC"}})),
        "list of [AbC](#abc)"
    );
    assert_eq!(
        of(json!({"type": "object", "additionalProperties": {"type": "integer"}})),
        "map to integer"
    );
    assert_eq!(
        of(json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}, {"type": "boolean"}]})),
        "[A](#a) or boolean"
    );
}

#[test]
fn gaps_of_ignition_are_listed() {
    let in_3_4 = |gap: &Gap| match gap.in_3_4 {
        None => "as it is meant",
        Some(Outcome::Rejected) => "would be rejected",
        Some(Outcome::Ignored | Outcome::Changed) => "ignored, with a warning",
    };
    let rows: String = GAPS
        .iter()
        .map(|gap| {
            format!(
                "| `{}` | {} | {} | {} |\n",
                gap.field,
                gap.in_2_3,
                in_3_4(gap),
                gap.effect
            )
        })
        .collect();
    let head = "| field | 2.3 | 3.4 | what the node gets |\n|---|---|---|---|\n";
    golden_between(
        &format!("{SRC}/ignition.md"),
        "gaps",
        &format!("{head}{rows}"),
    );
}
