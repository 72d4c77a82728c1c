//! Encodings and checksums of texts.

use std::fmt::Write as _;

use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

use super::arguments::{Arguments, text};
use crate::functions::Called;
use crate::held::Held;
use windlass_go_text::base64;

pub(super) fn base64(arguments: &Arguments<'_>) -> Called<Held> {
    text(base64::encode(arguments.bytes(0)))
}

/// What cannot be read gives the error as its text.
pub(super) fn base64_decoded(arguments: &Arguments<'_>) -> Called<Held> {
    match base64::decode(&arguments.text(0)) {
        Ok(bytes) => text(bytes),
        Err(at) => text(format!("illegal base64 data at input byte {at}")),
    }
}

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

pub(super) fn base32(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for group in bytes.chunks(5) {
        let mut padded = [0; 8];
        padded[3..3 + group.len()].copy_from_slice(group);
        let bits = u64::from_be_bytes(padded);
        let symbols = (group.len() * 8).div_ceil(5);
        for at in 0..8 {
            let symbol = usize::try_from(bits >> (35 - 5 * at) & 31).unwrap_or_default();
            out.push(if at < symbols {
                char::from(BASE32[symbol])
            } else {
                '='
            });
        }
    }
    out
}

/// What cannot be read gives the error as its text.
pub(super) fn base32_decoded(arguments: &Arguments<'_>) -> Called<Held> {
    let symbols: Vec<u8> = arguments
        .bytes(0)
        .iter()
        .copied()
        .filter(|byte| !matches!(byte, b'\r' | b'\n'))
        .collect();
    let data = symbols.len()
        - symbols
            .iter()
            .rev()
            .take_while(|byte| **byte == b'=')
            .count();
    let corrupt = |at: usize| text(format!("illegal base32 data at input byte {at}"));
    if let Some(at) = symbols[..data]
        .iter()
        .position(|byte| !BASE32.contains(byte))
    {
        return corrupt(at);
    }
    if !symbols.len().is_multiple_of(8) {
        return corrupt(symbols.len() / 8 * 8);
    }
    if !matches!(
        (data % 8, symbols.len() - data),
        (0, 0) | (2, 6) | (4, 4) | (5, 3) | (7, 1)
    ) {
        return corrupt(data);
    }
    let mut out = Vec::with_capacity(data * 5 / 8);
    let (mut bits, mut held) = (0u32, 0);
    for byte in &symbols[..data] {
        let symbol = BASE32
            .iter()
            .position(|known| known == byte)
            .unwrap_or_default();
        bits = bits << 5 | u32::try_from(symbol).unwrap_or_default();
        held += 5;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from(bits >> held & 0xff).unwrap_or_default());
            bits &= (1 << held) - 1;
        }
    }
    text(out)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").expect("internal error: writing to a String cannot fail");
        out
    })
}

pub(super) fn sha1_sum(bytes: &[u8]) -> String {
    hexadecimal(&Sha1::digest(bytes))
}

pub(super) fn sha256_sum(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

pub(super) fn sha512_sum(bytes: &[u8]) -> String {
    hexadecimal(&Sha512::digest(bytes))
}

pub(super) fn adler32(bytes: &[u8]) -> u32 {
    let (mut one, mut two) = (1u32, 0u32);
    for byte in bytes {
        one = (one + u32::from(*byte)) % 65521;
        two = (two + one) % 65521;
    }
    two << 16 | one
}
