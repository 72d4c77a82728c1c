//! `metadata.yaml` as clusterctl reads it.

use semver::Version;
use serde_json::{Number, Value};

use super::typed::SCHEME;
use super::{Rejection, documents};
use windlass_capi::contract::{METADATA_API_VERSION, METADATA_KIND};
use windlass_go_text as go;
use windlass_objects::fields;
use windlass_source::budget::Budget;

pub(super) use windlass_capi::contract::METADATA_FILE;

/// The group and version of the file format.
const KINDS: [&str; 3] = ["Metadata", "Provider", "ProviderList"];

/// The file, decoded but not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Metadata {
    api_version: String,
    series: Vec<Series>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Series {
    major: i32,
    minor: i32,
    /// As written; not checked.
    pub(super) contract: String,
}

impl Series {
    /// Major and minor number.
    pub(super) fn numbers(&self) -> (i32, i32) {
        (self.major, self.minor)
    }

    pub(super) fn is_of(&self, version: &Version) -> bool {
        // Negative numbers fit no version.
        u64::try_from(self.major) == Ok(version.major)
            && u64::try_from(self.minor) == Ok(version.minor)
    }
}

/// Decodes the file.
///
/// # Errors
/// In the words of Kubernetes' decoder.
pub(super) fn decode(bytes: &[u8], budget: &Budget) -> Result<Metadata, Rejection> {
    let root = documents::first(bytes, budget)?;
    if !matches!(root, Value::Object(_) | Value::Null) {
        let kind = go::json_kind(&root);
        return Err(Rejection::new(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {kind} into Go value of type struct {{ APIVersion string \
             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
        )));
    }
    let (api_version, kind) = (fields::text(&root, &["apiVersion"]), fields::kind(&root));
    // Without a kind the decoder takes the one that is asked for; without a version it looks no
    // further.
    if !api_version.is_empty() && !kind.is_empty() {
        if api_version != METADATA_API_VERSION || !KINDS.contains(&kind) {
            return Err(Rejection::new(format!(
                "no kind {} is registered for version {} in scheme \"{SCHEME}\"",
                go::quote(kind),
                go::quote(api_version)
            )));
        }
        if kind != METADATA_KIND {
            return Err(Rejection::new(format!(
                "converting (v1alpha3.{kind}) to (v1alpha3.{METADATA_KIND}): unknown conversion"
            )));
        }
    }
    let series = match fields::field(&root, &["releaseSeries"]) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.iter().map(series).collect::<Result<_, _>>()?,
        Some(other) => {
            return Err(mismatch(
                other,
                "Metadata.releaseSeries",
                "[]v1alpha3.ReleaseSeries",
            ));
        }
    };
    Ok(Metadata {
        api_version: api_version.to_owned(),
        series,
    })
}

fn series(item: &Value) -> Result<Series, Rejection> {
    if !matches!(item, Value::Object(_) | Value::Null) {
        return Err(mismatch(
            item,
            "Metadata.releaseSeries",
            "v1alpha3.ReleaseSeries",
        ));
    }
    let contract = match fields::field(item, &["contract"]) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => {
            return Err(mismatch(
                other,
                "ReleaseSeries.releaseSeries.contract",
                "string",
            ));
        }
    };
    Ok(Series {
        major: number(item, "major")?,
        minor: number(item, "minor")?,
        contract,
    })
}

fn number(item: &Value, name: &str) -> Result<i32, Rejection> {
    let reject = |value: &Value| {
        Err(mismatch(
            value,
            &format!("ReleaseSeries.releaseSeries.{name}"),
            "int32",
        ))
    };
    match fields::field(item, &[name]) {
        None | Some(Value::Null) => Ok(0),
        Some(value @ Value::Number(number)) => integer(number).map_or_else(|| reject(value), Ok),
        Some(other) => reject(other),
    }
}

/// A whole number of 32 bits; `1.0` is one.
fn integer(number: &Number) -> Option<i32> {
    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
    i32::try_from(
        number
            .as_i64()
            .or_else(|| format!("{float}").parse().ok())?,
    )
    .ok()
}

fn mismatch(value: &Value, field: &str, kind: &str) -> Rejection {
    let found = match value {
        Value::Number(number) => format!("number {number}"),
        other => go::json_kind(other).to_owned(),
    };
    Rejection::new(format!(
        "json: cannot unmarshal {found} into Go struct field {field} of type {kind}"
    ))
}

impl Metadata {
    pub(super) fn check(&self, label: &str) -> Result<(), Rejection> {
        let step = "invalid provider metadata";
        if self.api_version != METADATA_API_VERSION {
            let found = go::quote(&self.api_version);
            let message = format!(
                "unexpected apiVersion {found} for provider {label} (expected \"{METADATA_API_VERSION}\")"
            );
            return Err(Rejection::new(message).within(step));
        }
        if self.series.is_empty() {
            return Err(Rejection::new(format!(
                "releaseSeries is empty in {METADATA_FILE} for provider {label}"
            ))
            .within(step));
        }
        Ok(())
    }

    /// The first series of a version.
    pub(super) fn series_of(&self, version: &Version) -> Option<&Series> {
        self.series.iter().find(|series| series.is_of(version))
    }

    /// The newest series of a contract.
    pub(super) fn series_of_contract(&self, contract: &str) -> Option<&Series> {
        // Of equal ones the first.
        let newest = |best: Option<&'_ Series>, one: &Series| {
            best.is_none_or(|best| (one.major, one.minor) > (best.major, best.minor))
        };
        self.series
            .iter()
            .filter(|one| one.contract == contract)
            .fold(
                None,
                |best, one| if newest(best, one) { Some(one) } else { best },
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Result<Vec<(i32, i32, String)>, String> {
        let metadata = decode(text.as_bytes(), &Budget::default())
            .map_err(|rejection| rejection.message().to_owned())?;
        metadata
            .check("infrastructure-foo")
            .map_err(|rejection| rejection.message().to_owned())?;
        Ok(metadata
            .series
            .into_iter()
            .map(|s| (s.major, s.minor, s.contract))
            .collect())
    }

    const HEAD: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\n";

    #[test]
    fn what_clusterctl_accepts() {
        let series = "releaseSeries: [{major: 1, minor: 2.0, contract: v1beta2}, {contract: x}]\n";
        let expected = Ok(vec![(1, 2, "v1beta2".to_owned()), (0, 0, "x".to_owned())]);
        assert_eq!(
            decoded(&format!("{HEAD}kind: Metadata\n{series}")),
            expected
        );
        assert_eq!(
            decoded(&format!(
                "---\n{HEAD}{series}extra: 1\n---\nignored: true\n"
            )),
            expected,
            "no kind, a second document"
        );
    }

    #[test]
    fn what_clusterctl_rejects() {
        let missing = "invalid provider metadata: unexpected apiVersion \"\" for provider infrastructure-foo (expected \
                       \"clusterctl.cluster.x-k8s.io/v1alpha3\")";
        let empty = "invalid provider metadata: releaseSeries is empty in metadata.yaml for provider infrastructure-foo";
        let field = |found: &str| {
            format!(
                "json: cannot unmarshal {found} into Go struct field ReleaseSeries.releaseSeries.major of type int32"
            )
        };
        for (text, message) in [
            (String::new(), missing.to_owned()),
            ("kind: Metadata\n".to_owned(), missing.to_owned()),
            (
                format!("{HEAD}kind: Metadata\nreleaseseries: [{{major: 1}}]\n"),
                empty.to_owned(),
            ),
            (
                format!("{HEAD}kind: Provider\n"),
                "converting (v1alpha3.Provider) to (v1alpha3.Metadata): unknown conversion"
                    .to_owned(),
            ),
            (
                format!("{HEAD}releaseSeries: [{{major: '0'}}]\n"),
                field("string"),
            ),
            (
                format!("{HEAD}releaseSeries: [{{major: 0.5}}]\n"),
                field("number 0.5"),
            ),
            (
                format!("{HEAD}releaseSeries: [{{major: 4294967296}}]\n"),
                field("number 4294967296"),
            ),
        ] {
            assert_eq!(decoded(&text), Err(message), "{text}");
        }
        let foreign = decoded("apiVersion: foo/v1\nkind: Metadata\n").unwrap_err();
        assert!(
            foreign.starts_with(
                "no kind \"Metadata\" is registered for version \"foo/v1\" in scheme "
            ),
            "{foreign}"
        );
    }
}
