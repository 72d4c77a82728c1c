//! `completion`: scripts that shells accept, with all commands, flags and known values.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{root, run};

fn script(shell: &str) -> String {
    run(root(), &format!("completion {shell}")).ok().stdout
}

#[test]
fn completions_name_the_real_verbs() {
    for shell in ["bash", "zsh", "fish"] {
        let script = script(shell);
        for word in ["windlass", "schema", "completion", "color"] {
            assert!(script.contains(word), "{shell} lacks `{word}`");
        }
    }
    if !Path::new("/bin/bash").exists() {
        eprintln!("SKIPPED: no bash to try the completion in");
        return;
    }
    let script = script("bash");
    let mut bash = Command::new("/bin/bash")
        .arg("-n")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    bash.stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    assert!(bash.wait().unwrap().success());
}

#[test]
fn completions_have_the_values_that_are_known() {
    let script = script("bash");
    // What bash offers behind a flag, or as an operand, of a verb.
    let offered = |verb: &str, flag: &str| {
        let (_, of_verb) = script
            .split_once(&format!("        windlass__subcmd__{verb})"))
            .unwrap_or_else(|| panic!("no {verb}"));
        let of_verb = of_verb
            .split_once("\n        windlass__")
            .map_or(of_verb, |(of_verb, _)| of_verb);
        let Some(values) = of_verb.split_once(&format!("                {flag})\n")) else {
            return of_verb.lines().nth(1).unwrap().to_owned();
        };
        values.1.lines().next().unwrap().to_owned()
    };
    for (verb, flag, values) in [
        ("render", "--deny", &["warnings", "input-not-utf8"][..]),
        ("render", "--capi-version", &["v1.10", "v1.14", "main"]),
        ("render", "--role", &["worker-join"]),
        ("generate__subcmd__cluster", "--flavor", &["topology"]),
        ("generate__subcmd__template", "", &["topology", "ignition"]),
        ("generate__subcmd__clusterclass", "", &["windlass"]),
        ("schema", "", &["finding"]),
    ] {
        let offered = offered(verb, flag);
        for value in values {
            let is_word = offered.split([' ', '"', '\'']).any(|word| word == *value);
            assert!(is_word, "{verb} {flag} lacks {value}: {offered}");
        }
    }
    // They are offered, and others are taken: a flavor may be anybody's.
    assert_eq!(run(root(), "generate template foreign").code, 1);
}

#[test]
fn completions_say_what_each_verb_does() {
    for shell in ["zsh", "fish"] {
        let script = script(shell);
        assert!(
            script.contains("add a release series to metadata.yaml")
                && !script.contains("flags of every verb"),
            "{shell}"
        );
        // What a first word stands for are the verbs below it, whoever's they are.
        let groups = [
            "build, bump, check, diff",
            "add, list, ",
            "template, clusterclass, yaml, provider, cluster",
        ];
        groups
            .into_iter()
            .for_each(|seconds| assert!(script.contains(seconds), "{shell} lacks {seconds}"));
    }
    // A flag that a verb rejects is not offered for it.
    let fish = script("fish");
    let takes = |verb: &str, flag: &str| {
        fish.lines().any(|line| {
            line.contains(&format!("using_subcommand {verb}\""))
                && line.contains(&format!("-l {flag} "))
        })
    };
    assert!(
        takes("render", "config")
            && takes("init", "force")
            && !takes("init", "config")
            && !takes("vars", "config")
    );
}

#[test]
fn completions_know_the_values_of_each_flag_where_it_stands() {
    let fish = script("fish");
    for flag in ["deny", "allow"] {
        let values = fish
            .split(&format!(" -l {flag} "))
            .nth(1)
            .unwrap()
            .split("\ncomplete ")
            .next()
            .unwrap();
        assert!(
            values.contains("metadata-series-missing"),
            "{flag}: {values}"
        );
        assert_eq!(values.contains("warnings"), flag == "deny", "{values}");
    }
    // The name of a class is known, and that of a cluster is anybody's.
    let bash = script("bash");
    let offered = |verb: &str| {
        let (_, of_verb) = bash
            .split_once(&format!("        windlass__subcmd__{verb})"))
            .unwrap();
        of_verb.lines().nth(1).unwrap().to_owned()
    };
    let has = |verb: &str| {
        offered(verb)
            .split([' ', '"'])
            .any(|word| word == "windlass")
    };
    assert!(
        has("generate__subcmd__clusterclass") && !has("generate__subcmd__cluster"),
        "{}",
        offered("generate__subcmd__cluster")
    );
}
