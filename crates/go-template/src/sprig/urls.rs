//! Paths and URLs: Go's `path` and `net/url`.

use super::arguments::{Arguments, text};
use crate::functions::{Called, rejected};
use crate::held::Held;
use windlass_go_text::path::clean;
use windlass_go_text::url::Url;
use windlass_go_text::value::Value;

/// `path.Base`
pub(super) fn base(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match (path.is_empty(), trimmed.is_empty()) {
        (true, _) => ".",
        (false, true) => "/",
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }
}

/// `path.Dir`
pub(super) fn dir(path: &str) -> String {
    clean(path.rfind('/').map_or("", |at| &path[..=at]))
}

/// `path.Ext`
pub(super) fn ext(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rfind('.').map_or("", |at| &name[at..])
}

pub(super) fn parse(arguments: &Arguments<'_>) -> Called<Held> {
    let source = arguments.text(0);
    let url = match Url::parse(&source) {
        Ok(url) => url,
        Err(fault) => return rejected(format!("unable to parse url: {fault}")),
    };
    let (before, fragment) = source.split_once('#').unwrap_or((&source, ""));
    let (before, query) = before.split_once('?').unwrap_or((before, ""));
    let rest = if url.scheme.is_empty() {
        before
    } else {
        &before[url.scheme.len() + 1..]
    };
    let is_opaque = !url.scheme.is_empty() && !rest.starts_with('/');
    let authority = rest
        .strip_prefix("//")
        .map_or("", |rest| rest.split('/').next().unwrap_or_default());
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let name = match url
        .host
        .strip_prefix('[')
        .and_then(|host| host.split_once(']'))
    {
        Some((address, _)) => address,
        None => url.host.split(':').next().unwrap_or_default(),
    };
    let entries = [
        ("scheme", &*url.scheme),
        ("host", &url.host),
        ("hostname", name),
        ("path", &url.path),
        ("query", query),
        ("opaque", if is_opaque { rest } else { "" }),
        ("fragment", fragment),
        ("userinfo", user),
    ];
    Ok(Held::plain(Value::map(
        entries.map(|(key, value)| (key.to_owned(), Value::text(value))),
    )))
}

/// `URL.String()` of the parts of a map.
pub(super) fn join(arguments: &Arguments<'_>) -> Called<Held> {
    let map = arguments.map(0);
    let mut parts = [const { String::new() }; 7];
    for (part, key) in parts.iter_mut().zip([
        "scheme", "userinfo", "host", "path", "query", "opaque", "fragment",
    ]) {
        match map.get(key) {
            Some(Value::Text(value)) => *part = String::from_utf8_lossy(value).into_owned(),
            None => {}
            Some(other) => {
                let kind = super::values::kind_of(&Held::plain(other.clone()));
                return rejected(format!(
                    "unable to parse {key} key, must be of type string, but {kind} found"
                ));
            }
        }
    }
    let [scheme, user, host, path, query, opaque, fragment] = parts;
    let with = |before: &str, part: &str, behind: &str| {
        if part.is_empty() {
            String::new()
        } else {
            format!("{before}{part}{behind}")
        }
    };
    let middle = if !opaque.is_empty() {
        opaque
    } else {
        let slashes = if !scheme.is_empty() || !host.is_empty() || !user.is_empty() {
            "//"
        } else {
            ""
        };
        let slashes = if host.is_empty() && path.is_empty() && user.is_empty() {
            ""
        } else {
            slashes
        };
        let between = if !path.is_empty() && !path.starts_with('/') && !host.is_empty() {
            "/"
        } else {
            ""
        };
        format!("{slashes}{}{host}{between}{path}", with("", &user, "@"))
    };
    text(format!(
        "{}{middle}{}{}",
        with("", &scheme, ":"),
        with("?", &query, ""),
        with("#", &fragment, "")
    ))
}
