//! What lines of logs report: errors, warnings and success, by the forms in which the programs of
//! a boot write them.

use std::sync::LazyLock;

use regex::RegexSet;

use super::line::Line;

/// The severity of a line of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A failure, in a form that kubeadm, cloud-init, a shell or another program of the boot uses.
    Error,
    /// A problem that the program itself calls a warning.
    Warning,
}

impl Kind {
    /// The value in reports, such as `warning`.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Error => "error",
            Kind::Warning => "warning",
        }
    }
}

/// Forms of errors, all at the beginning of a message unless they are a whole clause.
const ERRORS: &[&str] = &[
    // kubeadm
    r"^\[ERROR [\w.-]+\]:",
    r"^error execution phase ",
    r"^Unfortunately, an error has occurred",
    r"^timed out waiting for the condition",
    r"^couldn't initialize a Kubernetes cluster",
    r"^\[kubelet-check\] (?:It seems like the kubelet isn't|The HTTP call equal to)",
    // programs of Go, shells and packages: `error: …`, `E: …`, `curl: (6) …`
    r"^(?i:error|fatal|fatal error|panic)(?:\[[\w-]+\])?: ",
    r"^E: ",
    r"^Err:\d+ ",
    r"\bcurl: \(\d+\) ",
    r"^wget: (?:unable|can't|bad|server returned|error|download)",
    r"\bERROR \d{3}: ",
    r"^dpkg(?:-\w+)?: (?:unrecoverable fatal )?error",
    r"Sub-process \S+ returned an error code",
    r"^No match for argument: ",
    r"^modprobe: (?:FATAL|ERROR): ",
    r"^sysctl: (?:cannot|permission|setting key)",
    r"^mount: .*: (?:wrong fs type|special device|can't find|mount point does not exist)",
    r"\bscripts/(?:runcmd|bootcmd|part-\d+)[^: ]*: (?:line )?\d+: ",
    r": (?:command )?not found$",
    r": No such file or directory$",
    r": Permission denied$",
    r": unbound variable$",
    r": bad interpreter",
    r": cannot execute",
    r"Exec format error$",
    r"[Ss]yntax error",
    r"unexpected EOF while looking for matching",
    r"No space left on device",
    // Python
    r"^(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*)?(?:Error|Exception|Exit|Interrupt)(?:: |$)",
    // cloud-init
    r"\.py\[(?:ERROR|CRITICAL)\]: ",
    r"\.py\[WARNING\]: .*(?:[Ff]ail|[Ee]rror|No such file)",
    r"^failed run of stage ",
    // systemd, on the console and in the journal
    r"^\[ *(?:FAILED|DEPEND) *\]",
    r"^Failed to (?:start|restart|mount|listen|enable|activate|load|stop|connect to bus)\b",
    r"^Dependency failed for ",
    r"^Job for \S+ failed",
    r"^A dependency job for \S+ failed",
    r"^Unit \S+ (?:could not be|is masked|not found)",
    r": Failed with result '",
    r": Main process exited, code=(?:killed|dumped|exited, status=[1-9])",
    r": Start request repeated too quickly",
    r": Failed at step ",
    // logs in logfmt, JSON and klog
    r"\blevel=(?:error|fatal|panic)\b",
    r#""level":"(?:error|fatal|panic)""#,
    r"^[EF]\d{4} \d{2}:\d{2}:\d{2}\.\d+ ",
    // Ignition
    r"^CRITICAL *: ",
    r"^(?:Ignition )?failed to (?:fetch|acquire|create|run|translate)",
    r"^Ignition failed: ",
    // the kernel
    r"^Out of memory: Killed process",
    r"^Kernel panic",
    // what `onFailure` of a WindlassConfig reports
    r"^windlass: bootstrap failed",
];

const WARNINGS: &[&str] = &[
    r"^\[WARNING [\w.-]+\]:",
    r"^\[\w[\w-]*\] (?i:warning): ",
    r"^(?i:warning)(?:\[[\w-]+\])?: ",
    r"^W: ",
    r"\.py\[WARNING\]: ",
    r"\blevel=warn(?:ing)?\b",
    r#""level":"warn(?:ing)?""#,
    r"^W\d{4} \d{2}:\d{2}:\d{2}\.\d+ ",
];

/// Lines that report what is known to be of no consequence, or repeat another line.
const SILENT: &[&str] = &[
    r"\.py\[(?:DEBUG|INFO)\]: ",
    r"^error execution phase \S+: \[preflight\] Some fatal errors occurred:$",
];

/// Beginnings of other lines that only logs of a boot have.
const BOOT: &[&str] = &[
    r"^Cloud-init v\. ",
    r"^ci-info: ",
    r"^\[(?:preflight|init|certs|kubeconfig|kubelet-start|kubelet-check|control-plane|etcd|wait-control-plane|apiclient|upload-config|upload-certs|mark-control-plane|bootstrap-token|kubelet-finalize|addons|discovery|join|control-plane-check|control-plane-join)\] ",
    r"^\[ *OK *\] ",
    r"\.py\[(?:DEBUG|INFO)\]: ",
    r"^[IWEF]\d{4} \d{2}:\d{2}:\d{2}\.\d+ ",
    r"^Traceback \(most recent call last\)",
    r"^-- (?:Logs begin|Journal begins|Boot|No entries|Reboot)",
    r"^This node has joined the cluster",
];

static ERROR: LazyLock<RegexSet> = LazyLock::new(|| set(ERRORS));
static WARNING: LazyLock<RegexSet> = LazyLock::new(|| set(WARNINGS));
static QUIET: LazyLock<RegexSet> = LazyLock::new(|| set(SILENT));
static OF_BOOT: LazyLock<RegexSet> = LazyLock::new(|| set(BOOT));

fn set(patterns: &[&str]) -> RegexSet {
    RegexSet::new(patterns).expect("internal error: the patterns are ours")
}

/// What a line reports; nothing if it is neither an error nor a warning.
pub(super) fn of(line: Line<'_>) -> Option<Kind> {
    let message = line.message;
    if QUIET.is_match(message) {
        None
    } else if ERROR.is_match(message) {
        Some(Kind::Error)
    } else {
        WARNING.is_match(message).then_some(Kind::Warning)
    }
}

/// Whether only a log of a boot has such a line.
pub(super) fn is_of_boot(line: Line<'_>) -> bool {
    (line.is_stamped && !line.message.is_empty())
        || OF_BOOT.is_match(line.message)
        || of(line).is_some()
}

/// What kubeadm succeeded with.
pub(super) fn success(line: Line<'_>) -> Option<&'static str> {
    let message = line.message;
    if message.contains("Your Kubernetes control-plane has initialized successfully") {
        Some("kubeadm init")
    } else if message.contains("This node has joined the cluster") {
        Some("kubeadm join")
    } else {
        None
    }
}

/// Whether the lines of a traceback of Python follow.
pub(super) fn is_traceback(line: Line<'_>) -> bool {
    line.message
        .starts_with("Traceback (most recent call last)")
}

/// Whether cloud-init reports its end.
pub(super) fn is_end(line: Line<'_>) -> bool {
    line.message.starts_with("Cloud-init v. ") && line.message.contains(" finished at ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::log::line::read;

    #[test]
    fn structured_lines_are_classified() {
        for line in [
            "\t[ERROR FileContent--proc-sys-net-ipv4-ip_forward]: /proc/sys/net/ipv4/ip_forward contents are not set to 1",
            "error execution phase preflight: couldn't validate the identity of the API Server: …",
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1234 (apt-get)",
            "curl: (6) Could not resolve host: example.com",
            "bash: line 3: crictl: command not found",
            "/var/lib/cloud/instance/scripts/runcmd: 3: kubeadm: not found",
            "OSError: Unknown user or group: \"getpwnam(): name not found: 'rocky'\"",
            "cloudinit.subp.ProcessExecutionError: Unexpected error while running command.",
            "2026-03-16 10:00:02,120 - util.py[WARNING]: Running module write_files (…) failed",
            "[FAILED] Failed to start containerd container runtime.",
            "Jan 12 11:54:13 n systemd[1]: containerd.service: Main process exited, code=exited, status=1/FAILURE",
            "Jan 12 11:54:13 n systemd[1]: containerd.service: Failed with result 'exit-code'.",
            "Job for containerd.service failed because the control process exited with error code.",
            "Nov 29 05:00:00 node kubelet[812]: E1129 05:00:00.000000 812 kubelet.go:2291] \"Error getting node\"",
            "time=\"2024-01-01T00:00:00Z\" level=fatal msg=\"x\"",
            "[    3.8] ignition[548]: CRITICAL : Ignition failed: x",
            "[    9.1] kernel: Out of memory: Killed process 12",
        ] {
            assert_eq!(of(read(line)), Some(Kind::Error), "{line}");
        }
        for line in [
            "\t[WARNING SystemVerification]: missing optional cgroups: blkio",
            "W: Some index files failed to download.",
            "2026-03-16 10:00:02,120 - cc_mounts.py[WARNING]: x",
            "W0712 10:16:01.596870 1909863 join.go:346] [preflight] x",
            "[preflight] WARNING: hostname \"\" could not be reached",
        ] {
            assert_eq!(of(read(line)), Some(Kind::Warning), "{line}");
        }
    }

    #[test]
    fn lines_of_a_sound_boot_report_nothing() {
        for line in [
            "[preflight] Running pre-flight checks",
            "[preflight] If you know what you are doing, you can make a check non-fatal with `--ignore-preflight-errors=...`",
            "To see the stack trace of this error execute with --v=5 or higher",
            "2026-03-16 10:00:02,121 - util.py[DEBUG]: Running module write_files (…) failed",
            "I0922 07:18:14.575679   29815 join.go:405] [preflight] found NodeName empty",
            "Cloud-init v. 24.1.3-0ubuntu3 finished at Mon, 09 Sep 2024 02:35:01 +0000. Up 53.23 seconds",
            "[  OK  ] Reached target Cloud-init target.",
            "ci-info: no authorized SSH keys fingerprints found for user ubuntu.",
        ] {
            assert_eq!(of(read(line)), None, "{line}");
            assert!(
                is_of_boot(read(line)) || line.starts_with("To see"),
                "{line}"
            );
        }
    }
}
