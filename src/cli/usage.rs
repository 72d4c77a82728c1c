//! What is wrong with a command line: clap finds it, the words are ours, or clusterctl's for
//! clusterctl's verbs.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use super::clusterctl::GoFault;
use super::verbs::{self, Manner, Verb};
use super::{Failure, version};
use windlass_source::nearest::nearest;
use windlass_source::url::without_credentials;

/// What is wrong with a verb's command line, in the words of the verb.
pub(super) fn failure(program: &str, verb: &Verb, rest: &[String], error: &clap::Error) -> Failure {
    let command = verb.command(program);
    let fault = Fault::of(error, &command);
    match verb.manner {
        Manner::Ours => fault.in_our_words(program, verb, &command),
        Manner::Clusterctl => fault.in_clusterctls_words(program, verb, rest),
    }
}

/// Checks a command line without a verb; gives the version line when that was asked for.
///
/// # Errors
/// clusterctl's sentence about the first flag that is wrong.
pub(super) fn check_global_flags(arguments: &[String]) -> Result<Option<String>, String> {
    let command = Command::new("windlass")
        .args_override_self(true)
        .disable_help_flag(true)
        .disable_version_flag(true);
    let command = verbs::with_global_flags(command.version(version::LINE));
    match command.clone().try_get_matches_from(
        std::iter::once("windlass").chain(arguments.iter().map(String::as_str)),
    ) {
        Ok(_) => Ok(None),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp => Ok(None),
            ErrorKind::DisplayVersion => Ok(Some(format!("{}\n", version::LINE))),
            _ => Err(Fault::of(&error, &command).of_flag(arguments)),
        },
    }
}

/// What clap found.
enum Fault {
    UnknownFlag(String),
    UnexpectedOperand(String),
    /// Flags and operands as usage lines spell them.
    Missing(Vec<String>),
    /// A flag at the end of the line, or before another flag.
    NoValue(Flag),
    BadValue {
        flag: Flag,
        value: String,
        known: Vec<String>,
        /// Go's reason, where the verb reads its values as Go does.
        reason: Option<String>,
    },
    Conflict(String, String),
    Other(String),
}

/// An argument as it is spelt in messages.
struct Flag {
    /// `--output`, or the name of an operand.
    name: String,
    /// `-o, --output`, as pflag spells it.
    both: String,
}

impl Flag {
    fn of(spelt: &str, command: &Command) -> Self {
        let name = bare(spelt);
        let found = command
            .get_arguments()
            .find(|arg| spellings(arg).contains(&name));
        let both =
            found.and_then(|arg| Some(format!("-{}, --{}", arg.get_short()?, arg.get_long()?)));
        Flag {
            both: both.unwrap_or_else(|| name.clone()),
            name,
        }
    }
}

impl Fault {
    fn of(error: &clap::Error, command: &Command) -> Self {
        let text = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => text.clone(),
            Some(ContextValue::Strings(texts)) => texts.join(", "),
            _ => String::new(),
        };
        let argument = text(ContextKind::InvalidArg);
        match error.kind() {
            ErrorKind::UnknownArgument if argument.starts_with('-') => Fault::UnknownFlag(argument),
            ErrorKind::UnknownArgument => {
                Fault::UnexpectedOperand(without_credentials(&argument).into_owned())
            }
            ErrorKind::MissingRequiredArgument => {
                let missing = match error.get(ContextKind::InvalidArg) {
                    Some(ContextValue::Strings(missing)) => missing.clone(),
                    _ => vec![argument],
                };
                Fault::Missing(
                    missing
                        .iter()
                        .map(|spelt| without_brackets(spelt))
                        .collect(),
                )
            }
            ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
                let (value, flag) = (
                    without_credentials(&text(ContextKind::InvalidValue)).into_owned(),
                    Flag::of(&argument, command),
                );
                let known = match error.get(ContextKind::ValidValue) {
                    Some(ContextValue::Strings(known)) => known.clone(),
                    _ => Vec::new(),
                };
                let reason = error
                    .source()
                    .and_then(|source| source.downcast_ref::<GoFault>())
                    .map(ToString::to_string);
                if value.is_empty() && reason.is_none() {
                    Fault::NoValue(flag)
                } else {
                    Fault::BadValue {
                        flag,
                        value,
                        known,
                        reason,
                    }
                }
            }
            ErrorKind::NoEquals | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
                Fault::NoValue(Flag::of(&argument, command))
            }
            ErrorKind::ArgumentConflict => {
                Fault::Conflict(bare(&argument), bare(&text(ContextKind::PriorArg)))
            }
            _ => Fault::Other(
                error
                    .to_string()
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .trim_start_matches("error: ")
                    .to_owned(),
            ),
        }
    }

    fn in_our_words(&self, program: &str, verb: &Verb, command: &Command) -> Failure {
        let verb_name = format!("{program} {}", verb.name());
        let usage = format!("usage: {}", verb.usage(program));
        match self {
            Fault::UnknownFlag(flag) => {
                let all = format!("`{verb_name} -h` lists all flags");
                let known: Vec<String> = command
                    .get_arguments()
                    .filter_map(Arg::get_long)
                    .map(|long| format!("--{long}"))
                    .collect();
                let help = match nearest(flag, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`? {all}"),
                    None => all,
                };
                Failure::usage(format!("unknown flag `{flag}` for `{verb_name}`"), help)
            }
            Fault::UnexpectedOperand(operand) => Failure::usage(
                format!("unexpected argument `{operand}` for `{verb_name}`"),
                usage,
            ),
            Fault::Missing(missing) => {
                let missing: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
                Failure::usage(
                    format!("`{verb_name}` needs {}", missing.join(" and ")),
                    usage,
                )
            }
            Fault::NoValue(flag) => Failure::usage(format!("`{}` needs a value", flag.name), usage),
            Fault::BadValue {
                flag, value, known, ..
            } => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let help = if known.is_empty() {
                    usage
                } else {
                    format!("use {}", list(&known))
                };
                Failure::usage(format!("unknown value `{value}` for `{}`", flag.name), help)
            }
            Fault::Conflict(one, other) => Failure::usage(
                format!("`{one}` and `{other}` exclude each other"),
                "give one of the two",
            ),
            Fault::Other(message) => Failure::usage(message.clone(), usage),
        }
    }

    fn in_clusterctls_words(&self, program: &str, verb: &Verb, rest: &[String]) -> Failure {
        match self {
            Fault::UnexpectedOperand(operand) => Failure::ClusterctlUsage(format!(
                "unknown command \"{operand}\" for \"{program} {}\"",
                verb.name()
            )),
            _ => Failure::Clusterctl(self.of_flag(rest)),
        }
    }

    /// pflag's sentence about a flag.
    fn of_flag(&self, arguments: &[String]) -> String {
        let is_short =
            |flag: &str| flag.len() > 1 && flag.starts_with('-') && !flag.starts_with("--");
        match self {
            Fault::UnknownFlag(flag) if is_short(flag) => {
                let letter = flag.chars().nth(1).unwrap_or_default();
                let group = arguments
                    .iter()
                    .find(|argument| is_short(argument) && argument.contains(letter))
                    .unwrap_or(flag);
                format!("unknown shorthand flag: '{letter}' in {group}")
            }
            Fault::UnknownFlag(flag) => format!("unknown flag: {flag}"),
            Fault::NoValue(flag) => match arguments.last().filter(|last| is_short(last)) {
                Some(last) => format!(
                    "flag needs an argument: '{}' in {last}",
                    last.chars().last().unwrap_or_default()
                ),
                None => format!("flag needs an argument: {}", flag.name),
            },
            Fault::BadValue {
                flag,
                value,
                reason,
                ..
            } => {
                let reason = reason.as_deref().unwrap_or("parse error");
                format!(
                    "invalid argument \"{value}\" for \"{}\" flag: {reason}",
                    flag.both
                )
            }
            Fault::UnexpectedOperand(operand) => format!("unknown command \"{operand}\""),
            Fault::Missing(missing) => format!("required: {}", missing.join(", ")),
            Fault::Conflict(one, other) => format!("{one} and {other} exclude each other"),
            Fault::Other(message) => message.clone(),
        }
    }
}

/// `--to` of `--to <DIR>`.
fn bare(spelt: &str) -> String {
    without_brackets(spelt)
        .split([' ', '='])
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// `--to DIR` of `--to <DIR>`.
fn without_brackets(spelt: &str) -> String {
    spelt
        .replace(['<', '>', '[', ']'], "")
        .trim_end_matches("...")
        .to_owned()
}

fn spellings(arg: &Arg) -> Vec<String> {
    let long = arg.get_long().map(|long| format!("--{long}"));
    let short = arg.get_short().map(|short| format!("-{short}"));
    long.into_iter().chain(short).collect()
}

/// `` `a`, `b` or `c` ``.
pub(super) fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
