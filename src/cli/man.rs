//! `man [COMMAND]`: manual pages in roff, made from the definitions that read the command line.

use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::verbs::{self, Action, FIRST_TRY, Group, Manner, Run, VERBS, Verb};
use super::{Context, Exit, Failure, help, overview};
use crate::io::files::Privacy;
use crate::io::trees::{self, Mode, Outcome};
use windlass_source::nearest::nearest;
use windlass_source::tree::Tree;

pub(super) const VERB: Verb = Verb {
    words: &["man"],
    operands: "[COMMAND]",
    summary: "the manual page of the program or of a command; all of them with --to",
    family: None,
    group: Group::Reference,
    manner: Manner::Ours,
    examples: &["man release build", "man --to out/man/man1"],
    action: Action::of::<Arguments>(),
};

/// The program whose pages they are, under whatever name it runs.
const PROGRAM: &str = "windlass";

#[derive(Args)]
struct Arguments {
    /// A command, such as `release build`, or its first word; without it the program
    ///
    /// The page goes to standard output as roff: `windlass man render | man -l -` shows it. To a
    /// terminal the help of the command is printed.
    #[arg(value_name = "COMMAND", conflicts_with = "to")]
    words: Vec<String>,
    /// Write all pages into this folder
    ///
    /// `windlass.1`, `windlass-release-build.1` and so on, the same bytes every time. In a folder
    /// `man1` of MANPATH `man windlass release build` finds them.
    #[arg(long, value_name = "DIR")]
    to: Option<String>,
    /// With --to: overwrite other content
    #[arg(long, requires = "to")]
    force: bool,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        match &self.to {
            Some(to) => self.write(context, to)?,
            None => {
                let topic = topic(&self.words)?;
                if context.stdio.stdout.is_terminal() {
                    let width = context.stdio.stdout.width();
                    context.out(&topic.help(width));
                } else {
                    context.out(&topic.page());
                }
            }
        }
        Ok(Exit::Clean)
    }
}

impl Arguments {
    fn write(&self, context: &mut Context<'_>, to: &str) -> Result<(), Failure> {
        let pages: Tree = topics()
            .iter()
            .map(|topic| (topic.file(), topic.page().into_bytes()))
            .collect();
        let mode = if self.force {
            Mode::Force
        } else {
            Mode::Create
        };
        let outcome = trees::write_tree(to, &pages, mode, Privacy::Public, "man")?;
        context.paths(
            pages
                .paths()
                .map(|path| format!("{}/{path}", to.trim_end_matches('/'))),
        );
        if let Outcome::WrittenBeside(foreign) = outcome {
            context.talk(&format!("note: {to} also holds {}", foreign.join(", ")));
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Topic {
    Program,
    /// The commands with this first word.
    Group(&'static str),
    Verb(&'static Verb),
}

/// All pages: the program, then each command, before the first of a group the group.
fn topics() -> Vec<Topic> {
    let mut topics = vec![Topic::Program];
    let mut groups = Vec::new();
    for verb in VERBS {
        if let [group, _] = verb.words
            && !groups.contains(group)
        {
            groups.push(group);
            topics.push(Topic::Group(group));
        }
        topics.push(Topic::Verb(verb));
    }
    topics
}

/// The page that these words ask for: `release build`, also as one word, as the pages are called.
fn topic(words: &[String]) -> Result<Topic, Failure> {
    let asked = words.join(" ");
    let is_asked = |topic: &Topic| topic.words() == asked || topic.name() == asked;
    if let Some(topic) = topics().into_iter().find(is_asked) {
        return Ok(topic);
    }
    let known: Vec<String> = topics()
        .iter()
        .map(Topic::words)
        .filter(|words| !words.is_empty())
        .collect();
    let help = match nearest(&asked, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("`{PROGRAM} --help` lists all commands"),
    };
    Err(Failure::usage(
        format!("`{asked}` is not a command of {PROGRAM}"),
        help,
    ))
}

impl Topic {
    /// `release build`; nothing for the program.
    fn words(&self) -> String {
        match self {
            Topic::Program => String::new(),
            Topic::Group(word) => (*word).to_owned(),
            Topic::Verb(verb) => verb.name(),
        }
    }

    /// `windlass-release-build`, as `man` looks for `man windlass release build`.
    fn name(&self) -> String {
        format!("{PROGRAM} {}", self.words())
            .trim_end()
            .replace(' ', "-")
    }

    fn file(&self) -> String {
        format!("{}.1", self.name())
    }

    /// The page. It has no date: the same program gives the same bytes.
    fn page(&self) -> String {
        let man = Man::new(self.command().display_name(self.name()));
        let mut page = Page::default();
        // Written here, because `Man` leaves out the quotes of an empty date, and what follows
        // would take its place.
        let source = concat!("windlass v", env!("CARGO_PKG_VERSION"));
        page.roff(Roff::default().control(
            "TH",
            [self.name().as_str(), "1", "\"\"", source, "Windlass"],
        ));
        page.add(|out| man.render_name_section(out));
        page.add(|out| man.render_synopsis_section(out));
        match self {
            Topic::Program => {
                page.section("COMMANDS");
                for group in Group::ALL {
                    page.roff(Roff::default().control("SS", [group.title()]));
                    page.commands(VERBS.iter().filter(|verb| verb.group == group));
                }
                page.add(|out| man.render_options_section(out));
                page.ends(overview::EXIT, &[FIRST_TRY]);
            }
            Topic::Group(word) => {
                page.section("COMMANDS");
                page.commands(
                    VERBS
                        .iter()
                        .filter(|verb| verb.words.len() == 2 && verb.words[0] == *word),
                );
                page.see_also();
            }
            Topic::Verb(verb) => {
                if self.command().get_long_about().is_some() {
                    page.add(|out| man.render_description_section(out));
                }
                page.add(|out| man.render_options_section(out));
                page.ends(verb.manner.exit(), verb.examples);
                page.see_also();
            }
        }
        page.text
    }

    /// The same as text, for a terminal.
    fn help(&self, width: usize) -> String {
        let width = width.min(help::WIDTH);
        match self {
            Topic::Program => overview::text(PROGRAM, VERBS, FIRST_TRY, width),
            Topic::Group(word) => {
                let verbs: Vec<&Verb> = VERBS
                    .iter()
                    .filter(|verb| verb.words.len() == 2 && verb.words[0] == *word)
                    .collect();
                overview::of_group(PROGRAM, word, &verbs, width)
            }
            Topic::Verb(verb) => help::long(PROGRAM, verb, width),
        }
    }

    fn command(&self) -> Command {
        match self {
            Topic::Program => {
                verbs::root(PROGRAM).override_usage(format!("{PROGRAM} COMMAND [FLAGS]"))
            }
            Topic::Group(word) => Command::new(*word)
                .disable_help_flag(true)
                .about(verbs::seconds(word))
                .bin_name(format!("{PROGRAM} {word}"))
                .override_usage(format!("{PROGRAM} {word} COMMAND [FLAGS]")),
            Topic::Verb(verb) => verb.command(PROGRAM).override_usage(verb.usage(PROGRAM)),
        }
    }
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    /// Adds what `write` writes. Each part begins with the definition of an apostrophe, of which a
    /// page needs one.
    fn add(&mut self, write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) {
        let mut bytes = Vec::new();
        write(&mut bytes).expect("internal error: memory can be written");
        let part = String::from_utf8(bytes).expect("internal error: text makes text");
        let definition = Roff::default().render();
        let part = if self.text.is_empty() {
            &part
        } else {
            part.strip_prefix(&definition).unwrap_or(&part)
        };
        self.text.push_str(part);
    }

    fn roff(&mut self, roff: &Roff) {
        self.add(|out| roff.to_writer(out));
    }

    fn section(&mut self, title: &str) {
        self.roff(Roff::default().control("SH", [title]));
    }

    /// A list of commands: the page of each and what it does.
    fn commands(&mut self, verbs: impl Iterator<Item = &'static Verb>) {
        for verb in verbs {
            let page = format!("{}(1)", Topic::Verb(verb).name());
            self.roff(
                Roff::default()
                    .control("TP", [])
                    .text([bold(page)])
                    .text([roman(verb.summary)]),
            );
        }
    }

    fn ends(&mut self, exit: &str, examples: &[&str]) {
        self.section("EXIT STATUS");
        self.roff(Roff::default().text([roman(exit)]));
        self.section("EXAMPLES");
        let mut lines = Roff::default();
        for (at, example) in examples.iter().enumerate() {
            // The heading begins the first paragraph.
            if at > 0 {
                lines.control("PP", []);
            }
            lines.text([bold(format!("{PROGRAM} {example}"))]);
        }
        self.roff(&lines);
    }

    fn see_also(&mut self) {
        self.section("SEE ALSO");
        self.roff(Roff::default().text([bold(format!("{PROGRAM}(1)"))]));
    }
}
