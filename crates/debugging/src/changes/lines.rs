//! The lines that differ between two texts: those of a longest common subsequence stay.

use std::ops::Range;

use windlass_source::budget::Budget;

/// The maximum number of pairs of lines that are compared; beyond them all lines between the first
/// and the last that differ are taken as changed.
const MOST_PAIRS: usize = 4_000_000;

/// The changes of whole lines, in bytes of `old`, and what stands there in `new`; none when the
/// texts are equal.
pub(crate) fn changed_lines(old: &str, new: &str, budget: &Budget) -> Vec<(Range<usize>, String)> {
    let (before, after): (Vec<&str>, Vec<&str>) = (
        old.split_inclusive('\n').collect(),
        new.split_inclusive('\n').collect(),
    );
    let start = before
        .iter()
        .zip(&after)
        .take_while(|(old, new)| old == new)
        .count();
    let tail = before[start..]
        .iter()
        .rev()
        .zip(after[start..].iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    let (left, right) = (
        &before[start..before.len() - tail],
        &after[start..after.len() - tail],
    );
    let pairs = left.len().saturating_mul(right.len());
    let is_affordable = pairs <= MOST_PAIRS && budget.charge(pairs).is_ok();
    let kept = if is_affordable {
        common(left, right)
    } else {
        Vec::new()
    };
    let mut offset: usize = before[..start].iter().map(|line| line.len()).sum();
    let mut changes = Vec::new();
    let (mut at, mut new_at) = (0, 0);
    for (kept_old, kept_new) in kept.into_iter().chain([(left.len(), right.len())]) {
        let removed: usize = left[at..kept_old].iter().map(|line| line.len()).sum();
        if kept_old > at || kept_new > new_at {
            changes.push((offset..offset + removed, right[new_at..kept_new].concat()));
        }
        offset += removed + left.get(kept_old).map_or(0, |line| line.len());
        (at, new_at) = (kept_old + 1, kept_new + 1);
    }
    changes
}

/// The places of a longest common subsequence.
fn common(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for at in (0..old.len()).rev() {
        for new_at in (0..new.len()).rev() {
            lengths[at * width + new_at] = if old[at] == new[new_at] {
                lengths[(at + 1) * width + new_at + 1] + 1
            } else {
                lengths[(at + 1) * width + new_at].max(lengths[at * width + new_at + 1])
            };
        }
    }
    let (mut at, mut new_at, mut found) = (0, 0, Vec::new());
    while at < old.len() && new_at < new.len() {
        if old[at] == new[new_at] {
            found.push((at, new_at));
            (at, new_at) = (at + 1, new_at + 1);
        } else if lengths[(at + 1) * width + new_at] >= lengths[at * width + new_at + 1] {
            at += 1;
        } else {
            new_at += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_make_the_new_text_of_the_old_one() {
        let texts = [
            "",
            "a\n",
            "a\nb\nc\n",
            "a\nx\nc\n",
            "c\nb\na\n",
            "b",
            "a\nb\nc\nd\n",
            "\n\n",
            "a\na\nb\na\n",
        ];
        for old in texts {
            for new in texts {
                for budget in [Budget::default(), Budget::of(0)] {
                    let changes = changed_lines(old, new, &budget);
                    assert_eq!(changes.is_empty(), old == new, "{old:?} {new:?}");
                    let mut made = old.to_owned();
                    changes
                        .into_iter()
                        .rev()
                        .for_each(|(range, with)| made.replace_range(range, &with));
                    assert_eq!(made, new, "{old:?}");
                }
            }
        }
    }

    #[test]
    fn lines_that_both_have_stay() {
        let changes = changed_lines("a\nb\nc\nd\n", "a\nc\nx\nd\n", &Budget::default());
        assert_eq!(changes, [(2..4, String::new()), (6..6, "x\n".to_owned())]);
    }
}
