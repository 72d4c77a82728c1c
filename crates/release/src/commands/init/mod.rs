//! `init`: provider.yaml, and metadata.yaml where there is none, from a kubebuilder project, with
//! all that was assumed.
//!
//! The short form takes the objects from kustomize. The long form describes them, so that releases
//! are built without kustomize: it reads the folders of kubebuilder, or those to which
//! config/default leads. What it cannot take over is under `undecided`, with which nothing is built.

mod beside;
mod changed;
mod contract_labels;
mod definitions;
mod identity;
mod layout;
mod manager;
mod patches;
mod project;
mod short;
pub mod verify;

use serde_json::{Map, Value, json};

use self::definitions::Contracts;
use self::identity::Identity;
use self::layout::Base;
use self::patches::Patches;
use self::project::Project;
use windlass_capi::contract::{METADATA_FILE, ProviderType};
use windlass_go_yaml::goyaml;
use windlass_provider::{PROVIDER_API_VERSION, PROVIDER_KIND, Provider, STDIN};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report, rules};
use windlass_source::tree::Tree;

rules! {
    /// a kustomization of the project is not a mapping, so kustomize rejects it
    NO_KUSTOMIZATION = error("init-kustomization-rejected");
    /// the project contains no CRDs, so `init` cannot tell what it provides
    NO_KINDS = error("init-project-without-crds");
    /// a string of the project cannot be represented in provider.yaml
    NOT_WRITABLE = error("init-value-not-writable");
    /// `init` cannot derive the type or name of the provider from the project
    UNKNOWN = error("init-provider-unknown");
}

/// The file that is written.
pub const PROVIDER_FILE: &str = "provider.yaml";

/// What the user says in place of what is found.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The name of the provider.
    pub name: Option<String>,
    /// What it provides.
    pub provider_type: Option<ProviderType>,
    /// The form of provider.yaml. A project without kustomize gets the long one.
    pub form: Form,
    /// What kustomize built, and what `components` of provider.yaml calls it: the provider is read
    /// from there, not from the project.
    pub built: Option<(String, Source)>,
}

/// How provider.yaml describes the objects of a provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// By what kustomize builds.
    #[default]
    Short,
    /// By files, sections and patches.
    Long,
}

/// What was made of a project.
#[derive(Debug, Clone, Default)]
pub struct Made {
    /// The files to write. Empty when the report has errors.
    pub files: Tree,
    /// What was assumed, and from which file, each in one line.
    pub assumed: Vec<String>,
    /// What a person has to decide, each in one line: also `undecided` of provider.yaml.
    pub left: Vec<String>,
    /// What a release of the long form adds to the objects of the project, drops and changes, each
    /// in one line.
    pub changed: Vec<String>,
    /// The form that was chosen.
    pub form: Form,
    /// The version that the next release may have: the first of the newest series.
    pub next: String,
    /// What is wrong.
    pub report: Report,
}

/// Makes provider.yaml of a project, whose files are in the tree under their paths: `PROJECT`,
/// `config/…`, `templates/…`, `metadata.yaml`.
pub fn run(tree: &Tree, given: &Given, budget: &Budget) -> Made {
    let mut made = Made::default();
    let project = Project::read(tree, given.built.as_ref(), budget, &mut made.report);
    made.form = short::form(&project, given);
    if project.crds.is_empty() && made.form == Form::Long {
        let message = format!(
            "no CRDs below {}, so it is not clear what the project provides",
            project.folder(Base::Crds)
        );
        let help = "run it in the root folder of a kubebuilder project, after `make manifests`; `init` reads what is below config";
        made.report
            .push(Diagnostic::of(&NO_KINDS, message).help(help));
        return made;
    }
    let Some(identity) = identity::of(&project, given, &mut made) else {
        return made;
    };
    let patches = Patches::read(&project);
    let contracts = definitions::contracts(&project, &identity, &patches, &mut made);
    if !project.has_file(METADATA_FILE) {
        made.files.insert(
            METADATA_FILE,
            first_metadata(
                contracts
                    .all
                    .keys()
                    .next_back()
                    .map_or("v1beta2", String::as_str),
            ),
        );
        made.assumed.push(format!(
            "{METADATA_FILE}: the first release series is 0.1 (`release bump` adds the next)"
        ));
    }
    made.next = project
        .newest_version()
        .unwrap_or_else(|| "v0.1.0".to_owned());
    let mut document = match made.form {
        Form::Short => short::document(&project, &identity, &contracts, given, &mut made),
        Form::Long => document(&project, &identity, &patches, &contracts, &mut made),
    };
    if made.form == Form::Long {
        add_patches(&mut document, &project, &patches, &mut made);
    }
    if !made.left.is_empty() {
        document.push(("undecided", json!(made.left)));
    }
    match written(&document) {
        Ok(text) => {
            if made.form == Form::Long {
                made.changed = changed::lines(&project, tree, &text);
            }
            made.files.insert(PROVIDER_FILE, text);
        }
        Err((field, error)) => {
            let message = format!("`{field}` of {PROVIDER_FILE} cannot be written: {error}");
            made.report.push(
                Diagnostic::of(&NOT_WRITABLE, message)
                    .help("remove the character from the file that contains it"),
            );
        }
    }
    made
}

impl Made {
    /// The command that builds the first release with what was written: `build` itself, or a pipe
    /// from kustomize into it.
    pub fn next_command(&self, given: &Given, build: &str) -> String {
        short::piped(given, self.form, build)
    }
}

/// The fields of provider.yaml in the order in which they are written.
type Document = Vec<(&'static str, Value)>;

/// The fields that every provider.yaml begins with.
fn head(identity: &Identity) -> Document {
    vec![
        ("apiVersion", json!(PROVIDER_API_VERSION)),
        ("kind", json!(PROVIDER_KIND)),
        ("name", json!(identity.name)),
        ("type", json!(identity.provider_type)),
    ]
}

fn document(
    project: &Project<'_>,
    identity: &Identity,
    patches: &Patches,
    contracts: &Contracts,
    made: &mut Made,
) -> Document {
    let mut document = head(identity);
    document.push(("group", json!(identity.groups.first())));
    if identity.groups.len() > 1 {
        document.push(("groups", json!(identity.groups[1..])));
    }
    if !contracts.all.is_empty() {
        document.push(("contracts", json!(contracts.all)));
    }
    document.push(("namespace", json!(identity.namespace)));
    if let Some(prefix) = identity
        .prefix
        .as_ref()
        .filter(|prefix| **prefix != identity.prefix_of_namespace())
    {
        document.push(("namePrefix", json!(prefix)));
    }
    if let Some(suffix) = &identity.suffix {
        document.push(("nameSuffix", json!(suffix)));
    }
    let (roles, mut objects) = project.rbac_files(&mut made.report);
    let manager = manager::find(project, identity, patches, made);
    let has_webhooks = manager.section.as_ref().is_some_and(|section| {
        ["webhooks", "conversion", "converts"]
            .iter()
            .any(|field| section.get(field).is_some())
    });
    let beside = beside::find(project, has_webhooks, made);
    if let Some(metadata) = manager.namespace.or(beside.namespace) {
        document.push(("namespaceMetadata", metadata));
    }
    document.push(("crds", json!(definitions::files(project))));
    let metadata = definitions::metadata(project, contracts);
    if !metadata.is_empty() {
        document.push(("crdMetadata", json!(metadata)));
    }
    if !roles.is_empty() {
        document.push(("rbac", json!({"roles": roles})));
    }
    if let Some(section) = manager.section {
        document.push(("manager", section));
    }
    objects.extend(manager.objects.into_iter().chain(beside.objects));
    if !objects.is_empty() {
        document.push(("objects", json!(objects)));
    }
    if project.has_templates() {
        document.push(("templates", json!(["templates"])));
    }
    document
}

/// Adds `patches`, which are for what the rest of the document names.
fn add_patches(document: &mut Document, project: &Project<'_>, patches: &Patches, made: &mut Made) {
    let fields: Map<String, Value> = document
        .iter()
        .map(|(field, value)| ((*field).to_owned(), value.clone()))
        .collect();
    match serde_json::from_value::<Provider>(Value::Object(fields)) {
        Ok(provider) => {
            let named = patches.named(project, &provider, made);
            if !named.is_empty() {
                let at = document
                    .iter()
                    .position(|(field, _)| *field == "templates")
                    .unwrap_or(document.len());
                document.insert(at, ("patches", json!(named)));
            }
        }
        Err(why) => made.left.push(format!(
            "patches: those of the kustomizations are not taken over: {why}"
        )),
    }
}

fn first_metadata(contract: &str) -> String {
    format!(
        "# Which release series fulfils which contract of Cluster API.\n\
         apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- major: 0\n  minor: 1\n  contract: {contract}\n"
    )
}

/// The text; or the field that cannot be written, and why.
fn written(document: &Document) -> Result<String, (&'static str, goyaml::EmitError)> {
    let mut text =
        "# The provider, as `windlass release build` releases it. `windlass schema provider` explains the fields.\n".to_owned();
    for (field, value) in document {
        match *field {
            "components" if *value == STDIN => {
                text.push_str("# What `kustomize build` prints, on standard input; or the path of a file with it.\n");
            }
            "undecided" => {
                text.push_str("# Decide each of these and remove its line: `release build` rejects the file until then.\n");
            }
            _ => {}
        }
        text.push_str(
            &goyaml::to_string(&json!({ *field: value })).map_err(|error| (*field, error))?,
        );
    }
    Ok(text)
}
