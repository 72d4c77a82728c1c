//! Secrets and ConfigMaps of the input.

use windlass_capi::api::secret::Sensitive;
use windlass_go_text::base64;
use windlass_objects::{Object, Pool};
use windlass_source::diag::{Diagnostic, FieldPath, rules};

rules! {
    /// the data of a Secret or ConfigMap is not valid base64
    pub(crate) DATA_NOT_BASE64 = error("secret-data-not-base64");
}

/// An object that holds values by key.
#[derive(Debug, Clone, Copy)]
struct Holder<'a> {
    object: &'a Object,
    /// The field with texts as they are.
    plain: &'static str,
    /// The field with texts in base64.
    encoded: &'static str,
}

impl<'a> Holder<'a> {
    fn text(&self, key: &str) -> Option<&'a str> {
        self.object.value()[self.plain]
            .get(key)
            .and_then(|value| value.as_str())
    }

    /// # Errors
    ///
    /// The value is not base64.
    fn decoded(&self, key: &str) -> Result<Option<Vec<u8>>, Box<Diagnostic>> {
        let Some(value) = self.object.value()[self.encoded].get(key) else {
            return Ok(None);
        };
        value
            .as_str()
            .and_then(|text| base64::decode(text).ok())
            .map(Some)
            .ok_or_else(|| Box::new(self.not_base64(key)))
    }

    fn not_base64(&self, key: &str) -> Diagnostic {
        let path = FieldPath::root().field(self.encoded).field(key);
        let message = format!("{path} of {} is not base64", self.object.title());
        let finding = Diagnostic::of(&DATA_NOT_BASE64, message).at(self.object.place(&path));
        finding.help(format!(
            "encode the value, or move it to `{}.{key}`",
            self.plain
        ))
    }
}

/// A Secret of the input, whose values are read by key.
#[derive(Debug, Clone, Copy)]
pub struct Secret<'a>(Holder<'a>);

impl<'a> Secret<'a> {
    /// Returns the Secret of that name; `None` when the input does not contain it.
    pub fn find(pool: &'a Pool, namespace: &str, name: &str) -> Option<Self> {
        let object = pool.find("", "Secret", namespace, name)?;
        Some(Secret(Holder {
            object,
            plain: "stringData",
            encoded: "data",
        }))
    }

    /// The value of a key; `None` when the Secret has no such key. `stringData` counts before
    /// `data`, as the API server has it.
    ///
    /// # Errors
    ///
    /// The value is not base64.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Sensitive<Vec<u8>>>, Box<Diagnostic>> {
        match self.0.text(key) {
            Some(text) => Ok(Some(Sensitive::new(text.as_bytes().to_vec()))),
            None => Ok(self.0.decoded(key)?.map(Sensitive::new)),
        }
    }

    /// The object that was read, for findings about it.
    pub fn object(&self) -> &'a Object {
        self.0.object
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ConfigMap<'a>(Holder<'a>);

impl<'a> ConfigMap<'a> {
    pub(crate) fn find(pool: &'a Pool, namespace: &str, name: &str) -> Option<Self> {
        let object = pool.find("", "ConfigMap", namespace, name)?;
        Some(ConfigMap(Holder {
            object,
            plain: "data",
            encoded: "binaryData",
        }))
    }

    /// The value of a key: of `data`, else of `binaryData`; `None` when neither has the key.
    ///
    /// # Errors
    ///
    /// The value is not base64.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Box<Diagnostic>> {
        match self.0.text(key) {
            Some(text) => Ok(Some(text.as_bytes().to_vec())),
            None => self.0.decoded(key),
        }
    }
}
