//! What machines boot from, when the kubeadm providers go on from what the topology controller
//! made. The infrastructure is said to be there, and the API server is the workload cluster of all.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use windlass_topology::RANDOM;

use super::comparison::is_name;
use super::inputs::Input;
use super::{CORE, is_of_topology, text};
use crate::harness::control_plane::ControlPlane;
use crate::harness::{wait, windlass};

const LONG: Duration = Duration::from_secs(180);
const BOOTSTRAP: &str = "bootstrap.cluster.x-k8s.io/v1beta2";

/// The machines of some Clusters come to their data: that of each first machine, and then those of
/// the workers. Each is, byte for byte, what `windlass render --all` makes of the files, given the
/// Secrets and the machine's token. Gives the role of each.
///
/// The second machine of a control plane is not among them: nothing here runs the first one, and
/// its provider waits for it. Nor is a machine of a pool: no class of the corpus has one.
pub(super) fn are_what_is_rendered(
    plane: &ControlPlane,
    folder: &Path,
    release: &str,
    inputs: &[&Input],
) -> Vec<&'static str> {
    let sites: Vec<Site<'_>> = inputs
        .iter()
        .filter_map(|input| Site::of(plane, release, input))
        .collect();
    sites.iter().for_each(Site::provide_secrets);
    sites.iter().for_each(Site::provide_infrastructure);
    sites
        .iter()
        .for_each(|site| site.expect("the first machine", Site::first));
    // What `kubeadm init` leaves behind.
    let left = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kubeadm-config", "namespace": "kube-system"},
        "data": {"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"},
    });
    plane.api.apply(&left).unwrap();
    sites
        .iter()
        .for_each(|site| site.expect("the workers", Site::workers));
    sites.iter().flat_map(|site| site.compare(folder)).collect()
}

/// A Cluster whose control plane is kubeadm's.
struct Site<'a> {
    plane: &'a ControlPlane,
    /// The release of Cluster API whose kubeadm providers run.
    release: &'a str,
    input: &'a Input,
    cluster: Value,
}

impl<'a> Site<'a> {
    fn of(plane: &'a ControlPlane, release: &'a str, input: &'a Input) -> Option<Site<'a>> {
        let own = input
            .objects
            .iter()
            .find(|object| object["kind"] == "Cluster")
            .expect("each input has a Cluster");
        let cluster = plane
            .api
            .get(
                CORE,
                "Cluster",
                Some(&input.namespace),
                text(&own["metadata"]["name"]),
            )
            .unwrap();
        (cluster["spec"]["controlPlaneRef"]["kind"] == "KubeadmControlPlane").then_some(Site {
            plane,
            release,
            input,
            cluster,
        })
    }

    fn list(&self, api_version: &str, kind: &str) -> Vec<Value> {
        self.plane
            .api
            .list(api_version, kind, Some(&self.input.namespace))
    }

    /// The Secrets that files are read from.
    fn provide_secrets(&self) {
        for (name, key) in self.references() {
            let content = STANDARD.encode(format!("{key} of {name}\n"));
            let secret = json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": self.input.namespace}, "data": {key: content},
            });
            self.plane.api.apply(&secret).unwrap();
        }
    }

    /// The Secrets of files and their keys, in what the topology controller made.
    fn references(&self) -> BTreeSet<(String, String)> {
        let control_planes = self.list(
            "controlplane.cluster.x-k8s.io/v1beta2",
            "KubeadmControlPlane",
        );
        let of_control_planes = control_planes
            .iter()
            .map(|object| &object["spec"]["kubeadmConfigSpec"]);
        let templates = self.list(BOOTSTRAP, "KubeadmConfigTemplate");
        let of_workers = templates
            .iter()
            .filter(|template| is_of_topology(template))
            .map(|object| &object["spec"]["template"]["spec"]);
        let specs = of_control_planes.chain(of_workers);
        let files = specs.flat_map(|spec| spec["files"].as_array().into_iter().flatten());
        let secrets = files
            .map(|file| &file["contentFrom"]["secret"])
            .filter(|secret| secret.is_object());
        secrets
            .map(|secret| {
                (
                    text(&secret["name"]).to_owned(),
                    text(&secret["key"]).to_owned(),
                )
            })
            .collect()
    }

    /// Says that there is an infrastructure, whose API server is the one that is there and signs
    /// with its authority.
    fn provide_infrastructure(&self) {
        let certificates = &self.plane.certificates;
        let name = text(&self.cluster["metadata"]["name"]);
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
            "metadata": {
                "name": format!("{name}-ca"), "namespace": self.input.namespace, "labels": {"cluster.x-k8s.io/cluster-name": name},
            },
            "data": {"tls.crt": STANDARD.encode(&certificates.authority), "tls.key": STANDARD.encode(certificates.authority_key())},
        });
        self.plane.api.create(&secret).unwrap();
        let (host, port) = self
            .plane
            .url
            .trim_start_matches("https://")
            .split_once(':')
            .expect("the URL has a port");
        let port: u16 = port.parse().expect("the URL ends with the port");
        let endpoint = json!({"spec": {"controlPlaneEndpoint": {"host": host, "port": port}}});
        self.plane
            .api
            .merge(&self.cluster, &endpoint)
            .unwrap_or_else(|rejection| panic!("{}: {rejection}", self.input.name));
        let infrastructure = &self.cluster["spec"]["infrastructureRef"];
        let kind = text(&infrastructure["kind"]);
        let template = self
            .input
            .objects
            .iter()
            .find(|object| text(&object["kind"]).strip_suffix("Template") == Some(kind));
        let api_version = text(&template.expect("the class has a template of it")["apiVersion"]);
        let found = self
            .plane
            .api
            .get(
                api_version,
                kind,
                Some(&self.input.namespace),
                text(&infrastructure["name"]),
            )
            .unwrap();
        let ready = json!({"ready": true, "initialization": {"provisioned": true}});
        self.plane
            .api
            .merge_status(&found, &ready)
            .unwrap_or_else(|rejection| panic!("{}: {rejection}", self.input.name));
        // MachineSets wait until a control plane runs that is not there.
        let at_once = json!({"metadata": {"annotations": {"machineset.cluster.x-k8s.io/skip-preflight-checks": "All"}}});
        for deployment in self.list(CORE, "MachineDeployment") {
            self.plane.api.merge(&deployment, &at_once).unwrap();
        }
    }

    /// Waits until some machines have their data.
    fn expect(&self, who: &str, missing: fn(&Self) -> Result<(), String>) {
        wait::until(
            &format!("{}: the data of {who}", self.input.name),
            LONG,
            || {
                self.plane.assert_running();
                missing(self)
            },
        );
    }

    /// The first machine has its data; why not.
    fn first(&self) -> Result<(), String> {
        let configs = self.list(BOOTSTRAP, "KubeadmConfig");
        let first = configs
            .iter()
            .find(|config| is_of_control_plane(config))
            .ok_or("there is no config of the control plane")?;
        if has_data(first) {
            Ok(())
        } else {
            Err(first["status"].to_string())
        }
    }

    /// All workers have their data; why not.
    fn workers(&self) -> Result<(), String> {
        let configs: Vec<Value> = self
            .list(BOOTSTRAP, "KubeadmConfig")
            .into_iter()
            .filter(|config| !is_of_control_plane(config))
            .collect();
        let is_of_kubeadm = |group: &&Value| {
            group["spec"]["template"]["spec"]["bootstrap"]["configRef"]["kind"]
                == "KubeadmConfigTemplate"
        };
        let replicas = |deployment: &Value| {
            usize::try_from(deployment["spec"]["replicas"].as_u64().unwrap_or(1)).unwrap()
        };
        let expected: usize = self
            .list(CORE, "MachineDeployment")
            .iter()
            .filter(is_of_kubeadm)
            .map(replicas)
            .sum();
        match configs.iter().find(|config| !has_data(config)) {
            Some(open) => Err(format!("{}: {}", open["metadata"]["name"], open["status"])),
            None if configs.len() < expected => {
                Err(format!("{} of {expected} are there", configs.len()))
            }
            None => Ok(()),
        }
    }

    /// The roles of the machines, each of which boots from what is rendered for it.
    fn compare(&self, folder: &Path) -> Vec<&'static str> {
        let file = self.file(folder);
        let configs = self.list(BOOTSTRAP, "KubeadmConfig");
        configs
            .iter()
            .map(|config| self.compare_one(folder, &file, config))
            .collect()
    }

    /// The user's files, with the Cluster as it is now, and the Secrets: those named after
    /// something that was drawn by its planned name.
    fn file(&self, folder: &Path) -> PathBuf {
        let own = self
            .input
            .objects
            .iter()
            .filter(|object| object["kind"] != "Cluster")
            .cloned();
        let mut secrets = self.list("v1", "Secret");
        for drawn in self.drawn_names() {
            let kept = drawn
                .len()
                .checked_sub(RANDOM.len())
                .expect("what is made has a name");
            let planned = format!("{}{RANDOM}", &drawn[..kept]);
            for secret in &mut secrets {
                secret["metadata"]["name"] = text(&secret["metadata"]["name"])
                    .replace(&drawn, &planned)
                    .into();
            }
        }
        let items: Vec<Value> = own
            .chain(self.input.definitions.clone())
            .chain(self.list(CORE, "Cluster"))
            .chain(secrets)
            .collect();
        let file = folder.join(format!("{}.json", self.input.namespace));
        std::fs::write(
            &file,
            json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string(),
        )
        .unwrap();
        file
    }

    /// The kind and the name of what a config was made from.
    fn source<'c>(&'c self, config: &'c Value) -> (&'c str, &'c str) {
        if is_of_control_plane(config) {
            return (
                "KubeadmControlPlane",
                text(&self.cluster["spec"]["controlPlaneRef"]["name"]),
            );
        }
        (
            "KubeadmConfigTemplate",
            text(&config["metadata"]["annotations"]["cluster.x-k8s.io/cloned-from-name"]),
        )
    }

    /// The names that end in drawn characters: of infrastructure, control plane, the groups of
    /// workers, and their templates.
    fn drawn_names(&self) -> BTreeSet<String> {
        let groups = self.list(CORE, "MachineDeployment");
        let of_group = |group: &Value| {
            let spec = &group["spec"]["template"]["spec"];
            [
                &group["metadata"],
                &spec["infrastructureRef"],
                &spec["bootstrap"]["configRef"],
            ]
            .map(|named| text(&named["name"]).to_owned())
        };
        let control_planes = self.list(
            "controlplane.cluster.x-k8s.io/v1beta2",
            "KubeadmControlPlane",
        );
        let machines = control_planes
            .iter()
            .map(|object| &object["spec"]["machineTemplate"]["spec"]["infrastructureRef"]);
        let of_cluster =
            ["infrastructureRef", "controlPlaneRef"].map(|field| &self.cluster["spec"][field]);
        let others = machines
            .chain(of_cluster)
            .map(|named| text(&named["name"]).to_owned());
        groups.iter().flat_map(of_group).chain(others).collect()
    }

    fn compare_one(&self, folder: &Path, file: &Path, config: &Value) -> &'static str {
        let secret = text(&config["status"]["dataSecretName"]);
        let secret = self
            .plane
            .api
            .get("v1", "Secret", Some(&self.input.namespace), secret)
            .unwrap();
        let stored =
            String::from_utf8(STANDARD.decode(text(&secret["data"]["value"])).unwrap()).unwrap();
        let role = role(config);
        let file = file.display().to_string();
        let mut arguments = vec![
            "render",
            &file,
            "--all",
            "-o",
            "json",
            "--show-secrets",
            "-q",
            "--capi-version",
            self.release,
        ];
        arguments.extend(["--feature-gates", "KubeadmBootstrapFormatIgnition=true"]);
        let token =
            config["spec"]["joinConfiguration"]["discovery"]["bootstrapToken"]["token"].as_str();
        arguments.extend(token.iter().flat_map(|token| ["--token", *token]));
        let printed: Value =
            serde_json::from_str(&windlass::run(folder, &arguments).stdout).unwrap();
        let source = self.source(config);
        let rendered: Vec<&str> = printed["machines"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|machine| {
                machine["role"] == role && is_planned_as(text(&machine["object"]), &source)
            })
            .map(|machine| text(&machine["data"]))
            .collect();
        let [rendered] = rendered[..] else {
            panic!(
                "{}: {} of {source:?} in {}",
                self.input.name,
                rendered.len(),
                printed["machines"]
            )
        };
        assert!(
            rendered == stored,
            "{}: {source:?} boots from\n{stored}\nand render makes\n{rendered}",
            self.input.name
        );
        role
    }
}

/// Whether a planned object, `Kind/name`, is that of a kind and a name with drawn characters.
fn is_planned_as(planned: &str, (kind, name): &(&str, &str)) -> bool {
    planned
        .split_once('/')
        .is_some_and(|(planned_kind, planned)| planned_kind == *kind && is_name(planned, name))
}

fn is_of_control_plane(config: &Value) -> bool {
    config["metadata"]["labels"]
        .get("cluster.x-k8s.io/control-plane")
        .is_some()
}

fn role(config: &Value) -> &'static str {
    if is_of_control_plane(config) {
        "init"
    } else {
        "worker-join"
    }
}

fn has_data(config: &Value) -> bool {
    config["status"]["dataSecretName"].is_string()
}
