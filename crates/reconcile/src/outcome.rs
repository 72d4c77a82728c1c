//! What a pass found out about a config, in the terms of its conditions.

use windlass_capi::api::condition::ConditionStatus;

/// What is said of one side of the config: its data, its certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Observed {
    pub(super) status: ConditionStatus,
    pub(super) reason: &'static str,
    /// The reason of the same in contract v1beta1.
    pub(super) older_reason: &'static str,
    pub(super) severity: Severity,
    pub(super) message: String,
}

/// Severities of contract v1beta1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    Info,
    Warning,
    Error,
}

impl Severity {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "Info",
            Severity::Warning => "Warning",
            Severity::Error => "Error",
        }
    }
}

/// Reasons of conditions; those without a word are upstream's
/// (`api/bootstrap/kubeadm/v1beta2/kubeadm_types.go`, `v1beta1_condition_consts.go`).
pub(super) mod reason {
    pub(crate) const AVAILABLE: &str = "Available";
    pub(crate) const NOT_AVAILABLE: &str = "NotAvailable";
    pub(crate) const INTERNAL_ERROR: &str = "InternalError";
    pub(crate) const PAUSED: &str = "Paused";
    pub(crate) const NOT_PAUSED: &str = "NotPaused";
    /// Ours: the data has more bytes than its limit.
    pub(crate) const DATA_TOO_LARGE: &str = "DataTooLarge";
    /// Ours: the spec does not fit the Machine, or cannot be rendered.
    pub(crate) const INVALID_CONFIGURATION: &str = "InvalidConfiguration";
    pub(crate) const WAITING_FOR_INFRASTRUCTURE: &str = "WaitingForClusterInfrastructure";
    pub(crate) const WAITING_FOR_CONTROL_PLANE: &str = "WaitingForControlPlaneAvailable";
    /// Ours: the control plane has a different version, with which kubeadm does not join.
    pub(crate) const WAITING_FOR_VERSION: &str = "WaitingForControlPlaneVersion";
    pub(crate) const GENERATION_FAILED: &str = "DataSecretGenerationFailed";
    pub(crate) const CERTIFICATES_FAILED: &str = "CertificatesGenerationFailed";
}

impl Observed {
    pub(super) fn available() -> Self {
        Observed {
            status: ConditionStatus::True,
            reason: reason::AVAILABLE,
            older_reason: "",
            severity: Severity::Info,
            message: String::new(),
        }
    }

    /// Others have to do something first.
    pub(super) fn waiting(older_reason: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Observed {
            status: ConditionStatus::False,
            reason: reason::NOT_AVAILABLE,
            older_reason,
            severity: Severity::Info,
            message,
        }
    }

    /// Something is missing or out of reach.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Observed {
            severity: Severity::Warning,
            ..Observed::waiting(reason::GENERATION_FAILED, message)
        }
    }

    /// Only a change of the objects helps.
    pub(super) fn rejected(reason: &'static str, message: impl Into<String>) -> Self {
        Observed {
            status: ConditionStatus::False,
            reason,
            older_reason: reason,
            severity: Severity::Error,
            message: message.into(),
        }
    }

    /// The certificates are not there, or cannot be read.
    pub(super) fn certificates_failed(message: impl Into<String>) -> Self {
        Observed {
            status: ConditionStatus::Unknown,
            reason: reason::INTERNAL_ERROR,
            older_reason: reason::CERTIFICATES_FAILED,
            severity: Severity::Warning,
            message: message.into(),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Pause {
    #[default]
    No,
    /// Why it is.
    Yes(String),
    /// Nobody came to know: what is said stays.
    Unknown,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) pause: Pause,
    /// `None`: nothing new.
    pub(super) data: Option<Observed>,
    /// `None`: nothing new.
    pub(super) certificates: Option<Observed>,
    /// The name of the Secret, when it is there.
    pub(super) data_secret: Option<String>,
    /// In seconds.
    pub(super) again: Option<i64>,
    pub(super) fault: Option<String>,
}

impl Outcome {
    /// There is no data yet, because of this.
    pub(super) fn without_data(data: Observed) -> Self {
        Outcome {
            data: Some(data),
            ..Outcome::default()
        }
    }

    pub(super) fn available(name: &str) -> Self {
        Outcome {
            data: Some(Observed::available()),
            certificates: Some(Observed::available()),
            data_secret: Some(name.to_owned()),
            ..Outcome::default()
        }
    }

    /// What may pass by itself.
    pub(super) fn with_fault(self, fault: impl Into<String>) -> Self {
        Outcome {
            fault: Some(fault.into()),
            ..self
        }
    }
}
