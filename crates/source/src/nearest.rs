//! "Did you mean": the known word that is nearest to a mistyped one.

use strsim::osa_distance;

/// Longer words are not compared: nobody mistypes one letter of them, and the comparison costs
/// their length squared.
const LONGEST: usize = 100;

/// The candidate that differs from `word` by the fewest insertions, deletions, replacements and
/// swaps of neighbours, if that is at most a third of the word (one edit for short words). Case
/// does not count. Of equally near candidates the first one wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    within((word.chars().count() / 3).max(1), word, candidates)
}

/// The same for words of which many are alike and right: at most two edits.
pub fn misspelt<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    within(2, word, candidates)
}

/// How many candidates one call looks at: it may be asked for each of many words, among the names
/// of a file that a stranger wrote.
const MOST_CANDIDATES: usize = 1000;

/// How many pairs of letters one call compares.
const MOST_PAIRS: usize = 1 << 17;

/// The nearest candidate of at most `bound` edits.
fn within<'a>(
    bound: usize,
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let folded = word.to_lowercase();
    let length = folded.chars().count();
    if length == 0 || length > LONGEST {
        return None;
    }
    let letters = letters(&folded);
    let mut left = MOST_PAIRS;
    candidates
        .into_iter()
        .take(MOST_CANDIDATES)
        .filter(|candidate| candidate.len() <= 4 * LONGEST)
        .map(|candidate| (candidate, candidate.to_lowercase()))
        .filter(|(_, other)| {
            other.chars().count().abs_diff(length) <= bound
                && fewest_edits(&letters, other) <= bound
        })
        .map_while(|(candidate, other)| {
            left = left.checked_sub(length * other.chars().count())?;
            Some((osa_distance(&folded, &other), candidate))
        })
        .filter(|(distance, _)| *distance <= bound)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How often a word has each letter; letters beyond ASCII share the places of others, which only
/// makes words look more alike.
fn letters(word: &str) -> [i32; 128] {
    let mut counts = [0; 128];
    word.chars()
        .for_each(|letter| counts[letter as usize % 128] += 1);
    counts
}

/// The number of letters that one of two words has and the other has not: so many edits it takes at
/// least.
fn fewest_edits(letters_of_word: &[i32; 128], other: &str) -> usize {
    let mut left = *letters_of_word;
    let mut alone = 0;
    for letter in other.chars() {
        let count = &mut left[letter as usize % 128];
        match count {
            0 => alone += 1,
            _ => *count -= 1,
        }
    }
    let of_word: i32 = left.iter().sum();
    alone.max(usize::try_from(of_word).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(
            nearest(word, candidates.iter().copied()),
            expected,
            "{word}"
        );
    }

    #[test]
    fn near_words_are_found() {
        check("biuld", &["bump", "build"], Some("build"));
        check("rendr", &["release", "render"], Some("render"));
        check("contract", &["crds", "contracts"], Some("contracts"));
        check(
            "preKubeadmCommand",
            &["postKubeadmCommands", "preKubeadmCommands"],
            Some("preKubeadmCommands"),
        );
        check("worker.yml", &["worker.yaml"], Some("worker.yaml"));
        check("Name", &["name"], Some("name"));
    }

    #[test]
    fn far_words_are_not() {
        check("foo", &["generate", "render"], None);
        check("ab", &["xy"], None);
        check("", &["a"], None);
        check(&"x".repeat(1000), &["x"], None);
    }

    #[test]
    fn letters_that_are_not_shared_are_edits() {
        for (word, other, expected) in [
            ("abc", "acb", 0),
            ("abc", "abd", 1),
            ("abc", "abcd", 1),
            ("aab", "abb", 1),
            ("äö", "xy", 2),
        ] {
            assert_eq!(
                fewest_edits(&letters(word), other),
                expected,
                "{word} {other}"
            );
            assert!(expected <= osa_distance(word, other), "{word} {other}");
        }
    }

    #[test]
    fn one_call_is_bounded() {
        let (word, alike) = ("x".repeat(100), format!("{}y", "x".repeat(99)));
        let looked_at = std::cell::Cell::new(0);
        let candidates = std::iter::repeat_n(alike.as_str(), 100_000)
            .inspect(|_| looked_at.set(looked_at.get() + 1));
        assert_eq!(nearest(&word, candidates), Some(alike.as_str()));
        assert!(
            looked_at.get() <= MOST_PAIRS / (100 * 100) + 1,
            "{}",
            looked_at.get()
        );
        looked_at.set(0);
        let far =
            std::iter::repeat_n("abc", 100_000).inspect(|_| looked_at.set(looked_at.get() + 1));
        assert_eq!(
            (nearest(&word, far), looked_at.get()),
            (None, MOST_CANDIDATES)
        );
    }
}
