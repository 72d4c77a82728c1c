//! `--allow-network` against a proxy of this test that plays GitHub and GitLab over TLS: which requests are made, what is refused, what is kept.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use serde_json::json;
use windlass::clusterctl::{Network, NetworkFault, Request};
use windlass::shell::environment::Environment;
use windlass::shell::network::{Bounds, Client, Transport, Visible};

use crate::support::windlass;

/// What a path is answered with.
#[derive(Clone)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

fn ok(body: impl Into<Vec<u8>>) -> Answer {
    Answer { status: 200, headers: Vec::new(), body: body.into() }
}

fn status(status: u16) -> Answer {
    Answer { status, headers: Vec::new(), body: Vec::new() }
}

fn redirect(to: &str) -> Answer {
    Answer { status: 302, headers: vec![("Location".to_owned(), to.to_owned())], body: Vec::new() }
}

/// A request that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    path: String,
    authorization: Option<String>,
    accept: Option<String>,
}

/// A proxy on this machine that plays every host: it takes `CONNECT HOST` and answers with a certificate for HOST, so that the program is
/// tried as it ships, over TLS. In `asked`, `/HOST/PATH` is `https://HOST/PATH`.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    fn start(answers: Vec<(&str, Answer)>) -> Self {
        let answers: BTreeMap<String, Answer> = answers.into_iter().map(|(path, answer)| (format!("/{path}"), answer)).collect();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        // Ends with the process of the test.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (answers, log) = (answers.clone(), Arc::clone(&log));
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

    /// The program behind the proxy; it trusts the authority of the test where `trusting` says so, and the machine's elsewhere.
    fn command(&self, folder: &Path, trusting: bool) -> Command {
        let mut command = windlass(folder);
        command.env("HOME", folder).env("HTTPS_PROXY", format!("http://127.0.0.1:{}", self.port));
        if trusting {
            let file = folder.join("authority.pem");
            fs::write(&file, &AUTHORITY.pem).unwrap();
            command.env("SSL_CERT_FILE", file);
        }
        command
    }
}

/// Hosts that the tests' server plays.
const HOSTS: [&str; 4] = ["api.github.com", "objects.example.com", "example.com", "gitlab.example.com"];

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
    let certificate = rcgen::CertificateParams::new(HOSTS.map(str::to_owned)).unwrap().signed_by(&key, &issuer).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
    let server = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .unwrap();
    Authority { pem, server: Arc::new(server) }
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
    let host = head.strip_prefix("CONNECT ").and_then(|rest| rest.split_once(":443 ")).unwrap_or_else(|| panic!("no TLS: {head}")).0;
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    let connection = rustls::ServerConnection::new(Arc::clone(&AUTHORITY.server)).unwrap();
    (host.to_owned(), rustls::StreamOwned::new(connection, stream))
}

type Tls = rustls::StreamOwned<rustls::ServerConnection, TcpStream>;

fn serve(host: &str, stream: Tls, answers: &BTreeMap<String, Answer>, log: &Mutex<Vec<Asked>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let lines: Vec<String> = stream.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let Some((first, headers)) = lines.split_first() else { return };
        let path = format!("/{host}{}", first.split(' ').nth(1).unwrap_or_default());
        let header = |name: &str| {
            let found = headers.iter().filter_map(|line| line.split_once(": ")).find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.to_owned())
        };
        log.lock().unwrap().push(Asked { path: path.clone(), authorization: header("authorization"), accept: header("accept") });
        let answer = answers.get(&path).cloned().unwrap_or_else(|| status(404));
        let mut text = format!("HTTP/1.1 {} X\r\n", answer.status);
        if !answer.headers.iter().any(|(name, _)| name == "Content-Length") {
            text.push_str(&format!("Content-Length: {}\r\n", answer.body.len()));
        }
        answer.headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
        text.push_str("\r\n");
        let writer = stream.get_mut();
        if writer.write_all(text.as_bytes()).and_then(|()| writer.write_all(&answer.body)).and_then(|()| writer.flush()).is_err() {
            return;
        }
        if answer.headers.iter().any(|(name, _)| name == "Content-Length") {
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
    let mut first: Vec<_> = (0..98).map(|n| json!({"tag_name": format!("nightly-{n}")})).collect();
    first.extend([json!({"tag_name": "v1.2.0"}), json!({"tag_name": "v2.0.0-rc.1"})]);
    let asset = |id: u64, name: &str| json!({"id": id, "name": name});
    let release =
        json!({"assets": [asset(1, "metadata.yaml"), asset(2, "infrastructure-components.yaml"), asset(3, "cluster-template.yaml")]});
    vec![
        ("api.github.com/repos/o/r/releases?per_page=100&page=1", ok(json!(first).to_string())),
        (
            "api.github.com/repos/o/r/releases?per_page=100&page=2",
            ok(json!([{"tag_name": "v1.1.1"}, {"tag_name": "v1.0.0"}]).to_string()),
        ),
        // Tagged, and nothing released yet.
        ("api.github.com/repos/o/r/releases/tags/v1.2.0", ok(json!({"assets": []}).to_string())),
        ("api.github.com/repos/o/r/releases/tags/v1.1.1", ok(release.to_string())),
        ("api.github.com/repos/o/r/releases/assets/1", ok(METADATA)),
        ("api.github.com/repos/o/r/releases/assets/2", redirect("https://objects.example.com/2?signature=x")),
        ("api.github.com/repos/o/r/releases/assets/3", ok("name: ${CLUSTER_NAME}\n")),
        ("objects.example.com/2?signature=x", ok(COMPONENTS)),
        (
            "api.github.com/repos/o/r/contents/t/a%20b.yaml?ref=main",
            ok(json!({"encoding": "base64", "content": "YTogJHtCfQ\n==\n"}).to_string()),
        ),
        ("example.com/t.yaml", ok("a: 1\n")),
    ]
}

fn run(server: &Server, folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String, String) {
    let Output { status, stdout, stderr } =
        server.command(folder, true).args(arguments).envs(environment.iter().copied()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

const PROVIDER: &[&str] = &["generate", "provider", "-i", "foo", "--config", "clusterctl.yaml", "--allow-network"];

#[test]
fn without_the_flag_nothing_is_asked() {
    let (server, folder) = (Server::start(github()), configured(URL));
    let (code, stdout, stderr) = run(&server, folder.path(), &PROVIDER[..PROVIDER.len() - 1], &[]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(
        stderr.starts_with("Error: failed to get repository client for the InfrastructureProvider with name foo: "),
        "{stderr}"
    );
    assert!(
        stderr.contains("--allow-network") && stderr.contains("repository add DIR") && !stderr.contains("--from"),
        "{stderr}"
    );
    let cluster = ["generate", "cluster", "c", "-i", "foo:v1.1.1", "-n", "d", "--config", "clusterctl.yaml"];
    let (code, _, stderr) = run(&server, folder.path(), &cluster, &[]);
    assert!(
        code == 1 && stderr.contains("--allow-network") && stderr.contains("or pass a template with `--from`"),
        "{stderr}"
    );
    for url in ["https://example.com/t.yaml", "https://github.com/o/r/blob/main/t.yaml"] {
        let (code, _, stderr) = run(&server, folder.path(), &["generate", "yaml", "--from", url], &[]);
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
    assert!(stdout.contains("cluster.x-k8s.io/provider: infrastructure-foo"), "{stdout}");
    assert_eq!(stderr, "fetching from api.github.com\nfetching from objects.example.com\n");
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
        let wanted = asked.path.starts_with("/api.github.com/").then(|| "Bearer ghp_secret".to_owned());
        assert_eq!(asked.authorization, wanted, "a token does not follow redirects: {asked:?}");
        if asked.path.contains("/assets/") {
            assert_eq!(asked.accept.as_deref(), Some("application/octet-stream"));
        }
    }
    // A version that is named needs nothing from the network any more.
    let pinned = configured("https://github.com/o/r/releases/v1.1.1/infrastructure-components.yaml");
    fs::rename(folder.path().join(".cache"), pinned.path().join(".cache")).unwrap();
    let before = server.paths().len();
    let (code, again, stderr) = run(&server, pinned.path(), PROVIDER, &[]);
    assert_eq!((code, again.as_str(), stderr.as_str()), (0, stdout.as_str(), ""));
    assert_eq!(server.paths().len(), before);
    #[cfg(unix)]
    for file in crate::support::files_below(&pinned.path().join(".cache")) {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions()) & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
    }
}

/// As clusterctl's `absoluteFileName`: a folder of the provider's URL is part of the names of assets.
#[test]
fn folders_of_the_url_are_part_of_the_names_of_assets() {
    let check = |names: [&str; 2]| {
        let assets = json!({"assets": [{"id": 1, "name": names[0]}, {"id": 2, "name": names[1]}]});
        let server = Server::start(vec![
            ("api.github.com/repos/o/r/releases/tags/v1.1.1", ok(assets.to_string())),
            ("api.github.com/repos/o/r/releases/assets/1", ok(METADATA)),
            ("api.github.com/repos/o/r/releases/assets/2", ok(COMPONENTS)),
        ]);
        let folder = configured("https://github.com/o/r/releases/v1.1.1/deploy/infrastructure-components.yaml");
        run(&server, folder.path(), PROVIDER, &[])
    };
    let (code, stdout, stderr) = check(["deploy/metadata.yaml", "deploy/infrastructure-components.yaml"]);
    assert!(code == 0 && stdout.contains("cluster.x-k8s.io/provider: infrastructure-foo"), "{stderr}");
    let (code, _, stderr) = check(["metadata.yaml", "infrastructure-components.yaml"]);
    assert!(code == 1 && stderr.contains("404 Not Found"), "{stderr}");
}

#[test]
fn the_list_of_releases_is_fetched_once() {
    // The newest release says that it does not fulfil the contract, so the list is looked through again.
    let metadata = METADATA
        .replace("minor: 1, contract: v1beta2", "minor: 1, contract: v1beta1")
        .replace("minor: 0, contract: v1beta1", "minor: 0, contract: v1beta2");
    let release =
        || ok(json!({"assets": [{"id": 1, "name": "metadata.yaml"}, {"id": 2, "name": "infrastructure-components.yaml"}]}).to_string());
    let list = "api.github.com/repos/o/r/releases?per_page=100&page=1";
    let server = Server::start(vec![
        (list, ok(json!([{"tag_name": "v1.1.0"}, {"tag_name": "v1.0.0"}]).to_string())),
        ("api.github.com/repos/o/r/releases/tags/v1.1.0", release()),
        ("api.github.com/repos/o/r/releases/tags/v1.0.0", release()),
        ("api.github.com/repos/o/r/releases/assets/1", ok(metadata)),
        ("api.github.com/repos/o/r/releases/assets/2", ok(COMPONENTS)),
    ]);
    let (code, _, stderr) = run(&server, configured(URL).path(), &[PROVIDER, &["--describe"]].concat(), &[]);
    assert_eq!(code, 0, "{stderr}");
    assert!(server.paths().contains(&"/api.github.com/repos/o/r/releases/tags/v1.0.0".to_owned()), "{:?}", server.paths());
    assert_eq!(server.paths().iter().filter(|path| **path == format!("/{list}")).count(), 1);
}

#[test]
fn templates_and_configurations_are_fetched() {
    let (server, folder) = (Server::start(github()), configured(URL));
    let cluster = ["generate", "cluster", "c", "-n", "d", "-i", "foo:v1.1.1", "--config", "clusterctl.yaml", "--allow-network"];
    let (code, stdout, stderr) = run(&server, folder.path(), &cluster, &[]);
    assert_eq!((code, stdout.as_str()), (0, "metadata:\n  namespace: d\nname: c\n"), "{stderr}");
    let yaml = |url: &str| run(&server, folder.path(), &["generate", "yaml", "--allow-network", "--from", url], &[("B", "x")]);
    assert_eq!(yaml("https://example.com/t.yaml").1, "a: 1\n");
    assert_eq!(yaml("https://github.com/o/r/blob/main/t/a%20b.yaml").1, "a: x\n");
    assert_eq!(
        yaml("https://github.com/o/r/releases/download/v1.1.1/cluster-template.yaml").0,
        1,
        "CLUSTER_NAME has no value"
    );
    let (code, _, stderr) = yaml("https://example.com/none.yaml");
    assert_eq!((code, stderr.lines().last()), (1, Some("Error: invalid GetFromURL operation: failed to get file, got 404")));
    let (code, _, stderr) = yaml("http://example.com/t.yaml");
    assert!(code == 1 && stderr.contains("unable to read content from \"http://example.com/t.yaml\""), "{stderr}");

    let mut answers = github();
    answers.push(("example.com/clusterctl.yaml", ok(fs::read(folder.path().join("clusterctl.yaml")).unwrap())));
    let server = Server::start(answers);
    let list = ["config", "repositories", "--config", "https://example.com/clusterctl.yaml"];
    let (code, _, stderr) = run(&server, folder.path(), &list, &[]);
    assert!(code == 1 && stderr.contains("--allow-network"), "{stderr}");
    let (code, stdout, stderr) = run(&server, folder.path(), &[&list[..], &["--allow-network"]].concat(), &[]);
    assert!(code == 0 && stdout.contains("https://github.com/o/r/releases/latest/"), "{stdout}{stderr}");
}

#[test]
fn gitlab_packages_are_fetched_with_gitlabs_token() {
    let url = "https://gitlab.example.com/api/v4/projects/group%2Fproject/packages/generic/pkg/v1.1.1/infrastructure-components.yaml";
    let path = |file: &str| format!("gitlab.example.com/api/v4/projects/group%2Fproject/packages/generic/pkg/v1.1.1/{file}");
    let (metadata, components) = (path("metadata.yaml"), path("infrastructure-components.yaml"));
    let server = Server::start(vec![(&metadata, ok(METADATA)), (&components, ok(COMPONENTS))]);
    let tokens = [("GITLAB_ACCESS_TOKEN", "glpat_secret"), ("GITHUB_TOKEN", "ghp_secret")];
    let named = [PROVIDER, &["--gitlab-host", "gitlab.example.com"]].concat();
    let (code, stdout, stderr) = run(&server, configured(url).path(), &named, &tokens);
    assert!(code == 0 && stdout.contains("infrastructure-foo"), "{stderr}");
    assert!(
        server.asked().iter().all(|asked| asked.authorization.as_deref() == Some("Bearer glpat_secret")),
        "{:?}",
        server.asked()
    );
    assert_eq!(server.paths(), [format!("/{metadata}"), format!("/{components}")]);

    let server = Server::start(vec![(&metadata, status(401))]);
    let (code, _, stderr) = run(&server, configured(url).path(), &named, &tokens);
    assert!(code == 1 && stderr.contains("unauthorized access, please check your credentials"), "{stderr}");
    assert!(!stderr.contains("secret") && !stderr.contains("was not sent"), "{stderr}");
    // A host that only a configuration names, perhaps somebody else's, does not get the token of the environment.
    let (code, _, stderr) = run(&server, configured(url).path(), PROVIDER, &tokens);
    assert!(code == 1 && stderr.contains("pass `--gitlab-host gitlab.example.com`"), "{stderr}");
    let asked: Vec<_> = server.asked().into_iter().map(|asked| asked.authorization).collect();
    assert_eq!(asked, [Some("Bearer glpat_secret".to_owned()), None]);
    // A token that stands beside the url is for it.
    let own = configured(url);
    let text = fs::read_to_string(own.path().join("clusterctl.yaml")).unwrap();
    fs::write(own.path().join("clusterctl.yaml"), format!("{text}gitlab-access-token: glpat_own\n")).unwrap();
    run(&server, own.path(), PROVIDER, &tokens[1..]);
    assert_eq!(server.asked().last().unwrap().authorization.as_deref(), Some("Bearer glpat_own"));
    run(&server, own.path(), PROVIDER, &tokens);
    assert_eq!(server.asked().last().unwrap().authorization, None, "the environment's is not");
}

/// What is refused, with the words on standard error; nothing of it may be kept.
fn check_refused(answers: Vec<(&str, Answer)>, expected: &str) {
    let (server, folder) = (Server::start(answers), configured("https://github.com/o/r/releases/v1.1.1/infrastructure-components.yaml"));
    let (code, stdout, stderr) = run(&server, folder.path(), PROVIDER, &[("GITHUB_TOKEN", "ghp_secret")]);
    assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
    assert!(stderr.contains(expected) && !stderr.contains("secret"), "{stderr}");
    assert!(!folder.path().join(".cache").exists(), "nothing is kept");
}

#[test]
fn bad_answers_are_refused() {
    let tag = "api.github.com/repos/o/r/releases/tags/v1.1.1";
    let asset = "api.github.com/repos/o/r/releases/assets/1";
    let release = || (tag, ok(json!({"assets": [{"id": 1, "name": "metadata.yaml"}]}).to_string()));
    check_refused(vec![], "failed to get file \"metadata.yaml\" from \"v1.1.1\" release: 404 Not Found");
    check_refused(vec![(tag, ok("<html>"))], "the answer is no JSON");
    check_refused(vec![(tag, status(500))], "failed to read release \"v1.1.1\": got 500");
    let limited = Answer { headers: vec![("x-ratelimit-remaining".to_owned(), "0".to_owned())], ..status(403) };
    check_refused(vec![(tag, limited.clone())], "rate limit for github api has been reached.");
    let mut until = limited;
    until.headers.push(("x-ratelimit-reset".to_owned(), "1893456000".to_owned()));
    check_refused(vec![(tag, until)], "the host answers again from 2030-01-01T00:00:00Z on");
    for body in
        ["<html><body>Sign in</body></html>", "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries: [{major: 1"]
    {
        check_refused(vec![release(), (asset, ok(body))], "Error: ");
    }
    check_refused(vec![release(), (asset, redirect("http://example.com/x"))], "redirects to what is no https URL");
    check_refused(
        vec![release(), (asset, redirect("https://api.github.com/repos/o/r/releases/assets/1"))],
        "more than 5 redirects",
    );
    let promised = |bytes: &str| Answer { headers: vec![("Content-Length".to_owned(), bytes.to_owned())], ..ok("abc") };
    check_refused(vec![release(), (asset, promised("1000000000"))], "larger than 64 MiB");
    check_refused(vec![release(), (asset, promised("10"))], "https://api.github.com/repos/o/r/releases/assets/1");
}

#[test]
fn a_host_whose_certificate_nobody_vouches_for_learns_nothing() {
    let (server, folder) = (Server::start(github()), configured(URL));
    let output = server.command(folder.path(), false).args(PROVIDER).env("GITHUB_TOKEN", "ghp_secret").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && stderr.contains("certificate"), "{stderr}");
    assert_eq!(server.asked(), []);
}

/// Fetches with small bounds from a server whose connection `answer` gets.
fn fetch(bounds: Bounds, answer: impl FnOnce(Tls) + Send + 'static) -> NetworkFault {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = std::thread::spawn(move || answer(tunnel(listener.accept().unwrap().0).1));
    let proxy = ureq::Proxy::new(&format!("http://127.0.0.1:{port}")).unwrap();
    let authority = ureq::tls::Certificate::from_pem(AUTHORITY.pem.as_bytes()).unwrap();
    let transport = Transport { proxy: Some(proxy), roots: ureq::tls::RootCerts::new_with_certs(&[authority]) };
    let client = Client::new(&Environment::default(), transport, bounds, Visible::default());
    let fault = client.get(&Request::new("https://example.com/x")).unwrap_err();
    serving.join().unwrap();
    fault
}

#[test]
fn an_answer_that_does_not_come_or_does_not_end_is_given_up() {
    let silent = |mut stream: Tls| {
        // Until the other side hangs up.
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    };
    let fault = fetch(Bounds { whole: Duration::from_millis(200), ..Bounds::default() }, silent);
    assert!(matches!(&fault, NetworkFault::Failed(reason) if reason.contains("timeout")), "{fault:?}");
    let endless = |mut stream: Tls| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        while stream.write_all(&[b'x'; 1024]).is_ok() {}
    };
    let fault = fetch(Bounds { bytes: 1 << 20, ..Bounds::default() }, endless);
    assert_eq!(fault, NetworkFault::Failed("https://example.com/x: larger than 1 MiB".to_owned()));
}
