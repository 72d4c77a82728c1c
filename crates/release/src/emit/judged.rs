//! What the check says of components that were built: findings stand where the objects come from,
//! not in the file that is made of them.

use semver::Version;

use super::account;
use windlass_lint::duplicates::OBJECT_DUPLICATED;
use windlass_lint::metadata::MetadataFile;
use windlass_lint::{self as lint, Audience, Wishes, provider_of};
use windlass_objects::Anchor;
use windlass_provider::{Declared, Inputs};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Report, Segment};

/// Components as clusterctl gets them, and where they come from.
pub struct Built<'a> {
    /// The provider that the components install, with locations in its `provider.yaml`.
    pub declared: &'a Declared,
    /// Where the objects come from, in the order in which they were written.
    pub objects: Vec<Anchor>,
    /// The objects as one stream.
    pub text: String,
    /// What the build itself found.
    pub report: Report,
    /// The version of the release that contains the components.
    pub version: &'a Version,
}

impl Built<'_> {
    /// Parses the text as lint does a components file, under its file name in a release.
    pub fn read(&self, budget: &Budget) -> lint::Components {
        let file = self.declared.provider.provider_type.components_file();
        lint::Components::read(Source::new(file, self.text.as_str()), budget)
    }

    /// Checks the components, once they are read, and the metadata that is released with them. What
    /// the build told already is not told again.
    pub fn check(
        &self,
        components: lint::Components,
        metadata: Option<&MetadataFile>,
        inputs: &Inputs,
        budget: &Budget,
    ) -> Report {
        let provider_type = self.declared.provider.provider_type;
        let file = provider_type.components_file();
        let release = lint::Release {
            provider: &provider_of(&self.declared.provider.label(), provider_type, &file),
            version: self.version,
            is_version_guessed: false,
            components,
            metadata,
            namespace: Some(&self.declared.provider.namespace),
            audience: Audience::Author(Wishes {
                roles: inputs.roles(),
                ..Wishes::NONE
            }),
        };
        let findings = release
            .check_by_itself(budget)
            .report
            .into_findings()
            .into_iter();
        let findings = findings.map(|finding| self.in_inputs(finding, &file));
        findings
            .filter(|finding| !account::explains(&self.report, finding))
            .collect()
    }

    /// The finding with its places in the files that were read.
    fn in_inputs(&self, mut finding: Diagnostic, file: &str) -> Diagnostic {
        let mut made = Vec::new();
        let related = finding.related.iter_mut().map(|related| &mut related.place);
        for place in std::iter::once(&mut finding.place)
            .chain(related)
            .filter(|place| place.file.as_deref() == Some(file))
        {
            let (input, is_made) = self.input(place);
            made.extend(input.object.clone().filter(|_| is_made));
            *place = input;
        }
        match made.first() {
            Some(title) if finding.rule == &OBJECT_DUPLICATED => {
                made_twice(finding, title, self.declared.source_name())
            }
            Some(title) => finding.note(format!(
                "{title} is made from {}; no file has it",
                self.declared.source_name()
            )),
            None => finding,
        }
    }

    /// Where provider.yaml or a file that it names says what is at a place of the components,
    /// and whether the object there is one that the build makes.
    fn input(&self, place: &Place) -> (Place, bool) {
        let object = place
            .document
            .and_then(|document| self.objects.get(document.checked_sub(1)?));
        let Some(object) = object else {
            return (
                self.declared.place(&FieldPath::of_fields("components")),
                false,
            );
        };
        let found = object.place(&place.path);
        if found.file.is_some() {
            return (found, false);
        }
        // The finding names the field of the object.
        (
            Place {
                path: found.path,
                object: found.object,
                ..self.declared.place(&described(place, self.declared))
            },
            true,
        )
    }
}

/// The fields of provider.yaml that cause objects of a kind; the first that the file has is the
/// reason.
fn causes(kind: &str) -> &'static [&'static str] {
    match kind {
        "Namespace" => &["namespaceMetadata", "namespace"],
        "CustomResourceDefinition" => &["crds"],
        "ServiceAccount" => &["rbac.serviceAccount", "rbac", "manager"],
        "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding" => &[
            "rbac.roles",
            "rbac.rules",
            "rbac",
            "group",
            "manager",
            "crds",
        ],
        "Service" | "Certificate" | "Issuer" => &[
            "manager.webhooks",
            "manager.validates",
            "manager.defaults",
            "manager.converts",
            "manager.conversion",
            "manager",
        ],
        "ValidatingWebhookConfiguration" => &["manager.validates", "manager.webhooks", "manager"],
        "MutatingWebhookConfiguration" => &["manager.defaults", "manager.webhooks", "manager"],
        _ => &[],
    }
}

/// The field of provider.yaml that describes a field of an object that is made. Patches may have
/// brought containers before the manager's.
fn described(made: &Place, declared: &Declared) -> FieldPath {
    let provider = &declared.provider;
    let kind = made
        .object
        .as_deref()
        .and_then(|title| title.split('/').next())
        .unwrap_or_default();
    if kind != "Deployment" {
        let cause = declared.first_field(causes(kind));
        return cause.unwrap_or_else(|| FieldPath::of_fields("name"));
    }
    let is_patched = !provider.patches.is_empty()
        || provider
            .manager
            .as_ref()
            .is_some_and(|manager| manager.patch.is_some());
    if is_patched {
        return FieldPath::of_fields("manager");
    }
    let containers = FieldPath::of_fields("spec.template.spec.containers");
    match made.path.segments().strip_prefix(containers.segments()) {
        Some([Segment::Index(0), Segment::Field(field)]) if field == "image" => {
            FieldPath::of_fields("manager.image")
        }
        // The manager comes first.
        Some([Segment::Index(at @ 1..), rest @ ..]) => {
            let sidecar = FieldPath::of_fields("manager.sidecars").index(at - 1);
            sidecar.segments().iter().chain(rest).cloned().collect()
        }
        _ => FieldPath::of_fields("manager"),
    }
}

/// A file holds an object that is made from `provider` too: what can be removed is that of the
/// file, so the finding stands there.
fn made_twice(mut finding: Diagnostic, title: &str, provider: &str) -> Diagnostic {
    if let Some(first) = finding.related.first_mut() {
        if finding.place.file.as_deref() == Some(provider) {
            std::mem::swap(&mut finding.place, &mut first.place);
        }
        first.label = format!("{title} is made from here").into();
    }
    finding.help("remove it from the file, or leave the file out: a list of patterns takes `!FILE`")
}
