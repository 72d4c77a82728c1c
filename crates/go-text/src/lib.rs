//! What programs written in Go make of texts and values: the parts of its standard library that
//! clusterctl, Cluster API and the API server let users see. Each file is named for the package
//! that it stands for, or for what it holds of `strconv`; all are compared with Go itself.

pub mod base64;
pub mod duration;
pub mod float;
pub mod fmt;
pub mod json;
mod letters;
pub mod number;
pub mod path;
pub mod quantity;
pub mod quote;
pub mod regexp;
pub mod rune;
pub mod tabwriter;
pub mod time;
pub mod url;
pub mod value;

pub use float::float;
pub use json::{json, json_kind, number, push_json, push_json_string, push_plain_json_string};
pub use quote::quote;
