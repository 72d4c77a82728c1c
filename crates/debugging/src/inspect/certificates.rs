//! Whom certificates are for, and until when.

use serde::Serialize;

use windlass_bootstrap::der::{self, element};
use windlass_capi::api::time::Timestamp;
use windlass_go_text::base64;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Certificate {
    /// Its subject: `CN=kubernetes`.
    pub subject: String,
    /// The last second in which it is valid; `None` when that cannot be read.
    pub not_after: Option<String>,
    /// The same, to compare.
    #[serde(skip)]
    pub(crate) until: Option<Timestamp>,
}

/// The maximum number of certificates that are read from one file.
const MOST: usize = 200;

/// The certificates in a file: PEM, and those in a kubeconfig.
pub(crate) fn of_file(content: &[u8]) -> Vec<Certificate> {
    let Ok(text) = std::str::from_utf8(content) else {
        return Vec::new();
    };
    let mut ders = der::certificates(text);
    for line in text.lines() {
        let data = ["certificate-authority-data:", "client-certificate-data:"]
            .iter()
            .find_map(|key| line.trim().strip_prefix(key));
        let pem = data
            .and_then(|data| base64::decode(data.trim()).ok())
            .and_then(|pem| String::from_utf8(pem).ok());
        ders.extend(pem.iter().flat_map(|pem| der::certificates(pem)));
    }
    ders.iter().take(MOST).filter_map(|der| read(der)).collect()
}

/// RFC 5280, section 4.1: subject and the end of the validity.
fn read(der: &[u8]) -> Option<Certificate> {
    let [_, _, _, validity, subject, _] = der::of_certificate(der)?;
    let (_, after) = element(validity.content)?;
    let until = element(after).and_then(|(time, _)| time_of(time.tag, time.content));
    Some(Certificate {
        subject: name(subject.content),
        not_after: until.map(|until| until.to_string()),
        until,
    })
}

/// UTCTime or GeneralizedTime, in UTC to the second as RFC 5280 demands it.
fn time_of(tag: u8, digits: &[u8]) -> Option<Timestamp> {
    const UTC_TIME: u8 = 0x17;
    const GENERALIZED_TIME: u8 = 0x18;
    let text = std::str::from_utf8(digits).ok()?.strip_suffix('Z')?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            // Two digits are from 1950 to 2049.
            let century = if year < "50" { "20" } else { "19" };
            (format!("{century}{year}"), rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.to_owned(), rest)
        }
        _ => return None,
    };
    if rest.len() != 10 || !rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let two = |at: usize| &rest[at..at + 2];
    Timestamp::parse(&format!(
        "{year}-{}-{}T{}:{}:{}Z",
        two(0),
        two(2),
        two(4),
        two(6),
        two(8)
    ))
}

/// The parts of a name that people give (RFC 4519), in its order.
fn name(mut rest: &[u8]) -> String {
    const OBJECT: u8 = 0x06;
    const KNOWN: [(&[u8], &str); 5] = [
        (&[0x55, 4, 3], "CN"),
        (&[0x55, 4, 6], "C"),
        (&[0x55, 4, 7], "L"),
        (&[0x55, 4, 10], "O"),
        (&[0x55, 4, 11], "OU"),
    ];
    let mut parts = Vec::new();
    while let Some((set, after)) = element(rest) {
        rest = after;
        let attribute = element(set.content)
            .and_then(|(sequence, _)| element(sequence.content))
            .filter(|(id, _)| id.tag == OBJECT);
        let Some((id, value)) = attribute else {
            continue;
        };
        let known = KNOWN.iter().find(|(known, _)| *known == id.content);
        if let (Some((_, label)), Some((value, _))) = (known, element(value)) {
            parts.push(format!(
                "{label}={}",
                String::from_utf8_lossy(value.content)
            ));
        }
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(name: &str, year: i32) -> String {
        let mut parameters = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        parameters
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        parameters
            .distinguished_name
            .push(rcgen::DnType::OrganizationName, "system:masters");
        parameters.not_after = rcgen::date_time_ymd(year, 2, 3);
        let key = rcgen::KeyPair::generate().unwrap();
        parameters.self_signed(&key).unwrap().pem()
    }

    fn shown(content: &str) -> Vec<(String, String)> {
        let found = of_file(content.as_bytes());
        found
            .into_iter()
            .map(|certificate| {
                (
                    certificate.subject,
                    certificate.not_after.unwrap_or_default(),
                )
            })
            .collect()
    }

    /// What rcgen writes is read: both forms of times.
    #[test]
    fn subject_and_end_are_read() {
        let expected = |until: &str| {
            vec![(
                "CN=kubernetes, O=system:masters".to_owned(),
                until.to_owned(),
            )]
        };
        assert_eq!(
            shown(&certificate("kubernetes", 2035)),
            expected("2035-02-03T00:00:00Z")
        );
        assert_eq!(
            shown(&certificate("kubernetes", 2061)),
            expected("2061-02-03T00:00:00Z")
        );
        let data = base64::encode(certificate("kubernetes", 2035).as_bytes());
        assert_eq!(
            shown(&format!(
                "clusters:\n- cluster:\n    certificate-authority-data: {data}\n"
            )),
            expected("2035-02-03T00:00:00Z")
        );
    }

    #[test]
    fn what_is_none_is_none() {
        let garbage = "-----BEGIN CERTIFICATE-----\nZ2FyYmFnZQ==\n-----END CERTIFICATE-----\n";
        assert!(shown(garbage).is_empty() && shown("x").is_empty() && of_file(b"\xff").is_empty());
        assert_eq!(
            (
                time_of(0x17, b"991332000000Z"),
                time_of(0x18, b"Z"),
                time_of(0x17, "\u{e9}0101000000Z".as_bytes())
            ),
            (None, None, None)
        );
    }
}
