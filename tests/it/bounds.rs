//! Inputs that are made to take all memory or all time end soon, in little memory, with one finding that names what is to blame.

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::support::windlass;

/// What a run may take: kilobytes of data, and time. A debug build on a busy machine is ten times slower than what people run.
const MEMORY: u32 = 300 * 1024;
const TIME: Duration = Duration::from_secs(20);

/// Runs the program with a limit of its memory.
fn bounded(folder: &Path, arguments: &[&str]) -> Output {
    let program = windlass(folder);
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(folder).env_clear().stdin(std::process::Stdio::null());
    shell.arg("-c").arg(format!("ulimit -d {MEMORY} && exec \"$0\" \"$@\"")).arg(program.get_program()).args(arguments);
    let begun = Instant::now();
    let output = shell.output().unwrap();
    assert!(begun.elapsed() < TIME, "{arguments:?} took {:?}", begun.elapsed());
    output
}

/// A provider with one CRD, whose field `a` has these rules and a default, on which the API server tries them.
fn provider_with_rules(folder: &Path, rules: &[String]) {
    let rules: Vec<_> = rules.iter().map(|rule| serde_json::json!({"rule": rule, "message": "m"})).collect();
    let field = serde_json::json!({"type": "string", "default": "abc", "x-kubernetes-validations": rules});
    let schema = serde_json::json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": field}}}});
    let crd = serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "harbourclusters.infrastructure.harbour.example"},
        "spec": {
            "group": "infrastructure.harbour.example", "scope": "Namespaced",
            "names": {"kind": "HarbourCluster", "plural": "harbourclusters", "singular": "harbourcluster", "listKind": "HarbourClusterList", "categories": ["cluster-api"]},
            "versions": [{"name": "v1alpha1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    std::fs::write(folder.join("crd.yaml"), crd.to_string()).unwrap();
    let metadata =
        "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries: [{major: 0, minor: 1, contract: v1beta2}]\n";
    std::fs::write(folder.join("metadata.yaml"), metadata).unwrap();
    let provider = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: harbour\ntype: InfrastructureProvider\ngroup: infrastructure.harbour.example\n\
                    contracts: {v1beta2: [v1alpha1]}\nnamespace: harbour-system\ncrds: [crd.yaml]\nmetadata: metadata.yaml\nmanager: {image: ghcr.io/example/m}\n";
    std::fs::write(folder.join("provider.yaml"), provider).unwrap();
}

#[test]
fn rules_of_foreign_crds_are_bounded() {
    let ones = vec!["1"; 100].join(",");
    let nested = format!("[{ones}].all(a,[{ones}].all(b,[{ones}].all(c,[{ones}].all(d,[{ones}].all(e,a+b+c+d+e==5)))))");
    let check = |rules: &[String], expected: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        provider_with_rules(folder.path(), rules);
        let output = bounded(folder.path(), &["release", "build", "v0.1.0", "--to", "out"]);
        let (out, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{out}{told}");
        for part in expected {
            assert!(told.contains(part), "{part} is not in:\n{told}");
        }
        told.lines().filter(|line| line.starts_with("error")).count()
    };
    // As the API server has it: a rule that alone exceeds what a whole schema may cost is told for the schema too, and as a part of its cost.
    let one = |rule: &str, expected: &str| {
        let errors = check(&[rule.to_owned()], &[expected, "crd.yaml"]);
        assert!(matches!(errors, 1 | 3), "{errors} errors for {rule}");
    };
    let (dear, endless) = ("estimated rule cost exceeds budget by factor of", "cannot be judged: it takes more than 1000000 steps");
    one(r#""%.65536f".format([1.0]) == """#, endless);
    one("lists.range(1000000000).size() == 1", dear);
    one(&format!("['xxxxxxxxxxxxxxxx']{}.size() == 1", ".map(a, a + a)".repeat(30)), dear);
    one(&format!("'xx'{} == ''", ".replace('x', 'xxxx')".repeat(20)), dear);
    one(&format!("['x','x']{}.size() == 1", ".map(a, [a, a, a, a].join(a))".repeat(20)), dear);
    one(&format!("[[1]]{}.size() == 1", ".map(a, a + a)".repeat(40)), endless);
    one(&nested, dear);
    // Each of these is below the limit of one; all of them are not.
    let many: Vec<_> =
        (0..300).map(|n| format!("[{ones}].all(a,[{ones}].all(b,[{}].all(c,a+b+c!={n})))", vec!["1"; 20].join(","))).collect();
    let total = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of";
    assert_eq!(check(&many, &[total]), 5);
}
