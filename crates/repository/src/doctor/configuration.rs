//! The configuration itself: which providers it names, and what is wrong with the way in which it
//! does.

use super::{Entry, Subject};
use crate::configuration::{CONFIGURATION_FILE, VERSION_CHECK, cert_manager_setting};
use crate::list::type_of;
use windlass_capi::contract::parse_semantic;
use windlass_clusterctl::{CERT_MANAGER, EntryKind, MANIFEST_FILE, Provider, Rejection, fetch};
use windlass_envsubst as envsubst;
use windlass_go_yaml::yaml::{self, Node};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Quoted, Remedy, Report, Setting, rules};

rules! {
    /// clusterctl cannot read its configuration
    UNREADABLE = error("configuration-unreadable");
    /// clusterctl rejects an entry of `providers`, so every command fails
    ENTRY_REJECTED = error("configuration-provider-rejected");
    /// the url of a provider uses an environment variable that is not set
    VARIABLE_UNSET = error("configuration-variable-unset");
    /// without a network, clusterctl's version check delays each call by a minute
    VERSION_CHECK_ON = info("configuration-version-check-on");
    /// an image has a fixed tag although its provider follows `latest`
    IMAGE_TAG_UNPINNED = warning("configuration-image-tag-unpinned");
    /// the repository has no clusterctl.yaml, so clusterctl cannot find it
    CONFIGURATION_MISSING = error("repository-configuration-missing");
    /// the repository contains a provider that its clusterctl.yaml does not name
    ENTRY_MISSING = warning("repository-entry-missing");
    /// the setting `cert-manager` does not lead to a manifest
    CERT_MANAGER_MISSING = error("repository-cert-manager-missing");
}

/// The finding about a configuration that clusterctl rejects as a whole.
pub fn unreadable(source: Option<&Source>, rejection: &Rejection) -> Diagnostic {
    let finding = Diagnostic::of(&UNREADABLE, "clusterctl cannot read the configuration")
        .at(source.map(Source::place).unwrap_or_default());
    finding
        .help("correct the file as the note says")
        .note(format!(
            "clusterctl says: {rejection}",
            rejection = Quoted(&rejection)
        ))
        .upstream(rejection.message())
}

/// The providers that are to be examined: those that the configuration names, and for a repository
/// without one those of its folders.
pub(super) fn entries(subject: Subject<'_>, report: &mut Report) -> Vec<Entry> {
    let document = |source: &Source| {
        yaml::parse(source, subject.config.world().budget)
            .documents
            .into_iter()
            .next()
    };
    let root = subject
        .source
        .filter(|source| super::is_yaml(source))
        .and_then(document)
        .map(|first| first.root);
    let root = root.as_ref();
    let mut entries = named(subject, root, report);
    if subject.source.is_some() && subject.config.variable(VERSION_CHECK).as_deref() != Some("true")
    {
        let place = subject
            .source
            .map(|source| source.place())
            .unwrap_or_default();
        let finding = Diagnostic::of(
            &VERSION_CHECK_ON,
            format!(
                "{VERSION_CHECK} is not \"true\": offline each call of clusterctl waits a minute"
            ),
        );
        report.push(finding.at(place).help(format!(
            "add `{VERSION_CHECK}: \"true\"`, or set it in the environment"
        )));
    }
    if let (Some(source), Some(root)) = (subject.source, root) {
        report.extend(unpinned_tags(source, root, &entries));
    }
    if let Some(source) = subject.source {
        cert_manager(subject, source, report);
    }
    let Some((shown, folder)) = subject.repository else {
        return entries;
    };
    if subject.source.is_none() {
        let finding = Diagnostic::of(
            &CONFIGURATION_MISSING,
            format!("{shown} holds no {CONFIGURATION_FILE}, so clusterctl does not find it"),
        );
        report.push(
            finding.help(
                Remedy::new("run `windlass repository add` with one of its releases and ")
                    .set(Setting::To, shown),
            ),
        );
    }
    for provider in in_folder(subject, folder) {
        let same = |entry: &Entry| {
            entry.provider.name == provider.name
                && entry.provider.provider_type == provider.provider_type
        };
        if entries.iter().any(same) {
            continue;
        }
        if let Some(source) = subject.source {
            let message = format!(
                "{shown} holds {}, which {} does not name",
                provider.label(),
                source.name()
            );
            let help = format!(
                "add to `providers`: `{{name: {}, type: {}, url: \"{}\"}}`",
                provider.name,
                provider.provider_type.as_str(),
                provider.url
            );
            report.push(
                Diagnostic::of(&ENTRY_MISSING, message)
                    .at(source.place())
                    .help(help),
            );
        }
        entries.push(Entry {
            provider,
            place: Place::default(),
        });
    }
    entries
}

/// The entries of `providers`.
fn named(subject: Subject<'_>, root: Option<&Node>, report: &mut Report) -> Vec<Entry> {
    let place = |path: FieldPath| match (subject.source, root) {
        (Some(source), Some(root)) => source
            .place_at(root.nearest(&path).span)
            .in_document(1)
            .at_path(path),
        (Some(source), None) => source.place().at_path(path),
        _ => Place::default().at_path(path),
    };
    let list = FieldPath::root().field("providers");
    let rejected = |rejection: Rejection, place: Place| {
        let finding = Diagnostic::of(
            &ENTRY_REJECTED,
            "clusterctl rejects the entry, and with it every command",
        )
        .at(place);
        finding
            .help("correct the entry as the note says")
            .note(format!(
                "clusterctl says: {rejection}",
                rejection = Quoted(&rejection)
            ))
            .upstream(rejection.message())
    };
    let configured = match subject.config.configured() {
        Ok(configured) => configured,
        Err(rejection) => {
            report.push(rejected(rejection, place(list)));
            return Vec::new();
        }
    };
    let mut entries: Vec<Entry> = Vec::new();
    for (at, found) in configured.into_iter().enumerate() {
        let path = list.index(at);
        let written = root
            .and_then(|root| root.at(&path.field("url")))
            .and_then(Node::as_str)
            .unwrap_or_default();
        report.extend(unset_variables(subject, written, &place(path.field("url"))));
        match found {
            Err(rejection) => report.push(rejected(rejection, place(path))),
            Ok(provider) => {
                // Of two entries for one provider the last wins.
                entries.retain(|known| known.provider.label() != provider.label());
                entries.push(Entry {
                    provider,
                    place: place(path.field("url")),
                });
            }
        }
    }
    entries
}

/// clusterctl puts nothing where a variable is not set.
fn unset_variables(subject: Subject<'_>, url: &str, place: &Place) -> Vec<Diagnostic> {
    let Ok(template) = envsubst::parse_exact(url) else {
        return Vec::new();
    };
    // An empty default is one, too.
    let uses = template.uses();
    let has_default = |name: &str| {
        uses.iter()
            .any(|used| used.name == name && used.gives_default(url))
    };
    let required = template
        .variables()
        .into_iter()
        .filter(|(name, default)| default.is_none() && !has_default(name));
    let unset = required.filter(|(name, _)| subject.config.environment(name).is_none());
    let finding = |(name, _): (String, _)| {
        Diagnostic::of(&VARIABLE_UNSET, format!("variable {name} of the url is not set in the environment"))
            .at(place.clone())
            .help(format!("run `export {name}=VALUE` first"))
            .note("clusterctl takes it for empty, and looks elsewhere; variables of clusterctl.yaml do not count in urls")
    };
    unset.map(finding).collect()
}

/// Book, clusterctl configuration, "Image overrides": a tag goes together with an explicit version
/// of the provider.
fn unpinned_tags(source: &Source, root: &Node, entries: &[Entry]) -> Vec<Diagnostic> {
    let images = FieldPath::root().field("images");
    let overrides = root
        .at(&images)
        .and_then(Node::as_mapping)
        .into_iter()
        .flatten();
    let moves =
        |entry: &Entry| entry.provider.url.with_credentials().rsplit('/').nth(1) == Some("latest");
    let finding = |image: &yaml::Entry| {
        let component = image.key.split('/').next().unwrap_or_default();
        let moving = entries.iter().find(|entry| {
            moves(entry) && (component == "all" || entry.provider.label() == component)
        })?;
        let tag = image.value.at(&FieldPath::root().field("tag"))?;
        let label = moving.provider.label();
        let message =
            format!("images of {label} get a fixed tag, but its url takes the latest version");
        let place = source
            .place_at(tag.span)
            .in_document(1)
            .at_path(images.key(&image.key).field("tag"));
        let help = "name the version in the url instead of `latest`, or remove the tag";
        Some(
            Diagnostic::of(&IMAGE_TAG_UNPINNED, message)
                .at(place)
                .help(help)
                .note("newer components meet an older image, whose flags are others"),
        )
    };
    overrides.filter_map(finding).collect()
}

/// The providers of a folder by its layout, `{label}/{version}/…`.
fn in_folder(subject: Subject<'_>, folder: &str) -> Vec<Provider> {
    let folders = |path: &str| {
        let entries = subject.files.entries(path).unwrap_or_default();
        entries
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::Folder)
            .map(|entry| entry.name)
    };
    let holds_versions = |label: &String| {
        folders(&format!("{folder}/{label}")).any(|version| parse_semantic(&version).is_ok())
    };
    let provider = |label: String| {
        let provider_type = type_of(&label);
        let name = label
            .strip_prefix(&provider_type.label(""))
            .unwrap_or(&label)
            .to_owned();
        let url = format!(
            "{}/{label}/latest/{}",
            folder.trim_end_matches('/'),
            provider_type.components_file()
        );
        Provider {
            name,
            provider_type,
            url: url.into(),
        }
    };
    folders(folder)
        .filter(|label| label != CERT_MANAGER)
        .filter(holds_versions)
        .map(provider)
        .collect()
}

/// cert-manager, which `clusterctl init` installs first: where the setting leads, and a manifest in
/// the repository to which nothing leads.
fn cert_manager(subject: Subject<'_>, source: &Source, report: &mut Report) {
    let setting = cert_manager_setting(source, subject.config.world().budget);
    if let Some(setting) = setting.filter(|setting| !setting.is_external) {
        let fetched = subject.config.cert_manager().and_then(|cert_manager| {
            match cert_manager.url.is_https() {
                true => Ok(()),
                false => fetch(
                    subject.config,
                    cert_manager.provider(),
                    Some(&cert_manager.version),
                )
                .map(drop),
            }
        });
        if let Err(rejection) = fetched {
            let finding = Diagnostic::of(
                &CERT_MANAGER_MISSING,
                "clusterctl cannot take cert-manager from there, and `init` fails",
            );
            let help = Remedy::new("lay it in again: ").request(
                "repository add cert-manager.yaml",
                Setting::To,
                "REPOSITORY",
            );
            let finding = finding
                .at(setting.place)
                .help(help.then(", and write the url that this prints"));
            report.push(
                finding
                    .note(format!(
                        "clusterctl says: {rejection}",
                        rejection = Quoted(&rejection)
                    ))
                    .upstream(rejection.message()),
            );
        }
        return;
    }
    let Some((shown, folder)) = subject.repository else {
        return;
    };
    let versions = subject
        .files
        .entries(&format!("{folder}/{CERT_MANAGER}"))
        .unwrap_or_default();
    let newest = versions
        .into_iter()
        .map(|entry| entry.name)
        .filter(|name| parse_semantic(name).is_ok());
    if let Some(version) = newest.max_by_key(|version| parse_semantic(version).ok()) {
        let message = format!(
            "{shown} holds {CERT_MANAGER}, which {} does not name",
            source.name()
        );
        let url = format!(
            "{}/{CERT_MANAGER}/{version}/{MANIFEST_FILE}",
            folder.trim_end_matches('/')
        );
        let help = format!("add `{CERT_MANAGER}: {{url: \"{url}\", version: {version}}}`");
        report.push(
            Diagnostic::of(&ENTRY_MISSING, message)
                .at(source.place())
                .help(help),
        );
    }
}
