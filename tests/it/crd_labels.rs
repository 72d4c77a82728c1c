//! CRDs in a release: which are taken, which contract labels they get, and what is said of labels
//! that are there already.

use serde_json::{Value, json};

use crate::assembly::{crd, object, objects_of, release, told};

const LABEL: &str = "cluster.x-k8s.io/v1beta2";
const HEAD: &str = "type: InfrastructureProvider\ngroup: foo.dev\n";

/// The CRD with labels.
fn labelled(crd: &str, labels: &str) -> String {
    let (before, after) = crd.split_once(".dev}").unwrap();
    format!("{before}.dev, labels: {{{labels}}}}}{after}")
}

fn things() -> String {
    crd("foo.dev", "FooThing", &["v1alpha1", "v1"], true)
}

fn others() -> String {
    crd("foo.dev", "FooOther", &["v1"], true)
}

/// Place, message and help.
fn finding(place: &str, message: &str, help: &str) -> [String; 3] {
    [place, message, help].map(str::to_owned)
}

const NONE: Vec<[String; 3]> = Vec::new();

/// The files of `crds` hold CRDs of the provider's groups, and nothing else; what is wrong with the
/// pattern stands at the pattern.
#[test]
fn patterns_of_crds_take_crds_of_the_provider_alone() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    let lines = format!(
        "{HEAD}groups: [bar.dev]\ncontracts: {{v1beta2: [v1]}}\ncrds: [a.yaml, b.yaml, c.yaml, d.yaml]\n"
    );
    let (bars, foreign) = (
        crd("bar.dev", "Bar", &["v1"], true),
        crd("baz.dev", "Baz", &["v1"], true),
    );
    let release = release(
        &lines,
        &[
            ("a.yaml", &things()),
            ("b.yaml", &foreign),
            ("c.yaml", map),
            ("d.yaml", &bars),
        ],
    );
    let help = "add `baz.dev` to `groups`, or write a pattern that takes other files only, such as `…/foo.dev_*.yaml`";
    let expected = finding(
        "provider.yaml:9:16",
        "`crds` also takes Baz of group baz.dev",
        help,
    );
    assert_eq!(
        told(&release.report, "provider-crd-foreign-group"),
        [expected]
    );
    let foreign = release
        .report
        .findings()
        .iter()
        .find(|finding| finding.rule.id == "provider-crd-foreign-group")
        .unwrap();
    assert_eq!(
        (
            foreign.label.as_str(),
            foreign.related[0].place.span.unwrap().start.line
        ),
        ("the groups are foo.dev, bar.dev", 5)
    );
    let message = "`crds` also takes ConfigMap/c, which is no CustomResourceDefinition";
    let expected = finding("provider.yaml:9:24", message, "name it under `objects`");
    assert_eq!(told(&release.report, "provider-crd-other-kind"), [expected]);
    let groups: Vec<Value> = objects_of(&release)
        .iter()
        .map(|object| object["spec"]["group"].clone())
        .filter(Value::is_string)
        .collect();
    assert_eq!(
        groups,
        [json!("foo.dev"), json!("bar.dev")],
        "only what is sound is taken"
    );
}

/// A contract label must say what `contracts` says, and no other contract may be there.
#[test]
fn contract_labels_of_files_agree_with_contracts() {
    let lines = format!("{HEAD}contracts: {{v1beta2: [v1]}}\ncrds: [a.yaml, b.yaml]\n");
    let wrong = |found: &str| {
        format!("label {LABEL} is `{found}`, but `contracts` of provider.yaml gives `v1`")
    };
    let correct = "remove the label from the file, or correct `contracts`";
    let undeclared = "label cluster.x-k8s.io/v1beta1 stands for a contract that `contracts` of provider.yaml does not give this CRD";
    let declare = "remove the label from the file, or declare the contract under `contracts`";
    for (labels, expected) in [
        (format!("{LABEL}: v1, a: b"), vec![]),
        (
            format!("{LABEL}: v2"),
            vec![finding("a.yaml:3:72", &wrong("v2"), correct)],
        ),
        (
            format!("{LABEL}: 5"),
            vec![finding("a.yaml:3:72", &wrong("5"), correct)],
        ),
        (
            format!("cluster.x-k8s.io/v1beta1: v1, {LABEL}: v1_v1alpha1"),
            vec![
                finding("a.yaml:3:102", &wrong("v1_v1alpha1"), correct),
                finding("a.yaml:3:72", undeclared, declare),
            ],
        ),
        (
            "cluster.x-k8s.io/provider: x, cluster.x-k8s.io/vague: x".to_owned(),
            vec![],
        ),
    ] {
        let release = release(
            &lines,
            &[
                ("a.yaml", &labelled(&things(), &labels)),
                ("b.yaml", &others()),
            ],
        );
        assert_eq!(
            told(&release.report, "crd-contract-label-wrong"),
            expected,
            "{labels}"
        );
        assert_eq!(
            told(&release.report, "crd-contract-version-missing"),
            NONE,
            "{labels}"
        );
    }
}

/// A CRD of which no version fulfils a contract is told with what both sides name; one for which no
/// contract is declared is not.
#[test]
fn definitions_without_a_fulfilled_contract_are_told() {
    let missing = |lines: &str| {
        told(
            &release(
                &format!("{HEAD}{lines}crds: [a.yaml]\n"),
                &[("a.yaml", &things())],
            )
            .report,
            "crd-contract-version-missing",
        )
    };
    let message = "no version of CustomResourceDefinition/foothings.foo.dev fulfils a contract: it has v1alpha1, v1, `contracts` names v3, v4, v5";
    let help = "name under `contracts` the versions that the CRD serves, if core objects refer to the kind";
    assert_eq!(
        missing("contracts: {v1beta1: [v3], v1beta2: [v4, v5]}\n"),
        [finding("a.yaml:9:3", message, help)]
    );
    assert_eq!(
        missing("contracts: {v1beta1: [v3], v1beta2: [v4, v1]}\n"),
        NONE
    );
    assert_eq!(
        missing("contracts: {v1beta2: [v4]}\ncrdMetadata: [{kinds: [FooThing], contracts: {}}]\n"),
        NONE
    );
}

/// In finished components a label that also names versions which its CRD does not serve is
/// corrected; one that says something else is wrong.
#[test]
fn labels_of_finished_components_are_corrected_or_wrong() {
    let lines = format!("{HEAD}contracts: {{v1beta2: [v1, v1alpha1]}}\ncomponents: c.yaml\n");
    let stream = |first: &str, second: &str| {
        let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system}\n---\n";
        let (first, second) = (format!("{LABEL}: {first}"), format!("{LABEL}: {second}"));
        format!(
            "{namespace}{}---\n{}",
            labelled(&things(), &first),
            labelled(&others(), &second)
        )
    };
    let becomes = |kind: &str, found: &str, wanted: &str| {
        format!(
            "label {LABEL} of CustomResourceDefinition/{kind}.foo.dev is `{found}` and becomes `{wanted}`, the versions that it serves"
        )
    };
    let help = "nothing needs to be done; or label each CRD with the versions that it serves";
    let correct =
        "correct `contracts`, or leave it out: then the labels of the file stay as they are";
    let wrong = |found: &str| {
        format!("label {LABEL} is `{found}`, but `contracts` of provider.yaml gives `v1alpha1_v1`")
    };
    for (first, second, corrected, wrongs) in [
        ("v1alpha1_v1", "v1", vec![], vec![]),
        (
            "v1alpha1_v1_v2",
            "v1alpha1_v1_v2",
            vec![finding(
                "c.yaml:7:72",
                &becomes("foothings", "v1alpha1_v1_v2", "v1alpha1_v1"),
                help,
            )],
            vec![],
        ),
        (
            "v1alpha1_v1",
            "v0_v1",
            vec![finding(
                "c.yaml:18:72",
                &becomes("fooothers", "v0_v1", "v1"),
                help,
            )],
            vec![],
        ),
        (
            "v1",
            "v1",
            vec![],
            vec![finding("c.yaml:7:72", &wrong("v1"), correct)],
        ),
    ] {
        let release = release(&lines, &[("c.yaml", &stream(first, second))]);
        assert_eq!(
            told(&release.report, "crd-contract-label-corrected"),
            corrected,
            "{first} {second}"
        );
        assert_eq!(
            told(&release.report, "crd-contract-label-wrong"),
            wrongs,
            "{first} {second}"
        );
        let related = release
            .report
            .findings()
            .iter()
            .filter(|found| found.rule.id == "crd-contract-label-corrected");
        let related: Vec<&str> = related
            .flat_map(|found| &found.related)
            .map(|related| related.label.as_str())
            .collect();
        assert_eq!(
            related,
            if first == second && first != "v1" {
                vec!["becomes `v1`"]
            } else {
                vec![]
            },
            "{first} {second}"
        );
        let objects = objects_of(&release);
        let label = |title: &str| object(&objects, title)["metadata"]["labels"][LABEL].clone();
        let labels = ["foothings", "fooothers"]
            .map(|kind| label(&format!("CustomResourceDefinition/{kind}.foo.dev")));
        assert_eq!(
            labels,
            [json!("v1alpha1_v1"), json!("v1")],
            "{first} {second}"
        );
    }
}

/// The last entry of `crdMetadata` that names contracts for a kind counts; an entry without kinds
/// is for all. Kinds that are not there are told.
#[test]
fn metadata_of_crds_is_for_the_kinds_that_are_named() {
    let of = |entries: &str| {
        let lines = format!(
            "{HEAD}contracts: {{v1beta2: [v1]}}\ncrds: [a.yaml, b.yaml]\ncrdMetadata: [{entries}]\n"
        );
        release(&lines, &[("a.yaml", &things()), ("b.yaml", &others())])
    };
    let own = "{kinds: [FooThing], contracts: {v1beta1: [v1alpha1]}}";
    for (entries, first, second) in [
        (
            own.to_owned(),
            json!({"v1beta1": "v1alpha1"}),
            json!({"v1beta2": "v1"}),
        ),
        (
            format!("{{contracts: {{v1beta1: [v1]}}}}, {own}"),
            json!({"v1beta1": "v1alpha1"}),
            json!({"v1beta1": "v1"}),
        ),
        (
            format!("{own}, {{contracts: {{v1beta1: [v1]}}}}"),
            json!({"v1beta1": "v1"}),
            json!({"v1beta1": "v1"}),
        ),
        (
            format!("{own}, {{labels: {{a: b}}}}"),
            json!({"v1beta1": "v1alpha1", "a": "b"}),
            json!({"v1beta2": "v1", "a": "b"}),
        ),
        (
            "{kinds: [FooOther], labels: {a: b}}".to_owned(),
            json!({"v1beta2": "v1"}),
            json!({"v1beta2": "v1", "a": "b"}),
        ),
    ] {
        let objects = objects_of(&of(&entries));
        for (kind, expected) in [("foothings", first), ("fooothers", second)] {
            let labels = object(
                &objects,
                &format!("CustomResourceDefinition/{kind}.foo.dev"),
            )["metadata"]["labels"]
                .as_object()
                .unwrap();
            let others = labels
                .iter()
                .filter(|(key, _)| *key != "cluster.x-k8s.io/provider");
            let short: serde_json::Map<String, Value> = others
                .map(|(key, value)| (key.replace("cluster.x-k8s.io/", ""), value.clone()))
                .collect();
            assert_eq!(Value::Object(short), expected, "{entries}: {kind}");
        }
    }
    let unknown = |at: usize, kind: &str, column: usize, help: &str| {
        let message =
            format!("crdMetadata[1].kinds[{at}] is `{kind}`, which no CRD of the release defines");
        finding(&format!("provider.yaml:9:{column}"), &message, help)
    };
    assert_eq!(
        told(
            &of("{labels: {a: b}}, {kinds: [FooThing, FooThng, Quite], labels: {a: b}}").report,
            "provider-crd-metadata-kind-unknown"
        ),
        [
            unknown(1, "FooThng", 52, "did you mean `FooThing`?"),
            unknown(2, "Quite", 61, "name kinds of the CRDs: FooThing, FooOther"),
        ]
    );
}

/// Editors get the schema of the file: what must be there, and nothing that the program refuses.
#[test]
fn the_schema_of_provider_yaml_says_what_is_required() {
    let output = crate::support::windlass(crate::support::root())
        .args(["schema", "provider"])
        .output()
        .unwrap();
    let schema: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &schema["title"]),
        (Some(0), &json!("provider.yaml of windlass"))
    );
    assert_eq!(
        schema["required"],
        json!(["apiVersion", "kind", "name", "type", "namespace"])
    );
    assert_eq!(schema["additionalProperties"], json!(false));
    assert!(
        schema["properties"]["crds"].is_object() && schema["properties"]["patches"].is_object()
    );
}
