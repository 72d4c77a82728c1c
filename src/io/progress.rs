//! How far a transfer has come, for a person who looks on: a bar on stderr, gone at the end.

use std::io::{self, Read};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::retry::Clock;

/// A reader that shows how far it came.
pub(super) struct Watched<'c, R> {
    reader: R,
    read: u64,
    progress: Progress<'c>,
}

impl<'c, R> Watched<'c, R> {
    pub(super) fn new(reader: R, progress: Progress<'c>) -> Self {
        Watched {
            reader,
            read: 0,
            progress,
        }
    }
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.read += count as u64;
        self.progress.at(self.read);
        Ok(count)
    }
}

/// Where bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Here,
    There,
}

impl Way {
    fn word(self) -> &'static str {
        match self {
            Way::Here => "fetching",
            Way::There => "sending",
        }
    }
}

/// A bar that appears when a transfer has lasted a second.
pub(super) struct Progress<'c> {
    wanted: bool,
    way: Way,
    name: String,
    total: Option<u64>,
    clock: &'c dyn Clock,
    since: Duration,
    bar: Option<ProgressBar>,
}

impl<'c> Progress<'c> {
    /// The bar for something of a name, or a URL that ends in it.
    pub(super) fn new(
        wanted: bool,
        clock: &'c dyn Clock,
        way: Way,
        url: &str,
        total: Option<u64>,
    ) -> Self {
        let name = url
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .chars()
            .filter(|c| !c.is_control())
            .take(60)
            .collect();
        Progress {
            wanted,
            way,
            name,
            total,
            clock,
            since: clock.passed(),
            bar: None,
        }
    }

    fn at(&mut self, bytes: u64) {
        if !self.wanted
            || (self.bar.is_none()
                && self.clock.passed().saturating_sub(self.since) < Duration::from_secs(1))
        {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let rest = if self.total.is_some() {
                "[{bar:10}] {bytes}/{total_bytes}"
            } else {
                "{spinner} {bytes}"
            };
            let template = format!("{} {{msg}} {rest}", self.way.word());
            let style = ProgressStyle::with_template(&template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("##-");
            ProgressBar::with_draw_target(self.total, ProgressDrawTarget::stderr())
                .with_style(style)
                .with_message(self.name.clone())
        });
        bar.set_position(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that is where it is put.
    struct Stopped(std::cell::Cell<Duration>);

    impl Clock for Stopped {
        fn passed(&self) -> Duration {
            self.0.get()
        }
        fn date(&self) -> i64 {
            0
        }
        fn wait(&self, _: Duration) {}
    }

    #[test]
    fn a_bar_is_there_after_a_second_and_counts_what_was_read() {
        let bar_after = |passed: Duration, wanted: bool| {
            let clock = Stopped(Duration::from_secs(5).into());
            let progress = Progress::new(wanted, &clock, Way::Here, "https://h/a.yaml", Some(4));
            clock.0.set(Duration::from_secs(5) + passed);
            let mut reader = Watched {
                reader: &b"text"[..],
                read: 0,
                progress,
            };
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).unwrap();
            assert_eq!((bytes.as_slice(), reader.read), (&b"text"[..], 4));
            reader.progress.bar.take().map(|bar| bar.position())
        };
        assert_eq!(bar_after(Duration::from_millis(999), true), None);
        assert_eq!(bar_after(Duration::from_secs(1), true), Some(4));
        assert_eq!(bar_after(Duration::from_secs(9), false), None);
    }

    #[test]
    fn a_transfer_is_named_after_its_end() {
        let clock = Stopped(Duration::ZERO.into());
        let name = |url: &str| Progress::new(true, &clock, Way::Here, url, None).name;
        assert_eq!(name("https://h/a/b.yaml"), "b.yaml");
        assert_eq!(name("b\u{1b}[2J.yaml"), "b[2J.yaml");
        assert_eq!(name(&"x".repeat(70)), "x".repeat(60));
        assert_eq!(
            (Way::Here.word(), Way::There.word()),
            ("fetching", "sending")
        );
    }
}
