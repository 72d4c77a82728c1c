//! Command lines, and what is made of them.

use super::*;

impl Flags {
    /// The flags of a command line that is right.
    pub(crate) fn of(arguments: &[&str]) -> Self {
        match parse(arguments.iter().map(|argument| (*argument).to_owned())) {
            Ok(Command::Run(flags)) => *flags,
            other => panic!("{other:?}"),
        }
    }
}

fn fault(arguments: &[&str]) -> String {
    parse(arguments.iter().map(|argument| (*argument).to_owned())).expect_err("the line is wrong")
}

/// The defaults of Cluster API's kubeadm bootstrap provider, v1.14, but for the limits of clients
/// (docs/adr/0036-two-clients.md).
#[test]
fn nothing_given_is_what_cluster_api_has() {
    let flags = Flags::of(&[]);
    assert!(!flags.leader_elect && !flags.insecure_diagnostics);
    let seconds = Duration::from_secs;
    assert_eq!(
        flags.lease,
        LeaseTimes {
            duration: seconds(15),
            renew_deadline: seconds(10),
            retry_period: seconds(2)
        }
    );
    assert_eq!(
        (flags.namespaces, flags.watch_filter),
        (BTreeSet::new(), None)
    );
    assert_eq!(flags.kinds, [ConfigKind::Windlass].into());
    assert_eq!(
        (
            flags.concurrency,
            flags.sync_period,
            flags.bootstrap_token_ttl
        ),
        (100, seconds(600), seconds(900))
    );
    assert_eq!(
        flags.kube_api,
        Some(Rate {
            per_second: 1000.0,
            burst: 1000
        })
    );
    assert_eq!(
        flags.workload_api,
        Some(Rate {
            per_second: 100.0,
            burst: 200
        })
    );
    let webhooks = flags.webhooks.expect("they are on");
    assert_eq!(webhooks.port, 9443);
    assert_eq!(
        webhooks.key,
        PathBuf::from("/tmp/k8s-webhook-server/serving-certs/tls.key")
    );
    assert_eq!(
        flags.health,
        Some(Address {
            host: None,
            port: 9440
        })
    );
    assert_eq!(
        flags.diagnostics,
        Some(Address {
            host: None,
            port: 8443
        })
    );
    assert_eq!((flags.verbosity, flags.log_format), (2, LogFormat::Text));
    assert_eq!(
        (flags.tls_min_version, flags.gates.machine_pool),
        (TlsVersion::Tls12, true)
    );
}

/// pflag: a value after `=` or in the next argument, but of a switch only after `=`; one letter has
/// one dash or two.
#[test]
fn values_are_written_as_for_go() {
    let flags = Flags::of(&[
        "--leader-elect",
        "--v=4",
        "--sync-period",
        "1m30s",
        "--insecure-diagnostics=true",
    ]);
    assert!(flags.leader_elect && flags.insecure_diagnostics);
    assert_eq!(
        (flags.verbosity, flags.sync_period),
        (4, Duration::from_secs(90))
    );
    assert!(!Flags::of(&["--leader-elect=true", "--leader-elect=false"]).leader_elect);
    for line in [
        &["-v=5"][..],
        &["-v", "5"],
        &["-v5"],
        &["--v", "5"],
        &["--v=10"],
    ] {
        assert_eq!(Flags::of(line).verbosity, 5, "{line:?}");
    }
}

#[test]
fn lists_come_with_commas_and_in_turns() {
    let flags = Flags::of(&["--namespace=a,b", "--namespace=c"]);
    assert_eq!(flags.namespaces, ["a", "b", "c"].map(str::to_owned).into());
    assert_eq!(Flags::of(&["--namespace="]).namespaces, BTreeSet::new());
}

#[test]
fn kinds_are_ours_or_the_kubeadm_providers() {
    let kinds = |line: &[&str]| Flags::of(line).kinds;
    assert_eq!(
        kinds(&["--kinds=KubeadmConfig", "--leader-elect"]),
        [ConfigKind::Kubeadm].into()
    );
    let both = [ConfigKind::Windlass, ConfigKind::Kubeadm].into();
    assert_eq!(
        kinds(&["--leader-elect", "--kinds=KubeadmConfig,WindlassConfig"]),
        both
    );
    assert_eq!(
        kinds(&[
            "--leader-elect",
            "--kinds=WindlassConfig",
            "--kinds=KubeadmConfig"
        ]),
        both
    );
    let check = |line: &[&str], expected: &str| assert_eq!(fault(line), expected);
    check(
        &["--kinds=KubeadmConfig"],
        "--kinds=KubeadmConfig needs leader election, so that no two managers work on KubeadmConfigs: write --leader-elect",
    );
    let known = "is not a kind that is reconciled, those are WindlassConfig and KubeadmConfig";
    check(
        &["--kinds=kubeadmconfig"],
        &format!("--kinds: kubeadmconfig {known}; write --kinds=KubeadmConfig"),
    );
    check(
        &["--kinds=WindlassConfig,EKSConfig"],
        &format!("--kinds: EKSConfig {known}; write --kinds=WindlassConfig"),
    );
    check(
        &["--kinds="],
        "--kinds= cannot be: it names one kind at least; write --kinds=WindlassConfig",
    );
}

#[test]
fn addresses_and_ports_can_be_turned_off() {
    let flags = Flags::of(&[
        "--health-addr=",
        "--diagnostics-address=0",
        "--webhook-port=0",
        "--kube-api-qps=0",
    ]);
    assert_eq!(
        (
            flags.health,
            flags.diagnostics,
            flags.webhooks,
            flags.kube_api
        ),
        (None, None, None, None)
    );
    let local = Flags::of(&[
        "--health-addr=[::1]:80",
        "--diagnostics-address=localhost:81",
    ]);
    assert_eq!(
        local.health.map(|address| address.to_string()).as_deref(),
        Some("[::1]:80")
    );
    assert_eq!(
        local.diagnostics,
        Some(Address {
            host: Some("localhost".to_owned()),
            port: 81
        })
    );
}

#[test]
fn faults_show_the_line_to_write() {
    let check = |line: &[&str], expected: &str| assert_eq!(fault(line), expected);
    check(
        &["--sync-period=10"],
        "--sync-period=10 cannot be: time: missing unit in duration \"10\"; write --sync-period=10m",
    );
    check(
        &["--bootstrap-token-ttl=59s"],
        "--bootstrap-token-ttl=59s cannot be: it is 1m at least; write --bootstrap-token-ttl=15m",
    );
    assert_eq!(
        Flags::of(&["--bootstrap-token-ttl=1m"]).bootstrap_token_ttl,
        Duration::from_secs(60)
    );
    check(
        &["--synk-period=10m"],
        "there is no flag --synk-period=10m: write --sync-period=10m",
    );
    check(&["--zzz"], "there is no flag --zzz: --help lists the flags");
    check(
        &["run"],
        "run is not a flag: windlass-manager takes only flags, which --help lists",
    );
    check(
        &["-leader-elect"],
        "-leader-elect has one dash: write --leader-elect",
    );
    check(
        &["--webhook-port"],
        "--webhook-port lacks its value: write --webhook-port=9443",
    );
    check(
        &["--leader-elect=maybe"],
        "--leader-elect=maybe cannot be: it is true or false; write --leader-elect=false",
    );
    check(
        &["--health-addr=::1:80"],
        "--health-addr=::1:80 cannot be: it is HOST:PORT, or :PORT for all addresses; write --health-addr=:9440",
    );
    check(
        &["--feature-gates=Foo=true"],
        "--feature-gates=Foo=true cannot be: there is no gate Foo, only MachinePool; write --feature-gates=MachinePool=true",
    );
    check(
        &["--leader-elect-lease-duration=5s"],
        "--leader-elect-lease-duration=5s cannot be: it is more than --leader-elect-renew-deadline, which is 10s; \
         write --leader-elect-lease-duration=15s",
    );
    for line in [
        "--sync-period=-1s",
        "--windlassconfig-concurrency=0",
        "--kube-api-qps=NaN",
        "--v=-1",
        "--kube-api-burst=0",
        "--webhook-port=65536",
        "-",
        "--",
        "-é",
    ] {
        fault(&[line]);
    }
}

/// Each flag of the table is read above, and `help` says it with its default.
#[test]
fn every_flag_of_the_table_counts() {
    let code = include_str!("mod.rs");
    let Ok(Command::Print(help)) = parse(["--help".to_owned()]) else {
        panic!("no help")
    };
    for flag in FLAGS {
        assert!(
            code.contains(&format!("\"{}\"", flag.name)),
            "{} is in the table, and nothing reads it",
            flag.name
        );
        assert!(
            help.contains(&format!("--{}", flag.name)) && help.contains(flag.help),
            "{help}"
        );
    }
    assert!(
        help.lines().all(|line| line.chars().count() <= 160),
        "{help}"
    );
}
