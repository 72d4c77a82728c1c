//! What stops working with a release: the releases with their dates (`releases.txt`), and one fact a
//! row with its source (`endings.txt`). The tables are as old as this program: a release that was
//! planned when they were written stays so.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

/// Who makes a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Project {
    /// Cluster API and its managers, with versions such as `v1.16`.
    ClusterApi,
    /// Kubernetes with kubeadm, with versions such as `v1.38`.
    Kubernetes,
    /// cloud-init, with versions such as `24.3`.
    CloudInit,
    /// Servers that nodes download from; the version is the server.
    Hosts,
}

impl Project {
    const ALL: [Self; 4] = [
        Self::ClusterApi,
        Self::Kubernetes,
        Self::CloudInit,
        Self::Hosts,
    ];

    /// The value in reports and in the tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Project::ClusterApi => "cluster-api",
            Project::Kubernetes => "kubernetes",
            Project::CloudInit => "cloud-init",
            Project::Hosts => "hosts",
        }
    }

    /// The name before a version.
    fn title(self) -> &'static str {
        match self {
            Project::ClusterApi => "Cluster API ",
            Project::Kubernetes => "Kubernetes ",
            Project::CloudInit => "cloud-init ",
            Project::Hosts => "",
        }
    }

    fn parse(text: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|project| project.as_str() == text)
            .expect("internal error: the table names a project")
    }
}

/// How certain a release and what it ends are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// The release is out.
    Released,
    /// The project names the release and its day or month.
    Planned,
    /// The project intends it, or names a release without a date.
    Tentative,
}

impl Certainty {
    /// The value in reports and in the tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Certainty::Released => "released",
            Certainty::Planned => "planned",
            Certainty::Tentative => "tentative",
        }
    }

    fn parse(text: &str) -> Self {
        [Self::Released, Self::Planned, Self::Tentative]
            .into_iter()
            .find(|certainty| certainty.as_str() == text)
            .expect("internal error: the table names a certainty")
    }
}

/// A release that ends support for something.
#[derive(Debug, PartialEq, Eq)]
pub struct Release {
    /// The project that makes the release.
    pub project: Project,
    /// `v1.16`; of `hosts` the server.
    pub version: &'static str,
    /// The certainty of the release and its date.
    pub certainty: Certainty,
    /// `2026-12-08`, or `2027-04` where only the month is known.
    pub date: &'static str,
    /// The page that has the date.
    pub source: &'static str,
}

impl Release {
    /// Major and minor version; `None` for a server.
    pub fn number(&self) -> Option<(u64, u64)> {
        minor_version(self.version)
    }

    /// The name: `Cluster API v1.16`.
    pub fn name(&self) -> String {
        format!("{}{}", self.project.title(), self.version)
    }

    /// The month: `April 2027`.
    pub fn month(&self) -> String {
        const MONTHS: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        let mut parts = self.date.split('-');
        let year = parts.next().unwrap_or_default();
        let month = parts.next().and_then(|month| month.parse::<usize>().ok());
        let month = month.and_then(|month| MONTHS.get(month.checked_sub(1)?));
        month.map_or_else(|| year.to_owned(), |month| format!("{month} {year}"))
    }

    /// When, as a sentence has it: `released on 2026-08-26`, `planned for April 2027`.
    pub fn when(&self) -> String {
        self.when_as(self.certainty)
    }

    /// The same of something that is less certain than the release.
    fn when_as(&self, certainty: Certainty) -> String {
        let date = match self.date.matches('-').count() {
            2 => self.date.to_owned(),
            _ => self.month(),
        };
        match (self.project, certainty) {
            (Project::Hosts, _) => format!("since {date}"),
            (_, Certainty::Released) => format!("released on {date}"),
            (_, Certainty::Planned) => format!("planned for {date}"),
            (_, Certainty::Tentative) => format!("tentative, about {date}"),
        }
    }
}

/// A release with a certainty, as a sentence has it: `Cluster API v1.16 (planned for April 2027)`.
pub struct Expected(pub &'static Release, pub Certainty);

impl fmt::Display for Expected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.0.name(), self.0.when_as(self.1))
    }
}

/// By date, then by project and version.
impl PartialOrd for Release {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Release {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |release: &Self| {
            (
                release.date,
                release.project,
                release.number(),
                release.version,
            )
        };
        key(self).cmp(&key(other))
    }
}

/// `v1.16` with its date: `Cluster API v1.16 (planned for April 2027)`.
impl fmt::Display for Release {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.name(), self.when())
    }
}

/// Major and minor number of `v1.16`, `1.16` or `1.16.2`.
pub fn minor_version(text: &str) -> Option<(u64, u64)> {
    let mut numbers = text.strip_prefix('v').unwrap_or(text).split('.');
    let number = |part: Option<&str>| part?.parse::<u64>().ok();
    let found = (number(numbers.next())?, number(numbers.next())?);
    let patch = numbers.next();
    let is_version = patch.is_none_or(|patch| patch.parse::<u64>().is_ok());
    (is_version && numbers.next().is_none()).then_some(found)
}

/// What a fact is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A version of an API group, with the kinds concerned; without kinds, all of the group.
    ApiVersion,
    /// A version of the contract between Cluster API and providers, such as `v1beta1`.
    Contract,
    /// A kind in all its versions: group, kind.
    Kind,
    /// A field of a kind: group and version, kind, path.
    Field,
    /// A feature gate of Cluster API's managers.
    ManagerGate,
    /// A feature gate of Kubernetes' components.
    Gate,
    /// A version of kubeadm's configuration, such as `kubeadm.k8s.io/v1beta3`.
    KubeadmApi,
    /// A registry of images that gets no new ones.
    RegistryFrozen,
    /// A registry of images that is shut down.
    RegistryGone,
    /// A server of packages that is shut down.
    RepositoryGone,
    /// A unit of systemd.
    Unit,
    /// A part of cloud-init's jinja templates.
    Jinja,
}

impl Subject {
    const ALL: [(&'static str, Self); 12] = [
        ("api-version", Self::ApiVersion),
        ("contract", Self::Contract),
        ("kind", Self::Kind),
        ("field", Self::Field),
        ("manager-gate", Self::ManagerGate),
        ("gate", Self::Gate),
        ("kubeadm-api", Self::KubeadmApi),
        ("registry-frozen", Self::RegistryFrozen),
        ("registry-gone", Self::RegistryGone),
        ("repository-gone", Self::RepositoryGone),
        ("unit", Self::Unit),
        ("jinja", Self::Jinja),
    ];

    fn parse(text: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|(word, _)| *word == text)
            .expect("internal error: the table names a subject")
            .1
    }
}

/// A fact: what stops working with a release.
#[derive(Debug)]
pub struct Ending {
    /// The category of the fact, which defines the parts of `what`.
    pub subject: Subject,
    /// The words behind each other: group and version, kind, path.
    pub what: Vec<&'static str>,
    /// The first release that no longer supports it; its date is the day on which support ends.
    pub release: &'static Release,
    /// The certainty of the fact: that of the release, or a lower one.
    pub certainty: Certainty,
    /// What to write instead; `None`: nothing.
    pub instead: Option<&'static str>,
    /// The URL of the page or file that states the fact; a note in parentheses may follow it.
    pub source: &'static str,
}

static RELEASES: LazyLock<Vec<Release>> =
    LazyLock::new(|| rows(include_str!("releases.txt")).map(release_of).collect());

static ENDINGS: LazyLock<BTreeMap<Subject, Vec<Ending>>> =
    LazyLock::new(|| parse(include_str!("endings.txt")));

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '=']));
    lines.map(|line| line.split(" | ").collect())
}

fn release_of(cells: Vec<&'static str>) -> Release {
    let [project, version, certainty, date, source] = cells[..] else {
        unreachable!("internal error: a release has five cells")
    };
    Release {
        project: Project::parse(project),
        version,
        certainty: Certainty::parse(certainty),
        date,
        source,
    }
}

fn parse(table: &'static str) -> BTreeMap<Subject, Vec<Ending>> {
    let sources: BTreeMap<&str, &'static str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("= ")?.split_once(' '))
        .collect();
    let mut endings: BTreeMap<Subject, Vec<Ending>> = BTreeMap::new();
    for cells in rows(table) {
        let ending = ending_of(&cells, &sources);
        endings.entry(ending.subject).or_default().push(ending);
    }
    endings
}

fn ending_of(cells: &[&'static str], sources: &BTreeMap<&str, &'static str>) -> Ending {
    let [subject, what, ends_with, certainty, instead, source] = cells[..] else {
        unreachable!("internal error: a fact has six cells")
    };
    let (project, version) = ends_with
        .split_once(' ')
        .expect("internal error: a fact names project and version");
    let release = release(Project::parse(project), version)
        .expect("internal error: the release of a fact is in its table");
    Ending {
        subject: Subject::parse(subject),
        what: what.split(' ').collect(),
        release,
        certainty: match certainty {
            "-" => release.certainty,
            certainty => Certainty::parse(certainty),
        },
        instead: Some(instead).filter(|instead| *instead != "-"),
        source: sources
            .get(source)
            .copied()
            .expect("internal error: the table has the source"),
    }
}

/// The releases of a project that end support for something, in their order.
pub fn releases(project: Project) -> impl Iterator<Item = &'static Release> {
    RELEASES
        .iter()
        .filter(move |release| release.project == project)
}

/// A release by its version.
pub fn release(project: Project, version: &str) -> Option<&'static Release> {
    releases(project).find(|release| release.version == version)
}

/// The release of a Kubernetes minor version 1.
pub fn kubernetes(minor: u64) -> Option<&'static Release> {
    release(Project::Kubernetes, &format!("v1.{minor}"))
}

/// The facts about a subject.
pub fn endings(subject: Subject) -> &'static [Ending] {
    ENDINGS.get(&subject).map_or(&[], Vec::as_slice)
}

/// The fact about a subject that has one word.
pub fn ending(subject: Subject, what: &str) -> Option<&'static Ending> {
    endings(subject).iter().find(|ending| ending.what == [what])
}

/// The fact about an API version of a kind.
pub fn api_version(group_version: &str, kind: &str) -> Option<&'static Ending> {
    endings(Subject::ApiVersion).iter().find(|ending| {
        let (version, kinds) = ending
            .what
            .split_first()
            .expect("internal error: a fact names something");
        let is_named = |name: &&str| match name.strip_suffix('*') {
            Some(start) => kind.starts_with(start),
            None => *name == kind,
        };
        *version == group_version && (kinds.is_empty() || kinds.iter().any(is_named))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = &'static Ending> {
        ENDINGS.values().flatten()
    }

    #[test]
    fn every_fact_has_a_source_and_a_certainty_that_its_release_allows() {
        for ending in all() {
            let Ending {
                what,
                source,
                release,
                certainty,
                ..
            } = ending;
            assert!(source.starts_with("https://"), "{what:?}: {source}");
            assert!(*certainty >= release.certainty, "{what:?}");
            let is_host = release.project == Project::Hosts;
            assert_eq!(release.number().is_none(), is_host, "{release}");
        }
        for release in RELEASES.iter() {
            assert!(release.source.starts_with("https://"), "{release}");
            let parts: Vec<&str> = release.date.split('-').collect();
            let is_day = parts.len() == 3;
            assert!(is_day || parts.len() == 2 && release.certainty != Certainty::Released);
            let is_used = release.project == Project::Kubernetes
                || all().any(|ending| ending.release == release);
            assert!(is_used, "nothing ends with {release}");
        }
    }

    #[test]
    fn facts_are_told_apart() {
        let mut known = std::collections::BTreeSet::new();
        for ending in all() {
            assert!(
                known.insert((ending.subject, &ending.what)),
                "{:?}",
                ending.what
            );
        }
    }

    /// "Cluster API release vs API versions"; migration page of v1.14.
    #[test]
    fn kinds_are_matched_as_the_table_has_them() {
        let ends = |group_version: &str, kind: &str| {
            api_version(group_version, kind).map(|ending| ending.release.version)
        };
        assert_eq!(ends("cluster.x-k8s.io/v1beta1", "Cluster"), Some("v1.16"));
        assert_eq!(
            ends("bootstrap.cluster.x-k8s.io/v1beta1", "KubeadmConfig"),
            Some("v1.16")
        );
        assert_eq!(
            ends("bootstrap.cluster.x-k8s.io/v1beta1", "RKE2Config"),
            None
        );
        assert_eq!(ends("cluster.x-k8s.io/v1beta2", "Cluster"), None);
        assert_eq!(
            ends("clusterctl.cluster.x-k8s.io/v1alpha3", "Metadata"),
            None
        );
    }

    #[test]
    fn releases_are_written_with_their_dates() {
        let said = |project, version| release(project, version).unwrap().to_string();
        assert_eq!(
            said(Project::ClusterApi, "v1.15"),
            "Cluster API v1.15 (planned for 2026-12-08)"
        );
        assert_eq!(
            said(Project::ClusterApi, "v1.16"),
            "Cluster API v1.16 (planned for April 2027)"
        );
        assert_eq!(
            said(Project::ClusterApi, "v1.17"),
            "Cluster API v1.17 (tentative, about August 2027)"
        );
        assert_eq!(
            said(Project::Kubernetes, "v1.37"),
            "Kubernetes v1.37 (released on 2026-08-26)"
        );
        assert_eq!(
            said(Project::Hosts, "k8s.gcr.io"),
            "k8s.gcr.io (since 2023-04-03)"
        );
    }

    #[test]
    fn versions_are_read_with_and_without_a_patch() {
        for (text, expected) in [
            ("v1.16", Some((1, 16))),
            ("1.38", Some((1, 38))),
            ("v1.38.0", Some((1, 38))),
            ("v1", None),
            ("1.x", None),
            ("1.2.3.4", None),
            ("v1.38.0-beta.0", None),
            ("", None),
        ] {
            assert_eq!(minor_version(text), expected, "{text}");
        }
    }
}
