//! What can be wrong with bootstrap data that is read back.

use windlass_source::diag::rules;

rules! {
    /// the input is not bootstrap data that can be decoded
    pub(crate) DATA_UNREADABLE = error("inspect-data-unreadable");
    /// neither cloud-init nor Ignition reads a document of the bootstrap data
    pub(crate) DOCUMENT_UNREAD = warning("inspect-document-unread");
    /// a document of the bootstrap data does not parse
    pub(crate) DOCUMENT_INVALID = error("inspect-document-invalid");
    /// the content of a file cannot be decoded as its `encoding` says
    pub(crate) CONTENT_UNDECODABLE = error("inspect-content-undecodable");
    /// the bootstrap data does not write the sentinel file of Cluster API
    pub(crate) SENTINEL_MISSING = warning("inspect-sentinel-missing");
    /// the sentinel file is written even if the previous command fails
    pub(crate) SENTINEL_UNCONDITIONAL = warning("inspect-sentinel-unconditional");
    /// a shell command or script has an unclosed quote, bracket or block
    pub(crate) COMMAND_UNCLOSED = error("inspect-command-unclosed");
    /// the first line of a script ends with a carriage return, which becomes part of the
    /// interpreter's name
    pub(crate) INTERPRETER_CARRIAGE_RETURN = error("inspect-interpreter-carriage-return");
    /// a command ignores its own failure
    pub(crate) FAILURE_SWALLOWED = info("inspect-failure-swallowed");
    /// a certificate in the bootstrap data has expired
    pub(crate) CERTIFICATE_EXPIRED = error("inspect-certificate-expired");
    /// a certificate in the bootstrap data expires within thirty days
    pub(crate) CERTIFICATE_EXPIRING = warning("inspect-certificate-expiring");
    /// no module of cloud-init reads a key of the document
    pub(crate) KEY_UNREAD = info("inspect-key-unread");
    /// a later document replaces a key of this one
    pub(crate) KEY_REPLACED = warning("inspect-key-replaced");
    /// the bootstrap data has more steps than are checked
    pub(crate) STEPS_CUT = warning("inspect-steps-cut");
    /// two entries write the same file
    pub(crate) FILE_TWICE = info("inspect-file-twice");
    /// the owner of a file does not exist when the file is written
    pub(crate) OWNER_MISSING = error("inspect-owner-missing");
    /// the owner of a file may be missing from the image
    pub(crate) OWNER_UNKNOWN = warning("inspect-owner-unknown");
    /// cloud-init cannot read the permissions of a file, or reads another mode
    pub(crate) PERMISSIONS_INVALID = warning("inspect-permissions-invalid");
    /// a file is written to a folder that is mounted over or cleared during the boot
    pub(crate) PATH_VOLATILE = warning("inspect-path-volatile");
    /// a part of the bootstrap data is downloaded when the machine boots
    pub(crate) DATA_FETCHED = info("inspect-data-fetched");
    /// a Jinja expression is in a document that cloud-init does not evaluate as a template
    pub(crate) JINJA_UNREAD = warning("inspect-jinja-unread");
    /// a log message has a cause that is known from public reports
    pub LOG_CAUSE = warning("inspect-log-cause");
    /// the log reports that kubeadm succeeded
    pub LOG_SUCCESS = info("inspect-log-success");
}
