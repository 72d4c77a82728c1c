//! Files, folders and standard input that are read.

use super::*;

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn names(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let prefix = format!("{}/", folder.to_str().unwrap());
    let arguments: Vec<String> = arguments
        .iter()
        .map(|a| {
            if *a == "-" {
                "-".to_owned()
            } else {
                format!("{prefix}{a}")
            }
        })
        .collect();
    let inputs = read(&arguments, Limits::default(), &mut &b"a: b\n"[..]).unwrap();
    inputs
        .sources
        .iter()
        .map(|source| source.name().replace(&prefix, ""))
        .collect()
}

#[test]
fn folders_give_their_documents_in_byte_order() {
    let files: &[(&str, &[u8])] = &[
        ("b.yaml", b""),
        ("a/z.yml", b""),
        ("a/.hidden.yaml", b""),
        (".git/x.yaml", b""),
        ("a.json", b""),
        ("notes.txt", b""),
    ];
    let folder = folder(files);
    assert_eq!(
        names(folder.path(), &["."]),
        ["./a.json", "./a/z.yml", "./b.yaml"]
    );
    assert_eq!(
        names(folder.path(), &["b.yaml", "-", "notes.txt", "a/"]),
        ["b.yaml", "<stdin>", "notes.txt", "a/z.yml"]
    );
}

#[cfg(unix)]
#[test]
fn links_in_folders_are_not_followed() {
    let folder = folder(&[("real/a.yaml", b"")]);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("real/loop")).unwrap();
    std::os::unix::fs::symlink(
        folder.path().join("real/a.yaml"),
        folder.path().join("b.yaml"),
    )
    .unwrap();
    assert_eq!(names(folder.path(), &["."]), ["./real/a.yaml"]);
    assert_eq!(
        names(folder.path(), &["b.yaml"]),
        ["b.yaml"],
        "a link that is named itself is read"
    );
}

#[test]
fn a_missing_file_names_its_neighbour() {
    let folder = folder(&[("worker.yaml", b""), ("other.txt", b"")]);
    let path = folder
        .path()
        .join("worker.yml")
        .to_str()
        .unwrap()
        .to_owned();
    let error = read(
        std::slice::from_ref(&path),
        Limits::default(),
        &mut &b""[..],
    )
    .unwrap_err();
    let similar = folder
        .path()
        .join("worker.yaml")
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        error,
        WorldError::Missing {
            path,
            similar: Some(similar)
        }
    );
}

#[test]
fn bytes_that_are_no_text_are_a_finding_and_the_rest_is_read() {
    let folder = folder(&[("bad.yaml", b"a: b\nc: \xff\n"), ("good.yaml", b"a: b\n")]);
    let inputs = read(
        &[folder.path().to_str().unwrap().to_owned()],
        Limits::default(),
        &mut &b""[..],
    )
    .unwrap();
    assert_eq!(inputs.sources.len(), 1);
    let finding = &inputs.report.findings()[0];
    let start = finding.place.span.unwrap().start;
    assert_eq!(
        (finding.rule, start.line, start.column),
        (&windlass_source::source::INPUT_NOT_UTF8, 2, 4)
    );
}

#[test]
fn bounds_are_kept() {
    let folder = folder(&[("a.yaml", b"0123456789"), ("b.yaml", b"0123456789")]);
    let argument = [folder.path().to_str().unwrap().to_owned()];
    let rejected = |limits| {
        matches!(
            read(&argument, limits, &mut &b""[..]),
            Err(WorldError::TooLarge { .. })
        )
    };
    assert!(rejected(Limits {
        file_bytes: 9,
        ..Limits::default()
    }));
    assert!(rejected(Limits {
        total_bytes: 19,
        ..Limits::default()
    }));
    assert!(rejected(Limits {
        files: 1,
        ..Limits::default()
    }));
    assert!(!rejected(Limits {
        file_bytes: 10,
        total_bytes: 20,
        files: 2,
        depth: 0
    }));
}

/// What `read` says of files, or of `-`, in a folder.
fn rejection(
    folder: &Path,
    arguments: &[&str],
    limits: Limits,
    stdin: &[u8],
) -> Result<usize, WorldError> {
    let path = |name: &&str| {
        if *name == "-" {
            "-".to_owned()
        } else {
            folder.join(name).to_str().unwrap().to_owned()
        }
    };
    let arguments: Vec<String> = arguments.iter().map(path).collect();
    read(&arguments, limits, &mut &stdin[..]).map(|inputs| inputs.sources.len())
}

/// Files are counted together before one of them is read, and standard input as it comes.
#[test]
fn what_is_too_much_together_is_rejected_before_it_is_read() {
    let folder = folder(&[("a", b"0123456789"), ("b", b"0123456789")]);
    let too_much = |name: &str| {
        let path = if name == "-" {
            STDIN_NAME.to_owned()
        } else {
            folder.path().join(name).to_str().unwrap().to_owned()
        };
        let bound = "with it, the input is larger than 0 MiB".to_owned();
        Err(WorldError::TooLarge {
            path,
            bound,
            help: "name fewer files at once",
        })
    };
    let read = |arguments: &[&str], file_bytes, total_bytes| {
        rejection(
            folder.path(),
            arguments,
            Limits {
                file_bytes,
                total_bytes,
                ..Limits::default()
            },
            b"0123456789",
        )
    };
    // The first file alone is larger than one may be, which reading would tell.
    assert_eq!(read(&["a", "b"], 5, 15), too_much("b"));
    assert_eq!(read(&["a", "b"], 5, 9), too_much("a"));
    assert!(matches!(
        read(&["a", "b"], 5, 20),
        Err(WorldError::TooLarge {
            help: "split the file, or leave it out",
            ..
        })
    ));
    assert_eq!(read(&["-"], 10, 9), too_much("-"));
    assert_eq!(read(&["-"], 10, 10), Ok(1));
    assert_eq!(
        read(&["-", "-"], 10, 10),
        Ok(2),
        "the second finds the stream at its end"
    );
    assert_eq!(read(&["a", "-"], 10, 20), Ok(2));
    assert_eq!(read(&["a", "-"], 10, 19), too_much("-"));
    assert_eq!(read(&["-", "a"], 10, 19), too_much("a"));
}

#[test]
fn what_is_too_large_is_told_with_its_bound() {
    let folder = folder(&[
        ("exact", &vec![b'a'; 1 << 20]),
        ("more", &vec![b'a'; (1 << 20) + 1]),
    ]);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let told = |name: &str, bound: u64| {
        read_file(Path::new(&path(name)), "x", bound).map_err(|error| error.to_string())
    };
    assert_eq!(told("exact", 1 << 20).map(|bytes| bytes.len()), Ok(1 << 20));
    assert_eq!(
        told("more", 1 << 20),
        Err("x: larger than 1 MiB".to_owned())
    );
    let stdin = |bytes: &[u8]| {
        let read = read_stdin(
            &mut &bytes[..],
            Limits {
                file_bytes: 3,
                ..Limits::default()
            },
        );
        read.map_err(|error| error.to_string())
    };
    assert_eq!(stdin(b"abc"), Ok(b"abc".to_vec()));
    assert_eq!(stdin(b"abcd"), Err("<stdin>: larger than 0 MiB".to_owned()));
    assert_eq!(
        Limits::default(),
        Limits {
            file_bytes: 67_108_864,
            total_bytes: 134_217_728,
            files: 100_000,
            depth: 64
        }
    );
}

/// As deep as the limit says, and no deeper; the root has no name before its slash.
#[test]
fn folders_are_walked_as_deep_as_is_allowed() {
    let folder = folder(&[("a/b/c/d.yaml", b"")]);
    let shown = folder.path().to_str().unwrap();
    let walked = |folder: &str, depth| {
        let mut found = Vec::new();
        walk(
            folder,
            Limits {
                depth,
                ..Limits::default()
            },
            &mut |_| true,
            &mut found,
        )
        .map(|()| {
            found
                .iter()
                .map(|found| found.shown.clone())
                .collect::<Vec<_>>()
        })
    };
    for name in [shown.to_owned(), format!("{shown}/"), format!("{shown}//")] {
        assert_eq!(walked(&name, 3), Ok(vec![format!("{shown}/a/b/c/d.yaml")]));
    }
    let rejected = walked(shown, 2).unwrap_err();
    assert_eq!(
        rejected.to_string(),
        format!("{shown}/a/b/c: more than 2 folders deep")
    );
    assert_eq!(
        rejected.help().as_deref(),
        Some("name a folder that is further down")
    );
    match walked("/", 0) {
        Err(WorldError::TooLarge { path, .. }) => {
            assert!(path.len() > 1 && path.rfind('/') == Some(0), "{path}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_neighbour_is_a_document_of_the_same_name_or_one_that_is_nearly_called_so() {
    let folder = folder(&[
        ("alpha.yaml", b""),
        ("worker.json", b""),
        ("settings.template", b""),
        ("nearby.txt", b""),
    ]);
    for (name, expected) in [
        ("worker.yml", Some("worker.json")),
        ("settings.conf", None),
        ("nearbi.txt", Some("nearby.txt")),
        ("something-else", None),
    ] {
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let expected = WorldError::Missing {
            path: path(name),
            similar: expected.map(path),
        };
        assert_eq!(
            rejection(folder.path(), &[name], Limits::default(), b""),
            Err(expected)
        );
    }
}

#[cfg(unix)]
#[test]
fn only_files_are_read_and_what_is_named_below_dev() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder(&[]);
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    let pipe = folder.path().join("pipe");
    let status = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(status.is_ok_and(|status| status.success()));
    let told = |path: &Path| read_file(path, "x", 100).map_err(|error| error.to_string());
    assert_eq!(
        told(&pipe),
        Err("x: cannot be read: it is a pipe or a device, not a file".to_owned())
    );
    assert_eq!(
        told(folder.path()),
        Err("x: cannot be read: is a directory".to_owned())
    );
    assert_eq!(told(Path::new("/dev/null")), Ok(Vec::new()));
    assert_eq!(
        shown_name(OsStr::from_bytes(b"a\xff\x07\xc3.yaml")),
        "a\\xff\u{7}\\xc3.yaml"
    );
}

#[test]
fn a_byte_that_is_no_text_is_named() {
    let inputs = Inputs::of("a.yaml", b"a: \xffb\n".to_vec()).unwrap();
    let finding = &inputs.report.findings()[0];
    assert!(inputs.sources.is_empty() && inputs.report.findings().len() == 1);
    assert_eq!(finding.message, "a.yaml is not UTF-8 text: byte 0xff");
    assert_eq!(
        finding.help,
        Some("save the file as UTF-8, or leave it out".into())
    );
}
