//! The words of a command line, and help: which verb they name, what is said of others, and how
//! help is laid out.

use windlass::cli::verbs::VERBS;
use windlass::shell::environment::Environment;
use windlass::shell::stdio::{Stdio, Stream};

use crate::support::{root, windlass};

/// Exit code, standard output and standard error of a run in the project's folder.
fn told(command: &str) -> (i32, String, String) {
    let output = windlass(root())
        .args(command.split_whitespace())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// What a person sees on a terminal of so many columns: the exit code, and both streams.
fn seen(arguments: &[&str], columns: usize, environment: &[(&str, &str)]) -> (u8, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| std::fs::File::create(folder.path().join(name)).unwrap();
    let stdio = Stdio {
        stdin: Box::new(std::io::empty()),
        stdout: Stream::new("standard output", file("out")).as_terminal(columns),
        stderr: Stream::new("standard error", file("err")).as_terminal(columns),
    };
    let arguments = std::iter::once("windlass")
        .chain(arguments.iter().copied())
        .map(Into::into);
    let code = windlass::cli::run(
        arguments,
        stdio,
        &environment.iter().copied().collect::<Environment>(),
    );
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    (code.code(), read("out"), read("err"))
}

#[test]
fn first_words_that_begin_alike_are_all_suggested() {
    for (word, suggested) in [
        ("re", &["release", "render", "repository"][..]),
        ("REN", &["render"]),
        ("valdate", &["validate"]),
        ("ma", &["man"]),
        ("c", &["completion", "config"]),
    ] {
        let list: String = suggested.iter().map(|word| format!("\t{word}\n")).collect();
        let said = format!(
            "Error: unknown command \"{word}\" for \"windlass\"\n\nDid you mean this?\n{list}\nRun 'windlass --help' for usage.\n"
        );
        assert_eq!(told(word), (1, String::new(), said), "{word}");
    }
    for flag in ["--config", "--v"] {
        let said = format!("Error: flags cannot be placed before plugin name: {flag}\n");
        assert_eq!(told(&format!("{flag} 1 zzz")), (1, String::new(), said));
    }
    // Others may be.
    assert!(
        told("--color never zzz")
            .2
            .starts_with("Error: unknown command \"zzz\"")
    );
}

#[test]
fn second_words_have_the_manner_of_their_group() {
    let all = "use `crds`, `rbac`, `components`, `metadata`, `template`, `clusterclass`, `yaml`, `provider` or `cluster`";
    for (command, message, help) in [
        (
            "generate foo",
            "unknown command `foo` for `windlass generate`",
            all,
        ),
        (
            "release bu",
            "unknown command `bu` for `windlass release`",
            "did you mean `build`?",
        ),
        (
            "repository pusj",
            "unknown command `pusj` for `windlass repository`",
            "did you mean `push`?",
        ),
        (
            "topology p",
            "unknown command `p` for `windlass topology`",
            "did you mean `plan`?",
        ),
        (
            "topology zzz",
            "unknown command `zzz` for `windlass topology`",
            "use `plan` or `variables`",
        ),
    ] {
        assert_eq!(
            told(command),
            (
                2,
                String::new(),
                format!("error: {message}\n  help: {help}\n")
            ),
            "{command}"
        );
    }
    // clusterctl prints the help of its group, and ends well.
    assert_eq!(told("config zzz"), told("config"));
    assert_eq!(told("config").0, 0);
    // What follows `--` names no verb.
    for word in ["version", "release"] {
        assert_eq!(
            told(&format!("-- {word}")),
            (
                1,
                String::new(),
                format!("Error: unknown command \"{word}\"\n")
            )
        );
    }
}

#[test]
fn help_is_about_the_words_that_follow() {
    let (_, overview, _) = told("");
    for (command, same) in [
        ("help release", "release"),
        ("help -q release", "release"),
        ("help release build", "release build --help"),
        ("help release build extra", "release build --help"),
        ("help lint --color never", "lint --help"),
        ("help -q", "help"),
        ("help", ""),
    ] {
        assert_eq!(told(command), told(same), "{command}");
        assert_eq!(told(command).0, 0, "{command}");
    }
    for (command, topics) in [
        ("help zzz", "`zzz`"),
        ("help release zzz", "`release` `zzz`"),
        ("help zzz build", "`zzz` `build`"),
    ] {
        assert_eq!(
            told(command),
            (
                0,
                String::new(),
                format!("Unknown help topic [{topics}]\n{overview}")
            ),
            "{command}"
        );
    }
    assert_ne!(told("lint -h"), told("lint --help"));
    assert!(
        told("lint -h")
            .1
            .ends_with("`windlass lint --help` says more\n")
    );
    assert!(told("lint --help").1.ends_with(
        "Examples:\n  windlass lint releases\n  windlass lint examples/harbour -o json\n"
    ));
}

#[test]
fn short_help_is_one_screen_in_two_columns() {
    let expected =
        "windlass vars: the variables of templates: defaults, required or not, every place
Usage: windlass vars FILE… [FLAGS]
Arguments:
  FILE                  Templates and components: files, folders, - for standard input
Flags:
  -s, --short           Only the variables, not where they are used
  -o, --output FORMAT   Print as: text, json
Global:
  -q, --quiet           No notes, stand-ins, next steps or summaries; errors and warnings stay
  -v, --v N             How much to tell: 1 files that are read and upstream's words, 5 everything
  --color WHEN          Colours: auto, always, never (default auto)
  -h, --help            Help: -h on one screen, --help in full
  -V, --version         The version of this program
Example: windlass vars templates
`windlass vars --help` says more
";
    assert_eq!(told("vars -h"), (0, expected.to_owned(), String::new()));
    // A flag that is too wide for the left column has its meaning below it.
    let (_, text, _) = told("generate cluster -h");
    for lines in [
        "\n  --kubernetes-version VERSION   The Kubernetes version; without it the variable KUBERNETES_VERSION\n",
        "\n  -n, --target-namespace NAMESPACE\n                                 The namespace of the workload cluster; without it that of the\n",
        "\n  --write-to FILE                Write to this file instead of standard output\n",
        "\n  --list-variables               Print the variables and their defaults instead\n",
    ] {
        assert!(text.contains(lines), "{lines} is not in\n{text}");
    }
    // In full, the meaning has its further paragraph below it; what the short help hides is there.
    let (_, text, _) = told("size --help");
    for lines in [
        "\n  --no-stand-ins                 Fill in nothing: what is missing is a finding\n                                 The objects are taken as",
        "\n  --capi-version VERSION         The CAPI release to match: v1.10 to v1.14, main (default v1.14)\n",
        "\n  --cluster-name NAME            The name of the cluster\n",
    ] {
        assert!(text.contains(lines), "{lines} is not in\n{text}");
    }
    assert!(
        !told("size -h").1.contains("--cluster-name")
            && !told("size -h").1.contains("The objects are taken as")
    );
    // Where all of a line says no more in full, nothing is said twice.
    assert!(
        told("vars --help")
            .1
            .contains("\n  FILE                  Templates and components: files, folders, - for standard input\nFlags:\n")
    );
}

/// A line of a text is as long as it may be, and no longer: its next word would not have fitted.
#[test]
fn help_fills_the_columns_of_the_terminal() {
    for verb in VERBS {
        let mut words = verb.words.to_vec();
        words.push("-h");
        let text = seen(&words, 72, &[]).1;
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("Usage: ") && !line.starts_with("Example: "))
            .collect();
        // A word that is too long by itself is not broken.
        let fits =
            |line: &&str| line.chars().count() <= 72 || line.trim_start().split(' ').count() == 1;
        assert!(lines.iter().all(fits), "{text}");
        let left = lines
            .iter()
            .find_map(|line| line.find("No notes, stand-ins"))
            .unwrap();
        for pair in lines.windows(2) {
            let Some(further) = pair[1].strip_prefix(&" ".repeat(left)) else {
                continue;
            };
            // The meaning of a flag that has a line of its own.
            let is_flag = pair[0].chars().count() <= left || !pair[0].contains("   ");
            let first = further.split(' ').next().unwrap();
            assert!(
                is_flag || pair[0].chars().count() + 1 + first.chars().count() > 72,
                "{}\n{}",
                pair[0],
                pair[1]
            );
        }
    }
    // However wide it is, help has 100 columns at most.
    assert_eq!(seen(&["vars", "-h"], 300, &[]).1, told("vars -h").1);
}

#[test]
fn a_group_on_a_terminal_is_broken_between_words() {
    let expected = "Usage: windlass config COMMAND [FLAGS]
  config repositories   the providers that
                        clusterctl knows,
                        and where they are
Global: --config FILE (clusterctl's)
        --settings FILE  -q, --quiet
        -v, --v N
        --color auto|always|never
        -h, --help  -V, --version
`windlass config repositories -h` lists
the flags of one command
";
    assert_eq!(
        seen(&["config"], 42, &[]),
        (0, expected.to_owned(), String::new())
    );
    let overview = seen(&[], 100, &[]).1;
    for lines in [
        "\n  release build VERSION   write the whole release: components, metadata, templates, checksums,\n                          images, SBOM\n",
        "\n  release check VERSION DIR…    judge a release before it is published, and whether users can\n                          upgrade to it\n",
        "\n  repository add|list|images|doctor|bundle|configmap|push|pull    fill, show, explain and pack a\n                          local",
        "\n  generate crds|rbac|components|metadata|template|clusterclass    print one artifact\n",
        "\n  render FILE…            bootstrap data of a KubeadmConfig or WindlassConfig, without a cluster\n",
    ] {
        assert!(overview.contains(lines), "{lines} is not in\n{overview}");
    }
    // In a pipe lines stay whole, and in a terminal that is wide enough.
    assert_eq!(told("config").1, seen(&["config"], 1000, &[]).1);
    assert_eq!(told("config").1.lines().count(), 4);
}

/// A dumb terminal, and one that a person asked to be left plain.
#[test]
fn colours_are_those_of_the_terminal() {
    let unknown = ["schema", "finding", "extra"];
    let is_coloured =
        |environment: &[(&str, &str)]| seen(&unknown, 80, environment).2.contains("\x1b[");
    for (environment, expected) in [
        (&[][..], true),
        (&[("TERM", "xterm")], true),
        (&[("TERM", "dumb")], false),
        (&[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")], true),
        (&[("NO_COLOR", "1")], false),
    ] {
        assert_eq!(is_coloured(environment), expected, "{environment:?}");
    }
    // Of several flags the last counts, also where the rest is faulty; behind `--` there are no
    // flags.
    for (flags, expected) in [
        (&["--color", "always"][..], true),
        (&["--color=always"], true),
        (&["--color", "always", "--color", "never"], false),
        (&["--", "--color", "always"], false),
        (&["--", "--color=always"], false),
        (&["--quiet", "always"], false),
    ] {
        let output = windlass(root()).args(unknown).args(flags).output().unwrap();
        assert_eq!(output.stderr.contains(&0x1b), expected, "{flags:?}");
    }
}

#[test]
fn pages_of_rules_are_markdown_in_a_pipe_and_formatted_on_a_terminal() {
    let (code, plain, _) = told("explain metadata-series-missing");
    assert!(
        code == 0 && plain.starts_with("# metadata-series-missing\n\n"),
        "{plain}"
    );
    let (_, formatted, _) = seen(
        &["explain", "metadata-series-missing"],
        80,
        &[("NO_COLOR", "1")],
    );
    assert!(
        formatted.starts_with("metadata-series-missing\n\n") && !formatted.contains("```"),
        "{formatted}"
    );
    let (_, coloured, _) = seen(&["explain", "metadata-series-missing"], 80, &[]);
    assert!(
        coloured.starts_with("\x1b[1mmetadata-series-missing\x1b[0m\n\n"),
        "{coloured}"
    );
    // The number in the catalogue will do, in either case; it may be the number of several rules.
    for number in ["M04", "m04"] {
        assert_eq!(told(&format!("explain {number}")).1, plain, "{number}");
    }
    let (_, several, _) = told("explain A04");
    assert_eq!(
        several
            .lines()
            .filter(|line| line.starts_with("# "))
            .count(),
        2,
        "{several}"
    );
}
