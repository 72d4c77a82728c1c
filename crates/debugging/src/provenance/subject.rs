//! The machine that is asked about, with all that its provenance is made of.

use windlass_bootstrap::render::input::filling::Filled;
use windlass_bootstrap::render::input::render_context::RenderContext;
use windlass_bootstrap::render::{Notes, Rendered, Request, Target};
use windlass_objects::{Object, Pool, Spot};
use windlass_source::budget::Budget;
use windlass_source::diag::Setting;
use windlass_topology::{History, Origins, Write};

/// What is known of a config that a topology makes.
#[derive(Debug, Clone, Copy)]
pub struct Planned<'a> {
    /// The name of the Cluster whose topology makes the config.
    pub cluster: &'a str,
    /// `controlPlane`, `md/NAME` or `mp/NAME`.
    pub part_of: &'a str,
    /// What patches wrote.
    pub writes: &'a [Write],
    /// The location in the user's files of each part of the config, and the patch that wrote it.
    pub origins: &'a Origins,
    /// What became of the other patches.
    pub history: Option<&'a History>,
}

/// A machine that was rendered.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) target: Target<'a>,
    /// What it is in a topology, if it is of one.
    pub(crate) planned: Option<Planned<'a>>,
    pub(crate) rendered: &'a Rendered,
    pub(crate) filled: &'a [Filled],
    pub(crate) budget: &'a Budget,
    /// How a setting is written where settings are given.
    pub(crate) flag: fn(Setting) -> String,
    /// The Cluster; the config, if there is none.
    pub(super) cluster: &'a Object,
    /// What makes the machine, or else the config, and where it says the version.
    pub(super) version: Spot<'a>,
}

impl<'a> Subject<'a> {
    /// Looks around a machine once more, as the rendering did.
    pub fn of(
        pool: &'a Pool,
        target: Target<'a>,
        request: &'a Request,
        rendered: &'a Rendered,
        filled: &'a [Filled],
        planned: Option<Planned<'a>>,
        flag: fn(Setting) -> String,
    ) -> Self {
        let render_context = RenderContext::of(pool, &target, request, &mut Notes::default());
        let (cluster, version) = render_context.map_or_else(
            || (target.config, Spot::whole(target.config)),
            |found| (found.cluster_spot.object(), found.version_spot),
        );
        Subject {
            pool,
            target,
            planned,
            rendered,
            filled,
            budget: &request.budget,
            flag,
            cluster,
            version,
        }
    }

    /// What makes the machine: MachineDeployment, Machine, control plane and the like; else the
    /// config.
    pub(super) fn owner(&self) -> &'a Object {
        self.version.object()
    }
}
