//! Package `path`, which on Unix is also `path/filepath`.

/// `path.Clean`: no empty parts, no `.`, and `..` removes the part before it.
pub fn clean(path: &str) -> String {
    let is_rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_rooted => {}
            part => parts.push(part),
        }
    }
    match (is_rooted, parts.join("/")) {
        (true, path) => format!("/{path}"),
        (false, path) if path.is_empty() => ".".to_owned(),
        (false, path) => path,
    }
}

/// `path.Join`: empty parts are left out, the rest is cleaned.
pub fn join(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .copied()
        .filter(|part| !part.is_empty())
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        clean(&parts.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleans_and_joins_paths_as_go_does() {
        for (path, expected) in [
            ("/a//b/./c/../d/", "/a/b/d"),
            ("a/..", "."),
            ("/..", "/"),
            ("../a", "../a"),
            ("", "."),
            ("a/../../b", "../b"),
        ] {
            assert_eq!(clean(path), expected, "{path}");
        }
        for (parts, expected) in [
            (&["/r", "p", "../v0.2.0", "", "f"][..], "/r/v0.2.0/f"),
            (
                &["/etc/kubernetes/pki/", "etcd/ca.crt"],
                "/etc/kubernetes/pki/etcd/ca.crt",
            ),
            (&["//a/./b/..", "ca.crt"], "/a/ca.crt"),
            (&["../a", "ca.crt"], "../a/ca.crt"),
            (&["/../a", "ca.crt"], "/a/ca.crt"),
            (&["", ""], ""),
        ] {
            assert_eq!(join(parts), expected, "{parts:?}");
        }
    }
}
