//! Runs whose process goes away in the middle of an attempt, taken up by another on the same store.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Effect, Registry};
use interlock_chart::{Value, library};
use interlock_journal::{AttemptResult, By, Engine, Entry, Head, Journal, Phase};
use interlock_runtime::{
    Config, GitSnapshots, Runtime, Start, SystemClock,
    activities::{Sandbox, Settings, builtin_with},
    verify,
};
use interlock_testkit::launcher::launcher;

/// Waits for a file, so that the test decides when it ends. Each start leaves a line in a file outside of the workspace.
const SCRIPT: &str = "echo started >> ../starts; echo $$ > ../pid; echo changed > tracked; rm gone; echo new > added; \
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

/// What machines can have done, with a launcher.
fn registry() -> Registry {
    let sandbox = Sandbox { launcher: launcher(), ..Sandbox::default() };
    builtin_with(Settings { sandbox, ..Settings::default() })
}

struct Scene {
    home: PathBuf,
    folder: PathBuf,
    _home: Option<tempfile::TempDir>,
}

fn threads() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

impl Scene {
    fn new(effect: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let scene = Scene::at(home.path());
        let folder = &scene.folder;
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("tracked"), "as it was\n").unwrap();
        fs::write(folder.join("gone"), "not gone\n").unwrap();
        fs::write(home.path().join("crash.yaml"), machine(effect)).unwrap();
        Scene { _home: Some(home), ..scene }
    }

    /// One that is there already.
    fn at(home: &Path) -> Self {
        Scene { home: home.to_owned(), folder: home.join("folder"), _home: None }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    fn runtime(&self) -> (Runtime, Arc<dyn Engine>) {
        let journal: Arc<dyn Engine> = Arc::new(Journal::open(&self.path("store")).unwrap());
        let runtime = Runtime::new(Config {
            engine: Arc::clone(&journal),
            registry: registry(),
            clock: Arc::new(SystemClock),
            snapshots: Arc::new(GitSnapshots::new(self.path("store"))),
            attempts_max: 4,
            live_folder: self.path("store/live"),
            redactor: Default::default(),
        });
        (runtime, journal)
    }

    /// Begins a run, and lets go of everything once its command runs.
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
        let source = library::load(self.path("crash.yaml").to_str().unwrap(), &self.home).unwrap();
        let loaded = runtime.load(&source).unwrap_or_else(|_| panic!("{:?}", source.read().diagnostics));
        let (input, folder, by) = (Value::empty(), self.folder.clone(), By::user("ada"));
        let name = Some("crash-1".to_owned());
        let head = runtime.start(Start { loaded, input, folder, by, parent: None, name }).await.unwrap();
        wait_for(&self.folder.join("added")).await;
        head
    }

    /// Takes it up in what could be another process.
    fn take_up(&self, head: &Head) -> (Head, Vec<Entry>) {
        threads().block_on(async {
            let (runtime, journal) = self.runtime();
            assert_eq!(runtime.adopt(head.key).await.unwrap(), None);
            let ended = runtime.settled(head).await.unwrap();
            assert_eq!(verify(&*journal, &ended).unwrap(), []);
            let records = journal.records(head.key, 1, 100).unwrap();
            (ended, records.iter().map(|record| record.entry(journal.evidence()).unwrap()).collect())
        })
    }

    fn find(&self) -> Head {
        Journal::open(&self.path("store")).unwrap().find("crash-1").unwrap().unwrap()
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

/// Whether a process is there and no zombie.
fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

/// The attempts and how they ended, in words.
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
    assert_eq!(story(&entries), [format!("attempt 1 {:?} kept: true", Effect::Write), "1 INTERRUPTED".into()]);
    assert_eq!(scene.files(), before);
    assert_eq!(scene.starts(), 1);
}

/// Says to this test, started as a process of its own, that it is the one to be killed, and where.
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
        .args(["--exact", "a_process_that_is_killed_takes_its_commands_with_it_and_another_takes_them_back"])
        .env(TO_BE_KILLED, &scene.home)
        .spawn()
        .unwrap();
    threads().block_on(wait_for(&scene.folder.join("added")));
    process.kill().unwrap();
    process.wait().unwrap();
    let pid = fs::read_to_string(scene.path("pid")).unwrap();
    threads().block_on(wait_until("the command is gone", || !is_alive(pid.trim())));
    let (ended, entries) = scene.take_up(&scene.find());
    assert_eq!((ended.phase, ended.place.as_str()), (Phase::Failed, "bad"));
    assert_eq!(story(&entries), [format!("attempt 1 {:?} kept: true", Effect::Write), "1 INTERRUPTED".into()]);
    assert_eq!((scene.files(), scene.starts()), (before, 1));
}

#[test]
fn what_an_external_effect_has_done_is_not_known_and_left() {
    let scene = Scene::new("external");
    let head = scene.begin();
    let changed = scene.files();
    let (ended, entries) = scene.take_up(&head);
    assert_eq!((ended.phase, ended.place.as_str()), (Phase::Failed, "bad"));
    assert_eq!(story(&entries), [format!("attempt 1 {:?} kept: false", Effect::External), "1 UNKNOWN_OUTCOME".into()]);
    assert_eq!(scene.files(), changed);
    assert_eq!(scene.starts(), 1);
}

fn is_tried_again(scene: &Scene, head: &Head) {
    fs::write(scene.path("go"), "").unwrap();
    let (ended, entries) = scene.take_up(head);
    let read = Effect::Read;
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
