//! `lsp`: the language server on standard input and output.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use clap::Args;

use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure, bug, provider_file};
use crate::editor::{Disk, Incoming, Server};
use crate::io::files;
use crate::io::messages::{MOST_WAITING, frame, read_messages};
use crate::io::neighbours::Neighbours;
use crate::release_findings;
use windlass_checks::settings::ProjectRoles;
use windlass_report::Sources;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;

pub(super) const VERB: Verb = Verb {
    words: &["lsp"],
    operands: "",
    summary: "the language server: findings, fixes, hover and completion in your editor",
    family: None,
    group: Group::Reference,
    manner: Manner::Ours,
    examples: &["lsp"],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// Accepted for editors that pass it; standard input and output are always used
    #[arg(long, hide_short_help = true)]
    stdio: bool,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let Arguments { stdio: _ } = self;
        if context.stdio.stdout.is_terminal() {
            context.talk("note: an editor starts this command, which now waits for its messages");
        }
        let stdin = std::mem::replace(&mut context.stdio.stdin, Box::new(io::empty()));
        let messages = read_messages(stdin);
        let mut server = Server::new(Files::default());
        let mut queue = VecDeque::new();
        while server.exit().is_none() && wait(&messages, &mut queue, server.has_work()) {
            let answers = catch_unwind(AssertUnwindSafe(|| server.next(&mut queue)))
                .unwrap_or_else(|_| server.panicked(&bug::location()));
            for answer in &answers {
                context.out(&frame(answer));
            }
            context.stdio.flush();
        }
        // A client that goes away without `exit` is not an error of the server.
        Ok(Exit::failing(server.exit() == Some(false)))
    }
}

/// Takes the messages that have arrived, and waits for one if there is no other work. Returns `false`
/// when the client is gone and no work is left.
fn wait(messages: &Receiver<Incoming>, queue: &mut VecDeque<Incoming>, has_work: bool) -> bool {
    if queue.is_empty() && !has_work {
        queue.extend(messages.recv().ok());
    }
    let free = MOST_WAITING.saturating_sub(queue.len());
    queue.extend(messages.try_iter().take(free));
    has_work || !queue.is_empty()
}

/// The files of this machine.
#[derive(Default)]
struct Files {
    neighbours: Neighbours,
}

impl Disk for Files {
    fn folder(&self, folder: &str) -> Option<Vec<Source>> {
        self.neighbours.folder(folder)
    }

    fn file(&self, name: &str) -> Option<Source> {
        self.neighbours.file(name)
    }

    fn is_repository(&self, folder: &str) -> bool {
        let path = Path::new(folder).join(".git");
        files::is_folder(&path) || files::is_file(&path)
    }

    fn build(
        &self,
        provider: &Source,
        roles: &ProjectRoles,
        reported: &Report,
        budget: &Arc<Budget>,
    ) -> Result<(Report, Sources), String> {
        let loaded = provider_file::from_source(
            provider.clone(),
            Report::new(),
            false,
            &mut io::empty(),
            budget,
        );
        let mut loaded = loaded.map_err(|failure| match failure {
            Failure::World(error) => error.to_string(),
            Failure::Usage { message, .. } => message,
            _ => "they cannot be read".to_owned(),
        })?;
        roles.hold_for(&mut loaded.inputs);
        let found =
            release_findings::findings(&loaded.providers, loaded.report, &loaded.inputs, reported);
        Ok((found, loaded.sources))
    }
}
