//! The work of every command grows with its input and no faster: for eight times as much of
//! something it allocates at most ten times as often and as much, and looks up at most sixteen times
//! as many fields of objects, because it may sort them.
//!
//! Counts give the same answer on any machine, time does not, and counters of instructions need a
//! processor that virtual machines hide, or an emulator that is fifty times slower. Allocations show
//! what is copied, collected or read again for each item. Lookups of fields, which debug builds
//! count, show searches of all objects for each object, which only compare. What compares neither
//! objects nor allocates (globs, patterns of substitution, Go templates) takes steps of the run's
//! budget, which are tested beside the code; `bounds.rs` limits the time of large inputs.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use allocation_counter::{AllocationInfo, measure};
use windlass::cli;
use windlass::io::environment::Environment;
use windlass::io::stdio::{Stdio, Stream};
use windlass_objects::lookups;

/// A folder with an input of `n` of something, and the command lines that take it. `{}` stands for
/// the folder.
struct Case {
    name: &'static str,
    /// How many of it there are first.
    few: usize,
    lay_out: fn(&Path, usize),
    runs: &'static [&'static str],
    /// How they end.
    code: u8,
}

/// What a command allocates, and how many fields it looks up.
struct Work {
    allocations: AllocationInfo,
    lookups: u64,
}

/// Runs a command. All threads of the work are one, whose work is counted.
fn work(folder: &Path, run: &str, code: u8) -> Work {
    let arguments = format!(
        "windlass {}",
        run.replace("{}", &folder.display().to_string())
    );
    let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
    let environment: Environment = [("HOME".to_owned(), folder.join("home").display().to_string())]
        .into_iter()
        .collect();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let (ended, work) = pool.install(|| {
        let mut ended = None;
        let before = lookups();
        let allocations = measure(|| {
            let stdio = Stdio {
                stdin: Box::new(std::io::empty()),
                stdout: Stream::new("standard output", std::io::sink()),
                stderr: Stream::new("standard error", std::io::sink()),
            };
            ended = Some(cli::run(arguments, stdio, &environment).code());
        });
        let lookups = lookups() - before;
        (
            ended,
            Work {
                allocations,
                lookups,
            },
        )
    });
    assert_eq!(ended, Some(code), "`{run}` ends otherwise");
    work
}

fn check(case: &Case) {
    for run in case.runs {
        let measured = |n: usize| {
            let folder = tempfile::tempdir().unwrap();
            (case.lay_out)(folder.path(), n);
            work(folder.path(), run, case.code)
        };
        // What is made once in a process is made here.
        measured(1);
        let (few, many) = (measured(case.few), measured(8 * case.few));
        compare(&format!("{}: {run}", case.name), &few, &many);
    }
}

/// Fails when the work on eight times as much is more than it may be.
fn compare(name: &str, few: &Work, many: &Work) {
    let (before, after) = (few.allocations.count_total, many.allocations.count_total);
    assert!(
        after <= 10 * before,
        "{name}: {before} allocations become {after}"
    );
    let (before, after) = (few.allocations.bytes_total, many.allocations.bytes_total);
    assert!(
        after <= 10 * before,
        "{name}: {before} bytes become {after}"
    );
    let (before, after) = (few.lookups, many.lookups);
    assert!(
        after <= 16 * before.max(100),
        "{name}: {before} lookups become {after}"
    );
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A text for each number, one behind the other.
fn each(n: usize, text: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut all, at| {
        all.write_str(&text(at)).unwrap();
        all
    })
}

fn config(at: usize, spec: &str) -> String {
    format!(
        "---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: c{at}}}\nspec:\n{spec}"
    )
}

#[test]
fn render() {
    let all = &[
        "render --all {}/in.yaml",
        "render --all -o json {}/in.yaml",
        "render --all -o secret {}/in.yaml",
        "render --all --to {}/out {}/in.yaml",
    ];
    check(&Case {
        name: "configs",
        few: 30,
        lay_out: |folder, n| {
            write(
                folder,
                "in.yaml",
                &each(n, |at| {
                    config(
                        at,
                        "  files: [{path: /a, content: hello}]\n  preKubeadmCommands: [echo a]\n",
                    )
                }),
            );
        },
        runs: all,
        code: 0,
    });
    check(&Case {
        name: "configs with Secrets of their own",
        few: 30,
        lay_out: |folder, n| {
            let secret = |at| {
                format!(
                    "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s{at}}}\nstringData: {{k: v}}\n"
                )
            };
            let spec = |at| {
                format!(
                    "  files: [{{path: /a, contentFrom: {{secret: {{name: s{at}, key: k}}}}}}]\n"
                )
            };
            write(
                folder,
                "in.yaml",
                &each(n, |at| config(at, &spec(at)) + &secret(at)),
            );
        },
        runs: &all[..1],
        code: 0,
    });
    check(&Case {
        name: "clusters with a control plane and machines",
        few: 30,
        lay_out: |folder, n| {
            let cluster = |at| {
                format!(
                    "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {{name: k{at}}}\nspec:\n  controlPlaneEndpoint: {{host: h, port: 6443}}\n---\n\
                     apiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: {{name: m{at}}}\nspec:\n  clusterName: k{at}\n  version: v1.34.1\n  bootstrap: {{configRef: {{apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfig, name: c{at}}}}}\n"
                )
            };
            write(
                folder,
                "in.yaml",
                &each(n, |at| {
                    config(at, "  preKubeadmCommands: [echo a]\n") + &cluster(at)
                }),
            );
        },
        runs: &all[..1],
        code: 0,
    });
    check(&Case {
        name: "files of one config",
        few: 25,
        lay_out: |folder, n| {
            let files = each(n, |at| {
                format!("  - {{path: /f{at}, content: \"x: y # {at}\"}}\n")
            });
            write(folder, "in.yaml", &config(0, &format!("  files:\n{files}")));
        },
        runs: &all[..3],
        code: 0,
    });
    check(&Case {
        name: "configs with warnings of long lines",
        few: 40,
        lay_out: |folder, n| {
            let long = "x".repeat(2000);
            let spec = |at| {
                format!(
                    "  preKubeadmCommands: ['echo {{{{ x{at} }}}} {long}']\n  users: [{{name: u, gecos: \"a: b # c\"}}]\n"
                )
            };
            write(folder, "in.yaml", &each(n, |at| config(at, &spec(at))));
        },
        runs: &[
            "render --all {}/in.yaml",
            "render --all -o json {}/in.yaml",
            "render --all --template {}/in.yaml",
        ],
        code: 0,
    });
    check(&Case {
        name: "configs that are rejected",
        few: 30,
        lay_out: |folder, n| {
            write(
                folder,
                "in.yaml",
                &each(n, |at| {
                    config(
                        at,
                        "  files: [{path: 5, content: x}, {content: a}]\n  unknown: 1\n",
                    )
                }),
            )
        },
        runs: &all[..2],
        code: 1,
    });
}

#[test]
fn vars_and_generate_yaml() {
    check(&Case {
        name: "variables, on a line each and on one",
        few: 500,
        lay_out: |folder, n| {
            write(
                folder,
                "in.yaml",
                &(each(n, |at| format!("k{at}: ${{A{at}:=x}}\n"))
                    + "j: \""
                    + &each(n, |at| format!("${{B{at}:=x}}"))
                    + "\"\n"),
            );
        },
        runs: &[
            "vars {}/in.yaml",
            "vars -o json {}/in.yaml",
            "generate yaml --from {}/in.yaml",
            "generate yaml --list-variables --from {}/in.yaml",
        ],
        code: 0,
    });
    check(&Case {
        name: "documents",
        few: 200,
        lay_out: |folder, n| {
            write(
                folder,
                "in.yaml",
                &each(n, |at| {
                    format!(
                        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{at}, namespace: a}}\ndata: {{k: \"${{X:=v}}\"}}\n"
                    )
                }),
            );
        },
        runs: &[
            "generate yaml --from {}/in.yaml",
            "generate cluster c --from {}/in.yaml --kubernetes-version v1.34.0 --target-namespace a",
        ],
        code: 0,
    });
    check(&Case {
        name: "files",
        few: 50,
        lay_out: |folder, n| {
            (0..n).for_each(|at| write(folder, &format!("in/{at}.yaml"), "a: ${A}\n"))
        },
        runs: &["vars {}/in"],
        code: 0,
    });
}

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";

/// An infrastructure provider with these lines more.
fn provider(folder: &Path, more: &str) {
    let provider = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: harbour\ntype: InfrastructureProvider\ngroup: infrastructure.harbour.example\n\
                    contracts: {v1beta2: [v1alpha1]}\nnamespace: harbour-system\nmetadata: metadata.yaml\nmanager: {image: ghcr.io/example/m}\n";
    write(folder, "provider.yaml", &format!("{provider}{more}"));
    write(folder, "metadata.yaml", METADATA);
}

fn crd(at: usize) -> String {
    let fields = each(8, |field| {
        format!(
            "                f{field}: {{type: string, default: a, x-kubernetes-validations: [{{rule: \"self != 'b'\"}}]}}\n"
        )
    });
    format!(
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: k{at}s.infrastructure.harbour.example}}\nspec:\n  \
         group: infrastructure.harbour.example\n  scope: Namespaced\n  names: {{kind: K{at}, plural: k{at}s, singular: k{at}, listKind: K{at}List, categories: [cluster-api]}}\n  \
         versions:\n  - name: v1alpha1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          \
         spec:\n            type: object\n            properties:\n{fields}"
    )
}

#[test]
fn release_and_its_artifacts() {
    check(&Case {
        name: "CRDs, a file each",
        few: 5,
        lay_out: |folder, n| {
            provider(folder, "crds: [\"crds/*.yaml\"]\n");
            (0..n).for_each(|at| write(folder, &format!("crds/{at}.yaml"), &crd(at)));
        },
        runs: &[
            "release build v0.1.0 --provider {}/provider.yaml --to {}/out",
            "generate crds --provider {}/provider.yaml",
            "generate rbac --provider {}/provider.yaml",
            "generate components --provider {}/provider.yaml",
        ],
        code: 0,
    });
    check(&Case {
        name: "objects of its own",
        few: 50,
        lay_out: |folder, n| {
            provider(folder, "crds: [crd.yaml]\nobjects: [own.yaml]\n");
            write(folder, "crd.yaml", &crd(0));
            let object = |at| {
                format!(
                    "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{at}}}\ndata: {{a: \"${{A{at}:=x}}\"}}\n"
                )
            };
            let role = |at| {
                format!(
                    "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: r{at}}}\nrules: [{{apiGroups: [\"\"], resources: [pods], verbs: [get]}}]\n"
                )
            };
            write(folder, "own.yaml", &each(n, |at| object(at) + &role(at)));
        },
        runs: &["release build v0.1.0 --provider {}/provider.yaml --to {}/out"],
        code: 0,
    });
    check(&Case {
        name: "templates",
        few: 10,
        lay_out: |folder, n| {
            provider(folder, "crds: [crd.yaml]\ntemplates: [templates]\n");
            write(folder, "crd.yaml", &crd(0));
            let cluster = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: \"${CLUSTER_NAME}\", namespace: \"${NAMESPACE}\"}\nspec: {clusterNetwork: {serviceDomain: cluster.local}}\n";
            (0..n).for_each(|at| {
                write(
                    folder,
                    &format!("templates/cluster-template-t{at}.yaml"),
                    cluster,
                )
            });
        },
        runs: &[
            "release build v0.1.0 --provider {}/provider.yaml --to {}/out",
            "generate template t0 --provider {}/provider.yaml",
        ],
        code: 0,
    });
    check(&Case {
        name: "patterns that find nothing",
        few: 100,
        lay_out: |folder, n| {
            provider(
                folder,
                &format!(
                    "crds: [crd.yaml]\nobjects:\n{}",
                    each(n, |at| format!("- a{at}/*.yaml\n"))
                ),
            );
            write(folder, "crd.yaml", &crd(0));
        },
        runs: &["release build v0.1.0 --provider {}/provider.yaml --to {}/out"],
        code: 1,
    });
    check(&Case {
        name: "patches, each of a CRD",
        few: 6,
        lay_out: |folder, n| {
            let name = |at: usize| {
                format!(
                    "{{kind: CustomResourceDefinition, name: k{at}s.infrastructure.harbour.example}}"
                )
            };
            let patch = |at: usize| {
                format!(
                    "- {{target: {}, patch: '[{{op: add, path: /spec/x, value: {at}}}]'}}\n",
                    name(at)
                )
            };
            provider(
                folder,
                &format!("crds: [\"crds/*.yaml\"]\npatches:\n{}", each(n, patch)),
            );
            (0..n).for_each(|at| write(folder, &format!("crds/{at}.yaml"), &crd(at)));
            let resources = each(n, |at| format!("- {at}.yaml\n"));
            write(
                folder,
                "crds/kustomization.yaml",
                &format!("resources:\n{resources}patches:\n{}", each(n, patch)),
            );
        },
        runs: &["release build v0.1.0 --provider {}/provider.yaml --to {}/out"],
        code: 0,
    });
    check(&Case {
        name: "series",
        few: 100,
        lay_out: |folder, n| {
            provider(folder, "crds: [crd.yaml]\n");
            write(folder, "crd.yaml", &crd(0));
            write(
                folder,
                "metadata.yaml",
                &(METADATA.to_owned()
                    + &each(n, |at| {
                        format!("- {{major: 0, minor: {}, contract: v1beta2}}\n", at + 2)
                    })),
            );
        },
        runs: &[
            "release bump v1.0.0 --metadata {}/metadata.yaml",
            "release build v0.1.0 --provider {}/provider.yaml --to {}/out",
            "generate metadata --provider {}/provider.yaml",
        ],
        code: 0,
    });
}

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system}\n";

/// A release of a provider in a folder.
fn release(folder: &Path, at: &str, label: &str, components: &str) {
    let labelled = components.replace("LABEL", label);
    write(
        folder,
        &format!("{at}/bootstrap-components.yaml"),
        &labelled,
    );
    write(folder, &format!("{at}/metadata.yaml"), METADATA);
}

fn deployment(image: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: m, namespace: foo-system, labels: {{cluster.x-k8s.io/provider: LABEL}}}}\nspec:\n  selector: {{matchLabels: {{a: b}}}}\n  \
         template:\n    metadata: {{labels: {{a: b}}}}\n    spec:\n      containers: [{{name: manager, image: \"{image}\"}}]\n"
    )
}

fn configuration(folder: &Path, n: usize) -> String {
    let entry = |at| {
        format!(
            "- {{name: foo{at}, type: BootstrapProvider, url: \"{}/r/bootstrap-foo{at}/latest/bootstrap-components.yaml\"}}\n",
            folder.display()
        )
    };
    "CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\nproviders:\n".to_owned() + &each(n, entry)
}

#[test]
fn repositories() {
    check(&Case {
        name: "providers",
        few: 10,
        lay_out: |folder, n| {
            let components = NAMESPACE.to_owned() + &deployment("ghcr.io/foo/m:v1");
            for at in 0..n {
                release(
                    folder,
                    &format!("r/bootstrap-foo{at}/v0.1.0"),
                    &format!("bootstrap-foo{at}"),
                    &components,
                );
            }
            write(folder, "r/clusterctl.yaml", &configuration(folder, n));
        },
        runs: &[
            "repository list {}/r",
            "repository list -o json {}/r",
            "repository doctor {}/r",
            "repository bundle {}/r --write-to {}/b.tar",
            "config repositories --config {}/r/clusterctl.yaml",
            "generate provider --bootstrap foo0:v0.1.0 --config {}/r/clusterctl.yaml",
        ],
        code: 0,
    });
    check(&Case {
        name: "versions of one provider",
        few: 8,
        lay_out: |folder, n| {
            let components = NAMESPACE.to_owned() + &deployment("ghcr.io/foo/m:v1");
            for at in 0..n {
                release(
                    folder,
                    &format!("r/bootstrap-foo0/v0.1.{at}"),
                    "bootstrap-foo0",
                    &components,
                );
            }
            write(folder, "r/clusterctl.yaml", &configuration(folder, 1));
        },
        runs: &[
            "repository list {}/r",
            "repository doctor {}/r",
            "repository bundle {}/r --write-to {}/b.tar",
            "generate provider --bootstrap foo0 --config {}/r/clusterctl.yaml",
        ],
        code: 0,
    });
    check(&Case {
        name: "objects of one release",
        few: 20,
        lay_out: |folder, n| {
            let role = |at| {
                format!(
                    "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: foo-system-r{at}, labels: {{cluster.x-k8s.io/provider: LABEL}}}}\nrules: [{{apiGroups: [\"\"], resources: [pods], verbs: [get]}}]\n"
                )
            };
            let binding = |at| {
                format!(
                    "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {{name: foo-system-b{at}, labels: {{cluster.x-k8s.io/provider: LABEL}}}}\nroleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: foo-system-r{at}}}\nsubjects: [{{kind: ServiceAccount, name: s{at}, namespace: foo-system}}]\n"
                )
            };
            let account = |at| {
                format!(
                    "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: s{at}, namespace: foo-system, labels: {{cluster.x-k8s.io/provider: LABEL}}}}\n"
                )
            };
            let components = NAMESPACE.to_owned()
                + &deployment("ghcr.io/foo/m:v1")
                + &each(n, |at| role(at) + &binding(at) + &account(at));
            release(
                folder,
                "r/bootstrap-foo0/v0.1.0",
                "bootstrap-foo0",
                &components,
            );
            write(folder, "r/clusterctl.yaml", &configuration(folder, 1));
        },
        runs: &[
            "repository doctor {}/r",
            "repository add {}/r/bootstrap-foo0/v0.1.0 --to {}/to --release v0.1.0",
            "release diff {}/r/bootstrap-foo0/v0.1.0 {}/r/bootstrap-foo0/v0.1.0",
            "repository bundle {}/r --write-to {}/b.tar",
            "generate provider --bootstrap foo0:v0.1.0 --config {}/r/clusterctl.yaml",
            "generate provider --bootstrap foo0:v0.1.0 --target-namespace other --config {}/r/clusterctl.yaml",
            "generate provider --describe --bootstrap foo0:v0.1.0 --config {}/r/clusterctl.yaml",
        ],
        code: 0,
    });
    check(&Case {
        name: "variables of one release",
        few: 100,
        lay_out: |folder, n| {
            let variables = format!(
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, namespace: foo-system}}\ndata:\n{}",
                each(n, |at| format!("  k{at}: \"${{A{at}:=x}}\"\n"))
            );
            release(
                folder,
                "r/bootstrap-foo0/v0.1.0",
                "bootstrap-foo0",
                &(NAMESPACE.to_owned() + &deployment("ghcr.io/foo/m:v1") + &variables),
            );
            write(
                folder,
                "r/clusterctl.yaml",
                &(configuration(folder, 1) + &each(n, |at| format!("A{at}: v{at}\n"))),
            );
        },
        runs: &[
            "repository doctor {}/r",
            "generate provider --bootstrap foo0:v0.1.0 --config {}/r/clusterctl.yaml",
        ],
        code: 0,
    });
}

#[test]
fn differences() {
    /// Two files, of which each item differs.
    fn both(folder: &Path, item: impl Fn(usize, &str) -> String, n: usize, head: &str) {
        for (path, value) in [("a.yaml", "x"), ("b.yaml", "y")] {
            write(
                folder,
                path,
                &format!("{head}{}", each(n, |at| item(at, value))),
            );
        }
    }
    let runs = &[
        "release diff {}/a.yaml {}/b.yaml",
        "release diff {}/a.yaml {}/b.yaml -o json",
        "release diff {}/a.yaml {}/b.yaml -o github",
    ];
    check(&Case {
        name: "objects that change, come and go",
        few: 30,
        lay_out: |folder, n| {
            let object = |at, value: &str| {
                format!(
                    "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{at}}}\ndata: {{k: {value}}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {value}{at}}}\n"
                )
            };
            both(folder, object, n, "");
        },
        runs,
        code: 0,
    });
    for (name, head, item) in [
        (
            "fields of one object",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n",
            (|at, value| format!("  k{at}: {value}\n")) as fn(usize, &str) -> String,
        ),
        (
            "items with a key",
            "kind: A\nspec:\n  containers:\n",
            |at, value| format!("  - {{name: c{at}, image: {value}}}\n"),
        ),
        (
            "items without a key",
            "kind: A\nspec:\n  args:\n",
            |at, value| format!("  - {value}{at}\n"),
        ),
        ("lists in lists", "kind: A\nrules:\n", |at, value| {
            format!("- {{resources: [r{at}], verbs: [get, {value}]}}\n")
        }),
        ("secrets", "kind: Secret\ndata:\n", |at, value| {
            format!("  k{at}: {value}\n")
        }),
    ] {
        check_both(name, head, item, runs);
    }
    fn check_both(
        name: &'static str,
        head: &'static str,
        item: fn(usize, &str) -> String,
        runs: &'static [&'static str],
    ) {
        for run in runs {
            let measured = |n: usize| {
                let folder = tempfile::tempdir().unwrap();
                both(folder.path(), item, n, head);
                work(folder.path(), run, 0)
            };
            measured(1);
            let (few, many) = (measured(40), measured(320));
            compare(&format!("{name}: {run}"), &few, &many);
        }
    }
}

/// A components file with a Namespace and `n` ConfigMaps, each with one finding that can be fixed.
fn maps(n: usize) -> String {
    let map = |at| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{at}, namespace: a}}\ndata:\n  y: a\n"
        )
    };
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n".to_owned() + &each(n, map)
}

#[test]
fn reports() {
    let case = |lay_out, runs, code| Case {
        name: "findings",
        few: 30,
        lay_out,
        runs,
        code,
    };
    let plain =
        |folder: &Path, n: usize| write(folder, "in/infrastructure-components.yaml", &maps(n));
    let formats: &[&str] = &[
        "lint {}/in",
        "lint -o json {}/in",
        "lint -o sarif {}/in",
        "lint -o junit {}/in",
        "lint -o github {}/in",
    ];
    check(&case(plain, formats, 0));
    check(&case(
        plain,
        &[
            "lint --deny components-key-changed {}/in",
            "lint --fix --check {}/in",
        ],
        1,
    ));
    let waived = |folder: &Path, n: usize| {
        let in_file = maps(n).replace(
            "y: a",
            "y: a # windlass: ignore[components-key-changed] because of a test",
        );
        write(folder, "in/infrastructure-components.yaml", &in_file);
        (0..n).for_each(|at| {
            write(
                folder,
                &format!("in/{at}/infrastructure-components.yaml"),
                &maps(1),
            )
        });
        let entry = |at| {
            format!(
                "[[waive]]\nrule = \"components-key-changed\"\npath = \"in/{at}\"\nreason = \"a test\"\n"
            )
        };
        write(folder, "windlass.toml", &each(n, entry));
    };
    let formats = &[
        "lint --deny components-key-changed --settings {}/windlass.toml {}/in",
        "lint --settings {}/windlass.toml {}/in -o sarif",
    ];
    check(&case(waived, formats, 0));
}

/// A ClusterClass with templates of its own, and a template that no class names.
fn class(at: usize) -> String {
    format!(
        "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: {{name: c{at}}}\nspec:\n  \
         infrastructure: {{templateRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: FooClusterTemplate, name: t{at}}}}}\n  \
         controlPlane: {{templateRef: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: t{at}}}}}\n\
         ---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: FooClusterTemplate\nmetadata: {{name: t{at}}}\nspec: {{template: {{spec: {{}}}}}}\n\
         ---\napiVersion: controlplane.cluster.x-k8s.io/v1beta2\nkind: KubeadmControlPlaneTemplate\nmetadata: {{name: t{at}}}\n\
         spec: {{template: {{spec: {{kubeadmConfigSpec: {{clusterConfiguration: {{}}}}}}}}}}\n\
         ---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfigTemplate\nmetadata: {{name: k{at}}}\n\
         spec: {{template: {{spec: {{joinConfiguration: {{}}}}}}}}\n"
    )
}

fn cluster(at: usize) -> String {
    format!(
        "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {{name: x{at}}}\n\
         spec: {{topology: {{classRef: {{name: c{at}}}, version: v1.34.0}}}}\n"
    )
}

#[test]
fn classes_and_clusters() {
    check(&Case {
        name: "classes without Clusters",
        few: 30,
        lay_out: |folder, n| write(folder, "in.yaml", &each(n, class)),
        runs: &[
            "validate {}/in.yaml",
            "render --all {}/in.yaml",
            "size {}/in.yaml",
        ],
        code: 1,
    });
    check(&Case {
        name: "classes, each with a Cluster",
        few: 20,
        lay_out: |folder, n| write(folder, "in.yaml", &each(n, |at| class(at) + &cluster(at))),
        runs: &["topology plan {}/in.yaml", "topology variables {}/in.yaml"],
        code: 0,
    });
    check(&Case {
        name: "machines of classes, each with a Cluster",
        few: 20,
        lay_out: |folder, n| write(folder, "in.yaml", &each(n, |at| class(at) + &cluster(at))),
        runs: &["render --all {}/in.yaml"],
        code: 1,
    });
    check(&Case {
        name: "Clusters without their classes",
        few: 40,
        lay_out: |folder, n| write(folder, "in.yaml", &each(n, cluster)),
        runs: &["topology plan {}/in.yaml", "validate {}/in.yaml"],
        code: 1,
    });
}

/// A CRD whose fields have patterns, with a webhook, its Service, roles and a template.
fn parts_of_release(at: usize) -> String {
    let (group, name) = ("a.example", format!("k{at}"));
    format!(
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {name}s.{group}, labels: {{cluster.x-k8s.io/v1beta2: v1}}}}\nspec:\n  \
         group: {group}\n  scope: Namespaced\n  names: {{kind: K{at}, plural: {name}s, singular: {name}, listKind: K{at}List}}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    \
         schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{a: {{type: string, default: a{at}, pattern: \"^a{at}$\"}}}}}}}}}}}}\n\
         ---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: w{at}}}\nwebhooks:\n\
         - {{name: v{at}.{group}, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {{service: {{name: s{at}, namespace: foo-system, path: /{at}}}}}, rules: [{{apiGroups: [{group}], apiVersions: [v1], operations: [CREATE], resources: [{name}s]}}]}}\n\
         ---\napiVersion: v1\nkind: Service\nmetadata: {{name: s{at}, namespace: foo-system}}\nspec: {{selector: {{a: b}}, ports: [{{port: 443, targetPort: 9443}}]}}\n\
         ---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: r{at}}}\nrules: [{{apiGroups: [{group}], resources: [{name}s], verbs: [get]}}]\n\
         ---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {{name: b{at}}}\nroleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r{at}}}\nsubjects: [{{kind: ServiceAccount, name: s{at}, namespace: foo-system}}]\n\
         ---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: s{at}, namespace: foo-system}}\n"
    )
}

#[test]
fn parts_of_releases() {
    check(&Case {
        name: "CRDs, webhooks and roles of a release",
        few: 8,
        lay_out: |folder, n| {
            let components =
                NAMESPACE.to_owned() + &deployment("ghcr.io/foo/m:v1") + &each(n, parts_of_release);
            release(folder, "a", "infrastructure-foo", &components);
            release(
                folder,
                "b",
                "infrastructure-foo",
                &components.replace("verbs: [get]", "verbs: [list]"),
            );
            let template = |at| {
                format!(
                    "apiVersion: a.example/v1\nkind: K{at}\nmetadata: {{name: \"${{CLUSTER_NAME}}\"}}\nspec: {{a: a{at}}}\n"
                )
            };
            (0..n).for_each(|at| {
                write(
                    folder,
                    &format!("a/cluster-template-t{at}.yaml"),
                    &template(at),
                )
            });
        },
        runs: &["lint {}/a", "lint -o sarif {}/a"],
        code: 0,
    });
    check(&Case {
        name: "releases that differ",
        few: 8,
        lay_out: |folder, n| {
            let components =
                NAMESPACE.to_owned() + &deployment("ghcr.io/foo/m:v1") + &each(n, parts_of_release);
            release(folder, "a", "infrastructure-foo", &components);
            release(
                folder,
                "b",
                "infrastructure-foo",
                &components.replace("verbs: [get]", "verbs: [list]"),
            );
        },
        runs: &["release diff {}/a {}/b"],
        code: 0,
    });
}
