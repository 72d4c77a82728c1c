//! Commands and lines of logs without their secrets.
//!
//! Of files nothing is shown at all unless the user wishes it: which of them came out of a Secret, the data does not tell.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::objects::secrets::{REDACTED, masked};

/// Patterns whose first group stays.
static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // Bootstrap tokens: their id stays.
        r"\b([a-z0-9]{6}\.)[a-z0-9]{16}\b",
        // Programs that take a password without naming it.
        r"(\bhtpasswd\s)[^\n;&|]+",
        r"(\b(?:sshpass|mysql\w*|ldap\w+|(?:az|docker|podman|nerdctl|crictl|crane|oras|helm|argocd|vault)\b[^\n;&|]*\blogin)\b[^\n;&|]*?\s-[pw]\s*)[^\s;&|]+",
        r"(-{2}from-literal[= ][^\s=]+=)[^\s;&|]+",
        // What names itself.
        r#"(?i)([\w-]*(?:password|passwd|passphrase|token|secret|credential|api[_-]?key|access[_-]?key|private[_-]?key|certificate-key)[\w-]*["']?\s*(?:[=:]\s*|\s+))(?:"[^"]*"|'[^']*'|[^\s"';&|]+)"#,
        // HTTP.
        r"(?i)((?:bearer|basic)\s+)[\w.~+/=-]{6,}",
        r"(\b[a-z][a-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@",
        r"((?:^|\s)(?:-u|--user)[ =]?)\S+:\S+",
        // Passwords for chpasswd, hashes of crypt, keys and certificates in base64.
        r"(\becho\s+)\S+(?:\s*\|\s*(?:sudo\s+)?(?:chpasswd|passwd))",
        r"(\$[0-9a-z]{1,2}\$)[\w./$=-]{8,}",
        r"(\b(?:AKIA|ASIA))[A-Z0-9]{12,}",
        r"(\beyJ)[\w-]{8,}\.[\w-]+\.[\w-]*",
        r"(\bdata:[^\s,]{0,80},)\S+",
        r"()\b[A-Za-z0-9+/]{64,}={0,2}",
    ]
    .iter()
    .map(|pattern| Regex::new(pattern).expect("internal error: the pattern is one of ours"))
    .collect()
});

/// A text without what looks like a secret; in doubt more is taken rather than less.
pub(crate) fn redacted(text: &str) -> String {
    let keep = |found: &Captures<'_>| format!("{}{REDACTED}", found.get(1).map_or("", |kept| kept.as_str()));
    let masked = masked(text).into_owned();
    PATTERNS.iter().fold(masked, |text, pattern| match pattern.replace_all(&text, keep) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(text) => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_commands_are_not_shown() {
        for command in [
            "kubeadm join x --token abcdef.hunter2hunter2hu",
            "curl -u admin:hunter2 https://x",
            "curl https://admin:hunter2@x/y",
            "curl -H 'Authorization: Bearer hunter2hunter2'",
            "export DB_PASSWORD=hunter2; run",
            "mysql --password hunter2",
            "mysql --password='hunter2 x'",
            "echo root:hunter2 | chpasswd",
            "echo root:hunter2|sudo chpasswd",
            "token: hunter2",
            "aws configure set aws_secret_access_key hunter2",
            "usermod -p '$6$salt$hunter2hunter2' root",
            "kubeadm init --certificate-key hunter2",
            "echo eyJhbunter2.hunter2hunter2.hunter2",
            "wget data:;base64,hunter2",
            "htpasswd -b f user hunter2",
            "kubectl create secret generic x --from-literal=k=hunter2",
            "sshpass -p hunter2 ssh x",
            "mysql -u root -phunter2",
            "az login --service-principal -u x -p hunter2",
            "docker login -u x -p hunter2 registry.example",
        ] {
            assert!(!redacted(command).contains("hunter2"), "{}", redacted(command));
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for command in [
            "kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml  && echo success > /run/cluster-api/bootstrap-success.complete",
            "systemctl restart containerd",
            "mkdir -p /run/cluster-api && docker run -p 80:80 x",
            "echo '127.0.0.1 localhost' >> /etc/hosts",
        ] {
            assert_eq!(redacted(command), command);
        }
        assert_eq!(redacted("--token abcdef.0123456789abcdef"), "--token <redacted>");
    }
}
