//! "Did you mean": the known word that is nearest to a mistyped one.

use strsim::osa_distance;

/// Longer words are not compared: nobody mistypes one letter of them, and the comparison costs their length squared.
const LONGEST: usize = 100;

/// The candidate that differs from `word` by the fewest insertions, deletions, replacements and swaps of neighbours, if that is at most
/// a third of the word (one edit for short words). Case does not count. Of equally near candidates the first one wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    within((word.chars().count() / 3).max(1), word, candidates)
}

/// The same for words of which many are alike and right: at most two edits.
pub(crate) fn misspelt<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    within(2, word, candidates)
}

/// The nearest candidate of at most `bound` edits.
fn within<'a>(bound: usize, word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase();
    let length = folded.chars().count();
    if length == 0 || length > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 4 * LONGEST)
        .map(|candidate| (candidate, candidate.to_lowercase()))
        .filter(|(_, other)| other.chars().count().abs_diff(length) <= bound)
        .map(|(candidate, other)| (osa_distance(&folded, &other), candidate))
        .filter(|(distance, _)| *distance <= bound)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(nearest(word, candidates.iter().copied()), expected, "{word}");
    }

    #[test]
    fn near_words_are_found() {
        check("biuld", &["bump", "build"], Some("build"));
        check("rendr", &["release", "render"], Some("render"));
        check("contract", &["crds", "contracts"], Some("contracts"));
        check("preKubeadmCommand", &["postKubeadmCommands", "preKubeadmCommands"], Some("preKubeadmCommands"));
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
}
