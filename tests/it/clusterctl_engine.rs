//! clusterctl's offline commands on a small repository in memory. What is expected was observed of
//! clusterctl.

use std::collections::BTreeMap;

use windlass_capi::contract::ProviderType;
use windlass_clusterctl::{
    ClusterOptions, ClusterSource, ComponentsOptions, Config, Log, Rejection, TemplateSource, World,
};
use windlass_clusterctl::{
    generate_cluster, generate_provider, generate_yaml, list_names, providers_table,
};
use windlass_source::budget::Budget;
use windlass_source::tree::Tree;

const CONFIGURATION: &str = "providers:\n- name: foo\n  url: /repo/infrastructure-foo/${TRACK:=latest}/infrastructure-components.yaml\n  type: \
                             InfrastructureProvider\nimages:\n  all: {repository: mirror.io/capi}\nSIZE: 0x10\n";

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 2, contract: \
                        v1beta2}\n- {major: 0, minor: 1, contract: v1alpha4}\n";

const COMPONENTS: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: foo-system}
spec:
  replicas: ${REPLICAS:=1}
  template:
    spec:
      containers:
      - {name: manager, image: 'ghcr.io/foo/manager:v0.2.0', args: ['--size=${SIZE}'], unknown: dropped}
---
apiVersion: v1
kind: Namespace
metadata: {name: foo-system}
";

const TEMPLATE: &str = "\
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: '${CLUSTER_NAME}'}
spec: {topology: {classRef: {name: quick}, version: '${KUBERNETES_VERSION}'}}
";

const CLASS: &str = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: {name: quick}\nspec: {flag: '${FLAG:=off}'}\n";

fn tree(more: &[(&str, &str)]) -> Tree {
    let folder = "repo/infrastructure-foo/v0.2.0";
    let files = [
        ("clusterctl.yaml".to_owned(), CONFIGURATION),
        (format!("{folder}/metadata.yaml"), METADATA),
        (
            format!("{folder}/infrastructure-components.yaml"),
            COMPONENTS,
        ),
        (format!("{folder}/cluster-template.yaml"), TEMPLATE),
        (format!("{folder}/clusterclass-quick.yaml"), CLASS),
    ];
    let more = more.iter().map(|(path, text)| ((*path).to_owned(), *text));
    files
        .into_iter()
        .chain(more)
        .map(|(path, text)| (path, text.as_bytes().to_vec()))
        .collect()
}

/// Runs something with the configuration of the tree and an environment.
fn with<T>(
    tree: &Tree,
    environment: &[(&str, &str)],
    run: impl FnOnce(Config<'_>) -> Result<T, Rejection>,
) -> Result<T, String> {
    let environment: BTreeMap<&str, &str> = environment.iter().copied().collect();
    let lookup = |name: &str| environment.get(name).map(|value| (*value).to_owned());
    let world = World {
        files: tree,
        environment: &lookup,
        network: None,
        budget: &Budget::default(),
    };
    Config::load(world, "/clusterctl.yaml")
        .and_then(run)
        .map_err(|rejection| rejection.message().to_owned())
}

fn provider(
    tree: &Tree,
    environment: &[(&str, &str)],
    name: &str,
    options: &ComponentsOptions,
) -> Result<(String, Vec<String>), String> {
    with(tree, environment, |config| {
        let mut log = Log::default();
        let components = generate_provider(
            &config,
            name,
            ProviderType::InfrastructureProvider,
            options,
            &mut log,
        )?;
        Ok((
            components.into_yaml()?,
            log.at(0).map(str::to_owned).collect(),
        ))
    })
}

#[test]
fn components_are_substituted_converted_labelled_and_ordered() {
    let (yaml, _) = provider(
        &tree(&[]),
        &[("REPLICAS", "2")],
        "foo",
        &ComponentsOptions::default(),
    )
    .unwrap();
    assert_eq!(
        yaml,
        "\
apiVersion: v1
kind: Namespace
metadata:
  labels:
    cluster.x-k8s.io/provider: infrastructure-foo
    clusterctl.cluster.x-k8s.io: \"\"
  name: foo-system
---
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    cluster.x-k8s.io/provider: infrastructure-foo
    clusterctl.cluster.x-k8s.io: \"\"
  name: d
  namespace: foo-system
spec:
  replicas: 2
  selector: null
  strategy: {}
  template:
    metadata: {}
    spec:
      containers:
      - args:
        - --size=16
        image: mirror.io/capi/manager:v0.2.0
        name: manager
        resources: {}
status: {}
"
    );
}

#[test]
fn overrides_lie_over_the_repository() {
    let overriding = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    let path =
        "home/.cluster-api/overrides/infrastructure-foo/v0.2.0/infrastructure-components.yaml";
    let options = ComponentsOptions {
        namespace: "elsewhere".to_owned(),
        raw: false,
    };
    let (yaml, log) = provider(
        &tree(&[(path, overriding)]),
        &[("HOME", "/home")],
        "foo:v0.2.0",
        &options,
    )
    .unwrap();
    assert!(
        yaml.contains("kind: ConfigMap")
            && yaml.contains("namespace: elsewhere")
            && yaml.starts_with("apiVersion: v1\nkind: Namespace")
    );
    assert_eq!(
        log,
        [
            "Using override=\"infrastructure-components.yaml\" provider=\"infrastructure-foo\" version=\"v0.2.0\""
        ]
    );
}

#[test]
fn providers_are_rejected_in_clusterctls_words() {
    let rejected = |tree: &Tree, name: &str, raw: bool| {
        provider(
            tree,
            &[],
            name,
            &ComponentsOptions {
                namespace: String::new(),
                raw,
            },
        )
        .unwrap_err()
    };
    let plain = tree(&[]);
    assert!(rejected(&plain, "bar", false).starts_with(
        "failed to get configuration for the InfrastructureProvider with name bar. Please"
    ));
    assert_eq!(
        rejected(&plain, "foo:v0.3.0", false),
        "failed to read \"metadata.yaml\" from the repository for provider \"infrastructure-foo\": failed to read file \
         \"/repo/infrastructure-foo/v0.3.0/metadata.yaml\" from local release v0.3.0: stat /repo/infrastructure-foo/v0.3.0/metadata.yaml: no such \
         file or directory"
    );
    assert_eq!(
        rejected(&plain, "foo", true),
        "failed to apply image overrides: unable to convert unstructured object to apps/v1, Kind=Deployment: unrecognized type: int32",
        "--raw converts too"
    );
    let old = tree(&[("repo/infrastructure-foo/v0.1.0/metadata.yaml", METADATA)]);
    assert!(
        rejected(&old, "foo:v0.1.0", false)
            .ends_with("contract versions, detected v1alpha4 for provider foo")
    );
    let unlisted = tree(&[("repo/infrastructure-foo/v0.9.0/metadata.yaml", METADATA)]);
    assert_eq!(
        rejected(&unlisted, "foo:v0.9.0", false),
        "invalid provider metadata: version v0.9.0 for the provider foo does not match any release series"
    );
    let network = rejected(&plain, "aws", false);
    assert!(
        network.contains("is on the network, which this program uses only when it is allowed to"),
        "{network}"
    );
}

#[test]
fn latest_is_the_newest_release_of_the_newest_series() {
    let version = |more: &[(&str, &str)]| {
        with(&tree(more), &[], |config| {
            let options = ComponentsOptions {
                namespace: "n".to_owned(),
                raw: false,
            };
            generate_provider(
                &config,
                "foo",
                ProviderType::InfrastructureProvider,
                &options,
                &mut Log::default(),
            )
            .map(|done| done.version)
        })
    };
    let folder = |version: &str, file: &str| format!("repo/infrastructure-foo/{version}/{file}");
    let newer = [
        ("v0.2.10", METADATA),
        ("v0.2.9", METADATA),
        ("v0.3.0-rc.1", METADATA),
        ("next", METADATA),
    ];
    let files: Vec<_> = newer
        .iter()
        .map(|(version, text)| (folder(version, "metadata.yaml"), *text))
        .collect();
    let mut files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), *text))
        .collect();
    let components = folder("v0.2.10", "infrastructure-components.yaml");
    files.push((&components, COMPONENTS));
    assert_eq!(version(&files).as_deref(), Ok("v0.2.10"));
    assert_eq!(version(&[]).as_deref(), Ok("v0.2.0"));
}

fn options(list_variables: bool, source: ClusterSource) -> ClusterOptions {
    ClusterOptions {
        name: "prod".to_owned(),
        namespace: "team".to_owned(),
        kubernetes_version: "v1.34.2".to_owned(),
        list_variables,
        source,
        ..ClusterOptions::default()
    }
}

fn from_repository() -> ClusterSource {
    ClusterSource {
        infrastructure: "foo:v0.2.0".to_owned(),
        ..ClusterSource::default()
    }
}

#[test]
fn a_template_brings_its_cluster_class() {
    let yaml = with(&tree(&[]), &[], |config| {
        generate_cluster(
            config,
            &options(false, from_repository()),
            &mut Log::default(),
        )?
        .into_yaml()
    });
    assert_eq!(
        yaml.unwrap(),
        "\
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata:
  name: quick
  namespace: team
spec:
  flag: \"off\"
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: prod
  namespace: team
spec:
  topology:
    classRef:
      name: quick
    version: v1.34.2
"
    );
}

#[test]
fn variables_are_listed_with_what_they_default_to() {
    let text =
        "${KUBERNETES_VERSION} ${B:=x} ${LONGER:=\"q\"} ${A} ${WORKER_MACHINE_COUNT} ${NAMESPACE}";
    let source = ClusterSource {
        from: Some(TemplateSource::Stdin(text.into())),
        ..ClusterSource::default()
    };
    let options = options(true, source);
    let listed = with(&tree(&[]), &[("WORKER_MACHINE_COUNT", "4")], |config| {
        let template = generate_cluster(config, &options, &mut Log::default())?;
        Ok(template.list_variables(&options, &|name| {
            (name == "WORKER_MACHINE_COUNT").then(|| "4".to_owned())
        }))
    });
    assert_eq!(
        listed.unwrap(),
        "\
Required Variables:
  - A

Optional Variables:
  - B                     (defaults to \"x\")
  - KUBERNETES_VERSION    (defaults to v1.34.2)
  - LONGER                (defaults to \"q\")
  - NAMESPACE             (defaults to team)
  - WORKER_MACHINE_COUNT  (defaults to 4)

"
    );
}

#[test]
fn where_clusterctl_would_ask_a_cluster_it_is_rejected() {
    let kubeconfig = "current-context: c\ncontexts: [{name: c, context: {cluster: x, namespace: own}}]\nclusters: [{name: x}]\n";
    let tree = tree(&[("home/.kube/config", kubeconfig)]);
    let rejected = |options: ClusterOptions| {
        with(&tree, &[("HOME", "/home")], |config| {
            generate_cluster(config, &options, &mut Log::default())
        })
        .unwrap_err()
    };
    let unversioned = ClusterSource {
        infrastructure: "foo".to_owned(),
        ..ClusterSource::default()
    };
    let config_map = ClusterSource {
        config_map: "m".to_owned(),
        ..ClusterSource::default()
    };
    for source in [
        ClusterSource::default(),
        unversioned,
        config_map,
        from_repository(),
    ] {
        let message = rejected(options(false, source));
        assert!(
            message.ends_with(": this program does not contact a cluster"),
            "{message}"
        );
    }
    let source = ClusterSource {
        from: Some(TemplateSource::Stdin(TEMPLATE.into())),
        ..ClusterSource::default()
    };
    let own = ClusterOptions {
        namespace: String::new(),
        ..options(false, source)
    };
    let yaml = with(&tree, &[("HOME", "/home")], |config| {
        generate_cluster(config, &own, &mut Log::default())?.into_yaml()
    })
    .unwrap();
    assert!(
        yaml.contains("namespace: own\n"),
        "the namespace is the kubeconfig's: {yaml}"
    );
}

#[test]
fn yaml_needs_no_repository() {
    let run = |text: &str, list: bool| {
        with(&tree(&[]), &[("SIZE", "")], |config| {
            let template = generate_yaml(&config, &TemplateSource::Stdin(text.into()), list)?;
            if list {
                Ok(list_names(&template))
            } else {
                template.into_yaml()
            }
        })
    };
    assert_eq!(
        run("a: ${SIZE}\nb: ${size:=y}", false).as_deref(),
        Ok("a: null\nb: true\n"),
        "the environment beats the file, empty or not"
    );
    assert_eq!(
        run("${B} ${A:=1}", true).as_deref(),
        Ok("Variables:\n  - A\n  - B\n")
    );
    assert_eq!(run("", false).as_deref(), Ok("\n"));
    let missing = "value for variables [X] is not set. Please set the value using os environment variables or the clusterctl config file";
    assert_eq!(run("${X}", false), Err(missing.to_owned()));
}

#[test]
fn the_list_of_providers_has_our_own_beside_clusterctls() {
    let table = with(&tree(&[]), &[], |config| {
        Ok(providers_table(&config.providers()?))
    })
    .unwrap();
    assert_eq!(table.lines().count(), 1 + 64 + 1);
    let line = table.lines().find(|line| line.starts_with("foo ")).unwrap();
    let cells: Vec<_> = line.split_whitespace().collect();
    assert_eq!(
        cells,
        [
            "foo",
            "InfrastructureProvider",
            "/repo/infrastructure-foo/latest/",
            "infrastructure-components.yaml"
        ]
    );
}

/// CC-48.
#[test]
fn variables_of_the_environment_are_expanded_in_urls_and_the_overrides_folder() {
    let overriding = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    let more = [
        (
            "h/o/infrastructure-foo/v0.2.0/infrastructure-components.yaml",
            overriding,
        ),
        (
            "clusterctl.yaml",
            "overridesFolder: ${HOME}/o\nproviders:\n- name: foo\n  url: ${CLUSTERCTL_REPOSITORY_PATH}/infrastructure-foo/latest/infrastructure-components.yaml\n  type: InfrastructureProvider\nSIZE: 1\n",
        ),
    ];
    let options = ComponentsOptions {
        namespace: "n".to_owned(),
        ..ComponentsOptions::default()
    };
    let environment = [("HOME", "/h"), ("CLUSTERCTL_REPOSITORY_PATH", "/repo")];
    let (yaml, _) = provider(&tree(&more), &environment, "foo", &options).unwrap();
    assert!(
        yaml.contains("kind: ConfigMap") && !yaml.contains("Deployment"),
        "{yaml}"
    );
    let (yaml, _) = provider(
        &tree(&more),
        &[environment[1], ("HOME", "/elsewhere")],
        "foo",
        &options,
    )
    .unwrap();
    assert!(yaml.contains("kind: Deployment"), "{yaml}");
    let rejection = provider(
        &tree(&more),
        &[("HOME", "/h"), ("CLUSTERCTL_REPOSITORY_PATH", "/other")],
        "foo",
        &options,
    )
    .unwrap_err();
    assert!(
        rejection.contains("/other/infrastructure-foo"),
        "{rejection}"
    );
}
