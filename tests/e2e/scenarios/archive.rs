//! A machine without Rust: from the archives that are shipped to a cluster, with nothing but the
//! programs in them and clusterctl.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::manager::one_cluster_comes_up;
use crate::harness::clusterctl::{CERT_MANAGER_VERSION, Clusterctl};
use crate::harness::process::{Finished, Start};
use crate::harness::runner::Context;
use crate::harness::{installation, managers, shared, windlass, windlass_manager};

/// The variable that names a folder with the archives of static binaries that `dist/build` makes.
/// Without it the programs of this checkout are packed in the same form.
const ARCHIVES: &str = "WINDLASS_ARCHIVES";
const PROGRAMS: [&str; 2] = ["windlass", "windlass-manager"];
const LIMIT: Duration = Duration::from_secs(60);

/// The program of the archive builds its release and lays the repository out, the command that it
/// prints installs it, and the manager of the other archive brings a cluster up.
pub(crate) fn from_the_archive_to_a_cluster(context: &Context) {
    let folder = context.folder().join("machine");
    std::fs::create_dir_all(&folder).unwrap();
    let [program, manager] =
        PROGRAMS.map(|name| unpack(&archive(context.folder(), name), name, &folder));
    let plane = context.control_plane();
    let release = installation::CLUSTER_API;
    let clusterctl = Clusterctl::new(release, &plane, release);

    run(
        &folder,
        &program,
        &[
            "release",
            "build",
            windlass::VERSION,
            "--to",
            "out",
            "--provider",
            "builtin",
        ],
    );
    let cluster_api = shared::cluster_api(release).display().to_string();
    let cert_manager = clusterctl.cert_manager().display().to_string();
    let mut printed = String::new();
    for (what, version) in [
        (cluster_api.as_str(), release),
        (&cert_manager, CERT_MANAGER_VERSION),
        ("out", windlass::VERSION),
    ] {
        printed = run(
            &folder,
            &program,
            &[
                "repository",
                "add",
                what,
                "--release",
                version,
                "--to",
                "repository",
            ],
        )
        .stdout;
    }
    let words: Vec<&str> = printed.split_whitespace().collect();
    assert_eq!(words[..3], ["clusterctl", "init", "--config"], "{printed}");
    let configuration = folder.join(words[3]).display().to_string();
    // The infrastructure is whose the machines are; here they are in memory.
    let what = [
        &words[4..],
        &["--infrastructure", "docker", "--wait-providers"],
    ]
    .concat();
    clusterctl
        .run_as_given(&[&["init", "--config", &configuration], &what[..]].concat())
        .assert_success(&printed);

    let all = [
        managers::CORE,
        managers::KUBEADM_BOOTSTRAP,
        managers::KUBEADM_CONTROL_PLANE,
        managers::DOCKER,
    ];
    managers::start(&plane, release, &all);
    plane.adopt(
        windlass_manager::start_program(&manager, &plane, "windlass-manager", &["--leader-elect"])
            .process,
    );
    one_cluster_comes_up(&plane);
}

/// The archive of a program: that which is shipped, or one of the same form.
fn archive(folder: &Path, name: &str) -> PathBuf {
    let stem = format!("{name}-{}-x86_64-unknown-linux-musl", windlass::VERSION);
    if let Some(shipped) = std::env::var_os(ARCHIVES).map(PathBuf::from) {
        let archive = shipped.join(format!("{stem}.tar.gz"));
        assert!(
            archive.is_absolute() && archive.is_file(),
            "{ARCHIVES}: {} is not a file with an absolute path",
            archive.display()
        );
        return archive;
    }
    let program = if name == PROGRAMS[0] {
        windlass::program()
    } else {
        windlass_manager::program()
    };
    let packed = folder.join(&stem);
    std::fs::create_dir_all(&packed).unwrap();
    std::fs::copy(program, packed.join(name)).unwrap();
    let archive = folder.join(format!("{stem}.tar.gz"));
    tar(folder, &["-czf", &archive.display().to_string(), &stem]);
    archive
}

/// The program that an archive holds, unpacked into a folder.
fn unpack(archive: &Path, name: &str, folder: &Path) -> PathBuf {
    tar(folder, &["-xzf", &archive.display().to_string()]);
    let stem = archive
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .trim_end_matches(".tar.gz");
    let program = folder.join(stem).join(name);
    assert!(
        program.is_file(),
        "{} is not in {}",
        program.display(),
        archive.display()
    );
    program
}

fn tar(folder: &Path, arguments: &[&str]) {
    let finished = Command::new("tar")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("tar is there");
    assert!(
        finished.status.success(),
        "tar {arguments:?}: {}",
        String::from_utf8_lossy(&finished.stderr)
    );
}

/// Runs the program where nothing else is on the PATH.
fn run(folder: &Path, program: &Path, arguments: &[&str]) -> Finished {
    let environment = vec![(
        "PATH".to_owned(),
        program.parent().unwrap().display().to_string(),
    )];
    let all = arguments
        .iter()
        .map(|argument| (*argument).to_owned())
        .collect();
    let finished = Start {
        name: "archived-windlass",
        program,
        arguments: all,
        environment,
        folder,
    }
    .finish(LIMIT);
    finished.assert_success(&format!("windlass {}", arguments.join(" ")));
    finished
}
