//! Reports of real users, each with the command that would have answered it: `docs/bug-reports.md`
//! lists them, and the tests and cases of all commands.

use crate::support::{root, run};
use crate::tidy::{code, rust_files};

fn config(spec: &str) -> String {
    format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n{spec}"
    )
}

/// rancher/cluster-api-provider-rke2#510: user data larger than EC2's 16,384 bytes, found when no
/// machine came up.
#[test]
fn caprke2_510_user_data_larger_than_ec2_takes() {
    // Letters without a pattern, as those of keys: AWS' provider sends the data with gzip.
    let mut seed = 1_u32;
    let mut letter = || {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        char::from(b'a' + u8::try_from((seed >> 16) % 26).unwrap())
    };
    let mut file = |path: &str| {
        format!(
            "  - {{path: {path}, content: {}}}\n",
            (0..9000).map(|_| letter()).collect::<String>()
        )
    };
    let spec = format!(
        "  files:\n{}{}{}{}",
        file("/a"),
        file("/b"),
        file("/c"),
        file("/d")
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.yaml"), config(&spec)).unwrap();
    let size = run(folder.path(), "size c.yaml --infra aws --fail-over 100%");
    assert_eq!(size.code, 1, "{size:?}");
    let report = size.stdout;
    assert!(
        report.contains("error[user-data-over-budget]")
            && report.contains("of what aws takes")
            && report.contains("largest: /a "),
        "{report}"
    );
}

/// kubernetes-sigs/cluster-api#3771: bootstrap tokens in what is printed.
#[test]
fn cluster_api_3771_a_token_is_in_no_report() {
    let text = config(
        "  joinConfiguration:\n    discovery: {bootstrapToken: {token: abcdef.hunter2hunter2hu, apiServerEndpoint: \"a:1\", unsafeSkipCAVerification: true}}\n  preKubeadmCommands: [x --token abcdef.hunter2hunter2hu]\n",
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.yaml"), text).unwrap();
    for command in [
        "why field:discovery c.yaml",
        "why command:x c.yaml -o json",
        "validate c.yaml",
        "size c.yaml",
        "diff c.yaml c.yaml",
    ] {
        let run = run(folder.path(), command);
        let report = run.stdout + &run.stderr;
        assert!(
            !report.contains("hunter2") && !report.is_empty(),
            "{command}: {report}"
        );
    }
}

/// The table of the documents has twenty reports and more, each with a verb of this build and a
/// test that is there; no test is left out.
#[test]
fn the_table_of_reports_names_tests_that_exist() {
    let table = std::fs::read_to_string(root().join("docs/bug-reports.md")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('#'))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    assert!(rows.len() >= 20, "{}", rows.len());
    let all: String = rust_files(&root().join("tests/it"))
        .iter()
        .map(|file| code(file))
        .collect();
    for row in &rows {
        let [report, _, verb, test] = row.as_slice() else {
            panic!("{row:?}")
        };
        let number: String = report
            .chars()
            .skip_while(|c| *c != '#')
            .skip(1)
            .take_while(char::is_ascii_digit)
            .collect();
        let test = test.trim_matches('`');
        let is_tested = if test.starts_with("tests/cases/") {
            let session = std::fs::read_to_string(root().join(test).join("cmd"));
            let names_report = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_digit());
            let report = format!("#{number}");
            session.is_ok_and(|session| session.split(&report).skip(1).any(names_report))
        } else {
            all.contains(&format!("fn {test}()")) && test.contains(&format!("_{number}_"))
        };
        assert!(is_tested, "{row:?}");
        assert!(
            windlass::cli::verbs::VERBS
                .iter()
                .any(|known| known.name() == verb.trim_matches('`')),
            "{row:?}"
        );
    }
    let own = code(&root().join("tests/it/bug_reports.rs"));
    let is_of_report = |name: &&str| name.chars().any(|c| c.is_ascii_digit());
    let tests = own
        .split("#[test]\nfn ")
        .skip(1)
        .filter_map(|rest| rest.split('(').next())
        .filter(is_of_report);
    let missing: Vec<&str> = tests.filter(|test| !table.contains(*test)).collect();
    assert!(
        missing.is_empty(),
        "not in docs/bug-reports.md: {missing:?}"
    );
}
