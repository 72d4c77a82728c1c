//! Ends our children when this process dies without having done so itself (killed, aborted, out of
//! memory).
//!
//! A small shell reads the ids of our children from a pipe. The pipe closes when we end, however we
//! end, and what is still on the list then is killed.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock};

const SCRIPT: &str = r#"
pids=" "
while read -r sign pid; do
  case $sign in
    +) pids="$pids$pid " ;;
    -) pids="${pids%% $pid *} ${pids#* $pid }" ;;
  esac
done
[ "$pids" = " " ] || kill -9 $pids 2>/dev/null
"#;

static PIPE: OnceLock<Mutex<ChildStdin>> = OnceLock::new();

/// Puts a child on the list.
pub(crate) fn watch(id: u32) {
    tell('+', id);
}

/// Takes a child that has ended and has been waited for off the list, before its id can mean
/// another process.
pub(crate) fn forget(id: u32) {
    tell('-', id);
}

fn tell(sign: char, id: u32) {
    let mut pipe = PIPE
        .get_or_init(start)
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    writeln!(pipe, "{sign} {id}").expect("the watchdog reads until we end");
}

#[allow(
    clippy::zombie_processes,
    reason = "it outlives us: that is what it is for"
)]
fn start() -> Mutex<ChildStdin> {
    // A process group of its own: what the terminal sends to ours (Ctrl-C) must not end the
    // watchdog first.
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    let mut child = command.spawn().expect("/bin/sh starts");
    Mutex::new(child.stdin.take().expect("stdin is a pipe"))
}
