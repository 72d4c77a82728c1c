//! `windlass-manager`: the controller that fulfils Cluster API's bootstrap contract.

mod controller;

fn main() {}
