//! Which configs are looked at, and when: each by one at a time, and clusters take turns, so that
//! one with very many machines does not keep all others waiting. Only names wait here; what is
//! worked on takes memory.
//!
//! kube's own queue asks all that is being worked on whenever one of it has something to say, which
//! with ten thousand machines is most of the work.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tokio::time::Instant;

use super::workload::Name;

/// How many ordinary configs of a cluster begin before the next large one does, while they are due.
const BETWEEN_LARGE: usize = 16;

/// Names of configs, and what is to become of each.
pub(super) struct Queue {
    /// Configs of one cluster that are worked on at once.
    of_one: usize,
    configs: BTreeMap<Name, Entry>,
    /// Clusters of which configs are due or worked on.
    clusters: BTreeMap<Name, Cluster>,
    /// Clusters of which a config may begin, each once, the next one first.
    turns: VecDeque<Name>,
    /// Clusters whose workload cluster did not answer when it was asked last.
    silent: BTreeSet<Name>,
    /// Configs that wait for a time.
    later: BTreeSet<(Instant, Name)>,
}

struct Entry {
    cluster: Name,
    size: Size,
    state: State,
}

/// How much work a config is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Ordinary,
    /// So large that rendering and storing it takes as long as that of dozens.
    Large,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Due,
    Working { is_told: bool },
    Later(Instant),
}

#[derive(Default)]
struct Cluster {
    due: VecDeque<Name>,
    /// Large ones that are due.
    large: VecDeque<Name>,
    working: usize,
    working_on_large: usize,
    /// How many others have begun since a large one did.
    since_large: usize,
    has_turn: bool,
}

impl Queue {
    /// `of_one`: how many configs of one cluster are worked on at once; at least one.
    pub(super) fn new(of_one: usize) -> Self {
        Queue {
            of_one,
            configs: BTreeMap::new(),
            clusters: BTreeMap::new(),
            turns: VecDeque::new(),
            silent: BTreeSet::new(),
            later: BTreeSet::new(),
        }
    }

    /// Something has changed: the config is due, or will be once nobody works on it.
    pub(super) fn tell(&mut self, config: Name, cluster: Name, size: Size) {
        match self.configs.get_mut(&config).map(|entry| &mut entry.state) {
            Some(State::Due) => return,
            Some(State::Working { is_told }) => {
                *is_told = true;
                return;
            }
            Some(State::Later(at)) => {
                self.later.remove(&(*at, config.clone()));
            }
            None => {}
        }
        self.due(config, cluster, size);
    }

    pub(super) fn has_next(&self) -> bool {
        !self.turns.is_empty()
    }

    pub(super) fn begin(&mut self) -> Option<Name> {
        let name = self.turns.pop_front()?;
        let cluster = self
            .clusters
            .get_mut(&name)
            .expect("internal error: a cluster whose turn it is has configs");
        let (config, size) = cluster
            .next()
            .expect("internal error: a cluster whose turn it is has one that is due");
        (cluster.working, cluster.has_turn) = (cluster.working + 1, false);
        cluster.working_on_large += usize::from(size == Size::Large);
        self.set(&config, State::Working { is_told: false });
        self.take_turn(&name);
        Some(config)
    }

    /// Says whether the workload cluster of a config answers. Of one that does not nothing comes of
    /// most passes, and one config at a time is enough to say so in all of them; the workers
    /// are for the others.
    pub(super) fn answers(&mut self, config: &Name, answers: impl Fn(&Name) -> bool) {
        let Some(Entry { cluster, .. }) = self.configs.get(config) else {
            return;
        };
        if answers(cluster) {
            self.silent.remove(cluster);
        } else if !self.silent.contains(cluster) {
            self.silent.insert(cluster.clone());
        }
    }

    /// Nobody works on a config any more. It is due again at that time, or as soon as something
    /// changes; at once if that has happened already.
    pub(super) fn ended(&mut self, config: Name, again: Option<Instant>) {
        let Some(Entry {
            cluster,
            size,
            state,
        }) = self.configs.remove(&config)
        else {
            return;
        };
        if let Some(at_work) = self.clusters.get_mut(&cluster) {
            at_work.working -= 1;
            at_work.working_on_large -= usize::from(size == Size::Large);
        }
        match (state, again) {
            (State::Working { is_told: true }, _) => self.due(config, cluster.clone(), size),
            (_, Some(at)) => {
                self.later.insert((at, config.clone()));
                self.configs.insert(
                    config,
                    Entry {
                        cluster: cluster.clone(),
                        size,
                        state: State::Later(at),
                    },
                );
            }
            (_, None) => drop(self.silent.remove(&cluster)),
        }
        self.take_turn(&cluster);
    }

    /// A config is gone: it waits for its time no longer. Whether it did.
    pub(super) fn forget(&mut self, config: &Name) -> bool {
        let Some(Entry {
            state: State::Later(at),
            ..
        }) = self.configs.get(config)
        else {
            return false;
        };
        self.later.remove(&(*at, config.clone()));
        let forgotten = self.configs.remove(config);
        // It may be the last one of its cluster, as one that ends and is gone; the next pass over
        // another one says so again.
        if let Some(Entry { cluster, .. }) = &forgotten {
            self.silent.remove(cluster);
        }
        forgotten.is_some()
    }

    /// When the next config is due that waits for a time.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        self.later.first().map(|(at, _)| *at)
    }

    /// What has waited for a time until then is due.
    pub(super) fn wake(&mut self, now: Instant) {
        while self.wakes_at().is_some_and(|at| at <= now) {
            let Some((_, config)) = self.later.pop_first() else {
                return;
            };
            if let Some(Entry { cluster, size, .. }) = self.configs.remove(&config) {
                self.due(config, cluster, size);
            }
        }
    }

    fn due(&mut self, config: Name, cluster: Name, size: Size) {
        let of_cluster = self.clusters.entry(cluster.clone()).or_default();
        match size {
            Size::Ordinary => of_cluster.due.push_back(config.clone()),
            Size::Large => of_cluster.large.push_back(config.clone()),
        }
        self.take_turn(&cluster);
        self.configs.insert(
            config,
            Entry {
                cluster,
                size,
                state: State::Due,
            },
        );
    }

    fn set(&mut self, config: &Name, state: State) {
        if let Some(entry) = self.configs.get_mut(config) {
            entry.state = state;
        }
    }

    /// A cluster of which a config may begin takes its turn behind the others; of one that has no
    /// configs nothing is kept.
    fn take_turn(&mut self, name: &Name) {
        let most = if self.silent.contains(name) {
            1
        } else {
            self.of_one
        };
        let Some(cluster) = self.clusters.get_mut(name) else {
            return;
        };
        if cluster.is_idle() && cluster.working == 0 {
            self.clusters.remove(name);
        } else if !cluster.is_idle() && cluster.working < most && !cluster.has_turn {
            cluster.has_turn = true;
            self.turns.push_back(name.clone());
        }
    }
}

impl Cluster {
    fn is_idle(&self) -> bool {
        self.due.is_empty() && self.large.is_empty()
    }

    /// The config that begins next. While others are due a large one begins after so many of them,
    /// and alone: the API server takes as long for one as for dozens, wherever it is in the
    /// queue.
    fn next(&mut self) -> Option<(Name, Size)> {
        let is_turn_of_large = self.due.is_empty()
            || (self.working_on_large == 0 && self.since_large >= BETWEEN_LARGE);
        if is_turn_of_large && let Some(config) = self.large.pop_front() {
            self.since_large = 0;
            return Some((config, Size::Large));
        }
        self.since_large += 1;
        Some((self.due.pop_front()?, Size::Ordinary))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn name(text: &str) -> Name {
        ("n".into(), text.into())
    }

    /// A queue with configs that are due, given as `config/cluster`; those with large letters are
    /// large.
    fn queue(of_one: usize, due: &[&str]) -> Queue {
        let mut queue = Queue::new(of_one);
        for (config, cluster) in due.iter().map(|due| due.split_once('/').unwrap()) {
            queue.tell(
                name(config),
                name(cluster),
                if config.starts_with(char::is_uppercase) {
                    Size::Large
                } else {
                    Size::Ordinary
                },
            );
        }
        queue
    }

    /// The configs that begin now, all that may.
    fn begun(queue: &mut Queue) -> Vec<String> {
        std::iter::from_fn(|| queue.begin())
            .map(|(_, name)| name.to_string())
            .collect()
    }

    #[test]
    fn clusters_take_turns() {
        let mut queue = queue(9, &["a1/a", "a2/a", "a3/a", "b1/b", "c1/c", "b2/b"]);
        assert!(queue.has_next());
        assert_eq!(begun(&mut queue), ["a1", "b1", "c1", "a2", "b2", "a3"]);
        assert!(!queue.has_next());
    }

    #[test]
    fn of_one_cluster_some_are_worked_on_at_once() {
        let mut queue = queue(2, &["a1/a", "a2/a", "a3/a", "a4/a", "b1/b"]);
        assert_eq!(begun(&mut queue), ["a1", "b1", "a2"]);
        queue.ended(name("b1"), None);
        assert_eq!(begun(&mut queue), [""; 0]);
        queue.ended(name("a1"), None);
        assert_eq!(begun(&mut queue), ["a3"]);
        queue.ended(name("a2"), None);
        queue.ended(name("a3"), None);
        assert_eq!(begun(&mut queue), ["a4"]);
        queue.ended(name("a4"), None);
        assert!(
            queue.clusters.is_empty()
                && queue.configs.is_empty()
                && queue.turns.is_empty()
                && queue.later.is_empty()
        );
    }

    /// Two large configs of a cluster before so many others.
    fn with_large(of_one: usize, others: usize) -> Queue {
        let mut queue = queue(of_one, &["A/c", "B/c"]);
        (0..others)
            .for_each(|other| queue.tell(name(&format!("o{other}")), name("c"), Size::Ordinary));
        queue
    }

    #[test]
    fn of_a_cluster_one_large_config_is_worked_on_while_others_wait() {
        let mut queue = with_large(100, 3 * BETWEEN_LARGE);
        let order = begun(&mut queue);
        let at = |config: &str| order.iter().position(|begun| begun == config);
        assert_eq!(
            (at("A"), at("B"), order.len()),
            (
                Some(BETWEEN_LARGE),
                Some(order.len() - 1),
                3 * BETWEEN_LARGE + 2
            )
        );
        // When no other waits they have all the room.
        for config in ["A", "B"] {
            queue.ended(name(config), Some(Instant::now()));
        }
        queue.wake(Instant::now());
        assert_eq!(begun(&mut queue), ["A", "B"]);
        order
            .iter()
            .for_each(|config| queue.ended(name(config), None));
        assert!(queue.clusters.is_empty() && queue.configs.is_empty() && queue.turns.is_empty());
    }

    #[test]
    fn large_configs_begin_between_others_where_there_is_room_for_one() {
        let mut queue = with_large(1, 3 * BETWEEN_LARGE);
        let order: Vec<_> = std::iter::from_fn(|| {
            let config = queue.begin()?;
            queue.ended(config.clone(), None);
            Some(config.1.to_string())
        })
        .collect();
        let at = |config: &str| order.iter().position(|begun| begun == config);
        assert_eq!(
            (at("A"), at("B"), order.len()),
            (
                Some(BETWEEN_LARGE),
                Some(2 * BETWEEN_LARGE + 1),
                3 * BETWEEN_LARGE + 2
            )
        );
    }

    #[test]
    fn of_a_cluster_that_does_not_answer_one_is_worked_on_at_a_time() {
        let (mut queue, now) = (
            queue(2, &["a1/a", "a2/a", "a3/a", "b1/b", "b2/b"]),
            Instant::now(),
        );
        assert_eq!(begun(&mut queue), ["a1", "b1", "a2", "b2"]);
        let ended = |queue: &mut Queue, config: &str, answers: bool, again: Option<Instant>| {
            queue.answers(&name(config), |cluster| answers || *cluster.1 != *"a");
            queue.ended(name(config), again);
        };
        ended(&mut queue, "a1", false, Some(now));
        ended(&mut queue, "b1", false, Some(now));
        assert_eq!(begun(&mut queue), [""; 0], "one of them is worked on still");
        // Also when all have waited meanwhile.
        ended(&mut queue, "a2", false, Some(now));
        ended(&mut queue, "b2", false, Some(now));
        queue.wake(now);
        assert_eq!(begun(&mut queue), ["a3", "b1", "b2"]);
        ended(&mut queue, "a3", true, Some(now));
        assert_eq!(begun(&mut queue), ["a1", "a2"], "it answers again");
        for config in ["a1", "a2", "b1", "b2"] {
            ended(&mut queue, config, false, Some(now));
        }
        assert_eq!(queue.silent, [name("a")].into());
        for config in ["a1", "a2", "a3", "b1", "b2"] {
            queue.forget(&name(config));
        }
        assert!(queue.silent.is_empty(), "nothing is kept of what is gone");
        queue.tell(name("a1"), name("a"), Size::Ordinary);
        begun(&mut queue);
        ended(&mut queue, "a1", false, None);
        assert!(
            queue.silent.is_empty(),
            "nor of what goes while it is worked on"
        );
    }

    #[test]
    fn a_config_is_worked_on_by_one_at_a_time() {
        let mut queue = queue(2, &["x/a", "x/a"]);
        assert_eq!(begun(&mut queue), ["x"]);
        queue.tell(name("x"), name("a"), Size::Ordinary);
        queue.tell(name("x"), name("a"), Size::Ordinary);
        assert_eq!(begun(&mut queue), [""; 0]);
        // What has changed meanwhile is looked at once, and at once.
        queue.ended(name("x"), Some(Instant::now() + Duration::from_secs(600)));
        assert_eq!(queue.wakes_at(), None);
        assert_eq!(begun(&mut queue), ["x"]);
        queue.ended(name("x"), None);
        assert_eq!(begun(&mut queue), [""; 0]);
    }

    #[test]
    fn what_waits_for_a_time_is_due_then_or_when_something_changes() {
        let (mut queue, now) = (queue(9, &["x/a", "y/a", "z/a"]), Instant::now());
        let at = |seconds| now + Duration::from_secs(seconds);
        begun(&mut queue);
        for (config, seconds) in [("x", 20), ("y", 10), ("z", 30)] {
            queue.ended(name(config), Some(at(seconds)));
        }
        assert_eq!(queue.wakes_at(), Some(at(10)));
        queue.wake(at(9));
        assert_eq!(begun(&mut queue), [""; 0]);
        queue.wake(at(10));
        assert_eq!(begun(&mut queue), ["y"]);
        // It has moved to another cluster.
        queue.tell(name("z"), name("b"), Size::Ordinary);
        assert_eq!(begun(&mut queue), ["z"]);
        assert_eq!(queue.wakes_at(), Some(at(20)));
        queue.wake(at(60));
        assert_eq!(begun(&mut queue), ["x"]);
        assert_eq!(queue.wakes_at(), None);
    }

    #[test]
    fn nothing_is_kept_of_what_is_gone() {
        let (mut queue, now) = (queue(9, &["x/a", "y/a"]), Instant::now());
        assert!(!queue.forget(&name("x")), "it is due");
        begun(&mut queue);
        assert!(
            !queue.forget(&name("x")) && !queue.forget(&name("z")),
            "it is worked on, and the other is not known"
        );
        for config in ["x", "y"] {
            queue.ended(name(config), Some(now));
            assert!(queue.forget(&name(config)) && !queue.forget(&name(config)));
        }
        queue.wake(now);
        assert!(!queue.has_next());
        assert!(queue.clusters.is_empty() && queue.configs.is_empty() && queue.later.is_empty());
    }
}
