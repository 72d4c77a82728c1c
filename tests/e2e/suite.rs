//! What Windlass emits, given to the programs that consume it: the API server, clusterctl, the
//! managers of Cluster API.
//!
//! `tests/peers/build` builds them, `cargo test -p windlass-e2e [PART-OF-A-NAME…]` runs the
//! scenarios. With `WINDLASS_KEEP=1` each control plane stays up after its scenario, for a look
//! around with kubectl.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test program: it starts programs, writes files, waits, and reports"
)]

mod harness;
mod scenarios;
mod selection;

use std::process::ExitCode;

fn main() -> ExitCode {
    // One TLS library in the whole program; kube and the webhook server both ask for the default.
    rustls::crypto::ring::default_provider()
        .install_default()
        .expect("no other writer has chosen one");
    harness::runner::main(scenarios::ALL)
}
