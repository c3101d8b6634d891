//! `interlock run`: starts a run and follows it until it ends or waits.

use std::{path::PathBuf, sync::Arc};

use interlock_chart::library;
use interlock_journal::Definition;
use interlock_runtime::{Error, Loaded, Start};

use super::Outcome;
use crate::{
    args::Run,
    drive::{block_on, drive, listen},
    failure::Failure,
    follow::Follower,
    given, machine,
    output::Output,
    sample::sample,
    store::{Store, user},
};

/// Starts a run.
pub(crate) fn run(args: &Run, output: &Output) -> Outcome {
    let loaded = load(&args.machine, output)?;
    let input = given::input(args.input.as_deref(), &args.set, &loaded.chart().input)?;
    let input = loaded.admit_input(&input).map_err(|error| with_sample(error, &loaded, &args.machine))?;
    let folder = folder(args.repo.as_deref())?;
    let start = Start { loaded, input, folder, by: user(), parent: None, name: name(args.name.as_deref())? };
    let store = Store::open()?;
    block_on(async {
        let runtime = store.runtime()?;
        listen(&runtime);
        let head = runtime.start(start).await?;
        output.talk(&format!("run {}\n", head.name));
        drive(&store, &runtime, Follower::from_start(&store, head)?, output).await
    })
}

/// A machine that can be run, with its problems shown.
fn load(name: &str, output: &Output) -> Result<Arc<Loaded>, Failure> {
    let source = library::load(name, &machine::here())?;
    let reading = source.read();
    machine::show(&source, &reading.diagnostics, output);
    let chart = reading.chart.ok_or_else(Failure::told)?;
    Ok(Arc::new(Loaded::of(Definition::new(&source, &chart), chart)))
}

/// An input that fits says more than a schema.
fn with_sample(error: Error, loaded: &Loaded, machine: &str) -> Failure {
    let fitting = sample(&loaded.chart().input);
    Failure::from(error).hint(format!("`echo '{fitting}' | interlock run {machine} --input -` would fit"))
}

fn folder(repo: Option<&std::path::Path>) -> Result<PathBuf, Failure> {
    let Some(repo) = repo else { return Ok(machine::here()) };
    let folder = repo.canonicalize().map_err(|error| Failure::file("use", repo, &error))?;
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(Failure::bad_input(format!("{} is no folder", repo.display()))),
    }
}

/// Names become file names and are typed by people.
fn name(name: Option<&str>) -> Result<Option<String>, Failure> {
    const LENGTH_MAX: usize = 100;
    let Some(name) = name else { return Ok(None) };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let begins_well = name.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    match begins_well && name.len() <= LENGTH_MAX && name.chars().all(is_plain) {
        true => Ok(Some(name.to_owned())),
        false => Err(Failure::bad_input(format!("`{name}` cannot be the name of a run"))
            .hint(format!("letters, digits, `.`, `_` and `-`, at most {LENGTH_MAX}, a letter or digit first"))),
    }
}
