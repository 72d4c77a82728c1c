//! Bootstrap data: the bytes of CAPI's own provider, what WindlassConfig adds, and the verb.

mod additions;
mod cloud_init;
mod contract;
mod control_plane;
mod extracted;
mod ignition;
mod node;
mod render_context;
mod reported;
mod shells;
mod template;
mod topology;
mod typed;
mod vectors;
mod verb;
mod whole_objects;

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::support::windlass;

/// Runs `windlass render` on a text from standard input: exit code, standard output, standard
/// error.
fn render_text(text: &str, flags: &[&str]) -> (i32, String, String) {
    let mut command = windlass(Path::new("."));
    let mut child = command
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command line that is rejected ends the program before it reads.
    match child.stdin.take().unwrap().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        written => written.unwrap(),
    }
    let output = child.wait_with_output().unwrap();
    let string = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        string(output.stdout),
        string(output.stderr),
    )
}

/// A KubeadmConfig with one file.
const WORKER: &str = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n  files:\n  - {path: /etc/a, content: x}\n";
