//! What commands get from elsewhere and run or apply at boot: the images of it are unknown.

use std::collections::BTreeSet;

use crate::diag::Quoted;
use crate::images::files::FileText;
use crate::text::shell::{Command, Joint, Part, Script, Shape, unquoted};
use crate::text::url::without_credentials;

/// Programs that install workloads whose images only they know, and the words that make them.
const INSTALLERS: [(&str, &[&str]); 6] = [
    ("helm", &["install", "upgrade", "template"]),
    ("cilium", &["install", "upgrade"]),
    ("flux", &["install", "bootstrap"]),
    ("istioctl", &["install"]),
    ("linkerd", &["install"]),
    ("clusterctl", &["init"]),
];

const DOWNLOADERS: [&str; 2] = ["curl", "wget"];

/// The folder of static pods.
const STATIC_PODS: &str = "/etc/kubernetes/manifests/";

/// The lines of commands with an unknown source, and what each is.
pub(super) fn sources(
    script: &Script<'_>,
    commands: &[&Command<'_>],
    files: &[FileText],
) -> Vec<(u32, String)> {
    let known = written(commands, files);
    let downloads: BTreeSet<String> = commands
        .iter()
        .filter_map(|command| download(command))
        .collect();
    let is_run =
        |command: &&&Command<'_>| command.shape == Shape::Simple && command.part != Part::Header;
    commands
        .iter()
        .filter(is_run)
        .flat_map(|command| {
            let found = of_command(script, command, &known, &downloads);
            found.into_iter().map(|what| (command.line, what))
        })
        .collect()
}

fn of_command(
    script: &Script<'_>,
    command: &Command<'_>,
    known: &BTreeSet<String>,
    downloads: &BTreeSet<String>,
) -> Vec<String> {
    let words: Vec<String> = command.words.iter().map(|word| unquoted(word)).collect();
    let Some(program) = program(command) else {
        return Vec::new();
    };
    if let Some((name, verb)) = installer(program, &words) {
        return vec![format!("`{name} {verb}` installs a chart or a manifest")];
    }
    match program {
        "kubectl" => applied(&words)
            .into_iter()
            .filter_map(|source| of_manifest(source, known, downloads))
            .collect(),
        program if DOWNLOADERS.contains(&program) => {
            of_download(script, command).into_iter().collect()
        }
        _ => executed(command, &words)
            .filter(|path| downloads.contains(*path))
            .map(|path| format!("{path} is downloaded and run at boot"))
            .into_iter()
            .collect(),
    }
}

/// The program of a command, also behind one that runs another.
fn program<'t>(command: &Command<'t>) -> Option<&'t str> {
    const RUNNERS: [&str; 7] = ["timeout", "nohup", "nice", "time", "env", "until", "retry"];
    let first = command.program()?;
    if !RUNNERS.contains(&first) {
        return Some(first);
    }
    let mut names = command
        .words
        .iter()
        .filter_map(|word| word.rsplit('/').next());
    let is_known = |name: &&str| {
        *name == "kubectl"
            || DOWNLOADERS.contains(name)
            || INSTALLERS.iter().any(|(installer, _)| installer == name)
    };
    names.find(is_known).or(Some(first))
}

fn installer<'p>(program: &'p str, words: &[String]) -> Option<(&'p str, String)> {
    let (_, verbs) = INSTALLERS.iter().find(|(name, _)| *name == program)?;
    let verb = words.iter().find(|word| verbs.contains(&word.as_str()))?;
    Some((program, verb.clone()))
}

/// What `kubectl apply`, `create` or `replace` reads.
fn applied(words: &[String]) -> Vec<&str> {
    let is_applied = words
        .iter()
        .any(|word| matches!(word.as_str(), "apply" | "create" | "replace"));
    let mut sources = Vec::new();
    let mut words = words.iter().filter(|_| is_applied);
    while let Some(word) = words.next() {
        let value = match word.as_str() {
            "-f" | "--filename" | "-k" | "--kustomize" => words.next().map(String::as_str),
            word => ["--filename=", "--kustomize=", "-f=", "-k="]
                .iter()
                .find_map(|flag| word.strip_prefix(flag)),
        };
        sources.extend(value.into_iter().flat_map(|value| value.split(',')));
    }
    sources
}

fn of_manifest(
    source: &str,
    known: &BTreeSet<String>,
    downloads: &BTreeSet<String>,
) -> Option<String> {
    let shown = Quoted(without_credentials(source));
    if source == "-" || source.starts_with("/dev/") {
        // A here-document is read; a pipe is reported at the program that fills it.
        return None;
    }
    if source.contains("://") || downloads.contains(source) {
        return Some(format!(
            "`kubectl` applies {shown}, which is downloaded at boot"
        ));
    }
    let folder = format!("{}/", source.trim_end_matches('/'));
    let mut behind = known.range(folder.clone()..);
    let is_known =
        known.contains(source) || behind.next().is_some_and(|path| path.starts_with(&folder));
    (!is_known).then(|| format!("`kubectl` applies {shown}, which the config does not write"))
}

/// A download that a shell or `kubectl` reads from a pipe, or that becomes a static pod.
fn of_download(script: &Script<'_>, command: &Command<'_>) -> Option<String> {
    let output = output(command);
    if output.is_some_and(|path| path.starts_with(STATIC_PODS)) {
        return Some("a static pod is downloaded at boot".to_owned());
    }
    let mut at = command;
    while at.joint == Some(Joint::Pipe) {
        at = &script.commands[at.next?];
        if at.is_shell() {
            return Some("a script is downloaded and run at boot".to_owned());
        }
        if at.program() == Some("kubectl") {
            return Some("a manifest is downloaded and applied at boot".to_owned());
        }
    }
    None
}

/// The file that a command downloads.
fn download(command: &Command<'_>) -> Option<String> {
    command
        .program()
        .filter(|program| DOWNLOADERS.contains(program))?;
    output(command)
}

/// The file behind `-o`, `-O` or `>`.
fn output(command: &Command<'_>) -> Option<String> {
    let is_wget = command.program() == Some("wget");
    let mut words = command.words.iter().map(|word| unquoted(word));
    while let Some(word) = words.next() {
        let attached = ["--output=", "--output-document=", ">"]
            .iter()
            .find_map(|flag| word.strip_prefix(flag));
        match (word.as_str(), attached) {
            (">" | "--output" | "--output-document", _) => return words.next(),
            ("-O", _) if is_wget => return words.next(),
            (_, Some(path)) => return Some(path.to_owned()),
            // Flags of one letter may stand together: `-fsSLo FILE`.
            (flags, None)
                if flags.starts_with('-') && !flags.starts_with("--") && flags.ends_with('o') =>
            {
                return words.next();
            }
            _ => {}
        }
    }
    None
}

/// The file that a command runs: itself, or the operand of a shell.
fn executed<'w>(command: &Command<'_>, words: &'w [String]) -> Option<&'w str> {
    let mut operands = words
        .iter()
        .filter(|word| !matches!(word.as_str(), "sudo" | "exec" | "source" | "."))
        .filter(|word| !word.starts_with('-'));
    let first = operands.next()?;
    if command.is_shell() {
        operands.next().map(String::as_str)
    } else {
        Some(first)
    }
}

/// The files that the config writes, and those that its scripts write with `cat` and `tee`.
fn written(commands: &[&Command<'_>], files: &[FileText]) -> BTreeSet<String> {
    let of_commands = commands
        .iter()
        .filter(|command| matches!(command.program(), Some("cat" | "tee" | "echo" | "printf")))
        .flat_map(|command| {
            let plain = command.words.iter().map(|word| unquoted(word));
            plain
                .map(|word| word.trim_start_matches('>').to_owned())
                .filter(|word| word.starts_with('/'))
                .collect::<Vec<_>>()
        });
    files
        .iter()
        .map(|file| file.path.clone())
        .chain(of_commands)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::shell;

    fn found(text: &str) -> Vec<String> {
        let script = shell::read(text);
        let commands: Vec<&Command<'_>> = script.commands.iter().collect();
        let found = sources(&script, &commands, &[]);
        found
            .into_iter()
            .map(|(_, what)| crate::diag::Text::from(what).as_str().to_owned())
            .collect()
    }

    #[test]
    fn sources_without_a_list_of_images_are_reported() {
        for (text, expected) in [
            (
                "kubectl apply -f https://u:p@x/calico.yaml\n",
                "`kubectl` applies https://x/calico.yaml, which is downloaded at boot",
            ),
            (
                "timeout 60 kubectl apply -k https://x/cni\n",
                "`kubectl` applies https://x/cni, which is downloaded at boot",
            ),
            (
                "kubectl --kubeconfig /a create --filename=/opt/cni.yaml\n",
                "`kubectl` applies /opt/cni.yaml, which the config does not write",
            ),
            (
                "curl -sfL https://x | sudo bash -s - a\n",
                "a script is downloaded and run at boot",
            ),
            (
                "wget -qO- https://x | sed s/a/b/ | kubectl apply -f -\n",
                "a manifest is downloaded and applied at boot",
            ),
            (
                "curl -fsSLo /tmp/i.sh https://x\nchmod +x /tmp/i.sh\n/tmp/i.sh a\n",
                "/tmp/i.sh is downloaded and run at boot",
            ),
            (
                "wget -O /tmp/i.sh https://x\nsudo bash /tmp/i.sh\n",
                "/tmp/i.sh is downloaded and run at boot",
            ),
            (
                "curl https://x > /etc/kubernetes/manifests/a.yaml\n",
                "a static pod is downloaded at boot",
            ),
            (
                "helm upgrade --install x y/z\n",
                "`helm upgrade` installs a chart or a manifest",
            ),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
        for text in [
            "curl -o /tmp/a.tgz https://x\ntar -xf /tmp/a.tgz\n",
            "cat > /tmp/a.yaml <<E\nx\nE\nkubectl apply -f /tmp/a.yaml\n",
            "kubectl get nodes -f https://x\n",
            "kubectl apply -f - <<E\nx\nE\n",
            "helm version\n",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
