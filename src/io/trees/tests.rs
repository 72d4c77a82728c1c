//! Folders that are written, replaced and compared.

use super::super::files::write_file;
use super::*;

fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().copied().collect()
}

fn write(folder: &Path, tree: &Tree, mode: Mode) -> Result<Outcome, WorldError> {
    write_tree(
        folder.to_str().unwrap(),
        tree,
        mode,
        Privacy::Public,
        "release build",
    )
}

fn read(folder: &Path) -> Tree {
    read_tree(folder.to_str().unwrap(), Limits::default()).unwrap()
}

/// Every entry of a folder, hidden ones too: leftovers would show here.
fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_folder_is_written_as_a_whole_and_then_unchanged() {
    let base = tempfile::tempdir().unwrap();
    let out = base.path().join("a/out");
    let files = tree(&[("x.yaml", "1"), ("sub/y.yaml", "2")]);
    assert_eq!(write(&out, &files, Mode::Create), Ok(Outcome::Written));
    assert_eq!(read(&out), files);
    assert_eq!(entries(&base.path().join("a")), ["out"]);
    assert_eq!(write(&out, &files, Mode::Create), Ok(Outcome::Unchanged));
    assert_eq!(write(&out, &files, Mode::Check), Ok(Outcome::Unchanged));
}

#[test]
fn other_content_is_rejected_without_force() {
    let base = tempfile::tempdir().unwrap();
    let old = tree(&[("a", "1"), ("notes.md", "mine"), ("same", "0")]);
    let new = tree(&[("a", "2"), ("b/c", "3"), ("same", "0")]);
    write(base.path(), &old, Mode::Create).unwrap();
    let expected = Difference {
        modified: vec!["a".to_owned()],
        missing: vec!["b/c".to_owned()],
        foreign: vec!["notes.md".to_owned()],
    };
    let rejected = write(base.path(), &new, Mode::Create).unwrap_err();
    assert!(matches!(rejected, WorldError::Occupied { difference, .. } if difference == expected));
    assert_eq!(
        write(base.path(), &new, Mode::Check),
        Ok(Outcome::Differs(expected))
    );
    assert_eq!(read(base.path()), old, "neither has written");

    assert_eq!(
        write(base.path(), &new, Mode::Force),
        Ok(Outcome::WrittenBeside(vec!["notes.md".to_owned()]))
    );
    assert_eq!(
        read(base.path()),
        tree(&[
            ("a", "2"),
            ("b/c", "3"),
            ("notes.md", "mine"),
            ("same", "0")
        ])
    );
    assert_eq!(entries(base.path()), ["a", "b", "notes.md", "same"]);
}

#[test]
fn a_tree_may_be_as_large_as_its_bound() {
    let base = tempfile::tempdir().unwrap();
    let files = tree(&[("a", "1"), ("b", "2")]);
    write(base.path(), &files, Mode::Create).unwrap();
    let read = |total_bytes| {
        read_tree(
            base.path().to_str().unwrap(),
            Limits {
                total_bytes,
                ..Limits::default()
            },
        )
    };
    assert_eq!(read(2), Ok(files));
    assert!(matches!(read(1), Err(WorldError::TooLarge { .. })));
}

#[test]
fn a_file_in_the_place_of_the_folder_is_rejected() {
    let base = tempfile::tempdir().unwrap();
    let out = base.path().join("out");
    fs::write(&out, "mine").unwrap();
    for mode in [Mode::Check, Mode::Create, Mode::Force] {
        let rejected = write(&out, &tree(&[("a", "1")]), mode).unwrap_err();
        assert!(
            matches!(&rejected, WorldError::Unwritable { reason, .. } if reason == "it is a file, not a folder"),
            "{rejected:?}"
        );
    }
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
}

#[test]
fn a_folder_that_is_neither_old_nor_new_is_not_compared() {
    let base = tempfile::tempdir().unwrap();
    let files = tree(&[("a", "1")]);
    write(base.path(), &files, Mode::Create).unwrap();
    fs::create_dir(base.path().join(".windlass-4000000000-0.commit")).unwrap();
    assert!(matches!(
        write(base.path(), &files, Mode::Check),
        Err(WorldError::Unfinished { .. })
    ));
}

#[test]
fn missing_files_alone_are_added_without_force() {
    let base = tempfile::tempdir().unwrap();
    write(base.path(), &tree(&[("a", "1")]), Mode::Create).unwrap();
    assert_eq!(
        write(base.path(), &tree(&[("a", "1"), ("b", "2")]), Mode::Create),
        Ok(Outcome::Written)
    );
}

#[test]
fn a_failure_leaves_everything_as_it_was() {
    let base = tempfile::tempdir().unwrap();
    write(
        base.path(),
        &tree(&[("a", "1"), ("sub/x", "1")]),
        Mode::Create,
    )
    .unwrap();
    // `a` is to become a folder, which fails only after `0` was staged.
    let failed = write(
        base.path(),
        &tree(&[("0", "new"), ("a/b", "2")]),
        Mode::Force,
    );
    assert!(
        matches!(failed, Err(WorldError::Unwritable { .. })),
        "{failed:?}"
    );
    assert_eq!(read(base.path()), tree(&[("a", "1"), ("sub/x", "1")]));
    assert_eq!(entries(base.path()), ["a", "sub"]);
}

#[test]
fn paths_that_leave_the_folder_are_rejected() {
    let base = tempfile::tempdir().unwrap();
    for path in ["../x", "a/../../x", "/x", "", "a//b", "./a"] {
        let failed = write(
            &base.path().join("out"),
            &tree(&[(path, "1")]),
            Mode::Create,
        );
        assert!(
            matches!(failed, Err(WorldError::Unwritable { .. })),
            "{path}: {failed:?}"
        );
    }
    assert!(entries(base.path()).is_empty());
}

#[test]
fn names_that_are_one_elsewhere_are_rejected() {
    let base = tempfile::tempdir().unwrap();
    let out = base.path().join("out");
    for (first, second) in [("a/b.yaml", "a/B.yaml"), ("\u{e9}", "e\u{301}")] {
        let both = tree(&[(first, "1"), (second, "2")]);
        let rejected = write(&out, &both, Mode::Force);
        assert!(
            matches!(rejected, Err(WorldError::Colliding { .. })),
            "{first}"
        );
    }
    assert!(entries(base.path()).is_empty());
    write(&out, &tree(&[("notes", "1")]), Mode::Create).unwrap();
    let rejected = write(&out, &tree(&[("Notes", "2")]), Mode::Force);
    assert!(rejected.is_err());
    assert_eq!(read(&out), tree(&[("notes", "1")]));
}

#[cfg(unix)]
#[test]
fn secrets_are_for_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("new/user-data");
    write_file(path.to_str().unwrap(), b"token", Privacy::Secret).unwrap();
    write_file(path.to_str().unwrap(), b"other", Privacy::Secret).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"other");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(entries(&base.path().join("new")), ["user-data"]);
}

/// A killed process leaves the old release, the new one, or a folder that is rejected until the
/// next run has brought it to its end.
#[cfg(unix)]
#[test]
fn a_forced_write_that_is_killed_at_any_step_is_old_or_new() {
    const STEP: &str = "WINDLASS_TEST_KILLED_AT";
    const FOLDER: &str = "WINDLASS_TEST_FOLDER";
    let old = tree(&[("a", "1"), ("keep", "mine"), ("sub/b", "1"), ("sub/c", "1")]);
    let new = tree(&[("a", "2"), ("new/d", "2"), ("sub/b", "2"), ("sub/c", "2")]);
    let whole = tree(&[
        ("a", "2"),
        ("keep", "mine"),
        ("new/d", "2"),
        ("sub/b", "2"),
        ("sub/c", "2"),
    ]);
    if let (Ok(step), Ok(folder)) = (std::env::var(STEP), std::env::var(FOLDER)) {
        let mut left: usize = step.parse().unwrap();
        let stale: Vec<&String> = new.iter().map(|(path, _)| path).collect();
        let kill = || {
            if left == 0 {
                let status = std::process::Command::new("kill")
                    .args(["-9", &std::process::id().to_string()])
                    .status();
                panic!("still here: {status:?}");
            }
            left -= 1;
        };
        place(Path::new(&folder), &new, &stale, Privacy::Public, &mut {
            kill
        })
        .unwrap();
        return;
    }
    let (mut steps, mut rejected) = (0, 0);
    loop {
        let base = tempfile::tempdir().unwrap();
        write(base.path(), &old, Mode::Create).unwrap();
        let (_, own) = module_path!().split_once("::").unwrap();
        let name = format!("{own}::a_forced_write_that_is_killed_at_any_step_is_old_or_new");
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let output = child
            .args([&name, "--exact"])
            .env(STEP, steps.to_string())
            .env(FOLDER, base.path())
            .output()
            .unwrap();
        match read_tree(base.path().to_str().unwrap(), Limits::default()) {
            Ok(found) => assert!(found == old || found == whole, "{steps}: {found:?}"),
            Err(WorldError::Unfinished { .. }) => rejected += 1,
            Err(other) => panic!("{steps}: {other}"),
        }
        write(base.path(), &new, Mode::Force).unwrap();
        assert_eq!(
            (read(base.path()), entries(base.path())),
            (
                whole.clone(),
                ["a", "keep", "new", "sub"].map(str::to_owned).to_vec()
            )
        );
        if output.status.success() {
            break;
        }
        steps += 1;
    }
    assert_eq!(
        (steps, rejected),
        (10, 5),
        "four files are staged, committed, moved, and all is cleared"
    );
}

/// The number in the name says nothing: another container counts its processes on its own, and
/// a later process may have ours.
#[cfg(unix)]
#[test]
fn leftovers_that_nobody_holds_go_and_those_of_others_stay() {
    let base = tempfile::tempdir().unwrap();
    let own = std::process::id();
    let (gone, held, foreign) = (
        format!(".windlass-{own}-0.partial"),
        ".windlass-4000000000-7.partial",
        ".windlass-1-x.partial",
    );
    for name in [gone.as_str(), held, foreign] {
        fs::create_dir(base.path().join(name)).unwrap();
        fs::write(base.path().join(name).join("user-data"), "token").unwrap();
    }
    let lock = fs::File::open(base.path().join(held)).unwrap();
    lock.lock().unwrap();
    write(&base.path().join("out"), &tree(&[("a", "1")]), Mode::Create).unwrap();
    assert_eq!(entries(base.path()), [foreign, held, "out"]);
    // Closing would leave it locked as long as a process that another test starts has the
    // descriptor too.
    lock.unlock().unwrap();
    write(
        &base.path().join("second"),
        &tree(&[("a", "1")]),
        Mode::Create,
    )
    .unwrap();
    assert_eq!(entries(base.path()), [foreign, "out", "second"]);
}

/// A run waits for one that moves its files in, and leaves nothing to be finished a second
/// time.
#[cfg(unix)]
#[test]
fn what_another_run_moves_in_is_waited_for() {
    let base = tempfile::tempdir().unwrap();
    let (target, old) = (base.path().join("out"), tree(&[("a", "1")]));
    write(&target, &old, Mode::Create).unwrap();
    let committed = target.join(".windlass-4000000000-0.commit");
    fs::create_dir(&committed).unwrap();
    fs::write(committed.join("a"), "2").unwrap();
    let lock = fs::File::open(&committed).unwrap();
    lock.lock().unwrap();
    let second = std::thread::spawn({
        let target = target.clone();
        move || write(&target, &tree(&[("a", "3")]), Mode::Force)
    });
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(
        fs::read_to_string(target.join("a")).unwrap(),
        "1",
        "it waits"
    );
    fs::remove_dir_all(&committed).unwrap();
    drop(lock);
    second.join().unwrap().unwrap();
    assert_eq!(read(&target), tree(&[("a", "3")]));
}

#[test]
fn a_failure_leaves_no_folders_that_were_made_for_it() {
    let base = tempfile::tempdir().unwrap();
    let failed = write(
        &base.path().join("x/y/out"),
        &tree(&[("a", "1"), ("../b", "1")]),
        Mode::Create,
    );
    assert!(failed.is_err());
    assert!(entries(base.path()).is_empty());
}

#[test]
fn what_is_too_large_or_no_folder_is_not_read() {
    let base = tempfile::tempdir().unwrap();
    let half = vec![b'a'; (1 << 19) + 1];
    ["a", "b"]
        .iter()
        .for_each(|name| fs::write(base.path().join(name), &half).unwrap());
    let folder = base.path().to_str().unwrap();
    let rejected = read_tree(
        folder,
        Limits {
            total_bytes: 1 << 20,
            ..Limits::default()
        },
    )
    .unwrap_err();
    assert_eq!(rejected.to_string(), format!("{folder}: larger than 1 MiB"));
    assert_eq!(
        rejected.help().as_deref(),
        Some("move what does not belong to it to another folder")
    );
    let rejected = read_tree(&format!("{folder}/a"), Limits::default()).unwrap_err();
    assert_eq!(
        rejected.to_string(),
        format!("{folder}/a: cannot be read: it is a file, not a folder")
    );
}

/// What a killed process has finished counts: the next run moves it in before it looks at what
/// is there.
#[cfg(unix)]
#[test]
fn what_was_finished_is_moved_in_by_the_next_run() {
    let base = tempfile::tempdir().unwrap();
    write(
        base.path(),
        &tree(&[("a", "1"), ("keep", "mine")]),
        Mode::Create,
    )
    .unwrap();
    let committed = base.path().join(".windlass-4000000000-0.commit");
    fs::create_dir_all(committed.join("sub/new")).unwrap();
    fs::write(committed.join("a"), "2").unwrap();
    fs::write(committed.join("sub/new/b"), "2").unwrap();
    let written = write(
        base.path(),
        &tree(&[("keep", "mine"), ("other", "3")]),
        Mode::Force,
    );
    assert_eq!(
        written,
        Ok(Outcome::WrittenBeside(vec![
            "a".to_owned(),
            "sub/new/b".to_owned()
        ]))
    );
    assert_eq!(
        read(base.path()),
        tree(&[
            ("a", "2"),
            ("keep", "mine"),
            ("other", "3"),
            ("sub/new/b", "2")
        ])
    );
    assert_eq!(entries(base.path()), ["a", "keep", "other", "sub"]);
}

/// Neither what is written now nor what was finished before leaves the folder by a link in it.
#[cfg(unix)]
#[test]
fn links_lead_nothing_out_of_the_folder() {
    let base = tempfile::tempdir().unwrap();
    let (out, other) = (base.path().join("out"), base.path().join("other"));
    fs::create_dir_all(out.join("a")).unwrap();
    fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(&other, out.join("a/link")).unwrap();
    let shown = out.display();
    let expected = format!(
        "{shown}: cannot be written: `{shown}/a/link` is a link, which leads out of the folder"
    );
    let told = |tree: &Tree| write(&out, tree, Mode::Force).unwrap_err().to_string();
    assert_eq!(told(&tree(&[("a/link/deep/x", "1")])), expected);
    assert_eq!(entries(&out), ["a"], "nothing is left of what was staged");
    let committed = out.join(".windlass-4000000000-0.commit/a/link");
    fs::create_dir_all(&committed).unwrap();
    fs::write(committed.join("x"), "1").unwrap();
    assert_eq!(told(&tree(&[("b", "1")])), expected);
    assert!(entries(&other).is_empty());
}

#[test]
fn a_folder_in_the_place_of_a_file_and_a_path_that_leaves_are_named() {
    let base = tempfile::tempdir().unwrap();
    let shown = base.path().display();
    fs::create_dir(base.path().join("a")).unwrap();
    for (path, expected) in [
        ("a", "`a` is a folder"),
        ("../x", "the path `../x` leaves the folder"),
    ] {
        let rejected = write(base.path(), &tree(&[(path, "1")]), Mode::Force).unwrap_err();
        assert_eq!(
            rejected.to_string(),
            format!("{shown}: cannot be written: {expected}")
        );
    }
    assert_eq!(entries(base.path()), ["a"]);
}

/// Also where it lies deeper than foreign files are looked for.
#[test]
fn what_is_unfinished_is_rejected_at_any_depth() {
    let base = tempfile::tempdir().unwrap();
    let rejected = |name: &str| reject_unfinished(base.path().join(name).to_str().unwrap());
    fs::write(base.path().join("file"), "").unwrap();
    fs::create_dir(base.path().join("folder")).unwrap();
    for name in ["gone", "file", "folder"] {
        assert_eq!(rejected(name), Ok(()), "{name}");
    }
    let deep = base.path().join(["d"; 20].join("/"));
    fs::create_dir_all(deep.join(".windlass-4000000000-0.commit")).unwrap();
    let unfinished = || WorldError::Unfinished {
        path: deep.to_str().unwrap().to_owned(),
    };
    assert_eq!(
        reject_unfinished(base.path().to_str().unwrap()),
        Err(unfinished())
    );
    assert_eq!(
        write(base.path(), &tree(&[("a", "1")]), Mode::Check),
        Err(unfinished())
    );
}

/// Paths are those below the folder, however it is written; a name that no release could hold
/// is rejected.
#[cfg(unix)]
#[test]
fn paths_of_a_tree_begin_below_its_folder() {
    use std::os::unix::ffi::OsStrExt;
    let base = tempfile::tempdir().unwrap();
    let (folder, files) = (
        base.path().to_str().unwrap(),
        tree(&[("a", "1"), ("sub/b", "2")]),
    );
    write(base.path(), &files, Mode::Create).unwrap();
    fs::write(base.path().join(".hidden"), "").unwrap();
    std::os::unix::fs::symlink("a", base.path().join("link")).unwrap();
    for end in ["", "/", "//"] {
        let written = format!("{folder}{end}");
        assert_eq!(
            read_tree(&written, Limits::default()),
            Ok(files.clone()),
            "{written}"
        );
        assert_eq!(
            compare(&written, &tree(&[("a", "1")])).unwrap().foreign,
            ["sub/b"],
            "{written}"
        );
    }
    fs::write(
        base.path().join(std::ffi::OsStr::from_bytes(b"odd\xff")),
        "",
    )
    .unwrap();
    let rejected = read_tree(folder, Limits::default()).unwrap_err();
    assert_eq!(
        rejected.to_string(),
        format!("{folder}/odd\\xff: cannot be read: its name is not UTF-8")
    );
}
