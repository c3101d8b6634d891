//! Durable steps per second: one run alone and a thousand together, compared with the disk, SQLite and LangGraph in the
//! same run; and the cost of a step at record 100,000 compared with record 100.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Activity, Attempt, EffectClass, Ending, Outcome, Registry, Requests, Signal, Site};
use interlock_chart::{Value, library};
use interlock_journal::{By, Engine, Head};
use interlock_runtime::{AnyMachine, Config, Live, LoadedMachine, NoSnapshots, Runtime, Start, SystemClock};
use interlock_sqlite::Journal;

use crate::{Result, langgraph, limits, size};

/// Turns of the single run, and rows that SQLite writes, in each of several rounds: the speed of the disk varies from
/// second to second.
const TURNS_ALONE: i64 = size(2_000, 5) as i64;
const ROUNDS: usize = size(7, 1);

/// Concurrent runs, and the turns of each.
const RUNS: usize = size(1_000, 5);
const TURNS_EACH: i64 = 20;

/// Turns of the long run, two records each. A step should cost the same at its end.
const LONG_TURNS: i64 = size(50_000, 100) as i64;

struct Note;

impl Activity for Note {
    fn name(&self) -> &str {
        "note"
    }
    fn summary(&self) -> &str {
        "gives 200 bytes of new data"
    }
    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }
    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("noted")] }
    }
    fn schema(&self) -> interlock_activity::Schema {
        interlock_activity::schema::any()
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }
    fn start(&self, attempt: Attempt) -> Ending {
        let text = format!("{:0>200}", attempt.activity.0);
        Box::pin(async move { Outcome::signal("noted", Value::map([("text", Value::from(text))])) })
    }
}

pub(crate) fn report() -> Result<()> {
    let folder = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
    let threads = tokio::runtime::Builder::new_multi_thread().enable_time().worker_threads(2).build()?;
    let (disk_alone, disk_together) = limits::disk(folder.path())?;
    let sqlite_together = limits::sqlite_together(&fresh(folder.path(), "together")?)?;
    let (mut plain, mut ours) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        plain.push(limits::sqlite(&fresh(folder.path(), &format!("plain-{round}"))?, TURNS_ALONE as usize)?);
        ours.push(threads.block_on(alone(&folder.path().join(format!("alone-{round}")), TURNS_ALONE))?);
    }
    let (sqlite_alone, alone) = (median(plain), median(ours));
    let many = threads.block_on(many(&folder.path().join("many")))?;
    let graph = langgraph::measure(folder.path())?;
    println!("durable steps a second (200 bytes of new data each)");
    println!(
        "  disk, append 300 bytes + fdatasync           {disk_alone:>10.0}/s   64 to a sync {disk_together:>10.0}/s"
    );
    println!(
        "  SQLite alone, WAL, FULL                      {sqlite_alone:>10.0}/s   64 to a commit {sqlite_together:>8.0}/s"
    );
    println!(
        "  interlock, one run                           {alone:>10.0}/s   {:.0} % of SQLite alone (medians of {ROUNDS} rounds in turn)",
        100.0 * alone / sqlite_alone
    );
    println!("  interlock, {RUNS} runs of {TURNS_EACH} steps               {many:>10.0}/s");
    if let Some(graph) = graph {
        println!(
            "  LangGraph, SQLite checkpointer, sync         {:>10.0}/s   many runs {:.0}/s, {:.0} bytes a step; interlock {:.0} times",
            graph.alone,
            graph.many,
            graph.bytes,
            many / graph.many.max(graph.alone)
        );
    }
    threads.block_on(long(&folder.path().join("long")))
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn fresh(folder: &Path, name: &str) -> Result<std::path::PathBuf> {
    let path = folder.join(name);
    std::fs::create_dir_all(&path)?;
    Ok(path)
}

fn runtime(folder: &Path) -> Result<(Arc<Journal>, Runtime, Arc<LoadedMachine>)> {
    let journal = Arc::new(Journal::open(folder)?);
    let runtime = Runtime::new(Config {
        engine: Arc::clone(&journal) as Arc<dyn Engine>,
        registry: Registry::default().with(Note),
        clock: Arc::new(SystemClock),
        snapshots: Arc::new(NoSnapshots),
        attempts_max: RUNS,
        live_folder: folder.to_owned(),
        redactor: Default::default(),
        prover: Arc::new(AnyMachine),
    });
    let source = library::load("durable.yaml", Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/machines")))?;
    let loaded = runtime.load(&source)?;
    Ok((journal, runtime, loaded))
}

async fn begin(runtime: &Runtime, loaded: &Arc<LoadedMachine>, folder: &Path, turns: i64) -> Result<Head> {
    let start = Start {
        loaded: Arc::clone(loaded),
        input: Value::map([("turns", Value::Int(turns))]),
        folder: folder.to_owned(),
        by: By::user("bench"),
        parent: None,
        name: None,
        accepts_unproved: false,
    };
    Ok(runtime.start(start).await?)
}

async fn alone(folder: &Path, turns: i64) -> Result<f64> {
    let (_journal, runtime, loaded) = runtime(folder)?;
    let begun = Instant::now();
    let head = begin(&runtime, &loaded, folder, turns).await?;
    runtime.settled(&head).await?;
    Ok(turns as f64 / begun.elapsed().as_secs_f64())
}

async fn many(folder: &Path) -> Result<f64> {
    let (_journal, runtime, loaded) = runtime(folder)?;
    let begun = Instant::now();
    let mut starts = Vec::new();
    for _ in 0..RUNS {
        let (runtime, loaded, folder) = (runtime.clone(), Arc::clone(&loaded), folder.to_owned());
        starts.push(tokio::spawn(async move {
            begin(&runtime, &loaded, &folder, TURNS_EACH).await.map_err(|error| error.to_string())
        }));
    }
    for start in starts {
        start.await??;
    }
    while runtime.live_count() > 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok((RUNS as i64 * TURNS_EACH) as f64 / begun.elapsed().as_secs_f64())
}

/// Measures one very long run: time and bytes per step early and late, and the time to open it.
async fn long(folder: &Path) -> Result<()> {
    let (journal, runtime, loaded) = runtime(folder)?;
    println!("one run of {} records", 2 * LONG_TURNS);
    let head = begin(&runtime, &loaded, folder, LONG_TURNS).await?;
    let (mut last, marks) = ((0, Instant::now(), journal_bytes(folder)), [100, 1_000, 10_000, 50_000, 100_000]);
    let mut mark = marks.iter().peekable();
    let mut news = runtime.news();
    while runtime.live_count() > 0 {
        let _ = news.recv().await;
        let seq = journal.find(&head.name)?.map_or(0, |head| head.seq);
        if mark.peek().is_some_and(|mark| seq >= **mark) {
            mark.next();
            let (now, bytes) = (Instant::now(), journal_bytes(folder));
            let steps = (seq - last.0) as f64 / 2.0;
            println!(
                "  to record {seq:>7}   {:>7.1} µs a step   {:>5.0} bytes a step",
                now.duration_since(last.1).as_secs_f64() * 1e6 / steps,
                bytes.saturating_sub(last.2) as f64 / steps
            );
            last = (seq, now, bytes);
        }
        // Observing every step would distort the measurement.
        tokio::time::sleep(Duration::from_millis(5)).await;
        news = runtime.news();
    }
    drop(runtime);
    let best = (0..10).map(|_| open(&journal, &head, &loaded)).collect::<Result<Vec<_>>>()?.into_iter().min();
    println!("  opening it           {:>7.2} ms", best.unwrap_or_default().as_secs_f64() * 1e3);
    Ok(())
}

fn open(journal: &Journal, head: &Head, loaded: &Arc<LoadedMachine>) -> Result<Duration> {
    let begun = Instant::now();
    let opened = journal.open(head.key)?;
    let lease = interlock_journal::Lease { epoch: head.epoch };
    Live::load(&opened, Arc::clone(loaded), lease, journal.evidence())?;
    Ok(begun.elapsed())
}

fn journal_bytes(folder: &Path) -> u64 {
    // The write-ahead log does not count: it is a buffer of a fixed size that is reused.
    std::fs::metadata(folder.join("journal.sqlite")).map_or(0, |file| file.len())
}
