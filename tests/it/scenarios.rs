//! Which scenarios of `tests/e2e` a change selects, and that their groups declare what they
//! exercise.

use std::collections::BTreeSet;

use selection::imports::{Imports, unit};
use selection::{Change, GROUPS, Group, LIST, Reason, Selection, select, with_groups};

use crate::support::root;
use crate::tidy::{rust_files, shown};

#[path = "../e2e/selection/mod.rs"]
mod selection;

/// The names of all scenarios.
pub(crate) fn names() -> Vec<&'static str> {
    let names = GROUPS.iter().flat_map(|group| group.scenarios);
    names.copied().collect()
}

const HARBOURS: &[Group] = &[
    Group {
        module: "plan",
        exercises: &[&["src/cli/plan", "templates"]],
        peers: &[&["kwok-v1.0.0"]],
        packages: &[],
        scenarios: &["plan::a", "plan::b"],
    },
    Group {
        module: "read",
        exercises: &[&["src/reader", "src/cli/show.rs", "src/cli/shown/"]],
        peers: &[&["etcd-v1.0.0", "data-v1.0.0"]],
        packages: &[],
        scenarios: &["read::a", "read::b", "read::c"],
    },
];

fn harbour_imports() -> Imports {
    let files = [
        (
            "src/cli/plan.rs",
            "use super::{Exit, context::To};\nuse crate::planner::{self, plan};\n",
        ),
        ("src/cli/mod.rs", "mod plan;\nuse exit::Exit;\n"),
        ("src/cli/exit.rs", ""),
        ("src/cli/context.rs", "use super::verbs::Verb;\n"),
        ("src/cli/verbs.rs", "use super::{plan, show};\n"),
        ("src/cli/show.rs", "use crate::shower;\n"),
        ("src/planner/mod.rs", "pub(crate) mod deep;\n"),
        (
            "src/planner/deep.rs",
            "fn f() { crate::text::parse(super::x()) }\n// crate::shower\n",
        ),
        (
            "src/reader/mod.rs",
            "const A: &str = include_str!(\"../../data/a.yaml\");\n",
        ),
        (
            "src/text.rs",
            "#[cfg(test)]\nmod tests { use crate::reader::x; }\n",
        ),
        ("src/shower.rs", ""),
        ("src/cli/shown/mod.rs", "use crate::shower;\n"),
        (
            "tests/e2e/scenarios/read.rs",
            "#[path = \"../../it/console.rs\"]\nmod console;\n",
        ),
        ("tests/e2e/scenarios/plan/mod.rs", "mod deep;\n"),
        (
            "tests/e2e/scenarios/plan/deep.rs",
            "use crate::scenarios::read::x;\n",
        ),
    ];
    Imports::read(&files.map(|(path, text)| (path.to_owned(), text.to_owned())))
}

fn selected(paths: &[&str], run: usize) -> Selection {
    let change = Change::Paths(paths.iter().map(|path| (*path).to_owned()).collect());
    select(&change, HARBOURS, &harbour_imports(), run)
}

/// The modules whose scenarios run for the paths; none where everything does.
fn modules(paths: &[&str]) -> Option<Vec<&'static str>> {
    // In this run it is nobody's turn.
    let selection = selected(paths, 9);
    let is_everything = |(_, reason): &(_, Reason)| matches!(reason, Reason::Everything(_));
    if selection.selected.iter().any(is_everything) {
        assert!(selection.left_out.is_empty());
        return None;
    }
    let names = selection.selected.iter();
    let modules = names.map(|(name, _)| name.split("::").next().unwrap());
    Some(modules.collect::<BTreeSet<_>>().into_iter().collect())
}

#[test]
fn selects_groups_that_depend_on_changed_paths() {
    for (path, expected) in [
        // declared, imported, and imported by what is imported
        ("src/cli/plan.rs", &["plan"][..]),
        ("src/planner/new.rs", &["plan"]),
        ("src/text.rs", &["plan"]),
        ("src/reader/mod.rs", &["read"]),
        ("src/cli/mod.rs", &["plan"]),
        ("src/cli/context.rs", &["plan"]),
        ("src/cli/exit.rs", &["plan"]),
        ("src/cli/verbs.rs", &["plan"]),
        ("templates/x.yaml", &["plan"]),
        // declared without imports
        ("src/cli/show.rs", &["read"]),
        ("src/cli/shown/new.rs", &["read"]),
        // files that sources include
        ("data/a.yaml", &["read"]),
        ("tests/it/console.rs", &["plan", "read"]),
        // scenarios and their declarations
        ("tests/e2e/scenarios/plan/mod.rs", &["plan"]),
        ("tests/e2e/scenarios/read.rs", &["plan", "read"]),
        (&format!("{LIST}#read"), &["read"]),
        // peers, and sources of our own that several of them are built of
        ("tests/peers/kwok-v1.0.0/go.mod", &["plan"]),
        ("tests/peers/data/main.go", &["read"]),
        // harmless
        ("docs/book/src/index.md", &[]),
        ("tests/it/cli.rs", &[]),
    ] {
        assert_eq!(modules(&[path]).as_deref(), Some(expected), "{path}");
    }
    assert_eq!(
        modules(&["src/text.rs", "README.md", "tests/e2e/scenarios/read.rs"]).unwrap(),
        ["plan", "read"]
    );
    assert_eq!(modules(&[]).unwrap(), [""; 0]);
}

#[test]
fn selects_everything_for_unknown_paths_and_foundations() {
    for path in [
        "src/new/mod.rs",
        "src/shower.rs",
        "templates",
        "template/x.yaml",
        "LICENSE.old",
        "Cargo.lock",
        "tests/peers/build",
        "tests/peers/new-v1.0.0/go.mod",
        "tests/e2e/scenarios/mod.rs",
        "tests/e2e/harness/wait.rs",
        LIST,
    ] {
        let expected = (path == "templates").then(|| vec!["plan"]);
        assert_eq!(modules(&["src/text.rs", path]), expected, "{path}");
    }
    let unknown = Change::Unknown("the record names no commit".to_owned());
    let selection = select(&unknown, HARBOURS, &harbour_imports(), 0);
    assert_eq!(
        selection.report(),
        "selected, because the record names no commit: plan::a, plan::b, read::a, read::b, read::c\n\
         selected 5 of 5 scenarios"
    );
}

#[test]
fn each_scenario_has_its_turn_in_ten_runs() {
    let turn = |run| {
        let selection = selected(&[], run);
        assert_eq!(selection.selected.len() + selection.left_out.len(), 5);
        let names = selection.selected.iter().map(|(name, reason)| {
            assert_eq!(*reason, Reason::Turn);
            *name
        });
        names.collect::<Vec<_>>()
    };
    assert_eq!(turn(1230), turn(1230));
    let ten: Vec<&str> = (1230..1240).flat_map(turn).collect();
    assert_eq!(ten, ["plan::a", "plan::b", "read::a", "read::b", "read::c"]);
    let paths = [
        "src/planner/a.rs",
        "src/planner/b.rs",
        "src/text.rs",
        "src/cli/plan.rs",
    ];
    assert_eq!(
        selected(&paths, 3).report(),
        "selected, because they depend on src/planner/a.rs, src/planner/b.rs, src/text.rs and 1 more: plan::a, plan::b\n\
         selected, because it is their turn: read::b\n\
         left out: read::a, read::c\n\
         selected 3 of 5 scenarios"
    );
}

#[test]
fn a_changed_list_selects_the_groups_that_differ() {
    let list = |plan: &str, read: &str| {
        format!(
            "groups! {{\n    // a remark\n    plan {{\n        own: [{plan}],\n    }}\n    read {{\n        own: [{read}],\n    }}\n}}\n"
        )
    };
    let changed = |after: &str| {
        with_groups(
            vec![LIST.to_owned(), "b".to_owned()],
            &list("a", "b"),
            after,
        )
    };
    assert_eq!(
        changed(&list("a", "c")),
        ["b".to_owned(), format!("{LIST}#read")]
    );
    assert_eq!(
        changed(&list("a", "b").replace("a remark", "another")),
        ["b"]
    );
    assert_eq!(
        changed(&list("a", "b").replace("    }\n}", "    }\n    more {\n    }\n}")),
        ["b".to_owned(), format!("{LIST}#more")]
    );
    assert_eq!(
        changed(&list("a", "b").replace("groups!", "other!")),
        [LIST, "b"]
    );
    // The list of this checkout has the form.
    let text = std::fs::read_to_string(root().join(LIST)).unwrap();
    for group in GROUPS {
        let renamed = text.replacen(&format!("    {} {{\n", group.module), "    other {\n", 1);
        let changed = with_groups(vec![LIST.to_owned()], &text, &renamed);
        let expected = [group.module, "other"].map(|module| format!("{LIST}#{module}"));
        assert_eq!(BTreeSet::from_iter(changed), BTreeSet::from(expected));
    }
}

#[test]
fn a_list_block_of_the_same_module_counts_for_both() {
    let text = std::fs::read_to_string(root().join(LIST)).unwrap();
    let changed = text.replace("kubeadm_providers_take_turns", "kubeadm_providers_meet");
    assert_eq!(
        with_groups(vec![LIST.to_owned()], &text, &changed),
        [format!("{LIST}#manager")]
    );
}

fn imports() -> Imports {
    let files = ["src", "crates", "manager/src", "tests/e2e"]
        .iter()
        .flat_map(|folder| rust_files(&root().join(folder)));
    let read: Vec<(String, String)> = files
        .map(|file| (shown(&file), std::fs::read_to_string(&file).unwrap()))
        .collect();
    Imports::read(&read)
}

/// A change of a module that no group declares selects everything, which is right and slow: a new
/// module gets its declaration with its first commit.
#[test]
fn groups_declare_every_module() {
    let imports = imports();
    let reached: BTreeSet<String> = GROUPS
        .iter()
        .flat_map(|group| selection::reach(group, &imports))
        .collect();
    let undeclared: Vec<String> = crate::tidy::sources()
        .iter()
        .chain(&rust_files(&root().join("manager")))
        .map(|file| shown(file))
        .filter(|path| !selection::is_foundation(path))
        .filter(|path| !selection::covers(&reached, path) && !selection::is_harmless(path))
        .collect();
    assert!(
        undeclared.is_empty(),
        "declare them in {LIST}, or as harmless beside it: {undeclared:#?}"
    );
    // What a group reaches is not harmless.
    let both: Vec<&str> = selection::HARMLESS
        .iter()
        .copied()
        .filter(|one| one.starts_with("src/") && reached.contains(&unit(one)))
        .collect();
    assert_eq!(both, [""; 0]);
}

#[test]
fn declarations_name_what_exists() {
    let imports = imports();
    let mut names = BTreeSet::new();
    for group in GROUPS {
        for declared in group.exercises.iter().copied().flatten() {
            assert!(
                root().join(declared).exists() || imports.units().contains(*declared),
                "{}: {declared} does not exist",
                group.module
            );
        }
        for peer in selection::peers(group) {
            let modules = root().join("tests/peers").join(peer).join("go.mod");
            assert!(modules.is_file(), "{}: no peer {peer}", group.module);
        }
        for name in group.scenarios {
            assert!(names.insert(name), "{name} is listed twice");
        }
    }
    assert!(names.len() >= 70, "only {} scenarios", names.len());
}

/// A command is quoted where it is run; `init` and `generate` are clusterctl's too.
#[test]
fn groups_declare_the_commands_that_their_scenarios_run() {
    let imports = imports();
    let modules: BTreeSet<&str> = GROUPS.iter().map(|group| group.module).collect();
    let verbs = [
        "diff",
        "inspect",
        "release",
        "render",
        "repository",
        "validate",
        "why",
    ];
    let mut count = 0;
    for module in modules {
        let folder = root().join("tests/e2e/scenarios").join(module);
        let files = if folder.is_dir() {
            rust_files(&folder)
        } else {
            vec![folder.with_extension("rs")]
        };
        let text: String = files
            .iter()
            .map(|file| std::fs::read_to_string(file).unwrap())
            .collect();
        let groups = || GROUPS.iter().filter(|group| group.module == module);
        for verb in verbs {
            if text.contains(&format!("\"{verb}\""))
                || text.contains(&format!("\"windlass {verb} "))
            {
                count += 1;
                let unit = format!("src/cli/{verb}.rs");
                assert!(
                    groups()
                        .any(|group| selection::covers(&selection::reach(group, &imports), &unit)),
                    "{module}: its scenarios run `windlass {verb}`: declare {unit} in {LIST}"
                );
            }
        }
    }
    assert!(count >= 15, "only {count} were found");
}

/// A command's engines are found behind it, and those of others are not.
#[test]
fn reaches_engines_through_commands() {
    let imports = imports();
    let reach = |start: &str| imports.reach([start].into_iter());
    let render = reach("src/cli/render");
    for expected in [
        "crates/debugging/src/commands/render",
        "crates/bootstrap/src/render",
        "crates/objects",
        "crates/go-yaml",
        "crates/source",
        "src/cli/mod",
        "src/cli/dispatch",
    ] {
        assert!(render.contains(expected), "{expected}: {render:?}");
    }
    assert!(
        !render.contains("crates/lint") && !render.contains("crates/repository/src"),
        "{render:?}"
    );
    let manager = reach("manager");
    for expected in [
        "crates/reconcile",
        "crates/capi/src/admission",
        "crates/capi/src/conversion",
        "crates/bootstrap/src/render",
    ] {
        assert!(manager.contains(expected), "{expected}: {manager:?}");
    }
    assert!(!manager.contains("crates/topology"), "{manager:?}");
    let release = reach("src/cli/release");
    assert!(
        release.contains("provider.yaml") && release.contains("crates/lint"),
        "{release:?}"
    );
}
