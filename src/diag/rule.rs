//! Rules as data: what can be found, how much it weighs, and what a controller does about it.

use std::cmp::Ordering;
use std::fmt;

use super::Severity;

/// What a controller does when the rule finds something. On the command line all findings are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The object cannot be served as it is written: a terminal failure until somebody changes it.
    Refuse,
    /// Something that others make is not there yet: look again when it changes.
    Wait,
    /// Worth telling, and nothing else.
    Tell,
}

impl Class {
    /// The word in documents and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Refuse => "refuse",
            Class::Wait => "wait",
            Class::Tell => "tell",
        }
    }
}

pub(crate) const PROJECT: &str = "https://github.com/windlass-dev/windlass";

/// A rule, declared once beside its check with [`rules!`](crate::diag::rules). Findings are made of
/// it.
///
/// The id is part of the interface (`--deny`, `--allow`, JSON) and never reused; a rule has one
/// severity.
#[derive(Debug)]
pub struct Rule {
    /// The stable name, kebab-case: the artifact first, then the defect
    /// (`metadata-series-missing`).
    pub id: &'static str,
    /// How much a finding of it weighs.
    pub severity: Severity,
    /// The defect, in one clause: lower case at the start, no period at the end.
    pub summary: &'static str,
    /// The page on which the rule stands, as far as one does.
    pub url: Option<&'static str>,
    /// What a controller does about it.
    pub class: Class,
    /// Its number in the catalogue of checks of a provider's release, such as `M04`; not every
    /// rule has one.
    pub catalogue: Option<&'static str>,
    /// Its page for `explain`, in Markdown: why it matters, under `## Bad` a release in which it
    /// is found, under `## Good` the same one mended; empty when there is none.
    pub page: &'static str,
}

impl Rule {
    /// A rule whose findings are errors, which a controller refuses.
    pub const fn error(id: &'static str, summary: &'static str) -> Self {
        Rule {
            id,
            severity: Severity::Error,
            summary,
            url: None,
            class: Class::Refuse,
            catalogue: None,
            page: "",
        }
    }

    pub(crate) const fn warning(id: &'static str, summary: &'static str) -> Self {
        Rule {
            id,
            severity: Severity::Warning,
            summary,
            url: None,
            class: Class::Tell,
            catalogue: None,
            page: "",
        }
    }

    /// A rule whose findings are advice.
    pub const fn info(id: &'static str, summary: &'static str) -> Self {
        Rule {
            id,
            severity: Severity::Info,
            summary,
            url: None,
            class: Class::Tell,
            catalogue: None,
            page: "",
        }
    }

    #[must_use]
    pub(crate) const fn url(mut self, url: &'static str) -> Self {
        self.url = Some(url);
        self
    }

    /// Its number in the catalogue of checks of a provider's release.
    #[must_use]
    pub(crate) const fn catalogue(mut self, number: &'static str) -> Self {
        self.catalogue = Some(number);
        self
    }

    /// Its page for `explain`.
    #[must_use]
    pub(crate) const fn page(mut self, page: &'static str) -> Self {
        self.page = page;
        self
    }

    /// Where its page can be read by people who have no `windlass` at hand.
    pub(crate) fn page_url(&self) -> Option<String> {
        (!self.page.is_empty()).then(|| {
            format!(
                "{PROJECT}/blob/main/docs/book/src/reference/rules/{}.md",
                self.id
            )
        })
    }

    /// Says that a controller waits for what is missing.
    #[must_use]
    pub(crate) const fn waits(mut self) -> Self {
        self.class = Class::Wait;
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

/// Declares the rules of a file: a static for each, and `RULES` with all of them, which the
/// registry lists.
///
/// ```text
/// rules! {
///     /// a mapping repeats a key, and the last value wins
///     pub(super) KEY_DUPLICATED = warning("yaml-key-duplicated");
///     /// a Secret that the config refers to does not exist
///     SECRET_MISSING = error("config-secret-missing"), waits();
/// }
/// ```
macro_rules! rules {
    ($($(#[doc = $summary:literal])+ $visible:vis $name:ident = $severity:ident($id:literal) $(, $more:ident($($argument:expr)?))*;)+) => {
        $(
            $(#[doc = $summary])+
            $visible static $name: $crate::diag::Rule =
                $crate::diag::Rule::$severity($id, concat!($($summary),+).trim_ascii())$(.$more($($argument)?))*;
        )+
        /// The rules of this file.
        pub(crate) static RULES: &[&$crate::diag::Rule] = &[$(&$name),+];
    };
}

pub(crate) use rules;
