//! The names, their signatures and what they do.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::arguments::{Arguments, any, float, int64, list, text, texts, truth};
use super::{
    Added, cases, decimal, dicts, encoding, json, lists, numbers, patterns, semver, strings, urls,
    values,
};
use crate::functions::{CallFault, Called, rejected};
use crate::held::Held;
use windlass_go_text::path::clean;
use windlass_go_text::value::Value;

/// The function of that name.
pub(in super::super) fn find(name: &str) -> Option<&'static Added> {
    static TABLE: LazyLock<BTreeMap<&str, Added>> = LazyLock::new(|| {
        let call = CALLS
            .iter()
            .map(|(names, signature, call)| (*names, *signature, *call));
        let random = RANDOM
            .iter()
            .map(|(names, signature)| (*names, *signature, random as Call));
        let timed = TIMED
            .iter()
            .map(|(names, signature)| (*names, *signature, timed as Call));
        let in_place = IN_PLACE
            .iter()
            .map(|(names, signature)| (*names, *signature, in_place as Call));
        let secret = [("derivePassword", "issss", secret as Call)];
        let all = call
            .chain(random)
            .chain(timed)
            .chain(in_place)
            .chain(secret);
        all.flat_map(|(names, signature, call)| {
            names.split(' ').map(move |name| {
                (
                    name,
                    Added {
                        signature,
                        call,
                        is_deep: is_deep(name),
                    },
                )
            })
        })
        .collect()
    });
    TABLE.get(name)
}

fn is_deep(name: &str) -> bool {
    matches!(
        name,
        "deepEqual" | "uniq" | "mustUniq" | "without" | "mustWithout" | "has" | "mustHas"
    )
}

type Call = fn(&Arguments<'_>) -> Called<Held>;

fn random(_: &Arguments<'_>) -> Called<Held> {
    Err(CallFault::Unsupported(
        "is random: each time that Cluster API renders the patch, it gives another value, and machines would be replaced",
    ))
}

fn timed(_: &Arguments<'_>) -> Called<Held> {
    Err(CallFault::Unsupported(
        "works with moments in time, which is not followed here",
    ))
}

fn in_place(_: &Arguments<'_>) -> Called<Held> {
    Err(CallFault::Unsupported(
        "changes a map in place, which is not followed here: make the map with `dict`, `pick` or `omit`",
    ))
}

fn secret(_: &Arguments<'_>) -> Called<Held> {
    Err(CallFault::Unsupported(
        "derives a password, which is not supported here: reference a Secret instead",
    ))
}

/// What gives another value each time.
const RANDOM: [(&str, &str); 5] = [
    ("randInt", "ii"),
    ("shuffle bcrypt genPrivateKey", "s"),
    ("htpasswd encryptAES", "ss"),
    (
        "genCA genCAWithKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey",
        "a*",
    ),
    ("buildCustomCert", "ss"),
];

/// What asks the clock, or has a moment as its value.
const TIMED: [(&str, &str); 4] = [
    ("ago unixEpoch", "a"),
    ("toDate mustToDate", "ss"),
    ("must_date_modify mustDateModify", "sa"),
    ("decryptAES", "ss"),
];

/// What changes its first argument.
const IN_PLACE: [(&str, &str); 3] = [
    ("set", "msa"),
    ("unset", "ms"),
    ("merge mustMerge mergeOverwrite mustMergeOverwrite", "mm*"),
];

const CALLS: &[(&str, &str, Call)] = &[
    ("hello", "", |_| text("Hello!")),
    ("fail", "s", |a| rejected(a.text(0))),
    // texts
    ("abbrev", "is", strings::abbrev),
    ("abbrevboth", "iis", strings::abbrev_both),
    ("trunc", "is", strings::trunc),
    ("trim", "s", |a| text(strings::trim_space(&a.text(0)))),
    ("upper", "s", |a| text(cases::upper(&a.text(0)))),
    ("lower", "s", |a| text(cases::lower(&a.text(0)))),
    ("title", "s", |a| text(cases::title(&a.text(0)))),
    ("untitle", "s", |a| text(cases::untitle(&a.text(0)))),
    ("substr", "iis", strings::substr),
    ("repeat", "is", strings::repeat),
    ("trimall trimAll", "ss", strings::trim_all),
    ("trimSuffix", "ss", |a| {
        text(a.bytes(1).strip_suffix(a.bytes(0)).unwrap_or(a.bytes(1)))
    }),
    ("trimPrefix", "ss", |a| {
        text(a.bytes(1).strip_prefix(a.bytes(0)).unwrap_or(a.bytes(1)))
    }),
    ("nospace", "s", |a| {
        text(a.text(0).replace(strings::is_space, ""))
    }),
    ("initials", "s", |a| text(strings::initials(&a.text(0)))),
    ("swapcase", "s", |a| text(cases::swap(&a.text(0)))),
    ("snakecase", "s", |a| text(cases::joined(&a.text(0), '_'))),
    ("kebabcase", "s", |a| text(cases::joined(&a.text(0), '-'))),
    ("camelcase", "s", |a| text(cases::pascal(&a.text(0)))),
    ("wrap", "is", |a| {
        strings::wrap(a.bytes(1), a.int(0), b"\n", false)
    }),
    ("wrapWith", "iss", |a| {
        strings::wrap(a.bytes(2), a.int(0), a.bytes(1), true)
    }),
    ("contains", "ss", strings::contains),
    ("hasPrefix", "ss", |a| {
        truth(a.bytes(1).starts_with(a.bytes(0)))
    }),
    ("hasSuffix", "ss", |a| {
        truth(a.bytes(1).ends_with(a.bytes(0)))
    }),
    ("quote", "a*", strings::quoted),
    ("squote", "a*", strings::single_quoted),
    ("cat", "a*", strings::cat),
    ("indent", "is", |a| strings::indent(a, "")),
    ("nindent", "is", |a| strings::indent(a, "\n")),
    ("replace", "sss", strings::replace),
    ("plural", "ssi", |a| {
        text(a.bytes(if a.int(2) == 1 { 0 } else { 1 }))
    }),
    ("split", "ss", |a| {
        strings::split_map(a.bytes(1), a.bytes(0), -1)
    }),
    ("splitn", "sis", |a| {
        strings::split_map(a.bytes(2), a.bytes(0), a.int(1))
    }),
    ("splitList", "ss", |a| {
        texts(strings::split(a.bytes(1), a.bytes(0), -1))
    }),
    ("join", "sa", strings::join),
    ("sortAlpha", "a", strings::sort_alpha),
    ("toString", "a", |a| text(values::shown(a.value(0))?)),
    ("toStrings", "a", |a| texts(values::texts(a.value(0))?)),
    // encodings
    ("b64enc", "s", encoding::base64),
    ("b64dec", "s", encoding::base64_decoded),
    ("b32enc", "s", |a| text(encoding::base32(a.bytes(0)))),
    ("b32dec", "s", encoding::base32_decoded),
    ("sha1sum", "s", |a| text(encoding::sha1_sum(a.bytes(0)))),
    ("sha256sum", "s", |a| text(encoding::sha256_sum(a.bytes(0)))),
    ("sha512sum", "s", |a| text(encoding::sha512_sum(a.bytes(0)))),
    ("adler32sum", "s", |a| {
        text(encoding::adler32(a.bytes(0)).to_string())
    }),
    ("fromJson", "s", |a| {
        json::read(a).or_else(|_| any(Value::Nil))
    }),
    ("mustFromJson", "s", json::read),
    ("toJson mustToJson", "a", |a| {
        json::written(a, json::Style::COMPACT)
    }),
    ("toPrettyJson mustToPrettyJson", "a", |a| {
        json::written(a, json::Style::PRETTY)
    }),
    ("toRawJson mustToRawJson", "a", |a| {
        json::written(a, json::Style::RAW)
    }),
    // numbers
    ("atoi", "s", numbers::atoi),
    ("int", "a", |a| {
        Ok(Held::plain(Value::Int(numbers::to_int(a.value(0)))))
    }),
    ("int64", "a", |a| int64(numbers::to_int(a.value(0)))),
    ("float64", "a", |a| float(numbers::to_float(a.value(0)))),
    ("toDecimal", "a", numbers::octal),
    ("seq", "i*", numbers::seq),
    ("until", "i", |a| {
        numbers::until(0, a.int(0), if a.int(0) < 0 { -1 } else { 1 })
    }),
    ("untilStep", "iii", |a| {
        numbers::until(a.int(0), a.int(1), a.int(2))
    }),
    ("add1", "a", |a| {
        int64(numbers::to_int(a.value(0)).wrapping_add(1))
    }),
    ("add", "a*", |a| {
        int64(
            a.values()
                .fold(0, |sum, value| sum.wrapping_add(numbers::to_int(value))),
        )
    }),
    ("sub", "aa", |a| {
        int64(numbers::to_int(a.value(0)).wrapping_sub(numbers::to_int(a.value(1))))
    }),
    ("div", "aa", |a| numbers::divided(a, i64::wrapping_div)),
    ("mod", "aa", |a| numbers::divided(a, i64::wrapping_rem)),
    ("mul", "aa*", |a| {
        int64(a.values().fold(1, |product, value| {
            product.wrapping_mul(numbers::to_int(value))
        }))
    }),
    ("add1f", "a", |a| {
        decimal::compute(a.values().chain([&Value::Int(1)]), decimal::Decimal::add)
    }),
    ("addf", "a*", |a| {
        decimal::compute(
            [&Value::Int(0)].into_iter().chain(a.values()),
            decimal::Decimal::add,
        )
    }),
    ("subf", "aa*", |a| {
        decimal::compute(a.values(), decimal::Decimal::sub)
    }),
    ("mulf", "aa*", |a| {
        decimal::compute(a.values(), decimal::Decimal::mul)
    }),
    ("divf", "aa*", |a| {
        decimal::compute(a.values(), decimal::Decimal::div)
    }),
    ("max biggest", "aa*", |a| {
        int64(a.values().map(numbers::to_int).max().unwrap_or_default())
    }),
    ("min", "aa*", |a| {
        int64(a.values().map(numbers::to_int).min().unwrap_or_default())
    }),
    ("maxf", "aa*", |a| {
        float(
            a.values()
                .map(numbers::to_float)
                .fold(f64::NEG_INFINITY, f64::max),
        )
    }),
    ("minf", "aa*", |a| {
        float(
            a.values()
                .map(numbers::to_float)
                .fold(f64::INFINITY, f64::min),
        )
    }),
    ("ceil", "a", |a| float(numbers::to_float(a.value(0)).ceil())),
    ("floor", "a", |a| {
        float(numbers::to_float(a.value(0)).floor())
    }),
    ("round", "aif*", numbers::round),
    ("duration", "a", numbers::duration),
    ("durationRound", "a", numbers::duration_round),
    // any values
    ("default", "aa*", values::default),
    ("empty", "a", |a| truth(!a.value(0).truth())),
    ("coalesce", "a*", |a| {
        any(a
            .values()
            .find(|value| value.truth())
            .cloned()
            .unwrap_or(Value::Nil))
    }),
    ("all", "a*", |a| {
        truth(a.values().all(|value| value.truth()))
    }),
    ("any", "a*", |a| {
        truth(a.values().any(|value| value.truth()))
    }),
    ("ternary", "aab", values::ternary),
    ("deepCopy mustDeepCopy", "a", |a| any(a.value(0).clone())),
    ("deepEqual", "aa", |a| {
        truth(values::key(&a.0[0])? == values::key(&a.0[1])?)
    }),
    ("typeOf", "a", |a| text(values::type_of(&a.0[0]))),
    ("typeIs", "sa", |a| {
        truth(a.bytes(0) == values::type_of(&a.0[1]).as_bytes())
    }),
    ("typeIsLike", "sa", values::type_is_like),
    ("kindOf", "a", |a| text(values::kind_of(&a.0[0]))),
    ("kindIs", "sa", |a| {
        truth(a.bytes(0) == values::kind_of(&a.0[1]).as_bytes())
    }),
    // lists
    ("list tuple", "a*", |a| list(a.values().cloned())),
    ("append push mustAppend mustPush", "aa", lists::append),
    ("prepend mustPrepend", "aa", lists::prepend),
    ("first mustFirst", "a", |a| {
        lists::one(a, "find first", <[_]>::first)
    }),
    ("last mustLast", "a", |a| {
        lists::one(a, "find last", <[_]>::last)
    }),
    ("rest mustRest", "a", |a| {
        lists::some(a, "find rest", |items| &items[1..])
    }),
    ("initial mustInitial", "a", |a| {
        lists::some(a, "find initial", |items| &items[..items.len() - 1])
    }),
    ("reverse mustReverse", "a", lists::reverse),
    ("compact mustCompact", "a", lists::compact),
    ("uniq mustUniq", "a", lists::uniq),
    ("without mustWithout", "aa*", lists::without),
    ("has mustHas", "aa", lists::has),
    ("slice mustSlice", "aa*", lists::slice),
    ("concat", "a*", lists::concat),
    ("chunk mustChunk", "ia", lists::chunk),
    // maps
    ("dict", "a*", dicts::dict),
    ("get", "ms", dicts::get),
    ("hasKey", "ms", |a| {
        truth(a.map(0).contains_key(&*a.text(1)))
    }),
    ("pluck", "sm*", dicts::pluck),
    ("keys", "m*", dicts::keys),
    ("values", "m", |a| list(a.map(0).values().cloned())),
    ("pick", "ms*", |a| dicts::filtered(a, true)),
    ("omit", "ms*", |a| dicts::filtered(a, false)),
    ("dig", "a*", dicts::dig),
    // paths
    ("base osBase", "s", |a| text(urls::base(&a.text(0)))),
    ("dir osDir", "s", |a| text(urls::dir(&a.text(0)))),
    ("clean osClean", "s", |a| text(clean(&a.text(0)))),
    ("ext osExt", "s", |a| text(urls::ext(&a.text(0)))),
    ("isAbs osIsAbs", "s", |a| {
        truth(a.bytes(0).starts_with(b"/"))
    }),
    ("urlParse", "s", urls::parse),
    ("urlJoin", "m", urls::join),
    // versions
    ("semver", "s", semver::semver),
    ("semverCompare", "ss", semver::compare),
    // patterns
    ("regexMatch", "ss", |a| {
        patterns::matches(a).or_else(|fault| match fault {
            CallFault::TooLong => Err(fault),
            _ => truth(false),
        })
    }),
    ("mustRegexMatch", "ss", patterns::matches),
    ("regexFind mustRegexFind", "ss", patterns::find),
    ("regexFindAll mustRegexFindAll", "ssi", patterns::find_all),
    (
        "regexReplaceAll mustRegexReplaceAll",
        "sss",
        patterns::replace_all,
    ),
    (
        "regexReplaceAllLiteral mustRegexReplaceAllLiteral",
        "sss",
        patterns::replace_all_literally,
    ),
    ("regexSplit mustRegexSplit", "ssi", patterns::split),
    ("regexQuoteMeta", "s", |a| {
        text(patterns::quote_meta(a.bytes(0)))
    }),
];
