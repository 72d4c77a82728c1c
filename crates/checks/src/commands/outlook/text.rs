//! The outlook for people: a heading for each release. What is below one are findings.

use super::prediction::Prediction;

/// The line above the findings of a release.
pub fn heading(prediction: &Prediction) -> String {
    prediction.release.to_string()
}

/// The sentence for files in which nothing stops working.
pub fn nothing(horizon: &str) -> String {
    format!("nothing known stops working up to {horizon}")
}
