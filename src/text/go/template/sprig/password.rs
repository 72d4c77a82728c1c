//! `derivePassword`: the Master Password algorithm.

use sha2::{Digest as _, Sha256};

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
    let key = scrypt(arguments.bytes(2), &salt);
    let seed = hmac(&key, &[&seasoned(arguments.bytes(4))?[..], &counter.to_be_bytes()].concat());
    let template = templates[usize::from(seed[0]) % templates.len()];
    let pick = |(letter, byte): (u8, &u8)| characters(letter)[usize::from(*byte) % characters(letter).len()];
    text(template.bytes().zip(&seed[1..]).map(pick).collect::<Vec<u8>>())
}

/// The seed of the algorithm, with a name and its length.
fn seasoned(name: &[u8]) -> Called<Vec<u8>> {
    let length = u32::try_from(name.len()).map_err(|_| CallFault::TooLarge)?;
    Ok([b"com.lyndir.masterpassword", &length.to_be_bytes()[..], name].concat())
}

/// HMAC with SHA-256 (RFC 2104).
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0; 64];
    match key.len() > block.len() {
        true => block[..32].copy_from_slice(&Sha256::digest(key)),
        false => block[..key.len()].copy_from_slice(key),
    }
    let with = |mask: u8, parts: &[u8]| {
        let mut hash = Sha256::new();
        hash.update(block.map(|byte| byte ^ mask));
        hash.update(parts);
        hash.finalize()
    };
    with(0x5c, &with(0x36, message)).into()
}

/// PBKDF2 with one round (RFC 8018).
fn pbkdf2(password: &[u8], salt: &[u8], length: usize) -> Vec<u8> {
    let blocks = (1..=u32::try_from(length.div_ceil(32)).unwrap_or(u32::MAX))
        .flat_map(|block| hmac(password, &[salt, &block.to_be_bytes()].concat()));
    blocks.take(length).collect()
}

/// Words of a block of scrypt with r = 8.
const WORDS: usize = 256;
/// How much memory it wants: this many blocks.
const COUNT: usize = 32768;

/// scrypt with N = 32768, r = 8, p = 2 and 64 bytes of output (RFC 7914).
fn scrypt(password: &[u8], salt: &[u8]) -> Vec<u8> {
    let mut bytes = pbkdf2(password, salt, 2 * WORDS * 4);
    for half in bytes.chunks_mut(WORDS * 4) {
        let mut block = [0; WORDS];
        for (word, bytes) in block.iter_mut().zip(half.chunks(4)) {
            *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        mix(&mut block);
        for (word, bytes) in block.iter().zip(half.chunks_mut(4)) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }
    pbkdf2(password, &bytes, 64)
}

/// `scryptROMix`
fn mix(block: &mut [u32; WORDS]) {
    let mut memory: Vec<u32> = Vec::with_capacity(COUNT * WORDS);
    for _ in 0..COUNT {
        memory.extend_from_slice(&block[..]);
        shuffle(block);
    }
    for _ in 0..COUNT {
        let at = usize::try_from(block[WORDS - 16]).unwrap_or_default() % COUNT * WORDS;
        for (word, other) in block.iter_mut().zip(&memory[at..at + WORDS]) {
            *word ^= other;
        }
        shuffle(block);
    }
}

/// `scryptBlockMix`
fn shuffle(block: &mut [u32; WORDS]) {
    let mut chunk = [0; 16];
    chunk.copy_from_slice(&block[WORDS - 16..]);
    let mut out = [0; WORDS];
    for (at, part) in block.chunks(16).enumerate() {
        for (word, other) in chunk.iter_mut().zip(part) {
            *word ^= other;
        }
        salsa(&mut chunk);
        let to = (at / 2 + if at % 2 == 1 { WORDS / 32 } else { 0 }) * 16;
        out[to..to + 16].copy_from_slice(&chunk);
    }
    *block = out;
}

/// Salsa20/8
fn salsa(block: &mut [u32; 16]) {
    const COLUMNS: [[usize; 4]; 4] = [[0, 4, 8, 12], [5, 9, 13, 1], [10, 14, 2, 6], [15, 3, 7, 11]];
    const ROWS: [[usize; 4]; 4] = [[0, 1, 2, 3], [5, 6, 7, 4], [10, 11, 8, 9], [15, 12, 13, 14]];
    let before = *block;
    for _ in 0..4 {
        for [a, b, c, d] in COLUMNS.into_iter().chain(ROWS) {
            block[b] ^= block[a].wrapping_add(block[d]).rotate_left(7);
            block[c] ^= block[b].wrapping_add(block[a]).rotate_left(9);
            block[d] ^= block[c].wrapping_add(block[b]).rotate_left(13);
            block[a] ^= block[d].wrapping_add(block[c]).rotate_left(18);
        }
    }
    for (word, other) in block.iter_mut().zip(before) {
        *word = word.wrapping_add(other);
    }
}
