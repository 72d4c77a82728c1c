//! `windlass-manager`: the controller that fulfils Cluster API's bootstrap contract.
#![allow(
    clippy::disallowed_methods,
    reason = "the manager is a shell: it has a clock, sockets, files, an environment and standard streams"
)]

mod client;
mod controller;
mod election;
mod fault;
mod flags;
mod log;
mod metrics;
mod process;
mod proxy;
mod readiness;
mod reading;
mod run;
mod server;
mod shutdown;

use std::io::Write as _;
use std::process::ExitCode;

use tokio_rustls::rustls::crypto::aws_lc_rs;

use crate::fault::{Fault, told};

/// Musl's own allocator takes half as much memory again with 10,000 Machines
/// (docs/adr/0039-jemalloc.md).
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The maximum number of threads that work, on a node with however many processors: a flood of
/// machines keeps less than one busy.
const MOST_THREADS: usize = 4;

const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

const USER_AGENT: &str = concat!("windlass-manager/v", env!("CARGO_PKG_VERSION"));

fn main() -> ExitCode {
    let arguments = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned());
    match flags::parse(arguments) {
        Ok(flags::Command::Run(flags)) => manage(*flags),
        // What cannot be written to a standard stream can be said nowhere.
        Ok(flags::Command::Print(text)) => std::io::stdout()
            .write_all(text.as_bytes())
            .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
        Err(fault) => {
            drop(writeln!(std::io::stderr(), "windlass-manager: {fault}"));
            ExitCode::FAILURE
        }
    }
}

fn manage(flags: flags::Flags) -> ExitCode {
    log::begin(flags.log_format, flags.verbosity);
    log_panics();
    match in_runtime(flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            tracing::error!(err = %told(fault.as_ref()), "Manager cannot continue");
            ExitCode::FAILURE
        }
    }
}

/// Logs where a panic was and not what it says, which may be a part of an object.
fn log_panics() {
    std::panic::set_hook(Box::new(|info| {
        let location = info.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(%location, "Panicked");
    }));
}

fn in_runtime(flags: flags::Flags) -> Result<(), Fault> {
    // Two are linked, of which the process has to choose one before anybody speaks TLS. Only a
    // second choice fails.
    drop(aws_lc_rs::default_provider().install_default());
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MOST_THREADS);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()?;
    let ended = runtime.block_on(run::run(flags));
    // Who has lost the lease waits for nothing.
    runtime.shutdown_background();
    ended
}
