//! The language server: documents of an editor and the files beside them in, findings and answers
//! out.
//!
//! [`Server`] handles one message after the other and never touches the disk itself: it reads
//! through a [`Disk`]. `cli::lsp` connects it with standard input and output.

mod actions;
mod answers;
mod capabilities;
mod checks;
mod completion;
mod cursor;
mod diagnostics;
mod documents;
mod hover;
mod navigation;
mod objects;
mod positions;
mod schemas;
mod server;
mod variables;

pub use server::{Disk, Incoming, Server};
