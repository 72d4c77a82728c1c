//! Users and their passwords.

use serde_json::Value;

use super::files::missing_reference;
use super::wording::REDACTED;
use super::{Judge, is_defined, is_windows, items, text};
use windlass_schema::{Violation, ViolationKind};

/// The longest password that cloudbase-init takes, in characters.
const LONGEST_WINDOWS_PASSWORD: usize = 20;

impl Judge {
    /// One source for each password, completely named.
    pub(super) fn users(&self, spec: &Value, out: &mut Vec<Violation>) {
        for (index, user) in items(spec, "users").iter().enumerate() {
            let at = self.path.field("users").index(index);
            let source = user
                .get("passwdFrom")
                .filter(|source| is_defined(Some(source)));
            if !text(user, "passwd").is_empty() && source.is_some() {
                let detail = "only one of passwd or passwdFrom may be specified for a single user";
                out.push(Violation::new(
                    ViolationKind::Invalid,
                    at.clone(),
                    Some(&self.wording.piece(user)),
                    detail,
                ));
            }
            if let Some(source) = source {
                out.extend(missing_reference(
                    &source["secret"],
                    &at.field("passwdFrom").field("secret"),
                    "secret",
                ));
            }
            if self.is_windlass()
                && is_windows(spec)
                && text(user, "passwd").chars().count() > LONGEST_WINDOWS_PASSWORD
            {
                let detail =
                    "cloudbase-init takes a password in clear text of at most 20 characters";
                out.push(Violation::new(
                    ViolationKind::Invalid,
                    at.field("passwd"),
                    Some(REDACTED),
                    detail,
                ));
            }
        }
    }
}
