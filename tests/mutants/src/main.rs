//! Judges the mutants of cargo-mutants all at once: they are compiled into one program, where a variable of the environment says which of
//! them is alive. What takes a build each that way takes as long as the tests which come by it.

#![allow(
    clippy::disallowed_methods,
    reason = "it starts the tests, and measures what they take"
)]

mod judge;
mod listed;
mod program;
mod rewrite;

use std::path::PathBuf;
use std::process::ExitCode;

use listed::Mutant;

const USAGE: &str = "\
Judges mutants by the tests of the library and of tests/it, each up to the first test that fails. Prints those that survive.

    windlass-mutants [OPTION]... [PATH]...     of the files below these paths; `src` when none is named

    --sample N     so many of them, drawn by chance
    --seed N       what they are drawn by [default: 1]
    --seconds N    how long the tests of a mutant may take; those that remain are not run [default: 60]
    --jobs N       how many are judged at once [default: processors]
    --keep         judge those of the program that was built last time, by tests as they were

A mutant that does not compile in one program with the others is not judged, and counted. Run in the checkout, with WINDLASS_SHARED set.
Exit status 1 when one survives, 2 when nothing could be judged.";

/// What the command line asks for.
struct Order {
    paths: Vec<String>,
    sample: Option<usize>,
    seed: u64,
    seconds: u64,
    jobs: usize,
    keep: bool,
}

impl Order {
    fn read(arguments: impl Iterator<Item = String>) -> Result<Order, String> {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let mut order = Order {
            paths: Vec::new(),
            sample: None,
            seed: 1,
            seconds: 60,
            jobs,
            keep: false,
        };
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            let mut number = || {
                let value = arguments
                    .next()
                    .ok_or_else(|| format!("{argument} wants a number"))?;
                value
                    .parse::<u64>()
                    .map_err(|_| format!("{argument} wants a number, not {value}"))
            };
            match argument.as_str() {
                "--sample" => order.sample = Some(number()? as usize),
                "--seed" => order.seed = number()?,
                "--seconds" => order.seconds = number()?,
                "--jobs" => order.jobs = number()?.max(1) as usize,
                "--keep" => order.keep = true,
                flag if flag.starts_with('-') => return Err(USAGE.to_owned()),
                path => order.paths.push(path.trim_end_matches('/').to_owned()),
            }
        }
        if order.paths.is_empty() {
            order.paths.push("src".to_owned());
        }
        Ok(order)
    }

    /// Those of all that are asked for.
    fn drawn(&self, mut mutants: Vec<Mutant>) -> Vec<Mutant> {
        let is_below = |file: &str| {
            self.paths.iter().any(|path| {
                file.strip_prefix(path.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        mutants.retain(|mutant| is_below(&mutant.file));
        if let Some(sample) = self.sample {
            let mut state = self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            mutants.sort_by_cached_key(|_| {
                // xorshift64*, as good as any for a draw.
                state ^= state >> 12;
                state ^= state << 25;
                state ^= state >> 27;
                state.wrapping_mul(0x2545_F491_4F6C_DD1D)
            });
            mutants.truncate(sample);
            mutants.sort_by_key(|mutant| mutant.id);
        }
        mutants
    }
}

fn main() -> ExitCode {
    let outcome = Order::read(std::env::args().skip(1)).and_then(|order| run(&order));
    match outcome {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::from(2)
        }
    }
}

/// How many survive.
fn run(order: &Order) -> Result<usize, String> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let work =
        std::path::absolute(target.join("all-mutants")).map_err(|error| error.to_string())?;
    let built = if order.keep {
        program::kept(&work)?
    } else {
        program::build(&work, order.drawn(listed::all()?))?
    };
    println!(
        "{} mutants, and {} that do not compile",
        built.mutants.len(),
        built.unviable
    );
    let tests = judge::measure(&built, &work, order)?;
    let verdicts = judge::judge(&built, &tests, order);
    let mut survivors = 0;
    for (mutant, verdict) in built.mutants.iter().zip(&verdicts) {
        if let Some(why) = verdict.survival() {
            survivors += 1;
            println!("{}\t{why}", mutant.name);
        }
    }
    println!("{survivors} of {} survive", built.mutants.len());
    if built.mutants.is_empty() {
        Err("no mutant was judged".to_owned())
    } else {
        Ok(survivors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listed::{Place, Span};

    fn order(arguments: &[&str]) -> Result<Order, String> {
        Order::read(arguments.iter().map(|argument| (*argument).to_owned()))
    }

    fn drawn(arguments: &[&str]) -> Vec<usize> {
        let place = Place { line: 1, column: 1 };
        let of = |id: usize| {
            let [name, genre, replacement] = ["", "", ""].map(str::to_owned);
            let file = if id <= 50 {
                "src/emit/a.rs"
            } else {
                "src/emitted.rs"
            }
            .to_owned();
            Mutant {
                id,
                file,
                name,
                genre,
                span: Span {
                    start: place,
                    end: place,
                },
                replacement,
            }
        };
        order(arguments)
            .unwrap()
            .drawn((1..=100).map(of).collect())
            .iter()
            .map(|mutant| mutant.id)
            .collect()
    }

    /// A seed gives the same mutants each time, in their order, and another one others.
    #[test]
    fn a_sample_is_known_by_its_seed() {
        let sample = |seed: &str| drawn(&["--sample", "20", "--seed", seed]);
        assert_eq!(sample("1"), sample("1"));
        assert_ne!(sample("1"), sample("2"));
        assert_eq!((sample("1").len(), sample("1").is_sorted()), (20, true));
        assert_eq!(drawn(&["--sample", "200"]).len(), 100);
    }

    #[test]
    fn paths_are_files_and_folders() {
        assert_eq!(drawn(&["src/emit/"]), (1..=50).collect::<Vec<_>>());
        assert_eq!(drawn(&["src/emitted.rs"]), (51..=100).collect::<Vec<_>>());
        assert_eq!((drawn(&[]).len(), drawn(&["src/emi"]).len()), (100, 0));
    }

    #[test]
    fn wrong_arguments_are_told() {
        let fault = |arguments: &[&str]| order(arguments).err().unwrap();
        assert_eq!(fault(&["--sample"]), "--sample wants a number");
        assert_eq!(fault(&["--seed", "x"]), "--seed wants a number, not x");
        assert_eq!(fault(&["--help"]), USAGE);
    }
}
