//! What `release build` says of a kustomization beside the files: the fields that the release
//! lacks, of which objects, and what to write instead.

use crate::kustomizations::{PROVIDER, build, crd, project, told, write};

const RULE: &str = "warning[provider-kustomization-not-applied]: ";
const OF_MANAGER: &str =
    "write it under `manager.patch` of provider.yaml, which takes a patch of the same form";
const OF_PATCHES: &str = "write the same entry under `patches` of provider.yaml";
const BUCKET: &str = "CustomResourceDefinition/foobuckets.infrastructure.foo.dev";
const MANAGER: &str = "Deployment/foo-controller-manager";

/// What is said of a kustomization of the CRDs of some kinds: of each finding its message, its
/// place and its help. `FooHost` alone has two versions.
fn findings(provider: &str, kinds: &[&str], text: &str) -> Vec<[String; 3]> {
    let folder = project(provider);
    std::fs::remove_dir_all(folder.path().join("config")).unwrap();
    for kind in kinds {
        let versions = if *kind == "FooHost" {
            &["v1", "v1alpha1"][..]
        } else {
            &["v1"]
        };
        write(
            folder.path(),
            &format!("config/crd/bases/{kind}.yaml"),
            &crd(kind, versions),
        );
    }
    let files: Vec<String> = kinds
        .iter()
        .map(|kind| format!("bases/{kind}.yaml"))
        .collect();
    write(
        folder.path(),
        "config/crd/kustomization.yaml",
        &format!("resources: [{}]\n{text}\n", files.join(", ")),
    );
    let own = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: own}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: \
               {labels: {a: b}}, spec: {containers: [{name: manager, image: \"ghcr.io/a/b:v1\"}]}}}\n";
    write(folder.path(), "own.yaml", own);
    let output = build(folder.path(), "");
    let said = told(&output);
    assert_eq!(output.status.code(), Some(0), "{text}: {said}");
    let after = |part: &str, mark: &str| {
        part.lines()
            .find_map(|line| line.strip_prefix(mark))
            .unwrap_or_default()
            .to_owned()
    };
    let finding = |part: &str| {
        [
            part.lines().next().unwrap_or_default().to_owned(),
            after(part, "  --> "),
            after(part, "  = help: "),
        ]
    };
    said.split(RULE).skip(1).map(finding).collect()
}

/// What is said of CRDs of two kinds.
fn of_both(text: &str) -> Vec<[String; 3]> {
    findings(PROVIDER, &["FooHost", "FooBucket"], text)
}

/// A patch as the entry of a kustomization.
fn patch(target: &str, patch: &str) -> String {
    format!("patches: [{{target: {{{target}}}, patch: '{patch}'}}]")
}

/// Holds that one finding names what a patch sets (`sets FIELDS`) or takes away (`removes FIELDS`),
/// and what to do.
fn lacks(provider: &str, text: &str, what: &str, object: &str, help: &str) {
    let end = if what.starts_with("sets ") {
        "which the release does not have"
    } else {
        "which the release still has"
    };
    let message = format!("a patch in config/crd/kustomization.yaml {what} of {object}, {end}");
    let expected = [
        message,
        "config/crd/kustomization.yaml:2:11".to_owned(),
        help.to_owned(),
    ];
    assert_eq!(
        findings(provider, &["FooHost", "FooBucket"], text),
        [expected],
        "{text}"
    );
}

/// RFC 6902: what `add` and `replace` bring may be there already, in whole or as a part of more;
/// `remove` takes away what is there.
#[test]
fn operations_are_held_against_the_objects() {
    let of_bucket = |operation: &str| {
        patch(
            "kind: CustomResourceDefinition, name: foobuckets.*",
            &format!("[{operation}]"),
        )
    };
    for there in [
        "{op: add, path: /spec/versions/-, value: {name: v1}}",
        "{op: replace, path: /spec/names, value: {kind: FooBucket}}",
        "{op: replace, path: /spec/names/plural, value: foobuckets}",
        "{op: test, path: /spec/nothing, value: x}",
        "{op: remove, path: /spec/nothing}",
    ] {
        assert_eq!(
            of_both(&of_bucket(there)),
            Vec::<[String; 3]>::new(),
            "{there}"
        );
    }
    let metadata = "write under `crdMetadata` of provider.yaml: `- {kinds: [FooBucket], annotations: {a.b/c~d: x}}`";
    for (operation, what, help) in [
        (
            "{op: add, path: /spec/versions/-, value: {name: v9}}",
            "sets spec.versions.-",
            OF_PATCHES,
        ),
        (
            "{op: add, path: /spec/versions/0/deprecated, value: true}",
            "sets spec.versions[0].deprecated",
            OF_PATCHES,
        ),
        (
            "{op: replace, path: /spec/names, value: {kind: FooBarrel}}",
            "sets spec.names",
            OF_PATCHES,
        ),
        (
            "{op: add, path: /metadata/annotations/a.b~1c~0d, value: x}",
            "sets metadata.annotations[a.b/c~d]",
            metadata,
        ),
        (
            "{op: copy, from: /spec/scope, path: /spec/nothing}",
            "sets spec.nothing",
            OF_PATCHES,
        ),
        (
            "{op: remove, path: /spec/scope}",
            "removes spec.scope",
            OF_PATCHES,
        ),
    ] {
        lacks(PROVIDER, &of_bucket(operation), what, BUCKET, help);
    }
}

/// The fields of a merge patch are told apart one by one; what the release has under a name of its
/// own, or what Kubernetes fills in, is there.
#[test]
fn merge_patches_are_held_against_the_objects() {
    let of_pod = |pod: &str| format!("{{spec: {{template: {{spec: {{{pod}}}}}}}}}");
    let of_container = |fields: &str| of_pod(&format!("containers: [{{name: manager, {fields}}}]"));
    for there in [
        // Which object it is says the target; all objects are in the namespace of the release.
        "{metadata: {name: any, namespace: other}, spec: {replicas: 1}}".to_owned(),
        "{spec: {selector: {}}}".to_owned(),
        "{spec: {strategy: {$patch: delete}}}".to_owned(),
        of_pod("containers: [{name: gone, $patch: delete}]"),
        of_pod("tolerations: [{key: node-role.kubernetes.io/master}]"),
        of_pod("serviceAccountName: manager"),
        of_container("args: [--b]"),
        of_container("ports: [{containerPort: 8443, protocol: TCP}]"),
        of_container("livenessProbe: {periodSeconds: 10}"),
    ] {
        let found = findings(
            &format!("{PROVIDER}  args: [--a, --b]\n"),
            &["FooHost"],
            &patch("kind: Deployment", &there),
        );
        assert_eq!(found, Vec::<[String; 3]>::new(), "{there}");
    }
    let of_first = |field: &str| format!("sets spec.template.spec.containers[0].{field}");
    for (content, what) in [
        (
            "{metadata: {name: any, namespace: other, labels: {a: b}}}".to_owned(),
            "sets metadata.labels.a".to_owned(),
        ),
        (
            "{metadata: {annotations: {cert-manager.io/inject-ca-from: a/b}}}".to_owned(),
            "sets metadata.annotations[cert-manager.io/inject-ca-from]".to_owned(),
        ),
        (
            "{spec: {strategy: {}}}".to_owned(),
            "sets spec.strategy".to_owned(),
        ),
        (
            "{spec: {strategy: {$retainKeys: [type], type: Recreate}}}".to_owned(),
            "sets spec.strategy.type".to_owned(),
        ),
        (
            "{spec: {template: {$patch: delete}}}".to_owned(),
            "removes spec.template".to_owned(),
        ),
        (of_container("args: [--b, --new]"), of_first("args")),
        (
            of_container("ports: [{containerPort: 8443, protocol: UDP}]"),
            of_first("ports[0].protocol"),
        ),
        (
            of_container(
                "volumeMounts: [{mountPath: /tmp/k8s-webhook-server/serving-certs, readOnly: false}]",
            ),
            of_first("volumeMounts[0].readOnly"),
        ),
        (
            of_container("livenessProbe: {periodSeconds: 11}"),
            of_first("livenessProbe.periodSeconds"),
        ),
        (
            of_pod("tolerations: [{key: node-role.kubernetes.io/master}, {key: x}]"),
            "sets spec.template.spec.tolerations[1].key".to_owned(),
        ),
    ] {
        lacks(
            &format!("{PROVIDER}  args: [--a, --b]\n"),
            &patch("kind: Deployment", &content),
            &what,
            MANAGER,
            OF_MANAGER,
        );
    }
}

/// With `nameSuffix` a name of the release ends with it, whatever it begins with; other texts may
/// end so too.
#[test]
fn names_may_have_got_a_suffix() {
    let head = |fields: &str| {
        PROVIDER.replace(
            "namespace: foo-system",
            &format!("namespace: foo-system\n{fields}"),
        )
    };
    let bare = head("namePrefix: \"\"\nnameSuffix: -x");
    let high = format!(
        "{}  patch: {{spec: {{template: {{spec: {{priorityClassName: high-x}}}}}}}}\n",
        head("nameSuffix: -x")
    );
    for (provider, pod) in [
        (bare, "serviceAccountName: manager"),
        (high, "priorityClassName: high-x"),
    ] {
        let text = patch(
            "kind: Deployment",
            &format!("{{spec: {{template: {{spec: {{{pod}}}}}}}}}"),
        );
        assert_eq!(
            findings(&provider, &["FooHost"], &text),
            Vec::<[String; 3]>::new(),
            "{provider}"
        );
    }
}

/// Up to six fields are named, and one further object; of more it is said that there are more.
#[test]
fn findings_name_some_fields_and_objects() {
    let labels = |count: usize| {
        let entries: Vec<String> = ["a", "b", "c", "d", "e", "f", "g"][..count]
            .iter()
            .map(|key| format!("{key}: '1'"))
            .collect();
        (
            format!("commonLabels: {{{}}}", entries.join(", ")),
            entries.join(", ").replace('\'', "\""),
        )
    };
    let named = |count: usize| {
        ["a", "b", "c", "d", "e", "f"][..count]
            .iter()
            .map(|key| format!("metadata.labels.{key}"))
            .collect::<Vec<_>>()
    };
    let hosts = "CustomResourceDefinition/foohosts.infrastructure.foo.dev";
    for (count, kinds, fields, objects) in [
        (
            1,
            &["FooBucket"][..],
            named(1).join(", "),
            BUCKET.to_owned(),
        ),
        (6, &["FooBucket"], named(6).join(", "), BUCKET.to_owned()),
        (
            7,
            &["FooBucket", "FooHost"],
            format!("{}, …", named(6).join(", ")),
            format!("{BUCKET} and {hosts}"),
        ),
        (
            1,
            &["FooBucket", "FooHost", "FooThing"],
            named(1).join(", "),
            format!("{BUCKET} and of 2 others"),
        ),
    ] {
        let (text, entries) = labels(count);
        let message = format!(
            "config/crd/kustomization.yaml sets {fields} of {objects}, which the release does not have"
        );
        let help = format!(
            "write under `crdMetadata` of provider.yaml: `- {{kinds: [{}], labels: {{{entries}}}}}`",
            kinds.join(", ")
        );
        assert_eq!(
            findings(PROVIDER, kinds, &text),
            [[
                message,
                "config/crd/kustomization.yaml:2:15".to_owned(),
                help
            ]]
        );
    }
}

/// The remedy is the field of provider.yaml that says the same, where there is one.
#[test]
fn the_remedy_is_the_field_that_says_the_same() {
    let own = format!("{PROVIDER}objects: [own.yaml]\n");
    let both = "CustomResourceDefinition/foobuckets.infrastructure.foo.dev and CustomResourceDefinition/foohosts.infrastructure.foo.dev";
    let metadata = "write under `crdMetadata` of provider.yaml: `- {kinds: [FooBucket], annotations: {c: d}, labels: {a: b}}`";
    let crds = "kind: CustomResourceDefinition";
    let buckets = "kind: CustomResourceDefinition, name: foob.*";
    for (provider, target, content, what, object, help) in [
        (
            PROVIDER,
            "kind: Service",
            "{spec: {type: NodePort}}",
            "sets spec.type",
            "Service/foo-webhook-service",
            OF_PATCHES,
        ),
        (
            &own,
            "kind: Deployment, name: own",
            "{spec: {paused: true}}",
            "sets spec.paused",
            "Deployment/foo-own",
            OF_PATCHES,
        ),
        (
            &own,
            "kind: Deployment",
            "{spec: {paused: true}}",
            "sets spec.paused",
            "Deployment/foo-own and Deployment/foo-controller-manager",
            OF_PATCHES,
        ),
        (
            &own,
            "kind: Deployment, name: con.*",
            "{spec: {paused: true}}",
            "sets spec.paused",
            MANAGER,
            OF_MANAGER,
        ),
        (
            PROVIDER,
            buckets,
            "{metadata: {labels: {a: b}, annotations: {c: d}}}",
            "sets metadata.annotations.c, metadata.labels.a",
            BUCKET,
            metadata,
        ),
        (
            PROVIDER,
            crds,
            "{metadata: {labels: {a: b}}, spec: {preserveUnknownFields: false}}",
            "sets metadata.labels.a, spec.preserveUnknownFields",
            both,
            OF_PATCHES,
        ),
    ] {
        lacks(provider, &patch(target, content), what, object, help);
    }
}

/// A contract label is `contracts` of provider.yaml; one that names no version that a CRD serves
/// would lead the core nowhere.
#[test]
fn contract_labels_are_contracts_of_provider_yaml() {
    let of = |versions: &str| {
        findings(
            PROVIDER,
            &["FooBucket"],
            &format!("commonLabels: {{cluster.x-k8s.io/v1beta1: {versions}}}"),
        )
    };
    for (versions, written) in [("v1", "v1"), ("v1alpha9_v1", "v1alpha9, v1")] {
        let message = format!(
            "config/crd/kustomization.yaml sets metadata.labels[cluster.x-k8s.io/v1beta1] of {BUCKET}, which the release does not have"
        );
        let help = format!("write `v1beta1: [{written}]` under `contracts` of provider.yaml");
        assert_eq!(
            of(versions),
            [[
                message,
                "config/crd/kustomization.yaml:2:15".to_owned(),
                help
            ]]
        );
    }
    assert_eq!(of("v1alpha9"), Vec::<[String; 3]>::new());
}

/// kustomize has three lists of patches, and in the oldest an entry is a file or the patch itself;
/// one text may hold several.
#[test]
fn all_forms_of_patches_are_read() {
    let paused = format!(
        "a patch in config/crd/kustomization.yaml sets spec.paused of {MANAGER}, which the release does not have"
    );
    let json = |version: &str| {
        format!(
            "patchesJson6902:\n- target: {{group: apps, version: {version}, kind: Deployment, name: controller-manager}}\n  \
             patch: '[{{op: add, path: /spec/paused, value: true}}]'"
        )
    };
    let own = |head: &str| format!("patches: [{{patch: '{{{head}, spec: {{paused: true}}}}'}}]");
    let inline = "patchesStrategicMerge:\n- |\n  apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: controller-manager}\n  spec: {paused: true}";
    for (text, place) in [
        (inline.to_owned(), "4:3"),
        (json("v1"), "3:3"),
        (
            own("kind: Deployment, metadata: {name: controller-manager}"),
            "2:11",
        ),
        (
            own(
                "apiVersion: apps/v1beta9, kind: Deployment, metadata: {name: foo-controller-manager}",
            ),
            "2:11",
        ),
    ] {
        let expected = [
            paused.clone(),
            format!("config/crd/kustomization.yaml:{place}"),
            OF_MANAGER.to_owned(),
        ];
        assert_eq!(of_both(&text), [expected], "{text}");
    }
    // Of another version or group, and of no object at all.
    for text in [
        json("v1beta1"),
        own("apiVersion: v1, kind: Deployment, metadata: {name: controller-manager}"),
        patch("kind: X", "# nothing"),
    ] {
        assert_eq!(of_both(&text), Vec::<[String; 3]>::new(), "{text}");
    }
    let several = "patches: [{target: {kind: Deployment}, patch: \"---\\n---\\nspec: {paused: true}\\n---\\n[{op: add, path: /spec/x, value: 1}]\\n\"}]";
    let messages: Vec<String> = of_both(several)
        .into_iter()
        .map(|[message, ..]| message)
        .collect();
    assert_eq!(
        messages,
        [paused.clone(), paused.replace("spec.paused", "spec.x")]
    );
}

/// What kustomize makes by itself is not followed, and each field of it is told; a field that says
/// nothing is not.
#[test]
fn what_is_not_followed_is_told_field_by_field() {
    let elsewhere = "write it into the file, or release what kustomize prints: `components: -` in provider.yaml takes it from standard input";
    for (field, value) in [
        ("configMapGenerator", "[{name: x}]"),
        ("secretGenerator", "[{name: x}]"),
        ("generators", "[a.yaml]"),
        ("helmCharts", "[{name: x}]"),
        ("transformers", "[a.yaml]"),
        ("components", "[../x]"),
        (
            "replacements",
            "[{source: {kind: ConfigMap, name: x}, targets: []}]",
        ),
        (
            "replacements",
            "[{source: {kind: Service}}, {source: {kind: Secret}}]",
        ),
    ] {
        let message = format!(
            "`{field}` of config/crd/kustomization.yaml is not followed, so the release lacks what it makes or changes"
        );
        let place = format!("config/crd/kustomization.yaml:2:{}", field.len() + 3);
        assert_eq!(
            of_both(&format!("{field}: {value}")),
            [[message, place, elsewhere.to_owned()]]
        );
    }
    for silent in [
        "configMapGenerator:\nsecretGenerator: null\nnameSuffix: ''",
        "replacements: [{source: {kind: Service}}]",
        "components: []\ngenerators: []",
    ] {
        assert_eq!(of_both(silent), Vec::<[String; 3]>::new(), "{silent}");
    }
    for (text, why, help) in [
        (
            "{patch: 'a: ['}",
            "cannot be read: `[` is never closed",
            "correct it, or remove it if nobody needs it",
        ),
        (
            "{patch: '{kind: Deployment}'}",
            "has no target, and no kind and name of its own",
            elsewhere,
        ),
        (
            "{patch: '{metadata: {name: controller-manager}}'}",
            "has no target, and no kind and name of its own",
            elsewhere,
        ),
        (
            "{patch: '[]', target: {annotationSelector: a=b}}",
            "has a target that selects by labels or annotations, which is not followed",
            elsewhere,
        ),
    ] {
        let message = format!("a patch in config/crd/kustomization.yaml {why}");
        let expected = [
            message,
            "config/crd/kustomization.yaml:2:11".to_owned(),
            help.to_owned(),
        ];
        assert_eq!(of_both(&format!("patches: [{text}]")), [expected], "{text}");
    }
}

/// Labels and annotations stand in three places, each told at its own; one without entries says
/// nothing.
#[test]
fn labels_and_annotations_are_told_at_their_place() {
    let text = "commonAnnotations: {x: z}\ncommonLabels: {}\nlabels: [{includeSelectors: true}, {pairs: {c: d}}]";
    let expected = [("annotations", "x", "z", "2:20"), ("labels", "c", "d", "4:44")].map(|(map, key, value, place)| {
        [
            format!("config/crd/kustomization.yaml sets metadata.{map}.{key} of {BUCKET}, which the release does not have"),
            format!("config/crd/kustomization.yaml:{place}"),
            format!("write under `crdMetadata` of provider.yaml: `- {{kinds: [FooBucket], {map}: {{{key}: {value}}}}}`"),
        ]
    });
    assert_eq!(findings(PROVIDER, &["FooBucket"], text), expected);
}
