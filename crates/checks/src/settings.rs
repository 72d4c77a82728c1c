//! `windlass.toml`: the settings of a project for the commands that check.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use windlass_capi::contract::{Role, Roles};
use windlass_provider::Inputs;
use windlass_report::levels::ALL_WARNINGS;
use windlass_report::waivers::{self, ProjectWaiver};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report, rules};
use windlass_source::glob;
use windlass_source::nearest::nearest;

rules! {
    /// windlass.toml is not valid TOML
    SYNTAX = error("settings-syntax");
    /// windlass.toml has an unknown key
    KEY_UNKNOWN = error("settings-key-unknown");
    /// a waiver in windlass.toml lacks a key
    KEY_MISSING = error("settings-key-missing");
    /// a setting in windlass.toml has an invalid value
    VALUE_WRONG = error("settings-value-wrong");
    /// windlass.toml names a rule that does not exist
    RULE_UNKNOWN = error("settings-rule-unknown");
}

/// The file with the settings of a project.
pub const SETTINGS_FILE: &str = "windlass.toml";

/// The settings of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// `deny`: rules whose findings fail a run, and `warnings`.
    pub deny: Vec<String>,
    /// `allow`: rules whose findings are left out.
    pub allow: Vec<String>,
    /// `[[waive]]`: findings that do not count.
    pub waivers: Vec<ProjectWaiver>,
    /// `[roles]`: what the kinds of a project are.
    pub roles: ProjectRoles,
    /// `exclude`: folders that `lint` skips, in place of [`EXCLUDED`].
    pub exclude: Option<Vec<String>>,
}

/// The folders that `lint` skips below those that it is given: test data, tools, charts, and code
/// of other projects.
pub const EXCLUDED: [&str; 8] = [
    "charts",
    "hack",
    "node_modules",
    "test",
    "testdata",
    "tests",
    "third_party",
    "vendor",
];

/// Whether a pattern of `exclude` matches a folder: one without `/` matches the name of a folder
/// anywhere, any other one the path beside the settings.
pub fn excludes(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_end_matches('/');
    if pattern.contains('/') {
        glob::covers(&glob::plain(pattern), path)
    } else {
        glob::matches(pattern, path.rsplit('/').next().unwrap_or(path))
    }
}

/// The contract roles of a project's kinds, where the names of the kinds do not show them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectRoles(pub Roles);

impl ProjectRoles {
    /// Lets what is built of these inputs be checked by them.
    pub fn hold_for(&self, inputs: &mut Inputs) {
        inputs.set_roles(self.0.clone());
    }
}

/// The word for a kind that has no role in the contract.
const NO_ROLE: &str = "none";

/// The words for what a kind can be.
pub fn role_words() -> Vec<&'static str> {
    Role::ALL
        .into_iter()
        .map(Role::as_str)
        .chain([NO_ROLE])
        .collect()
}

/// Reads the settings. Where an error is found, they are not whole.
pub fn read(
    source: &Source,
    known: &BTreeSet<&'static str>,
    budget: &Budget,
) -> (Settings, Report) {
    let mut reader = Reader {
        source,
        known,
        budget,
        report: Report::new(),
    };
    let settings = match DeTable::parse(source.text()) {
        Ok(table) => reader.settings(table.get_ref()),
        Err(error) => {
            let message = format!(
                "{} is not TOML: {}",
                source.name(),
                error.message().replace('\n', ", ")
            );
            let finding = Diagnostic::of(&SYNTAX, message)
                .at(source.place_at(error.span().unwrap_or_default()));
            reader.report.push(finding.help(
                "fix the line: `deny = [\"warnings\"]` is a list, `[[waive]]` begins a waiver",
            ));
            Settings::default()
        }
    };
    let mut report = reader.report;
    report.sort(&[]);
    (settings, report)
}

/// The keys of the file, with what they mean.
pub static KEYS: &[(&str, &str)] = &[
    ("allow", "a list of rules whose findings are left out"),
    (
        "deny",
        "a list of rules whose findings fail a run; `warnings` means all warnings",
    ),
    (
        "exclude",
        "a list of folders that `lint` skips, by name or by path beside the settings, in place of its own list",
    ),
    (
        "roles",
        "a table: what a kind is in the contract, where its name does not tell it; `none` for a kind that is nothing in it",
    ),
    ("waive", "a list of tables: findings that do not count"),
];
/// The keys of a waiver, all of which are required.
pub static WAIVER_KEYS: &[(&str, &str)] = &[
    (
        "path",
        "a file, a folder, or a pattern, beside the settings",
    ),
    ("reason", "why; it is shown in the reports"),
    ("rule", "the rule whose findings are waived"),
];

struct Reader<'a> {
    source: &'a Source,
    known: &'a BTreeSet<&'static str>,
    budget: &'a Budget,
    report: Report,
}

impl Reader<'_> {
    fn settings(&mut self, table: &DeTable<'_>) -> Settings {
        self.reject_unknown(table, KEYS);
        Settings {
            deny: self.rules(table, "deny"),
            allow: self.rules(table, "allow"),
            waivers: self.waivers(table),
            roles: self.roles(table),
            exclude: self.exclude(table),
        }
    }

    fn exclude(&mut self, table: &DeTable<'_>) -> Option<Vec<String>> {
        let value = table.get("exclude")?;
        let help = "write `exclude = [\"test\", \"config/samples\"]`";
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong("exclude is not a list", value.span(), help);
            return None;
        };
        let mut folders = Vec::new();
        for item in items.iter() {
            match item.get_ref() {
                DeValue::String(folder) if !folder.is_empty() && !folder.starts_with('/') => {
                    folders.push(folder.clone().into_owned());
                }
                _ => self.wrong(
                    "exclude holds something else than paths beside this file",
                    item.span(),
                    help,
                ),
            }
        }
        Some(folders)
    }

    fn reject_unknown(&mut self, table: &DeTable<'_>, keys: &[(&str, &str)]) {
        let keys: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
        for key in table
            .keys()
            .filter(|key| !keys.contains(&key.get_ref().as_ref()))
        {
            let name = key.get_ref().as_ref();
            let help = match nearest(name, keys.iter().copied()) {
                Some(near) => format!("rename it to `{near}`"),
                None => format!("the keys are {}", keys.join(", ")),
            };
            self.find(
                Diagnostic::of(&KEY_UNKNOWN, format!("unknown key `{name}`")).help(help),
                key.span(),
            );
        }
    }

    fn find(&mut self, finding: Diagnostic, at: Range<usize>) {
        let place = self.source.place_at(at);
        self.report.push(finding.at(place));
    }

    fn wrong(&mut self, what: &str, at: Range<usize>, help: &str) {
        self.find(
            Diagnostic::of(&VALUE_WRONG, what.to_owned()).help(help.to_owned()),
            at,
        );
    }

    fn rules(&mut self, table: &DeTable<'_>, key: &str) -> Vec<String> {
        let Some(value) = table.get(key) else {
            return Vec::new();
        };
        let help = format!("write `{key} = [\"RULE\"]`");
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong(&format!("{key} is not a list"), value.span(), &help);
            return Vec::new();
        };
        let mut rules = Vec::new();
        for item in items.iter() {
            let DeValue::String(rule) = item.get_ref() else {
                self.wrong(
                    &format!("{key} holds something else than names of rules"),
                    item.span(),
                    &help,
                );
                continue;
            };
            if self.known.contains(rule.as_ref()) || key == "deny" && rule == ALL_WARNINGS {
                rules.push(rule.clone().into_owned());
            } else {
                let unknown = waivers::unknown_rule(
                    rule,
                    self.source.place_at(item.span()),
                    self.known,
                    self.budget,
                );
                self.report.push(Diagnostic {
                    rule: &RULE_UNKNOWN,
                    ..unknown
                });
            }
        }
        rules
    }

    fn waivers(&mut self, table: &DeTable<'_>) -> Vec<ProjectWaiver> {
        let Some(value) = table.get("waive") else {
            return Vec::new();
        };
        let help = "begin each waiver with `[[waive]]`";
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong("waive is not a list of waivers", value.span(), help);
            return Vec::new();
        };
        let mut waivers = Vec::new();
        for item in items.iter() {
            match item.get_ref() {
                DeValue::Table(entry) => waivers.extend(self.waiver(entry, item.span())),
                _ => self.wrong("waive holds something else than waivers", item.span(), help),
            }
        }
        waivers
    }

    fn waiver(&mut self, entry: &DeTable<'_>, at: Range<usize>) -> Option<ProjectWaiver> {
        self.reject_unknown(entry, WAIVER_KEYS);
        let rule = self.text(entry, "rule", "RULE");
        let path = self.text(entry, "path", "PATH");
        let reason = if entry.contains_key("reason") {
            self.text(entry, "reason", "REASON")
        } else {
            None
        };
        for (key, example) in [("rule", "RULE"), ("path", "PATH")]
            .into_iter()
            .filter(|(key, _)| !entry.contains_key(*key))
        {
            let missing = Diagnostic::of(&KEY_MISSING, format!("the waiver has no `{key}`"));
            self.find(
                missing.help(format!("add `{key} = \"{example}\"`")),
                at.clone(),
            );
        }
        if !entry.contains_key("reason")
            || reason
                .as_ref()
                .is_some_and(|reason| reason.get_ref().trim().is_empty())
        {
            let missing = Diagnostic::of(
                &waivers::REASON_MISSING,
                "the waiver has no reason, and does not count",
            );
            self.find(missing.help("add `reason = \"REASON\"`"), at.clone());
        }
        let (rule, path) = (rule?, path?);
        if !self.known.contains(rule.get_ref().as_str()) {
            let place = self.source.place_at(rule.span());
            self.report.push(waivers::unknown_rule(
                rule.get_ref(),
                place,
                self.known,
                self.budget,
            ));
            return None;
        }
        let patterns = self.patterns(&path)?;
        let reason = reason
            .map(|reason| reason.into_inner())
            .filter(|reason| !reason.trim().is_empty())?;
        Some(ProjectWaiver {
            rule: rule.into_inner(),
            patterns,
            reason,
            place: self.source.place_at(at),
        })
    }

    fn text(&mut self, table: &DeTable<'_>, key: &str, example: &str) -> Option<Spanned<String>> {
        let value = table.get(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(Spanned::new(value.span(), text.clone().into_owned())),
            _ => {
                self.wrong(
                    &format!("{key} is not text"),
                    value.span(),
                    &format!("write `{key} = \"{example}\"`"),
                );
                None
            }
        }
    }

    /// The patterns that a path stands for, without what means nothing in it.
    fn patterns(&mut self, path: &Spanned<String>) -> Option<Vec<String>> {
        let help = "write a path that begins beside this file, such as `config/*.yaml`";
        if path.get_ref().starts_with('/') {
            self.wrong(
                &format!(
                    "the path {} is not relative to the folder of this file",
                    path.get_ref()
                ),
                path.span(),
                help,
            );
            return None;
        }
        match glob::alternatives(path.get_ref()) {
            Ok(patterns)
                if self
                    .budget
                    .charge(patterns.iter().map(String::len).sum())
                    .is_ok() =>
            {
                Some(
                    patterns
                        .iter()
                        .map(|pattern| glob::plain(pattern))
                        .collect(),
                )
            }
            Ok(_) => {
                self.wrong(
                    "the paths of waivers stand for too much",
                    path.span(),
                    "name folders",
                );
                None
            }
            Err(error) => {
                self.wrong(
                    &format!("the path {} {error}", path.get_ref()),
                    path.span(),
                    help,
                );
                None
            }
        }
    }

    fn roles(&mut self, table: &DeTable<'_>) -> ProjectRoles {
        let Some(value) = table.get("roles") else {
            return ProjectRoles::default();
        };
        let DeValue::Table(kinds) = value.get_ref() else {
            self.wrong(
                "roles is not a table",
                value.span(),
                "write `[roles]`, and below it `KIND = \"ROLE\"`",
            );
            return ProjectRoles::default();
        };
        let mut roles = Roles::default();
        for kind in kinds.keys() {
            let kind = kind.get_ref().as_ref();
            if let Some(role) = self.text(kinds, kind, "ROLE") {
                let known = Role::parse(role.get_ref());
                if known.is_none() && role.get_ref() != NO_ROLE {
                    self.wrong(
                        &format!("{} is not a role", role.get_ref()),
                        role.span(),
                        &format!("write one of {}", role_words().join(", ")),
                    );
                }
                roles = roles.with(kind, known);
            }
        }
        ProjectRoles(roles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Settings, Report) {
        read(
            &Source::new("windlass.toml", text),
            &["a-b", "c-d"].into(),
            &Budget::default(),
        )
    }

    #[test]
    fn settings_are_read() {
        let text = "deny = [\"warnings\", 'a-b']\nallow = [\"c-d\"]\n\n[[waive]]\nrule = \"a-b\"\npath = \"./config//{a,b}/../x*.yaml\"\n\
                    reason = \"known\"\n\n[roles]\nFooHost = \"InfraMachine\"\nFooMachine = \"none\"\n";
        let (settings, report) = read_text(text);
        assert_eq!(report, Report::new());
        assert_eq!(
            (settings.deny, settings.allow),
            (
                vec!["warnings".to_owned(), "a-b".to_owned()],
                vec!["c-d".to_owned()]
            )
        );
        let [waiver] = settings.waivers.as_slice() else {
            panic!("{:?}", settings.waivers)
        };
        assert_eq!(
            (waiver.rule.as_str(), waiver.reason.as_str()),
            ("a-b", "known")
        );
        assert_eq!(waiver.patterns, ["config/x*.yaml", "config/x*.yaml"]);
        assert_eq!(waiver.place.span.map(|span| span.start.line), Some(4));
        let expected = Roles::default()
            .with("FooHost", Some(Role::InfraMachine))
            .with("FooMachine", None);
        assert_eq!(settings.roles, ProjectRoles(expected));
        assert_eq!(read_text(""), (Settings::default(), Report::new()));
    }

    /// What is found: rule, line, column, and a part of message or help.
    fn check(text: &str, expected: &[(&str, u32, u32, &str)]) {
        let (_, report) = read_text(text);
        let of = |finding: &Diagnostic| {
            let start = finding.place.span.expect("a place").start;
            (finding.rule.id, start.line, start.column)
        };
        let found: Vec<_> = report.findings().iter().map(of).collect();
        assert_eq!(
            found,
            expected
                .iter()
                .map(|(rule, line, column, _)| (*rule, *line, *column))
                .collect::<Vec<_>>(),
            "{text}"
        );
        for (finding, (.., part)) in report.findings().iter().zip(expected) {
            let said = format!(
                "{}; {}",
                finding.message,
                finding.help.as_ref().expect("a remedy")
            );
            assert!(said.contains(part), "{said} does not hold {part}");
        }
    }

    #[test]
    fn faults_have_their_places() {
        check(
            "deny = [\n",
            &[("settings-syntax", 1, 9, "windlass.toml is not TOML: ")],
        );
        check(
            "deny = []\ndeny = []\n",
            &[("settings-syntax", 2, 1, "duplicate key")],
        );
        check(
            "alow = []\n",
            &[("settings-key-unknown", 1, 1, "`alow`; rename it to `allow`")],
        );
        check(
            "x = 1\n",
            &[(
                "settings-key-unknown",
                1,
                1,
                "the keys are allow, deny, exclude, roles, waive",
            )],
        );
        check(
            "deny = \"a-b\"\n",
            &[(
                "settings-value-wrong",
                1,
                8,
                "deny is not a list; write `deny = [\"RULE\"]`",
            )],
        );
        check(
            "allow = [1, \"warnings\"]\n",
            &[
                ("settings-value-wrong", 1, 10, "names of rules"),
                ("settings-rule-unknown", 1, 13, "`warnings`"),
            ],
        );
        check(
            "deny = ['a-c']\n",
            &[("settings-rule-unknown", 1, 9, "no rule `a-c`; write `a-b`")],
        );
        check(
            "waive = 1\n",
            &[("settings-value-wrong", 1, 9, "[[waive]]")],
        );
        check(
            "waive = [1]\n",
            &[("settings-value-wrong", 1, 10, "[[waive]]")],
        );
        check("roles = 1\n", &[("settings-value-wrong", 1, 9, "[roles]")]);
        check(
            "[roles]\nA = 'InfraHost'\n",
            &[("settings-value-wrong", 2, 5, "InfraMachine, ")],
        );
        check(
            "[roles]\nA = 1\n",
            &[("settings-value-wrong", 2, 5, "A = \"ROLE\"")],
        );
    }

    #[test]
    fn waivers_are_whole() {
        let of = |rest: &str| format!("[[waive]]\n{rest}");
        check(
            &of("rule = 'a-b'\nreason = 'x'\n"),
            &[("settings-key-missing", 1, 1, "add `path = \"PATH\"`")],
        );
        check(
            &of("path = 'a'\nreason = 'x'\n"),
            &[("settings-key-missing", 1, 1, "add `rule = \"RULE\"`")],
        );
        check(
            &of("rule = 'a-b'\npath = 'a'\n"),
            &[("waiver-reason-missing", 1, 1, "add `reason = \"REASON\"`")],
        );
        check(
            &of("rule = 'a-b'\npath = 'a'\nreason = ' '\n"),
            &[("waiver-reason-missing", 1, 1, "does not count")],
        );
        check(
            &of("rule = 'a-c'\npath = 'a'\nreason = 'x'\n"),
            &[("waiver-rule-unknown", 2, 8, "write `a-b`")],
        );
        check(
            &of("rule = 'a-b'\npath = '/a'\nreason = 'x'\n"),
            &[(
                "settings-value-wrong",
                3,
                8,
                "is not relative to the folder of this file",
            )],
        );
        check(
            &of("rule = 'a-b'\npath = '{a'\nreason = 'x'\n"),
            &[("settings-value-wrong", 3, 8, "brace without its partner")],
        );
        check(
            &of("rule = 'a-b'\npath = 'a'\nreason = 1\n"),
            &[("settings-value-wrong", 4, 10, "reason is not text")],
        );
        check(
            &of("rule = 'a-b'\npath = 'a'\nreson = 'x'\n"),
            &[
                ("waiver-reason-missing", 1, 1, "no reason"),
                ("settings-key-unknown", 4, 1, "rename it to `reason`"),
            ],
        );
    }

    #[test]
    fn paths_are_bounded() {
        let waiver = format!(
            "[[waive]]\nrule = 'a-b'\npath = '{}'\nreason = 'x'\n",
            "{a,b}".repeat(10)
        );
        let settings = Source::new("windlass.toml", waiver.repeat(50));
        let (read, report) = read(&settings, &["a-b"].into(), &Budget::of(100_000));
        assert_eq!((read.waivers.len(), report.findings().len()), (9, 41));
    }
}
