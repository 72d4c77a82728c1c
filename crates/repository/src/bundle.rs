//! `repository bundle`: a local repository as one tar for a site without a network, the same bytes
//! whoever packs it; and the way back, which trusts nothing in it.

use std::collections::{BTreeMap, BTreeSet};

use semver::Version;
use sha2::{Digest, Sha256};

use super::cert_manager::{self, is_manifest, manifest_of};
use super::configuration::{
    CONFIGURATION_FILE, Entry, NOT_EXTENSIBLE, cert_manager_setting, merge, merge_cert_manager,
    rebase,
};
use super::doctor::unreadable;
use super::images::{Reached, Unset, reached};
use super::init::{Implied, implied};
use super::mirror::{Mirror, SCRIPT_FILE};
use super::site;
use super::tars::{Entries, Taken, read, untakable};
use windlass_capi::contract::parse_semantic;
use windlass_clusterctl::{CERT_MANAGER, Config, MANIFEST_FILE, World};
use windlass_release::assets::{Assets, release_of};
use windlass_release::emit::checksums::{
    CHECKSUMS_FILE, ChecksumFault, checksums, compare, summed,
};
use windlass_release::emit::release::IMAGES_FILE;
use windlass_release::oci::archive;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Place, Remedy, Report, Setting, rules};
use windlass_source::hex::hex;
use windlass_source::tree::Tree;

rules! {
    /// the repository contains no release to pack
    EMPTY = error("bundle-release-missing");
    /// the repository lacks providers or cert-manager that `clusterctl init` also installs
    IMPLIED_MISSING = warning("bundle-implied-missing");
    /// a file in a bundle does not match its checksum
    pub CHECKSUM_WRONG = error("bundle-checksum-wrong");
}

/// What urls in a bundle's configuration begin with, so that it does not depend on the place where
/// it was packed.
pub const BASE_VARIABLE: &str = "${WINDLASS_REPOSITORY}";

/// A packed repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The tar.
    pub bytes: Vec<u8>,
    /// The releases in it.
    pub providers: Vec<Assets>,
    /// How many files it holds.
    pub files: usize,
    /// How many images its releases run, and machines pull.
    pub images: usize,
}

/// A bundle that was read.
#[derive(Debug, Clone, Default)]
pub struct Unpacked {
    /// The releases: the folder in the bundle, the version that it names, and the files.
    pub releases: Vec<(String, Version, Tree)>,
    /// cert-manager's manifests: the folder in the bundle, and the version.
    pub cert_managers: Vec<(String, Version, Tree)>,
    /// The configuration, with urls that begin with [`BASE_VARIABLE`].
    pub configuration: Option<Source>,
}

/// Packs the releases of a repository with its configuration, and lists the images of machines
/// beside those of the releases. `None` when something is wrong with one of them; the report says
/// what.
pub fn pack(
    repository: &Tree,
    shown: &str,
    of_machines: &BTreeSet<&str>,
    budget: &Budget,
) -> (Option<Bundle>, Report) {
    let mut report = Report::new();
    let mut files = Tree::new();
    let mut providers = Vec::new();
    for (folder, version, release) in releases(repository) {
        if is_manifest(&release) {
            report.extend(
                manifest_of(
                    &release,
                    &format!("{shown}/{folder}"),
                    Some(&version),
                    budget,
                )
                .1,
            );
            files_into(&mut files, &folder, &release);
            continue;
        }
        let (assets, found) = release_of(
            &release,
            &format!("{shown}/{folder}"),
            Some(&version),
            budget,
        );
        report.extend(found);
        providers.extend(assets);
        files_into(&mut files, &folder, &release);
    }
    if providers.is_empty() && !report.has_errors() {
        let finding =
            Diagnostic::of(&EMPTY, format!("{shown} holds no release")).at(Place::file(shown));
        report.push(finding.help(Remedy::new("lay one in: ").request(
            "repository add DIR",
            Setting::To,
            shown,
        )));
    }
    if !report.has_errors() {
        report.extend(lacking_finding(&lacking(repository, budget), shown));
    }
    let configuration = configuration(repository, shown, &providers, budget, &mut report);
    report.extend(untakable(&files, shown));
    files.insert(CONFIGURATION_FILE, configuration.unwrap_or_default());
    // Of the bundle, not of the repository: the images are those that the other site runs, and no
    // variable of this one gets into their names.
    let (images, found) = images(&files, shown, budget);
    report.extend(found);
    // The other site computes the place of each release's image anew, without those of machines.
    let (mut mirror, found) = Mirror::of(&images);
    report.extend(found);
    report.extend(mirror.add_machines(of_machines));
    budget.tell(&mut report);
    if report.has_errors() {
        return (None, report);
    }
    let names: BTreeSet<&str> = images
        .iter()
        .map(|image| image.listed.image.as_str())
        .chain(of_machines.iter().copied())
        .collect();
    let lines: String = names.iter().map(|image| format!("{image}\n")).collect();
    files.insert(IMAGES_FILE, lines);
    files.insert(SCRIPT_FILE, mirror.script());
    let sums = checksums(summed(&files));
    files.insert(CHECKSUMS_FILE, sums);
    let bundle = Bundle {
        bytes: tar(&files),
        providers,
        files: files.len(),
        images: names.len(),
    };
    (Some(bundle), report)
}

/// The images that `clusterctl init` runs from a repository, with the overrides and variables of
/// its configuration. The environment of who packs it, and of who lays it out, counts for nothing:
/// a site that sets variables may run other images.
pub(super) fn images(
    repository: &Tree,
    shown: &str,
    budget: &Budget,
) -> (BTreeSet<Reached>, Report) {
    let world = World {
        files: repository,
        environment: &|_| None,
        network: None,
        budget,
    };
    let written = repository.get(CONFIGURATION_FILE);
    match written.map_or_else(
        || Ok(Config::empty(world)),
        |_| Config::load(world, CONFIGURATION_FILE),
    ) {
        Ok(config) => reached(repository, shown, &config, Unset::ElsewhereSet),
        Err(rejection) => {
            let text = String::from_utf8_lossy(written.unwrap_or_default()).into_owned();
            let source = Source::new(format!("{shown}/{CONFIGURATION_FILE}"), text);
            (
                BTreeSet::new(),
                [unreadable(Some(&source), &rejection)]
                    .into_iter()
                    .collect(),
            )
        }
    }
}

/// The folders `{label}/{version}` with their versions and files.
fn releases(repository: &Tree) -> Vec<(String, Version, Tree)> {
    let mut found: BTreeMap<String, Version> = BTreeMap::new();
    for path in repository.paths() {
        let mut parts = path.splitn(3, '/');
        if let (Some(label), Some(version), Some(_)) = (parts.next(), parts.next(), parts.next())
            && let Ok(number) = parse_semantic(version)
        {
            found.insert(format!("{label}/{version}"), number);
        }
    }
    found
        .into_iter()
        .map(|(folder, version)| {
            let files = repository.subtree(&folder);
            (folder, version, files)
        })
        .collect()
}

fn files_into(files: &mut Tree, folder: &str, release: &Tree) {
    for (path, bytes) in release {
        files.insert(format!("{folder}/{path}"), bytes.clone());
    }
}

/// What `clusterctl init` installs with the providers of a repository and the repository does not
/// hold: a site without a network cannot do it.
pub fn lacking(repository: &Tree, budget: &Budget) -> Vec<Implied> {
    let releases = releases(repository);
    let holds = |label: &str| {
        releases.iter().any(|(folder, ..)| {
            folder
                .strip_prefix(label)
                .is_some_and(|rest| rest.starts_with('/'))
        })
    };
    let configuration = repository
        .get(CONFIGURATION_FILE)
        .and_then(|bytes| std::str::from_utf8(bytes).ok());
    let configuration = configuration.map(|text| Source::new(CONFIGURATION_FILE, text));
    let has_its_own = configuration.is_some_and(|source| {
        cert_manager_setting(&source, budget).is_some_and(|setting| setting.is_external)
    });
    let providers: Vec<Assets> = releases
        .iter()
        .flat_map(|(folder, version, files)| release_of(files, folder, Some(version), budget).0)
        .collect();
    let is_there = |implied: &Implied| {
        holds(&implied.label()) || (has_its_own && *implied == Implied::CertManager)
    };
    if providers.is_empty() {
        Vec::new()
    } else {
        implied(&providers)
            .into_iter()
            .filter(|implied| !is_there(implied))
            .collect()
    }
}

/// What is told of a bundle with which clusterctl needs a network all the same.
fn lacking_finding(lacking: &[Implied], shown: &str) -> Option<Diagnostic> {
    let labels: Vec<String> = lacking.iter().copied().map(Implied::label).collect();
    let (last, others) = labels.split_last()?;
    let names = if others.is_empty() {
        last.clone()
    } else {
        format!("{} and {last}", others.join(", "))
    };
    let finding = Diagnostic::of(
        &IMPLIED_MISSING,
        format!("{shown} lacks {names}, which `clusterctl init` also installs"),
    );
    let help = Remedy::new("lay the files of each release in with ").request(
        "repository add DIR|cert-manager.yaml",
        Setting::To,
        shown,
    );
    Some(
        finding.at(Place::file(shown)).help(
            help.then(", or have them fetched: ")
                .setting(Setting::AllowNetwork),
        ),
    )
}

/// The configuration of the bundle: what another site needs of the repository's, with urls that can
/// be moved.
fn configuration(
    repository: &Tree,
    shown: &str,
    providers: &[Assets],
    budget: &Budget,
    report: &mut Report,
) -> Option<String> {
    let name = format!("{shown}/{CONFIGURATION_FILE}");
    let existing = repository
        .get(CONFIGURATION_FILE)
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .map(|text| Source::new(name.as_str(), text));
    let Some(existing) = existing else {
        let (text, found) = completed(repository, None, providers, budget);
        report.extend(found);
        return text;
    };
    // What is wrong is reported at its place in the user's file.
    let (_, found) = completed(repository, Some(&existing), providers, budget);
    report.extend(
        found
            .into_findings()
            .into_iter()
            .filter(|finding| finding.rule != &NOT_EXTENSIBLE),
    );
    let made = site::made(&existing, budget);
    let help = "set at the other site what it needs of them, in its clusterctl.yaml or environment";
    report.extend(made.finding(&existing, help));
    let made = Source::new(name, made.text);
    completed(repository, Some(&made), providers, budget).0
}

/// A configuration with entries for all releases of the repository.
fn completed(
    repository: &Tree,
    existing: Option<&Source>,
    providers: &[Assets],
    budget: &Budget,
) -> (Option<String>, Report) {
    let name = existing.map_or_else(|| CONFIGURATION_FILE.into(), |source| source.name().clone());
    let existing = existing.map(|source| rebase(source, BASE_VARIABLE, budget));
    let entries: Vec<Entry> = providers
        .iter()
        .map(|assets| Entry::of(assets, BASE_VARIABLE))
        .collect();
    let existing = existing.map(|text| Source::new(name.clone(), text));
    let (text, mut report) = merge(existing.as_ref(), &entries, budget);
    let merged = text.as_ref().map(|text| Source::new(name, text.as_str()));
    let mut versions = cert_manager::versions(repository);
    versions.sort_by_key(|version| parse_semantic(version).ok());
    // A setting that leads elsewhere than into the bundle is reported.
    let set = merged
        .as_ref()
        .and_then(|source| cert_manager_setting(source, budget))
        .filter(|setting| versions.contains(&setting.version));
    let Some(version) = set
        .map(|setting| setting.version)
        .or_else(|| versions.pop())
    else {
        return (text, report);
    };
    let url = format!("{BASE_VARIABLE}/{CERT_MANAGER}/{version}/{MANIFEST_FILE}");
    let (text, found) = merge_cert_manager(merged.as_ref(), &url, &version, budget);
    report.extend(found);
    (text, report)
}

/// The tar: sorted, without times, owners and other traces of the machine.
fn tar(files: &Tree) -> Vec<u8> {
    archive::tar(
        files.iter().map(|(path, bytes)| archive::Entry {
            path,
            mode: 0o644,
            bytes,
        }),
        0,
    )
}

/// The checksum of a bundle, for those who send it.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Reads a bundle and holds every file against its checksums.
pub fn unpack(bytes: &[u8], shown: &str) -> (Unpacked, Report) {
    let Taken {
        files, mut report, ..
    } = read(bytes, shown, Entries::OfBundle);
    if report.has_errors() {
        return (Unpacked::default(), report);
    }
    report.extend(wrong_sums(&files, shown));
    let configuration = files
        .get(CONFIGURATION_FILE)
        .and_then(|bytes| std::str::from_utf8(bytes).ok());
    let configuration =
        configuration.map(|text| Source::new(format!("{shown}/{CONFIGURATION_FILE}"), text));
    let (cert_managers, releases): (Vec<_>, Vec<_>) = releases(&files)
        .into_iter()
        .partition(|(_, _, files)| is_manifest(files));
    if releases.is_empty() && cert_managers.is_empty() && !report.has_errors() {
        let finding =
            Diagnostic::of(&EMPTY, format!("{shown} holds no release")).at(Place::file(shown));
        report.push(finding.help(Remedy::new("pack one: ").request(
            "repository bundle REPOSITORY",
            Setting::WriteTo,
            "FILE",
        )));
    }
    (
        Unpacked {
            releases,
            cert_managers,
            configuration,
        },
        report,
    )
}

fn wrong_sums(files: &Tree, shown: &str) -> Vec<Diagnostic> {
    let wrong = |message: String| {
        let finding = Diagnostic::of(&CHECKSUM_WRONG, message).at(Place::file(shown));
        finding.help("fetch the bundle again, and compare its own checksum with that of the sender")
    };
    let Some(listed) = files.get(CHECKSUMS_FILE) else {
        return vec![wrong(format!("{shown} holds no {CHECKSUMS_FILE}"))];
    };
    let told = |(path, fault)| match fault {
        ChecksumFault::Differs => {
            wrong(format!("{path} of {shown} is not the file of its checksum"))
        }
        ChecksumFault::Unlisted => wrong(format!("{path} of {shown} has no checksum")),
        ChecksumFault::Gone => wrong(format!("{shown} lacks {path}, which its checksums name")),
    };
    compare(&String::from_utf8_lossy(listed), files)
        .into_iter()
        .map(told)
        .collect()
}

#[cfg(test)]
mod tests {
    use tar::Archive;

    use super::*;

    const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";
    const COMPONENTS: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: m, labels: {cluster.x-k8s.io/provider: bootstrap-foo}}\nspec: {template: {spec: {containers: [{image: \"${I:=ghcr.io/a/b:v1}\"}]}}}\n";

    fn repository(configuration: &str) -> Tree {
        [
            ("bootstrap-foo/v0.1.0/bootstrap-components.yaml", COMPONENTS),
            ("bootstrap-foo/v0.1.0/metadata.yaml", METADATA),
            ("bootstrap-foo/notes", "x"),
            ("clusterctl.yaml", configuration),
        ]
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
        .collect()
    }

    fn packed(configuration: &str) -> Vec<u8> {
        let (bundle, report) = pack(
            &repository(configuration),
            "r",
            &BTreeSet::new(),
            &Budget::default(),
        );
        assert!(!report.has_errors(), "{report:?}");
        bundle.unwrap().bytes
    }

    const THEIRS: &str = "providers:\n- name: foo\n  type: BootstrapProvider\n  url: /srv/capi/bootstrap-foo/latest/bootstrap-components.yaml # here\nVAR: x\n";

    #[test]
    fn a_bundle_does_not_depend_on_the_place_where_it_is_packed() {
        let bytes = packed(THEIRS);
        assert_eq!(
            bytes,
            packed(&THEIRS.replace("/srv/capi", "/home/u/repository"))
        );
        let (unpacked, report) = unpack(&bytes, "b.tar");
        assert!(report.is_empty(), "{report:?}");
        let configuration = unpacked.configuration.unwrap();
        let url =
            "url: \"${WINDLASS_REPOSITORY}/bootstrap-foo/latest/bootstrap-components.yaml\"\n";
        assert!(
            configuration.text().contains(url),
            "{}",
            configuration.text()
        );
        assert!(!configuration.text().contains("VAR") && !configuration.text().contains("here"));
        let [(folder, version, files)] = unpacked.releases.as_slice() else {
            panic!("{:?}", unpacked.releases)
        };
        assert_eq!(
            (folder.as_str(), version.to_string().as_str(), files.len()),
            ("bootstrap-foo/v0.1.0", "0.1.0", 2)
        );
    }

    /// A variable in a flow mapping is not YAML before it is replaced, and is fine for clusterctl.
    #[test]
    fn components_are_read_as_clusterctl_reads_them() {
        let mut tree = repository(THEIRS);
        let flow = COMPONENTS.replace(
            "\"${I:=ghcr.io/a/b:v1}\"",
            "${I:=ghcr.io/a/b:v1}, args: [${X}]",
        );
        tree.insert("bootstrap-foo/v0.1.0/bootstrap-components.yaml", flow);
        let (bundle, report) = pack(&tree, "r", &BTreeSet::new(), &Budget::default());
        let rules: Vec<&str> = report
            .findings()
            .iter()
            .map(|finding| finding.rule.id)
            .collect();
        assert_eq!(
            (bundle.map(|bundle| bundle.images), rules),
            (
                Some(1),
                vec!["bundle-implied-missing", "bundle-configuration-left-out"]
            )
        );
    }

    #[test]
    fn headers_hold_no_trace_of_the_machine() {
        let bytes = packed(THEIRS);
        let mut archive = Archive::new(bytes.as_slice());
        let entries: Vec<_> = archive.entries().unwrap().map(Result::unwrap).collect();
        let mut paths = Vec::new();
        for entry in &entries {
            let header = entry.header();
            assert_eq!(
                (
                    header.mtime().unwrap(),
                    header.uid().unwrap(),
                    header.gid().unwrap(),
                    header.mode().unwrap()
                ),
                (0, 0, 0, 0o644)
            );
            assert_eq!(
                (header.username(), header.groupname()),
                (Ok(Some("")), Ok(Some("")))
            );
            paths.push(String::from_utf8(entry.path_bytes().into_owned()).unwrap());
        }
        let expected = [
            "SHA256SUMS",
            "bootstrap-foo/v0.1.0/bootstrap-components.yaml",
            "bootstrap-foo/v0.1.0/metadata.yaml",
            "clusterctl.yaml",
            "images.txt",
            "mirror.sh",
        ];
        assert_eq!(paths, expected);
        let files = read(&bytes, "b", Entries::OfBundle).files;
        assert_eq!(files.get("images.txt"), Some(&b"ghcr.io/a/b:v1\n"[..]));
    }

    #[test]
    fn what_is_no_bundle_is_rejected() {
        for (bytes, rule) in [
            (&b"no tar at all"[..], "bundle-unreadable"),
            (&[0; 4096], "bundle-checksum-wrong"),
        ] {
            let (unpacked, report) = unpack(bytes, "b.tar");
            assert_eq!(
                report.findings().first().map(|finding| finding.rule.id),
                Some(rule),
                "{report:?}"
            );
            assert!(unpacked.releases.is_empty());
        }
    }

    #[test]
    fn files_are_held_against_their_checksums() {
        let bytes = packed(THEIRS);
        let at = bytes
            .windows(10)
            .position(|window| window == b"providers:")
            .unwrap();
        let mut changed = bytes.clone();
        changed[at] = b'P';
        let (_, report) = unpack(&changed, "b.tar");
        assert_eq!(report.findings()[0].rule, &CHECKSUM_WRONG);
        assert!(
            report.findings()[0]
                .message
                .starts_with("clusterctl.yaml of b.tar"),
            "{report:?}"
        );
    }

    #[test]
    fn a_release_that_clusterctl_would_reject_is_not_packed() {
        let mut tree = repository(THEIRS);
        tree.insert("bootstrap-foo/v0.2.0/bootstrap-components.yaml", COMPONENTS);
        let (bundle, report) = pack(&tree, "r", &BTreeSet::new(), &Budget::default());
        assert!(bundle.is_none());
        assert_eq!(
            report.findings()[0].rule.id,
            "release-asset-metadata-missing"
        );
        let (bundle, report) = pack(&Tree::new(), "r", &BTreeSet::new(), &Budget::default());
        assert!(bundle.is_none() && report.findings()[0].rule == &EMPTY);
    }

    /// Each fault of a file has its words; a bundle without checksums has one fault.
    #[test]
    fn faults_of_files_are_told_by_their_kind() {
        let sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let told = |files: &[(&str, &str)]| {
            let files: Tree = files.iter().copied().collect();
            wrong_sums(&files, "b.tar")
                .into_iter()
                .map(|finding| finding.message.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(told(&[("a", "")]), ["b.tar holds no SHA256SUMS"]);
        let sums = format!("{sum}  a\n{sum}  b\n{sum}  gone\n");
        let expected = [
            "b of b.tar is not the file of its checksum",
            "c of b.tar has no checksum",
            "b.tar lacks gone, which its checksums name",
        ];
        assert_eq!(
            told(&[
                ("SHA256SUMS", sums.as_str()),
                ("a", ""),
                ("b", "changed"),
                ("c", "")
            ]),
            expected
        );
    }

    #[test]
    fn what_a_bundle_lacks_is_named_in_a_sentence() {
        let bootstrap = Implied::Provider(
            windlass_capi::contract::ProviderType::BootstrapProvider,
            "kubeadm",
        );
        let told = |lacking: &[Implied]| {
            lacking_finding(lacking, "r").map(|finding| finding.message.to_string())
        };
        assert_eq!(told(&[]), None);
        let message = |names: &str| {
            Some(format!(
                "r lacks {names}, which `clusterctl init` also installs"
            ))
        };
        assert_eq!(told(&[Implied::CertManager]), message("cert-manager"));
        assert_eq!(
            told(&[bootstrap, Implied::CertManager]),
            message("bootstrap-kubeadm and cert-manager")
        );
        let core = Implied::Provider(
            windlass_capi::contract::ProviderType::CoreProvider,
            "cluster-api",
        );
        assert_eq!(
            told(&[core, bootstrap, Implied::CertManager]),
            message("cluster-api, bootstrap-kubeadm and cert-manager")
        );
    }

    /// A label that only begins alike is another provider; a cluster that has cert-manager needs
    /// none.
    #[test]
    fn what_init_installs_is_there_or_lacking() {
        let of = |more: &[&str], configuration: &str| {
            let mut tree = repository(configuration);
            for path in more {
                tree.insert(*path, "x");
            }
            lacking(&tree, &Budget::default())
                .into_iter()
                .map(Implied::label)
                .collect::<Vec<_>>()
        };
        let kubeadm = ["bootstrap-kubeadm", "control-plane-kubeadm"];
        assert_eq!(
            of(&[], ""),
            [&["cluster-api"][..], &kubeadm, &["cert-manager"]].concat()
        );
        assert_eq!(
            of(&["cluster-api-x/v1.0.0/a"], ""),
            [&["cluster-api"][..], &kubeadm, &["cert-manager"]].concat()
        );
        assert_eq!(
            of(&["cluster-api/v1.0.0/a"], ""),
            [&kubeadm[..], &["cert-manager"]].concat()
        );
        assert_eq!(
            of(&["cert-manager/v1.0.0/a"], ""),
            [&["cluster-api"][..], &kubeadm].concat()
        );
        assert_eq!(
            of(&[], "cert-manager: {externallyProvisioned: true}\n"),
            [&["cluster-api"][..], &kubeadm].concat()
        );
        assert_eq!(lacking(&Tree::new(), &Budget::default()), []);
    }

    /// A bundle of cert-manager alone is one; folders that are no versions, and files beside them,
    /// make none.
    #[test]
    fn a_release_is_a_file_in_the_folder_of_a_version() {
        let of = |paths: &[&str]| {
            let mut files: Tree = paths
                .iter()
                .map(|path| ((*path).to_owned(), Vec::new()))
                .collect();
            files.insert(CHECKSUMS_FILE, checksums(summed(&files)));
            let (unpacked, report) = unpack(&tar(&files), "b.tar");
            let folders = |found: &[(String, Version, Tree)]| {
                found
                    .iter()
                    .map(|(folder, ..)| folder.clone())
                    .collect::<Vec<_>>()
            };
            let told: Vec<String> = report
                .findings()
                .iter()
                .map(|finding| finding.message.to_string())
                .collect();
            (
                folders(&unpacked.releases),
                folders(&unpacked.cert_managers),
                told,
            )
        };
        let none = vec!["b.tar holds no release".to_owned()];
        assert_eq!(
            of(&["a/v1.0.0/x/y", "a/next/x", "a/v2.0.0"]),
            (vec!["a/v1.0.0".to_owned()], vec![], vec![])
        );
        assert_eq!(
            of(&["cert-manager/v1.0.0/cert-manager.yaml"]),
            (vec![], vec!["cert-manager/v1.0.0".to_owned()], vec![])
        );
        assert_eq!(
            of(&["a/next/x", "a/v2.0.0", "v1.0.0/x"]),
            (vec![], vec![], none)
        );
    }
}
