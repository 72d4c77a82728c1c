//! `topology plan` and `topology variables`: values in, values and a report out.

pub mod topology;
