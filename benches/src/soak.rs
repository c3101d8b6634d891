//! Short commands per second: many runs in one process, and the same runs in eight processes.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use crate::{Result, size};

const RUNS: usize = size(100, 3);
const COMMANDS_PER_RUN: usize = 11;
const PROCESSES: usize = size(8, 2);

const MACHINE: &str = r#"
machine: soak
version: 1
summary: Runs eleven short commands.
events: { go: { from: user, summary: Begin } }
initial: waiting
states:
  waiting: { on: { go: working } }
  working:
    invoke: { activity: command.run, with: { command: ["true"] }, signals: [passed, failed] }
    on:
      passed:
        - { target: working, limit: 10 }
        - { target: done }
      failed: bad
      error: { target: bad, reason: "${event.message}" }
  done: { type: final, outcome: success }
  bad: { type: final, outcome: failure }
"#;

/// Measures both ways, each with runs of its own.
pub(crate) fn report() -> Result<()> {
    let Some(program) = crate::program("soak")? else { return Ok(()) };
    let one = measure(&program, |store| store.run(&["resume"]))?;
    let eight = measure(&program, |store| store.resume_in_processes())?;
    println!(
        "soak     {one:>8.1} commands a second of {RUNS} runs in one process, {eight:.1} in {PROCESSES} processes"
    );
    Ok(())
}

fn measure(program: &Path, work: impl Fn(&Store) -> Result<()>) -> Result<f64> {
    let store = Store::new(program)?;
    (0..RUNS).try_for_each(|at| store.begin(at))?;
    let begun = Instant::now();
    work(&store)?;
    let took: Duration = begun.elapsed();
    Ok((RUNS * COMMANDS_PER_RUN) as f64 / took.as_secs_f64())
}

/// A store with runs that no process executes.
struct Store {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Store {
    fn new(program: &Path) -> Result<Self> {
        let folder = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
        std::fs::write(folder.path().join("soak.yaml"), MACHINE)?;
        Ok(Store { folder, program: program.to_owned() })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.folder.path()).env("INTERLOCK_HOME", self.folder.path().join("home"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<()> {
        match self.command(arguments).status()?.success() {
            true => Ok(()),
            false => Err(format!("`interlock {}` failed", arguments.join(" ")).into()),
        }
    }

    /// Starts a run in a directory of its own, and leaves it before its first command.
    fn begin(&self, at: usize) -> Result<()> {
        let (name, folder) = (format!("r{at}"), self.folder.path().join(format!("work-{at}")));
        std::fs::create_dir(&folder)?;
        // A repository of its own. Otherwise all runs would share the workspace around `target`.
        if !Command::new("git").args(["init", "--quiet"]).current_dir(&folder).status()?.success() {
            return Err("git init failed".into());
        }
        let repo = folder.display().to_string();
        // A run that waits for a person ends with code 4.
        self.command(&["run", "soak.yaml", "--unproved", "--repo", &repo, "--name", &name]).status()?;
        self.command(&["send", &name, "go", "--no-follow"]).status()?;
        Ok(())
    }

    fn resume_in_processes(&self) -> Result<()> {
        let next = AtomicUsize::new(0);
        let one_after_the_other = || loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= RUNS {
                return Ok(());
            }
            self.run(&["resume", &format!("r{at}")]).map_err(|error| error.to_string())?;
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..PROCESSES).map(|_| scope.spawn(one_after_the_other)).collect();
            let ended = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("broke off".to_owned())));
            ended.collect::<std::result::Result<(), String>>()
        })?;
        Ok(())
    }
}
