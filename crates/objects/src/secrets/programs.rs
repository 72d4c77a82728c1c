//! Secrets that a program takes behind flags whose names do not tell, such as `mysql -p`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::pattern::pattern;
use windlass_source::cut::cut;

/// A program and its flags, as patterns.
const PROGRAMS: [(&str, &str); 16] = [
    (
        r"(?:sshpass|mysql\w*|mariadb\w*|useradd|usermod|7z\w?|mongo\w*|(?:az|docker|podman|nerdctl|crictl|crane|oras|helm|argocd|oc|buildah|skopeo|cosign|regctl)\b<words>\blogin)",
        "-p<quote><blank>*",
    ),
    (r"(?:ldap\w+|ipa-client-install)", "-w<quote><blank>*"),
    (
        r"(?:redis-cli|ipmitool|zip|unzip|agent-auth)",
        "-[aP]<quote><blank>*",
    ),
    ("openssl", "-(?:[kK]|hmac)<quote><blank>+"),
    ("SUSEConnect", "(?:-r|-{2}regcode)<quote>(?:=|<blank>)+"),
    (r"snmp\w*", "-[cAX]<quote><blank>*"),
    ("(?:sqlcmd|bcp)", "-P<quote><blank>*"),
    ("gitlab-runner", "-r<quote><blank>+"),
    ("doctl", "-t<quote><blank>+"),
    ("ncftp\\w*", "-p<quote><blank>*"),
    ("swift", "-K<quote><blank>+"),
    ("falconctl", "-{2}cid<quote>(?:=|<blank>+)"),
    ("ssh-keygen", "-[NP]<quote><blank>+"),
    ("splunk", "-auth<quote><blank>+"),
    (r"mosquitto_\w+", "-P<quote><blank>*"),
    (r"(?:pkcs11-tool|tpm2_\w+)", "-p<quote><blank>*"),
];

struct Program {
    /// Its name, and what follows up to the end of the command.
    command: Regex,
    flag: Regex,
}

static COMPILED: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let compiled = |(name, flag): &(&str, &str)| Program {
        command: pattern(&format!(r"\b{name}\b((?:[^\n;&|\\]|\\(?s:.))*)")),
        flag: pattern(&format!("<blank><quote>{flag}")),
    };
    PROGRAMS.iter().map(compiled).collect()
});

/// The value at the beginning of a text.
static VALUE: LazyLock<Regex> = LazyLock::new(|| pattern("^<value>"));

/// The same of a word that a quote in front of its flag begins.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:[^']|'\\'')+"));

/// The values, each with its flag.
pub(super) fn secrets(text: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found = Vec::new();
    for program in COMPILED.iter() {
        for captures in program.command.captures_iter(text) {
            let Some(arguments) = captures.get(1) else {
                continue;
            };
            of_command(text, arguments.range(), &program.flag, &mut found);
        }
    }
    found
}

fn of_command(
    text: &str,
    arguments: Range<usize>,
    flag: &Regex,
    found: &mut Vec<(Range<usize>, Range<usize>)>,
) {
    let mut start = arguments.start;
    while let Some(next) = flag.find(cut(text, start..arguments.end)) {
        let (from, at) = (start + next.start(), start + next.end());
        let value = if is_open(next.as_str()) {
            &QUOTED
        } else {
            &VALUE
        };
        let length = value.find(cut(text, at..)).map_or(0, |value| value.len());
        if length > 0 {
            found.push((from..at, at..at + length));
        }
        start = at + length;
        if start >= arguments.end {
            break;
        }
    }
}

/// Whether a flag follows a quote that does not end before its value.
fn is_open(flag: &str) -> bool {
    // The next line follows a `\`.
    let is_blank = |c: char| c.is_whitespace() || c == '\\';
    let flag = flag.trim_start().trim_end_matches(is_blank);
    flag.starts_with('\'') && !flag.ends_with(['\'', '"', '='])
}
