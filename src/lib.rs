#![doc = include_str!("../README.md")]

pub mod builtin;
pub mod cli;
pub mod editor;
pub mod io;
pub mod release_findings;
pub mod rules;
