//! Ignition: what 3.4 writes, that it carries what cloud-config carries, and what is said of the
//! rest. The bytes of 2.3 are in the vectors.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use windlass_bootstrap::render::Encoder;
use windlass_bootstrap::render::plan::node_plan::{Kubeadm, NodePlan};
use windlass_bootstrap::render::write::cloud_config::{self, Paths};
use windlass_bootstrap::render::write::ignition::v3;
use windlass_capi::api::boot::{IgnitionVersion, OnFailure, Platform, Templating};
use windlass_capi::api::secret::Sensitive;
use windlass_source::diag::{FieldPath, Severity};
use windlass_source::gzip;

use super::node::{one_line_break, read};
use super::render_text;
use super::typed::plan;
use super::vectors::{cases, rendered_with};
use crate::support::vectors;

/// What a `data:` URL holds (RFC 2397).
fn data(resource: &Value) -> Vec<u8> {
    let source = resource["source"].as_str().unwrap();
    let bytes = match source.strip_prefix("data:;base64,") {
        Some(digits) => STANDARD.decode(digits).unwrap(),
        None => {
            let mut parts = source.strip_prefix("data:,").unwrap().split('%');
            let first = parts.next().unwrap().as_bytes().to_vec();
            let escaped = parts.flat_map(|part| {
                [
                    &[u8::from_str_radix(&part[..2], 16).unwrap()],
                    &part.as_bytes()[2..],
                ]
                .concat()
            });
            first.into_iter().chain(escaped).collect()
        }
    };
    match resource["compression"].as_str() {
        Some("gzip") => gzip::decompress(&bytes, 1 << 20).unwrap(),
        _ => bytes,
    }
}

fn file<'a>(config: &'a Value, path: &str) -> &'a Value {
    let files = config["storage"]["files"].as_array().unwrap();
    files
        .iter()
        .find(|file| file["path"] == path)
        .unwrap_or_else(|| panic!("no file {path}"))
}

fn text(config: &Value, path: &str) -> String {
    String::from_utf8(data(&file(config, path)["contents"])).unwrap()
}

const FLATCAR: &str = r#"
apiVersion: bootstrap.windlass.dev/v1beta2
kind: WindlassConfig
metadata: {name: flatcar}
spec:
  format: ignition
  ignition:
    version: "3.4"
    additionalConfig: '{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/x"}]}}'
  fileDefaults: {owner: "root:adm"}
  directories: [{path: /etc/kubernetes/patches, permissions: "0750"}]
  files:
  - {path: /etc/a, content: "x"}
  - {path: /etc/b, content: "eA==", encoding: base64, permissions: "755", owner: "1000:g"}
  - {path: /etc/c, content: "x\n\n", append: true}
  - {path: /etc/d, content: "hello", transferEncoding: gzip+base64}
  users:
  - {name: u1, gecos: "a: b", groups: "a, b,c", sudo: "ALL=(ALL) NOPASSWD:ALL", lockPassword: false, passwd: "$6$x"}
  ntp: {enabled: false, servers: [n1]}
  diskSetup:
    partitions: [{device: /dev/sdb, layout: true, overwrite: true}, {device: /dev/sdc, layout: false}]
    filesystems: [{device: /dev/sdb1, filesystem: ext4, label: etcd, overwrite: true, extraOpts: ["-E", lazy_itable_init=1]}]
  mounts: [[LABEL=etcd, /var/lib/etcd-disk, ext4, noatime]]
  preKubeadmCommands: ["echo hi"]
  postKubeadmCommands: ["echo bye"]
"#;

/// What api documents and the specification of Ignition 3.4 say of each field.
#[test]
fn version_3_4_has_what_the_config_says() {
    let (code, out, talk) = render_text(FLATCAR, &["render", "-"]);
    assert_eq!(code, 0, "{talk}");
    let config: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(config["ignition"]["version"], "3.4.0");
    let merged = data(&config["ignition"]["config"]["merge"][0]);
    assert_eq!(
        serde_json::from_slice::<Value>(&merged).unwrap()["storage"]["files"][0]["path"],
        "/x"
    );
    let named = |name: &str| json!({"name": name});
    let check = |path: &str, mode: u32, owner: [Value; 2], content: &str| {
        let found = file(&config, path);
        assert_eq!(
            (&found["mode"], &found["user"], &found["group"]),
            (&json!(mode), &owner[0], &owner[1]),
            "{path}"
        );
        assert_eq!(found["overwrite"], true, "{path}");
        assert_eq!(text(&config, path), content, "{path}");
    };
    check("/etc/a", 0o644, [named("root"), named("adm")], "x\n");
    check("/etc/b", 0o755, [json!({"id": 1000}), named("g")], "x");
    check("/etc/d", 0o644, [named("root"), named("adm")], "hello");
    assert_eq!(file(&config, "/etc/d")["contents"]["compression"], "gzip");
    let appended = file(&config, "/etc/c");
    assert_eq!(
        (&appended["contents"], &appended["overwrite"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(data(&appended["append"][0]), b"x\n");
    check(
        "/etc/sudoers.d/u1",
        0o600,
        [Value::Null, Value::Null],
        "u1 ALL=(ALL) NOPASSWD:ALL\n",
    );
    let sshd = "Match User u1\n  PasswordAuthentication yes\nMatch all\n";
    check(
        "/etc/ssh/sshd_config.d/40-windlass.conf",
        0o600,
        [Value::Null, Value::Null],
        sshd,
    );
    // kubeadm's documents hold the token.
    assert_eq!(
        (
            &file(&config, "/etc/kubeadm.yml")["mode"],
            &file(&config, "/etc/kubeadm.sh")["mode"]
        ),
        (&json!(0o600), &json!(0o700))
    );
    let script = text(&config, "/etc/kubeadm.sh");
    assert!(
        script.starts_with("#!/bin/bash\nset -e\n\necho hi\n\nkubeadm join --config /etc/kubeadm.yml \nmkdir -p /run/cluster-api"),
        "{script}"
    );
    assert!(
        script.ends_with("\nmv /etc/kubeadm.yml /tmp/\n\necho bye\n"),
        "{script}"
    );
    assert_eq!(
        config["passwd"]["users"][0],
        json!({"name": "u1", "gecos": "a: b", "groups": ["a", "b", "c"], "passwordHash": "$6$x"})
    );
    assert_eq!(
        config["storage"]["directories"],
        json!([{"path": "/etc/kubernetes/patches", "mode": 0o750, "user": {"name": "root"}, "group": {"name": "root"}}])
    );
    assert_eq!(
        config["storage"]["disks"],
        json!([{"device": "/dev/sdb", "wipeTable": true, "partitions": [{"number": 1}]}, {"device": "/dev/sdc"}])
    );
    let filesystem = json!([{
        "device": "/dev/sdb1", "format": "ext4", "label": "etcd", "path": "/var/lib/etcd-disk", "wipeFilesystem": true,
        "options": ["-E", "lazy_itable_init=1"],
    }]);
    assert_eq!(config["storage"]["filesystems"], filesystem);
    let units = config["systemd"]["units"].as_array().unwrap();
    let names: Vec<_> = units
        .iter()
        .map(|unit| unit["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["kubeadm.service", "var-lib-etcd\\x2ddisk.mount"]);
    let mount = units[1]["contents"].as_str().unwrap();
    assert!(
        mount.contains("What=/dev/sdb1\nWhere=/var/lib/etcd-disk\nType=ext4\nOptions=noatime\n"),
        "{mount}"
    );
    assert!(
        units[0]["contents"]
            .as_str()
            .unwrap()
            .contains("\nExecStart=/bin/bash /etc/kubeadm.sh\n")
    );
}

/// Book, KubeadmConfigSpec: boot commands run at each boot, and Ignition has none; what runs before
/// and after kubeadm is in the run commands, or in the script that Ignition starts.
#[test]
fn commands_of_both_formats_surround_kubeadm() {
    let rendered = |spec: &str| {
        let commands = "preKubeadmCommands: [echo before], postKubeadmCommands: [echo after]";
        let head = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: a}";
        let gate = [
            "render",
            "-",
            "--feature-gates",
            "KubeadmBootstrapFormatIgnition=true",
        ];
        render_text(&format!("{head}\nspec: {{{spec}, {commands}}}\n"), &gate)
    };
    let places = |text: &str| {
        ["echo before", "kubeadm join", "echo after"].map(|part| {
            text.find(part)
                .unwrap_or_else(|| panic!("no `{part}`: {text}"))
        })
    };
    let (_, data, talk) = rendered("bootCommands: [echo boot]");
    let (boot, run) = data
        .split_once("runcmd:")
        .unwrap_or_else(|| panic!("{talk}"));
    assert!(
        places(run).is_sorted() && boot.contains("bootcmd:\n") && boot.contains("echo boot"),
        "{data}"
    );
    let (_, data, _) = rendered("format: ignition");
    let script = text(&serde_json::from_str(&data).unwrap(), "/etc/kubeadm.sh");
    assert!(places(&script).is_sorted(), "{script}");
    let (code, _, talk) = rendered("format: ignition, bootCommands: [echo boot]");
    let rejected = "spec.bootCommands: not supported when spec.format is set to: \"ignition\"";
    assert!(code == 1 && talk.contains(rejected), "{talk}");
}

#[test]
fn the_example_is_valid() {
    let (code, out, talk) = render_text(
        "",
        &[
            "render",
            concat!(env!("CARGO_MANIFEST_DIR"), "/examples/flatcar.yaml"),
        ],
    );
    assert_eq!(code, 0, "{talk}");
    assert!(!talk.contains("warning"), "{talk}");
    let config: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(v3::check(&config), []);
    assert_eq!(
        config["storage"]["filesystems"][0]["path"],
        "/var/lib/containerd"
    );
}

#[test]
fn compressed_data_replaces_itself() {
    let (_, plain, _) = render_text(FLATCAR, &["render", "-"]);
    let (code, out, talk) = render_text(
        &FLATCAR.replace("  format:", "  compression: gzip\n  format:"),
        &["render", "-"],
    );
    assert_eq!(code, 0, "{talk}");
    assert!(
        out.starts_with("{\"ignition\":{\"version\":\"3.4.0\",\"config\":{\"replace\":{\"source\":\"data:;base64,"),
        "{out}"
    );
    let config: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        data(&config["ignition"]["config"]["replace"]),
        plain.as_bytes()
    );
}

#[test]
fn the_script_reports_what_fails() {
    let (_, out, _) = render_text(
        &FLATCAR.replace("  format:", "  onFailure: Report\n  format:"),
        &["render", "-"],
    );
    let script = text(&serde_json::from_str(&out).unwrap(), "/etc/kubeadm.sh");
    let lines = "windlass_step 'kubeadm join'\nkubeadm join --config /etc/kubeadm.yml  || exit $?\nmkdir -p /run/cluster-api && echo success";
    assert!(script.contains(lines), "{script}");
    assert!(
        script.contains(
            "trap windlass_exit EXIT\n\nwindlass_step 'preKubeadmCommands[0]'\necho hi\n"
        ),
        "{script}"
    );
    assert!(script.ends_with("echo bye\nwindlass_at=end\n"), "{script}");
    // Report and Abort are the same: `set -e` is upstream's.
    let (_, aborting, _) = render_text(
        &FLATCAR.replace("  format:", "  onFailure: Abort\n  format:"),
        &["render", "-"],
    );
    assert_eq!(out, aborting);
}

#[test]
fn what_ignition_loses_is_named() {
    let (code, _, talk) = render_text(FLATCAR, &["render", "-", "--ignition", "2.3"]);
    assert_eq!(code, 1);
    assert!(
        talk.contains(
            "error[ignition-config-rejected]: spec.ignition.additionalConfig needs Ignition 3.4"
        ),
        "{talk}"
    );
    for field in [
        "files[2].append",
        "files[1].permissions",
        "users[0].lockPassword",
        "users[0].groups",
        "mounts[0]",
        "ntp.enabled",
    ] {
        let warning = format!(
            "warning[ignition-field-lost]: spec.{field} does not reach the node as it is written"
        );
        assert!(talk.contains(&warning), "{field}: {talk}");
    }
    assert!(
        !render_text(FLATCAR, &["render", "-"])
            .2
            .contains("ignition-field-lost")
    );
}

/// What WindlassConfig adds is also written in 2.3, where that version has it.
#[test]
fn additions_in_version_2_3() {
    let spec = "  format: ignition\n  fileDefaults: {permissions: '640'}\n  directories: [{path: /d, permissions: '750', owner: 'u:g'}]\n  files:\n  - {path: /a, content: x}\n  - {path: /b, content: ' x', transferEncoding: base64, permissions: '0600'}\n";
    let config = format!(
        "apiVersion: bootstrap.windlass.dev/v1beta2\nkind: WindlassConfig\nmetadata: {{name: w}}\nspec:\n{spec}"
    );
    let render = |config: &str| {
        let (code, out, talk) = render_text(config, &["render", "-"]);
        assert_eq!(code, 0, "{talk}");
        serde_json::from_str::<Value>(&out).unwrap()
    };
    let written = render(&config);
    assert_eq!(written["ignition"]["version"], "2.3.0");
    assert_eq!(
        (&file(&written, "/a")["mode"], text(&written, "/a").as_str()),
        (&json!(0o640), "x\n")
    );
    assert_eq!(
        (&file(&written, "/b")["mode"], text(&written, "/b").as_str()),
        (&json!(0o600), " x")
    );
    let directory = json!([{"filesystem": "root", "group": {"name": "g"}, "path": "/d", "user": {"name": "u"}, "mode": 0o750}]);
    assert_eq!(written["storage"]["directories"], directory);
    let without_defaults = render(&config.replace("  fileDefaults: {permissions: '640'}\n", ""));
    assert_eq!(file(&without_defaults, "/a")["mode"], 0o644);
}

#[test]
fn what_upstream_throws_away_is_shown() {
    let config = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n  format: ignition\n  ignition:\n    containerLinuxConfig:\n      additionalConfig: |\n        storage:\n          files:\n          - {path: /a, contents: {inline: x}}\n";
    let flags = [
        "render",
        "-",
        "--feature-gates",
        "KubeadmBootstrapFormatIgnition=true",
    ];
    let (code, data, talk) = render_text(config, &flags);
    assert_eq!(code, 0, "{talk}");
    assert!(
        data.starts_with("{\"ignition\":{\"config\":{},\"security\":{\"tls\":{}}"),
        "{data}"
    );
    let words = "line 3 of spec.ignition.containerLinuxConfig.additionalConfig: mode unspecified for file, defaulting to 0644";
    assert!(
        talk.contains(&format!(
            "warning[ignition-additional-config-warning]: {words}\n"
        )),
        "{talk}"
    );
    let (_, secret, _) = render_text(config, &[&flags[..], &["-o", "secret"]].concat());
    assert!(
        secret.contains(&format!("format: {}", STANDARD.encode("ignition"))),
        "{secret}"
    );
    let (_, report, _) = render_text(config, &[&flags[..], &["-o", "json"]].concat());
    let report: Value = serde_json::from_str(&report).unwrap();
    let machine = &report["machines"][0];
    assert_eq!(
        (&machine["format"], &machine["ignitionVersion"]),
        (&json!("ignition"), &json!("2.3"))
    );
    let paths: Vec<_> = machine["plan"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/etc/kubeadm.sh", "/etc/kubeadm.yml", "/a"]);
    let (_, _, rejected) = render_text(
        &config.replace(
            "additionalConfig: |",
            "strict: true\n      additionalConfig: |",
        ),
        &flags,
    );
    assert!(
        rejected.contains(&format!(
            "error[ignition-additional-config-rejected]: {words}\n"
        )),
        "{rejected}"
    );
}

/// Each vector that upstream renders is also rendered in 3.4, or the rejection names a field that 3.4
/// cannot express.
#[test]
fn vectors_in_version_3_4() {
    let root = vectors("render");
    let mut written = 0;
    for case in cases(&root)
        .iter()
        .filter(|case| case.is_ignition && case.expected != "expected.error.txt")
    {
        let (rendered, findings) = rendered_with(case, Encoder::Capi, Some(IgnitionVersion::V3_4));
        match rendered {
            Some(rendered) => {
                let config = serde_json::from_slice(rendered.data.expose()).unwrap();
                assert_eq!(v3::check(&config), [], "{}", case.name);
                written += 1;
            }
            None => {
                let mut errors = findings
                    .iter()
                    .filter(|finding| finding.rule.severity == Severity::Error)
                    .peekable();
                assert!(
                    errors.peek().is_some()
                        && errors.all(|finding| finding.rule.id.starts_with("ignition-")),
                    "{}",
                    case.name
                );
            }
        }
    }
    assert!(written >= 50, "only {written} vectors are written");
}

/// A plan with what Ignition 3.4 has a word for, as odd as it was otherwise.
fn fitted(mut plan: NodePlan) -> NodePlan {
    for (index, file) in plan.files.iter_mut().enumerate() {
        let own = format!("/f{index}/");
        file.path = format!("{own}{}", file.path);
        if !clean(&file.path).starts_with(&own) {
            // `..` leads to the folder, or to a file of another one.
            file.path = format!("{own}f");
        }
        file.owner = ["", "u", "u:g", ":g"][index % 4].to_owned();
        file.permissions = ["", "0600", "755"][index % 3].to_owned();
        match file.encoding {
            "gzip" => file.encoding = "",
            "base64" => {
                file.content = Sensitive::new(STANDARD.encode(file.content.expose()).into_bytes())
            }
            "gzip+base64" => {
                file.content = Sensitive::new(
                    STANDARD
                        .encode(gzip::compress(file.content.expose()))
                        .into_bytes(),
                )
            }
            _ => {}
        }
    }
    for (index, user) in plan.users.iter_mut().enumerate() {
        user.name = format!("{index}{}", user.name);
    }
    let setup = plan.disk_setup.iter_mut();
    for setup in setup {
        for (index, disk) in setup.partitions.iter_mut().flatten().enumerate() {
            disk.device = format!("/dev/{index}");
            disk.disk_layout = None;
            disk.layout.get_or_insert(true);
        }
        for (index, system) in setup.filesystems.iter_mut().flatten().enumerate() {
            system.device = format!("/dev/{index}");
            system.filesystem = "btrfs".to_owned();
        }
    }
    for (index, mount) in plan.mounts.iter_mut().enumerate() {
        *mount = vec![format!("/dev/{index}"), format!("/m-{index}")];
    }
    for (index, directory) in plan.directories.iter_mut().enumerate() {
        directory.path = format!("/d{index}/{}", directory.path);
    }
    plan.boot_commands.clear();
    (plan.platform, plan.on_failure, plan.templating) =
        (Platform::Linux, OnFailure::Continue, Templating::None);
    plan
}

/// Files by path: content, mode, owner, whether it is appended.
type Files = BTreeMap<String, (Vec<u8>, u32, String, bool)>;

fn files_of_cloud_config(node: &Value, own: &[&str]) -> Files {
    let files = node["write_files"].as_array().unwrap().iter();
    let file = |file: &Value| {
        let text = |key: &str| file[key].as_str().unwrap_or_default().to_owned();
        let mode = u32::from_str_radix(file["permissions"].as_str().unwrap_or("0644"), 8).unwrap();
        (
            text("path"),
            (
                STANDARD.decode(text("content")).unwrap(),
                mode,
                text("owner"),
                file["append"] == true,
            ),
        )
    };
    files
        .map(file)
        .filter(|(path, _)| !own.contains(&path.as_str()))
        .map(|(path, file)| (clean(&path), file))
        .collect()
}

/// Ignition takes paths without `//`, `.` and `..` only.
fn clean(path: &str) -> String {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    let clean = parts.fold(String::new(), |path, part| match part {
        ".." => path
            .rsplit_once('/')
            .map_or(String::new(), |(parent, _)| parent.to_owned()),
        part => format!("{path}/{part}"),
    });
    if clean.is_empty() {
        "/".to_owned()
    } else {
        clean
    }
}

fn files_of_ignition(config: &Value) -> Files {
    let files = config["storage"]["files"].as_array().unwrap().iter();
    let file = |file: &Value| {
        let name = |key: &str| file[key]["name"].as_str().unwrap_or_default().to_owned();
        let owner = if name("group").is_empty() {
            name("user")
        } else {
            format!("{}:{}", name("user"), name("group"))
        };
        let append = file["append"].is_array();
        let content = one_line_break(&data(if append {
            &file["append"][0]
        } else {
            &file["contents"]
        }));
        let mode = u32::try_from(file["mode"].as_u64().unwrap()).unwrap();
        (
            file["path"].as_str().unwrap().to_owned(),
            (content, mode, owner, append),
        )
    };
    files.map(file).collect()
}

fn each_once<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = BTreeSet::new();
    texts.filter(|text| known.insert(*text)).collect()
}

fn users_of_cloud_config(node: &Value) -> Vec<Value> {
    let user = |user: &Value| {
        let groups = user["groups"]
            .as_str()
            .unwrap_or_default()
            .split(',')
            .map(str::trim)
            .filter(|group| !group.is_empty());
        let texts = [
            "name",
            "passwd",
            "gecos",
            "homedir",
            "shell",
            "primary_group",
        ]
        .map(|key| user[key].as_str().unwrap_or_default());
        let keys = user["ssh_authorized_keys"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        json!([texts, each_once(groups), each_once(keys)])
    };
    node["users"]
        .as_array()
        .into_iter()
        .flatten()
        .map(user)
        .collect()
}

fn users_of_ignition(config: &Value) -> Vec<Value> {
    let user = |user: &Value| {
        let texts = [
            "name",
            "passwordHash",
            "gecos",
            "homeDir",
            "shell",
            "primaryGroup",
        ]
        .map(|key| user[key].as_str().unwrap_or_default());
        let list = |key: &str| user[key].as_array().cloned().unwrap_or_default();
        json!([texts, list("groups"), list("sshAuthorizedKeys")])
    };
    config["passwd"]["users"]
        .as_array()
        .into_iter()
        .flatten()
        .map(user)
        .collect()
}

/// Takes the file away and gives its content.
fn taken(files: &mut Files, path: &str) -> Option<String> {
    files
        .remove(path)
        .map(|(content, ..)| String::from_utf8(content).unwrap())
}

fn check(plan: &NodePlan) -> Result<bool, TestCaseError> {
    let Ok(ignition) = v3::encode(plan, None, &FieldPath::root()) else {
        return Ok(false);
    };
    let ignition: Value = serde_json::from_slice(ignition.expose()).unwrap();
    let written = cloud_config::encode(plan, Encoder::Typed);
    let node = read(written.expose());
    prop_assert!(
        node.is_some(),
        "{}",
        String::from_utf8_lossy(written.expose())
    );
    let node = node.unwrap_or_default();
    let paths = Paths::on(Platform::Linux);
    let own = [paths.placeholder, paths.configuration(&plan.kubeadm)];
    let mut files = files_of_ignition(&ignition);
    // What users may do is said in files.
    for user in &plan.users {
        let sudo = (!user.sudo.is_empty())
            .then(|| one_line_break(format!("{} {}", user.name, user.sudo).as_bytes()));
        prop_assert_eq!(
            taken(&mut files, &clean(&format!("/etc/sudoers.d/{}", user.name)))
                .map(String::into_bytes),
            sudo
        );
    }
    let with_password =
        taken(&mut files, "/etc/ssh/sshd_config.d/40-windlass.conf").unwrap_or_default();
    prop_assert!(
        plan.users
            .iter()
            .all(|user| user.lock_password != Some(false) || with_password.contains(&user.name))
    );
    let script = taken(&mut files, "/etc/kubeadm.sh").unwrap();
    let documents = taken(&mut files, "/etc/kubeadm.yml").unwrap();
    let has_ntp = taken(&mut files, "/etc/ntp.conf").is_some();
    prop_assert_eq!(files, files_of_cloud_config(&node, &own));
    prop_assert_eq!(users_of_ignition(&ignition), users_of_cloud_config(&node));
    let mut rest = script.as_str();
    let commands = plan
        .pre_kubeadm_commands
        .iter()
        .chain(&plan.post_kubeadm_commands)
        .map(|command| command.expose().trim_end_matches('\n'));
    for command in commands {
        let at = rest.find(&format!("\n{command}"));
        prop_assert!(at.is_some(), "{command:?} is missing in {script:?}");
        rest = &rest[at.unwrap() + 1 + command.len()..];
    }
    match &plan.kubeadm {
        Kubeadm::Init { cluster, init } => prop_assert_eq!(
            documents,
            format!("---\n{}\n---\n{}", cluster.expose(), init.expose())
        ),
        Kubeadm::Join { join, .. } => prop_assert_eq!(documents, format!("---\n{}", join.expose())),
    }
    let units: BTreeSet<&str> = ignition["systemd"]["units"]
        .as_array()
        .unwrap()
        .iter()
        .map(|unit| unit["name"].as_str().unwrap())
        .collect();
    let time = plan
        .ntp
        .as_ref()
        .is_some_and(|ntp| ntp.enabled == Some(true));
    let servers = plan.ntp.as_ref().is_some_and(|ntp| {
        ntp.servers
            .as_ref()
            .is_some_and(|servers| !servers.is_empty())
    });
    prop_assert_eq!(
        (units.contains("ntpd.service"), has_ntp),
        (time, time && servers)
    );
    prop_assert_eq!(units.len(), 1 + usize::from(time) + plan.mounts.len());
    let directories = ignition["storage"]["directories"]
        .as_array()
        .map_or(0, Vec::len);
    prop_assert_eq!(directories, plan.directories.len());
    Ok(true)
}

/// Every plan that cloud-config can express and Ignition 3.4 accepts carries the same files, users,
/// units and commands.
#[test]
fn both_formats_carry_the_same() {
    let mut runner = TestRunner::new(Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    });
    let accepted = std::cell::Cell::new(0);
    let checked = runner.run(&plan().prop_map(fitted), |plan| {
        accepted.set(accepted.get() + u32::from(check(&plan)?));
        Ok(())
    });
    checked.unwrap();
    assert!(
        accepted.get() > 150,
        "Ignition accepts only {}",
        accepted.get()
    );
}

#[test]
fn what_version_3_4_cannot_express_is_rejected_at_its_field() {
    let text = FLATCAR
        .replace("path: /etc/a", "path: /etc/kubeadm.sh")
        .replace("filesystem: ext4", "filesystem: zfs")
        .replace(
            "{device: /dev/sdc, layout: false}",
            "{device: sdc, layout: false}",
        )
        .replace("\"755\"", "\"rwx\"")
        .replace("eA==", "=");
    let (code, out, talk) = render_text(&text, &["render", "-"]);
    assert_eq!((code, out.as_str()), (1, ""), "{talk}");
    for words in [
        "spec.files[1].permissions is not an octal number up to 7777",
        "spec.files[1].content is not base64",
        "spec.diskSetup.filesystems[0] must be ext4, btrfs, xfs, vfat, swap or none",
        "spec.diskSetup.partitions[1] must be an absolute path without `//`, `.`, `..` or `/` at its end",
        "spec.files[0] has the path of another file",
    ] {
        assert!(
            talk.contains(&format!("error[ignition-config-rejected]: {words}\n")),
            "{words}: {talk}"
        );
    }
}

/// Where the provider's template fails, as its manager logs it.
#[test]
fn mounts_without_a_mount_point_are_rejected_in_upstreams_words() {
    for (mounts, place) in [
        (
            "[[]]",
            "template:57:18: executing \"template\" at <index . 0>",
        ),
        (
            "[[a]]",
            "template:58:23: executing \"template\" at <index . 1>",
        ),
    ] {
        let text = format!(
            "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec: {{format: ignition, mounts: {mounts}}}\n"
        );
        let gate = "KubeadmBootstrapFormatIgnition=true";
        let (code, _, talk) =
            render_text(&text, &["render", "-", "-v", "1", "--feature-gates", gate]);
        assert!(
            code == 1
                && talk.contains("spec.mounts[0] names no mount point")
                && talk.contains(place),
            "{talk}"
        );
    }
}

/// What CAPI's text makes of a field is told at the field, and names no line of a text that nobody
/// sees.
#[test]
fn what_breaks_the_generated_config_is_told_at_its_field() {
    let check = |spec: &str, place: &str, message: &str| {
        let head = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n  format: ignition\n";
        let flags = [
            "render",
            "-",
            "--feature-gates",
            "KubeadmBootstrapFormatIgnition=true",
            "-v",
            "1",
        ];
        let (code, _, talk) = render_text(&format!("{head}{spec}"), &flags);
        let told = format!("error[ignition-config-rejected]: {message}\n  --> <stdin>:{place}\n");
        assert!(
            code == 1
                && talk.contains(&told)
                && talk.contains("= note: upstream's words: building Ignition config: "),
            "{spec}\n{talk}"
        );
        let line = talk.lines().next().unwrap_or_default();
        assert!(!line.contains(": line "), "{line}");
    };
    check(
        "  users:\n  - name: \"a: b\"\n",
        "7:11",
        "spec.users[0].name: mapping values are not allowed in this context",
    );
    // A text that leaves its lines breaks those after it.
    check(
        "  users:\n  - name: \"a\\n  b\"\n",
        "7:11",
        "spec.users[0].name: could not find expected ':'",
    );
    check(
        "  ntp:\n    enabled: true\n    servers: [\"a\\nb\", c]\n",
        "8:15",
        "spec.ntp.servers[0]: could not find expected ':'",
    );
    check(
        "  mounts:\n  - [a, \"b\\nc\"]\n  - [d, e]\n",
        "7:5",
        "spec.mounts[0]: could not find expected ':'",
    );
    let file = "  files:\n  - path: /a\n    content: x\n";
    check(
        &format!("{file}    permissions: \"a: b\"\n"),
        "9:18",
        "spec.files[0].permissions: mapping values are not allowed in this context",
    );
    check(
        &format!("{file}    owner: \"@a:b\"\n    permissions: '0644'\n"),
        "9:12",
        "spec.files[0].owner: found character that cannot start any token",
    );
    check(
        file,
        "7:5",
        "spec.files[0]: mode unspecified for file, defaulting to 0644",
    );
    let filesystem = "  diskSetup:\n    filesystems:\n    - {device: /a, filesystem: \"b: c\", label: d, overwrite: true}\n";
    check(
        filesystem,
        "8:32",
        "spec.diskSetup.filesystems[0].filesystem: mapping values are not allowed in this context",
    );
}

/// A finding about an additional config stands in the line of the block that it is about.
#[test]
fn lines_of_an_additional_config_are_those_of_the_file() {
    let head = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n  format: ignition\n";
    let at = |text: &str| {
        let config = format!(
            "{head}  ignition:\n    containerLinuxConfig:\n      strict: true\n      additionalConfig: {text}\n"
        );
        let (code, _, talk) = render_text(
            &config,
            &[
                "render",
                "-",
                "--feature-gates",
                "KubeadmBootstrapFormatIgnition=true",
            ],
        );
        let rule = "error[ignition-additional-config-rejected]: line ";
        let places = talk
            .split(rule)
            .skip(1)
            .map(|told| told.lines().nth(1).unwrap().trim().to_owned());
        (code, places.collect::<Vec<_>>())
    };
    let place = |line: &str| format!("--> <stdin>:{line}");
    assert_eq!(
        at("|\n        storage:\n          files:\n          - path: /a\n        bla: x"),
        (1, vec![place("12:11"), place("13:9")])
    );
    // Empty lines count; a text in quotes has no lines of its own.
    assert_eq!(
        at("|\n\n        storage: {}\n        bla: x"),
        (1, vec![place("12:9")])
    );
    assert_eq!(at("\"storage: {}\\nbla: x\""), (1, vec![place("9:25")]));
}
