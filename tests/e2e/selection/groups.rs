// The scenarios by module, in the order in which they run. The table is included twice:
// `selection/mod.rs` reads the declarations, `scenarios/mod.rs` the functions.
//
// A group declares what its scenarios exercise beside what its own sources import: the commands
// that they run (`src/cli/…`), the manager, and files of the checkout. What those import in turn
// is derived from the sources, unless the path ends in `.rs` or `/`. `peers` are folders of `tests/peers`, `packages` Debian's packages.
// A module may have several groups, with other peers each. The words before the lists are
// functions of `scenarios/mod.rs` that say what may run beside a scenario.
groups! {
    self_test {
        exercises: [INSTALLED], peers: [MANAGEMENT], packages: [],
        sharing: [webhooks_are_called, cluster_api_comes_up],
    }
    crds {
        exercises: [INSTALLED], peers: [MANAGEMENT], packages: [],
        sharing: [are_established, constraints_hold],
        own: [both_versions_round_trip],
        sharing: [webhook_rules_refuse, webhooks_warn],
    }
    install {
        exercises: [PROVIDER, &["src/cli/release", "src/cli/repository", "releases"]],
        peers: [MANAGEMENT, &["cluster-api-v1.14.0", "clusterctl-v1.14.2"]], packages: [],
        own: [init_upgrade_delete_v1_12, init_upgrade_delete_v1_14, variants],
    }
    archive {
        exercises: [INSTALLED, PROVIDER, EXPECTED_DATA, &["src/cli/release", "src/cli/repository"]],
        peers: [MANAGEMENT], packages: [],
        own: [from_the_archive_to_a_cluster],
    }
    air_gap {
        exercises: [PROVIDER, &["src/cli/release", "src/cli/repository", "releases"]],
        peers: [API_SERVER, &["cluster-api-v1.14.0", "clusterctl-v1.14.2"]],
        packages: ["util-linux", "iproute2"],
        own: [init_with_no_route_but_loopback],
    }
    rbac {
        exercises: [INSTALLED], peers: [MANAGEMENT], packages: [],
        sharing: [core_may_use_our_kinds, the_manager_has_exactly_its_list],
    }
    contract {
        exercises: [INSTALLED],
        peers: [MANAGEMENT, &["cluster-api-v1.10.10", "cluster-api-v1.14.0"]], packages: [],
        own: [core_v1_12, core_v1_14, core_v1_10, core_is_upgraded],
    }
    templates {
        exercises: [INSTALLED, &["src/cli/generate_cluster", "examples", "templates"]],
        peers: [MANAGEMENT], packages: [],
        sharing: [every_flavor_is_taken, examples_are_taken],
    }
    topology {
        exercises: [INSTALLED, &["src/cli/topology", "src/cli/render", "templates", "tests/topology",
            "tests/vectors/topology"]],
        peers: [MANAGEMENT, &["cluster-api-v1.14.0"]], packages: [],
        sharing: [cluster_of_our_class_settles],
        own: [plans_are_what_v1_12_makes, plans_are_what_v1_14_makes,
            plans_over_real_kinds_of_v1_12, plans_over_real_kinds_of_v1_14],
    }
    manager {
        exercises: [INSTALLED, EXPECTED_DATA],
        peers: [MANAGEMENT, &["cluster-api-v1.14.0"]], packages: [],
        sharing: [clusters_come_up],
        own: [configs_of_the_corpus_get_their_data, each_right_is_needed_and_no_other,
            clusters_move_and_come_back, a_killed_leader_is_replaced,
            a_frozen_leader_writes_nothing_any_more,
            checked_owner_references_need_one_right_more, three_managers_share_the_namespaces],
    }
    faults {
        exercises: [INSTALLED, EXPECTED_DATA, &["tests/vectors/render"]],
        peers: [MANAGEMENT], packages: ["libfaketime"],
        sharing: [kills_at_every_write, kills_at_every_write_for_kubeadm_configs,
            a_fifth_of_all_requests_fails, the_api_server_restarts, watches_are_stale_and_expire,
            the_clock_is_off, certificates_are_exchanged_under_load],
        measuring: [bad_workload_clusters_stop_nobody, hostile_objects_stop_nobody],
        sharing: [deletions_at_every_write, configs_without_status_are_restored],
        own: [clusterctl_upgrades_and_goes_back_while_machines_are_made],
        lasting: [churn_leaves_nothing_in_the_manager],
    }
    manager {
        exercises: [INSTALLED, &["src/cli/render", "src/cli/topology", "templates"]],
        peers: [MANAGEMENT, &["cluster-api-v1.14.0"]], packages: [],
        sharing: [machines_of_our_class_boot_from_what_is_rendered],
        own: [kubeadm_configs_as_the_kubeadm_provider,
            kubeadm_configs_as_the_newest_kubeadm_provider, kubeadm_providers_take_turns],
    }
    migrate {
        exercises: [&["src/cli/migrate", "tests/migrate"]],
        peers: [MANAGEMENT], packages: [],
        own: [files_of_the_corpus_are_taken],
    }
    gate {
        // What each rule is about stands beside its check, in all modules that have rules.
        exercises: [&["src/ops/rules", "tests/gate"]], peers: [MANAGEMENT], packages: [],
        own: [examples_are_refused],
    }
    render {
        exercises: [&["src/cli/render"]],
        peers: [API_SERVER, &["cluster-api-v1.12.0"]], packages: [],
        own: [configs_of_the_corpus_are_equal, random_configs_are_equal],
    }
    render {
        exercises: [&["tests/vectors/render"]],
        peers: [&["bootstrap-data-v1.10.10", "bootstrap-data-v1.11.7", "bootstrap-data-v1.12.10",
            "bootstrap-data-v1.13.6", "bootstrap-data-v1.14.2"]],
        packages: [],
        own: [configs_of_v1_10_are_equal, configs_of_v1_11_are_equal, configs_of_v1_12_are_equal,
            configs_of_v1_13_are_equal, configs_of_v1_14_are_equal],
    }
    ignition {
        exercises: [&["src/cli/render", "tests/vectors/render"]],
        peers: [&["ignition-v2.20.0"]], packages: [],
        own: [version_3_4_is_accepted],
    }
    page {
        exercises: [&["src/cli/diff", "src/cli/inspect", "src/cli/render", "src/cli/size", "examples",
            "tests/vectors/render"]],
        peers: [], packages: ["chromium", "chromium-driver"],
        own: [pages_ask_for_nothing_and_are_read_aloud, pages_fit_phone_paper_and_dark,
            the_checks_see_what_is_wrong],
    }
    commands {
        exercises: [&["src/cli/config_repositories", "src/cli/generate_cluster",
            "src/cli/generate_provider", "src/cli/generate_yaml", "src/cli/repository/"]],
        peers: [&["clusterctl-v1.12.0", "clusterctl-v1.14.2"]], packages: [],
        own: [templates_of_the_corpus_are_equal, components_of_the_corpus_are_equal,
            random_input_gives_the_same, as_a_plugin_of_clusterctl],
    }
    operator {
        exercises: [&["src/cli/repository", "releases"]],
        peers: [API_SERVER, &["cluster-api-operator-v0.28.0", "clusterctl-v1.14.2",
            "operator-phases-v0.28.0", "registry-v0.22.1"]],
        packages: ["skopeo"],
        own: [config_maps_are_those_of_the_operator,
            its_selector_installs_what_clusterctl_installs, skopeo_carries_artifacts],
    }
    book {
        exercises: [INSTALLED, PROVIDER, &["src/cli/diff", "src/cli/generate",
            "src/cli/generate_cluster", "src/cli/generate_provider", "src/cli/generate_yaml",
            "src/cli/inspect", "src/cli/release", "src/cli/release_image", "src/cli/render",
            "src/cli/repository", "README.md", "dist", "docs/book", "docs/book-commands.tsv",
            "examples"]],
        peers: [MANAGEMENT, &["cosign-v3.1.3", "kustomize-v5.8.1", "registry-v0.22.1"]],
        packages: ["git", "skopeo"],
        own: [commands_with_the_real_programs, commands_with_cosign],
    }
    bring_your_own {
        exercises: [INSTALLED, &["src/cli/generate", "src/cli/release", "src/cli/repository",
            "examples/harbour", "tests/it/kubeadm/provider.yaml"]],
        peers: [MANAGEMENT], packages: [],
        own: [releases_are_installed],
    }
    real_providers {
        exercises: [&["src/cli/init", "src/cli/release", "tests/e2e/providers"]],
        peers: [&["kustomize-v5.8.1"]], packages: [],
        own: [releases_are_what_kustomize_makes, projects_become_what_kustomize_makes],
    }
}
