//! The mutants that cargo-mutants would make, as it lists them.

use std::process::Command;

use serde::{Deserialize, Serialize};

/// A place in a file: line and column, both from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub start: Place,
    pub end: Place,
}

/// One change of the source.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Mutant {
    /// Its number, from one; the variable of the environment has it.
    #[serde(default)]
    pub id: usize,
    pub file: String,
    pub name: String,
    pub genre: String,
    pub span: Span,
    pub replacement: String,
}

/// All mutants of the library, without those of .cargo/mutants.toml.
pub fn all() -> Result<Vec<Mutant>, String> {
    let listing = Command::new("cargo")
        .args(["mutants", "--list", "--json", "--package", "windlass"])
        .output();
    let listing = listing.map_err(|error| format!("cargo mutants: {error}"))?;
    if !listing.status.success() {
        return Err(String::from_utf8_lossy(&listing.stderr).into_owned());
    }
    let mut mutants: Vec<Mutant> = serde_json::from_slice(&listing.stdout)
        .map_err(|error| format!("cargo mutants --list: {error}"))?;
    mutants.retain(|mutant| mutant.file != "src/main.rs");
    for (at, mutant) in mutants.iter_mut().enumerate() {
        mutant.id = at + 1;
    }
    Ok(mutants)
}
