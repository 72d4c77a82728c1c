//! clusterctl's offline commands beside the real clusterctl: the same bytes on standard output, and
//! the same exit code.

mod corpus;
mod random;
mod sides;

use std::time::Duration;

use crate::harness::process::Start;
use crate::harness::random::Random;
use crate::harness::runner::Context;
use crate::harness::{peers, windlass};
use sides::compare;

/// Every template and ClusterClass of the corpus: `generate yaml` and `generate cluster --from`,
/// with values, without, and as lists.
pub(crate) fn templates_of_the_corpus_are_equal(context: &Context) {
    let told = compare(context.folder(), corpus::templates(context.folder()));
    assert!(told.succeeded > 500 && told.rejected > 100, "only {told:?}");
}

/// Every components file of the corpus: `generate provider`, also into a namespace, with other
/// images, raw and described.
pub(crate) fn components_of_the_corpus_are_equal(context: &Context) {
    let told = compare(context.folder(), corpus::components(context.folder()));
    assert!(told.succeeded > 60, "only {told:?}");
}

/// Some hundred random templates, variables, configurations and repositories.
pub(crate) fn random_input_gives_the_same(context: &Context) {
    let mut random = Random::announced();
    let calls = (0..150)
        .flat_map(|index| {
            random::calls(&mut random, &context.folder().join(format!("case-{index}")))
        })
        .collect();
    let told = compare(context.folder(), calls);
    assert!(told.succeeded > 60 && told.rejected > 40, "only {told:?}");
}

/// Book, "clusterctl Extensions with Plugins": clusterctl hands arguments, environment and files on
/// to `clusterctl-windlass` on the PATH, and ends as that does.
pub(crate) fn as_a_plugin_of_clusterctl(context: &Context) {
    let folder = context.folder();
    let plugin = folder.join("bin/clusterctl-windlass");
    std::fs::create_dir(folder.join("bin")).expect("the folder is ours");
    std::fs::copy(windlass::program(), &plugin).expect("the folder is ours");
    std::fs::write(folder.join("t.yaml"), "a: ${WORD} ${OTHER:=c d}\n")
        .expect("the folder is ours");
    for version in ["v1.12.0", "v1.14.2"] {
        let program = peers::program(&format!("clusterctl-{version}/clusterctl"));
        let run = |arguments: &[&str]| {
            let environment = [
                ("PATH", folder.join("bin").display().to_string()),
                ("CLUSTERCTL_DISABLE_VERSIONCHECK", "true".to_owned()),
                ("XDG_CONFIG_HOME", folder.join("xdg").display().to_string()),
                ("WORD", "from the environment".to_owned()),
            ];
            let environment = environment
                .map(|(name, value)| (name.to_owned(), value))
                .to_vec();
            let arguments = arguments
                .iter()
                .map(|argument| (*argument).to_owned())
                .collect();
            Start {
                name: "clusterctl",
                program: &program,
                arguments,
                environment,
                folder,
            }
            .finish(Duration::from_secs(60))
        };
        let made = run(&["windlass", "generate", "yaml", "--from", "t.yaml"]);
        assert_eq!(
            (made.code, made.stdout.as_str()),
            (Some(0), "a: from the environment c d\n"),
            "{version}: {}",
            made.stderr
        );
        let rejected = run(&["windlass", "repository", "doctor"]);
        assert_ne!(rejected.code, Some(0), "{version}");
        assert!(
            rejected
                .stderr
                .contains("name a repository, or a configuration with `--config FILE`"),
            "{version}: {}",
            rejected.stderr
        );
    }
}
