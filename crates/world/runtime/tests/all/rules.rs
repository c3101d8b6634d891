//! A run is bound to the project's rules as they were when it began, in every process that continues it.

use std::{fs, path::Path, sync::Arc, time::Duration};

use interlock_activities::{Sandbox, Settings};
use interlock_activity::Registry;
use interlock_chart::{Value, library};
use interlock_journal::{By, Engine, Entry, Head, Phase};
use interlock_judge::Judge;
use interlock_runtime::{AnyMachine, Config, Error, GitSnapshots, Runtime, Start, SystemClock};
use interlock_sqlite::Journal;
use interlock_testkit_activity::launcher::launcher;

const MACHINE: &str = r#"
machine: held
version: 1
summary: Waits, then runs a command.
events:
  go: { from: user, summary: Run it }
initial: waiting
states:
  waiting:
    on: { go: { target: working } }
  working:
    invoke: { activity: command.run, with: { command: "make --version" }, signals: [passed, failed] }
    on:
      passed: { target: good }
      failed: { target: bad }
      error: { target: bad, reason: "${event.code}" }
  good: { type: final, outcome: success }
  bad: { type: final, outcome: failure }
"#;

const NO_MAKE: &str =
    "version = 1\n[[command]]\nname = \"make\"\nprefix = [\"make\"]\ndecision = \"deny\"\nreason = \"not here\"\n";

fn runtime(home: &Path) -> (Runtime, Arc<dyn Engine>) {
    let journal: Arc<dyn Engine> = Arc::new(Journal::open(&home.join("store")).unwrap());
    let sandbox = Sandbox { launcher: launcher(), ..Sandbox::default() };
    let runtime = Runtime::new(Config {
        engine: Arc::clone(&journal),
        registry: interlock_activities::all(
            Registry::default(),
            Settings { sandbox, ..Settings::default() },
            &Judge::new(None),
        ),
        clock: Arc::new(SystemClock),
        snapshots: Arc::new(GitSnapshots::new(home.join("store"))),
        attempts_max: 4,
        live_folder: home.join("store/live"),
        redactor: Default::default(),
        prover: Arc::new(AnyMachine),
    });
    (runtime, journal)
}

async fn start(runtime: &Runtime, home: &Path, name: &str) -> Result<Head, Error> {
    let source = library::load(home.join("held.yaml").to_str().unwrap(), home).unwrap();
    let loaded = runtime.load(&source).unwrap_or_else(|_| panic!("{:?}", source.read().diagnostics));
    let (input, folder, by) = (Value::empty(), home.join("folder"), By::user("ada"));
    let name = Some(name.to_owned());
    runtime.start(Start { loaded, input, folder, by, parent: None, name, accepts_unproved: false }).await
}

fn threads() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("folder/.interlock")).unwrap();
    fs::write(home.path().join("held.yaml"), MACHINE).unwrap();
    home
}

/// Continues the run as another process would: nothing of the first runtime is left.
fn end_in_another_process(home: &Path, name: &str) -> Phase {
    let threads = threads();
    let phase = threads.block_on(async {
        let (runtime, _) = runtime(home);
        let head = runtime.find(name).unwrap().unwrap();
        assert_eq!(runtime.adopt(head.key).await.unwrap(), None);
        runtime.send(&head, "go", Value::empty(), By::user("ada")).await.unwrap();
        tokio::time::timeout(Duration::from_secs(60), runtime.settled(&head)).await.unwrap().unwrap().phase
    });
    threads.shutdown_timeout(Duration::from_secs(5));
    phase
}

fn begin(home: &Path, name: &str) {
    let threads = threads();
    threads.block_on(async { start(&runtime(home).0, home, name).await.unwrap() });
    threads.shutdown_timeout(Duration::from_secs(5));
}

#[test]
fn a_changed_policy_counts_for_new_runs_only() {
    let home = home();
    let policy = home.path().join("folder/.interlock/policy.toml");
    fs::write(&policy, NO_MAKE).unwrap();
    begin(home.path(), "strict");
    fs::remove_file(&policy).unwrap();
    assert_eq!(end_in_another_process(home.path(), "strict"), Phase::Failed);
    begin(home.path(), "free");
    fs::write(&policy, NO_MAKE).unwrap();
    assert_eq!(end_in_another_process(home.path(), "free"), Phase::Succeeded);
}

#[test]
fn the_rules_are_kept_with_the_run() {
    let home = home();
    fs::write(home.path().join("folder/.interlock/policy.toml"), NO_MAKE).unwrap();
    begin(home.path(), "r");
    let (_, journal) = runtime(home.path());
    let head = journal.find("r").unwrap().unwrap();
    let first = journal.records(head.key, 1, 1).unwrap().remove(0).entry(journal.evidence()).unwrap();
    let Entry::Created(created) = first else { panic!("{first:?}") };
    let kept = created.project.unwrap();
    assert_eq!(kept.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), [".interlock/policy.toml"]);
    assert_eq!(journal.evidence().get(&kept[0].hash).unwrap(), NO_MAKE.as_bytes());
}

#[test]
fn no_run_begins_with_rules_that_cannot_be_read() {
    let home = home();
    let made = std::process::Command::new("mkfifo").arg(home.path().join("folder/.interlock/policy.toml")).status();
    assert!(made.unwrap().success());
    let threads = threads();
    let error = threads.block_on(async { start(&runtime(home.path()).0, home.path(), "r").await.unwrap_err() });
    assert!(matches!(&error, Error::Project(why) if why.contains("regular")), "{error}");
}
