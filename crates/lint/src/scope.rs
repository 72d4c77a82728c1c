//! Objects that are checked together, and what is known of where they belong.

use semver::Version;

use windlass_capi::contract::{ContractVersion, ProviderType, Roles, STANDARD_ROLES};
use windlass_objects::{Object, Pool};
use windlass_source::budget::{Budget, Exceeded};
use windlass_source::diag::{Diagnostic, rules};

rules! {
    /// checking the objects exceeds the work limit of a run
    pub(super) WORK_EXCEEDED = error("lint-work-exceeded");
}

/// How much of what is installed the objects are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it, as in a components file: what is referred to and is not there is missing.
    Whole,
    /// A part, such as a folder of CRDs: the rest may be elsewhere.
    Part,
}

/// What an author says of the kinds, and wants of them.
#[derive(Debug, Clone, Copy)]
pub struct Wishes<'a> {
    /// The roles of kinds: those that names imply, with the exceptions that the author specifies.
    pub roles: &'a Roles,
    /// The contract that is to be fulfilled: what still is on an older one is reported.
    pub contract: Option<ContractVersion>,
}

impl Wishes<'_> {
    /// Nothing is said: names tell the roles, and any contract will do.
    pub const NONE: Wishes<'static> = Wishes {
        roles: &STANDARD_ROLES,
        contract: None,
    };
}

/// The reader of the findings, who determines which of them are reported.
#[derive(Debug, Clone, Copy)]
pub enum Audience<'a> {
    /// The author, who can still change it: everything is reported.
    Author(Wishes<'a>),
    /// Who installs it: what clusterctl rejects or changes is reported.
    User,
}

/// What is known of components beside their text.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The namespace that provider.yaml names, if there is one.
    pub namespace: Option<&'a str>,
    /// The type of their provider; `None` when neither file name nor label specifies it.
    pub provider_type: Option<ProviderType>,
    /// The version of their release, when somebody said it.
    pub version: Option<&'a Version>,
    /// The reader of the findings: the author of the components, or a user of them.
    pub audience: Audience<'a>,
}

impl<'a> Asked<'a> {
    /// All objects of the components, as their author wants them checked.
    pub(crate) fn whole(
        &self,
        wishes: Wishes<'a>,
        pool: &'a Pool,
        budget: &'a Budget,
    ) -> Scope<'a> {
        let Asked {
            provider_type,
            version,
            ..
        } = *self;
        Scope {
            version,
            ..Scope::of(pool, provider_type, budget)
        }
        .with(wishes)
    }
}

/// What a rule about objects may look at.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The objects, in their order, with their variables replaced.
    pub objects: &'a [Object],
    /// The same, to look some of them up.
    pub pool: &'a Pool,
    /// How much of what is installed they are.
    pub extent: Extent,
    /// Whose components they are, as far as the name of the file says so.
    pub provider_type: Option<ProviderType>,
    /// The version of their release, when somebody said it.
    pub version: Option<&'a Version>,
    /// The roles of kinds: those that names imply, with the exceptions that the author specifies.
    pub roles: &'a Roles,
    /// The contract that somebody wants to have fulfilled: what still is on an older one is
    /// told.
    pub wanted_contract: Option<ContractVersion>,
    /// The limit on the work of the run, which all checks share.
    pub budget: &'a Budget,
}

impl<'a> Scope<'a> {
    /// The same objects as their author wants them checked.
    pub fn with(self, wishes: Wishes<'a>) -> Self {
        Scope {
            roles: wishes.roles,
            wanted_contract: wishes.contract,
            ..self
        }
    }

    /// The object that a name stands for. In a components file the namespace does not matter:
    /// clusterctl moves all objects into one, and their references with them.
    pub(crate) fn named(&self, group: &str, kind: &str, name: &str) -> Option<&'a Object> {
        self.pool.named(group, kind, name)
    }

    /// What objects of a group and kind are called, in order: what somebody may have meant.
    pub(crate) fn names_of(
        &self,
        group: &str,
        kind: &str,
    ) -> impl Iterator<Item = &'a str> + Clone {
        self.pool.names_of(group, kind)
    }

    /// Whether what is referred to and is not there is missing.
    pub(crate) fn is_whole(&self) -> bool {
        self.extent == Extent::Whole
    }

    /// Objects to which nothing is missing, with the roles that their names tell.
    pub fn of(pool: &'a Pool, provider_type: Option<ProviderType>, budget: &'a Budget) -> Self {
        Scope {
            objects: pool.objects(),
            pool,
            extent: Extent::Whole,
            provider_type,
            version: None,
            roles: &STANDARD_ROLES,
            wanted_contract: None,
            budget,
        }
    }
}

/// What is said where the rest of some objects is not checked, because the run has no steps left.
pub(super) fn unchecked(spent: Exceeded, budget: &Budget) -> Diagnostic {
    budget.blamed(|| {
        let finding = Diagnostic::of(
            &WORK_EXCEEDED,
            format!("checking the objects takes {spent}"),
        );
        finding
            .help("check fewer files at once")
            .note("what follows is not checked")
    })
}
