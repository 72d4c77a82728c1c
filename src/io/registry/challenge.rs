//! What a registry asks for with `WWW-Authenticate` (RFC 9110, section 11; distribution's "Token
//! Authentication Specification").

/// How a registry wants to be reported who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Challenge {
    /// Name and password with each request.
    Basic,
    /// A token that another server gives.
    Bearer {
        /// The URL of that server.
        realm: String,
        /// For whom the token is.
        service: Option<String>,
    },
}

/// The first challenge of some headers that we know, tokens before passwords.
pub(super) fn read<'a>(headers: impl Iterator<Item = &'a str>) -> Option<Challenge> {
    let mut found: Vec<Challenge> = headers.filter_map(one).collect();
    found.sort_by_key(|challenge| *challenge == Challenge::Basic);
    found.into_iter().next()
}

fn one(header: &str) -> Option<Challenge> {
    let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
    match scheme.to_ascii_lowercase().as_str() {
        "basic" => Some(Challenge::Basic),
        "bearer" => Some(Challenge::Bearer {
            realm: parameter(rest, "realm")?,
            service: parameter(rest, "service"),
        }),
        _ => None,
    }
}

/// The value of `name="value"` or `name=value` in a list with commas.
fn parameter(list: &str, name: &str) -> Option<String> {
    let mut rest = list.trim_start();
    while let Some((key, after)) = rest.split_once('=') {
        let (value, following) = match after.strip_prefix('"') {
            Some(quoted) => quoted_text(quoted)?,
            None => {
                let (value, following) = after.split_once(',').unwrap_or((after, ""));
                (value.trim().to_owned(), following)
            }
        };
        if key.trim().eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = following.trim_start_matches([',', ' ']);
    }
    None
}

/// A quoted string behind its first quote, and what is behind its last.
fn quoted_text(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(letters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bearer(realm: &str, service: Option<&str>) -> Option<Challenge> {
        Some(Challenge::Bearer {
            realm: realm.to_owned(),
            service: service.map(str::to_owned),
        })
    }

    #[test]
    fn challenges_are_read_as_registries_write_them() {
        let of_docker = r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:x:pull""#;
        let expected = bearer("https://auth.docker.io/token", Some("registry.docker.io"));
        assert_eq!(read([of_docker].into_iter()), expected);
        assert_eq!(read(["Basic realm=\"x\"", of_docker].into_iter()), expected);
        assert_eq!(read(["basic"].into_iter()), Some(Challenge::Basic));
        assert_eq!(
            read([r#"bearer service=a, realm="h\"t""#].into_iter()),
            bearer("h\"t", Some("a"))
        );
        assert_eq!(
            read(["Bearer scope=\"realm=x\", realm=y"].into_iter()),
            bearer("y", None)
        );
    }

    #[test]
    fn what_is_no_challenge_is_none() {
        for header in [
            "",
            "Bearer",
            "Bearer realm",
            "Bearer realm=\"x",
            "Digest realm=\"x\"",
            "Bearer =,=,=",
            "Bearer \"\"\"\"",
            "Bearer realm=\"\\",
        ] {
            assert_eq!(read([header].into_iter()), None, "{header}");
        }
    }
}
