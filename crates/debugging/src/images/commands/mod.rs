//! Images in commands: those that `ctr`, `crictl`, `docker` and the like pull. Programs and manifests
//! that a command downloads are reported, as their images are unknown.

mod programs;
mod unknown;

use std::collections::BTreeSet;

use super::files::FileText;
use super::findings::{Spot, name_computed};
use super::runtime::sandbox_images;
use super::script_values::Values;
use super::{Found, Machine, Puller};
use windlass_shell::{self as shell, Command, Shape, unquoted};

/// A script that runs at boot: a list of commands, or a file.
struct RunScript<'a> {
    text: String,
    /// The position of each line.
    spots: Vec<Spot>,
    /// The file, when it is one.
    file: Option<&'a FileText>,
}

impl RunScript<'_> {
    fn spot(&self, line: u32) -> Spot {
        let at = usize::try_from(line).unwrap_or_default().saturating_sub(1);
        let spot = self.spots.get(at).or(self.spots.last()).cloned();
        spot.unwrap_or_else(|| Spot {
            field: windlass_source::diag::FieldPath::root(),
            line: None,
        })
    }
}

pub(super) fn collect(machine: &Machine<'_>, files: &[FileText], found: &mut Found) {
    let plan = &machine.rendered.plan;
    let lists = [
        ("bootCommands", &plan.boot_commands),
        ("preKubeadmCommands", &plan.pre_kubeadm_commands),
        ("postKubeadmCommands", &plan.post_kubeadm_commands),
    ];
    let mut scripts = Vec::new();
    for (list, commands) in lists {
        let (mut text, mut spots) = (String::new(), Vec::new());
        for (index, command) in commands.iter().enumerate() {
            let field = machine.field(list).index(index);
            for (line, written) in (1..).zip(command.expose().split('\n')) {
                text.push_str(written);
                text.push('\n');
                spots.push(Spot {
                    field: field.clone(),
                    line: Some(line),
                });
            }
        }
        scripts.push(RunScript {
            text,
            spots,
            file: None,
        });
    }
    for file in files {
        of_quadlet(machine, file, found);
        if let Some(line) = file.foreign_pull() {
            let what = format!(
                "{} pulls images with commands of another language",
                file.path
            );
            let finding =
                super::findings::source_unknown(machine.target.config, &file.spot(line), &what);
            found.findings.push(finding);
        }
    }
    let of_files = files.iter().filter_map(of_file);
    for script in scripts.into_iter().chain(of_files) {
        in_script(machine, &script, files, found);
        in_here_documents(machine, &script, found);
    }
}

/// The images of a unit of Podman (podman-systemd.unit(5)).
fn of_quadlet(machine: &Machine<'_>, file: &FileText, found: &mut Found) {
    if !file.is_quadlet() {
        return;
    }
    for (line, number) in file.text.lines().zip(1..) {
        if let Some(image) = line.trim().strip_prefix("Image=") {
            let named_in = (&file.field, Some(file.path.as_str()));
            let spot = file.spot(number);
            machine.add(found, image.trim(), Puller::Command, named_in, &spot);
        }
    }
}

/// The script of a file: its text, or what a systemd unit runs.
fn of_file(file: &FileText) -> Option<RunScript<'_>> {
    let (text, spots) = if file.is_shell() {
        let lines = 1..=file.text.lines().count();
        (
            file.text.clone(),
            lines.map(|line| file.spot(line)).collect(),
        )
    } else if file.is_unit() {
        unit_commands(file)
    } else {
        return None;
    };
    Some(RunScript {
        text,
        spots,
        file: Some(file),
    })
}

/// The commands that a systemd unit runs, one on each line. A setting goes on behind a `\` at the
/// end of its line, and comments between its lines are left out (systemd.syntax(7)).
fn unit_commands(file: &FileText) -> (String, Vec<Spot>) {
    let is_comment = |line: &str| line.trim_start().starts_with(['#', ';']);
    let mut lines = file.text.lines().zip(1..);
    let (mut text, mut spots) = (String::new(), Vec::new());
    while let Some((line, number)) = lines.by_ref().find(|(line, _)| !is_comment(line)) {
        let mut setting = line.to_owned();
        while setting.ends_with('\\') {
            setting.pop();
            let Some((more, _)) = lines.by_ref().find(|(line, _)| !is_comment(line)) else {
                break;
            };
            setting.push_str(more.trim());
        }
        if let Some((key, value)) = setting.trim().split_once('=')
            && key.starts_with("Exec")
        {
            text.push_str(value.trim_start_matches(['-', '@', ':', '+', '!']));
            text.push('\n');
            spots.push(file.spot(number));
        }
    }
    (text, spots)
}

/// Adds the images that commands of a script pull, and reports what they run without naming it.
fn in_script(machine: &Machine<'_>, script: &RunScript<'_>, files: &[FileText], found: &mut Found) {
    let read = shell::read(&script.text);
    let values = Values::of(&read);
    let commands = || {
        read.commands
            .iter()
            .filter(|command| command.shape == Shape::Simple)
    };
    for command in commands() {
        let spot = script.spot(command.line);
        for words in runs(command) {
            for word in programs::pulled(&words) {
                pull(
                    machine,
                    script,
                    (&values, Puller::Command),
                    word,
                    &spot,
                    found,
                );
            }
        }
    }
    // Those of a unit are read with its other settings.
    let is_unit = script.file.is_some_and(|file| !file.is_shell());
    for image in sandbox_images(&script.text).filter(|_| !is_unit) {
        let line = super::workloads::line_of(&script.text, image);
        let spot = script.spot(u32::try_from(line).unwrap_or(u32::MAX));
        let puller = Puller::ContainerRuntime;
        pull(machine, script, (&values, puller), image, &spot, found);
    }
    for (line, what) in unknown::sources(&read, files) {
        let finding =
            super::findings::source_unknown(machine.target.config, &script.spot(line), &what);
        found.findings.push(finding);
    }
}

/// The words of a command without their quotes, and those of the script that it gives to a shell.
fn runs(command: &Command<'_>) -> Vec<Vec<String>> {
    let plain = |command: &Command<'_>| command.words.iter().map(|word| unquoted(word)).collect();
    let mut all = vec![plain(command)];
    if let Some(inner) = command.inner_script() {
        all.extend(shell::read(&inner).commands.iter().map(plain));
    }
    all
}

fn pull(
    machine: &Machine<'_>,
    script: &RunScript<'_>,
    (values, puller): (&Values, Puller),
    word: &str,
    spot: &Spot,
    found: &mut Found,
) {
    let Some(names) = values.expand(word) else {
        let finding = name_computed(machine.target.config, spot, word);
        found.findings.push(finding);
        return;
    };
    let named_in = match script.file {
        Some(file) => (&file.field, Some(file.path.as_str())),
        None => (&spot.field, None),
    };
    for name in names {
        machine.add(found, &name, puller, named_in, spot);
    }
}

/// Adds the images of manifests that a script writes: lines `image: NAME` in its here-documents.
fn in_here_documents(machine: &Machine<'_>, script: &RunScript<'_>, found: &mut Found) {
    if !script.text.contains("<<") {
        return;
    }
    let read = shell::read(&script.text);
    let values = Values::of(&read);
    let code: BTreeSet<u32> = read.commands.iter().map(|command| command.line).collect();
    for (line, text) in (1..).zip(script.text.lines()) {
        let text = text.trim_start().trim_start_matches("- ");
        let Some(name) = text
            .strip_prefix("image:")
            .filter(|_| !code.contains(&line))
        else {
            continue;
        };
        let name = name.split(" #").next().unwrap_or_default();
        let name = name.trim().trim_matches(['"', '\'']);
        if !name.is_empty() {
            let puller = Puller::Manifest;
            pull(
                machine,
                script,
                (&values, puller),
                name,
                &script.spot(line),
                found,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_units_go_on_in_the_next_lines() {
        let file = FileText::of_unit(
            "[Service]\nExecStart=-/usr/bin/docker run \\\n# why\n  --rm \\\n  a/b:1\nExecStop=c\nUser=d \\\nExecStop=e\n",
        );
        let (text, spots) = unit_commands(&file);
        assert_eq!(text, "/usr/bin/docker run --rm a/b:1\nc\n");
        assert_eq!(spots.len(), 2);
    }
}
