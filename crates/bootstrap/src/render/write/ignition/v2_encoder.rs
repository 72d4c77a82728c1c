//! A plan as Ignition 2.3: the provider's way, with the findings at the user's own fields.

use super::container_linux::{self, Rejection};
use super::findings::{Entry, Severity};
use super::generated::{self, Generated, Release, Unwritable};
use super::{ADDITIONAL_REJECTED, ADDITIONAL_WARNING, CONFIG_REJECTED, Context, json};
use crate::render::input::outcome::Notes;
use crate::render::plan::node_plan::NodePlan;
use windlass_capi::api::boot::Compression;
use windlass_capi::api::names::GROUP;
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::v1beta2::{ContainerLinuxConfig, Ignition};
use windlass_source::diag::{Diagnostic, FieldPath, Remedy, Setting, Shared};

/// The data, or findings that say why there is none.
pub(super) fn encode(
    plan: &NodePlan,
    ignition: Option<&Ignition>,
    context: &Context<'_>,
    notes: &mut Notes,
) -> Option<Sensitive<Vec<u8>>> {
    context.reject_of_version_3(plan, ignition, notes)?;
    let release = Release {
        calls_bash: context.profile.ignition_calls_bash(),
        layout_is_flag: context.profile.is_legacy(),
        fills_mode: context.config.group() == GROUP,
    };
    let generated = match generated::generate(plan, release, context.spec_path) {
        Ok(generated) => generated,
        Err(Unwritable { upstream, origin }) => {
            let finding =
                Diagnostic::of(&CONFIG_REJECTED, format!("{origin} names no mount point"));
            let finding = finding
                .at(context.config.place(&origin))
                .help("write the mount as [label, mount point, option…]");
            return notes.reject(finding.upstream(upstream));
        }
    };
    let own = container_linux::translate(&generated.text, true);
    let empty = ContainerLinuxConfig::default();
    let additional = ignition
        .and_then(|ignition| ignition.container_linux_config.as_ref())
        .unwrap_or(&empty);
    let own = match own {
        Ok((config, _)) => config,
        Err(rejection) => {
            notes
                .report
                .extend(context.rejections(&generated, &rejection));
            return None;
        }
    };
    let config = match additional
        .additional_config
        .as_ref()
        .map(|text| text.expose().as_str())
        .unwrap_or_default()
    {
        "" => own,
        text => {
            own.append(context.additional(text, additional.strict.unwrap_or_default(), notes)?)
        }
    };
    Some(Sensitive::new(json::to_bytes(&config)))
}

impl Context<'_> {
    /// Rejects what only Ignition 3.4 reads.
    fn reject_of_version_3(
        &self,
        plan: &NodePlan,
        ignition: Option<&Ignition>,
        notes: &mut Notes,
    ) -> Option<()> {
        let additional = ignition.is_some_and(|ignition| ignition.additional_config.is_some());
        let compression = plan.compression == Compression::Gzip;
        let set = [
            (
                self.spec_path.field("ignition").field("additionalConfig"),
                additional,
            ),
            (self.spec_path.field("compression"), compression),
        ];
        for (path, _) in set.iter().filter(|(_, is_set)| *is_set) {
            let finding = Diagnostic::of(&CONFIG_REJECTED, format!("{path} needs Ignition 3.4"))
                .at(self.config.key_place(path));
            notes.report.push(
                finding.help(
                    Remedy::new("use ")
                        .set(Setting::Ignition, "3.4")
                        .then(", or leave the field out"),
                ),
            );
        }
        (!additional && !compression).then_some(())
    }

    /// The additional config; what it warns of is shown.
    fn additional(&self, text: &str, strict: bool, notes: &mut Notes) -> Option<super::v2::Config> {
        let path = self
            .spec_path
            .field("ignition")
            .field("containerLinuxConfig")
            .field("additionalConfig");
        let place = |entry: &Entry| self.config.line_place(&path, entry.at);
        match container_linux::translate(text.as_bytes(), strict) {
            Ok((config, entries)) => {
                for entry in &entries {
                    let message = format!("{}: {}", of_line(&path, entry), words(entry));
                    let finding = Diagnostic::of(&ADDITIONAL_WARNING, message).at(place(entry));
                    notes.report.push(
                        finding
                            .help("correct the additional config; `strict: true` would reject it"),
                    );
                }
                Some(config)
            }
            Err(rejection) => {
                let upstream = self.upstream("converting additional CLC to Ignition", &rejection);
                let mut upstream = Shared::new(Some(upstream), rejection.entries.len());
                for entry in &rejection.entries {
                    let message = format!("{}: {}", of_line(&path, entry), words(entry));
                    let mut finding =
                        Diagnostic::of(&ADDITIONAL_REJECTED, message).at(place(entry));
                    finding.upstream = upstream.for_next_finding();
                    let help = match entry.severity {
                        Severity::Error => {
                            "write a Container Linux Config as its specification has it"
                        }
                        _ => "correct the additional config, or leave out `strict: true`",
                    };
                    notes.report.push(finding.help(help));
                }
                None
            }
        }
    }

    /// The findings for what upstream makes of the user's fields.
    fn rejections(&self, generated: &Generated, rejection: &Rejection) -> Vec<Diagnostic> {
        let upstream = self.upstream("converting generated CLC to Ignition", rejection);
        let mut upstream = Shared::new(Some(upstream), rejection.entries.len());
        let finding = |entry: &Entry| {
            let is_unreadable =
                entry.message.starts_with("yaml: ") && !entry.message.starts_with(UNFIT);
            let origin = if is_unreadable {
                generated.breaks_at(entry.at)
            } else {
                generated.origin(entry.at)
            };
            let origin = origin.cloned().unwrap_or_else(|| self.origin_of(entry));
            let mut finding =
                Diagnostic::of(&CONFIG_REJECTED, format!("{origin}: {}", words(entry)));
            finding.upstream = upstream.for_next_finding();
            finding.at(self.config.place(&origin)).help(help(entry))
        };
        rejection.entries.iter().map(finding).collect()
    }

    /// The field that an entry about the whole config means.
    fn origin_of(&self, entry: &Entry) -> FieldPath {
        match entry.message.starts_with("Filesystem ") {
            true => self.spec_path.field("diskSetup").field("filesystems"),
            false => self.spec_path.clone(),
        }
    }

    fn upstream(&self, stage: &str, rejection: &Rejection) -> String {
        let message = if self.show_secrets {
            rejection.message.clone()
        } else {
            redacted(&rejection.message)
        };
        format!("building Ignition config: {stage}: {message}")
    }
}

/// What the reader says of values that fit no field.
const UNFIT: &str = "yaml: unmarshal errors:";

/// An entry in words, without its place: the lines that it counts are those of a text that nobody
/// sees, or are reported beside it.
fn words(entry: &Entry) -> String {
    let message = redacted(&entry.message);
    let message = message
        .strip_prefix(UNFIT)
        .or_else(|| message.strip_prefix("yaml: "))
        .unwrap_or(&message);
    let without_line = |line: &str| match line
        .trim()
        .strip_prefix("line ")
        .and_then(|rest| rest.split_once(": "))
    {
        Some((number, words)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            words.to_owned()
        }
        _ => line.trim().to_owned(),
    };
    message
        .lines()
        .map(without_line)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

fn of_line(path: &FieldPath, entry: &Entry) -> String {
    match entry.at {
        0 => path.to_string(),
        line => format!("line {line} of {path}"),
    }
}

/// A message without the texts of the user that it quotes.
fn redacted(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut parts = message.split('`');
    out.push_str(parts.next().unwrap_or_default());
    for (index, part) in parts.enumerate() {
        out.push('`');
        out.push_str(if index % 2 == 0 { "<redacted>" } else { part });
    }
    match out.find("invalid url \"").or_else(|| out.find("parse \"")) {
        Some(at) => {
            let start = at + out[at..].find('"').unwrap_or_default() + 1;
            let end = out[start..]
                .find("\": ")
                .map_or(out.len(), |end| start + end);
            format!("{}<redacted>{}", &out[..start], &out[end..])
        }
        None => out,
    }
}

fn help(entry: &Entry) -> &'static str {
    match entry.message.as_str() {
        "mode unspecified for file, defaulting to 0644" => {
            "add `permissions: \"0644\"`: CAPI's Ignition needs permissions in every file"
        }
        "illegal file mode" => "write octal permissions with a leading zero, such as `\"0644\"`",
        "path not absolute" => "write a path that starts with `/`",
        "invalid filesystem format" => "write `ext4`, `btrfs`, `xfs`, `swap` or `vfat`",
        message if message.contains("into bool") => {
            "add `overwrite: true` or `overwrite: false`: CAPI's Ignition needs it in every file system"
        }
        message if message.starts_with("Filesystem ") => "give each file system a label of its own",
        message if message.contains("base64") => "write the content as base64 with padding",
        message if message.starts_with("filesystem labels") => "shorten the label",
        _ => {
            "CAPI writes the text into YAML as it is; write it so that YAML reads it back, or use a WindlassConfig with `ignition.version: \"3.4\"`"
        }
    }
}
