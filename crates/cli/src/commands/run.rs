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
    model::{Invoke, Schema},
};
use interlock_journal::{Definition, Head};
use interlock_judge::settings::Settings as Judges;
use interlock_runtime::{Error, LoadedMachine, Runtime, Start, fresh_name};

use super::{Outcome, init};
use crate::{
    agents,
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

/// The input by which a conversation ends after one turn.
const ONCE: &str = "once";

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
    let input = once_without_terminal(input, &loaded.chart().input);
    let input = loaded.admit_input(&input).map_err(|error| with_sample(error, &loaded, args))?;
    let folder = folder(args.repo.as_deref())?;
    judges_are_known(&loaded, &folder)?;
    agents_are_known(&loaded, &folder, args.agent.as_deref())?;
    let name = name(args.name.as_deref())?;
    let store = Store::open()?;
    let (name, worktree) = match worktree::is_wanted(args, &input, &folder, &store)? {
        true => {
            let name = name.unwrap_or_else(|| fresh_name(&loaded.chart().id));
            let made = worktree::make(&store, &folder, &name, output)?;
            (Some(name), Some(made))
        }
        false => (name, None),
    };
    let folder = worktree.as_ref().map_or_else(|| folder.clone(), |made| made.tree.folder(&folder));
    let start = Start { loaded, input, folder, by: user(), parent: None, name, accepts_unproved: args.unproved };
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

/// Sets the input `once` of a conversation that nobody can continue here: without a terminal, it ends after one turn. An
/// input that says otherwise is kept.
fn once_without_terminal(input: Value, schema: &Schema) -> Value {
    let has_field = schema["properties"][ONCE]["type"] == "boolean";
    let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    match serde_json::Value::from(&input) {
        serde_json::Value::Object(mut fields) if has_field && !is_terminal && !fields.contains_key(ONCE) => {
            fields.insert(ONCE.to_owned(), true.into());
            Value::from(serde_json::Value::Object(fields))
        }
        _ => input,
    }
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

/// Checks `agents.toml` before the run is created, if the machine prompts an agent, and chooses the agent.
fn agents_are_known(loaded: &LoadedMachine, folder: &Path, agent: Option<&str>) -> Result<(), Failure> {
    let is_prompt = |invoke: &Invoke| invoke.activity == "agent.prompt";
    if agent.is_none() && !loaded.chart().invokes.iter().any(is_prompt) {
        return Ok(());
    }
    let hint = |why| Failure::bad_input(why).hint("`interlock agents` lists the configured agents; see docs/agents.md");
    let settings = Agents::load(Some(&home()?), folder).map_err(hint)?;
    if let Some(name) = agent {
        settings.agent(name).map_err(hint)?;
        agents::choose(name);
    }
    Ok(())
}

fn folder(repo: Option<&Path>) -> Result<PathBuf, Failure> {
    let Some(repo) = repo else { return Ok(machine::here()) };
    let folder = repo.canonicalize().map_err(|error| Failure::file("use", repo, &error))?;
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(Failure::bad_input(format!("{} is not a directory", repo.display()))),
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
