//! Finds the verb in a command line. Flags may stand anywhere, as in clusterctl.

use super::verbs::{FIRST_TRY, Manner, Verb};
use super::{Exit, Failure, overview, usage};
use windlass_source::nearest::nearest;
use windlass_source::url::without_credentials;

/// Global flags whose value is the next argument.
const WITH_VALUE: [&str; 5] = ["--config", "--settings", "-v", "--v", "--color"];

pub(super) enum Request {
    Print(String),
    Help(&'static Verb),
    /// Nothing that can be done; clusterctl's words about it.
    Reject {
        stderr: String,
        exit: Exit,
    },
    /// Nothing that can be done; our words about it.
    Fail(Failure),
    /// A verb and the arguments without the words that name it.
    Run {
        verb: &'static Verb,
        /// All other arguments, in order.
        rest: Vec<String>,
    },
}

/// Reads as much of the command line as names the verb. `width` are the columns of help.
pub(super) fn request(
    program: &str,
    verbs: &'static [Verb],
    arguments: &[String],
    width: usize,
) -> Request {
    let Some(first) = word_at(arguments, 0) else {
        return without_verb(program, verbs, arguments, width);
    };
    let word = arguments[first].as_str();
    if word == "help" {
        return help_about(program, verbs, &arguments[first + 1..], width);
    }
    if let Some(verb) = verb(verbs, &[word]) {
        return Request::Run {
            verb,
            rest: without(arguments, &[first]),
        };
    }
    let group = group(verbs, word);
    if group.is_empty() {
        return unknown_command(program, verbs, arguments, word);
    }
    match word_at(arguments, first + 1) {
        None => without_command(program, &group, word, &without(arguments, &[first]), width),
        Some(second) => match verb(verbs, &[word, &arguments[second]]) {
            Some(verb) => Request::Run {
                verb,
                rest: without(arguments, &[first, second]),
            },
            None => unknown_in_group(program, &group, word, &arguments[second], width),
        },
    }
}

fn verb(verbs: &'static [Verb], words: &[&str]) -> Option<&'static Verb> {
    verbs.iter().find(|verb| verb.words == words)
}

fn group(verbs: &'static [Verb], word: &str) -> Vec<&'static Verb> {
    verbs
        .iter()
        .filter(|verb| verb.words.len() == 2 && verb.words[0] == word)
        .collect()
}

/// The index of the first argument, from `start`, that is neither a flag nor the value of a global
/// one.
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
    arguments
        .iter()
        .enumerate()
        .filter(|(at, _)| !indexes.contains(at))
        .map(|(_, argument)| argument.clone())
        .collect()
}

/// No verb at all: the overview, or what is wrong with the flags in clusterctl's words.
fn without_verb(program: &str, verbs: &[Verb], arguments: &[String], width: usize) -> Request {
    match usage::check_global_flags(arguments) {
        Ok(Some(version)) => Request::Print(version),
        Ok(None) => Request::Print(overview::text(program, verbs, FIRST_TRY, width)),
        Err(message) => reject(format!("Error: {message}\n"), Exit::Findings),
    }
}

/// A group without one of its verbs: its help, as clusterctl does.
fn without_command(
    program: &str,
    group: &[&Verb],
    word: &str,
    rest: &[String],
    width: usize,
) -> Request {
    match usage::check_global_flags(rest) {
        Ok(Some(version)) => Request::Print(version),
        Ok(None) => Request::Print(overview::of_group(program, word, group, width)),
        Err(message) if group.iter().any(|verb| verb.manner == Manner::Clusterctl) => {
            reject(format!("Error: {message}\n"), Exit::Findings)
        }
        Err(message) => Request::Fail(Failure::usage(
            format!("`{program} {word}` has no command: {message}"),
            format!("`{program} {word} -h` lists the commands"),
        )),
    }
}

/// `help release build`.
fn help_about(program: &str, verbs: &'static [Verb], topic: &[String], width: usize) -> Request {
    let words: Vec<&str> = topic
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'))
        .collect();
    if words.is_empty() {
        return Request::Print(overview::text(program, verbs, FIRST_TRY, width));
    }
    let found = (1..=words.len().min(2))
        .rev()
        .find_map(|count| verb(verbs, &words[..count]));
    if let Some(verb) = found {
        return Request::Help(verb);
    }
    let group = group(verbs, words[0]);
    if words.len() == 1 && !group.is_empty() {
        return Request::Print(overview::of_group(program, words[0], &group, width));
    }
    let topics: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    reject(
        format!(
            "Unknown help topic [{}]\n{}",
            topics.join(" "),
            overview::text(program, verbs, FIRST_TRY, width)
        ),
        Exit::Clean,
    )
}

/// clusterctl's message and exit code, so that scripts that call one of the two get the same,
/// unless only commands of ours are similar.
fn unknown_command(
    program: &str,
    verbs: &'static [Verb],
    arguments: &[String],
    word: &str,
) -> Request {
    if let Some(flag) = arguments
        .first()
        .filter(|first| ["--config", "-v", "--v"].contains(&first.as_str()))
    {
        return reject(
            format!("Error: flags cannot be placed before plugin name: {flag}\n"),
            Exit::Findings,
        );
    }
    if let Some((flag, command)) = flag_before_command(verbs, arguments, word) {
        return Request::Fail(Failure::usage(
            format!("`{flag}` is before the command `{command}`"),
            format!("write it behind: `{program} {command} … {flag} …`"),
        ));
    }
    let suggestions = similar_commands(verbs, word);
    if are_ours(verbs, &suggestions) {
        return Request::Fail(Failure::usage(
            format!(
                "unknown command `{}` for `{program}`",
                without_credentials(word)
            ),
            format!("did you mean {}?", usage::list(&suggestions)),
        ));
    }
    let suggestions = match suggestions.as_slice() {
        [] => String::new(),
        some => format!(
            "\nDid you mean this?\n{}\n",
            some.iter()
                .map(|word| format!("\t{word}\n"))
                .collect::<String>()
        ),
    };
    let stderr = format!(
        "Error: unknown command \"{}\" for \"{program}\"\n{suggestions}Run '{program} --help' for usage.\n",
        without_credentials(word)
    );
    reject(stderr, Exit::Findings)
}

/// The flag whose value was taken for a command, and the command behind it, if it is one of ours.
fn flag_before_command<'a>(
    verbs: &'static [Verb],
    arguments: &'a [String],
    word: &str,
) -> Option<(&'a str, &'a str)> {
    let at = arguments.iter().position(|argument| argument == word)?;
    let flag = arguments.get(at.checked_sub(1)?)?;
    let command = arguments.get(at + 1)?;
    let mut named = verbs.iter().filter(|verb| verb.words[0] == command);
    let is_ours = named.next()?.manner == Manner::Ours;
    (is_ours && flag.starts_with('-') && !flag.contains('=')).then_some((flag, command))
}

/// Whether there are similar commands, and none of them is one of clusterctl's.
fn are_ours(verbs: &'static [Verb], similar: &[&'static str]) -> bool {
    let is_ours = |word: &&str| {
        verbs
            .iter()
            .all(|verb| verb.words[0] != *word || verb.manner == Manner::Ours)
    };
    !similar.is_empty() && similar.iter().all(is_ours)
}

/// First words that begin with what was typed or are nearly it.
fn similar_commands(verbs: &'static [Verb], word: &str) -> Vec<&'static str> {
    let mut roots: Vec<&'static str> = verbs.iter().map(|verb| verb.words[0]).collect();
    roots.sort_unstable();
    roots.dedup();
    let near = nearest(word, roots.iter().copied());
    let folded = word.to_lowercase();
    roots
        .into_iter()
        .filter(|root| Some(*root) == near || root.starts_with(&folded))
        .collect()
}

fn unknown_in_group(
    program: &str,
    verbs: &[&Verb],
    group: &str,
    word: &str,
    width: usize,
) -> Request {
    if verbs.iter().all(|verb| verb.manner == Manner::Clusterctl) {
        // clusterctl's groups have no check of their own: they print their help and end well.
        return Request::Print(overview::of_group(program, group, verbs, width));
    }
    let names: Vec<&str> = verbs.iter().map(|verb| verb.words[1]).collect();
    let near = nearest(word, names.iter().copied())
        .or_else(|| names.iter().copied().find(|name| name.starts_with(word)));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use {}", usage::list(&names)),
    };
    Request::Fail(Failure::usage(
        format!(
            "unknown command `{}` for `{program} {group}`",
            without_credentials(word)
        ),
        help,
    ))
}

fn reject(stderr: String, exit: Exit) -> Request {
    Request::Reject { stderr, exit }
}

#[cfg(test)]
mod tests {
    use super::super::verbs::planned::VERBS;
    use super::*;

    fn request_of(line: &str) -> Request {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        request("windlass", VERBS, &arguments, usize::MAX)
    }

    /// The verb that runs and what is left for it.
    fn check_run(line: &str, verb: &str, rest: &str) {
        match request_of(line) {
            Request::Run {
                verb: found,
                rest: left,
            } => {
                assert_eq!(
                    (found.name().as_str(), left.join(" ").as_str()),
                    (verb, rest),
                    "{line}"
                )
            }
            _ => panic!("`{line}` runs nothing"),
        }
    }

    #[test]
    fn words_name_the_verb_wherever_flags_stand() {
        check_run(
            "release build v0.3.0 --to out",
            "release build",
            "v0.3.0 --to out",
        );
        check_run(
            "-q release --config x build v0.3.0",
            "release build",
            "-q --config x v0.3.0",
        );
        check_run("--color always render -", "render", "--color always -");
        check_run("render release build", "render", "release build");
    }

    #[test]
    fn unknown_words_below_ours_are_answered_with_the_nearest() {
        let failure = |line| match request_of(line) {
            Request::Fail(failure) => failure,
            _ => panic!("`{line}` is taken"),
        };
        let expected = Failure::usage(
            "unknown command `biuld` for `windlass release`",
            "did you mean `build`?",
        );
        assert_eq!(failure("release biuld v0.3.0"), expected);
        let expected = Failure::usage(
            "unknown command `xyz` for `windlass repository`",
            "use `add` or `list`",
        );
        assert_eq!(failure("repository xyz"), expected);
    }

    #[test]
    fn groups_alone_and_clusterctls_unknown_words_give_the_groups_help() {
        for line in [
            "release",
            "release -h",
            "release --help",
            "help release",
            "config foo",
        ] {
            assert!(
                matches!(request_of(line), Request::Print(text) if text.starts_with("Usage: windlass ")),
                "{line}"
            );
        }
        assert!(
            matches!(request_of("config --bogus"), Request::Reject { stderr, exit: Exit::Findings } if stderr == "Error: unknown flag: --bogus\n")
        );
        assert!(
            matches!(request_of("release --bogus"), Request::Fail(Failure::Usage { message, .. }) if message.ends_with("unknown flag: --bogus"))
        );
    }

    #[test]
    fn first_words_that_are_nearly_right_are_suggested() {
        let expected = "Error: unknown command \"completon\" for \"windlass\"\n\nDid you mean this?\n\tcompletion\n\nRun 'windlass --help' for usage.\n";
        assert!(
            matches!(request_of("completon bash"), Request::Reject { stderr, exit: Exit::Findings } if stderr == expected)
        );
        let expected = Failure::usage(
            "unknown command `rendr` for `windlass`",
            "did you mean `render`?",
        );
        assert!(
            matches!(request_of("rendr worker.yaml"), Request::Fail(failure) if failure == expected)
        );
    }
}
