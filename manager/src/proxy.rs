//! What stands between us and a server, as client-go decides it: the proxy that a kubeconfig names
//! counts for its cluster whatever the environment says; without one `HTTPS_PROXY` counts, unless
//! `NO_PROXY` names the server. kube holds `NO_PROXY` against the proxy instead (5.0), and also
//! where a kubeconfig names one.

use std::net::IpAddr;

use axum::http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use kube::Config;
use kube::config::Kubeconfig;

use crate::fault::Fault;

#[derive(Clone, Default)]
pub(crate) struct Environment {
    https: Option<String>,
    no: Option<String>,
}

impl Environment {
    /// That of this process. Of two spellings the one in capitals counts, as in Go.
    pub(crate) fn of_process() -> Self {
        let named = |names: [&str; 2]| {
            names
                .into_iter()
                .filter_map(|name| std::env::var(name).ok())
                .find(|value| !value.is_empty())
        };
        Environment {
            https: named(["HTTPS_PROXY", "https_proxy"]),
            no: named(["NO_PROXY", "no_proxy"]),
        }
    }
}

/// The proxy that a kubeconfig names for the cluster of its current context.
pub(crate) fn named(kubeconfig: &Kubeconfig) -> Option<String> {
    let context = kubeconfig
        .contexts
        .iter()
        .find(|context| Some(&context.name) == kubeconfig.current_context.as_ref())?;
    let cluster = &context.context.as_ref()?.cluster;
    let cluster = kubeconfig
        .clusters
        .iter()
        .find(|named| named.name == *cluster)?;
    cluster
        .cluster
        .as_ref()?
        .proxy_url
        .clone()
        .filter(|proxy| !proxy.is_empty())
}

/// Has a configuration go by the proxy that its kubeconfig names, else by the environment's.
///
/// # Errors
/// When the proxy has no address or is of a kind that we do not speak; what is said has nothing of
/// it, for it may hold a password.
pub(crate) fn choose(
    config: &mut Config,
    named: Option<String>,
    environment: &Environment,
) -> Result<(), Fault> {
    config.proxy_url = match named {
        Some(proxy) => {
            Some(address(&proxy).ok_or("its proxy-url is not an http, https or socks5 URL")?)
        }
        None if is_direct(&config.cluster_url, environment) => None,
        None => match &environment.https {
            Some(proxy) => {
                Some(address(proxy).ok_or("HTTPS_PROXY is not an http, https or socks5 URL")?)
            }
            None => None,
        },
    };
    Ok(())
}

/// Whether the environment has us go to a server without a proxy.
fn is_direct(server: &Uri, environment: &Environment) -> bool {
    let Some(host) = server.host() else {
        return true;
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_here = host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    let port = server.port_u16().unwrap_or(443);
    let entries: Vec<&str> = environment
        .no
        .iter()
        .flat_map(|list| list.split(','))
        .filter_map(|entry| without_port(entry.trim(), port))
        .collect();
    // Only whether it matches is asked: the address has to keep the user and the password, which a
    // matcher takes off.
    let matcher = Matcher::builder()
        .https("http://proxy")
        .no(entries.join(","))
        .build();
    is_here || entries.contains(&"*") || matcher.intercept(server).is_none()
}

/// An entry of `NO_PROXY` as the matcher knows it, which reads neither ports nor `*.`; none when it
/// is for another port.
fn without_port(entry: &str, port: u16) -> Option<&str> {
    let entry = entry
        .strip_prefix('*')
        .filter(|rest| rest.starts_with('.'))
        .unwrap_or(entry);
    match entry.rsplit_once(':') {
        Some((host, of)) if !host.contains(':') => (of.parse() == Ok(port)).then_some(host),
        _ => Some(entry),
    }
}

/// The address of a proxy; without a scheme it is one of HTTP, as in Go.
fn address(proxy: &str) -> Option<Uri> {
    let proxy = if proxy.contains("://") {
        proxy.to_owned()
    } else {
        format!("http://{proxy}")
    };
    proxy.parse::<Uri>().ok().filter(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https" | "socks5"))
            && uri.host().is_some_and(|host| !host.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(
        server: &str,
        named: Option<&str>,
        https: &str,
        no: &str,
    ) -> Result<Option<String>, String> {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let mut config = Config::new(server.parse().unwrap());
        config.proxy_url = Some("http://kubes-choice".parse().unwrap());
        let environment = Environment {
            https: given(https),
            no: given(no),
        };
        choose(&mut config, named.map(str::to_owned), &environment)
            .map_err(|fault| fault.to_string())?;
        Ok(config.proxy_url.map(|uri| uri.to_string()))
    }

    /// client-go's `transport` and Go's `golang.org/x/net/http/httpproxy`.
    #[test]
    fn proxies_are_chosen_as_by_go() {
        let server = "https://10.1.2.3:6443";
        for (server, named, https, no, expected) in [
            (server, None, "", "", None),
            (server, None, "http://p:3128", "", Some("http://p:3128/")),
            (server, None, "p:3128", "", Some("http://p:3128/")),
            (
                server,
                None,
                "http://u:w@p:3128",
                "",
                Some("http://u:w@p:3128/"),
            ),
            (server, None, "http://p:3128", "10.0.0.0/8", None),
            (server, None, "http://p:3128", "a.example, 10.1.2.3", None),
            (server, None, "http://p:3128", "*", None),
            (
                server,
                None,
                "http://p:3128",
                "p,10.9.0.0/16,",
                Some("http://p:3128/"),
            ),
            (
                "https://api.a.example",
                None,
                "http://p:3128",
                ".a.example",
                None,
            ),
            (
                "https://api.a.example",
                None,
                "http://p:3128",
                "a.example",
                None,
            ),
            (
                "https://api.a.example",
                None,
                "http://p:3128",
                "*.a.example",
                None,
            ),
            (
                "https://api.a.example",
                None,
                "http://p:3128",
                "a.example:443",
                None,
            ),
            (
                "https://api.a.example",
                None,
                "http://p:3128",
                "a.example:6443",
                Some("http://p:3128/"),
            ),
            (server, None, "http://p:3128", "10.1.2.3:6443", None),
            (
                "https://[fd00::1]:6443",
                None,
                "http://p:3128",
                "fd00::/8",
                None,
            ),
            (
                "https://api.b.example",
                None,
                "http://p:3128",
                "a.example",
                Some("http://p:3128/"),
            ),
            ("https://localhost:6443", None, "http://p:3128", "", None),
            ("https://127.0.0.1:6443", None, "http://p:3128", "", None),
            ("https://[::1]:6443", None, "http://p:3128", "", None),
            // What the kubeconfig names counts, whatever the environment has.
            (
                server,
                Some("socks5://q:1080"),
                "http://p:3128",
                "*",
                Some("socks5://q:1080/"),
            ),
            (
                "https://127.0.0.1:6443",
                Some("https://q"),
                "",
                "",
                Some("https://q/"),
            ),
        ] {
            assert_eq!(
                chosen(server, named, https, no),
                Ok(expected.map(str::to_owned)),
                "{server} {named:?} {https:?} {no:?}"
            );
        }
    }

    #[test]
    fn proxies_that_nobody_speaks_are_rejected_without_their_passwords() {
        for (named, https) in [
            (Some("ftp://u:s3cret@q"), ""),
            (Some("http://u:s3cret@"), ""),
            (None, "socks4://u:s3cret@p"),
        ] {
            let fault = chosen("https://10.1.2.3", named, https, "").expect_err("nobody speaks it");
            assert!(
                fault.contains("http, https or socks5") && !fault.contains("s3cret"),
                "{fault}"
            );
        }
    }

    #[test]
    fn the_current_context_says_which_proxy() {
        let text = |current: &str| {
            format!(
                "{{current-context: {current}, contexts: [{{name: a, context: {{cluster: x}}}}, {{name: b, context: {{cluster: y}}}}, {{name: c, context: {{cluster: z}}}}], \
                 clusters: [{{name: x, cluster: {{proxy-url: 'http://x'}}}}, {{name: y, cluster: {{proxy-url: 'http://y'}}}}, {{name: z, cluster: {{proxy-url: ''}}}}]}}"
            )
        };
        for (current, expected) in [
            ("a", Some("http://x")),
            ("b", Some("http://y")),
            ("c", None),
            ("d", None),
        ] {
            assert_eq!(
                named(&Kubeconfig::from_yaml(&text(current)).unwrap()).as_deref(),
                expected,
                "{current}"
            );
        }
    }
}
