//! `inspect`: order and failures of cloud-init's modules, compared with the modules themselves.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{runs, windlass};

const PYTHON: &str = "/usr/bin/python3";

/// Lets the first entry of each module fail, and returns which entries were reached and what the
/// module raised. Files are written to a folder; owners are looked up on this machine.
const MODULES: &str = r#"
import json, logging, os, sys, tempfile
from unittest import mock
import yaml
from cloudinit.config import cc_disk_setup, cc_users_groups, cc_write_files

logging.disable(logging.CRITICAL)
cfg = yaml.safe_load(sys.stdin)
folder = tempfile.mkdtemp()
out = {}

def run(name, module, reached):
    try:
        module()
        out[name] = [reached(), None]
    except Exception as error:
        out[name] = [reached(), type(error).__name__]

files = [dict(f, path=folder + f["path"]) for f in cfg["write_files"]]
modes = lambda: {f["path"][len(folder):]: "%04o" % (os.stat(f["path"]).st_mode & 0o7777)
                 for f in files if os.path.exists(f["path"])}
run("write_files", lambda: cc_write_files.write_files("write_files", files, "root:root"), modes)

def failing(seen):
    def entry(name, *args, **kwargs):
        seen.append(name)
        if len(seen) == 1:
            raise OSError(name)
    return entry

cloud = mock.MagicMock()
cloud.get_public_ssh_keys.return_value = []
cloud.device_name_to_device.return_value = None
cloud.distro.get_default_user.side_effect = NotImplementedError()
seen = []
cloud.distro.create_user = failing(seen)
log = logging.getLogger()
run("users", lambda: cc_users_groups.handle("users", cfg, cloud, log, []), lambda: seen)
disks = []
with mock.patch.object(cc_disk_setup, "mkpart", failing(disks)):
    run("disk_setup", lambda: cc_disk_setup.handle("disk_setup", cfg, cloud, log, []), lambda: disks)
json.dump(out, sys.stdout)
"#;

/// The order of modules in the configuration of the package.
const ORDER: &str = r#"
import json, sys, yaml
cfg = yaml.safe_load(open("/etc/cloud/cloud.cfg"))
stages = ["cloud_init_modules", "cloud_config_modules", "cloud_final_modules"]
name = lambda module: (module if isinstance(module, str) else module[0]).replace("-", "_")
json.dump([name(m) for s in stages for m in cfg[s]], sys.stdout)
"#;

/// The answer of a Python program with cloud-init; `None` where cloud-init is not installed.
fn ask(program: &str, input: &str) -> Option<Value> {
    if !runs(&[PYTHON, "-c", "import cloudinit, yaml"]) {
        return None;
    }
    let mut child = Command::new(PYTHON)
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    Some(serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap())
}

fn inspected(data: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("data"), data).unwrap();
    let output = windlass(folder.path())
        .args(["inspect", "data", "-o", "json"])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn steps(report: &Value) -> &Vec<Value> {
    report["documents"][0]["steps"].as_array().unwrap()
}

/// What follows when the first entry of a module fails is what cloud-init does.
#[test]
fn modules_fail_as_those_of_cloud_init() {
    let data = "#cloud-config\nwrite_files:\n- {path: /a}\n- {path: /b, owner: 'no-such-user:root'}\n- {path: /c}\n\
                users: [{name: u}, {name: v}]\ndisk_setup: {/dev/x: {layout: true}, /dev/y: {layout: true}}\n";
    let Some(answers) = ask(MODULES, data) else {
        return;
    };
    let expected = json!({
        "write_files": [{"/a": "0644", "/b": "0644"}, "OSError"],
        "users": [["u"], "OSError"],
        "disk_setup": [["/dev/x", "/dev/y"], null],
    });
    assert_eq!(answers, expected);
    let report = inspected(data);
    for (module, answer) in answers.as_object().unwrap() {
        let is_skipping = !answer[1].is_null();
        let of_module = |step: &&Value| step["by"].as_str().unwrap().starts_with(module.as_str());
        for step in steps(&report).iter().filter(of_module) {
            let failure = if is_skipping {
                "ends-module"
            } else {
                "goes-on"
            };
            assert_eq!(step["failure"], failure, "{step}");
        }
    }
}

/// Permissions are reported exactly if cloud-init gives the file another mode than its digits.
#[test]
fn permissions_are_read_as_by_cloud_init() {
    for (written, digits) in [
        ("'0644'", "0644"),
        ("0644", "0644"),
        ("0o644", "0644"),
        ("\"600\"", "0600"),
        ("0600", "0600"),
        ("'0999'", "0999"),
        ("0999", "0999"),
        ("644", "0644"),
        ("755", "0755"),
        ("'u=rw'", "u=rw"),
        ("' 0640 '", "0640"),
        ("'0_640'", "0640"),
    ] {
        let data = format!(
            "#cloud-config\nwrite_files:\n- {{path: /a, permissions: {written}}}\nusers: [{{name: u}}]\ndisk_setup: {{}}\n"
        );
        let Some(answers) = ask(MODULES, &data) else {
            return;
        };
        let report = inspected(&data);
        let is_told = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|finding| finding["rule"] == "inspect-permissions-invalid");
        assert_eq!(
            is_told,
            answers["write_files"][0]["/a"] != digits,
            "{written}: {answers}"
        );
    }
}

/// The keys that Cluster API's data has, in the order of the modules of the package.
#[test]
fn steps_are_in_the_order_of_cloud_init() {
    let Some(order) = ask(ORDER, "") else {
        return;
    };
    let order: Vec<&str> = order
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let data = "#cloud-config\nruncmd: [a]\nntp: {enabled: true}\nusers: [{name: u}]\nhostname: h\nmounts: [[a, b]]\n\
                disk_setup: {}\ngrowpart: {}\nwrite_files: [{path: /a}, {path: /b, defer: true}]\nbootcmd: [a]\n";
    let module_of = |by: &str| match by {
        "runcmd[0]" => "scripts_user",
        "write_files[0]" => "write_files",
        "write_files[1]" => "write_files_deferred",
        "users" => "users_groups",
        "hostname" => "set_hostname",
        "bootcmd[0]" => "bootcmd",
        "ntp" => "ntp",
        "mounts" => "mounts",
        "disk_setup" => "disk_setup",
        "growpart" => "growpart",
        _ => panic!("internal error: {by} is not in the data"),
    };
    let report = inspected(data);
    let places: Vec<usize> = steps(&report)
        .iter()
        .map(|step| module_of(step["by"].as_str().unwrap()))
        .map(|module| order.iter().position(|name| *name == module).unwrap())
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(places.len(), 10);
}
