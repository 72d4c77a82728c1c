//! Whether a program runs in an image that holds nothing else: ELF, of the architecture, without
//! interpreter and libraries (System V gABI 4.1, chapters 4 and 5; elf(5)).

use windlass_source::diag::{Diagnostic, Place, rules};

rules! {
    /// a binary for an image is not a complete ELF program
    NOT_A_PROGRAM = error("image-binary-malformed");
    /// a binary for an image is built for a different architecture
    OTHER_ARCHITECTURE = error("image-binary-architecture");
    /// a binary for an image needs a dynamic linker or shared libraries, which the image lacks
    NOT_STATIC = error("image-binary-not-static");
}

/// An architecture that images can be made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// Go's name of it: `amd64`.
    pub name: &'static str,
    /// `e_machine`.
    machine: u16,
    /// Rust's target, for who has to build again.
    target: &'static str,
}

/// All of them; programs for each have 64 bits.
pub static ARCHITECTURES: &[Architecture] = &[
    Architecture {
        name: "amd64",
        machine: 62,
        target: "x86_64-unknown-linux-musl",
    },
    Architecture {
        name: "arm64",
        machine: 183,
        target: "aarch64-unknown-linux-musl",
    },
    Architecture {
        name: "ppc64le",
        machine: 21,
        target: "powerpc64le-unknown-linux-musl",
    },
    Architecture {
        name: "riscv64",
        machine: 243,
        target: "riscv64gc-unknown-linux-musl",
    },
    Architecture {
        name: "s390x",
        machine: 22,
        target: "s390x-unknown-linux-musl",
    },
];

/// Bytes of the header of a file, and of that of a segment.
const HEADER: usize = 64;
const SEGMENT: usize = 56;
/// Bytes of an entry of the dynamic section.
const DYNAMIC_ENTRY: usize = 16;

const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const PT_INTERP: u64 = 3;
const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const ET_EXEC: u64 = 2;
const ET_DYN: u64 = 3;

/// What is wrong with a program for an image of this architecture; `shown` is its file.
pub fn check(bytes: &[u8], architecture: &Architecture, shown: &str) -> Option<Diagnostic> {
    let not_a_program = |why: String, help: &str| {
        let message = format!("{shown} is not a program that Linux could start: {why}");
        let finding = Diagnostic::of(&NOT_A_PROGRAM, message);
        Some(finding.at(Place::file(shown)).help(help))
    };
    let file = match File::read(bytes) {
        Ok(file) => file,
        Err(why) => {
            return not_a_program(
                why,
                "name the binary itself, as the compiler has written it",
            );
        }
    };
    if file.machine() != Some(architecture.machine) {
        let finding = Diagnostic::of(
            &OTHER_ARCHITECTURE,
            format!(
                "{shown} is built for {}, not for {}",
                file.architecture(),
                architecture.name
            ),
        );
        return Some(finding.at(Place::file(shown)).help(format!(
            "name the binary that is built for {}",
            architecture.name
        )));
    }
    let needs = match file.needs() {
        Ok(None) => return None,
        Ok(Some(needs)) => needs,
        Err(why) => return not_a_program(why, "build or copy it again"),
    };
    let finding = Diagnostic::of(
        &NOT_STATIC,
        format!("{shown} needs {needs}, and the image holds nothing but the program"),
    );
    let help = format!(
        "link it statically: the target {} of Rust, or `CGO_ENABLED=0 go build`",
        architecture.target
    );
    Some(finding.at(Place::file(shown)).help(help))
}

/// An ELF file whose header could be read.
struct File<'a> {
    bytes: &'a [u8],
    is_little: bool,
}

impl<'a> File<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let what = match bytes {
            [] => "it is empty",
            [0x7f, b'E', b'L', b'F', ..] if bytes.len() < HEADER => "it is cut off",
            [0x7f, b'E', b'L', b'F', _, 1 | 2, ..] => {
                return Ok(File {
                    bytes,
                    is_little: bytes[5] == 1,
                });
            }
            [b'#', b'!', ..] => "it is a script",
            [b'M', b'Z', ..] => "it is a program for Windows",
            [0xcf, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => {
                "it is a program for macOS"
            }
            [0x1f, 0x8b, ..] => "it is compressed",
            _ => "it is not an ELF file",
        };
        Err(what.to_owned())
    }

    /// A number of so many bytes.
    fn number(&self, at: usize, width: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at.checked_add(width)?)?;
        let digit = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if self.is_little {
            bytes.iter().rev().fold(0, digit)
        } else {
            bytes.iter().fold(0, digit)
        })
    }

    /// A number that counts or points into the file.
    fn offset(&self, at: usize, width: usize) -> Option<usize> {
        usize::try_from(self.number(at, width)?).ok()
    }

    /// `e_machine` of a file for 64 bits in the byte order that Linux has there.
    fn machine(&self) -> Option<u16> {
        let machine = u16::try_from(self.number(18, 2)?).ok()?;
        let is_big = machine == 22;
        (self.bytes[4] == 2 && self.is_little != is_big).then_some(machine)
    }

    /// What it is built for, as messages say it.
    fn architecture(&self) -> String {
        match self.machine() {
            Some(machine) => match ARCHITECTURES.iter().find(|known| known.machine == machine) {
                Some(known) => known.name.to_owned(),
                None => format!("ELF's machine {machine}"),
            },
            None => "32 bits or the other byte order".to_owned(),
        }
    }

    /// What it cannot do without; `None` when it is static.
    fn needs(&self) -> Result<Option<String>, String> {
        const CUT: &str = "it is cut off";
        let kind = self.number(16, 2).ok_or(CUT)?;
        if kind != ET_EXEC && kind != ET_DYN {
            return Err("it is an object file, which was not linked".to_owned());
        }
        let (mut is_loaded, mut libraries) = (false, 0);
        for (kind, part) in self.segments().ok_or(CUT)? {
            let part = part.ok_or(CUT)?;
            match kind {
                PT_INTERP => return Ok(Some(format!("the dynamic interpreter `{}`", path(part)))),
                PT_DYNAMIC => libraries = self.libraries(part),
                PT_LOAD => is_loaded = true,
                _ => {}
            }
        }
        match (libraries, self.number(24, 8)) {
            (0, Some(entry)) if entry != 0 && is_loaded => Ok(None),
            (0, _) => Err("it has no entry point, as a library".to_owned()),
            (1, _) => Ok(Some("a shared library".to_owned())),
            (count, _) => Ok(Some(format!("{count} shared libraries"))),
        }
    }

    /// The segments: their types, and the bytes of each, if the file has them. `None` when the
    /// table is not in the file.
    fn segments(&self) -> Option<impl Iterator<Item = (u64, Option<&'a [u8]>)>> {
        let (table, size, count) = (
            self.offset(32, 8)?,
            self.offset(54, 2)?,
            self.offset(56, 2)?,
        );
        let end = table.checked_add(size.checked_mul(count)?)?;
        if size < SEGMENT || end > self.bytes.len() {
            return None;
        }
        let segment = move |at: usize| {
            let bytes = || {
                let (begin, length) = (self.offset(at + 8, 8)?, self.offset(at + 32, 8)?);
                self.bytes.get(begin..begin.checked_add(length)?)
            };
            Some((self.number(at, 4)?, bytes()))
        };
        Some(
            (0..count)
                .filter_map(move |index| segment(table + index * size))
                .collect::<Vec<_>>()
                .into_iter(),
        )
    }

    /// How many shared libraries a dynamic section asks for.
    fn libraries(&self, section: &[u8]) -> usize {
        let section = File {
            bytes: section,
            is_little: self.is_little,
        };
        let tags = (0..section.bytes.len() / DYNAMIC_ENTRY)
            .filter_map(|index| section.number(index * DYNAMIC_ENTRY, 8));
        tags.take_while(|tag| *tag != DT_NULL)
            .filter(|tag| *tag == DT_NEEDED)
            .count()
    }
}

/// The path of an interpreter, which ends with a zero.
fn path(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of gABI 4.1, figures 4-3 and 5-1, and of elf.h: a file with these segments, each
    /// a type and its bytes.
    fn file(kind: u16, machine: u16, segments: &[(u32, &[u8])]) -> Vec<u8> {
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        file.extend(kind.to_le_bytes());
        file.extend(machine.to_le_bytes());
        file.extend(1_u32.to_le_bytes());
        [0x400_078_u64, 64, 0]
            .iter()
            .for_each(|number| file.extend(number.to_le_bytes()));
        file.extend(0_u32.to_le_bytes());
        let count = u16::try_from(segments.len()).unwrap();
        [64, 56, count, 64, 0, 0]
            .iter()
            .for_each(|number: &u16| file.extend(number.to_le_bytes()));
        let mut at = 64 + 56 * segments.len() as u64;
        for (kind, bytes) in segments {
            file.extend(kind.to_le_bytes());
            file.extend(5_u32.to_le_bytes());
            let length = bytes.len() as u64;
            [at, 0x400_000, 0, length, length, 0x1000]
                .iter()
                .for_each(|number| file.extend(number.to_le_bytes()));
            at += length;
        }
        segments.iter().for_each(|(_, bytes)| file.extend(*bytes));
        file
    }

    fn found(bytes: &[u8]) -> Option<(&'static str, String)> {
        check(bytes, &ARCHITECTURES[0], "m")
            .map(|finding| (finding.rule.id, finding.message.to_string()))
    }

    const CODE: (u32, &[u8]) = (1, b"\x90");

    #[test]
    fn static_programs_are_taken() {
        assert_eq!(found(&file(2, 62, &[CODE])), None);
        // A position-independent one has a dynamic section, without libraries.
        assert_eq!(found(&file(3, 62, &[CODE, (2, &[0; 32])])), None);
    }

    #[test]
    fn an_interpreter_is_named_and_libraries_are_counted() {
        let interpreter = file(3, 62, &[CODE, (3, b"/lib64/ld-linux-x86-64.so.2\0")]);
        let message = "m needs the dynamic interpreter `/lib64/ld-linux-x86-64.so.2`, and the image holds nothing but the program";
        assert_eq!(
            found(&interpreter),
            Some(("image-binary-not-static", message.to_owned()))
        );
        let mut needed = [0_u8; 64];
        (needed[0], needed[16], needed[48]) = (1, 1, 1);
        // The third stands behind the end of the section.
        let (rule, message) = found(&file(3, 62, &[CODE, (2, &needed)])).unwrap();
        assert_eq!(
            (rule, message.contains("needs 2 shared libraries")),
            ("image-binary-not-static", true),
            "{message}"
        );
    }

    #[test]
    fn other_architectures_are_named() {
        for (bytes, of) in [
            (file(2, 183, &[CODE]), "built for arm64, not for amd64"),
            (file(2, 4711, &[CODE]), "ELF's machine 4711"),
            (
                [&file(2, 62, &[CODE])[..4], &[1], &file(2, 62, &[CODE])[5..]].concat(),
                "32 bits",
            ),
        ] {
            let (rule, message) = found(&bytes).unwrap();
            assert_eq!(
                (rule, message.contains(of)),
                ("image-binary-architecture", true),
                "{message}"
            );
        }
    }

    #[test]
    fn what_is_no_program_is_told() {
        let whole = file(2, 62, &[CODE]);
        let mut no_entry = whole.clone();
        no_entry[24..32].fill(0);
        for (bytes, why) in [
            (&b""[..], "empty"),
            (b"#!/bin/sh\n", "a script"),
            (b"MZ\x90", "Windows"),
            (b"\xcf\xfa\xed\xfe", "macOS"),
            (b"\x1f\x8b\x08", "compressed"),
            (b"kind: Cluster\n", "not an ELF file"),
            (&whole[..40], "cut off"),
            (&whole[..whole.len() - 1], "cut off"),
            (&whole[..100], "cut off"),
            (&no_entry, "no entry point"),
            (&file(1, 62, &[CODE]), "not linked"),
            (&file(2, 62, &[]), "no entry point"),
        ] {
            let (rule, message) = found(bytes).unwrap_or_else(|| panic!("{why}"));
            assert_eq!(
                (rule, message.contains(why)),
                ("image-binary-malformed", true),
                "{message}"
            );
        }
    }

    /// Offsets and sizes beyond every file are the end of it, not of this program.
    #[test]
    fn huge_numbers_are_no_harm() {
        let whole = file(3, 62, &[CODE, (2, &[1; 32]), (3, b"/x\0")]);
        for at in 0..whole.len() - 7 {
            let mut file = whole.clone();
            file[at..at + 8].fill(0xff);
            let _ = found(&file);
        }
        let mut far = whole;
        far[32..40].fill(0xff);
        assert_eq!(
            found(&far).map(|(rule, _)| rule),
            Some("image-binary-malformed")
        );
    }
}
