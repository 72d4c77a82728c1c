//! The programs that pull images, and where their arguments name one.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The words that make a program pull what follows them, and its flags that take the next word.
#[derive(Debug, Default)]
struct Program {
    verbs: Vec<Vec<&'static str>>,
    flags: Vec<&'static str>,
}

static PROGRAMS: LazyLock<BTreeMap<&str, Program>> =
    LazyLock::new(|| parse(include_str!("programs.txt")));

fn parse(table: &'static str) -> BTreeMap<&'static str, Program> {
    let mut programs: BTreeMap<&str, Program> = BTreeMap::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            [name, "verb", verb @ ..] => {
                programs.entry(name).or_default().verbs.push(verb.to_vec());
            }
            [name, "flags", flags @ ..] => programs.entry(name).or_default().flags.extend(flags),
            _ => unreachable!("internal error: a row of the table"),
        }
    }
    programs
}

/// Programs that only print or look for the words behind them.
const SILENT: [&str; 5] = ["echo", "printf", "grep", "pgrep", "pkill"];

/// The words of a command that name images which it pulls.
pub(super) fn pulled(words: &[String]) -> Vec<&str> {
    let is_silent = |word: &&String| SILENT.contains(&word.as_str());
    if words.first().filter(is_silent).is_some() {
        return Vec::new();
    }
    for (at, word) in words.iter().enumerate() {
        let rest = &words[at + 1..];
        match word.rsplit('/').next() {
            Some("skopeo") => return copied(rest).into_iter().collect(),
            Some("kubectl") => return of_flag(rest, "--image").into_iter().collect(),
            Some(name) => {
                // Windows' programs.
                let name = name.strip_suffix(".exe").unwrap_or(name);
                if let Some(program) = PROGRAMS.get(name) {
                    return operand(program, rest).into_iter().collect();
                }
            }
            None => {}
        }
    }
    Vec::new()
}

/// The image in a registry that `skopeo copy` reads: the first name with a transport is the source.
fn copied(words: &[String]) -> Option<&str> {
    const TRANSPORTS: [&str; 7] = [
        "docker://",
        "dir:",
        "oci:",
        "oci-archive:",
        "docker-archive:",
        "docker-daemon:",
        "containers-storage:",
    ];
    let is_name = |word: &&String| TRANSPORTS.iter().any(|start| word.starts_with(start));
    let is_copy = words.iter().any(|word| word == "copy");
    let source = words.iter().find(is_name).filter(|_| is_copy)?;
    source.strip_prefix("docker://")
}

/// The operand behind the words that make the program pull.
fn operand<'w>(program: &Program, words: &'w [String]) -> Option<&'w str> {
    let mut operands: Vec<&str> = Vec::new();
    let mut words = words.iter();
    let longest = 3;
    while let Some(word) = words.next().filter(|_| operands.len() < longest) {
        if word.starts_with('-') {
            if program.flags.contains(&word.as_str()) {
                words.next();
            }
        } else if matches!(word.as_str(), ">" | ">>" | "<" | "<<<" | "2>") {
            words.next();
        } else if !word.starts_with(['>', '<', '&']) {
            operands.push(word);
        }
    }
    program
        .verbs
        .iter()
        .find_map(|verb| operands.strip_prefix(verb.as_slice())?.first().copied())
}

/// The value of a flag: `--flag VALUE` or `--flag=VALUE`.
fn of_flag<'w>(words: &'w [String], flag: &str) -> Option<&'w str> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix(flag) {
            Some("") => return words.next().map(String::as_str),
            Some(value) => {
                if let Some(value) = value.strip_prefix('=') {
                    return Some(value);
                }
            }
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_images_that_they_pull() {
        for (command, expected) in [
            ("ctr -n k8s.io images pull a/b:1", Some("a/b:1")),
            (
                "ctr --namespace=k8s.io i pull --platform linux/amd64 a:1",
                Some("a:1"),
            ),
            (
                "/usr/bin/ctr run --rm --net-host -e A=b a/b:1 vip /run",
                Some("a/b:1"),
            ),
            ("ctr -n k8s.io images import /a.tar", None),
            ("ctr -n k8s.io images tag a b", None),
            ("sudo crictl pull --creds u:p a:1", Some("a:1")),
            ("crictl pull a:1 > /dev/null", Some("a:1")),
            ("timeout 60 nerdctl -n k8s.io pull -q a:1", Some("a:1")),
            (
                "docker run -d --name x -v /a:/b --net=host a:1 serve",
                Some("a:1"),
            ),
            ("podman image pull a:1", Some("a:1")),
            ("docker ps", None),
            ("docker image rm a:1", None),
            ("skopeo copy docker://a/b:1 oci:/x", Some("a/b:1")),
            ("skopeo copy oci:/x docker://a/b:1", None),
            ("skopeo inspect docker://a/b:1", None),
            ("crane pull a/b:1 b.tar", Some("a/b:1")),
            ("kubectl create deployment x --image=a:1", Some("a:1")),
            ("kubectl run x --image a:1 -- sh", Some("a:1")),
            ("echo ctr images pull a:1", None),
            ("systemctl restart docker", None),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(pulled(&words).first().copied(), expected, "{command}");
        }
    }
}
