//! Who we are to a registry: `OCI_…` of the environment, as the Cluster API operator has them, or
//! what `docker login` wrote.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::io::environment::Environment;
use crate::io::files;
use crate::io::input::Limits;

/// A name and a password, or a token. `Debug` shows neither.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// A name and a password.
    Password {
        /// The name.
        username: String,
        /// The password.
        password: String,
    },
    /// A token that registries take as it is.
    Token(String),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<redacted>")
    }
}

/// What was found for a registry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The credentials.
    pub credentials: Option<Credentials>,
    /// What was there and is not used.
    pub note: Option<String>,
}

/// The credentials for a host: of the environment, else of Docker's configuration.
pub fn credentials_for(host: &str, environment: &Environment) -> Found {
    let value = |name: &str| environment.non_empty(name).map(str::to_owned);
    if let Some(token) = value("OCI_ACCESS_TOKEN") {
        return Found {
            credentials: Some(Credentials::Token(token)),
            note: None,
        };
    }
    if let (Some(username), Some(password)) = (value("OCI_USERNAME"), value("OCI_PASSWORD")) {
        return Found {
            credentials: Some(Credentials::Password { username, password }),
            note: None,
        };
    }
    if value("OCI_USERNAME").is_some() || value("OCI_PASSWORD").is_some() {
        return Found {
            credentials: None,
            note: Some("OCI_USERNAME and OCI_PASSWORD count only together".to_owned()),
        };
    }
    let mut found = value("DOCKER_CONFIG")
        .or_else(|| value("HOME").map(|home| format!("{home}/.docker")))
        .map(|folder| format!("{folder}/config.json"))
        .and_then(|file| {
            Some((
                files::read_file(
                    &file,
                    Limits {
                        file_bytes: 1 << 20,
                        ..Limits::default()
                    },
                )
                .ok()?,
                file,
            ))
        })
        .map(|(bytes, file)| of_docker(&bytes, &file, host))
        .unwrap_or_default();
    if found.credentials.is_none() && value("OCI_REFRESH_TOKEN").is_some() {
        found.note = Some(
            "OCI_REFRESH_TOKEN is not used; set OCI_ACCESS_TOKEN, or OCI_USERNAME and OCI_PASSWORD"
                .to_owned(),
        );
    }
    found
}

fn of_docker(bytes: &[u8], file: &str, host: &str) -> Found {
    let Ok(config) = serde_json::from_slice::<Value>(bytes) else {
        return Found {
            credentials: None,
            note: Some(format!("{file} is not JSON, and is not used")),
        };
    };
    let is_hub = host == DOCKER_HUB;
    let keys = [
        host.to_owned(),
        format!("https://{host}"),
        format!("https://{host}/"),
        "https://index.docker.io/v1/".to_owned(),
    ];
    let entry = keys
        .iter()
        .take(if is_hub { 4 } else { 3 })
        .map(|key| &config["auths"][key.as_str()])
        .find(|entry| entry.is_object());
    let decoded = entry
        .and_then(|entry| STANDARD.decode(entry["auth"].as_str()?.trim()).ok())
        .and_then(|auth| String::from_utf8(auth).ok());
    let pair = decoded
        .as_ref()
        .and_then(|auth| auth.split_once(':'))
        .filter(|(username, password)| !username.is_empty() && !password.is_empty());
    if let Some((username, password)) = pair {
        let credentials = Credentials::Password {
            username: username.to_owned(),
            password: password.to_owned(),
        };
        return Found {
            credentials: Some(credentials),
            note: None,
        };
    }
    let helper = config["credHelpers"][host]
        .as_str()
        .or_else(|| config["credsStore"].as_str());
    let note = helper.map(|helper| {
        format!("{file} keeps credentials with the helper `{helper}`, which is not run; set OCI_USERNAME and OCI_PASSWORD if {host} asks for them")
    });
    Found {
        credentials: None,
        note,
    }
}

/// How Docker's configuration calls the registry at `registry-1.docker.io`.
pub(super) const DOCKER_HUB: &str = "docker.io";

#[cfg(test)]
mod tests {
    use super::*;

    fn password(username: &str, password: &str) -> Option<Credentials> {
        Some(Credentials::Password {
            username: username.to_owned(),
            password: password.to_owned(),
        })
    }

    #[test]
    fn the_environment_counts_before_docker() {
        let folder = tempfile::tempdir().unwrap();
        // `u:p` in base64.
        std::fs::write(
            folder.path().join("config.json"),
            r#"{"auths": {"h:5000": {"auth": "dTpw"}}}"#,
        )
        .unwrap();
        let docker = ("DOCKER_CONFIG", folder.path().to_str().unwrap());
        let found = |variables: &[(&str, &str)], host: &str| {
            credentials_for(host, &variables.iter().copied().chain([docker]).collect()).credentials
        };
        assert_eq!(found(&[], "h:5000"), password("u", "p"));
        assert_eq!(found(&[], "h"), None);
        assert_eq!(
            found(&[("OCI_USERNAME", "a"), ("OCI_PASSWORD", "b")], "h:5000"),
            password("a", "b")
        );
        assert_eq!(
            found(
                &[
                    ("OCI_USERNAME", "a"),
                    ("OCI_PASSWORD", "b"),
                    ("OCI_ACCESS_TOKEN", "t")
                ],
                "h"
            ),
            Some(Credentials::Token("t".to_owned()))
        );
        assert_eq!(found(&[("OCI_USERNAME", "a")], "h:5000"), None);
    }

    #[test]
    fn what_is_not_used_is_told() {
        let note = |text: &str| {
            of_docker(text.as_bytes(), "config.json", "h")
                .note
                .unwrap_or_default()
        };
        assert!(note(r#"{"credsStore": "desktop"}"#).contains("`desktop`, which is not run"));
        assert!(note(r#"{"auths": {"h": {}}, "credHelpers": {"h": "ecr"}}"#).contains("`ecr`"));
        assert!(note("{").contains("not JSON"));
        assert_eq!(note(r#"{"auths": {"h": {"auth": "!"}}}"#), "");
        let refresh = credentials_for("h", &[("OCI_REFRESH_TOKEN", "t")].into_iter().collect());
        assert!(
            refresh
                .note
                .is_some_and(|note| note.contains("OCI_REFRESH_TOKEN is not used"))
                && refresh.credentials.is_none()
        );
    }

    #[test]
    fn nothing_of_them_is_printed() {
        assert_eq!(
            format!("{:?}", password("user", "secret")),
            "Some(<redacted>)"
        );
    }

    #[test]
    fn docker_calls_a_host_by_several_names() {
        // `u:p` in base64.
        let found = |key: &str, host: &str| {
            let config = format!(r#"{{"auths": {{"{key}": {{"auth": "dTpw"}}}}}}"#);
            of_docker(config.as_bytes(), "config.json", host)
        };
        for (key, host, is_found) in [
            ("h:5000", "h:5000", true),
            ("https://h:5000", "h:5000", true),
            ("https://h:5000/", "h:5000", true),
            ("http://h:5000", "h:5000", false),
            ("https://h:5000/v1/", "h:5000", false),
            ("https://index.docker.io/v1/", "docker.io", true),
            ("docker.io", "docker.io", true),
            ("https://index.docker.io/v1/", "h:5000", false),
            ("https://index.docker.io/v1/", "index.docker.io", false),
        ] {
            let expected = Found {
                credentials: if is_found { password("u", "p") } else { None },
                note: None,
            };
            assert_eq!(found(key, host), expected, "{key} for {host}");
        }
    }

    /// Half a name and password is none; a password may hold a colon.
    #[test]
    fn a_login_has_a_name_and_a_password() {
        for (login, expected) in [
            ("u:p", password("u", "p")),
            ("u:p:q", password("u", "p:q")),
            ("u:", None),
            (":p", None),
            (":", None),
            ("u", None),
        ] {
            let config = serde_json::json!({"auths": {"h": {"auth": format!(" {}\n", STANDARD.encode(login))}}});
            assert_eq!(
                of_docker(config.to_string().as_bytes(), "config.json", "h").credentials,
                expected,
                "{login}"
            );
        }
    }

    #[test]
    fn each_note_says_what_to_set() {
        let helper = |name: &str| {
            format!(
                "c keeps credentials with the helper `{name}`, which is not run; set OCI_USERNAME and OCI_PASSWORD if h asks for them"
            )
        };
        for (config, expected) in [
            (r#"{"credsStore": "desktop"}"#, Some(helper("desktop"))),
            (
                r#"{"credsStore": "desktop", "credHelpers": {"h": "ecr"}}"#,
                Some(helper("ecr")),
            ),
            (
                r#"{"credsStore": "desktop", "credHelpers": {"other": "ecr"}}"#,
                Some(helper("desktop")),
            ),
            (r#"{"credHelpers": {"other": "ecr"}}"#, None),
            ("[", Some("c is not JSON, and is not used".to_owned())),
        ] {
            assert_eq!(
                of_docker(config.as_bytes(), "c", "h"),
                Found {
                    credentials: None,
                    note: expected
                },
                "{config}"
            );
        }
        let half = Some("OCI_USERNAME and OCI_PASSWORD count only together".to_owned());
        let refresh = Some(
            "OCI_REFRESH_TOKEN is not used; set OCI_ACCESS_TOKEN, or OCI_USERNAME and OCI_PASSWORD"
                .to_owned(),
        );
        for (variables, expected) in [
            (&[("OCI_USERNAME", "u")][..], half.clone()),
            (&[("OCI_PASSWORD", "p")], half.clone()),
            (&[("OCI_PASSWORD", "p"), ("OCI_USERNAME", "")], half),
            (&[("OCI_REFRESH_TOKEN", "t")], refresh),
            (
                &[("OCI_REFRESH_TOKEN", "t"), ("OCI_ACCESS_TOKEN", "t")],
                None,
            ),
            (&[], None),
        ] {
            assert_eq!(
                credentials_for("h", &variables.iter().copied().collect()).note,
                expected,
                "{variables:?}"
            );
        }
    }

    /// With what Docker has there is nothing to say of other variables; and a file of more than a
    /// mebibyte is none of Docker's.
    #[test]
    fn dockers_file_is_read_up_to_a_mebibyte() {
        let folder = tempfile::tempdir().unwrap();
        let found = |bytes: usize| {
            let text = format!(
                r#"{{"auths": {{"h": {{"auth": "dTpw"}}}}}}{}"#,
                " ".repeat(bytes)
            );
            let kept = &text[..bytes];
            std::fs::create_dir_all(folder.path().join(".docker")).unwrap();
            std::fs::write(folder.path().join(".docker/config.json"), kept).unwrap();
            let environment = [
                ("HOME", folder.path().to_str().unwrap()),
                ("OCI_REFRESH_TOKEN", "t"),
            ];
            credentials_for("h", &environment.into_iter().collect())
        };
        assert_eq!(
            found(1 << 20),
            Found {
                credentials: password("u", "p"),
                note: None
            }
        );
        assert_eq!(found((1 << 20) + 1).credentials, None);
    }
}
