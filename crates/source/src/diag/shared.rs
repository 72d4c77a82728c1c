//! One message of an upstream program for several findings.

use super::Text;

/// The bytes that the copies of one message may take altogether.
const MOST_BYTES: usize = 1 << 20;

/// The message with which an upstream program rejects a whole document, for each finding about it.
/// The message contains the cause of every finding, so that a copy for each takes quadratic memory:
/// where the copies are too large, only the first finding gets the message.
pub struct Shared {
    message: Option<Text>,
    has_copies: bool,
}

impl Shared {
    /// A message for this many findings; `None` if the upstream program gives no message.
    pub fn new(message: Option<String>, findings: usize) -> Self {
        let bytes = message.as_ref().map_or(0, String::len);
        Shared {
            message: message.map(Text::of_value),
            has_copies: bytes.saturating_mul(findings) <= MOST_BYTES,
        }
    }

    /// The message for the next finding.
    pub fn for_next_finding(&mut self) -> Option<Text> {
        match self.has_copies {
            true => self.message.clone(),
            false => self.message.take(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_large_messages_to_the_first_finding() {
        let check = |bytes: usize, findings: usize, expected: [bool; 2]| {
            let mut shared = Shared::new(Some("x".repeat(bytes)), findings);
            let [first, second] = [shared.for_next_finding(), shared.for_next_finding()];
            assert_eq!([first.is_some(), second.is_some()], expected);
            assert!(first.is_some_and(|text| text.as_str().len() == bytes));
        };
        check(1 << 10, 1 << 10, [true, true]);
        check((1 << 10) + 1, 1 << 10, [true, false]);
        check(usize::from(u16::MAX), usize::MAX, [true, false]);
        assert_eq!(Shared::new(None, 2).for_next_finding(), None);
    }
}
