//! metadata.yaml of a release: read and checked (book: clusterctl, "Metadata YAML").

pub mod rules;

use std::collections::{BTreeMap, BTreeSet};

use semver::Version;

use rules::{
    API_VERSION_WRONG, CONTRACT_UNKNOWN, EMPTY, FIELD_MISSING, FIELD_UNKNOWN, KIND_MISSING,
    KIND_WRONG, METADATA_REJECTED, SERIES_DUPLICATED, SERIES_EMPTY, SERIES_MISSING,
    SERIES_UNORDERED, VALUE_REJECTED,
};
use windlass_capi::contract::{
    ContractVersion, METADATA_API_VERSION, METADATA_KIND, Metadata, ReleaseSeries,
};
use windlass_clusterctl::metadata_rejection;
use windlass_go_yaml::yaml::{self, Node};
use windlass_schema::document::{self, Wording};
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Fix, Place, Quoted, Report};
use windlass_source::edit::{Edits, indentation};
use windlass_source::{Source, TextRange};

const SYNTAX: Wording = Wording {
    unknown: &FIELD_UNKNOWN,
    missing: &FIELD_MISSING,
    rejected: &VALUE_REJECTED,
};

/// A metadata.yaml that was read, with its places.
#[derive(Debug, Clone)]
pub struct MetadataFile {
    /// The content of the file: its first document that is not empty.
    pub metadata: Metadata,
    source: Source,
    root: Node,
}

/// Reads and checks a metadata.yaml. `None` when it cannot be used at all; the report says why.
pub fn parse(source: &Source, budget: &Budget) -> (Option<MetadataFile>, Report) {
    let parsed = yaml::parse(source, budget);
    let mut report = parsed.report;
    let Some(first) = parsed
        .documents
        .into_iter()
        .find(|document| !document.root.is_null())
    else {
        if !report.has_errors() {
            let finding = Diagnostic::of(&EMPTY, format!("{} holds no document", source.name()))
                .at(source.place());
            report.push(finding.help("list the release series in it, as the book shows"));
        }
        return (None, report);
    };
    let root = first.root;
    let value = root.to_json();
    report.extend(document::check(
        &value,
        &document::schema_of::<Metadata>(),
        &SYNTAX,
        &root,
        source,
        1,
    ));
    if report.has_errors() {
        return (None, report);
    }
    let Ok(metadata) = serde_json::from_value::<Metadata>(value) else {
        return (None, report);
    };
    let file = MetadataFile {
        metadata,
        source: source.clone(),
        root,
    };
    report.extend(judge(&file));
    (Some(file), report)
}

/// Reads and checks the metadata.yaml of a provider's release: a file without a fault is what
/// clusterctl takes too.
pub fn read(label: &str, source: &Source, budget: &Budget) -> (Option<MetadataFile>, Report) {
    let (file, mut report) = parse(source, budget);
    let rejection = metadata_rejection(label, source.text().as_bytes(), budget)
        .filter(|_| !report.has_errors());
    report.extend(rejection.map(|rejection| {
        let finding = Diagnostic::of(
            &METADATA_REJECTED,
            format!("clusterctl rejects {}", source.name()),
        )
        .at(source.place());
        let finding = finding
            .help("correct the file as the note says")
            .note(format!(
                "clusterctl says: {rejection}",
                rejection = Quoted(&rejection)
            ));
        finding.upstream(rejection.message())
    }));
    (file, report)
}

fn place(source: &Source, root: &Node, path: &FieldPath) -> Place {
    source
        .place_at(root.nearest(path).span)
        .in_document(1)
        .at_path(path.clone())
}

impl MetadataFile {
    /// The location of a field, or of its nearest parent that exists.
    pub fn place(&self, path: &FieldPath) -> Place {
        place(&self.source, &self.root, path)
    }

    /// The place of the series of a version.
    pub fn series_place(&self, series: &ReleaseSeries) -> Place {
        let index = self
            .metadata
            .release_series
            .iter()
            .position(|known| known == series)
            .unwrap_or_default();
        self.place(
            &FieldPath::root()
                .field("releaseSeries")
                .index(index)
                .field("contract"),
        )
    }

    /// Whether the whole file is in brackets.
    fn is_in_brackets(&self) -> bool {
        self.source.slice(self.root.span).starts_with('{')
    }

    /// The file as it was read.
    pub fn source(&self) -> &Source {
        &self.source
    }
}

fn judge(file: &MetadataFile) -> Report {
    let metadata = &file.metadata;
    let mut report = Report::new();
    let kind = metadata.kind.as_deref();
    let fixed = [
        (
            &API_VERSION_WRONG,
            "apiVersion",
            metadata.api_version.as_str(),
            METADATA_API_VERSION,
        ),
        (
            &KIND_WRONG,
            "kind",
            kind.unwrap_or(METADATA_KIND),
            METADATA_KIND,
        ),
    ];
    if kind.is_none() {
        let finding = Diagnostic::of(&KIND_MISSING, "kind is missing, which clusterctl tolerates")
            .at(file.place(&FieldPath::root()));
        report.push(
            finding
                .help(format!("add `kind: {METADATA_KIND}`"))
                .fix(kind_added(file)),
        );
    }
    for (rule, field, found, wanted) in fixed
        .into_iter()
        .filter(|(_, _, found, wanted)| found != wanted)
    {
        let finding = Diagnostic::of(
            rule,
            format!(
                "{field} is `{found}`, but clusterctl reads only `{wanted}`",
                found = Quoted(found)
            ),
        );
        let finding = finding
            .at(file.place(&FieldPath::root().field(field)))
            .help(format!("write `{field}: {wanted}`"));
        let mut edits = Edits::of(file.source.text());
        edits.replace(
            file.root.nearest(&FieldPath::root().field(field)).span,
            wanted,
        );
        let finding = match field {
            "apiVersion" => finding
                .note("this is the version of the file format; the contract is in the series"),
            _ => finding,
        };
        report.push(finding.fix(edits));
    }
    let series = FieldPath::root().field("releaseSeries");
    if metadata.release_series.is_empty() {
        let finding =
            Diagnostic::of(&SERIES_EMPTY, "releaseSeries is empty").at(file.place(&series));
        report.push(
            finding.help("add an entry with major, minor and contract for each series of releases"),
        );
    }
    let mut seen = BTreeMap::new();
    for (i, entry) in metadata.release_series.iter().enumerate() {
        report.extend(contract_unknown(file, &series.index(i), entry));
        if let Some(first) = seen.insert((entry.major, entry.minor), i) {
            seen.insert((entry.major, entry.minor), first);
            let message = format!(
                "releaseSeries[{i}] repeats series {}.{}",
                entry.major, entry.minor
            );
            let finding =
                Diagnostic::of(&SERIES_DUPLICATED, message).at(file.place(&series.index(i)));
            let finding = finding.related(
                file.place(&series.index(first)),
                "the first, which clusterctl takes",
            );
            report.push(finding.help("remove one of the two"));
        }
    }
    report.extend(unordered(file));
    report
}

/// The file with its kind, behind the version of its format.
fn kind_added(file: &MetadataFile) -> Fix {
    let mut edits = Edits::of(file.source.text());
    let kind = format!("kind: {METADATA_KIND}");
    match file.root.at(&FieldPath::root().field("apiVersion")) {
        Some(version) if !file.is_in_brackets() => edits.lines_after(
            version.span,
            &[indentation(file.source.text(), file.root.span.start()) + &kind],
        ),
        _ => edits.first_entry(file.root.span, &kind),
    }
    edits.into()
}

/// Series in no order, and series 0.0, of which there is no release.
fn unordered(file: &MetadataFile) -> Option<Diagnostic> {
    let series: Vec<(i32, i32)> = file
        .metadata
        .release_series
        .iter()
        .map(|series| (series.major, series.minor))
        .collect();
    let list = FieldPath::root().field("releaseSeries");
    if let Some(at) = series.iter().position(|series| *series == (0, 0)) {
        let finding = Diagnostic::of(
            &SERIES_UNORDERED,
            "series 0.0 is a placeholder: no release is of it",
        )
        .at(file.place(&list.index(at)));
        return Some(finding.help("remove the entry"));
    }
    // One that is repeated is reported as that.
    let mut seen = BTreeSet::new();
    let distinct: Vec<(usize, (i32, i32))> = series
        .into_iter()
        .enumerate()
        .filter(|(_, series)| seen.insert(*series))
        .collect();
    let rises = |pair: &[(usize, (i32, i32))]| pair[0].1 < pair[1].1;
    let (at, (major, minor)) = distinct[distinct
        .windows(2)
        .position(|pair| rises(pair) != rises(&distinct))?
        + 1];
    let finding = Diagnostic::of(
        &SERIES_UNORDERED,
        format!("series {major}.{minor} is out of order"),
    )
    .at(file.place(&list.index(at)));
    Some(finding.help("list the series from the oldest to the newest"))
}

/// Whether it is the name of a contract, of today or of former days.
pub(super) fn is_contract(name: &str) -> bool {
    ContractVersion::parse(name).is_some() || ["v1alpha2", "v1alpha3", "v1alpha4"].contains(&name)
}

/// Old series may name contracts that no core accepts any more; what is not a contract at all is an
/// error.
fn contract_unknown(
    file: &MetadataFile,
    entry: &FieldPath,
    series: &ReleaseSeries,
) -> Option<Diagnostic> {
    let contract = series.contract.as_str();
    if is_contract(contract) {
        return None;
    }
    let known = ContractVersion::ALL
        .map(ContractVersion::as_str)
        .join(" or ");
    Some(
        Diagnostic::of(
            &CONTRACT_UNKNOWN,
            format!(
                "contract `{contract}` of series {}.{} is unknown",
                series.major, series.minor
            ),
        )
        .at(file.place(&entry.field("contract")))
        .help(format!("write {known}")),
    )
}

/// The series of the version that is to be released, or a finding that shows the lines to add.
///
/// # Errors
/// The finding.
pub fn series_of<'a>(
    file: &'a MetadataFile,
    version: &Version,
) -> Result<&'a ReleaseSeries, Box<Diagnostic>> {
    file.metadata.series_of(version).ok_or_else(|| {
        let (contract, list) = (newest_contract(file), List::of(file));
        let name = file.source.name();
        let message = format!("{name} does not list series {}.{} of v{version}", version.major, version.minor);
        let finding = Diagnostic::of(&SERIES_MISSING, message).at(list.last_line());
        let bump = format!("run `windlass release bump v{version}`");
        let finding = match list.is_block() {
            true => finding
                .insertion(file.source.position(list.range.end()).line, list.entry(version, &contract))
                .help(format!("add these lines, or {bump}")),
            false => finding.help(bump),
        };
        let mut edits = Edits::of(file.source.text());
        list.add(&mut edits, version, &contract);
        Box::new(finding.fix(edits).note("clusterctl would reject the release at the user's `init`: it does not match any release series"))
    })
}

/// The contract of the newest series that the file lists.
pub fn newest_contract(file: &MetadataFile) -> String {
    let newest = file
        .metadata
        .release_series
        .iter()
        .max_by_key(|series| (series.major, series.minor));
    newest.map_or_else(
        || ContractVersion::V1Beta2.as_str().to_owned(),
        |series| series.contract.clone(),
    )
}

/// The list of series, as it is written.
pub struct List<'a> {
    file: &'a MetadataFile,
    /// The list.
    range: TextRange,
    /// The last entry.
    last: Option<TextRange>,
}

impl<'a> List<'a> {
    /// Locates the list `releaseSeries` in a file.
    pub fn of(file: &'a MetadataFile) -> Self {
        let list = file.root.nearest(&FieldPath::root().field("releaseSeries"));
        let items = file
            .root
            .at(&FieldPath::root().field("releaseSeries"))
            .and_then(Node::as_sequence)
            .unwrap_or_default();
        List {
            file,
            range: list.span,
            last: items.last().map(|item| item.span),
        }
    }

    /// Whether each entry has lines of its own; else they stand in brackets.
    fn is_block(&self) -> bool {
        self.file.source.text()[self.range.start()..].starts_with('-')
    }

    fn entry(&self, version: &Version, contract: &str) -> Vec<String> {
        let indent = indentation(self.file.source.text(), self.range.start());
        vec![
            format!("{indent}- major: {}", version.major),
            format!("{indent}  minor: {}", version.minor),
            format!("{indent}  contract: {contract}"),
        ]
    }

    /// Adds an entry behind the last one.
    pub fn add(&self, edits: &mut Edits<'_>, version: &Version, contract: &str) {
        match self.last {
            Some(last) if !self.is_block() => {
                edits.append(
                    last,
                    format!(
                        ", {{major: {}, minor: {}, contract: {contract}}}",
                        version.major, version.minor
                    ),
                );
            }
            _ => edits.lines_after(self.range, &self.entry(version, contract)),
        }
    }

    /// The last line of the last entry, or the end of the file.
    fn last_line(&self) -> Place {
        let series = FieldPath::root().field("releaseSeries");
        let last = self.file.metadata.release_series.len().checked_sub(1);
        let path = last.map_or(series.clone(), |i| series.index(i).field("contract"));
        let mut place = self.file.place(&path);
        let located = self.file.root.nearest(&path);
        place.span = Some(self.file.source.span(located.key.unwrap_or(located.span)));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# ours\napiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n  - major: 0\n    minor: 1\n    contract: v1beta1 # old\n";

    fn file(text: &str) -> MetadataFile {
        let (file, report) = parse(&Source::new("metadata.yaml", text), &Budget::default());
        assert_eq!(report, Report::new());
        file.expect("a usable file")
    }

    fn rules(text: &str) -> Vec<&'static str> {
        parse(&Source::new("metadata.yaml", text), &Budget::default())
            .1
            .findings()
            .iter()
            .map(|f| f.rule.id)
            .collect()
    }

    #[test]
    fn missing_series_shows_the_lines_to_add() {
        let file = file(FILE);
        let finding =
            series_of(&file, &Version::new(0, 2, 0)).expect_err("series 0.2 is not there");
        let insertion = finding.insertion.expect("lines to add");
        assert_eq!(insertion.after_line, 7);
        assert_eq!(
            insertion.lines,
            ["  - major: 0", "    minor: 2", "    contract: v1beta1"]
        );
        assert_eq!(
            finding
                .place
                .span
                .map(|span| (span.start.line, span.start.column)),
            Some((7, 5))
        );
        assert!(series_of(&file, &Version::new(0, 1, 9)).is_ok());
    }

    #[test]
    fn a_list_in_brackets_shows_no_lines() {
        let text = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries: [{major: 0, minor: 1, contract: v1beta1}]\n";
        let finding =
            series_of(&file(text), &Version::new(0, 2, 0)).expect_err("series 0.2 is not there");
        assert_eq!(
            (finding.insertion, finding.help),
            (None, Some("run `windlass release bump v0.2.0`".into()))
        );
    }

    /// clusterctl.md 6.2 and the book's validation rules.
    #[test]
    fn faults_are_named() {
        let head = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\n";
        for (text, expected) in [
            (String::new(), vec!["metadata-document-missing"]),
            (format!("{head}releaseSeries: []\n"), vec!["metadata-series-empty"]),
            (
                format!("{head}releaseSeries:\n- {{major: 0, minor: 1, contract: v1beta3}}\n"),
                vec!["metadata-contract-unknown"],
            ),
            (
                format!("{head}releaseSeries:\n- {{minor: 1, contract: v1beta2}}\n- {{major: 0, minor: 1, contract: v1beta1}}\n"),
                vec!["metadata-series-duplicated"],
            ),
            (
                "apiVersion: clusterctl.cluster.x-k8s.io/v1beta1\nkind: Meta\nreleaseSeries: [{minor: 1, contract: v1beta2}]\n".to_owned(),
                vec!["metadata-api-version-wrong", "metadata-kind-wrong"],
            ),
        ] {
            assert_eq!(rules(&text), expected, "{text}");
        }
    }
}
