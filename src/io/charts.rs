//! Helm charts on the disk: the folder of the chart to which a template belongs.

use std::collections::BTreeMap;
use std::path::Path;

use super::files;
use windlass_source::Source;

/// The file in the folder of a chart.
const CHART_FILE: &str = "Chart.yaml";
/// The folder of a chart with its templates.
const TEMPLATES: &str = "templates";

/// The folders of charts, by the names of the files in their `templates` folders, as far as the
/// files have actions of templates.
pub fn folders(sources: &[Source]) -> BTreeMap<String, String> {
    let with_actions = sources.iter().filter(|source| source.text().contains("{{"));
    let of_charts = with_actions.filter_map(|source| {
        let name = source.name().to_string();
        let folder = folder_of(&name)?;
        Some((name, folder))
    });
    of_charts.collect()
}

/// The folder of the chart whose `templates` folder has a file, as its path begins.
fn folder_of(file: &str) -> Option<String> {
    let path = std::path::absolute(file).ok()?;
    if !files::is_file(&path) {
        return None;
    }
    let is_templates = |folder: &Path| {
        folder.file_name().is_some_and(|name| name == TEMPLATES)
            && folder
                .parent()
                .is_some_and(|chart| files::is_file(&chart.join(CHART_FILE)))
    };
    let steps = path.ancestors().position(is_templates)? + 1;
    let shown: Vec<&str> = file.split('/').collect();
    Some(match shown.len().checked_sub(steps) {
        Some(0) => ".".to_owned(),
        Some(left) => shown[..left].join("/"),
        None => vec![".."; steps - shown.len()].join("/"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_are_above_their_templates() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        let template = format!("{root}/c/templates/sub/a.yaml");
        std::fs::create_dir_all(format!("{root}/c/templates/sub")).unwrap();
        std::fs::write(&template, "a: {{ .Values.b }}\n").unwrap();
        let source = |text: &str| Source::new(template.as_str(), text);
        assert!(folders(&[source("a: {{ b }}\n")]).is_empty());
        std::fs::write(format!("{root}/c/Chart.yaml"), "name: c\n").unwrap();
        let found = folders(&[source("a: {{ b }}\n"), Source::new("<stdin>", "{{ .a }}")]);
        assert_eq!(found, [(template.clone(), format!("{root}/c"))].into());
        assert!(folders(&[source("a: b\n")]).is_empty());
    }
}
