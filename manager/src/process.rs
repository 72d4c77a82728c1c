//! What the kernel says of this process, from /proc.

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Usage {
    pub(crate) resident_bytes: i64,
    /// Files and sockets that are open.
    pub(crate) open_files: i64,
    /// Time on processors, of user and system, in seconds.
    pub(crate) processor_seconds: f64,
}

/// What this process uses now; zeros where /proc is not there.
pub(crate) fn usage() -> Usage {
    let read =
        |name: &str| std::fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
    let open_files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    Usage {
        resident_bytes: resident_bytes(&read("status")).unwrap_or_default(),
        open_files: open_files as i64,
        processor_seconds: processor_seconds(&read("stat")).unwrap_or_default(),
    }
}

/// `VmRSS:     1234 kB` of proc(5), status.
fn resident_bytes(status: &str) -> Option<i64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The fields utime and stime of proc(5), stat, the 14th and 15th: in ticks, of which Linux shows a
/// hundred a second on every machine. The second field is the name in brackets, which may hold
/// anything.
fn processor_seconds(stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some((ticks()? + ticks()?) as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_proc_are_read() {
        assert_eq!(
            resident_bytes("VmPeak:\t    9000 kB\nVmRSS:\t    2048 kB\n"),
            Some(2 << 20)
        );
        let stat = "42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 1 0 100 1000 200";
        assert_eq!(processor_seconds(stat), Some(2.0));
        assert_eq!((resident_bytes(""), processor_seconds("")), (None, None));
    }
}
