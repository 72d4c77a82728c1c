//! Documents and help say what the program does: the overview and the help of each verb here, the
//! book, its reference and README below.

mod book;
mod console;
mod decisions;
mod links;
mod playground;
mod reference;

use std::process::Command;

use windlass::cli::verbs::{FIRST_TRY, VERBS};

use crate::support::{root, windlass};
use playground::Playground;

/// `release build` and the like, of every line of the overview.
fn commands_of(overview: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let lines = overview.lines().filter_map(|line| line.strip_prefix("  "));
    // A line that is continued goes on far to the right.
    for line in lines.filter(|line| !line.starts_with(' ')) {
        // The clusterctl line lists several; other lines have their summary after at least three
        // blanks.
        let name = line.split("   ").next().unwrap();
        for part in name.split(", ") {
            let mut words = part
                .split(' ')
                .filter(|word| word.chars().next().is_some_and(|c| c.is_ascii_lowercase()));
            let first = words.next().unwrap();
            match words.next() {
                Some(seconds) => {
                    commands.extend(seconds.split('|').map(|second| format!("{first} {second}")))
                }
                None => commands.push(first.to_owned()),
            }
        }
    }
    commands
}

fn stdout(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn overview_lists_the_verbs_and_nothing_else() {
    let mut listed = commands_of(&stdout(&mut windlass(root())));
    let mut verbs: Vec<String> = VERBS.iter().map(|verb| verb.name()).collect();
    listed.sort();
    verbs.sort();
    assert_eq!(listed, verbs);
}

#[test]
fn every_verb_has_help_on_one_screen_and_in_full() {
    for verb in VERBS {
        let help = |flag| stdout(windlass(root()).args(verb.words).arg(flag));
        let (short, long) = (help("-h"), help("--help"));
        assert!(
            short.lines().count() <= 40,
            "`{} -h` is longer than a screen:\n{short}",
            verb.name()
        );
        for text in [&short, &long] {
            assert!(
                text.contains(&format!("Usage: {}\n", verb.usage("windlass"))),
                "{text}"
            );
        }
        assert!(
            !verb.examples.is_empty(),
            "`{}` has no examples",
            verb.name()
        );
        // A long command is continued in further lines.
        let long = long.replace(" \\\n      ", " ");
        assert!(
            verb.examples
                .iter()
                .all(|example| long.contains(&format!("  windlass {example}\n"))),
            "{long}"
        );
    }
}

#[cfg(unix)]
#[test]
fn examples_of_the_help_work() {
    let playground = Playground::new();
    playground.run(&format!("windlass {FIRST_TRY} > /dev/null"));
    for verb in VERBS {
        // `init --force` leaves decisions in a project that other examples read.
        let own = (verb.words == ["init"]).then(Playground::new);
        for example in verb.examples {
            own.as_ref()
                .unwrap_or(&playground)
                .run(&format!("windlass {example} > /dev/null"));
        }
    }
}

#[test]
fn readers_of_the_tests_above_read_what_they_should() {
    let overview = "Title\n  release build VERSION   write\n  generate crds|rbac    print\n  generate yaml|cluster, version\nGlobal: x\n";
    let expected = [
        "release build",
        "generate crds",
        "generate rbac",
        "generate yaml",
        "generate cluster",
        "version",
    ];
    assert_eq!(commands_of(overview), expected);
}
