//! Discovery and timeouts.

use serde_json::Value;

use super::{Judge, Rules};
use windlass_schema::{Violation, ViolationKind};

impl Judge {
    /// One way to authenticate in the discovery file; for a control plane, equal timeouts of init
    /// and join.
    pub(super) fn join(&self, spec: &Value, out: &mut Vec<Violation>) {
        if let Some(user) = spec.pointer("/joinConfiguration/discovery/file/kubeConfig/user")
            && let Some(detail) = self.ways_to_authenticate(user)
        {
            // Upstream spells this one path in lower case.
            let steps = [
                "joinConfiguration",
                "discovery",
                "file",
                "kubeConfig",
                "user",
            ];
            let at = steps
                .iter()
                .fold(self.path.clone(), |at, step| at.field(*step));
            let field = at.to_string().replace(".kubeConfig.", ".kubeconfig.");
            out.push(
                Violation::new(
                    ViolationKind::Invalid,
                    at,
                    Some(&self.wording.piece(user)),
                    detail,
                )
                .spelt(field),
            );
        }
        if matches!(self.rules, Rules::KubeadmControlPlane { .. }) {
            self.timeouts(spec, out);
        }
    }

    /// What is wrong with the ways of a user of a kubeconfig; v1.10 demands one.
    fn ways_to_authenticate(&self, user: &Value) -> Option<&'static str> {
        let set = ["authProvider", "exec"].map(|way| self.is_set(user.get(way)));
        match (self.rules, set) {
            (Rules::KubeadmV1Beta1 { .. }, [false, false]) => {
                Some("at least one of authProvider or exec must be defined")
            }
            (Rules::KubeadmV1Beta1 { .. }, [true, true]) => {
                Some("either authProvider or exec must be defined")
            }
            (_, [true, true]) => Some("only one of authProvider or exec must be defined"),
            _ => None,
        }
    }

    fn timeouts(&self, spec: &Value, out: &mut Vec<Violation>) {
        const FIELD: &str = "controlPlaneComponentHealthCheckSeconds";
        let of = |configuration: &str| {
            let timeout = spec
                .get(configuration)
                .and_then(|found| found.get("timeouts")?.get(FIELD)?.as_i64());
            timeout.map_or_else(|| "unset".to_owned(), |seconds| seconds.to_string())
        };
        let (init, join) = (of("initConfiguration"), of("joinConfiguration"));
        if init == join {
            return;
        }
        let detail = format!(
            "{FIELD} must be set to the same value both in initConfiguration.timeouts ({init}) and in joinConfiguration.timeouts ({join})"
        );
        for (configuration, value) in [("initConfiguration", init), ("joinConfiguration", join)] {
            let at = self
                .path
                .field(configuration)
                .field("timeouts")
                .field(FIELD);
            out.push(Violation::invalid(at, &Value::from(value), &detail));
        }
    }
}
