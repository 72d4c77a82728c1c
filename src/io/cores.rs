//! Work on all cores. Rayon starts a thread for each core and lets the one that asked wait; here
//! that one works too.

use std::sync::OnceLock;
use std::thread::{self, ThreadId};

/// From so many bytes of input on, sharing the work out is worth a thread.
const WORTHWHILE: usize = 64 << 10;

/// The room of a thread that works, as that of `main` has it: evaluating a rule of a CRD, which may
/// be nested 128 levels deep, recurses.
const STACK: usize = 8 << 20;

static FIRST: OnceLock<ThreadId> = OnceLock::new();

/// Says that the calling thread lasts as long as the process: `main` does.
pub fn this_thread_lasts() {
    // A second call could only come from a thread that does not.
    let _ = FIRST.set(thread::current().id());
}

/// Makes the thread of `main` one of those that work, when so many bytes were read.
pub(super) fn share_out(bytes: usize) {
    if bytes >= WORTHWHILE {
        main_works_too();
    }
}

/// Makes the thread of `main` one of those that work, when so many files are checked: several are
/// checked on all cores.
pub fn share_out_files(count: usize) {
    if count > 1 {
        main_works_too();
    }
}

/// Makes the thread of `main` one of those that work, for a verb that works on all cores however
/// little it reads: rayon would start its threads anyway, with less room for each, and `main` would
/// wait. A thread that ends must never be one of them: what is handed to it would wait for ever.
pub fn main_works_too() {
    if FIRST.get() == Some(&thread::current().id()) {
        // Rejected when the threads are there already; they do the work then.
        let _ = rayon::ThreadPoolBuilder::new()
            .stack_size(STACK)
            .use_current_thread()
            .build_global();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_ends_is_none_of_those_that_work() {
        thread::spawn(|| {
            share_out(WORTHWHILE);
            assert_eq!(rayon::current_thread_index(), None);
        })
        .join()
        .unwrap();
    }

    /// In a process of its own: what works together is settled once for a process.
    #[test]
    fn a_thread_that_lasts_works_too_where_there_is_much_to_do() {
        const ALONE: &str = "WINDLASS_TEST_LASTS";
        let Some(what) = std::env::var_os(ALONE) else {
            let (_, own) = module_path!().split_once("::").unwrap();
            let name = format!("{own}::a_thread_that_lasts_works_too_where_there_is_much_to_do");
            for what in ["bytes", "files"] {
                let mut child = std::process::Command::new(std::env::current_exe().unwrap());
                let output = child
                    .args([&name, "--exact"])
                    .env(ALONE, what)
                    .env("RAYON_NUM_THREADS", "2")
                    .output()
                    .unwrap();
                let told = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(
                    output.status.success() && told.contains("1 passed"),
                    "{told}"
                );
            }
            return;
        };
        share_out(65_536);
        assert_eq!(
            rayon::current_thread_index(),
            None,
            "nobody said that it lasts"
        );
        this_thread_lasts();
        share_out(65_535);
        share_out_files(1);
        assert_eq!(rayon::current_thread_index(), None, "too little to do");
        if what == "bytes" {
            share_out(65_536)
        } else {
            share_out_files(2)
        }
        assert_eq!(rayon::current_thread_index(), Some(0));
        // The other one has room for what recurses; this one is that of a test.
        let depths = rayon::broadcast(|worker| {
            if worker.index() == 0 {
                0
            } else {
                mebibytes_deep(6)
            }
        });
        assert_eq!(depths, [0, 6 * 128]);
    }

    /// Calls that fill so many mebibytes of the thread's stack.
    fn mebibytes_deep(count: usize) -> usize {
        fn deeper(left: usize) -> usize {
            let room = [1_u8; 8 << 10];
            let room = std::hint::black_box(&room);
            if left == 0 {
                0
            } else {
                usize::from(room[left % room.len()]) + deeper(left - 1)
            }
        }
        deeper(count * 128)
    }
}
