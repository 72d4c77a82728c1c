//! The names of what a release holds, all from the namespace, the name prefix and the name suffix
//! of its `provider.yaml`.

use windlass_provider::Provider;

/// Names that several objects share. Namespaced objects begin with the name prefix, and all end
/// with the suffix. Cluster-wide roles begin with the namespace, because `clusterctl delete` takes
/// only those away (`ClusterRole` and `ClusterRoleBinding` whose name begins with `{namespace}-`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The namespace of all namespaced objects.
    pub namespace: String,
    /// What names of namespaced objects begin with.
    pub(crate) prefix: String,
    /// What names of cluster-wide roles begin with.
    pub(crate) cluster_prefix: String,
    pub(crate) suffix: String,
    pub(crate) service_account: String,
}

/// The ServiceAccount that every namespace has.
pub(crate) const DEFAULT_SERVICE_ACCOUNT: &str = "default";

#[cfg(test)]
impl Names {
    /// Those of the provider `foo` that the tests of this folder have.
    pub(super) fn of_foo() -> Self {
        Names {
            namespace: "foo-system".to_owned(),
            prefix: "foo-".to_owned(),
            cluster_prefix: "foo-system-".to_owned(),
            suffix: String::new(),
            service_account: "foo-manager".to_owned(),
        }
    }
}

impl Names {
    /// Derives the names from a provider; `manager` is the default name of the ServiceAccount.
    pub fn of(provider: &Provider) -> Self {
        let prefix = provider.name_prefix();
        let mut names = Names {
            cluster_prefix: cluster_prefix(&provider.namespace, &prefix),
            namespace: provider.namespace.clone(),
            prefix,
            suffix: provider.name_suffix.clone().unwrap_or_default(),
            service_account: String::new(),
        };
        names.service_account = names.account(
            provider
                .rbac
                .as_ref()
                .and_then(|rbac| rbac.service_account.as_deref())
                .unwrap_or("manager"),
        );
        names
    }

    /// What a ServiceAccount is called in the release.
    pub(crate) fn account(&self, name: &str) -> String {
        match name {
            DEFAULT_SERVICE_ACCOUNT => name.to_owned(),
            name => self.suffixed(prefixed(&self.prefix, name)),
        }
    }

    /// The name of a namespaced object that is made, or of a webhook configuration.
    pub(crate) fn made(&self, name: &str) -> String {
        format!("{}{name}{}", self.prefix, self.suffix)
    }

    /// The name of a cluster-wide role that is made.
    pub(crate) fn made_cluster_wide(&self, name: &str) -> String {
        format!("{}{name}{}", self.cluster_prefix, self.suffix)
    }

    /// The name of the binding of a role.
    pub(crate) fn binding(&self, role: &str) -> String {
        let role = role.strip_suffix(self.suffix.as_str()).unwrap_or(role);
        format!(
            "{}-rolebinding{}",
            role.strip_suffix("-role").unwrap_or(role),
            self.suffix
        )
    }

    pub(crate) fn deployment(&self) -> String {
        self.made("controller-manager")
    }

    pub(crate) fn webhook_service(&self) -> String {
        self.made("webhook-service")
    }

    pub(crate) fn certificate(&self) -> String {
        self.made("serving-cert")
    }

    /// The Secret in which cert-manager puts that certificate.
    pub(crate) fn certificate_secret(&self) -> String {
        self.made("webhook-service-cert")
    }

    pub(crate) fn issuer(&self) -> String {
        self.made("selfsigned-issuer")
    }

    /// The value of the annotation that has cert-manager inject the CA.
    pub(crate) fn inject_ca_from(&self) -> String {
        format!("{}/{}", self.namespace, self.certificate())
    }

    /// The name that an object of a kind gets: with the prefix that its kind demands and the
    /// suffix, unless it has one already.
    pub(crate) fn stamped(&self, kind: &str, name: &str) -> String {
        let prefixed = match kind {
            "ClusterRole" | "ClusterRoleBinding" if name.starts_with(&self.cluster_prefix) => {
                name.to_owned()
            }
            "ClusterRole" | "ClusterRoleBinding" => {
                format!(
                    "{}{}",
                    self.cluster_prefix,
                    name.strip_prefix(self.prefix.as_str()).unwrap_or(name)
                )
            }
            _ => prefixed(&self.prefix, name),
        };
        self.suffixed(prefixed)
    }

    fn suffixed(&self, name: String) -> String {
        if name.ends_with(&self.suffix) {
            name
        } else {
            name + &self.suffix
        }
    }

    /// The names that an object of this name may have had before it was [stamped](Names::stamped).
    pub fn unstamped<'n>(&self, name: &'n str) -> Vec<&'n str> {
        let bare = name
            .strip_suffix(self.suffix.as_str())
            .filter(|bare| *bare != name);
        let ends = std::iter::once(name).chain(bare);
        ends.flat_map(|name| {
            let without = [&self.prefix, &self.cluster_prefix]
                .map(|prefix| name.strip_prefix(prefix.as_str()));
            std::iter::once(name).chain(without.into_iter().flatten())
        })
        .collect()
    }
}

/// The namespace; with the rest of the prefix where that begins so, because several providers may
/// share a namespace.
fn cluster_prefix(namespace: &str, prefix: &str) -> String {
    let of_namespace = format!("{namespace}-");
    if prefix.starts_with(&of_namespace) {
        prefix.to_owned()
    } else {
        of_namespace
    }
}

fn prefixed(prefix: &str, name: &str) -> String {
    if name.starts_with(prefix) {
        name.to_owned()
    } else {
        format!("{prefix}{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// k0smotron's providers share a namespace: their roles must not have one name, and `clusterctl
    /// delete` takes what begins with `k0smotron-`.
    #[test]
    fn providers_of_one_namespace_have_roles_of_their_own() {
        assert_eq!(
            cluster_prefix("k0smotron", "k0smotron-bootstrap-"),
            "k0smotron-bootstrap-"
        );
        assert_eq!(cluster_prefix("foo-system", "foo-"), "foo-system-");
    }

    /// What kustomize makes of `namePrefix: x-` and `nameSuffix: -y`; cluster-wide roles begin with
    /// the namespace.
    #[test]
    fn names_end_with_the_suffix_once() {
        let names = Names {
            suffix: "-y".to_owned(),
            ..Names::of_foo()
        };
        for (kind, name, expected) in [
            ("Service", "webhook-service", "foo-webhook-service-y"),
            ("Service", "foo-webhook-service-y", "foo-webhook-service-y"),
            ("ClusterRole", "manager-role", "foo-system-manager-role-y"),
        ] {
            assert_eq!(names.stamped(kind, name), expected, "{kind} {name}");
        }
        assert_eq!(
            (
                names.account("manager").as_str(),
                names.account("default").as_str()
            ),
            ("foo-manager-y", "default")
        );
        assert_eq!(names.deployment(), "foo-controller-manager-y");
        assert_eq!(names.certificate_secret(), "foo-webhook-service-cert-y");
        assert_eq!(
            names.binding("foo-system-manager-role-y"),
            "foo-system-manager-rolebinding-y"
        );
        assert_eq!(names.binding("odd"), "odd-rolebinding-y");
        let unstamped = names.unstamped("foo-system-manager-role-y");
        assert_eq!(
            unstamped,
            [
                "foo-system-manager-role-y",
                "system-manager-role-y",
                "manager-role-y",
                "foo-system-manager-role",
                "system-manager-role",
                "manager-role"
            ]
        );
    }

    #[test]
    fn cluster_roles_begin_with_the_namespace_and_all_else_with_the_prefix() {
        let names = Names {
            namespace: "x-system".to_owned(),
            prefix: "x-".to_owned(),
            cluster_prefix: "x-system-".to_owned(),
            suffix: String::new(),
            service_account: "x-manager".to_owned(),
        };
        for (kind, name, expected) in [
            ("ClusterRole", "manager-role", "x-system-manager-role"),
            ("ClusterRole", "x-manager-role", "x-system-manager-role"),
            ("ClusterRoleBinding", "x-system-b", "x-system-b"),
            ("Role", "leader-election-role", "x-leader-election-role"),
            ("Service", "x-metrics", "x-metrics"),
        ] {
            assert_eq!(names.stamped(kind, name), expected, "{kind} {name}");
        }
    }
}
