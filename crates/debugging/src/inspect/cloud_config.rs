//! The steps of a cloud-config document.

use super::content::of_write_files;
use super::findings::{CONTENT_UNDECODABLE, DOCUMENT_INVALID, KEY_UNREAD};
use super::order::{MODULES, Module, READ_OTHERWISE};
use super::scripts;
use super::shell::{self, Reading};
use super::step::{Action, Document, Failure, FileOnNode, Step};
use super::windows;
use windlass_capi::api::secret::Sensitive;
use windlass_go_yaml::yaml::{self, Mapping, Node, Value};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::cut::cut;
use windlass_source::diag::{Diagnostic, Report};

/// Reads a document into its steps, at most so many, in the order in which cloud-init takes them,
/// and its keys. Jinja is read as it stands.
pub(super) fn read(
    source: &Source,
    document: &mut Document,
    most: usize,
    budget: &Budget,
    report: &mut Report,
) {
    let parsed = yaml::parse(source, budget);
    let faults = parsed.report.into_iter().map(|finding| {
        if document.has_jinja {
            finding.note(JINJA_FIRST)
        } else {
            finding
        }
    });
    report.extend(faults);
    let Some(first) = parsed.documents.first() else {
        return;
    };
    if parsed.documents.len() > 1 {
        let finding = Diagnostic::of(
            &DOCUMENT_INVALID,
            "cloud-init reads one YAML document, and here are several",
        )
        .at(source.place());
        report.push(finding.help("put the documents together, or into parts of a MIME message"));
    }
    let Some(root) = first.root.as_mapping() else {
        if !first.root.is_null() {
            let place = source.place_at(first.root.span);
            let finding = Diagnostic::of(
                &DOCUMENT_INVALID,
                "cloud-config is a map of keys, and this is not a map",
            )
            .at(place);
            report
                .push(finding.help("begin each line at the margin with a key, such as `runcmd:`"));
        }
        return;
    };
    unread_keys(source, root, report);
    for module in MODULES {
        of_module(
            source,
            root,
            module,
            (most, budget),
            &mut document.steps,
            report,
        );
    }
    document.steps.truncate(most);
    document.keys = root
        .iter()
        .map(|entry| (entry.key.clone(), entry.key_span.start()))
        .collect();
    document.users = names(root, "users");
    document.groups = names(root, "groups");
    document.merges = MERGING.iter().any(|key| root.get(key).is_some());
}

/// Keys with which a document says how it is merged.
const MERGING: [&str; 2] = ["merge_how", "merge_type"];

/// Said where a document with jinja does not parse.
pub const JINJA_FIRST: &str =
    "cloud-init evaluates the Jinja of the document first; windlass parses it unevaluated";

fn unread_keys(source: &Source, root: &Mapping, report: &mut Report) {
    let is_read = |key: &str| {
        MODULES.iter().any(|module| module.keys.contains(&key)) || READ_OTHERWISE.contains(&key)
    };
    for entry in root.iter().filter(|entry| !is_read(&entry.key)).take(20) {
        let finding = Diagnostic::of(
            &KEY_UNREAD,
            "no module of cloud-init that is known here reads this key",
        )
        .at(source.place_at(entry.key_span));
        report
            .push(finding.help(
                "look it up in cloud-init's module reference; a misspelt key is passed over",
            ));
    }
}

fn of_module(
    source: &Source,
    root: &Mapping,
    module: &Module,
    (most, budget): (usize, &Budget),
    steps: &mut Vec<Step>,
    report: &mut Report,
) {
    // cloudbase-init catches the failure of each entry (`cloudconfigplugins/write_files.py`).
    let failure = match is_windows(root) {
        true => Failure::GoesOn,
        false => module.failure(),
    };
    let step = |by: String, action: Action, at: usize| Step {
        stage: module.stage,
        by,
        action,
        failure,
        lines: None,
        at,
        sentinel: None,
    };
    match module.name {
        "write_files" | "write_files_deferred" => {
            report.extend(
                no_list(source, root, "write_files").filter(|_| module.name == "write_files"),
            );
            let wanted = module.name == "write_files_deferred";
            for (index, item) in items(root, "write_files").iter().enumerate().take(most) {
                let defer = item
                    .as_mapping()
                    .and_then(|item| item.get("defer"))
                    .is_some_and(|entry| entry.value.value == Value::Bool(true));
                if defer == wanted {
                    let mut file = file(source, item, budget, report);
                    file.is_deferred = defer;
                    steps.push(step(
                        format!("write_files[{index}]"),
                        Action::File(file),
                        item.span.start(),
                    ));
                }
            }
        }
        "bootcmd" => steps.extend(commands(
            source,
            root,
            "bootcmd",
            module.stage,
            most,
            report,
        )),
        "scripts_user" => {
            steps.extend(commands(source, root, "runcmd", module.stage, most, report))
        }
        _ => {
            for entry in module.keys.iter().filter_map(|key| root.get(key)) {
                let what = summary(&entry.key, &entry.value);
                steps.push(step(
                    entry.key.clone(),
                    Action::Other(what),
                    entry.key_span.start(),
                ));
            }
        }
    }
}

fn items<'n>(root: &'n Mapping, key: &str) -> &'n [Node] {
    root.get(key)
        .and_then(|entry| entry.value.as_sequence())
        .unwrap_or_default()
}

/// That a key whose value cloud-init goes through is not a list; of nothing nothing is asked.
fn no_list(source: &Source, root: &Mapping, key: &str) -> Option<Diagnostic> {
    let value = root
        .get(key)
        .map(|entry| &entry.value)
        .filter(|value| value.as_sequence().is_none() && !value.is_null())?;
    let finding = Diagnostic::of(
        &DOCUMENT_INVALID,
        format!("`{key}` is not a list, so cloud-init applies none of it"),
    )
    .at(source.place_at(value.span));
    Some(finding.help("begin each entry with `- `"))
}

/// The first entry that is neither a text nor a list of words: cloud-init takes none of them then
/// (`util.shellify`).
fn no_command(source: &Source, items: &[Node], key: &str) -> Option<Diagnostic> {
    let is_none = |item: &Node| {
        matches!(
            item.value,
            Value::Mapping(_) | Value::Bool(_) | Value::Number(_)
        )
    };
    let (index, item) = items.iter().enumerate().find(|(_, item)| is_none(item))?;
    let message = format!(
        "`{key}[{index}]` is neither a text nor a list of words, so that nothing of `{key}` runs"
    );
    let finding = Diagnostic::of(&DOCUMENT_INVALID, message).at(source.place_at(item.span));
    Some(finding.help(
        "put the command in quotes: `: ` makes a map of it, and a number or `true` is not text",
    ))
}

/// Whether the node has Windows, where cloudbase-init reads the document: a file has a drive.
fn is_windows(root: &Mapping) -> bool {
    let path = |item: &Node| {
        item.as_mapping()?
            .get("path")?
            .value
            .as_str()
            .map(windows::has_drive)
    };
    items(root, "write_files")
        .iter()
        .any(|item| path(item) == Some(true))
}

/// Commands, which all run in one script of `/bin/sh` (`util.shellify`): a text as it is, a list as
/// quoted words. On Windows it is a batch file, which goes on behind what fails, and words are put
/// together as they are (cloudbase-init, `cloudconfigplugins/runcmd.py`).
fn commands(
    source: &Source,
    root: &Mapping,
    key: &'static str,
    stage: &'static str,
    most: usize,
    report: &mut Report,
) -> Vec<Step> {
    report.extend(no_list(source, root, key));
    report.extend(no_command(source, items(root, key), key));
    let is_windows = is_windows(root);
    let numbered = items(root, key).iter().enumerate().take(most);
    let commands: Vec<(usize, &Node, String)> = numbered
        .filter_map(|(index, item)| Some((index, item, command(item, is_windows)?)))
        .collect();
    let script: String = std::iter::once("#!/bin/sh\n".to_owned())
        .chain(commands.iter().map(|(.., command)| format!("{command}\n")))
        .collect();
    let reading = (!is_windows).then(|| Reading::of(&script, false));
    let mut line = 2;
    let mut steps = Vec::with_capacity(commands.len());
    // A batch file up to the first line that writes the sentinel file.
    let mut batch = is_windows.then(String::new);
    for (index, item, command) in commands {
        let count = command.split('\n').count();
        let lines = shell::lines(line, count);
        let (failure, sentinel) = match &reading {
            Some(reading) => (reading.failure(&lines), reading.sentinel(&lines)),
            None => (Failure::GoesOn, sentinel_of_batch(&mut batch, &command)),
        };
        let action = Action::Command(Sensitive::new(command));
        steps.push(Step {
            stage,
            by: format!("{key}[{index}]"),
            action,
            failure,
            lines: Some((line, count)),
            at: item.span.start(),
            sentinel,
        });
        line += count;
    }
    if let Some((step, finding)) = reading
        .and_then(|reading| reading.unclosed())
        .and_then(|unclosed| scripts::of_list(&steps, unclosed))
    {
        report.push(finding.at(source.place_at(step.at..step.at)));
    }
    steps
}

/// Whether a line of a batch file is the first that writes the sentinel file, and only
/// when what stands before it succeeded.
fn sentinel_of_batch(batch: &mut Option<String>, command: &str) -> Option<bool> {
    let before = batch.as_mut()?;
    before.push_str(command);
    before.push('\n');
    windows::sentinel(command)?;
    let conditional = windows::sentinel(before);
    *batch = None;
    conditional
}

/// An item of `runcmd` as the script has it.
fn command(item: &Node, is_windows: bool) -> Option<String> {
    match &item.value {
        Value::Sequence(words) => {
            let quoted = |word: String| format!("'{}'", word.replace('\'', r"'\''"));
            let word = |word: &Node| {
                if is_windows {
                    scalar(word)
                } else {
                    quoted(scalar(word))
                }
            };
            Some(words.iter().map(word).collect::<Vec<_>>().join(" "))
        }
        Value::Null | Value::Mapping(_) => None,
        _ => Some(scalar(item)),
    }
}

fn scalar(node: &Node) -> String {
    match &node.value {
        Value::String(text) => text.clone(),
        Value::Bool(bool) => bool.to_string(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

fn file(source: &Source, item: &Node, budget: &Budget, report: &mut Report) -> FileOnNode {
    let field = |name: &str| {
        item.as_mapping()
            .and_then(|item| item.get(name))
            .map(|entry| &entry.value)
    };
    let text = |name: &str| field(name).map(scalar).unwrap_or_default();
    let path = text("path");
    let content = match (field("content"), field("source")) {
        (None, Some(_)) => None,
        (content, _) => {
            let encoded = content.map(scalar).unwrap_or_default();
            match of_write_files(&encoded, &text("encoding"), budget) {
                Ok(bytes) => Some(Sensitive::new(bytes)),
                Err(fault) => {
                    let place = source.place_at(content.map_or(item.span, |content| content.span));
                    let message = format!("the content of {path} is {fault}");
                    let finding = Diagnostic::of(&CONTENT_UNDECODABLE, message).at(place);
                    report.push(
                        finding.help("encode it as `encoding` says, or leave `encoding` out"),
                    );
                    None
                }
            }
        }
    };
    let append = field("append").is_some_and(|append| append.value == Value::Bool(true));
    FileOnNode {
        path,
        owner: text("owner"),
        mode: field("permissions")
            .map(|node| written(source, node))
            .unwrap_or_default(),
        is_mode_plain: field("permissions")
            .is_some_and(|node| !source.text()[node.span.start()..].starts_with(['"', '\''])),
        append,
        is_deferred: false,
        content,
    }
}

/// A scalar as the document has it: `0644` without quotes is a number, whose digits matter.
fn written(source: &Source, node: &Node) -> String {
    match node.value {
        Value::Number(_) => cut(source.text(), node.span.start()..node.span.end())
            .trim()
            .to_owned(),
        _ => scalar(node),
    }
}

/// The names of the users or groups that a document creates (`ug_util.normalize_users_groups`):
/// items are names or maps, and `groups` has maps of names to members.
pub(super) fn names(root: &Mapping, key: &str) -> Vec<String> {
    let mut found = Vec::new();
    for item in items(root, key) {
        match item.as_mapping() {
            Some(item) if key == "users" => {
                found.extend(item.get("name").map(|name| scalar(&name.value)))
            }
            Some(item) => found.extend(item.iter().map(|entry| entry.key.clone())),
            None => found.extend(scalar(item).split(',').map(|name| name.trim().to_owned())),
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// What a key asks for, in words that hold no secret.
fn summary(key: &str, value: &Node) -> String {
    match &value.value {
        Value::Sequence(items) if key == "users" || key == "groups" => {
            let name = |item: &Node| match item.as_mapping().and_then(|item| item.get("name")) {
                Some(name) => scalar(&name.value),
                None => item.as_str().unwrap_or("(unnamed)").to_owned(),
            };
            items
                .iter()
                .take(20)
                .map(name)
                .collect::<Vec<_>>()
                .join(", ")
        }
        Value::Sequence(items) => crate::inspect::counted(items.len(), "entry", "entries"),
        Value::Mapping(mapping) => crate::inspect::counted(mapping.iter().count(), "key", "keys"),
        Value::Bool(bool) => bool.to_string(),
        _ => "set".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<Step>, Report) {
        let (mut report, mut document) = (Report::new(), Document::of("f", text));
        super::read(
            &Source::new("f", text),
            &mut document,
            10_000,
            &Budget::default(),
            &mut report,
        );
        (document.steps, report)
    }

    fn shown(steps: &[Step]) -> Vec<(&str, &str)> {
        steps
            .iter()
            .map(|step| (step.stage, step.by.as_str()))
            .collect()
    }

    /// cloudbase-init runs `runcmd` as a batch file; the data is that of `platform: windows`.
    #[test]
    fn commands_of_windows_are_no_shell() {
        let text = |path: &str, last: &str| {
            format!(
                "write_files:\n- path: {path}\nruncmd:\n- if not exist \"C:\\k\" mkdir \"C:\\k\"\n- kubeadm join{last}\n"
            )
        };
        let sentinel = r"C:\run\cluster-api\bootstrap-success.complete";
        let of = |path: &str, last: &str| {
            let (steps, report) = read(&text(path, last));
            (
                steps
                    .iter()
                    .map(|step| (step.failure, step.sentinel))
                    .skip(1)
                    .collect::<Vec<_>>(),
                report.is_empty(),
            )
        };
        for path in [r"C:\k\a", "d:/k/a"] {
            let goes_on = |sentinel| (Failure::GoesOn, sentinel);
            assert_eq!(
                of(path, &format!(" && echo success > {sentinel}")),
                (vec![goes_on(None), goes_on(Some(true))], true),
                "{path}"
            );
            assert_eq!(
                of(path, &format!(" & echo success > {sentinel}")),
                (vec![goes_on(None), goes_on(Some(false))], true),
                "{path}"
            );
            assert_eq!(
                of(path, &format!(" {sentinel}")),
                (vec![goes_on(None), goes_on(None)], true),
                "{path}"
            );
        }
        for path in ["/k/a", "C:k", "1:/k", "CC:/k"] {
            assert!(!of(path, "").1, "{path}: `if` of a shell is never closed");
        }
    }

    #[test]
    fn what_is_no_command_is_told() {
        let told = |entries: &str| {
            let (_, report) = read(&format!("runcmd: {entries}\n"));
            let line = |finding: &Diagnostic| finding.place.span.unwrap().start.column;
            report
                .findings()
                .iter()
                .map(|finding| (line(finding), finding.message.to_string()))
                .collect::<Vec<_>>()
        };
        let expected = |column, index| {
            vec![(
                column,
                format!(
                    "`runcmd[{index}]` is neither a text nor a list of words, so that nothing of `runcmd` runs"
                ),
            )]
        };
        assert_eq!(told("[a, {echo b: c}, {d: e}]"), expected(13, 1));
        assert_eq!(
            (told("[5]"), told("[true]")),
            (expected(10, 0), expected(10, 0))
        );
        assert_eq!(told(r#"[a, [b, 5], "echo c: d", "5", null]"#), []);
    }

    #[test]
    fn words_of_windows_are_put_together_as_they_are() {
        let of = |path: &str| {
            let (steps, _) = read(&format!(
                "write_files: [{{path: '{path}'}}]\nruncmd: [[dir, \"it's\"]]\n"
            ));
            let Action::Command(command) = &steps[1].action else {
                panic!("{steps:?}")
            };
            command.expose().clone()
        };
        assert_eq!(
            (of("C:/a"), of("/a")),
            ("dir it's".to_owned(), r"'dir' 'it'\''s'".to_owned())
        );
    }

    #[test]
    fn what_must_be_a_list_is_told() {
        for key in ["runcmd", "bootcmd", "write_files"] {
            let told = |value: &str| {
                let (_, report) = read(&format!("{key}: {value}\n"));
                report
                    .findings()
                    .iter()
                    .map(|finding| finding.message.to_string())
                    .collect::<Vec<_>>()
            };
            let expected = format!("`{key}` is not a list, so cloud-init applies none of it");
            assert_eq!(
                (told("kubeadm join"), told("{a: b}")),
                (vec![expected.clone()], vec![expected]),
                "{key}"
            );
            assert_eq!((told("[]"), told("null")), (vec![], vec![]), "{key}");
        }
    }

    #[test]
    fn steps_are_in_the_order_of_cloud_init_and_not_of_the_document() {
        let text = "runcmd: [a]\nusers: [{name: u}]\nntp: {enabled: true}\nwrite_files:\n- {path: /a, defer: true}\n- {path: /b}\nbootcmd: [c]\n";
        let (steps, report) = read(text);
        assert!(report.is_empty());
        let expected = [
            ("network", "bootcmd[0]"),
            ("network", "write_files[1]"),
            ("network", "users"),
            ("config", "ntp"),
            ("final", "write_files[0]"),
            ("final", "runcmd[0]"),
        ];
        assert_eq!(shown(&steps), expected);
    }

    /// `util.shellify`: the first line of the script is `#!/bin/sh`.
    #[test]
    fn lines_of_the_script_are_counted() {
        let (steps, _) = read("runcmd:\n- a\n- |-\n  b\n  c\n- [echo, it's, 1]\n- d\n");
        let lines: Vec<_> = steps.iter().map(|step| step.lines).collect();
        assert_eq!(
            lines,
            [Some((2, 1)), Some((3, 2)), Some((5, 1)), Some((6, 1))]
        );
        let Action::Command(command) = &steps[2].action else {
            panic!("internal error: a command")
        };
        assert_eq!(command.expose(), r"'echo' 'it'\''s' '1'");
    }

    #[test]
    fn files_have_what_the_node_gets() {
        let (steps, report) = read(
            "write_files:\n- {path: /a, encoding: b64, content: aGk=, permissions: '0600', owner: 'root:root'}\n",
        );
        assert!(report.is_empty());
        let Action::File(file) = &steps[0].action else {
            panic!("internal error: a file")
        };
        assert_eq!(
            (file.path.as_str(), file.mode.as_str(), file.owner.as_str()),
            ("/a", "0600", "root:root")
        );
        assert_eq!(file.content.as_ref().unwrap().expose(), b"hi");
    }

    #[test]
    fn faults_have_a_line_and_a_column() {
        let at = |text: &str| {
            let report = read(text).1;
            let finding = &report.findings()[0];
            let start = finding.place.span.unwrap().start;
            (finding.rule.id, start.line, start.column)
        };
        assert_eq!(
            at("#cloud-config\nwrite_files:\n- path: /a\n  encoding: b64\n  content: '!'\n"),
            ("inspect-content-undecodable", 5, 12)
        );
        assert_eq!(
            at("#cloud-config\nruncmd: [a]\nrunncmd: [b]\n"),
            ("inspect-key-unread", 3, 1)
        );
        assert_eq!(
            at("#cloud-config\n- a\n"),
            ("inspect-document-invalid", 2, 1)
        );
        assert_eq!(at("#cloud-config\na: b: c\n").1, 2);
    }
}
