//! Random histories against what must always hold, whenever the controller is ended: one machine is
//! told to init, under the lock; no data without its certificates and its token; no name of a
//! Secret before there is one; one token a Machine; nothing taken back.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use windlass_capi::api::time::Timestamp;
use windlass_reconcile::{Key, Realm};

use super::site::{Ended, Site, TTL, key, token_key};
use super::*;

const CONTROL_PLANES: [&str; 3] = ["a", "b", "c"];
const ALL: [&str; 6] = ["a", "b", "c", "w", "x", "p"];

/// What happens next.
#[derive(Debug, Clone)]
enum Happening {
    /// The controller works on a config, and is ended as it sends its request of that number.
    Pass(usize, usize),
    /// What it had sent arrives.
    Arrived,
    /// Infrastructure, control plane, endpoint: what the Cluster says.
    Infrastructure(bool),
    Initialized,
    Paused(bool),
    /// What a cache has now is what it has later, in passes that are behind.
    Remembered,
    PassBehind(usize, usize),
    Reachable(bool),
    Time(i64),
    /// The controller's clock is off by so many seconds: somebody set it, or another one works on
    /// elsewhere.
    ClockOff(i64),
    Joined(usize),
    TokensGone,
    MachineGone(usize),
    /// Machine and config are replaced by others of the same names; the Secret is still there.
    Reborn(usize),
    /// A spec that can be rendered, or not.
    SpecChanged(usize, bool),
    DataGone(usize),
    StatusLost(usize),
    ReferenceLost(usize),
    /// The kubeadm bootstrap provider works on a KubeadmConfig, and is ended before its write of
    /// that number.
    Theirs(usize, usize),
}

fn happening() -> impl Strategy<Value = Happening> {
    let one = 0..ALL.len();
    prop_oneof![
        12 => (one.clone(), prop_oneof![3 => Just(usize::MAX), 2 => 0..14_usize]).prop_map(|(name, end)| Happening::Pass(name, end)),
        3 => Just(Happening::Arrived),
        1 => any::<bool>().prop_map(Happening::Infrastructure),
        1 => Just(Happening::Initialized),
        1 => any::<bool>().prop_map(Happening::Paused),
        1 => Just(Happening::Remembered),
        4 => (one.clone(), prop_oneof![3 => Just(usize::MAX), 1 => 0..14_usize]).prop_map(|(name, end)| Happening::PassBehind(name, end)),
        1 => any::<bool>().prop_map(Happening::Reachable),
        2 => (1..2000_i64).prop_map(Happening::Time),
        1 => prop_oneof![Just(0_i64), -600..=600_i64].prop_map(Happening::ClockOff),
        2 => one.clone().prop_map(Happening::Joined),
        1 => Just(Happening::TokensGone),
        1 => one.clone().prop_map(Happening::MachineGone),
        2 => one.clone().prop_map(Happening::Reborn),
        1 => (one.clone(), any::<bool>()).prop_map(|(name, is_good)| Happening::SpecChanged(name, is_good)),
        1 => one.clone().prop_map(Happening::DataGone),
        1 => one.clone().prop_map(Happening::StatusLost),
        1 => one.clone().prop_map(Happening::ReferenceLost),
        3 => (one, 0..5_usize).prop_map(|(name, end)| Happening::Theirs(name, end)),
    ]
}

/// A cluster that is to begin, or one that runs.
fn start(is_running: bool, kubeadm: bool) -> Site {
    let mut site = if is_running {
        with_control_plane()
    } else {
        with_cluster()
    };
    site.kubeadm = kubeadm;
    ALL.iter().for_each(|name| add(&mut site, name));
    site
}

fn add(site: &mut Site, name: &str) {
    match name {
        "p" => add_pool(site, "p", 2),
        "w" | "x" => add_machine(
            site,
            name,
            false,
            json!({"joinConfiguration": {"nodeRegistration": {"name": "n"}}}),
        ),
        _ => add_machine(
            site,
            name,
            true,
            json!({"initConfiguration": {"skipPhases": ["x"]}}),
        ),
    }
}

fn owner(name: &str) -> Key {
    key(
        CORE,
        if name == "p" {
            "MachinePool"
        } else {
            "Machine"
        },
        name,
    )
}

fn happen(site: &mut Site, happening: &Happening) {
    let cluster = key(CORE, "Cluster", "c");
    match happening {
        Happening::Pass(name, end) => drop(site.pass_until(ALL[*name], *end)),
        Happening::Arrived => site.arrive(),
        Happening::Infrastructure(is) => site.merge(
            &cluster,
            &json!({"status": {"initialization": {"infrastructureProvisioned": is}}}),
        ),
        // Not before somebody was told to init.
        Happening::Initialized if CONTROL_PLANES.iter().any(|name| is_reported(site, name)) => {
            initialize(site)
        }
        Happening::Initialized => {}
        Happening::Paused(is) => site.merge(&cluster, &json!({"spec": {"paused": is}})),
        Happening::Remembered => site.remember(),
        Happening::PassBehind(name, end) => drop(site.pass_behind(ALL[*name], *end)),
        Happening::Reachable(is) => site.reachable = *is,
        Happening::Time(seconds) => site.now += seconds,
        Happening::ClockOff(seconds) => {
            site.clock_off = *seconds;
            site.clock_ahead = site.clock_ahead.max(*seconds);
        }
        Happening::Joined(name) => {
            let name = ALL[*name];
            let is_created = site
                .get(&Site::config_key(name))
                .is_some_and(|config| config["status"]["dataSecretName"].is_string());
            if is_created && site.get(&owner(name)).is_some() {
                let nodes = json!([{"name": "x"}, {"name": "y"}]);
                let status = if name == "p" {
                    json!({"nodeRefs": nodes})
                } else {
                    json!({"nodeRef": {"name": "x"}})
                };
                site.merge(&owner(name), &json!({"status": status}));
            }
        }
        Happening::TokensGone => {
            let tokens: Vec<_> = site
                .of_kind(Realm::Workload, "Secret")
                .map(|(key, _)| key.clone())
                .collect();
            tokens.iter().for_each(|key| site.remove(key));
        }
        Happening::MachineGone(name) => {
            for key in [
                owner(ALL[*name]),
                Site::config_key(ALL[*name]),
                key("", "Secret", ALL[*name]),
            ] {
                if site.get(&key).is_some() {
                    site.remove(&key);
                }
            }
        }
        Happening::Reborn(name) => {
            let name = ALL[*name];
            // A Secret without a reference could be anybody's.
            let is_known = site.get(&key("", "Secret", name)).is_none() || is_own(site, name);
            if site.get(&Site::config_key(name)).is_some() && is_known {
                site.remove(&Site::config_key(name));
                site.remove(&owner(name));
                add(site, name);
            }
        }
        Happening::SpecChanged(name, is_good) => {
            let most = if *is_good { json!(null) } else { json!(10) };
            change(
                site,
                &Site::config_key(ALL[*name]),
                &json!({"spec": {"verbosity": 3, "maxDataBytes": most}}),
            );
        }
        Happening::DataGone(name) => {
            let key = key("", "Secret", ALL[*name]);
            if site.get(&key).is_some() {
                site.remove(&key);
            }
        }
        Happening::StatusLost(name) => {
            // A move keeps what the machine was told.
            let key = Site::config_key(ALL[*name]);
            if let Some(secret) = site
                .get(&key)
                .map(|config| config["status"]["dataSecretName"].clone())
                .filter(|name| name.is_string())
            {
                let bootstrap = json!({"bootstrap": {"dataSecretName": secret}});
                let spec = if ALL[*name] == "p" {
                    json!({"template": {"spec": bootstrap}})
                } else {
                    bootstrap
                };
                change(site, &owner(ALL[*name]), &json!({"spec": spec}));
                change(site, &key, &json!({"status": null}));
            }
        }
        Happening::ReferenceLost(name) if is_own(site, ALL[*name]) => {
            change(
                site,
                &key("", "Secret", ALL[*name]),
                &json!({"metadata": {"ownerReferences": null}}),
            );
        }
        Happening::ReferenceLost(_) => {}
        Happening::Theirs(name, end) => theirs(site, ALL[*name], *end),
    }
}

/// A join as the kubeadm bootstrap provider does it (`joinWorker`): the token in the cluster, the
/// Secret, then what it wrote into the spec, and the status.
fn theirs(site: &mut Site, name: &str, end: usize) {
    let cluster = site.get(&key(CORE, "Cluster", "c")).unwrap().clone();
    let may_work =
        site.kubeadm && site.reachable && is_initialized(site) && cluster["spec"]["paused"] != true;
    let has_infrastructure =
        cluster["status"]["initialization"]["infrastructureProvisioned"] == true;
    let Some(config) = site.get(&Site::config_key(name)).cloned() else {
        return;
    };
    let spec = &site.get(&owner(name)).unwrap()["spec"];
    let is_given = [spec, &spec["template"]["spec"]]
        .iter()
        .any(|spec| spec["bootstrap"]["dataSecretName"].is_string());
    if !may_work
        || !has_infrastructure
        || is_given
        || is_reported(site, name)
        || config["spec"]["maxDataBytes"].is_number()
    {
        return;
    }
    let known = token(site, name).map(str::to_owned);
    let given = known
        .clone()
        .unwrap_or_else(|| format!("u{:05}.0123456789abcdef", site.tokens.len()));
    let uid = &config["metadata"]["uid"];
    let reference = json!([{
        "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "name": name, "uid": uid, "controller": true,
    }]);
    for step in 0..end {
        match step {
            0 if known.is_none() => {
                let expiration = Timestamp::of_second(site.now + TTL).to_string();
                let secret =
                    json!({"metadata": {}, "data": {"expiration": STANDARD.encode(expiration)}});
                site.insert(&token_key(&given[..6]), secret);
                site.tokens.push((uid.clone(), token_key(&given[..6])));
            }
            1 => drop(site.put(json!({
                "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
                "metadata": {"name": name, "ownerReferences": reference},
                "data": {"value": STANDARD.encode(format!("kubeadm join {given}"))},
            }))),
            2 => {
                let discovery = json!({"bootstrapToken": {"token": given, "apiServerEndpoint": "10.0.0.1:6443"}});
                site.merge(
                    &Site::config_key(name),
                    &json!({"spec": {"joinConfiguration": {"discovery": discovery}}}),
                );
            }
            3 => {
                let status =
                    json!({"dataSecretName": name, "initialization": {"dataSecretCreated": true}});
                site.merge(&Site::config_key(name), &json!({"status": status}));
            }
            _ => {}
        }
    }
}

fn change(site: &mut Site, key: &Key, patch: &Value) {
    if site.get(key).is_some() {
        site.merge(key, patch);
    }
}

/// Whether the status names the data.
fn is_reported(site: &Site, name: &str) -> bool {
    site.get(&Site::config_key(name))
        .is_some_and(|config| config["status"]["dataSecretName"].is_string())
}

/// Whether the Secret is that of the config that is there now.
fn is_own(site: &Site, name: &str) -> bool {
    let controller = |secret: &Value| secret["metadata"]["ownerReferences"][0]["uid"].clone();
    let config = site
        .get(&Site::config_key(name))
        .map(|config| config["metadata"]["uid"].clone());
    config.is_some() && site.get(&key("", "Secret", name)).map(controller) == config
}

fn is_initialized(site: &Site) -> bool {
    site.get(&key(CORE, "Cluster", "c")).unwrap()["status"]["conditions"].is_array()
}

/// What holds after every happening. `inits`: the Machines that were ever told to init and are
/// there, by name, with their `metadata.uid`.
fn check(before: &Site, after: &Site, happening: &Happening, inits: &mut BTreeMap<&str, Value>) {
    let machine = |name: &str| {
        after
            .get(&owner(name))
            .map(|machine| machine["metadata"]["uid"].clone())
    };
    inits.retain(|name, uid| machine(name).as_ref() == Some(uid));
    for name in CONTROL_PLANES
        .into_iter()
        .filter(|name| is_reported(after, name) && is_own(after, name))
    {
        if data(after, name).unwrap().contains("kubeadm init") {
            inits.insert(name, machine(name).unwrap());
        }
    }
    assert!(
        inits.len() <= 1,
        "two machines were told to init: {inits:?}"
    );
    if let Some((name, _)) = inits.first_key_value().filter(|_| !is_initialized(after)) {
        let lock = after
            .get(&key("", "ConfigMap", "c-lock"))
            .unwrap_or_else(|| panic!("{name} inits without the lock"));
        assert_eq!(
            lock["data"]["lock-information"],
            json!({"machineName": name}).to_string()
        );
    }
    for name in ALL {
        let Some(config) = after.get(&Site::config_key(name)) else {
            continue;
        };
        check_data(after, name);
        check_tokens(after, name, config);
        if let Some(old) = before
            .get(&Site::config_key(name))
            .filter(|old| old["metadata"]["uid"] == config["metadata"]["uid"])
        {
            check_progress(before, after, name, old, happening);
        }
    }
}

/// No data without what it is made of.
fn check_data(site: &Site, name: &str) {
    let Some(stored) = data(site, name).filter(|_| is_own(site, name)) else {
        return;
    };
    let purposes: &[&str] = if stored.contains("kubeadm init") {
        &["ca", "etcd", "proxy", "sa"]
    } else {
        &["ca"]
    };
    for purpose in purposes {
        assert!(
            site.get(&key("", "Secret", &format!("c-{purpose}")))
                .is_some(),
            "{name} has data without {purpose}"
        );
    }
    if stored.contains("kubeadm join") {
        assert!(is_initialized(site), "{name} joins too early");
        // A pool that rotates has a new token in its spec first, and then in its data.
        let is_settled = name != "p" && (!site.kubeadm || is_reported(site, name));
        assert!(
            !is_settled || stored.contains(token(site, name).unwrap()),
            "{name}: {stored}"
        );
        let uid = &site.get(&Site::config_key(name)).unwrap()["metadata"]["uid"];
        let was_made = |(of, key): &(Value, Key)| {
            of == uid && stored.contains(&key.name["bootstrap-token-".len()..])
        };
        assert!(
            site.tokens.iter().any(was_made),
            "{name} joins with a token that was not made for it"
        );
    }
}

/// A Machine has one token ever, a pool at most two that live: the old one may be in use while it
/// rotates.
fn check_tokens(site: &Site, name: &str, config: &Value) {
    let mut made: Vec<_> = site
        .tokens
        .iter()
        .filter(|(of, _)| *of == config["metadata"]["uid"])
        .map(|(_, key)| key)
        .collect();
    made.sort();
    made.dedup();
    // The kubeadm provider's way has one more in the cluster whenever somebody is ended before it
    // is in the spec.
    if site.kubeadm {
        return;
    }
    if name != "p" {
        assert!(made.len() <= 1, "{name} has more than one token: {made:?}");
    }
    // By the clock that was the farthest ahead of those by which tokens were rotated.
    let now = Timestamp::of_second(site.now + site.clock_ahead).to_string();
    let lives = |key: &&Key| {
        site.get(key)
            .is_some_and(|secret| decoded(&secret["data"]["expiration"]) > now)
    };
    assert!(
        made.into_iter().filter(lives).count() <= 2,
        "{name} has more than two tokens"
    );
}

/// What was reached stays, and what is reported is there.
fn check_progress(before: &Site, after: &Site, name: &str, old: &Value, happening: &Happening) {
    let config = after.get(&Site::config_key(name)).unwrap();
    let said = |config: &Value| {
        [
            config["status"]["dataSecretName"].clone(),
            config["status"]["initialization"].clone(),
        ]
    };
    if is_reported(before, name) && !matches!(happening, Happening::StatusLost(_)) {
        assert_eq!(said(config), said(old), "{name}");
    }
    let spec = &after.get(&owner(name)).unwrap()["spec"];
    let is_given = [spec, &spec["template"]["spec"]]
        .iter()
        .any(|spec| spec["bootstrap"]["dataSecretName"].is_string());
    // A report that arrives late was right when it was sent.
    if is_reported(after, name)
        && !is_reported(before, name)
        && !is_given
        && !matches!(happening, Happening::Arrived)
    {
        assert!(
            is_own(after, name),
            "{name} reports a Secret that is not there, or not its own"
        );
    }
    if name == "p" {
        return;
    }
    if let (Some(old), Some(stored)) = (data(before, name), data(after, name))
        && is_own(before, name)
        && (!before.kubeadm && !CONTROL_PLANES.contains(&name) || is_reported(before, name))
    {
        assert!(old == stored, "{name} has other data than before");
    }
    if let Some(old) = token(before, name) {
        assert_eq!(token(after, name), Some(old), "{name}");
    }
    if let (true, None, Some(new)) = (after.kubeadm, token(before, name), token(after, name)) {
        let (key, is_late) = (
            token_key(&new[..6]),
            matches!(happening, Happening::Arrived),
        );
        // It was there when what arrives now was sent.
        let was_made = is_late && after.tokens.iter().any(|(_, made)| *made == key);
        assert!(
            was_made || after.get(&key).is_some(),
            "{name} has a token that the kubeadm provider would never make"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_contract_holds(
        is_running in any::<bool>(), kubeadm in any::<bool>(), history in prop::collection::vec(happening(), 1..80),
    ) {
        live_through(start(is_running, kubeadm), &history);
    }
}

fn live_through(mut site: Site, history: &[Happening]) {
    let mut inits = BTreeMap::new();
    for happening in history {
        let before = site.clone();
        happen(&mut site, happening);
        check(&before, &site, happening, &mut inits);
    }
    settle(&mut site);
}

/// A controller whose cache does not show yet that a machine was given its data, after a move, and
/// which ends while it takes the lock anew, would leave the lock to another machine.
#[test]
fn the_lock_of_a_machine_that_was_given_its_data_is_kept() {
    for end in 0..14 {
        let history = [
            Happening::Pass(1, usize::MAX),
            Happening::Remembered,
            Happening::StatusLost(1),
            Happening::PassBehind(1, end),
        ];
        live_through(start(false, false), &history);
    }
}

/// In the end all is well, every token that is needed lives, and then nothing more is written.
fn settle(site: &mut Site) {
    for happening in [
        Happening::Infrastructure(true),
        Happening::Paused(false),
        Happening::Reachable(true),
    ] {
        happen(site, &happening);
    }
    (0..ALL.len()).for_each(|name| happen(site, &Happening::SpecChanged(name, true)));
    for _ in 0..4 {
        for name in ALL {
            while site.pass(name) == Ended::Conflict {}
        }
        happen(site, &Happening::Initialized);
    }
    let may_init = CONTROL_PLANES
        .iter()
        .any(|name| site.get(&Site::config_key(name)).is_some());
    assert!(
        is_initialized(site) || !may_init,
        "a control plane that could begin has not"
    );
    for name in ALL {
        let Some(config) = site.get(&Site::config_key(name)) else {
            continue;
        };
        let is_done = config["status"]["initialization"]["dataSecretCreated"] == true;
        assert_eq!(
            is_done,
            is_initialized(site),
            "{name}: {}",
            config["status"]
        );
        check_settled_token(site, name);
    }
    let writes = site.writes.clone();
    for name in ALL {
        site.pass(name);
    }
    assert_eq!(site.writes, writes, "nothing is left to do");
}

/// A machine that is yet to join can: its token lives, and is the one in its data.
fn check_settled_token(site: &Site, name: &str) {
    let Some(token) = token(site, name) else {
        return;
    };
    let is_node = site.get(&owner(name)).unwrap()["status"]["nodeRef"].is_object();
    if is_node {
        return;
    }
    let secret = site
        .get(&token_key(&token[..6]))
        .unwrap_or_else(|| panic!("the token of {name} is gone"));
    // By the clock of who refreshes it.
    let now = site.now + site.clock_off;
    assert!(
        decoded(&secret["data"]["expiration"]) >= Timestamp::of_second(now + TTL / 2).to_string(),
        "{name}"
    );
    if let Some(stored) = data(site, name) {
        assert!(stored.contains(token), "{name} has an old token");
    }
}
