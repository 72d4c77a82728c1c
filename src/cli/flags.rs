//! Flags that several verbs share: the same name means the same thing everywhere.

use clap::{Args, ValueEnum};

use crate::io::environment::Environment;
use crate::io::stdio::Stream;
use crate::io::trees::Mode;
use crate::rules;

/// When to colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Colour {
    /// What the last `--color` of a command line says, also of one that is faulty elsewhere.
    pub(super) fn asked_for(arguments: &[String]) -> Self {
        let flags: Vec<&String> = arguments
            .iter()
            .take_while(|argument| *argument != "--")
            .collect();
        let after = flags
            .iter()
            .zip(flags.iter().skip(1))
            .filter(|(flag, _)| **flag == "--color")
            .map(|(_, value)| value.as_str());
        let joined = flags
            .iter()
            .filter_map(|flag| flag.strip_prefix("--color="));
        after
            .chain(joined)
            .filter_map(|value| Colour::from_str(value, false).ok())
            .next_back()
            .unwrap_or_default()
    }

    /// Whether to colour a stream: `--color`, then `NO_COLOR`, then `CLICOLOR_FORCE`, then whether
    /// somebody is looking.
    pub(super) fn applies(self, stream: &Stream, environment: &Environment) -> bool {
        match self {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto if environment.non_empty("NO_COLOR").is_some() => false,
            Colour::Auto
                if environment
                    .non_empty("CLICOLOR_FORCE")
                    .is_some_and(|force| force != "0") =>
            {
                true
            }
            Colour::Auto => stream.is_terminal() && environment.get("TERM") != Some("dumb"),
        }
    }
}

/// Where a folder is written: `--to`, `--force`, `--check`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Target {
    /// Write into this folder
    ///
    /// The folder is made, and appears as a whole or not at all. If it holds exactly what would be
    /// written, nothing happens. If it holds something else, the verb rejects and lists it.
    #[arg(long, value_name = "DIR")]
    pub to: String,
    /// Overwrite other content
    ///
    /// Files that this verb does not write stay, and are listed.
    #[arg(long)]
    pub force: bool,
    /// Compare and write nothing; exit 1 if anything differs
    #[arg(long, conflicts_with = "force")]
    pub check: bool,
}

impl Target {
    /// What the flags mean for [`crate::io::trees::write_tree`].
    pub fn mode(&self) -> Mode {
        match (self.check, self.force) {
            (true, _) => Mode::Check,
            (false, true) => Mode::Force,
            (false, false) => Mode::Create,
        }
    }
}

/// In which format findings are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit's XML: a test for each finding, and for each file without one.
    Junit,
    /// GitHub's workflow commands.
    Github,
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object
    Json,
}

/// `-o` of a verb that lists: `text`, `json`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct ListOutput {
    /// Print as
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        default_value = "text",
        hide_default_value = true
    )]
    pub format: ListFormat,
}

/// The output formats of a command that can print an HTML page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object
    Json,
    /// One page for a browser, which needs no other file
    Html,
}

/// `-o` of a verb with a page: `text`, `json`, `html`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct PageOutput {
    /// Print as
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        default_value = "text",
        hide_default_value = true
    )]
    pub format: PageFormat,
}

/// `-o` of a verb that reports: `text`, `json`, `sarif`, `junit`, `github`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct Output {
    /// Report as
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        default_value = "text"
    )]
    pub format: Format,
}

/// What a verb that compares does with what it finds: `--exit-code`, `--show-secrets`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct Comparing {
    /// End with 1 when something changes
    #[arg(long)]
    pub exit_code: bool,
    /// Show values of secrets that change
    #[arg(long)]
    pub show_secrets: bool,
}

/// Which findings fail the run: `--deny`, `--allow`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct LevelFlags {
    /// Fail on findings of this rule, or on all `warnings`
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,
    /// Leave findings of this rule out
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
}

/// The ids of all rules, in byte order.
pub fn known_rules() -> Vec<&'static str> {
    rules::all().into_iter().map(|rule| rule.id).collect()
}
