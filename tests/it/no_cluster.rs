//! Where clusterctl would ask the management cluster: rejected with what to do instead, and nothing
//! is asked.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;

use crate::support::windlass;

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";
const TOPOLOGY: &str = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\nspec: {topology: {classRef: {name: k}, version: v1.34.0}}\n";
const CLASS: &str =
    "apiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: {name: k}\n";

/// A repository, and a kubeconfig whose server would notice a question.
struct Site {
    folder: tempfile::TempDir,
    server: TcpListener,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        server.set_nonblocking(true).unwrap();
        let root = folder.path();
        let release = root.join("infrastructure-foo/v0.1.0");
        fs::create_dir_all(&release).unwrap();
        for (name, text) in [
            ("metadata.yaml", METADATA),
            ("cluster-template.yaml", TOPOLOGY),
            ("clusterclass-k.yaml", CLASS),
        ] {
            fs::write(release.join(name), text).unwrap();
        }
        let url = format!(
            "{}/infrastructure-foo/latest/infrastructure-components.yaml",
            root.display()
        );
        let config =
            format!("providers:\n- {{name: foo, type: InfrastructureProvider, url: {url}}}\n");
        fs::write(root.join("clusterctl.yaml"), config).unwrap();
        let port = server.local_addr().unwrap().port();
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters:\n- name: x\n  cluster: {{server: \"http://127.0.0.1:{port}\"}}\n\
             contexts:\n- name: x\n  context: {{cluster: x, user: x, namespace: team}}\nusers:\n- name: x\n  user: {{}}\n"
        );
        fs::write(root.join("kubeconfig"), kubeconfig).unwrap();
        Site { folder, server }
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Exit code, standard output and standard error of `generate cluster c`.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = windlass(self.root());
        command
            .args(["generate", "cluster", "c", "--config", "clusterctl.yaml"])
            .args(arguments);
        let output = command
            .env("KUBECONFIG", self.root().join("kubeconfig"))
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    /// The command ends with 1 and says what to do; the server was not asked.
    fn check_rejected(&self, arguments: &[&str], message: &str, instead: &str) {
        let (code, stdout, stderr) = self.run(arguments);
        assert_eq!((code, stdout.as_str()), (1, ""), "{arguments:?}: {stderr}");
        let (said, note) = stderr
            .split_once("\nnote: ")
            .unwrap_or_else(|| panic!("{arguments:?}: no note in {stderr}"));
        assert!(
            said.starts_with(&format!("Error: {message}")),
            "{arguments:?}: {said}"
        );
        assert!(
            said.ends_with(": this program does not contact a cluster"),
            "{arguments:?}: {said}"
        );
        assert!(note.contains(instead), "{arguments:?}: {note}");
        let asked = self.server.accept().map_err(|error| error.kind());
        assert!(
            matches!(asked, Err(ErrorKind::WouldBlock)),
            "{arguments:?}: the server was asked"
        );
    }
}

#[test]
fn what_only_a_cluster_knows_is_rejected_with_what_to_do_instead() {
    let site = Site::new();
    let foo = ["-n", "d", "-i", "foo:v0.1.0"];
    site.check_rejected(
        &foo,
        "failed to check if the cluster is initialized",
        "KUBECONFIG=/dev/null",
    );
    let unversioned = "management cluster not available. Cannot auto-discover version for the provider \"foo\" automatically.";
    site.check_rejected(
        &["-n", "d", "-i", "foo"],
        unversioned,
        "--infrastructure foo:VERSION",
    );
    let unnamed =
        "management cluster not available. Cannot auto-discover default infrastructure provider.";
    site.check_rejected(&["-n", "d"], unnamed, "--infrastructure NAME:VERSION");
    let kubeconfig = site.root().join("kubeconfig");
    let explicit = ["--kubeconfig", kubeconfig.to_str().unwrap()];
    site.check_rejected(
        &[&foo[..], &explicit].concat(),
        "failed to check Cluster API version",
        "leave `--kubeconfig` out",
    );
    site.check_rejected(
        &["-n", "d", "--from-config-map", "t"],
        "error reading ConfigMap team/t",
        "kubectl get configmap -n team t",
    );
}

#[test]
fn the_way_that_a_note_shows_works() {
    let site = Site::new();
    let mut command = windlass(site.root());
    command.args([
        "generate",
        "cluster",
        "c",
        "--config",
        "clusterctl.yaml",
        "-n",
        "d",
        "-i",
        "foo:v0.1.0",
    ]);
    let output = command.env("KUBECONFIG", "/dev/null").output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success()
            && stdout.contains("kind: ClusterClass")
            && stdout.contains("kind: Cluster\n"),
        "{stdout}"
    );
}
