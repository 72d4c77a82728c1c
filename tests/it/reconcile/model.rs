//! Random histories against what must always hold: one Secret a config, one token, no data without certificates, nothing taken back,
//! whenever the controller is ended.

use proptest::prelude::*;
use serde_json::json;
use windlass::reconcile::Realm;

use super::site::{Ended, Site, key};
use super::*;

const CONTROL_PLANES: [&str; 3] = ["a", "b", "c"];
const ALL: [&str; 6] = ["a", "b", "c", "w", "x", "p"];

/// What happens next.
#[derive(Debug, Clone)]
enum Happening {
    /// The controller works on a config, and is ended before its request of that number.
    Pass(usize, usize),
    /// Infrastructure, control plane, endpoint: what the Cluster says.
    Infrastructure(bool),
    Initialized,
    Paused(bool),
    Reachable(bool),
    Time(i64),
    Joined(usize),
    TokensGone,
    MachineGone(usize),
    SpecChanged(usize),
    StatusLost(usize),
    ReferenceLost(usize),
}

fn happening() -> impl Strategy<Value = Happening> {
    let one = 0..ALL.len();
    prop_oneof![
        12 => (one.clone(), prop_oneof![3 => Just(usize::MAX), 2 => 0..14_usize]).prop_map(|(name, end)| Happening::Pass(name, end)),
        1 => any::<bool>().prop_map(Happening::Infrastructure),
        1 => Just(Happening::Initialized),
        1 => any::<bool>().prop_map(Happening::Paused),
        1 => any::<bool>().prop_map(Happening::Reachable),
        2 => (1..2000_i64).prop_map(Happening::Time),
        1 => one.clone().prop_map(Happening::Joined),
        1 => Just(Happening::TokensGone),
        1 => one.clone().prop_map(Happening::MachineGone),
        1 => one.clone().prop_map(Happening::SpecChanged),
        1 => one.clone().prop_map(Happening::StatusLost),
        1 => one.prop_map(Happening::ReferenceLost),
    ]
}

fn start() -> Site {
    let mut site = with_cluster();
    for name in CONTROL_PLANES {
        add_machine(&mut site, name, true, json!({"initConfiguration": {"skipPhases": ["x"]}}));
    }
    for name in ["w", "x"] {
        add_machine(&mut site, name, false, json!({"joinConfiguration": {"nodeRegistration": {"name": "n"}}}));
    }
    add_pool(&mut site, "p", 2);
    site
}

fn happen(site: &mut Site, happening: &Happening) {
    let cluster = key(CORE, "Cluster", "c");
    let owner = |name: &str| key(CORE, if name == "p" { "MachinePool" } else { "Machine" }, name);
    match happening {
        Happening::Pass(name, end) => drop(site.pass_until(ALL[*name], *end)),
        Happening::Infrastructure(is) => site.merge(&cluster, &json!({"status": {"initialization": {"infrastructureProvisioned": is}}})),
        // Not before somebody was told to init.
        Happening::Initialized if CONTROL_PLANES.iter().any(|name| data(site, name).is_some()) => initialize(site),
        Happening::Initialized => {}
        Happening::Paused(is) => site.merge(&cluster, &json!({"spec": {"paused": is}})),
        Happening::Reachable(is) => site.reachable = *is,
        Happening::Time(seconds) => site.now += seconds,
        Happening::Joined(name) => {
            let name = ALL[*name];
            let is_created = site.get(&Site::config_key(name)).is_some_and(|config| config["status"]["dataSecretName"].is_string());
            if is_created && site.get(&owner(name)).is_some() {
                let nodes = json!([{"name": "x"}, {"name": "y"}]);
                let status = if name == "p" { json!({"nodeRefs": nodes}) } else { json!({"nodeRef": {"name": "x"}}) };
                site.merge(&owner(name), &json!({"status": status}));
            }
        }
        Happening::TokensGone => {
            let tokens: Vec<_> = site.of_kind(Realm::Workload, "Secret").map(|(key, _)| key.clone()).collect();
            tokens.iter().for_each(|key| site.remove(key));
        }
        Happening::MachineGone(name) => {
            for key in [owner(ALL[*name]), Site::config_key(ALL[*name]), key("", "Secret", ALL[*name])] {
                if site.get(&key).is_some() {
                    site.remove(&key);
                }
            }
        }
        Happening::SpecChanged(name) => change(site, &Site::config_key(ALL[*name]), &json!({"spec": {"verbosity": 3}})),
        Happening::StatusLost(name) => {
            // A move keeps what the machine was told.
            let key = Site::config_key(ALL[*name]);
            if let Some(secret) = site.get(&key).map(|config| config["status"]["dataSecretName"].clone()).filter(|name| name.is_string()) {
                let bootstrap = json!({"bootstrap": {"dataSecretName": secret}});
                let spec = if ALL[*name] == "p" { json!({"template": {"spec": bootstrap}}) } else { bootstrap };
                change(site, &owner(ALL[*name]), &json!({"spec": spec}));
                change(site, &key, &json!({"status": null}));
            }
        }
        Happening::ReferenceLost(name) => change(site, &key("", "Secret", ALL[*name]), &json!({"metadata": {"ownerReferences": null}})),
    }
}

fn change(site: &mut Site, key: &windlass::reconcile::Key, patch: &Value) {
    if site.get(key).is_some() {
        site.merge(key, patch);
    }
}

/// What holds after every happening.
fn check(before: &Site, after: &Site, happening: &Happening) {
    let inits = ALL.iter().filter(|name| data(after, name).is_some_and(|data| data.contains("kubeadm init"))).count();
    let is_initialized = after.get(&key(CORE, "Cluster", "c")).unwrap()["status"]["conditions"].is_array();
    assert!(inits <= 1, "two machines would init");
    for name in ALL {
        let Some(config) = after.get(&Site::config_key(name)) else { continue };
        let stored = data(after, name);
        if let Some(stored) = &stored {
            let purposes: &[&str] = if stored.contains("kubeadm init") { &["ca", "etcd", "proxy", "sa"] } else { &["ca"] };
            for purpose in purposes {
                assert!(after.get(&key("", "Secret", &format!("c-{purpose}"))).is_some(), "{name} has data without {purpose}");
            }
            if stored.contains("kubeadm join") {
                assert!(is_initialized && stored.contains(token(after, name).unwrap()) || name == "p", "{name}: {stored}");
            }
        }
        let Some(old) = before.get(&Site::config_key(name)) else { continue };
        if !matches!(happening, Happening::StatusLost(_)) && old["status"]["dataSecretName"].is_string() {
            assert_eq!(config["status"]["dataSecretName"], old["status"]["dataSecretName"], "{name}");
            assert_eq!(config["status"]["initialization"], old["status"]["initialization"], "{name}");
        }
        let is_same_object = config["metadata"]["uid"] == old["metadata"]["uid"];
        if let (Some(old_data), Some(stored)) = (data(before, name), stored)
            && name != "p"
            && is_same_object
        {
            assert!(old_data == stored, "{name} has other data than before");
        }
        if let Some(old_token) = token(before, name)
            && name != "p"
        {
            assert_eq!(token(after, name), Some(old_token), "{name}");
        }
    }
    let tokens = after.of_kind(Realm::Workload, "Secret").count();
    let rotations = if after.now == before.now { 0 } else { usize::MAX };
    assert!(tokens <= before.of_kind(Realm::Workload, "Secret").count() + 1 || rotations > 0, "two tokens at once");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_contract_holds(history in prop::collection::vec(happening(), 1..80)) {
        let mut site = start();
        for happening in &history {
            let before = site.clone();
            happen(&mut site, happening);
            check(&before, &site, happening);
        }
        settle(&mut site);
    }
}

/// In the end all is well, and then nothing more is written.
fn settle(site: &mut Site) {
    for happening in [Happening::Infrastructure(true), Happening::Paused(false), Happening::Reachable(true)] {
        happen(site, &happening);
    }
    for _ in 0..4 {
        for name in ALL {
            while site.pass(name) == Ended::Conflict {}
        }
        happen(site, &Happening::Initialized);
    }
    let is_initialized = site.get(&key(CORE, "Cluster", "c")).unwrap()["status"]["conditions"].is_array();
    for name in ALL {
        let Some(config) = site.get(&Site::config_key(name)) else { continue };
        let is_done = config["status"]["initialization"]["dataSecretCreated"] == true;
        assert_eq!(is_done, is_initialized, "{name}: {}", config["status"]);
    }
    let writes = site.writes.clone();
    for name in ALL {
        site.pass(name);
    }
    assert_eq!(site.writes, writes, "nothing is left to do");
}
