//! Plays one run from its start to its end, with at most one death.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use interlock_activity::{EffectClass, Registry};
use interlock_core::ActivityId;
use interlock_journal::{AttemptResult, By, Engine, Entry, Hash, Head, Lease, Phase};
use interlock_runtime::{AnyMachine, Config, Live, Move, Runtime, Start, offers, replay, verify};
use interlock_sqlite::Journal;

use super::{
    mortal::Mortal,
    script::{Counting, Script},
    stage::Stage,
    world::{Done, Seed, VirtualClock, World},
};

/// The run's name in every simulation.
const NAME: &str = "simulated";

/// Maximum number of actions on a waiting run before the simulation stops.
const PUSHES_MAX: usize = 60;

/// The result of a played run.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// Its transitions, without times and record numbers.
    pub moves: Vec<Move>,
    /// The records of its journal.
    pub entries: Vec<Entry>,
    /// Its configuration, counters and context at the end.
    pub end: String,
    /// The evidence that its records refer to.
    pub evidence: BTreeSet<Hash>,
    /// The activities that were actually executed.
    pub done: BTreeMap<ActivityId, Done>,
    /// The number of moments at which a process could have died.
    pub moments: usize,
    /// The number of processes that died.
    pub deaths: usize,
    /// A description of the moment of death.
    pub died_at: String,
    /// The problems that `verify` found.
    pub problems: Vec<String>,
}

/// Plays a run; the process dies at moment `fatal`. `given` contains outcomes of activities that override the script.
pub fn play(
    stage: &Arc<Stage>,
    seed: Seed,
    fatal: Option<usize>,
    given: &BTreeMap<ActivityId, AttemptResult>,
) -> Played {
    // The store is in memory if possible, because the simulation is about the process and not about the disk.
    let shm = Path::new("/dev/shm");
    let home = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() };
    play_in(home.expect("a folder for a simulated store").path(), stage, seed, fatal, given)
}

/// Plays a run with its store in a directory that stays.
pub fn play_in(
    home: &Path,
    stage: &Arc<Stage>,
    seed: Seed,
    fatal: Option<usize>,
    given: &BTreeMap<ActivityId, AttemptResult>,
) -> Played {
    let world = Arc::new(World::new(fatal));
    let (stage, given) = (Arc::clone(stage), given.clone());
    let script = Arc::new(Script { stage, seed, world: Arc::clone(&world), given });
    let mut played = Played::default();
    while !process(&script, home) {
        played.deaths += 1;
        assert!(played.deaths < 3, "it dies once");
    }
    look_back(&mut played, home);
    let done = world.done.lock().unwrap().clone();
    played.done = done;
    for (id, done) in &mut played.done {
        done.writes = played.entries.iter().any(|entry| {
            matches!(entry, Entry::Attempt { activity, effect: EffectClass::Write | EffectClass::External, .. } if activity == id)
        });
    }
    played.moments = world.moments();
    played.died_at = world.died_at.lock().unwrap().clone();
    played
}

/// Runs one process until the run ends or the process dies. Returns true if the run ended.
fn process(script: &Arc<Script>, home: &Path) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let journal = Journal::open_inline(home).unwrap();
        let engine: Arc<dyn Engine> = Arc::new(Mortal::new(journal, Arc::clone(&script.world)));
        tokio::select! {
            biased;
            () = script.world.death.notified() => false,
            () = live(script, engine, home) => true,
        }
    })
}

async fn live(script: &Arc<Script>, engine: Arc<dyn Engine>, home: &Path) {
    let runtime = Runtime::new(Config {
        engine,
        registry: script.registry(),
        clock: Arc::new(VirtualClock::new(Arc::clone(&script.world))),
        snapshots: Arc::new(Counting),
        attempts_max: 8,
        live_folder: home.to_owned(),
        redactor: Default::default(),
        prover: Arc::new(AnyMachine),
    });
    let head = begin(&runtime, script, home).await;
    for _ in 0..PUSHES_MAX {
        runtime.adopt(head.key).await.unwrap();
        let now = runtime.settled(&head).await.unwrap();
        if now.phase.is_over() || !push(&runtime, script, &now).await {
            return;
        }
    }
}

async fn begin(runtime: &Runtime, script: &Script, home: &Path) -> Head {
    if let Some(head) = runtime.find(NAME).unwrap() {
        return head;
    }
    let start = Start {
        loaded: Arc::clone(&script.stage.loaded),
        input: script.input(),
        folder: home.to_owned(),
        by: By::user("somebody"),
        parent: None,
        name: Some(NAME.into()),
        accepts_unproved: false,
    };
    runtime.start(start).await.unwrap()
}

/// Acts on a waiting run: presses a button or waits for its timer. Returns false if there was nothing to do.
async fn push(runtime: &Runtime, script: &Script, head: &Head) -> bool {
    let opened = runtime.engine().open(head.key).unwrap();
    let nth = events_so_far(&**runtime.engine(), head);
    if nth >= PUSHES_MAX {
        return false;
    }
    let loaded = Arc::clone(&script.stage.loaded);
    let live = Live::load(&opened, loaded, Lease { epoch: 0 }, runtime.engine().evidence()).unwrap();
    let offers = offers(&live, runtime.registry());
    let due = opened.timers.iter().map(|(_, due)| *due).min();
    match script.button(&offers, nth) {
        Some((event, data)) if offers.is_asking || due.is_none() => {
            runtime.send(head, &event, data, By::user("somebody")).await.is_ok()
        }
        _ => match due {
            Some(due) => {
                let pause = due.saturating_sub(opened.head.updated_ms).max(1) as u64;
                tokio::time::sleep(std::time::Duration::from_millis(pause)).await;
                true
            }
            None => false,
        },
    }
}

fn events_so_far(engine: &dyn Engine, head: &Head) -> usize {
    let records = engine.records(head.key, 1, usize::MAX).unwrap();
    records.iter().filter(|record| record.kind_word() == "event").count()
}

/// Removes the position in the run and the attempt number from a move, because an interrupted attempt may have been
/// repeated.
fn timeless(mut each: Move) -> Move {
    (each.seq, each.at_ms) = (0, 0);
    each.activity.iter_mut().for_each(|activity| activity.attempt = 0);
    each
}

/// Reads the final records of the run into the result.
fn look_back(played: &mut Played, home: &Path) {
    let journal = Journal::open_inline(home).unwrap();
    let head = journal.find(NAME).unwrap().expect("the run was made");
    let live = replay(&journal, &head, u64::MAX, |frame| {
        played.entries.push(frame.entry.clone());
        played.evidence.extend(frame.entry.evidence().iter().map(|evidence| evidence.hash));
        played.moves.extend(frame.moves.into_iter().map(timeless));
    })
    .unwrap();
    played.problems = verify(&journal, &Registry::default(), &head)
        .unwrap()
        .into_iter()
        .map(|problem| format!("{problem:?}"))
        .collect();
    let snapshot = live.state.snapshot(&live.loaded.machine);
    played.end = format!(
        "{:?} {:?} {:?} {}",
        head.phase,
        snapshot.configuration,
        snapshot.counters,
        serde_json::to_string(&snapshot.context).unwrap()
    );
    assert!(head.phase.is_over() || head.phase == Phase::Waiting, "{:?}", head.phase);
}
