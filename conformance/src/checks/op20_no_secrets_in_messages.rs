//! OP-20: nothing of the data is in conditions, events or the log.

use super::{Check, NO_SECRET, Run};
use crate::data;
use crate::history::Subject;
use crate::outcome::{Evidence, Level, Outcome};
use crate::story::Story;

pub(crate) const CHECK: Check = Check {
    rule: "OP-20",
    name: "no-secrets-in-messages",
    level: Level::Should,
    contracts: &[],
    does: "Searches conditions, events and, with --run, the log for private keys, bootstrap tokens and values of keys called secret, token, password or key in the data.",
    expects: "None of them is found.",
    waits: "Until completion and up to 3 s longer.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let Some(value) = story.data() else {
        return Outcome::not_covered(NO_SECRET);
    };
    let secrets = data::secrets(&value);
    if secrets.is_empty() {
        return Outcome::not_covered(
            "the data of the sample contains no private key, token or password",
        );
    }
    let mut places = vec![("conditions", String::new()), ("events", String::new())];
    for config in story.configs() {
        places[0].1 += &config["status"].to_string();
    }
    for event in story.history.all(Subject::Event) {
        places[1].1 += &event.object["message"].to_string();
    }
    places.extend(story.log.clone().map(|log| ("log", log)));
    let leak = places
        .iter()
        .find(|(_, text)| secrets.iter().any(|secret| text.contains(secret.as_str())));
    match leak {
        Some((place, _)) => Outcome::fail(
            format!("a secret of the data is in the {place}"),
            Evidence {
                object: format!(
                    "{} of {} {}",
                    place, story.provider.config.kind, story.namespace
                ),
                field: None,
                observed: "it contains a value of the data, which is not repeated here".to_owned(),
                history: Vec::new(),
            },
        ),
        None => Outcome::pass(match story.log {
            Some(_) => "conditions, events and log are free of the data's secrets",
            None => {
                "conditions and events are free of the data's secrets; without --run the log was not read"
            }
        }),
    }
}
