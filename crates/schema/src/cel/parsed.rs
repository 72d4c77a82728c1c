//! Expressions that this process has parsed: the versions of a CRD repeat each other's rules, and
//! parsing is most of what a rule costs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::program::{Program, Uncompiled};

/// How much text of expressions is remembered, in bytes; what comes later is parsed each time. A
/// program takes a few hundred times the memory of its text.
const ROOM: usize = 64 * 1024;

/// Programs by their text.
#[derive(Debug)]
struct Parsed {
    programs: BTreeMap<String, Arc<Program>>,
    room: usize,
}

static PARSED: Mutex<Parsed> = Mutex::new(Parsed::with_room(ROOM));

/// The program of an expression; the error says why our parser rejects it.
pub(super) fn program(source: &str) -> Result<Arc<Program>, Uncompiled> {
    program_of(&PARSED, source)
}

/// The lock is not held while the parser works: two threads may parse the same text.
fn program_of(parsed: &Mutex<Parsed>, source: &str) -> Result<Arc<Program>, Uncompiled> {
    let known = || parsed.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = known().programs.get(source) {
        return Ok(Arc::clone(program));
    }
    let program = Program::compile(source)?;
    Ok(known().kept(source, program))
}

impl Parsed {
    const fn with_room(room: usize) -> Self {
        Parsed {
            programs: BTreeMap::new(),
            room,
        }
    }

    /// The program, kept where there is room for its text, or the one that another thread parsed
    /// meanwhile.
    fn kept(&mut self, source: &str, program: Program) -> Arc<Program> {
        if let Some(program) = self.programs.get(source) {
            return Arc::clone(program);
        }
        let program = Arc::new(program);
        if let Some(room) = self.room.checked_sub(source.len()) {
            self.programs
                .insert(source.to_owned(), Arc::clone(&program));
            self.room = room;
        }
        program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_parsed_once() {
        let parsed = Mutex::new(Parsed::with_room(100));
        let of = |source: &str| program_of(&parsed, source).unwrap();
        let once = of("1 == 1");
        assert!(Arc::ptr_eq(&once, &of("1 == 1")) && !Arc::ptr_eq(&once, &of("1 == 2")));
        let meanwhile = Program::compile("1 == 1").unwrap();
        assert!(Arc::ptr_eq(
            &once,
            &parsed.lock().unwrap().kept("1 == 1", meanwhile)
        ));
    }

    #[test]
    fn what_is_rejected_is_rejected_again() {
        let rejected = || program("self.(").unwrap_err();
        assert!(rejected().syntax().is_some());
        assert_eq!(rejected(), rejected());
    }

    #[test]
    fn no_more_text_is_kept_than_there_is_room_for() {
        let parsed = Mutex::new(Parsed::with_room(10));
        for source in ["1 == 1", "1 == 1", "2 == 2", "true", "1"] {
            program_of(&parsed, source).unwrap();
        }
        assert_eq!(
            parsed.lock().unwrap().programs.keys().collect::<Vec<_>>(),
            ["1 == 1", "true"]
        );
    }
}
