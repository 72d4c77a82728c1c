//! Namespaces in parts, so that several replicas work at once: each part has a Lease of its own
//! (`election/shards.rs`).

use crate::election::Mandate;

/// One of several parts of all namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    /// From 0 on.
    pub(crate) index: usize,
    /// How many there are; at least one.
    pub(crate) count: usize,
}

impl Shard {
    pub(crate) fn all(count: usize) -> impl Iterator<Item = Shard> {
        (0..count).map(move |index| Shard { index, count })
    }

    pub(crate) fn has(self, namespace: &str) -> bool {
        index(namespace, self.count) == self.index
    }
}

/// What a process must lead to write for configs of a kind, by the shard that their namespace is
/// in.
#[derive(Debug, Clone)]
pub(crate) struct Mandates(Vec<Mandate>);

impl Mandates {
    /// One for each shard, in their order; at least one.
    pub(crate) fn of_each(mandates: Vec<Mandate>) -> Self {
        Mandates(mandates)
    }

    pub(crate) fn of(&self, namespace: &str) -> &Mandate {
        &self.0[index(namespace, self.0.len())]
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = (Shard, &Mandate)> {
        Shard::all(self.0.len()).zip(&self.0)
    }
}

/// FNV-1a with 64 bits, of so many. It stays as it is for ever: while replicas are exchanged, two
/// versions of this program divide the namespaces.
fn index(namespace: &str, count: usize) -> usize {
    let number = namespace
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |number, byte| {
            (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let count = u64::try_from(count.max(1)).unwrap_or(u64::MAX);
    usize::try_from(number % count).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of the reference (draft-eastlake-fnv, appendix C: 64 bits, FNV-1a), of
    /// which the remainders were taken by hand.
    #[test]
    fn a_namespace_is_in_the_same_shard_in_every_version() {
        assert_eq!(
            index("", 1 << 20),
            0xcbf2_9ce4_8422_2325_u64 as usize % (1 << 20)
        );
        assert_eq!(index("a", usize::MAX), 0xaf63_dc4c_8601_ec8c_u64 as usize);
        assert_eq!(
            index("foobar", usize::MAX),
            0x8594_4171_f739_67e8_u64 as usize
        );
        assert_eq!((index("default", 1), index("default", 0)), (0, 0));
    }

    #[test]
    fn each_namespace_is_in_one_shard_and_none_is_empty() {
        let mut filled = [0; 5];
        for namespace in (0..200).map(|number| format!("team-{number}")) {
            let all: Vec<usize> = Shard::all(5)
                .filter(|shard| shard.has(&namespace))
                .map(|shard| shard.index)
                .collect();
            assert_eq!(all.len(), 1, "{namespace}");
            filled[all[0]] += 1;
        }
        assert!(filled.iter().all(|count| *count >= 20), "{filled:?}");
    }
}
