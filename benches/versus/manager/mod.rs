//! `versus manager`: our manager and the kubeadm bootstrap provider, one after the other on API
//! servers of their own, in one run.
//!
//! - `manager`: so many Machines at once, which were made while the manager was off.
//! - `manager-single`: one Machine after the other, in a cluster where nothing else happens.
//! - `manager-fair`: the same in a cluster of its own, while another cluster has very many at once.
//! - `manager-fleet`: very many Machines of many Clusters that are all nodes: what ours takes to
//!   hold them, and to begin again.
//! - `manager-stack`: all of Cluster API runs, with machines in memory, and a Cluster gets two
//!   hundred workers.
//!
//! But for the last one nobody calls webhooks, and no other controller runs. API server and etcd
//! work on the same processors, and take more of them than a manager does: rates are those of this
//! machine, and time of processors, memory and requests those of the program.

mod account;
mod fair;
mod fleet;
mod flood;
mod options;
mod side;
mod single;
mod site;
mod stack;
mod usage;

use std::process::ExitCode;

use options::Options;

/// How something is measured.
type Measure = fn(&Options);

/// What is measured: the argument that names it, and how.
const ROWS: [(&str, Measure); 5] = [
    ("manager", flood::run),
    ("manager-single", single::run),
    ("manager-fair", fair::run),
    ("manager-fleet", fleet::run),
    ("manager-stack", stack::run),
];

/// Measures what the first argument names; `None` when it names another row.
pub(crate) fn main(arguments: &[String]) -> Option<ExitCode> {
    let (name, rest) = arguments.split_first()?;
    let (_, measure) = ROWS.iter().find(|(row, _)| row == name)?;
    match Options::parse(rest) {
        Ok(options) => {
            // One TLS library in the whole program; kube asks for the default.
            rustls::crypto::ring::default_provider()
                .install_default()
                .expect("no other writer has chosen one");
            measure(&options);
            Some(ExitCode::SUCCESS)
        }
        Err(fault) => {
            eprintln!("error: {fault}");
            Some(ExitCode::from(2))
        }
    }
}
