//! `release check VERSION DIR`: whether a release may be published under a version, and with the
//! previous one at hand, whether its users can upgrade.

pub(crate) mod checksums;

use semver::Version;

use crate::assets::Assets;
use crate::assets::{
    CheckedRelease, components_files, components_missing, judged, read_metadata, text_of,
};
use windlass_checks::settings::ProjectRoles;
use windlass_lint::upgrade::{self, Side};
use windlass_lint::{Audience, Components, Wishes, templates};
use windlass_source::budget::Budget;
use windlass_source::diag::{Report, Severity};
use windlass_source::tree::Tree;

/// The files of a release.
#[derive(Debug, Clone, Copy)]
pub struct Files<'a> {
    /// The files, by their paths in the folder.
    pub tree: &'a Tree,
    /// How the user called the folder.
    pub shown: &'a str,
}

/// What is checked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The release.
    pub release: Files<'a>,
    /// The version that it is to be published as.
    pub version: &'a Version,
    /// The release that users upgrade from.
    pub previous: Option<Files<'a>>,
    /// What the kinds are, where their names do not tell it.
    pub roles: &'a ProjectRoles,
    /// What the run may spend.
    pub budget: &'a Budget,
}

/// What the check says.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// The providers of the release.
    pub providers: Vec<Assets>,
    /// Everything that was found.
    pub report: Report,
    /// The labels of those that were checked; those without a series cannot be installed.
    pub judged: Vec<String>,
}

/// A release as the step to the next one is checked, and what of it cannot be compared.
fn side(files: Files<'_>, budget: &Budget) -> (Side, Report) {
    let Files { tree, shown } = files;
    let mut report = Report::new();
    let listed = components_files(tree);
    if listed.is_empty() {
        report.push(components_missing(shown));
    }
    let texts = listed
        .into_iter()
        .filter_map(|(_, file)| text_of(tree, shown, &file, &mut report));
    let components: Vec<Components> = texts
        .map(|source| Components::read(source, budget))
        .collect();
    components
        .iter()
        .for_each(|components| report.extend(components.unreadable().clone()));
    let metadata = read_metadata(tree, shown, budget, &mut report);
    let templates = tree.paths().filter(|path| templates::is_template(path));
    let templates = templates
        .filter_map(|path| text_of(tree, shown, path, &mut report))
        .collect();
    let hindering = report
        .into_findings()
        .into_iter()
        .filter(|finding| finding.rule.severity == Severity::Error);
    let hindering = hindering.collect();
    (
        Side {
            components,
            metadata,
            templates,
        },
        hindering,
    )
}

/// Checks a release.
pub fn run(request: &Request<'_>) -> Checked {
    let Request {
        release,
        version,
        budget,
        ..
    } = *request;
    let wishes = Wishes {
        roles: &request.roles.0,
        contract: None,
    };
    let judged = judged(
        release.tree,
        release.shown,
        Some(version),
        Audience::Author(wishes),
        budget,
    );
    let CheckedRelease {
        providers,
        report,
        judged,
        ..
    } = judged;
    let mut checked = Checked {
        providers,
        report,
        judged,
    };
    checked.report.extend(checksums::check(release));
    if let Some(previous) = request.previous {
        // What cannot be compared must not look as if nothing had changed. Of the release itself it
        // is reported already.
        let (before, hindering) = side(previous, budget);
        checked.report.extend(hindering);
        checked
            .report
            .extend(upgrade::check(&before, &side(release, budget).0));
    }
    budget.tell(&mut checked.report);
    checked
}
