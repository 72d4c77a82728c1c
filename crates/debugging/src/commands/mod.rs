//! `render`, `inspect`, `diff`, `size`, `why` and `images`: values in, values and a report out.

pub mod diff;
pub mod images;
pub mod inspect;
pub mod render;
pub mod size;
pub mod why;
