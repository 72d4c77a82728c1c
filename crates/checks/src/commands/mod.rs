//! `lint`, `validate`, `migrate`, `outlook` and `vars`: values in, values and a report out.

pub mod lint;
pub mod migrate;
pub mod outlook;
pub mod validate;
pub mod vars;
