//! The cost of an action in a notebook: adding a cell at cell 10 and at cell 1,000, and executing 100 cells compared
//! with nbclient, which keeps its notebook in memory, in the same run with the same kernel.
//!
//! Every action of ours is durable: the file is synchronized before the action ends. An executed cell is two actions.
//! The same is measured for whole runs (`whole`), with the journal and the snapshots of the workspace.

mod whole;

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Activity as _, Outcome, OutcomeKind};
use interlock_chart::Value;
use interlock_notebook::NotebookAction;
use interlock_process::Sandbox;
use interlock_sandbox::Launcher;
use interlock_testkit_activity::{Recorder, attempt};
use serde_json::{Value as Json, json};

use crate::{Result, size};

/// The number of cells that are added.
const CELLS: usize = size(1_000, 40);

/// The number of actions whose median is taken.
const WINDOW: usize = 20;

/// The number of cells that are executed, and of rounds; the best round counts.
const EXECUTED: usize = size(100, 2);
const ROUNDS: usize = size(3, 1);

/// A run in a directory of its own.
struct Trial {
    folder: tempfile::TempDir,
    home: tempfile::TempDir,
    activity: NotebookAction,
}

/// Measures adding and executing cells.
pub(crate) fn report() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let told = Command::new(root.join("scripts/jupyter.sh")).arg("--print").output()?;
    let jupyter = PathBuf::from(String::from_utf8(told.stdout)?.trim());
    if !jupyter.join("READY").exists() {
        println!("notebook not measured: run `scripts/jupyter.sh`");
        return Ok(());
    }
    // The launcher is the program too.
    let Some(program) = crate::program("notebook")? else { return Ok(()) };
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(2).build()?;
    let [early, late] = threads.block_on(async { Trial::new(&jupyter, &program)?.add_cells().await })?;
    println!(
        "notebook {:>8.3} ms to add a cell at cell 10, {:.3} at cell {CELLS}, each written and synchronized",
        milliseconds(early),
        milliseconds(late)
    );
    let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        ours = ours.min(threads.block_on(async { Trial::new(&jupyter, &program)?.execute_cells().await })?);
        theirs = theirs.min(nbclient(&jupyter)?);
    }
    println!(
        "notebook {:>8.3} s for {EXECUTED} cells added and executed, with the start of the kernel; nbclient {:.3}; {:.2} times",
        ours.as_secs_f64(),
        theirs.as_secs_f64(),
        ours.as_secs_f64() / theirs.as_secs_f64()
    );
    report_whole(&program, &jupyter)
}

/// Measures whole runs of the machine: 1,000 cells, and the cells that nbclient executes.
fn report_whole(program: &Path, jupyter: &Path) -> Result<()> {
    let cells = whole::run(program, jupyter, (0..CELLS).map(add).collect(), false)?;
    println!(
        "notebook {:>8.3} ms an action of a whole run at cells 1 to 50, {:.3} at the last 50 of {CELLS}, journalled and written",
        cells.action_ms(0),
        cells.action_ms(cells.behaviors.len() - 1)
    );
    let executed: Vec<Json> = (0..EXECUTED).flat_map(|number| [add(number), exec()]).collect();
    let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        ours = ours.min(whole::run(program, jupyter, executed.clone(), false)?.took);
        theirs = theirs.min(nbclient(jupyter)?);
    }
    println!(
        "notebook {:>8.3} s for a whole run of {EXECUTED} cells, with the start of the kernel; nbclient {:.3}; {:.2} times",
        ours.as_secs_f64(),
        theirs.as_secs_f64(),
        ours.as_secs_f64() / theirs.as_secs_f64()
    );
    if Command::new("strace").arg("-V").output().is_ok_and(|told| told.status.success()) {
        let traced = whole::run(program, jupyter, executed, true)?;
        let syncs = traced.syncs.unwrap_or_default();
        println!(
            "notebook {syncs:>8} calls of fsync and fdatasync in that run: {:.1} for each of its {} actions",
            syncs as f64 / traced.actions() as f64,
            traced.actions()
        );
    }
    Ok(())
}

impl Trial {
    fn new(jupyter: &Path, program: &Path) -> Result<Self> {
        let folder = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
        std::os::unix::fs::symlink(jupyter, folder.path().join(".venv"))?;
        let sandbox = Sandbox { launcher: Launcher::at(program), ..Sandbox::default() };
        Ok(Trial { folder, home: tempfile::tempdir()?, activity: NotebookAction::new(sandbox) })
    }

    async fn act(&self, action: &Json) -> Result<Duration> {
        let host = Arc::new(Recorder::in_real_time());
        let (mut attempt, _canceller) = attempt(self.home.path(), self.folder.path(), host);
        attempt.with = Value::from(json!({ "actions": [action], "notebook": "n.ipynb" }));
        let begin = Instant::now();
        let outcome = self.activity.start(attempt).await;
        let took = begin.elapsed();
        match outcome {
            Outcome { kind: OutcomeKind::Signal { .. }, .. } => Ok(took),
            other => Err(other.message().into()),
        }
    }

    /// Returns the time of an action at cell 10 and at the last cell.
    async fn add_cells(&self) -> Result<[Duration; 2]> {
        let mut times = Vec::new();
        for number in 0..CELLS {
            times.push(self.act(&add(number)).await?);
        }
        Ok([median(&times[..WINDOW]), median(&times[CELLS - WINDOW..])])
    }

    async fn execute_cells(&self) -> Result<Duration> {
        let begin = Instant::now();
        for number in 0..EXECUTED {
            self.act(&add(number)).await?;
            self.act(&exec()).await?;
        }
        Ok(begin.elapsed())
    }
}

fn add(number: usize) -> Json {
    json!({ "action": "add", "shot_type": "action", "content": code(number) })
}

fn exec() -> Json {
    json!({ "action": "exec", "codecell_id": "lastAddedCellId" })
}

fn code(number: usize) -> String {
    format!("x = sum(range({number}))\nprint('cell {number}', x)\n[x] * 20")
}

/// Returns the time that nbclient takes to execute the same cells, with the start of the kernel.
fn nbclient(jupyter: &Path) -> Result<Duration> {
    let folder = tempfile::tempdir()?;
    let codes: Vec<_> = (0..EXECUTED).map(code).collect();
    std::fs::write(folder.path().join("codes.json"), json!(codes).to_string())?;
    let program = "import json, time, nbformat\nfrom nbclient import NotebookClient\n\
        cells = [nbformat.v4.new_code_cell(code) for code in json.load(open('codes.json'))]\n\
        book = nbformat.v4.new_notebook(cells=cells)\nbegin = time.perf_counter()\n\
        NotebookClient(book, kernel_name='python3').execute()\nnbformat.write(book, 'n.ipynb')\n\
        print(time.perf_counter() - begin)";
    let told = Command::new(jupyter.join("bin/python")).args(["-c", program]).current_dir(folder.path()).output()?;
    let seconds: f64 = String::from_utf8(told.stdout)?.trim().parse()?;
    Ok(Duration::from_secs_f64(seconds))
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
