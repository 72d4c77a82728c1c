//! Sizes and costs that do not overflow: what is too much is the largest number.
//!
//! Source: `checker/cost.go` of cel-go 0.26.

/// What traversing a text costs, for each character.
pub(super) const TRAVERSAL: f64 = 0.1;

/// What a regular expression costs, for each of its characters.
pub(super) const REGEX: f64 = 0.25;

/// The least and the most that a text, list or map can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Size {
    pub(super) const UNKNOWN: Size = Size {
        min: 0,
        max: u64::MAX,
    };

    pub(super) fn exactly(size: u64) -> Self {
        Size {
            min: size,
            max: size,
        }
    }

    pub(super) fn up_to(max: u64) -> Self {
        Size { min: 0, max }
    }

    pub(super) fn plus(self, other: Size) -> Self {
        Size {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    pub(super) fn times(self, other: Size) -> Self {
        Size {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    pub(super) fn union(self, other: Size) -> Self {
        Size {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// The cost of going through all of it.
    pub(super) fn cost(self, factor: f64) -> u64 {
        scaled(self.max, factor)
    }
}

/// Rounded up, as upstream does it with floats.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as upstream does it; `as` saturates"
)]
pub(super) fn scaled(number: u64, factor: f64) -> u64 {
    (number as f64 * factor).ceil() as u64
}
