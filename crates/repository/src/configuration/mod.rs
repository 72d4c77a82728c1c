//! The `clusterctl.yaml` that belongs to a local repository: entries are added, nothing that people
//! wrote is changed.

use windlass_capi::contract::ProviderType;
use windlass_clusterctl::CERT_MANAGER;
use windlass_go_yaml::yaml::{self, Node};
use windlass_release::assets::Assets;
use windlass_source::Source;
use windlass_source::TextRange;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Remedy, Report, Setting, rules};
use windlass_source::edit::{Edits, indentation};
use windlass_source::url::without_credentials;

rules! {
    /// clusterctl.yaml already has a different url for the provider
    ENTRY_OTHER = warning("repository-entry-other");
    /// the url of a provider leads to a repository that does not exist
    ENTRY_STALE = error("repository-entry-stale");
    /// the form of `providers` in clusterctl.yaml does not allow adding an entry
    pub(super) NOT_EXTENSIBLE = error("repository-configuration-not-extensible");
    /// the configuration in a bundle installs something from outside the bundle
    FOREIGN = error("bundle-configuration-foreign");
}

/// The configuration file of a repository.
pub const CONFIGURATION_FILE: &str = "clusterctl.yaml";

/// The switch without which clusterctl, offline, waits a minute in each call for its newest
/// version.
pub(super) const VERSION_CHECK: &str = "CLUSTERCTL_DISABLE_VERSIONCHECK";

/// A provider in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it provides.
    pub provider_type: ProviderType,
    /// The components file of the newest version: `{repository}/{label}/latest/{file}`.
    pub url: String,
}

impl Entry {
    /// The entry of a release in a repository whose urls begin with `base`.
    pub(crate) fn of(assets: &Assets, base: &str) -> Self {
        let url = format!(
            "{}/{}/latest/{}",
            base.trim_end_matches('/'),
            assets.label,
            assets.components
        );
        Entry {
            name: assets.name.clone(),
            provider_type: assets.provider_type,
            url,
        }
    }

    fn lines(&self, indent: &str) -> Vec<String> {
        vec![
            format!("{indent}- name: {}", self.name),
            format!("{indent}  url: {}", quoted(&self.url)),
            format!("{indent}  type: {}", self.provider_type.as_str()),
        ]
    }
}

/// Paths with characters that YAML could take for syntax stand in quotes.
pub(super) fn quoted(text: &str) -> String {
    let plain = text
        .chars()
        .all(|c| c.is_alphanumeric() || "/._-".contains(c));
    if plain {
        text.to_owned()
    } else {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// The text of the configuration with the entries in it. An entry that is there stays as it is;
/// when its url is another one, a warning says so. `None` when the file cannot be extended; the
/// report says why.
pub fn merge(
    existing: Option<&Source>,
    entries: &[Entry],
    budget: &Budget,
) -> (Option<String>, Report) {
    let Some(source) = existing else {
        return (Some(fresh(entries).join("\n") + "\n"), Report::new());
    };
    let parsed = yaml::parse(source, budget);
    let mut report = parsed.report;
    if report.has_errors() {
        return (None, report);
    }
    let written = parsed.documents.first().map(|document| &document.root);
    let root = written.filter(|root| !root.is_null());
    let missing: Vec<&Entry> = entries
        .iter()
        .filter(|entry| !is_there(source, root, entry, &mut report))
        .collect();
    let mut edits = Edits::of(source.text());
    match root {
        None => {
            // A null that is written out (`~`) holds nothing, and no field can stand behind it.
            if let Some(null) = written {
                edits.replace(null.span, "");
            }
            edits.lines_at_end(0..0, &fresh(entries));
        }
        Some(root) => {
            if let Err(finding) = extend(&mut edits, source, root, &missing) {
                report.push(*finding);
                return (None, report);
            }
        }
    }
    (edits.apply().ok(), report)
}

/// The text of the configuration with cert-manager in it. A setting that is there stays; when it
/// leads elsewhere, a warning says so. `None` when the file cannot be extended.
pub(super) fn merge_cert_manager(
    existing: Option<&Source>,
    url: &str,
    version: &str,
    budget: &Budget,
) -> (Option<String>, Report) {
    let lines = vec![
        format!("{CERT_MANAGER}:"),
        format!("  url: {}", quoted(url)),
        format!("  version: {version}"),
    ];
    let Some(source) = existing else {
        let text = [fresh_head(), lines, version_check_lines().to_vec()]
            .concat()
            .join("\n");
        return (Some(text + "\n"), Report::new());
    };
    let parsed = yaml::parse(source, budget);
    let mut report = parsed.report;
    if report.has_errors() {
        return (None, report);
    }
    let root = parsed
        .documents
        .first()
        .map(|document| &document.root)
        .filter(|root| !root.is_null());
    let mut edits = Edits::of(source.text());
    match (root, cert_manager_setting(source, budget)) {
        (_, Some(setting)) => {
            if setting.url != url || setting.version != version {
                let finding = Diagnostic::of(
                    &ENTRY_OTHER,
                    format!("{} has another {CERT_MANAGER} already", source.name()),
                );
                let help = format!(
                    "keep it, or write `{CERT_MANAGER}: {{url: {}, version: {version}}}`",
                    quoted(&without_credentials(url))
                );
                report.push(finding.at(setting.place).help(help));
            }
        }
        (Some(root), None) if source.text()[root.span.start()..].starts_with('{') => {
            let finding = Diagnostic::of(
                &NOT_EXTENSIBLE,
                "the file is written in brackets, so entries cannot be added",
            );
            let finding = finding
                .at(source.place_at(root.span).in_document(1))
                .insertion(source.position(root.span.end()).line, lines);
            report.push(finding.help("write the file with one line for each key, and add these"));
            return (None, report);
        }
        (root, None) => edits.lines_at_end(root.map_or(0..0, |root| root.span.into()), &lines),
    }
    (edits.apply().ok(), report)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CertManagerSetting {
    pub(crate) place: Place,
    /// The url, as it is written.
    pub(crate) url: String,
    pub(crate) version: String,
    /// Whether it is there already, so that clusterctl does not install it
    /// (`externallyProvisioned`).
    pub(crate) is_external: bool,
}

/// The setting of cert-manager, if there is one.
pub(crate) fn cert_manager_setting(source: &Source, budget: &Budget) -> Option<CertManagerSetting> {
    let parsed = yaml::parse(source, budget);
    let entry = setting(&parsed.documents.first()?.root, CERT_MANAGER)?;
    let text = |key: &str| {
        setting(&entry.value, key)
            .map(|field| field.value.to_json())
            .unwrap_or_default()
    };
    let url = text("url").as_str().unwrap_or_default().to_owned();
    let version = text("version").as_str().unwrap_or_default().to_owned();
    let is_external = ["true", "1", "t"].contains(
        &text("externallyProvisioned")
            .to_string()
            .trim_matches('"')
            .to_lowercase()
            .as_str(),
    );
    Some(CertManagerSetting {
        place: source.place_at(entry.key_span).in_document(1),
        url,
        version,
        is_external,
    })
}

/// An entry by its key, whose case does not matter to clusterctl.
pub(super) fn setting<'n>(node: &'n Node, key: &str) -> Option<&'n yaml::Entry> {
    node.as_mapping()?
        .iter()
        .find(|entry| entry.key.eq_ignore_ascii_case(key))
}

/// Settings of a bundle that decide what clusterctl installs, wherever the releases are.
const DECISIVE: [&str; 2] = ["images", CERT_MANAGER];

/// What of a bundle's configuration, whose own urls begin with `base`, decides what is installed at
/// the site and is not in the bundle: each is an error until the user trusts it.
pub fn foreign(source: &Source, base: &str, budget: &Budget) -> Report {
    let parsed = yaml::parse(source, budget);
    let Some(root) = parsed.documents.first().map(|document| &document.root) else {
        return Report::new();
    };
    let finding = |span: TextRange, what: String| {
        let finding = Diagnostic::of(&FOREIGN, what).at(source.place_at(span).in_document(1));
        let remedy = Remedy::new("look at it, then pass ").setting(Setting::TrustConfiguration);
        finding.help(remedy.then("; or ask the sender for a bundle without it"))
    };
    let is_decisive = |entry: &&yaml::Entry| {
        DECISIVE
            .iter()
            .any(|name| name.eq_ignore_ascii_case(&entry.key))
    };
    let settings = root
        .as_mapping()
        .into_iter()
        .flatten()
        .filter(is_decisive)
        .filter(|entry| !is_cert_manager_of(entry, base));
    let mut report: Report = settings
        .map(|entry| {
            finding(
                entry.key_span,
                format!("the bundle's configuration sets `{}`", entry.key),
            )
        })
        .collect();
    let providers = root.at(&FieldPath::root().field("providers"));
    for item in providers.and_then(Node::as_sequence).unwrap_or_default() {
        let field = |name: &str| item.at(&FieldPath::root().field(name));
        let text = |name: &str| field(name).and_then(Node::as_str).unwrap_or_default();
        let is_of_bundle = below_base(text("url"), text("name"), text("type"))
            .is_some_and(|rest| text("url") == format!("{base}{rest}"));
        if !is_of_bundle {
            let span = field("url").map_or(item.span, |url| url.span);
            report.push(finding(
                span,
                format!(
                    "the bundle's configuration takes {} from elsewhere",
                    text("name")
                ),
            ));
        }
    }
    if let Some(providers) =
        providers.filter(|providers| providers.as_sequence().is_none() && !providers.is_null())
    {
        report.push(finding(
            providers.span,
            "the `providers` of the bundle's configuration are not list".to_owned(),
        ));
    }
    report
}

/// Whether a setting leads to cert-manager's manifest in the bundle itself, and says nothing else
/// but how long to wait.
fn is_cert_manager_of(entry: &yaml::Entry, base: &str) -> bool {
    let Some(fields) = entry.value.as_mapping() else {
        return false;
    };
    let is_known = |field: &yaml::Entry| {
        ["url", "version", "timeout"].contains(&field.key.to_lowercase().as_str())
    };
    let urls: Vec<&yaml::Entry> = fields
        .iter()
        .filter(|field| field.key.eq_ignore_ascii_case("url"))
        .collect();
    let [url] = urls.as_slice() else { return false };
    let url = url.value.as_str().unwrap_or_default();
    let is_here = below(url, CERT_MANAGER).is_some_and(|rest| url == format!("{base}{rest}"));
    entry.key.eq_ignore_ascii_case(CERT_MANAGER) && is_here && fields.iter().all(is_known)
}

/// The text of a configuration with another `base` for the repository: it replaces what stands
/// before `/{label}/{version}/{file}` in the url of each local provider. All else stays as it is.
pub fn rebase(source: &Source, base: &str, budget: &Budget) -> String {
    relocate(source, base, &|_, _| true, budget).0
}

/// What [`rebase`] gives when it changes only some urls, and a finding for each. `is_stale` says of
/// a label, and of what stands before it in the url, whether the repository is there no more.
pub fn relocate(
    source: &Source,
    base: &str,
    is_stale: &dyn Fn(&str, &str) -> bool,
    budget: &Budget,
) -> (String, Vec<Diagnostic>) {
    let parsed = yaml::parse(source, budget);
    let root = parsed.documents.first().map(|document| &document.root);
    let list = FieldPath::root().field("providers");
    let providers = root
        .and_then(|root| root.at(&list))
        .and_then(Node::as_sequence);
    let mut edits = Edits::of(source.text());
    let mut stale = Vec::new();
    for (at, item) in providers.unwrap_or_default().iter().enumerate() {
        let field = |name: &str| item.at(&FieldPath::root().field(name));
        let Some(url) = field("url") else { continue };
        let written = field("name")
            .and_then(Node::as_str)
            .zip(field("type").and_then(Node::as_str))
            .zip(url.as_str());
        if let Some(((name, provider_type), written)) = written
            && let Some(rest) = below_base(written, name, provider_type)
            && let Some(label) = rest.split('/').nth(1)
            && is_stale(label, &written[..written.len() - rest.len()])
        {
            let moved = format!("{}{rest}", base.trim_end_matches('/'));
            edits.replace(url.span, quoted(&moved));
            let place = source
                .place_at(url.span)
                .in_document(1)
                .at_path(list.index(at).field("url"));
            stale.push(stale_url(label, written, &moved).at(place));
        }
    }
    let cert_manager = FieldPath::root().field(CERT_MANAGER).field("url");
    if let Some(url) = root.and_then(|root| root.at(&cert_manager))
        && let Some(written) = url.as_str()
        && let Some(rest) = below(written, CERT_MANAGER)
        && is_stale(CERT_MANAGER, &written[..written.len() - rest.len()])
    {
        let moved = format!("{}{rest}", base.trim_end_matches('/'));
        edits.replace(url.span, quoted(&moved));
        let place = source
            .place_at(url.span)
            .in_document(1)
            .at_path(cert_manager);
        stale.push(stale_url(CERT_MANAGER, written, &moved).at(place));
    }
    // Two urls never overlap; one that an alias repeats gets the same text twice.
    (
        edits.apply().unwrap_or_else(|_| source.text().to_owned()),
        stale,
    )
}

/// The finding about a url that leads to where the repository was before somebody moved it.
pub(super) fn stale_url(label: &str, written: &str, moved: &str) -> Diagnostic {
    let finding = Diagnostic::of(
        &ENTRY_STALE,
        format!(
            "the url of {label} leads to {}, where nothing is",
            without_credentials(written)
        ),
    );
    let help = Remedy::new(format!(
        "write `url: {}`, or lay the release in again with ",
        quoted(&without_credentials(moved))
    ))
    .setting(Setting::Force);
    finding.help(help.then(", which changes such urls"))
}

/// `/{label}/{version}/{file}` at the end of the url of a local repository.
pub(super) fn below_base<'u>(url: &'u str, name: &str, provider_type: &str) -> Option<&'u str> {
    let provider_type = ProviderType::ALL
        .into_iter()
        .find(|known| known.as_str() == provider_type)?;
    below(url, &provider_type.label(name))
}

fn below<'u>(url: &'u str, label: &str) -> Option<&'u str> {
    if url.starts_with("https://") {
        return None;
    }
    let (file, _) = url.rmatch_indices('/').nth(2)?;
    url[file..]
        .starts_with(&format!("/{label}/"))
        .then(|| &url[file..])
}

fn fresh_head() -> Vec<String> {
    vec!["# Configuration of clusterctl for the repository in this folder: clusterctl --config clusterctl.yaml".to_owned()]
}

fn fresh(entries: &[Entry]) -> Vec<String> {
    let mut lines = fresh_head();
    lines.push("providers:".to_owned());
    lines.extend(entries.iter().flat_map(|entry| entry.lines("")));
    lines.extend(version_check_lines());
    lines
}

fn version_check_lines() -> [String; 2] {
    [
        "# Offline, each call would else wait for the newest version of clusterctl.".to_owned(),
        format!("{VERSION_CHECK}: \"true\""),
    ]
}

/// Whether an entry of that name and type is in the file; with another url that is a warning.
fn is_there(source: &Source, root: Option<&Node>, entry: &Entry, report: &mut Report) -> bool {
    let providers = root
        .and_then(|root| root.at(&FieldPath::root().field("providers")))
        .and_then(Node::as_sequence);
    for (i, item) in providers.unwrap_or_default().iter().enumerate() {
        let text = |field: &str| {
            item.at(&FieldPath::root().field(field))
                .and_then(Node::as_str)
                .unwrap_or_default()
        };
        if text("name") != entry.name || text("type") != entry.provider_type.as_str() {
            continue;
        }
        if text("url") != entry.url {
            let path = FieldPath::root().field("providers").index(i).field("url");
            let span = root
                .map(|root| root.nearest(&path).span)
                .unwrap_or_default();
            let message = format!(
                "{} {} has another url in {} already",
                entry.provider_type.as_str(),
                entry.name,
                source.name()
            );
            let finding = Diagnostic::of(&ENTRY_OTHER, message)
                .at(source.place_at(span).in_document(1).at_path(path));
            let url = without_credentials(&entry.url);
            report.push(finding.help(format!("keep it, or write `url: {}`", quoted(&url))));
        }
        return true;
    }
    false
}

/// Adds entries behind the last one of the list, indented as it is, and the switch of the version
/// check.
fn extend(
    edits: &mut Edits<'_>,
    source: &Source,
    root: &Node,
    missing: &[&Entry],
) -> Result<(), Box<Diagnostic>> {
    let has_switch = root.at(&FieldPath::root().field(VERSION_CHECK)).is_some();
    if source.text()[root.span.start()..].starts_with('{') && !(has_switch && missing.is_empty()) {
        return Err(not_extensible(source, FieldPath::root(), root, missing));
    }
    if !missing.is_empty() {
        let path = FieldPath::root().field("providers");
        let lines = |indent: &str| {
            missing
                .iter()
                .flat_map(|entry| entry.lines(indent))
                .collect::<Vec<_>>()
        };
        match root.at(&path) {
            None => edits.lines_at_end(
                root.span,
                &[vec!["providers:".to_owned()], lines("")].concat(),
            ),
            Some(list) if list.span.start() == list.span.end() => {
                edits.lines_after(root.nearest(&path).key.unwrap_or(list.span), &lines(""));
            }
            Some(list) if !source.text()[list.span.start()..].starts_with('-') => {
                return Err(not_extensible(source, path, list, missing));
            }
            Some(list) => edits.lines_after(
                list.span,
                &lines(&indentation(source.text(), list.span.start())),
            ),
        }
    }
    if !has_switch {
        edits.lines_at_end(root.span, &version_check_lines());
    }
    Ok(())
}

/// A list or a file in brackets is left to its author.
fn not_extensible(
    source: &Source,
    path: FieldPath,
    node: &Node,
    missing: &[&Entry],
) -> Box<Diagnostic> {
    let what = if path.is_root() {
        "the file"
    } else {
        "providers"
    };
    let lines: Vec<String> = missing.iter().flat_map(|entry| entry.lines("")).collect();
    let finding = Diagnostic::of(
        &NOT_EXTENSIBLE,
        format!("{what} is written in brackets, so entries cannot be added"),
    );
    let finding = finding.at(source.place_at(node.span).in_document(1).at_path(path));
    let finding = finding.insertion(source.position(node.span.end()).line, lines);
    Box::new(finding.help("write the list with one `- ` line for each entry, and add these"))
}

#[cfg(test)]
mod tests;
