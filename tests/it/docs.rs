//! Documents and help say what the program does: rule table, schemas, overview, examples, README.

use std::path::{Path, PathBuf};
use std::process::Command;

use windlass::cli::schema;
use windlass::cli::verbs::{FIRST_TRY, VERBS};
use windlass::diag::Rule;
use windlass::render::write::ignition::gaps::{GAPS, Gap, Outcome};

use crate::image::{AMD64, ARM64, program};
use crate::support::{files_below, golden, root, windlass};

const BEGIN: &str = "<!-- rules: begin -->\n";
const END: &str = "<!-- rules: end -->\n";

#[test]
fn rule_table_lists_every_rule() {
    let path = "docs/rules.md";
    let text = std::fs::read_to_string(root().join(path)).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("docs/rules.md has the begin marker");
    let (_, after) = rest.split_once(END).expect("docs/rules.md has the end marker");
    let rows: String = windlass::ops::rules::all()
        .iter()
        .map(|rule| {
            let Rule { id, severity, class, summary, .. } = rule;
            let name = if rule.page.is_empty() { format!("`{id}`") } else { format!("[`{id}`](rules/{id}.md)") };
            format!("| {name} | {} | {} | {} |\n", severity.as_str(), class.as_str(), summary.replace('|', "\\|"))
        })
        .collect();
    golden(
        path,
        &format!("{before}{BEGIN}| rule | severity | class | what it finds |\n|---|---|---|---|\n{rows}{END}{after}"),
    );
}

/// `docs/rules/RULE.md` for each rule with a page, and no other file.
#[test]
fn pages_of_rules_are_committed() {
    let pages: Vec<_> = windlass::ops::rules::all().into_iter().filter(|rule| !rule.page.is_empty()).collect();
    for rule in &pages {
        golden(&format!("docs/rules/{}.md", rule.id), &windlass::ops::rules::page(rule));
    }
    let folder = root().join("docs/rules");
    let files = if folder.is_dir() { files_below(&folder) } else { Vec::new() };
    let known = |path: &Path| pages.iter().any(|rule| path.ends_with(format!("{}.md", rule.id)));
    let stale: Vec<_> = files.iter().filter(|path| !known(path)).collect();
    assert!(stale.is_empty(), "no rule has these pages; remove them: {stale:?}");
}

#[test]
fn gaps_of_ignition_are_listed() {
    let path = "docs/ignition.md";
    let text = std::fs::read_to_string(root().join(path)).unwrap();
    let (begin, end) = ("<!-- gaps: begin -->\n", "<!-- gaps: end -->\n");
    let (before, rest) = text.split_once(begin).expect("docs/ignition.md has the begin marker");
    let (_, after) = rest.split_once(end).expect("docs/ignition.md has the end marker");
    let in_3_4 = |gap: &Gap| match gap.in_3_4 {
        None => "as it is meant",
        Some(Outcome::Rejected) => "would be rejected",
        Some(Outcome::Ignored | Outcome::Changed) => "ignored, with a warning",
    };
    let rows: String =
        GAPS.iter().map(|gap| format!("| `{}` | {} | {} | {} |\n", gap.field, gap.in_2_3, in_3_4(gap), gap.effect)).collect();
    let head = "| field | 2.3 | 3.4 | what the node gets |\n|---|---|---|---|\n";
    golden(path, &format!("{before}{begin}{head}{rows}{end}{after}"));
}

#[test]
fn schemas_are_committed() {
    for (kind, schema) in schema::schemas() {
        golden(&format!("docs/schemas/{kind}.json"), &schema::text(&schema));
    }
}

/// `release build` and the like, of every line of the overview.
fn commands_of(overview: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for line in overview.lines().filter_map(|line| line.strip_prefix("  ")) {
        // The clusterctl line lists several; other lines have their summary after at least three blanks.
        let name = line.split("   ").next().unwrap();
        for part in name.split(", ") {
            let mut words = part.split(' ').filter(|word| word.chars().next().is_some_and(|c| c.is_ascii_lowercase()));
            let first = words.next().unwrap();
            match words.next() {
                Some(seconds) => commands.extend(seconds.split('|').map(|second| format!("{first} {second}"))),
                None => commands.push(first.to_owned()),
            }
        }
    }
    commands
}

fn stdout(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
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
        assert!(short.lines().count() <= 40, "`{} -h` is longer than a screen:\n{short}", verb.name());
        for text in [&short, &long] {
            assert!(text.contains(&format!("Usage: {}\n", verb.usage("windlass"))), "{text}");
        }
        assert!(!verb.examples.is_empty(), "`{}` has no examples", verb.name());
        assert!(verb.examples.iter().all(|example| long.contains(&format!("  windlass {example}\n"))), "{long}");
    }
}

/// A copy of the project's root folder to run examples in.
fn playground() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(root()).unwrap() {
        let from = entry.unwrap().path();
        let name = from.file_name().unwrap().to_str().unwrap();
        if ["target", "out"].contains(&name) || name.starts_with('.') {
            continue;
        }
        let files = if from.is_dir() { files_below(&from) } else { vec![from.clone()] };
        for file in files {
            let to = folder.path().join(file.strip_prefix(root()).unwrap());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(file, to).unwrap();
        }
    }
    // What the build of somebody's manager has made.
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    for (file, machine) in [("manager", AMD64), ("manager-arm64", ARM64)] {
        std::fs::write(folder.path().join("bin").join(file), program(machine)).unwrap();
    }
    folder
}

/// Runs a line as a user's shell would, with our program and the plain tools on the path.
fn run_line(line: &str, folder: &Path) {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_windlass"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let output = Command::new("sh").args(["-euc", line]).current_dir(folder).env_clear().env("PATH", path).output().unwrap();
    assert!(output.status.success(), "`{line}` ends with {}:\n{}", output.status, String::from_utf8_lossy(&output.stderr));
}

#[cfg(unix)]
#[test]
fn examples_of_the_help_work() {
    let folder = playground();
    run_line(&format!("windlass {FIRST_TRY} > /dev/null"), folder.path());
    for verb in VERBS {
        for example in verb.examples {
            run_line(&format!("windlass {example} > /dev/null"), folder.path());
        }
    }
}

/// The `sh` blocks of a Markdown text.
fn sh_blocks(text: &str) -> Vec<String> {
    text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn readme_begins_with_the_two_commands_of_set_up() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = sh_blocks(&readme);
    assert!(blocks.len() >= 2, "README.md has {} `sh` blocks", blocks.len());
    for block in &blocks[..2] {
        assert_eq!(block.lines().count(), 1, "one command a block: {block}");
        assert!(block.starts_with("cargo "), "nothing but Rust is needed: {block}");
    }
    assert!(blocks[0].contains("release build v") && blocks[0].contains("--to out"), "{}", blocks[0]);
    assert!(blocks[1].starts_with("cargo test"), "{}", blocks[1]);
}

#[cfg(unix)]
#[test]
fn examples_of_the_readme_work() {
    let folder = playground();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    for block in sh_blocks(&readme).iter().skip(2) {
        let block = block.replace("\\\n", " ");
        for line in block.lines().filter(|line| line.starts_with("windlass ")) {
            run_line(line, folder.path());
        }
    }
}

#[test]
fn readers_of_the_tests_above_read_what_they_should() {
    let overview = "Title\n  release build VERSION   write\n  generate crds|rbac    print\n  generate yaml|cluster, version\nGlobal: x\n";
    let expected = ["release build", "generate crds", "generate rbac", "generate yaml", "generate cluster", "version"];
    assert_eq!(commands_of(overview), expected);
    assert_eq!(sh_blocks("a\n```sh\nx\n```\nb\n```json\n{}\n```\n```sh\ny\nz\n```\n"), ["x\n", "y\nz\n"]);
}
