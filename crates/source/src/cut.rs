//! Parts of texts by offsets that were computed.

use std::ops::{Bound, RangeBounds};

/// The part of a text between two offsets. An offset beyond the end, or inside of a character, is
/// moved back to the nearest boundary; a part that ends before it starts is empty. Offsets that
/// come from more than one place may not fit together, and a slice would panic.
pub fn cut(text: &str, range: impl RangeBounds<usize>) -> &str {
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => *end,
        Bound::Unbounded => text.len(),
    };
    text.get(boundary(text, start)..boundary(text, end))
        .unwrap_or_default()
}

/// The nearest boundary of characters at or before an offset.
fn boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_offsets_give_a_part_of_the_text(text in ".{0,40}", start in 0usize..200, end in 0usize..200) {
            let part = cut(&text, start..end);
            prop_assert!(text.contains(part));
            prop_assert!(part.len() <= end.saturating_sub(start) + 3);
            if let Some(exact) = text.get(start..end) {
                prop_assert_eq!(part, exact);
            }
            prop_assert_eq!(cut(&text, start..), cut(&text, start..text.len()));
            prop_assert_eq!(cut(&text, ..end), cut(&text, 0..end));
            prop_assert_eq!(cut(&text, ..=end), cut(&text, 0..end + 1));
        }
    }
}
