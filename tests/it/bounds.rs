//! Inputs that are made to take all memory or all time end soon, in little memory, with one finding
//! that names what is to blame.

use std::path::Path;
use std::process::Output;

use crate::support::windlass;

/// What a run may take: kilobytes of data, and seconds of the processor. A debug build is ten times
/// slower than what people run.
const MEMORY: u32 = 300 * 1024;
const SECONDS: u32 = 20;

/// Runs the program with a limit of its memory and of its time on the processor, which does not
/// depend on what else the machine does.
fn bounded(folder: &Path, arguments: &[&str]) -> Output {
    let program = windlass(folder);
    let mut shell = std::process::Command::new("sh");
    shell
        .current_dir(folder)
        .env_clear()
        .stdin(std::process::Stdio::null());
    let limits = format!("ulimit -d {MEMORY} && ulimit -t {SECONDS} && exec \"$0\" \"$@\"");
    // The room of each thread counts as data, so that their number must not be that of the cores.
    shell.env("RAYON_NUM_THREADS", "2");
    shell
        .arg("-c")
        .arg(limits)
        .arg(program.get_program())
        .args(arguments);
    let output = shell.output().unwrap();
    assert!(
        output.status.code().is_some(),
        "{arguments:?} is ended: {}",
        output.status
    );
    output
}

/// A provider with one CRD, whose field `a` has these rules and a default, on which the API server
/// tries them.
fn provider_with_rules(folder: &Path, rules: &[String]) {
    let rules: Vec<_> = rules
        .iter()
        .map(|rule| serde_json::json!({"rule": rule, "message": "m"}))
        .collect();
    let field =
        serde_json::json!({"type": "string", "default": "abc", "x-kubernetes-validations": rules});
    let schema = serde_json::json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": field}}}});
    let crd = serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "harbourhosts.infrastructure.harbour.example"},
        "spec": {
            "group": "infrastructure.harbour.example", "scope": "Namespaced",
            "names": {"kind": "HarbourHost", "plural": "harbourhosts", "singular": "harbourhost", "listKind": "HarbourHostList", "categories": ["cluster-api"]},
            "versions": [{"name": "v1alpha1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    std::fs::write(folder.join("crd.yaml"), crd.to_string()).unwrap();
    let metadata = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries: [{major: 0, minor: 1, contract: v1beta2}]\n";
    std::fs::write(folder.join("metadata.yaml"), metadata).unwrap();
    let provider = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: harbour\ntype: InfrastructureProvider\ngroup: infrastructure.harbour.example\n\
                    contracts: {v1beta2: [v1alpha1]}\nnamespace: harbour-system\ncrds: [crd.yaml]\nmetadata: metadata.yaml\nmanager: {image: ghcr.io/example/m}\n";
    std::fs::write(folder.join("provider.yaml"), provider).unwrap();
}

#[test]
fn rules_of_foreign_crds_are_bounded() {
    let ones = vec!["1"; 100].join(",");
    let nested = format!(
        "[{ones}].all(a,[{ones}].all(b,[{ones}].all(c,[{ones}].all(d,[{ones}].all(e,a+b+c+d+e==5)))))"
    );
    let check = |rules: &[String], expected: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        provider_with_rules(folder.path(), rules);
        let output = bounded(
            folder.path(),
            &["release", "build", "v0.1.0", "--to", "out"],
        );
        let (out, shown) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert_eq!(output.status.code(), Some(1), "{out}{shown}");
        for part in expected {
            assert!(shown.contains(part), "{part} is not in:\n{shown}");
        }
        shown
            .lines()
            .filter(|line| line.starts_with("error"))
            .count()
    };
    // As the API server has it: a rule that alone exceeds what a whole schema may cost is shown for
    // the schema too, and as a part of its cost.
    let one = |rule: &str, expected: &str| {
        let errors = check(&[rule.to_owned()], &[expected, "crd.yaml"]);
        assert!(matches!(errors, 1 | 3), "{errors} errors for {rule}");
    };
    let (dear, endless) = (
        "estimated rule cost exceeds budget by factor of",
        "cannot be checked: it takes more than 1000000 steps",
    );
    one(r#""%.65536f".format([1.0]) == """#, endless);
    one("lists.range(1000000000).size() == 1", dear);
    one(
        &format!(
            "['xxxxxxxxxxxxxxxx']{}.size() == 1",
            ".map(a, a + a)".repeat(30)
        ),
        dear,
    );
    one(
        &format!("'xx'{} == ''", ".replace('x', 'xxxx')".repeat(20)),
        dear,
    );
    one(
        &format!(
            "['x','x']{}.size() == 1",
            ".map(a, [a, a, a, a].join(a))".repeat(20)
        ),
        dear,
    );
    one(
        &format!("[[1]]{}.size() == 1", ".map(a, a + a)".repeat(40)),
        endless,
    );
    one(&nested, dear);
    // Each of these is below the limit of one; all of them are not.
    let many: Vec<_> = (0..300)
        .map(|n| {
            format!(
                "[{ones}].all(a,[{ones}].all(b,[{}].all(c,a+b+c!={n})))",
                vec!["1"; 20].join(",")
            )
        })
        .collect();
    let total = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of";
    assert_eq!(check(&many, &[total]), 5);
}

/// Parser and evaluation of CEL recurse, and several folders are checked on several threads.
#[test]
fn deeply_nested_rules_of_foreign_crds_are_findings() {
    let rules = [
        (format!("{}1", "1<".repeat(4000)), true),
        (
            format!("{}true{}", "(".repeat(4000), ")".repeat(4000)),
            true,
        ),
        (
            format!("{}true{}", "[1].all(x,".repeat(400), ")".repeat(400)),
            true,
        ),
        (format!("self{} == 1", ".a".repeat(4100)), true),
        (
            format!("{}1{} == 1", "-(".repeat(120), ")".repeat(120)),
            false,
        ),
        (
            format!("{}{} == []", "[".repeat(100), "]".repeat(100)),
            false,
        ),
        (
            format!("{}1{} == 1", "(".repeat(100), ")".repeat(100)),
            false,
        ),
        (
            format!("[[1]]{}.size() == 1", ".map(a, a + a)".repeat(40)),
            false,
        ),
    ];
    for (rule, is_too_much) in rules {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            provider_with_rules(&path, std::slice::from_ref(&rule));
            std::fs::rename(
                path.join("crd.yaml"),
                path.join("infrastructure-components.yaml"),
            )
            .unwrap();
        }
        let output = bounded(folder.path(), &["lint", ".", "-q", "-o", "json"]);
        let shown = text(&output);
        assert_eq!(output.status.code(), Some(1), "{shown}");
        for name in ["a", "b", "c"] {
            assert!(
                shown.contains(&format!("{name}/infrastructure-components.yaml")),
                "{rule:.40}: {shown}"
            );
        }
        assert_eq!(
            shown.contains("crd-rule-unchecked"),
            is_too_much,
            "{rule:.40}: {shown}"
        );
    }
}

#[test]
fn aliases_of_all_documents_count_together() {
    let folder = tempfile::tempdir().unwrap();
    let whole = |n: usize| format!("a{n}: &a{n} {{b: 1}}\n");
    // A megabyte of text a document, and as many aliases as Go takes: about 99 in 100 values, up to
    // 400,000 of them.
    let document = format!(
        "{}c:\n{}d: {}\n",
        whole(0),
        "- [*a0,*a0,*a0,*a0]\n".repeat(40_000),
        "x".repeat(200_000)
    );
    std::fs::write(
        folder.path().join("many.yaml"),
        vec![document.as_str(); 20].join("---\n"),
    )
    .unwrap();
    let output = bounded(folder.path(), &["generate", "yaml", "--from", "many.yaml"]);
    let expected = "Error: failed to parse yaml: many.yaml: more than 67108864 bytes that aliases stand for in one run\n\
                    note: split many.yaml, or write out what its aliases multiply\n";
    assert_eq!(
        (text(&output).as_str(), output.status.code()),
        (expected, Some(1))
    );
}

#[test]
fn the_first_error_ends_where_clusterctl_ends() {
    let folder = tempfile::tempdir().unwrap();
    let bomb: String = (1..9)
        .map(|n| {
            format!(
                "a{n}: &a{n} [{}]\n",
                vec![format!("*a{}", n - 1); 9].join(",")
            )
        })
        .collect();
    let bomb = format!("a0: &a0 [{}]\n{bomb}", ["x"; 9].join(","));
    let bombs = vec![bomb.as_str(); 200].join("---\n");
    std::fs::write(folder.path().join("bombs.yaml"), bombs).unwrap();
    let output = bounded(folder.path(), &["generate", "yaml", "--from", "bombs.yaml"]);
    let said = text(&output);
    assert!(
        said.starts_with(
            "Error: failed to parse yaml: failed to unmarshal the 1st yaml document: "
        ),
        "{said}"
    );
    assert!(
        said.ends_with(
            ": error converting YAML to JSON: yaml: document contains excessive aliasing\n"
        ),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(1));
}

/// Text of standard output and standard error.
fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[cfg(unix)]
#[test]
fn pipes_in_place_of_files_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let release = path("repository/infrastructure-harbour/v0.1.0");
    std::fs::create_dir_all(&release).unwrap();
    std::fs::write(release.join("metadata.yaml"), "").unwrap();
    for pipe in [
        path("pipe.yaml"),
        release.join("infrastructure-components.yaml"),
    ] {
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
    }
    for arguments in [
        &["render", "pipe.yaml"][..],
        &["vars", "pipe.yaml"],
        &["generate", "yaml", "--from", "pipe.yaml"],
        &["repository", "doctor", "repository"],
    ] {
        let output = bounded(folder.path(), arguments);
        assert_ne!(output.status.code(), Some(0), "{arguments:?}");
        assert!(
            text(&output).contains("pipe"),
            "{arguments:?}: {}",
            text(&output)
        );
    }
}

#[test]
fn inputs_are_counted_before_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::File::create(folder.path().join("a.yaml"))
        .unwrap()
        .set_len(30 << 20)
        .unwrap();
    let mut arguments = vec!["render", "--all"];
    arguments.extend(vec!["a.yaml"; 60]);
    let output = bounded(folder.path(), &arguments);
    assert!(
        text(&output).contains("a.yaml: with it, the input is larger than 128 MiB"),
        "{}",
        text(&output)
    );
}

#[test]
fn contents_of_files_are_counted_before_they_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData:\n  k: {}\n",
        "x".repeat(20 << 20)
    );
    std::fs::write(folder.path().join("s.yaml"), secret).unwrap();
    let files: String = (0..200)
        .map(|n| format!("  - {{path: /f{n}, contentFrom: {{secret: {{name: s, key: k}}}}}}\n"))
        .collect();
    let config = format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n  files:\n{files}"
    );
    std::fs::write(folder.path().join("w.yaml"), config).unwrap();
    let output = bounded(folder.path(), &["render", "w.yaml", "s.yaml"]);
    let expected = "error[bootstrap-data-too-large]: with spec.files[1] the files of KubeadmConfig/w have more than 32 MiB";
    assert!(text(&output).contains(expected), "{}", text(&output));
}

/// A provider of own objects and role files, with a release of it.
fn build_of(objects: &str, roles: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).unwrap();
    write("o.yaml", objects);
    write("roles.yaml", roles);
    write(
        "metadata.yaml",
        "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries: [{major: 0, minor: 1, contract: v1beta2}]\n",
    );
    write(
        "provider.yaml",
        "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: RuntimeExtensionProvider\nnamespace: foo-system\nobjects: [o.yaml]\n\
         rbac: {roles: [roles.yaml]}\nmanager: {image: ghcr.io/foo/m}\n",
    );
    bounded(
        folder.path(),
        &["release", "build", "v0.1.0", "--to", "out", "-o", "json"],
    )
}

#[test]
fn each_faulty_field_is_told_once_however_many_there_are() {
    const MANY: usize = 12_000;
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [";
    let output = build_of(&format!("{pod}{}]}}\n", vec!["x"; MANY].join(", ")), "");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        report["findings"].as_array().unwrap().len(),
        MANY,
        "{:#}",
        report["findings"][0]
    );
}

#[test]
fn many_roles_are_bound_in_time() {
    let role = |n: usize| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: r{n}}}\nrules: []\n"
        )
    };
    let roles: Vec<String> = (0..15_000).map(role).collect();
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    let output = build_of(object, &roles.join("---\n"));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &report["objects"]),
        (Some(0), &30_004.into()),
        "{}",
        text(&output)
    );
}

#[test]
fn values_of_templates_of_files_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let content = format!(
        "{{{{ $a := \"x\" }}}}{}",
        "{{ $a = print $a $a }}".repeat(60)
    );
    let config = format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n  files:\n  \
         - {{path: /f, contentFormat: Template, content: '{content}'}}\n"
    );
    std::fs::write(folder.path().join("w.yaml"), config).unwrap();
    let output = bounded(folder.path(), &["render", "w.yaml"]);
    let expected = "error[config-template-rejected]: line 1 of the template in spec.files[0] produces a value of more than 16777216 bytes";
    assert!(text(&output).contains(expected), "{}", text(&output));
}

#[test]
fn references_on_one_line_and_defaults_in_defaults_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("line.yaml", format!("a: {}\n", "${A:=x} ".repeat(150_000)));
    write(
        "nested.yaml",
        format!("a: {}x{}\n", "${A:=".repeat(100_000), "}".repeat(100_000)),
    );
    for (file, uses) in [("line.yaml", 150_000), ("nested.yaml", 100_000)] {
        let output = bounded(folder.path(), &["vars", file]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(
            text(&output)
                .lines()
                .filter(|line| line.contains(&format!("  {file}:1:")))
                .count(),
            uses
        );
        assert_eq!(
            bounded(folder.path(), &["vars", "-o", "json", file])
                .status
                .code(),
            Some(0)
        );
    }
}

/// Rust's own formatting takes no width above 65,535, and panics; documents may hold more of
/// anything.
#[test]
fn nothing_of_a_document_is_too_wide_to_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let many = 70_000;
    write("tab.yaml", &format!("{}a:\n\tb: 1\n", " ".repeat(many)));
    let output = bounded(folder.path(), &["render", "tab.yaml"]);
    assert!(
        output.status.code() == Some(1) && text(&output).contains("error[yaml-syntax]"),
        "{}",
        text(&output)
    );
    assert!(
        text(&output).len() < 2000,
        "no help writes so long a line out: {}",
        text(&output).len()
    );
    for (verb, expected) in [
        ("%070000d", format!("{}7", "0".repeat(many - 1))),
        ("%.70000x", format!("{}7", "0".repeat(many - 1))),
    ] {
        let file = format!(
            "{{path: /a, contentFormat: Template, content: '{{{{ printf \"{verb}\" 7 }}}}'}}"
        );
        write(
            "printf.yaml",
            &format!(
                "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec: {{files: [{file}], joinConfiguration: {{nodeRegistration: {{name: a}}}}}}\n"
            ),
        );
        let output = bounded(folder.path(), &["render", "printf.yaml"]);
        assert!(
            String::from_utf8_lossy(&output.stdout).contains(&format!(" {expected}\n")),
            "{verb}: {}",
            text(&output).len()
        );
    }
    let wide = "A".repeat(many);
    write("vars.yaml", &format!("a: ${{{wide}}}\nb: ${{B}}\n"));
    let output = bounded(folder.path(), &["vars", "vars.yaml", "--short"]);
    assert!(
        output.status.success() && output.stdout.len() < many + 200,
        "{}",
        output.stdout.len()
    );
    write(&format!("r/x/v0.1.0-{}/metadata.yaml", "a".repeat(200)), "");
    write(
        "r/infrastructure-foo/v0.1.0/metadata.yaml",
        &format!(
            "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {{major: 0, minor: 1, contract: {wide}}}\n"
        ),
    );
    let output = bounded(folder.path(), &["repository", "list", "r"]);
    assert!(
        output.status.success() && output.stdout.len() < many + 2000,
        "{}",
        text(&output)
    );
}

/// A default of 200 KB for each of two thousand items that are empty: 400 MB of half a megabyte.
#[test]
fn defaults_of_foreign_schemas_are_bounded() {
    let items =
        "{type: array, items: {type: object, properties: {a: {type: string, default: DEFAULT}}}}"
            .replace("DEFAULT", &"x".repeat(200_000));
    let many = format!("[{}]", vec!["{}"; 2000].join(","));
    let example =
        std::fs::read_to_string(crate::support::root().join("examples/topology/harbour.yaml"))
            .unwrap();
    let check = |text: &str, expected: &str| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t.yaml"), text).unwrap();
        let output = bounded(folder.path(), &["topology", "plan", "t.yaml"]);
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{shown:.2000}");
        assert_eq!(shown.matches(expected).count(), 1, "{shown:.2000}");
        assert!(shown.len() < 10_000, "{} bytes", shown.len());
    };
    let spec = format!("{{type: object, properties: {{bomb: {items}}}}}");
    let crd = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: windlassconfigtemplates.bootstrap.windlass.dev}}\n\
         spec: {{versions: [{{name: v1beta2, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {spec}}}}}}}}}]}}\n"
    );
    let template = format!(
        "apiVersion: bootstrap.windlass.dev/v1beta2\nkind: WindlassConfigTemplate\nmetadata: {{name: bomb}}\nspec: {{bomb: {many}}}\n"
    );
    check(
        &format!("{example}\n---\n{crd}---\n{template}"),
        "with the defaults of its CRD WindlassConfigTemplate/bomb is larger than what one run holds",
    );
    let variable = format!(
        "  variables:\n  - name: bomb\n    required: false\n    schema: {{openAPIV3Schema: {items}}}\n"
    );
    let value =
        format!("    variables:\n    - {{name: bomb, value: {many}}}\n    - {{name: registry,");
    let text = example.replacen("  variables:\n", &variable, 1).replacen(
        "    variables:\n    - {name: registry,",
        &value,
        1,
    );
    check(
        &text,
        "the objects of the topology are larger than what one run holds",
    );
}

/// The example of a topology with another `enabledIf`.
fn topology_with(folder: &Path, enabled_if: &str) {
    let example =
        std::fs::read_to_string(crate::support::root().join("examples/topology/harbour.yaml"))
            .unwrap();
    let known = r#"enabledIf: "{{ gt (int .hugePages) 0 }}""#;
    assert!(example.contains(known));
    let text = example.replace(known, &format!("enabledIf: '{enabled_if}'"));
    std::fs::write(folder.join("t.yaml"), text).unwrap();
}

/// All that builds a value of another one, in a loop: what is walked, and what is only dropped.
#[test]
fn nesting_of_template_values_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let check = |enabled_if: &str, arguments: &[&str]| {
        topology_with(folder.path(), enabled_if);
        let output = bounded(folder.path(), arguments);
        let shown = text(&output);
        assert_eq!(output.status.code(), Some(1), "{enabled_if}: {shown:.2000}");
        let expected = "a value of more than 200 levels on line 1";
        assert!(shown.contains(expected), "{enabled_if}: {shown:.2000}");
    };
    let nested = |step: &str| {
        format!(
            "{{{{ $d := list }}}}{{{{ range until 100000 }}}}{{{{ $d = {step} }}}}{{{{ end }}}}true"
        )
    };
    let steps = [
        r#"dict "a" $d"#,
        "list $d",
        "tuple 1 $d",
        "append (list) $d",
        "prepend (list 1) $d",
        "concat (list $d) (list 1)",
        "chunk 1 (list $d)",
        r#"pick (dict "a" $d "b" 1) "a""#,
        r#"omit (dict "a" $d "b" 1) "b""#,
        r#"values (dict "a" $d)"#,
        r#"pluck "a" (dict "a" $d)"#,
        "reverse (list $d 1)",
        "slice (list $d 1) 0 1",
        "uniq (list $d)",
        "without (list $d 1) 1",
        "default (list $d) nil",
    ];
    for step in steps {
        check(&nested(step), &["topology", "plan", "t.yaml"]);
    }
    let walked = r#"{{ $d := dict }}{{ range until 100000 }}{{ $d = dict "a" $d }}{{ end }}{{ toJson $d | len }}"#;
    for arguments in [
        &["topology", "plan", "t.yaml"][..],
        &["render", "--all", "t.yaml"],
        &["validate", "t.yaml"],
        &["why", "file", "/etc/motd", "t.yaml"],
        &["size", "t.yaml"],
        &["diff", "t.yaml", "t.yaml"],
    ] {
        check(walked, arguments);
    }
}

#[test]
fn nesting_by_json_patches_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    provider_with_rules(folder.path(), &[]);
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let provider = std::fs::read_to_string(folder.path().join("provider.yaml")).unwrap();
    write(
        "provider.yaml",
        &format!(
            "{provider}objects: [own.yaml]\npatches: [{{path: p.yaml, target: {{kind: ConfigMap}}}}]\n"
        ),
    );
    write(
        "own.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n",
    );
    // Each copy doubles the depth.
    let operations: Vec<_> = (0..16)
        .map(|power| {
            let path = format!("/data{}", "/a".repeat((1 << power) - 1));
            serde_json::json!({"op": "copy", "from": "/data", "path": format!("{path}/a")})
        })
        .collect();
    write("p.yaml", &serde_json::to_string(&operations).unwrap());
    let output = bounded(
        folder.path(),
        &["release", "build", "v0.1.0", "--to", "out"],
    );
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown:.2000}");
    assert!(
        shown.contains("makes a value of more than 200 levels"),
        "{shown:.2000}"
    );
}

#[test]
fn regular_expressions_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    for (enabled_if, is_bounded) in [
        (
            r#"{{ range until 3000 }}{{ regexMatch (printf "((a{1,100}){1,100}){1,10%d}" .) "a" }}{{ end }}"#,
            true,
        ),
        (
            r#"{{ $s := repeat 100000 "a" }}{{ range until 3000 }}{{ $all := regexFindAll ".*[^A-Z]|[A-Z]" $s -1 }}{{ end }}"#,
            true,
        ),
        (
            r#"{{ $s := repeat 100000 "ab" }}{{ range until 3000 }}{{ regexMatch "(a|b)*a(a|b){900}c" $s }}{{ end }}"#,
            true,
        ),
        // The same expression is compiled once.
        (
            r#"{{ range until 3000 }}{{ if regexMatch "^v1\\.2[0-9]$" (printf "v1.2%d" .) }}{{ end }}{{ end }}true"#,
            false,
        ),
    ] {
        topology_with(folder.path(), enabled_if);
        let output = bounded(folder.path(), &["topology", "plan", "t.yaml"]);
        let shown = text(&output);
        assert_eq!(
            output.status.code(),
            Some(u8::from(is_bounded).into()),
            "{enabled_if}: {shown:.2000}"
        );
        let expected = "more than 268435456 steps in one run";
        assert_eq!(
            shown.contains(expected),
            is_bounded,
            "{enabled_if}: {shown:.2000}"
        );
    }
}

/// A release with a CRD whose fields have these patterns, and defaults that match.
fn release_with_patterns(folder: &Path, patterns: impl Iterator<Item = String>) {
    let fields: serde_json::Map<String, serde_json::Value> = patterns
        .enumerate()
        .map(|(at, pattern)| {
            let field =
                serde_json::json!({"type": "string", "pattern": pattern, "default": "aaaa"});
            (format!("a{at}"), field)
        })
        .collect();
    provider_with_rules(folder, &[]);
    let mut crd: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("crd.yaml")).unwrap()).unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] =
        fields.into();
    std::fs::write(
        folder.join("infrastructure-components.yaml"),
        crd.to_string(),
    )
    .unwrap();
    std::fs::remove_file(folder.join("provider.yaml")).unwrap();
    std::fs::remove_file(folder.join("crd.yaml")).unwrap();
}

#[test]
fn patterns_of_schemas_are_bounded() {
    let nested = |_: usize| "((a{1,100}){1,100}){1,100}".to_owned();
    let large = |at: usize| format!("((a{{1,100}}){{1,10}}){{1,10{at}}}");
    let small = |at: usize| format!("^[a-z]*{at}?$");
    for (patterns, count) in [
        (nested as fn(usize) -> String, 1000),
        (large, 1000),
        (small, 3000),
    ] {
        let folder = tempfile::tempdir().unwrap();
        release_with_patterns(folder.path(), (0..count).map(patterns));
        for format in ["text", "sarif"] {
            let output = bounded(folder.path(), &["lint", ".", "-o", format]);
            assert_eq!(output.status.code(), Some(1), "{:.2000}", text(&output));
        }
    }
}

/// Base64 of gzip of so many zeros.
fn packed_zeros(bytes: usize) -> String {
    use base64::Engine as _;
    let packed = windlass_source::gzip::compress(&vec![0; bytes]);
    base64::engine::general_purpose::STANDARD.encode(packed)
}

#[test]
fn unpacking_is_bounded_per_run() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let zeros = packed_zeros(3 << 20);
    let files: String = (0..240)
        .map(|at| format!("- path: /a{at}\n  encoding: gz+b64\n  content: {zeros}\n"))
        .collect();
    write(
        "data.yaml",
        &format!("#cloud-config\nwrite_files:\n{files}"),
    );
    let output = bounded(folder.path(), &["inspect", "data.yaml"]);
    let expected = "the content of /a239 is one of several that unpack to more than one run holds";
    assert!(text(&output).contains(expected), "{:.2000}", text(&output));
    let files: String = (0..200)
        .map(|at| format!("  - {{path: /a{at}, encoding: gzip+base64, content: {zeros}}}\n"))
        .collect();
    let config = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n  \
                  joinConfiguration: {nodeRegistration: {name: n}}\n  files:\n";
    write("w.yaml", &format!("{config}{files}"));
    for arguments in [
        &["render", "-o", "html", "w.yaml"][..],
        &["render", "--extract", "node", "w.yaml"],
        &["render", "-o", "json", "w.yaml"],
        &["size", "w.yaml"],
        &["diff", "w.yaml", "w.yaml"],
    ] {
        let output = bounded(folder.path(), arguments);
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{arguments:?}: {:.2000}",
            text(&output)
        );
    }
}

/// The API server rejects all causes in one message, which each finding would repeat.
#[test]
fn many_causes_of_one_rejection_are_reported_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n  \
         joinConfiguration: {{nodeRegistration: {{name: n}}}}\n  files:\n{}",
        "  - content: x\n".repeat(20_000)
    );
    std::fs::write(folder.path().join("w.yaml"), config).unwrap();
    for format in ["text", "json"] {
        let output = bounded(folder.path(), &["validate", "w.yaml", "-o", format]);
        assert_eq!(output.status.code(), Some(1), "{format}");
        let shown = text(&output);
        assert!(shown.contains("spec.files[19999].path"), "{shown:.2000}");
    }
}

#[test]
fn findings_take_little_memory() {
    const MANY: usize = 62_000;
    let folder = tempfile::tempdir().unwrap();
    let fields: String = (0..MANY).map(|at| format!("  bogus{at}: 1\n")).collect();
    let config = format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n  \
         joinConfiguration: {{nodeRegistration: {{name: n}}}}\n{fields}"
    );
    std::fs::write(folder.path().join("w.yaml"), config).unwrap();
    for (format, expected) in [
        ("text", "62001 errors"),
        ("json", "\"errors\": 62001"),
        ("sarif", "37002 findings are left out"),
        ("junit", "failures=\"62001\""),
        ("github", "bogus61999"),
    ] {
        let output = bounded(folder.path(), &["validate", "w.yaml", "-o", format]);
        assert_eq!(output.status.code(), Some(1), "{format}");
        assert!(text(&output).contains(expected), "{format}");
    }
}

#[test]
fn many_classes_are_validated_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let class = |at: usize| {
        format!(
            "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: {{name: c{at}}}\nspec:\n  \
             infrastructure: {{templateRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: FooClusterTemplate, name: t}}}}\n  \
             controlPlane: {{templateRef: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: t}}}}\n\
             ---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfigTemplate\nmetadata: {{name: k{at}}}\n\
             spec: {{template: {{spec: {{joinConfiguration: {{}}}}}}}}\n"
        )
    };
    let classes: String = (0..2000).map(class).collect();
    std::fs::write(folder.path().join("c.yaml"), classes).unwrap();
    for arguments in [&["validate", "c.yaml"][..], &["render", "--all", "c.yaml"]] {
        let output = bounded(folder.path(), arguments);
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{arguments:?}: {:.2000}",
            text(&output)
        );
    }
}
