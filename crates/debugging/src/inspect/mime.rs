//! MIME multi-part, as cloud-init reads it (RFC 2045 and 2046). What is in a part is taken apart
//! by those who ask for it, so that nothing here nests.

use windlass_go_text::base64;

const MOST_PARTS: usize = 1000;

/// The headers of a message or part that are looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Headers {
    content_type: String,
    boundary: Option<String>,
    filename: Option<String>,
    encoding: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// Its type, lower case; that of text when it says none.
    pub(super) content_type: String,
    pub(super) filename: Option<String>,
    /// What it holds, decoded; of a part that has parts itself all of it, with its headers.
    pub(super) body: Result<Vec<u8>, String>,
}

/// Whether a text begins as a message does.
pub(super) fn is_message(text: &str) -> bool {
    let mut lines = text.lines().take(20);
    let is_header = |line: &str| {
        let lower = line.to_ascii_lowercase();
        lower.starts_with("content-type:") || lower.starts_with("mime-version:")
    };
    lines.next().is_some_and(|first| {
        is_header(first) || (first.starts_with("From ") && lines.any(is_header))
    })
}

/// The parts of a message, in their order.
///
/// # Errors
/// What of it is not a message of several parts.
pub(crate) fn parts(text: &str) -> Result<Vec<Part>, String> {
    let (headers, body) = headers(text);
    let Some(boundary) = headers
        .boundary
        .as_deref()
        .filter(|boundary| !boundary.is_empty())
    else {
        return Ok(vec![part(text)]);
    };
    let (delimiter, close) = (format!("--{boundary}"), format!("--{boundary}--"));
    let (mut found, mut start, mut closed) = (Vec::new(), None, false);
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let bare = line.trim_end();
        if bare == delimiter || bare == close {
            found.extend(start.map(|start: usize| part(without_break(&body[start..at]))));
            start = (bare == delimiter).then_some(at + line.len());
            closed = bare == close;
        }
        at += line.len();
        if closed {
            break;
        }
        if found.len() == MOST_PARTS {
            return Err(format!("more than {MOST_PARTS} parts"));
        }
    }
    // Python takes a last part that nothing closes.
    found.extend(start.map(|start| part(&body[start.min(body.len())..])));
    if found.is_empty() {
        Err("no line begins the part that its boundary promises".to_owned())
    } else {
        Ok(found)
    }
}

/// The line break before a delimiter belongs to it.
fn without_break(body: &str) -> &str {
    let body = body.strip_suffix('\n').unwrap_or(body);
    body.strip_suffix('\r').unwrap_or(body)
}

fn part(text: &str) -> Part {
    let (headers, body) = headers(text);
    let body = match headers.encoding.as_str() {
        _ if headers.content_type.starts_with("multipart/") => Ok(text.as_bytes().to_vec()),
        "base64" => base64::decode(&body.split_whitespace().collect::<String>())
            .map_err(|at| format!("no base64 from its byte {at} on")),
        "quoted-printable" => Ok(quoted_printable(body)),
        "" | "7bit" | "8bit" | "binary" => Ok(body.as_bytes().to_vec()),
        _ => Err("of a transfer encoding that is not known".to_owned()),
    };
    let content_type = if headers.content_type.is_empty() {
        "text/plain".to_owned()
    } else {
        headers.content_type
    };
    Part {
        content_type,
        filename: headers.filename,
        body,
    }
}

/// The headers, and what follows the empty line behind them.
fn headers(text: &str) -> (Headers, &str) {
    let mut headers = Headers::default();
    let mut unfolded: Vec<String> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        let continues = line.starts_with([' ', '\t']);
        let is_header = continues
            || bare.split(':').next().is_some_and(|name| {
                bare.contains(':') && name.bytes().all(|b| b.is_ascii_graphic())
            });
        if !bare.is_empty() && !is_header && !bare.starts_with("From ") {
            break;
        }
        at += line.len();
        match unfolded.last_mut() {
            _ if bare.is_empty() => break,
            Some(last) if continues => last.push_str(bare),
            _ => unfolded.push(bare.to_owned()),
        }
    }
    for header in &unfolded {
        let Some((name, value)) = header.split_once(':') else {
            continue;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-type" => {
                headers.content_type = value
                    .split(';')
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .to_ascii_lowercase();
                headers.boundary = parameter(value, "boundary");
                headers.filename = headers.filename.or_else(|| parameter(value, "name"));
            }
            "content-disposition" => {
                headers.filename = parameter(value, "filename").or(headers.filename)
            }
            "content-transfer-encoding" => headers.encoding = value.trim().to_ascii_lowercase(),
            _ => {}
        }
    }
    (headers, &text[at..])
}

/// A parameter of a header's value: `boundary="a;b"`.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let (text, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after
                .split_once(';')
                .map_or((after.trim_end(), ""), |(text, next)| {
                    (text.trim_end(), next)
                }),
        };
        if name
            .trim_matches([' ', '\t', ';'])
            .eq_ignore_ascii_case(wanted)
        {
            return Some(text.to_owned());
        }
        rest = next;
    }
}

fn quoted_printable(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let hex = |at: usize| {
            bytes
                .get(at)
                .and_then(|byte| char::from(*byte).to_digit(16))
        };
        match (bytes[at], hex(at + 1), hex(at + 2)) {
            (b'=', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or_default());
                at += 3;
            }
            (b'=', ..) if bytes[at + 1..].starts_with(b"\n") => at += 2,
            (b'=', ..) if bytes[at + 1..].starts_with(b"\r\n") => at += 3,
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `cloud-init devel make-mime` writes it.
    const MESSAGE: &str = "Content-Type: multipart/mixed; boundary=\"===============2389165605550749110==\"\nMIME-Version: 1.0\nNumber-Attachments: 2\n\n\
        --===============2389165605550749110==\nMIME-Version: 1.0\nContent-Type: text/x-shellscript; charset=\"utf-8\"\n\
        Content-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=\"script.sh\"\n\nIyEvYmluL3NoCmVj\naG8gaGkK\n\
        --===============2389165605550749110==\nContent-Type: text/cloud-config\n\n#cloud-config\nruncmd: [a]\n\
        --===============2389165605550749110==--\nepilogue\n";

    fn bodies(text: &str) -> Vec<String> {
        parts(text)
            .unwrap()
            .into_iter()
            .map(|part| String::from_utf8(part.body.unwrap()).unwrap())
            .collect()
    }

    #[test]
    fn parts_are_decoded() {
        assert!(is_message(MESSAGE));
        let found = parts(MESSAGE).unwrap();
        assert_eq!(
            (found[0].content_type.as_str(), found[0].filename.as_deref()),
            ("text/x-shellscript", Some("script.sh"))
        );
        assert_eq!(
            bodies(MESSAGE),
            ["#!/bin/sh\necho hi\n", "#cloud-config\nruncmd: [a]"]
        );
        assert_eq!(
            bodies(&MESSAGE.replace('\n', "\r\n"))[1],
            "#cloud-config\r\nruncmd: [a]"
        );
    }

    #[test]
    fn a_last_part_that_nothing_closes_is_taken() {
        assert_eq!(
            bodies("Content-Type: multipart/mixed; boundary=b\n\npreamble\n--b\n\n#!/bin/sh\n"),
            ["#!/bin/sh\n"]
        );
        assert!(parts("Content-Type: multipart/mixed; boundary=b\n\nnothing\n").is_err());
    }

    #[test]
    fn headers_fold_and_parameters_are_quoted() {
        let text = "MIME-Version: 1.0\nContent-Type: multipart/mixed;\n\tcharset=utf-8;\n boundary=\"a;b\"\n\n--a;b\n\nx\n--a;b--\n";
        assert_eq!(bodies(text), ["x"]);
        assert_eq!(
            parameter("a/b; name = c ; boundary=d", "boundary"),
            Some("d".to_owned())
        );
        assert_eq!(parameter("a/b; boundary", "boundary"), None);
    }

    #[test]
    fn other_encodings_are_read_or_rejected() {
        let part = |encoding: &str, body: &str| {
            part(&format!("Content-Transfer-Encoding: {encoding}\n\n{body}")).body
        };
        assert_eq!(
            part("quoted-printable", "a=3Db=\nc=\r\n=C3=A9="),
            Ok("a=bc\u{e9}=".as_bytes().to_vec())
        );
        assert!(part("base64", "!").is_err() && part("uuencode", "x").is_err());
    }

    #[test]
    fn hostile_messages_are_bounded() {
        let many = format!(
            "Content-Type: multipart/mixed; boundary=b\n\n{}",
            "--b\n".repeat(2000)
        );
        assert!(parts(&many).is_err());
        for text in [
            "Content-Type: multipart/mixed; boundary=\"",
            "Content-Type:",
            "MIME-Version: 1.0",
            "Content-Type: x; boundary==\n\n--=\n",
        ] {
            let _ = parts(text);
        }
        assert!(!is_message("#cloud-config\ncontent-type: x\n"));
    }
}
