//! Prints the CRDs of the harbour provider: `cargo run --example harbour > crds.yaml`; with a
//! folder, writes each into a file of its own: `cargo run --example harbour
//! examples/harbour/config/crd`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    unreachable_pub,
    reason = "the program of a provider, not of windlass"
)]

mod api;

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1);
    for crd in api::crds() {
        let text = serde_yaml::to_string(&crd)?;
        match &folder {
            Some(folder) => std::fs::write(
                Path::new(folder).join(format!("{}.yaml", crd.spec.names.plural)),
                text,
            )?,
            None => println!("---\n{text}"),
        }
    }
    Ok(())
}
