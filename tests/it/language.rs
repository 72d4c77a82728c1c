//! The words of messages, help, pages, documents and comments: the terms of the field, and one word
//! for each concept.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::tidy::{root, rust_files, shown, source_folders, sources};

/// Where a word is not used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    /// What users read: messages, help, pages and documents.
    Users,
    /// Comments too.
    Prose,
    /// Names too.
    Everywhere,
}

struct Retired {
    pattern: &'static str,
    instead: &'static str,
    scope: Scope,
    /// Texts in which it is right.
    except: &'static str,
}

const RETIRED: &[Retired] = &[
    Retired {
        pattern: r"(?i)refus(e|al|ing)",
        instead: "reject, rejection",
        scope: Scope::Everywhere,
        except: r"(?i)connection ?refused",
    },
    Retired {
        pattern: r"(?i)\bmend(s|ed|ing)?\b",
        instead: "fix",
        scope: Scope::Everywhere,
        except: "",
    },
    Retired {
        pattern: r"(?i)stand-?ins?\b",
        instead: "placeholder",
        scope: Scope::Everywhere,
        // The hidden alias of `--no-placeholders`.
        except: "no-stand-ins",
    },
    Retired {
        pattern: r"(?i)surroundings",
        instead: "render context, render flags",
        scope: Scope::Everywhere,
        except: "",
    },
    Retired {
        pattern: r"(?i)\bjudg(e|es|ed|ing)\b",
        instead: "check",
        scope: Scope::Prose,
        except: "`[^`]*`",
    },
    Retired {
        pattern: r"\b(is|are) no [a-z]+",
        instead: "is not a, are not",
        scope: Scope::Prose,
        except: r"[Tt]here (is|are) no|`[^`]*`|\b(is|are) no (longer|more|need|reason|such|worse|middle|default|other|one|matches|nodes|use|time|difference|folder|work|sign|help|value|versions|plurals)",
    },
    Retired {
        pattern: r"(?i)\b(nobody|somebody|whoever)\b",
        instead: "the actor: user, caller, controller",
        scope: Scope::Users,
        except: "",
    },
    Retired {
        pattern: r"\bis none\b",
        instead: "is not a",
        scope: Scope::Users,
        except: "there is none",
    },
    Retired {
        pattern: r"(?i)\b(told|tells)\b",
        instead: "reported, shows, says",
        scope: Scope::Users,
        except: "",
    },
    Retired {
        pattern: r"\bstands (in|inside|where|twice|below|behind|for)\b",
        instead: "is",
        scope: Scope::Users,
        except: "",
    },
    Retired {
        pattern: r"\b(goes|go) on\b",
        instead: "continues",
        scope: Scope::Users,
        except: "",
    },
    Retired {
        pattern: r"(?i)the world (failed|rejected)",
        instead: "usage or I/O error",
        scope: Scope::Prose,
        except: "",
    },
];

/// Files whose texts are upstream's.
const UPSTREAM: [&str; 1] = ["crates/debugging/src/inspect/known_errors.rs"];

/// A line as far as a scope has it.
struct Line {
    file: String,
    number: usize,
    text: String,
    scope: Scope,
}

#[test]
fn words_are_those_of_the_field() {
    let lines: Vec<Line> = files().iter().flat_map(|file| lines(file)).collect();
    let mut found = Vec::new();
    for retired in RETIRED {
        let pattern = Regex::new(retired.pattern).unwrap();
        let except = Regex::new(retired.except).unwrap();
        for line in lines.iter().filter(|line| line.scope <= retired.scope) {
            let text = match retired.except.is_empty() {
                true => line.text.as_str().into(),
                false => except.replace_all(&line.text, ""),
            };
            if let Some(word) = pattern.find(&text) {
                let (file, number) = (&line.file, line.number);
                let (word, instead) = (word.as_str(), retired.instead);
                found.push(format!("{file}:{number}: `{word}`; write: {instead}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn lines_have_their_scopes() {
    let scopes = |text: &str| -> Vec<(Scope, String)> {
        of_rust("src/a.rs", text)
            .map(|line| (line.scope, line.text))
            .collect()
    };
    let found = scopes("let judge = \"a message\"; // why\n/// A comment.\nlet a = \"word\";\n");
    let users = |text: &str| (Scope::Users, text.to_owned());
    assert!(
        found.contains(&users("\"a message\"")),
        "a message is read by users"
    );
    assert!(
        !found.contains(&users("\"word\"")),
        "a single word is a key"
    );
    assert!(
        found
            .iter()
            .any(|(scope, text)| *scope == Scope::Prose && text == "/// A comment.")
    );
    assert!(
        found
            .iter()
            .any(|(scope, text)| *scope == Scope::Everywhere && text.contains("judge ="))
    );
    assert!(scopes("#[cfg(test)]\nmod tests {\n    let a = \"a message\";\n}\n").is_empty());
}

/// Sources and documents; tests apart, which quote what programs print.
fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = sources()
        .into_iter()
        .chain(rust_files(&root().join("manager/src")))
        .chain(rust_files(&root().join("conformance/src")))
        .filter(|file| !shown(file).ends_with("/tests.rs") && !shown(file).contains("/tests/"))
        .collect();
    for folder in source_folders() {
        markdown(&folder, true, &mut files);
    }
    markdown(&root().join("docs/book/src"), true, &mut files);
    markdown(root(), false, &mut files);
    files.retain(|file| !UPSTREAM.contains(&shown(file).as_str()));
    files
}

fn markdown(folder: &Path, is_deep: bool, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && is_deep {
            markdown(&path, is_deep, files);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
}

fn lines(path: &Path) -> Vec<Line> {
    let file = shown(path);
    let text = fs::read_to_string(path).unwrap();
    if file.ends_with(".rs") {
        return of_rust(&file, &text).collect();
    }
    let mut is_code = false;
    let of_document = text.lines().zip(1..).filter(|(line, _)| {
        is_code ^= line.trim_start().starts_with("```");
        !is_code
    });
    of_document
        .map(|(line, number)| Line {
            file: file.clone(),
            number,
            text: line.to_owned(),
            scope: Scope::Users,
        })
        .collect()
}

/// Each line by itself, with its string literals of several words, and its comment. The help of
/// commands comes from comments of `src/cli`.
fn of_rust<'t>(file: &'t str, text: &'t str) -> impl Iterator<Item = Line> + 't {
    static LITERAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""(?:[^"\\]|\\.)*""#).unwrap());
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let line = |number: usize, text: &str, scope: Scope| Line {
        file: file.to_owned(),
        number,
        text: text.trim().to_owned(),
        scope,
    };
    code.lines().zip(1..).flat_map(move |(text, number)| {
        let comment = text.trim_start();
        let is_help =
            comment.starts_with("///") && file.starts_with("src/cli/") && is_field(code, number);
        let prose = if is_help {
            vec![line(number, text, Scope::Users)]
        } else if comment.starts_with("//") {
            vec![line(number, text, Scope::Prose)]
        } else {
            let literals = LITERAL.find_iter(text).map(|found| found.as_str());
            literals
                .filter(|literal| literal.contains(' '))
                .map(|literal| line(number, literal, Scope::Users))
                .collect()
        };
        prose
            .into_iter()
            .chain([line(number, text, Scope::Everywhere)])
    })
}

/// Whether a comment ends at the attribute of an argument.
fn is_field(code: &str, number: usize) -> bool {
    let behind = code.lines().skip(number).map(str::trim_start);
    behind
        .skip_while(|line| line.starts_with("///"))
        .take(1)
        .any(|line| line.starts_with("#[arg") || line.starts_with("#[command"))
}
