//! Numbers as people read them.

/// The number with a comma before each three digits: `16,384`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// So many bytes, in words: `1 byte`, `16,384 bytes`.
pub fn bytes(number: usize) -> String {
    if number == 1 {
        "1 byte".to_owned()
    } else {
        format!("{} bytes", grouped(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_threes() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (16_384, "16,384"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(
            [0, 1, 1_000].map(bytes),
            ["0 bytes", "1 byte", "1,000 bytes"]
        );
    }
}
