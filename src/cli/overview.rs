//! What the program can do, on one screen: `windlass`, `windlass --help`, `windlass release`.

use super::verbs::{Group, Verb};

/// The widest left column that the right one keeps clear of; longer lines push their text further
/// right.
const WIDEST_LEFT: usize = 22;

pub(super) fn text(program: &str, verbs: &[Verb], first_try: &str, width: usize) -> String {
    let mut text = hung(
        "",
        concat!(env!("CARGO_PKG_DESCRIPTION"), "."),
        " ",
        0,
        width,
    );
    text.push_str(&format!("Usage: {program} COMMAND [FLAGS]\n"));
    let left = left_width(verbs);
    for group in Group::ALL {
        let verbs: Vec<&Verb> = verbs.iter().filter(|verb| verb.group == group).collect();
        if verbs.is_empty() {
            continue;
        }
        text.push_str(&hung("", group.title(), " ", 0, width));
        if group == Group::Clusterctl {
            text.push_str(&hung("  ", &names(&verbs), ", ", 2, width));
        } else {
            text.push_str(&lines(&verbs, left, width));
        }
    }
    text.push_str(&hung("Global: ", GLOBAL, "  ", "Global: ".len(), width));
    let hint = format!("{EXIT}{GAP}Try: {program} {first_try}");
    text.push_str(&hung("Exit: ", &hint, GAP, 0, width));
    text
}

const GLOBAL: &str = "--config FILE (clusterctl's)  --settings FILE  -q, --quiet  -v, --v N  --color auto|always|never  -h, --help  -V, --version";
/// What the exit codes of our verbs mean.
pub(super) const EXIT: &str = "0 clean, 1 findings or a faulty document, 2 usage or I/O error.";
/// Between the parts of a line that say different things.
const GAP: &str = "    ";

/// The verbs of one first word, each on its line.
pub(super) fn of_group(program: &str, word: &str, verbs: &[&Verb], width: usize) -> String {
    let left = verbs
        .iter()
        .map(|verb| line_name(verb).chars().count())
        .max()
        .unwrap_or(0);
    let mut text = format!("Usage: {program} {word} COMMAND [FLAGS]\n");
    for verb in verbs {
        text.push_str(&hung(
            &format!("  {:left$}   ", line_name(verb)),
            verb.summary,
            " ",
            2 + left + 3,
            width,
        ));
    }
    text.push_str(&hung("Global: ", GLOBAL, "  ", "Global: ".len(), width));
    let first = verbs.first().map_or("COMMAND", |verb| verb.words[1]);
    text.push_str(&hung(
        &format!("`{program} {word} {first} -h` "),
        "lists the flags of one command",
        " ",
        0,
        width,
    ));
    text
}

/// A line of what it begins with and parts, broken between these where the terminal is too narrow;
/// further lines are indented. What stands between two parts may be broken at no other place: it is
/// a flag with its value, or a command.
fn hung(begin: &str, parts: &str, separator: &str, indent: usize, width: usize) -> String {
    let mut text = begin.to_owned();
    let mut column = begin.chars().count();
    for (at, part) in parts.split(separator).enumerate() {
        let length = part.chars().count();
        let is_first = at == 0;
        let before = if is_first { "" } else { separator };
        // The comma of a list stays with what is before it.
        let stays = before.trim_end();
        if column + before.len() + length > width && column > indent {
            text.truncate(text.trim_end().len());
            text.push_str(&format!("{stays}\n{:indent$}{part}", ""));
            column = indent + length;
        } else {
            text.push_str(&format!("{before}{part}"));
            column += before.len() + length;
        }
    }
    text.push('\n');
    text
}

/// `release build VERSION`: the words and what must follow, without flags.
fn line_name(verb: &Verb) -> String {
    let operands = verb.operands.split(" --").next().unwrap_or_default();
    format!("{} {operands}", verb.name()).trim_end().to_owned()
}

/// The lines of a section; neighbours of one family share theirs.
fn lines(verbs: &[&Verb], left: usize, width: usize) -> String {
    let line = |family: Vec<&Verb>| {
        let (name, summary) = entry(&family);
        let gap = if name.chars().count() > left {
            GAP.to_owned()
        } else {
            " ".repeat(left - name.chars().count() + 3)
        };
        hung(&format!("  {name}{gap}"), summary, " ", 2 + left + 3, width)
    };
    families(verbs).into_iter().map(line).collect()
}

/// The name and the summary of one line.
fn entry(family: &[&Verb]) -> (String, &'static str) {
    match family {
        [verb] => (line_name(verb), verb.summary),
        _ => (
            joined(family),
            family[0].family.unwrap_or(family[0].summary),
        ),
    }
}

/// `generate crds|rbac`.
fn joined(verbs: &[&Verb]) -> String {
    let seconds: Vec<&str> = verbs
        .iter()
        .filter_map(|verb| verb.words.get(1).copied())
        .collect();
    format!("{} {}", verbs[0].words[0], seconds.join("|"))
        .trim_end()
        .to_owned()
}

/// Neighbours with the same first word and the same family.
fn families<'a>(verbs: &[&'a Verb]) -> Vec<Vec<&'a Verb>> {
    let together = |a: &&Verb, b: &&Verb| {
        a.words[0] == b.words[0] && a.family.is_some() && a.family == b.family
    };
    verbs.chunk_by(together).map(<[_]>::to_vec).collect()
}

/// `generate yaml|provider|cluster, config repositories, completion, version`.
fn names(verbs: &[&Verb]) -> String {
    verbs
        .chunk_by(|a, b| a.words[0] == b.words[0])
        .map(joined)
        .collect::<Vec<_>>()
        .join(", ")
}

fn left_width(verbs: &[Verb]) -> usize {
    let shown: Vec<&Verb> = verbs
        .iter()
        .filter(|verb| verb.group != Group::Clusterctl)
        .collect();
    let widths = families(&shown)
        .into_iter()
        .map(|family| entry(&family).0.chars().count());
    widths
        .filter(|width| *width <= WIDEST_LEFT)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::verbs::planned::VERBS;
    use super::*;

    #[test]
    fn overview_has_families_on_one_line_and_fits_a_screen() {
        let expected = "\
Everything between a Cluster API provider and the machines that boot from it.
Usage: windlass COMMAND [FLAGS]
Release a provider (described by ./provider.yaml)
  release build VERSION   write the whole release: components, metadata, templates, checksums, images, SBOM
  release bump VERSION    add a release series to metadata.yaml
  generate crds|rbac|components|metadata|template|clusterclass    print one artifact
Set up clusterctl repositories
  repository add|list     fill, show, explain and pack a local repository
See what a machine boots with
  render FILE…            bootstrap data of a KubeadmConfig or WindlassConfig, without a cluster
clusterctl's offline commands, with its flags, output and exit codes
  generate yaml|provider|cluster, config repositories, completion, version
Global: --config FILE (clusterctl's)  --settings FILE  -q, --quiet  -v, --v N  --color auto|always|never  -h, --help  -V, --version
Exit: 0 clean, 1 findings or a faulty document, 2 usage or I/O error.    Try: windlass render examples/worker.yaml
";
        assert_eq!(
            text("windlass", VERBS, "render examples/worker.yaml", usize::MAX),
            expected
        );
    }

    /// clusterctl's commands are names in a line, which has no left column.
    #[test]
    fn the_left_column_is_as_wide_as_our_own_verbs() {
        let (ours, theirs) = VERBS.split_at(
            VERBS
                .iter()
                .position(|verb| verb.group == Group::Clusterctl)
                .unwrap(),
        );
        assert_eq!(
            (left_width(ours), left_width(theirs)),
            ("release build VERSION".len(), 0)
        );
    }

    /// Parts stand on a line as long as they fit to its last column, and further lines begin at the
    /// indent.
    #[test]
    fn a_line_is_broken_before_the_part_that_does_not_fit() {
        for (width, expected) in [
            (15, "ab: cc dd ee ff\n"),
            (14, "ab: cc dd ee\n    ff\n"),
            (12, "ab: cc dd ee\n    ff\n"),
            (11, "ab: cc dd\n    ee ff\n"),
            (9, "ab: cc dd\n    ee ff\n"),
            (8, "ab: cc\n    dd\n    ee\n    ff\n"),
        ] {
            assert_eq!(
                hung("ab: ", "cc dd ee ff", " ", 4, width),
                expected,
                "{width}"
            );
        }
        // Parts that are more than a blank apart, and a list whose commas stay.
        assert_eq!(hung("ab: ", "cc  dd  ee", "  ", 4, 14), "ab: cc  dd  ee\n");
        assert_eq!(
            hung("ab: ", "cc  dd  ee", "  ", 4, 13),
            "ab: cc  dd\n    ee\n"
        );
        assert_eq!(
            hung("  ", "aaaa, bbbb, cccc", ", ", 2, 15),
            "  aaaa, bbbb,\n  cccc\n"
        );
        // A part that is too long by itself is not broken: it is where it begins, or below what
        // it follows.
        assert_eq!(hung("  ", "aaaaaaaa bb", " ", 2, 4), "  aaaaaaaa\n  bb\n");
        assert_eq!(hung("a ", "bbbbbb", " ", 4, 5), "a bbbbbb\n");
        assert_eq!(hung("abc: ", "dddd", " ", 2, 6), "abc:\n  dddd\n");
    }

    #[test]
    fn a_group_lists_its_verbs() {
        let release: Vec<&Verb> = VERBS
            .iter()
            .filter(|verb| verb.words[0] == "release")
            .collect();
        let text = of_group("windlass", "release", &release, usize::MAX);
        assert!(
            text.starts_with(
                "Usage: windlass release COMMAND [FLAGS]\n  release build VERSION   write the whole"
            ),
            "{text}"
        );
        assert!(
            text.ends_with("`windlass release build -h` lists the flags of one command\n"),
            "{text}"
        );
    }

    #[test]
    fn a_narrow_terminal_gets_no_line_that_it_would_break() {
        use crate::cli::verbs::{FIRST_TRY, VERBS};
        for (program, width) in [
            ("windlass", 80),
            ("clusterctl windlass", 80),
            ("windlass", 70),
        ] {
            let groups = ["release", "repository", "generate", "config"].map(|word| {
                let verbs: Vec<&Verb> = VERBS
                    .iter()
                    .filter(|verb| verb.words.len() == 2 && verb.words[0] == word)
                    .collect();
                move |width| of_group(program, word, &verbs, width)
            });
            let overview = |width| text(program, VERBS, FIRST_TRY, width);
            let texts = groups
                .iter()
                .map(|of_group| [of_group(width), of_group(usize::MAX)]);
            for [narrow, wide] in texts.chain([[overview(width), overview(usize::MAX)]]) {
                let longest = narrow.lines().map(|line| line.chars().count()).max();
                assert!(longest <= Some(width), "{width} columns:\n{narrow}");
                assert!(
                    narrow.split_whitespace().eq(wide.split_whitespace()),
                    "{narrow}"
                );
                // A flag stays with its value.
                assert!(
                    narrow.contains("--config FILE (clusterctl's)") && narrow.contains("-v, --v N"),
                    "{narrow}"
                );
            }
        }
    }
}
