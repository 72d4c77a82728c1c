//! Which version clusterctl takes, and what metadata.yaml has to do with it.

use semver::Version;

use windlass_capi::contract::{METADATA_FILE, book, parse_semantic};
use windlass_clusterctl::{Explanation, FileFault, Reason, Skipped};
use windlass_lint::metadata::{self, MetadataFile};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Quoted, Remedy, Report, Setting, rules};

rules! {
    /// clusterctl finds no version of a provider
    VERSION_MISSING = error("repository-version-missing");
    /// the folder of a version is a symbolic link, which clusterctl skips
    VERSION_LINKED = warning("repository-version-linked");
    /// the folder of a version lacks the leading `v`, so clusterctl lists it but cannot read it
    VERSION_UNPREFIXED = error("repository-version-unprefixed");
    /// a file that clusterctl needs does not exist
    FILE_MISSING = error("repository-file-missing");
    /// metadata.yaml lists a series without a release, so `latest` selects a pre-release or fails
    SERIES_AHEAD = warning("metadata-series-ahead"), url(book::METADATA_YAML);
    /// metadata.yaml omits the series of an older version, so clusterctl cannot upgrade from it
    NOT_CUMULATIVE = warning("metadata-not-cumulative"), url(book::METADATA_YAML);
}

pub(super) fn is_pre_release(version: &str) -> bool {
    parse_semantic(version).is_ok_and(|version| !version.pre.is_empty())
}

/// What is wrong with the folder and the choice of the version.
pub(super) fn check(explained: &Explanation, entry: &Place) -> Report {
    let mut report = Report::new();
    let folder = explained.folder.as_deref().unwrap_or_default();
    for (name, _) in explained
        .skipped
        .iter()
        .filter(|(name, why)| *why == Skipped::Link && parse_semantic(name).is_ok())
    {
        let finding = Diagnostic::of(
            &VERSION_LINKED,
            format!("{folder}/{name} is a link, which clusterctl does not count as a version"),
        );
        report.push(
            finding
                .at(Place::file(format!("{folder}/{name}")))
                .help("copy the folder instead of linking it"),
        );
    }
    for name in explained.found.iter().filter(|name| !name.starts_with('v')) {
        let finding = Diagnostic::of(
            &VERSION_UNPREFIXED,
            format!("{folder}/{name} has no `v`: `latest` finds it and then reads v{name}"),
        );
        report.push(
            finding
                .at(Place::file(format!("{folder}/{name}")))
                .help(format!("rename the folder to v{name}")),
        );
    }
    match &explained.picked {
        Err(rejection) if report.is_empty() => {
            let finding = Diagnostic::of(
                &VERSION_MISSING,
                format!(
                    "clusterctl finds no version of {}",
                    explained.provider.label()
                ),
            );
            let help = match explained.found.is_empty() {
                true => Remedy::new("lay a release in: ").request("repository add DIR", Setting::To, "REPOSITORY"),
                false => {
                    "if the metadata.yaml of the newest release names a series without a release, remove it, or pin a version in the url"
                        .into()
                }
            };
            report.push(
                finding
                    .at(entry.clone())
                    .help(help)
                    .note(format!(
                        "clusterctl says: {rejection}",
                        rejection = Quoted(&rejection)
                    ))
                    .upstream(rejection.message()),
            );
        }
        Ok((version, Reason::SeriesOfContract { newest, series })) if is_pre_release(version) => {
            report.push(series_ahead(explained, version, newest, *series));
        }
        _ => {}
    }
    for file in &explained.files {
        let Err(fault) = &file.content else { continue };
        let what = if *fault == FileFault::Missing {
            "is not there".to_owned()
        } else {
            format!("cannot be read: {}", fault.reason())
        };
        let finding = Diagnostic::of(&FILE_MISSING, format!("{} {what}", file.path))
            .at(Place::file(file.path.as_str()));
        report.push(finding.help(format!("add the {} of the same release", file.name)));
    }
    report
}

fn series_ahead(
    explained: &Explanation,
    version: &str,
    newest: &str,
    (major, minor): (i32, i32),
) -> Diagnostic {
    let folder = explained.folder.as_deref().unwrap_or_default();
    let provider = &explained.provider;
    Diagnostic::of(
        &SERIES_AHEAD,
        format!("`latest` gives the pre-release {version}, because series {major}.{minor} has no release yet"),
    )
    .at(Place::file(format!("{folder}/{newest}/{METADATA_FILE}")))
    .help(format!(
        "remove series {major}.{minor} from {newest}, or pin it: `clusterctl init --{} {}:{newest}`",
        provider.provider_type.word(),
        provider.name
    ))
}

/// Reads the metadata of the picked version and holds it against the versions that are there.
pub(super) fn check_metadata(
    explained: &Explanation,
    source: &Source,
    budget: &Budget,
    report: &mut Report,
) -> Option<MetadataFile> {
    let (file, found) = metadata::read(&explained.provider.label(), source, budget);
    report.extend(found);
    let file = file?;
    let versions: Vec<Version> = explained
        .found
        .iter()
        .filter_map(|name| parse_semantic(name).ok())
        .collect();
    let picked = explained
        .picked
        .as_ref()
        .ok()
        .and_then(|(version, _)| parse_semantic(version).ok())?;
    if let Err(finding) = metadata::series_of(&file, &picked) {
        report.push(*finding);
    }
    let series = file.place(&FieldPath::root().field("releaseSeries"));
    for version in versions
        .iter()
        .filter(|version| **version != picked && file.metadata.series_of(version).is_none())
    {
        if version.cmp_precedence(&picked).is_gt() {
            continue;
        }
        let message = format!(
            "series {}.{} of v{version} is not in the {METADATA_FILE} of v{picked}",
            version.major, version.minor
        );
        let finding = Diagnostic::of(&NOT_CUMULATIVE, message).at(series.clone());
        report.push(
            finding
                .help("list every series that was ever released")
                .note("`clusterctl upgrade` reads only the newest metadata.yaml, and rejects a cluster with a version of another series"),
        );
    }
    let newest_series = file
        .metadata
        .release_series
        .iter()
        .max_by_key(|series| (series.major, series.minor));
    if let Some(ahead) =
        newest_series.filter(|newest| versions.iter().all(|version| !is_of(newest, version)))
        && picked.pre.is_empty()
        && explained.folder.is_some()
    {
        let message = format!("series {}.{} has no version here", ahead.major, ahead.minor);
        let finding = Diagnostic::of(&SERIES_AHEAD, message).at(file.series_place(ahead));
        report.push(
            finding.help("lay its release in, or list a series only from its first release on"),
        );
    }
    Some(file)
}

fn is_of(series: &windlass_capi::contract::ReleaseSeries, version: &Version) -> bool {
    u64::try_from(series.major) == Ok(version.major)
        && u64::try_from(series.minor) == Ok(version.minor)
}
