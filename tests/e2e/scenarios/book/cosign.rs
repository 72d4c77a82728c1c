//! What cosign signs is laid in, and nothing else is; cosign takes what our scripts and the book
//! have it do.

use windlass_repository::signed::cosign_command;

use super::Site;
use super::console;
use crate::harness::process::Finished;
use crate::harness::runner::Context;
use crate::harness::{peers, shared};
use crate::scenarios::bring_your_own::copy_file;
use crate::scenarios::operator;

/// With cosign and skopeo: keys, bundles and registries, without a service of Sigstore's.
pub(crate) fn commands_with_cosign(context: &Context) {
    let site = Site::new(context, "book::commands_with_cosign");
    let (_registry, host) = operator::registry(context.folder());
    // skopeo asks for TLS and a policy unless it is told otherwise.
    let settings = site.folder.join(".config/containers");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(
        settings.join("registries.conf"),
        format!("[[registry]]\nlocation = \"{host}\"\ninsecure = true\n"),
    )
    .unwrap();
    std::fs::write(
        settings.join("policy.json"),
        "{\"default\": [{\"type\": \"insecureAcceptAnything\"}]}",
    )
    .unwrap();
    image(&site, &host);
    contents(&site);
    release(&site, &host);
    attested(&site);
    bundle(&site);
    cosign_knows_the_flags_of_what_needs_an_identity(&site);
    site.assert_done();
}

/// An image under the digest that `release image` printed.
fn image(site: &Site, host: &str) {
    // A static binary.
    copy_file(
        &peers::program(peers::REGISTRY),
        &site.folder.join("manager"),
    );
    let printed = site
        .script("windlass release image v0.2.0 --binary linux/amd64=manager --to image")
        .stdout;
    let digest = printed.trim().rsplit("sha256:").next().unwrap().to_owned();
    site.run("image.md", "skopeo copy --all", &[("ghcr.io", host)]);
    let pushed = site.script(&format!(
        "skopeo inspect --raw docker://{host}/example/harbour-manager:v0.2.0 | sha256sum"
    ));
    assert_eq!(pushed.stdout.split(' ').next(), Some(digest.as_str()));
}

/// The crates of the manager, as `dist/sbom` lists them.
fn contents(site: &Site) {
    let checkout = shared::checkout().canonicalize().unwrap();
    let home = std::env::var("CARGO_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")))
        .unwrap();
    let rustup = std::env::var("RUSTUP_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.rustup")))
        .unwrap();
    let list = format!(
        "{}/dist/sbom windlass-manager x86_64-unknown-linux-musl",
        checkout.display()
    );
    site.script(&format!(
        "cd {} && export CARGO_HOME={home} RUSTUP_HOME={rustup} && {list} > $HOME/contents.json",
        checkout.display()
    ));
    site.run(
        "provenance.md",
        "windlass release build v0.2.0 --sbom contents.json",
        &[],
    );
    let sbom = std::fs::read_to_string(site.folder.join("release/sbom.spdx.json")).unwrap();
    assert!(sbom.contains("\"pkg:cargo/kube@"));
    std::fs::remove_dir_all(site.folder.join("release")).unwrap();
}

/// Adds something to an empty repository.
fn add(site: &Site, words: &str) -> (Finished, bool) {
    let finished = site.try_script(
        "",
        &format!("rm -rf fresh && windlass repository add {words} --to fresh"),
    );
    let is_written = site.folder.join("fresh").exists();
    (finished, is_written)
}

/// It is rejected by these rules alone, and nothing is written.
fn assert_rejected(site: &Site, words: &str, rules: &[&str]) {
    let (
        Finished {
            code,
            stdout,
            stderr,
        },
        is_written,
    ) = add(site, words);
    let found: Vec<&str> = stderr
        .lines()
        .filter_map(|line| line.strip_prefix("error[")?.split(']').next())
        .collect();
    assert_eq!(
        (code, found, stdout.as_str(), is_written),
        (Some(1), rules.to_vec(), "", false),
        "{words}: {stderr}"
    );
}

/// Signed with a key, laid in from a folder and pulled out of a registry; with another key, or
/// another file, rejected.
fn release(site: &Site, host: &str) {
    site.script(
        "windlass release build v0.2.0 --provider builtin --to release && cp -r release unsigned",
    );
    site.run("provenance.md", "cosign generate-key-pair", &[]);
    site.script("cosign generate-key-pair --output-key-prefix other");
    site.script(&command_of_unverified(site, "release/SHA256SUMS"));
    let verify =
        "cosign verify-blob --insecure-ignore-tlog --bundle release/SHA256SUMS.sigstore.json --key";
    site.script(&format!(
        "windlass repository push release oci://{host}/example/manifests/bootstrap-x:v0.2.0"
    ));
    let said = site
        .run(
            "provenance.md",
            "windlass repository add release --to repository --key",
            &[("ghcr.io", host)],
        )
        .stderr;
    assert_eq!(said.matches("signed by cosign.pub").count(), 2, "{said}");

    assert_rejected(site, "unsigned --key cosign.pub", &["signature-missing"]);
    assert_rejected(site, "release --key other.pub", &["signature-wrong"]);
    site.script("cp -r release tampered && echo '# more' >> tampered/metadata.yaml");
    assert_rejected(
        site,
        "tampered --key cosign.pub",
        &["release-checksum-wrong", "signature-missing"],
    );
    site.script("cd tampered && sha256sum $(cut -c67- SHA256SUMS) > sums && mv sums SHA256SUMS");
    assert_rejected(site, "tampered --key cosign.pub", &["signature-wrong"]);
    let others = site.try_script("", &format!("{verify} cosign.pub tampered/SHA256SUMS"));
    assert!(others.code != Some(0), "cosign takes it: {}", others.stderr);
    site.script(&format!(
        "windlass repository push tampered oci://{host}/example/tampered:v0.2.0 --force"
    ));
    let pulled =
        site.try_script("", &format!("windlass repository pull oci://{host}/example/tampered:v0.2.0 --to pulled --key cosign.pub"));
    assert!(
        pulled.code == Some(1) && pulled.stderr.contains("error[signature-wrong]"),
        "{}",
        pulled.stderr
    );
    assert!(!site.folder.join("pulled").exists());
}

/// The command that a program without the feature `signatures` prints about a signed file.
fn command_of_unverified(site: &Site, file: &str) -> String {
    let signature = std::fs::read(site.folder.join(format!("{file}.sigstore.json"))).unwrap();
    cosign_command(file, &signature, None)
}

/// A signed statement about the list of checksums is as good as its signature.
fn attested(site: &Site) {
    site.script(
        "windlass release build v0.2.0 --provider builtin --to provenance/release --provenance provenance/statement.json \
         --builder-id https://github.com/owner/repository/.github/workflows/release.yml \
         --source git+https://github.com/owner/repository@refs/tags/v0.2.0 --source-commit 0123456789abcdef0123456789abcdef01234567",
    );
    site.run("provenance.md", "cosign attest-blob --key", &[]);
    site.script(&command_of_unverified(
        site,
        "provenance/release/SHA256SUMS",
    ));
    let (added, _) = add(site, "provenance/release --key cosign.pub");
    added.assert_success("repository add provenance/release --key cosign.pub");
    assert_rejected(
        site,
        "provenance/release --key other.pub",
        &["signature-wrong"],
    );
    site.script(
        "cp -r unsigned provenance/other && rm provenance/other/install.yaml && cd provenance/other && sed -i '/install.yaml/d' SHA256SUMS",
    );
    site.script("cp provenance/release/SHA256SUMS.sigstore.json provenance/other");
    assert_rejected(
        site,
        "provenance/other --key cosign.pub",
        &["signature-wrong"],
    );
}

/// What somebody downloaded, packed and signed for the other site.
fn bundle(site: &Site) {
    downloads(site);
    site.script("windlass repository add unsigned --to air-gap/repository");
    let said = site
        .run(
            "air-gap.md",
            "windlass repository add cluster-api-v1.14.2/",
            &[],
        )
        .stderr;
    assert!(!said.contains("fetching from"), "{said}");
    site.run("air-gap.md", "cosign sign-blob --key cosign.key", &[]);
    site.run(
        "air-gap.md",
        "windlass repository add air-gap/bundle.tar --to air-gap/signed",
        &[],
    );
    assert!(
        site.folder
            .join("air-gap/signed/cluster-api/v1.14.2/core-components.yaml")
            .is_file()
    );
    assert_rejected(
        site,
        "air-gap/bundle.tar --key other.pub",
        &["signature-wrong"],
    );
    site.script("printf '\\n' >> air-gap/bundle.tar");
    assert_rejected(
        site,
        "air-gap/bundle.tar --key cosign.pub",
        &["signature-wrong"],
    );
    site.run(
        "repository.md",
        "windlass repository add cluster-api-v1.14.2/",
        &[],
    );
}

/// The files of a release of Cluster API and of cert-manager, which say their versions as those
/// that are published do.
fn downloads(site: &Site) {
    let folder = site.folder.join("cluster-api-v1.14.2");
    std::fs::create_dir_all(&folder).unwrap();
    for file in shared::yaml_files(&shared::cluster_api("v1.14.0")) {
        let text = std::fs::read_to_string(&file).unwrap();
        // Those of the corpus were built from the branch.
        let published = text
            .replace("-controller:main\n", "-controller:v1.14.2\n")
            .replace("-manager:main\n", "-manager:v1.14.2\n");
        std::fs::write(folder.join(file.file_name().unwrap()), published).unwrap();
    }
    let manifest = super::CERT_MANAGER.replace(
        "metadata: {name",
        "metadata: {labels: {app.kubernetes.io/version: v1.21.1}, name",
    );
    std::fs::write(site.folder.join("cert-manager.yaml"), manifest).unwrap();
}

/// What only an identity can sign, or Sigstore's services verify: cosign reads the flags of each
/// command before it comes to `--help`.
fn cosign_knows_the_flags_of_what_needs_an_identity(site: &Site) {
    assert_ne!(
        site.try_script("", "cosign sign-blob --nope --help").code,
        Some(0)
    );
    let read = |file: &str| std::fs::read_to_string(shared::checkout().join(file)).unwrap();
    let sign = read("dist/sign");
    assert!(
        sign.contains("cosign/v3/cmd/cosign@v3.1.3") && peers::COSIGN.starts_with("cosign-v3.1.3/"),
        "one version signs and is tried"
    );
    let notes = read("dist/notes")
        .replace("\\\\\n", " ")
        .replace("\\$", "$");
    let page = read("docs/book/src/provenance.md");
    let blocks = console::blocks(&page, "console").concat();
    let signs = sign
        .lines()
        .filter(|line| line.contains("cosign\" sign-blob"))
        .map(|line| line.replace("\"$tools/cosign\"", "cosign"));
    let verifies = notes
        .lines()
        .filter(|line| line.starts_with("cosign "))
        .map(str::to_owned);
    let shown = blocks
        .lines()
        .filter(|line| line.starts_with("cosign ") && !line.ends_with('\\'))
        .map(str::to_owned);
    let commands: Vec<String> = signs.chain(verifies).chain(shown).collect();
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands.iter().map(String::as_str).chain([
        "cosign trusted-root create",
        "cosign initialize",
        "cosign verify",
    ]) {
        site.script(&format!("sums=x identity=x; {command} --help"));
    }
}
