//! The data, by the renderer of the command line: there is no second way from a spec to bytes.

use super::finding;
use super::outcome::Outcome;
use super::pass::{Pass, Walk};
use super::world::Rendering;
use windlass_bootstrap::render::input::cluster::ClusterFacts;
use windlass_bootstrap::render::{
    FeatureGates, Notes, Outcome as Rendered, Request, render, targets,
};

impl<'a> Pass<'a> {
    /// The data; with a token that nobody has, should the spec have none, so that one that cannot
    /// be rendered costs none.
    pub(super) fn rendered(
        &self,
        facts: &ClusterFacts,
        with_fresh_token: bool,
    ) -> Walk<&'a Rendering> {
        self.look_at_references(self.world.spec(), facts)?;
        Ok(self
            .world
            .rendered(with_fresh_token, || self.render(with_fresh_token)))
    }

    fn render(&self, with_fresh_token: bool) -> Rendering {
        let pool = self.world.pool();
        let token = with_fresh_token.then(|| self.world.fresh_token().clone());
        // The API server took it, so the gates of the webhook are past.
        let gates = FeatureGates {
            ignition: true,
            ..FeatureGates::default()
        };
        let request = Request {
            placeholders: false,
            feature_gates: gates,
            token,
            ..Request::new()
        };
        let mut notes = Notes::default();
        let config = self.world.config();
        let all = targets(&pool);
        let Some(target) = all.iter().find(|target| {
            target.config.name() == config.name() && target.config.is(config.group(), config.kind())
        }) else {
            return Err(Outcome::default()
                .with_fault(format!("{} is of no kind that is rendered", config.title())));
        };
        match render(&pool, target, &request, &mut notes) {
            Rendered::Rendered(rendered) => Ok(*rendered),
            Rendered::Waiting | Rendered::Rejected => Err(finding::outcome(&notes.report)),
        }
    }
}
