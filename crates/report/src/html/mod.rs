//! Reports as a page to look at: one file of HTML that asks for nothing else, has no script, and is
//! read on a screen, on a phone, on paper and aloud.
//!
//! `writer` is the only place where markup is made of texts; `page` has what is around a report,
//! `style.css` how it looks. What several reports have is here too: `table`, `treemap`, `findings`,
//! and contents that are folded (`fold`). The page of a command is in
//! `html.rs` of its module in `commands` of a crate.

mod findings;
mod fold;
mod number;
mod page;
mod style;
mod table;
mod treemap;
mod writer;

pub use fold::folded;
pub use number::{bytes, grouped};
pub use page::Page;
pub use table::{Cell, Column, table};
pub use treemap::{Tile, treemap};
pub use writer::{Html, Level, Tone};
