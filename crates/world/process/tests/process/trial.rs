//! An attempt without a run, with a directory of its own, in which programs are started.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Canceller};
use interlock_process::{Conversation, Plan, Tell};
use interlock_sandbox::{Kind, Namespaces, Rules};
use interlock_testkit_activity::{Recorder, attempt, launcher::launcher, parts};
use tempfile::TempDir;

/// The time that a program has to end by itself.
pub(crate) const GRACE: Duration = Duration::from_secs(20);

/// The ways to confine a program that this computer has.
pub(crate) fn sandboxes() -> Vec<(Kind, Namespaces)> {
    let mut all = vec![(Kind::Landlock, Namespaces::Auto), (Kind::Landlock, Namespaces::Off)];
    if parts::has_bubblewrap() {
        all.push((Kind::Bubblewrap, Namespaces::Auto));
    }
    all
}

/// An attempt and the plan of its program.
pub(crate) struct Trial {
    pub(crate) folder: PathBuf,
    pub(crate) attempt: Attempt,
    pub(crate) canceller: Canceller,
    pub(crate) plan: Plan,
    _home: TempDir,
}

impl Trial {
    /// Plans to run a shell script.
    pub(crate) fn of(script: &str) -> Self {
        let home = TempDir::new().unwrap();
        let folder = fs::canonicalize(home.path()).unwrap().join("folder");
        fs::create_dir(&folder).unwrap();
        let (attempt, canceller) = attempt(home.path(), &folder, Arc::new(Recorder::default()));
        let plan = Plan {
            words: ["/bin/sh", "-c", script].map(Into::into).into(),
            folder: folder.clone(),
            env: BTreeMap::new(),
            stdin: Vec::new(),
            timeout: None,
            output_bytes_max: 1_024 * 1_024,
            tell: [Tell::Nothing, Tell::NowAndThen],
            rules: Rules { workspace: folder.clone(), ..Rules::default() },
            launcher: launcher(),
        };
        Trial { folder, attempt, canceller, plan, _home: home }
    }

    pub(crate) async fn open(&self) -> Conversation {
        Conversation::open(&self.attempt, &self.plan).await.unwrap()
    }

    /// Returns the content of a file in the directory, as soon as it has a complete line.
    pub(crate) async fn line_of(&self, name: &str) -> String {
        let path = self.folder.join(name);
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(text) = fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n')) {
                return text.trim().to_owned();
            }
            assert!(Instant::now() < deadline, "{name} was not written");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
