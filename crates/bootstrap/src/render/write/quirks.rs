//! Where upstream's cloud-config means something else than the config says: its templates write
//! texts without quotes, and cloud-init takes the whole document for a jinja template.

use std::collections::BTreeMap;

use super::cloud_config::{Block, block};
use super::jinja::{self, Effect};
use crate::pyyaml::{self, Scalar};
use crate::render::input::outcome::Notes;
use crate::render::input::request::Encoder;
use crate::render::plan::content::PASSWORD_UNFIT;
use crate::render::plan::node_plan::{NodePlan, PlannedFile, PlannedUser};
use windlass_capi::api::boot::Templating;
use windlass_capi::api::v1beta2::DiskSetup;
use windlass_go_yaml::goyaml;
use windlass_go_yaml::yaml::{self, Value};
use windlass_objects::{Object, fields};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Remedy, Report, Setting, rules};

rules! {
    /// an unquoted string reaches cloud-init as a different value
    pub(crate) VALUE_CUT = warning("cloud-config-value-cut");
    /// an unquoted string makes the cloud-config document invalid YAML
    pub(crate) DOCUMENT_BROKEN = warning("cloud-config-document-broken");
    /// file content starts with a space, which YAML reads as indentation
    pub(crate) INDENTATION_LOST = warning("cloud-config-indentation-lost");
    /// cloud-init evaluates a string as a Jinja template
    pub(crate) JINJA = warning("cloud-config-jinja");
    /// two entries name the same device, and cloud-init uses only the last one
    pub(crate) DEVICE_REPEATED = warning("cloud-config-device-repeated");
}

/// A text of the plan and where it was written.
pub struct Text<'a> {
    path: FieldPath,
    text: &'a str,
    kind: Kind,
}

/// How a text is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// cloud-init wants a text, and drops or rejects anything else.
    Strict,
    /// cloud-init makes a text of what it reads.
    Printed,
    /// A text that is wanted and not shown.
    Secret,
}

/// Warns of each text that does not arrive as it was written. `None`: the encoder cannot write a
/// text at all.
pub(crate) fn check(
    plan: &NodePlan,
    config: &Object,
    spec_path: &FieldPath,
    encoder: Encoder,
    budget: &Budget,
    notes: &mut Notes,
) -> Option<()> {
    notes.report.extend(match encoder {
        Encoder::Capi => misread_texts(plan, config, spec_path, budget),
        Encoder::Typed => Report::new(),
    });
    notes
        .report
        .extend(repeated_devices(plan, config, spec_path));
    if plan.templating == Templating::Jinja {
        notes.report.extend(jinja_texts(plan, config, spec_path));
    }
    let passwords = passwords_without_text(plan, config, spec_path, encoder);
    let writable = !passwords.has_errors();
    notes.report.extend(passwords);
    writable.then_some(())
}

/// Texts that YAML reads as something else when they stand without quotes, and blocks whose
/// indentation is lost.
fn misread_texts(
    plan: &NodePlan,
    config: &Object,
    spec_path: &FieldPath,
    budget: &Budget,
) -> Report {
    let mut report: Report = texts(plan, spec_path)
        .into_iter()
        .filter_map(|text| misread(&text, config, budget))
        .collect();
    for file in &plan.files {
        let Some(origin) = file.origin.as_ref() else {
            continue;
        };
        report.extend(misread_content(file, &content_path(origin, config), config));
        if block(file.content.expose()) != Block::Indicated {
            continue;
        }
        let message = format!(
            "the first line of {origin} begins with a blank, which YAML takes for indentation"
        );
        let finding = Diagnostic::of(&INDENTATION_LOST, message).at(config.place(origin));
        report.push(
            finding.help(
                Remedy::new("begin the content with a line without blanks, or use ")
                    .set(Setting::Encoder, "typed"),
            ),
        );
    }
    report
}

fn jinja_texts(plan: &NodePlan, config: &Object, spec_path: &FieldPath) -> Report {
    let is_read =
        |file: &&PlannedFile| file.encoding.is_empty() && file.transfer_encoding.is_none();
    let of_file = |file: &PlannedFile| {
        jinja(
            std::str::from_utf8(file.content.expose()).ok()?,
            file.origin.as_ref()?,
            config,
        )
    };
    let mut report: Report = plan
        .files
        .iter()
        .filter(is_read)
        .filter_map(of_file)
        .collect();
    let commands = [
        ("bootCommands", &plan.boot_commands),
        ("preKubeadmCommands", &plan.pre_kubeadm_commands),
        ("postKubeadmCommands", &plan.post_kubeadm_commands),
    ];
    for (field, commands) in commands {
        let commands = commands.iter().enumerate();
        report.extend(
            commands
                .filter_map(|(index, command)| {
                    jinja(
                        command.expose(),
                        &spec_path.field(field).index(index),
                        config,
                    )
                })
                .collect::<Report>(),
        );
    }
    report
}

/// Passwords that are not UTF-8, which cloud-config cannot say.
fn passwords_without_text(
    plan: &NodePlan,
    config: &Object,
    spec_path: &FieldPath,
    encoder: Encoder,
) -> Report {
    let is_no_text =
        |(_, user): &(usize, &PlannedUser)| std::str::from_utf8(user.passwd.expose()).is_err();
    let finding = |(index, _): (usize, &PlannedUser)| {
        let path = spec_path.field("users").index(index).field("passwdFrom");
        let message = format!("{path} gives a password that is not UTF-8");
        let finding = match encoder {
            Encoder::Capi => {
                Diagnostic::of(&DOCUMENT_BROKEN, message + ", which breaks the document")
            }
            Encoder::Typed => Diagnostic::of(&PASSWORD_UNFIT, message),
        };
        finding
            .at(config.place(&path))
            .help("put the hash of a password into the Secret, as `openssl passwd -6` prints it")
    };
    plan.users
        .iter()
        .enumerate()
        .filter(is_no_text)
        .map(finding)
        .collect()
}

/// The finding for a text that jinja changes or cannot read.
fn jinja(text: &str, path: &FieldPath, config: &Object) -> Option<Diagnostic> {
    let message = match jinja::effect(text) {
        Effect::Wanted => return None,
        Effect::Evaluated => {
            format!("{path} holds `{{{{` or `{{%`, which cloud-init evaluates as jinja")
        }
        Effect::Unreadable => {
            format!(
                "{path} begins an expression of jinja that does not end, so cloud-init reads nothing of the document"
            )
        }
    };
    let finding = Diagnostic::of(&JINJA, message).at(config.place(path));
    Some(
        finding.help(
            "wrap the text in `{% raw %}` and `{% endraw %}`, or encode the content as base64",
        ),
    )
}

/// Reports repeated devices in `diskSetup.partitions`: cloud-init keeps only the last entry.
fn repeated_devices(plan: &NodePlan, config: &Object, spec_path: &FieldPath) -> Report {
    let mut last = BTreeMap::new();
    let partitions: Vec<_> = plan
        .disk_setup
        .iter()
        .flat_map(|setup| setup.partitions.iter().flatten())
        .enumerate()
        .collect();
    let list = spec_path.field("diskSetup").field("partitions");
    let lost = partitions.iter().rev().filter_map(|(index, partition)| {
        match last.get(partition.device.as_str()) {
            None => {
                last.insert(partition.device.as_str(), *index);
                None
            }
            Some(kept) => {
                let (path, kept) = (list.index(*index), list.index(*kept));
                let message = format!(
                    "{path} is lost: {kept} is of the same device, and cloud-init keeps the last"
                );
                let finding = Diagnostic::of(&DEVICE_REPEATED, message).at(config.place(&path));
                Some(
                    finding
                        .related(config.place(&kept), "")
                        .help("write one entry for the device, with all that is meant"),
                )
            }
        }
    });
    lost.collect()
}

/// The field that a file's content comes from.
fn content_path(origin: &FieldPath, config: &Object) -> FieldPath {
    let file = fields::at(config.value(), origin.segments());
    origin.field(
        if file.is_some_and(|file| file.get("contentFrom").is_some()) {
            "contentFrom"
        } else {
            "content"
        },
    )
}

/// The finding for a content that does not arrive as it is: YAML has no line ends but LF, and no
/// control characters.
fn misread_content(file: &PlannedFile, origin: &FieldPath, config: &Object) -> Option<Diagnostic> {
    if !file.encoding.is_empty() || file.transfer_encoding.is_some() {
        return None;
    }
    let Ok(text) = std::str::from_utf8(file.content.expose()) else {
        return Some(broken_content(origin, "bytes that are not UTF-8", config));
    };
    let text = text.replace("\r\n", "\n");
    if text
        .chars()
        .any(|c| matches!(c, '\r' | '\u{85}' | '\u{2028}' | '\u{2029}'))
    {
        return Some(broken_content(
            origin,
            "a line end that only some programs know",
            config,
        ));
    }
    if text
        .chars()
        .any(|c| c != '\n' && c != '\t' && c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'))
    {
        return Some(broken_content(origin, "a control character", config));
    }
    (text.len() != file.content.expose().len()).then(|| {
        let message = format!("{origin} has line ends CR LF, which reach the node as LF");
        Diagnostic::of(&VALUE_CUT, message)
            .at(config.place(origin))
            .help(encoded())
    })
}

fn broken_content(origin: &FieldPath, what: &str, config: &Object) -> Diagnostic {
    let message = format!("{origin} holds {what}, which breaks the document");
    Diagnostic::of(&DOCUMENT_BROKEN, message)
        .at(config.place(origin))
        .help(encoded())
}

/// How contents get through that YAML cannot carry.
fn encoded() -> Remedy {
    Remedy::new("write the content with `encoding: base64`, or use ")
        .set(Setting::Encoder, "typed")
        .then(" or a WindlassConfig")
}

/// The finding for a text that YAML reads as something else.
fn misread(text: &Text<'_>, config: &Object, budget: &Budget) -> Option<Diagnostic> {
    let path = &text.path;
    let reading = read(text.text, budget)?;
    let leave_out = if matches!(reading, Reading::Value(_)) {
        "use "
    } else {
        "leave the character out, or use "
    };
    let help = Remedy::new(leave_out)
        .set(Setting::Encoder, "typed")
        .then(" or a WindlassConfig, which quote");
    let message = match reading {
        Reading::Same => return None,
        Reading::Value(value) if text.kind == Kind::Printed && value == text.text => return None,
        Reading::Broken => {
            let message =
                format!("{path} breaks the document, because CAPI writes it without quotes");
            return Some(
                Diagnostic::of(&DOCUMENT_BROKEN, message)
                    .at(config.place(path))
                    .help(help),
            );
        }
        Reading::Cut(_) | Reading::Value(_) if text.kind == Kind::Secret => {
            format!("cloud-init reads a different string from {path}")
        }
        Reading::Value(value) if value == text.text => {
            format!("{path} reaches cloud-init as the value {value}, where it wants a text")
        }
        Reading::Cut(read) | Reading::Value(read) => {
            format!("{path} reaches cloud-init as `{read}`", read = Quoted(read))
        }
    };
    Some(
        Diagnostic::of(&VALUE_CUT, message)
            .at(config.place(path))
            .help(help),
    )
}

/// What cloud-init reads where a text stands without quotes.
enum Reading {
    Same,
    Cut(String),
    /// Something that is not text, as Python prints it.
    Value(String),
    /// Nothing: the document is rejected.
    Broken,
}

fn read(text: &str, budget: &Budget) -> Option<Reading> {
    let of_scalar = |read: &str| match pyyaml::scalar(read) {
        Scalar::Rejected => Reading::Broken,
        Scalar::Value(value) => Reading::Value(value),
        Scalar::Text if read == text => Reading::Same,
        Scalar::Text => Reading::Cut(read.to_owned()),
    };
    if goyaml::is_plain(text) {
        return Some(of_scalar(text));
    }
    // Behind a tab PyYAML begins another token, which a tab cannot begin.
    if text.contains('\t') {
        return Some(Reading::Broken);
    }
    let parsed = yaml::parse(&Source::new("", format!("k: {text}\n")), budget);
    // The run ends with a finding of its own.
    if budget.exceeded().is_some() {
        return None;
    }
    let value = parsed
        .documents
        .first()
        .and_then(|document| Some(&document.root.as_mapping()?.get("k")?.value.value));
    let is_quoted = text.trim_start().starts_with(['"', '\'']);
    Some(match value {
        _ if parsed.report.has_errors() || parsed.documents.len() != 1 => Reading::Broken,
        Some(Value::String(read))
            if is_quoted || text.trim_start().starts_with(['|', '>', '!']) =>
        {
            match read == text {
                true => Reading::Same,
                false => Reading::Cut(read.clone()),
            }
        }
        Some(Value::String(read)) => of_scalar(read),
        // What Go reads as no text PyYAML may read as one, and the other way round.
        Some(Value::Number(_) | Value::Bool(_) | Value::Null) => of_scalar(plain_part(text)),
        _ => Reading::Broken,
    })
}

/// The text before a comment, without blanks around it.
fn plain_part(text: &str) -> &str {
    text.split(" #")
        .next()
        .unwrap_or_default()
        .trim_matches(' ')
}

/// All texts that are written without quotes.
fn texts<'a>(plan: &'a NodePlan, spec_path: &FieldPath) -> Vec<Text<'a>> {
    let mut found = Vec::new();
    let mut add = |path: FieldPath, text: &'a str, kind| {
        if !text.is_empty() {
            found.push(Text { path, text, kind });
        }
    };
    for file in &plan.files {
        if let Some(origin) = &file.origin {
            add(origin.field("path"), &file.path, Kind::Strict);
            add(origin.field("owner"), &file.owner, Kind::Strict);
        }
    }
    // The paths of certificates are below one folder.
    if let Some(file) = plan.files.iter().find(|file| file.origin.is_none()) {
        add(
            spec_path
                .field("clusterConfiguration")
                .field("certificatesDir"),
            &file.path,
            Kind::Strict,
        );
    }
    for (index, user) in plan.users.iter().enumerate() {
        of_user(&spec_path.field("users").index(index), user, &mut add);
    }
    let servers = plan.ntp.as_ref().and_then(|ntp| ntp.servers.as_ref());
    for (index, server) in servers.into_iter().flatten().enumerate() {
        add(
            spec_path.field("ntp").field("servers").index(index),
            server,
            Kind::Printed,
        );
    }
    of_disks(
        &spec_path.field("diskSetup"),
        plan.disk_setup.as_ref(),
        &mut add,
    );
    for (index, mount) in plan.mounts.iter().enumerate() {
        let path = spec_path.field("mounts").index(index);
        mount
            .iter()
            .enumerate()
            .for_each(|(at, field)| add(path.index(at), field, Kind::Printed));
    }
    found
}

fn of_user<'a>(
    path: &FieldPath,
    user: &'a PlannedUser,
    add: &mut impl FnMut(FieldPath, &'a str, Kind),
) {
    add(path.field("name"), &user.name, Kind::Strict);
    add(
        path.field("passwd"),
        std::str::from_utf8(user.passwd.expose()).unwrap_or_default(),
        Kind::Secret,
    );
    add(path.field("gecos"), &user.gecos, Kind::Strict);
    add(path.field("groups"), &user.groups, Kind::Strict);
    add(path.field("homeDir"), &user.home_dir, Kind::Strict);
    add(path.field("shell"), &user.shell, Kind::Strict);
    add(
        path.field("primaryGroup"),
        &user.primary_group,
        Kind::Strict,
    );
    add(path.field("sudo"), &user.sudo, Kind::Strict);
    let keys = user.ssh_authorized_keys.iter().enumerate();
    keys.for_each(|(index, key)| {
        add(
            path.field("sshAuthorizedKeys").index(index),
            key,
            Kind::Strict,
        )
    });
}

fn of_disks<'a>(
    path: &FieldPath,
    setup: Option<&'a DiskSetup>,
    add: &mut impl FnMut(FieldPath, &'a str, Kind),
) {
    let Some(setup) = setup else { return };
    for (index, partition) in setup.partitions.iter().flatten().enumerate() {
        add(
            path.field("partitions").index(index).field("device"),
            &partition.device,
            Kind::Strict,
        );
    }
    for (index, system) in setup.filesystems.iter().flatten().enumerate() {
        let path = path.field("filesystems").index(index);
        add(path.field("device"), &system.device, Kind::Strict);
        add(path.field("filesystem"), &system.filesystem, Kind::Strict);
        add(
            path.field("label"),
            system.label.as_deref().unwrap_or_default(),
            Kind::Strict,
        );
        add(
            path.field("partition"),
            system.partition.as_deref().unwrap_or_default(),
            Kind::Printed,
        );
        let options = system.extra_opts.iter().flatten().enumerate();
        options
            .for_each(|(at, option)| add(path.field("extraOpts").index(at), option, Kind::Strict));
    }
}
