//! The rules of the validating webhooks: upstream's vectors word for word, and each rule by a case
//! of its own.

use serde_json::{Value, json};
use windlass_capi::admission::{Judge, Rules, Wording, review, warnings};
use windlass_capi::api::names::Kind;
use windlass_capi::conversion::kubeadm_to_v1beta2;
use windlass_go_yaml::yaml::parse;
use windlass_schema::Violation;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::FieldPath;

use crate::support::vectors;

fn kubeadm_config(path: &std::path::Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let parsed = parse(
        &Source::new(path.to_str().unwrap(), text.as_str()),
        &Budget::default(),
    );
    parsed
        .documents
        .into_iter()
        .map(|document| document.root.into_json())
        .find(|value| value["kind"] == "KubeadmConfig")
        .unwrap()
}

/// What upstream's webhook of a profile says about a KubeadmConfig.
fn answered(case: &Value, object: &Value) -> String {
    let gate = case["featureGates"]["KubeadmBootstrapFormatIgnition"] == true;
    let mut judge = Judge::kubeadm(Kind::Config, gate);
    let is_old = object["apiVersion"].as_str().unwrap().ends_with("/v1beta1");
    let violations = if case["profile"] == "v1.10.10" {
        judge.rules = Rules::KubeadmV1Beta1 {
            ignition_gate: gate,
        };
        judge.wording = Wording::GoV1Beta1;
        judge.object(Kind::Config, object)
    } else if is_old {
        judge.object(Kind::Config, &kubeadm_to_v1beta2(object).unwrap())
    } else {
        judge.object(Kind::Config, object)
    };
    if violations.is_empty() {
        String::new()
    } else {
        judge.rejection(
            Kind::Config,
            object["metadata"]["name"].as_str().unwrap(),
            &violations,
        )
    }
}

#[test]
fn vectors_that_the_webhook_rejects_give_the_exact_text() {
    let vectors = vectors("render");
    let index: Value =
        serde_json::from_str(&std::fs::read_to_string(vectors.join("index.json")).unwrap())
            .unwrap();
    let (mut count, mut wrong) = (0, Vec::new());
    for case in index["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let source = case["error"]["source"].as_str().unwrap_or_default();
        // What the schema rejects the webhook does not see; some of those cases say what it would
        // have said.
        let expected = match source {
            "webhook" => {
                std::fs::read_to_string(vectors.join(name).join("expected.error.txt")).unwrap()
            }
            "schema" => match case["error"]["webhook"].as_str() {
                Some(text) => text.to_owned(),
                None => continue,
            },
            "decode" => continue,
            _ => String::new(),
        };
        count += usize::from(source == "webhook");
        let given = answered(
            case,
            &kubeadm_config(&vectors.join(name).join("input.yaml")),
        );
        if given != expected {
            wrong.push(format!("{name}\n  expected {expected}\n  given    {given}"));
        }
    }
    assert!(count >= 11, "only {count} cases found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn messages(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(Violation::to_string).collect()
}

/// Checks a spec as WindlassConfig's.
fn check(spec: Value, expected: &[&str]) {
    assert_eq!(
        messages(&Judge::windlass(Kind::Config).spec(&spec)),
        expected
    );
}

/// Checks a spec as KubeadmConfig's, with the gate for Ignition on.
fn check_kubeadm(spec: Value, expected: &[&str]) {
    assert_eq!(
        messages(&Judge::kubeadm(Kind::Config, true).spec(&spec)),
        expected
    );
}

#[test]
fn files_have_one_source_and_one_path() {
    let secret = json!({"secret": {"name": "s", "key": "k"}});
    let both = json!({"files": [{"path": "/a", "content": "<x>", "contentFrom": secret}]});
    let printed = r#"{"path":"/a","content":"\u003cx\u003e","contentFrom":{"secret":{"name":"s","key":"k"}}}"#;
    let rest = "only one of content or contentFrom may be specified for a single file";
    check_kubeadm(
        both.clone(),
        &[&format!("spec.files[0]: Invalid value: {printed}: {rest}")],
    );
    let printed =
        r#"{"path":"/a","content":"<redacted>","contentFrom":{"secret":{"name":"s","key":"k"}}}"#;
    check(
        both,
        &[&format!("spec.files[0]: Invalid value: {printed}: {rest}")],
    );
    check_kubeadm(
        json!({"files": [{"path": "/a", "contentFrom": {"secret": {"name": "s", "key": ""}}}]}),
        &[
            "spec.files[0].contentFrom.secret.key: Required value: secret file source must specify non-empty secret key",
        ],
    );
    check(
        json!({"files": [{"path": "/a", "contentFrom": {"configMap": {"name": "", "key": "k"}}}]}),
        &[
            "spec.files[0].contentFrom.configMap.name: Required value: config map file source must specify non-empty config map name",
        ],
    );
    check(
        json!({"files": [{"path": "/a"}, {"path": "/b"}, {"path": "/a", "owner": "root"}]}),
        &[
            r#"spec.files[2].path: Invalid value: {"path":"/a","owner":"root"}: path property must be unique among all files"#,
        ],
    );
}

#[test]
fn users_have_one_password() {
    let user = json!({"users": [{"name": "a", "passwd": "x", "passwdFrom": {"secret": {"name": "", "key": ""}}}, {"name": "b", "passwd": "x", "passwdFrom": {"secret": {"name": "s", "key": ""}}}]});
    check(
        user,
        &[
            r#"spec.users[1]: Invalid value: {"name":"b","passwd":"<redacted>","passwdFrom":{"secret":{"name":"s"}}}: only one of passwd or passwdFrom may be specified for a single user"#,
            "spec.users[1].passwdFrom.secret.key: Required value: secret file source must specify non-empty secret key",
        ],
    );
}

#[test]
fn ignition_is_judged_by_gate_format_and_version() {
    let off = Judge::kubeadm(Kind::Template, false);
    let spec = json!({"format": "ignition", "ignition": {"containerLinuxConfig": {"strict": true}}, "bootCommands": ["x"]});
    assert_eq!(
        messages(&off.spec(&spec)),
        [
            "spec.template.spec.format: Forbidden: can be set only if the KubeadmBootstrapFormatIgnition feature gate is enabled",
            "spec.template.spec.ignition: Forbidden: can be set only if the KubeadmBootstrapFormatIgnition feature gate is enabled",
        ]
    );
    check(
        json!({"ignition": {"version": "3.4"}}),
        &[r#"spec.format: Invalid value: "": must be set to "ignition" if spec.ignition is set"#],
    );
    let spec = |version: &str| {
        json!({
            "format": "ignition", "ignition": {"version": version}, "bootCommands": [],
            "users": [{"name": "u", "inactive": true}, {"name": "v", "inactive": false}],
            "files": [{"path": "/a", "encoding": "gzip+base64"}, {"path": "/b", "encoding": "gzip"}, {"path": "/c", "transferEncoding": "gzip+base64"}],
            "diskSetup": {
                "partitions": [{"device": "/d", "tableType": "mbr", "diskLayout": [{"percentage": 50}]}],
                "filesystems": [{"device": "/d", "filesystem": "ext4", "replaceFS": "ntfs", "partition": "auto"}],
            },
            "mounts": [["/dev/sdb"], ["/dev/sdb", "/x"]],
        })
    };
    let not = "Forbidden: not supported when spec.format is set to: \"ignition\"";
    let table = r#"spec.diskSetup.partitions[0].tableType: Invalid value: "mbr": only partition type "gpt" is supported when spec.format is set to "ignition""#;
    let at = |field: &str| format!("{field}: {not}");
    let old = [
        at("spec.users[0].inactive"),
        at("spec.files[0].encoding"),
        at("spec.files[1].encoding"),
        "spec.files[2].transferEncoding: Forbidden: \"gzip+base64\" is not supported when spec.ignition.version is \"2.3\"".to_owned(),
        at("spec.bootCommands"),
        table.to_owned(),
        at("spec.diskSetup.filesystems[0].replaceFS"),
        at("spec.diskSetup.filesystems[0].partition"),
    ];
    assert_eq!(
        messages(&Judge::windlass(Kind::Config).spec(&spec("2.3"))),
        old
    );
    let new = [
        at("spec.users[0].inactive"),
        at("spec.files[1].encoding"),
        at("spec.bootCommands"),
        table.to_owned(),
        at("spec.diskSetup.partitions[0].diskLayout"),
        at("spec.diskSetup.filesystems[0].replaceFS"),
        at("spec.diskSetup.filesystems[0].partition"),
        r#"spec.mounts[0]: Invalid value: ["/dev/sdb"]: must name a device and a mount point"#
            .to_owned(),
    ];
    assert_eq!(
        messages(&Judge::windlass(Kind::Config).spec(&spec("3.4"))),
        new
    );
}

#[test]
fn additional_config_is_ignition_that_can_be_merged() {
    let rejected = "spec.ignition.additionalConfig: Invalid value: <redacted>: must be a JSON object with ignition.version 3.0.0 to 3.4.0";
    let spec = |config: &str| json!({"format": "ignition", "ignition": {"version": "3.4", "additionalConfig": config}});
    check(spec(r#"{"ignition":{"version":"3.2.0"}}"#), &[]);
    for bad in [
        r#"{"ignition":{"version":"3.5.0"}}"#,
        r#"{"ignition":{"version":3}}"#,
        "[]",
        "ignition:\n  version: 3.4.0",
        "{",
    ] {
        check(spec(bad), &[rejected]);
    }
}

#[test]
fn disks_and_discovery_are_judged() {
    let parts = |a: i64, b: i64| json!({"diskSetup": {"partitions": [{"device": "/d", "diskLayout": [{"percentage": a}, {"percentage": b}]}]}});
    check(parts(50, 50), &[]);
    let sum = "spec.diskSetup.partitions[0].diskLayout: Invalid value: 110: the sum of all partition percentages must not be greater than 100";
    check(parts(60, 50), &[sum]);
    let user = json!({"authProvider": {"name": "x", "config": {"token": "t"}}, "exec": {"command": "c", "args": ["--token=t"]}});
    let join = json!({"joinConfiguration": {"discovery": {"file": {"kubeConfigPath": "/k", "kubeConfig": {"user": user}}}}});
    let head = "spec.joinConfiguration.discovery.file.kubeconfig.user: Invalid value: ";
    let tail = ": only one of authProvider or exec must be defined";
    let upstream = r#"{"authProvider":{"name":"x","config":{"token":"t"}},"exec":{"command":"c","args":["--token=t"]}}"#;
    check_kubeadm(join.clone(), &[&format!("{head}{upstream}{tail}")]);
    let ours = r#"{"authProvider":{"name":"x","config":"<redacted>"},"exec":{"command":"c","args":"<redacted>"}}"#;
    check(join, &[&format!("{head}{ours}{tail}")]);
}

/// As v1.10.10 itself answered. What a pointer leads to it shows by an address.
#[test]
fn the_webhook_of_v1_10_has_rules_of_its_own() {
    let path = FieldPath::root().field("spec");
    let judge = Judge {
        rules: Rules::KubeadmV1Beta1 {
            ignition_gate: true,
        },
        wording: Wording::GoV1Beta1,
        path,
    };
    let check = |spec: Value, expected: &[&str]| {
        assert_eq!(messages(&judge.spec(&spec)), expected, "{spec}")
    };
    let not_supported = |field: &str| {
        format!("spec.{field}: Forbidden: not supported when spec.format is set to: \"ignition\"")
    };
    check(
        json!({"format": "ignition", "useExperimentalRetryJoin": true}),
        &[&not_supported("useExperimentalRetryJoin")],
    );
    check(
        json!({"format": "ignition", "useExperimentalRetryJoin": false}),
        &[],
    );
    check(
        json!({"format": "cloud-config", "useExperimentalRetryJoin": true}),
        &[],
    );
    check(
        json!({"format": "cloud-config", "ignition": {}}),
        &[
            "spec.format: Invalid value: \"cloud-config\": must be set to \"ignition\" if spec.ignition is set",
        ],
    );
    let disks = json!({"partitions": [{"device": "d", "layout": true, "tableType": ""}], "filesystems": [{"replaceFS": ""}]});
    let table = "spec.diskSetup.partitions[0].tableType: Invalid value: \"\": \
                 only partition type \"gpt\" is supported when spec.format is set to \"ignition\"";
    check(
        json!({"format": "ignition", "diskSetup": disks}),
        &[table, &not_supported("diskSetup.filesystems[0].replaceFS")],
    );
    let user = |user: Value| json!({"joinConfiguration": {"discovery": {"file": {"kubeConfigPath": "/k", "kubeConfig": {"user": user}}}}});
    let head = "spec.joinConfiguration.discovery.file.kubeconfig.user: Invalid value: v1beta1.KubeConfigUser";
    let none = "{AuthProvider:(*v1beta1.KubeConfigAuthProvider)(nil), Exec:(*v1beta1.KubeConfigAuthExec)(nil)}";
    check(
        user(json!({})),
        &[&format!(
            "{head}{none}: at least one of authProvider or exec must be defined"
        )],
    );
    check(
        user(json!({"authProvider": {"name": "x"}, "exec": {"command": "c"}})),
        &[&format!(
            "{head}{{…}}: either authProvider or exec must be defined"
        )],
    );
    check(user(json!({"exec": {"command": "c"}})), &[]);
}

#[test]
fn a_control_plane_has_the_same_timeouts_for_init_and_join() {
    let path = FieldPath::root().field("spec").field("kubeadmConfigSpec");
    let judge = Judge {
        rules: Rules::KubeadmControlPlane {
            ignition_gate: false,
        },
        wording: Wording::Upstream,
        path,
    };
    let spec =
        json!({"initConfiguration": {"timeouts": {"controlPlaneComponentHealthCheckSeconds": 5}}});
    let detail = "controlPlaneComponentHealthCheckSeconds must be set to the same value both in initConfiguration.timeouts (5) and in \
                  joinConfiguration.timeouts (unset)";
    let at = |part: &str| {
        format!(
            "spec.kubeadmConfigSpec.{part}.timeouts.controlPlaneComponentHealthCheckSeconds: Invalid value: "
        )
    };
    let expected = [
        format!("{}\"5\": {detail}", at("initConfiguration")),
        format!("{}\"unset\": {detail}", at("joinConfiguration")),
    ];
    assert_eq!(messages(&judge.spec(&spec)), expected);
    check_kubeadm(spec, &[]);
}

#[test]
fn directories_are_absolute_and_unique() {
    let spec = json!({"files": [{"path": "/a"}], "directories": [{"path": "/a"}, {"path": "/b"}, {"path": r"C:\c"}]});
    check(
        spec,
        &[
            r#"spec.directories[0].path: Invalid value: "/a": path must be unique among all files and directories"#,
            r#"spec.directories[2].path: Invalid value: "C:\\c": must start with "/""#,
        ],
    );
    check(
        json!({"platform": "windows", "directories": [{"path": r"C:\c"}]}),
        &[],
    );
}

#[test]
fn windows_takes_short_passwords_in_clear_text() {
    let spec = |platform: &str, passwd: &str| json!({"platform": platform, "users": [{"name": "u", "passwd": passwd}]});
    check(spec("windows", "12345678901234567890"), &[]);
    let rejected = "spec.users[0].passwd: Invalid value: <redacted>: cloudbase-init takes a password in clear text of at most 20 characters";
    check(spec("windows", "123456789012345678901"), &[rejected]);
    check(spec("linux", "123456789012345678901"), &[]);
}

#[test]
fn what_has_no_effect_is_warned_of() {
    let check = |spec: Value, expected: &[&str]| {
        let found: Vec<String> = warnings(&spec, &FieldPath::root().field("spec"))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, expected);
    };
    let commands = json!(["echo a", "hostname {{ ds.meta_data.hostname }}"]);
    check(json!({"preKubeadmCommands": commands}), &[]);
    check(
        json!({"preKubeadmCommands": commands, "cloudConfig": {"templating": "none"}}),
        &[
            "spec.preKubeadmCommands[1]: `{{ ds.` is not replaced with spec.cloudConfig.templating \"none\"",
        ],
    );
    let name = json!({"format": "ignition", "joinConfiguration": {"nodeRegistration": {"name": "{{ v1.local_hostname }}"}}});
    check(
        name,
        &[
            "spec.joinConfiguration.nodeRegistration.name: `{{ v1.` is not replaced with spec.format \"ignition\"",
        ],
    );
    check(
        json!({"files": [{"path": "/a", "content": "{{ v1.x }}"}, {"path": "/b", "transferEncoding": "base64", "content": "{{ v1.x }}"}]}),
        &["spec.files[1].content: `{{ v1.` is not replaced in a file with transferEncoding"],
    );
    let windows = json!({"platform": "windows", "fileDefaults": {"owner": "root"}, "files": [{"path": "/a", "owner": "x"}],
        "users": [{"name": "u", "sudo": "ALL", "lockPassword": false, "gecos": "g"}]});
    check(
        windows,
        &[
            "spec.fileDefaults.owner: cloudbase-init ignores this field",
            "spec.files[0].owner: cloudbase-init ignores this field",
            "spec.users[0].lockPassword: cloudbase-init ignores this field",
            "spec.users[0].sudo: cloudbase-init ignores this field",
        ],
    );
    let files = json!([{"path": "/a", "append": true, "permissions": "644"}, {"path": "/b", "append": false, "permissions": "0644"}]);
    check(
        json!({"format": "ignition", "files": files}),
        &[
            "spec.files[0].append: Ignition 2.3 replaces the file",
            "spec.files[0].permissions: Ignition 2.3 reads `644` as a decimal number; write `0644`",
        ],
    );
    check(
        json!({"format": "ignition", "ignition": {"version": "3.4"}, "files": files}),
        &[],
    );
}

#[test]
fn the_metadata_of_a_template_is_judged() {
    let template = json!({"spec": {"template": {"metadata": {"labels": {"a b": "x"}, "annotations": {"/x": "y"}}, "spec": {"files": [{"path": "/a"}, {"path": "/a"}]}}}});
    let found = messages(&Judge::windlass(Kind::Template).object(Kind::Template, &template));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("spec.template.spec.files[1].path: Invalid value: "));
    assert!(found[1].starts_with(
        "spec.template.metadata.labels: Invalid value: \"a b\": name part must consist of"
    ));
    assert_eq!(
        found[2],
        "spec.template.metadata.annotations: Invalid value: \"/x\": prefix part must be non-empty"
    );
}

fn question(operation: &str, object: Value) -> Value {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u1", "operation": operation, "object": object}})
}

fn config(spec: Value) -> Value {
    json!({"apiVersion": "bootstrap.windlass.dev/v1beta2", "kind": "WindlassConfig", "metadata": {"name": "c"}, "spec": spec})
}

#[test]
fn reviews_are_answered() {
    let good = review(&question(
        "CREATE",
        config(json!({"files": [{"path": "/a"}]})),
    ));
    assert_eq!(
        good,
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": "u1", "allowed": true, "status": {"code": 200}}})
    );
    let spec = json!({"files": [{"path": "/a", "permissions": "644"}, {"path": "/a"}], "format": "ignition"});
    let bad = review(&question("UPDATE", config(spec)))["response"].clone();
    let body = r#"Invalid value: {"path":"/a"}: path property must be unique among all files"#;
    assert_eq!(
        bad,
        json!({
            "uid": "u1", "allowed": false, "warnings": ["spec.files[0].permissions: Ignition 2.3 reads `644` as a decimal number; write `0644`"],
            "status": {
                "metadata": {}, "status": "Failure", "code": 422, "reason": "Invalid",
                "message": format!("WindlassConfig.bootstrap.windlass.dev \"c\" is invalid: spec.files[1].path: {body}"),
                "details": {"group": "bootstrap.windlass.dev", "kind": "WindlassConfig", "name": "c",
                    "causes": [{"reason": "FieldValueInvalid", "message": body, "field": "spec.files[1].path"}]},
            },
        })
    );
}

#[test]
fn objects_of_v1beta1_are_converted_before_they_are_judged() {
    let mut object = config(
        json!({"users": [{"name": "a", "passwd": "x", "passwdFrom": {"secret": {"name": "s", "key": "k"}}}]}),
    );
    object["apiVersion"] = json!("bootstrap.windlass.dev/v1beta1");
    let answer = review(&question("CREATE", object.clone()));
    assert_eq!(
        answer["response"]["status"]["details"]["causes"][0]["field"],
        "spec.users[0]"
    );
    object["spec"] =
        json!({"clusterConfiguration": {"apiServer": {"timeoutForControlPlane": "soon"}}});
    let answer = review(&question("CREATE", object));
    assert_eq!(answer["response"]["status"]["code"], 400);
}

#[test]
fn deletion_is_never_in_the_way() {
    let broken = json!({"files": [{"path": "/a"}, {"path": "/a"}]});
    assert_eq!(
        review(&question("DELETE", Value::Null))["response"]["allowed"],
        true
    );
    let mut object = config(broken);
    object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    assert_eq!(
        review(&question("UPDATE", object))["response"]["allowed"],
        true
    );
}

#[test]
fn a_topology_dry_run_is_answered_as_the_real_thing() {
    let mut object = config(json!({}));
    object["kind"] = json!("WindlassConfigTemplate");
    object["metadata"]["annotations"] = json!({"topology.cluster.x-k8s.io/dry-run": ""});
    object["spec"] = json!({"template": {"spec": {"files": [{"path": "/a"}]}}});
    let mut asked = question("UPDATE", object.clone());
    let real = review(&asked);
    asked["request"]["dryRun"] = json!(true);
    asked["request"]["oldObject"] = config(json!({}));
    assert_eq!(review(&asked), real);
    assert_eq!(
        real["response"],
        json!({"uid": "u1", "allowed": true, "status": {"code": 200}})
    );
}

#[test]
fn questions_that_are_none_get_an_answer() {
    let check = |question: Value, message: &str| {
        let answer = review(&question);
        assert_eq!(answer["response"]["allowed"], false);
        assert_eq!(answer["response"]["status"]["code"], 400);
        assert_eq!(answer["response"]["status"]["message"], message);
    };
    check(
        Value::Null,
        "must be an AdmissionReview of admission.k8s.io/v1",
    );
    check(
        json!([1]),
        "must be an AdmissionReview of admission.k8s.io/v1",
    );
    check(
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}),
        "request.uid must be set",
    );
    check(
        question("PATCH", config(json!({}))),
        "request.operation must be CREATE, UPDATE, DELETE or CONNECT",
    );
    check(
        question("CREATE", Value::Null),
        "request.object: there is no content to decode",
    );
    check(
        question("CREATE", json!("x")),
        "request.object: must be a WindlassConfig or WindlassConfigTemplate of bootstrap.windlass.dev",
    );
    let other =
        json!({"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig"});
    check(
        question("CREATE", other),
        "request.object: must be a WindlassConfig or WindlassConfigTemplate of bootstrap.windlass.dev",
    );
    // Wrong types inside are the schema's business; they do no harm here.
    let odd =
        config(json!({"files": {"a": 1}, "users": [1, null], "ignition": "x", "diskSetup": []}));
    assert_eq!(review(&question("CREATE", odd))["response"]["uid"], "u1");
}
