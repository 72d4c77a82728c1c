//! What `repository add` and `repository pull` share: releases are checked and laid into a local
//! repository, and its configuration names them.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use semver::Version;

use super::authors::Authors;
use super::trust::{self, TrustFlags};
use crate::cli::context::To;
use crate::cli::flags::LevelFlags;
use crate::cli::release::kept;
use crate::cli::{Context, Exit, Failure};
use crate::io::files::{self, Privacy};
use crate::io::input::{Limits, read_source};
use crate::io::lock::Lock;
use crate::io::trees::{self, Mode, Outcome};
use crate::io::{WorldError, compare};
use windlass_capi::contract::parse_semantic;
use windlass_report::Sources;
use windlass_report::levels::Verdict;
use windlass_report::text::{plural, visible};
use windlass_repository::signed::{self, Unverified, Verifier};
use windlass_repository::{
    self as repository, Added, Assets, CONFIGURATION_FILE, Destination, Implied, Manifest,
    Mirrored, Placement, Stated, bundle, site,
};
use windlass_shell as shell;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Place, Report};
use windlass_source::names;
use windlass_source::tree::Tree;

/// Where releases are laid, and what fails.
#[derive(Args)]
pub(super) struct Laying {
    /// The repository
    ///
    /// It is made if it is not there. Its clusterctl.yaml gets an entry for each provider; nothing
    /// else in that file is touched.
    #[arg(long, value_name = "REPOSITORY")]
    to: String,
    /// What urls in clusterctl.yaml begin with; without it the absolute path of the repository
    ///
    /// A variable such as '${WINDLASS_REPOSITORY}' lets the repository be moved: clusterctl takes
    /// it from the environment.
    #[arg(long, value_name = "URL")]
    base: Option<String>,
    /// Overwrite a version that is there with other content
    #[arg(long)]
    force: bool,
    /// A registry with copies of all images, as mirror.sh of a bundle makes them: `images` in
    /// clusterctl.yaml leads there
    ///
    /// Other overrides that are set there need --force. What they did to the images of the
    /// repository stays.
    #[arg(long, value_name = "REGISTRY")]
    mirror: Option<String>,
    #[command(flatten)]
    pub(super) trust: TrustFlags,
    #[command(flatten)]
    levels: LevelFlags,
}

/// Who lays in.
#[derive(Clone, Copy)]
pub(super) struct By<'a> {
    pub(super) verb: &'static str,
    /// Who must have signed.
    pub(super) trust: Option<&'a dyn Verifier>,
}

/// Files that together are the release of one version.
pub(super) struct Release {
    /// What the user called it.
    pub(super) shown: String,
    pub(super) files: Tree,
    /// The version, when something says it: `--release`, or the folder of a bundle.
    pub(super) version: Option<Version>,
    /// The name of the provider, of a release whose objects have no label.
    pub(super) name: Option<String>,
    /// What the user called files that do not lie together, by their names.
    pub(super) called: BTreeMap<String, String>,
    /// Whether the signature of the bundle that it came in was verified.
    pub(super) is_vouched: bool,
    /// Whether the user named the files themselves, rather than an artifact or a tar.
    pub(super) is_on_disk: bool,
}

impl Release {
    /// What of the release is not signed by who was asked for; that all of it is, is reported.
    fn unsigned(&self, context: &mut Context<'_>, trust: Option<&dyn Verifier>) -> Report {
        let Some(trust) = trust.filter(|_| !self.is_vouched) else {
            return Report::new();
        };
        let report = signed::verify(&self.files, &self.shown, trust);
        if !report.has_errors() {
            trust::tell(context, trust, &self.shown);
        }
        report
    }

    /// The signatures among the files. Those of an artifact or a tar are files only in the
    /// repository, in `folder`.
    fn signatures(&self, folder: &str) -> Vec<Unverified> {
        let folder = if self.is_on_disk { &self.shown } else { folder };
        let path = |name: &str| match self.called.get(name) {
            Some(called) => called.clone(),
            None => format!("{}/{name}", folder.trim_end_matches('/')),
        };
        signed::signatures_of(&self.files, &self.shown, path)
    }

    /// A report and texts in which files are called as the user called them.
    fn as_called(&self, report: Report) -> (Report, Vec<Source>) {
        let called = |file: &str| {
            self.called.get(
                file.strip_prefix(self.shown.trim_end_matches('/'))?
                    .strip_prefix('/')?,
            )
        };
        let renamed = |place: &mut Place| {
            if let Some(name) = place.file.as_deref().and_then(called) {
                place.file = Some(name.as_str().into());
            }
        };
        let mut findings = report.into_findings();
        for finding in &mut findings {
            renamed(&mut finding.place);
            finding
                .related
                .iter_mut()
                .for_each(|related| renamed(&mut related.place));
        }
        let texts = crate::cli::repository::texts(&self.shown, &self.files).into_iter();
        let named = |source: Source| match called(source.name()) {
            Some(name) => Source::new(name.as_str(), source.text()),
            None => source,
        };
        (findings.into_iter().collect(), texts.map(named).collect())
    }
}

/// What is laid into the repository.
struct Content {
    releases: Vec<(Tree, Vec<Assets>)>,
    cert_managers: Vec<Manifest>,
    /// The configuration of a bundle.
    configuration: Option<Source>,
    /// Whether that is used unchanged.
    is_trusted: bool,
    /// The registry from which images come.
    mirror: Option<String>,
    verb: &'static str,
    /// What only the authors of the releases can change.
    authors: Authors,
}

/// The providers of a release, with their version.
fn title(providers: &[Assets], shown: &str) -> String {
    let labels: Vec<&str> = providers
        .iter()
        .map(|assets| assets.label.as_str())
        .collect();
    match providers.first() {
        Some(first) => format!("{} v{}", labels.join(" + "), first.version),
        None => shown.to_owned(),
    }
}

/// The findings about checksums: a bundle that was changed is not worth a further look.
fn wrong_checksums(report: &Report) -> Option<Report> {
    let wrong: Report = report
        .findings()
        .iter()
        .filter(|finding| finding.rule.id == bundle::CHECKSUM_WRONG.id)
        .cloned()
        .collect();
    (!wrong.is_empty()).then_some(wrong)
}

/// What is to be laid in.
#[derive(Default)]
pub(super) struct Given {
    pub(super) releases: Vec<Release>,
    /// The configuration of the first bundle that has one.
    pub(super) configuration: Option<Source>,
    /// Whether it may set `images`, cert-manager and urls elsewhere: the user passed
    /// `--trust-configuration`, or the signer whom the user named signed the bundle.
    pub(super) is_trusted: bool,
    /// Signatures without a signer to verify them by.
    pub(super) unverified: Vec<Unverified>,
    pub(super) report: Report,
}

impl Laying {
    /// Rejects a repository in the folder of a release, which would become part of the release, and
    /// a folder in the repository that is not the place of a release.
    pub(super) fn is_beside(&self, release: &Path) -> Result<(), Failure> {
        let to = &self.to;
        let (source, target) = (files::real_path(release), files::real_path(Path::new(to)));
        let is_place = |below: &Path| {
            let mut names = below.iter().rev();
            let version = names.next().and_then(|name| name.to_str());
            version.is_some_and(|version| parse_semantic(version).is_ok()) && names.count() == 1
        };
        let is_within = target.starts_with(&source)
            || source
                .strip_prefix(&target)
                .is_ok_and(|below| !is_place(below));
        if !is_within {
            return Ok(());
        }
        let message = format!(
            "{} and {to} are the same folder, or one is in the other",
            release.display()
        );
        Err(Failure::usage(
            message,
            "choose a repository beside the release",
        ))
    }

    /// Checks releases and lays them in; nothing when one of them is rejected.
    ///
    /// # Errors
    /// The repository cannot be written, or holds something else.
    pub(super) fn lay_in(
        &self,
        context: &mut Context<'_>,
        given: Given,
        by: By<'_>,
    ) -> Result<Exit, Failure> {
        let levels = self.levels.levels(context)?;
        let Given {
            releases: given,
            configuration,
            is_trusted,
            mut unverified,
            mut report,
        } = given;
        let mirror = self
            .mirror
            .as_deref()
            .and_then(|text| kept(repository::registry(text), &mut report));
        // Other errors than these become faults only in a cluster: the release is laid in, and they
        // are reported.
        let mut is_rejected = report.has_errors();
        let mut sources = Sources::new();
        let (mut releases, mut cert_managers) = (Vec::new(), Vec::new());
        let mut authors = Authors::default();
        if let Some(report) = wrong_checksums(&report) {
            let report = levels.judge_unfinished(report).report;
            context.findings(&report, &sources, To::Stderr);
            context.summary("", &report, "nothing written", To::Stderr);
            return Ok(Exit::Findings);
        }
        for release in given {
            let Release {
                shown,
                files,
                version,
                name,
                ..
            } = &release;
            let unsigned = release.unsigned(context, by.trust);
            is_rejected |= unsigned.has_errors();
            let mut folder = self.to.clone();
            let mut found = if repository::is_manifest(files) {
                let (manifest, found) =
                    repository::manifest_of(files, shown, version.as_ref(), &context.budget);
                is_rejected |= found.has_errors();
                folder.clone_from(shown);
                cert_managers.extend(manifest);
                found
            } else {
                let stated = Stated {
                    version: version.as_ref(),
                    name: name.as_deref(),
                };
                let judged = repository::judged_release_of(files, shown, stated, &context.budget);
                is_rejected |= judged.is_rejected;
                if !judged.is_rejected {
                    let folder = release.is_on_disk.then(|| shown.clone());
                    let (report, _) = release.as_called(judged.report.clone());
                    authors.add(title(&judged.providers, shown), folder, &report);
                }
                if let Some(assets) = judged.providers.first() {
                    folder = format!("{}/{}", self.to.trim_end_matches('/'), assets.folder());
                }
                releases.push((files.clone(), judged.providers));
                judged.report
            };
            if by.trust.is_none() {
                unverified.extend(release.signatures(&folder));
            }
            found.extend(unsigned);
            let (found, texts) = release.as_called(found);
            report.extend(found);
            sources.extend(texts);
        }
        report.extend(signed::unverified(&unverified, trust::CAN_VERIFY));
        if is_rejected {
            let report = levels.judge_unfinished(report).report;
            context.findings(&report, &sources, To::Stderr);
            context.summary("", &report, "nothing written", To::Stderr);
            return Ok(Exit::Findings);
        }
        let content = Content {
            releases,
            cert_managers,
            configuration,
            is_trusted,
            mirror,
            verb: by.verb,
            authors,
        };
        self.write(context, content, levels.judge(report), sources)
    }

    /// Lays the releases out, extends the configuration, and says how to go on.
    fn write(
        &self,
        context: &mut Context<'_>,
        content: Content,
        judged: Verdict,
        mut sources: Sources,
    ) -> Result<Exit, Failure> {
        let _lock = Lock::take(&self.to, || {
            context.talk(&format!(
                "waiting for another process that changes {}",
                self.to
            ))
        })?;
        let target = self.target()?;
        sources.extend(target.existing.as_ref().map(super::masked));
        let mut rejected = Report::new();
        let bundled = content.configuration.as_ref();
        if let Some(bundled) = bundled.filter(|_| target.existing.is_none()) {
            if !content.is_trusted {
                rejected.extend(repository::foreign(
                    bundled,
                    bundle::BASE_VARIABLE,
                    &context.budget,
                ));
            }
            let help = "set what this site needs of them in its clusterctl.yaml or environment";
            rejected.extend(site::made(bundled, &context.budget).finding(bundled, help));
            sources.add(super::masked(bundled));
        }
        let before = target.existing.clone();
        let target = self.relocated(context, target, &content, &mut rejected);
        let (placements, configuration) = target.lay_out(&content, &context.budget, &mut rejected);
        let is_replaced = self.force || before.is_none();
        let configuration = match &content.mirror {
            Some(registry) => self.mirrored(
                registry,
                &placements,
                configuration,
                is_replaced,
                &context.budget,
                &mut rejected,
            )?,
            None => configuration,
        };
        let is_rejected = rejected.has_errors();
        let Verdict { mut report, fails } = judged;
        report.extend(rejected);
        let (shown, lines) = content.authors.fold(context, &report);
        context.findings(&shown, &sources, To::Stderr);
        lines.iter().for_each(|line| context.talk(line));
        if is_rejected {
            context.summary("", &report, "nothing written", To::Stderr);
            return Ok(Exit::Findings);
        }
        self.store(context, &placements, content.verb)?;
        let unchanged = before
            .as_ref()
            .is_some_and(|existing| existing.text() == configuration);
        if !unchanged {
            files::change_file(&target.config, configuration.as_bytes())?;
        }
        let providers: Vec<Assets> = content
            .releases
            .into_iter()
            .flat_map(|(_, providers)| providers)
            .collect();
        self.go_on(context, &providers, &target.absolute, unchanged);
        Ok(Exit::failing(fails))
    }

    /// The repository as it is.
    fn target(&self) -> Result<Target, Failure> {
        let absolute =
            std::path::absolute(&self.to).map_err(|error| WorldError::reading(&self.to, &error))?;
        // The path becomes urls, which have no control characters (Go's net/url), and a command.
        let absolute = match absolute.to_str() {
            Some(path) if !path.contains(char::is_control) => path.trim_end_matches('/').to_owned(),
            _ => {
                return Err(Failure::usage(
                    format!(
                        "{} cannot be in a url: it has a control character or is not UTF-8",
                        absolute.display()
                    ),
                    "rename the folder, or choose another one",
                ));
            }
        };
        let base = self.base.clone().unwrap_or_else(|| absolute.clone());
        let config = format!("{}/{CONFIGURATION_FILE}", self.to.trim_end_matches('/'));
        let existing = match files::is_file(Path::new(&config)) {
            true => Some(read_source(Path::new(&config), &config)?.0),
            false => None,
        };
        Ok(Target {
            absolute,
            base,
            config,
            existing,
        })
    }

    /// The repository with urls that lead to it, where it was moved: with `--force`; without it
    /// such urls are findings.
    fn relocated(
        &self,
        context: &mut Context<'_>,
        target: Target,
        content: &Content,
        rejected: &mut Report,
    ) -> Target {
        let Some(existing) = &target.existing else {
            return target;
        };
        let is_added = |label: &str| {
            content
                .releases
                .iter()
                .flat_map(|(_, providers)| providers)
                .any(|assets| assets.label == label)
        };
        let is_here =
            |label: &str| is_added(label) || files::is_folder(&Path::new(&self.to).join(label));
        // What a variable stands for is known only when clusterctl runs.
        let is_gone = |label: &str, base: &str| {
            !base.contains('$') && !files::is_folder(&Path::new(base).join(label))
        };
        let is_stale =
            |label: &str, base: &str| base != target.base && is_here(label) && is_gone(label, base);
        let (text, stale) =
            repository::relocate(existing, &target.base, &is_stale, &context.budget);
        if self.force {
            stale.iter().for_each(|finding| {
                context.talk(&format!(
                    "changed in {}: {}",
                    target.config, finding.message
                ))
            });
        } else {
            rejected.extend(stale);
        }
        let moved = Source::new(target.config.as_str(), text);
        Target {
            existing: Some(moved),
            ..target
        }
    }

    /// The configuration with overrides that lead all images of the repository, as it is going to
    /// be, to a mirror.
    fn mirrored(
        &self,
        registry: &str,
        placements: &[Placement],
        configuration: String,
        is_replaced: bool,
        budget: &Budget,
        report: &mut Report,
    ) -> Result<String, Failure> {
        let mut tree = if files::is_folder(Path::new(&self.to)) {
            trees::read_tree(&self.to, Limits::default())?
        } else {
            Tree::new()
        };
        for placement in placements {
            for (path, bytes) in &placement.files {
                tree.insert(format!("{}/{path}", placement.folder), bytes.clone());
            }
        }
        tree.insert(CONFIGURATION_FILE, configuration.as_bytes());
        let shown = self.to.trim_end_matches('/');
        let (text, found) = repository::mirrored(
            Mirrored {
                repository: &tree,
                shown,
                registry,
                is_replaced,
            },
            budget,
        );
        report.extend(found);
        Ok(text.unwrap_or(configuration))
    }

    /// Writes the folders; none if one of them is occupied.
    fn store(
        &self,
        context: &mut Context<'_>,
        placements: &[Placement],
        verb: &str,
    ) -> Result<(), Failure> {
        let folder = |placement: &Placement| {
            format!("{}/{}", self.to.trim_end_matches('/'), placement.folder)
        };
        let existing = files::two_levels(&self.to)?;
        let new = placements.iter().map(|placement| placement.folder.as_str());
        if let Some((first, second)) = names::collision(existing.iter().map(String::as_str), new) {
            return Err(WorldError::colliding(&self.to, first, second).into());
        }
        for placement in placements.iter().filter(|_| !self.force) {
            let difference = compare(&folder(placement), &placement.files)?;
            if difference.is_occupied() {
                return Err(WorldError::Occupied {
                    path: folder(placement),
                    verb: verb.to_owned(),
                    difference,
                }
                .into());
            }
        }
        let mode = if self.force {
            Mode::Force
        } else {
            Mode::Create
        };
        for placement in placements {
            let folder = folder(placement);
            let outcome =
                trees::write_tree(&folder, &placement.files, mode, Privacy::Public, verb)?;
            let what = match outcome {
                Outcome::Unchanged => format!("unchanged in {folder}"),
                _ => format!("{} into {folder}", plural(placement.files.len(), "file")),
            };
            context.talk(&format!("{}: {what}", placement.title));
        }
        Ok(())
    }

    fn go_on(
        &self,
        context: &mut Context<'_>,
        providers: &[Assets],
        absolute: &str,
        unchanged: bool,
    ) {
        if providers.is_empty() {
            let done = if unchanged {
                "is unchanged"
            } else {
                "leads to it"
            };
            context.talk(&format!("{absolute}/{CONFIGURATION_FILE} {done}; add the releases of providers with `repository add`"));
            return;
        }
        let is_here = |label: &str| files::is_folder(&Path::new(&self.to).join(label));
        let implied = repository::implied(providers)
            .into_iter()
            .map(Implied::label);
        let also: Vec<String> = implied.filter(|label| !is_here(label)).collect();
        if let Some((last, others)) = also.split_last() {
            let names = if others.is_empty() {
                last.clone()
            } else {
                format!("{} and {last}", others.join(", "))
            };
            let (are, them) = if others.is_empty() {
                ("is", "it")
            } else {
                ("are", "them")
            };
            context.talk(&format!("note: init also installs {names}, which {are} not in this repository: clusterctl downloads {them} from GitHub"));
        }
        if repository::needs_kubeadm(providers) {
            let why = "clusterctl leaves its bootstrap provider out as soon as another is named, and its control plane needs it";
            context.talk(&format!("note: kubeadm is named too: {why}; name the provider of the machines with `--infrastructure`"));
        }
        let config = format!("{absolute}/{CONFIGURATION_FILE}");
        let done = if unchanged {
            format!("{config} is unchanged")
        } else {
            format!("wrote {config}")
        };
        context.talk(&format!(
            "{done} (your own clusterctl.yaml is not touched); continue with:"
        ));
        context.tell(&format!(
            "clusterctl init --config {} {}\n",
            visible(&shell::quoted(&config)),
            repository::init_arguments(providers)
        ));
    }
}

/// The repository to which releases are added.
struct Target {
    absolute: String,
    /// What urls in its configuration begin with.
    base: String,
    config: String,
    existing: Option<Source>,
}

impl Target {
    /// The folders of all providers, and the text of the configuration that names them.
    fn lay_out(
        &self,
        content: &Content,
        budget: &Budget,
        report: &mut Report,
    ) -> (Vec<Placement>, String) {
        // What people wrote here stays; a bundle's configuration is only for a repository without
        // one, and of an old bundle's only what a new one has.
        let moved = |source: &Source| {
            let made = Source::new(self.config.as_str(), site::made(source, budget).text);
            let text = repository::rebase(&made, &self.base, budget);
            Source::new(self.config.as_str(), text)
        };
        let mut configuration = self
            .existing
            .clone()
            .or_else(|| content.configuration.as_ref().map(moved));
        let mut placements = Vec::new();
        let mut lay = |added: Added| {
            report.extend(added.report);
            placements.extend(added.placements);
            added
                .configuration
                .map(|text| Source::new(self.config.as_str(), text))
        };
        for (files, assets) in &content.releases {
            let to = Destination {
                base: &self.base,
                configuration: configuration.as_ref(),
            };
            configuration = lay(repository::add(files, assets, to, budget)).or(configuration);
        }
        for manifest in &content.cert_managers {
            let to = Destination {
                base: &self.base,
                configuration: configuration.as_ref(),
            };
            configuration =
                lay(repository::add_cert_manager(manifest, to, budget)).or(configuration);
        }
        (
            placements,
            configuration
                .map(|source| source.text().to_owned())
                .unwrap_or_default(),
        )
    }
}
