//! `interlock run`: starts a run and follows it until it ends or waits.

use std::{
    io::IsTerminal as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use interlock_agent::settings::Settings as Agents;
use interlock_chart::{
    Value,
    library::{self, Origin},
    model::Invoke,
};
use interlock_journal::{Definition, Engine as _, Head};
use interlock_judge::settings::Settings as Judges;
use interlock_runtime::{Error, LoadedMachine, Runtime, Start, fresh_name};
use interlock_server::WantedRun;

use super::{Outcome, init};
use crate::{
    args::Run,
    drive::{block_on, drive, listen},
    failure::Failure,
    follow::Follower,
    given, machine,
    output::Output,
    sample::sample,
    store::{Store, home, user},
    worktree::{self, Kept},
};

/// Starts a run and follows it.
pub(crate) fn run(args: &Run, output: &Output) -> Outcome {
    let prepared = prepare(args, output)?;
    block_on(async {
        let runtime = prepared.store.runtime()?;
        listen(&runtime);
        let head = prepared.start(&runtime).await?;
        output.talk(&format!("run {}\n", head.name));
        drive(&prepared.store, &runtime, Follower::from_start(&prepared.store, head)?, output).await
    })
}

/// A run that can be started: its input is valid and its directory exists.
pub(crate) struct Prepared {
    pub(crate) store: Store,
    start: Start,
    worktree: Option<Kept>,
    machine: String,
}

/// Checks everything about a new run that can be checked before it begins, and makes its worktree.
pub(crate) fn prepare(args: &Run, output: &Output) -> Result<Prepared, Failure> {
    let loaded = load(&args.machine, output)?;
    let input = given::input(args.input.as_deref(), &args.set, &loaded.chart().input)?;
    let is_terminal = is_on_terminal();
    let input = given::with_terminal(input, &loaded.chart().input, is_terminal);
    let input = given::once_without_terminal(input, &loaded.chart().input, is_terminal);
    let input = loaded.admit_input(&input).map_err(|error| with_sample(error, &loaded, args))?;
    let folder = folder(args.repo.as_deref())?;
    judges_are_known(&loaded, &folder)?;
    agents_are_known(&loaded, &folder, args.agent.as_deref())?;
    let name = name(args.name.as_deref())?;
    let store = Store::open()?;
    let name = name.unwrap_or_else(|| fresh_name(&loaded.chart().id));
    let forced = (args.worktree || args.in_place).then_some(args.worktree);
    let worktree = match worktree::is_wanted(forced, &input, &folder, &store)? {
        true => Some(worktree::make(&store, &folder, &name, output)?),
        false => None,
    };
    choose_agent(&store, &name, args.agent.as_deref())?;
    let folder = worktree.as_ref().map_or_else(|| folder.clone(), |made| made.tree.folder(&folder));
    let start =
        Start { loaded, input, folder, by: user(), parent: None, name: Some(name), accepts_unproved: args.unproved };
    Ok(Prepared { store, start, worktree, machine: args.machine.clone() })
}

impl Prepared {
    /// Starts the run. A run that did not begin leaves nothing behind.
    pub(crate) async fn start(&self, runtime: &Runtime) -> Result<Head, Failure> {
        runtime.start(self.start.clone()).await.map_err(|error| {
            let _ = self.worktree.as_ref().map(Kept::remove);
            described(error, &self.machine)
        })
    }
}

/// Returns true if a person can be asked.
fn is_on_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Makes a run ready that the server starts.
pub(crate) fn prepare_for_server(wanted: WantedRun, store: &Store) -> Result<Start, Failure> {
    let WantedRun { machine, input, folder, name: run, agent, by } = wanted;
    let folder = recordable(folder)?;
    let source = library::load(&machine, &folder)?;
    let chart = source.read().chart.ok_or_else(Failure::told)?;
    let loaded = LoadedMachine::of(Definition::new(&source, &chart), chart).share();
    let input = loaded.admit_input(&Value::from(input))?;
    judges_are_known(&loaded, &folder)?;
    agents_are_known(&loaded, &folder, agent.as_deref())?;
    let run = name(run.as_deref())?.unwrap_or_else(|| fresh_name(&loaded.chart().id));
    choose_agent(store, &run, agent.as_deref())?;
    // A run whose name is taken is refused at its start, and needs no worktree.
    let is_new = store.journal.find(&run)?.is_none();
    let folder = match is_new && worktree::is_wanted_by(&input, &folder, store)? {
        // The messages go to the log of the server.
        true => worktree::make(store, &folder, &run, &Output::new(false))?.tree.folder(&folder),
        false => folder,
    };
    Ok(Start { loaded, input, folder, by, parent: None, name: Some(run), accepts_unproved: false })
}

/// Loads a machine and shows its problems. It is an error if the machine cannot be run.
fn load(name: &str, output: &Output) -> Result<Arc<LoadedMachine>, Failure> {
    let source = library::load(name, &machine::here())?;
    let reading = source.read();
    machine::show(&source, &reading.diagnostics, output);
    let chart = reading.chart.ok_or_else(Failure::told)?;
    let loaded = LoadedMachine::of(Definition::new(&source, &chart), chart);
    let loaded = match source.origin {
        Origin::BuiltIn => loaded,
        Origin::Project | Origin::Path => loaded.read_from(machine::here().join(&source.path)),
    };
    Ok(loaded.share())
}

/// Adds a hint to the error of a run that was not started: the command that describes the input, if the input fits the
/// schema but cannot be used, or the command that shows the failed properties.
fn described(error: Error, machine: &str) -> Failure {
    match error {
        Error::Input(_) => {
            Failure::from(error).hint(format!("`interlock describe {machine} --json` shows the schema of its input"))
        }
        Error::Unproved { .. } => Failure::from(error).hint(format!(
            "`interlock check {machine}` shows the counterexamples; `--unproved` runs it anyway, which the run and its report record"
        )),
        other => other.into(),
    }
}

/// Adds an example of a valid input to an error, because it is easier to read than a schema.
fn with_sample(error: Error, loaded: &LoadedMachine, args: &Run) -> Failure {
    let (fitting, machine) = (sample(&loaded.chart().input), &args.machine);
    let hint = match &args.input {
        None if machine == "firmware" && interlock_firmware::can_draft(&machine::here()) => {
            "`interlock init firmware --task` drafts a task from this project's build files".to_owned()
        }
        // A commented example file helps more than the smallest input on one line.
        _ if library::builtin_files(machine).any(|(path, _)| path == init::TASK) => {
            format!("`interlock init {machine}` writes a valid {} with comments", init::TASK)
        }
        Some(_) => format!("the smallest valid input is {fitting}"),
        None => format!("the smallest valid input: `echo '{fitting}' | interlock run {machine} --input -`"),
    };
    Failure::from(error).hint(hint)
}

/// Checks `judges.toml` before the run is created, if the machine uses a judge.
fn judges_are_known(loaded: &LoadedMachine, folder: &Path) -> Result<(), Failure> {
    let is_judgement = |invoke: &Invoke| invoke.activity.starts_with("judge.");
    if !loaded.chart().invokes.iter().any(is_judgement) {
        return Ok(());
    }
    Judges::load(Some(&home()?), folder)
        .map(drop)
        .map_err(|why| Failure::bad_input(why).hint("`interlock doctor` tests every judge; see docs/judges.md"))
}

/// Checks `agents.toml` before the run is created, if the machine prompts an agent.
fn agents_are_known(loaded: &LoadedMachine, folder: &Path, agent: Option<&str>) -> Result<(), Failure> {
    let is_prompt = |invoke: &Invoke| invoke.activity == "agent.prompt";
    if agent.is_none() && !loaded.chart().invokes.iter().any(is_prompt) {
        return Ok(());
    }
    let hint = |why| Failure::bad_input(why).hint("`interlock agents` lists the configured agents; see docs/agents.md");
    let settings = Agents::load(Some(&home()?), folder).map_err(hint)?;
    agent.map_or(Ok(()), |name| settings.agent(name).map(drop).map_err(hint))
}

/// Stores the agent of a run before the run starts, or forgets one that a start which failed has left. The agent of a run
/// that exists stays as it is: that run keeps its name, and the new one is refused.
fn choose_agent(store: &Store, run: &str, agent: Option<&str>) -> Result<(), Failure> {
    match store.journal.find(run)? {
        Some(_) => Ok(()),
        None => interlock_agent::choose(&store.home, run, agent).map_err(Failure::failed),
    }
}

fn folder(repo: Option<&Path>) -> Result<PathBuf, Failure> {
    let Some(repo) = repo else { return recordable(machine::here()) };
    let folder = repo.canonicalize().map_err(|error| Failure::file("use", repo, &error))?;
    match folder.is_dir() {
        true => recordable(folder),
        false => Err(Failure::bad_input(format!("{} is not a directory", repo.display()))),
    }
}

/// Refuses a directory whose path is not UTF-8 text, because a run records its directory as text.
fn recordable(folder: PathBuf) -> Result<PathBuf, Failure> {
    match folder.to_str() {
        Some(_) => Ok(folder),
        None => Err(Failure::bad_input(format!("the path {} is not valid UTF-8", folder.display()))
            .hint("rename the directory, or work in a copy of it")),
    }
}

/// Checks a run's name, which becomes part of file names and is typed by people.
pub(crate) fn name(name: Option<&str>) -> Result<Option<String>, Failure> {
    const LENGTH_MAX: usize = 100;
    let Some(name) = name else { return Ok(None) };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let begins_well = name.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    match begins_well && name.len() <= LENGTH_MAX && name.chars().all(is_plain) {
        true => Ok(Some(name.to_owned())),
        false => Err(Failure::bad_input(format!("`{name}` is not a valid run name")).hint(format!(
            "use letters, digits, `.`, `_` and `-`, at most {LENGTH_MAX}, and begin with a letter or digit"
        ))),
    }
}
