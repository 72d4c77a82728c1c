//! Fields of a document, as Go's `omitempty` treats them.

use serde_json::{Map, Value};

use super::KubeadmApi;
use windlass_capi::api::env::EnvVar;
use windlass_capi::api::node::HostPathMount;
use windlass_capi::api::v1beta2::Arg;
use windlass_go_text::quantity;

/// The fields of an object that is being written.
#[derive(Debug, Default)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    /// A field that is always there.
    pub(super) fn always(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// A field that is left out when it is not set.
    pub(super) fn set<V: Into<Value>>(&mut self, name: &str, value: Option<V>) {
        if let Some(value) = value {
            self.always(name, value);
        }
    }

    /// A text that is left out when it is empty.
    pub(super) fn text(&mut self, name: &str, text: Option<&str>) {
        self.set(name, text.filter(|text| !text.is_empty()));
    }

    /// A list of texts that is left out when it is empty.
    pub(super) fn texts(&mut self, name: &str, texts: Option<&Vec<String>>) {
        self.set(
            name,
            texts
                .filter(|texts| !texts.is_empty())
                .map(|texts| texts.as_slice()),
        );
    }

    /// A flag that is left out unless it is true.
    pub(super) fn flag(&mut self, name: &str, flag: Option<bool>) {
        self.set(name, flag.filter(|flag| *flag));
    }

    /// An object that is left out when it has no fields.
    pub(super) fn unless_empty(&mut self, name: &str, object: Fields) {
        if !object.0.is_empty() {
            self.always(name, object);
        }
    }

    /// Arguments: from v1beta4 on a list in the user's order, before that a map, in which the last
    /// of equal names counts.
    pub(super) fn args(&mut self, name: &str, args: Option<&Vec<Arg>>, api: KubeadmApi) {
        let Some(args) = args.filter(|args| !args.is_empty()) else {
            return;
        };
        if api < KubeadmApi::V1Beta4 {
            let map: Map<_, _> = args
                .iter()
                .map(|arg| (arg.name.clone(), arg.value.as_str().into()))
                .collect();
            return self.always(name, map);
        }
        let list = args.iter().map(|arg| {
            let mut fields = Fields::default();
            fields.always("name", arg.name.as_str());
            fields.always("value", arg.value.as_str());
            Value::from(fields)
        });
        self.always(name, list.collect::<Vec<_>>());
    }

    /// Environment variables, which only v1beta4 has.
    pub(super) fn envs(&mut self, name: &str, envs: Option<&Vec<EnvVar>>, api: KubeadmApi) {
        if let Some(envs) = envs.filter(|envs| !envs.is_empty() && api >= KubeadmApi::V1Beta4) {
            self.always(name, envs.iter().map(env_var).collect::<Vec<_>>());
        }
    }

    /// Host paths that are mounted into a component.
    pub(super) fn volumes(&mut self, name: &str, volumes: Option<&Vec<HostPathMount>>) {
        if let Some(volumes) = volumes.filter(|volumes| !volumes.is_empty()) {
            self.always(name, volumes.iter().map(volume).collect::<Vec<_>>());
        }
    }
}

impl From<Fields> for Value {
    fn from(fields: Fields) -> Value {
        Value::Object(fields.0)
    }
}

fn volume(mount: &HostPathMount) -> Value {
    let HostPathMount {
        name,
        host_path,
        mount_path,
        read_only,
        path_type,
    } = mount;
    let mut fields = Fields::default();
    fields.always("name", name.as_str());
    fields.always("hostPath", host_path.as_str());
    fields.always("mountPath", mount_path.as_str());
    fields.flag("readOnly", *read_only);
    fields.text("pathType", path_type.as_deref());
    fields.into()
}

/// The fields of a variable's sources that Go leaves out when they are empty, as the API server's
/// default of a name is.
const MAY_BE_EMPTY: [(&str, &str); 4] = [
    ("fieldRef", "apiVersion"),
    ("resourceFieldRef", "containerName"),
    ("configMapKeyRef", "name"),
    ("secretKeyRef", "name"),
];

/// A variable as Go writes it: empty texts are left out, except what its struct always writes.
fn env_var(variable: &EnvVar) -> Value {
    let EnvVar {
        name,
        value,
        value_from,
    } = variable;
    let mut fields = Fields::default();
    fields.always("name", name.as_str());
    fields.text("value", value.as_deref());
    fields.set(
        "valueFrom",
        value_from.as_ref().map(|source| {
            let mut source = serde_json::to_value(source)
                .expect("internal error: the source of a variable is plain data");
            if let Some(resource) = source
                .get_mut("resourceFieldRef")
                .and_then(Value::as_object_mut)
            {
                let written = resource.get("divisor").map_or_else(
                    || "0".to_owned(),
                    |divisor| {
                        divisor
                            .as_str()
                            .map_or_else(|| divisor.to_string(), str::to_owned)
                    },
                );
                let divisor = quantity::canonical(&written).unwrap_or(written);
                resource.insert("divisor".to_owned(), divisor.into());
            }
            for (reference, field) in MAY_BE_EMPTY {
                if let Some(fields) = source
                    .get_mut(reference)
                    .and_then(Value::as_object_mut)
                    .filter(|fields| fields.get(field) == Some(&"".into()))
                {
                    fields.remove(field);
                }
            }
            source
        }),
    );
    fields.into()
}
