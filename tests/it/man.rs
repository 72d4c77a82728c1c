//! `man`: a page for the program and each command, sound roff, the same bytes every time.

use std::path::Path;
use std::process::Command;

use windlass::cli::verbs::{Group, VERBS, Verb};

use crate::support::{files_below, root, run, runs};

/// Standard output of a run that succeeds.
fn stdout(command: &str) -> String {
    run(root(), command).ok().stdout
}

/// All pages, in a folder.
fn pages() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "man --to man1").ok();
    folder
}

fn read(folder: &Path, page: &str) -> String {
    std::fs::read_to_string(folder.join("man1").join(page)).unwrap()
}

/// A text as roff has it.
fn escaped(text: &str) -> String {
    text.replace('-', r"\-").replace('\'', r"\*(Aq")
}

/// The flags that the full help of a verb lists: `--output` of `  -o, --output FORMAT   …`.
fn flags_of_help(help: &str) -> Vec<String> {
    let left = help
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| line.starts_with('-'));
    left.filter_map(|line| line.split(' ').find(|word| word.starts_with("--")))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_has_a_page_with_all_its_flags() {
    let folder = pages();
    let name = |verb: &Verb| format!("windlass-{}", verb.words.join("-"));
    for verb in VERBS {
        let page = read(folder.path(), &format!("{}.1", name(verb)));
        assert!(
            page.contains(&format!(".SH NAME\n{} \\- ", escaped(&name(verb)))),
            "{page}"
        );
        let mut words = verb.words.to_vec();
        words.push("--help");
        let flags = flags_of_help(&stdout(&words.join(" ")));
        assert!(flags.len() >= 5, "{}: {flags:?}", verb.name());
        for flag in flags {
            assert!(
                page.contains(&format!("\\fB{}\\fR", escaped(&flag))),
                "{} lacks {flag}:\n{page}",
                verb.name()
            );
        }
        for example in verb.examples {
            assert!(
                page.contains(&escaped(&format!("windlass {example}"))),
                "{} lacks `{example}`:\n{page}",
                verb.name()
            );
        }
    }
    let program = read(folder.path(), "windlass.1");
    assert!(
        VERBS
            .iter()
            .all(|verb| program.contains(&escaped(&format!("{}(1)", name(verb))))),
        "{program}"
    );
    assert!(read(folder.path(), "windlass-release.1").contains(r"windlass\-release\-build(1)"));
}

/// man(7): title, section, date, source, manual. A page without a date still has a place for it.
#[test]
fn pages_have_no_date_and_are_the_same_every_time() {
    let (one, two) = (pages(), pages());
    let files = files_below(one.path());
    assert!(files.len() > VERBS.len(), "{files:?}");
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let page = read(one.path(), name);
        assert_eq!(page, read(two.path(), name));
        let title = format!(
            ".TH {} 1 \"\" \"windlass v{}\" Windlass\n",
            name.trim_end_matches(".1"),
            env!("CARGO_PKG_VERSION")
        );
        assert!(page.contains(&title), "{page}");
        assert_eq!(page.matches(".el .ds Aq").count(), 1, "{page}");
    }
}

#[test]
fn a_page_is_printed_by_the_words_of_its_command() {
    let folder = pages();
    for (command, page) in [
        ("man", "windlass.1"),
        ("man release", "windlass-release.1"),
        ("man release build", "windlass-release-build.1"),
        ("man windlass-release-build", "windlass-release-build.1"),
    ] {
        assert_eq!(stdout(command), read(folder.path(), page), "{command}");
    }
}

#[test]
fn escapes_control_characters_of_unknown_commands() {
    let rejected = run(root(), "man zzz\u{1b}[31m");
    assert_eq!(rejected.code, 2);
    assert!(!rejected.stderr.contains('\u{1b}'), "{rejected:?}");
}

#[test]
fn other_content_is_kept_unless_forced() {
    let folder = pages();
    let to = folder.path().join("man1");
    std::fs::write(to.join("windlass.1"), "mine").unwrap();
    let rejected = run(folder.path(), "man --to man1");
    assert_eq!(rejected.code, 2);
    assert_eq!(read(folder.path(), "windlass.1"), "mine");
    run(folder.path(), "man --force --to man1").ok();
    assert_eq!(read(folder.path(), "windlass.1"), stdout("man"));
}

/// man(7): a heading begins its first paragraph, `PP` separates those behind it.
#[test]
fn examples_are_separated_and_no_paragraph_is_empty() {
    let folder = pages();
    for verb in VERBS {
        let page = read(
            folder.path(),
            &format!("windlass-{}.1", verb.words.join("-")),
        );
        let examples = page
            .split_once("\n.SH EXAMPLES\n")
            .unwrap()
            .1
            .split("\n.SH ")
            .next()
            .unwrap();
        assert!(!examples.starts_with(".PP"), "{examples}");
        assert_eq!(
            examples.matches(".PP\n").count(),
            verb.examples.len() - 1,
            "{examples}"
        );
    }
}

/// The page of a first word lists the commands that begin with it, and that of the program each
/// command in the section of the overview.
#[test]
fn pages_list_their_commands_and_no_others() {
    let listed = |page: &str| -> Vec<String> {
        let names = page
            .lines()
            .filter_map(|line| line.strip_prefix(r"\fBwindlass\-")?.strip_suffix(r"(1)\fR"));
        names.map(|name| name.replace(r"\-", " ")).collect()
    };
    let names = |is_one: &dyn Fn(&Verb) -> bool| {
        VERBS
            .iter()
            .filter(|verb| is_one(verb))
            .map(Verb::name)
            .collect::<Vec<_>>()
    };
    for group in ["release", "generate", "repository", "topology", "config"] {
        let page = stdout(&format!("man {group}"));
        assert_eq!(
            listed(&page),
            names(&|verb| verb.words.len() == 2 && verb.words[0] == group),
            "{page}"
        );
        assert!(
            page.contains(&format!("windlass {group}\\fR COMMAND [FLAGS]"))
                && page.ends_with("\n.SH \"SEE ALSO\"\n\\fBwindlass(1)\\fR\n"),
            "{page}"
        );
    }
    let program = stdout("man");
    let sections: Vec<&str> = program.split("\n.SS ").skip(1).collect();
    assert_eq!(sections.len(), Group::ALL.len(), "{program}");
    for (section, group) in sections.into_iter().zip(Group::ALL) {
        assert_eq!(
            listed(section),
            names(&|verb| verb.group == group),
            "{section}"
        );
        assert!(
            section.starts_with(&format!("\"{}\"\n", group.title())),
            "{section}"
        );
    }
    assert!(!program.contains("SEE ALSO") && listed(&stdout("man render")).is_empty());
}

#[test]
fn files_beside_the_pages_stay_and_are_told() {
    let folder = pages();
    let to = folder.path().join("man1");
    std::fs::write(to.join("mine.1"), "").unwrap();
    std::fs::remove_file(to.join("windlass.1")).unwrap();
    let run = run(folder.path(), "man --to man1/ --force").ok();
    assert_eq!(run.stderr, "note: man1/ also holds mine.1\n");
    let paths: Vec<&str> = run.stdout.lines().collect();
    assert!(
        paths.len() > VERBS.len()
            && paths.iter().all(|path| path.starts_with("man1/windlass"))
            && paths.contains(&"man1/windlass-release-build.1"),
        "{paths:?}"
    );
}

/// groff with all its warnings, and mandoc but for its notes on style and its warnings, have
/// nothing to say.
#[test]
fn the_formatters_take_every_page() {
    let folder = pages();
    let silent = |program: &str, arguments: &[&str]| {
        for page in files_below(folder.path()) {
            let output = Command::new(program)
                .args(arguments)
                .arg(&page)
                .output()
                .unwrap();
            let said = [output.stdout, output.stderr].concat();
            assert_eq!(
                (
                    output.status.success(),
                    String::from_utf8_lossy(&said).as_ref()
                ),
                (true, ""),
                "{program} {}",
                page.display()
            );
        }
    };
    if runs(&["groff", "--version"]) {
        silent("groff", &["-ww", "-man", "-Tutf8", "-Kutf8", "-z"]);
    }
    if runs(&["sh", "-c", "command -v mandoc"]) {
        silent("mandoc", &["-Tlint", "-Werror"]);
    }
}
