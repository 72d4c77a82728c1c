//! Characters as Go sees them in bytes that need not be UTF-8, and Go's simple case mapping.

use super::letters::LETTERS_AND_DIGITS;

/// The first character and its width in bytes. A byte that begins no valid character is U+FFFD of
/// width 1; at the end, NUL of width 0.
pub fn decode(bytes: &[u8]) -> (char, usize) {
    let Some(&first) = bytes.first() else {
        return ('\0', 0);
    };
    let width = match first {
        0..0x80 => return (char::from(first), 1),
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => return (char::REPLACEMENT_CHARACTER, 1),
    };
    let valid = bytes
        .get(..width)
        .and_then(|head| std::str::from_utf8(head).ok())
        .and_then(|head| head.chars().next());
    valid.map_or((char::REPLACEMENT_CHARACTER, 1), |c| (c, width))
}

/// The characters of bytes, each with its bytes.
pub fn runes(mut bytes: &[u8]) -> impl Iterator<Item = (char, &[u8])> {
    std::iter::from_fn(move || {
        let (rune, width) = decode(bytes);
        let (head, rest) = bytes.split_at(width);
        bytes = rest;
        (width > 0).then_some((rune, head))
    })
}

/// Whether a character may stand in a variable's name: `unicode.IsLetter`, `unicode.IsDigit` or
/// `_`.
pub fn is_name(rune: char) -> bool {
    if rune.is_ascii() {
        return rune.is_ascii_alphanumeric() || rune == '_';
    }
    let code = u32::from(rune);
    let after = LETTERS_AND_DIGITS.partition_point(|(first, _)| *first <= code);
    after
        .checked_sub(1)
        .is_some_and(|i| code <= LETTERS_AND_DIGITS[i].1)
}

/// `unicode.ToUpper`: one character for one, never two.
pub fn to_upper(rune: char) -> char {
    let mut full = rune.to_uppercase();
    match (full.next(), full.next()) {
        (Some(upper), None) => upper,
        // Greek letters with iota subscript: their full mapping is two letters, their simple one
        // the titlecase letter.
        _ => match u32::from(rune) {
            code @ (0x1f80..=0x1f87 | 0x1f90..=0x1f97 | 0x1fa0..=0x1fa7) => {
                char::from_u32(code + 8).unwrap_or(rune)
            }
            code @ (0x1fb3 | 0x1fc3 | 0x1ff3) => char::from_u32(code + 9).unwrap_or(rune),
            _ => rune,
        },
    }
}

/// `unicode.ToLower`: one character for one, never two.
pub fn to_lower(rune: char) -> char {
    let mut full = rune.to_lowercase();
    match (full.next(), full.next()) {
        (Some(lower), None) => lower,
        (_, _) if rune == 'İ' => 'i',
        _ => rune,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observed of Go's `utf8.DecodeRune`.
    #[test]
    fn invalid_bytes_are_replacement_characters_of_width_one() {
        for (bytes, expected) in [
            (&b""[..], ('\0', 0)),
            (b"a\xff", ('a', 1)),
            (b"\xff", ('\u{fffd}', 1)),
            (b"\xc3\xa9", ('é', 2)),
            (b"\xc3", ('\u{fffd}', 1)),
            (b"\xe4\xb8", ('\u{fffd}', 1)),
            (b"\xc0\x80", ('\u{fffd}', 1)),
            (b"\xed\xa0\x80", ('\u{fffd}', 1)),
            (b"\xf0\x9f\x98\x80", ('😀', 4)),
        ] {
            assert_eq!(decode(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn names_are_letters_and_decimal_digits_of_any_script() {
        for rune in ['a', 'Z', '0', '_', 'é', '世', '٣', 'ª'] {
            assert!(is_name(rune), "{rune}");
        }
        for rune in ['-', ' ', '$', '²', 'Ⅷ', '\u{301}', '\u{fffd}', '€'] {
            assert!(!is_name(rune), "{rune}");
        }
    }

    #[test]
    fn case_mapping_is_simple() {
        assert_eq!(
            ['ß', 'ŉ', 'ᾀ', 'ῳ', 'é', 'a'].map(to_upper),
            ['ß', 'ŉ', 'ᾈ', 'ῼ', 'É', 'A']
        );
        assert_eq!(['İ', 'É', 'Σ'].map(to_lower), ['i', 'é', 'σ']);
    }
}
