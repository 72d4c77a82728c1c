//! What can be wrong with bootstrap data that is read back.

use crate::diag::rules;

rules! {
    /// bootstrap data is packed in a way that cannot be taken off
    pub(crate) DATA_UNREADABLE = error("inspect-data-unreadable");
    /// a document of the bootstrap data is nothing that cloud-init or Ignition reads
    pub(crate) DOCUMENT_UNREAD = warning("inspect-document-unread");
    /// a document of the bootstrap data does not parse
    pub(crate) DOCUMENT_INVALID = error("inspect-document-invalid");
    /// the content of a file is not encoded as its entry says
    pub(crate) CONTENT_UNDECODABLE = error("inspect-content-undecodable");
    /// nothing writes the file by which Cluster API knows that the machine came up
    pub(crate) SENTINEL_MISSING = warning("inspect-sentinel-missing");
    /// the file that tells success is written even when what comes before it fails
    pub(crate) SENTINEL_UNCONDITIONAL = warning("inspect-sentinel-unconditional");
    /// a shell cannot read a command or a script to its end
    pub(crate) COMMAND_UNCLOSED = error("inspect-command-unclosed");
    /// the first line of a script ends with a carriage return, which belongs to the interpreter's name
    pub(crate) INTERPRETER_CARRIAGE_RETURN = error("inspect-interpreter-carriage-return");
    /// a command hides its own failure
    pub(crate) FAILURE_SWALLOWED = info("inspect-failure-swallowed");
    /// a certificate in the bootstrap data has expired
    pub(crate) CERTIFICATE_EXPIRED = error("inspect-certificate-expired");
    /// a certificate in the bootstrap data expires within thirty days
    pub(crate) CERTIFICATE_EXPIRING = warning("inspect-certificate-expiring");
    /// no module of cloud-init reads a key of the document
    pub(crate) KEY_UNREAD = info("inspect-key-unread");
    /// a document has a key that a later one replaces
    pub(crate) KEY_REPLACED = warning("inspect-key-replaced");
    /// the documents have more steps than are looked at
    pub(crate) STEPS_CUT = warning("inspect-steps-cut");
    /// two entries write the same file
    pub(crate) FILE_TWICE = info("inspect-file-twice");
    /// the owner of a file does not exist when the file is written
    pub(crate) OWNER_MISSING = error("inspect-owner-missing");
    /// the owner of a file may be missing from the image
    pub(crate) OWNER_UNKNOWN = warning("inspect-owner-unknown");
    /// cloud-init reads the permissions of a file differently or not at all
    pub(crate) PERMISSIONS_INVALID = warning("inspect-permissions-invalid");
    /// a file is written to a folder that is mounted over before the node uses it
    pub(crate) PATH_VOLATILE = warning("inspect-path-volatile");
    /// a part of the bootstrap data is fetched when the machine boots
    pub(crate) DATA_FETCHED = info("inspect-data-fetched");
    /// an expression of jinja stands in a document that cloud-init does not take for a template
    pub(crate) JINJA_UNREAD = warning("inspect-jinja-unread");
    /// the cause of a log line is known from public reports
    pub(crate) LOG_CAUSE = warning("inspect-log-cause");
    /// the log reports that kubeadm succeeded
    pub(crate) LOG_SUCCESS = info("inspect-log-success");
}
