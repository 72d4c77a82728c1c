//! Secrets and ConfigMaps of the input.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::object::Object;
use super::pool::Pool;
use crate::api::secret::Sensitive;
use crate::diag::{Diagnostic, FieldPath, RuleId};

/// A Secret whose data is no base64.
pub const DATA_NOT_BASE64: RuleId = RuleId::new("secret-data-not-base64");

/// Base64 as Go's JSON reads it: the padding is required.
const STRICT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::RequireCanonical).with_decode_allow_trailing_bits(true),
);

/// Decodes base64 with padding; line breaks within it are skipped, as Go skips them.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    if text.contains(['\n', '\r']) {
        return STRICT.decode(text.replace(['\n', '\r'], "")).ok();
    }
    STRICT.decode(text).ok()
}

/// A Secret of the input.
#[derive(Debug, Clone, Copy)]
pub struct Secret<'a> {
    object: &'a Object,
}

impl<'a> Secret<'a> {
    /// The Secret of that name.
    pub fn find(pool: &'a Pool, namespace: &str, name: &str) -> Option<Self> {
        pool.find("", "Secret", namespace, name).map(|object| Secret { object })
    }

    /// The value of a key; `None` when the Secret has no such key. `stringData` counts before `data`, as the API server has it.
    ///
    /// # Errors
    ///
    /// The value is no base64.
    pub fn get(&self, key: &str) -> Result<Option<Sensitive<Vec<u8>>>, Box<Diagnostic>> {
        if let Some(text) = self.object.value["stringData"].get(key).and_then(|value| value.as_str()) {
            return Ok(Some(Sensitive::new(text.as_bytes().to_vec())));
        }
        let Some(value) = self.object.value["data"].get(key) else { return Ok(None) };
        let decoded = value.as_str().and_then(decode_base64);
        decoded.map(|bytes| Some(Sensitive::new(bytes))).ok_or_else(|| Box::new(self.not_base64(key)))
    }

    /// The object.
    pub fn object(&self) -> &'a Object {
        self.object
    }

    fn not_base64(&self, key: &str) -> Diagnostic {
        let path = FieldPath::root().field("data").field(key);
        let message = format!("{path} of {} is not base64", self.object.title());
        Diagnostic::error(DATA_NOT_BASE64, message)
            .at(self.object.place(&path))
            .help(format!("encode the value, or move it to `stringData.{key}`"))
    }
}
