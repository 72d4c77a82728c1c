//! What batch files and PowerShell do on Windows, where cloudbase-init reads the document.

use std::sync::LazyLock;

use regex::Regex;

/// What writes into a file: a redirection, or a cmdlet and its parameters.
const WRITES: &str = r"(?:(?:^|[\s;|{(&=\x22'])(?:new-item|ni|set-content|sc|add-content|ac|out-file|tee-object|tee)\b[^;|&\n]*?|>)\s*";

/// A text that writes the sentinel file.
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    let file = r#"(?:"[^"\n]*|'[^'\n]*|[^\s"';&|>]*)bootstrap-success\.complete(?:["'\s;&|)}]|$)"#;
    compiled(&format!("(?im){WRITES}{file}"))
});

/// A variable of PowerShell that holds the file, and what writes into it.
static WRITTEN_BY_NAME: LazyLock<(Regex, Regex)> = LazyLock::new(|| {
    let variable =
        compiled(r#"(?im)(\$\w+)\s*=\s*["']?[^"';\n]*bootstrap-success\.complete(?:["'\s;]|$)"#);
    (variable, compiled(&format!(r#"(?im){WRITES}["']?(\$\w+)"#)))
});

/// What asks whether the command before it succeeded; `&&` is of its own line alone.
static ASKED_BESIDE: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(?i)&&|errorlevel|\$\?|\$lastexitcode"));

/// What asks that on a line before, or ends the script where a program fails.
/// `$ErrorActionPreference` is about cmdlets alone.
static ASKED_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)\|\|\s*exit\b|errorlevel|\$\?|\$lastexitcode|\$psnativecommanduseerroractionpreference\s*=\s*\$true",
    )
});

/// A comment of a batch file or of PowerShell.
static COMMENT: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?im)^[ \t]*(?:#|rem\b|::).*$"));

/// Where a line goes on in the next one.
static CONTINUED: LazyLock<Regex> = LazyLock::new(|| compiled(r"[`^][ \t]*\r?\n"));

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("internal error: the pattern is one of ours")
}

pub(super) fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
}

/// Whether a file is a batch file or one of PowerShell.
pub(super) fn is_script(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["ps1", "cmd", "bat"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}

/// Of a text that writes the sentinel file: whether only when what stands before it
/// succeeded. Nothing if it does not.
pub(super) fn sentinel(text: &str) -> Option<bool> {
    let code = COMMENT.replace_all(text, "");
    let code = CONTINUED.replace_all(&code, " ");
    let written = WRITTEN
        .find(&code)
        .map(|written| written.start())
        .or_else(|| written_by_name(&code))?;
    // What writes begins with the sign before it, which may be the end of the line above.
    let line = code[..written].rfind('\n').map_or(0, |end| end + 1);
    Some(ASKED_BESIDE.is_match(&code[line..written]) || ASKED_BEFORE.is_match(&code[..line]))
}

/// Where a variable that holds the file is written into.
fn written_by_name(code: &str) -> Option<usize> {
    let (variable, written) = &*WRITTEN_BY_NAME;
    let held = variable.captures(code)?;
    let (name, from) = (held.get(1)?.as_str(), held.get(0)?.end());
    let is_it = |found: &regex::Captures<'_>| {
        found
            .get(1)
            .is_some_and(|found| found.as_str().eq_ignore_ascii_case(name))
    };
    written
        .captures_iter(&code[from..])
        .find(is_it)
        .and_then(|found| Some(from + found.get(0)?.start()))
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
            (
                "echo success > \"C:\\a b\\bootstrap-success.complete\"",
                Some(false),
            ),
            ("New-Item -ItemType File -Path FILE", Some(false)),
            (
                "kubeadm join\nif ($LASTEXITCODE -eq 0) { ni FILE }",
                Some(true),
            ),
            ("kubeadm join\nif ($?) {\n  sc FILE a\n}", Some(true)),
            ("kubeadm join; add-content FILE a", Some(false)),
            ("kubeadm join; 'a'|tee-object FILE", Some(false)),
            ("'success' | Out-File -FilePath 'FILE'", Some(false)),
            // Programs that fail are not asked by it.
            (
                "$ErrorActionPreference = 'Stop'\nkubeadm join\nset-content FILE success",
                Some(false),
            ),
            (
                "$PSNativeCommandUseErrorActionPreference = $true\nkubeadm join\nac FILE success",
                Some(true),
            ),
            ("if errorlevel 1 exit /b 1\necho success > FILE", Some(true)),
            ("kubeadm join || exit /b 1\necho success > FILE", Some(true)),
            (
                "mkdir C:\\run && echo made\nkubeadm join\necho success > FILE",
                Some(false),
            ),
            (
                "$f = 'FILE'\nkubeadm join\nif ($?) { New-Item -Path $f }",
                Some(true),
            ),
            ("$f = 'FILE'\nNew-Item -Path $g; ni $F", Some(false)),
            ("$f = 'FILE'\nGet-Content $f", None),
            ("New-Item `\n  -Path FILE", Some(false)),
            (
                "# New-Item FILE\nrem echo a > FILE\n :: echo a > FILE",
                None,
            ),
            (
                "# New-Item FILE\nkubeadm join; if ($?) { ni FILE }",
                Some(true),
            ),
            ("Get-Content FILE", None),
            ("Test-Path C:\\sc\\bootstrap-success.complete", None),
            ("New-Item C:\\a; Get-Content FILE", None),
            ("echo success > FILE.bak", None),
            ("echo done", None),
        ] {
            assert_eq!(sentinel(&text.replace("FILE", FILE)), expected, "{text}");
        }
    }

    #[test]
    fn scripts_are_known_by_their_endings() {
        assert!(
            [r"C:\a.ps1", "C:/a.CMD", "a.bat"]
                .iter()
                .all(|path| is_script(path))
        );
        assert!(
            ![r"C:\a.yaml", "ps1", r"C:\a.ps1\b"]
                .iter()
                .any(|path| is_script(path))
        );
    }
}
