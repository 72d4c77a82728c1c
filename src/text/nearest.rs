//! "Did you mean": the known word that is nearest to a mistyped one.

/// Longer words are not compared: nobody mistypes one letter of them, and the comparison costs their length squared.
const LONGEST: usize = 100;

/// The candidate that differs from `word` by the fewest insertions, deletions, replacements and swaps of neighbours, if that is at most
/// a third of the word (one edit for short words). Case does not count. Of equally near candidates the first one wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = folded(word);
    if letters.is_empty() || letters.len() > LONGEST {
        return None;
    }
    let bound = (letters.len() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 4 * LONGEST)
        .map(|candidate| (candidate, folded(candidate)))
        .filter(|(_, other)| other.len().abs_diff(letters.len()) <= bound)
        .map(|(candidate, other)| (distance(&letters, &other), candidate))
        .filter(|(distance, _)| *distance <= bound)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn folded(word: &str) -> Vec<char> {
    word.chars().flat_map(char::to_lowercase).collect()
}

/// Optimal string alignment distance: Levenshtein's, and a swap of two neighbours counts once.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = last;
        last = row;
    }
    last[b.len()]
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
