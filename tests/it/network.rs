//! `--allow-network` against a proxy of this test that plays GitHub and GitLab over TLS: which
//! requests are made, what is rejected, what is kept.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use serde_json::json;
use windlass::io::clusterctl_files::Disk;
use windlass::io::environment::Environment;
use windlass::io::network::{Bounds, Client, Transport, Visible};
use windlass::io::retry::Clock;
use windlass_capi::contract::ProviderType;
use windlass_clusterctl::{
    ComponentsOptions, Config, Log, Network, NetworkFault, Rejection, Request, World,
    generate_provider,
};
use windlass_source::budget::Budget;

use crate::support::windlass;

/// What a path is answered with.
#[derive(Clone)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

fn ok(body: impl Into<Vec<u8>>) -> Answer {
    Answer {
        status: 200,
        headers: Vec::new(),
        body: body.into(),
    }
}

fn status(status: u16) -> Answer {
    Answer {
        status,
        headers: Vec::new(),
        body: Vec::new(),
    }
}

fn redirect(to: &str) -> Answer {
    Answer {
        status: 302,
        headers: vec![("Location".to_owned(), to.to_owned())],
        body: Vec::new(),
    }
}

/// A request that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    path: String,
    authorization: Option<String>,
    accept: Option<String>,
}

/// What a path is answered with, one request after the other; the last answer is given again and
/// again.
type Answers = BTreeMap<String, VecDeque<Answer>>;

fn next(answers: &Mutex<Answers>, path: &str) -> Answer {
    let mut answers = answers.lock().unwrap();
    let Some(queue) = answers.get_mut(path) else {
        return status(404);
    };
    if queue.len() > 1 {
        queue.pop_front().unwrap()
    } else {
        queue[0].clone()
    }
}

/// A proxy on this machine that plays every host: it takes `CONNECT HOST` and answers with a
/// certificate for HOST, so that the program is tried as it ships, over TLS. In `asked`, `/HOST/PATH` is `https://HOST/PATH`.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    fn start(answers: Vec<(&str, Answer)>) -> Self {
        let mut queues: Answers = BTreeMap::new();
        for (path, answer) in answers {
            queues
                .entry(format!("/{path}"))
                .or_default()
                .push_back(answer);
        }
        let answers = Arc::new(Mutex::new(queues));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        // Ends with the process of the test.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (answers, log) = (Arc::clone(&answers), Arc::clone(&log));
                std::thread::spawn(move || {
                    let (host, stream) = tunnel(stream.unwrap());
                    serve(&host, stream, &answers, &log);
                });
            }
        });
        Server { port, asked }
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    fn paths(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.path).collect()
    }

    /// The program behind the proxy; it trusts the authority of the test where `trusting` says so,
    /// and the machine's elsewhere.
    fn command(&self, folder: &Path, trusting: bool) -> Command {
        let mut command = windlass(folder);
        command
            .env("HOME", folder)
            .env("HTTPS_PROXY", format!("http://127.0.0.1:{}", self.port));
        if trusting {
            let file = folder.join("authority.pem");
            fs::write(&file, &AUTHORITY.pem).unwrap();
            command.env("SSL_CERT_FILE", file);
        }
        command
    }
}

/// Hosts that the tests' server plays.
const HOSTS: [&str; 4] = [
    "api.github.com",
    "objects.example.com",
    "example.com",
    "gitlab.example.com",
];

/// Who vouches for the hosts.
struct Authority {
    /// Its certificate.
    pem: String,
    server: Arc<rustls::ServerConfig>,
}

static AUTHORITY: LazyLock<Authority> = LazyLock::new(|| {
    let mut parameters = rcgen::CertificateParams::default();
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    let pem = parameters.self_signed(&key).unwrap().pem();
    let issuer = rcgen::Issuer::new(parameters, key);
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(HOSTS.map(str::to_owned))
        .unwrap()
        .signed_by(&key, &issuer)
        .unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
    let server = rustls::ServerConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_no_client_auth()
    .with_single_cert(vec![certificate.der().clone()], key.into())
    .unwrap();
    Authority {
        pem,
        server: Arc::new(server),
    }
});

/// A connection that was asked for with `CONNECT`: to which host, and what goes through it.
fn tunnel(mut stream: TcpStream) -> (String, Tls) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let host = head
        .strip_prefix("CONNECT ")
        .and_then(|rest| rest.split_once(":443 "))
        .unwrap_or_else(|| panic!("no TLS: {head}"))
        .0;
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    let connection = rustls::ServerConnection::new(Arc::clone(&AUTHORITY.server)).unwrap();
    (
        host.to_owned(),
        rustls::StreamOwned::new(connection, stream),
    )
}

type Tls = rustls::StreamOwned<rustls::ServerConnection, TcpStream>;

fn serve(host: &str, stream: Tls, answers: &Mutex<Answers>, log: &Mutex<Vec<Asked>>) {
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
        let path = format!("/{host}{}", first.split(' ').nth(1).unwrap_or_default());
        let header = |name: &str| {
            let found = headers
                .iter()
                .filter_map(|line| line.split_once(": "))
                .find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.to_owned())
        };
        log.lock().unwrap().push(Asked {
            path: path.clone(),
            authorization: header("authorization"),
            accept: header("accept"),
        });
        let answer = next(answers, &path);
        let mut text = format!("HTTP/1.1 {} X\r\n", answer.status);
        if !answer
            .headers
            .iter()
            .any(|(name, _)| name == "Content-Length")
        {
            text.push_str(&format!("Content-Length: {}\r\n", answer.body.len()));
        }
        answer
            .headers
            .iter()
            .for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
        text.push_str("\r\n");
        let writer = stream.get_mut();
        if writer
            .write_all(text.as_bytes())
            .and_then(|()| writer.write_all(&answer.body))
            .and_then(|()| writer.flush())
            .is_err()
        {
            return;
        }
        if answer
            .headers
            .iter()
            .any(|(name, _)| name == "Content-Length")
        {
            // A length that was promised and not kept: the connection ends.
            let _ = writer.sock.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n\
                        - {major: 1, minor: 0, contract: v1beta1}\n- {major: 1, minor: 1, contract: v1beta2}\n";
const COMPONENTS: &str = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: foo-system\n";
const URL: &str = "https://github.com/o/r/releases/latest/infrastructure-components.yaml";
const REPO: &str = "api.github.com/repos/o/r";

fn configured(url: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("providers:\n- name: foo\n  url: {url}\n  type: InfrastructureProvider\n");
    fs::write(folder.path().join("clusterctl.yaml"), text).unwrap();
    folder
}

/// Two pages of releases; the newest that has metadata is v1.1.1; its assets lie on another host.
fn github() -> Vec<(&'static str, Answer)> {
    let mut first: Vec<_> = (0..98)
        .map(|n| json!({"tag_name": format!("nightly-{n}")}))
        .collect();
    first.extend([
        json!({"tag_name": "v1.2.0"}),
        json!({"tag_name": "v2.0.0-rc.1"}),
    ]);
    let asset = |id: u64, name: &str| json!({"id": id, "name": name});
    let release = json!({"assets": [asset(1, "metadata.yaml"), asset(2, "infrastructure-components.yaml"), asset(3, "cluster-template.yaml")]});
    vec![
        (
            "api.github.com/repos/o/r/releases?per_page=100&page=1",
            ok(json!(first).to_string()),
        ),
        (
            "api.github.com/repos/o/r/releases?per_page=100&page=2",
            ok(json!([{"tag_name": "v1.1.1"}, {"tag_name": "v1.0.0"}]).to_string()),
        ),
        // Tagged, and nothing released yet.
        (
            "api.github.com/repos/o/r/releases/tags/v1.2.0",
            ok(json!({"assets": []}).to_string()),
        ),
        (
            "api.github.com/repos/o/r/releases/tags/v1.1.1",
            ok(release.to_string()),
        ),
        ("api.github.com/repos/o/r/releases/assets/1", ok(METADATA)),
        (
            "api.github.com/repos/o/r/releases/assets/2",
            redirect("https://objects.example.com/2?signature=x"),
        ),
        (
            "api.github.com/repos/o/r/releases/assets/3",
            ok("name: ${CLUSTER_NAME}\n"),
        ),
        ("objects.example.com/2?signature=x", ok(COMPONENTS)),
        (
            "api.github.com/repos/o/r/contents/t/a%20b.yaml?ref=main",
            ok(json!({"encoding": "base64", "content": "YTogJHtCfQ\n==\n"}).to_string()),
        ),
        ("example.com/t.yaml", ok("a: 1\n")),
    ]
}

fn run(
    server: &Server,
    folder: &Path,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = server
        .command(folder, true)
        .args(arguments)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

const PROVIDER: &[&str] = &[
    "generate",
    "provider",
    "-i",
    "foo",
    "--config",
    "clusterctl.yaml",
    "--allow-network",
];

#[test]
fn without_the_flag_nothing_is_asked() {
    let (server, folder) = (Server::start(github()), configured(URL));
    let (code, stdout, stderr) = run(&server, folder.path(), &PROVIDER[..PROVIDER.len() - 1], &[]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(
        stderr.starts_with(
            "Error: failed to get repository client for the InfrastructureProvider with name foo: "
        ),
        "{stderr}"
    );
    assert!(
        stderr.contains("--allow-network")
            && stderr.contains("repository add DIR")
            && !stderr.contains("--from"),
        "{stderr}"
    );
    let cluster = [
        "generate",
        "cluster",
        "c",
        "-i",
        "foo:v1.1.1",
        "-n",
        "d",
        "--config",
        "clusterctl.yaml",
    ];
    let (code, _, stderr) = run(&server, folder.path(), &cluster, &[]);
    assert!(
        code == 1
            && stderr.contains("--allow-network")
            && stderr.contains("or pass a template with `--from`"),
        "{stderr}"
    );
    for url in [
        "https://example.com/t.yaml",
        "https://github.com/o/r/blob/main/t.yaml",
    ] {
        let (code, _, stderr) = run(
            &server,
            folder.path(),
            &["generate", "yaml", "--from", url],
            &[],
        );
        assert!(code == 1 && stderr.contains("--allow-network"), "{stderr}");
    }
    assert_eq!(server.paths(), Vec::<String>::new());
}

#[test]
fn latest_comes_from_the_release_api_and_assets_are_kept() {
    let (server, folder) = (Server::start(github()), configured(URL));
    let token = [("GITHUB_TOKEN", "ghp_secret")];
    let (code, stdout, stderr) = run(&server, folder.path(), PROVIDER, &token);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.contains("cluster.x-k8s.io/provider: infrastructure-foo"),
        "{stdout}"
    );
    assert_eq!(
        stderr,
        "fetching from api.github.com\nfetching from objects.example.com\n"
    );
    let expected = [
        format!("/{REPO}/releases?per_page=100&page=1"),
        format!("/{REPO}/releases?per_page=100&page=2"),
        format!("/{REPO}/releases/tags/v1.2.0"),
        format!("/{REPO}/releases/tags/v1.1.1"),
        format!("/{REPO}/releases/assets/1"),
        format!("/{REPO}/releases/assets/2"),
        "/objects.example.com/2?signature=x".to_owned(),
    ];
    assert_eq!(server.paths(), expected);
    for asked in server.asked() {
        let wanted = asked
            .path
            .starts_with("/api.github.com/")
            .then(|| "Bearer ghp_secret".to_owned());
        assert_eq!(
            asked.authorization, wanted,
            "a token does not follow redirects: {asked:?}"
        );
        if asked.path.contains("/assets/") {
            assert_eq!(asked.accept.as_deref(), Some("application/octet-stream"));
        }
    }
    // A version that is named needs nothing from the network any more.
    let pinned =
        configured("https://github.com/o/r/releases/v1.1.1/infrastructure-components.yaml");
    fs::rename(folder.path().join(".cache"), pinned.path().join(".cache")).unwrap();
    let before = server.paths().len();
    let (code, again, stderr) = run(&server, pinned.path(), PROVIDER, &[]);
    assert_eq!(
        (code, again.as_str(), stderr.as_str()),
        (0, stdout.as_str(), "")
    );
    assert_eq!(server.paths().len(), before);
    #[cfg(unix)]
    for file in crate::support::files_below(&pinned.path().join(".cache")) {
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions())
                & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
    }
}

/// A bundle takes what init also installs from where clusterctl does: the newest release of the
/// core, and cert-manager of one version.
#[test]
fn a_bundle_fetches_what_init_installs_beside_its_releases() {
    const CORE: &str = "api.github.com/repos/kubernetes-sigs/cluster-api/releases";
    const CERT_MANAGER: &str = "api.github.com/repos/cert-manager/cert-manager/releases";
    let manifest = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\nspec: {group: cert-manager.io}\n";
    let components =
        |label: &str| format!("{COMPONENTS}  labels: {{cluster.x-k8s.io/provider: {label}}}\n");
    let files = [
        "metadata.yaml",
        "core-components.yaml",
        "bootstrap-components.yaml",
        "control-plane-components.yaml",
    ];
    let assets = files
        .iter()
        .enumerate()
        .map(|(id, name)| json!({"id": id, "name": name}))
        .collect::<Vec<_>>();
    let answers = |with_cert_manager: bool| {
        let mut answers = vec![
            (
                format!("{CORE}?per_page=100&page=1"),
                ok(json!([{"tag_name": "v1.1.1"}, {"tag_name": "v1.0.0"}]).to_string()),
            ),
            (
                format!("{CORE}/tags/v1.1.1"),
                ok(json!({ "assets": assets }).to_string()),
            ),
            (format!("{CORE}/assets/0"), ok(METADATA)),
            (format!("{CORE}/assets/1"), ok(components("cluster-api"))),
            (
                format!("{CORE}/assets/2"),
                ok(components("bootstrap-kubeadm")),
            ),
            (
                format!("{CORE}/assets/3"),
                ok(components("control-plane-kubeadm")),
            ),
        ];
        if with_cert_manager {
            let asset = json!({"assets": [{"id": 9, "name": "cert-manager.yaml"}]});
            answers.push((
                format!("{CERT_MANAGER}/tags/v1.21.1"),
                ok(asset.to_string()),
            ));
            answers.push((format!("{CERT_MANAGER}/assets/9"), ok(manifest)));
        }
        answers
    };
    let start = |answers: &[(String, Answer)]| {
        Server::start(
            answers
                .iter()
                .map(|(path, answer)| (path.as_str(), answer.clone()))
                .collect(),
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let release = folder.path().join("r/infrastructure-foo/v1.1.0");
    fs::create_dir_all(&release).unwrap();
    fs::write(
        release.join("infrastructure-components.yaml"),
        components("infrastructure-foo"),
    )
    .unwrap();
    fs::write(release.join("metadata.yaml"), METADATA).unwrap();
    let bundle = [
        "repository",
        "bundle",
        "r",
        "--write-to",
        "b.tar",
        "--allow-network",
    ];
    let (code, _, stderr) = run(&start(&answers(false)), folder.path(), &bundle, &[]);
    assert!(
        code == 2
            && stderr.contains("cert-manager cannot be fetched: ")
            && !folder.path().join("b.tar").exists(),
        "{stderr}"
    );
    // What is there but no version of it does not count.
    fs::create_dir_all(folder.path().join("r/cluster-api/notes")).unwrap();
    fs::write(folder.path().join("r/cluster-api/notes/x.txt"), "x").unwrap();
    let (code, _, stderr) = run(&start(&answers(true)), folder.path(), &bundle, &[]);
    assert!(code == 0 && !stderr.contains("warning"), "{stderr}");
    for label in [
        "cluster-api v1.1.1",
        "bootstrap-kubeadm v1.1.1",
        "control-plane-kubeadm v1.1.1",
        "cert-manager v1.21.1",
    ] {
        assert!(stderr.contains(&format!("fetched {label}\n")), "{stderr}");
    }
    let there = tempfile::tempdir().unwrap();
    fs::copy(folder.path().join("b.tar"), there.path().join("b.tar")).unwrap();
    let added = windlass(there.path())
        .args(["repository", "add", "b.tar", "--to", "r"])
        .output()
        .unwrap();
    let command = String::from_utf8(added.stdout).unwrap();
    let expected = "--bootstrap kubeadm:v1.1.1 --core cluster-api:v1.1.1 --control-plane kubeadm:v1.1.1 --infrastructure foo:v1.1.0\n";
    assert!(
        command.ends_with(expected),
        "{command}{}",
        String::from_utf8_lossy(&added.stderr)
    );
    assert_eq!(
        fs::read_to_string(
            there
                .path()
                .join("r/cert-manager/v1.21.1/cert-manager.yaml")
        )
        .unwrap(),
        manifest
    );

    // The version is that of the setting, as in clusterctl; a setting that does not lead into the
    // bundle is told.
    let older = answers(true)
        .into_iter()
        .map(|(path, answer)| (path.replace("v1.21.1", "v1.20.0"), answer))
        .collect::<Vec<_>>();
    fs::write(
        folder.path().join("r/clusterctl.yaml"),
        "cert-manager: {version: v1.20.0}\nCLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\n",
    )
    .unwrap();
    let again = [
        "repository",
        "bundle",
        "r",
        "--write-to",
        "c.tar",
        "--allow-network",
    ];
    let (code, _, stderr) = run(&start(&older), folder.path(), &again, &[]);
    assert!(
        code == 0 && stderr.contains("fetched cert-manager v1.20.0\n"),
        "{stderr}"
    );
    assert!(
        stderr.contains(
            "warning[repository-entry-other]: r/clusterctl.yaml has another cert-manager already"
        ),
        "{stderr}"
    );
    // No folder of a local repository can be called so.
    let nightly = "providers:\n- {name: cluster-api, type: CoreProvider, url: \"https://github.com/o/r/releases/nightly/c.yaml\"}\n";
    fs::write(folder.path().join("r/clusterctl.yaml"), nightly).unwrap();
    let (code, _, stderr) = run(&start(&older), folder.path(), &again, &[]);
    assert!(
        code == 2
            && stderr
                .contains("cluster-api cannot be fetched: \"nightly\" is not a semantic version"),
        "{stderr}"
    );
}

/// As clusterctl's `absoluteFileName`: a folder of the provider's URL is part of the names of
/// assets.
#[test]
fn folders_of_the_url_are_part_of_the_names_of_assets() {
    let check = |names: [&str; 2]| {
        let assets = json!({"assets": [{"id": 1, "name": names[0]}, {"id": 2, "name": names[1]}]});
        let server = Server::start(vec![
            (
                "api.github.com/repos/o/r/releases/tags/v1.1.1",
                ok(assets.to_string()),
            ),
            ("api.github.com/repos/o/r/releases/assets/1", ok(METADATA)),
            ("api.github.com/repos/o/r/releases/assets/2", ok(COMPONENTS)),
        ]);
        let folder = configured(
            "https://github.com/o/r/releases/v1.1.1/deploy/infrastructure-components.yaml",
        );
        run(&server, folder.path(), PROVIDER, &[])
    };
    let (code, stdout, stderr) = check([
        "deploy/metadata.yaml",
        "deploy/infrastructure-components.yaml",
    ]);
    assert!(
        code == 0 && stdout.contains("cluster.x-k8s.io/provider: infrastructure-foo"),
        "{stderr}"
    );
    let (code, _, stderr) = check(["metadata.yaml", "infrastructure-components.yaml"]);
    assert!(code == 1 && stderr.contains("404 Not Found"), "{stderr}");
}

#[test]
fn the_list_of_releases_is_fetched_once() {
    // The newest release says that it does not fulfil the contract, so the list is looked through
    // again.
    let metadata = METADATA
        .replace("minor: 1, contract: v1beta2", "minor: 1, contract: v1beta1")
        .replace("minor: 0, contract: v1beta1", "minor: 0, contract: v1beta2");
    let release = || {
        ok(json!({"assets": [{"id": 1, "name": "metadata.yaml"}, {"id": 2, "name": "infrastructure-components.yaml"}]}).to_string())
    };
    let list = "api.github.com/repos/o/r/releases?per_page=100&page=1";
    let server = Server::start(vec![
        (
            list,
            ok(json!([{"tag_name": "v1.1.0"}, {"tag_name": "v1.0.0"}]).to_string()),
        ),
        ("api.github.com/repos/o/r/releases/tags/v1.1.0", release()),
        ("api.github.com/repos/o/r/releases/tags/v1.0.0", release()),
        ("api.github.com/repos/o/r/releases/assets/1", ok(metadata)),
        ("api.github.com/repos/o/r/releases/assets/2", ok(COMPONENTS)),
    ]);
    let (code, _, stderr) = run(
        &server,
        configured(URL).path(),
        &[PROVIDER, &["--describe"]].concat(),
        &[],
    );
    assert_eq!(code, 0, "{stderr}");
    assert!(
        server
            .paths()
            .contains(&"/api.github.com/repos/o/r/releases/tags/v1.0.0".to_owned()),
        "{:?}",
        server.paths()
    );
    assert_eq!(
        server
            .paths()
            .iter()
            .filter(|path| **path == format!("/{list}"))
            .count(),
        1
    );
}

#[test]
fn templates_and_configurations_are_fetched() {
    let (server, folder) = (Server::start(github()), configured(URL));
    let cluster = [
        "generate",
        "cluster",
        "c",
        "-n",
        "d",
        "-i",
        "foo:v1.1.1",
        "--config",
        "clusterctl.yaml",
        "--allow-network",
    ];
    let (code, stdout, stderr) = run(&server, folder.path(), &cluster, &[]);
    assert_eq!(
        (code, stdout.as_str()),
        (0, "metadata:\n  namespace: d\nname: c\n"),
        "{stderr}"
    );
    let yaml = |url: &str| {
        run(
            &server,
            folder.path(),
            &["generate", "yaml", "--allow-network", "--from", url],
            &[("B", "x")],
        )
    };
    assert_eq!(yaml("https://example.com/t.yaml").1, "a: 1\n");
    assert_eq!(
        yaml("https://github.com/o/r/blob/main/t/a%20b.yaml").1,
        "a: x\n"
    );
    assert_eq!(
        yaml("https://github.com/o/r/releases/download/v1.1.1/cluster-template.yaml").0,
        1,
        "CLUSTER_NAME has no value"
    );
    let (code, _, stderr) = yaml("https://example.com/none.yaml");
    assert_eq!(
        (code, stderr.lines().last()),
        (
            1,
            Some("Error: invalid GetFromURL operation: failed to get file, got 404")
        )
    );
    let (code, _, stderr) = yaml("http://example.com/t.yaml");
    assert!(
        code == 1 && stderr.contains("unable to read content from \"http://example.com/t.yaml\""),
        "{stderr}"
    );

    let mut answers = github();
    answers.push((
        "example.com/clusterctl.yaml",
        ok(fs::read(folder.path().join("clusterctl.yaml")).unwrap()),
    ));
    let server = Server::start(answers);
    let list = [
        "config",
        "repositories",
        "--config",
        "https://example.com/clusterctl.yaml",
    ];
    let (code, _, stderr) = run(&server, folder.path(), &list, &[]);
    assert!(code == 1 && stderr.contains("--allow-network"), "{stderr}");
    let (code, stdout, stderr) = run(
        &server,
        folder.path(),
        &[&list[..], &["--allow-network"]].concat(),
        &[],
    );
    assert!(
        code == 0 && stdout.contains("https://github.com/o/r/releases/latest/"),
        "{stdout}{stderr}"
    );
}

#[test]
fn gitlab_packages_are_fetched_with_gitlabs_token() {
    let url = "https://gitlab.example.com/api/v4/projects/group%2Fproject/packages/generic/pkg/v1.1.1/infrastructure-components.yaml";
    let path = |file: &str| {
        format!(
            "gitlab.example.com/api/v4/projects/group%2Fproject/packages/generic/pkg/v1.1.1/{file}"
        )
    };
    let (metadata, components) = (
        path("metadata.yaml"),
        path("infrastructure-components.yaml"),
    );
    let server = Server::start(vec![
        (&metadata, ok(METADATA)),
        (&components, ok(COMPONENTS)),
    ]);
    let tokens = [
        ("GITLAB_ACCESS_TOKEN", "glpat_secret"),
        ("GITHUB_TOKEN", "ghp_secret"),
    ];
    let named = [PROVIDER, &["--gitlab-host", "gitlab.example.com"]].concat();
    let (code, stdout, stderr) = run(&server, configured(url).path(), &named, &tokens);
    assert!(
        code == 0 && stdout.contains("infrastructure-foo"),
        "{stderr}"
    );
    assert!(
        server
            .asked()
            .iter()
            .all(|asked| asked.authorization.as_deref() == Some("Bearer glpat_secret")),
        "{:?}",
        server.asked()
    );
    assert_eq!(
        server.paths(),
        [format!("/{metadata}"), format!("/{components}")]
    );

    let server = Server::start(vec![(&metadata, status(401))]);
    let (code, _, stderr) = run(&server, configured(url).path(), &named, &tokens);
    assert!(
        code == 1 && stderr.contains("unauthorized access, please check your credentials"),
        "{stderr}"
    );
    assert!(
        !stderr.contains("secret") && !stderr.contains("was not sent"),
        "{stderr}"
    );
    // A host that only a configuration names, perhaps somebody else's, does not get the token of
    // the environment.
    let (code, _, stderr) = run(&server, configured(url).path(), PROVIDER, &tokens);
    assert!(
        code == 1 && stderr.contains("pass `--gitlab-host gitlab.example.com`"),
        "{stderr}"
    );
    let asked: Vec<_> = server
        .asked()
        .into_iter()
        .map(|asked| asked.authorization)
        .collect();
    assert_eq!(asked, [Some("Bearer glpat_secret".to_owned()), None]);
    // A token that stands beside the url is for it.
    let own = configured(url);
    let text = fs::read_to_string(own.path().join("clusterctl.yaml")).unwrap();
    fs::write(
        own.path().join("clusterctl.yaml"),
        format!("{text}gitlab-access-token: glpat_own\n"),
    )
    .unwrap();
    run(&server, own.path(), PROVIDER, &tokens[1..]);
    assert_eq!(
        server.asked().last().unwrap().authorization.as_deref(),
        Some("Bearer glpat_own")
    );
    run(&server, own.path(), PROVIDER, &tokens);
    assert_eq!(
        server.asked().last().unwrap().authorization,
        None,
        "the environment's is not"
    );
}

/// What is rejected, with the words on standard error; nothing of it may be kept.
fn check_rejected(answers: Vec<(&str, Answer)>, expected: &str) {
    let (server, folder) = (
        Server::start(answers),
        configured("https://github.com/o/r/releases/v1.1.1/infrastructure-components.yaml"),
    );
    let (code, stdout, stderr) = run(
        &server,
        folder.path(),
        PROVIDER,
        &[("GITHUB_TOKEN", "ghp_secret")],
    );
    assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
    assert!(
        stderr.contains(expected) && !stderr.contains("secret"),
        "{stderr}"
    );
    assert!(!folder.path().join(".cache").exists(), "nothing is kept");
}

#[test]
fn bad_answers_are_rejected() {
    let tag = "api.github.com/repos/o/r/releases/tags/v1.1.1";
    let asset = "api.github.com/repos/o/r/releases/assets/1";
    let release = || {
        (
            tag,
            ok(json!({"assets": [{"id": 1, "name": "metadata.yaml"}]}).to_string()),
        )
    };
    check_rejected(
        vec![],
        "failed to get file \"metadata.yaml\" from \"v1.1.1\" release: 404 Not Found",
    );
    check_rejected(vec![(tag, ok("<html>"))], "the answer is not JSON");
    check_rejected(
        vec![(tag, status(403))],
        "failed to read release \"v1.1.1\": got 403",
    );
    let limited = Answer {
        headers: vec![("x-ratelimit-remaining".to_owned(), "0".to_owned())],
        ..status(403)
    };
    check_rejected(
        vec![(tag, limited.clone())],
        "rate limit for github api has been reached.",
    );
    let mut until = limited;
    until
        .headers
        .push(("x-ratelimit-reset".to_owned(), "1893456000".to_owned()));
    check_rejected(
        vec![(tag, until)],
        "the host answers again from 2030-01-01T00:00:00Z on",
    );
    let asked_too_often = Answer {
        headers: vec![("Retry-After".to_owned(), "3600".to_owned())],
        ..status(429)
    };
    check_rejected(
        vec![(tag, asked_too_often.clone())],
        "assign it to the GITHUB_TOKEN environment variable\nnote: the host answers again from 20",
    );
    let second_limit = Answer {
        status: 403,
        ..asked_too_often.clone()
    };
    check_rejected(
        vec![(tag, second_limit)],
        "rate limit for github api has been reached.",
    );
    // What is not a release says so as well.
    let (server, folder) = (
        Server::start(vec![("example.com/t.yaml", asked_too_often)]),
        configured(URL),
    );
    let template = [
        "generate",
        "yaml",
        "--allow-network",
        "--from",
        "https://example.com/t.yaml",
    ];
    let (code, _, stderr) = run(&server, folder.path(), &template, &[]);
    assert!(
        code == 1
            && stderr.contains("file: too many requests\nnote: the host answers again from 20"),
        "{stderr}"
    );
    for body in [
        "<html><body>Sign in</body></html>",
        "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries: [{major: 1",
    ] {
        check_rejected(vec![release(), (asset, ok(body))], "Error: ");
    }
    check_rejected(
        vec![release(), (asset, redirect("http://example.com/x"))],
        "redirects to what is not an https URL",
    );
    check_rejected(
        vec![
            release(),
            (
                asset,
                redirect("https://api.github.com/repos/o/r/releases/assets/1"),
            ),
        ],
        "more than 5 redirects",
    );
    let promised = |bytes: &str| Answer {
        headers: vec![("Content-Length".to_owned(), bytes.to_owned())],
        ..ok("abc")
    };
    check_rejected(
        vec![release(), (asset, promised("1000000000"))],
        "larger than 64 MiB",
    );
}

/// A clock on which time passes only by waiting.
#[derive(Clone, Default)]
struct Still(Rc<Cell<Duration>>);

impl Clock for Still {
    fn passed(&self) -> Duration {
        self.0.get()
    }
    fn date(&self) -> i64 {
        1_000_000_000 + i64::try_from(self.0.get().as_secs()).unwrap()
    }
    fn wait(&self, pause: Duration) {
        self.0.set(self.0.get() + pause);
    }
}

/// `generate provider` of a version of the configuration, by a client whose time passes only by
/// waiting; with the seconds that it waited.
fn provider_of(server: &Server, version: &str, bounds: Bounds) -> (Result<String, Rejection>, u64) {
    let clock = Still::default();
    let transport = Transport {
        proxy: Some(proxy(server.port)),
        roots: authority(),
    };
    let client = Client::new(
        &Environment::default(),
        transport,
        bounds,
        Visible::default(),
    )
    .with_clock(Box::new(clock.clone()));
    let folder = configured(&URL.replace("latest", version));
    let budget = Budget::default();
    let world = World {
        files: &Disk,
        environment: &|_| None,
        network: Some(&client),
        budget: &budget,
    };
    let text = Config::load(
        world,
        folder.path().join("clusterctl.yaml").to_str().unwrap(),
    )
    .and_then(|config| {
        let options = ComponentsOptions::default();
        generate_provider(
            &config,
            "foo",
            ProviderType::InfrastructureProvider,
            &options,
            &mut Log::default(),
        )?
        .into_yaml()
    });
    (text, clock.passed().as_secs())
}

#[test]
fn what_may_pass_is_asked_again() {
    let tag = "api.github.com/repos/o/r/releases/tags/v1.1.1";
    let asset = "api.github.com/repos/o/r/releases/assets/1";
    let cut = || Answer {
        headers: vec![("Content-Length".to_owned(), "10".to_owned())],
        ..ok("abc")
    };
    let limited = Answer {
        headers: vec![("Retry-After".to_owned(), "20".to_owned())],
        ..status(429)
    };
    let mut answers = vec![
        (tag, status(500)),
        (tag, status(503)),
        (tag, limited),
        (asset, cut()),
    ];
    answers.extend(github());
    let server = Server::start(answers);
    let (text, waited) = provider_of(&server, "v1.1.1", Bounds::default());
    assert!(
        text.unwrap()
            .contains("cluster.x-k8s.io/provider: infrastructure-foo")
    );
    // 1 and 2 seconds, the limit's 20 and one more, and 1 for the asset.
    assert_eq!(waited, 1 + 2 + 21 + 1);
    let times = |path: &str| {
        server
            .paths()
            .iter()
            .filter(|asked| asked[1..] == *path)
            .count()
    };
    assert_eq!((times(tag), times(asset)), (4, 2));

    for (answer, words, attempts) in [
        (status(500), "failed to read release \"v1.1.1\": got 500", 9),
        (cut(), "failed to read release \"v1.1.1\": ", 9),
        (status(404), "404 Not Found", 1),
        (status(403), "got 403", 1),
    ] {
        let server = Server::start(vec![(tag, answer)]);
        let (text, waited) = provider_of(&server, "v1.1.1", Bounds::default());
        let rejection = text.unwrap_err();
        assert!(rejection.message().contains(words), "{rejection}");
        assert_eq!(server.asked().len(), attempts, "{rejection}");
        assert_eq!(
            waited,
            if attempts == 1 { 0 } else { 55 },
            "within clusterctl's minute"
        );
    }
}

#[test]
fn a_command_has_one_deadline() {
    // Each request alone would be made for a minute; five of them follow each other.
    let mut answers = vec![];
    for (path, answer) in github() {
        answers.extend(std::iter::repeat_n((path, status(503)), 5));
        answers.push((path, answer));
    }
    let server = Server::start(answers);
    let bounds = Bounds {
        command: Duration::from_secs(60),
        ..Bounds::default()
    };
    let (text, waited) = provider_of(&server, "latest", bounds);
    let rejection = text.unwrap_err();
    assert!(
        rejection
            .message()
            .ends_with("a command may use the network for 60 seconds, and they are over"),
        "{rejection}"
    );
    assert!((60..70).contains(&waited), "{waited}");
}

#[test]
fn a_host_whose_certificate_nobody_vouches_for_learns_nothing() {
    let (server, folder) = (Server::start(github()), configured(URL));
    let output = server
        .command(folder.path(), false)
        .args(PROVIDER)
        .env("GITHUB_TOKEN", "ghp_secret")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(1) && stderr.contains("certificate"),
        "{stderr}"
    );
    assert_eq!(server.asked(), []);
}

/// The proxy on this port of this machine.
fn proxy(port: u16) -> ureq::Proxy {
    ureq::Proxy::new(&format!("http://127.0.0.1:{port}")).unwrap()
}

fn authority() -> ureq::tls::RootCerts {
    ureq::tls::RootCerts::new_with_certs(&[ureq::tls::Certificate::from_pem(
        AUTHORITY.pem.as_bytes(),
    )
    .unwrap()])
}

/// A clock on which each look costs half a minute: there is no time for a second attempt.
#[derive(Default)]
struct Hurried(Cell<u64>);

impl Clock for Hurried {
    fn passed(&self) -> Duration {
        self.0.set(self.0.get() + 30);
        Duration::from_secs(self.0.get())
    }
    fn date(&self) -> i64 {
        0
    }
    fn wait(&self, _: Duration) {
        panic!("there is no time to wait");
    }
}

/// Fetches with small bounds from a server whose connection `answer` gets.
fn fetched(
    url: &str,
    bounds: Bounds,
    answer: impl FnOnce(Tls) + Send + 'static,
) -> Result<Vec<u8>, NetworkFault> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = std::thread::spawn(move || answer(tunnel(listener.accept().unwrap().0).1));
    let transport = Transport {
        proxy: Some(proxy(port)),
        roots: authority(),
    };
    let client = Client::new(
        &Environment::default(),
        transport,
        bounds,
        Visible::default(),
    )
    .with_clock(Box::new(Hurried::default()));
    let fetched = client.get(&Request::new(url));
    // Its connections end with it.
    drop(client);
    serving.join().unwrap();
    fetched
}

fn fetch(bounds: Bounds, answer: impl FnOnce(Tls) + Send + 'static) -> NetworkFault {
    fetched("https://example.com/x", bounds, answer).unwrap_err()
}

/// The URL is used as it was written, as Go's client uses it.
#[test]
fn credentials_of_a_url_are_sent() {
    let (tell, told) = std::sync::mpsc::channel();
    let url = "https://user:pw@example.com/x?token=t";
    let fetched = fetched(url, Bounds::default(), move |stream| {
        let mut stream = BufReader::new(stream);
        let lines: Vec<String> = stream
            .by_ref()
            .lines()
            .map_while(Result::ok)
            .take_while(|line| !line.is_empty())
            .collect();
        tell.send(lines).unwrap();
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
        stream.get_mut().write_all(answer).unwrap();
    });
    assert_eq!(fetched, Ok(b"x".to_vec()));
    let lines = told.recv().unwrap();
    assert_eq!(lines[0], "GET /x?token=t HTTP/1.1");
    let has = |header: &str| lines.iter().any(|line| line.eq_ignore_ascii_case(header));
    assert!(has("authorization: Basic dXNlcjpwdw=="), "{lines:?}");
}

#[test]
fn an_answer_that_does_not_come_or_does_not_end_is_given_up() {
    let silent = |mut stream: Tls| {
        // Until the other side hangs up.
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    };
    let fault = fetch(
        Bounds {
            whole: Duration::from_millis(200),
            ..Bounds::default()
        },
        silent,
    );
    assert!(
        matches!(&fault, NetworkFault::Failed(reason) if reason.contains("timeout")),
        "{fault:?}"
    );
    let endless = |mut stream: Tls| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        while stream.write_all(&[b'x'; 1024]).is_ok() {}
    };
    let fault = fetch(
        Bounds {
            bytes: 1 << 20,
            ..Bounds::default()
        },
        endless,
    );
    assert_eq!(
        fault,
        NetworkFault::Failed("https://example.com/x: larger than 1 MiB".to_owned())
    );
    let fault = fetch(
        Bounds {
            command_bytes: 1 << 20,
            ..Bounds::default()
        },
        endless,
    );
    assert_eq!(
        fault,
        NetworkFault::Failed(
            "https://example.com/x: with it, the answers of this command are larger than 1 MiB"
                .to_owned()
        )
    );
}

#[test]
fn an_answer_may_be_as_large_as_is_allowed() {
    let announced = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let chunked = |body: &str| {
        format!(
            "Transfer-Encoding: chunked\r\n\r\n{}\r\n{body}\r\n0\r\n\r\n",
            body.len()
        )
    };
    let too_large = || {
        Err(NetworkFault::Failed(
            "https://example.com/x: larger than 0 MiB".to_owned(),
        ))
    };
    for (answer, expected) in [
        (announced("abc"), Ok(b"abc".to_vec())),
        (announced("abcd"), too_large()),
        (chunked("abc"), Ok(b"abc".to_vec())),
        // Two lengths that are not the same: the answer is none (RFC 9112, 6.3).
        (
            format!("Content-Length: 2\r\n{}", chunked("abc")),
            Err(NetworkFault::Failed(
                "https://example.com/x: the answer is cut off".to_owned(),
            )),
        ),
        (chunked("abcd"), too_large()),
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{answer}");
        let found = fetched(
            "https://example.com/x",
            Bounds {
                bytes: 3,
                ..Bounds::default()
            },
            {
                let answer = answer.clone();
                move |mut stream: Tls| {
                    let _ = stream.write_all(answer.as_bytes());
                    // Until the other side hangs up.
                    let _ = std::io::copy(&mut stream, &mut std::io::sink());
                }
            },
        );
        assert_eq!(found, expected, "{answer}");
    }
}

/// What a person sees while a pause lasts; it is nothing for a log.
#[cfg(unix)]
#[test]
fn a_person_sees_what_is_waited_for() {
    if !crate::support::runs(&["script", "--version"]) {
        return;
    }
    let shown = |ci: &str| {
        let server = Server::start(vec![
            ("example.com/t.yaml", status(503)),
            ("example.com/t.yaml", ok("a: 1\n")),
        ]);
        let folder = tempfile::tempdir().unwrap();
        let own = server.command(folder.path(), true);
        let line = format!(
            "{} generate yaml --allow-network --from https://example.com/t.yaml",
            env!("CARGO_BIN_EXE_windlass")
        );
        let mut terminal = Command::new("script");
        terminal
            .args(["-qec", line.as_str(), "/dev/null"])
            .current_dir(folder.path())
            .env_clear();
        terminal.envs(
            own.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
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
            output.status.success() && shown.contains("a: 1") && server.paths().len() == 2,
            "{shown}"
        );
        shown
    };
    let person = shown("");
    assert!(
        person.contains("example.com: got 503; asking again in 1 s"),
        "{person}"
    );
    assert!(!shown("true").contains("asking again"));
}
