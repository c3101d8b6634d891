//! Runs one attempt of an activity without a run.

use std::{
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activities::Sandbox;
use interlock_activity::{Activity, Attempt, Canceller, HandledSignal, Invocation, Registry};
use interlock_chart::Value;
pub(crate) use interlock_testkit_activity::EndedAttempt;
use interlock_testkit_activity::{Recorder, attempt, launcher::launcher};
use tempfile::TempDir;

/// Returns a sandbox with a launcher and default settings.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox { launcher: launcher(), ..Sandbox::default() }
}

/// A directory, an evidence store and a host for attempts.
pub(crate) struct Trial {
    pub(crate) folder: PathBuf,
    pub(crate) attempt: Attempt,
    pub(crate) canceller: Canceller,
    pub(crate) host: Arc<Recorder>,
    _home: TempDir,
}

impl Trial {
    /// Creates a trial whose attempt has this input.
    pub(crate) fn new(with: serde_json::Value) -> Self {
        let home = TempDir::new().unwrap();
        let folder = fs::canonicalize(home.path()).unwrap().join("folder");
        fs::create_dir(&folder).unwrap();
        let host = Arc::new(Recorder::default());
        let (mut attempt, canceller) = attempt(home.path(), &folder, host.clone());
        attempt.with = Value::from(with);
        attempt.invocation = Arc::new(Invocation { signals: signals(), ..(*attempt.invocation).clone() });
        Trial { folder, attempt, canceller, host, _home: home }
    }

    /// Adds an executable file to the directory.
    pub(crate) fn with_program(self, name: &str, text: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let path = self.folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// Runs an attempt of the activity and returns its end.
    pub(crate) async fn run(&self, activity: impl Activity) -> EndedAttempt {
        EndedAttempt::new(activity.start(self.attempt.clone()).await)
    }

    /// Runs an attempt of the only activity of a registry, if its gatekeeper allows that, and returns its end.
    pub(crate) async fn run_in(&self, registry: &Registry) -> EndedAttempt {
        let activity = registry.iter().next().unwrap();
        EndedAttempt::new(registry.start(activity, self.attempt.clone()).await)
    }

    /// Returns the evidence of this name.
    pub(crate) fn evidence(&self, ended: &EndedAttempt, name: &str) -> Option<Vec<u8>> {
        let found = ended.outcome.evidence.iter().find(|evidence| evidence.name == name)?;
        Some(self.attempt.evidence.get(&found.hash).unwrap())
    }

    /// Returns the content of a file in the directory, as soon as it has a complete line.
    pub(crate) async fn line_of(&self, name: &str) -> String {
        let path = self.folder.join(name);
        let text = until(|| fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'))).await;
        text.trim().to_owned()
    }
}

/// Polls `look` until it returns a value, for at most ten seconds.
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

/// Returns the signals of a machine that takes `yes` and `no`.
fn signals() -> Vec<HandledSignal> {
    ["yes", "no"].map(|name| HandledSignal { name: name.into(), data: serde_json::json!({}) }).into()
}
