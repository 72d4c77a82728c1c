//! The images as a table for people.

use super::{Images, MachineImage, MachineImages, Origin};
use windlass_report::text::table;

/// The roles, in the order of a cluster's first boot.
const ROLES: [&str; 4] = ["init", "control-plane-join", "worker-join", "machinepool"];

/// The images of each role. Roles with the same images share a table.
pub fn text(images: &Images) -> String {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for role in ROLES {
        let machines: Vec<&MachineImages> = images
            .machines
            .iter()
            .filter(|machine| machine.role == role)
            .collect();
        if machines.is_empty() {
            continue;
        }
        let group = Group::of(role, &machines);
        let same = groups
            .iter_mut()
            .find(|known| known.rows == group.rows && known.machines == group.machines);
        match same {
            Some(known) => known.roles.push(role),
            None => groups.push(group),
        }
    }
    let texts: Vec<String> = groups.iter().map(Group::text).collect();
    texts.join("\n")
}

/// Machines of the same role.
struct Group<'i> {
    roles: Vec<&'static str>,
    /// Name and Kubernetes version of each.
    machines: Vec<(&'i str, Option<&'i str>)>,
    /// Image and origins.
    rows: Vec<(&'i str, Vec<String>)>,
}

impl<'i> Group<'i> {
    fn of(role: &'static str, machines: &[&'i MachineImages]) -> Self {
        let mut group = Group {
            roles: vec![role],
            machines: Vec::new(),
            rows: Vec::new(),
        };
        for machine in machines {
            let named = (
                machine.object.as_str(),
                machine.kubernetes_version.as_deref(),
            );
            if !group.machines.contains(&named) {
                group.machines.push(named);
            }
        }
        let is_only = group.machines.len() == 1;
        for machine in machines {
            let owner = is_only.then_some(machine.object.as_str());
            for image in &machine.images {
                group.add(image, owner, machine.kubernetes_version.as_deref());
            }
        }
        group
    }

    fn add(&mut self, image: &'i MachineImage, owner: Option<&str>, version: Option<&str>) {
        let origins = image
            .origins
            .iter()
            .map(|origin| shown(origin, owner, version));
        match self.rows.iter_mut().find(|(name, _)| *name == image.image) {
            Some((_, known)) => {
                for origin in origins {
                    if !known.contains(&origin) {
                        known.push(origin);
                    }
                }
            }
            None => self.rows.push((&image.image, origins.collect())),
        }
    }

    fn text(&self) -> String {
        let machines: Vec<String> = self
            .machines
            .iter()
            .map(|(object, version)| match version {
                Some(version) => format!("{object} ({version})"),
                None => (*object).to_owned(),
            })
            .collect();
        let mut out = format!("{}: {}\n", self.roles.join(", "), machines.join(", "));
        if self.rows.is_empty() {
            out.push_str("no image is known\n");
            return out;
        }
        let header = ["IMAGE", "ORIGIN"].map(str::to_owned);
        let row =
            |(image, origins): &(&str, Vec<String>)| [(*image).to_owned(), origins.join("; ")];
        let rows: Vec<_> = std::iter::once(header)
            .chain(self.rows.iter().map(row))
            .collect();
        out.push_str(&table(&rows));
        out
    }
}

/// An origin: what pulls the image, and the fields that name it. The object is left out where it
/// is the only one of the table.
fn shown(origin: &Origin, owner: Option<&str>, version: Option<&str>) -> String {
    let puller = match (origin.pulled_by, version) {
        ("kubeadm", Some(version)) => format!("kubeadm {version}"),
        (puller, _) => puller.replace('-', " "),
    };
    let object = origin
        .object
        .as_deref()
        .filter(|object| Some(*object) != owner)
        .map(|object| format!(" of {object}"))
        .unwrap_or_default();
    let mut fields = origin.fields.join(", ");
    if let Some(file) = &origin.file {
        fields = format!("{fields} ({file})");
    }
    if fields.is_empty() {
        puller
    } else {
        format!("{puller}: {fields}{object}")
    }
}
