//! `interlock coder --compare a,b`: one task for several models, side by side, and a table of the results.
//!
//! Each model works in a process and a git worktree of its own, so that neither the choice of the model nor the files
//! are shared. The table is read from the records of the runs.

use std::{
    fs::File,
    io::{Read as _, Seek as _},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use interlock_journal::Engine as _;
use interlock_runtime::fresh_name;
use serde_json::{Value as Json, json};

use super::{Outcome, coder::model_is_known, run::name as valid_name};
use crate::{
    Exit, args::Coder, coder::happening::context, escape, failure::Failure, follow::Follower, output::Output,
    store::Store, table,
};

/// The most models at once.
const MODELS_MAX: usize = 8;

/// The interval at which the processes are looked at.
const TICK: Duration = Duration::from_millis(50);

/// The most bytes of a failed process's messages that are shown.
const SAID_BYTES_MAX: u64 = 4_000;

/// A run that works on the task.
struct Contestant {
    model: String,
    run: String,
    process: Child,
    /// The messages of the process.
    said: File,
    begun: Instant,
    took: Option<Duration>,
}

/// The result of a model.
struct Compared {
    model: String,
    run: String,
    ending: String,
    is_verified: bool,
    files: usize,
    lines: (u64, u64),
    tokens: (u64, u64),
    cost: f64,
    took: Duration,
}

/// Gives the task to every model and compares the results.
pub(crate) fn run(args: &Coder, output: &Output) -> Outcome {
    check(&args.compare)?;
    let store = Store::open()?;
    let base = valid_name(args.name.as_deref())?.unwrap_or_else(|| fresh_name("compare"));
    let names: Vec<String> = args.compare.iter().map(|model| format!("{base}-{}", plain(model))).collect();
    for name in &names {
        valid_name(Some(name))?;
        if store.journal.find(name)?.is_some() {
            return Err(
                Failure::bad_input(format!("there is already a run called `{name}`")).hint("choose another --name")
            );
        }
    }
    let mut running = Vec::new();
    for (model, run) in args.compare.iter().zip(names) {
        output.talk(&format!("{model}: run {run}\n"));
        running.push(start(args, model, run)?);
    }
    wait(&mut running, output);
    let mut compared = Vec::new();
    for contestant in running {
        compared.push(result(&store, contestant)?);
    }
    tell(args, &compared, output)
}

fn check(models: &[String]) -> Result<(), Failure> {
    if !(2..=MODELS_MAX).contains(&models.len()) {
        return Err(Failure::bad_input(format!("--compare takes 2 to {MODELS_MAX} models"))
            .hint("separate the names of judges in judges.toml by commas: `--compare small,large`"));
    }
    for (at, model) in models.iter().enumerate() {
        model_is_known(model)?;
        if models[..at].contains(model) {
            return Err(Failure::bad_input(format!("the model `{model}` is named twice")));
        }
    }
    Ok(())
}

/// Returns a model's name with letters that a run's name can have.
fn plain(model: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    model.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect()
}

/// Starts the process of a model.
fn start(args: &Coder, model: &str, run: String) -> Result<Contestant, Failure> {
    let failed = |error: std::io::Error| Failure::failed(format!("cannot start another process: {error}"));
    let mut command = crate::again::command();
    command.args(["coder", "--once", "--json", "--unattended", "--worktree", "--model", model, "--name", &run]);
    let flags =
        [("--ask", args.ask), ("--plan", args.plan), ("--network", args.network), ("--no-verify", args.no_verify)];
    command.args(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag));
    for host in &args.hosts {
        command.args(["--host", host]);
    }
    if let Some(repo) = &args.repo {
        command.arg("--repo").arg(repo);
    }
    command.arg("--").args(&args.goal);
    // A file and not a pipe: nobody reads while the process works.
    let said = tempfile::tempfile().map_err(failed)?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said.try_clone().map_err(failed)?);
    let process = command.spawn().map_err(failed)?;
    Ok(Contestant { model: model.to_owned(), run, process, said, begun: Instant::now(), took: None })
}

/// Waits until every process has ended. Each bounds its own turn, so this needs no limit. Ctrl-C reaches them as well:
/// they leave their runs, which can be resumed.
fn wait(running: &mut [Contestant], output: &Output) {
    while running.iter().any(|contestant| contestant.took.is_none()) {
        for contestant in running.iter_mut().filter(|contestant| contestant.took.is_none()) {
            if !matches!(contestant.process.try_wait(), Ok(None)) {
                contestant.took = Some(contestant.begun.elapsed());
                output.talk(&format!("{}: over\n", contestant.model));
            }
        }
        std::thread::sleep(TICK);
    }
}

/// Reads the result of a run from its records.
fn result(store: &Store, mut contestant: Contestant) -> Result<Compared, Failure> {
    let Some(head) = store.journal.find(&contestant.run)? else {
        let mut said = String::new();
        // Without its messages, the process has said nothing.
        let _ = contestant.said.rewind();
        let _ = contestant.said.take(SAID_BYTES_MAX).read_to_string(&mut said);
        let why = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it said nothing").to_owned();
        return Err(Failure::failed(format!("the run of {} did not begin: {}", contestant.model, escape::line(&why))));
    };
    let mut follower = Follower::from_start(store, head)?;
    let (mut tokens, mut cost) = ((0, 0), 0.0);
    for note in follower.catch_up()?.iter().filter_map(|step| step.moves.first()?.judge.as_ref()) {
        tokens = (tokens.0 + note.tokens.0, tokens.1 + note.tokens.1);
        cost += note.cost;
    }
    let live = &follower.live;
    let facts = context(live, "facts");
    let files: &[Json] = facts["files"].as_array().map_or(&[], Vec::as_slice);
    let sum = |name: &str| files.iter().filter_map(|file| file[name].as_u64()).sum();
    let ending = context(live, "ending").as_str().unwrap_or_default().to_owned();
    Ok(Compared {
        model: contestant.model,
        run: contestant.run,
        ending: if live.state.is_done() { ending } else { "waiting".to_owned() },
        is_verified: live.state.is_done() && context(live, "verified") == true,
        files: files.len(),
        lines: (sum("added"), sum("removed")),
        tokens,
        cost,
        took: contestant.took.unwrap_or_default(),
    })
}

fn tell(args: &Coder, compared: &[Compared], output: &Output) -> Outcome {
    let is_good = |one: &&Compared| one.ending == "completed" || one.ending == "planned";
    let exit = match () {
        () if compared.iter().any(|one| is_good(&one)) => Exit::Good,
        () if compared.iter().any(|one| one.ending == "unverified") => Exit::Incomplete,
        () => Exit::Failed,
    };
    if output.is_json() {
        let runs: Vec<Json> = compared.iter().map(Compared::to_json).collect();
        output.json(&json!({ "goal": args.goal, "runs": runs, "exit_code": exit.code() }))?;
        return Ok(exit);
    }
    let heading = ["model", "outcome", "verified", "files", "lines", "tokens", "cost", "time", "run"];
    output.data(&table::text(heading, compared.iter().map(Compared::row), output))?;
    match compared.iter().find(is_good).filter(|one| one.files > 0) {
        Some(best) => output.talk(&format!(
            "Take one with `interlock apply RUN`, such as `interlock apply {}`; `interlock show RUN` shows its summary\n",
            best.run
        )),
        None => output.talk("Nothing to take; `interlock show RUN` shows why\n"),
    }
    Ok(exit)
}

impl Compared {
    fn row(&self) -> [String; 9] {
        [
            self.model.clone(),
            self.ending.clone(),
            if self.is_verified { "yes" } else { "no" }.to_owned(),
            self.files.to_string(),
            format!("+{} -{}", self.lines.0, self.lines.1),
            (self.tokens.0 + self.tokens.1).to_string(),
            format!("{:.4}", self.cost),
            format!("{:.1} s", self.took.as_secs_f64()),
            self.run.clone(),
        ]
    }

    fn to_json(&self) -> Json {
        json!({
            "model": self.model,
            "run": self.run,
            "outcome": self.ending,
            "verified": self.is_verified,
            "files": self.files,
            "added_lines": self.lines.0,
            "removed_lines": self.lines.1,
            "tokens_in": self.tokens.0,
            "tokens_out": self.tokens.1,
            "cost": self.cost,
            "took_ms": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            "apply": (self.files > 0).then(|| format!("interlock apply {}", self.run)),
        })
    }
}
