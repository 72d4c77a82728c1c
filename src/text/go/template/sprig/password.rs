//! `derivePassword`: the Master Password algorithm.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::arguments::{Arguments, text};
use crate::text::go::template::functions::{CallFault, Called, refused};
use crate::text::go::template::held::Held;

/// The templates of each type of password: a letter stands for a set of characters.
const TYPES: [(&str, &[&str]); 6] = [
    ("maximum", &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"]),
    (
        "long",
        &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
    ),
    ("medium", &["CvcnoCvc", "CvcCvcno"]),
    ("short", &["Cvcn"]),
    ("basic", &["aaanaaan", "aannaaan", "aaannaaa"]),
    ("pin", &["nnnn"]),
];

fn characters(letter: u8) -> &'static [u8] {
    match letter {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'A' => b"AEIOUBCDFGHJKLMNPQRSTVWXYZ",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

/// Its parameters.
pub(super) const SIGNATURE: &str = "issss";
/// What a call costs in steps: it is slow on purpose.
pub(super) const COST: usize = 1 << 25;

pub(super) fn derive(arguments: &Arguments<'_>) -> Called<Held> {
    let Ok(counter) = u32::try_from(arguments.int(0)) else {
        return refused("the counter does not fit into 32 bits");
    };
    let kind = arguments.text(1);
    let Some((_, templates)) = TYPES.iter().find(|(name, _)| *name == kind) else {
        return text(format!("cannot find password template {kind}"));
    };
    let salt = seasoned(arguments.bytes(3))?;
    let key = scrypt(arguments.bytes(2), &salt)?;
    let seed = hmac(
        &key,
        &[&seasoned(arguments.bytes(4))?[..], &counter.to_be_bytes()].concat(),
    )?;
    let template = templates[usize::from(seed[0]) % templates.len()];
    let pick = |(letter, byte): (u8, &u8)| {
        characters(letter)[usize::from(*byte) % characters(letter).len()]
    };
    text(
        template
            .bytes()
            .zip(&seed[1..])
            .map(pick)
            .collect::<Vec<u8>>(),
    )
}

/// The seed of the algorithm, with a name and its length.
fn seasoned(name: &[u8]) -> Called<Vec<u8>> {
    let length = u32::try_from(name.len()).map_err(|_| CallFault::TooLarge)?;
    Ok([
        b"com.lyndir.masterpassword",
        &length.to_be_bytes()[..],
        name,
    ]
    .concat())
}

/// HMAC with SHA-256 (RFC 2104).
fn hmac(key: &[u8], message: &[u8]) -> Called<[u8; 32]> {
    // It takes keys of any length.
    let mac = Hmac::<Sha256>::new_from_slice(key).map_err(|_| CallFault::TooLarge)?;
    Ok(mac.chain_update(message).finalize().into_bytes().into())
}

/// scrypt (RFC 7914) with N = 32768, r = 8, p = 2 and 64 bytes of output.
fn scrypt(password: &[u8], salt: &[u8]) -> Called<[u8; 64]> {
    let mut key = [0; 64];
    let asked = scrypt::Params::new(15, 8, 2)
        .map(|params| scrypt::scrypt(password, salt, &params, &mut key));
    match asked {
        Ok(Ok(())) => Ok(key),
        _ => Err(CallFault::TooLarge),
    }
}
