//! What cloud-init's own schema rejects of the document that is rendered (cloud-init 22.4,
//! `schema-cloud-config-v1.json`). cloud-init warns of it on the node and goes on; what becomes of
//! the value is another matter.

use super::Subject;
use crate::render::{Encoder, Rendered};
use windlass_capi::api::boot::Format;
use windlass_source::diag::{Diagnostic, FieldPath, Remedy, Setting, rules};

rules! {
    /// cloud-init's schema rejects a value of the rendered document
    pub(crate) SCHEMA_REJECTED = warning("cloud-config-schema-rejected");
}

/// A field of the config, and what cloud-init finds there and wants.
type Rejected = (FieldPath, &'static str);

pub(super) fn check(subject: &Subject<'_>, rendered: &Rendered) -> Vec<Diagnostic> {
    // The typed encoder leaves out what has no value, and writes what cloud-init reads.
    if rendered.format != Format::CloudConfig || rendered.encoder == Encoder::Typed {
        return Vec::new();
    }
    let rejected = users(rendered)
        .into_iter()
        .chain(disks(rendered))
        .chain(ntp(rendered))
        .chain(mounts(rendered));
    rejected
        .map(|(path, what)| {
            let path = subject.spec_path.join(&path);
            let finding = Diagnostic::of(
                &SCHEMA_REJECTED,
                format!("{path} reaches cloud-init as {what}"),
            );
            finding.at(subject.place(&path)).help(
                Remedy::new("use ")
                    .set(Setting::Encoder, "typed")
                    .then(" or a WindlassConfig, or leave the field out"),
            )
        })
        .collect()
}

fn field(path: &str) -> FieldPath {
    FieldPath::of_fields(path)
}

fn users(rendered: &Rendered) -> Vec<Rejected> {
    let users = rendered
        .plan
        .users
        .iter()
        .enumerate()
        .filter(|(_, user)| user.inactive.is_some());
    users
        .map(|(index, _)| {
            (
                field("users").index(index).field("inactive"),
                "a boolean, and it wants a number of days as text",
            )
        })
        .collect()
}

fn disks(rendered: &Rendered) -> Vec<Rejected> {
    let Some(setup) = &rendered.plan.disk_setup else {
        return Vec::new();
    };
    let (partitions, systems) = (
        setup.partitions.as_deref().unwrap_or_default(),
        setup.filesystems.as_deref().unwrap_or_default(),
    );
    let mut rejected = Vec::new();
    if partitions.is_empty() {
        rejected.push((
            field("diskSetup"),
            "a section `disk_setup` without a value, and it wants a map",
        ));
    }
    if systems.is_empty() {
        rejected.push((
            field("diskSetup"),
            "a section `fs_setup` without a value, and it wants a list",
        ));
    }
    let unlabelled = systems
        .iter()
        .enumerate()
        .filter(|(_, system)| system.label.as_deref().unwrap_or_default().is_empty());
    rejected.extend(unlabelled.map(|(index, _)| {
        (
            field("diskSetup.filesystems").index(index),
            "a `label` without a value, and it wants a text",
        )
    }));
    rejected
}

fn ntp(rendered: &Rendered) -> Option<Rejected> {
    let ntp = rendered.plan.ntp.as_ref()?;
    let has_servers = ntp
        .servers
        .as_ref()
        .is_some_and(|servers| !servers.is_empty());
    (!has_servers).then(|| {
        (
            field("ntp"),
            "`servers` without a value, and it wants a list",
        )
    })
}

fn mounts(rendered: &Rendered) -> Vec<Rejected> {
    let empty = rendered
        .plan
        .mounts
        .iter()
        .enumerate()
        .filter(|(_, mount)| mount.is_empty());
    empty
        .map(|(index, _)| {
            (
                field("mounts").index(index),
                "a mount without fields, and it wants a list",
            )
        })
        .collect()
}
