//! What the program can do, on one screen: `windlass`, `windlass --help`, `windlass release`.

use super::verbs::{Group, VERBS, Verb};

/// The widest left column that the right one keeps clear of; longer lines push their text further right.
const WIDEST_LEFT: usize = 22;

/// The whole overview.
pub(super) fn text(program: &str, first_try: &str) -> String {
    let mut text = format!("{}.\nUsage: {program} COMMAND [FLAGS]\n", env!("CARGO_PKG_DESCRIPTION"));
    let left = left_width(VERBS);
    for group in Group::ALL {
        let verbs: Vec<&Verb> = VERBS.iter().filter(|verb| verb.group == group).collect();
        if verbs.is_empty() {
            continue;
        }
        text.push_str(&format!("{}\n", group.title()));
        if group == Group::Clusterctl {
            text.push_str(&format!("  {}\n", names(&verbs)));
        } else {
            text.push_str(&lines(&verbs, left));
        }
    }
    text.push_str(GLOBAL);
    text.push_str(&format!(
        "Exit: 0 clean, 1 findings or a faulty document, 2 the world failed.    Try: {program} {first_try}\n"
    ));
    text
}

const GLOBAL: &str = "Global: --config FILE (clusterctl's)  -q, --quiet  -v, --v N  --color auto|always|never  -h, --help  -V, --version\n";

/// The verbs of one first word, each on its line.
pub(super) fn of_group(program: &str, word: &str) -> String {
    let verbs: Vec<&Verb> = VERBS.iter().filter(|verb| verb.words[0] == word).collect();
    let left = verbs.iter().map(|verb| line_name(verb).chars().count()).max().unwrap_or(0);
    let mut text = format!("Usage: {program} {word} COMMAND [FLAGS]\n");
    for verb in &verbs {
        text.push_str(&format!("  {:left$}   {}\n", line_name(verb), verb.summary));
    }
    text.push_str(GLOBAL);
    text.push_str(&format!(
        "`{program} {word} {} -h` lists the flags of one command\n",
        verbs.first().map_or("COMMAND", |verb| verb.words[1])
    ));
    text
}

/// `release build VERSION`: the words and what must follow, without flags.
fn line_name(verb: &Verb) -> String {
    let operands = verb.operands.split(" --").next().unwrap_or_default();
    format!("{} {operands}", verb.name()).trim_end().to_owned()
}

/// The lines of a section; neighbours of one family share theirs.
fn lines(verbs: &[&Verb], left: usize) -> String {
    let mut text = String::new();
    for family in families(verbs) {
        let (name, summary) = entry(&family);
        let gap = if name.chars().count() > left { " ".repeat(4) } else { " ".repeat(left - name.chars().count() + 3) };
        text.push_str(&format!("  {name}{gap}{summary}\n"));
    }
    text
}

/// The name and the summary of one line.
fn entry(family: &[&Verb]) -> (String, &'static str) {
    match family {
        [verb] => (line_name(verb), verb.summary),
        _ => (joined(family), family[0].family.unwrap_or(family[0].summary)),
    }
}

/// `generate crds|rbac`.
fn joined(verbs: &[&Verb]) -> String {
    let seconds: Vec<&str> = verbs.iter().filter_map(|verb| verb.words.get(1).copied()).collect();
    format!("{} {}", verbs[0].words[0], seconds.join("|")).trim_end().to_owned()
}

/// Neighbours with the same first word and the same family.
fn families<'a>(verbs: &[&'a Verb]) -> Vec<Vec<&'a Verb>> {
    let together = |a: &&Verb, b: &&Verb| a.words[0] == b.words[0] && a.family.is_some() && a.family == b.family;
    verbs.chunk_by(together).map(<[_]>::to_vec).collect()
}

/// `generate yaml|provider|cluster, config repositories, completion, version`.
fn names(verbs: &[&Verb]) -> String {
    verbs.chunk_by(|a, b| a.words[0] == b.words[0]).map(joined).collect::<Vec<_>>().join(", ")
}

fn left_width(verbs: &[Verb]) -> usize {
    let shown: Vec<&Verb> = verbs.iter().filter(|verb| verb.group != Group::Clusterctl).collect();
    let widths = families(&shown).into_iter().map(|family| entry(&family).0.chars().count());
    widths.filter(|width| *width <= WIDEST_LEFT).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::verbs::{Action, Manner, Run};
    use crate::cli::{Context, Exit, Failure};

    #[derive(clap::Args)]
    struct Nothing {}

    impl Run for Nothing {
        fn run(self, _: &mut Context<'_>) -> Result<Exit, Failure> {
            Ok(Exit::Clean)
        }
    }

    fn row(words: &'static [&'static str], operands: &'static str, summary: &'static str, family: Option<&'static str>) -> Verb {
        let (group, manner, action) = (Group::Release, Manner::Ours, Action::of::<Nothing>());
        Verb { words, operands, summary, family, group, manner, examples: &[], action }
    }

    #[test]
    fn families_share_a_line_and_long_names_push_their_text() {
        let artifact = Some("print one artifact");
        let rows = [
            row(&["release", "build"], "VERSION --to DIR", "write the whole release", None),
            row(&["generate", "crds"], "", "print the CRDs", artifact),
            row(&["generate", "components"], "", "print the components", artifact),
            row(&["render"], "FILE…", "bootstrap data", None),
        ];
        let verbs: Vec<&Verb> = rows.iter().collect();
        let expected = "  release build VERSION   write the whole release\n  \
                        generate crds|components    print one artifact\n  \
                        render FILE…            bootstrap data\n";
        assert_eq!(lines(&verbs, left_width(&rows)), expected);
        assert_eq!(names(&verbs), "release build, generate crds|components, render");
    }
}
