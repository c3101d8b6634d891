//! The coding agent: the cost of a tool call besides the model's time, the growth of that cost within a turn, and the
//! time from the first byte of a model to the text on the terminal.
//!
//! A scripted model answers at once over loopback and notes when each request arrives and when its answer begins. The time
//! from an answer to the next request is the whole cost of a call: the judgement, the decision of policy, the tool, and all of their records on the disk.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use interlock_testkit_activity::model_server::{
    CoderTurn, Dialect, End, ModelServer, Move, ReceivedRequest, coder_answer,
};
use interlock_testkit_cli::{session::Session, terminal::Terminal};
use interlock_workspace::Workspace;
use serde_json::json;

use crate::{Result, size};

/// The calls of a turn that reads.
const READS: usize = size(90, 14);

/// The calls of a turn that writes, and the files of its repository.
const WRITES: usize = size(20, 3);
const FILES: usize = size(5_000, 100);

/// The number of files per directory.
const FOLDER_FILES: usize = 50;

/// The calls that are compared for growth: this many around the 10th, and the last ones.
const COMPARED: usize = 9;

/// The turns whose first text is timed.
const TEXTS: usize = size(10, 2);

/// The wanted figures, in milliseconds.
const READ_MS: f64 = 15.0;
const WRITE_MS: f64 = 40.0;
const TEXT_MS: f64 = 20.0;

const GOAL: &str = "measure the calls";

/// A word that only the streamed text has.
const MARK: &str = "streamed-mark";

/// Prints one line per measurement.
pub(crate) fn report() -> Result<()> {
    let Some(program) = crate::program("coder")? else { return Ok(()) };
    reads(&program)?;
    writes(&program)?;
    first_text(&program)
}

/// A repository, a store and a model that notes the arrival of requests.
struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
    /// When each request of a step arrived, and when its answer began.
    arrived: Arc<Mutex<Vec<(Instant, Instant)>>>,
    _model: ModelServer,
}

impl Place {
    fn new(
        program: &Path,
        files: usize,
        mut script: impl FnMut(&ReceivedRequest) -> interlock_testkit_activity::model_server::Scripted + Send + 'static,
    ) -> Result<Self> {
        let folder = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
        let arrived: Arc<Mutex<Vec<(Instant, Instant)>>> = Arc::default();
        let noted = Arc::clone(&arrived);
        let model = ModelServer::start(move |_, asked| {
            let arrived = Instant::now();
            // Only the requests of steps count.
            let is_step = asked.text().contains("# Executing");
            let answer = script(asked);
            if is_step {
                noted.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((arrived, Instant::now()));
            }
            answer
        });
        let (home, repo) = (folder.path().join("home"), folder.path().join("repo"));
        fs::create_dir(&home)?;
        fs::set_permissions(&home, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        let judges = format!(
            "[judges.m]\nprovider = \"{}\"\nbase_url = \"{}\"\nmodel = \"m\"\nwindow_tokens = 1000000\nretries_max = 0\n[chains]\ndefault = [\"m\"]\n",
            Dialect::Chat.provider(),
            model.url
        );
        fs::write(home.join("judges.toml"), judges)?;
        repository(&repo, files)?;
        Ok(Place { folder, program: program.to_owned(), arrived, _model: model })
    }

    fn repo(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// Plays one turn that asks nobody, and returns the times from each answer to the next request of its steps.
    fn turn(&self, run: &str) -> Result<Vec<Duration>> {
        let mut command = Command::new(&self.program);
        command.args(["coder", GOAL, "--once", "--json", "--unattended", "--name", run]).current_dir(self.repo());
        command.env("INTERLOCK_HOME", self.folder.path().join("home"));
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache"));
        let output = command.stdin(Stdio::null()).output()?;
        // A turn that only read changed nothing, which is exit code 1; one that wrote is not verified, because the repository
        // has no command for it: exit code 5.
        if !matches!(output.status.code(), Some(1 | 5)) {
            return Err(
                format!("the turn ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into()
            );
        }
        let arrived = self.arrived.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(arrived.windows(2).map(|two| two[1].0 - two[0].1).collect())
    }
}

fn repository(repo: &Path, files: usize) -> Result<()> {
    fs::create_dir(repo)?;
    for number in 0..files {
        let folder = repo.join(format!("folder-{}", number / FOLDER_FILES));
        if number % FOLDER_FILES == 0 {
            fs::create_dir(&folder)?;
        }
        fs::write(folder.join(format!("file-{number}.txt")), format!("file {number}\n").repeat(100))?;
    }
    let script = "git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -q -m first";
    match Command::new("sh").args(["-c", script]).current_dir(repo).status()?.success() {
        true => Ok(()),
        false => Err("the repository could not be made".into()),
    }
}

fn path(number: usize) -> String {
    format!("folder-{}/file-{number}.txt", number / FOLDER_FILES)
}

/// Measures a turn of calls that read.
fn reads(program: &Path) -> Result<()> {
    let mut moves: Vec<Move> =
        (0..READS).map(|number| Move::call("read_file", json!({ "path": path(number) }))).collect();
    moves.push(Move::done("read"));
    let turns = vec![CoderTurn::question(GOAL, moves)];
    let place = Place::new(program, READS, move |asked| coder_answer(Dialect::Chat, &turns, asked))?;
    let calls = place.turn("reads")?;
    if calls.len() < READS {
        return Err(format!("only {} of {READS} calls were made", calls.len()).into());
    }
    let around_tenth = mean(&calls[10 - COMPARED / 2 - 1..10 + COMPARED / 2]);
    let last = mean(&calls[READS - COMPARED..READS]);
    println!(
        "coder    {:>8.1} ms a call that reads, of {READS} in one turn (wanted {READ_MS:.0}); around the 10th {around_tenth:.1} ms, the last {COMPARED}: {last:.1} ms",
        mean(&calls[..READS])
    );
    Ok(())
}

/// Measures a turn of calls that write, and the snapshot that is taken before each.
fn writes(program: &Path) -> Result<()> {
    let write = |number: usize| {
        Move::call("write_file", json!({ "path": format!("new-{number}.txt"), "content": format!("new {number}\n") }))
    };
    let mut moves: Vec<Move> = (0..WRITES).map(write).collect();
    moves.push(Move::done("written"));
    let turns = vec![CoderTurn::change(GOAL, &["new-0.txt"], &[], moves)];
    let place = Place::new(program, FILES, move |asked| coder_answer(Dialect::Chat, &turns, asked))?;
    let calls = place.turn("writes")?;
    if calls.len() < WRITES {
        return Err(format!("only {} of {WRITES} calls were made", calls.len()).into());
    }
    let snapshot = snapshot(&place)?;
    let call = mean(&calls[1..WRITES]);
    println!(
        "coder    {:>8.1} ms a call that writes in {FILES} files besides its snapshot of {snapshot:.1} ms (wanted {WRITE_MS:.0})",
        call - snapshot
    );
    Ok(())
}

/// Returns the time of one snapshot after one file has changed.
fn snapshot(place: &Place) -> Result<f64> {
    let workspace = Workspace::new(place.folder.path().join("home"));
    let mut taken = Vec::new();
    for round in 0..WRITES {
        fs::write(place.repo().join("changing.txt"), format!("{round}\n"))?;
        let begun = Instant::now();
        workspace.take(&place.repo(), "writes")?;
        taken.push(begun.elapsed());
    }
    Ok(mean(&taken[1..]))
}

/// Measures the time from the first byte of a reply to its text on a terminal.
fn first_text(program: &Path) -> Result<()> {
    let turns = vec![CoderTurn::question(GOAL, vec![Move::Say(format!("{MARK} and more text"))])];
    let mut times = Vec::new();
    for round in 0..TEXTS {
        let turns = turns.clone();
        let place = Place::new(program, 10, move |asked| {
            let answer = coder_answer(Dialect::Chat, &turns, asked);
            // The reply stays open after its first pieces, so that only streamed text can be shown.
            if asked.text().contains("# Executing") { answer.only(1, End::Silent) } else { answer }
        })?;
        let session = Session::new(program, place.repo())
            .with("INTERLOCK_HOME", place.folder.path().join("home").display().to_string())
            .with("XDG_CACHE_HOME", place.folder.path().join("cache").display().to_string());
        let name = format!("text-{round}");
        let mut terminal =
            Terminal::new(&program.display().to_string(), &session, &format!("coder '{GOAL}' --ask --name {name}"));
        terminal.answer(&MARK[..8], "");
        let shown = Instant::now();
        let arrived = place.arrived.lock().unwrap_or_else(std::sync::PoisonError::into_inner).first().copied();
        times.push(shown - arrived.ok_or("no request arrived")?.1);
        // Ctrl-C cancels the turn; then the next message is asked for.
        terminal.answer("", "\u{3}");
        terminal.answer("› ", "/exit\r");
        terminal.end();
    }
    times.sort_unstable();
    let median = times[times.len() / 2].as_secs_f64() * 1e3;
    let worst = times[times.len() - 1].as_secs_f64() * 1e3;
    println!(
        "coder    {median:>8.1} ms from a model's first byte to its text on a terminal (median of {TEXTS}, worst {worst:.1}; wanted {TEXT_MS:.0})"
    );
    Ok(())
}

fn mean(times: &[Duration]) -> f64 {
    times.iter().sum::<Duration>().as_secs_f64() * 1e3 / times.len().max(1) as f64
}
