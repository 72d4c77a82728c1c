//! The pages of `-o html` in a real browser: nothing is requested, everything has a name, and it
//! fits a phone, paper and the dark.

mod checks;

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::harness::browser::Browser;
use crate::harness::runner::Context;
use crate::harness::{shared, windlass};
use checks::{Scheme, aloud, contrast, keyboard, overflow, paper, requests};

/// A page and the command that makes it, in a folder with the examples.
struct Made {
    name: &'static str,
    file: PathBuf,
}

/// Pages of all four verbs, of examples, of real files, of data with faults, and of names that
/// would be markup.
fn pages(folder: &Path) -> Vec<Made> {
    let checkout = shared::checkout();
    let example = |name: &str| checkout.join("examples").join(name).display().to_string();
    let vector = |name: &str| shared::vectors("render").join(name).display().to_string();
    let hostile = folder.join("hostile");
    let name = "</style><script>document.title = 'taken'</script>\\\" onload=\\\"x";
    std::fs::write(&hostile, format!("#cloud-config\nwrite_files:\n- {{path: \"/{name}\", content: a}}\nruncmd: [\"{name}\"]\n")).unwrap();
    let rejected = folder.join("rejected.yaml");
    let config = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: a}\nspec: {format: cloudconfig, filez: []}\n";
    std::fs::write(&rejected, config).unwrap();
    let commands: [(&'static str, Vec<String>); 8] = [
        (
            "inspect",
            vec![
                "inspect".into(),
                example("user-data.txt"),
                "--log".into(),
                example("cloud-init-output.log"),
                "--show-secrets".into(),
            ],
        ),
        (
            "inspect-ignition",
            vec![
                "inspect".into(),
                vector("main-ign-full-init/expected.ignition.json"),
            ],
        ),
        (
            "inspect-hostile",
            vec!["inspect".into(), hostile.display().to_string()],
        ),
        (
            "render",
            vec![
                "render".into(),
                "--all".into(),
                example("topology/harbour.yaml"),
                example("worker.yaml"),
            ],
        ),
        (
            "render-rejected",
            vec![
                "render".into(),
                "--all".into(),
                rejected.display().to_string(),
            ],
        ),
        (
            "size",
            vec![
                "size".into(),
                example("control-plane.yaml"),
                example("windlass.yaml"),
            ],
        ),
        (
            "diff",
            vec![
                "diff".into(),
                example("control-plane.yaml"),
                "--kubernetes-version".into(),
                "v1.33.4..v1.34.1".into(),
            ],
        ),
        (
            "diff-many",
            vec![
                "diff".into(),
                example("worker.yaml"),
                example("windlass.yaml"),
            ],
        ),
    ];
    commands
        .map(|(name, arguments)| made(folder, name, &arguments))
        .into()
}

fn made(folder: &Path, name: &'static str, arguments: &[String]) -> Made {
    let all: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .chain(["-o", "html"])
        .collect();
    let finished = windlass::try_run(folder, &all);
    assert!(
        finished.stdout.starts_with("<!DOCTYPE html>"),
        "{name}: {:?} {}",
        finished.code,
        finished.stderr
    );
    let file = folder.join(format!("{name}.html"));
    std::fs::write(&file, finished.stdout).unwrap();
    Made { name, file }
}

/// Puts a picture of the page where `WINDLASS_E2E_PICTURES` says, for people to look at.
fn picture(browser: &Browser, name: &str, kind: &str) {
    if let Some(folder) = std::env::var_os("WINDLASS_E2E_PICTURES") {
        browser.picture(&Path::new(&folder).join(format!("{name}-{kind}.png")));
    }
}

/// Fails with all faults that were found.
fn assert_none(faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// No request leaves a page, nothing is said on its console, no foreign script runs; each landmark,
/// heading, table, picture and control has a name, and the keyboard reaches everything and shows
/// where it is.
pub(crate) fn pages_ask_for_nothing_and_are_read_aloud(context: &Context) {
    let browser = Browser::start(context.folder());
    let mut faults = Vec::new();
    for Made { name, file } in pages(context.folder()) {
        let mut found = requests(&browser, &file);
        found.extend(aloud(&browser));
        found.extend(keyboard(&browser));
        if browser.evaluate("return document.scripts.length || document.title === 'taken'")
            != json!(false)
        {
            found.push("a script is on the page".to_owned());
        }
        faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert_none(&faults);
}

/// A phone of 360 pixels needs no scrolling sideways, paper has what is folded, and every text
/// stands out, in light and in dark.
pub(crate) fn pages_fit_phone_paper_and_dark(context: &Context) {
    let browser = Browser::start(context.folder());
    let mut faults = Vec::new();
    for Made { name, file } in pages(context.folder()) {
        browser.open(&file);
        let mut found = Vec::new();
        for scheme in [Scheme::Light, Scheme::Dark] {
            scheme.set(&browser);
            checks::desktop(&browser);
            found.extend(contrast(&browser, scheme));
            picture(&browser, name, scheme.word());
            checks::phone(&browser);
            found.extend(overflow(&browser));
            picture(&browser, name, &format!("{}-phone", scheme.word()));
        }
        let grounds = [Scheme::Light, Scheme::Dark].map(|scheme| {
            scheme.set(&browser);
            browser.evaluate("return getComputedStyle(document.body).backgroundColor")
        });
        if grounds[0] == grounds[1] {
            found.push(format!("dark is as light: {}", grounds[0]));
        }
        checks::desktop(&browser);
        found.extend(paper(&browser));
        picture(&browser, name, "paper");
        checks::screen(&browser);
        faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert_none(&faults);
}

/// A page in which everything is wrong: each check says so.
pub(crate) fn the_checks_see_what_is_wrong(context: &Context) {
    let browser = Browser::start(context.folder());
    let file = context.folder().join("wrong.html");
    let page = "<!DOCTYPE html><html><head><style>:focus { outline: none } @media print { details { display: none } }</style></head><body>\
                <p style='color: #999; background: #fff'>pale</p><div style='width: 900px'>wide</div><h1></h1><a href='#x'></a><table><tr><th>h<td>1</table>\
                <details><summary>s</summary><pre>folded</pre></details><img src='http://127.0.0.1:9/x.png'><script>console.error('said')</script></body></html>";
    std::fs::write(&file, page).unwrap();
    let told = requests(&browser, &file).join("\n");
    assert!(
        told.contains("127.0.0.1:9") && told.contains("said"),
        "{told}"
    );
    let told = aloud(&browser).join("\n");
    for expected in [
        "no banner",
        "no main",
        "link without a name",
        "heading without a name",
        "table without a name",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    assert!(
        keyboard(&browser).join("\n").contains("is not shown"),
        "the focus is invisible there"
    );
    checks::desktop(&browser);
    assert!(
        contrast(&browser, Scheme::Light)
            .join("\n")
            .contains("pale")
    );
    checks::phone(&browser);
    assert!(!overflow(&browser).is_empty());
    assert!(!paper(&browser).is_empty());
}
