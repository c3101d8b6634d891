//! One attempt of an activity, apart from any run.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use interlock_activities::Sandbox;
use interlock_activity::{
    Activity, Attempt, Canceller, Ending, Future, Host, Invocation, Outcome, StartRun, Taken, UseGrants,
};
use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::{AttemptResult, Definition, EvidenceStore};
use interlock_testkit::launcher::launcher;
use tempfile::TempDir;

/// How programs are confined: with nothing but a launcher.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox { launcher: launcher(), ..Sandbox::default() }
}

/// A folder, a store and a host for attempts.
pub(crate) struct Trial {
    pub(crate) folder: PathBuf,
    pub(crate) attempt: Attempt,
    pub(crate) canceller: Canceller,
    pub(crate) host: Arc<Recorder>,
    _home: TempDir,
}

/// Writes down what it is asked. Its time passes only while somebody sleeps.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) said: Mutex<Vec<String>>,
    pub(crate) runs: Mutex<Vec<StartRun>>,
    pub(crate) now_ms: AtomicI64,
    /// What a person has said yes to.
    pub(crate) granted: Mutex<Vec<String>>,
    /// What was asked for, and given.
    pub(crate) used: Mutex<Vec<UseGrants>>,
}

impl Host for Recorder {
    fn progress(&self, _: &str, _: ActivityId, text: &str) {
        self.said.lock().unwrap().push(text.to_owned());
    }

    fn now_ms(&self) -> i64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    fn sleep(&self, ms: u64) -> Future<()> {
        self.now_ms.fetch_add(ms as i64, Ordering::SeqCst);
        Box::pin(tokio::task::yield_now())
    }

    fn use_grants(&self, order: UseGrants) -> Future<bool> {
        let granted = self.granted.lock().unwrap();
        let is_granted = order.scopes.iter().all(|scope| granted.contains(scope));
        if is_granted {
            self.used.lock().unwrap().push(order);
        }
        Box::pin(std::future::ready(is_granted))
    }

    fn run(&self, start: StartRun) -> Ending {
        self.runs.lock().unwrap().push(start);
        Box::pin(async { Outcome::signal("aborted", Value::empty()) })
    }
}

impl Trial {
    /// With this given.
    pub(crate) fn new(with: serde_json::Value) -> Self {
        let home = TempDir::new().unwrap();
        let folder = fs::canonicalize(home.path()).unwrap().join("folder");
        fs::create_dir(&folder).unwrap();
        let (host, (canceller, cancel)) = (Arc::new(Recorder::default()), Canceller::new());
        let attempt = Attempt {
            run: "run-1".into(),
            activity: ActivityId(7),
            invocation: Arc::new(invocation()),
            number: 1,
            begun_ms: 0,
            with: Value::from(with),
            folder: folder.clone(),
            snapshot: None,
            live: home.path().join("live/run-1-7-1.log"),
            evidence: EvidenceStore::open(home.path().join("evidence")).unwrap(),
            host: host.clone(),
            cancel,
        };
        Trial { folder, attempt, canceller, host, _home: home }
    }

    /// With a file in the folder that can be executed.
    pub(crate) fn with_program(self, name: &str, text: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let path = self.folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// How it ends.
    pub(crate) async fn run(&self, activity: impl Activity) -> Ended {
        Ended::new(activity.start(self.attempt.clone()).await)
    }

    /// What was kept under a name.
    pub(crate) fn evidence(&self, ended: &Ended, name: &str) -> Option<Vec<u8>> {
        let found = ended.outcome.evidence.iter().find(|evidence| evidence.name == name)?;
        Some(self.attempt.evidence.get(&found.hash).unwrap())
    }

    /// The content of a file in the folder, as soon as there is a whole line of it.
    pub(crate) async fn line_of(&self, name: &str) -> String {
        let path = self.folder.join(name);
        let text = until(|| fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'))).await;
        text.trim().to_owned()
    }
}

/// An outcome to look at.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    /// The signal, or `error`.
    pub(crate) name: String,
    pub(crate) data: serde_json::Value,
}

impl Ended {
    pub(crate) fn new(outcome: Outcome) -> Self {
        let (name, data) = match &outcome.result {
            AttemptResult::Signal { name, data } => (name.clone(), data),
            AttemptResult::Error { data } => ("error".to_owned(), data),
        };
        let data = serde_json::Value::from(data);
        Ended { outcome, name, data }
    }

    /// The code and the message of an error.
    #[track_caller]
    pub(crate) fn error(&self) -> (String, String) {
        assert_eq!(self.name, "error", "{:?}", self.data);
        let field = |name: &str| self.data[name].as_str().unwrap().to_owned();
        (field("code"), field("message"))
    }
}

/// What comes about within ten seconds.
pub(crate) async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it did not come about");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// As a machine would say it that takes `yes` and `no`.
fn invocation() -> Invocation {
    let taken = |name: &str| Taken { name: name.into(), data: serde_json::json!({}) };
    let definition =
        Definition { hash: "none".into(), machine: "trial".into(), version: 1, text: String::new(), files: Vec::new() };
    Invocation {
        name: "tried".into(),
        state: "working".into(),
        signals: ["yes", "no"].map(taken).into(),
        definition: Arc::new(definition),
    }
}
