//! Real workers' configs: what our manager writes for them.

use std::time::Duration;

use serde_json::{Value, json};

use super::parity;
use super::uncontrolled::{BOOTSTRAP, NAMESPACE, a_cluster, a_machine};
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{audit, installation, wait, windlass_manager};
use crate::scenarios::render::Role;
use crate::scenarios::render::corpus::subjects;
use crate::scenarios::render::objects::{contents, secret};

const LONG: Duration = Duration::from_secs(120);

/// Each worker's config of the corpus, of either version, as a WindlassConfig: it gets its data or
/// says why not, and `windlass render` agrees; with the Secrets that it names it gets its data, and
/// nobody has to touch it.
pub(crate) fn configs_of_the_corpus_get_their_data(context: &Context) {
    let plane = context.control_plane();
    installation::kinds_alone(&plane);
    plane.adopt(windlass_manager::start(&plane, "windlass-manager", &["--leader-elect"]).process);
    a_cluster(&plane);
    let workers: Vec<_> = subjects()
        .into_iter()
        .filter(|subject| subject.role == Role::WorkerJoin)
        .collect();
    for (index, subject) in workers.iter().enumerate() {
        let taken = a_machine(
            &plane,
            &format!("r{index:03}"),
            subject.kubernetes,
            subject.version,
            &subject.spec,
        );
        if let Err(rejection) = taken {
            println!("  not taken: {}: {rejection}", subject.title);
        }
    }
    let told = |plane: &ControlPlane, what: &str, is: fn(&Value) -> bool| {
        wait::until(what, LONG, || {
            plane.assert_running();
            let configs = plane.api.list(BOOTSTRAP, "WindlassConfig", Some(NAMESPACE));
            let open: Vec<String> = configs
                .iter()
                .filter(|config| !is(config))
                .map(|config| config["status"].to_string())
                .collect();
            if open.is_empty() {
                Ok(configs)
            } else {
                Err(format!("{} of {}: {}", open.len(), configs.len(), open[0]))
            }
        })
    };
    let configs = told(&plane, "a word about every config", |config| {
        said(config).is_some()
    });
    let without: Vec<&Value> = configs
        .iter()
        .filter(|config| said(config) == Some("False"))
        .collect();
    println!(
        "  {} have their data, {} say why not",
        configs.len() - without.len(),
        without.len()
    );
    assert!(!without.is_empty() && without.len() < configs.len());
    parity::assert_render_rejects(&plane, context.folder(), NAMESPACE, &without);

    for (name, data) in workers.iter().flat_map(|subject| contents(&subject.spec)) {
        // Several name the same one, with other keys.
        let secret = secret(&name, &data);
        if plane.api.create(&secret).is_err() {
            // A name that no Secret can have stays missing.
            drop(plane.api.merge(&secret, &json!({ "data": data })));
        }
    }
    let configs = told(&plane, "the data of all that can have some", |config| {
        said(config) == Some("True") || names_no_secret(config)
    });
    let count = configs
        .iter()
        .filter(|config| said(config) == Some("True"))
        .count();
    println!("  {count} of {} have their data in the end", configs.len());
    assert!(count >= 50, "only {count} were compared");
    parity::assert_data_is_rendered(&plane, context.folder(), NAMESPACE, count);
    audit::assert_all_was_allowed(&plane);
}

/// Whether what is missing has a name that no Secret can have.
fn names_no_secret(config: &Value) -> bool {
    contents(&config["spec"])
        .keys()
        .any(|name| name.contains('_') || name.is_empty())
}

/// The status of `DataSecretAvailable`.
fn said(config: &Value) -> Option<&str> {
    let conditions = config["status"]["conditions"].as_array()?;
    conditions
        .iter()
        .find(|condition| condition["type"] == "DataSecretAvailable")?["status"]
        .as_str()
}
