//! Taints that no node can have: a kubelet does not start with them, and of the nodes of a control
//! plane, where kubeadm sets them, the API server rejects them
//! (`k8s.io/kubernetes/pkg/util/taints`, `ParseTaints`; `pkg/apis/core/validation`,
//! `validateNodeTaints`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::Subject;
use super::arguments::{Argument, Component, arguments, first_told, is_filled_in_later};
use windlass_objects::fields;
use windlass_schema::name::{label_key_errors, label_value_errors};
use windlass_source::diag::{Diagnostic, FieldPath, Place, Quoted, rules};
use windlass_source::nearest::misspelt;

rules! {
    /// the key, value or effect of a node taint is invalid
    pub(crate) TAINT_MALFORMED = error("node-taint-malformed");
    /// a node has the same taint twice
    pub(crate) TAINT_REPEATED = error("node-taint-repeated");
}

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

pub(super) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let arguments = arguments(subject.spec, &subject.spec_path);
    let lists = arguments.iter().filter(|argument| {
        argument.component == Component::Kubelet && argument.flag() == "register-with-taints"
    });
    let of_runs = ["initConfiguration", "joinConfiguration"]
        .into_iter()
        .flat_map(|run| of_fields(subject, run));
    of_runs
        .chain(lists.flat_map(|argument| of_argument(subject, argument)))
        .collect()
}

/// The taints of a run of kubeadm. What the schema rejects of them is not said again.
fn of_fields(subject: &Subject<'_>, run: &str) -> Vec<Diagnostic> {
    let steps = [run, "nodeRegistration", "taints"];
    let list = steps
        .iter()
        .fold(subject.spec_path.clone(), |path, step| path.field(*step));
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    for (index, taint) in fields::field(subject.spec, &steps)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let path = list.index(index);
        let text = |name: &str| taint.get(name).and_then(Value::as_str);
        for (field, judge) in [
            ("key", key_fault as fn(&str) -> Option<String>),
            ("value", value_fault),
            ("effect", effect_fault),
        ] {
            let at = path.field(field);
            found.extend(
                text(field)
                    .and_then(judge)
                    .map(|fault| malformed(&at, &fault, subject.place(&at))),
            );
        }
        if let (Some(key), Some(effect)) = (text("key"), text("effect")) {
            found.extend(
                (!seen.insert((key, effect)))
                    .then(|| repeated(&path, key, effect, subject.place(&path))),
            );
        }
    }
    found
}

/// The taints of an argument: `key=value:effect`, with commas between them.
fn of_argument(subject: &Subject<'_>, argument: &Argument<'_>) -> Vec<Diagnostic> {
    let (path, mut seen) = (&argument.value_path, BTreeSet::new());
    if argument.value.is_empty() || is_filled_in_later(argument.value) {
        return Vec::new();
    }
    let place = subject.place(path);
    let one = |text| match parse(text) {
        Err(fault) => Some(malformed(
            path,
            &format!(
                "`{text}`: {fault}",
                text = Quoted(text),
                fault = Quoted(fault)
            ),
            place.clone(),
        )),
        Ok(Some((key, effect))) => {
            (!seen.insert((key, effect))).then(|| repeated(path, key, effect, place.clone()))
        }
        Ok(None) => None,
    };
    first_told(argument.value.split(',').filter_map(one))
}

/// The key and the effect of a taint that is set; `None` of one that is taken away (`key:effect-`),
/// which no new node has.
fn parse(text: &str) -> Result<Option<(&str, &str)>, String> {
    let (text, is_set) = text
        .strip_suffix('-')
        .map_or((text, true), |text| (text, false));
    let parts: Vec<&str> = text.split(':').collect();
    let (named, effect) = match parts[..] {
        [named] if !is_set => (named, None),
        [named, effect] => (named, Some(effect)),
        [_] => return Err("it has no effect: write `key=value:effect`".to_owned()),
        _ => return Err("it has more than one `:`".to_owned()),
    };
    // Without an effect all of it is the key.
    let (key, value) = effect
        .and_then(|_| named.split_once('='))
        .unwrap_or((named, ""));
    let fault = key_fault(key)
        .or_else(|| value_fault(value))
        .or_else(|| effect_fault(effect?));
    match fault {
        Some(fault) => Err(fault),
        None => Ok(effect.filter(|_| is_set).map(|effect| (key, effect))),
    }
}

fn key_fault(key: &str) -> Option<String> {
    fault_of("key", key, &label_key_errors(key))
}

fn value_fault(value: &str) -> Option<String> {
    fault_of("value", value, &label_value_errors(value))
}

fn fault_of(what: &str, text: &str, errors: &[String]) -> Option<String> {
    (!errors.is_empty()).then(|| {
        format!(
            "no taint has the {what} `{text}`: {}",
            errors.join("; "),
            text = Quoted(text)
        )
    })
}

fn effect_fault(effect: &str) -> Option<String> {
    let near = || {
        misspelt(effect, EFFECTS)
            .map(|near| format!("; did you mean {near}?"))
            .unwrap_or_default()
    };
    (!EFFECTS.contains(&effect)).then(|| {
        format!(
            "no taint has the effect `{effect}`{}",
            near(),
            effect = Quoted(effect)
        )
    })
}

fn malformed(path: &FieldPath, fault: &str, place: Place) -> Diagnostic {
    let finding = Diagnostic::of(
        &TAINT_MALFORMED,
        format!("{path}: {fault}", fault = Quoted(fault)),
    )
    .at(place);
    finding.help(format!(
        "write a key and a value as labels have them, and one of {}",
        EFFECTS.join(", ")
    ))
}

fn repeated(path: &FieldPath, key: &str, effect: &str, place: Place) -> Diagnostic {
    let message = format!(
        "{path} gives the node the taint `{key}` with the effect {effect} a second time, which Kubernetes rejects",
        key = Quoted(key)
    );
    Diagnostic::of(&TAINT_REPEATED, message)
        .at(place)
        .help("keep one of the two, whatever their values")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `TestParseTaints` and `TestRegisterWithTaints` of Kubernetes.
    #[test]
    fn taints_are_read_as_the_kubelet_does() {
        for good in [
            "foo=abc_1:NoSchedule",
            "foo:NoExecute",
            "example.com/a=:PreferNoSchedule",
        ] {
            assert!(matches!(parse(good), Ok(Some(_))), "{good}");
        }
        for taken_away in ["foo-", "foo:NoSchedule-", "foo=abc:NoSchedule-"] {
            assert_eq!(parse(taken_away), Ok(None), "{taken_away}");
        }
        for bad in [
            "",
            "foo",
            "foo=abc",
            "foo=abc:invalid_effect",
            "foo=abc:NoSchedule:NoSchedule",
            "foo=ab^c:NoSchedule",
            "foo:",
            "=abc:NoSchedule",
            "foo=a=b:NoSchedule",
            "a b:NoSchedule",
            "foo=abc-",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
