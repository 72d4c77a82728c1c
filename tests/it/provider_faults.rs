//! Faults of a `provider.yaml`: of each the rule, the place, the words, and what to write instead.

use windlass::diag::{Diagnostic, Place};
use windlass::provider;
use windlass::text::budget::Budget;
use windlass::text::source::Source;

use crate::support;

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";
const HEAD: &str = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: InfrastructureProvider\nnamespace: foo-system\n";
const MANAGER: &str = "manager: {image: ghcr.io/a/b}\n";

const REFUSED: &str = "provider-value-refused";
const PATTERNS: &str = "write a list, such as `crds: [config/crd/bases/*.yaml]`";
const OF_FORM: &str = "write `path: FILE`, or `patch: |-` with the patch below";

/// Rule, place, message and help.
type Fault<'a> = [&'a str; 4];

fn place(place: &Place) -> String {
    place
        .span
        .map(|span| format!("{}:{}", span.start.line, span.start.column))
        .unwrap_or_default()
}

/// The findings about a text, and how many providers it describes.
fn findings(text: &str) -> (Vec<Diagnostic>, usize) {
    let (providers, mut report) =
        provider::parse(&Source::new("provider.yaml", text), &Budget::default());
    report.sort(&[]);
    (report.into_findings(), providers.len())
}

/// Holds that a text has exactly these faults.
fn check(text: &str, expected: &[Fault<'_>]) {
    let (found, _) = findings(text);
    let found: Vec<[String; 4]> = found
        .iter()
        .map(|finding| {
            let help = finding
                .help
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            [
                finding.rule.id.to_owned(),
                place(&finding.place),
                finding.message.clone(),
                help,
            ]
        })
        .collect();
    assert_eq!(
        found,
        expected
            .iter()
            .map(|fault| fault.map(str::to_owned))
            .collect::<Vec<_>>(),
        "{text}"
    );
}

/// A short form of three letters or more names the type that begins so, and a mistyped one the
/// nearest.
#[test]
fn types_of_providers_are_a_closed_list() {
    let all = "write one of `CoreProvider`, `BootstrapProvider`, `ControlPlaneProvider`, `InfrastructureProvider`, `IPAMProvider`, \
               `RuntimeExtensionProvider`, `AddonProvider`";
    for (given, meant) in [
        ("ip", None),
        ("ipa", Some("IPAMProvider")),
        ("core", Some("CoreProvider")),
        ("AddonProvidr", Some("AddonProvider")),
        ("machine", None),
    ] {
        let text = format!("{}{MANAGER}", HEAD.replace("InfrastructureProvider", given));
        let help = meant.map_or_else(|| all.to_owned(), |meant| format!("write `type: {meant}`"));
        check(
            &text,
            &[[
                REFUSED,
                "4:7",
                &format!("type is `{given}`, which is no type of provider"),
                &help,
            ]],
        );
        let label = meant
            .map(|meant| format!("did you mean `{meant}`?"))
            .unwrap_or_default();
        assert_eq!(findings(&text).0[0].label, label);
    }
}

/// Of an object that is no provider at all one thing is said; of one that nearly is, what differs.
#[test]
fn version_and_kind_are_those_of_a_provider() {
    const WRONG: &str = "provider-kind-wrong";
    const KIND: Fault<'_> = [
        WRONG,
        "2:7",
        "kind is `Provide`, not `Provider`",
        "write `kind: Provider`",
    ];
    let version = |found: &str| format!("apiVersion is `{found}`, not `windlass.dev/v1alpha1`");
    let text = |version: &str, kind: &str| {
        format!("{HEAD}{MANAGER}")
            .replace("windlass.dev/v1alpha1", version)
            .replace("kind: Provider", &format!("kind: {kind}"))
    };
    check(&text("windlass.dev/v1alpha1", "Provide"), &[KIND]);
    for other in ["windlass.dev/v1", "v1", "other.dev/v1alpha1"] {
        check(
            &text(other, "Provider"),
            &[[
                WRONG,
                "1:13",
                &version(other),
                "write `apiVersion: windlass.dev/v1alpha1`",
            ]],
        );
    }
    check(
        &text("windlass.dev/v1", "Provide"),
        &[
            [
                WRONG,
                "1:13",
                &version("windlass.dev/v1"),
                "write `apiVersion: windlass.dev/v1alpha1`",
            ],
            KIND,
        ],
    );
    check(
        &text("cluster.x-k8s.io/v1beta1", "Cluster"),
        &[[
            WRONG,
            "2:7",
            "the document is a Cluster (cluster.x-k8s.io/v1beta1), not the description of a provider",
            "write `apiVersion: windlass.dev/v1alpha1` and `kind: Provider`; `windlass schema provider` prints the fields",
        ]],
    );
}

/// `crds` is a word or a list, and each item of the list a pattern.
#[test]
fn crds_are_patterns_or_the_word_builtin() {
    for (crds, place, message) in [
        (
            "all",
            "6:7",
            "crds is `\"all\"`, neither a list of patterns nor the word builtin",
        ),
        (
            "{a: b}",
            "6:7",
            "crds is `{\"a\":\"b\"}`, neither a list of patterns nor the word builtin",
        ),
        (
            "[a.yaml, '', b.yaml]",
            "6:16",
            "crds[1] is no pattern of files",
        ),
        ("[5]", "6:8", "crds[0] is no pattern of files"),
    ] {
        check(
            &format!("{HEAD}crds: {crds}\n"),
            &[[REFUSED, place, message, PATTERNS]],
        );
    }
    let builtin = "provider-crds-builtin-foreign";
    let rights = "remove it: the rights are made from the provider's type and kinds; or name role files under `rbac.roles`";
    let of = |field: &str| {
        format!("{field} is `builtin`, which stands for the kinds of bootstrap.windlass.dev only")
    };
    check(
        &format!(
            "{HEAD}group: foo.dev\ncontracts: {{v1beta2: [v1]}}\ncrds: builtin\nrbac: {{manager: builtin}}\n"
        ),
        &[
            [
                builtin,
                "8:7",
                &of("crds"),
                "name the files of your own CRDs",
            ],
            [builtin, "9:17", &of("rbac.manager"), rights],
        ],
    );
    check(
        &format!(
            "{HEAD}group: foo.dev\ncontracts: {{v1beta2: [v1]}}\ncrds: [a.yaml]\nrbac: {{manager: builtin}}\n"
        ),
        &[[builtin, "9:17", &of("rbac.manager"), rights]],
    );
    for sound in [
        "builtin\nrbac: {manager: builtin}",
        "builtin",
        "[a.yaml]\nrbac: {}",
    ] {
        check(
            &format!(
                "{HEAD}group: bootstrap.windlass.dev\ncontracts: {{v1beta2: [v1]}}\ncrds: {sound}\n"
            ),
            &[],
        );
    }
}

/// One of four things is enough to install; finished components stand for all others.
#[test]
fn there_is_something_to_install_and_it_is_said_once() {
    let group = "group: foo.dev\ncontracts: {v1beta2: [v1]}\n";
    for sound in [
        MANAGER,
        "objects: [a.yaml]\n",
        "components: a.yaml\n",
        &format!("{group}crds: [a.yaml]\n"),
    ] {
        check(&format!("{HEAD}{sound}"), &[]);
    }
    let empty = "infrastructure-foo has nothing to install";
    let help = "give `crds`, `manager` or `objects`, or else `components`";
    check(
        &format!("{HEAD}templates: [a]\nrbac: {{}}\n"),
        &[["provider-components-empty", "3:7", empty, help]],
    );
    check(
        &format!("{HEAD}{group}crds: []\n"),
        &[["provider-components-empty", "3:7", empty, help]],
    );
    for (field, value, place) in [
        ("crds", "[a.yaml]", "9:7"),
        ("rbac", "{}", "9:7"),
        ("manager", "{image: ghcr.io/a/b}", "9:10"),
        ("objects", "[a.yaml]", "9:10"),
    ] {
        let text = format!("{HEAD}{group}components: c.yaml\n{field}: {value}\n");
        let message = format!("both components and {field} are given");
        let help = format!("remove {field}, which the file holds already, or components");
        check(
            &text,
            &[["provider-components-exclusive", place, &message, &help]],
        );
        let related = &findings(&text).0[0].related[0];
        assert_eq!(
            (self::place(&related.place).as_str(), related.label.as_str()),
            ("8:13", "a file that is built already")
        );
    }
}

/// Core objects refer to kinds by group and contract: without these the CRDs would not be found.
#[test]
fn crds_have_a_group_and_contracts() {
    let group: Fault<'_> = [
        "provider-field-missing",
        "6:7",
        "group is missing, although there are crds",
        "add `group:` with the API group of the CRDs",
    ];
    let contracts: Fault<'_> = [
        "provider-contracts-missing",
        "6:7",
        "contracts is missing, so the core would not find the kinds",
        "add `contracts: {v1beta2: [VERSION]}` with the API versions that fulfil that contract",
    ];
    let crds = format!("{HEAD}crds: [a.yaml]\n");
    check(&format!("{crds}group: foo.dev\n"), &[contracts]);
    check(&format!("{crds}contracts: {{v1beta2: [v1]}}\n"), &[group]);
    // Nobody refers to the kinds of an add-on.
    check(
        &format!("{crds}group: foo.dev\n").replace("InfrastructureProvider", "AddonProvider"),
        &[],
    );
    check(&format!("{HEAD}{MANAGER}group: foo.dev\n"), &[]);
    let missing = |at: &str, contract: &str| {
        (
            format!("{at}.{contract} must list API versions"),
            format!("write `{contract}: [v1beta1]`"),
        )
    };
    let ((none, none_help), (bad, bad_help)) = (
        missing("contracts", "v1beta2"),
        missing("contracts", "v1beta1"),
    );
    let (own, own_help) = missing("crdMetadata[1].contracts", "v1beta2");
    let text = "contracts: {v1beta2: [], two: [v1], v1beta1: [v1, x, z]}\ncrdMetadata: [{}, {contracts: {v1beta2: [v1, q], one: [v1]}}]\n";
    let unknown = "provider-contract-unknown";
    check(
        &format!("{HEAD}{MANAGER}{text}"),
        &[
            [REFUSED, "7:22", &none, &none_help],
            [
                unknown,
                "7:31",
                "`two` under contracts is no contract version",
                "write `v1beta1` or `v1beta2`",
            ],
            [REFUSED, "7:51", &bad, &bad_help],
            [REFUSED, "8:46", &own, &own_help],
            [
                unknown,
                "8:55",
                "`one` under crdMetadata[1].contracts is no contract version",
                "write `v1beta1` or `v1beta2`",
            ],
        ],
    );
}

/// A patch is a file or a text; a label that other fields give is refused, any other one is not.
#[test]
fn patches_and_labels_are_said_in_one_way() {
    check(
        &format!(
            "{HEAD}{MANAGER}patches: [{{path: a, patch: b}}, {{path: a}}, {{patch: b}}, {{target: {{kind: X}}}}]\n"
        ),
        &[
            [
                REFUSED,
                "7:11",
                "patches[0] has both `path` and `patch`",
                OF_FORM,
            ],
            [
                REFUSED,
                "7:55",
                "patches[3] has neither `path` nor `patch`",
                OF_FORM,
            ],
        ],
    );
    let keys = "cluster.x-k8s.io/provider: x, cluster.x-k8s.io/v1beta1: v1, cluster.x-k8s.io/other: x, cluster.x-k8s.io/vx: x, a/v1: b";
    check(
        &format!("{HEAD}{MANAGER}crdMetadata: [{{}}, {{labels: {{{keys}}}}}]\n"),
        &[
            [
                REFUSED,
                "7:56",
                "crdMetadata has the label cluster.x-k8s.io/provider, which is that of type and name",
                "remove the line: the label is made of `type` and `name`",
            ],
            [
                REFUSED,
                "7:85",
                "crdMetadata has the label cluster.x-k8s.io/v1beta1, which is that of contracts",
                "write `v1beta1: [VERSION]` under `contracts`",
            ],
        ],
    );
}

/// clusterctl binds the name `cluster-api` to the core provider.
#[test]
fn the_name_of_the_core_is_its_own() {
    let of = |name: &str, kind: &str| {
        format!("{HEAD}{MANAGER}")
            .replace("name: foo\n", &format!("name: {name}\n"))
            .replace("InfrastructureProvider", kind)
    };
    check(&of("cluster-api", "CoreProvider"), &[]);
    for (name, kind) in [("cluster-api", "AddonProvider"), ("foo", "CoreProvider")] {
        let message = format!("name is `{name}` and type is {kind}");
        let help = "name the core provider, and no other one, `cluster-api`";
        check(
            &of(name, kind),
            &[["provider-name-reserved", "3:7", &message, help]],
        );
    }
}

/// Each type has one components file; documents without content count for nothing but their number.
#[test]
fn a_release_has_one_provider_of_a_type() {
    let document = |kind: &str| format!("{HEAD}{MANAGER}").replace("InfrastructureProvider", kind);
    let (infrastructure, addon) = (
        document("InfrastructureProvider"),
        document("AddonProvider"),
    );
    check(&format!("{infrastructure}---\n{addon}"), &[]);
    let text = format!("{infrastructure}---\n---\n{addon}---\n{infrastructure}");
    let help =
        "release it from a provider.yaml of its own: both would write the same components file";
    check(
        &text,
        &[[
            "provider-duplicated",
            "19:7",
            "document 4 is a second InfrastructureProvider of the release",
            help,
        ]],
    );
    let (found, count) = findings(&text);
    assert_eq!(
        (
            count,
            place(&found[0].related[0].place).as_str(),
            found[0].related[0].label.as_str()
        ),
        (3, "4:7", "the first")
    );
    for nothing in ["", "# nothing\n---\n"] {
        let help = "describe the provider in it; `windlass schema provider` prints the JSON Schema";
        check(
            nothing,
            &[[
                "provider-document-missing",
                "",
                "provider.yaml holds no document",
                help,
            ]],
        );
    }
}

/// What a pattern stands for decides what is said of one without a file, and where.
#[test]
fn patterns_without_files_are_told_by_what_they_are_for() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let lists = "crds: [x.yaml, '!n.yaml']\nobjects: ['{a,b}.yaml', '{c']\ntemplates: [t]\ngroup: foo.dev\ncontracts: {v1beta2: [v1]}\n";
    write(
        "provider.yaml",
        &format!("{HEAD}{lists}patches: [{{path: p.yaml}}]\nrbac: {{roles: [r.yaml]}}\n"),
    );
    write("metadata.yaml", METADATA);
    let output = support::windlass(folder.path())
        .args(["release", "build", "v0.1.0", "--to", "out"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let path = "correct the path: it is relative to the folder of provider.yaml";
    let expected = [
        ("`x.yaml` is no file", "6:8", path),
        (
            "`n.yaml` is no file, so it leaves nothing out",
            "6:16",
            "correct the path after `!`, or remove the line",
        ),
        ("`a.yaml` is no file", "7:11", path),
        ("`b.yaml` is no file", "7:11", path),
        (
            "the pattern `{c` has a brace without its partner",
            "7:25",
            "write a path relative to provider.yaml, with `*` and `{a,b}`",
        ),
        ("`t` is no folder with templates", "8:13", path),
        ("`p.yaml` is no file", "11:18", path),
        ("`r.yaml` is no file", "12:16", path),
    ];
    let told: Vec<&str> = said
        .split("error[provider-file-missing]: ")
        .skip(1)
        .collect();
    assert_eq!(told.len(), expected.len(), "{said}");
    for (told, (message, place, help)) in told.into_iter().zip(expected) {
        let (begins, ends) = (
            format!("{message}\n  --> provider.yaml:{place}\n"),
            format!("  = help: {help}\n"),
        );
        assert!(
            told.starts_with(&begins) && told.contains(&ends),
            "{message}: {told}"
        );
    }
}
