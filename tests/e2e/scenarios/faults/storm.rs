//! A fifth of all requests fails in one way or another.

use std::time::{Duration, Instant};

use super::site::{Site, Ways};
use super::{history, sized};
use crate::harness::audit;
use crate::harness::fault_proxy::{Asked, EventFate, Fate, Plan};
use crate::harness::random::Random;
use crate::harness::runner::Context;
use crate::scenarios::manager::parity;

const LONG: Duration = Duration::from_secs(240);

/// So many of a hundred requests and events meet a fault, each kind as often as the others.
struct Storm {
    random: Random,
    percent: usize,
    requests: Bag<Fate>,
    events: Bag<EventFate>,
}

/// Faults, of which each is drawn once before any is drawn again: what is met does not depend on
/// luck.
struct Bag<T> {
    all: Vec<T>,
    left: Vec<T>,
}

impl<T: Copy> Bag<T> {
    fn of(all: &[T]) -> Self {
        Bag {
            all: all.to_vec(),
            left: Vec::new(),
        }
    }

    fn draw(&mut self, random: &mut Random, fits: impl Fn(&T) -> bool) -> T {
        if !self.left.iter().any(&fits) {
            self.left.extend(&self.all);
        }
        let places: Vec<usize> = (0..self.left.len())
            .filter(|place| fits(&self.left[*place]))
            .collect();
        self.left.swap_remove(random.of(&places))
    }
}

impl Storm {
    fn new(random: Random) -> Self {
        let (delay, hold) = (Fate::Delay(Duration::ZERO), EventFate::Hold(Duration::ZERO));
        let answers = [409, 429, 500, 503].map(Fate::Answer);
        let requests = Bag::of(&[&[Fate::CutBefore, Fate::CutAfter, delay], &answers[..]].concat());
        let events = Bag::of(&[EventFate::Repeat, EventFate::Lose, hold, EventFate::Expire]);
        Storm {
            random,
            percent: 20,
            requests,
            events,
        }
    }

    fn pause(&mut self) -> Duration {
        Duration::from_millis(self.random.below(1500) as u64)
    }
}

impl Plan for Storm {
    fn request(&mut self, asked: &Asked) -> Fate {
        if !self.random.percent(self.percent) {
            return Fate::Pass;
        }
        // Nothing that is read is in conflict.
        match self.requests.draw(&mut self.random, |fate| {
            asked.write.is_some() || *fate != Fate::Answer(409)
        }) {
            Fate::Delay(_) => Fate::Delay(self.pause()),
            // What is watched may have been forgotten as well.
            Fate::Answer(500) if asked.is_watch() && self.random.percent(50) => Fate::Answer(410),
            fate => fate,
        }
    }

    fn event(&mut self, _: &Asked) -> EventFate {
        if !self.random.percent(self.percent) {
            return EventFate::Pass;
        }
        match self.events.draw(&mut self.random, |_| true) {
            EventFate::Hold(_) => EventFate::Hold(self.pause()),
            fate => fate,
        }
    }
}

/// Twenty machines come up while a fifth of all requests and events meets a fault of some kind. All
/// get their data, which is what is rendered; the whole history is sound; and every kind of fault
/// was met.
pub(crate) fn a_fifth_of_all_requests_fails(context: &Context) {
    let plane = context.kinds();
    let proxy = plane.fault_proxy();
    let ways = Ways::by(&plane, &proxy.url);
    for round in 0..sized(1, 5) {
        let since = audit::mark(&plane);
        let name = format!("storm-{round}");
        let site = Site::begin(&plane, &ways, &name, 3, 17);
        let mut random = Random::announced();
        for _ in 0..round {
            random.below(2);
        }
        proxy.follow(Storm::new(random));
        let began = Instant::now();
        let elects = ["--leader-elect"];
        let mut manager = site.manager(&ways, &elects);
        let mut restarts = 0;
        loop {
            // Who loses the Lease ends, and the kubelet begins anew.
            if manager.ended().is_some() {
                restarts += 1;
                manager = site.manager(&ways, &elects);
            }
            site.play();
            match site.done() {
                Ok(()) => break,
                Err(missing) => assert!(
                    began.elapsed() < LONG,
                    "{missing}; {}",
                    manager.last_words()
                ),
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        println!(
            "  all done after {:.1} s, {restarts} restarts: {:?}",
            began.elapsed().as_secs_f32(),
            proxy.counts()
        );
        manager.stop();
        for fault in [
            "cut before",
            "cut after",
            "delay",
            "409",
            "429",
            "500",
            "503",
            "event repeated",
            "events lost",
            "event held",
            "watch expired",
        ] {
            assert!(proxy.counts().contains_key(fault), "no {fault} was met");
        }
        history::assert_sound(&site, since);
        parity::assert_data_is_rendered(&plane, context.folder(), &name, site.count());
        site.leave();
    }
}
