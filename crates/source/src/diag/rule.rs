//! Rules as data: what a check finds, its severity, and what a controller does about a finding.

use std::cmp::Ordering;
use std::fmt;

use super::Severity;

/// What a controller does about a finding of the rule. The command line reports every finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A terminal failure: the object is not reconciled until its author changes it.
    Reject,
    /// An object that another controller or user creates does not exist yet: the request is
    /// requeued and reconciled again when that object changes.
    Requeue,
    /// The finding is reported, and reconciliation continues.
    Report,
}

impl Class {
    /// The name in JSON and in the documentation.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Reject => "reject",
            Class::Requeue => "requeue",
            Class::Report => "report",
        }
    }
}

/// The URL of the project's repository, without a slash at the end.
pub const PROJECT: &str = "https://github.com/windlass-dev/windlass";

/// A rule, declared once beside its check with [`rules!`](crate::diag::rules). Every finding refers
/// to one.
///
/// The id is part of the interface (`--deny`, `--allow`, JSON) and never reused; a rule has one
/// severity.
#[derive(Debug)]
pub struct Rule {
    /// The stable name, kebab-case: the artifact first, then the defect
    /// (`metadata-series-missing`).
    pub id: &'static str,
    /// The severity of its findings.
    pub severity: Severity,
    /// The defect, in one clause: lower case at the start, no period at the end.
    pub summary: &'static str,
    /// The page that the rule is derived from, such as one of the Cluster API book.
    pub url: Option<&'static str>,
    /// What a controller does about a finding.
    pub class: Class,
    /// Its number in the catalogue of checks of a provider's release, such as `M04`; not every
    /// rule has one.
    pub catalogue: Option<&'static str>,
    /// Its page for `explain`, the text of `src/pages/<id>.md` of its crate: `## Why` it matters,
    /// the
    /// `## Fix`, and where the check runs on files a `## Bad` and a `## Good` example, which are
    /// run as tests.
    pub page: &'static str,
    /// Whether reports hide the value of the field that a finding is about: nothing is known of an
    /// unknown field, so its value may be secret.
    pub hides_value: bool,
}

impl Rule {
    /// A rule whose findings are errors: a controller rejects the object.
    pub const fn error(id: &'static str, summary: &'static str) -> Self {
        Rule {
            id,
            severity: Severity::Error,
            summary,
            url: None,
            class: Class::Reject,
            catalogue: None,
            page: "",
            hides_value: false,
        }
    }

    /// A rule whose findings are warnings: a controller reports them and continues.
    pub const fn warning(id: &'static str, summary: &'static str) -> Self {
        Rule {
            id,
            severity: Severity::Warning,
            summary,
            url: None,
            class: Class::Report,
            catalogue: None,
            page: "",
            hides_value: false,
        }
    }

    /// A rule whose findings are advice.
    pub const fn info(id: &'static str, summary: &'static str) -> Self {
        Rule {
            id,
            severity: Severity::Info,
            summary,
            url: None,
            class: Class::Report,
            catalogue: None,
            page: "",
            hides_value: false,
        }
    }

    /// Sets the page that the rule is derived from.
    #[must_use]
    pub const fn url(mut self, url: &'static str) -> Self {
        self.url = Some(url);
        self
    }

    /// Sets the number in the catalogue of checks of a provider's release.
    #[must_use]
    pub const fn catalogue(mut self, number: &'static str) -> Self {
        self.catalogue = Some(number);
        self
    }

    /// Sets the page for `explain`.
    #[must_use]
    pub const fn page(mut self, page: &'static str) -> Self {
        self.page = page;
        self
    }

    /// Sets that reports hide the value of the field that a finding is about.
    #[must_use]
    pub const fn hides_value(mut self) -> Self {
        self.hides_value = true;
        self
    }

    /// The URL of its page in the book.
    pub fn page_url(&self) -> String {
        format!(
            "{PROJECT}/blob/main/docs/book/src/reference/rules/{}.md",
            self.id
        )
    }

    /// The command that runs on the files of the page's examples, such as `validate machine.yaml`;
    /// `None` when the examples are files of a release, or when there are none.
    pub fn example_command(&self) -> Option<&'static str> {
        let (_, example) = self.page.split_once("## Bad\n")?;
        let introduction = example.split("```").next()?;
        let (_, command) = introduction.split_once("`windlass ")?;
        command.split('`').next()
    }

    /// Whether the page's examples are files of a release, which `lint` and `release check` read.
    pub fn has_release_example(&self) -> bool {
        self.page.contains("## Bad\n") && self.example_command().is_none()
    }

    /// Sets [`Class::Requeue`]: the missing object may be created later.
    #[must_use]
    pub const fn requeues(mut self) -> Self {
        self.class = Class::Requeue;
        self
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

impl PartialOrd for Rule {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rule {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(other.id)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id)
    }
}

/// Declares the rules of a file: a static for each, and `RULES` with all of them, which `lib.rs` of
/// the crate lists. The page of a rule is `src/pages/<id>.md` of the crate; without it the build
/// fails.
///
/// ```text
/// rules! {
///     /// a mapping repeats a key, and the last value wins
///     pub(super) KEY_DUPLICATED = warning("yaml-key-duplicated");
///     /// a Secret that the config refers to does not exist
///     SECRET_MISSING = error("config-secret-missing"), requeues();
/// }
/// ```
#[macro_export]
macro_rules! rules {
    ($($(#[doc = $summary:literal])+ $visible:vis $name:ident = $severity:ident($id:literal) $(, $more:ident($($argument:expr)?))*;)+) => {
        $(
            $(#[doc = $summary])+
            $visible static $name: $crate::diag::Rule =
                $crate::diag::Rule::$severity($id, concat!($($summary),+).trim_ascii())
                    .page(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/pages/", $id, ".md")))
                    $(.$more($($argument)?))*;
        )+
        /// The rules of this file.
        pub static RULES: &[&$crate::diag::Rule] = &[$(&$name),+];
    };
}

pub use rules;
