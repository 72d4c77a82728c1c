//! The comments of a text, to see that none is lost.

use std::collections::BTreeMap;

use windlass_go_yaml::yaml;
use windlass_source::budget::Budget;

/// Each comment with its first byte.
fn comments<'t>(text: &'t str, budget: &Budget) -> Vec<(usize, &'t str)> {
    let signs: Vec<usize> = memchr::memchr_iter(b'#', text.as_bytes())
        .filter(|at| *at == 0 || text.as_bytes()[at - 1].is_ascii_whitespace())
        .collect();
    let mut found = Vec::new();
    let mut end = 0;
    for (at, is_content) in signs.iter().zip(yaml::in_scalars(text, &signs, budget)) {
        if !is_content && *at >= end {
            end = text[*at..]
                .find('\n')
                .map_or(text.len(), |length| at + length);
            found.push((*at, text[*at..end].trim_end()));
        }
    }
    found
}

/// The comments of a text that another one has not, with their first bytes.
pub(super) fn missing<'t>(before: &'t str, after: &str, budget: &Budget) -> Vec<(usize, &'t str)> {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    let kept = comments(after, budget);
    kept.iter()
        .for_each(|(_, comment)| *left.entry(comment).or_default() += 1);
    let mut is_there = |comment: &str| match left.get_mut(comment) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    comments(before, budget)
        .into_iter()
        .filter(|(_, comment)| !is_there(comment))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_comment_does_not_count() {
        let text = "# a # b\nk: 'x # y' # c\nt: |\n  # content\n# a\n";
        let found: Vec<&str> = comments(text, &Budget::default())
            .into_iter()
            .map(|(_, comment)| comment)
            .collect();
        assert_eq!(found, ["# a # b", "# c", "# a"]);
        assert_eq!(
            missing(text, "# a\nk: 1\n# c\n", &Budget::default()),
            [(0, "# a # b")]
        );
    }
}
