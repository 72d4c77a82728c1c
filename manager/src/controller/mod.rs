//! The controller proper: watches, reconciles, applies.

use crate::election::Leadership;
use crate::fault::Fault;
use crate::flags::Flags;
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::shutdown::Shutdown;

/// What the controller works with.
#[derive(Clone)]
#[expect(dead_code, reason = "the controller reads them")]
pub(crate) struct Setting {
    /// For all that the controller asks of the management cluster; it keeps to `--kube-api-qps` and `--kube-api-burst`.
    pub(crate) client: kube::Client,
    /// The command line.
    pub(crate) flags: Flags,
    /// Where work is counted.
    pub(crate) metrics: Metrics,
    /// Where the controller says that its caches are filled.
    pub(crate) readiness: Readiness,
    /// Asked before each write.
    pub(crate) leadership: Leadership,
    /// When to end.
    pub(crate) shutdown: Shutdown,
}

/// Works until the shutdown begins.
///
/// # Errors
/// What keeps it from working.
pub(crate) async fn run(setting: Setting) -> Result<(), Fault> {
    setting.shutdown.begun().await;
    Ok(())
}
