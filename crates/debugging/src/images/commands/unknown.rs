//! What commands get from elsewhere and run or apply at boot: the images of it are unknown.

use std::collections::{BTreeMap, BTreeSet};

use crate::images::files::FileText;
use windlass_bootstrap::render::write::file_facts::is_static_pod;
use windlass_shell::{self as shell, Command, Joint, Part, Script, Shape, unquoted};
use windlass_source::diag::Quoted;
use windlass_source::url::without_credentials;

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

/// Programs that change a text without adding to it.
const FILTERS: [&str; 6] = ["cat", "envsubst", "sed", "awk", "yq", "jq"];

/// The lines of commands with an unknown source, and what each is: those of the script, and of the
/// scripts that its commands give to a shell.
pub(super) fn sources(script: &Script<'_>, files: &[FileText]) -> Vec<(u32, String)> {
    let mut found = own_sources(script, files);
    for command in &script.commands {
        if let Some(inner) = command.inner_script() {
            let of_inner = own_sources(&shell::read(&inner), files);
            found.extend(of_inner.into_iter().map(|(_, what)| (command.line, what)));
        }
    }
    found.sort_by_key(|(line, _)| *line);
    found
}

fn own_sources(script: &Script<'_>, files: &[FileText]) -> Vec<(u32, String)> {
    let fills = script.commands.iter().enumerate();
    let fills = fills.filter(|(_, command)| command.joint == Some(Joint::Pipe));
    let facts = Facts {
        script,
        known: written(&script.commands, files),
        downloads: script.commands.iter().filter_map(download).collect(),
        fills: fills
            .filter_map(|(at, command)| Some((command.next?, at)))
            .collect(),
    };
    let is_run = |(_, command): &(usize, &Command<'_>)| {
        command.shape == Shape::Simple && command.part != Part::Header
    };
    let run = script.commands.iter().enumerate().filter(is_run);
    run.flat_map(|(at, command)| {
        let found = of_command(&facts, at, command);
        found.into_iter().map(|what| (command.line, what))
    })
    .collect()
}

/// What is known of the files and pipes of a script.
struct Facts<'s, 't> {
    script: &'s Script<'t>,
    /// The files that the config or the script writes with a text that is known.
    known: BTreeSet<String>,
    /// The files that the script downloads.
    downloads: BTreeSet<String>,
    /// The command that fills the pipe of another one.
    fills: BTreeMap<usize, usize>,
}

impl<'s, 't> Facts<'s, 't> {
    /// The first command of the pipe that a command reads.
    fn first_of_pipe(&self, at: usize) -> Option<&'s Command<'t>> {
        /// Longer pipes are not expected.
        const LONGEST: usize = 16;
        let before = std::iter::successors(self.fills.get(&at), |at| self.fills.get(at));
        before
            .take(LONGEST)
            .last()
            .map(|at| &self.script.commands[*at])
    }

    fn is_known(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        let mut behind = self.known.range(folder.clone()..);
        self.known.contains(path)
            || behind
                .next()
                .is_some_and(|known| known.starts_with(&folder))
    }
}

fn of_command(facts: &Facts<'_, '_>, at: usize, command: &Command<'_>) -> Vec<String> {
    let words: Vec<String> = command.words.iter().map(|word| unquoted(word)).collect();
    let Some(program) = program(command) else {
        return Vec::new();
    };
    if is_compose(program, &words) {
        return vec!["a compose file is run at boot".to_owned()];
    }
    if let Some((name, verb)) = installer(program, &words) {
        return vec![format!("`{name} {verb}` installs a chart or a manifest")];
    }
    if is_run_by_shell(command, &words) && words.iter().any(|word| is_download(word)) {
        return vec!["a script is downloaded and run at boot".to_owned()];
    }
    match program {
        "kubeadm" if words.windows(2).any(|pair| pair == ["images", "pull"]) => {
            vec!["`kubeadm config images pull` uses its own version and repository".to_owned()]
        }
        "xargs" | "parallel" if words.iter().any(|word| word == "pull") => {
            vec![format!("`{program}` passes image names to a program")]
        }
        "kubectl" => applied(&words)
            .into_iter()
            .filter_map(|source| of_manifest(source, facts, at))
            .collect(),
        program if DOWNLOADERS.contains(&program) => {
            of_download(facts.script, command).into_iter().collect()
        }
        _ => executed(command, &words)
            .into_iter()
            .find(|path| facts.downloads.contains(path.trim_start_matches("./")))
            .map(|path| format!("{path} is downloaded and run at boot"))
            .into_iter()
            .collect(),
    }
}

fn is_compose(program: &str, words: &[String]) -> bool {
    match program {
        "docker-compose" | "podman-compose" => true,
        "docker" | "nerdctl" | "podman" => words.iter().any(|word| word == "compose"),
        _ => false,
    }
}

fn is_run_by_shell(command: &Command<'_>, words: &[String]) -> bool {
    let first = words.iter().find(|word| *word != "sudo");
    command.is_shell() || first.is_some_and(|word| matches!(word.as_str(), "eval" | "source" | "."))
}

/// Whether a word is the output of a download: `$(curl …)`, `<(curl …)`.
fn is_download(word: &str) -> bool {
    let inner = ["$(", "`", "<("]
        .iter()
        .find_map(|begin| word.strip_prefix(begin));
    let program = inner.and_then(|inner| inner.split_whitespace().next());
    program.is_some_and(|program| DOWNLOADERS.contains(&program))
}

/// Programs that run the one that follows.
const RUNNERS: [&str; 7] = ["timeout", "nohup", "nice", "time", "env", "until", "retry"];

/// The program of a command, also after one that runs another.
fn program<'t>(command: &Command<'t>) -> Option<&'t str> {
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

fn of_manifest(source: &str, facts: &Facts<'_, '_>, at: usize) -> Option<String> {
    if source == "-" || source.starts_with("/dev/") {
        // Without a pipe it is a here-document, which is read.
        return of_pipe(facts.first_of_pipe(at)?, facts);
    }
    let shown = Quoted(without_credentials(source));
    if source.contains("://") || facts.downloads.contains(source) {
        return Some(format!(
            "`kubectl` applies {shown}, which is downloaded at boot"
        ));
    }
    (!facts.is_known(source))
        .then(|| format!("`kubectl` applies {shown}, which the config does not write"))
}

/// What fills the pipe that `kubectl` applies, unless its text is known, or that command is reported
/// itself.
fn of_pipe(first: &Command<'_>, facts: &Facts<'_, '_>) -> Option<String> {
    let words: Vec<String> = first.words.iter().map(|word| unquoted(word)).collect();
    let program = program(first)?;
    let is_reported = DOWNLOADERS.contains(&program) || installer(program, &words).is_some();
    if is_reported || matches!(program, "echo" | "printf") {
        return None;
    }
    if FILTERS.contains(&program) {
        let mut paths = words.iter().map(|word| word.trim_start_matches('<'));
        let path = paths.rfind(|word| word.starts_with('/'))?;
        let shown = Quoted(path);
        return (!facts.is_known(path))
            .then(|| format!("`kubectl` applies {shown}, which the config does not write"));
    }
    // `kubectl create --dry-run` prints what its flags say.
    if program == "kubectl" && !words.iter().any(|word| word == "kustomize") {
        return None;
    }
    Some(format!(
        "`kubectl` applies the output of `{}`",
        Quoted(program)
    ))
}

/// A download that a shell or `kubectl` reads from a pipe, or that becomes a static pod.
fn of_download(script: &Script<'_>, command: &Command<'_>) -> Option<String> {
    let output = output(command);
    if output.is_some_and(|path| is_static_pod(&path)) {
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
        let mut words = at.words.iter().map(|word| unquoted(word));
        if at.program() == Some("tee") && words.any(|word| is_static_pod(&word)) {
            return Some("a static pod is downloaded at boot".to_owned());
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

/// The file after `-o`, `-O` or `>`; else the one that the URL names, where the program writes it.
fn output(command: &Command<'_>) -> Option<String> {
    let is_wget = command.program() == Some("wget");
    named_output(command, is_wget).or_else(|| {
        let mut words = command.words.iter().map(|word| unquoted(word));
        let is_flag = |word: String| {
            word == "--remote-name"
                || word.starts_with('-') && !word.starts_with("--") && word.ends_with('O')
        };
        let mut urls = command.words.iter().map(|word| unquoted(word));
        let url = urls.rfind(|word| word.contains("://"))?;
        let path = url.split(['?', '#']).next()?;
        (is_wget || words.any(is_flag)).then(|| path.rsplit('/').next().map(str::to_owned))?
    })
}

fn named_output(command: &Command<'_>, is_wget: bool) -> Option<String> {
    let mut words = command.words.iter().map(|word| unquoted(word));
    while let Some(word) = words.next() {
        let attached = ["--output=", "--output-document=", ">"]
            .iter()
            .find_map(|flag| word.strip_prefix(flag));
        match (word.as_str(), attached) {
            (">" | "--output" | "--output-document", _) => return words.next(),
            (_, Some(path)) => return Some(path.to_owned()),
            (flags, None) if is_wget && is_cluster_with(flags, 'O') => return words.next(),
            // Flags of one letter may stand together: `-fsSLo FILE`.
            (flags, None) if is_cluster_with(flags, 'o') => return words.next(),
            _ => {}
        }
    }
    None
}

/// Whether a word is a cluster of one-letter flags that ends with this one.
fn is_cluster_with(word: &str, letter: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with(letter)
}

/// The files that a command may run: itself, the operand of a shell, or any operand of a program that
/// runs others.
fn executed<'w>(command: &Command<'_>, words: &'w [String]) -> Vec<&'w str> {
    let operands = words
        .iter()
        .map(String::as_str)
        .filter(|word| !matches!(*word, "sudo" | "exec" | "source" | "."))
        .filter(|word| !word.starts_with('-'));
    let operands: Vec<&str> = operands.collect();
    match operands.first() {
        Some(first) if RUNNERS.contains(first) => operands,
        _ if command.is_shell() => operands.into_iter().skip(1).take(1).collect(),
        _ => operands.into_iter().take(1).collect(),
    }
}

/// The files that the config writes, and those that its scripts write: with `>`, and with `tee`.
fn written(commands: &[Command<'_>], files: &[FileText]) -> BTreeSet<String> {
    let of_commands = commands
        .iter()
        .filter(|command| matches!(command.program(), Some("cat" | "tee" | "echo" | "printf")))
        .flat_map(|command| {
            let is_tee = command.program() == Some("tee");
            let plain: Vec<String> = command.words.iter().map(|word| unquoted(word)).collect();
            let is_target = |at: usize| {
                is_tee
                    || plain[at].starts_with('>')
                    || at > 0 && matches!(plain[at - 1].as_str(), ">" | ">>")
            };
            let targets = (0..plain.len()).filter(|at| is_target(*at));
            targets
                .map(|at| plain[at].trim_start_matches('>').to_owned())
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

    fn found(text: &str) -> Vec<String> {
        let script = shell::read(text);
        let found = sources(&script, &[]);
        found
            .into_iter()
            .map(|(_, what)| windlass_source::diag::Text::from(what).as_str().to_owned())
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
                "wget -qO /tmp/i.sh https://x; bash /tmp/i.sh\n",
                "/tmp/i.sh is downloaded and run at boot",
            ),
            (
                "curl -LO https://x/y.sh\nbash y.sh\n",
                "y.sh is downloaded and run at boot",
            ),
            (
                "wget https://x/y.sh?a=b\nchmod +x y.sh\n./y.sh\n",
                "./y.sh is downloaded and run at boot",
            ),
            (
                "curl -o /tmp/i.sh https://x\ntimeout 60 /tmp/i.sh\n",
                "/tmp/i.sh is downloaded and run at boot",
            ),
            (
                "bash -c 'curl -sfL https://x | sh -'\n",
                "a script is downloaded and run at boot",
            ),
            (
                "sh -c \"$(curl -fsSL https://x)\"\n",
                "a script is downloaded and run at boot",
            ),
            (
                "cat /etc/images | xargs -n1 crictl pull\n",
                "`xargs` passes image names to a program",
            ),
            (
                "sudo kubeadm config images pull --kubernetes-version v1.34.1\n",
                "`kubeadm config images pull` uses its own version and repository",
            ),
            (
                "cat /opt/a.yaml\nkubectl apply -f /opt/a.yaml\n",
                "`kubectl` applies /opt/a.yaml, which the config does not write",
            ),
            (
                "cat /opt/cni.yaml | kubectl apply -f -\n",
                "`kubectl` applies /opt/cni.yaml, which the config does not write",
            ),
            (
                "kubectl kustomize https://x | kubectl apply -f -\n",
                "`kubectl` applies the output of `kubectl`",
            ),
            (
                "curl https://x | tee /etc/kubernetes/manifests/x.yaml\n",
                "a static pod is downloaded at boot",
            ),
            ("docker compose up -d\n", "a compose file is run at boot"),
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
            "echo x | kubectl apply -f -\n",
            "echo x | tee /opt/a.yaml\ncat /opt/a.yaml | sed s/a/b/ | kubectl apply -f -\n",
            "kubectl create ns a --dry-run=client -o yaml | kubectl apply -f -\n",
            "wget -O /tmp/a.tgz https://x/y.sh\nbash y.sh\n",
            "helm version\n",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
