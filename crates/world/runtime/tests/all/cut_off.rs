//! Runs whose process ends in the middle of an attempt, adopted by another process on the same store.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activities::{Sandbox, Settings};
use interlock_activity::{EffectClass, Registry, Writes};
use interlock_chart::{Value, library};
use interlock_journal::{AttemptResult, By, Engine, Entry, Head, Phase};
use interlock_judge::Judge;
use interlock_runtime::{AnyMachine, Config, GitSnapshots, Runtime, Start, SystemClock, TakeBackOrder, verify};
use interlock_sqlite::Journal;
use interlock_testkit_activity::{launcher::launcher, processes::is_alive};

/// Waits for a file, so that the test decides when the command ends. Each start adds a line to a file outside of the
/// workspace.
const SCRIPT: &str = "echo started >> ../starts; echo $$ > ../pid; echo changed > tracked; rm gone; echo new > added; \
                      echo ready > ../ready; \
                      until [ -e ../go ]; do sleep 0.02; done";

fn machine(effect: &str) -> String {
    format!(
        r#"
machine: crash
version: 1
summary: Runs one command.
context: {{ code: none }}
initial: working
states:
  working:
    invoke: {{ activity: command.run, with: {{ command: "{SCRIPT}", write: [".."] }}, signals: [passed, failed], effect: {effect} }}
    on:
      passed: {{ target: good }}
      failed: {{ target: bad }}
      error: {{ target: bad, assign: {{ code: "${{event.code}}" }}, reason: "${{event.code}}" }}
  good: {{ type: final, outcome: success }}
  bad: {{ type: final, outcome: failure }}
"#
    )
}

/// The general activities, with a launcher for the sandbox.
fn registry(store: &Path) -> Registry {
    let sandbox = Sandbox { launcher: launcher(), store: Some(store.to_owned()), ..Sandbox::default() };
    let settings = Settings { sandbox, ..Settings::default() };
    interlock_activities::all(Registry::default(), settings, &Judge::new(None))
}

struct Scene {
    home: PathBuf,
    folder: PathBuf,
    _outer: Option<tempfile::TempDir>,
}

fn threads() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

impl Scene {
    fn new(effect: &str) -> Self {
        Self::with(&machine(effect))
    }

    fn with(machine: &str) -> Self {
        let outer = tempfile::tempdir().unwrap();
        let scene = Scene::at(&outer.path().join("home"));
        let folder = &scene.folder;
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("tracked"), "as it was\n").unwrap();
        fs::write(folder.join("gone"), "not gone\n").unwrap();
        fs::write(scene.path("crash.yaml"), machine).unwrap();
        Scene { _outer: Some(outer), ..scene }
    }

    /// Opens a scene whose directory already exists.
    fn at(home: &Path) -> Self {
        Scene { home: home.to_owned(), folder: home.join("folder"), _outer: None }
    }

    /// The store's directory, beside the home, which the commands may change.
    fn store(&self) -> PathBuf {
        self.home.with_file_name("store")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    fn runtime(&self) -> (Runtime, Arc<dyn Engine>) {
        let journal: Arc<dyn Engine> = Arc::new(Journal::open(&self.store()).unwrap());
        let runtime = Runtime::new(Config {
            engine: Arc::clone(&journal),
            registry: registry(&self.store()),
            clock: Arc::new(SystemClock),
            snapshots: Arc::new(GitSnapshots::new(self.store())),
            attempts_max: 4,
            live_folder: self.store().join("live"),
            redactor: Default::default(),
            prover: Arc::new(AnyMachine),
        });
        (runtime, journal)
    }

    /// Starts a run, and drops the runtime once its command runs.
    fn begin(&self) -> Head {
        let threads = threads();
        let head = threads.block_on(async {
            let (runtime, _) = self.runtime();
            self.start(&runtime).await
        });
        threads.shutdown_timeout(Duration::from_secs(5));
        head
    }

    async fn start(&self, runtime: &Runtime) -> Head {
        let head = self.launch(runtime).await;
        wait_for(&self.path("ready")).await;
        head
    }

    async fn launch(&self, runtime: &Runtime) -> Head {
        let source = library::load(self.path("crash.yaml").to_str().unwrap(), &self.home).unwrap();
        let loaded = runtime.load(&source).unwrap_or_else(|_| panic!("{:?}", source.read().diagnostics));
        let (input, folder, by) = (Value::empty(), self.folder.clone(), By::user("ada"));
        let name = Some("crash-1".to_owned());
        runtime.start(Start { loaded, input, folder, by, parent: None, name, accepts_unproved: false }).await.unwrap()
    }

    /// Adopts the run as another process would.
    fn take_up(&self, head: &Head) -> (Head, Vec<Entry>) {
        threads().block_on(async {
            let (runtime, journal) = self.runtime();
            assert_eq!(runtime.adopt(head.key).await.unwrap(), None);
            let ended = runtime.settled(head).await.unwrap();
            assert_eq!(verify(&*journal, &Registry::default(), &ended).unwrap(), []);
            let records = journal.records(head.key, 1, 100).unwrap();
            (ended, records.iter().map(|record| record.entry(journal.evidence()).unwrap()).collect())
        })
    }

    fn find(&self) -> Head {
        Journal::open(&self.store()).unwrap().find("crash-1").unwrap().unwrap()
    }

    fn starts(&self) -> usize {
        fs::read_to_string(self.path("starts")).unwrap().lines().count()
    }

    fn files(&self) -> Vec<(String, String)> {
        let entries = fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path());
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut files: Vec<_> = entries.map(|path| (name(&path), fs::read_to_string(path).unwrap())).collect();
        files.sort();
        files
    }
}

async fn wait_for(path: &Path) {
    wait_until(&format!("{} is there", path.display()), || path.exists()).await;
}

async fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "still not: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Describes the attempts and their outcomes in words.
fn story(entries: &[Entry]) -> Vec<String> {
    let words = |entry: &Entry| match entry {
        Entry::Attempt { number, effect, snapshot, .. } => {
            Some(format!("attempt {number} {effect:?} kept: {}", snapshot.is_some()))
        }
        Entry::Outcome { number, result: AttemptResult::Signal { name, .. }, .. } => Some(format!("{number} {name}")),
        Entry::Outcome { number, result: AttemptResult::Error { data }, .. } => {
            Some(format!("{number} {}", data.get("code").unwrap()))
        }
        _ => None,
    };
    entries.iter().filter_map(words).collect()
}

#[test]
fn a_write_that_was_cut_off_is_taken_back_and_not_repeated() {
    let scene = Scene::new("write");
    let before = scene.files();
    let head = scene.begin();
    assert_ne!(scene.files(), before);
    let (ended, entries) = scene.take_up(&head);
    assert_eq!((ended.phase, ended.place.as_str()), (Phase::Failed, "bad"));
    assert_eq!(story(&entries), [format!("attempt 1 {:?} kept: true", EffectClass::Write), "1 INTERRUPTED".into()]);
    assert_eq!(scene.files(), before);
    assert_eq!(scene.starts(), 1);
}

#[test]
fn a_write_whose_state_was_left_before_the_end_is_recorded_and_can_be_undone() {
    let machine = machine("write").replace(SCRIPT, &format!("trap '' TERM; {SCRIPT}"));
    let machine = machine.replace("    on:\n", "    on:\n      stop: bad\n");
    let scene = Scene::with(&machine.replace("initial:", "events: { stop: { from: user, summary: Stop } }\ninitial:"));
    let before = scene.files();
    let threads = threads();
    let head = threads.block_on(async {
        let (runtime, _) = scene.runtime();
        let head = scene.start(&runtime).await;
        runtime.send(&head, "stop", Value::empty(), By::user("ada")).await.unwrap();
        head
    });
    threads.shutdown_timeout(Duration::from_secs(5));
    let left = scene.find();
    assert_eq!((left.phase, left.place.as_str()), (Phase::Failed, "bad"));
    let (ended, entries) = scene.take_up(&head);
    assert_eq!((ended.phase, story(&entries)[1].as_str()), (Phase::Failed, "1 CANCELLED"));
    assert_ne!(scene.files(), before);
    self::threads().block_on(async {
        let order = TakeBackOrder { writes: Writes::Run, paths: Vec::new(), is_dry: false, skip_conflicts: false };
        let undid = scene.runtime().0.undo(&head, order, By::user("ada")).await.unwrap();
        assert!(undid.seq.is_some() && !undid.has_conflicts());
    });
    assert_eq!(scene.files(), before);
}

/// Waits until the supervisor of a process that has ended has kept the files that its command left.
fn wait_for_the_end(scene: &Scene, snapshot: &str) {
    let workspace = interlock_runtime::Workspace::new(scene.store());
    let is_kept = || workspace.ended(&scene.folder, snapshot).unwrap().is_some();
    threads().block_on(wait_until("what the command left is kept", is_kept));
}

#[test]
fn what_a_person_has_changed_since_is_not_taken_back_with_it() {
    let scene = Scene::new("write");
    fs::write(scene.folder.join("theirs"), "before\n").unwrap();
    let head = scene.begin();
    wait_for_the_end(&scene, "refs/interlock/crash-1/1");
    fs::write(scene.folder.join("theirs"), "a person was here\n").unwrap();
    fs::write(scene.folder.join("mine"), "so was I\n").unwrap();
    let (ended, entries) = scene.take_up(&head);
    assert_eq!(ended.phase, Phase::Failed);
    assert_eq!(story(&entries)[1], "1 INTERRUPTED");
    let files =
        [("gone", "not gone\n"), ("mine", "so was I\n"), ("theirs", "a person was here\n"), ("tracked", "as it was\n")];
    assert_eq!(scene.files(), files.map(|(name, text)| (name.to_owned(), text.to_owned())));
    // The files as found are kept under a name that the message states.
    let Some(Entry::Outcome { result: AttemptResult::Error { data }, .. }) = entries.last() else {
        panic!("{entries:?}")
    };
    let told = data.get("message").and_then(Value::as_str).unwrap();
    let number = told.split("stored as snapshot ").nth(1).unwrap().split(' ').next().unwrap();
    let name = format!("refs/interlock/crash-1/{number}");
    let copy = scene.path("copy");
    let workspace = interlock_runtime::Workspace::new(scene.store());
    let tree = workspace.tree_named(&scene.folder, &name).unwrap();
    workspace.copy_tree(&scene.folder, &tree, &copy).unwrap();
    assert_eq!(fs::read_to_string(copy.join("added")).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(copy.join("theirs")).unwrap(), "a person was here\n");
}

#[test]
fn a_file_that_both_have_changed_is_a_question_and_nothing_is_touched_before_the_answer() {
    let scene = Scene::new("write");
    let head = scene.begin();
    wait_for_the_end(&scene, "refs/interlock/crash-1/1");
    fs::write(scene.folder.join("tracked"), "a person was here\n").unwrap();
    let found = scene.files();
    let (waiting, entries) = scene.take_up(&head);
    assert_eq!((waiting.phase, scene.files()), (Phase::Waiting, found.clone()));
    let Some(Entry::Left(left)) = entries.last() else { panic!("{entries:?}") };
    assert!(left.why.contains("must decide about tracked"), "{}", left.why);
    // The question is asked once: the next adoption changes nothing either.
    assert_eq!(scene.take_up(&head).0.seq, waiting.seq);
    assert_eq!(scene.files(), found);
}

#[test]
fn without_the_moment_of_its_end_every_change_is_a_question() {
    let scene = Scene::new("write");
    let head = scene.begin();
    wait_for_the_end(&scene, "refs/interlock/crash-1/1");
    let markers = fs::read_dir(scene.store().join("workspaces")).unwrap();
    markers.for_each(|folder| fs::remove_dir_all(folder.unwrap().path().join("ended")).unwrap());
    let found = scene.files();
    let (waiting, entries) = scene.take_up(&head);
    assert_eq!((waiting.phase, scene.files()), (Phase::Waiting, found));
    let Some(Entry::Left(left)) = entries.last() else { panic!("{entries:?}") };
    assert!(["added", "gone", "tracked"].iter().all(|name| left.why.contains(name)), "{}", left.why);
}

/// A machine with two regions: one ends successfully while the other waits.
const REGIONS: &str = r#"
machine: crash
version: 1
summary: Two regions write.
initial: both
states:
  both:
    type: parallel
    on: { done.state.both: { target: good } }
    states:
      one:
        initial: writing
        states:
          writing:
            invoke: { activity: command.run, with: { command: "until [ -e begun ]; do sleep 0.02; done; echo one > first" }, signals: [passed] }
            on: { passed: { target: written } }
          written: { type: final }
      other:
        initial: waiting
        states:
          waiting:
            invoke: { activity: command.run, with: { command: "echo x > begun; until [ -e ../go ]; do sleep 0.02; done" }, signals: [failed] }
            on: { failed: { target: over }, error: { target: over } }
          over: { type: final }
  good: { type: final, outcome: success }
"#;

#[test]
fn what_another_region_has_written_and_recorded_stays() {
    let scene = Scene::with(REGIONS);
    let threads = threads();
    let head = threads.block_on(async {
        let (runtime, journal) = scene.runtime();
        let head = scene.launch(&runtime).await;
        let has_ended = || {
            journal
                .records(head.key, 1, 100)
                .unwrap()
                .iter()
                .any(|record| matches!(record.entry(journal.evidence()).unwrap(), Entry::Outcome { .. }))
        };
        wait_until("one region has ended", has_ended).await;
        head
    });
    threads.shutdown_timeout(Duration::from_secs(5));
    assert!(scene.folder.join("first").exists());
    let (ended, _) = scene.take_up(&head);
    assert_eq!(ended.phase, Phase::Succeeded);
    assert!(scene.folder.join("first").exists());
}

/// The variable that makes this test, started as a separate process, the one to be killed. Its value is the home
/// directory.
const TO_BE_KILLED: &str = "INTERLOCK_TEST_TO_BE_KILLED";

#[test]
fn a_process_that_is_killed_takes_its_commands_with_it_and_another_takes_them_back() {
    if let Some(home) = std::env::var_os(TO_BE_KILLED) {
        let scene = Scene::at(Path::new(&home));
        return threads().block_on(async {
            let (runtime, _) = scene.runtime();
            let head = scene.start(&runtime).await;
            drop(runtime.settled(&head).await);
        });
    }
    let scene = Scene::new("write");
    let before = scene.files();
    let mut process = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "cut_off::a_process_that_is_killed_takes_its_commands_with_it_and_another_takes_them_back"])
        .env(TO_BE_KILLED, &scene.home)
        .spawn()
        .unwrap();
    threads().block_on(wait_for(&scene.folder.join("added")));
    process.kill().unwrap();
    process.wait().unwrap();
    let pid = fs::read_to_string(scene.path("pid")).unwrap();
    threads().block_on(wait_until("the command is gone", || !is_alive(&scene.folder, pid.trim())));
    let (ended, entries) = scene.take_up(&scene.find());
    assert_eq!((ended.phase, ended.place.as_str()), (Phase::Failed, "bad"));
    assert_eq!(story(&entries), [format!("attempt 1 {:?} kept: true", EffectClass::Write), "1 INTERRUPTED".into()]);
    assert_eq!((scene.files(), scene.starts()), (before, 1));
}

#[test]
fn what_an_external_effect_has_done_is_not_known_and_left() {
    let scene = Scene::new("external");
    let head = scene.begin();
    let changed = scene.files();
    let (ended, entries) = scene.take_up(&head);
    assert_eq!((ended.phase, ended.place.as_str()), (Phase::Failed, "bad"));
    assert_eq!(
        story(&entries),
        [format!("attempt 1 {:?} kept: false", EffectClass::External), "1 UNKNOWN_OUTCOME".into()]
    );
    assert_eq!(scene.files(), changed);
    assert_eq!(scene.starts(), 1);
}

fn is_tried_again(scene: &Scene, head: &Head) {
    fs::write(scene.path("go"), "").unwrap();
    let (ended, entries) = scene.take_up(head);
    let read = EffectClass::Read;
    let expected =
        [format!("attempt 1 {read:?} kept: false"), format!("attempt 2 {read:?} kept: false"), "2 passed".into()];
    assert_eq!(story(&entries), expected);
    assert_eq!((ended.phase, scene.starts()), (Phase::Succeeded, 2));
}

#[test]
fn a_read_that_was_cut_off_is_tried_again() {
    let scene = Scene::new("read");
    let head = scene.begin();
    is_tried_again(&scene, &head);
}

#[test]
fn a_read_that_whoever_leaves_has_stopped_is_tried_again_and_the_machine_hears_nothing() {
    let scene = Scene::new("read");
    let threads = threads();
    let head = threads.block_on(async {
        let (runtime, _) = scene.runtime();
        let head = scene.start(&runtime).await;
        runtime.detach();
        runtime.stop_attempts();
        runtime.settled(&head).await.unwrap();
        head
    });
    threads.shutdown_timeout(Duration::from_secs(5));
    is_tried_again(&scene, &head);
}
