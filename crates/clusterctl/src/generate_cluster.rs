//! `generate cluster`: the template of a workload cluster from a repository or a file, with the
//! ClusterClasses that it needs.

use super::config::Config;
use super::kubeconfig::Kubeconfig;
use super::provider::ProviderName;
use super::repository::Repository;
use super::source::TemplateSource;
use super::template::{self, Template};
use super::{Log, Rejection, cluster_class, dns};
use windlass_capi::contract::{
    CLUSTER_CLASS_PREFIX, CLUSTER_TEMPLATE_PREFIX, ProviderType, parse_semantic,
};
use windlass_go_text as go;
use windlass_go_text::tabwriter::Columns;
use windlass_source::diag::{Remedy, Setting};

/// The flags of `generate cluster`; empty texts are flags that were not given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterOptions {
    /// The cluster's name.
    pub name: String,
    /// `--kubeconfig`
    pub kubeconfig: String,
    /// `--kubeconfig-context`
    pub kubeconfig_context: String,
    /// `--target-namespace`
    pub namespace: String,
    /// `--kubernetes-version`
    pub kubernetes_version: String,
    /// `--control-plane-machine-count`, when given.
    pub control_plane_machine_count: Option<i64>,
    /// `--worker-machine-count`, when given.
    pub worker_machine_count: Option<i64>,
    /// `--list-variables`
    pub list_variables: bool,
    /// Where the template is.
    pub source: ClusterSource,
}

/// The flags that say where the template is. At most one of the three ways may be taken; none is
/// the first one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterSource {
    /// `--infrastructure`
    pub infrastructure: String,
    /// `--flavor`
    pub flavor: String,
    /// `--from`
    pub from: Option<TemplateSource>,
    /// `--from-config-map`
    pub config_map: String,
    /// `--from-config-map-namespace`
    pub config_map_namespace: String,
    /// `--from-config-map-key`
    pub config_map_key: String,
}

impl ClusterSource {
    fn is_config_map(&self) -> bool {
        !(self.config_map.is_empty()
            && self.config_map_namespace.is_empty()
            && self.config_map_key.is_empty())
    }

    fn is_repository(&self) -> bool {
        !(self.infrastructure.is_empty() && self.flavor.is_empty())
    }
}

/// A variable as `--list-variables` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ListedVariable {
    name: String,
    /// What it defaults to, as it is printed; `None` when it is required.
    default: Option<String>,
}

/// Runs the command. Where clusterctl would ask a cluster, it is rejected with what to do instead.
///
/// # Errors
/// In clusterctl's words, for the first step that fails.
pub fn generate_cluster(
    mut config: Config<'_>,
    options: &ClusterOptions,
    log: &mut Log,
) -> Result<Template, Rejection> {
    let source = &options.source;
    if [
        source.from.is_some(),
        source.is_config_map(),
        source.is_repository(),
    ]
    .iter()
    .filter(|given| **given)
    .count()
        > 1
    {
        return Err(Rejection::new(
            "invalid cluster template source: only one template can be used at time",
        ));
    }
    let kubeconfig = Kubeconfig::load(
        config.world(),
        &options.kubeconfig,
        &options.kubeconfig_context,
    );
    let namespace = match options.namespace.as_str() {
        "" => namespace_of(&kubeconfig, source)?,
        given => given.to_owned(),
    };
    set_variables(&mut config, options, &namespace)?;
    if let Some(from) = &source.from {
        let text = match from {
            TemplateSource::Url(url) if url.with_credentials().is_empty() => {
                return Err(Rejection::new(
                    "invalid GetFromURL operation: missing templateURL value",
                ));
            }
            from => from.read(&config)?,
        };
        return template::process(
            &config,
            &from.shown(),
            &text,
            &namespace,
            options.list_variables,
        );
    }
    if source.is_config_map() {
        return Err(from_config_map(source, &kubeconfig));
    }
    if !options.kubeconfig.is_empty() {
        available(&kubeconfig)?;
        return Err(no_cluster("failed to check Cluster API version").note(without_a_cluster()));
    }
    from_repository(&config, options, &namespace, &kubeconfig, log)
}

type Loaded = Result<Kubeconfig, Rejection>;

fn available(kubeconfig: &Loaded) -> Result<(), Rejection> {
    kubeconfig.as_ref().map_err(Clone::clone)?.check_available()
}

fn no_cluster(step: &str) -> Rejection {
    Rejection::new("this program does not contact a cluster").within(step)
}

/// What stands for the cluster that `kubeconfig` leads to.
fn without_a_cluster() -> Remedy {
    let remedy = Remedy::new("leave ")
        .setting(Setting::Kubeconfig)
        .then(" out, and give ")
        .setting(Setting::TargetNamespace);
    remedy
        .then(" and ")
        .set(Setting::Infrastructure, "NAME:VERSION")
}

fn namespace_of(kubeconfig: &Loaded, source: &ClusterSource) -> Result<String, Rejection> {
    available(kubeconfig).map_err(|rejection| {
        let help = Remedy::new("without a cluster, give ").set(Setting::TargetNamespace, "NAMESPACE");
        let help = if source.from.is_some() || !source.infrastructure.is_empty() {
            help
        } else {
            help.then(", and ")
                .set(Setting::Infrastructure, "NAME:VERSION")
                .then(" or a template with ")
                .setting(Setting::From)
        };
        rejection.within("management cluster not available. Cannot auto-discover target namespace. Please specify a target namespace").help(help)
    })?;
    kubeconfig.as_ref().map_err(Clone::clone)?.namespace()
}

/// Checks the flags that become variables, and sets them.
fn set_variables(
    config: &mut Config<'_>,
    options: &ClusterOptions,
    namespace: &str,
) -> Result<(), Rejection> {
    dns::check_label(namespace)
        .map_err(|rejection| rejection.within("invalid target-namespace"))?;
    config.set("NAMESPACE", namespace);
    dns::check_subdomain(&options.name)
        .map_err(|rejection| rejection.within("invalid cluster name"))?;
    config.set("CLUSTER_NAME", &options.name);
    if !options.kubernetes_version.is_empty() {
        parse_semantic(&options.kubernetes_version).map_err(|_| {
            Rejection::new("invalid KubernetesVersion. Please use a semantic version number")
        })?;
        config.set("KUBERNETES_VERSION", &options.kubernetes_version);
    }
    let counts = [
        (
            "CONTROL_PLANE_MACHINE_COUNT",
            "ControlPlaneMachineCount",
            options.control_plane_machine_count,
            1,
        ),
        (
            "WORKER_MACHINE_COUNT",
            "WorkerMachineCount",
            options.worker_machine_count,
            0,
        ),
    ];
    for (variable, field, flag, least) in counts {
        let count = match (flag, config.variable(variable)) {
            (Some(count), _) => count,
            (None, None) => least,
            (None, Some(text)) => text
                .parse::<i64>()
                .map_err(|_| Rejection::new(format!("invalid value for {variable} set")))?,
        };
        if count < least {
            return Err(Rejection::new(format!(
                "invalid {field}. Please use a number greater than or equal to {least}"
            )));
        }
        config.set(variable, count.to_string());
    }
    Ok(())
}

fn from_config_map(source: &ClusterSource, kubeconfig: &Loaded) -> Rejection {
    let namespace = match source.config_map_namespace.as_str() {
        "" => match kubeconfig
            .as_ref()
            .map_err(Clone::clone)
            .and_then(Kubeconfig::namespace)
        {
            Ok(namespace) => namespace,
            Err(rejection) => return rejection,
        },
        given => given.to_owned(),
    };
    if source.config_map.is_empty() {
        return Rejection::new("invalid GetFromConfigMap operation: missing configMapName value");
    }
    if let Err(rejection) = available(kubeconfig) {
        return rejection;
    }
    let name = format!("{namespace}/{}", source.config_map);
    let command = format!("kubectl get configmap -n {namespace} {}", source.config_map);
    let remedy = Remedy::new(format!(
        "save the ConfigMap's data (`{command}`) and pass the file with "
    ))
    .setting(Setting::From);
    no_cluster(&format!("error reading ConfigMap {name}")).note(remedy)
}

fn from_repository(
    config: &Config<'_>,
    options: &ClusterOptions,
    namespace: &str,
    kubeconfig: &Loaded,
    log: &mut Log,
) -> Result<Template, Rejection> {
    let infrastructure = &options.source.infrastructure;
    if infrastructure.is_empty() {
        let step = "management cluster not available. Cannot auto-discover default infrastructure provider. Please specify an infrastructure \
                    provider";
        available(kubeconfig).map_err(|rejection| {
            let help = Remedy::new("without a cluster, give ")
                .set(Setting::Infrastructure, "NAME:VERSION")
                .then(", or a template with ")
                .setting(Setting::From);
            rejection.within(step).help(help)
        })?;
        return Err(no_cluster(step).note(
            Remedy::new("pass ")
                .set(Setting::Infrastructure, "NAME:VERSION")
                .then(", or a template with ")
                .setting(Setting::From),
        ));
    }
    let ProviderName { name, version } = ProviderName::parse(infrastructure)?;
    let Some(version) = version else {
        let step = format!(
            "management cluster not available. Cannot auto-discover version for the provider {} automatically. Please specify a version",
            go::quote(&name)
        );
        available(kubeconfig).map_err(|rejection| {
            let help = Remedy::new("without a cluster, give the version: ")
                .set(Setting::Infrastructure, format!("{name}:VERSION"));
            rejection.within(&step).help(help)
        })?;
        return Err(no_cluster(&step)
            .note(Remedy::new("pass ").set(Setting::Infrastructure, format!("{name}:VERSION"))));
    };
    let provider = config.provider_of(&name, ProviderType::InfrastructureProvider)?;
    let is_remote = provider.url.is_https();
    let or_from = |rejection: Rejection| match config.world().network {
        None if is_remote => {
            rejection.note(Remedy::new("or pass a template with ").setting(Setting::From))
        }
        _ => rejection,
    };
    let repository = Repository::open(config, provider).map_err(or_from)?;
    let flavor = &options.source.flavor;
    let file = if flavor.is_empty() {
        format!("{CLUSTER_TEMPLATE_PREFIX}.yaml")
    } else {
        format!("{CLUSTER_TEMPLATE_PREFIX}-{flavor}.yaml")
    };
    let text = repository.template(&version, &file, log)?;
    let template = template::process(config, &file, &text, namespace, options.list_variables)?;
    let classes = cluster_class::names(&template.objects)?;
    if classes.is_empty() {
        return Ok(template);
    }
    if available(kubeconfig).is_ok() {
        let remedy = Remedy::new("run it without a kubeconfig (`KUBECONFIG=/dev/null`), with ")
            .setting(Setting::TargetNamespace);
        return Err(no_cluster("failed to check if the cluster is initialized")
            .note(remedy.then("; then all ClusterClasses are printed")));
    }
    let mut found = Vec::new();
    for class in classes {
        let file = format!("{CLUSTER_CLASS_PREFIX}{}.yaml", class.name);
        let step = |rejection: Rejection| {
            let name = go::quote(&format!("{}/{}", class.namespace, class.name));
            rejection.within(format!(
                "failed to get the cluster class template for {name}"
            ))
        };
        let text = repository.template(&version, &file, log).map_err(step)?;
        found.push(template::process(config, &file, &text, &class.namespace, false).map_err(step)?);
    }
    Ok(template.behind(found))
}

/// The variables of a template with what they default to when the command runs with these options.
fn listed(
    template: &Template,
    options: &ClusterOptions,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Vec<ListedVariable> {
    let count = |flag: Option<i64>, name: &str, least: &str| {
        Some(flag.map_or_else(
            || environment(name).unwrap_or_else(|| least.to_owned()),
            |count| count.to_string(),
        ))
    };
    let default_of = |name: &str, default: &Option<String>| match name {
        "CLUSTER_NAME" => Some(options.name.clone()),
        "NAMESPACE" if options.namespace.is_empty() => {
            Some("current Namespace in the KubeConfig file".to_owned())
        }
        "NAMESPACE" => Some(options.namespace.clone()),
        "CONTROL_PLANE_MACHINE_COUNT" => count(options.control_plane_machine_count, name, "1"),
        "WORKER_MACHINE_COUNT" => count(options.worker_machine_count, name, "0"),
        "KUBERNETES_VERSION" if !options.kubernetes_version.is_empty() => {
            Some(options.kubernetes_version.clone())
        }
        "KUBERNETES_VERSION" => environment(name).or_else(|| quoted(default)),
        _ => quoted(default),
    };
    let variables = template.variables.iter();
    variables
        .map(|(name, default)| ListedVariable {
            name: name.clone(),
            default: default_of(name, default),
        })
        .collect()
}

/// A default in quotes, unless it begins with one.
fn quoted(default: &Option<String>) -> Option<String> {
    default.as_ref().map(|text| {
        if text.starts_with('"') {
            text.clone()
        } else {
            go::quote(text)
        }
    })
}

impl Template {
    /// What `generate cluster --list-variables` prints.
    pub fn list_variables(
        &self,
        options: &ClusterOptions,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> String {
        let variables = listed(self, options, environment);
        let mut text = String::new();
        let required: Vec<_> = variables
            .iter()
            .filter(|variable| variable.default.is_none())
            .collect();
        if !required.is_empty() {
            text.push_str("Required Variables:\n");
            required
                .iter()
                .for_each(|variable| text.push_str(&format!("  - {}\n", variable.name)));
        }
        let optional = variables
            .iter()
            .filter_map(|variable| Some((&variable.name, variable.default.as_ref()?)));
        let rows: String = optional
            .map(|(name, default)| format!("  - {name}\t(defaults to {default})\n"))
            .collect();
        if !rows.is_empty() {
            text.push_str("\nOptional Variables:\n");
            text.push_str(
                &Columns {
                    min_width: 0,
                    padding: 2,
                    html: true,
                }
                .align(&rows),
            );
        }
        text.push('\n');
        text
    }
}
