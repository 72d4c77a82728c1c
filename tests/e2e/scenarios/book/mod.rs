//! The commands of book and README that need other programs, run as they stand:
//! `docs/book-commands.tsv` says which.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bring_your_own::{K3S, copy, copy_file};
use crate::harness::clusterctl::{CERT_MANAGER, CERT_MANAGER_VERSION};
use crate::harness::control_plane::ControlPlane;
use crate::harness::process::{Finished, Start};
use crate::harness::runner::Context;
use crate::harness::{installation, managers, peers, shared, wait, windlass, windlass_manager};

#[path = "../../../it/docs/console.rs"]
mod console;
mod cosign;

pub(crate) use cosign::commands_with_cosign;

const LIMIT: Duration = Duration::from_secs(360);
const SOON: Duration = Duration::from_secs(60);

/// A machine on which somebody types what the book says: a copy of the checkout, and the programs.
struct Site {
    folder: PathBuf,
    environment: BTreeMap<&'static str, String>,
    /// What is still to be run.
    left: RefCell<Vec<console::Row>>,
}

impl Site {
    /// The machine of a scenario.
    fn new(context: &Context, scenario: &str) -> Site {
        let folder = context.folder().join("machine");
        for name in ["releases", "examples", "templates", "bin"] {
            std::fs::create_dir_all(folder.join(name)).unwrap();
            if name != "bin" {
                copy(&shared::checkout().join(name), &folder.join(name));
            }
        }
        for name in ["provider.yaml", "metadata.yaml"] {
            copy_file(&shared::checkout().join(name), &folder.join(name));
        }
        let programs = [
            peers::CLUSTERCTL,
            peers::COSIGN,
            peers::KUBECTL,
            peers::KUSTOMIZE,
        ]
        .map(peers::program);
        for program in programs
            .iter()
            .map(PathBuf::as_path)
            .chain([windlass::program()])
        {
            symlink(
                program,
                folder.join("bin").join(program.file_name().unwrap()),
            )
            .unwrap();
        }
        let path = std::env::var("PATH").expect("there is a search path");
        let environment = BTreeMap::from([
            ("PATH", format!("{}:{path}", folder.join("bin").display())),
            (
                "XDG_CONFIG_HOME",
                folder.join("config").display().to_string(),
            ),
            ("CLUSTERCTL_DISABLE_VERSIONCHECK", "true".to_owned()),
            // What a release says itself is not fetched.
            ("GOPROXY", "off".to_owned()),
            ("CLUSTER_TOPOLOGY", "true".to_owned()),
            ("COSIGN_PASSWORD", String::new()),
        ]);
        let table = std::fs::read_to_string(shared::checkout().join(console::TABLE))
            .expect("the table is in the checkout");
        let left = console::rows(&table)
            .into_iter()
            .filter(|row| row.scenario.as_deref() == Some(scenario))
            .collect();
        Site {
            folder,
            environment,
            left: RefCell::new(left),
        }
    }

    /// Runs a script in a folder of the machine.
    fn try_script(&self, folder: &str, script: &str) -> Finished {
        let folder = self.folder.join(folder);
        let environment = self
            .environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        let arguments = ["-euc", script].map(str::to_owned).to_vec();
        Start {
            name: "commands",
            program: Path::new("/bin/sh"),
            arguments,
            environment,
            folder: &folder,
        }
        .finish(LIMIT)
    }

    /// Runs a script that has to end well.
    fn script(&self, script: &str) -> Finished {
        let finished = self.try_script("", script);
        finished.assert_success(script);
        finished
    }

    /// Runs a block of a page as it stands, in a folder of the machine.
    fn run_in(&self, folder: &str, page: &str, first: &str, replaced: &[(&str, &str)]) -> Finished {
        let at = self
            .left
            .borrow()
            .iter()
            .position(|row| row.page == page && row.first == first);
        let row = self
            .left
            .borrow_mut()
            .remove(at.unwrap_or_else(|| panic!("no row of this scenario: {page}, {first}")));
        assert_eq!(
            replaced.is_empty(),
            row.remark.is_empty(),
            "the remark says what is replaced: {row:?}"
        );
        let file = if page == "README.md" {
            page.to_owned()
        } else {
            format!("docs/book/src/{page}")
        };
        let text = std::fs::read_to_string(shared::checkout().join(file))
            .expect("the page is in the checkout");
        let [block] = &console::meant(&row, &text)[..] else {
            panic!("{row:?} does not mean one block")
        };
        let script = replaced
            .iter()
            .fold(block.clone(), |script, (from, to)| script.replace(from, to));
        let finished = self.try_script(folder, &script);
        finished.assert_success(&format!("{page}:\n{script}"));
        finished
    }

    /// The same in the copy of the checkout.
    fn run(&self, page: &str, first: &str, replaced: &[(&str, &str)]) -> Finished {
        self.run_in("", page, first, replaced)
    }

    /// Lays Cluster API and what stands for cert-manager into a repository, from where clusterctl
    /// would fetch them otherwise.
    fn add_cluster_api(&self, repository: &str, base: &str) {
        let release = installation::CLUSTER_API;
        let cluster_api = shared::cluster_api(release);
        std::fs::write(self.folder.join("cert-manager.yaml"), CERT_MANAGER).unwrap();
        let add = format!("--to {repository}{base}");
        self.script(&format!(
            "windlass repository add {} --release {release} {add}",
            cluster_api.display()
        ));
        self.script(&format!(
            "windlass repository add cert-manager.yaml --release {CERT_MANAGER_VERSION} {add}"
        ));
    }

    fn assert_done(&self) {
        assert!(
            self.left.borrow().is_empty(),
            "nobody ran these: {:?}",
            self.left.borrow()
        );
    }
}

/// With clusterctl, kubectl, kustomize and git, on management clusters.
pub(crate) fn commands_with_the_real_programs(context: &Context) {
    let mut site = Site::new(context, "book::commands_with_the_real_programs");
    without_a_cluster(&site);
    site.add_cluster_api("releases", " --base '${WINDLASS_REPOSITORY}'");
    site.add_cluster_api("repository", "");
    // Each is initialised once.
    for (name, page, first) in [
        ("repository", "repository.md", "export WINDLASS_REPOSITORY"),
        (
            "readme",
            "README.md",
            "windlass release build v0.2.0 --provider builtin",
        ),
    ] {
        let plane = on(&mut site, context, name);
        site.run(page, first, &[]);
        assert_installed(&plane);
    }
    let plane = on(&mut site, context, "manager");
    site.run(
        "manager.md",
        "windlass release build v0.2.0 --provider builtin",
        &[],
    );
    assert_installed(&plane);
    // The command does not wait for what it has installed, and those who type do.
    site.script("kubectl wait --for=condition=Established crd --all --timeout=5m");
    site.script(
        "kubectl wait --for=condition=Available deployment --all --all-namespaces --timeout=5m",
    );
    clusters(&site, &plane);
    site.assert_done();
}

/// Another management cluster, which kubectl and clusterctl use from now on.
fn on(site: &mut Site, context: &Context, name: &str) -> ControlPlane {
    let plane = context.another_control_plane(name);
    site.environment
        .insert("KUBECONFIG", plane.kubeconfig.display().to_string());
    plane
}

/// The inventory is that of `clusterctl init`.
fn assert_installed(plane: &ControlPlane) {
    let inventory = plane
        .api
        .list("clusterctl.cluster.x-k8s.io/v1alpha3", "Provider", None);
    let mut installed: Vec<&str> = inventory
        .iter()
        .filter_map(|provider| provider["metadata"]["name"].as_str())
        .collect();
    installed.sort_unstable();
    let expected = [
        "bootstrap-kubeadm",
        windlass::LABEL,
        "cluster-api",
        "control-plane-kubeadm",
        "infrastructure-docker",
    ];
    assert_eq!(installed, expected);
}

fn without_a_cluster(site: &Site) {
    let built = site.folder.join("kustomize/config/default");
    std::fs::create_dir_all(&built).unwrap();
    copy_file(
        &shared::path("corpus/rendered/k3s-io+cluster-api-k3s/bootstrap-components.yaml"),
        &built.join("components.yaml"),
    );
    std::fs::write(
        built.join("kustomization.yaml"),
        "resources: [components.yaml]\n",
    )
    .unwrap();
    copy_file(
        &shared::path("corpus/k3s-io+cluster-api-k3s/metadata.yaml"),
        &site.folder.join("kustomize/metadata.yaml"),
    );
    std::fs::write(
        site.folder.join("kustomize/provider.yaml"),
        K3S.replace("built.yaml", "'-'"),
    )
    .unwrap();
    site.run_in(
        "kustomize",
        "provider-yaml.md",
        "kustomize build config/default",
        &[],
    );
    assert!(
        site.folder
            .join("kustomize/out/bootstrap-components.yaml")
            .is_file()
    );

    site.script(
        "mkdir history && cd history && git init -q . && git config user.name x && git config user.email x@example.com\n\
         cp ../examples/control-plane.yaml cluster.yaml && git add . && git commit -q -m one\n\
         echo '# a remark' >> cluster.yaml && git commit -q -a -m two",
    );
    site.run_in("history", "diff.md", "git show HEAD~1:cluster.yaml", &[]);
}

/// What is done with a management cluster. Our manager takes the kubeadm provider's place, which is
/// not there.
fn clusters(site: &Site, plane: &ControlPlane) {
    managers::start(
        plane,
        installation::CLUSTER_API,
        &[
            managers::CORE,
            managers::KUBEADM_CONTROL_PLANE,
            managers::DOCKER,
        ],
    );
    // It asks for the rights as soon as it starts.
    site.script("kubectl apply -f examples/kubeadm-configs/rbac.yaml");
    let arguments = ["--leader-elect", "--kinds=WindlassConfig,KubeadmConfig"];
    plane.adopt(windlass_manager::start(plane, "windlass-manager", &arguments).process);
    site.run(
        "kubeadm-configs.md",
        "kubectl apply -f examples/kubeadm-configs/rbac.yaml",
        &[],
    );
    let deployment = plane
        .api
        .get(
            "apps/v1",
            "Deployment",
            Some(windlass::NAMESPACE),
            "windlass-controller-manager",
        )
        .unwrap();
    let arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        .as_array()
        .unwrap();
    assert!(
        arguments.contains(&"--kinds=WindlassConfig,KubeadmConfig".into()),
        "{arguments:?}"
    );

    site.run("manager.md", "clusterctl generate cluster prod", &[]);
    site.run(
        "bootstrap-provider.md",
        "cd releases/bootstrap-windlass/v0.2.0",
        &[],
    );
    for name in ["prod", "staging"] {
        plane
            .api
            .get("cluster.x-k8s.io/v1beta2", "Cluster", Some("default"), name)
            .unwrap();
    }
    wait::until("the class to make a control plane", SOON, || {
        let made = plane.api.list(
            "controlplane.cluster.x-k8s.io/v1beta2",
            "KubeadmControlPlane",
            Some("default"),
        );
        let is_of = |name: &str| {
            made.iter()
                .any(|made| made["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"] == name)
        };
        if is_of("prod") && is_of("staging") {
            Ok(())
        } else {
            Err(format!("{} of them", made.len()))
        }
    });

    site.script(
        "kubectl create secret generic prod-data --from-file=value=examples/user-data.txt\n\
         cp examples/user-data.txt examples/cloud-init-output.log .",
    );
    let read = site.run(
        "node.md",
        "kubectl get secret NAME",
        &[("NAME", "prod-data")],
    );
    assert!(
        read.stdout.matches("kubeadm join").count() >= 2,
        "{}",
        read.stdout
    );
}
