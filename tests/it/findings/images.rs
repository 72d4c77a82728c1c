//! Images and containers of components, and what kustomizations fetch.

use super::{found, notes, text, told};

fn workload(kind: &str, name: &str, pod: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {{template: {{spec: {{{pod}}}}}}}\n"
    )
}

fn components(workloads: &str) -> String {
    format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: foo-system}}\n{workloads}")
}

/// distribution/reference, as clusterctl parses the images of Deployments and DaemonSets: with
/// their registry, in lower case.
#[test]
fn images_are_written_in_full() {
    let sound = "containers: [{name: manager, image: \"ghcr.io/a/b:v1\"}]";
    for (pod, path, what, help, said) in [
        (
            "containers: [{name: manager, image: \"nginx:1\"}]",
            "containers[0]",
            "`nginx:1` of KIND/d does not name its registry",
            "write it in full, such as `docker.io/library/nginx:1`",
            "repository name must be canonical",
        ),
        (
            "containers: [{name: manager, image: \"ghcr.io/A/b:v1\"}]",
            "containers[0]",
            "`ghcr.io/A/b:v1` of KIND/d has upper-case letters in its repository",
            "write `ghcr.io/a/b:v1`",
            "invalid reference format: repository name (A/b) must be lowercase",
        ),
        (
            "containers: [{name: manager, image: \"a b\"}]",
            "containers[0]",
            "`a b` of KIND/d is no image reference",
            "write `image: registry/path:tag`, without variables",
            "invalid reference format",
        ),
        (
            &format!("{sound}, initContainers: [{{name: x, image: x/y}}]"),
            "initContainers[0]",
            "`x/y` of KIND/d does not name its registry",
            "write it in full, such as `docker.io/x/y`",
            "repository name must be canonical",
        ),
    ] {
        for kind in ["Deployment", "DaemonSet", "StatefulSet"] {
            let found = found(
                &[(
                    "infrastructure-components.yaml",
                    &components(&workload(kind, "d", pod)),
                )],
                &[],
                "components-image-not",
            );
            let told: Vec<_> = found
                .iter()
                .map(|finding| {
                    assert_eq!(notes(finding), format!("clusterctl parses every image as a canonical name and ends with an error: {said}"));
                    ["path", "message", "help", "upstream"].map(|field| text(finding, field).to_owned())
                })
                .collect();
            let path = format!("spec.template.spec.{path}.image");
            let expected = [
                path,
                format!("image {}", what.replace("KIND", kind)),
                help.to_owned(),
                said.to_owned(),
            ];
            assert_eq!(
                told,
                vec![expected; usize::from(kind != "StatefulSet")],
                "{kind} {pod}"
            );
        }
    }
}

#[test]
fn a_container_has_an_image() {
    let components = components(&workload(
        "Deployment",
        "d",
        "containers: [{name: manager}]",
    ));
    let found = found(
        &[("infrastructure-components.yaml", &components)],
        &[],
        "components-image-not",
    );
    let [finding] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        ["message", "help"].map(|field| text(finding, field)),
        [
            "a container of Deployment/d has no image",
            "write `image: registry/path:tag`, without variables"
        ]
    );
}

/// One container called `manager` in one Deployment is enough, and due where there is a Deployment.
#[test]
fn a_deployment_has_the_manager() {
    let (manager, other) = (
        "containers: [{name: manager, image: \"ghcr.io/a/b:v1\"}]",
        "containers: [{name: x, image: \"ghcr.io/a/b:v1\"}]",
    );
    let of = |workloads: &[String]| {
        told(
            &[(
                "infrastructure-components.yaml",
                &components(&workloads.concat()),
            )],
            "components-manager-container",
        )
    };
    let missing = "8:38-74: Deployment/a has no container called `manager`: rename the container that runs the controller to `manager`";
    let deployment = |name: &str, pod: &str| workload("Deployment", name, pod);
    assert_eq!(of(&[deployment("a", other)]), [missing]);
    assert_eq!(
        of(&[deployment("a", other), deployment("b", other)]),
        [missing]
    );
    assert_eq!(
        of(&[deployment("a", other), workload("DaemonSet", "b", manager)]),
        [missing]
    );
    for sound in [
        vec![deployment("a", manager)],
        vec![deployment("a", other), deployment("b", manager)],
        vec![deployment("a", manager), deployment("b", other)],
        vec![workload("DaemonSet", "a", other)],
    ] {
        assert_eq!(of(&sound), [""; 0]);
    }
}

/// kustomize, `pkg/loader`: what is fetched and what lies in the repository.
#[test]
fn what_kustomize_fetches_is_told() {
    let resources = [
        "a.yaml",
        "https://x/y.yaml",
        "FILE:///a",
        "file:///b",
        "git@a:b",
        "b?ref=c",
        "github.com/a/b",
        "./c",
    ];
    let list: String = resources
        .iter()
        .map(|resource| format!("- {resource}\n"))
        .collect();
    let told = told(
        &[
            ("kustomization.yaml", &format!("resources:\n{list}")),
            ("a.yaml", &components("")),
        ],
        "kustomization-resource",
    );
    let fetched = |line: usize, resource: &str| {
        format!(
            "{line}:3-{}: kustomize fetches {resource} each time it builds: commit the file, and name its path",
            3 + resource.len()
        )
    };
    assert_eq!(
        told,
        [
            fetched(3, "https://x/y.yaml"),
            fetched(6, "git@a:b"),
            fetched(7, "b?ref=c"),
            fetched(8, "github.com/a/b")
        ]
    );
}
