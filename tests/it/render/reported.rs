//! `render -o json`: the data as it is printed, and what a node gets of it, with the fields that it
//! comes from.

use std::path::Path;
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::render_text;
use crate::support::windlass;

/// A config of ours with one of each, and without compression.
const CONFIG: &str = "apiVersion: bootstrap.windlass.dev/v1beta2\nkind: WindlassConfig\nmetadata: {name: w, namespace: team}\nspec:\n  \
                      compression: none\n  users: [{name: ops}, {name: dev}]\n  files:\n  \
                      - {path: /etc/a, content: xyz, permissions: \"0600\", owner: \"root:adm\"}\n  - {path: /etc/b, content: x}\n  \
                      bootCommands: [first]\n  preKubeadmCommands: [second]\n  postKubeadmCommands: [last]\n";

fn report(text: &str) -> Value {
    let (code, out, talk) = render_text(text, &["render", "-", "-o", "json", "--show-secrets"]);
    assert_eq!(code, 0, "{talk}");
    serde_json::from_str(&out).unwrap()
}

/// Data that is not text is base64 in JSON; size and sum are those of what is printed.
#[test]
fn the_data_in_json_is_what_is_printed() {
    for (text, encoding) in [
        (CONFIG.to_owned(), "utf-8"),
        (
            CONFIG.replace("compression: none", "compression: gzip"),
            "base64",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("c.yaml"), &text).unwrap();
        let printed = windlass(folder.path())
            .args(["render", "c.yaml"])
            .stderr(Stdio::null())
            .output()
            .unwrap()
            .stdout;
        let machine = &report(&text)["machines"][0];
        let data = machine["data"].as_str().unwrap();
        let data = if encoding == "utf-8" {
            data.as_bytes().to_vec()
        } else {
            STANDARD.decode(data).unwrap()
        };
        assert!(data == printed && !data.is_empty(), "{encoding}");
        let sum: String = Sha256::digest(&data)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let said = ["dataEncoding", "sha256", "bytes"].map(|key| machine[key].clone());
        assert_eq!(said, [json!(encoding), json!(sum), json!(data.len())]);
    }
}

#[test]
fn a_plan_names_the_fields_of_what_a_node_gets() {
    let report = report(CONFIG);
    let machine = &report["machines"][0];
    let of = [
        "object",
        "namespace",
        "file",
        "document",
        "role",
        "format",
        "encoder",
        "owner",
        "path",
        "topology",
    ]
    .map(|key| machine[key].clone());
    let expected = json!([
        "WindlassConfig/w",
        "team",
        "<stdin>",
        1,
        "worker-join",
        "cloud-config",
        "typed",
        null,
        null,
        null
    ]);
    assert_eq!(json!(of), expected);
    let plan = &machine["plan"];
    let own = [
        json!({"path": "/etc/a", "owner": "root:adm", "mode": "0600", "bytes": 3, "from": "spec.files[0]"}),
        json!({"path": "/etc/b", "owner": null, "mode": null, "bytes": 1, "from": "spec.files[1]"}),
    ];
    assert_eq!(plan["files"].as_array().unwrap()[..2], own);
    assert!(
        plan["files"].as_array().unwrap()[2..]
            .iter()
            .all(|file| file["from"].is_null()),
        "{plan}"
    );
    let commands: Vec<String> = plan["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| {
            format!(
                "{} {}",
                command["phase"].as_str().unwrap(),
                command["from"].as_str().unwrap_or("-")
            )
        })
        .collect();
    let expected = [
        "boot spec.bootCommands[0]",
        "pre-kubeadm spec.preKubeadmCommands[0]",
        "kubeadm -",
        "post-kubeadm spec.postKubeadmCommands[0]",
    ];
    assert_eq!(commands, expected);
    assert_eq!(
        plan["users"],
        json!([{"name": "ops", "from": "spec.users[0]"}, {"name": "dev", "from": "spec.users[1]"}])
    );
}

/// The document in the file, and the file that was written.
#[test]
fn a_machine_says_where_it_is_from_and_where_it_went() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "# first\n---\n{CONFIG}---\n{}",
        CONFIG.replace("name: w,", "name: v,")
    );
    std::fs::write(folder.path().join("c.yaml"), text).unwrap();
    let output = windlass(folder.path())
        .args(["render", "c.yaml", "--all", "--to", "out", "-o", "json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let machines = report["machines"].as_array().unwrap();
    let said: Vec<String> = machines
        .iter()
        .map(|machine| {
            format!(
                "{} {} {}",
                machine["object"], machine["document"], machine["path"]
            )
        })
        .collect();
    let documents: Vec<u64> = machines
        .iter()
        .map(|machine| machine["document"].as_u64().unwrap())
        .collect();
    assert_eq!(documents[1], documents[0] + 1, "{said:?}");
    for (machine, name) in machines.iter().zip(["w", "v"]) {
        let path = machine["path"].as_str().unwrap();
        assert_eq!(
            Path::new(path),
            Path::new("out").join(format!("{name}.worker-join.cloud-config")),
            "{said:?}"
        );
        assert_eq!(
            std::fs::read(folder.path().join(path)).unwrap().len() as u64,
            machine["bytes"].as_u64().unwrap()
        );
    }
}
