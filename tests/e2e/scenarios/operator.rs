//! The Cluster API operator and skopeo before what we push and print. The operator's plugin runs
//! the code by which its controller makes its own ConfigMaps out of an artifact (`OCIConfigMap`),
//! so that they can be held against ours.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use windlass_source::gzip;

use crate::harness::process::{Process, Start};
use crate::harness::runner::Context;
use crate::harness::shared::checkout;
use crate::harness::windlass::{LABEL, NAMESPACE, VERSION};
use crate::harness::{browser, components, peers, ports, wait, windlass};

const LIMIT: Duration = Duration::from_secs(120);
const OPERATOR: &str = "cluster-api-operator-v0.28.0/capioperator";

/// The flag of the operator's plugin, and clusterctl's word for the type.
///
/// Its plugin does not know providers of addresses, although it has a flag for them: it panics
/// (v0.28).
const TYPES: [(&str, &str); 6] = [
    ("--core", "core"),
    ("--bootstrap", "bootstrap"),
    ("--control-plane", "control-plane"),
    ("--infrastructure", "infrastructure"),
    ("--runtime-extension", "runtime-extension"),
    ("--addon", "addon"),
];

/// A registry on loopback, and its host.
pub(super) fn registry(folder: &Path) -> (Process, String) {
    let port = ports::free();
    let program = peers::program(peers::REGISTRY);
    let arguments = vec!["-port".to_owned(), port.to_string()];
    let mut process = Start {
        name: "registry",
        program: &program,
        arguments,
        environment: Vec::new(),
        folder,
    }
    .spawn();
    wait::until("the registry", LIMIT, || {
        process.assert_running();
        TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())
    });
    (process, format!("127.0.0.1:{port}"))
}

/// The ConfigMap that the operator makes of an artifact.
fn of_operator(folder: &Path, flag: &str, provider: &str, reference: &str) -> Value {
    let arguments = [
        "preload",
        flag,
        provider,
        "-u",
        &format!("http://{reference}"),
    ]
    .map(str::to_owned)
    .to_vec();
    let program = peers::program(OPERATOR);
    let made = Start {
        name: "capioperator",
        program: &program,
        arguments,
        environment: Vec::new(),
        folder,
    }
    .finish(LIMIT);
    made.assert_success(&format!(
        "capioperator preload {flag} {provider} -u http://{reference}"
    ));
    let mut maps = components::documents("preload", made.stdout);
    assert_eq!(maps.len(), 1, "{maps:?}");
    maps.remove(0)
}

/// The ConfigMap without what only the one of an artifact has, and with plain components. Whether
/// they were compressed is the other part.
fn plain(mut map: Value) -> (Value, bool) {
    let source = "provider.cluster.x-k8s.io/source";
    map["metadata"]["labels"]
        .as_object_mut()
        .unwrap()
        .remove(source);
    let annotations = map["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("annotations")
        .unwrap_or_default();
    let is_compressed = annotations["provider.cluster.x-k8s.io/compressed"] == "true";
    if is_compressed {
        let gzip = STANDARD
            .decode(map["binaryData"]["components"].as_str().unwrap())
            .unwrap();
        let components = gzip::decompress(&gzip, 64 << 20).expect("both write gzip");
        map["binaryData"]["components"] = String::from_utf8(components).unwrap().into();
    }
    (map, is_compressed)
}

/// Pushes a release, and holds the operator's ConfigMap of it against ours; whether both are
/// compressed.
fn compare(
    folder: &Path,
    host: &str,
    release: &str,
    (flag, name, namespace, version): (&str, &str, &str, &str),
) -> bool {
    let repository = format!("{host}/{namespace}/manifests{flag}-{name}").replace("--", "/");
    windlass::run(
        folder,
        &[
            "repository",
            "push",
            release,
            &format!("oci://{repository}"),
        ],
    );
    let theirs = of_operator(
        folder,
        flag,
        &format!("{name}:{namespace}:{version}"),
        &format!("{repository}:{version}"),
    );
    let ours = windlass::run(
        folder,
        &["repository", "configmap", release, "--namespace", namespace],
    );
    let mut ours = components::documents("configmap", ours.stdout);
    assert_eq!(ours.len(), 1);
    let (theirs, ours) = (plain(theirs), plain(ours.remove(0)));
    assert!(
        theirs == ours,
        "{release} as {flag} {name}:\n{}\n{}",
        theirs.0["metadata"],
        ours.0["metadata"]
    );
    assert!(
        theirs.0["data"]["metadata"]
            .as_str()
            .is_some_and(|text| text.contains("releaseSeries"))
    );
    ours.1
}

/// A release of one provider with components of at least so many bytes.
fn release(folder: &Path, word: &str, bytes: usize) -> String {
    let label = if word == "core" {
        "x".to_owned()
    } else {
        format!("{word}-x")
    };
    let name = format!("release-{word}-{bytes}");
    let files = folder.join(&name);
    std::fs::create_dir_all(&files).unwrap();
    let metadata = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 1, minor: 2, contract: v1beta2}\n";
    std::fs::write(files.join("metadata.yaml"), metadata).unwrap();
    let namespace = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: x-system\n  labels: {{cluster.x-k8s.io/provider: {label}}}\n"
    );
    let comment = format!("# {}\n", "é \t'\"\\:-{}".repeat(9)).repeat(bytes / 100);
    std::fs::write(
        files.join(format!("{word}-components.yaml")),
        comment + &namespace,
    )
    .unwrap();
    // Where it says its version.
    std::fs::write(
        files.join("sbom.spdx.json"),
        r#"{"packages": [{"versionInfo": "v1.2.3"}]}"#,
    )
    .unwrap();
    name
}

/// What the operator makes of an artifact that we pushed is what we print: for our release, for
/// each type of provider that its plugin knows, and compressed.
pub(crate) fn config_maps_are_those_of_the_operator(context: &Context) {
    let folder = context.folder();
    let (_registry, host) = registry(folder);
    let ours = checkout()
        .join("releases")
        .join(LABEL)
        .join(VERSION)
        .display()
        .to_string();
    assert!(!compare(
        folder,
        &host,
        &ours,
        ("--bootstrap", "windlass", NAMESPACE, VERSION)
    ));
    for (flag, word) in TYPES {
        let name = release(folder, word, 0);
        assert!(
            !compare(folder, &host, &name, (flag, "x", "somewhere", "v1.2.3")),
            "{word}"
        );
    }
    let large = release(folder, "infrastructure", 2_000_000);
    assert!(compare(
        folder,
        &host,
        &large,
        ("--infrastructure", "x", "large", "v1.2.3")
    ));
}

/// The objects that the operator's own code makes of a file with its provider object and
/// ConfigMaps, and the version that it took; or why it makes none.
fn chosen(folder: &Path, text: &str) -> Result<(Vec<Value>, String), String> {
    std::fs::write(folder.join("objects.yaml"), text).unwrap();
    let program = peers::program("operator-phases-v0.28.0/operator-phases");
    let made = Start {
        name: "operator-phases",
        program: &program,
        arguments: vec!["objects.yaml".to_owned()],
        environment: Vec::new(),
        folder,
    };
    let made = made.finish(LIMIT);
    if made.stdout.is_empty() {
        return Err(made.stderr);
    }
    let version = made
        .stderr
        .lines()
        .find_map(|line| line.strip_prefix("version "))
        .expect("it says the version")
        .to_owned();
    let mut objects = components::documents("operator-phases", made.stdout);
    for object in &mut objects {
        let owners = object["metadata"]
            .as_object_mut()
            .and_then(|metadata| metadata.remove("ownerReferences"));
        // The operator owns what lies in a namespace, and adds nothing else.
        assert!(
            owners.is_none_or(|owners| owners[0]["kind"] == "BootstrapProvider"),
            "{object}"
        );
    }
    Ok((in_order(objects), version))
}

/// The objects of a text but its Namespace, which the operator leaves to who made its own object.
fn without_namespace(text: String) -> Vec<Value> {
    let mut objects = components::documents("clusterctl", text);
    objects.retain(|object| object["kind"] != "Namespace");
    in_order(objects)
}

fn in_order(mut objects: Vec<Value>) -> Vec<Value> {
    objects.sort_by_key(|object| {
        ["kind", "apiVersion"]
            .map(|field| object[field].to_string())
            .join(" ")
            + &object["metadata"]["name"].to_string()
    });
    objects
}

/// What real clusterctl prints of a release is its install.yaml, byte for byte; and the operator,
/// whose selector finds the ConfigMaps that we print, makes the same objects of them.
pub(crate) fn its_selector_installs_what_clusterctl_installs(context: &Context) {
    let folder = context.folder();
    let releases = checkout().join("releases");
    let (program, environment) = (
        peers::program("clusterctl-v1.14.2/clusterctl"),
        [(
            "WINDLASS_REPOSITORY".to_owned(),
            releases.display().to_string(),
        )],
    );
    let config = releases.join("clusterctl.yaml").display().to_string();
    let printed = |version: &str| {
        let arguments = [
            "generate",
            "provider",
            "--config",
            &config,
            "--bootstrap",
            &format!("windlass:{version}"),
        ]
        .map(str::to_owned)
        .to_vec();
        let made = Start {
            name: "clusterctl",
            program: &program,
            arguments,
            environment: environment.to_vec(),
            folder,
        }
        .finish(LIMIT);
        made.assert_success("clusterctl generate provider");
        made.stdout
    };
    let clusterctls = printed(VERSION);
    let install =
        std::fs::read_to_string(releases.join(LABEL).join(VERSION).join("install.yaml")).unwrap();
    assert!(
        clusterctls == install,
        "install.yaml is not what clusterctl prints"
    );

    let with_provider = |version: &str| {
        let release = releases.join(LABEL).join(version).display().to_string();
        let made = windlass::run(
            folder,
            &["repository", "configmap", &release, "--with-providers"],
        )
        .stdout;
        let documents = components::documents("configmap", made);
        let is_map = |object: &&Value| object["kind"] == "ConfigMap";
        let map = documents.iter().find(is_map).cloned().expect("a ConfigMap");
        let provider = documents
            .into_iter()
            .find(|object| object["kind"] == "BootstrapProvider")
            .expect("a provider");
        (map, provider)
    };
    let ((map, provider), (older_map, older)) = (with_provider(VERSION), with_provider("v0.1.0"));
    let text = |objects: &[&Value]| {
        objects
            .iter()
            .map(|object| format!("---\n{object}\n"))
            .collect::<String>()
    };
    let expected = without_namespace(install);
    // The maps of both versions are there; of another provider, and in another namespace, there are
    // some too.
    let changed = |path: &str, value: &str| {
        let mut map = map.clone();
        *map.pointer_mut(path).expect("it is there") = value.into();
        map["metadata"]["name"] = format!("another-{value}").into();
        map["data"]["metadata"] = "none".into();
        map
    };
    let others = [
        changed("/metadata/labels/provider.cluster.x-k8s.io~1name", "other"),
        changed("/metadata/labels/provider.cluster.x-k8s.io~1type", "core"),
        changed("/metadata/namespace", "elsewhere"),
    ];
    let all = |provider: &Value| {
        text(&[
            &others[0], &older_map, &others[1], &map, &others[2], provider,
        ])
    };
    let (objects, version) = chosen(folder, &all(&provider)).unwrap();
    assert_eq!(version, VERSION);
    for (ours, clusterctls) in objects.iter().zip(&expected) {
        assert_eq!(ours, clusterctls);
    }
    assert_eq!(objects.len(), expected.len());

    let (objects, version) = chosen(folder, &all(&older)).unwrap();
    let expected = without_namespace(printed("v0.1.0"));
    assert!(
        version == "v0.1.0" && objects == expected,
        "the older version"
    );
    let mut newest = provider.clone();
    newest["spec"]
        .as_object_mut()
        .unwrap()
        .remove("version")
        .expect("we say the version");
    assert_eq!(
        chosen(folder, &all(&newest)).map(|(_, version)| version),
        Ok(VERSION.to_owned()),
        "without a version it is the newest"
    );
    let rejected = chosen(
        folder,
        &text(&[&others[0], &others[1], &others[2], &provider]),
    )
    .unwrap_err();
    assert!(
        rejected.contains("no ConfigMaps found with selector"),
        "{rejected}"
    );
}

/// Copies an artifact, without changing a byte of it.
fn skopeo(folder: &Path, from: &str, to: &str) {
    let program = browser::on_path("skopeo").expect("Debian has it as: apt-get install skopeo");
    let flags = [
        ("docker:", from, "--src-tls-verify=false"),
        ("docker:", to, "--dest-tls-verify=false"),
    ];
    let plain = flags
        .into_iter()
        .filter(|(transport, end, _)| end.starts_with(transport))
        .map(|(_, _, flag)| flag);
    let words = ["--insecure-policy", "copy", "--preserve-digests"]
        .into_iter()
        .chain(plain)
        .chain([from, to]);
    let arguments = words.map(str::to_owned).collect();
    let copied = Start {
        name: "skopeo",
        program: &program,
        arguments,
        environment: Vec::new(),
        folder,
    }
    .finish(LIMIT);
    copied.assert_success(&format!("skopeo copy {from} {to}"));
}

/// The files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                std::fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

/// What skopeo copies from our layout into a registry, and from a registry into a layout, is the
/// artifact that we pushed, and the release that we pull.
pub(crate) fn skopeo_carries_artifacts(context: &Context) {
    let folder = context.folder();
    let (_registry, host) = registry(folder);
    let release = checkout().join("releases").join(LABEL).join(VERSION);
    let pushed = |reference: &str| {
        let said = windlass::run(
            folder,
            &[
                "repository",
                "push",
                &release.display().to_string(),
                reference,
            ],
        )
        .stdout;
        said.trim()
            .split_once('@')
            .expect("the reference has the digest")
            .1
            .to_owned()
    };
    let digest = pushed(&format!("oci:layout:{VERSION}"));
    assert_eq!(pushed(&format!("oci://{host}/ours/x:{VERSION}")), digest);
    skopeo(
        folder,
        &format!("oci:layout:{VERSION}"),
        &format!("docker://{host}/copied/x:{VERSION}"),
    );
    skopeo(
        folder,
        &format!("docker://{host}/ours/x:{VERSION}"),
        &format!("oci:copied:{VERSION}"),
    );
    for (index, reference) in [
        format!("oci://{host}/copied/x:{VERSION}"),
        format!("oci://{host}/copied/x@{digest}"),
        format!("oci:copied:{VERSION}"),
        format!("oci:copied@{digest}"),
    ]
    .iter()
    .enumerate()
    {
        let to = format!("repository-{index}");
        windlass::run(folder, &["repository", "pull", reference, "--to", &to]);
        assert!(
            files(&folder.join(&to).join(LABEL).join(VERSION)) == files(&release),
            "{reference}"
        );
    }
}
