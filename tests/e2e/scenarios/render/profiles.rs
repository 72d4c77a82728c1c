//! Random configs and the vectors' inputs beside the code of each release: its webhooks and its
//! reconciler run in the peers `bootstrap-data-…`, behind the API server's validation and with no
//! API server.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use windlass_bootstrap::render::{
    self, Encoder, FeatureGates, Notes, Pool, Profile, Rendered, Request,
};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Severity};

use super::objects;
use super::provider::PURPOSES;
use super::random::Generator;
use super::release::{Case, Release, Theirs};
use super::{Role, Subject};
use crate::harness::certificates::Certificates;
use crate::harness::random::Random;
use crate::harness::runner::Context;
use crate::harness::{components, shared};

/// How many random configs each release gets.
const RANDOM: usize = 2000;
/// Versions of Kubernetes on both sides of each change in kubeadm's API, and one that newer
/// releases do not render.
const KUBERNETES: [&str; 8] = [
    "v1.21.2",
    "v1.22.17",
    "v1.27.4",
    "v1.30.9",
    "v1.31.0",
    "v1.34.1",
    "v1.35.0-rc.1",
    "v1.36.0",
];
/// What the peer draws.
const TOKEN: &str = "abcdef.0123456789abcdef";

pub(crate) fn configs_of_v1_10_are_equal(context: &Context) {
    compare(context, "v1.10.10", "cluster.x-k8s.io/v1beta1");
}

pub(crate) fn configs_of_v1_11_are_equal(context: &Context) {
    compare(context, "v1.11.7", "cluster.x-k8s.io/v1beta2");
}

pub(crate) fn configs_of_v1_12_are_equal(context: &Context) {
    compare(context, "v1.12.10", "cluster.x-k8s.io/v1beta2");
}

pub(crate) fn configs_of_v1_13_are_equal(context: &Context) {
    compare(context, "v1.13.6", "cluster.x-k8s.io/v1beta2");
}

pub(crate) fn configs_of_v1_14_are_equal(context: &Context) {
    compare(context, "v1.14.2", "cluster.x-k8s.io/v1beta2");
}

/// Holds what we make of random configs and of the vectors' inputs against what the release's own
/// code makes of them: the same data, or a rejection for the same reason. `core` is the version of
/// Clusters and Machines that the release stores.
fn compare(context: &Context, release: &'static str, core: &'static str) {
    let release = Release(release);
    let schemas = release.schemas();
    let versions: Vec<&str> = schemas.iter().map(|(version, _)| *version).collect();
    let mut cases = vectors(core, &versions);
    println!(
        "  {} inputs of vectors, {RANDOM} random configs",
        cases.len()
    );
    cases.extend(random(context, core, schemas));
    let (theirs, ours) = std::thread::scope(|scope| {
        let theirs = scope.spawn(|| release.run(context.folder(), &cases));
        let ours: Vec<_> = cases.iter().map(|case| render(case, release)).collect();
        (theirs.join().expect("the peer gives an answer"), ours)
    });
    assert_eq!(theirs.len(), cases.len(), "the peer answers each case");
    let mut ended: BTreeMap<String, usize> = BTreeMap::new();
    let mut faults = Vec::new();
    for ((case, theirs), ours) in cases.iter().zip(&theirs).zip(&ours) {
        *ended.entry(theirs.ended()).or_default() += 1;
        let fault = agree(theirs, ours).err();
        faults.extend(fault.map(|fault| {
            format!(
                "{}: {fault}\n  {}",
                case.name,
                case.objects.last().unwrap_or(&Value::Null)["spec"]
            )
        }));
    }
    println!("  {ended:?}");
    let shown: Vec<&str> = faults.iter().map(String::as_str).take(40).collect();
    assert!(
        faults.is_empty(),
        "{} of {} differ:\n{}",
        faults.len(),
        cases.len(),
        shown.join("\n")
    );
    let equal = theirs.iter().filter(|theirs| theirs.data.is_some()).count();
    assert!(equal > RANDOM / 2, "only {equal} gave data");
}

/// The inputs of the vectors, whichever release they were made with, whose objects have the
/// versions of this one. Those that cannot be read are left out.
fn vectors(core: &str, versions: &[&str]) -> Vec<Case> {
    let root = shared::vectors("render");
    let index: Value =
        serde_json::from_slice(&std::fs::read(root.join("index.json")).unwrap()).unwrap();
    let of_release = |case: &&Value| {
        let text = |field: &str| case[field].as_str().unwrap_or_default();
        core.ends_with(text("coreApiVersion"))
            && versions.contains(&text("apiVersion"))
            && case["featureGates"]["KubeadmBootstrapFormatIgnition"] == true
            && case["error"]["source"] != "decode"
    };
    let read = |case: &Value| {
        let name = case["name"].as_str().unwrap_or_default().to_owned();
        let objects = components::documents(
            &name,
            std::fs::read_to_string(root.join(&name).join("input.yaml")).unwrap(),
        );
        Case { name, objects }
    };
    index["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(of_release)
        .map(read)
        .collect()
}

fn random(context: &Context, core: &str, schemas: Vec<(&'static str, Value)>) -> Vec<Case> {
    let certificates = Certificates::make(context.folder());
    let mut generator = Generator::new(Random::announced(), schemas, &KUBERNETES);
    (0..RANDOM)
        .map(|_| case(core, &generator.subject(), &certificates))
        .collect()
}

fn case(core: &str, subject: &Subject, certificates: &Certificates) -> Case {
    let name = subject
        .title
        .split(" {")
        .next()
        .unwrap_or_default()
        .replace(' ', "-");
    let mut cluster = objects::cluster(core, "c");
    cluster["status"] = objects::status_of_cluster(core, subject.role != Role::Init);
    let mut owner = objects::owner(core, &name, "c", subject);
    owner["metadata"]["uid"] = json!("00000000-0000-0000-0000-000000000001");
    let pair = json!({"tls.crt": STANDARD.encode(&certificates.authority), "tls.key": STANDARD.encode(&certificates.serving.key)});
    let is_control_plane = matches!(subject.role, Role::Init | Role::ControlPlaneJoin);
    let purposes = PURPOSES
        .iter()
        .filter(|purpose| is_control_plane || **purpose == "ca");
    let of_cluster = purposes
        .map(|purpose| objects::secret_of_cluster(&format!("c-{purpose}"), Some("c"), &pair));
    let named = objects::contents(&subject.spec)
        .into_iter()
        .map(|(name, data)| objects::secret(&name, &data));
    let config = objects::config(&name, "c", subject, &owner);
    Case {
        objects: [cluster, owner]
            .into_iter()
            .chain(of_cluster)
            .chain(named)
            .chain([config])
            .collect(),
        name,
    }
}

/// What the library makes of a case, as `windlass render --no-placeholders` calls it: data, or its
/// errors.
fn render(case: &Case, release: Release) -> Result<Rendered, Vec<Diagnostic>> {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": case.objects}).to_string();
    // As they are these end a line in YAML, and JSON is read as YAML.
    let list = ['\u{85}', '\u{2028}', '\u{2029}']
        .into_iter()
        .fold(list, |list, end| {
            list.replace(end, &format!("\\u{:04x}", end as u32))
        });
    let (pool, report) = Pool::read(&[Source::new("case.json", list)], &Budget::default());
    let request = Request {
        profile: Profile::parse(release.0).expect("the release is known"),
        placeholders: false,
        token: Some(TOKEN.to_owned().into()),
        show_secrets: true,
        encoder: Some(Encoder::Capi),
        feature_gates: FeatureGates {
            ignition: true,
            ..FeatureGates::default()
        },
        ..Request::new()
    };
    let mut notes = Notes {
        report,
        ..Notes::default()
    };
    let targets: Vec<_> = render::targets(&pool)
        .into_iter()
        .filter(|target| target.config.kind() == "KubeadmConfig")
        .collect();
    let rendered = targets
        .first()
        .and_then(|target| render::render(&pool, target, &request, &mut notes).rendered());
    rendered.ok_or_else(|| {
        notes
            .report
            .into_findings()
            .into_iter()
            .filter(|finding| finding.rule.severity == Severity::Error)
            .collect()
    })
}

/// Whether both gave the same data, or rejected for the same reason.
fn agree(theirs: &Theirs, ours: &Result<Rendered, Vec<Diagnostic>>) -> Result<(), String> {
    match (&theirs.data, ours) {
        (Some((format, data)), Ok(rendered)) => {
            if rendered.format.to_string() != *format {
                return Err(format!("{} is {format} there", rendered.format));
            }
            difference(rendered.data.expose(), data)
        }
        (Some(_), Err(errors)) => Err(format!("windlass rejects: {}", told(errors))),
        (None, Ok(_)) => Err(format!(
            "{} rejects: {:?}",
            theirs.rejected_by, theirs.reasons
        )),
        (None, Err(errors)) => same_reason(theirs, errors),
    }
}

/// Of several faults of one text in YAML theirs tells the one that its reader comes to first, which
/// reads 512 bytes at a time and rejects these characters then; we tell them first.
const CHARACTERS: &str = "control characters are not allowed";

/// Whether we reject for the reason for which they do: in their words, or at one of the fields that
/// they name.
fn same_reason(theirs: &Theirs, errors: &[Diagnostic]) -> Result<(), String> {
    let same = |ours: &str, theirs: &str| {
        ours == theirs
            || ours
                .strip_suffix(CHARACTERS)
                .is_some_and(|before| before.ends_with("yaml: ") && theirs.starts_with(before))
    };
    let in_their_words = |error: &Diagnostic| {
        error
            .upstream
            .as_ref()
            .is_some_and(|ours| theirs.reasons.iter().any(|theirs| same(ours, theirs)))
    };
    let at_their_field = |error: &Diagnostic| {
        let ours = error.place.path.to_string();
        // What has the wrong shape is told by its own place; their decoder tells it by each field
        // inside that it does not know.
        let inside = |field: &str| {
            field
                .strip_prefix(ours.as_str())
                .is_some_and(|rest| rest.starts_with('['))
        };
        let wrong_shape = error.rule.id == "config-value-rejected";
        // They spell one of them in lower case.
        theirs
            .fields
            .iter()
            .any(|field| field.eq_ignore_ascii_case(&ours) || (wrong_shape && inside(field)))
    };
    match theirs.reasons.is_empty()
        || errors
            .iter()
            .any(|error| in_their_words(error) || at_their_field(error))
    {
        true if !errors.is_empty() => Ok(()),
        _ => Err(format!(
            "{} rejects: {:?} at {:?}, windlass: {}",
            theirs.rejected_by,
            theirs.reasons,
            theirs.fields,
            told(errors)
        )),
    }
}

fn told(errors: &[Diagnostic]) -> String {
    let one = |error: &Diagnostic| {
        format!(
            "[{}] {} ({}; {:?})",
            error.rule.id, error.message, error.place.path, error.upstream
        )
    };
    errors.iter().map(one).collect::<Vec<_>>().join("\n    ")
}

/// The first line that is not the same.
fn difference(ours: &[u8], theirs: &[u8]) -> Result<(), String> {
    if ours == theirs {
        return Ok(());
    }
    let (ours, theirs) = (
        String::from_utf8_lossy(ours),
        String::from_utf8_lossy(theirs),
    );
    let lines = ours
        .split('\n')
        .zip(theirs.split('\n'))
        .enumerate()
        .find(|(_, (ours, theirs))| ours != theirs);
    Err(match lines {
        Some((index, (ours, theirs))) => format!(
            "line {}:\n  ours   {ours:?}\n  theirs {theirs:?}",
            index + 1
        ),
        None => format!("{} bytes are {} there", ours.len(), theirs.len()),
    })
}
