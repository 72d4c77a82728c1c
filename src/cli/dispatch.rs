//! Finds the verb in a command line. Flags may stand anywhere, as in clusterctl.

use super::verbs::{FIRST_TRY, Manner, VERBS, Verb};
use super::{Exit, Failure, help, overview, usage};
use crate::text::nearest::nearest;

/// Global flags whose value is the next argument.
const WITH_VALUE: [&str; 4] = ["--config", "-v", "--v", "--color"];

/// What a command line asks for.
pub(super) enum Request {
    /// Text that was asked for.
    Print(String),
    /// Nothing that can be done; clusterctl's words about it.
    Refuse {
        /// What standard error gets.
        stderr: String,
        /// The exit code.
        exit: Exit,
    },
    /// Nothing that can be done; our words about it.
    Fail(Failure),
    /// A verb and the arguments without the words that name it.
    Run {
        /// The verb.
        verb: &'static Verb,
        /// All other arguments, in order.
        rest: Vec<String>,
    },
}

/// Reads as much of the command line as names the verb.
pub(super) fn request(program: &'static str, arguments: &[String]) -> Request {
    let Some(first) = word_at(arguments, 0) else { return without_verb(program, arguments) };
    let word = arguments[first].as_str();
    if word == "help" {
        return help_about(program, &arguments[first + 1..]);
    }
    if let Some(verb) = verb(&[word]) {
        return Request::Run { verb, rest: without(arguments, &[first]) };
    }
    let group: Vec<&'static Verb> = group(word);
    if group.is_empty() {
        return unknown_command(program, arguments, word);
    }
    match word_at(arguments, first + 1) {
        None if help_is_asked(&arguments[first + 1..]) => Request::Print(overview::of_group(program, word)),
        None => without_command(program, word, &without(arguments, &[first])),
        Some(second) => match verb(&[word, &arguments[second]]) {
            Some(verb) => Request::Run { verb, rest: without(arguments, &[first, second]) },
            None => unknown_in_group(program, &group, word, &arguments[second]),
        },
    }
}

fn verb(words: &[&str]) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| verb.words == words)
}

fn group(word: &str) -> Vec<&'static Verb> {
    VERBS.iter().filter(|verb| verb.words.len() == 2 && verb.words[0] == word).collect()
}

/// The index of the first argument, from `start`, that is neither a flag nor the value of a global one.
fn word_at(arguments: &[String], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let argument = arguments.get(at)?.as_str();
        if argument == "--" {
            return None;
        }
        if !argument.starts_with('-') || argument == "-" {
            return Some(at);
        }
        at += if WITH_VALUE.contains(&argument) { 2 } else { 1 };
    }
}

fn without(arguments: &[String], indexes: &[usize]) -> Vec<String> {
    arguments.iter().enumerate().filter(|(at, _)| !indexes.contains(at)).map(|(_, argument)| argument.clone()).collect()
}

fn help_is_asked(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument == "-h" || argument == "--help")
}

/// No verb at all: the overview, or what is wrong with the flags in clusterctl's words.
fn without_verb(program: &'static str, arguments: &[String]) -> Request {
    match usage::check_global_flags(arguments) {
        Ok(Some(version)) => Request::Print(version),
        Ok(None) => Request::Print(overview::text(program, FIRST_TRY)),
        Err(message) => refuse(format!("Error: {message}\n"), Exit::Findings),
    }
}

/// A group without one of its verbs: its help, as clusterctl does.
fn without_command(program: &'static str, word: &str, rest: &[String]) -> Request {
    match usage::check_global_flags(rest) {
        Ok(_) => Request::Print(overview::of_group(program, word)),
        Err(message) => refuse(format!("Error: {message}\n"), Exit::Findings),
    }
}

/// `help release build`.
fn help_about(program: &'static str, topic: &[String]) -> Request {
    let words: Vec<&str> = topic.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    if words.is_empty() {
        return Request::Print(overview::text(program, FIRST_TRY));
    }
    let found = (1..=words.len().min(2)).rev().find_map(|count| verb(&words[..count]));
    if let Some(verb) = found {
        return Request::Print(help::long(program, verb));
    }
    if words.len() == 1 && !group(words[0]).is_empty() {
        return Request::Print(overview::of_group(program, words[0]));
    }
    let topics: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    refuse(format!("Unknown help topic [{}]\n{}", topics.join(" "), overview::text(program, FIRST_TRY)), Exit::Clean)
}

/// clusterctl's words and code: scripts that call one of the two meet the same.
fn unknown_command(program: &str, arguments: &[String], word: &str) -> Request {
    if let Some(flag) = arguments.first().filter(|first| ["--config", "-v", "--v"].contains(&first.as_str())) {
        return refuse(format!("Error: flags cannot be placed before plugin name: {flag}\n"), Exit::Findings);
    }
    let suggestions = similar_commands(word);
    let suggestions = match suggestions.as_slice() {
        [] => String::new(),
        some => format!("\nDid you mean this?\n{}\n", some.iter().map(|word| format!("\t{word}\n")).collect::<String>()),
    };
    let stderr = format!("Error: unknown command \"{word}\" for \"{program}\"\n{suggestions}Run '{program} --help' for usage.\n");
    refuse(stderr, Exit::Findings)
}

/// First words that begin with what was typed or are nearly it.
fn similar_commands(word: &str) -> Vec<&'static str> {
    let mut roots: Vec<&'static str> = VERBS.iter().map(|verb| verb.words[0]).collect();
    roots.sort_unstable();
    roots.dedup();
    let near = nearest(word, roots.iter().copied());
    let folded = word.to_lowercase();
    roots.into_iter().filter(|root| Some(*root) == near || root.starts_with(&folded)).collect()
}

fn unknown_in_group(program: &'static str, verbs: &[&'static Verb], group: &str, word: &str) -> Request {
    if verbs.iter().all(|verb| verb.manner == Manner::Clusterctl) {
        // clusterctl's groups have no check of their own: they print their help and end well.
        return Request::Print(overview::of_group(program, group));
    }
    let names: Vec<&str> = verbs.iter().map(|verb| verb.words[1]).collect();
    let near = nearest(word, names.iter().copied()).or_else(|| names.iter().copied().find(|name| name.starts_with(word)));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use {}", usage::list(&names)),
    };
    Request::Fail(Failure::usage(format!("unknown command `{word}` for `{program} {group}`"), help))
}

fn refuse(stderr: String, exit: Exit) -> Request {
    Request::Refuse { stderr, exit }
}
