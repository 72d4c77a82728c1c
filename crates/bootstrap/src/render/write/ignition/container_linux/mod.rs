//! Container Linux Configs, and what the transpiler makes of them: an Ignition config, or a report
//! in its words (container-linux-config-transpiler v0.9.4).

mod config;
mod convert;
mod decode;
mod go_struct;
mod services;
mod update;
mod version;

use self::config::Config;
use self::decode::{Decoder, Failure};
use super::checked::{Keys, check};
use super::findings::{Entry, is_fatal, printed};
use super::v2;
use windlass_go_yaml::yaml_v3::{self, Document};

pub(crate) type Translation = Result<(v2::Config, Vec<Entry>), Rejection>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    /// Upstream's words.
    pub(crate) message: String,
    pub(crate) entries: Vec<Entry>,
}

impl Rejection {
    fn new(stage: &str, entries: Vec<Entry>) -> Self {
        Rejection {
            message: format!("{stage}: {}", printed(&entries)),
            entries,
        }
    }
}

/// Translates a config. `strict`: any entry rejects it; otherwise errors do, and the others come
/// with the result.
pub(crate) fn translate(text: &[u8], strict: bool) -> Translation {
    let (config, mut document, mut entries) = parse(text);
    if strict && !entries.is_empty() || is_fatal(&entries) {
        return Err(Rejection::new(
            "error parsing Container Linux Config",
            entries,
        ));
    }
    let converted = converted(config, document.as_mut());
    let (out, found) = converted;
    if strict && !found.is_empty() || is_fatal(&found) {
        return Err(Rejection::new("error converting to Ignition", found));
    }
    entries.extend(found);
    Ok((out, entries))
}

fn parse(text: &[u8]) -> (Config, Option<Document>, Vec<Entry>) {
    let mut config = Config::default();
    let document = match yaml_v3::parse(text) {
        Ok(Some(document)) => document,
        Ok(None) => return (config, None, vec![Entry::warning("Configuration is empty")]),
        Err(fault) => {
            return (
                config,
                None,
                vec![Entry {
                    at: fault.line,
                    ..Entry::error(format!("yaml: {fault}"))
                }],
            );
        }
    };
    let mut decoder = Decoder::new(&document);
    if let Err(Failure { message, line }) = decoder.value(&mut config, document.root()) {
        return (
            config,
            None,
            vec![Entry {
                at: line,
                ..Entry::error(message)
            }],
        );
    }
    if let Some((line, _)) = decoder.faults.first() {
        let faults: Vec<_> = decoder
            .faults
            .iter()
            .map(|(_, fault)| fault.as_str())
            .collect();
        let message = format!("yaml: unmarshal errors:\n  {}", faults.join("\n  "));
        return (
            config,
            None,
            vec![Entry {
                at: *line,
                ..Entry::error(message)
            }],
        );
    }
    let entries = check(
        &config,
        Some(document.root()),
        &document,
        Keys::ContainerLinux,
    );
    (config, Some(document), entries)
}

fn converted(config: Config, document: Option<&mut Document>) -> (v2::Config, Vec<Entry>) {
    let mut none = Document::default();
    let (document, is_there) = match document {
        Some(document) => (document, true),
        None => (&mut none, false),
    };
    let (out, mut entries) = convert::convert(config, document);
    if !is_fatal(&entries) {
        entries.extend(check(
            &out,
            is_there.then(|| document.root()),
            document,
            Keys::Ignition,
        ));
    }
    (out, entries)
}

// What is expected is what the transpiler itself gave for these texts.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::write::ignition::json;

    /// The part of the result after the sections that are always there, or the rejection.
    fn check(text: &str, strict: bool, expected: &str) {
        const START: &str = r#"{"ignition":{"config":{},"security":{"tls":{}},"timeouts":{},"version":"2.3.0"},"networkd":{},"passwd":{},"#;
        let found = match translate(text.as_bytes(), strict) {
            Ok((config, _)) => String::from_utf8(json::to_bytes(&config)).unwrap(),
            Err(rejection) => rejection.message,
        };
        assert_eq!(
            found.strip_prefix(START).unwrap_or(&found),
            expected,
            "{text}"
        );
    }

    #[test]
    fn sections_become_units_and_files() {
        check(
            "docker: {flags: [-D]}\nupdate: {group: Beta}\nlocksmith: {reboot_strategy: off}\n",
            true,
            r#""storage":{"files":[{"filesystem":"root","path":"/etc/coreos/update.conf","contents":{"source":"data:,GROUP%3Dbeta%0AREBOOT_STRATEGY%3D%22off%22","verification":{}},"mode":420}]},"systemd":{"units":[{"dropins":[{"contents":"[Service]\nEnvironment=\"DOCKER_OPTS=-D\"","name":"20-clct-docker.conf"}],"enable":true,"name":"docker.service"}]}}"#,
        );
        check(
            "etcd: {version: 3.3.1, name: n, debug: true}\n",
            true,
            r#""storage":{},"systemd":{"units":[{"dropins":[{"contents":"[Service]\nEnvironment=\"ETCD_IMAGE_TAG=v3.3.1\"\nExecStart=\nExecStart=/usr/lib/coreos/etcd-wrapper $ETCD_OPTS \\\n  --name=\"n\" \\\n  --debug=true","name":"20-clct-etcd-member.conf"}],"enable":true,"name":"etcd-member.service"}]}}"#,
        );
    }

    #[test]
    fn rejections_name_lines_and_columns() {
        check(
            "storage:\n  files:\n  - path: a\n    contents: {remote: {url: \"ftp://x\"}}\n",
            false,
            "error converting to Ignition: error at line 3, column 11\npath not absolute\nerror at line 4, column 30\ninvalid url \"ftp://x\": invalid url scheme",
        );
        check(
            "# nothing\n",
            true,
            "error parsing Container Linux Config: warning: Configuration is empty",
        );
        check(
            "passwd: {users: [{name: u, uid: x, Shell: y}]}\n",
            false,
            "error parsing Container Linux Config: error: yaml: unmarshal errors:\n  line 1: cannot unmarshal !!str `x` into int",
        );
        check(
            "storage:\n  disks:\n  - device: /dev/sdb\n    partitions: [{number: 1, size: 1GiB}, {number: 1}]\n",
            false,
            "error converting to Ignition: error at line 4, column 17\npartition numbers collide",
        );
    }

    #[test]
    fn warnings_come_with_the_result() {
        let text = "systemd: {units: [{name: a.service, enabled: true, contents: \"[Service]\\nType=oneshot\\n\"}]}\n";
        let (_, entries) = translate(text.as_bytes(), false).unwrap();
        let words = "warning at line 1, column 62\nunit \"a.service\" is enabled, but has no install section so enable does nothing";
        assert_eq!(printed(&entries), words);
        check(
            text,
            true,
            &format!("error converting to Ignition: {words}"),
        );
    }
}
