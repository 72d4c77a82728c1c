//! Both sides of one config after the other.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Role;
use super::provider::{Provider, RELEASE, Submitted};
use crate::harness::api_server::Rejection;
use crate::harness::components;
use crate::harness::windlass;

/// How many configs ended how.
pub(super) struct Told {
    /// Both sides gave the same Secret.
    pub(super) equal: usize,
}

/// Compares what the manager made, once it is done, with what we make: of the objects as they are
/// read back afterwards, and of the config as it was before the manager completed it, with the
/// token that the manager drew. Where the server or the manager reject, we do.
pub(super) fn compare(provider: &Provider, submitted: Vec<Submitted>) -> Told {
    provider.wait_for_data(&submitted);
    let mut faults = Vec::new();
    let mut equal: BTreeMap<(Role, String), usize> = BTreeMap::new();
    let (mut rejected_by_server, mut rejected_by_manager) = (0, 0);
    for one in &submitted {
        let title = format!(
            "{} ({}, {:?}, {})",
            one.subject.title, one.name, one.subject.role, one.subject.kubernetes
        );
        let outcome = match (&one.created, provider.data(one)) {
            (Err(rejection), _) => {
                rejected_by_server += 1;
                rejects(provider, one, None, &reasons_of_server(rejection))
                    .map_err(|fault| format!("{fault}; the server: {rejection}"))
            }
            (Ok(created), None) => {
                rejected_by_manager += 1;
                let conditions = provider.config(one)["status"]["conditions"].to_string();
                rejects(
                    provider,
                    one,
                    Some(created),
                    &reasons_of_manager(provider, one, &conditions),
                )
                .map_err(|fault| format!("{fault}; the manager: {conditions}"))
            }
            (Ok(created), Some(secret)) => {
                *equal
                    .entry((one.subject.role, text(&secret["data"]["format"])))
                    .or_default() += 1;
                agrees(provider, one, created, &secret)
            }
        };
        faults.extend(outcome.err().map(|fault| format!("{title}: {fault}")));
    }
    for ((role, format), count) in &equal {
        println!("  {count} {role:?}, {format}");
    }
    println!("  {rejected_by_server} rejected by the server, {rejected_by_manager} by the manager");
    let shown: Vec<&str> = faults.iter().map(String::as_str).take(40).collect();
    assert!(
        faults.is_empty(),
        "{} of {} differ:\n{}",
        faults.len(),
        submitted.len(),
        shown.join("\n")
    );
    Told {
        equal: equal.values().sum(),
    }
}

fn agrees(
    provider: &Provider,
    one: &Submitted,
    created: &Value,
    secret: &Value,
) -> Result<(), String> {
    let completed = provider.config(one);
    let token = completed["spec"]["joinConfiguration"]["discovery"]["bootstrapToken"]["token"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    for (when, config, token) in [
        ("read back", &completed, String::new()),
        ("as it was created", created, token),
    ] {
        let rendered = render(provider, one, Some(config), &token)?;
        let ours = comparable(&rendered);
        let theirs = comparable(secret);
        if ours != theirs {
            return Err(format!("{when}: {}", difference(&ours, &theirs)));
        }
    }
    Ok(())
}

/// The Secret as `windlass render` prints it.
fn render(
    provider: &Provider,
    one: &Submitted,
    config: Option<&Value>,
    token: &str,
) -> Result<Value, String> {
    let finished = run(provider, one, config, token);
    if finished.code != Some(0) {
        return Err(format!("windlass rejects:\n{}", finished.stderr));
    }
    components::documents(&one.name, finished.stdout)
        .pop()
        .ok_or_else(|| "windlass prints nothing".to_owned())
}

/// What a rejection of the server is about: the fields of its causes, or what its sentence has in
/// quotes.
fn reasons_of_server(rejection: &Rejection) -> Vec<String> {
    let fields: Vec<String> = rejection
        .causes()
        .into_iter()
        .map(|(field, _)| field)
        .filter(|field| !field.is_empty())
        .collect();
    if !fields.is_empty() {
        return fields;
    }
    rejection
        .message()
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// What the manager says in a condition where it makes no data, and the rule that finds the same.
/// Of most faults only its log tells.
const OF_MANAGER: [(&str, &str); 2] = [
    (
        "Failed to read content from secrets for spec.files",
        "error[config-secret-missing]",
    ),
    (
        "Failed to read password from secrets for spec.users",
        "error[config-secret-missing]",
    ),
];

/// The rules that find what the conditions say, and the faults of the config in the manager's log.
fn reasons_of_manager(provider: &Provider, one: &Submitted, conditions: &str) -> Vec<String> {
    let rules = OF_MANAGER
        .iter()
        .filter(|(said, _)| conditions.contains(said))
        .map(|(_, rule)| (*rule).to_owned());
    let log = provider.log();
    let config = format!("KubeadmConfig=\"default/{}\"", one.name);
    let of_config = log
        .lines()
        .filter(|line| line.contains("\"Reconciler error\"") && line.contains(&config));
    let faults = of_config
        .filter_map(|line| line.split_once(" err=\"")?.1.split_once("\" controller="))
        .map(|(fault, _)| unquoted(fault));
    rules.chain(faults).collect()
}

/// What stands between Go's quotes.
fn unquoted(text: &str) -> String {
    text.replace("\\\"", "\"")
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\\\", "\\")
}

/// Whether we reject the config for one of the reasons: an error that names it.
fn rejects(
    provider: &Provider,
    one: &Submitted,
    config: Option<&Value>,
    reasons: &[String],
) -> Result<(), String> {
    let finished = run(provider, one, config, "abcdef.0123456789abcdef");
    if finished.code != Some(1) {
        return Err(format!("windlass: exit {:?}", finished.code));
    }
    let is_error = |line: &&str| line.starts_with("error[") || line.starts_with("  = note: ");
    let told: Vec<&str> = finished.stderr.lines().filter(is_error).collect();
    // A fault that is told in several lines is known by its first.
    let first = |reason: &String| reason.lines().next().unwrap_or_default().to_owned();
    match reasons
        .iter()
        .map(first)
        .any(|reason| !reason.is_empty() && told.iter().any(|line| line.contains(reason.as_str())))
    {
        true => Ok(()),
        false => Err(format!(
            "windlass rejects for another reason than {reasons:?}:\n{}",
            told.join("\n")
        )),
    }
}

fn run(
    provider: &Provider,
    one: &Submitted,
    config: Option<&Value>,
    token: &str,
) -> crate::harness::process::Finished {
    let file = provider.folder().join(format!("{}.json", one.name));
    std::fs::write(&file, provider.render_context(one, config).to_string())
        .expect("the folder can be written");
    let file = file.display().to_string();
    let mut arguments = vec![
        "render",
        &file,
        "--no-placeholders",
        "--capi-version",
        RELEASE,
        "-o",
        "secret",
        "--show-secrets",
        "-v",
        "1",
    ];
    arguments.extend([
        "--feature-gates",
        "KubeadmBootstrapFormatIgnition=true,MachinePool=true",
    ]);
    if !token.is_empty() {
        arguments.extend(["--token", token]);
    }
    windlass::try_run(provider.folder(), &arguments)
}

/// What counts of a Secret: all but what the API server adds.
fn comparable(secret: &Value) -> Value {
    let metadata = &secret["metadata"];
    json!({
        "name": metadata["name"], "namespace": metadata["namespace"], "labels": metadata["labels"],
        "ownerReferences": metadata["ownerReferences"], "type": secret["type"],
        "format": text(&secret["data"]["format"]), "value": text(&secret["data"]["value"]),
    })
}

/// Base64 as text.
fn text(value: &Value) -> String {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(value.as_str().unwrap_or_default())
        .unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The first field, and in the data the first line, that is not the same.
fn difference(ours: &Value, theirs: &Value) -> String {
    let mut fields = theirs
        .as_object()
        .into_iter()
        .flatten()
        .map(|(field, _)| field);
    let Some(field) = fields.rfind(|field| ours[*field] != theirs[*field]) else {
        return String::new();
    };
    let (Some(our), Some(their)) = (ours[field].as_str(), theirs[field].as_str()) else {
        return format!("{field}: {} is {} there", ours[field], theirs[field]);
    };
    let lines = our
        .split('\n')
        .zip(their.split('\n'))
        .enumerate()
        .find(|(_, (our, their))| our != their);
    match lines {
        Some((index, (our, their))) => format!(
            "{field}, line {}:\n  ours   {our:?}\n  theirs {their:?}",
            index + 1
        ),
        None => format!("{field}: {} bytes are {} there", our.len(), their.len()),
    }
}
