//! kubeadm's images: their names (Kubernetes, `cmd/kubeadm/app/images/images.go` and
//! `util/version.go`), and the settings of ClusterConfiguration that change them.

use semver::Version;
use serde_json::Value;

use super::{PulledImage, Puller, items, releases};
use windlass_bootstrap::render::Rendered;
use windlass_bootstrap::render::plan::node_plan::Kubeadm;
use windlass_capi::contract::parse_tolerant;
use windlass_go_yaml::yaml;
use windlass_objects::fields::text;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::FieldPath;

/// The registry of Kubernetes (`DefaultImageRepository`).
const DEFAULT_REPOSITORY: &str = "registry.k8s.io";

/// The registry of CI builds of Kubernetes (`DefaultCIImageRepository`).
const CI_REPOSITORY: &str = "gcr.io/k8s-staging-ci-images";

/// What precedes the version of a CI build.
const CI: &str = "ci/";

/// The settings of a cluster that decide what kubeadm pulls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The Kubernetes version of the control plane, as it is rendered.
    pub kubernetes_version: String,
    repository: String,
    dns: Part,
    etcd: Option<Part>,
    has_dns: bool,
    has_proxy: bool,
}

/// `dns` or `etcd.local`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Part {
    repository: String,
    tag: String,
}

impl Part {
    fn of(value: &Value) -> Self {
        Part {
            repository: text(value, &["imageRepository"]).to_owned(),
            tag: text(value, &["imageTag"]).to_owned(),
        }
    }
}

/// The images of a machine, and what is not known of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Images {
    /// The images, in the order in which kubeadm lists them.
    pub images: Vec<PulledImage>,
    /// The components whose image depends on a version that is not in the table.
    pub missing: Vec<&'static str>,
    /// A release whose tags are listed, because those of the version were not verified.
    pub assumed: Option<String>,
}

impl Settings {
    /// The settings in kubeadm's own documents, ClusterConfiguration and InitConfiguration.
    pub(crate) fn of(cluster: &Value, init: &Value) -> Self {
        let is_skipped = |phase: &str| {
            items(init.get("skipPhases")).any(|skipped| skipped == "addon" || skipped == phase)
        };
        let is_disabled = |addon: &str| cluster[addon]["disabled"] == true;
        Settings {
            kubernetes_version: text(cluster, &["kubernetesVersion"]).to_owned(),
            repository: text(cluster, &["imageRepository"]).to_owned(),
            dns: Part::of(&cluster["dns"]),
            etcd: cluster["etcd"]["external"]
                .is_null()
                .then(|| Part::of(&cluster["etcd"]["local"])),
            has_dns: !is_skipped("addon/coredns") && !is_disabled("dns"),
            has_proxy: !is_skipped("addon/kube-proxy") && !is_disabled("proxy"),
        }
    }

    /// The defaults of kubeadm for a Kubernetes version.
    pub fn defaults(kubernetes_version: &str) -> Self {
        Settings {
            kubernetes_version: kubernetes_version.to_owned(),
            etcd: Some(Part::default()),
            has_dns: true,
            has_proxy: true,
            ..Settings::default()
        }
    }

    /// The images of a control plane machine, in kubeadm's order. The fields of origins are below
    /// `spec`.
    pub fn control_plane(&self, spec: &FieldPath) -> Images {
        let of_version = [
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
        ];
        let mut list = List::new(self, spec, &self.kubernetes_version);
        of_version.iter().for_each(|name| list.of_version(name));
        if self.has_proxy {
            list.of_version("kube-proxy");
        }
        if self.has_dns {
            list.dns();
        }
        list.pause();
        if let Some(etcd) = &self.etcd {
            list.etcd(etcd);
        }
        list.images
    }

    /// What a worker of a Kubernetes version pulls: its kube-proxy has the version of the
    /// control plane.
    pub fn worker(&self, kubernetes_version: &str, spec: &FieldPath) -> Images {
        let mut list = List::new(self, spec, kubernetes_version);
        if self.has_proxy {
            list.of_version("kube-proxy");
        }
        list.pause();
        list.images
    }

    /// The repository, and the version without what marks a CI build.
    fn core(&self) -> (&str, &str) {
        let repository = self.repository_or_default();
        match self.kubernetes_version.strip_prefix(CI) {
            Some(version) if repository == DEFAULT_REPOSITORY => (CI_REPOSITORY, version),
            Some(version) => (repository, version),
            None => (repository, &self.kubernetes_version),
        }
    }

    fn repository_or_default(&self) -> &str {
        if self.repository.is_empty() {
            DEFAULT_REPOSITORY
        } else {
            &self.repository
        }
    }
}

/// A list in the making.
struct List<'s> {
    settings: &'s Settings,
    cluster: FieldPath,
    release: Option<&'static releases::Release>,
    images: Images,
}

impl<'s> List<'s> {
    fn new(settings: &'s Settings, spec: &FieldPath, kubeadm_version: &str) -> Self {
        let version = parsed(kubeadm_version);
        let (release, assumed) = version
            .and_then(|version| releases::of(&version))
            .map_or((None, None), |(row, assumed)| (Some(row), assumed));
        let images = Images {
            assumed,
            ..Images::default()
        };
        List {
            settings,
            cluster: spec.field("clusterConfiguration"),
            release,
            images,
        }
    }

    fn add(&mut self, image: String, fields: Vec<FieldPath>) {
        self.images.images.push(PulledImage {
            image,
            puller: Puller::Kubeadm,
            fields,
            file: None,
        });
    }

    /// The field of the repository, when it is set.
    fn repository_field(&self) -> Option<FieldPath> {
        (!self.settings.repository.is_empty()).then(|| self.cluster.field("imageRepository"))
    }

    fn of_version(&mut self, name: &str) {
        let (repository, version) = self.settings.core();
        let image = format!("{repository}/{name}:{}", tag(version));
        self.add(image, self.repository_field().into_iter().collect());
    }

    fn dns(&mut self) {
        let part = &self.settings.dns;
        let release = self.release.map(|release| release.coredns);
        self.part("coredns", part, release, &self.cluster.field("dns"));
    }

    fn etcd(&mut self, part: &Part) {
        let release = self.release.map(|release| release.etcd);
        let field = self.cluster.field("etcd").field("local");
        self.part("etcd", part, release, &field);
    }

    fn part(&mut self, name: &'static str, part: &Part, release: Option<&str>, field: &FieldPath) {
        let Some(tag) = Some(part.tag.as_str())
            .filter(|tag| !tag.is_empty())
            .or(release)
        else {
            self.images.missing.push(name);
            return;
        };
        let own = [
            ("imageRepository", &part.repository),
            ("imageTag", &part.tag),
        ];
        let mut fields: Vec<FieldPath> = own
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(key, _)| field.field(key))
            .collect();
        let repository = if part.repository.is_empty() {
            fields.extend(self.repository_field());
            self.settings.repository_or_default()
        } else {
            part.repository.as_str()
        };
        // CoreDNS is one folder deeper in the registry of Kubernetes alone.
        let folder = match (name, repository) {
            ("coredns", DEFAULT_REPOSITORY) => "coredns/",
            _ => "",
        };
        self.add(format!("{repository}/{folder}{name}:{tag}"), fields);
    }

    /// pause is not in the registry of CI builds.
    fn pause(&mut self) {
        let Some(release) = self.release else {
            self.images.missing.push("pause");
            return;
        };
        let image = format!(
            "{}/pause:{}",
            self.settings.repository_or_default(),
            release.pause
        );
        self.add(image, self.repository_field().into_iter().collect());
    }
}

/// The version of kubeadm, also of a CI build.
fn parsed(version: &str) -> Option<Version> {
    parse_tolerant(version.strip_prefix(CI).unwrap_or(version)).ok()
}

/// The version as a tag (`KubernetesVersionToImageTag`), with a `v` (`normalizedBuildVersion`).
fn tag(version: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let tag: String = version
        .chars()
        .map(|c| if is_kept(c) { c } else { '_' })
        .collect();
    if tag.starts_with(|c: char| c.is_ascii_digit()) {
        format!("v{tag}")
    } else {
        tag
    }
}

/// The settings in the data of the machine of `kubeadm init`; `None` for any other machine.
pub fn settings(rendered: &Rendered, budget: &Budget) -> Option<Settings> {
    let Kubeadm::Init { cluster, init } = &rendered.plan.kubeadm else {
        return None;
    };
    let read = |text: &str| first_document(text, budget);
    Some(Settings::of(&read(cluster.expose()), &read(init.expose())))
}

/// The first document of a text for kubeadm; null where there is none.
pub(super) fn first_document(text: &str, budget: &Budget) -> Value {
    let documents = yaml::values(&Source::new("", text), budget).documents;
    let first = documents.into_iter().next();
    first.map(|document| document.value).unwrap_or_default()
}
