//! The steps of an Ignition document, versions 2 and 3 (<https://coreos.github.io/ignition/specs/>).

use std::collections::BTreeMap;

use serde_json::Value;

use super::content::unpacked;
use super::findings::{CONTENT_UNDECODABLE, DOCUMENT_INVALID};
use super::shell::{self, Reading, WHOLE};
use super::step::{Action, Failure, FileOnNode, Step};
use windlass_bootstrap::render::write::ignition::data_url;
use windlass_capi::api::secret::Sensitive;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report};
use windlass_source::url::without_credentials;

/// Lists of the document whose items are told by one field, in the order in which Ignition takes
/// them: stage, section, list, field.
const LISTS: [(&str, &str, &str, &str); 8] = [
    ("disks", "storage", "disks", "device"),
    ("disks", "storage", "raid", "name"),
    ("disks", "storage", "luks", "name"),
    ("disks", "storage", "filesystems", "path"),
    ("files", "passwd", "groups", "name"),
    ("files", "passwd", "users", "name"),
    ("files", "storage", "directories", "path"),
    ("files", "storage", "links", "path"),
];

/// Whether a version has a specification, or had one while it was made. Which of 3 a machine reads
/// depends on its Ignition; each has its own minor version, and none a patch. The last of 2 never
/// left its experiment.
fn is_specified(version: &str) -> bool {
    let parts: Vec<&str> = version
        .strip_suffix("-experimental")
        .unwrap_or(version)
        .split('.')
        .collect();
    match parts[..] {
        ["2", "5", "0"] => version.ends_with("-experimental"),
        ["2", minor, "0"] => matches!(minor, "0" | "1" | "2" | "3" | "4"),
        ["3", minor, "0"] => minor
            .parse::<u8>()
            .is_ok_and(|number| number.to_string() == minor),
        _ => false,
    }
}

/// The steps of a document, at most so many, in the order in which Ignition takes them, and then
/// systemd. With the version.
pub(crate) fn steps(
    source: &Source,
    most: usize,
    budget: &Budget,
    report: &mut Report,
) -> (String, Vec<Step>) {
    let root: Value = match serde_json::from_str(source.text()) {
        Ok(root) => root,
        Err(error) => {
            let before: usize = source
                .text()
                .split_inclusive('\n')
                .take(error.line().saturating_sub(1))
                .map(str::len)
                .sum();
            let at = (before + error.column().saturating_sub(1)).min(source.text().len());
            // The message of the reader may quote what it met.
            let finding =
                Diagnostic::of(&DOCUMENT_INVALID, "the document is not JSON from here on")
                    .at(source.place_at(at..at));
            report.push(
                finding.help("Ignition rejects the whole document, and the machine does not boot"),
            );
            return (String::new(), Vec::new());
        }
    };
    let version = root["ignition"]["version"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    if !is_specified(&version) {
        let message = "`ignition.version` is not a version of the specification, which has 2.0.0 to 2.4.0, and 3.0.0, 3.1.0 and so on";
        let finding = Diagnostic::of(&DOCUMENT_INVALID, message).at(source.place());
        report.push(
            finding.help("write a version that the machine's Ignition reads, such as \"3.4.0\""),
        );
    }
    let mut steps = Vec::new();
    for (by, what) in further(&root) {
        steps.push(step("fetch", by, Action::Other(what)));
    }
    for (stage, section, list, field) in LISTS {
        for (index, item) in items(&root, section, list).iter().enumerate() {
            let name = item[field]
                .as_str()
                .or_else(|| item["name"].as_str())
                .unwrap_or("(unnamed)")
                .to_owned();
            steps.push(step(
                stage,
                format!("{section}.{list}[{index}]"),
                Action::Other(name),
            ));
        }
    }
    for (index, item) in items(&root, "storage", "files").iter().enumerate() {
        steps.push(step(
            "files",
            format!("storage.files[{index}]"),
            Action::File(file(source, index, item, budget, report)),
        ));
    }
    units(&root, most, &mut steps);
    steps.truncate(most);
    (version, steps)
}

fn step(stage: &'static str, by: String, action: Action) -> Step {
    Step {
        stage,
        by,
        action,
        failure: Failure::StopsBoot,
        lines: None,
        at: 0,
        sentinel: None,
    }
}

fn items<'v>(root: &'v Value, section: &str, list: &str) -> &'v [Value] {
    root[section][list]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// Documents elsewhere that are merged with this one or take its place.
fn further(root: &Value) -> Vec<(String, String)> {
    let config = &root["ignition"]["config"];
    let mut found = Vec::new();
    for list in ["merge", "append"] {
        for (index, item) in config[list]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            found.push((format!("ignition.config.{list}[{index}]"), address(item)));
        }
    }
    if config["replace"]["source"].is_string() {
        found.push((
            "ignition.config.replace".to_owned(),
            address(&config["replace"]),
        ));
    }
    found
}

/// The address of a resource that is in the document itself.
pub(super) const IN_THE_DOCUMENT: &str = "in the document";

/// Where a resource is: what follows `?` in an address may be a signature, and a data URL is the
/// content itself.
fn address(resource: &Value) -> String {
    let source = resource["source"].as_str().unwrap_or_default();
    if source.starts_with("data:") {
        IN_THE_DOCUMENT.to_owned()
    } else {
        let address = source.split(['?', '#']).next().unwrap_or_default();
        without_credentials(address).into_owned()
    }
}

fn file(
    source: &Source,
    index: usize,
    item: &Value,
    budget: &Budget,
    report: &mut Report,
) -> FileOnNode {
    let text = |value: &Value| {
        value
            .as_str()
            .map(str::to_owned)
            .or_else(|| value.as_u64().map(|id| id.to_string()))
            .unwrap_or_default()
    };
    let named = |who: &str| match text(&item[who]["name"]) {
        name if name.is_empty() => text(&item[who]["id"]),
        name => name,
    };
    let owner = match (named("user"), named("group")) {
        (user, group) if group.is_empty() => user,
        (user, group) => format!("{user}:{group}"),
    };
    let path = text(&item["path"]);
    let appended = item["append"].as_array().and_then(|append| append.first());
    let contents = appended.unwrap_or(&item["contents"]);
    let content = match content(contents, budget) {
        Some(Err(fault)) => {
            let message = format!("the content of {path}, storage.files[{index}], {fault}");
            let finding = Diagnostic::of(&CONTENT_UNDECODABLE, message).at(source.place());
            report.push(
                finding.help("Ignition rejects the whole document, and the machine does not boot"),
            );
            None
        }
        Some(Ok(bytes)) => Some(Sensitive::new(bytes)),
        None => None,
    };
    let append = appended.is_some() || item["append"] == true;
    let mode = item["mode"]
        .as_u64()
        .map(|mode| format!("{mode:04o}"))
        .unwrap_or_default();
    FileOnNode {
        path,
        owner,
        mode,
        is_mode_plain: false,
        append,
        is_deferred: false,
        content,
    }
}

/// The content of a file when it is in the document; nothing for one that is fetched.
fn content(contents: &Value, budget: &Budget) -> Option<Result<Vec<u8>, String>> {
    let url = contents["source"].as_str().unwrap_or("data:,");
    if !url.starts_with("data:") && !url.is_empty() {
        return None;
    }
    let data = if url.is_empty() {
        Ok(Vec::new())
    } else {
        data_url::read(url).map_err(|_| "is not a data URL".to_owned())
    };
    Some(
        data.and_then(|data| match contents["compression"].as_str() {
            Some("gzip") => unpacked(&data, budget).map_err(|fault| format!("is {fault}")),
            _ => Ok(data),
        }),
    )
}

/// Units, which are written last and started when the system boots; after each that is started the
/// lines of the script that it runs. No more are added once there are `most` steps.
fn units(root: &Value, most: usize, steps: &mut Vec<Step>) {
    let units = items(root, "systemd", "units");
    for (index, unit) in units.iter().enumerate() {
        let name = unit["name"].as_str().unwrap_or("(unnamed)");
        let dropins = unit["dropins"].as_array().map_or(0, Vec::len);
        let state = match (&unit["mask"], &unit["enabled"], &unit["enable"]) {
            (Value::Bool(true), ..) => ", masked",
            (_, Value::Bool(true), _) | (.., Value::Bool(true)) => ", enabled",
            _ => "",
        };
        let what = format!(
            "{name}{state}{}",
            if dropins > 0 {
                format!(", drop-ins: {dropins}")
            } else {
                String::new()
            }
        );
        steps.push(step(
            "files",
            format!("systemd.units[{index}]"),
            Action::Other(what),
        ));
    }
    let is_started = |unit: &&Value| unit["enabled"] == true || unit["enable"] == true;
    let mut scripts: BTreeMap<&str, &str> = BTreeMap::new();
    for step in steps.iter() {
        let Action::File(file) = &step.action else {
            continue;
        };
        if let Some(text) = file
            .content
            .as_ref()
            .and_then(|content| std::str::from_utf8(content.expose()).ok())
        {
            scripts.entry(&file.path).or_insert(text);
        }
    }
    let mut started = Vec::new();
    for unit in units.iter().filter(is_started) {
        let name = unit["name"].as_str().unwrap_or_default();
        for line in unit["contents"].as_str().unwrap_or_default().lines() {
            if steps.len() + started.len() >= most {
                break;
            }
            let Some(command) = line.strip_prefix("ExecStart=") else {
                continue;
            };
            started.extend(of_command(
                name,
                command.trim_start_matches(['-', '+', '!', '@', ':']),
                &scripts,
            ));
        }
    }
    steps.append(&mut started);
}

/// What a unit runs: the lines of a script that the document has, or else its command.
fn of_command(unit: &str, command: &str, scripts: &BTreeMap<&str, &str>) -> Vec<Step> {
    let run = |by: String, command: &str, failure: Failure, lines, sentinel| Step {
        stage: "boot",
        by,
        action: Action::Command(Sensitive::new(command.to_owned())),
        failure,
        lines,
        at: 0,
        sentinel,
    };
    let path = command
        .split_whitespace()
        .find(|word| word.starts_with('/') && !word.ends_with("/bash") && !word.ends_with("/sh"));
    let Some(text) = path.and_then(|path| scripts.get(path)) else {
        let sentinel = Reading::of(command, false).sentinel(&WHOLE);
        return vec![run(
            unit.to_owned(),
            command,
            Failure::OfUnit,
            None,
            sentinel,
        )];
    };
    let reading = Reading::of_file(text);
    let step = |(line, command): (u32, &str)| {
        let (first, count) = (
            usize::try_from(line).unwrap_or(usize::MAX),
            command.lines().count(),
        );
        let lines = shell::lines(first, count);
        let failure = match reading.failure(&lines) {
            Failure::Reported => Failure::OfUnit,
            failure => failure,
        };
        run(
            format!("{unit}, line {line}"),
            command,
            failure,
            Some((first, count)),
            reading.sentinel(&lines),
        )
    };
    reading.steps().into_iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Vec<Step>, Report) {
        let mut report = Report::new();
        let (version, steps) = steps(
            &Source::new("f", text),
            10_000,
            &Budget::default(),
            &mut report,
        );
        (version, steps, report)
    }

    #[test]
    fn steps_are_in_the_order_of_the_stages() {
        let text = r##"{"ignition":{"version":"3.4.0","config":{"merge":[{"source":"https://x/y?signature=hunter2"}]}},
            "systemd":{"units":[{"name":"k.service","enabled":true,"contents":"[Service]\nExecStart=/bin/bash /k.sh\n"}]},
            "storage":{"files":[{"path":"/k.sh","mode":448,"contents":{"source":"data:,%23!%2Fbin%2Fbash%0Aset%20-e%0A%0Akubeadm%20join%0A"}}],
                "disks":[{"device":"/dev/sdb"}]},
            "passwd":{"users":[{"name":"core","passwordHash":"hunter2"}]}}"##;
        let (version, steps, report) = read(text);
        assert!(report.is_empty(), "{report:?}");
        assert_eq!(version, "3.4.0");
        let shown: Vec<_> = steps
            .iter()
            .map(|step| (step.stage, step.by.as_str(), step.failure.as_str()))
            .collect();
        let expected = [
            ("fetch", "ignition.config.merge[0]", "stops-boot"),
            ("disks", "storage.disks[0]", "stops-boot"),
            ("files", "passwd.users[0]", "stops-boot"),
            ("files", "storage.files[0]", "stops-boot"),
            ("files", "systemd.units[0]", "stops-boot"),
            ("boot", "k.service, line 2", "goes-on"),
            ("boot", "k.service, line 4", "ends-script"),
        ];
        assert_eq!(shown, expected);
        assert!(!format!("{steps:?}").contains("hunter2"));
        let Action::File(file) = &steps[3].action else {
            panic!("internal error: a file")
        };
        assert_eq!(file.mode, "0700");
    }

    /// Ignition compares the whole version, and rejects what it does not know
    /// (`config/v3_4/config.go`, `Parse`).
    #[test]
    fn versions_are_those_that_are_specified() {
        let is_told = |version: &str| {
            !read(&format!("{{\"ignition\":{{\"version\":\"{version}\"}}}}"))
                .2
                .is_empty()
        };
        for version in [
            "2.0.0",
            "2.4.0",
            "3.0.0",
            "3.5.0",
            "3.12.0",
            "3.6.0-experimental",
            "2.4.0-experimental",
            "2.5.0-experimental",
        ] {
            assert!(!is_told(version), "{version}");
        }
        for version in [
            "", "1.0.0", "2.5.0", "2.10.0", "3", "3.4", "3.4.1", "3.04.0", "3.x.0", "3.4.0.0",
            "3.999.0", "4.0.0", "33.0.0", " 3.4.0",
        ] {
            assert!(is_told(version), "{version}");
        }
        assert!(!read("{\"ignition\":{\"version\":3}}").2.is_empty() && !read("{}").2.is_empty());
    }

    #[test]
    fn a_broken_document_is_told_with_its_line_and_column() {
        let (_, _, report) =
            read("{\n  \"ignition\": {\"version\": \"3.4.0\"},\n  \"a\": hunter2\n}");
        let finding = &report.findings()[0];
        let start = finding.place.span.unwrap().start;
        assert_eq!(
            (finding.rule.id, start.line),
            ("inspect-document-invalid", 3)
        );
        assert!(!finding.message.contains("hunter2"));
        assert_eq!(
            read(&"[".repeat(100_000)).2.findings().len(),
            1,
            "deep nesting neither panics nor hangs"
        );
    }

    #[test]
    fn contents_that_cannot_be_decoded_are_told() {
        let file = |contents: &str| {
            let text = format!(
                "{{\"ignition\":{{\"version\":\"3.4.0\"}},\"storage\":{{\"files\":[{{\"path\":\"/a\",\"contents\":{contents}}}]}}}}"
            );
            read(&text)
                .2
                .findings()
                .iter()
                .map(|finding| finding.rule.id)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            file(r#"{"source":"data:;base64,!"}"#),
            ["inspect-content-undecodable"]
        );
        assert_eq!(
            file(r#"{"source":"data:,x","compression":"gzip"}"#),
            ["inspect-content-undecodable"]
        );
        assert!(file(r#"{"source":"https://x/y"}"#).is_empty() && file("{}").is_empty());
    }

    /// A kilobyte of gzip holds it.
    #[test]
    fn a_unit_that_runs_a_long_script_again_and_again_is_cut() {
        let script = "a%0A".repeat(9_000);
        let unit = "ExecStart=/s.sh\\n".repeat(3_000);
        let text = format!(
            r#"{{"ignition":{{"version":"3.4.0"}},"storage":{{"files":[{{"path":"/s.sh","contents":{{"source":"data:,{script}"}}}}]}},
                "systemd":{{"units":[{{"name":"u","enabled":true,"contents":"{unit}"}}]}}}}"#
        );
        assert_eq!(read(&text).1.len(), 10_000);
    }
}
