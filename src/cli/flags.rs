//! Flags that several verbs share: the same name means the same thing everywhere.

use clap::{Args, ValueEnum};

use super::Failure;
use crate::ops::rules;
use crate::report::levels::Levels;
use crate::shell::environment::Environment;
use crate::shell::files::Mode;
use crate::shell::stdio::Stream;
use crate::text::nearest::nearest;

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
        let flags: Vec<&String> = arguments.iter().take_while(|argument| *argument != "--").collect();
        let after = flags.iter().zip(flags.iter().skip(1)).filter(|(flag, _)| **flag == "--color").map(|(_, value)| value.as_str());
        let joined = flags.iter().filter_map(|flag| flag.strip_prefix("--color="));
        after.chain(joined).filter_map(|value| Colour::from_str(value, false).ok()).next_back().unwrap_or_default()
    }

    /// Whether to colour a stream: `--color`, then `NO_COLOR`, then `CLICOLOR_FORCE`, then whether somebody is looking.
    pub(super) fn applies(self, stream: &Stream, environment: &Environment) -> bool {
        match self {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto if environment.non_empty("NO_COLOR").is_some() => false,
            Colour::Auto if environment.non_empty("CLICOLOR_FORCE").is_some_and(|force| force != "0") => true,
            Colour::Auto => stream.is_terminal() && environment.get("TERM") != Some("dumb"),
        }
    }
}

/// Where a folder is written: `--to`, `--force`, `--check`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Target {
    /// Write into this folder
    ///
    /// The folder is made, and appears as a whole or not at all. If it holds exactly what would be written, nothing happens. If it holds
    /// something else, the verb refuses and lists it.
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
    /// What the flags mean for [`crate::shell::files::write_tree`].
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
    #[arg(short = 'o', long = "output", value_name = "FORMAT", default_value = "text", hide_default_value = true)]
    pub format: ListFormat,
}

/// `-o` of a verb that reports: `text`, `json`, `github`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct Output {
    /// Report as
    #[arg(short = 'o', long = "output", value_name = "FORMAT", default_value = "text")]
    pub format: Format,
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

impl LevelFlags {
    /// The levels that the flags ask for.
    ///
    /// # Errors
    /// A rule that does not exist: a typing error must not let a release through.
    pub fn levels(&self) -> Result<Levels, Failure> {
        let levels = Levels::new(self.deny.iter().map(String::as_str), self.allow.iter().map(String::as_str));
        let known = known_rules();
        let Some(unknown) = levels.rules().find(|rule| !known.contains(rule)) else { return Ok(levels) };
        let help = match nearest(unknown, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`windlass rules` lists all rules".to_owned(),
        };
        Err(Failure::usage(format!("unknown rule `{unknown}`"), help))
    }
}

/// The ids of all rules, in byte order.
pub fn known_rules() -> Vec<&'static str> {
    rules::all().into_iter().map(|rule| rule.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_rules_are_refused_with_the_nearest() {
        let flags = |deny: &str| LevelFlags { deny: vec![deny.to_owned()], allow: Vec::new() };
        assert_eq!(flags("warnings").levels(), Ok(Levels::new(["warnings"], [])));
        assert_eq!(flags("input-not-utf8").levels(), Ok(Levels::new(["input-not-utf8"], [])));
        let failure = flags("input-not-utf").levels().unwrap_err();
        assert_eq!(failure, Failure::usage("unknown rule `input-not-utf`", "did you mean `input-not-utf8`?"));
    }
}
