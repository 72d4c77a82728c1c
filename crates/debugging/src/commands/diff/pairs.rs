//! Which machines of the two sides belong together.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::nodes::Node;

/// A machine as it was and as it is; one of them at least.
pub(super) type Pair<'n, 's> = (Option<&'n Node<'s>>, Option<&'n Node<'s>>);

/// The machines of both sides in the order of the new one, then those that are gone. One each is
/// compared whatever its name. Machines are matched by their names and roles, where one is there
/// more than once those with the same data, then in their order; data that was made, and that only
/// one side has, by the set that its name tells, or as the only one.
pub(super) fn pairs<'n, 's>(before: &'n [Node<'s>], after: &'n [Node<'s>]) -> Vec<Pair<'n, 's>> {
    if let ([was], [is]) = (before, after) {
        return vec![(Some(was), Some(is))];
    }
    let mut partners: Vec<Option<usize>> = vec![None; after.len()];
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    match_in_order(
        before,
        after,
        |node| (node.key(), node.data.as_slice()),
        &mut partners,
        &mut taken,
    );
    match_in_order(before, after, Node::key, &mut partners, &mut taken);
    let by_set = |node: &Node<'_>| {
        node.set_key()
            .map(|(set, namespace)| (set.to_owned(), namespace.to_owned()))
    };
    match_rest(before, after, by_set, &mut partners, &mut taken);
    match_rest(
        before,
        after,
        |node| node.is_made().then_some(()),
        &mut partners,
        &mut taken,
    );
    let mut pairs: Vec<_> = after
        .iter()
        .zip(&partners)
        .map(|(node, was)| (was.map(|at| &before[at]), Some(node)))
        .collect();
    pairs.extend(
        before
            .iter()
            .enumerate()
            .filter(|(at, _)| !taken.contains(at))
            .map(|(_, node)| (Some(node), None)),
    );
    pairs
}

/// Matches what is left of both sides: of each key the first with the first, and so on.
fn match_in_order<'n, 's, K: Ord>(
    before: &'n [Node<'s>],
    after: &'n [Node<'s>],
    key: impl Fn(&'n Node<'s>) -> K,
    partners: &mut [Option<usize>],
    taken: &mut BTreeSet<usize>,
) {
    let mut known: BTreeMap<K, VecDeque<usize>> = BTreeMap::new();
    before
        .iter()
        .enumerate()
        .filter(|(at, _)| !taken.contains(at))
        .for_each(|(at, node)| known.entry(key(node)).or_default().push_back(at));
    for (node, partner) in after
        .iter()
        .zip(partners)
        .filter(|(_, partner)| partner.is_none())
    {
        *partner = known.get_mut(&key(node)).and_then(VecDeque::pop_front);
        taken.extend(*partner);
    }
}

/// Matches what is left of both sides where a key has one machine on each.
fn match_rest<'s, K: Ord>(
    before: &[Node<'s>],
    after: &[Node<'s>],
    key: impl Fn(&Node<'s>) -> Option<K>,
    partners: &mut [Option<usize>],
    taken: &mut BTreeSet<usize>,
) {
    let mut left: BTreeMap<K, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (at, node) in before
        .iter()
        .enumerate()
        .filter(|(at, _)| !taken.contains(at))
    {
        if let Some(key) = key(node) {
            left.entry(key).or_default().0.push(at);
        }
    }
    for (at, node) in after
        .iter()
        .enumerate()
        .filter(|(at, _)| partners[*at].is_none())
    {
        if let Some(key) = key(node) {
            left.entry(key).or_default().1.push(at);
        }
    }
    for (olds, news) in left.values() {
        if let ([old], [new]) = (olds.as_slice(), news.as_slice()) {
            partners[*new] = Some(*old);
            taken.insert(*old);
        }
    }
}

/// Whether a machine is meant by `NAME`, `Kind/NAME`, or either with `:ROLE`.
pub(super) fn is_named((was, is): &Pair<'_, '_>, wanted: &str) -> bool {
    let (name, role) = wanted
        .split_once(':')
        .map_or((wanted, None), |(name, role)| (name, Some(role)));
    let is_it = |node: &Node<'_>| {
        let own = node.title.rsplit('/').next().unwrap_or_default();
        (node.title == name || own == name) && role.is_none_or(|role| node.role == Some(role))
    };
    [was, is].into_iter().flatten().any(|node| is_it(node))
}
