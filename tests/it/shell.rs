//! What the program does with files and folders that are not plain ones, or that another run works
//! on; and Ctrl-C while files are written: in a process of its own, because it ends.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use windlass::io::WorldError;
use windlass::io::files::Privacy;
use windlass::io::trees::{Mode, write_tree};
use windlass_source::tree::Tree;

use crate::support::{Run, run, windlass};

const FOLDER: &str = "WINDLASS_TEST_FOLDER";
const SIGNAL: &str = "WINDLASS_TEST_SIGNAL";

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect()
}

/// What the test does in the process that ends.
fn write_until_it_ends(folder: &Path, signal: i32) {
    let out = folder.join("out").to_str().unwrap().to_owned();
    let tree: Tree = (0..50_000)
        .map(|n| (format!("{n}/file"), vec![0; 100]))
        .collect();
    let watched = folder.to_path_buf();
    let presser = std::thread::spawn(move || {
        while entries(&watched).is_empty() {
            std::thread::yield_now();
        }
        signal_hook::low_level::raise(signal).unwrap();
    });
    assert_eq!(
        write_tree(&out, &tree, Mode::Create, Privacy::Public, "test"),
        Err(WorldError::Interrupted)
    );
    presser.join().unwrap();
    assert_eq!(entries(folder), Vec::<PathBuf>::new());
    std::fs::write(folder.join("cleaned"), "").unwrap();
    // With nothing staged, the signal ends the process as ever.
    signal_hook::low_level::raise(signal).unwrap();
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[test]
fn ctrl_c_and_who_ends_the_process_leave_nothing_behind() {
    // The test starts itself again, and that process is the one that ends.
    if let (Some(folder), Ok(signal)) = (std::env::var_os(FOLDER), std::env::var(SIGNAL)) {
        return write_until_it_ends(Path::new(&folder), signal.parse().unwrap());
    }
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--exact",
            "shell::ctrl_c_and_who_ends_the_process_leave_nothing_behind",
        ]);
        let output = command
            .env(FOLDER, folder.path())
            .env(SIGNAL, signal.to_string())
            .output()
            .unwrap();
        assert_eq!(
            entries(folder.path()),
            [folder.path().join("cleaned")],
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
        assert_eq!(
            output.status.signal(),
            Some(signal),
            "ended by the signal itself"
        );
    }
}

/// As clusterctl's `--write-to`: only the owner reads the file, and a device is written to.
#[test]
fn writes_to_a_file_for_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("t.yaml"), "a: ${B:=1}\n").unwrap();
    std::os::unix::fs::symlink("/dev/null", path.join("device")).unwrap();
    let generate = |to: &str| {
        let command = format!("generate cluster c -n d --from t.yaml --write-to {to}");
        let Run { stdout, stderr, .. } = run(path, &command).ok();
        assert_eq!(stdout + &stderr, "");
    };
    let file = path.join("o.yaml");
    for _ in ["new", "there"] {
        generate("o.yaml");
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text, "a: 1\nmetadata:\n  namespace: d\n");
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::fs::write(&file, "old").unwrap();
    }
    generate("device");
    assert!(path.join("device").is_symlink());
}

/// What the user names below `/dev` is meant, though it is a pipe.
#[test]
fn a_pipe_that_is_named_below_dev_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["/dev/stdin", "/proc/self/fd/0", "-"] {
        let mut command = windlass(folder.path());
        command
            .args(["vars", file])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut running = command.spawn().unwrap();
        running
            .stdin
            .take()
            .unwrap()
            .write_all(b"a: ${B}\n")
            .unwrap();
        let output = running.wait_with_output().unwrap();
        let shown = if file == "-" { "<stdin>" } else { file };
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("B   required\n  {shown}:1:4\n")
        );
        assert_eq!(
            (
                output.status.code(),
                String::from_utf8_lossy(&output.stderr).as_ref()
            ),
            (Some(0), "1 file, 1 variable\n")
        );
    }
}

/// Two runs do not change a folder at once: the second says that it waits, once, and goes on when
/// the first is done.
#[test]
fn a_run_waits_for_the_one_before_it_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    run(path, "release build v0.2.0 --provider builtin --to out").ok();
    std::fs::create_dir(path.join("r")).unwrap();
    let first = std::fs::File::create(path.join("r/.windlass.lock")).unwrap();
    first.lock().unwrap();
    let mut command = windlass(path);
    command
        .args(["repository", "add", "out", "--to", "r"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut second = command.spawn().unwrap();
    let mut told = BufReader::new(second.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let waits = told.by_ref().find(|line| line.starts_with("waiting"));
    assert_eq!(
        waits.as_deref(),
        Some("waiting for another process that changes r")
    );
    assert!(!path.join("r/clusterctl.yaml").exists());
    first.unlock().unwrap();
    let rest: Vec<String> = told.collect();
    assert!(
        second.wait_with_output().unwrap().status.success(),
        "{rest:?}"
    );
    assert!(
        !rest.iter().any(|line| line.starts_with("waiting")),
        "{rest:?}"
    );
    assert!(path.join("r/clusterctl.yaml").is_file() && !path.join("r/.windlass.lock").exists());
}

/// Far deeper than any release.
#[test]
fn folders_are_read_up_to_sixty_four_deep() {
    let folder = tempfile::tempdir().unwrap();
    let deepest = format!("deep{}", "/d".repeat(64));
    std::fs::create_dir_all(folder.path().join(&deepest)).unwrap();
    std::fs::write(folder.path().join(&deepest).join("t.yaml"), "a: ${B}\n").unwrap();
    assert_eq!(
        run(folder.path(), "vars deep").ok().stdout,
        format!("B   required\n  {deepest}/t.yaml:1:4\n")
    );
    std::fs::create_dir(folder.path().join(&deepest).join("e")).unwrap();
    let expected = format!(
        "error: {deepest}/e: more than 64 folders deep\n  help: name a folder that is further down\n"
    );
    let rejected = run(folder.path(), "vars deep");
    assert_eq!((rejected.code, rejected.stderr), (2, expected));
}
