//! Where upstream's cloud-config means something else than the config says: its templates write texts without quotes, and cloud-init
//! takes the whole document for a jinja template.

use super::cloud_config::{Block, block};
use crate::api::boot::Templating;
use crate::api::secret::Sensitive;
use crate::api::v1beta2::DiskSetup;
use crate::diag::{Diagnostic, FieldPath, Remedy, Report, Setting, rules};
use crate::objects::Object;
use crate::render::input::outcome::Notes;
use crate::render::input::request::Encoder;
use crate::render::plan::content::PASSWORD_UNFIT;
use crate::render::plan::node_plan::{NodePlan, PlannedFile, PlannedUser};
use crate::text::budget::Budget;
use crate::text::goyaml;
use crate::text::source::Source;
use crate::text::yaml::{self, Value};

rules! {
    /// an unquoted text reaches cloud-init as a different value
    pub VALUE_CUT = warning("cloud-config-value-cut");
    /// an unquoted text breaks the cloud-config document
    pub DOCUMENT_BROKEN = warning("cloud-config-document-broken");
    /// the content starts with a blank, which YAML reads as indentation
    pub INDENTATION_LOST = warning("cloud-config-indentation-lost");
    /// cloud-init evaluates a text as a jinja template
    pub JINJA = warning("cloud-config-jinja");
}

/// What jinja expressions begin with that people write on purpose (cloud-init: "Instance metadata").
const INSTANCE_DATA: [&str; 2] = ["ds.", "v1."];

/// A text of the plan and where it was written.
struct Text<'a> {
    path: FieldPath,
    text: &'a str,
    secret: bool,
}

/// Warns of each text that does not arrive as it was written. `None`: the encoder cannot write a text at all.
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
    if plan.templating == Templating::Jinja {
        notes.report.extend(jinja_texts(plan, config, spec_path));
    }
    let passwords = passwords_without_text(plan, config, spec_path, encoder);
    let writable = !passwords.has_errors();
    notes.report.extend(passwords);
    writable.then_some(())
}

/// Texts that YAML reads as something else when they stand without quotes, and blocks whose indentation is lost.
fn misread_texts(plan: &NodePlan, config: &Object, spec_path: &FieldPath, budget: &Budget) -> Report {
    let mut report: Report = texts(plan, spec_path).into_iter().filter_map(|text| misread(&text, config, budget)).collect();
    for file in &plan.files {
        let Some(origin) = file.origin.as_ref().filter(|_| block(file.content.expose()) == Block::Indicated) else { continue };
        let message = format!("the first line of {origin} begins with a blank, which YAML takes for indentation");
        let finding = Diagnostic::of(&INDENTATION_LOST, message).at(config.place(origin));
        report.push(finding.help(Remedy::new("begin the content with a line without blanks, or use ").set(Setting::Encoder, "typed")));
    }
    report
}

/// Texts that cloud-init evaluates.
fn jinja_texts(plan: &NodePlan, config: &Object, spec_path: &FieldPath) -> Report {
    let is_read = |file: &&PlannedFile| {
        let is_text = file.encoding.is_empty() && file.transfer_encoding.is_none();
        is_text && std::str::from_utf8(file.content.expose()).is_ok_and(has_foreign_jinja)
    };
    let mut report: Report = plan.files.iter().filter(is_read).filter_map(|file| Some(jinja(file.origin.as_ref()?, config))).collect();
    let commands = [
        ("bootCommands", &plan.boot_commands),
        ("preKubeadmCommands", &plan.pre_kubeadm_commands),
        ("postKubeadmCommands", &plan.post_kubeadm_commands),
    ];
    for (field, commands) in commands {
        let of_field = commands.iter().enumerate().filter(|(_, command): &(usize, &Sensitive<String>)| has_foreign_jinja(command.expose()));
        of_field.for_each(|(index, _)| report.push(jinja(&spec_path.field(field).index(index), config)));
    }
    report
}

/// Passwords that are not UTF-8, which cloud-config cannot say.
fn passwords_without_text(plan: &NodePlan, config: &Object, spec_path: &FieldPath, encoder: Encoder) -> Report {
    let is_no_text = |(_, user): &(usize, &PlannedUser)| std::str::from_utf8(user.passwd.expose()).is_err();
    let finding = |(index, _): (usize, &PlannedUser)| {
        let path = spec_path.field("users").index(index).field("passwdFrom");
        let message = format!("{path} gives a password that is not UTF-8");
        let finding = match encoder {
            Encoder::Capi => Diagnostic::of(&DOCUMENT_BROKEN, message + ", which breaks the document"),
            Encoder::Typed => Diagnostic::of(&PASSWORD_UNFIT, message),
        };
        finding.at(config.place(&path)).help("put the hash of a password into the Secret, as `openssl passwd -6` prints it")
    };
    plan.users.iter().enumerate().filter(is_no_text).map(finding).collect()
}

fn jinja(path: &FieldPath, config: &Object) -> Diagnostic {
    let finding = Diagnostic::of(&JINJA, format!("{path} holds `{{{{` or `{{%`, which cloud-init evaluates as jinja"));
    finding.at(config.place(path)).help("wrap the text in `{% raw %}` and `{% endraw %}`, or encode the content as base64")
}

/// Whether a text has jinja that is not about the instance's data.
fn has_foreign_jinja(text: &str) -> bool {
    if text.contains("{% raw %}") {
        return false;
    }
    let foreign = |(at, _): (usize, &str)| {
        let expression = text[at + 2..].trim_start_matches(['-', ' ']);
        !INSTANCE_DATA.iter().any(|known| expression.starts_with(known))
    };
    text.contains("{%") || text.contains("{#") || text.match_indices("{{").any(foreign)
}

/// The finding for a text that YAML reads as something else.
fn misread(text: &Text<'_>, config: &Object, budget: &Budget) -> Option<Diagnostic> {
    if goyaml::is_plain(text.text) {
        return None;
    }
    let parsed = yaml::parse(&Source::new("", format!("k: {}\n", text.text)), budget);
    // The run ends with a finding of its own.
    if budget.exceeded().is_some() {
        return None;
    }
    let value = parsed.documents.first().and_then(|document| Some(&document.root.as_mapping()?.get("k")?.value.value));
    let path = &text.path;
    let help = Remedy::new("leave the character out, or use ").set(Setting::Encoder, "typed").then(" or a WindlassConfig, which quote");
    let broken = || Diagnostic::of(&DOCUMENT_BROKEN, format!("{path} breaks the document, because CAPI writes it without quotes"));
    let cut = |read: &str| match text.secret {
        true => Diagnostic::of(&VALUE_CUT, format!("{path} reaches cloud-init as another text")),
        false => Diagnostic::of(&VALUE_CUT, format!("{path} reaches cloud-init as `{read}`")),
    };
    let finding = match value {
        _ if parsed.report.has_errors() || parsed.documents.len() != 1 => broken(),
        Some(Value::String(read)) if read == text.text => return None,
        Some(Value::String(read)) => cut(read),
        Some(Value::Number(_)) => return None,
        Some(Value::Bool(read)) => cut(if *read { "true" } else { "false" }),
        Some(Value::Null) => cut("null"),
        _ => broken(),
    };
    Some(finding.at(config.place(path)).help(help))
}

/// All texts that are written without quotes.
fn texts<'a>(plan: &'a NodePlan, spec_path: &FieldPath) -> Vec<Text<'a>> {
    let mut found = Vec::new();
    let mut add = |path: FieldPath, text: &'a str, secret| {
        if !text.is_empty() {
            found.push(Text { path, text, secret });
        }
    };
    for file in &plan.files {
        if let Some(origin) = &file.origin {
            add(origin.field("path"), &file.path, false);
            add(origin.field("owner"), &file.owner, false);
        }
    }
    for (index, user) in plan.users.iter().enumerate() {
        of_user(&spec_path.field("users").index(index), user, &mut add);
    }
    let servers = plan.ntp.as_ref().and_then(|ntp| ntp.servers.as_ref());
    for (index, server) in servers.into_iter().flatten().enumerate() {
        add(spec_path.field("ntp").field("servers").index(index), server, false);
    }
    of_disks(&spec_path.field("diskSetup"), plan.disk_setup.as_ref(), &mut add);
    for (index, mount) in plan.mounts.iter().enumerate() {
        let path = spec_path.field("mounts").index(index);
        mount.iter().enumerate().for_each(|(at, field)| add(path.index(at), field, false));
    }
    found
}

fn of_user<'a>(path: &FieldPath, user: &'a PlannedUser, add: &mut impl FnMut(FieldPath, &'a str, bool)) {
    add(path.field("name"), &user.name, false);
    add(path.field("passwd"), std::str::from_utf8(user.passwd.expose()).unwrap_or_default(), true);
    add(path.field("gecos"), &user.gecos, false);
    add(path.field("groups"), &user.groups, false);
    add(path.field("homeDir"), &user.home_dir, false);
    add(path.field("shell"), &user.shell, false);
    add(path.field("primaryGroup"), &user.primary_group, false);
    add(path.field("sudo"), &user.sudo, false);
    let keys = user.ssh_authorized_keys.iter().enumerate();
    keys.for_each(|(index, key)| add(path.field("sshAuthorizedKeys").index(index), key, false));
}

fn of_disks<'a>(path: &FieldPath, setup: Option<&'a DiskSetup>, add: &mut impl FnMut(FieldPath, &'a str, bool)) {
    let Some(setup) = setup else { return };
    for (index, partition) in setup.partitions.iter().flatten().enumerate() {
        add(path.field("partitions").index(index).field("device"), &partition.device, false);
    }
    for (index, system) in setup.filesystems.iter().flatten().enumerate() {
        let path = path.field("filesystems").index(index);
        add(path.field("device"), &system.device, false);
        add(path.field("filesystem"), &system.filesystem, false);
        add(path.field("label"), system.label.as_deref().unwrap_or_default(), false);
        add(path.field("partition"), system.partition.as_deref().unwrap_or_default(), false);
        let options = system.extra_opts.iter().flatten().enumerate();
        options.for_each(|(at, option)| add(path.field("extraOpts").index(at), option, false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jinja_about_the_instance_is_wanted() {
        assert!(!has_foreign_jinja("hostname {{ ds.meta_data.hostname }}"));
        assert!(!has_foreign_jinja("{{v1.local_hostname}} {% raw %}{{ .Values }}{% endraw %}"));
        assert!(has_foreign_jinja("{{ .Values.image }}"));
        assert!(has_foreign_jinja("{% if x %}"));
        assert!(!has_foreign_jinja("a { b } $x"));
    }
}
