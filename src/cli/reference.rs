//! The commands as chapters of the book (`docs/book/src/reference/commands`), from the definitions
//! that read the command line: what help and manual pages say, in Markdown.

use clap::Arg;

use super::verbs::{self, FIRST_TRY, Group, Manner, VERBS, Verb};
use super::{help, overview};

const PROGRAM: &str = "windlass";
/// The columns of the overview.
const WIDTH: usize = 100;

/// One chapter.
#[derive(Debug)]
pub struct Chapter {
    /// Its file, beside the others: `release.md`.
    pub file: String,
    /// Its title in the table of contents.
    pub title: String,
    /// Its text.
    pub text: String,
}

/// All chapters: what every command takes, then the sections of the overview.
pub fn chapters() -> Vec<Chapter> {
    let groups = Group::ALL.iter().map(|group| Chapter {
        file: file(*group),
        title: title(*group).to_owned(),
        text: format!(
            "# {}\n\n{}",
            title(*group),
            of_group(*group).map(section).collect::<Vec<_>>().join("\n")
        ),
    });
    let first = Chapter {
        file: "index.md".to_owned(),
        title: "Commands".to_owned(),
        text: every_command(),
    };
    std::iter::once(first).chain(groups).collect()
}

fn of_group(group: Group) -> impl Iterator<Item = &'static Verb> {
    VERBS.iter().filter(move |verb| verb.group == group)
}

fn file(group: Group) -> String {
    format!("{group:?}.md").to_lowercase()
}

/// The title of a section without what explains it.
fn title(group: Group) -> &'static str {
    group
        .title()
        .split([',', '('])
        .next()
        .unwrap_or_default()
        .trim_end()
}

/// The overview, global flags and exit codes, and where each command is described.
fn every_command() -> String {
    let overview = overview::text(PROGRAM, VERBS, FIRST_TRY, WIDTH);
    let root = verbs::root(PROGRAM);
    let flags: String = root
        .get_arguments()
        .filter(|arg| !arg.is_hide_set())
        .map(entry)
        .collect();
    let (ours, theirs) = (Manner::Ours.exit(), Manner::Clusterctl.exit());
    let commands: String = VERBS.iter().map(line).collect();
    format!(
        "# Commands\n\n```text\n{overview}```\n\n## Flags of every command\n\n{flags}\n## Exit codes\n\n{}\n\n\
         Of the commands that clusterctl has too: {}\n\n## All commands\n\n{commands}",
        escaped(ours),
        escaped(theirs)
    )
}

/// A command with a link to its section.
fn line(verb: &Verb) -> String {
    let name = verb.name();
    format!(
        "- [`{name}`]({}#{}): {}\n",
        file(verb.group),
        name.replace(' ', "-"),
        escaped(verb.summary)
    )
}

fn section(verb: &Verb) -> String {
    let command = verb.command(PROGRAM);
    let mut text = format!(
        "## {}\n\n{}.\n\n```text\n{}\n```\n",
        verb.name(),
        capital(&escaped(verb.summary)),
        verb.usage(PROGRAM)
    );
    if let Some(about) = command.get_long_about() {
        text.push_str(&format!("\n{}\n", escaped(&about.to_string())));
    }
    let shown = |arg: &&Arg| {
        !arg.is_hide_set()
            && (arg.get_help_heading() != Some("Global")
                || READ_BY_SOME.contains(&arg.get_id().as_str()))
    };
    let entries: String = command.get_arguments().filter(shown).map(entry).collect();
    if !entries.is_empty() {
        text.push_str(&format!("\n{entries}"));
    }
    let examples: String = verb
        .examples
        .iter()
        .map(|example| format!("{PROGRAM} {example}\n"))
        .collect();
    if !examples.is_empty() {
        text.push_str(&format!("\n```sh\n{examples}```\n"));
    }
    text
}

/// Global flags that not every command reads.
const READ_BY_SOME: [&str; 2] = ["config", "settings"];

fn entry(arg: &Arg) -> String {
    let further = help::further(arg).map(|text| {
        format!(
            ". {}",
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        )
    });
    format!(
        "- `{}`: {}\n",
        help::left(arg),
        escaped(&format!(
            "{}{}",
            help::meaning(arg),
            further.unwrap_or_default()
        ))
    )
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next()
        .map(|first| first.to_uppercase().chain(rest).collect())
        .unwrap_or_default()
}

/// A text of the help, which has no marks but backticks, as Markdown that shows the same.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for c in text.chars() {
        in_code ^= c == '`';
        match c {
            '<' if !in_code => out.push_str("&lt;"),
            '*' | '_' | '[' | ']' if !in_code => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_section_with_every_flag_that_its_help_has() {
        let chapters = chapters();
        for verb in VERBS {
            let chapter = chapters
                .iter()
                .find(|chapter| chapter.file == file(verb.group))
                .expect("its chapter");
            let section = chapter
                .text
                .split("\n## ")
                .find(|section| section.starts_with(&format!("{}\n", verb.name())));
            let section = section.expect("its section");
            for arg in verb
                .command(PROGRAM)
                .get_arguments()
                .filter(|arg| !arg.is_hide_set())
            {
                let is_global = arg.get_help_heading() == Some("Global");
                let text = if is_global && !READ_BY_SOME.contains(&arg.get_id().as_str()) {
                    &chapters[0].text
                } else {
                    section
                };
                assert!(
                    text.contains(&format!("- `{}`: ", help::left(arg))),
                    "{} {}",
                    verb.name(),
                    help::left(arg)
                );
            }
        }
    }

    #[test]
    fn chapters_have_files_of_their_own() {
        let mut files: Vec<String> = chapters().into_iter().map(|chapter| chapter.file).collect();
        let count = files.len();
        files.sort();
        files.dedup();
        assert_eq!(
            (files.len(), count),
            (Group::ALL.len() + 1, Group::ALL.len() + 1)
        );
    }

    #[test]
    fn what_markdown_would_take_for_a_mark_is_escaped() {
        assert_eq!(
            escaped("a <b> `<c>_*` _d_ [e]"),
            "a &lt;b> `<c>_*` \\_d\\_ \\[e\\]"
        );
    }
}
