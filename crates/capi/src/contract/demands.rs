//! What the contract demands of the fields of each role, and what the core does without them: the
//! contract pages as a table (`demands.txt`).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::{ContractVersion, Role};

/// When a field has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// In every object of the role.
    Always,
    /// When another field is: the provider supports what that one is for.
    With(&'static str),
    /// Never; but where it is, it has the type that the contract says.
    Optional,
    /// It is of the older contract, and must not be there; the core still reads it.
    Gone,
}

/// What the core does with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// It cannot do without; what happens then, in a clause.
    Needs(&'static str),
    /// It cannot do without in Clusters that are made of a ClusterClass; what happens then, in a
    /// clause.
    NeedsForClasses(&'static str),
    /// It takes it over where it is, and fails on another type.
    Reads,
    /// It never reads the field; the field is for users, other controllers or tools.
    Ignores,
}

/// A field that the contract speaks of.
#[derive(Debug)]
pub struct Demand {
    roles: Vec<Role>,
    contracts: Vec<ContractVersion>,
    /// The path from the root of the object; `[]` behind the name of a list stands for its items.
    pub path: &'static str,
    /// Another field that does as well; its own row says what it has to be.
    pub alternative: Option<&'static str>,
    /// The type that its schema has to have.
    pub of_type: &'static str,
    /// The condition under which the contract requires the field.
    pub need: Need,
    /// The use that the core makes of the field, and the effect when it is missing.
    pub reading: Reading,
    /// Page and section of the book: `infra-machine#inframachine-provider-id`.
    section: &'static str,
}

impl Demand {
    /// The section of the book that says it for a contract. The page on pools is younger than
    /// contract v1beta2, and speaks of both.
    pub fn url(&self, contract: ContractVersion) -> String {
        let is_current =
            contract == ContractVersion::V1Beta2 || self.section.starts_with("infra-machinepool");
        let book = if is_current { "" } else { "release-1-10." };
        format!(
            "https://{book}cluster-api.sigs.k8s.io/developer/providers/contracts/{}",
            self.section
        )
    }
}

/// What a contract demands of a role, parents before their fields.
pub fn demands(role: Role, contract: ContractVersion) -> impl Iterator<Item = &'static Demand> {
    DEMANDS
        .iter()
        .filter(move |demand| demand.contracts.contains(&contract) && demand.roles.contains(&role))
}

static DEMANDS: LazyLock<Vec<Demand>> = LazyLock::new(|| parse(include_str!("demands.txt")));

fn parse(table: &'static str) -> Vec<Demand> {
    let lines = || {
        table
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
    };
    let effects: BTreeMap<&str, &str> = lines()
        .filter_map(|line| line.strip_prefix("= "))
        .filter_map(|effect| effect.split_once(' '))
        .collect();
    let (mut found, mut roles) = (Vec::new(), Vec::new());
    for line in lines().filter(|line| !line.starts_with("= ")) {
        match line.strip_prefix("  ") {
            None => roles = line.split(", ").map(role).collect(),
            Some(row) => found.push(demand(row, &roles, &effects)),
        }
    }
    found
}

fn role(word: &str) -> Role {
    Role::parse(word).expect("internal error: the table names a role")
}

fn demand(row: &'static str, roles: &[Role], effects: &BTreeMap<&str, &'static str>) -> Demand {
    let cells: Vec<&str> = row.split(' ').collect();
    let [contracts, path, of_type, need, reading, section] = cells[..] else {
        unreachable!("internal error: a row has six cells")
    };
    let (path, alternative) = path
        .split_once('|')
        .map_or((path, None), |(path, other)| (path, Some(other)));
    let contract =
        |word| ContractVersion::parse(word).expect("internal error: the table names a contract");
    let contracts = contracts.split('+').map(contract).collect();
    Demand {
        roles: roles.to_vec(),
        contracts,
        path,
        alternative,
        of_type,
        need: need_of(need),
        reading: reading_of(reading, effects),
        section,
    }
}

fn need_of(cell: &'static str) -> Need {
    match cell.split_once(':') {
        Some(("with", path)) => Need::With(path),
        _ if cell == "always" => Need::Always,
        _ if cell == "gone" => Need::Gone,
        _ => Need::Optional,
    }
}

fn reading_of(cell: &str, effects: &BTreeMap<&str, &'static str>) -> Reading {
    let effect = |name| {
        effects
            .get(name)
            .copied()
            .expect("internal error: the table says what the effect is")
    };
    match cell.split_once(':') {
        Some(("needs", name)) => Reading::Needs(effect(name)),
        Some((_, name)) => Reading::NeedsForClasses(effect(name)),
        None if cell == "reads" => Reading::Reads,
        None => Reading::Ignores,
    }
}

#[cfg(test)]
mod tests {
    use super::ContractVersion::{V1Beta1, V1Beta2};
    use super::*;

    /// Book, v1beta2: the rules that are mandatory; v1beta1 by the book of release 1.10.
    #[test]
    fn mandatory_fields_are_those_of_the_pages() {
        let mandatory = |role, contract| {
            let needed = demands(role, contract).filter(|demand| demand.need == Need::Always);
            needed.map(|demand| demand.path).collect::<Vec<_>>()
        };
        for (role, v1beta1, v1beta2) in [
            (
                Role::InfraCluster,
                vec!["status.ready"],
                vec!["status.initialization.provisioned"],
            ),
            (
                Role::InfraMachine,
                vec!["spec.providerID", "status.ready"],
                vec!["spec.providerID", "status.initialization.provisioned"],
            ),
            (
                Role::BootstrapConfig,
                vec!["status.ready", "status.dataSecretName"],
                vec![
                    "status.initialization.dataSecretCreated",
                    "status.dataSecretName",
                ],
            ),
            (
                Role::ControlPlane,
                vec!["status.initialized", "status.ready"],
                vec!["status.initialization.controlPlaneInitialized"],
            ),
        ] {
            assert_eq!(
                (mandatory(role, V1Beta1), mandatory(role, V1Beta2)),
                (v1beta1, v1beta2),
                "{role:?}"
            );
        }
    }

    #[test]
    fn rows_are_in_the_order_in_which_they_are_judged() {
        assert!(DEMANDS.len() > 60, "{}", DEMANDS.len());
        let types = ["object", "array", "string", "integer", "boolean"];
        for demand in DEMANDS.iter() {
            assert!(
                types.contains(&demand.of_type) && demand.section.contains('#'),
                "{demand:?}"
            );
            for (role, contract) in demand.roles.iter().flat_map(|role| {
                demand
                    .contracts
                    .iter()
                    .map(move |contract| (*role, *contract))
            }) {
                let paths: Vec<&str> = demands(role, contract).map(|other| other.path).collect();
                let at = paths.iter().position(|path| *path == demand.path).unwrap();
                let within = [format!("{}.", demand.path), format!("{}[]", demand.path)];
                let is_within = |path: &str| {
                    path == demand.path || within.iter().any(|parent| path.starts_with(parent))
                };
                assert!(
                    !paths[..at].iter().any(|path| is_within(path)),
                    "{role:?} {contract:?} {}",
                    demand.path
                );
                assert!(
                    !paths[at + 1..].contains(&demand.path),
                    "{role:?} {contract:?} {} is there twice",
                    demand.path
                );
            }
        }
    }

    #[test]
    fn sections_are_those_of_the_book_of_the_contract() {
        let url = |role| {
            demands(role, V1Beta1)
                .find(|demand| demand.path == "status.ready")
                .unwrap()
                .url(V1Beta1)
        };
        let pages = "cluster-api.sigs.k8s.io/developer/providers/contracts";
        assert_eq!(
            url(Role::InfraCluster),
            format!(
                "https://release-1-10.{pages}/infra-cluster#infracluster-initialization-completed"
            )
        );
        assert_eq!(
            url(Role::InfraMachinePool),
            format!("https://{pages}/infra-machinepool#inframachinepool-initialization-completed")
        );
    }
}
