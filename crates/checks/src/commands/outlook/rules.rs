//! The rule of what is not certain, whatever it is about.

use windlass_source::diag::rules;

rules! {
    /// a release without a date, or an intention of a project, ends support for something in the
    /// file
    pub(crate) TENTATIVE = info("outlook-tentative");
}
