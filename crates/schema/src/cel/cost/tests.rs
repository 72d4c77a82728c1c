//! Estimates beside those of the API server's own code.

use super::*;
use crate::Schema;
use crate::cel::program::Program;

#[test]
fn estimates_are_those_of_the_api_server() {
    let mut node = Node::default();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("estimates.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let Some((cost, rule)) = line.split_once('\t') else {
            node = Schema::from_json(&serde_json::from_str(line).unwrap())
                .unwrap()
                .root;
            continue;
        };
        let ours = Program::compile(rule).unwrap().estimate(&node, false);
        if ours != Some(cost.parse().unwrap()) {
            wrong.push(format!("{rule}: {cost}, not {ours:?}"));
        }
        count += 1;
    }
    assert!(
        wrong.is_empty() && count > 70,
        "{count} estimates, wrong:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn what_is_beyond_a_limit_is_told_as_upstream_tells_it() {
    let check = |cost: u64, factor: &str| {
        assert!(
            exceeded("estimated rule cost", cost, 10_000_000)
                .contains(&format!(" of {factor} (try")),
            "{cost}"
        )
    };
    check(10_000_001, "1.000000x");
    check(14_500_000, "1.450000x");
    check(15_000_000, "1.5x");
    check(1_000_000_001, "more than 100x");
}
