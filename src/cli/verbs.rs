//! The table of verbs. A new verb is a file in this folder and a row here; help, completions and
//! tests follow from it.

use clap::{ArgAction, ArgMatches, Args, Command};

use super::guesses::with_guesses;
use super::{
    Context, Exit, Failure, Global, completion, config_repositories, diff, explain, generate,
    generate_cluster, generate_provider, generate_yaml, images, init, inspect, lint, lsp, man,
    migrate, outlook, overview, release, release_check, release_diff, release_image, render,
    repository, rules, schema, size, topology, validate, vars, version, why,
};

/// The sections of the overview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Building releases.
    Release,
    /// Local repositories.
    Repository,
    /// Bootstrap data.
    Render,
    /// Reference.
    Reference,
    /// What clusterctl has too.
    Clusterctl,
}

impl Group {
    /// All sections, in the order of the overview.
    pub const ALL: [Group; 5] = [
        Group::Release,
        Group::Repository,
        Group::Render,
        Group::Reference,
        Group::Clusterctl,
    ];

    /// The line above the section.
    pub fn title(self) -> &'static str {
        match self {
            Group::Release => "Release a provider (described by ./provider.yaml)",
            Group::Repository => "Set up clusterctl repositories",
            Group::Render => "See what a machine boots with",
            Group::Reference => "Look things up",
            Group::Clusterctl => {
                "clusterctl's offline commands, with its flags, output and exit codes"
            }
        }
    }
}

/// Whose words and exit codes a verb has when its command line is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// ``error: … help: …``, exit 2.
    Ours,
    /// `Error: …`, exit 1.
    Clusterctl,
}

impl Manner {
    /// What its exit codes mean.
    pub(super) fn exit(self) -> &'static str {
        match self {
            Manner::Ours => overview::EXIT,
            Manner::Clusterctl => "0 done, 1 anything else, as of clusterctl.",
        }
    }
}

/// One verb.
#[derive(Debug)]
pub struct Verb {
    /// The words that call it: `["release", "build"]`.
    pub words: &'static [&'static str],
    /// What must follow them, as usage lines show it: `VERSION --to DIR`.
    pub operands: &'static str,
    /// What it does, in one line, lower case, without a period.
    pub summary: &'static str,
    /// One line for this verb and its neighbours with the same first word: `repository add|list`
    /// share a line of the overview.
    pub family: Option<&'static str>,
    /// Its section of the overview.
    pub group: Group,
    /// Whose words it has when its command line is wrong.
    pub manner: Manner,
    /// Complete commands without the program's name, for `--help`. A test runs them one after the
    /// other, in the order of the table, in a copy of the project's root folder; each must
    /// exit with 0.
    pub examples: &'static [&'static str],
    /// What it takes and does.
    pub action: Action,
}

/// The arguments of a verb, and what it does with them.
pub trait Run: Args {
    /// Runs the verb.
    ///
    /// # Errors
    /// What is nobody's document: faults in documents are findings, which the verb shows itself.
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure>;
}

/// A verb's arguments and what it does with them, without their type.
#[derive(Debug, Clone, Copy)]
pub struct Action {
    define: fn(Command) -> Command,
    run: fn(&ArgMatches, &mut Context<'_>) -> Result<Exit, Failure>,
}

impl Action {
    /// The action of a verb whose arguments are `A`.
    pub const fn of<A: Run>() -> Self {
        Action {
            define: A::augment_args,
            run: |matches, context| {
                let arguments = A::from_arg_matches(matches)
                    .expect("internal error: clap has checked the arguments");
                arguments.run(context)
            },
        }
    }
}

/// All verbs that this build has, in the order of the overview.
pub static VERBS: &[Verb] = &[
    init::VERB,
    release::BUILD,
    release::BUMP,
    release_check::VERB,
    release_diff::VERB,
    release_image::VERB,
    lint::VERB,
    generate::CRDS,
    generate::RBAC,
    generate::COMPONENTS,
    generate::METADATA,
    generate::TEMPLATE,
    generate::CLUSTER_CLASS,
    repository::ADD,
    repository::LIST,
    repository::IMAGES,
    repository::DOCTOR,
    repository::BUNDLE,
    repository::CONFIGMAP,
    repository::PUSH,
    repository::PULL,
    vars::VERB,
    render::VERB,
    validate::VERB,
    size::VERB,
    images::VERB,
    inspect::VERB,
    diff::VERB,
    why::VERB,
    migrate::VERB,
    outlook::VERB,
    topology::PLAN,
    topology::VARIABLES,
    rules::VERB,
    explain::VERB,
    schema::VERB,
    lsp::VERB,
    man::VERB,
    generate_yaml::VERB,
    generate_provider::VERB,
    generate_cluster::VERB,
    config_repositories::VERB,
    completion::VERB,
    version::VERB,
];

/// The command that the overview ends with; it must work in the project's root folder.
pub const FIRST_TRY: &str = "render examples/worker.yaml";

impl Verb {
    /// `release build`.
    pub fn name(&self) -> String {
        self.words.join(" ")
    }

    /// The usage line after `Usage: `.
    pub fn usage(&self, program: &str) -> String {
        let operands = if self.operands.is_empty() {
            String::new()
        } else {
            format!(" {}", self.operands)
        };
        format!("{program} {}{operands} [FLAGS]", self.name())
    }

    /// What clap needs to read this verb's arguments: nothing is built for the other verbs.
    pub(super) fn command(&self, program: &str) -> Command {
        let command = Command::new(self.words.last().copied().unwrap_or_default())
            .bin_name(format!("{program} {}", self.name()))
            .args_override_self(true)
            .disable_help_flag(true)
            .disable_version_flag(true)
            .version(version::LINE);
        // Last, because structs of flags bring a summary of their own.
        let command = (self.action.define)(command);
        let command = match self.manner {
            Manner::Ours => with_guesses(command),
            Manner::Clusterctl => command,
        };
        let command = with_global_flags(command).about(self.summary);
        let command = command.mut_arg("config", |flag| flag.hide(!self.reads_configuration()));
        command.mut_arg("settings", |flag| flag.hide(!self.reads_settings()))
    }

    pub(super) fn reads_settings(&self) -> bool {
        self.takes("deny")
    }

    /// Whether a flag is one of its own.
    fn takes(&self, flag: &str) -> bool {
        (self.action.define)(Command::new(""))
            .get_arguments()
            .any(|known| known.get_id() == flag)
    }

    /// Whether `--config` means something here: clusterctl's own verbs take it everywhere, and
    /// templates have values of variables from it.
    pub(super) fn reads_configuration(&self) -> bool {
        self.manner == Manner::Clusterctl
            || self.words == ["repository", "doctor"]
            || self.takes("var")
    }

    pub(super) fn run(
        &self,
        matches: &ArgMatches,
        context: &mut Context<'_>,
    ) -> Result<Exit, Failure> {
        (self.action.run)(matches, context)
    }
}

pub(super) fn with_global_flags(command: Command) -> Command {
    let flag = |name: &'static str| clap::Arg::new(name).help_heading("Global");
    Global::augment_args(command)
        .arg(
            flag("help")
                .short('h')
                .long("help")
                .action(ArgAction::HelpShort)
                .help("Help: -h on one screen, --help in full"),
        )
        .arg(
            flag("version")
                .short('V')
                .long("version")
                .action(ArgAction::Version)
                .help("The version of this program"),
        )
}

/// The verbs below a first word, as what it stands for.
pub(super) fn seconds(group: &str) -> String {
    let below = VERBS
        .iter()
        .filter(|verb| verb.words.len() == 2 && verb.words[0] == group);
    below
        .map(|verb| verb.words[1])
        .collect::<Vec<_>>()
        .join(", ")
}

/// The program without its verbs.
pub(super) fn root(program: &'static str) -> Command {
    let root = Command::new(program)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .version(version::LINE);
    with_global_flags(root).about(env!("CARGO_PKG_DESCRIPTION"))
}

/// All verbs as one tree, for completions.
pub(super) fn tree(program: &'static str) -> Command {
    let mut root = root(program);
    for verb in VERBS {
        match verb.words {
            [group, second] => {
                let of_group = root.find_subcommand(group).cloned();
                let is_new = of_group.is_none();
                let of_group = of_group
                    .unwrap_or_else(|| Command::new(*group).about(seconds(group)))
                    .subcommand(completion::shown(second, &verb.command(program)));
                root = if is_new {
                    root.subcommand(of_group)
                } else {
                    root.mut_subcommand(group, |_| of_group)
                };
            }
            words => root = root.subcommand(completion::shown(words[0], &verb.command(program))),
        }
    }
    root
}

/// A table as the finished program will have it, for tests of what is made from tables.
#[cfg(test)]
pub(super) mod planned {
    use super::*;

    #[derive(Args)]
    struct Nothing {}

    impl Run for Nothing {
        fn run(self, _: &mut Context<'_>) -> Result<Exit, Failure> {
            Ok(Exit::Clean)
        }
    }

    const fn row(
        group: Group,
        words: &'static [&'static str],
        operands: &'static str,
        summary: &'static str,
    ) -> Verb {
        let manner = if matches!(group, Group::Clusterctl) {
            Manner::Clusterctl
        } else {
            Manner::Ours
        };
        Verb {
            words,
            operands,
            summary,
            family: None,
            group,
            manner,
            examples: &[],
            action: Action::of::<Nothing>(),
        }
    }

    const fn artifact(words: &'static [&'static str]) -> Verb {
        Verb {
            family: Some("print one artifact"),
            ..row(Group::Release, words, "", "print it")
        }
    }

    const fn repository(words: &'static [&'static str]) -> Verb {
        let family = Some("fill, show, explain and pack a local repository");
        Verb {
            family,
            ..row(Group::Repository, words, "", "x")
        }
    }

    const BUILD: &str =
        "write the whole release: components, metadata, templates, checksums, images, SBOM";
    const RENDER: &str = "bootstrap data of a KubeadmConfig or WindlassConfig, without a cluster";

    pub(in crate::cli) static VERBS: &[Verb] = &[
        row(
            Group::Release,
            &["release", "build"],
            "VERSION --to DIR",
            BUILD,
        ),
        row(
            Group::Release,
            &["release", "bump"],
            "VERSION",
            "add a release series to metadata.yaml",
        ),
        artifact(&["generate", "crds"]),
        artifact(&["generate", "rbac"]),
        artifact(&["generate", "components"]),
        artifact(&["generate", "metadata"]),
        artifact(&["generate", "template"]),
        artifact(&["generate", "clusterclass"]),
        repository(&["repository", "add"]),
        repository(&["repository", "list"]),
        row(Group::Render, &["render"], "FILE…", RENDER),
        row(Group::Clusterctl, &["generate", "yaml"], "", "x"),
        row(Group::Clusterctl, &["generate", "provider"], "", "x"),
        row(Group::Clusterctl, &["generate", "cluster"], "NAME", "x"),
        row(Group::Clusterctl, &["config", "repositories"], "", "x"),
        row(Group::Clusterctl, &["completion"], "SHELL", "x"),
        row(Group::Clusterctl, &["version"], "", "x"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_sound() {
        for verb in VERBS {
            verb.command("windlass").debug_assert();
            assert!((1..=2).contains(&verb.words.len()), "{}", verb.name());
            assert!(
                !verb.summary.ends_with('.') && !verb.summary.is_empty(),
                "{}",
                verb.name()
            );
            for example in verb.examples {
                assert!(
                    example.starts_with(&verb.name()),
                    "`{example}` is an example of `{}`",
                    verb.name()
                );
            }
        }
        tree("windlass").debug_assert();
    }

    #[test]
    fn groups_are_no_verbs_and_names_are_unique() {
        let mut names: Vec<String> = VERBS.iter().map(Verb::name).collect();
        for verb in VERBS.iter().filter(|verb| verb.words.len() == 2) {
            assert!(
                !names.contains(&verb.words[0].to_owned()),
                "{}",
                verb.name()
            );
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), VERBS.len());
    }

    #[test]
    fn the_overview_ends_with_a_verb_of_this_build() {
        assert!(VERBS.iter().any(|verb| FIRST_TRY.starts_with(&verb.name())));
    }
}
