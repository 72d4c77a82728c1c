//! The command line `windlass`.

use std::process::ExitCode;

use windlass::cli;
use windlass::io::cores;
use windlass::io::environment::Environment;
use windlass::io::files;
use windlass::io::stdio::Stdio;

/// Musl's own is slower (docs/adr/0039-jemalloc.md).
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[allow(
    clippy::disallowed_methods,
    reason = "the arguments of the process enter here"
)]
fn main() -> ExitCode {
    cores::this_thread_lasts();
    files::fail_at_size_limit();
    let run = || {
        cli::run(
            std::env::args_os(),
            Stdio::of_process(),
            &Environment::of_process(),
        )
        .code()
    };
    ExitCode::from(cli::report_panics(run))
}
