//! Resources that are held and waited for, by real processes that are killed at any time.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::Mutex,
    time::{Duration, Instant},
};

use interlock_activity::Canceller;
use interlock_testbench::{HeldResource, Resource, Resources, Trouble};
use tempfile::TempDir;

/// The variables that pass the directory, the run and the names to the other process.
const FOLDER: &str = "INTERLOCK_TEST_RESOURCES";
const RUN: &str = "INTERLOCK_TEST_RUN";
const NAMES: &str = "INTERLOCK_TEST_NAMES";

/// The longest time that any awaited event may take.
const LONG: Duration = Duration::from_secs(30);

fn names(all: &[&str]) -> Vec<String> {
    all.iter().map(|name| (*name).to_owned()).collect()
}

async fn hold(resources: &Resources, all: &[&str], run: &str) -> HeldResource {
    let (_canceller, cancel) = Canceller::new();
    resources.acquire(&names(all), run, cancel, |_| ()).await.unwrap()
}

/// Formats resources as `a: holder < waiting, waiting`.
fn shown(all: &[Resource]) -> Vec<String> {
    let one = |it: &Resource| {
        let waiting: Vec<_> = it.waiting.iter().map(|who| who.run.as_str()).collect();
        let holder = it.holder.as_ref().map_or("free", |who| who.run.as_str());
        format!("{}: {holder} < {}", it.name, waiting.join(", "))
    };
    all.iter().map(|it| one(it).trim_end_matches([' ', '<']).to_owned()).collect()
}

async fn until(resources: &Resources, expected: &[&str]) {
    let deadline = Instant::now() + LONG;
    loop {
        let seen = shown(&resources.list().await.unwrap());
        if seen == expected {
            return;
        }
        assert!(Instant::now() < deadline, "{seen:?}, not {expected:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Another process that acquires a resource and keeps it until its standard input ends.
struct Other {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Other {
    fn start(folder: &Path, run: &str, names: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "resource::resource_is_held_until_it_is_released", "--nocapture"]);
        command.env(FOLDER, folder).env(RUN, run).env(NAMES, names);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Other { child, stdout }
    }

    /// Waits until it holds a resource; returns the name.
    fn held(&mut self) -> String {
        let mut line = String::new();
        while self.stdout.read_line(&mut line).unwrap() > 0 {
            if let Some((_, name)) = line.trim().rsplit_once("HELD ") {
                return name.to_owned();
            }
            line.clear();
        }
        panic!("it ended without");
    }

    /// Kills the process with SIGKILL.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn resource_is_held_until_it_is_released() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        // Started by another test, this is a process that holds a resource until its input ends.
        let (run, wanted) = (std::env::var(RUN).unwrap(), std::env::var(NAMES).unwrap());
        let wanted: Vec<_> = wanted.split(' ').collect();
        let held = hold(&Resources::new(folder), &wanted, &run).await;
        #[allow(clippy::print_stdout, reason = "this is how it is heard")]
        {
            println!("HELD {}", held.name);
        }
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        return;
    }
    let folder = TempDir::new().unwrap();
    let resources = Resources::new(folder.path().join("resources"));
    assert_eq!(resources.list().await.unwrap(), []);
    let one = hold(&resources, &["a", "b"], "run-1").await;
    let other = hold(&resources, &["a", "b"], "run-2").await;
    assert_eq!((one.name.as_str(), other.name.as_str()), ("a", "b"));
    let list = resources.list().await.unwrap();
    assert_eq!(shown(&list), ["a: run-1", "b: run-2"]);
    let holder = list[0].holder.as_ref().unwrap();
    assert_eq!(holder.pid, std::process::id());
    assert!(holder.since_ms > 1_700_000_000_000, "{holder:?}");
    drop(one);
    assert_eq!(shown(&resources.list().await.unwrap()), ["a: free", "b: run-2"]);
}

#[tokio::test]
async fn waiting_runs_are_served_in_order() {
    let folder = TempDir::new().unwrap();
    let resources = Resources::new(folder.path());
    let (a, b) = (hold(&resources, &["a"], "run-1").await, hold(&resources, &["b"], "run-2").await);
    let served = Mutex::new(Vec::new());
    let wait = async |wanted: &[&str], run: &str| {
        let held = hold(&resources, wanted, run).await;
        served.lock().unwrap().push(format!("{run} {}", held.name));
    };
    let waits = async {
        // Each one begins to wait when the one before is seen waiting.
        let third = wait(&["b"], "run-3");
        let fourth = async {
            until(&resources, &["a: run-1", "b: run-2 < run-3"]).await;
            wait(&["a", "b"], "run-4").await;
        };
        let fifth = async {
            until(&resources, &["a: run-1 < run-4", "b: run-2 < run-3, run-4"]).await;
            wait(&["a"], "run-5").await;
        };
        let free = async {
            until(&resources, &["a: run-1 < run-4, run-5", "b: run-2 < run-3, run-4"]).await;
            drop(b);
            // A run that wants either resource does not get ahead of the one that wants only this one.
            until_served(&served, 1).await;
            assert_eq!(served.lock().unwrap()[0], "run-3 b");
            drop(a);
        };
        tokio::join!(third, fourth, fifth, free);
    };
    tokio::time::timeout(LONG, waits).await.expect("a run was never served");
    let served = served.into_inner().unwrap();
    assert_eq!(served.len(), 3, "{served:?}");
    assert!(served.contains(&"run-5 a".to_owned()), "{served:?}");
    until(&resources, &["a: free", "b: free"]).await;
}

async fn until_served(served: &Mutex<Vec<String>>, count: usize) {
    let deadline = Instant::now() + LONG;
    while served.lock().unwrap().len() < count {
        assert!(Instant::now() < deadline, "no run was served");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn waiting_run_sees_the_owner_and_can_be_cancelled() {
    let folder = TempDir::new().unwrap();
    let resources = Resources::new(folder.path());
    let _held = hold(&resources, &["a"], "run-1").await;
    let (canceller, cancel) = Canceller::new();
    let told = Mutex::new(Vec::new());
    let wanted = names(&["a"]);
    let tell = |text: &str| {
        told.lock().unwrap().push(text.to_owned());
        canceller.cancel();
    };
    let waited = tokio::time::timeout(LONG, resources.acquire(&wanted, "run-2", cancel, tell)).await.unwrap();
    assert!(matches!(waited, Err(Trouble::Cancelled)), "{waited:?}");
    let expected = format!("waiting for a: a is held by run-1 (process {})", std::process::id());
    assert_eq!(*told.lock().unwrap(), [expected]);
    assert_eq!(shown(&resources.list().await.unwrap()), ["a: run-1"]);
}

#[tokio::test]
async fn killed_processes_leave_no_resource_and_no_ticket() {
    let folder = TempDir::new().unwrap();
    let resources = Resources::new(folder.path());
    let mut holder = Other::start(folder.path(), "holder", "a");
    assert_eq!(holder.held(), "a");
    let mut first = Other::start(folder.path(), "first", "a b");
    assert_eq!(first.held(), "b");
    let mut doomed = Other::start(folder.path(), "doomed", "a");
    until(&resources, &["a: holder < doomed", "b: first"]).await;
    let mut last = Other::start(folder.path(), "last", "a");
    until(&resources, &["a: holder < doomed, last", "b: first"]).await;
    let pids: Vec<_> = resources.list().await.unwrap().iter().map(|it| it.holder.as_ref().unwrap().pid).collect();
    assert_eq!(pids, [holder.child.id(), first.child.id()]);
    doomed.kill();
    until(&resources, &["a: holder < last", "b: first"]).await;
    holder.kill();
    assert_eq!(last.held(), "a");
    until(&resources, &["a: last", "b: first"]).await;
    first.kill();
    last.kill();
    until(&resources, &["a: free", "b: free"]).await;
    assert_eq!(std::fs::read_dir(folder.path().join("tickets")).unwrap().count(), 0);
}

#[tokio::test]
async fn resource_is_never_held_twice_under_contention() {
    let folder = TempDir::new().unwrap();
    let resources = Resources::new(folder.path());
    let inside = Mutex::new(std::collections::BTreeMap::new());
    let turns = (0..12).map(|number| {
        let (resources, inside) = (&resources, &inside);
        async move {
            let held = hold(resources, &["a", "b"], &format!("run-{number}")).await;
            let before = inside.lock().unwrap().insert(held.name.clone(), number);
            assert_eq!(before, None, "{} is held twice", held.name);
            tokio::task::yield_now().await;
            assert_eq!(inside.lock().unwrap().remove(&held.name), Some(number));
        }
    });
    let turns: Vec<_> = turns.map(Box::pin).collect();
    tokio::time::timeout(LONG, joined(turns)).await.expect("a run was never served");
}

/// Waits for all futures concurrently.
async fn joined<F: Future<Output = ()> + Unpin>(mut all: Vec<F>) {
    std::future::poll_fn(|context| {
        all.retain_mut(|one| std::pin::Pin::new(one).poll(context).is_pending());
        if all.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

#[tokio::test]
async fn invalid_names_are_refused() {
    let folder = TempDir::new().unwrap();
    let resources = Resources::new(folder.path());
    let long = "x".repeat(81);
    for wrong in [&[] as &[&str], &[""], &["a", &long]] {
        let (_canceller, cancel) = Canceller::new();
        let refused = resources.acquire(&names(wrong), "run", cancel, |_| ()).await;
        assert!(matches!(refused, Err(Trouble::Environment(_))), "{wrong:?}");
    }
}

/// Patterns describe results, so that no environment has to know them, and none refuses them.
#[test]
fn patterns_of_results_are_accepted_by_every_environment() {
    let own = [
        ("qemu", serde_json::json!({ "program": "qemu-system-arm", "machine": "mps2-an385" })),
        ("local", serde_json::json!({ "command": "true" })),
        ("target_board", serde_json::json!({ "serial": { "port": "/dev/null" }, "end": "done" })),
        ("windows_script", serde_json::json!({ "ssh": { "host": "nowhere" }, "command": "x" })),
        ("bmc", serde_json::json!({ "ipmi": { "host": "nowhere" }, "end": "done" })),
        ("program", serde_json::json!({ "program": "./bench" })),
    ];
    for (kind, config) in own {
        let refused = |config: &serde_json::Value| {
            let profile = serde_json::json!({ "env_type": kind, "config": config });
            let profile = serde_json::from_value(profile).unwrap();
            interlock_testbench::environment(&profile).err().map(|trouble| trouble.to_string()).unwrap_or_default()
        };
        let mut with = config.clone();
        with["patterns"] = serde_json::json!({ "pass": "(?P<case>x)" });
        assert_eq!(refused(&config), refused(&with), "{kind}");
        assert!(!refused(&with).contains("patterns"), "{kind}");
    }
}
