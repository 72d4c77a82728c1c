//! `docs/contract.tsv`: each rule of the contract, where it is fulfilled, and which test proves it.
//! `docs/contract-rules.tsv` has the rules themselves, with the pages of the book that they are from.

use std::collections::BTreeSet;

use crate::scenarios;
use crate::support::root;

const TABLE: &str = "docs/contract.tsv";
const CASES: &str = "tests/cases/";
const HEADER: &str = "id\tlevel\tfulfilled\tproof";

struct Row {
    id: String,
    level: String,
    fulfilled: String,
    proof: Proof,
}

/// How a rule is proven.
#[derive(Debug, PartialEq, Eq)]
enum Proof {
    /// By tests, several with `; ` between them: `path::name`, or the folder of a case of the
    /// command line (`tests/cases/…`), whose name is then empty.
    Tests(Vec<(String, String)>),
    /// `n/a: reason`.
    NotApplicable(String),
}

fn proof(text: &str) -> Result<Proof, String> {
    if let Some(reason) = text.strip_prefix("n/a: ") {
        return Ok(Proof::NotApplicable(reason.to_owned()));
    }
    let tests: Option<Vec<(String, String)>> = text
        .split("; ")
        .map(|test| match test.split_once("::") {
            Some((path, name)) if path.ends_with(".rs") => Some((path.to_owned(), name.to_owned())),
            None if test.starts_with(CASES) => Some((test.to_owned(), String::new())),
            _ => None,
        })
        .collect();
    tests
        .map(Proof::Tests)
        .ok_or_else(|| format!("`{text}` is not proof"))
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join(TABLE)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(HEADER));
    lines
        .map(|line| {
            let [id, level, fulfilled, written] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{TABLE}: four columns: {line}")
            };
            let proof = proof(written).unwrap_or_else(|fault| panic!("{TABLE}: {id}: {fault}"));
            Row {
                id: id.to_owned(),
                level: level.to_owned(),
                fulfilled: fulfilled.to_owned(),
                proof,
            }
        })
        .collect()
}

#[test]
fn proofs_have_one_form() {
    let test = |path: &str, name: &str| (path.to_owned(), name.to_owned());
    for (text, expected) in [
        ("n/a: x", Some(Proof::NotApplicable("x".into()))),
        ("a.rs::b", Some(Proof::Tests(vec![test("a.rs", "b")]))),
        (
            "a.rs::b; c.rs::d",
            Some(Proof::Tests(vec![test("a.rs", "b"), test("c.rs", "d")])),
        ),
        (
            "tests/cases/lint/a",
            Some(Proof::Tests(vec![test("tests/cases/lint/a", "")])),
        ),
        ("", None),
        ("manager", None),
        ("a.rs::b; n/a: x", None),
        ("planned: x", None),
    ] {
        assert_eq!(proof(text).ok(), expected, "{text}");
    }
}

/// Whether the file has the test: one with a test attribute, or a scenario of `tests/e2e`, which
/// the list of scenarios names.
fn has_test(path: &str, name: &str) -> bool {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap_or_default();
    if path.starts_with(CASES) {
        return root().join(path).join("cmd").is_file();
    }
    match path.strip_prefix("tests/e2e/scenarios/") {
        Some(scenario) => is_scenario(&scenarios::names(), &read(path), scenario, name),
        None => has_attributed_test(&read(path), name),
    }
}

/// Whether a file has the function, and the list runs it under the module that is called after the
/// file or its folder.
fn is_scenario(list: &[&str], text: &str, path: &str, name: &str) -> bool {
    let module = path
        .split('/')
        .next()
        .unwrap_or_default()
        .trim_end_matches(".rs");
    let is_function = text
        .lines()
        .any(|line| line.starts_with(&format!("pub(crate) fn {name}(")));
    is_function && list.contains(&format!("{module}::{name}").as_str())
}

/// The name of a test and whether a test attribute stands above it.
fn has_attributed_test(text: &str, name: &str) -> bool {
    let mut after_attribute = false;
    for line in text.lines().map(str::trim_start) {
        if line
            .trim_start_matches("async ")
            .starts_with(&format!("fn {name}("))
            && after_attribute
        {
            return true;
        }
        after_attribute = line == "#[test]"
            || line.starts_with("#[tokio::test")
            || (after_attribute && line.starts_with("#["));
    }
    false
}

#[test]
fn tests_are_found_by_name_and_attribute() {
    let text = "fn helper() {}\n    #[test]\n    #[cfg(unix)]\n    fn real() {}\n    #[tokio::test]\n    async fn waits() {}\n";
    assert!(has_attributed_test(text, "real") && has_attributed_test(text, "waits"));
    assert!(!has_attributed_test(text, "helper") && !has_attributed_test(text, "rea"));
}

#[test]
fn scenarios_are_found_by_function_and_list() {
    let list = &["crds::hold", "rbac::exact"][..];
    let text = "pub(crate) fn hold(context: &Context) {\nfn exact() {\n";
    assert!(is_scenario(list, text, "crds/mod.rs", "hold"));
    assert!(
        !is_scenario(list, text, "rbac.rs", "hold") && !is_scenario(list, text, "rbac.rs", "exact")
    );
    assert!(!is_scenario(&[], text, "crds/mod.rs", "hold"));
}

/// Ids in order, once each; levels as the documents have them; files and tests that exist; nothing
/// that waits.
#[test]
fn table_is_sound() {
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for Row {
        id,
        level,
        fulfilled,
        proof,
    } in rows()
    {
        if !seen.insert(id.clone()) {
            faults.push(format!("{id} stands there twice"));
        }
        if !["MUST", "SHOULD", "MAY", "observed"].contains(&level.as_str()) {
            faults.push(format!("{id}: `{level}` is not a level"));
        }
        if !fulfilled.is_empty() && !root().join(&fulfilled).is_file() {
            faults.push(format!("{id}: no file {fulfilled}"));
        }
        match proof {
            Proof::Tests(tests) => {
                if fulfilled.is_empty() {
                    faults.push(format!("{id}: a test, but nothing that it tests"));
                }
                for (path, name) in tests {
                    if !has_test(&path, &name) {
                        faults.push(format!("{id}: no test {name} in {path}"));
                    }
                }
            }
            Proof::NotApplicable(reason) if reason.split(' ').count() < 4 => {
                faults.push(format!("{id}: say why"))
            }
            _ => {}
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// `docs/upstream-tests.tsv`: what proves here what each test of Cluster API's own kubeadm provider
/// (v1.14.2, `bootstrap/kubeadm`) proves there. They call its functions in Go and cannot be run
/// against another program; what they expect of objects can.
#[test]
fn tests_of_upstream_have_tests_here() {
    const UPSTREAM: &str = "docs/upstream-tests.tsv";
    let text = std::fs::read_to_string(root().join(UPSTREAM)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("folder\ttest\tproof"));
    let mut seen = BTreeSet::new();
    for line in lines {
        let [folder, test, written] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{UPSTREAM}: three columns: {line}")
        };
        assert!(
            test.starts_with("Test") && seen.insert((folder, test)),
            "{UPSTREAM}: {line}"
        );
        match proof(written) {
            Ok(Proof::Tests(tests)) => {
                let missing: Vec<_> = tests
                    .iter()
                    .filter(|(path, name)| !has_test(path, name))
                    .collect();
                assert!(missing.is_empty(), "{UPSTREAM}: {test}: {missing:?}");
            }
            Ok(Proof::NotApplicable(reason)) => assert!(
                reason.split(' ').count() >= 4,
                "{UPSTREAM}: {test}: say why"
            ),
            other => panic!("{UPSTREAM}: {test}: {other:?}"),
        }
    }
    // So many have the folders of that version.
    assert_eq!(seen.len(), 78);
}

/// The rules of the contract: id and level.
fn rules() -> Vec<(String, String)> {
    const RULES: &str = "docs/contract-rules.tsv";
    let text = std::fs::read_to_string(root().join(RULES)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("id\tlevel\tcontract\trule\tsource"));
    lines
        .map(|line| {
            let [id, level, contract, rule, source] = line.split('\t').collect::<Vec<_>>()[..]
            else {
                panic!("{RULES}: five columns: {line}")
            };
            assert!(
                ![contract, rule, source].contains(&""),
                "{RULES}: {id}: a column is empty"
            );
            (id.to_owned(), level.to_owned())
        })
        .collect()
}

/// The table has all rules, with their levels. Each is proven, or does not bind us, since the table
/// has no other form.
#[test]
fn table_is_complete() {
    let rules = rules();
    assert_eq!(rules.len(), 219);
    let rows: Vec<_> = rows().into_iter().map(|row| (row.id, row.level)).collect();
    assert_eq!(rows, rules);
}
