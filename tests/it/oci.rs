//! `repository push` and `repository pull` with the built program, against registries of this test:
//! one that is a registry, and those that lie.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{copy, files_below, root, windlass};

const RELEASE: &str = "releases/bootstrap-windlass/v0.2.0";
/// More than the buffers of two sockets on loopback.
const LARGE: usize = 12 << 20;

/// A request that came in.
#[derive(Debug, Clone, Default)]
struct Asked {
    method: String,
    /// With the query.
    path: String,
    authorization: Option<String>,
    body: Vec<u8>,
}

/// What a request is answered with.
#[derive(Default)]
struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// The body never ends.
    endless: bool,
    /// Nobody says how long the body is.
    chunked: bool,
}

/// Instead of an answer the connection ends.
const HANGS_UP: u16 = 0;

fn status(status: u16) -> Answer {
    Answer {
        status,
        ..Answer::default()
    }
}

fn ok(body: impl Into<Vec<u8>>) -> Answer {
    Answer {
        body: body.into(),
        ..status(200)
    }
}

fn with(status: u16, header: &'static str, value: impl Into<String>) -> Answer {
    Answer {
        headers: vec![(header, value.into())],
        ..self::status(status)
    }
}

/// A server on this machine that answers as a function says, and remembers what it was asked.
struct Server {
    host: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    fn start(answer: impl Fn(&str, &Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, own, answer) = (Arc::clone(&asked), host.clone(), Arc::new(answer));
        // Ends with the process of the test.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, own, answer) = (Arc::clone(&log), own.clone(), Arc::clone(&answer));
                std::thread::spawn(move || {
                    serve(stream.unwrap(), &log, |asked| answer(&own, asked))
                });
            }
        });
        Server { host, asked }
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, log: &Mutex<Vec<Asked>>, answer: impl Fn(&Asked) -> Answer) {
    let mut stream = BufReader::new(stream);
    loop {
        let lines: Vec<String> = stream
            .by_ref()
            .lines()
            .map_while(Result::ok)
            .take_while(|line| !line.is_empty())
            .collect();
        let Some((first, headers)) = lines.split_first() else {
            return;
        };
        let header = |name: &str| {
            let found = headers
                .iter()
                .filter_map(|line| line.split_once(": "))
                .find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.to_owned())
        };
        let mut words = first.split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let mut body =
            vec![0; header("content-length").map_or(0, |length| length.parse().unwrap())];
        if body.len() > LARGE {
            // A slow line: more than the sockets hold is on its way for longer than a second.
            std::thread::sleep(Duration::from_millis(1100));
        }
        stream.read_exact(&mut body).unwrap();
        let asked = Asked {
            method,
            path,
            authorization: header("authorization"),
            body,
        };
        log.lock().unwrap().push(asked.clone());
        let Answer {
            status,
            headers,
            body,
            endless,
            chunked,
        } = answer(&asked);
        if status == HANGS_UP {
            return;
        }
        let mut text = format!("HTTP/1.1 {status} X\r\n");
        if endless || chunked {
            text.push_str("Transfer-Encoding: chunked\r\n");
        } else {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        headers
            .iter()
            .for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
        text.push_str("\r\n");
        let body = match asked.method.as_str() {
            "HEAD" => Vec::new(),
            _ if chunked => [
                format!("{:x}\r\n", body.len()).as_bytes(),
                &body,
                b"\r\n0\r\n\r\n",
            ]
            .concat(),
            _ => body,
        };
        let writer = stream.get_mut();
        if writer
            .write_all(text.as_bytes())
            .and_then(|()| writer.write_all(&body))
            .is_err()
        {
            return;
        }
        if endless {
            let chunk = [b"10000\r\n".to_vec(), vec![b'a'; 0x10000], b"\r\n".to_vec()].concat();
            while writer.write_all(&chunk).is_ok() {}
            return;
        }
    }
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold("sha256:".to_owned(), |text, byte| {
            format!("{text}{byte:02x}")
        })
}

/// A registry as distribution-spec 1.1 has it: it takes blobs in one piece, and manifests whose
/// blobs it has.
#[derive(Default)]
struct Store {
    blobs: BTreeMap<String, Vec<u8>>,
    manifests: BTreeMap<String, Vec<u8>>,
}

impl Store {
    fn answer(&mut self, host: &str, asked: &Asked) -> Answer {
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        let rest = path.strip_prefix("/v2/x/y/").unwrap_or_default();
        match (
            asked.method.as_str(),
            rest.split_once('/').unwrap_or_default(),
        ) {
            ("POST", ("blobs", "uploads/")) => with(
                202,
                "Location",
                format!("http://{host}/v2/x/y/blobs/uploads/1?state=s"),
            ),
            ("PUT", ("blobs", "uploads/1")) => {
                let digest = sum(&asked.body);
                if !query.starts_with("state=s&")
                    || !query.ends_with(&format!("digest={}", digest.replace(':', "%3A")))
                {
                    return Answer {
                        body: br#"{"errors": [{"code": "DIGEST_INVALID"}]}"#.to_vec(),
                        ..status(400)
                    };
                }
                self.blobs.insert(digest, asked.body.clone());
                status(201)
            }
            ("PUT", ("manifests", reference)) => {
                let manifest: Value = serde_json::from_slice(&asked.body).unwrap();
                let pointed = manifest["layers"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .chain([&manifest["config"]]);
                let missing = pointed
                    .filter(|pointed| !self.blobs.contains_key(pointed["digest"].as_str().unwrap()))
                    .count();
                if missing > 0 {
                    return status(404);
                }
                self.manifests
                    .insert(reference.to_owned(), asked.body.clone());
                self.manifests.insert(sum(&asked.body), asked.body.clone());
                status(201)
            }
            (_, ("manifests", reference)) => self
                .manifests
                .get(reference)
                .map_or_else(|| status(404), |bytes| ok(bytes.clone())),
            (_, ("blobs", digest)) => self
                .blobs
                .get(digest)
                .map_or_else(|| status(404), |bytes| ok(bytes.clone())),
            _ => status(404),
        }
    }
}

/// A registry, and what it holds.
fn registry() -> (Server, Arc<Mutex<Store>>) {
    let store = Arc::new(Mutex::new(Store::default()));
    let own = Arc::clone(&store);
    (
        Server::start(move |host, asked| own.lock().unwrap().answer(host, asked)),
        store,
    )
}

/// A registry that holds an artifact of files, under the tag v1.0.0.
fn holding(files: &[(&str, &[u8])]) -> Store {
    let mut store = Store::default();
    let mut keep = |bytes: &[u8]| {
        store.blobs.insert(sum(bytes), bytes.to_vec());
        (sum(bytes), bytes.len())
    };
    let (config, _) = keep(b"{}");
    let layers: Vec<Value> = files
        .iter()
        .map(|(title, bytes)| {
            let (digest, size) = keep(bytes);
            json!({"mediaType": "text/plain", "digest": digest, "size": size, "annotations": {"org.opencontainers.image.title": title}})
        })
        .collect();
    let manifest = json!({"schemaVersion": 2, "config": {"mediaType": "a/b", "digest": config, "size": 2}, "layers": layers}).to_string();
    store
        .manifests
        .insert("v1.0.0".to_owned(), manifest.into_bytes());
    store
}

const METADATA: &[u8] =
    b"apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 1, minor: 0, contract: v1beta2}\n";
const COMPONENTS: &[u8] = b"apiVersion: v1\nkind: Namespace\nmetadata: {name: foo, labels: {cluster.x-k8s.io/provider: bootstrap-foo}}\n";
const FOO: &[(&str, &[u8])] = &[
    ("metadata.yaml", METADATA),
    ("bootstrap-components.yaml", COMPONENTS),
];

fn run_with(
    folder: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (i32, String, String) {
    let mut command = windlass(folder);
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .arg("repository")
        .args(arguments)
        .envs(variables.iter().copied())
        .env("HOME", folder)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    run_with(folder, arguments, &[])
}

/// A folder with our release as `release`.
fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join(RELEASE), &folder.path().join("release"));
    folder
}

/// What a repository holds of our release is the release.
fn check_pulled(folder: &Path, repository: &str) {
    let pulled = folder.join(repository).join("bootstrap-windlass/v0.2.0");
    let bytes = |folder: &Path| -> Vec<(String, Vec<u8>)> {
        let name = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
        files_below(folder)
            .iter()
            .map(|path| (name(path), std::fs::read(path).unwrap()))
            .collect()
    };
    assert_eq!(bytes(&pulled), bytes(&root().join(RELEASE)));
    assert!(folder.join(repository).join("clusterctl.yaml").is_file());
}

#[test]
fn a_release_goes_to_a_registry_and_comes_back() {
    let (server, store) = registry();
    let folder = site();
    let reference = format!("oci://{}/x/y", server.host);
    let (code, stdout, stderr) = run(folder.path(), &["push", "release", &reference]);
    assert_eq!(code, 0, "{stderr}");
    let manifest = store.lock().unwrap().manifests["v0.2.0"].clone();
    assert_eq!(stdout, format!("{reference}@{}\n", sum(&manifest)));
    assert!(
        stderr.contains(&format!("pushing to http://{}", server.host)),
        "{stderr}"
    );
    assert!(
        stderr.contains(&format!(
            "fetchConfig: {{oci: \"http://{}/x/y:v0.2.0\"}}",
            server.host
        )),
        "{stderr}"
    );
    // The blobs are there before the manifest.
    let puts: Vec<String> = server
        .asked()
        .into_iter()
        .filter(|asked| asked.method == "PUT")
        .map(|asked| asked.path)
        .collect();
    assert!(
        puts.last().unwrap().ends_with("/manifests/v0.2.0")
            && puts.len() == 1 + store.lock().unwrap().blobs.len()
    );
    let before = server.asked().len();
    let (code, _, stderr) = run(
        folder.path(),
        &["push", "release", &format!("{reference}:v0.2.0")],
    );
    assert_eq!((code, stderr.contains("unchanged")), (0, true), "{stderr}");
    assert!(
        server.asked()[before..]
            .iter()
            .all(|asked| asked.method == "GET" || asked.method == "HEAD")
    );
    for (reference, to) in [
        (format!("{reference}:v0.2.0"), "a"),
        (stdout.trim().to_owned(), "b"),
    ] {
        let (code, command, stderr) = run(folder.path(), &["pull", &reference, "--to", to]);
        assert_eq!(
            (code, command.starts_with("clusterctl init --config ")),
            (0, true),
            "{stderr}"
        );
        check_pulled(folder.path(), to);
    }
}

/// What is sent is counted, and what the operator and clusterctl do with it is told; a path as the
/// proposal has it needs no word.
#[test]
fn what_goes_to_a_registry_is_counted_and_the_next_commands_are_told() {
    let store = Arc::new(Mutex::new(Store::default()));
    let own = Arc::clone(&store);
    let paths = ["/v2/x/y/", "/v2/manifests/bootstrap-windlass/"];
    let server = Server::start(move |host, asked| {
        let path = asked.path.replacen(paths[1], paths[0], 1);
        own.lock().unwrap().answer(
            host,
            &Asked {
                path,
                ..asked.clone()
            },
        )
    });
    let folder = site();
    let proposal = "note: Cluster API's proposal for such artifacts has repositories whose paths end in manifests/bootstrap-windlass\n";
    let check = |repository: &str, counted: &str, more: &[&str]| {
        let at = format!("{}/{repository}", server.host);
        let reference = format!("oci://{at}");
        let (code, _, stderr) = run(
            folder.path(),
            &[&["push", "release", reference.as_str()], more].concat(),
        );
        let note = if repository == "x/y" { proposal } else { "" };
        let expected = format!(
            "{at}:v0.2.0: {counted}\n{note}the operator takes it as BootstrapProvider/windlass: \
             `spec: {{version: v0.2.0, fetchConfig: {{oci: \"http://{at}:v0.2.0\"}}}}`\n\
             next, for clusterctl: `windlass repository pull oci://{at}:v0.2.0 --to REPOSITORY`\n"
        );
        assert!(
            code == 0 && stderr.ends_with(&expected),
            "{expected}\n is not in \n{stderr}"
        );
    };
    let files = files_below(&folder.path().join("release")).len();
    check(
        "x/y",
        &format!("{} blobs, {} uploaded", files + 1, files + 1),
        &[],
    );
    check("x/y", &format!("{} blobs, unchanged", files + 1), &[]);
    check(
        "x/y",
        &format!("{} blobs, unchanged", files + 1),
        &["--force"],
    );
    check(
        "manifests/bootstrap-windlass",
        &format!("{} blobs, unchanged", files + 1),
        &[],
    );
    std::fs::write(folder.path().join("release/notes.md"), "new").unwrap();
    check(
        "manifests/bootstrap-windlass",
        &format!("{} blobs, 1 uploaded", files + 2),
        &["--force"],
    );
    let reference = format!("oci://{}/x/y:v0.2.0", server.host);
    let (code, _, stderr) = run(folder.path(), &["pull", &reference, "--to", "p"]);
    let counted = format!("{reference}: {} files, each with its digest\n", files + 1);
    assert!(
        code == 0 && stderr.contains(&counted) && !stderr.contains("without a title"),
        "{stderr}"
    );
    assert_eq!(
        run(folder.path(), &["pull", &reference, "--to", "q", "-q"]).2,
        ""
    );
}

/// A layer that says no name is not a file, which is told.
#[test]
fn layers_without_a_title_are_counted() {
    for (untitled, note) in [
        (0, None),
        (
            1,
            Some("note: 1 layer without a title, which is not a file"),
        ),
        (
            2,
            Some("note: 2 layers without a title, which is not a file"),
        ),
    ] {
        let mut store = holding(FOO);
        let mut manifest: Value = serde_json::from_slice(&store.manifests["v1.0.0"]).unwrap();
        let mut layer = manifest["layers"][0].clone();
        layer.as_object_mut().unwrap().remove("annotations");
        (0..untitled).for_each(|_| {
            manifest["layers"]
                .as_array_mut()
                .unwrap()
                .push(layer.clone())
        });
        store
            .manifests
            .insert("v1.0.0".to_owned(), manifest.to_string().into_bytes());
        let store = Mutex::new(store);
        let server = Server::start(move |host, asked| store.lock().unwrap().answer(host, asked));
        let folder = tempfile::tempdir().unwrap();
        let (code, _, stderr) = run(
            folder.path(),
            &[
                "pull",
                &format!("oci://{}/x/y:v1.0.0", server.host),
                "--to",
                "r",
            ],
        );
        let told = stderr.lines().find(|line| line.contains("without a title"));
        assert_eq!(
            (
                code,
                told,
                stderr.contains(": 2 files, each with its digest\n")
            ),
            (0, note, true),
            "{stderr}"
        );
    }
}

/// What a terminal shows while a large file is sent; nothing of the bar is for a log, or for who
/// asked for quiet.
#[cfg(unix)]
#[test]
fn a_person_sees_how_far_an_upload_has_come() {
    use std::process::Command;

    if !crate::support::runs(&["script", "--version"]) {
        return;
    }
    let shown = |flags: &str, ci: &str| {
        let (server, store) = registry();
        let folder = site();
        std::fs::write(
            folder.path().join("release/notes.bin"),
            vec![b'a'; LARGE + 1],
        )
        .unwrap();
        let push = format!(
            "{} repository push release oci://{}/x/y{flags}",
            env!("CARGO_BIN_EXE_windlass"),
            server.host
        );
        let mut terminal = Command::new("script");
        terminal
            .args(["-qec", push.as_str(), "/dev/null"])
            .current_dir(folder.path())
            .env_clear();
        let output = terminal
            .envs([
                ("TERM", "xterm"),
                ("PATH", "/usr/bin:/bin"),
                ("SHELL", "/bin/sh"),
                ("CI", ci),
            ])
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && store.lock().unwrap().manifests.contains_key("v0.2.0"),
            "{shown}"
        );
        shown
    };
    let person = shown("", "");
    assert!(
        person.contains("sending notes.bin [") && person.contains("/12.00 MiB"),
        "{person}"
    );
    for (flags, ci) in [(" -q", ""), ("", "true")] {
        let shown = shown(flags, ci);
        assert!(!shown.contains("sending "), "{flags}{ci}: {shown}");
    }
}

#[test]
fn a_tag_is_not_replaced_unasked() {
    let (server, store) = registry();
    let folder = site();
    let reference = format!("oci://{}/x/y", server.host);
    assert_eq!(run(folder.path(), &["push", "release", &reference]).0, 0);
    std::fs::write(folder.path().join("release/notes.md"), "new").unwrap();
    let pushed = store.lock().unwrap().manifests["v0.2.0"].clone();
    let (code, stdout, stderr) = run(folder.path(), &["push", "release", &reference]);
    assert_eq!(
        (
            code,
            stdout.as_str(),
            stderr.contains("is there with other content")
        ),
        (2, "", true),
        "{stderr}"
    );
    assert_eq!(store.lock().unwrap().manifests["v0.2.0"], pushed);
    assert_eq!(
        run(folder.path(), &["push", "release", &reference, "--force"]).0,
        0
    );
    assert_ne!(store.lock().unwrap().manifests["v0.2.0"], pushed);
}

#[test]
fn a_layout_on_disk_is_the_same_bytes_each_time() {
    let folder = site();
    for layout in ["a", "b"] {
        let (code, stdout, stderr) = run(
            folder.path(),
            &["push", "release", &format!("oci:{layout}")],
        );
        assert_eq!(
            (code, stdout.starts_with(&format!("oci:{layout}@sha256:"))),
            (0, true),
            "{stderr}"
        );
    }
    for path in files_below(&folder.path().join("a")) {
        let other = folder
            .path()
            .join("b")
            .join(path.strip_prefix(folder.path().join("a")).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(other).unwrap());
    }
    for (reference, to) in [("oci:a", "c"), ("oci:a:v0.2.0", "d")] {
        assert_eq!(run(folder.path(), &["pull", reference, "--to", to]).0, 0);
        check_pulled(folder.path(), to);
    }
    // One byte of one blob.
    let blob = files_below(&folder.path().join("a/blobs")).remove(0);
    let mut bytes = std::fs::read(&blob).unwrap();
    bytes[0] ^= 1;
    std::fs::write(blob, bytes).unwrap();
    let (code, _, stderr) = run(folder.path(), &["pull", "oci:a", "--to", "e"]);
    assert_eq!(
        (code, stderr.contains("other bytes than its digest says")),
        (1, true),
        "{stderr}"
    );
    assert!(!folder.path().join("e").exists());
}

#[test]
fn a_layout_holds_several_tags_and_none_is_replaced_unasked() {
    let folder = site();
    let push = |arguments: &[&str]| run(folder.path(), &[&["push"], arguments].concat());
    let older = root().join("releases/bootstrap-windlass/v0.1.0");
    let older = older.to_str().unwrap();
    assert_eq!(push(&["release", "oci:a"]).0, 0);
    let (code, _, stderr) = push(&[older, "oci:a"]);
    assert_eq!(code, 0, "{stderr}");
    let index = || std::fs::read(folder.path().join("a/index.json")).unwrap();
    let both = index();
    let (code, _, stderr) = push(&["release", "oci:a"]);
    assert_eq!(
        (code, stderr.contains("v0.2.0 is unchanged in a")),
        (0, true),
        "{stderr}"
    );
    assert_eq!(index(), both);
    for (tag, to) in [("v0.1.0", "b"), ("v0.2.0", "c")] {
        assert_eq!(
            run(
                folder.path(),
                &["pull", &format!("oci:a:{tag}"), "--to", to]
            )
            .0,
            0
        );
        assert!(
            folder
                .path()
                .join(to)
                .join("bootstrap-windlass")
                .join(tag)
                .is_dir()
        );
    }
    let (code, _, stderr) = run(folder.path(), &["pull", "oci:a:v0.3.0", "--to", "d"]);
    assert!(
        code == 1 && stderr.contains("a has the tags `v0.2.0`, `v0.1.0`, and v0.3.0 is requested"),
        "{stderr}"
    );
    // The tag of another release.
    std::fs::write(folder.path().join("release/notes.md"), "new").unwrap();
    let (code, _, stderr) = push(&["release", "oci:a"]);
    assert_eq!(
        (
            code,
            stderr.contains("a has the tag v0.2.0 with other content")
        ),
        (2, true),
        "{stderr}"
    );
    assert_eq!(index(), both);
    assert_eq!(push(&["release", "oci:a", "--force"]).0, 0);
    let parsed: Value = serde_json::from_slice(&index()).unwrap();
    let tags = parsed["manifests"].as_array().unwrap().iter().map(|one| {
        one["annotations"]["org.opencontainers.image.ref.name"]
            .as_str()
            .unwrap()
    });
    assert_eq!(tags.collect::<Vec<_>>(), ["v0.1.0", "v0.2.0"]);
    // Nothing is written into a folder that is not a layout.
    std::fs::create_dir(folder.path().join("mine")).unwrap();
    std::fs::write(folder.path().join("mine/index.json"), "{}").unwrap();
    assert_eq!(push(&["release", "oci:mine"]).0, 2);
}

/// What `docker login` wrote for Docker's own registry is for that one alone.
#[test]
fn credentials_of_another_registry_stay_here() {
    let server = guarded(|host| format!("http://{host}/token"));
    let folder = site();
    // `u:p` in base64, which the server would take.
    let auths = json!({"auths": {"https://index.docker.io/v1/": {"auth": "dTpw"}, "https://example.com": {"auth": "dTpw"}}});
    std::fs::create_dir(folder.path().join(".docker")).unwrap();
    std::fs::write(folder.path().join(".docker/config.json"), auths.to_string()).unwrap();
    let (code, _, stderr) = run(
        folder.path(),
        &[
            "pull",
            &format!("oci://{}/x/y:v1.0.0", server.host),
            "--to",
            "a",
        ],
    );
    assert_eq!(code, 2, "{stderr}");
    assert!(
        !server.asked().is_empty()
            && server
                .asked()
                .iter()
                .all(|asked| asked.authorization.is_none()),
        "{:?}",
        server.asked()
    );
}

/// The folders of a local repository say the version where nothing else does.
#[test]
fn a_folder_of_a_repository_says_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let release = folder.path().join("repository/bootstrap-windlass/v0.2.0");
    std::fs::create_dir_all(&release).unwrap();
    for file in ["bootstrap-components.yaml", "metadata.yaml"] {
        let text = std::fs::read_to_string(root().join(RELEASE).join(file)).unwrap();
        std::fs::write(
            release.join(file),
            text.replace("windlass-manager:v0.2.0", "windlass-manager:main"),
        )
        .unwrap();
    }
    std::fs::rename(folder.path().join("repository"), folder.path().join("r")).unwrap();
    let (code, _, stderr) = run(
        folder.path(),
        &["push", "r/bootstrap-windlass/v0.2.0", "oci:a"],
    );
    assert_eq!(
        (code, stderr.contains("v0.2.0 into a")),
        (0, true),
        "{stderr}"
    );
    std::fs::rename(
        folder.path().join("r/bootstrap-windlass/v0.2.0"),
        folder.path().join("r/out"),
    )
    .unwrap();
    let (code, _, stderr) = run(folder.path(), &["push", "r/out", "oci:b"]);
    assert_eq!(
        (code, stderr.contains("--release v")),
        (1, true),
        "{stderr}"
    );
}

/// An address of IPv6 has colons of its own, which begin no port.
#[test]
fn an_address_needs_no_port() {
    let folder = site();
    let (code, _, stderr) = run(
        folder.path(),
        &["pull", "oci://[::1]/x/y:v1.0.0", "--to", "a"],
    );
    assert!(
        code == 2 && stderr.contains("pulling from http://[::1]\n"),
        "{stderr}"
    );
}

/// What clusterctl rejects is told although its rule is allowed: nothing was checked that could be
/// pushed.
#[test]
fn a_rejected_release_is_told_whatever_is_allowed() {
    let folder = site();
    std::fs::remove_file(folder.path().join("release/metadata.yaml")).unwrap();
    let rule = "release-asset-metadata-missing";
    let (code, stdout, stderr) = run(
        folder.path(),
        &[
            "push",
            "release",
            "oci:a",
            "--release",
            "v0.2.0",
            "--allow",
            rule,
        ],
    );
    assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
    assert!(
        stderr.contains(&format!("error[{rule}]")) && stderr.contains("nothing written"),
        "{stderr}"
    );
    assert!(!folder.path().join("a").exists());
}

/// A registry that wants a token, which a server of its own gives for name and password.
fn guarded(realm: impl Fn(&str) -> String + Send + Sync + 'static) -> Server {
    let store = Mutex::new(holding(FOO));
    Server::start(move |host, asked| {
        if asked.path.starts_with("/token") {
            let expected = asked.authorization.as_deref() == Some("Basic dTpw");
            return if expected {
                ok(r#"{"token": "t0"}"#)
            } else {
                status(403)
            };
        }
        if asked.authorization.as_deref() != Some("Bearer t0") {
            let challenge = format!(
                "Bearer realm=\"{}\",service=\"s\",scope=\"repository:other:*\"",
                realm(host)
            );
            return with(401, "WWW-Authenticate", challenge);
        }
        store.lock().unwrap().answer(host, asked)
    })
}

const PASSWORD: [(&str, &str); 2] = [("OCI_USERNAME", "u"), ("OCI_PASSWORD", "p")];

#[test]
fn tokens_are_fetched_with_the_password_for_this_repository_alone() {
    let folder = tempfile::tempdir().unwrap();
    let server = guarded(|host| format!("http://{host}/token"));
    let reference = format!("oci://{}/x/y:v1.0.0", server.host);
    let (code, _, stderr) = run_with(folder.path(), &["pull", &reference, "--to", "r"], &PASSWORD);
    assert_eq!(code, 0, "{stderr}");
    let asked = server.asked();
    // Nothing is told that was not asked for, and once.
    assert_eq!(asked[0].authorization, None);
    let tokens: Vec<&str> = asked
        .iter()
        .map(|asked| asked.path.as_str())
        .filter(|path| path.starts_with("/token"))
        .collect();
    assert_eq!(tokens, ["/token?scope=repository%3Ax%2Fy%3Apull&service=s"]);
    for (variables, why) in [
        (&[][..], "gives no token (403)"),
        (
            &[("OCI_USERNAME", "u"), ("OCI_PASSWORD", "wrong")],
            "gives no token (403)",
        ),
    ] {
        let (code, _, stderr) = run_with(
            folder.path(),
            &["pull", &reference, "--to", "other"],
            variables,
        );
        assert_eq!(
            (code, stderr.contains(why), stderr.contains("OCI_USERNAME")),
            (2, true, true),
            "{stderr}"
        );
        assert!(!stderr.contains("wrong"), "{stderr}");
    }
    // A token of the environment is taken as it is.
    assert_eq!(
        run_with(
            folder.path(),
            &["pull", &reference, "--to", "t"],
            &[("OCI_ACCESS_TOKEN", "t0")]
        )
        .0,
        0
    );
    // What `docker login` wrote.
    std::fs::create_dir(folder.path().join(".docker")).unwrap();
    let login = json!({"auths": {server.host.clone(): {"auth": "dTpw"}}}).to_string();
    std::fs::write(folder.path().join(".docker/config.json"), login).unwrap();
    assert_eq!(run(folder.path(), &["pull", &reference, "--to", "d"]).0, 0);
}

#[test]
fn who_never_takes_credentials_is_asked_twice_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| with(401, "WWW-Authenticate", "Basic realm=\"x\""));
    let reference = format!("oci://{}/x/y:v1.0.0", server.host);
    let (code, _, stderr) = run_with(folder.path(), &["pull", &reference, "--to", "r"], &PASSWORD);
    assert_eq!(
        (code, stderr.contains("does not take the credentials")),
        (2, true),
        "{stderr}"
    );
    assert_eq!(server.asked().len(), 2);
    // Without a password there is nothing to ask again with; and a challenge that nobody knows is
    // none.
    assert_eq!(run(folder.path(), &["pull", &reference, "--to", "r"]).0, 2);
    assert_eq!(server.asked().len(), 3);
    let strange = Server::start(|_, _| with(401, "WWW-Authenticate", "Negotiate"));
    let reference = format!("oci://{}/x/y:v1.0.0", strange.host);
    let (code, _, stderr) = run_with(folder.path(), &["pull", &reference, "--to", "r"], &PASSWORD);
    assert_eq!(
        (
            code,
            stderr.contains("a kind that is not known"),
            strange.asked().len()
        ),
        (2, true, 1),
        "{stderr}"
    );
}

#[test]
fn passwords_go_to_no_place_without_tls() {
    let folder = tempfile::tempdir().unwrap();
    let server = guarded(|_| "http://tokens.example.invalid/token".to_owned());
    let reference = format!("oci://{}/x/y:v1.0.0", server.host);
    let (code, _, stderr) = run_with(folder.path(), &["pull", &reference, "--to", "r"], &PASSWORD);
    assert_eq!(
        (code, stderr.contains("a place without TLS")),
        (2, true),
        "{stderr}"
    );
}

/// A registry whose blobs lie on another host, as those of large ones do.
#[test]
fn another_host_gets_no_token() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Mutex::new(holding(FOO));
    let elsewhere = Server::start(move |host, asked| blobs.lock().unwrap().answer(host, asked));
    let (there, store) = (elsewhere.host.clone(), Mutex::new(holding(FOO)));
    let server = Server::start(move |host, asked| {
        if asked.authorization.as_deref() != Some("Basic dTpw") {
            return with(401, "WWW-Authenticate", "Basic realm=\"x\"");
        }
        if asked.path.contains("/blobs/") {
            return with(307, "Location", format!("http://{there}{}", asked.path));
        }
        store.lock().unwrap().answer(host, asked)
    });
    let reference = format!("oci://{}/x/y:v1.0.0", server.host);
    let (code, _, stderr) = run_with(folder.path(), &["pull", &reference, "--to", "r"], &PASSWORD);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        elsewhere.asked().len() == 2
            && elsewhere
                .asked()
                .iter()
                .all(|asked| asked.authorization.is_none())
    );
    // And when that host asks for credentials, it gets none.
    let asking = Server::start(|_, _| with(401, "WWW-Authenticate", "Basic realm=\"x\""));
    let there = asking.host.clone();
    let server = Server::start(move |_, asked| {
        with(307, "Location", format!("http://{there}{}", asked.path))
    });
    let reference = format!("oci://{}/x/y:v1.0.0", server.host);
    let (code, _, stderr) = run_with(folder.path(), &["pull", &reference, "--to", "s"], &PASSWORD);
    assert_eq!(
        (code, stderr.contains("which wants credentials")),
        (2, true),
        "{stderr}"
    );
    assert!(
        asking
            .asked()
            .iter()
            .all(|asked| asked.authorization.is_none())
            && server.asked().len() == 1
    );
}

/// A registry that is busy, or loses a connection, for a moment.
#[test]
fn a_request_is_made_again_while_it_may_help() {
    let store = Mutex::new(Store::default());
    let busy = Mutex::new(BTreeMap::<String, usize>::new());
    let server = Server::start(move |host, asked| {
        let mut busy = busy.lock().unwrap();
        let count = busy.entry(asked.method.clone()).or_default();
        *count += 1;
        // The first request of each kind.
        if *count == 1 {
            status(503)
        } else {
            store.lock().unwrap().answer(host, asked)
        }
    });
    let folder = site();
    let reference = format!("oci://{}/x/y", server.host);
    let (code, _, stderr) = run(folder.path(), &["push", "release", &reference]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(
        stderr.matches("answers 503; asking again in 1 s").count(),
        4,
        "GET, HEAD, POST, PUT: {stderr}"
    );
    let (code, _, stderr) = run(
        folder.path(),
        &["pull", &format!("{reference}:v0.2.0"), "--to", "pulled"],
    );
    assert_eq!(
        (code, stderr.contains("asking again")),
        (0, false),
        "{stderr}"
    );
    check_pulled(folder.path(), "pulled");
    // What stays as it is is asked for three times.
    let broken = Server::start(|_, _| status(500));
    let (code, _, stderr) = run(
        folder.path(),
        &[
            "pull",
            &format!("oci://{}/x/y:v1.0.0", broken.host),
            "--to",
            "r",
        ],
    );
    assert_eq!(
        (code, broken.asked().len(), stderr.contains("answers 500")),
        (2, 3, true),
        "{stderr}"
    );
}

/// Runs `pull` on what a registry answers; nothing may be written.
fn rejected(answer: impl Fn(&str, &Asked) -> Answer + Send + Sync + 'static, code: i32, why: &str) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(answer);
    let (ended, stdout, stderr) = run(
        folder.path(),
        &[
            "pull",
            &format!("oci://{}/x/y:v1.0.0", server.host),
            "--to",
            "r",
        ],
    );
    assert_eq!(
        (ended, stdout.as_str(), stderr.contains(why)),
        (code, "", true),
        "{why}: {stderr}"
    );
    assert!(!stderr.contains('\u{1b}'), "{stderr:?}");
    assert!(
        files_below(folder.path())
            .iter()
            .all(|path| path.file_name().unwrap() == "clusterctl.yaml.lock"),
        "{:?}",
        files_below(folder.path())
    );
}

#[test]
fn registries_that_lie_are_rejected() {
    let of_store = |store: Store| {
        let store = Mutex::new(store);
        move |host: &str, asked: &Asked| store.lock().unwrap().answer(host, asked)
    };
    // Bytes that are not those of the digest, of the same length and of another.
    for other in [COMPONENTS.to_ascii_uppercase(), b"short".to_vec()] {
        let mut store = holding(FOO);
        store.blobs.insert(sum(COMPONENTS), other);
        rejected(of_store(store), 1, "artifact-digest-wrong");
    }
    let mut store = holding(FOO);
    store
        .blobs
        .insert(sum(COMPONENTS), [COMPONENTS, b"more"].concat());
    rejected(of_store(store), 2, "is larger than");
    for title in ["../../evil", "/etc/passwd", "a/b", "..", "\u{1b}[2Jx"] {
        rejected(
            of_store(holding(&[("metadata.yaml", METADATA), (title, COMPONENTS)])),
            1,
            "artifact-rejected",
        );
    }
    rejected(
        |_, _| Answer {
            endless: true,
            ..status(200)
        },
        2,
        "is larger than",
    );
    let endless_blob = Mutex::new(holding(FOO));
    rejected(
        move |host, asked| match asked.path.contains("/blobs/") {
            true => Answer {
                endless: true,
                ..status(200)
            },
            false => endless_blob.lock().unwrap().answer(host, asked),
        },
        2,
        "is larger than",
    );
    rejected(|_, _| ok(vec![b' '; 5 << 20]), 2, "is larger than");
    rejected(|_, _| ok("[".repeat(1 << 20)), 1, "cannot be parsed");
    rejected(|_, _| ok("<html>"), 1, "cannot be parsed");
    rejected(
        |_, _| ok(r#"{"manifests": []}"#),
        1,
        "an index of several manifests",
    );
    rejected(
        |_, _| ok(r#"{"layers": [{"digest": "sha256:0", "size": 1}]}"#),
        1,
        "none of its layers has a title",
    );
    rejected(|_, _| status(404), 2, "has no x/y with v1.0.0");
    rejected(|_, _| status(500), 2, "answers 500");
    rejected(
        |_, _| Answer {
            body: b"{\"errors\": [{\"code\": \"\\u001b[2J\"}]}".to_vec(),
            ..status(418)
        },
        2,
        "answers 418",
    );
    rejected(
        |host, asked| with(302, "Location", format!("http://{host}{}", asked.path)),
        2,
        "redirects",
    );
    for location in [
        "http://example.invalid/",
        "file:///etc/passwd",
        "",
        "ftp://x",
    ] {
        rejected(
            move |_, _| with(302, "Location", location),
            2,
            "a redirect to what is not an https URL",
        );
    }
    // Files that are not release: as of a folder.
    rejected(
        of_store(holding(&[("a.txt", b"a")])),
        1,
        "release-components-missing",
    );
    let sums = format!("{}  metadata.yaml\n", &sum(b"other")[7..]);
    let with_sums = [FOO[0], FOO[1], ("SHA256SUMS", sums.as_bytes())];
    rejected(of_store(holding(&with_sums)), 1, "release-checksum-wrong");
}

/// A registry that takes nothing, or leads uploads elsewhere.
#[test]
fn a_push_that_fails_says_why() {
    let folder = site();
    let said = |server: &Server| {
        let (code, stdout, stderr) = run_with(
            folder.path(),
            &["push", "release", &format!("oci://{}/x/y", server.host)],
            &PASSWORD,
        );
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        stderr
    };
    let denied = Server::start(|_, asked| {
        if asked.method == "POST" {
            status(403)
        } else {
            status(404)
        }
    });
    assert!(said(&denied).contains("403"));
    let full = Server::start(|_, asked| match asked.method.as_str() {
        "POST" => Answer {
            body: br#"{"errors": [{"code": "TOOMANYREQUESTS"}]}"#.to_vec(),
            ..status(429)
        },
        _ => status(404),
    });
    assert!(said(&full).contains("(TOOMANYREQUESTS)"));
    let leads_away = Server::start(|_, asked| match asked.method.as_str() {
        "POST" => with(202, "Location", "http://example.invalid/upload"),
        _ => status(404),
    });
    assert!(said(&leads_away).contains("a redirect to what is not an https URL"));
    // Nobody listens.
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let (code, _, stderr) = run(
        folder.path(),
        &["push", "release", &format!("oci://{gone}/x/y")],
    );
    assert!(
        code == 2 && stderr.ends_with("\n  help: see that the registry runs there\n"),
        "{stderr}"
    );
    assert!(!stderr.contains("asking again"), "{stderr}");
}

#[test]
fn mistakes_are_answered_with_what_to_do() {
    let folder = site();
    let said = |arguments: &[&str], code: i32| {
        let (ended, stdout, stderr) = run(folder.path(), arguments);
        assert_eq!(
            (ended, stdout.as_str()),
            (code, ""),
            "{arguments:?}: {stderr}"
        );
        stderr
    };
    assert!(said(&["push", "release"], 2).contains("REF"));
    assert!(
        said(&["push", "release", "ghcr.io/x/y:v0.2.0"], 2)
            .contains("write `oci://HOST/REPOSITORY:TAG`")
    );
    assert!(said(&["push", "release", "oci://user:secret@h/x"], 2).contains("is no"));
    assert!(said(&["push", "gone", "oci:a"], 2).contains("gone: no such file"));
    assert!(
        said(
            &["push", "release", "oci:a", "--release", "v0.2.0+build"],
            1
        )
        .contains("artifact-version-untaggable")
    );
    assert!(
        said(
            &["push", "release", "oci:a:latest", "--deny", "warnings"],
            1
        )
        .contains("artifact-tag-other")
    );
    assert!(!folder.path().join("a").exists());
    assert!(said(&["pull", "oci:release", "--to", "r"], 1).contains("image-layout-malformed"));
    assert!(said(&["pull", "oci:gone", "--to", "r"], 2).contains("gone: no such file"));
    assert!(said(&["pull", "oci://h/x", "--to", "r"], 2).contains("neither tag nor digest"));
    assert!(said(&["pull", "oci:a"], 2).contains("--to"));
}

/// A length that nobody announces is counted as the bytes come: what was promised is taken, and not
/// one byte more.
#[test]
fn bytes_of_no_announced_length_are_counted() {
    let pull = |more: &'static [u8]| {
        let store = Mutex::new(holding(FOO));
        let server = Server::start(move |host, asked| {
            let Answer { status, body, .. } = store.lock().unwrap().answer(host, asked);
            let more = if asked.path.contains("/blobs/") {
                more
            } else {
                b""
            };
            Answer {
                chunked: true,
                body: [&body, more].concat(),
                ..self::status(status)
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let (code, _, stderr) = run(
            folder.path(),
            &[
                "pull",
                &format!("oci://{}/x/y:v1.0.0", server.host),
                "--to",
                "r",
            ],
        );
        (code, stderr.replace(&server.host, "HOST"))
    };
    let (code, stderr) = pull(b"");
    assert!(
        code == 0 && stderr.matches("pulling from http://HOST\n").count() == 1,
        "{stderr}"
    );
    let (code, stderr) = pull(b"\n");
    let what = format!(
        "metadata.yaml is larger than the {} bytes that were promised or are allowed",
        METADATA.len()
    );
    let expected = format!("error: http://HOST answers with what cannot be used: {what}\n");
    assert!(code == 2 && stderr.contains(&expected), "{stderr}");
}

/// Whether a blob is there may be asked elsewhere; an upload goes where it was meant to go.
#[test]
fn questions_follow_redirects_and_uploads_do_not() {
    let folder = site();
    let push = |server: &Server| {
        run(
            folder.path(),
            &["push", "release", &format!("oci://{}/x/y", server.host)],
        )
    };
    let (other, _) = registry();
    assert_eq!(push(&other).0, 0);
    let (there, before) = (other.host.clone(), other.asked().len());
    let leading = Server::start(move |_, asked| match asked.method.as_str() {
        "HEAD" => with(307, "Location", format!("http://{there}{}", asked.path)),
        "PUT" => status(201),
        _ => status(404),
    });
    let (code, _, stderr) = push(&leading);
    assert_eq!(code, 0, "{stderr}");
    let methods = |asked: &[Asked]| {
        asked
            .iter()
            .map(|asked| asked.method.clone())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let heads = vec!["HEAD"; other.asked().len() - before].join(" ");
    assert_eq!(methods(&other.asked()[before..]), heads);
    assert_eq!(
        methods(&leading.asked()),
        format!("GET {heads} PUT"),
        "the manifest alone is put"
    );

    let moved = Server::start(|host, asked| match asked.method.as_str() {
        "POST" => with(307, "Location", format!("http://{host}/elsewhere")),
        _ => status(404),
    });
    let (code, _, stderr) = push(&moved);
    let told = format!("error: http://{} answers 307 for sha256:", moved.host);
    assert!(code == 2 && stderr.contains(&told), "{stderr}");
    assert_eq!(methods(&moved.asked()), "GET HEAD POST");
}

/// With the code of the registry's own error where it has the form of one, and with what may help.
#[test]
fn statuses_are_told_with_what_may_help() {
    let check = |status: u16, code: &str, expected: &str, help: &str| {
        let (folder, body) = (
            tempfile::tempdir().unwrap(),
            json!({"errors": [{"code": code}]}).to_string(),
        );
        let store = Mutex::new(holding(FOO));
        let server = Server::start(move |host, asked| match asked.path.contains("/blobs/") {
            true => Answer {
                body: body.clone().into_bytes(),
                ..self::status(status)
            },
            false => store.lock().unwrap().answer(host, asked),
        });
        let (ended, stdout, stderr) = run(
            folder.path(),
            &[
                "pull",
                &format!("oci://{}/x/y:v1.0.0", server.host),
                "--to",
                "r",
            ],
        );
        let expected =
            format!("pulling from http://HOST\nerror: http://HOST {expected}\n  help: {help}\n");
        assert_eq!(
            (ended, stdout.as_str(), stderr.replace(&server.host, "HOST")),
            (2, "", expected)
        );
    };
    let hidden = "check repository, tag and digest; a registry may also hide what you may not see";
    check(
        404,
        "BLOB_UNKNOWN",
        "answers 404 for metadata.yaml of x/y (BLOB_UNKNOWN)",
        hidden,
    );
    let log_in = "set OCI_USERNAME and OCI_PASSWORD, or OCI_ACCESS_TOKEN, or run `docker login`";
    check(
        403,
        "DENIED",
        "rejects: 403 for metadata.yaml of x/y",
        log_in,
    );
    let wait = "wait a while, or log in: registries allow more requests for authenticated users";
    check(
        429,
        "TOOMANYREQUESTS",
        "answers 429 for metadata.yaml of x/y (TOOMANYREQUESTS)",
        wait,
    );
    let again = "try again, or ask the registry's operator";
    for odd in ["no code", "NO CODE", "no_code", "\u{1b}[2J", "A1"] {
        check(418, odd, "answers 418 for metadata.yaml of x/y", again);
    }
}

/// A connection that ends before its answer comes is made again.
#[test]
fn a_connection_that_hangs_up_is_made_again() {
    let (store, is_first) = (Mutex::new(holding(FOO)), Mutex::new(true));
    let server =
        Server::start(
            move |host, asked| match std::mem::take(&mut *is_first.lock().unwrap()) {
                true => status(HANGS_UP),
                false => store.lock().unwrap().answer(host, asked),
            },
        );
    let folder = tempfile::tempdir().unwrap();
    let (code, _, stderr) = run(
        folder.path(),
        &[
            "pull",
            &format!("oci://{}/x/y:v1.0.0", server.host),
            "--to",
            "r",
        ],
    );
    assert_eq!(
        (code, stderr.matches("; asking again in 1 s\n").count()),
        (0, 1),
        "{stderr}"
    );
}

/// A proxy is for hosts of the world, and one that speaks no TLS is none of them.
#[test]
fn a_registry_of_this_machine_needs_no_proxy() {
    let (server, _) = registry();
    let folder = site();
    // Nobody listens there.
    let gone = format!(
        "http://{}",
        TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
    );
    let proxies = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"].map(|name| (name, gone.as_str()));
    let (code, _, stderr) = run_with(
        folder.path(),
        &["push", "release", &format!("oci://{}/x/y", server.host)],
        &proxies,
    );
    assert_eq!(code, 0, "{stderr}");
}
