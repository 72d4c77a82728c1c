//! The program with all mutants: a copy of what git knows, rewritten and built.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::listed::Mutant;
use crate::rewrite::{Rewritten, rewrite};

/// How often what does not compile is taken out, before the build is given up.
const MOST_ROUNDS: usize = 40;

/// Where the switch stands.
const LIBRARY: &str = "src/lib.rs";

/// What the tests say in place of an empty environment.
const HANDED_ON: &str = ".env_clear().envs(std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(\"WINDLASS_MUTANT\")))";

/// Which mutant is alive, and a note of all that a process comes by.
const SWITCH: &str = r#"
/// Whether the mutant of this number is alive.
#[allow(missing_docs, clippy::all)]
pub fn mutant(number: usize) -> bool {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    static ALIVE: OnceLock<usize> = OnceLock::new();
    static REACHED: OnceLock<Option<(std::sync::Mutex<std::fs::File>, Vec<AtomicBool>)>> = OnceLock::new();
    let alive = *ALIVE.get_or_init(|| std::env::var("WINDLASS_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0));
    let reached = REACHED.get_or_init(|| {
        let path = std::env::var_os("WINDLASS_MUTANTS_REACHED")?;
        let file = std::fs::File::options().create(true).append(true).open(path).ok()?;
        Some((file.into(), (0..100_000).map(|_| AtomicBool::new(false)).collect()))
    });
    if let Some((file, seen)) = reached {
        if !seen[number].swap(true, Ordering::Relaxed) {
            use std::io::Write;
            let _ = file.lock().map(|mut file| file.write_all(&u32::try_from(number).unwrap_or(0).to_le_bytes()));
        }
    }
    alive == number
}
"#;

/// What was built.
#[derive(Serialize, Deserialize)]
pub struct Built {
    pub tree: PathBuf,
    pub mutants: Vec<Mutant>,
    /// How many cannot be in it.
    pub unviable: usize,
    /// The test programs: of the library, and tests/it.
    pub programs: Vec<PathBuf>,
}

/// What the last run built.
pub fn kept(work: &Path) -> Result<Built, String> {
    let text = fs::read_to_string(work.join("built.json"))
        .map_err(|error| format!("nothing was kept: {error}"))?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// Builds the program with these mutants.
pub fn build(work: &Path, all: Vec<Mutant>) -> Result<Built, String> {
    let tree = work.join("tree");
    let is_rewritten = |path: &str| path == LIBRARY || all.iter().any(|mutant| mutant.file == path);
    copy_tree(&tree, &is_rewritten).map_err(|error| format!("{}: {error}", tree.display()))?;
    let mut sources: BTreeMap<&str, (String, Vec<&Mutant>)> = BTreeMap::new();
    for mutant in &all {
        let text = || fs::read_to_string(&mutant.file).unwrap_or_default();
        sources
            .entry(&mutant.file)
            .or_insert_with(|| (text(), Vec::new()))
            .1
            .push(mutant);
    }
    sources
        .entry(LIBRARY)
        .or_insert_with(|| (fs::read_to_string(LIBRARY).unwrap_or_default(), Vec::new()));
    let mut out = BTreeSet::new();
    for round in 1..=MOST_ROUNDS {
        let mut written = BTreeMap::new();
        for (file, (text, mutants)) in &sources {
            let alive: Vec<&Mutant> = mutants
                .iter()
                .copied()
                .filter(|mutant| !out.contains(&mutant.id))
                .collect();
            let (mut rewritten, unknown) =
                rewrite(text, &alive).map_err(|error| format!("{file}: {error}"))?;
            for mutant in mutants.iter().filter(|mutant| unknown.contains(&mutant.id)) {
                eprintln!("  {}: this does not know how to write it", mutant.name);
            }
            out.extend(unknown);
            if *file == LIBRARY {
                rewritten.text.push_str(SWITCH);
            }
            write_if_other(&tree.join(file), rewritten.text.as_bytes())
                .map_err(|error| format!("{file}: {error}"))?;
            written.insert((*file).to_owned(), rewritten);
        }
        let blamed = compile(&tree, &written)?;
        eprintln!(
            "round {round}: {} more mutants do not compile",
            blamed.len()
        );
        for mutant in &all {
            blamed
                .get(&mutant.id)
                .iter()
                .for_each(|fault| eprintln!("  {}: {fault}", mutant.name));
        }
        if blamed.is_empty() {
            let unviable = out.len();
            let mutants = all
                .into_iter()
                .filter(|mutant| !out.contains(&mutant.id))
                .collect();
            let built = Built {
                programs: programs(&tree)?,
                tree,
                mutants,
                unviable,
            };
            let text = serde_json::to_string(&built).map_err(|error| error.to_string())?;
            fs::write(work.join("built.json"), text).map_err(|error| error.to_string())?;
            return Ok(built);
        }
        out.extend(blamed.into_keys());
    }
    Err("mutants that do not compile come up without an end".to_owned())
}

const TARGET: &str = "CARGO_TARGET_DIR";

/// A folder by itself: in that of the checkout cargo would take what is built here for the checkout's own.
fn target(tree: &Path) -> PathBuf {
    tree.with_file_name("target")
}

/// What git knows, as it stands in the checkout. Tests hand the variables on to the programs that they start.
fn copy_tree(tree: &Path, is_rewritten: &dyn Fn(&str) -> bool) -> std::io::Result<()> {
    let listing = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .output()?;
    for path in String::from_utf8_lossy(&listing.stdout).split_terminator('\0') {
        let to = tree.join(path);
        fs::create_dir_all(to.parent().unwrap_or(tree))?;
        let Ok(bytes) = fs::read(path) else { continue };
        if path.starts_with("tests/it/") && path.ends_with(".rs") {
            write_if_other(
                &to,
                String::from_utf8_lossy(&bytes)
                    .replace(".env_clear()", HANDED_ON)
                    .as_bytes(),
            )?;
        } else if !is_rewritten(path) {
            write_if_other(&to, &bytes)?;
            fs::set_permissions(&to, fs::metadata(path)?.permissions())?;
        }
    }
    Ok(())
}

/// What is the same is not built again.
fn write_if_other(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        Ok(())
    } else {
        fs::write(path, bytes)
    }
}

/// The mutants for which the library does not compile, and what the compiler says.
fn compile(
    tree: &Path,
    written: &BTreeMap<String, Rewritten>,
) -> Result<BTreeMap<usize, String>, String> {
    let mut command = Command::new("cargo");
    command.args([
        "check",
        "--locked",
        "--lib",
        "--package",
        "windlass",
        "--message-format",
        "json",
    ]);
    let output = command
        .current_dir(tree)
        .env(TARGET, target(tree))
        .stderr(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut blamed = BTreeMap::new();
    let mut unknown = Vec::new();
    for message in messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
    {
        let fault = &message["message"];
        if message["reason"] != "compiler-message" || fault["level"] != "error" {
            continue;
        }
        let found: Vec<usize> = spans(fault)
            .flat_map(|(file, range)| {
                written.get(&file).map_or_else(Vec::new, |text| {
                    text.to_blame(range, fault["code"]["code"] == "E0004")
                })
            })
            .collect();
        if found.is_empty() && !fault["code"].is_null() {
            unknown.push(fault["rendered"].as_str().unwrap_or_default().to_owned());
        }
        blamed.extend(found.into_iter().map(|number| {
            (
                number,
                fault["message"].as_str().unwrap_or_default().to_owned(),
            )
        }));
    }
    if blamed.is_empty() && !output.status.success() {
        Err(format!(
            "the library does not compile:\n{}",
            unknown.join("\n")
        ))
    } else {
        Ok(blamed)
    }
}

/// Where a fault is.
fn spans(fault: &Value) -> impl Iterator<Item = (String, std::ops::Range<usize>)> {
    let read = |span: &Value| {
        // A place in a macro stands where the macro is called.
        let mut span = span;
        while span["expansion"].is_object() {
            span = &span["expansion"]["span"];
        }
        let number = |key: &str| {
            span[key]
                .as_u64()
                .and_then(|number| usize::try_from(number).ok())
        };
        Some((
            span["file_name"].as_str()?.to_owned(),
            number("byte_start")?..number("byte_end")?,
        ))
    };
    fault["spans"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|span| span["is_primary"] == true)
        .filter_map(read)
}

fn programs(tree: &Path) -> Result<Vec<PathBuf>, String> {
    let mut command = Command::new("cargo");
    command.args([
        "test",
        "--locked",
        "--package",
        "windlass",
        "--lib",
        "--test",
        "it",
        "--no-run",
        "--message-format",
        "json",
    ]);
    let output = command
        .current_dir(tree)
        .env(TARGET, target(tree))
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err("the tests do not compile".to_owned());
    }
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let artifacts = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let tests = artifacts.filter(|message| {
        message["reason"] == "compiler-artifact" && message["profile"]["test"] == true
    });
    Ok(tests
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .collect())
}
