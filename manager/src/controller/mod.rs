//! The controller proper: watches, reconciles, applies.
