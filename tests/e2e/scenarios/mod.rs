//! Every scenario, in the order in which they run.

use std::time::Duration;

use crate::harness::runner::{Company, Context, Scenario};

mod admission;
mod air_gap;
mod archive;
mod book;
mod bring_your_own;
mod commands;
mod conformance;
mod contract;
mod crds;
mod faults;
mod gate;
mod ignition;
mod install;
mod kustomize;
mod manager;
mod migrate;
mod operator;
mod page;
mod rbac;
mod real_providers;
mod render;
mod self_test;
mod templates;
mod topology;

macro_rules! groups {
    ($($module:ident {
        exercises: $exercises:tt, peers: $peers:tt, packages: $packages:tt,
        $($company:ident: [$($name:ident),*],)*
    })*) => {
        /// All scenarios, in the order of `selection::GROUPS`.
        pub(crate) const ALL: &[Scenario] = &[$($($(
            $company(concat!(stringify!($module), "::", stringify!($name)), $module::$name)
        ),*),*),*];
    };
}
include!("../selection/groups.in");

/// After the limit a scenario counts as hung. Everything in it waits with deadlines of its own, so
/// it is generous.
const fn own(name: &'static str, run: fn(&Context)) -> Scenario {
    Scenario {
        name,
        limit: Duration::from_secs(1500),
        company: Company::Any,
        run,
    }
}

/// One that takes ten minutes alone, and twice that beside two others.
const fn slow(name: &'static str, run: fn(&Context)) -> Scenario {
    Scenario {
        limit: Duration::from_secs(2400),
        ..own(name, run)
    }
}

/// One that takes an hour in its whole size.
const fn lasting(name: &'static str, run: fn(&Context)) -> Scenario {
    Scenario {
        limit: Duration::from_secs(4500),
        ..own(name, run)
    }
}

/// One that uses the control planes that scenarios share.
const fn sharing(name: &'static str, run: fn(&Context)) -> Scenario {
    Scenario {
        company: Company::OthersPlanes,
        ..own(name, run)
    }
}

/// One that measures time.
const fn measuring(name: &'static str, run: fn(&Context)) -> Scenario {
    Scenario {
        company: Company::Nobody,
        ..own(name, run)
    }
}
