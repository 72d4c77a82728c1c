//! BC-75: the file by which infrastructure providers see success.

use super::{Check, NO_SECRET, Run};
use crate::data;
use crate::outcome::{Level, Outcome};
use crate::story::Story;

const FILES: [&str; 3] = [
    "/run/cluster-api/bootstrap-success.complete",
    r"C:\run\cluster-api\bootstrap-success.complete",
    r"C:\\run\\cluster-api\\bootstrap-success.complete",
];

pub(crate) const CHECK: Check = Check {
    rule: "BC-75",
    name: "sentinel-file",
    level: Level::Should,
    contracts: &[],
    does: "Reads the data, also where it is gzip, base64 or percent-encoded.",
    expects: "The data names `/run/cluster-api/bootstrap-success.complete`, or on Windows `C:\\run\\cluster-api\\bootstrap-success.complete`. The contract's text says must, its table not mandatory.",
    waits: "Until completion, at most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let (Some(secret), Some(value)) = (story.secret(), story.data()) else {
        return Outcome::not_covered(NO_SECRET);
    };
    match FILES.iter().any(|file| data::contains(&value, file)) {
        true => Outcome::pass("the data names the sentinel file"),
        false => Outcome::fail(
            "the data does not create the sentinel file",
            story.of_secret(
                secret,
                Some("data.value"),
                format!("{} bytes without {}", value.len(), FILES[0]),
            ),
        ),
    }
}
