//! Points and lengths of time as Kubernetes writes them.

use std::borrow::Cow;
use std::fmt;

use k8s_openapi::jiff::Span;
use k8s_openapi::jiff::civil::DateTime;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use windlass_go_text::{duration, time};

/// A point in time to the second, RFC 3339 in UTC (Kubernetes `metav1.Time`, which drops fractions
/// when it writes). All of year 9999 is included: people write its end for "never".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(DateTime);

impl Timestamp {
    const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

    /// Whether it is the zero time of Go, which counts as not set.
    pub fn is_zero(self) -> bool {
        self.as_second() == -62_135_596_800
    }

    /// Seconds since 1970.
    pub fn as_second(self) -> i64 {
        self.0.duration_since(Self::EPOCH).as_secs()
    }

    /// So many seconds later, within the years that RFC 3339 can write.
    pub fn plus_seconds(self, seconds: i64) -> Self {
        let last = Timestamp(DateTime::constant(9999, 12, 31, 23, 59, 59, 0));
        Span::new()
            .try_seconds(seconds)
            .ok()
            .and_then(|span| self.0.checked_add(span).ok())
            .map_or(last, Timestamp)
    }

    /// The second in which a moment lies, counted since 1970.
    pub fn of_second(second: i64) -> Self {
        Timestamp(Self::EPOCH).plus_seconds(second)
    }

    /// Reads RFC 3339 with as many digits of a fraction as there are; the fraction is dropped.
    /// `None` also where UTC is in no year from -9999 to 9999.
    pub fn parse(text: &str) -> Option<Self> {
        let utc = time::rfc3339(text).ok()?.utc()?;
        utc.with().subsec_nanosecond(0).build().ok().map(Timestamp)
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Timestamp(Self::EPOCH)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0.strftime("%Y-%m-%dT%H:%M:%SZ"))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Timestamp::parse(&text).ok_or_else(|| de::Error::custom(format!("invalid time {text:?}")))
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

const NANOSECONDS: i64 = 1_000_000_000;

/// A length of time in the notation of Go: `1h2m3.5s`, `300ms`, `-2m0s` (Kubernetes
/// `metav1.Duration`; Go `time.Duration`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoDuration {
    nanoseconds: i64,
}

impl GoDuration {
    pub(crate) fn from_nanoseconds(nanoseconds: i64) -> Self {
        GoDuration { nanoseconds }
    }

    /// Converts whole seconds, the unit of v1beta2 fields such as `ttlSeconds`.
    pub fn from_seconds(seconds: i32) -> Self {
        GoDuration {
            nanoseconds: i64::from(seconds) * NANOSECONDS,
        }
    }

    /// The length in nanoseconds.
    pub fn as_nanoseconds(self) -> i64 {
        self.nanoseconds
    }

    /// Whole seconds, truncated towards zero and kept within an `int32`, as Cluster API converts
    /// durations.
    pub(crate) fn whole_seconds(self) -> i32 {
        let seconds = self.nanoseconds / NANOSECONDS;
        seconds.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }

    /// Reads what Go's `time.ParseDuration` reads: a sign, then numbers with units `ns us µs ms s m
    /// h`, or `0`.
    ///
    /// # Errors
    /// The message of Go.
    pub fn parse(text: &str) -> Result<Self, String> {
        duration::parse(text).map(Self::from_nanoseconds)
    }
}

impl fmt::Display for GoDuration {
    /// Go's `Duration.String()`: `1h0m0s`, `1.5s`, `300ms`, `0s`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&duration::text(self.nanoseconds))
    }
}

impl Serialize for GoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        GoDuration::parse(&text).map_err(de::Error::custom)
    }
}

impl JsonSchema for GoDuration {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "GoDuration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cluster API, `ConvertToSeconds`: towards zero, at most an int32.
    #[test]
    fn whole_seconds_are_truncated_and_capped() {
        let check = |text: &str, expected: i32| {
            assert_eq!(
                GoDuration::parse(text).unwrap().whole_seconds(),
                expected,
                "{text}"
            )
        };
        check("20m30.5s", 1230);
        check("-1.9s", -1);
        check("2000000h", i32::MAX);
        check("999ms", 0);
    }

    #[test]
    fn timestamps_are_utc_to_the_second() {
        let check = |text: &str, expected: &str| {
            let time: Timestamp = serde_json::from_value(text.into()).unwrap();
            assert_eq!(serde_json::to_value(time).unwrap(), expected);
        };
        check("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z");
        check("2026-01-02T03:04:05.9+02:00", "2026-01-02T01:04:05Z");
        check("1960-01-01T00:00:00.5Z", "1960-01-01T00:00:00Z");
        check("2026-01-02T03:04:05.123456789123Z", "2026-01-02T03:04:05Z");
        check("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z");
        assert_eq!(
            Timestamp::parse("1970-01-02T00:00:00+01:00")
                .unwrap()
                .as_second(),
            82_800
        );
    }

    #[test]
    fn what_is_no_time_is_rejected() {
        for text in [
            "",
            "2026-01-02",
            "2026-01-02T03:04:05",
            "2026-01-02T03:04:05.Z",
            "2026-01-02T03:04:05+1:00",
            "2026-01-02T03:04:05Zt",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
        assert_eq!(Timestamp::parse("9999-12-31T23:59:59-01:00"), None);
        assert_eq!(Timestamp::parse("2026-01-02T03:04:0éZ"), None);
    }
}
