//! Ten thousand waiting runs and a thousand working runs in one process: the memory of a waiting run, and the time
//! until an event for one of them is handled while the others continue.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Activity, Attempt, EffectClass, Ending, Outcome, Registry, Requests, Signal, Site};
use interlock_chart::{Value, library};
use interlock_journal::{By, Engine, Head};
use interlock_runtime::{AnyMachine, Config, LoadedMachine, NoSnapshots, Runtime, Start, SystemClock};
use interlock_sqlite::Journal;

use crate::{Result, size};

const WAITING: usize = size(10_000, 20);
const WORKING: usize = size(1_000, 5);
const EVENTS: usize = size(300, 5);

/// Runs that are started at the same time.
const AT_ONCE: usize = 250;

/// The pause of a working run between two steps: a thousand runs make two thousand steps a second.
const PAUSE_MS: u64 = 500;

struct Pause;

impl Activity for Pause {
    fn name(&self) -> &str {
        "pause"
    }
    fn summary(&self) -> &str {
        "takes a while"
    }
    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }
    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("paused")] }
    }
    fn schema(&self) -> interlock_activity::Schema {
        interlock_activity::schema::any()
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }
    fn start(&self, attempt: Attempt) -> Ending {
        Box::pin(async move {
            attempt.host.sleep(PAUSE_MS).await;
            Outcome::signal("paused", Value::empty())
        })
    }
}

pub(crate) fn report() -> Result<()> {
    let threads = tokio::runtime::Builder::new_multi_thread().enable_time().worker_threads(2).build()?;
    let done = threads.block_on(crowd());
    threads.shutdown_timeout(Duration::from_secs(1));
    done
}

async fn crowd() -> Result<()> {
    let folder = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
    let runtime = Runtime::new(Config {
        engine: Arc::new(Journal::open(folder.path())?) as Arc<dyn Engine>,
        registry: Registry::default().with(Pause),
        clock: Arc::new(SystemClock),
        snapshots: Arc::new(NoSnapshots),
        attempts_max: WORKING,
        live_folder: folder.path().to_owned(),
        redactor: Default::default(),
        prover: Arc::new(AnyMachine),
    });
    let machines = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/machines"));
    let loaded = runtime.load(&library::load("crowd.yaml", machines)?)?;
    // The first runs bring the allocator and the caches to their usual size.
    start(&runtime, &loaded, WAITING / 10, false).await?;
    let before = resident_bytes();
    let waiting = start(&runtime, &loaded, WAITING, false).await?;
    let after = resident_bytes();
    println!("{WAITING} runs that wait and {WORKING} that work, in one process");
    println!("  a waiting run        {:>7.0} bytes of memory", after.saturating_sub(before) as f64 / WAITING as f64);
    start(&runtime, &loaded, WORKING, true).await?;
    let mut took = Vec::new();
    for at in 0..EVENTS {
        let run = &waiting[at * 7_919 % waiting.len()];
        let begun = Instant::now();
        runtime.send(run, "ask", Value::empty(), By::user("bench")).await?;
        took.push(begun.elapsed());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    took.sort();
    let ms = |at: usize| took[at].as_secs_f64() * 1e3;
    println!(
        "  an event for one     {:>7.2} ms at the median, {:.2} ms at the 95th percentile",
        ms(EVENTS / 2),
        ms(EVENTS * 95 / 100)
    );
    Ok(())
}

async fn start(runtime: &Runtime, loaded: &Arc<LoadedMachine>, count: usize, works: bool) -> Result<Vec<Head>> {
    let mut heads = Vec::new();
    while heads.len() < count {
        let starts: Vec<_> = (0..AT_ONCE.min(count - heads.len()))
            .map(|_| tokio::spawn(begin(runtime.clone(), Arc::clone(loaded), works)))
            .collect();
        for start in starts {
            heads.push(start.await??);
        }
        while !works && runtime.live_count() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    Ok(heads)
}

async fn begin(runtime: Runtime, loaded: Arc<LoadedMachine>, works: bool) -> interlock_runtime::Result<Head> {
    let start = Start {
        loaded,
        input: Value::map([("works", Value::from(works))]),
        folder: std::env::temp_dir(),
        by: By::user("bench"),
        parent: None,
        name: None,
        accepts_unproved: false,
    };
    runtime.start(start).await
}

/// The resident memory of the process.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or_default() * 1024
}
