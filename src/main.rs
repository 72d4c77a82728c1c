//! The command line `windlass`.
fn main() {}
