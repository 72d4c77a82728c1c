//! Remedies as the command line words them: settings are flags, other requests are commands.

use windlass_source::diag::{Part, Remedy, Report, Setting};

pub(super) fn flag(setting: Setting) -> String {
    format!("--{}", setting.name())
}

pub(super) fn words(remedy: &Remedy) -> String {
    let part = |part: &Part| match part {
        Part::Words(words) => words.to_string(),
        Part::Setting(setting, None) => format!("`{}`", flag(*setting)),
        Part::Setting(setting, Some(value)) => format!("`{} {value}`", flag(*setting)),
        Part::Request(verb, setting, value) => {
            format!("`windlass {verb} {} {value}`", flag(*setting))
        }
        Part::Quoted(text) => format!("`{text}`"),
    };
    remedy.parts().iter().map(part).collect()
}

/// The findings with the words of this program in their help.
pub(super) fn worded(report: Report) -> Report {
    let word = |mut finding: windlass_source::diag::Diagnostic| {
        finding.help = finding.help.map(|remedy| words(&remedy).into());
        finding
    };
    report.into_iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::verbs::VERBS;

    #[test]
    fn settings_are_flags_and_requests_commands() {
        let remedy = Remedy::new("add ")
            .setting(Setting::All)
            .then(", or ")
            .set(Setting::Select, "a:init")
            .then("; or run ");
        let remedy = remedy.request("repository add DIR", Setting::To, "x");
        assert_eq!(
            words(&remedy),
            "add `--all`, or `--select a:init`; or run `windlass repository add DIR --to x`"
        );
    }

    #[test]
    fn each_setting_is_a_flag_of_a_verb() {
        let commands: Vec<_> = VERBS.iter().map(|verb| verb.command("windlass")).collect();
        let flags: BTreeSet<_> = commands
            .iter()
            .flat_map(clap::Command::get_arguments)
            .filter_map(clap::Arg::get_long)
            .collect();
        let unknown: Vec<_> = Setting::ALL
            .iter()
            .filter(|setting| !flags.contains(setting.name()))
            .collect();
        assert!(
            unknown.is_empty() && flags.len() > Setting::ALL.len(),
            "{unknown:?} of {flags:?}"
        );
    }
}
