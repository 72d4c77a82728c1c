//! clusterctl's own commands, with the same arguments, files and environment on both sides.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{Job, Step};
use super::sources::{checkout, peer, shared};

const CLUSTERCTL: &str = "clusterctl-v1.14.2/clusterctl";
/// A template of 42 kB whose scripts hold many `$$`.
const SCRIPTS: &str = "corpus/kubernetes-sigs+cluster-api-provider-azure/templates/test/ci/cluster-template-prow-dalec-custom-builds.yaml";
/// So often it is 1.5 MB.
const TIMES: usize = 36;
const CORE: &str = "corpus/published/kubernetes-sigs+cluster-api@v1.12.0";

pub(super) fn start(windlass: &Path, folder: &Path) -> (Job, Job) {
    both(
        windlass,
        folder,
        ["windlass version", "clusterctl version"],
        &["version", "-o", "short"],
        &[],
    )
}

pub(super) fn generate_cluster(windlass: &Path, folder: &Path) -> (Job, Job) {
    let template = checkout()
        .join("templates/cluster-template.yaml")
        .display()
        .to_string();
    let arguments = [
        "generate",
        "cluster",
        "prod",
        "--from",
        &template,
        "--target-namespace",
        "default",
        "--kubernetes-version",
        "v1.34.2",
    ];
    both(
        windlass,
        folder,
        ["windlass generate cluster", "clusterctl generate cluster"],
        &arguments,
        &[],
    )
}

pub(super) fn generate_provider(windlass: &Path, folder: &Path) -> (Job, Job) {
    let release = folder.join("cluster-api/v1.12.0");
    std::fs::create_dir_all(&release).expect("the folder can be written");
    for file in ["core-components.yaml", "metadata.yaml"] {
        let bytes = std::fs::read(shared(CORE).join(file)).expect("the file can be read");
        std::fs::write(release.join(file), bytes).expect("the folder can be written");
    }
    let url = release.join("core-components.yaml").display().to_string();
    let config = folder.join("clusterctl.yaml");
    let providers = serde_json::json!({"providers": [{"name": "cluster-api", "type": "CoreProvider", "url": url}]});
    std::fs::write(&config, providers.to_string()).expect("the folder can be written");
    let config = config.display().to_string();
    let arguments = [
        "generate",
        "provider",
        "--core",
        "cluster-api:v1.12.0",
        "--config",
        &config,
    ];
    both(
        windlass,
        folder,
        ["windlass generate provider", "clusterctl generate provider"],
        &arguments,
        &[],
    )
}

pub(super) fn generate_yaml(windlass: &Path, folder: &Path) -> (Job, Job) {
    let template = folder.join("template.yaml");
    let one = std::fs::read_to_string(shared(SCRIPTS)).expect("the file can be read");
    std::fs::write(&template, vec![one; TIMES].join("\n---\n")).expect("the folder can be written");
    let template = template.display().to_string();
    let values: Vec<(String, String)> = required(windlass, &template)
        .into_iter()
        .map(|name| (name, "value".to_owned()))
        .collect();
    both(
        windlass,
        folder,
        ["windlass generate yaml", "clusterctl generate yaml"],
        &["generate", "yaml", "--from", &template],
        &values,
    )
}

/// The variables that a template cannot be without.
fn required(windlass: &Path, template: &str) -> Vec<String> {
    let output = Command::new(windlass)
        .args(["generate", "yaml", "--list-variables", "--from", template])
        .output();
    let listed =
        String::from_utf8(output.expect("windlass starts").stdout).expect("names are text");
    listed
        .lines()
        .filter_map(|line| line.strip_prefix("  - "))
        .filter(|line| !line.contains('('))
        .map(str::to_owned)
        .collect()
}

fn both(
    windlass: &Path,
    folder: &Path,
    titles: [&'static str; 2],
    arguments: &[&str],
    values: &[(String, String)],
) -> (Job, Job) {
    let quiet = [
        ("CLUSTERCTL_DISABLE_VERSIONCHECK", "true"),
        ("GOPROXY", "off"),
    ];
    let folders =
        ["HOME", "XDG_CONFIG_HOME"].map(|name| (name.to_owned(), folder.display().to_string()));
    let environment: Vec<(String, String)> = quiet
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into_iter()
        .chain(folders)
        .chain(values.iter().cloned())
        .collect();
    let job = |title: &'static str, program: PathBuf| {
        let arguments = arguments
            .iter()
            .map(|argument| (*argument).to_owned())
            .collect();
        let step = Step {
            program,
            arguments,
            folder: folder.to_path_buf(),
            environment: environment.clone(),
        };
        Job {
            title,
            steps: vec![step],
            made: None,
        }
    };
    (
        job(titles[0], windlass.to_path_buf()),
        job(titles[1], peer(CLUSTERCTL)),
    )
}
