//! `why`: where what a node has comes from, and why it has not what somebody expected.

mod text;

pub use text::text;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::render::{Machine, PlannedConfig, Rendering};
use crate::provenance::{Kind, Step, Subject, Thing, Wanted, WantedError, absent, steps, things};
use windlass_bootstrap::render::{Origins, Request};
use windlass_capi::api::secret::Sensitive;
use windlass_objects::Pool;
use windlass_objects::secrets::Words;
use windlass_objects::secrets::redacted;
use windlass_source::diag::{Diagnostic, Place, Report, Setting, rules};
use windlass_source::nearest::nearest;

rules! {
    /// no machine of the input contains the requested item
    pub(crate) NOT_THERE = error("why-not-there");
    /// the list is truncated because more items match than are shown
    pub(crate) CUT = info("why-cut");
}

/// How many things of a machine are reported.
const MOST_TOLD: usize = 100;

/// What is asked, and how it is reported.
pub struct Asking<'a> {
    wanted: Wanted,
    /// As it was written.
    what: &'a str,
    /// Whether values are told that may be secret.
    show_secrets: bool,
    /// How a setting is written where settings are given.
    flag: fn(Setting) -> String,
    /// What no text may hold.
    words: Words,
    origins: &'a Origins,
}

/// Why nothing can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoQuestion {
    /// What is wrong with it.
    pub message: String,
    /// What to write.
    pub help: &'static str,
}

impl<'a> Asking<'a> {
    /// Reads what is asked for. `words`: the secrets of the input; `origins`: the templates that it
    /// was.
    ///
    /// # Errors
    /// When it names nothing.
    pub fn new(
        what: &'a str,
        words: Words,
        origins: &'a Origins,
        show_secrets: bool,
        flag: fn(Setting) -> String,
    ) -> Result<Self, NoQuestion> {
        let help = "ask for a path, such as `/etc/motd`, or for KIND:NAME, such as `user:ops`, `label:KEY`, `command:TEXT`, `argument:NAME`";
        let wanted = Wanted::parse(what).map_err(|error| match error {
            WantedError::Nothing => NoQuestion {
                message: "nothing is requested".to_owned(),
                help,
            },
            WantedError::Nameless(kind) => NoQuestion {
                message: format!("`{what}` names no {}", kind.as_str()),
                help,
            },
        })?;
        Ok(Asking {
            wanted,
            what,
            show_secrets,
            flag,
            words,
            origins,
        })
    }

    /// A command or a value without secrets.
    fn clean(&self, text: &str) -> String {
        if self.show_secrets {
            text.to_owned()
        } else {
            self.words.removed_from(&redacted(text))
        }
    }

    /// A value without secrets; of what its name makes a secret nothing is reported.
    fn clean_value(&self, name: &str, value: &Sensitive<String>) -> String {
        let leaf = name.rsplit('.').next().unwrap_or(name);
        let leaf = leaf.split('[').next().unwrap_or(leaf);
        let clean = self.clean(&format!("{leaf}: {}", value.expose()));
        clean
            .strip_prefix(leaf)
            .and_then(|rest| rest.strip_prefix(':'))
            .unwrap_or(&clean)
            .trim_start()
            .to_owned()
    }
}

/// What came of a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The machines of the input.
    pub machines: Vec<MachineAnswer>,
    /// What is wrong.
    pub report: Report,
}

/// A machine, and what of it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineAnswer {
    /// `Kind/name` of the config.
    pub object: String,
    /// The name by which the machine is selected.
    pub name: String,
    /// `init`, `control-plane-join`, `worker-join` or `machinepool`.
    pub role: &'static str,
    /// Whether its data could be rendered; if not the findings say why.
    pub rendered: bool,
    /// What it has of what was asked for.
    pub things: Vec<ThingAnswer>,
    /// Where it has none: why, what is most likely meant first.
    pub absent: Vec<StepAnswer>,
}

/// Something that a node has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThingAnswer {
    /// `file`, `directory`, `command`, `user`, `label`, `taint`, `argument` or `field`.
    pub kind: &'static str,
    /// A path, a command, a name, a key.
    pub name: String,
    /// The value; of a file permissions, owner and size; of a command the part of the boot.
    pub value: String,
    /// The way back to what somebody wrote, the nearest first.
    pub steps: Vec<StepAnswer>,
}

/// A step of the way back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepAnswer {
    /// What it is. Of the way back: `field`, `owner` (whose machines are made of it), `template`,
    /// `patch`, `condition`, `replaced` (what had stood there), `variable`, `secret`,
    /// `configMap`, `cluster`, `version`, `setting`, `placeholder`, `external` (an external patch),
    /// `provider`. Of what is not there: `was` (a value that was overwritten), `selector`,
    /// `disabled`, `format`, `role`, `label`, `renamed`, `no-effect`, `section` (a
    /// section that makes nothing of its own), `command` (one that names it), `known` (a file that
    /// others make).
    pub kind: &'static str,
    /// What there is to say.
    pub text: String,
    /// What stands there.
    pub value: Option<String>,
    /// The file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// `Kind/name` of the object.
    pub object: Option<String>,
    /// The field.
    pub path: Option<String>,
}

/// Answers for all machines.
pub fn run(
    pool: &Pool,
    rendering: &Rendering<'_>,
    request: &Request,
    asking: &Asking<'_>,
) -> Answer {
    let mut answer = Answer::default();
    let mut names = BTreeSet::new();
    for machine in &rendering.machines {
        let told = of_machine(pool, machine, request, asking, &mut names);
        answer.report.extend(cut(machine, &told, asking));
        answer.machines.push(told);
    }
    answer
        .machines
        .iter_mut()
        .for_each(|machine| machine.things.truncate(MOST_TOLD));
    answer
        .report
        .extend(not_there(&answer.machines, asking, &names));
    answer
}

/// Names of things of the kinds that were asked for.
type Names = BTreeSet<(Kind, String)>;

fn of_machine(
    pool: &Pool,
    machine: &Machine<'_>,
    request: &Request,
    asking: &Asking<'_>,
    names: &mut Names,
) -> MachineAnswer {
    let mut told = MachineAnswer {
        object: machine.target.config.title(),
        name: machine.name(),
        role: machine.role.as_str(),
        rendered: machine.rendered.is_some(),
        things: Vec::new(),
        absent: Vec::new(),
    };
    let Some(rendered) = &machine.rendered else {
        return told;
    };
    let planned = machine.planned.map(PlannedConfig::provenance);
    let subject = Subject::of(
        pool,
        machine.target,
        request,
        rendered,
        &machine.filled,
        planned,
        asking.flag,
    );
    let all = things(&subject);
    let meant: Vec<&Thing> = all
        .iter()
        .filter(|thing| asking.wanted.means(thing))
        .collect();
    // One more than is reported, so that the cut is seen.
    told.things = meant
        .iter()
        .take(MOST_TOLD + 1)
        .map(|thing| told_of(&subject, thing, asking))
        .collect();
    if meant.is_empty() {
        told.absent = absent(&subject, &asking.wanted, &all)
            .into_iter()
            .map(|step| step_of(step, asking))
            .collect();
        let near = all
            .into_iter()
            .filter(|thing| asking.wanted.may_be(thing.kind) && thing.kind != Kind::Command);
        names.extend(near.map(|thing| (thing.kind, thing.name)));
    }
    told
}

fn told_of(subject: &Subject<'_>, thing: &Thing, asking: &Asking<'_>) -> ThingAnswer {
    ThingAnswer {
        kind: thing.kind.as_str(),
        name: match thing.kind {
            Kind::Command => asking.clean(&thing.name),
            _ => thing.name.clone(),
        },
        value: match thing.kind {
            Kind::Command => thing.value.expose().clone(),
            _ => asking.clean_value(&thing.name, &thing.value),
        },
        steps: steps(subject, &thing.source)
            .into_iter()
            .map(|step| step_of(step, asking))
            .collect(),
    }
}

fn step_of(step: Step, asking: &Asking<'_>) -> StepAnswer {
    let Step {
        kind,
        text,
        value,
        place,
    } = step;
    let Place {
        file,
        object,
        path,
        span,
        ..
    } = asking.origins.in_template(place);
    StepAnswer {
        kind,
        text,
        value: value.map(|(name, value)| asking.clean_value(&name, &value)),
        file: file.map(|file| file.to_string()),
        line: span.map(|span| span.start.line),
        column: span.map(|span| span.start.column),
        object,
        path: (!path.is_root()).then(|| path.to_string()),
    }
}

fn cut(machine: &Machine<'_>, told: &MachineAnswer, asking: &Asking<'_>) -> Option<Diagnostic> {
    (told.things.len() > MOST_TOLD).then(|| {
        let message = format!(
            "{} {} has more than {MOST_TOLD} things that `{}` means",
            told.name, told.role, asking.what
        );
        let place = machine.target.config.place(&machine.target.spec_path());
        Diagnostic::of(&CUT, message)
            .at(place)
            .help("ask for one of them by its whole name")
    })
}

/// The finding for something that no machine has.
fn not_there(machines: &[MachineAnswer], asking: &Asking<'_>, names: &Names) -> Option<Diagnostic> {
    let rendered = machines.iter().filter(|machine| machine.rendered).count();
    if rendered == 0 || machines.iter().any(|machine| !machine.things.is_empty()) {
        return None;
    }
    let what = match asking.wanted.only() {
        Some(kind) => format!("{} `{}`", kind.as_str(), asking.wanted.text),
        None => format!("`{}`", asking.wanted.text),
    };
    let those = if rendered == 1 {
        "the machine of the input has".to_owned()
    } else {
        format!("none of the {rendered} machines of the input has")
    };
    let message = if rendered == 1 {
        format!("{those} no {what}")
    } else {
        format!("{those} {what}")
    };
    let is_told = machines.iter().any(|machine| !machine.absent.is_empty());
    let help = if is_told {
        "the answer says for each machine why".to_owned()
    } else {
        remedy(asking, names)
    };
    Some(Diagnostic::of(&NOT_THERE, message).help(help))
}

/// The kinds of which a machine has few, so that all of them can be named.
const FEW: [Kind; 4] = [Kind::User, Kind::Label, Kind::Taint, Kind::Argument];
const MOST_NAMED: usize = 12;

/// What was most likely meant.
fn remedy(asking: &Asking<'_>, names: &Names) -> String {
    if let Some((kind, name)) = near(asking, names) {
        let shown = if matches!(kind, Kind::File | Kind::Directory) {
            name
        } else {
            format!("{}:{name}", kind.as_str())
        };
        return format!("did you mean `{}`?", shown);
    }
    let (word, rest) = asking.what.split_once(':').unwrap_or_default();
    if let Some(kind) =
        nearest(word, Kind::ALL.iter().map(|kind| kind.as_str())).filter(|kind| *kind != word)
    {
        return format!("did you mean `{kind}:{rest}`?");
    }
    // A drive and a URL have no kind either.
    let looks_like_kind = word.len() > 1
        && word.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !rest.starts_with("//");
    if looks_like_kind && asking.wanted.only().is_none() {
        return format!(
            "`{word}` is not a kind; there are {}",
            Kind::ALL.map(Kind::as_str).join(", ")
        );
    }
    let of_kind = names
        .iter()
        .filter(|(kind, _)| FEW.contains(kind) && asking.wanted.only() == Some(*kind));
    let known: Vec<String> = of_kind
        .take(MOST_NAMED)
        .map(|(_, name)| name.clone())
        .collect();
    match known.as_slice() {
        [] => {
            "paths, users, keys and names are compared as a whole, and commands in parts; `windlass render` shows all that a machine gets"
                .to_owned()
        }
        known => format!("the machines have {}", known.join(", ")),
    }
}

/// The name that is near to what was asked for: as a whole, or to the end of a path; or a path of
/// fields that a word without its kind does not name.
fn near(asking: &Asking<'_>, names: &Names) -> Option<(Kind, String)> {
    let wanted = &asking.wanted;
    let fields = Wanted {
        kinds: vec![Kind::Field],
        text: wanted.text.clone(),
    };
    let is_field = |(kind, name): &&(Kind, String)| {
        wanted.only().is_none() && *kind == Kind::Field && fields.fits(Kind::Field, name)
    };
    if names.iter().any(|one| is_field(&one)) {
        return Some((Kind::Field, wanted.text.clone()));
    }
    let whole = wanted.nearest(names.iter().map(|(_, name)| name.as_str()));
    let found = names.iter().find(|(_, name)| Some(name.as_str()) == whole);
    let end = |name: &str| {
        name.rsplit(['/', '.'])
            .next()
            .map(str::to_owned)
            .unwrap_or_default()
    };
    let found = found.or_else(|| {
        names
            .iter()
            .find(|(_, name)| nearest(&wanted.text, [end(name).as_str()]).is_some())
    });
    found.cloned()
}
