//! The order in which go-yaml v2 writes the keys of a mapping.

use std::cmp::Ordering;
use std::sync::LazyLock;

use regex::Regex;

/// Puts keys, which must come in byte order, into Go's order.
///
/// Go compares digits with digits by their number and digits with letters by their kind, which is
/// no order: `v1alpha1` < `v2` < `v10` < `v1alpha1`. Where keys form no such circle there is one
/// result, Go's. Where they do, Go's result changes from run to run; this one is always the same,
/// for it depends on the set of keys alone.
pub(super) fn sort<'a, T>(entries: &mut Vec<(&'a str, T)>) {
    let is_sorted = |entries: &[(&'a str, T)]| {
        entries.is_sorted_by(|a, b| natural(a.0, b.0) != Ordering::Greater)
    };
    if is_sorted(entries) {
        return;
    }
    let keys: Vec<&str> = entries.iter().map(|(key, _)| *key).collect();
    let mut rank = vec![0; keys.len()];
    for (at, index) in merge_sorted(&keys).into_iter().enumerate() {
        rank[index] = at;
    }
    let mut ranked: Vec<_> = rank.into_iter().zip(entries.drain(..)).collect();
    ranked.sort_unstable_by_key(|(rank, _)| *rank);
    entries.extend(ranked.into_iter().map(|(_, entry)| entry));
}

/// Merge sort from the bottom up: unlike the sort of the standard library it may be given a
/// comparison that is not an order.
fn merge_sorted(keys: &[&str]) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..keys.len()).collect();
    let mut width = 1;
    while width < sorted.len() {
        let mut merged = Vec::with_capacity(sorted.len());
        for pair in sorted.chunks(width * 2) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some((l, left_rest)), Some((r, right_rest))) =
                (left.split_first(), right.split_first())
            {
                if natural(keys[*r], keys[*l]) == Ordering::Less {
                    merged.push(*r);
                    right = right_rest;
                } else {
                    merged.push(*l);
                    left = left_rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        sorted = merged;
        width *= 2;
    }
    sorted
}

/// Go's comparison of two keys: at the first character that differs, punctuation and digits before
/// letters, letters by code point, digits by the number they belong to.
fn natural(a: &str, b: &str) -> Ordering {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let same = (0..=same)
        .rev()
        .find(|at| a.is_char_boundary(*at))
        .unwrap_or(0);
    let (Some(x), Some(y)) = (a[same..].chars().next(), b[same..].chars().next()) else {
        return a.len().cmp(&b.len());
    };
    match (is_letter(x), is_letter(y)) {
        (true, true) => return x.cmp(&y),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero behind digits of which one is not zero is part of a greater number.
    let leading = i64::from(
        (x == '0' || y == '0')
            && a[..same]
                .chars()
                .rev()
                .take_while(|c| is_digit(*c))
                .any(|c| c != '0'),
    );
    let (a_number, a_length) = digits(&a[same..], leading);
    let (b_number, b_length) = digits(&b[same..], leading);
    a_number
        .cmp(&b_number)
        .then(a_length.cmp(&b_length))
        .then(x.cmp(&y))
}

/// The number that a text starts with, behind a leading digit, and how many digits it has. It
/// overflows as Go's does.
fn digits(text: &str, leading: i64) -> (i64, usize) {
    text.chars()
        .take_while(|c| is_digit(*c))
        .fold((leading, 0), |(number, length), c| {
            let digit = i64::from(u32::from(c)) - i64::from(u32::from('0'));
            (number.wrapping_mul(10).wrapping_add(digit), length + 1)
        })
}

/// Go's `unicode.IsLetter`.
fn is_letter(c: char) -> bool {
    static LETTER: LazyLock<Regex> = LazyLock::new(|| category(r"\p{L}"));
    if c.is_ascii() {
        c.is_ascii_alphabetic()
    } else {
        LETTER.is_match(c.encode_utf8(&mut [0; 4]))
    }
}

/// Go's `unicode.IsDigit`: the digits of all scripts.
fn is_digit(c: char) -> bool {
    static DIGIT: LazyLock<Regex> = LazyLock::new(|| category(r"\p{Nd}"));
    if c.is_ascii() {
        c.is_ascii_digit()
    } else {
        DIGIT.is_match(c.encode_utf8(&mut [0; 4]))
    }
}

/// A general category of Unicode.
fn category(pattern: &str) -> Regex {
    Regex::new(pattern).expect("internal error: the category is one that the crate knows")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(keys: &[&str]) -> String {
        let mut entries: Vec<(&str, ())> = keys.iter().map(|key| (*key, ())).collect();
        entries.sort_unstable();
        sort(&mut entries);
        entries
            .iter()
            .map(|(key, ())| *key)
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn check(expected: &str) {
        let mut keys: Vec<&str> = expected.split(' ').collect();
        assert_eq!(sorted(&keys), expected);
        keys.reverse();
        assert_eq!(sorted(&keys), expected);
    }

    #[test]
    fn keys_are_in_natural_order() {
        check("x-a x.a x_a x1 x2 x10 xA xa");
        check("A B Z a a-b a.b a/b a_b a1 a2 a10 ab b true z é");
        check(
            "apiServer apiVersion caCertificateValidityPeriod certificateValidityPeriod certificatesDir",
        );
        check("--v _ 1 2 10 A");
        check("a1 a01 a2");
        check("v1 v1beta1 v1beta2");
        check("a a0 a00 aa");
        check("x10 x11 x100 x101");
        check("a1 a2 a10 a٣ a1٣ a2000 a2٣ a٣1 aé");
    }

    #[test]
    fn keys_that_form_a_circle_have_one_order_too() {
        let keys = ["v1alpha1", "v2", "v10"];
        let first = sorted(&keys);
        assert_eq!(sorted(&["v10", "v2", "v1alpha1"]), first);
        assert_eq!(sorted(&["v2", "v1alpha1", "v10"]), first);
    }
}
