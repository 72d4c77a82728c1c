//! `release image` and `release build --image-layout`: layouts of image-spec, with the same bytes
//! every time, read back by other programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest, Sha256};
use windlass_source::gzip;

use crate::support::{files_below, run, runs, windlass};

/// `e_machine` of elf.h.
pub(crate) const AMD64: u16 = 62;
pub(crate) const ARM64: u16 = 183;

/// A whole program that ends with 0, as an assembler and a linker would make it: gABI 4.1, figures
/// 4-3 and 5-1. The third segment is what `more` gives: its type and its bytes.
fn elf(machine: u16, more: Option<(u32, &[u8])>) -> Vec<u8> {
    let code: &[u8] = match machine {
        // mov eax, 60; xor edi, edi; syscall
        AMD64 => &[0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05],
        // mov x0, 0; mov x8, 93; svc 0
        _ => &[0, 0, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0, 0, 0xd4],
    };
    let segments = 1 + u16::from(more.is_some());
    let begin = 64 + 56 * u64::from(segments);
    let rest = more.map_or(&[][..], |(_, bytes)| bytes);
    let whole = begin + (code.len() + rest.len()) as u64;
    let base = 0x40_0000;
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    [2_u16, machine]
        .iter()
        .for_each(|number| file.extend(number.to_le_bytes()));
    file.extend(1_u32.to_le_bytes());
    [base + begin, 64, 0_u64]
        .iter()
        .for_each(|number| file.extend(number.to_le_bytes()));
    file.extend(0_u32.to_le_bytes());
    [64_u16, 56, segments, 64, 0, 0]
        .iter()
        .for_each(|number| file.extend(number.to_le_bytes()));
    let mut segment = |kind: u32, at: u64, size: u64| {
        [kind, 5]
            .iter()
            .for_each(|number| file.extend(number.to_le_bytes()));
        [at, base + at, base + at, size, size, 0x1000]
            .iter()
            .for_each(|number| file.extend(number.to_le_bytes()));
    };
    segment(1, 0, whole);
    if let Some((kind, bytes)) = more {
        segment(kind, begin + code.len() as u64, bytes.len() as u64);
    }
    file.extend(code);
    file.extend(rest);
    file
}

/// A static program for a machine.
pub(crate) fn program(machine: u16) -> Vec<u8> {
    elf(machine, None)
}

/// A program for amd64 that needs an interpreter.
pub(crate) fn dynamic_program() -> Vec<u8> {
    elf(AMD64, Some((3, b"/lib64/ld-linux-x86-64.so.2\0")))
}

const PROVIDER: &str = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: harbour\ntype: InfrastructureProvider\n\
    group: infrastructure.harbour.example\ncontracts: {v1beta2: [v1beta1]}\nnamespace: harbour-system\n\
    about: {supplier: Example Inc., license: Apache-2.0, url: \"https://github.com/example/harbour\"}\n\
    manager: {image: \"ghcr.io/example/harbour-manager\"}\n";

/// A folder with a provider and the binaries of its manager.
fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, bytes: &[u8]| std::fs::write(folder.path().join(file), bytes).unwrap();
    write("provider.yaml", PROVIDER.as_bytes());
    write("manager", &program(AMD64));
    write("manager-arm64", &program(ARM64));
    write("dynamic", &dynamic_program());
    folder
}

const ONE: &str = "release image v0.1.0 --binary linux/amd64=manager --to image";
const BOTH: &str = "release image v0.1.0 --binary linux/amd64=manager --binary linux/arm64=manager-arm64 --to image";

/// The digest of bytes.
fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold("sha256:".to_owned(), |text, byte| {
            format!("{text}{byte:02x}")
        })
}

fn unpacked(layer: &[u8]) -> Vec<u8> {
    gzip::decompress(layer, 1 << 20).unwrap()
}

/// A layout on disk.
struct Layout(PathBuf);

impl Layout {
    fn json(&self, path: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.0.join(path)).unwrap()).unwrap()
    }

    /// The blob of a descriptor, whose size and digest are what it says.
    fn blob(&self, descriptor: &Value) -> Vec<u8> {
        let digest = descriptor["digest"].as_str().unwrap();
        let bytes = std::fs::read(self.0.join("blobs").join(digest.replace(':', "/"))).unwrap();
        assert_eq!(digest, sum(&bytes));
        assert_eq!(descriptor["size"], bytes.len());
        bytes
    }

    fn document(&self, descriptor: &Value) -> Value {
        serde_json::from_slice(&self.blob(descriptor)).unwrap()
    }
}

/// image-spec 1.1.1: "Image Layout", "Image Index", "Image Manifest", "Image Configuration", "Image
/// Layer Filesystem Changeset".
#[test]
fn writes_layout_of_image_spec() {
    let site = site();
    let digest = run(site.path(), BOTH).ok().stdout;
    let layout = Layout(site.path().join("image"));
    assert_eq!(
        layout.json("oci-layout"),
        serde_json::json!({"imageLayoutVersion": "1.0.0"})
    );
    let index = layout.json("index.json");
    let [named] = index["manifests"].as_array().unwrap().as_slice() else {
        panic!("{index}")
    };
    assert_eq!(
        (named["digest"].as_str(), index["schemaVersion"].as_u64()),
        (Some(digest.trim_end()), Some(2))
    );
    assert_eq!(
        named["annotations"]["org.opencontainers.image.ref.name"],
        "v0.1.0"
    );
    assert_eq!(
        named["mediaType"],
        "application/vnd.oci.image.index.v1+json"
    );
    let images = layout.document(named);
    let images = images["manifests"].as_array().unwrap();
    for (image, (architecture, file)) in images
        .iter()
        .zip([("amd64", "manager"), ("arm64", "manager-arm64")])
    {
        assert_eq!(
            image["platform"],
            serde_json::json!({"architecture": architecture, "os": "linux"})
        );
        let manifest = layout.document(image);
        assert_eq!(
            (&manifest["mediaType"], &image["mediaType"]),
            (
                &"application/vnd.oci.image.manifest.v1+json".into(),
                &manifest["mediaType"]
            )
        );
        let config = layout.document(&manifest["config"]);
        assert_eq!(
            (
                &config["architecture"],
                &config["os"],
                config.get("created")
            ),
            (&architecture.into(), &"linux".into(), None)
        );
        assert_eq!(
            (
                &config["config"]["User"],
                &config["config"]["Entrypoint"][0]
            ),
            (&"65532:65532".into(), &"/manager".into())
        );
        let label = |key: &str| {
            config["config"]["Labels"][format!("org.opencontainers.image.{key}")]
                .as_str()
                .unwrap()
                .to_owned()
        };
        let labels = ["title", "version", "vendor", "licenses", "url", "source"].map(label);
        let home = "https://github.com/example/harbour";
        assert_eq!(
            labels,
            [
                "infrastructure-harbour",
                "v0.1.0",
                "Example Inc.",
                "Apache-2.0",
                home,
                home
            ]
        );
        let [layer] = manifest["layers"].as_array().unwrap().as_slice() else {
            panic!("{manifest}")
        };
        assert_eq!(
            layer["mediaType"],
            "application/vnd.oci.image.layer.v1.tar+gzip"
        );
        let tar = unpacked(&layout.blob(layer));
        assert_eq!(
            config["rootfs"],
            serde_json::json!({"type": "layers", "diff_ids": [sum(&tar)]})
        );
        let mut tar = tar::Archive::new(tar.as_slice());
        let entries: Vec<_> = tar.entries().unwrap().map(Result::unwrap).collect();
        let [entry] = entries.as_slice() else {
            panic!("{} entries", entries.len())
        };
        let header = entry.header();
        assert_eq!(
            (entry.path().unwrap().to_str(), header.mode().unwrap()),
            (Some("manager"), 0o755)
        );
        assert_eq!(
            (
                header.uid().unwrap(),
                header.gid().unwrap(),
                header.mtime().unwrap()
            ),
            (0, 0, 0)
        );
        assert_eq!(
            header.size().unwrap(),
            std::fs::metadata(site.path().join(file)).unwrap().len()
        );
    }
    // No other file exists: 2 layers, 2 configurations, 2 manifests, an index.
    assert_eq!((images.len(), files_below(&layout.0).len()), (2, 2 + 7));
}

#[test]
fn writes_one_architecture_without_an_index() {
    let site = site();
    let digest = run(site.path(), ONE).ok().stdout;
    let layout = Layout(site.path().join("image"));
    let named = &layout.json("index.json")["manifests"][0];
    assert_eq!(
        (named["mediaType"].as_str(), named["digest"].as_str()),
        (
            Some("application/vnd.oci.image.manifest.v1+json"),
            Some(digest.trim_end())
        )
    );
    assert_eq!(named["platform"]["architecture"], "amd64");
}

#[test]
fn writes_same_bytes_with_the_date_of_the_sources() {
    let (one, two) = (site(), site());
    assert_eq!(
        run(one.path(), BOTH).ok().stdout,
        run(two.path(), BOTH).ok().stdout
    );
    let relative = |folder: &Path| -> Vec<_> {
        let files = files_below(&folder.join("image"));
        files
            .iter()
            .map(|file| {
                (
                    file.strip_prefix(folder).unwrap().to_owned(),
                    std::fs::read(file).unwrap(),
                )
            })
            .collect()
    };
    assert_eq!(relative(one.path()), relative(two.path()));
    run(one.path(), &format!("{BOTH} --check")).ok();

    let command = ONE.replace("--to image", "--to dated");
    let dated = windlass(one.path())
        .args(command.split(' '))
        .env("SOURCE_DATE_EPOCH", "86400")
        .output()
        .unwrap();
    assert!(dated.status.success());
    let layout = Layout(one.path().join("dated"));
    let manifest = layout.document(&layout.json("index.json")["manifests"][0]);
    assert_eq!(
        layout.document(&manifest["config"])["created"],
        "1970-01-02T00:00:00Z"
    );
    let tar = unpacked(&layout.blob(&manifest["layers"][0]));
    assert_eq!(
        tar::Archive::new(tar.as_slice())
            .entries()
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .header()
            .mtime()
            .unwrap(),
        86400
    );
}

/// The program of these tests is linked with the C library.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#[test]
fn rejects_dynamic_program_with_its_interpreter() {
    let site = site();
    let command = format!(
        "release image v0.1.0 --binary linux/amd64={} --to image",
        env!("CARGO_BIN_EXE_windlass")
    );
    let rejected = run(site.path(), &command);
    assert_eq!(rejected.code, 1, "{rejected:?}");
    assert!(
        rejected
            .stderr
            .starts_with("error[image-binary-not-static]: ")
            && rejected.stderr.contains("`/lib64/ld-linux-x86-64.so.2`"),
        "{rejected:?}"
    );
    assert!(!site.path().join("image").exists());
}

/// The digest is in the components, the list of images and the bill of materials.
#[test]
fn release_names_image_by_digest_of_layout() {
    let site = site();
    std::fs::write(site.path().join("metadata.yaml"), METADATA).unwrap();
    let digest = run(site.path(), BOTH).ok().stdout.trim_end().to_owned();
    run(
        site.path(),
        "release build v0.1.0 --image-layout image --to out",
    )
    .ok();
    let read = |file: &str| std::fs::read_to_string(site.path().join("out").join(file)).unwrap();
    let image = format!("ghcr.io/example/harbour-manager@{digest}");
    assert!(read("infrastructure-components.yaml").contains(&format!("image: {image}\n")));
    assert_eq!(read("images.txt"), format!("{image}\n"));
    let locator = format!(
        "pkg:oci/harbour-manager@{}?repository_url=ghcr.io/example/harbour-manager",
        digest.replace(':', "%3A")
    );
    assert!(
        read("sbom.spdx.json").contains(&locator),
        "{}",
        read("sbom.spdx.json")
    );

    // Another registry, the same image.
    run(site.path(),
        "release build v0.1.0 --image registry.example:5000/m:v9 --image-layout infrastructure-harbour=image --to other").ok();
    assert_eq!(
        std::fs::read_to_string(site.path().join("other/images.txt")).unwrap(),
        format!("registry.example:5000/m@{digest}\n")
    );
}

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries: [{major: 0, minor: 1, contract: v1beta2}]\n";

/// Skopeo reads the layout with the library of containers, and umoci unpacks it.
#[test]
fn layout_is_read_by_skopeo_and_umoci() {
    let site = site();
    let tool = |program: &str, arguments: &str| {
        let output = Command::new(program)
            .args(arguments.split(' '))
            .current_dir(site.path())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{program} {arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    };
    let digest = run(site.path(), BOTH).ok().stdout.trim_end().to_owned();
    run(site.path(), &ONE.replace("--to image", "--to one")).ok();
    if runs(&["skopeo", "--version"]) {
        assert_eq!(
            sum(&tool("skopeo", "inspect --raw oci:image:v0.1.0")),
            digest
        );
        for architecture in ["amd64", "arm64"] {
            let arguments = format!("--override-arch {architecture} inspect oci:image:v0.1.0");
            let seen: Value = serde_json::from_slice(&tool("skopeo", &arguments)).unwrap();
            assert_eq!(
                (
                    &seen["Architecture"],
                    &seen["Labels"]["org.opencontainers.image.vendor"]
                ),
                (&architecture.into(), &"Example Inc.".into())
            );
        }
        tool(
            "skopeo",
            "--insecure-policy copy --all --preserve-digests oci:image:v0.1.0 oci:copied:v0.1.0",
        );
        assert_eq!(
            sum(&tool("skopeo", "inspect --raw oci:copied:v0.1.0")),
            digest
        );
        // The layout that skopeo writes is read.
        std::fs::write(site.path().join("metadata.yaml"), METADATA).unwrap();
        run(
            site.path(),
            "release build v0.1.0 --image-layout copied --to out",
        )
        .ok();
        assert!(
            std::fs::read_to_string(site.path().join("out/images.txt"))
                .unwrap()
                .ends_with(&format!("@{digest}\n"))
        );
    }
    if runs(&["umoci", "--version"]) {
        tool("umoci", "unpack --rootless --image one:v0.1.0 bundle");
        let unpacked = site.path().join("bundle/rootfs/manager");
        assert_eq!(std::fs::read(&unpacked).unwrap(), program(AMD64));
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        assert_eq!(Command::new(unpacked).status().unwrap().code(), Some(0));
        let config: Value =
            serde_json::from_slice(&std::fs::read(site.path().join("bundle/config.json")).unwrap())
                .unwrap();
        assert_eq!(config["process"]["args"], serde_json::json!(["/manager"]));
    }
}
