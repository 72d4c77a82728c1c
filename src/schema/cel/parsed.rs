//! Expressions that this process has parsed: the versions of a CRD repeat each other's rules, and parsing is most of what a rule costs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::program::{Program, Uncompiled};

/// How much text of expressions is remembered, in bytes; what comes later is parsed each time.
const ROOM: usize = 64 * 1024;

/// Programs by their text.
#[derive(Debug)]
struct Parsed {
    programs: BTreeMap<String, Arc<Program>>,
    room: usize,
}

static PARSED: Mutex<Parsed> = Mutex::new(Parsed::with_room(ROOM));

/// The program of an expression; the error says why our parser refuses it.
pub(super) fn program(source: &str) -> Result<Arc<Program>, Uncompiled> {
    let known = || PARSED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = known().programs.get(source) {
        return Ok(Arc::clone(program));
    }
    // Nobody waits for the parser but who needs this very program.
    let program = Arc::new(Program::compile(source)?);
    known().keep(source, &program);
    Ok(program)
}

impl Parsed {
    const fn with_room(room: usize) -> Self {
        Parsed { programs: BTreeMap::new(), room }
    }

    fn keep(&mut self, source: &str, program: &Arc<Program>) {
        if let Some(room) = self.room.checked_sub(source.len())
            && self.programs.insert(source.to_owned(), Arc::clone(program)).is_none()
        {
            self.room = room;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_parsed_once() {
        let once = program("self.parsed_once == 1").unwrap();
        assert!(Arc::ptr_eq(&once, &program("self.parsed_once == 1").unwrap()));
        assert!(!Arc::ptr_eq(&once, &program("self.parsed_once == 2").unwrap()));
    }

    #[test]
    fn what_is_refused_is_refused_again() {
        let refused = || program("self.(").unwrap_err();
        assert!(refused().syntax().is_some());
        assert_eq!(refused(), refused());
    }

    #[test]
    fn no_more_text_is_kept_than_there_is_room_for() {
        let mut parsed = Parsed::with_room(10);
        let some = Arc::new(Program::compile("true").unwrap());
        parsed.keep("1 == 1", &some);
        parsed.keep("1 == 1", &some);
        parsed.keep("2 == 2", &some);
        parsed.keep("true", &some);
        parsed.keep("1", &some);
        assert_eq!(parsed.programs.keys().collect::<Vec<_>>(), ["1 == 1", "true"]);
    }
}
