//! The data, by the renderer of the command line: there is no second way from a spec to bytes.

use super::finding;
use super::outcome::Outcome;
use super::pass::{Pass, Walk, end};
use crate::api::secret::Sensitive;
use crate::api::v1beta2::WindlassConfigSpec;
use crate::render::input::cluster::ClusterFacts;
use crate::render::{FeatureGates, Notes, Outcome as Rendering, Rendered, Request, render, targets};

impl Pass<'_> {
    /// The data; with a token, should the spec have none.
    pub(super) fn rendered(
        &self,
        spec: Option<&WindlassConfigSpec>,
        facts: &ClusterFacts,
        token: Option<&Sensitive<String>>,
    ) -> Walk<Result<Rendered, Outcome>> {
        self.look_at_references(spec, facts)?;
        let pool = self.world.pool();
        // The API server took it, so the gates of the webhook are past.
        let gates = FeatureGates { ignition: true, ..FeatureGates::default() };
        let request = Request { stand_ins: false, feature_gates: gates, token: token.cloned(), ..Request::new() };
        let mut notes = Notes::default();
        let config = self.world.config();
        let all = targets(&pool);
        let Some(target) =
            all.iter().find(|target| target.config.name() == config.name() && target.config.is(config.group(), config.kind()))
        else {
            return end(Outcome::default().with_fault(format!("{} is of no kind that is rendered", config.title())));
        };
        Ok(match render(&pool, target, &request, &mut notes) {
            Rendering::Rendered(rendered) => Ok(*rendered),
            Rendering::Waiting | Rendering::Refused => Err(finding::outcome(&notes.report)),
        })
    }
}
