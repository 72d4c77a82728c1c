//! What programs written in Go make of texts and values: the parts of its standard library that
//! clusterctl, Cluster API and the API server let users see. Each file is named for the package
//! that it stands for, or for what it holds of `strconv`; all are compared with Go itself.

pub(crate) mod base64;
pub(crate) mod duration;
pub(crate) mod float;
pub(crate) mod fmt;
pub(crate) mod json;
mod letters;
pub(crate) mod number;
pub(crate) mod path;
pub(crate) mod quote;
pub(crate) mod regexp;
pub(crate) mod rune;
pub(crate) mod tabwriter;
pub mod template;
pub(crate) mod time;
pub(crate) mod url;
pub mod value;

pub(crate) use float::float;
pub(crate) use json::{
    json, json_kind, number, push_json, push_json_string, push_plain_json_string,
};
pub(crate) use quote::quote;
