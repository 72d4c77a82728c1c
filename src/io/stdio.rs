//! Standard input, output and error.
//!
//! Writing never fails at the call: a reader that went away (`windlass … | head`) is not an error,
//! and any other failure is kept and reported once, at the end, by [`Stdio::finish`].

use std::io::{self, IsTerminal, Read, Write};

use super::WorldError;

/// Columns for text that we compose when the terminal does not say.
pub const DEFAULT_WIDTH: usize = 100;

/// One output stream.
pub struct Stream {
    name: &'static str,
    to: Box<dyn Write>,
    is_terminal: bool,
    width: Option<usize>,
    failure: Option<WorldError>,
    closed: bool,
}

impl Stream {
    /// A stream that is not a terminal, under the name that errors show.
    pub fn new(name: &'static str, to: impl Write + 'static) -> Self {
        Stream {
            name,
            to: Box::new(to),
            is_terminal: false,
            width: None,
            failure: None,
            closed: false,
        }
    }

    /// The same stream as a person's terminal, of that many columns.
    #[must_use]
    pub fn as_terminal(mut self, width: usize) -> Self {
        (self.is_terminal, self.width) = (true, Some(width));
        self
    }

    /// Whether a person is looking.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Columns for text that we compose.
    pub fn width(&self) -> usize {
        self.width.unwrap_or(DEFAULT_WIDTH)
    }

    /// Writes bytes as they are.
    fn bytes(&mut self, bytes: &[u8]) {
        if self.closed {
            return;
        }
        if let Err(error) = self.to.write_all(bytes) {
            self.fail(&error);
        }
    }

    fn flush(&mut self) {
        if !self.closed
            && let Err(error) = self.to.flush()
        {
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &io::Error) {
        self.closed = true;
        if error.kind() != io::ErrorKind::BrokenPipe {
            self.failure = Some(WorldError::writing(self.name, error));
        }
    }
}

/// The three streams of the process, or those that a test gives.
pub struct Stdio {
    /// Where `-` is read from.
    pub stdin: Box<dyn Read + Send>,
    /// What was asked for.
    pub stdout: Stream,
    /// Talk.
    pub stderr: Stream,
}

impl Stdio {
    /// The streams of the process.
    pub fn of_process() -> Self {
        let mut stdout = Stream::new("standard output", io::stdout());
        stdout.is_terminal = io::stdout().is_terminal();
        stdout.width = width(terminal_size::terminal_size_of(io::stdout()));
        let mut stderr = Stream::new("standard error", io::stderr());
        stderr.is_terminal = io::stderr().is_terminal();
        stderr.width = width(terminal_size::terminal_size_of(io::stderr()));
        Stdio {
            stdin: Box::new(io::stdin()),
            stdout,
            stderr,
        }
    }

    /// Writes to standard output.
    pub fn out(&mut self, text: &str) {
        self.stdout.bytes(text.as_bytes());
    }

    /// Writes bytes to standard output.
    pub fn out_bytes(&mut self, bytes: &[u8]) {
        self.stdout.bytes(bytes);
    }

    /// Hands over what was written to standard output, to a reader that waits for it.
    pub fn flush(&mut self) {
        self.stdout.flush();
    }

    /// Writes to standard error. What was written to standard output before is seen before.
    pub fn err(&mut self, text: &str) {
        self.stdout.flush();
        self.stderr.bytes(text.as_bytes());
    }

    /// Flushes, and says what went wrong with standard output since the start. Failures of standard
    /// error have nowhere to go.
    pub fn finish(&mut self) -> Result<(), WorldError> {
        self.stdout.flush();
        self.stderr.flush();
        self.stdout.failure.take().map_or(Ok(()), Err)
    }
}

fn width(size: Option<(terminal_size::Width, terminal_size::Height)>) -> Option<usize> {
    size.map(|(columns, _)| usize::from(columns.0))
        .filter(|columns| *columns >= 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn failure_of(kind: io::ErrorKind) -> Result<(), WorldError> {
        let stdout = Stream::new("standard output", Failing(kind));
        let mut stdio = Stdio {
            stdin: Box::new(io::empty()),
            stdout,
            stderr: Stream::new("standard error", io::sink()),
        };
        stdio.out("text\n");
        stdio.finish()
    }

    #[test]
    fn a_reader_that_went_away_is_no_failure() {
        assert_eq!(failure_of(io::ErrorKind::BrokenPipe), Ok(()));
    }

    #[test]
    fn a_full_disk_is_a_failure() {
        let error = failure_of(io::ErrorKind::StorageFull).unwrap_err();
        assert_eq!(
            error.to_string(),
            "standard output: cannot be written: no storage space"
        );
    }

    /// What two streams are reported, in order.
    #[derive(Clone, Default)]
    struct Told(std::rc::Rc<std::cell::RefCell<Vec<String>>>);

    struct Telling {
        name: &'static str,
        told: Told,
        flushes: bool,
    }

    impl Write for Telling {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.told.0.borrow_mut().push(format!(
                "{} {}",
                self.name,
                String::from_utf8_lossy(bytes)
            ));
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            self.told
                .0
                .borrow_mut()
                .push(format!("{} flushed", self.name));
            if self.flushes {
                Ok(())
            } else {
                Err(io::ErrorKind::StorageFull.into())
            }
        }
    }

    /// Two streams, of which the first may fail to flush.
    fn streams(flushes: bool) -> (Stdio, Told) {
        let told = Told::default();
        let stream = |name, flushes| {
            Stream::new(
                name,
                Telling {
                    name,
                    told: told.clone(),
                    flushes,
                },
            )
        };
        (
            Stdio {
                stdin: Box::new(io::empty()),
                stdout: stream("out", flushes),
                stderr: stream("err", true),
            },
            told,
        )
    }

    #[test]
    fn what_was_written_first_is_seen_first() {
        let (mut stdio, told) = streams(true);
        stdio.out("a");
        stdio.err("b");
        stdio.out_bytes(b"c");
        assert_eq!(stdio.finish(), Ok(()));
        assert_eq!(
            *told.0.borrow(),
            [
                "out a",
                "out flushed",
                "err b",
                "out c",
                "out flushed",
                "err flushed"
            ]
        );
    }

    #[test]
    fn a_stream_that_failed_is_left_alone_and_told_once() {
        let (mut stdio, told) = streams(false);
        stdio.out("a");
        stdio.err("b");
        stdio.out("c");
        stdio.err("d");
        let failed = stdio.finish().unwrap_err();
        assert_eq!(
            failed.to_string(),
            "out: cannot be written: no storage space"
        );
        assert_eq!(stdio.finish(), Ok(()));
        assert_eq!(
            *told.0.borrow(),
            [
                "out a",
                "out flushed",
                "err b",
                "err d",
                "err flushed",
                "err flushed"
            ]
        );
    }

    #[test]
    fn a_terminal_says_its_width_from_twenty_columns_on() {
        let of = |columns| {
            width(Some((
                terminal_size::Width(columns),
                terminal_size::Height(5),
            )))
        };
        assert_eq!(
            (of(0), of(19), of(20), of(21), width(None)),
            (None, None, Some(20), Some(21), None)
        );
        let stream = || Stream::new("out", io::sink());
        assert_eq!((stream().width(), stream().is_terminal()), (100, false));
        assert_eq!(
            (
                stream().as_terminal(33).width(),
                stream().as_terminal(33).is_terminal()
            ),
            (33, true)
        );
    }
}
