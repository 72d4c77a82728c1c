//! `init`: whose provider a project is, which of its files are taken, and what of that was assumed.

use serde_json::{Value, json};

use crate::init_manager::{CRD, initialised};

const BOATS: &str = "config/crd/bases/boats.yaml";
const DEFAULT: &str = "config/default/kustomization.yaml";

/// Fields of provider.yaml, and what was assumed of them.
fn told(files: &[(&str, &str)], arguments: &[&str], fields: &[&str]) -> (Vec<Value>, Vec<String>) {
    let (code, provider, said) = initialised(files, arguments);
    assert_eq!(code, Some(0), "{said}");
    let begins = |line: &&str| {
        fields
            .iter()
            .any(|field| line.starts_with(&format!("{field}: ")))
    };
    let assumed = said
        .lines()
        .filter_map(|line| line.strip_prefix("assumed: "))
        .filter(begins)
        .map(str::to_owned);
    (
        fields
            .iter()
            .map(|field| provider[*field].clone())
            .collect(),
        assumed.collect(),
    )
}

fn of_group(group: &str) -> String {
    CRD.replace("infrastructure.harbour.example", group)
}

/// Cluster API's own groups tell the type; without one of them, and without a label, nobody knows
/// it. Only three types have contracts.
#[test]
fn the_type_is_that_of_the_group() {
    for (prefix, provider_type, has_contract) in [
        ("infrastructure", "InfrastructureProvider", true),
        ("bootstrap", "BootstrapProvider", true),
        ("controlplane", "ControlPlaneProvider", true),
        ("addons", "AddonProvider", false),
        ("ipam", "IPAMProvider", false),
        ("runtime", "RuntimeExtensionProvider", false),
    ] {
        let group = format!("{prefix}.harbour.example");
        let (found, assumed) = told(
            &[(BOATS, &of_group(&group))],
            &[],
            &["type", "group", "contracts"],
        );
        let contracts = if has_contract {
            json!({"v1beta2": ["v1beta1"]})
        } else {
            Value::Null
        };
        assert_eq!(found, [json!(provider_type), json!(group), contracts]);
        let of_type = format!("type: {provider_type}, from the group {prefix}.… of the CRDs");
        let of_contracts =
            "contracts: v1beta2 is fulfilled by v1beta1, the versions that the CRDs serve"
                .to_owned();
        assert_eq!(
            assumed,
            std::iter::once(of_type)
                .chain(has_contract.then_some(of_contracts))
                .collect::<Vec<_>>()
        );
    }
    let (found, _) = told(
        &[(BOATS, &of_group("harbour.example"))],
        &["--type", "bootstrap"],
        &["type", "group"],
    );
    assert_eq!(
        found,
        [json!("BootstrapProvider"), json!("harbour.example")]
    );
}

/// The name of a project without what all such names begin with.
#[test]
fn the_name_is_that_of_the_project() {
    for (project, name) in [
        ("harbour", "harbour"),
        ("provider-harbour", "harbour"),
        ("cluster-api-harbour", "harbour"),
        ("cluster-api-provider-harbour", "harbour"),
        ("cluster-api-infrastructure-harbour", "harbour"),
        ("cluster-api-infrastructure-provider-harbour", "harbour"),
        ("cluster-api-ipam-provider-harbour", "ipam-provider-harbour"),
    ] {
        let (found, assumed) = told(
            &[("PROJECT", &format!("projectName: {project}\n"))],
            &[],
            &["name", "namespace"],
        );
        assert_eq!(
            found,
            [json!(name), json!(format!("{name}-system"))],
            "{project}"
        );
        assert_eq!(
            assumed,
            [
                format!("name: {name}, from projectName in PROJECT"),
                format!("namespace: {name}-system")
            ]
        );
    }
}

/// The label of a kustomization tells type and name; prefix and suffix are said where they are not
/// those of the namespace.
#[test]
fn labels_and_names_are_those_of_the_kustomization() {
    let crd = of_group("harbour.example");
    let fields = ["type", "name", "namespace", "namePrefix", "nameSuffix"];
    let label = |label: &str, rest: &str| {
        format!("commonLabels: {{cluster.x-k8s.io/provider: {label}, a: b}}\n{rest}")
    };
    for (kustomization, expected) in [
        (
            "labels: [{pairs: {a: b}}, {pairs: {cluster.x-k8s.io/provider: ipam-quay}}]\n"
                .to_owned(),
            json!(["IPAMProvider", "quay", "quay-system", null, null]),
        ),
        (
            label("infrastructure-quay", ""),
            json!(["InfrastructureProvider", "quay", "quay-system", null, null]),
        ),
        (
            label("addon-quay", "namespace: quay-system\nnamePrefix: quay-\n"),
            json!(["AddonProvider", "quay", "quay-system", null, null]),
        ),
        (
            label("addon-quay", "namespace: other\nnamePrefix: other-\n"),
            json!(["AddonProvider", "quay", "other", null, null]),
        ),
        (
            label(
                "addon-quay",
                "namespace: other\nnamePrefix: q-\nnameSuffix: -s\n",
            ),
            json!(["AddonProvider", "quay", "other", "q-", "-s"]),
        ),
    ] {
        let (found, assumed) = told(&[(BOATS, &crd), (DEFAULT, &kustomization)], &[], &fields);
        assert_eq!(Value::Array(found.clone()), expected, "{kustomization}");
        let of_namespace = if kustomization.contains("namespace") {
            ", as config/default/kustomization.yaml has it"
        } else {
            ""
        };
        let [of_type, of_name, namespace] = [0, 1, 2].map(|at| found[at].as_str().unwrap());
        let from = "from the label in config/default/kustomization.yaml";
        let lines = [
            format!("type: {of_type}, {from}"),
            format!("name: {of_name}, {from}"),
            format!("namespace: {namespace}{of_namespace}"),
        ];
        assert_eq!(assumed, lines, "{kustomization}");
    }
    // The core's label has no type, and its group comes before those of other types.
    let core = [
        CRD.to_owned(),
        of_group("addons.cluster.x-k8s.io"),
        of_group("cluster.x-k8s.io"),
    ];
    let files = [
        (BOATS, core.join("---\n")),
        (DEFAULT, label("cluster-api", "")),
    ];
    let (found, _) = told(
        &files.each_ref().map(|(path, text)| (*path, text.as_str())),
        &[],
        &["type", "name", "group"],
    );
    assert_eq!(
        found,
        [
            json!("CoreProvider"),
            json!("cluster-api"),
            json!("cluster.x-k8s.io")
        ]
    );
    for files in [core.join("---\n"), of_group("cluster.x-k8s.io")] {
        let (found, assumed) = told(&[(BOATS, &files)], &[], &["type", "name"]);
        assert_eq!(found, [json!("CoreProvider"), json!("cluster-api")]);
        let lines = [
            "type: CoreProvider, from the group cluster.x-k8s.io of the CRDs",
            "name: cluster-api, the only one that the core can have",
        ];
        assert_eq!(assumed, lines);
    }
    assert_eq!(
        initialised(
            &[(BOATS, &of_group("cluster.x-k8s.io.harbour.example"))],
            &[]
        )
        .0,
        Some(1)
    );
    // A label that begins with no type tells the name alone.
    let (found, _) = told(
        &[(BOATS, &crd), (DEFAULT, &label("quay", ""))],
        &["--type", "infrastructure"],
        &["type", "name"],
    );
    assert_eq!(found, [json!("InfrastructureProvider"), json!("quay")]);
}

/// One pattern stands for all CRDs of `bases` where all are taken; else each file that is.
#[test]
fn crds_are_those_that_the_kustomization_takes() {
    let other = CRD.replace("boat", "boot").replace("Boat", "Boot");
    let (second, beside) = (
        ("config/crd/bases/c.yaml", other.as_str()),
        ("config/crd/more.yaml", other.as_str()),
    );
    let all = json!(["config/crd/bases/*.yaml"]);
    let kustomization = |text: &'static str| ("config/crd/kustomization.yaml", text);
    for (files, expected) in [
        (&[second][..], all.clone()),
        (
            &[
                second,
                kustomization("resources: [bases/c.yaml, bases/boats.yaml]\n"),
            ],
            all.clone(),
        ),
        (
            &[second, kustomization("resources: [bases/none.yaml]\n")],
            all.clone(),
        ),
        (
            &[second, kustomization("resources: [bases/c.yaml]\n")],
            json!(["config/crd/bases/c.yaml"]),
        ),
        (&[beside], json!([BOATS, "config/crd/more.yaml"])),
        (
            &[
                beside,
                kustomization("resources: [more.yaml, bases/boats.yaml]\n"),
            ],
            json!([BOATS, "config/crd/more.yaml"]),
        ),
        (
            &[beside, kustomization("resources: [more.yaml]\n")],
            json!(["config/crd/more.yaml"]),
        ),
        // Patches and samples are nobody's CRDs, whatever is wrong with them.
        (
            &[(
                "config/crd/patches/x.yaml",
                "kind: CustomResourceDefinition\nspec: {x: y}\n",
            )],
            all.clone(),
        ),
        (&[("config/samples/x.yaml", "kind: [\n")], all),
    ] {
        assert_eq!(told(files, &[], &["crds"]).0, [expected], "{files:?}");
    }
    let templates = |file: &'static str| told(&[(file, "a: b\n")], &[], &["templates"]).0;
    assert_eq!(
        [
            "templates/cluster-template.yaml",
            "templates/cluster-template-ha.yaml",
            "templates/other.yaml",
            "x/cluster-template.yaml"
        ]
        .map(templates),
        [
            json!(["templates"]),
            json!(["templates"]),
            Value::Null,
            Value::Null
        ]
        .map(|found| vec![found])
    );
}

/// The contract is that of the newest series, fulfilled by each version that the CRDs of the group
/// serve, once.
#[test]
fn contracts_and_the_next_version_are_those_of_the_newest_series() {
    let versions = "  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n  - {name: v1alpha1, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}\n";
    let both = format!("{CRD}{versions}");
    let other = CRD.replace("boat", "boot").replace("Boat", "Boot");
    let foreign = of_group("harbour.example")
        .replace("v1beta1", "v2")
        .replace("boat", "dock")
        .replace("Boat", "Dock");
    let series = |list: &[(u32, u32, &str)]| -> String {
        let entry = |(major, minor, contract): &(u32, u32, &str)| {
            format!("- {{major: {major}, minor: {minor}, contract: {contract}}}\n")
        };
        format!(
            "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n{}",
            list.iter().map(entry).collect::<String>()
        )
    };
    let files = [
        (BOATS, both.as_str()),
        ("config/crd/bases/c.yaml", &other),
        ("config/crd/bases/d.yaml", &foreign),
    ];
    for (list, contract, next) in [
        (
            &[(0, 9, "v1beta1"), (0, 10, "v1beta2")][..],
            "v1beta2",
            "v0.10.0",
        ),
        (&[(1, 0, "v1beta2"), (0, 9, "v1beta1")], "v1beta2", "v1.0.0"),
        (
            &[(0, 1, "v1beta2"), (2, 0, "v1beta1"), (1, 9, "v1beta2")],
            "v1beta1",
            "v2.0.0",
        ),
    ] {
        let metadata = series(list);
        let (_, provider, said) =
            initialised(&[&files[..], &[("metadata.yaml", &metadata)]].concat(), &[]);
        assert_eq!(provider["contracts"], json!({contract: ["v1beta1", "v1"]}));
        assert_eq!(provider["groups"], json!(["harbour.example"]));
        assert!(
            said.contains(&format!("next: `windlass release build {next} --to out`\n")),
            "{said}"
        );
        assert!(!said.contains("assumed: metadata.yaml"), "{said}");
    }
}
