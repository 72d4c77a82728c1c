//! The help of one verb: `-h` on one screen, `--help` with the meaning of each flag and examples.

use clap::{Arg, ArgAction, Command};

use super::verbs::Verb;

/// The maximum number of columns of help text, however wide the terminal is.
pub(super) const WIDTH: usize = 100;
/// The widest left column; longer flags have their text on the next line.
const WIDEST_LEFT: usize = 30;

/// One screen.
pub(super) fn short(program: &str, verb: &Verb, width: usize) -> String {
    let command = verb.command(program);
    let width = width.min(WIDTH);
    let mut text = head(program, verb, width);
    text.push_str(&sections(&command, false, width));
    if !verb.examples.is_empty() {
        text.push_str(&pasteable(
            "Example: ",
            &format!("{program} {}", verb.examples[0]),
            width,
        ));
    }
    text.push_str(&format!("`{program} {} --help` says more\n", verb.name()));
    text
}

pub(super) fn long(program: &str, verb: &Verb, width: usize) -> String {
    let command = verb.command(program);
    let width = width.min(WIDTH);
    let mut text = head(program, verb, width);
    if let Some(about) = command.get_long_about() {
        text.push('\n');
        text.push_str(&wrapped(&about.to_string(), 0, width));
    }
    text.push_str(&sections(&command, true, width));
    if !verb.examples.is_empty() {
        text.push_str("Examples:\n");
        for example in verb.examples {
            text.push_str(&pasteable("  ", &format!("{program} {example}"), width));
        }
    }
    text
}

fn head(program: &str, verb: &Verb, width: usize) -> String {
    let summary = wrapped(
        &format!("{program} {}: {}", verb.name(), verb.summary),
        0,
        width,
    );
    let mut text = format!("{summary}Usage: {}\n", verb.usage(program));
    if OF_KUSTOMIZE.contains(&verb.name().as_str()) {
        let example =
            format!("kustomize build config/default | {program} release build VERSION --to DIR");
        text.push_str(&pasteable("Example: ", &example, width));
    }
    text
}

/// The verbs that describe and build a release; a project with kustomize uses them so.
const OF_KUSTOMIZE: [&str; 2] = ["init", "release build"];

/// Arguments, flags, global flags.
fn sections(command: &Command, is_long: bool, width: usize) -> String {
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && (is_long || !arg.is_hide_short_help_set()))
        .collect();
    let is_global = |arg: &Arg| arg.get_help_heading() == Some("Global");
    let operands: Vec<&Arg> = arguments
        .iter()
        .copied()
        .filter(|arg| arg.is_positional())
        .collect();
    let flags: Vec<&Arg> = arguments
        .iter()
        .copied()
        .filter(|arg| !arg.is_positional() && !is_global(arg))
        .collect();
    let global: Vec<&Arg> = arguments
        .iter()
        .copied()
        .filter(|arg| is_global(arg))
        .collect();
    let left = arguments
        .iter()
        .map(|arg| left(arg).chars().count())
        .filter(|width| *width <= WIDEST_LEFT)
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (title, arguments) in [
        ("Arguments:", operands),
        ("Flags:", flags),
        ("Global:", global),
    ] {
        if !arguments.is_empty() {
            text.push_str(&format!("{title}\n"));
            text.extend(
                arguments
                    .into_iter()
                    .map(|arg| entry(arg, left, is_long, width)),
            );
        }
    }
    text
}

/// One argument: its left column and its meaning beside it.
fn entry(arg: &Arg, left_width: usize, is_long: bool, width: usize) -> String {
    let indent = 2 + left_width + 3;
    let mut meaning = meaning(arg);
    if is_long && let Some(further) = further(arg) {
        meaning = format!("{meaning}\n{further}");
    }
    let left = left(arg);
    let body = wrapped(&meaning, indent, width);
    if left.chars().count() > left_width {
        format!("  {left}\n{body}")
    } else {
        format!("  {left:left_width$}   {}", body.trim_start())
    }
}

/// What the full help says beside the short meaning, if anything.
pub(super) fn further(arg: &Arg) -> Option<String> {
    let long = arg.get_long_help()?.to_string();
    // The first paragraph is the short meaning.
    long.split_once("\n\n")
        .map(|(_, rest)| rest.to_owned())
        .filter(|rest| !rest.is_empty())
}

/// `-o, --output FORMAT`, or the name of an operand.
pub(super) fn left(arg: &Arg) -> String {
    let value = value_name(arg);
    if arg.is_positional() {
        return value;
    }
    let names: Vec<String> = arg
        .get_short()
        .map(|short| format!("-{short}"))
        .into_iter()
        .chain(arg.get_long().map(|long| format!("--{long}")))
        .collect();
    let value = if takes_value(arg) {
        format!(" {value}")
    } else {
        String::new()
    };
    format!("{}{value}", names.join(", "))
}

/// The short help, the values it may have, and the default.
pub(super) fn meaning(arg: &Arg) -> String {
    let mut text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|v| !v.is_hide_set())
        .map(|v| v.get_name().to_owned())
        .collect();
    if takes_value(arg) && !values.is_empty() {
        text.push_str(&format!(": {}", values.join(", ")));
    }
    let defaults: Vec<&str> = arg
        .get_default_values()
        .iter()
        .filter_map(|value| value.to_str())
        .collect();
    if takes_value(arg) && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        text.push_str(&format!(" (default {})", defaults.join(", ")));
    }
    text
}

/// `DIR`, as it is written in usage lines.
pub(super) fn value_name(arg: &Arg) -> String {
    let names: Vec<&str> = arg
        .get_value_names()
        .unwrap_or_default()
        .iter()
        .map(|name| name.as_str())
        .collect();
    if names.is_empty() {
        arg.get_id().as_str().to_uppercase()
    } else {
        names.join(" ")
    }
}

fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// A command, continued in further lines where it is longer than one.
fn pasteable(begin: &str, command: &str, width: usize) -> String {
    let mut text = begin.to_owned();
    let mut column = begin.chars().count();
    for (at, word) in command.split(' ').enumerate() {
        let length = word.chars().count();
        // A blank before the word, and behind it a blank and a backslash.
        if at > 0 && column + length + 3 > width {
            text.push_str(" \\\n      ");
            column = 6;
        } else if at > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
    text
}

/// Paragraphs broken at blanks, each line indented. A word is never broken: it may be a command or
/// a path.
fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut out = String::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > width
            {
                out.push_str(&format!("{:indent$}{line}\n", ""));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        out.push_str(format!("{:indent$}{line}", "").trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::verbs::VERBS;

    #[test]
    fn text_is_broken_at_blanks_only() {
        let long = format!("{} {}", "word ".repeat(15), "x".repeat(120));
        let lines: Vec<String> = wrapped(&long, 4, 80).lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].len() <= 80 && lines.iter().all(|line| line.starts_with("    ")));
    }

    #[test]
    fn paragraphs_are_broken_where_the_next_word_would_not_fit() {
        for (width, expected) in [
            (10, "  aa bb cc\n\n  dd\n"),
            (9, "  aa bb\n  cc\n\n  dd\n"),
            (7, "  aa bb\n  cc\n\n  dd\n"),
            (6, "  aa\n  bb\n  cc\n\n  dd\n"),
            (1, "  aa\n  bb\n  cc\n\n  dd\n"),
        ] {
            assert_eq!(wrapped("aa bb cc\n\ndd", 2, width), expected, "{width}");
        }
    }

    #[test]
    fn short_help_leaves_out_what_only_the_full_help_has() {
        for verb in VERBS {
            let (short, long) = (short("windlass", verb, 80), long("windlass", verb, 80));
            let has = |text: &str, arg: &Arg| {
                text.lines().any(|line| {
                    line.strip_prefix("  ")
                        .is_some_and(|rest| rest.starts_with(&left(arg)))
                })
            };
            for arg in verb
                .command("windlass")
                .get_arguments()
                .filter(|arg| !arg.is_hide_set())
            {
                let found = (has(&short, arg), has(&long, arg));
                assert_eq!(
                    found,
                    (!arg.is_hide_short_help_set(), true),
                    "{} {}",
                    verb.name(),
                    left(arg)
                );
            }
        }
    }

    #[test]
    fn commands_are_continued_behind_a_backslash() {
        let expected = "  aaaa bbbb \\\n      cccc\n";
        assert_eq!(pasteable("  ", "aaaa bbbb cccc", 15), expected);
        assert_eq!(pasteable("  ", "aaaa bbbb cccc", 18), "  aaaa bbbb cccc\n");
    }

    #[test]
    fn help_keeps_to_the_columns_of_the_terminal() {
        let is_command = |line: &str| line.starts_with("Usage: ");
        for verb in VERBS {
            for text in [short("windlass", verb, 80), long("windlass", verb, 80)] {
                let wide: Vec<&str> = text
                    .lines()
                    .filter(|line| line.chars().count() > 80 && !is_command(line))
                    .collect();
                assert_eq!(wide, Vec::<&str>::new(), "{}", verb.name());
            }
        }
    }
}
