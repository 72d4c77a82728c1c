//! Every ClusterClass of a folder of public files, with the templates it refers to and the Clusters
//! that use it: those of the folder that are nearest to it, else one that is made here with no more
//! than the class demands; and one that is made with a value for each variable.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use windlass_envsubst as envsubst;
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;

/// The version of Kubernetes where a file wants one, and of Clusters that are made here.
const KUBERNETES: &str = "v1.34.1";

/// A class and a Cluster that uses it.
pub(crate) struct Use {
    /// The file of the class below the folder, and its name there.
    pub(crate) class: String,
    /// The file of the Cluster; `None` when it was made here.
    pub(crate) cluster: Option<String>,
    /// Templates, class and Cluster, the Cluster last; each with the file that it is from.
    pub(crate) objects: Vec<(String, Value)>,
    /// How many templates the class refers to that the folder does not have.
    pub(crate) missing: usize,
}

/// An object of the folder.
struct Found {
    /// Its file below the folder.
    file: String,
    /// The folders of the file, without that of rendered overlays, so that what stands beside a
    /// source stands beside its rendering too.
    folders: Vec<String>,
    object: Value,
}

/// All uses of all classes, in the order of their files.
pub(crate) fn uses(root: &Path, files: &[PathBuf]) -> Vec<Use> {
    let found: Vec<Found> = files.iter().flat_map(|file| objects(root, file)).collect();
    let classes = found
        .iter()
        .filter(|found| is_core(&found.object, "ClusterClass"));
    classes.flat_map(|class| of_class(&found, class)).collect()
}

fn of_class(found: &[Found], class: &Found) -> Vec<Use> {
    let title = format!("{}#{}", class.file, text(&class.object, "/metadata/name"));
    let with = |cluster: &Found, file: Option<String>| {
        let namespace = text(&class.object, "/metadata/namespace");
        let (mut objects, missing) = templates(found, class);
        objects.extend([class, cluster].map(|one| (one.file.clone(), one.object.clone())));
        objects
            .iter_mut()
            .for_each(|(_, object)| place(object, namespace));
        Use {
            class: title.clone(),
            cluster: file,
            objects,
            missing,
        }
    };
    let users = found.iter().filter(|one| {
        uses_class(&one.object, &class.object) && one.folders.first() == class.folders.first()
    });
    // Where classes are called by one variable, its Clusters are those that name its machines and
    // variables.
    let (fitting, others): (Vec<&Found>, Vec<&Found>) =
        users.partition(|one| fits(&one.object, &class.object));
    let users = nearest(if fitting.is_empty() { others } else { fitting }, class);
    let made = |values| Found {
        file: class.file.clone(),
        folders: Vec::new(),
        object: made(&class.object, values),
    };
    let mut uses: Vec<Use> = users
        .into_iter()
        .map(|cluster| with(cluster, Some(cluster.file.clone())))
        .collect();
    if uses.is_empty() {
        uses.push(with(&made(Values::Demanded), None));
    }
    uses.push(with(&made(Values::All), None));
    uses
}

/// The variables that a Cluster sets which is made here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Demanded,
    All,
}

/// Those that share the most folders with another object.
fn nearest<'f>(all: Vec<&'f Found>, to: &Found) -> Vec<&'f Found> {
    let near = |one: &Found| {
        one.folders
            .iter()
            .zip(&to.folders)
            .take_while(|(a, b)| a == b)
            .count()
    };
    // A file knows itself best.
    let rank = |one: &Found| {
        (
            one.file == to.file,
            near(one),
            one.file.starts_with("rendered") == to.file.starts_with("rendered"),
        )
    };
    let best = all.iter().map(|one| rank(one)).max();
    all.into_iter()
        .filter(|one| Some(rank(one)) == best)
        .collect()
}

/// The templates of a class, and how many the folder does not have.
fn templates(found: &[Found], class: &Found) -> (Vec<(String, Value)>, usize) {
    let mut references = BTreeSet::new();
    references_of(&class.object["spec"], &mut references);
    let of = |[api_version, kind, name]: &[String; 3]| {
        let is_it = |one: &&Found| {
            let own = ["/apiVersion", "/kind", "/metadata/name"].map(|at| text(&one.object, at));
            own == [api_version, kind, name] && one.folders.first() == class.folders.first()
        };
        nearest(found.iter().filter(is_it).collect(), class)
            .first()
            .map(|one| (one.file.clone(), one.object.clone()))
    };
    let objects: Vec<(String, Value)> = references.iter().filter_map(of).collect();
    let missing = references.len() - objects.len();
    (objects, missing)
}

/// Every reference to a template, of both versions of classes.
fn references_of(value: &Value, found: &mut BTreeSet<[String; 3]>) {
    match value {
        Value::Object(entries) => {
            let own = ["apiVersion", "kind", "name"]
                .map(|key| entries.get(key).and_then(Value::as_str).map(str::to_owned));
            if let [Some(api_version), Some(kind), Some(name)] = own {
                found.insert([api_version, kind, name]);
            }
            entries
                .values()
                .for_each(|value| references_of(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references_of(item, found)),
        _ => {}
    }
}

/// Whether it is a whole Cluster of the class, and no patch for one.
fn uses_class(object: &Value, class: &Value) -> bool {
    let named = ["/spec/topology/classRef/name", "/spec/topology/class"].map(|at| text(object, at));
    is_core(object, "Cluster")
        && named.contains(&text(class, "/metadata/name"))
        && !text(object, "/spec/topology/version").is_empty()
}

/// Whether a class has all machines and variables that a Cluster names.
fn fits(cluster: &Value, class: &Value) -> bool {
    let names = |of: &Value, list: &str, key: &str| -> BTreeSet<String> {
        let items = of
            .pointer(list)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        items
            .filter_map(|item| Some(item[key].as_str()?.to_owned()))
            .collect()
    };
    let lists = [
        ("workers/machineDeployments", "class"),
        ("workers/machinePools", "class"),
        ("variables", "name"),
    ];
    lists.iter().all(|(list, key)| {
        names(cluster, &format!("/spec/topology/{list}"), key).is_subset(&names(
            class,
            &format!("/spec/{list}"),
            key,
        ))
    })
}

/// Puts an object into a namespace, and has a Cluster look for its class there.
fn place(object: &mut Value, namespace: &str) {
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return;
    };
    match namespace {
        "" => drop(metadata.remove("namespace")),
        namespace => drop(metadata.insert("namespace".to_owned(), namespace.into())),
    }
    for at in ["/spec/topology", "/spec/topology/classRef"] {
        if let Some(entries) = object.pointer_mut(at).and_then(Value::as_object_mut) {
            entries.remove("classNamespace");
            entries.remove("namespace");
        }
    }
}

/// A Cluster with a MachineDeployment or MachinePool of each class of machines, and with values for
/// variables.
fn made(class: &Value, values: Values) -> Value {
    let machines = |list: &str| -> Vec<Value> {
        let classes = class["spec"]["workers"][list]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate();
        classes.map(|(at, one)| json!({"class": one["class"], "name": format!("workers-{at}"), "replicas": 1})).collect()
    };
    let mut workers = Map::new();
    for list in ["machineDeployments", "machinePools"] {
        let machines = machines(list);
        if !machines.is_empty() {
            workers.insert(list.to_owned(), machines.into());
        }
    }
    let definitions = class["spec"]["variables"].as_array().into_iter().flatten();
    let is_demanded = |one: &&Value| {
        one["required"] == true && one["schema"]["openAPIV3Schema"]["default"].is_null()
    };
    let needed = definitions.filter(|one| values == Values::All || is_demanded(one));
    let variables: Vec<Value> = needed
        .map(|one| json!({"name": one["name"], "value": sample(&one["schema"]["openAPIV3Schema"])}))
        .collect();
    let kind = text(class, "/spec/controlPlane/templateRef/kind");
    // RKE2 takes only its own versions.
    let version = if kind.starts_with("RKE2") {
        format!("{KUBERNETES}+rke2r1")
    } else {
        KUBERNETES.to_owned()
    };
    let mut topology = json!({"version": version});
    // Those without machines of their own have no replicas.
    if !class["spec"]["controlPlane"]["machineInfrastructure"].is_null() {
        topology["controlPlane"] = json!({"replicas": 1});
    }
    if !variables.is_empty() {
        topology["variables"] = variables.into();
    }
    if !workers.is_empty() {
        topology["workers"] = workers.into();
    }
    let (is_old, name) = (
        class["apiVersion"] == "cluster.x-k8s.io/v1beta1",
        &class["metadata"]["name"],
    );
    if is_old {
        topology["class"] = name.clone()
    } else {
        topology["classRef"] = json!({"name": name})
    }
    json!({"apiVersion": class["apiVersion"], "kind": "Cluster", "metadata": {"name": "made"}, "spec": {"topology": topology}})
}

/// A value that a schema takes.
fn sample(schema: &Value) -> Value {
    // The last of what is allowed is seldom the default.
    let of_enumeration = schema["enum"]
        .as_array()
        .and_then(|all| all.last())
        .unwrap_or(&Value::Null);
    for known in [&schema["example"], of_enumeration, &schema["default"]] {
        if !known.is_null() {
            return known.clone();
        }
    }
    match schema["type"].as_str().unwrap_or_default() {
        "integer" | "number" => schema["minimum"]
            .as_f64()
            .map_or(json!(1), |least| json!(least.max(1.0))),
        "boolean" => true.into(),
        "array" => json!([]),
        "object" => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties
                .map(|(name, schema)| (name.clone(), sample(schema)))
                .collect()
        }
        _ => "some".into(),
    }
}

/// The objects of a file, its variables replaced. A file that clusterctl's substitution does not
/// read is taken as it is.
fn objects(root: &Path, file: &Path) -> Vec<Found> {
    let Ok(text) = std::fs::read_to_string(file) else {
        return Vec::new();
    };
    if ["kind: Cluster", "Template\n", "kind: \"Cluster"]
        .iter()
        .all(|word| !text.contains(word))
        || text.contains("kind: CustomResourceDefinition")
    {
        return Vec::new();
    }
    let name = file
        .strip_prefix(root)
        .unwrap_or(file)
        .display()
        .to_string();
    let folders: Vec<String> = name
        .split('/')
        .filter(|part| *part != "rendered-overlays")
        .map(str::to_owned)
        .collect();
    let parsed = yaml::parse(
        &Source::new(name.as_str(), substituted(text)),
        &Budget::default(),
    );
    let objects = parsed
        .documents
        .iter()
        .map(|document| document.root.to_json())
        .filter(|object| object["kind"].is_string());
    objects
        .map(|object| Found {
            file: name.clone(),
            folders: folders[..folders.len() - 1].to_vec(),
            object,
        })
        .collect()
}

/// A text with its variables replaced, and what the scripts of metal3 replace after clusterctl.
pub(crate) fn substituted(text: String) -> String {
    let text = text
        .replace("CLUSTER_APIENDPOINT_HOST_HOLDER", "10.1.0.1")
        .replace("CLUSTER_APIENDPOINT_PORT_HOLDER", "6443");
    let Ok(template) = envsubst::parse(&text) else {
        return text;
    };
    let variables = template.variables();
    let value = |name: &str| {
        variables
            .get(name)
            .is_none_or(Option::is_none)
            .then(|| value(name))
    };
    let substituted = template.substitute(value, &Budget::default());
    substituted
        .ok()
        .and_then(|substituted| substituted.text().ok().map(str::to_owned))
        .unwrap_or(text)
}

/// What somebody could give for a variable without a default.
fn value(name: &str) -> String {
    let is = |ending: &str| name.ends_with(ending);
    match name {
        _ if name.starts_with("KUBERNETES_VERSION") => KUBERNETES.to_owned(),
        _ if is("COUNT")
            || is("REPLICAS")
            || is("PORT")
            || name.starts_with("NUM")
            || is("_SIZE_GB") =>
        {
            "1".to_owned()
        }
        _ if is("CIDR") || is("CIDRS") => "10.0.0.0/16".to_owned(),
        _ if is("_URL") => "https://example.com/image".to_owned(),
        _ if is("_CHECKSUM_TYPE") => "sha256".to_owned(),
        _ if is("_IP") || is("_HOST") || is("_ADDRESS") => "10.1.0.1".to_owned(),
        "NAMESPACE" => "default".to_owned(),
        _ => name.to_lowercase().replace('_', "-"),
    }
}

fn is_core(object: &Value, kind: &str) -> bool {
    object["kind"] == kind && text(object, "/apiVersion").starts_with("cluster.x-k8s.io/")
}

fn text<'v>(object: &'v Value, at: &str) -> &'v str {
    object
        .pointer(at)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
