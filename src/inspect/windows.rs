//! What batch files and PowerShell do on Windows, where cloudbase-init reads the document.

use std::sync::LazyLock;

use regex::Regex;

/// A redirection or a cmdlet that writes the file that tells success.
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    let file = r#"(?:"[^"\n]*|'[^'\n]*|[^\s"';&|>]*)bootstrap-success\.complete(?:["'\s;&|)}]|$)"#;
    let cmdlet = r"\b(?:new-item|ni|set-content|sc|add-content|ac|out-file|tee-object|tee)\b[^;|&\n]*?";
    Regex::new(&format!("(?i)(?:{cmdlet}|>)\\s*{file}")).expect("internal error: the pattern is one of ours")
});

/// What asks whether the commands before it succeeded, or ends the script where one fails.
static ASKED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?i)&&|\|\|\s*exit\b|errorlevel|\$\?|\$lastexitcode|\$erroractionpreference\s*=\s*["']?stop"#;
    Regex::new(pattern).expect("internal error: the pattern is one of ours")
});

/// Whether a path is one of Windows.
pub(super) fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
}

/// Whether a file is a batch file or one of PowerShell.
pub(super) fn is_script(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["ps1", "cmd", "bat"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Of a text that writes the file that tells success: whether only when what stands before it succeeded. Nothing if it does not.
pub(super) fn sentinel(text: &str) -> Option<bool> {
    WRITTEN.find(text).map(|written| ASKED.is_match(&text[..written.start()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentinel_is_written_in_many_ways() {
        const FILE: &str = r"C:\run\cluster-api\bootstrap-success.complete";
        for (text, expected) in [
            ("kubeadm join && echo success > FILE", Some(true)),
            ("kubeadm join & echo success>\"FILE\"", Some(false)),
            ("echo success > \"C:\\a b\\bootstrap-success.complete\"", Some(false)),
            ("New-Item -ItemType File -Path FILE", Some(false)),
            ("kubeadm join\nif ($LASTEXITCODE -eq 0) { ni FILE }", Some(true)),
            ("$ErrorActionPreference = 'Stop'\nkubeadm join\n'success' | Out-File -FilePath 'FILE'", Some(true)),
            ("$ErrorActionPreference = 'Continue'\nset-content FILE success", Some(false)),
            ("if errorlevel 1 exit /b 1\necho success > FILE", Some(true)),
            ("kubeadm join || exit /b 1\necho success > FILE", Some(true)),
            ("Get-Content FILE", None),
            ("New-Item C:\\a; Get-Content FILE", None),
            ("echo success > FILE.bak", None),
            ("echo done", None),
        ] {
            assert_eq!(sentinel(&text.replace("FILE", FILE)), expected, "{text}");
        }
    }

    #[test]
    fn scripts_are_known_by_their_endings() {
        assert!([r"C:\a.ps1", "C:/a.CMD", "a.bat"].iter().all(|path| is_script(path)));
        assert!(![r"C:\a.yaml", "ps1", r"C:\a.ps1\b"].iter().any(|path| is_script(path)));
    }
}
