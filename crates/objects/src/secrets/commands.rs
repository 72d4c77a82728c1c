//! Commands and lines of logs without their secrets.
//!
//! Of files nothing is shown at all unless the user wishes it: which of them came out of a Secret,
//! the data does not tell.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::lines::lines;
use super::pattern::pattern;
use super::{joined, programs, replaced, spans};
use windlass_source::cut::cut;

/// Patterns whose first group stays.
static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // Bootstrap tokens: their id stays.
        r"\b([a-z0-9]{6}\.)[a-z0-9]{16}\b",
        // Programs that take a password without naming it, in a quoted word or as they are.
        r"(\b(?:htpasswd|wpa_passphrase|vault<quote><blank>+<quote>login|rabbitmqctl<quote><blank>+<quote>(?:add_user|change_password|authenticate_user)|mc<quote><blank>+<quote>alias<quote><blank>+<quote>set|vault<quote><blank>+<quote>kv<quote><blank>+<quote>(?:put|patch)|vault<quote><blank>+<quote>(?:write|unwrap)|vault<quote><blank>+<quote>operator<quote><blank>+<quote>unseal|zerotier-cli<quote><blank>+<quote>join|cloudflared<quote><blank>+<quote>service<quote><blank>+<quote>install|consul<quote><blank>+<quote>(?:kv<quote><blank>+<quote>put|acl<quote><blank>+<quote>set-agent-token)|ipmitool<quote><blank>+<quote>user<quote><blank>+<quote>set<quote><blank>+<quote>password|mkpasswd|ConvertTo-SecureString)<quote><blank>)<rest>",
        // The user of Samba's programs: `NAME%PASSWORD`.
        r"(\b(?:net|smb\w+|rpcclient|wbinfo|ntlm_auth|winexe)\b<words><blank><quote>(?:-U|-{2}user(?:name)?)<quote>(?:=|<blank>)*<quote>[^\s%'\x22]*%)[^\s'\x22;&|]+",
        r"(\buser(?:name)?=[^\s,%]*%)[^\s,'\x22;&|]+",
        r"(\bsmbclient<blank>+(?:-\S+<blank>+)*//\S+<blank>+)[^\s-]\S*",
        r"(\bsqlplus<blank>+(?:-\S+<blank>+)*[^\s/]+/)[^\s@]+",
        r"(\b(?:lftp|ncftp\w*)\b<words><blank>-u<blank>*[^\s,]+,)<value>",
        // What a Secret gets in a patch, a community of SNMP, and a webhook of Slack.
        r#"((?:stringData|\bdata)(?:\\?["'])?\s*:\s*)\{[^}]*\}"#,
        r"(\br[ow]community6?<blank>+)<value>",
        r"(\bhooks\.slack\.com/services/)\S+",
        r"(-{2}secret<blank>+[^\s=]+<blank>+)<value>",
        // A text for the input of a command.
        r"(<\(<blank>*(?:echo|printf)<blank>+)[^)\n]+",
        r"(<<<<quote><blank>*)<value>",
        r"(\b(?:echo|printf)<quote>(?:<blank>+-[neE]+)*<blank>+)<rest>\|<blank>*(?:\S+=\S*<blank>+|env<blank>+|sudo<blank>+(?:-\S+<blank>+)*)*(?:/\S*/)?(?:passwd|smbpasswd|vncpasswd|htpasswd|kinit|adcli|realm|su|gpg|gh|ssh-add|wg|vault|systemd-creds|debconf-set-selections|base64<blank>+(?:-[dD]|-{2}decode))\b",
        // What expect types.
        r"(\bsend(?:<blank>+-{2})?<blank>+)[^\n]*?\\r[\x22}]",
        // What is written into a file with such a name.
        r"(?i)(\b(?:echo|printf)<quote><blank>+)<rest>(?:>|\|<blank>*(?:sudo<blank>+)?tee\b)[^\n;&|]*(?:<secret>|pgpass|netrc|shadow|[./]auth\b|[\s./-]key\b|\.pem\b|keyring\b|vault_pass|\bid_(?:rsa|dsa|ecdsa|ed25519)\b)[^\s;&|]*",
        // What sed writes in place of `@PASSWORD@` and the like.
        r"((?:^|[\s'\x22;])s/[^/\n]*<placeholder>[^/\n]*/)[^/\n]+",
        r"((?:^|[\s'\x22;])s\|[^|\n]*<placeholder>[^|\n]*\|)[^|\n]+",
        r"((?:^|[\s'\x22;])s#[^#\n]*<placeholder>[^#\n]*#)[^#\n]+",
        r"((?:^|[\s'\x22;])s,[^,\n]*<placeholder>[^,\n]*,)[^,\n]+",
        r"((?:^|[\s'\x22;])s~[^~\n]*<placeholder>[^~\n]*~)[^~\n]+",
        r"((?:^|[\s'\x22;])s![^!\n]*<placeholder>[^!\n]*!)[^!\n]+",
        r"(\betcdctl\b<words>\buser<quote><blank>+<quote>(?:add|passwd)<quote><blank>)<rest>",
        r"(\b(?:pro|ua|ubuntu-advantage)<quote><blank>+<quote>attach<quote><blank>)<rest>",
        r"(?i)(\bnet1?(?:\.exe)?<quote><blank>+<quote>user<quote><blank>)<rest>",
        r"(?i)(\bidentified<blank>+(?:with<blank>+\S+<blank>+)?(?:by|as)<blank>+(?:password<blank>+)?)<value>",
        // What names itself: a quoted word as a whole, and else the value, behind a flag too.
        r"(?i)('-{0,2}<name>*(?:<secret>|from-literal|pwd|pass|psk|auth)<name>*[=:])(?:[^']|'\\'')*'",
        r#"(?i)("-{0,2}<name>*(?:<secret>|from-literal|pwd|pass|psk|auth)<name>*[=:])(?:[^"\\]|\\(?s:.))*""#,
        r"(-{2}from-literal(?:=|<quote><blank>+<quote>)[^\s=]+=)<value>",
        r"(?i)(<name>*<secret><name>*<quote>(?:<blank>*[=:]+>?<blank>*|<blank>+))(?:<quote>-{1,2}<name>+<quote><blank>+)?<value>",
        r"(?i)(<name>*(?:auth|pwd|pass|psk|sig|signature)<quote><blank>*[=:]<blank>*)<value>",
        r"(?i)(<name>*(?:psk|-{2}pass|-{2}cookie|-data)<quote>(?:=|<blank>+))<value>",
        r"(?i)((?:^|<blank>|['\x22])-{1,2}[a-z]*pass<quote><blank>+)<value>",
        r"((?:^|<blank>|['\x22])-{2}(?:pw|jwt|pin|key)<quote>(?:=|<blank>+))<value>",
        // HTTP.
        r#"(?i)((?:authorization|cookie)<quote><blank>*[:=]<blank>*)[^"'\n]+"#,
        r"(?i)((?:bearer|basic)\s+)[\w.~+/=-]{6,}",
        r"(\b[a-z][a-z0-9+.-]*://)[^\s/?#]*@",
        r#"((?:^|[\s'"])(?:-[A-Za-z]*[uU]|-{2}(?:proxy-)?user|-{2}(?:src-|dest-)?creds)<quote>(?:=|<blank>)*)(?:'\\''[^':]*:[^']*'\\''|"[^":]*:[^"]*"|'[^':]*:[^']*'|[^\s:;&|]*:<value>)"#,
        // Hashes of crypt, keys and certificates in base64.
        r"(\$[0-9a-z]{1,2}\$)[\w./$=-]{8,}",
        r"(\b(?:AKIA|ASIA))[A-Z0-9]{12,}",
        r"(\beyJ)[\w-]{8,}\.[\w-]+\.[\w-]*",
        r"(\bgh[a-z]_|\bgithub_pat_|\bglpat-)[\w-]{8,}",
        r"(\bdata:[^\s,]{0,80},)\S+",
        r"()\b[A-Za-z0-9+/]{64,}={0,2}",
    ]
    .iter()
    .map(|text| pattern(text))
    .collect()
});

/// Commands that read a secret from what is piped into them.
static READS_SECRET: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:chg?passwd|cryptsetup)\b|-stdin\b|\bsudo\b[^\n;&|]*\s-[A-Za-z]*S\b|\bpass(?:in|out)?\s+stdin\b",
    )
    .expect("internal error: the pattern is one of ours")
});

/// Commands that write a text of the line itself.
static WRITES_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:echo|printf?|yes|puts)\b|<<")
        .expect("internal error: the pattern is one of ours")
});

/// Words with which a line begins that is not shown: none of them is a secret.
const HARMLESS: [&str; 11] = [
    "echo",
    "printf",
    "cat",
    "sudo",
    "chpasswd",
    "passwd",
    "docker",
    "podman",
    "nerdctl",
    "helm",
    "cryptsetup",
];

/// A text of commands without what looks like a secret; in doubt more is taken rather than less.
pub fn redacted(text: &str) -> String {
    replaced(text, command_spans(text)).into_owned()
}

/// The stretches of a text of commands that look like secrets, in their order; none touches
/// another.
pub(super) fn command_spans(text: &str) -> Vec<Range<usize>> {
    let mut found = spans(text);
    // A variable of the shell behind a key, as in a header.
    found.retain(|span| {
        let first = cut(text, span.clone()).split_whitespace().next();
        !first.is_some_and(|word| is_public("", word))
    });
    input(text, &mut found);
    let mut found = joined(found);
    let hidden = found.clone();
    // What is hidden already names nothing.
    let is_hidden = |name: Range<usize>| {
        let next = hidden.partition_point(|span| span.end <= name.start);
        hidden.get(next).is_some_and(|span| span.start < name.end)
    };
    let named = PATTERNS.iter().flat_map(|pattern| {
        pattern.captures_iter(text).filter_map(|captures| {
            let (all, name) = (captures.get(0)?, captures.get(1)?);
            // The `@` behind credentials of a URL.
            let end = all.end() - usize::from(all.as_str().ends_with('@'));
            Some((name.range(), name.end()..end))
        })
    });
    let secrets = named.chain(programs::secrets(text));
    let shown = |name: &Range<usize>, value: &Range<usize>| {
        is_hidden(name.clone())
            || is_public(cut(text, name.clone()), cut(text, value.clone()))
            || is_kind(text, name.clone())
            || is_program_or_path(text, name.clone())
            || is_line_of_source(cut(text, name.clone()), text, name.end)
    };
    let secrets = secrets.filter(|(name, value)| !shown(name, value));
    found.extend(secrets.map(|(_, value)| value));
    joined(found)
}

/// Whether a name or its value is public: a hash that everybody may know, a variable of the shell, a
/// path, a switch, or nothing.
fn is_public(name: &str, value: &str) -> bool {
    static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\$(?:\w+|\{\w+\})$").expect("internal error: the pattern is one of ours")
    });
    static OF_PATH: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)(?:file|path|dir|credentials)['\x22]?\s*[=:]?\s*$")
            .expect("internal error: the pattern is one of ours")
    });
    let value = value.trim_matches(['\'', '"', ' ']);
    let is_path = value.starts_with(['/', '~', '.']);
    let is_key_file = is_path || value.ends_with(".pem") || value.ends_with(".key");
    value.is_empty()
        || name.trim_end().ends_with("-stdin")
        || name.contains("ca-cert-hash")
        || name.contains("--key") && is_key_file
        || is_path && (OF_PATH.is_match(name) || name.ends_with("-c "))
        || matches!(value, "yes" | "no" | "true" | "false" | "prohibit-password")
        || VARIABLE.is_match(value)
}

/// Whether a name that looks like that of a secret is the kind of which `kubectl` shows or changes
/// objects, such as `kubectl get secret -n NAMESPACE`.
fn is_kind(text: &str, name: Range<usize>) -> bool {
    static VERB: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"\b(?:kubectl|oc)\b[^\n;&|]*\b(?:get|describe|delete|edit|wait|label|annotate|create|patch)\s+$|\bkubeadm\s+$",
        )
        .expect("internal error: the pattern is one of ours")
    });
    /// Longer commands are not expected.
    const LONGEST: usize = 256;
    let kind = cut(text, name.clone()).trim_end();
    matches!(kind, "secret" | "secrets" | "token")
        && VERB.is_match(cut(text, name.start.saturating_sub(LONGEST)..name.start))
}

/// Whether a name that looks like that of a secret is the program `passwd`, which takes a user, or
/// the end of a path, and another word follows.
fn is_program_or_path(text: &str, name: Range<usize>) -> bool {
    let word = cut(text, name.clone());
    let is_path = cut(text, ..name.start).ends_with('/');
    let words: Vec<&str> = word.split_whitespace().collect();
    let is_operand = word.ends_with([' ', '\t', '\n']) && !word.contains(['=', ':']);
    is_operand
        && (is_path
            || matches!(
                words.as_slice(),
                ["passwd" | "chpasswd" | "chgpasswd"]
                    | ["passwd", "-l" | "-u" | "-d" | "-e" | "-S"]
            ))
}

/// Whether a name that looks like that of a secret is a Go file in the head of a line of klog, such
/// as `token.go:223]`.
fn is_line_of_source(name: &str, text: &str, end: usize) -> bool {
    let digits = cut(text, end..text.len()).trim_start_matches(|c: char| c.is_ascii_digit());
    name.ends_with(".go:") && digits.starts_with("] ") && text.len() - digits.len() > end
}

/// Here-documents, and lines that hand a secret to a command.
fn input(text: &str, found: &mut Vec<Range<usize>>) {
    for line in lines(text) {
        let whole = cut(text, line.range.clone());
        let end = line.range.start + whole.trim_end_matches(['\n', '\r']).len();
        if READS_SECRET.is_match(whole) && WRITES_TEXT.is_match(whole) {
            let mut words = whole.split_whitespace().filter(|word| *word != "-");
            let first = words.next().unwrap_or_default();
            let is_harmless = HARMLESS.contains(&first.trim_matches('\''));
            // A line of a list begins with `- `.
            let command = whole.trim_start_matches([' ', '\t', '-']);
            let before = whole.len() - command.len();
            let start = line.range.start + before + if is_harmless { first.len() + 1 } else { 0 };
            found.push(start.min(end)..end);
            continue;
        }
        found.extend(line.bodies.into_iter().map(|body| {
            body.start..body.end - usize::from(cut(text, body.clone()).ends_with('\n'))
        }));
    }
    found.retain(|span| !span.is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_commands_are_not_shown() {
        for command in [
            "kubeadm join x --token abcdef.hunter2hunter2hu",
            "curl -u admin:hunter2 https://x",
            "crictl pull --creds robot:hunter2 reg.example/x",
            "skopeo copy --dest-creds=robot:hunter2 a b",
            "curl https://admin:hunter2@x/y",
            "curl -H 'Authorization: Bearer hunter2hunter2'",
            "export DB_PASSWORD=hunter2; run",
            "mysql --password hunter2",
            "mysql --password='hunter2 x'",
            "echo root:hunter2 | chpasswd",
            "echo root:hunter2|sudo chpasswd",
            "token: hunter2",
            "token.go:hunter2",
            "token.go:1]hunter2",
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
            "echo hunter2 | kinit admin@REALM",
            "echo hunter2 | sudo -S apt-get update",
            "echo hunter2 | sudo -u a -kS id",
            "net ads join -U admin%hunter2",
            "smbclient //a/b --user='a%hunter2'",
            "openssl enc -d -aes-256-cbc -k hunter2 -in a",
            "keytool -storepass hunter2 -list",
            "echo hunter2 > /etc/foo/token",
            "printf '%s' hunter2 >> /root/.vault-token",
            "echo 'hunter2' | sudo tee -a /etc/foo/password.txt",
            "echo hunter2 | base64 -d > /etc/key",
            "echo -e 'hunter2\\nhunter2' | passwd root",
            "SUSEConnect -r hunter2",
            "ipa-client-install -p admin -w hunter2",
            "snmpwalk -v2c -c hunter2 host",
            "ssh-keygen -t rsa -N hunter2 -f k",
            "rabbitmqctl add_user u hunter2",
            "netbird up --setup-key hunter2",
            "sed -i 's/DB_PASSWORD/hunter2/' /etc/f",
            "sed -i \"s|@TOKEN@|hunter2|g\" /etc/f",
            "expect -c 'spawn ssh a; send \"hunter2\\r\"'",
            "wg set wg0 private-key /dev/stdin <<< hunter2",
            "cat > /etc/token <<< hunter2",
            "'tee' '/etc/token' '<<<' 'hunter2'",
            "echo hunter2 | /usr/bin/kinit a",
            "echo hunter2 | env LANG=C KRB5_CONFIG=/e kinit a",
            "x --password $(echo hunter2)",
            "x --password=`echo hunter2`",
            "echo hunter2 > /root/.ssh/id_rsa",
            "echo hunter2 > /etc/kubernetes/pki/etcd/server-key.pem",
            "sed -e 's/USER/a/' -e 's,@TOKEN@,hunter2,' /etc/f",
            "perl -pi -e 's~API_KEY~hunter2~' /etc/f",
            "snmpget -v3 -A hunter2 -X hunter2 host",
            "ssh-keygen -p -P hunter2 -N hunter2",
            "mosquitto_pub -u a -P hunter2",
            "mongosh -u a -p hunter2",
            "splunk add x -auth a:hunter2",
            "openssl dgst -sha256 -hmac hunter2 f",
            "vault kv put secret/a k=hunter2",
            "etcdctl --endpoints x user add root:hunter2",
            "mkpasswd hunter2",
            "ConvertTo-SecureString hunter2 -AsPlainText",
            "agent install --pw hunter2 --jwt=hunter2 --pin hunter2 --key hunter2",
            "mount -o username=a,password=hunter2 //x/y /z",
            "kubectl patch secret s -p '{\"stringData\":{\"foo\":\"hunter2\"}}'",
            "echo 'rocommunity hunter2 10.0.0.0/8' >> /etc/snmp/snmpd.conf",
            "net-snmp-create-v3-user -ro -A hunter2 user",
            "vault operator unseal hunter2",
            "vault unwrap hunter2",
            "mount.cifs //s/x /mnt -o username=u%hunter2",
            "smbclient //s/x hunter2 -U u",
            "sqlcmd -S h -P hunter2",
            "sqlplus u/hunter2@db",
            "cosign login r -u u -p hunter2",
            "regctl registry login r -p hunter2",
            "gitlab-runner register -r hunter2",
            "cloudflared service install hunter2",
            "lftp -u user,hunter2 h",
            "ipmitool user set password 2 hunter2",
            "wg set wg0 private-key <(echo hunter2)",
            "pulumi config set --secret k hunter2",
            "consul kv put k hunter2",
            "curl https://hooks.slack.com/services/hunter2",
            "falconctl -s --cid=hunter2",
            "zerotier-cli join hunter2",
        ] {
            assert!(
                !redacted(command).contains("hunter2"),
                "{}",
                redacted(command)
            );
        }
    }

    /// Each form in which a command keeps a secret, as it stands, as a list, and as a list that has
    /// a shell run it.
    #[test]
    fn secrets_are_not_shown_in_whatever_form_a_command_has() {
        let long = "hunter2 ry";
        for words in [
            &["sshpass", "-p", "hunter2", "ssh"][..],
            &["docker", "login", "-u", "x", "-p", "hunter2", "r"],
            &["curl", "-u", "admin:hunter2"],
            &["curl", "-su", "a:hunter2 ry"],
            &["mysql", "-phunter2"],
            &["mysql", "-phunter2 ry"],
            &["ldapsearch", "-p", "389", "-w", "hunter2"],
            &["htpasswd", "-b", "f", "user", "hunter2"],
            &["bash", "-c", "x --password 'hunter2'"],
            &["bash", "-c", "x --password \"hunter2 ry\""],
            &["bash", "-c", "chpasswd <<EOF\nroot:hunter2\nEOF\n"],
            &["x", "--password", long],
            &["x", "--password=hunter2;ry"],
            &["x", "--authkey=hunter2 ry"],
            &["redis-cli", "-a", "hunter2"],
            &["pro", "attach", "hunter2"],
            &["net", "user", "u", "hunter2", "/add"],
            &["kubectl", "create", "--from-literal=k=hunter2 ry"],
            &["curl", "-H", "Authorization: hunter2"],
            &["echo", "hunter2 ry", "|", "chpasswd"],
        ] {
            let list: Vec<String> = words
                .iter()
                .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
                .collect();
            let shell = format!("'sh' '-c' '{}'", list.join(" ").replace('\'', r"'\''"));
            for command in [list.join(" "), list.join(" \\\n  "), shell] {
                let shown = redacted(&command);
                assert!(
                    !shown.contains("hunter2") && !shown.contains("ry"),
                    "{command}: {shown}"
                );
            }
        }
        for command in [
            "bash -c \"x --password 'hunter2'\"",
            "bash -c \"x --password \\\"hunter2 ry\\\"\"",
            "kubeadm join --certificate-key \\\n hunter2",
            "iscsiadm -m node -n node.session.auth.password -v hunter2",
            "printf 'root:hunter2' | chpasswd",
            "printf 'a:b\nroot:hunter2' |\n  chpasswd",
            "echo -n 'root:hunter2' | chpasswd",
            "chpasswd <<< \"root:hunter2\"",
            "chpasswd <<EOF\nroot:hunter2\nEOF\n",
            "cat > /etc/x <<-'END' && y\n  hunter2\n\tEND\nz",
            "cat <<A\nhunter2",
            "# don't\nprintf 'x\nhunter2' | chpasswd",
            "echo hunter2 | docker login --password-stdin",
            "echo hunter2 | passwd --stdin root",
            "curl -su \"a:hunter2\"",
            "curl -u \"a:hunter2 ry\"",
            "git clone https://ghp_hunter2@github.com/x",
            "curl 'https://x/y?sig=hunter2&se=1'",
            "curl https://x/y?X-Amz-Signature=hunter2",
            "curl -H \"Authorization: hunter2\"",
            "curl -H 'Cookie: session=hunter2; b=hunter2'",
            "tailscale up --authkey=hunter2",
            "subscription-manager register --activationkey=hunter2",
            "pro attach hunter2",
            "kubectl config set-credentials x --client-key-data=hunter2",
            "PASS=hunter2 x",
            "DB_PWD=hunter2 x",
            "openssl rsa -passin pass:hunter2",
            "redis-cli -a hunter2",
            "echo '{\"auth\":\"hunter2\"}'",
            "echo \"{\\\"auth\\\": \\\"hunter2 ry\\\"}\"",
            "mysql -e \"CREATE USER u IDENTIFIED BY 'hunter2 ry'\"",
            "net user u hunter2 /add",
            "nmcli c modify x wifi-sec.psk hunter2",
            "password=foo\"hunter2\"",
            "x --password foo\\ hunter2",
            "x --password \"hunter2",
            "export PASSWORD=hunter2",
            "Authorization: Bearer hunter2",
        ] {
            let shown = redacted(command);
            assert!(
                !shown.contains("hunter2") && !shown.contains("ry\"") && !shown.contains("ry'"),
                "{command}: {shown}"
            );
        }
    }

    /// Texts in which everything begins and nothing ends: what stands behind them is hidden, or was
    /// no secret.
    #[test]
    fn hostile_text_is_read_to_its_end() {
        for part in [
            "mysql ",
            "'",
            "\"",
            "password ",
            "password=\"",
            "\\\"",
            "-u a",
            "<<A ",
            "<<A\n",
            "docker login '-p",
            "https://",
            "((<<a",
        ] {
            let text = format!("{}\ntoken: hunter2\n", part.repeat(30_000 / part.len()));
            assert!(!redacted(&text).contains("hunter2"), "{part}");
        }
    }

    /// A quote behind a secret does not open another text.
    #[test]
    fn the_next_command_stays() {
        let commands = "- net ads join -U \"admin%hunter2\"\n- systemctl restart containerd\n- export A=\"b\"\n";
        assert_eq!(
            redacted(commands),
            commands.replace("hunter2", "<redacted>")
        );
    }

    #[test]
    fn what_is_no_secret_stays() {
        for command in [
            "kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml  && echo success > /run/cluster-api/bootstrap-success.complete",
            "systemctl restart containerd",
            "mkdir -p /run/cluster-api && docker run -p 80:80 x",
            "echo '127.0.0.1 localhost' >> /etc/hosts",
            "echo 'net.ipv4.ip_forward = 1' | sudo tee /etc/sysctl.d/k8s.conf",
            "sed -i 's/SystemdCgroup = false/SystemdCgroup = true/' /etc/containerd/config.toml",
            "failed to send \"GET\" to the server",
            "base64 -d /etc/a > /etc/b",
            "curl -fsSL https://pkgs.k8s.io/Release.key | gpg --dearmor -o /etc/apt/keyrings/kubernetes.gpg",
            "curl -s https://x/y | base64 -d > /etc/b",
            "kubeadm join x --discovery-token-ca-cert-hash sha256:0123",
            "x --password ${PASSWORD} --token \"$TOKEN\"",
            "sed -i 's/#PermitRootLogin prohibit-password/PermitRootLogin yes/' /etc/ssh/sshd_config",
            "I1123 09:12:34.010101     812 token.go:223] [discovery] waiting",
            "kubectl get secret -n x",
            "kubectl -n x describe secrets a",
            "etcdctl --cert /a/b.crt --key /a/b.key endpoint health",
            "curl --key=client.pem https://x",
            "docker run -p 80:80 x; mysql -h a",
            "  - systemctl restart a",
            "passwd -l root",
            "cat /run/secrets/password | docker login -u robot --password-stdin quay.io",
            "docker login quay.io --password-stdin < /etc/pw && systemctl restart kubelet",
            "curl -H \"X-aws-ec2-metadata-token: $TOKEN\" http://169.254.169.254/a -o /tmp/iid",
            "kubeadm token create --print-join-command",
            "kubectl create secret generic foo --from-file=/etc/x",
            "mount -o credentials=/etc/smb.cred,vers=3.0 //x/y /z",
            "snmpd -c /etc/snmp/snmpd.conf",
            "echo \"PasswordAuthentication no\" >> /etc/ssh/sshd_config",
            "export KUBE_TOKEN_FILE=/var/run/token",
            "mkdir -p /etc/secrets /var/lib/token-dir",
            "ssh-keygen -t rsa -N '' -f k",
        ] {
            assert_eq!(redacted(command), command);
        }
        assert_eq!(
            redacted("cat > /etc/x <<EOF\na\nEOF\nsystemctl start x"),
            "cat > /etc/x <<EOF\n<redacted>\nEOF\nsystemctl start x"
        );
        assert_eq!(
            redacted("echo root:x | chpasswd\nreboot\n"),
            "echo <redacted>\nreboot\n"
        );
        assert_eq!(
            redacted("  - echo root:x | chpasswd\n  - reboot\n"),
            "  - echo <redacted>\n  - reboot\n"
        );
        assert_eq!(
            redacted("- 7z x -phunter2 a | chpasswd\n- reboot\n"),
            "- 7z x -p<redacted> a | chpasswd\n- reboot\n"
        );
        assert_eq!(
            redacted("--token abcdef.0123456789abcdef"),
            "--token <redacted>"
        );
    }
}
