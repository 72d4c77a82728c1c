//! `onFailure` on Linux: lines of shell that say which step runs, and report the one that fails.
//!
//! A report is one line on standard output and the console, and a file. Steps are named by their
//! field and never quoted, because commands can hold secrets and consoles are widely readable. The
//! lines run in dash, bash and busybox, and hold nothing that jinja reads.

use windlass_capi::api::boot::OnFailure;

/// What comes before the first step: functions, and the trap that reports.
const PROLOGUE: &str = r#"windlass_at=start windlass_code=0
windlass_say() { echo "windlass: $1"; { echo "windlass: $1"; } 2>/dev/null >/dev/console || :; }
windlass_step() { windlass_at=$1; windlass_say "$1 started"; }
windlass_done() { [ "$1" = 0 ] || windlass_say "$windlass_at returned $1, continuing"; }
windlass_fail() {
  windlass_say "bootstrap failed at $windlass_at, exit code $1"
  mkdir -p /run/windlass && printf 'step=%s\nexitCode=%s\n' "$windlass_at" "$1" >/run/windlass/.failure && mv -f /run/windlass/.failure /run/windlass/bootstrap-failure || :
}
windlass_exit() { windlass_code=$?; trap - EXIT; set +e; [ "$windlass_at" = end ] || windlass_fail "$windlass_code"; exit "$windlass_code"; }
rm -f /run/windlass/bootstrap-failure
trap windlass_exit EXIT
"#;

/// The lines before the first step, each with a line break at its end; none for
/// [`OnFailure::Continue`].
pub(crate) fn prologue(on_failure: OnFailure) -> Option<String> {
    match on_failure {
        OnFailure::Continue => None,
        OnFailure::Report => Some(PROLOGUE.to_owned()),
        OnFailure::Abort => Some(format!("{PROLOGUE}set -e\n")),
    }
}

/// The line that announces a step: a field of the spec, or kubeadm's verb.
pub(crate) fn step(name: &str) -> String {
    format!("windlass_step '{name}'")
}

/// The line after a command of the user whose failure is noted and no more.
pub(crate) const DONE: &str = "windlass_done $?";

/// The command of kubeadm, which ends the script or is reported when it fails. `set -e` ignores a
/// failing left side of `&&`, and a user's `set +e` must not lead past a failed kubeadm.
pub(crate) fn guarded(on_failure: OnFailure, command: &str) -> String {
    match on_failure {
        OnFailure::Continue => command.to_owned(),
        OnFailure::Report => {
            format!("{command} || {{ windlass_code=$?; windlass_fail \"$windlass_code\"; }}")
        }
        OnFailure::Abort => format!("{command} || exit $?"),
    }
}

/// The last line, with which the script ends as kubeadm did.
pub(crate) fn epilogue(on_failure: OnFailure) -> Option<&'static str> {
    match on_failure {
        OnFailure::Continue => None,
        OnFailure::Report => Some("windlass_at=end; exit \"$windlass_code\""),
        OnFailure::Abort => Some("windlass_at=end"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_a_template() {
        for on_failure in [OnFailure::Report, OnFailure::Abort] {
            let all = [
                prologue(on_failure).unwrap(),
                guarded(on_failure, "k"),
                epilogue(on_failure).unwrap().to_owned(),
            ]
            .concat();
            assert!(
                !["{{", "{%", "{#"].iter().any(|mark| all.contains(mark)),
                "{all}"
            );
        }
    }
}
