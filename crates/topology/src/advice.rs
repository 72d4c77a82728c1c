//! What to do about what schemas and webhooks reject, by their words.

/// Words of upstream, and what helps. The first that are in a message count.
const ADVICE: &[(&str, &str)] = &[
    (
        "in body should have at least 1 items",
        "put an item into the list, or remove the field",
    ),
    (
        "in body should have at least 1 properties",
        "put a field into it, or remove it",
    ),
    ("should have at most", "leave out what is too much"),
    (
        "should be at least 1 chars long",
        "write a text, or remove the field",
    ),
    ("may not be more than", "shorten it"),
    ("Too long", "shorten it"),
    ("Too many", "leave out what is too much"),
    (
        "must be of type integer: \"string\"",
        "write a number without quotes; where there is a clusterctl variable, give it its value first: `windlass generate cluster … | windlass topology plan -`",
    ),
    ("in body must be of type string", "write a text in quotes"),
    ("in body must be of type", "write a value of that type"),
    (
        "Unsupported value",
        "write one of the values that the message lists",
    ),
    (
        "patch names must be unique",
        "give each patch a name of its own",
    ),
    ("must be unique", "give each a name of its own"),
    ("Duplicate value", "give each a name of its own"),
    ("is set more than once", "keep one of them"),
    ("can not be used as the name of a patch", "rename the patch"),
    ("is a reserved variable name", "rename the variable"),
    ("variable name cannot contain", "rename the variable"),
    (
        "a valid semantic version",
        "write a version with three numbers, such as v1.34.1",
    ),
    (
        "must match one of the versions defined",
        "use a version of the class, or add it to `spec.kubernetesVersions` there",
    ),
    (
        "does not exist in ClusterClass",
        "use a class that the ClusterClass has, or add it to `spec.workers` there",
    ),
    (
        "variable is not defined",
        "define it below `spec.variables` of the ClusterClass, or remove the value",
    ),
    (
        "required variable",
        "give it a value below `spec.topology.variables`: an override alone does not count",
    ),
    (
        "not a defined builtin variable",
        "use a builtin variable that Cluster API has, such as `builtin.cluster.name`",
    ),
    (
        "cannot be found",
        "define the variable below `spec.variables`, or write a path below `builtin`",
    ),
    (
        "template can not be parsed",
        "write a Go template with only the sprig functions that Cluster API allows",
    ),
    (
        "name part ",
        "write a name as labels have them: letters, digits, `-`, `_` and `.`, at most 63, and in front of it a domain and `/` if you like",
    ),
    (
        "a valid label must",
        "write a value of letters, digits, `-`, `_` and `.`, at most 63",
    ),
    (
        "name template",
        "write a template whose result is a name: lower case letters, digits and `-`",
    ),
    (
        "a lowercase RFC 1123",
        "use lower case letters, digits and `-` alone",
    ),
    ("path must start with", "write a path below `/spec`"),
    (
        "elements in arrays can not be accessed",
        "replace the whole list, or write the item into the template",
    ),
    ("array index", "add to a list at `/0` or at `/-`"),
    (
        "must set either",
        "write exactly one of `variable` and `template` below `valueFrom`",
    ),
    (
        "one of value or valueFrom",
        "write exactly one of `value` and `valueFrom`",
    ),
    (
        "one of definitions or external",
        "write exactly one of `definitions` and `external`",
    ),
    (
        "no selector enabled",
        "write `controlPlane: true`, `infrastructureCluster: true`, or names of classes below `matchResources`",
    ),
    (
        "selector is enabled but",
        "write apiVersion and kind of a template to which the class refers there, or leave that selector out",
    ),
    (
        "selector can at most contain a single",
        "keep one `*`, as the first or the last character",
    ),
    (
        "selector does not comply",
        "write the name of a class, with one `*` at most",
    ),
    ("template kind must be of form", "refer to a template"),
    (
        "must be at least 30s",
        "write 30 or more, or 0, which turns the check off",
    ),
    (
        "must be either an int or a percentage",
        "write a number, or a percentage such as 50%",
    ),
    ("cannot both be 0", "allow one machine more or one less"),
    (
        "can be only set if",
        "write `machineInfrastructure`, or remove the field",
    ),
    (
        "autoscaler annotations",
        "remove `replicas`, which the autoscaler decides, or the annotations",
    ),
    (
        "taint key ",
        "use a key of your own, or remove the taint: only the system may set taints with this key",
    ),
    (
        "taint is deprecated",
        "write `node-role.kubernetes.io/control-plane`",
    ),
    (
        "version must be greater than",
        "list the versions in their order, each once",
    ),
    (
        "expecting a version with minor",
        "list a version of each minor between them: upgrades skip none",
    ),
    (
        "healthCheck definition is not available",
        "write `checks` or `remediation` beside it or in the class, or remove `enabled`",
    ),
    ("value of the annotation", "write a number, in quotes"),
    ("value cannot be less than 1", "write 1 or more"),
    ("must be no more than", "shorten it"),
    ("Required value", "add the field"),
];

/// What helps against a rejection. What no words are known of is a value that its schema does not
/// take.
pub(super) fn of(rejection: &str) -> &'static str {
    let known = ADVICE.iter().find(|(words, _)| rejection.contains(words));
    known.map_or("write a value that the schema takes", |(_, advice)| advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_that_fit_count() {
        let check =
            |rejection: &str, expected: &str| assert_eq!(of(rejection), expected, "{rejection}");
        check(
            "spec.patches[1].name: Invalid value: \"a\": patch names must be unique. Patch",
            "give each patch a name of its own",
        );
        check("spec.x: Required value", "add the field");
        check(
            "spec.topology.variables[v].value: Invalid value: 5: should be less than or equal to 4",
            "write a value that the schema takes",
        );
    }
}
