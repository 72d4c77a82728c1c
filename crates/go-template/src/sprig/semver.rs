//! Versions: Masterminds' `semver`, which sprig's `semver` and `semverCompare` use.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::arguments::{Arguments, truth};
use crate::functions::{Called, rejected};
use crate::held::Held;
use windlass_go_text::value::{Struct, Value};

const VERSION: &str = r"v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?(?:-([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?(?:\+([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?";
const WILD: &str = r"v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?";
const OPERATORS: &str = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^";

fn regex(source: String) -> Regex {
    Regex::new(&source).expect("internal error: the patterns are regular expressions")
}

/// A version; parts that are not written are 0.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    numbers: [u64; 3],
    pre: String,
    metadata: String,
}

impl Version {
    fn parse(text: &str) -> Result<Self, String> {
        static PATTERN: LazyLock<Regex> = LazyLock::new(|| regex(format!("^{VERSION}$")));
        let Some(found) = PATTERN.captures(text) else {
            return Err("invalid semantic version".to_owned());
        };
        let part = |index: usize| found.get(index).map_or("", |part| part.as_str());
        let mut numbers = [0; 3];
        for (at, number) in numbers.iter_mut().enumerate() {
            let digits = part(at + 1).trim_start_matches('.');
            let fault = || {
                format!(
                    "error parsing version segment: strconv.ParseUint: parsing \"{digits}\": value out of range"
                )
            };
            *number = if digits.is_empty() {
                0
            } else {
                digits.parse().map_err(|_| fault())?
            };
        }
        let is_padded = |part: &str| {
            part.len() > 1
                && part.starts_with('0')
                && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        if part(4).split('.').any(is_padded) {
            return Err("version segment starts with 0".to_owned());
        }
        Ok(Version {
            numbers,
            pre: part(4).to_owned(),
            metadata: part(5).to_owned(),
        })
    }

    fn text(&self) -> String {
        let [major, minor, patch] = self.numbers;
        let pre = if self.pre.is_empty() {
            String::new()
        } else {
            format!("-{}", self.pre)
        };
        let metadata = if self.metadata.is_empty() {
            String::new()
        } else {
            format!("+{}", self.metadata)
        };
        format!("{major}.{minor}.{patch}{pre}{metadata}")
    }

    fn compare(&self, other: &Version) -> Ordering {
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| compare_pre(&self.pre, &other.pre))
    }
}

fn compare_pre(one: &str, two: &str) -> Ordering {
    match (one.is_empty(), two.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let (mut ones, mut twos) = (one.split('.'), two.split('.'));
    loop {
        let order = match (ones.next(), twos.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(one), Some(two)) => match (one.parse::<u64>(), two.parse::<u64>()) {
                (Ok(one), Ok(two)) => one.cmp(&two),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => one.cmp(two),
            },
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// `>= 1.34`: the version with zeros for what is not written, and how many of its numbers are.
struct Constraint<'t> {
    operator: &'t str,
    version: Version,
    written: usize,
}

impl<'t> Constraint<'t> {
    fn parse(text: &'t str) -> Result<Self, String> {
        static PATTERN: LazyLock<Regex> =
            LazyLock::new(|| regex(format!(r"^\s*({OPERATORS})\s*({WILD})\s*$")));
        let Some(found) = PATTERN.captures(text) else {
            return Err(format!("improper constraint: {text}"));
        };
        let part = |index: usize| found.get(index).map_or("", |part| part.as_str());
        let is_open = |part: &str| matches!(part.trim_start_matches('.'), "" | "x" | "X" | "*");
        let written = (3..6).take_while(|index| !is_open(part(*index))).count();
        let version = match written {
            0 => format!("0.0.0{}", part(6)),
            1 => format!("{}.0.0{}", part(3), part(6)),
            2 => format!("{}{}.0{}", part(3), part(4), part(6)),
            _ => part(2).to_owned(),
        };
        let version = Version::parse(&version).map_err(|_| "constraint parser error".to_owned())?;
        Ok(Constraint {
            operator: found.get(1).map_or("", |part| part.as_str()),
            version,
            written,
        })
    }

    fn holds(&self, version: &Version, takes_pre: bool) -> bool {
        if !version.pre.is_empty() && !takes_pre {
            return false;
        }
        let order = version.compare(&self.version);
        let ([major, minor, patch], [of_major, of_minor, of_patch]) =
            (version.numbers, self.version.numbers);
        // The numbers from the first one on that are not written may be any.
        let is_open = self.written < 3;
        let (major_only, minor_only) = (self.written == 1, self.written == 2);
        match self.operator {
            ">" if is_open && major == of_major => {
                !major_only
                    && if minor_only {
                        minor > of_minor
                    } else {
                        order.is_gt()
                    }
            }
            ">" if is_open => major > of_major,
            ">" => order.is_gt(),
            "<" => order.is_lt(),
            ">=" | "=>" => order.is_ge(),
            "<=" | "=<" if is_open => {
                !(major > of_major || major == of_major && minor > of_minor && !major_only)
            }
            "<=" | "=<" => order.is_le(),
            "!=" if is_open && major != of_major => true,
            "!=" if is_open && minor != of_minor && !major_only => true,
            "!=" if major_only => false,
            "!=" if is_open && patch != of_patch && !minor_only => true,
            "!=" if minor_only => {
                (!version.pre.is_empty() || !self.version.pre.is_empty())
                    && version.pre != self.version.pre
            }
            "!=" => order.is_ne(),
            "^" => self.caret(version, order),
            "~" | "~>" => self.tilde(version, order),
            _ if is_open => self.tilde(version, order),
            _ => order.is_eq(),
        }
    }

    fn tilde(&self, version: &Version, order: Ordering) -> bool {
        let ([major, minor, _], of) = (version.numbers, self.version.numbers);
        let is_any = of == [0, 0, 0] && self.written != 1 && self.written != 2;
        order.is_ge() && (is_any || major == of[0] && (minor == of[1] || self.written == 1))
    }

    fn caret(&self, version: &Version, order: Ordering) -> bool {
        let ([major, minor, patch], of) = (version.numbers, self.version.numbers);
        if order.is_lt() {
            return false;
        }
        if of[0] > 0 || self.written == 1 {
            return major == of[0];
        }
        if major > 0 {
            return false;
        }
        if of[1] > 0 || self.written == 2 {
            return minor == of[1];
        }
        minor == 0 && patch == of[2]
    }
}

/// `1.2 - 1.4` as two comparisons.
fn without_ranges(text: &str) -> String {
    static PATTERN: LazyLock<Regex> =
        LazyLock::new(|| regex(format!(r"\s*({WILD})\s+-\s+({WILD})\s*")));
    PATTERN
        .replace_all(text, |found: &regex::Captures<'_>| {
            format!(">= {}, <= {} ", &found[1], &found[11])
        })
        .into_owned()
}

/// Whether any of the alternatives holds.
fn satisfies(constraint: &str, version: &Version) -> Result<bool, String> {
    static VALID: LazyLock<Regex> = LazyLock::new(|| {
        regex(format!(
            r"^(\s*({OPERATORS})\s*({WILD})\s*)((?:\s+|,\s*)({OPERATORS})\s*({WILD})\s*)*$"
        ))
    });
    static FIND: LazyLock<Regex> = LazyLock::new(|| regex(format!(r"({OPERATORS})\s*({WILD})")));
    let constraint = without_ranges(constraint);
    let mut holds = false;
    for alternative in constraint.split("||") {
        if !VALID.is_match(alternative) {
            return Err(format!("improper constraint: {alternative}"));
        }
        let parts: Vec<Constraint<'_>> = FIND
            .find_iter(alternative)
            .map(|part| Constraint::parse(part.as_str()))
            .collect::<Result<_, _>>()?;
        let takes_pre = parts.iter().any(|part| !part.version.pre.is_empty());
        holds |= parts.iter().all(|part| part.holds(version, takes_pre));
    }
    Ok(holds)
}

pub(super) fn compare(arguments: &Arguments<'_>) -> Called<Held> {
    let (constraint, version) = (arguments.text(0), arguments.text(1));
    // The constraint is read first, so its fault is reported first.
    let any = Version {
        numbers: [0; 3],
        pre: String::new(),
        metadata: String::new(),
    };
    if let Err(fault) = satisfies(&constraint, &any) {
        return rejected(fault);
    }
    match Version::parse(&version).and_then(|version| satisfies(&constraint, &version)) {
        Ok(holds) => truth(holds),
        Err(fault) => rejected(fault),
    }
}

pub(super) fn semver(arguments: &Arguments<'_>) -> Called<Held> {
    let original = arguments.text(0);
    let version = match Version::parse(&original) {
        Ok(version) => version,
        Err(fault) => return rejected(fault),
    };
    let number = |at: usize| Value::Int(i64::try_from(version.numbers[at]).unwrap_or(i64::MAX));
    let fields = BTreeMap::from([
        ("Major", number(0)),
        ("Minor", number(1)),
        ("Patch", number(2)),
        ("Prerelease", Value::text(&version.pre)),
        ("Metadata", Value::text(&version.metadata)),
        ("Original", Value::text(original.as_bytes())),
        ("String", Value::text(version.text())),
    ]);
    Ok(Held::plain(Value::Struct(Arc::new(Struct {
        type_name: "*semver.Version",
        text: version.text(),
        fields,
        methods: METHODS,
    }))))
}

/// Methods that take or give other versions.
const METHODS: &[&str] = &[
    "Compare",
    "Equal",
    "GreaterThan",
    "GreaterThanEqual",
    "IncMajor",
    "IncMinor",
    "IncPatch",
    "LessThan",
    "LessThanEqual",
];
